//! Tests of failing requests during definitions, removals and puts, after which the program continues.

mod made_up;

use std::sync::{Arc, Mutex};

use ferrocdf_bytes::{Code, Error, Result, errno};
use ferrocdf_hdf5::LinkTarget;
use ferrocdf_model::{Class, Field, GroupId, Name, Owner, Type, UserType, Values};
use ferrocdf_store::testing::{Failing, Faults};
use ferrocdf_store::{Blob, BlobMut, Cost, MemoryBlob};

use crate::nc4::{decode, names};
use crate::{Atomic, CreateOptions, File, FileMut, Format};

const ROOT: GroupId = GroupId::ROOT;

/// File in memory whose requests can fail.
struct Disk {
    memory: Arc<MemoryBlob>,
    writes: Failing<Arc<MemoryBlob>>,
    /// Read requests that fail.
    reads: Mutex<Faults>,
}

impl Disk {
    fn new(bytes: &[u8]) -> Arc<Disk> {
        let memory = Arc::new(MemoryBlob::new(bytes.to_vec()));
        let writes = Failing::never(memory.clone());
        Arc::new(Disk { memory, writes, reads: Mutex::default() })
    }

    fn open(self: &Arc<Disk>) -> FileMut {
        FileMut::append_blob(self.clone()).unwrap()
    }

    /// Lets all further requests succeed.
    fn repair(&self) {
        self.writes.arm(Faults::default());
        *self.reads.lock().unwrap() = Faults::default();
    }

    /// Lets all further write requests fail.
    fn fill_up(&self) {
        self.writes.arm(Faults { after: 0, times: u64::MAX, torn: false });
    }

    /// Returns the file as another program would open it.
    fn found(&self) -> File {
        File::from_bytes(self.memory.to_bytes()).unwrap()
    }
}

impl Blob for Disk {
    fn size(&self) -> Result<u64> {
        self.writes.size()
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        let mut faults = self.reads.lock().unwrap();
        match (faults.after.checked_sub(1), faults.times.checked_sub(1)) {
            (Some(after), _) => faults.after = after,
            (None, Some(times)) => {
                faults.times = times;
                return Err(Error::new(Code::EIO, "the test's disk cannot be read"));
            }
            (None, None) => {}
        }
        self.writes.read_at(at, into)
    }

    fn name(&self) -> String {
        self.writes.name()
    }

    fn cost(&self) -> Cost {
        self.writes.cost()
    }
}

impl BlobMut for Disk {
    fn write_at(&self, at: u64, from: &[u8]) -> Result<()> {
        self.writes.write_at(at, from)
    }

    fn set_size(&self, size: u64) -> Result<()> {
        self.writes.set_size(size)
    }

    fn sync(&self) -> Result<()> {
        self.writes.sync()
    }
}

/// Returns a file with variables `a`, `b`, `c`, `d` of four ones, twos, threes, fours.
fn letters() -> Vec<u8> {
    let file = FileMut::in_memory(&CreateOptions::format(Format::NETCDF4)).unwrap();
    file.add_dimension("x", 4).unwrap();
    for (name, value) in ["a", "b", "c", "d"].iter().zip(1..) {
        file.add_variable::<i32>(name, &["x"]).unwrap();
        file.variable_mut(name).unwrap().put_values(&[value; 4], ..).unwrap();
    }
    file.into_bytes().unwrap().unwrap()
}

/// Returns the names of variables with their first values.
fn values(file: &File) -> Vec<(String, i32)> {
    let model = file.model();
    let value = |name: &str| file.variable(name).unwrap().get_values::<i32, _>(..).unwrap()[0];
    let names = model.vars().iter().map(|var| var.name.to_string());
    names.map(|name| (name.clone(), value(&name))).collect()
}

fn with_values(names: &[(&str, i32)]) -> Vec<(String, i32)> {
    names.iter().map(|&(name, value)| (name.to_string(), value)).collect()
}

/// Next call of the program after a failed removal.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    Put,
    Define,
    Repeat,
    RemoveAnother,
}

