//! Transpose (no HDF5 number; Zarr v3 core codec `transpose`): the elements of a chunk in another order of dimensions.
//!
//! The parameters are the order: dimension `n` of the encoded chunk is dimension `order[n]` of the decoded chunk.
//! Dimensions of length 1 are dropped and dimensions that stay adjacent are merged, so most orders reduce to a few strides.
//! Elements are copied in square tiles that fit in the L1 cache, along the two dimensions with the smallest stride in the
//! source and in the target.

use ferrocdf_bytes::Result;

use crate::codecs::ChunkInfo;
use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::json::JsonForm;
use crate::registry::Entry;

/// Edge of a tile, in elements.
const TILE: usize = 16;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("transpose"),
    names: &["transpose"],
    new: |params, chunk| Transpose::new(params, chunk).map(boxed),
    derive: None,
    numcodecs: None,
    zarr_v3: Some(JsonForm {
        id: "transpose",
        write: |params| Ok(vec![("order", params.into())]),
        read: |json| json.numbers("order", 0..=u32::MAX.into()),
    }),
};

/// One dimension of a copy.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Axis {
    /// Length of the dimension.
    len: usize,
    /// Stride in the source, in elements.
    from: usize,
    /// Stride in the target, in elements.
    to: usize,
}

#[derive(Debug)]
struct Transpose {
    /// Size of an element in bytes.
    size: usize,
    /// Size of a chunk in bytes.
    bytes: usize,
    /// Dimensions in the order of the encoded chunk, with the decoded chunk as source and the encoded chunk as target.
    axes: Vec<Axis>,
    /// Element size and shape of the encoded chunk.
    encoded: ChunkInfo,
}

impl Transpose {
    fn new(order: &[u32], chunk: Option<&ChunkInfo>) -> Result<Transpose> {
        let chunk =
            chunk.ok_or_else(|| bad_params("transpose must not follow a filter that outputs bytes"))?;
        let rank = chunk.shape.len();
        let mut seen = vec![false; rank];
        for &dim in order {
            match seen.get_mut(dim as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => return Err(wrong_order(order, rank)),
            }
        }
        if order.len() != rank {
            return Err(wrong_order(order, rank));
        }
        let bytes = chunk.bytes().ok_or_else(|| bad_params(format!("a chunk of {chunk}: too large")))?;
        let decoded = strides(&chunk.shape);
        let shape: Vec<usize> = order.iter().map(|&dim| chunk.shape[dim as usize]).collect();
        let axes = shape.iter().zip(order).zip(strides(&shape));
        let axes = axes.map(|((&len, &dim), to)| Axis { len, from: decoded[dim as usize], to });
        let encoded = ChunkInfo { shape: shape.clone(), ..chunk.clone() };
        Ok(Transpose { size: chunk.element_size, bytes, axes: merged(axes), encoded })
    }

    /// Copies all elements of a chunk.
    fn copy(&self, axes: &[Axis], from: &[u8], to: &mut [u8]) {
        match self.size {
            1 => copy_strided::<1>(axes, from, to),
            2 => copy_strided::<2>(axes, from, to),
            4 => copy_strided::<4>(axes, from, to),
            8 => copy_strided::<8>(axes, from, to),
            16 => copy_strided::<16>(axes, from, to),
            size => {
                // An element of any other size is one more dimension of bytes.
                let bytes = Axis { len: size, from: 1, to: 1 };
                let scaled =
                    axes.iter().map(|axis| Axis { from: axis.from * size, to: axis.to * size, ..*axis });
                let axes: Vec<Axis> = scaled.chain([bytes]).collect();
                copy_strided::<1>(&axes, from, to);
            }
        }
    }
}

fn wrong_order(order: &[u32], rank: usize) -> ferrocdf_bytes::Error {
    bad_params(format!("order {order:?}: must contain each of the {rank} dimensions of a chunk once"))
}

/// Returns the strides of a shape in elements, with the last dimension fastest.
fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim] * shape[dim];
    }
    strides
}

/// Drops dimensions of length 1 and merges dimensions that are adjacent in the source and in the target.
fn merged(axes: impl Iterator<Item = Axis>) -> Vec<Axis> {
    let mut merged: Vec<Axis> = vec![];
    for axis in axes.filter(|axis| axis.len != 1) {
        match merged.last_mut() {
            Some(last) if last.from == axis.from * axis.len && last.to == axis.to * axis.len => {
                *last = Axis { len: last.len * axis.len, ..axis };
            }
            _ => merged.push(axis),
        }
    }
    merged
}

/// Copies elements of `SIZE` bytes along all axes.
fn copy_strided<const SIZE: usize>(axes: &[Axis], from: &[u8], to: &mut [u8]) {
    if axes.iter().any(|axis| axis.len == 0) {
        return;
    }
    let (from, _) = from.as_chunks::<SIZE>();
    let (to, _) = to.as_chunks_mut::<SIZE>();
    let one = Axis { len: 1, from: 1, to: 1 };
    // The inner loops run over the dimensions with the smallest stride in the source and in the target.
    let smallest = |stride: fn(&Axis) -> usize| (0..axes.len()).min_by_key(|&dim| stride(&axes[dim]));
    let (row, column) = (smallest(|axis| axis.from), smallest(|axis| axis.to));
    let others: Vec<Axis> =
        (0..axes.len()).filter(|&dim| Some(dim) != row && Some(dim) != column).map(|dim| axes[dim]).collect();
    let read = row.map_or(one, |dim| axes[dim]);
    let write = column.filter(|_| column != row).map_or(one, |dim| axes[dim]);
    let mut at = vec![0; others.len()];
    loop {
        let start = |stride: fn(&Axis) -> usize| {
            others.iter().zip(&at).map(|(axis, at)| stride(axis) * at).sum::<usize>()
        };
        let (first, target) = (start(|axis| axis.from), start(|axis| axis.to));
        if write.len == 1 && (read.from, read.to) == (1, 1) {
            to[target..][..read.len].copy_from_slice(&from[first..][..read.len]);
        } else {
            copy_tiles(read, write, &from[first..], &mut to[target..]);
        }
        let Some(dim) = (0..others.len()).rev().find(|&dim| at[dim] + 1 < others[dim].len) else { return };
        at[dim] += 1;
        at[dim + 1..].fill(0);
    }
}

