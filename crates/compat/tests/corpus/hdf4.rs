//! Every HDF4 file of the corpus as libhdf4, pyhdf and a netCDF-C that was built with HDF4 read it, and copied by `nccopy`.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use ferrocdf_compat::hdf4::{Hdf4Comparison, Libhdf4, Told, compare, compare_others, parse};
use ferrocdf_compat::python;

use crate::nccopy_tool::ours as our_copy;
use crate::ncdump_tool::{Run, ours, reference as debians};
use crate::{files, within_seconds};

/// The HDF4 files of the corpus.
fn hdf4() -> Vec<PathBuf> {
    let files: Vec<PathBuf> = files(&["hdf4"]).into_iter().map(|entry| entry.path).collect();
    assert!(files.len() >= 128, "only {} HDF4 files", files.len());
    files
}

fn text(path: &Path) -> &str {
    path.to_str().expect("names in the corpus are UTF-8")
}

/// The part of a path within the corpus.
fn short(path: &Path) -> String {
    let root = std::env::var("FERROCDF_CORPUS").expect("`cargo xtask corpus` sets it");
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

/// Files where the two differ, by the end of their path and a part of the difference, each with the reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[(
    "ntcheck.hdf",
    ": elements: ",
    "of a dimension without a scale libhdf4 returns the first bytes of the other scales, ferrocdf the fill value",
)];

/// Compares what another reader, called `who`, tells of files with what ferrocdf reads.
fn judge(who: &str, paths: &[PathBuf], told: &[Told]) {
    let mut all = Hdf4Comparison::default();
    for (path, told) in paths.iter().zip(told) {
        let found = catch_unwind(AssertUnwindSafe(|| compare(path, told)));
        let panicked =
            || Hdf4Comparison { differences: vec!["it panicked".to_string()], ..Hdf4Comparison::default() };
        let mut found = found.unwrap_or_else(|_| panicked());
        found.differences.iter_mut().for_each(|what| *what = format!("{}: {what}", short(path)));
        found.differences.retain(|what| {
            !EXCEPTIONS.iter().any(|(file, part, _)| path.ends_with(file) && what.contains(part))
        });
        all.add(found);
    }
    println!(
        "{who}: {} files, {} facts are the same, {} bytes of elements among them; {} only we can tell",
        paths.len(),
        all.same,
        all.bytes,
        all.only_ours
    );
    assert!(all.same > 3000, "only {} facts were compared", all.same);
    assert!(
        all.differences.is_empty(),
        "{} differences:\n{}",
        all.differences.len(),
        all.differences.join("\n")
    );
}

#[test]
fn every_data_set_is_what_libhdf4_reads() {
    let paths = hdf4();
    let programs = Libhdf4::new(Path::new(env!("CARGO_TARGET_TMPDIR")));
    judge("libhdf4", &paths, &programs.tell(&paths));
}

#[test]
fn every_raster_is_what_libhdf4_reads() {
    let programs = Libhdf4::new(Path::new(env!("CARGO_TARGET_TMPDIR")));
    let (mut all, mut crashes) = (Hdf4Comparison::default(), 0);
    for path in hdf4() {
        let Some(told) = programs.tell_others(&path) else {
            crashes += 1;
            continue;
        };
        let mut found = compare_others(&path, &told);
        found.differences.iter_mut().for_each(|what| *what = format!("{}: {what}", short(&path)));
        all.add(found);
    }
    println!(
        "{} facts are the same, {} bytes of pixels among them; libhdf4 does not read {crashes} files",
        all.same, all.bytes
    );
    assert!(
        all.differences.is_empty(),
        "{} differences:\n{}",
        all.differences.len(),
        all.differences.join("\n")
    );
    assert!(all.same > 390, "only {} facts were compared", all.same);
}

