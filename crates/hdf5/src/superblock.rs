//! "Format Signature and Superblock" (II.A): where a file's base address is, how wide its numbers are, its root group.
//!
//! The place where the signature was found is the base address, whatever the file says: that is how a user block may
//! be put before a finished file, or taken off. File consistency flags are not heeded, except that a file under a
//! single writer may be shorter than it says.

use ferrocdf_bytes::{Code, Coder, Error, Record, Result};
use ferrocdf_store::Blob;
use smallvec::SmallVec;

use crate::fields::Fields;
use crate::messages::small::TreeSizes;
use crate::wire::{self, CHECKSUM, Writer, bad};
use crate::{Address, Sizes};

/// The first bytes of a superblock.
pub const SIGNATURE: [u8; 8] = *b"\x89HDF\r\n\x1a\n";
/// The smallest user block; larger ones are this times a power of two.
const SMALLEST_USER_BLOCK: u64 = 512;
/// What is read first: it holds the superblock of a file without a user block, and mostly some of the root group.
const FIRST_READ: u64 = 4096;
/// More than any superblock has.
const LARGEST: u64 = 128;
const WHAT: &str = "superblock";

/// What a superblock says.
#[derive(Clone, Debug)]
pub struct Superblock {
    /// 0 to 3.
    pub version: u8,
    /// Byte of the blob that is address 0: the size of the user block.
    pub base: u64,
    /// How wide addresses and lengths are.
    pub sizes: Sizes,
    /// The object header of the root group.
    pub root: Address,
    /// The object header with more about the file (versions 2 and 3).
    pub extension: Option<Address>,
    /// The block that says which driver wrote the file (versions 0 and 1).
    pub driver: Option<Address>,
    /// Bytes that the file should have, user block included.
    pub end: u64,
}

/// "Superblock" as stored, all versions.
#[derive(Debug, Default)]
pub(crate) struct StoredSuperblock {
    version: u64,
    offset: u64,
    length: u64,
    flags: u64,
    base: u64,
    extension: u64,
    end: u64,
    driver: u64,
    root: u64,
    /// Half the children of nodes of version 1 B-trees (versions 0 and 1).
    pub tree_sizes: TreeSizes,
    /// Fields that readers have no use for.
    passed: u64,
}

impl Record for StoredSuperblock {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.uint("version", 1, &mut self.version)?;
        match self.version {
            0 | 1 => self.fields_0_1(c),
            2 | 3 => self.fields_2_3(c),
            other => Err(c.error(Code::EHDFERR, format!("superblock version {other} is unknown"))),
        }
    }
}

/// "Driver Information" (II.B) of superblocks of versions 0 and 1, before what the driver keeps.
#[derive(Debug, Default)]
pub(crate) struct DriverBlock {
    /// Bytes that the driver keeps.
    pub size: u32,
    /// Which driver wrote the file.
    pub name: SmallVec<[u8; 8]>,
}

impl Record for DriverBlock {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.version(0..=0, &mut 0)?;
        c.reserved(3)?;
        c.int("driver information size", &mut self.size)?;
        c.bytes("driver identification", 8, &mut self.name)
    }
}

impl DriverBlock {
    pub const WHAT: &str = "driver information block";
    /// Bytes before what the driver keeps.
    pub const HEAD: u64 = 16;
}

impl StoredSuperblock {
    /// The driver information block.
    pub fn driver(&self, sizes: Sizes) -> Option<Address> {
        if self.version < 2 { sizes.address(self.driver) } else { None }
    }

    /// The object headers of the root group and of the superblock extension.
    pub fn headers(&self, sizes: Sizes) -> [Option<Address>; 2] {
        let extension = if self.version >= 2 { sizes.address(self.extension) } else { None };
        [sizes.address(self.root), extension]
    }

