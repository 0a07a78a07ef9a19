//! "File Space Info Message": how the space of the file is managed. It is in the superblock extension.
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Coder, Record, Result};

use crate::Sizes;
use crate::fields::{self, Fields};

/// The version of HDF5 1.10 and later.
const VERSION: u8 = 1;
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

/// "File Space Info Message", up to the addresses of lists of free space.
pub(crate) struct FileSpaceInfoMessage {
    sizes: Sizes,
    strategy: u8,
    persists: u8,
    threshold: u64,
    page_size: u64,
    page_end_threshold: u16,
}

impl Record for FileSpaceInfoMessage {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.version(VERSION..=VERSION, &mut { VERSION })?;
        c.int("strategy", &mut self.strategy)?;
        c.int("persisting free space", &mut self.persists)?;
        c.length("free space section threshold", self.sizes, &mut self.threshold)?;
        c.length("file space page size", self.sizes, &mut self.page_size)?;
        c.int("page end metadata threshold", &mut self.page_end_threshold)
    }
}

impl FileSpaceInfoMessage {
    /// A message to be read.
    pub fn unread(sizes: Sizes) -> FileSpaceInfoMessage {
        FileSpaceInfoMessage {
            sizes,
            strategy: 0,
            persists: 0,
            threshold: 0,
            page_size: 0,
            page_end_threshold: 0,
        }
    }
}

impl SpaceInfo {
    /// Reads the body of a message; `None` for the form of development versions before 1.10.
    pub fn decode(body: &[u8], sizes: Sizes) -> Result<Option<SpaceInfo>> {
        if body.first().is_some_and(|&version| version != VERSION) {
            return Ok(None);
        }
        let mut message = FileSpaceInfoMessage::unread(sizes);
        let known = fields::read(&mut message, "file space info message", body)?;
        let page = if message.strategy == PAGES { message.page_size.max(1) } else { 1 };
        Ok(Some(SpaceInfo { page, persists: message.persists != 0, known }))
    }
}
