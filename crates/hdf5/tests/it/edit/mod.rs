//! Files made and changed by the editor, against a model of what they should hold; and every way a commit can be cut off.

mod crash;
mod faults;
mod foreign;
mod model;
mod sequences;

use std::sync::Arc;

use ferrocdf_hdf5::edit::{
    AllocTime, AttributeSpec, CreateOptions, DatasetSpec, Editor, FillTime, NewLayout, Profile, TypeRef,
};
use ferrocdf_hdf5::messages::datatype::{ByteOrder, Class, Integer, Pads};
use ferrocdf_hdf5::messages::{Dataspace, Datatype, SpaceKind};
use ferrocdf_store::{Blob, MemoryBlob};

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
    check::<Editor>();
}

#[test]
fn a_dataset_with_an_implicit_index_can_be_unlinked_before_its_first_commit() {
    let blob = Arc::new(MemoryBlob::default());
    let mut editor = Editor::create(blob.clone(), &options(Profile::Modern)).unwrap();
    editor.commit().unwrap();
    let size = blob.size().unwrap();
    let spec = DatasetSpec {
        datatype: TypeRef::Inline(integer(4)),
        space: simple(&[1000], None),
        layout: NewLayout::Chunked(vec![25]),
        filters: vec![],
        fill: Some(vec![7; 4]),
        fill_time: FillTime::IfSet,
        alloc_time: AllocTime::Early,
        attribute_order: true,
    };
    editor.create_dataset(editor.root(), "d", spec).unwrap();
    editor.unlink(editor.root(), "d").unwrap();
    editor.close(0).unwrap();
    assert!(blob.size().unwrap() < size + 1000);
    assert_eq!(model::text(editor.file()), "/\n");
}
