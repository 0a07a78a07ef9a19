//! "Data Objects" (IV): object headers, their messages, and attributes.

pub mod attribute;
pub(crate) mod attribute_message;
mod dense_attributes;
pub(crate) mod dense_info;
pub(crate) mod encode;
pub mod header;
pub mod kind;
pub mod object;
pub(crate) mod prefix;
pub(crate) mod shared;

use ferrocdf_bytes::Result;

use crate::messages::Datatype;
use crate::wire::bad;

/// The datatype that an object is.
///
/// # Errors
/// `EHDFERR` if it is none.
pub fn committed_datatype(object: &object::Object) -> Result<Datatype> {
    let message = object.message(kind::DATATYPE).ok_or_else(|| bad("an object that is no datatype"))?;
    Datatype::decode(message.body()?)
}
