//! The data of a variable as an array of the engine.
//!
//! One piece of the file is contiguous; several pieces, another file and data shorter than the dimensions are a blob of pieces; chunks have their index; compressed data without chunks is that of [`compressed`](super::compressed).
#![deny(clippy::arithmetic_side_effects)]

use std::sync::Arc;

use ferrocdf_array::{Array, Chunks, Kind, Layout, PastEnd};
use ferrocdf_bytes::{Code, Context, Error, Order, Result};
use ferrocdf_codec::{Chain, Step};
use ferrocdf_store::Blob;

use super::rasters::linear;
use super::short::{Lens, ShortBlob};
use super::{Data, Var};
use crate::chunks::{ChunkedElement, Index};
use crate::pieces::{Piece, PieceBlob, Place, prefix, stored};
use crate::wire::bad;
use crate::{Element, File, NumberType, Storage, tags};

/// The array of a variable, and the bytes that it lies in.
#[derive(Clone)]
pub struct Located {
    /// Shape, element type and layout.
    pub array: Array,
    /// The bytes that the layout is about, if they are not those of the file.
    pub blob: Option<Arc<dyn Blob>>,
}

/// The size of the data of a variable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredSize {
    /// Bytes as they are stored.
    pub bytes: u64,
    /// The numbers of chunks, all and stored ones, and the bytes of a decoded chunk; `None` if there are none.
    pub chunks: Option<(u64, u64, u64)>,
}

/// How the data of a variable is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrangement {
    /// The shape of a chunk; `None` if there are none.
    pub chunk: Option<Vec<u64>>,
    /// The filter of compressed data.
    pub steps: Vec<Step>,
    /// True if the file compresses the data as a whole and has no chunks; it is one chunk then.
    pub is_one_piece: bool,
    /// The file that holds the data, if it is another one.
    pub external: Option<Vec<u8>>,
}

impl Var {
    /// Returns the array of the variable with the lengths `shape`, which may be longer than its own along a dimension that grows; the
    /// records that it lacks have the fill value.
    ///
    /// # Errors
    /// `EHDFERR` if its data cannot be read as it says.
    pub fn locate(&self, file: &File, shape: Vec<u64>) -> Result<Located> {
        let own = self.shape.iter().fold(self.number.size() as u64, |bytes, &len| bytes.saturating_mul(len));
        let var = Var { shape, ..self.clone() };
        var.located(file, own).at(|| format!("dataset \"{}\"", self.name.escape_ascii()))
    }

    /// Returns the array; `own` has the bytes that the variable has by its own dimensions.
    fn located(&self, file: &File, own: u64) -> Result<Located> {
        let size = self.number.size() as u64;
        let total =
            self.shape.iter().try_fold(size, |bytes, &len| bytes.checked_mul(len)).ok_or_else(|| {
                Error::new(Code::EVARSIZE, format!("shape {:?} reaches beyond byte 2^64", self.shape))
            })?;
        let Some(element) = self.element(file)? else { return Ok(self.unwritten()) };
        let lens = Lens { stored: element.len, dataset: own, array: total };
        match &element.storage {
            Storage::Chunked(chunked) if self.has_linear_chunks(chunked) => {
                linear::locate(self, file, chunked)
            }
            Storage::Chunked(chunked) => self.chunked(file, chunked),
            Storage::Compressed { compression, pieces } => {
                self.compressed(file, lens, &compression.steps, pieces)
            }
            // As in the library, data of no bytes was never written.
            Storage::Pieces(pieces) => match pieces[..] {
                _ if element.len == 0 => Ok(self.unwritten()),
                [Piece { place: Place::At(at), len }] if len >= total && own == total => {
                    self.contiguous(at, None)
                }
                _ => self.in_pieces(file.blob().clone(), pieces, lens),
            },
            Storage::External { file_name, at } => {
                let blob = file.external(file_name)?;
                let size = blob.size()?;
                if size.saturating_sub(*at) < element.len {
                    let name = file_name.escape_ascii();
                    let len = element.len;
                    return Err(bad(format!(
                        "{len} bytes from byte {at} of the file \"{name}\", which has {size} bytes"
                    )));
                }
                self.in_pieces(blob, &[Piece::at(*at, element.len)], lens)
            }
        }
    }

