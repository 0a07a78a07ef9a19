//! The memory side of a transfer.
//!
//! Memory is a byte slice and a kind; it need not be aligned. Without a map it is dense, last dimension fastest. With
//! one, each dimension has its own distance in elements, which may be negative or make elements coincide, as
//! `nc_get_varm` allows. A map names the position of the first element as well, since a slice cannot be entered from
//! its middle like a C pointer.

use ferrocdf_bytes::{Code, Error, Result};
use smallvec::SmallVec;

use crate::rules::ConversionRules;
use crate::{Element, Kind};

/// The mapping of selected elements to memory: `imap` of `nc_get_varm`.
#[derive(Clone, Copy, Debug)]
pub struct Map<'a> {
    /// Index in the slice of the first selected element.
    pub origin: usize,
    /// For each dimension, the distance from one index to the next in elements.
    pub strides: &'a [isize],
}

/// Memory that is read into.
#[derive(Debug)]
pub struct Out<'a> {
    /// The kind of its elements, in this machine's byte order.
    pub kind: Kind,
    /// The elements.
    pub bytes: &'a mut [u8],
    /// The mapping to memory; `None` for dense elements.
    pub map: Option<Map<'a>>,
    /// The rules for numbers out of range: [`ConversionRules::Get`] or [`ConversionRules::Cast`].
    pub rules: ConversionRules,
}

/// Memory that is written from.
#[derive(Clone, Copy, Debug)]
pub struct In<'a> {
    /// The kind of its elements, in this machine's byte order.
    pub kind: Kind,
    /// The elements.
    pub bytes: &'a [u8],
    /// The mapping to memory; `None` for dense elements.
    pub map: Option<Map<'a>>,
    /// The rules for numbers out of range: [`ConversionRules::Put`] or [`ConversionRules::Cast`].
    pub rules: ConversionRules,
}

impl<'a> Out<'a> {
    /// Dense numbers.
    pub fn new<T: Element>(elements: &'a mut [T]) -> Self {
        Out::raw(T::KIND, bytemuck::cast_slice_mut(elements))
    }

    /// Dense text.
    pub fn text(bytes: &'a mut [u8]) -> Self {
        Out::raw(Kind::Char, bytes)
    }

    /// Dense elements of `kind`.
    pub fn raw(kind: Kind, bytes: &'a mut [u8]) -> Self {
        Out { kind, bytes, map: None, rules: ConversionRules::Get }
    }

    /// Addresses the memory through a map.
    #[must_use]
    pub fn mapped(self, origin: usize, strides: &'a [isize]) -> Self {
        Out { map: Some(Map { origin, strides }), ..self }
    }

    /// Borrows the memory again, for a read that may be repeated.
    pub fn reborrow(&mut self) -> Out<'_> {
        Out { bytes: self.bytes, ..*self }
    }

    /// Sets the rules of netCDF-4 files for numbers out of range.
    #[must_use]
    pub fn cast(self) -> Self {
        Out { rules: ConversionRules::Cast, ..self }
    }
}

impl<'a> In<'a> {
    /// Dense numbers.
    pub fn new<T: Element>(elements: &'a [T]) -> Self {
        In::raw(T::KIND, bytemuck::cast_slice(elements))
    }

    /// Dense text.
    pub fn text(bytes: &'a [u8]) -> Self {
        In::raw(Kind::Char, bytes)
    }

    /// Dense elements of `kind`.
    pub fn raw(kind: Kind, bytes: &'a [u8]) -> Self {
        In { kind, bytes, map: None, rules: ConversionRules::Put }
    }

    /// Addresses the memory through a map.
    #[must_use]
    pub fn mapped(self, origin: usize, strides: &'a [isize]) -> Self {
        In { map: Some(Map { origin, strides }), ..self }
    }

    /// Sets the rules of netCDF-4 files for numbers out of range.
    #[must_use]
    pub fn cast(self) -> Self {
        In { rules: ConversionRules::Cast, ..self }
    }
}

/// Checks that `len` bytes of memory hold exactly the selected elements.
#[inline]
pub(crate) fn check_dense(len: usize, kind: Kind, elements: u64) -> Result<()> {
    let wanted = elements.checked_mul(kind.size() as u64);
    if wanted == Some(len as u64) {
        return Ok(());
    }
    let what = format!("memory of {len} bytes: {elements} elements of {} bytes are selected", kind.size());
    Err(Error::new(Code::EINVAL, what))
}

