//! Command lines: the same exit codes and the same words.

use crate::ncdump_tool::{Run, assert_same, generate, ours, reference};

/// The messages without the line about the version.
fn without_version(mut run: Run) -> Run {
    let text = String::from_utf8(run.err).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with("netcdf library version "));
    run.err = lines.map(|line| format!("{line}\n")).collect::<String>().into_bytes();
    run
}

#[test]
fn usage() {
    for args in [&[][..], &["-h"], &["-Z", "a"], &["-n"], &["a", "b"], &["-hZc", "a"], &["--help"]] {
        let (theirs, mine) = (without_version(reference(args)), without_version(ours(args)));
        assert_same(args, &theirs, &mine);
        assert!(mine.err.len() > 1000);
    }
}

#[test]
fn refusals() {
    for args in [
        &["-b", "q", "a"][..],
        &["-f", "", "a"],
        &["-l", "9", "a"],
        &["-l", "abc", "a"],
        &["-p", "0", "a"],
        &["-p", "5,99", "a"],
        &["-p", "5,", "a"],
        &["-d", "-3", "a"],
        &["-X", "q", "a"],
        &["no/such/file.nc"],
    ] {
        assert_same(args, &reference(args), &ours(args));
    }
}

#[test]
fn files() {
    let folder = tempfile::tempdir().unwrap();
    let cdl = folder.path().join("s.cdl");
    std::fs::write(
        &cdl,
        "netcdf s { dimensions: x = 2; variables: int x(x); float v(x), w; data: x = 1, 2; v = 1.5, _; w = 3; }",
    )
    .unwrap();
    for kind in ["-3", "-6", "-5"] {
        let path = folder.path().join("a.b.nc");
        generate(kind, &cdl, &path);
        let file = path.to_str().unwrap();
        for args in [
            &["-k"][..],
            &["-K"],
            &["-kK"],
            &["-Xm", "-K"],
            &["-Xm"],
            &["-c"],
            &["-hc"],
            &["-n", "1 name"],
            &["-n", " name"],
            &["-v", "v,w"],
            &["-v", "v", "-x"],
            &["-x"],
            &["-xh"],
            &["-g", "g"],
            &["-v", "no"],
            &["-v", "g/v"],
            &["-w"],
            &["-b", "Fortran"],
            &["-l", "0x20"],
            &["-p", ",3"],
            &["-F"],
        ] {
            let args = [args, &[file]].concat();
            assert_same(&args, &reference(&args), &ours(&args));
        }
        // The reference logs what it does then.
        let args = ["-L2", file];
        assert_same(&args, &Run { err: vec![], ..reference(&args) }, &ours(&args));
    }
}

/// Empty names in a list: the reference follows a pointer that it never set.
#[test]
fn empty_names() {
    let folder = tempfile::tempdir().unwrap();
    let (cdl, path) = (folder.path().join("s.cdl"), folder.path().join("s.nc"));
    std::fs::write(&cdl, "netcdf s { variables: int v, w; data: v = 1; w = 2; }").unwrap();
    generate("-3", &cdl, &path);
    let file = path.to_str().unwrap();
    assert_same(&["-v", ",v,,"], &reference(&["-v", "v", file]), &ours(&["-v", ",v,,", file]));
}

#[test]
fn what_is_no_netcdf_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text.nc");
    std::fs::write(&path, "This is no netCDF file at all, and long enough to be looked at.").unwrap();
    let file = path.to_str().unwrap();
    let (theirs, mine) = (reference(&[file]), ours(&[file]));
    assert_eq!((theirs.code, &theirs.out), (mine.code, &mine.out));
    // Ours goes on to say why.
    assert!(mine.err.starts_with(&theirs.err), "{}", String::from_utf8_lossy(&mine.err));
    assert!(mine.err.len() > theirs.err.len());
}
