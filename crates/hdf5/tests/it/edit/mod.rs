//! Files made and changed by the editor, against a model of what they should hold; and every way a commit can be cut off.

mod crash;
mod faults;
mod foreign;
mod model;
mod sequences;

use ferrocdf_hdf5::edit::{AttributeSpec, CreateOptions, Profile, TypeRef};
use ferrocdf_hdf5::messages::datatype::{ByteOrder, Class, Integer, Pads};
use ferrocdf_hdf5::messages::{Dataspace, Datatype, SpaceKind};

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

/// Options of a new file.
pub fn options(profile: Profile) -> CreateOptions {
    CreateOptions { profile, ..CreateOptions::default() }
}

#[test]
fn editors_go_from_thread_to_thread() {
    fn check<T: Send + Sync>() {}
    check::<ferrocdf_hdf5::edit::Editor>();
}
