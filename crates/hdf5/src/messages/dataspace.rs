//! "Dataspace Message": how many elements there are.

use ferrocdf_bytes::Result;

use crate::Sizes;
use crate::wire::Reader;

/// A dataspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dataspace {
    elements: Option<u64>,
}

impl Dataspace {
    /// Takes a message apart.
    pub fn decode(bytes: &[u8], sizes: Sizes) -> Result<Dataspace> {
        let mut reader = Reader::new("dataspace message", bytes);
        let version = reader.version(1..=2)?;
        let rank = reader.u8()?;
        reader.skip(1)?;
        let null = reader.u8()? == 2 && version == 2;
        reader.skip(if version == 1 { 4 } else { 0 })?;
        let mut elements = Some(if null { 0 } else { 1u64 });
        for _ in 0..rank {
            let len = reader.length(sizes)?;
            elements = elements.and_then(|elements| elements.checked_mul(len));
        }
        Ok(Dataspace { elements })
    }

    /// The number of elements; `None` if it has more than 64 bits.
    pub fn elements(&self) -> Option<u64> {
        self.elements
    }
}
