//! An open file: its descriptors, and what reads its objects.
#![deny(clippy::arithmetic_side_effects)]

use std::fmt;
use std::sync::Arc;

use ferrocdf_bytes::{Context, Result, ToUsize};
use ferrocdf_codec::{Chain, Codecs};
use ferrocdf_store::{Blob, InRounds, ReadRequest, read_in_rounds};

use crate::budget::{Budget, Use};
use crate::decoded::DecodedCache;
use crate::descriptors::Descriptors;
use crate::kept::KeptBlob;
use crate::pieces::{Piece, PieceBlob, Place, cut_short, stored};
use crate::wire::bad;
use crate::{Descriptor, Element, NumberType, Storage, Vdata, Vgroup, tags};

/// The first four bytes of a file.
pub const SIGNATURE: [u8; 4] = [0x0e, 0x03, 0x13, 0x01];

/// Opens a file that this one refers to, by the name that this one has for it; `None` if there is no such file.
pub type OpenNamed = Arc<dyn Fn(&str) -> Result<Option<Arc<dyn Blob>>> + Send + Sync>;

/// Maximum number of decoded bytes of an element that is read as a whole: a table or an attribute, not the data of a dataset.
const MAX_WHOLE: u64 = 128 << 20;

/// Maximum number of bytes, decoded and encoded, of a chunk, or of a compressed dataset without chunks, that the engine decodes as a whole and
/// caches. A larger one is decoded in windows.
const WHOLE: u64 = 32 << 20;

/// An open HDF4 file. Cheap to clone, and of use to many threads at once.
#[derive(Clone)]
pub struct File(Arc<OpenFile>);

struct OpenFile {
    /// The bytes, for data.
    blob: Arc<dyn Blob>,
    /// The same, for structures: in rounds where they are slow.
    metadata: Arc<dyn Blob>,
    descriptors: Descriptors,
    budget: Budget,
    open_named: Option<OpenNamed>,
    codecs: Codecs,
    /// Maximum number of bytes of a chunk, or of a compressed dataset without chunks, that is decoded as a whole.
    whole: u64,
    /// What is kept of larger ones.
    decoded: Arc<DecodedCache>,
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "File({})", self.0.blob.name())
    }
}

impl File {
    /// Opens a file. `open_named` opens the files that hold external elements; without it there are none.
    ///
    /// # Errors
    /// `NC_ENOTNC` if it is no HDF4 file, `EHDFERR` if its descriptors cannot be read.
    pub fn open(blob: Arc<dyn Blob>, open_named: Option<OpenNamed>, codecs: Codecs) -> Result<File> {
        if blob.change_token().is_some() && blob.cost().is_near() {
            // What was read ahead may be older than a change of the file.
            blob.forget();
        }
        let (descriptors, kept) = Descriptors::read(&*blob)?;
        let budget = Budget::of_size(blob.size()?);
        let metadata: Arc<dyn Blob> = match blob.cost().is_near() {
            true => blob.clone(),
            false => Arc::new(KeptBlob { blob: Arc::new(InRounds::new(blob.clone())), kept }),
        };
        let (whole, decoded) = (WHOLE, Arc::default());
        Ok(File(Arc::new(OpenFile {
            blob,
            metadata,
            descriptors,
            budget,
            open_named,
            codecs,
            whole,
            decoded,
        })))
    }

    /// Decodes chunks and datasets without chunks as a whole up to so many bytes. For tests; a file that has clones stays as it is.
    #[doc(hidden)]
    #[must_use]
    pub fn decoding_as_a_whole(self, bytes: u64) -> File {
        File(match Arc::try_unwrap(self.0) {
            Ok(parts) => Arc::new(OpenFile { whole: bytes, ..parts }),
            Err(shared) => shared,
        })
    }

    /// Returns how many bytes of a chunk, or of a dataset without chunks, are decoded as a whole at most, and what is kept of larger ones.
    pub(crate) fn decoding(&self) -> (u64, &Arc<DecodedCache>) {
        (self.0.whole, &self.0.decoded)
    }