    /// Returns the element with the data; `None` if the description of the variable names none: nothing was written then.
    ///
    /// # Errors
    /// `EHDFERR` if it names one that the file does not have.
    fn element(&self, file: &File) -> Result<Option<Element>> {
        // All that it takes is one task, so a slow source is waited for as often as the element has levels.
        let read = |tag, reference| {
            let task = |&(tag, reference): &(u16, u16)| file.element(tag, reference);
            file.for_each(&[(tag, reference)], task).pop().unwrap_or(Ok(None))
        };
        let stored = |tag, reference| {
            let missing = || bad(format!("its data, object {tag}/{reference}, is not in the file"));
            read(tag, reference)?.ok_or_else(missing)
        };
        match self.data {
            Data::Unwritten => Ok(None),
            Data::Object(tag, reference) => stored(tag, reference).map(Some),
            // The library names the pixels of a raster before it writes them.
            Data::Raster((tag, reference), coder) => {
                read(tag, reference)?.map(|element| coder.element(element, self)).transpose()
            }
            Data::Scale(reference, offset) => {
                let mut element = stored(tags::SDS, reference)?;
                let Storage::Pieces(pieces) = &mut element.storage else {
                    return Err(bad("scales that are neither contiguous nor linked blocks"));
                };
                let mut skip = offset;
                pieces.retain_mut(|piece| {
                    let cut = skip.min(piece.len);
                    skip = skip.saturating_sub(cut);
                    if let Place::At(at) = &mut piece.place {
                        *at = at.saturating_add(cut);
                    }
                    piece.len = piece.len.saturating_sub(cut);
                    piece.len > 0
                });
                element.len = element.len.saturating_sub(offset);
                Ok(Some(element))
            }
        }
    }

    pub(super) fn array(&self, layout: Layout) -> Array {
        let (shape, stored) = (self.shape.clone(), self.number.stored);
        Array { shape, stored, decoder: None, layout, past_end: PastEnd::Error }
    }

    pub(super) fn unwritten(&self) -> Located {
        Located { array: self.array(Layout::Fill(self.fill().into())), blob: None }
    }

    pub(super) fn contiguous(&self, begin: u64, blob: Option<Arc<dyn Blob>>) -> Result<Located> {
        let array = Array::contiguous(self.shape.clone(), self.number.stored, begin)?;
        Ok(Located { array: Array { past_end: PastEnd::Error, ..array }, blob })
    }

    /// Returns the array of bytes in pieces of a blob. Bytes behind the dataset's own are no part of it: a record of which only the
    /// beginning is stored does not count.
    pub(super) fn in_pieces(&self, blob: Arc<dyn Blob>, pieces: &[Piece], lens: Lens) -> Result<Located> {
        let own = prefix(pieces, lens.dataset);
        let blob = PieceBlob::new(blob, &own, lens.array, self.fill().into());
        let blob: Arc<dyn Blob> = match lens.stored < lens.dataset {
            true => Arc::new(ShortBlob::new(blob, lens, self)),
            false => Arc::new(blob),
        };
        self.contiguous(0, Some(blob))
    }

    /// Returns the bytes of an element that was never written as they are stored: of chunks what their header says, which need not be
    /// what the attribute `_FillValue` says.
    ///
    /// # Errors
    /// `EHDFERR` if the header of the data cannot be read.
    pub fn unwritten_fill(&self, file: &File) -> Result<Vec<u8>> {
        Ok(match self.element(file)?.map(|element| element.storage) {
            Some(Storage::Chunked(chunked)) => self.chunk_fill(&chunked),
            _ => self.fill(),
        })
    }

    fn chunk_fill(&self, chunked: &ChunkedElement) -> Vec<u8> {
        let len = chunked.fill.len();
        if len == self.number.size() || len == self.pixel_size() { chunked.fill.clone() } else { self.fill() }
    }

    /// True for rasters whose chunks are no rectangles.
    fn has_linear_chunks(&self, chunked: &ChunkedElement) -> bool {
        matches!(self.data, Data::Raster(..)) && !linear::has_rectangles(chunked, &self.shape)
    }

