//! Filter specifications: text of the form `id,parameter,parameter|id,…`, as in `_Filter`, `nccopy -F` and the C library.
//!
//! The grammar is from "Filter Specification Syntax" and "HDF5 Parameter Encode/Decode" of "NetCDF-4 Filter Support". A
//! parameter is a decimal number with a type suffix. Details that this text leaves open follow netCDF-C: blanks are allowed
//! before a number, `|` at the end, and `[number]` at the start. Values of small types are truncated and zero-extended, as
//! netCDF-C and its plugins do and the older of the two texts says; the newer text specifies sign extension.
//!
//! NetCDF-C parses a number up to the first other character and ignores the rest: `0x10` is 0, `3.25` is 3. The C functions
//! do the same ([`Syntax::NetcdfC`]); text that a user writes gives an error with the position ([`Syntax::Strict`]). A
//! filter may be named instead of numbered.

mod number;

use std::fmt;

use ferrocdf_bytes::{Code, Error, Result};

use crate::identity::FilterId;
use crate::registry::{built_in_names, by_name, entry};

/// A filter with its parameters as HDF5 stores them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Identity of the filter.
    pub id: FilterId,
    /// One number for each parameter of at most 32 bits, two for each parameter of 64 bits, low half first.
    pub params: Vec<u32>,
}

/// A list of filters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// Number in brackets before the list; 0 without one. NetCDF defines no number yet.
    pub format: i32,
    /// Filters in the order in which they encode.
    pub specs: Vec<Spec>,
}

/// Treatment of characters that netCDF-C ignores, and of numbers that are too large for their type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// Both are errors. A number without a type suffix that does not fit in 32 bits has 64 bits.
    Strict,
    /// Both are accepted and have the value that netCDF-C gives them.
    NetcdfC,
}

/// The valid forms of a parameter, for errors.
const PARAMETER_FORMS: &str = "a parameter must be a decimal number with a type suffix: b, ub, s, us, u, l, \
                               ul, f or d, or none for an integer";

impl Spec {
    /// Parses one filter.
    ///
    /// # Errors
    /// `NC_EINVAL`, with the position of the invalid character.
    pub fn parse(text: &[u8], syntax: Syntax) -> Result<Spec> {
        spec(Fragment { text, start: 0 }, syntax).map_err(|error| error.in_text(text))
    }

    /// Returns the HDF5 number of the filter.
    ///
    /// # Errors
    /// `NC_ENOFILTER` for a codec without an HDF5 number, which a netCDF-4 file cannot store.
    pub fn hdf5_id(&self) -> Result<u32> {
        let what = || {
            let id = &self.id;
            format!("codec {id}: it has no HDF5 number; netCDF-4 files store only filters that have one")
        };
        self.id.hdf5().ok_or_else(|| Error::new(Code::ENOFILTER, what()))
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A name of this syntax: the identity `gzip` would be parsed as HDF5's deflate.
        let name = entry(&self.id).and_then(|entry| entry.names.first());
        f.write_str(&match (self.id.hdf5(), name) {
            (None, Some(name)) => print_one(name, &self.params),
            _ => print_one(&self.id, &self.params),
        })
    }
}

impl List {
    /// Parses filters separated by `|`. An empty text is an empty list.
    ///
    /// # Errors
    /// `NC_EINVAL`, with the position of the invalid character.
    pub fn parse(text: &[u8], syntax: Syntax) -> Result<List> {
        list(text, syntax).map_err(|error| error.in_text(text))
    }
}

/// Parses one parameter and returns it as one or two numbers of 32 bits.
///
/// # Errors
/// `NC_EINVAL`, with the position of the invalid character.
pub fn parse_parameter(text: &[u8], syntax: Syntax) -> Result<Vec<u32>> {
    let mut words = vec![];
    parameter(Fragment { text, start: 0 }, syntax, &mut words).map_err(|error| error.in_text(text))?;
    Ok(words)
}

/// Returns the text of filters, each with its number.
pub fn print<'a>(filters: impl IntoIterator<Item = (u32, &'a [u32])>) -> String {
    let filters = filters.into_iter().map(|(id, params)| print_one(id, params));
    filters.collect::<Vec<_>>().join("|")
}

fn print_one(id: impl fmt::Display, params: &[u32]) -> String {
    let words = std::iter::once(id.to_string()).chain(params.iter().map(u32::to_string));
    words.collect::<Vec<_>>().join(",")
}

/// Converts 8 bytes between the byte order of a machine and the order in which HDF5 stores 64 bits: two 32-bit numbers of
/// that machine, low half first. The conversion is its own inverse, and the identity on little-endian machines.
pub fn fix8(bytes: &mut [u8; 8], big_endian: bool) {
    if big_endian {
        bytes.rotate_left(4);
    }
}

