//! Reading ranges of objects with few requests, whatever the protocol is.
//!
//! An answer to a range has the size of the object, so no request asks for the size alone. Two cases need a second request: a
//! suffix where the protocol has none, and a range behind the end, where the answer has neither size nor version.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::{ByteRange, Fetched, Filled, GetInto};

use crate::http::{Deadline, Outcome, Sink, WireRange};

/// First bytes that are requested to learn the size of an object: small objects are complete then.
const FIRST: u64 = 64 << 10;

/// Times that a read of two requests starts again because the object changed in between.
const CHANGES: usize = 3;

/// Stack of a thread that sends requests.
const STACK: usize = 1 << 20;

/// A way to request one range of one object.
pub(crate) trait Transfer: Sync {
    /// Sends one request, with its retries.
    fn fetch(&self, key: &str, range: WireRange, sink: &mut Sink<'_>, deadline: Deadline) -> Result<Outcome>;

    /// True if the protocol has ranges that count from the end.
    fn has_suffixes(&self) -> bool;
}

/// Reads a range of an object; `None` if it does not exist.
pub(crate) fn read<T: Transfer>(
    transfer: &T,
    key: &str,
    range: ByteRange,
    deadline: Deadline,
) -> Result<Option<Fetched>> {
    let wire = match range {
        ByteRange::All => WireRange::Whole,
        // HTTP has no empty ranges: one byte is asked for. Some servers keep positions as signed numbers.
        ByteRange::Bounded { start, len } if start <= i64::MAX as u64 => {
            let last = start.saturating_add(len.max(1) - 1).min(i64::MAX as u64);
            WireRange::Bytes { start, last }
        }
        ByteRange::Bounded { .. } => WireRange::Bytes { start: 0, last: 0 },
        ByteRange::Suffix(len) if transfer.has_suffixes() => WireRange::Suffix(len.max(1)),
        ByteRange::Suffix(len) => return read_suffix(transfer, key, len, deadline),
    };
    let mut wanted = wire;
    for _ in 0..CHANGES {
        match transfer.fetch(key, wanted, &mut Sink::New, deadline)? {
            Outcome::Absent => return Ok(None),
            Outcome::Filled(_) => {
                let what = format!("{key}: bytes went to memory that was not given");
                return Err(Error::new(Code::EINTERNAL, what));
            }
            Outcome::Found(found) => {
                let (start, end) = range.within(found.total);
                if wanted == wire || start == end {
                    return Ok(Some(cut(found, range)));
                }
                // The object grew since it had no byte of the range.
                wanted = wire;
            }
            Outcome::Unsatisfiable { total: Some(total), version: Some(version) } => {
                return Ok(Some(Fetched { bytes: Vec::new(), start: total, total, version }));
            }
            // Size and version come with any byte of the object, and with all of an empty one.
            Outcome::Unsatisfiable { total, .. } => {
                let is_empty = total == Some(0)
                    || matches!(wanted, WireRange::Suffix(_) | WireRange::Bytes { start: 0, .. });
                wanted = if is_empty { WireRange::Whole } else { WireRange::Bytes { start: 0, last: 0 } };
            }
        }
    }
    Err(changes(key))
}

/// Reads a range of an object into memory of the caller; `None` if it does not exist.
pub(crate) fn read_into<T: Transfer>(
    transfer: &T,
    request: &mut GetInto<'_>,
    deadline: Deadline,
) -> Result<Option<Filled>> {
    let (key, len) = (request.key, request.into.len() as u64);
    let end = request.start.checked_add(len).filter(|&end| len > 0 && end <= i64::MAX as u64);
    let found = match end {
        // Empty and extreme ranges need the care of the other way.
        None => read(transfer, key, request.range(), deadline)?,
        Some(end) => {
            let range = WireRange::Bytes { start: request.start, last: end - 1 };
            match transfer.fetch(key, range, &mut Sink::Slice(request.into), deadline)? {
                Outcome::Filled(filled) => return Ok(Some(filled)),
                Outcome::Absent => return Ok(None),
                Outcome::Found(found) => Some(found),
                Outcome::Unsatisfiable { total: Some(total), version: Some(version) } => {
                    return Ok(Some(Filled { len: 0, start: total, total, version }));
                }
                Outcome::Unsatisfiable { .. } => read(transfer, key, request.range(), deadline)?,
            }
        }
    };
    Ok(found.map(|found| found.copy_to(request.into)))
}

/// Reads the last bytes of an object where ranges cannot count from the end.
fn read_suffix<T: Transfer>(
    transfer: &T,
    key: &str,
    len: u64,
    deadline: Deadline,
) -> Result<Option<Fetched>> {
    for _ in 0..CHANGES {
        let first = ByteRange::Bounded { start: 0, len: FIRST };
        let Some(begin) = read(transfer, key, first, deadline)? else { return Ok(None) };
        let (start, end) = ByteRange::Suffix(len).within(begin.total);
        if end <= begin.bytes.len() as u64 || start == end {
            return Ok(Some(cut(begin, ByteRange::Suffix(len))));
        }
        let tail = ByteRange::Bounded { start, len: end - start };
        match read(transfer, key, tail, deadline)? {
            Some(found) if found.version == begin.version => return Ok(Some(found)),
            _ => {}
        }
    }
    Err(changes(key))
}

/// Leaves the bytes of a range that is part of what was found.
fn cut(mut found: Fetched, range: ByteRange) -> Fetched {
    let (start, end) = range.within(found.total);
    let have = found.bytes.len() as u64;
    let skip = start.saturating_sub(found.start).min(have);
    let keep = (end - start).min(have - skip);
    found.bytes.truncate((skip + keep) as usize);
    if skip > 0 {
        found.bytes.drain(..skip as usize);
    }
    found.start = start;
    found
}

fn changes(key: &str) -> Error {
    let what = format!("{key}: the object changed between each two requests; another process is writing it");
    Error::new(Code::EIO, what)
}

/// Runs jobs on at most `in_flight` threads, this one among them. Results are in the order of the jobs.
///
/// Threads end with the call: nothing is left that a `fork` would break, and a thread costs a fiftieth of the shortest request.
pub(crate) fn in_parallel<J: Sync, T: Send>(
    jobs: &[J],
    in_flight: usize,
    run: impl Fn(&J) -> T + Sync,
) -> Vec<T> {
    let slots: Vec<Mutex<Option<T>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((job, slot)) = {
            let at = next.fetch_add(1, Relaxed);
            jobs.get(at).zip(slots.get(at))
        } {
            let result = run(job);
            if let Ok(mut slot) = slot.lock() {
                *slot = Some(result);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..jobs.len().min(in_flight) {
            let thread = std::thread::Builder::new().name("ferrocdf-request".to_string()).stack_size(STACK);
            // Without another thread the requests take longer, and no less is done.
            if thread.spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    let done = slots.into_iter().map(|slot| slot.into_inner().ok().flatten());
    done.map(|result| result.expect("each job was run, and a panic of one has been passed on")).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ferrocdf_store::Version;

    use super::*;

    /// An object of which a writer makes a new version before some requests.
    struct Changing {
        objects: Vec<Vec<u8>>,
        requests: Mutex<Vec<WireRange>>,
        has_suffixes: bool,
        tells_size: bool,
    }

    impl Transfer for Changing {
        fn fetch(&self, _: &str, range: WireRange, _: &mut Sink<'_>, _: Deadline) -> Result<Outcome> {
            let mut requests = self.requests.lock().unwrap();
            let number = requests.len().min(self.objects.len() - 1);
            requests.push(range);
            let object = &self.objects[number];
            let total = object.len() as u64;
            let version = Version::new(number.to_string());
            Ok(match range.within(total) {
                Some((start, end)) => {
                    let bytes = object[start as usize..end as usize].to_vec();
                    Outcome::Found(Fetched { bytes, start, total, version })
                }
                None if self.tells_size => {
                    Outcome::Unsatisfiable { total: Some(total), version: Some(version) }
                }
                None => Outcome::Unsatisfiable { total: None, version: None },
            })
        }

        fn has_suffixes(&self) -> bool {
            self.has_suffixes
        }
    }

    fn changing(objects: &[&[u8]], has_suffixes: bool, tells_size: bool) -> Changing {
        let objects = objects.iter().map(|object| object.to_vec()).collect();
        Changing { objects, requests: Mutex::default(), has_suffixes, tells_size }
    }

    fn get(transfer: &Changing, range: ByteRange) -> (Fetched, usize) {
        let found = read(transfer, "k", range, Deadline::after(Duration::from_secs(60))).unwrap().unwrap();
        let found = found.check("k", range).unwrap();
        (found, std::mem::take(&mut *transfer.requests.lock().unwrap()).len())
    }

    #[test]
    fn each_range_takes_one_request_where_the_server_tells_the_size() {
        for range in [
            ByteRange::All,
            ByteRange::Bounded { start: 1, len: 0 },
            ByteRange::Bounded { start: 1, len: 2 },
            ByteRange::Bounded { start: 9, len: 2 },
            ByteRange::Bounded { start: u64::MAX, len: 2 },
            ByteRange::Suffix(0),
            ByteRange::Suffix(2),
            ByteRange::Suffix(9),
        ] {
            let (found, requests) = get(&changing(&[b"abcd"], true, true), range);
            let (start, end) = range.within(4);
            assert_eq!(found.bytes, b"abcd"[start as usize..end as usize], "{range:?}");
            assert_eq!(requests, 1, "{range:?}");
        }
    }

    #[test]
    fn range_behind_the_end_asks_for_the_size_once_more() {
        let range = ByteRange::Bounded { start: 9, len: 2 };
        let (found, requests) = get(&changing(&[b"abcd"], true, false), range);
        assert_eq!((found.start, found.total, requests), (4, 4, 2));
        let (found, requests) = get(&changing(&[b""], true, false), ByteRange::Suffix(3));
        assert_eq!((found.total, requests), (0, 2));
        // An empty object, then one that has the range.
        let grown: &[&[u8]] = &[b"abcd", b"abcdefghijklm"];
        let (found, requests) = get(&changing(grown, true, false), range);
        assert_eq!((&*found.bytes, requests), (&b"jk"[..], 3));
    }

    #[test]
    fn suffix_without_suffix_ranges_takes_two_requests_of_one_version() {
        let large: Vec<u8> = (0..200_000).map(|at| at as u8).collect();
        let (found, requests) = get(&changing(&[&large], false, true), ByteRange::Suffix(100_000));
        assert_eq!((&*found.bytes, requests), (&large[100_000..], 2));
        let (found, requests) = get(&changing(&[b"abcd"], false, true), ByteRange::Suffix(3));
        assert_eq!((&*found.bytes, requests), (&b"bcd"[..], 1));
        let (found, requests) = get(&changing(&[b""], false, true), ByteRange::Suffix(3));
        assert_eq!((&*found.bytes, requests), (&b""[..], 1));
        // The object changes before each of the first three requests: the third try sees one version.
        let other: Vec<u8> = large.iter().map(|byte| byte ^ 1).collect();
        let versions: &[&[u8]] = &[&large, &other, &large, &other];
        let (found, requests) = get(&changing(versions, false, true), ByteRange::Suffix(100_000));
        assert_eq!((&*found.bytes, requests), (&other[100_000..], 6));
    }

    #[test]
    fn jobs_run_side_by_side_and_answer_in_order() {
        let barrier = std::sync::Barrier::new(4);
        let jobs: Vec<usize> = (0..4).collect();
        // Each job waits for all others, so four threads are needed.
        let done = in_parallel(&jobs, 4, |&job| {
            barrier.wait();
            job * 10
        });
        assert_eq!(done, [0, 10, 20, 30]);
        assert_eq!(in_parallel(&jobs, 1, |&job| job), jobs);
        assert!(in_parallel(&[] as &[u8], 4, |_| ()).is_empty());
    }
}
