//! Reading elements one by one: text, bytes, lists, JSON values.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use ferrocdf_array::{ChunkLocation, ChunkObjects, Selection};
use ferrocdf_bytes::{Code, Error, Result, ToUsize};
use ferrocdf_codec::{Chain, Codecs, FilterId, Step};
use ferrocdf_store::{ByteRange, Store, Version};

use crate::codecs::ElementForm;
use crate::data_type::DataType;
use crate::json::Json;
use crate::kept::Kept;
use crate::metadata::{ArrayMetadata, invalid};
use crate::shards::StoredChunks;

/// Most bytes of one decoded chunk, and of the decoded chunks that one array keeps.
const MAX_CHUNK: usize = 1 << 30;
/// Most bytes of a decoded chunk, and more for each encoded byte: text says nowhere how long it is, so a small chunk that decodes to much more
/// is taken for a bomb.
const MAX_UNCHECKED: usize = 96 << 20;
const MAX_RATIO: usize = 64;
const MAX_KEPT: usize = 64 << 20;

/// Elements that are looked up at a time.
const PIECE: u64 = 1 << 16;

/// Bytes of an element in the list of a chunk, apart from its own.
const OVERHEAD: usize = size_of::<Box<[u8]>>() + 16;

/// The elements of one array, each a number of bytes.
pub struct Elements {
    pub(crate) index: StoredChunks,
    pub(crate) chain: Chain,
    pub(crate) form: ElementForm,
    pub(crate) chunk_shape: Vec<u64>,
    /// The dimensions in the order in which chunks have them, the slowest first.
    order: Vec<usize>,
    kept: Kept<Vec<u64>, Chunk>,
}

/// A decoded chunk; `None` if it is missing.
pub(crate) type Chunk = Option<Arc<DecodedChunk>>;

/// The elements of a chunk, in its own order, and the version of the object that has it.
#[derive(Clone, Debug)]
pub(crate) struct DecodedChunk {
    pub(crate) elements: Vec<Box<[u8]>>,
    pub(crate) version: Version,
}

impl ArrayMetadata {
    /// Returns the elements of an array whose elements have no fixed size, or are bytes of a fixed number.
    ///
    /// # Errors
    /// Those of the codecs; `NC_EZARRMETA` for other elements.
    pub fn elements(&self, store: Arc<dyn Store>, path: &str, codecs: &Codecs) -> Result<Elements> {
        let pipeline = self.pipeline.as_ref().map_err(Clone::clone)?;
        let form = match (pipeline.elements, &self.element.data_type) {
            (Some(form), _) => form,
            (None, DataType::FixedBytes(size)) => ElementForm::Fixed(*size),
            (None, DataType::FixedText(chars)) => ElementForm::Fixed(4 * chars),
            (None, _) => return Err(invalid("the elements are neither text nor of any size")),
        };
        if !self.blocks.is_empty() {
            return Err(invalid(
                "a rectilinear grid of elements that are neither numbers nor of a fixed size",
            ));
        }
        let chunk_shape = self.inner_chunk_shape().to_vec();
        // Filters that change the order of elements come first, and work on elements and not on bytes.
        let order = pipeline.order(chunk_shape.len());
        if order.len() != chunk_shape.len() {
            return Err(invalid("an order of dimensions that are not there"));
        }
        let is_order = |step: &Step| step.id == FilterId::named("transpose");
        let steps = self.steps(path, codecs)?.into_iter().skip_while(is_order).collect();
        let chain = Chain::new(steps, codecs);
        let index = self.chunk_index(store, path, codecs)?;
        Ok(Elements { index, chain, form, chunk_shape, order, kept: Kept::new(MAX_KEPT) })
    }
}

impl Elements {
    /// Reads the selected elements, in their order; `None` for elements of missing chunks.
    ///
    /// # Errors
    /// Those of the store; `NC_EHDFERR` for chunks that are damaged; `NC_ENOMEM` for more elements than fit in memory.
    pub fn read(&self, sel: &Selection) -> Result<Vec<Option<Box<[u8]>>>> {
        let count = sel.elements().map_or(usize::MAX, ToUsize::saturate);
        let mut all = vec![];
        if all.try_reserve_exact(count).is_err() {
            return Err(Error::new(Code::ENOMEM, format!("no memory for {count} elements")));
        }
        if count > 0 {
            sel.pieces(PIECE).try_for_each(|(_, count, piece)| self.read_piece(&piece, count, &mut all))?;
        }
        Ok(all)
    }

