//! Rasters as arrays (Specification, "Raster Image Tags"; `mfgr.c` of the HDF4 library). They are no Scientific Datasets, but their bytes lie
//! in the same way.
//!
//! There are three kinds, and one raster may be of all three, with the same data. The interface GR, since 1996, makes a Vgroup of class
//! `RI0.0`: its name is that of the raster, its members are the description, the data and the attributes. The interfaces before it make a
//! group, `DFTAG_RIG`, of description and data; the oldest one data and a description with the same reference number.
#![deny(clippy::arithmetic_side_effects)]

mod coder;
mod description;
pub(super) mod linear;

use std::collections::{HashMap, HashSet};

use ferrocdf_bytes::{Context, Error, Result};

use super::{Attribute, AttributeName, Data, FILL_VALUE, Var, attributes};
use crate::budget::Use;
use crate::wire::bad;
use crate::{File, Vgroup, tags};
pub(super) use coder::RasterCoder;
use description::Description;

/// Class of the Vgroup of a raster, and name of the Vgroup of all rasters, which has the attributes of the file. Old libraries gave that no
/// class.
const RASTER: &[u8] = b"RI0.0";
const ALL_RASTERS: &[u8] = b"RIG0.0";

/// Name of the attribute with the value of unwritten pixels.
const PIXEL_FILL: &[u8] = b"FillValue";

/// A raster.
#[derive(Clone, Debug)]
pub struct Raster {
    /// Its name, type and data, and as only attribute the value of unwritten pixels. It has no dimensions, only a shape.
    pub var: Var,
    /// What each of its lengths counts: `rows`, `columns` or `components`.
    pub axes: Vec<&'static str>,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// The reason for each attribute that cannot be read.
    pub unreadable: Vec<Error>,
}

/// The rasters of a file.
#[derive(Debug, Default)]
pub struct Rasters {
    /// The rasters, with the reason for each that cannot be read.
    pub rasters: Vec<Result<Raster>>,
    /// The attributes that the interface GR gave to the file.
    pub attributes: Vec<Attribute>,
    /// The reason for each attribute of the file that cannot be read.
    pub unreadable: Vec<Error>,
}

/// The reference number of a Vgroup, and the Vdatas that are its attributes.
type Attributes = (u16, Vec<u16>);

/// Where a raster was found.
struct Found {
    /// Its name, if the file has one.
    name: Vec<u8>,
    /// Tag and reference number of the data; the reason if there is none.
    data: Result<(u16, u16)>,
    /// Reference number of the description, which is of the oldest kind for data of that kind.
    description: Option<u16>,
    attributes: Attributes,
}

/// Tags of data with a description of the oldest kind.
const OLD_DATA: [u16; 3] = [tags::RI8, tags::CI8, tags::II8];

impl Rasters {
    /// Reads the rasters of a file.
    pub fn read(file: &File) -> Rasters {
        let has_any = [tags::RI, tags::CI, tags::RIG]
            .into_iter()
            .chain(OLD_DATA)
            .any(|tag| file.descriptors_of(tag).next().is_some());
        let vgroups: Vec<Vgroup> = file.vgroups().into_iter().filter_map(|(_, vgroup)| vgroup.ok()).collect();
        let of_file = vgroups.iter().find(|vgroup| vgroup.name == ALL_RASTERS).map(attributes_of);
        let (owner, vdatas) = of_file.unwrap_or_default();
        let (attributes, unreadable) = read_attributes(file, (owner, &vdatas));
        if !has_any {
            return Rasters { rasters: vec![], attributes, unreadable };
        }
        let found = find(file, &vgroups);
        Rasters { rasters: file.for_each(&found, |found| found.read(file)), attributes, unreadable }
    }
}

/// Returns the reference number of a Vgroup and the Vdatas that are its attributes.
fn attributes_of(vgroup: &Vgroup) -> Attributes {
    (vgroup.reference, vgroup.members_of(tags::VH).collect())
}

