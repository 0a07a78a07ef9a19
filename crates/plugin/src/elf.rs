//! The image of a shared library: reading and editing of the tables that bind it to other libraries (System V ABI,
//! "Object Files" and "Program Loading and Dynamic Linking"; the GNU hash table and symbol versions as binutils writes
//! them).
//!
//! Plugins import names of the HDF5 library, or export the same names themselves. A real HDF5 library in the process
//! could be found first for these names. So an image is edited before the system's loader sees it: each name that this
//! crate implements becomes a hidden symbol with an absolute value, which the loader uses unchanged and does not look
//! up.
//!
//! Safe code over bytes: any defect of a file is reported as a reason, without panic. Not supported: 32-bit and
//! big-endian images, and relocations without addends; no system for which plugins exist has them.

use std::collections::BTreeSet;

/// Reason why an image cannot be used.
pub(crate) type Reason = String;

/// Longest name of an HDF5 or netCDF function, in bytes, and largest number of such symbols in one image.
const LONGEST_NAME: usize = 256;
const MOST_WANTED: usize = 10_000;

const HEADER: usize = 64;
const SEGMENT: usize = 56;
const SYMBOL: usize = 24;
const RELOCATION: usize = 24;
const DYNAMIC: usize = 16;

/// Limits that bound the time spent on a hostile file: bytes of a text, entries of the dynamic section, libraries with
/// versions, versions.
const LONGEST: usize = 4096;
const MOST_ENTRIES: usize = 4096;
const MOST_FILES: usize = 1024;
const MOST_VERSIONS: usize = 1 << 15;

/// Segment types.
const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;

/// Tags of dynamic entries.
mod tag {
    pub const NEEDED: u64 = 1;
    pub const PLTRELSZ: u64 = 2;
    pub const HASH: u64 = 4;
    pub const STRTAB: u64 = 5;
    pub const SYMTAB: u64 = 6;
    pub const RELA: u64 = 7;
    pub const RELASZ: u64 = 8;
    pub const STRSZ: u64 = 10;
    pub const RPATH: u64 = 15;
    pub const JMPREL: u64 = 23;
    pub const RUNPATH: u64 = 29;
    pub const GNU_HASH: u64 = 0x6fff_fef5;
    pub const VERSYM: u64 = 0x6fff_fff0;
    pub const VERDEF: u64 = 0x6fff_fffc;
    pub const VERNEED: u64 = 0x6fff_fffe;
    pub const VERNEEDNUM: u64 = 0x6fff_ffff;
    /// Unused tag in the range of the operating system; loaders ignore it.
    pub const IGNORED: u64 = 0x6000_0fed;
}

const SHN_UNDEF: u16 = 0;
const SHN_ABS: u16 = 0xfff1;
const STB_WEAK: u8 = 2;
const STT_FUNC: u8 = 2;
const STT_GNU_IFUNC: u8 = 10;
const STV_HIDDEN: u8 = 2;
/// Version index of a symbol without a version.
const VER_NDX_GLOBAL: u16 = 1;
/// Mask of the version index in an entry of the version table.
const VERSION_BITS: u16 = 0x7fff;

/// `e_machine` of this program's target; `None` where plugins cannot be loaded.
const MACHINE: Option<u16> = if cfg!(target_endian = "big") || !cfg!(target_pointer_width = "64") {
    None
} else if cfg!(target_arch = "x86_64") {
    Some(62)
} else if cfg!(target_arch = "aarch64") {
    Some(183)
} else if cfg!(target_arch = "riscv64") {
    Some(243)
} else if cfg!(target_arch = "loongarch64") {
    Some(258)
} else {
    None
};

/// Part of the file that is loaded.
#[derive(Clone, Copy, Debug)]
struct Segment {
    offset: u64,
    address: u64,
    len: u64,
}

/// Entry of the dynamic section, with its offset in the file.
#[derive(Clone, Copy, Debug)]
struct Entry {
    tag: u64,
    value: u64,
    at: usize,
}

/// Dynamic symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Symbol {
    /// Name of the symbol.
    pub name: String,
    /// True if this library defines the symbol.
    pub defined: bool,
    /// True if the symbol may stay undefined.
    pub weak: bool,
    at: usize,
    index: usize,
}

