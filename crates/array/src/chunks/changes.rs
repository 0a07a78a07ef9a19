//! The elements that one writer changed in a chunk, where other writers may change the chunk at the same time.
//!
//! A chunk in an object is stored whole. A writer that changes some of its elements must not put back old values of the others, which
//! another writer may have changed meanwhile. So a pending chunk of such an array knows the version of the object that it was made of,
//! for a conditional put, and which elements were written, to write them into a newer version of the chunk.

use ferrocdf_bytes::ToUsize;
use std::ops::Range;
use std::sync::OnceLock;

use ferrocdf_store::{Expected, Version};

use crate::{Index, Selection};

/// The elements of a chunk that were written since it was read from its object.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Version of the object that the chunk was read from; `None` if there was no object.
    base: Option<Version>,
    /// Set once the store has taken the changes, or refused them for good.
    settled: OnceLock<()>,
    /// One bit for each element: true if it was written.
    written: Vec<u64>,
}

impl Changes {
    /// Returns the changes of a chunk of which nothing was written, read from a version of its object.
    pub(super) fn of(base: Option<Version>) -> Changes {
        Changes { base, ..Changes::default() }
    }

    /// Marks the selected elements of a chunk of this shape as written.
    pub(super) fn mark(&mut self, shape: &[u64], sel: &Selection) {
        let elements = shape.iter().product::<u64>().div_ceil(64).saturate();
        self.written.resize(elements, 0);
        if sel.count.contains(&0) {
            return;
        }
        // Row by row: `index` counts those of all dimensions but the last one.
        let outer = shape.len().saturating_sub(1);
        let mut index: Index = Index::from_elem(0, outer);
        loop {
            let row = (0..outer)
                .fold(0, |row, dim| row * shape[dim] + sel.start[dim] + index[dim] * sel.stride[dim]);
            match shape.get(outer) {
                None => self.set(0..1),
                Some(len) => {
                    let first = row * len + sel.start[outer];
                    match sel.stride[outer] {
                        1 => self.set(first..first + sel.count[outer]),
                        step => (0..sel.count[outer]).for_each(|number| {
                            let at = first + number * step;
                            self.set(at..at + 1);
                        }),
                    }
                }
            }
            let Some(dim) = (0..outer).rev().find(|&dim| index[dim] + 1 < sel.count[dim]) else { return };
            index[dim] += 1;
            index[dim + 1..].fill(0);
        }
    }

    /// Sets the bits of neighbours.
    fn set(&mut self, elements: Range<u64>) {
        let mut at = elements.start;
        while at < elements.end {
            let (word, bit) = (at / 64, at % 64);
            let count = (64 - bit).min(elements.end - at);
            let bits = if count == 64 { u64::MAX } else { ((1 << count) - 1) << bit };
            self.written[word.saturate()] |= bits;
            at += count;
        }
    }

    /// Returns the state of the object for which the chunk has the right values of elements that were not written.
    pub fn expected(&self) -> Expected<'_> {
        self.base.as_ref().map_or(Expected::Absent, Expected::Version)
    }

    /// True if all of a number of elements were written, so that the chunk does not depend on what is stored.
    pub fn is_whole(&self, elements: u64) -> bool {
        let written = self.written.iter().map(|bits| u64::from(bits.count_ones())).sum::<u64>();
        written >= elements
    }

    /// Notes that the store has taken the changes, or refused them for good: the chunk is dropped from memory, and read again before it
    /// is changed or read.
    pub fn settle(&self) {
        self.settled.get_or_init(|| ());
    }

    /// True once the store has taken or refused the changes.
    pub(super) fn is_settled(&self) -> bool {
        self.settled.get().is_some()
    }

    /// Copies the elements that were written from one version of the decoded chunk to another one.
    pub fn copy(&self, from: &[u8], to: &mut [u8], size: usize) {
        let elements = from.chunks_exact(size).zip(to.chunks_exact_mut(size));
        for (number, (from, to)) in elements.enumerate() {
            if self.written.get(number / 64).is_some_and(|bits| bits >> (number % 64) & 1 == 1) {
                to.copy_from_slice(from);
            }
        }
    }
}

/// Changes are no part of the value of a chunk.
impl PartialEq for Changes {
    fn eq(&self, _other: &Changes) -> bool {
        true
    }
}

impl Eq for Changes {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_written_elements_are_copied() {
        let shape = [3, 50];
        let mut changes = Changes::of(None);
        changes.mark(&shape, &Selection::strided(&[0, 1], &[2, 3], &[2, 20]));
        let (from, mut to) = (vec![[7, 8]; 150].concat(), vec![0; 300]);
        changes.copy(&from, &mut to, 2);
        let changed: Vec<usize> = (0..150).filter(|at| to[at * 2..at * 2 + 2] == [7, 8]).collect();
        assert_eq!(changed, [1, 21, 41, 101, 121, 141]);
        assert_eq!(to.iter().filter(|byte| **byte != 0).count(), 12);
        assert!(!changes.is_whole(150) && changes.is_whole(6));
        let mut rows = Changes::of(None);
        rows.mark(&[2, 3, 70], &Selection::slab(&[0, 1, 0], &[2, 2, 70]));
        rows.mark(&[2, 3, 70], &Selection::slab(&[1, 0, 3], &[1, 1, 65]));
        let mut to = vec![0; 420];
        rows.copy(&[1; 420], &mut to, 1);
        let wanted = |at: usize| (70..210).contains(&at) || (213..278).contains(&at) || at >= 280;
        assert!((0..420).all(|at| (to[at] == 1) == wanted(at)), "{to:?}");
        let mut scalar = Changes::of(None);
        scalar.mark(&[], &Selection::all(&[]));
        assert!(scalar.is_whole(1));
    }
}
