//! What stands at the target of `nccopy` and `ncgen` when they succeed, fail, or are stopped.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ferrocdf::model::{Chunking, Filter};
use ferrocdf::{CreateOptions, File, FileMut, Format};
use ferrocdf_tools::ncgen::Program;

const TEXT: &[u8] = b"netcdf set { dimensions: x = 2; variables: int v(x); data: v = 1, 2; }";
/// The last value does not fit its place in the grammar, so the text fails when data was written.
const WRONG: &[u8] = b"netcdf set { dimensions: x = 2; variables: int v(x), w(x); data: v = 1, 2; w = } }";

fn ncgen(args: &[&str], text: &[u8]) -> (u8, String) {
    let mut errors = vec![];
    let args = ["ncgen"].iter().chain(args).map(OsString::from);
    let code = ferrocdf_tools::ncgen::run(Program::Ncgen, args, &mut &*text, &mut vec![], &mut errors);
    (code, String::from_utf8(errors).unwrap())
}

fn nccopy(args: &[&str]) -> (u8, String) {
    let mut errors = vec![];
    let args = ["nccopy"].iter().chain(args).map(OsString::from);
    let code = ferrocdf_tools::nccopy::run(args, &mut errors);
    (code, String::from_utf8(errors).unwrap())
}

/// The names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A file whose second variable has a chunk that cannot be decoded.
fn damaged(path: &Path) {
    let file = FileMut::create(path, &CreateOptions::format(Format::NETCDF4)).unwrap();
    file.add_dimension("x", 4000).unwrap();
    for name in ["whole", "damaged"] {
        let var = file.add_variable::<i32>(name, &["x"]).unwrap().id();
        let storage = |model: &mut ferrocdf::Model| {
            let storage = &mut model.var_mut(var).storage;
            storage.chunking = Some(Chunking::Chunked(vec![4000]));
            storage.set_filter(Filter::DEFLATE, vec![1]);
            Ok(())
        };
        file.define(storage).unwrap();
    }
    let values: Vec<i32> = (0..4000).map(|at: i32| at.wrapping_mul(40503) % 9973).collect();
    for name in ["whole", "damaged"] {
        file.variable_mut(name).unwrap().put_values(&values, ..).unwrap();
    }
    file.close().unwrap();
    // The chunk of the second variable is the last run of bytes that begins as deflate data does.
    let mut bytes = fs::read(path).unwrap();
    let at = bytes.windows(2).rposition(|pair| pair == b"\x78\x01" || pair == b"\x78\x5e").unwrap();
    bytes[at + 200..at + 400].fill(0xff);
    fs::write(path, bytes).unwrap();
}

#[test]
fn copy_that_fails_leaves_nothing_and_keeps_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let [source, copy] = ["source.nc", "copy.nc"].map(|name| folder.path().join(name));
    damaged(&source);
    // Copies that decode the chunks.
    for args in [&["-3"][..], &["-5", "-w"], &["-d", "2"], &["-F", "none"]] {
        let args = [args, &[text(&source), text(&copy)]].concat();
        let (code, said) = nccopy(&args);
        assert!(code == 1 && said.contains("/damaged"), "{said}");
        assert_eq!(names(folder.path()), ["source.nc"], "{args:?}");
        fs::write(&copy, "old").unwrap();
        let (code, said) = nccopy(&args);
        assert!(code == 1 && !said.contains(".ferrocdf-"), "{said}");
        assert_eq!(fs::read(&copy).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["copy.nc", "source.nc"], "{args:?}");
        fs::remove_file(&copy).unwrap();
    }
}

#[test]
fn text_that_is_wrong_behind_data_leaves_nothing_and_keeps_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.nc");
    for kind in ["-3", "-4", "-5"] {
        let args = [kind, "-o", text(&path)];
        assert_eq!(ncgen(&args, WRONG).0, 1);
        assert_eq!(names(folder.path()), [""; 0]);
        fs::write(&path, "old").unwrap();
        assert_eq!(ncgen(&args, WRONG).0, 1);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["out.nc"]);
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn errors_name_the_target_as_it_was_given() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("no/such/folder.nc");
    let source = folder.path().join("source.nc");
    assert_eq!(ncgen(&["-o", text(&source)], TEXT).0, 0);
    for said in [ncgen(&["-o", text(&path)], TEXT).1, nccopy(&[text(&source), text(&path)]).1] {
        assert!(said.contains(text(&path)) && !said.contains(".ferrocdf-"), "{said}");
    }
}

