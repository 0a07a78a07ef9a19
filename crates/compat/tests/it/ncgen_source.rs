//! The programs that `ncgen -l` writes are those of the reference, and the C programs write the files of `ncgen -b`.
//!
//! What is not taken over from the reference is listed in `what_no_compiler_takes_is_put_right` and
//! `values_are_not_lost`, and what is different for other reasons in [`comparable`] and in
//! `an_attribute_given_twice_is_written_once`.

use std::process::Command;

use ferrocdf_store::testing::Rng;

use crate::ncgen_files::dataset;
use crate::ncgen_tool::{LANGUAGES, comparable, java_as_the_reference, ours, theirs};

/// Both write a program for a text from standard input; the programs must be the same.
fn same(options: &[&str], text: &str) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.cdl"), text).unwrap();
    let file = folder.path().join("t.cdl");
    let (expected, said, code) = theirs(&[options, &["t.cdl"]].concat(), folder.path());
    assert_eq!(code, Some(0), "the reference: {said}\n{text}");
    let mine = ours(&[options, &[file.to_str().unwrap()]].concat(), b"");
    assert_eq!((mine.1, mine.2), (said, code), "{options:?} {text}");
    let fortran = options[0].starts_with("-lf") || options[0] == "-f";
    let as_text = |text: &[u8]| match fortran {
        true => comparable(text),
        false => String::from_utf8_lossy(text).into_owned(),
    };
    let (expected, mine) = (as_text(&expected), as_text(&mine.0));
    for (their, my) in expected.split('\n').zip(mine.split('\n')) {
        assert_eq!(their, my, "{options:?} {text}");
    }
    assert_eq!(expected.len(), mine.len(), "{options:?} {text}");
}

/// A dataset with the parts that show in programs.
const TEXT: &str = r#"netcdf small-set {
dimensions:
    x = 3 ; y = 2 ; t = UNLIMITED ; n4-m = 2 ; len = 5 ;
variables:
    int v(x, y) ; v:units = "m s-1" ; v:two = 1, 2 ; v:_FillValue = 7 ;
    double time(t) ; time:units = "days since \"then\"\\" ; time:range = 0., 1.e-30 ;
    char text(t, len) ; short s(t, x) ; s:a.b = 3s, -4s ; s:c+d = 1b ;
    float scalar ; float é(x) ; byte k(n4-m) ; int nothing(x) ; char words(x, len) ;
    :title = "one\n", "two\ttab\001'" ; :empty = "" ; :g = 1.5f, NaNf ;
data:
    v = 1, 2, 3, 4, 5 ; time = 0.1, 2e300, NaN ; text = "ab", "cde" ; s = 1, 2, 3, 4 ; scalar = -2.25 ;
    é = 1, _, 3 ; k = 1, -2 ; words = "it's", "\r\n\f", "xyz" ;
}
"#;

#[test]
fn programs_are_those_of_the_reference() {
    let text = TEXT.replace("\\\\", "");
    for options in [
        &["-lc"][..],
        &["-lf77"],
        &["-ljava"],
        &["-lC", "-M", "make", "-N", "other"],
        &["-lfortran77", "-M", "make"],
        &["-lj", "-M", "Make"],
        &["-lj", "-M", "main"],
        &["-lc", "-W", "5"],
        &["-lc", "-W", "-1"],
        &["-lf77", "-W", "1"],
        &["-ljava", "-W", "6x"],
        &["-lc", "-k", "nc6"],
        &["-lc", "-7", "-L", "2"],
        &["-lc", "-H"],
        &["-lf77", "-H", "-x"],
        &["-ljava", "-H", "-x"],
        &["-lc", "-o", "some/where.nc"],
        &["-lf77", "-o", "a\\ b"],
        &["-c"],
        &["-f"],
    ] {
        same(options, &text);
    }
    same(&["-lc"], TEXT);
    same(&["-lf77"], TEXT);
}