/// Finds the rasters of all kinds, each once.
fn find(file: &File, vgroups: &[Vgroup]) -> Vec<Found> {
    let groups: Vec<u16> = file.descriptors_of(tags::RIG).map(|found| found.reference).collect();
    let of_vgroups = vgroups
        .iter()
        .filter(|vgroup| vgroup.class == RASTER)
        .map(|vgroup| Found::of_members(vgroup.name.clone(), &vgroup.members, attributes_of(vgroup)));
    let of_vgroups: Vec<Found> = of_vgroups.collect();
    let described: HashSet<Option<u16>> = of_vgroups.iter().map(|found| found.description).collect();
    let of_groups = file.for_each(&groups, |&group| match members(file, group) {
        Ok(members) => Found::of_members(vec![], &members, Attributes::default()),
        Err(error) => Found { data: Err(error), ..Found::of_members(vec![], &[], Attributes::default()) },
    });
    // GR adds such a group to the Vgroup of a raster that was never written. It names data 0, which there never is.
    let is_again = |found: &Found| matches!(found.data, Ok((_, 0))) && described.contains(&found.description);
    let of_groups = of_groups.into_iter().filter(|found| !is_again(found));
    let old = OLD_DATA.into_iter().flat_map(|tag| file.descriptors_of(tag)).map(|data| Found {
        name: vec![],
        data: Ok((data.tag, data.reference)),
        description: Some(data.reference),
        attributes: Attributes::default(),
    });
    let (mut all, mut known): (Vec<Found>, HashMap<_, usize>) = (vec![], HashMap::new());
    for found in of_vgroups.into_iter().chain(of_groups).chain(old) {
        let Ok((tag, reference)) = found.data else {
            all.push(found);
            continue;
        };
        // The same data in several kinds is one raster: its tags differ, its reference number and its place do not.
        let place = file.descriptor(tag, reference).and_then(|data| data.place);
        let key = (if place.is_some() { 0 } else { tag }, reference, place);
        match known.get(&key).and_then(|&at| all.get_mut(at)) {
            Some(same) if !is_old(tag) => same.description = same.description.or(found.description),
            Some(_) => {}
            None => {
                known.insert(key, all.len());
                all.push(found);
            }
        }
    }
    all
}

fn is_old(data: u16) -> bool {
    OLD_DATA.contains(&data)
}

/// Returns the members of a group: tag and reference number of each.
fn members(file: &File, group: u16) -> Result<Vec<(u16, u16)>> {
    let at = || format!("group {}/{group}", tags::RIG);
    let len = file.descriptor(tags::RIG, group).and_then(|found| found.place).map_or(0, |(_, len)| len);
    // Many groups may share bytes.
    file.charge((Use::Members, tags::RIG, group), len).at(at)?;
    let bytes = file.bytes(tags::RIG, group).at(at)?.unwrap_or_default();
    let pairs = bytes.as_chunks().0.iter();
    Ok(pairs.map(|&[a, b, c, d]| (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]))).collect())
}

/// Separates attributes from the reasons for those that cannot be read.
fn read_attributes(file: &File, (owner, vdatas): (u16, &[u16])) -> (Vec<Attribute>, Vec<Error>) {
    let (mut found, mut unreadable) = (vec![], vec![]);
    for (_, read) in attributes(file, owner, vdatas, AttributeName::OfField) {
        match read {
            Ok(attribute) => found.push(attribute),
            Err(error) => unreadable.push(error),
        }
    }
    (found, unreadable)
}

impl Found {
    fn of_members(name: Vec<u8>, members: &[(u16, u16)], attributes: Attributes) -> Found {
        let data = members.iter().find(|member| [tags::RI, tags::CI].contains(&member.0));
        let description = members.iter().find(|member| member.0 == tags::ID);
        Found {
            name,
            data: data.copied().ok_or_else(|| bad("it has no data")),
            description: description.map(|member| member.1),
            attributes,
        }
    }

    fn read(&self, file: &File) -> Result<Raster> {
        let data = self.data.clone();
        let named = |error: Error| match &data {
            Ok((tag, reference)) if self.name.is_empty() => {
                error.at(format_args!("raster {tag}/{reference}"))
            }
            _ if self.name.is_empty() => error.at("raster"),
            _ => error.at(format_args!("raster \"{}\"", self.name.escape_ascii())),
        };
        self.read_parts(file).map_err(named)
    }

    fn read_parts(&self, file: &File) -> Result<Raster> {
        let (tag, reference) = self.data.clone()?;
        let description = self.description.ok_or_else(|| bad("it has no description"))?;
        let Description { number, shape, coder } = match is_old(tag) {
            true => Description::read_old(file, description, tag)?,
            false => Description::read(file, description, tag)?,
        };
        let (owner, vdatas) = &self.attributes;
        let (attributes, unreadable) = read_attributes(file, (*owner, vdatas));
        let fill = match attributes.iter().find(|attribute| attribute.name == PIXEL_FILL) {
            Some(fill) => Attribute { name: FILL_VALUE.to_vec(), ..fill.clone() },
            None => Attribute { name: FILL_VALUE.to_vec(), number, bytes: vec![0; number.size()] },
        };
        let name = match &self.name[..] {
            b"" => format!("raster_{reference}").into_bytes(),
            name => name.to_vec(),
        };
        let (axes, shape) = shape.into_iter().unzip();
        let data = Data::Raster((tag, reference), coder);
        let var = Var { name, group: None, number, dims: vec![], shape, attributes: vec![fill], data };
        Ok(Raster { var, axes, attributes, unreadable })
    }
}
