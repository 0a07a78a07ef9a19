//! From the groups and arrays of a store to the model.

use std::borrow::Cow;
use std::collections::HashMap;

use ferrocdf_bytes::{Error, Order};
use ferrocdf_model::{
    Atomic, Attr, Chunking, Class, Container, DimId, Endian, Filter, GroupId, Model, Owner, Storage, Type,
    TypeId, Values, Var,
};
use ferrocdf_zarr::{
    ArrayMetadata, Content as NodeContent, DataType, Element, FillValue, Hierarchy, Json, Members, Node,
    Version,
};

use super::codec_texts::filters_of;
use super::data_types::{MAX_TYPE_DEPTH, Target};
use super::dims::Dims;
use super::keys::{
    ARRAY, ARRAY_DIMENSIONS, ATTR, GROUP, NO_FILL, PROPERTIES, SUPERBLOCK, find, is_reserved, member,
};
use super::type_definitions::{HAS_FILL_VALUE, TYPE_REFERENCE, TYPE_REFERENCES, TYPES};
use super::{
    Content, Document, ZarrVariable, attributes, form, is_number, json_values, keys, name, tells_no_fill,
    type_definitions, types, values,
};

/// Name of the only variable of a store whose root is an array.
const ONLY: &str = "array";

/// Most bytes of all attributes of user-defined types: a short text of JSON may stand for a long field.
const MAX_ATTRIBUTES: usize = 64 << 20;

/// An array, and the group that it is in.
struct Found {
    group: GroupId,
    node: Node,
    metadata: Box<ArrayMetadata>,
}

/// Makes the model of a store.
pub(super) fn walk(hierarchy: Hierarchy) -> (Content, Model) {
    let is_netcdf = [SUPERBLOCK, GROUP]
        .iter()
        .any(|key| find((&hierarchy.root.attributes, &hierarchy.root.metadata), key).is_some());
    let is_of_netcdf = is_netcdf || hierarchy.root.attributes.get(PROPERTIES).is_some();
    let (version, is_consolidated) = (hierarchy.version, hierarchy.is_consolidated);
    let record_size = hierarchy.record_size;
    let mut walk = Walk {
        model: Model::new(super::format(version)),
        dims: Dims::default(),
        groups: HashMap::from([(String::new(), GroupId::ROOT)]),
        documents: vec![],
        arrays: vec![],
        definitions: vec![],
        budget: MAX_ATTRIBUTES,
        skipped: vec![],
        lost: None,
        hidden: vec![],
        is_netcdf,
        is_of_netcdf,
    };
    match hierarchy.root.content {
        NodeContent::Group(_) => walk.group(hierarchy.root, GroupId::ROOT, ""),
        _ => {
            let root = Node { name: ONLY.to_string(), ..hierarchy.root };
            walk.node(root, GroupId::ROOT, "");
        }
    }
    walk.types();
    walk.group_attributes();
    let found = std::mem::take(&mut walk.arrays);
    let arrays = found.into_iter().map(|found| walk.variable(found)).collect();
    let Walk { model, documents: groups, skipped, lost, hidden, .. } = walk;
    let content =
        Content { version, is_consolidated, record_size, groups, arrays, skipped, lost, hidden, is_netcdf };
    (content, model)
}

struct Walk {
    model: Model,
    dims: Dims,
    /// The groups by their paths, `/a/b`; the root has an empty one.
    groups: HashMap<String, GroupId>,
    /// Those of the groups, by their ids.
    documents: Vec<Document>,
    arrays: Vec<Found>,
    /// Definitions of types, and the groups that they are in.
    definitions: Vec<(GroupId, Json)>,
    /// Bytes that the attributes of user-defined types that are still to come may take.
    budget: usize,
    skipped: Vec<String>,
    lost: Option<Error>,
    hidden: Vec<Attr>,
    /// True if netCDF's metadata is at the root.
    is_netcdf: bool,
    /// True if a netCDF library made the store, be it one without netCDF's metadata.
    is_of_netcdf: bool,
}

impl Walk {
    fn leave_out(&mut self, path: &str, error: &Error) {
        self.skipped.push(format!("{path}: {error}"));
        self.lost.get_or_insert_with(|| error.clone().at(path));
    }

