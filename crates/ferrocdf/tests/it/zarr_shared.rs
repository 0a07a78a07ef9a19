//! Zarr stores that several writers change at the same time.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ferrocdf::model::Chunking;
use ferrocdf::store::testing::Simulated;
use ferrocdf::store::{Cost, DirectoryStore, MemoryStore, Store};
use ferrocdf::{
    AppendOptions, Atomic, Container, CreateOptions, DataModel, ErrorKind, File, FileMut, Format, GroupId,
    Location, OpenOptions, Owner, Result, Values, VarId, errno,
};

const NUMBERS: VarId = VarId(0);
const TEXT: VarId = VarId(1);

/// Stores of each kind: in memory, one in which each request takes long, and a folder.
fn stores(folder: &Path) -> Vec<Arc<dyn Store>> {
    vec![
        Arc::new(MemoryStore::default()),
        Arc::new(Simulated::new(MemoryStore::default(), Cost::REMOTE, Duration::ZERO)),
        Arc::new(DirectoryStore::open(folder).unwrap()),
    ]
}

/// For each store and version: makes a dataset of numbers and text in chunks of 10, and runs `test` with its location.
fn each(test: impl Fn(&Location)) {
    let folder = tempfile::tempdir().unwrap();
    for store in stores(folder.path()) {
        for container in [Container::ZarrV2, Container::ZarrV3] {
            let location = Location::Object { store: store.clone(), key: format!("{container:?}.zarr") };
            let options = CreateOptions::format(Format::new(container, DataModel::Netcdf4));
            let file = FileMut::create_at(&location, &options).unwrap();
            file.define(|model| {
                let x = model.def_dim(GroupId::ROOT, "x", Some(20))?;
                for (name, ty) in [("numbers", Atomic::Int), ("text", Atomic::String)] {
                    let var = model.def_var(GroupId::ROOT, name, ty.into(), &[x])?;
                    model.var_mut(var).storage.chunking = Some(Chunking::Chunked(vec![10]));
                }
                Ok(())
            })
            .unwrap();
            file.close().unwrap();
            test(&location);
        }
    }
}

fn append(location: &Location, merge: bool) -> FileMut {
    FileMut::append_at(location, &AppendOptions::default().merge(merge)).unwrap()
}

fn open(location: &Location) -> File {
    File::open_location(location, &OpenOptions::default()).unwrap()
}

fn strings(numbers: &[i32]) -> Values {
    Values::String(numbers.iter().map(|number| Some(format!("t{number}").into_bytes())).collect())
}

/// Writes numbers, and the same ones as text, from an element on.
fn write(file: &FileMut, from: u64, numbers: &[i32]) {
    let count = [numbers.len() as u64];
    let _exact = file.write_values(NUMBERS, &[from], &count, &Values::Int(numbers.to_vec())).unwrap();
    let _exact = file.write_values(TEXT, &[from], &count, &strings(numbers)).unwrap();
}

fn check(location: &Location, from: u64, numbers: &[i32]) {
    let (file, count) = (open(location), [numbers.len() as u64]);
    assert_eq!(file.read_values(NUMBERS, &[from], &count).unwrap(), Values::Int(numbers.to_vec()));
    assert_eq!(file.read_values(TEXT, &[from], &count).unwrap(), strings(numbers));
}

fn is_conflict<T>(done: Result<T>) {
    let error = done.err().expect("a conflict");
    assert_eq!((error.code, error.kind()), (errno::STALE, ErrorKind::Conflict));
}

#[test]
fn a_part_of_a_chunk_that_another_writer_changed_is_refused() {
    each(|location| {
        let [late, early] = [(); 2].map(|()| append(location, false));
        write(&late, 0, &[1, 2, 3]);
        write(&early, 5, &[6, 7]);
        // What has nothing to do with the other writer is stored all the same.
        write(&late, 10, &[11]);
        late.define(|model| model.put_attr(Owner::Var(NUMBERS), "own", Values::Int(vec![1]))).unwrap();
        early.close().unwrap();
        is_conflict(late.sync());
        check(location, 5, &[6, 7]);
        check(location, 10, &[11]);
        assert!(open(location).model().find_attr(Owner::Var(NUMBERS), b"own").is_some());
        // The writer goes on: the part is written again.
        late.sync().unwrap();
        write(&late, 0, &[1, 2, 3]);
        late.close().unwrap();
        check(location, 0, &[1, 2, 3]);
        check(location, 5, &[6, 7]);
    });
}

