//! Vgroups: named lists of objects (Specification, "DFTAG_VG").
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Coder, Record, Result};

use crate::wire::{self, bad, decode, until_zero};
use crate::{File, tags};

/// A Vgroup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vgroup {
    /// Its reference number.
    pub reference: u16,
    /// Its name.
    pub name: Vec<u8>,
    /// Its class: what it stands for.
    pub class: Vec<u8>,
    /// Tag and reference number of each member, in their order.
    pub members: Vec<(u16, u16)>,
    /// The Vdatas that are its attributes.
    pub attributes: Vec<u16>,
}

/// "DFTAG_VG".
#[derive(Debug, Default)]
struct VgroupRecord {
    /// The last version that the element says, which decides whether there are flags.
    version: u64,
    count: u64,
    member_tags: Vec<u64>,
    references: Vec<u64>,
    name: Vec<u8>,
    class: Vec<u8>,
    extension_tag: u64,
    extension_reference: u64,
    flags: u64,
    attribute_count: u64,
    attributes: Vec<(u64, u64)>,
}

/// The version from which on there are flags, and the latest one.
const WITH_FLAGS: u64 = 4;

/// The flag of Vgroups with attributes.
const HAS_ATTRIBUTES: u64 = 1;

impl Record for VgroupRecord {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.uint("number of members", 2, &mut self.count)?;
        c.list("tag", self.count, &mut self.member_tags, |tag, c| c.uint("tag", 2, tag))?;
        c.list("reference", self.count, &mut self.references, |reference, c| {
            c.uint("reference", 2, reference)
        })?;
        wire::text(c, "name", &mut self.name)?;
        wire::text(c, "class", &mut self.class)?;
        c.uint("extension tag", 2, &mut self.extension_tag)?;
        c.uint("extension reference", 2, &mut self.extension_reference)?;
        if self.version < WITH_FLAGS {
            return Ok(());
        }
        c.uint("flags", 4, &mut self.flags)?;
        if self.flags & HAS_ATTRIBUTES != 0 {
            c.uint("number of attributes", 4, &mut self.attribute_count)?;
            c.list("attribute", self.attribute_count, &mut self.attributes, |(tag, reference), c| {
                c.uint("tag", 2, tag)?;
                c.uint("reference", 2, reference)
            })?;
        }
        Ok(())
    }
}

/// Returns the version that an element of a Vgroup or a Vdata ends with. Behind it are two bytes, and one that the library writes
/// by mistake.
pub(crate) fn version(bytes: &[u8]) -> u64 {
    match bytes.len().checked_sub(5).and_then(|at| bytes.get(at..)) {
        Some(&[high, low, ..]) => u64::from(u16::from_be_bytes([high, low])),
        _ => 0,
    }
}

impl Vgroup {
    pub(crate) fn read(file: &File, reference: u16) -> Result<Vgroup> {
        let descriptor = file.descriptor(tags::VG, reference);
        let at = descriptor.and_then(|found| found.place).map_or(0, |(at, _)| at);
        let what = format!("Vgroup {reference}");
        let bytes =
            file.bytes(tags::VG, reference)?.ok_or_else(|| bad(format!("{what} is not in the file")))?;
        let version = version(&bytes);
        if version > WITH_FLAGS {
            return Err(bad(format!("{what} at byte {at}: version {version} is not known")));
        }
        let stored = decode(VgroupRecord { version, ..VgroupRecord::default() }, &what, at, &bytes)?;
        // All have two bytes.
        let pairs = stored.member_tags.iter().zip(&stored.references);
        Ok(Vgroup {
            reference,
            name: until_zero(&stored.name).to_vec(),
            class: until_zero(&stored.class).to_vec(),
            members: pairs.map(|(&tag, &reference)| (tag as u16, reference as u16)).collect(),
            attributes: stored.attributes.iter().map(|&(_, reference)| reference as u16).collect(),
        })
    }

    /// Returns the reference numbers of the members of a kind.
    pub fn members_of(&self, tag: u16) -> impl Iterator<Item = u16> {
        self.members.iter().filter(move |member| member.0 == tag).map(|member| member.1)
    }
}
