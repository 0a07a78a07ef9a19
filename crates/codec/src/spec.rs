//! Filters as text: `id,parameter,parameter|id,…`, the words of `_Filter`, of `nccopy -F` and of the C library.
//!
//! From "Filter Specification Syntax", the grammar, and "HDF5 Parameter Encode/Decode" of "NetCDF-4 Filter Support". A
//! parameter is a decimal number whose last letters are its type. What the text leaves open is as in the reference:
//! blanks may stand before a number, a `|` may stand at the end, `[number]` may stand before it all. Small types are cut
//! off and filled up with zeros, as the reference and its plugins have it and the older of the two texts says; the newer
//! one would fill up with the sign.
//!
//! The reference reads a number as far as it is one and drops what follows: `0x10` is 0, `3.25` is 3. Programs that call
//! the C functions get the same ([`Rest::Dropped`]); people get an error that says where ([`Rest::Refused`]). A name may
//! stand for the number of a filter.

mod number;

use std::fmt;

use ferrocdf_bytes::{Code, Error, Result};

use crate::identity::FilterId;
use crate::registry::{by_name, entry, known_names};

/// A filter by its identity, with its parameters as HDF5 takes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Its identity.
    pub id: FilterId,
    /// One number for each parameter of at most 32 bits, two for those of 64: the low half first.
    pub params: Vec<u32>,
}

/// Several filters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// What stands in brackets before them, 0 if nothing does. No number has a meaning so far.
    pub format: i32,
    /// The filters, in the order in which data goes through them when it is written.
    pub specs: Vec<Spec>,
}

/// What to do with characters that the reference does not look at, and numbers that are too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// They are errors. A number without a type that needs 64 bits has 64 bits.
    Refused,
    /// They count for what the reference takes them for.
    Dropped,
}

/// What a parameter may be.
const ALLOWED: &str = "a parameter is a decimal number, with its type behind it: b, ub, s, us, u, l, ul, f or d, or \
                       none for an integer";

impl Spec {
    /// Reads one filter.
    ///
    /// # Errors
    /// `NC_EINVAL`, with the number of the character that is wrong.
    pub fn parse(text: &[u8], rest: Rest) -> Result<Spec> {
        spec(Part { text, at: 0 }, rest).map_err(|fault| fault.error(text))
    }

    /// Returns the HDF5 number of the filter.
    ///
    /// # Errors
    /// `NC_ENOFILTER` for a codec that has no number, which HDF5 files cannot hold.
    pub fn hdf5_id(&self) -> Result<u32> {
        let what = || {
            format!(
                "the codec {} has no HDF5 number; netCDF-4 files hold only filters that have one",
                self.id
            )
        };
        self.id.hdf5().ok_or_else(|| Error::new(Code::ENOFILTER, what()))
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A name of the text: `gzip` is HDF5's deflate there.
        let name = entry(&self.id).and_then(|entry| entry.names.first());
        f.write_str(&match (self.id.hdf5(), name) {
            (None, Some(name)) => print_one(name, &self.params),
            _ => print_one(&self.id, &self.params),
        })
    }
}

impl List {
    /// Reads filters with `|` between them. No text is no filters.
    ///
    /// # Errors
    /// `NC_EINVAL`, with the number of the character that is wrong.
    pub fn parse(text: &[u8], rest: Rest) -> Result<List> {
        list(text, rest).map_err(|fault| fault.error(text))
    }
}

/// Reads one parameter: one number of 32 bits, or two.
///
/// # Errors
/// `NC_EINVAL`, with the number of the character that is wrong.
pub fn parse_parameter(text: &[u8], rest: Rest) -> Result<Vec<u32>> {
    let mut words = vec![];
    parameter(Part { text, at: 0 }, rest, &mut words).map_err(|fault| fault.error(text))?;
    Ok(words)
}

/// Returns filters as text, each by its number.
pub fn print<'a>(filters: impl IntoIterator<Item = (u32, &'a [u32])>) -> String {
    let filters = filters.into_iter().map(|(id, params)| print_one(id, params));
    filters.collect::<Vec<_>>().join("|")
}

fn print_one(id: impl fmt::Display, params: &[u32]) -> String {
    let words = std::iter::once(id.to_string()).chain(params.iter().map(u32::to_string));
    words.collect::<Vec<_>>().join(",")
}

