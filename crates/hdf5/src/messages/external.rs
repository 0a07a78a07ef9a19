//! The external data files message: contiguous data in files of its own (specification, section IV.A.2.h).
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Coder, Record, Result};

use crate::fields::{self, Fields};
use crate::{Address, Sizes};

/// Where the bytes of a dataset lie in other files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExternalFiles {
    /// The local heap that holds the names.
    pub heap: Address,
    /// The pieces, one behind the other.
    pub slots: Vec<ExternalSlot>,
}

/// A piece of a dataset in another file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExternalSlot {
    /// Where the name of the file is in the heap.
    pub name: u64,
    /// The byte of the file where the piece begins.
    pub offset: u64,
    /// Its bytes, `None` without limit.
    pub size: Option<u64>,
}

/// "External Data Files Message".
pub(crate) struct ExternalFilesMessage<'a> {
    pub files: &'a mut ExternalFiles,
    pub sizes: Sizes,
}

impl Record for ExternalFilesMessage<'_> {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let (files, sizes) = (&mut *self.files, self.sizes);
        c.version(1..=1, &mut 1)?;
        c.reserved(3)?;
        let mut used = files.slots.len() as u64;
        let mut allocated = used;
        c.uint("allocated slots", 2, &mut allocated)?;
        c.uint("used slots", 2, &mut used)?;
        if used > allocated {
            return Err(c.wrong(format!("{used} slots of {allocated} are used")));
        }
        c.defined("heap address", sizes, &mut files.heap)?;
        c.list("slot", used, &mut files.slots, |slot, c| {
            c.length("offset of the name in the local heap", sizes, &mut slot.name)?;
            c.length("offset in the external data file", sizes, &mut slot.offset)?;
            c.limit("data size", sizes, &mut slot.size)
        })
    }
}

impl ExternalFiles {
    /// The files from a message.
    ///
    /// # Errors
    /// `EHDFERR` for bytes that are no such message.
    pub fn decode(bytes: &[u8], sizes: Sizes) -> Result<ExternalFiles> {
        let mut files = ExternalFiles::default();
        fields::read(&mut ExternalFilesMessage { files: &mut files, sizes }, "external data files", bytes)?;
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots() {
        let sizes = Sizes { offset: 2, length: 2 };
        let bytes = [1, 0, 0, 0, 2, 0, 2, 0, 9, 0, 8, 0, 4, 0, 100, 0, 16, 0, 0, 0, 255, 255];
        let slots = vec![
            ExternalSlot { name: 8, offset: 4, size: Some(100) },
            ExternalSlot { name: 16, offset: 0, size: None },
        ];
        assert_eq!(ExternalFiles::decode(&bytes, sizes).unwrap(), ExternalFiles { heap: Address(9), slots });
        assert!(ExternalFiles::decode(&bytes[..20], sizes).is_err());
    }
}
