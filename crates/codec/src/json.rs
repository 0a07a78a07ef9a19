//! JSON forms of filters: numcodecs configurations (Zarr v2), which netCDF-C calls codecs, and Zarr v3 codecs.
//!
//! Each filter's own file defines its [`JsonForm`]s. Numcodecs configurations have the keys and the key order of netCDF-C's
//! codec plugins and the defaults of numcodecs; a number may be a JSON string, as in netCDF-C. A codec is mapped to the
//! filter that encodes to the same *bytes*: numcodecs `lz4` has a frame that no HDF5 filter has, so it is not read as LZ4
//! ([`Chain::reframe`](crate::Chain::reframe) changes the frame); imagecodecs has names for LZ4 and LZF as HDF5 stores them. A filter without a Zarr v3 name of its own has the name that
//! zarr-python uses: `numcodecs.` plus its numcodecs `id`.

use std::ops::RangeInclusive;

use ferrocdf_bytes::{Code, Error, Result};
use serde_json::{Map, Value};

use crate::filters::ENTRIES;
use crate::identity::FilterId;
use crate::registry::entry;

/// Conversion between the parameters of a filter and a JSON object.
pub struct JsonForm {
    /// Value of `id` (numcodecs) or `name` (Zarr v3).
    pub id: &'static str,
    /// Function that returns the other keys and their values. The parameters are as a user gives them, or final, as in a
    /// file.
    pub write: fn(&[u32]) -> Result<Fields>,
    /// Function that returns the parameters of a JSON object, as a user gives them.
    pub read: fn(&CodecObject) -> Result<Vec<u32>>,
}

/// Keys and values of a JSON object, in order.
pub type Fields = Vec<(&'static str, Value)>;

/// Identity and parameters of a filter, as a user gives them.
pub type Parameters = (FilterId, Vec<u32>);

/// Maximum length of the JSON text, in bytes.
const MAX_LEN: usize = 1 << 16;

/// Prefix of the names of numcodecs filters in Zarr v3.
const NUMCODECS_PREFIX: &str = "numcodecs.";

/// Returns the numcodecs configuration of a built-in filter; `None` if the filter has none or is not built in.
///
/// # Errors
/// `EFILTER` for invalid parameters.
pub fn to_numcodecs(id: &FilterId, params: &[u32]) -> Option<Result<String>> {
    let form = entry(id)?.numcodecs.as_ref()?;
    Some((form.write)(params).map(|fields| {
        let fields = fields.iter().map(|(key, value)| format!(", \"{key}\": {value}"));
        format!("{{\"id\": \"{}\"{}}}", form.id, fields.collect::<String>())
    }))
}

/// Returns the filter of a numcodecs configuration, with parameters as a user gives them; `None` if no built-in filter has
/// its `id`.
///
/// # Errors
/// `EFILTER` for text that is not a JSON object with an `id`, and for invalid values.
pub fn from_numcodecs(json: &str) -> Option<Result<Parameters>> {
    let object = match CodecObject::parse(json, "id") {
        Ok(object) => object,
        Err(error) => return Some(Err(error)),
    };
    read(&object, &object.id, |entry| entry.numcodecs.as_ref())
}

/// Returns the numcodecs `id` of a built-in filter; `None` if the filter has none or is not built in.
pub fn numcodecs_id(id: &FilterId) -> Option<&'static str> {
    Some(entry(id)?.numcodecs.as_ref()?.id)
}

/// Returns the Zarr v3 metadata of a built-in filter, `{"name": …, "configuration": …}`; `None` if the filter has no JSON
/// form or is not built in.
///
/// # Errors
/// `EFILTER` for invalid parameters.
pub fn to_zarr_v3(id: &FilterId, params: &[u32]) -> Option<Result<String>> {
    let entry = entry(id)?;
    let (prefix, form) = match (&entry.zarr_v3, &entry.numcodecs) {
        (Some(zarr_v3), _) => ("", zarr_v3),
        (None, Some(numcodecs)) => (NUMCODECS_PREFIX, numcodecs),
        (None, None) => return None,
    };
    Some((form.write)(params).map(|fields| {
        let name = format!("{prefix}{}", form.id);
        let mut json = Map::from_iter([("name".to_string(), Value::String(name))]);
        if !fields.is_empty() {
            let fields = fields.into_iter().map(|(key, value)| (key.to_string(), value)).collect();
            json.insert("configuration".to_string(), Value::Object(fields));
        }
        Value::Object(json).to_string()
    }))
}

/// Returns the filter of Zarr v3 metadata, with parameters as a user gives them; `None` if no built-in filter has its name.
///
/// # Errors
/// `EFILTER` for text that is not a JSON object with a `name`, and for invalid values.
pub fn from_zarr_v3(json: &str) -> Option<Result<Parameters>> {
    let object = match CodecObject::parse(json, "name").and_then(CodecObject::into_configuration) {
        Ok(object) => object,
        Err(error) => return Some(Err(error)),
    };
    read(&object, &object.id, |entry| entry.zarr_v3.as_ref()).or_else(|| {
        let id = object.id.strip_prefix(NUMCODECS_PREFIX)?;
        read(&object, id, |entry| entry.numcodecs.as_ref())
    })
}

