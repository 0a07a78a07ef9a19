//! The bytes of a part file: encoded chunks one behind the other, then the index, then the trailer. Numbers are little-endian.
//!
//! The trailer is written last and tells where the index is and what its checksum is, so a part that was cut off is recognized. The
//! index has the encoded chunks of each variable. A chunk has exactly the bytes that it has in the joined file.
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_array::{ChunkLocation, Index};
use ferrocdf_bytes::{Code, Coder, Decoder, Encoder, Error, Order, Record, Result, lookup3};
use ferrocdf_store::{Blob, BlobMut};

/// Byte order of all numbers.
const ORDER: Order = Order::Little;

/// The last bytes of a part. The number is that of the version.
const SIGNATURE: &[u8; 8] = b"FCDFPRT1";

/// Bytes of the trailer.
const TRAILER: u64 = 8 + 8 + 4 + 8;

/// Maximum bytes of an index, so that a part whose trailer lies takes no more memory than some times as much: two million chunks of
/// one dimension.
const MAX_INDEX: u64 = 64 << 20;

/// The end of a part.
#[derive(Default)]
struct Trailer {
    index_position: u64,
    index_length: u64,
    /// `lookup3` of the index.
    index_checksum: u32,
}

impl Record for Trailer {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.position("index position", 8, &mut self.index_position)?;
        c.uint("index length", 8, &mut self.index_length)?;
        let mut checksum = self.index_checksum.into();
        c.uint("index checksum", 4, &mut checksum)?;
        self.index_checksum = checksum as u32;
        let mut signature = SIGNATURE.to_vec();
        c.bytes("signature", SIGNATURE.len() as u64, &mut signature)?;
        if signature == SIGNATURE {
            return Ok(());
        }
        Err(Error::new(
            Code::ETRUNC,
            "it does not end with the trailer of a part: it is none, or was cut off",
        ))
    }
}

/// The index of a part.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PartIndex {
    /// What the caller calls the content, to recognize a part that need not be written again.
    pub(super) key: String,
    pub(super) variables: Vec<PartVariable>,
}

/// The chunks of one variable in a part.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PartVariable {
    pub(super) path: String,
    /// Element type, chunk shape and filters, as text: chunks of another storage do not go into the file.
    pub(super) storage: String,
    /// The shape that the variable needs for the regions that were written.
    pub(super) shape: Vec<u64>,
    pub(super) chunks: Vec<PartChunk>,
}

/// An encoded chunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PartChunk {
    pub(super) coordinates: Index,
    /// A range of the part.
    pub(super) location: ChunkLocation,
}

impl Record for PartIndex {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        text(c, "key", &mut self.key)?;
        let mut count = self.variables.len() as u64;
        c.uint("number of variables", 4, &mut count)?;
        c.list("variable", count, &mut self.variables, PartVariable::fields)
    }
}

impl Record for PartVariable {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        text(c, "path", &mut self.path)?;
        text(c, "storage", &mut self.storage)?;
        let mut rank = self.shape.len() as u64;
        c.uint("rank", 1, &mut rank)?;
        c.list("length of a dimension", rank, &mut self.shape, |len, c| c.uint("length", 8, len))?;
        let mut count = self.chunks.len() as u64;
        c.uint("number of chunks", 8, &mut count)?;
        c.list("chunk", count, &mut self.chunks, |chunk, c| chunk.fields(c, rank as usize))
    }
}

impl PartChunk {
    /// Names the fields of a chunk of `rank` dimensions.
    fn fields<C: Coder>(&mut self, c: &mut C, rank: usize) -> Result<()> {
        self.coordinates.resize(rank, 0);
        self.coordinates.iter_mut().try_for_each(|at| c.uint("chunk coordinate", 8, at))?;
        let (mut at, mut len, mut mask) = match self.location {
            ChunkLocation::At { at, len, mask } => (at, len, mask.into()),
            ChunkLocation::Missing | ChunkLocation::Object { .. } => (0, 0, 0),
        };
        c.position("chunk position", 8, &mut at)?;
        c.uint("chunk length", 8, &mut len)?;
        c.uint("filter mask", 4, &mut mask)?;
        // The mask has 4 bytes.
        self.location = ChunkLocation::At { at, len, mask: mask as u32 };
        Ok(())
    }
}

