//! The metadata of netCDF in a Zarr store, in the forms of all versions that were written.
//!
//! Newest form: attributes `_nczarr_superblock`, `_nczarr_group`, `_nczarr_array`, `_nczarr_attr` (`_nczarr_attrs` in the draft of Zarr
//! v3). Before 4.9.3 they were members of `.zgroup`, `.zarray` and `.zattrs`, some in upper case, and some names were shorter. Values may be
//! JSON, or JSON in a string.

use std::borrow::Cow;

use ferrocdf_zarr::{Json, Members};

pub(super) const GROUP: &str = "_nczarr_group";
pub(super) const ARRAY: &str = "_nczarr_array";
pub(super) const ATTR: &str = "_nczarr_attr";
/// A member of [`ARRAY`]: whether elements that nobody wrote are undefined, where the fill value of the array tells it otherwise.
pub(super) const NO_FILL: &str = "no_fill";
/// A member of [`ATTR`]: the bytes of attributes of text whose strings do not give them, in base64.
pub(super) const CHAR_BYTES: &str = "char_bytes";
/// A member of [`ATTR`] in version 2: the names of attributes whose text is that of their JSON.
pub(super) const JSON_VALUED: &str = "json_valued";
/// The name of [`ATTR`] in version 3.
pub(super) const ATTRS: &str = "_nczarr_attrs";
pub(super) const SUPERBLOCK: &str = "_nczarr_superblock";
pub(super) const PROPERTIES: &str = "_NCProperties";
/// The names of dimensions by the convention of xarray.
pub(crate) const ARRAY_DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// Attributes that are no attributes of netCDF.
const RESERVED: [&str; 8] = [
    GROUP,
    ARRAY,
    ATTR,
    ATTRS,
    SUPERBLOCK,
    "_nczarr_maxstrlen",
    "_nczarr_default_maxstrlen",
    ARRAY_DIMENSIONS,
];

/// True for the name of an attribute that users do not see.
pub(super) fn is_reserved(name: &str) -> bool {
    RESERVED.iter().any(|reserved| reserved.eq_ignore_ascii_case(name))
}

/// Finds a key of netCDF in the attributes of a node or, in older stores, in its metadata.
pub(super) fn find<'a>((attributes, metadata): (&'a Members, &'a Json), key: &str) -> Option<Cow<'a, Json>> {
    in_members(attributes, key).or_else(|| in_members(metadata.as_object()?, key))
}

/// True if a node has keys of netCDF in its metadata, where libraries before 4.9.3 wrote them.
pub(super) fn is_old_form(metadata: &Json) -> bool {
    metadata.as_object().is_some_and(|members| members.iter().any(|(name, _)| is_reserved(name)))
}

fn in_members<'a>(members: &'a Members, key: &str) -> Option<Cow<'a, Json>> {
    let is_key = |name: &str| {
        let same = |key: &str| name.eq_ignore_ascii_case(key);
        same(key) || key == ATTR && same(ATTRS)
    };
    let (_, value) = members.iter().find(|(name, _)| is_key(name))?;
    match value {
        Json::String(text) => Json::parse(text.as_bytes()).ok().map(Cow::Owned),
        value => Some(Cow::Borrowed(value)),
    }
}

/// Returns a member of one of these names.
pub(super) fn member<'a>(json: &'a Json, names: &[&str]) -> Option<&'a Json> {
    names.iter().find_map(|name| json.get(name))
}

/// Returns the names of the arrays and groups in a group, if its attributes list both.
pub(super) fn child_names(attributes: &Members) -> Option<Vec<String>> {
    let group = in_members(attributes, GROUP)?;
    let names = |keys: &[&str]| {
        let list = member(&group, keys)?.as_array()?;
        list.iter().map(|name| Some(name.as_str()?.to_string())).collect::<Option<Vec<String>>>()
    };
    let mut arrays = names(&["arrays", "vars"])?;
    arrays.extend(names(&["groups", "subgroups"])?);
    Some(arrays)
}

/// A dimension that a group defines.
pub(super) struct StoredDimension {
    pub(super) name: String,
    pub(super) len: u64,
    pub(super) unlimited: bool,
}

/// Returns the dimensions that a group defines: an object or a list, in which lengths are numbers or objects.
pub(super) fn dimensions(group: &Json) -> Vec<StoredDimension> {
    let of = |name: &str, value: &Json| {
        let size = value.get("size").unwrap_or(value);
        let unlimited = value.get("unlimited");
        let unlimited = unlimited.is_some_and(|json| *json == Json::Bool(true) || json.as_u64() == Some(1));
        Some(StoredDimension { name: name.to_string(), len: size.as_u64()?, unlimited })
    };
    match member(group, &["dimensions", "dims"]) {
        Some(Json::Object(members)) => members.iter().filter_map(|(name, value)| of(name, value)).collect(),
        Some(Json::Array(list)) => {
            list.iter().filter_map(|value| of(value.get("name")?.as_str()?, value)).collect()
        }
        _ => vec![],
    }
}

/// Returns the name of the type of an attribute: a typestring, or the name of a type of Zarr v3.
pub(super) fn attribute_type(types: &Json, name: &str) -> Option<String> {
    let json_valued = types.get(JSON_VALUED).and_then(Json::as_array).unwrap_or_default();
    if json_valued.iter().any(|valued| valued.as_str() == Some(name)) {
        return Some("|J0".to_string());
    }
    if let Some(text) = types.get("types").and_then(|types| types.get(name)).and_then(Json::as_str) {
        return Some(text.to_string());
    }
    let of_name = |entry: &&Json| entry.get("name").and_then(Json::as_str) == Some(name);
    let entry = types.get("attribute_types")?.as_array()?.iter().find(of_name)?;
    Some(entry.get("configuration")?.get("type")?.as_str()?.to_string())
}