#[test]
fn writers_that_take_turns_are_in_no_conflict() {
    each(|location| {
        let files = [(); 2].map(|()| append(location, false));
        for turn in 0..6 {
            let file = &files[turn as usize % 2];
            write(file, turn, &[turn as i32]);
            file.sync().unwrap();
            let known = file.read_values(NUMBERS, &[0], &[turn + 1]).unwrap();
            assert_eq!(known, Values::Int((0..=turn as i32).collect()));
        }
        files.into_iter().for_each(|file| file.close().unwrap());
        check(location, 0, &[0, 1, 2, 3, 4, 5]);
    });
}

#[test]
fn fill_values_delete_nothing_that_another_writer_put() {
    each(|location| {
        for merge in [false, true] {
            let [late, early] = [(); 2].map(|()| append(location, merge));
            let fill = Values::default_fill(Atomic::Int);
            let _exact = late.write_values(NUMBERS, &[0], &[1], &fill).unwrap();
            let _exact = late.write_values(TEXT, &[0], &[1], &Values::String(vec![Some(vec![])])).unwrap();
            // The chunk is missing until the other writer stores it.
            write(&early, 1, &[2]);
            early.close().unwrap();
            let done = late.close();
            if merge {
                done.unwrap()
            } else {
                is_conflict(done)
            }
            check(location, 1, &[2]);
            let again = append(location, false);
            let all_fill = Values::String(vec![Some(vec![]); 10]);
            let Values::Int(fill) = &fill else { panic!("{fill:?}") };
            let _exact = again.write_values(NUMBERS, &[0], &[10], &Values::Int(vec![fill[0]; 10])).unwrap();
            let _exact = again.write_values(TEXT, &[0], &[10], &all_fill).unwrap();
            again.close().unwrap();
        }
    });
}

#[test]
fn parts_of_a_chunk_by_two_writers_are_merged_on_request() {
    each(|location| {
        let files = [(); 2].map(|()| append(location, true));
        write(&files[0], 0, &[1, 2, 3]);
        write(&files[1], 5, &[6, 7, 8, 9, 10]);
        files.iter().for_each(|file| file.sync().unwrap());
        // Each has elements of the other one in the way of what it knows.
        for (number, file) in files.iter().enumerate() {
            write(file, 3 + number as u64, &[4 + number as i32]);
            file.sync().unwrap();
        }
        for (number, file) in files.into_iter().enumerate() {
            write(&file, 12 + number as u64, &[13 + number as i32]);
            file.close().unwrap();
        }
        check(location, 0, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        check(location, 12, &[13, 14]);
    });
}

#[test]
fn the_word_merge_in_a_url_merges() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.zarr");
    let url = Location::parse(format!("file://{}#mode=zarr,v3&merge", path.display()).as_bytes()).unwrap();
    let options = CreateOptions::default();
    let file = FileMut::create_at(&url, &options).unwrap();
    file.define(|model| {
        let x = model.def_dim(GroupId::ROOT, "x", Some(4))?;
        model.def_var(GroupId::ROOT, "v", Atomic::Int.into(), &[x]).map(drop)
    })
    .unwrap();
    file.close().unwrap();
    let files = [(); 2].map(|()| FileMut::append_at(&url, &AppendOptions::default()).unwrap());
    for (number, file) in files.iter().enumerate() {
        let _exact = file.write_values(NUMBERS, &[number as u64], &[1], &Values::Int(vec![7])).unwrap();
    }
    files.into_iter().for_each(|file| file.close().unwrap());
    assert_eq!(open(&url).read_values(NUMBERS, &[0], &[2]).unwrap(), Values::Int(vec![7, 7]));
}

