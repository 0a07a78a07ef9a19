//! Sources and destinations of bytes: files, memory, and objects of stores.
//!
//! A [`Blob`] is a run of bytes read at positions; a [`BlobMut`] can be written too. Positions are always explicit: no
//! cursor is shared, so any number of threads may use one blob at once. A [`Store`] holds named objects, each read by ranges and
//! written whole.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::cast_possible_truncation))]

mod ahead;
mod behind;
mod blob;
mod buffer;
mod cost;
mod durable;
mod file;
mod forward;
mod kept;
mod known_size;
mod memory;
mod objects;
mod os;
mod page_cache;
mod page_folder;
mod pages;
mod parts;
pub mod ranges;
mod reopened;
mod replace;
mod retry;
mod rounds;
mod sparse;
#[cfg(any(test, feature = "testing"))]
pub mod suite;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod watched;

pub use ahead::ReadAhead;
pub use behind::WriteBehind;
pub use blob::{Blob, BlobMut, ReadRequest, Suffix, Writes};
pub use buffer::{Buffer, meeting_point, reads_slowly, writes_slowly};
pub use cost::{Cost, Latency};
pub use durable::Durable;
pub use file::FileBlob;
pub use kept::MetadataViews;
pub use memory::{BorrowedBlob, MemoryBlob};
pub use objects::{
    ByteRange, DirectoryStore, Expected, Fetched, FileDraft, Filled, GetInto, Listing, MemoryStore,
    ObjectBlob, ObjectDraft, Store, Version, ZIP_SIGNATURES, ZipDraft, ZipStore, check_folder, check_key,
    folder_of, list_in,
};
pub use os::{copy_access, exchange, path_of};
pub use page_cache::PageCache;
pub use page_folder::PageFolder;
pub use parts::read_parts;
pub use reopened::ReopenedFile;
pub use replace::{ReplaceableFile, resolve_links, write_file};
pub use retry::{ChangeToken, RetryLimit, is_stale, read_optimistically, retry};
pub use rounds::{InRounds, read_in_rounds};
pub use sparse::{SkipZeros, is_sparse, is_zero, skipping_zeros};
pub use watched::Watched;
