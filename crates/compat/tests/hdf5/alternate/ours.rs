//! The operations done by ferrocdf, and what it finds in a file.

use std::path::Path;

use ferrocdf::model::{Attrs, Chunking, Class, Endian, Field, Filter, UserType, each_numbers};
use ferrocdf::{
    Atomic, CreateOptions, File, FileMut, Format, GroupId, Model, Name, Owner, Selection, Type, Value,
    Values, VarId,
};
use serde_json::{Map, Value as Json, json};

use super::world::indices;

const SHUFFLE: u32 = 2;
const DEFLATE: u32 = 1;
const FLETCHER32: u32 = 3;

fn string<'a>(op: &'a Json, key: &str) -> &'a str {
    op[key].as_str().unwrap_or_else(|| panic!("no {key} in {op}"))
}

fn list<'a>(op: &'a Json, key: &str) -> &'a [Json] {
    op[key].as_array().unwrap_or_else(|| panic!("no {key} in {op}"))
}

fn lens(values: &[Json]) -> Vec<u64> {
    values.iter().map(|value| value.as_u64().expect("a length")).collect()
}

fn atomic(name: &str) -> Option<Atomic> {
    Atomic::ALL.into_iter().find(|atomic| atomic.cdl_name() == name)
}

fn named(name: &str) -> Name {
    Name::new(name).expect("a name that can be used")
}

fn group_at(model: &Model, path: &str) -> GroupId {
    let parts = path.split('/').filter(|part| !part.is_empty());
    parts.fold(GroupId::ROOT, |group, part| {
        model.find_group(group, part.as_bytes()).unwrap_or_else(|| panic!("no group {part}"))
    })
}

fn var_at(model: &Model, op: &Json) -> VarId {
    let group = group_at(model, string(op, "in"));
    model.find_var(group, string(op, "var").as_bytes()).unwrap_or_else(|| panic!("no variable for {op}"))
}

fn type_of(model: &Model, name: &str) -> Type {
    let user = |at: &usize| model.types()[*at].name == name;
    match atomic(name) {
        Some(atomic) => Type::Atomic(atomic),
        None => Type::User(ferrocdf::model::TypeId(
            (0..model.types().len()).find(user).expect("a type of this name") as u32,
        )),
    }
}

/// The values of some cells of an atomic type.
fn values_of(of: Atomic, cells: &[Json]) -> Values {
    let int = |cell: &Json| cell.as_i64().expect("an integer");
    let bits = |cell: &Json| u64::from_str_radix(cell.as_str().expect("bits"), 16).expect("bits");
    macro_rules! ints {
        ($kind:ident, $ty:ty) => {
            Values::$kind(cells.iter().map(|cell| int(cell) as $ty).collect())
        };
    }
    match of {
        Atomic::Byte => ints!(Byte, i8),
        Atomic::Char => ints!(Char, u8),
        Atomic::Short => ints!(Short, i16),
        Atomic::Int => ints!(Int, i32),
        Atomic::Ubyte => ints!(Ubyte, u8),
        Atomic::Ushort => ints!(Ushort, u16),
        Atomic::Uint => ints!(Uint, u32),
        Atomic::Int64 => ints!(Int64, i64),
        Atomic::Uint64 => Values::Uint64(cells.iter().map(|cell| cell.as_u64().expect("a number")).collect()),
        Atomic::Float => Values::Float(cells.iter().map(|cell| f32::from_bits(bits(cell) as u32)).collect()),
        Atomic::Double => Values::Double(cells.iter().map(|cell| f64::from_bits(bits(cell))).collect()),
        Atomic::String => {
            let text = |cell: &Json| Some(cell.as_str().expect("text").as_bytes().to_vec());
            Values::String(cells.iter().map(text).collect())
        }
    }
}

/// The values of some cells of any type.
fn any_values(model: &Model, ty: Type, cells: &[Json]) -> Values {
    let id = match ty {
        Type::Atomic(atomic) => return values_of(atomic, cells),
        Type::User(id) => id,
    };
    let parts = |cell: &Json| cell.as_array().expect("a list").clone();
    let basic = |ty: Type, cells: &[Json]| match ty {
        Type::Atomic(atomic) => Value::Atomic(values_of(atomic, cells)),
        Type::User(_) => panic!("types are not nested"),
    };
    let value = |cell: &Json| match &model.user_type(id).class {
        Class::Enum { .. } => Value::Enum(cell.as_i64().expect("a number").into()),
        Class::Vlen(base) => Value::Vlen(vec![basic(*base, &parts(cell))]),
        Class::Compound { fields, .. } => {
            let fields = fields.iter().zip(parts(cell));
            Value::Compound(fields.map(|(field, part)| basic(field.ty, &parts(&part))).collect())
        }
        Class::Opaque(_) => panic!("there are none"),
    };
    Values::User(id, cells.iter().map(value).collect())
}

