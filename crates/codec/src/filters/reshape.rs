//! Reshape (no HDF5 number; registered Zarr v3 codec `reshape`): the same elements in the same order as a chunk of another shape, for
//! the array→array filters behind it.
//!
//! The parameters have for each dimension of the encoded chunk a count and as many numbers: 0 numbers for a length of 1, none of which
//! is given; the numbers of the decoded chunk's dimensions whose product is the length; or [`SIZE`] and a length, or [`REST`].

use ferrocdf_bytes::Result;
use serde_json::Value;

use crate::codecs::ChunkInfo;
use crate::filter::{SliceCodec, bad_params, boxed};
use crate::identity::FilterId;
use crate::json::{CodecObject, JsonForm};
use crate::registry::Entry;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("reshape"),
    names: &["reshape"],
    new: |params, chunk| Reshape::new(params, chunk).map(boxed),
    derive: None,
    numcodecs: None,
    zarr_v3: Some(JsonForm {
        id: "reshape",
        write: |params| Ok(vec![("shape", lengths(params)?.iter().map(Length::json).collect())]),
        read,
    }),
};

/// The count that stands for a given length, which follows in two parameters.
const SIZE: u32 = u32::MAX;
/// The count that stands for the length that all others leave, -1 in JSON.
const REST: u32 = u32::MAX - 1;

/// Most dimensions, of either chunk.
const MAX_RANK: usize = 1024;

/// How the length of a dimension is given.
#[derive(Debug, PartialEq)]
enum Length {
    Size(u64),
    /// The product of the lengths of these dimensions.
    Product(Vec<u32>),
    /// What makes the number of elements right.
    Rest,
}

impl Length {
    fn json(&self) -> Value {
        match self {
            Length::Size(size) => (*size).into(),
            Length::Product(dims) => dims.clone().into(),
            Length::Rest => (-1).into(),
        }
    }
}

/// Returns what the parameters stand for.
fn lengths(params: &[u32]) -> Result<Vec<Length>> {
    let cut = || bad_params(format!("parameters {params:?}: no lengths of dimensions"));
    let (mut lengths, mut rest) = (vec![], params);
    while let [count, more @ ..] = rest {
        let (length, more) = match (*count, more) {
            (SIZE, [high, low, more @ ..]) => (Length::Size(u64::from(*high) << 32 | u64::from(*low)), more),
            (REST, more) => (Length::Rest, more),
            (count, more) => {
                let (dims, more) = more.split_at_checked(count as usize).ok_or_else(cut)?;
                (Length::Product(dims.to_vec()), more)
            }
        };
        lengths.push(length);
        rest = more;
    }
    Ok(lengths)
}

fn read(json: &CodecObject) -> Result<Vec<u32>> {
    let wanted = "not a list of lengths, -1, and lists of dimensions";
    let list = json.values("shape").filter(|list| list.len() <= MAX_RANK);
    let mut params = vec![];
    for length in list.ok_or_else(|| json.invalid("shape", wanted))? {
        match length {
            Value::Array(dims) => {
                let dim = |dim: &Value| dim.as_u64().filter(|&dim| dim < MAX_RANK as u64);
                let dims: Option<Vec<u64>> = dims.iter().map(dim).collect();
                let dims = dims.ok_or_else(|| json.invalid("shape", wanted))?;
                params.push(dims.len() as u32);
                params.extend(dims.iter().map(|&dim| dim as u32));
            }
            length if length.as_i64() == Some(-1) => params.push(REST),
            length => {
                let size = length.as_u64().filter(|&size| size > 0);
                let size = size.ok_or_else(|| json.invalid("shape", wanted))?;
                params.extend([SIZE, (size >> 32) as u32, size as u32]);
            }
        }
    }
    Ok(params)
}