    /// Returns the bytes of the file.
    pub fn blob(&self) -> &Arc<dyn Blob> {
        &self.0.blob
    }

    /// Returns the filters that are known.
    pub fn codecs(&self) -> &Codecs {
        &self.0.codecs
    }

    /// Returns the descriptor of an object.
    pub fn descriptor(&self, tag: u16, reference: u16) -> Option<&Descriptor> {
        self.0.descriptors.get(tag, reference)
    }

    /// Returns the descriptors of a kind of objects, in the order of their reference numbers.
    pub fn descriptors_of(&self, tag: u16) -> impl Iterator<Item = &Descriptor> {
        self.0.descriptors.of_tag(tag)
    }

    /// Returns all descriptors.
    pub fn descriptors(&self) -> impl Iterator<Item = &Descriptor> {
        self.0.descriptors.all()
    }

    /// Runs a task for each item. What the tasks read of a slow file, they wait for together; see
    /// [`read_in_rounds`](ferrocdf_store::read_in_rounds): a task may run several times, and must not keep errors of runs before
    /// the last one.
    pub fn for_each<T, R>(&self, items: &[T], task: impl FnMut(&T) -> R) -> Vec<R> {
        match self.0.blob.cost().is_near() {
            true => items.iter().map(task).collect(),
            false => read_in_rounds(items, task),
        }
    }

    /// Returns the element of an object; `None` if the file has no such object.
    pub fn element(&self, tag: u16, reference: u16) -> Result<Option<Element>> {
        let Some(descriptor) = self.descriptor(tag, reference) else { return Ok(None) };
        Element::read(self, descriptor).at(|| format!("object {tag}/{reference}")).map(Some)
    }

    /// Reads all bytes of an object, decoded; `None` if the file has no such object.
    ///
    /// # Errors
    /// `EHDFERR` for chunked elements, and for more than 128 MiB: this is for structures, not for data.
    pub fn bytes(&self, tag: u16, reference: u16) -> Result<Option<Vec<u8>>> {
        let Some(element) = self.element(tag, reference)? else { return Ok(None) };
        if self.descriptor(tag, reference).is_some_and(|found| found.is_special) {
            self.charge((Use::Whole, tag, reference), element.len)
                .at(|| format!("object {tag}/{reference}"))?;
        }
        self.bytes_of(&element).at(|| format!("object {tag}/{reference}")).map(Some)
    }

    /// Takes bytes of the budget for structures.
    pub(crate) fn charge(&self, user: (Use, u16, u16), len: u64) -> Result<()> {
        self.0.budget.charge(user, len)
    }

    /// Reads all bytes of an element, decoded.
    ///
    /// # Errors
    /// Those of [`File::bytes`].
    pub fn bytes_of(&self, element: &Element) -> Result<Vec<u8>> {
        if element.len > MAX_WHOLE {
            return Err(bad(format!("{} bytes, more than are read as a whole", element.len)));
        }
        match &element.storage {
            Storage::Pieces(pieces) => self.bytes_of_pieces(pieces),
            Storage::External { file_name, at } => {
                let blob = self.external(file_name)?;
                bytes_at(&*blob, *at, element.len)
            }
            Storage::Compressed { compression, pieces } => {
                let encoded = self.bytes_of_pieces(pieces)?;
                let chain = Chain::new(compression.steps.clone(), self.codecs());
                let len = element.len.to_usize("decoded bytes")?;
                chain.check_size(0, encoded.len(), len)?;
                let mut decoded = vec![0; len];
                chain.decode(0, &encoded, &mut decoded)?;
                Ok(decoded)
            }
            Storage::Chunked(_) => Err(bad("a chunked element where bytes are expected")),
        }
    }