    fn node(&mut self, node: Node, group: GroupId, path: &str) {
        let own = format!("{path}/{}", node.name);
        match node.content {
            NodeContent::Group(_) => {
                let id = self.model.push_group(group, name(&node.name));
                self.groups.insert(own.clone(), id);
                self.group(node, id, &own);
            }
            NodeContent::Array(ref metadata) => {
                let metadata = metadata.clone();
                self.arrays.push(Found { group, node, metadata });
            }
            NodeContent::Unreadable(ref error) => self.leave_out(&own, error),
        }
    }

    /// Takes in a group: its dimensions, its attributes, and what is in it, in the order in which netCDF's metadata lists it.
    fn group(&mut self, mut node: Node, id: GroupId, path: &str) {
        let NodeContent::Group(mut children) =
            std::mem::replace(&mut node.content, NodeContent::Group(vec![]))
        else {
            return;
        };
        if let Some(group) = self.netcdf_key((&node.attributes, &node.metadata), GROUP) {
            let types = group.get(TYPES).and_then(Json::as_array).unwrap_or_default();
            self.definitions.extend(types.iter().map(|json| (id, json.clone())));
            for dim in keys::dimensions(&group) {
                self.dims.define(&mut self.model, id, &dim.name, dim.len, dim.unlimited);
            }
            let listed = |keys: &[&str]| member(&group, keys).and_then(Json::as_array).unwrap_or_default();
            let order: HashMap<&str, usize> = listed(&["arrays", "vars"])
                .iter()
                .chain(listed(&["groups", "subgroups"]))
                .enumerate()
                .filter_map(|(at, name)| Some((name.as_str()?, at)))
                .collect();
            children.sort_by_key(|child| order.get(&*child.name).copied().unwrap_or(usize::MAX));
        }
        self.documents.push(Document {
            path: node.path,
            metadata: node.metadata,
            attributes: node.attributes,
        });
        // Arrays come before groups, so that anonymous dimensions are made in the order of netCDF-C.
        children.sort_by_key(|child| matches!(child.content, NodeContent::Group(_)));
        for child in children {
            self.node(child, id, path);
        }
    }

    /// Defines the user-defined types of netCDF's metadata: each after those that it refers to.
    fn types(&mut self) {
        let mut due = std::mem::take(&mut self.definitions);
        let mut depths: Vec<usize> = vec![];
        for _ in 0..=MAX_TYPE_DEPTH {
            let before = due.len();
            due.retain(|(group, json)| {
                let find = |path: &str| self.type_at(path);
                let ty = type_definitions::from_json(&self.model, *group, json, find);
                let Some(ty) = ty.filter(|ty| self.model.is_free(ty.group, ty.name.as_bytes())) else {
                    return true;
                };
                let depth = 1 + parts(&ty.class).filter_map(|id| depths.get(id.index())).max().unwrap_or(&0);
                if depth > MAX_TYPE_DEPTH {
                    return true;
                }
                self.model.push_type(ty);
                depths.push(depth);
                false
            });
            if due.len() == before {
                break;
            }
        }
        const NAMED: usize = 20;
        if let Some(more) = due.len().checked_sub(NAMED + 1) {
            self.skipped
                .push(format!("{} definitions of types that are not understood are not listed", more + 1));
        }
        for (group, json) in due.into_iter().take(NAMED) {
            let type_name = json.get("name").and_then(Json::as_str).unwrap_or_default();
            let group = self.model.group_path(group);
            let what = format!(
                "{group}: the definition of the type {type_name:?} is damaged, refers to a type that is not there, or lies more than {MAX_TYPE_DEPTH} types deep"
            );
            self.skipped.push(what);
        }
    }

    /// Returns the user-defined type of a path.
    fn type_at(&self, path: &str) -> Option<TypeId> {
        let (group, called) = path.rsplit_once('/')?;
        self.model.type_in(*self.groups.get(group)?, called.as_bytes())
    }

    /// Takes in the attributes of the groups.
    fn group_attributes(&mut self) {
        let documents = std::mem::take(&mut self.documents);
        for (document, id) in documents.iter().zip(self.model.group_ids()) {
            let types = self.netcdf_key((&document.attributes, &document.metadata), ATTR);
            let types = types.map(Cow::into_owned);
            for (key, json) in document.attributes.iter() {
                let attr = self.attribute(types.as_ref(), key, json);
                match key {
                    PROPERTIES => self.hidden.push(attr),
                    key if is_reserved(key) => {}
                    _ => self.model.push_attr(Owner::Group(id), attr),
                }
            }
        }
        self.documents = documents;
    }

