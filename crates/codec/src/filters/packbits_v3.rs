//! Packed bits (no HDF5 number; registered Zarr v3 codec `packbits`): some bits of each number, one behind the other, the least
//! significant first. Numcodecs `packbits` has the bits of a byte in the other order.
//!
//! The parameters are where the number of padding bits is stored, the first bit and the last bit; [`UNSET`] is a last bit that is not given.

use ferrocdf_bytes::Result;

use super::numbers::{NumberKind, NumberType};
use crate::codecs::ChunkInfo;
use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::json::{CodecObject, JsonForm};
use crate::registry::Entry;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("packbits-v3"),
    names: &["packbits-v3"],
    new: |params, chunk| PackBitsV3::new(params, chunk).map(boxed),
    derive: None,
    numcodecs: None,
    zarr_v3: Some(JsonForm {
        id: "packbits",
        write: |params| {
            let [padding, first, last] = parts(params)?;
            let encoding = (padding > 0).then(|| ("padding_encoding", PADDINGS[padding as usize].into()));
            let first = (first > 0).then(|| ("first_bit", first.into()));
            let last = (last != UNSET).then(|| ("last_bit", last.into()));
            Ok([encoding, first, last].into_iter().flatten().collect())
        },
        read,
    }),
};

/// Values of `padding_encoding`, the usual one first, then the names of the JSON schema for the other two.
const PADDINGS: [&str; 5] = ["none", "first_byte", "last_byte", "start_byte", "end_byte"];

const UNSET: u32 = u32::MAX;

fn parts(params: &[u32]) -> Result<[u32; 3]> {
    match *params {
        [padding @ 0..=2, first @ 0..=63, last] if last == UNSET || (first..=63).contains(&last) => {
            Ok([padding, first, last])
        }
        _ => Err(bad_params(format!("parameters {params:?}: must be the padding, a first and a last bit"))),
    }
}

fn read(json: &CodecObject) -> Result<Vec<u32>> {
    json.only(&["padding_encoding", "first_bit", "last_bit", "start_bit", "end_bit"])?;
    let padding = match json.position("padding_encoding", 0, &PADDINGS)? {
        padding @ 3.. => padding - 2,
        padding => padding,
    };
    // The JSON schema has other names for the bits than the text of the specification.
    let bit = |name: &str, other: &str, usual: i64| {
        let usual = json.number(other, usual, 0..=63)?;
        json.number(name, usual, 0..=63)
    };
    let last = match bit("last_bit", "end_bit", -1)? {
        -1 => UNSET,
        last => last as u32,
    };
    let params = vec![padding, bit("first_bit", "start_bit", 0)? as u32, last];
    parts(&params).map(|_| params)
}

#[derive(Debug)]
struct PackBitsV3 {
    padding: u32,
    first: u32,
    /// Stored bits of a number, 1 to 64.
    bits: u32,
    number: NumberType,
    /// Size of the decoded chunk in bytes.
    bytes: usize,
}

impl PackBitsV3 {
    fn new(params: &[u32], chunk: Option<&ChunkInfo>) -> Result<PackBitsV3> {
        let [padding, first, last] = parts(params)?;
        let chunk =
            chunk.ok_or_else(|| bad_params("packbits must not follow a filter that outputs bytes"))?;
        let number = chunk.number.ok_or_else(|| bad_params("packbits: the elements are not numbers"))?;
        let width = if number.is_bool() { 1 } else { 8 * number.size as u32 };
        let last = if last == UNSET { width - 1 } else { last };
        if last >= width || first > last {
            return Err(bad_params(format!("packbits: bits {first} to {last} of {}", number.name())));
        }
        let bytes = chunk.bytes().filter(|bytes| bytes.checked_mul(64).is_some());
        let bytes = bytes.ok_or_else(|| bad_params(format!("a chunk of {chunk}: too large")))?;
        Ok(PackBitsV3 { padding, first, bits: last - first + 1, number, bytes })
    }

    /// Returns the number of bytes with bits, and the number of padding bits in the last one.
    fn packed_len(&self) -> (usize, u8) {
        let bits = self.bytes / self.number.size * self.bits as usize;
        (bits.div_ceil(8), (bits.next_multiple_of(8) - bits) as u8)
    }

    fn mask(&self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }
}

