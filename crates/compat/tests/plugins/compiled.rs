//! Plugins that are compiled here: one that asks for all that it may learn, and those that misbehave.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use ferrocdf::model::Endian;
use ferrocdf::{Code, Error, plugins};

use crate::files::{bytes, filter, ours, printed, read, stored, write, write_through};
use crate::folders;

/// The id of `scramble.c`.
const SCRAMBLE: u32 = 40001;

/// Parameters: a key of 64 bits, and bytes to turn by.
const KEY: [u32; 3] = [0x89ab_cdef, 0x0123_4567, 3];

/// Compiles a source of `c/plugins` into a folder.
pub fn compile(source: &str, options: &[&str], file: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("c/plugins").join(source);
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-Wall", "-Werror", "-shared", "-fPIC"]).args(options).arg("-o").arg(file).arg(source);
    assert!(cc.status().expect("a C compiler").success(), "{cc:?}");
}

#[test]
fn a_plugin_learns_what_the_reference_tells_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let _turn = folders::only(folder.path());
    compile("scramble.c", &[], &folder.path().join("libscramble.so"));
    let path = folder.path().join("ours.nc");
    let values = bytes(400 * 50);

    let learned = |size, order, sign| [&KEY[..], &[size, order, sign, 1000, 25]].concat();
    write(&path, filter(SCRAMBLE, &KEY), None, &values).expect("a file");
    assert_eq!(stored(&path), [filter(SCRAMBLE, &learned(4, 0, 1))]);
    assert_eq!(read::<i32>(&path).expect("values"), values);
    assert_eq!(ours(&path), printed(&path, folder.path()));

    let shorts: Vec<u16> = values.iter().map(|&value| value as u16).collect();
    write(&path, filter(SCRAMBLE, &KEY), Some(Endian::Big), &shorts).expect("a file");
    assert_eq!(stored(&path), [filter(SCRAMBLE, &learned(2, 1, 0))]);
    assert_eq!(read::<u16>(&path).expect("values"), shorts);
    assert_eq!(ours(&path), printed(&path, folder.path()));

    // What the reference writes with it.
    let (plain, theirs) = (folder.path().join("plain.nc"), folder.path().join("theirs.nc"));
    write_through(&plain, &[], None, &values).expect("a file");
    let spec = format!("v,{SCRAMBLE},{},{},{}", KEY[0], KEY[1], KEY[2]);
    let mut nccopy = Command::new("nccopy");
    nccopy.args(["-F", &spec]).args([&plain, &theirs]).env("HDF5_PLUGIN_PATH", folder.path());
    assert!(nccopy.status().expect("the reference's nccopy must be installed").success());
    // The reference makes small chunks one.
    let params = [&KEY[..], &[4, 0, 1, 400 * 50, 50]].concat();
    assert_eq!(stored(&theirs), [filter(SCRAMBLE, &params)]);
    assert_eq!(read::<i32>(&theirs).expect("values"), values);
}

#[test]
fn chunks_of_a_filter_that_is_missing_are_copied_as_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let empty = tempfile::tempdir().expect("a folder");
    let [path, copy] = ["file.nc", "copy.nc"].map(|name| folder.path().join(name));
    let values = bytes(400 * 50);
    {
        let _turn = folders::only(folder.path());
        compile("scramble.c", &[], &folder.path().join("libscramble.so"));
        write(&path, filter(SCRAMBLE, &KEY), None, &values).expect("a file");
    }
    {
        let _turn = folders::only(empty.path());
        assert!(read::<i32>(&path).is_err());
        let run = crate::nccopy_tool::ours(&[path.to_str().expect("UTF-8"), copy.to_str().expect("UTF-8")]);
        assert_eq!(run.code, Some(0), "{run:?}");
    }
    let _turn = folders::only(folder.path());
    assert_eq!(stored(&copy), stored(&path));
    assert_eq!(read::<i32>(&copy).expect("values"), values);
}

