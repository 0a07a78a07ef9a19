//! What is fuzzed: functions of bytes that must come back, whatever the bytes are.

use std::sync::Arc;

use ferrocdf::{
    File, FileMut, GroupId, Location, Model, Name, OpenOptions, Owner, Result, Selection, Values, VarId,
};
use ferrocdf_cdl::parse::{ParseFailure, ParseOptions, Sink, parse};
use ferrocdf_classic::Header;
use ferrocdf_store::{MemoryBlob, MemoryStore, Store};

use crate::{filters, hdf5, seeds};

/// One target.
pub struct Target {
    pub name: &'static str,
    /// Valid inputs to start from.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Memory that any input may cost, in bytes.
    pub memory: usize,
    /// Panics if something is wrong.
    pub run: fn(&[u8]),
    /// Whether inputs have checksums of their own, which are set right again in some of them.
    pub repair: bool,
}

/// A target without checksums.
const PLAIN: Target = Target { name: "", seeds: Vec::new, memory: 0, run: |_| {}, repair: false };

/// For values within [`BUDGET`], and buffers.
const MEMORY: usize = 4 << 20;

/// Compressors keep tables of their own.
const FILTER_MEMORY: usize = 32 << 20;

/// Blocks that the engine keeps for the next request, values that share bytes of the file, and buffers of filters.
const HDF5_MEMORY: usize = 64 << 20;

/// A few bytes may make a million keys.
const REFERENCE_MEMORY: usize = 384 << 20;

/// The parser holds back the first 16 MiB of values.
const CDL_MEMORY: usize = 40 << 20;

pub const TARGETS: &[Target] = &[
    Target { name: "header", seeds: seeds::classic, memory: MEMORY, run: header, ..PLAIN },
    Target { name: "read", seeds: seeds::classic, memory: MEMORY, run: read, ..PLAIN },
    Target { name: "edit", seeds: seeds::classic, memory: MEMORY, run: edit, ..PLAIN },
    Target { name: "cdl", seeds: seeds::cdl, memory: CDL_MEMORY, run: cdl, ..PLAIN },
    Target { name: "filters", seeds: filters::seeds, memory: FILTER_MEMORY, run: filters::run, ..PLAIN },
    Target { name: "hdf5", seeds: seeds::hdf5, memory: HDF5_MEMORY, run: hdf5::file, repair: true },
    Target { name: "structure", seeds: seeds::hdf5, memory: HDF5_MEMORY, run: hdf5::structure, repair: true },
    Target { name: "messages", seeds: hdf5::messages, memory: MEMORY, run: hdf5::message, ..PLAIN },
    Target { name: "images", seeds: seeds::images, memory: MEMORY, run: image, ..PLAIN },
    Target { name: "specs", seeds: filters::texts, memory: MEMORY, run: filters::text, ..PLAIN },
    Target { name: "codecs", seeds: filters::codecs, memory: MEMORY, run: filters::codec, ..PLAIN },
    Target { name: "netcdf4", seeds: seeds::netcdf4, memory: HDF5_MEMORY, run: whole, repair: true },
    Target { name: "zarr", seeds: seeds::zarr, memory: HDF5_MEMORY, run: zarr, ..PLAIN },
    Target { name: "references", seeds: seeds::references, memory: REFERENCE_MEMORY, run: read, ..PLAIN },
    Target { name: "hdf4", seeds: seeds::hdf4, memory: HDF5_MEMORY, run: whole, ..PLAIN },
    Target { name: "edit4", seeds: seeds::netcdf4, memory: HDF5_MEMORY, run: edit_netcdf4, repair: true },
];

/// Bytes of values that one input may make a target read.
const BUDGET: u64 = 1 << 20;

/// A plugin's file is edited in place, or there is a reason why not.
fn image(data: &[u8]) {
    match ferrocdf_plugin::edited(data.to_vec()) {
        Ok(edited) => assert_eq!(edited.len(), data.len()),
        Err(why) => assert!(!why.is_empty(), "a reason says something"),
    }
}

/// What is decoded is encoded to something that decodes to the same.
fn header(data: &[u8]) {
    let Ok((mut header, _)) = Header::read(&MemoryBlob::new(data.to_vec())) else { return };
    // Numbers that the format has no room for cannot have been read from it.
    let bytes = header.encode().expect("a header that was read can be written");
    let (mut again, size) =
        Header::read(&MemoryBlob::new(bytes.clone())).expect("a header that was written can be read");
    assert_eq!(size, bytes.len() as u64);
    // Bytes are compared, and not values: an attribute may be NaN.
    assert_eq!(again.encode().expect("it was written before"), bytes);
}

