//! Decoders that are kept between reads, within one budget for all elements of a file.
//!
//! A decoder waits where a read ended, and copies of decoders are checkpoints, from which a decoder goes on if a read wants bytes before the
//! position of any that waits.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::cursor::Cursor;

/// Bytes of the decoders that a file keeps, with the encoded bytes that they have read. The one that was not used for longest goes first.
const BUDGET: usize = 24 << 20;

/// Decoded bytes from one checkpoint to the next, at first. Twice as many each time that there are too many checkpoints.
const SPACING: u64 = 8 << 20;

/// Maximum number of checkpoints of an element.
const CHECKPOINTS: usize = 32;

/// Maximum number of decoders of an element that wait for the next read: one for each plane of numbers of 8 bytes, and for some readers
/// more.
const WAITING: usize = 12;

/// The decoders that a file keeps.
#[derive(Default)]
pub struct Decoders(Mutex<Pool>);

#[derive(Default)]
struct Pool {
    /// By the number of the element.
    elements: HashMap<u64, OfElement>,
    /// The sum of [`KeptDecoder::bytes`].
    bytes: usize,
    /// Number of uses so far.
    clock: u64,
}

/// The decoders of an element.
#[derive(Default)]
struct OfElement {
    /// Decoders at the positions where reads ended, the one of the last read last.
    waiting: Vec<KeptDecoder>,
    /// Copies of decoders, in the order of their positions, which are multiples of the spacing.
    checkpoints: Vec<KeptDecoder>,
    /// [`SPACING`] was doubled so often.
    doubled: u32,
}

struct KeptDecoder {
    cursor: Cursor,
    bytes: usize,
    /// The time of the last use.
    used: u64,
}

impl OfElement {
    fn spacing(&self) -> u64 {
        SPACING.checked_shl(self.doubled).unwrap_or(u64::MAX)
    }

    fn lists(&mut self) -> [&mut Vec<KeptDecoder>; 2] {
        [&mut self.waiting, &mut self.checkpoints]
    }
}

impl Decoders {
    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the decoder that is next before a position: one that waits, or a copy of a checkpoint. `None` if only the beginning of the
    /// element is before the position, or if `can_seek` and no decoder waits there.
    pub fn take(&self, element: u64, position: u64, can_seek: bool) -> Option<Cursor> {
        let mut pool = self.pool();
        let now = pool.tick();
        let of_element = pool.elements.get_mut(&element)?;
        let before = |kept: &&mut KeptDecoder| kept.cursor.position <= position;
        let checkpoint = of_element.checkpoints.iter_mut().rfind(before);
        let reached = checkpoint.as_ref().map_or(0, |kept| kept.cursor.position);
        let least = if can_seek { position } else { reached };
        let waiting = of_element.waiting.iter().enumerate();
        let next = waiting
            .filter(|(_, kept)| (least..=position).contains(&kept.cursor.position))
            .max_by_key(|(_, kept)| kept.cursor.position);
        match (next.map(|(number, _)| number), checkpoint) {
            (Some(number), _) => {
                let kept = of_element.waiting.remove(number);
                pool.bytes = pool.bytes.saturating_sub(kept.bytes);
                Some(kept.cursor)
            }
            (None, Some(checkpoint)) if !can_seek => {
                checkpoint.used = now;
                Some(checkpoint.cursor.fork())
            }
            _ => None,
        }
    }

    /// Lets a decoder wait for the next read.
    pub fn put(&self, element: u64, cursor: Cursor) {
        let mut pool = self.pool();
        let kept = pool.keep(cursor);
        let waiting = &mut pool.elements.entry(element).or_default().waiting;
        waiting.push(kept);
        if waiting.len() > WAITING {
            let first = waiting.remove(0);
            pool.bytes = pool.bytes.saturating_sub(first.bytes);
        }
        pool.shrink();
    }

