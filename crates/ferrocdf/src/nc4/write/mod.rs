//! Driver that creates or edits a netCDF-4 file.
//!
//! The changes of a model are applied to the file object by object through the HDF5 editor, as netCDF-C would write
//! them; objects without a change in the model are not touched, regardless of their writer. Changes are pending in the
//! editor until a flush: at the end of define mode, at a sync, at the close, and before strings or values of
//! user-defined types are read back, which are read from the file.
//!
//! Not supported: a new fill value for an existing variable; shrinking of dimensions.

mod attrs;
mod by_length;
mod data;
mod define;
mod dims;
mod driver;
#[cfg(test)]
mod faults;
mod filters;
mod remove;
mod roles;
mod types;
mod undo;
mod values;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ferrocdf_array::{Array, RangeCheck};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_hdf5::edit::{Barrier, CreateOptions, Editor, Node};
use ferrocdf_hdf5::messages::HeapId;
use ferrocdf_hdf5::messages::datatype::{Class as Number, Datatype};
use ferrocdf_hdf5::messages::fill::Fill;
use ferrocdf_hdf5::{Address, Dataset, File, Object, OpenOptions};
use ferrocdf_model::{Class, Format, Model, Quantize, Type, TypeId, VarId};
use ferrocdf_store::BlobMut;

use super::found::Place;
use super::walk::number_of;
use super::{Nc4Content, decode, trees};
use dims::FileIds;
pub use filters::check_filter;
pub(super) use roles::link_path;
use undo::Before;

use crate::driver::{Part, Written};
use crate::{plugins, quantize};

/// Writer of a netCDF-4 file.
pub(crate) struct Nc4Writer {
    blob: Arc<dyn BlobMut>,
    held: Mutex<Edited>,
    skipped: Vec<String>,
}

/// Location of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum At {
    /// Created in this session.
    Node(Node),
    /// In the file when it was opened.
    Address(Address),
    /// In another file, which is only read.
    Elsewhere,
}

impl At {
    fn node(self, editor: &mut Editor) -> Result<Node> {
        match self {
            At::Node(node) => Ok(node),
            At::Address(at) => editor.node(at),
            At::Elsewhere => Err(Error::new(Code::EPERM, "it is in another file, which is only read")),
        }
    }

    fn address(self, editor: &mut Editor) -> Result<Address> {
        match self {
            At::Address(at) => Ok(at),
            at => {
                let node = at.node(editor)?;
                editor.address(node)
            }
        }
    }
}

/// User-defined type in the file.
struct TypePlace {
    datatype: Datatype,
    /// True if the file has no committed type for it.
    is_made_up: bool,
}

/// Dimension in the file.
#[derive(Default)]
struct DimPlace {
    /// Scale; an anonymous dimension has none.
    scale: Option<At>,
    /// Variable that is the scale.
    coordinate: Option<VarId>,
    /// Datasets attached to the scale, with the index of their dimension: the contents of `REFERENCE_LIST`. Read on
    /// demand.
    users: Option<Vec<(At, i32)>>,
}

/// Variable in the file.
struct VarPlace {
    at: At,
    /// True if the link has the prefix of variables that are not coordinates.
    prefixed: bool,
    /// Current lengths of the dimensions of the dataset.
    extent: Vec<u64>,
    facts: Option<Arc<Facts>>,
}

/// Properties of a variable that never change.
#[derive(Debug)]
struct Facts {
    datatype: Datatype,
    /// Encoded fill value, if there is one.
    fill: Option<Vec<u8>>,
    /// Quantization of written numbers.
    quantize: Option<Quantize>,
}

