//! The files the workloads read, each made once when the first row needs it: classic ones by ferrocdf, netCDF-4 ones by
//! the peer.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use ferrocdf::{CreateOptions, FileMut, Format, In, Selection};

use crate::measure::Peers;
use crate::workers::define_many;

/// Where the data lies.
pub struct Data {
    /// The folder; also for files that workloads write.
    pub folder: PathBuf,
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

impl Data {
    /// The data in a folder, which is made.
    pub fn new(folder: PathBuf) -> Result<Data, String> {
        std::fs::create_dir_all(&folder).map_err(text)?;
        Ok(Data { folder })
    }

    /// Makes a file, unless it is there or workloads make it.
    pub fn ready(&self, name: &str, peers: &Peers) -> Result<(), String> {
        let by_peer = |what: &str| self.by_peer(name, &[&peers.make4, what]);
        let packed = |filter: &str| {
            let python = peers.python.as_deref().ok_or("there is no Python")?;
            self.ready("a4.nc", peers)?;
            self.by_peer(name, &[python, &peers.script, "make", filter, &self.path("a4.nc")])
        };
        let remote = Path::new(env!("CARGO_MANIFEST_DIR")).join("c/remote.py").display().to_string();
        let for_remote = |what: &str, from: &[&str]| {
            let python = peers.python.as_deref().ok_or("there is no Python")?;
            from.iter().try_for_each(|file| self.ready(file, peers))?;
            let from: Vec<String> = from.iter().map(|file| self.path(file)).collect();
            let from: Vec<&str> = from.iter().map(String::as_str).collect();
            self.by_peer(name, &[&[python, &remote, what], &from[..]].concat())
        };
        let store = |kind: &str| {
            let python = peers.stores_python.as_deref().ok_or("there is no Python with zarr-python")?;
            self.ready("a4.nc", peers)?;
            self.by_peer(name, &[python, &peers.stores_script, "make", kind, &self.path("a4.nc")])
        };
        let by_libhdf4 = |what: &str| {
            let program = peers.hdf4.as_deref().ok_or("there is no libhdf4")?;
            self.by_peer(name, &[program, what])
        };
        match name {
            "grid4.hdf" => by_libhdf4("make-grid"),
            "granule4.hdf" => by_libhdf4("make-granule"),
            "granule12.hdf" => by_libhdf4("make-chunks"),
            "zstd3.zarr" => store("zstd3"),
            "shard3.zarr" => store("shard3"),
            "blosc3.zarr" => store("blosc3"),
            "zstd2.zarr" => store("zstd2"),
            "blosc2.zarr" => store("blosc2"),
            "tiny3.zarr" => store("tiny3"),
            "many3.zarr" => store("many3"),
            "manyu3.zarr" => store("manyu3"),
            "deflate2.zarr" => store("deflate2"),
            "plain2.zarr" => store("plain2"),
            "scattered4.nc" => for_remote("make-scattered", &[]),
            "paged4.nc" => for_remote("make-paged", &["hundred4.nc"]),
            "steps4.nc" => for_remote("make-steps", &["a4.nc"]),
            "chunks4.nc" => for_remote("make-chunks", &["a4.nc"]),
            "fixed.nc" => self.once(name, fixed),
            "interleaved.nc" => self.once(name, interleaved),
            "records.nc" => self.once(name, |path| records(path, 55_000, 1000)),
            "small.nc" => self.once(name, |path| records(path, 1_000_000, 55)),
            "mixed.nc" => self.once(name, mixed),
            "c.nc" => self.once(name, |path| many(path, 2000, 20)),
            "many.nc" => self.once(name, |path| many(path, 10_000, 10)),
            "one.nc" => self.once(name, |path| many(path, 1, 2)),
            "floats.nc" => self.once(name, floats),
            "floats2.cdl" => self.once(name, |path| cdl(path, 2_000_000)),
            "floats20.cdl" => self.once(name, |path| cdl(path, 20_000_000)),
            "c.cdl" => self.once(name, |path| many_cdl(path, 2000, 20)),
            "a4.nc" => by_peer("floats"),
            "flat4.nc" => by_peer("contiguous"),
            "b4.nc" => by_peer("shorts"),
            "tiny4.nc" => by_peer("tiny"),
            "tinyp4.nc" => by_peer("tiny-packed"),
            "c4.nc" => by_peer("2000x20"),
            "cu4.nc" => by_peer("2000x20-unlimited"),
            "many4.nc" => by_peer("10000x10"),
            "hundred4.nc" => by_peer("100x10"),
            "zstd4.nc" => packed("zstd"),
            "lz44.nc" => packed("lz4"),
            "blosc4.nc" => packed("blosc"),
            "bitshuffle4.nc" => packed("bitshuffle"),
            "bzip24.nc" => packed("bzip2"),
            _ => Ok(()),
        }
    }

