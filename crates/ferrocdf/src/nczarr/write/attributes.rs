//! Attributes: from typed values to JSON, and the names of their types.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ferrocdf_model::{Atomic, Attr, Class, Model, Values};
use ferrocdf_zarr::{Json, Members, Version, with_member};

use crate::nczarr::data_types::TEXT;
use crate::nczarr::keys::{ATTR, ATTRS, CHAR_BYTES, JSON_VALUED, PROPERTIES, is_reserved};
use crate::nczarr::type_definitions::{self, TYPE_REFERENCES};
use crate::nczarr::{attributes, json_values};

/// The names of the types of numbers and text in netCDF's metadata of version 2.
const NAMES: [(Atomic, &str); 11] = [
    (Atomic::Byte, "<i1"),
    (Atomic::Ubyte, "<u1"),
    (Atomic::Short, "<i2"),
    (Atomic::Ushort, "<u2"),
    (Atomic::Int, "<i4"),
    (Atomic::Uint, "<u4"),
    (Atomic::Int64, "<i8"),
    (Atomic::Uint64, "<u8"),
    (Atomic::Float, "<f4"),
    (Atomic::Double, "<f8"),
    (Atomic::Char, ">S1"),
];

/// Returns the JSON of an attribute: that which it was read from, or one value alone, several as a list.
pub(super) fn to_json(model: &Model, attr: &Attr, version: Version) -> Json {
    if let Some(Ok(json)) = attr.json.as_deref().map(|json| Json::parse(json.as_bytes())) {
        return json;
    }
    let list = json_values::to_json(model, &attr.value);
    match &attr.value {
        Values::Char(bytes) => attributes::string(bytes, version),
        // One value is a list itself.
        Values::User(id, _) if matches!(model.user_type(*id).class, Class::Vlen(_)) => Json::Array(list),
        _ => json_values::one_or_list(list),
    }
}

/// Returns the JSON of `_FillValue` of version 3, as xarray wants it: floating-point numbers in base64, text of one byte as a number.
pub(super) fn fill_to_json(model: &Model, attr: &Attr) -> Json {
    let base64 = |number: f64| Json::String(STANDARD.encode(number.to_le_bytes()));
    match &attr.value {
        Values::Float(numbers) if numbers.len() == 1 => base64(numbers[0].into()),
        Values::Double(numbers) if numbers.len() == 1 => base64(numbers[0]),
        Values::Char(bytes) if bytes.len() == 1 => Json::Number(bytes[0].to_string().into()),
        _ => to_json(model, attr, Version::V3),
    }
}

/// Returns the name of the type of an attribute in netCDF's metadata.
fn type_name(model: &Model, attr: &Attr, version: Version) -> String {
    let values = &attr.value;
    let atomic = match values {
        Values::Char(_) if attr.json.is_some() && version == Version::V3 => None,
        // The JSON of an enumeration is numbers.
        Values::User(id, _) => match model.user_type(*id).class {
            Class::Enum { base, .. } => Some(base),
            _ => None,
        },
        values => values.atomic(),
    };
    match (atomic, values, version) {
        (None, ..) => json_name(version).to_string(),
        (Some(atomic), _, Version::V3) => type_definitions::atomic_name(atomic).to_string(),
        (_, Values::String(strings), Version::V2) => {
            let longest = strings.iter().flatten().map(Vec::len).max().unwrap_or(0);
            format!("|S{}", longest.max(TEXT))
        }
        (Some(atomic), _, Version::V2) => {
            NAMES.iter().find(|(known, _)| *known == atomic).map_or("", |(_, name)| name).to_string()
        }
    }
}

fn json_name(version: Version) -> &'static str {
    if version == Version::V2 { "|J0" } else { "json" }
}