#[test]
fn file_behind_symbolic_links_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let [source, place, link] = ["source.nc", "place", "link.nc"].map(|name| folder.path().join(name));
    fs::create_dir(&place).unwrap();
    symlink("place/second.nc", &link).unwrap();
    symlink("file.nc", place.join("second.nc")).unwrap();
    assert_eq!(ncgen(&["-o", text(&source)], TEXT).0, 0);
    // The first time the links lead nowhere.
    for args in [["-3"], ["-4"]] {
        assert_eq!(nccopy(&[&args[..], &[text(&source), text(&link)]].concat()).0, 0);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(names(&place), ["file.nc", "second.nc"]);
        let file = File::open(place.join("file.nc")).unwrap();
        assert_eq!(file.format().is_classic_file(), args == ["-3"]);
    }
}

#[test]
fn mode_of_the_replaced_file_is_kept_and_new_files_have_that_of_any_new_file() {
    let folder = tempfile::tempdir().unwrap();
    let [path, other] = ["out.nc", "other"].map(|name| folder.path().join(name));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    fs::write(&other, "").unwrap();
    assert_eq!(ncgen(&["-o", text(&path)], TEXT).0, 0);
    assert_eq!(mode(&path), mode(&other));
    for wanted in [0o640, 0o604] {
        fs::set_permissions(&path, Permissions::from_mode(wanted)).unwrap();
        assert_eq!(ncgen(&["-4", "-o", text(&path)], TEXT).0, 0);
        assert_eq!(mode(&path), wanted);
    }
}

#[test]
fn targets_that_cannot_be_renamed_to_get_the_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.nc");
    assert_eq!(ncgen(&["-o", text(&path)], TEXT), (0, String::new()));
    assert_eq!(nccopy(&[text(&path), "/dev/null"]), (0, String::new()));
    // Standard output is a file that the caller has open.
    let out = fs::File::create(&path).unwrap();
    let mut run = Command::new(env!("CARGO_BIN_EXE_ncgen"));
    let mut run = run.args(["-3", "-o", "/dev/stdout"]).stdin(Stdio::piped()).stdout(out).spawn().unwrap();
    run.stdin.take().unwrap().write_all(TEXT).unwrap();
    assert!(run.wait().unwrap().success());
    assert_eq!(File::open(&path).unwrap().format(), Format::CLASSIC);
    // A folder that takes no new file.
    fs::set_permissions(folder.path(), Permissions::from_mode(0o555)).unwrap();
    let done = ncgen(&["-4", "-o", text(&path)], TEXT);
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    assert_eq!(done, (0, String::new()));
    assert_eq!(File::open(&path).unwrap().format(), Format::NETCDF4);
    assert_eq!(names(folder.path()), ["out.nc"]);
}

#[test]
fn failing_tool_keeps_a_file_in_a_folder_that_takes_no_new_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.nc");
    assert_eq!(ncgen(&["-o", text(&path)], TEXT), (0, String::new()));
    let before = fs::read(&path).unwrap();
    let run = |text: &[u8]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ncgen"));
        command.args(["-4", "-o"]).arg(&path).stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut run = command.spawn().unwrap();
        run.stdin.take().unwrap().write_all(text).unwrap();
        run.wait_with_output().unwrap().status.code()
    };
    fs::set_permissions(folder.path(), Permissions::from_mode(0o555)).unwrap();
    let failed = run(WRONG);
    let kept = fs::read(&path).unwrap();
    let done = run(TEXT);
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    assert_eq!((failed, done), (Some(1), Some(0)));
    assert!(kept == before, "a tool that fails changes nothing");
    assert_eq!(File::open(&path).unwrap().format(), Format::NETCDF4);
    assert_eq!(names(folder.path()), ["out.nc"]);
}

#[test]
fn devices_and_pipes_take_files_of_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let run = |kind: &str, target: &str| {
        let mut run = Command::new(env!("CARGO_BIN_EXE_ncgen"));
        let run = run.args([kind, "-o", target]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut run = run.unwrap();
        run.stdin.take().unwrap().write_all(TEXT).unwrap();
        run.wait_with_output().unwrap()
    };
    for kind in ["-3", "-4"] {
        assert!(run(kind, "/dev/null").status.success(), "{kind}");
        let output = run(kind, "/dev/stdout");
        assert!(output.status.success());
        let path = folder.path().join("out.nc");
        fs::write(&path, output.stdout).unwrap();
        let file = File::open(&path).unwrap();
        assert_eq!(file.variable("v").unwrap().get_values::<i32, _>(..).unwrap(), [1, 2], "{kind}");
    }
}