    fn fields_0_1<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.uint("version of free space storage", 1, &mut self.passed)?;
        c.uint("version of root group symbol table entry", 1, &mut self.passed)?;
        c.uint("reserved", 1, &mut self.passed)?;
        c.uint("version of shared header message format", 1, &mut self.passed)?;
        c.uint("size of offsets", 1, &mut self.offset)?;
        c.uint("size of lengths", 1, &mut self.length)?;
        c.uint("reserved", 1, &mut self.passed)?;
        c.int("group leaf node K", &mut self.tree_sizes.symbols)?;
        c.int("group internal node K", &mut self.tree_sizes.groups)?;
        c.uint("file consistency flags", 4, &mut self.flags)?;
        if self.version == 1 {
            c.int("indexed storage internal node K", &mut self.tree_sizes.chunks)?;
            c.uint("reserved", 2, &mut self.passed)?;
        }
        let Sizes { offset, length } = self.sizes()?;
        c.position("base address", offset, &mut self.base)?;
        c.position("address of file free space info", offset, &mut self.passed)?;
        c.position("end of file address", offset, &mut self.end)?;
        c.position("driver information block address", offset, &mut self.driver)?;
        // The start of the root group's symbol table entry.
        c.uint("link name offset", length, &mut self.passed)?;
        c.position("object header address", offset, &mut self.root)
    }

    fn fields_2_3<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.uint("size of offsets", 1, &mut self.offset)?;
        c.uint("size of lengths", 1, &mut self.length)?;
        c.uint("file consistency flags", 1, &mut self.flags)?;
        let Sizes { offset, .. } = self.sizes()?;
        c.position("base address", offset, &mut self.base)?;
        c.position("superblock extension address", offset, &mut self.extension)?;
        c.position("end of file address", offset, &mut self.end)?;
        c.position("root group object header address", offset, &mut self.root)
    }

    pub fn sizes(&self) -> Result<Sizes> {
        let width = |what: &str, stored: u64| match stored {
            2 => Ok(2),
            4 => Ok(4),
            8 => Ok(8),
            other => Err(bad(format!("superblock: {what} take {other} bytes, not 2, 4 or 8"))),
        };
        Ok(Sizes { offset: width("addresses", self.offset)?, length: width("lengths", self.length)? })
    }

    /// Bytes behind these fields: the checksum, or "Cache Type", "Reserved" and "Scratch-pad Space" of the entry of the root group.
    pub fn behind_fields(&self) -> u64 {
        if self.version < 2 { 4 + 4 + 16 } else { CHECKSUM as u64 }
    }

    /// Whether one process may be writing while others read.
    fn is_under_a_single_writer(&self) -> bool {
        self.version == 3 && self.flags & 0x04 != 0
    }
}

/// True if a blob has the signature of an HDF5 file at its begin or behind a user block (II.A).
pub fn is_hdf5(blob: &dyn Blob) -> Result<bool> {
    let mut bytes = [0; SIGNATURE.len()];
    let mut base = 0_u64;
    while blob.read_at(base, &mut bytes)? == bytes.len() {
        if bytes == SIGNATURE {
            return Ok(true);
        }
        base = base.saturating_mul(2).max(SMALLEST_USER_BLOCK);
    }
    Ok(false)
}

impl Superblock {
    /// A superblock of version 2 or 3, signature and checksum included. It belongs at [`Superblock::base`].
    ///
    /// # Errors
    /// `ERANGE` for a number that the file's widths cannot hold; `EHDFERR` for another version.
    pub fn encode(&self) -> Result<Vec<u8>> {
        if !(2..=3).contains(&self.version) {
            return Err(bad(format!("superblocks of version {} are not written", self.version)));
        }
        let mut stored = StoredSuperblock {
            version: self.version.into(),
            offset: self.sizes.offset as u64,
            length: self.sizes.length as u64,
            flags: 0,
            base: self.base,
            extension: self.extension.map_or(self.sizes.undefined(), |at| at.0),
            end: self.end,
            root: self.root.0,
            ..StoredSuperblock::default()
        };
        let mut w = Writer::new(WHAT);
        w.bytes(&SIGNATURE);
        w.bytes(&wire::encode(&mut stored).map_err(|error| error.at(WHAT))?);
        w.finish_checked()
    }

    /// Bytes of a superblock of version 2 or 3.
    pub fn encoded_len(sizes: Sizes) -> u64 {
        (SIGNATURE.len() + 4 + 4 * sizes.offset + CHECKSUM) as u64
    }

    /// Finds and reads it. `NC_ENOTNC` where there is none.
    pub fn find(blob: &dyn Blob) -> Result<Superblock> {
        let (base, bytes) = locate(blob)?;
        Self::decode(&bytes[SIGNATURE.len()..], base, blob.size()?)
    }

