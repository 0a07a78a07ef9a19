//! `nccopy` with each option: our copies are printed by the reference as its own copies are, value for value.

use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use super::nccopy_tool::{ours, printed, reference};

/// Variables of every type that all classic kinds have, of rank 0 to 4, in records that need padding.
const CLASSIC: &str = r#"netcdf classic {
dimensions: t = UNLIMITED; x = 7; y = 5; z = 3; one = 1; len = 6;
variables:
  byte b(t, z); b:_FillValue = -7b; b:units = "m";
  char name(x, len);
  short s(y, x); s:valid_range = -5s, 900s;
  int i; i:n = 1, 2, 3;
  float f(t, z, y, x); f:_FillValue = -1.5f; f:scale = 0.1f, 2.f;
  double d(x); d:big = 1.e300;
  short lonely(t);
  char tag(t, len);
  double row(t, one);
  int never(z);
  :title = "every type"; :none = "";
data:
  b = 1, 2, 3, _, -128, 127, 7, 8, 9, 10, 11, 12;
  name = "a", "bb", "ccc", "d\tdd", "éé", "sixsix", "7";
  s = 1, -2, 3, 4, 5, 6, 7, 8, 9, 10, 32767, -32768, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
    29, 30, 31, 32, 33, 34, 35;
  i = -2147483647;
  f = 1.5, 2, NaN, _, -Infinity, 1e-45, REST;
  d = 0.1, NaN, Infinity, -0., 5, 1e308, 7;
  lonely = 1, _, 3;
  tag = "first", "second", "third", "fourth";
  row = 0.25, 0.5, 0.75, 1;
  never = 4, 5, 6;
}
"#;

/// [`CLASSIC`] with all values of `f`.
pub fn classic() -> String {
    let rest: Vec<String> = (6..4 * 3 * 5 * 7).map(|n| format!("{n}.25")).collect();
    CLASSIC.replace("REST", &rest.join(", "))
}

/// A dataset of CDF-5 in which some variables have types of the other kinds, and some have not.
pub const CDF5: &str = r#"netcdf cdf5 {
dimensions: t = UNLIMITED; x = 3;
variables:
  ubyte ub(t, x); ub:u = 200UB;
  ushort us(x);
  uint ui(t); ui:_FillValue = 7u;
  uint64 ul(x); ul:most = 18446744073709551615ULL;
  short s(t, x); s:units = "K";
  float f(x);
data:
  ub = 1, 2, 255, 4, 5, 6; us = 65535, 1, 2; ui = 4294967295, 1; ul = 9007199254740993, 2, 3;
  s = 1, -2, 3, 4, 5, 6; f = 0.5, 1, 2;
}
"#;

/// No records, and no data at all.
pub const EMPTY: &str = r#"netcdf empty {
dimensions: t = UNLIMITED; x = 3;
variables: int v(t, x); v:units = "m"; char c(t);
}
"#;

/// The only record variable, whose records have no padding.
pub const LONE: &str = r#"netcdf lone {
dimensions: t = UNLIMITED; x = 3;
variables: byte v(t, x); double fixed(x);
data: v = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15; fixed = 1, 2, 3;
}
"#;

/// A folder with one file in it, made by the reference.
pub struct Sample {
    pub folder: TempDir,
    pub source: PathBuf,
}

impl Sample {
    pub fn new(kind: &str, cdl: &str) -> Sample {
        let folder = tempfile::tempdir().unwrap();
        let [text, source] = ["source.cdl", "source.nc"].map(|name| folder.path().join(name));
        std::fs::write(&text, cdl).unwrap();
        let run = Command::new("ncgen").args(["-k", kind, "-o"]).args([&source, &text]).output();
        let run = run.expect("the reference's ncgen must be installed");
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        Sample { folder, source }
    }

    /// Copies by both with these options: the same must be said, and the copies hold the same. What they hold, if they
    /// were made.
    pub fn copy(&self, options: &[&str]) -> Option<Vec<u8>> {
        let [their_copy, our_copy] = ["theirs.nc", "ours.nc"].map(|name| self.folder.path().join(name));
        let source = self.source.to_str().unwrap();
        let their =
            reference(&[options, &[source, their_copy.to_str().unwrap()]].concat(), self.folder.path());
        let our = ours(&[options, &[source, our_copy.to_str().unwrap()]].concat());
        assert_eq!(our, their, "nccopy {options:?}: ours is the left");
        if their.code != Some(0) {
            return None;
        }
        let (expected, copied) = (printed(&their_copy), printed(&our_copy));
        let show = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
        assert!(expected == copied, "nccopy {options:?}:\n{}\n{}", show(&expected), show(&copied));
        let kinds = [their_copy, our_copy].map(|path| std::fs::read(path).unwrap()[3]);
        assert_eq!(kinds[0], kinds[1], "nccopy {options:?}: the kind of the copy");
        Some(copied)
    }
}

/// Each sample in each kind that holds it.
fn samples() -> Vec<Sample> {
    let mut samples = vec![Sample::new("nc5", CDF5)];
    for kind in ["nc3", "nc6", "nc5"] {
        samples.extend([&classic(), EMPTY, LONE].map(|cdl| Sample::new(kind, cdl)));
    }
    samples
}