#[test]
fn limit_on_the_size_of_files_is_an_error_that_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let text = b"netcdf big { dimensions: x = 400000; variables: double v(x); data: v = 1; }";
    for kind in ["-3", "-4"] {
        let mut run = Command::new("sh");
        run.args(["-c", "ulimit -f 100; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_ncgen")]);
        run.args([kind, "-o", "out.nc"]).current_dir(folder.path());
        let mut run = run.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        run.stdin.take().unwrap().write_all(text).unwrap();
        let output = run.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("File too large"), "{said}");
        assert_eq!(names(folder.path()), [""; 0]);
    }
}

#[test]
fn file_that_another_writer_holds_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let [source, held] = ["source.nc", "held.nc"].map(|name| folder.path().join(name));
    assert_eq!(ncgen(&["-o", text(&source)], TEXT).0, 0);
    let file = FileMut::create(&held, &CreateOptions::format(Format::NETCDF4)).unwrap();
    file.add_dimension("mine", 3).unwrap();
    file.sync().unwrap();
    for (code, said) in [nccopy(&["-3", text(&source), text(&held)]), ncgen(&["-4", "-o", text(&held)], TEXT)]
    {
        assert!(code == 1 && said.contains(text(&held)) && said.contains("holds its lock"), "{said}");
    }
    file.close().unwrap();
    assert!(File::open(&held).unwrap().model().dims().iter().any(|dim| dim.name == "mine"));
    assert_eq!(names(folder.path()), ["held.nc", "source.nc"]);
}

#[test]
fn signal_that_ends_the_tool_removes_the_temporary_file() {
    const INTERRUPT: i32 = 2;
    const TERMINATE: i32 = 15;
    for signal in [TERMINATE, INTERRUPT] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.nc");
        // Programs in the background of a shell are started with this signal ignored, and so are theirs.
        let mut run = Command::new("env");
        run.args(["--default-signal=INT", env!("CARGO_BIN_EXE_ncgen"), "-4", "-o", text(&path), "-"]);
        let mut run = run.stdin(Stdio::piped()).spawn().unwrap();
        // The text does not end, so that the tool waits for more of it.
        let mut input = run.stdin.take().unwrap();
        let start = b"netcdf set { dimensions: x = UNLIMITED; variables: int v(x); data: v = ";
        input.write_all(start).unwrap();
        let begun = Instant::now();
        while names(folder.path()).is_empty() {
            // Enough for the first piece of data, with which the file is made.
            let _ = input.write_all(&b"1234567, ".repeat(100_000));
            assert!(begun.elapsed() < Duration::from_secs(60), "no file is made");
        }
        let pid = run.id().to_string();
        assert!(Command::new("kill").args([&format!("-{signal}"), &pid]).status().unwrap().success());
        assert_eq!(run.wait().unwrap().signal(), Some(signal));
        assert_eq!(names(folder.path()), [""; 0]);
    }
}

#[test]
fn signal_that_ends_nccopy_removes_the_folder_of_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source.nc");
    let file = FileMut::create(&source, &CreateOptions::format(Format::NETCDF4)).unwrap();
    file.add_dimension("x", 100_000).unwrap();
    file.add_variable::<i32>("v", &["x"]).unwrap();
    let values: Vec<i32> = (1..=100_000).collect();
    file.variable_mut("v").unwrap().put_values(&values, ..).unwrap();
    file.close().unwrap();
    let copy = folder.path().join("copy.zarr");
    // Without care some of these copies leave a folder: files are still made in it while it is removed.
    for (number, signal) in ["-INT", "-TERM"].into_iter().cycle().take(8).enumerate() {
        let mut run = Command::new("env");
        run.args(["--default-signal=INT", env!("CARGO_BIN_EXE_nccopy"), "-c", "v:4"]);
        let mut run = run.args([&source, &copy]).stderr(Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        let is_writing = || {
            let names = names(folder.path());
            names.iter().any(|name| folder.path().join(name).join("v/c").is_dir())
        };
        while !is_writing() {
            assert!(begun.elapsed() < Duration::from_secs(60), "no store is made");
        }
        std::thread::sleep(Duration::from_millis(10 * number as u64));
        assert!(Command::new("kill").args([signal, &run.id().to_string()]).status().unwrap().success());
        let ended = run.wait().unwrap();
        assert!(ended.signal().is_some(), "{ended}");
        assert_eq!(names(folder.path()), ["source.nc"], "{signal}");
    }
}