/// Values as cells.
pub(super) fn told_values(values: &Values) -> Vec<Json> {
    match values {
        Values::Char(bytes) => bytes.iter().map(|byte| json!(byte)).collect(),
        Values::String(texts) => {
            let text =
                |text: &Option<Vec<u8>>| json!(String::from_utf8_lossy(text.as_deref().unwrap_or_default()));
            texts.iter().map(text).collect()
        }
        Values::Float(list) => list.iter().map(|number| json!(format!("{:x}", number.to_bits()))).collect(),
        Values::Double(list) => list.iter().map(|number| json!(format!("{:x}", number.to_bits()))).collect(),
        Values::User(_, list) => list.iter().map(told_value).collect(),
        numbers => each_numbers!(numbers, list => {
            list.iter().map(|number| json!(number)).collect()
        }, _ => unreachable!("text and user types are told above")),
    }
}

fn told_value(value: &Value) -> Json {
    match value {
        Value::Atomic(values) => Json::Array(told_values(values)),
        Value::Enum(number) => u64::try_from(*number).map_or(json!(*number as i64), |number| json!(number)),
        Value::Compound(fields) => fields.iter().map(told_value).collect(),
        Value::Vlen(parts) => match &parts[..] {
            [Value::Atomic(values)] => Json::Array(told_values(values)),
            parts => parts.iter().map(told_value).collect(),
        },
        Value::Array(parts) => parts.iter().map(told_value).collect(),
        Value::Opaque(bytes) => json!(bytes),
    }
}

fn user_type(group: GroupId, op: &Json) -> UserType {
    let base = |op: &Json| atomic(op.as_str().expect("a type")).expect("an atomic type");
    let class = match string(op, "class") {
        "enum" => {
            let members = op["members"].as_object().expect("members");
            let member =
                |(name, value): (&String, &Json)| (named(name), value.as_i64().expect("a number").into());
            Class::Enum { base: base(&op["base"]), members: members.iter().map(member).collect() }
        }
        "vlen" => Class::Vlen(base(&op["base"]).into()),
        _ => {
            let (mut size, mut widest, mut fields) = (0usize, 1, vec![]);
            for field in list(op, "base") {
                let of = base(&field[1]);
                let shape: Vec<usize> =
                    lens(field[2].as_array().expect("a shape")).iter().map(|&n| n as usize).collect();
                size = size.next_multiple_of(of.size());
                widest = widest.max(of.size());
                let bytes = of.size() * shape.iter().product::<usize>();
                fields.push(Field {
                    name: named(field[0].as_str().expect("a name")),
                    offset: size,
                    ty: of.into(),
                    shape,
                    chars: 1,
                });
                size += bytes;
            }
            Class::Compound { size: size.next_multiple_of(widest), fields }
        }
    };
    UserType { name: named(string(op, "name")), group, class }
}

fn define_var(model: &mut Model, group: GroupId, op: &Json) -> ferrocdf::Result<()> {
    let dim =
        |name: &Json| model.and_parents(group).find_map(|of| model.dim_in(of, name.as_str()?.as_bytes()));
    let dims: Vec<_> = list(op, "dims").iter().map(|name| dim(name).expect("a dimension")).collect();
    let ty = type_of(model, string(op, "type"));
    let var = model.def_var(group, string(op, "name"), ty, &dims)?;
    let storage = &mut model.var_mut(var).storage;
    storage.chunking = match &op["storage"] {
        Json::Array(lengths) => Some(Chunking::Chunked(lens(lengths))),
        Json::String(way) if way == "contiguous" => Some(Chunking::Contiguous),
        Json::String(_) => Some(Chunking::Compact),
        _ => None,
    };
    storage.endian = match op["endian"].as_str() {
        Some("big") => Some(Endian::Big),
        Some("little") => Some(Endian::Little),
        _ => None,
    };
    let filter = |id, params| Filter { id, params };
    let mut filters = vec![];
    if op["shuffle"] == true {
        filters.push(filter(SHUFFLE, vec![]));
    }
    if let Some(level) = op["deflate"].as_u64() {
        filters.push(filter(DEFLATE, vec![level as u32]));
    }
    if op["fletcher32"] == true {
        filters.push(filter(FLETCHER32, vec![]));
    }
    storage.filters = filters;
    if !op["fill"].is_null() {
        let value = any_values(model, ty, &[op["fill"].clone()]);
        model.put_attr(Owner::Var(var), "_FillValue", value)?;
    }
    Ok(())
}

