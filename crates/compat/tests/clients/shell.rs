//! The reference's own shell tests, of `ncdump`, `ncgen`, `ncgen3`, `nccopy`, files in memory and its examples in C, with our
//! tools, and with the C programs they need linked to our library.
//!
//! The scripts expect the reference's build tree; a folder that looks like one is made for them.
//!
//! `docs/compatibility.md` lists the scripts that do not run, with the reasons.
//!
//! The tests of filters have the reference's plugins, compiled from its source. Those with filters that we have built in
//! run twice, the second time with the plugins before ours.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::folder;
use crate::plugins;
use crate::suite::{Excuse, INMEMORY, Program, RECLAIM, Verdict, compile, helper, helper_hdf5, settle};

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
    ("ncdump", "tst_fileinfo.sh"),
    ("ncdump", "tst_hdf5_offset.sh"),
    ("ncdump", "tst_inttags4.sh"),
    ("ncdump", "tst_netcdf4.sh"),
    ("ncdump", "tst_fillbug.sh"),
    ("ncdump", "tst_grp_spec.sh"),
    ("ncdump", "tst_mud.sh"),
    ("ncdump", "tst_h_scalar.sh"),
    ("ncdump", "tst_formatx4.sh"),
    ("ncdump", "run_utf8_nc4_tests.sh"),
    ("ncdump", "run_ncgen_nc4_tests.sh"),
    ("ncdump", "tst_calendars_nc4.sh"),
    ("ncdump", "tst_ncgen4.sh"),
    ("ncdump", "test_scope.sh"),
    ("ncdump", "tst_inmemory_nc4.sh"),
    ("ncdump", "tst_nccopy_w4.sh"),
    ("ncdump", "run_back_comp_tests.sh"),
    ("ncdump", "tst_netcdf4_4.sh"),
    ("ncdump", "tst_nccopy4.sh"),
    ("ncdump", "tst_nccopy5.sh"),
    ("nc_test4", "run_empty_vlen_test.sh"),
    ("nc_test4", "run_zero_len_att_test.sh"),
    ("nc_test4", "run_grp_rename.sh"),
    ("nc_test4", "tst_misc.sh"),
    ("nc_test4", "test_fillonly.sh"),
    ("nc_test4", "tst_fixedstring.sh"),
    ("nc_test4", "tst_szip.sh"),
    ("nc_test4", "tst_filter_vlen.sh"),
    ("nc_test4", "tst_specific_filters.sh"),
    ("nc_test4", "tst_bloscfail.sh"),
    ("nc_test4", "run_zstd_test.sh"),
    ("nc_test4", "tst_filter.sh"),
    ("nc_test4", "tst_filter_misc.sh"),
    ("nc_test4", "tst_filterinstall.sh"),
    ("nc_test4", "tst_unknown.sh"),
    ("nc_test", "run_inmemory.sh"),
    ("nc_test", "run_diskless.sh"),
    ("nc_test", "run_diskless2.sh"),
    ("nc_test", "run_diskless5.sh"),
    ("nc_test", "run_mmap.sh"),
    ("nc_test", "run_cdf5.sh"),
    ("ncgen3", "run_nc4_tests.sh"),
    ("unit_test", "run_auxmisc.sh"),
    ("unit_test", "run_reclaim_tests.sh"),
    ("examples/C", "run_examples.sh"),
    ("examples/C", "run_examples4.sh"),
    ("examples/C", "run_filter.sh"),
];

/// Scripts that are run with plugins before the filters that are built in as well.
const WITH_PLUGINS: &[(&str, &str)] = &[
    ("nc_test4", "tst_filter.sh"),
    ("nc_test4", "tst_filterinstall.sh"),
    ("nc_test4", "tst_specific_filters.sh"),
];

/// The scripts that fail here: as they are they must fail, and with these lines changed they must pass.
const EXCUSED: &[Excuse] = &[Excuse {
    program: "tst_filter.sh",
    changes: &[(
        "diff -b -w ${srcdir}/ref_filter_order_create.txt tmp_crfilterorder.txt",
        "for that in '' -v; do
            grep $that direction=compress ${srcdir}/ref_filter_order_create.txt >tmp_wanted.txt
            grep $that direction=compress tmp_crfilterorder.txt | sed /direction=decompress/d >tmp_made.txt
            diff -b -w tmp_wanted.txt tmp_made.txt
        done",
    )],
    why: "wants a block that is whole not to be packed before the file closes",
}];

