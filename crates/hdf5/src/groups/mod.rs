//! Groups: the links of an object, by symbol table (III.B), in its header, or dense.
//!
//! A group is stored in one of the three ways; a reader sees links with names and targets. The order in which links
//! were made is told where the file keeps it.

mod dense;
pub(crate) mod message;
mod path;
pub(crate) mod symbols;

use ferrocdf_bytes::Result;

use crate::Address;
use crate::objects::attribute::Order;
use crate::objects::dense_info::{DenseInfo, Of};
use crate::objects::kind;
use crate::objects::object::Object;

/// The encoding of a link's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// US-ASCII, or not said.
    Ascii,
    /// UTF-8.
    Utf8,
    /// Another number.
    Other(u8),
}

/// What a link leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkTarget {
    /// An object of this file.
    Hard(Address),
    /// A path in this file.
    Soft(Vec<u8>),
    /// An object of another file.
    External {
        /// The name of the file.
        file: Vec<u8>,
        /// The path in it.
        path: Vec<u8>,
    },
    /// A link that a user's program gives its meaning.
    User {
        /// 65 to 255.
        class: u8,
        /// What is stored for it.
        data: Vec<u8>,
    },
}

/// A name in a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The name, in any encoding.
    pub name: Vec<u8>,
    /// When it was made among the links of its group, where that is kept.
    pub order: Option<i64>,
    /// The encoding of the name.
    pub charset: Charset,
    /// What it leads to.
    pub target: LinkTarget,
}

/// The links of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Links {
    /// How they are sorted.
    pub order: Order,
    /// All of them.
    pub list: Vec<Link>,
}

/// What the link info message of an object says.
fn info(object: &Object) -> Result<Option<DenseInfo>> {
    let Some(message) = object.message(kind::LINK_INFO) else { return Ok(None) };
    DenseInfo::decode(Of::Links, message.body()?, object.file().source().sizes).map(Some)
}

impl Object {
    /// Its links: in the order in which they were made where that is kept, else by name. An object that is no group has
    /// none.
    pub fn links(&self) -> Result<Links> {
        let source = self.file().source();
        let mut links = Links { order: Order::Name, list: Vec::new() };
        if let Some(table) = self.message(kind::SYMBOL_TABLE) {
            links.list = symbols::all(source, table.body()?)?;
        }
        for message in self.messages(kind::LINK) {
            links.list.push(Link::decode(message.body()?, source.sizes)?);
        }
        if let Some(info) = info(self)? {
            if let Some((heap, by_name)) = info.heap.zip(info.by_name) {
                dense::all(source, heap, by_name, &mut links.list)?;
            }
            if info.next_order.is_some() {
                links.order = Order::Creation;
            }
        }
        if links.order == Order::Creation {
            links.list.sort_by_key(|link| link.order);
        } else {
            links.list.sort_by(|a, b| a.name.cmp(&b.name));
        }
        Ok(links)
    }

    /// The link of this name. Of a large group only the way to it is read.
    pub fn link(&self, name: &[u8]) -> Result<Option<Link>> {
        let source = self.file().source();
        if let Some(table) = self.message(kind::SYMBOL_TABLE) {
            return symbols::find(source, table.body()?, name);
        }
        for message in self.messages(kind::LINK) {
            let link = Link::decode(message.body()?, source.sizes)?;
            if link.name == name {
                return Ok(Some(link));
            }
        }
        match info(self)?.and_then(|info| info.heap.zip(info.by_name)) {
            Some((heap, by_name)) => dense::find(source, heap, by_name, name),
            None => Ok(None),
        }
    }
}
