//! Making the references of a dataset.

use std::collections::HashMap;
use std::sync::Arc;

use ferrocdf_array::{Index, Layout, Selection};
use ferrocdf_bytes::{Code, Error, Order, Result};
use ferrocdf_model::{
    Chunking, Class, Container, DataModel, Endian, Format, Model, Owner, Storage, StoredFill, Type, Var,
    VarId,
};
use ferrocdf_store::MemoryStore;
use ferrocdf_zarr::{ArrayMetadata, ChunkKeys, within};

use super::plan::{ReferencedChunks, not_referenced};
use super::requests::{Chunk, ChunkSource, is_web};
use super::{References, insert_objects};
use crate::copy::{Pair, copy_data, without_variables};
use crate::location::Location;
use crate::nczarr::{can_have_codec, planned_metadata};
use crate::options::{CreateOptions, OpenOptions};
use crate::zarr_options::ZarrOptions;
use crate::{Atomic, File, FileMut};

/// Most bytes of a variable that becomes inline because no references can stand for it.
pub(super) const MAX_INLINED: u64 = 16 << 20;

const ZARR: Format = Format::new(Container::ZarrV2, DataModel::Netcdf4);

const ZARR_OPTIONS: ZarrOptions =
    ZarrOptions { nczarr: false, xarray: true, consolidated: false, keeps_empty_chunks: false, zip: false };

/// How references are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceOptions {
    /// The name of the file, or of the folder of a Zarr store, in the references: a URL or a path, which is relative to that of the
    /// references. `None` for where it is now.
    pub url: Option<String>,
    /// Encoded chunks with fewer bytes become inline.
    pub inline: u64,
}

impl Default for ReferenceOptions {
    /// Where the file is, and 500 bytes, as in kerchunk.
    fn default() -> Self {
        ReferenceOptions { url: None, inline: 500 }
    }
}

/// The references of a dataset.
#[derive(Clone, Debug)]
pub struct MadeReferences {
    /// The references.
    pub references: References,
    /// Why variables and attributes were skipped.
    pub skipped: Vec<Error>,
}

/// A variable of the new store whose stored chunks become references.
struct Referenced {
    source: VarId,
    target: VarId,
    chunks: Vec<(Index, Chunk)>,
    shape: Vec<u64>,
}

/// The dataset, and the store that its references are of.
struct Maker<'a> {
    file: &'a File,
    source: Arc<Model>,
    target: Model,
    url: Arc<str>,
    /// The key of the dataset in its store, without a slash at its end.
    folder: &'a str,
    inline: u64,
    skipped: Vec<Error>,
    referenced: Vec<Referenced>,
    /// The variables whose values become inline.
    inlined: Vec<Pair>,
}

/// Checks that no two datasets are to be found at one URL: the chunks of both would be those of one file.
///
/// # Errors
/// `NC_EINVAL` with both datasets.
pub(super) fn check_urls(datasets: &[(Location, ReferenceOptions)]) -> Result<()> {
    let mut found = HashMap::new();
    for (location, options) in datasets {
        let Some(url) = &options.url else { continue };
        let first = found.entry(url).or_insert(location);
        if first.name() != location.name() {
            let (first, other) = (first.name(), location.name());
            let what = format!(
                "{} and {} would both be found at {url}: give them other names, or name no base",
                first.display(),
                other.display()
            );
            return Err(Error::new(Code::EINVAL, what));
        }
    }
    Ok(())
}

impl References {
    /// Makes the references of the dataset at a location. Strings, values of user-defined types, and what references cannot say are
    /// inline, up to 16 MiB a variable; larger variables are skipped, and virtual ones with a source that lacks elements.
    ///
    /// # Errors
    /// Those of opening the dataset and of reading its chunk indexes; `NC_EBADNAME` for a group whose name a Zarr store cannot have.
    pub fn of(location: &Location, options: &ReferenceOptions) -> Result<MadeReferences> {
        let given = location;
        let location = &*given.resolved()?;
        let file = File::open_location(location, &OpenOptions::default().all_attributes(true))?;
        let folder = match location {
            Location::Object { key, .. } => key.trim_end_matches('/'),
            _ => "",
        };
        let url = match &options.url {
            Some(url) => url.trim_end_matches('/').into(),
            None => name(given, location).into(),
        };
        let (source, inline) = (file.model(), options.inline);
        let target = without_variables(&source, ZARR);
        let mut maker = Maker {
            file: &file,
            source,
            target,
            url,
            folder,
            inline,
            skipped: vec![],
            referenced: vec![],
            inlined: vec![],
        };
        maker.skipped.extend(file.lost());
        for group in maker.source.group_ids() {
            maker.skipped.extend(maker.source.attrs(Owner::Group(group)).failure().cloned());
        }
        for var in maker.source.var_ids() {
            maker.skipped.extend(maker.source.attrs(Owner::Var(var)).failure().cloned());
            let added = file.unreadable_data(var).map_or_else(|| file.check_sources([var]), Err);
            let added = added.and_then(|()| maker.add(var));
            if let Err(error) = added {
                maker.skipped.push(error.at_path(maker.source.var_path(var)));
            }
        }
        maker.finish()
    }
}