    /// Returns the chunk of the selected element with this number, and its position among the elements of the chunk.
    pub(crate) fn position(&self, sel: &Selection, number: u64) -> (Vec<u64>, usize) {
        let mut rest = number;
        let (mut chunk, mut within) = (vec![0; self.chunk_shape.len()], vec![0; self.chunk_shape.len()]);
        for dim in (0..chunk.len()).rev() {
            let index = sel.start[dim] + rest % sel.count[dim] * sel.stride[dim];
            rest /= sel.count[dim];
            (chunk[dim], within[dim]) = (index / self.chunk_shape[dim], index % self.chunk_shape[dim]);
        }
        let at = self.order.iter().fold(0, |at, &dim| at * self.chunk_shape[dim] + within[dim]);
        (chunk, at.saturate())
    }

    fn read_piece(&self, sel: &Selection, count: usize, all: &mut Vec<Option<Box<[u8]>>>) -> Result<()> {
        let mut chunks: HashMap<Vec<u64>, Chunk> = HashMap::new();
        let mut places = Vec::with_capacity(count);
        for number in 0..count as u64 {
            let (chunk, at) = self.position(sel, number);
            chunks.entry(chunk.clone()).or_default();
            places.push((chunk, at));
        }
        self.fetch(&mut chunks)?;
        for (chunk, at) in places {
            let element = chunks[&chunk].as_ref().map(|chunk| chunk.elements.get(at).cloned());
            all.push(match element {
                None => None,
                Some(Some(element)) => Some(element),
                Some(None) => return Err(damaged("the chunk has fewer elements than its shape")),
            });
        }
        Ok(())
    }

    /// Fetches and decodes chunks that are not kept.
    pub(crate) fn fetch(&self, chunks: &mut HashMap<Vec<u64>, Chunk>) -> Result<()> {
        let kept = self.kept.get(chunks.keys());
        let mut absent = vec![];
        for ((at, chunk), kept) in chunks.iter_mut().zip(kept) {
            match kept {
                Some(kept) => *chunk = kept,
                None => absent.push(at.clone()),
            }
        }
        let mut requests = vec![];
        for (at, location) in absent.iter().zip(self.index.locations(&absent)?) {
            let range = match location {
                ChunkLocation::Object { at: 0, len: ChunkLocation::TO_END, .. } => ByteRange::All,
                ChunkLocation::Object { at, len, .. } => ByteRange::Bounded { start: at, len },
                ChunkLocation::Missing | ChunkLocation::At { .. } => continue,
            };
            requests.push((at, self.index.key(at), range));
        }
        let ranges: Vec<_> = requests.iter().map(|(_, key, range)| (&**key, *range)).collect();
        let answers = self.index.store().get_many(&ranges);
        let mut decoded: HashMap<Vec<u64>, Chunk> = absent.iter().map(|at| (at.clone(), None)).collect();
        for ((at, key, range), answer) in requests.iter().zip(answers) {
            let Some(answer) = answer? else { continue };
            let answer = answer.check(key, *range)?;
            let fail = |error: Error| {
                let chunk = at.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
                error.at(format_args!("chunk ({chunk}) in object {key}"))
            };
            let elements = self.decode(&answer.bytes).map_err(fail)?;
            let chunk = DecodedChunk { elements, version: answer.version };
            decoded.insert((*at).clone(), Some(Arc::new(chunk)));
        }
        for (at, chunk) in decoded {
            self.keep(&at, chunk.clone());
            chunks.insert(at, chunk);
        }
        Ok(())
    }

    /// Forgets a chunk that is kept.
    pub(crate) fn forget(&self, at: &[u64]) {
        self.kept.remove(&at.to_vec());
    }

    /// Keeps a decoded chunk.
    pub(crate) fn keep(&self, at: &[u64], chunk: Chunk) {
        let bytes = OVERHEAD + chunk.as_ref().map_or(0, |chunk| bytes_of(&chunk.elements));
        self.kept.insert(at.to_vec(), chunk, bytes);
    }

