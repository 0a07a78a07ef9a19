//! Attributes of rasters, of Vdatas and of their fields: Vdatas of one field, whose values are those of the attribute.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::HashSet;

use ferrocdf_bytes::{Context, Result};

use super::Attribute;
use super::cdf::MAX_ATTRIBUTE;
use crate::budget::Use;
use crate::wire::bad;
use crate::{File, tags};

/// Where a Vdata that is an attribute has the name of the attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeName {
    /// It is the name of the Vdata: attributes of Vdatas.
    OfVdata,
    /// It is the name of the field: attributes of rasters.
    OfField,
}

/// Reads the Vdatas that are attributes of the object with the reference number `owner`, with the reason for each that cannot be read. One
/// that comes again counts once.
pub fn attributes(
    file: &File,
    owner: u16,
    vdatas: &[u16],
    name: AttributeName,
) -> Vec<(u16, Result<Attribute>)> {
    let mut seen = HashSet::new();
    let once: Vec<u16> = vdatas.iter().copied().filter(|&vdata| seen.insert(vdata)).collect();
    let found = file
        .for_each(&once, |&vdata| read(file, owner, vdata, name).at(|| format!("attribute, Vdata {vdata}")));
    once.into_iter().zip(found).collect()
}

fn read(file: &File, owner: u16, reference: u16, name: AttributeName) -> Result<Attribute> {
    // Both before any error, so that a slow source sends them in one round.
    let (vdata, element) = (file.vdata(reference), file.element(tags::VS, reference));
    let (vdata, len) = (vdata?, element?.map_or(0, |element| element.len));
    if len > MAX_ATTRIBUTE {
        return Err(bad(format!("{len} bytes are more than an attribute has")));
    }
    vdata.check_stored(len)?;
    let field = vdata.fields.first().ok_or_else(|| bad("it has no field"))?;
    // Several owners may share it.
    file.charge((Use::AttributeOf, owner, reference), len)?;
    let bytes = vdata.values(file, 0)?;
    let name = match name {
        AttributeName::OfVdata => vdata.name.clone(),
        AttributeName::OfField => field.name.clone(),
    };
    Ok(Attribute { name, number: field.number, bytes })
}
