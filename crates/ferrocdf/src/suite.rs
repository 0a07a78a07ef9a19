//! The behaviour that every driver must show, as functions that the tests of each driver run.
//!
//! A driver says where elements lie, so most laws compare the facade with [`array::oracle`](crate::array::oracle), which reads the
//! same layout one element at a time. Whether the layout is the right one is only known to who made the bytes: the values of
//! [`Dataset`] say it.

use std::sync::Arc;

use ferrocdf_array::{Array, ConversionRules, Kind, Out, RangeCheck, Selection, oracle};
use ferrocdf_bytes::{Code, Result};
use ferrocdf_model::{Atomic, Type, Values, VarId};
use ferrocdf_store::{Blob, MemoryStore, Store};

use crate::elements::{elements, rules};
use crate::{File, Location, OpenOptions};

/// A dataset in some container, and what is known of it.
pub struct Dataset<'a> {
    /// The bytes of the whole file.
    pub bytes: &'a [u8],
    /// The options with which the file is opened.
    pub options: OpenOptions,
    /// Values of variables of numbers by path, last dimension fastest.
    pub values: &'a [(&'a str, &'a [f64])],
    /// The first unwritten element of variables that have one, by path.
    pub unwritten: &'a [(&'a str, &'a [u64])],
}

/// Runs all checks on a dataset.
///
/// # Panics
/// Panics if the driver breaks a law of this suite.
pub fn driver(dataset: &Dataset<'_>) {
    driver_of_any_cut(dataset);
    truncated_files_give_errors_or_the_same_values(dataset);
}

/// Runs the checks on a dataset of a format in which a truncated file may be another valid file. In HDF4 nothing tells that an object
/// behind the end was there: its names are lost, and what it described is shown by others.
///
/// # Panics
/// Panics if the driver breaks a law of this suite.
pub fn driver_of_any_cut(dataset: &Dataset<'_>) {
    values_are_the_known_ones(dataset);
    selections_read_as_element_by_element(dataset);
    nested_values_read_as_element_by_element(dataset);
    every_opening_and_refresh_gives_the_same(dataset);
    unwritten_elements_have_the_fill_value(dataset);
    wrong_requests_are_errors(dataset);
    threads_read_at_once(dataset);
    damaged_files_do_not_panic(dataset);
}

fn open(dataset: &Dataset<'_>) -> File {
    File::from_bytes_with(dataset.bytes.to_vec(), &dataset.options).unwrap()
}

/// Returns the id of the variable at a path.
fn find(file: &File, path: &str) -> VarId {
    file.model().find_var_at(path.as_bytes()).unwrap_or_else(|| panic!("there is no variable {path}"))
}

/// Reads a whole variable in its own type.
fn read_all(file: &File, var: VarId) -> Result<Values> {
    file.read_selected(var, &Selection::all(&file.model().shape(var)))
}

/// Runs `check` with each variable of numbers or text, its array and its bytes.
fn each_array(file: &File, mut check: impl FnMut(VarId, &Array, &dyn Blob)) {
    for var in file.model().var_ids() {
        if !matches!(file.model().var(var).ty, Type::Atomic(atomic) if atomic != Atomic::String) {
            continue;
        }
        let state = file.read_state();
        let (array, blob) = state.located(var).unwrap();
        let array = array.clone();
        check(var, &array, blob);
    }
}

fn values_are_the_known_ones(dataset: &Dataset<'_>) {
    let file = open(dataset);
    assert_eq!(file.missing_bytes(), Ok(0));
    for &(path, known) in dataset.values {
        let var = find(&file, path);
        let mut found = vec![f64::NAN; known.len()];
        let all = Selection::all(&file.model().shape(var));
        assert_eq!(file.read(var, &all, Out::new(&mut found)), Ok(RangeCheck::InRange), "{path}");
        assert_eq!(found, known, "{path}");
    }
}

/// Start, count and stride along a dimension of a length.
type DimSelection = (u64, u64, u64);

/// Returns selections along one dimension: all, one element, halves, strided and empty ones.
fn parts(len: u64) -> Vec<DimSelection> {
    let mut parts = vec![(0, len, 1), (len, 0, 1)];
    if len > 0 {
        parts.extend([(0, 1, 1), (len - 1, 1, 1), (len / 2, len - len / 2, 1), (0, len.div_ceil(2), 2)]);
        parts.extend((len > 3).then(|| (1, (len - 2) / 3 + 1, 3)));
    }
    parts
}

/// Returns every combination of [`parts`] along the dimensions of a shape.
fn selections(shape: &[u64]) -> Vec<Selection> {
    let mut combinations: Vec<Vec<DimSelection>> = vec![vec![]];
    for &len in shape {
        let longer =
            |known: Vec<DimSelection>| parts(len).into_iter().map(move |part| [&known[..], &[part]].concat());
        combinations = combinations.into_iter().flat_map(longer).collect();
    }
    let list = |combination: &[DimSelection], of: fn(&DimSelection) -> u64| {
        combination.iter().map(of).collect::<Vec<u64>>()
    };
    let selection = |parts: &Vec<DimSelection>| {
        Selection::strided(
            &list(parts, |part| part.0),
            &list(parts, |part| part.1),
            &list(parts, |part| part.2),
        )
    };
    combinations.iter().map(selection).collect()
}

