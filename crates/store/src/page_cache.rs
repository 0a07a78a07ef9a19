//! A cache of pages for blobs whose requests cost more than memory: objects of a bucket above all.
//!
//! A page is read once and shared by all threads: one thread loads it while others wait. The pages of all blobs share one byte
//! budget. All pages that a batch lacks are loaded in one round. The first window of the blob, by its cost, is loaded at once, since
//! most metadata is there. Elsewhere pages are small, so that metadata between data does not bring the data along; where reads follow
//! each other, twice as many bytes are loaded each time. Requests of more than a quarter of a window are taken for data, not
//! metadata: they use cached pages but do not fill the cache.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};

use ferrocdf_bytes::{Result, ToUsize};

use crate::known_size::KnownSize;
use crate::page_folder::{Owner, PageFolder};
use crate::pages::{Budget, PROCESS, Pages, Sizes};
use crate::{Blob, Cost, ReadRequest, Suffix, Version, forward};

/// Bytes of a page: HDF5 keeps metadata in blocks of 2 KiB.
const PAGE: usize = 4 << 10;

/// Bytes between two ranges of one round that are loaded along with them: at 50 MB/s they take as long as each of 32 requests at
/// once to a server 50 ms away.
const GAP: usize = 64 << 10;

/// Windows in a request for pages. More bytes at once take longer in one request than in several side by side.
const WINDOWS: usize = 4;

/// The sizes for a blob of this cost.
fn sizes(cost: &Cost) -> Sizes {
    let window = cost.window;
    Sizes {
        page: PAGE.min(window),
        window,
        request: WINDOWS * window,
        large: window / 4,
        gap: GAP,
        at_once: cost.in_flight,
    }
}

/// A blob that is read by pages.
#[derive(Debug)]
pub struct PageCache<B> {
    inner: B,
    /// The cost of `inner`.
    cost: Cost,
    pages: Pages,
    size: KnownSize,
    /// Where pages are kept for other processes.
    folder: Option<Arc<PageFolder>>,
    /// Number of calls of `forget`. An answer to a request from before the last one may be of another version.
    forgets: AtomicU64,
}

impl<B: Blob> PageCache<B> {
    /// Reads `inner` by pages.
    pub fn new(inner: B) -> PageCache<B> {
        let sizes = sizes(&inner.cost());
        Self::with(inner, sizes, &PROCESS)
    }

    fn with(inner: B, sizes: Sizes, budget: &'static Budget) -> PageCache<B> {
        let cost = inner.cost();
        let (pages, size) = (Pages::new(sizes, budget), KnownSize::default());
        PageCache { inner, cost, pages, size, folder: None, forgets: AtomicU64::new(0) }
    }

    /// Keeps pages of objects with strong versions in a folder, and takes them from there. The first request goes to the object in any
    /// case: its answer has the version.
    #[must_use]
    pub fn keeping(self, folder: Option<Arc<PageFolder>>) -> PageCache<B> {
        PageCache { folder, ..self }
    }

