//! The chunks of one variable as references: which chunks it has, and where their bytes are.

use ferrocdf_array::{Array, ChunkLocation, Index, Layout, Selection};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_codec::{FilterId, Step};
use ferrocdf_model::Filter;
use ferrocdf_store::Blob;
use ferrocdf_zarr::ArrayMetadata;

/// Most chunks of one variable: each takes some hundred bytes of memory.
const MAX_CHUNKS: usize = 1 << 24;

/// Bytes of a chunk above which contiguous data is cut: object stores answer requests of 8 to 16 MB fastest.
const MAX_CHUNK: u64 = 16 << 20;

/// Most numbers of pieces that are tried to cut a dimension into equal ones, before one row a piece.
const TRIES: usize = 4096;

/// Most pieces that a dimension is cut into, as a multiple of the fewest pieces of at most [`MAX_CHUNK`] bytes.
const MAX_EXCESS: u64 = 8;

/// Filters whose encoded bytes tell all that decoding needs, whatever their parameters are.
const SELF_DESCRIBING: [u32; 4] = [Filter::DEFLATE, Filter::BZIP2, Filter::BLOSC, Filter::ZSTD];

/// The stored chunks of a variable.
pub(super) struct ReferencedChunks {
    /// The shape of a chunk in elements; no length is 0.
    pub(super) shape: Vec<u64>,
    /// Coordinates and location of each stored chunk, last dimension fastest. Chunks in objects may turn out to be missing.
    pub(super) chunks: Vec<(Index, ChunkLocation)>,
    steps: Vec<Step>,
}

impl ReferencedChunks {
    /// Returns the chunks of an array in a blob.
    ///
    /// # Errors
    /// `NC_ENOTBUILT`, with the reason, for an array that no references can stand for; those of the chunk index.
    pub(super) fn of(array: &Array, blob: &dyn Blob) -> Result<ReferencedChunks> {
        if array.decoder.is_some() {
            return Err(not_referenced("no data type of Zarr describes its elements as they are stored"));
        }
        match &array.layout {
            Layout::Strided { begin, strides } => Self::of_strides(array, (*begin, strides), blob),
            Layout::Chunked(chunks) => {
                let mut found = vec![];
                chunks.try_for_each_stored(&array.shape, |chunk, location| {
                    found.push((Index::from_slice(chunk), location));
                    if found.len() > MAX_CHUNKS { Err(too_many()) } else { Ok(()) }
                })?;
                let steps = chunks.chain.steps().cloned().collect();
                Ok(ReferencedChunks { shape: chunks.shape.clone(), chunks: found, steps })
            }
            Layout::Fill(_) => {
                let shape = array.shape.iter().map(|&len| len.max(1)).collect();
                Ok(ReferencedChunks { shape, chunks: vec![], steps: vec![] })
            }
            Layout::Virtual(_) => Err(not_referenced("it is a view of other datasets")),
            _ => Err(not_referenced("its data is in the metadata")),
        }
    }

    fn of_strides(
        array: &Array,
        (begin, strides): (u64, &[u64]),
        blob: &dyn Blob,
    ) -> Result<ReferencedChunks> {
        let size = array.stored.kind.size() as u64;
        let (shape, lens) = (cut(&array.shape, strides, size), &array.shape);
        let too_large = || Error::new(Code::EVARSIZE, "it reaches beyond byte 2^64 of the file");
        let len = shape.iter().try_fold(size, |bytes, &len| bytes.checked_mul(len)).ok_or_else(too_large)?;
        let grid: Vec<u64> = lens.iter().zip(&shape).map(|(len, chunk)| len.div_ceil(*chunk)).collect();
        let grid = Selection::all(&grid);
        let count = grid.elements().filter(|&count| count <= MAX_CHUNKS as u64).ok_or_else(too_many)?;
        let file = blob.size()?;
        let mut chunks = vec![];
        for number in 0..count {
            let chunk = grid.nth(number);
            let mut steps = chunk.iter().zip(&shape).zip(strides);
            let at = steps.try_fold(begin, |at, ((&chunk, &len), &stride)| {
                at.checked_add(chunk.checked_mul(len)?.checked_mul(stride)?)
            });
            let at = at.filter(|at| at.checked_add(len).is_some_and(|end| end <= file));
            let at = at.ok_or_else(|| not_referenced("the file ends before its data does"))?;
            chunks.push((chunk, ChunkLocation::At { at, len, mask: 0 }));
        }
        Ok(ReferencedChunks { shape, chunks, steps: vec![] })
    }

    /// True if so many stored chunks are all chunks of an array of a shape.
    pub(super) fn are_complete(&self, shape: &[u64], count: usize) -> bool {
        let grid: Vec<u64> = shape.iter().zip(&self.shape).map(|(len, chunk)| len.div_ceil(*chunk)).collect();
        Selection::all(&grid).elements() == Some(count as u64)
    }

