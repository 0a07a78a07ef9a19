//! Decoders that decode from the front of a stream in steps, for data that is too large to be decoded as a whole.
//!
//! A decoder can be copied. A copy continues from the position at which it was made, so kept copies make it possible to go back
//! without decoding from the front again.

use std::fmt::Debug;

use ferrocdf_bytes::Result;

/// The result of one step of a [`StreamDecoder`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Number of encoded bytes that the decoder has done with.
    pub taken: usize,
    /// Number of bytes that it decoded.
    pub written: usize,
    /// True if the stream marks its end, and all bytes before the mark are decoded.
    pub is_end: bool,
}

/// A decoder at a position of a stream.
pub trait StreamDecoder: Debug + Send + Sync {
    /// Decodes from the front of `encoded`, which begins behind the bytes that were taken before, to the front of `decoded`. Stops where
    /// `decoded` is full, or where the decoder needs bytes behind those of `encoded`: then it may leave the last bytes untaken, and wants
    /// them again with more behind them. `is_last` says that the stream has no more.
    ///
    /// # Errors
    /// `EHDFERR` for a damaged stream. The decoder is of no use then.
    fn decode(&mut self, encoded: &[u8], is_last: bool, decoded: &mut [u8]) -> Result<Progress>;

    /// Returns a copy, which goes on at the same position.
    fn fork(&self) -> Box<dyn StreamDecoder>;

    /// Returns the number of bytes of memory that a copy takes.
    fn memory(&self) -> usize;

    /// True if the stream marks its end, so that one that is longer than expected can be told.
    fn marks_end(&self) -> bool {
        false
    }

    /// Returns the number of planes of bytes that the decoder decodes to instead of elements: byte 0 of all elements, then byte 1 of all, and
    /// so on. It may become 1 with the first step, which reads the head of the stream.
    fn planes(&self) -> usize {
        1
    }