    /// Reads bytes that no page in memory has. The first requests, so many, are for pages.
    fn load(&self, requests: &mut [ReadRequest<'_>], pages: usize) -> Result<()> {
        let Some(folder) = &self.folder else { return self.fetch(requests) };
        let name = self.inner.name();
        let (forgets, version) = (self.forgets.load(Acquire), self.version());
        let mut is_kept = vec![false; requests.len()];
        if let Some(version) = &version {
            for (request, is_kept) in requests[..pages].iter_mut().zip(&mut is_kept) {
                let found = folder.get(Owner { name: &name, version }, request.at, request.into);
                (request.len, *is_kept) = (found.unwrap_or_default(), found.is_some());
            }
        }
        let missing = requests.iter_mut().zip(&is_kept).filter(|(_, is_kept)| !**is_kept);
        let (mut missing, lens): (Vec<_>, Vec<_>) = missing
            .map(|(request, _)| (ReadRequest::new(request.at, &mut *request.into), &mut request.len))
            .unzip();
        if !missing.is_empty() {
            self.fetch(&mut missing)?;
        }
        missing.iter().zip(lens).for_each(|(request, len)| *len = request.len);
        // The bytes are of the version that was known before, and is known still. Those of the first answer need not be kept: it is asked
        // for in any case.
        if let Some(version) = version.as_ref().filter(|_| self.forgets.load(Acquire) == forgets) {
            let new = requests[..pages].iter().zip(&is_kept).filter(|(_, is_kept)| !**is_kept);
            for (request, _) in new {
                let owner = Owner { name: &name, version };
                folder.put(owner, request.at, request.into.len(), request.bytes());
            }
        }
        Ok(())
    }

    /// Returns the version of the blob, if an answer has told it since `forget` was called last, and it is a strong one.
    fn version(&self) -> Option<Version> {
        self.size.get()?;
        self.inner.change_token()?.strong_version().cloned()
    }

    /// Reads bytes of the blob. The size of a remote one is taken from the first answer, so no request is sent only for it.
    fn fetch(&self, missing: &mut [ReadRequest<'_>]) -> Result<()> {
        self.inner.read_many(missing)?;
        let is_answered = missing.iter().any(|request| request.len > 0);
        if is_answered && !self.cost.is_near() && self.size.get().is_none() {
            self.size.learn(|| self.inner.size(), |&size| size)?;
        }
        Ok(())
    }
}

impl<B: Blob> Blob for PageCache<B> {
    forward!([.inner] name change_token is_nameless);

    /// Loads the first page of a remote blob if its size is unknown: the page is needed anyway, and the answer has the size.
    fn size(&self) -> Result<u64> {
        if let Some(size) = self.size.get() {
            return Ok(size);
        }
        if !self.cost.is_near() {
            self.read_at(0, &mut [0])?;
        }
        self.size.learn(|| self.inner.size(), |&size| size)
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        let mut requests = [ReadRequest::new(at, into)];
        self.read_many(&mut requests)?;
        let [request] = requests;
        Ok(request.len)
    }

    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        let size = self.size.get().unwrap_or(u64::MAX);
        let within =
            |request: &mut ReadRequest<'_>| size.saturating_sub(request.at).at_most(request.into.len());
        let lens: Vec<usize> = requests.iter_mut().map(within).collect();
        let clipped = requests.iter_mut().zip(&lens);
        let mut clipped: Vec<_> =
            clipped.map(|(request, &len)| ReadRequest::new(request.at, &mut request.into[..len])).collect();
        self.pages.read(&mut clipped, |missing, pages| self.load(missing, pages))?;
        let lens: Vec<usize> = clipped.iter().map(|request| request.len).collect();
        requests.iter_mut().zip(lens).for_each(|(request, len)| request.len = len);
        Ok(())
    }

    fn read_suffix(&self, into: &mut [u8]) -> Result<Suffix> {
        let Some(size) = self.size.get() else {
            return self.size.learn(|| self.inner.read_suffix(into), |suffix| suffix.size);
        };
        let at = size.saturating_sub(into.len() as u64);
        Ok(Suffix { len: self.read_at(at, into)?, size })
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn expect_pages(&self, bytes: u64) {
        self.pages.expect(bytes);
    }

    fn forget(&self) {
        self.forgets.fetch_add(1, Release);
        self.inner.forget();
        self.size.forget();
        self.pages.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    use std::time::Duration;

    use super::*;
    use crate::testing::{Counting, Fault, Rng, Simulated, Traffic};
    use crate::{BlobMut, MemoryBlob, MemoryStore, ObjectBlob, Store};

    /// Bytes of a page here.
    const PAGE: usize = 1000;
    const COST: Cost = Cost { gap: 100, window: PAGE, in_flight: 8, ..Cost::REMOTE };
    /// No run is longer than a page.
    const SIZES: Sizes =
        Sizes { page: PAGE, window: PAGE, request: 100 * PAGE, large: 4 * PAGE, gap: 0, at_once: 100 };

    fn numbered(len: usize) -> Vec<u8> {
        (0..len).map(|at| (at % 251) as u8).collect()
    }

    /// Returns the store of an object of `len` bytes, and a cache of the object with a budget of its own.
    fn cached(
        len: usize,
        budget: usize,
        latency: Duration,
    ) -> (Arc<Simulated<MemoryStore>>, PageCache<ObjectBlob>, &'static Budget) {
        cached_by(SIZES, len, budget, latency)
    }

    fn cached_by(
        sizes: Sizes,
        len: usize,
        budget: usize,
        latency: Duration,
    ) -> (Arc<Simulated<MemoryStore>>, PageCache<ObjectBlob>, &'static Budget) {
        let store = MemoryStore::default();
        store.put("k", &numbered(len)).unwrap();
        let store = Arc::new(Simulated::new(store, COST, latency));
        let budget = Box::leak(Box::new(Budget::new(budget)));
        (store.clone(), PageCache::with(ObjectBlob::new(store, "k"), sizes, budget), budget)
    }

    fn read(blob: &impl Blob, at: u64, len: usize) -> Vec<u8> {
        let mut into = vec![0; len];
        let got = blob.read_at(at, &mut into).unwrap();
        assert!(into[..got].iter().zip(at..).all(|(&byte, at)| byte == (at % 251) as u8), "{len} at {at}");
        into.truncate(got);
        into
    }

    fn traffic(rounds: u64, requests: u64, bytes: usize) -> Traffic {
        Traffic { rounds, requests, bytes: bytes as u64 }
    }

    #[test]
    fn pages_are_read_once() {
        let (store, blob, budget) = cached(10_500, 1 << 20, Duration::ZERO);
        assert_eq!(blob.size().unwrap(), 10_500);
        assert_eq!(store.take_traffic(), traffic(1, 1, PAGE), "the size comes with the first page");
        for at in 0..10_500 {
            read(&blob, at, 3);
        }
        // One request for each page but the first; the last page has 500 bytes.
        assert_eq!(store.take_traffic(), traffic(10, 10, 9_500));
        assert_eq!(budget.bytes(), 10_500);
        for (at, len) in [(10_400, 100), (10_500, 0), (20_000, 0)] {
            assert_eq!(read(&blob, at, 200).len(), len);
        }
        assert_eq!(store.take_traffic(), traffic(0, 0, 0));
        drop(blob);
        assert_eq!(budget.bytes(), 0);
    }

    #[test]
    fn pages_in_a_folder_are_not_asked_for_again() {
        let folder = tempfile::tempdir().unwrap();
        let simulated = Arc::new(Simulated::new(MemoryStore::default(), COST, Duration::ZERO));
        simulated.put("k", &numbered(10_500)).unwrap();
        simulated.take_traffic();
        let open = || {
            let kept = Arc::new(PageFolder::open(folder.path(), 1 << 20).unwrap());
            let budget = Box::leak(Box::new(Budget::new(1 << 20)));
            PageCache::with(ObjectBlob::new(simulated.clone(), "k"), SIZES, budget).keeping(Some(kept))
        };
        let read_some = |blob: &PageCache<ObjectBlob>| {
            read(blob, 0, 10);
            // Of the last page there are 500 bytes, and data is not kept.
            [(3_500, 10), (10_400, 200), (4_000, 5_000)].map(|(at, len)| read(blob, at, len))
        };
        let first = read_some(&open());
        assert_eq!(simulated.take_traffic(), traffic(4, 4, PAGE + PAGE + 500 + 5_000));
        assert_eq!(read_some(&open()), first);
        assert_eq!(simulated.take_traffic(), traffic(2, 2, PAGE + 5_000), "the version, and the data");
        let old = open();
        read_some(&old);
        simulated.put("k", &[0; 10_500]).unwrap();
        simulated.take_traffic();
        old.forget();
        for blob in [old, open()] {
            let mut into = [1; 20];
            for at in [3_500, 0] {
                blob.read_exact_at(at, &mut into).unwrap();
                assert_eq!(into, [0; 20], "of the new version");
            }
        }
        assert_eq!(
            simulated.take_traffic(),
            traffic(3, 3, 3 * PAGE),
            "the second takes one page from the folder"
        );
    }

    #[test]
    fn any_answer_tells_the_size() {
        let (store, blob, _) = cached(10_500, 1 << 20, Duration::ZERO);
        read(&blob, 7_000, 10);
        assert_eq!(blob.size().unwrap(), 10_500);
        assert_eq!(store.take_traffic(), traffic(1, 1, PAGE));
        blob.forget();
        read(&blob, 2_000, 8_000);
        assert_eq!(blob.size().unwrap(), 10_500);
        assert_eq!(store.take_traffic(), traffic(1, 1, 8_000));
    }

    #[test]
    fn first_window_comes_at_once_and_later_reads_in_order_grow() {
        let sizes = Sizes { page: 100, window: 1600, ..SIZES };
        let (store, blob, _) = cached_by(sizes, 100_000, 1 << 20, Duration::ZERO);
        read(&blob, 8, 10);
        assert_eq!(store.take_traffic(), traffic(1, 1, 1600));
        read(&blob, 1590, 10);
        assert_eq!(store.take_traffic(), traffic(0, 0, 0));
        // Here and there: a page each.
        for at in [50_010, 40_020, 30_030] {
            read(&blob, at, 10);
            assert_eq!(store.take_traffic(), traffic(1, 1, 100));
        }
        // In order: twice the run before, up to a window.
        let mut sizes = Vec::new();
        for at in (50_010..60_000).step_by(90) {
            read(&blob, at, 10);
            sizes.extend(Some(store.take_traffic().bytes).filter(|&bytes| bytes > 0));
        }
        assert_eq!(sizes, [200, 400, 800, 1600, 1600, 1600, 1600, 1600, 1600]);
    }

    #[test]
    fn larger_gaps_are_loaded_along_where_requests_would_wait_for_others() {
        let sizes = Sizes { page: 100, window: 1000, gap: 100, at_once: 3, ..SIZES };
        let (store, blob, _) = cached_by(sizes, 100_000, 1 << 20, Duration::ZERO);
        // Gaps of 100, 300, 600, 400 and 2,000 bytes: of six requests, three are left with the three smallest gaps, and 700 bytes of
        // gaps that are not small. The gap of 600 would exceed a window.
        let mut buffers = [[0; 10]; 6];
        let positions = [10_000, 10_200, 10_600, 11_300, 11_800, 13_900];
        let mut requests: Vec<_> =
            positions.iter().zip(&mut buffers).map(|(&at, into)| ReadRequest::new(at, into)).collect();
        blob.read_many(&mut requests).unwrap();
        assert_eq!(store.take_traffic(), traffic(1, 3, 600 + 100 + 300 + 400));
    }

    #[test]
    fn pages_of_the_file_come_as_a_whole() {
        let sizes = Sizes { page: 100, window: 1600, ..SIZES };
        let (store, blob, _) = cached_by(sizes, 100_000, 1 << 20, Duration::ZERO);
        // Larger pages than a window come by windows.
        for (page, at, bytes) in [(800, 50_010, 800), (1, 40_010, 100), (3200, 60_010, 1600)] {
            blob.expect_pages(page);
            read(&blob, at, 10);
            assert_eq!(store.take_traffic(), traffic(1, 1, bytes));
            read(&blob, at - at % bytes as u64, bytes);
            assert_eq!(store.take_traffic(), traffic(0, 0, 0));
        }
    }

    #[test]
    fn small_gaps_of_a_round_are_loaded_along() {
        let (store, blob, _) = cached_by(Sizes { gap: 2 * PAGE, ..SIZES }, 100_000, 1 << 20, Duration::ZERO);
        read(&blob, 31_500, 10);
        store.take_traffic();
        // Two pages lie between the first two, three between the next ones, and one that is cached between the last ones.
        let positions = [10_000, 13_000, 17_000, 30_000, 32_000];
        let mut buffers = [[0; 20]; 5];
        let mut requests: Vec<_> =
            positions.iter().zip(&mut buffers).map(|(&at, into)| ReadRequest::new(at, into)).collect();
        blob.read_many(&mut requests).unwrap();
        for request in &requests {
            assert_eq!(request.bytes(), read(&blob, request.at, 20));
        }
        assert_eq!(store.take_traffic(), traffic(1, 4, 7 * PAGE));
        read(&blob, 11_000, 2_000);
        assert_eq!(store.take_traffic(), traffic(0, 0, 0));
    }

    #[test]
    fn many_adjacent_pages_come_in_requests_of_a_maximum() {
        let sizes = Sizes { request: 4 * PAGE, ..SIZES };
        let (store, blob, _) = cached_by(sizes, 100_000, 1 << 20, Duration::ZERO);
        let mut buffers = [[0; 10]; 10];
        let mut requests: Vec<_> =
            (20..).zip(&mut buffers).map(|(page, into)| ReadRequest::new(page * PAGE as u64, into)).collect();
        blob.read_many(&mut requests).unwrap();
        assert_eq!(store.take_traffic(), traffic(1, 3, 10 * PAGE));
    }

    #[test]
    fn batch_is_one_round_with_adjacent_pages_merged() {
        let (store, blob, _) = cached(100_000, 1 << 20, Duration::ZERO);
        read(&blob, 5_000, 10);
        store.take_traffic();
        // One request for pages 2 to 4, one for page 6, one for page 30; page 5 is cached.
        let positions = [4_100, 2_100, 3_999, 30_500, 5_990, 2_000];
        let mut buffers = [[0; 20]; 6];
        let mut requests: Vec<_> =
            positions.iter().zip(&mut buffers).map(|(&at, into)| ReadRequest::new(at, into)).collect();
        blob.read_many(&mut requests).unwrap();
        for request in &requests {
            assert_eq!(request.bytes(), read(&blob, request.at, 20));
        }
        assert_eq!(store.take_traffic(), traffic(1, 3, 5 * PAGE));
    }

    #[test]
    fn batch_of_more_pages_than_the_budget_holds_takes_several_rounds() {
        let (store, blob, budget) = cached(100_000, 20 * PAGE, Duration::ZERO);
        blob.size().unwrap();
        store.take_traffic();
        let mut buffers = vec![[0; 10]; 99];
        let mut requests: Vec<_> = (1..)
            .zip(&mut buffers)
            .map(|(page, into)| ReadRequest::new(page * PAGE as u64 + 7, into))
            .collect();
        blob.read_many(&mut requests).unwrap();
        for request in &requests {
            let wanted: Vec<u8> = (request.at..).take(10).map(|at| (at % 251) as u8).collect();
            assert_eq!(request.bytes(), wanted);
        }
        // A round loads ten adjacent pages, half of the budget.
        assert_eq!(store.take_traffic(), traffic(10, 10, 99 * PAGE));
        assert!(budget.bytes() <= 20 * PAGE);
    }

    #[test]
    fn large_request_uses_pages_and_fills_none() {
        let (store, blob, budget) = cached(100_000, 1 << 20, Duration::ZERO);
        read(&blob, 12_000, 10);
        read(&blob, 15_500, 10);
        store.take_traffic();
        assert_eq!(read(&blob, 10_300, 5_500).len(), 5_500);
        // One request before the first cached page, one between the two; the second page has the end of the range.
        assert_eq!(store.take_traffic(), traffic(1, 2, 5_500 - 1_000 - 800));
        assert_eq!(budget.bytes(), 2 * PAGE);
        assert_eq!(read(&blob, 95_000, 9_000).len(), 5_000);
        assert_eq!(budget.bytes(), 2 * PAGE);
    }

    #[test]
    fn one_thread_loads_a_page_and_others_wait() {
        let (store, blob, _) = cached(100_000, 1 << 20, Duration::from_millis(30));
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let blob = &blob;
                scope.spawn(move || assert_eq!(read(blob, 40_000 + thread * 100, 50).len(), 50));
            }
        });
        assert_eq!(store.take_traffic(), traffic(1, 1, PAGE));
    }