fn define(model: &mut Model, op: &Json) -> ferrocdf::Result<()> {
    let group = group_at(model, string(op, "in"));
    let owner = |model: &Model| match op["var"].as_str() {
        Some(_) => Owner::Var(var_at(model, op)),
        None => Owner::Group(group),
    };
    match string(op, "do") {
        "dim" => model.def_dim(group, string(op, "name"), op["len"].as_u64()).map(drop),
        "group" => model.def_group(group, string(op, "name")).map(drop),
        "type" => model.def_type(user_type(group, op)).map(drop),
        "var" => define_var(model, group, op),
        "rename dim" => {
            let dim = model.dim_in(group, string(op, "name").as_bytes()).expect("a dimension");
            model.rename_dim(dim, named(string(op, "to")))
        }
        "rename var" => {
            let var = model.find_var(group, string(op, "name").as_bytes()).expect("a variable");
            model.rename_var(var, named(string(op, "to")))
        }
        "rename group" => {
            let child = model.find_group(group, string(op, "name").as_bytes()).expect("a group");
            model.rename_group(child, string(op, "to"))
        }
        "att" => {
            let value = any_values(model, type_of(model, string(op, "type")), list(op, "cells"));
            model.put_attr(owner(model), string(op, "name"), value)
        }
        "delete att" => model.del_attr(owner(model), string(op, "name")).map(drop),
        "rename att" => model.rename_attr(owner(model), string(op, "name"), named(string(op, "to"))),
        other => panic!("no operation {other}"),
    }
}

fn do_one(file: &mut FileMut, op: &Json) -> ferrocdf::Result<()> {
    match string(op, "do") {
        "put" => {
            let model = file.model();
            let var = var_at(&model, op);
            let [start, count, stride] = ["start", "count", "stride"].map(|key| lens(list(op, key)));
            let selection = Selection::strided(&start, &count, &stride);
            let values = any_values(&model, model.var(var).ty, list(op, "cells"));
            let fit = match &values {
                Values::Char(text) => file.write(var, &selection, ferrocdf::In::text(text))?,
                Values::String(_) | Values::User(..) => file.write_trees(var, &selection, &values)?,
                numbers => each_numbers!(numbers, list => {
                    file.write(var, &selection, ferrocdf::In::new(list))?
                }, _ => unreachable!("text and user types are handled above")),
            };
            assert_eq!(fit, ferrocdf::RangeCheck::InRange, "{op}");
            Ok(())
        }
        "get" => {
            let told = told_data(file, var_at(&file.model(), op))?;
            assert_eq!(Json::Array(told), op["cells"], "{op}");
            Ok(())
        }
        "abort" => {
            // What is pending is not to be lost.
            file.commit()?;
            file.define(|model| model.def_dim(GroupId::ROOT, "never", Some(3)))?;
            file.define(|model| model.put_attr(Owner::Group(GroupId::ROOT), "never", Values::Int(vec![1])))?;
            file.abort();
            Ok(())
        }
        "sync" => file.sync(),
        "remove" => {
            let path = string(op, "path");
            let done = match string(op, "what") {
                "var" => file.remove_variable(path),
                "dim" => file.remove_dimension(path),
                "type" => file.remove_type(path),
                _ => file.remove_group(path),
            };
            match op["used"] == true {
                true => {
                    assert_eq!(done.map_err(|error| error.code), Err(ferrocdf::Code::EINVAL), "{op}");
                    Ok(())
                }
                false => done,
            }
        }
        _ => file.define(|model| define(model, op)),
    }
}

/// Makes or opens a file, does what the operations say, and closes it; the number of the operation that failed, and why.
pub(super) fn edit(path: &Path, create: Option<&str>, ops: &[Json]) -> Result<(), (usize, String)> {
    let format = |name| if name == "NETCDF4" { Format::NETCDF4 } else { Format::NETCDF4_CLASSIC };
    let file = match create {
        Some(name) => FileMut::create(path, &CreateOptions::format(format(name))),
        None => FileMut::append(path),
    };
    let mut file = file.map_err(|error| (0, error.to_string()))?;
    for (number, op) in ops.iter().enumerate() {
        do_one(&mut file, op).map_err(|error| (number, error.to_string()))?;
    }
    file.close().map_err(|error| (ops.len(), error.to_string()))
}