/// Removes `a` while requests fail, and continues. True if the next call was refused until a sync.
fn remove_and_go_on(bytes: &[u8], (writes, reads): (Faults, Faults), next: Next) -> bool {
    let disk = Disk::new(bytes);
    let mut file = disk.open();
    disk.writes.arm(writes);
    *disk.reads.lock().unwrap() = reads;
    let removed = file.remove_variable("a");
    disk.repair();
    if removed.is_ok() {
        return false;
    }
    let done = match next {
        Next::Put => file.variable_mut("c").unwrap().put_values(&[30; 4], ..),
        Next::Define => file.put_attribute("title", "letters"),
        Next::Repeat => file.remove_variable("a"),
        Next::RemoveAnother => file.remove_variable("d"),
    };
    if let Err(error) = &done {
        assert!(error.what.contains("call sync"), "{error}");
        assert!(matches!(next, Next::Put | Next::Define), "{error}");
    }
    file.sync().unwrap();
    let c = if next == Next::Put && done.is_ok() { 30 } else { 3 };
    let mut wanted = with_values(&[("a", 1), ("b", 2), ("c", c), ("d", 4)]);
    if file.variable("a").is_err() {
        wanted.remove(0);
    }
    match next {
        Next::Repeat => assert!(file.variable("a").is_err()),
        Next::RemoveAnother => drop(wanted.pop()),
        Next::Put | Next::Define => {}
    }
    assert_eq!((values(&file), values(&disk.found())), (wanted.clone(), wanted.clone()));
    // The same calls succeed now.
    file.variable_mut("c").unwrap().put_values(&[31; 4], ..).unwrap();
    file.put_attribute("title", "more letters").unwrap();
    file.close().unwrap();
    let at = wanted.iter().position(|(name, _)| name == "c").unwrap();
    wanted[at].1 = 31;
    assert_eq!(values(&disk.found()), wanted);
    assert!(disk.found().attribute::<String>("title").is_ok());
    done.is_err()
}

fn once(after: u64) -> Faults {
    Faults { after, times: 1, torn: false }
}

#[test]
fn after_a_removal_that_is_half_done_nothing_goes_to_another_variable() {
    let bytes = letters();
    for next in [Next::Put, Next::Define, Next::Repeat, Next::RemoveAnother] {
        let mut refused = 0;
        for after in 0..30 {
            for times in 1..5 {
                let writes = Faults { after, times, torn: false };
                refused += usize::from(remove_and_go_on(&bytes, (writes, Faults::default()), next));
            }
        }
        assert_eq!(refused > 0, matches!(next, Next::Put | Next::Define));
    }
}

#[test]
fn after_a_removal_the_file_is_read_again_when_that_failed_once() {
    let bytes = letters();
    // The position of the failing write decides whether the removal is undone or finished; without one it is done.
    for next in [Next::Put, Next::Define, Next::Repeat] {
        let mut refused = 0;
        for write in [0, 2, 4, 6, 1000] {
            for read in 0..120 {
                refused += usize::from(remove_and_go_on(&bytes, (once(write), once(read)), next));
            }
        }
        assert_eq!(refused > 0, matches!(next, Next::Put | Next::Define));
    }
}

/// Describes a file: dimensions, types, attributes, values; and the names and shapes of all attributes of its HDF5
/// objects, with the numbers of scales in lists of them.
fn text(file: &File, bytes: Vec<u8>) -> String {
    let model = file.model();
    let mut lines = vec![format!("{:?}", file.skipped())];
    lines.extend(model.dims().iter().map(|dim| format!("{} {} {}", dim.name, dim.len, dim.unlimited)));
    lines.extend(model.types().iter().map(|ty| format!("{} {:?}", ty.name, ty.class)));
    let groups = model.group_ids().map(|group| (Owner::Group(group), model.group_path(group)));
    let vars = model.var_ids().map(|var| (Owner::Var(var), model.var_path(var)));
    for (owner, path) in groups.chain(vars) {
        let attributes: Vec<_> = model.attrs(owner).iter().map(|attr| (&attr.name, &attr.value)).collect();
        lines.push(format!("{path} {attributes:?}"));
    }
    for var in model.var_ids() {
        let shape = model.shape(var);
        let values = file.read_values(var, &vec![0; shape.len()], &shape).unwrap();
        lines.push(format!("{} {:?} {values:?}", model.var_path(var), model.var(var).dims));
    }
    let stored = ferrocdf_hdf5::File::open(Arc::new(MemoryBlob::new(bytes))).unwrap();
    let mut objects = vec![("/".to_string(), stored.root().unwrap())];
    while let Some((path, object)) = objects.pop() {
        let attribute = |(name, found): (Vec<u8>, Result<ferrocdf_hdf5::Attribute>)| {
            let found = found.unwrap();
            let is_list = name == names::DIMENSION_LIST;
            let scales = if is_list { decode::scales(&stored, &found).unwrap() } else { vec![] };
            let counts: Vec<usize> = scales.iter().map(Vec::len).collect();
            (String::from_utf8(name).unwrap(), found.dataspace.dims, counts)
        };
        let mut attributes: Vec<_> = object.attributes().unwrap().list.into_iter().map(attribute).collect();
        attributes.sort();
        lines.push(format!("{path} {attributes:?}"));
        if object.kind() != ferrocdf_hdf5::ObjectKind::Group {
            continue;
        }
        for link in object.links().unwrap().list {
            let LinkTarget::Hard(at) = link.target else { panic!("{:?}", link.target) };
            let name = String::from_utf8(link.name).unwrap();
            objects.push((format!("{path}{name}/"), stored.object(at).unwrap()));
        }
    }
    lines.join("\n")
}