    #[test]
    fn failed_load_is_an_error_of_its_request_and_is_tried_again() {
        let (store, blob, _) = cached(100_000, 1 << 20, Duration::ZERO);
        store.fail(0, Fault::Refused);
        assert!(blob.read_at(0, &mut [0; 10]).is_err());
        assert_eq!(read(&blob, 0, 10).len(), 10);
    }

    #[test]
    fn budget_bounds_the_pages_of_all_blobs_and_keeps_the_last_used() {
        let (_, first, budget) = cached(100_000, 20 * PAGE, Duration::ZERO);
        let store = Arc::new(Simulated::new(MemoryStore::default(), COST, Duration::ZERO));
        store.put("k", &numbered(100_000)).unwrap();
        let second = PageCache::with(ObjectBlob::new(store.clone(), "k"), SIZES, budget);
        for page in 0..100 {
            read(&first, page * PAGE as u64, 1);
            assert!(budget.bytes() <= 20 * PAGE);
        }
        read(&second, 0, 1);
        for page in 1..100 {
            read(&second, page * PAGE as u64, 1);
            store.take_traffic();
            read(&second, 0, 1);
            assert_eq!(store.take_traffic().requests, 0, "the page is used all the time");
            assert!(budget.bytes() <= 20 * PAGE);
        }
        read(&second, PAGE as u64, 1);
        assert_eq!(store.take_traffic().requests, 1, "the page was not used for long");
    }