/// C programs that scripts call.
const HELPERS: &[Program] = &[
    helper("ncdump", "rewrite-scalar"),
    helper("ncdump", "ref_ctest"),
    helper("ncdump", "ref_ctest64"),
    helper("ncdump", "tst_utf8"),
    helper("ncdump", "bom"),
    helper("ncdump", "tst_dimsizes"),
    helper("ncdump", "nctrunc"),
    helper_hdf5("ncdump", "tst_fileinfo"),
    helper("ncdump", "tst_create_files"),
    helper_hdf5("ncdump", "tst_h_rdc0"),
    helper("ncdump", "tst_group_data"),
    helper("ncdump", "tst_enum_data"),
    helper("ncdump", "tst_opaque_data"),
    helper("ncdump", "tst_string_data"),
    helper("ncdump", "tst_comp"),
    helper("ncdump", "tst_comp2"),
    helper("ncdump", "tst_nans"),
    helper("ncdump", "tst_special_atts"),
    helper("ncdump", "tst_fillbug"),
    helper("ncdump", "tst_compress"),
    helper("ncdump", "tst_chunking"),
    helper_hdf5("ncdump", "tst_h_scalar"),
    helper("ncdump", "tst_enum_undef"),
    helper("ncdump", "printfqn"),
    helper("ncdump", "ncfilteravail"),
    helper_hdf5("nc_test4", "tst_empty_vlen_unlim"),
    helper("nc_test4", "tst_zero_len_att"),
    helper("nc_test4", "renamegroup"),
    helper("nc_test4", "tst_charvlenbug"),
    helper("nc_test4", "tst_vlenstr"),
    helper("nc_test4", "tst_fillonly"),
    helper_hdf5("nc_test4", "build_fixedstring"),
    helper("nc_test4", "test_szip"),
    helper_hdf5("nc_test4", "h5testszip"),
    helper_hdf5("nc_test4", "tst_filter_vlen"),
    helper("nc_test4", "tst_zstd"),
    helper_hdf5("nc_test4", "test_filter"),
    helper_hdf5("nc_test4", "test_filter_misc"),
    helper_hdf5("nc_test4", "test_filter_order"),
    helper_hdf5("nc_test4", "test_filter_repeat"),
    helper_hdf5("nc_test4", "tst_multifilter"),
    INMEMORY,
    helper_hdf5("nc_test", "tst_open_mem"),
    helper("nc_test", "tst_diskless"),
    helper("nc_test", "tst_diskless2"),
    helper("nc_test", "tst_diskless3"),
    helper("nc_test", "tst_diskless4"),
    helper("nc_test", "tst_diskless5"),
    helper("nc_test", "tst_open_cdf5"),
    helper("unit_test", "test_auxmisc"),
    RECLAIM,
    helper("examples/C", "simple_xy_wr"),
    helper("examples/C", "simple_xy_rd"),
    helper("examples/C", "sfc_pres_temp_wr"),
    helper("examples/C", "sfc_pres_temp_rd"),
    helper("examples/C", "pres_temp_4D_wr"),
    helper("examples/C", "pres_temp_4D_rd"),
    helper("examples/C", "simple_nc4_wr"),
    helper("examples/C", "simple_nc4_rd"),
    helper("examples/C", "simple_xy_nc4_wr"),
    helper("examples/C", "simple_xy_nc4_rd"),
    helper_hdf5("examples/C", "filter_example"),
];

/// Prints its last word: paths are what they are on this system.
const NCPATHCVT: &str = "#!/bin/sh\nfor last; do :; done\nprintf %s \"$last\"\n";

/// The folder of the tree where plugins are installed.
const INSTALLED: &str = "installed-plugins";

