//! Datasets by the Vgroup of class `CDF0.0` (`hdf_read_xdr_cdf` of the HDF4 library).
//!
//! Its members are Vgroups of class `Dim0.0` and `UDim0.0`, whose Vdata holds the length, Vgroups of class `Var0.0`, whose members are the
//! dimensions, the number type, the data and the attributes, and Vdatas of class `Attr0.0`: attributes of the file.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::{BTreeMap, HashMap, HashSet};

use ferrocdf_bytes::{Context, Error, Order, Result, ToUsize};

use super::{Attribute, Data, Datasets, Dim, Var};
use crate::budget::Use;
use crate::wire::{MAX_LENGTH, MAX_RANK, bad};
use crate::{File, NumberType, Storage, Vdata, Vgroup, tags};

const CDF: &[u8] = b"CDF0.0";
const VARIABLE: &[u8] = b"Var0.0";
const DIMENSION: &[u8] = b"Dim0.0";
const UNLIMITED: &[u8] = b"UDim0.0";
const ATTRIBUTE: &[u8] = b"Attr0.0";
/// Vdata with the values of a dimension: as many as it is long; since 1994 one, the length.
const VALUES: &[u8] = b"DimVal0.0";
const LENGTH: &[u8] = b"DimVal0.1";

/// Maximum number of bytes of an attribute: the library writes 65,535 numbers at most, each of 8 bytes.
pub(super) const MAX_ATTRIBUTE: u64 = 65_535 * 8;

/// Reads the datasets; `None` if no Vgroup that can be read has that class. Vgroups that cannot be read and belong to no dataset found are
/// left in `damaged`, by their reference numbers.
pub fn read(file: &File, damaged: &mut BTreeMap<u16, Error>) -> Result<Option<Datasets>> {
    let mut vgroups = HashMap::new();
    for (at, vgroup) in file.vgroups() {
        match vgroup {
            Ok(vgroup) => drop(vgroups.insert(at, vgroup)),
            Err(error) => drop(damaged.insert(at, error)),
        }
    }
    let top = vgroups.values().filter(|vgroup| vgroup.class == CDF).min_by_key(|vgroup| vgroup.reference);
    let Some(top) = top else { return Ok(None) };
    // What is listed twice counts once, so that there are never more objects than descriptors.
    let mut seen = HashSet::new();
    let members: Vec<&Vgroup> = top
        .members_of(tags::VG)
        .filter(|&at| seen.insert((tags::VG, at)))
        .filter_map(|at| vgroups.get(&at))
        .collect();
    // All that lengths, attributes and variables need is read at once, in as many rounds as the deepest structure has levels.
    let vdatas =
        [top].into_iter().chain(members.iter().copied()).flat_map(|vgroup| vgroup.members_of(tags::VH));
    let variables: Vec<&Vgroup> = members.iter().copied().filter(|vgroup| vgroup.class == VARIABLE).collect();
    let parts = variables.iter().flat_map(|vgroup| &vgroup.members).copied();
    let objects: Vec<(u16, u16)> = vdatas
        .map(|at| (tags::VH, at))
        .chain(parts.filter(|object| object.0 != tags::VH))
        .filter(|&object| seen.insert(object))
        .collect();
    let read: HashMap<(u16, u16), Object> =
        objects.iter().copied().zip(file.for_each(&objects, |&object| Object::read(file, object))).collect();
    let mut found = Datasets::default();
    found.unreadable.extend(top.members_of(tags::VG).filter_map(|at| damaged.remove(&at)));
    found.known.insert((tags::VG, top.reference));
    found.known.extend(objects);
    let mut dims = HashMap::new();
    for vgroup in members.iter().filter(|vgroup| vgroup.class == DIMENSION || vgroup.class == UNLIMITED) {
        found.known.insert((tags::VG, vgroup.reference));
        match dim(vgroup, &read).at(|| format!("dimension \"{}\"", vgroup.name.escape_ascii())) {
            Ok(dim) => {
                dims.insert(vgroup.reference, found.dims.len());
                found.dims.push(dim);
            }
            Err(error) => found.unreadable.push(error),
        }
    }
    for vgroup in variables {
        found.known.insert((tags::VG, vgroup.reference));
        let named = |error: Error| error.at(format_args!("dataset \"{}\"", vgroup.name.escape_ascii()));
        match VarMembers::of(vgroup, &read).and_then(|parts| parts.var(vgroup, &vgroups, &dims, &found.dims))
        {
            Ok(mut var) => {
                var.attributes =
                    attributes(file, vgroup, &read, &mut |error| found.unreadable.push(named(error)));
                found.vars.push(var);
            }
            Err(error) => found.unreadable.push(named(error)),
        }
    }
    let file_attributes = attributes(file, top, &read, &mut |error| found.unreadable.push(error));
    found.attributes = file_attributes;
    Ok(Some(found))
}

