//! Attributes: from JSON to typed values.
//!
//! Where netCDF's metadata has the type of an attribute, it holds. Otherwise it follows from the value, as in netCDF-C: integers take the
//! first type of int, uint, int64 and uint64 that holds all of them, other numbers are doubles (also `"NaN"` and infinities in a list with
//! numbers, which netCDF-C takes for text), `true` and `false` unsigned bytes, a string is text, a list of strings strings (netCDF-C takes its
//! JSON for text); all else is text too, the JSON itself.
//!
//! An attribute keeps the JSON that its values would not give again, so that a copy to another store has it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ferrocdf_model::{Atomic, Attr, Model, Values};
use ferrocdf_zarr::{DataType, Element, Json, Version, without_zeros};

use super::atomic_json::{list, of_type, text};
use super::keys::CHAR_BYTES;
use super::{json_values, name, text as utf8};

/// What a type of an attribute means.
enum Known {
    Atomic(Atomic),
    /// Text, of which netCDF-C made JSON if it could.
    Text,
    /// JSON of any form.
    Json,
}

/// Returns the type that a typestring, or a name of Zarr v3, stands for.
fn known(name: &str) -> Option<Known> {
    match name {
        "char" | ">S1" | "|S1" | "<S1" => return Some(Known::Text),
        "|J0" | "json" => return Some(Known::Json),
        "string" => return Some(Known::Atomic(Atomic::String)),
        _ => {}
    }
    let element =
        Element::from_typestring(name).or_else(|| Element::from_v3(&Json::String(name.to_string())))?;
    match element.data_type {
        DataType::FixedBytes(_) | DataType::FixedText(_) | DataType::Raw(_) => {
            Some(Known::Atomic(Atomic::String))
        }
        other => super::types::atomic(&other).map(Known::Atomic),
    }
}

/// Returns an attribute. `type_name` is what netCDF's metadata says of its type.
pub(super) fn from_json(model: &Model, called: &str, json: &Json, type_name: Option<&str>) -> Attr {
    let known = type_name.and_then(known);
    let value = match known {
        Some(Known::Text | Known::Json) => text(json),
        Some(Known::Atomic(atomic)) => of_type(json, atomic).unwrap_or_else(|| inferred(json)),
        None => inferred(json),
    };
    let is_given_again = || {
        let again = json_values::one_or_list(json_values::to_json(model, &value));
        // Numbers that JSON does not have are the same as strings.
        again == *json || again.to_string() == json.to_string()
    };
    let keeps_json = !matches!(known, Some(Known::Text)) && !is_given_again();
    Attr { json: keeps_json.then(|| json.to_string().into()), ..Attr::new(name(called), value) }
}

/// Returns text as the string of an attribute, that every program sees.
pub(super) fn string(bytes: &[u8], version: Version) -> Json {
    Json::String(match version {
        // NetCDF-C, which reads version 2, knows no escapes such as \u0000.
        Version::V2 => utf8(without_zeros(bytes)),
        // Nothing but zeros is what netCDF libraries write for an empty text.
        Version::V3 => utf8(if bytes.iter().all(|&byte| byte == 0) { &[] } else { bytes }),
    })
}

/// Returns what netCDF's metadata has to say of text: its bytes in base64, if its string does not give them again.
pub(super) fn bytes_to_json(bytes: &[u8], version: Version) -> Option<Json> {
    let is_given_again = string(bytes, version).as_str().map(str::as_bytes) == Some(bytes);
    (!is_given_again).then(|| Json::String(STANDARD.encode(bytes)))
}

/// Returns the bytes of the text of an attribute that netCDF's metadata `types` says, if the string is still the one that they were written
/// with.
pub(super) fn bytes_from_json(types: &Json, called: &str, json: &Json, version: Version) -> Option<Vec<u8>> {
    let bytes = STANDARD.decode(types.get(CHAR_BYTES)?.get(called)?.as_str()?).ok()?;
    (string(&bytes, version) == *json).then_some(bytes)
}

