//! The HTTP client: requests with retries and a deadline, redirects, records.
//!
//! The decision that shaped it: requests block the thread that sends them, and threads make requests parallel (decision 021). A
//! body is in memory as a whole before anybody sees a byte of it, so an answer that ends too early is requested again.

mod agents;
mod fault;
mod netrc;
mod object;
mod options;
mod range;
mod record;
mod redirect;
mod retry;
mod traffic;
mod upload;

use std::io::Read;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use ureq::http::header::{AUTHORIZATION, CONTENT_LENGTH};
use ureq::http::{HeaderMap, Method, Request, Response};

pub(crate) use fault::{Cause, Failure, Fault, NO_ADDRESS, Refusal, redacted};
pub(crate) use netrc::basic;
pub(crate) use object::{Get, Outcome, Sink, Validator};
pub(crate) use options::Options;
pub(crate) use range::WireRange;
pub use record::RequestRecord;
pub(crate) use retry::{Deadline, current_deadline, note_failure, within};
use traffic::InFlight;
pub use traffic::{Traffic, traffic};
use upload::BlobReader;
pub(crate) use upload::Upload;

/// Time for all attempts to reach the metadata service of a cloud.
const METADATA_DEADLINE: Duration = Duration::from_secs(5);

/// Largest body of an answer that is no object: a page of a listing is a megabyte.
const ANSWER_LIMIT: u64 = 64 << 20;

/// Memory that is taken before the bytes of a body arrive: more than most ranges have.
const AHEAD: u64 = 64 << 20;

/// A client. It is cheap until its first request.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) options: Options,
    agents: agents::Agents,
    /// The last object that was read whole because its server ignores ranges.
    whole: Mutex<Option<object::Whole>>,
}

/// Rules for sending a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendOptions {
    pub deadline: Deadline,
    /// True if the request may be sent again after it may have been carried out.
    pub is_repeatable: bool,
    /// True if redirects are followed. Signatures do not hold elsewhere.
    pub follows_redirects: bool,
}

/// A complete answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// An answer whose body is still to be read.
pub(crate) struct Incoming {
    pub status: u16,
    pub headers: HeaderMap,
    body: ureq::Body,
    /// Bytes of the body that were read.
    received: u64,
}

impl Client {
    pub(crate) fn new(options: Options) -> Client {
        Client { options, agents: agents::Agents::default(), whole: Mutex::default() }
    }

    /// Sends a request until it has a complete answer, whatever its status is; statuses that may pass are retried.
    pub(crate) fn answer(
        &self,
        head: &Request<()>,
        body: Upload<'_>,
        how: SendOptions,
    ) -> Result<Answer, Failure> {
        self.exchange(head, body, how, |incoming| {
            let body = incoming.read_body(ANSWER_LIMIT)?;
            let (status, headers) = (incoming.status, std::mem::take(&mut incoming.headers));
            Ok(Answer { status, headers, body })
        })
    }

