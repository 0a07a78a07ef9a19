//! The external data files message: contiguous data in files of its own (specification, section IV.A.2.h).

use ferrocdf_bytes::Result;

use crate::wire::Reader;
use crate::{Address, Sizes};

/// Where the bytes of a dataset lie in other files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalFiles {
    /// The local heap that holds the names.
    pub heap: Address,
    /// The pieces, one behind the other.
    pub slots: Vec<ExternalSlot>,
}

/// A piece of a dataset in another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalSlot {
    /// Where the name of the file is in the heap.
    pub name: u64,
    /// The byte of the file where the piece begins.
    pub offset: u64,
    /// Its bytes, `None` without limit.
    pub size: Option<u64>,
}

impl ExternalFiles {
    /// The files from a message.
    ///
    /// # Errors
    /// `EHDFERR` for bytes that are no such message.
    pub fn decode(bytes: &[u8], sizes: Sizes) -> Result<ExternalFiles> {
        let mut r = Reader::new("external data files", bytes);
        r.version(1..=1)?;
        r.skip(3)?;
        let (allocated, used) = (r.u16()?, r.u16()?);
        if used > allocated {
            return Err(r.error(format_args!("{used} slots of {allocated} are used")));
        }
        let heap = r.defined(sizes, "name heap")?;
        let mut slots = Vec::new();
        for _ in 0..used {
            let (name, offset) = (r.length(sizes)?, r.length(sizes)?);
            let size = Some(r.length(sizes)?).filter(|&size| size != sizes.unlimited());
            slots.push(ExternalSlot { name, offset, size });
        }
        Ok(ExternalFiles { heap, slots })
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
