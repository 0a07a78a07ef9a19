//! How far a header reaches when it is written through a window, as the reference writes it.
//!
//! The reference writes a header of more than 8 KiB through windows of 8 KiB. A field that does not fit into what is
//! left of a window starts the next one, and each window goes to the file whole: a file with little or no data ends
//! with the zeros of its last window. Following this keeps files equal to the last byte. Where a file system asks for
//! blocks of more than 8 KiB, the reference takes those; this is not followed.
#![warn(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Bytes, Coder, Record, Result, Sizer};

use crate::header::{DIMENSION_IDS, Header};

/// Bytes of a window.
const WINDOW: u64 = 8192;
/// Bytes of the one window through which the header of a file without definitions is written.
const EMPTY_WINDOW: u64 = 4096;

/// The least size in bytes of a file with this header.
pub fn reach(header: &mut Header) -> Result<u64> {
    let size = Sizer::size_of(header)?;
    let empty = Sizer::size_of(&mut Header { version: header.version, ..Header::default() })?;
    if size <= empty {
        return Ok(EMPTY_WINDOW);
    }
    if size <= WINDOW {
        return Ok(size);
    }
    let mut windows = Windows { at: 0, end: WINDOW };
    header.fields(&mut windows)?;
    Ok(windows.end)
}

/// The position in the header, and the end of the window it lies in.
struct Windows {
    at: u64,
    end: u64,
}

impl Windows {
    /// A field that stays together lies next.
    fn together(&mut self, len: u64) {
        if self.at.saturating_add(len) > self.end {
            self.end = self.at.saturating_add(WINDOW);
        }
    }
}

impl Coder for Windows {
    fn uint(&mut self, _name: &'static str, width: usize, _value: &mut u64) -> Result<()> {
        self.together(width as u64);
        self.at = self.at.saturating_add(width as u64);
        Ok(())
    }

    fn bytes<B: Bytes>(&mut self, _name: &'static str, len: u64, _value: &mut B) -> Result<()> {
        // With its padding. Values of more than a window go through several.
        let mut padded = len.next_multiple_of(4);
        let start = self.at;
        while padded > 0 {
            let part = padded.min(WINDOW);
            self.together(part);
            self.at = self.at.saturating_add(part);
            padded = padded.saturating_sub(part);
        }
        self.at = start.saturating_add(len);
        Ok(())
    }

    fn pad(&mut self, unit: usize) -> Result<()> {
        self.at = self.at.next_multiple_of(unit as u64);
        Ok(())
    }

    fn list<T: Record>(
        &mut self,
        name: &'static str,
        _count: u64,
        items: &mut Vec<T>,
        _new: impl FnMut() -> T,
    ) -> Result<()> {
        if name == DIMENSION_IDS {
            let size: Result<u64> = items.iter_mut().map(Sizer::size_of).sum();
            self.together(size?);
        }
        items.iter_mut().try_for_each(|item| item.fields(self))
    }

    fn offset(&self) -> u64 {
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::{DimRef, Raw, RawAttr, RawVar, Version};

    fn text(len: usize) -> RawAttr {
        let values = Raw::from_elem(b'x', len);
        RawAttr::new(Version::Classic, b"text"[..].into(), 2, len as u64, values)
    }

    /// The size of a header with these attributes, and how far it reaches.
    fn sizes(attrs: Vec<RawAttr>) -> (u64, u64) {
        let mut header = Header { attrs, ..Header::default() };
        (Sizer::size_of(&mut header).unwrap(), reach(&mut header).unwrap())
    }

    #[test]
    fn short_headers_end_where_they_end() {
        assert_eq!(sizes(vec![]), (32, 4096));
        assert_eq!(sizes(vec![text(1)]), (52, 52));
        assert_eq!(sizes(vec![text(8144)]), (8192, 8192));
    }

    #[test]
    fn a_field_that_does_not_fit_starts_a_window() {
        // The values of the second attribute start at byte 4056.
        assert_eq!(sizes(vec![text(4000), text(4137)]), (8204, 4056 + 8192));
        // The length of the last list is the first field that does not fit.
        assert_eq!(sizes(vec![text(8145)]), (8196, 8192 + 8192));
        // A value of more than a window.
        assert_eq!(sizes(vec![text(9000)]), (9048, 8232 + 8192));
    }

    #[test]
    fn dimension_ids_stay_together() {
        let mut header = Header { attrs: vec![text(8100)], ..Header::default() };
        let dims = vec![DimRef::new(Version::Classic, 0); 10];
        header.vars = vec![RawVar::new(Version::Classic, b"v"[..].into(), dims, vec![], 2)];
        // Up to the rank: 40 bytes and the text, the head of the list and the variable's name.
        assert_eq!(reach(&mut header).unwrap(), 8160 + 8192);
    }
}
