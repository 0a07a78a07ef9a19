//! `ncgen` writes the bytes that the reference's `ncgen` writes.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use ferrocdf_store::testing::Rng;
use ferrocdf_tools::ncgen::{Program, run};

/// Runs the reference; what it says, and its exit code (`None` if it crashed).
pub fn reference(args: &[&str], folder: &Path) -> (String, Option<i32>) {
    let output =
        Command::new("ncgen").args(args).current_dir(folder).output().expect("the reference's ncgen");
    (String::from_utf8_lossy(&output.stderr).into_owned(), output.status.code())
}

/// Runs ours on `text` as standard input.
pub fn ours(args: &[&str], text: &[u8]) -> (String, u8) {
    let mut errors = vec![];
    let args = ["ncgen"].iter().chain(args).map(OsString::from);
    let code = run(Program::Ncgen, args, &mut &*text, &mut vec![], &mut errors);
    (String::from_utf8_lossy(&errors).into_owned(), code)
}

/// Both write a file from the same text; the files must be equal. False if the reference crashes, which it does at
/// some data that ends early.
fn compare(text: &str, options: &[&str]) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let cdl = folder.path().join("t.cdl");
    std::fs::write(&cdl, text).unwrap();
    let (said, code) = reference(&[options, &["-o", "reference.nc", "t.cdl"]].concat(), folder.path());
    if code.is_none() {
        return false;
    }
    assert_eq!(code, Some(0), "the reference: {said}\n{text}");
    let path = folder.path().join("ours.nc");
    let args = [options, &["-o", path.to_str().unwrap(), cdl.to_str().unwrap()]].concat();
    let (said, code) = ours(&args, b"");
    assert_eq!((said.as_str(), code), ("", 0), "{text}");
    let expected = std::fs::read(folder.path().join("reference.nc")).unwrap();
    let written = std::fs::read(&path).unwrap();
    let first = expected.iter().zip(&written).position(|(a, b)| a != b);
    assert!(
        expected == written,
        "{options:?}: {} and {} bytes, first difference at {first:?}\n{text}",
        expected.len(),
        written.len()
    );
    true
}

/// A number as it may be written for a variable of this type.
fn number(rng: &mut Rng, ty: &str, fills: bool) -> String {
    if fills && rng.once_in(12) {
        return "_".to_string();
    }
    let real = matches!(ty, "float" | "double");
    match rng.below(10) {
        0 if real => rng
            .pick(&["NaN", "-Infinity", "Infinityf", "NaNf", "1e400", "-0.", "1e-45", "5.e-324"])
            .to_string(),
        1 => format!("{}.{}e{}", rng.below(10), rng.below(1 << 40), rng.below(if real { 60 } else { 5 })),
        2 => format!("-{}.{}f", rng.below(100), rng.below(1000)),
        3 => format!("0{:o}", rng.below(500)),
        4 => format!("{}b", rng.below(400)),
        5 => format!("{}S", rng.below(70000)),
        6 => format!("'{}'", rng.pick(&["a", "\\n", "\\101", "\\\\", "\\t"])),
        7 if real => format!("{}.{:07}", rng.below(1 << 50), rng.below(10_000_000)),
        8 => format!("-{}", rng.below(1 << 31)),
        _ => format!("{}", rng.below(1 << 31)),
    }
}

fn text(rng: &mut Rng, longest: u64) -> String {
    let mut text = String::from("\"");
    for _ in 0..1 + rng.below(longest) {
        text.push_str(
            rng.pick(&["a", "Z", " ", "\\n", "\\t", "\\\"", "\\\\", "\\101", "é", "9", "'", "//", "{"]),
        );
    }
    text + "\""
}

fn attributes(rng: &mut Rng, owner: &str, into: &mut String) {
    for n in 0..rng.below(4) {
        let value = match rng.below(4) {
            0 => text(rng, 12),
            1 => format!("{}, {}", text(rng, 5), text(rng, 5)),
            _ => (0..1 + rng.below(3)).map(|_| number(rng, "double", false)).collect::<Vec<_>>().join(" , "),
        };
        let ty = if value.starts_with('"') { "" } else { rng.pick(&["", "", "short ", "double ", "byte "]) };
        let _ = writeln!(into, "\t\t{ty}{owner}:att{n} = {value} ;");
    }
}

