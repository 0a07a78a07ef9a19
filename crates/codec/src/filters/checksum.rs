//! Filters that store the data with a little-endian checksum of four bytes before or after it.

use std::fmt::Debug;

use ferrocdf_bytes::Result;

use crate::filter::{Filter, SliceCodec, bad_params, boxed, corrupt};
use crate::json::{CodecObject, Fields};

/// Size of a checksum in bytes.
const CHECKSUM_LEN: usize = 4;

/// A checksum of 32 bits.
pub trait Checksum: Debug + Send + Sync {
    /// Returns the checksum of the data.
    fn compute(&self, data: &[u8]) -> u32;

    /// True if the checksum precedes the data.
    fn is_at_start(&self) -> bool {
        false
    }

    /// True if a stored checksum is right for data with this computed one.
    fn accepts(&self, stored: u32, computed: u32) -> bool {
        stored == computed
    }
}

/// A checksum of numcodecs, which may be at either end. The parameter is the number of the location in a list whose first one is usual.
#[derive(Debug)]
struct Located {
    compute: fn(&[u8]) -> u32,
    at_start: bool,
}

impl Checksum for Located {
    fn compute(&self, data: &[u8]) -> u32 {
        (self.compute)(data)
    }

    fn is_at_start(&self) -> bool {
        self.at_start
    }
}

/// Values of numcodecs `location`, the usual one first.
pub type Locations = [&'static str; 2];
pub const START_OR_END: Locations = ["start", "end"];
pub const END_OR_START: Locations = ["end", "start"];

/// Returns the location that the parameters mean.
pub fn location(locations: Locations, params: &[u32]) -> Result<&'static str> {
    match *params {
        [] | [0] => Ok(locations[0]),
        [1] => Ok(locations[1]),
        _ => {
            let [usual, other] = locations;
            Err(bad_params(format!(
                "parameters {params:?}: must be one location, 0 ({usual}) or 1 ({other})"
            )))
        }
    }
}

/// Makes the filter of a checksum of numcodecs.
pub fn located(compute: fn(&[u8]) -> u32, locations: Locations, params: &[u32]) -> Result<Box<dyn Filter>> {
    let at_start = location(locations, params)? == "start";
    Ok(boxed(Checked(Located { compute, at_start })))
}

/// Returns the member `location` of a numcodecs configuration, unless it is the usual one.
pub fn write_location(locations: Locations, params: &[u32]) -> Result<Fields> {
    let location = location(locations, params)?;
    Ok(if location == locations[0] { vec![] } else { vec![("location", location.into())] })
}

/// Returns the parameters of a numcodecs configuration.
pub fn read_location(locations: Locations, json: &CodecObject) -> Result<Vec<u32>> {
    Ok(if json.position("location", 0, &locations)? == 1 { vec![1] } else { vec![] })
}

/// A checksum as a filter.
#[derive(Debug)]
pub struct Checked<C>(pub C);

impl<C: Checksum> Checked<C> {
    /// Returns the data and the stored checksum.
    fn split<'a>(&self, encoded: &'a [u8]) -> Result<(&'a [u8], u32)> {
        let parts = match self.0.is_at_start() {
            true => encoded.split_first_chunk::<CHECKSUM_LEN>().map(|(stored, data)| (data, stored)),
            false => encoded.split_last_chunk::<CHECKSUM_LEN>(),
        };
        let short = || corrupt(format!("{} encoded bytes are too few for a checksum", encoded.len()));
        parts.map(|(data, stored)| (data, u32::from_le_bytes(*stored))).ok_or_else(short)
    }

    /// Returns the data without the checksum, after verifying it.
    fn verify<'a>(&self, encoded: &'a [u8]) -> Result<&'a [u8]> {
        let (data, stored) = self.split(encoded)?;
        let computed = self.0.compute(data);
        if !self.0.accepts(stored, computed) {
            return Err(corrupt(format!(
                "the checksum of {} bytes is {computed:#010x}, but {stored:#010x} is stored",
                data.len()
            )));
        }
        Ok(data)
    }
}

impl<C: Checksum> SliceCodec for Checked<C> {
    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>> {
        self.verify(encoded).map(|data| Some(data.len()))
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let (data, _) = self.split(encoded)?;
        let Some(target) = decoded.get_mut(..data.len()) else { return Ok(None) };
        target.copy_from_slice(data);
        Ok(Some(data.len()))
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        let checksum = self.0.compute(decoded).to_le_bytes();
        let (first, last) =
            if self.0.is_at_start() { (&checksum[..], decoded) } else { (decoded, &checksum[..]) };
        encoded.extend_from_slice(first);
        encoded.extend_from_slice(last);
        Ok(Some(()))
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        encoded.saturating_sub(CHECKSUM_LEN)
    }

    fn encoded_len(&self, decoded: usize) -> Option<usize> {
        decoded.checked_add(CHECKSUM_LEN)
    }

    fn borrow_payload<'a>(&self, encoded: &'a [u8]) -> Option<Result<&'a [u8]>> {
        Some(self.verify(encoded))
    }
}