impl SliceCodec for PackBitsV3 {
    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>> {
        let (len, padding) = self.packed_len();
        let wanted = len + usize::from(self.padding > 0);
        if encoded.len() != wanted {
            return Err(corrupt(format!("{} encoded bytes for a chunk that takes {wanted}", encoded.len())));
        }
        let stored = match self.padding {
            0 => Some(&padding),
            1 => encoded.first(),
            _ => encoded.last(),
        };
        match stored {
            Some(stored) if *stored != padding => {
                Err(corrupt(format!("{stored} padding bits are stored for a chunk that has {padding}")))
            }
            _ => Ok(Some(self.bytes)),
        }
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        self.decoded_len(encoded)?;
        let Some(decoded) = decoded.get_mut(..self.bytes) else { return Ok(None) };
        let mut bytes = encoded[usize::from(self.padding == 1)..].iter();
        let (mut buffer, mut filled) = (0u128, 0);
        // Bits above the last one are those of its sign.
        let unused = 64 - self.first - self.bits;
        for to in decoded.chunks_exact_mut(self.number.size) {
            while filled < self.bits {
                buffer |= u128::from(*bytes.next().unwrap_or(&0)) << filled;
                filled += 8;
            }
            let bits = (buffer as u64 & self.mask()) << self.first;
            buffer >>= self.bits;
            filled -= self.bits;
            self.number.put_integer(
                match self.number.kind {
                    NumberKind::Signed => (bits << unused) as i64 >> unused,
                    _ => bits as i64,
                },
                to,
            );
        }
        Ok(Some(self.bytes))
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        if decoded.len() != self.bytes {
            return Err(corrupt(format!("{} decoded bytes for a chunk of {}", decoded.len(), self.bytes)));
        }
        let (len, padding) = self.packed_len();
        encoded.reserve(len + 1);
        encoded.extend((self.padding == 1).then_some(padding));
        let (mut buffer, mut filled) = (0u128, 0);
        for from in decoded.chunks_exact(self.number.size) {
            let bits = match self.number.kind {
                NumberKind::Bool => u64::from(from[0] != 0),
                _ => self.number.integer(from) as u64,
            };
            buffer |= u128::from(bits >> self.first & self.mask()) << filled;
            filled += self.bits;
            while filled >= 8 {
                encoded.push(buffer as u8);
                buffer >>= 8;
                filled -= 8;
            }
        }
        encoded.extend((filled > 0).then_some(buffer as u8));
        encoded.extend((self.padding == 2).then_some(padding));
        Ok(Some(()))
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        encoded.saturating_mul(8 * self.number.size)
    }

    fn encoded_len(&self, decoded: usize) -> Option<usize> {
        (decoded == self.bytes).then(|| self.packed_len().0 + usize::from(self.padding > 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{from_zarr_v3, to_zarr_v3};

    fn filter(name: &str, count: usize, configuration: &str) -> Result<PackBitsV3> {
        let json = format!(r#"{{"name":"packbits","configuration":{{{configuration}}}}}"#);
        let (id, params) = from_zarr_v3(&json).unwrap()?;
        let json = if configuration.is_empty() { r#"{"name":"packbits"}"#.to_string() } else { json };
        assert_eq!(to_zarr_v3(&id, &params), Some(Ok(json)));
        let number = NumberType::parse(name).unwrap();
        PackBitsV3::new(
            &params,
            Some(&ChunkInfo { element_size: number.size, number: Some(number), shape: vec![count] }),
        )
    }

    fn check(name: &str, configuration: &str, decoded: &[u8], encoded: &[u8]) {
        let size = NumberType::parse(name).unwrap().size;
        let filter = filter(name, decoded.len() / size, configuration).unwrap();
        let mut own = vec![];
        filter.encode(decoded, &mut own).unwrap();
        assert_eq!(own, encoded, "{name} {configuration}");
        assert_eq!(filter.encoded_len(decoded.len()), Some(encoded.len()));
        assert!(filter.max_decoded_len(encoded.len()) >= decoded.len());
        let mut back = vec![9; decoded.len()];
        assert_eq!(filter.decode(encoded, &mut back), Ok(Some(decoded.len())));
        assert_eq!(back, decoded, "{name} {configuration}");
    }

    #[test]
    fn bits_follow_each_other_from_the_least_significant_one() {
        // A mask of zarrs: present, present, missing, present.
        check("bool", "", &[1, 1, 0, 1], &[0x0b]);
        check("bool", r#""padding_encoding":"first_byte""#, &[1, 0, 0, 0, 0, 0, 0, 0, 1], &[7, 1, 1]);
        check("uint8", r#""padding_encoding":"last_byte","last_bit":2"#, &[1, 2, 7], &[0xd1, 1, 7]);
        check("int16", r#""first_bit":4,"last_bit":9"#, &[0xf0, 0xff, 0x10, 0], &[0x7f, 0]);
        check(">i2", r#""last_bit":11"#, &[0xff, 0xfe, 0x01, 0x23], &[0xfe, 0x3f, 0x12]);
        check("float64", "", &1.5f64.to_le_bytes(), &1.5f64.to_le_bytes());
        check(
            "int64",
            r#""last_bit":62"#,
            &[255; 16],
            &[255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 63],
        );
    }

    #[test]
    fn wrong_bytes_and_bits_are_refused() {
        let filter3 = filter("bool", 3, r#""padding_encoding":"first_byte""#).unwrap();
        for encoded in [&[][..], &[5], &[4, 7], &[5, 7, 7]] {
            assert!(filter3.decoded_len(encoded).is_err(), "{encoded:?}");
        }
        assert!(filter3.encode(&[1, 1], &mut vec![]).is_err());
        for (name, configuration) in [
            ("bool", r#""last_bit":1"#),
            ("uint8", r#""first_bit":3,"last_bit":2"#),
            ("uint8", r#""last_bit":8"#),
            ("uint8", r#""first_bit":64"#),
            ("uint8", r#""padding_encoding":"middle""#),
            ("uint8", r#""more":1"#),
        ] {
            assert!(filter(name, 1, configuration).is_err(), "{configuration}");
        }
        let other = from_zarr_v3(
            r#"{"name":"packbits","configuration":{"padding_encoding":"start_byte","end_bit":2}}"#,
        );
        assert_eq!(
            other,
            from_zarr_v3(
                r#"{"name":"packbits","configuration":{"padding_encoding":"first_byte","last_bit":2}}"#
            )
        );
    }
}
