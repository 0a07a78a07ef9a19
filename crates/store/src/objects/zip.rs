//! Objects as the members of a zip file (PKWARE APPNOTE.TXT 6.3.10), to be read.
//!
//! The directory at the end of the file is read when the store is opened, in one request if it has less than 64 KiB. Members are stored or
//! deflated, in files of any size (Zip64). Of members with the same name the last one counts: zarr-python rewrites an object by adding it
//! again. The file may lie anywhere: a stored member is a range of it.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::OnceLock;

use ferrocdf_bytes::{Code, Error, Result, ToUsize};

use super::zip_write::{Pieces, ZipWriter};
use super::{ByteRange, Expected, Fetched, Listing, Store, Version, check_folder, check_key, list_in};
use crate::{Blob, Cost, ReadRequest};

/// The first bytes of a zip file: those of a member, or of the end record of an empty one.
pub const ZIP_SIGNATURES: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

pub(super) const END: [u8; 4] = *b"PK\x05\x06";
pub(super) const END_LEN: usize = 22;
pub(super) const END64_LOCATOR: [u8; 4] = *b"PK\x06\x07";
pub(super) const END64_LOCATOR_LEN: usize = 20;
pub(super) const END64: [u8; 4] = *b"PK\x06\x06";
pub(super) const END64_LEN: usize = 56;
pub(super) const ENTRY: [u8; 4] = *b"PK\x01\x02";
pub(super) const ENTRY_LEN: usize = 46;
pub(super) const MEMBER: [u8; 4] = *b"PK\x03\x04";
pub(super) const MEMBER_LEN: usize = 30;
pub(super) const DESCRIPTOR: [u8; 4] = *b"PK\x07\x08";
/// Number of the extra field with the numbers of Zip64.
pub(super) const ZIP64: u16 = 1;

/// Bits of the general purpose flags: the member is encrypted; a data descriptor is behind its bytes.
const ENCRYPTED: u16 = 1;
const HAS_DESCRIPTOR: u16 = 1 << 3;
/// Bytes of the longest data descriptor.
const DESCRIPTOR_LEN: usize = 24;

/// Bytes at the end of the file that are read first. A comment of the greatest length fits.
const TAIL: usize = 66 << 10;

/// Most bytes of the directory: some millions of members.
const MAX_DIRECTORY: u64 = 1 << 30;

/// Most bytes of a deflated member, and of those that one call reads. Chunks have codecs of their own, and are stored.
const MAX_INFLATED: u64 = 128 << 20;

/// Deflate makes at most so many bytes of one.
const MAX_RATIO: u64 = 1032;

/// A zip file as a store that is only read.
pub struct ZipStore {
    blob: Arc<dyn Blob>,
    members: BTreeMap<String, Member>,
    /// What an edit keeps besides the objects; `None` if the store was opened to be read.
    archive: Option<Archive>,
}

/// The parts of a zip file that are no objects.
struct Archive {
    directory: Directory,
    /// Number of bytes before the first member.
    prefix: u64,
    /// Members that are no objects: folders, and names that are no keys.
    others: Vec<Member>,
}

/// A member, as the directory describes it.
#[derive(Debug)]
struct Member {
    is_deflated: bool,
    /// Why its bytes cannot be read.
    problem: Option<Problem>,
    crc: u32,
    /// Bytes in the file, and bytes of the object.
    stored: u64,
    size: u64,
    /// Position of the header before the bytes.
    header: u64,
    /// Position of its entry in the directory.
    entry: usize,
    /// Position of the bytes, once the header was read.
    begin: OnceLock<u64>,
}

/// Why the bytes of a member cannot be read.
#[derive(Clone, Copy, Debug)]
enum Problem {
    Encrypted,
    /// A compression method other than 0 (stored) and 8 (deflated).
    Method(u16),
    TooLarge,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Encrypted => f.write_str("the member of the zip file is encrypted"),
            Problem::Method(method) => {
                write!(
                    f,
                    "the member of the zip file is compressed by method {method}; methods 0 and 8 are read"
                )
            }
            Problem::TooLarge => {
                write!(f, "the member of the zip file is deflated and has more than {MAX_INFLATED} bytes")
            }
        }
    }
}

