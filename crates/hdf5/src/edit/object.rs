//! Objects in memory: a header, and what was looked at of links, attributes and elements.

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
    /// Whether it was deleted.
    pub gone: bool,
    /// Its attributes, once they were looked at.
    pub attributes: Option<EditedAttributes>,
    /// Its links, once they were looked at.
    pub links: Option<EditedLinks>,
    /// Its elements, once they were looked at.
    pub data: Option<Box<Data>>,
}

impl EditedObject {
    /// A new one with these messages.
    pub fn new(ordered: bool, messages: Vec<HeaderMessage>) -> EditedObject {
        EditedObject::of(EditedHeader::new(ordered, messages))
    }

    /// The object whose header is at an address.
    pub fn read(source: &Source, at: Address) -> Result<EditedObject> {
        EditedHeader::read(source, at).map(EditedObject::of)
    }

    fn of(header: EditedHeader) -> EditedObject {
        EditedObject { header, gone: false, attributes: None, links: None, data: None }
    }

    /// Where its header is, once that is known.
    pub fn address(&self) -> Option<Address> {
        self.header.address()
    }
}
