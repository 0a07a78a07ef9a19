//! The reference's own C test programs, compiled against our headers and linked to our library.
//!
//! Listed are all programs of `nc_test` and `nctest` that are for classic files, or for every format, and need no other
//! library, and those of `nc_test4` that need no MPI and not the reference's inside; programs there that use HDF5 are linked
//! to Debian's libhdf5 as well, and so judge what we write and write what we read. A few use functions of the reference's
//! inside, which `c/suite/internals.c` has. Programs that others have to prepare are run by their scripts, in `shell.rs`.
//!
//! `docs/compatibility.md` lists the programs that do not run, with the reasons.
//!
//! On Debian's library, which is older than they are, `t_nc`, `tst_misc`, `tst_quantize`, `tst_h_transient_types` and
//! `tst_meta_block_size` fail.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::folder;

/// One program and how it is run.
pub struct Program {
    /// The name of its source and of what is made of it.
    pub name: &'static str,
    /// Its sources if they are not just the one of its name, in `folder`.
    sources: &'static [&'static str],
    /// Where its source is.
    pub folder: &'static str,
    /// The command lines, one after the other in one folder. `@` stands for the folder of the sources.
    runs: &'static [&'static [&'static str]],
    /// Whether `internals.c` is compiled with it.
    inside: bool,
    /// Whether it is a program of `nczarr_test`: then `nczarr.c` is compiled with it, and headers of the inside are found.
    nczarr: bool,
    /// What the reference's own build defines, beyond what `config.h` says.
    defines: &'static [&'static str],
    /// Whether it calls HDF5 besides: then it is linked to that library too.
    hdf5: bool,
    /// Files beside its sources that it opens in its own folder.
    files: &'static [&'static str],
    /// Source of a shared library that it loads; `TEST_PLUGIN_PATH` names the library.
    plugin: Option<&'static str>,
}

/// A program of `nc_test` that runs once.
const fn one(name: &'static str) -> Program {
    Program {
        name,
        sources: &[],
        folder: "nc_test",
        runs: &[&[]],
        inside: false,
        nczarr: false,
        defines: &[],
        hdf5: false,
        files: &[],
        plugin: None,
    }
}

const fn with(name: &'static str, runs: &'static [&'static [&'static str]]) -> Program {
    Program { runs, ..one(name) }
}

/// A program of `nc_test4`, for netCDF-4 files.
const fn netcdf4(name: &'static str) -> Program {
    Program { folder: "nc_test4", ..one(name) }
}

/// A program of `nc_test4` that uses HDF5 as well: to look at what our library wrote, or to write what it reads.
const fn hdf5(name: &'static str) -> Program {
    Program { hdf5: true, ..netcdf4(name) }
}

/// A program that scripts of a folder call.
pub const fn helper(folder: &'static str, name: &'static str) -> Program {
    Program { folder, defines: &["USE_HDF5"], ..one(name) }
}

/// The same, where it uses HDF5 as well.
pub const fn helper_hdf5(folder: &'static str, name: &'static str) -> Program {
    Program { hdf5: true, ..helper(folder, name) }
}

