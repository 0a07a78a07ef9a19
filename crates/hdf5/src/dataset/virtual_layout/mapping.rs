//! The list of mappings of a virtual dataset, as it is in the global heap.
#![deny(clippy::arithmetic_side_effects)]

use std::sync::Arc;

use ferrocdf_bytes::{Coder, Record, Result};

use crate::fields::{self, Fields};
use crate::selection::{HyperslabDim, SpaceSelection, StoredSelection};
use crate::wire::{Writer, bad};
use crate::{Address, Sizes};

const WHAT: &str = "mappings of a virtual dataset";

/// Flags of a mapping in version 1.
const FILE_SHARED: u8 = 1;
const PATH_SHARED: u8 = 2;
const SAME_FILE: u8 = 4;

/// The most bytes of a name that has a place for a number: it is made again for each source.
const PATTERN: usize = 4096;

/// Which elements of a virtual dataset are which of a source.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mapping {
    file: Arc<[u8]>,
    path: Arc<[u8]>,
    /// The elements of the source.
    pub there: SpaceSelection,
    /// Those of the virtual dataset.
    pub here: SpaceSelection,
}

impl Mapping {
    /// File and path of the source as they are stored: `%b` in them stands for a number.
    pub fn stored_names(&self) -> (&[u8], &[u8]) {
        (&self.file, &self.path)
    }

    /// The name of the source's file, of this number if it is numbered. "." is the same file.
    pub fn file(&self, number: u64) -> Arc<[u8]> {
        self.name(&self.file, number)
    }

    /// The path of the source in its file.
    pub fn path(&self, number: u64) -> Arc<[u8]> {
        self.name(&self.path, number)
    }

    /// Whether the names have a place for a number.
    pub fn is_numbered(&self) -> bool {
        [&self.file, &self.path].iter().any(|name| self.name(name, 0) != self.name(name, 1))
    }

    /// A name in which "%b" is the number, if there are more sources than one, and "%%" a per cent sign.
    fn name(&self, pattern: &Arc<[u8]>, number: u64) -> Arc<[u8]> {
        if !pattern.contains(&b'%') {
            return Arc::clone(pattern);
        }
        let numbered = self.here.unlimited().is_some() && self.there.unlimited().is_none();
        let mut name = Vec::with_capacity(pattern.len());
        let mut rest = &pattern[..];
        while let Some((&byte, behind)) = rest.split_first() {
            rest = behind;
            match (byte, behind.first()) {
                (b'%', Some(b'b')) if numbered => {
                    name.extend(number.to_string().into_bytes());
                    rest = &behind[1..];
                }
                (b'%', Some(b'%')) => {
                    name.push(b'%');
                    rest = &behind[1..];
                }
                _ => name.push(byte),
            }
        }
        name.into()
    }
}

/// "Global Heap Block for Virtual Datasets" (VII.C) before its checksum, versions 0 and 1.
pub(crate) struct MappingList {
    sizes: Sizes,
    version: u8,
    list: Vec<StoredMapping>,
}

/// An entry of the list.
#[derive(Default)]
struct StoredMapping {
    flags: u8,
    file: StoredName,
    path: StoredName,
    source: StoredSelection,
    virtual_selection: StoredSelection,
}

/// A name in an entry.
enum StoredName {
    Own(Vec<u8>),
    /// That of an entry before.
    Of(u64),
}

impl Default for StoredName {
    fn default() -> Self {
        StoredName::Own(vec![])
    }
}

impl MappingList {
    /// A list to be read.
    pub fn unread(sizes: Sizes) -> MappingList {
        MappingList { sizes, version: 0, list: vec![] }
    }
}

impl Record for MappingList {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let sizes = self.sizes;
        c.version(0..=1, &mut self.version)?;
        let version = self.version;
        let mut count = self.list.len() as u64;
        c.length("number of entries", sizes, &mut count)?;
        c.list("entry", count, &mut self.list, |mapping, c| mapping.fields(version, sizes, c))
    }
}

impl StoredMapping {
    fn fields<C: Coder>(&mut self, version: u8, sizes: Sizes, c: &mut C) -> Result<()> {
        if version == 1 {
            c.int("flags", &mut self.flags)?;
        }
        let has = |flag: u8| self.flags & flag != 0;
        if has(SAME_FILE) {
            self.file = StoredName::Own(b".".to_vec());
        } else {
            self.file.fields("source file name", has(FILE_SHARED), sizes, c)?;
        }
        self.path.fields("source dataset name", has(PATH_SHARED), sizes, c)?;
        self.source.fields(c)?;
        self.virtual_selection.fields(c)
    }
}

impl StoredName {
    fn fields<C: Coder>(
        &mut self,
        name: &'static str,
        is_shared: bool,
        sizes: Sizes,
        c: &mut C,
    ) -> Result<()> {
        if C::READS && is_shared {
            *self = StoredName::Of(0);
        }
        match self {
            StoredName::Own(bytes) => c.until_nul(name, bytes),
            StoredName::Of(entry) => c.length("entry with this name", sizes, entry),
        }
    }

