//! The metadata documents of a store, made from the model.
//!
//! They come in the order in which they are put: a group after all that is in it, the attributes of an array before its `.zarray`,
//! consolidated metadata last. So whatever a reader finds is complete, also if the writer is killed between two of them.

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_model::{Atomic, Attr, Class, GroupId, Model, Name, Owner, Type, Values, VarId};
use ferrocdf_zarr::{DataType, Json, Members, Version, with_member, with_shape, within};

use super::{GroupContents, GroupNode, NcZarrWriter, PROPERTIES_TEXT, VariableNode, attributes, dim_paths};
use crate::nczarr::keys::{ARRAY, ARRAY_DIMENSIONS, GROUP, NO_FILL, PROPERTIES, SUPERBLOCK};
use crate::nczarr::type_definitions::{self, HAS_FILL_VALUE, TYPE_REFERENCE, TYPES};
use crate::nczarr::{form, tells_no_fill, text};
use crate::quantize;

/// A document, and its key relative to the store's root.
pub(super) struct Keyed {
    pub(super) key: String,
    pub(super) json: Json,
}

/// Names that no group and no variable can have: they are those of documents.
const TAKEN: [&str; 5] = ["zarr.json", ".zgroup", ".zarray", ".zattrs", ".zmetadata"];

/// Returns the name of a node.
///
/// # Errors
/// `NC_EBADNAME` for a name that a document has, or that is not UTF-8.
pub(super) fn node_name(bytes: &[u8]) -> Result<&str> {
    match std::str::from_utf8(bytes) {
        Ok(name) if !TAKEN.contains(&name) => Ok(name),
        _ => {
            let what = format!(
                "{:?}: a Zarr store has no group or array of this name",
                String::from_utf8_lossy(bytes)
            );
            Err(Error::new(Code::EBADNAME, what))
        }
    }
}

/// Returns the attributes by which the CF conventions ("Flags") name the numbers of an enumeration, unless the variable has them: without
/// netCDF's metadata nothing else tells the names, but of booleans the data type does.
fn flags(model: &Model, var: VarId) -> Vec<(&'static str, Json)> {
    let Type::User(id) = model.var(var).ty else { return vec![] };
    let Class::Enum { members, .. } = &model.user_type(id).class else { return vec![] };
    let has = |name: &str| model.find_attr(Owner::Var(var), name.as_bytes()).is_some();
    if has("flag_values") || has("flag_meanings") {
        return vec![];
    }
    let values = members.iter().map(|(_, number)| Json::Number(number.to_string().into()));
    let words =
        members.iter().map(|(name, _)| name.to_str().split_whitespace().collect::<Vec<_>>().join("_"));
    let words = words.collect::<Vec<_>>().join(" ");
    vec![("flag_values", Json::Array(values.collect())), ("flag_meanings", Json::String(words))]
}

fn string(bytes: &[u8]) -> Json {
    Json::String(text(bytes))
}

impl VariableNode {
    /// Returns the attribute that tells how numbers of a new variable are rounded, unless the variable has it.
    fn rounding(&self, model: &Model, var: VarId) -> Option<Attr> {
        let how = self.quantize.filter(|_| self.is_new)?;
        let called = quantize::attribute(how.way).as_bytes();
        let has = model.find_attr(Owner::Var(var), called).is_some();
        let value = Values::Int(vec![i32::try_from(how.digits).unwrap_or(i32::MAX)]);
        (!has).then(|| Attr::new(Name::stored(called), value))
    }
}

impl NcZarrWriter {
    /// Returns all documents but the consolidated ones.
    pub(super) fn documents(&self, model: &Model) -> Result<Vec<Keyed>> {
        let mut documents = vec![];
        self.group_documents(model, GroupId::ROOT, &mut documents)?;
        Ok(documents)
    }

    fn group_documents(&self, model: &Model, group: GroupId, into: &mut Vec<Keyed>) -> Result<()> {
        for &var in &model.group(group).vars {
            let node = &self.variables[var.index()];
            let (metadata, attributes) = self.array(model, var, node)?;
            self.node_documents(&node.path, ".zarray", metadata, attributes, into);
        }
        for &child in &model.group(group).groups {
            self.group_documents(model, child, into)?;
        }
        let node = &self.groups[group.index()];
        let attributes = self.group_attributes(model, group, node);
        self.node_documents(&node.path, ".zgroup", node.metadata.clone(), attributes, into);
        Ok(())
    }

    /// Adds the documents of one node.
    fn node_documents(
        &self,
        path: &str,
        name: &str,
        metadata: Json,
        attributes: Members,
        into: &mut Vec<Keyed>,
    ) {
        let key = |name: &str| within(path, name);
        let attributes = Json::Object(attributes);
        match self.version {
            Version::V2 => {
                into.push(Keyed { key: key(".zattrs"), json: attributes });
                into.push(Keyed { key: key(name), json: metadata });
            }
            Version::V3 => {
                let json = with_member(&metadata, "attributes", attributes);
                into.push(Keyed { key: key("zarr.json"), json });
            }
        }
    }

