//! The facts about a file, as JSON.

use ferrocdf::{Arrangement, Attr, File, GroupId, Model, Owner, Result, Values, VarId};
use serde_json::{Map, Value, json};

/// Everything `ferrocdf info` tells.
pub fn facts(file: &File) -> Result<Value> {
    let model = file.model();
    let size = file.size()?;
    let dims: Vec<Value> = model
        .dims()
        .iter()
        .map(|dim| json!({ "name": dim.name.to_str(), "length": dim.len, "unlimited": dim.unlimited }))
        .collect();
    let vars = model.var_ids().map(|var| variable(file, &model, var)).collect::<Result<Vec<_>>>()?;
    Ok(json!({
        "path": file.path().display().to_string(),
        "format": model.format().kind_name(),
        "size": size,
        "missing_bytes": file.missing_bytes()?,
        "dimensions": dims,
        "attributes": attributes(model.attrs(Owner::Group(GroupId::ROOT)).iter()),
        "variables": vars,
    }))
}

fn variable(file: &File, model: &Model, id: VarId) -> Result<Value> {
    let var = model.var(id);
    let storage = file.variable_of(id).storage()?;
    let (arrangement, slab, record) = match storage.arrangement {
        Arrangement::Records { slab, record } => ("records", Some(slab), Some(record)),
        Arrangement::Inline => ("inline", None, None),
        Arrangement::Chunked(_) => ("chunked", None, None),
        Arrangement::Virtual => ("virtual", None, None),
        _ => ("contiguous", None, None),
    };
    let dims: Vec<_> = var.dims.iter().map(|&dim| model.dim(dim).name.to_str()).collect();
    Ok(json!({
        "name": var.name.to_str(),
        "type": model.type_name(var.ty),
        "dimensions": dims,
        "shape": model.shape(id),
        "bytes": storage.bytes,
        "stored_bytes": storage.stored_bytes,
        "ratio": storage.ratio(),
        "arrangement": arrangement,
        "slab_bytes": slab,
        "record_bytes": record,
        "begin": storage.begin,
        "end": storage.end,
        "chunks": Value::Null,
        "filters": [],
        "attributes": attributes(var.attrs.iter()),
    }))
}

fn attributes<'a>(attrs: impl Iterator<Item = &'a Attr>) -> Value {
    Value::Object(attrs.map(|attr| (attr.name.to_string(), values(&attr.value))).collect::<Map<_, _>>())
}

/// Values as JSON: text as a string, one number as a number, several as an array. JSON has no NaN and no infinity, so
/// these are strings.
fn values(values: &Values) -> Value {
    match values {
        Values::Char(text) => {
            let end = text.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
            String::from_utf8_lossy(&text[..end]).into()
        }
        Values::String(texts) => {
            let text =
                |text: &Option<Vec<u8>>| text.as_ref().map(|text| String::from_utf8_lossy(text).into_owned());
            texts.iter().map(text).collect()
        }
        Values::Float(list) => {
            one_or_list(list.iter().map(|&number| float(f64::from(number), number.to_string())))
        }
        Values::Double(list) => one_or_list(list.iter().map(|&number| float(number, number.to_string()))),
        Values::User(_, list) => json!(format!("{} values of a user-defined type", list.len())),
        integers => ferrocdf::model::each_numbers!(integers, list => {
            one_or_list(list.iter().map(|number| number.to_string().parse().unwrap_or(Value::Null)))
        }, _ => Value::Null),
    }
}

/// A number by its shortest text, which for single precision is not that of the double next to it.
fn float(number: f64, text: String) -> Value {
    if number.is_finite() { text.parse().unwrap_or(Value::Null) } else { text.into() }
}

fn one_or_list(values: impl Iterator<Item = Value>) -> Value {
    let mut list: Vec<Value> = values.collect();
    if list.len() == 1 { list.remove(0) } else { list.into() }
}
