//! Where a dataset is: a path, bytes in memory, any other blob, an object of a store, or a URL.
//!
//! What users type is read here, by one parser for the Rust API, the C library and the tools. The decision that shaped it: a
//! location is a value that names the dataset and the files around it, and opening it is another step, so that every way to
//! open a dataset goes through one table of containers.

mod kept;
#[cfg(feature = "remote")]
mod remote;
mod resolver;
mod url;
mod words;

use std::borrow::Cow;
use std::fmt;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_hdf5::Resolver;
use ferrocdf_model::{Container, DataModel, Format};
use ferrocdf_store::{
    Blob, FileBlob, Latency, MemoryBlob, MetadataViews, ObjectBlob, PageCache, PageFolder, ReadAhead,
    ReadRequest, Store, path_of,
};

use resolver::{BesideFile, BesideObject};
pub use url::Url;

use crate::elements::zeros;
use crate::zarr_options::ZarrOptions;

/// Bytes that one request asks for where a dataset is read whole.
const PIECE: usize = 8 << 20;

/// Where a dataset is.
#[derive(Clone)]
#[non_exhaustive]
pub enum Location {
    /// A file of the system.
    Path(PathBuf),
    /// Bytes in memory.
    Memory(Arc<MemoryBlob>),
    /// Bytes of another kind.
    Blob(Arc<dyn Blob>),
    /// An object of a store.
    Object {
        /// The store.
        store: Arc<dyn Store>,
        /// The name of the object.
        key: String,
    },
    /// A URL that is not one of a file: an object or a Zarr store behind HTTP, S3, Google Cloud Storage or Azure, with the feature
    /// `remote`; or that of a Zarr store in a folder, by its fragment.
    Url(Url),
}

impl Location {
    /// Returns the location that a user means by a text: a path, the file that a `file:` URL names, or another URL.
    ///
    /// ```
    /// use ferrocdf::Location;
    ///
    /// let path = |text: &str| Location::parse(text.as_bytes())?.into_path();
    /// assert_eq!(path("/d/a.nc")?.to_str(), Some("/d/a.nc"));
    /// assert_eq!(path("file:///d/a%20b.nc#mode=netcdf-4")?.to_str(), Some("/d/a b.nc"));
    /// assert!(path("https://host/a.nc").is_err());
    /// # Ok::<(), ferrocdf::Error>(())
    /// ```
    ///
    /// # Errors
    /// `NC_EINVAL` for a word of the fragment that has no meaning. Of `file:` URLs: `NC_EDAPCONSTRAINT` for a query, `NC_EDAPURL` for a path with a zero byte, `NC_ENOTBUILT` for a fragment
    /// that asks for a server.
    pub fn parse(text: &[u8]) -> Result<Location> {
        let url = Url::parse(text);
        url.as_ref().map_or(Ok(()), Url::check_words)?;
        Ok(match url {
            None => Location::Path(path_of(text)?.to_path_buf()),
            Some(url) if url.is_file() && !url.has_words_for_files() => {
                Location::Path(path_of(&url.local_path()?)?.to_path_buf())
            }
            Some(url) => Location::Url(url),
        })
    }

    /// Bytes in memory.
    pub fn bytes(bytes: Vec<u8>) -> Location {
        Location::Memory(Arc::new(MemoryBlob::new(bytes)))
    }

    /// Returns the path of a file of the system.
    ///
    /// # Errors
    /// `NC_ENOTBUILT` for all other locations.
    pub fn into_path(self) -> Result<PathBuf> {
        match self {
            Location::Path(path) => Ok(path),
            Location::Url(url) => Err(not_a_file(&url)),
            other => {
                Err(Error::new(Code::ENOTBUILT, "it is not a file of the system").at(other.name().display()))
            }
        }
    }

    /// Reads the bytes of the dataset whole.
    ///
    /// # Errors
    /// `NC_ENOMEM` if there is not enough memory; those of the file or the store.
    pub fn read_whole(&self) -> Result<Vec<u8>> {
        if let Location::Path(path) = self {
            return std::fs::read(path).map_err(|error| Error::system(error, path.display()));
        }
        let blob = self.blob(true)?;
        let size = blob.size()?;
        let mut bytes = zeros(usize::try_from(size).unwrap_or(usize::MAX))?;
        let pieces = bytes.chunks_mut(PIECE).enumerate();
        let mut requests: Vec<_> =
            pieces.map(|(number, into)| ReadRequest::new((number * PIECE) as u64, into)).collect();
        blob.read_many(&mut requests)?;
        if requests.iter().any(|request| request.len < request.into.len()) {
            let what = format!("fewer bytes than the {size} that there were");
            return Err(Error::new(Code::ETRUNC, what).at(self.name().display()));
        }
        Ok(bytes)
    }

