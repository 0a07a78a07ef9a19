//! Numcodecs `categorize`: texts as the numbers of labels, from 1; 0 is any other text, and is decoded to an empty one.
//!
//! The parameters are the type of the numbers, the type of the texts, then each label: the number of its characters, and
//! these. Texts of a fixed length have 4 bytes a character, as in NumPy. Objects have the form of numcodecs `vlen-utf8`: the number of
//! texts in 4 bytes, then for each its size in 4 bytes and its UTF-8 bytes, all little-endian.

use std::collections::HashMap;

use ferrocdf_bytes::Result;

use super::numbers::NumberType;
use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::json::{CodecObject, JsonForm};
use crate::registry::Entry;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("categorize"),
    names: &["categorize"],
    new: |params, _| Categorize::new(params).map(boxed),
    derive: None,
    numcodecs: Some(JsonForm {
        id: "categorize",
        write: |params| {
            let CategorizeParams { number, text, labels } = CategorizeParams::new(params)?;
            Ok(vec![
                ("labels", labels.into()),
                ("dtype", text.typestring().into()),
                ("astype", number.typestring().into()),
            ])
        },
        read,
    }),
    zarr_v3: None,
};

/// How texts are stored.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Text {
    /// Texts of any length.
    Objects,
    /// So many characters of 4 bytes, zeros at the end not counted.
    Fixed { chars: u32, is_big: bool },
}

/// Most characters of a text of a fixed length.
const MAX_CHARS: u32 = 1 << 20;

impl Text {
    fn typestring(self) -> String {
        match self {
            Text::Objects => "|O".to_string(),
            Text::Fixed { chars, is_big } => format!("{}U{chars}", if is_big { '>' } else { '<' }),
        }
    }

    fn parse(text: &str) -> Option<Text> {
        let letters = text.strip_prefix(['<', '>', '|', '=']).unwrap_or(text);
        if letters == "O" || letters == "object" {
            return Some(Text::Objects);
        }
        let chars =
            letters.strip_prefix('U')?.parse().ok().filter(|chars| (1..=MAX_CHARS).contains(chars))?;
        Some(Text::Fixed { chars, is_big: text.starts_with('>') })
    }

    /// Returns the parameter that stands for the type.
    fn param(self) -> u32 {
        match self {
            Text::Objects => 0,
            Text::Fixed { chars, is_big } => chars << 1 | u32::from(is_big),
        }
    }

    fn of_param(param: u32) -> Result<Text> {
        match (param >> 1, param & 1 == 1) {
            (0, false) => Ok(Text::Objects),
            (chars @ 1..=MAX_CHARS, is_big) => Ok(Text::Fixed { chars, is_big }),
            _ => Err(bad_params(format!("the parameter {param} stands for no type of texts"))),
        }
    }

    /// Returns the bytes of a text; a fixed length cuts off what is longer.
    fn bytes(self, text: &str) -> Box<[u8]> {
        match self {
            Text::Objects => text.as_bytes().into(),
            Text::Fixed { chars, is_big } => {
                let unit =
                    |char| if is_big { u32::from(char).to_be_bytes() } else { u32::from(char).to_le_bytes() };
                let mut bytes: Vec<u8> = text.chars().take(chars as usize).flat_map(unit).collect();
                bytes.resize(4 * chars as usize, 0);
                bytes.into()
            }
        }
    }
}

/// What the parameters mean.
struct CategorizeParams {
    number: NumberType,
    text: Text,
    labels: Vec<String>,
}

impl CategorizeParams {
    fn new(params: &[u32]) -> Result<CategorizeParams> {
        let invalid = || bad_params("parameters are not two types and labels");
        let [number, text, rest @ ..] = params else { return Err(invalid()) };
        let (mut labels, mut rest) = (vec![], rest);
        while let [len, more @ ..] = rest {
            let (chars, more) = more.split_at_checked(*len as usize).ok_or_else(invalid)?;
            labels.push(
                chars.iter().map(|&char| char::from_u32(char)).collect::<Option<_>>().ok_or_else(invalid)?,
            );
            rest = more;
        }
        let number = NumberType::of_param(*number)?;
        if number.is_float() || number.is_bool() {
            return Err(bad_params(format!("categorize: {} is no type of integers", number.typestring())));
        }
        Ok(CategorizeParams { number, text: Text::of_param(*text)?, labels })
    }
}