fn told_data(file: &File, var: VarId) -> ferrocdf::Result<Vec<Json>> {
    let shape = file.model().shape(var);
    let values = file.read_values(var, &vec![0; shape.len()], &shape)?;
    assert_eq!(values.len(), indices(&shape).len());
    Ok(told_values(&values))
}

fn told_attrs(model: &Model, attrs: &Attrs) -> Json {
    let mut told = Map::new();
    for attr in attrs {
        let value = json!([model.type_name(attr.value.ty()), told_values(&attr.value)]);
        told.insert(attr.name.to_str().into_owned(), value);
    }
    Json::Object(told)
}

fn told_type(model: &Model, ty: &UserType) -> Json {
    match &ty.class {
        Class::Enum { base, members } => {
            let mut members: Vec<(i64, String)> = members
                .iter()
                .map(|(name, value)| (i64::try_from(*value).expect("small"), name.to_str().into_owned()))
                .collect();
            members.sort();
            let members: Vec<Json> = members.iter().map(|(value, name)| json!([name, value])).collect();
            json!(["enum", base.cdl_name(), members])
        }
        Class::Vlen(base) => json!(["vlen", model.type_name(*base), []]),
        Class::Compound { fields, .. } => {
            let field = |field: &Field| json!([field.name.to_str(), model.type_name(field.ty), field.shape]);
            json!(["compound", fields.iter().map(field).collect::<Vec<_>>(), []])
        }
        Class::Opaque(_) => json!(["opaque"]),
    }
}

fn told_var(file: &File, model: &Model, id: VarId) -> ferrocdf::Result<Json> {
    let var = model.var(id);
    let dim = |&id: &ferrocdf::DimId| {
        let dim = model.dim(id);
        format!("{}/{}", model.group_path(dim.group).trim_end_matches('/'), dim.name)
    };
    let filters = &var.storage.filters;
    let has = |id| filters.iter().any(|filter| filter.id == id);
    let deflate = filters.iter().find(|filter| filter.id == DEFLATE).map(|filter| filter.params[0]);
    Ok(json!({
        "type": model.type_name(var.ty),
        "dims": var.dims.iter().map(dim).collect::<Vec<_>>(),
        "storage": match &var.storage.chunking {
            Some(Chunking::Chunked(shape)) => json!(shape),
            Some(Chunking::Compact) => json!("compact"),
            Some(Chunking::Contiguous) => json!("contiguous"),
            None => Json::Null,
        },
        "filters": filters.iter().map(|filter| filter.id).collect::<Vec<_>>(),
        "deflate": deflate,
        "shuffle": has(SHUFFLE),
        "fletcher32": has(FLETCHER32),
        "big": var.storage.endian == Some(Endian::Big),
        "atts": told_attrs(model, &var.attrs),
        "data": told_data(file, id)?,
    }))
}

fn told_group(file: &File, model: &Model, id: GroupId, told: &mut Map<String, Json>) -> ferrocdf::Result<()> {
    let group = model.group(id);
    let (mut dims, mut types, mut vars) = (Map::new(), Map::new(), Map::new());
    for dim in group.dims.iter().map(|&dim| model.dim(dim)) {
        dims.insert(dim.name.to_str().into_owned(), json!([dim.len, dim.unlimited]));
    }
    let mut named: Vec<&UserType> = group.types.iter().map(|&ty| model.user_type(ty)).collect();
    named.sort_by_key(|ty| ty.name.as_bytes().to_vec());
    for ty in named {
        types.insert(ty.name.to_str().into_owned(), told_type(model, ty));
    }
    for &var in &group.vars {
        let name = model.var(var).name.to_str().into_owned();
        vars.insert(name, told_var(file, model, var)?);
    }
    let here = json!({ "dims": dims, "types": types, "atts": told_attrs(model, &group.attrs), "vars": vars });
    told.insert(model.group_path(id), here);
    group.groups.iter().try_for_each(|&child| told_group(file, model, child, told))
}

/// All that we find in a file.
pub(super) fn tell(path: &Path) -> ferrocdf::Result<Json> {
    let file = File::open(path)?;
    let model = file.model();
    let mut groups = Map::new();
    told_group(&file, &model, GroupId::ROOT, &mut groups)?;
    Ok(json!({ "classic": model.format() == Format::NETCDF4_CLASSIC, "groups": groups }))
}
