//! Bzip2 (filter 307): one stream. Its parameter is the size of a block in units of 100 kB, 1 to 9.

use bzip2::{Action, Compress, Compression, Decompress, Status};
use ferrocdf_bytes::Result;

use crate::filter::{Codec, bad_params, boxed, corrupt};
use crate::json::level_spelling;
use crate::registry::Entry;

/// A block of 900,000 bytes holds runs of 255 in five bytes each, and takes no less than 32 bytes.
const BLOCK: usize = 900_000 / 5 * 255;
const SMALLEST: usize = 32;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: 307,
    names: &["bzip2", "bz2"],
    make: |params| Bzip2::new(params).map(boxed),
    learn: None,
    json: Some(level_spelling!("bz2", 1..=9, 1)),
};

#[derive(Debug)]
pub struct Bzip2 {
    level: u32,
}

impl Bzip2 {
    pub fn new(params: &[u32]) -> Result<Bzip2> {
        match *params {
            [] => Ok(Bzip2 { level: 9 }),
            [level @ 1..=9, ..] => Ok(Bzip2 { level }),
            _ => Err(bad_params(format!("the parameters {params:?} are not one block size from 1 to 9"))),
        }
    }
}

impl Codec for Bzip2 {
    fn plain_len(&self, _stored: &[u8]) -> Result<Option<usize>> {
        Ok(None)
    }

    fn unpack(&self, stored: &[u8], plain: &mut [u8]) -> Result<Option<usize>> {
        let mut stream = Decompress::new(false);
        // Libbz2 comes to the end of a stream only with room for more.
        let mut more = [0];
        loop {
            let (taken, made) = (stream.total_in() as usize, stream.total_out() as usize);
            let room = match plain.get_mut(made..) {
                Some(room) if !room.is_empty() => room,
                _ => &mut more,
            };
            let status = stream
                .decompress(stored.get(taken..).unwrap_or(&[]), room)
                .map_err(|error| corrupt(format!("the stored bytes are not a bzip2 stream: {error}")))?;
            let (then_taken, then_made) = (stream.total_in() as usize, stream.total_out() as usize);
            match status {
                _ if then_made > plain.len() => return Ok(None),
                Status::StreamEnd => return Ok(Some(then_made)),
                _ if (then_taken, then_made) != (taken, made) => {}
                _ => return Err(corrupt(format!("the {} stored bytes end within the stream", stored.len()))),
            }
        }
    }

    fn pack(&self, plain: &[u8], stored: &mut Vec<u8>) -> Result<Option<()>> {
        let mut stream = Compress::new(Compression::new(self.level), 0);
        // What libbz2 says is always enough, for a stream and the bits of its end.
        stored.reserve(plain.len() + plain.len() / 100 + 600);
        let failed = |what: String| corrupt(format!("bzip2 cannot pack: {what}"));
        loop {
            let taken = stream.total_in() as usize;
            let status = stream
                .compress_vec(plain.get(taken..).unwrap_or(&[]), stored, Action::Finish)
                .map_err(|error| failed(error.to_string()))?;
            match status {
                Status::StreamEnd => return Ok(Some(())),
                _ if stored.len() == stored.capacity() => stored.reserve(600),
                Status::FinishOk | Status::Ok | Status::RunOk => {}
                other => return Err(failed(format!("{other:?}"))),
            }
        }
    }

    fn most_decoded(&self, stored: usize) -> usize {
        (stored / SMALLEST + 1).saturating_mul(BLOCK)
    }
}