#[test]
fn kinds() {
    let names = [
        "nc3",
        "classic",
        "1",
        "nc6",
        "64-bit offset",
        "64-bit-offset",
        "2",
        "nc5",
        "cdf5",
        "5",
        "64-bit data",
        "64-bit-data",
    ];
    let mut copies = 0;
    for sample in samples() {
        copies += names.iter().filter(|name| sample.copy(&["-k", name]).is_some()).count();
        assert!(sample.copy(&[]).is_some());
        copies +=
            [&["-3"][..], &["-6"], &["-3", "-6"]].iter().filter(|kind| sample.copy(kind).is_some()).count();
    }
    // CDF-5's own types go to CDF-5 only.
    assert_eq!(copies, 9 * 15 + 5);
}

#[test]
fn subsets_of_variables() {
    let sample = Sample::new("nc3", &classic());
    let whole = sample.copy(&[]).unwrap();
    for names in
        ["b", "lonely", "f", "name", "i", "never", "d,s", "tag,b", "f,f", "row,lonely,i", "b,name,s,i,f,d"]
    {
        for kind in ["nc3", "nc6", "cdf5"] {
            // The other variables keep their definitions, and have no values that could be compared.
            let options = ["-k", kind, "-V", names];
            let copied = sample.copy(&options).unwrap();
            assert_ne!(copied, whole, "{options:?}");
        }
    }
    assert_eq!(sample.copy(&["-V", "b,name,s,i,f,d,lonely,tag,row,never"]).unwrap(), whole);
    // Variables in another order than in the file are copied in the file's.
    assert_eq!(sample.copy(&["-V", "never,row,tag,lonely,d,f,i,s,name,b"]).unwrap(), whole);
}

#[test]
fn data_of_some_variables() {
    for kind in ["nc3", "nc6", "nc5"] {
        let sample = Sample::new(kind, &classic());
        for names in ["b", "f", "i,d", "lonely,tag"] {
            let folder = sample.folder.path();
            let [their_copy, our_copy] = ["theirs.nc", "ours.nc"].map(|name| folder.join(name));
            let source = sample.source.to_str().unwrap();
            let their = reference(&["-v", names, source, their_copy.to_str().unwrap()], folder);
            let our = ours(&["-v", names, source, our_copy.to_str().unwrap()]);
            assert_eq!(our, their);
            // What was not asked for is undefined in both.
            let print = |file: &PathBuf| {
                let run =
                    Command::new("ncdump").args(["-n", "copy", "-v", names]).arg(file).output().unwrap();
                assert!(run.status.success());
                String::from_utf8_lossy(&run.stdout).into_owned()
            };
            assert_eq!(print(&our_copy), print(&their_copy), "{names}");
        }
    }
}

/// Subsets of the variables of a CDF-5 file fit into the other kinds if their types do.
#[test]
fn subsets_across_kinds() {
    let sample = Sample::new("nc5", CDF5);
    for kind in ["nc3", "nc6", "cdf5"] {
        for names in ["s", "f", "s,f", "f,s", "ub", "us", "ul,s"] {
            let copied = sample.copy(&["-k", kind, "-V", names]);
            let fits = kind == "cdf5" || !names.contains('u');
            assert_eq!(copied.is_some(), fits, "{kind} {names}");
        }
    }
}

#[test]
fn unlimited_dimensions_made_fixed() {
    for sample in samples() {
        for options in [&["-u"][..], &["-u", "-k", "cdf5"], &["-u", "-6"], &["-u", "-m", "8"]] {
            if let Some(copied) = sample.copy(options) {
                let text = String::from_utf8_lossy(&copied);
                // A length of 0 makes a dimension unlimited.
                assert_eq!(text.contains("UNLIMITED"), text.contains("0 currently"), "{options:?}");
            }
        }
    }
}

/// Buffers that cut the variables between elements of every dimension.
#[test]
fn small_buffers() {
    for sample in samples() {
        let whole = sample.copy(&[]).unwrap();
        for size in ["0", "1", "7", "8", "20", "30", "100", "140", "420", "0.5K", "1K", "1e3", "1M"] {
            assert_eq!(sample.copy(&["-m", size]).unwrap(), whole, "-m {size}");
        }
        sample.copy(&["-m", "13", "-k", "cdf5"]).unwrap();
    }
}

#[test]
fn files_in_memory() {
    for sample in samples() {
        let whole = sample.copy(&[]).unwrap();
        for options in [&["-r"][..], &["-w"], &["-r", "-w"], &["-rw", "-m", "10"]] {
            assert_eq!(sample.copy(options).unwrap(), whole, "{options:?}");
        }
    }
}

/// Options for netCDF-4 have no effect where the kind of the copy is given.
#[test]
fn options_without_effect_on_classic_copies() {
    let sample = Sample::new("nc3", &classic());
    let whole = sample.copy(&[]).unwrap();
    for options in [
        &["-3", "-d", "5"][..],
        &["-6", "-s"],
        &["-k", "cdf5", "-d", "1", "-s"],
        &["-3", "-c", "x/2"],
        &["-3", "-h", "1M", "-e", "100"],
        &["-M", "100"],
        &["-x"],
        &["-d", "0"],
        &["-F", "none"],
        &["-F", "*,none"],
    ] {
        assert_eq!(sample.copy(options), Some(whole.clone()), "{options:?}");
    }
}
