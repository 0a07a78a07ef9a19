//! Values of atomic types as JSON.

use ferrocdf_model::{Atomic, Values};
use ferrocdf_zarr::Json;

/// Returns text: that of a string, the JSON of everything else.
pub(super) fn text(json: &Json) -> Values {
    Values::Char(match json {
        Json::String(text) => text.clone().into_bytes(),
        // NetCDF-C writes text as JSON where it can be, `NaN` without quotes too.
        Json::Number(text) => text.as_bytes().into(),
        json => json.to_string().into_bytes(),
    })
}

/// Returns the items of a list; anything else is its only item.
pub(super) fn list(json: &Json) -> &[Json] {
    match json {
        Json::Array(list) => list,
        one => std::slice::from_ref(one),
    }
}

/// Converts a value or a list of values to a type. `None` if one of them has none of it.
pub(super) fn of_type(json: &Json, atomic: Atomic) -> Option<Values> {
    fn integers<T: TryFrom<i128>>(list: &[Json]) -> Option<Vec<T>> {
        let number = |json: &Json| match json {
            Json::Bool(value) => Some(i128::from(*value)),
            Json::String(text) => text.parse().ok(),
            json => json.as_integer(),
        };
        list.iter().map(|json| T::try_from(number(json)?).ok()).collect()
    }
    let floats = |list: &[Json]| -> Option<Vec<f64>> {
        let number = |json: &Json| match json {
            Json::String(text) => Json::Number(text.clone().into()).as_f64(),
            json => json.as_f64(),
        };
        list.iter().map(number).collect()
    };
    let list = list(json);
    Some(match atomic {
        Atomic::Byte => Values::Byte(integers(list)?),
        Atomic::Short => Values::Short(integers(list)?),
        Atomic::Int => Values::Int(integers(list)?),
        Atomic::Int64 => Values::Int64(integers(list)?),
        Atomic::Ubyte => Values::Ubyte(integers(list)?),
        Atomic::Ushort => Values::Ushort(integers(list)?),
        Atomic::Uint => Values::Uint(integers(list)?),
        Atomic::Uint64 => Values::Uint64(integers(list)?),
        Atomic::Float => Values::Float(floats(list)?.into_iter().map(|number| number as f32).collect()),
        Atomic::Double => Values::Double(floats(list)?),
        Atomic::Char => text(json),
        Atomic::String => {
            let string = |json: &Json| Some(Some(json.as_str()?.as_bytes().to_vec()));
            Values::String(list.iter().map(string).collect::<Option<_>>()?)
        }
    })
}
