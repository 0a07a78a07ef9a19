//! Filters through the tools: `-F` of `nccopy` by the table of "NetCDF-4 Filter Support", special attributes of CDL, the
//! table of constants. What the files hold is told by the reference's `ncdump -hs` and by ours, which must agree.

use std::path::{Path, PathBuf};

use ferrocdf::spec::{List, Syntax};
use tempfile::TempDir;

use crate::capi_aux::CONSTANTS;
use crate::{nccopy_tool, ncdump_tool, ncgen_tool};

/// Tells how variables are stored: the special attributes but those that all have.
pub fn stored(file: &Path) -> Vec<String> {
    let args = ["-h", "-s", "-n", "same", file.to_str().expect("UTF-8")];
    let lines = |run: ncdump_tool::Run| -> Vec<String> {
        let text = String::from_utf8_lossy(&run.out).into_owned();
        let told = |line: &&str| line.contains(":_") && !line.contains(":_NCProperties");
        text.lines().filter(told).map(|line| line.trim().to_string()).collect()
    };
    let (theirs, ours) = (lines(ncdump_tool::reference(&args)), lines(ncdump_tool::ours(&args)));
    assert_eq!(theirs, ours, "ncdump -hs of {}: the reference is the left", file.display());
    theirs.into_iter().filter(|line| !line.starts_with(':') && !line.contains(":_Endianness")).collect()
}

/// The filters of a variable, as `ncdump -s` tells of them.
fn filters(told: &[String], var: &str) -> String {
    let words =
        ["_Fletcher32", "_Shuffle", "_DeflateLevel", "_Filter"].map(|word| format!("{var}:{word} = "));
    let of = |line: &&String| words.iter().any(|word| line.starts_with(word.as_str()));
    let values = told.iter().filter(of).map(|line| line[var.len() + 1..].trim_end_matches(" ;").to_string());
    values.collect::<Vec<_>>().join(", ")
}

/// A file from CDL, made by the reference, in a folder of its own.
fn sample(cdl: &str) -> (TempDir, PathBuf) {
    sample_of("-4", cdl)
}

/// The same of another kind of file.
fn sample_of(kind: &str, cdl: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let [text, file] = ["in.cdl", "in.nc"].map(|name| folder.path().join(name));
    std::fs::write(&text, cdl).expect("a new file");
    ncdump_tool::generate(kind, &text, &file);
    (folder, file)
}

/// Copies by ours and by the reference: what each says, and how each copy is stored.
fn copies(folder: &Path, source: &Path, options: &[&str]) -> [Result<Vec<String>, String>; 2] {
    let [their, our] = ["theirs.nc", "ours.nc"].map(|name| folder.join(name));
    let args = |copy: &Path| -> Vec<String> {
        let files = [source, copy].map(|path| path.to_str().expect("UTF-8").to_string());
        options.iter().map(ToString::to_string).chain(files).collect()
    };
    let (their_args, our_args) = (args(&their), args(&our));
    fn words(args: &[String]) -> Vec<&str> {
        args.iter().map(String::as_str).collect()
    }
    let result = |run: nccopy_tool::Run, file: &Path| match run.code {
        Some(0) => Ok(stored(file)),
        _ => Err(run.said),
    };
    let theirs = nccopy_tool::reference(&words(&their_args), folder);
    [result(theirs, &their), result(nccopy_tool::ours(&words(&our_args)), &our)]
}

const TWO: &str = "netcdf two {
dimensions: x = 64; y = 64;
variables:
  int plain(x, y);
  int packed(x, y); packed:_ChunkSizes = 32, 32; packed:_Filter = \"6,2,0\";
data: plain = 1, 2, 3; packed = 1, 2, 3;
}
";

