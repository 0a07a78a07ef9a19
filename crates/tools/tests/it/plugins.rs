//! `ferrocdf plugins`: where filters for other programs are put. What they do there is tested with those programs.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

/// A prefix with the program, and an object or none.
struct Prefix {
    folder: TempDir,
}

impl Prefix {
    fn new(object: Option<&str>) -> Prefix {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        fs::create_dir(&bin).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_ferrocdf"), bin.join("ferrocdf")).unwrap();
        if let Some(place) = object {
            let place = folder.path().join(place);
            fs::create_dir_all(&place).unwrap();
            fs::write(place.join("libferrocdf_h5filters.so"), "the object").unwrap();
        }
        Prefix { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Exit code, standard output and messages.
    fn run(&self, args: &[&Path], plugin_path: Option<&str>) -> (Option<i32>, String, String) {
        let mut command = Command::new(self.path("bin/ferrocdf"));
        command.args(["plugins", "install"]).args(args).env_remove("HDF5_PLUGIN_PATH");
        command.current_dir(self.folder.path());
        if let Some(path) = plugin_path {
            command.env("HDF5_PLUGIN_PATH", path);
        }
        // A process that another test is starting may still have the copy open for writing.
        let run = loop {
            match command.output() {
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                run => break run.unwrap(),
            }
        };
        let [out, err] = [run.stdout, run.stderr].map(|text| String::from_utf8(text).unwrap());
        (run.status.code(), out, err)
    }
}

/// The files of a folder, in order.
fn files(folder: &Path) -> Vec<String> {
    let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
    let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(|entry| name(entry.unwrap())).collect();
    names.sort();
    names
}

const NAMES: [&str; 6] = [
    "libferrocdf_bitshuffle.so",
    "libferrocdf_blosc.so",
    "libferrocdf_bzip2.so",
    "libferrocdf_lz4.so",
    "libferrocdf_lzf.so",
    "libferrocdf_zstd.so",
];

#[test]
fn each_filter_is_a_copy_of_the_object() {
    for place in ["lib/ferrocdf", "bin"] {
        let prefix = Prefix::new(Some(place));
        let to = prefix.path("some/plugins");
        // A second time over the first must work too.
        for _ in 0..2 {
            let (code, out, err) = prefix.run(&[Path::new("some/plugins")], None);
            assert_eq!((code, err.as_str()), (Some(0), ""));
            for name in NAMES {
                assert!(out.contains(&format!("{}\n", to.join(name).display())), "{out}");
                assert_eq!(fs::read_to_string(to.join(name)).unwrap(), "the object");
            }
            assert!(out.ends_with(&format!("export HDF5_PLUGIN_PATH={}\n", to.display())), "{out}");
        }
        assert_eq!(files(&to), NAMES);
    }
}

#[test]
fn the_last_folder_of_the_variable_is_the_default() {
    let prefix = Prefix::new(Some("lib/ferrocdf"));
    let (first, last) = (prefix.path("first"), prefix.path("last"));
    let path = format!("{}:{}", first.display(), last.display());
    let (code, out, _) = prefix.run(&[], Some(&path));
    assert_eq!(code, Some(0));
    assert_eq!(files(&last), NAMES);
    assert!(!first.exists() && !out.contains("export"), "the variable names it: {out}");
}

#[test]
fn what_is_wrong_is_said_with_what_to_do() {
    let without = Prefix::new(None);
    let (code, out, err) = without.run(&[Path::new("to")], None);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    for says in
        ["lib/ferrocdf/libferrocdf_h5filters.so", "bin/libferrocdf_h5filters.so", "cargo xtask install"]
    {
        assert!(err.contains(says), "{err}");
    }
    assert!(!without.path("to").exists());

    let prefix = Prefix::new(Some("bin"));
    fs::write(prefix.path("file"), "").unwrap();
    let (code, _, err) = prefix.run(&[&prefix.path("file")], None);
    assert!(code == Some(1) && err.contains("/file: File exists"), "{err}");
    // Nobody makes folders there.
    let (code, _, err) = prefix.run(&[Path::new("/sys/ferrocdf")], None);
    assert!(code == Some(1) && err.contains("/sys/ferrocdf: "), "{err}");
    assert!(err.contains("name a folder of yours: ferrocdf plugins install ~/"), "{err}");
}

/// What `ferrocdf plugins` says, with plugins in these folders.
fn said(command: &str, path: &str) -> String {
    let mut run = Command::new(env!("CARGO_BIN_EXE_ferrocdf"));
    run.args(["plugins", command]).env("HDF5_PLUGIN_PATH", path).env_remove("HDF5_PLUGIN_PRELOAD");
    let run = run.output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap()
}

#[test]
fn what_there_is_is_listed_with_the_reasons_of_what_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("libtext.so");
    fs::write(&file, "no library").unwrap();
    let path = folder.path().display().to_string();
    let said = said("list", &path);
    let line = |id: &str| said.lines().find(|line| line.trim_start().starts_with(id)).unwrap_or_default();
    for (id, name) in [("1 ", "deflate"), ("307 ", "bzip2"), ("32015 ", "zstd")] {
        assert!(line(id).contains(name) && line(id).ends_with("built in"), "{said}");
    }
    let reason = said.lines().find(|line| line.contains("libtext.so")).unwrap_or_default();
    assert!(said.contains("passed over:") && reason.contains("ELF"), "{said}");
}

#[test]
fn the_folders_are_listed_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    assert_eq!(said("path", &format!("/no/such:{path}")), format!("/no/such  (not there)\n{path}\n"));
    assert!(said("path", "").contains("in no folder"));
}

