//! The programs that `ncgen3` writes are those of the reference, and its C programs write the files of `ncgen3 -b`.
//!
//! What is not taken over from the reference is listed in `what_the_reference_loses_is_written`, and what it leaves away
//! of Fortran's data in [`as_the_reference`].

use std::path::Path;
use std::process::Command;

use ferrocdf_store::testing::Rng;

use crate::ncgen_files::dataset;
use crate::ncgen_source::run_c;
use crate::ncgen_tool::without_negative_zeros;
use crate::ncgen3_tool::{as_the_reference, ours, statements, theirs};

/// A dataset with the parts that show in programs.
const TEXT: &str = r#"netcdf small-set {
dimensions:
    t = UNLIMITED ; x = 4 ; n-m = 2 ; len = 5 ;
variables:
    int f(x) ; f:units = "m\ns'\"\\t\001é" ; f:vec = 1, 2, 3 ;
    :title = "hello" ; :empty = "" ;
    short r(t, x) ; byte b(t) ; char c(t, len) ; char s ; char c1(x) ; double d(x) ; float _w(t, x, n-m) ;
    double sc ; int never(x) ; int nr(t) ; char cr(t) ; float é(x) ; char \4d(x, len) ; byte sb ; float sf ; short ss ;
    f:later = 1.5, 2.25e100 ; r:_FillValue = -9s ; d:f = 1.5f, 1e-5f ; :g = 3b ; _w:a.b = -4s, 5s ; é:é = 1. ;
data:
    d = 1, 0.1, 1e100, 3.5 ; r = 1, 2, 3, _, 5 ; f = 1, 2, 3, 4 ; b = 1b, -1b ; c = "abcde", "fg" ; s = "x" ;
    c1 = "q'e\n" ; _w = 1, 2, 3, 0.1 ; sc = -12 ; cr = "one" ; é = 1, _, 3 ; \4d = "12", "it's\\", "é" ; sb = -3b ;
    sf = 2.5 ; ss = 7 ;
}
"#;

/// Both write a program for a text in a file; the programs must be the same.
fn same(options: &[&str], text: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.cdl");
    std::fs::write(&path, text).unwrap();
    let args = [options, &[path.to_str().unwrap()]].concat();
    let (expected, said, code) = theirs(&args, folder.path());
    assert_eq!(code, Some(0), "the reference: {said}\n{text}");
    let mine = ours(&args);
    assert_eq!((mine.1, mine.2), (said, code), "{options:?} {text}");
    let (expected, mine) = match expected.starts_with("      program") {
        true => (statements(&expected), as_the_reference(&statements(&mine.0))),
        false => [expected, mine.0].map(|text| text.split('\n').map(String::from).collect()).into(),
    };
    for (their, my) in expected.iter().zip(&mine) {
        assert_eq!(their, my, "{options:?} {text}");
    }
    assert_eq!(expected.len(), mine.len(), "{options:?} {text}");
}

#[test]
fn programs_are_those_of_the_reference() {
    for language in ["-c", "-f"] {
        for options in [&[][..], &["-x"], &["-k", "64-bit offset"], &["-v2", "-x"], &["-k", "netCDF-4"]] {
            same(&[options, &[language]].concat(), TEXT);
        }
        for text in [
            "netcdf a { }",
            "netcdf \\2a { dimensions: n = 2 ; }",
            "netcdf a { dimensions: t = UNLIMITED ; }",
            "netcdf a { :b = 1 ; }",
            "netcdf a { :b = \"x\" ; }",
            "netcdf a { variables: int v ; data: v = 3 ; }",
            "netcdf a { variables: int v ; int w ; w:a = 1 ; v:b = 2. ; :c = 3s ; v:d = 4b ; }",
            "netcdf a { dimensions: t = UNLIMITED ; variables: int v(t) ; int w(t) ; data: w = 3 ; v = 1, 2 ; }",
        ] {
            same(&[language], text);
        }
    }
    same(&["-lC"], TEXT);
    same(&["-lfortran77"], TEXT);
    same(&["-c", "-k", "hdf5-nc3"], TEXT);
}

#[test]
fn long_lists_of_c_are_broken_at_the_same_places() {
    let mut rng = Rng::new(3);
    for ty in ["byte", "short", "int", "float", "double"] {
        let values: Vec<_> = (0..2000).map(|_| format!("{}.5", rng.below(100))).collect();
        same(
            &["-c"],
            &format!(
                "netcdf a {{ dimensions: n = 2000 ; variables: {ty} v(n) ; data: v = {} ; }}",
                values.join(", ")
            ),
        );
    }
}

