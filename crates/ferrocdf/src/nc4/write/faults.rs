//! Requests that fail while removals are made, and a program that goes on.

use std::sync::{Arc, Mutex};

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::testing::{Failing, Faults};
use ferrocdf_store::{Blob, BlobMut, MemoryBlob};

use crate::{CreateOptions, File, FileMut, Format};

/// A file in memory whose requests can fail.
struct Disk {
    memory: Arc<MemoryBlob>,
    writes: Failing<Arc<MemoryBlob>>,
    /// Which requests to read fail.
    reads: Mutex<Faults>,
}

impl Disk {
    fn new(bytes: &[u8]) -> Arc<Disk> {
        let memory = Arc::new(MemoryBlob::new(bytes.to_vec()));
        let writes = Failing::never(memory.clone());
        Arc::new(Disk { memory, writes, reads: Mutex::default() })
    }

    fn open(self: &Arc<Disk>) -> FileMut {
        FileMut::append_blob(Box::new(self.clone())).unwrap()
    }

    /// From now on requests succeed.
    fn repair(&self) {
        self.writes.arm(Faults::default());
        *self.reads.lock().unwrap() = Faults::default();
    }

    /// The file as another program finds it.
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

/// Variables `a`, `b`, `c`, `d` of four ones, twos, threes, fours.
fn letters() -> Vec<u8> {
    let mut file = FileMut::in_memory(&CreateOptions::format(Format::Netcdf4)).unwrap();
    file.add_dimension("x", 4).unwrap();
    for (name, value) in ["a", "b", "c", "d"].iter().zip(1..) {
        file.add_variable::<i32>(name, &["x"]).unwrap();
        file.variable_mut(name).unwrap().put_values(&[value; 4], ..).unwrap();
    }
    file.into_bytes().unwrap().unwrap()
}

/// Names of variables with their first values.
fn values(file: &File) -> Vec<(String, i32)> {
    let model = file.model();
    let value = |name: &str| file.variable(name).unwrap().get_values::<i32, _>(..).unwrap()[0];
    let names = model.vars().iter().map(|var| var.name.to_string());
    names.map(|name| (name.clone(), value(&name))).collect()
}

fn with_values(names: &[(&str, i32)]) -> Vec<(String, i32)> {
    names.iter().map(|&(name, value)| (name.to_string(), value)).collect()
}

/// How the program goes on after a removal that failed.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    Put,
    Define,
    Repeat,
    RemoveAnother,
}

/// Removes `a` while requests fail, and goes on. True if the next call was refused until a sync.
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
        Next::Define => file.add_attribute("title", "letters"),
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
    if file.variable("a").is_none() {
        wanted.remove(0);
    }
    match next {
        Next::Repeat => assert!(file.variable("a").is_none()),
        Next::RemoveAnother => drop(wanted.pop()),
        Next::Put | Next::Define => {}
    }
    assert_eq!((values(&file), values(&disk.found())), (wanted.clone(), wanted.clone()));
    // The same calls succeed now.
    file.variable_mut("c").unwrap().put_values(&[31; 4], ..).unwrap();
    file.add_attribute("title", "more letters").unwrap();
    file.close().unwrap();
    let at = wanted.iter().position(|(name, _)| name == "c").unwrap();
    wanted[at].1 = 31;
    assert_eq!(values(&disk.found()), wanted);
    assert!(disk.found().attribute("title").is_some());
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
    // The write that fails undoes the removal, or finishes it; without one it is done.
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