/// True if the built-in filter with this identity has a JSON form.
pub fn has_form(id: &FilterId) -> bool {
    entry(id).is_some_and(|entry| entry.zarr_v3.is_some() || entry.numcodecs.is_some())
}

/// Returns the `id` and the text of a numcodecs configuration; `None` if it is not one.
pub fn numcodecs_object(json: &str) -> Option<(String, String)> {
    let object = CodecObject::parse(json, "id").ok()?;
    Some((object.id, json.to_string()))
}

/// Returns the `id` and the text of the numcodecs configuration that a Zarr v3 codec stands for: its name, without `numcodecs.`, and the
/// members of its configuration. `None` for text that is no codec.
pub fn as_numcodecs(json: &str) -> Option<(String, String)> {
    let object = CodecObject::parse(json, "name").and_then(CodecObject::into_configuration).ok()?;
    let id = object.id.strip_prefix(NUMCODECS_PREFIX).unwrap_or(&object.id);
    let mut members = Map::from_iter([("id".to_string(), Value::String(id.to_string()))]);
    members.extend(object.values.into_iter().filter(|(key, _)| key != "id"));
    Some((id.to_string(), Value::Object(members).to_string()))
}

/// Returns the Zarr v3 codec that a numcodecs configuration stands for.
///
/// # Errors
/// `EFILTER` for text that is not a JSON object with an `id`.
pub fn as_zarr_v3(json: &str) -> Result<String> {
    let mut object = CodecObject::parse(json, "id")?;
    object.values.remove("id");
    let mut members =
        Map::from_iter([("name".to_string(), Value::String(format!("{NUMCODECS_PREFIX}{}", object.id)))]);
    if !object.values.is_empty() {
        members.insert("configuration".to_string(), Value::Object(object.values));
    }
    Ok(Value::Object(members).to_string())
}

/// Returns the programs that read a codec in a Zarr array, where the filter has an HDF5 number and numcodecs, and with it zarr-python,
/// does not know the codec; `None` for all others.
pub fn readers_without_numcodecs(id: u32) -> Option<&'static str> {
    const SZIP: u32 = 4;
    const LZF: u32 = 32000;
    const BITSHUFFLE: u32 = 32008;
    match id {
        SZIP => Some("ferrocdf, and netCDF-C with its codec plugins (Zarr 2)"),
        LZF => Some("ferrocdf, and zarr-python 2 with imagecodecs"),
        BITSHUFFLE => Some("ferrocdf"),
        _ if has_form(&id.into()) => None,
        _ => Some("programs that have the same codec plugin"),
    }
}