    /// Returns a decoder that decodes byte `position` next, and the number of encoded bytes before its first one; `None` if only decoding
    /// leads there.
    fn seek(&self, _position: u64) -> Option<(u64, Box<dyn StreamDecoder>)> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Chain, Codecs, FilterId, Step};

    fn chain(id: FilterId, params: &[u32]) -> Chain {
        let step = Step { id, name: String::new(), optional: false, params: params.to_vec() };
        Chain::new(vec![step], &Codecs::default())
    }

    /// The chains that decode in steps. The first one marks the end of its streams.
    fn chains() -> Vec<Chain> {
        vec![
            chain(FilterId::Hdf5(1), &[6]),
            chain(FilterId::named("hdf4_rle"), &[]),
            chain(FilterId::named("hdf4_raster_rle"), &[]),
            chain(FilterId::named("hdf4_skphuff"), &[2]),
            chain(FilterId::named("hdf4_nbit"), &[2, 0, 0, 15, 11]),
            chain(FilterId::named("hdf4_szip"), &[0x1_00b0, 16, 16, 64, 0]),
            chain(FilterId::named("hdf4_szip"), &[0xb0, 16, 16, 100, 0]),
        ]
    }

    /// Numbers of 11 bits that n-bit keeps, some in runs.
    fn sample() -> Vec<u8> {
        let number = |at: u32| if at % 300 < 90 { 64 } else { (at * at % 1999 / (1 + at % 7)) as u16 };
        (0..30_000).flat_map(|at| (number(at) << 5).to_be_bytes()).collect()
    }

    /// Decodes so many bytes, at most `input` encoded ones at a time unless the decoder wants more at once.
    fn decode(
        decoder: &mut dyn StreamDecoder,
        encoded: &[u8],
        from: &mut usize,
        len: usize,
        input: usize,
    ) -> Result<Vec<u8>> {
        let (mut decoded, mut written, mut window) = (vec![0; len], 0, input);
        while written < len {
            let end = encoded.len().min(*from + window);
            let step = decoder.decode(&encoded[*from..end], end == encoded.len(), &mut decoded[written..])?;
            window = if step.taken + step.written == 0 { 2 * window } else { input };
            assert!(window <= input.max(4 * encoded.len()), "no progress after {written} of {len} bytes");
            (*from, written) = (*from + step.taken, written + step.written);
        }
        Ok(decoded)
    }

    #[test]
    fn steps_of_any_size_decode_the_same_bytes() {
        let bytes = sample();
        for chain in chains() {
            let mut encoded = vec![];
            chain.encode(&bytes, &mut encoded).unwrap();
            for (input, output) in [(1, 1), (7, 1000), (1000, 3), (64, 23_333), (1 << 20, 1 << 20)] {
                let mut decoder = chain.stream(bytes.len() as u64).unwrap();
                let mut from = 0;
                for part in bytes.chunks(output) {
                    let decoded = decode(&mut *decoder, &encoded, &mut from, part.len(), input).unwrap();
                    assert!(decoded == part, "{chain:?}: {input}, {output}");
                }
            }
        }
    }

    #[test]
    fn copies_go_on_from_their_position() {
        let bytes = sample();
        for chain in chains() {
            let mut encoded = vec![];
            chain.encode(&bytes, &mut encoded).unwrap();
            let (mut decoder, mut from) = (chain.stream(bytes.len() as u64).unwrap(), 0);
            let mut copies = vec![];
            for part in bytes.chunks(10_001) {
                copies.push((decoder.fork(), from, part));
                decode(&mut *decoder, &encoded, &mut from, part.len(), 500).unwrap();
            }
            for (mut copy, mut from, part) in copies.into_iter().rev() {
                assert!(
                    decode(&mut *copy, &encoded, &mut from, part.len(), 300).unwrap() == part,
                    "{chain:?}"
                );
                assert!(copy.memory() < 100_000, "{chain:?}");
            }
            if let Some((at, mut there)) = decoder.seek(40_000) {
                let decoded = decode(&mut *there, &encoded, &mut (at as usize), 100, 300).unwrap();
                assert_eq!(decoded, bytes[40_000..40_100]);
            }
        }
    }

    #[test]
    fn streams_that_end_early_are_errors_or_stop() {
        let bytes = sample();
        for chain in chains() {
            let mut encoded = vec![];
            chain.encode(&bytes, &mut encoded).unwrap();
            encoded.truncate(encoded.len() / 2);
            let (mut decoder, mut from, mut decoded) =
                (chain.stream(bytes.len() as u64).unwrap(), 0, vec![0; bytes.len()]);
            let (mut written, mut failed) = (0, false);
            loop {
                match decoder.decode(&encoded[from..], true, &mut decoded[written..]) {
                    Ok(Progress { taken: 0, written: 0, .. }) => break,
                    Ok(step) => (from, written) = (from + step.taken, written + step.written),
                    Err(_) => {
                        failed = true;
                        break;
                    }
                }
            }
            assert!(failed || written < bytes.len(), "{chain:?}");
            assert!(decoded[..written] == bytes[..written], "{chain:?}");
        }
    }

    #[test]
    fn the_end_of_a_zlib_stream_is_told_and_its_checksum_counts() {
        let (bytes, chain) = (sample(), chain(FilterId::Hdf5(1), &[1]));
        let mut encoded = vec![];
        chain.encode(&bytes, &mut encoded).unwrap();
        let end = |encoded: &[u8]| {
            let (mut decoder, mut from) = (chain.stream(bytes.len() as u64).unwrap(), 0);
            assert!(decoder.marks_end());
            decode(&mut *decoder, encoded, &mut from, bytes.len(), encoded.len())?;
            decoder.decode(&encoded[from..], true, &mut [0])
        };
        assert!(end(&encoded).unwrap().is_end);
        let last = encoded.len() - 1;
        assert!(end(&encoded[..last]).unwrap_err().to_string().contains("ends early"));
        encoded[last] ^= 1;
        assert!(end(&encoded).unwrap_err().to_string().contains("checksum"));
    }

    #[test]
    fn matches_from_before_the_first_byte_are_damage() {
        // A fixed block of one literal and a match 2 bytes back.
        let stream = [0x78, 0x01, 0x4b, 0x04, 0x42, 0, 0, 0, 0, 0];
        let mut decoder = chain(FilterId::Hdf5(1), &[1]).stream(100).unwrap();
        assert!(decoder.decode(&stream, true, &mut [0; 100]).is_err());
    }
}
