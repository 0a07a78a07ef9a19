//! Vdatas: tables of records with named fields (Specification, "DFTAG_VH" and "DFTAG_VS").
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Coder, Context, Record, Result};

use crate::vgroup::version;
use crate::wire::{self, bad, decode, until_zero};
use crate::{File, NumberType, Storage, tags};

/// The description of a Vdata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vdata {
    /// Its reference number, which its records have too.
    pub reference: u16,
    /// Its name.
    pub name: Vec<u8>,
    /// Its class: what it stands for.
    pub class: Vec<u8>,
    /// True if the records lie one behind the other; false if all values of a field lie together.
    pub is_interlaced: bool,
    /// Number of records.
    pub records: u64,
    /// Bytes of a record.
    pub record_size: u64,
    /// The fields, in the order in which they are stored.
    pub fields: Vec<Field>,
    /// The Vdatas that are its attributes.
    pub attributes: Vec<VdataAttribute>,
}

/// A field of a Vdata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: Vec<u8>,
    /// The type of its numbers; the reason if it has none that is known.
    pub number: NumberType,
    /// Number of numbers in a record.
    pub order: u64,
    /// Position of its first byte in a record, and number of bytes.
    pub offset: u64,
    /// Bytes in a record.
    pub size: u64,
}

/// An attribute of a Vdata or of one of its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VdataAttribute {
    /// The field; `None` for the Vdata itself.
    pub field: Option<usize>,
    /// The Vdata that holds the values.
    pub reference: u16,
}

/// "DFTAG_VH".
#[derive(Debug, Default)]
struct VdataRecord {
    /// The last version that the element says.
    last_version: u64,
    interlace: u64,
    records: u64,
    record_size: u64,
    count: u64,
    types: Vec<u64>,
    sizes: Vec<u64>,
    offsets: Vec<u64>,
    orders: Vec<u64>,
    names: Vec<Vec<u8>>,
    name: Vec<u8>,
    class: Vec<u8>,
    extension_tag: u64,
    extension_reference: u64,
    version: u64,
    more: u64,
    flags: u64,
    attribute_count: u64,
    attributes: Vec<(u64, u64, u64)>,
}

/// The latest version whose types have numbers of their own; the version from which on there are flags, and the latest one.
const OLD_TYPES: u64 = 2;
const WITH_FLAGS: u64 = 4;

/// The flag of Vdatas with attributes.
const HAS_ATTRIBUTES: u64 = 1;

/// Field number of attributes of the Vdata itself.
const WHOLE: u64 = 0xffff_ffff;

impl Record for VdataRecord {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.uint("interlace", 2, &mut self.interlace)?;
        c.uint("number of records", 4, &mut self.records)?;
        c.uint("record size", 2, &mut self.record_size)?;
        c.uint("number of fields", 2, &mut self.count)?;
        c.list("type", self.count, &mut self.types, |value, c| c.uint("type", 2, value))?;
        c.list("size", self.count, &mut self.sizes, |value, c| c.uint("size", 2, value))?;
        c.list("offset", self.count, &mut self.offsets, |value, c| c.uint("offset", 2, value))?;
        c.list("order", self.count, &mut self.orders, |value, c| c.uint("order", 2, value))?;
        c.list("field", self.count, &mut self.names, |value, c| wire::text(c, "name", value))?;
        wire::text(c, "name", &mut self.name)?;
        wire::text(c, "class", &mut self.class)?;
        c.uint("extension tag", 2, &mut self.extension_tag)?;
        c.uint("extension reference", 2, &mut self.extension_reference)?;
        c.uint("version", 2, &mut self.version)?;
        c.uint("more", 2, &mut self.more)?;
        if self.last_version < WITH_FLAGS {
            return Ok(());
        }
        c.uint("flags", 4, &mut self.flags)?;
        if self.flags & HAS_ATTRIBUTES != 0 {
            c.uint("number of attributes", 4, &mut self.attribute_count)?;
            c.list("attribute", self.attribute_count, &mut self.attributes, |(field, tag, reference), c| {
                c.uint("field", 4, field)?;
                c.uint("tag", 2, tag)?;
                c.uint("reference", 2, reference)
            })?;
        }
        Ok(())
    }
}

/// Returns the `DFNT_*` code of a type of the first versions.
fn of_old_type(code: u64) -> u64 {
    match code {
        // Text and bytes, 16-bit, 32-bit and long integers, 32-bit floats.
        1 | 4 => 4,
        2 => 22,
        3 | 6 => 24,
        5 => 5,
        other => other,
    }
}