    /// True if the bytes of the dataset have the signature of HDF5.
    ///
    /// # Errors
    /// Those of the file or the store.
    pub fn is_hdf5(&self) -> Result<bool> {
        ferrocdf_hdf5::is_hdf5(&*self.blob(false)?)
    }

    /// Writes the structures of an HDF5 file as text: superblock, object headers with their messages, indexes and heaps, with addresses,
    /// the specification's names of fields, and values.
    ///
    /// # Errors
    /// `NC_ENOTNC` for what is no HDF5 file; `NC_EHDFERR` if structures cannot be read, after all others were written, with the place of
    /// the first; those of the file or the store, and of `out`.
    pub fn write_structure(&self, out: &mut dyn Write) -> Result<()> {
        ferrocdf_hdf5::structure(self.blob(false)?, out).map_err(|error| error.at(self.name().display()))
    }

    /// Makes the bytes of a blob the content of the object at this location. Readers see the old content or the new one.
    ///
    /// # Errors
    /// `NC_EINVAL` for a location that is no object of a store, `NC_ENOTBUILT` for a URL without the feature `remote`, and those of
    /// the blob and of the store.
    pub fn put(&self, blob: &dyn Blob) -> Result<()> {
        match &*self.resolved()? {
            Location::Object { store, key } => store.put_blob(key, blob).map(drop),
            other => {
                Err(Error::new(Code::EINVAL, "it is not an object of a store").at(other.name().display()))
            }
        }
    }

    /// Returns the format and the options of a Zarr store that is made at this location; `None` if the location asks for no Zarr store.
    ///
    /// The words in the fragment of a URL come first (`#mode=nczarr`, `zarr`, `xarray`, `noxarray`, `v2`, `v3`, `zip`). Without a word on
    /// netCDF's metadata the store is NCZarr. Without a word on the version it has version 2, or version 3 if `zip` is the only word. A name
    /// that ends in `.zarr` or `.zarr.zip` makes an NCZarr store of version 3.
    pub fn zarr(&self) -> Option<(Format, ZarrOptions)> {
        self.zarr_for(Format::NETCDF4, ZarrOptions::default())
    }

    /// Returns [`Location::zarr`] for a caller that asks for a format, and for options where the name alone asks for a store: a name counts
    /// where the format is [`Format::NETCDF4`], the fragment of a URL always.
    pub(crate) fn zarr_for(&self, format: Format, options: ZarrOptions) -> Option<(Format, ZarrOptions)> {
        let of_url = match self {
            Location::Url(url) => url.zarr(),
            _ => None,
        };
        let name = self.name_without_fragment();
        let is_named = format == Format::NETCDF4
            && [".zarr", ".zarr.zip"].iter().any(|end| name.trim_end_matches('/').ends_with(end));
        let format = Format::new(Container::ZarrV3, DataModel::Netcdf4);
        of_url.or_else(|| is_named.then(|| (format, self.zarr_options(options))))
    }