/// The table of `-F none`, row by row: whether `-F none` is given, the `-F` of a variable, whether the variable has a filter
/// in the input, and what it has in the output. Both texts have these rows; the newer has "undefined" in the one with an
/// output filter and no "none", where the older says "NA".
#[test]
fn table_of_filters_to_copy() {
    let (folder, source) = sample(TWO);
    for (none, given, var, expected) in [
        (true, None, "plain", ""),
        (true, None, "packed", ""),
        (true, Some("none"), "plain", ""),
        (true, Some("none"), "packed", ""),
        (true, Some("1,9"), "plain", "_DeflateLevel = 9"),
        (true, Some("1,9"), "packed", "_DeflateLevel = 9"),
        (false, None, "packed", "_Filter = \"6,2,0"),
        (false, Some("none"), "plain", ""),
        (false, Some("none"), "packed", ""),
        (false, Some("1,9"), "plain", "_DeflateLevel = 9"),
        (false, None, "plain", ""),
        (false, Some("1,9"), "packed", "_DeflateLevel = 9"),
    ] {
        let given = given.map(|filters| format!("{var},{filters}"));
        for all in ["none", "*,none"] {
            let mut options = vec![];
            if none {
                options.extend(["-F", all]);
            }
            options.extend(given.iter().flat_map(|given| ["-F", given]));
            let [theirs, ours] = copies(folder.path(), &source, &options).map(|copy| {
                let copy = copy.unwrap_or_else(|said| panic!("{options:?}: {said}"));
                (filters(&copy, var), copy)
            });
            // Scale-offset stores what it learned behind what it was given.
            assert!(
                ours.0.starts_with(expected) && ours.0.is_empty() == expected.is_empty(),
                "{options:?}: {ours:?}"
            );
            // The reference does not do what the third row says: with `-F none` nothing is filtered.
            if none && !expected.is_empty() {
                assert_eq!(theirs.0, "", "{options:?}");
            } else {
                assert_eq!(theirs.0, ours.0, "{options:?}: the reference is the left");
            }
        }
    }
}

/// Forms of `-F`, and how it goes with other options.
#[test]
fn filters_to_copy_as_in_the_reference() {
    let (folder, source) = sample(TWO);
    for options in [
        &["-F", "plain&packed,1,3|2"][..],
        &["-F", "/plain,1,3"],
        &["-F", "*,2|1,3"],
        &["-F", "*,3|2|1,3"],
        &["-F", "plain, 1, 3"],
        &["-F", "plain,1,3u|"],
        &["-F", "plain,1,3", "-F", "plain,2"],
        &["-F", "*,2", "-F", "plain,1,3"],
        &["-F", "*,2", "-F", "plain,none"],
        &["-F", "plain,none", "-F", "*,2"],
        &["-F", "plain,4,32,8"],
        &["-F", "plain,NONE"],
        &["-F", "none", "-d", "5"],
        &["-F", "packed,none", "-d", "5"],
        &["-d", "5"],
        &["-d", "0"],
        &["-d", "5", "-s"],
    ] {
        let [theirs, ours] = copies(folder.path(), &source, options);
        assert_eq!(theirs, ours, "{options:?}: the reference is the left");
        assert!(ours.is_ok(), "{options:?}");
    }
    // A filter of one variable makes chunks of the others in the reference.
    let [theirs, ours] = copies(folder.path(), &source, &["-F", "elsewhere,1,3"]).map(Result::unwrap);
    assert!(theirs.contains(&"plain:_Storage = \"chunked\" ;".to_string()), "{theirs:?}");
    assert_eq!(Ok(ours), copies(folder.path(), &source, &[])[0]);
    for options in [["-F", "plain,1,3x"], ["-F", "plain,1,10"], ["-F", "plain,1"], ["-F", "plain,1,2|4,32,8"]]
    {
        let failed = copies(folder.path(), &source, &options).map(|copy| copy.is_err());
        assert_eq!(failed, [true; 2], "{options:?}");
    }
}

#[test]
fn levels_are_for_types_of_users_too() {
    let (folder, source) = sample(
        "netcdf s { types: byte enum e_t {A = 1, B = 2, C = 0}; compound c_t {int a; float b;}; opaque(4) o_t;
         compound d_t {c_t c; o_t o(2);}; dimensions: x = 4000; u = unlimited;
         variables: e_t e(x); c_t c(x); o_t o(x); d_t d(x); c_t grows(u); e_t scalar; int number(x);
         c_t sum(x); sum:_Fletcher32 = \"true\"; c_t packed(x);
         packed:_ChunkSizes = 3000; packed:_DeflateLevel = 3; packed:_Shuffle = \"true\";
         data: c = {1, 2}, {3, 4}; o = 0X01020304; grows = {1, 2}; number = 1; }",
    );
    for options in [&["-d", "4"][..], &["-d", "4", "-s"], &["-d", "0"], &["-s", "-d", "1", "-c", "x/2000"]] {
        let [theirs, ours] = copies(folder.path(), &source, options);
        assert_eq!(theirs, ours, "{options:?}: the reference is the left");
        assert!(ours.is_ok(), "{options:?}");
    }
}

