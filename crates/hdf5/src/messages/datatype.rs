//! "Datatype Message": how large an element is.

use ferrocdf_bytes::Result;

use crate::wire::Reader;

/// A datatype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datatype {
    size: u32,
}

impl Datatype {
    /// Takes a message apart.
    pub fn decode(bytes: &[u8]) -> Result<Datatype> {
        let mut reader = Reader::new("datatype message", bytes);
        reader.skip(4)?;
        Ok(Datatype { size: reader.u32()? })
    }

    /// Bytes of an element.
    pub fn size(&self) -> u32 {
        self.size
    }
}