    /// Returns the word of a URL's fragment that contradicts this format and these options: by another version, or by asking for a store
    /// with or without netCDF's metadata.
    pub fn zarr_word_against(&self, format: Format, options: &ZarrOptions) -> Option<&'static str> {
        match self {
            Location::Url(url) => url.zarr_word_against(format, options.nczarr),
            _ => None,
        }
    }

    /// Returns options of a Zarr store that is to be made here with what the fragment of a URL says of them: `noxarray`, `noconsolidated`,
    /// `zip`. A name that ends in `.zip` says `zip` as well.
    pub fn zarr_options(&self, options: ZarrOptions) -> ZarrOptions {
        let options = match self {
            Location::Url(url) => url.zarr_options(options),
            _ => options,
        };
        ZarrOptions { zip: options.zip || self.is_zip(), ..options }
    }

    /// True if a Zarr store that is made here is a zip file: its name ends in `.zip`, or the fragment of a URL says so (`#mode=nczarr,zip`).
    pub fn is_zip(&self) -> bool {
        let says_so = matches!(self, Location::Url(url) if url.asks_for_zip());
        says_so || self.name_without_fragment().ends_with(".zip")
    }

    fn name_without_fragment(&self) -> String {
        match self {
            Location::Url(url) => String::from_utf8_lossy(url.split_fragment().0).into_owned(),
            other => other.name().to_string_lossy().into_owned(),
        }
    }

    /// Returns the name of the dataset, for messages.
    pub(crate) fn name(&self) -> PathBuf {
        match self {
            Location::Path(path) => path.clone(),
            Location::Memory(blob) => blob.name().into(),
            Location::Blob(blob) => blob.name().into(),
            Location::Object { store, key } => format!("{}/{key}", store.name()).into(),
            Location::Url(url) => url.to_string().into(),
        }
    }

    /// Returns the object of a store that a URL names; all other locations as they are. Sends no request.
    ///
    /// # Errors
    /// `NC_EDAPURL` for a URL that is malformed or of an unknown scheme, `NC_ENOTBUILT` for one of DAP, or without the feature `remote`.
    pub fn resolved(&self) -> Result<Cow<'_, Location>> {
        match self {
            Location::Url(url) if url.is_file() => {
                Ok(Cow::Owned(Location::Path(path_of(&url.local_path()?)?.to_path_buf())))
            }
            #[cfg(feature = "remote")]
            Location::Url(url) => {
                remote::object(url).map(|(store, key)| Cow::Owned(Location::Object { store, key }))
            }
            #[cfg(not(feature = "remote"))]
            Location::Url(url) => {
                let what = "it is a URL, and this build of ferrocdf reads no remote files: it lacks the feature \"remote\"";
                Err(Error::new(Code::ENOTBUILT, what).at(url))
            }
            other => Ok(Cow::Borrowed(other)),
        }
    }

    /// Returns the bytes of the dataset. Nothing is read ahead of a file that is `shared` with writers.
    pub(crate) fn blob(&self, shared: bool) -> Result<Arc<dyn Blob>> {
        Ok(match self {
            Location::Path(path) if shared => Arc::new(FileBlob::open(path)?),
            Location::Path(path) => Arc::new(ReadAhead::new(FileBlob::open(path)?)),
            Location::Memory(blob) => blob.clone(),
            Location::Blob(blob) => by_pages(blob.clone()),
            Location::Object { store, key } => {
                by_pages_kept(Arc::new(ObjectBlob::new(store.clone(), key)), kept::folder()?)
            }
            Location::Url(_) => return self.resolved()?.blob(shared),
        })
    }

    /// Returns the bytes of the dataset, which is not shared with writers, and of a local file views that keep its metadata.
    pub(crate) fn blob_and_views(&self) -> Result<(Arc<dyn Blob>, Option<MetadataViews>)> {
        Ok(match self {
            Location::Path(path) => {
                let file = Arc::new(FileBlob::open(path)?);
                (Arc::new(ReadAhead::new(file.clone())), Some(MetadataViews::new(file)))
            }
            Location::Blob(blob) if blob.cost().latency == Latency::Local => {
                (blob.clone(), Some(MetadataViews::new(blob.clone())))
            }
            other => (other.blob(false)?, None),
        })
    }

    /// Returns what opens the files that the dataset refers to; `None` if no files are around it.
    pub(crate) fn resolver(&self) -> Option<Arc<dyn Resolver>> {
        match self {
            Location::Path(path) => Some(Arc::new(BesideFile::new(path))),
            Location::Object { store, key } => Some(Arc::new(BesideObject::new(store.clone(), key))),
            Location::Url(_) => self.resolved().ok()?.resolver(),
            Location::Memory(_) | Location::Blob(_) => None,
        }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Location").field(&self.name()).finish()
    }
}

/// Reads a blob by pages if each request costs milliseconds: small ones come in any order.
fn by_pages(blob: Arc<dyn Blob>) -> Arc<dyn Blob> {
    by_pages_kept(blob, None)
}

/// The same, with pages in a folder.
fn by_pages_kept(blob: Arc<dyn Blob>, folder: Option<Arc<PageFolder>>) -> Arc<dyn Blob> {
    if blob.cost().is_near() { blob } else { Arc::new(PageCache::new(blob).keeping(folder)) }
}

fn not_a_file(url: &Url) -> Error {
    let what = "it is the URL of a remote object, where only a path or the file: URL of a file can be used";
    Error::new(Code::ENOTBUILT, what).at(url)
}