    /// Checks that the metadata of a Zarr array decodes the stored chunks to the elements of an array.
    ///
    /// # Errors
    /// `NC_ENOTBUILT` with the reason.
    pub(super) fn check(&self, array: &Array, metadata: &ArrayMetadata) -> Result<()> {
        let size = array.stored.kind.size();
        let element = &metadata.element;
        let has_elements = element.data_type.size() == Some(size)
            && (size == 1 || element.order == array.stored.order)
            && metadata.chunk_shape == self.shape;
        if !has_elements {
            return Err(not_referenced("no data type of Zarr describes its elements as they are stored"));
        }
        let steps = metadata.pipeline.as_ref().map_err(Clone::clone)?.steps.iter();
        let is_same = |(step, own): (&Step, &Step)| {
            let needs_params = !step.id.hdf5().is_some_and(|id| SELF_DESCRIBING.contains(&id));
            step.id == own.id && (step.params == own.params || !needs_params)
        };
        if steps.len() == self.steps.len() && steps.zip(&self.steps).all(is_same) {
            return Ok(());
        }
        let names = self.steps.iter().map(|step| match &step.id {
            FilterId::Hdf5(id) => ferrocdf_codec::registered_name(*id).unwrap_or("unknown").to_string(),
            FilterId::Named(name) => name.to_string(),
        });
        let names: Vec<String> = names.collect();
        Err(not_referenced(&format!("numcodecs has no codecs for its filters ({})", names.join(", "))))
    }
}

/// Returns the shape of the chunks that contiguous or record-interleaved data is cut into, each of them one run of bytes: dimensions
/// between whose steps other data lies have chunks of one step, the others equal chunks of at most [`MAX_CHUNK`] bytes where their lengths
/// allow it.
fn cut(shape: &[u64], strides: &[u64], size: u64) -> Vec<u64> {
    let mut chunk: Vec<u64> = shape.iter().map(|&len| len.max(1)).collect();
    let (mut run, mut dense) = (size, shape.len());
    while dense > 0 && (shape[dense - 1] <= 1 || strides[dense - 1] == run) {
        dense -= 1;
        run = run.saturating_mul(chunk[dense]);
    }
    chunk[..dense].fill(1);
    for len in &mut chunk[dense..] {
        let row = run / *len;
        if run <= MAX_CHUNK {
            break;
        }
        let fewest = run.div_ceil(MAX_CHUNK).min(*len);
        let most = fewest.saturating_mul(MAX_EXCESS).min(*len);
        let one_row_each = (most == *len).then_some(most);
        let mut pieces = (fewest..=most).take(TRIES).chain(one_row_each);
        let Some(pieces) = pieces.find(|&pieces| len.is_multiple_of(pieces)) else { break };
        *len /= pieces;
        run = row.saturating_mul(*len);
    }
    chunk
}

/// Returns the reason why a variable has no references.
pub(super) fn not_referenced(why: &str) -> Error {
    Error::new(Code::ENOTBUILT, why.to_string())
}

fn too_many() -> Error {
    not_referenced(&format!("it has more than {MAX_CHUNKS} chunks"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_cut_into_equal_runs_of_bytes() {
        const MB: u64 = 1 << 20;
        // Contiguous: whole if it is small, else by the first dimension, or by the next where one step of it is large.
        assert_eq!(cut(&[4, 5], &[20, 4], 4), [4, 5]);
        assert_eq!(cut(&[64, MB], &[4 * MB, 4], 4), [4, MB]);
        assert_eq!(cut(&[2, 64, MB], &[256 * MB, 4 * MB, 4], 4), [1, 4, MB]);
        // A number of pieces that divides the length, if one is near.
        assert_eq!(cut(&[9, 4 * MB], &[16 * MB, 4], 4), [1, 4 * MB]);
        assert_eq!(cut(&[15, MB], &[4 * MB, 4], 4), [3, MB]);
        assert_eq!(cut(&[1_000_003, 20], &[80, 4], 4), [1_000_003, 20]);
        // A prime number of rows, each of a quarter of the largest chunk; rows of an eighth and less are too small.
        assert_eq!(cut(&[10_957, 1_037_500], &[4_150_000, 4], 4), [1, 1_037_500]);
        assert_eq!(cut(&[10_957, 400_000], &[1_600_000, 4], 4), [10_957, 400_000]);
        // Records: one step each, however small.
        assert_eq!(cut(&[7, 3], &[100, 4], 4), [1, 3]);
        assert_eq!(cut(&[1, 3], &[100, 4], 4), [1, 3]);
        assert_eq!(cut(&[0, 3], &[100, 4], 4), [1, 3]);
        assert_eq!(cut(&[], &[], 4), [] as [u64; 0]);
    }
}
