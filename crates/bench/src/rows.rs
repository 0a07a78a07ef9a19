//! The table: what is measured, against whom, and the ratio to reach. Rows about netCDF-4 form the group `nc4`, and those
//! of built-in filters against the plugins of the same filters the group `codec`, those of Zarr stores the group
//! `zarr`, those of HDF4 files the group `hdf4`.

use std::path::{Path, PathBuf};

use crate::data::Data;
use crate::hdf4;
use crate::measure::{Cost, Meter, Peers, median, ready_memory};
use crate::remote;
use crate::stores;

/// Rows that take this much memory are measured on memory that was made ready.
const LARGE: u64 = 400_000_000;

/// What a command line asks for.
pub struct Options {
    pub turns: usize,
    /// A word of the rows to measure.
    pub only: Option<String>,
    /// The folder of an earlier build of ours, which takes the place of the peer.
    against: Option<PathBuf>,
}

const USAGE: &str = "usage: bench [remote] [--turns N] [--only WORD] [--against FOLDER]";

/// Reads a command line.
pub fn options(words: &[&str]) -> Result<Options, String> {
    let mut options = Options { turns: 5, only: None, against: None };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = words.next().ok_or(USAGE);
        match *word {
            "--turns" => options.turns = value?.parse().map_err(|_| "--turns wants a number")?,
            "--only" => options.only = Some(value?.to_string()),
            "--against" => options.against = Some(PathBuf::from(value?)),
            _ => return Err(USAGE.to_string()),
        }
    }
    Ok(options)
}

/// One line of the table.
pub struct Row {
    /// Rows that belong together; empty for most.
    pub group: &'static str,
    pub what: String,
    /// The file it needs.
    pub file: &'static str,
    /// The peer's time over ours that is to be reached.
    pub target: f64,
    pub peer: Vec<String>,
    pub ours: Vec<String>,
    /// Whether the programs print the seconds to count.
    pub timed_inside: bool,
}

/// Opens the folder of the data.
fn data() -> Result<Data, String> {
    let folder =
        std::env::var_os("FERROCDF_BENCH_DIR").map_or_else(|| PathBuf::from("target/bench"), PathBuf::from);
    Data::new(folder)
}

/// Measures the rows of remote datasets and prints their table.
pub fn run_remote(options: &Options) -> Result<(), String> {
    let data = data()?;
    let me = std::env::current_exe().map_err(|error| error.to_string())?;
    let (_, peers) = Meter::new(&data.folder, me.parent().unwrap_or(Path::new(".")))?;
    remote::run(options, &data, &peers)
}

/// Measures all rows and prints the table.
pub fn run(options: &Options) -> Result<(), String> {
    let data = data()?;
    let me = std::env::current_exe().map_err(|error| error.to_string())?;
    let built = me.parent().unwrap_or(Path::new("."));
    let (meter, peers) = Meter::new(&data.folder, built)?;
    let mut rows = rows(&data, &peers, &me.display().to_string(), built);
    let mut peer = "netcdf-c";
    if let Some(earlier) = &options.against {
        peer = "earlier";
        let library = earlier_library(earlier, &data.folder)?;
        for row in &mut rows {
            row.peer = in_earlier_build(&row.ours, built, earlier, &library);
            row.target = 0.97;
        }
    }
    let chosen =
        |row: &&Row| options.only.as_ref().is_none_or(|word| row.what.contains(word) || row.group == word);
    println!(
        "| workload | {peer} s | ferrocdf s | ratio | to reach | CPU s, theirs / ours | peak MB, theirs / ours |"
    );
    println!("|---|---|---|---|---|---|---|");
    for row in rows.iter().filter(chosen) {
        if row.peer.is_empty() {
            eprintln!(
                "left out, since there is no libhdf4, or no Python with what it needs (FERROCDF_PYTHON, FERROCDF_ZARR_PYTHON): {}",
                row.what
            );
            continue;
        }
        data.ready(row.file, &peers)?;
        let (theirs, ours) = turns(&meter, row, options.turns)?;
        let megabytes = |cost: &Cost| cost.memory as f64 / 1e6;
        println!(
            "| {} | {:.4} | {:.4} | **{:.2}x** | {} | {:.3} / {:.3} | {:.0} / {:.0} |",
            row.what,
            theirs.seconds,
            ours.seconds,
            theirs.seconds / ours.seconds,
            format_args!("{}x", row.target),
            theirs.cpu,
            ours.cpu,
            megabytes(&theirs),
            megabytes(&ours),
        );
    }
    Ok(())
}

