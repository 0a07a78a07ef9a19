//! Every classic file of the corpus made again from its CDL, and copied, in each classic kind.
//!
//! What `ncgen` writes is compared byte for byte; of what `nccopy` writes, the text that the reference prints of it,
//! since the reference leaves padding undefined. Where the reference is not followed, the reason is here.

use std::collections::BTreeMap;
use std::process::Command;

use ferrocdf_tools::ncgen::{Program, run};

use crate::classic;
use crate::ncdump_tool::reference as dump;

const KINDS: [&str; 3] = ["nc3", "nc6", "nc5"];

/// Runs a program of the reference; no code if it crashed.
fn theirs(program: &str, args: &[&str]) -> Option<i32> {
    let run = Command::new(program).args(args).output();
    run.unwrap_or_else(|error| panic!("the reference's {program}: {error}")).status.code()
}

fn ncgen(args: &[&str]) -> i32 {
    let args = ["ncgen"].iter().chain(args).map(std::ffi::OsString::from);
    run(Program::Ncgen, args, &mut &b""[..], &mut vec![], &mut vec![]).into()
}

/// Why a file that `ncgen` made is not the reference's, if there is a reason.
fn exception(cdl: &str, codes: (Option<i32>, i32), theirs: &[u8], mine: &[u8]) -> Option<&'static str> {
    match codes {
        (None, _) => return Some("the reference crashes"),
        (Some(1), 0) => return Some("the reference takes no large integer for a variable of reals"),
        (Some(0), 0) => {}
        _ => return None,
    }
    if cdl.contains("\tint64 ") {
        return Some("the reference makes int of int64");
    }
    let end = mine.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    let is_tail = theirs.len() == mine.len() && theirs[..end] == mine[..end] && end > 8192;
    is_tail.then_some("the reference writes what its buffer held behind a header of more than 8 KiB")
}

#[test]
fn ncgen_of_all_classic_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (cdl, their_file, my_file) = (path("a.cdl"), path("theirs.nc"), path("mine.nc"));
    let (mut same, mut reasons, mut wrong) = (0, BTreeMap::<_, usize>::new(), vec![]);
    for entry in classic().into_iter().filter(|entry| entry.normal) {
        let printed = dump(&[entry.path.to_str().unwrap()]);
        if printed.code != Some(0) {
            continue;
        }
        std::fs::write(&cdl, &printed.out).unwrap();
        for kind in KINDS {
            let (mut files, mut codes) = (vec![], (None, 0));
            for (file, is_mine) in [(&their_file, false), (&my_file, true)] {
                let _ = std::fs::remove_file(file);
                let args = ["-k", kind, "-o", file, &cdl];
                match is_mine {
                    false => codes.0 = theirs("ncgen", &args),
                    true => codes.1 = ncgen(&args),
                }
                files.push(std::fs::read(file).unwrap_or_default());
            }
            if codes.0 == Some(codes.1) && (codes.1 != 0 || files[0] == files[1]) {
                same += 1;
                continue;
            }
            match exception(&String::from_utf8_lossy(&printed.out), codes, &files[0], &files[1]) {
                Some(reason) => *reasons.entry(reason).or_default() += 1,
                None => wrong.push(format!("{} {kind}: {codes:?}", entry.path.display())),
            }
        }
    }
    println!("{same} files of ncgen are the reference's; {reasons:?}");
    assert!(wrong.is_empty(), "{} files differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(same > 600, "only {same} files were compared");
    assert!(reasons.values().sum::<usize>() < same / 20, "too many exceptions: {reasons:?}");
}

/// What the reference prints of a file, under a name that does not depend on the file's.
fn text(file: &str) -> Vec<u8> {
    dump(&["-n", "copy", file]).out
}

#[test]
fn nccopy_of_all_classic_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (their_file, my_file) = (path("theirs.nc"), path("mine.nc"));
    let (mut same, mut wrong) = (0, vec![]);
    for entry in classic().into_iter().filter(|entry| entry.normal) {
        let source = entry.path.to_str().unwrap();
        for kind in KINDS {
            let _ = (std::fs::remove_file(&their_file), std::fs::remove_file(&my_file));
            let code = theirs("nccopy", &["-k", kind, source, &their_file]);
            let args = ["nccopy", "-k", kind, source, &my_file];
            let mine = ferrocdf_tools::nccopy::main(args.iter().map(std::ffi::OsString::from));
            let success = mine == std::process::ExitCode::SUCCESS;
            let equal = match code {
                Some(0) => success && text(&their_file) == text(&my_file),
                _ => !success,
            };
            match equal {
                true => same += 1,
                false => wrong.push(format!("{source} {kind}: {code:?} {mine:?}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{} copies differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(same > 600, "only {same} copies were compared");
}