impl Vdata {
    pub(crate) fn read(file: &File, reference: u16) -> Result<Vdata> {
        let at = file.descriptor(tags::VH, reference).and_then(|found| found.place).map_or(0, |(at, _)| at);
        let what = format!("Vdata {reference}");
        let bytes =
            file.bytes(tags::VH, reference)?.ok_or_else(|| bad(format!("{what} is not in the file")))?;
        let last_version = version(&bytes);
        if last_version > WITH_FLAGS {
            return Err(bad(format!("{what} at byte {at}: version {last_version} is not known")));
        }
        let stored = decode(VdataRecord { last_version, ..VdataRecord::default() }, &what, at, &bytes)?;
        Vdata::check(reference, stored).at(|| format!("{what} at byte {at}"))
    }

    fn check(reference: u16, stored: VdataRecord) -> Result<Vdata> {
        let mut fields = Vec::with_capacity(stored.names.len());
        for (number, name) in stored.names.iter().enumerate() {
            let value = |list: &[u64]| list.get(number).copied().unwrap_or(0);
            let code = match stored.last_version {
                0..=OLD_TYPES => of_old_type(value(&stored.types)),
                _ => value(&stored.types),
            };
            // Two bytes.
            let number_type = NumberType::of_code(code as u16).at(|| format!("field {number}"))?;
            let (order, size, offset) = (value(&stored.orders), value(&stored.sizes), value(&stored.offsets));
            let needed = order.saturating_mul(number_type.size() as u64);
            if needed != size || offset.saturating_add(size) > stored.record_size {
                return Err(bad(format!(
                    "field {number}: {order} numbers of {} bytes do not fit in {size} bytes at byte {offset} of records \
                     of {} bytes",
                    number_type.size(),
                    stored.record_size
                )));
            }
            fields.push(Field { name: until_zero(name).to_vec(), number: number_type, order, offset, size });
        }
        let attributes = stored.attributes.iter().map(|&(field, _, reference)| VdataAttribute {
            field: if field == WHOLE { None } else { usize::try_from(field).ok() },
            // Two bytes.
            reference: reference as u16,
        });
        Ok(Vdata {
            reference,
            name: until_zero(&stored.name).to_vec(),
            class: until_zero(&stored.class).to_vec(),
            is_interlaced: stored.interlace == 0,
            records: stored.records,
            record_size: stored.record_size,
            fields,
            attributes: attributes.collect(),
        })
    }

    /// Checks that the records can be found: those of an external element are in a file that exists.
    pub fn check_records(&self, file: &File) -> Result<()> {
        let what = || format!("Vdata {} \"{}\"", self.reference, self.name.escape_ascii());
        let element = file.element(tags::VS, self.reference).at(what)?;
        match element.map(|element| element.storage) {
            Some(Storage::External { file_name, .. }) => file.external(&file_name).at(what).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// Returns the number of bytes of all records, and how many of them the file has.
    ///
    /// # Errors
    /// `EHDFERR` if the element of the records cannot be read.
    pub fn size(&self, file: &File) -> Result<(u64, u64)> {
        let stored = file.element(tags::VS, self.reference)?.map_or(0, |element| element.len);
        let records = self.records.saturating_mul(self.record_size);
        Ok((records, stored.min(records)))
    }

    /// Checks that the file has all records, of which `stored` bytes are there.
    ///
    /// # Errors
    /// `EHDFERR` if it has fewer.
    pub(crate) fn check_stored(&self, stored: u64) -> Result<()> {
        let needed = self.records.saturating_mul(self.record_size);
        if stored >= needed {
            return Ok(());
        }
        let reference = self.reference;
        Err(bad(format!("Vdata {reference}: {stored} of the {needed} bytes of its records are there")))
    }

    /// Reads the values of a field, record by record, as the file has them: each has the size and the order that
    /// [`Field::number`] says. A Vdata that ends early has fewer records than its description says.
    pub fn values(&self, file: &File, field: usize) -> Result<Vec<u8>> {
        let what = || format!("Vdata {} \"{}\"", self.reference, self.name.escape_ascii());
        let Some(field) = self.fields.get(field) else {
            return Err(bad(format!("{}: it has no field {field}", what())));
        };
        let bytes = file.bytes(tags::VS, self.reference).at(what)?.unwrap_or_default();
        Ok(self.values_in(&bytes, field))
    }

    /// Takes the values of a field out of the bytes of all records.
    pub fn values_in(&self, bytes: &[u8], field: &Field) -> Vec<u8> {
        let (Ok(record), Ok(size), Ok(offset), Ok(records)) = (
            usize::try_from(self.record_size),
            usize::try_from(field.size),
            usize::try_from(field.offset),
            usize::try_from(self.records),
        ) else {
            return vec![];
        };
        if record == 0 || size == 0 {
            return vec![];
        }
        if !self.is_interlaced {
            let start = offset.saturating_mul(records).min(bytes.len());
            let end = start.saturating_add(size.saturating_mul(records)).min(bytes.len());
            return bytes.get(start..end).unwrap_or_default().to_vec();
        }
        let rows = bytes.chunks_exact(record).take(records);
        let cells = rows.filter_map(|row| row.get(offset..offset.saturating_add(size)));
        cells.flatten().copied().collect()
    }
}
