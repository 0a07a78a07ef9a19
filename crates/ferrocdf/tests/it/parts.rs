//! One netCDF-4 file that several workers write in parts.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use ferrocdf::parts::{Joined, PartWriter, join, part_key};
use ferrocdf::store::testing::{Fault, Rng, Simulated};
use ferrocdf::store::{ByteRange, Cost, MemoryStore, Store};
use ferrocdf::{
    Atomic, Code, CreateOptions, ErrorKind, File, FileMut, Format, In, Location, Quantization, RangeCheck,
    Result, Selection,
};

/// Makes a plan in memory.
fn plan(define: impl FnOnce(&FileMut) -> Result<()>) -> Location {
    let file = FileMut::in_memory(&CreateOptions::default()).unwrap();
    define(&file).unwrap();
    Location::bytes(file.into_bytes().unwrap().unwrap())
}

/// A plan of one variable `v(time, x)` of integers with a fill value, and its coordinate `x`.
fn simple() -> Location {
    plan(|file| {
        file.add_unlimited_dimension("time")?;
        file.add_dimension("x", 10)?;
        file.build_variable("v", Atomic::Int, &["time", "x"])
            .chunks(&[2, 4])
            .shuffle()
            .deflate(1)
            .fill_value(-1i32)
            .create()?;
        file.add_variable::<f64>("x", &["x"])?.put_values(&[0.5; 10], ..)
    })
}

fn at(folder: &Path, name: &str) -> Location {
    Location::Path(folder.join(name))
}

fn region(start: &[u64], count: &[u64]) -> Selection {
    Selection::slab(start, count)
}

/// Writes a part of one region of `v`, all of whose elements have one value.
fn write(plan: &Location, part: &Location, region: &Selection, value: i32) -> Result<()> {
    let writer = PartWriter::create(plan, part, "")?;
    let values = vec![value; region.elements().unwrap() as usize];
    assert_eq!(writer.write("v", region, In::new(&values))?, RangeCheck::InRange);
    writer.finish()
}