    /// The path of a file.
    pub fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    fn once(&self, name: &str, make: impl FnOnce(&Path) -> ferrocdf::Result<()>) -> Result<(), String> {
        self.made(name, |draft| make(draft).map_err(text))
    }

    /// Has a command make a file, whose path is its last argument.
    fn by_peer(&self, name: &str, command: &[&str]) -> Result<(), String> {
        self.made(name, |draft| match Command::new(command[0]).args(&command[1..]).arg(draft).status() {
            Ok(status) if status.success() => Ok(()),
            _ => Err(format!("this command failed: {}", command.join(" "))),
        })
    }

    fn made(&self, name: &str, make: impl FnOnce(&Path) -> Result<(), String>) -> Result<(), String> {
        let path = self.folder.join(name);
        if path.exists() {
            return Ok(());
        }
        eprintln!("making {}", path.display());
        let draft = self.folder.join(format!("{name}.part"));
        make(&draft)?;
        std::fs::rename(&draft, &path).map_err(text)
    }
}

/// Noise that is the same each time.
fn noise(count: usize) -> Vec<f32> {
    let mut state = 0x2545_F491_4F6C_DD1Du64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / 65536.0
    };
    (0..count).map(|i| (i as f32 / 5000.0).sin() * 40.0 + next()).collect()
}

fn write(
    file: &FileMut,
    var: ferrocdf::VarId,
    start: &[u64],
    count: &[u64],
    values: &[f32],
) -> ferrocdf::Result<()> {
    let _exact = file.write(var, &Selection::slab(start, count), In::new(values))?;
    Ok(())
}

/// 1 GB of CDF-5 in four fixed-size variables.
fn fixed(path: &Path) -> ferrocdf::Result<()> {
    let file = FileMut::create(path, &CreateOptions::format(Format::DATA64))?;
    let (rows, columns) = (250, 250_000);
    file.add_dimension("row", rows)?;
    file.add_dimension("column", columns)?;
    let values = noise(columns as usize);
    for name in ["a", "b", "c", "d"] {
        let var = file.add_variable::<f32>(name, &["row", "column"])?.id();
        file.commit()?;
        for row in 0..rows {
            write(&file, var, &[row, 0], &[1, columns], &values)?;
        }
    }
    file.close()
}

/// 1 GB of CDF-5 in 250 records of ten variables.
fn interleaved(path: &Path) -> ferrocdf::Result<()> {
    let file = FileMut::create(path, &CreateOptions::format(Format::DATA64))?;
    let columns = 100_000;
    file.add_unlimited_dimension("time")?;
    file.add_dimension("column", columns)?;
    let mut vars = vec![];
    for name in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"] {
        vars.push(file.add_variable::<f32>(name, &["time", "column"])?.id());
    }
    let values = noise(columns as usize);
    for record in 0..250 {
        for &var in &vars {
            write(&file, var, &[record, 0], &[1, columns], &values)?;
        }
    }
    file.close()
}

