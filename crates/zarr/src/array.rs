//! From the metadata of an array to the array of the engine.

use std::sync::Arc;

use ferrocdf_array::{Array, Chunks, ElementDecoder, Kind, Layout, PastEnd, Stored};
use ferrocdf_bytes::{Order, Result, ToUsize};
use ferrocdf_codec::{
    ArrayInfo, Chain, ChunkInfo, Codecs, DatasetInfo, ElementType, FilterId, NumberKind, NumberType, Step,
};
use ferrocdf_store::{ByteRange, Store};
use half::f16;

use crate::data_type::{DataType, Element, FillValue};
use crate::metadata::{ArrayMetadata, within};
use crate::shards::StoredChunks;
use crate::whole_objects::WholeObjects;

/// The objects that hold the chunks of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredObjects {
    /// Objects of an array of which all chunks are stored.
    pub all: u64,
    /// Objects that there are.
    pub stored: u64,
    /// Bytes of those.
    pub bytes: u64,
}

impl Element {
    /// Returns how the engine sees elements that are numbers; `None` for all others.
    pub fn stored(&self) -> Option<Stored> {
        let kind = match &self.data_type {
            DataType::Bool => Kind::U8,
            DataType::Integer { size, signed } => match (size, signed) {
                (1, true) => Kind::I8,
                (1, false) => Kind::U8,
                (2, true) => Kind::I16,
                (2, false) => Kind::U16,
                (4, true) => Kind::I32,
                (4, false) => Kind::U32,
                (_, true) => Kind::I64,
                (_, false) => Kind::U64,
            },
            DataType::Float(8) => Kind::F64,
            DataType::Float(_) => Kind::F32,
            DataType::DateTime(_) | DataType::TimeDelta(_) => Kind::I64,
            _ => return None,
        };
        Some(Stored { kind, order: self.order })
    }
}

impl Element {
    /// Returns the type of the numbers that an element consists of, as filters see it; `None` if it does not consist of numbers.
    fn number(&self) -> Option<NumberType> {
        let (kind, size) = match &self.data_type {
            DataType::Bool => (NumberKind::Bool, 1),
            DataType::Integer { size, signed: true } => (NumberKind::Signed, *size),
            DataType::Integer { size, signed: false } => (NumberKind::Unsigned, *size),
            DataType::Float(size) | DataType::Complex(size) => (NumberKind::Float, *size),
            DataType::DateTime(_) | DataType::TimeDelta(_) => (NumberKind::Signed, 8),
            _ => return None,
        };
        Some(NumberType { kind, size: size.into(), is_big: self.order == Order::Big })
    }

    /// Returns the type of an element as HDF5 describes it to filters. An element without a fixed size is described as one byte of text.
    pub fn for_filters(&self) -> ElementType {
        // Class numbers of the datatype message (HDF5 format specification, section IV.A.2.d).
        const INTEGER: u8 = 0;
        const FLOAT: u8 = 1;
        const STRING: u8 = 3;
        const OPAQUE: u8 = 5;
        const COMPOUND: u8 = 6;
        let class = match &self.data_type {
            DataType::Complex(_) | DataType::Struct(_) => COMPOUND,
            DataType::FixedBytes(_) | DataType::String => STRING,
            _ => match self.number().map(|number| number.kind) {
                Some(NumberKind::Float) => FLOAT,
                Some(_) => INTEGER,
                None => OPAQUE,
            },
        };
        let size = self.data_type.size().map_or(1, |size| u32::try_from(size).unwrap_or(u32::MAX));
        let is_signed =
            self.number().is_some_and(|number| matches!(number.kind, NumberKind::Signed | NumberKind::Float));
        ElementType {
            class,
            size,
            big_endian: self.order == Order::Big && self.number().is_some(),
            signed: is_signed,
            precision: size.saturating_mul(8),
            offset: 0,
            base: None,
        }
    }
}

impl ArrayMetadata {
    /// True if chunks lie in shards.
    pub fn is_sharded(&self) -> bool {
        self.pipeline.as_ref().is_ok_and(|pipeline| !pipeline.shards.is_empty())
    }

    /// Returns the shape of the innermost chunks: those that are decoded as a whole.
    pub fn inner_chunk_shape(&self) -> &[u64] {
        let pipeline = self.pipeline.as_ref().ok();
        pipeline
            .and_then(|pipeline| pipeline.shards.last())
            .map_or(&self.chunk_shape, |shards| &shards.chunk_shape)
    }

