//! The netCDF enhanced data model, without I/O and without addresses.
//!
//! A [`Model`] holds groups, dimensions, types, variables and attributes in arenas; an id is a position in its arena,
//! which is also the netCDF id of dimensions and types. What a file says and what it is to say after the next
//! definition step are two values of this type. Every change is checked against what the [`Format`] can hold.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::cast_possible_truncation))]

mod attrs;
mod conversions;
mod entities;
mod filters;
mod format;
mod model;
mod name;
mod named;
mod paths;
mod types;
mod values;

pub use attrs::{Attrs, LateAttrs};
pub use entities::{
    Attr, Chunking, Dim, DimId, Endian, Group, GroupId, NamedCodec, Owner, Quantization, Quantize,
    SourceVariable, Storage, StoredFill, TypeId, Var, VarId, ZarrForm,
};
pub use filters::Filter;
pub use format::{Container, DataModel, Format};
pub use model::Model;
pub use name::Name;
pub use named::{HasName, Named};
pub use types::{Atomic, Class, Field, Type, UserType};
pub use values::{Value, Values};