    /// Returns metadata and attributes of an array.
    fn array(&self, model: &Model, var: VarId, node: &VariableNode) -> Result<(Json, Members)> {
        let described = model.var(var);
        // NetCDF's metadata gives a scalar of version 2 a dimension; a rectilinear grid has no chunks for more elements.
        let keeps_shape = described.dims.is_empty() || !node.metadata.blocks.is_empty();
        let mut metadata = match keeps_shape {
            true => node.document.clone(),
            false => with_shape(&node.document, &model.shape(var)),
        };
        let has_fill = model.find_attr(Owner::Var(var), b"_FillValue").is_some();
        if node.drops_fill && !has_fill && node.has_all_chunks(&model.shape(var)) {
            metadata = with_member(&metadata, "fill_value", Json::Null);
        }
        let mut reserved = vec![];
        let names = || described.dims.iter().map(|&dim| string(model.dim(dim).name.as_bytes()));
        let is_fill = |attr: &Attr| attr.name.as_bytes() == b"_FillValue";
        let has_same_fill =
            node.before.iter().any(is_fill) == model.attrs(Owner::Var(var)).iter().any(is_fill);
        if node.is_new || !has_same_fill || node.dims_before != dim_paths(model, var) {
            if self.version == Version::V3 {
                metadata = with_member(&metadata, "dimension_names", Json::Array(names().collect()));
            }
            let is_scalar = described.dims.is_empty();
            if self.version == Version::V2 && self.options.xarray {
                let names = match is_scalar && self.options.nczarr {
                    true => vec![Json::text("_scalar_")],
                    false => names().collect(),
                };
                reserved.push((ARRAY_DIMENSIONS, Json::Array(names)));
            }
            if self.options.nczarr {
                reserved.push((ARRAY, self.array_key(model, var, node)));
            } else if node.metadata.element.data_type != DataType::Bool {
                reserved.extend(flags(model, var));
            }
        }
        let to_json = |attr: &Attr| match (self.version, attr.name.as_bytes()) {
            (Version::V3, b"_FillValue") => attributes::fill_to_json(model, attr),
            _ => attributes::to_json(model, attr, self.version),
        };
        let drops_fill = !self.has_fill_attribute(model, described.ty);
        let rounding = node.rounding(model, var);
        let attrs = model.attrs(Owner::Var(var)).iter().chain(&rounding);
        let data_type = &node.metadata.element.data_type;
        let is_said = |attr: &&Attr| !node.is_new || !form::is_implied(data_type, attr);
        let attributes = self.attributes(
            attrs.filter(|attr| !drops_fill || !is_fill(attr) || node.before.contains(attr)).filter(is_said),
            (&node.before, &node.attributes, node.is_new),
            reserved,
            (model, &to_json),
        );
        Ok((metadata, attributes))
    }

    /// Returns netCDF's metadata of an array.
    fn array_key(&self, model: &Model, var: VarId, node: &VariableNode) -> Json {
        let variable = model.var(var);
        let dims = &variable.dims;
        let references = dim_paths(model, var).into_iter().map(Json::String);
        let mut members = vec![("dimension_references", Json::Array(references.collect()))];
        if dims.is_empty() {
            members.push(("scalar", Json::integer(1)));
        }
        members.push(("storage", Json::text("chunked")));
        if variable.storage.no_fill != tells_no_fill(variable.ty, &node.metadata) {
            members.push((NO_FILL, Json::integer(u64::from(variable.storage.no_fill))));
        }
        if let Some(alias) = node.alias {
            members.push(("type_alias", Json::text(alias)));
        }
        if let Type::User(id) = variable.ty {
            members.push((TYPE_REFERENCE, Json::String(type_definitions::path(model, id))));
            if model.find_attr(Owner::Var(var), b"_FillValue").is_some() {
                members.push((HAS_FILL_VALUE, Json::integer(1)));
            }
        }
        Json::object(members)
    }

    fn group_attributes(&self, model: &Model, group: GroupId, node: &GroupNode) -> Members {
        let mut reserved = vec![];
        let is_changed = node.is_new || node.before != GroupContents::of(model, group);
        if self.options.nczarr && is_changed {
            reserved.push((GROUP, self.group_key(model, group)));
            if group == GroupId::ROOT && node.is_new {
                let version = if self.version == Version::V2 { "2.0.0" } else { "3.0.0" };
                reserved.push((SUPERBLOCK, Json::object(vec![("version", Json::text(version))])));
            }
        }
        let attrs = model.attrs(Owner::Group(group));
        let properties =
            Attr::new(crate::nczarr::name(PROPERTIES), Values::Char(PROPERTIES_TEXT.as_bytes().to_vec()));
        let with_properties = self.options.nczarr && group == GroupId::ROOT && node.is_new;
        let attrs = attrs.iter().chain(with_properties.then_some(&properties));
        let to_json = |attr: &Attr| attributes::to_json(model, attr, self.version);
        let before = (&*node.attrs_before, &node.attributes, node.is_new);
        self.attributes(attrs, before, reserved, (model, &to_json))
    }

