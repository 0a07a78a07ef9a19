//! Definitions of user-defined types in netCDF's metadata: the member `types` of `_nczarr_group`.
//!
//! Each has a name and a class. Other types are named as Zarr version 3 names them (`int32`, `char`, `string`), user-defined ones by their
//! path (`/g/cloud_t`). Sizes and offsets are those of a C structure in memory; elements are stored without gaps.

use std::collections::HashSet;

use ferrocdf_model::{Atomic, Class, Field, GroupId, Model, Name, Type, TypeId, UserType};
use ferrocdf_zarr::Json;

use super::data_types::enum_holds;
use super::name;

/// Member of `_nczarr_group`: the types that a group defines.
pub(super) const TYPES: &str = "types";
/// Member of `_nczarr_array`: the path of the user-defined type of a variable.
pub(super) const TYPE_REFERENCE: &str = "type_reference";
/// Member of `_nczarr_attr`: the paths of the user-defined types of attributes.
pub(super) const TYPE_REFERENCES: &str = "type_references";

/// Member of `_nczarr_array`: 1 if a variable of a user-defined type has the attribute `_FillValue`.
pub(super) const HAS_FILL_VALUE: &str = "has_fill_value";

/// Bytes that one value of a type may have.
const MAX_SIZE: u64 = 1 << 26;

/// The names of atomic types.
const NAMES: [(Atomic, &str); 12] = [
    (Atomic::Byte, "int8"),
    (Atomic::Ubyte, "uint8"),
    (Atomic::Short, "int16"),
    (Atomic::Ushort, "uint16"),
    (Atomic::Int, "int32"),
    (Atomic::Uint, "uint32"),
    (Atomic::Int64, "int64"),
    (Atomic::Uint64, "uint64"),
    (Atomic::Float, "float32"),
    (Atomic::Double, "float64"),
    (Atomic::Char, "char"),
    (Atomic::String, "string"),
];

/// Returns the path of a user-defined type, such as `/g/cloud_t`.
pub(super) fn path(model: &Model, id: TypeId) -> String {
    let UserType { name, group, .. } = model.user_type(id);
    format!("{}/{}", model.group_path(*group).trim_end_matches('/'), name.to_str())
}

/// True if there are names, none is empty, and no two are the same.
fn are_distinct<'n>(names: impl Iterator<Item = &'n Name>) -> bool {
    let (mut seen, mut count) = (HashSet::new(), 0);
    for name in names {
        count += 1;
        seen.insert(name.as_bytes());
    }
    count > 0 && seen.len() == count && !seen.contains(&b""[..])
}

fn type_name(model: &Model, ty: Type) -> Json {
    match ty {
        Type::User(id) => Json::String(path(model, id)),
        Type::Atomic(atomic) => Json::text(atomic_name(atomic)),
    }
}

/// Returns the name of an atomic type, as Zarr version 3 and the NCZarr document have it.
pub(super) fn atomic_name(atomic: Atomic) -> &'static str {
    NAMES.iter().find(|(known, _)| *known == atomic).map_or("", |(_, name)| name)
}

/// Returns the definitions of the types of a group.
pub(super) fn to_json(model: &Model, group: GroupId) -> Vec<Json> {
    let own = model.types().iter().filter(|ty| ty.group == group);
    own.map(|ty| definition(model, ty)).collect()
}

