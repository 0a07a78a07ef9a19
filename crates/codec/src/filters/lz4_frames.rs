//! The two frames of LZ4 blocks: that of HDF5 ([`lz4`](super::lz4)) and that of numcodecs ([`lz4_block`](super::lz4_block)). A chunk of
//! one block is changed from one to the other without being decompressed.

use super::{lz4, lz4_block};
use crate::identity::FilterId;

/// True if a chunk of the filter `from` may become one of the filter `to`.
pub fn can_change(from: &FilterId, to: &FilterId) -> bool {
    let ids = [&lz4::ENTRY.id, &lz4_block::ENTRY.id];
    from != to && ids.contains(&from) && ids.contains(&to)
}

/// Gives a chunk of one of the filters the frame of the other. `None` if it does not say that it decodes to `len` bytes, or has not exactly one
/// compressed block, which is shorter than what it decodes to: one of equal length is stored as it is in HDF5.
pub fn change(from: &FilterId, encoded: &[u8], len: u64, into: &mut Vec<u8>) -> Option<()> {
    let wanted = u32::try_from(len).ok()?;
    into.clear();
    if *from == lz4_block::ENTRY.id {
        let (decoded, block) = encoded.split_first_chunk::<4>()?;
        let decoded = u32::from_le_bytes(*decoded);
        let len = u32::try_from(block.len()).ok().filter(|&len| decoded == wanted && len < decoded)?;
        into.extend(u64::from(decoded).to_be_bytes());
        into.extend(decoded.to_be_bytes());
        into.extend(len.to_be_bytes());
        into.extend(block);
        return Some(());
    }
    let (decoded, rest) = encoded.split_first_chunk::<8>()?;
    let (block_size, rest) = rest.split_first_chunk::<4>()?;
    let (len, block) = rest.split_first_chunk::<4>()?;
    let (block_size, len) = (u32::from_be_bytes(*block_size), u32::from_be_bytes(*len));
    let decoded = u32::try_from(u64::from_be_bytes(*decoded)).ok()?;
    let is_one_block =
        decoded == wanted && decoded <= block_size && len < decoded && block.len() == len as usize;
    is_one_block.then(|| {
        into.extend(decoded.to_le_bytes());
        into.extend(block);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::{Chain, Step};
    use crate::codecs::Codecs;

    /// Bytes of a decoded chunk.
    const LEN: u64 = 4000;

    fn chain(id: FilterId, params: &[u32]) -> Chain {
        let step = Step { id, name: String::new(), optional: false, params: params.to_vec() };
        Chain::new(vec![step], &Codecs::default())
    }

    #[test]
    fn chunks_of_one_compressed_block_change_frames() {
        let (hdf5, numcodecs) = (chain(32004.into(), &[]), chain(FilterId::named("lz4"), &[1]));
        assert!(hdf5.differs_in_frame(&numcodecs) && numcodecs.differs_in_frame(&hdf5));
        assert!(!hdf5.differs_in_frame(&hdf5) && !hdf5.differs_in_frame(&chain(1.into(), &[1])));
        let decoded: Vec<u8> = (0..4000u32).map(|at| (at / 100) as u8).collect();
        for (from, to) in [(&hdf5, &numcodecs), (&numcodecs, &hdf5)] {
            let (mut encoded, mut changed, mut back) = (vec![], vec![], vec![0; decoded.len()]);
            from.encode(&decoded, &mut encoded).unwrap();
            assert!(from.reframe(0, &encoded, LEN, to, &mut changed));
            to.decode(0, &changed, &mut back).unwrap();
            assert_eq!(back, decoded);
            // One that lies about its length is left to the decoder.
            assert!(!from.reframe(0, &encoded, LEN + 1, to, &mut changed));
            assert!(!from.reframe(1, &encoded, LEN, to, &mut changed));
            assert!(!from.reframe(0, &encoded[..3], LEN, to, &mut changed));
        }
    }

    #[test]
    fn several_blocks_and_stored_ones_are_decoded() {
        let (hdf5, numcodecs) = (chain(32004.into(), &[1000]), chain(FilterId::named("lz4"), &[1]));
        let (mut encoded, mut changed) = (vec![], vec![]);
        hdf5.encode(&[7; 4000], &mut encoded).unwrap();
        assert!(!hdf5.reframe(0, &encoded, LEN, &numcodecs, &mut changed));
        let mut state = 1u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        let random: Vec<u8> = (0..500).map(|_| random()).collect();
        for (from, to) in [(&hdf5, &numcodecs), (&numcodecs, &hdf5)] {
            from.encode(&random, &mut encoded).unwrap();
            assert!(!from.reframe(0, &encoded, 500, to, &mut changed));
        }
    }
}
