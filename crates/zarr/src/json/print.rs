//! The text of a value: on one line, spaced as netCDF-C and this library write it.

use std::fmt::{Formatter, Result, Write};

use super::{Json, float};

pub(super) fn print(json: &Json, f: &mut Formatter<'_>) -> Result {
    match json {
        Json::Null => f.write_str("null"),
        Json::Bool(value) => write!(f, "{value}"),
        // In legal JSON they are strings, as in the fill values of Zarr.
        Json::Number(text) if float(text).is_some_and(|number| !number.is_finite()) && is_name(text) => {
            string(text, f)
        }
        Json::Number(text) => f.write_str(text),
        Json::String(text) => string(text, f),
        Json::Array(values) => list(values.iter(), ["[", ",", "]"], f, print),
        Json::Object(members) => list(members.iter(), ["{", ", ", "}"], f, |(name, value), f| {
            string(name, f)?;
            f.write_str(": ")?;
            print(value, f)
        }),
    }
}

/// True for `NaN` and the infinities, which are no numbers in JSON; a number with too many digits may be infinite too.
fn is_name(text: &str) -> bool {
    text.ends_with(['N', 'y'])
}

fn list<T>(
    items: impl Iterator<Item = T>,
    [begin, between, end]: [&str; 3],
    f: &mut Formatter<'_>,
    print: impl Fn(T, &mut Formatter<'_>) -> Result,
) -> Result {
    f.write_str(begin)?;
    for (number, item) in items.enumerate() {
        if number > 0 {
            f.write_str(between)?;
        }
        print(item, f)?;
    }
    f.write_str(end)
}

fn string(text: &str, f: &mut Formatter<'_>) -> Result {
    f.write_char('"')?;
    for char in text.chars() {
        match char {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            '\u{8}' => f.write_str("\\b")?,
            '\u{c}' => f.write_str("\\f")?,
            char if char < ' ' => write!(f, "\\u{:04x}", u32::from(char))?,
            char => f.write_char(char)?,
        }
    }
    f.write_char('"')
}
