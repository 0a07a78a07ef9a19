//! The rows of Zarr stores: against zarr-python with its own pipeline and with that of zarrs, against tensorstore, and against netCDF-C.

use std::path::Path;

use crate::data::Data;
use crate::measure::Peers;
use crate::rows::Row;

/// The peers in Python: the word of `c/stores.py`.
const LIBRARIES: [&str; 3] = ["zarr", "zarrs", "tensorstore"];

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| word.to_string()).collect()
}

/// Returns the rows. `me` is the bench's own program, `bin` the folder of our tools.
pub fn rows(data: &Data, peers: &Peers, me: &str, bin: &Path) -> Vec<Row> {
    let mut rows = vec![];
    let row = |what: String, file: &'static str, target: f64, peer: Vec<String>, ours: Vec<String>| Row {
        group: "zarr",
        what,
        file,
        target,
        peer,
        ours,
        timed_inside: true,
    };
    let by_python = |library: &str, workload: &str, file: &'static str| {
        let command =
            |python: &String| words(&[python, &peers.stores_script, library, workload, &data.path(file)]);
        peers.stores_python.as_ref().map(command).unwrap_or_default()
    };
    let ours = |workload: &str, file: &str| words(&[me, "worker", workload, &data.path(file)]);
    let parts = [
        ("whole into fresh memory", "read-fresh"),
        ("in ten slabs", "read-slabs"),
        ("one time step", "read-step"),
        ("one point through all time", "read-point"),
    ];
    let stores = [
        ("Zarr 3, zstd", "zstd3.zarr", &parts[..]),
        ("Zarr 3, zstd in shards", "shard3.zarr", &parts[..]),
        ("Zarr 3, blosc", "blosc3.zarr", &parts[..1]),
        ("Zarr 2, zstd", "zstd2.zarr", &parts[..1]),
        ("Zarr 2, blosc", "blosc2.zarr", &parts[..1]),
    ];
    for (store, file, parts) in stores {
        for (part, workload) in parts {
            for library in LIBRARIES {
                let what = format!("zarr: 1 GB, {store}, {part}, {library} (theirs)");
                rows.push(row(what, file, 1.0, by_python(library, workload, file), ours(workload, file)));
            }
        }
    }
    // Both read uncompressed chunks as fast as memory takes them.
    let of_netcdf_c = [
        ("deflate 4 + shuffle", "deflate2.zarr", 3.5),
        ("zstd", "zstd2.zarr", 3.5),
        ("blosc", "blosc2.zarr", 3.5),
        ("not compressed", "plain2.zarr", 1.0),
    ];
    for (codec, file, target) in of_netcdf_c {
        for (part, workload) in parts {
            let what = format!("zarr: 1 GB, Zarr 2, {codec}, {part}, netCDF-C (theirs)");
            let peer = by_python("netcdf-c", workload, file);
            rows.push(row(what, file, target, peer, ours(workload, file)));
        }
    }
    for (store, kind) in [("zstd", "zstd3"), ("blosc", "blosc3"), ("zstd in shards", "shard3")] {
        for library in LIBRARIES {
            let what = format!("zarr: write 1 GB, Zarr 3, {store}, {library} (theirs)");
            let workload = format!("write-{kind}");
            let peer = by_python(library, &workload, "flat4.nc");
            rows.push(row(what, "flat4.nc", 1.0, peer, ours(&workload, "flat4.nc")));
        }
    }
    for library in LIBRARIES {
        let what = format!("zarr: 100,000 small chunks, whole, {library} (theirs)");
        rows.push(row(
            what,
            "tiny3.zarr",
            1.0,
            by_python(library, "read-fresh", "tiny3.zarr"),
            ours("read-fresh", "tiny3.zarr"),
        ));
    }
    for (how, file) in [("consolidated", "many3.zarr"), ("not consolidated", "manyu3.zarr")] {
        let what = format!("zarr: open 1,000 variables x 10 attributes, {how}, zarr (theirs)");
        rows.push(row(what, file, 1.0, by_python("zarr", "open", file), ours("open", file)));
    }
    let nccopy = bin.join("nccopy").display().to_string();
    let (input, copy, store) = (data.path("a4.nc"), data.path("copy.made"), data.path("copy.zarr.made"));
    rows.push(Row {
        timed_inside: false,
        ..row(
            "zarr: nccopy of HDF5 to Zarr 3, chunks unopened, plain copy (theirs)".to_string(),
            "a4.nc",
            0.5,
            words(&["cp", &input, &copy]),
            words(&[&nccopy, "-k", "zarr3", &input, &store]),
        )
    });
    rows
}