    /// Sends a request until `read` takes its answer or no retry is left.
    pub(crate) fn exchange<T>(
        &self,
        head: &Request<()>,
        body: Upload<'_>,
        how: SendOptions,
        mut read: impl FnMut(&mut Incoming) -> Result<T, Fault>,
    ) -> Result<T, Failure> {
        let is_metadata = agents::is_metadata(head.uri());
        let deadline = match is_metadata {
            true => how.deadline.min(Deadline::after(METADATA_DEADLINE)),
            false => how.deadline,
        };
        let range = head.headers().get("range").and_then(|value| value.to_str().ok());
        let url = redacted(head.uri());
        let fail = |attempts, cause| Failure {
            method: head.method().to_string(),
            url: url.clone(),
            range: range.map(str::to_string),
            attempts,
            cause,
        };
        let mut before = None;
        for attempt in 1.. {
            let Some(left) = deadline.left() else { return Err(fail(attempt - 1, Cause::Deadline(before))) };
            let started = Instant::now();
            let in_flight = InFlight::begin();
            let (mut status, mut received) = (None, 0);
            let body_len = body.len();
            let sent = self.send(head, body, left, how.follows_redirects).and_then(|mut incoming| {
                status = Some(incoming.status);
                let result = match incoming.status {
                    408 | 429 | 500 | 502 | 503 | 504 => Err(Fault::status(&mut incoming)),
                    _ => read(&mut incoming),
                };
                received = incoming.received;
                result
            });
            in_flight.end(body_len, received);
            let failure = sent.as_ref().err().map(|fault| fault.cause.to_string());
            self.record(&RequestRecord {
                method: head.method().as_str(),
                url: &url,
                range,
                status,
                sent: body_len,
                received,
                time: started.elapsed(),
                attempt,
                failure: failure.as_deref(),
            });
            let fault = match sent {
                Ok(value) => return Ok(value),
                Err(fault) => fault,
            };
            if fault.cause == Cause::Deadline(None) {
                return Err(fail(attempt, Cause::Deadline(before)));
            }
            let may_repeat = how.is_repeatable || !fault.is_ambiguous;
            let wait =
                retry::wait(fault.retry, attempt, &self.options).filter(|_| may_repeat && !is_metadata);
            let Some(wait) = wait else { return Err(fail(attempt, fault.cause)) };
            // If the deadline passes before the next attempt, returns the error now instead of waiting for nothing.
            if deadline.left().is_none_or(|left| left <= wait) {
                return Err(fail(attempt, Cause::Deadline(Some(fault.cause.to_string()))));
            }
            before = Some(fault.cause.to_string());
            std::thread::sleep(wait);
        }
        unreachable!("the loop ends by returning")
    }

    /// Sends a request once, and follows its redirects.
    fn send(
        &self,
        head: &Request<()>,
        body: Upload<'_>,
        left: Duration,
        follows: bool,
    ) -> Result<Incoming, Fault> {
        let started = Instant::now();
        let starts_safe = head.uri().scheme_str() == Some("https");
        let mut head = head.clone();
        for redirects in 0..redirect::LIMIT {
            let left = left.checked_sub(started.elapsed()).filter(|left| !left.is_zero());
            let Some(left) = left else {
                return Err(Fault::of_client(ureq::Error::Timeout(ureq::Timeout::Global)));
            };
            let agent = self.agents.get(head.uri(), &self.options)?;
            // No redirect makes a password go over the network in clear text.
            let is_as_safe = head.uri().scheme_str() == Some("https") || !starts_safe;
            if let (true, Some(netrc), Some(host)) =
                (follows && is_as_safe, &self.options.netrc, head.uri().host())
                && !head.headers().contains_key(AUTHORIZATION)
            {
                let found = netrc.authorization(host, redirects == 0).map_err(Fault::of_settings)?;
                found.map(|value| head.headers_mut().insert(AUTHORIZATION, value));
            }
            let response = match body {
                Upload::Nothing => run(&agent, head.clone(), left),
                Upload::Bytes(bytes) => run(&agent, head.clone().map(|()| bytes), left),
                Upload::Blob(blob, size) => {
                    let mut reader = BlobReader::new(blob, size);
                    let mut request = head.clone().map(|()| ureq::SendBody::from_reader(&mut reader));
                    request.headers_mut().insert(CONTENT_LENGTH, size.into());
                    run(&agent, request, left)
                }
            };
            let (parts, body) = response.map_err(Fault::of_client)?.into_parts();
            let incoming =
                Incoming { status: parts.status.as_u16(), headers: parts.headers, body, received: 0 };
            match follows && redirect::is_redirect(incoming.status) {
                false => return Ok(incoming),
                true => head = redirect::follow(&head, incoming)?,
            }
        }
        Err(Fault::answer(format!("more than {} redirects", redirect::LIMIT)))
    }

    fn record(&self, record: &RequestRecord<'_>) {
        match &self.options.observer {
            Some(observer) => observer.0(record),
            None if self.options.logs_requests => eprintln!("ferrocdf: {record}"),
            None => {}
        }
    }
}

fn run<B: ureq::AsSendBody>(
    agent: &ureq::Agent,
    request: Request<B>,
    left: Duration,
) -> Result<Response<ureq::Body>, ureq::Error> {
    agent.run(agent.configure_request(request).timeout_global(Some(left)).build())
}

