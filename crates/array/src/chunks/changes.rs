//! What was changed in a chunk that other writers may change at the same time.
//!
//! A chunk in an object is stored whole. A writer that changes some of its elements must not put back old values of the others, which
//! another writer may have changed meanwhile. So a pending chunk of such an array knows the version of the object that it was made of,
//! for a conditional put, and which elements were written, to write them into a newer version of the chunk.

use std::sync::OnceLock;

use ferrocdf_store::{Expected, Version};

use crate::Selection;

/// The elements of a chunk that were written since it was read from its object.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Version of the object that the chunk was read from; `None` if there was no object.
    base: Option<Version>,
    /// Version of the object in which the chunk was stored with these changes.
    stored: OnceLock<Version>,
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
        let elements = shape.iter().product::<u64>().div_ceil(64) as usize;
        self.written.resize(elements, 0);
        let mut offsets = vec![0];
        for (dim, &len) in shape.iter().enumerate() {
            let indices = (0..sel.count[dim]).map(|number| sel.start[dim] + number * sel.stride[dim]);
            offsets = offsets
                .iter()
                .flat_map(|&offset: &u64| indices.clone().map(move |index| offset * len + index))
                .collect();
        }
        for offset in offsets {
            self.written[offset as usize / 64] |= 1 << (offset % 64);
        }
    }

    /// Returns the state of the object for which the chunk has the right values of elements that were not written.
    pub fn expected(&self) -> Expected<'_> {
        self.stored.get().or(self.base.as_ref()).map_or(Expected::Absent, Expected::Version)
    }

    /// True if all of a number of elements were written, so that the chunk does not depend on what is stored.
    pub fn is_whole(&self, elements: u64) -> bool {
        let written = self.written.iter().map(|bits| u64::from(bits.count_ones())).sum::<u64>();
        written >= elements
    }

    /// Notes that the chunk was stored as it is in memory. A chunk that was stored in another way is read again before it is changed.
    pub fn set_stored(&self, version: Version) {
        // A chunk is put by one thread, and put again only after its changes were renewed or its put failed.
        let _ = self.stored.set(version);
    }

    /// True if the object of the chunk has the bytes that are in memory.
    pub(super) fn is_stored(&self) -> bool {
        self.stored.get().is_some()
    }

    /// Returns the changes for further writing: none if those until now are stored.
    pub(super) fn renewed(self) -> Changes {
        match self.stored.into_inner() {
            Some(version) => Changes::of(Some(version)),
            None => Changes { stored: OnceLock::new(), ..self },
        }
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
    }

    #[test]
    fn stored_changes_are_the_base_of_further_ones() {
        let [first, second] = ["first", "second"].map(Version::new);
        let mut changes = Changes::of(Some(first.clone()));
        assert_eq!(changes.expected(), Expected::Version(&first));
        changes.mark(&[4], &Selection::all(&[4]));
        let failed = changes.clone().renewed();
        assert_eq!(failed.expected(), Expected::Version(&first));
        assert!(failed.is_whole(4));
        changes.set_stored(second.clone());
        let next = changes.renewed();
        assert_eq!(next.expected(), Expected::Version(&second));
        assert!(!next.is_whole(1));
    }
}
