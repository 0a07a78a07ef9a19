//! HDF5 files and their messages, below the facade.

use std::collections::HashSet;
use std::io::Write;
use std::sync::Arc;

use ferrocdf_array::{Array, Out, Selection};
use ferrocdf_bytes::{Code, Result};
use ferrocdf_hdf5::messages::{DataLayout, Dataspace, Datatype, ExternalFiles, FillMessage, pipeline};
use ferrocdf_hdf5::selection::SpaceSelection;
use ferrocdf_hdf5::{
    Dataset, File, LinkTarget, Object, OpenOptions, Placed, Resolver, Sizes, Values, committed_datatype, kind,
};
use ferrocdf_store::{Blob, MemoryBlob};

use crate::seeds;

/// Bytes of elements that one input may make a target read.
const BUDGET: u64 = 1 << 20;

/// Objects that are looked at.
const OBJECTS: usize = 2000;

/// Every file that a file names is the file itself, but for one.
struct Mirror(Arc<dyn Blob>);

impl Resolver for Mirror {
    fn open(&self, file_name: &str) -> Result<Option<Arc<dyn Blob>>> {
        Ok((!file_name.ends_with("7.h5")).then(|| self.0.clone()))
    }
}

/// Looks at every object that links lead to: links, attributes and their values, elements in every way.
pub fn file(data: &[u8]) {
    let blob: Arc<dyn Blob> = Arc::new(MemoryBlob::new(data.to_vec()));
    let options = OpenOptions { resolver: Some(Arc::new(Mirror(blob.clone()))), ..OpenOptions::default() };
    let Ok(file) = File::open_with(blob, options) else { return };
    let Ok(root) = file.root() else { return };
    let mut waiting = vec![root];
    let mut seen = HashSet::new();
    let mut left = BUDGET;
    while let Some(object) = waiting.pop() {
        if !seen.insert(object.address()) || seen.len() > OBJECTS {
            continue;
        }
        look(&object, &mut left);
        let Ok(links) = object.links() else { continue };
        assert!(links.list.len() < data.len(), "{} links in {} bytes", links.list.len(), data.len());
        for link in links.list {
            let _ = object.link(&link.name);
            let found = match link.target {
                LinkTarget::Hard(at) => object.file().object(at).map(Some),
                _ => object.file().open_path(object.address(), &link.name),
            };
            if let Ok(Some(found)) = found {
                waiting.push(found);
            }
        }
    }
}

/// Counts what is written, and keeps nothing.
#[derive(Default)]
struct Counted {
    bytes: usize,
    errors: usize,
}

