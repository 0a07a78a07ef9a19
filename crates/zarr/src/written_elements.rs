//! Writing elements one by one: text and bytes.
//!
//! Chunks that were changed stay in memory until they are flushed, since a chunk is encoded whole. They are flushed early when they take
//! much memory.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use ferrocdf_array::{ChunkObjects, Selection};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_codec::Codecs;
use ferrocdf_store::Store;

use crate::codecs::ElementForm;
use crate::data_type::DataType;
use crate::elements::{Chunk, Elements, bytes_of};
use crate::metadata::ArrayMetadata;
use crate::written_chunks::WriteOptions;

/// Bytes of changed chunks in memory above which they are flushed.
const MAX_CHANGED: usize = 64 << 20;

/// Chunks that are encoded and put together.
const TOGETHER: usize = 64;

/// The elements of one array that is written, each a number of bytes.
pub struct WrittenElements {
    /// Reads the chunks that are stored.
    elements: Elements,
    store: Arc<dyn Store>,
    /// The value of elements that were never written.
    fill: Box<[u8]>,
    options: WriteOptions,
    /// Chunks that were changed since they were stored, by their coordinates.
    changed: BTreeMap<Vec<u64>, Vec<Box<[u8]>>>,
    changed_bytes: usize,
    /// Chunks of a new array that are stored.
    stored: HashSet<Vec<u64>>,
}

impl ArrayMetadata {
    /// Returns the elements of an array, to be written: text, or bytes of any number. `fill` is the value of elements that were never
    /// written.
    ///
    /// # Errors
    /// Those of the codecs; `NC_EPERM` for arrays in shards and for JSON values, which are only read.
    pub fn elements_to_write(
        &self,
        store: Arc<dyn Store>,
        path: &str,
        codecs: &Codecs,
        fill: &[u8],
        options: WriteOptions,
    ) -> Result<WrittenElements> {
        let pipeline = self.pipeline.as_ref().map_err(Clone::clone)?;
        let has_form =
            pipeline.elements.is_some() || matches!(self.element.data_type, DataType::FixedBytes(_));
        if !pipeline.shards.is_empty() || pipeline.elements == Some(ElementForm::Json) || !has_form {
            let what = "text in shards or of 4 bytes a character, and JSON values, are only read";
            return Err(Error::new(Code::EPERM, what));
        }
        // The array may become longer: no chunk is beyond it.
        let without_end = ArrayMetadata { shape: vec![i64::MAX as u64; self.shape.len()], ..self.clone() };
        let elements = without_end.elements(store.clone(), path, codecs)?;
        elements.chain.check_encode()?;
        Ok(WrittenElements {
            elements,
            store,
            fill: fill.into(),
            options,
            changed: BTreeMap::new(),
            changed_bytes: 0,
            stored: HashSet::new(),
        })
    }
}

impl WrittenElements {
    /// Writes the selected elements, in their order.
    ///
    /// # Errors
    /// `NC_ERANGE` for an element that is longer than the array can hold, before any is changed; those of reading the chunks that are
    /// changed, and of [`flush`](WrittenElements::flush).
    pub fn write(&mut self, sel: &Selection, values: Vec<Box<[u8]>>) -> Result<()> {
        self.check_sizes(&values)?;
        let places: Vec<_> =
            (0..values.len() as u64).map(|number| self.elements.position(sel, number)).collect();
        self.fetch(places.iter().map(|(chunk, _)| chunk))?;
        for ((chunk, at), value) in places.into_iter().zip(values) {
            if let Some(element) = self.changed.get_mut(&chunk).and_then(|elements| elements.get_mut(at)) {
                self.changed_bytes = (self.changed_bytes + value.len()).saturating_sub(element.len());
                *element = value;
            }
        }
        if self.changed_bytes > MAX_CHANGED { self.flush() } else { Ok(()) }
    }

    /// Reads the selected elements, in their order. Changed chunks are flushed before.
    ///
    /// # Errors
    /// Those of [`Elements::read`] and of [`flush`](WrittenElements::flush).
    pub fn read(&mut self, sel: &Selection) -> Result<Vec<Option<Box<[u8]>>>> {
        self.flush()?;
        self.elements.read(sel)
    }

