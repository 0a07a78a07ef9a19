//! Datasets by their groups of numeric data, in files without a Vgroup of class `CDF0.0` (`hdf_read_ndgs` of the HDF4 library;
//! Specification, "DFTAG_NDG").
//!
//! A dataset is called after the number of its group, a dimension after the number of dimensions before it. A dimension with a
//! scale, or without label, unit and format, is a coordinate variable as well. All else that the group says are attributes.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::HashSet;

use ferrocdf_array::{Kind, Stored};
use ferrocdf_bytes::{Code, Coder, Context, Record, Result};

use super::annotations::Annotations;
use super::{Attribute, Data, Datasets, Dim, Var};
use crate::budget::Use;
use crate::wire::{MAX_LENGTH, MAX_RANK, bad, decode, until_zero};
use crate::{File, NumberType, tags};

/// "DFTAG_SDD".
#[derive(Debug, Default)]
struct Dimensions {
    rank: u64,
    lens: Vec<u64>,
    data_type: (u64, u64),
    scale_types: Vec<(u64, u64)>,
}

fn object<C: Coder>(c: &mut C, (tag, reference): &mut (u64, u64)) -> Result<()> {
    c.uint("tag of the number type", 2, tag)?;
    c.uint("reference of the number type", 2, reference)
}

impl Record for Dimensions {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.uint("rank", 2, &mut self.rank)?;
        if self.rank > MAX_RANK as u64 {
            return Err(c.error(Code::EHDFERR, format!("{} dimensions, more than {MAX_RANK}", self.rank)));
        }
        c.list("dimension", self.rank, &mut self.lens, |len, c| c.uint("length", 4, len))?;
        if let Some(len) = self.lens.iter().find(|&&len| len > MAX_LENGTH) {
            return Err(
                c.error(Code::EHDFERR, format!("a dimension of length {len}, more than {MAX_LENGTH}"))
            );
        }
        object(c, &mut self.data_type)?;
        c.list("scale", self.rank, &mut self.scale_types, |number, c| object(c, number))
    }
}

/// Text for a dataset and each of its dimensions, each up to a zero byte.
struct Texts<'a>(Vec<&'a [u8]>);

impl<'a> Texts<'a> {
    fn of(bytes: Option<&'a Vec<u8>>) -> Texts<'a> {
        Texts(bytes.map(|bytes| bytes.split(|&byte| byte == 0).collect()).unwrap_or_default())
    }

    /// Returns the text of the dataset, or of a dimension, from 1 on.
    fn get(&self, number: usize) -> &'a [u8] {
        self.0.get(number).copied().unwrap_or_default()
    }
}

/// What the members of a group say, as bytes.
#[derive(Debug, Default)]
struct Group {
    object: (u16, u16),
    dimensions: Option<Dimensions>,
    number: Option<NumberType>,
    scale_numbers: Vec<NumberType>,
    data: Option<u16>,
    scales: Option<(u16, Vec<u8>)>,
    labels: Option<Vec<u8>>,
    units: Option<Vec<u8>>,
    formats: Option<Vec<u8>>,
    attributes: Vec<Attribute>,
    /// The group of the oldest kind that is the same dataset.
    older: Option<u16>,
    members: Vec<(u16, u16)>,
}

/// Maximum number of bytes of a dataset: positions in a file have 32 bits.
const MAX_BYTES: u64 = 0xffff_ffff;

/// Reads the datasets.
pub fn read(file: &File) -> Result<Datasets> {
    let mut found = Datasets::default();
    let kinds = [tags::NDG, tags::SDG];
    let groups: Vec<(u16, u16)> = kinds
        .iter()
        .flat_map(|&kind| file.descriptors_of(kind).map(move |at| (kind, at.reference)))
        .collect();
    if groups.is_empty() {
        return Ok(found);
    }
    let annotations = Annotations::read(file);
    let read = file.for_each(&groups, |&object| Group::read(file, object));
    let mut seen = HashSet::new();
    for (object, group) in groups.into_iter().zip(read) {
        found.known.insert(object);
        if object.0 == tags::SDG && seen.contains(&object.1) {
            continue;
        }
        match group {
            Ok(group) => {
                found.known.extend(&group.members);
                seen.extend(group.older.filter(|_| object.0 == tags::NDG));
                group.add_to(&mut found, &annotations);
            }
            Err(error) => {
                found
                    .unreadable
                    .push(error.at(format_args!("group of numeric data {}/{}", object.0, object.1)));
            }
        }
    }
    Ok(found)
}