/// A part of the text and its byte offset in the text.
#[derive(Clone, Copy)]
struct Fragment<'a> {
    text: &'a [u8],
    start: usize,
}

impl<'a> Fragment<'a> {
    fn skip(self, len: usize) -> Fragment<'a> {
        Fragment { text: &self.text[len..], start: self.start + len }
    }

    fn split(self, separator: u8) -> impl Iterator<Item = Fragment<'a>> {
        let mut start = self.start;
        self.text.split(move |&byte| byte == separator).map(move |text| {
            let fragment = Fragment { text, start };
            start += text.len() + 1;
            fragment
        })
    }

    /// Returns an error at byte `offset` of the fragment.
    fn error<T>(self, offset: usize, reason: impl Into<String>) -> Result<T, SyntaxError> {
        Err(SyntaxError { offset: self.start + offset, reason: reason.into() })
    }
}

/// An error at a byte offset of the text.
struct SyntaxError {
    offset: usize,
    reason: String,
}

impl SyntaxError {
    fn in_text(self, text: &[u8]) -> Error {
        let shown = String::from_utf8_lossy(text);
        let before = String::from_utf8_lossy(&text[..self.offset.min(text.len())]).chars().count();
        let position = match shown.chars().nth(before) {
            Some(letter) => format!("character {} ('{letter}')", before + 1),
            None => "end of text".to_string(),
        };
        Error::new(Code::EINVAL, format!("filters \"{shown}\": {position}: {}", self.reason))
    }
}

fn list(text: &[u8], syntax: Syntax) -> Result<List, SyntaxError> {
    let whole = Fragment { text, start: 0 };
    let (format, filters) = match text.first() {
        Some(b'[') => {
            let Some(end) = text.iter().position(|&byte| byte == b']') else {
                return whole.error(text.len(), "the bracket is not closed by ]");
            };
            match number::integer(&text[1..end]) {
                Some(format) => (format.signed() as i32, whole.skip(end + 1)),
                None => return whole.error(1, "brackets must contain a number"),
            }
        }
        _ => (0, whole),
    };
    if filters.text.is_empty() {
        return Ok(List { format, specs: vec![] });
    }
    let text = filters.text.strip_suffix(b"|").unwrap_or(filters.text);
    let specs: Result<Vec<Spec>, SyntaxError> =
        Fragment { text, ..filters }.split(b'|').map(|filter| spec(filter, syntax)).collect();
    Ok(List { format, specs: specs? })
}

fn spec(filter: Fragment<'_>, syntax: Syntax) -> Result<Spec, SyntaxError> {
    let mut fields = filter.split(b',');
    let id = match fields.next() {
        Some(first) => identity(first, syntax)?,
        None => return filter.error(0, "a filter is missing"),
    };
    let mut params = vec![];
    for field in fields {
        parameter(field, syntax, &mut params)?;
    }
    Ok(Spec { id, params })
}

/// Parses the number or the name of a filter.
fn identity(field: Fragment<'_>, syntax: Syntax) -> Result<FilterId, SyntaxError> {
    let start = field.text.len() - field.text.trim_ascii_start().len();
    let Some(number) = number::integer(field.text) else {
        let name = String::from_utf8_lossy(field.text.trim_ascii()).into_owned();
        return match by_name(&name) {
            Some(id) => Ok(id),
            None if name.is_empty() => field.error(start, "a filter is missing: a number or a name"),
            None => {
                let names = built_in_names();
                let reason = format!(
                    "no filter is called {name}; use {names}, or a filter that `ferrocdf plugins list` shows"
                );
                field.error(start, reason)
            }
        };
    };
    if syntax == Syntax::NetcdfC {
        return Ok((number.unsigned() as u32).into());
    }
    let rest = field.text[number.end..].trim_ascii();
    if !rest.is_empty() {
        let offset = field.text.trim_ascii_end().len() - rest.len();
        return field.error(offset, "only a comma may follow the number of a filter");
    }
    match u32::try_from(number.magnitude) {
        Ok(id) if !number.negative => Ok(id.into()),
        _ => field.error(start, "a filter number must be from 0 to 4294967295"),
    }
}

/// Type of a parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ParamType {
    /// Integer of 8, 16 or 32 bits.
    Integer(u32),
    /// Integer of 64 bits.
    Long,
    Float,
    Double,
}

/// Returns the type of a parameter by its last character.
fn kind(last: u8) -> Option<ParamType> {
    Some(match last.to_ascii_lowercase() {
        b'b' => ParamType::Integer(8),
        b's' => ParamType::Integer(16),
        b'u' | b'0'..=b'9' => ParamType::Integer(32),
        b'l' => ParamType::Long,
        b'f' | b'.' => ParamType::Float,
        b'd' => ParamType::Double,
        _ => return None,
    })
}