/// Opens a file and reads from every variable: all of it if that is little, else its first and last elements.
fn read(data: &[u8]) {
    if let Ok(file) = File::from_bytes(data.to_vec()) {
        read_file(&file);
    }
}

/// Opens a store, reads from every variable, and looks at every attribute. The input has objects one after the other: each begins
/// with a line `== KEY`.
fn zarr(data: &[u8]) {
    let store = MemoryStore::default();
    let mut rest = data;
    while let Some(at) = find(rest, b"== ") {
        let Some(end) = find(&rest[at..], b"\n") else { break };
        let key = String::from_utf8_lossy(&rest[at + 3..at + end]).into_owned();
        let content = &rest[at + end + 1..];
        let len = find(content, b"\n== ").unwrap_or(content.len());
        // A key may be none, and an object may be where a folder is.
        let _ = store.put(&key, &content[..len]);
        rest = &content[len..];
    }
    let location = Location::Object { store: Arc::new(store), key: String::new() };
    let Ok(file) = File::open_location(&location, &OpenOptions::default()) else { return };
    assert!(
        file.skipped().iter().all(|reason| !reason.is_empty()),
        "each object that is left out has a reason"
    );
    read_file(&file);
}

fn find(bytes: &[u8], word: &[u8]) -> Option<usize> {
    bytes.windows(word.len()).position(|window| window == word)
}

/// Reads from every variable: all of it if that is little, else its first and last elements.
fn read_file(file: &File) {
    let model: Arc<_> = file.model();
    let mut budget = BUDGET;
    for var in model.var_ids() {
        let shape = model.shape(var);
        let size = shape.iter().try_fold(8u64, |size, &len| size.checked_mul(len));
        // A file may say that an element is larger than this reads.
        let large = |bytes: u64| bytes / shape.iter().product::<u64>().max(1) > BUDGET;
        if size.is_some() && file.variable_of(var).storage().is_ok_and(|storage| large(storage.bytes)) {
            continue;
        }
        match size.filter(|&size| size <= budget) {
            Some(size) => {
                budget -= size;
                let _ = file.read_values(var, &vec![0; shape.len()], &shape);
            }
            None => ends(file, var, &shape),
        }
    }
}

/// [`read`], and all that an HDF5 or HDF4 file may say besides.
fn whole(data: &[u8]) {
    read(data);
    let Ok(file) = File::from_bytes(data.to_vec()) else { return };
    let model = file.model();
    let mut words = 0;
    for group in model.group_ids() {
        words += model.attrs(Owner::Group(group)).iter().count();
    }
    for var in model.var_ids() {
        words += model.attrs(Owner::Var(var)).iter().count();
        let _ = file.variable_of(var).storage();
    }
    words += file.hidden_attributes(Owner::Group(GroupId::ROOT)).len();
    assert!(words < data.len(), "{words} attributes in {} bytes", data.len());
    assert!(file.skipped().iter().all(|word| !word.is_empty()), "each skipped object has a reason");
}

fn ends(file: &File, var: VarId, shape: &[u64]) {
    let ones = vec![1; shape.len()];
    let last: Vec<u64> = shape.iter().map(|len| len.saturating_sub(1)).collect();
    let _ = file.read_values(var, &vec![0; shape.len()], &ones);
    let _ = file.read_values(var, &last, &ones);
    let _ = file.read_values(var, &last, &vec![u64::MAX; shape.len()]);
    let mut two = [0i16; 2];
    let mut count = ones;
    if let Some(slowest) = count.first_mut().filter(|_| shape[0] > 1) {
        *slowest = 2;
        let stride: Vec<u64> = shape.iter().map(|len| len.saturating_sub(1).max(1)).collect();
        let selection = Selection::strided(&vec![0; shape.len()], &count, &stride);
        let _ = file.read(var, &selection, ferrocdf::Out::new(&mut two));
    }
}

/// Changes a damaged file. What an edit accepts, it leaves a file that opens, with what was put into it.
///
/// Editing makes a file as long as its header says, which is cheap on a disk; inputs that ask for much are left out.
fn edit(data: &[u8]) {
    if !stays_small(data) {
        return;
    }
    let Ok(file) = FileMut::append_bytes(data.to_vec()) else { return };
    let root = Owner::Group(GroupId::ROOT);
    let defined = file.define(|model| {
        model.put_attr(root, "history", "a text long enough to move what lies behind the header".into())
    });
    let added = file.define(|model| {
        let record = model.record_dim().into_iter().collect::<Vec<_>>();
        model.def_var(GroupId::ROOT, "added", ferrocdf::Atomic::Byte.into(), &record)
    });
    if file.commit().is_err() {
        file.abort();
        return;
    }
    let mut wrote = false;
    if let Ok(var) = added {
        let rank = file.model().shape(var).len();
        wrote = file.write_values(var, &vec![0; rank], &vec![1; rank], &vec![42i8].into()).is_ok();
    }
    let Ok(Some(bytes)) = file.into_bytes() else { return };
    let again =
        File::from_bytes(bytes).unwrap_or_else(|error| panic!("an edited file does not open: {error}"));
    if defined.is_ok() {
        assert!(again.attribute::<Values>("history").is_ok());
    }
    if let (Ok(var), true) = (added, wrote) {
        let rank = again.model().shape(var).len();
        let value = again.read_values(var, &vec![0; rank], &vec![1; rank]);
        assert_eq!(value, Ok(vec![42i8].into()));
    }
}

