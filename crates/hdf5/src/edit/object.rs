//! Objects in memory: a header, and links, attributes and elements as far as they were loaded.

use ferrocdf_bytes::Result;

use super::attributes::EditedAttributes;
use super::dataset::Data;
use super::group::EditedLinks;
use super::header::EditedHeader;
use crate::objects::header::HeaderMessage;
use crate::{Address, Source};

/// An object of the file.
#[derive(Debug)]
pub(super) struct EditedObject {
    pub header: EditedHeader,
    /// True if it was deleted.
    pub gone: bool,
    /// Its attributes, if they were loaded.
    pub attributes: Option<EditedAttributes>,
    /// Its links, if they were loaded.
    pub links: Option<EditedLinks>,
    /// Its elements, if they were loaded.
    pub data: Option<Box<Data>>,
}

impl EditedObject {
    /// Returns a new object with these messages.
    pub fn new(ordered: bool, messages: Vec<HeaderMessage>) -> EditedObject {
        EditedObject::of(EditedHeader::new(ordered, messages))
    }

    /// Reads the object whose header is at an address.
    pub fn read(source: &Source, at: Address) -> Result<EditedObject> {
        EditedHeader::read(source, at).map(EditedObject::of)
    }

    fn of(header: EditedHeader) -> EditedObject {
        EditedObject { header, gone: false, attributes: None, links: None, data: None }
    }

    /// Returns the address of its header, if it has one.
    pub fn address(&self) -> Option<Address> {
        self.header.address()
    }
}
