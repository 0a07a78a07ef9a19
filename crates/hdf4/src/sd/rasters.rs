//! Rasters as arrays (Specification, "Raster Image Tags"). They are no Scientific Datasets, but their bytes lie in the same way.
//!
//! A raster of the newer kind is a group, `DFTAG_RIG`, of a description and the data; the Vgroup of class `RI0.0` that has the data gives it
//! a name. One of the older kind is data and a description with the same reference number.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::{HashMap, HashSet};

use ferrocdf_array::{Kind, Stored};
use ferrocdf_bytes::{Coder, Context, Record, Result};

use super::{Data, Var};
use crate::wire::{bad, decode};
use crate::{File, NumberType, tags};

/// "DFTAG_ID".
#[derive(Debug, Default)]
struct Description {
    width: u64,
    height: u64,
    number_tag: u64,
    number_reference: u64,
    components: u64,
    interlace: u64,
    compression_tag: u64,
    compression_reference: u64,
}

impl Record for Description {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.uint("width", 4, &mut self.width)?;
        c.uint("height", 4, &mut self.height)?;
        c.uint("tag of the number type", 2, &mut self.number_tag)?;
        c.uint("reference of the number type", 2, &mut self.number_reference)?;
        c.uint("components", 2, &mut self.components)?;
        c.uint("interlace", 2, &mut self.interlace)?;
        c.uint("tag of the compression", 2, &mut self.compression_tag)?;
        c.uint("reference of the compression", 2, &mut self.compression_reference)
    }
}

/// "DFTAG_ID8".
#[derive(Debug, Default)]
struct OldDescription {
    width: u64,
    height: u64,
}

impl Record for OldDescription {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.uint("width", 2, &mut self.width)?;
        c.uint("height", 2, &mut self.height)
    }
}

const BYTES: NumberType = NumberType { code: 21, stored: Stored::big(Kind::U8) };

/// A raster.
#[derive(Clone, Debug)]
pub struct Raster {
    /// Its name, type and data; it has no dimensions, only a shape.
    pub var: Var,
    /// The objects that it consists of: tag and reference number.
    pub objects: Vec<(u16, u16)>,
}

/// Reads the rasters of a file, with the reason for each that cannot be read.
pub fn read(file: &File) -> Vec<Result<Raster>> {
    let mut names = HashMap::new();
    for (_, vgroup) in file.vgroups() {
        let Some(vgroup) = vgroup.ok().filter(|vgroup| vgroup.class == b"RI0.0") else { continue };
        names.extend(vgroup.members_of(tags::RI).map(|data| (data, vgroup.name.clone())));
    }
    let groups: Vec<u16> = file.descriptors_of(tags::RIG).map(|found| found.reference).collect();
    let mut found = file.for_each(&groups, |&group| {
        raster(file, group, &names).at(|| format!("raster {}/{group}", tags::RIG))
    });
    let in_groups: HashSet<(u16, u16)> = found
        .iter()
        .filter_map(|raster| raster.as_ref().ok())
        .flat_map(|raster| &raster.objects)
        .copied()
        .collect();
    let is_in_group =
        |data: u16| in_groups.contains(&(tags::RI, data)) || in_groups.contains(&(tags::RI8, data));
    for old in file.descriptors_of(tags::RI8).filter(|old| !is_in_group(old.reference)) {
        let reference = old.reference;
        found.push(old_raster(file, reference).at(|| format!("raster {}/{reference}", tags::RI8)));
    }
    found
}

fn raster(file: &File, group: u16, names: &HashMap<u16, Vec<u8>>) -> Result<Raster> {
    let bytes = file.bytes(tags::RIG, group)?.unwrap_or_default();
    let pairs = bytes.as_chunks().0.iter();
    let members: Vec<(u16, u16)> =
        pairs.map(|&[a, b, c, d]| (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]))).collect();
    let member = |tag: u16| members.iter().find(|member| member.0 == tag).map(|member| member.1);
    let data = member(tags::RI).ok_or_else(|| bad("it has no data, or compressed data of an old kind"))?;
    let description = member(tags::ID).ok_or_else(|| bad("it has no description"))?;
    let bytes = file.bytes(tags::ID, description)?.unwrap_or_default();
    let stored = decode(Description::default(), "raster description", 0, &bytes)?;
    // Two bytes.
    let number_reference = stored.number_reference as u16;
    let number = match file.descriptor(tags::NT, number_reference) {
        Some(_) => file.number_type(number_reference)?,
        None => BYTES,
    };
    let shape = match (stored.components, stored.interlace) {
        (0 | 1, _) => vec![stored.height, stored.width],
        (components, 0) => vec![stored.height, stored.width, components],
        (components, 1) => vec![stored.height, components, stored.width],
        (components, _) => vec![components, stored.height, stored.width],
    };
    let name = names.get(&data).cloned().unwrap_or_else(|| format!("raster_{data}").into_bytes());
    let objects = members.into_iter().chain([(tags::RIG, group)]).collect();
    Ok(Raster { var: var(name, number, shape, (tags::RI, data)), objects })
}

fn old_raster(file: &File, reference: u16) -> Result<Raster> {
    let bytes = file.bytes(tags::ID8, reference)?.ok_or_else(|| bad("it has no description"))?;
    let stored = decode(OldDescription::default(), "raster description", 0, &bytes)?;
    let name = format!("raster_{reference}").into_bytes();
    let data = (tags::RI8, reference);
    Ok(Raster { var: var(name, BYTES, vec![stored.height, stored.width], data), objects: vec![data] })
}

fn var(name: Vec<u8>, number: NumberType, shape: Vec<u64>, data: (u16, u16)) -> Var {
    let data = Data::Object(data.0, data.1);
    Var { name, group: None, number, dims: vec![], shape, attributes: vec![], data }
}