    /// The name itself, where `before` are the names of the entries before.
    fn resolve(self, before: &[Mapping], of: fn(&Mapping) -> &Arc<[u8]>) -> Result<Arc<[u8]>> {
        match self {
            StoredName::Own(name) if name.len() > PATTERN && name.contains(&b'%') => {
                Err(bad(format!("{WHAT}: a name with a number that has {} bytes", name.len())))
            }
            StoredName::Own(name) => Ok(name.into()),
            StoredName::Of(entry) => {
                let mapping = usize::try_from(entry).ok().and_then(|entry| before.get(entry));
                let none = || bad(format!("{WHAT}: the name of entry {entry}, which is not before"));
                Ok(Arc::clone(of(mapping.ok_or_else(none)?)))
            }
        }
    }
}

/// The mappings of an object of the collection at an address.
pub(super) fn decode(at: Address, bytes: &[u8], sizes: Sizes) -> Result<Vec<Mapping>> {
    let mut stored = MappingList::unread(sizes);
    fields::read_checked(&mut stored, WHAT, at, bytes)?;
    let mut mappings: Vec<Mapping> = Vec::new();
    for StoredMapping { file, path, source, virtual_selection, .. } in stored.list {
        let file = file.resolve(&mappings, |mapping| &mapping.file)?;
        let path = path.resolve(&mappings, |mapping| &mapping.path)?;
        let (there, here) = (source.selection, virtual_selection.selection);
        mappings.push(Mapping { file, path, there, here });
    }
    Ok(mappings)
}

/// A box of a virtual dataset, whose elements are the first ones of another dataset in each dimension. The other dataset may be larger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualBox {
    /// The name of the file that has the other dataset. A relative path begins in the folder of the file of the virtual dataset.
    pub file: Vec<u8>,
    /// The path of the other dataset in its file.
    pub path: Vec<u8>,
    /// The coordinates of the first element.
    pub start: Vec<u64>,
    /// The shape.
    pub count: Vec<u64>,
}

/// Returns the mappings of a new virtual dataset as bytes for the global heap.
///
/// # Errors
/// `EHDFERR` for a name with a zero byte.
pub(crate) fn encode(boxes: &[VirtualBox], sizes: Sizes) -> Result<Vec<u8>> {
    let mapping = |VirtualBox { file, path, start, count }: &VirtualBox| {
        if file.contains(&0) || path.contains(&0) {
            return Err(bad(format!("{WHAT}: a name with a zero byte")));
        }
        let selection = |starts: &mut dyn Iterator<Item = u64>| {
            let dims = starts.zip(count);
            let dim =
                |(start, &block): (u64, &u64)| HyperslabDim { start, stride: block.max(1), count: 1, block };
            StoredSelection::new(SpaceSelection::Regular(dims.map(dim).collect()))
        };
        Ok(StoredMapping {
            flags: 0,
            file: StoredName::Own(literal(file)),
            path: StoredName::Own(literal(path)),
            // Not all elements: a source that grows stays readable.
            source: selection(&mut std::iter::repeat(0)),
            virtual_selection: selection(&mut start.iter().copied()),
        })
    };
    let list = boxes.iter().map(mapping).collect::<Result<_>>()?;
    let mut writer = Writer::new(WHAT);
    writer.record(&mut MappingList { sizes, version: 0, list });
    writer.finish_checked()
}

/// Returns a name in which no per cent sign stands for a number.
fn literal(name: &[u8]) -> Vec<u8> {
    let doubled = |&byte: &u8| std::iter::repeat_n(byte, if byte == b'%' { 2 } else { 1 });
    name.iter().flat_map(doubled).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_are_read_as_they_were_written() {
        let sizes = Sizes { offset: 8, length: 8 };
        let one = |file: &str, start: &[u64], count: &[u64]| VirtualBox {
            file: file.as_bytes().to_vec(),
            path: b"/g/v".to_vec(),
            start: start.to_vec(),
            count: count.to_vec(),
        };
        let boxes = [one("day/1.nc", &[0, 0], &[24, 5]), one("100%b.nc", &[24, 0], &[1 << 40, 5])];
        let bytes = encode(&boxes, sizes).unwrap();
        let read = decode(Address(0), &bytes, sizes).unwrap();
        assert_eq!(read.len(), boxes.len());
        for (mapping, wanted) in read.iter().zip(&boxes) {
            assert_eq!((&*mapping.file(7), &*mapping.path(7)), (&wanted.file[..], &wanted.path[..]));
            let found = |selection: &SpaceSelection| -> Vec<(u64, u64)> {
                let SpaceSelection::Regular(dims) = selection else { panic!("{selection:?}") };
                dims.iter().map(|dim| (dim.start, dim.count * dim.block)).collect()
            };
            let lens = || wanted.count.iter().copied();
            assert_eq!(found(&mapping.here), wanted.start.iter().copied().zip(lens()).collect::<Vec<_>>());
            assert_eq!(found(&mapping.there), lens().map(|len| (0, len)).collect::<Vec<_>>());
        }
        assert!(encode(&[one("a\0b", &[0], &[1])], sizes).is_err());
        let mut changed = bytes.clone();
        changed[20] ^= 1;
        assert!(decode(Address(0), &changed, sizes).is_err());
    }
}