    #[test]
    fn forgotten_pages_are_read_again() {
        let inner = Arc::new(Counting::new(MemoryBlob::new(numbered(5_000))).with_cost(COST));
        let blob = PageCache::new(inner.clone());
        read(&blob, 0, 10);
        inner.write_at(5, &[255]).unwrap();
        inner.set_size(8).unwrap();
        assert_eq!((read(&blob, 0, 10).len(), inner.reads().0), (10, 1));
        blob.forget();
        let mut into = [0; 10];
        assert_eq!(blob.read_at(0, &mut into).unwrap(), 8);
        assert_eq!((into[5], blob.size().unwrap()), (255, 8));
    }

    #[test]
    fn suffix_tells_the_size_and_needs_no_request_where_that_is_known() {
        let (store, blob, _) = cached(10_500, 1 << 20, Duration::ZERO);
        let mut into = [0; 100];
        let wanted = Suffix { len: 100, size: 10_500 };
        assert_eq!(blob.read_suffix(&mut into).unwrap(), wanted);
        assert_eq!(blob.size().unwrap(), 10_500);
        assert_eq!(store.take_traffic(), traffic(1, 1, 100));
        read(&blob, 10_000, 10);
        store.take_traffic();
        assert_eq!(blob.read_suffix(&mut into).unwrap(), wanted);
        assert_eq!(into[..], numbered(10_500)[10_400..]);
        assert_eq!(store.take_traffic(), traffic(0, 0, 0));
    }

    #[test]
    fn many_threads_read_the_right_bytes_within_a_small_budget() {
        let (_, blob, budget) = cached(100_000, 10 * PAGE, Duration::ZERO);
        let reads = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for seed in 0..4 {
                let (blob, reads) = (&blob, &reads);
                scope.spawn(move || {
                    let mut rng = Rng::new(seed);
                    for _ in 0..2_000 {
                        let (at, len) = (rng.below(101_000), rng.index(6 * PAGE));
                        let wanted = 100_000u64.saturating_sub(at).min(len as u64);
                        assert_eq!(read(blob, at, len).len() as u64, wanted);
                        reads.fetch_add(1, Relaxed);
                        if rng.once_in(100) {
                            blob.forget();
                        }
                    }
                });
            }
        });
        assert_eq!(reads.into_inner(), 8_000);
        assert!(budget.bytes() <= 10 * PAGE);
    }

    #[test]
    fn every_method_is_passed_on() {
        // Once a read has shown the size, a suffix is read through the pages, whose size is a matter of the cache.
        crate::suite::forwards_reads(PageCache::new, &["read_at", "read_suffix", "expect_pages"]);
    }
}