#[test]
fn parameters_that_a_plugin_does_not_take_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let _turn = folders::only(folder.path());
    compile("scramble.c", &[], &folder.path().join("libscramble.so"));
    let path = folder.path().join("file.nc");
    let error = write(&path, filter(SCRAMBLE, &[1]), None, &bytes(400 * 50)).expect_err("one parameter");
    assert_eq!(error.code, Code::EFILTER);
    assert!(error.what.contains("libscramble.so") && error.what.contains("40001"), "{error}");
    // A filter of netCDF may be left out, so that it says that it does not apply stops nobody. As in the HDF5 library.
    let floats = [1.5f32; 400 * 50];
    write(&path, filter(SCRAMBLE, &KEY), None, &floats).expect("a file");
    assert_eq!(read::<f32>(&path).expect("values"), floats);
    assert_eq!(ours(&path), printed(&path, folder.path()));
    // Nobody has this one.
    let error = write(&path, filter(SCRAMBLE + 1, &[]), None, &bytes(400 * 50)).expect_err("no plugin");
    assert_eq!(error.code, Code::ENOFILTER);
    let place = folder.path().display().to_string();
    assert!(error.what.contains(&place) && error.what.contains("40002"), "{error}");
}

/// The ways of `hostile.c`.
const WAYS: [&str; 15] = [
    "FAILS",
    "TOO_LONG",
    "NO_MEMORY",
    "GROWS",
    "LIES",
    "PICKY",
    "ALONE",
    "OLD",
    "NO_INFO",
    "OTHER_KIND",
    "NO_ENCODER",
    "WANTS",
    "ASKS",
    "ASKS_MORE",
    "SLOW",
];

pub fn id_of(way: &str) -> u32 {
    41000 + WAYS.iter().position(|other| *other == way).expect("a way") as u32
}

pub fn compile_hostile(way: &str, folder: &Path) {
    compile("hostile.c", &[&format!("-DWAY={way}")], &folder.join(format!("lib{way}.so")));
}

#[test]
fn chunks_that_an_optional_filter_leaves_out_are_marked() {
    let folder = tempfile::tempdir().expect("a folder");
    let _turn = folders::only(folder.path());
    compile_hostile("PICKY", folder.path());
    let (path, values) = (folder.path().join("picky.nc"), bytes(400 * 50));
    write(&path, filter(id_of("PICKY"), &[]), None, &values).expect("a file");
    assert_eq!(read::<i32>(&path).expect("values"), values);
    assert_eq!(ours(&path), printed(&path, folder.path()));
    // Both kinds of chunks are there: some bytes lie in the file as they are, some turned round.
    let file = std::fs::read(&path).expect("a file");
    let first = |at: usize| values[at].to_le_bytes();
    let lies = |bytes: &[u8]| file.windows(bytes.len()).any(|window| window == bytes);
    let row =
        |at: usize| values[at..at + 25].iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let chunks = (0..10).flat_map(|down| [down * 40 * 50, down * 40 * 50 + 25]);
    let (mut plain, mut packed) = (0, 0);
    for at in chunks {
        let turned: Vec<u8> = row(at).iter().map(|byte| !byte).collect();
        match first(at)[0] % 2 {
            1 => plain += usize::from(lies(&row(at))),
            _ => packed += usize::from(lies(&turned)),
        }
    }
    assert!(plain > 0 && packed > 0 && plain + packed == 20, "{plain} plain, {packed} packed");
}

#[test]
fn hostile_plugins_end_in_errors() {
    let folder = tempfile::tempdir().expect("a folder");
    let _turn = folders::only(folder.path());
    let (path, values) = (folder.path().join("file.nc"), bytes(400 * 50));
    for way in ["FAILS", "TOO_LONG", "NO_MEMORY", "GROWS", "LIES"] {
        compile_hostile(way, folder.path());
        write(&path, filter(id_of(way), &[]), None, &values).unwrap_or_else(|error| panic!("{way}: {error}"));
        let error: Error = read::<i32>(&path).expect_err(way);
        assert_eq!(error.code, Code::EHDFERR, "{way}: {error}");
        let names = [&id_of(way).to_string()[..], &format!("lib{way}.so"), "v"];
        assert!(names.iter().all(|name| error.what.contains(name)), "{way}: {error}");
    }
}