/// What is read of a member of a Vgroup.
enum Object {
    /// The description of a Vdata, and the values of its first field if it is an attribute or the length of a dimension.
    Vdata(Result<(Vdata, Vec<u8>)>),
    Number(Result<NumberType>),
    /// The number of bytes of data, decoded, and the lengths of the dimensions if they are chunked; `None` if there is no data.
    Data(Result<Option<(u64, Option<Vec<u64>>)>>),
    Other,
}

type Objects = HashMap<(u16, u16), Object>;

impl Object {
    fn read(file: &File, (tag, reference): (u16, u16)) -> Object {
        match tag {
            tags::VH => Object::Vdata(read_vdata(file, reference)),
            tags::NT => Object::Number(file.number_type(reference)),
            tags::SD => Object::Data(file.element(tag, reference).map(|element| {
                element.map(|element| match element.storage {
                    Storage::Chunked(chunked) => (element.len, Some(chunked.dims)),
                    _ => (element.len, None),
                })
            })),
            _ => Object::Other,
        }
    }
}

/// Reads the description of a Vdata, and its values if they matter.
fn read_vdata(file: &File, reference: u16) -> Result<(Vdata, Vec<u8>)> {
    let vdata = file.vdata(reference)?;
    let bytes = match &*vdata.class {
        ATTRIBUTE | LENGTH => {
            let len = file.element(tags::VS, reference)?.map_or(0, |element| element.len);
            if len > MAX_ATTRIBUTE {
                return Err(bad(format!("Vdata {reference}: an attribute of {len} bytes")));
            }
            // A dimension without its length may have it in another Vdata.
            if vdata.class == ATTRIBUTE {
                vdata.check_stored(len)?;
            }
            vdata.values(file, 0)?
        }
        _ => vec![],
    };
    Ok((vdata, bytes))
}

/// Returns the Vdatas among the members of a Vgroup.
fn vdatas<'o>(vgroup: &Vgroup, objects: &'o Objects) -> impl Iterator<Item = &'o Result<(Vdata, Vec<u8>)>> {
    let mut seen = HashSet::new();
    let once = vgroup.members_of(tags::VH).filter(move |&at| seen.insert(at));
    once.filter_map(|at| match objects.get(&(tags::VH, at)) {
        Some(Object::Vdata(vdata)) => Some(vdata),
        _ => None,
    })
}

/// Returns a dimension.
fn dim(vgroup: &Vgroup, objects: &Objects) -> Result<Dim> {
    let name = vgroup.name.clone();
    if vgroup.class == UNLIMITED {
        return Ok(Dim { name, len: None });
    }
    let mut len = None;
    for vdata in vdatas(vgroup, objects) {
        match vdata {
            Ok((vdata, bytes)) if vdata.class == LENGTH => len = first_number(vdata, bytes).or(len),
            Ok((vdata, _)) if vdata.class == VALUES => len = len.or(Some(vdata.records)),
            Ok(_) => {}
            Err(error) => return Err(error.clone()),
        }
    }
    match len {
        Some(len) if len <= MAX_LENGTH => Ok(Dim { name, len: Some(len) }),
        Some(len) => Err(bad(format!("its length is {len}, more than {MAX_LENGTH}"))),
        None => Err(bad("it has no length")),
    }
}

/// Returns the first number of a Vdata, an unsigned one of 32 bits.
fn first_number(vdata: &Vdata, bytes: &[u8]) -> Option<u64> {
    let field = vdata.fields.first().filter(|field| field.number.size() == 4)?;
    let quad = *bytes.first_chunk::<4>()?;
    Some(u64::from(match field.number.stored.order {
        Order::Big => u32::from_be_bytes(quad),
        Order::Little => u32::from_le_bytes(quad),
    }))
}