impl Write for Counted {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        self.bytes += text.len();
        self.errors += usize::from(text.starts_with(b"         error: "));
        Ok(text.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Prints all structures: an error of the whole is one that was printed, or of the superblock.
pub fn structure(data: &[u8]) {
    let mut text = Counted::default();
    match ferrocdf_hdf5::structure(Arc::new(MemoryBlob::new(data.to_vec())), &mut text) {
        Ok(()) => assert!(text.bytes > 0 && text.errors == 0, "{} errors are none", text.errors),
        Err(error) => {
            let early = error.code == Code::ENOTNC || error.what.starts_with("superblock");
            assert!(text.errors > 0 || early, "{error} was not printed");
        }
    }
}

fn look(object: &Object, left: &mut u64) {
    let file = object.file();
    if let Ok(attributes) = object.attributes() {
        for (name, attribute) in attributes.list {
            let _ = object.attribute(&name);
            let Ok(attribute) = attribute else { continue };
            let size = u64::from(attribute.datatype.size());
            let claimed = attribute.dataspace.elements().and_then(|count| count.checked_mul(size));
            assert_eq!(claimed, Some(attribute.data.len() as u64), "an attribute has the bytes it claims");
            let _ = Values::new(file, BUDGET).list(&attribute.datatype, &attribute.data);
        }
    }
    let _ = (object.attribute_count(), committed_datatype(object), object.references());
    let Ok(dataset) = Dataset::open(object) else { return };
    let _ = dataset.storage_size();
    if let Ok(placed) = dataset.array() {
        read(&placed, left);
    }
    let Ok(placed) = dataset.raw() else { return };
    if let Some(bytes) = read(&placed, left) {
        let _ = Values::new(file, BUDGET).list(dataset.datatype(), &bytes);
    }
}

/// Reads all elements if they are few, else the first and the last. Gives the bytes of all.
fn read(placed: &Placed, left: &mut u64) -> Option<Vec<u8>> {
    let Placed { blob, array } = placed;
    let shape = &array.shape;
    let count = shape.iter().try_fold(1u64, |count, &len| count.checked_mul(len));
    if let Some(count) = count.filter(|&count| count <= *left) {
        *left -= count;
        let mut bytes = vec![0u8; count as usize];
        return slab(&**blob, array, &vec![0; shape.len()], shape, &mut bytes).then_some(bytes);
    }
    let mut one = [0u8];
    let ones = vec![1; shape.len()];
    let last: Vec<u64> = shape.iter().map(|len| len.saturating_sub(1)).collect();
    slab(&**blob, array, &vec![0; shape.len()], &ones, &mut one);
    slab(&**blob, array, &last, &ones, &mut one);
    None
}

fn slab(blob: &dyn Blob, array: &Array, start: &[u64], count: &[u64], bytes: &mut [u8]) -> bool {
    if count.contains(&0) {
        return true;
    }
    ferrocdf_array::read(blob, array, &Selection::slab(start, count), Out::new(bytes)).is_ok()
}

/// Kinds of messages, by the first byte of an input.
const KINDS: [u16; 8] = [
    kind::DATATYPE,
    kind::DATASPACE,
    kind::LAYOUT,
    kind::FILL,
    kind::FILL_OLD,
    kind::PIPELINE,
    kind::EXTERNAL,
    SELECTION,
];

/// Selections are no messages of their own, but of one form.
const SELECTION: u16 = u16::MAX;

/// An input is which kind, the width of addresses and lengths, and the message. What is decoded is a value that can be
/// looked at, and twice the same.
pub fn message(data: &[u8]) {
    let [which, widths, body @ ..] = data else { return };
    let width = |bits: u8| [2, 4, 8, 8][usize::from(bits & 3)];
    let sizes = Sizes { offset: width(*widths), length: width(*widths >> 2) };
    let twice = |decode: &dyn Fn() -> Option<String>| assert_eq!(decode(), decode());
    let text = |value: Result<&dyn std::fmt::Debug>| value.ok().map(|value| format!("{value:?}"));
    match KINDS[usize::from(*which) % KINDS.len()] {
        kind::DATATYPE => {
            if let Ok((datatype, taken)) = Datatype::decode_prefix(body) {
                assert!(taken <= body.len() && datatype.size() > 0);
                assert_eq!(Datatype::decode(&body[..taken]).as_ref(), Ok(&datatype));
                if let Some(number) = datatype.number() {
                    assert!(number.stored.kind.size() <= 8);
                }
            }
        }
        kind::DATASPACE => {
            if let Ok(space) = Dataspace::decode(body, sizes) {
                assert!(space.dims.len() <= 32);
                let product = space.dims.iter().try_fold(1u64, |product, &len| product.checked_mul(len));
                assert!(product.is_none() || space.elements().is_some());
            }
        }
        kind::LAYOUT => {
            twice(&|| text(DataLayout::decode(body, sizes).as_ref().map(|x| x as _).map_err(Clone::clone)))
        }
        kind::FILL => {
            twice(&|| text(FillMessage::decode(body).as_ref().map(|x| x as _).map_err(Clone::clone)))
        }
        kind::FILL_OLD => {
            twice(&|| text(FillMessage::decode_old(body).as_ref().map(|x| x as _).map_err(Clone::clone)))
        }
        kind::PIPELINE => {
            twice(&|| text(pipeline::decode(body).as_ref().map(|x| x as _).map_err(Clone::clone)))
        }
        kind::EXTERNAL => {
            twice(&|| text(ExternalFiles::decode(body, sizes).as_ref().map(|x| x as _).map_err(Clone::clone)))
        }
        _ => {
            if let Ok((selection, taken)) = SpaceSelection::decode(body) {
                assert!(taken <= body.len());
                assert!(selection.rank().is_none_or(|rank| (1..=32).contains(&rank)));
                assert!(
                    selection.unlimited() < selection.rank().or(Some(1)) || selection.unlimited().is_none()
                );
            }
        }
    }
}

/// The messages of the files that are seeds of [`file()`].
pub fn messages() -> Vec<Vec<u8>> {
    let mut found: Vec<Vec<u8>> = Vec::new();
    for bytes in seeds::hdf5() {
        let Ok(file) = File::open(Arc::new(MemoryBlob::new(bytes))) else { continue };
        let widths = |width: usize| (width.ilog2() - 1) as u8;
        let sizes = file.source().sizes;
        let mut waiting = vec![file.superblock().root];
        let mut seen = HashSet::new();
        while let Some(object) = waiting.pop().and_then(|at| file.object(at).ok()) {
            if !seen.insert(object.address()) {
                continue;
            }
            for (which, &kind) in KINDS.iter().enumerate() {
                let head = [which as u8, widths(sizes.offset) | widths(sizes.length) << 2];
                found.extend(object.messages(kind).map(|message| [&head[..], &message.body].concat()));
            }
            let links = object.links().map(|links| links.list).unwrap_or_default();
            waiting.extend(links.into_iter().filter_map(|link| match link.target {
                LinkTarget::Hard(at) => Some(at),
                _ => None,
            }));
        }
    }
    let selection = |words: &[u32]| {
        let words = words.iter().flat_map(|word| word.to_le_bytes());
        [(KINDS.len() - 1) as u8, 0].into_iter().chain(words).collect::<Vec<u8>>()
    };
    found.push(selection(&[1, 1, 0, 24, 2, 2, 5, 6, 1, 2]));
    found.push(selection(&[2, 1, 0, 24, 1, 2, 3, 4, 7, 7]));
    found.push(selection(&[2, 2, 1 | 68 << 8, 1 << 8, 2 << 8, 0, 5 << 8, 0, 3 << 8, 0, 4 << 8, 0]));
    found.sort();
    found.dedup();
    found
}