    /// Returns an attribute, of the type that netCDF's metadata `types` says.
    fn attribute(&mut self, types: Option<&Json>, key: &str, json: &Json) -> Attr {
        let version = self.version();
        if let Some(bytes) = types.and_then(|types| attributes::bytes_from_json(types, key, json, version)) {
            return Attr::new(name(key), Values::Char(bytes));
        }
        let reference = types.and_then(|types| types.get(TYPE_REFERENCES)?.get(key)?.as_str());
        let user = reference.and_then(|path| self.type_at(path));
        let values = user.and_then(|id| json_values::from_json(&self.model, id, json, &mut self.budget));
        if let Some(values) = values {
            return Attr::new(name(key), values);
        }
        let type_name = types.and_then(|types| keys::attribute_type(types, key));
        attributes::from_json(&self.model, key, json, type_name.as_deref())
    }

    fn is_v2(&self) -> bool {
        self.model.format().container() == Container::ZarrV2
    }

    fn version(&self) -> Version {
        if self.is_v2() { Version::V2 } else { Version::V3 }
    }

    /// Finds netCDF's metadata in the attributes or the metadata of a node.
    fn netcdf_key<'n>(&self, node: (&'n Members, &'n Json), key: &str) -> Option<Cow<'n, Json>> {
        if self.is_netcdf { find(node, key) } else { None }
    }

    /// Takes in an array.
    fn variable(&mut self, found: Found) -> ZarrVariable {
        let Found { group, node, metadata } = found;
        let mut metadata = *metadata;
        if self.is_of_netcdf || find((&node.attributes, &node.metadata), ARRAY).is_some() {
            give_shuffle_its_size(&node.metadata, &mut metadata);
        }
        let own = self.netcdf_key((&node.attributes, &node.metadata), ARRAY).map(Cow::into_owned);
        let has_alias = |alias: &str| {
            own.as_ref().and_then(|own| own.get("type_alias")).and_then(Json::as_str) == Some(alias)
        };
        if has_alias("string")
            && let DataType::Raw(size) = metadata.element.data_type
        {
            metadata.element.data_type = DataType::FixedBytes(size);
        }
        let is_char =
            has_alias("char") || own.is_some() && metadata.element.data_type == DataType::FixedBytes(1);
        if is_char {
            metadata.element.data_type = DataType::Integer { size: 1, signed: false };
        }
        let user = own.as_ref().and_then(|own| self.user_type(own, &mut metadata, &node.metadata));
        let ty = match (user, is_char) {
            (Some(id), _) => Type::User(id),
            (None, true) => Atomic::Char.into(),
            (None, false) => types::type_of(&mut self.model, &metadata.element.data_type, &node.name),
        };
        if own.as_ref().is_some_and(is_scalar) && metadata.shape == [1] && self.is_v2() {
            // Version 2 has no scalars: netCDF writes a dimension of length 1. The chunk has the same key without it.
            (metadata.shape, metadata.chunk_shape) = (vec![], vec![]);
        }
        let dims = self.dimensions(group, &node, own.as_ref(), &metadata);
        let says_no_fill = own.as_ref().and_then(|own| own.get(NO_FILL)).and_then(Json::as_u64);
        let storage = Storage {
            no_fill: match says_no_fill {
                Some(number) => number != 0,
                None => tells_no_fill(ty, &metadata),
            },
            ..storage(&self.model, &metadata, ty)
        };
        let id = self.model.push_var(Var {
            name: name(&node.name),
            group,
            ty,
            dims,
            attrs: Default::default(),
            storage,
        });
        // The fill value of the array says what it is, where it cannot be an attribute of the store.
        if own.as_ref().is_some_and(|own| own.get(HAS_FILL_VALUE).is_some())
            && node.attributes.get("_FillValue").is_none()
            && let Some(Ok(value)) = values::value_of_fill(&self.model, &metadata, ty)
        {
            self.model.push_attr(Owner::Var(id), Attr::new(name("_FillValue"), value));
        }
        let types = self.netcdf_key((&node.attributes, &node.metadata), ATTR).map(Cow::into_owned);
        for (key, json) in node.attributes.iter().filter(|(key, _)| !is_reserved(key)) {
            let value = match (key, ty) {
                ("_FillValue", Type::Atomic(atomic)) => attributes::fill_value(json, atomic),
                _ => None,
            };
            let attr = match value {
                Some(value) => Attr::new(name(key), value),
                None => self.attribute(types.as_ref(), key, json),
            };
            self.model.push_attr(Owner::Var(id), attr);
        }
        // NetCDF-C gives each array a fill value, of doubles in six digits, and an attribute only where the user gave one.
        let is_default = |attr: &Attr| match ty {
            Type::Atomic(Atomic::Double) if attr.value == Values::Double(vec![9.96921e+36]) => true,
            Type::Atomic(atomic) => attr.value == Values::default_fill(atomic),
            Type::User(_) => false,
        };
        for attr in self.implied(&metadata, ty).into_iter().filter(|attr| !is_default(attr)) {
            if self.model.attrs(Owner::Var(id)).find(attr.name.as_bytes()).is_none() {
                self.model.push_attr(Owner::Var(id), attr);
            }
        }
        if let Err(error) = &metadata.pipeline {
            self.skipped.push(format!("{}: its data cannot be read: {error}", self.model.var_path(id)));
        }
        let document = Document { path: node.path, metadata: node.metadata, attributes: node.attributes };
        ZarrVariable { document, metadata }
    }

