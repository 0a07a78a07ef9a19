//! The facts about a file, as JSON.

use ferrocdf::model::{Class, Filter};
use ferrocdf::{
    Arrangement, Attr, DataSources, DimId, File, GroupId, Lack, MissingSource, Model, Owner, Result,
    Shapeless, StorageInfo, Values, VarId,
};
use serde_json::{Map, Value, json};

/// Everything `ferrocdf info` tells.
pub fn facts(file: &File) -> Result<Value> {
    let model = file.model();
    let size = file.size()?;
    let dims: Vec<Value> = model
        .dims()
        .iter()
        .map(|dim| {
            json!({
                "name": dim.name.to_str(),
                "path": within(&model, dim.group, &dim.name.to_str()),
                "length": dim.len,
                "unlimited": dim.unlimited,
            })
        })
        .collect();
    let types: Vec<Value> = (0..model.types().len()).map(|number| user_type(&model, number)).collect();
    let groups: Vec<Value> = model
        .group_ids()
        .filter(|&group| group != GroupId::ROOT)
        .map(|group| {
            let attributes = attributes(model.attrs(Owner::Group(group)).iter());
            json!({ "path": model.group_path(group), "attributes": attributes })
        })
        .collect();
    let shapeless = file.shapeless();
    let skipped: Vec<String> =
        file.skipped().into_iter().filter(|line| shapeless.iter().all(|of| of.reason != *line)).collect();
    let vars = file.for_each_variable(|of_file| variable(file, &model, of_file.id()));
    Ok(json!({
        "path": file.path().display().to_string(),
        "format": model.format().kind_name(),
        "container": container(file),
        "written_by_netcdf": file.is_written_by_netcdf(),
        "consolidated": file.is_consolidated(),
        "size": size,
        "missing_bytes": file.missing_bytes()?,
        "types": types,
        "dimensions": dims,
        "attributes": attributes(model.attrs(Owner::Group(GroupId::ROOT)).iter()),
        "variables": vars,
        "groups": groups,
        "without_shape": shapeless.iter().map(without_shape).collect::<Vec<_>>(),
        "skipped": skipped,
    }))
}

/// The requests of this process so far; `null` in a build that sends none.
pub fn requests() -> Value {
    #[cfg(feature = "remote")]
    {
        let traffic = ferrocdf::remote::traffic();
        json!({ "rounds": traffic.rounds, "requests": traffic.requests, "received": traffic.received })
    }
    #[cfg(not(feature = "remote"))]
    Value::Null
}

/// The file format that holds the dataset.
fn container(file: &File) -> &'static str {
    file.format().container().name()
}

fn without_shape(found: &Shapeless) -> Value {
    json!({
        "path": found.path.strip_prefix('/').filter(|name| !name.contains('/')).unwrap_or(&found.path),
        "type": found.type_name,
        "attributes": attributes(found.attributes.iter()),
    })
}

/// A name in a group: as it is in the root group, else with the path.
fn within(model: &Model, group: GroupId, name: &str) -> String {
    match group {
        GroupId::ROOT => name.to_string(),
        _ => format!("{}/{name}", model.group_path(group)),
    }
}

fn user_type(model: &Model, number: usize) -> Value {
    let ty = &model.types()[number];
    let (class, size, of) = match &ty.class {
        Class::Compound { size, fields } => {
            let field = |field: &ferrocdf::model::Field| {
                let lens: Vec<String> = field.shape.iter().map(usize::to_string).collect();
                let shape = if lens.is_empty() { String::new() } else { format!("({})", lens.join(", ")) };
                format!("{} {}{shape}", model.type_name(field.ty), field.name)
            };
            ("compound", Some(*size), fields.iter().map(field).collect())
        }
        Class::Vlen(base) => ("vlen", None, vec![model.type_name(*base)]),
        Class::Opaque(size) => ("opaque", Some(*size), vec![]),
        Class::Enum { base, members } => {
            let member = |(name, value): &(ferrocdf::Name, i128)| format!("{name} = {value}");
            let first = std::iter::once(base.cdl_name().to_string());
            ("enum", Some(base.size()), first.chain(members.iter().map(member)).collect())
        }
    };
    let name = ty.name.to_str();
    json!({
        "name": name,
        "path": within(model, ty.group, &name),
        "class": class,
        "size": size,
        "of": of,
    })
}

