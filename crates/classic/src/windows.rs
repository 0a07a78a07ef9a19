//! How long a file is at least once its header was written.
//!
//! The reference writes a header in windows of two blocks of the file system, each whole, and starts the next one where
//! a field no longer fits in the last. A file with little data therefore ends where the last window does, behind zeros.
//! Nothing reads them, but files must equal those of the reference to the last byte. Its usual block size is assumed.

use ferrocdf_bytes::{Bytes, Coder, Record, Result};

use crate::header::{DIMENSION_IDS, Header};

/// The size of a window.
const WINDOW: u64 = 8192;

/// The size of the one window of a header without any definition.
const EMPTY: u64 = 4096;

/// Walks over a header as the reference's writer does.
struct Windows {
    at: u64,
    start: u64,
    len: u64,
    /// Bytes of a dimension id.
    id: u64,
}

impl Windows {
    /// Moves to a new window if the next `len` bytes do not fit in this one.
    fn make_room(&mut self, len: u64) {
        if self.at + len > self.start + self.len {
            self.start = self.at;
            self.len = self.len.max(len);
        }
    }
}

impl Coder for Windows {
    fn uint(&mut self, _name: &'static str, width: usize, _value: &mut u64) -> Result<()> {
        self.make_room(width as u64);
        self.at += width as u64;
        Ok(())
    }

    fn bytes<B: Bytes>(&mut self, _name: &'static str, len: u64, _value: &mut B) -> Result<()> {
        let (mut left, end) = (len.next_multiple_of(4), self.at + len);
        while left > 0 {
            let piece = left.min(self.len);
            self.make_room(piece);
            self.at += piece;
            left -= piece;
        }
        // The padding is a field of its own here.
        self.at = end;
        Ok(())
    }

    fn pad(&mut self, unit: usize) -> Result<()> {
        self.at = self.at.next_multiple_of(unit as u64);
        Ok(())
    }

    fn list<T: Default>(
        &mut self,
        name: &'static str,
        count: u64,
        items: &mut Vec<T>,
        mut fields: impl FnMut(&mut T, &mut Self) -> Result<()>,
    ) -> Result<()> {
        // The only list that is written as one field.
        if name == DIMENSION_IDS {
            self.make_room(count * self.id);
        }
        items.iter_mut().try_for_each(|item| fields(item, self))
    }

    fn offset(&self) -> u64 {
        self.at
    }
}

/// The size of a file to which the reference wrote this header of `size` bytes and nothing else.
pub fn written(header: &mut Header, size: u64) -> Result<u64> {
    let count = header.version.count_width() as u64;
    // Magic number, `numrecs`, and tag and length of three lists.
    let empty = 4 + count + 3 * (4 + count);
    if size <= empty {
        return Ok(EMPTY);
    }
    let mut windows = Windows { at: 0, start: 0, len: size.min(WINDOW), id: count };
    header.fields(&mut windows)?;
    Ok(windows.start + windows.len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::{RawVar, Version};
    use ferrocdf_model::{Attr, Name, Values};

    fn text(name: &str, len: usize) -> Attr {
        Attr::new(Name::stored(name.as_bytes()), Values::Char(vec![b'x'; len]))
    }

    fn written_with(attr: usize) -> (u64, u64) {
        let version = Version::Classic;
        let attrs = vec![text("a", 6000), text("b", attr)];
        let mut header = Header { version, attrs, ..Header::default() };
        let size = header.encode().unwrap().len() as u64;
        (size, written(&mut header, size).unwrap())
    }

    #[test]
    fn windows_start_where_a_field_did_not_fit() {
        assert_eq!(written(&mut Header::default(), 32).unwrap(), 4096);
        assert_eq!(written_with(100), (6164, 6164));
        // The values of `b` start at byte 6056 and go into a second window.
        assert_eq!(written_with(3000), (9064, 6056 + 8192));
    }

    #[test]
    fn dimension_ids_stay_together() {
        let version = Version::Classic;
        let attrs = vec![text("a", 8100)];
        let var = RawVar { name: Name::stored(b"v"), dims: vec![0; 10], nc_type: 2, ..RawVar::default() };
        let vars = vec![var];
        let mut header = Header { version, attrs, vars, ..Header::default() };
        let size = header.encode().unwrap().len() as u64;
        // Before them: 40 bytes and the text, the head of the list, the variable's name and its rank.
        assert_eq!(written(&mut header, size).unwrap(), 8160 + 8192);
    }
}