    /// Makes a checkpoint, if one is due at the position of a decoder.
    pub fn check(&self, element: u64, cursor: &Cursor) {
        let mut pool = self.pool();
        let of_element = pool.elements.entry(element).or_default();
        let last = of_element.checkpoints.last().map_or(0, |last| last.cursor.position);
        let is_due = |spacing: u64| cursor.position.is_multiple_of(spacing);
        if cursor.position <= last || !is_due(of_element.spacing()) {
            return;
        }
        if of_element.checkpoints.len() >= CHECKPOINTS {
            of_element.doubled = of_element.doubled.saturating_add(1);
            let spacing = of_element.spacing();
            let (kept, dropped) = std::mem::take(&mut of_element.checkpoints)
                .into_iter()
                .partition(|kept| kept.cursor.position.is_multiple_of(spacing));
            of_element.checkpoints = kept;
            pool.forget(dropped);
        }
        if pool.elements.get(&element).is_some_and(|of_element| is_due(of_element.spacing())) {
            let kept = pool.keep(cursor.fork());
            pool.elements.entry(element).or_default().checkpoints.push(kept);
            pool.shrink();
        }
    }

    /// Drops the decoders of an element.
    pub fn remove(&self, element: u64) {
        let mut pool = self.pool();
        if let Some(OfElement { waiting, checkpoints, .. }) = pool.elements.remove(&element) {
            pool.forget(waiting);
            pool.forget(checkpoints);
        }
    }
}

impl Pool {
    fn tick(&mut self) -> u64 {
        self.clock = self.clock.saturating_add(1);
        self.clock
    }

    /// Counts the bytes of a decoder that is kept from now on.
    fn keep(&mut self, cursor: Cursor) -> KeptDecoder {
        let (bytes, used) = (cursor.memory(), self.tick());
        self.bytes = self.bytes.saturating_add(bytes);
        KeptDecoder { cursor, bytes, used }
    }

    /// Counts the bytes of decoders that are not kept any more.
    fn forget(&mut self, dropped: Vec<KeptDecoder>) {
        let bytes = dropped.iter().fold(0usize, |sum, kept| sum.saturating_add(kept.bytes));
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    /// Drops decoders until the others fit in the budget.
    fn shrink(&mut self) {
        while self.bytes > BUDGET {
            let lists = self.elements.values_mut().flat_map(OfElement::lists);
            let oldest = lists
                .filter_map(|list| {
                    let (number, kept) = list.iter().enumerate().min_by_key(|(_, kept)| kept.used)?;
                    Some((kept.used, number, list))
                })
                .min_by_key(|(used, ..)| *used);
            let Some((_, number, list)) = oldest else { return };
            let dropped = list.remove(number);
            self.forget(vec![dropped]);
        }
    }
}

#[cfg(test)]
mod tests {
    use ferrocdf_bytes::Result;
    use ferrocdf_codec::{Progress, StreamDecoder};

    use super::*;

    /// A decoder of so many bytes of memory.
    #[derive(Clone, Debug)]
    struct Heavy(usize);

    impl StreamDecoder for Heavy {
        fn decode(&mut self, _encoded: &[u8], _is_last: bool, _decoded: &mut [u8]) -> Result<Progress> {
            Ok(Progress::default())
        }

        fn fork(&self) -> Box<dyn StreamDecoder> {
            Box::new(self.clone())
        }

        fn memory(&self) -> usize {
            self.0
        }
    }

    fn cursor(bytes: usize, position: u64) -> Cursor {
        Cursor::new(Box::new(Heavy(bytes)), position, position)
    }

    #[test]
    fn decoders_of_all_elements_share_one_budget() {
        let decoders = Decoders::default();
        for element in 0..200 {
            decoders.check(element, &cursor(BUDGET / 20, SPACING));
            decoders.put(element, cursor(BUDGET / 20, 2 * SPACING));
            assert!(decoders.pool().bytes <= BUDGET);
            // The checkpoint of the first one is used all the time.
            assert_eq!(decoders.take(0, 2 * SPACING - 1, false).unwrap().position, SPACING);
        }
        assert!(decoders.take(100, u64::MAX, false).is_none());
        assert_eq!(decoders.take(199, 2 * SPACING, false).unwrap().position, 2 * SPACING);
        for element in 0..200 {
            decoders.remove(element);
        }
        assert_eq!(decoders.pool().bytes, 0);
    }

    #[test]
    fn checkpoints_get_farther_apart_where_there_are_many() {
        let decoders = Decoders::default();
        for number in 1..200 {
            decoders.check(1, &cursor(1, number * SPACING));
        }
        let pool = decoders.pool();
        let of_element = &pool.elements[&1];
        assert!(of_element.checkpoints.len() <= CHECKPOINTS && of_element.spacing() == 8 * SPACING);
        assert_eq!(of_element.checkpoints.len(), pool.bytes);
    }
}
