//! A blob that records all changes, so that a test can try every state in which a crash may leave the bytes.
//!
//! Between two barriers nothing is promised about the order in which writes reach the disk: any of them may be lost, and
//! one may be torn. [`Log::cuts`] tries all prefixes, and of what lies behind the last barrier each write alone, each
//! write lost, and random ones.

use std::sync::{Mutex, PoisonError};

use ferrocdf_bytes::{Result, ToUsize};

use super::Rng;
use crate::{Blob, BlobMut, Writes, forward};

/// A change of a blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Bytes were written at a position.
    Write(u64, Vec<u8>),
    /// The size was set.
    Size(u64),
    /// All bytes were replaced at one instant, by bytes that are on the disk. Up to the next barrier the disk may have the old
    /// ones under the name.
    Replace(Vec<u8>),
    /// A barrier: all changes before it survive a crash.
    Barrier,
    /// A mark of the caller; see [`Recording::mark`].
    Mark,
}

/// A blob that records all changes.
#[derive(Debug)]
pub struct Recording<B> {
    inner: B,
    events: Mutex<Vec<Event>>,
}

/// The recorded changes, and the bytes before them.
#[derive(Clone, Debug)]
pub struct Log {
    /// The bytes at the start.
    pub start: Vec<u8>,
    /// The changes, in order.
    pub events: Vec<Event>,
    /// Bytes that the disk writes whole or not at all, at multiples of as many: a write within them is not torn.
    pub sector: u64,
}

impl<B> Recording<B> {
    /// Records the changes of a blob.
    pub fn new(inner: B) -> Self {
        Recording { inner, events: Mutex::default() }
    }

    fn note(&self, event: Event) {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    }

    /// Records a mark: the caller promises something about the bytes from here on.
    pub fn mark(&self) {
        self.note(Event::Mark);
    }

    /// Returns the changes so far.
    pub fn events(&self) -> Vec<Event> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl<B: Blob> Blob for Recording<B> {
    forward!([.inner] size read_at read_many read_suffix name forget expect_pages change_token cost is_nameless);
}

impl<B: BlobMut> BlobMut for Recording<B> {
    forward!([.inner] keeps_holes);

    fn write_at(&self, at: u64, from: &[u8]) -> Result<()> {
        self.note(Event::Write(at, from.to_vec()));
        self.inner.write_at(at, from)
    }

    fn set_size(&self, size: u64) -> Result<()> {
        self.note(Event::Size(size));
        self.inner.set_size(size)
    }

    fn flush(&self) -> Result<()> {
        self.note(Event::Barrier);
        self.inner.flush()
    }

    fn sync(&self) -> Result<()> {
        self.note(Event::Barrier);
        self.inner.sync()
    }

