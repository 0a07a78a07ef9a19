//! Filters as Zarr spells them: numcodecs dictionaries (Zarr v2), which netCDF-C calls codecs, and Zarr v3 codecs.
//!
//! Each filter's own file holds its spellings ([`Spelling`]). In numcodecs dictionaries the keys and their order are those of
//! netCDF-C's codec plugins, defaults those of numcodecs; a number may be written as text, as netCDF-C takes it. A codec
//! stands for the filter that makes the same *bytes*: `lz4` of numcodecs has a frame that no HDF5 filter has, and is not read
//! as LZ4; for LZ4 and LZF as HDF5 stores them there are names in imagecodecs. A filter without a Zarr v3 name of its own is
//! spelled there as zarr-python does it: `numcodecs.` and its numcodecs `id`.

use std::ops::RangeInclusive;

use ferrocdf_bytes::{Code, Error, Result};
use serde_json::{Map, Value};

use crate::filters::ENTRIES;
use crate::identity::FilterId;
use crate::registry::entry;

/// How a filter is written as JSON.
pub struct Spelling {
    /// The value of `id` (numcodecs) or `name` (Zarr v3).
    pub id: &'static str,
    /// Returns the other keys and their values for these parameters: those that a caller gives, or those that a file has.
    pub write: fn(&[u32]) -> Result<Fields>,
    /// Returns the parameters that a caller would give for this dictionary.
    pub read: fn(&Dictionary) -> Result<Vec<u32>>,
}

/// Keys and values in their order.
pub type Fields = Vec<(&'static str, Value)>;

/// Identity and parameters of a filter, as a caller gives them.
pub type Parameters = (FilterId, Vec<u32>);

/// Longest text of a dictionary, in bytes.
const LONGEST: usize = 1 << 16;

/// What the names of numcodecs filters begin with in Zarr v3.
const NUMCODECS: &str = "numcodecs.";

/// Returns the numcodecs dictionary of a built-in filter; `None` if it has none or is not built in.
///
/// # Errors
/// `EFILTER` for parameters that the filter does not have.
pub fn to_numcodecs(id: &FilterId, params: &[u32]) -> Option<Result<String>> {
    let spelling = entry(id)?.numcodecs.as_ref()?;
    Some((spelling.write)(params).map(|fields| {
        let fields = fields.iter().map(|(key, value)| format!(", \"{key}\": {value}"));
        format!("{{\"id\": \"{}\"{}}}", spelling.id, fields.collect::<String>())
    }))
}

/// Returns the filter that a numcodecs dictionary spells, with the parameters that a caller would give; `None` if no built-in
/// filter has its `id`.
///
/// # Errors
/// `EFILTER` for text that is not a JSON dictionary with an `id`, and for values that the filter does not have.
pub fn from_numcodecs(json: &str) -> Option<Result<Parameters>> {
    let dictionary = match Dictionary::parse(json, "id") {
        Ok(dictionary) => dictionary,
        Err(error) => return Some(Err(error)),
    };
    read(&dictionary, &dictionary.id, |entry| entry.numcodecs.as_ref())
}

/// Returns the numcodecs `id` of a built-in filter; `None` if it has none or is not built in.
pub fn numcodecs_id(id: &FilterId) -> Option<&'static str> {
    Some(entry(id)?.numcodecs.as_ref()?.id)
}

/// Returns the Zarr v3 metadata of a built-in filter, `{"name": …, "configuration": …}`; `None` if it has no spelling or is not
/// built in.
///
/// # Errors
/// `EFILTER` for parameters that the filter does not have.
pub fn to_zarr_v3(id: &FilterId, params: &[u32]) -> Option<Result<String>> {
    let entry = entry(id)?;
    let (prefix, spelling) = match (&entry.zarr_v3, &entry.numcodecs) {
        (Some(own), _) => ("", own),
        (None, Some(numcodecs)) => (NUMCODECS, numcodecs),
        (None, None) => return None,
    };
    Some((spelling.write)(params).map(|fields| {
        let name = format!("{prefix}{}", spelling.id);
        let mut json = Map::from_iter([("name".to_string(), Value::String(name))]);
        if !fields.is_empty() {
            let fields = fields.into_iter().map(|(key, value)| (key.to_string(), value)).collect();
            json.insert("configuration".to_string(), Value::Object(fields));
        }
        Value::Object(json).to_string()
    }))
}

/// Returns the filter that Zarr v3 metadata spells, with the parameters that a caller would give; `None` if no built-in filter
/// has its name.
///
/// # Errors
/// `EFILTER` for text that is not a JSON dictionary with a `name`, and for values that the filter does not have.
pub fn from_zarr_v3(json: &str) -> Option<Result<Parameters>> {
    let dictionary = match Dictionary::parse(json, "name").and_then(Dictionary::configuration) {
        Ok(dictionary) => dictionary,
        Err(error) => return Some(Err(error)),
    };
    read(&dictionary, &dictionary.id, |entry| entry.zarr_v3.as_ref()).or_else(|| {
        let id = dictionary.id.strip_prefix(NUMCODECS)?;
        read(&dictionary, id, |entry| entry.numcodecs.as_ref())
    })
}