impl Group {
    fn read(file: &File, object: (u16, u16)) -> Result<Group> {
        let bytes = file.bytes(object.0, object.1)?.unwrap_or_default();
        let mut seen = HashSet::new();
        let members: Vec<(u16, u16)> = bytes
            .as_chunks()
            .0
            .iter()
            .map(|&[a, b, c, d]| (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])))
            .filter(|&member| seen.insert(member))
            .collect();
        // Members that are read are asked for together, then each by itself: the second time their bytes are here.
        let read = file.for_each(&members, |&(tag, reference)| match tag {
            tags::SDD
            | tags::SDL
            | tags::SDU
            | tags::SDF
            | tags::SDC
            | tags::SDS
            | tags::SDM
            | tags::CAL
            | tags::SDLNK => file.bytes(tag, reference),
            _ => Ok(None),
        });
        let total = read.iter().fold(0u64, |sum, bytes| match bytes {
            Ok(Some(bytes)) => sum.saturating_add(bytes.len() as u64),
            _ => sum,
        });
        // Groups may share members: each has a copy.
        file.charge((Use::Members, object.0, object.1), total)?;
        let mut group = Group { object, members: members.clone(), ..Group::default() };
        let mut range = None;
        let mut result = Ok(());
        for ((tag, reference), bytes) in members.into_iter().zip(read) {
            if tag == tags::SD {
                group.data = Some(reference);
                continue;
            }
            let bytes = match bytes {
                Ok(bytes) => bytes,
                Err(error) => {
                    result = Err(error.at(format_args!("member {tag}/{reference}")));
                    continue;
                }
            };
            let Some(bytes) = bytes else { continue };
            match tag {
                tags::SDD => {
                    let at =
                        file.descriptor(tag, reference).and_then(|found| found.place).map_or(0, |(at, _)| at);
                    group.dimensions = Some(decode(Dimensions::default(), "dimension record", at, &bytes)?);
                }
                tags::SDL => group.labels = Some(bytes),
                tags::SDU => group.units = Some(bytes),
                tags::SDF => group.formats = Some(bytes),
                tags::SDS => group.scales = Some((reference, bytes)),
                tags::SDM => range = Some((group.attributes.len(), bytes)),
                tags::SDC => group.attributes.extend(text(b"coordsys", until_zero(&bytes))),
                tags::CAL => calibration(&bytes, &mut group.attributes),
                // Tag and reference number of this group, then those of the older one.
                tags::SDLNK => {
                    group.older = bytes
                        .get(6..8)
                        .and_then(|pair| pair.first_chunk())
                        .map(|pair| u16::from_be_bytes(*pair));
                }
                _ => {}
            }
        }
        result?;
        let Some(dimensions) = &group.dimensions else { return Err(bad("it has no dimension record")) };
        let numbers: Vec<u16> = [&dimensions.data_type]
            .into_iter()
            .chain(&dimensions.scale_types)
            // Two bytes.
            .map(|&(_, reference)| reference as u16)
            .collect();
        let numbers = file.for_each(&numbers, |&reference| number_type(file, reference));
        let mut numbers = numbers.into_iter();
        let number = numbers.next().unwrap_or(Ok(NumberType::FLOAT32)).at(|| "data")?;
        group.number = Some(number);
        group.scale_numbers = numbers.collect::<Result<_>>().at(|| "scales")?;
        if let Some((at, bytes)) = range {
            // The largest value comes first.
            let mut values = bytes.chunks_exact(number.size());
            let mut named = [&b"valid_max"[..], b"valid_min"].into_iter().filter_map(|name| {
                Some(Attribute { name: name.to_vec(), number, bytes: values.next()?.to_vec() })
            });
            let range: Vec<Attribute> = named.by_ref().collect();
            group.attributes.splice(at..at, range);
        }
        group.check_size()?;
        Ok(group)
    }

    /// Checks that the data fits in a file: only Vgroups describe compressed data.
    fn check_size(&self) -> Result<()> {
        let Some((dimensions, number)) = self.dimensions.as_ref().zip(self.number) else { return Ok(()) };
        let bytes =
            dimensions.lens.iter().try_fold(number.size() as u64, |bytes, &len| bytes.checked_mul(len));
        match bytes {
            Some(bytes) if bytes <= MAX_BYTES => Ok(()),
            _ => Err(bad(format!("a dataset of shape {:?} is larger than any HDF4 file", dimensions.lens))),
        }
    }

    /// Adds the dimensions, coordinate variables and the dataset of the group.
    fn add_to(self, found: &mut Datasets, annotations: &Annotations) {
        let Some((dimensions, number)) = self.dimensions.as_ref().zip(self.number) else { return };
        let labels = Texts::of(self.labels.as_ref());
        let units = Texts::of(self.units.as_ref());
        let formats = Texts::of(self.formats.as_ref());
        let mut dims = vec![];
        // A byte for each dimension says whether it has a scale; then come the scales.
        let mut offset = dimensions.rank;
        for (at, (&len, &scale_number)) in dimensions.lens.iter().zip(&self.scale_numbers).enumerate() {
            let dim = found.dims.len();
            let name = format!("fakeDim{dim}").into_bytes();
            found.dims.push(Dim { name: name.clone(), len: Some(len) });
            dims.push(dim);
            let texts = at.saturating_add(1);
            let attributes: Vec<Attribute> = [
                text(b"long_name", labels.get(texts)),
                text(b"units", units.get(texts)),
                text(b"format", formats.get(texts)),
            ]
            .into_iter()
            .flatten()
            .collect();
            let scale = self
                .scales
                .as_ref()
                .filter(|(_, bytes)| bytes.get(at).is_some_and(|&is_there| is_there != 0));
            // The library makes a variable of a dimension that has nothing, and none of one that has text and no scale.
            if !attributes.is_empty() && scale.is_none() {
                continue;
            }
            let data = match scale {
                Some((reference, _)) => {
                    let data = Data::Scale(*reference, offset);
                    offset = offset.saturating_add(len.saturating_mul(scale_number.size() as u64));
                    data
                }
                None => Data::Unwritten,
            };
            let (dims, shape) = (vec![dim], vec![len]);
            found.vars.push(Var { name, group: None, number: scale_number, dims, shape, attributes, data });
        }
        let (tag, reference) = self.object;
        let mut attributes = self.attributes;
        for (kind, prefix) in [(tags::DIA, "remarks"), (tags::DIL, "anno_label")] {
            for (at, note) in annotations.of(kind, tag, reference).iter().enumerate() {
                let name = format!("{prefix}-{}", at.saturating_add(1));
                attributes.push(Attribute { name: name.into_bytes(), number: TEXT, bytes: note.clone() });
            }
        }
        attributes.extend(text(b"long_name", labels.get(0)));
        attributes.extend(text(b"units", units.get(0)));
        attributes.extend(text(b"format", formats.get(0)));
        found.vars.push(Var {
            name: format!("Data-Set-{reference}").into_bytes(),
            group: Some(self.object),
            number,
            dims,
            shape: dimensions.lens.clone(),
            attributes,
            data: self.data.map_or(Data::Unwritten, |data| Data::Object(tags::SD, data)),
        });
    }
}

