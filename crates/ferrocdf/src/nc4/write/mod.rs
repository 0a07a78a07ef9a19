//! Writing: a netCDF-4 file that is made or edited, as a driver.
//!
//! What a model says is brought to the file object by object through the HDF5 editor, as the reference would write it;
//! objects that no model change concerns are not touched, whoever wrote them. Changes are pending in the editor until they are
//! flushed: at the end of define mode, at a sync, at the close, and when strings or values of user-defined types are read back,
//! which are read from the file.
//!
//! Not done: another fill value for a variable that is there; dimensions that become shorter.

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
use undo::Before;

use crate::driver::{Part, Written};
use crate::{plugins, quantize};

/// A netCDF-4 file that is edited.
pub(crate) struct Nc4Writer {
    blob: Arc<dyn BlobMut>,
    held: Mutex<Edited>,
    skipped: Vec<String>,
}

/// Where an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum At {
    /// Made in this session.
    Node(Node),
    /// In the file since it was opened.
    Address(Address),
    /// In another file, which is not written.
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

/// A user-defined type.
struct TypePlace {
    datatype: Datatype,
    /// It has no object in the file.
    is_made_up: bool,
}

/// A dimension.
#[derive(Default)]
struct DimPlace {
    /// Its scale; a made-up dimension of another writer's file has none.
    scale: Option<At>,
    /// The variable that is the scale.
    coordinate: Option<VarId>,
    /// What uses the scale, and which of its dimensions it is: what `REFERENCE_LIST` says. Read when it is needed.
    users: Option<Vec<(At, i32)>>,
}

/// A variable.
struct VarPlace {
    at: At,
    /// Whether its link has the prefix of variables that are no coordinates.
    prefixed: bool,
    /// The lengths of the dataset's dimensions.
    extent: Vec<u64>,
    facts: Option<Arc<Facts>>,
}

/// What does not change about a variable.
#[derive(Debug)]
struct Facts {
    datatype: Datatype,
    /// The fill value as stored, if there is one.
    fill: Option<Vec<u8>>,
    /// How numbers are rounded that are written.
    quantize: Option<Quantize>,
}

/// What is edited. Everything that the model has is at the position of its id, `None` while it is still to be made.
struct Edited {
    editor: Editor,
    /// How the file was opened.
    options: OpenOptions,
    /// Nothing was defined yet.
    fresh: bool,
    groups: Vec<Option<At>>,
    types: Vec<Option<TypePlace>>,
    dims: Vec<Option<DimPlace>>,
    vars: Vec<Option<VarPlace>>,
    classes: Vec<Class>,
    /// Objects made in this session.
    made: HashSet<Node>,
    /// Arrays with chunks of which some may be pending, in the order in which they are flushed: files are the same every time.
    written: BTreeMap<VarId, Array>,
    /// Chunks, by their first elements, in which each fill value has a place of its own in the global heap.
    owned: HashSet<(VarId, Vec<u64>)>,
    /// What attributes that were set hold in the global heap.
    heaped: HashMap<Node, HashMap<Vec<u8>, Vec<HeapId>>>,
    /// Whether the file does not say everything yet.
    changed: bool,
    /// Dimensions whose scales do not list the datasets yet that use them now (`REFERENCE_LIST`).
    changed_users: BTreeSet<u32>,
    file_ids: FileIds,
    /// Dimensions whose scales have no id in the file (`_Netcdf4Dimid`).
    without_id: BTreeSet<u32>,
    /// Variables with dimensions that the file does not name.
    by_length: BTreeSet<VarId>,
    /// For each dimension of datasets that were attached in this session, the scales that they are attached to besides the
    /// dimension's own.
    others: HashMap<At, Vec<Vec<Address>>>,
    /// Steps of defining that the file does not say yet.
    steps: usize,
    /// How long the dataset was that the write under way made longer.
    shorter: Option<Vec<u64>>,
    /// Values before they changed, while definitions are made.
    log: Option<Vec<Before>>,
    /// The removal after which the file was not read again yet. Until then ids of the model may name other objects in it.
    removal: Option<Removed>,
}

