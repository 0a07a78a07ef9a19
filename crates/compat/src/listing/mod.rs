//! What is in an HDF5 file, object by object, one line for each fact: as `ferrocdf-hdf5` reads it.
//!
//! `py/listing.py` makes the same lines with h5py. A line has the address of an object, a key and a value, so that the
//! first difference says what it is about. Values are compared through a checksum of a canonical form:
//!
//! - numbers in the smallest of the usual types that holds them, least significant byte first, with one NaN;
//! - strings of fixed length, opaque elements and times as stored; other strings up to their first NUL, all lengths
//!   first; sequences likewise;
//! - compounds member by member: all elements of the first, then all of the next;
//! - elements of more than 256 KiB each are passed over;
//! - references to objects as addresses; those to regions with the number and the bounds of the elements.

mod types;
mod values;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ferrocdf_array::{Out, Selection, read};
use ferrocdf_bytes::Error;
use ferrocdf_hdf5::messages::{DataLayout, Dataspace, SpaceKind};
use ferrocdf_hdf5::{
    Attribute, Dataset, File, LinkTarget, Object, ObjectKind, OpenOptions, Resolver, Values,
};
use ferrocdf_store::{Blob, FileBlob, ReadAhead};

pub use types::describe;
pub use values::{Canonical, NUMBERS, OTHERS, SAMPLE};

/// The facts: of each address and key the value.
pub type Facts = BTreeMap<(u64, String), String>;

/// Bytes that the values of one dataset or attribute may take.
const BUDGET: u64 = 2 << 30;
/// What is said of elements that are not compared.
pub const TOO_LARGE: &str = "too large";
/// Objects of a file that are listed; damaged files may have any number.
const OBJECTS: usize = 100_000;

/// The files beside one, and those of their own path.
struct Beside(PathBuf);

impl Resolver for Beside {
    fn open(&self, name: &str) -> Result<Option<Arc<dyn Blob>>, Error> {
        let path = Path::new(name);
        let beside = self.0.join(
            path.file_name().map_or(path, |last| if path.is_absolute() { Path::new(last) } else { path }),
        );
        Ok([path, &beside]
            .into_iter()
            .filter(|place| place.is_absolute())
            .find_map(|place| FileBlob::open(place).ok())
            .map(|blob| Arc::new(ReadAhead::new(blob)) as _))
    }
}

/// Opens a file with those beside it.
///
/// # Errors
/// Those of opening it.
pub fn open(path: &Path) -> Result<File, Error> {
    let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
    let options = OpenOptions { resolver: Some(Arc::new(Beside(folder))), ..OpenOptions::default() };
    File::open_with(Arc::new(ReadAhead::new(FileBlob::open(path)?)), options)
}

/// The facts of a file. What cannot be read has a value that begins with "error".
pub fn listing(path: &Path) -> Facts {
    match open(path) {
        Ok(file) => walk_open(&file),
        Err(error) => not_open(&error),
    }
}

/// The facts of an open file.
pub fn walk_open(file: &File) -> Facts {
    if let Err(error) = file.root() {
        return not_open(&error);
    }
    let mut facts = Facts::new();
    walk(file, file.superblock().root.0, &mut facts);
    facts
}

fn not_open(error: &Error) -> Facts {
    Facts::from([((0, "open".to_string()), format!("error {error}"))])
}

/// The facts that `listing.py` wrote.
///
/// # Panics
/// If a line is none of its.
pub fn parse(text: &str) -> Facts {
    let fact = |line: &str| {
        let mut parts = line.splitn(3, '\t');
        let (address, key, value) = (parts.next()?.parse().ok()?, parts.next()?, parts.next()?);
        Some(((address, key.to_string()), value.to_string()))
    };
    text.lines().map(|line| fact(line).unwrap_or_else(|| panic!("{line:?} is no fact"))).collect()
}

/// How the facts of h5py and ours compare.
#[derive(Debug, Default)]
pub struct Comparison {
    /// Facts that are the same.
    pub same: usize,
    /// Facts that h5py cannot tell and we can.
    pub only_ours: usize,
    /// Whether h5py could not open the file.
    pub closed: bool,
    /// What differs.
    pub differences: Vec<String>,
}

fn is_error(value: &str) -> bool {
    value.starts_with("error")
}

