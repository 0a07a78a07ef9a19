//! "Free-space Manager" (III.H) of fractal heaps: its header.
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Coder, Record, Result};

use crate::fields::Fields;
use crate::wire::CHECKSUM;
use crate::{Address, Sizes};

/// "Free-space Manager Header".
pub(crate) struct FreeSpaceManager {
    sizes: Sizes,
    /// Fields that readers have no use for.
    passed: u64,
    /// The serialized list of sections.
    pub sections: Option<Address>,
    /// Bytes that were taken for the list.
    pub allocated: u64,
}

impl Record for FreeSpaceManager {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let (sizes, passed) = (self.sizes, &mut self.passed);
        c.signature(b"FSHD")?;
        c.version(0..=0, &mut 0)?;
        c.uint("client ID", 1, passed)?;
        c.length("total space tracked", sizes, passed)?;
        c.length("total number of sections", sizes, passed)?;
        c.length("number of serialized sections", sizes, passed)?;
        c.length("number of un-serialized sections", sizes, passed)?;
        c.uint("number of section classes", 2, passed)?;
        c.uint("shrink percent", 2, passed)?;
        c.uint("expand percent", 2, passed)?;
        c.uint("size of address space", 2, passed)?;
        c.length("maximum section size", sizes, passed)?;
        c.address("address of serialized section list", sizes, &mut self.sections)?;
        c.length("size of serialized section list used", sizes, passed)?;
        c.length("allocated size of serialized section list", sizes, &mut self.allocated)
    }
}

impl FreeSpaceManager {
    pub const WHAT: &str = "free-space manager header";

    /// A header to be read.
    pub fn unread(sizes: Sizes) -> FreeSpaceManager {
        FreeSpaceManager { sizes, passed: 0, sections: None, allocated: 0 }
    }

    /// Bytes of a header.
    pub fn len(sizes: Sizes) -> u64 {
        let lengths = sizes.length.saturating_mul(7);
        let numbers = 6_usize.saturating_add(8).saturating_add(CHECKSUM);
        numbers.saturating_add(lengths).saturating_add(sizes.offset) as u64
    }
}