fn text_of(disk: &Disk) -> String {
    text(&disk.found(), disk.memory.to_bytes())
}

/// Returns a file with dimensions with and without coordinates, attributes of all kinds, a group and a type.
fn station() -> Vec<u8> {
    let file = FileMut::in_memory(&CreateOptions::format(Format::NETCDF4)).unwrap();
    file.add_unlimited_dimension("time").unwrap();
    file.add_dimension("x", 4).unwrap();
    file.add_dimension("y", 3).unwrap();
    file.add_variable::<f64>("time", &["time"]).unwrap();
    file.add_variable::<i32>("depth", &["y"]).unwrap();
    file.add_variable::<i32>("heat", &["time", "x"]).unwrap();
    file.add_variable::<i16>("wide", &["x", "y"]).unwrap();
    file.define(|model| {
        let group = model.def_group(ROOT, "inner")?;
        let class = Class::Vlen(Atomic::Int.into());
        model.def_type(UserType { name: Name::new("list")?, group: ROOT, class })?;
        model.def_var(group, "z", Atomic::Byte.into(), &[ferrocdf_model::DimId(1)])?;
        let heat = model.find_var(ROOT, b"heat").unwrap();
        model.put_attr(Owner::Var(heat), "units", "K".into())?;
        model.put_attr(Owner::Var(heat), "names", strings(2, 20))?;
        model.put_attr(Owner::Group(ROOT), "history", strings(1, 300))
    })
    .unwrap();
    file.variable_mut("time").unwrap().put_values(&[1.0, 2.0], ..).unwrap();
    file.variable_mut("heat").unwrap().put_values(&[5, 6, 7, 8, 9, 10, 11, 12], (0..2, ..)).unwrap();
    file.into_bytes().unwrap().unwrap()
}

fn strings(count: usize, len: usize) -> Values {
    Values::String(vec![Some(vec![b's'; len]); count])
}

/// Puts values that are not committed.
fn put_before(file: &FileMut) {
    file.variable_mut("wide").unwrap().put_values(&[3i16; 12], ..).unwrap();
    file.variable_mut("heat").unwrap().put_values(&[13, 14, 15, 16], (2, ..)).unwrap();
}

/// Number of long strings that exceeds the limit of pending data.
const MANY: usize = 100;

/// Renames and creates objects, and changes coordinates; then sets long strings, twice.
fn define(file: &FileMut, count: usize) {
    file.define(|model| {
        let var = |model: &ferrocdf_model::Model, name: &str| model.find_var(ROOT, name.as_bytes()).unwrap();
        let inner = model.find_group(ROOT, b"inner").unwrap();
        model.rename_group(inner, "within")?;
        // `y` gets a coordinate, `time` loses its own, `x` has another name.
        let depth = var(model, "depth");
        model.rename_var(depth, Name::new("y")?)?;
        let time = var(model, "time");
        model.rename_var(time, Name::new("hours")?)?;
        model.rename_dim(ferrocdf_model::DimId(1), Name::new("width")?)?;
        let heat = var(model, "heat");
        model.del_attr(Owner::Var(heat), "units")?;
        model.put_attr(Owner::Var(heat), "names", strings(3, 30))?;
        model.rename_attr(Owner::Group(ROOT), "history", Name::new("story")?)?;
        let height = model.def_dim(ROOT, "height", Some(2))?;
        let fields =
            vec![Field { name: Name::new("f")?, offset: 0, ty: Atomic::Int.into(), shape: vec![], chars: 1 }];
        let class = Class::Compound { size: 4, fields };
        let ty = model.def_type(UserType { name: Name::new("one")?, group: inner, class })?;
        model.def_var(ROOT, "height", Atomic::Int.into(), &[height])?;
        model.def_var(inner, "ones", Type::User(ty), &[ferrocdf_model::DimId(0), height])?;
        let other = model.def_group(inner, "other")?;
        model.put_attr(Owner::Group(other), "long", strings(count, 70_000))?;
        let last = model.def_var(other, "last", Atomic::Short.into(), &[ferrocdf_model::DimId(2)])?;
        model.put_attr(Owner::Var(last), "long", strings(count, 70_000))
    })
    .unwrap();
}

