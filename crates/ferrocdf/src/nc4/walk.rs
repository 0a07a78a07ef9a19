//! From the objects of a file to a model: groups, types, dimension scales and datasets, in the order of the reference.
//!
//! The objects of a group come in the order in which they were made, where the file keeps it, else by name; groups within
//! it come after all else. What netCDF has no name for is left out and told, and so is what is damaged: one bad object
//! never hides the others.

use std::cell::Cell;
use std::collections::HashSet;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_hdf5::messages::dataspace::SpaceKind;
use ferrocdf_hdf5::messages::datatype::{Class, Datatype};
use ferrocdf_hdf5::messages::fill::Fill;
use ferrocdf_hdf5::messages::layout::DataLayout;
use ferrocdf_hdf5::{Address, Dataset, File, Link, LinkTarget, Object, ObjectKind};
use ferrocdf_model::{Attr, Chunking, Endian, Filter, Format, GroupId, Model, Name, Named, Storage, Type};

use super::attributes::read_early;
use super::dims::{FoundDims, Scale};
use super::found::{FoundVariable, Place, Slots};
use super::native::Native;
use super::types::Types;
use super::{decode, names};

/// The most groups of a file, and the most groups within each other. Hard links can make few groups look like many.
const GROUPS: usize = 100_000;
const DEPTH: usize = 256;

/// Links and headers are looked at until they add up to twice the bytes of the files they are in, and so many more: a
/// file in which each link leads to an object of its own has less. A header that was met before costs less. Only so many
/// other files count.
const LEAST: u64 = 4 << 20;
const AGAIN: u64 = 8;
const FILES: usize = 16;

/// How `_NCProperties` names a netCDF library, of both of its versions.
const MAKERS: [&[u8]; 3] = [b"netcdf=", b"netcdflibversion=", b"ferrocdf="];

/// Bytes that a link takes besides its name, with what it leads to.
const LINK: u64 = 24;

/// The objects of so many links are opened together, by all threads if there are enough.
const TOGETHER: usize = 256;
/// The same in a slow file, where each group of links costs some rounds.
const IN_ROUNDS: usize = 4096;
const SHARED: usize = 64;

/// The most words on what was left out, and the bytes of one.
const WORDS: usize = 1000;
const WORD: usize = 1000;

/// What a file holds, before its dimensions are known.
pub(super) struct FileWalk {
    /// Groups and types.
    pub(super) model: Model,
    pub(super) types: Types,
    pub(super) dims: FoundDims,
    pub(super) vars: Vec<FoundVariable>,
    /// Where each group is.
    pub(super) groups: Vec<Place>,
    /// What was left out, and why.
    pub(super) skipped: SkippedObjects,
    /// Datasets without a shape: group, name, type if netCDF has one.
    pub(super) shapeless: Vec<(GroupId, Name, Option<Type>, Place)>,
    /// Datatypes of attributes for which there may be no type yet, and the group of each.
    attribute_types: Vec<(GroupId, Datatype)>,
    wanted: Wanted,
    /// The files that were met, and the objects.
    files: HashSet<usize>,
    seen: HashSet<(usize, Address)>,
    /// Bytes of links and headers that may still be looked at; nothing once that was too much.
    budget: Option<u64>,
}

/// What is read of each object.
#[derive(Clone, Copy)]
struct Wanted {
    /// True if the types of attributes outside of headers are read too. In files of netCDF libraries all types have names, so that
    /// there it need not be.
    all_attribute_types: bool,
    /// True if the attributes of variables are read.
    attributes: bool,
}

/// Where an object is, among all that links lead to.
pub(super) fn place_of(object: &Object) -> (usize, Address) {
    (number_of(object.file()), object.address())
}

/// A number that no other file has that is open.
pub(super) fn number_of(file: &File) -> usize {
    std::sync::Arc::as_ptr(&file.source().blob).cast::<()>().addr()
}

