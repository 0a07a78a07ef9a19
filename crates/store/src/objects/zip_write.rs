//! Writing a zip file (PKWARE APPNOTE.TXT 6.3.10): members one after the other, then the directory.
//!
//! Members are copied in pieces: a large one takes no more memory than a small one.

use ferrocdf_bytes::{Code, Error, Result, ToUsize};

use super::steps::step;
use super::zip::{
    END, END_LEN, END64, END64_LEN, END64_LOCATOR, END64_LOCATOR_LEN, ENTRY, ENTRY_LEN, Entry, MEMBER,
    MEMBER_LEN, ZIP64, damaged, extra_fields, u32_at, wide_numbers,
};
use crate::{Blob, BlobMut, FileBlob, WriteBehind};

/// Most bytes that are in memory at once.
pub(super) const PIECE: usize = 1 << 20;

/// Reads a blob piece by piece.
pub(super) struct Pieces<'b> {
    blob: &'b dyn Blob,
    /// Least number of bytes of a read.
    least: usize,
    /// The bytes that were read last, and their position.
    bytes: Vec<u8>,
    at: u64,
}

impl<'b> Pieces<'b> {
    /// Reads only what is asked for.
    pub(super) fn exact(blob: &'b dyn Blob) -> Pieces<'b> {
        Pieces { blob, least: 0, bytes: vec![], at: 0 }
    }

    /// Reads ahead: most of the blob is going to be read, in order.
    pub(super) fn ahead(blob: &'b dyn Blob) -> Pieces<'b> {
        Pieces { least: PIECE, ..Pieces::exact(blob) }
    }

    /// Reads at most `len` bytes, fewer only where the blob ends.
    pub(super) fn read_at_most(&mut self, at: u64, len: usize) -> Result<&[u8]> {
        let len = len.min(PIECE);
        let has = |this: &Self| {
            let skip = at.checked_sub(this.at).and_then(|skip| usize::try_from(skip).ok());
            skip.filter(|skip| skip.checked_add(len).is_some_and(|end| end <= this.bytes.len()))
        };
        if has(self).is_none() {
            let wanted = len.max(self.least);
            let more = wanted.saturating_sub(self.bytes.len());
            self.bytes.try_reserve_exact(more).map_err(|_| {
                Error::new(Code::ENOMEM, format!("{}: no memory for {wanted} bytes", self.blob.name()))
            })?;
            self.bytes.resize(wanted, 0);
            let got = self.blob.read_at(at, &mut self.bytes);
            self.bytes.truncate(*got.as_ref().unwrap_or(&0));
            self.at = at;
            got?;
        }
        let skip = has(self).unwrap_or(0);
        Ok(&self.bytes[skip..][..len.min(self.bytes.len() - skip)])
    }

    /// Reads `len` bytes, at most [`PIECE`].
    pub(super) fn read(&mut self, at: u64, len: usize) -> Result<&[u8]> {
        let bytes = self.read_at_most(at, len)?;
        if bytes.len() < len {
            return Err(damaged("it ends within a member".to_string()));
        }
        Ok(bytes)
    }

    /// Calls `each` with `len` bytes from a position on, piece by piece.
    pub(super) fn each(
        &mut self,
        at: u64,
        len: u64,
        mut each: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut done = 0;
        while done < len {
            let bytes = self.read(at + done, (len - done).at_most(PIECE))?;
            each(bytes)?;
            done += bytes.len() as u64;
        }
        Ok(())
    }
}

/// Writes one zip file.
pub(super) struct ZipWriter<'f> {
    out: WriteBehind<&'f FileBlob>,
    /// Bytes that were written.
    at: u64,
    /// Bytes at the begin of the file that positions do not count.
    shift: u64,
    directory: Vec<u8>,
    count: u64,
}

/// "version made by" Unix, and the versions that are needed: of files with Zip64, and of others.
const UNIX: u16 = 3 << 8;
const NEEDS: u16 = 20;
const NEEDS_ZIP64: u16 = 45;
/// Flag of names in UTF-8.
const UTF8: u16 = 1 << 11;
/// The first of January 1980: the file is the same whenever it is made.
const TIME: u16 = 0;
const DATE: u16 = 1 << 5 | 1;
/// A regular file that its owner may change and all may read.
const MODE: u32 = 0o100_644 << 16;

impl<'f> ZipWriter<'f> {
    /// Writes to an empty file.
    pub(super) fn new(out: &'f FileBlob) -> ZipWriter<'f> {
        ZipWriter { out: WriteBehind::new(out), at: 0, shift: 0, directory: vec![], count: 0 }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        step().map_err(|error| Error::system(error, self.out.name()))?;
        self.out.write_at(self.at, bytes)?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    fn copy(&mut self, from: &mut Pieces<'_>, at: u64, len: u64) -> Result<()> {
        from.each(at, len, |bytes| self.put(bytes))
    }

    fn add_entry(&mut self, parts: &[&[u8]]) -> Result<()> {
        let len = parts.iter().map(|part| part.len()).sum();
        let reserved = self.directory.try_reserve(len);
        reserved.map_err(|_| Error::new(Code::ENOMEM, "no memory for the directory of the zip file"))?;
        parts.iter().for_each(|part| self.directory.extend(*part));
        self.count += 1;
        Ok(())
    }

    /// Copies `len` bytes from the begin of another zip file, before any member. Positions do not count the first `shift` of them.
    pub(super) fn copy_prefix(&mut self, from: &mut Pieces<'_>, len: u64, shift: u64) -> Result<()> {
        self.shift = shift;
        self.copy(from, 0, len)
    }

    /// Copies a member of another file, with `len` bytes from its header on.
    pub(super) fn copy_member(
        &mut self,
        entry: &Entry<'_>,
        from: &mut Pieces<'_>,
        at: u64,
        len: u64,
    ) -> Result<()> {
        let header = self.at - self.shift;
        self.copy(from, at, len)?;
        // The extra field has the numbers that do not fit in the entry, in this order: both sizes, the position.
        let sizes = [24, 20].iter().filter(|&&at| u32_at(entry.fixed, at) == u32::MAX).count();
        let is_wide = header >= u64::from(u32::MAX);
        let numbers: Vec<u64> =
            wide_numbers(entry.extra).take(sizes).chain(is_wide.then_some(header)).collect();
        let mut extra = zip64_field(&numbers);
        let others = extra_fields(entry.extra).filter(|(number, _)| *number != Some(ZIP64));
        others.for_each(|(_, field)| extra.extend(field));
        let extra_len = u16::try_from(extra.len())
            .map_err(|_| damaged("a member has too many extra fields to get another one".to_string()))?;
        let mut fixed = [0; ENTRY_LEN];
        fixed.copy_from_slice(entry.fixed);
        if is_wide {
            let needed = u16::from_le_bytes([fixed[6], fixed[7]]).max(NEEDS_ZIP64);
            fixed[6..8].copy_from_slice(&needed.to_le_bytes());
        }
        fixed[30..32].copy_from_slice(&extra_len.to_le_bytes());
        // The number of the disk: there is one.
        fixed[34..36].copy_from_slice(&[0; 2]);
        fixed[42..46].copy_from_slice(&narrow(header, is_wide).to_le_bytes());
        self.add_entry(&[&fixed, entry.name, &extra, entry.comment])
    }

    /// Adds an object of `size` bytes at a position of a blob, as a stored member.
    pub(super) fn add(
        &mut self,
        name: &str,
        crc: u32,
        from: &mut Pieces<'_>,
        at: u64,
        size: u64,
    ) -> Result<()> {
        let name_len = name_len(name)?;
        let header = self.at - self.shift;
        let is_wide = |numbers: &[u64]| numbers.iter().any(|&number| number >= u64::from(u32::MAX));
        let flags = if name.is_ascii() { 0 } else { UTF8 };
        // What both headers have in the same order: from the version to the length of the name.
        let common = |is_wide: bool| {
            let mut bytes = vec![];
            for number in [if is_wide { NEEDS_ZIP64 } else { NEEDS }, flags, 0, TIME, DATE] {
                bytes.extend(number.to_le_bytes());
            }
            bytes.extend(crc.to_le_bytes());
            for number in [size, size] {
                bytes.extend(narrow(number, is_wide).to_le_bytes());
            }
            bytes.extend(name_len.to_le_bytes());
            bytes
        };
        let wide = is_wide(&[size]);
        let extra = if wide { zip64_field(&[size, size]) } else { vec![] };
        let mut own = Vec::with_capacity(MEMBER_LEN + name.len() + extra.len());
        own.extend(MEMBER);
        own.extend(common(wide));
        own.extend(len16(&extra)?.to_le_bytes());
        own.extend(name.as_bytes());
        own.extend(extra);
        self.put(&own)?;
        self.copy(from, at, size)?;

        let wide = is_wide(&[size, header]);
        let extra = if wide { zip64_field(&[size, size, header]) } else { vec![] };
        let mut fixed = Vec::with_capacity(ENTRY_LEN);
        fixed.extend(ENTRY);
        fixed.extend((UNIX | NEEDS).to_le_bytes());
        fixed.extend(common(wide));
        fixed.extend(len16(&extra)?.to_le_bytes());
        // No comment, on the first disk, of bytes.
        fixed.extend([0; 6]);
        fixed.extend(MODE.to_le_bytes());
        fixed.extend(narrow(header, wide).to_le_bytes());
        self.add_entry(&[&fixed, name.as_bytes(), &extra])
    }

    /// Writes the directory and the comment of the file.
    pub(super) fn finish(mut self, comment: &[u8]) -> Result<()> {
        let (begin, directory) = (self.at - self.shift, std::mem::take(&mut self.directory));
        self.put(&directory)?;
        let (len, end) = (directory.len() as u64, self.at - self.shift);
        let is_wide = self.count >= u64::from(u16::MAX) || len.max(begin) >= u64::from(u32::MAX);
        let mut bytes = Vec::with_capacity(END64_LEN + END64_LOCATOR_LEN + END_LEN + comment.len());
        if is_wide {
            bytes.extend(END64);
            // Bytes of the record behind this number.
            bytes.extend((END64_LEN as u64 - 12).to_le_bytes());
            bytes.extend((UNIX | NEEDS_ZIP64).to_le_bytes());
            bytes.extend(NEEDS_ZIP64.to_le_bytes());
            bytes.extend([0; 8]);
            for number in [self.count, self.count, len, begin] {
                bytes.extend(number.to_le_bytes());
            }
            bytes.extend(END64_LOCATOR);
            bytes.extend(0u32.to_le_bytes());
            bytes.extend(end.to_le_bytes());
            bytes.extend(1u32.to_le_bytes());
        }
        let count = u16::try_from(self.count).ok().filter(|_| !is_wide).unwrap_or(u16::MAX);
        bytes.extend(END);
        bytes.extend([0; 4]);
        bytes.extend(count.to_le_bytes());
        bytes.extend(count.to_le_bytes());
        bytes.extend(narrow(len, is_wide).to_le_bytes());
        bytes.extend(narrow(begin, is_wide).to_le_bytes());
        bytes.extend(len16(comment)?.to_le_bytes());
        bytes.extend(comment);
        self.put(&bytes)?;
        self.out.flush()
    }
}

/// Returns the length of the name of a member.
///
/// # Errors
/// `NC_EMAXNAME` for one that a zip file cannot hold.
pub(super) fn name_len(name: &str) -> Result<u16> {
    u16::try_from(name.len()).map_err(|_| {
        Error::new(
            Code::EMAXNAME,
            format!("a key of {} bytes; a zip file holds names of up to 65535", name.len()),
        )
    })
}

/// Returns the length of a field that has its length in 16 bits.
///
/// # Errors
/// `NC_EINTERNAL` for one that is longer.
fn len16(bytes: &[u8]) -> Result<u16> {
    let longer =
        |_| Error::new(Code::EINTERNAL, format!("a field of {} bytes; a zip file holds 65535", bytes.len()));
    u16::try_from(bytes.len()).map_err(longer)
}

/// Returns the extra field with numbers of 64 bits; nothing without numbers.
fn zip64_field(numbers: &[u64]) -> Vec<u8> {
    if numbers.is_empty() {
        return vec![];
    }
    let len = numbers.iter().map(|_| 8).sum();
    let mut bytes = [ZIP64, len].map(u16::to_le_bytes).concat();
    numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
    bytes
}

/// Returns a number as a field of 32 bits has it; one that stands in a record of Zip64 is all ones there.
fn narrow(number: u64, is_wide: bool) -> u32 {
    u32::try_from(number).ok().filter(|_| !is_wide).unwrap_or(u32::MAX)
}
