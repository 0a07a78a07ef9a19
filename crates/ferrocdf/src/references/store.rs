//! References as a store: the objects of a Zarr store that lie in other files.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use ferrocdf_bytes::{Code, Error, Result, ToUsize};
use ferrocdf_model::Model;
use ferrocdf_store::{
    Blob, ByteRange, Cost, Expected, Fetched, Listing, ReadRequest, Store, Version, check_folder, check_key,
    list_in,
};

use super::records::Records;
use super::targets::{Base, ReferenceTarget, Targets};
use super::{Reference, References, past_end};
use crate::driver::{Candidate, Context, Driver};
use crate::location::Location;
use crate::nczarr::{NcZarr, TableChunks, TableLayout};
use crate::plugins;

/// Most bytes of a text of references.
const MAX_TEXT: u64 = 1 << 30;

/// Bytes of a chunk up to which the size of a slow file is not asked for first.
const UNCHECKED: u64 = 64 << 20;

/// Most bytes that one request reads for several chunks.
const MAX_TOGETHER: u64 = 16 << 20;

/// True if the first bytes may be those of JSON.
pub(crate) fn recognises(candidate: &Candidate<'_>) -> bool {
    candidate.head.trim_ascii_start().starts_with(b"{")
}

/// Opens the dataset that a text of references makes.
///
/// # Errors
/// `NC_ENOTNC` for a text that is not one of references, or whose keys make no Zarr store; those of opening a Zarr store.
pub(crate) fn open(blob: &dyn Blob, context: &Context<'_>) -> Result<(Box<dyn Driver>, Model)> {
    let references = read(blob)?;
    open_with(references, Base::beside(context.beside)?, context.location.name().display().to_string())
}

/// Reads a text of references.
///
/// # Errors
/// `NC_ENOTNC` for a text that is not one of references; those of the blob.
pub(super) fn read(blob: &dyn Blob) -> Result<References> {
    let size = blob.size()?;
    if size > MAX_TEXT {
        let what = format!("a text of {size} bytes: references have at most {MAX_TEXT}");
        return Err(Error::new(Code::ENOTNC, what));
    }
    let mut text = crate::elements::zeros(size.to_usize("bytes of references")?)?;
    blob.read_exact_at(0, &mut text)?;
    References::parse(&text)
}

/// Opens the dataset that references make. `name` is that of the references in messages.
///
/// # Errors
/// `NC_ENOTNC` for references whose keys make no Zarr store; those of opening a Zarr store.
pub(super) fn open_with(
    references: References,
    base: Base,
    name: String,
) -> Result<(Box<dyn Driver>, Model)> {
    let store = ReferenceStore::new(ReferenceSource::Parsed(references), base, name);
    let (store, model) = NcZarr::open_in(Arc::new(store), String::new())?;
    plugins::check_setting().map(|()| (Box::new(store) as _, model))
}

/// Opens the chunks that references in parquet make, see [`OpenTables`](crate::nczarr::OpenTables).
///
/// # Errors
/// `NC_EZARRMETA` for tables without rows; those of a URL that is malformed.
pub(crate) fn open_tables(
    store: Arc<dyn Store>,
    layout: TableLayout,
    beside: &Location,
) -> Result<Arc<dyn TableChunks>> {
    let source = ReferenceSource::Records(Records::new(store, layout)?);
    Ok(Arc::new(ReferenceStore::new(source, Base::around(beside)?, beside.name().display().to_string())))
}

/// The objects that references make, to be read.
struct ReferenceStore {
    source: ReferenceSource,
    targets: Targets,
    cost: OnceLock<Cost>,
    name: String,
}

/// Where references come from.
enum ReferenceSource {
    /// A text that was parsed.
    Parsed(References),
    /// Tables that are read when they are needed.
    Records(Records),
}

impl ReferenceSource {
    /// Returns the references of keys, in their order; `None` for those that have none.
    fn find(&self, keys: &[&str]) -> Vec<Result<Option<Cow<'_, Reference>>>> {
        match self {
            ReferenceSource::Parsed(references) => {
                keys.iter().map(|key| Ok(references.get(key).map(Cow::Borrowed))).collect()
            }
            ReferenceSource::Records(records) => {
                let owned = |found: Option<Reference>| found.map(Cow::Owned);
                records.find(keys).into_iter().map(|found| found.map(owned)).collect()
            }
        }
    }

    /// Returns the cost of the slowest target: of tables in a slow store, that of the store, and of others that of a few targets.
    fn cost(&self, targets: &Targets) -> Cost {
        let slowest = |costs: &mut dyn Iterator<Item = Cost>| costs.max_by_key(|cost| cost.latency);
        let cost = match self {
            ReferenceSource::Parsed(references) => {
                let urls = references.iter().filter_map(|(_, reference)| reference.url());
                slowest(&mut urls.map(|url| targets.cost(url)))
            }
            ReferenceSource::Records(records) => {
                let own = records.store().cost();
                let urls = if own.is_near() { records.some_urls() } else { vec![] };
                slowest(&mut urls.iter().map(|url| targets.cost(url)).chain([own]))
            }
        };
        cost.unwrap_or(Cost::MEMORY)
    }
}