/// A text with its length in bytes before it.
fn text<C: Coder>(c: &mut C, name: &'static str, value: &mut String) -> Result<()> {
    let mut len = value.len() as u64;
    c.uint(name, 4, &mut len)?;
    let mut bytes = std::mem::take(value).into_bytes();
    c.bytes(name, len, &mut bytes)?;
    let is_text = String::from_utf8(bytes);
    *value = is_text.map_err(|_| c.error(Code::ETRUNC, format!("{name} is not UTF-8 text")))?;
    Ok(())
}

impl PartIndex {
    /// Writes the index and the trailer behind the chunks, which end at byte `end`.
    ///
    /// # Errors
    /// `NC_EINVAL` for an index of more than 64 MiB; those of the blob.
    pub(super) fn write(mut self, blob: &dyn BlobMut, end: u64) -> Result<()> {
        let mut encoder = Encoder::new(ORDER, 0);
        self.fields(&mut encoder)?;
        let index = encoder.finish();
        let mut trailer = Trailer {
            index_position: end,
            index_length: index.len() as u64,
            index_checksum: lookup3(&index, 0),
        };
        if trailer.index_length > MAX_INDEX {
            let what = format!(
                "the index of the part has {} bytes, more than {MAX_INDEX}: write fewer chunks to a part",
                index.len()
            );
            return Err(Error::new(Code::EINVAL, what));
        }
        let mut encoder = Encoder::behind(index, ORDER);
        trailer.fields(&mut encoder)?;
        blob.write_at(end, &encoder.finish())
    }

    /// Reads the index of a part, and checks that each chunk lies before the index.
    ///
    /// # Errors
    /// `NC_ETRUNC` for what is not a complete part.
    pub(super) fn read(blob: &dyn Blob) -> Result<PartIndex> {
        let mut end = [0; TRAILER as usize];
        let suffix = blob.read_suffix(&mut end)?;
        let mut trailer = Trailer::default();
        if (suffix.len as u64) < TRAILER {
            return Err(broken(format!("it has {} bytes, fewer than the trailer of a part", suffix.size)));
        }
        trailer.fields(&mut Decoder::new(&end, ORDER, true))?;
        let Trailer { index_position, index_length, index_checksum } = trailer;
        let whole = index_position.checked_add(index_length).and_then(|end| end.checked_add(TRAILER));
        if whole != Some(suffix.size) || index_length > MAX_INDEX {
            let what = format!(
                "its index at byte {index_position} has {index_length} bytes, and the part {} bytes",
                suffix.size
            );
            return Err(broken(what));
        }
        // At most `MAX_INDEX`.
        let mut bytes = vec![0; index_length as usize];
        blob.read_exact_at(index_position, &mut bytes)?;
        if lookup3(&bytes, 0) != index_checksum {
            return Err(broken(format!("its index at byte {index_position} has the wrong checksum")));
        }
        let mut index = PartIndex::default();
        index.fields(&mut Decoder::new(&bytes, ORDER, true)).map_err(|error| {
            error.with_code(Code::ETRUNC).at(format_args!("index at byte {index_position}"))
        })?;
        // No two chunks share bytes, so a small part cannot become a large file.
        let mut left = index_position;
        for PartVariable { path, chunks, .. } in &index.variables {
            for PartChunk { coordinates, location } in chunks {
                let ChunkLocation::At { at, len, .. } = *location else { continue };
                if at.checked_add(len).is_none_or(|end| end > index_position) {
                    let what = format!(
                        "{path}: chunk {coordinates:?} with {len} bytes at byte {at} reaches beyond the chunks, which end at byte {index_position}"
                    );
                    return Err(broken(what));
                }
                left = left.checked_sub(len).ok_or_else(|| {
                    broken(format!("{path}: chunk {coordinates:?}: the chunks have more bytes than there are before the index"))
                })?;
            }
        }
        Ok(index)
    }
}

