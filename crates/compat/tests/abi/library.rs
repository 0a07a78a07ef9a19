//! The library exports what `symbols.txt` lists, and nothing else.

use std::collections::BTreeSet;
use std::process::Command;

use crate::headers::Headers;
use crate::{run, text};

/// Functions that netcdf-fortran calls and declares itself.
const UNDECLARED: &[&str] = &[
    "nc_def_var_chunking_ints",
    "nc_get_chunk_cache_ints",
    "nc_get_meta_block_size_ints",
    "nc_get_var_chunk_cache_ints",
    "nc_inq_var_chunking_ints",
    "nc_set_chunk_cache_ints",
    "nc_set_meta_block_size_ints",
    "nc_set_var_chunk_cache_ints",
];

fn listed() -> Vec<String> {
    text("crates/capi/package/symbols.txt").lines().map(str::to_string).collect()
}

/// Compares two sets so that a failure names what only one of them has.
fn assert_equal(left: &BTreeSet<String>, right: &BTreeSet<String>) {
    let [only_left, only_right] =
        [left.difference(right), right.difference(left)].map(|names| names.collect::<Vec<_>>());
    assert!(
        only_left.is_empty() && only_right.is_empty(),
        "only left {only_left:?}, only right {only_right:?}"
    );
}

#[test]
fn the_list_is_what_the_headers_declare() {
    let listed = listed();
    assert!(listed.is_sorted_by(|a, b| a < b), "symbols.txt is not sorted");
    let functions = Headers::ours().declared().functions;
    let declared =
        functions.iter().filter(|(_, text)| text.starts_with("extern ")).map(|(name, _)| name.clone());
    let undeclared = UNDECLARED.iter().map(|name| name.to_string());
    assert_equal(&listed.into_iter().collect(), &declared.chain(undeclared).collect());
}

#[test]
fn the_linker_is_told_the_list() {
    let map = text("crates/capi/package/libnetcdf.map");
    let (_, global) = map.split_once("global:").unwrap();
    let (global, local) = global.split_once("local:").unwrap();
    let names = global.split(';').map(str::trim).filter(|name| !name.is_empty()).map(str::to_string);
    assert_equal(&listed().into_iter().collect(), &names.collect());
    assert_eq!(local.split_whitespace().collect::<String>(), "*;};");
}

#[test]
fn the_library_exports_the_list() {
    let library = ferrocdf_compat::both::build();
    let symbols = run(Command::new("nm").args(["-D", "--defined-only", "--format=posix"]).arg(&library));
    let names = symbols.lines().filter_map(|line| line.split(' ').next()).map(str::to_string);
    // The installed programs call one more.
    let listed = listed().into_iter().chain(["ferrocdf_main".to_string()]);
    assert_equal(&listed.collect(), &names.collect());
}