/// Parses a parameter and appends it to `words`.
fn parameter(field: Fragment<'_>, syntax: Syntax, words: &mut Vec<u32>) -> Result<(), SyntaxError> {
    let field = field.skip(field.text.len() - field.text.trim_ascii_start().len());
    let text = field.text;
    let Some(&last) = text.last() else {
        return field.error(0, format!("a parameter is missing: {PARAMETER_FORMS}"));
    };
    let Some(kind) = kind(last) else {
        let (_, end) = number::float(text).unwrap_or((0.0, 0));
        return field.error(end, PARAMETER_FORMS);
    };
    let halves = |bits: u64| [bits as u32, (bits >> 32) as u32];
    if let ParamType::Float | ParamType::Double = kind {
        let Some((value, end)) = number::float(text) else { return field.error(0, PARAMETER_FORMS) };
        if syntax == Syntax::Strict {
            check_suffix(field, end, kind)?;
        }
        match kind {
            ParamType::Double => words.extend(halves(value.to_bits())),
            _ => words.push((value as f32).to_bits()),
        }
        return Ok(());
    }
    let Some(number) = number::integer(text) else { return field.error(0, PARAMETER_FORMS) };
    // NetCDF-C looks for `u` only in the last character but one.
    let mut unsigned = text.len() > 2 && text[text.len() - 2].eq_ignore_ascii_case(&b'u');
    if syntax == Syntax::Strict {
        let suffix = check_suffix(field, number.end, kind)?;
        unsigned = suffix.iter().any(|letter| letter.eq_ignore_ascii_case(&b'u'));
        if kind == ParamType::Integer(32)
            && suffix.is_empty()
            && !number.negative
            && number.magnitude >> 32 != 0
        {
            check_range(field, number, ParamType::Long, true)?;
            words.extend(halves(number.unsigned()));
            return Ok(());
        }
        check_range(field, number, kind, unsigned)?;
    }
    match kind {
        ParamType::Integer(bits) => {
            let word = if number.negative { number.signed() as u32 } else { number.unsigned() as u32 };
            words.push(word & (u32::MAX >> (32 - bits)));
        }
        _ if unsigned => words.extend(halves(number.unsigned())),
        _ => words.extend(halves(number.signed() as u64)),
    }
    Ok(())
}

/// Returns the text after a number, which must be a suffix of its type and nothing else.
fn check_suffix<'a>(field: Fragment<'a>, end: usize, kind: ParamType) -> Result<&'a [u8], SyntaxError> {
    let digits = field.text.strip_prefix(b"-").unwrap_or(field.text);
    if digits.len() > 1 && digits[..2].eq_ignore_ascii_case(b"0x") {
        return field.error(field.text.len() - digits.len() + 1, PARAMETER_FORMS);
    }
    let suffix = &field.text[end..];
    let allowed: &[&[u8]] = match kind {
        ParamType::Integer(8) => &[b"b", b"ub"],
        ParamType::Integer(16) => &[b"s", b"us"],
        ParamType::Integer(_) => &[b"", b"u"],
        ParamType::Long => &[b"l", b"ul", b"ll", b"ull"],
        ParamType::Float if field.text.ends_with(b".") => &[b""],
        ParamType::Float => &[b"f"],
        ParamType::Double => &[b"d"],
    };
    match allowed.iter().any(|allowed| suffix.eq_ignore_ascii_case(allowed)) {
        true => Ok(suffix),
        false => field.error(end, PARAMETER_FORMS),
    }
}

/// Checks that a number is in the range of its type. Small types have no check: their values are truncated.
fn check_range(
    field: Fragment<'_>,
    number: number::Integer,
    kind: ParamType,
    unsigned: bool,
) -> Result<(), SyntaxError> {
    let (bits, advice) = match kind {
        ParamType::Integer(32) if unsigned => (32, "; use the suffix ul"),
        ParamType::Integer(32) => (32, "; use the suffix l"),
        ParamType::Long if !unsigned && !number.negative => (64, "; use the suffix ul"),
        _ => (64, ""),
    };
    // A signed type has one more negative number than positive ones.
    let signed = number.negative || (kind == ParamType::Long && !unsigned);
    let max = match (signed, number.negative) {
        (true, true) => 1u128 << (bits - 1),
        (true, false) => (1 << (bits - 1)) - 1,
        _ => (1 << bits) - 1,
    };
    if number.magnitude > max {
        return field.error(0, format!("the number does not fit in {bits} bits{advice}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
