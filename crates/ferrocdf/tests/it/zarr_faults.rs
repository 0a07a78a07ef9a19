//! Zarr stores of which requests fail: what the metadata says of chunks, and what another call stores.

use std::sync::Arc;
use std::time::Duration;

use ferrocdf::model::Chunking;
use ferrocdf::store::testing::{Fault, Simulated, Traffic};
use ferrocdf::store::{ByteRange, Cost, MemoryStore, Store};
use ferrocdf::{
    AppendOptions, Atomic, Container, CreateOptions, DataModel, ErrorKind, FileMut, Format, GroupId,
    Location, Owner, Result, Values, VarId, errno,
};

const KEY: &str = "s.zarr";
const NUMBERS: VarId = VarId(0);
const TEXT: VarId = VarId(1);
const CHUNK: u64 = 10;

type Faulty = Arc<Simulated<MemoryStore>>;

/// Makes stores in which requests take long, and in which they do not.
fn each(test: impl Fn(&Faulty)) {
    for cost in [Cost::REMOTE, Cost::LOCAL] {
        test(&Arc::new(Simulated::new(MemoryStore::default(), cost, Duration::ZERO)));
    }
}

fn at(store: &Faulty) -> Location {
    Location::Object { store: store.clone(), key: KEY.to_string() }
}

/// Makes a dataset of pure Zarr 2 with numbers and text without `_FillValue`, in chunks of 10.
fn create(store: &Faulty, len: u64) -> FileMut {
    let mut options = CreateOptions::format(Format::new(Container::ZarrV2, DataModel::Netcdf4));
    options.zarr.nczarr = false;
    let file = FileMut::create_at(&at(store), &options).unwrap();
    file.define(|model| {
        let x = model.def_dim(GroupId::ROOT, "x", Some(len))?;
        for (name, ty) in [("numbers", Atomic::Int), ("text", Atomic::String)] {
            let var = model.def_var(GroupId::ROOT, name, ty.into(), &[x])?;
            model.var_mut(var).storage.chunking = Some(Chunking::Chunked(vec![CHUNK]));
        }
        Ok(())
    })
    .unwrap();
    file.commit().unwrap();
    file
}

/// Lets the request behind the next `later` ones fail.
fn fail(store: &Faulty, later: u64, fault: Fault) {
    store.fail(store.traffic().requests + later, fault);
}

/// Writes two chunks of a variable.
fn write(file: &FileMut, var: VarId) -> Result<()> {
    let numbers = 0..2 * CHUNK as i32;
    let values = match var {
        NUMBERS => Values::Int(numbers.collect()),
        _ => Values::String(numbers.map(|number| Some(number.to_string().into_bytes())).collect()),
    };
    file.write_values(var, &[0], &[2 * CHUNK], &values).map(|_exact| ())
}

fn object(store: &Faulty, key: &str) -> Option<String> {
    let found = store.inner().get(&format!("{KEY}/{key}"), ByteRange::All).unwrap();
    found.map(|found| String::from_utf8_lossy(&found.bytes).into_owned())
}

/// True if an array has no fill value: a missing chunk would have undefined values.
fn has_no_fill(store: &Faulty, array: &str) -> bool {
    object(store, &format!("{array}/.zarray")).unwrap().contains("\"fill_value\": null")
}

#[test]
fn chunk_whose_put_failed_does_not_count_as_stored() {
    for (var, name) in [(NUMBERS, "numbers"), (TEXT, "text")] {
        for later in 0..4 {
            each(|store| {
                let file = create(store, 2 * CHUNK);
                fail(store, later, Fault::Refused);
                // The write is not repeated.
                let _failed = write(&file, var);
                for _ in 0..2 {
                    let synced = file.sync();
                    let chunks = ["0", "1"].map(|chunk| object(store, &format!("{name}/{chunk}")).is_some());
                    let (has_all, has_no_fill) = (chunks == [true; 2], has_no_fill(store, name));
                    // The request that fails may be that of the metadata.
                    let is_right =
                        if synced.is_ok() { has_no_fill == has_all } else { !has_no_fill || has_all };
                    assert!(is_right, "{name}, {later}: {chunks:?}, {has_no_fill}, {synced:?}");
                }
                write(&file, var).unwrap();
                file.close().unwrap();
                assert!(has_no_fill(store, name), "{name}, {later}");
            });
        }
    }
}

#[test]
fn stale_file_of_the_system_is_no_conflict_with_another_writer() {
    for var in [NUMBERS, TEXT] {
        each(|store| {
            create(store, 2 * CHUNK).close().unwrap();
            let file = FileMut::append_at(&at(store), &AppendOptions::default()).unwrap();
            let values = match var {
                NUMBERS => Values::Int(vec![7; 3]),
                _ => Values::String(vec![Some(b"seven".to_vec()); 3]),
            };
            let _exact = file.write_values(var, &[1], &[3], &values).unwrap();
            let put_attr =
                |model: &mut ferrocdf::Model| model.put_attr(Owner::Var(var), "new", Values::Int(vec![1]));
            file.define(put_attr).unwrap();
            fail(store, 0, Fault::Stale);
            let error = file.sync().unwrap_err();
            assert!(error.code == errno::STALE && error.kind() != ErrorKind::Conflict, "{error}");
            assert!(error.what.contains("the test refuses"), "{error}");
            let name = if var == NUMBERS { "numbers" } else { "text" };
            let attributes = || object(store, &format!("{name}/.zattrs")).unwrap();
            assert!(!attributes().contains("new"), "metadata comes after the chunks");
            // The part of the chunk is still there for the next call.
            file.close().unwrap();
            assert!(attributes().contains("new"));
            let file = FileMut::append_at(&at(store), &AppendOptions::default()).unwrap();
            assert_eq!(file.read_values(var, &[1], &[3]).unwrap(), values);
        });
    }
}

#[test]
fn syncs_of_an_array_with_many_chunks_send_no_requests_for_them() {
    each(|store| {
        let file = create(store, CHUNK << 20);
        write(&file, NUMBERS).unwrap();
        file.sync().unwrap();
        store.take_traffic();
        // A walk through the chunks in each sync would look at a thousand millions of them, and take minutes.
        (0..1000).for_each(|_| file.sync().unwrap());
        assert_eq!(store.take_traffic(), Traffic::default());
        assert!(!has_no_fill(store, "numbers"));
    });
}