    /// Returns the user-defined type that netCDF's metadata `own` of an array refers to, if elements of that type are stored as those of the
    /// array are. Their data type becomes that of the type.
    fn user_type(&self, own: &Json, metadata: &mut ArrayMetadata, document: &Json) -> Option<TypeId> {
        let id = self.type_at(own.get(TYPE_REFERENCE)?.as_str()?)?;
        let version = self.version();
        let target = Target { version, is_netcdf: true };
        let Element { order, .. } = metadata.element;
        let mut element = target.element(&self.model, Type::User(id), order, Some(&metadata.element)).ok()?;
        if version == Version::V3 {
            // A codec says the byte order, also of the numbers in structures.
            element.set_order(metadata.element.order);
        }
        let (stored, expected) = match version {
            Version::V2 => (document.get("dtype")?, element.to_v2()),
            Version::V3 => (document.get("data_type")?, element.to_v3().ok()?),
        };
        let has_size = element.data_type.size().is_some();
        let is_same = *stored == expected && (has_size || element.data_type == metadata.element.data_type);
        is_same.then(|| {
            metadata.element = element;
            id
        })
    }

    /// Returns the dimensions of an array: by netCDF's references, by the names of the metadata, by those of xarray, else anonymous
    /// ones.
    fn dimensions(
        &mut self,
        group: GroupId,
        node: &Node,
        own: Option<&Json>,
        metadata: &ArrayMetadata,
    ) -> Vec<DimId> {
        let shape = &metadata.shape;
        let references =
            own.and_then(|own| member(own, &["dimension_references", "dimrefs"])).and_then(Json::as_array);
        if let Some(references) = references.filter(|references| references.len() == shape.len()) {
            let dim = |(path, &len): (&Json, &u64)| {
                let group_at = |path: &str| self.groups.get(path).copied();
                self.dims.at_path(&self.model, path.as_str()?, len, group_at)
            };
            if let Some(dims) = references.iter().zip(shape).map(dim).collect::<Option<Vec<DimId>>>() {
                // A writer that was killed leaves arrays that are longer than the group says.
                for (&dim, &len) in dims.iter().zip(shape) {
                    self.model.set_dim_len(dim, len.max(self.model.dim(dim).len));
                }
                return dims;
            }
        }
        let of_xarray = || {
            let names = node.attributes.get(ARRAY_DIMENSIONS)?.as_array()?;
            names.iter().map(|name| Some(Some(name.as_str()?.to_string()))).collect::<Option<Vec<_>>>()
        };
        let mut names = metadata.dimension_names.clone();
        if names.is_empty() {
            names = of_xarray().unwrap_or_default();
        }
        // A dimension without a name is anonymous.
        names.resize(shape.len(), None);
        let named = |(name, &len): (&Option<String>, &u64)| match name {
            Some(name) => self.dims.named(&mut self.model, group, name, len),
            None => self.dims.anonymous(&mut self.model, len),
        };
        names.iter().zip(shape).map(named).collect()
    }

