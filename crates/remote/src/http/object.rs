//! Answers to requests for bytes of an object.
//!
//! The decision that shaped it: the headers of an answer are checked before its bytes are used. The range must be the one that was
//! asked for, the body as long as the range, and the content encoding the identity. An object of a server that ignores ranges is read
//! whole, once: later requests ask only if the object is still the same.

use std::sync::{Arc, PoisonError};

use ferrocdf_store::{Fetched, Filled, Version};
use ureq::http::Request;
use ureq::http::header::{HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH};

use super::fault::{Fault, Refusal, Retry};
use super::range::{ContentRange, WireRange};
use super::{Cause, Client, Deadline, Failure, Incoming, SendOptions, Upload, is_repeatable};

/// Where the bytes of an answer go.
#[derive(Debug)]
pub(crate) enum Sink<'a> {
    /// To new memory.
    New,
    /// To memory of the caller, if they fit.
    Slice(&'a mut [u8]),
}

/// A request for bytes of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Get {
    pub range: WireRange,
    pub validator: Validator,
    pub follows_redirects: bool,
    pub deadline: Deadline,
}

/// The answer to a request for a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The object does not exist.
    Absent,
    /// Bytes of the object, in new memory.
    Found(Fetched),
    /// Bytes of the object, in the memory of the caller.
    Filled(Filled),
    /// The object has no byte of the range (status 416).
    Unsatisfiable {
        /// Size of the object, if the server says it.
        total: Option<u64>,
        /// Version of the object, if the server says it.
        version: Option<Version>,
    },
}

/// The header that has the version of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Validator {
    /// `ETag`.
    ETag,
    /// `x-goog-generation`, which Google Cloud Storage takes for conditional puts.
    Generation,
}

/// An object that was read whole because its server ignores ranges.
#[derive(Clone, Debug)]
pub(crate) struct Whole {
    url: String,
    version: Version,
    bytes: Arc<Vec<u8>>,
    etag: Option<HeaderValue>,
    last_modified: Option<HeaderValue>,
}

impl Client {
    /// Requests bytes of an object. `head` has the header `Range` already, since signatures cover it.
    pub(crate) fn fetch(
        &self,
        head: &Request<()>,
        get: Get,
        sink: &mut Sink<'_>,
    ) -> Result<Outcome, Failure> {
        let Get { range, validator, follows_redirects, deadline } = get;
        let url = head.uri().to_string();
        let mut head = head.clone();
        let known = match range {
            WireRange::Whole => None,
            _ => self.whole.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        };
        let known = known.filter(|whole| whole.url == url);
        if let Some(whole) = &known {
            let conditions = [(IF_NONE_MATCH, &whole.etag), (IF_MODIFIED_SINCE, &whole.last_modified)];
            let known = conditions.into_iter().filter_map(|(name, value)| Some((name, value.clone()?)));
            head.headers_mut().extend(known);
        }
        let is_repeatable = is_repeatable(&head);
        self.exchange(
            &head,
            Upload::Nothing,
            SendOptions { deadline, is_repeatable, follows_redirects },
            |incoming| {
                if let (304, Some(whole)) = (incoming.status, &known) {
                    return Ok(whole.cut(range));
                }
                self.read_object(incoming, &url, range, validator, sink)
            },
        )
    }

    fn read_object(
        &self,
        incoming: &mut Incoming,
        url: &str,
        range: WireRange,
        validator: Validator,
        sink: &mut Sink<'_>,
    ) -> Result<Outcome, Fault> {
        match incoming.status {
            200 if range == WireRange::Whole => {
                check_encoding(incoming)?;
                let bytes = match incoming.content_length() {
                    Some(len) => incoming.read_exactly(len)?,
                    None => incoming.read_body(u64::MAX - 1)?,
                };
                let total = bytes.len() as u64;
                Ok(Outcome::Found(Fetched {
                    bytes,
                    start: 0,
                    total,
                    version: version(incoming, validator, total),
                }))
            }
            200 => {
                check_encoding(incoming)?;
                self.read_whole(incoming, url, validator).map(|whole| whole.cut(range))
            }
            206 => read_part(incoming, range, validator, sink),
            416 if range != WireRange::Whole => {
                let header = incoming.header("content-range").and_then(ContentRange::parse);
                let body = incoming.read_prefix(64 << 10);
                let in_body = || crate::text::element(&String::from_utf8_lossy(&body), "ActualObjectSize");
                let total = header.and_then(|header| header.total);
                let total = total.or_else(|| super::range::parse_number(&in_body()?));
                let has_version = incoming.headers.contains_key(header_name(validator));
                let version = total.filter(|_| has_version).map(|total| version(incoming, validator, total));
                Ok(Outcome::Unsatisfiable { total, version })
            }
            404 | 410 => {
                let refusal = Refusal::read(incoming);
                match refusal.is_missing_bucket() {
                    true => Err(refused(refusal)),
                    false => Ok(Outcome::Absent),
                }
            }
            _ => Err(refused(Refusal::read(incoming))),
        }
    }