#[test]
fn unknown_word_in_ferrocdf_filters_is_an_error_that_lists_the_words() {
    let folder = tempfile::tempdir().unwrap();
    let run = |word: Option<&str>, args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ferrocdf"));
        command.args(args).env("HDF5_PLUGIN_PATH", "/no/plugins").env_remove("FERROCDF_FILTERS");
        let command = command.current_dir(folder.path()).envs(word.map(|word| ("FERROCDF_FILTERS", word)));
        let run = command.output().unwrap();
        (run.status.success(), String::from_utf8(run.stderr).unwrap())
    };
    fs::write(folder.path().join("a.cdl"), "netcdf a { dimensions: x = 2 ; }").unwrap();
    for kind in ["-3", "-4"] {
        assert!(run(None, &["gen", kind, "-o", &format!("a{kind}.nc"), "a.cdl"]).0);
    }
    let all: [&[&str]; 6] = [
        &["plugins", "list"],
        &["info", "a-4.nc"],
        &["dump", "a-4.nc"],
        &["copy", "a-4.nc", "b.nc"],
        &["copy", "-4", "a-3.nc", "b.nc"],
        &["gen", "-4", "-o", "b.nc", "a.cdl"],
    ];
    for args in all {
        for right in [None, Some(""), Some("plugins"), Some("built-in")] {
            assert_eq!(run(right, args), (true, String::new()), "{right:?} {args:?}");
        }
        let (done, said) = run(Some("plugin"), args);
        let wanted =
            "FERROCDF_FILTERS is \"plugin\"; its words are \"built-in\" (the default) and \"plugins\"";
        assert!(!done && said.contains(wanted), "{args:?}: {said}");
    }
    // Classic files have no filters.
    assert_eq!(run(Some("plugin"), &["dump", "a-3.nc"]), (true, String::new()));
}

#[test]
fn unknown_word_in_ferrocdf_sync_is_an_error_that_names_the_word() {
    let folder = tempfile::tempdir().unwrap();
    let run = |word: &str, kind: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ferrocdf"));
        command.args(["gen", kind, "-o", "a.nc", "a.cdl"]).env("FERROCDF_SYNC", word);
        let run = command.current_dir(folder.path()).output().unwrap();
        (run.status.success(), String::from_utf8(run.stderr).unwrap())
    };
    fs::write(folder.path().join("a.cdl"), "netcdf a { dimensions: x = 2 ; }").unwrap();
    for kind in ["-3", "-4"] {
        for right in ["", "disk"] {
            assert_eq!(run(right, kind), (true, String::new()), "{right:?} {kind}");
        }
        let (done, said) = run("Disk", kind);
        assert!(!done && said.contains("FERROCDF_SYNC is \"Disk\"; its only word is \"disk\""), "{said}");
    }
}
