//! Pages of a blob in memory, shared by all threads.
//!
//! Pages are kept and evicted in runs: the bytes of one request. The decision that shaped it: runs do not overlap. One thread
//! loads a gap while others wait, so no byte is read twice while its run is kept. No lock is held during a request; all pages
//! that a batch lacks are loaded in one round.

mod budget;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use ferrocdf_bytes::{Result, ToUsize};

use crate::ReadRequest;
pub(crate) use budget::{Budget, PROCESS};

/// Consecutive bytes of a blob.
#[derive(Clone, Debug)]
pub(crate) struct PageRun {
    /// Position of the first byte.
    at: u64,
    bytes: Vec<u8>,
}

impl PageRun {
    /// Returns the position behind the last byte.
    pub(crate) fn end(&self) -> u64 {
        self.at + self.bytes.len() as u64
    }

    /// Returns the bytes from a position on.
    fn from(&self, at: u64) -> Option<&[u8]> {
        self.bytes.get(usize::try_from(at.checked_sub(self.at)?).ok()?..)
    }
}

/// The sizes by which pages are loaded, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// Size of a page. Loads begin and end at multiples of it, or at the borders of other runs.
    pub(crate) page: usize,
    /// Bytes at the begin of the blob that are loaded together, and maximum bytes of a run.
    pub(crate) window: usize,
    /// Maximum bytes of a request to the blob for pages.
    pub(crate) request: usize,
    /// Requests of more bytes are for data, not metadata: pages are used for them, and not filled by them.
    pub(crate) large: usize,
    /// Bytes between two ranges of one round that are loaded along with them.
    pub(crate) gap: usize,
    /// Requests to the blob that go at once. Where a round has more, larger gaps are loaded along too, a window of bytes together.
    pub(crate) at_once: usize,
}

/// The pages of one blob.
#[derive(Debug)]
pub(crate) struct Pages {
    sizes: Sizes,
    /// Bytes of a page: those of `sizes`, or more where the file has pages of its own.
    page: AtomicU64,
    shared: Arc<Shared>,
}

/// The part of [`Pages`] that the budget refers to, to evict runs.
#[derive(Debug)]
pub(crate) struct Shared {
    budget: &'static Budget,
    state: Mutex<PageState>,
    /// Notified when loads end.
    loaded: Condvar,
}

#[derive(Debug, Default)]
struct PageState {
    /// Loaded runs, and ranges that are being loaded, by position; none overlaps another.
    slots: BTreeMap<u64, Slot>,
    /// Number of loads that began.
    loads: u64,
}

#[derive(Debug)]
enum Slot {
    /// A run, and the time of its last use.
    Ready(Arc<PageRun>, u64),
    /// A range up to `end` that the load with this number is loading.
    Loading { end: u64, load: u64 },
}

impl Slot {
    fn end(&self) -> u64 {
        match self {
            Slot::Ready(run, _) => run.end(),
            Slot::Loading { end, .. } => *end,
        }
    }

    /// Returns the number of bytes that the slot has in memory.
    fn len(&self) -> usize {
        match self {
            Slot::Ready(run, _) => run.bytes.len(),
            Slot::Loading { .. } => 0,
        }
    }
}

impl PageState {
    /// Returns the slots that overlap a range, in order.
    fn overlapping(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, &Slot)> {
        let before = self.slots.range(..start).next_back().filter(|(_, slot)| slot.end() > start);
        before.into_iter().chain(self.slots.range(start..end.max(start))).map(|(&at, slot)| (at, slot))
    }

    /// Returns the parts of a range in which no slot is.
    fn gaps(&self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let (mut next, mut gaps) = (start, Vec::new());
        for (at, slot) in self.overlapping(start, end) {
            if next < at {
                gaps.push((next, at));
            }
            next = slot.end();
        }
        if next < end {
            gaps.push((next, end));
        }
        gaps
    }

    /// Returns the run that has all bytes of a range, and records its use.
    fn find(&mut self, at: u64, len: usize, budget: &Budget) -> Option<&Arc<PageRun>> {
        match self.slots.range_mut(..=at).next_back()?.1 {
            Slot::Ready(run, used) if at.saturating_add(len as u64) <= run.end() => {
                *used = budget.now();
                Some(run)
            }
            _ => None,
        }
    }