/// Reads the parameters of the built-in filter that has this name in the JSON forms that `form` selects.
fn read(
    object: &CodecObject,
    name: &str,
    form: impl Fn(&'static crate::registry::Entry) -> Option<&'static JsonForm>,
) -> Option<Result<Parameters>> {
    let mut forms = ENTRIES.iter().filter_map(|entry| Some((&entry.id, form(entry)?)));
    let (id, form) = forms.find(|(_, form)| form.id == name)?;
    Some((form.read)(object).map(|params| (id.clone(), params)))
}

/// The JSON object of a codec: a numcodecs configuration, or the `configuration` of a Zarr v3 codec.
pub struct CodecObject {
    id: String,
    values: Map<String, Value>,
}

impl CodecObject {
    /// Parses a JSON object whose member `key` is the name of the codec.
    fn parse(json: &str, key: &str) -> Result<CodecObject> {
        let invalid = |reason: &str| Err(Error::new(Code::EFILTER, format!("codec in JSON: {reason}")));
        if json.len() > MAX_LEN {
            return invalid(&format!("the text has {} bytes (at most {MAX_LEN})", json.len()));
        }
        let values = match serde_json::from_str(json) {
            Ok(Value::Object(values)) => values,
            Ok(_) => return invalid("the text is not a JSON object"),
            Err(error) => return invalid(&format!("the text is not valid JSON: {error}")),
        };
        match values.get(key) {
            Some(Value::String(id)) => Ok(CodecObject { id: id.clone(), values }),
            Some(_) => invalid(&format!("\"{key}\" is not a string")),
            None => invalid(&format!("no \"{key}\"")),
        }
    }

    /// Returns the `configuration` of a Zarr v3 codec; an empty one if the member is missing.
    fn into_configuration(mut self) -> Result<CodecObject> {
        match self.values.remove("configuration") {
            None => Ok(CodecObject { id: self.id, values: Map::new() }),
            Some(Value::Object(values)) => Ok(CodecObject { id: self.id, values }),
            Some(other) => {
                let what = format!("codec {}: \"configuration\" is {other}, not a JSON object", self.id);
                Err(Error::new(Code::EFILTER, what))
            }
        }
    }

    /// Returns the error of a member with a wrong value.
    pub fn invalid(&self, key: &str, reason: &str) -> Error {
        let value = &self.values.get(key).unwrap_or(&Value::Null);
        Error::new(Code::EFILTER, format!("codec {}: \"{key}\" is {value}, {reason}", self.id))
    }

    /// Returns a member; `None` if it is missing.
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.values.get(key)
    }

    /// Returns a list; `None` if it is missing or another value.
    pub fn values(&self, key: &str) -> Option<&[Value]> {
        self.values.get(key).and_then(Value::as_array).map(|list| &list[..])
    }

    /// Checks that there are no other members than these.
    ///
    /// # Errors
    /// `EFILTER` for one that the codec does not have.
    pub fn only(&self, keys: &[&str]) -> Result<()> {
        match self.values.keys().find(|key| !keys.contains(&&***key)) {
            None => Ok(()),
            Some(key) => Err(self.invalid(key, "and the codec has no such member")),
        }
    }

    /// Returns a list of numbers within bounds. A missing list is an error.
    pub fn numbers(&self, key: &str, bounds: RangeInclusive<i64>) -> Result<Vec<u32>> {
        let number = |value: &Value| value.as_i64().filter(|number| bounds.contains(number));
        let list = match self.values.get(key) {
            Some(Value::Array(list)) => list.iter().map(|value| u32::try_from(number(value)?).ok()).collect(),
            _ => None,
        };
        list.ok_or_else(|| {
            self.invalid(key, &format!("not a list of integers from {} to {}", bounds.start(), bounds.end()))
        })
    }

    /// Returns a number within bounds; `default` if it is missing or null.
    pub fn number(&self, key: &str, default: i64, bounds: RangeInclusive<i64>) -> Result<i64> {
        let number = match self.values.get(key) {
            None | Some(Value::Null) => return Ok(default),
            Some(Value::Number(number)) => number.as_i64(),
            Some(Value::String(text)) => text.parse().ok(),
            Some(_) => None,
        };
        number.filter(|number| bounds.contains(number)).ok_or_else(|| {
            self.invalid(key, &format!("not an integer from {} to {}", bounds.start(), bounds.end()))
        })
    }

    /// Returns a number that need not be an integer; `default` if it is missing or null.
    pub fn float(&self, key: &str, default: f64) -> Result<f64> {
        match self.values.get(key) {
            None | Some(Value::Null) => Ok(default),
            Some(value) => value.as_f64().ok_or_else(|| self.invalid(key, "not a number")),
        }
    }

    /// Returns a string; `None` if it is missing or null.
    pub fn text(&self, key: &str) -> Result<Option<&str>> {
        match self.values.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.invalid(key, "not a string")),
        }
    }

    /// Returns a list of objects, in which errors have the name of this codec; `None` if it is missing or null.
    pub fn objects(&self, key: &str) -> Result<Option<Vec<CodecObject>>> {
        let object = |value: &Value| match value {
            Value::Object(values) => Some(CodecObject { id: self.id.clone(), values: values.clone() }),
            _ => None,
        };
        let list = match self.values.get(key) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Array(list)) => list.iter().map(object).collect(),
            Some(_) => None,
        };
        list.map(Some).ok_or_else(|| self.invalid(key, "not a list of objects"))
    }

    /// Returns a boolean; `default` if it is missing or null.
    pub fn boolean(&self, key: &str, default: bool) -> Result<bool> {
        match self.values.get(key) {
            None | Some(Value::Null) => Ok(default),
            Some(Value::Bool(value)) => Ok(*value),
            Some(_) => Err(self.invalid(key, "neither true nor false")),
        }
    }

    /// Returns the position of a string in `allowed`; `default` if the member is missing or null.
    pub fn position(&self, key: &str, default: u32, allowed: &[&str]) -> Result<u32> {
        let position = match self.values.get(key) {
            None | Some(Value::Null) => return Ok(default),
            Some(Value::String(value)) => allowed.iter().position(|allowed| allowed == value),
            Some(_) => None,
        };
        let invalid = || self.invalid(key, &format!("not one of {}", allowed.join(", ")));
        position.map(|position| position as u32).ok_or_else(invalid)
    }
}

/// The JSON form of a filter whose only parameter is its level, an unsigned number.
macro_rules! level_form {
    ($id:literal, $levels:expr, $default:literal) => {
        $crate::json::JsonForm {
            id: $id,
            write: |params| match *params {
                [level, ..] if $levels.contains(&i64::from(level)) => Ok(vec![("level", level.into())]),
                _ => Err($crate::filter::bad_params(format!("{}: invalid level {params:?}", $id))),
            },
            read: |json| {
                // Of deflate, -1 is the default level.
                let least = if *$levels.start() == 0 { -1 } else { *$levels.start() };
                let level = json.number("level", $default, least..=*$levels.end())?;
                Ok(vec![if level < 0 { 6 } else { level as u32 }])
            },
        }
    };
}
pub(crate) use level_form;