    /// Stores all changed chunks.
    ///
    /// # Errors
    /// Those of the codecs and of the store. Chunks that could not be stored stay changed.
    pub fn flush(&mut self) -> Result<()> {
        while !self.changed.is_empty() {
            let some: Vec<Vec<u64>> = self.changed.keys().take(TOGETHER).cloned().collect();
            let mut objects = vec![];
            for chunk in &some {
                objects.push(self.encode(&self.changed[chunk])?);
            }
            let keys: Vec<String> = some.iter().map(|chunk| self.elements.index.key(chunk)).collect();
            let mut puts = vec![];
            for ((chunk, key), object) in some.iter().zip(&keys).zip(&objects) {
                match object {
                    Some(object) => puts.push((&**key, &object[..])),
                    None if self.may_be_stored(chunk) => self.store.delete(key)?,
                    None => {}
                }
            }
            let mut answers = self.store.put_many(&puts).into_iter();
            let mut failed = Ok(());
            for (chunk, object) in some.into_iter().zip(objects) {
                let done = if object.is_some() {
                    answers.next().unwrap_or_else(|| Err(no_answer())).map(drop)
                } else {
                    Ok(())
                };
                if object.is_some() && self.options.is_new {
                    self.stored.insert(chunk.clone());
                }
                match done {
                    Ok(()) => {
                        let elements = self.changed.remove(&chunk);
                        self.changed_bytes =
                            self.changed_bytes.saturating_sub(elements.as_deref().map_or(0, bytes_of));
                        self.elements.keep(&chunk, elements.filter(|_| object.is_some()).map(Arc::new));
                    }
                    Err(error) => failed = Err(error),
                }
            }
            failed?;
        }
        self.changed_bytes = 0;
        Ok(())
    }

    /// Gives a new array of bytes of a fixed number room for longer elements. Returns false if chunks are stored already, which have
    /// the size that it had.
    pub fn widen(&mut self, size: usize) -> bool {
        match self.elements.form {
            ElementForm::Fixed(_) if self.options.is_new && self.stored.is_empty() => {
                self.elements.form = ElementForm::Fixed(size);
                true
            }
            _ => false,
        }
    }

    fn check_sizes(&self, values: &[Box<[u8]>]) -> Result<()> {
        let ElementForm::Fixed(size) = self.elements.form else { return Ok(()) };
        match values.iter().map(|value| value.len()).max() {
            Some(longest) if longest > size => {
                let what = format!("an element of {longest} bytes, and the array has {size} for each");
                Err(Error::new(Code::ERANGE, what))
            }
            _ => Ok(()),
        }
    }

    fn may_be_stored(&self, chunk: &[u64]) -> bool {
        !self.options.is_new || self.stored.contains(chunk)
    }

    /// Makes chunks changed ones: as they are stored, or of the fill value.
    fn fetch<'c>(&mut self, chunks: impl Iterator<Item = &'c Vec<u64>>) -> Result<()> {
        let wanted: HashSet<&Vec<u64>> = chunks.filter(|chunk| !self.changed.contains_key(*chunk)).collect();
        let stored = wanted.iter().filter(|chunk| self.may_be_stored(chunk));
        let mut found: HashMap<Vec<u64>, Chunk> = stored.map(|chunk| ((*chunk).clone(), None)).collect();
        self.elements.fetch(&mut found)?;
        let count = self.elements.chunk_shape.iter().product::<u64>() as usize;
        for chunk in wanted {
            let elements = match found.remove(chunk).flatten() {
                Some(elements) => Arc::unwrap_or_clone(elements),
                None => vec![self.fill.clone(); count],
            };
            self.changed_bytes += bytes_of(&elements);
            self.changed.insert(chunk.clone(), elements);
        }
        Ok(())
    }

    /// Encodes a chunk; `None` if it holds nothing but the fill value.
    fn encode(&self, elements: &[Box<[u8]>]) -> Result<Option<Vec<u8>>> {
        if !self.options.keeps_empty && elements.iter().all(|element| *element == self.fill) {
            return Ok(None);
        }
        let mut bytes = vec![];
        match self.elements.form {
            ElementForm::Fixed(size) => {
                for element in elements {
                    let end = bytes.len() + size;
                    bytes.extend_from_slice(element);
                    bytes.resize(end, 0);
                }
            }
            ElementForm::WithSizes | ElementForm::Json => {
                let number = |len: usize| u32::try_from(len).map(u32::to_le_bytes).map_err(|_| too_long(len));
                bytes.extend_from_slice(&number(elements.len())?);
                for element in elements {
                    bytes.extend_from_slice(&number(element.len())?);
                    bytes.extend_from_slice(element);
                }
            }
        }
        let mut encoded = vec![];
        self.elements.chain.encode(&bytes, &mut encoded)?;
        Ok(Some(encoded))
    }
}

fn too_long(len: usize) -> Error {
    Error::new(Code::ERANGE, format!("{len} bytes or elements, where a chunk of text counts to 2^32"))
}

fn no_answer() -> Error {
    Error::new(Code::EINTERNAL, "fewer answers than objects that were put")
}

impl fmt::Debug for WrittenElements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WrittenElements({:?})", self.elements)
    }
}