/// Compares. What h5py cannot read may be anything.
pub fn compare(theirs: &Facts, ours: &Facts) -> Comparison {
    let mut found = Comparison::default();
    let open = (0, "open".to_string());
    if theirs.contains_key(&open) {
        found.closed = true;
        return found;
    }
    for (fact, their) in theirs {
        match ours.get(fact) {
            _ if is_error(their) => {
                found.only_ours += usize::from(ours.get(fact).is_some_and(|our| !is_error(our)))
            }
            Some(our) if our == their => found.same += 1,
            our => found.differences.push(format!("{:#x} {}: {their}, ours {our:?}", fact.0, fact.1)),
        }
    }
    // An object of which h5py cannot tell all may have more.
    let unreadable: HashSet<u64> =
        theirs.iter().filter(|(_, value)| is_error(value)).map(|((address, _), _)| *address).collect();
    let known: HashSet<u64> = theirs.keys().map(|&(address, _)| address).collect();
    for ((address, key), our) in ours.iter().filter(|(fact, _)| !theirs.contains_key(fact)) {
        if unreadable.is_empty() || (known.contains(address) && !unreadable.contains(address)) {
            found.differences.push(format!("{address:#x} {key}: h5py has nothing, ours {our:?}"));
        } else {
            found.only_ours += 1;
        }
    }
    found
}

fn walk(file: &File, root: u64, facts: &mut Facts) {
    let mut seen = HashSet::new();
    let mut queue = vec![root];
    while let Some(address) = queue.pop() {
        if !seen.insert(address) || seen.len() > OBJECTS {
            continue;
        }
        let mut tell = |key: &str, value: Result<String, Error>| {
            facts.insert((address, key.to_string()), value.unwrap_or_else(|error| format!("error {error}")));
        };
        let object = match file.object(ferrocdf_hdf5::Address(address)) {
            Ok(object) => object,
            Err(error) => {
                tell("kind", Err(error));
                continue;
            }
        };
        match object.kind() {
            ObjectKind::Group => {
                tell("kind", Ok("group".into()));
                links(&object, &mut tell, &mut queue);
            }
            ObjectKind::Dataset => {
                tell("kind", Ok("dataset".into()));
                dataset(&object, &mut tell);
            }
            ObjectKind::Datatype => {
                tell("kind", Ok("datatype".into()));
                tell("type", ferrocdf_hdf5::committed_datatype(&object).map(|datatype| describe(&datatype)));
            }
            ObjectKind::Unknown => tell("kind", Ok("unknown".into())),
        }
        attributes(&object, &mut tell);
    }
}

fn links(object: &Object, tell: &mut impl FnMut(&str, Result<String, Error>), queue: &mut Vec<u64>) {
    let links = match object.links() {
        Ok(links) => links,
        Err(error) => return tell("rest", Err(error)),
    };
    for link in links.list {
        let target = match link.target {
            LinkTarget::Hard(at) => {
                queue.push(at.0);
                format!("hard {}", at.0)
            }
            LinkTarget::Soft(path) => format!("soft {}", escape(&path)),
            LinkTarget::External { file, path } => format!("external {} {}", escape(&file), escape(&path)),
            LinkTarget::User { class, .. } => format!("user {class}"),
        };
        tell(&format!("/{}", escape(&link.name)), Ok(target));
    }
}

fn dataset(object: &Object, tell: &mut impl FnMut(&str, Result<String, Error>)) {
    let dataset = match Dataset::open(object) {
        Ok(dataset) => dataset,
        Err(error) => return tell("kind", Err(error)),
    };
    let space = dataset.dataspace();
    tell("shape", dataset.shape().map(|shape| shape_text(space.kind, &shape)));
    tell("most", Ok(most(space)));
    tell("type", Ok(describe(dataset.datatype())));
    tell("layout", Ok(layout(&dataset)));
    let filter = |step: &ferrocdf_hdf5::Step| {
        let params: Vec<String> = step.params.iter().take(16).map(u32::to_string).collect();
        format!("{}:{}:{}", step.id, u8::from(step.optional), params.join(","))
    };
    tell("filters", Ok(dataset.filters().iter().map(filter).collect::<Vec<_>>().join(";")));
    tell("values", dataset_values(&dataset));
}

fn attributes(object: &Object, tell: &mut impl FnMut(&str, Result<String, Error>)) {
    let attributes = match object.attributes() {
        Ok(attributes) => attributes,
        Err(error) => return tell("rest", Err(error)),
    };
    for (name, attribute) in attributes.list {
        let name = escape(&name);
        match attribute {
            Ok(attribute) => {
                let space = &attribute.dataspace;
                tell(&format!("@{name} shape"), Ok(shape_text(space.kind, &space.dims)));
                tell(&format!("@{name} type"), Ok(describe(&attribute.datatype)));
                tell(&format!("@{name} values"), attribute_values(object.file(), &attribute));
            }
            Err(error) => tell(&format!("@{name} shape"), Err(error)),
        }
    }
}

