//! Every netCDF and HDF5 file of the corpus that `ncdump` prints: `ncgen` makes a file of the text that is printed as the
//! same text, and so of the text of `ferrocdf dump`, which escapes more names.

use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use ferrocdf_tools::{ncdump, ncgen};

use crate::excused::{Excused, is_excused};
use crate::nccopy_files::data_bytes;
use crate::{Entry, each, files};

/// Bytes of data of the largest files that are printed.
const MOST: u64 = 4_000_000;

const FILL_TYPE: &str =
    "the fill value has another type than its variable, which no file that is made may have";
const ZEROS: &str = "text with zero bytes or blanks at its end, which CDL does not tell";

/// Files whose text does not come round for other reasons than names.
const EXCEPTIONS: &[Excused] = &[
    ("uw_kingair-2005-01-19-113957.nc", FILL_TYPE),
    ("d_size64.h5", FILL_TYPE),
    ("t_invalid_fvalue.h5", FILL_TYPE),
    ("t_wrong_fvalue_type.h5", FILL_TYPE),
    ("MD5903593_001.nc", ZEROS),
    ("MR5905167_372.nc", ZEROS),
    ("true_n_nominal.bag", "two variables of one made-up unlimited dimension have different lengths"),
];

/// How the text of a file is printed: the tool, and whether names are escaped.
type Dump = fn(Vec<OsString>, &mut dyn std::io::Write, &mut dyn std::io::Write) -> i32;

const DUMPS: [(&str, Dump); 2] = [
    ("ncdump", |args, out, err| ncdump::main(args, out, err)),
    ("ferrocdf dump", |args, out, err| ncdump::dump(args, out, err)),
];

/// The text of a file, or why there is none.
fn printed(program: &str, dump: Dump, file: &Path) -> Result<Vec<u8>, String> {
    let (mut out, mut err) = (vec![], vec![]);
    let args = [program, "-n", "same", "-p", "9,17"].map(OsString::from);
    match dump(args.into_iter().chain([file.into()]).collect(), &mut out, &mut err) {
        0 => Ok(out),
        _ => Err(String::from_utf8_lossy(&err).into_owned()),
    }
}

/// Whether two texts differ in the order of types alone: `ncgen` defines types in the reference's order, those before the
/// others that these are made of, and types without a name come in the order of the variables.
fn is_other_order(a: &[u8], b: &[u8]) -> bool {
    let has_unnamed = a.windows(10).any(|text| text == b"_Anonymous");
    let [a, b] = [a, b].map(|text| {
        let mut lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
        lines.sort_unstable();
        lines
    });
    has_unnamed && a == b
}

fn comes_round(entry: &Entry, compared: &AtomicUsize) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let [text, copy] = ["same.cdl", "copy.nc"].map(|name| folder.path().join(name));
    let kind = ferrocdf::open(&entry.path).expect("data_bytes opened it").format().kind_name();
    let mut wrong = vec![];
    for (program, dump) in DUMPS {
        // Objects that cannot be read, and names that are refused, are tested elsewhere.
        let Ok(was) = printed(program, dump, &entry.path) else { continue };
        std::fs::write(&text, &was).expect("a text");
        let args = ["ncgen", "-k", kind, "-o"].map(OsString::from);
        let args = args.into_iter().chain([copy.clone().into(), text.clone().into()]);
        let mut said = vec![];
        let code = ncgen::run(ncgen::Program::Ncgen, args, &mut &b""[..], &mut std::io::sink(), &mut said);
        let is = match code {
            0 => printed(program, dump, &copy),
            _ => Err(String::from_utf8_lossy(&said).into_owned()),
        };
        compared.fetch_add(1, Relaxed);
        let what = match is {
            Ok(is) if is == was || is_other_order(&was, &is) => continue,
            Ok(is) => {
                let [was, is] = [&was, &is].map(|text| text.split(|&byte| byte == b'\n'));
                let differs = was.zip(is).find(|(was, is)| was != is);
                differs.map_or("its length".to_string(), |(was, is)| {
                    format!("{:?} and {:?}", String::from_utf8_lossy(was), String::from_utf8_lossy(is))
                })
            }
            Err(said) => said,
        };
        wrong.push(format!("{}: {program}: {what}", entry.path.display()));
    }
    wrong
}

#[test]
fn text_of_every_file_makes_a_file_of_the_same_text() {
    let files: Vec<Entry> = files(&["cdf1", "cdf2", "cdf5", "hdf5"])
        .into_iter()
        .filter(|entry| entry.normal && !is_excused(&entry.path, EXCEPTIONS))
        .filter(|entry| data_bytes(entry).is_some_and(|bytes| bytes <= MOST))
        .collect();
    let compared = AtomicUsize::new(0);
    let wrong = each(&files, |entry| comes_round(entry, &compared));
    println!("{} files, {} texts made into files again", files.len(), compared.load(Relaxed));
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared.load(Relaxed) > files.len(), "too few texts");
}