/// Reads a dictionary by the spelling that has this name.
fn read(
    dictionary: &Dictionary,
    name: &str,
    spelling: impl Fn(&'static crate::registry::Entry) -> Option<&'static Spelling>,
) -> Option<Result<Parameters>> {
    let mut spellings = ENTRIES.iter().filter_map(|entry| Some((&entry.id, spelling(entry)?)));
    let (id, spelling) = spellings.find(|(_, spelling)| spelling.id == name)?;
    Some((spelling.read)(dictionary).map(|params| (id.clone(), params)))
}

/// A dictionary that was read.
pub struct Dictionary {
    id: String,
    values: Map<String, Value>,
}

impl Dictionary {
    /// Reads a dictionary whose name is the value of `key`.
    fn parse(json: &str, key: &str) -> Result<Dictionary> {
        let wrong = |why: &str| Err(Error::new(Code::EFILTER, format!("a codec in JSON {why}")));
        if json.len() > LONGEST {
            return wrong(&format!("has {} bytes, and {LONGEST} at most", json.len()));
        }
        let values = match serde_json::from_str(json) {
            Ok(Value::Object(values)) => values,
            Ok(_) => return wrong("is not a dictionary"),
            Err(error) => return wrong(&format!("cannot be read: {error}")),
        };
        match values.get(key) {
            Some(Value::String(id)) => Ok(Dictionary { id: id.clone(), values }),
            Some(_) => wrong(&format!("has an \"{key}\" that is not text")),
            None => wrong(&format!("has no \"{key}\"")),
        }
    }

    /// The configuration in Zarr v3 metadata; it may be missing.
    fn configuration(mut self) -> Result<Dictionary> {
        match self.values.remove("configuration") {
            None => Ok(Dictionary { id: self.id, values: Map::new() }),
            Some(Value::Object(values)) => Ok(Dictionary { id: self.id, values }),
            Some(other) => {
                let what =
                    format!("the codec {} has \"configuration\": {other}, and not a dictionary", self.id);
                Err(Error::new(Code::EFILTER, what))
            }
        }
    }

    fn wrong(&self, key: &str, why: &str) -> Error {
        let value = &self.values.get(key).unwrap_or(&Value::Null);
        Error::new(Code::EFILTER, format!("the codec {} has \"{key}\": {value}, {why}", self.id))
    }

    /// Returns a list of numbers within bounds, which must be there.
    pub fn numbers(&self, key: &str, bounds: RangeInclusive<i64>) -> Result<Vec<u32>> {
        let number = |value: &Value| value.as_i64().filter(|number| bounds.contains(number));
        let list = match self.values.get(key) {
            Some(Value::Array(list)) => list.iter().map(|value| u32::try_from(number(value)?).ok()).collect(),
            _ => None,
        };
        list.ok_or_else(|| {
            self.wrong(
                key,
                &format!("and not a list of whole numbers from {} to {}", bounds.start(), bounds.end()),
            )
        })
    }

    /// Returns a number within bounds; `other` if it is missing or null.
    pub fn number(&self, key: &str, other: i64, bounds: RangeInclusive<i64>) -> Result<i64> {
        let number = match self.values.get(key) {
            None | Some(Value::Null) => return Ok(other),
            Some(Value::Number(number)) => number.as_i64(),
            Some(Value::String(text)) => text.parse().ok(),
            Some(_) => None,
        };
        let within = number.filter(|number| bounds.contains(number));
        within.ok_or_else(|| {
            let why = format!("and not a whole number from {} to {}", bounds.start(), bounds.end());
            self.wrong(key, &why)
        })
    }

    /// Returns a boolean; `other` if it is missing or null.
    pub fn flag(&self, key: &str, other: bool) -> Result<bool> {
        match self.values.get(key) {
            None | Some(Value::Null) => Ok(other),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(self.wrong(key, "and neither true nor false")),
        }
    }

    /// Returns the position of a word in a list; `other` if it is missing or null.
    pub fn word(&self, key: &str, other: u32, words: &[&str]) -> Result<u32> {
        let place = match self.values.get(key) {
            None | Some(Value::Null) => return Ok(other),
            Some(Value::String(word)) => words.iter().position(|other| other == word),
            Some(_) => None,
        };
        let wrong = || self.wrong(key, &format!("and not one of {}", words.join(", ")));
        place.map(|place| place as u32).ok_or_else(wrong)
    }
}

/// The spelling of a filter that has one parameter, its level, which is an unsigned number.
macro_rules! level_spelling {
    ($id:literal, $levels:expr, $other:literal) => {
        $crate::json::Spelling {
            id: $id,
            write: |params| match *params {
                [level, ..] if $levels.contains(&i64::from(level)) => Ok(vec![("level", level.into())]),
                _ => Err($crate::filter::bad_params(format!("{} has no level {params:?}", $id))),
            },
            read: |json| Ok(vec![json.number("level", $other, $levels)? as u32]),
        }
    };
}
pub(crate) use level_spelling;
