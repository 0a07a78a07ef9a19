//! Writing elements one by one: text and bytes.
//!
//! Chunks that were changed stay in memory until they are flushed, since a chunk is encoded whole. They are flushed early when they take
//! much memory.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use ferrocdf_array::{ChunkObjects, Selection};
use ferrocdf_bytes::{Code, Error, Result, ToUsize};
use ferrocdf_codec::Codecs;
use ferrocdf_store::{Expected, Store, Version};

use crate::codecs::ElementForm;
use crate::conflicts::{Resolved, is_absent, resolve};
use crate::data_type::DataType;
use crate::elements::{Chunk, DecodedChunk, Elements, bytes_of};
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
    changed: BTreeMap<Vec<u64>, ChangedChunk>,
    changed_bytes: usize,
}

/// A chunk that was changed in memory.
struct ChangedChunk {
    elements: Vec<Box<[u8]>>,
    /// Version of the object that it was read from; `None` if there was no object.
    base: Option<Version>,
    /// Which elements were written.
    written: Vec<bool>,
}

impl ChangedChunk {
    /// Returns the state that the object must be in; `None` if the chunk does not depend on what is stored.
    fn expected(&self) -> Option<Expected<'_>> {
        let is_whole = self.written.iter().all(|written| *written);
        (!is_whole).then(|| self.base.as_ref().map_or(Expected::Absent, Expected::Version))
    }
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
        let is_fixed = matches!(self.element.data_type, DataType::FixedBytes(_) | DataType::FixedText(_));
        let has_form = pipeline.elements.is_some() || is_fixed;
        if !pipeline.shards.is_empty() || pipeline.elements == Some(ElementForm::Json) || !has_form {
            let what = "text in shards, and JSON values, are only read";
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
        })
    }
}

