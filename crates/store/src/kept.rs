//! Two views of a local file: one that keeps what is read of its metadata, and one for elements.
//!
//! Metadata is many small structures, some of which lie in one memory page, and threads read them side by side. The decision that
//! shaped it: bytes are kept from the moment that they are read, under one lock that is held while they are read, so that two threads never
//! read the same byte. Elements are large and are read once. They are not kept, and not taken from what is kept either, since a reader that reads
//! them again wants to know whether another process has changed them; and nobody reads over a gap between them, where metadata may lie.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ferrocdf_bytes::{Result, ToUsize};

use crate::ranges::gaps;
use crate::{Blob, ChangeToken, Cost, ReadAhead, forward, is_stale};

/// Ranges are read and kept in multiples of this, so that the ranges are few.
const PAGE: u64 = 4 << 10;

/// Bytes of one file that are kept, up to a request more. Metadata beyond is read as often as it is asked for.
const BUDGET: usize = 64 << 20;

/// Two views of the same bytes.
#[derive(Clone)]
pub struct MetadataViews {
    /// Keeps what is read through it, up to 64 MiB, and reads ahead of small requests.
    pub metadata: Arc<dyn Blob>,
    /// Reads elements as they are in the file now, and no byte between them.
    pub elements: Arc<dyn Blob>,
}

impl MetadataViews {
    /// Returns two views of a blob.
    pub fn new(blob: Arc<dyn Blob>) -> MetadataViews {
        let kept = KeptMetadata { blob: blob.clone(), limit: BUDGET, state: Mutex::default() };
        let metadata: Arc<dyn Blob> = Arc::new(ReadAhead::new(kept));
        MetadataViews { metadata: metadata.clone(), elements: Arc::new(ElementsAlone { blob, metadata }) }
    }
}

/// The view that keeps what is read.
struct KeptMetadata {
    blob: Arc<dyn Blob>,
    /// Bytes that are kept, up to a request more.
    limit: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The change token of the blob before the first byte was kept. Bytes that are kept are not older.
    token: Option<ChangeToken>,
    /// The bytes that are kept, by position: no run is empty, none overlaps another.
    runs: BTreeMap<u64, Vec<u8>>,
    /// Bytes in all runs.
    len: usize,
}

impl State {
    /// Returns what is kept of a range, in order: positions, and the bytes from there on.
    fn kept(&self, range: &Range<u64>) -> impl Iterator<Item = (u64, &[u8])> {
        let before = self.runs.range(..range.start).next_back();
        before.into_iter().chain(self.runs.range(range.clone())).filter_map(|(&at, run)| {
            let skip = range.start.saturating_sub(at).at_most(run.len());
            let at = at + skip as u64;
            let len = (range.end - at.min(range.end)).at_most(run.len() - skip);
            (len > 0).then(|| (at, &run[skip..skip + len]))
        })
    }

    /// Returns the parts of a range that are not kept.
    fn missing(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        let kept =
            self.kept(range).map(|(at, bytes)| at - range.start..at - range.start + bytes.len() as u64);
        let missing = gaps(&kept.collect::<Vec<_>>(), range.end - range.start);
        missing.into_iter().map(|gap| range.start + gap.start..range.start + gap.end).collect()
    }

    /// Copies what is kept of the bytes from position `at` on, and returns the ranges that are not kept.
    fn copy_kept(&self, at: u64, into: &mut [u8]) -> Vec<Range<u64>> {
        // A position from which on 64 bits do not count all bytes is past the end of every blob, and the blob says so.
        let range = at..at.saturating_add(into.len() as u64);
        for (from, bytes) in self.kept(&range) {
            into[(from - at).saturate()..][..bytes.len()].copy_from_slice(bytes);
        }
        self.missing(&range)
    }
}

impl KeptMetadata {
    // No code panics in the middle of a change of the state, so a poisoned lock guards a valid one.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the pages in which a range lies, but for bytes that are kept, and keeps them.
    fn keep_pages(&self, state: &mut State, range: Range<u64>) -> Result<()> {
        let pages =
            range.start - range.start % PAGE..range.end.checked_next_multiple_of(PAGE).unwrap_or(u64::MAX);
        if state.runs.is_empty() {
            state.token = self.blob.change_token();
        }
        for Range { start, end } in state.missing(&pages) {
            let mut bytes = vec![0; (end - start).saturate()];
            let len = self.blob.read_at(start, &mut bytes)?;
            bytes.truncate(len);
            bytes.shrink_to_fit();
            if !bytes.is_empty() {
                state.len += bytes.len();
                state.runs.insert(start, bytes);
            }
        }
        Ok(())
    }

    /// Reads ranges into the buffer whose first byte is that of position `at`. Returns the number of bytes up to the first that the
    /// blob does not have.
    fn read_missing(&self, missing: Vec<Range<u64>>, at: u64, into: &mut [u8]) -> Result<usize> {
        if at.checked_add(into.len() as u64).is_none() {
            return self.blob.read_at(at, into);
        }
        for Range { start, end } in missing {
            let part = &mut into[(start - at).saturate()..(end - at).saturate()];
            let got = self.blob.read_at(start, part)?;
            if got < part.len() {
                return Ok((start - at).saturate() + got);
            }
        }
        Ok(into.len())
    }
}

