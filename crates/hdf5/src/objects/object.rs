//! Objects: what their headers say, with shared messages replaced by what they stand for, so that nobody above needs to know
//! where a message came from. A shared message that cannot be found leaves its error in its place: one of them does not hide the
//! rest.

use std::sync::{Arc, OnceLock};

use ferrocdf_bytes::Result;

use super::dense_attributes::DenseAttributes;
use super::header::{HeaderMessage, ObjectHeader};
use super::prefix::{HeaderForm, Times};
use super::{kind, shared};
use crate::messages::small::ReferenceCount;
use crate::wire::bad;
use crate::{Address, File};

const WHAT: &str = "object header";

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// It has links.
    Group,
    /// It has data.
    Dataset,
    /// A committed (named) datatype.
    Datatype,
    /// None of these.
    Unknown,
}

/// An object: a group, a dataset or a committed datatype. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Object {
    file: File,
    address: Address,
    form: HeaderForm,
    messages: Arc<Vec<HeaderMessage>>,
    len: u64,
    /// The attributes that are not in the header, once they were looked for.
    pub(super) dense: Arc<OnceLock<Option<DenseAttributes>>>,
}

impl Object {
    /// Reads the header of the object at an address.
    pub(crate) fn open(file: &File, address: Address) -> Result<Object> {
        let mut header = ObjectHeader::read(file.source(), address)?;
        // Each shared message stands for bytes of its own; many that stand for the same would be more than there are.
        let mut left = file.source().blob.size()?.saturating_mul(4);
        for message in &mut header.messages {
            if message.flags & HeaderMessage::SHARED == 0 {
                continue;
            }
            let stored = std::mem::take(&mut message.body);
            match shared::resolve(file, message.kind, &stored) {
                Ok(real) => match left.checked_sub(real.cost) {
                    Some(rest) => {
                        left = rest;
                        (message.body, message.committed) = (real.body, real.committed);
                    }
                    None => {
                        message.damage = Some(bad(format!(
                            "{WHAT} at {address}: its shared messages are longer than the file"
                        )));
                        left = 0;
                    }
                },
                Err(error) => {
                    message.damage = Some(error.at(format_args!("{WHAT} at {address}: shared message")));
                }
            }
        }
        let ObjectHeader { form, messages, len, .. } = header;
        let (file, messages, dense) = (file.clone(), Arc::new(messages), Arc::default());
        Ok(Object { file, address, form, messages, len, dense })
    }

    /// The file it is in.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Where its header is; the same object has always the same.
    pub fn address(&self) -> Address {
        self.address
    }

    /// What it is.
    pub fn kind(&self) -> ObjectKind {
        let has = |kind| self.message(kind).is_some();
        if has(kind::SYMBOL_TABLE) || has(kind::LINK_INFO) {
            ObjectKind::Group
        } else if has(kind::DATATYPE) && has(kind::DATASPACE) {
            ObjectKind::Dataset
        } else if has(kind::DATATYPE) {
            ObjectKind::Datatype
        } else {
            ObjectKind::Unknown
        }
    }

    /// The messages of a kind, in the order in which they are stored.
    pub fn messages(&self, kind: u16) -> impl Iterator<Item = &HeaderMessage> {
        self.messages.iter().filter(move |message| message.kind == kind)
    }

    /// The first message of a kind.
    pub fn message(&self, kind: u16) -> Option<&HeaderMessage> {
        self.messages(kind).next()
    }

    /// Bytes of all messages, of shared ones those that they stand for.
    pub fn message_bytes(&self) -> u64 {
        self.messages.iter().map(|message| message.body.len() as u64).sum()
    }

    /// Whether the order in which attributes were made is kept.
    pub fn tracks_attribute_order(&self) -> bool {
        self.form.is_ordered()
    }

    /// The number of hard links to the object.
    pub fn references(&self) -> u32 {
        let stored = self.message(kind::REFERENCE_COUNT);
        let count = stored.and_then(|message| ReferenceCount::decode(&message.body).ok());
        count.map_or(self.form.references, |count| count.0)
    }

    /// Bytes of its header in the file.
    pub fn stored_len(&self) -> u64 {
        self.len
    }

    /// When it was used, where that is kept.
    pub fn times(&self) -> Option<Times> {
        self.form.times
    }
}

impl File {
    /// The root group.
    pub fn root(&self) -> Result<Object> {
        self.object(self.superblock().root)
    }

    /// The object whose header is at an address.
    pub fn object(&self, at: Address) -> Result<Object> {
        Object::open(self, at)
    }
}
