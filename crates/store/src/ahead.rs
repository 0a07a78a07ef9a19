//! Reading ahead for callers who read little at a time.
//!
//! The cost of the blob gives the sizes: requests of at least half a window are passed through, and a request is near the one
//! before if it starts at most the gap before its end, or less than half a window behind it. A thread has four windows per blob,
//! since one structure leads to another (a header to its heap, the heap to its blocks, these to text). A window is filled when
//! requests follow near each other. A blob of at most four window sizes is then read whole, and also after several requests far
//! from each other. A caller who reads at random in a large blob pays nothing. Windows belong to a thread, so a request takes no
//! lock; a window is valid while the generation of its blob is the one at which the window was read. Bytes written through this
//! wrapper are visible at once; bytes that another process writes may become visible late. The size is cached, since readers of
//! many small structures ask for it with each of them.

use std::cell::RefCell;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire};
use std::sync::{Arc, Weak};

use ferrocdf_bytes::{Result, ToUsize};

use crate::known_size::KnownSize;
use crate::{Blob, BlobMut, Buffer, Cost, ReadRequest, Suffix, Writes, forward};

/// Requests in a row, each near the one before, after which reading ahead starts.
const STREAK: u32 = 2;
/// Requests far from the one before, after which a small blob is read whole.
const JUMPS: u32 = 8;

/// Blobs for which a thread keeps windows: programs read the members of an ensemble in turn.
const BLOBS: usize = 64;
/// Windows of a thread for one blob.
const WINDOWS: usize = 4;

/// A blob that reads ahead of small sequential requests.
#[derive(Debug)]
pub struct ReadAhead<B: Blob> {
    inner: B,
    /// The cost of `inner`.
    cost: Cost,
    /// Generation of the bytes; every write increments it. Its address identifies the blob, and windows of the blob have a weak
    /// reference to it.
    generation: Arc<AtomicU64>,
    size: KnownSize,
}

thread_local! {
    static THREAD: RefCell<ThreadWindows> = const { RefCell::new(ThreadWindows::new()) };
}

/// The windows of a thread.
#[derive(Debug)]
struct ThreadWindows {
    /// At most [`BLOBS`], in no order.
    blobs: Vec<Windows>,
    /// Position of the blob that was read last.
    last: usize,
    /// Number of times that the thread switched from one blob to another.
    turns: u64,
}

impl ThreadWindows {
    const fn new() -> Self {
        ThreadWindows { blobs: Vec::new(), last: 0, turns: 0 }
    }

    /// Returns the windows for the blob with this generation counter. If all [`BLOBS`] are in use, replaces those of the least
    /// recently read blob.
    fn of_blob(&mut self, blob: &Arc<AtomicU64>) -> &mut Windows {
        if self.blobs.get(self.last).is_none_or(|windows| !windows.is_of(blob)) {
            self.turn_to(blob);
        }
        &mut self.blobs[self.last]
    }

    fn turn_to(&mut self, blob: &Arc<AtomicU64>) {
        self.turns += 1;
        let found = self.blobs.iter().position(|windows| windows.is_of(blob));
        self.last = found.unwrap_or_else(|| self.make_windows(blob));
        self.blobs[self.last].turn = self.turns;
    }

    /// Makes windows for a blob and returns their position. Frees those of blobs that were dropped.
    fn make_windows(&mut self, blob: &Arc<AtomicU64>) -> usize {
        self.blobs.retain(|windows| windows.blob.strong_count() > 0);
        let new = Windows { blob: Arc::downgrade(blob), ..Windows::default() };
        if self.blobs.len() < BLOBS {
            self.blobs.push(new);
            return self.blobs.len() - 1;
        }
        let oldest = (0..BLOBS).min_by_key(|&at| self.blobs[at].turn).unwrap_or_default();
        self.blobs[oldest] = new;
        oldest
    }
}

/// The windows of a thread for one blob.
#[derive(Debug, Default)]
struct Windows {
    /// The generation counter of the blob; dangling if the blob was dropped.
    blob: Weak<AtomicU64>,
    /// The generation at which the windows were read.
    generation: u64,
    /// The value of [`ThreadWindows::turns`] when the thread last switched to this blob.
    turn: u64,
    /// The windows, most recently used first.
    list: [Window; WINDOWS],
    /// Number of requests that were far from all windows.
    jumps: u32,
}

#[derive(Debug, Default)]
struct Window {
    /// Position of the first byte of the window in the blob.
    at: u64,
    /// Bytes in the window.
    len: usize,
    bytes: Buffer,
    /// Position behind the last request.
    end: u64,
    /// Number of requests in a row that began near the end of the one before.
    streak: u32,
}

