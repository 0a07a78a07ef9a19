//! "Attribute Message" and "Attribute Info Message": the attributes of an object, in its header or in a heap.
//!
//! Each attribute is a result of its own: one of an unknown type or with damage hides no other.

use std::cmp::Ordering;

use ferrocdf_bytes::{Result, lookup3};

use crate::heaps::{FractalHeap, HeapObject};
use crate::messages::dataspace::Dataspace;
use crate::messages::datatype::Datatype;
use crate::wire::bad;
use crate::{Address, File};

use super::attribute_message::AttributeMessage;
use super::dense_attributes::DenseAttributes;
use super::dense_info::{DenseInfo, DenseRecord, NO_ORDER, Of};
use super::header::HeaderMessage;
use super::kind;
use super::object::Object;
use super::shared;

/// Attributes that most objects have no more of.
const USUAL: u64 = 64;

/// An attribute.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// When it was made among the attributes of its object, where that is kept.
    pub order: Option<u32>,
    /// The type of its elements.
    pub datatype: Datatype,
    /// The object that is its datatype, if that is a committed one.
    pub committed: Option<Address>,
    /// How many elements it has, and in how many dimensions.
    pub dataspace: Dataspace,
    /// The elements as stored.
    pub data: Vec<u8>,
}

/// How a list is sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As they were made.
    Creation,
    /// By the bytes of their names: the file does not say how they were made.
    Name,
    /// As they stand in the file, which does not say how they were made. In a header that often is how they were; in a
    /// B-tree it is by the numbers that some have all the same, then by the hashes of their names. The reference library
    /// lists attributes like this when it is asked for their creation order.
    Stored,
}

/// The attributes of an object.
#[derive(Clone, Debug)]
pub struct Attributes {
    /// How they are sorted.
    pub order: Order,
    /// Each one's name, in any encoding, and the rest. The name of one whose message cannot be taken apart is empty.
    pub list: Vec<(Vec<u8>, Result<Attribute>)>,
}

/// Where the attributes are that are not in the header: their heap and their index by name; `None` if all are.
fn info(object: &Object) -> Result<Option<(Address, Address)>> {
    let Some(message) = object.message(kind::ATTRIBUTE_INFO) else { return Ok(None) };
    let info = DenseInfo::decode(Of::Attributes, message.body()?, object.file().source().sizes)?;
    Ok(info.heap.zip(info.by_name))
}

fn record(bytes: &[u8]) -> Result<DenseRecord> {
    DenseRecord::by_name(Of::Attributes, bytes)
}

impl DenseRecord {
    /// The attribute message it stands for.
    pub(crate) fn message(&self, file: &File, heap: &FractalHeap) -> Result<HeapObject> {
        match self.flags & HeaderMessage::SHARED {
            0 => heap.object(self.id()),
            _ => file.shared_message(kind::ATTRIBUTE, self.id()).map(HeapObject::of),
        }
    }

    /// The order, stored in four bytes.
    fn known_order(&self) -> Option<u32> {
        u32::try_from(self.order).ok().filter(|&order| order != NO_ORDER)
    }
}

/// Where an attribute is.
enum AttributeLocation<'a> {
    /// In the header.
    Here(&'a HeaderMessage),
    /// In the heap.
    There(&'a FractalHeap, DenseRecord),
}

impl AttributeLocation<'_> {
    fn order(&self) -> Option<u32> {
        match self {
            AttributeLocation::Here(message) => message.order.map(u32::from),
            AttributeLocation::There(_, record) => record.known_order(),
        }
    }

    /// What they are sorted by: those without a number of their own come last, since that stands as the largest one.
    fn rank(&self) -> Option<u64> {
        match self {
            AttributeLocation::Here(message) => message.order.map(u64::from),
            AttributeLocation::There(_, record) => Some(record.order),
        }
    }
}