/// Looks at all objects of a file, and reads their attributes if these are wanted at once.
pub(super) fn walk(file: &File, attributes: bool) -> Result<FileWalk> {
    let root = file.root()?;
    if root.kind() != ObjectKind::Group {
        let what = format!("root group: the object header at {} is not that of a group", root.address());
        return Err(Error::new(Code::EHDFERR, what));
    }
    let strict = root.attribute(names::STRICT)?.is_some();
    let format = if strict { Format::NETCDF4_CLASSIC } else { Format::NETCDF4 };
    let mut walk = FileWalk {
        model: Model::new(format),
        types: Types::default(),
        dims: FoundDims::default(),
        vars: vec![],
        groups: vec![Place::of(&root)],
        attribute_types: vec![],
        wanted: Wanted { all_attribute_types: !is_made_by_netcdf(&root)?, attributes },
        skipped: SkippedObjects::default(),
        shapeless: vec![],
        files: HashSet::new(),
        seen: HashSet::new(),
        budget: Some(LEAST),
    };
    walk.spend(&root, 0);
    walk.group(GroupId::ROOT, &root, &mut vec![place_of(&root)])?;
    for (group, datatype) in std::mem::take(&mut walk.attribute_types) {
        walk.types.of_attribute(&mut walk.model, group, &datatype);
    }
    walk.types.name_made_up(&mut walk.model);
    Ok(walk)
}

/// Whether a file says that netCDF-C or this library made it. Attributes outside of headers, which are many bytes to read, have
/// no datatypes without a name there.
fn is_made_by_netcdf(root: &Object) -> Result<bool> {
    let Some(properties) = root.attribute(names::PROPERTIES)? else { return Ok(false) };
    let text = decode::text(&properties, root.file());
    let mut makers = text.split(|byte| b",|".contains(byte));
    Ok(makers.any(|maker| MAKERS.iter().any(|known| maker.starts_with(known))))
}

/// The datatypes of attributes that are types of users, if netCDF can have them.
fn attribute_types(object: &Object, all: bool) -> Vec<Datatype> {
    // Opaque, compound, enumeration, variable length.
    const CLASSES: [u8; 4] = [5, 6, 8, 9];
    let mut found = vec![];
    object.each_attribute_type(&CLASSES, all, &mut |name, datatype| {
        let is_string = matches!(datatype.class, Class::Variable { text: Some(_), .. });
        if CLASSES.contains(&datatype.class.number()) && !is_string && !names::is_reserved(name) {
            found.push(datatype);
        }
    });
    found
}

impl FileWalk {
    fn group(&mut self, group: GroupId, object: &Object, way: &mut Vec<(usize, Address)>) -> Result<()> {
        if self.budget.is_none() {
            return Ok(());
        }
        let own = attribute_types(object, self.wanted.all_attribute_types);
        self.attribute_types.extend(own.into_iter().map(|datatype| (group, datatype)));
        let mut within = Vec::new();
        let together = if object.file().source().is_near() { TOGETHER } else { IN_ROUNDS };
        for links in object.links()?.list.chunks(together) {
            let seen = self.look_ahead(object, links);
            for (link, seen) in links.iter().zip(seen) {
                if !self.spend(object, link.name.len() as u64) {
                    return Ok(());
                }
                let Seen { object: found, data } =
                    match seen.unwrap_or_else(|| Seen::at(object, link, self.wanted)) {
                        Ok(Some(found)) if self.meet(&found.object) => found,
                        Ok(Some(_)) => return Ok(()),
                        Ok(None) => {
                            self.dims.take_name(group, &link.name);
                            self.leave_out(group, &link.name, "the link leads nowhere");
                            continue;
                        }
                        Err(error) => {
                            self.dims.take_name(group, &link.name);
                            self.lose(object, group, &link.name, error)?;
                            continue;
                        }
                    };
                let is_here = matches!(link.target, LinkTarget::Hard(_));
                let done = match (found.kind(), data) {
                    (ObjectKind::Group, _) => {
                        self.dims.take_name(group, &link.name);
                        within.push((link.name.clone(), found));
                        continue;
                    }
                    (_, Some(data)) => data.and_then(|data| self.dataset(group, &link.name, &found, data)),
                    (ObjectKind::Datatype, _) => self.datatype(group, &link.name, &found),
                    _ => Ok(Some("an object of an unknown kind")),
                };
                // The writer gives the link of a variable another name where a scale needs the name.
                let is_variable = is_here && found.kind() == ObjectKind::Dataset && matches!(done, Ok(None));
                if !is_variable {
                    self.dims.take_name(group, &link.name);
                }
                match done {
                    Ok(None) => {}
                    Ok(Some(why)) => self.leave_out(group, &link.name, why),
                    Err(error) => self.lose(object, group, &link.name, error)?,
                }
            }
        }
        // All groups of a level wait for their links together.
        if !object.file().source().is_near() {
            self.prefetch_groups(object, &within);
        }
        for (name, object) in within {
            let at = place_of(&object);
            if way.contains(&at) {
                self.leave_out(group, &name, "the group is within itself");
                continue;
            }
            if self.budget.is_none() {
                return Ok(());
            }
            if self.groups.len() >= GROUPS || way.len() >= DEPTH {
                let what = format!("more than {GROUPS} groups, or {DEPTH} within each other");
                self.leave_out(group, &name, what);
                return Ok(());
            }
            let child = self.model.push_group(group, Name::stored(&name));
            self.groups.push(Place::of(&object));
            way.push(at);
            if let Err(error) = self.group(child, &object, way) {
                self.lose(&object, group, &name, error)?;
            }
            way.pop();
        }
        Ok(())
    }

