//! Data types: the typestrings of Zarr v2 (`<f8`) and the names of Zarr v3 (`float64`), and the bytes of fill values.
//!
//! Sources: Zarr v2 specification, "Data type encoding" and "Fill value encoding"; Zarr v3 core, "Data types"; the registry
//! zarr-extensions. Names that other programs write for the same types are read too.

mod write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ferrocdf_bytes::Order;
use half::f16;

use crate::json::{Json, float};

/// The type of the elements of an array.
#[derive(Clone, Debug, PartialEq)]
pub enum DataType {
    /// One byte, 0 or 1.
    Bool,
    /// An integer of 1, 2, 4 or 8 bytes.
    Integer {
        /// Size in bytes.
        size: u8,
        /// True if it has a sign.
        signed: bool,
    },
    /// An IEEE number of 2, 4 or 8 bytes.
    Float(u8),
    /// Two IEEE numbers of so many bytes each.
    Complex(u8),
    /// Bytes of a fixed number, zeros at the end not counted: text of NumPy's `S`.
    FixedBytes(usize),
    /// Unicode characters of 4 bytes each, so many, zeros at the end not counted: NumPy's `U`.
    FixedText(usize),
    /// Bytes without a meaning, so many: `V` and `r<N>`.
    Raw(usize),
    /// A point in time, 64-bit multiples of a unit since 1970. The smallest number stands for no time.
    DateTime(TimeUnit),
    /// A length of time, 64-bit multiples of a unit.
    TimeDelta(TimeUnit),
    /// Fields side by side.
    Struct(Vec<Field>),
    /// Text of any length.
    String,
    /// Bytes of any number.
    Bytes,
    /// Lists of any length of numbers.
    List(Box<Element>),
    /// Any JSON value.
    Json,
}

/// A type and the byte order of its numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// The type.
    pub data_type: DataType,
    /// The byte order. Fields of structures have their own.
    pub order: Order,
}

/// A field of a structure.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub element: Element,
    /// Its dimensions; empty for a single value.
    pub shape: Vec<usize>,
}

/// The unit of times, as NumPy names it: a number of `ns`, `us`, `ms`, `s`, `m` (minutes), `h`, `D`, `W`, `M` (months), `Y`,
/// `ps`, `fs`, `as` or `generic`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeUnit {
    /// Name of the unit.
    pub name: String,
    /// How many of it.
    pub scale: u32,
}

/// The value of missing elements.
#[derive(Clone, Debug, PartialEq)]
pub enum FillValue {
    /// None is given.
    Undefined,
    /// The bytes of an element as stored.
    Bytes(Vec<u8>),
    /// The value of an element that has no fixed number of bytes: text, or any JSON value.
    Value(Json),
}

/// Largest element in bytes: more than any file has, and few enough to add up.
const MAX_SIZE: usize = 1 << 30;

impl DataType {
    /// Returns the number of bytes of an element; `None` if elements have different numbers.
    pub fn size(&self) -> Option<usize> {
        Some(match self {
            DataType::Bool => 1,
            DataType::Integer { size, .. } | DataType::Float(size) => usize::from(*size),
            DataType::Complex(size) => 2 * usize::from(*size),
            DataType::FixedBytes(size) | DataType::Raw(size) => *size,
            DataType::FixedText(chars) => 4 * chars,
            DataType::DateTime(_) | DataType::TimeDelta(_) => 8,
            DataType::Struct(fields) => {
                let size = |field: &Field| {
                    let count = field.shape.iter().try_fold(1usize, |count, &len| count.checked_mul(len))?;
                    field.element.data_type.size()?.checked_mul(count)
                };
                let sum = |sum: usize, field| sum.checked_add(size(field)?).filter(|&sum| sum <= MAX_SIZE);
                fields.iter().try_fold(0, sum)?
            }
            DataType::String | DataType::Bytes | DataType::List(_) | DataType::Json => return None,
        })
    }
}

impl Element {
    /// Reads a data type of Zarr v2: a typestring, or a list of fields. `None` if it is not known.
    pub fn from_v2(json: &Json) -> Option<Element> {
        match json {
            Json::String(text) => Self::from_typestring(text),
            Json::Array(fields) if !fields.is_empty() => {
                let fields = fields.iter().map(Field::from_v2).collect::<Option<_>>()?;
                let element = Element { data_type: DataType::Struct(fields), order: Order::Little };
                element.data_type.size().is_some().then_some(element)
            }
            _ => None,
        }
    }