    /// Copies a range from cached runs, else from `own`. False if a byte is in neither.
    fn copy(&mut self, mut at: u64, mut into: &mut [u8], own: &[Arc<PageRun>], budget: &Budget) -> bool {
        while !into.is_empty() {
            let run = match self.find(at, 1, budget) {
                Some(run) => run,
                None => match own.iter().find(|run| run.from(at).is_some_and(|bytes| !bytes.is_empty())) {
                    Some(run) => run,
                    None => return false,
                },
            };
            let from = run.from(at).unwrap_or_default();
            let len = from.len().min(into.len());
            into[..len].copy_from_slice(&from[..len]);
            (at, into) = (at + len as u64, &mut into[len..]);
        }
        true
    }

    /// True if the load with this number is still loading the range that begins at `at`.
    fn is_loading(&self, at: u64, number: u64) -> bool {
        matches!(self.slots.get(&at), Some(Slot::Loading { load, .. }) if *load == number)
    }
}

impl Shared {
    // No code panics in the middle of a change of the state, so a poisoned lock guards a valid one.
    fn lock(&self) -> MutexGuard<'_, PageState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the time of the last use of each run, and its bytes.
    fn uses(&self) -> Vec<(u64, usize)> {
        let state = self.lock();
        let uses = state.slots.values().filter_map(|slot| match slot {
            Slot::Ready(run, used) => Some((*used, run.bytes.len())),
            Slot::Loading { .. } => None,
        });
        uses.collect()
    }

    /// Evicts the runs that were not used after `last`.
    fn evict_to(&self, last: u64) {
        let mut freed = 0;
        self.lock().slots.retain(|_, slot| {
            let is_old = matches!(slot, Slot::Ready(_, used) if *used <= last);
            freed += if is_old { slot.len() } else { 0 };
            !is_old
        });
        self.budget.release(freed);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.budget.release(state.slots.values().map(Slot::len).sum());
    }
}

/// Ranges that this thread has to load. Dropping the value removes the slots of ranges that were not loaded, so that other
/// threads load them.
struct Load<'a> {
    shared: &'a Shared,
    number: u64,
    ranges: Vec<(u64, u64)>,
}

impl Load<'_> {
    /// Inserts the loaded runs in place of the ranges, unless the pages were cleared meanwhile.
    fn finish(self, runs: &[Arc<PageRun>]) {
        let mut state = self.shared.lock();
        if !self.ranges.iter().all(|&(at, _)| state.is_loading(at, self.number)) {
            return;
        }
        self.ranges.iter().for_each(|(at, _)| drop(state.slots.remove(at)));
        for run in runs {
            self.shared.budget.add(run.bytes.len());
            state.slots.insert(run.at, Slot::Ready(run.clone(), self.shared.budget.now()));
        }
    }
}

impl Drop for Load<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        for &(at, _) in &self.ranges {
            if state.is_loading(at, self.number) {
                state.slots.remove(&at);
            }
        }
        self.shared.loaded.notify_all();
    }
}

impl Pages {
    /// Makes an empty set of pages.
    pub(crate) fn new(sizes: Sizes, budget: &'static Budget) -> Pages {
        let shared = Arc::new(Shared { budget, state: Mutex::default(), loaded: Condvar::new() });
        budget.register(Arc::downgrade(&shared));
        let page = AtomicU64::new(sizes.page.max(1) as u64);
        Pages { sizes: Sizes { window: sizes.window.max(1), ..sizes }, page, shared }
    }

    /// Loads pages of so many bytes from now on, within the limits of the sizes.
    pub(crate) fn expect(&self, bytes: u64) {
        let page = bytes.clamp(self.sizes.page.max(1) as u64, self.sizes.window as u64);
        self.page.store(page, Relaxed);
    }

    /// Drops all pages. Pages that are being loaded will not be kept.
    pub(crate) fn clear(&self) {
        let slots = std::mem::take(&mut self.shared.lock().slots);
        self.shared.budget.release(slots.values().map(Slot::len).sum());
        // Wakes threads that wait for a load whose slot is gone.
        self.shared.loaded.notify_all();
    }