impl WrittenElements {
    /// Writes the selected elements, in their order.
    ///
    /// # Errors
    /// `NC_EVARSIZE` for an element that is longer than the array can hold, before any is changed; those of reading the chunks that are
    /// changed, and of [`flush`](WrittenElements::flush).
    pub fn write(&mut self, sel: &Selection, values: Vec<Box<[u8]>>) -> Result<()> {
        self.check_sizes(&values)?;
        let places: Vec<_> =
            (0..values.len() as u64).map(|number| self.elements.position(sel, number)).collect();
        self.fetch(places.iter().map(|(chunk, _)| chunk))?;
        for ((chunk, at), value) in places.into_iter().zip(values) {
            let Some(changed) = self.changed.get_mut(&chunk) else { continue };
            if let Some(element) = changed.elements.get_mut(at) {
                self.changed_bytes = (self.changed_bytes + value.len()).saturating_sub(element.len());
                *element = value;
                changed.written[at] = true;
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
    /// Those of the codecs and of the store. Chunks that could not be stored stay changed, but for those that are refused since another
    /// writer has changed them.
    pub fn flush(&mut self) -> Result<()> {
        let all: Vec<Vec<u64>> = self.changed.keys().cloned().collect();
        // One chunk that cannot be stored keeps no other from being stored.
        let mut done = Ok(());
        for some in all.chunks(TOGETHER) {
            done = done.and(self.flush_some(some));
        }
        done
    }

    /// Stores some changed chunks. Returns the first error, after all were tried.
    fn flush_some(&mut self, some: &[Vec<u64>]) -> Result<()> {
        let (mut puts, mut settled, mut failed) = (vec![], vec![], Ok(()));
        for chunk in some {
            let (changed, key) = (&self.changed[chunk], self.elements.index.key(chunk));
            let expected = changed.expected().filter(|_| self.options.is_shared);
            let is_done = match (self.is_empty(&changed.elements), expected) {
                (false, _) => Ok(false),
                (true, None) => self.options.leave_out(chunk, || self.store.delete(&key)).map(|()| true),
                // One that was stored is not deleted, since that could not be made to depend on what another writer puts into it.
                (true, Some(expected)) => Ok(expected == Expected::Absent && is_absent(&*self.store, &key)?),
            };
            match is_done
                .and_then(|is_done| if is_done { Ok(None) } else { self.encode(&changed.elements).map(Some) })
            {
                Ok(None) => settled.push((chunk, None)),
                Ok(Some(object)) => {
                    self.options.begin_put(chunk);
                    puts.push((chunk, key, object, expected));
                }
                Err(error) => failed = failed.and(Err(error)),
            }
        }
        let objects: Vec<_> =
            puts.iter().map(|(_, key, object, expected)| (&**key, &object[..], *expected)).collect();
        for ((chunk, _, object, _), put) in puts.iter().zip(self.put_all(&objects)) {
            let resolved = match put {
                Ok(Some(version)) => {
                    self.options.end_put(chunk);
                    settled.push((*chunk, Some(version)));
                    continue;
                }
                Ok(None) => self.resolve(chunk, object),
                Err(error) => Err(error),
            };
            match resolved {
                Ok(Resolved::Stored) => settled.push((*chunk, None)),
                Ok(Resolved::Refused(error)) => {
                    settled.push((*chunk, None));
                    failed = failed.and(Err(error));
                }
                Err(error) => failed = failed.and(Err(error)),
            }
        }
        for (chunk, version) in settled {
            let Some(ChangedChunk { elements, .. }) = self.changed.remove(chunk) else { continue };
            self.changed_bytes = self.changed_bytes.saturating_sub(bytes_of(&elements));
            match version {
                // What is in the store may soon be of another writer: the chunk is read again.
                _ if self.options.is_shared => self.elements.forget(chunk),
                Some(version) => {
                    self.elements.keep(chunk, Some(Arc::new(DecodedChunk { elements, version })));
                }
                None => self.elements.keep(chunk, None),
            }
        }
        if self.changed.is_empty() {
            self.changed_bytes = 0;
        }
        failed
    }

    /// Puts chunks, some of them if their object is in the expected state; `None` for those of which it is not.
    fn put_all(&self, chunks: &[(&str, &[u8], Option<Expected<'_>>)]) -> Vec<Result<Option<Version>>> {
        let (mut whole, mut parts) = (vec![], vec![]);
        for &(key, bytes, expected) in chunks {
            match expected {
                None => whole.push((key, bytes)),
                Some(expected) => parts.push((key, bytes, expected)),
            }
        }
        let mut whole = self.store.put_many(&whole).into_iter().map(|put| put.map(Some));
        let mut parts = self.store.put_many_if(&parts).into_iter();
        let mut answer = |expected: Option<Expected<'_>>| match expected {
            None => whole.next(),
            Some(_) => parts.next(),
        };
        chunks.iter().map(|chunk| answer(chunk.2).unwrap_or_else(|| Err(no_answer()))).collect()
    }

    /// Stores a changed chunk whose object another writer has changed.
    #[cold]
    fn resolve(&self, chunk: &[u64], object: &[u8]) -> Result<Resolved> {
        let (key, changed) = (self.elements.index.key(chunk), &self.changed[chunk]);
        let merge = |found: Option<&[u8]>| {
            let mut elements = match found {
                Some(found) => self.elements.decode(found)?,
                None => vec![self.fill.clone(); changed.elements.len()],
            };
            let written = elements.iter_mut().zip(&changed.elements).zip(&changed.written);
            written.filter(|(_, written)| **written).for_each(|((to, from), _)| to.clone_from(from));
            self.encode(&elements)
        };
        resolve(&*self.store, &key, object, self.options.conflicts, merge)
    }

    /// Gives a new array of bytes of a fixed number room for longer elements. Returns false if chunks are stored already, which have
    /// the size that it had.
    pub fn widen(&mut self, size: usize) -> bool {
        match self.elements.form {
            ElementForm::Fixed(_) if self.options.stored.as_ref().is_some_and(|stored| stored.is_empty()) => {
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
                Err(Error::new(Code::EVARSIZE, what))
            }
            _ => Ok(()),
        }
    }

    /// Makes chunks changed ones: as they are stored, or of the fill value.
    fn fetch<'c>(&mut self, chunks: impl Iterator<Item = &'c Vec<u64>>) -> Result<()> {
        let wanted: HashSet<&Vec<u64>> = chunks.filter(|chunk| !self.changed.contains_key(*chunk)).collect();
        let stored = wanted.iter().filter(|chunk| self.options.may_be_stored(chunk));
        let mut found: HashMap<Vec<u64>, Chunk> = stored.map(|chunk| ((*chunk).clone(), None)).collect();
        self.elements.fetch(&mut found)?;
        let count = self.elements.chunk_shape.iter().product::<u64>().to_usize("elements of a chunk")?;
        for chunk in wanted {
            let (elements, base) = match found.remove(chunk).flatten() {
                Some(chunk) => {
                    let DecodedChunk { elements, version } = Arc::unwrap_or_clone(chunk);
                    (elements, Some(version))
                }
                None => (vec![self.fill.clone(); count], None),
            };
            self.changed_bytes += bytes_of(&elements);
            let written = vec![false; elements.len()];
            self.changed.insert(chunk.clone(), ChangedChunk { elements, base, written });
        }
        Ok(())
    }

    /// True if a chunk holds nothing but the fill value, and such chunks are not stored.
    fn is_empty(&self, elements: &[Box<[u8]>]) -> bool {
        !self.options.keeps_empty && elements.iter().all(|element| *element == self.fill)
    }

    /// Encodes a chunk.
    fn encode(&self, elements: &[Box<[u8]>]) -> Result<Vec<u8>> {
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
        Ok(encoded)
    }
}

fn too_long(len: usize) -> Error {
    Error::new(Code::EVARSIZE, format!("{len} bytes or elements, where a chunk of text counts to 2^32"))
}

fn no_answer() -> Error {
    Error::new(Code::EINTERNAL, "fewer answers than objects that were put")
}

impl fmt::Debug for WrittenElements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WrittenElements({:?})", self.elements)
    }
}