/// State of the edited file. Objects of the model are at the index of their id; `None` if they are not created yet.
struct Edited {
    editor: Editor,
    /// Options with which the file was opened.
    options: OpenOptions,
    /// True if nothing was defined yet.
    fresh: bool,
    groups: Vec<Option<At>>,
    types: Vec<Option<TypePlace>>,
    dims: Vec<Option<DimPlace>>,
    vars: Vec<Option<VarPlace>>,
    classes: Vec<Class>,
    /// Objects created in this session.
    made: HashSet<Node>,
    /// Chunked arrays that may have pending chunks, ordered by variable so that equal calls give equal files.
    written: BTreeMap<VarId, Array>,
    /// Chunks, by their first elements, in which each fill value has its own global heap objects.
    owned: HashSet<(VarId, Vec<u64>)>,
    /// Global heap objects of attributes that were set.
    heaped: HashMap<Node, HashMap<Vec<u8>, Vec<HeapId>>>,
    /// True if changes are pending.
    changed: bool,
    /// Dimensions whose `REFERENCE_LIST` is out of date in the file.
    changed_users: BTreeSet<u32>,
    file_ids: FileIds,
    /// Dimensions whose scales have no id in the file.
    without_id: BTreeSet<u32>,
    /// Variables without a scale for some dimension.
    by_length: BTreeSet<VarId>,
    /// For each dimension of a dataset attached in this session, the attached scales other than that of the netCDF
    /// dimension.
    others: HashMap<At, Vec<Vec<Address>>>,
    /// Number of pending definition steps.
    steps: usize,
    /// Extent of the dataset before the current write extended it.
    shorter: Option<Vec<u64>>,
    /// Undo log while definitions are made.
    log: Option<Vec<Before>>,
    /// Removal after which the file was not read again yet; until then ids of the model may refer to other objects of
    /// the file.
    removal: Option<Removed>,
}

/// State of a removal that may be half done.
#[derive(Clone, Copy)]
struct Removed {
    part: Part,
    /// True if the commit can only be finished, not undone.
    is_gone: bool,
}

impl Nc4Writer {
    /// Creates a file.
    pub(crate) fn create(blob: Arc<dyn BlobMut>) -> Result<Nc4Writer> {
        let options =
            CreateOptions { barrier: Barrier::Order, codecs: plugins::codecs(), ..CreateOptions::default() };
        let editor = Editor::create(blob.clone(), &options)?;
        let groups = vec![Some(At::Node(editor.root()))];
        let made = HashSet::from([editor.root()]);
        let edited = Edited { fresh: true, groups, made, ..Edited::empty(editor) };
        Ok(Self::new(blob, edited, vec![]))
    }

    /// Opens an existing file. `NC_ENOTNC` if it is not HDF5.
    pub(crate) fn open(blob: Arc<dyn BlobMut>, options: OpenOptions) -> Result<(Nc4Writer, Model)> {
        let editor = Editor::open(blob.clone(), options.clone(), Barrier::Order)?;
        let mut edited = Edited { options, ..Edited::empty(editor) };
        let (model, skipped) = edited.read()?;
        Ok((Self::new(blob, edited, skipped), model))
    }

    fn new(blob: Arc<dyn BlobMut>, edited: Edited, skipped: Vec<String>) -> Nc4Writer {
        Nc4Writer { blob, held: Mutex::new(edited), skipped }
    }

    fn held(&self) -> MutexGuard<'_, Edited> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finishes the last commit and reads its model; changes since then are dropped.
    fn read_again(&mut self) -> Result<Model> {
        let held = self.held_mut();
        held.editor.resume()?;
        held.start_again()?;
        self.read()
    }

    /// Reads the model again.
    fn read(&mut self) -> Result<Model> {
        let (model, skipped) = self.held_mut().read()?;
        self.skipped = skipped;
        Ok(model)
    }

