//! Many threads on one file, and many files at once.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use ferrocdf::model::{Chunking, Filter};
use ferrocdf::{CreateOptions, File, FileMut, Format, GroupId};
use rayon::prelude::*;

const THREADS: u64 = 8;
const RECORDS: u64 = 64;
const ROW: u64 = 1000;

/// The value of an element, so that a wrong one shows.
fn value(seed: u64, record: u64, column: u64) -> f64 {
    (seed * 1_000_000 + record * ROW + column) as f64
}

fn row(seed: u64, record: u64) -> Vec<f64> {
    (0..ROW).map(|column| value(seed, record, column)).collect()
}

/// A file with records of doubles, and beside them a variable that makes the records interleaved.
fn define(file: &mut FileMut) {
    file.add_unlimited_dimension("t").unwrap();
    file.add_dimension("x", ROW).unwrap();
    file.add_variable::<f64>("v", &["t", "x"]).unwrap();
    file.add_variable::<i16>("beside", &["t"]).unwrap();
}

fn make(seed: u64, format: Format) -> Vec<u8> {
    let mut file = FileMut::in_memory(&CreateOptions::format(format)).unwrap();
    define(&mut file);
    for record in 0..RECORDS {
        file.variable_mut("v").unwrap().put_values(&row(seed, record), (record, ..)).unwrap();
    }
    file.into_bytes().unwrap().unwrap()
}

fn read_and_check(file: &File, seed: u64, thread: u64) {
    let variable = file.variable("v").unwrap();
    for step in 0..RECORDS {
        let record = (step * 7 + thread) % RECORDS;
        assert_eq!(variable.get_values::<f64, _>((record, ..)).unwrap(), row(seed, record));
        let column = (record * 13 + thread) % ROW;
        let down: Vec<f64> = (0..RECORDS).map(|record| value(seed, record, column)).collect();
        assert_eq!(variable.get_values::<f64, _>((.., column)).unwrap(), down);
    }
    // Large enough for the pool.
    let all: Vec<f64> = (0..RECORDS).flat_map(|record| row(seed, record)).collect();
    assert_eq!(variable.get_values::<f64, _>(..).unwrap(), all);
}

#[test]
fn many_threads_read_one_file() {
    for format in [Format::CLASSIC, Format::OFFSET64, Format::DATA64] {
        let file = File::from_bytes(make(1, format)).unwrap();
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let file = file.clone();
                scope.spawn(move || read_and_check(&file, 1, thread));
            }
        });
    }
}

#[test]
fn files_are_made_and_read_in_parallel() {
    let folder = tempfile::tempdir().unwrap();
    thread::scope(|scope| {
        for seed in 0..THREADS {
            let path = folder.path().join(format!("{seed}.nc"));
            scope.spawn(move || {
                std::fs::write(&path, make(seed, Format::OFFSET64)).unwrap();
                read_and_check(&ferrocdf::open(&path).unwrap(), seed, seed);
            });
        }
    });
}

#[test]
fn readers_see_whole_records_while_one_thread_appends() {
    let mut file = FileMut::in_memory(&CreateOptions::default()).unwrap();
    define(&mut file);
    file.commit().unwrap();
    let done = AtomicBool::new(false);
    let file = &file;
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let variable = file.variable("v").unwrap();
                loop {
                    let last = done.load(Relaxed);
                    let records = variable.shape()[0];
                    for record in records.saturating_sub(2)..records {
                        assert_eq!(variable.get_values::<f64, _>((record, ..)).unwrap(), row(5, record));
                    }
                    if last {
                        assert_eq!(records, RECORDS);
                        break;
                    }
                }
            });
        }
        scope.spawn(|| {
            let id = file.variable("v").unwrap().id();
            for record in 0..RECORDS {
                let values = row(5, record).into();
                let _exact = file.write_values(id, &[record, 0], &[1, ROW], &values).unwrap();
            }
            done.store(true, Relaxed);
        });
    });
}