impl ZipStore {
    /// Reads the directory of a zip file.
    ///
    /// # Errors
    /// `NC_ENOTNC` if it is no zip file, `NC_ETRUNC` if the directory is damaged; those of the blob.
    pub fn open(blob: Arc<dyn Blob>) -> Result<ZipStore> {
        let store = Self::open_to_edit(blob)?;
        Ok(ZipStore { archive: None, ..store })
    }

    /// Reads the directory of a zip file, and keeps what [`ZipStore::write_kept`] needs.
    pub(super) fn open_to_edit(blob: Arc<dyn Blob>) -> Result<ZipStore> {
        let directory = Directory::read(&*blob)?;
        let (mut members, mut others, mut prefix) = (BTreeMap::new(), vec![], directory.at);
        let mut at = 0;
        for _ in 0..directory.count {
            let entry = Entry::parse(&directory.bytes, at)?;
            let (name, member) = entry.member(at, directory.shift)?;
            prefix = prefix.min(member.header);
            match name.filter(|name| check_key(name).is_ok()) {
                Some(name) => drop(members.insert(name, member)),
                None => others.push(member),
            }
            at += entry.len();
        }
        check_apart(members.values().chain(&others))?;
        Ok(ZipStore { blob, members, archive: Some(Archive { directory, prefix, others }) })
    }

    /// Returns the first key within a bound.
    pub(super) fn first_key(&self, from: Bound<&str>) -> Option<&str> {
        self.members.range::<str, _>((from, Bound::Unbounded)).next().map(|(key, _)| &**key)
    }

    /// Returns the version of an object.
    pub(super) fn version(&self, key: &str) -> Option<Version> {
        self.members.get(key).map(Member::version)
    }

    /// Writes to a new file what stands before the members, and copies the members that are no objects or whose keys are to be kept, each
    /// byte for byte and in the order that they have. Of a name that several members have, only the last one is kept.
    pub(super) fn write_kept(&self, zip: &mut ZipWriter<'_>, is_kept: impl Fn(&str) -> bool) -> Result<()> {
        let Some(Archive { directory, prefix, others }) = &self.archive else { return Ok(()) };
        let mut pieces = Pieces::ahead(&*self.blob);
        zip.copy_prefix(&mut pieces, *prefix, directory.shift)?;
        let kept = self.members.iter().filter(|(key, _)| is_kept(key)).map(|(_, member)| member);
        let mut kept: Vec<&Member> = kept.chain(others).collect();
        kept.sort_unstable_by_key(|member| member.header);
        for member in kept {
            let entry = Entry::parse(&directory.bytes, member.entry)?;
            let len = member.file_len(&entry, &mut pieces)?;
            zip.copy_member(&entry, &mut pieces, member.header, len)?;
        }
        Ok(())
    }

    /// Returns the comment of the file.
    pub(super) fn comment(&self) -> &[u8] {
        self.archive.as_ref().map_or(&[], |archive| &archive.directory.comment)
    }

    fn member(&self, key: &str) -> Result<Option<&Member>> {
        check_key(key)?;
        match self.members.get(key) {
            Some(Member { problem: Some(problem), .. }) => {
                Err(Error::new(Code::ENOTBUILT, problem.to_string()).at(key))
            }
            found => Ok(found),
        }
    }

    /// Reads the headers of members whose bytes are not located yet, all at once.
    fn locate(&self, members: &[&Member]) -> Result<()> {
        let absent: Vec<&&Member> = members.iter().filter(|member| member.begin.get().is_none()).collect();
        let mut headers = vec![[0; MEMBER_LEN]; absent.len()];
        let mut requests: Vec<ReadRequest<'_>> = absent
            .iter()
            .zip(&mut headers)
            .map(|(member, header)| ReadRequest::new(member.header, header))
            .collect();
        if requests.is_empty() {
            return Ok(());
        }
        self.blob.read_many(&mut requests)?;
        let lens: Vec<usize> = requests.iter().map(|request| request.len).collect();
        for ((member, header), len) in absent.into_iter().zip(&headers).zip(lens) {
            if len < MEMBER_LEN || header[..4] != MEMBER {
                return Err(no_header(member.header));
            }
            // Another thread sets the same number.
            let _ = member.begin.set(member.header + header_len(header));
        }
        Ok(())
    }