impl Object {
    /// The attributes that are not in the header; `None` if all are.
    fn dense(&self) -> Result<Option<&DenseAttributes>> {
        if let Some(dense) = self.dense.get() {
            return Ok(dense.as_ref());
        }
        let open = |(heap, by_name)| DenseAttributes::open(self.file().source(), by_name, heap);
        let dense = info(self)?.map(open).transpose()?;
        Ok(self.dense.get_or_init(|| dense).as_ref())
    }

    /// All attributes: in the order in which they were made where that is kept, else as they are stored.
    pub fn attributes(&self) -> Result<Attributes> {
        let mut list = Vec::new();
        let order = self.each_attribute(&mut |name, attribute| list.push((name.to_vec(), attribute)))?;
        Ok(Attributes { order, list })
    }

    /// Visits all attributes, each one's name and the rest, as [`Attributes`] has them. Tells how they are sorted.
    ///
    /// # Errors
    /// Those of the index and the heap; some attributes may have been visited by then, which are not to be used.
    pub fn each_attribute(&self, visit: &mut dyn FnMut(&[u8], Result<Attribute>)) -> Result<Order> {
        let file = self.file();
        let mut found: Vec<AttributeLocation<'_>> =
            self.messages(kind::ATTRIBUTE).map(AttributeLocation::Here).collect();
        // Each is stored on its own: more than the heap has would be the same ones again.
        let mut left = 0;
        if let Some(dense) = self.dense()? {
            let heap = dense.heap(file.source())?;
            left = heap.most()?;
            found.reserve(dense.tree.records().min(USUAL) as usize);
            dense.tree.walk(&mut |bytes| {
                found.push(AttributeLocation::There(heap, record(bytes)?));
                Ok(())
            })?;
        }
        found.sort_by_key(AttributeLocation::rank);
        if !file.source().is_near() {
            // The heap keeps the blocks that are read here.
            file.source().map_within_budget(left, &found, |stored| match stored {
                AttributeLocation::Here(_) => ((), 0),
                AttributeLocation::There(heap, record) => {
                    let message = record.message(file, heap);
                    ((), message.map_or(0, |message| message.len() as u64))
                }
            });
        }
        let order = if self.tracks_attribute_order() { Order::Creation } else { Order::Stored };
        for stored in found {
            let order = stored.order();
            match stored {
                AttributeLocation::Here(message) => named(file, message.body(), order, visit),
                AttributeLocation::There(heap, record) => {
                    let message = record.message(file, heap);
                    let len = message.as_ref().map_or(0, |message| message.len()) as u64;
                    let lies = || bad("attributes that are longer than their heap");
                    left = left.checked_sub(len).ok_or_else(lies)?;
                    named(file, message.as_deref().map_err(Clone::clone), order, visit);
                }
            }
        }
        Ok(order)
    }

    /// Visits names and datatypes of the attributes whose datatype has one of these classes, as [`Class::number`] has them,
    /// and those of a committed datatype; of attributes outside the header only if `all` says so. What is damaged is
    /// passed over.
    ///
    /// [`Class::number`]: crate::messages::datatype::Class::number
    pub fn each_attribute_type(&self, classes: &[u8], all: bool, visit: &mut dyn FnMut(&[u8], Datatype)) {
        let mut look = |body: &[u8]| {
            let Ok(AttributeMessage { flags, name, datatype, .. }) = AttributeMessage::decode(body) else {
                return;
            };
            let decoded = match (flags & 0x01, datatype.first()) {
                (0, Some(first)) if classes.contains(&(first & 0x0f)) => Datatype::decode(datatype),
                (0, _) => return,
                _ => shared::resolve(self.file(), kind::DATATYPE, datatype)
                    .and_then(|real| Datatype::decode(&real.body)),
            };
            if let Ok(datatype) = decoded {
                visit(name, datatype);
            }
        };
        self.messages(kind::ATTRIBUTE).filter_map(|message| message.body().ok()).for_each(&mut look);
        if all && let Ok(Some(dense)) = self.dense() {
            // The rest of an index that is damaged has nothing to show.
            let _ = dense.heap(self.file().source()).and_then(|heap| {
                let mut left = heap.most()?;
                dense.tree.walk(&mut |bytes| {
                    let message = record(bytes)?.message(self.file(), heap)?;
                    let lies = || bad("attributes that are longer than their heap");
                    left = left.checked_sub(message.len() as u64).ok_or_else(lies)?;
                    look(&message);
                    Ok(())
                })
            });
        }
    }