fn open(folder: &Path, name: &str) -> File {
    ferrocdf::open(folder.join(name)).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn regions_of_several_parts_become_one_file_and_the_rest_has_the_fill_value() {
    let folder = tempfile::tempdir().unwrap();
    let (plan, here) = (simple(), |name: &str| at(folder.path(), name));
    write(&plan, &here("a"), &region(&[0, 0], &[2, 10]), 1).unwrap();
    write(&plan, &here("b"), &region(&[4, 4], &[3, 6]), 2).unwrap();
    let joined = join(&plan, &[here("b"), here("a"), here("a")], &here("v.nc")).unwrap();
    assert_eq!((joined.parts, joined.chunks), (2, 3 + 4));
    let file = open(folder.path(), "v.nc");
    let v = file.variable("v").unwrap();
    let mut wanted = vec![-1; 70];
    wanted[..20].fill(1);
    (4..7).for_each(|row| wanted[row * 10 + 4..row * 10 + 10].fill(2));
    assert_eq!(v.shape(), [7, 10]);
    assert_eq!(v.get_values::<i32, _>(..).unwrap(), wanted);
    assert_eq!(v.storage().unwrap().chunks.unwrap().stored, 7);
    assert_eq!(file.variable("x").unwrap().get_values::<f64, _>(..).unwrap(), [0.5; 10]);
    assert_eq!(names(folder.path()), ["a", "b", "v.nc"]);
}

/// What is written at random: the type, the shape, the chunks.
fn random_plan(rng: &mut Rng) -> (Location, Vec<u64>, Vec<u64>) {
    let rank = 1 + rng.index(3);
    let shape: Vec<u64> = (0..rank).map(|_| 1 + rng.below(20)).collect();
    let chunks: Vec<u64> = shape.iter().map(|&len| 1 + rng.below(len)).collect();
    let types = [Atomic::Byte, Atomic::Ushort, Atomic::Int, Atomic::Float, Atomic::Double, Atomic::Uint64];
    let (ty, grows, filters) = (types[rng.index(6)], rng.once_in(2), rng.below(5));
    let plan = plan(|file| {
        for (dim, &len) in shape.iter().enumerate() {
            let name = format!("d{dim}");
            if grows && dim == 0 {
                file.add_unlimited_dimension(&name)?;
            } else {
                file.add_dimension(&name, len)?;
            }
        }
        let dims: Vec<String> = (0..rank).map(|dim| format!("d{dim}")).collect();
        let dims: Vec<&str> = dims.iter().map(|name| &**name).collect();
        let group = file.add_group("g")?;
        let builder = group.build_variable("v", ty, &dims).chunks(&chunks);
        let builder = match filters {
            0 => builder,
            1 => builder.shuffle().deflate(3),
            2 => builder.fletcher32(),
            3 => builder.endian(ferrocdf::Endian::Big),
            _ if matches!(ty, Atomic::Float | Atomic::Double) => {
                builder.quantize(Quantization::BitRound, 5).deflate(1)
            }
            _ => builder.filter("zstd,3"),
        };
        builder.create().map(drop)
    });
    (plan, shape, chunks)
}

#[test]
fn joined_file_has_the_values_of_one_that_a_single_writer_wrote() {
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let folder = tempfile::tempdir().unwrap();
        let (plan, shape, chunks) = random_plan(&mut rng);
        let rank = shape.len();
        // A region of some chunks of each dimension, and the rest of it.
        let cut = |dim: usize, rng: &mut Rng| {
            (rng.below(shape[dim] / chunks[dim] + 1) * chunks[dim]).min(shape[dim])
        };
        let cuts: Vec<u64> = (0..rank).map(|dim| cut(dim, &mut rng)).collect();
        let file = FileMut::append_bytes(plan.read_whole().unwrap()).unwrap();
        let mut parts: Vec<PartWriter> = vec![];
        for number in 0..3 {
            parts.push(PartWriter::create(&plan, &at(folder.path(), &number.to_string()), "").unwrap());
        }
        for corner in 0..1 << rank {
            let ends =
                |dim: usize| if corner >> dim & 1 == 0 { (0, cuts[dim]) } else { (cuts[dim], shape[dim]) };
            let start: Vec<u64> = (0..rank).map(|dim| ends(dim).0).collect();
            let count: Vec<u64> = (0..rank).map(|dim| ends(dim).1 - ends(dim).0).collect();
            let region = region(&start, &count);
            if rng.once_in(4) || count.contains(&0) {
                continue;
            }
            let values: Vec<i32> = (0..region.elements().unwrap()).map(|_| rng.below(100) as i32).collect();
            let part = &parts[rng.index(3)];
            let fit = part.write("g/v", &region, In::new(&values)).unwrap();
            let var = file.variable("g/v").unwrap().id();
            assert_eq!(file.write(var, &region, In::new(&values)).unwrap(), fit);
        }
        parts.into_iter().for_each(|part| part.finish().unwrap());
        let locations: Vec<Location> =
            (0..3).map(|number: u32| at(folder.path(), &number.to_string())).collect();
        join(&plan, &locations, &at(folder.path(), "v.nc")).unwrap();
        file.sync().unwrap();
        let joined = open(folder.path(), "v.nc");
        let [found, wanted] = [&joined, &*file].map(|file| {
            let variable = file.variable("g/v").unwrap();
            let stored = variable.storage().unwrap().chunks.unwrap().stored;
            (variable.shape(), stored, variable.get_values::<f64, _>(..).unwrap())
        });
        assert_eq!(found, wanted, "seed {seed}");
    }
}

#[test]
fn text_enumerations_and_numbers_out_of_range_are_written_as_to_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(|file| {
        file.add_dimension("x", 4)?;
        let color = file.add_enum_type("color", &[("red", 1u8), ("blue", 2)])?;
        file.build_variable("e", color, &["x"]).chunks(&[2]).create()?;
        file.build_variable("t", Atomic::Char, &["x"]).chunks(&[4]).create()?;
        file.build_variable("b", Atomic::Byte, &["x"]).chunks(&[3]).create()?;
        Ok(())
    });
    let all = region(&[0], &[4]);
    let part = PartWriter::create(&plan, &at(folder.path(), "p"), "").unwrap();
    assert_eq!(part.write("e", &all, In::new(&[1u8, 2, 2, 1])).unwrap(), RangeCheck::InRange);
    assert_eq!(part.write("t", &all, In::text(b"text")).unwrap(), RangeCheck::InRange);
    assert_eq!(part.write("b", &all, In::new(&[1, 2, 300, 4])).unwrap(), RangeCheck::OutOfRange);
    assert_eq!(part.write("b", &all, In::text(b"text")).unwrap_err().code, Code::ECHAR);
    part.finish().unwrap();
    join(&plan, &[at(folder.path(), "p")], &at(folder.path(), "f.nc")).unwrap();
    let file = open(folder.path(), "f.nc");
    let values = |name: &str| file.variable(name).unwrap().get_values::<u8, _>(..).unwrap();
    assert_eq!((values("e"), values("t")), (vec![1, 2, 2, 1], b"text".to_vec()));
    assert_eq!(values("b")[..2], [1, 2]);
}