/// Requests for bytes that are not inline, by their files and stores.
#[derive(Default)]
struct Requests {
    files: BTreeMap<Arc<str>, Together<dyn Blob, FromFile>>,
    stores: BTreeMap<String, Together<dyn Store, FromStore>>,
}

/// A file or a store, and the requests to it.
type Together<T, R> = (Arc<T>, Vec<R>);

/// A request for a range of a file.
struct FromFile {
    /// The number of the answer.
    number: usize,
    /// Position in the file.
    at: u64,
    /// Position in the object that the reference makes.
    start: u64,
    len: u64,
    /// Size of that object.
    total: u64,
}

/// A request for a range of an object of another store.
struct FromStore {
    /// The number of the answer.
    number: usize,
    key: Arc<str>,
    range: ByteRange,
    /// Offset and length of the reference; `None` for all bytes of the object.
    reference: Option<(u64, u64)>,
}

impl ReferenceStore {
    fn new(source: ReferenceSource, base: Base, name: String) -> ReferenceStore {
        ReferenceStore { source, targets: Targets::new(base), cost: OnceLock::new(), name }
    }

    /// Answers a request for inline bytes; any other is added to `requests`.
    fn answer(
        &self,
        number: usize,
        ((key, range), reference): ((&str, ByteRange), Option<&Reference>),
        requests: &mut Requests,
    ) -> Result<Option<Fetched>> {
        check_key(key)?;
        let (url, reference) = match reference {
            None => return Ok(None),
            Some(Reference::Inline(bytes)) => {
                let total = bytes.len() as u64;
                let (start, end) = range.within(total);
                return Ok(Some(fetched(bytes[start.saturate()..end.saturate()].to_vec(), start, total)));
            }
            Some(Reference::Whole { url }) => (url, None),
            Some(Reference::Range { url, start, len }) => (url, Some((*start, *len))),
        };
        match self.targets.get(url)? {
            ReferenceTarget::Blob(blob) => {
                let (at, total) = reference.map_or_else(|| blob.size().map(|size| (0, size)), Ok)?;
                let (start, end) = range.within(total);
                // What a reference claims takes no memory. The size of a slow file takes a request.
                if (end > UNCHECKED || blob.cost().is_near()) && at.saturating_add(end) > blob.size()? {
                    return Err(past_end(at, total).at(url));
                }
                let (_, requests) = requests.files.entry(url.clone()).or_insert_with(|| (blob, vec![]));
                requests.push(FromFile { number, at: at + start, start, len: end - start, total });
            }
            ReferenceTarget::Object { store, key } => {
                let range = match reference {
                    Some((at, len)) => {
                        let (start, end) = range.within(len);
                        if start == end {
                            // No bytes are no request.
                            return Ok(Some(fetched(vec![], start, len)));
                        }
                        ByteRange::Bounded { start: at + start, len: end - start }
                    }
                    None => range,
                };
                let (_, requests) = requests.stores.entry(store.name()).or_insert_with(|| (store, vec![]));
                requests.push(FromStore { number, key, range, reference });
            }
        }
        Ok(None)
    }

    /// Sends the requests to one store, near ranges of one object as one request, and returns the answers with their numbers.
    fn fetch(&self, store: &dyn Store, mut requests: Vec<FromStore>) -> Vec<(usize, Result<Fetched>)> {
        let order = |request: &FromStore| match request.range {
            ByteRange::Bounded { start, len } => (request.key.clone(), Some((start, len))),
            ByteRange::All | ByteRange::Suffix(_) => (request.key.clone(), None),
        };
        requests.sort_by_key(order);
        let mut runs: Vec<(Arc<str>, ByteRange, Vec<FromStore>)> = vec![];
        for request in requests {
            let joined = runs.last().filter(|(key, ..)| *key == request.key);
            match joined.and_then(|(_, range, _)| self.join(*range, request.range)) {
                Some(range) => {
                    if let Some((_, joined, members)) = runs.last_mut() {
                        *joined = range;
                        members.push(request);
                    }
                }
                None => runs.push((request.key.clone(), request.range, vec![request])),
            }
        }
        let asked: Vec<_> = runs.iter().map(|(key, range, _)| (&**key, *range)).collect();
        let answers = store.get_many(&asked);
        let mut all = vec![];
        for ((key, range, members), answer) in runs.into_iter().zip(answers) {
            let found = answer.and_then(|found| found.ok_or_else(|| store.no_such_object(&key)));
            let found = found.and_then(|found| found.check(&key, range));
            for member in members {
                let answer = found.as_ref().map_err(Clone::clone).and_then(|found| member.part_of(found));
                all.push((member.number, answer));
            }
        }
        all
    }

