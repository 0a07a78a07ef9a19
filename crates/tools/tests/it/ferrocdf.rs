//! The umbrella command: what it teaches, and how the tools under it complain.

use std::path::Path;
use std::process::Command;

use ferrocdf::{CreateOptions, File, FileMut, Format, Owner, Values};

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
    let (_, out, _) = ferrocdf(&["dump", "--help"], Path::new("."));
    assert!(out.contains("[--structure] print the structures of an HDF5 file"), "{out}");
    let (code, out, _) = ferrocdf(&["plugins", "install", "--help"], Path::new("."));
    assert!(code == Some(0) && out.contains("export HDF5_PLUGIN_PATH="), "{out}");
    // `-h` is an option of the tool.
    assert_eq!(ferrocdf(&["dump", "-h", "nothing.nc"], Path::new(".")).0, Some(1));
}

#[test]
fn structures_of_an_hdf5_file_are_dumped() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.cdl"), "netcdf a { :title = \"hello\" ; }").unwrap();
    assert_eq!(ferrocdf(&["gen", "-4", "-o", "a.nc", "a.cdl"], folder.path()).2, "");
    let (code, out, err) = ferrocdf(&["dump", "--structure", "a.nc"], folder.path());
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(out.starts_with("0x0 superblock") && out.contains("object header of /"), "{out}");
    assert!(out.contains("name = \"title\\x00\" (6 bytes)"), "{out}");
    let (code, _, err) = ferrocdf(&["dump", "--structure", "a.nc", "b.nc"], folder.path());
    assert!(code == Some(1) && err.contains("--structure takes one file"), "{err}");
    std::fs::write(folder.path().join("c.nc"), b"CDF\x01").unwrap();
    let (code, out, err) = ferrocdf(&["dump", "--structure", "c.nc"], folder.path());
    assert!(code == Some(1) && out.is_empty() && err.contains("c.nc: no HDF5 signature"), "{err}");
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
        ("dods://host/a.nc", "it is the URL of a DAP server"),
        ("https://host/a.nc#mode=dap4", "its mode is that of a DAP server"),
        ("s3://bucket/a.zip#mode=zarr,zip", "Zarr stores in zip files are not read"),
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
    for args in
        [&["copy", "cut.nc", "dods://host/a.nc"][..], &["gen", "-3", "-odods://host/a.nc", "text.cdl"]]
    {
        let (code, _, err) = ferrocdf(args, folder.path());
        assert_eq!(code, Some(1));
        assert!(err.contains("dods://host/a.nc: it is the URL of a DAP server"), "{err}");
    }
}

/// Names of other HDF5 programs, in every place.
const FOREIGN: &str = "netcdf foreign {
types:
  compound \\-t { int a/b ; } ;
dimensions:
  .x = 2 ;
variables:
  int .x(.x) ; .x:/units = \"m\" ;
  double \\(n\\,gamma\\)(.x) ; \\(n\\,gamma\\):ok = 1 ;
  int \\ format ;
  \\-t v ;
data:
  .x = 1, 2 ; \\(n\\,gamma\\) = 0.5, 1.5 ; \\ format = 7 ; v = {3} ;
group: \\#refs\\# { variables: int fine ; data: fine = 4 ; }
}";

const MAPPED: &str = "netcdf b {
types:
  compound _%2Dt {
    int a%2Fb ;
  }; // _%2Dt
dimensions:
\t_%2Ex = 2 ;
variables:
\tint _%2Ex(_%2Ex) ;
\t\t_%2Ex:_%2Funits = \"m\" ;
\t\t_%2Ex:_original_name._%2Funits = \"/units\" ;
\t\t_%2Ex:_original_name = \".x\" ;
\tdouble _%28n\\,gamma\\)(_%2Ex) ;
\t\t_%28n\\,gamma\\):ok = 1 ;
\t\t_%28n\\,gamma\\):_original_name = \"(n,gamma)\" ;
\tint _%20format ;
\t\t_%20format:_original_name = \" format\" ;
\t_%2Dt v ;

// global attributes:
\t\t:_original_name.a%2Fb = \"a/b\" ;
\t\t:_original_name._%2Dt = \"-t\" ;
\t\t:_original_name._%2Ex = \".x\" ;
data:

 _%2Ex = 1, 2 ;

 _%28n\\,gamma\\) = 0.5, 1.5 ;

 _%20format = 7 ;

 v = {3} ;

group: _%23refs\\# {
  variables:
  \tint fine ;

  // group attributes:
  \t\t:_original_name = \"#refs#\" ;
  data:

   fine = 4 ;
  } // group _%23refs\\#
}
";

