//! Fill values, written late.
//!
//! The reference writes a whole variable's fill values at the end of define mode and then the data over them. Here each
//! variable counts the elements, from its first one on, that are defined; a write that continues there needs no fill,
//! and what was never written is filled when somebody could see it: before it is read, and when the file is flushed.

use ferrocdf_array::{Array, Layout as ArrayLayout, PastEnd, Selection, Stored};
use ferrocdf_bytes::Result;
use ferrocdf_store::BlobMut;

use crate::layout::Place;

/// How far one variable is filled.
#[derive(Clone, Debug)]
pub struct Filled {
    /// The fill value as stored.
    pub value: Vec<u8>,
    /// Elements from the first one on that are written or filled.
    elements: u64,
    /// Slabs from the first one on whose padding is filled.
    padded: u64,
    /// Whether unwritten elements stay undefined.
    pub no_fill: bool,
}

/// What filling needs to know of a variable.
pub struct Target<'a> {
    /// The file.
    pub blob: &'a dyn BlobMut,
    /// Where the variable lies.
    pub place: Place,
    /// Its elements.
    pub stored: Stored,
    /// Bytes between records.
    pub record_size: u64,
    /// Records in the file; 1 for a variable without records.
    pub slabs: u64,
    /// Whether slabs are padded to 4 bytes.
    pub padded: bool,
}

impl Target<'_> {
    fn element_size(&self) -> u64 {
        self.stored.kind.size() as u64
    }

    /// Elements of one slab.
    fn slab(&self) -> u64 {
        self.place.bytes / self.element_size()
    }

    fn elements(&self) -> u64 {
        self.slab().saturating_mul(self.slabs)
    }

    /// Fills `columns` of the slabs `slabs`, where columns count elements from the start of a slab.
    fn fill(&self, slabs: std::ops::Range<u64>, columns: std::ops::Range<u64>, value: &[u8]) -> Result<()> {
        if slabs.is_empty() || columns.is_empty() {
            return Ok(());
        }
        let steps = vec![self.record_size, self.element_size()];
        let layout = ArrayLayout::Strided { begin: self.place.begin, strides: steps };
        let shape = vec![slabs.end, columns.end];
        let array = Array { shape, stored: self.stored, layout, decoder: None, past_end: PastEnd::Zero };
        let start = [slabs.start, columns.start];
        let count = [slabs.end - slabs.start, columns.end - columns.start];
        ferrocdf_array::fill(self.blob, &array, &Selection::slab(&start, &count), value)
    }
}

impl Target<'_> {
    /// Fills the elements `start..end` in storage order: the tail of one slab, whole slabs, and the head of another.
    fn fill_run(&self, start: u64, end: u64, value: &[u8]) -> Result<()> {
        let slab = self.slab();
        let (first, last) = (start / slab, end / slab);
        if first == last {
            return self.fill(first..first + 1, start % slab..end % slab, value);
        }
        if !start.is_multiple_of(slab) {
            self.fill(first..first + 1, start % slab..slab, value)?;
        }
        self.fill(start.div_ceil(slab)..last, 0..slab, value)?;
        self.fill(last..last + 1, 0..end % slab, value)
    }
}

impl Filled {
    /// A new variable: nothing is filled.
    pub fn nothing(value: Vec<u8>, no_fill: bool) -> Self {
        Filled { value, elements: 0, padded: 0, no_fill }
    }

    /// A variable whose slabs are all there.
    pub fn all(value: Vec<u8>, no_fill: bool, target: &Target<'_>) -> Self {
        Filled { value, elements: target.elements(), padded: target.slabs, no_fill }
    }

    /// Takes note that the elements before `end` are defined: the write succeeded.
    pub fn wrote(&mut self, end: u64) {
        self.elements = self.elements.max(end);
    }

    /// Whether elements before `end` still wait to be filled.
    pub fn lacks(&self, end: u64) -> bool {
        !self.no_fill && self.elements < end
    }

    /// Fills all that was never written, and the padding.
    pub fn finish(&mut self, target: &Target<'_>) -> Result<()> {
        self.fill_to(target, target.elements())?;
        if target.padded && !self.no_fill {
            let padded_slab = target.place.padded() / target.element_size();
            target.fill(self.padded..target.slabs, target.slab()..padded_slab, &self.value)?;
        }
        self.padded = self.padded.max(target.slabs);
        Ok(())
    }

    /// Cuts the variable to its first `slabs` slabs, of `slab` elements each.
    pub fn cut(&mut self, slabs: u64, slab: u64) {
        self.elements = self.elements.min(slabs.saturating_mul(slab));
        self.padded = self.padded.min(slabs);
    }

    /// Forgets that padding was filled: the slabs were moved apart.
    pub fn unpad(&mut self) {
        self.padded = 0;
    }

    /// Fills what was never written before the element `end`.
    pub fn fill_to(&mut self, target: &Target<'_>, end: u64) -> Result<()> {
        if end > self.elements {
            if !self.no_fill {
                target.fill_run(self.elements, end, &self.value)?;
            }
            // Only now: what could not be filled is tried again.
            self.elements = end;
        }
        Ok(())
    }
}