impl<B: Blob> ReadAhead<B> {
    /// Reads ahead in `inner`.
    pub fn new(inner: B) -> Self {
        let cost = inner.cost();
        ReadAhead { inner, cost, generation: Arc::default(), size: KnownSize::default() }
    }

    /// Requests from this size on are passed through.
    fn large(&self) -> usize {
        self.cost.window / 2
    }

    /// Makes the windows of all threads invalid, and the size unknown.
    fn forget_all(&self) {
        self.generation.fetch_add(1, AcqRel);
        self.size.forget();
    }

    /// Starts the next generation after a write, which makes the windows of other threads invalid. `patch` updates the windows of
    /// this thread, which stay valid if they were.
    fn forget_others(&self, patch: impl Fn(&mut Window)) {
        let before = self.generation.fetch_add(1, AcqRel);
        self.size.forget();
        // A thread that is ending has no windows.
        let _ = THREAD.try_with(|thread| {
            let Ok(mut thread) = thread.try_borrow_mut() else { return };
            let own = thread.blobs.iter_mut().find(|windows| windows.is_of(&self.generation));
            if let Some(windows) = own.filter(|windows| windows.generation == before) {
                windows.list.iter_mut().for_each(patch);
                windows.generation = before + 1;
            }
        });
    }

    /// Runs `work` on the windows of this thread; `None` if they are in use by a request that led to this one, or the
    /// thread is ending.
    fn with_own<R>(&self, work: impl FnOnce(&mut Windows) -> R) -> Option<R> {
        let in_thread = |thread: &RefCell<ThreadWindows>| {
            let mut thread = thread.try_borrow_mut().ok()?;
            let windows = thread.of_blob(&self.generation);
            // Bytes that are read after this belong to this generation, or to a later one.
            let generation = self.generation.load(Acquire);
            if windows.generation != generation {
                windows.empty();
                windows.generation = generation;
            }
            Some(work(windows))
        };
        THREAD.try_with(in_thread).ok().flatten()
    }

    /// Reads through the windows of this thread.
    fn read_in(&self, windows: &mut Windows, at: u64, into: &mut [u8]) -> Result<usize> {
        let last = windows.chosen();
        if last.take(at, into) {
            last.end = at + into.len() as u64;
            return Ok(into.len());
        }
        let near = windows.choose(at, into.len(), self.cost.gap, self.large());
        if windows.take(at, into) {
            return Ok(into.len());
        }
        let (goes_on, jumps_about) = (windows.goes_on(near), windows.jumps_about(near));
        if goes_on || jumps_about {
            let size = self.size()?;
            if size <= (WINDOWS * self.cost.window) as u64 {
                windows.jumps = 0;
                windows.chosen().fill(&self.inner, 0, size.saturate())?;
            } else if goes_on {
                let start = at - at % self.cost.gap.max(1);
                let left = size.saturating_sub(start).saturate();
                windows.chosen().fill(&self.inner, start, self.cost.window.min(left))?;
            }
        }
        if windows.take(at, into) { Ok(into.len()) } else { self.inner.read_at(at, into) }
    }
}

impl<B: Blob> Drop for ReadAhead<B> {
    /// Frees the windows of this thread. Other threads free theirs when they make windows for another blob.
    fn drop(&mut self) {
        let _ = THREAD.try_with(|thread| {
            if let Ok(mut thread) = thread.try_borrow_mut() {
                thread.blobs.retain(|windows| !windows.is_of(&self.generation));
            }
        });
    }
}

impl Windows {
    /// True if the windows are of the blob with this generation counter. Addresses identify counters: the memory of a counter is
    /// not reused while a weak reference to it exists.
    fn is_of(&self, blob: &Arc<AtomicU64>) -> bool {
        std::ptr::eq(self.blob.as_ptr(), Arc::as_ptr(blob))
    }

    fn empty(&mut self) {
        self.list.iter_mut().for_each(|window| window.len = 0);
    }

    /// Moves the window for a request to the front of the list. Returns true if the request is near the last request of that
    /// window: it starts at most `back` bytes before its end, or less than `ahead` bytes behind it. A request that is near none
    /// gets the least recently used window.
    fn choose(&mut self, at: u64, len: usize, back: u64, ahead: usize) -> bool {
        let near = |window: &Window| {
            at.saturating_add(back) >= window.end && at < window.end.saturating_add(ahead as u64)
        };
        let found = self.list.iter().position(near);
        self.list[..=found.unwrap_or(WINDOWS - 1)].rotate_right(1);
        self.chosen().end = at.saturating_add(len as u64);
        found.is_some()
    }

