//! From [`Values`] and [`Value`] to the usual Rust types, for attributes and fields.

use ferrocdf_bytes::{Code, Error, Result};

use crate::{Value, Values, each_numbers};

/// A number of a list, without loss.
enum AnyNumber {
    Integer(i128),
    Float(f64),
}

/// A Rust type that numbers are converted to.
trait FromAnyNumber: Sized {
    /// Converts a number; `None` if it is out of range, or has a fraction that an integer cannot have. Floats are rounded to the
    /// nearest.
    fn from_any(number: AnyNumber) -> Option<Self>;
}

macro_rules! from_any {
    (integers $($ty:ty),*) => { $(
        impl From<$ty> for AnyNumber {
            fn from(number: $ty) -> Self {
                AnyNumber::Integer(number.into())
            }
        }

        impl FromAnyNumber for $ty {
            #[expect(clippy::cast_possible_truncation, reason = "larger floats become the largest i128, which no type here has")]
            fn from_any(number: AnyNumber) -> Option<Self> {
                match number {
                    AnyNumber::Integer(integer) => integer.try_into().ok(),
                    // Each float with a value of this type is an `i128` too.
                    AnyNumber::Float(float) => (float.fract() == 0.0).then_some(float as i128)?.try_into().ok(),
                }
            }
        }
    )* };
    (floats $($ty:ty),*) => { $(
        impl From<$ty> for AnyNumber {
            fn from(number: $ty) -> Self {
                AnyNumber::Float(number.into())
            }
        }

        impl FromAnyNumber for $ty {
            #[allow(clippy::cast_possible_truncation, reason = "a float of fewer bits is the nearest one; finite ones are checked")]
            fn from_any(number: AnyNumber) -> Option<Self> {
                let (converted, is_finite) = match number {
                    AnyNumber::Integer(integer) => (integer as $ty, true),
                    AnyNumber::Float(float) => (float as $ty, float.is_finite()),
                };
                (converted.is_finite() || !is_finite).then_some(converted)
            }
        }
    )* };
}

from_any!(integers i8, i16, i32, i64, u8, u16, u32, u64);
from_any!(floats f32, f64);

fn wrong_type(values: &Values, wanted: &str) -> Error {
    let is = values.atomic().map_or("values of a user-defined type".to_string(), |atomic| atomic.to_string());
    Error::new(Code::EBADTYPE, format!("{is} cannot be converted to {wanted}"))
}

/// Returns the only item of a list.
fn only<T>(mut list: Vec<T>) -> Result<T> {
    match (list.len(), list.pop()) {
        (1, Some(item)) => Ok(item),
        (len, _) => Err(Error::new(Code::EINVAL, format!("{len} values where one is expected"))),
    }
}

fn numbers<T: FromAnyNumber>(values: &Values) -> Result<Vec<T>> {
    let wanted = std::any::type_name::<T>();
    each_numbers!(values, list => {
        let convert = |&number: &_| {
            T::from_any(AnyNumber::from(number))
                .ok_or_else(|| Error::new(Code::ERANGE, format!("{number} is no value of {wanted}")))
        };
        list.iter().map(convert).collect()
    }, _ => Err(wrong_type(values, wanted)))
}

fn text(bytes: &[u8]) -> Result<String> {
    let not_utf8 = |error: std::str::Utf8Error| {
        let what = format!("text that is not UTF-8 at byte {}", error.valid_up_to());
        Error::new(Code::EBADTYPE, what)
    };
    std::str::from_utf8(bytes).map(str::to_string).map_err(not_utf8)
}

/// Returns the texts of a list. Characters are one text, without zero bytes at the end; a null string is an empty text.
fn texts(values: &Values) -> Result<Vec<String>> {
    match values {
        Values::Char(bytes) => {
            let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
            Ok(vec![text(&bytes[..end])?])
        }
        Values::String(list) => list.iter().map(|item| text(item.as_deref().unwrap_or_default())).collect(),
        _ => Err(wrong_type(values, "text")),
    }
}