/// Returns netCDF's metadata about the types of attributes, and the name of its attribute. `own` are the attributes of netCDF's metadata,
/// which have types as well.
pub(super) fn types<'a>(
    model: &Model,
    attrs: impl Iterator<Item = &'a Attr>,
    own: &[&str],
    version: Version,
) -> (&'static str, Json) {
    let mut types: Vec<(String, String)> = vec![];
    let (mut references, mut char_bytes, mut json_names) = (Members::default(), Members::default(), vec![]);
    for attr in attrs {
        let name = attr.name.to_str().into_owned();
        if let Values::User(id, _) = attr.value {
            references.0.push((name.clone(), Json::String(type_definitions::path(model, id))));
        }
        match (&attr.value, &attr.json) {
            // NetCDF-C refuses a store of version 2 in which an attribute of a user has the type of JSON.
            (Values::Char(_), Some(_)) if version == Version::V2 => json_names.push(Json::text(&name)),
            (Values::Char(bytes), None) => {
                let bytes = attributes::bytes_to_json(bytes, version);
                char_bytes.0.extend(bytes.map(|bytes| (name.clone(), bytes)));
            }
            _ => {}
        }
        types.push((name, type_name(model, attr, version)));
    }
    let json_name = json_name(version);
    let key = if version == Version::V2 { ATTR } else { ATTRS };
    types.extend(own.iter().chain([&key]).map(|name| (name.to_string(), json_name.to_string())));
    let json = match version {
        Version::V2 => {
            let types = types.into_iter().map(|(name, of)| (name, Json::String(of))).collect();
            Json::object(vec![("types", Json::Object(Members(types)))])
        }
        Version::V3 => {
            let entry = |(name, of): &(String, String)| {
                Json::object(vec![
                    ("name", Json::text(name)),
                    ("configuration", Json::object(vec![("type", Json::text(of))])),
                ])
            };
            Json::object(vec![("attribute_types", Json::Array(types.iter().map(entry).collect()))])
        }
    };
    let (char_bytes, json_names) = (Json::Object(char_bytes), Json::Array(json_names));
    let json = [(CHAR_BYTES, char_bytes), (JSON_VALUED, json_names)].into_iter().fold(
        json,
        |json, (name, member)| {
            let is_empty = member == Json::Array(vec![]) || member == Json::Object(Members::default());
            if is_empty { json } else { with_member(&json, name, member) }
        },
    );
    (key, with_references(json, references))
}

/// Returns the user-defined types of some attributes by what the store said of them.
pub(super) fn references<'a>(original: &Members, attrs: impl Iterator<Item = &'a Attr>) -> Members {
    let types = original.get(ATTR).or_else(|| original.get(ATTRS));
    let Some(references) = types.and_then(|types| types.get(TYPE_REFERENCES)) else {
        return Members::default();
    };
    let reference = |attr: &Attr| {
        let name = attr.name.to_str().into_owned();
        let path = references.get(&name)?.clone();
        Some((name, path))
    };
    Members(attrs.filter_map(reference).collect())
}

/// Adds references to user-defined types to netCDF's metadata about the types of attributes.
pub(super) fn with_references(types: Json, references: Members) -> Json {
    let mut all = types.get(TYPE_REFERENCES).and_then(Json::as_object).cloned().unwrap_or_default();
    all.0.extend(references.0);
    if all.is_empty() { types } else { with_member(&types, TYPE_REFERENCES, Json::Object(all)) }
}

