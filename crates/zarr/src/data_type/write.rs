//! Data types and fill values as metadata has them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ferrocdf_bytes::{Code, Error, Order, Result};
use half::f16;

use super::{DataType, Element, Field, FillValue, TimeUnit};
use crate::elements::without_zeros;
use crate::json::{Json, Members};
use crate::metadata::Version;

impl Element {
    /// Returns the data type of Zarr v2: a typestring, or a list of fields. Elements without a fixed size are objects, `|O`.
    pub fn to_v2(&self) -> Json {
        let ordered = |kind: char, size: usize| {
            let order = match (size, self.order) {
                (1, _) => '|',
                (_, Order::Little) => '<',
                (_, Order::Big) => '>',
            };
            format!("{order}{kind}{size}")
        };
        let timed = |kind: char, unit: &TimeUnit| format!("{}[{}]", ordered(kind, 8), unit.text());
        Json::String(match &self.data_type {
            DataType::Bool => "|b1".to_string(),
            DataType::Integer { size, signed } => {
                ordered(if *signed { 'i' } else { 'u' }, usize::from(*size))
            }
            DataType::Float(size) => ordered('f', usize::from(*size)),
            DataType::Complex(size) => ordered('c', 2 * usize::from(*size)),
            DataType::FixedBytes(size) => format!("|S{size}"),
            DataType::FixedText(chars) => {
                format!("{}U{chars}", if self.order == Order::Big { '>' } else { '<' })
            }
            DataType::Raw(size) => format!("|V{size}"),
            DataType::DateTime(unit) => timed('M', unit),
            DataType::TimeDelta(unit) => timed('m', unit),
            DataType::Struct(fields) => return Json::Array(fields.iter().map(Field::to_v2).collect()),
            DataType::String | DataType::Bytes | DataType::List(_) | DataType::Json => "|O".to_string(),
        })
    }

    /// Returns the data type of Zarr v3. The byte order is that of a codec.
    ///
    /// # Errors
    /// `NC_EZARRMETA` for types that version 3 does not have: lists, JSON values, and structures with such fields or with lists of a
    /// fixed length.
    pub fn to_v3(&self) -> Result<Json> {
        let with = |name: &str, configuration: Vec<(&str, Json)>| {
            Json::object(vec![("name", Json::text(name)), ("configuration", Json::object(configuration))])
        };
        let length = |length: usize| vec![("length_bytes", Json::integer(length))];
        let timed = |unit: &TimeUnit| {
            vec![("unit", Json::text(&unit.name)), ("scale_factor", Json::integer(unit.scale))]
        };
        Ok(match &self.data_type {
            DataType::Bool => Json::text("bool"),
            DataType::Integer { size, signed } => {
                Json::text(&format!("{}int{}", if *signed { "" } else { "u" }, 8 * usize::from(*size)))
            }
            DataType::Float(size) => Json::text(&format!("float{}", 8 * usize::from(*size))),
            DataType::Complex(size) => Json::text(&format!("complex{}", 16 * usize::from(*size))),
            DataType::FixedBytes(size) => with("null_terminated_bytes", length(*size)),
            DataType::FixedText(chars) => with("fixed_length_utf32", length(4 * chars)),
            // Zarr-python reads no `r<N>`.
            DataType::Raw(size) => with("raw_bytes", length(*size)),
            DataType::DateTime(unit) => with("numpy.datetime64", timed(unit)),
            DataType::TimeDelta(unit) => with("numpy.timedelta64", timed(unit)),
            DataType::Struct(fields) => {
                let fields = fields.iter().map(Field::to_v3).collect::<Result<_>>()?;
                with("struct", vec![("fields", Json::Array(fields))])
            }
            DataType::String => Json::text("string"),
            DataType::Bytes => Json::text("variable_length_bytes"),
            DataType::List(_) | DataType::Json => {
                return Err(not_in_v3("lists of any length, or JSON values"));
            }
        })
    }

    /// Returns a fill value as metadata has it.
    pub fn fill_to_json(&self, version: Version, fill: &FillValue) -> Json {
        match fill {
            FillValue::Undefined => Json::Null,
            FillValue::Value(value) => value.clone(),
            FillValue::Bytes(bytes) => self.bytes_to_json(version, bytes),
        }
    }

    fn bytes_to_json(&self, version: Version, bytes: &[u8]) -> Json {
        // The number in the low bytes, whatever its order.
        let bits = |bytes: &[u8]| {
            let step = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
            match self.order {
                Order::Little => bytes.iter().rev().fold(0, step),
                Order::Big => bytes.iter().fold(0, step),
            }
        };
        let base64 = || Json::text(&STANDARD.encode(bytes));
        match &self.data_type {
            DataType::Bool => Json::Bool(bytes != [0]),
            DataType::Integer { size, signed } => {
                let unused = 64 - 8 * u32::from(*size);
                match signed {
                    true => Json::integer((bits(bytes) << unused) as i64 >> unused),
                    false => Json::integer(bits(bytes)),
                }
            }
            DataType::Float(size) => float(bits(bytes), *size, version),
            DataType::Complex(size) => {
                let parts = bytes.chunks_exact(usize::from(*size));
                Json::Array(parts.map(|part| float(bits(part), *size, version)).collect())
            }
            // The zeros at the end do not count. Empty text stays empty for readers that know no base64.
            DataType::FixedBytes(_) => Json::text(&STANDARD.encode(without_zeros(bytes))),
            DataType::Raw(_) => base64(),
            DataType::Struct(_) if version == Version::V2 => base64(),
            DataType::FixedText(_) => {
                let chars = bytes.chunks_exact(4).map(|unit| bits(unit) as u32).filter(|&unit| unit != 0);
                let char = |unit| char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER);
                Json::String(chars.map(char).collect())
            }
            DataType::DateTime(_) | DataType::TimeDelta(_) => match bits(bytes) as i64 {
                i64::MIN => Json::text("NaT"),
                other => Json::integer(other),
            },
            DataType::Struct(fields) => {
                let mut rest = bytes;
                let member = |field: &Field| {
                    let size = field.element.data_type.size().unwrap_or(0).min(rest.len());
                    let (own, more) = rest.split_at(size);
                    rest = more;
                    (field.name.clone(), field.element.bytes_to_json(version, own))
                };
                Json::Object(Members(fields.iter().map(member).collect()))
            }
            DataType::String | DataType::Bytes | DataType::List(_) | DataType::Json => Json::Null,
        }
    }
}