fn read(json: &CodecObject) -> Result<Vec<u32>> {
    let text = json.text("dtype")?.and_then(Text::parse);
    let text = text.ok_or_else(|| json.invalid("dtype", "neither objects nor text"))?;
    let invalid = || json.invalid("labels", "not a list of strings");
    let usual = NumberType::parse("|u1").map(NumberType::param);
    let mut params = vec![NumberType::param_of(json, "astype", usual)?, text.param()];
    for label in json.values("labels").ok_or_else(invalid)? {
        let label = label.as_str().ok_or_else(invalid)?;
        params.push(label.chars().count() as u32);
        params.extend(label.chars().map(u32::from));
    }
    CategorizeParams::new(&params).map(|_| params)
}

#[derive(Debug)]
struct Categorize {
    number: NumberType,
    text: Text,
    /// The bytes of the text of each number; the first one is empty.
    texts: Vec<Box<[u8]>>,
    /// The number of each text.
    numbers: HashMap<Box<[u8]>, i64>,
    /// Most bytes of a text.
    longest: usize,
}

impl Categorize {
    fn new(params: &[u32]) -> Result<Categorize> {
        let CategorizeParams { number, text, labels } = CategorizeParams::new(params)?;
        let mut texts = vec![text.bytes("")];
        let mut numbers = HashMap::from([(texts[0].clone(), 0)]);
        // A label can be longer than all texts, which it then never equals. Of equal labels numcodecs takes the last one.
        let can_equal = |label: &str| match text {
            Text::Objects => true,
            Text::Fixed { chars, .. } => label.chars().count() <= chars as usize,
        };
        for label in &labels {
            let bytes = text.bytes(label);
            if can_equal(label) && number.has_integer(texts.len() as i128) {
                numbers.insert(bytes.clone(), texts.len() as i64);
            }
            texts.push(bytes);
        }
        let longest = texts.iter().map(|text| text.len()).max().unwrap_or(0);
        Ok(Categorize { number, text, texts, numbers, longest })
    }

    /// Returns the text of each number.
    fn texts<'a>(&'a self, encoded: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        encoded.chunks_exact(self.number.size).map(|number| {
            let number = usize::try_from(self.number.integer(number)).ok();
            &**number.and_then(|number| self.texts.get(number)).unwrap_or(&self.texts[0])
        })
    }

    /// Appends the number of a text.
    fn push(&self, text: &[u8], encoded: &mut Vec<u8>) -> Result<()> {
        let number = self.numbers.get(text).ok_or_else(|| {
            let text = match self.text {
                Text::Objects => String::from_utf8_lossy(text).into_owned(),
                Text::Fixed { .. } => "a text".to_string(),
            };
            corrupt(format!("{text:?} is none of the {} labels", self.texts.len() - 1))
        })?;
        let at = encoded.len();
        encoded.resize(at + self.number.size, 0);
        self.number.put_integer(*number, &mut encoded[at..]);
        Ok(())
    }
}

impl SliceCodec for Categorize {
    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>> {
        let count = encoded.len() / self.number.size;
        if !encoded.len().is_multiple_of(self.number.size) {
            return Err(corrupt(format!(
                "{} bytes are no whole number of {}",
                encoded.len(),
                self.number.typestring()
            )));
        }
        match self.text {
            Text::Objects if u32::try_from(count).is_err() => {
                Err(corrupt(format!("{count} texts: too many")))
            }
            Text::Objects => Ok(Some(4 + self.texts(encoded).map(|text| 4 + text.len()).sum::<usize>())),
            Text::Fixed { .. } => Ok(Some(count.saturating_mul(self.longest))),
        }
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let len = self.decoded_len(encoded)?.unwrap_or(0);
        let Some(mut rest) = decoded.get_mut(..len) else { return Ok(None) };
        let mut put = |bytes: &[u8]| {
            let (own, more) = std::mem::take(&mut rest).split_at_mut(bytes.len());
            own.copy_from_slice(bytes);
            rest = more;
        };
        if self.text == Text::Objects {
            put(&((encoded.len() / self.number.size) as u32).to_le_bytes());
        }
        for text in self.texts(encoded) {
            if self.text == Text::Objects {
                put(&(text.len() as u32).to_le_bytes());
            }
            put(text);
        }
        Ok(Some(len))
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        let invalid = || {
            corrupt(format!("{} decoded bytes are not texts of {}", decoded.len(), self.text.typestring()))
        };
        match self.text {
            Text::Objects => {
                let (count, mut rest) = decoded.split_first_chunk::<4>().ok_or_else(invalid)?;
                for _ in 0..u32::from_le_bytes(*count) {
                    let (len, more) = rest.split_first_chunk::<4>().ok_or_else(invalid)?;
                    let (text, more) =
                        more.split_at_checked(u32::from_le_bytes(*len) as usize).ok_or_else(invalid)?;
                    self.push(text, encoded)?;
                    rest = more;
                }
                if rest.is_empty() { Ok(Some(())) } else { Err(invalid()) }
            }
            Text::Fixed { .. } => {
                if !decoded.len().is_multiple_of(self.longest) {
                    return Err(invalid());
                }
                decoded.chunks_exact(self.longest).try_for_each(|text| self.push(text, encoded))?;
                Ok(Some(()))
            }
        }
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        (encoded / self.number.size).saturating_mul(4 + self.longest).saturating_add(4)
    }

