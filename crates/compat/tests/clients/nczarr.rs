//! The reference's own tests of NCZarr, from its folder `nczarr_test`, with our tools, and with their C programs linked to our
//! library.
//!
//! These files replace internal functions of the reference: `py/zmapio.py` and `py/s3util.py` are the programs `zmapio` and `s3util` that
//! scripts call, [`ZS3PARSE`] is the program `zs3parse`, and `c/suite/nczarr.c` has the functions that C programs call.
//!
//! Not run: `run_ut_misc.sh`, `run_ut_map.sh`, `run_ut_mapapi.sh` and `run_ut_chunk.sh`, which call internal functions only;
//! `run_external.sh` and `run_s3_credentials.sh`, which need servers of the internet; `run_perf_chunks1.sh`, which measures;
//! `run_it_chunks1.sh` and `tst_filterinstall.sh`, which no build of the reference runs for Zarr. Storage in zip files is tested only where
//! it is read.
//!
//! A script has a part for each storage, and ends at the first part that fails. The first test runs scripts without their parts for S3; the
//! second test runs the parts for S3 alone, on moto behind nginx, those too that the reference skips: `run_misc.sh` ends before its part, and
//! `run_quantize.sh` has it as a comment.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use ferrocdf_compat::servers::{BUCKET, Moto, Nginx};

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

/// The scripts of [`SCRIPTS`] whose part for S3 is not run, each with the reason.
const S3_NOT_RUN: &[(&str, &str)] = &[
    ("run_interop.sh", "reads a store in a bucket of Unidata that is not in the source"),
    ("run_corrupt.sh", "reads a store of storage.googleapis.com"),
    ("run_cachetest.sh", "its programs write to folders in every part"),
    ("tst_filter_vlen.sh", "its programs write to folders in every part"),
    ("tst_filter_misc.sh", "its programs write to folders in every part"),
];

/// The scripts whose part for S3 fails, for the reason in [`FAILING`]. One that passes must leave the list.
const S3_FAILING: &[&str] = &[
    "run_purezarr.sh",
    "run_jsonconvention.sh",
    "run_strings.sh",
    "run_nulls.sh",
    "run_chunkcases.sh",
    "run_filter.sh",
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

/// Values that describe the build to the scripts; those with `$` are set for each run.
const FEATURES: &[(&str, &str)] = &[
    ("HAS_NCZARR", "yes"),
    ("HAS_NCZARR_ZIP", "$ZIP"),
    ("USEPLUGINS", "yes"),
    ("NETCDF_ENABLE_S3_TESTING", "$S3TESTS"),
    ("S3TESTBUCKET", BUCKET),
    ("S3TESTSUBTREE", "netcdf-c"),
];

/// Prints a part of a URL of S3: the host (`-h`), the bucket (`-b`), or the key with a slash before it (`-k`).
const ZS3PARSE: &str = r#"#!/bin/sh
url=${2%%#*}
path=${url#*://*/}
host=${url#*://}
case $1 in
-h) printf %s "${host%%[:/]*}" ;;
-b) printf %s "${path%%/*}" ;;
-k) printf %s "/${path#*/}" ;;
*) exit 1 ;;
esac
"#;