/// Copies the elements of two dimensions tile by tile: `read` has the smaller stride in `from`, `write` in `to`.
fn copy_tiles<const SIZE: usize>(read: Axis, write: Axis, from: &[[u8; SIZE]], to: &mut [[u8; SIZE]]) {
    for top in (0..read.len).step_by(TILE) {
        let rows = top..(top + TILE).min(read.len);
        for left in (0..write.len).step_by(TILE) {
            let columns = left..(left + TILE).min(write.len);
            for r in rows.clone() {
                for w in columns.clone() {
                    to[r * read.to + w * write.to] = from[r * read.from + w * write.from];
                }
            }
        }
    }
}

impl SliceCodec for Transpose {
    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>> {
        match encoded.len() == self.bytes {
            true => Ok(Some(self.bytes)),
            false => Err(corrupt(format!("{} encoded bytes for a chunk of {}", encoded.len(), self.bytes))),
        }
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        if decoded.len() < encoded.len() {
            return Ok(None);
        }
        let back: Vec<Axis> =
            self.axes.iter().map(|axis| Axis { from: axis.to, to: axis.from, ..*axis }).collect();
        self.copy(&back, encoded, decoded);
        Ok(Some(encoded.len()))
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        if decoded.len() != self.bytes {
            return Err(corrupt(format!("{} decoded bytes for a chunk of {}", decoded.len(), self.bytes)));
        }
        encoded.resize(decoded.len(), 0);
        self.copy(&self.axes, decoded, encoded);
        Ok(Some(()))
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        encoded
    }

    fn encoded_len(&self, decoded: usize) -> Option<usize> {
        Some(decoded)
    }

    fn encoded_chunk(&self) -> Option<ChunkInfo> {
        Some(self.encoded.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the encoded chunk by the definition of the codec, element by element.
    fn by_definition(shape: &[usize], order: &[u32], size: usize, decoded: &[u8]) -> Vec<u8> {
        let encoded_shape: Vec<usize> = order.iter().map(|&dim| shape[dim as usize]).collect();
        let count: usize = shape.iter().product();
        let mut encoded = vec![];
        for number in 0..count {
            let mut rest = number;
            let mut index = vec![0; shape.len()];
            for (at, &dim) in order.iter().enumerate().rev() {
                index[dim as usize] = rest % encoded_shape[at];
                rest /= encoded_shape[at];
            }
            let from = index.iter().zip(shape).fold(0, |from, (at, len)| from * len + at);
            encoded.extend_from_slice(&decoded[from * size..][..size]);
        }
        encoded
    }

    #[test]
    fn chunks_of_any_shape_and_order_are_transposed_and_restored() {
        let cases: &[(&[usize], &[u32])] = &[
            (&[], &[]),
            (&[5], &[0]),
            (&[3, 4], &[1, 0]),
            (&[40, 37], &[1, 0]),
            (&[3, 1, 4], &[2, 1, 0]),
            (&[2, 3, 4, 5], &[3, 2, 1, 0]),
            (&[2, 3, 4, 5], &[2, 3, 0, 1]),
            (&[2, 3, 4, 5], &[0, 2, 1, 3]),
            (&[17, 5, 33], &[1, 2, 0]),
            (&[4, 0, 3], &[2, 0, 1]),
        ];
        for size in [1, 2, 3, 4, 8, 12, 16] {
            for &(shape, order) in cases {
                let chunk = ChunkInfo { element_size: size, number: None, shape: shape.to_vec() };
                let transpose = Transpose::new(order, Some(&chunk)).unwrap();
                let decoded: Vec<u8> =
                    (0..chunk.bytes().unwrap()).map(|at| (at * 7 + at / 251) as u8).collect();
                let mut encoded = vec![];
                transpose.encode(&decoded, &mut encoded).unwrap();
                assert_eq!(
                    encoded,
                    by_definition(shape, order, size, &decoded),
                    "{shape:?} {order:?} {size}"
                );
                let mut back = vec![0; decoded.len()];
                assert_eq!(transpose.decode(&encoded, &mut back), Ok(Some(decoded.len())));
                assert_eq!(back, decoded, "{shape:?} {order:?} {size}");
            }
        }
    }

    #[test]
    fn orders_that_are_not_permutations_are_rejected() {
        let chunk = ChunkInfo { element_size: 4, number: None, shape: vec![2, 3] };
        for order in [&[0u32][..], &[0, 0], &[0, 2], &[0, 1, 2]] {
            assert!(Transpose::new(order, Some(&chunk)).is_err(), "{order:?}");
        }
        assert!(Transpose::new(&[1, 0], None).is_err());
        let transpose = Transpose::new(&[1, 0], Some(&chunk)).unwrap();
        assert!(transpose.decoded_len(&[0; 23]).is_err());
    }
}