    fn chosen(&mut self) -> &mut Window {
        &mut self.list[0]
    }

    /// Answers a request from one of the windows; `false` if none has all its bytes.
    fn take(&self, at: u64, into: &mut [u8]) -> bool {
        self.list.iter().any(|window| window.take(at, into))
    }

    /// Counts requests in a row near the one before. True if there were enough of them to read ahead.
    fn goes_on(&mut self, near: bool) -> bool {
        let window = self.chosen();
        window.streak = if near { window.streak.saturating_add(1) } else { 0 };
        window.streak >= STREAK
    }

    /// Counts requests far from all windows. True once, when their number reaches [`JUMPS`].
    fn jumps_about(&mut self, near: bool) -> bool {
        self.jumps = if near { self.jumps } else { self.jumps.saturating_add(1) };
        !near && self.jumps == JUMPS
    }
}

impl Window {
    /// Answers a request from the window; `false` if it lacks some of the bytes.
    fn take(&self, at: u64, into: &mut [u8]) -> bool {
        self.bytes.give(self.at, self.len, at, into)
    }

    /// Fills the window with `len` bytes of the blob from position `at` on.
    fn fill(&mut self, blob: &impl Blob, at: u64, len: usize) -> Result<()> {
        // The window is empty while it is filled, so that it stays valid if the read fails.
        self.len = 0;
        let got = blob.read_at(at, self.bytes.at(at, len))?;
        (self.at, self.len) = (at, got);
        Ok(())
    }

    /// Copies written bytes to the window where they overlap it.
    fn wrote(&mut self, at: u64, from: &[u8]) {
        let (start, end) = (at.max(self.at), (at + from.len() as u64).min(self.at + self.len as u64));
        if start < end {
            let (to, skip, len) =
                ((start - self.at).saturate(), (start - at).saturate(), (end - start).saturate());
            self.bytes.at(self.at, self.len)[to..to + len].copy_from_slice(&from[skip..skip + len]);
        }
    }
}

impl<B: Blob> Blob for ReadAhead<B> {
    forward!([.inner] name expect_pages change_token is_nameless);

    fn size(&self) -> Result<u64> {
        match self.size.get() {
            Some(size) => Ok(size),
            None => self.size.learn(|| self.inner.size(), |&size| size),
        }
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        if into.len() >= self.large() {
            return self.inner.read_at(at, into);
        }
        match self.with_own(|windows| self.read_in(windows, at, into)) {
            Some(done) => done,
            None => self.inner.read_at(at, into),
        }
    }

    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        // A batch has all requests that the caller knows of, so it does not predict further ones and fills no window.
        self.inner.read_many(requests)
    }

    fn read_suffix(&self, into: &mut [u8]) -> Result<Suffix> {
        self.size.learn(|| self.inner.read_suffix(into), |suffix| suffix.size)
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn forget(&self) {
        self.inner.forget();
        self.forget_all();
    }
}

impl<B: BlobMut> BlobMut for ReadAhead<B> {
    forward!([.inner] sync keeps_holes);

    fn write_at(&self, at: u64, from: &[u8]) -> Result<()> {
        let done = self.inner.write_at(at, from);
        self.forget_others(|window| match done {
            Ok(()) => window.wrote(at, from),
            // After an error any part of the bytes may have been written.
            Err(_) => window.len = 0,
        });
        done
    }

    fn set_size(&self, size: u64) -> Result<()> {
        let done = self.inner.set_size(size);
        self.forget_all();
        done
    }

    /// Makes later reads return what other processes wrote, too.
    fn flush(&self) -> Result<()> {
        let done = self.inner.flush();
        self.forget_all();
        done
    }