fn shape_text(kind: SpaceKind, dims: &[u64]) -> String {
    match kind {
        SpaceKind::Null => "null".to_string(),
        SpaceKind::Scalar => "scalar".to_string(),
        SpaceKind::Simple => times(dims.iter()),
    }
}

fn times<T: ToString>(numbers: impl Iterator<Item = T>) -> String {
    numbers.map(|number| number.to_string()).collect::<Vec<_>>().join("x")
}

fn most(space: &Dataspace) -> String {
    match &space.max {
        Some(max) => times(max.iter().map(|max| max.map_or("u".to_string(), |max| max.to_string()))),
        None => times(space.dims.iter()),
    }
}

fn layout(dataset: &Dataset) -> String {
    match dataset.layout() {
        DataLayout::Compact(_) => "compact".to_string(),
        DataLayout::Contiguous { .. } if dataset.external().is_some() => "external".to_string(),
        DataLayout::Contiguous { .. } => "contiguous".to_string(),
        DataLayout::Chunked(chunked) => format!("chunked {}", times(chunked.shape.iter())),
        DataLayout::Virtual(_) => "virtual".to_string(),
    }
}

/// How many elements of each dimension are compared, and how far they are apart.
fn sample(shape: &[u64], size: u64, most: u64) -> (Vec<u64>, Vec<u64>) {
    let (mut counts, mut strides) = (shape.to_vec(), vec![1u64; shape.len()]);
    let total = |counts: &[u64]| {
        // No product of numbers that are 0 is large.
        if counts.contains(&0) {
            0
        } else {
            counts.iter().fold(size, |product, &n| product.saturating_mul(n))
        }
    };
    if total(&counts) > most {
        while total(&counts) > SAMPLE {
            let longest = counts.iter().copied().max().unwrap_or(1);
            let Some(at) = counts.iter().position(|&count| count == longest && count > 1) else { break };
            strides[at] *= 2;
            counts[at] = shape[at].div_ceil(strides[at]);
        }
    }
    (counts, strides)
}

fn dataset_values(dataset: &Dataset) -> Result<String, Error> {
    if dataset.dataspace().kind == SpaceKind::Null {
        return Ok("none".to_string());
    }
    let datatype = dataset.datatype();
    if u64::from(datatype.size) > OTHERS {
        return Ok(TOO_LARGE.to_string());
    }
    let shape = dataset.shape()?;
    let number = values::is_number(datatype);
    let (mut counts, mut strides) =
        sample(&shape, u64::from(datatype.size), if number { NUMBERS } else { OTHERS });
    let placed = if number { dataset.array()? } else { dataset.raw()? };
    if !number {
        counts.push(u64::from(datatype.size));
        strides.push(1);
    }
    let kind = placed.array.stored.kind;
    let elements = counts.iter().product::<u64>() as usize;
    let mut bytes = vec![0; elements * kind.size()];
    if elements > 0 {
        let selection = Selection::strided(&vec![0; counts.len()], &counts, &strides);
        let _fit = read(&*placed.blob, &placed.array, &selection, Out::raw(kind, &mut bytes))?;
    }
    let mut canonical = Canonical::default();
    if number {
        canonical.native(kind, &bytes);
    } else {
        let values = Values::new(dataset.object().file(), BUDGET).list(datatype, &bytes)?;
        canonical.add(dataset.object().file(), datatype, &values.iter().collect::<Vec<_>>())?;
    }
    Ok(canonical.text())
}

fn attribute_values(file: &File, attribute: &Attribute) -> Result<String, Error> {
    if attribute.dataspace.kind == SpaceKind::Null {
        return Ok("none".to_string());
    }
    if u64::from(attribute.datatype.size) > OTHERS {
        return Ok(TOO_LARGE.to_string());
    }
    let values = Values::new(file, BUDGET).list(&attribute.datatype, &attribute.data)?;
    let mut canonical = Canonical::default();
    canonical.add(file, &attribute.datatype, &values.iter().collect::<Vec<_>>())?;
    Ok(canonical.text())
}

/// Bytes as plain text without blanks.
fn escape(name: &[u8]) -> String {
    name.iter()
        .map(|&byte| match byte {
            0x21..0x7f if byte != b'\\' => char::from(byte).to_string(),
            _ => format!("\\{byte:02x}"),
        })
        .collect()
}