/// Puts the commands that stand for internal programs of the reference into the tree.
fn internal_programs(tree: &Path) {
    let python = folder("FERROCDF_PYTHON");
    let script = |name: &str| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("py").join(name);
        format!("#!/bin/sh\nexec {} {} \"$@\"\n", python.display(), script.display())
    };
    for (name, text) in
        [("zmapio", script("zmapio.py")), ("s3util", script("s3util.py")), ("zs3parse", ZS3PARSE.to_string())]
    {
        let path = tree.join("nczarr_test").join(name);
        fs::write(&path, text).expect("a new file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    }
}

/// Results of the scripts that have run.
struct Results {
    /// Scripts that must fail, with the reasons.
    failing: Vec<(&'static str, &'static str)>,
    passed: usize,
    failures: Vec<String>,
    notes: Vec<String>,
}

impl Results {
    fn new(failing: Vec<(&'static str, &'static str)>) -> Results {
        Results { failing, passed: 0, failures: vec![], notes: vec![] }
    }

    fn add(&mut self, name: &str, result: Result<(), String>) {
        let reason = self.failing.iter().find(|(failing, _)| *failing == name).map(|(_, reason)| reason);
        match (result, reason) {
            (Ok(()), None) => self.passed += 1,
            (Ok(()), Some(_)) => {
                self.failures.push(format!("{name}: passes, and is in the list of those that fail"));
            }
            (Err(_), Some(reason)) => self.notes.push(format!("{name} fails: {reason}")),
            (Err(why), None) => self.failures.push(format!("{name}: {why}")),
        }
    }

    /// Prints the results; panics if a script has another result than the list says.
    fn finish(self, what: &str, all: usize) {
        println!("{} of {all} {what} pass\n{}", self.passed, self.notes.join("\n"));
        assert!(self.failures.is_empty(), "{} fail:\n{}", self.failures.len(), self.failures.join("\n"));
    }
}

/// The last part of a path.
fn name_of(script: &str) -> &str {
    script.rsplit('/').next().expect("a name has a last part")
}

#[test]
fn scripts_of_the_reference_for_zarr() {
    let (prefix, reference) = (folder("FERROCDF_PREFIX"), folder("FERROCDF_REFERENCE"));
    let tree = tempfile::tempdir().expect("a folder for the tests");
    build_tree(&prefix, &reference, tree.path(), PROGRAMS, FEATURES);
    internal_programs(tree.path());
    let mut results = Results::new(FAILING.to_vec());
    for script in SCRIPTS {
        let zip = if ZIP_READ.contains(script) { "yes" } else { "no" };
        let judging = match name_of(script) {
            name @ NOTES_FAILURES => {
                let text = fs::read_to_string(reference.join(script)).expect("it is there");
                written(tree.path(), name, &(text + READ_FAILURES))
            }
            _ => script.to_string(),
        };
        let environment = &[("TESTNCZARR", "1"), ("ZIP", zip)];
        let run = Run { folder: "nczarr_test", script: &judging, environment };
        results.add(name_of(script), run.judge(&reference, tree.path(), None));
    }
    results.finish("scripts for Zarr", SCRIPTS.len());
}

/// The script that notes failures in the variable of [`READ_FAILURES`], and never reads it.
const NOTES_FAILURES: &str = "run_notzarr.sh";

/// A last line of a script: it fails if a failure was noted.
const READ_FAILURES: &str = "test \"x$sometestfailed\" = x\n";

/// Writes a script into the tree and returns its path.
fn written(tree: &Path, name: &str, text: &str) -> String {
    let path = tree.join(name);
    fs::write(&path, text).expect("a new file");
    path.to_str().expect("a path of UTF-8").to_string()
}

/// Returns a script without its part for folders, so that its part for S3 is judged alone.
fn s3_part(script: &str) -> String {
    // A call of a function of the script with the storage as its only argument.
    let is_for_folders = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        matches!(words[..], [call, "file"] if call.contains("test"))
    };
    // `run_misc.sh` ends before its part for S3, and `run_quantize.sh` has it as a comment.
    let lines = script.lines().filter(|line| !is_for_folders(line) && *line != "exit 0");
    let lines = lines.map(|line| match line.strip_prefix('#') {
        Some(code) if code.contains("FEATURE_S3TESTS") => code,
        _ => line,
    });
    let mut part: String = lines.map(|line| format!("{line}\n")).collect();
    // In scripts without the variable the line is true.
    part.push_str(READ_FAILURES);
    part
}

#[test]
fn scripts_of_the_reference_for_zarr_in_s3() {
    let (prefix, reference) = (folder("FERROCDF_PREFIX"), folder("FERROCDF_REFERENCE"));
    let tree = tempfile::tempdir().expect("a folder for the tests");
    build_tree(&prefix, &reference, tree.path(), PROGRAMS, FEATURES);
    internal_programs(tree.path());
    let moto = Moto::serve(&folder("FERROCDF_PYTHON"));
    // The URLs of the scripts begin with `https`.
    let nginx = Nginx::forward(&moto.url());
    let (host, certificate) = (nginx.secure_host(), nginx.certificate().display().to_string());
    let (moto_url, nginx_url, credentials) = (moto.url(), nginx.secure_url(), moto.environment());
    let mut environment: Vec<(&str, &str)> =
        credentials.iter().map(|(name, value)| (*name, value.as_str())).collect();
    environment.extend([
        // Requests of our library go through nginx, which counts them; those of `s3util.py` do not.
        ("AWS_ENDPOINT_URL", nginx_url.as_str()),
        ("S3UTIL_ENDPOINT", &moto_url),
        ("TESTNCZARR", "1"),
        ("ZIP", "no"),
        ("S3TESTS", "yes"),
        ("NCZARR_S3_TEST_HOST", &host),
        ("NCZARR_S3_TEST_BUCKET", BUCKET),
        // Used by `run_quantize.sh` and set by nothing.
        ("S3TESTPATH", "netcdf-c/quantize"),
        ("SSL_CERT_FILE", &certificate),
        ("NO_PROXY", "*"),
    ]);
    let failing = FAILING.iter().filter(|(name, _)| S3_FAILING.contains(name));
    let mut results = Results::new(failing.copied().collect());
    let mut all = 0;
    for script in SCRIPTS.iter().filter(|script| script.ends_with(".sh")) {
        let (name, text) =
            (name_of(script), fs::read_to_string(reference.join(script)).expect("it is there"));
        if !text.contains("FEATURE_S3TESTS") {
            continue;
        }
        if let Some((name, reason)) = S3_NOT_RUN.iter().find(|(not_run, _)| *not_run == name) {
            results.notes.push(format!("{name} is not run: {reason}"));
            continue;
        }
        all += 1;
        let path = written(tree.path(), name, &s3_part(&text));
        let run = Run { folder: "nczarr_test", script: &path, environment: &environment };
        let before = nginx.requests().len();
        let result = run.judge(&reference, tree.path(), None);
        let makes_requests = nginx.requests().len() > before;
        let made = if makes_requests { Ok(()) } else { Err("it makes no request of S3".to_string()) };
        results.add(name, result.and(made));
    }
    results.finish("parts of scripts for Zarr in S3", all);
}
