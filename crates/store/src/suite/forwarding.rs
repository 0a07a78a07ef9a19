//! The check that a wrapper passes every method of [`Blob`] and [`BlobMut`] on.
//!
//! A method with a default body is easily forgotten in a wrapper: it compiles, and a remote store gets a thousand requests in
//! place of one. The probe under the wrapper answers each method in a way that no default body can.

use std::sync::{Arc, Mutex, PoisonError};

use ferrocdf_bytes::Result;

use crate::{Blob, BlobMut, ChangeToken, Cost, Latency, MemoryBlob, ReadRequest, Suffix, Version, Writes};

/// A blob that records its calls and gives each method an answer of its own.
#[derive(Debug, Default)]
pub struct Probe {
    calls: Mutex<Vec<&'static str>>,
}

/// Large enough for requests that wrappers with buffers pass on at once.
const LEN: usize = 512 << 10;

/// The answers of the probe: its size, and the byte of which all bytes read by a method consist.
const SIZE: u64 = LEN as u64 + 7;
const READ_AT: u8 = 1;
const READ_MANY: u8 = 2;
const READ_SUFFIX: u8 = 3;
const COST: Cost =
    Cost { latency: Latency::Remote, gap: 4321, joins_chunks: true, window: 65432, in_flight: 7 };

impl Probe {
    fn note(&self, call: &'static str) {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
    }

    /// Returns true if a method was called, and clears the record of calls.
    fn take(&self, call: &str) -> bool {
        let calls = std::mem::take(&mut *self.calls.lock().unwrap_or_else(PoisonError::into_inner));
        calls.contains(&call)
    }
}

impl Blob for Probe {
    fn size(&self) -> Result<u64> {
        Ok(SIZE)
    }

    fn read_at(&self, _at: u64, into: &mut [u8]) -> Result<usize> {
        into.fill(READ_AT);
        Ok(into.len())
    }

    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        for request in requests {
            request.into.fill(READ_MANY);
            request.len = request.into.len();
        }
        Ok(())
    }

    fn read_suffix(&self, into: &mut [u8]) -> Result<Suffix> {
        into.fill(READ_SUFFIX);
        Ok(Suffix { len: into.len(), size: SIZE })
    }

    fn name(&self) -> String {
        "probe".to_string()
    }

    fn cost(&self) -> Cost {
        COST
    }

    fn forget(&self) {
        self.note("forget");
    }

    fn expect_pages(&self, _bytes: u64) {
        self.note("expect_pages");
    }

    fn change_token(&self) -> Option<ChangeToken> {
        Some(ChangeToken::object(Version::new("probe")))
    }

    fn is_nameless(&self) -> bool {
        true
    }
}

impl BlobMut for Probe {
    fn write_at(&self, _at: u64, _from: &[u8]) -> Result<()> {
        self.note("write_at");
        Ok(())
    }

    fn write_alone_at(&mut self, _at: u64, _from: &[u8]) -> Result<()> {
        self.note("write_alone_at");
        Ok(())
    }

    fn set_size(&self, _size: u64) -> Result<()> {
        self.note("set_size");
        Ok(())
    }

    fn flush(&self) -> Result<()> {
        self.note("flush");
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        self.note("sync");
        Ok(())
    }

    fn keeps_holes(&self) -> bool {
        true
    }

    fn replace(&self, write: &mut Writes<'_>) -> Result<bool> {
        self.note("replace");
        write(&MemoryBlob::default())?;
        Ok(true)
    }
}

/// Compares the methods that were not passed on with those that the caller knows to be different.
fn check(method: &'static str, is_forwarded: bool, different: &[&str]) {
    let is_named = different.contains(&method);
    assert!(is_forwarded || is_named, "the wrapper does not pass `{method}` on");
    assert!(!is_forwarded || !is_named, "`{method}` is said to be different, but the wrapper passes it on");
}

/// Checks that the blob that `wrap` makes passes all methods of [`Blob`] on, but those named in `different`, which it must not
/// pass on as they are. Reads are large, so that wrappers that read ahead need not take part.
pub fn forwards_reads<W: Blob>(wrap: impl FnOnce(Arc<Probe>) -> W, different: &[&str]) {
    let probe = Arc::new(Probe::default());
    let blob = wrap(probe.clone());
    let check = |method, is_forwarded| check(method, is_forwarded, different);
    let consists_of = |bytes: &[u8], byte| bytes.len() == LEN && bytes.iter().all(|&found| found == byte);
    let mut bytes = vec![0; LEN];

    let found = blob.read_at(0, &mut bytes).expect("the probe never fails");
    check("read_at", consists_of(&bytes[..found], READ_AT));
    let mut requests = [ReadRequest::new(0, &mut bytes)];
    blob.read_many(&mut requests).expect("the probe never fails");
    check("read_many", consists_of(requests[0].bytes(), READ_MANY));
    let suffix = blob.read_suffix(&mut bytes).expect("the probe never fails");
    check("read_suffix", consists_of(&bytes[..suffix.len], READ_SUFFIX) && suffix.size == SIZE);
    check("size", blob.size().is_ok_and(|size| size == SIZE));
    check("name", blob.name() == "probe");
    check("cost", blob.cost() == COST);
    blob.forget();
    check("forget", probe.take("forget"));
    blob.expect_pages(4096);
    check("expect_pages", probe.take("expect_pages"));
    let token = probe.change_token();
    let is_same = token.zip(blob.change_token()).is_some_and(|(own, found)| own.is_same_content(&found));
    check("change_token", is_same);
    check("is_nameless", blob.is_nameless());
}

/// Checks that the blob that `wrap` makes passes all methods of [`BlobMut`] on, but those named in `different`, which it must
/// not pass on as they are. `write_alone_at` may become [`BlobMut::write_at`]: it needs an owner. Writes are large, so that
/// wrappers that write behind need not take part.
pub fn forwards_writes<W: BlobMut>(wrap: impl FnOnce(Arc<Probe>) -> W, different: &[&str]) {
    let probe = Arc::new(Probe::default());
    let mut blob = wrap(probe.clone());
    let check = |method, is_forwarded| check(method, is_forwarded, different);
    let bytes = vec![1; LEN];
    let is_done = |done: Result<()>, call| done.is_ok() && probe.take(call);

    check("write_at", is_done(blob.write_at(0, &bytes), "write_at"));
    // The probe is shared with this function, so nothing can call its `write_alone_at`.
    check("write_alone_at", is_done(blob.write_alone_at(0, &bytes), "write_at"));
    check("set_size", is_done(blob.set_size(SIZE), "set_size"));
    check("flush", is_done(blob.flush(), "flush"));
    blob.write_at(0, &bytes).expect("the probe never fails");
    check("sync", is_done(blob.sync(), "sync"));
    check("keeps_holes", blob.keeps_holes());
    let mut is_called = false;
    let replaced = blob.replace(&mut |_| {
        is_called = true;
        Ok(())
    });
    check("replace", replaced == Ok(true) && is_called && probe.take("replace"));
}
