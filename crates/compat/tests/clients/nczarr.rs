//! The reference's own tests of NCZarr, from its folder `nczarr_test`, with our tools, and with their C programs linked to our
//! library.
//!
//! Two files replace internal functions of the reference: `py/zmapio.py` is the program `zmapio` that scripts call, and
//! `c/suite/nczarr.c` has the functions that C programs call.
//!
//! Not run: `run_ut_misc.sh`, `run_ut_map.sh`, `run_ut_mapapi.sh` and `run_ut_chunk.sh`, which call internal functions only;
//! `run_external.sh` and `run_s3_credentials.sh`, which need servers of the internet; `run_perf_chunks1.sh`, which measures;
//! `run_it_chunks1.sh`, which is in no build of the reference. Storage in S3 is not tested here, and that in zip files only where it
//! is read.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::folder;
use crate::shell::{Run, build_tree};
use crate::suite::{Program, helper, nczarr};

/// Scripts in the source of the reference, and programs. Those of other folders have a part for NCZarr, which the
/// reference's build makes scripts of their own of.
const SCRIPTS: &[&str] = &[
    "nczarr_test/run_ncgen4.sh",
    "nczarr_test/run_quantize.sh",
    "nczarr_test/run_purezarr.sh",
    "nczarr_test/run_interop.sh",
    "nczarr_test/run_misc.sh",
    "nczarr_test/run_nczarr_fill.sh",
    "nczarr_test/run_jsonconvention.sh",
    "nczarr_test/run_strings.sh",
    "nczarr_test/run_scalar.sh",
    "nczarr_test/run_nulls.sh",
    "nczarr_test/run_notzarr.sh",
    "nczarr_test/run_unlim_io.sh",
    "nczarr_test/run_nccopyz.sh",
    "nczarr_test/run_cachetest.sh",
    "nczarr_test/run_newformat.sh",
    "nczarr_test/run_chunkcases.sh",
    "nczarr_test/run_fillonlyz.sh",
    "nczarr_test/run_oldkeys.sh",
    "nczarr_test/run_nczfilter.sh",
    "nczarr_test/run_filter.sh",
    "nczarr_test/run_filter_errors.sh",
    "nczarr_test/run_corrupt.sh",
    "nczarr_test/run_xarray_misc.sh",
    "ncdump/tst_mud.sh",
    "ncdump/tst_nccopy5.sh",
    "nc_test4/tst_filter_vlen.sh",
    "nc_test4/tst_filter_misc.sh",
    "nc_test4/tst_specific_filters.sh",
    "nc_test4/tst_unknown.sh",
    "test_unlim_vars",
    "test_endians",
    "test_put_vars_two_unlim_dim",
];

/// Scripts that only read zip files: they run with zip storage. All other scripts run without it (`ZIP=no`), because they have not been tried
/// with zip files that this library writes.
const ZIP_READ: &[&str] =
    &["nczarr_test/run_interop.sh", "nczarr_test/run_newformat.sh", "nczarr_test/run_notzarr.sh"];

/// The scripts that fail, each with the reason. One that passes must leave the list.
const FAILING: &[(&str, &str)] = &[
    (
        "run_purezarr.sh",
        "wants a store of NCZarr to lose its names of dimensions when it is opened as plain Zarr; ours uses what the store says",
    ),
    (
        "run_interop.sh",
        "prints a `fill_value` of plain Zarr as no `_FillValue`; ours makes the attribute of it",
    ),
    (
        "run_nczarr_fill.sh",
        "prints a `fill_value` of 0 of plain Zarr as no `_FillValue`; ours makes the attribute of it",
    ),
    (
        "run_jsonconvention.sh",
        "compares JSON byte for byte, writes text attributes that look like JSON as JSON, and has no consolidated metadata",
    ),
    (
        "run_strings.sh",
        "wants text to be cut that is longer than `_nczarr_default_maxstrlen`; ours never cuts text",
    ),
    (
        "run_nulls.sh",
        "wants numbers of attributes of type char, where the reference reads back `0` as a number; ours keeps the text",
    ),
    (
        "run_newformat.sh",
        "wants a store of NCZarr to lose its names of dimensions when it is opened as plain Zarr; ours uses what the store says",
    ),
    ("run_chunkcases.sh", "wants chunks of fill values to be stored; ours does not store them"),
    (
        "run_filter.sh",
        "wants no `_NoFill` of a variable that `nccopy` made; ours gives it no fill value, since all elements are written",
    ),
    ("run_filter_errors.sh", "wants the text \"Variable … has unsupported codec\""),
];

