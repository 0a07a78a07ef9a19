//! From locations of chunks to references: small chunks are read and become inline, and requests to the store tell which objects exist.

use std::sync::Arc;

use ferrocdf_array::{ChunkLocation, ChunkObjects, Index};
use ferrocdf_bytes::{Result, ToUsize};
use ferrocdf_store::{Blob, ByteRange, ReadRequest};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::{Reference, past_end};

/// Most chunks that are requested together.
const AT_ONCE: usize = 4096;

/// Characters that need a percent escape in the path of a URL.
const NOT_OF_PATHS: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// The file or the store that holds the chunks of a variable, and the options for their references.
pub(super) struct ChunkSource<'a> {
    /// The bytes of the file.
    pub(super) blob: &'a dyn Blob,
    /// The objects that hold chunks.
    pub(super) objects: Option<&'a dyn ChunkObjects>,
    /// The folder of the dataset in the store of these objects, without a slash at its end.
    pub(super) folder: &'a str,
    /// The name of the file, or of that folder, in references.
    pub(super) url: &'a Arc<str>,
    /// Chunks with fewer bytes become inline.
    pub(super) inline: u64,
}

/// The form that a stored chunk has among the references.
pub(super) enum Chunk {
    /// A reference to the encoded bytes of the chunk, or these bytes inline.
    Reference(Reference),
    /// The decoded elements of the chunk, encoded anew: the chunk was stored without some of the filters, and references have no filter
    /// mask.
    Decoded,
}

impl ChunkSource<'_> {
    /// Returns the form of each stored chunk. Chunks whose objects do not exist are missing in the result.
    ///
    /// # Errors
    /// `NC_ETRUNC` for a chunk outside the file; those of the file and the store.
    pub(super) fn chunks(&self, stored: &[(Index, ChunkLocation)]) -> Result<Vec<(Index, Chunk)>> {
        let mut all = vec![];
        for some in stored.chunks(AT_ONCE) {
            self.ranges(some, &mut all)?;
            self.objects(some, &mut all)?;
        }
        Ok(all)
    }

    /// Adds the chunks that are ranges of the file.
    fn ranges(&self, some: &[(Index, ChunkLocation)], into: &mut Vec<(Index, Chunk)>) -> Result<()> {
        let is_range = |(_, location): &(Index, ChunkLocation)| matches!(location, ChunkLocation::At { .. });
        if !some.iter().any(is_range) {
            return Ok(());
        }
        let size = self.blob.size()?;
        let (mut small, mut buffers) = (vec![], vec![]);
        for (chunk, location) in some {
            let &ChunkLocation::At { at, len, mask } = location else { continue };
            if at.checked_add(len).is_none_or(|end| end > size) {
                return Err(past_end(at, len));
            }
            let value = match mask {
                0 if len < self.inline => {
                    small.push((chunk.clone(), at));
                    buffers.push(vec![0; len.to_usize("bytes of a chunk")?]);
                    continue;
                }
                0 => Chunk::Reference(Reference::Range { url: self.url.clone(), start: at, len }),
                _ => Chunk::Decoded,
            };
            into.push((chunk.clone(), value));
        }
        let requests = small.iter().zip(&mut buffers);
        let mut requests: Vec<_> = requests.map(|((_, at), into)| ReadRequest::new(*at, into)).collect();
        self.blob.read_many(&mut requests)?;
        if let Some(short) = requests.iter().find(|request| request.len < request.into.len()) {
            return Err(past_end(short.at, short.into.len() as u64));
        }
        let inline = |((chunk, _), bytes): ((Index, u64), Vec<u8>)| {
            (chunk, Chunk::Reference(Reference::Inline(bytes.into())))
        };
        into.extend(small.into_iter().zip(buffers).map(inline));
        Ok(())
    }

    /// Adds the chunks that are objects, or ranges of objects.
    fn objects(&self, some: &[(Index, ChunkLocation)], into: &mut Vec<(Index, Chunk)>) -> Result<()> {
        let Some(objects) = self.objects else { return Ok(()) };
        let in_objects = some.iter().filter_map(|(chunk, location)| match *location {
            ChunkLocation::Object { at, len, mask } => Some((chunk, objects.key(chunk), at, len, mask)),
            _ => None,
        });
        let in_objects: Vec<_> = in_objects.collect();
        // One byte at least, since no bytes are no request.
        let range = |at, len: u64| ByteRange::Bounded { start: at, len: len.min(self.inline).max(1) };
        let requests: Vec<_> =
            in_objects.iter().map(|(_, key, at, len, _)| (&**key, range(*at, *len))).collect();
        let answers = objects.store().get_many(&requests);
        for ((chunk, key, at, len, mask), answer) in in_objects.iter().zip(answers) {
            let Some(found) = answer? else { continue };
            let found = found.check(key, range(*at, *len))?;
            let rest = found.total.saturating_sub(*at);
            if *len != ChunkLocation::TO_END && *len > rest {
                return Err(past_end(*at, *len).at(key));
            }
            let url = || {
                let relative = key.strip_prefix(self.folder).unwrap_or(key).trim_start_matches('/');
                object_url(self.url, relative).into()
            };
            let value = match (at, (*len).min(rest)) {
                _ if *mask != 0 => Chunk::Decoded,
                (_, len) if len < self.inline => {
                    Chunk::Reference(Reference::Inline(found.bytes[..len.saturate()].into()))
                }
                (0, _) if *len == ChunkLocation::TO_END => Chunk::Reference(Reference::Whole { url: url() }),
                (&start, len) => Chunk::Reference(Reference::Range { url: url(), start, len }),
            };
            into.push(((*chunk).clone(), value));
        }
        Ok(())
    }
}