/// Turns the bytes of 64 bits between the order of a machine and the one in which HDF5 takes them as two numbers of that
/// machine: the low half first. The way back is the same. Machines whose low byte is first have it so.
pub fn fix8(bytes: &mut [u8; 8], big_endian: bool) {
    if big_endian {
        bytes.rotate_left(4);
    }
}

/// A piece of the text, and where in it.
#[derive(Clone, Copy)]
struct Part<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Part<'a> {
    fn from(self, start: usize) -> Part<'a> {
        Part { text: &self.text[start..], at: self.at + start }
    }

    fn split(self, between: u8) -> impl Iterator<Item = Part<'a>> {
        let mut at = self.at;
        self.text.split(move |&byte| byte == between).map(move |text| {
            let part = Part { text, at };
            at += text.len() + 1;
            part
        })
    }

    /// The fault of the character at `at` of this.
    fn fault<T>(self, at: usize, what: impl Into<String>) -> Result<T, Fault> {
        Err(Fault { at: self.at + at, what: what.into() })
    }
}

/// What is wrong with which byte of the text.
struct Fault {
    at: usize,
    what: String,
}

impl Fault {
    fn error(self, text: &[u8]) -> Error {
        let shown = String::from_utf8_lossy(text);
        let before = String::from_utf8_lossy(&text[..self.at.min(text.len())]).chars().count();
        let which = match shown.chars().nth(before) {
            Some(letter) => format!("character {}, '{letter}'", before + 1),
            None => "the end".to_string(),
        };
        Error::new(Code::EINVAL, format!("{which}, of the filters \"{shown}\": {}", self.what))
    }
}

fn list(text: &[u8], rest: Rest) -> Result<List, Fault> {
    let whole = Part { text, at: 0 };
    let (format, part) = match text.first() {
        Some(b'[') => {
            let Some(end) = text.iter().position(|&byte| byte == b']') else {
                return whole.fault(text.len(), "a bracket is closed by ]");
            };
            match number::integer(&text[1..end]) {
                Some(format) => (format.signed() as i32, whole.from(end + 1)),
                None => return whole.fault(1, "a number is in brackets"),
            }
        }
        _ => (0, whole),
    };
    if part.text.is_empty() {
        return Ok(List { format, specs: vec![] });
    }
    let text = part.text.strip_suffix(b"|").unwrap_or(part.text);
    let specs: Result<Vec<Spec>, Fault> =
        Part { text, ..part }.split(b'|').map(|one| spec(one, rest)).collect();
    Ok(List { format, specs: specs? })
}

fn spec(part: Part<'_>, rest: Rest) -> Result<Spec, Fault> {
    let mut parts = part.split(b',');
    let id = match parts.next() {
        Some(first) => identity(first, rest)?,
        None => return part.fault(0, "a filter is missing"),
    };
    let mut params = vec![];
    for part in parts {
        parameter(part, rest, &mut params)?;
    }
    Ok(Spec { id, params })
}

/// The number or the name of a filter.
fn identity(part: Part<'_>, rest: Rest) -> Result<FilterId, Fault> {
    let start = part.text.len() - part.text.trim_ascii_start().len();
    let Some(number) = number::integer(part.text) else {
        let name = String::from_utf8_lossy(part.text.trim_ascii()).into_owned();
        return match by_name(&name) {
            Some(id) => Ok(id),
            None if name.is_empty() => part.fault(start, "a filter is missing: a number, or a name"),
            None => {
                let names = known_names();
                let what = format!(
                    "no filter is called {name}; there are {names}, and those that `ferrocdf plugins list` tells"
                );
                part.fault(start, what)
            }
        };
    };
    if rest == Rest::Dropped {
        return Ok((number.unsigned() as u32).into());
    }
    let behind = part.text[number.end..].trim_ascii();
    if !behind.is_empty() {
        let at = part.text.trim_ascii_end().len() - behind.len();
        return part.fault(at, "a comma comes behind the number of a filter");
    }
    match u32::try_from(number.size) {
        Ok(id) if !number.negative => Ok(id.into()),
        _ => part.fault(start, "numbers of filters are 0 to 4294967295"),
    }
}

/// The types of parameters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Integers of so many bits: 8, 16 or 32.
    Integer(u32),
    Long,
    Float,
    Double,
}

