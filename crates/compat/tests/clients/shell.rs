//! The reference's own shell tests of `ncdump`, `ncgen`, `ncgen3` and `nccopy` for classic files, with our tools, and with
//! the C programs they need linked to our library.
//!
//! The scripts expect the reference's build tree; a folder that looks like one is made for them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::folder;

/// Scripts, and programs that scripts behind them need the files of, in an order that suits them all.
const SCRIPTS: &[(&str, &str)] = &[
    ("ncdump", "tst_inttags.sh"),
    ("ncdump", "run_tests.sh"),
    ("ncdump", "tst_64bit.sh"),
    ("ncdump", "ref_ctest"),
    ("ncdump", "ref_ctest64"),
    ("ncdump", "tst_lengths.sh"),
    ("ncdump", "tst_calendars.sh"),
    ("ncdump", "run_utf8_tests.sh"),
    ("ncdump", "tst_nccopy3_subset.sh"),
    ("ncdump", "tst_charfill.sh"),
    ("ncdump", "tst_iter.sh"),
    ("ncdump", "tst_formatx3.sh"),
    ("ncdump", "tst_bom.sh"),
    ("ncdump", "tst_dimsizes.sh"),
    ("ncdump", "run_ncgen_tests.sh"),
    ("ncdump", "tst_ncgen4_classic.sh"),
    ("ncdump", "test_radix.sh"),
    ("ncdump", "tst_null_byte_padding.sh"),
    ("ncdump", "tst_inmemory_nc3.sh"),
    ("ncdump", "tst_nccopy_w3.sh"),
    ("ncdump", "tst_ctests.sh"),
    ("ncdump", "test_keywords.sh"),
    ("ncdump", "tst_output.sh"),
    ("ncdump", "tst_nccopy3.sh"),
    ("ncdump", "test_unicode_directory.sh"),
    ("ncdump", "test_unicode_path.sh"),
    ("ncgen3", "run_tests.sh"),
];

/// C programs that scripts call.
const HELPERS: &[&str] =
    &["rewrite-scalar", "ref_ctest", "ref_ctest64", "tst_utf8", "bom", "tst_dimsizes", "nctrunc"];

/// Prints its last word: paths are what they are on this system.
const NCPATHCVT: &str = "#!/bin/sh\nfor last; do :; done\nprintf %s \"$last\"\n";

fn build_tree(prefix: &Path, reference: &Path, tree: &Path) {
    for folder in ["ncdump", "ncgen", "ncgen3", "nc_test"] {
        fs::create_dir(tree.join(folder)).expect("a new folder");
    }
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("c/suite");
    fs::copy(own.join("config.h"), tree.join("config.h")).expect("it is there");
    for (folder, tool) in
        [("ncdump", "ncdump"), ("ncdump", "nccopy"), ("ncgen", "ncgen"), ("ncgen3", "ncgen3")]
    {
        symlink(prefix.join("bin").join(tool), tree.join(folder).join(tool)).expect("a new name");
    }
    let path = tree.join("ncdump/ncpathcvt");
    fs::write(&path, NCPATHCVT).expect("a new file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    fs::write(tree.join("test_common.sh"), settings(reference, tree)).expect("a new file");
    for helper in HELPERS {
        let mut cc = Command::new("cc");
        cc.args(["-w", "-D_GNU_SOURCE", "-DHAVE_CONFIG_H", "-I"]).arg(&own);
        cc.arg("-I").arg(prefix.join("include")).arg("-I").arg(reference.join("ncdump"));
        cc.arg("-idirafter").arg(reference.join("include"));
        cc.arg("-o").arg(tree.join("ncdump").join(helper));
        cc.arg(reference.join("ncdump").join(helper).with_extension("c"));
        let lib = prefix.join("lib");
        cc.arg("-L").arg(&lib).arg(format!("-Wl,-rpath,{}", lib.display())).args(["-lnetcdf", "-lm"]);
        let done = cc.output().expect("there is a compiler");
        assert!(done.status.success(), "{helper}: {}", String::from_utf8_lossy(&done.stderr));
    }
}

/// The settings that all scripts read, filled in as a build without further features would.
fn settings(reference: &Path, tree: &Path) -> String {
    let template = fs::read_to_string(reference.join("test_common.in")).expect("it is there");
    let mut text = String::new();
    let mut parts = template.split('@');
    text.push_str(parts.next().unwrap_or_default());
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        let is_name = part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        match part {
            "abs_top_srcdir" => text.push_str(&reference.display().to_string()),
            "abs_top_builddir" => text.push_str(&tree.display().to_string()),
            "TESTUID" => text.push('1'),
            _ if is_name && !part.is_empty() => {}
            // A sign that stands for itself.
            _ => {
                text.push('@');
                text.push_str(part);
                continue;
            }
        }
        text.push_str(parts.next().unwrap_or_default());
    }
    text
}

#[test]
fn scripts_of_the_reference() {
    let (prefix, reference) = (folder("FERROCDF_PREFIX"), folder("FERROCDF_REFERENCE"));
    let tree = tempfile::tempdir().expect("a folder for the tests");
    build_tree(&prefix, &reference, tree.path());
    let mut failures = vec![];
    for (at, script) in SCRIPTS {
        let mut command = match script.strip_suffix(".sh") {
            Some(_) => Command::new("bash"),
            None => Command::new(tree.path().join(at).join(script)),
        };
        if script.ends_with(".sh") {
            command.arg(reference.join(at).join(script));
        }
        let done = command
            .current_dir(tree.path().join(at))
            .env("srcdir", reference.join(at))
            .env("TOPSRCDIR", &reference)
            .env("TOPBUILDDIR", tree.path())
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::null())
            .output()
            .expect("there is a shell");
        if !done.status.success() {
            let text = [done.stdout, done.stderr].concat();
            let text = String::from_utf8_lossy(&text).into_owned();
            let lines: Vec<&str> = text.lines().collect();
            failures.push(format!("{at}/{script}: {}", lines[lines.len().saturating_sub(8)..].join("\n")));
        }
    }
    println!("{} of {} scripts pass", SCRIPTS.len() - failures.len(), SCRIPTS.len());
    assert!(failures.is_empty(), "{} scripts fail:\n{}", failures.len(), failures.join("\n"));
}