    /// Reads a typestring of NumPy. Objects, `|O`, are strings until a codec says otherwise.
    pub fn from_typestring(text: &str) -> Option<Element> {
        let (text, unit) = match text.split_once('[') {
            Some((text, unit)) => (text, Some(unit.strip_suffix(']')?)),
            None => (text, None),
        };
        let order = if text.starts_with('>') { Order::Big } else { Order::Little };
        let text = text.strip_prefix(['<', '>', '|', '=']).unwrap_or(text);
        let kind = text.chars().next().filter(char::is_ascii)?;
        let size = &text[1..];
        if kind == 'O' && matches!(size, "" | "8") {
            return Some(Element { data_type: DataType::String, order });
        }
        let is_number = !size.is_empty() && size.bytes().all(|byte| byte.is_ascii_digit());
        let size: usize = size.parse().ok().filter(|&size| is_number && size <= MAX_SIZE / 4)?;
        let data_type = match (kind, size) {
            ('b', 1) => DataType::Bool,
            ('i' | 'u', 1 | 2 | 4 | 8) => DataType::Integer { size: size as u8, signed: kind == 'i' },
            ('f', 2 | 4 | 8) => DataType::Float(size as u8),
            ('c', 8 | 16) => DataType::Complex(size as u8 / 2),
            ('S', _) => DataType::FixedBytes(size),
            ('U', _) => DataType::FixedText(size),
            ('V', _) => DataType::Raw(size),
            ('M', 8) => DataType::DateTime(TimeUnit::parse(unit.unwrap_or("generic"))?),
            ('m', 8) => DataType::TimeDelta(TimeUnit::parse(unit.unwrap_or("generic"))?),
            _ => return None,
        };
        Some(Element { data_type, order })
    }

    /// Reads a data type of Zarr v3. Its numbers are little-endian until a codec says otherwise. `None` if it is not known.
    pub fn from_v3(json: &Json) -> Option<Element> {
        let nothing = Json::Null;
        let (name, configuration) = match json {
            Json::String(name) => (&**name, &nothing),
            Json::Object(members) => {
                (members.get("name")?.as_str()?, members.get("configuration").unwrap_or(&nothing))
            }
            _ => return None,
        };
        let length = || {
            let length = configuration.get("length_bytes")?.as_u64()?;
            usize::try_from(length).ok().filter(|&length| length <= MAX_SIZE)
        };
        let unit = || {
            let name = configuration.get("unit")?.as_str()?.to_string();
            let scale = configuration.get("scale_factor").map_or(Some(1), Json::as_u64)?;
            Some(TimeUnit { name, scale: u32::try_from(scale).ok().filter(|&scale| scale > 0)? })
        };
        let integer = |size, signed| DataType::Integer { size, signed };
        let data_type = match name {
            "bool" => DataType::Bool,
            "int8" => integer(1, true),
            "int16" => integer(2, true),
            "int32" => integer(4, true),
            "int64" => integer(8, true),
            "uint8" => integer(1, false),
            "uint16" => integer(2, false),
            "uint32" => integer(4, false),
            "uint64" => integer(8, false),
            "float16" => DataType::Float(2),
            "float32" => DataType::Float(4),
            "float64" => DataType::Float(8),
            "complex64" | "complex_float32" => DataType::Complex(4),
            "complex128" | "complex_float64" => DataType::Complex(8),
            "string" => DataType::String,
            "bytes" | "variable_length_bytes" | "binary" => DataType::Bytes,
            "fixed_length_utf32" | "fixed_length_ucs4" => DataType::FixedText(length()? / 4),
            "null_terminated_bytes" | "fixed_length_ascii" => DataType::FixedBytes(length()?),
            "raw_bytes" => DataType::Raw(length()?),
            "numpy.datetime64" => DataType::DateTime(unit()?),
            "numpy.timedelta64" => DataType::TimeDelta(unit()?),
            "struct" | "structured" => {
                let fields = configuration.get("fields")?.as_array().filter(|fields| !fields.is_empty())?;
                DataType::Struct(fields.iter().map(Field::from_v3).collect::<Option<_>>()?)
            }
            name => {
                let bits: usize = name.strip_prefix('r')?.parse().ok()?;
                DataType::Raw(
                    (bits > 0 && bits.is_multiple_of(8) && bits / 8 <= MAX_SIZE).then_some(bits / 8)?,
                )
            }
        };
        match &data_type {
            DataType::Struct(_) if data_type.size().is_none() => None,
            _ => Some(Element { data_type, order: Order::Little }),
        }
    }

    /// Sets the byte order of all numbers, also of those in structures.
    pub fn set_order(&mut self, order: Order) {
        self.order = order;
        if let DataType::Struct(fields) = &mut self.data_type {
            fields.iter_mut().for_each(|field| field.element.set_order(order));
        }
    }