/// Puts the C library of an earlier build into a folder of its own, under the name that programs look for, and gives that folder.
fn earlier_library(earlier: &Path, folder: &Path) -> Result<PathBuf, String> {
    let lib = folder.join("earlier");
    let library = earlier.join("libnetcdf.so");
    let copied =
        std::fs::create_dir_all(&lib).and_then(|()| std::fs::copy(&library, lib.join("libnetcdf.so.22")));
    copied.map_err(|error| format!("{}: {error}", library.display()))?;
    Ok(lib)
}

/// The command of a turn of ours with the programs of an earlier build, or its library if it is the program in C.
fn in_earlier_build(ours: &[String], built: &Path, earlier: &Path, library: &Path) -> Vec<String> {
    let Some((program, words)) = ours.split_first() else { return vec![] };
    let program = match Path::new(program).strip_prefix(built) {
        Ok(name) => vec![earlier.join(name).display().to_string()],
        Err(_) => {
            vec!["env".to_string(), format!("LD_LIBRARY_PATH={}", library.display()), program.clone()]
        }
    };
    [&program[..], words].concat()
}

/// Both sides in turn, after one turn each that is not counted.
fn turns(meter: &Meter, row: &Row, turns: usize) -> Result<(Cost, Cost), String> {
    let (mut theirs, mut ours) = (vec![], vec![]);
    let mut large = false;
    for turn in 0..=turns.max(1) {
        for (command, costs) in [(&row.peer, &mut theirs), (&row.ours, &mut ours)] {
            if large {
                ready_memory();
            }
            let cost = meter.turn(command, row.timed_inside)?;
            if turn > 0 {
                costs.push(cost);
            } else {
                large |= cost.memory > LARGE;
            }
        }
    }
    Ok((median(theirs), median(ours)))
}