#[test]
fn writers_of_different_variables_do_not_disturb_each_other() {
    let file = FileMut::in_memory(&CreateOptions::format(Format::CLASSIC)).unwrap();
    file.add_unlimited_dimension("t").unwrap();
    let names: Vec<String> = (0..THREADS).map(|thread| format!("v{thread}")).collect();
    for name in &names {
        file.add_variable::<i32>(name, &["t"]).unwrap();
    }
    file.commit().unwrap();
    let shared = &file;
    thread::scope(|scope| {
        for (thread, name) in names.iter().enumerate() {
            let id = shared.variable(name).unwrap().id();
            scope.spawn(move || {
                for record in 0..RECORDS {
                    let values = ((thread * 1000) as i32 + record as i32).into();
                    let _exact = shared.write_values(id, &[record], &[1], &values).unwrap();
                }
            });
        }
    });
    let file = File::from_bytes(file.into_bytes().unwrap().unwrap()).unwrap();
    for (thread, name) in names.iter().enumerate() {
        let expected: Vec<i32> = (0..RECORDS).map(|record| (thread * 1000) as i32 + record as i32).collect();
        assert_eq!(file.variable(name).unwrap().get_values::<i32, _>(..).unwrap(), expected);
    }
}

/// A program that shares its own work among the threads of rayon, and keeps the file behind a lock: who waits for our
/// threads must not take up another piece of that work, which wants the lock.
#[test]
fn programs_may_have_a_pool_of_their_own() {
    const PARTS: u64 = 64;
    const PART: u64 = 1 << 18;
    let (done, finished) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let file = FileMut::in_memory(&CreateOptions::format(Format::DATA64)).unwrap();
        file.add_dimension("part", PARTS).unwrap();
        file.add_dimension("x", PART).unwrap();
        file.add_variable::<f64>("v", &["part", "x"]).unwrap();
        let file = std::sync::Mutex::new(file);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        pool.install(|| {
            (0..PARTS).into_par_iter().for_each(|part| {
                let values: Vec<f64> = (0..PART).map(|at| (part * PART + at) as f64).collect();
                let file = file.lock().unwrap();
                file.variable_mut("v").unwrap().put_values(&values, (part, ..)).unwrap();
                assert_eq!(file.variable("v").unwrap().get_values::<f64, _>((part, ..)).unwrap(), values);
            });
        });
        done.send(()).unwrap();
    });
    finished.recv_timeout(std::time::Duration::from_secs(60)).expect("the threads wait for each other");
}

/// A file whose last chunk is written anew with each record, and its writer.
fn growing(path: &std::path::Path, chunk: u64, filter: Option<u32>) -> FileMut {
    let file = FileMut::create(path, &CreateOptions::format(Format::NETCDF4)).unwrap();
    file.define(|model| {
        let time = model.def_dim(GroupId::ROOT, b"t", None)?;
        let x = model.def_dim(GroupId::ROOT, b"x", Some(100))?;
        let var = model.def_var(GroupId::ROOT, b"v", ferrocdf::Atomic::Double.into(), &[time, x])?;
        let storage = &mut model.var_mut(var).storage;
        storage.chunking = Some(Chunking::Chunked(vec![chunk, 100]));
        filter.into_iter().for_each(|filter| storage.set_filter(filter, vec![1]));
        Ok(())
    })
    .unwrap();
    append(&file, 0);
    file
}

/// Appends a record and makes it seen.
fn append(file: &FileMut, record: u64) {
    file.variable_mut("v").unwrap().put_values(&row(1, record)[..100], (record, ..)).unwrap();
    file.sync().unwrap();
}

/// The first so many records.
fn records(count: u64) -> Vec<f64> {
    (0..count).flat_map(|record| row(1, record)[..100].to_vec()).collect()
}

#[test]
fn who_has_a_file_open_reads_what_he_opened_however_often_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    for (number, filter) in [None, Some(Filter::DEFLATE)].into_iter().enumerate() {
        let path = folder.path().join(format!("{number}.nc"));
        let writer = growing(&path, 64, filter);
        for record in 1..200 {
            let reader = ferrocdf::open(&path).unwrap();
            append(&writer, record);
            if record % 3 == 0 {
                append(&writer, record);
            }
            let variable = reader.variable("v").unwrap();
            assert_eq!(variable.shape(), [record, 100]);
            assert_eq!(variable.get_values::<f64, _>(..).unwrap(), records(record), "{record} {filter:?}");
        }
    }
}

