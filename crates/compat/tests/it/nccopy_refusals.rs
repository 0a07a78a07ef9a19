//! What `nccopy` refuses, it refuses as the reference does: by the same exit code, and in the same first line.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::nccopy_options::{CDF5, Sample, classic};
use super::nccopy_tool::{Run, ours, printed, reference};

/// Runs both in a folder, on a command line in which `DIR` stands for it.
fn both(sample: &Sample, args: &[&str]) -> Run {
    let folder = sample.folder.path();
    let args: Vec<String> = args.iter().map(|arg| arg.replace("DIR", folder.to_str().unwrap())).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (their, our) = (reference(&args, folder), ours(&args));
    assert_eq!(our, their, "nccopy {args:?}: ours is the left");
    our
}

#[test]
fn command_lines() {
    let sample = Sample::new("nc3", &classic());
    for args in [
        &["-k", "nc9", "a", "b"][..],
        &["-k", "", "a", "b"],
        &["-d", "10", "a", "b"],
        &["-d", "-1", "a", "b"],
        &["-m", "5x", "a", "b"],
        &["-m", "-5", "a", "b"],
        &["-h", "1Q", "a", "b"],
        &["-e", "1Z", "a", "b"],
        &["a"],
        &["a", "b", "c"],
        &["-3"],
        &["-3", "a"],
        &["a", "a"],
        &["-z", "a", "b"],
        &["-k"],
    ] {
        assert_eq!(both(&sample, args).code, Some(1), "{args:?}");
    }
}

#[test]
fn no_arguments() {
    let folder = tempfile::tempdir().unwrap();
    let (their, our) = (reference(&[], folder.path()), ours(&[]));
    assert_eq!((our.code, their.code), (Some(1), Some(1)));
    // Ours lists `-5` and `--shards`, too.
    let said = our.said.replace("[3|4|5|6|7]", "[3|4|6|7]").replace("[--shards shardspec] ", "");
    assert_eq!(said, their.said);
}

#[test]
fn the_reference_refuses_its_own_option_5() {
    let sample = Sample::new("nc3", &classic());
    let copy = sample.folder.path().join("copy.nc");
    let args = ["-5", sample.source.to_str().unwrap(), copy.to_str().unwrap()];
    assert_eq!(reference(&args, sample.folder.path()).code, Some(1));
    assert_eq!(ours(&args), Run { code: Some(0), said: String::new() });
    assert_eq!(std::fs::read(&copy).unwrap()[..4], *b"CDF\x05");
    assert_eq!(printed(&copy), printed(&sample.source));
}

#[test]
fn names_that_are_not_there() {
    let sample = Sample::new("nc3", &classic());
    for options in [
        &["-v", "nothing"][..],
        &["-V", "b,nothing,s"],
        &["-V", "x"],
        &["-V", "B"],
        &["-V", "/b"],
        &["-v", "/nothing"],
        &["-v", "g/b"],
        &["-g", "g"],
        &["-G", "/"],
        &["-g", "g1,g2", "-v", "b"],
        &["-v", "nothing", "-g", "g"],
    ] {
        assert_eq!(sample.copy(options), None, "{options:?}");
        // Nothing is made, and nothing that is there is lost.
        assert!(!sample.folder.path().join("ours.nc").exists(), "{options:?}");
    }
}

/// Chunk specifications are read even if they have no effect.
#[test]
fn chunk_specifications() {
    let sample = Sample::new("nc3", &classic());
    let mut made = 0;
    for spec in [
        "x/2",
        "x/",
        "x/2,y/3",
        "/",
        "/x/2",
        "x/2,y/",
        "x/100",
        "x/0x10",
        "x/010",
        "t/1",
        "s:2,3",
        "/s:2,3",
        "s:",
        "s:compact",
        "s:CONTIGUOUS",
        "i:",
        "s:5,7",
        "x/2x",
        "s:2,3x",
        "b:1,1",
        "b:4,3",
        "name:7,6",
        "x/+2",
        "x/ 2",
        // Refused:
        "nothing/2",
        "x",
        "x/0",
        "x/-1",
        "x/a",
        "x/2,,y/3",
        "x/2,",
        ",x/2",
        "nothing:1",
        "s:2",
        "s:2,3,4",
        "s:a,b",
        "s:2,,3",
        "s:6,7",
        "s:5,8",
        "b:5,3",
        "b:1,4",
        "i:1",
        "name:8,1",
        "s:,",
        "s:compacted",
        "y/2,nothing/1",
        ":",
        ":1",
        "x/99999999999999999999",
        "s:0,0",
        "s:-1,2",
    ] {
        made += u32::from(sample.copy(&["-3", "-c", spec]).is_some());
    }
    assert!((20..35).contains(&made), "{made} specifications were accepted");
    assert!(sample.copy(&["-3", "-c", "x/2", "-c", "s:1,1"]).is_some());
    assert!(sample.copy(&["-3", "-c", "x/2", "-c", "nothing:1"]).is_none());
}