/// State of a removal that may be half done.
#[derive(Clone, Copy)]
struct Removed {
    part: Part,
    /// True if its commit can only be finished.
    is_gone: bool,
}

impl Nc4Writer {
    /// A new file.
    pub(crate) fn create(blob: Arc<dyn BlobMut>) -> Result<Nc4Writer> {
        let options =
            CreateOptions { barrier: Barrier::Order, codecs: plugins::codecs(), ..CreateOptions::default() };
        let editor = Editor::create(blob.clone(), &options)?;
        let groups = vec![Some(At::Node(editor.root()))];
        let made = HashSet::from([editor.root()]);
        let edited = Edited { fresh: true, groups, made, ..Edited::empty(editor) };
        Ok(Self::new(blob, edited, vec![]))
    }

    /// A file that is there. `NC_ENOTNC` if it is not HDF5.
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

    /// Finishes the last commit and reads its model; what was done since is forgotten.
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

    /// Fails after a removal until the file was read again.
    fn check_ids(&self) -> Result<()> {
        if self.removal.is_none() {
            return Ok(());
        }
        let what = "a removal is half done, since the file could not be written or read again then; call sync \
                    (FileMut::sync), which finishes or undoes it";
        Err(Error::new(Code::EIO, what))
    }

    /// Finishes a commit that failed half-way: before that nothing is read from the file or changed in it.
    fn ready(&mut self) -> Result<()> {
        self.check_ids()?;
        self.editor.resume()
    }

    /// Forgets all that was done since the last commit.
    fn start_again(&mut self) -> Result<()> {
        let (blob, options) = (self.editor.blob().clone(), self.options.clone());
        let editor = Editor::open(blob, options.clone(), Barrier::Order)?;
        *self = Edited { options, removal: self.removal, ..Edited::empty(editor) };
        Ok(())
    }

    /// Reads what the file says: its model, and what that leaves out. The ids of the model are those of the file then.
    fn read(&mut self) -> Result<(Model, Vec<String>)> {
        let file = self.editor.file().clone();
        let (content, model) = Nc4Content::read(&file, false)?;
        // An object that the system refuses to read now must not be missing from the model from then on.
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

    /// What does not change about a variable.
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

    /// Brings everything that is pending to the file.
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

    /// The file with everything in it.
    fn flushed_file(&mut self) -> Result<File> {
        self.flush()?;
        Ok(self.editor.file().clone())
    }

    /// The file with everything in it, and its groups.
    fn flushed_groups(&mut self) -> Result<(File, Vec<Object>)> {
        let file = self.flushed_file()?;
        let Edited { groups, editor, .. } = self;
        let addresses = groups.iter().flatten().filter_map(|at| at.address(editor).ok());
        let groups = addresses.filter_map(|at| file.object(at).ok()).collect();
        Ok((file, groups))
    }

    /// The dataset of a variable in the file with everything in it.
    fn dataset(&mut self, var: VarId) -> Result<(File, Dataset)> {
        let file = self.flushed_file()?;
        let at = self.var(var)?.at.address(&mut self.editor)?;
        let dataset = Dataset::open(&file.object(at)?)?;
        Ok((file, dataset))
    }
}

/// A result of writing.
fn written(range_check: RangeCheck, is_relocated: bool) -> Written {
    Written { range_check, is_relocated }
}

/// Whether a file of this format keeps to the classic model.
fn is_strict(format: Format) -> bool {
    format == Format::NETCDF4_CLASSIC
}

/// A name as a link or an attribute has it. `NC_EBADNAME` if it is not UTF-8.
fn link_name(name: &[u8]) -> Result<&str> {
    let bad = || Error::new(Code::EBADNAME, format!("name \"{}\" is not UTF-8", name.escape_ascii()));
    std::str::from_utf8(name).map_err(|_| bad())
}

/// The type of a variable.
fn type_of(model: &Model, var: VarId) -> Type {
    model.var(var).ty
}
