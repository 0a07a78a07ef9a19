//! The JSON text of references.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ferrocdf_bytes::{Code, Result};
use ferrocdf_zarr::Json;

use super::template::{Generated, MAX_BYTES, Templates, generate, wrong};
use super::{Reference, References};

/// Begin of inline bytes that are not their own text.
const BASE64: &str = "base64:";

impl References {
    /// Returns the text of the references: JSON of version 1, a line for each key.
    pub fn to_json(&self) -> String {
        let mut text = String::from("{\"version\": 1, \"refs\": {");
        for (number, (key, reference)) in self.iter().enumerate() {
            text.push_str(if number == 0 { "\n" } else { ",\n" });
            let key = Json::text(key);
            // Writing to a string does not fail.
            let _ = match reference {
                Reference::Inline(bytes) => write!(text, "{key}: {}", inline_text(bytes)),
                Reference::Whole { url } => write!(text, "{key}: [{}]", Json::text(url)),
                Reference::Range { url, start, len } => {
                    write!(text, "{key}: [{}, {start}, {len}]", Json::text(url))
                }
            };
        }
        text.push_str("\n}}\n");
        text
    }

    /// Parses references: JSON of version 0 or 1, with templates and generated keys.
    ///
    /// # Errors
    /// `NC_ENOTNC` for a text that is not one of references, with the place or the key.
    pub fn parse(text: &[u8]) -> Result<References> {
        let mut parser = ReferenceParser::default();
        Json::visit_members(text, "refs", |is_inner, name, value| match (is_inner, &*name) {
            (false, "version") => parser.version(&value),
            (false, "templates") => Templates::parse(&value).map(|templates| parser.templates = templates),
            (false, "gen") => {
                parser.generated = value;
                Ok(())
            }
            // Of version 0, which has the keys of `refs` outermost.
            _ => parser.insert(name, &value),
        })
        .and_then(|()| parser.finish())
        .map_err(|error| error.at("references in JSON").with_code(Code::ENOTNC))
    }
}

/// Returns inline bytes as a JSON string: as they are if they are ASCII.
fn inline_text(bytes: &[u8]) -> Json {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.is_ascii() && !text.starts_with(BASE64) => Json::text(text),
        _ => Json::String(format!("{BASE64}{}", STANDARD.encode(bytes))),
    }
}

/// References that are being parsed.
struct ReferenceParser {
    references: References,
    /// Each URL as the text has it, once.
    urls: HashMap<String, Arc<str>>,
    templates: Templates,
    generated: Json,
}

impl Default for ReferenceParser {
    fn default() -> Self {
        let (references, urls, templates) = Default::default();
        ReferenceParser { references, urls, templates, generated: Json::Null }
    }
}

impl ReferenceParser {
    fn version(&self, value: &Json) -> Result<()> {
        match value.as_integer() {
            Some(0 | 1) => Ok(()),
            _ => Err(wrong(format!("version {value} is not known"))),
        }
    }

    fn insert(&mut self, key: String, value: &Json) -> Result<()> {
        let reference = match value {
            Json::String(text) => {
                Reference::Inline(inline_bytes(text.as_bytes()).map_err(|error| error.at(&key))?)
            }
            Json::Object(_) => Reference::Inline(value.to_string().into_bytes().into()),
            Json::Array(parts) => match &parts[..] {
                [Json::String(url)] => Reference::Whole { url: self.url(url) },
                [Json::String(url), start, len] => match (start.as_u64(), len.as_u64()) {
                    (Some(start), Some(len)) => Reference::Range { url: self.url(url), start, len },
                    _ => return Err(wrong(format!("{key}: {value} has no offset and length"))),
                },
                _ => return Err(wrong(format!("{key}: it is neither [url] nor [url, offset, length]"))),
            },
            _ => return Err(wrong(format!("{key}: it is neither text nor a list nor an object"))),
        };
        self.references.insert(key, reference)
    }

    fn url(&mut self, url: &str) -> Arc<str> {
        if let Some(known) = self.urls.get(url) {
            return known.clone();
        }
        let shared: Arc<str> = url.into();
        self.urls.insert(url.to_string(), shared.clone());
        shared
    }

    /// Fills the templates in, and adds the keys that are generated.
    fn finish(mut self) -> Result<References> {
        if !self.templates.is_empty() {
            let mut bytes = 0;
            let mut render = |url: &String| -> Result<Arc<str>> {
                let rendered = self.templates.render(url)?;
                bytes += rendered.len();
                if bytes > MAX_BYTES {
                    return Err(wrong("\"templates\" make too long URLs"));
                }
                Ok(rendered.into())
            };
            let rendered = self.urls.keys().map(|url| Ok((url.as_str(), render(url)?)));
            let rendered: HashMap<&str, Arc<str>> = rendered.collect::<Result<_>>()?;
            for reference in self.references.entries.values_mut() {
                if let Reference::Whole { url } | Reference::Range { url, .. } = reference {
                    *url = rendered[&**url].clone();
                }
            }
        }
        let generators = match &self.generated {
            Json::Null => &[],
            Json::Array(list) => &list[..],
            _ => return Err(wrong("\"gen\" is not a list")),
        };
        let mut urls = HashMap::<String, Arc<str>>::new();
        let references = &mut self.references;
        generate(generators, &self.templates, &mut |Generated { key, url, range }| {
            let url = urls.entry(url).or_insert_with_key(|url| url.as_str().into()).clone();
            let reference = match range {
                Some((start, len)) => Reference::Range { url, start, len },
                None => Reference::Whole { url },
            };
            references.insert(key, reference)
        })?;
        Ok(self.references)
    }
}