    /// Decodes a chunk to its elements.
    pub(crate) fn decode(&self, encoded: &[u8]) -> Result<Vec<Box<[u8]>>> {
        let limit = encoded.len().saturating_mul(MAX_RATIO).clamp(MAX_UNCHECKED, MAX_CHUNK);
        let bytes = self.chain.decode_of_any_size(0, encoded, limit)?;
        let count = self.chunk_shape.iter().product::<u64>();
        let elements = match self.form {
            ElementForm::WithSizes => with_sizes(&bytes),
            ElementForm::Json => json_elements(&bytes, self.chunk_shape.len()),
            ElementForm::Fixed(0) => Ok(vec![Box::default(); count.to_usize("elements")?]),
            ElementForm::Fixed(size) if bytes.len() % size > 0 => {
                Err(damaged(&format!("the chunk has {} bytes, which are no elements of {size}", bytes.len())))
            }
            ElementForm::Fixed(size) => {
                Ok(bytes.chunks_exact(size).map(|bytes| without_zeros(bytes).into()).collect())
            }
        }?;
        match elements.len() as u64 == count {
            true => Ok(elements),
            false => Err(damaged(&format!("the chunk has {} elements, its shape {count}", elements.len()))),
        }
    }
}

impl fmt::Debug for Elements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Elements({:?})", self.index)
    }
}

/// Returns the memory that the elements of a chunk take.
pub(crate) fn bytes_of(elements: &[Box<[u8]>]) -> usize {
    elements.iter().map(|element| element.len() + OVERHEAD).sum()
}

fn damaged(what: &str) -> Error {
    Error::new(Code::EHDFERR, what.to_string())
}

/// Returns bytes without the zeros at their end, which do not count in text of a fixed size.
pub fn without_zeros(bytes: &[u8]) -> &[u8] {
    let len = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &bytes[..len]
}

/// Splits the bytes of numcodecs `vlen-utf8`, `vlen-bytes` and `vlen-array`: the number of elements in 4 bytes, then for each element
/// its size in 4 bytes and its bytes, all little-endian.
fn with_sizes(bytes: &[u8]) -> Result<Vec<Box<[u8]>>> {
    let cut = || damaged("the elements end before their sizes say");
    let (count, mut rest) = bytes.split_first_chunk::<4>().ok_or_else(cut)?;
    let count = u32::from_le_bytes(*count) as usize;
    // Each element takes 4 bytes for its size.
    if count > rest.len() / 4 {
        return Err(cut());
    }
    let mut elements = Vec::with_capacity(count);
    for _ in 0..count {
        let (size, more) = rest.split_first_chunk::<4>().ok_or_else(cut)?;
        let (element, more) = more.split_at_checked(u32::from_le_bytes(*size) as usize).ok_or_else(cut)?;
        elements.push(element.into());
        rest = more;
    }
    match rest.is_empty() {
        true => Ok(elements),
        false => Err(damaged("bytes behind the last element")),
    }
}

/// Splits the text of numcodecs `json2`: a list of the elements, then the data type and the shape of the chunk, which has `rank`
/// dimensions. Its predecessor `json` has no shape. The elements of a chunk with several dimensions are in lists within lists. Elements
/// are JSON texts; strings are the text itself.
fn json_elements(bytes: &[u8], rank: usize) -> Result<Vec<Box<[u8]>>> {
    let json = Json::parse(bytes)?;
    let values = match json.as_array() {
        Some([values @ .., _, Json::Array(_)] | [values @ .., Json::String(_)]) => values,
        _ => return Err(damaged("the chunk is no list with a data type and a shape")),
    };
    let mut values: Vec<&Json> = values.iter().collect();
    for _ in 1..rank {
        let mut inner = vec![];
        for value in values {
            let list =
                value.as_array().ok_or_else(|| damaged("the chunk has fewer lists than dimensions"))?;
            inner.extend(list);
        }
        values = inner;
    }
    let text = |value: &Json| match value {
        Json::String(text) => text.as_bytes().into(),
        value => value.to_string().into_bytes().into(),
    };
    Ok(values.into_iter().map(text).collect())
}