/// Returns the shape of the encoded chunk ("reshape", "Configuration parameters").
fn reshaped(lengths: &[Length], shape: &[usize]) -> Result<Vec<usize>> {
    let invalid = |reason: &str| {
        let lengths: Value = lengths.iter().map(Length::json).collect();
        bad_params(format!("a chunk of shape {shape:?} as one of {lengths}: {reason}"))
    };
    let product = |lens: &[usize]| lens.iter().try_fold(1usize, |product, &len| product.checked_mul(len));
    let all = product(shape).ok_or_else(|| invalid("too many elements"))?;
    let dims: Vec<u32> = lengths
        .iter()
        .flat_map(|length| match length {
            Length::Product(dims) => &dims[..],
            _ => &[],
        })
        .copied()
        .collect();
    if !dims.is_sorted_by(|one, next| one < next)
        || dims.last().is_some_and(|&last| last as usize >= shape.len())
    {
        return Err(invalid("the dimensions are not in ascending order, or not there"));
    }
    let known = |length: &Length| match length {
        Length::Size(size) => usize::try_from(*size).ok(),
        Length::Product(dims) => product(&dims.iter().map(|&dim| shape[dim as usize]).collect::<Vec<_>>()),
        Length::Rest => Some(1),
    };
    let encoded: Option<Vec<usize>> = lengths.iter().map(known).collect();
    let mut encoded = encoded.ok_or_else(|| invalid("too many elements"))?;
    let rest: Vec<usize> = (0..lengths.len()).filter(|&dim| lengths[dim] == Length::Rest).collect();
    let others = product(&encoded).ok_or_else(|| invalid("too many elements"))?;
    match rest[..] {
        [] => {}
        [dim] if others > 0 && all % others == 0 => encoded[dim] = all / others,
        [_] => return Err(invalid("the number of elements is not a multiple of the other lengths")),
        _ => return Err(invalid("-1 is there more than once")),
    }
    if product(&encoded) != Some(all) {
        return Err(invalid("another number of elements"));
    }
    // A dimension that is a product of others must run through the same elements as these.
    for (dim, length) in lengths.iter().enumerate() {
        let Length::Product(dims) = length else { continue };
        let (Some(first), Some(last)) = (dims.first(), dims.last()) else { continue };
        let before = product(&encoded[..dim]) == product(&shape[..*first as usize]);
        if !before || product(&encoded[dim + 1..]) != product(&shape[*last as usize + 1..]) {
            return Err(invalid("a product of dimensions runs through other elements than these"));
        }
    }
    Ok(encoded)
}

#[derive(Debug)]
struct Reshape {
    encoded: ChunkInfo,
}

impl Reshape {
    fn new(params: &[u32], chunk: Option<&ChunkInfo>) -> Result<Reshape> {
        let chunk = chunk.ok_or_else(|| bad_params("reshape must not follow a filter that outputs bytes"))?;
        let shape = reshaped(&lengths(params)?, &chunk.shape)?;
        Ok(Reshape { encoded: ChunkInfo { shape, ..chunk.clone() } })
    }
}

impl SliceCodec for Reshape {
    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>> {
        Ok(Some(encoded.len()))
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let Some(decoded) = decoded.get_mut(..encoded.len()) else { return Ok(None) };
        decoded.copy_from_slice(encoded);
        Ok(Some(encoded.len()))
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        encoded.extend_from_slice(decoded);
        Ok(Some(()))
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        encoded
    }

    fn encoded_len(&self, decoded: usize) -> Option<usize> {
        Some(decoded)
    }

    fn borrow_payload<'a>(&self, encoded: &'a [u8]) -> Option<Result<&'a [u8]>> {
        Some(Ok(encoded))
    }

    fn encoded_chunk(&self) -> Option<ChunkInfo> {
        Some(self.encoded.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{from_zarr_v3, to_zarr_v3};

    fn shape_of(shape: &str, chunk: &[usize]) -> Result<Vec<usize>> {
        let json = format!(r#"{{"name":"reshape","configuration":{{"shape":{shape}}}}}"#);
        let (id, params) = from_zarr_v3(&json).unwrap()?;
        assert_eq!(to_zarr_v3(&id, &params), Some(Ok(json)));
        let chunk = ChunkInfo { element_size: 2, number: None, shape: chunk.to_vec() };
        Reshape::new(&params, Some(&chunk)).map(|reshape| reshape.encoded.shape)
    }

    #[test]
    fn shapes_are_those_of_the_specification() {
        assert_eq!(shape_of("[[0,1],[2],3]", &[100, 50, 64, 3]).unwrap(), [5000, 64, 3]);
        assert_eq!(shape_of("[[0,1],10,[3,4]]", &[2, 3, 10, 4, 5]).unwrap(), [6, 10, 20]);
        assert_eq!(shape_of("[-1,[3]]", &[2, 3, 4, 5]).unwrap(), [24, 5]);
        assert_eq!(shape_of("[6,[],4]", &[2, 3, 4]).unwrap(), [6, 1, 4]);
        assert_eq!(shape_of("[]", &[1, 1]).unwrap(), [0usize; 0]);
        for (shape, chunk) in [
            ("[[1],[0]]", &[2, 3][..]),
            ("[[1,0]]", &[2, 3]),
            ("[[0],[0]]", &[2, 1]),
            ("[[0],[5]]", &[2, 3]),
            ("[7]", &[2, 3]),
            ("[-1,-1]", &[2, 3]),
            ("[-1,4]", &[2, 3]),
            ("[3,[0]]", &[2, 3]),
            ("[0]", &[2, 3]),
            ("[18446744073709551615,18446744073709551615]", &[2, 3]),
            ("3", &[3]),
            ("[[\"a\"]]", &[3]),
        ] {
            assert!(shape_of(shape, chunk).is_err(), "{shape}");
        }
        assert!(Reshape::new(&[5, 0], None).is_err());
        assert!(lengths(&[SIZE, 1]).is_err());
    }
}
