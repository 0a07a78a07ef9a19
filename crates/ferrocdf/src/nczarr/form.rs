//! How an array is stored where netCDF has no word for it: what a copy in another Zarr store is to keep.
//!
//! Reading notes it in the model ([`ZarrForm`]), a writer takes it from there. Stores of version 2 with netCDF's metadata take only
//! structures, since netCDF-C opens no store with these data types, and reads any order of dimensions as the usual one.

use ferrocdf_bytes::Order;
use ferrocdf_model::{Atomic, Attr, Class, Container, Endian, Model, Type, Values, VarId, ZarrForm};
use ferrocdf_zarr::{ArrayMetadata, DataType, Element, FillValue, Json, TimeUnit};

use super::data_types::Target;
use super::{name, values};

/// Returns how an array is stored that is a variable of a type.
pub(super) fn read(model: &Model, metadata: &ArrayMetadata, ty: Type) -> ZarrForm {
    let rank = metadata.chunk_shape.len();
    let is_v3 = model.format().container() == Container::ZarrV3;
    let pipeline = metadata.pipeline.as_ref().ok();
    let order = pipeline.map(|pipeline| pipeline.order(rank)).filter(|order| !order.is_sorted());
    let shards = pipeline.and_then(|pipeline| pipeline.shards.first());
    let data_type = &metadata.element.data_type;
    let is_kept = match data_type {
        DataType::Bool
        | DataType::Float(2)
        | DataType::DateTime(_)
        | DataType::TimeDelta(_)
        | DataType::Struct(_) => true,
        DataType::Raw(_) => matches!(ty, Type::User(_)),
        DataType::FixedBytes(_) | DataType::FixedText(_) => ty == Type::Atomic(Atomic::String),
        _ => false,
    };
    let spelling = || match metadata.element.to_v2() {
        Json::String(text) => text,
        fields => fields.to_string(),
    };
    ZarrForm {
        data_type: is_kept.then(spelling),
        order: order.unwrap_or_default(),
        index_first: shards.is_some_and(|shards| shards.index_first),
        // Of numbers of version 2 the attribute `_FillValue` tells it.
        fill: match (data_type, ty) {
            (_, Type::Atomic(_)) if is_v3 => values::value_of_fill(model, metadata, ty).and_then(Result::ok),
            (DataType::Bool | DataType::Complex(_) | DataType::Raw(_) | DataType::Struct(_), _)
            | (DataType::DateTime(_) | DataType::TimeDelta(_), _)
            | (DataType::FixedBytes(_) | DataType::FixedText(_), Type::Atomic(Atomic::String)) => {
                values::value_of_fill(model, metadata, ty).and_then(Result::ok)
            }
            // The number 0 of zarr-python 2 masks no text in xarray.
            (DataType::String, _) if matches!(metadata.fill_value, FillValue::Value(Json::String(_))) => {
                values::value_of_fill(model, metadata, ty).and_then(Result::ok)
            }
            _ => None,
        },
    }
}

/// Returns the form that a new array of a variable has.
pub(super) fn of_new(model: &Model, var: VarId, target: Target) -> ZarrForm {
    let form = &model.var(var).storage.zarr;
    if target.is_for_netcdf_c() {
        // NetCDF-C opens no store with structures, whatever their fields are.
        let is_compound = |id| matches!(model.user_type(id).class, Class::Compound { .. });
        let is_structure = matches!(model.var(var).ty, Type::User(id) if is_compound(id));
        return ZarrForm {
            data_type: form.data_type.clone().filter(|_| is_structure),
            ..ZarrForm::default()
        };
    }
    let mut sorted = form.order.clone();
    sorted.sort_unstable();
    let is_order = sorted.iter().copied().eq(0..model.var(var).dims.len());
    ZarrForm { order: form.order.clone().into_iter().filter(|_| is_order).collect(), ..form.clone() }
}

/// Returns the data type of a form, with the byte order that a variable has.
pub(super) fn element(model: &Model, var: VarId, form: &ZarrForm) -> Option<Element> {
    let text = form.data_type.as_ref()?;
    let mut element = match Json::parse(text.as_bytes()) {
        Ok(fields @ Json::Array(_)) => Element::from_v2(&fields)?,
        _ => Element::from_typestring(text)?,
    };
    match model.var(var).storage.endian {
        Some(Endian::Big) => element.order = Order::Big,
        Some(Endian::Little) => element.order = Order::Little,
        None => {}
    }
    Some(element)
}

/// Returns the attributes that netCDF programs need for times, which in Zarr the data type says.
pub(super) fn time_attributes(data_type: &DataType) -> Vec<Attr> {
    let (unit, is_since) = match data_type {
        DataType::DateTime(unit) => (unit, true),
        DataType::TimeDelta(unit) => (unit, false),
        _ => return vec![],
    };
    let Some(unit) = cf_unit(unit) else { return vec![] };
    let attr = |called: &str, value| Attr::new(name(called), value);
    let text = |text: &str| Values::Char(text.as_bytes().to_vec());
    let mut attrs = match is_since {
        true => vec![
            attr("units", text(&format!("{unit} since 1970-01-01"))),
            attr("calendar", text("proleptic_gregorian")),
        ],
        false => vec![attr("units", text(&unit))],
    };
    attrs.push(attr("_FillValue", Values::Int64(vec![i64::MIN])));
    attrs
}

/// True if an attribute of a variable says what the data type of its new array says too. Xarray reads no times that have the attributes
/// of numbers.
pub(super) fn is_implied(data_type: &DataType, attr: &Attr) -> bool {
    time_attributes(data_type).contains(attr)
}

/// Returns the words of the CF conventions for a unit of time of NumPy.
fn cf_unit(unit: &TimeUnit) -> Option<String> {
    let name = match &*unit.name {
        "W" => "weeks",
        "D" => "days",
        "h" => "hours",
        "m" => "minutes",
        "s" => "seconds",
        "ms" => "milliseconds",
        "us" | "μs" => "microseconds",
        "ns" => "nanoseconds",
        _ => return None,
    };
    Some(if unit.scale == 1 { name.to_string() } else { format!("{} {name}", unit.scale) })
}