#[test]
fn region_that_cuts_a_chunk_is_refused_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    let part = PartWriter::create(&simple(), &at(folder.path(), "p"), "").unwrap();
    let write = |region: &Selection| {
        let values = vec![0; region.elements().unwrap() as usize];
        part.write("v", region, In::new(&values)).map(drop)
    };
    for (start, count, says) in [
        (
            [0, 2],
            [2, 8],
            "/v: dimension \"x\": the region from 2 to 10 cuts chunk 0, which has the elements from 0 to 4; rechunk",
        ),
        ([1, 0], [1, 10], "dimension \"time\": the region from 1 to 2 cuts chunk 0"),
    ] {
        let error = write(&region(&start, &count)).unwrap_err();
        assert!(error.what.contains(says), "{error}");
        assert_eq!(error.code, Code::EINVAL);
    }
    // A refused region changes nothing: the end of the data is free before and after it.
    write(&region(&[0, 0], &[3, 10])).unwrap();
    assert!(write(&region(&[2, 0], &[0, 10])).is_ok());
}

#[test]
fn variables_and_plans_that_have_no_encoded_chunks_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(|file| {
        file.add_dimension("x", 4)?;
        file.build_variable("whole", Atomic::Int, &["x"]).contiguous().create()?;
        file.build_variable("text", Atomic::String, &["x"]).chunks(&[2]).create()?;
        Ok(())
    });
    let here = at(folder.path(), "p");
    let part = PartWriter::create(&plan, &here, "").unwrap();
    for (name, says) in [("whole", "has no chunks"), ("text", "write them to the plan"), ("other", "other")] {
        let error = part.write(name, &region(&[0], &[4]), In::new(&[0i32; 4])).unwrap_err();
        assert!(error.what.contains(says), "{error}");
    }
    let classic = FileMut::in_memory(&CreateOptions::format(Format::CLASSIC)).unwrap();
    let classic = Location::bytes(classic.into_bytes().unwrap().unwrap());
    let error = PartWriter::create(&classic, &here, "").err().unwrap();
    assert_eq!(error.code, Code::ENOTNC4, "{error}");
    assert!(join(&classic, &[], &here).is_err());
    drop(part);
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn parts_that_do_not_go_together_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let (one, here) = (simple(), |name: &str| at(folder.path(), name));
    let other_chunks = |chunks: &[u64]| {
        plan(|file| {
            file.add_unlimited_dimension("time")?;
            file.add_dimension("x", 10)?;
            file.build_variable("v", Atomic::Int, &["time", "x"]).chunks(chunks).create().map(drop)
        })
    };
    let row = region(&[0, 0], &[2, 10]);
    write(&one, &here("a"), &row, 1).unwrap();
    write(&one, &here("b"), &region(&[0, 8], &[4, 2]), 2).unwrap();
    write(&other_chunks(&[2, 5]), &here("c"), &row, 3).unwrap();
    let refused = |plan: &Location, names: &[&str], says: &[&str]| {
        let parts: Vec<Location> = names.iter().map(|name| here(name)).collect();
        let error = join(plan, &parts, &here("v.nc")).unwrap_err();
        assert!(says.iter().all(|says| error.what.contains(says)), "{error}");
        assert_eq!(error.code, Code::EINVAL);
    };
    refused(&one, &["a", "b"], &["/b: /v: chunk [0, 2]", "/a as well; write each chunk to one part"]);
    refused(&one, &["c"], &["/c stores I32 Little, chunks [2, 5], filters []"]);
    refused(
        &one,
        &["a", "c"],
        &["/c: /v: the part stores", "and ", "/a I32 Little, chunks [2, 4], filters [2,4 1,1]"],
    );
    refused(&other_chunks(&[2, 4]), &["a"], &["/a stores", "where the plan has"]);
    let without = plan(|file| file.add_dimension("x", 1).map(drop));
    refused(&without, &["a"], &["/a: /v: the plan has no such variable"]);
    let short = plan(|file| {
        file.add_dimension("time", 1)?;
        file.add_dimension("x", 10)?;
        file.build_variable("v", Atomic::Int, &["time", "x"]).chunks(&[1, 4]).create().map(drop)
    });
    refused(&short, &["a"], &["shape [2, 10], where the plan has [1, 10]"]);
    let with_data = plan(|file| {
        file.add_unlimited_dimension("time")?;
        file.add_dimension("x", 10)?;
        let v = file.build_variable("v", Atomic::Int, &["time", "x"]).chunks(&[2, 4]).shuffle().deflate(1);
        v.create()?.put_values(&[0i32; 10], (0, ..))
    });
    refused(&with_data, &["a"], &["/v: the variable has data in the plan, and chunks in parts"]);
    assert_eq!(join(&one, &[here("no")], &here("v.nc")).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(names(folder.path()), ["a", "b", "c"]);
}