/// Returns a number type. Datasets of the oldest kind name types that are not in the file: they are 32-bit floats.
fn number_type(file: &File, reference: u16) -> Result<NumberType> {
    match file.descriptor(tags::NT, reference) {
        Some(_) => file.number_type(reference),
        None => Ok(NumberType::FLOAT32),
    }
}

const TEXT: NumberType = NumberType { code: 4, stored: Stored::big(Kind::Char) };

/// Returns an attribute that is text, unless it is empty.
fn text(name: &[u8], value: &[u8]) -> Option<Attribute> {
    (!value.is_empty()).then(|| Attribute { name: name.to_vec(), number: TEXT, bytes: value.to_vec() })
}

/// Adds the attributes of a calibration (Specification, "DFTAG_CAL"): 64-bit floats and the number of the type of calibrated values in 32
/// bits, or in old files 32-bit floats and 16 bits.
fn calibration(bytes: &[u8], attributes: &mut Vec<Attribute>) {
    const NAMES: [&[u8]; 5] =
        [b"scale_factor", b"scale_factor_err", b"add_offset", b"add_offset_err", b"calibrated_nt"];
    let (float, integer) = match bytes.len() {
        36 => ((6, Kind::F64), (24, Kind::I32)),
        _ => ((5, Kind::F32), (22, Kind::I16)),
    };
    let mut rest = bytes;
    for (at, name) in NAMES.into_iter().enumerate() {
        let (code, kind) = if at < 4 { float } else { integer };
        let Some((value, after)) = rest.split_at_checked(kind.size()) else { return };
        let number = NumberType { code, stored: Stored::big(kind) };
        attributes.push(Attribute { name: name.to_vec(), number, bytes: value.to_vec() });
        rest = after;
    }
}