    /// What the bytes behind the signature say, which was found at byte `base` of a blob of `size` bytes.
    fn decode(fields: &[u8], base: u64, size: u64) -> Result<Superblock> {
        let mut stored = StoredSuperblock::default();
        let at = Address(0);
        wire::decode(&mut stored, WHAT, at, fields)?;
        let sizes = stored.sizes()?;
        if stored.version >= 2 {
            let len = 4 + 4 * sizes.offset;
            let mut bytes = SIGNATURE.to_vec();
            bytes.extend_from_slice(fields.get(..len + CHECKSUM).unwrap_or(fields));
            wire::checked(WHAT, at, &bytes)?;
        }
        // The file was moved by this many bytes after its end was written down.
        let end = base
            .checked_sub(stored.base)
            .map_or_else(|| stored.end.checked_sub(stored.base - base), |moved| stored.end.checked_add(moved))
            .ok_or_else(|| bad("superblock: the end of the file lies before its start"))?;
        if end > size && !stored.is_under_a_single_writer() {
            let why = format!("the file is truncated: it has {size} bytes of the {end} it was closed with");
            return Err(bad(why));
        }
        let [root, extension] = stored.headers(sizes);
        let undefined = || bad("superblock: the address of the root group is undefined");
        Ok(Superblock {
            version: stored.version as u8,
            base,
            sizes,
            root: root.ok_or_else(undefined)?,
            extension,
            driver: stored.driver(sizes),
            end,
        })
    }
}

/// Returns the sizes of version 1 B-trees that a superblock of version 0 or 1 says.
pub(crate) fn tree_sizes(blob: &dyn Blob) -> Result<TreeSizes> {
    let (_, bytes) = locate(blob)?;
    let mut stored = StoredSuperblock::default();
    wire::decode(&mut stored, WHAT, Address(0), &bytes[SIGNATURE.len()..])?;
    Ok(stored.tree_sizes)
}

/// Finds the signature: its byte, and the first bytes from there on, which hold the superblock.
pub(crate) fn locate(blob: &dyn Blob) -> Result<(u64, Vec<u8>)> {
    let size = blob.size()?;
    let mut first = vec![0; size.min(FIRST_READ) as usize];
    blob.read_exact_at(0, &mut first)?;
    let mut base = 0;
    while base < size {
        let mut bytes = vec![0; (size - base).min(LARGEST) as usize];
        match usize::try_from(base).ok().and_then(|at| first.get(at..at.checked_add(bytes.len())?)) {
            Some(there) => bytes.copy_from_slice(there),
            None => blob.read_exact_at(base, &mut bytes)?,
        }
        if bytes.starts_with(&SIGNATURE) {
            return Ok((base, bytes));
        }
        base = (base * 2).max(SMALLEST_USER_BLOCK);
    }
    Err(Error::new(Code::ENOTNC, format!("{}: no HDF5 signature", blob.name())))
}

/// "Driver Information" (II.B and its message): an error if this file is a part of one that lies in several files. Its
/// `name` has 8 bytes.
pub fn check_driver(name: &[u8]) -> Result<()> {
    let parts = match name {
        b"NCSAfami" => "a family of files, cut into pieces of one size",
        b"NCSAmult" => "several files, one for each kind of data",
        _ => return Ok(()),
    };
    Err(bad(format!("this file is a part of {parts}, and cannot be read alone")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the reference writes it into an empty file.
    const TWO: &str = "\
        894844460d0a1a0a 02 08 08 00 0000000000000000 ffffffffffffffff eb3a000000000000 3000000000000000 36ab2000";

    #[test]
    fn version_2_as_the_reference_writes_it() {
        let digits: Vec<u8> = TWO.bytes().filter(u8::is_ascii_hexdigit).collect();
        let digit = |d: u8| (d as char).to_digit(16).unwrap() as u8;
        let bytes: Vec<u8> =
            digits.chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect();
        let superblock = Superblock::decode(&bytes[8..], 0, 0x3aeb).unwrap();
        assert_eq!(superblock.encode().unwrap(), bytes);
        assert_eq!(Superblock::encoded_len(superblock.sizes), bytes.len() as u64);
        // Behind a user block, with an extension, and short numbers.
        let sizes = Sizes { offset: 4, length: 2 };
        let other = Superblock {
            version: 3,
            base: 512,
            sizes,
            extension: Some(Address(99)),
            end: 1000,
            ..superblock.clone()
        };
        let again = Superblock::decode(&other.encode().unwrap()[8..], 512, 1000).unwrap();
        assert_eq!(format!("{again:?}"), format!("{other:?}"));
        assert!(Superblock { end: 1 << 32, ..other }.encode().is_err());
        assert!(Superblock { version: 1, ..superblock }.encode().is_err());
    }
}