    /// Returns what links lead to, as long as that is not too much; `None` for the others, and where links are so few that threads
    /// would cost more than they are worth.
    fn look_ahead(&self, object: &Object, links: &[Link]) -> Vec<Option<Result<Option<Seen>>>> {
        let look = |link: &Link| {
            let seen = Seen::at(object, link, self.wanted);
            let len = seen.as_ref().ok().and_then(Option::as_ref).map_or(0, Seen::len);
            (seen, len)
        };
        let source = object.file().source();
        if links.len() < SHARED && source.is_near() {
            return links.iter().map(|_| None).collect();
        }
        source.map_within_budget(self.budget.unwrap_or(0), links, look)
    }

    /// Reads the links of groups in a slow file, and what these lead to, in rounds that all groups share.
    fn prefetch_groups(&mut self, object: &Object, groups: &[(Vec<u8>, Object)]) {
        let source = object.file().source();
        let groups: Vec<&Object> = groups.iter().map(|(_, group)| group).take(IN_ROUNDS).collect();
        let (budget, spent) = (self.budget.unwrap_or(0), Cell::new(0u64));
        source.in_rounds(&groups, |group| {
            let Ok(links) = group.links() else { return };
            let links = links.list.get(..IN_ROUNDS / groups.len()).unwrap_or(&links.list);
            source.in_rounds(links, |link| {
                if spent.get() <= budget {
                    let seen = Seen::at(group, link, self.wanted);
                    let len = seen.ok().flatten().map_or(0, |seen| seen.len());
                    spent.set(spent.get().saturating_add(len));
                }
            });
        });
        // They are looked at again, each at its price.
        self.budget = self.budget.map(|budget| budget.saturating_sub(spent.get() / AGAIN));
    }

    /// Notes that an object is looked at. False if that is too much.
    fn meet(&mut self, object: &Object) -> bool {
        let len = object.stored_len();
        let is_new = self.seen.insert(place_of(object));
        self.spend(object, if is_new { len } else { len / AGAIN })
    }

    /// Notes that so many bytes of an object's file are looked at. False if they are too many; that is told once.
    fn spend(&mut self, object: &Object, bytes: u64) -> bool {
        let Some(budget) = &mut self.budget else { return false };
        if self.files.len() < FILES && self.files.insert(place_of(object).0) {
            let size = object.file().source().blob.size().unwrap_or_default();
            *budget = budget.saturating_add(size.saturating_mul(2));
        }
        self.budget = budget.checked_sub(LINK.saturating_add(bytes));
        if self.budget.is_none() {
            self.skipped.words.truncate(WORDS - 1);
            self.skipped.words.push("the rest: links lead to the same objects again and again".to_string());
        }
        self.budget.is_some()
    }

    /// Leaves out what cannot be read in an object. Fails if that is because a slow source refused, which it may not do again.
    fn lose(&mut self, object: &Object, group: GroupId, name: &[u8], error: Error) -> Result<()> {
        let what = error.what.to_string();
        let error = error.at_path(path_in(&self.model, group, name));
        if error.is_of_source() && !object.file().source().is_near() {
            return Err(error);
        }
        self.leave_out(group, name, what);
        self.skipped.lost.get_or_insert(error);
        Ok(())
    }

    fn leave_out(&mut self, group: GroupId, name: &[u8], why: impl std::fmt::Display) {
        self.skipped.add(&self.model, group, name, why);
    }