/// Starts `ncgen` with a text that does not end, so that the tool waits for more of it, and returns it once it has made a temporary folder.
#[cfg(target_os = "linux")]
fn waiting_ncgen(folder: &Path, store: &str) -> (std::process::Child, std::path::PathBuf) {
    let before = names(folder);
    let mut run = Command::new(env!("CARGO_BIN_EXE_ncgen"));
    run.args(["-k", "nczarr3", "-o", text(&folder.join(store)), "-"]).stdin(Stdio::piped());
    let mut run = run.stderr(Stdio::null()).spawn().unwrap();
    let input = run.stdin.as_mut().unwrap();
    input.write_all(b"netcdf set { dimensions: x = UNLIMITED; variables: int v(x); data: v = ").unwrap();
    let begun = Instant::now();
    loop {
        let _ = input.write_all(&b"1234567, ".repeat(100_000));
        let made = names(folder).into_iter().find(|name| !before.contains(name));
        match made.map(|name| folder.join(name)) {
            Some(made) if made.join("zarr.json").exists() => return (run, made),
            _ => assert!(begun.elapsed() < Duration::from_secs(60), "no store is made"),
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn next_store_removes_the_folder_of_a_killed_tool_and_not_that_of_one_that_lives() {
    for next in ["out.zarr", "out.zarr.zip"] {
        let folder = tempfile::tempdir().unwrap();
        let (mut killed, left) = waiting_ncgen(folder.path(), "killed.zarr");
        let (mut living, used) = waiting_ncgen(folder.path(), "living.zarr");
        killed.kill().unwrap();
        killed.wait().unwrap();
        assert!(left.is_dir() && used.is_dir());
        let store = folder.path().join(next);
        assert_eq!(ncgen(&["-k", "nczarr3", "-o", text(&store)], TEXT), (0, String::new()));
        assert!(!left.exists() && used.join("zarr.json").exists(), "{:?}", names(folder.path()));
        assert!(Command::new("kill").arg(living.id().to_string()).status().unwrap().success());
        living.wait().unwrap();
        assert_eq!(names(folder.path()), [next]);
    }
}

#[test]
fn copy_into_or_over_the_input_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let [store, link, elsewhere] = ["in.zarr", "link", "elsewhere"].map(|name| folder.path().join(name));
    assert_eq!(ncgen(&["-k", "nczarr3", "-o", text(&store)], TEXT), (0, String::new()));
    fs::create_dir(&elsewhere).unwrap();
    symlink("../in.zarr", elsewhere.join("to_store")).unwrap();
    symlink("in.zarr", &link).unwrap();
    symlink("in.zarr/new.nc", folder.path().join("to_new")).unwrap();
    let all = || Command::new("find").arg(folder.path()).output().unwrap().stdout;
    let before = all();
    let url = format!("file://{}#mode=zarr,file", text(&store));
    let overwrites = ": output would overwrite input\n";
    let within = ": output would lie within input\n";
    for (input, output, said) in [
        ("in.zarr", "in.zarr", overwrites),
        ("in.zarr/", "link", overwrites),
        ("link", "elsewhere/../in.zarr", overwrites),
        (&*url, "elsewhere/to_store", overwrites),
        ("in.zarr", &*url, overwrites),
        ("in.zarr/v", "in.zarr", overwrites),
        ("in.zarr", "in.zarr/sub.zarr", within),
        ("link", "in.zarr/v/sub.zarr.zip", within),
        ("in.zarr", "link/sub.nc", within),
        ("in.zarr", "elsewhere/to_store/new/sub.zarr", within),
        ("in.zarr", "to_new", within),
        (&*url, "in.zarr/sub.zarr", within),
    ] {
        let mut run = Command::new(env!("CARGO_BIN_EXE_nccopy"));
        let run = run.args([input, output]).current_dir(folder.path()).output().unwrap();
        let told = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(run.status.code() == Some(1) && told.ends_with(said), "{input} {output}: {told}");
        assert_eq!(all(), before, "{input} {output}");
    }
    // A name that only begins alike is another one.
    assert_eq!(nccopy(&[text(&store), &format!("{}2.zarr", text(&store))]), (0, String::new()));
}