impl Incoming {
    /// Returns a header, by its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Returns the number of bytes that the body is said to have.
    fn content_length(&self) -> Option<u64> {
        self.header("content-length").and_then(range::parse_number)
    }

    /// Reads a body of a known length.
    ///
    /// # Errors
    /// The body ends too early, or goes on behind its end.
    fn read_exactly(&mut self, len: u64) -> Result<Vec<u8>, Fault> {
        if len <= AHEAD {
            let mut bytes = vec![0; len as usize];
            self.read_into(&mut bytes)?;
            return Ok(bytes);
        }
        let bytes = self.read_up_to(len.saturating_add(1), Some(len))?;
        match (bytes.len() as u64).cmp(&len) {
            std::cmp::Ordering::Equal => Ok(bytes),
            std::cmp::Ordering::Less => Err(ended(bytes.len(), len)),
            std::cmp::Ordering::Greater => Err(Fault::answer(format!("the body has more than {len} bytes"))),
        }
    }

    /// Reads a body that fills the memory exactly.
    ///
    /// # Errors
    /// The body ends too early, or goes on behind its end.
    fn read_into(&mut self, into: &mut [u8]) -> Result<(), Fault> {
        let len = into.len();
        let mut reader = self.body.as_reader();
        let mut at = 0;
        // The read behind the end lets the client use the connection again.
        let mut behind = [0];
        loop {
            let rest = if at < len { &mut into[at..] } else { &mut behind[..] };
            match reader.read(rest) {
                Ok(0) if at == len => return Ok(()),
                Ok(0) => return Err(ended(at, len as u64)),
                Ok(_) if at == len => {
                    return Err(Fault::answer(format!("the body has more than {len} bytes")));
                }
                Ok(count) => at += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(of_body(error, at)),
            }
            self.received = at as u64;
        }
    }

    /// Reads a body of at most `limit` bytes.
    fn read_body(&mut self, limit: u64) -> Result<Vec<u8>, Fault> {
        let said = self.content_length();
        let bytes = self.read_up_to(limit.saturating_add(1), said)?;
        if bytes.len() as u64 > limit {
            return Err(Fault::answer(format!("the body has more than {limit} bytes")));
        }
        Ok(bytes)
    }

    /// Reads the begin of a body for a message; errors end it.
    fn read_prefix(&mut self, limit: u64) -> Vec<u8> {
        self.read_up_to(limit, None).unwrap_or_default()
    }

    fn read_up_to(&mut self, limit: u64, expected: Option<u64>) -> Result<Vec<u8>, Fault> {
        let mut bytes = Vec::new();
        let ahead = expected.unwrap_or(0).min(limit).min(AHEAD) as usize;
        if bytes.try_reserve_exact(ahead).is_err() {
            return Err(Fault::answer(format!("no memory for {ahead} bytes")));
        }
        let read = self.body.as_reader().take(limit).read_to_end(&mut bytes);
        self.received = bytes.len() as u64;
        match read {
            Ok(_) => Ok(bytes),
            Err(error) => Err(of_body(error, bytes.len())),
        }
    }
}

/// Makes the fault of a body that ended after `have` of `len` bytes.
fn ended(have: usize, len: u64) -> Fault {
    Fault::cut_short(format!("the body ended after {have} of {len} bytes"))
}

/// Makes the fault of an error of a body of which `have` bytes arrived.
fn of_body(error: std::io::Error, have: usize) -> Fault {
    match error.get_ref().is_some_and(|inner| inner.is::<ureq::Error>()) {
        true => Fault::of_client(ureq::Error::from(error)),
        false => Fault::cut_short(format!("the body ended after {have} bytes: {error}")),
    }
}

/// True for methods that may be sent again after they may have been carried out.
pub(crate) fn is_repeatable(head: &Request<()>) -> bool {
    let is_conditional = ["if-match", "if-none-match", "x-goog-if-generation-match"]
        .iter()
        .any(|name| head.headers().contains_key(*name));
    head.method() == Method::GET || !is_conditional
}
