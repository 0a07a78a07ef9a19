//! The list of mappings of a virtual dataset, as it is in the global heap.

use std::sync::Arc;

use ferrocdf_bytes::{Result, lookup3};

use crate::Sizes;
use crate::selection::SpaceSelection;
use crate::wire::{CHECKSUM, Reader, up_to_nul};

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

/// The mappings of a heap object, versions 0 and 1.
pub(super) fn decode(bytes: &[u8], sizes: Sizes) -> Result<Vec<Mapping>> {
    let mut r = Reader::new("mappings of a virtual dataset", bytes);
    let Some((body, stored)) = bytes.split_last_chunk::<CHECKSUM>() else {
        return Err(r.error("they have no checksum"));
    };
    if lookup3(body, 0) != u32::from_le_bytes(*stored) {
        return Err(r.error("wrong checksum"));
    }
    r = Reader::new("mappings of a virtual dataset", body);
    let version = r.version(0..=1)?;
    let count = r.length(sizes)?;
    let mut mappings: Vec<Mapping> = Vec::new();
    for _ in 0..count {
        let flags = if version == 1 { r.u8()? } else { 0 };
        let shared = |r: &mut Reader<'_>, shared: bool, of: fn(&Mapping) -> &Arc<[u8]>| {
            if !shared {
                return name(r);
            }
            let index = usize::try_from(r.length(sizes)?).ok();
            let mapping = index.and_then(|index| mappings.get(index));
            mapping
                .map(|mapping| Arc::clone(of(mapping)))
                .ok_or_else(|| r.error("a name of no mapping before"))
        };
        let file = match flags & SAME_FILE {
            0 => shared(&mut r, flags & FILE_SHARED != 0, |mapping| &mapping.file)?,
            _ => b".".as_slice().into(),
        };
        let path = shared(&mut r, flags & PATH_SHARED != 0, |mapping| &mapping.path)?;
        let mut selection = || {
            let (selection, taken) = SpaceSelection::decode(r.rest())?;
            r.skip(taken)?;
            Ok(selection)
        };
        let (there, here) = (selection()?, selection()?);
        mappings.push(Mapping { file, path, there, here });
    }
    Ok(mappings)
}

fn name(r: &mut Reader<'_>) -> Result<Arc<[u8]>> {
    let rest = r.rest();
    let name = up_to_nul(rest);
    if name.len() == rest.len() {
        return Err(r.error("a name has no end"));
    }
    if name.len() > PATTERN && name.contains(&b'%') {
        return Err(r.error(format_args!("a name with a number that has {} bytes", name.len())));
    }
    r.skip(name.len() + 1)?;
    Ok(name.into())
}