    /// True if `_FillValue` of a variable of a type is an attribute of its array, and not only the fill value of the array. Xarray opens no
    /// store of version 3 where it is one of text or of bytes; without netCDF's metadata its JSON is of no use to readers.
    fn has_fill_attribute(&self, model: &Model, ty: Type) -> bool {
        match ty {
            Type::Atomic(atomic) => atomic != Atomic::String || self.version == Version::V2,
            Type::User(id) => match model.user_type(id).class {
                Class::Enum { .. } => true,
                _ => self.version == Version::V2 && self.options.nczarr,
            },
        }
    }

    /// Returns the attributes of a node, with netCDF's metadata about their types where they changed.
    fn attributes<'a>(
        &self,
        attrs: impl Iterator<Item = &'a Attr> + Clone,
        (before, original, is_new): (&[Attr], &Members, bool),
        mut reserved: Vec<(&str, Json)>,
        (model, to_json): (&Model, &dyn Fn(&Attr) -> Json),
    ) -> Members {
        let is_changed = is_new || !attrs.clone().eq(before.iter());
        if self.options.nczarr && is_changed {
            let own: Vec<&str> =
                reserved.iter().map(|(name, _)| *name).filter(|name| *name != ARRAY_DIMENSIONS).collect();
            let own = if is_new { own } else { self.own_keys(original) };
            let (key, types) = attributes::types(model, attrs.clone(), &own, self.version);
            // An attribute whose type this library does not understand still has it.
            let kept =
                attrs.clone().filter(|attr| before.contains(attr) && !matches!(attr.value, Values::User(..)));
            let kept = attributes::references(original, kept);
            reserved.push((key, attributes::with_references(types, kept)));
        }
        attributes::members(attrs, (before, original), reserved, to_json)
    }

    /// Returns the keys of netCDF's metadata that a node has, but for that of its attributes.
    fn own_keys(&self, original: &Members) -> Vec<&'static str> {
        [GROUP, ARRAY, SUPERBLOCK].into_iter().filter(|key| original.get(key).is_some()).collect()
    }

    /// Returns netCDF's metadata of a group.
    fn group_key(&self, model: &Model, group: GroupId) -> Json {
        let of = model.group(group);
        let dims = of.dims.iter().map(|&dim| model.dim(dim));
        let dimensions = match self.version {
            Version::V2 => {
                let dim = |dim: &ferrocdf_model::Dim| {
                    let len = match dim.unlimited {
                        true => Json::object(vec![
                            ("size", Json::integer(dim.len)),
                            ("unlimited", Json::integer(1)),
                        ]),
                        false => Json::integer(dim.len),
                    };
                    (text(dim.name.as_bytes()), len)
                };
                Json::Object(Members(dims.map(dim).collect()))
            }
            Version::V3 => {
                let dim = |dim: &ferrocdf_model::Dim| {
                    Json::object(vec![
                        ("name", string(dim.name.as_bytes())),
                        ("size", Json::integer(dim.len)),
                        ("unlimited", Json::integer(u64::from(dim.unlimited))),
                    ])
                };
                Json::Array(dims.map(dim).collect())
            }
        };
        let arrays = of.vars.iter().map(|&var| string(model.var(var).name.as_bytes())).collect();
        let groups = of.groups.iter().map(|&child| string(model.group(child).name.as_bytes())).collect();
        let groups_name = if self.version == Version::V2 { "groups" } else { "subgroups" };
        let mut members = vec![
            ("dimensions", dimensions),
            ("arrays", Json::Array(arrays)),
            (groups_name, Json::Array(groups)),
        ];
        let mut types = type_definitions::to_json(model, group);
        // Definitions that this library does not understand stay.
        let node = &self.groups[group.index()];
        let before = node.attributes.get(GROUP).and_then(|group| group.get(TYPES)).and_then(Json::as_array);
        let is_known = |json: &&Json| {
            let name = json.get("name").and_then(Json::as_str).unwrap_or_default();
            model.type_in(group, name.as_bytes()).is_some()
        };
        types.extend(before.unwrap_or_default().iter().filter(|json| !is_known(json)).cloned());
        if !types.is_empty() {
            members.push((TYPES, Json::Array(types)));
        }
        Json::object(members)
    }
}