#[test]
fn one_thread_at_a_time_is_in_a_plugin() {
    let folder = tempfile::tempdir().expect("a folder");
    let _turn = folders::only(folder.path());
    compile_hostile("ALONE", folder.path());
    let (path, values) = (folder.path().join("file.nc"), bytes(400 * 5000));
    write(&path, filter(id_of("ALONE"), &[]), None, &values).expect("a file");
    assert_eq!(read::<i32>(&path).expect("values"), values);
}

#[test]
fn nobody_waits_for_a_library_that_is_not_needed() {
    let folder = tempfile::tempdir().expect("a folder");
    let _turn = folders::only(folder.path());
    compile_hostile("PICKY", folder.path());
    compile_hostile("SLOW", folder.path());
    let (path, values) = (folder.path().join("file.nc"), bytes(400 * 50));
    write(&path, filter(id_of("PICKY"), &[]), None, &values).expect("a file");
    let began = Instant::now();
    std::thread::scope(|threads| {
        let slow = threads.spawn(|| plugins::has_filter(id_of("SLOW")));
        std::thread::sleep(Duration::from_millis(500));
        assert_eq!(read::<i32>(&path).expect("values"), values);
        assert!(began.elapsed() < Duration::from_secs(2), "it took {:?}", began.elapsed());
        assert!(slow.join().expect("no panic") && began.elapsed() > Duration::from_secs(3));
    });
}

#[test]
fn what_is_no_plugin_is_passed_over_and_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let _turn = folders::only(folder.path());
    std::fs::write(folder.path().join("liba_text.so"), "this is no library").expect("a file");
    std::fs::write(folder.path().join("notes.txt"), "not even a name").expect("a file");
    for way in ["NO_INFO", "OTHER_KIND", "WANTS", "OLD", "NO_ENCODER"] {
        compile_hostile(way, folder.path());
    }
    // A good one of a number that a bad one has, behind it.
    let good = format!("-DID={}", id_of("OTHER_KIND"));
    compile("hostile.c", &["-DWAY=PICKY", &good], &folder.path().join("libz_good.so"));

    let found = plugins::catalog();
    let name = |found: &plugins::Found| found.file.file_name().map(OsStr::to_os_string).unwrap_or_default();
    let reason = |file: &str| {
        let found = found.iter().find(|found| name(found) == file).unwrap_or_else(|| panic!("{file}"));
        found.rejected.clone().unwrap_or_default()
    };
    assert_eq!(found.len(), 7, "{found:?}");
    assert!(reason("liba_text.so").contains("ELF"), "{}", reason("liba_text.so"));
    assert!(reason("libWANTS.so").contains("H5Dopen2"), "{}", reason("libWANTS.so"));
    assert!(!reason("libNO_INFO.so").is_empty() && !reason("libOTHER_KIND.so").is_empty());
    assert_eq!((reason("libOLD.so"), reason("libz_good.so")), Default::default());

    let (path, values) = (folder.path().join("file.nc"), bytes(400 * 50));
    for id in [id_of("OLD"), id_of("OTHER_KIND")] {
        write(&path, filter(id, &[]), None, &values).expect("a file");
        assert_eq!(read::<i32>(&path).expect("values"), values);
    }
    let error = write(&path, filter(id_of("NO_ENCODER"), &[]), None, &values).expect_err("no encoder");
    assert!(error.what.contains("libNO_ENCODER.so"), "{error}");
}