    /// The attribute of this name.
    pub fn attribute(&self, name: &[u8]) -> Result<Option<Attribute>> {
        for message in self.messages(kind::ATTRIBUTE) {
            let Ok(body) = message.body() else { continue };
            if name_of(body).is_ok_and(|found| found == name) {
                return Attribute::decode(self.file(), body, AttributeLocation::Here(message).order())
                    .map(Some);
            }
        }
        let Some(dense) = self.dense()? else { return Ok(None) };
        let file = self.file();
        let hash = lookup3(name, 0);
        let heap = || dense.heap(file.source());
        let mut message = None;
        let found = dense.tree.find(&mut |bytes| {
            let record = record(bytes)?;
            Ok(match hash.cmp(&record.hash) {
                // Names of one hash are in the order of their bytes.
                Ordering::Equal => name.cmp(name_of(message.insert(record.message(file, heap()?)?))?),
                other => other,
            })
        })?;
        // The message is that of the last record with this hash, which is the one that was found.
        let Some((found, message)) = found.zip(message) else { return Ok(None) };
        Attribute::decode(file, &message, record(&found)?.known_order()).map(Some)
    }

    /// The number of attributes.
    pub fn attribute_count(&self) -> Result<u64> {
        let here = self.messages(kind::ATTRIBUTE).count() as u64;
        match self.dense()? {
            Some(dense) => Ok(here.saturating_add(dense.tree.records())),
            None => Ok(here),
        }
    }
}

/// Visits the attribute in a message. Its name is empty if the message has none.
fn named(
    file: &File,
    body: Result<&[u8]>,
    order: Option<u32>,
    visit: &mut dyn FnMut(&[u8], Result<Attribute>),
) {
    match body.and_then(AttributeMessage::decode) {
        Ok(message) => visit(message.name, Attribute::of(file, &message, order)),
        Err(error) => visit(&[], Err(error)),
    }
}

fn name_of(body: &[u8]) -> Result<&[u8]> {
    Ok(AttributeMessage::decode(body)?.name)
}

impl Attribute {
    /// Takes a message apart; its datatype and dataspace may be somewhere else in the file.
    fn decode(file: &File, body: &[u8], order: Option<u32>) -> Result<Attribute> {
        Self::of(file, &AttributeMessage::decode(body)?, order)
    }

    fn of(file: &File, message: &AttributeMessage<'_>, order: Option<u32>) -> Result<Attribute> {
        Self::from_parts(file, message, order)
            .map_err(|error| error.at(format_args!("attribute {:?}", String::from_utf8_lossy(message.name))))
    }

    fn from_parts(file: &File, message: &AttributeMessage<'_>, order: Option<u32>) -> Result<Attribute> {
        let AttributeMessage { flags, datatype, dataspace, data, .. } = message;
        let (datatype, committed) = match flags & 0x01 {
            0 => (Datatype::decode(datatype)?, None),
            _ => {
                let real = shared::resolve(file, kind::DATATYPE, datatype)?;
                (Datatype::decode(&real.body)?, real.committed)
            }
        };
        let sizes = file.source().sizes;
        let dataspace = match flags & 0x02 {
            0 => Dataspace::decode(dataspace, sizes)?,
            _ => Dataspace::decode(&shared::resolve(file, kind::DATASPACE, dataspace)?.body, sizes)?,
        };
        let len = dataspace.elements().and_then(|elements| elements.checked_mul(datatype.size() as u64));
        let stored = data.len();
        let short = || bad(format!("its elements take more than the {stored} bytes that are stored"));
        let len =
            len.and_then(|len| usize::try_from(len).ok()).filter(|&len| len <= stored).ok_or_else(short)?;
        Ok(Attribute { order, datatype, committed, dataspace, data: data[..len].to_vec() })
    }
}