    /// A committed datatype. Gives the reason if it is left out.
    fn datatype(&mut self, group: GroupId, name: &[u8], object: &Object) -> Result<Option<&'static str>> {
        let datatype = ferrocdf_hdf5::committed_datatype(object)?;
        let added = self.types.add(&mut self.model, group, name, datatype);
        Ok(added.is_none().then_some("a type with parts that netCDF has no type for"))
    }

    /// A dataset: a variable, a dimension, or both. Gives the reason if it is left out.
    fn dataset(
        &mut self,
        group: GroupId,
        name: &[u8],
        object: &Object,
        data: DatasetMetadata,
    ) -> Result<Option<&'static str>> {
        let DatasetMetadata { datatype, native, attribute_types, attributes, storage, extent, scale, slots } =
            data;
        let Some(extent) = extent else {
            // The reference gives its type a name, too.
            let ty = self.types.of_dataset(&mut self.model, group, &datatype, native.as_ref());
            self.shapeless.push((group, Name::stored(name), ty, Place::of(object)));
            return Ok(Some(WITHOUT_SHAPE));
        };
        let own = scale.zip(extent.first()).map(|(ScaleSeen { id, has_variable }, &(len, unlimited))| {
            let (name, (file, at)) = (Name::stored(name), place_of(object));
            let scale = Scale { id: 0, is_told: false, group, name, len, unlimited, has_variable, at, file };
            self.dims.add_scale(scale, id)
        });
        if own.as_ref().is_some_and(|own| !own.has_variable) {
            return Ok(None);
        }
        let Some(ty) = self.types.of_dataset(&mut self.model, group, &datatype, native.as_ref()) else {
            return Ok(Some("a dataset of a type that netCDF does not know"));
        };
        self.attribute_types.extend(attribute_types.into_iter().map(|datatype| (group, datatype)));
        let plain = name.strip_prefix(names::NON_COORDINATE);
        self.vars.push(FoundVariable {
            group,
            name: Name::stored(plain.unwrap_or(name)),
            prefixed: plain.is_some(),
            ty,
            storage,
            extent,
            dims: slots?.or_own(own.map(|own| own.id)),
            by_length: false,
            attributes,
            place: Place::of(object),
        });
        Ok(None)
    }
}

/// Why a dataset with a null dataspace is left out.
pub(super) const WITHOUT_SHAPE: &str = "a dataset without a shape";

/// The path of what has this name in a group.
pub(super) fn path_in(model: &Model, group: GroupId, name: &[u8]) -> String {
    format!("{}/{}", model.group_path(group).trim_end_matches('/'), String::from_utf8_lossy(name))
}

/// What of a file the model has no place for, and why.
#[derive(Debug, Default)]
pub(super) struct SkippedObjects {
    /// Not more than [`WORDS`].
    words: Vec<String>,
    /// How many more there are.
    unsaid: usize,
    /// Why the first of those that cannot be read is among them.
    pub(super) lost: Option<Error>,
}

impl SkippedObjects {
    pub(super) fn add(&mut self, model: &Model, group: GroupId, name: &[u8], why: impl std::fmt::Display) {
        self.add_at(|| path_in(model, group, name), why);
    }

    /// The same for what has a path.
    pub(super) fn add_at(&mut self, path: impl FnOnce() -> String, why: impl std::fmt::Display) {
        if self.words.len() >= WORDS {
            self.unsaid += 1;
            return;
        }
        let word = format!("{}: {why}", path());
        let end = word.char_indices().map(|(at, _)| at).find(|&at| at >= WORD).unwrap_or(word.len());
        self.words.push(word[..end].to_string());
    }

    /// All of it, in words.
    pub(super) fn words(mut self) -> Vec<String> {
        self.words.extend((self.unsaid > 0).then(|| format!("and {} more", self.unsaid)));
        self.words
    }
}

/// What a link leads to, looked at on its own.
struct Seen {
    object: Object,
    /// What there is to a dataset; `None` for all else.
    data: Option<Result<DatasetMetadata>>,
}

/// A dataset as it stands in its file: all that a thread can find out without the model.
struct DatasetMetadata {
    /// What its elements are.
    datatype: Datatype,
    /// What they are in memory, if netCDF can have such.
    native: Option<Native>,
    /// What its attributes are, those that have the types of users.
    attribute_types: Vec<Datatype>,
    /// The attributes, if they are wanted and can be read at once.
    attributes: Option<Named<Attr>>,
    storage: Storage,
    /// The lengths of its dimensions, and which may grow; `None` without a shape.
    extent: Option<Vec<(u64, bool)>>,
    scale: Option<ScaleSeen>,
    slots: Result<Slots>,
}

/// A dimension scale as it stands in its file.
struct ScaleSeen {
    /// The id that it is given there.
    id: Option<i64>,
    has_variable: bool,
}

impl Seen {
    /// Returns the bytes of the object's header, with messages that stand somewhere else: a type that many share is there for each
    /// of them.
    fn len(&self) -> u64 {
        self.object.stored_len().max(self.object.message_bytes())
    }

