//! The rows of HDF4 files: against libhdf4, against pyhdf, and copying against a plain copy.

use std::path::Path;

use crate::data::Data;
use crate::measure::Peers;
use crate::rows::Row;

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| word.to_string()).collect()
}

/// Returns the rows. `me` is the bench's own program, `bin` the folder of our tools.
pub fn rows(data: &Data, peers: &Peers, me: &str, bin: &Path) -> Vec<Row> {
    let row = |what: &str, file: &'static str, target: f64, peer: Vec<String>, workload: &str| Row {
        group: "hdf4",
        what: format!("hdf4: {what}"),
        file,
        target,
        peer,
        ours: words(&[me, "worker", workload, &data.path(file)]),
        timed_inside: true,
    };
    let by_libhdf4 = |workload: &str, file: &str| {
        let command = |program: &String| words(&[program, workload, &data.path(file)]);
        peers.hdf4.as_ref().map(command).unwrap_or_default()
    };
    let by_pyhdf = |file: &str| {
        let command = |python: &String| words(&[python, &peers.hdf4_script, "open", &data.path(file)]);
        peers.hdf4_python.as_ref().map(command).unwrap_or_default()
    };
    let nccopy = bin.join("nccopy").display().to_string();
    let (input, copy) = (data.path("grid4.hdf"), data.path("copy.made"));
    vec![
        row(
            "500 MB of shorts, deflate, whole into fresh memory, libhdf4 (theirs)",
            "grid4.hdf",
            3.0,
            by_libhdf4("read", "grid4.hdf"),
            "read-shorts",
        ),
        row(
            "open 40 data sets in 400 chunks, pyhdf (theirs)",
            "granule4.hdf",
            5.0,
            by_pyhdf("granule4.hdf"),
            "read-attributes",
        ),
        row(
            "open 40 data sets in 400 chunks, libhdf4 (theirs)",
            "granule4.hdf",
            1.0,
            by_libhdf4("open", "granule4.hdf"),
            "read-attributes",
        ),
        row(
            "open 40 data sets in 1,200 chunks, libhdf4 (theirs)",
            "granule12.hdf",
            1.0,
            by_libhdf4("open", "granule12.hdf"),
            "read-attributes",
        ),
        Row {
            timed_inside: false,
            ours: words(&[&nccopy, "-k", "nc4", &input, &copy]),
            ..row(
                "nccopy to netCDF-4, deflate chunks unopened, plain copy (theirs)",
                "grid4.hdf",
                0.5,
                words(&["cp", &input, &copy]),
                "",
            )
        },
    ]
}