    /// Reads a fill value. `None` if it is not one of this type.
    pub fn fill_value(&self, json: &Json) -> Option<FillValue> {
        if *json == Json::Null {
            return Some(FillValue::Undefined);
        }
        match &self.data_type {
            DataType::String | DataType::Bytes | DataType::List(_) | DataType::Json => {
                Some(FillValue::Value(json.clone()))
            }
            DataType::Struct(_) if json.as_u64() == Some(0) => {
                Some(FillValue::Bytes(vec![0; self.data_type.size()?]))
            }
            _ => self.bytes_of(json).map(FillValue::Bytes),
        }
    }

    /// Returns the bytes of an element with this value.
    fn bytes_of(&self, json: &Json) -> Option<Vec<u8>> {
        let size = self.data_type.size()?;
        let padded = |mut bytes: Vec<u8>| {
            let fits = bytes.len() <= size;
            bytes.resize(size, 0);
            fits.then_some(bytes)
        };
        let base64 = || STANDARD.decode(json.as_str()?).ok();
        let byte_list = || {
            let byte = |value: &Json| value.as_u64().and_then(|byte| u8::try_from(byte).ok());
            json.as_array()?.iter().map(byte).collect::<Option<Vec<u8>>>()
        };
        match &self.data_type {
            DataType::Bool => match json {
                Json::Bool(value) => Some(vec![u8::from(*value)]),
                _ => json
                    .as_integer()
                    .filter(|number| (0..=1).contains(number))
                    .map(|number| vec![number as u8]),
            },
            DataType::Integer { signed, .. } => {
                let number = json.as_integer()?;
                let bits = 8 * size as u32;
                let (least, most) = match signed {
                    true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
                    false => (0, (1i128 << bits) - 1),
                };
                (least..=most).contains(&number).then(|| self.ordered(&number.to_le_bytes()[..size]))
            }
            DataType::Float(size) => self.float(json, *size),
            DataType::Complex(size) => {
                let parts = match json {
                    Json::Array(parts) => parts,
                    // A real number, as some writers give it.
                    number => &vec![number.clone(), Json::Number("0".into())],
                };
                let [real, imaginary] = &parts[..] else { return None };
                Some([self.float(real, *size)?, self.float(imaginary, *size)?].concat())
            }
            DataType::FixedBytes(_) | DataType::Raw(_) => {
                if matches!(json.as_integer(), Some(0)) {
                    return padded(vec![]);
                }
                let plain = || Some(json.as_str()?.as_bytes().to_vec());
                padded(byte_list().or_else(base64).or_else(plain)?)
            }
            DataType::FixedText(_) => {
                let chars = match json {
                    Json::String(text) => text.as_str(),
                    _ => json.as_integer().filter(|&number| number == 0).map(|_| "")?,
                };
                padded(chars.chars().flat_map(|char| self.ordered(&u32::from(char).to_le_bytes())).collect())
            }
            DataType::DateTime(_) | DataType::TimeDelta(_) => {
                let number = match json.as_str() {
                    Some("NaT") => i64::MIN,
                    _ => i64::try_from(json.as_integer()?).ok()?,
                };
                Some(self.ordered(&number.to_le_bytes()))
            }
            DataType::Struct(fields) => match json {
                Json::Object(members) => {
                    let field = |field: &Field| match field.shape[..] {
                        [] => field.element.bytes_of(members.get(&field.name)?),
                        _ => None,
                    };
                    Some(fields.iter().map(field).collect::<Option<Vec<_>>>()?.concat())
                }
                _ => base64().filter(|bytes| bytes.len() == size),
            },
            DataType::String | DataType::Bytes | DataType::List(_) | DataType::Json => None,
        }
    }

    /// Puts the bytes of a little-endian number into the byte order of the type.
    fn ordered(&self, little: &[u8]) -> Vec<u8> {
        let mut bytes = little.to_vec();
        if self.order == Order::Big {
            bytes.reverse();
        }
        bytes
    }

    fn float(&self, json: &Json, size: u8) -> Option<Vec<u8>> {
        if let Some(bits) = json.as_str().and_then(|text| text.strip_prefix("0x")) {
            let bits = u64::from_str_radix(bits, 16).ok()?;
            return (size == 8 || bits >> (8 * size) == 0)
                .then(|| self.ordered(&bits.to_le_bytes()[..size.into()]));
        }
        let number = match json {
            Json::String(text) => float(text)?,
            json => json.as_f64()?,
        };
        Some(match size {
            2 => self.ordered(&f16::from_f64(number).to_le_bytes()),
            4 => self.ordered(&(number as f32).to_le_bytes()),
            _ => self.ordered(&number.to_le_bytes()),
        })
    }
}