/// Runs a script of Python with lines on its standard input.
fn script(name: &str, lines: String) -> String {
    let mut child = python::script(name)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a Python that starts");
    let mut input = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output().expect("it was started");
    writer.join().expect("a thread that writes").expect("a pipe that is read");
    assert!(output.status.success(), "{name}: {}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn every_data_set_is_what_pyhdf_reads() {
    let paths = hdf4();
    let list: String = paths.iter().map(|path| format!("{}\n", path.display())).collect();
    judge("pyhdf", &paths, &parse(&script("hdf4_tell.py", list)));
}

/// Runs a tool of a netCDF-C that was built with HDF4.
fn reference(tool: &str, args: &[&str]) -> Run {
    let folder = std::env::var("FERROCDF_NETCDF_HDF4").expect("`cargo xtask corpus` sets it");
    let output = within_seconds(20).arg(Path::new(&folder).join(tool)).args(args).output();
    let output = output.expect("`cargo xtask corpus` builds it");
    Run { code: output.status.code(), out: output.stdout, err: output.stderr }
}

/// Our text in the words of the reference, which has no unlimited dimensions, lets several variables have one name, and says nothing of
/// compression, nor of the one chunk of a data set that is compressed as a whole.
fn in_their_words(path: &Path, way: &[&str], text: &[u8]) -> Vec<u8> {
    let mut text = String::from_utf8_lossy(text).into_owned();
    if let Ok(file) = ferrocdf::File::open(path) {
        let model = file.model();
        let names: Vec<String> = model.vars().iter().map(|var| var.name.to_string()).collect();
        for name in &names {
            let first = name.trim_end_matches(|c: char| c.is_ascii_digit()).strip_suffix('_');
            if let Some(first) = first.filter(|first| names.iter().any(|name| name == first)) {
                let [name, first] = [name, first].map(|name| name.replace(' ', "\\ "));
                for end in ["(", ":", " ="] {
                    for start in [" ", "\t"] {
                        text = text.replace(&format!("{start}{name}{end}"), &format!("{start}{first}{end}"));
                    }
                }
            }
        }
    }
    let lines = text.split('\n').filter(|line| !way.contains(&"-hs") || !is_of_storage(line));
    let lines: Vec<String> = lines
        .map(|line| match line.split_once(" = UNLIMITED ; // (") {
            Some((name, rest)) => format!("{name} = {} ;", rest.trim_end_matches(" currently)")),
            None => line.to_string(),
        })
        .collect();
    lines.join("\n").into_bytes()
}

/// Whether a line says how a variable is stored.
fn is_of_storage(line: &str) -> bool {
    [":_Storage = ", ":_ChunkSizes = ", ":_DeflateLevel = ", ":_Filter = ", ":_Shuffle = "]
        .iter()
        .any(|word| line.contains(word))
}

const WAYS: [&[&str]; 8] = [&[], &["-h"], &["-k"], &["-K"], &["-c"], &["-b", "f"], &["-l", "120"], &["-hs"]];

/// Files whose text differs from that of the reference, each with the reason.
const TEXT_EXCEPTIONS: &[(&str, &str)] = &[
    ("ntcheck.hdf", "dimensions without a scale, as above"),
    (
        "sds1_dim1_samename.hdf",
        "two variables of one name: the reference takes the wrong one for the coordinate variable",
    ),
];
/// The first line that differs.
fn difference(theirs: &[u8], mine: &[u8]) -> String {
    let [theirs, mine] = [theirs, mine].map(|text| String::from_utf8_lossy(text).into_owned());
    let mut lines = theirs.lines().zip(mine.lines()).enumerate();
    match lines.find(|(_, (their, my))| their != my) {
        Some((number, (their, my))) => format!("line {}: theirs {their:.200?}, ours {my:.200?}", number + 1),
        None => format!("theirs has {} lines, ours {}", theirs.lines().count(), mine.lines().count()),
    }
}

#[test]
fn ncdump_prints_what_the_reference_prints() {
    let (mut same, mut only_ours, mut excused, mut differences) = (0, 0, 0, vec![]);
    for path in hdf4() {
        for way in WAYS {
            let args = [way, &[text(&path)]].concat();
            let mut theirs = reference("ncdump", &args);
            let mut mine = ours(&args);
            mine.out = in_their_words(&path, way, &mine.out);
            // Both without bytes that are no UTF-8.
            theirs.out = in_their_words(Path::new(""), way, &theirs.out);
            if theirs.code != Some(0) {
                only_ours += usize::from(mine.code == Some(0));
            } else if theirs.out == mine.out && mine.code == Some(0) {
                same += 1;
            } else if TEXT_EXCEPTIONS.iter().any(|(file, _)| path.ends_with(file)) {
                excused += 1;
            } else {
                let what = format!(
                    "{} {way:?}: {:?} {}",
                    short(&path),
                    mine.code,
                    difference(&theirs.out, &mine.out)
                );
                differences.push(format!("{what} {}", String::from_utf8_lossy(&mine.err)));
            }
        }
    }
    println!("{same} texts are the same, {only_ours} only ours prints, {excused} are excused");
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
    assert!(same > 800, "only {same} texts");
}

const KINDS: [&str; 5] = ["nc3", "nc6", "cdf5", "nc4", "nc7"];

#[test]
fn copies_hold_what_their_sources_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut copies, mut refused, mut differences, mut pairs) = (0, 0, vec![], String::new());
    for (number, path) in hdf4().iter().enumerate() {
        for kind in KINDS {
            let copy = folder.path().join(format!("{number}-{kind}.nc"));
            let theirs = folder.path().join(format!("{number}-{kind}-theirs.nc"));
            let done = our_copy(&["-k", kind, text(path), text(&copy)]);
            let reference = reference("nccopy", &["-k", kind, text(path), text(&theirs)]);
            // It may not have been made.
            let _ = std::fs::remove_file(&theirs);
            let mut say = |what: String| differences.push(format!("{} {kind}: {what}", short(path)));
            if done.code != Some(0) {
                refused += 1;
                if reference.code == Some(0) {
                    say(format!("only the reference copies it: {}", done.said));
                }
                continue;
            }
            copies += 1;
            let print = |path: &Path| {
                ["-n", "same", "-p", "9,17"]
                    .into_iter()
                    .chain([text(path)])
                    .map(str::to_string)
                    .collect::<Vec<_>>()
            };
            let args = print(&copy);
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let (mine, read) = (ours(&args), debians(&args));
            if read.code != Some(0) {
                say(format!("the reference cannot print the copy: {}", String::from_utf8_lossy(&read.err)));
            } else if read.out != mine.out {
                say(format!("ncdump of the copy: {}", difference(&read.out, &mine.out)));
            }
            pairs.push_str(&format!("{}\t{}\n", path.display(), copy.display()));
        }
    }
    let said = script("hdf4_copies.py", pairs);
    let mut lines: Vec<&str> = said.lines().collect();
    println!("{copies} copies, {refused} refused; pyhdf and netCDF4: {:?}", lines.pop());
    differences.extend(lines.iter().map(|line| line.to_string()));
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
    assert!(copies > 300, "only {copies} copies");
}