/// A dataset of the classic model, with every way of writing things.
pub fn dataset(rng: &mut Rng, cdf5: bool) -> String {
    let mut cdl = String::from("netcdf random {\ndimensions:\n");
    let dims = 1 + rng.index(4);
    let lens: Vec<u64> = (0..dims).map(|_| 1 + rng.below(6)).collect();
    for (n, len) in lens.iter().enumerate() {
        let _ = writeln!(cdl, "\td{n} = {len} ;");
    }
    cdl.push_str("\trec = UNLIMITED ;\nvariables:\n");
    let mut data = String::from("data:\n");
    for n in 0..1 + rng.below(6) {
        let old = ["byte", "char", "short", "int", "float", "double", "long", "real"];
        let new = ["ubyte", "ushort", "uint", "uint64"];
        let ty = if cdf5 && rng.once_in(2) { rng.pick(&new) } else { rng.pick(&old) };
        let mut shape: Vec<usize> = (0..rng.below(3)).map(|_| rng.index(dims)).collect();
        shape.dedup();
        let record = rng.once_in(3);
        let mut names: Vec<String> = shape.iter().map(|dim| format!("d{dim}")).collect();
        if record {
            names.insert(0, "rec".to_string());
        }
        let brackets = if names.is_empty() { String::new() } else { format!("({})", names.join(", ")) };
        let _ = writeln!(cdl, "\t{ty} v{n}{brackets} ;");
        attributes(rng, &format!("v{n}"), &mut cdl);
        if rng.once_in(3) {
            let value = if ty == "char" { "\"-\"".to_string() } else { number(rng, ty, false) };
            let _ = writeln!(cdl, "\t\tv{n}:_FillValue = {value} ;");
        }
        if rng.once_in(4) {
            continue;
        }
        let row: u64 = shape.iter().map(|&dim| lens[dim]).product();
        let rows = if record { 1 + rng.below(4) } else { 1 };
        let values: Vec<String> = if ty != "char" {
            let count = if names.is_empty() { 1 } else { 1 + rng.below(rows * row) };
            (0..count).map(|_| number(rng, ty, true)).collect()
        } else {
            // As much text as fits: the reference crashes at more, and cuts records that are not full.
            let last = shape.last().map_or(1, |&dim| lens[dim]);
            let texts = if names.len() > 1 { rows * row / last } else { 1 };
            (0..texts).map(|_| format!("\"{}\"", "x".repeat(last.max(1) as usize))).collect()
        };
        let _ = writeln!(data, "\n v{n} = {} ; // data", values.join(rng.pick(&[", ", ",", " ,\n  "])));
    }
    attributes(rng, "", &mut cdl);
    cdl + &data + "}\n"
}

#[test]
fn random_datasets_are_written_byte_for_byte() {
    let mut rng = Rng::new(2024);
    let mut compared = 0;
    for _ in 0..120 {
        let text = dataset(&mut rng, false);
        for options in [&["-k", "nc3"][..], &["-k", "nc6"], &["-k", "nc5"], &["-k", "nc3", "-x"], &["-b"]] {
            compared += u32::from(compare(&text, options));
        }
        compared += u32::from(compare(&dataset(&mut rng, true), &["-k", "nc5"]));
    }
    assert!(compared > 450, "only {compared} of 720 could be compared");
}

#[test]
fn header_only() {
    let text = "netcdf a { dimensions: t = UNLIMITED; variables: int v(t), w; data: v = 1, 2; w = 3; }";
    assert!(compare(text, &["-3", "-H"]));
}

#[test]
fn long_lists_are_written_byte_for_byte() {
    let mut rng = Rng::new(7);
    let mut text = String::from(
        "netcdf a { dimensions: t = UNLIMITED; x = 700; variables: double v(t, x); short w(t, x);\ndata:\n",
    );
    for name in ["v", "w"] {
        let values: Vec<_> = (0..300_000)
            .map(|_| number(&mut rng, if name == "v" { "double" } else { "short" }, true))
            .collect();
        let _ = writeln!(text, "{name} = {};", values.join(",\n"));
    }
    text.push_str("}\n");
    assert!(compare(&text, &["-k", "nc6"]));
}