impl Maker<'_> {
    /// Adds a variable: as references if they can stand for it, else with its values inline.
    ///
    /// # Errors
    /// The reason why the variable is skipped.
    fn add(&mut self, var: VarId) -> Result<()> {
        let why = match self.add_referenced(var) {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        let size = self.source.size_of(self.source.var(var).ty) as u64;
        let shape = self.source.shape(var);
        let bytes = shape.iter().fold(size, |bytes, &len| bytes.saturating_mul(len));
        if bytes > MAX_INLINED {
            let what = format!("{}; its {bytes} bytes are too many to become inline", why.what);
            return Err(Error::new(why.code, what));
        }
        // One chunk.
        let chunking = Chunking::Chunked(shape.iter().map(|&len| len.max(1)).collect());
        let own = &self.source.var(var).storage;
        let storage = Storage {
            no_fill: true,
            chunking: Some(chunking),
            endian: own.endian,
            zarr: own.zarr.clone(),
            ..Storage::default()
        };
        let target = self.push(var, storage).map(|(target, _)| target)?;
        self.inlined.push((var, target));
        Ok(())
    }

    /// Adds a variable to the new store. Returns its id and the metadata of its array.
    ///
    /// # Errors
    /// Those of making metadata; the variable is not added then.
    fn push(&mut self, var: VarId, storage: Storage) -> Result<(VarId, ArrayMetadata)> {
        let target = self.target.push_var(Var { storage, ..self.source.var(var).clone() });
        let metadata = planned_metadata(&self.target, target, &ZARR_OPTIONS);
        if metadata.is_err() {
            self.target.pop_var();
        }
        Ok((target, metadata?))
    }

    /// Adds a variable as references.
    ///
    /// # Errors
    /// The reason why that cannot be; the variable is not added then.
    fn add_referenced(&mut self, var: VarId) -> Result<()> {
        let described = self.source.var(var);
        let is_enum = |id| matches!(self.source.user_type(id).class, Class::Enum { .. });
        match described.ty {
            Type::Atomic(Atomic::String) => return Err(not_referenced("its strings have no fixed size")),
            Type::User(id) if !is_enum(id) => return Err(not_referenced("it is of a user-defined type")),
            _ => {}
        }
        let (url, folder, inline) = (self.url.clone(), self.folder, self.inline);
        let (array, stored) = self.file.reading(|state| {
            if state.is_external(var)? {
                return Err(not_referenced("its data is in other files or in several pieces"));
            }
            let (array, blob) = state.located(var)?;
            if matches!(array.layout, Layout::Virtual(_)) {
                let stored_shape = state.driver().inspect().sources(var)?.stored_shape;
                if stored_shape.is_some_and(|stored| stored != array.shape) {
                    let why = "it is shorter than its dimensions, and its other elements are fill values";
                    return Err(not_referenced(why));
                }
            }
            Ok((array.clone(), ReferencedChunks::of(array, blob)?))
        })?;
        let mut storage = Storage {
            no_fill: true,
            fill: None,
            chunking: Some(Chunking::Chunked(stored.shape.clone())),
            shards: None,
            endian: Some(match array.stored.order {
                Order::Big => Endian::Big,
                Order::Little => Endian::Little,
            }),
            quantize: None,
            ..described.storage.clone()
        };
        storage.named_codecs.retain(|codec| can_have_codec(codec, ZARR.container()));
        let (target, metadata) = self.push(var, storage)?;
        let chunks = stored.check(&array, &metadata).and_then(|()| {
            self.file.reading(|state| {
                let (array, blob) = state.located(var)?;
                let objects = match &array.layout {
                    Layout::Chunked(chunks) => chunks.index.objects(),
                    _ => None,
                };
                ChunkSource { blob, objects, folder, url: &url, inline }.chunks(&stored.chunks)
            })
        });
        let chunks = chunks.and_then(|chunks| {
            let decoded = chunks.iter().filter(|(_, chunk)| matches!(chunk, Chunk::Decoded)).count() as u64;
            let size = array.stored.kind.size() as u64;
            let bytes = stored.shape.iter().fold(size, |bytes, &len| bytes.saturating_mul(len));
            match bytes.saturating_mul(decoded) > MAX_INLINED {
                true => Err(not_referenced("many of its chunks are stored without some of the filters")),
                false => Ok(chunks),
            }
        });
        let fill = self.file.fill_value(var);
        let (chunks, fill) = match (chunks, fill) {
            (Ok(chunks), Ok(fill)) => (chunks, fill),
            (Err(error), _) | (_, Err(error)) => {
                self.target.pop_var();
                return Err(error);
            }
        };
        if !stored.are_complete(&array.shape, chunks.len()) {
            let storage = &mut self.target.var_mut(target).storage;
            (storage.no_fill, storage.fill) =
                (false, Some(fill.map_or(StoredFill::Default, StoredFill::Value)));
        }
        self.referenced.push(Referenced { source: var, target, chunks, shape: stored.shape });
        Ok(())
    }

    /// Writes metadata and values to a store in memory, whose objects become inline references, and adds the other references.
    fn finish(self) -> Result<MadeReferences> {
        let store = Arc::new(MemoryStore::default());
        let place = Location::Object { store: store.clone(), key: String::new() };
        let options = CreateOptions { format: ZARR, zarr: ZARR_OPTIONS, ..CreateOptions::default() };
        let to = FileMut::create_at(&place, &options)?;
        let target = self.target;
        to.define(|draft| {
            *draft = target.clone();
            Ok(())
        })?;
        copy_data(self.file, &to, &self.inlined, MAX_INLINED as usize, &mut |_| {})?;
        let keys = ChunkKeys {
            has_prefix: false,
            separator: ChunkKeys::usual_separator(ferrocdf_zarr::Version::V2),
            first: vec![],
        };
        let mut references = References::default();
        for Referenced { source, target: var, chunks, shape } in self.referenced {
            let path = target.var_path(var);
            for (chunk, value) in chunks {
                match value {
                    Chunk::Reference(reference) => {
                        let key = within(path.trim_start_matches('/'), &keys.key(&chunk));
                        references.insert(key, reference)?;
                    }
                    Chunk::Decoded => {
                        let Selection { start, count, .. } =
                            elements_of(&chunk, &shape, &self.source.shape(source));
                        let values = self.file.read_values(source, &start, &count)?;
                        let _exact = to.write_values(var, &start, &count, &values)?;
                    }
                }
            }
        }
        to.close()?;
        insert_objects(&mut references, &*store, "")?;
        Ok(MadeReferences { references, skipped: self.skipped })
    }
}