impl Field {
    fn to_v2(&self) -> Json {
        let mut parts = vec![Json::text(&self.name), self.element.to_v2()];
        if !self.shape.is_empty() {
            parts.push(Json::Array(self.shape.iter().map(|length| Json::integer(*length)).collect()));
        }
        Json::Array(parts)
    }

    fn to_v3(&self) -> Result<Json> {
        if !self.shape.is_empty() {
            return Err(not_in_v3("structures with lists of a fixed length"));
        }
        Ok(Json::object(vec![("name", Json::text(&self.name)), ("data_type", self.element.to_v3()?)]))
    }
}

impl TimeUnit {
    fn text(&self) -> String {
        if self.scale == 1 { self.name.clone() } else { format!("{}{}", self.scale, self.name) }
    }
}

fn not_in_v3(what: &str) -> Error {
    Error::new(Code::EZARRMETA, format!("Zarr version 3 has no data type for {what}"))
}

/// Returns an IEEE number. Version 3 keeps the bits of a NaN that is not the usual one.
fn float(bits: u64, size: u8, version: Version) -> Json {
    let (value, usual_nan) = match size {
        2 => (f16::from_bits(bits as u16).to_f64(), 0x7e00),
        4 => (f64::from(f32::from_bits(bits as u32)), 0x7fc0_0000),
        _ => (f64::from_bits(bits), 0x7ff8_0000_0000_0000),
    };
    match value.is_nan() && bits != usual_nan && version == Version::V3 {
        true => Json::text(&format!("0x{bits:0width$x}", width = 2 * usize::from(size))),
        false => Json::float(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_written_as_they_are_read() {
        for (v2, v3) in [
            ("\"|b1\"", "\"bool\""),
            ("\"|i1\"", "\"int8\""),
            ("\"<u2\"", "\"uint16\""),
            ("\"<f2\"", "\"float16\""),
            ("\"<c16\"", "\"complex128\""),
            ("\"|V3\"", r#"{"name": "raw_bytes", "configuration": {"length_bytes": 3}}"#),
            ("\"<U2\"", r#"{"name": "fixed_length_utf32", "configuration": {"length_bytes": 8}}"#),
            (
                "\"<M8[10s]\"",
                r#"{"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 10}}"#,
            ),
            (
                r#"[["a","<i2"],["b","<f8"]]"#,
                r#"{"name": "struct", "configuration": {"fields": [{"name": "a", "data_type": "int16"},{"name": "b", "data_type": "float64"}]}}"#,
            ),
        ] {
            let element = Element::from_v2(&Json::parse(v2.as_bytes()).unwrap()).unwrap();
            assert_eq!(element.to_v2().to_string(), v2);
            assert_eq!(element.to_v3().unwrap().to_string(), v3);
            assert_eq!(Element::from_v3(&Json::parse(v3.as_bytes()).unwrap()).unwrap(), element, "{v3}");
        }
        assert_eq!(Element::from_typestring(">i4").unwrap().to_v2(), Json::text(">i4"));
    }

    #[test]
    fn fill_values_are_written_as_they_are_read() {
        for (typestring, version, json) in [
            ("<i2", Version::V2, "-2"),
            (">i2", Version::V2, "-2"),
            ("|u1", Version::V3, "255"),
            ("<u8", Version::V3, "18446744073709551615"),
            ("|b1", Version::V3, "true"),
            (">f8", Version::V2, "\"-Infinity\""),
            ("<f4", Version::V3, "\"NaN\""),
            ("<f4", Version::V3, "\"0x7fc00001\""),
            ("<f4", Version::V2, "9.969209968386869e36"),
            ("<f8", Version::V2, "1.5"),
            ("<c8", Version::V3, "[1.0,\"NaN\"]"),
            ("|S3", Version::V2, "\"YWI=\""),
            ("|S3", Version::V2, "\"\""),
            ("|V2", Version::V3, "\"AQI=\""),
            ("<U2", Version::V2, "\"é\""),
            ("<M8[ns]", Version::V3, "\"NaT\""),
            ("<m8[s]", Version::V3, "-7"),
        ] {
            let element = Element::from_typestring(typestring).unwrap();
            let fill = element.fill_value(&Json::parse(json.as_bytes()).unwrap()).unwrap();
            assert_eq!(element.fill_to_json(version, &fill).to_string(), json, "{typestring}");
        }
    }
}