/// Makes a folder that looks like the reference's build tree, with our tools and with programs that scripts call.
///
/// `features` are what the settings that scripts read say of the build, beyond that it has HDF5.
pub fn build_tree(
    prefix: &Path,
    reference: &Path,
    tree: &Path,
    helpers: &[Program],
    features: &[(&str, &str)],
) {
    for folder in [
        "ncdump",
        "ncgen",
        "ncgen3",
        "nc_test",
        "nc_test4",
        "unit_test",
        "examples/C",
        "plugins",
        "nczarr_test",
    ] {
        fs::create_dir_all(tree.join(folder)).expect("a new folder");
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
    for (template, made) in [
        ("test_common.in", "test_common.sh"),
        ("plugins/findplugin.in", "nc_test4/findplugin.sh"),
        ("plugins/findplugin.in", "examples/C/findplugin.sh"),
        ("plugins/findplugin.in", "nczarr_test/findplugin.sh"),
    ] {
        fs::write(tree.join(made), settings(reference, template, tree, features)).expect("a new file");
    }
    plugins::compile(prefix, reference, &tree.join("plugins"));
    plugins::install_ours(prefix, &tree.join(INSTALLED));
    for helper in helpers {
        compile(reference, helper, &tree.join(helper.folder));
    }
}

/// A file that scripts read, filled in as a build with HDF5 and without further features would.
fn settings(reference: &Path, template: &str, tree: &Path, features: &[(&str, &str)]) -> String {
    let template = fs::read_to_string(reference.join(template)).expect("it is there");
    let mut text = String::new();
    let mut parts = template.split('@');
    text.push_str(parts.next().unwrap_or_default());
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        let is_name = part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        match part {
            "abs_top_srcdir" => text.push_str(&reference.display().to_string()),
            "abs_top_builddir" => text.push_str(&tree.display().to_string()),
            "NETCDF_PLUGIN_INSTALL_DIR" => text.push_str(&tree.join(INSTALLED).display().to_string()),
            "TESTUID" => text.push('1'),
            "HAS_HDF5" => text.push_str("yes"),
            _ if is_name && !part.is_empty() => {
                let value = features.iter().find(|(name, _)| *name == part);
                text.push_str(value.map_or("", |(_, value)| value));
            }
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

/// A script or program of the tree, and how it is run.
pub struct Run<'a> {
    /// The folder that it runs in, in the tree, and where it finds its files, in the source.
    pub folder: &'a str,
    /// The script in the source, or the name of a program in the folder.
    pub script: &'a str,
    /// What it has in its environment besides.
    pub environment: &'a [(&'a str, &'a str)],
}

impl Run<'_> {
    /// Runs it; the last lines that it wrote to each of its outputs if it fails.
    pub fn judge(&self, reference: &Path, tree: &Path, excuse: Option<&Excuse>) -> Result<(), String> {
        let source = reference.join(self.script);
        let mut command = match (self.script.strip_suffix(".sh"), excuse) {
            (None, _) => Command::new(tree.join(self.folder).join(self.script)),
            (Some(_), None) => script_of(&source),
            (Some(_), Some(excuse)) => script_of(&excuse.change(&source, tree)?),
        };
        let done = command
            .current_dir(tree.join(self.folder))
            .envs(self.environment.iter().copied())
            .env("srcdir", reference.join(self.folder))
            .env("TOPSRCDIR", reference)
            .env("TOPBUILDDIR", tree)
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::null())
            .output()
            .expect("there is a shell");
        if done.status.success() {
            return Ok(());
        }
        let last = |output: &[u8]| {
            let text = String::from_utf8_lossy(output);
            let lines: Vec<&str> = text.lines().collect();
            lines[lines.len().saturating_sub(8)..].join("\n")
        };
        let with: String = self.environment.iter().map(|(name, value)| format!("{name}={value} ")).collect();
        Err(format!("in {} {with}\n{}\n{}", self.folder, last(&done.stdout), last(&done.stderr)))
    }
}

/// Runs a script or program of the tree, with plugins before the filters that are built in or not.
fn run(
    reference: &Path,
    tree: &Path,
    (folder, script): (&str, &str),
    plugins: bool,
    excuse: Option<&Excuse>,
) -> Result<(), String> {
    let script = if script.ends_with(".sh") { format!("{folder}/{script}") } else { script.to_string() };
    let path = format!("{}:{}", tree.join("plugins").display(), tree.join(INSTALLED).display());
    let environment = [("FERROCDF_FILTERS", "plugins"), ("HDF5_PLUGIN_PATH", &path)];
    let environment = if plugins { &environment[..] } else { &[] };
    Run { folder, script: &script, environment }.judge(reference, tree, excuse)
}

fn script_of(path: &Path) -> Command {
    let mut command = Command::new("bash");
    command.arg(path);
    command
}

#[test]
fn scripts_of_the_reference() {
    let (prefix, reference) = (folder("FERROCDF_PREFIX"), folder("FERROCDF_REFERENCE"));
    let tree = tempfile::tempdir().expect("a folder for the tests");
    build_tree(&prefix, &reference, tree.path(), HELPERS, &[]);
    let runs = SCRIPTS.iter().map(|script| (*script, false));
    let runs = runs.chain(WITH_PLUGINS.iter().map(|script| (*script, true)));
    let (mut passed, mut failures, mut notes) = (0, vec![], vec![]);
    for (script, plugins) in runs {
        let judge = |excuse: Option<&Excuse>| run(&reference, tree.path(), script, plugins, excuse);
        match settle(script.1, EXCUSED, judge) {
            Verdict::Passes => passed += 1,
            Verdict::Excused(why) => notes.push(why),
            Verdict::Fails(why) => failures.push(why),
        }
    }
    let all = SCRIPTS.len() + WITH_PLUGINS.len();
    println!("{passed} of {all} runs of scripts pass\n{}", notes.join("\n"));
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}