/// The most bytes that an edited netCDF-4 file has.
const EDITED: u64 = 1 << 20;

/// Adds to a damaged netCDF-4 file, and takes all else out of it one by one. Where damaged structures overlap it need not open
/// after that, but if it does it has what was added.
fn edit_netcdf4(data: &[u8]) {
    let Ok(mut file) = FileMut::append_bytes_within(data.to_vec(), EDITED, None) else { return };
    if file.format().is_classic_file() {
        return;
    }
    let added = file.define(|model| {
        model.put_attr(Owner::Group(GroupId::ROOT), "history", "a text".into())?;
        let dim = model.def_dim(GroupId::ROOT, "added", Some(2))?;
        model.def_var(GroupId::ROOT, "added", ferrocdf::Atomic::Byte.into(), &[dim])
    });
    let wrote = added.and_then(|var| {
        let _fit = file.write_values(var, &[0], &[2], &vec![42i8, 43].into())?;
        file.sync()
    });
    match wrote {
        Ok(()) => has_what_was_added(&file),
        Err(_) => file.abort(),
    }
    // The last first; of what is left something may go once its users are gone.
    for _ in 0..2 {
        let model = file.model();
        let path =
            |group: GroupId, name: &Name| format!("{}/{name}", model.group_path(group).trim_end_matches('/'));
        for var in model.vars().iter().rev() {
            let _ = file.remove_variable(&path(var.group, &var.name));
        }
        for ty in model.types().iter().rev() {
            let _ = file.remove_type(&path(ty.group, &ty.name));
        }
        for dim in model.dims().iter().rev() {
            let _ = file.remove_dimension(&path(dim.group, &dim.name));
        }
        for group in model.group_ids().skip(1).collect::<Vec<_>>().into_iter().rev() {
            let _ = file.remove_group(&model.group_path(group));
        }
    }
    let _ = file.close();
}

fn has_what_was_added(file: &FileMut) {
    let Ok(bytes) = file.bytes() else { return };
    let Ok(again) = File::from_bytes(bytes) else { return };
    assert!(again.attribute::<Values>("history").is_ok());
    let added = again.variable("added").and_then(|var| var.get_values::<i8, _>(..)).ok();
    assert_eq!(added, Some(vec![42, 43]));
}

fn stays_small(data: &[u8]) -> bool {
    const SMALL: u64 = 1 << 16;
    let Ok((header, _)) = Header::read(&MemoryBlob::new(data.to_vec())) else { return false };
    let Ok(file) = File::from_bytes(data.to_vec()) else { return false };
    let model = file.model();
    // A record is going to be added where there is none.
    let size = |var| model.shape(var).iter().fold(8u64, |size, &len| size.saturating_mul(len.max(1)));
    let sizes = model.var_ids().map(size);
    let records = model.record_dim().map_or(0, |dim| model.dim(dim).len);
    sizes.fold(records, u64::saturating_add) < SMALL && header.vars.iter().all(|var| var.begin < SMALL)
}

/// Takes what a text holds and checks that data has a variable.
struct Checking {
    vars: usize,
    /// Whether anything was said.
    said: bool,
}

impl Sink for Checking {
    fn message(&mut self, text: &str) {
        assert!(!text.is_empty(), "a message says something");
        self.said = true;
    }

    fn define(&mut self, model: &Model, _name: &str) -> Result<()> {
        self.vars = model.vars().len();
        Ok(())
    }

    fn data(&mut self, var: VarId, _first: u64, values: Values) -> Result<()> {
        assert!(var.index() < self.vars, "data comes after its variable");
        drop(values);
        Ok(())
    }
}

/// A text is converted, or a message says why not.
fn cdl(data: &[u8]) {
    let options = ParseOptions::default();
    let mut sink = Checking { vars: 0, said: false };
    match parse(data, &options, &mut sink) {
        Ok(_) => {}
        Err(ParseFailure::File(error)) => assert!(!error.what.is_empty(), "an error says why"),
        Err(failure) => assert!(sink.said, "a text that is wrong is told so: {failure:?}"),
    }
}