    pub(super) fn chunked(&self, file: &File, chunked: &ChunkedElement) -> Result<Located> {
        if chunked.chunk.len() != self.shape.len() || chunked.number_size != self.number.size() as u64 {
            return Err(bad(format!(
                "chunks of {} dimensions and numbers of {} bytes in a dataset of {} and {}",
                chunked.chunk.len(),
                chunked.number_size,
                self.shape.len(),
                self.number.size()
            )));
        }
        // The engine wants chunks that are stored to be whole, so one that is not is refused when it is read.
        chunked.chunk_bytes().ok_or_else(|| bad("a chunk reaches beyond 2^64 bytes"))?;
        let steps = chunked.compression.as_ref().map(|compression| compression.steps.clone());
        let chain = Chain::new(steps.unwrap_or_default(), file.codecs());
        let fill = self.chunk_fill(chunked);
        let chain = Arc::new(chain);
        let index = Index::new(file, chunked, chain.clone());
        let blob = chunked.compression.is_some().then(|| index.blob());
        let chunks = Chunks::new(chunked.chunk.clone(), Arc::new(index), chain, fill);
        Ok(Located { array: self.array(Layout::Chunked(chunks)), blob })
    }

    /// Returns how the data is stored.
    pub fn arrangement(&self, file: &File) -> Result<Arrangement> {
        let none = Arrangement { chunk: None, steps: vec![], is_one_piece: false, external: None };
        Ok(match self.element(file)?.map(|element| element.storage) {
            None | Some(Storage::Pieces(_)) => none,
            Some(Storage::External { file_name, .. }) => Arrangement { external: Some(file_name), ..none },
            Some(Storage::Compressed { compression, .. }) => {
                let (chunk, steps) = (Some(self.shape.clone()), compression.steps);
                Arrangement { chunk, steps, is_one_piece: true, ..none }
            }
            Some(Storage::Chunked(chunked)) => Arrangement {
                chunk: Some(&chunked.chunk).filter(|_| !self.has_linear_chunks(&chunked)).cloned(),
                steps: chunked.compression.map(|compression| compression.steps).unwrap_or_default(),
                ..none
            },
        })
    }

    /// Returns the size of the data in the file. Reads the index of chunks.
    pub fn stored_size(&self, file: &File) -> Result<StoredSize> {
        let whole = |bytes| StoredSize { bytes, chunks: None };
        let Some(element) = self.element(file)? else { return Ok(whole(0)) };
        Ok(match &element.storage {
            Storage::Pieces(pieces) => whole(stored(pieces)),
            Storage::External { .. } => whole(element.len),
            Storage::Compressed { pieces, .. } => StoredSize {
                bytes: stored(pieces),
                chunks: Some((1, u64::from(!pieces.is_empty()), element.len)),
            },
            Storage::Chunked(chunked) => {
                let decoded = chunked.chunk_bytes().unwrap_or(u64::MAX);
                let index = Index::new(file, chunked, Arc::default());
                let (all, stored) = index.counts()?;
                StoredSize { bytes: index.stored_bytes()?, chunks: Some((all, stored, decoded)) }
            }
        })
    }
}

/// Returns the fill value of netCDF for a type, as it is stored.
pub(super) fn default_fill(number: NumberType) -> Vec<u8> {
    let mut bytes = match number.stored.kind {
        // Characters, signed or not.
        _ if number.is_text() => vec![0],
        Kind::I8 | Kind::U8 => vec![0x81],
        Kind::I16 | Kind::U16 => (-32767i16).to_be_bytes().to_vec(),
        Kind::I32 | Kind::U32 => (-2_147_483_647i32).to_be_bytes().to_vec(),
        Kind::F32 => 9.969_21e36_f32.to_be_bytes().to_vec(),
        Kind::F64 => 9.969_209_968_386_869e36_f64.to_be_bytes().to_vec(),
        _ => vec![0; number.size()],
    };
    if number.stored.order == Order::Little {
        bytes.reverse();
    }
    bytes
}
