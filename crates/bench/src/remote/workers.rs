//! Our side of the remote workloads, and a client that does nothing but receive. Each turn prints its seconds, rounds, requests and
//! received bytes.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use ferrocdf::remote::{Traffic, traffic};
use ferrocdf::{File, Location, OpenOptions, Out, Owner, Result, Selection};

/// Bytes of a range of the bare client.
const RANGE: u64 = 1 << 20;

/// Connections of the bare client.
const CONNECTIONS: u64 = 32;

/// Runs one workload on a URL.
pub fn run(what: &str, url: &str) -> std::result::Result<(), String> {
    let start = Instant::now();
    let requests = match what {
        "header" => header(url).map(|_| traffic()),
        "step" => part(url, |shape| Selection::slab(&[100, 0, 0], &[1, shape[1], shape[2]])),
        "point" => part(url, |shape| Selection::slab(&[0, 300, 700], &[shape[0], 1, 1])),
        "whole" => part(url, |shape| Selection::slab(&[0; 3][..shape.len()], shape)),
        "slabs" => slabs(url),
        "record-of-each" => record_of_each(url),
        "bare" => bare(url),
        _ => return Err(format!("no workload {what}")),
    };
    let Traffic { rounds, requests, received, .. } = requests.map_err(|error| error.to_string())?;
    println!("{:.6} {rounds} {requests} {received}", start.elapsed().as_secs_f64());
    Ok(())
}

/// Opens a dataset and looks at every attribute.
fn header(url: &str) -> Result<File> {
    let options = OpenOptions::default().all_attributes(true);
    let file = File::open_location(&Location::parse(url.as_bytes())?, &options)?;
    let model = file.model();
    let values: usize = model.var_ids().map(|var| model.attrs(Owner::Var(var)).len()).sum();
    assert!(values > 0, "the variables have attributes");
    Ok(file)
}

/// Opens a dataset and reads a part of its first variable of full rank.
fn part(url: &str, select: impl Fn(&[u64]) -> Selection) -> Result<Traffic> {
    let file = File::open_location(&Location::parse(url.as_bytes())?, &OpenOptions::default())?;
    let model = file.model();
    let rank = model.var_ids().map(|var| model.shape(var).len()).max().unwrap_or(0);
    let var = model.var_ids().find(|&var| model.shape(var).len() == rank).expect("there is a variable");
    let selection = select(&model.shape(var));
    let mut values = vec![0f32; selection.count.iter().product::<u64>() as usize];
    let _exact = file.read(var, &selection, Out::new(&mut values))?;
    Ok(traffic())
}

/// A variable in ten slabs, into a buffer that was used before.
fn slabs(url: &str) -> Result<Traffic> {
    let file = File::open_location(&Location::parse(url.as_bytes())?, &OpenOptions::default())?;
    let model = file.model();
    let var = model.var_ids().next().expect("there is a variable");
    let shape = model.shape(var);
    let count = [shape[0] / 10, shape[1], shape[2]];
    let mut values = vec![0f32; count.iter().product::<u64>() as usize];
    for slab in 0..10 {
        let selection = Selection::slab(&[slab * count[0], 0, 0], &count);
        let _exact = file.read(var, &selection, Out::new(&mut values))?;
    }
    Ok(traffic())
}

/// One record of each variable, in one call each, after the header. Tells the traffic of the records alone.
fn record_of_each(url: &str) -> Result<Traffic> {
    let file = File::open_location(&Location::parse(url.as_bytes())?, &OpenOptions::default())?;
    let model = file.model();
    let before = traffic();
    for var in model.var_ids() {
        let mut count = model.shape(var);
        count[0] = 1;
        let mut start = vec![0; count.len()];
        start[0] = 7;
        let mut values = vec![0f32; count.iter().product::<u64>() as usize];
        let _exact = file.read(var, &Selection::slab(&start, &count), Out::new(&mut values))?;
    }
    let after = traffic();
    Ok(Traffic {
        rounds: after.rounds - before.rounds,
        requests: after.requests - before.requests,
        received: after.received - before.received,
        sent: 0,
    })
}

/// Receives an object in ranges of 1 MiB on 32 connections, each into the same memory again.
fn bare(url: &str) -> Result<Traffic> {
    let address = url.strip_prefix("http://").unwrap_or(url);
    let (host, path) = address.split_once('/').unwrap_or((address, ""));
    let connect = || TcpStream::connect(host).expect("the server is there");
    let size = receive(&mut connect(), path, 0, &mut [0]);
    let ranges = size.div_ceil(RANGE);
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..CONNECTIONS.min(ranges) {
            scope.spawn(|| {
                let (mut stream, mut bytes) = (connect(), vec![0; RANGE as usize]);
                loop {
                    let at = next.fetch_add(1, Relaxed) * RANGE;
                    if at >= size {
                        return;
                    }
                    receive(&mut stream, path, at, &mut bytes[..RANGE.min(size - at) as usize]);
                }
            });
        }
    });
    Ok(Traffic { rounds: 2, requests: 1 + ranges, received: size, sent: 0 })
}

/// Asks for a range and receives it, with no care for anything that a bench server does not do. Returns the size of the object.
fn receive(stream: &mut TcpStream, path: &str, at: u64, into: &mut [u8]) -> u64 {
    let last = at + into.len() as u64 - 1;
    let asked = format!("GET /{path} HTTP/1.1\r\nHost: bench\r\nRange: bytes={at}-{last}\r\n\r\n");
    stream.write_all(asked.as_bytes()).expect("the server listens");
    let (mut head, mut len) = ([0; 1024], 0);
    let end = loop {
        len += stream.read(&mut head[len..]).expect("the server answers");
        if let Some(end) = head[..len].windows(4).position(|part| part == b"\r\n\r\n") {
            break end + 4;
        }
    };
    into[..len - end].copy_from_slice(&head[end..len]);
    stream.read_exact(&mut into[len - end..]).expect("the server sends the range");
    let head = String::from_utf8_lossy(&head[..end]);
    let size =
        head.split_once("Content-Range: bytes ").and_then(|(_, range)| range.split(['/', '\r']).nth(1));
    size.and_then(|size| size.parse().ok()).expect("the answer has the size")
}