/// Returns the texts of the file before, with the put values, and with the definitions.
fn texts(bytes: &[u8], count: usize) -> [String; 3] {
    let disk = Disk::new(bytes);
    let start = text_of(&disk);
    let file = disk.open();
    put_before(&file);
    file.sync().unwrap();
    let put = text_of(&disk);
    define(&file, count);
    file.close().unwrap();
    [start, put, text_of(&disk)]
}

/// Makes definitions while all but the first `after` writes fail; returns the file, which has none of the definitions.
fn define_without_success(bytes: &[u8], after: u64) -> (Arc<Disk>, FileMut) {
    let disk = Disk::new(bytes);
    let file = disk.open();
    put_before(&file);
    define(&file, MANY);
    disk.writes.arm(Faults { after, times: u64::MAX, torn: false });
    for _ in 0..2 {
        assert_eq!(file.commit().unwrap_err().code, errno::NOSPC);
    }
    (disk, file)
}

#[test]
fn definitions_that_failed_can_be_repeated() {
    let bytes = station();
    let [start, put, defined] = texts(&bytes, MANY);
    assert!(start != put && put != defined);
    for after in [0, 1, 5, 30, 60] {
        let (disk, file) = define_without_success(&bytes, after);
        assert_eq!(text_of(&disk), start);
        disk.repair();
        file.commit().unwrap();
        assert_eq!(text_of(&disk), defined, "{after} writes went well");
        file.close().unwrap();
        assert_eq!(text_of(&disk), defined, "{after} writes went well");
    }
}

/// Makes definitions in a file while one read request fails, for each of `requests`; then again or not at all. `before`
/// prepares the file; the texts are those of the original file, after `before`, and with the definitions.
fn define_whichever_read_fails(
    bytes: &[u8],
    requests: u64,
    before: fn(&FileMut),
    define: fn(&FileMut, usize),
    [start, put, defined]: [&String; 3],
) {
    let mut failed = 0;
    for (read, aborts) in (0..requests).flat_map(|read| [(read, false), (read, true)]) {
        let disk = Disk::new(bytes);
        let file = disk.open();
        before(&file);
        define(&file, 1);
        *disk.reads.lock().unwrap() = once(read);
        if file.commit().is_ok() {
            continue;
        }
        failed += 1;
        disk.repair();
        // The commit may have failed after the definitions were made.
        let found = text_of(&disk);
        assert!([start, defined].contains(&&found), "request {read}: {found}");
        if aborts {
            file.abort();
        }
        file.close().unwrap();
        let found = text_of(&disk);
        assert!(found == *defined || aborts && found == *put, "request {read}: {found}");
    }
    assert!(failed > 30, "{failed}");
}

#[test]
fn definitions_can_be_repeated_whichever_request_to_read_failed() {
    let bytes = station();
    let [start, put, defined] = &texts(&bytes, 1);
    define_whichever_read_fails(&bytes, 60, put_before, define, [start, put, defined]);
}

#[test]
fn definitions_that_failed_are_not_committed_when_they_are_aborted() {
    let bytes = station();
    let [start, put, defined] = texts(&bytes, MANY);
    for after in [0, 5, 60] {
        let (disk, file) = define_without_success(&bytes, after);
        disk.repair();
        file.abort();
        drop(file);
        assert_eq!(text_of(&disk), put);
        // Without an abort the drop is the last attempt.
        let (disk, file) = define_without_success(&bytes, after);
        disk.fill_up();
        drop(file);
        assert_eq!(text_of(&disk), start);
        let (disk, file) = define_without_success(&bytes, after);
        disk.repair();
        drop(file);
        assert_eq!(text_of(&disk), defined);
    }
}