#[test]
fn programs_of_little() {
    for text in [
        "netcdf a { }",
        "netcdf a { dimensions: n = 2 ; }",
        "netcdf a { dimensions: t = UNLIMITED ; }",
        "netcdf a { :b = 1 ; }",
        "netcdf a { :b = \"x\" ; :c = 'd' ; }",
    ] {
        for language in LANGUAGES {
            same(&[language], text);
        }
    }
    for text in [
        "netcdf a { variables: int v ; data: v = 3 ; }",
        "netcdf a { variables: int v ; v:a = 1. ; }",
        "netcdf a { dimensions: t = UNLIMITED ; variables: int v(t) ; int w(t) ; data: v = 3 ; w = 1, 2 ; }",
    ] {
        for language in ["-lc", "-ljava"] {
            same(&[language], text);
        }
    }
}

#[test]
fn long_lines_of_fortran_are_folded_at_the_same_places() {
    for len in 1..200 {
        let text = format!("netcdf a {{ :n = \"{}\" ; :m = \"{}\" ; }}", "x".repeat(len), "\\\\".repeat(len));
        let (expected, ..) = theirs_of(&["-lf77"], &text);
        assert_eq!(
            String::from_utf8_lossy(&expected),
            String::from_utf8_lossy(&ours(&["-lf77"], text.as_bytes()).0)
        );
    }
}

/// The reference's answer to a text from standard input.
fn theirs_of(args: &[&str], text: &str) -> (Vec<u8>, String, Option<i32>) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.cdl"), text).unwrap();
    theirs(&[args, &["a.cdl"]].concat(), folder.path())
}

/// The lines but for those that depend on the spelling of the text, not on its contents: how many constants an
/// attribute is given by, and whether one of them is called infinity, whatever becomes of it.
fn lines(text: &str) -> Vec<&str> {
    let special = |line: &str| line.starts_with("#define") && (line.contains("nan") || line.contains("inf"));
    text.lines()
        .filter(|line| !line.is_empty() && !line.contains("integer textval(") && !special(line))
        .collect()
}

/// Whether two lines differ in digits of reals only that the reference does not print.
fn same_numbers(their: &str, my: &str) -> bool {
    let pieces = |line: &str| -> Vec<String> {
        line.replace('D', "e").split([' ', ',', '(', ')', '{', '}', '/', ';']).map(String::from).collect()
    };
    let (theirs, mine) = (pieces(their), pieces(my));
    let close = |(their, my): (&String, &String)| {
        their == my
            || match (their.parse::<f64>(), my.parse::<f64>()) {
                (Ok(their), Ok(my)) => (their - my).abs() <= their.abs() * 6e-8,
                _ => false,
            }
    };
    theirs.len() == mine.len() && theirs.iter().zip(&mine).all(close)
}

#[test]
fn random_datasets() {
    let mut rng = Rng::new(77);
    let mut compared = 0;
    for _ in 0..100 {
        let text = dataset(&mut rng, false);
        for language in LANGUAGES {
            let (expected, said, code) = theirs_of(&[language, "-o", "f.nc"], &text);
            if code != Some(0) {
                // Fortran of a text whose first variable has no data ends the reference, among others.
                continue;
            }
            assert_eq!(said, "", "{text}");
            let mine = ours(&[language, "-o", "f.nc"], text.as_bytes());
            assert_eq!((mine.1.as_str(), mine.2), ("", Some(0)), "{text}");
            let (expected, mut mine) = (comparable(&expected), comparable(&mine.0));
            if language == "-ljava" {
                mine = java_as_the_reference(&mine);
            }
            let (expected, mine) = (lines(&expected), lines(&mine));
            for (their, my) in expected.iter().zip(&mine) {
                assert!(same_numbers(their, my), "{language}: {their:?} and {my:?} of {text}");
            }
            assert_eq!(expected.len(), mine.len(), "{language} {text}");
            compared += 1;
        }
    }
    assert!(compared > 200, "only {compared} were compared");
}

/// Compiles a program and runs it; the file it made.
pub fn run_c(program: &[u8], file: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("make.c"), program).unwrap();
    let mut cc = Command::new("cc");
    cc.args(["-O0", "-o", "make", "make.c", "-lnetcdf"]).current_dir(folder.path());
    let cc = cc.output().expect("a C compiler");
    assert!(cc.status.success(), "{}", String::from_utf8_lossy(&cc.stderr));
    let made = Command::new(folder.path().join("make")).current_dir(folder.path()).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    std::fs::read(folder.path().join(file)).unwrap()
}