/// Returns the attributes among the members of a Vgroup.
fn attributes(
    file: &File,
    vgroup: &Vgroup,
    objects: &Objects,
    refuse: &mut dyn FnMut(Error),
) -> Vec<Attribute> {
    let (mut found, mut total) = (vec![], 0u64);
    for vdata in vdatas(vgroup, objects) {
        match vdata {
            Ok((vdata, bytes)) if vdata.class == ATTRIBUTE => {
                let Some(field) = vdata.fields.first() else { continue };
                // Text is one record, of which the library takes the first one; numbers are a record each.
                let len = match field.number.is_text() {
                    true => field.size.at_most(bytes.len()),
                    false => bytes.len(),
                };
                let bytes = bytes.get(..len).unwrap_or_default().to_vec();
                // Variables may share attributes: each has a copy, with its name.
                let size =
                    bytes.len().saturating_add(vdata.name.len()).saturating_add(size_of::<Attribute>());
                total = total.saturating_add(size as u64);
                if let Err(error) = file.charge((Use::Attributes, tags::VG, vgroup.reference), total) {
                    refuse(error.at("attributes"));
                    break;
                }
                found.push(Attribute { name: vdata.name.clone(), number: field.number, bytes });
            }
            Ok(_) => {}
            Err(error) => refuse(error.clone().at("attribute")),
        }
    }
    found
}

/// What the members of the Vgroup of a variable say.
#[derive(Default)]
struct VarMembers {
    number: Option<NumberType>,
    /// Reference number of the data.
    data: Option<u16>,
    /// True if the file does not have the data. Reading it is an error then.
    is_lost: bool,
    /// Number of bytes of the data, decoded.
    len: u64,
    group: Option<(u16, u16)>,
    chunked_shape: Option<Vec<u64>>,
}

impl VarMembers {
    fn of(vgroup: &Vgroup, objects: &Objects) -> Result<VarMembers> {
        let mut parts = VarMembers::default();
        for &(tag, reference) in &vgroup.members {
            if tag == tags::NDG || tag == tags::SDG {
                parts.group = Some((tag, reference));
            }
            match objects.get(&(tag, reference)) {
                Some(Object::Number(number)) => parts.number = Some(number.clone()?),
                Some(Object::Data(data)) => {
                    let is_lost = data.as_ref().is_ok_and(Option::is_none);
                    if is_lost && parts.data.is_some() {
                        continue;
                    }
                    parts.is_lost = is_lost;
                    let (len, chunked_shape) = data.clone()?.unwrap_or_default();
                    (parts.data, parts.len, parts.chunked_shape) = (Some(reference), len, chunked_shape);
                }
                _ => {}
            }
        }
        Ok(parts)
    }

    fn var(
        &self,
        vgroup: &Vgroup,
        vgroups: &HashMap<u16, Vgroup>,
        dims: &HashMap<u16, usize>,
        lens: &[Dim],
    ) -> Result<Var> {
        let number = self.number.ok_or_else(|| bad("it has no number type"))?;
        let mut own = vec![];
        for reference in vgroup.members_of(tags::VG) {
            let member = vgroups.get(&reference);
            if !member.is_some_and(|member| member.class == DIMENSION || member.class == UNLIMITED) {
                continue;
            }
            if own.len() == MAX_RANK {
                return Err(bad(format!("it has more than {MAX_RANK} dimensions")));
            }
            let dim = dims.get(&reference);
            own.push(*dim.ok_or_else(|| bad(format!("its dimension, Vgroup {reference}, is not known")))?);
        }
        let mut shape: Vec<u64> =
            own.iter().map(|&dim| lens.get(dim).and_then(|dim| dim.len).unwrap_or(0)).collect();
        let is_record = own.first().is_some_and(|&dim| lens.get(dim).is_some_and(|dim| dim.len.is_none()));
        if is_record && self.is_lost {
            return Err(bad("its data is not in the file, and nothing else tells how many records it has"));
        }
        if let Some(records) = shape.first_mut().filter(|_| is_record) {
            *records = 1;
            let record = shape.iter().try_fold(number.size() as u64, |bytes, &len| bytes.checked_mul(len));
            let stored = record.and_then(|record| self.len.checked_div(record)).unwrap_or(0);
            // A chunked dataset says its length twice.
            let chunked = self.chunked_shape.as_ref().filter(|chunked| chunked.len() == shape.len());
            let records = stored.max(chunked.and_then(|chunked| chunked.first().copied()).unwrap_or(0));
            if let Some(first) = shape.first_mut() {
                *first = records;
            }
        }
        Ok(Var {
            name: vgroup.name.clone(),
            group: self.group,
            number,
            dims: own,
            shape,
            attributes: vec![],
            data: self.data.map_or(Data::Unwritten, |reference| Data::Object(tags::SD, reference)),
        })
    }
}