#[test]
fn names_that_are_not_netcdf_names_are_mapped_by_copy_and_refused_by_strict() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.cdl"), FOREIGN).unwrap();
    assert_eq!(ferrocdf(&["gen", "-4", "-o", "a.nc", "a.cdl"], folder.path()).2, "");
    let (code, _, said) = ferrocdf(&["copy", "a.nc", "b.nc"], folder.path());
    assert_eq!(code, Some(0), "{said}");
    let line = "ferrocdf copy: /: the variable \"(n,gamma)\" has no name of netCDF, it is copied as \"_%28n,gamma)\"";
    assert!(said.lines().count() == 8 && said.contains(line), "{said}");
    let run =
        Command::new(env!("CARGO_BIN_EXE_ncdump")).arg("b.nc").current_dir(folder.path()).output().unwrap();
    assert_eq!(String::from_utf8(run.stdout).unwrap(), MAPPED);
    // The copy has names of netCDF, so it is copied without a word.
    assert_eq!(ferrocdf(&["copy", "b.nc", "c.nc"], folder.path()), (Some(0), String::new(), String::new()));

    let (code, _, said) = ferrocdf(&["copy", "--strict", "a.nc", "d.nc"], folder.path());
    assert!(code == Some(1) && said.contains("; without --strict it is copied"), "{said}");
    let run =
        Command::new(env!("CARGO_BIN_EXE_nccopy")).args(["a.nc", "d.nc"]).current_dir(folder.path()).output();
    let run = run.unwrap();
    let said = String::from_utf8(run.stderr).unwrap();
    assert!(
        !run.status.success() && said.starts_with("NetCDF: Name contains illegal characters\n"),
        "{said}"
    );
    assert!(said.contains("; `ferrocdf copy` copies it as what netCDF allows"), "{said}");
    assert!(!folder.path().join("d.nc").exists());
}

#[test]
fn fill_values_of_another_type_are_converted_or_renamed_by_copy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.nc");
    let file = FileMut::create(&path, &CreateOptions::format(Format::CLASSIC)).unwrap();
    for (name, fill) in [("fits", Values::Double(vec![-9999.0])), ("half", Values::Double(vec![0.5]))] {
        file.add_variable::<i32>(name, &[]).unwrap();
        let var = file.model().find_var_at(name.as_bytes()).unwrap();
        file.define(|model| model.put_attr(Owner::Var(var), "_FillValue", fill)).unwrap();
        file.set_no_fill(true).unwrap();
        file.variable_mut(name).unwrap().put_values(&[1], ..).unwrap();
    }
    file.close().unwrap();
    let (code, _, said) = ferrocdf(&["copy", "-4", "a.nc", "b.nc"], folder.path());
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(
        lines,
        [
            "ferrocdf copy: /fits: its _FillValue is converted from double to int",
            "ferrocdf copy: /half: its _FillValue, double, is no value of the variable's type: it is copied as \
             _original_FillValue"
        ]
    );
    let copy = File::open(folder.path().join("b.nc")).unwrap();
    let attr = |var: &str, name: &str| {
        let var = copy.model().find_var_at(var.as_bytes()).unwrap();
        copy.model().find_attr(Owner::Var(var), name.as_bytes()).map(|attr| attr.value.clone())
    };
    assert_eq!(attr("fits", "_FillValue"), Some(Values::Int(vec![-9999])));
    assert_eq!(attr("half", "_FillValue"), None);
    assert_eq!(attr("half", "_original_FillValue"), Some(Values::Double(vec![0.5])));
    // Other kinds of classic files hold them as they are.
    assert_eq!(ferrocdf(&["copy", "-5", "a.nc", "c.nc"], folder.path()).2, "");
    assert!(ferrocdf(&["copy", "--strict", "-4", "a.nc", "d.nc"], folder.path()).2.contains("--strict"));
    // Those whose type they do not hold are converted.
    let path = folder.path().join("wide.nc");
    let file = FileMut::create(&path, &CreateOptions::format(Format::DATA64)).unwrap();
    file.add_variable::<f32>("wide", &[]).unwrap();
    let var = file.model().find_var_at(b"wide").unwrap();
    file.define(|model| model.put_attr(Owner::Var(var), "_FillValue", Values::Ubyte(vec![200]))).unwrap();
    file.set_no_fill(true).unwrap();
    file.close().unwrap();
    let (code, _, said) = ferrocdf(&["copy", "-3", "wide.nc", "narrow.nc"], folder.path());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("/wide: its _FillValue is converted from ubyte to float"), "{said}");
}

#[test]
fn objects_of_hdf4_that_netcdf_c_does_not_look_at_are_told_by_copy_and_not_by_nccopy() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hdf4/tests/data/others.hdf");
    let (source, folder) = (source.to_str().unwrap(), tempfile::tempdir().unwrap());
    let nccopy = Command::new(env!("CARGO_BIN_EXE_nccopy"))
        .args([source, "a.nc"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!((nccopy.status.code(), String::from_utf8(nccopy.stderr).unwrap()), (Some(0), String::new()));
    let (code, _, err) = ferrocdf(&["copy", source, "b.nc"], folder.path());
    assert!(code == Some(0) && err.contains("skipped: "), "{err}");
    let (code, _, err) = ferrocdf(&["copy", "--all", "--hdfeos", source, "c.nc"], folder.path());
    assert!(code == Some(1) && err.contains("--all and --hdfeos exclude each other"), "{err}");
}