/// Removes the long strings, and gives one variable its old name.
fn change_definitions(file: &FileMut) {
    file.define(|model| {
        let groups: Vec<_> = model.group_ids().map(Owner::Group).collect();
        let owners = groups.into_iter().chain(model.var_ids().map(Owner::Var));
        owners.for_each(|owner| drop(model.del_attr(owner, "long")));
        let depth = model.find_var(ROOT, b"y").unwrap();
        model.rename_var(depth, Name::new("depth")?)?;
        model.def_dim(ROOT, "more", Some(3))
    })
    .unwrap();
}

#[test]
fn definitions_that_failed_can_be_changed_before_they_are_made() {
    let bytes = station();
    let (disk, file) = define_without_success(&bytes, 7);
    change_definitions(&file);
    disk.repair();
    file.close().unwrap();
    let other = Disk::new(&bytes);
    let file = other.open();
    put_before(&file);
    define(&file, 0);
    change_definitions(&file);
    file.close().unwrap();
    assert_eq!(text_of(&disk), text_of(&other));
}

#[test]
fn definitions_that_hdf5_refuses_leave_nothing_behind() {
    let bytes = station();
    let [_, put, _] = texts(&bytes, MANY);
    let disk = Disk::new(&bytes);
    let file = disk.open();
    put_before(&file);
    file.define(|model| {
        let depth = model.find_var(ROOT, b"depth").unwrap();
        model.rename_var(depth, Name::new("y")?)?;
        let first = model.def_var(ROOT, "first", Atomic::Int.into(), &[ferrocdf_model::DimId(1)])?;
        model.put_attr(Owner::Var(first), "names", strings(3, 30))?;
        let second = model.def_var(ROOT, "second", Atomic::Int.into(), &[ferrocdf_model::DimId(1)])?;
        model.var_mut(second).storage.chunking = Some(ferrocdf_model::Chunking::Chunked(vec![5]));
        Ok(())
    })
    .unwrap();
    for _ in 0..2 {
        assert_eq!(file.sync().unwrap_err().code, Code::EBADCHUNK);
    }
    file.abort();
    file.close().unwrap();
    assert_eq!(text_of(&disk), put);
}

#[test]
fn chunks_of_a_put_that_failed_are_committed_with_the_next_sync() {
    let file = FileMut::in_memory(&CreateOptions::format(Format::NETCDF4)).unwrap();
    file.add_dimension("x", 20).unwrap();
    file.add_variable::<i32>("v", &["x"]).unwrap();
    file.add_variable_of(Atomic::String, "s", &["x"]).unwrap();
    file.define(|model| {
        for name in ["v", "s"] {
            let var = model.find_var(ROOT, name.as_bytes()).unwrap();
            model.var_mut(var).storage.chunking = Some(ferrocdf_model::Chunking::Chunked(vec![10]));
        }
        Ok(())
    })
    .unwrap();
    let disk = Disk::new(&file.into_bytes().unwrap().unwrap());
    let file = disk.open();
    let put = |name: &str, start: u64, values: Values| {
        let var = file.variable(name).unwrap().id();
        file.write_values(var, &[start], &[values.len() as u64], &values).map(drop)
    };
    let text = |count: usize, letter: u8| Values::String(vec![Some(vec![letter]); count]);
    put("v", 0, Values::Int(vec![1; 5])).unwrap();
    put("s", 0, text(5, b'a')).unwrap();
    file.sync().unwrap();
    // The part of the first chunk stays in memory, the second chunk cannot be written.
    disk.fill_up();
    assert!(put("v", 5, Values::Int(vec![2; 15])).is_err());
    assert!(put("s", 5, text(15, b'b')).is_err());
    disk.repair();
    let values = |file: &File, name: &str| {
        let var = file.variable(name).unwrap().id();
        file.read_values(var, &[0], &[10]).unwrap()
    };
    let seen = values(&file, "v");
    file.sync().unwrap();
    assert_eq!(seen, Values::Int([[1; 5], [2; 5]].concat()));
    assert_eq!(values(&disk.found(), "v"), seen);
    let letters = [b'a', b'b'].map(|letter| vec![Some(vec![letter]); 5]).concat();
    assert_eq!(values(&disk.found(), "s"), Values::String(letters));
}