    fn encoded_len(&self, decoded: usize) -> Option<usize> {
        match self.text {
            Text::Objects => None,
            Text::Fixed { .. } => Some(decoded / self.longest * self.number.size),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{from_numcodecs, to_numcodecs};

    fn filter(dtype: &str) -> Categorize {
        let json = format!(
            r#"{{"id": "categorize", "labels": ["ab","é","longer"], "dtype": "{dtype}", "astype": "|u1"}}"#
        );
        let (id, params) = from_numcodecs(&json).unwrap().unwrap();
        let written = to_numcodecs(&id, &params).unwrap().unwrap();
        assert_eq!(written, json);
        Categorize::new(&params).unwrap()
    }

    #[test]
    fn numbers_are_texts_of_any_length() {
        let filter = filter("|O");
        let texts = b"\x05\0\0\0\x02\0\0\0ab\0\0\0\0\x02\0\0\0\xc3\xa9\x06\0\0\0longer\0\0\0\0";
        let mut decoded = vec![1; texts.len()];
        // A number without a label is an empty text.
        assert_eq!(filter.decode(&[1, 0, 2, 3, 9], &mut decoded), Ok(Some(texts.len())));
        assert_eq!(decoded, texts);
        let mut encoded = vec![];
        filter.encode(texts, &mut encoded).unwrap();
        assert_eq!(encoded, [1, 0, 2, 3, 0]);
        assert!(filter.max_decoded_len(5) >= texts.len());
        // Text is not lost without a word.
        let error = filter.encode(b"\x01\0\0\0\x01\0\0\0x", &mut encoded).unwrap_err();
        assert!(error.what.contains("\"x\" is none of the 3 labels"), "{error}");
        assert!(filter.encode(&texts[..30], &mut encoded).is_err());
        assert_eq!(filter.decode(&[1, 1], &mut [0; 8]), Ok(None));
    }

    #[test]
    fn numbers_are_texts_of_a_fixed_length() {
        for (dtype, e_acute) in [("<U2", [0xe9, 0, 0, 0]), (">U2", [0, 0, 0, 0xe9])] {
            let filter = filter(dtype);
            let mut decoded = vec![1; 24];
            assert_eq!(filter.decode(&[2, 0, 3], &mut decoded), Ok(Some(24)));
            assert_eq!((&decoded[..4], &decoded[4..16]), (&e_acute[..], &[0; 12][..]));
            assert_eq!(decoded[16..].iter().filter(|&&byte| byte != 0).copied().collect::<Vec<_>>(), b"lo");
            let mut encoded = vec![];
            filter.encode(&decoded[..16], &mut encoded).unwrap();
            assert_eq!(encoded, [2, 0]);
            assert!(filter.encode(&decoded, &mut encoded).is_err());
            assert!(filter.encode(&decoded[..15], &mut encoded).is_err());
        }
    }

    #[test]
    fn configurations_without_texts_are_refused() {
        for json in [
            r#"{"id": "categorize", "labels": ["a"]}"#,
            r#"{"id": "categorize", "labels": ["a"], "dtype": "<f4"}"#,
            r#"{"id": "categorize", "labels": ["a"], "dtype": "<U0"}"#,
            r#"{"id": "categorize", "labels": [1], "dtype": "|O"}"#,
            r#"{"id": "categorize", "labels": ["a"], "dtype": "|O", "astype": "<f4"}"#,
            r#"{"id": "categorize", "dtype": "|O"}"#,
        ] {
            assert!(from_numcodecs(json).unwrap().is_err(), "{json}");
        }
    }
}