    fn replace(&self, write: &mut Writes<'_>) -> Result<bool> {
        let done = self.inner.replace(write)?;
        if done {
            let mut bytes = vec![0; self.inner.size()?.to_usize("bytes")?];
            self.inner.read_exact_at(0, &mut bytes)?;
            self.note(Event::Replace(bytes));
        }
        Ok(done)
    }
}

/// Does an event to bytes; of a write only the first `keep` bytes.
fn apply(bytes: &mut Vec<u8>, event: &Event, keep: usize) {
    match event {
        Event::Write(at, from) => {
            let from = &from[..keep.min(from.len())];
            let end = at.saturate() + from.len();
            if bytes.len() < end {
                bytes.resize(end, 0);
            }
            bytes[at.saturate()..end].copy_from_slice(from);
        }
        Event::Size(size) => bytes.resize(size.saturate(), 0),
        Event::Replace(all) => bytes.clone_from(all),
        Event::Barrier | Event::Mark => {}
    }
}

impl Log {
    /// Calls `visit` with the bytes that may be left if all stopped at some moment, with the number of marks that were
    /// passed before, and with the number of events that led there.
    pub fn cuts(&self, rng: &mut Rng, visit: &mut dyn FnMut(&[u8], usize, usize)) {
        // The bytes at the last barrier or replacement, and the changes since.
        let mut safe = self.start.clone();
        let mut since: Vec<&Event> = Vec::new();
        // The bytes at the last barrier, if all of them were replaced since.
        let mut replaced: Option<Vec<u8>> = None;
        let mut marks = 0;
        visit(&safe, 0, 0);
        for (number, event) in self.events.iter().enumerate() {
            match event {
                Event::Barrier => {
                    since.drain(..).for_each(|event| apply(&mut safe, event, usize::MAX));
                    replaced = None;
                    continue;
                }
                Event::Mark => marks += 1,
                // The new bytes are on disk before the rename. Lost writes to the old bytes do not matter any more.
                Event::Replace(bytes) => {
                    let old = std::mem::replace(&mut safe, bytes.clone());
                    replaced.get_or_insert(old);
                    since.clear();
                    visit(&safe, marks, number + 1);
                }
                Event::Write(..) | Event::Size(_) => since.push(event),
            }
            if let Some(old) = &replaced {
                visit(old, marks, number + 1);
            }
            if matches!(event, Event::Mark | Event::Replace(_)) {
                continue;
            }
            let last = since.len() - 1;
            let mut one = |keeps: &dyn Fn(usize) -> usize| {
                let mut bytes = safe.clone();
                since.iter().enumerate().for_each(|(index, event)| match keeps(index) {
                    0 if matches!(event, Event::Size(_)) => {}
                    keep => apply(&mut bytes, event, keep),
                });
                visit(&bytes, marks, number + 1);
            };
            one(&|_| usize::MAX);
            if let Event::Write(at, from) = event {
                let len = from.len();
                let is_torn = at / self.sector != (at + len as u64).saturating_sub(1) / self.sector;
                for cut in [1, len / 2, len.saturating_sub(1), rng.index(len + 1)] {
                    if is_torn {
                        one(&|index| if index == last { cut } else { usize::MAX });
                    }
                }
            }
            if last > 0 {
                one(&|index| if index == last { usize::MAX } else { 0 });
                let lost = rng.index(last + 1);
                one(&|index| if index == lost { 0 } else { usize::MAX });
                for _ in 0..2 {
                    let kept: Vec<bool> = (0..=last).map(|_| rng.once_in(2)).collect();
                    one(&|index| if kept[index] { usize::MAX } else { 0 });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryBlob;

    #[test]
    fn passes_the_suite() {
        crate::suite::blob(|_| Recording::new(MemoryBlob::default()));
    }

    #[test]
    fn replaced_bytes_may_come_back_until_the_next_barrier() {
        let blob = Recording::new(MemoryBlob::new(b"old".to_vec()));
        assert!(blob.replace(&mut |new| new.write_at(0, b"new")).unwrap());
        blob.mark();
        blob.write_at(3, b"!").unwrap();
        blob.sync().unwrap();
        blob.write_at(3, b"?").unwrap();
        let log = Log { start: b"old".to_vec(), events: blob.events(), sector: 64 };
        let mut seen = std::collections::BTreeSet::new();
        log.cuts(&mut Rng::new(1), &mut |bytes, marks, events| {
            seen.insert((events, String::from_utf8_lossy(bytes).into_owned(), marks));
        });
        let seen: Vec<_> =
            seen.iter().map(|(events, text, marks)| (*events, text.as_str(), *marks)).collect();
        let until_barrier =
            [(0, "old", 0), (1, "new", 0), (1, "old", 0), (2, "old", 1), (3, "new!", 1), (3, "old", 1)];
        assert_eq!(seen, [&until_barrier[..], &[(5, "new?", 1)]].concat());
    }

    #[test]
    fn writes_are_lost_only_behind_the_last_barrier() {
        let blob = Recording::new(MemoryBlob::default());
        blob.write_at(0, b"ab").unwrap();
        blob.sync().unwrap();
        blob.mark();
        blob.write_at(2, b"c").unwrap();
        blob.write_at(0, b"x").unwrap();
        let log = Log { start: Vec::new(), events: blob.events(), sector: 64 };
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..20 {
            log.cuts(&mut Rng::new(seed), &mut |bytes, marks, _| {
                seen.insert((String::from_utf8_lossy(bytes).into_owned(), marks));
            });
        }
        let seen: Vec<_> = seen.iter().map(|(text, marks)| (text.as_str(), *marks)).collect();
        assert_eq!(seen, [("", 0), ("ab", 0), ("ab", 1), ("abc", 1), ("xb", 1), ("xbc", 1)]);
    }

    #[test]
    fn every_method_is_passed_on() {
        crate::suite::forwards_reads(Recording::new, &[]);
        crate::suite::forwards_writes(Recording::new, &[]);
    }
}
