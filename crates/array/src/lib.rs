//! The array engine: copies elements between a blob and memory, whatever the selection and the number types.
//!
//! An [`Array`] says where the elements of one variable lie and how they are stored; it knows no file format. [`read`],
//! [`write()`] and [`fill`] turn a [`Selection`] of it into few large transfers, convert the numbers, and use all cores
//! when there is enough to do. [`oracle`] does the same an element at a time and is the judge of the engine in tests.
//!
//! ```
//! use ferrocdf_array::{Array, Fit, Kind, Out, Selection, Stored, read};
//! use ferrocdf_store::MemoryBlob;
//!
//! // Two rows of three big-endian 16-bit integers behind a header of four bytes.
//! let blob = MemoryBlob::new(vec![b'h', b'e', b'a', b'd', 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6]);
//! let array = Array::contiguous(vec![2, 3], Stored::big(Kind::I16), 4)?;
//! let mut column = [0f64; 2];
//! let fit = read(&blob, &array, &Selection::slab(&[0, 1], &[2, 1]), Out::new(&mut column))?;
//! assert_eq!((fit, column), (Fit::Exact, [2.0, 5.0]));
//! # Ok::<(), ferrocdf_bytes::Error>(())
//! ```
//!
//! The decision that shaped it: a request is cut into tiles, each one window of the blob and one gapless piece of the
//! dense result. Splitting the result at tile borders hands disjoint slices to the workers, so that no unsafe code is
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
//! Blocks are written by [`write()`] too; what is held back of them is stored by [`flush`]. Packing costs what the filters
//! cost on all cores; blocks without filters are written as fast as their bytes are from memory.
//!
//! Not done: an order of its own for layouts whose last dimension is not the fastest, which are read and written rightly
//! but slowly; sharing mapped reads and writes among threads; blocks of one column each of a wide array, which are
//! collected one by one.
#![deny(unsafe_code)]

mod array;
mod blocks;
mod convert;
mod copy;
mod cost;
mod fresh;
mod kernels;
mod kind;
mod memory;
mod mosaic;
pub mod oracle;
mod per_process;
mod pick;
mod plan;
mod pool;
mod read;
mod scratch;
mod selection;
mod short;
mod uncached;
mod unwritten;
mod write;

pub use array::{Array, Layout, PastEnd, Unusual};
pub use blocks::{BlockIndex, BlockStore, Blocks, LastLook, Place, copy_blocks, flush};
pub use convert::{Direction, convert, to_native};
pub use copy::copy_bytes;
pub use fresh::large_pages;
pub use kind::{Element, Kind, Stored};
pub use memory::{Fit, In, Map, Out};
pub use mosaic::{Mosaic, Opened, Part, Source};
pub use pool::{get as pool, share, share_up_to};
pub use read::read;
pub use selection::{Index, Selection};
pub use short::ShortRun;
pub use unwritten::{Coverage, coverage, lacks_elements, unwritten_value};
pub use write::{fill, write};
