//! The reference's own C test programs, compiled against our headers and linked to our library, beside the same programs
//! on Debian's: what passes there passes here.
//!
//! Listed are all programs of `nc_test` and `nctest` that use public functions only and are for classic files, or for
//! every format. All must pass on ours; those that Debian's library fails (they test a newer release) are named.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::folder;

/// One program and how it is run.
struct Program {
    name: &'static str,
    /// Its sources if they are not just the one of its name, in `folder`.
    sources: &'static [&'static str],
    folder: &'static str,
    /// The command lines, one after the other in one folder. `@` stands for the folder of the sources.
    runs: &'static [&'static [&'static str]],
}

const fn one(name: &'static str) -> Program {
    Program { name, sources: &[], folder: "nc_test", runs: &[&[]] }
}

const fn with(name: &'static str, runs: &'static [&'static [&'static str]]) -> Program {
    Program { runs, ..one(name) }
}

const PROGRAMS: &[Program] = &[
    Program {
        name: "nc_test",
        sources: &[
            "nc_test.c",
            "error.c",
            "test_get.c",
            "test_put.c",
            "test_read.c",
            "test_write.c",
            "util.c",
        ],
        folder: "nc_test",
        runs: &[&[]],
    },
    Program {
        name: "nctest",
        sources: &[
            "add.c",
            "atttests.c",
            "cdftests.c",
            "dimtests.c",
            "driver.c",
            "emalloc.c",
            "error.c",
            "misctest.c",
            "rec.c",
            "slabs.c",
            "val.c",
            "vardef.c",
            "varget.c",
            "vargetg.c",
            "varput.c",
            "varputg.c",
            "vartests.c",
            "vputget.c",
            "vputgetg.c",
        ],
        folder: "nctest",
        runs: &[&[]],
    },
    Program { name: "tst_rename", sources: &[], folder: "nctest", runs: &[&[]] },
    one("t_nc"),
    one("tst_atts3"),
    one("tst_big_rvar"),
    one("tst_big_var"),
    one("tst_big_var2"),
    one("tst_big_var6"),
    with("tst_cdf5_begin", &[&["@/bad_cdf5_begin.nc"]]),
    one("tst_def_var_fill"),
    one("tst_default_format"),
    with("tst_diskless", &[&[], &["diskless"], &["diskless", "persist"], &["mmap"], &["mmap", "persist"]]),
    one("tst_diskless2"),
    with(
        "tst_diskless3",
        &[&["file", "file:d3.nc"], &["diskless", "persist", "file:d3.nc"], &["file", "open", "file:d3.nc"]],
    ),
    with(
        "tst_diskless4",
        &[
            &["100000000", "create"],
            &["100000000", "open"],
            &["100000000", "opendiskless"],
            &["100000000", "creatediskless"],
        ],
    ),
    one("tst_diskless6"),
    one("tst_err_enddef"),
    one("tst_formats"),
    one("tst_global_fillval"),
    one("tst_inmemory"),
    one("tst_inq_type"),
    one("tst_max_var_dims"),
    one("tst_meta"),
    one("tst_misc"),
    one("tst_names"),
    one("tst_nofill"),
    one("tst_nofill2"),
    one("tst_nofill3"),
    one("tst_norm"),
    with("tst_open_cdf5", &[&["@/bad_cdf5_begin.nc"]]),
    with("tst_open_mem", &[&["@/f03tst_open_mem.nc"]]),
    one("tst_small"),
    one("tst_utf8_phrases"),
    one("tst_utf8_validate"),
    one("quick_large_files"),
];

/// Programs that fail here, each with the reason.
const EXCUSED: &[(&str, &str)] = &[];

/// The longest a program may take.
const LIMIT: Duration = Duration::from_secs(300);

/// A library to link to.
struct Library {
    what: &'static str,
    include: Option<PathBuf>,
    lib: Option<PathBuf>,
}

impl Library {
    fn compile(&self, reference: &Path, program: &Program, folder: &Path) -> Result<PathBuf, String> {
        let (out, at) = (folder.join(program.name), reference.join(program.folder));
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("c/suite");
        let mut cc = Command::new("cc");
        cc.args(["-w", "-D_GNU_SOURCE", "-DHAVE_CONFIG_H", "-DTESTNC3"]).arg("-I").arg(own);
        if let Some(include) = &self.include {
            cc.arg("-I").arg(include);
        }
        cc.arg("-I").arg(&at).arg("-idirafter").arg(reference.join("include"));
        cc.arg(format!("-DTOPSRCDIR=\"{}\"", reference.display()))
            .arg(format!("-DTOPBINDIR=\"{}\"", folder.display()));
        cc.arg("-o").arg(&out);
        match program.sources {
            [] => drop(cc.arg(at.join(program.name).with_extension("c"))),
            sources => drop(cc.args(sources.iter().map(|source| at.join(source)))),
        }
        if let Some(lib) = &self.lib {
            cc.arg("-L").arg(lib).arg(format!("-Wl,-rpath,{}", lib.display()));
        }
        let done = cc.args(["-lnetcdf", "-lm"]).output().map_err(|error| format!("cc: {error}"))?;
        let says = String::from_utf8_lossy(&done.stderr).into_owned();
        if done.status.success() { Ok(out) } else { Err(format!("does not compile: {says}")) }
    }

