//! "File Space Info Message": how the space of the file is managed. It is in the superblock extension.

use ferrocdf_bytes::Result;

use crate::Sizes;
use crate::wire::Reader;

/// The strategy of pages (`H5F_FSPACE_STRATEGY_PAGE`).
const PAGES: u8 = 1;

/// The fields that matter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceInfo {
    /// Bytes of a page: metadata and small data are kept together in pages. 1 in a file without pages.
    pub page: u64,
    /// True if the message has the addresses of lists of free space.
    pub persists: bool,
    /// Bytes of the message before these addresses.
    pub known: usize,
}

impl SpaceInfo {
    /// Reads the body of a message; `None` for the form of development versions before 1.10.
    pub fn decode(body: &[u8], sizes: Sizes) -> Result<Option<SpaceInfo>> {
        let mut reader = Reader::new("file space info message", body);
        if reader.u8()? != 1 {
            return Ok(None);
        }
        let (strategy, persists) = (reader.u8()?, reader.u8()? != 0);
        // The free space threshold.
        reader.skip(sizes.length)?;
        let size = reader.length(sizes)?;
        // The threshold for metadata at the end of a page.
        reader.skip(2)?;
        let page = if strategy == PAGES { size.max(1) } else { 1 };
        Ok(Some(SpaceInfo { page, persists, known: reader.position() }))
    }
}
