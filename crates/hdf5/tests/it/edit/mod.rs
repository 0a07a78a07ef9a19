//! Files made and changed by the editor, against a model of what they should hold; and every way a commit can be cut off.

mod crash;
mod model;
mod sequences;

use std::sync::Arc;

use ferrocdf_hdf5::edit::{AttributeSpec, CreateOptions, Editor, Profile, TypeRef};
use ferrocdf_hdf5::messages::datatype::{ByteOrder, Class, Integer, Pads};
use ferrocdf_hdf5::messages::{Dataspace, Datatype, SpaceKind};
use ferrocdf_store::{BlobMut, MemoryBlob};

/// A little-endian integer type.
pub fn integer(size: u32) -> Datatype {
    let pads = Pads { low: false, high: false, internal: false };
    let precision = 8 * size as u16;
    let integer = Integer { order: ByteOrder::Little, pads, signed: true, offset: 0, precision };
    Datatype { version: 1, size, class: Class::Integer(integer) }
}

/// Dimensions of these lengths.
pub fn simple(dims: &[u64], max: Option<Vec<Option<u64>>>) -> Dataspace {
    Dataspace { kind: SpaceKind::Simple, dims: dims.to_vec(), max }
}

/// An attribute of bytes.
pub fn attribute(name: &str, data: &[u8]) -> AttributeSpec {
    let (datatype, space) = (TypeRef::Inline(integer(1)), simple(&[data.len() as u64], None));
    AttributeSpec { name: name.to_string(), datatype, space, data: data.to_vec() }
}

/// A new file in memory.
pub fn create(profile: Profile) -> (Arc<MemoryBlob>, Editor) {
    let blob = Arc::new(MemoryBlob::default());
    let editor = Editor::create(blob.clone() as Arc<dyn BlobMut>, &options(profile)).unwrap();
    (blob, editor)
}

pub fn options(profile: Profile) -> CreateOptions {
    CreateOptions { profile, ..CreateOptions::default() }
}