    /// Makes the answer to a request from the bytes of a member that were read.
    fn answer(member: &Member, range: ByteRange, bytes: Vec<u8>) -> Result<Fetched> {
        let (start, end) = range.within(member.size);
        let bytes = match member.is_deflated {
            true => {
                let mut bytes = inflate(member, &bytes)?;
                bytes.truncate(end.saturate());
                bytes.drain(..start.saturate());
                bytes
            }
            false => bytes,
        };
        let is_whole = (start, end) == (0, member.size);
        if is_whole && bytes.len() as u64 == member.size && libdeflater::crc32(&bytes) != member.crc {
            return Err(damaged("the checksum of the member is not that of its bytes".to_string()));
        }
        Ok(Fetched { bytes, start, total: member.size, version: member.version() })
    }
}

impl Member {
    fn version(&self) -> Version {
        Version::new(format!("{:x}-{:x}", self.header, self.crc))
    }

    /// Returns the number of bytes from the header of the member to the end of its data descriptor, or of its bytes if there is none.
    fn file_len(&self, entry: &Entry<'_>, pieces: &mut Pieces<'_>) -> Result<u64> {
        let header = pieces.read(self.header, MEMBER_LEN)?;
        if header[..4] != MEMBER {
            return Err(no_header(self.header));
        }
        let flags = u16_at(header, 6) | u16_at(entry.fixed, 8);
        let len = header_len(header) + self.stored;
        if flags & HAS_DESCRIPTOR == 0 {
            return Ok(len);
        }
        let behind = pieces.read_at_most(self.header.saturating_add(len), DESCRIPTOR_LEN)?;
        Ok(len + descriptor_len(behind, self.crc, [self.stored, self.size]) as u64)
    }
}

/// Returns the length of a member's header, with its name and its extra fields.
fn header_len(fixed: &[u8]) -> u64 {
    MEMBER_LEN as u64 + u64::from(u16_at(fixed, 26)) + u64::from(u16_at(fixed, 28))
}

/// Returns the length of the data descriptor at the begin of `bytes`: the checksum and the numbers of bytes, in 32 or 64 bits, with a signature
/// before them or without; 0 if there is none.
fn descriptor_len(bytes: &[u8], crc: u32, numbers: [u64; 2]) -> usize {
    let wide = numbers.iter().flat_map(|number| number.to_le_bytes());
    let narrow = numbers.iter().flat_map(|number| number.to_le_bytes().into_iter().take(4));
    let bodies =
        [wide.collect::<Vec<u8>>(), narrow.collect()].map(|body| [&crc.to_le_bytes(), &body[..]].concat());
    for signature in [&DESCRIPTOR[..], b""] {
        for body in &bodies {
            if bytes.strip_prefix(signature).is_some_and(|rest| rest.starts_with(body)) {
                return signature.len() + body.len();
            }
        }
    }
    0
}

/// A position in the file, and memory for the bytes from there on.
type Part = (u64, Vec<u8>);

/// Checks that members do not overlap: a small file could hold any number of large ones then.
fn check_apart<'m>(members: impl Iterator<Item = &'m Member>) -> Result<()> {
    let part = |member: &Member| (member.header, member.header + MEMBER_LEN as u64 + member.stored);
    let mut parts: Vec<(u64, u64)> = members.map(part).collect();
    parts.sort_unstable();
    match parts.windows(2).find(|pair| pair[1].0 < pair[0].1) {
        Some(pair) => Err(damaged(format!("the members at bytes {} and {} overlap", pair[0].0, pair[1].0))),
        None => Ok(()),
    }
}

/// The directory of a zip file.
struct Directory {
    bytes: Vec<u8>,
    count: u64,
    /// Position of the directory in the file.
    at: u64,
    /// Bytes before the zip file that its positions do not count.
    shift: u64,
    comment: Vec<u8>,
}