    /// Reads the whole object that a server sent although a part was asked for. One thread reads it, the others wait.
    fn read_whole(&self, incoming: &mut Incoming, url: &str, validator: Validator) -> Result<Whole, Fault> {
        let limit = self.options.whole_limit;
        let mut kept = self.whole.lock().unwrap_or_else(PoisonError::into_inner);
        let said = incoming.content_length();
        if let (Some(whole), Some(said)) = (&*kept, said) {
            let same = whole.url == url && whole.bytes.len() as u64 == said;
            if same && version(incoming, validator, said) == whole.version {
                return Ok(whole.clone());
            }
        }
        let too_large = |size: String| {
            let what = format!(
                "the server ignores ranges, and the object has {size}; up to {limit} bytes are read whole, so copy it first"
            );
            Fault::answer(what)
        };
        let bytes = match said {
            Some(len) if len > limit => return Err(too_large(format!("{len} bytes"))),
            Some(len) => incoming.read_exactly(len)?,
            None => incoming.read_up_to(limit.saturating_add(1), None)?,
        };
        let total = bytes.len() as u64;
        if total > limit {
            return Err(too_large("more".to_string()));
        }
        let whole = Whole {
            url: url.to_string(),
            version: version(incoming, validator, total),
            bytes: Arc::new(bytes),
            etag: incoming.headers.get("etag").cloned(),
            last_modified: incoming.headers.get("last-modified").cloned(),
        };
        *kept = Some(whole.clone());
        Ok(whole)
    }
}

impl Whole {
    fn cut(&self, range: WireRange) -> Outcome {
        let total = self.bytes.len() as u64;
        let version = self.version.clone();
        match range.within(total) {
            None => Outcome::Unsatisfiable { total: Some(total), version: Some(version) },
            Some((start, end)) => {
                let bytes = self.bytes[start as usize..end as usize].to_vec();
                Outcome::Found(Fetched { bytes, start, total, version })
            }
        }
    }
}

/// Reads an answer that has a part of an object.
fn read_part(
    incoming: &mut Incoming,
    range: WireRange,
    validator: Validator,
    sink: &mut Sink<'_>,
) -> Result<Outcome, Fault> {
    let text = incoming.header("content-range").unwrap_or_default().to_string();
    let wrong = |what: &str| Fault::answer(format!("the answer has the range {text:?}, {what}"));
    let (Some((start, end)), Some(total)) =
        ContentRange::parse(&text).map_or((None, None), |found| (found.range, found.total))
    else {
        return Err(wrong("which does not tell positions and size"));
    };
    if range == WireRange::Whole || range.within(total) != Some((start, end)) {
        return Err(wrong("not the one that was asked for"));
    }
    check_encoding(incoming)?;
    let len = end - start;
    if let Some(said) = incoming.content_length().filter(|&said| said != len) {
        return Err(wrong(&format!("but a body of {said} bytes")));
    }
    let version = version(incoming, validator, total);
    match sink {
        Sink::Slice(into) if into.len() as u64 >= len => {
            incoming.read_into(&mut into[..len as usize])?;
            Ok(Outcome::Filled(Filled { len, start, total, version }))
        }
        _ => {
            let bytes = incoming.read_exactly(len)?;
            Ok(Outcome::Found(Fetched { bytes, start, total, version }))
        }
    }
}

/// Checks that the bytes are those of the object: ranges of compressed answers mean other bytes.
fn check_encoding(incoming: &Incoming) -> Result<(), Fault> {
    match incoming.header("content-encoding") {
        None | Some("" | "identity") => Ok(()),
        // Buckets keep this word as a property of objects that were put by a signed stream.
        Some(word) if word.trim_end_matches(',').trim() == "aws-chunked" => Ok(()),
        Some(word) => Err(Fault::answer(format!(
            "the server sent the content encoding {word:?}, although the bytes were asked for as they are"
        ))),
    }
}

fn refused(refusal: Refusal) -> Fault {
    Fault { cause: Cause::Status(Box::new(refusal)), retry: Retry::Never, is_ambiguous: false }
}

fn header_name(validator: Validator) -> &'static str {
    match validator {
        Validator::ETag => "etag",
        Validator::Generation => "x-goog-generation",
    }
}

/// Returns the version of an object. A weak ETag, or none, is completed by time and size, which conditional puts do not take.
fn version(incoming: &Incoming, validator: Validator, total: u64) -> Version {
    match incoming.header(header_name(validator)) {
        Some(text) if !text.starts_with("W/") => Version::new(text),
        weak => {
            let modified = incoming.header("last-modified").unwrap_or_default();
            Version::new(format!("{};{modified};{total}", weak.unwrap_or_default()))
        }
    }
}