#[test]
fn part_that_is_written_again_replaces_the_one_before() {
    let folder = tempfile::tempdir().unwrap();
    let (plan, here) = (simple(), at(folder.path(), "p"));
    assert_eq!(part_key(&here).unwrap(), None);
    for (key, value) in [("first", 1), ("second", 2)] {
        let part = PartWriter::create(&plan, &here, key).unwrap();
        let _exact = part.write("v", &region(&[0, 0], &[2, 4]), In::new(&[value; 8])).unwrap();
        part.finish().unwrap();
        assert_eq!(part_key(&here).unwrap().as_deref(), Some(key));
    }
    join(&plan, &[here], &at(folder.path(), "v.nc")).unwrap();
    let file = open(folder.path(), "v.nc");
    assert_eq!(file.variable("v").unwrap().get_values::<i32, _>((0, 0..4)).unwrap(), [2; 4]);
    std::fs::write(folder.path().join("p"), b"FCDFPRT1").unwrap();
    assert_eq!(part_key(&at(folder.path(), "p")).unwrap(), None, "not complete");
}

#[test]
fn many_parts_and_threads_need_few_open_files() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(|file| {
        file.add_dimension("x", 400)?;
        file.build_variable("v", Atomic::Int, &["x"]).chunks(&[2]).create().map(drop)
    });
    let here = |number: u64| at(folder.path(), &format!("{number}.part"));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (plan, here) = (&plan, &here);
            scope.spawn(move || {
                for number in (thread..100).step_by(4) {
                    write(plan, &here(number), &region(&[number * 4], &[4]), number as i32).unwrap();
                }
            });
        }
    });
    let parts: Vec<Location> = (0..100).map(here).collect();
    join(&plan, &parts, &at(folder.path(), "v.nc")).unwrap();
    let values = open(folder.path(), "v.nc").variable("v").unwrap().get_values::<i32, _>(..).unwrap();
    assert!(values.iter().enumerate().all(|(at, &value)| value == at as i32 / 4));
}

/// A plan, two parts and a file in a store whose requests fail.
struct Objects(Arc<Simulated<MemoryStore>>);

impl Objects {
    fn new(cost: Cost) -> Objects {
        Objects(Arc::new(Simulated::new(MemoryStore::default(), cost, Duration::ZERO)))
    }

    fn at(&self, key: &str) -> Location {
        Location::Object { store: self.0.clone(), key: key.to_string() }
    }

    fn content(&self, key: &str) -> Option<Vec<u8>> {
        self.0.get(key, ByteRange::All).unwrap().map(|found| found.bytes)
    }

    fn run(&self) -> Result<Joined> {
        let plan = self.at("plan");
        write(&plan, &self.at("a"), &region(&[0, 0], &[2, 10]), 1)?;
        write(&plan, &self.at("b"), &region(&[2, 0], &[2, 10]), 2)?;
        join(&plan, &[self.at("a"), self.at("b")], &self.at("v.nc"))
    }
}

#[test]
fn each_request_to_a_store_that_fails_leaves_whole_objects_and_the_next_run_completes() {
    for cost in [Cost::LOCAL, Cost::REMOTE] {
        for fault in [Fault::Refused, Fault::BodyCut, Fault::AnswerLost] {
            let mut failures = 0;
            for later in 0.. {
                let objects = Objects::new(cost);
                objects.0.put("plan", &simple().read_whole().unwrap()).unwrap();
                objects.0.put("v.nc", b"before").unwrap();
                let first = objects.0.traffic().requests;
                objects.0.fail(first + later, fault);
                let done = objects.run();
                if objects.0.traffic().requests <= first + later {
                    assert_eq!(done.unwrap().chunks, 6);
                    break;
                }
                let found = objects.content("v.nc").unwrap();
                match done {
                    Ok(joined) => assert_eq!(joined.chunks, 6),
                    Err(_) => failures += 1,
                }
                for part in ["a", "b"] {
                    assert!(
                        objects.content(part).is_none() || part_key(&objects.at(part)).unwrap().is_some()
                    );
                }
                if found != b"before" {
                    let file = File::from_bytes(found).unwrap();
                    assert_eq!(file.variable("v").unwrap().get_value::<i32, _>([3, 9]).unwrap(), 2);
                }
                objects.run().unwrap();
            }
            assert!(failures > 5, "{fault:?}: {failures}");
        }
    }
}