impl Directory {
    fn read(blob: &dyn Blob) -> Result<Directory> {
        let mut tail = vec![0; TAIL];
        let found = blob.read_suffix(&mut tail)?;
        tail.truncate(found.len);
        let size = found.size;
        let first = size - tail.len() as u64;
        let no_zip = || Error::new(Code::ENOTNC, "it begins as a zip file, and has no directory at its end");
        let at = (0..tail.len().saturating_sub(END_LEN - 1))
            .rev()
            .find(|&at| {
                let comment = usize::from(u16_at(&tail, at + 20));
                tail[at..at + 4] == END && at + END_LEN + comment == tail.len()
            })
            .ok_or_else(no_zip)?;
        let (mut count, mut len, mut begin) = (
            u64::from(u16_at(&tail, at + 10)),
            u64::from(u32_at(&tail, at + 12)),
            u64::from(u32_at(&tail, at + 16)),
        );
        let mut end = first + at as u64;
        if let Some(locator) =
            at.checked_sub(END64_LOCATOR_LEN).filter(|&at| tail[at..at + 4] == END64_LOCATOR)
        {
            let mut place = u64_at(&tail, locator + 8);
            let mut record = [0; END64_LEN];
            let read = |place, record: &mut [u8]| {
                blob.read_exact_at(place, record).map_err(|error| error.at("the end record of Zip64"))
            };
            read(place, &mut record)?;
            // The position may not count what stands before the zip file. The record has no extensible data then.
            if let Some(before) = (first + locator as u64).checked_sub(END64_LEN as u64)
                && record[..4] != END64
            {
                place = before;
                read(place, &mut record)?;
            }
            if record[..4] != END64 {
                return Err(damaged(format!("byte {place} is not the end record of Zip64")));
            }
            (count, len, begin) = (u64_at(&record, 32), u64_at(&record, 40), u64_at(&record, 48));
            end = place;
        }
        if len > MAX_DIRECTORY || count.checked_mul(ENTRY_LEN as u64).is_none_or(|least| least > len) {
            return Err(damaged(format!("{count} members in a directory of {len} bytes")));
        }
        // Something may stand before the zip file, which its positions do not count.
        let shift = end.checked_sub(len).and_then(|real| real.checked_sub(begin)).ok_or_else(|| {
            damaged(format!("a directory of {len} bytes at byte {begin}, and its end is at byte {end}"))
        })?;
        let comment = tail[at + END_LEN..].to_vec();
        let at = begin + shift;
        let bytes = match at.checked_sub(first) {
            Some(at) => tail[at.saturate()..][..len.saturate()].to_vec(),
            None => {
                let mut bytes = zeros(len)?;
                blob.read_exact_at(at, &mut bytes)?;
                bytes
            }
        };
        Ok(Directory { bytes, count, at, shift, comment })
    }
}

/// The parts of an entry of the directory.
pub(super) struct Entry<'d> {
    pub(super) fixed: &'d [u8],
    pub(super) name: &'d [u8],
    pub(super) extra: &'d [u8],
    pub(super) comment: &'d [u8],
}

impl<'d> Entry<'d> {
    /// Finds the parts of the entry at a position of the directory.
    fn parse(directory: &'d [u8], at: usize) -> Result<Entry<'d>> {
        let cut = || damaged("the directory ends within an entry".to_string());
        let bytes = directory.get(at..).ok_or_else(cut)?;
        let (fixed, rest) = bytes.split_at_checked(ENTRY_LEN).ok_or_else(cut)?;
        if fixed[..4] != ENTRY {
            return Err(damaged("something else than an entry is in the directory".to_string()));
        }
        let lens = [28, 30, 32].map(|at| usize::from(u16_at(fixed, at)));
        let (name, rest) = rest.split_at_checked(lens[0]).ok_or_else(cut)?;
        let (extra, rest) = rest.split_at_checked(lens[1]).ok_or_else(cut)?;
        let comment = rest.get(..lens[2]).ok_or_else(cut)?;
        Ok(Entry { fixed, name, extra, comment })
    }

    fn len(&self) -> usize {
        ENTRY_LEN + self.name.len() + self.extra.len() + self.comment.len()
    }

    /// Returns the name of the member, `None` if it is not UTF-8, and the member.
    fn member(&self, entry: usize, shift: u64) -> Result<(Option<String>, Member)> {
        let fixed = self.fixed;
        let name = std::str::from_utf8(self.name).ok().map(str::to_string);
        let method = u16_at(fixed, 10);
        let mut wide = wide_numbers(self.extra);
        let mut number = |at: usize| match u32_at(fixed, at) {
            u32::MAX => wide.next().ok_or_else(|| damaged("an entry lacks its numbers of Zip64".to_string())),
            number => Ok(u64::from(number)),
        };
        let (size, stored, header) = (number(24)?, number(20)?, number(42)?);
        let header = header.checked_add(shift);
        let end = header.and_then(|at| at.checked_add(stored)?.checked_add(MEMBER_LEN as u64));
        let is_deflated = method == 8;
        let problem = match method {
            _ if u16_at(fixed, 8) & ENCRYPTED != 0 => Some(Problem::Encrypted),
            0 | 8 if is_deflated && size > MAX_INFLATED => Some(Problem::TooLarge),
            0 | 8 => None,
            _ => Some(Problem::Method(method)),
        };
        let is_possible = match (problem, is_deflated) {
            (Some(_), _) => true,
            (None, true) => size <= stored.saturating_mul(MAX_RATIO),
            (None, false) => size == stored,
        };
        let Some(header) = header.filter(|_| is_possible && end.is_some_and(|end| end <= i64::MAX as u64))
        else {
            let what =
                format!("the member {:?} has {size} bytes, {stored} in the file", name.unwrap_or_default());
            return Err(damaged(what));
        };
        let (crc, begin) = (u32_at(fixed, 16), OnceLock::new());
        Ok((name, Member { is_deflated, problem, crc, stored, size, header, entry, begin }))
    }
}

/// Returns the extra fields of an entry: number, and bytes with the four before them. What is behind the last whole field is a field of its
/// own, without a number.
pub(super) fn extra_fields(mut extra: &[u8]) -> impl Iterator<Item = (Option<u16>, &[u8])> {
    std::iter::from_fn(move || {
        if extra.is_empty() {
            return None;
        }
        let len = extra.get(2..4).map(|len| 4 + usize::from(u16_at(len, 0)));
        let Some((field, rest)) = len.and_then(|len| extra.split_at_checked(len)) else {
            return Some((None, std::mem::take(&mut extra)));
        };
        extra = rest;
        Some((Some(u16_at(field, 0)), field))
    })
}

/// Returns the numbers of 64 bits of an entry: those that do not fit in its fields, in their order.
pub(super) fn wide_numbers(extra: &[u8]) -> impl Iterator<Item = u64> {
    let field = extra_fields(extra).filter(|(number, _)| *number == Some(ZIP64)).last();
    let numbers = field.map_or(&[][..], |(_, field)| &field[4..]);
    numbers.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes))
}

