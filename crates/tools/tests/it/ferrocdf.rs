//! The umbrella command: what it teaches, and how the tools under it complain.

use std::path::Path;
use std::process::Command;

/// Exit code, standard output and messages.
fn ferrocdf(args: &[&str], folder: &Path) -> (Option<i32>, String, String) {
    let run = Command::new(env!("CARGO_BIN_EXE_ferrocdf")).args(args).current_dir(folder).output().unwrap();
    let [out, err] = [run.stdout, run.stderr].map(|text| String::from_utf8(text).unwrap());
    (run.status.code(), out, err)
}

#[test]
fn the_version_is_that_of_ferrocdf() {
    let (code, out, _) = ferrocdf(&["--version"], Path::new("."));
    assert_eq!((code, out), (Some(0), format!("ferrocdf {}\n", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn help_teaches() {
    for (tool, option) in
        [("info", "--json"), ("dump", "[-v var1"), ("gen", "[-o outfile]"), ("copy", "[-V var1")]
    {
        for args in [[tool, "--help"], ["help", tool]] {
            let (code, out, err) = ferrocdf(&args, Path::new("."));
            assert_eq!((code, err.as_str()), (Some(0), ""), "{args:?}");
            assert!(out.contains(&format!("Usage: ferrocdf {tool} ")), "{out}");
            assert!(out.contains(option), "{out}");
            assert_eq!(out.contains("Examples:"), tool != "info");
        }
    }
    let (code, out, _) = ferrocdf(&["plugins", "install", "--help"], Path::new("."));
    assert!(code == Some(0) && out.contains("export HDF5_PLUGIN_PATH="), "{out}");
    // `-h` is an option of the tool.
    assert_eq!(ferrocdf(&["dump", "-h", "nothing.nc"], Path::new(".")).0, Some(1));
}

#[test]
fn errors_name_the_path_once() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("empty.nc"), "").unwrap();
    std::fs::write(folder.path().join("text.nc"), "no netCDF at all").unwrap();
    std::fs::write(folder.path().join("text.cdl"), "netcdf a { }").unwrap();
    for (file, why) in [
        ("empty.nc", "it is empty"),
        ("text.nc", "its first bytes are those of no netCDF format"),
        ("nothing.nc", "No such file or directory"),
        ("http://host/a.nc", "remote files are not read by this version"),
        ("https://host/a.nc#mode=bytes", "remote files are not read by this version"),
        ("s3://bucket/a.nc", "remote files are not read by this version"),
    ] {
        for args in [
            &["info", file][..],
            &["dump", file],
            &["dump", "-Xm", file],
            &["copy", file, "out.nc"],
            &["copy", "-r", file, "out.nc"],
        ] {
            let (code, out, err) = ferrocdf(args, folder.path());
            assert_eq!((code, out.as_str()), (Some(1), ""), "{args:?}");
            assert_eq!(err.matches(file).count(), 1, "{args:?}: {err}");
            assert!(err.contains(why), "{args:?}: {err}");
        }
    }
    // A warning speaks for the command that was called.
    std::fs::write(folder.path().join("text.cdl"), "netcdf a { variables: int v, w; data: v = 1; w = 2; }")
        .unwrap();
    assert_eq!(ferrocdf(&["gen", "-3", "-o", "cut.nc", "text.cdl"], folder.path()).0, Some(0));
    let bytes = std::fs::read(folder.path().join("cut.nc")).unwrap();
    std::fs::write(folder.path().join("cut.nc"), &bytes[..bytes.len() - 2]).unwrap();
    for args in [&["dump", "cut.nc"][..], &["copy", "cut.nc", "out.nc"]] {
        let (code, _, err) = ferrocdf(args, folder.path());
        let warning = format!("ferrocdf {}: warning: cut.nc: the file is cut off: its last 2 bytes", args[0]);
        assert!(code == Some(0) && err.starts_with(&warning), "{err}");
    }
    for args in [["copy", "empty.nc", "s3://b/a.nc"], ["gen", "-os3://b/a.nc", "text.cdl"]] {
        let (code, _, err) = ferrocdf(&args, folder.path());
        assert_eq!(code, Some(1));
        assert!(err.contains("s3://b/a.nc: it is a URL"), "{err}");
    }
}