    /// Returns the attributes that follow from the metadata of an array, where it does not have them.
    fn implied(&self, metadata: &ArrayMetadata, ty: Type) -> Vec<Attr> {
        let attr = |called: &str, value| Attr::new(name(called), value);
        let mut attrs = vec![];
        if self.is_v2()
            && (is_number(&metadata.element.data_type) || ty == Type::Atomic(Atomic::Char))
            && matches!(ty, Type::Atomic(_))
            && let FillValue::Bytes(_) = metadata.fill_value
            && let Some(Ok(value)) = values::value_of_fill(&self.model, metadata, ty)
        {
            attrs.push(attr("_FillValue", value));
        }
        if self.is_netcdf
            && !self.is_v2()
            && ty == Type::Atomic(Atomic::String)
            && let FillValue::Value(Json::String(fill)) = &metadata.fill_value
            && !fill.is_empty()
        {
            attrs.push(attr("_FillValue", Values::String(vec![Some(fill.clone().into_bytes())])));
        }
        attrs.extend(form::time_attributes(&metadata.element.data_type));
        attrs
    }
}

/// Gives the filter shuffle the size of the elements, if its size in version 2 is 0: so netCDF-C writes it, and shuffles.
fn give_shuffle_its_size(document: &Json, metadata: &mut ArrayMetadata) {
    let filters = document.get("filters").and_then(Json::as_array).unwrap_or_default();
    let is_without_size = |codec: &Json| {
        codec.get("id").and_then(Json::as_str) == Some("shuffle")
            && codec.get("elementsize").and_then(Json::as_u64) == Some(0)
    };
    if let Some(size) = metadata.element.data_type.size().and_then(|size| u32::try_from(size).ok())
        && let Ok(pipeline) = &mut metadata.pipeline
        && filters.iter().chain(document.get("compressor")).any(is_without_size)
    {
        let shuffle = pipeline.steps.iter_mut().filter(|step| step.id.hdf5() == Some(Filter::SHUFFLE));
        shuffle.for_each(|step| step.params = vec![size]);
    }
}

/// Returns the user-defined types that a type refers to.
fn parts(class: &Class) -> impl Iterator<Item = TypeId> {
    let (fields, base) = match class {
        Class::Compound { fields, .. } => (&fields[..], None),
        Class::Vlen(base) => (&[][..], Some(*base)),
        Class::Enum { .. } | Class::Opaque(_) => (&[][..], None),
    };
    fields.iter().map(|field| field.ty).chain(base).filter_map(|ty| match ty {
        Type::User(id) => Some(id),
        Type::Atomic(_) => None,
    })
}

/// True if netCDF's metadata says that an array of one element is a scalar.
fn is_scalar(own: &Json) -> bool {
    let says = own.get("scalar").is_some_and(|json| json.as_u64() == Some(1) || *json == Json::Bool(true));
    let no_dims = || {
        member(own, &["dimension_references", "dimrefs"])
            .and_then(Json::as_array)
            .is_some_and(<[Json]>::is_empty)
    };
    says || own.get("storage").and_then(Json::as_str) == Some("scalar") || no_dims()
}

fn storage(model: &Model, metadata: &ArrayMetadata, ty: Type) -> Storage {
    let Element { data_type, order } = &metadata.element;
    let steps = metadata.pipeline.iter().flat_map(|pipeline| &pipeline.steps);
    let (filters, named_codecs) = filters_of(steps.map(|step| (step.id.clone(), step.params.clone())));
    let has_order = is_number(data_type) && data_type.size().is_some_and(|size| size > 1);
    Storage {
        chunking: Some(Chunking::Chunked(metadata.inner_chunk_shape().to_vec())),
        shards: metadata.is_sharded().then(|| metadata.chunk_shape.clone()),
        zarr: form::read(model, metadata, ty),
        endian: has_order.then_some(if *order == Order::Big { Endian::Big } else { Endian::Little }),
        filters,
        named_codecs,
        settled: true,
        ..Storage::default()
    }
}