#[test]
fn parameters_that_were_set_for_other_chunks_are_not_taken() {
    let folder = tempfile::tempdir().expect("a folder");
    let _turn = folders::only(folder.path());
    compile("scramble.c", &[], &folder.path().join("libscramble.so"));
    let [path, copy] = ["file.nc", "copy.nc"].map(|name| folder.path().join(name));
    let values = bytes(400 * 50);
    write(&path, filter(SCRAMBLE, &KEY), None, &values).expect("a file");
    let text = |path: &Path| path.to_str().expect("a path of UTF-8").to_string();
    let copied = |args: &[&str]| {
        let (path, copy) = (text(&path), text(&copy));
        crate::nccopy_tool::ours(&[args, &[&path[..], &copy]].concat())
    };
    // The same chunks keep them, though they are small.
    assert_eq!(copied(&[]).code, Some(0));
    assert_eq!((stored(&copy), read::<i32>(&copy).expect("values")), (stored(&path), values.clone()));
    let refused = copied(&["-c", "row/50,column/50"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    let anew = format!("v,{SCRAMBLE},{},{},{}", KEY[0], KEY[1], KEY[2]);
    assert_eq!(copied(&["-c", "row/50,column/50", "-F", &anew]).code, Some(0));
    let learned = [&KEY[..], &[4, 0, 1, 2500, 50]].concat();
    assert_eq!(stored(&copy), [filter(SCRAMBLE, &learned)]);
    assert_eq!(read::<i32>(&copy).expect("values"), values);
    assert_eq!(ours(&copy), printed(&copy, folder.path()));
    assert_eq!(copied(&["-c", "row/50,column/50", "-F", "v,none"]).code, Some(0));
    assert_eq!((stored(&copy), read::<i32>(&copy).expect("values")), (vec![], values));
}

/// The tables of "NetCDF-4 Filter Support", "Using Plugin Libraries" and "Filter Defaults Library": a filter and its codec
/// may be in libraries of their own or in one, and what is there for want of others gives way to them.
#[test]
fn filters_and_codecs_are_paired() {
    let folder = tempfile::tempdir().expect("a folder");
    let _turn = folders::only(folder.path());
    let id = id_of("PICKY");
    let number = format!("-DID={id}");
    let put = |name: &str, source: &str, options: &[&str]| {
        compile(source, &[&[&number[..]], options].concat(), &folder.path().join(name));
    };
    let named = || plugins::codec(id).map(|codec| codec.name().to_string());
    let listed = || {
        plugins::catalog().iter().map(|found| (found.filters.len(), found.codecs.len())).collect::<Vec<_>>()
    };
    assert_eq!((named(), listed()), (None, vec![]));
    put("liba.so", "hostile.c", &["-DWAY=PICKY"]);
    assert_eq!((named(), listed()), (None, vec![(1, 0)]));
    put("libb.so", "codec.c", &["-DNAME=\"spare\"", "-DDEFAULTS"]);
    assert_eq!((named().as_deref(), listed()), (Some("spare"), vec![(1, 0), (0, 1)]));
    put("libc.so", "codec.c", &["-DNAME=\"own\""]);
    assert_eq!((named().as_deref(), listed()), (Some("own"), vec![(1, 0), (0, 1), (0, 1)]));
    assert!(plugins::codec_named("spare").is_some(), "nobody else is called so");
    let codec = plugins::codec_named("own").expect("it was found above");
    let json = codec.to_json(&[7, 8]).expect("two parameters");
    assert_eq!(json, r#"{"id": "own", "first": 7, "count": 2}"#);
    assert_eq!(codec.to_hdf5(&json), Ok(vec![7, 7]));
    // Both in one library.
    for name in ["liba.so", "libc.so"] {
        std::fs::remove_file(folder.path().join(name)).expect("it was made");
    }
    put("libd.so", "codec.c", &["-DNAME=\"both\"", "-DFILTER"]);
    assert_eq!((named().as_deref(), listed()), (Some("both"), vec![(0, 1), (1, 1)]));
}