/// A variable. One whose data cannot be found has the reason in place of how it is stored.
fn variable(file: &File, model: &Model, id: VarId) -> Value {
    let var = model.var(id);
    let dims: Vec<_> = var.dims.iter().map(|&dim| dimension(model, var.group, dim)).collect();
    let mut facts = json!({
        "name": var.name.to_str(),
        "path": within(model, var.group, &var.name.to_str()),
        "type": model.type_name(var.ty),
        "dimensions": dims,
        "shape": model.shape(id),
    });
    let of_file = file.variable_of(id);
    let found =
        of_file.storage().and_then(|found| Ok((found, of_file.sources()?, of_file.missing_sources()?)));
    let more = match found {
        Ok((found, from, missing)) => {
            let mut facts = stored(&found, &var.storage.filters);
            if from.is_one_piece {
                facts["one_piece"] = json!(true);
            }
            let unwritten = unwritten(model, id, &from);
            let sources = from.virtual_sources.iter();
            let sources: Vec<Value> =
                sources.map(|(file, path)| json!({ "file": file, "path": path })).collect();
            let from = [
                ("external_files", json!(from.external)),
                ("sources", json!(sources)),
                ("missing_sources", json!(missing.iter().map(missing_source).collect::<Vec<_>>())),
                ("codecs", json!(from.codecs)),
            ];
            for (key, value) in from.into_iter().chain([("unwritten", json!(unwritten))]) {
                // Few variables have any.
                if value.as_array().is_some_and(|list| !list.is_empty()) {
                    facts[key] = value;
                }
            }
            facts
        }
        Err(error) => json!({ "error": error.to_string() }),
    };
    if let (Some(facts), Value::Object(mut more)) = (facts.as_object_mut(), more) {
        facts.append(&mut more);
        let codecs = codecs(&file.hidden_attributes(Owner::Var(id)));
        if !codecs.is_empty() {
            facts.insert("codecs".to_string(), Value::Array(codecs));
        }
        facts.insert("attributes".to_string(), attributes(var.attrs.iter()));
    }
    facts
}

/// A source that lacks elements of a virtual dataset.
fn missing_source(source: &MissingSource) -> Value {
    let lack = match source.lack {
        Lack::File => "file",
        Lack::Dataset => "dataset",
        Lack::Elements => "elements",
    };
    json!({ "file": source.file, "path": source.path, "lack": lack, "text": source.to_string() })
}

/// The codecs of a variable in a Zarr store, as its metadata has them: also those that have no number of HDF5.
fn codecs(hidden: &[Attr]) -> Vec<Value> {
    let text = hidden.iter().find(|attr| attr.name == "_Codecs").map(|attr| &attr.value);
    match text {
        Some(Values::Char(text)) => serde_json::from_slice(text).unwrap_or_default(),
        _ => vec![],
    }
}

/// The name of a dimension as a variable in `group` has it: with its path if it is of another group.
fn dimension(model: &Model, group: GroupId, id: DimId) -> String {
    let (dim, name) = (model.dim(id), model.dim(id).name.to_str());
    if dim.group == group {
        return name.into_owned();
    }
    format!("{}/{name}", model.group_path(dim.group).trim_end_matches('/'))
}

/// The indices along dimensions that were never written, which other variables made longer.
fn unwritten(model: &Model, id: VarId, from: &DataSources) -> Vec<Value> {
    let var = model.var(id);
    let written = from.stored_shape.iter().flatten().zip(&var.dims);
    let short = written.filter(|&(&len, &dim)| len < model.dim(dim).len);
    let facts = |(&len, &dim): (&u64, &DimId)| json!({ "dimension": dimension(model, var.group, dim), "from": len, "to": model.dim(dim).len });
    short.map(facts).collect()
}

/// How a variable is stored.
fn stored(storage: &StorageInfo, filters: &[Filter]) -> Value {
    let (arrangement, slab, record) = match storage.arrangement {
        Arrangement::Records { slab, record } => ("records", Some(slab), Some(record)),
        Arrangement::Inline => ("inline", None, None),
        Arrangement::Chunked(_) => ("chunked", None, None),
        Arrangement::Virtual => ("virtual", None, None),
        Arrangement::Computed => ("computed", None, None),
        _ => ("contiguous", None, None),
    };
    let chunks = match &storage.arrangement {
        Arrangement::Chunked(shape) => json!(shape),
        _ => Value::Null,
    };
    let filter = |filter: &Filter| json!({ "id": filter.id, "name": ferrocdf::filter_name(filter.id), "parameters": filter.params });
    let mut facts = json!({
        "bytes": storage.bytes,
        "stored_bytes": storage.stored_bytes,
        "ratio": storage.ratio(),
        "arrangement": arrangement,
        "slab_bytes": slab,
        "record_bytes": record,
        "begin": storage.begin,
        "end": storage.end,
        "chunks": chunks,
        "filters": filters.iter().map(filter).collect::<Vec<_>>(),
    });
    if let Some(counts) = storage.chunks.filter(|counts| counts.stored < counts.all) {
        facts["chunk_count"] = json!(counts.all);
        facts["unwritten_chunks"] = json!(counts.all - counts.stored);
        let written = counts.stored.saturating_mul(counts.decoded_bytes);
        facts["written_bytes"] = json!(written);
        // What was never written is no compression.
        let ratio = (storage.stored_bytes > 0).then(|| written as f64 / storage.stored_bytes as f64);
        facts["ratio"] = json!(ratio);
    }
    facts
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
        Values::User(_, list) => match list.len() {
            1 => json!("1 value of a user-defined type"),
            count => json!(format!("{count} values of a user-defined type")),
        },
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