    fn held_mut(&mut self) -> &mut Edited {
        self.held.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Edited {
    fn empty(editor: Editor) -> Edited {
        Edited {
            editor,
            options: OpenOptions::default(),
            fresh: false,
            groups: vec![],
            types: vec![],
            dims: vec![],
            vars: vec![],
            classes: vec![],
            made: HashSet::new(),
            written: BTreeMap::new(),
            owned: HashSet::new(),
            heaped: HashMap::new(),
            changed: false,
            changed_users: BTreeSet::new(),
            file_ids: FileIds::default(),
            without_id: BTreeSet::new(),
            by_length: BTreeSet::new(),
            others: HashMap::new(),
            steps: 0,
            shorter: None,
            log: None,
            removal: None,
        }
    }

    /// Returns an error between a removal and the next reading of the file.
    fn check_ids(&self) -> Result<()> {
        if self.removal.is_none() {
            return Ok(());
        }
        let what = "a removal is half done, since the file could not be written or read again then; call sync \
                    (FileMut::sync), which finishes or undoes it";
        Err(Error::new(Code::EIO, what))
    }

    /// Finishes a commit that failed half-way; required before each access to the file.
    fn ready(&mut self) -> Result<()> {
        self.check_ids()?;
        self.editor.resume()
    }

    /// Drops all changes since the last commit.
    fn start_again(&mut self) -> Result<()> {
        let (blob, options) = (self.editor.blob().clone(), self.options.clone());
        let editor = Editor::open(blob, options.clone(), Barrier::Order)?;
        *self = Edited { options, removal: self.removal, ..Edited::empty(editor) };
        Ok(())
    }

    /// Reads the model of the file, and the reasons for skipped objects. From then on the ids of the model match the
    /// file.
    fn read(&mut self) -> Result<(Model, Vec<String>)> {
        let file = self.editor.file().clone();
        let (content, model) = Nc4Content::read(&file, false)?;
        // An object that is unreadable now because of a system error must not be missing from the model.
        if self.removal.is_some()
            && let Some(error) = content.lost.filter(Error::is_of_system)
        {
            return Err(error);
        }
        let own = number_of(&file);
        let at_in = |file: usize, at: Address| if file == own { At::Address(at) } else { At::Elsewhere };
        let at = |place: &Place| at_in(number_of(&place.file), place.at);
        let groups = model.groups().len();
        self.groups = content.owners.places[..groups].iter().map(|place| Some(at(place))).collect();
        self.classes.clone_from(&content.owners.classes);
        let types = (0..).map(TypeId).zip(content.types);
        let place = |(id, datatype)| TypePlace { datatype, is_made_up: content.made_up.contains(&id) };
        self.types = types.map(|ty| Some(place(ty))).collect();
        let mut coordinates = HashMap::new();
        self.vars.clear();
        self.by_length.clear();
        for (number, var) in model.var_ids().zip(&content.vars) {
            coordinates.entry((number_of(&var.place.file), var.place.at)).or_insert(number);
            if var.by_length {
                self.by_length.insert(number);
            }
            self.vars.push(Some(VarPlace {
                at: at(&var.place),
                prefixed: var.prefixed,
                extent: var.extent.clone(),
                facts: None,
            }));
        }
        self.owned.clear();
        self.others.clear();
        self.dims.clear();
        (self.file_ids, self.without_id) = (FileIds::default(), BTreeSet::new());
        for (number, dim) in (0..).zip(&content.dims) {
            self.file_ids.push(dim.id);
            if !dim.is_told {
                self.without_id.insert(number);
            }
            let place = dim.at.filter(|_| dim.has_variable).map(|at| (dim.file, at));
            let coordinate = place.and_then(|place| coordinates.get(&place).copied());
            let scale = dim.at.map(|at| at_in(dim.file, at));
            self.dims.push(Some(DimPlace { scale, coordinate, users: None }));
        }
        self.removal = None;
        Ok((model, content.skipped))
    }

    fn var(&self, var: VarId) -> Result<&VarPlace> {
        let place = self.vars.get(var.index()).and_then(Option::as_ref);
        place.ok_or_else(|| Error::new(Code::EINDEFINE, "the variable is still being defined"))
    }

    fn var_mut(&mut self, var: VarId) -> Result<&mut VarPlace> {
        let place = self.vars.get_mut(var.index()).and_then(Option::as_mut);
        place.ok_or_else(|| Error::new(Code::EINDEFINE, "the variable is still being defined"))
    }

    fn node(&mut self, var: VarId) -> Result<Node> {
        let at = self.var(var)?.at;
        at.node(&mut self.editor)
    }

    /// Properties of a variable that never change.
    fn facts(&mut self, var: VarId) -> Result<Arc<Facts>> {
        let place = self.var(var)?;
        if let Some(facts) = &place.facts {
            return Ok(facts.clone());
        }
        let address = place.at.address(&mut self.editor)?;
        let dataset = Dataset::open(&self.editor.file().object(address)?)?;
        let datatype = dataset.datatype().clone();
        let fill = match &dataset.fill().value {
            Fill::Value(bytes) if bytes.len() == datatype.size as usize => Some(bytes.clone()),
            _ => None,
        };
        let mut rounded = None;
        if matches!(datatype.class, Number::Float(_)) {
            for (name, way) in quantize::ATTRIBUTES {
                let attribute = dataset.object().attribute(name.as_bytes())?;
                let digits = attribute.and_then(|found| decode::integers(&found).first().copied());
                let digits = digits.and_then(|digits| u32::try_from(digits).ok());
                rounded = rounded.or(digits.map(|digits| Quantize { way, digits }));
            }
        }
        let facts = Arc::new(Facts { datatype, fill, quantize: rounded });
        self.var_mut(var)?.facts = Some(facts.clone());
        Ok(facts)
    }

    /// Brings all pending changes to the file.
    fn flush(&mut self) -> Result<()> {
        self.ready()?;
        if !self.changed {
            return Ok(());
        }
        let blob = self.editor.blob().clone();
        for (var, array) in &self.written {
            ferrocdf_array::flush(&*blob, array)
                .map_err(|error| error.at(format_args!("variable {}", var.0)))?;
        }
        self.written.clear();
        self.list_users()?;
        self.editor.commit()?;
        (self.changed, self.steps) = (false, 0);
        Ok(())
    }

    /// Flushes, and returns the file.
    fn flushed_file(&mut self) -> Result<File> {
        self.flush()?;
        Ok(self.editor.file().clone())
    }

    /// Flushes, and returns the file and its groups.
    fn flushed_groups(&mut self) -> Result<(File, Vec<Object>)> {
        let file = self.flushed_file()?;
        let Edited { groups, editor, .. } = self;
        let addresses = groups.iter().flatten().filter_map(|at| at.address(editor).ok());
        let groups = addresses.filter_map(|at| file.object(at).ok()).collect();
        Ok((file, groups))
    }

    /// Flushes, and returns the file and the dataset of a variable.
    fn dataset(&mut self, var: VarId) -> Result<(File, Dataset)> {
        let file = self.flushed_file()?;
        let at = self.var(var)?.at.address(&mut self.editor)?;
        let dataset = Dataset::open(&file.object(at)?)?;
        Ok((file, dataset))
    }
}

/// Returns the result of a write.
fn written(range_check: RangeCheck, is_relocated: bool) -> Written {
    Written { range_check, is_relocated }
}

/// True if a file of this format keeps to the classic model.
fn is_strict(format: Format) -> bool {
    format == Format::NETCDF4_CLASSIC
}

/// Returns a name for a link or attribute. `NC_EBADNAME` if it is not UTF-8.
fn link_name(name: &[u8]) -> Result<&str> {
    let bad = || Error::new(Code::EBADNAME, format!("name \"{}\" is not UTF-8", name.escape_ascii()));
    std::str::from_utf8(name).map_err(|_| bad())
}

/// Returns the type of a variable.
fn type_of(model: &Model, var: VarId) -> Type {
    model.var(var).ty
}