/// A map and its counts, checked: every element lies within the memory.
pub(crate) struct MapWalk {
    origin: isize,
    /// Count and step of each dimension; never empty, no count is 0.
    dims: SmallVec<[(usize, isize); 4]>,
}

impl MapWalk {
    /// Checks a map of memory of `len` bytes; no count is 0. Returns `None` if the map is that of dense memory.
    pub(crate) fn new(map: Map<'_>, counts: &[u64], len: usize, kind: Kind) -> Result<Option<MapWalk>> {
        if map.strides.len() != counts.len() {
            let what = format!("memory map: {} strides for {} dimensions", map.strides.len(), counts.len());
            return Err(Error::new(Code::EINVAL, what));
        }
        let (mut low, mut high) = (map.origin as i128, map.origin as i128);
        for (&step, &count) in map.strides.iter().zip(counts) {
            let reach = (step as i128).saturating_mul(count as i128 - 1);
            low = low.saturating_add(reach.min(0));
            high = high.saturating_add(reach.max(0));
        }
        let memory_len = len / kind.size();
        if low < 0 || high >= memory_len as i128 {
            let what = format!(
                "memory map: reaches from element {low} to {high}, the memory has {memory_len} elements"
            );
            return Err(Error::new(Code::EINVAL, what));
        }
        let mut dims: SmallVec<[(usize, isize); 4]> = SmallVec::new();
        for (&step, &count) in map.strides.iter().zip(counts) {
            if count == 1 {
                continue;
            }
            // Distinct elements fit in memory, but a step of 0 allows any count.
            let count = usize::try_from(count)
                .map_err(|_| Error::new(Code::EINVAL, format!("memory map: count {count} is too large")))?;
            match dims.last_mut() {
                Some((outer, outer_step)) if *outer_step == step.wrapping_mul(count as isize) => {
                    *outer = outer.saturating_mul(count);
                    *outer_step = step;
                }
                _ => dims.push((count, step)),
            }
        }
        if dims.is_empty() {
            dims.push((1, 1));
        }
        let dense = map.origin == 0 && dims.len() == 1 && dims[0].1 == 1 && dims[0].0 == memory_len;
        Ok(if dense { None } else { Some(MapWalk { origin: map.origin as isize, dims }) })
    }

    /// True if certainly no two elements coincide: the stride of each dimension is larger than the span of all smaller strides.
    pub(crate) fn is_injective(&self) -> bool {
        let mut dims = self.dims.clone();
        dims.sort_unstable_by_key(|&(_, step)| step.unsigned_abs());
        let mut span = 1;
        dims.iter().all(|&(count, step)| {
            let over = step.unsigned_abs() >= span;
            span += (count - 1) * step.unsigned_abs();
            over
        })
    }

    /// Visits `len` elements from the `first`-th of the dense order on, in lines of constant step. `visit` gets the
    /// position in the dense piece, the element of memory, the length of the line and its step.
    fn lines(&self, first: usize, len: usize, mut visit: impl FnMut(usize, isize, usize, isize)) {
        let (line, step) = self.dims[self.dims.len() - 1];
        let mut done = 0;
        while done < len {
            let mut rest = (first + done) / line;
            let within = (first + done) % line;
            let mut at = self.origin + within as isize * step;
            for &(count, step) in self.dims[..self.dims.len() - 1].iter().rev() {
                at += (rest % count) as isize * step;
                rest /= count;
            }
            let run = (line - within).min(len - done);
            visit(done, at, run, step);
            done += run;
        }
    }

    /// Copies the mapped elements from the `first`-th on into `dense`.
    pub(crate) fn gather(&self, memory: &[u8], size: usize, first: usize, dense: &mut [u8]) {
        self.lines(first, dense.len() / size, |to, mut from, run, step| {
            for piece in dense[to * size..][..run * size].chunks_exact_mut(size) {
                piece.copy_from_slice(&memory[from as usize * size..][..size]);
                from += step;
            }
        });
    }

    /// Copies `dense` to the mapped elements from the `first`-th on; where elements coincide, the last one stays.
    pub(crate) fn scatter(&self, dense: &[u8], size: usize, first: usize, memory: &mut [u8]) {
        self.lines(first, dense.len() / size, |from, mut to, run, step| {
            for piece in dense[from * size..][..run * size].chunks_exact(size) {
                memory[to as usize * size..][..size].copy_from_slice(piece);
                to += step;
            }
        });
    }
}