/// A program of `nczarr_test`, with its sources seen from that folder.
pub const fn nczarr(name: &'static str, sources: &'static [&'static str]) -> Program {
    Program {
        folder: "nczarr_test",
        nczarr: true,
        defines: &["TESTNCZARR", "NETCDF_ENABLE_NCZARR"],
        ..inside(name, sources)
    }
}

/// A program that asks whether the build knows of netCDF-4.
const fn knowing(name: &'static str) -> Program {
    Program { defines: &["USE_HDF5"], ..one(name) }
}

/// A program that uses functions from the reference's inside.
const fn inside(name: &'static str, sources: &'static [&'static str]) -> Program {
    Program { sources, inside: true, ..one(name) }
}

/// Memory of nested values, given back.
pub const RECLAIM: Program = Program { folder: "unit_test", ..inside("tst_reclaim", &["tst_reclaim.c"]) };

/// Files in memory, of both kinds.
pub const INMEMORY: Program =
    Program { hdf5: true, defines: &["USE_HDF5"], ..inside("tst_inmemory", &["tst_inmemory.c"]) };

const PROGRAMS: &[Program] = &[
    Program {
        sources: &[
            "nc_test.c",
            "error.c",
            "test_get.c",
            "test_put.c",
            "test_read.c",
            "test_write.c",
            "util.c",
        ],
        ..one("nc_test")
    },
    Program {
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
        ..one("nctest")
    },
    Program { folder: "nctest", ..one("tst_rename") },
    one("t_nc"),
    one("tst_atts3"),
    one("tst_big_rvar"),
    one("tst_big_var"),
    one("tst_big_var2"),
    one("tst_big_var6"),
    with("tst_cdf5_begin", &[&["@/bad_cdf5_begin.nc"]]),
    one("tst_def_var_fill"),
    knowing("tst_default_format"),
    with("tst_diskless", &[&[], &["diskless"], &["diskless", "persist"], &["mmap"], &["mmap", "persist"]]),
    with(
        "tst_diskless3",
        &[&["file", "file:d3.nc"], &["diskless", "persist", "file:d3.nc"], &["file", "open", "file:d3.nc"]],
    ),
    with(
        "tst_diskless4",
        &[
            &["500000000", "create"],
            &["500000000", "open"],
            &["500000000", "opendiskless"],
            &["500000000", "creatediskless"],
        ],
    ),
    one("tst_err_enddef"),
    one("tst_formats"),
    one("tst_global_fillval"),
    INMEMORY,
    one("tst_inq_type"),
    one("tst_max_var_dims"),
    one("tst_meta"),
    knowing("tst_misc"),
    one("tst_names"),
    one("tst_nofill"),
    one("tst_nofill2"),
    one("tst_nofill3"),
    one("tst_norm"),
    with("tst_open_cdf5", &[&["@/bad_cdf5_begin.nc"]]),
    one("tst_small"),
    inside(
        "tst_utf8_phrases",
        &["tst_utf8_phrases.c", "../libdispatch/dutf8.c", "../libdispatch/utf8proc.c"],
    ),
    inside(
        "tst_utf8_validate",
        &["tst_utf8_validate.c", "../libdispatch/dutf8.c", "../libdispatch/utf8proc.c"],
    ),
    one("quick_large_files"),
    with("tst_open_mem", &[&["@/f03tst_open_mem.nc"]]),
    netcdf4("tst_broken_files"),
    netcdf4("cdm_sea_soundings"),
    netcdf4("t_type"),
    netcdf4("tst_atts1"),
    netcdf4("tst_atts2"),
    netcdf4("tst_atts3"),
    netcdf4("tst_atts_string_rewrite"),
    netcdf4("tst_bug1442"),
    netcdf4("tst_bug324"),
    netcdf4("tst_camrun"),
    netcdf4("tst_charvlenbug"),
    netcdf4("tst_compounds"),
    netcdf4("tst_compounds2"),
    netcdf4("tst_compounds3"),
    netcdf4("tst_converts"),
    netcdf4("tst_converts2"),
    netcdf4("tst_coords"),
    netcdf4("tst_coords2"),
    netcdf4("tst_coords3"),
    netcdf4("tst_dims"),
    netcdf4("tst_dims2"),
    netcdf4("tst_dims3"),
    netcdf4("tst_elatefill"),
    netcdf4("tst_endian_fill"),
    netcdf4("tst_enums"),
    netcdf4("tst_files"),
    netcdf4("tst_files4"),
    netcdf4("tst_files5"),
    netcdf4("tst_fill_attr_vanish"),
    netcdf4("tst_fillbug"),
    netcdf4("tst_fills"),
    netcdf4("tst_fills2"),
    netcdf4("tst_filter_vlen"),
    netcdf4("tst_filterparser"),
    netcdf4("tst_grps"),
    netcdf4("tst_grps2"),
    netcdf4("tst_h5_endians"),
    netcdf4("tst_interops4"),
    netcdf4("tst_mem_safety"),
    netcdf4("tst_opaques"),
    netcdf4("tst_put_vars"),
    netcdf4("tst_put_vars_two_unlim_dim"),
    netcdf4("tst_rehash"),
    netcdf4("tst_rename"),
    netcdf4("tst_rename2"),
    netcdf4("tst_rename3"),
    netcdf4("tst_strings"),
    netcdf4("tst_strings2"),
    netcdf4("tst_sync"),
    netcdf4("tst_unlim_vars"),
    netcdf4("tst_v2"),
    netcdf4("tst_varms"),
    netcdf4("tst_vars"),
    netcdf4("tst_vars2"),
    netcdf4("tst_vars3"),
    netcdf4("tst_vars4"),
    netcdf4("tst_vl"),
    netcdf4("tst_vlen_unlim"),
    netcdf4("tst_vlenstr"),
    netcdf4("tst_xplatform"),
    netcdf4("tst_zstd"),
    netcdf4("tst_chunks"),
    netcdf4("tst_chunks2"),
    Program {
        files: &["ref_hdf5_compat1.nc", "ref_hdf5_compat2.nc", "ref_hdf5_compat3.nc"],
        ..netcdf4("tst_hdf5_file_compat")
    },
    netcdf4("tst_quantize"),
    netcdf4("tst_strided_write"),
    netcdf4("tst_types"),
    netcdf4("tst_utf8"),
    hdf5("build_fixedstring"),
    hdf5("h5testszip"),
    hdf5("tst_alignment"),
    Program { defines: &["USE_HDF5"], ..hdf5("tst_atts") },
    hdf5("tst_empty_vlen_unlim"),
    Program { defines: &["USE_HDF5"], ..hdf5("tst_files6") },
    hdf5("tst_h_refs"),
    hdf5("tst_h_scalar"),
    hdf5("tst_h_strbug"),
    hdf5("tst_h_transient_types"),
    hdf5("tst_interops"),
    hdf5("tst_interops5"),
    hdf5("tst_interops6"),
    hdf5("tst_interops_dims"),
    hdf5("tst_meta_block_size"),
    hdf5("tst_virtual_datasets"),
    hdf5("tst_xplatform2"),
    one("tst_diskless2"),
    Program { folder: "nc_test4", ..inside("tst_udf", &["tst_udf.c"]) },
    Program { folder: "nc_test4", ..inside("tst_udf_multi", &["tst_udf_multi.c"]) },
    Program {
        folder: "nc_test4",
        plugin: Some("tst_udf_self_load_plugin.c"),
        ..inside("tst_udf_self_load", &["tst_udf_self_load.c"])
    },
    one("tst_diskless6"),
];

/// What a program or script wants that our library does not do, for a reason.
pub struct Excuse {
    pub program: &'static str,
    /// Lines of its source, and what stands in their place when the rest of the program is judged.
    pub changes: &'static [(&'static str, &'static str)],
    pub why: &'static str,
}

/// What became of a program or script.
pub enum Verdict {
    Passes,
    /// It fails as it is, and passes with the lines changed for which this is the reason.
    Excused(String),
    Fails(String),
}

/// Judges a program as it is, and with what it is excused for changed.
pub fn settle(
    name: &str,
    excuses: &[Excuse],
    judge: impl Fn(Option<&Excuse>) -> Result<(), String>,
) -> Verdict {
    match (judge(None), excuses.iter().find(|excuse| excuse.program == name)) {
        (Ok(()), None) => Verdict::Passes,
        (Ok(()), Some(_)) => Verdict::Fails(format!("{name}: passes, and is excused")),
        (Err(_), Some(excuse)) => match judge(Some(excuse)) {
            Ok(()) => Verdict::Excused(format!("{name}: {}", excuse.why)),
            Err(why) => Verdict::Fails(format!("{name}, though excused: {why}")),
        },
        (Err(why), None) => Verdict::Fails(format!("{name}: {why}")),
    }
}

/// The programs that fail here: as they are they must fail, and with these lines changed they must pass.
const EXCUSED: &[Excuse] = &[
    Excuse {
        program: "tst_atts",
        changes: &[
            (
                "if (natts != 1) ERR;

      /* Get the attribute. */
      if (nc_get_att_text(ncid, NC_GLOBAL, OLD_NAME, data_in)) ERR;",
                "if (natts != 0) ERR;",
            ),
            ("if (nc_close(ncid) != NC_EATTMETA) ERR;", "if (nc_close(ncid)) ERR;"),
            ("if (error_code != NC_EATTMETA) ERR;", "if (error_code) ERR;"),
        ],
        why: "wants an attribute that was deleted to be there still, and says that it should not; wants attributes \
            not to change any more after 65,536 times",
    },
    Excuse {
        program: "tst_files6",
        changes: &[(
            "if (nc_open(HDF5_FILE_NAME, NC_NOWRITE, &ncid) != NC_EHDFERR) ERR;",
            "if (nc_open(HDF5_FILE_NAME, NC_NOWRITE, &ncid) || nc_close(ncid)) ERR;",
        )],
        why: "wants a file not to open in which a group leads back to itself; ours leaves that link out",
    },
    Excuse {
        program: "tst_interops5",
        changes: &[(
            "if (nc_open(filename, NC_WRITE, &ncid) != NC_ECANTWRITE) ERR;",
            "if (nc_open(filename, NC_WRITE, &ncid) || nc_close(ncid)) ERR;",
        )],
        why: "wants files whose groups keep no order not to be opened for writing; ours writes them",
    },
    Excuse {
        program: "tst_utf8",
        changes: &[("if (!strcmp(name_in, norm_utf8)) ERR;", "if (strcmp(name_in, norm_utf8)) ERR;")],
        why: "says that a renamed variable's name is to be normalized, and fails if it is",
    },
];

/// The longest a program may take; what runs it may make it twenty times slower.
const LIMIT: Duration = Duration::from_secs(300);

impl Excuse {
    /// Writes the source with other lines into a folder.
    pub fn change(&self, source: &Path, folder: &Path) -> Result<PathBuf, String> {
        let mut text = std::fs::read_to_string(source).map_err(|error| error.to_string())?;
        for (wants, instead) in self.changes {
            if !text.contains(wants) {
                return Err(format!("{} does not want what it is excused for", self.program));
            }
            text = text.replace(wants, instead);
        }
        let path = folder.join(source.file_name().ok_or("it has no name")?);
        std::fs::write(&path, text).map_err(|error| error.to_string())?;
        Ok(path)
    }
}

/// A library to link to.
struct Library {
    include: PathBuf,
    lib: PathBuf,
    /// The command that runs the programs, empty if none does: `FERROCDF_UNDER`, words with spaces between.
    under: Vec<String>,
}

impl Library {
    /// Compiles a program into a folder, with what is excused in it changed if there is an excuse.
    fn compile(
        &self,
        reference: &Path,
        program: &Program,
        excuse: Option<&Excuse>,
        folder: &Path,
    ) -> Result<PathBuf, String> {
        let (out, at) = (folder.join(program.name), reference.join(program.folder));
        let mut cc = self.compiler(reference, program, folder)?;
        if let Some(source) = program.plugin {
            let path = out.with_extension("so");
            let mut plugin = self.compiler(reference, program, folder)?;
            plugin.args(["-shared", "-fPIC", "-o"]).arg(&path).arg(at.join(source));
            self.link(&mut plugin, program)?;
            cc.arg(format!("-DTEST_PLUGIN_PATH=\"{}\"", path.display()));
        }
        cc.arg("-o").arg(&out);
        match program.sources {
            [] => {
                let source = at.join(program.name).with_extension("c");
                let changed = excuse.map(|excuse| excuse.change(&source, folder)).transpose()?;
                cc.arg(changed.unwrap_or(source));
            }
            sources => drop(cc.args(sources.iter().map(|source| at.join(source)))),
        }
        if program.inside {
            cc.arg("-DHAVE_STRLCAT")
                .arg("-I")
                .arg(reference.join("libdispatch"))
                .arg(own_sources().join("internals.c"));
        }
        if program.nczarr {
            cc.arg(own_sources().join("nczarr.c"));
        }
        self.link(&mut cc, program)?;
        Ok(out)
    }

    /// A compiler with the headers for a program that is compiled into a folder.
    fn compiler(&self, reference: &Path, program: &Program, folder: &Path) -> Result<Command, String> {
        let mut cc = Command::new("cc");
        cc.args(["-w", "-D_GNU_SOURCE", "-DHAVE_CONFIG_H", "-DTESTNC3"]).arg("-I").arg(own_sources());
        cc.args(program.defines.iter().map(|name| format!("-D{name}")));
        if program.hdf5 {
            cc.args(pkg_config("--cflags")?);
        }
        cc.arg("-I").arg(&self.include).arg("-I").arg(reference.join(program.folder));
        if program.nczarr {
            cc.args(["libnczarr", "plugins"].map(|folder| format!("-I{}", reference.join(folder).display())));
        }
        cc.arg("-idirafter").arg(reference.join("include"));
        cc.arg(format!("-DTOPSRCDIR=\"{}\"", reference.display()))
            .arg(format!("-DTOPBINDIR=\"{}\"", folder.display()));
        Ok(cc)
    }

    /// Runs a compiler, with what a program is linked to.
    fn link(&self, cc: &mut Command, program: &Program) -> Result<(), String> {
        cc.arg("-L").arg(&self.lib).arg(format!("-Wl,-rpath,{}", self.lib.display()));
        cc.arg("-lnetcdf");
        if program.hdf5 {
            // The names for people come from a second library, of which the description does not tell.
            cc.args(pkg_config("--libs")?).arg("-lhdf5_hl").args(pkg_config("--libs")?);
        }
        let done = cc.arg("-lm").output().map_err(|error| format!("cc: {error}"))?;
        let says = String::from_utf8_lossy(&done.stderr).into_owned();
        if done.status.success() { Ok(()) } else { Err(format!("does not compile: {says}")) }
    }

    /// Compiles and runs a program; its last lines if it fails.
    fn judge(
        &self,
        reference: &Path,
        program: &Program,
        excuse: Option<&Excuse>,
        folder: &Path,
    ) -> Result<(), String> {
        let binary = self.compile(reference, program, excuse, folder)?;
        let at = reference.join(program.folder);
        for file in program.files {
            std::fs::copy(at.join(file), folder.join(file)).map_err(|error| format!("{file}: {error}"))?;
        }
        for words in program.runs {
            let words: Vec<String> =
                words.iter().map(|word| word.replace('@', &at.display().to_string())).collect();
            let log = folder.join(format!("{}.log", program.name));
            let out = std::fs::File::create(&log).map_err(|error| error.to_string())?;
            let all: Vec<String> = self
                .under
                .iter()
                .cloned()
                .chain([binary.display().to_string()])
                .chain(words.clone())
                .collect();
            let child = Command::new(&all[0])
                .args(&all[1..])
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
                if start.elapsed() > LIMIT * if self.under.is_empty() { 1 } else { 20 } {
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

/// The folder of our own sources for these programs.
fn own_sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("c/suite")
}

/// What a compiler has to be told to find HDF5.
pub fn pkg_config(what: &str) -> Result<Vec<String>, String> {
    let out = Command::new("pkg-config").args([what, "hdf5"]).output();
    let out = out.map_err(|error| format!("pkg-config: {error}"))?;
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stderr).into_owned());
    }
    Ok(String::from_utf8_lossy(&out.stdout).split_whitespace().map(str::to_string).collect())
}

fn ours() -> Library {
    let prefix = folder("FERROCDF_PREFIX");
    let under = std::env::var("FERROCDF_UNDER").unwrap_or_default();
    let under = under.split_whitespace().map(str::to_string).collect();
    Library { include: prefix.join("include"), lib: prefix.join("lib"), under }
}

/// A program of the list.
fn program(name: &str) -> &'static Program {
    PROGRAMS.iter().find(|program| program.name == name).expect("it is in the list")
}

/// Compiles a program on our library into a folder.
pub fn compile(reference: &Path, program: &Program, folder: &Path) -> PathBuf {
    ours().compile(reference, program, None, folder).unwrap_or_else(|why| panic!("{}: {why}", program.name))
}

/// Runs a program of the list on our library under a command.
pub fn judge_under(reference: &Path, name: &str, folder: &Path, under: &[&str]) -> Result<(), String> {
    let under = under.iter().map(|word| word.to_string()).collect();
    Library { under, ..ours() }.judge(reference, program(name), None, folder)
}

#[test]
fn programs_of_the_reference() {
    let reference = folder("FERROCDF_REFERENCE");
    let ours = ours();
    let (mut passed, mut failures, mut notes) = (0, vec![], vec![]);
    for program in PROGRAMS {
        let here = tempfile::tempdir().expect("a folder for the program");
        let judge = |excuse: Option<&Excuse>| ours.judge(&reference, program, excuse, here.path());
        match settle(program.name, EXCUSED, judge) {
            Verdict::Passes => passed += 1,
            Verdict::Excused(why) => notes.push(why),
            Verdict::Fails(why) => failures.push(why),
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
    ours().judge(&reference, program("nctest"), None, here.path()).expect("it passes");
    for name in ["nctest_classic.nc", "nctest_64bit_offset.nc"] {
        let wanted =
            std::fs::read(reference.join("nctest").join(format!("ref_{name}"))).expect("it is there");
        let written = std::fs::read(here.path().join(name)).expect("the program wrote it");
        assert!(wanted == written, "{name} differs");
    }
}