#[test]
fn random_datasets() {
    let mut rng = Rng::new(5);
    let mut compared = 0;
    for _ in 0..150 {
        let folder = tempfile::tempdir().unwrap();
        let cdl = folder.path().join("a.cdl");
        std::fs::write(&cdl, dataset(&mut rng, false)).unwrap();
        let run = |program: &str, args: &[&str]| {
            Command::new(program).args(args).current_dir(folder.path()).output().expect("the reference")
        };
        // What the dump has, is what old texts have.
        if !run("ncgen", &["-b", "-o", "a.nc", "a.cdl"]).status.success() {
            continue;
        }
        let text = without_negative_zeros(&run("ncdump", &["a.nc"]).stdout);
        let text = String::from_utf8(text).unwrap();
        // To the reference, NaN and infinity are fill values, and a text of no characters among others is a zero.
        if ["NaN", "Infinity", "inf", "\"\""].iter().any(|word| text.contains(word)) {
            continue;
        }
        std::fs::write(&cdl, &text).unwrap();
        for language in ["-c", "-f"] {
            if theirs(&[language, "a.cdl"], folder.path()).2 == Some(0) {
                same(&[language], &text);
                compared += 1;
            }
        }
    }
    assert!(compared > 100, "only {compared} were compared");
}

/// Runs ours on a text.
fn ours_of(folder: &Path, options: &[&str], text: &str) -> (String, String, Option<i32>) {
    let path = folder.join("t.cdl");
    std::fs::write(&path, text).unwrap();
    ours(&[options, &[path.to_str().unwrap()]].concat())
}

#[test]
fn programs_in_c_write_the_same_files() {
    let special = "netcdf a { variables: double v ; :b = 1e400, -1e400 ; :c = 0.30000000000000004 ; char q ; char z ; \
                   data: v = -1e400 ; q = \"'\" ; z = \"\\000\" ; }";
    let zeros = "netcdf a { dimensions: x = 2 ; variables: float v(x) ; double w(x) ; w:a = -0. ; data: v = -0, 0 ; w = 0, -0 ; }";
    for (options, text) in
        [(&[][..], TEXT), (&["-k", "2"], TEXT), (&["-k", "classic"], TEXT), (&[], special), (&[], zeros)]
    {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("made.nc");
        let file = file.to_str().unwrap();
        // Both at once: a file and the program that makes it.
        let (program, said, code) = ours_of(folder.path(), &[options, &["-c", "-o", file]].concat(), text);
        assert_eq!((said.as_str(), code), ("", Some(0)), "{text}");
        let expected = std::fs::read(file).unwrap();
        std::fs::remove_file(file).unwrap();
        assert_eq!(run_c(program.as_bytes(), file), expected, "{options:?} {text}");
    }
}

#[test]
fn what_the_reference_loses_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let text = "netcdf a { dimensions: n = 4 ; variables: int v(n) ; char c(n) ; data: v = 1, 2, 3, 4 ; c = \"a\" ; }";
    let (program, _, code) = ours_of(folder.path(), &["-f"], text);
    assert_eq!(code, Some(0));
    // The reference: `data v /2,3, 4/`, and a text that is shorter than the variable.
    assert!(program.contains("      data v /1, 2, 3, 4/\n"), "{program}");
    assert!(program.contains("'a'//char(0)//char(0)//char(0))"), "{program}");
    // The reference calls this too long, and ends in the midst of the program.
    let long = vec!["1234567"; 1000].join(", ");
    let text = format!("netcdf a {{ dimensions: n = 1000 ; variables: int v(n) ; data: v = {long} ; }}");
    let (program, said, code) = ours_of(folder.path(), &["-f"], &text);
    assert_eq!((said.as_str(), code), ("", Some(0)));
    assert!(statements(&program).contains(&format!("      data v /{long}/")));
    assert!(program.ends_with("      end\n"));
    // The reference creates a netCDF-4 file.
    let program = ours_of(folder.path(), &["-c", "-k", "classic"], "netcdf a { }").0;
    assert!(program.contains("nc_create(\"a.nc\", NC_CLOBBER, &ncid)"), "{program}");
}