fn rows(data: &Data, peers: &Peers, me: &str, bin: &Path) -> Vec<Row> {
    let own = |words: &[&str]| words.iter().map(|word| word.to_string()).collect::<Vec<_>>();
    let library = |what: &'static str, workload: &str, file: &'static str, target: f64| Row {
        group: "",
        what: what.to_string(),
        file,
        target,
        peer: own(&[&peers.theirs, workload, &data.path(file)]),
        ours: own(&[me, "worker", workload, &data.path(file)]),
        timed_inside: true,
    };
    let interface = |what: &'static str, workload: &str, file: &'static str| Row {
        group: "",
        what: what.to_string(),
        file,
        target: 1.0,
        peer: own(&[&peers.theirs, workload, &data.path(file)]),
        ours: own(&[&peers.ours, workload, &data.path(file)]),
        timed_inside: true,
    };
    let on_ours = |what: &'static str, workload: &str, file: &'static str| Row {
        group: "",
        what: what.to_string(),
        file,
        target: 0.97,
        peer: own(&[me, "worker", workload, &data.path(file)]),
        ours: own(&[&peers.ours, workload, &data.path(file)]),
        timed_inside: true,
    };
    let tool = |what: &'static str, name: &str, words: &[&str], file: &'static str, target: f64| {
        let ours = bin.join(name).display().to_string();
        let input = data.path(file);
        let words: Vec<&str> =
            words.iter().map(|&word| if word == "INPUT" { &input } else { word }).collect();
        let words = own(&words);
        Row {
            group: "",
            what: what.to_string(),
            file,
            target,
            peer: [own(&[name]), words.clone()].concat(),
            ours: [own(&[&ours]), words].concat(),
            timed_inside: false,
        }
    };
    let nc4 = |row: Row| Row { group: "nc4", ..row };
    let in_nc4 = |what: &'static str, workload: &str, file: &'static str, target: f64| Row {
        peer: own(&[&peers.theirs4, workload, &data.path(file)]),
        ..nc4(library(what, workload, file, target))
    };
    // The same by a script that names the workload otherwise.
    let by_python = |workload: &str, row: Row| {
        let command = |python: &String| own(&[python, &peers.script, workload, &data.path(row.file)]);
        Row { peer: peers.python.as_ref().map(command).unwrap_or_default(), ..row }
    };
    let against_python = |what: &'static str, file: &'static str, target: f64| {
        by_python("read", nc4(library(what, "read-fresh", file, target)))
    };
    let slabs_against_python = |what: &'static str, file: &'static str, target: f64| {
        by_python("read-slabs", nc4(library(what, "read-slabs", file, target)))
    };
    // Rows of writing form the group `nc4w`.
    let made = |row: Row| Row { group: "nc4w", ..row };
    let made_nc4 = |what: &'static str, workload: &str, file: &'static str, target: f64| {
        made(in_nc4(what, workload, file, target))
    };
    let copied = |what: &'static str, words: &[&str], file: &'static str, target: f64| {
        made(tool(what, "nccopy", words, file, target))
    };
    // Ourselves, with plugins in place of what is built in, and as many threads of our own on both sides.
    let codec = |what: &'static str, file: &'static str| {
        let row = Row { group: "codec", ..library(what, "read-fresh", file, 1.0) };
        let with_plugins = |folder: &String| {
            let folder = format!("HDF5_PLUGIN_PATH={folder}");
            [own(&["env", "FERROCDF_FILTERS=plugins", &folder, "BLOSC_NTHREADS=1"]), row.ours.clone()]
                .concat()
        };
        Row { peer: peers.plugins.as_ref().map(with_plugins).unwrap_or_default(), ..row }
    };
    let plain = Row {
        group: "",
        file: "fixed.nc",
        what: "plain parallel pread + swap (theirs) against read whole (ours), 1 GB CDF-5".to_string(),
        target: 0.8,
        peer: own(&[me, "worker", "plain-read", &data.path("fixed.nc")]),
        ours: own(&[me, "worker", "read-all", &data.path("fixed.nc")]),
        timed_inside: true,
    };
    let (copy, out) = (data.path("copy.made"), data.path("out.made"));
    let mut rows = vec![
        library("read 1 GB CDF-5 whole, buffer reused", "read-all", "fixed.nc", 2.3),
        plain,
        library("read one of ten record variables, 1 GB CDF-5", "read-one", "interleaved.nc", 1.5),
        library(
            "read every record, one call each, 220 MB CDF-5, 4 kB each",
            "read-records",
            "records.nc",
            5.0,
        ),
        library(
            "read every record, one call each, 220 MB CDF-5, 220 bytes each",
            "read-records",
            "small.nc",
            5.0,
        ),
        library(
            "read a hundred variables in turn, record by record, 220 MB CDF-5",
            "read-records",
            "mixed.nc",
            5.0,
        ),
        library("write 1 GB CDF-5", "write-fixed", "out.made", 2.0),
        library("write 1 GB CDF-5, record by record", "write-records", "out.made", 2.5),
        library("write 220 MB CDF-5, a million records one by one", "write-small", "out.made", 2.5),
        tool("nccopy 1 GB CDF-5 to CDF-5", "nccopy", &["INPUT", &copy], "fixed.nc", 2.5),
        tool("nccopy 1 GB of records, CDF-5 to CDF-5", "nccopy", &["INPUT", &copy], "interleaved.nc", 2.5),
        library("open 2,000 variables x 20 attributes", "open", "c.nc", 1.0),
        library("open 10,000 variables x 10 attributes", "open", "many.nc", 1.0),
        library("open 2,000 x 20 and read every attribute", "read-attributes", "c.nc", 1.0),
        library("open 2,000 x 20 and read every variable", "read-tiny", "c.nc", 1.0),
        library("create 2,000 variables x 20 attributes", "create-2000x20", "out.made", 1.0),
        library("create 10,000 variables x 10 attributes", "create-10000x10", "out.made", 1.0),
        tool("ncdump -h of 2,000 x 20", "ncdump", &["-h", "INPUT"], "c.nc", 2.0),
        tool("ncdump -h of one variable", "ncdump", &["-h", "INPUT"], "one.nc", 2.0),
        tool("ncdump of 20 million floats", "ncdump", &["INPUT"], "floats.nc", 8.0),
        tool("ncgen of 2,000 x 20", "ncgen", &["-3", "-o", &out, "INPUT"], "c.cdl", 50.0),
        tool("ncgen of 2 million floats", "ncgen", &["-6", "-o", &out, "INPUT"], "floats2.cdl", 8.0),
        tool("ncgen of 20 million floats", "ncgen", &["-6", "-o", &out, "INPUT"], "floats20.cdl", 12.0),
        interface("C: 10 million calls of nc_get_var1_float, one after the other", "get-var1", "small.nc"),
        interface("C: 3 million calls of nc_get_var1_float, here and there", "get-var1-random", "small.nc"),
        interface("C: 10 million calls of nc_inq_dimlen, nc_inq_varid, nc_inq_var", "inquire", "c.nc"),
        interface("C: 10 million calls of nc_get_att_double and nc_get_att_text", "get-att", "c.nc"),
        interface("C: 3 million calls of nc_put_var1_float", "put-var1", "out.made"),
        interface("C: read every record, one call each, 220 bytes each", "read-records", "small.nc"),
        on_ours("C interface against the Rust one: read 1 GB whole", "read-all", "fixed.nc"),
        on_ours("C interface against the Rust one: write 1 GB", "write-fixed", "out.made"),
        in_nc4("nc4: 1 GB, deflate 4 + shuffle, whole into fresh memory", "read-fresh", "a4.nc", 3.5),
        in_nc4("nc4: the same in ten slabs, buffer reused", "read-slabs", "a4.nc", 5.0),
        in_nc4("nc4: the same, one time step", "read-step", "a4.nc", 5.0),
        in_nc4("nc4: the same, one point through all time", "read-point", "a4.nc", 5.0),
        in_nc4("nc4: the same, every fourth index of each dimension", "read-strided", "a4.nc", 3.5),
        against_python("nc4: the same whole, h5py (theirs)", "a4.nc", 3.5),
        in_nc4("nc4: 1 GB, contiguous, whole into fresh memory", "read-fresh", "flat4.nc", 1.5),
        in_nc4("nc4: 1 GB, contiguous, in ten slabs, buffer reused", "read-slabs", "flat4.nc", 1.5),
        in_nc4("nc4: 0.5 GB of int16, deflate 1, whole into fresh memory", "read-shorts", "b4.nc", 3.6),
        in_nc4("nc4: 0.5 GB of int16, deflate 1, whole, buffer reused", "read-shorts-again", "b4.nc", 3.6),
        in_nc4("nc4: 0.5 GB of int16, in ten slabs, buffer reused", "read-short-slabs", "b4.nc", 3.6),
        against_python("nc4: 1 GB, zstd + shuffle, whole, h5py (theirs)", "zstd4.nc", 3.5),
        slabs_against_python(
            "nc4: 1 GB, zstd + shuffle, in ten slabs, buffer reused, h5py (theirs)",
            "zstd4.nc",
            3.5,
        ),
        against_python("nc4: 1 GB, lz4 + shuffle, whole, h5py (theirs)", "lz44.nc", 3.5),
        slabs_against_python(
            "nc4: 1 GB, lz4 + shuffle, in ten slabs, buffer reused, h5py (theirs)",
            "lz44.nc",
            3.5,
        ),
        against_python("nc4: 1 GB, blosc lz4, whole, h5py (theirs)", "blosc4.nc", 3.5),
        slabs_against_python(
            "nc4: 1 GB, blosc lz4, in ten slabs, buffer reused, h5py (theirs)",
            "blosc4.nc",
            3.5,
        ),
        in_nc4("nc4: 100,000 tiny chunks, whole", "read-fresh", "tiny4.nc", 6.0),
        in_nc4("nc4: 100,000 tiny chunks, deflate 1 + shuffle, whole", "read-fresh", "tinyp4.nc", 6.0),
        in_nc4("nc4: 100,000 tiny chunks, one element at a time", "read-elements", "tiny4.nc", 3.0),
        nc4(library("nc4: open 2,000 variables x 20 attributes", "open", "c4.nc", 10.0)),
        nc4(library("nc4: open 2,000 x 20 and read every attribute", "read-attributes", "c4.nc", 8.0)),
        nc4(library("nc4: open 2,000 x 20 and read every variable", "read-tiny", "c4.nc", 20.0)),
        nc4(library("nc4: open 10,000 variables x 10 attributes", "open", "many4.nc", 10.0)),
        nc4(library("nc4: open 10,000 x 10 and read every attribute", "read-attributes", "many4.nc", 10.0)),
        nc4(library("nc4: open 10,000 x 10 and read every variable", "read-tiny", "many4.nc", 10.0)),
        nc4(tool("nc4: ncdump -h of 2,000 x 20", "ncdump", &["-h", "INPUT"], "c4.nc", 8.0)),
        nc4(tool("nc4: ncdump of 2,000 x 20", "ncdump", &["INPUT"], "c4.nc", 20.0)),
        nc4(library("nc4: open 2,000 x 20, unlimited, and read every variable", "read-tiny", "cu4.nc", 20.0)),
        nc4(tool("nc4: ncdump -h of 2,000 x 20, unlimited", "ncdump", &["-h", "INPUT"], "cu4.nc", 8.0)),
        nc4(tool("nc4: ncdump of 2,000 x 20, unlimited", "ncdump", &["INPUT"], "cu4.nc", 20.0)),
        codec("codec: read 1 GB, zstd + shuffle, the plugin (theirs)", "zstd4.nc"),
        codec("codec: read 1 GB, lz4 + shuffle, the plugin (theirs)", "lz44.nc"),
        codec("codec: read 1 GB, blosc lz4, the plugin (theirs)", "blosc4.nc"),
        codec("codec: read 1 GB, bitshuffle lz4, the plugin (theirs)", "bitshuffle4.nc"),
        codec("codec: read 0.1 GB, bzip2 + shuffle, the plugin (theirs)", "bzip24.nc"),
        made_nc4("nc4: write 1 GB, deflate 4 + shuffle", "write-packed", "flat4.nc", 3.3),
        made_nc4("nc4: write 1 GB, deflate 1 + shuffle", "write-packed1", "flat4.nc", 3.8),
        by_python(
            "write-zstd",
            made(library("nc4: write 1 GB, zstd 3 + shuffle, h5py (theirs)", "write-zstd", "flat4.nc", 2.5)),
        ),
        made_nc4("nc4: write 1 GB, contiguous", "write-contiguous", "flat4.nc", 2.5),
        made_nc4("nc4: write 1 GB, chunked, unfiltered", "write-chunked", "flat4.nc", 2.5),
        made_nc4("nc4: write 100,000 tiny chunks in one call", "write-tiny", "tiny4.nc", 5.0),
        made_nc4("nc4: append 100,000 tiny chunks one by one", "append-tiny", "tiny4.nc", 3.0),
        made(library(
            "nc4: append 10,000 small records, chunks as by default",
            "write-small4",
            "out.made",
            3.0,
        )),
        made(library("nc4: create 2,000 variables x 20 attributes", "create4-2000x20", "out.made", 5.0)),
        made(library("nc4: create 10,000 variables x 10 attributes", "create4-10000x10", "out.made", 10.0)),
        copied("nc4: nccopy unchanged", &["INPUT", &copy], "a4.nc", 60.0),
        copied("nc4: nccopy -d 4 -s, from contiguous", &["-d", "4", "-s", "INPUT", &copy], "flat4.nc", 3.2),
        copied("nc4: nccopy -d 1 -s, recompressed", &["-d", "1", "-s", "INPUT", &copy], "a4.nc", 3.2),
        copied("nc4: nccopy -d 0", &["-d", "0", "INPUT", &copy], "a4.nc", 4.0),
        copied(
            "nc4: nccopy, time slices to time series",
            &["-c", "time/240,lat/36,lon/72", "INPUT", &copy],
            "a4.nc",
            3.0,
        ),
        copied("nc4: nccopy -4 -d 1 of CDF-5", &["-4", "-d", "1", "INPUT", &copy], "interleaved.nc", 3.2),
        made(tool("nc4: ncgen -4 of 2,000 x 20", "ncgen", &["-4", "-o", &out, "INPUT"], "c.cdl", 50.0)),
    ];
    rows.extend(stores::rows(data, peers, me, bin));
    rows.extend(hdf4::rows(data, peers, me, bin));
    rows
}