/// The type of a parameter by its last letter.
fn kind(last: u8) -> Option<Kind> {
    Some(match last.to_ascii_lowercase() {
        b'b' => Kind::Integer(8),
        b's' => Kind::Integer(16),
        b'u' | b'0'..=b'9' => Kind::Integer(32),
        b'l' => Kind::Long,
        b'f' | b'.' => Kind::Float,
        b'd' => Kind::Double,
        _ => return None,
    })
}

/// Reads a parameter to the end of `words`.
fn parameter(part: Part<'_>, rest: Rest, words: &mut Vec<u32>) -> Result<(), Fault> {
    let part = part.from(part.text.len() - part.text.trim_ascii_start().len());
    let text = part.text;
    let Some(&last) = text.last() else {
        return part.fault(0, format!("a parameter is missing: {ALLOWED}"));
    };
    let Some(kind) = kind(last) else {
        let (_, end) = number::float(text).unwrap_or((0.0, 0));
        return part.fault(end, ALLOWED);
    };
    let wide = |bits: u64| [bits as u32, (bits >> 32) as u32];
    if let Kind::Float | Kind::Double = kind {
        let Some((value, end)) = number::float(text) else { return part.fault(0, ALLOWED) };
        if rest == Rest::Refused {
            check_behind(part, end, kind)?;
        }
        match kind {
            Kind::Double => words.extend(wide(value.to_bits())),
            _ => words.push((value as f32).to_bits()),
        }
        return Ok(());
    }
    let Some(number) = number::integer(text) else { return part.fault(0, ALLOWED) };
    // The reference looks for this one letter.
    let mut unsigned = text.len() > 2 && text[text.len() - 2].eq_ignore_ascii_case(&b'u');
    if rest == Rest::Refused {
        let behind = check_behind(part, number.end, kind)?;
        unsigned = behind.iter().any(|letter| letter.eq_ignore_ascii_case(&b'u'));
        if kind == Kind::Integer(32) && behind.is_empty() && !number.negative && number.size >> 32 != 0 {
            check_size(part, number, Kind::Long, true)?;
            words.extend(wide(number.unsigned()));
            return Ok(());
        }
        check_size(part, number, kind, unsigned)?;
    }
    match kind {
        Kind::Integer(bits) => {
            let word = if number.negative { number.signed() as u32 } else { number.unsigned() as u32 };
            words.push(word & (u32::MAX >> (32 - bits)));
        }
        _ if unsigned => words.extend(wide(number.unsigned())),
        _ => words.extend(wide(number.signed() as u64)),
    }
    Ok(())
}

/// What is behind a number, which must be the letters of its type and nothing else.
fn check_behind<'a>(part: Part<'a>, end: usize, kind: Kind) -> Result<&'a [u8], Fault> {
    let digits = part.text.strip_prefix(b"-").unwrap_or(part.text);
    if digits.len() > 1 && digits[..2].eq_ignore_ascii_case(b"0x") {
        return part.fault(part.text.len() - digits.len() + 1, ALLOWED);
    }
    let behind = &part.text[end..];
    let right: &[&[u8]] = match kind {
        Kind::Integer(8) => &[b"b", b"ub"],
        Kind::Integer(16) => &[b"s", b"us"],
        Kind::Integer(_) => &[b"", b"u"],
        Kind::Long => &[b"l", b"ul", b"ll", b"ull"],
        Kind::Float if part.text.ends_with(b".") => &[b""],
        Kind::Float => &[b"f"],
        Kind::Double => &[b"d"],
    };
    match right.iter().any(|right| behind.eq_ignore_ascii_case(right)) {
        true => Ok(behind),
        false => part.fault(end, ALLOWED),
    }
}

/// Checks that a number has no more bits than its type, but for the small types: those are cut off.
fn check_size(part: Part<'_>, number: number::Integer, kind: Kind, unsigned: bool) -> Result<(), Fault> {
    let (bits, wider) = match kind {
        Kind::Integer(32) if unsigned => (32, "; it may have the type ul"),
        Kind::Integer(32) => (32, "; it may have the type l"),
        Kind::Long if !unsigned && !number.negative => (64, "; it may have the type ul"),
        _ => (64, ""),
    };
    // Half of the numbers of a signed type, and one more, are negative.
    let signed = number.negative || (kind == Kind::Long && !unsigned);
    let most = match (signed, number.negative) {
        (true, true) => 1u128 << (bits - 1),
        (true, false) => (1 << (bits - 1)) - 1,
        _ => (1 << bits) - 1,
    };
    if number.size > most {
        return part.fault(0, format!("this does not fit in {bits} bits{wider}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