#[test]
fn programs_in_c_write_the_same_files() {
    let large = format!(
        "netcdf a {{ dimensions: t = UNLIMITED ; y = 40 ; x = 50 ; variables: double v(t, x) ; float w(y, x) ; data: v = {} ; w = {} ; }}",
        (0..200).map(|n| format!("{}", f64::from(n) / 7.0)).collect::<Vec<_>>().join(", "),
        (0..2000).map(|n| format!("{}", n as f32 / 3.0)).collect::<Vec<_>>().join(", "),
    );
    // How C compilers spell a NaN, is theirs to choose.
    let finite = TEXT.replace(", NaNf", "").replace(", NaN", "");
    let wide = "netcdf a { dimensions: n = 2 ; variables: ubyte a(n) ; ushort b ; uint c(n) ; int64 d(n) ; uint64 e ; \
                e:f = 1UB ; e:g = 2U, 3000000000U ; :h = 5000000000 ; :i = 18446744073709551615ULL ; :j = 7US ; \
                data: a = 1, 200 ; b = 65535 ; c = 1, 4294967295 ; d = -9223372036854775807, 5000000000 ; \
                e = 18446744073709551615 ; }";
    for (options, text) in [
        (&[][..], finite.as_str()),
        (&["-k", "nc6"], &finite),
        (&["-W", "1"], &finite),
        (&["-x"], &finite),
        (&[], &large),
        (&["-5"], &large),
        (&[], wide),
        (&[], "netcdf a { :b = 1e400, -1e400 ; :c = 1e300f ; }"),
        (
            &[],
            "netcdf a { dimensions: x = 2; variables: float v(x); double w(x); v:a = -0.f; w:a = -0.; data: v = -0, 0; w = 0, -0; }",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.nc");
        let (_, said, code) =
            ours(&[options, &["-b", "-o", path.to_str().unwrap()]].concat(), text.as_bytes());
        assert_eq!((said.as_str(), code), ("", Some(0)), "{text}");
        let (program, said, code) = ours(&[options, &["-lc", "-o", "f.nc"]].concat(), text.as_bytes());
        assert_eq!((said.as_str(), code), ("", Some(0)), "{text}");
        let (expected, made) = (std::fs::read(&path).unwrap(), run_c(&program, "f.nc"));
        let differs = expected.iter().zip(&made).position(|(a, b)| a != b);
        assert_eq!((differs, expected.len()), (None, made.len()), "{options:?} {text}");
    }
}

/// The lines of ours that are not in the reference's, each with the line of the reference in its place.
fn put_right(options: &[&str], text: &str) -> Vec<(String, String)> {
    let (theirs, ..) = theirs_of(options, text);
    let (mine, said, code) = ours(options, text.as_bytes());
    assert_eq!((said.as_str(), code), ("", Some(0)), "{text}");
    let [theirs, mine] = [theirs, mine].map(|text| String::from_utf8_lossy(&text).into_owned());
    let changed = theirs.lines().zip(mine.lines()).filter(|(their, my)| their != my);
    changed.map(|(their, my)| (their.trim().to_string(), my.trim().to_string())).collect()
}

#[test]
fn what_no_compiler_takes_is_put_right() {
    for (options, text, their, my) in [
        (
            &["-lc", "-5", "-o", "f"][..],
            "netcdf a { }",
            "stat = nc_create(\"f\", NC_CLOBBER, &ncid);",
            "stat = nc_create(\"f\", NC_CLOBBER|NC_64BIT_DATA, &ncid);",
        ),
        // The call is forgotten; only the check of its result is there.
        (&["-lc", "-x"], "netcdf a { }", "CHECK_ERR(stat);", "stat = nc_set_fill(ncid, NC_NOFILL, 0);"),
        (
            &["-ljava"],
            "netcdf a { variables: char c ; data: c = \"'\" ; }",
            "data.set((char)''\\''');",
            "data.set((char)'\\'');",
        ),
        (
            &["-ljava"],
            "netcdf a { :b = \"\\\\d\" ; }",
            "ncfile.addGlobalAttribute(\"b\",\"\\d\");",
            "ncfile.addGlobalAttribute(\"b\",\"\\\\d\");",
        ),
        (
            &["-ljava"],
            "netcdf a { :b = -Infinity ; }",
            "Array data = Array.factory(double.class, new int[]{1}, new double[]{((double)-inf)});",
            "Array data = Array.factory(double.class, new int[]{1}, new double[]{Double.NEGATIVE_INFINITY});",
        ),
    ] {
        let changed = put_right(options, text);
        let expected = (their.to_string(), my.to_string());
        assert!(changed.contains(&expected), "{options:?} {text}: {changed:?}");
    }
    // The reference uses this word without defining it.
    let program = ours(&["-lc"], b"netcdf a { :b = 1e400 ; }").0;
    assert!(String::from_utf8_lossy(&program).contains("#define inf  (1.0/0.0)"));
}

#[test]
fn values_are_not_lost() {
    // Sixteen digits do not make this value again.
    let changed = put_right(&["-lc"], "netcdf a { :b = 0.30000000000000004 ; }");
    let digits = |digits: &str| format!("static const double a_b_att[1] = {{((double){digits})}} ;");
    assert_eq!(changed, [(digits("0.3"), digits("0.30000000000000004"))]);
    // The reference writes 64-bit integers of CDF-5 as int.
    let text = "netcdf a { variables: int64 v ; data: v = 5000000000 ; }";
    let declared =
        ("static int v_data[1] = {705032704};", "static signed long long v_data[1] = {5000000000LL};");
    let changed = put_right(&["-lc"], text);
    assert!(changed.contains(&(declared.0.to_string(), declared.1.to_string())), "{changed:?}");
}

#[test]
fn the_reference_ends_where_there_is_nothing_wrong() {
    // Fortran of a text that has variables, but neither attributes nor data for the first of them.
    let text = "netcdf a { dimensions: n = 2 ; variables: int v(n) ; }";
    assert_eq!(theirs_of(&["-lf77"], text).2, None);
    assert_eq!(ours(&["-lf77"], text.as_bytes()).2, Some(0));
    // Java of a name outside the basic plane.
    let text = "netcdf a { dimensions: \u{1F600} = 2 ; }";
    assert_eq!(theirs_of(&["-ljava"], text).2, None);
    assert!(String::from_utf8_lossy(&ours(&["-ljava"], text.as_bytes()).0).contains("\"\\uD83D\\uDE00\""));
}

#[test]
fn an_attribute_given_twice_is_written_once() {
    // The model knows the last value only. The order is that of the text.
    let text = "netcdf a { variables: int v ; int w ; v:a = 1 ; w:a = 2 ; v:b = 3 ; v:a = 4 ; }";
    let program = String::from_utf8(ours(&["-lc"], text.as_bytes()).0).unwrap();
    let puts: Vec<_> = program.lines().filter(|line| line.contains("nc_put_att_int")).collect();
    assert_eq!(puts.len(), 3);
    assert!(
        puts[0].contains("v_id, \"a\"") && puts[1].contains("w_id, \"a\"") && puts[2].contains("v_id, \"b\"")
    );
}

#[test]
fn what_has_no_program_is_refused() {
    for text in ["netcdf a { group: g { } }", "netcdf a { types: byte enum e { one = 1 } ; }"] {
        let (out, said, code) = ours(&["-ljava"], text.as_bytes());
        assert_eq!(
            (out.len(), said.as_str(), code),
            (0, "Java or Fortran requires classic model CDL input\n", Some(0))
        );
    }
    for language in ["-lf77", "-ljava"] {
        let (out, said, code) = ours(&[language], b"netcdf a { :b = 1UB ; }");
        assert_eq!((out.len(), code), (0, Some(1)), "{said}");
    }
    let (out, _, code) = ours(&["-lc"], b"netcdf a { :b = ; variables: int v(n) ; }");
    assert_eq!((out.len(), code), (0, Some(1)));
}
