//! Fields that many structures have: versions, addresses, lengths, small numbers.
#![deny(clippy::arithmetic_side_effects)]

use std::ops::RangeInclusive;

use ferrocdf_bytes::{Code, Coder, Decoder, Encoder, Error, Record, Result, ToUsize};
use smallvec::SmallVec;

use crate::source::ORDER;
use crate::wire::{self, bad};
use crate::{Address, Sizes};

/// Fields that many structures have, in all directions that a [`Coder`] can run.
pub trait Fields: Coder {
    /// An error about the field just coded: `EHDFERR` for bytes that were read, `ERANGE` for a value that cannot be written.
    #[cold]
    fn wrong(&self, why: impl Into<String>) -> Error {
        self.error(if Self::READS { Code::EHDFERR } else { Code::ERANGE }, why.into())
    }

    /// A version number, which is one of `known`.
    #[inline]
    fn version(&mut self, known: RangeInclusive<u8>, version: &mut u8) -> Result<()> {
        self.int("version", version)?;
        if known.contains(version) { Ok(()) } else { Err(self.unknown_version(*version)) }
    }

    #[cold]
    fn unknown_version(&self, version: u8) -> Error {
        self.wrong(format!("version {version} is unknown"))
    }

    /// An unsigned number with the width of its type.
    #[inline]
    fn int<T: Copy + Into<u64> + TryFrom<u64>>(&mut self, name: &'static str, value: &mut T) -> Result<()> {
        let mut wide = (*value).into();
        self.uint(name, size_of::<T>(), &mut wide)?;
        // What was read has no more bytes than the type.
        *value = T::try_from(wide).unwrap_or(*value);
        Ok(())
    }

    /// Up to 8 bytes without a meaning: zero when written, and not looked at when read.
    #[inline]
    fn reserved(&mut self, len: usize) -> Result<()> {
        if len == 0 {
            return Ok(());
        }
        self.uint("reserved", len, &mut 0)
    }

    /// The four bytes that name a structure.
    fn signature(&mut self, signature: &[u8; 4]) -> Result<()> {
        let mut found = SmallVec::<[u8; 4]>::from(*signature);
        self.bytes("signature", 4, &mut found)?;
        if found[..] == signature[..] {
            return Ok(());
        }
        let (found, wanted) = (found.escape_ascii(), signature.escape_ascii());
        Err(self.wrong(format!("\"{found}\" stands where the signature \"{wanted}\" should be")))
    }

    /// A length of the file's width.
    #[inline]
    fn length(&mut self, name: &'static str, sizes: Sizes, value: &mut u64) -> Result<()> {
        self.uint(name, sizes.length, value)
    }

    /// A length of the file's width; `None` is the one without limit.
    #[inline]
    fn limit(&mut self, name: &'static str, sizes: Sizes, value: &mut Option<u64>) -> Result<()> {
        let mut stored = value.unwrap_or(sizes.unlimited());
        self.length(name, sizes, &mut stored)?;
        *value = (stored != sizes.unlimited()).then_some(stored);
        Ok(())
    }

    /// An address; `None` is the undefined one.
    #[inline]
    fn address(&mut self, name: &'static str, sizes: Sizes, value: &mut Option<Address>) -> Result<()> {
        if *value == Some(Address(sizes.undefined())) {
            return Err(self.wrong(format!("{name} is the address that means none")));
        }
        let mut stored = value.map_or(sizes.undefined(), |address| address.0);
        self.position(name, sizes.offset, &mut stored)?;
        *value = sizes.address(stored);
        Ok(())
    }

    /// An address that is defined.
    #[inline]
    fn defined(&mut self, name: &'static str, sizes: Sizes, value: &mut Address) -> Result<()> {
        let mut stored = Some(*value);
        self.address(name, sizes, &mut stored)?;
        *value = stored.ok_or_else(|| self.wrong(format!("{name} is undefined")))?;
        Ok(())
    }
}

impl<C: Coder> Fields for C {}

/// Reads a structure from the first bytes of a message, or of another structure, and returns how many it takes. `what` names it in
/// errors.
///
/// # Errors
/// `EHDFERR` for bytes that are no such structure.
pub fn read(record: &mut impl Record, what: &str, bytes: &[u8]) -> Result<usize> {
    let mut decoder = Decoder::new(bytes, ORDER, true);
    match record.fields(&mut decoder) {
        Ok(()) => Ok(decoder.offset().saturate()),
        Err(error) => Err(of_structure(what, &error)),
    }
}

/// An error of a field as one of its structure.
#[cold]
fn of_structure(what: &str, error: &Error) -> Error {
    bad(format!("{what}: {}", error.what))
}

/// Returns the bytes of a structure. `what` names it in errors.
///
/// # Errors
/// `ERANGE` for what it cannot hold.
pub fn write(record: &mut impl Record, what: &str) -> Result<Vec<u8>> {
    let mut encoder = Encoder::new(ORDER, 0);
    record.fields(&mut encoder).map_err(|error| Error::new(error.code, format!("{what}: {}", error.what)))?;
    Ok(encoder.finish())
}

/// Reads a structure whose last four bytes are its checksum: checks that, and returns the bytes behind the fields of `record`, and
/// before the checksum.
///
/// # Errors
/// `EHDFERR` for a wrong checksum, and for bytes that are no such structure.
pub fn read_checked<'a>(
    record: &mut impl Record,
    what: &str,
    at: Address,
    bytes: &'a [u8],
) -> Result<&'a [u8]> {
    let mut decoder = Decoder::new(wire::checked(what, at, bytes)?, ORDER, true);
    record.fields(&mut decoder).map_err(|error| bad(format!("{what} at {at}: {}", error.what)))?;
    Ok(decoder.rest())
}