fn definition(model: &Model, ty: &UserType) -> Json {
    let text = |name: &Name| Json::String(name.to_str().into_owned());
    let mut members = vec![("name", text(&ty.name))];
    match &ty.class {
        Class::Enum { base, members: names } => {
            let member = |(name, number): &(Name, i128)| {
                Json::object(vec![("name", text(name)), ("value", Json::Number(number.to_string().into()))])
            };
            members.push(("class", Json::text("enum")));
            members.push(("base", type_name(model, (*base).into())));
            members.push(("members", Json::Array(names.iter().map(member).collect())));
        }
        Class::Opaque(size) => {
            members.push(("class", Json::text("opaque")));
            members.push(("size", Json::integer(*size)));
        }
        Class::Vlen(base) => {
            members.push(("class", Json::text("vlen")));
            members.push(("base", type_name(model, *base)));
        }
        Class::Compound { size, fields } => {
            let field = |field: &Field| {
                let mut members = vec![
                    ("name", text(&field.name)),
                    ("type", type_name(model, field.ty)),
                    ("offset", Json::integer(field.offset)),
                ];
                if !field.shape.is_empty() {
                    let shape = field.shape.iter().map(|&len| Json::integer(len)).collect();
                    members.push(("shape", Json::Array(shape)));
                }
                if field.chars != 1 {
                    members.push(("chars", Json::integer(field.chars)));
                }
                Json::object(members)
            };
            members.push(("class", Json::text("compound")));
            members.push(("size", Json::integer(*size)));
            members.push(("fields", Json::Array(fields.iter().map(field).collect())));
        }
    }
    Json::object(members)
}

/// Reads the definition of a type of a group; `None` if it is damaged, or refers to a type that `find` does not know.
pub(super) fn from_json(
    model: &Model,
    group: GroupId,
    json: &Json,
    find: impl Fn(&str) -> Option<TypeId>,
) -> Option<UserType> {
    let ty = |json: &Json| -> Option<Type> {
        let name = json.as_str()?;
        match NAMES.iter().find(|(_, known)| *known == name) {
            Some((atomic, _)) => Some((*atomic).into()),
            None => find(name).map(Type::User),
        }
    };
    let number = |json: &Json, key: &str| json.get(key)?.as_u64().filter(|&number| number <= MAX_SIZE);
    let named = |json: &Json| Some(name(json.get("name")?.as_str()?));
    let class = match json.get("class")?.as_str()? {
        "enum" => {
            let Type::Atomic(base) = ty(json.get("base")?)? else { return None };
            let is_integer = !matches!(base, Atomic::Char | Atomic::String | Atomic::Float | Atomic::Double);
            let member = |json: &Json| {
                let number = json.get("value")?.as_integer().filter(|&number| enum_holds(base, number))?;
                Some((named(json)?, number))
            };
            let members = json.get("members")?.as_array()?.iter().map(member).collect::<Option<Vec<_>>>()?;
            let is_valid = is_integer && are_distinct(members.iter().map(|(name, _)| name));
            is_valid.then_some(Class::Enum { base, members })?
        }
        "opaque" => Class::Opaque(number(json, "size").filter(|&size| size > 0)? as usize),
        "vlen" => Class::Vlen(ty(json.get("base")?)?),
        "compound" => {
            let size = number(json, "size")? as usize;
            let field = |json: &Json| {
                let length = |json: &Json| Some(json.as_u64().filter(|&len| len <= MAX_SIZE)? as usize);
                let shape: Vec<usize> = match json.get("shape") {
                    Some(shape) => shape.as_array()?.iter().map(length).collect::<Option<_>>()?,
                    None => vec![],
                };
                if shape.contains(&0) {
                    return None;
                }
                let chars = json.get("chars").map_or(Some(1), length).filter(|&chars| chars > 0)?;
                let (ty, offset) = (ty(json.get("type")?)?, number(json, "offset")? as usize);
                let bytes = shape.iter().try_fold(model.size_of(ty), |bytes, &len| bytes.checked_mul(len));
                let end = bytes?.checked_mul(chars)?.checked_add(offset)?;
                (end <= size).then_some(Field { name: named(json)?, offset, ty, shape, chars })
            };
            let fields = json.get("fields")?.as_array()?.iter().map(field).collect::<Option<Vec<_>>>()?;
            // Sizes of types are not 0, and so those of lists of them are checked with the ends.
            let end = |field: &Field| {
                let count = field.shape.iter().product::<usize>() * field.chars;
                field.offset + model.size_of(field.ty) * count
            };
            let is_valid = fields.windows(2).all(|pair| end(&pair[0]) <= pair[1].offset)
                && are_distinct(fields.iter().map(|field| &field.name));
            is_valid.then_some(Class::Compound { size, fields })?
        }
        _ => return None,
    };
    Some(UserType { name: named(json)?, group, class })
}
