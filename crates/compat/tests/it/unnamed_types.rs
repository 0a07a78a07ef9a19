//! Types without a name through ferrocdf's tools: what `ncdump` prints, `ncgen` reads and `nccopy` copies. Debian's tools
//! show none of them; the corpus compares names with the newest reference.

use crate::{nccopy_tool, ncdump_tool, ncgen_tool};

/// Booleans, complex numbers, tables, lists and opaque values of h5py.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../ferrocdf/tests/data/unnamed.h5");

/// What ferrocdf's `ncdump` prints of a file.
fn printed(file: &str) -> String {
    let run = ncdump_tool::ours(&["-n", "a", file]);
    assert_eq!(run.code, Some(0), "{file}: {}", String::from_utf8_lossy(&run.err));
    String::from_utf8(run.out).unwrap()
}

/// Lines in an order of their own: types that hold others are made behind those that do not.
fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn unnamed_types_come_round_through_the_tools() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let text = printed(FILE);
    for line in [
        "  byte enum _AnonymousEnum2 {FALSE = 0, TRUE = 1} ;",
        "\t_AnonymousEnum2 flag(phony_dim_1) ;",
        "\t\t_AnonymousEnum2 x:checked = TRUE ;",
        "\t\t/g/_AnonymousEnum10 :size = LARGE ;",
        " rows = {TRUE, {1, 2}, \"a\"} ;",
        " z = {1, 2} ;",
    ] {
        assert!(text.lines().any(|found| found == line), "{line:?} in\n{text}");
    }
    let (_, said, code) = ncgen_tool::ours(&["-k", "nc4", "-o", &path("made.nc")], text.as_bytes());
    assert_eq!((code, &*said), (Some(0), ""));
    assert_eq!(sorted(&printed(&path("made.nc"))), sorted(&text));
    let copied = nccopy_tool::ours(&[FILE, &path("copy.nc")]);
    assert_eq!(copied.code, Some(0), "{}", copied.said);
    assert_eq!(printed(&path("copy.nc")), text);
}

/// What `ncdump` prints for a zero that no member of an enumeration has.
#[test]
fn a_zero_without_a_member_comes_round() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.nc").to_str().unwrap().to_string();
    let text = "netcdf a { types: byte enum E { ONE = 1 } ; variables: E v ; data: v = _UNDEFINED ; }";
    let (_, said, code) = ncgen_tool::ours(&["-k", "nc4", "-o", &file], text.as_bytes());
    assert_eq!((code, &*said), (Some(0), ""));
    assert!(printed(&file).contains(" v = _UNDEFINED ;"));
}

#[test]
fn a_late_type_that_never_comes_is_an_error() {
    for text in ["netcdf a { :n = 1 ; /g/T :m = 2 ; }", "netcdf a { variables: int v ; /g/T v:m = 2 ; }"] {
        let (_, said, code) = ncgen_tool::ours(&[], text.as_bytes());
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("Undefined"), "{said}");
    }
}
