//! The canonical form of values.

use ferrocdf_array::Kind;
use ferrocdf_hdf5::messages::datatype::{Class, Datatype};
use ferrocdf_hdf5::selection::SpaceSelection;
use ferrocdf_hdf5::values::Referred;
use ferrocdf_hdf5::{Dataset, File, Value};

use super::Error;

/// Bytes of numbers that are compared in full.
pub const NUMBERS: u64 = 64 << 20;
/// Bytes of other elements that are compared in full.
pub const OTHERS: u64 = 256 << 10;
/// About the bytes that are compared of larger datasets.
pub const SAMPLE: u64 = 256 << 10;

/// Whether the array engine reads it.
pub(super) fn is_number(datatype: &Datatype) -> bool {
    matches!(datatype.class, Class::Integer(_) | Class::Float(_) | Class::Bits(_) | Class::Enumeration { .. })
}

/// Takes values in; gives their number of bytes and checksum.
pub struct Canonical {
    crc: u32,
    len: u64,
}

impl Default for Canonical {
    fn default() -> Self {
        Canonical { crc: !0, len: 0 }
    }
}

/// The checksum of zlib, byte by byte.
const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 256 {
        let mut value = at as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { value >> 1 ^ 0xedb8_8320 } else { value >> 1 };
            bit += 1;
        }
        table[at] = value;
        at += 1;
    }
    table
};

fn wrong() -> Error {
    Error::new(ferrocdf_bytes::Code::EHDFERR, "a value that is none of its datatype")
}

impl Canonical {
    /// The checksum and the number of bytes.
    pub fn text(&self) -> String {
        format!("{:08x}:{}", !self.crc, self.len)
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.len += bytes.len() as u64;
        let step = |crc: u32, &byte: &u8| TABLE[usize::from(crc as u8 ^ byte)] ^ crc >> 8;
        self.crc = bytes.iter().fold(self.crc, step);
    }