/// Returns inline bytes as references in parquet store them: in base64 if they begin as base64 does in references, since fsspec decodes those.
pub(super) fn guarded(bytes: &[u8]) -> Cow<'_, [u8]> {
    match bytes.starts_with(BASE64.as_bytes()) {
        true => format!("{BASE64}{}", STANDARD.encode(bytes)).into_bytes().into(),
        false => bytes.into(),
    }
}

/// Decodes inline bytes as references store them: base64 if they begin with `base64:`, else the bytes themselves.
///
/// # Errors
/// `NC_EZARRMETA` for damaged base64.
pub(super) fn inline_bytes(text: &[u8]) -> Result<Box<[u8]>> {
    match text.strip_prefix(BASE64.as_bytes()) {
        Some(encoded) => {
            STANDARD.decode(encoded).map(Into::into).map_err(|error| wrong(format!("base64: {error}")))
        }
        None => Ok(text.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_look_like_base64_are_guarded() {
        for bytes in [&b"base64:QUJD"[..], b"base64", b"", b"\xff"] {
            let text = guarded(bytes);
            assert_eq!(&*inline_bytes(&text).unwrap(), bytes);
            assert_eq!(text.len() > bytes.len(), bytes.starts_with(b"base64:"));
        }
        assert!(inline_bytes(b"base64:Q").is_err());
    }

    fn lines(references: &References) -> Vec<String> {
        let line = |(key, reference): (&str, &Reference)| match reference {
            Reference::Inline(bytes) => format!("{key} {}", bytes.escape_ascii()),
            Reference::Whole { url } => format!("{key} {url}"),
            Reference::Range { url, start, len } => format!("{key} {url} {start} {len}"),
        };
        references.iter().map(line).collect()
    }

    #[test]
    fn example_of_the_specification_means_what_the_specification_says() {
        let text = br#"{"version": 1, "templates": {"u": "server.domain/path", "f": "{{c}}"},
            "gen": [{"key": "gen_key{{i}}", "url": "http://{{u}}_{{i}}", "offset": "{{(i + 1) * 1000}}", "length": "1000",
                     "dimensions": {"i": {"stop": 5}}}],
            "refs": {"key0": "data", "key1": ["http://target_url", 10000, 100], "key2": ["http://{{u}}", 10000, 100],
                     "key3": ["http://{{f(c='text')}}", 10000, 100]}}"#;
        let references = References::parse(text).unwrap();
        let wanted = [
            "gen_key0 http://server.domain/path_0 1000 1000",
            "gen_key1 http://server.domain/path_1 2000 1000",
            "gen_key2 http://server.domain/path_2 3000 1000",
            "gen_key3 http://server.domain/path_3 4000 1000",
            "gen_key4 http://server.domain/path_4 5000 1000",
            "key0 data",
            "key1 http://target_url 10000 100",
            "key2 http://server.domain/path 10000 100",
            "key3 http://text 10000 100",
        ];
        assert_eq!(lines(&references), wanted);
        assert_eq!(References::parse(references.to_json().as_bytes()).unwrap(), references);
    }

    #[test]
    fn version_0_has_its_keys_outermost_and_inline_values_in_three_forms() {
        let text =
            br#"{".zgroup": {"zarr_format": 2}, "x/0": "base64:AAH/", "x/1": ["a.nc"], "x/2": "b\u00e9"}"#;
        let references = References::parse(text).unwrap();
        let wanted = [r#".zgroup {\"zarr_format\": 2}"#, r"x/0 \x00\x01\xff", "x/1 a.nc", r"x/2 b\xc3\xa9"];
        assert_eq!(lines(&references), wanted);
        assert_eq!(References::parse(references.to_json().as_bytes()).unwrap(), references);
    }

    #[test]
    fn texts_that_are_no_references_are_refused_with_the_key() {
        for (text, what) in [
            ("{\"zarr_format\": 2}", "zarr_format: it is neither text"),
            ("{\"version\": 2, \"refs\": {}}", "version 2"),
            ("{\"version\": 1, \"refs\": {\"a\": [\"u\", 1]}}", "a: it is neither [url]"),
            ("{\"version\": 1, \"refs\": {\"a\": [\"u\", -1, 2]}}", "no offset"),
            ("{\"version\": 1, \"refs\": {\"a\": [\"u\", 18446744073709551615, 2]}}", "behind byte 2^64"),
            ("{\"version\": 1, \"refs\": {\"../a\": \"\"}}", "not the key"),
            ("{\"version\": 1, \"refs\": {\"a\": \"base64:=\"}}", "a: base64"),
            ("{\"version\": 1, \"gen\": 1}", "\"gen\" is not a list"),
            ("{", "line 1"),
        ] {
            let error = References::parse(text.as_bytes()).unwrap_err();
            assert_eq!(error.code, Code::ENOTNC, "{text}");
            assert!(error.to_string().contains(what), "{text}: {error}");
        }
    }
}