/// Names, and faults that are told to their place, which the reference has not.
#[test]
fn filters_by_name() {
    let (folder, source) = sample(TWO);
    let ours = |spec: &str| {
        let copy = folder.path().join("named.nc");
        let run = nccopy_tool::ours(&["-F", spec, source.to_str().unwrap(), copy.to_str().unwrap()]);
        (run.code, if run.code == Some(0) { filters(&stored(&copy), "plain") } else { run.said })
    };
    assert_eq!(ours("*,deflate,3"), (Some(0), "_DeflateLevel = 3".to_string()));
    assert_eq!(ours("*,zstd,3"), (Some(0), "_Filter = \"32015,3\"".to_string()));
    assert_eq!(
        ours("plain,Shuffle|bzip2,9"),
        (Some(0), "_Shuffle = \"true\", _Filter = \"307,9\"".to_string())
    );
    let (code, said) = ours("*,zstt,3");
    assert_eq!(code, Some(1));
    assert!(said.contains("no filter is called zstt") && said.contains("zstandard (32015)"), "{said}");
    assert!(said.contains("`ferrocdf plugins list`"), "{said}");
    let (code, said) = ours("*,1,0x3");
    assert_eq!(code, Some(1));
    assert!(said.contains("filters \"1,0x3\": character 4 ('x')"), "{said}");
}

/// Chunk sizes of zero keep what is known otherwise.
#[test]
fn chunks_of_the_input_are_kept() {
    let (folder, source) = sample(
        "netcdf chunks {
dimensions: x = 64; y = 128; t = UNLIMITED;
variables:
  int big(x, y); big:_ChunkSizes = 32, 64;
  int whole(x, y);
  int rows(t, x, y); rows:_ChunkSizes = 2, 16, 16;
  int line(t);
data: big = 1, 2, 3; whole = 1, 2, 3; line = 1, 2, 3; }",
    );
    for options in [
        &["-c", "big:0,0"][..],
        &["-c", "big:0,7"],
        &["-c", "whole:0,0"],
        &["-c", "whole:0,7"],
        &["-c", "rows:0,0,0"],
        &["-c", "rows:0,5,0"],
        &["-c", "line:0"],
        &["-c", "x/8", "-c", "big:0,0"],
        &["-c", "big:0,0", "-c", "x/8"],
        &["-c", "big:4,4", "-c", "big:5,5"],
        &["-c", "big:4,4", "-c", "x/8"],
    ] {
        let options = [&["-M", "1"], options].concat();
        let [mut theirs, ours] = copies(folder.path(), &source, &options);
        // No element of it was written: our copy keeps its fill value.
        if let Ok(lines) = &mut theirs {
            lines.retain(|line| !line.starts_with("rows:_NoFill"));
        }
        assert_eq!(theirs, ours, "{options:?}: the reference is the left");
        assert!(ours.is_ok(), "{options:?}");
    }
}

/// Chunks that would be too small are not made of what a specification says of dimensions: one run, or chunks as by
/// default where filters ask for some.
#[test]
fn small_chunks_are_not_made() {
    let (folder, source) = sample(
        "netcdf chunks {
types:
  compound pair { double a(25); double b(25); };
  byte enum kind { none = 0, some = 1 };
  int(*) list;
dimensions: x = 64; y = 128; z = 5; t = UNLIMITED;
variables:
  int plain(x, y); plain:_ChunkSizes = 32, 64;
  int packed(x, y); packed:_ChunkSizes = 32, 64; packed:_DeflateLevel = 1;
  int whole(x, y);
  int rows(t, x); rows:_ChunkSizes = 2, 16;
  pair pairs(x); kind kinds(x, y); list lists(x, y);
data: plain = 1, 2, 3; packed = 1, 2, 3; whole = 1, 2, 3; rows = 1, 2, 3; }",
    );
    for options in [
        &["-c", "x/8"][..],
        &["-c", "x/8,y/8"],
        &["-c", "x/31,y/64"],
        &["-c", "x/32,y/64"],
        &["-c", "x/64"],
        &["-c", "t/3"],
        &["-u", "-c", "t/3,x/2"],
        &["-c", "x/8", "-c", "packed:32,65"],
        &["-c", "x/8", "-c", "z/5"],
        &["-c", "x/64", "-c", "z/5"],
        &["-c", "x/16", "-c", "packed:0,128"],
        &["-c", "x/40"],
        &["-c", "x/10"],
        &["-c", "x/8,y/8", "-F", "whole,1,2"],
        &["-M", "100", "-c", "x/8,y/8"],
    ] {
        let [theirs, ours] = copies(folder.path(), &source, options);
        assert_eq!(theirs, ours, "{options:?}: the reference is the left");
        assert!(ours.is_ok(), "{options:?}");
    }
}

