//! Chunks that are objects of a store, or ranges of objects.
//!
//! A chunk is missing if the request for its bytes finds no object, so no request is sent only to ask whether a chunk exists.

use std::ops::RangeInclusive;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::{Buffer, ByteRange, Fetched, Filled};

use super::decoded::{coordinates, name};
use super::index::{ChunkLocation, ChunkObjects, FetchedObject};
use super::stored::StoredChunks;

/// A request for the encoded bytes of a chunk in an object.
struct ObjectRequest {
    /// Name of the chunk and its object for messages.
    name: String,
    object: String,
    range: ByteRange,
    /// Numbers of bytes that the chunk may have, if no filter makes another number of them.
    raw_len: Option<RangeInclusive<u64>>,
}

impl ObjectRequest {
    /// Checks an answer to the request and returns it with its bytes; `None` if the object does not exist.
    fn checked<B>(&self, answer: Result<Option<(Filled, B)>>) -> Result<Option<(Filled, B)>> {
        let checked = || -> Result<Option<(Filled, B)>> {
            let Some((found, bytes)) = answer? else { return Ok(None) };
            let found = found.check(&self.object, self.range)?;
            let (has, total) = (found.len, found.total);
            match self.range {
                ByteRange::Bounded { start, len } if len != ChunkLocation::TO_END && has < len => {
                    let what = format!("{len} bytes at byte {start} are past the end, it has {total} bytes");
                    Err(Error::new(Code::ETRUNC, what))
                }
                _ => check_raw(self.raw_len.as_ref(), has).map(|()| Some((found, bytes))),
            }
        };
        checked().map_err(|error| error.at(&self.name))
    }
}

/// Checks the number of bytes of a chunk that must have so many, if the number is known.
///
/// # Errors
/// `NC_ETRUNC` for fewer bytes, and for more of them: the chunk is that of another shape or data type.
fn check_raw(raw_len: Option<&RangeInclusive<u64>>, has: u64) -> Result<()> {
    match raw_len {
        Some(lens) if !lens.contains(&has) => {
            let what = format!("stored with {has} bytes, not {}, and without codecs", lens.start());
            Err(Error::new(Code::ETRUNC, what))
        }
        _ => Ok(()),
    }
}

impl StoredChunks<'_> {
    fn objects(&self) -> Result<&dyn ChunkObjects> {
        let none =
            || Error::new(Code::EINTERNAL, "the chunk index locates chunks in objects, and names none");
        self.objects.ok_or_else(none)
    }

    /// Returns a name of a stored chunk for messages, such as "chunk (3, 0) at byte 81920".
    pub(super) fn name(&self, key: &[u64], location: ChunkLocation) -> String {
        match (location, self.objects) {
            (ChunkLocation::At { at, .. }, _) => name(key, at),
            (ChunkLocation::Object { .. }, Some(objects)) => {
                format!("chunk {} in object {}", coordinates(key), objects.key(key))
            }
            _ => format!("chunk {}", coordinates(key)),
        }
    }

    fn request(&self, key: &[u64], location: ChunkLocation, range: ByteRange) -> Result<ObjectRequest> {
        let is_raw = location.mask().is_some_and(|mask| self.chain.is_identity(mask));
        // NetCDF-C has written scalars in chunks of several elements, of which the first counts.
        let most = if key.is_empty() { u64::MAX } else { self.chunk_len };
        let raw_len = is_raw.then_some(self.chunk_len..=most);
        Ok(ObjectRequest { name: self.name(key, location), object: self.objects()?.key(key), range, raw_len })
    }

    /// Fetches a chunk in an object; its bytes are in the buffer. `None` if the object does not exist, or if the chunk is in no object.
    pub(super) fn get_object<'b>(
        &self,
        key: &[u64],
        location: ChunkLocation,
        buffer: &'b mut Buffer,
    ) -> Result<Option<(Filled, &'b [u8])>> {
        let Some(range) = location.in_object() else { return Ok(None) };
        let request = self.request(key, location, range)?;
        request.checked(self.objects()?.store().get_buffered(&request.object, range, buffer))
    }

    /// Fetches chunks in objects: from a near store with one request per chunk, from a slow one with a single
    /// [`Store::get_many`](ferrocdf_store::Store::get_many). All locations must be [`ChunkLocation::Object`]. Runs on the thread
    /// of the caller alone: threads of the pool may be waiting for it.
    pub(super) fn get_objects(
        &self,
        chunks: &[(&[u64], ChunkLocation)],
    ) -> Result<Vec<Option<FetchedObject>>> {
        if chunks.is_empty() {
            return Ok(Vec::new());
        }
        let store = self.objects()?.store();
        let mut requests = Vec::with_capacity(chunks.len());
        for &(key, location) in chunks {
            if let Some(range) = location.in_object() {
                requests.push(self.request(key, location, range)?);
            }
        }
        let ranges: Vec<_> = requests.iter().map(|request| (&*request.object, request.range)).collect();
        let answers = match store.cost().is_near() {
            true => ranges.iter().map(|&(object, range)| store.get(object, range)).collect(),
            false => store.get_many(&ranges),
        };
        if answers.len() != chunks.len() {
            let what = format!("{}: {} answers to {} requests", store.name(), answers.len(), chunks.len());
            return Err(Error::new(Code::EINTERNAL, what));
        }
        let parts = |answer: Result<Option<Fetched>>| answer.map(|found| found.map(Fetched::into_parts));
        requests.iter().zip(answers).map(|(request, answer)| request.checked(parts(answer))).collect()
    }
}