/// 220 MB of CDF-5 in 5,500 records of a hundred variables.
fn mixed(path: &Path) -> ferrocdf::Result<()> {
    let file = FileMut::create(path, &CreateOptions::format(Format::DATA64))?;
    let columns = 100;
    file.add_unlimited_dimension("time")?;
    file.add_dimension("column", columns)?;
    let mut vars = vec![];
    for number in 0..100 {
        vars.push(file.add_variable::<f32>(&format!("v{number}"), &["time", "column"])?.id());
    }
    let values = noise(columns as usize);
    for record in 0..5500 {
        for &var in &vars {
            write(&file, var, &[record, 0], &[1, columns], &values)?;
        }
    }
    file.close()
}

/// CDF-5 with records of one variable.
fn records(path: &Path, count: u64, columns: u64) -> ferrocdf::Result<()> {
    const BLOCK: u64 = 1000;
    let file = FileMut::create(path, &CreateOptions::format(Format::DATA64))?;
    file.add_unlimited_dimension("time")?;
    file.add_dimension("column", columns)?;
    let var = file.add_variable::<f32>("v", &["time", "column"])?.id();
    let values = noise((BLOCK * columns) as usize);
    for block in 0..count / BLOCK {
        write(&file, var, &[block * BLOCK, 0], &[BLOCK, columns], &values)?;
    }
    file.close()
}

fn many(path: &Path, vars: usize, attrs: usize) -> ferrocdf::Result<()> {
    let file = FileMut::create(path, &CreateOptions::format(Format::CLASSIC))?;
    file.define(|model| define_many(model, vars, attrs))?;
    file.close()
}

/// 20 million floats in a classic file.
fn floats(path: &Path) -> ferrocdf::Result<()> {
    let file = FileMut::create(path, &CreateOptions::format(Format::OFFSET64))?;
    file.add_dimension("row", 20_000)?;
    file.add_dimension("column", 1000)?;
    let var = file.add_variable::<f32>("v", &["row", "column"])?.id();
    let values = noise(20_000_000);
    write(&file, var, &[0, 0], &[20_000, 1000], &values)?;
    file.close()
}

/// Floats as CDL, ten to a line.
fn cdl(path: &Path, count: usize) -> ferrocdf::Result<()> {
    let failed = |error: std::io::Error| ferrocdf::Error::system(error, path.display());
    let write = || -> std::io::Result<()> {
        let mut out = std::io::BufWriter::new(std::fs::File::create(path)?);
        writeln!(
            out,
            "netcdf floats {{\ndimensions:\n\tx = {count} ;\nvariables:\n\tfloat v(x) ;\ndata:\n\n v ="
        )?;
        let values = noise(1_000_000);
        for at in 0..count {
            let end = if at + 1 == count {
                " ;\n}\n"
            } else if at % 10 == 9 {
                ",\n"
            } else {
                ", "
            };
            let lead = if at % 10 == 0 { "    " } else { "" };
            write!(out, "{lead}{:.6}{end}", values[at % values.len()])?;
        }
        out.flush()
    };
    write().map_err(failed)
}

/// The CDL of a file of many variables with attributes.
fn many_cdl(path: &Path, vars: usize, attrs: usize) -> ferrocdf::Result<()> {
    use std::fmt::Write;
    let mut out = String::from("netcdf c {\ndimensions:\n\tx = 4 ;\nvariables:\n");
    for var in 0..vars {
        let _ = writeln!(out, "\tdouble variable_{var}(x) ;");
        for attr in 0..attrs {
            let value = if attr % 2 == 1 { "\"some text here\"".to_string() } else { format!("{attr}.5") };
            let _ = writeln!(out, "\t\tvariable_{var}:attribute_{attr} = {value} ;");
        }
    }
    out.push_str("data:\n\n");
    for var in 0..vars {
        let _ = writeln!(out, " variable_{var} = 1, 2, 3, 4 ;\n");
    }
    out.push_str("}\n");
    std::fs::write(path, out).map_err(|error| ferrocdf::Error::system(error, path.display()))
}
