//! Conversion of contiguous elements: byte order and kind.
//!
//! The decision that shaped it: byte order and kind are two passes over a piece that stays in the first-level cache, so
//! that there is one loop for each pair of kinds and not four.

use ferrocdf_bytes::{Code, Error, Order, Result};

use crate::kernels::{Kernel, kernel};
use crate::rules::{ConversionRules, RangeCheck};
use crate::{Element, Kind, Stored};

/// Bytes of a piece: it stays in the first-level cache, and the buffer on the stack costs little even for a request of one value.
const PIECE: usize = 1024;

/// Converts all elements of `input` into `output`.
///
/// With [`ConversionRules::Get`], a float that is out of range of an integer leaves the old value in `output`, as in
/// netCDF-C.
///
/// # Errors
/// `ECHAR` between text and numbers; `EINVAL` if the slices do not hold equally many whole elements.
pub fn convert(
    direction: ConversionRules,
    from: Stored,
    input: &[u8],
    to: Stored,
    output: &mut [u8],
) -> Result<RangeCheck> {
    let conversion = Conversion::new(direction, from, to)?;
    let (size, made) = (from.kind.size(), to.kind.size());
    let count = input.len() / size;
    if !input.len().is_multiple_of(size) || !output.len().is_multiple_of(made) || output.len() / made != count
    {
        let what = format!(
            "{} bytes of {size}-byte elements into {} bytes of {made}-byte elements",
            input.len(),
            output.len()
        );
        return Err(Error::new(Code::EINVAL, what));
    }
    Ok(conversion.run(input, output).into())
}

/// Returns contiguous stored elements of the kind of `T` in this machine's byte order.
pub fn to_native<T: Element>(order: Order, input: &[u8]) -> Vec<T> {
    let mut list = vec![T::zeroed(); input.len() / size_of::<T>()];
    let bytes = bytemuck::cast_slice_mut(&mut list);
    bytes.copy_from_slice(&input[..bytes.len()]);
    swap_order(Stored { kind: T::KIND, order }, bytes);
    list
}

/// A conversion from one stored type to another.
#[derive(Clone, Copy)]
pub(crate) struct Conversion {
    from_size: usize,
    to_size: usize,
    swap_from: bool,
    swap_to: bool,
    /// `None` if the kinds are the same.
    kernel: Option<Kernel>,
    /// True if numbers out of range leave the old value in the destination.
    pub(crate) keeps: bool,
    to: Stored,
    direction: ConversionRules,
}

impl Conversion {
    #[inline]
    pub(crate) fn new(direction: ConversionRules, from: Stored, to: Stored) -> Result<Self> {
        if (from.kind == Kind::Char) != (to.kind == Kind::Char) {
            let (Stored { kind: from, .. }, Stored { kind: to, .. }) = (from, to);
            return Err(Error::new(Code::ECHAR, format!("{from:?} does not convert to {to:?}")));
        }
        let same = from.kind == to.kind;
        // For the same kind two swaps cancel out, and one is made on the way in.
        let (swap_from, swap_to) = match (from.is_swapped(), to.is_swapped()) {
            (from, to) if same => (from != to, false),
            swaps => swaps,
        };
        Ok(Conversion {
            from_size: from.kind.size(),
            to_size: to.kind.size(),
            swap_from,
            swap_to,
            kernel: (!same).then(|| kernel(direction, from.kind, to.kind)),
            keeps: direction == ConversionRules::Get && from.kind.is_float() && !to.kind.is_float(),
            to,
            direction,
        })
    }

    /// Returns the rules for numbers out of range.
    pub(crate) fn direction(&self) -> ConversionRules {
        self.direction
    }

    /// Returns the stored type that elements are converted to.
    pub(crate) fn to(&self) -> Stored {
        self.to
    }

    /// True if elements can be converted in place: at most their bytes are swapped.
    pub(crate) fn is_in_place(&self) -> bool {
        self.kernel.is_none()
    }

    /// Converts elements in place, if [`Conversion::is_in_place`].
    pub(crate) fn run_in_place(&self, elements: &mut [u8]) {
        debug_assert!(self.is_in_place());
        if self.swap_from {
            swap(self.from_size, elements);
        }
    }

    /// True if the conversion is a plain copy.
    pub(crate) fn is_copy(&self) -> bool {
        self.kernel.is_none() && !self.swap_from
    }

    /// Converts `input` into `output`, equally many elements. True if all were in range.
    pub(crate) fn run(&self, input: &[u8], output: &mut [u8]) -> bool {
        debug_assert_eq!(input.len() / self.from_size, output.len() / self.to_size);
        let Some(kernel) = self.kernel else {
            if self.swap_from {
                swap_into(self.from_size, input, output);
            } else {
                output.copy_from_slice(input);
            }
            return true;
        };
        if !self.swap_from && !self.swap_to {
            return kernel(input, output);
        }
        let count = PIECE / self.from_size.max(self.to_size);
        let pieces = input.chunks(count * self.from_size).zip(output.chunks_mut(count * self.to_size));
        let mut buffer = [0; PIECE];
        let mut all = true;
        for (from, to) in pieces {
            if self.swap_from {
                let swapped = &mut buffer[..from.len()];
                swap_into(self.from_size, from, swapped);
                all &= kernel(swapped, to);
            } else {
                all &= kernel(from, to);
            }
            if self.swap_to {
                swap(self.to_size, to);
            }
        }
        all
    }
}

/// Swaps the bytes of elements between their stored order and that of memory.
#[inline]
pub(crate) fn swap_order(stored: Stored, elements: &mut [u8]) {
    if stored.is_swapped() {
        swap(stored.kind.size(), elements);
    }
}

/// Reverses the bytes of each element of `size` bytes.
#[inline]
fn swap(size: usize, bytes: &mut [u8]) {
    match size {
        2 => bytes
            .as_chunks_mut()
            .0
            .iter_mut()
            .for_each(|b| *b = u16::from_ne_bytes(*b).swap_bytes().to_ne_bytes()),
        4 => bytes
            .as_chunks_mut()
            .0
            .iter_mut()
            .for_each(|b| *b = u32::from_ne_bytes(*b).swap_bytes().to_ne_bytes()),
        8 => bytes
            .as_chunks_mut()
            .0
            .iter_mut()
            .for_each(|b| *b = u64::from_ne_bytes(*b).swap_bytes().to_ne_bytes()),
        _ => {}
    }
}

/// Copies elements of `size` bytes, each with its bytes reversed.
fn swap_into(size: usize, from: &[u8], to: &mut [u8]) {
    macro_rules! swapped {
        ($type:ty) => {
            for (from, to) in from.as_chunks().0.iter().zip(to.as_chunks_mut().0) {
                *to = <$type>::from_ne_bytes(*from).swap_bytes().to_ne_bytes();
            }
        };
    }
    match size {
        2 => swapped!(u16),
        4 => swapped!(u32),
        8 => swapped!(u64),
        _ => to.copy_from_slice(from),
    }
}