    /// Answers requests from the pages, and loads all pages that they lack in one call of `load`, which reads from the blob; in
    /// several calls if half of the budget does not hold these pages.
    /// Large requests are read into their own buffers as far as no page has their bytes, in the same call. `load` is also told how many of
    /// its requests, the first ones, are for pages.
    ///
    /// # Errors
    /// Those of `load`.
    pub(crate) fn read(
        &self,
        requests: &mut [ReadRequest<'_>],
        load: impl Fn(&mut [ReadRequest<'_>], usize) -> Result<()>,
    ) -> Result<()> {
        let (mut small, mut direct): (Vec<_>, Vec<_>) =
            requests.iter_mut().partition(|request| request.into.len() <= self.sizes.large);
        // `own`: the runs that this thread loaded last, since others may be evicted before they are used. `end`: the end of the
        // blob, once a load reached it.
        let (mut own, mut end) = (Vec::new(), u64::MAX);
        loop {
            let begun = self.begin(&mut small, &own, end);
            if !begun.ranges.is_empty() || !direct.is_empty() {
                let (runs, last) = self.load(&begun.ranges, &mut direct, &load)?;
                begun.finish(&runs);
                own = runs;
                end = end.min(last);
                direct.clear();
                self.shared.budget.trim();
            } else if small.is_empty() {
                return Ok(());
            } else {
                drop(begun);
                self.wait(&small);
            }
        }
    }

    /// Answers the requests that the pages or the `own` runs of this thread can answer, in a blob that has no byte from `end` on,
    /// and takes them off the list. Returns the ranges to load for the others, or for as many as half of the budget holds.
    fn begin(&self, requests: &mut Vec<&mut ReadRequest<'_>>, own: &[Arc<PageRun>], end: u64) -> Load<'_> {
        let mut state = self.shared.lock();
        requests.retain_mut(|request| {
            request.len = end.saturating_sub(request.at).at_most(request.into.len());
            !state.copy(request.at, &mut request.into[..request.len], own, self.shared.budget)
        });
        state.loads += 1;
        let (load, mut ranges) = (state.loads, Vec::new());
        let mut left = self.shared.budget.one_load();
        for request in requests {
            if left == 0 {
                break;
            }
            let (start, end) = (request.at, request.at.saturating_add(request.len as u64));
            let (from, to) = self.wanted(&state, start, end);
            // Page rounding may add gaps outside the request; these are not loaded.
            for (from, to) in state.gaps(from, to).into_iter().filter(|&(from, to)| from < end && to > start)
            {
                state.slots.insert(from, Slot::Loading { end: to, load });
                ranges.push((from, to));
                left = left.saturating_sub(to - from);
            }
        }
        ranges.sort_unstable();
        let holes = ranges.windows(2).map(|pair| (pair[0].1, pair[1].0)).filter(|(from, to)| from < to);
        let mut holes: Vec<_> =
            holes.filter(|&(from, to)| state.overlapping(from, to).next().is_none()).collect();
        holes.sort_unstable_by_key(|(from, to)| to - from);
        let (mut requests, mut spent) = (holes.len() + 1, 0);
        for (from, to) in holes {
            // Small holes cost less than requests. Larger ones are worth it while there are more requests than go at once.
            let is_small = to - from <= self.sizes.gap as u64;
            spent += if is_small { 0 } else { to - from };
            if left == 0 || !(is_small || requests > self.sizes.at_once && spent <= self.sizes.window as u64)
            {
                break;
            }
            state.slots.insert(from, Slot::Loading { end: to, load });
            ranges.push((from, to));
            left = left.saturating_sub(to - from);
            requests -= 1;
        }
        ranges.sort_unstable();
        Load { shared: &self.shared, number: load, ranges }
    }

    /// Returns the range to load for the bytes from `start` to `end`: whole pages; the first window of the blob as a whole; twice the
    /// run before it where the bytes follow a run that is loaded, up to a window, since the next ones will probably follow too.
    fn wanted(&self, state: &PageState, start: u64, end: u64) -> (u64, u64) {
        let (page, window) = (self.page.load(Relaxed), self.sizes.window as u64);
        let from = if start < window { 0 } else { start - start % page };
        let to = end.checked_next_multiple_of(page).unwrap_or(end);
        let Some(&(gap, _)) = state.gaps(from, to).first() else { return (from, to) };
        let before = state.slots.range(..gap).next_back().filter(|(_, slot)| slot.end() == gap);
        let ahead = match before {
            None if gap == 0 => window,
            Some((_, Slot::Ready(run, _))) => window.min(2 * run.bytes.len() as u64),
            _ => 0,
        };
        (from, to.max(gap.saturating_add(ahead)))
    }

    /// Loads ranges, adjacent ones in one request up to its maximum, and answers large requests, in one call of `load`. Returns the runs, and the
    /// position from which on the blob has no byte, if a request reached it.
    fn load(
        &self,
        ranges: &[(u64, u64)],
        direct: &mut [&mut ReadRequest<'_>],
        load: impl Fn(&mut [ReadRequest<'_>], usize) -> Result<()>,
    ) -> Result<(Vec<Arc<PageRun>>, u64)> {
        let mut merged: Vec<(u64, Vec<u8>)> = Vec::new();
        for &(from, to) in ranges {
            match merged.last_mut() {
                Some((at, bytes))
                    if *at + bytes.len() as u64 == from && to - *at <= self.sizes.request as u64 =>
                {
                    bytes.resize((to - *at).saturate(), 0);
                }
                _ => merged.push((from, vec![0; (to - from).saturate()])),
            }
        }
        let mut requests: Vec<_> =
            merged.iter_mut().map(|(at, bytes)| ReadRequest::new(*at, bytes)).collect();
        let pages = requests.len();
        for request in direct.iter_mut() {
            let kept = self.overlapping_runs(request.at, request.into.len());
            requests.extend(missing(request, &kept));
        }
        load(&mut requests, pages)?;
        let is_short = |request: &&ReadRequest<'_>| request.len < request.into.len();
        let ends = requests.iter().filter(is_short).map(|request| request.at + request.len as u64);
        let end = ends.min().unwrap_or(u64::MAX);
        for request in direct {
            request.len = end.saturating_sub(request.at).at_most(request.into.len());
        }
        let mut runs = Vec::new();
        for (at, mut bytes) in merged {
            bytes.truncate(end.saturating_sub(at).saturate());
            if bytes.len() <= self.sizes.window {
                runs.extend((!bytes.is_empty()).then(|| Arc::new(PageRun { at, bytes })));
                continue;
            }
            for (number, piece) in bytes.chunks(self.sizes.window).enumerate() {
                let at = at + (number * self.sizes.window) as u64;
                runs.push(Arc::new(PageRun { at, bytes: piece.to_vec() }));
            }
        }
        Ok((runs, end))
    }

    /// Returns the loaded runs that overlap a range.
    fn overlapping_runs(&self, at: u64, len: usize) -> Vec<Arc<PageRun>> {
        let state = self.shared.lock();
        let slots = state.overlapping(at, at.saturating_add(len as u64));
        let runs = slots.filter_map(|(_, slot)| match slot {
            Slot::Ready(run, _) => Some(run.clone()),
            Slot::Loading { .. } => None,
        });
        runs.collect()
    }

    /// Waits until no other thread is loading bytes of the requests.
    fn wait(&self, requests: &[&mut ReadRequest<'_>]) {
        let is_loading = |state: &mut PageState| {
            requests.iter().any(|request| {
                let mut slots = state.overlapping(request.at, request.at.saturating_add(request.len as u64));
                slots.any(|(_, slot)| matches!(slot, Slot::Loading { .. }))
            })
        };
        let state = self.shared.loaded.wait_while(self.shared.lock(), is_loading);
        drop(state.unwrap_or_else(PoisonError::into_inner));
    }
}

/// Copies the bytes that runs have to the buffer of a request. Returns requests for the others.
fn missing<'a>(request: &'a mut ReadRequest<'_>, kept: &[Arc<PageRun>]) -> Vec<ReadRequest<'a>> {
    let (mut at, mut rest, mut missing) = (request.at, &mut *request.into, Vec::new());
    for run in kept {
        let (before, behind) = rest.split_at_mut(run.at.saturating_sub(at).saturate());
        if !before.is_empty() {
            missing.push(ReadRequest::new(at, before));
        }
        at = at.max(run.at);
        let from = run.from(at).unwrap_or_default();
        let (into, behind) = behind.split_at_mut(from.len().min(behind.len()));
        into.copy_from_slice(&from[..into.len()]);
        (at, rest) = (at + into.len() as u64, behind);
    }
    if !rest.is_empty() {
        missing.push(ReadRequest::new(at, rest));
    }
    missing
}