/// Records of a classic file that become a fixed dimension.
#[test]
fn chunks_of_records_that_are_no_more() {
    let values = vec!["1"; 10 * 1542].join(",");
    let cdl = format!(
        "netcdf records {{ dimensions: t = UNLIMITED; a = 1542; s = 3; variables: float c(t, a, s); float d(t, a); \
         data: d = {values}; }}"
    );
    let (folder, source) = sample_of("-3", &cdl);
    for options in [
        &["-c", "a/300"][..],
        &["-c", "a/300", "-d1"],
        &["-c", "a/300", "-M", "1"],
        &["-c", "t/2"],
        &["-c", "t/2,a/10"],
        &["-c", "t/3", "-M", "1"],
        &["-c", "a/7,s/1", "-M", "1"],
        &["-c", "a/"],
        &["-c", "t/"],
    ] {
        for fixed in [&["-k", "nc4", "-u"][..], &["-k", "nc4"]] {
            let options = [fixed, options].concat();
            let [theirs, ours] = copies(folder.path(), &source, &options);
            assert_eq!(theirs, ours, "{options:?}: the reference is the left");
            assert!(ours.is_ok(), "{options:?}");
        }
    }
}

/// Special attributes of CDL, obeyed by both.
#[test]
fn special_attributes() {
    let folder = tempfile::tempdir().expect("a folder");
    let [text, their, our] = ["in.cdl", "theirs.nc", "ours.nc"].map(|name| folder.path().join(name));
    let text_of = |path: &Path| path.to_str().expect("UTF-8").to_string();
    // What it says; whether the file is made.
    for (said, made) in [
        ("v:_DeflateLevel = 0;", true),
        ("v:_DeflateLevel = -1;", true),
        ("v:_DeflateLevel = 4; v:_Shuffle = \"true\";", true),
        ("v:_DeflateLevel = 0; v:_Shuffle = \"true\";", true),
        ("v:_DeflateLevel = 10;", false),
        ("v:_Fletcher32 = \"true\"; v:_Shuffle = \"true\"; v:_DeflateLevel = 3; v:_Filter = \"5\";", true),
        // Debian's library adds a checksum if it is only asked to leave it out.
        ("v:_Shuffle = \"false\"; v:_Endianness = \"big\";", true),
        ("v:_Shuffle = 1; v:_NoFill = \"true\";", true),
        ("v:_Shuffle = \"maybe\";", false),
        ("v:_Filter = \"5|2|3|1,3\";", true),
        ("v:_Filter = \"1,3|2|1,4\";", true),
        ("v:_Filter = \"4,32,32\";", true),
        ("v:_Filter = \"4,32,31\";", false),
        ("v:_Filter = \"1,2|4,32,32\";", false),
        ("v:_Filter = \"1,2|\";", true),
        ("v:_Filter = \"1\";", false),
        ("v:_Filter = \"1,2,3\";", false),
        ("v:_Filter = \"\";", false),
        ("v:_Filter = \"9999,1\";", false),
        ("v:_Filter = \"99999,1\";", false),
        ("v:_Storage = \"contiguous\"; v:_Filter = \"1,3\";", true),
        ("v:_Storage = \"compact\";", true),
        ("v:_ChunkSizes = 0;", true),
        ("v:_ChunkSizes = 0, 0;", true),
        ("v:_ChunkSizes = 8, 0;", true),
        ("v:_ChunkSizes = 0, 8;", true),
        ("v:_ChunkSizes = 8, 8, 8;", true),
        ("v:_ChunkSizes = -1, 8;", false),
        ("v:_ChunkSizes = 8.5, 8;", false),
        ("v:_ChunkSizes = 8, 8; v:_Storage = \"contiguous\";", true),
        ("v:_Codecs = \"[{\\\"id\\\": \\\"zlib\\\"}]\";", true),
        ("r:_ChunkSizes = 65, 8;", true),
        ("r:_ChunkSizes = 0, 8;", true),
        ("r:_Storage = \"contiguous\";", false),
        ("s:_ChunkSizes = 1;", false),
        ("s:_Filter = \"1,3\";", false),
        ("s:_DeflateLevel = 3;", false),
        ("s:_Shuffle = \"true\";", false),
        ("s:_Fletcher32 = \"true\";", false),
        ("z:_Endianness = \"big\";", false),
        ("v:_Endianness = \"middle\";", false),
    ] {
        let cdl = format!(
            "netcdf g {{ dimensions: x = 64; y = 64; t = UNLIMITED; variables: int v(x, y); int s; int r(t, x); \
             string z(x); {said} data: v = 1; s = 2; }}"
        );
        std::fs::write(&text, &cdl).expect("a new file");
        let [their_args, our_args] =
            [&their, &our].map(|file| ["-4".to_string(), "-o".to_string(), text_of(file), text_of(&text)]);
        let theirs = ncgen_tool::theirs(&their_args.each_ref().map(String::as_str), folder.path());
        let ours = ncgen_tool::ours(&our_args.each_ref().map(String::as_str), b"");
        assert_eq!(
            (theirs.2, ours.2),
            (Some(i32::from(!made)), Some(i32::from(!made))),
            "{said}: {}",
            ours.1
        );
        if made {
            let (theirs, ours) = (stored(&their), stored(&our));
            assert_eq!(theirs, ours, "{said}: the reference is the left");
        }
    }
}