    /// Returns the array that lies at a path of a store. Elements that are no numbers are bytes: one more, fastest dimension.
    ///
    /// # Errors
    /// Those of the codecs. Elements without a fixed size have no array.
    pub fn array(&self, store: Arc<dyn Store>, path: &str, codecs: &Codecs) -> Result<Array> {
        if !self.blocks.is_empty() {
            return self.array_of_blocks(|block| block.array(store.clone(), path, codecs));
        }
        let chunks = self.chunks(store, path, codecs)?;
        Ok(engine_array(&self.element, self.shape.clone(), chunks))
    }

    /// Returns the metadata of an array of 16-bit floats as one of 32-bit floats, and the filter that makes the first of the second; `None`
    /// for other arrays.
    pub(crate) fn with_wide_floats(&self) -> Option<(ArrayMetadata, Step)> {
        if self.element.data_type != DataType::Float(2) {
            return None;
        }
        let Element { order, .. } = self.element;
        let number = |size| NumberType { kind: NumberKind::Float, size, is_big: order == Order::Big };
        let element = Element { data_type: DataType::Float(4), order };
        let mut wide = ArrayMetadata { element, ..self.clone() };
        if let FillValue::Bytes(fill) = &self.fill_value {
            let mut bytes = [0; 4];
            Half(order).convert(fill, &mut bytes);
            let number = f32::from_ne_bytes(bytes);
            wide.fill_value = FillValue::Bytes(match order {
                Order::Little => number.to_le_bytes().to_vec(),
                Order::Big => number.to_be_bytes().to_vec(),
            });
        }
        let params = [number(4), number(2)].map(NumberType::param).to_vec();
        Some((wide, Step { id: FilterId::named("astype"), name: String::new(), optional: false, params }))
    }

    /// Returns the metadata of an array whose elements, of a fixed size, are taken as bytes.
    #[must_use]
    pub fn with_bytes(&self) -> ArrayMetadata {
        let mut metadata = self.clone();
        for block in &mut metadata.blocks {
            block.metadata = block.metadata.with_bytes();
        }
        if let Some(size) = self.element.data_type.size() {
            metadata.element.data_type = DataType::Raw(size);
        }
        metadata
    }

    /// Returns the chunks that lie at a path of a store.
    ///
    /// # Errors
    /// Those of the codecs.
    fn chunks(&self, store: Arc<dyn Store>, path: &str, codecs: &Codecs) -> Result<Chunks> {
        let index = self.chunk_index(store, path, codecs)?;
        let fill = match &self.fill_value {
            FillValue::Bytes(bytes) => bytes.clone(),
            FillValue::Undefined | FillValue::Value(_) => vec![],
        };
        let chain = Arc::new(self.chain(path, codecs)?);
        Ok(Chunks::new(self.inner_chunk_shape().to_vec(), Arc::new(index), chain, fill))
    }

    /// Returns how many objects hold chunks, how many there would be if all were stored, and the bytes of those that are; `None` if there
    /// are too many to look at each of them.
    ///
    /// # Errors
    /// Those of the store.
    pub fn stored(&self, store: &dyn Store, path: &str) -> Result<Option<StoredObjects>> {
        const MAX: u64 = 1 << 20;
        let chunks_of = |array: &ArrayMetadata| {
            let grid = array.shape.iter().zip(&array.chunk_shape).map(|(len, chunk)| len.div_ceil(*chunk));
            grid.fold(1u64, |all, count| all.saturating_mul(count))
        };
        if !self.blocks.is_empty() {
            let chunks = self.blocks.iter().map(|block| chunks_of(&block.metadata));
            if chunks.fold(0u64, u64::saturating_add) > MAX {
                return Ok(None);
            }
            let mut all = StoredObjects { all: 0, stored: 0, bytes: 0 };
            for block in &self.blocks {
                let Some(found) = block.metadata.stored(store, path)? else { return Ok(None) };
                all.all += found.all;
                all.stored += found.stored;
                all.bytes = all.bytes.saturating_add(found.bytes);
            }
            return Ok(Some(all));
        }
        let grid: Vec<u64> =
            self.shape.iter().zip(&self.chunk_shape).map(|(len, chunk)| len.div_ceil(*chunk)).collect();
        let all = grid.iter().try_fold(1u64, |all, &count| all.checked_mul(count)).filter(|&all| all <= MAX);
        let Some(all) = all else { return Ok(None) };
        let mut found = StoredObjects { all, stored: 0, bytes: 0 };
        let mut chunk = vec![0; grid.len()];
        for number in 0..all {
            let mut rest = number;
            for dim in (0..grid.len()).rev() {
                (chunk[dim], rest) = (rest % grid[dim], rest / grid[dim]);
            }
            let key = within(path, &self.keys.key(&chunk));
            if let Some(object) = store.get(&key, ByteRange::Suffix(1))? {
                (found.stored, found.bytes) = (found.stored + 1, found.bytes.saturating_add(object.total));
            }
        }
        Ok(Some(found))
    }