/// Returns the attributes of a node: those of the model, then those of the metadata.
///
/// An attribute that is as it was in `before`, the model when the store was opened, keeps its JSON; so do attributes of the store with
/// reserved names that are not in `reserved`.
pub(super) fn members<'a>(
    attrs: impl Iterator<Item = &'a Attr>,
    (before, original): (&[Attr], &Members),
    reserved: Vec<(&str, Json)>,
    to_json: impl Fn(&Attr) -> Json,
) -> Members {
    let mut members = Members::default();
    let is_kept = |name: &str| is_reserved(name) || name == PROPERTIES;
    for attr in attrs {
        let name = attr.name.to_str().into_owned();
        match (before.contains(attr), original.get(&name)) {
            (true, Some(json)) => members.0.push((name, json.clone())),
            // It follows from the metadata of the array.
            (true, None) => {}
            (false, _) => members.0.push((name, to_json(attr))),
        }
    }
    let is_replaced = |name: &str| reserved.iter().any(|(key, _)| key.eq_ignore_ascii_case(name));
    let kept = original.iter().filter(|(name, _)| is_kept(name) && !is_replaced(name));
    members.0.extend(kept.map(|(name, json)| (name.to_string(), json.clone())));
    members.0.extend(reserved.into_iter().map(|(name, json)| (name.to_string(), json)));
    members
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nczarr::{attributes, keys, name, text};

    fn attr(called: &str, value: Values) -> Attr {
        Attr::new(name(called), value)
    }

    #[test]
    fn attributes_are_read_as_they_were_written() {
        let all = [
            attr("text", Values::Char(b"[1,2,3]".to_vec())),
            attr("empty", Values::Char(vec![])),
            attr("zeros", Values::Char(b"ab\0c\0\0".to_vec())),
            attr("zero", Values::Char(vec![0])),
            attr("latin", Values::Char(b"25 \xb0C\0".to_vec())),
            attr("strings", Values::String(vec![Some(b"a".to_vec()), Some("é".as_bytes().to_vec())])),
            attr("string", Values::String(vec![Some(vec![b'x'; 300])])),
            attr("byte", Values::Byte(vec![-128, 127])),
            attr("one", Values::Uint64(vec![u64::MAX])),
            attr("none", Values::Int(vec![])),
            attr("float", Values::Float(vec![0.1, 9.969_21e36, f32::INFINITY, f32::MIN_POSITIVE])),
            attr("double", Values::Double(vec![0.1, -0.0, 5e-324, 1e300, 3.0])),
        ];
        let model = Model::new(crate::nczarr::format(Version::V2));
        for version in [Version::V2, Version::V3] {
            let (_, types) = types(&model, all.iter(), &[], version);
            let types = Json::parse(types.to_string().as_bytes()).unwrap();
            for attr in &all {
                let json = Json::parse(to_json(&model, attr, version).to_string().as_bytes()).unwrap();
                let called = attr.name.to_str();
                let of = keys::attribute_type(&types, &called);
                let bytes = attributes::bytes_from_json(&types, &called, &json, version);
                let read = match bytes {
                    Some(bytes) => Attr::new(attr.name.clone(), Values::Char(bytes)),
                    None => attributes::from_json(&model, &called, &json, of.as_deref()),
                };
                assert_eq!(read, *attr, "{json}");
            }
        }
    }

    #[test]
    fn text_that_is_not_utf_8_is_latin() {
        assert_eq!(text(b"25 \xb0C"), "25 °C");
        assert_eq!(text("25 °C".as_bytes()), "25 °C");
    }

    #[test]
    fn unchanged_attributes_keep_their_json() {
        let original =
            Json::parse(br#"{"a": 1.50, "b": [2], "_nczarr_array": {"x": 1}, "other": {}}"#).unwrap();
        let original = original.as_object().unwrap();
        let before = [attr("a", Values::Double(vec![1.5])), attr("b", Values::Int(vec![2]))];
        let after = [before[0].clone(), attr("b", Values::Int(vec![3])), attr("c", Values::Int(vec![4]))];
        let model = Model::new(crate::nczarr::format(Version::V2));
        let members = members(after.iter(), (&before, original), vec![("_x", Json::Null)], |attr| {
            to_json(&model, attr, Version::V2)
        });
        assert_eq!(
            Json::Object(members).to_string(),
            r#"{"a": 1.50, "b": 3, "c": 4, "_nczarr_array": {"x": 1}, "_x": null}"#
        );
    }
}
