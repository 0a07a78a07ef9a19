//! `ncgen` says what the reference's `ncgen` says.

use super::ncgen_files::{ours, reference};

/// Both check the same text from standard input.
fn compare(text: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.cdl");
    std::fs::write(&path, text).unwrap();
    let shown = path.to_str().unwrap();
    let (expected, code) = reference(&[shown], folder.path());
    let (said, our_code) = ours(&[shown], b"");
    assert_eq!((said, Some(i32::from(our_code))), (expected, code), "{text}");
}

#[test]
fn faults_in_the_text() {
    for text in [
        "netcdf a {}",
        "netcdf a {\n\n",
        "netcdf a { dimensions: x = 2 variables: }",
        "netcdf a { dimensions: x = 2; variables: int v(x);\n\ndata: v = 1,,2; }",
        "netcdf a { dimensions: x = 2; variables: int v(x); data: w = 1; }",
        "netcdf a { dimensions: x = 2;\nvariables: int v(y); }",
        "netcdf a { dimensions: x = 2; x = 3; }",
        "netcdf a { variables: int v;\nint v; }",
        "netcdf a { :a = \"x\", 1; }",
        "netcdf a { int :a = ; }",
        "netcdf a { :a = _; }",
        "netcdf a { :a = -1u; }",
        "netcdf a { :a = 99999999999999999999; }",
        "netcdf a { :a = 1LLL; }",
        "netcdf a { :_Format = \"nc9\"; }",
        "netcdf a { variables: int v; v:_FillValue = 1, 2; }",
        "netcdf a { variables: int v; v:_Storage = \"heap\"; }",
        "netcdf a { variables: int v; v:_Endianness = \"none\"; }",
        "netcdf a { variables: int v; v:_Shuffle = 2; }",
        "netcdf a { types: int(*) t; int(*) t; }",
        "netcdf a { types: compound c { int a; int a; }; }",
        "netcdf a { types: byte enum e { a = 1, a = 2 }; }",
        "netcdf a { group: g { } group: g { } }",
        "netcdf a { variables: double d; data: d = f(\"x\"); }",
        "netcdf a { variables: int v; data: v = nix; }",
        "netcdf a { dimensions: u = UNLIMITED; n = 2; variables: int v(n, u); }",
    ] {
        compare(text);
    }
}

#[test]
fn command_lines() {
    let folder = tempfile::tempdir().unwrap();
    for args in [
        &["-q"][..],
        &["-o"],
        &["-k", "nc9"],
        &["-l", "ada"],
        &["-b", "-n"],
        &["-c", "-f"],
        &["a", "b"],
        &["nothing.cdl"],
        &["-3", "--", "-b"],
    ] {
        let (expected, code) = reference(args, folder.path());
        let (said, our_code) = ours(args, b"");
        // The last line of the usage text is the version.
        let without_version = |text: &str| {
            text.lines()
                .filter(|line| !line.starts_with("netcdf library version"))
                .map(String::from)
                .collect::<Vec<_>>()
        };
        assert_eq!(without_version(&said), without_version(&expected), "{args:?}");
        assert_eq!(Some(i32::from(our_code)), code, "{args:?}");
    }
}