    /// Returns the index of the innermost chunks.
    pub(crate) fn chunk_index(
        &self,
        store: Arc<dyn Store>,
        path: &str,
        codecs: &Codecs,
    ) -> Result<StoredChunks> {
        let pipeline = self.pipeline.as_ref().map_err(Clone::clone)?;
        let chunk = self.inner_chunk_shape();
        let grid = self.shape.iter().zip(chunk).map(|(len, chunk)| len.div_ceil(*chunk)).collect();
        let store = match pipeline.object_steps.is_empty() {
            true => store,
            false => Arc::new(WholeObjects::new(store, Chain::new(pipeline.object_steps.clone(), codecs))),
        };
        StoredChunks::new((store, path.to_string()), self.keys.clone(), grid, &pipeline.shards, codecs)
    }

    /// Returns the filters of a chunk of the array at a path, with the parameters that they derive from the array.
    ///
    /// # Errors
    /// Those of the codecs.
    pub(crate) fn steps(&self, path: &str, codecs: &Codecs) -> Result<Vec<Step>> {
        let mut steps = self.pipeline.as_ref().map_err(Clone::clone)?.steps.clone();
        let array = ArrayInfo {
            name: path.rsplit('/').next().unwrap_or_default(),
            shape: &self.shape,
            dataset: DatasetInfo {
                element: self.element.for_filters(),
                chunk: self.inner_chunk_shape().to_vec(),
            },
        };
        for step in &mut steps {
            codecs.derive_for_array(step, &array)?;
        }
        Ok(steps)
    }

    /// Returns the chain of the filters of a chunk of the array at a path.
    pub(crate) fn chain(&self, path: &str, codecs: &Codecs) -> Result<Chain> {
        self.chain_of(self.steps(path, codecs)?, codecs)
    }

    /// Returns the chain of these filters for chunks of the array.
    pub(crate) fn chain_of(&self, steps: Vec<Step>, codecs: &Codecs) -> Result<Chain> {
        let shape = self.inner_chunk_shape().iter().map(|&len| len.saturate());
        Ok(match self.element.data_type.size() {
            Some(element_size) => {
                let chunk = ChunkInfo { element_size, number: self.element.number(), shape: shape.collect() };
                Chain::for_chunks(steps, chunk, codecs)
            }
            None => Chain::new(steps, codecs),
        })
    }
}

/// Returns the array of the engine with these chunks. Elements that are no numbers are bytes: one more, fastest dimension.
pub(crate) fn engine_array(element: &Element, shape: Vec<u64>, chunks: Chunks) -> Array {
    let (decoder, stored) = match (&element.data_type, element.stored()) {
        (DataType::Float(2), _) => {
            let decoder: Arc<dyn ElementDecoder> = Arc::new(Half(element.order));
            (Some(decoder), Stored::native(Kind::F32))
        }
        (_, Some(stored)) => (None, stored),
        (data_type, None) => {
            let size = data_type.size().unwrap_or(1) as u64;
            let shape = shape.into_iter().chain([size]).collect();
            let layout = Layout::Chunked(chunks.as_bytes(size));
            let stored = Stored::native(Kind::U8);
            return Array { shape, stored, decoder: None, layout, past_end: PastEnd::Error };
        }
    };
    Array { shape, stored, decoder, layout: Layout::Chunked(chunks), past_end: PastEnd::Error }
}

/// Numbers of 16 bits (IEEE 754 binary16), which the engine sees as numbers of 32 bits.
#[derive(Debug)]
struct Half(Order);

impl ElementDecoder for Half {
    fn size(&self) -> usize {
        2
    }

    fn convert(&self, stored: &[u8], elements: &mut [u8]) {
        for (from, to) in stored.as_chunks::<2>().0.iter().zip(elements.as_chunks_mut::<4>().0) {
            let number = match self.0 {
                Order::Little => f16::from_le_bytes(*from),
                Order::Big => f16::from_be_bytes(*from),
            };
            *to = number.to_f32().to_ne_bytes();
        }
    }
}