#[test]
fn who_opened_a_file_while_a_commit_was_under_way_sees_later_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("growing.nc");
    let writer = growing(&path, 4, None);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            (1..1000).for_each(|record| append(&writer, record));
            done.store(true, Relaxed);
        });
        // Some of these find the image of a commit.
        let mut readers = vec![];
        while !done.load(Relaxed) {
            readers.push(ferrocdf::open(&path).unwrap());
        }
        for reader in readers {
            let variable = reader.variable("v").unwrap();
            let values = variable.get_values::<f64, _>(..).unwrap();
            assert_eq!(values, records(variable.shape()[0]));
            reader.refresh().unwrap();
            let variable = reader.variable("v").unwrap();
            assert_eq!(variable.shape(), [1000, 100]);
            assert_eq!(variable.get_values::<f64, _>(..).unwrap(), records(1000));
        }
    });
}

/// Ten records of one chunk each, all of them the number of the record and what `turn` adds.
fn in_turn(file: &FileMut, turn: u64) {
    for record in 0..10 {
        let values = [(record * 1000 + turn) as f64; 100];
        file.variable_mut("v").unwrap().put_values(&values, (record, ..)).unwrap();
        file.sync().unwrap();
    }
}

#[test]
fn who_has_a_file_open_reads_nothing_that_took_the_place_of_what_he_reads() {
    let folder = tempfile::tempdir().unwrap();
    for (number, filter) in [None, Some(Filter::DEFLATE)].into_iter().enumerate() {
        let path = folder.path().join(format!("{number}.nc"));
        let writer = growing(&path, 1, filter);
        in_turn(&writer, 0);
        let reader = ferrocdf::open(&path).unwrap();
        let variable = reader.variable("v").unwrap();
        for turn in 0..5 {
            let wanted = |record: u64| vec![(record * 1000 + turn) as f64; 100];
            let all: Vec<f64> = (0..10).flat_map(wanted).collect();
            assert_eq!(variable.get_values::<f64, _>(..).unwrap(), all, "{turn} {filter:?}");
            for record in 0..10 {
                assert_eq!(variable.get_values::<f64, _>((record, ..)).unwrap(), wanted(record));
            }
            in_turn(&writer, turn + 1);
        }
        // Now meanwhile: a record may be of any turn, but it is whole, and no other one.
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                (0..60).for_each(|turn| in_turn(&writer, turn));
                done.store(true, Relaxed);
            });
            while !done.load(Relaxed) {
                for (record, values) in variable.get_values::<f64, _>(..).unwrap().chunks(100).enumerate() {
                    let begin = record as f64 * 1000.0;
                    assert!((begin..begin + 60.0).contains(&values[0]), "{record}: {}", values[0]);
                    assert!(values.iter().all(|value| *value == values[0]), "{record}: {values:?}");
                }
            }
        });
    }
}

/// Defines a variable like `v` of [`growing`], of another type, and writes it.
fn another(file: &FileMut, name: &str) {
    let define = |model: &mut ferrocdf::Model| {
        let dims = ["t", "x"].map(|dim| model.find_dim(GroupId::ROOT, dim.as_bytes()).unwrap());
        let var = model.def_var(GroupId::ROOT, name, ferrocdf::Atomic::Int64.into(), &dims)?;
        model.var_mut(var).storage.chunking = Some(Chunking::Chunked(vec![1, 100]));
        Ok(())
    };
    file.define(define).unwrap();
    for record in 0..10 {
        file.variable_mut(name).unwrap().put_values(&[7i64; 100], (record, ..)).unwrap();
        file.sync().unwrap();
    }
}

#[test]
fn who_reads_a_variable_that_is_removed_reads_what_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gone.nc");
    let mut writer = growing(&path, 1, None);
    writer.add_dimension("y", 50).unwrap();
    writer.add_variable::<f32>("contiguous", &["y"]).unwrap().put_values(&[1.5f32; 50], ..).unwrap();
    in_turn(&writer, 0);
    let reader = ferrocdf::open(&path).unwrap();
    let (variable, contiguous) = (reader.variable("v").unwrap(), reader.variable("contiguous").unwrap());
    ["v", "contiguous"].iter().for_each(|name| writer.remove_variable(name).unwrap());
    for number in 0..3 {
        another(&writer, &format!("v{number}"));
        assert_eq!(variable.get_values::<f64, _>((3, ..)).unwrap(), [3000.0; 100]);
        assert_eq!(contiguous.get_values::<f32, _>(..).unwrap(), [1.5; 50]);
    }
}