/// The attribute may be repeated to specify several filters, as the documentation says; the reference takes the last.
#[test]
fn filters_may_be_repeated() {
    let folder = tempfile::tempdir().expect("a folder");
    let [text, file] = ["in.cdl", "out.nc"].map(|name| folder.path().join(name));
    for (said, expected) in [
        ("v:_Filter = \"2\"; v:_Filter = \"1,3\";", "_Shuffle = \"true\", _DeflateLevel = 3"),
        (
            "v:_Filter = \"1,3\"; v:_Filter = \"2\"; v:_Filter = \"1,5\";",
            "_Shuffle = \"true\", _DeflateLevel = 5",
        ),
        ("v:_Filter = \"32000\"; v:_Filter = \"307,9|32015,3\";", "_Filter = \"32000|307,9|32015,3\""),
    ] {
        let cdl = format!("netcdf g {{ dimensions: x = 64; variables: int v(x); {said} data: v = 1; }}");
        std::fs::write(&text, cdl).expect("a new file");
        let args = ["-4", "-o", file.to_str().expect("UTF-8"), text.to_str().expect("UTF-8")];
        let (_, errors, code) = ncgen_tool::ours(&args, b"");
        assert_eq!(code, Some(0), "{said}: {errors}");
        assert_eq!(filters(&stored(&file), "v"), expected, "{said}");
    }
}

/// The table of constants: what our reader makes of it whatever it does with faults, and that it reads what it prints. The
/// C functions of both libraries are compared in `capi_aux`.
#[test]
fn table_of_constants() {
    let all = CONSTANTS.join(",");
    let [netcdf_c, strict] = [Syntax::NetcdfC, Syntax::Strict].map(|syntax| {
        List::parse(format!("32768,{all}|2").as_bytes(), syntax).expect("the grammar has it").specs
    });
    assert_eq!(netcdf_c, strict);
    // With the test of the reference for its own reader (`nc_test4/tst_filterparser.c`).
    let expected = [
        239,
        23,
        65511,
        27,
        4294967219,
        77,
        93,
        1145389056,
        3287505826,
        1097305129,
        1,
        2147483648,
        u32::MAX,
        u32::MAX,
    ];
    assert_eq!(strict[0].params, expected);
    let again =
        List::parse(strict[0].to_string().as_bytes(), Syntax::Strict).expect("what is printed is read");
    assert_eq!(again.specs, strict[..1]);
}

/// What names no variable is told, where the reference is silent, and costs nothing.
#[test]
fn names_of_no_variable_are_told() {
    let (folder, source) = sample(TWO);
    let [source, copy] = [source, folder.path().join("told.nc")].map(|path| path.display().to_string());
    let run = nccopy_tool::ours(&["-F", "plain&elsewhere,1,3", "-F", "*,2", &source, &copy]);
    let told = format!("nccopy: -F: {source} has no variable \"elsewhere\"");
    assert_eq!((run.code, run.said), (Some(0), told));
    assert_eq!(filters(&stored(copy.as_ref()), "plain"), "_Shuffle = \"true\", _DeflateLevel = 3");
}