#[test]
fn changed_bytes_of_a_part_end_in_an_error_or_in_other_values() {
    let folder = tempfile::tempdir().unwrap();
    let (plan, here) = (simple(), at(folder.path(), "p"));
    write(&plan, &here, &region(&[0, 0], &[4, 10]), 7).unwrap();
    let whole = std::fs::read(folder.path().join("p")).unwrap();
    let mut refused = 0;
    for at_byte in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at_byte] ^= 0x55;
        std::fs::write(folder.path().join("p"), &changed).unwrap();
        match join(&plan, &[at(folder.path(), "p")], &at(folder.path(), "v.nc")) {
            Err(error) => {
                assert_eq!(error.code, Code::ETRUNC, "{error}");
                refused += 1;
            }
            Ok(_) => drop(open(folder.path(), "v.nc").variable("v").unwrap().get_values::<i32, _>(..)),
        }
    }
    assert!(refused > 100, "{refused}");
}

/// The number of processes that are killed: 100 with `FERROCDF_EVERY`, else a few.
fn kills() -> u64 {
    if std::env::var_os("FERROCDF_EVERY").is_some() { 100 } else { 6 }
}

/// The folder that the process of [`killed_processes_leave_no_half_file`] works in.
const FOLDER: &str = "FERROCDF_TEST_PARTS_FOLDER";

/// Side of the variable of the processes that are killed, and of its chunks.
const SIDE: u64 = 512;
const CHUNK: u64 = 64;

/// What the killed process does again and again: it writes all parts that are missing, joins them, and removes the parts.
#[test]
#[ignore = "run by `killed_processes_leave_no_half_file`"]
fn process_that_is_killed() {
    let folder = std::env::var_os(FOLDER).unwrap();
    let folder = Path::new(&folder);
    loop {
        work(folder).unwrap();
        (0..SIDE / CHUNK).for_each(|number| std::fs::remove_file(folder.join(number.to_string())).unwrap());
    }
}

fn work(folder: &Path) -> Result<()> {
    let plan = at(folder, "plan.nc");
    let mut parts = vec![];
    for number in 0..SIDE / CHUNK {
        let part = at(folder, &number.to_string());
        if part_key(&part)?.is_none() {
            let writer = PartWriter::create(&plan, &part, "whole")?;
            let rows = region(&[number * CHUNK, 0], &[CHUNK, SIDE]);
            let values: Vec<u32> = (0..CHUNK * SIDE).map(|at| (number * CHUNK * SIDE + at) as u32).collect();
            let _exact = writer.write("v", &rows, In::new(&values))?;
            writer.finish()?;
        }
        parts.push(part);
    }
    join(&plan, &parts, &at(folder, "v.nc")).map(drop)
}

#[test]
fn killed_processes_leave_no_half_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = ferrocdf::create(folder.path().join("plan.nc")).unwrap();
    file.add_dimension("y", SIDE).unwrap();
    file.add_dimension("x", SIDE).unwrap();
    let v = file.build_variable("v", Atomic::Uint, &["y", "x"]).chunks(&[CHUNK; 2]).shuffle().deflate(1);
    v.create().unwrap();
    file.close().unwrap();
    let mut rng = Rng::new(5);
    for kill in 0..kills() {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["parts::process_that_is_killed", "--exact", "--ignored"])
            .env(FOLDER, folder.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(20 + rng.below(200)));
        assert!(process.try_wait().unwrap().is_none(), "the process ended before it was killed");
        process.kill().unwrap();
        process.wait().unwrap();
        for name in names(folder.path()).iter().filter(|name| name.len() == 1) {
            assert!(part_key(&at(folder.path(), name)).unwrap().is_some(), "part {name} after kill {kill}");
        }
        if folder.path().join("v.nc").exists() {
            check(folder.path());
        }
        if kill % 5 == 0 {
            work(folder.path()).unwrap();
            check(folder.path());
        }
    }
}

fn check(folder: &Path) {
    let values = open(folder, "v.nc").variable("v").unwrap().get_values::<u32, _>(..).unwrap();
    assert_eq!(values.len() as u64, SIDE * SIDE);
    assert!(values.iter().enumerate().all(|(at, &value)| value == at as u32));
}