#[test]
fn whole_chunks_need_no_agreement() {
    each(|location| {
        let [late, early] = [(); 2].map(|()| append(location, false));
        let numbers: Vec<i32> = (0..10).collect();
        write(&early, 0, &[5; 10]);
        write(&late, 0, &numbers);
        write(&late, 10, &[4; 10]);
        early.close().unwrap();
        late.close().unwrap();
        check(location, 0, &numbers);
        check(location, 10, &[4; 10]);
    });
}

#[test]
fn fill_values_over_a_part_keep_what_another_writer_put() {
    each(|location| {
        let first = append(location, false);
        write(&first, 0, &[1]);
        first.close().unwrap();
        let fill = match Values::default_fill(Atomic::Int) {
            Values::Int(fill) => fill[0],
            other => panic!("{other:?}"),
        };
        let [late, early] = [(); 2].map(|()| append(location, true));
        let _exact = late.write_values(NUMBERS, &[0], &[1], &Values::Int(vec![fill])).unwrap();
        let _exact = early.write_values(NUMBERS, &[1], &[1], &Values::Int(vec![2])).unwrap();
        early.close().unwrap();
        late.close().unwrap();
        let values = open(location).read_values(NUMBERS, &[0], &[3]).unwrap();
        assert_eq!(values, Values::Int(vec![fill, 2, fill]));
    });
}

#[test]
fn a_writer_reads_what_it_wrote_after_a_merge() {
    each(|location| {
        let [late, early] = [(); 2].map(|()| append(location, true));
        // The chunk is in the cache of decoded chunks.
        let _fill = late.read_values(NUMBERS, &[0], &[10]).unwrap();
        write(&late, 0, &[1]);
        write(&early, 1, &[2]);
        early.close().unwrap();
        late.sync().unwrap();
        assert_eq!(late.read_values(NUMBERS, &[0], &[2]).unwrap(), Values::Int(vec![1, 2]));
        assert_eq!(late.read_values(TEXT, &[0], &[2]).unwrap(), strings(&[1, 2]));
        late.close().unwrap();
    });
}

fn put_attr(file: &FileMut, owner: Owner, name: &str) -> Result<()> {
    file.define(|model| model.put_attr(owner, name, Values::Int(vec![1])))?;
    file.commit()
}

#[test]
fn documents_that_another_writer_changed_are_not_replaced() {
    each(|location| {
        let [late, early] = [(); 2].map(|()| append(location, false));
        put_attr(&early, Owner::Var(TEXT), "of_text").unwrap();
        put_attr(&early, Owner::Var(TEXT), "more").unwrap();
        put_attr(&late, Owner::Var(NUMBERS), "of_numbers").unwrap();
        put_attr(&early, Owner::Var(TEXT), "still_more").unwrap();
        is_conflict(put_attr(&late, Owner::Var(TEXT), "lost"));
        is_conflict(late.close());
        put_attr(&early, Owner::Group(GroupId::ROOT), "of_root").unwrap();
        early.close().unwrap();
        let third = append(location, false);
        let fourth = append(location, false);
        put_attr(&fourth, Owner::Group(GroupId::ROOT), "more_of_root").unwrap();
        put_attr(&fourth, Owner::Var(TEXT), "last").unwrap();
        fourth.close().unwrap();
        // Each commit leaves what the other writer changed.
        for name in ["first", "second", "third"] {
            put_attr(&third, Owner::Var(NUMBERS), name).unwrap();
            let model = open(location).model().clone();
            for name in ["of_root", "more_of_root"] {
                assert!(model.find_attr(Owner::Group(GroupId::ROOT), name.as_bytes()).is_some(), "{name}");
            }
            assert!(model.find_attr(Owner::Var(TEXT), b"last").is_some());
        }
        is_conflict(put_attr(&third, Owner::Group(GroupId::ROOT), "lost"));
        third.abort();
        // Consolidated metadata has the changes of both.
        let file = open(location);
        for (var, names) in [(NUMBERS, &["of_numbers"][..]), (TEXT, &["of_text", "more", "still_more"])] {
            for name in names {
                let model = file.model();
                assert!(
                    model.find_attr(Owner::Var(var), name.as_bytes()).is_some(),
                    "{name} of {location:?}"
                );
            }
        }
    });
}