    fn replace(&self, write: &mut Writes<'_>) -> Result<bool> {
        let done = self.inner.replace(write);
        self.forget_all();
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Counting;
    use crate::{BlobMut, MemoryBlob};

    fn numbered(len: usize) -> (Arc<Counting<MemoryBlob>>, ReadAhead<Arc<Counting<MemoryBlob>>>) {
        let bytes = (0..len).map(|at| (at % 251) as u8).collect();
        let inner = Arc::new(Counting::new(MemoryBlob::new(bytes)).with_cost(Cost::LOCAL));
        (inner.clone(), ReadAhead::new(inner))
    }

    /// Returns an empty blob with the cost of a local file.
    fn empty() -> ReadAhead<Counting<MemoryBlob>> {
        ReadAhead::new(Counting::new(MemoryBlob::default()).with_cost(Cost::LOCAL))
    }

    #[test]
    fn small_steps_cost_few_requests_and_give_the_right_bytes() {
        let (inner, blob) = numbered(1_000_000);
        let mut into = [0; 100];
        for at in (0..1_000_000).step_by(100) {
            assert_eq!(blob.read_at(at, &mut into).unwrap(), 100);
            assert!(into.iter().enumerate().all(|(i, &byte)| byte == ((at as usize + i) % 251) as u8));
        }
        assert!(inner.reads().0 <= 2 + 1_000_000 / Cost::LOCAL.window as u64 + 1, "{:?}", inner.reads());
    }

    #[test]
    fn no_more_than_a_window_is_read_ahead() {
        let (inner, blob) = numbered(10_000_000);
        let mut into = [0; 100];
        for place in (0..10).map(|place| place * 1_000_000) {
            for at in (place..place + 1000).step_by(100) {
                assert_eq!(blob.read_at(at, &mut into).unwrap(), 100);
                assert!(into.iter().enumerate().all(|(i, &byte)| byte == ((at as usize + i) % 251) as u8));
            }
        }
        let (requests, bytes) = inner.reads();
        assert!(
            requests <= 40 && bytes < 10 * (Cost::LOCAL.window as u64 + 1000),
            "{requests} requests, {bytes} bytes"
        );
    }

    #[test]
    fn jumping_about_reads_no_more_than_asked() {
        let (inner, blob) = numbered(1_000_000);
        let mut into = [0; 8];
        for step in 0..1000 {
            blob.read_at((step * 700_001) % 999_000, &mut into).unwrap();
        }
        assert_eq!(inner.reads(), (1000, 8000));
    }

    #[test]
    fn a_small_blob_is_read_whole() {
        let (inner, blob) = numbered(200_000);
        let mut into = [0; 8];
        for step in 0..1000 {
            blob.read_at((step * 70_001) % 199_000, &mut into).unwrap();
        }
        // Three requests that are far from each other, then the whole blob.
        assert_eq!(inner.reads(), (4, 3 * 8 + 200_000));
    }

    #[test]
    fn going_back_and_staying_cost_few_requests() {
        let (inner, blob) = numbered(1_000_000);
        let mut into = [0; 8];
        for step in 0..1000 {
            blob.read_at(900_000, &mut into).unwrap();
            blob.read_at(500_000 - step * 8, &mut into).unwrap();
        }
        // The two are far from each other, and each has a window.
        assert!(inner.reads().0 <= 10, "{:?}", inner.reads());
    }

    #[test]
    fn random_writes_and_reads_are_those_of_a_plain_blob() {
        let mut rng = crate::testing::Rng::new(3);
        let (plain, ahead) = (MemoryBlob::default(), empty());
        let mut at = 0;
        for _ in 0..50_000 {
            at = if rng.once_in(20) { rng.below(600_000) } else { at + rng.below(40) };
            let len = if rng.once_in(50) { 40_000 } else { rng.index(60) };
            match rng.below(5) {
                0 => {
                    let bytes: Vec<u8> = (0..len).map(|_| rng.number() as u8).collect();
                    plain.write_at(at, &bytes).unwrap();
                    ahead.write_at(at, &bytes).unwrap();
                }
                1 if rng.once_in(500) => {
                    plain.set_size(at).unwrap();
                    ahead.set_size(at).unwrap();
                }
                2 if rng.once_in(100) => ahead.flush().unwrap(),
                _ => {
                    let (mut a, mut b) = (vec![1; len], vec![2; len]);
                    let got = plain.read_at(at, &mut a).unwrap();
                    assert_eq!(ahead.read_at(at, &mut b).unwrap(), got);
                    assert_eq!(a[..got], b[..got]);
                }
            }
        }
    }

    #[test]
    fn passes_the_suite() {
        crate::suite::blob(|_| empty());
    }

    #[test]
    fn each_thread_reads_ahead_for_itself_and_sees_what_others_write() {
        let (inner, blob) = numbered(1_000_000);
        let (has_read, when_read) = std::sync::mpsc::channel();
        let (has_written, when_written) = std::sync::mpsc::channel();
        let expected = |at: u64| (at % 251) as u8;
        let read = |from: u64| {
            let mut into = [0; 100];
            for at in (from..from + 200_000).step_by(100) {
                assert_eq!(blob.read_at(at, &mut into).unwrap(), 100);
                assert!(into.iter().zip(at..).all(|(&byte, at)| byte == expected(at)), "{at}");
            }
        };
        let is_changed = |at: u64| {
            let mut into = [0; 50];
            assert_eq!(blob.read_at(at, &mut into).unwrap(), 50);
            into == [99; 50]
        };
        // The closure owns its ends of the channels: a failure here wakes the other thread.
        let (read, is_changed, blob) = (&read, &is_changed, &blob);
        std::thread::scope(move |scope| {
            scope.spawn(move || {
                read(500_000);
                has_read.send(()).unwrap();
                when_written.recv().unwrap();
                assert!(is_changed(699_900));
            });
            read(0);
            when_read.recv().unwrap();
            // The first window begins at the start of the blob, and so starts one request earlier.
            assert_eq!(inner.reads().0, 2 + 2 * 200_000 / Cost::LOCAL.window as u64 + 1 + 2);
            assert!(!is_changed(199_900));
            let reads = inner.reads().0;
            for at in [199_900, 699_900] {
                blob.write_at(at, &[99; 50]).unwrap();
            }
            // The windows of the thread that writes are brought up to date.
            assert!(is_changed(199_900));
            assert_eq!(inner.reads().0, reads);
            has_written.send(()).unwrap();
        });
        assert!(is_changed(699_900));
    }

    #[test]
    fn blobs_that_are_read_in_turn_are_read_ahead() {
        let blobs: Vec<_> = (0..BLOBS).map(|_| numbered(10_000)).collect();
        let mut into = [0; 10];
        for at in (0..10_000).step_by(10) {
            for (_, blob) in &blobs {
                assert_eq!(blob.read_at(at, &mut into).unwrap(), 10);
            }
        }
        for (inner, _) in &blobs {
            assert!(inner.reads().0 <= 3, "{:?}", inner.reads());
        }
    }

    #[test]
    fn windows_of_many_blobs_give_the_bytes_of_their_own() {
        let blobs: Vec<_> = (0..BLOBS as u8 + 9)
            .map(|n| Counting::new(MemoryBlob::new(vec![n; 1000 + n as usize])).with_cost(Cost::LOCAL))
            .map(ReadAhead::new)
            .collect();
        let mut into = [255; 10];
        for at in (0..900).step_by(10) {
            for (n, blob) in blobs.iter().enumerate() {
                assert_eq!(blob.read_at(at, &mut into).unwrap(), 10);
                assert_eq!(into, [n as u8; 10]);
            }
        }
        assert!(THREAD.with(|thread| thread.borrow().blobs.len()) <= BLOBS);
        drop(blobs);
        assert!(THREAD.with(|thread| thread.borrow().blobs.is_empty()));
    }

    #[test]
    fn windows_of_a_blob_that_another_thread_drops_are_given_up() {
        let mut into = [0; 10];
        for _ in 0..3 {
            let (_, blob) = numbered(1000);
            blob.read_at(0, &mut into).unwrap();
            std::thread::scope(|scope| scope.spawn(|| drop(blob)).join()).unwrap();
            assert_eq!(THREAD.with(|thread| thread.borrow().blobs.len()), 1);
        }
    }

    #[test]
    fn what_is_forgotten_is_read_again() {
        let (inner, blob) = numbered(1000);
        let mut into = [0; 10];
        for step in 0..5 {
            blob.read_at(step * 10, &mut into).unwrap();
        }
        inner.write_at(50, &[99; 10]).unwrap();
        blob.forget();
        blob.read_at(50, &mut into).unwrap();
        assert_eq!(into, [99; 10]);
    }

    #[test]
    fn the_size_is_that_of_the_last_write() {
        let blob = empty();
        assert_eq!(blob.size().unwrap(), 0);
        blob.write_at(10, &[1; 5]).unwrap();
        assert_eq!((blob.size().unwrap(), blob.size().unwrap()), (15, 15));
        blob.set_size(7).unwrap();
        assert_eq!(blob.size().unwrap(), 7);
        blob.inner.set_size(9).unwrap();
        assert_eq!(blob.size().unwrap(), 7);
        blob.forget();
        assert_eq!(blob.size().unwrap(), 9);
    }

    #[test]
    fn the_end_is_where_it_is() {
        let (_, blob) = numbered(1000);
        let mut into = [0; 30];
        let got: usize = (0..40).map(|step| blob.read_at(step * 30, &mut into).unwrap()).sum();
        assert_eq!(got, 1000);
    }

    #[test]
    fn every_method_is_passed_on() {
        crate::suite::forwards_reads(ReadAhead::new, &[]);
        crate::suite::forwards_writes(ReadAhead::new, &[]);
    }
}