#[test]
fn types_that_the_kind_does_not_have() {
    let sample = Sample::new("nc5", CDF5);
    for options in
        [&["-3"][..], &["-6"], &["-3", "-V", "ub"], &["-k", "nc6", "-V", "s,ul"], &["-3", "-v", "s"]]
    {
        assert_eq!(sample.copy(options), None, "{options:?}");
    }
}

#[test]
fn files_that_cannot_be_read() {
    let sample = Sample::new("nc3", &classic());
    let folder = sample.folder.path();
    std::fs::write(folder.join("text"), "no netCDF here, but some more than eight bytes").unwrap();
    std::fs::write(folder.join("nothing"), "").unwrap();
    std::fs::write(folder.join("short"), "CDF").unwrap();
    std::fs::create_dir(folder.join("folder")).unwrap();
    for options in [&[][..], &["-r"], &["-w", "-3"]] {
        for name in ["missing", "text", "nothing", "short", "folder", "missing/file", "text/file"] {
            let source = format!("DIR/{name}");
            let run = both(&sample, &[options, &[&source, "DIR/out.nc"]].concat());
            assert_eq!(run.code, Some(1), "{name}");
        }
    }
}

#[test]
fn files_that_cannot_be_written() {
    let sample = Sample::new("nc3", &classic());
    let folder = sample.folder.path();
    std::fs::create_dir(folder.join("folder")).unwrap();
    std::fs::write(folder.join("file"), "").unwrap();
    for name in ["folder", "missing/out.nc", "file/out.nc"] {
        let target = format!("DIR/{name}");
        assert_eq!(both(&sample, &["DIR/source.nc", &target]).code, Some(1), "{name}");
    }
}

/// Where the end of a header is missing, the reference speaks of an invalid argument.
#[test]
fn a_header_that_is_cut_off() {
    let sample = Sample::new("nc3", &classic());
    let folder = sample.folder.path();
    let whole = std::fs::read(&sample.source).unwrap();
    let [source, target] = ["cut.nc", "out.nc"].map(|name| folder.join(name).to_str().unwrap().to_string());
    std::fs::write(&source, &whole[..100]).unwrap();
    let run = ours(&[&source, &target]);
    assert_eq!(run.said, "NetCDF: File likely truncated or possibly corrupted");
    assert_eq!(run.code, reference(&[&source, &target], folder).code);
}

/// The reference loses a copy that it made in memory and cannot write, and reports success.
#[test]
fn a_copy_in_memory_that_cannot_be_written() {
    let sample = Sample::new("nc3", &classic());
    let folder = sample.folder.path();
    for name in ["missing/out.nc", "source.nc/out.nc"] {
        let target = folder.join(name).to_str().unwrap().to_string();
        let args = ["-w", sample.source.to_str().unwrap(), &target];
        assert_eq!(reference(&args, folder), Run { code: Some(0), said: String::new() });
        let run = ours(&args);
        assert_eq!(run.code, Some(1), "{name}");
        assert!(["No such file or directory", "Not a directory"].contains(&&*run.said), "{}", run.said);
    }
}

/// The reference compares names only: by a second name it empties its own input.
#[test]
fn input_and_output_are_one_file() {
    let sample = Sample::new("nc3", &classic());
    let folder = sample.folder.path();
    let whole = std::fs::read(&sample.source).unwrap();
    assert_eq!(
        both(&sample, &["DIR/source.nc", "DIR/source.nc"]).said,
        "nccopy: output would overwrite input"
    );
    symlink(&sample.source, folder.join("link")).unwrap();
    std::fs::hard_link(&sample.source, folder.join("second")).unwrap();
    let source = sample.source.to_str().unwrap();
    for name in ["link", "second", "./source.nc"] {
        let target = folder.join(name);
        let target = target.to_str().unwrap();
        for args in [[source, target], [target, source]] {
            let said = "nccopy: output would overwrite input".to_string();
            assert_eq!(ours(&args), Run { code: Some(1), said }, "{args:?}");
            assert_eq!(std::fs::read(&sample.source).unwrap(), whole);
        }
    }
}

/// An output that is there is replaced, by a shorter file if need be.
#[test]
fn an_output_that_is_there_is_replaced() {
    let sample = Sample::new("nc3", &classic());
    let whole = sample.copy(&[]);
    for name in ["theirs.nc", "ours.nc"] {
        let path = sample.folder.path().join(name);
        std::fs::write(&path, vec![b'x'; 100_000]).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    }
    assert_eq!(sample.copy(&[]), whole);
    let [their, our] =
        ["theirs.nc", "ours.nc"].map(|name| sample.folder.path().join(name).metadata().unwrap());
    assert_eq!(our.len(), their.len());
    assert_eq!(our.permissions(), their.permissions());
}