    /// Compiles and runs a program; its last lines if it fails.
    fn judge(&self, reference: &Path, program: &Program, folder: &Path) -> Result<(), String> {
        let binary = self.compile(reference, program, folder)?;
        let at = reference.join(program.folder);
        for words in program.runs {
            let words: Vec<String> =
                words.iter().map(|word| word.replace('@', &at.display().to_string())).collect();
            let log = folder.join(format!("{}.log", program.name));
            let out = std::fs::File::create(&log).map_err(|error| error.to_string())?;
            let child = Command::new(&binary)
                .args(&words)
                .current_dir(folder)
                .env("srcdir", &at)
                .env("TOPSRCDIR", reference)
                .stdin(Stdio::null())
                .stdout(out.try_clone().map_err(|error| error.to_string())?)
                .stderr(out)
                .spawn();
            let mut child = child.map_err(|error| error.to_string())?;
            let start = Instant::now();
            let status = loop {
                if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
                    break status;
                }
                if start.elapsed() > LIMIT {
                    child.kill().map_err(|error| error.to_string())?;
                }
                std::thread::sleep(Duration::from_millis(2));
            };
            if !status.success() {
                let text = std::fs::read(&log).map_err(|error| error.to_string())?;
                let text = String::from_utf8_lossy(&text).into_owned();
                let lines: Vec<&str> = text.lines().collect();
                let tail = lines[lines.len().saturating_sub(6)..].join("\n");
                return Err(format!("{words:?}: {status}\n{tail}"));
            }
        }
        Ok(())
    }
}

fn ours() -> Library {
    let prefix = folder("FERROCDF_PREFIX");
    Library { what: "ferrocdf", include: Some(prefix.join("include")), lib: Some(prefix.join("lib")) }
}

fn program(name: &str) -> &'static Program {
    PROGRAMS.iter().find(|program| program.name == name).expect("it is in the list")
}

/// Compiles a program of the list on our library.
pub fn on_ours(reference: &Path, name: &str, folder: &Path) -> PathBuf {
    ours().compile(reference, program(name), folder).expect("it compiles")
}

#[test]
fn programs_of_the_reference() {
    let reference = folder("FERROCDF_REFERENCE");
    let theirs = Library { what: "the reference", include: None, lib: None };
    let ours = ours();
    let (mut passed, mut failures, mut notes) = (0, vec![], vec![]);
    for program in PROGRAMS {
        let judge = |library: &Library| {
            let folder = tempfile::tempdir().expect("a folder for the program");
            library
                .judge(&reference, program, folder.path())
                .map_err(|why| format!("{}: {why}", library.what))
        };
        let (on_ours, on_theirs) = (judge(&ours), judge(&theirs));
        match (on_ours, EXCUSED.iter().find(|(name, _)| *name == program.name)) {
            (Ok(()), None) => passed += 1,
            (Ok(()), Some(_)) => failures.push(format!("{}: passes, and is excused", program.name)),
            (Err(_), Some((_, why))) => notes.push(format!("{}: {why}", program.name)),
            (Err(why), None) => failures.push(format!("{}: {why}", program.name)),
        }
        if on_theirs.is_err() {
            notes.push(format!("{} fails on the reference", program.name));
        }
    }
    println!("{passed} of {} programs pass\n{}", PROGRAMS.len(), notes.join("\n"));
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// The version-2 interface writes the very bytes that the reference writes: two files lie with its sources.
#[test]
fn nctest_writes_the_files_of_the_reference() {
    let reference = folder("FERROCDF_REFERENCE");
    let here = tempfile::tempdir().expect("a folder for the program");
    ours().judge(&reference, program("nctest"), here.path()).expect("it passes");
    for name in ["nctest_classic.nc", "nctest_64bit_offset.nc"] {
        let wanted =
            std::fs::read(reference.join("nctest").join(format!("ref_{name}"))).expect("it is there");
        let written = std::fs::read(here.path().join(name)).expect("the program wrote it");
        assert!(wanted == written, "{name} differs");
    }
}