impl Field {
    fn from_v2(json: &Json) -> Option<Field> {
        let (name, json, shape) = match json.as_array()? {
            [name, json] => (name, json, None),
            [name, json, shape] => (name, json, Some(shape)),
            _ => return None,
        };
        let length = |value: &Json| value.as_u64().and_then(|length| usize::try_from(length).ok());
        let shape = match shape {
            None => vec![],
            Some(Json::Array(shape)) => shape.iter().map(length).collect::<Option<_>>()?,
            Some(length_of_list) => vec![length(length_of_list)?],
        };
        Some(Field { name: name.as_str()?.to_string(), element: Element::from_v2(json)?, shape })
    }

    fn from_v3(json: &Json) -> Option<Field> {
        let (name, json) = match json {
            Json::Array(pair) => match &pair[..] {
                [name, json] => (name, json),
                _ => return None,
            },
            _ => (json.get("name")?, json.get("data_type")?),
        };
        Some(Field { name: name.as_str()?.to_string(), element: Element::from_v3(json)?, shape: vec![] })
    }
}

impl TimeUnit {
    /// Reads the unit of a typestring, such as `ns` or `25s`.
    fn parse(text: &str) -> Option<TimeUnit> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (scale, name) = text.split_at(digits);
        let scale = if scale.is_empty() { 1 } else { scale.parse().ok().filter(|&scale| scale > 0)? };
        let is_known = TimeUnit::NAMES.contains(&name);
        is_known.then(|| TimeUnit { name: name.to_string(), scale })
    }

    const NAMES: [&str; 15] =
        ["generic", "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "μs", "ns", "ps", "fs", "as"];
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(element: &Element, json: &str) -> Option<Vec<u8>> {
        match element.fill_value(&Json::parse(json.as_bytes()).unwrap())? {
            FillValue::Bytes(bytes) => Some(bytes),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn fill_values_are_the_bytes_of_an_element() {
        for (typestring, json, wanted) in [
            ("<i2", "-2", Some(&[0xfe, 0xff][..])),
            (">i2", "-2", Some(&[0xff, 0xfe])),
            ("|u1", "255", Some(&[255])),
            ("|u1", "256", None),
            ("|i1", "-129", None),
            ("|i1", "1.0", Some(&[1])),
            ("|i1", "1.5", None),
            ("|b1", "true", Some(&[1])),
            ("|b1", "2", None),
            ("<u8", "18446744073709551615", Some(&[255; 8])),
            ("<f4", "\"NaN\"", Some(&f32::NAN.to_le_bytes())),
            ("<f4", "NaN", Some(&f32::NAN.to_le_bytes())),
            (">f8", "\"-Infinity\"", Some(&f64::NEG_INFINITY.to_be_bytes())),
            ("<f4", "\"0x7fc00001\"", Some(&[1, 0, 0xc0, 0x7f])),
            ("<f4", "9.969209968386869e+36", Some(&9.969_21e36_f32.to_le_bytes())),
            ("<f4", "\"x\"", None),
            ("<c8", "[1, \"NaN\"]", Some(&[0, 0, 0x80, 0x3f, 0, 0, 0xc0, 0x7f])),
            ("|S3", "\"YWI=\"", Some(b"ab\0")),
            ("|S3", "\"YWJjZA==\"", None),
            ("<U2", "\"é\"", Some(&[0xe9, 0, 0, 0, 0, 0, 0, 0])),
            (">U1", "\"é\"", Some(&[0, 0, 0, 0xe9])),
            ("<M8[ns]", "\"NaT\"", Some(&i64::MIN.to_le_bytes())),
            ("|V2", "[1, 2]", Some(&[1, 2])),
        ] {
            assert_eq!(
                bytes(&Element::from_typestring(typestring).unwrap(), json).as_deref(),
                wanted,
                "{typestring} {json}"
            );
        }
    }

    #[test]
    fn unknown_types_are_none() {
        for text in [
            "<f3",
            "<i16",
            "",
            "é1",
            "<U",
            "<M8[x]",
            "<M8[0s]",
            "<M8[s",
            "|O4",
            "<i+4",
            "|S9999999999999999999",
        ] {
            assert_eq!(Element::from_typestring(text), None, "{text}");
        }
        for text in ["\"int4\"", "\"r12\"", "\"r\"", "1", "{\"name\": \"numpy.datetime64\"}", "[]"] {
            assert_eq!(Element::from_v3(&Json::parse(text.as_bytes()).unwrap()), None, "{text}");
        }
    }

    #[test]
    fn structures_have_the_size_of_their_fields() {
        let json = Json::parse(br#"[["a", "<i2"], ["b", ">f8", [2, 3]], ["c", [["d", "|S5"]]]]"#).unwrap();
        assert_eq!(Element::from_v2(&json).unwrap().data_type.size(), Some(2 + 48 + 5));
        let huge = Json::parse(br#"[["b", ">f8", [4294967296, 4294967296]]]"#).unwrap();
        assert_eq!(Element::from_v2(&huge), None);
    }
}