    /// Numbers of this machine's byte order.
    pub fn native(&mut self, kind: Kind, bytes: &[u8]) {
        // Elements in this machine's order are compared as they are.
        const { assert!(cfg!(target_endian = "little")) };
        match kind {
            Kind::F32 => {
                for bytes in bytes.chunks_exact(4) {
                    self.float(f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
                }
            }
            Kind::F64 => {
                for bytes in bytes.chunks_exact(8) {
                    self.double(f64::from_le_bytes(bytes.try_into().expect("eight bytes")));
                }
            }
            _ => self.bytes(bytes),
        }
    }

    fn float(&mut self, number: f32) {
        let bits = if number.is_nan() { 0x7fc0_0000 } else { number.to_bits() };
        self.bytes(&bits.to_le_bytes());
    }

    fn double(&mut self, number: f64) {
        let bits = if number.is_nan() { 0x7ff8 << 48 } else { number.to_bits() };
        self.bytes(&bits.to_le_bytes());
    }

    fn real(&mut self, size: u32, number: f64) {
        if size <= 4 { self.float(number as f32) } else { self.double(number) }
    }

    /// Elements of one datatype.
    ///
    /// # Errors
    /// If a value is none of the datatype, or a region is one of a dataset that cannot be opened.
    pub fn add(&mut self, file: &File, datatype: &Datatype, values: &[&Value]) -> Result<(), Error> {
        match &datatype.class {
            Class::Compound { members } => {
                for (at, member) in members.iter().enumerate() {
                    let column: Option<Vec<&Value>> = values
                        .iter()
                        .map(|value| match value {
                            Value::Compound(parts) => parts.get(at),
                            _ => None,
                        })
                        .collect();
                    self.add(file, &member.datatype, &column.ok_or_else(wrong)?)?;
                }
                Ok(())
            }
            Class::Array { base, .. } => {
                let mut flat = Vec::new();
                for value in values {
                    let Value::Array(parts) = value else { return Err(wrong()) };
                    flat.extend(parts);
                }
                self.add(file, base, &flat)
            }
            Class::Variable { text: None, base } => {
                let mut flat = Vec::new();
                for value in values {
                    let Value::Sequence(parts) = value else { return Err(wrong()) };
                    self.bytes(&(parts.len() as u32).to_le_bytes());
                    flat.extend(parts);
                }
                self.add(file, base, &flat)
            }
            Class::Variable { text: Some(_), .. } => {
                let mut texts = Vec::new();
                for value in values {
                    let Value::String(text) = value else { return Err(wrong()) };
                    let text = text.as_deref().unwrap_or_default();
                    let text = text.split(|&byte| byte == 0).next().unwrap_or_default();
                    self.bytes(&(text.len() as u32).to_le_bytes());
                    texts.push(text);
                }
                texts.into_iter().for_each(|text| self.bytes(text));
                Ok(())
            }
            _ => values.iter().try_for_each(|value| self.one(file, datatype, value)),
        }
    }

    /// A value that holds no others.
    fn one(&mut self, file: &File, datatype: &Datatype, value: &Value) -> Result<(), Error> {
        let width = || Ok(datatype.number().ok_or_else(wrong)?.stored.kind.size());
        match value {
            Value::Int(number) => {
                let width = width()?;
                self.bytes(&number.to_le_bytes()[..width]);
            }
            Value::Uint(number) => {
                let width = width()?;
                self.bytes(&number.to_le_bytes()[..width]);
            }
            Value::Float(number) => self.real(datatype.size, *number),
            Value::Complex(real, imaginary) => {
                self.real(datatype.size / 2, *real);
                self.real(datatype.size / 2, *imaginary);
            }
            Value::Text(bytes) | Value::Bytes(bytes) => self.bytes(bytes),
            Value::Reference(referred) => {
                for number in self::referred(file, referred.as_ref())? {
                    self.bytes(&number.to_le_bytes());
                }
            }
            _ => return Err(wrong()),
        }
        Ok(())
    }
}

/// The object, and of a region the number and the bounds of its elements.
fn referred(file: &File, referred: Option<&Referred>) -> Result<Vec<u64>, Error> {
    let Some(referred) = referred else { return Ok(vec![0]) };
    let mut numbers = vec![referred.object.0];
    let Some(region) = &referred.region else { return Ok(numbers) };
    let (count, first, last) = match region {
        SpaceSelection::None => (0, vec![], vec![]),
        SpaceSelection::All => {
            let shape = Dataset::open(&file.object(referred.object)?)?.shape()?;
            (
                shape.iter().product(),
                vec![0; shape.len()],
                shape.iter().map(|len| len.saturating_sub(1)).collect(),
            )
        }
        SpaceSelection::Points { rank, coords } => {
            let points: Vec<&[u64]> = coords.chunks_exact(*rank).collect();
            bounds(points.len() as u64, &points, &points)
        }
        SpaceSelection::Boxes { rank, corners } => {
            let boxes: Vec<(&[u64], &[u64])> =
                corners.chunks_exact(2 * rank).map(|corners| corners.split_at(*rank)).collect();
            let volume = |(first, last): &(&[u64], &[u64])| -> u64 {
                let lengths = first
                    .iter()
                    .zip(*last)
                    .map(|(first, last)| last.saturating_sub(*first).saturating_add(1));
                lengths.fold(1, u64::saturating_mul)
            };
            let (firsts, lasts): (Vec<_>, Vec<_>) = boxes.iter().copied().unzip();
            bounds(boxes.iter().map(volume).fold(0, u64::saturating_add), &firsts, &lasts)
        }
        SpaceSelection::Regular(dims) => (
            dims.iter().fold(1, |count: u64, dim| count.saturating_mul(dim.count).saturating_mul(dim.block)),
            dims.iter().map(|dim| dim.start).collect(),
            dims.iter().map(|dim| dim.end().unwrap_or(0).saturating_sub(1)).collect(),
        ),
    };
    numbers.push(count);
    if count > 0 {
        numbers.extend(first);
        numbers.extend(last);
    }
    Ok(numbers)
}

/// The count, and the least and greatest coordinates.
fn bounds(count: u64, firsts: &[&[u64]], lasts: &[&[u64]]) -> (u64, Vec<u64>, Vec<u64>) {
    let fold = |corners: &[&[u64]], better: fn(u64, u64) -> u64| {
        let mut corners = corners.iter();
        let mut best = corners.next().map_or(vec![], |corner| corner.to_vec());
        for corner in corners {
            best.iter_mut().zip(*corner).for_each(|(best, &at)| *best = better(*best, at));
        }
        best
    };
    (count, fold(firsts, u64::min), fold(lasts, u64::max))
}
