//! Objects in memory: a header, and what was looked at of links, attributes and elements.

use ferrocdf_bytes::Result;

use super::attributes::Attributes;
use super::dataset::Data;
use super::group::Links;
use super::header::EditedHeader;
use crate::objects::header::Message;
use crate::{Address, Source};

/// An object of the file.
#[derive(Debug)]
pub(super) struct Object {
    pub header: EditedHeader,
    /// Whether it was deleted.
    pub gone: bool,
    /// Its attributes, once they were looked at.
    pub attributes: Option<Attributes>,
    /// Its links, once they were looked at.
    pub links: Option<Links>,
    /// Its elements, once they were looked at.
    pub data: Option<Box<Data>>,
}

impl Object {
    /// A new one with these messages.
    pub fn new(ordered: bool, messages: Vec<Message>) -> Object {
        Object::of(EditedHeader::new(ordered, messages))
    }

    /// The object whose header is at an address.
    pub fn read(source: &Source, at: Address) -> Result<Object> {
        EditedHeader::read(source, at).map(Object::of)
    }

    fn of(header: EditedHeader) -> Object {
        Object { header, gone: false, attributes: None, links: None, data: None }
    }

    /// Where its header is, once that is known.
    pub fn address(&self) -> Option<Address> {
        self.header.address()
    }
}