fn broken(what: String) -> Error {
    Error::new(Code::ETRUNC, what)
}

#[cfg(test)]
mod tests {
    use ferrocdf_store::MemoryBlob;
    use ferrocdf_store::testing::Rng;

    use super::*;

    fn example() -> PartIndex {
        let chunk = |coordinates: &[u64], at, len, mask| PartChunk {
            coordinates: Index::from_slice(coordinates),
            location: ChunkLocation::At { at, len, mask },
        };
        let variable = |path: &str, shape: &[u64], chunks| PartVariable {
            path: path.to_string(),
            storage: "F32".to_string(),
            shape: shape.to_vec(),
            chunks,
        };
        PartIndex {
            key: "day 1".to_string(),
            variables: vec![
                variable("/a", &[6, 7], vec![chunk(&[0, 1], 0, 5, 0), chunk(&[1, 0], 5, 15, 2)]),
                variable("/g/b", &[3], vec![chunk(&[2], 20, 0, u32::MAX)]),
                variable("/c", &[0], vec![]),
            ],
        }
    }

    fn bytes_of(index: PartIndex) -> Vec<u8> {
        let blob = MemoryBlob::new(vec![7; 20]);
        index.write(&blob, 20).unwrap();
        blob.to_bytes()
    }

    fn read(bytes: &[u8]) -> Result<PartIndex> {
        PartIndex::read(&MemoryBlob::new(bytes.to_vec()))
    }

    #[test]
    fn index_is_read_as_it_was_written() {
        let bytes = bytes_of(example());
        assert_eq!(read(&bytes).unwrap(), example());
        // The format of files that exist must not change without its version.
        assert_eq!(lookup3(&bytes[20..], 0), 0x1298_b46c);
    }

    #[test]
    fn part_that_was_cut_off_or_changed_is_refused() {
        let bytes = bytes_of(example());
        for len in 0..bytes.len() {
            assert_eq!(read(&bytes[..len]).unwrap_err().code, Code::ETRUNC, "{len}");
        }
        let longer = [&bytes[..], &[0]].concat();
        assert_eq!(read(&longer).unwrap_err().code, Code::ETRUNC);
        for at in 20..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (at % 8);
            assert_eq!(read(&changed).unwrap_err().code, Code::ETRUNC, "{at}");
        }
    }

    #[test]
    fn index_with_lies_and_a_right_checksum_ends_in_an_error_or_is_an_index() {
        let whole = bytes_of(example());
        let index_len = whole.len() - 20 - TRAILER as usize;
        let mut rng = Rng::new(1);
        let mut refused = 0;
        for _ in 0..5000 {
            let mut index = whole[20..20 + index_len].to_vec();
            for _ in 0..=rng.below(3) {
                let at = rng.below(index_len as u64) as usize;
                index[at] = [0, 1, 0x7f, 0x80, 0xff][rng.below(5) as usize];
            }
            let mut trailer = Trailer {
                index_position: 20,
                index_length: index.len() as u64,
                index_checksum: lookup3(&index, 0),
            };
            let mut encoder = Encoder::behind([vec![7; 20], index].concat(), ORDER);
            trailer.fields(&mut encoder).unwrap();
            refused += u32::from(read(&encoder.finish()).is_err());
        }
        assert!(refused > 500, "{refused}");
    }

    #[test]
    fn chunk_outside_the_part_is_refused() {
        let mut index = example();
        index.variables[0].chunks[0].location = ChunkLocation::At { at: 1, len: u64::MAX, mask: 0 };
        let error = read(&bytes_of(index)).unwrap_err();
        assert!(error.what.contains("/a: chunk [0, 1]"), "{error}");
        let mut index = example();
        index.variables[0].chunks[0].location = ChunkLocation::At { at: 0, len: 6, mask: 0 };
        let error = read(&bytes_of(index)).unwrap_err();
        assert!(error.what.contains("more bytes than there are"), "{error}");
    }
}
