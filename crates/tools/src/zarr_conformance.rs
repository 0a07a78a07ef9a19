//! `ferrocdf zarr-conformance`: the elements of a Zarr array as JSON, as the conformance tests of Zarr implementations ask for.
//!
//! The elements come as one list, last dimension fastest. Numbers that JSON does not have are printed as Python prints them: `NaN`,
//! `Infinity`, `-Infinity`.

use std::io::Write;
use std::path::Path;

use ferrocdf::model::Class;
use ferrocdf::{Code, Error, File, Model, Result, Selection, Type, Value, Values};
use serde_json::Value as Json;

/// Elements that are in memory at once.
const PIECE: u64 = 1 << 20;

/// Prints the elements of the array at a path.
pub fn run(path: &Path, out: &mut dyn Write) -> Result<()> {
    let file = File::open(path)?;
    let model = file.model();
    let Some(var) = model.var_ids().next().filter(|_| model.vars().len() == 1) else {
        let what = format!("{}: it holds {} arrays, not one", path.display(), model.vars().len());
        return Err(Error::new(Code::EINVAL, what));
    };
    let all = Selection::all(&model.shape(var));
    let failed = |error: std::io::Error| Error::system(error, "writing the elements");
    let mut text = String::from("[");
    let mut is_first = true;
    if all.elements().is_none_or(|count| count > 0) {
        for (_, _, piece) in all.pieces(PIECE) {
            let values = file.read_selected(var, &piece)?;
            each(&model, &values, &mut |element| {
                text.push_str(if std::mem::take(&mut is_first) { "" } else { "," });
                text.push_str(&element);
            });
            out.write_all(text.as_bytes()).map_err(failed)?;
            text.clear();
        }
    }
    text.push_str("]\n");
    out.write_all(text.as_bytes()).map_err(failed)
}

/// Calls a function with the JSON of each value.
fn each(model: &Model, values: &Values, print: &mut dyn FnMut(String)) {
    fn float(number: f64, text: String) -> String {
        match number {
            number if number.is_nan() => "NaN".to_string(),
            f64::INFINITY => "Infinity".to_string(),
            f64::NEG_INFINITY => "-Infinity".to_string(),
            _ => text,
        }
    }
    match values {
        Values::Byte(list) => list.iter().for_each(|number| print(number.to_string())),
        Values::Short(list) => list.iter().for_each(|number| print(number.to_string())),
        Values::Int(list) => list.iter().for_each(|number| print(number.to_string())),
        Values::Int64(list) => list.iter().for_each(|number| print(number.to_string())),
        Values::Ubyte(list) => list.iter().for_each(|number| print(number.to_string())),
        Values::Ushort(list) => list.iter().for_each(|number| print(number.to_string())),
        Values::Uint(list) => list.iter().for_each(|number| print(number.to_string())),
        Values::Uint64(list) => list.iter().for_each(|number| print(number.to_string())),
        // The shortest texts that stand for the numbers.
        Values::Float(list) => {
            list.iter().for_each(|&number| print(float(number.into(), format!("{number:?}"))))
        }
        Values::Double(list) => list.iter().for_each(|&number| print(float(number, format!("{number:?}")))),
        Values::Char(list) => list.iter().for_each(|byte| print(string(&[*byte]))),
        Values::String(list) => {
            list.iter().for_each(|text| print(text.as_ref().map_or("null".to_string(), |text| string(text))));
        }
        Values::User(id, list) => list.iter().for_each(|value| print(tree(model, Type::User(*id), value))),
    }
}

fn string(bytes: &[u8]) -> String {
    Json::String(String::from_utf8_lossy(bytes).into_owned()).to_string()
}

fn listed(values: impl Iterator<Item = String>) -> String {
    format!("[{}]", values.collect::<Vec<_>>().join(","))
}

/// Returns the JSON of a value of a user-defined type: structures and lists are lists, bytes are numbers.
fn tree(model: &Model, ty: Type, value: &Value) -> String {
    let class = match ty {
        Type::User(id) => Some(&model.user_type(id).class),
        Type::Atomic(_) => None,
    };
    let atomics = |values: &Values| {
        let mut all = vec![];
        each(model, values, &mut |element| all.push(element));
        all
    };
    match (value, class) {
        (Value::Enum(number), Some(Class::Enum { members, .. })) => {
            let name = members.iter().find(|(_, value)| value == number).map(|(name, _)| name.to_str());
            match name.as_deref() {
                Some("TRUE") => "true".to_string(),
                Some("FALSE") => "false".to_string(),
                _ => number.to_string(),
            }
        }
        (Value::Enum(number), _) => number.to_string(),
        (Value::Opaque(bytes), _) => listed(bytes.iter().map(u8::to_string)),
        (Value::Compound(values), Some(Class::Compound { fields, .. })) => {
            listed(values.iter().zip(fields).map(|(value, field)| match value {
                Value::Atomic(values) if field.shape.is_empty() => atomics(values).concat(),
                value => tree(model, field.ty, value),
            }))
        }
        (Value::Compound(values) | Value::Array(values), _) => {
            listed(values.iter().map(|value| tree(model, ty, value)))
        }
        (Value::Vlen(values), Some(Class::Vlen(of))) => listed(values.iter().flat_map(|value| match value {
            Value::Atomic(values) => atomics(values),
            value => vec![tree(model, *of, value)],
        })),
        (Value::Vlen(values), _) => listed(values.iter().map(|value| tree(model, ty, value))),
        // Text of a fixed length ends before its zeros.
        (Value::Atomic(Values::Char(text)), _) => {
            string(&text[..text.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1)])
        }
        (Value::Atomic(values), _) => listed(atomics(values).into_iter()),
    }
}
