//! Compares what libhdf4 says of a file with what ferrocdf reads.

use std::collections::HashSet;
use std::path::Path;

use ferrocdf::model::{Atomic, Attr, Chunking, Model, Owner, Type, Values};
use ferrocdf::{File, VarId};

use super::told::{Attribute, DataSet, Told};
use crate::listing::Canonical;
use ferrocdf_array::Kind;

/// How a file compares.
#[derive(Debug, Default)]
pub struct Hdf4Comparison {
    /// Facts that are the same.
    pub same: usize,
    /// Facts that libhdf4 cannot tell and we can.
    pub only_ours: usize,
    /// Elements that were compared, in bytes.
    pub bytes: u64,
    /// What differs.
    pub differences: Vec<String>,
}

impl Hdf4Comparison {
    pub(super) fn check<T: PartialEq + std::fmt::Debug>(
        &mut self,
        what: impl Fn() -> String,
        theirs: &T,
        ours: &T,
    ) {
        if theirs == ours {
            self.same += 1;
        } else {
            let text = format!("{}: libhdf4 has {theirs:.200?}, ours is {ours:.200?}", what());
            self.differences.push(text);
        }
    }

    /// Adds what another comparison found.
    pub fn add(&mut self, other: Hdf4Comparison) {
        self.same += other.same;
        self.only_ours += other.only_ours;
        self.bytes += other.bytes;
        self.differences.extend(other.differences);
    }
}

/// The type of netCDF for a number type, whatever its format.
pub(super) fn atomic(number_type: i32) -> Option<Atomic> {
    Some(match number_type & 0xfff {
        4 => Atomic::Char,
        3 | 21 => Atomic::Ubyte,
        20 => Atomic::Byte,
        22 => Atomic::Short,
        23 => Atomic::Ushort,
        24 => Atomic::Int,
        25 => Atomic::Uint,
        5 => Atomic::Float,
        6 => Atomic::Double,
        _ => return None,
    })
}

/// The bytes of values in memory, least significant first.
pub(super) fn bytes_of(values: &Values) -> Vec<u8> {
    macro_rules! flat {
        ($values:expr) => {
            $values.iter().flat_map(|value| value.to_le_bytes()).collect()
        };
    }
    match values {
        Values::Char(values) | Values::Ubyte(values) => values.clone(),
        Values::Byte(values) => flat!(values),
        Values::Short(values) => flat!(values),
        Values::Ushort(values) => flat!(values),
        Values::Int(values) => flat!(values),
        Values::Uint(values) => flat!(values),
        Values::Float(values) => flat!(values),
        Values::Double(values) => flat!(values),
        other => panic!("{other:?} is none of HDF4"),
    }
}

/// The checksum of bytes, as the C program has it: as they are, NaN of any form among them.
fn checksum(bytes: &[u8]) -> String {
    let mut canonical = Canonical::default();
    canonical.native(Kind::U8, bytes);
    canonical.text()
}

pub(super) fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// Compares the attributes of an object.
fn attributes(found: &mut Hdf4Comparison, owner: &str, theirs: &[Attribute], model: &Model, of: Owner) {
    let ours: Vec<&Attr> = model.attrs(of).iter().collect();
    found.check(|| format!("{owner}: number of attributes"), &theirs.len(), &ours.len());
    for (their, our) in theirs.iter().zip(ours) {
        let what = |part: &str| format!("{owner}: attribute {:?}: {part}", text(&their.name));
        found.check(|| what("name"), &text(&their.name), &text(our.name.as_bytes()));
        found.check(|| what("type"), &atomic(their.number_type).map(Type::Atomic), &Some(our.value.ty()));
        match &their.values {
            Some(values) => found.check(|| what("values"), values, &bytes_of(&our.value)),
            None => found.only_ours += 1,
        }
    }
}

/// Compares a data set with a variable.
fn data_set(
    found: &mut Hdf4Comparison,
    (file, model): (&File, &Model),
    set: &DataSet,
    var: VarId,
    is_repeated: bool,
) {
    let name = text(&set.name);
    let what = |part: &str| format!("{name}: {part}");
    let ours = model.var(var);
    // A name that an earlier data set has gets a number.
    let own = text(ours.name.as_bytes());
    let is_numbered = || own.strip_prefix(&name).is_some_and(|rest| rest.starts_with('_'));
    if !(is_repeated && is_numbered()) {
        found.check(|| what("name"), &name, &own);
    }
    found.check(|| what("type"), &atomic(set.number_type).map(Type::Atomic), &Some(ours.ty));
    let dims: Option<Vec<String>> = set.dims.iter().map(|dim| Some(text(&dim.as_ref()?.0))).collect();
    let own: Vec<String> = ours.dims.iter().map(|&dim| text(model.dim(dim).name.as_bytes())).collect();
    match dims {
        Some(dims) => found.check(|| what("dimensions"), &dims, &own),
        None => found.only_ours += 1,
    }
    let shape = model.shape(var);
    // Data sets have as many records as were written; a dimension that several share has one length.
    let mut expected = set.shape.clone();
    if set.is_record && shape.first() > expected.first() {
        expected[0] = shape[0];
    }
    found.check(|| what("shape"), &expected, &shape);
    attributes(found, &name, &set.attrs, model, Owner::Var(var));
    if let Some(chunks) = &set.chunks {
        let own = match &ours.storage.chunking {
            Some(Chunking::Chunked(shape)) => shape.clone(),
            other => {
                found.differences.push(format!("{name}: chunks {chunks:?}, ours {other:?}"));
                return;
            }
        };
        found.check(|| what("chunks"), chunks, &own);
    }
    if expected != shape {
        return;
    }
    let values = file.read_values(var, &vec![0; shape.len()], &set.shape);
    match (&set.data, values) {
        (Some(data), Ok(values)) => {
            let bytes = bytes_of(&values);
            found.bytes += bytes.len() as u64;
            found.check(|| what("elements"), data, &checksum(&bytes));
        }
        (Some(_), Err(error)) => found.differences.push(format!("{name}: elements: {error}")),
        (None, values) => found.only_ours += usize::from(values.is_ok()),
    }
}

/// Compares what libhdf4 says of a file with what ferrocdf reads. A file that libhdf4 does not read may give anything but a panic.
pub fn compare(path: &Path, told: &Told) -> Hdf4Comparison {
    let mut found = Hdf4Comparison::default();
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) => {
            if told.is_open && told.is_complete {
                found.differences.push(format!("it cannot be opened: {error}"));
            }
            return found;
        }
    };
    let model = file.model();
    if !told.is_open {
        found.only_ours += 1;
        return found;
    }
    if let Some(root) = model.group_ids().next() {
        attributes(&mut found, "the file", &told.attrs, &model, Owner::Group(root));
    }
    let vars: Vec<VarId> = model.var_ids().collect();
    if told.is_complete {
        found.check(|| "number of variables".to_string(), &told.sets.len(), &vars.len());
    }
    let mut names = HashSet::new();
    for (set, &var) in told.sets.iter().zip(&vars) {
        if let Some(set) = set {
            let is_repeated = !names.insert(&set.name);
            data_set(&mut found, (&file, &model), set, var, is_repeated);
        }
    }
    found
}