impl Blob for KeptMetadata {
    forward!([.blob] size read_suffix name expect_pages change_token cost is_nameless);

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        let mut state = self.lock();
        let mut missing = state.copy_kept(at, into);
        if !missing.is_empty() && into.len() <= self.limit.saturating_sub(state.len) {
            for range in missing {
                self.keep_pages(&mut state, range)?;
            }
            missing = state.copy_kept(at, into);
        }
        self.read_missing(missing, at, into)
    }

    /// Drops what is kept if the bytes may be others by now.
    fn forget(&self) {
        let mut state = self.lock();
        if state.token.is_none() || is_stale(state.token.as_ref(), &*self.blob) {
            *state = State::default();
        }
        self.blob.forget();
    }
}

/// The view for elements.
struct ElementsAlone {
    blob: Arc<dyn Blob>,
    /// The other view, which forgets whenever this one does: an index tells where elements are.
    metadata: Arc<dyn Blob>,
}

impl Blob for ElementsAlone {
    forward!([.metadata] forget);
    forward!([.blob] size read_at read_many read_suffix name expect_pages change_token is_nameless);

    fn cost(&self) -> Cost {
        Cost { joins_chunks: false, ..self.blob.cost() }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::suite::forwards_reads;
    use crate::testing::Counting;
    use crate::{BlobMut, FileBlob, MemoryBlob};

    type Counted = Arc<Counting<MemoryBlob>>;

    fn byte(at: u64) -> u8 {
        (at % 251) as u8
    }

    fn numbered(len: u64) -> (Counted, MetadataViews) {
        let inner = Counting::new(MemoryBlob::new((0..len).map(byte).collect())).with_cost(Cost::LOCAL);
        let inner = Arc::new(inner);
        (inner.clone(), MetadataViews::new(inner))
    }

    fn check(blob: &dyn Blob, at: u64, len: usize) {
        let mut into = vec![0; len];
        blob.read_exact_at(at, &mut into).unwrap();
        assert!(into.iter().zip(at..).all(|(&found, at)| found == byte(at)), "{len} bytes at {at}");
    }

    #[test]
    fn no_byte_of_metadata_is_read_twice_by_any_thread() {
        let (inner, views) = numbered(1_000_003);
        thread::scope(|scope| {
            for thread in 0..4 {
                let metadata = &views.metadata;
                scope.spawn(move || {
                    for step in 0..3000 {
                        check(&**metadata, (step * 700_001 + thread * 77) % 999_000, 100);
                    }
                });
            }
        });
        check(&*views.metadata, 0, 1_000_003);
        assert_eq!(inner.reads().1, 1_000_003u64.next_multiple_of(PAGE));
    }

    #[test]
    fn elements_are_read_as_they_are_now() {
        let (inner, views) = numbered(1_000_000);
        check(&*views.metadata, 10_000, 100);
        inner.write_at(10_050, &[255]).unwrap();
        let before = inner.reads();
        let mut into = [0; 100];
        for _ in 0..2 {
            views.elements.read_exact_at(10_000, &mut into).unwrap();
            assert_eq!(into[50], 255);
        }
        assert_eq!(inner.reads(), (before.0 + 2, before.1 + 200));
        // What was kept is still there.
        check(&*views.metadata, 10_000, 100);
    }

    #[test]
    fn the_end_of_the_bytes_is_the_end_of_an_answer() {
        let (_, views) = numbered(10_000);
        let mut into = [0; 8192];
        for blob in [&views.elements, &views.metadata, &views.elements] {
            for (at, len) in [(4096, 5904), (9_999, 1), (10_000, 0), (u64::MAX - 10, 0), (u64::MAX, 0)] {
                assert_eq!(blob.read_at(at, &mut into), Ok(len), "{at}");
                assert!(into[..len].iter().zip(at..).all(|(&found, at)| found == byte(at)));
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_read_again() {
        let (inner, _) = numbered(100_000);
        let limit = 3 * PAGE as usize;
        let metadata = KeptMetadata { blob: inner.clone(), limit, state: Mutex::default() };
        for at in [0, 20_000, 40_000, 60_000, 60_000] {
            check(&metadata, at, 100);
        }
        assert_eq!(inner.reads(), (5, 3 * PAGE + 200));
        assert!(metadata.lock().len <= limit);
    }

    #[test]
    fn bytes_are_kept_until_others_may_be_there() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let writer = FileBlob::create(file.path()).unwrap();
        writer.write_at(0, &[1; 4000]).unwrap();
        file.as_file().set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        let inner = Arc::new(Counting::new(FileBlob::open(file.path()).unwrap()));
        let views = MetadataViews::new(inner.clone());
        let first = || {
            let mut into = [0; 8];
            views.metadata.read_exact_at(0, &mut into).unwrap();
            into[0]
        };
        assert_eq!(first(), 1);
        views.metadata.forget();
        assert_eq!((first(), inner.reads().0), (1, 1));
        writer.write_at(0, &[2; 4000]).unwrap();
        views.elements.forget();
        assert_eq!((first(), inner.reads().0), (2, 2));
        // Bytes that have no token may have changed whenever somebody asks.
        let (inner, views) = numbered(4_000);
        for _ in 0..2 {
            check(&*views.metadata, 0, 8);
            views.metadata.forget();
        }
        assert_eq!(inner.reads().0, 2);
    }

    #[test]
    fn every_method_is_forwarded() {
        forwards_reads(|probe| MetadataViews::new(probe).metadata, &["read_many"]);
        forwards_reads(|probe| MetadataViews::new(probe).elements, &["cost"]);
    }
}