    /// What a link of a group leads to; `None` if it leads nowhere.
    fn at(group: &Object, link: &Link, wanted: Wanted) -> Result<Option<Seen>> {
        let found = match &link.target {
            LinkTarget::Hard(at) => group.file().object(*at).map(Some),
            _ => group.file().open_path(group.address(), &link.name),
        };
        Ok(found?.map(|object| {
            let data =
                matches!(object.kind(), ObjectKind::Dataset).then(|| DatasetMetadata::of(&object, wanted));
            Seen { object, data }
        }))
    }
}

impl DatasetMetadata {
    fn of(object: &Object, wanted: Wanted) -> Result<DatasetMetadata> {
        let dataset = Dataset::open(object)?;
        let datatype = dataset.datatype().clone();
        let (native, storage) = (Native::of(&datatype), storage(&dataset));
        let attribute_types = attribute_types(object, wanted.all_attribute_types);
        let space = dataset.dataspace();
        if space.kind == SpaceKind::Null {
            let (attributes, extent, scale, slots) = (None, None, None, Ok(Slots::None));
            return Ok(DatasetMetadata {
                datatype,
                native,
                attribute_types,
                attributes,
                storage,
                extent,
                scale,
                slots,
            });
        }
        let grows = |dim: usize| space.max(dim).is_none();
        // Of a virtual dataset the sources say how long it is.
        let shape = dataset.shape()?;
        let extent: Vec<(u64, bool)> =
            shape.iter().enumerate().map(|(dim, &len)| (len, grows(dim))).collect();
        let scale = match extent.is_empty() {
            true => None,
            false => ScaleSeen::of(object)?,
        };
        let slots = match &scale {
            Some(scale) if !scale.has_variable => Ok(Slots::None),
            _ => Slots::read(object, scale.is_some(), extent.len()),
        };
        let is_variable = scale.as_ref().is_none_or(|scale| scale.has_variable);
        let attributes = if wanted.attributes && is_variable { read_early(object) } else { None };
        let extent = Some(extent);
        Ok(DatasetMetadata { datatype, native, attribute_types, attributes, storage, extent, scale, slots })
    }
}

impl ScaleSeen {
    fn of(object: &Object) -> Result<Option<ScaleSeen>> {
        let Some(class) = object.attribute(names::CLASS)? else { return Ok(None) };
        // Text of any length says nothing to the HDF5 library here.
        let is_fixed = matches!(class.datatype.class, Class::Text(_));
        if !is_fixed || !decode::text(&class, object.file()).starts_with(names::DIMENSION_SCALE) {
            return Ok(None);
        }
        let id = object.attribute(names::DIMID)?.and_then(|id| decode::integers(&id).first().copied());
        let title = object.attribute(names::NAME)?;
        let has_variable =
            !title.is_some_and(|title| decode::text(&title, object.file()).starts_with(names::NO_VARIABLE));
        Ok(Some(ScaleSeen { id, has_variable }))
    }
}

/// The option bits of szip that netCDF shows.
const SZIP_OPTIONS: u32 = 2 | 4 | 32;

/// The filters of a dataset as netCDF shows them: each once, with the parameters it has last, checksum and shuffle first.
fn set_filters(storage: &mut Storage, dataset: &Dataset) {
    for step in dataset.filters() {
        // All filters of HDF5 files have numbers.
        let Some(id) = step.id.hdf5() else { continue };
        let mut params = step.params.clone();
        match id {
            // The library adds what it learns of the data to what was asked for.
            Filter::SZIP if params.len() == 4 => {
                params.truncate(2);
                params[0] &= SZIP_OPTIONS;
            }
            Filter::DEFLATE => params.truncate(1),
            _ => {}
        }
        storage.set_filter(id, params);
    }
}

/// How a dataset is stored, in the words of netCDF; only numbers have a byte order.
fn storage(dataset: &Dataset) -> Storage {
    let chunking = match dataset.layout() {
        DataLayout::Compact(_) => Some(Chunking::Compact),
        DataLayout::Contiguous { .. } => Some(Chunking::Contiguous),
        DataLayout::Chunked(chunked) => Some(Chunking::Chunked(chunked.shape.clone())),
        DataLayout::Virtual(_) => None,
    };
    let endian = decode::endian(dataset.datatype());
    let mut storage = Storage {
        no_fill: !matches!(dataset.fill().value, Fill::Value(_)),
        chunking,
        endian: endian.map(|big| if big { Endian::Big } else { Endian::Little }),
        as_usual: decode::is_as_netcdf_stores(dataset.datatype()),
        ..Storage::default()
    };
    set_filters(&mut storage, dataset);
    storage
}