/// Returns memory for so many bytes.
fn zeros(len: u64) -> Result<Vec<u8>> {
    let no_memory = || Error::new(Code::ENOMEM, format!("no memory for {len} bytes"));
    let len = usize::try_from(len).map_err(|_| no_memory())?;
    let mut bytes = vec![];
    bytes.try_reserve_exact(len).map_err(|_| no_memory())?;
    bytes.resize(len, 0);
    Ok(bytes)
}

fn inflate(member: &Member, stored: &[u8]) -> Result<Vec<u8>> {
    let mut bytes = zeros(member.size)?;
    let done = libdeflater::Decompressor::new().deflate_decompress(stored, &mut bytes);
    match done {
        Ok(len) if len as u64 == member.size => Ok(bytes),
        Ok(len) => Err(damaged(format!("a deflated member of {} bytes has {len}", member.size))),
        Err(error) => Err(damaged(format!("a deflated member cannot be read: {error}"))),
    }
}

fn no_header(at: u64) -> Error {
    damaged(format!("byte {at} is not the header of a member"))
}

pub(super) fn damaged(what: String) -> Error {
    Error::new(Code::ETRUNC, format!("the zip file is damaged: {what}"))
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

impl Store for ZipStore {
    fn get(&self, key: &str, range: ByteRange) -> Result<Option<Fetched>> {
        self.get_many(&[(key, range)]).pop().unwrap_or(Ok(None))
    }

    fn get_many(&self, requests: &[(&str, ByteRange)]) -> Vec<Result<Option<Fetched>>> {
        let found: Vec<Result<Option<&Member>>> = requests.iter().map(|(key, _)| self.member(key)).collect();
        let members: Vec<&Member> =
            found.iter().filter_map(|found| found.as_ref().ok().copied().flatten()).collect();
        let failed = |error: &Error| requests.iter().map(|(key, _)| Err(error.clone().at(key))).collect();
        if let Err(error) = self.locate(&members) {
            return failed(&error);
        }
        let size = match self.blob.size() {
            Ok(size) => size,
            Err(error) => return failed(&error),
        };
        let inflated = members.iter().filter(|member| member.is_deflated).map(|member| member.size);
        if inflated.fold(0u64, u64::saturating_add) > MAX_INFLATED {
            let what = format!("deflated members of more than {MAX_INFLATED} bytes are read at once");
            return failed(&Error::new(Code::ENOMEM, what));
        }
        // The part of the file that each request needs, and memory for it.
        let part = |member: &Member, range: ByteRange| {
            let begin = member.begin.get().copied().unwrap_or(member.header);
            let (start, end) =
                if member.is_deflated { (0, member.stored) } else { range.within(member.size) };
            if begin.saturating_add(member.stored) > size {
                return Err(damaged(format!(
                    "a member of {} bytes at byte {begin} of {size}",
                    member.stored
                )));
            }
            Ok((begin + start, zeros(end - start)?))
        };
        let mut parts: Vec<Result<Option<Part>>> = found
            .iter()
            .zip(requests)
            .map(|(found, &(_, range))| match found {
                Ok(Some(member)) => part(member, range).map(Some),
                Ok(None) => Ok(None),
                Err(error) => Err(error.clone()),
            })
            .collect();
        let mut reads: Vec<ReadRequest<'_>> =
            parts.iter_mut().flatten().flatten().map(|(at, bytes)| ReadRequest::new(*at, bytes)).collect();
        let done = if reads.is_empty() { Ok(()) } else { self.blob.read_many(&mut reads) };
        let is_cut = reads.iter().any(|read| read.len < read.into.len());
        if let Err(error) = done {
            return failed(&error);
        }
        if is_cut {
            return failed(&damaged("it ends within a member".to_string()));
        }
        let answers = parts.into_iter().zip(found).zip(requests);
        answers
            .map(|((part, found), &(key, range))| match (part?, found?) {
                (Some((_, bytes)), Some(member)) => {
                    Self::answer(member, range, bytes).map(Some).map_err(|error| error.at(key))
                }
                _ => Ok(None),
            })
            .collect()
    }

    fn put(&self, key: &str, _bytes: &[u8]) -> Result<Version> {
        Err(only_read(key))
    }

    fn put_if(&self, key: &str, _bytes: &[u8], _expected: Expected<'_>) -> Result<Option<Version>> {
        Err(only_read(key))
    }

    fn delete(&self, key: &str) -> Result<()> {
        Err(only_read(key))
    }

    fn list(&self, folder: &str) -> Result<Listing> {
        check_folder(folder)?;
        Ok(list_in(&self.members, folder))
    }

    fn cost(&self) -> Cost {
        self.blob.cost()
    }

    fn name(&self) -> String {
        self.blob.name()
    }
}

fn only_read(key: &str) -> Error {
    Error::new(Code::EPERM, format!("{key}: this zip file is only read"))
}

impl fmt::Debug for ZipStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ZipStore({}, {} members)", self.blob.name(), self.members.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryBlob;

    /// Packs members: names, bytes, whether they are deflated. With `is_wide`, numbers are those of Zip64.
    fn pack(members: &[(&str, &[u8], bool)], before: &[u8], is_wide: bool) -> Vec<u8> {
        let (mut file, mut directory) = (before.to_vec(), vec![]);
        for (name, bytes, is_deflated) in members {
            let mut deflated = vec![0; bytes.len() + 100];
            let mut compressor = libdeflater::Compressor::new(libdeflater::CompressionLvl::default());
            let len = compressor.deflate_compress(bytes, &mut deflated).unwrap();
            let stored = if *is_deflated { &deflated[..len] } else { bytes };
            let method = if *is_deflated { 8u16 } else { 0 };
            let at = (file.len() - before.len()) as u64;
            let numbers = [bytes.len() as u64, stored.len() as u64, at];
            let shown = numbers.map(|number| if is_wide { u32::MAX } else { number as u32 });
            let common = |to: &mut Vec<u8>| {
                to.extend([20, 0, 0, 0]);
                to.extend(method.to_le_bytes());
                to.extend([0; 4]);
                to.extend(libdeflater::crc32(bytes).to_le_bytes());
                to.extend(shown[1].to_le_bytes());
                to.extend(shown[0].to_le_bytes());
                to.extend((name.len() as u16).to_le_bytes());
            };
            file.extend(MEMBER);
            common(&mut file);
            file.extend([3, 0]);
            file.extend(name.bytes().chain(*b"xyz"));
            file.extend(stored);
            directory.extend(ENTRY);
            directory.extend([20, 0]);
            common(&mut directory);
            let extra: Vec<u8> = match is_wide {
                true => [1u16.to_le_bytes(), 24u16.to_le_bytes()]
                    .concat()
                    .into_iter()
                    .chain(numbers.iter().flat_map(|number| number.to_le_bytes()))
                    .collect(),
                false => vec![],
            };
            directory.extend((extra.len() as u16).to_le_bytes());
            directory.extend([0; 10]);
            directory.extend(shown[2].to_le_bytes());
            directory.extend(name.bytes().chain(extra));
        }
        let begin = (file.len() - before.len()) as u64;
        let (count, len) = (members.len() as u64, directory.len() as u64);
        file.extend(directory);
        if is_wide {
            let place = file.len() as u64;
            file.extend(END64);
            file.extend([0; 20]);
            [count, count, len, begin].iter().for_each(|number| file.extend(number.to_le_bytes()));
            file.extend(END64_LOCATOR);
            file.extend([0; 4]);
            file.extend(place.to_le_bytes());
            file.extend([0; 4]);
        }
        file.extend(END);
        file.extend([0; 4]);
        let count = if is_wide { u16::MAX } else { count as u16 };
        file.extend([count, count].map(u16::to_le_bytes).concat());
        let shown = |number: u64| if is_wide { u32::MAX } else { number as u32 };
        file.extend([shown(len), shown(begin)].map(u32::to_le_bytes).concat());
        file.extend([7, 0]);
        file.extend(b"comment");
        file
    }

    const MEMBERS: [(&str, &[u8], bool); 6] = [
        ("a/", b"", false),
        ("a/b", b"0123456789", false),
        ("a/c", b"old", false),
        ("../out", b"secret", false),
        ("a/c", b"deflated deflated deflated", true),
        ("z", b"", false),
    ];

    fn open(file: Vec<u8>) -> Result<ZipStore> {
        ZipStore::open(Arc::new(MemoryBlob::new(file)))
    }

    #[test]
    fn members_are_objects_and_the_last_of_a_name_counts() {
        for (before, is_wide) in [(&b""[..], false), (b"#!/bin/sh", false), (b"", true)] {
            let store = open(pack(&MEMBERS, before, is_wide)).unwrap();
            let get = |key: &str, range| {
                store.get(key, range).unwrap().map(|found| found.check(key, range).unwrap().bytes)
            };
            assert_eq!(get("a/b", ByteRange::All), Some(b"0123456789".to_vec()));
            assert_eq!(get("a/b", ByteRange::Bounded { start: 2, len: 3 }), Some(b"234".to_vec()));
            assert_eq!(get("a/b", ByteRange::Suffix(2)), Some(b"89".to_vec()));
            assert_eq!(get("a/c", ByteRange::All), Some(b"deflated deflated deflated".to_vec()));
            assert_eq!(get("a/c", ByteRange::Suffix(8)), Some(b"deflated".to_vec()));
            assert_eq!((get("z", ByteRange::All), get("a", ByteRange::All)), (Some(vec![]), None));
            assert_eq!(
                store.list("").unwrap(),
                Listing { objects: vec!["z".into()], folders: vec!["a".into()] }
            );
            assert_eq!(store.list("a").unwrap().objects, ["b", "c"]);
            assert_eq!(store.put("a", b"").unwrap_err().code, Code::EPERM);
        }
    }

    #[test]
    fn a_member_that_changed_is_told() {
        let mut file = pack(&MEMBERS, b"", false);
        let at = file.windows(10).position(|part| part == b"0123456789").unwrap();
        file[at] = b'x';
        let error = open(file).unwrap().get("a/b", ByteRange::All).unwrap_err();
        assert!(error.to_string().contains("a/b") && error.to_string().contains("checksum"), "{error}");
    }

    #[test]
    fn damaged_files_are_errors() {
        for is_wide in [false, true] {
            let file = pack(&MEMBERS, b"", is_wide);
            let read = |file: Vec<u8>| {
                let Ok(store) = open(file) else { return };
                for key in ["a/b", "a/c", "z"] {
                    if let Ok(Some(found)) = store.get(key, ByteRange::All) {
                        assert!(found.total <= 1 << 20);
                    }
                }
            };
            for len in 0..file.len() {
                assert!(open(file[..len].to_vec()).is_err(), "{len} bytes");
            }
            for at in 0..file.len() {
                for byte in [0, 0x7f, 0xff, file[at] ^ 1] {
                    let mut changed = file.clone();
                    changed[at] = byte;
                    read(changed);
                }
            }
        }
    }
}