/// C programs that run, or that scripts call.
const PROGRAMS: &[Program] = &[
    helper("ncdump", "ncfilteravail"),
    nczarr("test_chunkcases", &["test_chunkcases.c", "test_utils.c", LIST, URI]),
    nczarr("test_fillonlyz", &["test_fillonlyz.c", "test_utils.c", LIST, URI]),
    nczarr("test_unlim_io", &["test_unlim_io.c", "test_utils.c", LIST, URI]),
    nczarr("test_zchunks3", &["test_zchunks3.c"]),
    nczarr("test_notzarr", &["test_notzarr.c"]),
    nczarr("test_readcaching", &["test_readcaching.c"]),
    nczarr("test_writecaching", &["test_writecaching.c"]),
    nczarr("test_nczfilter", &["test_nczfilter.c"]),
    nczarr("test_filter_avail", &["test_filter_avail.c"]),
    nczarr("testfilter", &["testfilter.c"]),
    nczarr("testfilter_misc", &["testfilter_misc.c"]),
    nczarr("testfilter_multi", &["testfilter_multi.c"]),
    nczarr("testfilter_order", &["testfilter_order.c"]),
    nczarr("testfilter_repeat", &["testfilter_repeat.c"]),
    nczarr("ncdumpchunks", &["ncdumpchunks.c"]),
    nczarr("test_quantize", &["../nc_test4/tst_quantize.c"]),
    nczarr("test_filter_vlen", &["../nc_test4/tst_filter_vlen.c"]),
    nczarr("test_unlim_vars", &["../nc_test4/tst_unlim_vars.c"]),
    nczarr("test_endians", &["../nc_test4/tst_h5_endians.c"]),
    nczarr("test_put_vars_two_unlim_dim", &["../nc_test4/tst_put_vars_two_unlim_dim.c"]),
    nczarr("test_chunking", &["../ncdump/tst_chunking.c"]),
];

const LIST: &str = "../libdispatch/nclist.c";
const URI: &str = "../libdispatch/ncuri.c";

/// Environment variables that describe the build to the scripts.
const FEATURES: &[(&str, &str)] = &[("HAS_NCZARR", "yes"), ("HAS_NCZARR_ZIP", "$ZIP"), ("USEPLUGINS", "yes")];

/// Puts a command that stands for the reference's `zmapio` into the tree.
fn zmapio(tree: &Path) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("py/zmapio.py");
    let python = folder("FERROCDF_PYTHON");
    let text = format!("#!/bin/sh\nexec {} {} \"$@\"\n", python.display(), script.display());
    let path = tree.join("nczarr_test/zmapio");
    fs::write(&path, text).expect("a new file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
}

#[test]
fn scripts_of_the_reference_for_zarr() {
    let (prefix, reference) = (folder("FERROCDF_PREFIX"), folder("FERROCDF_REFERENCE"));
    let tree = tempfile::tempdir().expect("a folder for the tests");
    build_tree(&prefix, &reference, tree.path(), PROGRAMS, FEATURES);
    zmapio(tree.path());
    let (mut passed, mut failures, mut notes) = (0, vec![], vec![]);
    for script in SCRIPTS {
        let zip = if ZIP_READ.contains(script) { "yes" } else { "no" };
        let run = Run { folder: "nczarr_test", script, environment: &[("TESTNCZARR", "1"), ("ZIP", zip)] };
        let name = script.rsplit('/').next().expect("a name has a last part");
        let reason = FAILING.iter().find(|(failing, _)| *failing == name).map(|(_, reason)| reason);
        match (run.judge(&reference, tree.path(), None), reason) {
            (Ok(()), None) => passed += 1,
            (Ok(()), Some(_)) => {
                failures.push(format!("{name}: passes, and is in the list of those that fail"))
            }
            (Err(_), Some(reason)) => notes.push(format!("{name} fails: {reason}")),
            (Err(why), None) => failures.push(format!("{name}: {why}")),
        }
    }
    println!("{passed} of {} scripts for Zarr pass\n{}", SCRIPTS.len(), notes.join("\n"));
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}
