//! Variables, groups and dimensions that are taken out of a file while requests fail. The C interface cannot say it, so the
//! program is this test binary again, with the faults of `c/faults/fault.c` preloaded.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ferrocdf::model::GroupId;
use ferrocdf::{CreateOptions, FileMut, Format};

use crate::{folder, number};

/// Names the file to the process that edits it, and how it goes on after an error.
const FILE: &str = "FERROCDF_FAULTS_FILE";
const WAY: &str = "FERROCDF_FAULTS_WAY";
/// How often a step is tried.
const TRIES: usize = 12;
/// One in how many cases a run takes.
const SHARE: u64 = 9;
/// An attribute that the file has after every step.
const TITLE: (&str, &str) = ("title", "what stays");

/// The file that the story starts from.
fn make(path: &Path) -> ferrocdf::Result<()> {
    let file = FileMut::create(path, &CreateOptions::format(Format::NETCDF4))?;
    file.add_unlimited_dimension("time")?;
    file.add_dimension("x", 40)?;
    file.define(|model| model.def_group(GroupId::ROOT, b"deep").map(drop))?;
    for name in ["a", "b", "x", "time"] {
        let dims = match name {
            "x" => &["x"][..],
            "time" => &["time"],
            _ => &["time", "x"],
        };
        file.add_variable::<f64>(name, dims)?;
    }
    file.define(|model| {
        let group = model.find_group(GroupId::ROOT, b"deep").expect("just made");
        let dim = model.def_dim(group, b"only", Some(9))?;
        model.def_var(group, b"strings", ferrocdf::Atomic::String.into(), &[dim]).map(drop)
    })?;
    put(&file)?;
    file.put_attribute(TITLE.0, TITLE.1)?;
    file.close()
}

/// Puts the values of the story to the variables that are there, each its own.
fn put(file: &FileMut) -> ferrocdf::Result<()> {
    for (name, value) in [("a", 1.5f64), ("b", 2.5), ("x", 3.5), ("time", 4.5)] {
        let Ok(variable) = file.variable_mut(name) else { continue };
        match name {
            "x" => variable.put_values(&[value; 40], ..)?,
            "time" => variable.put_values(&[value; 5], ..5)?,
            _ => variable.put_values(&[value; 200], (..5, ..))?,
        }
    }
    Ok(())
}

/// The steps of the story, each of which is a commit.
type Step = fn(&mut FileMut) -> ferrocdf::Result<()>;

const STEPS: &[Step] = &[
    |file| file.remove_variable("b"),
    |file| file.remove_variable("time"),
    |file| {
        file.put_attribute("history", "b is gone")?;
        file.sync()
    },
    |file| file.remove_group("deep"),
    |file| file.remove_variable("a"),
    |file| file.remove_dimension("time"),
    |file| file.remove_variable("x"),
];

/// Opens the file and does the steps; says the number of each that went well.
fn edit(path: &Path, way: &str) -> ferrocdf::Result<()> {
    let mut file = FileMut::append(path)?;
    'steps: for (number, step) in STEPS.iter().enumerate() {
        for _ in 0..TRIES {
            match step(&mut file) {
                Ok(()) => {
                    println!("did {number}");
                    continue 'steps;
                }
                Err(_) if way == "repeat" => {}
                Err(error) => {
                    match way {
                        "sync" => drop(file.sync()),
                        // Neither changes what is there, unless it goes to something else.
                        "put" => drop(put(&file).and_then(|()| file.sync())),
                        "define" => drop(file.put_attribute(TITLE.0, TITLE.1).and_then(|()| file.sync())),
                        "end" => std::process::exit(0),
                        _ => {}
                    }
                    return Err(error);
                }
            }
        }
    }
    file.close()
}

#[test]
#[ignore = "run by another test"]
fn an_editor() {
    let path = std::env::var_os(FILE).expect("the file's name");
    let way = std::env::var(WAY).expect("a way to go on");
    // The other process judges by what is said before and by what is left.
    let _ = edit(Path::new(&path), &way);
}

/// The program that edits, with faults preloaded.
fn editor(shim: &Path, file: &Path, way: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["removals::an_editor", "--exact", "--ignored", "--nocapture"]);
    command.env("LD_PRELOAD", shim).env(FILE, file).env(WAY, way);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// What the reference's `ncdump` says of a file.
fn text(path: &Path) -> String {
    // The file may be open in this process, with its lock.
    let mut command = Command::new("ncdump");
    command.env("HDF5_USE_FILE_LOCKING", "FALSE").args(["-n", "file"]).arg(path);
    let output = command.output().expect("it is installed");
    assert!(output.status.success(), "{}: {}", path.display(), String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What our `ncdump` says of a file.
fn own_text(path: &Path) -> String {
    let program = crate::named("FERROCDF_PREFIX").join("bin/ncdump");
    let output = Command::new(program).args(["-n", "file"]).arg(path).output().expect("it is installed");
    assert!(output.status.success(), "{}: {}", path.display(), String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_removal_in_which_a_request_fails_is_done_or_not() {
    let folder = folder();
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    make(&path("start")).expect("a file");
    let mut texts = vec![text(&path("start"))];
    std::fs::copy(path("start"), path("whole")).expect("a copy");
    let mut file = FileMut::append(path("whole")).expect("a file");
    for step in STEPS {
        step(&mut file).expect("nothing fails");
        texts.push(text(&path("whole")));
    }
    drop(file);
    let shim = crate::shim(folder.path());
    std::fs::copy(path("start"), path("counted")).expect("a copy");
    let counted = editor(&shim, &path("counted"), "repeat").env("FAULT_COUNT", path("count")).status();
    assert!(counted.expect("it runs").success());
    let requests: u64 =
        std::fs::read_to_string(path("count")).expect("a number").trim().parse().expect("a number");
    assert!(requests > 20, "{requests}");
    assert_eq!(text(&path("counted")), texts[STEPS.len()]);

    let share = number("FERROCDF_FAULTS").map_or(SHARE, |share| share.min(SHARE));
    let mut cases = 0u64;
    for request in 0..requests {
        for kind in ["eio", "full", "enospc"] {
            for times in [1, 10, -1] {
                for way in ["repeat", "sync", "put", "define", "drop", "end"] {
                    cases += 1;
                    if !(cases * 2_654_435_761 / 7).is_multiple_of(share) {
                        continue;
                    }
                    let file = path("edited");
                    std::fs::copy(path("start"), &file).expect("a copy");
                    let fault = format!("{request} {kind} {times}");
                    let output = editor(&shim, &file, way).env("FAULT", &fault).output().expect("it runs");
                    let said = String::from_utf8_lossy(&output.stdout);
                    let done = said.lines().filter(|line| line.contains("did ")).count();
                    assert!(output.status.success(), "{fault} {way}: {:?}", output.status);
                    let found = text(&file);
                    let at = texts.iter().position(|text| *text == found);
                    assert!(at.is_some_and(|at| at >= done), "{fault} {way}: {done} steps: {found}");
                    assert_eq!(own_text(&file), found, "{fault} {way}");
                    if way == "repeat" && times >= 0 {
                        assert_eq!(done, STEPS.len(), "{fault} {way}: repeating did not succeed");
                    }
                }
            }
        }
    }
}
