//! One netCDF-4 file that many workers write, without a lock and without a parallel file system.
//!
//! The *plan* is a netCDF-4 file with all definitions and, if wanted, the data of small variables. Each worker encodes whole chunks
//! into *part files* ([`PartWriter`]). The coordinator copies the plan, moves the encoded chunks of all parts into the copy without
//! decoding them, and writes each chunk index once ([`join`]). Parts and file appear under their names when they are complete, so a
//! worker or a coordinator that is killed leaves no half file; what it was to do is done again, and parts that are
//! complete are kept ([`part_key`]). Decision 029.
//!
//! ```
//! # fn main() -> ferrocdf::Result<()> {
//! use ferrocdf::{Atomic, FileMut, In, Location, Selection, parts};
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = |name: &str| Location::Path(folder.path().join(name));
//!
//! let plan = FileMut::in_memory(&Default::default())?;
//! plan.add_dimension("x", 6)?;
//! plan.build_variable("v", Atomic::Int, &["x"]).chunks(&[4]).deflate(4).create()?;
//! let plan = Location::bytes(plan.into_bytes()?.unwrap_or_default());
//!
//! // Each in a process of its own.
//! for (name, first, values) in [("a", 0, &[1, 2, 3, 4][..]), ("b", 4, &[5, 6])] {
//!     let part = parts::PartWriter::create(&plan, &path(name), "")?;
//!     let region = Selection::slab(&[first], &[values.len() as u64]);
//!     let _exact = part.write("/v", &region, In::new::<i32>(values))?;
//!     part.finish()?;
//! }
//!
//! let joined = parts::join(&plan, &[path("a"), path("b")], &path("v.nc"))?;
//! assert_eq!((joined.parts, joined.chunks), (2, 2));
//! let file = ferrocdf::open(folder.path().join("v.nc"))?;
//! assert_eq!(file.variable("v")?.get_values::<i32, _>(..)?, [1, 2, 3, 4, 5, 6]);
//! # Ok(())
//! # }
//! ```

mod draft;
mod format;
mod join;
mod merged;
mod region;
mod source;
mod store;
mod table;
mod writer;

pub use join::{Joined, join};
pub use source::part_key;
pub use writer::PartWriter;
pub(crate) use writer::is_plain;