/// True for the URL of a web server, whose path has percent escapes; keys in URLs of buckets have none.
pub(super) fn is_web(url: &str) -> bool {
    let has_scheme =
        |scheme: &str| url.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme));
    has_scheme("http://") || has_scheme("https://")
}

/// Returns the URL or path of an object in the folder at `url`, which may have a query.
fn object_url(url: &str, key: &str) -> String {
    if !is_web(url) {
        return format!("{url}/{key}");
    }
    let (folder, query) = url.split_at(url.find('?').unwrap_or(url.len()));
    format!("{folder}/{}{query}", utf8_percent_encode(key, NOT_OF_PATHS))
}

#[cfg(test)]
mod tests {
    use ferrocdf_bytes::Code;
    use ferrocdf_store::MemoryBlob;

    use super::*;

    #[test]
    fn key_is_escaped_in_the_url_of_a_web_server_alone() {
        for (url, wanted) in [
            ("https://h/a%20b.zarr", "https://h/a%20b.zarr/run%231%25/c/0.0"),
            ("HTTP://h/a.zarr?sig=x/y", "HTTP://h/a.zarr/run%231%25/c/0.0?sig=x/y"),
            ("s3://bucket/a.zarr", "s3://bucket/a.zarr/run#1%/c/0.0"),
            ("/d/a?.zarr", "/d/a?.zarr/run#1%/c/0.0"),
        ] {
            assert_eq!(object_url(url, "run#1%/c/0.0"), wanted);
        }
    }

    #[test]
    fn chunk_outside_the_file_is_an_error_whatever_becomes_of_it() {
        let blob = MemoryBlob::new(vec![0; 10]);
        let url: Arc<str> = "u".into();
        let chunks = |inline, at, len, mask| {
            let source = ChunkSource { blob: &blob, objects: None, folder: "", url: &url, inline };
            let found = source.chunks(&[(Index::from_slice(&[0]), ChunkLocation::At { at, len, mask })]);
            found.map(|found| found.len()).map_err(|error| error.code)
        };
        for (inline, mask) in [(0, 0), (100, 0), (0, 1)] {
            assert_eq!(chunks(inline, 4, 6, mask), Ok(1));
            for (at, len) in [(4, 7), (11, 1), (u64::MAX, 2)] {
                assert_eq!(chunks(inline, at, len, mask), Err(Code::ETRUNC), "{at} {len} {inline} {mask}");
            }
        }
    }
}
