//! The array engine: copies elements between a blob and memory, whatever the selection and the number types.
//!
//! An [`Array`] says where the elements of one variable lie and how they are stored; it knows no file format. [`read`],
//! [`write()`] and [`fill`] turn a [`Selection`] of it into few large transfers, convert the numbers, and use all cores
//! if there is enough to do. The module `oracle` (feature `testing`) does the same one element at a time; tests compare the engine with it.
//!
//! ```
//! use ferrocdf_array::{Array, RangeCheck, Kind, Out, Selection, Stored, read};
//! use ferrocdf_store::MemoryBlob;
//!
//! // Two rows of three big-endian 16-bit integers behind a header of four bytes.
//! let blob = MemoryBlob::new(vec![b'h', b'e', b'a', b'd', 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6]);
//! let array = Array::contiguous(vec![2, 3], Stored::big(Kind::I16), 4)?;
//! let mut column = [0f64; 2];
//! let fit = read(&blob, &array, &Selection::slab(&[0, 1], &[2, 1]), Out::new(&mut column))?;
//! assert_eq!((fit, column), (RangeCheck::InRange, [2.0, 5.0]));
//! # Ok::<(), ferrocdf_bytes::Error>(())
//! ```
//!
//! The decision that shaped it: a selection is cut into tiles. Each tile is one range of the blob and one contiguous part of
//! the dense result. Threads get disjoint slices of the result, split at the borders of tiles, so that no unsafe code is
//! needed.
//!
//! Measured on two cores, page cache warm, memory in use before (GB/s of selected bytes unless said):
//!
//! | what | engine | bare loop on two threads |
//! |---|---|---|
//! | 1 GB of big-endian `f32`, whole | 9.7 to 10.6 | 8.1 to 9.0 (`pread` of 256 KiB and swap) |
//! | 1 GB in this machine's order, whole | 12.5 to 15 | |
//! | big-endian `i16` to `f32` (bytes made); `f64` to `f32` (bytes read) | 13.8; 6.6 | |
//! | one of 10 record variables, slabs of 4 KiB; 64 KiB; 1 MiB | 4.5; 8.7 to 10.8; 10.2 | |
//! | one of 10 record variables, slabs of 8 bytes to 1 KiB (bytes of the file) | 18 to 20 | |
//! | 1 GB written as big-endian `f32`, new file; existing file | 3.2 to 3.8; 7.5 to 9 | 3.6 to 4.1 (one thread, no swap) |
//! | one value, beyond the 0.6 us of `pread` | 0.25 to 0.4 us | |
//!
//! [`write()`] writes chunks too; [`flush`] stores the pending ones. Encoding runs on all cores; chunks without filters are
//! written as fast as contiguous data.
//!
//! Not done: a traversal order for layouts whose last dimension is not the fastest, which are read and written correctly
//! but slowly; mapped reads and writes on several threads; chunks of one column each of a wide array, which are gathered one
//! by one.
#![deny(unsafe_code)]

mod array;
mod chunks;
mod convert;
mod copy_bytes;
mod huge_pages;
mod kernels;
mod kind;
mod memory;
mod non_temporal;
#[cfg(any(test, feature = "testing"))]
pub mod oracle;
mod overlap;
mod per_process;
mod pool;
mod read;
mod requests;
mod rules;
mod scatter;
mod scratch;
mod selection;
mod settings;
mod short_run;
mod tile_job;
mod tile_reader;
mod tile_writer;
mod tiling;
mod unwritten;
mod write;

pub use array::{
    Array, ElementDecoder, Layout, OpenSource, PastEnd, SourceMapping, VirtualLayout, VirtualSource,
};
pub use chunks::{
    Changes, ChunkBatch, ChunkIndex, ChunkLocation, ChunkObjects, ChunkStore, Chunks, IndexSnapshot,
    copy_chunks, count_in_box, flush,
};
pub use convert::{convert, to_native};
pub use copy_bytes::copy_bytes;
pub use huge_pages::advise_huge_pages;
pub use kind::{Element, Kind, Stored};
pub use memory::{In, Map, Out};
pub use pool::{get as pool, map_parallel, map_within_budget};
pub use read::read;
pub use rules::{ConversionRules, RangeCheck};
pub use selection::{Index, Selection};
pub use settings::{InUse, configure, threads};
pub use short_run::ShortRun;
pub use unwritten::{Coverage, coverage, has_unwritten, unwritten_value};
pub use write::{fill, write};
