//! JSON values that keep what they do not need to understand.
//!
//! The members of an object stay in their order and numbers keep their text, so that metadata of other programs survives an edit.
//! `NaN`, `Infinity` and `-Infinity` without quotes, which Python writes, are read; what is written is legal JSON (RFC 8259).

mod parse;
mod print;

use std::fmt;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as its text. `NaN`, `Infinity` and `-Infinity` are among them.
    Number(Box<str>),
    /// A string.
    String(String),
    /// A list of values.
    Array(Vec<Json>),
    /// Names and values in their order.
    Object(Members),
}

/// The members of a JSON object, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Members(pub Vec<(String, Json)>);

impl Members {
    /// Returns the value of a member. Of members with the same name the last one counts, as in Python.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Iterates over names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    /// True if there are no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Json {
    /// Makes an object with these members, in their order.
    pub fn object(members: Vec<(&str, Json)>) -> Json {
        Json::Object(Members(members.into_iter().map(|(name, value)| (name.to_string(), value)).collect()))
    }

    /// Makes a string.
    pub fn text(text: &str) -> Json {
        Json::String(text.to_string())
    }

    /// Makes an integer.
    pub fn integer(number: impl TryInto<i128> + ToString) -> Json {
        Json::Number(number.to_string().into())
    }

    /// Makes the shortest number that reads as this one.
    pub fn float(number: f64) -> Json {
        Json::Number(match number {
            f64::INFINITY => "Infinity".into(),
            f64::NEG_INFINITY => "-Infinity".into(),
            number => format!("{number:?}").into(),
        })
    }

    /// Returns the members of an object.
    pub fn as_object(&self) -> Option<&Members> {
        match self {
            Json::Object(members) => Some(members),
            _ => None,
        }
    }

    /// Returns the value of a member of an object.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.as_object()?.get(name)
    }

    /// Returns the values of a list.
    pub fn as_array(&self) -> Option<&[Json]> {
        match self {
            Json::Array(values) => Some(values),
            _ => None,
        }
    }

    /// Returns the text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns a number that is an integer: digits, or a decimal fraction without a part behind the point.
    pub fn as_integer(&self) -> Option<i128> {
        let Json::Number(text) = self else { return None };
        if let Ok(number) = text.parse() {
            return Some(number);
        }
        let number: f64 = text.parse().ok()?;
        // Up to 2^53 a float stands for one integer only.
        (number.fract() == 0.0 && number.abs() <= (1u64 << 53) as f64).then_some(number as i128)
    }

    /// Returns a number that is an integer of 64 bits without a sign.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_integer().and_then(|number| u64::try_from(number).ok())
    }

    /// Returns the number nearest to its text; the JSON numbers and the three names of Python.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Json::Number(text) => float(text),
            _ => None,
        }
    }
}

/// Returns the number that a text means in Python's JSON and in the fill values of Zarr.
pub(crate) fn float(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        text => fast_float2::parse(text).ok(),
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print::print(self, f)
    }
}
