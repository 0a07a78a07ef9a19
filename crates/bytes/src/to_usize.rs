//! Conversions of 64-bit lengths of files to lengths in memory, which have 32 bits on some machines.
//!
//! All crates convert with [`ToUsize`]. `as usize` would drop the upper bits of a number that is too large. Where a `usize` has 64 bits, the
//! conversions cost nothing.

use crate::{Code, Error, Result};

/// Conversions of a 64-bit number to one of memory.
pub trait ToUsize: Copy {
    /// Returns the number of `things` that memory is wanted for.
    ///
    /// # Errors
    /// `NC_ENOMEM` if a list cannot have that many.
    fn to_usize(self, things: &str) -> Result<usize>;

    /// Returns the number, or `usize::MAX` if it is larger: for limits, and for numbers of what is in memory, which are never larger.
    fn saturate(self) -> usize;

    /// Returns the smaller of the number and of one in memory.
    fn at_most(self, limit: usize) -> usize;
}

impl ToUsize for u64 {
    #[inline]
    fn to_usize(self, things: &str) -> Result<usize> {
        usize::try_from(self)
            .ok()
            .filter(|&number| number <= isize::MAX as usize)
            .ok_or_else(|| Error::new(Code::ENOMEM, format!("no memory for {self} {things}")))
    }

    #[inline]
    fn saturate(self) -> usize {
        usize::try_from(self).unwrap_or(usize::MAX)
    }

    #[inline]
    fn at_most(self, limit: usize) -> usize {
        self.saturate().min(limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_memory_cannot_have_are_errors_or_limits() {
        let error = u64::MAX.to_usize("bytes of a chunk").unwrap_err();
        assert_eq!(error.code, Code::ENOMEM);
        assert!(error.to_string().contains("no memory for 18446744073709551615 bytes of a chunk"), "{error}");
        assert_eq!(7u64.to_usize("bytes").unwrap(), 7);
        assert_eq!((7u64.saturate(), u64::MAX.saturate()), (7, usize::MAX));
        assert_eq!((7u64.at_most(9), 9u64.at_most(7), u64::MAX.at_most(7)), (7, 7, 7));
    }

    #[test]
    #[cfg(target_pointer_width = "32")]
    fn upper_bits_are_not_dropped() {
        let number = (1u64 << 32) + 1;
        assert!(number.to_usize("bytes").is_err());
        assert_eq!((number.saturate(), number.at_most(7)), (usize::MAX, 7));
    }
}