/// Returns the elements of a chunk that an array of these lengths has.
fn elements_of(chunk: &[u64], shape: &[u64], lens: &[u64]) -> Selection {
    let start: Index = chunk.iter().zip(shape).map(|(chunk, len)| chunk * len).collect();
    let count: Index =
        start.iter().zip(shape).zip(lens).map(|((start, len), end)| (*len).min(end - start)).collect();
    Selection::slab(&start, &count)
}

/// Returns the name of a dataset in references: its absolute path, or its URL without settings. `resolved` is the location that `given`
/// resolves to.
fn name(given: &Location, resolved: &Location) -> String {
    let name = match (given, resolved) {
        (_, Location::Path(path)) => std::path::absolute(path).unwrap_or_else(|_| path.clone()),
        (Location::Url(url), Location::Object { store, .. }) if is_web(&store.name()) => {
            return without_settings(&url.to_string());
        }
        (_, other) => other.name(),
    };
    name.to_string_lossy().trim_end_matches('/').to_string()
}

/// Returns the URL of a web server without settings in brackets, fragment, user and password. Escapes stay, since the path of such a URL is
/// decoded when it is read, and a query stays: it may be a signature of the URL.
fn without_settings(url: &str) -> String {
    let mut rest = url;
    while let Some((_, behind)) = rest.strip_prefix('[').and_then(|settings| settings.split_once(']')) {
        rest = behind;
    }
    let rest = rest.split('#').next().unwrap_or_default();
    let (address, query) = rest.split_at(rest.find('?').unwrap_or(rest.len()));
    let (scheme, address) = address.split_once("://").unwrap_or(("https", address));
    let (authority, path) = address.split_at(address.find('/').unwrap_or(address.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{}{query}", path.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_in_references_keeps_escapes_and_query_and_loses_settings() {
        for (given, wanted) in [
            ("https://h/run%231.nc", "https://h/run%231.nc"),
            ("https://h/a%20b/c.nc#mode=bytes", "https://h/a%20b/c.nc"),
            ("[log][x=1]http://h:81/a.nc?sig=a/b@c&x#bytes", "http://h:81/a.nc?sig=a/b@c&x"),
            ("https://me:secret@h/d/a.zarr/", "https://h/d/a.zarr"),
            ("https://h/d@1/a.zarr/?sig=/", "https://h/d@1/a.zarr?sig=/"),
        ] {
            assert_eq!(without_settings(given), wanted);
        }
    }
}
