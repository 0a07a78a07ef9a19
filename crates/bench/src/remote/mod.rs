//! The table of remote datasets: a web server on loopback with the latency of a network, ours against peers and against a client
//! that only receives. Rounds, requests and bytes of ours stand beside the times.

mod server;
mod workers;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::data::Data;
use crate::measure::Peers;
use crate::rows::Options;

pub use workers::run as worker;

/// Whom a row is measured against.
#[derive(Clone, Copy)]
enum Peer {
    /// h5py with fsspec.
    H5py,
    /// netCDF-C of the wheel, with `#mode=bytes`.
    NetcdfC,
    /// A client that only receives the whole object.
    Bare,
    /// The time of the local file, and that of the bare client.
    LocalAndBare,
}

struct RemoteRow {
    what: &'static str,
    workload: &'static str,
    file: &'static str,
    milliseconds: u64,
    peer: Peer,
    /// The peer's time over ours that is to be reached.
    target: f64,
}

const fn row(
    what: &'static str,
    workload: &'static str,
    file: &'static str,
    milliseconds: u64,
    peer: Peer,
    target: f64,
) -> RemoteRow {
    RemoteRow { what, workload, file, milliseconds, peer, target }
}

/// The local workload whose time counts where a row is measured against the local file.
const LOCAL: &str = "read-fresh";

const ROWS: &[RemoteRow] = &[
    row("header, 100 variables x 10 attributes, h5py", "header", "hundred4.nc", 50, Peer::H5py, 10.0),
    row("the same, netCDF-C", "header", "hundred4.nc", 50, Peer::NetcdfC, 20.0),
    row("the same, paged, h5py", "header", "paged4.nc", 50, Peer::H5py, 1.0),
    row("the same, between data, h5py", "header", "scattered4.nc", 50, Peer::H5py, 10.0),
    row("the same, between data, netCDF-C", "header", "scattered4.nc", 50, Peer::NetcdfC, 20.0),
    row("one time step, 1 GB deflated, h5py", "step", "steps4.nc", 50, Peer::H5py, 10.0),
    row("one point through all time, 1 GB deflated, h5py", "point", "steps4.nc", 50, Peer::H5py, 10.0),
    row("whole 1 GB, chunks of 1 MiB, in ten slabs, bare client", "slabs", "chunks4.nc", 0, Peer::Bare, 0.85),
    row("whole 1 GB, deflated, local and bare client", "whole", "a4.nc", 50, Peer::LocalAndBare, 0.77),
    row(
        "classic header, 2,000 variables x 20 attributes, netCDF-C",
        "header",
        "c.nc",
        50,
        Peer::NetcdfC,
        1.0,
    ),
    row(
        "classic, one record of each of 100 variables, netCDF-C",
        "record-of-each",
        "mixed.nc",
        50,
        Peer::NetcdfC,
        1.0,
    ),
];

/// What a turn printed: seconds, and for ours rounds, requests and bytes.
fn turn(command: &[&str]) -> Result<Vec<f64>, String> {
    let failed = || format!("this command failed: {}", command.join(" "));
    let said = Command::new(command[0]).args(&command[1..]).env("NO_PROXY", "*").output();
    let said = said.map_err(|error| error.to_string())?;
    if !said.status.success() {
        return Err(format!("{}\n{}", failed(), String::from_utf8_lossy(&said.stderr)));
    }
    let said = String::from_utf8_lossy(&said.stdout);
    let numbers: Vec<f64> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    if numbers.is_empty() { Err(failed()) } else { Ok(numbers) }
}

fn median(mut turns: Vec<Vec<f64>>) -> Vec<f64> {
    turns.sort_by(|a, b| a[0].total_cmp(&b[0]));
    turns.swap_remove(turns.len() / 2)
}

/// Measures the rows and prints the table.
pub fn run(options: &Options, data: &Data, peers: &Peers) -> Result<(), String> {
    let me = std::env::current_exe().map_err(|error| error.to_string())?.display().to_string();
    let python =
        peers.python.as_deref().ok_or("remote rows need a Python with h5py, fsspec, aiohttp, netCDF4")?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("c/remote.py").display().to_string();
    println!("| workload | latency ms | theirs s | ferrocdf s | ratio | to reach | rounds | requests | MB |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for row in ROWS.iter().filter(|row| options.only.as_ref().is_none_or(|word| row.what.contains(word))) {
        data.ready(row.file, peers)?;
        let url = server::serve(&data.folder, Duration::from_millis(row.milliseconds))?;
        let url = format!("{url}/{}", row.file);
        let file = data.path(row.file);
        let peer = || match row.peer {
            Peer::H5py => turn(&[python, &script, row.workload, "h5py", &url]),
            Peer::NetcdfC => turn(&[python, &script, row.workload, "netcdf", &url]),
            Peer::Bare => turn(&[&me, "remote-worker", "bare", &url]),
            Peer::LocalAndBare => {
                let local = turn(&[&me, "worker", LOCAL, &file])?;
                turn(&[&me, "remote-worker", "bare", &url]).map(|bare| vec![local[0] + bare[0]])
            }
        };
        let (mut theirs, mut ours) = (vec![], vec![]);
        for _ in 0..options.turns.max(1) {
            theirs.push(peer()?);
            ours.push(turn(&[&me, "remote-worker", row.workload, &url])?);
        }
        let (theirs, ours) = (median(theirs), median(ours));
        let &[seconds, rounds, requests, bytes] = &ours[..] else {
            return Err("ours printed no counts".into());
        };
        println!(
            "| {} | {} | {:.3} | {seconds:.3} | **{:.2}x** | {}x | {rounds} | {requests} | {:.1} |",
            row.what,
            row.milliseconds,
            theirs[0],
            theirs[0] / seconds,
            row.target,
            bytes / 1e6,
        );
    }
    Ok(())
}