    /// Returns one range for two of an object, if it is cheaper to read the bytes between them along.
    fn join(&self, first: ByteRange, second: ByteRange) -> Option<ByteRange> {
        let (ByteRange::Bounded { start, len }, ByteRange::Bounded { start: next, len: more }) =
            (first, second)
        else {
            return None;
        };
        let end = start.checked_add(len)?;
        let joined = end.max(next.checked_add(more)?) - start;
        let is_near = next <= end.saturating_add(self.cost().gap);
        (is_near && joined <= MAX_TOGETHER).then_some(ByteRange::Bounded { start, len: joined })
    }
}

impl FromStore {
    /// Returns the answer to this request from one to a larger range of the same object.
    fn part_of(&self, found: &Fetched) -> Result<Fetched> {
        let (start, end) = self.range.within(found.total);
        let within = start.checked_sub(found.start).zip(end.checked_sub(found.start));
        let bytes = within.and_then(|(from, to)| found.bytes.get(from.saturate()..to.saturate()));
        let (at, total) = self.reference.unwrap_or((0, found.total));
        match (bytes, self.range) {
            (Some(bytes), ByteRange::Bounded { len, .. })
                if self.reference.is_some() && (bytes.len() as u64) < len =>
            {
                Err(past_end(at, total))
            }
            (Some(bytes), _) => Ok(fetched(bytes.to_vec(), start - at, total)),
            (None, _) => Err(past_end(at, total)),
        }
    }
}

impl Store for ReferenceStore {
    fn get(&self, key: &str, range: ByteRange) -> Result<Option<Fetched>> {
        self.get_many(&[(key, range)]).pop().unwrap_or(Ok(None))
    }

    fn get_many(&self, requests: &[(&str, ByteRange)]) -> Vec<Result<Option<Fetched>>> {
        let mut others = Requests::default();
        let keys: Vec<&str> = requests.iter().map(|(key, _)| *key).collect();
        let mut answers = vec![];
        for (number, (&request, found)) in requests.iter().zip(self.source.find(&keys)).enumerate() {
            answers
                .push(found.and_then(|found| self.answer(number, (request, found.as_deref()), &mut others)));
        }
        for (url, (blob, requests)) in others.files {
            for (request, answer) in requests.iter().zip(read_ranges(&*blob, &requests)) {
                answers[request.number] = answer.map(Some).map_err(|error| error.at(&url));
            }
        }
        for (store, requests) in others.stores.into_values() {
            for (number, answer) in self.fetch(&*store, requests) {
                answers[number] = answer.map(Some);
            }
        }
        answers
    }

    fn put(&self, key: &str, _bytes: &[u8]) -> Result<Version> {
        Err(self.only_read(key))
    }

    fn put_if(&self, key: &str, _bytes: &[u8], _expected: Expected<'_>) -> Result<Option<Version>> {
        Err(self.only_read(key))
    }

    fn delete(&self, key: &str) -> Result<()> {
        Err(self.only_read(key))
    }

    fn list(&self, folder: &str) -> Result<Listing> {
        check_folder(folder)?;
        match &self.source {
            ReferenceSource::Parsed(references) => Ok(list_in(&references.entries, folder)),
            // Chunks are not looked for by their names.
            ReferenceSource::Records(records) => records.store().list(folder),
        }
    }

    fn cost(&self) -> Cost {
        *self.cost.get_or_init(|| self.source.cost(&self.targets))
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}

impl TableChunks for ReferenceStore {
    fn tables(&self) -> &dyn Store {
        match &self.source {
            ReferenceSource::Parsed(_) => self,
            ReferenceSource::Records(records) => &**records.store(),
        }
    }

