//! `ncdump` on files made here; how it compares with the reference is tested elsewhere.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use ferrocdf::{CreateOptions, FileMut, Format};
use ferrocdf_tools::ncgen::Program;

fn run_into(out: &mut dyn Write, args: &[&str], path: &Path) -> (i32, String) {
    let mut err = vec![];
    let mut args: Vec<OsString> = std::iter::once(&"ncdump").chain(args).map(OsString::from).collect();
    args.push(path.into());
    let code = ferrocdf_tools::ncdump::main(args, out, &mut err);
    (code, String::from_utf8(err).unwrap())
}

fn run(args: &[&str], path: &Path) -> (i32, String, String) {
    let mut out = vec![];
    let (code, err) = run_into(&mut out, args, path);
    (code, String::from_utf8(out).unwrap(), err)
}

fn file(folder: &Path, rows: usize, columns: usize) -> std::path::PathBuf {
    let path = folder.join("some.file.nc");
    let file = FileMut::create(&path, &CreateOptions::format(Format::DATA64)).unwrap();
    file.add_unlimited_dimension("time").unwrap();
    file.add_dimension("x", columns as u64).unwrap();
    let v = file.add_variable::<f32>("v", &["time", "x"]).unwrap();
    v.put_attribute("units", "K").unwrap();
    for row in 0..rows {
        let values: Vec<f32> = (0..columns).map(|column| row as f32 + column as f32 / 4.0).collect();
        v.put_values(&values, (row, ..)).unwrap();
    }
    file.close().unwrap();
    path
}

#[test]
fn a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), 2, 3);
    let expected = "netcdf some.file {
dimensions:
\ttime = UNLIMITED ; // (2 currently)
\tx = 3 ;
variables:
\tfloat v(time, x) ;
\t\tv:units = \"K\" ;
data:

 v =
  0, 0.25, 0.5,
  1, 1.25, 1.5 ;
}
";
    assert_eq!(run(&[], &path), (0, expected.to_string(), String::new()));
    assert_eq!(run(&["-k"], &path), (0, "cdf5\n".to_string(), String::new()));
    assert_eq!(run(&["-Xm", "-K"], &path).1, "64-bit data mode=00000028\n");
}

#[test]
fn kind_of_a_store_has_the_version_and_who_wrote_it() {
    let folder = tempfile::tempdir().unwrap();
    for (kind, printed) in [
        ("nczarr2", "NCZarr 2 mode=00001000\n"),
        ("nczarr3", "NCZarr 3 mode=00001000\n"),
        ("zarr2", "Zarr 2 mode=00001000\n"),
        ("zarr3", "Zarr 3 mode=00001000\n"),
    ] {
        let path = folder.path().join("x.zarr");
        let args = ["ncgen", "-k", kind, "-o", path.to_str().unwrap()].map(OsString::from);
        let text = &mut &b"netcdf t { dimensions: x = 2; }"[..];
        let made = ferrocdf_tools::ncgen::run(Program::Ncgen, args, text, &mut vec![], &mut vec![]);
        assert_eq!(made, 0);
        assert_eq!(run(&["-K"], &path).1, printed);
        let with_slash = folder.path().join("x.zarr/");
        assert!(run(&[], &with_slash).1.starts_with("netcdf x {\n"), "{kind}");
    }
}

/// The number of threads does not show.
#[test]
fn threads() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), 7, 50_000);
    let whole = run(&["-b", "c"], &path).1;
    let lines: Vec<&str> = whole.lines().collect();
    assert!(lines.iter().all(|line| line.len() <= 80));
    let row = lines.iter().position(|line| line.ends_with("// v(3, 0-49999)")).unwrap();
    assert!(lines[row + 1].starts_with("    3, 3.25, 3.5, "));
    let (before, text) = whole.split_once("data:\n\n v =\n").unwrap();
    assert!(before.contains("(7 currently)"));
    let data: Vec<&str> = text.lines().filter(|line| !line.contains("//")).collect();
    let data = data.join("");
    let values: Vec<f32> = data
        .split(|c: char| c == ',' || c == ';' || c == '}' || c.is_whitespace())
        .filter(|value| !value.is_empty())
        .map(|value| value.parse().unwrap())
        .collect();
    assert_eq!(values.len(), 350_000);
    assert!(values.iter().enumerate().all(|(at, &v)| v == (at / 50_000) as f32 + (at % 50_000) as f32 / 4.0));
}