/// Implements both conversions of a list, and those of its only item, from values and from a reference to them.
macro_rules! conversions {
    ($read:path => $($ty:ty),*) => { $(
        impl TryFrom<&Values> for Vec<$ty> {
            type Error = Error;

            fn try_from(values: &Values) -> Result<Self> {
                $read(values)
            }
        }

        impl TryFrom<Values> for Vec<$ty> {
            type Error = Error;

            fn try_from(values: Values) -> Result<Self> {
                $read(&values)
            }
        }

        impl TryFrom<&Values> for $ty {
            type Error = Error;

            fn try_from(values: &Values) -> Result<Self> {
                only($read(values)?)
            }
        }

        impl TryFrom<Values> for $ty {
            type Error = Error;

            fn try_from(values: Values) -> Result<Self> {
                only($read(&values)?)
            }
        }

        impl TryFrom<&Value> for $ty {
            type Error = Error;

            fn try_from(value: &Value) -> Result<Self> {
                value.atomic()?.try_into()
            }
        }

        impl TryFrom<&Value> for Vec<$ty> {
            type Error = Error;

            fn try_from(value: &Value) -> Result<Self> {
                value.atomic()?.try_into()
            }
        }
    )* };
}

conversions!(numbers => i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);
conversions!(texts => String);

/// A value of an atomic type, or an array of such values for an array field. Text becomes characters; [`Value::string`] makes a string.
impl<T: Into<Values>> From<T> for Value {
    fn from(values: T) -> Self {
        Value::Atomic(values.into())
    }
}

impl Value {
    /// Returns a value of the type `string`.
    pub fn string(text: impl Into<String>) -> Value {
        Value::Atomic(Values::from(vec![text.into()]))
    }

    /// Returns a list (vlen) of values of an atomic type.
    pub fn list(values: impl Into<Values>) -> Value {
        Value::Vlen(vec![Value::Atomic(values.into())])
    }

    /// Returns the fields of a compound, in definition order.
    ///
    /// # Errors
    /// `NC_EBADTYPE` for other values.
    pub fn fields(&self) -> Result<&[Value]> {
        match self {
            Value::Compound(fields) => Ok(fields),
            _ => Err(Error::new(Code::EBADTYPE, "the value is no compound")),
        }
    }

    /// Returns the values of an atomic type: of a field, or of a list of that type.
    ///
    /// # Errors
    /// `NC_EBADTYPE` for other values.
    pub fn atomic(&self) -> Result<&Values> {
        match self {
            Value::Atomic(values) => Ok(values),
            Value::Vlen(list) => match &list[..] {
                [Value::Atomic(values)] => Ok(values),
                _ => Err(Error::new(Code::EBADTYPE, "the list is empty, or not of an atomic type")),
            },
            _ => Err(Error::new(Code::EBADTYPE, "the value is not of an atomic type")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_converted_if_they_are_in_range() {
        assert_eq!(f64::try_from(Values::from(0.5f32)).unwrap(), 0.5);
        assert_eq!(Vec::<u8>::try_from(Values::from([1i64, 255])).unwrap(), [1, 255]);
        assert_eq!(i16::try_from(Values::from(-3.0)).unwrap(), -3);
        assert!(f32::try_from(Values::from(f64::INFINITY)).unwrap().is_infinite());
        for (values, code) in [
            (Values::from(256i32), Code::ERANGE),
            (Values::from(0.5), Code::ERANGE),
            (Values::from(f64::NAN), Code::ERANGE),
            (Values::from([1i8, 2]), Code::EINVAL),
            (Values::from("1"), Code::EBADTYPE),
        ] {
            assert_eq!(u8::try_from(&values).unwrap_err().code, code, "{values:?}");
        }
        assert_eq!(f32::try_from(Values::from(1e300)).unwrap_err().code, Code::ERANGE);
    }

    #[test]
    fn text_is_characters_without_zeros_or_strings() {
        assert_eq!(String::try_from(Values::from("kelvin\0\0")).unwrap(), "kelvin");
        assert_eq!(String::try_from(Values::from(&["K"][..])).unwrap(), "K");
        let strings = Values::String(vec![Some(b"a".to_vec()), None]);
        assert_eq!(Vec::<String>::try_from(&strings).unwrap(), ["a", ""]);
        assert_eq!(String::try_from(strings).unwrap_err().code, Code::EINVAL);
        assert_eq!(String::try_from(Values::Char(vec![0xE9])).unwrap_err().code, Code::EBADTYPE);
        assert_eq!(String::try_from(Values::from(1i8)).unwrap_err().code, Code::EBADTYPE);
    }

    #[test]
    fn fields_and_lists_are_converted() {
        let value = Value::Compound(vec![1.5f32.into(), Value::string("x"), Value::list([1i32, 2])]);
        let fields = value.fields().unwrap();
        assert_eq!(f64::try_from(&fields[0]).unwrap(), 1.5);
        assert_eq!(String::try_from(&fields[1]).unwrap(), "x");
        assert_eq!(Vec::<i64>::try_from(&fields[2]).unwrap(), [1, 2]);
        assert_eq!(fields[0].fields().unwrap_err().code, Code::EBADTYPE);
    }
}