/// Returns the fill value in an attribute, in the type of its variable. Xarray encodes numbers that JSON does not have in base64.
pub(super) fn fill_value(json: &Json, atomic: Atomic) -> Option<Values> {
    let encoded = || {
        let bytes: [u8; 8] = STANDARD.decode(json.as_str()?).ok()?.try_into().ok()?;
        match atomic {
            Atomic::Float => Some(Values::Float(vec![f64::from_le_bytes(bytes) as f32])),
            Atomic::Double => Some(Values::Double(vec![f64::from_le_bytes(bytes)])),
            _ => None,
        }
    };
    match atomic {
        // Version 3 has numbers for it.
        Atomic::Char => match json.as_u64() {
            Some(byte) => u8::try_from(byte).ok().map(|byte| Values::Char(vec![byte])),
            None => json.as_str().filter(|text| text.len() == 1).map(|_| text(json)),
        },
        atomic => of_type(json, atomic).filter(|values| values.len() == 1).or_else(encoded),
    }
}

/// Returns the values of an attribute whose type nobody says.
fn inferred(json: &Json) -> Values {
    const INTEGERS: [Atomic; 4] = [Atomic::Int, Atomic::Uint, Atomic::Int64, Atomic::Uint64];
    let list = match json {
        Json::String(_) | Json::Object(_) | Json::Null => return text(json),
        other => list(other),
    };
    // Numbers that JSON does not have are strings, which are text if no other number is with them.
    let is_named = |json: &Json| matches!(json.as_str(), Some("NaN" | "Infinity" | "-Infinity"));
    let is_number = |json: &Json| matches!(json, Json::Number(_));
    if list.iter().any(is_named)
        && list.iter().all(|json| is_named(json) || is_number(json))
        && list.iter().any(is_number)
    {
        return of_type(json, Atomic::Double).unwrap_or_else(|| text(json));
    }
    if list.is_empty() {
        return text(json);
    }
    if list.iter().all(|json| matches!(json, Json::String(_))) {
        return of_type(json, Atomic::String).unwrap_or_else(|| text(json));
    }
    if list.iter().any(|json| !matches!(json, Json::Number(_) | Json::Bool(_))) {
        return text(json);
    }
    if list.iter().all(|json| matches!(json, Json::Bool(_))) {
        return of_type(json, Atomic::Ubyte).unwrap_or_else(|| text(json));
    }
    // A decimal point makes a number a float, whatever is behind it.
    let is_integer = |json: &Json| match json {
        Json::Number(number) => number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'),
        _ => true,
    };
    let integer =
        INTEGERS.iter().filter(|_| list.iter().all(is_integer)).find_map(|&atomic| of_type(json, atomic));
    integer.or_else(|| of_type(json, Atomic::Double)).unwrap_or_else(|| text(json))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attr(json: &str, type_name: Option<&str>) -> Attr {
        let model = Model::new(crate::nczarr::format(Version::V3));
        from_json(&model, "a", &Json::parse(json.as_bytes()).unwrap(), type_name)
    }

    fn of(json: &str, type_name: Option<&str>) -> Values {
        attr(json, type_name).value
    }

    #[test]
    fn json_that_the_values_do_not_give_again_is_kept() {
        for kept in [
            "{\"a\": null}",
            "[[1.50,2],[]]",
            "null",
            "true",
            "[true,false]",
            "[5]",
            "1.50",
            "1e3",
            "[]",
            "[1,2.0]",
            "[\"a\"]",
            "[\"NaN\"]",
            "[\"a\",1]",
        ] {
            assert_eq!(attr(kept, None).json.as_deref(), Some(kept));
        }
        for (json, type_name) in [
            ("1", None),
            ("1.0", None),
            ("[1,2]", None),
            ("\"{\\\"a\\\": 1}\"", None),
            ("NaN", None),
            ("\"NaN\"", Some("<f4")),
            ("[\"a\",\"b\"]", Some("string")),
            ("[\"a\",\"b\"]", None),
            ("{\"a\": 1}", Some(">S1")),
            ("\"a\"", Some("|J0")),
        ] {
            assert_eq!(attr(json, type_name).json, None, "{json}");
        }
        assert_eq!(
            attr("true", Some("<u1")),
            Attr { json: Some("true".into()), ..Attr::new(name("a"), 1u8.into()) }
        );
    }

    #[test]
    fn types_follow_from_values() {
        for (json, wanted) in [
            ("1", Values::Int(vec![1])),
            ("[1, -2147483649]", Values::Int64(vec![1, -2147483649])),
            ("4294967295", Values::Uint(vec![u32::MAX])),
            ("18446744073709551615", Values::Uint64(vec![u64::MAX])),
            ("[1, 2.5]", Values::Double(vec![1.0, 2.5])),
            ("1.0", Values::Double(vec![1.0])),
            ("-Infinity", Values::Double(vec![f64::NEG_INFINITY])),
            ("[true, false]", Values::Ubyte(vec![1, 0])),
            ("[\"-Infinity\", 1]", Values::Double(vec![f64::NEG_INFINITY, 1.0])),
            ("[\"NaN\", \"Infinity\"]", Values::from(vec!["NaN".to_string(), "Infinity".to_string()])),
            ("[\"NaN\", \"x\", 1]", Values::Char("[\"NaN\",\"x\",1]".into())),
            ("\"é\"", Values::Char("é".into())),
            ("[\"a\", \"b\"]", Values::from(vec!["a".to_string(), "b".to_string()])),
            ("[\"a\"]", Values::from(vec!["a".to_string()])),
            ("[\"a\", null]", Values::Char("[\"a\",null]".into())),
            ("[]", Values::Char("[]".into())),
            ("{\"a\": null}", Values::Char("{\"a\": null}".into())),
            ("[[1], [2]]", Values::Char("[[1],[2]]".into())),
            ("null", Values::Char("null".into())),
        ] {
            assert_eq!(of(json, None), wanted, "{json}");
        }
    }

    #[test]
    fn types_of_the_metadata_hold() {
        for (json, name, wanted) in [
            ("1", "<i2", Values::Short(vec![1])),
            ("[1, 2]", ">u8", Values::Uint64(vec![1, 2])),
            ("\"NaN\"", "<f8", Values::Double(vec![f64::NAN])),
            ("1.5", "float32", Values::Float(vec![1.5])),
            ("[1,2]", ">S1", Values::Char("[1,2]".into())),
            ("NaN", ">S1", Values::Char("NaN".into())),
            ("{\"a\": 1.50}", "|J0", Values::Char("{\"a\": 1.50}".into())),
            ("[\"a\", \"bc\"]", "|S128", Values::String(vec![Some(b"a".to_vec()), Some(b"bc".to_vec())])),
            // A type that does not fit the value says nothing.
            ("70000", "<i2", Values::Int(vec![70000])),
            ("\"x\"", "<f4", Values::Char("x".into())),
        ] {
            assert_eq!(format!("{:?}", of(json, Some(name))), format!("{wanted:?}"), "{json} {name}");
        }
    }

    #[test]
    fn fill_values_have_the_type_of_the_variable() {
        let fill = |json: &str, atomic| fill_value(&Json::parse(json.as_bytes()).unwrap(), atomic);
        assert_eq!(fill("-9999", Atomic::Float), Some(Values::Float(vec![-9999.0])));
        assert!(
            matches!(fill("\"AAAAAAAA+H8=\"", Atomic::Float), Some(Values::Float(list)) if list[0].is_nan())
        );
        assert_eq!(fill("1.5", Atomic::Int), None);
        assert_eq!(fill("\"x\"", Atomic::Char), Some(Values::Char(b"x".to_vec())));
        assert_eq!(fill("120", Atomic::Char), Some(Values::Char(b"x".to_vec())));
    }
}
