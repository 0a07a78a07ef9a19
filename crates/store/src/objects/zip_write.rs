//! Writing a zip file (PKWARE APPNOTE.TXT 6.3.10): members one after the other, then the directory.

use std::borrow::Cow;
use std::io::{self, ErrorKind, Write};

use super::zip::{
    END, END_LEN, END64, END64_LEN, END64_LOCATOR, END64_LOCATOR_LEN, ENTRY, ENTRY_LEN, MEMBER, MEMBER_LEN,
    ZIP64,
};

/// The bytes of a member as the file has them.
pub(super) struct MemberBytes<'b> {
    pub(super) is_deflated: bool,
    /// Checksum of the object (CRC-32).
    pub(super) crc: u32,
    /// Bytes of the object.
    pub(super) size: u64,
    pub(super) bytes: Cow<'b, [u8]>,
}

impl MemberBytes<'_> {
    /// Returns the member of an object that is stored as it is.
    pub(super) fn stored(bytes: &[u8]) -> MemberBytes<'_> {
        let crc = libdeflater::crc32(bytes);
        MemberBytes { is_deflated: false, crc, size: bytes.len() as u64, bytes: Cow::Borrowed(bytes) }
    }
}

/// Writes one zip file.
pub(super) struct ZipWriter<W> {
    out: W,
    /// Bytes that were written.
    at: u64,
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

impl<W: Write> ZipWriter<W> {
    pub(super) fn new(out: W) -> ZipWriter<W> {
        ZipWriter { out, at: 0, directory: vec![], count: 0 }
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    /// Adds a member.
    pub(super) fn member(&mut self, name: &str, member: &MemberBytes<'_>) -> io::Result<()> {
        let name_len = u16::try_from(name.len()).map_err(|_| io::Error::from(ErrorKind::InvalidFilename))?;
        let (header, stored) = (self.at, member.bytes.len() as u64);
        let is_wide = |numbers: &[u64]| numbers.iter().any(|&number| number >= u64::from(u32::MAX));
        let flags = if name.is_ascii() { 0 } else { UTF8 };
        let method: u16 = if member.is_deflated { 8 } else { 0 };
        // What both headers have in the same order: from the version to the length of the name.
        let common = |is_wide: bool| {
            let mut bytes = vec![];
            for number in [if is_wide { NEEDS_ZIP64 } else { NEEDS }, flags, method, TIME, DATE] {
                bytes.extend(number.to_le_bytes());
            }
            bytes.extend(member.crc.to_le_bytes());
            for number in [stored, member.size] {
                bytes.extend(narrow(number, is_wide).to_le_bytes());
            }
            bytes.extend(name_len.to_le_bytes());
            bytes
        };
        let extra = |is_wide: bool, numbers: &[u64]| {
            let mut bytes = vec![];
            if is_wide {
                bytes.extend(ZIP64.to_le_bytes());
                bytes.extend((8 * numbers.len() as u16).to_le_bytes());
                numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
            }
            bytes
        };
        let wide = is_wide(&[member.size, stored]);
        let more = extra(wide, &[member.size, stored]);
        let mut own = Vec::with_capacity(MEMBER_LEN + name.len() + more.len());
        own.extend(MEMBER);
        own.extend(common(wide));
        own.extend((more.len() as u16).to_le_bytes());
        own.extend(name.as_bytes());
        own.extend(more);
        self.put(&own)?;
        self.put(&member.bytes)?;

        let wide = is_wide(&[member.size, stored, header]);
        let more = extra(wide, &[member.size, stored, header]);
        self.directory.reserve(ENTRY_LEN + name.len() + more.len());
        self.directory.extend(ENTRY);
        self.directory.extend((UNIX | NEEDS).to_le_bytes());
        self.directory.extend(common(wide));
        self.directory.extend((more.len() as u16).to_le_bytes());
        // No comment, on the first disk, of bytes.
        self.directory.extend([0; 6]);
        self.directory.extend(MODE.to_le_bytes());
        self.directory.extend(narrow(header, wide).to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.directory.extend(more);
        self.count += 1;
        Ok(())
    }

    /// Writes the directory, and returns what was written to.
    pub(super) fn finish(mut self) -> io::Result<W> {
        let (begin, directory) = (self.at, std::mem::take(&mut self.directory));
        self.put(&directory)?;
        let (len, end) = (directory.len() as u64, self.at);
        let is_wide = self.count >= u64::from(u16::MAX) || len.max(begin) >= u64::from(u32::MAX);
        let mut bytes = Vec::with_capacity(END64_LEN + END64_LOCATOR_LEN + END_LEN);
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
        let count = if is_wide { u16::MAX } else { self.count as u16 };
        bytes.extend(END);
        bytes.extend([0; 4]);
        bytes.extend(count.to_le_bytes());
        bytes.extend(count.to_le_bytes());
        bytes.extend(narrow(len, is_wide).to_le_bytes());
        bytes.extend(narrow(begin, is_wide).to_le_bytes());
        bytes.extend([0; 2]);
        self.put(&bytes)?;
        Ok(self.out)
    }
}

/// Returns a number as a field of 32 bits has it; one that stands in a record of Zip64 is all ones there.
fn narrow(number: u64, is_wide: bool) -> u32 {
    if is_wide { u32::MAX } else { number as u32 }
}