fn selections_read_as_element_by_element(dataset: &Dataset<'_>) {
    let file = open(dataset);
    let rules = rules(file.format());
    each_array(&file, |var, array, blob| {
        let own = array.stored.kind;
        let kinds = if own == Kind::Char { vec![own] } else { vec![own, Kind::F64, Kind::I16, Kind::I64] };
        for selection in selections(&array.shape) {
            for &kind in &kinds {
                let path = file.model().var_path(var);
                let what = format!("{path}: {selection:?} as {kind:?}");
                compare(&file, var, (array, blob), &selection, (kind, rules), &what);
            }
        }
    });
}

/// Reads a selection with the engine and with the oracle, dense and with all dimensions reversed in memory.
fn compare(
    file: &File,
    var: VarId,
    (array, blob): (&Array, &dyn Blob),
    selection: &Selection,
    (kind, rules): (Kind, ConversionRules),
    what: &str,
) {
    let count = elements(selection).unwrap();
    let mut strides = vec![0; selection.count.len()];
    let mut stride = -1;
    for (dim, &len) in selection.count.iter().enumerate() {
        strides[dim] = stride;
        stride *= len.max(1) as isize;
    }
    for mapped in [false, true] {
        let (mut found, mut slow) = (vec![0; count * kind.size()], vec![0; count * kind.size()]);
        let out = |bytes| {
            let out = Out { rules, ..Out::raw(kind, bytes) };
            if mapped { out.mapped(count.saturating_sub(1), &strides) } else { out }
        };
        if mapped && count == 0 {
            continue;
        }
        assert_eq!(
            file.read(var, selection, out(&mut found)).unwrap(),
            oracle::read(blob, array, selection, out(&mut slow)).unwrap(),
            "{what}"
        );
        assert!(found == slow, "{what}, mapped: {mapped}");
    }
}

fn nested_values_read_as_element_by_element(dataset: &Dataset<'_>) {
    let file = open(dataset);
    let model = file.model();
    for var in model.var_ids() {
        if matches!(model.var(var).ty, Type::Atomic(atomic) if atomic != Atomic::String) {
            continue;
        }
        let shape = model.shape(var);
        for selection in selections(&shape) {
            let found = file.read_selected(var, &selection).unwrap();
            let mut slow = vec![];
            for number in 0..elements(&selection).unwrap() as u64 {
                let mut rest = number;
                let mut at = vec![0; shape.len()];
                for dim in (0..shape.len()).rev() {
                    let count = selection.count[dim];
                    at[dim] = selection.start[dim] + rest % count * selection.stride[dim];
                    rest /= count;
                }
                slow.push(file.read_values(var, &at, &vec![1; shape.len()]).unwrap());
            }
            assert_eq!(texts(&found), slow.iter().flat_map(texts).collect::<Vec<_>>(), "{selection:?}");
        }
    }
}

/// Returns each of some nested values as text that only equal ones share.
fn texts(values: &Values) -> Vec<String> {
    match values {
        Values::String(list) => list.iter().map(|value| format!("{value:?}")).collect(),
        Values::User(_, list) => list.iter().map(|value| format!("{value:?}")).collect(),
        numbers => panic!("{numbers:?} are not nested"),
    }
}

fn every_opening_and_refresh_gives_the_same(dataset: &Dataset<'_>) {
    let store = Arc::new(MemoryStore::default());
    store.put("folder/dataset", dataset.bytes).unwrap();
    let options = dataset.options.clone();
    let object = Location::Object { store, key: "folder/dataset".to_string() };
    let first = open(dataset);
    let refreshed = open(dataset);
    refreshed.refresh().unwrap();
    for other in [open(dataset), refreshed, File::open_location(&object, &options).unwrap()] {
        let model = first.model();
        assert_eq!(*other.model(), *model);
        for var in model.var_ids() {
            assert_eq!(read_all(&other, var), read_all(&first, var), "{}", model.var_path(var));
        }
        assert_eq!(other.size(), Ok(dataset.bytes.len() as u64));
    }
}

fn unwritten_elements_have_the_fill_value(dataset: &Dataset<'_>) {
    let file = open(dataset);
    let model = file.model();
    for &(path, at) in dataset.unwritten {
        let var = find(&file, path);
        let value = file.read_values(var, at, &vec![1; at.len()]).unwrap();
        assert_eq!(file.fill_value(var).unwrap(), Some(value), "{path}");
    }
    for var in model.var_ids() {
        let fill = file.fill_value(var).unwrap();
        let is_of_type = fill.is_none_or(|fill| fill.ty() == model.var(var).ty);
        assert!(is_of_type, "the fill value of {} is of its type", model.var_path(var));
    }
}