    fn refresh(&self, layout: TableLayout) -> Result<()> {
        match &self.source {
            ReferenceSource::Parsed(_) => Ok(()),
            ReferenceSource::Records(records) => records.refresh(layout),
        }
    }
}

impl ReferenceStore {
    fn only_read(&self, key: &str) -> Error {
        Error::new(Code::EPERM, "references are only read").at(key).at(&self.name)
    }
}

impl fmt::Debug for ReferenceStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReferenceStore").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Reads ranges of one file together. A range that cannot be read does not affect the others.
fn read_ranges(blob: &dyn Blob, requests: &[FromFile]) -> Vec<Result<Fetched>> {
    let buffer = |request: &FromFile| crate::elements::zeros(request.len.to_usize("bytes of an object")?);
    let mut buffers: Vec<Result<Vec<u8>>> = requests.iter().map(buffer).collect();
    let with_memory = requests.iter().zip(&mut buffers).filter_map(|(request, buffer)| {
        let buffer = buffer.as_mut().ok()?;
        Some(ReadRequest::new(request.at, buffer))
    });
    let mut reads: Vec<ReadRequest<'_>> = with_memory.collect();
    let lens: Vec<Result<usize>> = match blob.read_many(&mut reads) {
        Ok(()) => reads.iter().map(|read| Ok(read.len)).collect(),
        Err(_) if blob.cost().is_near() => {
            reads.iter_mut().map(|read| blob.read_at(read.at, read.into)).collect()
        }
        // The server failed after retries: one request for each range would take as long for each.
        Err(error) => reads.iter().map(|_| Err(error.clone())).collect(),
    };
    let mut lens = lens.into_iter();
    let answer = |(request, buffer): (&FromFile, Result<Vec<u8>>)| {
        let bytes = buffer?;
        match lens.next().unwrap_or(Ok(0))? == bytes.len() {
            true => Ok(fetched(bytes, request.start, request.total)),
            false => Err(past_end(request.at, request.len)),
        }
    };
    requests.iter().zip(buffers).map(answer).collect()
}

/// Returns bytes of an object. Its version is the same as long as the references are open.
fn fetched(bytes: Vec<u8>, start: u64, total: u64) -> Fetched {
    Fetched { bytes, start, total, version: Version::new("reference") }
}

#[cfg(test)]
mod tests {
    use ferrocdf_store::testing::Counting;
    use ferrocdf_store::{MemoryBlob, MemoryStore};

    use super::*;

    /// Makes a store of references to one target, `u`.
    fn store_of(references: &str, target: ReferenceTarget) -> ReferenceStore {
        let text = format!("{{\"version\": 1, \"refs\": {{{references}}}}}");
        let source = ReferenceSource::Parsed(References::parse(text.as_bytes()).unwrap());
        let store = ReferenceStore::new(source, Base::Memory { has_files: false }, "references".to_string());
        store.targets.insert("u", target);
        store
    }

    /// Returns the bytes of all of some objects, or the code of the error.
    fn answers(store: &ReferenceStore, keys: &[&str]) -> Vec<std::result::Result<Vec<u8>, Code>> {
        let requests: Vec<_> = keys.iter().map(|&key| (key, ByteRange::All)).collect();
        let bytes = |answer: Result<Option<Fetched>>| match answer {
            Ok(found) => Ok(found.expect("an object").bytes),
            Err(error) => Err(error.code),
        };
        store.get_many(&requests).into_iter().map(bytes).collect()
    }

    /// Bytes of which one cannot be read.
    struct Damaged;

    impl Blob for Damaged {
        fn size(&self) -> Result<u64> {
            Ok(10)
        }

        fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
            match (at..at + into.len() as u64).contains(&4) {
                true => Err(Error::new(Code::EINTERNAL, "byte 4")),
                false => Ok(into.len()),
            }
        }

        fn name(&self) -> String {
            "damaged".to_string()
        }

        fn cost(&self) -> Cost {
            Cost::LOCAL
        }
    }

    #[test]
    fn range_that_cannot_be_read_does_not_affect_others_of_the_file() {
        let references = r#""a": ["u", 0, 2], "b": ["u", 3, 3], "c": ["u", 1, 2]"#;
        let remote = Counting::new(MemoryBlob::new(b"0123".to_vec())).with_cost(Cost::REMOTE);
        let store = store_of(references, ReferenceTarget::Blob(Arc::new(remote)));
        let wanted = [Ok(b"01".to_vec()), Err(Code::ETRUNC), Ok(b"12".to_vec())];
        assert_eq!(answers(&store, &["a", "b", "c"]), wanted);
        let store = store_of(references, ReferenceTarget::Blob(Arc::new(Damaged)));
        let wanted = [Ok(vec![0u8; 2]), Err(Code::EINTERNAL), Ok(vec![0; 2])];
        assert_eq!(answers(&store, &["a", "b", "c"]), wanted);
    }

    #[test]
    fn empty_range_of_a_remote_object_is_empty_wherever_it_begins() {
        let remote = Arc::new(MemoryStore::default());
        remote.put("o", b"0123").unwrap();
        let target = ReferenceTarget::Object { store: remote, key: "o".into() };
        let store = store_of(r#""a": ["u", 9, 0], "b": ["u", 1, 2], "c": ["u", 9, 1]"#, target);
        let wanted = [Ok(vec![]), Ok(b"12".to_vec()), Err(Code::ETRUNC)];
        assert_eq!(answers(&store, &["a", "b", "c"]), wanted);
        let found = store.get("b", ByteRange::Bounded { start: 7, len: 3 }).unwrap().unwrap();
        assert_eq!((found.bytes.len(), found.start, found.total), (0, 2, 2));
    }
}