#[test]
fn what_cannot_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.nc");
    let expected = format!("ncdump: {}: No such file or directory\n", path.display());
    assert_eq!(run(&[], &path), (1, String::new(), expected));
    std::fs::write(&path, "text").unwrap();
    let (code, _, err) = run(&["-Xm"], &path);
    let expected = format!("ncdump: {}: NetCDF: Unknown file format\n", path.display());
    assert!(code == 1 && err.starts_with(&expected), "{err}");
}

struct Full(io::ErrorKind);

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn output_that_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), 3, 40_000);
    assert_eq!(run_into(&mut Full(io::ErrorKind::BrokenPipe), &[], &path), (141, String::new()));
    let (code, err) = run_into(&mut Full(io::ErrorKind::StorageFull), &[], &path);
    assert!(code == 1 && err.starts_with("ncdump: standard output: "), "{err}");
}

#[test]
fn what_cannot_be_read_is_told_behind_all_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.nc");
    let file = FileMut::create(&path, &CreateOptions::format(Format::NETCDF4)).unwrap();
    file.add_variable::<i32>("sound", &[]).unwrap().put_values(&[7], ..).unwrap();
    file.add_variable::<i32>("broken", &[]).unwrap().put_attribute("note", "xyzzy").unwrap();
    file.close().unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(5).position(|five| five == b"xyzzy").unwrap();
    bytes[at] = b'X';
    std::fs::write(&path, bytes).unwrap();
    let (code, out, err) = run(&[], &path);
    assert!(out.ends_with(" sound = 7 ;\n}\n") && !out.contains("broken"), "{out}");
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("/broken: ") && err.contains("wrong checksum"), "{err}");
}

#[test]
fn variables_with_unknown_codecs_have_no_values_and_the_others_have_theirs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.zarr");
    crate::zarr_unreadable::store_with_an_unknown_codec(&path);
    let (code, out, err) = run(&[], &path);
    assert_eq!(code, 1, "{err}");
    assert!(
        out.contains("int bad(") && !out.contains(" bad =") && out.contains("\n zgood = 7, 7, 7, 7 ;\n"),
        "{out}"
    );
    assert!(out.ends_with("}\n") && out.contains("data:\n\n good = 7, 7, 7, 7 ;\n"), "{out}");
    assert!(err.contains("undefined filter") && err.contains("/bad: ") && err.contains("no.such"), "{err}");
    for args in [&["-h"][..], &["-v", "good"]] {
        let (code, _, err) = run(args, &path);
        assert_eq!((code, &*err), (0, ""), "{args:?}");
    }
    assert_eq!(run(&["-v", "bad"], &path).0, 1);
}

#[test]
fn times_have_units_in_attributes_of_strings_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("times.nc");
    let text = "netcdf times { dimensions: t = 2 ; variables: double t(t) ; string t:units = \"days since 1990-1-1\" ; \
                string t:calendar = \"noleap\" ; t:valid_max = 59. ; data: t = 58, 59 ; }";
    let args = ["ncgen", "-4", "-o"].map(OsString::from).into_iter().chain([path.clone().into()]);
    let program = Program::Ncgen;
    assert_eq!(ferrocdf_tools::ncgen::run(program, args, &mut text.as_bytes(), &mut vec![], &mut vec![]), 0);
    let (code, out, _) = run(&["-t"], &path);
    assert_eq!(code, 0);
    assert!(out.contains(" t = \"1990-02-28\", \"1990-03-01\" ;"), "{out}");
    assert!(out.contains("t:valid_max = 59. ; // \"1990-03-01\""), "{out}");
}