fn wrong_requests_are_errors(dataset: &Dataset<'_>) {
    let file = open(dataset);
    let model = file.model();
    let code = |var, selection: &Selection| {
        let mut memory = vec![0; elements(selection).unwrap_or(0) * size_of::<f64>()];
        file.read(var, selection, Out::raw(Kind::F64, &mut memory)).unwrap_err().code
    };
    each_array(&file, |var, array, _| {
        let (rank, path) = (array.shape.len(), model.var_path(var));
        let is_text = array.stored.kind == Kind::Char;
        let mut bytes = vec![0; model.shape(var).iter().product::<u64>() as usize * size_of::<f64>()];
        let all = Selection::all(&array.shape);
        let other_kind = Out::raw(if is_text { Kind::F64 } else { Kind::Char }, &mut bytes);
        assert!(file.read(var, &all, other_kind).is_err(), "{path}: text is no number");
        if rank == 0 || is_text {
            return;
        }
        let with = |start: u64, count: u64, stride: u64| {
            let one = vec![1; rank - 1];
            let zero = vec![0; rank - 1];
            Selection::strided(
                &[&[start], &zero[..]].concat(),
                &[&[count], &one[..]].concat(),
                &[&[stride], &one[..]].concat(),
            )
        };
        let len = array.shape[0];
        assert_eq!(code(var, &with(len + 1, 1, 1)), Code::EINVALCOORDS, "{path}");
        assert_eq!(code(var, &with(0, len + 1, 1)), Code::EEDGE, "{path}");
        assert_eq!(code(var, &with(0, 1, 0)), Code::ESTRIDE, "{path}");
        assert!(file.read(var, &Selection::all(&[]), Out::raw(Kind::F64, &mut [0; 8])).is_err(), "{path}");
    });
    let unknown = VarId(model.vars().len() as u32);
    assert_eq!(code(unknown, &Selection::all(&[])), Code::ENOTVAR);
    assert_eq!(file.read_selected(unknown, &Selection::all(&[])).unwrap_err().code, Code::ENOTVAR);
    assert_eq!(file.fill_value(unknown).unwrap_err().code, Code::ENOTVAR);
}

fn threads_read_at_once(dataset: &Dataset<'_>) {
    const THREADS: usize = 4;
    let (alone, shared) = (open(dataset), open(dataset));
    let read = |file: &File| -> Vec<Values> {
        file.model().var_ids().map(|var| read_all(file, var).unwrap()).collect()
    };
    let expected = read(&alone);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(|| read(&shared))).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), expected);
        }
    });
}

/// Files that are made of one dataset by each of the checks below.
const VARIANTS: usize = 250;
/// Elements of a variable that are read from a damaged file, whose dimensions may be huge.
const MOST_ELEMENTS: u64 = 1 << 16;

/// Returns up to [`VARIANTS`] numbers below `end`, and the last ones before it.
fn sample(end: usize) -> impl Iterator<Item = usize> {
    (0..end).step_by(end.div_ceil(VARIANTS).max(1)).chain(end.saturating_sub(16)..end)
}

fn truncated_files_give_errors_or_the_same_values(dataset: &Dataset<'_>) {
    let whole = open(dataset);
    for len in sample(dataset.bytes.len()) {
        let bytes = &dataset.bytes[..len];
        // What is missing may read as zeros if that is asked for; it is told, and nothing panics.
        if let Ok(file) =
            File::from_bytes_with(bytes.to_vec(), &dataset.options.clone().allow_missing(u64::MAX))
        {
            read_little(&file);
            assert!(file.missing_bytes().is_ok());
        }
        let Ok(file) = File::from_bytes_with(bytes.to_vec(), &dataset.options) else { continue };
        let model = file.model();
        for var in model.var_ids() {
            let path = model.var_path(var);
            let Some(known) = whole.model().find_var_at(path.as_bytes()) else {
                panic!("{path} is only in the first {len} bytes")
            };
            if model.shape(var) != whole.model().shape(known) {
                continue;
            }
            if let Ok(values) = read_all(&file, var) {
                assert_eq!(values, read_all(&whole, known).unwrap(), "{path} in the first {len} bytes");
            }
        }
    }
}

fn damaged_files_do_not_panic(dataset: &Dataset<'_>) {
    for at in sample(dataset.bytes.len()) {
        let mut bytes = dataset.bytes.to_vec();
        bytes[at] ^= 0xff;
        if let Ok(file) = File::from_bytes_with(bytes, &dataset.options) {
            read_little(&file);
        }
    }
}

/// Reads the variables of a file that are small, whatever comes of it.
fn read_little(file: &File) {
    let model = file.model();
    for var in model.var_ids() {
        let shape = model.shape(var);
        let count = shape.iter().try_fold(1u64, |count, &len| count.checked_mul(len));
        if count.is_some_and(|count| count <= MOST_ELEMENTS) {
            let _ = read_all(file, var);
        }
        let _ = file.fill_value(var);
    }
    let _ = file.skipped();
}
