//! New files as objects of a store.

use std::sync::Arc;
use std::time::Duration;

use ferrocdf::store::testing::{Fault, Simulated};
use ferrocdf::store::{ByteRange, Cost, MemoryStore, Store};
use ferrocdf::{Code, CreateOptions, File, FileMut, Format, Location, OpenOptions};

type Objects = Arc<Simulated<MemoryStore>>;

fn store() -> (Objects, Location) {
    let store = Arc::new(Simulated::new(MemoryStore::default(), Cost::REMOTE, Duration::ZERO));
    let location = Location::Object { store: store.clone(), key: "d/a.nc".to_string() };
    (store, location)
}

fn content(store: &Objects) -> Option<Vec<u8>> {
    store.get("d/a.nc", ByteRange::All).unwrap().map(|found| found.bytes)
}

/// Defines `x(t, n)` in a new file.
fn created(location: &Location, format: Format) -> FileMut {
    let file = FileMut::create_at(location, &CreateOptions::format(format)).unwrap();
    file.add_unlimited_dimension("t").unwrap();
    file.add_dimension("n", 3).unwrap();
    file.add_variable::<i32>("x", &["t", "n"]).unwrap();
    file
}

fn values(location: &Location) -> Vec<i32> {
    let file = File::open_location(location, &OpenOptions::default()).unwrap();
    file.variable("x").unwrap().get_values(..).unwrap()
}

const FORMATS: [Format; 3] = [Format::CLASSIC, Format::DATA64, Format::NETCDF4];

#[test]
fn new_object_is_there_when_it_is_closed() {
    for format in FORMATS {
        let (store, location) = store();
        store.put("d/a.nc", b"before").unwrap();
        let file = created(&location, format);
        file.variable_mut("x").unwrap().put_values(&[1, 2, 3], (0, ..)).unwrap();
        file.commit().unwrap();
        assert_eq!(content(&store).unwrap(), b"before");
        store.take_traffic();
        file.close().unwrap();
        assert_eq!(store.take_traffic().requests, 1, "{format:?}");
        assert_eq!(values(&location), [1, 2, 3]);
    }
}

#[test]
fn sync_puts_what_changed() {
    for format in FORMATS {
        let (store, location) = store();
        let file = created(&location, format);
        file.variable_mut("x").unwrap().put_values(&[1, 2, 3], (0, ..)).unwrap();
        file.sync().unwrap();
        assert_eq!(values(&location), [1, 2, 3]);
        store.take_traffic();
        file.sync().unwrap();
        assert_eq!(store.take_traffic().requests, 0, "nothing changed");
        file.variable_mut("x").unwrap().put_values(&[4, 5, 6], (1, ..)).unwrap();
        assert_eq!(values(&location), [1, 2, 3]);
        file.sync().unwrap();
        store.take_traffic();
        file.close().unwrap();
        assert_eq!(store.take_traffic().requests, 0, "the object has all that was written");
        assert_eq!(values(&location), [1, 2, 3, 4, 5, 6]);
    }
}

#[test]
fn failed_put_is_told_and_can_be_tried_again() {
    for format in FORMATS {
        let (store, location) = store();
        let file = created(&location, format);
        store.fail(0, Fault::Refused);
        let error = file.sync().unwrap_err();
        assert!(error.what.starts_with("memory/d/a.nc: "), "{error}");
        assert_eq!(content(&store), None);
        file.sync().unwrap();
        assert!(values(&location).is_empty());

        let file = created(&location, format);
        store.fail(store.traffic().requests, Fault::Refused);
        assert!(file.close().is_err());
    }
}

#[test]
fn aborted_and_existing_objects_stay_as_they_were() {
    for format in FORMATS {
        let (store, location) = store();
        let file = created(&location, format);
        file.abort();
        file.close().unwrap();
        assert_eq!(content(&store), None);

        store.put("d/a.nc", b"before").unwrap();
        let mut options = CreateOptions::format(format);
        options.clobber = false;
        let error = FileMut::create_at(&location, &options).map(drop).unwrap_err();
        assert_eq!(error.code, Code::EEXIST, "{error}");
        assert_eq!(content(&store).unwrap(), b"before");
    }
    let memory = Location::bytes(vec![]);
    assert_eq!(
        FileMut::create_at(&memory, &CreateOptions::default()).map(drop).unwrap_err().code,
        Code::EINVAL
    );
}

#[test]
fn large_object_is_written_in_any_order() {
    let (store, location) = store();
    let file = FileMut::create_at(&location, &CreateOptions::format(Format::NETCDF4)).unwrap();
    file.add_dimension("n", 3 << 20).unwrap();
    file.add_variable::<i32>("x", &["n"]).unwrap();
    let all: Vec<i32> = (0..3 << 20).collect();
    for part in [2, 0, 1] {
        let range = part << 20..(part + 1) << 20;
        file.variable_mut("x").unwrap().put_values(&all[range.clone()], range).unwrap();
    }
    drop(file);
    assert_eq!(content(&store).unwrap().len().div_euclid(1 << 20), 12);
    assert!(values(&location) == all);
}
