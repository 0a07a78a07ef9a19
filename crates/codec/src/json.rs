//! Filters as Zarr writes them down: a JSON dictionary with an `id` (numcodecs), which netCDF-C calls a codec.
//!
//! Each filter that has such a spelling tells it in its own file ([`Spelling`]). Keys and their order are those of
//! netCDF-C's codec plugins, defaults those of numcodecs; a number may be written as text, as netCDF-C takes it. A codec
//! stands for the filter whose *bytes* it makes: `gzip` and `lz4` of numcodecs have frames that no HDF5 filter has, and
//! are not read as deflate and LZ4; for LZ4 and LZF as HDF5 stores them there are names in imagecodecs.

use std::ops::RangeInclusive;

use ferrocdf_bytes::{Code, Error, Result};
use serde_json::{Map, Value};

use crate::filters::ENTRIES;
use crate::registry::entry;

/// How a filter is written down in JSON.
pub struct Spelling {
    /// What the dictionary has as `id`.
    pub id: &'static str,
    /// The other keys and their values for these parameters: those that a caller gives, or those that a file has.
    pub write: fn(&[u32]) -> Result<Fields>,
    /// The parameters that a caller would give for this dictionary.
    pub read: fn(&Dictionary) -> Result<Vec<u32>>,
}

/// Keys and values in their order.
pub type Fields = Vec<(&'static str, Value)>;

/// A dictionary longer than so many bytes is none that describes a filter.
const LONGEST: usize = 1 << 16;

/// The JSON dictionary of a built-in filter; `None` if the filter has none or is not built in.
///
/// # Errors
/// `EFILTER` for parameters that the filter does not have.
pub fn codec_of(id: u32, params: &[u32]) -> Option<Result<String>> {
    let spelling = entry(id)?.json.as_ref()?;
    Some((spelling.write)(params).map(|fields| {
        let fields = fields.iter().map(|(key, value)| format!(", \"{key}\": {value}"));
        format!("{{\"id\": \"{}\"{}}}", spelling.id, fields.collect::<String>())
    }))
}

/// The filter that a JSON dictionary tells: its HDF5 number, and the parameters that a caller would give. `None` if no
/// built-in filter is called so.
///
/// # Errors
/// `EFILTER` for what is not JSON, is no dictionary with an `id`, or has values that the filter does not have.
pub fn filter_of(json: &str) -> Option<Result<(u32, Vec<u32>)>> {
    let dictionary = match Dictionary::parse(json) {
        Ok(dictionary) => dictionary,
        Err(error) => return Some(Err(error)),
    };
    let spellings = ENTRIES.iter().filter_map(|entry| Some((entry.id, entry.json.as_ref()?)));
    let (id, spelling) = spellings.into_iter().find(|(_, spelling)| spelling.id == dictionary.id)?;
    Some((spelling.read)(&dictionary).map(|params| (id, params)))
}

/// What the JSON dictionary of a built-in filter has as `id`; `None` if it has none or is not built in.
pub fn codec_id(id: u32) -> Option<&'static str> {
    Some(entry(id)?.json.as_ref()?.id)
}

/// A dictionary that was read.
pub struct Dictionary {
    id: String,
    values: Map<String, Value>,
}

impl Dictionary {
    fn parse(json: &str) -> Result<Dictionary> {
        let wrong = |why: &str| Err(Error::new(Code::EFILTER, format!("a codec in JSON {why}")));
        if json.len() > LONGEST {
            return wrong(&format!("has {} bytes, and {LONGEST} at most", json.len()));
        }
        let values = match serde_json::from_str(json) {
            Ok(Value::Object(values)) => values,
            Ok(_) => return wrong("is not a dictionary"),
            Err(error) => return wrong(&format!("cannot be read: {error}")),
        };
        match values.get("id") {
            Some(Value::String(id)) => Ok(Dictionary { id: id.clone(), values }),
            Some(_) => wrong("has an \"id\" that is not text"),
            None => wrong("has no \"id\""),
        }
    }

    fn wrong(&self, key: &str, why: &str) -> Error {
        let value = &self.values.get(key).unwrap_or(&Value::Null);
        Error::new(Code::EFILTER, format!("the codec {} has \"{key}\": {value}, {why}", self.id))
    }

    /// A number within bounds; `other` if it is not there or null.
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

    /// A truth; `other` if it is not there or null.
    pub fn flag(&self, key: &str, other: bool) -> Result<bool> {
        match self.values.get(key) {
            None | Some(Value::Null) => Ok(other),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(self.wrong(key, "and neither true nor false")),
        }
    }

    /// The place of a word in a list; `other` if it is not there or null.
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

/// The spelling of a filter that has one parameter, its level, which is a number without a sign.
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