    fn bytes_of_pieces(&self, pieces: &[Piece]) -> Result<Vec<u8>> {
        if let [Piece { place: Place::At(at), len }] = *pieces {
            let bytes = self.bytes_at(at, len)?;
            return match bytes.len() as u64 == len {
                true => Ok(bytes),
                false => Err(cut_short(&*self.0.metadata, at, len)),
            };
        }
        let len = pieces.iter().fold(0u64, |sum, piece| sum.saturating_add(piece.len));
        // Parts that were never written take no room in the file, and must take none in memory on the word of a header alone.
        let has = stored(pieces);
        let size = self.0.metadata.size()?;
        if len > MAX_WHOLE || has > size || len > size.saturating_mul(1024) {
            return Err(bad(format!("an element of {len} bytes in a file of {size}")));
        }
        let blob = PieceBlob::new(self.0.metadata.clone(), pieces, len, Arc::default());
        let mut bytes = vec![0; len.to_usize("bytes of an element")?];
        let got = blob.read_at(0, &mut bytes)?;
        bytes.truncate(got);
        Ok(bytes)
    }

    /// Reads bytes of the file; fewer than asked only where it ends.
    pub(crate) fn bytes_at(&self, at: u64, len: u64) -> Result<Vec<u8>> {
        bytes_at(&*self.0.metadata, at, len)
    }

    /// Reads several ranges of the file in one batch; fewer bytes than asked only where it ends.
    pub(crate) fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        self.0.metadata.read_many(requests)
    }

    /// Opens the file of an external element.
    ///
    /// # Errors
    /// `EHDFERR` if there is none.
    pub(crate) fn external(&self, file_name: &[u8]) -> Result<Arc<dyn Blob>> {
        let shown = || format!("external file \"{}\"", file_name.escape_ascii());
        let name = std::str::from_utf8(file_name).map_err(|_| bad("its name is not UTF-8")).at(shown)?;
        let found = match &self.0.open_named {
            Some(open_named) => open_named(name).at(shown)?,
            None => None,
        };
        found.ok_or_else(|| bad("it does not exist where external files are looked for")).at(shown)
    }

    /// Reads a number type.
    pub fn number_type(&self, reference: u16) -> Result<NumberType> {
        let at = self.descriptor(tags::NT, reference).and_then(|found| found.place).map_or(0, |(at, _)| at);
        let bytes = self.bytes(tags::NT, reference)?;
        NumberType::decode(
            at,
            &bytes.ok_or_else(|| bad(format!("number type {reference} is not in the file")))?,
        )
    }

    /// Reads the Vgroups, in the order of their reference numbers, with the reason for each that cannot be read.
    pub fn vgroups(&self) -> Vec<(u16, Result<Vgroup>)> {
        let references: Vec<u16> = self.descriptors_of(tags::VG).map(|found| found.reference).collect();
        let vgroups = self.for_each(&references, |&reference| self.vgroup(reference));
        references.into_iter().zip(vgroups).collect()
    }

    /// Reads a Vgroup.
    pub fn vgroup(&self, reference: u16) -> Result<Vgroup> {
        Vgroup::read(self, reference)
    }

    /// Reads the descriptions of the Vdatas, in the order of their reference numbers, with the reason for each that cannot be read.
    pub fn vdatas(&self) -> Vec<(u16, Result<Vdata>)> {
        let references: Vec<u16> = self.descriptors_of(tags::VH).map(|found| found.reference).collect();
        let vdatas = self.for_each(&references, |&reference| self.vdata(reference));
        references.into_iter().zip(vdatas).collect()
    }

    /// Reads the description of a Vdata.
    pub fn vdata(&self, reference: u16) -> Result<Vdata> {
        Vdata::read(self, reference)
    }
}

/// Largest read whose memory is taken on the word of a length in the file.
const TRUSTED: u64 = 1 << 20;

fn bytes_at(blob: &dyn Blob, at: u64, len: u64) -> Result<Vec<u8>> {
    let len = match len {
        0..=TRUSTED => len,
        _ if len > MAX_WHOLE => {
            return Err(bad(format!("{len} bytes at byte {at}: too many for a structure")));
        }
        _ => len.min(blob.size()?.saturating_sub(at)),
    };
    let mut bytes = vec![0; len.to_usize("bytes of a structure")?];
    let got = blob.read_at(at, &mut bytes)?;
    bytes.truncate(got);
    Ok(bytes)
}