/// Bytes of a shared library, from the start to the end of its last loaded segment.
#[derive(Debug)]
pub(crate) struct Image {
    bytes: Vec<u8>,
    segments: Vec<Segment>,
    dynamic: Vec<Entry>,
}

fn end_of(at: usize, len: usize) -> Option<usize> {
    at.checked_add(len)
}

fn part(bytes: &[u8], at: usize, len: usize) -> Option<&[u8]> {
    bytes.get(at..end_of(at, len)?)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(part(bytes, at, 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(part(bytes, at, 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(part(bytes, at, 8)?.try_into().ok()?))
}

fn size(value: u64) -> Option<usize> {
    usize::try_from(value).ok()
}

/// Returns the offset of entry `index` of a table.
fn nth(table: usize, index: usize, len: usize) -> Option<usize> {
    end_of(table, index.checked_mul(len)?)
}

/// Returns the offset and the length in bytes of the program headers, given the first bytes of a file.
///
/// A reason if the file is not a shared library for this machine.
pub(crate) fn segments_at(header: &[u8]) -> Result<(u64, usize), Reason> {
    let short = || "it is not an ELF file: it ends in its header".to_string();
    let Some(machine) = MACHINE else {
        return Err("plugins cannot be loaded on this machine".to_string());
    };
    if part(header, 0, 4).is_some_and(|magic| magic != b"\x7fELF") {
        return Err("it is not an ELF file".to_string());
    }
    if header.len() < HEADER {
        return Err(short());
    }
    match (header[4], header[5]) {
        (2, 1) => {}
        (1, _) => return Err("it is a 32 bit ELF file".to_string()),
        (2, 2) => return Err("it is a big-endian ELF file".to_string()),
        (class, order) => {
            return Err(format!("its ELF header has the class {class}, the byte order {order}"));
        }
    }
    let kind = u16_at(header, 16).ok_or_else(short)?;
    if kind != 3 {
        return Err(format!("it is not a shared library: its ELF type is {kind}"));
    }
    let is = u16_at(header, 18).ok_or_else(short)?;
    if is != machine {
        return Err(format!("it is for another machine: its ELF number is {is}, ours is {machine}"));
    }
    let entry = u16_at(header, 54).ok_or_else(short)?;
    if usize::from(entry) != SEGMENT {
        return Err(format!("its program headers have {entry} bytes each, not {SEGMENT}"));
    }
    let count = usize::from(u16_at(header, 56).ok_or_else(short)?);
    Ok((u64_at(header, 32).ok_or_else(short)?, count.saturating_mul(SEGMENT)))
}

/// Returns the number of bytes up to the end of the last loaded segment and of the program headers.
pub(crate) fn loaded_len(at: u64, headers: &[u8]) -> Result<u64, Reason> {
    let bad = || "its program headers name bytes past any file".to_string();
    let mut end = at.checked_add(headers.len() as u64).ok_or_else(bad)?;
    for (_, segment) in segments(headers).filter(|(kind, _)| *kind == PT_LOAD) {
        end = end.max(segment.offset.checked_add(segment.len).ok_or_else(bad)?);
    }
    Ok(end)
}

fn segments(headers: &[u8]) -> impl Iterator<Item = (u32, Segment)> {
    headers.chunks_exact(SEGMENT).filter_map(|header| {
        let segment =
            Segment { offset: u64_at(header, 8)?, address: u64_at(header, 16)?, len: u64_at(header, 32)? };
        Some((u32_at(header, 0)?, segment))
    })
}

/// Edits an image as the loader of plugins does, but binds all names of the HDF5 and netCDF libraries to one address.
/// For tests of the editing alone, with bytes that need not be a library.
///
/// # Errors
/// Returns the reason why the image cannot be loaded.
pub fn edited(bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    let is_ours =
        |name: &str| name.starts_with("H5") || name.starts_with("nc_") || name.starts_with("ncaux_");
    let mut image = Image::read(bytes)?;
    for symbol in image.symbols(is_ours)? {
        image.bind(&symbol, HEADER as u64);
    }
    let folders = image.run_path().into_iter();
    image.forget(|name| {
        name.starts_with("libhdf5") || folders.clone().any(|folder| name.starts_with(&folder))
    })?;
    Ok(image.bytes)
}

impl Image {
    /// Reads the start of a file, of the length that [`loaded_len`] returns.
    pub(crate) fn read(bytes: Vec<u8>) -> Result<Image, Reason> {
        let (at, len) = segments_at(&bytes)?;
        let headers =
            size(at).and_then(|at| part(&bytes, at, len)).ok_or("the file ends in its program headers")?;
        if loaded_len(at, headers)? > bytes.len() as u64 {
            return Err("the file ends before the end of what is to be loaded".to_string());
        }
        let loaded = segments(headers).filter(|(kind, _)| *kind == PT_LOAD).map(|(_, segment)| segment);
        let segments_: Vec<Segment> = loaded.collect();
        let (_, dynamic) =
            segments(headers).find(|(kind, _)| *kind == PT_DYNAMIC).ok_or("it has no dynamic section")?;
        let mut entries = Vec::new();
        let start = size(dynamic.offset).unwrap_or(usize::MAX);
        let table = size(dynamic.len)
            .and_then(|len| part(&bytes, start, len))
            .ok_or("the file ends in its dynamic section")?;
        for (index, entry) in table.chunks_exact(DYNAMIC).take(MOST_ENTRIES).enumerate() {
            let (Some(tag), Some(value), Some(at)) =
                (u64_at(entry, 0), u64_at(entry, 8), nth(start, index, DYNAMIC))
            else {
                break;
            };
            if tag == 0 {
                break;
            }
            entries.push(Entry { tag, value, at });
        }
        Ok(Image { bytes, segments: segments_, dynamic: entries })
    }

    /// Returns the bytes in their current state.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the file offset of an address in memory.
    fn place(&self, address: u64) -> Option<usize> {
        self.segments.iter().find_map(|segment| {
            let at = address.checked_sub(segment.address)?;
            if at >= segment.len {
                return None;
            }
            size(segment.offset.checked_add(at)?)
        })
    }

    fn value(&self, tag: u64) -> Option<u64> {
        self.dynamic.iter().find(|entry| entry.tag == tag).map(|entry| entry.value)
    }

    /// Returns the file offset of the table whose address is in a dynamic entry.
    fn table(&self, tag: u64) -> Option<usize> {
        self.place(self.value(tag)?)
    }

    /// Returns a text of the dynamic string table; `None` if it has `LONGEST` bytes or more: no wanted name is that
    /// long.
    fn text(&self, at: u64) -> Option<String> {
        let all = part(&self.bytes, self.table(tag::STRTAB)?, size(self.value(tag::STRSZ)?)?)?;
        let text = all.get(size(at)?..)?;
        let len = text.iter().take(LONGEST).position(|byte| *byte == 0)?;
        Some(String::from_utf8_lossy(&text[..len]).into_owned())
    }

    fn texts(&self, tag: u64) -> Vec<String> {
        let entries = self.dynamic.iter().filter(|entry| entry.tag == tag);
        entries.filter_map(|entry| self.text(entry.value)).collect()
    }

    /// Returns the names of the needed libraries.
    pub(crate) fn needed(&self) -> Vec<String> {
        self.texts(tag::NEEDED)
    }

    /// Returns the folders in which to search the needed libraries, unexpanded.
    pub(crate) fn run_path(&self) -> Vec<String> {
        let newer = self.texts(tag::RUNPATH);
        let texts = if newer.is_empty() { self.texts(tag::RPATH) } else { newer };
        texts.iter().flat_map(|text| text.split(':')).map(str::to_string).collect()
    }

    /// Returns the dynamic symbols whose names are wanted.
    pub(crate) fn symbols(&self, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<Symbol>, Reason> {
        let table = self.table(tag::SYMTAB).ok_or("it has no dynamic symbols")?;
        let room = self.bytes.len().saturating_sub(table) / SYMBOL;
        let count = self.symbol_count().min(room);
        let mut symbols = Vec::new();
        for index in 1..count {
            let Some(at) = nth(table, index, SYMBOL) else { break };
            let Some(entry) = part(&self.bytes, at, SYMBOL) else { break };
            let (Some(name), Some(section)) = (u32_at(entry, 0), u16_at(entry, 6)) else { break };
            // A damaged hash table can promise more symbols than exist; entries without a name are skipped.
            let name =
                self.text(u64::from(name)).filter(|name| name.len() <= LONGEST_NAME && is_wanted(name));
            if let Some(name) = name {
                if symbols.len() == MOST_WANTED {
                    return Err(format!("it has more than {MOST_WANTED} names of HDF5 and netCDF"));
                }
                let weak = entry[4] >> 4 == STB_WEAK;
                symbols.push(Symbol { name, defined: section != SHN_UNDEF, weak, at, index });
            }
        }
        Ok(symbols)
    }

    /// Returns the number of symbols, including the empty first one. No table states it, so it is derived from the hash
    /// tables and the relocations.
    fn symbol_count(&self) -> usize {
        let hash = || u32_at(&self.bytes, end_of(self.table(tag::HASH)?, 4)?).map(|count| count as usize);
        let relocated = [(tag::RELA, tag::RELASZ), (tag::JMPREL, tag::PLTRELSZ)].map(|(table, len)| {
            let all = self.table(table).zip(self.value(len).and_then(size));
            let all = all.and_then(|(at, len)| part(&self.bytes, at, len)).unwrap_or(&[]);
            let symbols = all.chunks_exact(RELOCATION).filter_map(|entry| u32_at(entry, 12));
            symbols.max().map_or(0, |last| (last as usize).saturating_add(1))
        });
        let hashed = hash().unwrap_or(0).max(self.gnu_hash_count().unwrap_or(0));
        relocated.into_iter().fold(hashed, usize::max)
    }

    /// Returns the number of symbols according to the GNU hash table: one past the end of the chain that begins last.
    fn gnu_hash_count(&self) -> Option<usize> {
        let table = self.table(tag::GNU_HASH)?;
        let word = |at| u32_at(&self.bytes, at).map(|word| word as usize);
        let (buckets, first) = (word(table)?, word(end_of(table, 4)?)?);
        let filter = word(end_of(table, 8)?)?.checked_mul(8)?;
        let bucket_table = end_of(end_of(table, 16)?, filter)?;
        let all = part(&self.bytes, bucket_table, buckets.checked_mul(4)?)?;
        let mut last = all.chunks_exact(4).filter_map(|bucket| u32_at(bucket, 0)).max()? as usize;
        if last < first {
            return Some(first);
        }
        let chains = end_of(bucket_table, all.len())?;
        while word(nth(chains, last.checked_sub(first)?, 4)?)? & 1 == 0 {
            last = last.checked_add(1)?;
        }
        last.checked_add(1)
    }

    /// Makes a symbol hidden, with this absolute address.
    pub(crate) fn bind(&mut self, symbol: &Symbol, address: u64) {
        let versions = self.table(tag::VERSYM);
        let Some(entry) = end_of(symbol.at, SYMBOL).and_then(|end| self.bytes.get_mut(symbol.at..end)) else {
            return;
        };
        if entry[4] & 0xf == STT_GNU_IFUNC {
            entry[4] = entry[4] & 0xf0 | STT_FUNC;
        }
        entry[5] = entry[5] & !3 | STV_HIDDEN;
        entry[6..8].copy_from_slice(&SHN_ABS.to_le_bytes());
        entry[8..16].copy_from_slice(&address.to_le_bytes());
        if let Some(at) = versions.and_then(|table| nth(table, symbol.index, 2)) {
            self.put_u16(at, VER_NDX_GLOBAL);
        }
    }

    /// Removes the dependencies on the libraries for which `is_one` is true. Symbols with a version of these libraries
    /// lose it.
    pub(crate) fn forget(&mut self, is_one: impl Fn(&str) -> bool) -> Result<(), Reason> {
        let entries = self.dynamic.clone();
        for (index, entry) in entries.iter().enumerate() {
            if entry.tag == tag::NEEDED && self.text(entry.value).is_some_and(|name| is_one(&name)) {
                self.ignore(index);
            }
        }
        let versions = self.forget_versions(&is_one).ok_or("its table of needed versions is broken")?;
        if versions.is_empty() {
            return Ok(());
        }
        if let Some(table) = self.table(tag::VERSYM) {
            for index in 0..self.symbol_count() {
                let Some(at) = nth(table, index, 2) else { break };
                let Some(version) = u16_at(&self.bytes, at) else { break };
                if versions.contains(&(version & VERSION_BITS)) {
                    self.put_u16(at, VER_NDX_GLOBAL);
                }
            }
        }
        // A loader without a table of needed or defined versions must not read the version of a symbol.
        if self.value(tag::VERNEED).is_none() && self.value(tag::VERDEF).is_none() {
            let is = |entry: &Entry| entry.tag == tag::VERSYM;
            if let Some(index) = self.dynamic.iter().position(is) {
                self.ignore(index);
            }
        }
        Ok(())
    }

    /// Unlinks the records of these libraries from the chain of needed versions, and returns the indexes of their
    /// versions.
    fn forget_versions(&mut self, is_one: &impl Fn(&str) -> bool) -> Option<BTreeSet<u16>> {
        let Some(head) = self.dynamic.iter().position(|entry| entry.tag == tag::VERNEED) else {
            return Some(BTreeSet::new());
        };
        let mut numbers = BTreeSet::new();
        let mut versions_left = MOST_VERSIONS;
        let (mut before, mut removed) = (None, 0u64);
        let mut address = self.dynamic[head].value;
        let mut files_left = MOST_FILES;
        loop {
            files_left = files_left.checked_sub(1)?;
            let at = self.place(address)?;
            let (count, file) = (u16_at(&self.bytes, end_of(at, 2)?)?, u32_at(&self.bytes, end_of(at, 4)?)?);
            let next = u32_at(&self.bytes, end_of(at, 12)?)?;
            if self.text(u64::from(file)).is_some_and(|name| is_one(&name)) {
                let mut version = end_of(at, u32_at(&self.bytes, end_of(at, 8)?)? as usize)?;
                versions_left = versions_left.checked_sub(usize::from(count))?;
                for _ in 0..count {
                    numbers.insert(u16_at(&self.bytes, end_of(version, 6)?)? & VERSION_BITS);
                    let step = u32_at(&self.bytes, end_of(version, 12)?)? as usize;
                    if step == 0 {
                        break;
                    }
                    version = end_of(version, step)?;
                }
                removed = removed.checked_add(1)?;
                self.unlink(head, before, address, next)?;
            } else {
                before = Some((at, address));
            }
            if next == 0 {
                break;
            }
            address = address.checked_add(u64::from(next))?;
        }
        if let Some(index) = self.dynamic.iter().position(|entry| entry.tag == tag::VERNEEDNUM) {
            let left = self.dynamic[index].value.saturating_sub(removed);
            self.set_value(index, left);
        }
        Some(numbers)
    }

    /// Unlinks a record: the record before it, or else the head of the chain, refers to the record after it.
    fn unlink(&mut self, head: usize, before: Option<(usize, u64)>, address: u64, next: u32) -> Option<()> {
        let following = if next == 0 { None } else { Some(address.checked_add(u64::from(next))?) };
        match (before, following) {
            (Some((at, from)), _) => {
                let step = following.map_or(Some(0), |to| u32::try_from(to.checked_sub(from)?).ok())?;
                let at = end_of(at, 12)?;
                self.bytes.get_mut(at..end_of(at, 4)?)?.copy_from_slice(&step.to_le_bytes());
            }
            (None, Some(to)) => self.set_value(head, to),
            (None, None) => self.ignore(head),
        }
        Some(())
    }

    fn put_u16(&mut self, at: usize, value: u16) {
        if let Some(place) = end_of(at, 2).and_then(|end| self.bytes.get_mut(at..end)) {
            place.copy_from_slice(&value.to_le_bytes());
        }
    }

    fn ignore(&mut self, index: usize) {
        self.write_entry(index, tag::IGNORED, self.dynamic[index].value);
    }

    fn set_value(&mut self, index: usize, value: u64) {
        self.write_entry(index, self.dynamic[index].tag, value);
    }

    fn write_entry(&mut self, index: usize, tag: u64, value: u64) {
        let entry = &mut self.dynamic[index];
        (entry.tag, entry.value) = (tag, value);
        if let Some(place) = end_of(entry.at, DYNAMIC).and_then(|end| self.bytes.get_mut(entry.at..end)) {
            place[..8].copy_from_slice(&tag.to_le_bytes());
            place[8..].copy_from_slice(&value.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests;
