//! Faults of requests: the cause, its text, and the rule for sending the request again.

use std::fmt;
use std::io;
use std::time::Duration;

use ureq::http::{HeaderMap, Uri};

use super::Incoming;
use crate::text::element;

/// When a failed request may be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retry {
    /// Never: the same request fails in the same way.
    Never,
    /// After a wait that grows with each attempt.
    Backoff,
    /// After the time that the server names.
    After(Duration),
    /// Twice at most: nobody listens at the address.
    Few,
}

/// The cause of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// No complete answer arrived.
    Transport(String),
    /// The time for the request with all its retries is over. The text is the cause of the last failed attempt.
    Deadline(Option<String>),
    /// The answer violates the protocol, or is of no use.
    Answer(String),
    /// The server answered with an error.
    Status(Box<Refusal>),
}

/// An answer with an error status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub status: u16,
    /// The code of the server: `NoSuchKey`, `AccessDenied`, `SlowDown`.
    pub code: Option<String>,
    /// Message of the server.
    pub message: Option<String>,
    /// Region of the bucket, if the server names it.
    pub region: Option<String>,
}

/// A failed attempt.
#[derive(Debug)]
pub(crate) struct Fault {
    pub cause: Cause,
    pub retry: Retry,
    /// True if the server may have done what the request asked for.
    pub is_ambiguous: bool,
}

impl Fault {
    /// Makes a fault of an answer that cannot be used and would be the same again.
    pub(crate) fn answer(what: impl Into<String>) -> Fault {
        Fault { cause: Cause::Answer(what.into()), retry: Retry::Never, is_ambiguous: true }
    }

    /// Makes the fault of settings that prevent the request.
    pub(crate) fn of_settings(what: String) -> Fault {
        Fault { cause: Cause::Transport(what), retry: Retry::Never, is_ambiguous: false }
    }

    /// Makes a fault of a connection that ended too early.
    pub(crate) fn cut_short(what: impl Into<String>) -> Fault {
        Fault { cause: Cause::Transport(what.into()), retry: Retry::Backoff, is_ambiguous: true }
    }

    /// Makes the fault of an error of the client.
    pub(crate) fn of_client(error: ureq::Error) -> Fault {
        use ureq::{Error, Timeout};
        let (retry, is_ambiguous) = match &error {
            Error::Timeout(Timeout::Global) => {
                return Fault { cause: Cause::Deadline(None), retry: Retry::Never, is_ambiguous: true };
            }
            Error::Timeout(Timeout::Connect | Timeout::Resolve) => (Retry::Few, false),
            Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => (Retry::Few, false),
            Error::ConnectionFailed | Error::HostNotFound => (Retry::Few, false),
            Error::Io(error) if is_of_names(error) => (Retry::Few, false),
            Error::Io(error) if is_of_tls(error) => (Retry::Never, false),
            Error::Io(_) | Error::Timeout(_) | Error::Protocol(_) => (Retry::Backoff, true),
            _ => (Retry::Never, false),
        };
        let what = match &error {
            Error::HostNotFound => NO_ADDRESS.to_string(),
            Error::Io(error) if is_of_names(error) => {
                let why = error.to_string();
                format!("{NO_ADDRESS} ({})", why.rsplit(": ").next().unwrap_or_default())
            }
            Error::Timeout(timeout) => format!("no answer in time ({timeout})"),
            Error::Io(error) => error.to_string(),
            other => other.to_string(),
        };
        Fault { cause: Cause::Transport(what), retry, is_ambiguous }
    }

    /// Makes the fault of an answer with an error status, and reads its body for the code of the server.
    pub(crate) fn status(incoming: &mut Incoming) -> Fault {
        let after = incoming.header("retry-after").and_then(super::range::parse_number);
        let retry = match incoming.status {
            408 | 429 | 500 | 502 | 503 | 504 => match after {
                Some(seconds) => Retry::After(Duration::from_secs(seconds)),
                None => Retry::Backoff,
            },
            _ => Retry::Never,
        };
        let is_ambiguous = matches!(incoming.status, 500 | 502 | 504);
        Fault { cause: Cause::Status(Box::new(Refusal::read(incoming))), retry, is_ambiguous }
    }
}

/// Text of a failure to find the address of a host.
pub(crate) const NO_ADDRESS: &str = "no address is known for the host";

/// True if the name of a host was not found: `std` has no kind for it.
fn is_of_names(error: &io::Error) -> bool {
    error.to_string().starts_with("failed to lookup address information")
}

/// True if a connection failed because of certificates or keys.
fn is_of_tls(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidData
}

impl Refusal {
    /// Takes the code of the server from its headers and the body, which is XML in S3, Azure and Google Cloud Storage.
    pub(crate) fn read(incoming: &mut Incoming) -> Refusal {
        let body = incoming.read_prefix(64 << 10);
        Refusal::new(incoming.status, &incoming.headers, &body)
    }

    pub(crate) fn new(status: u16, headers: &HeaderMap, body: &[u8]) -> Refusal {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_string);
        let body = String::from_utf8_lossy(body);
        Refusal {
            status,
            code: element(&body, "Code").or_else(|| header("x-ms-error-code")),
            message: element(&body, "Message"),
            region: header("x-amz-bucket-region").or_else(|| element(&body, "Region")),
        }
    }

    /// True if the bucket or container does not exist; false if only the object does not.
    pub(crate) fn is_missing_bucket(&self) -> bool {
        let names = ["NoSuchBucket", "ContainerNotFound", "ContainerBeingDeleted"];
        self.code.as_deref().is_some_and(|code| names.contains(&code))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.status)?;
        let status = ureq::http::StatusCode::from_u16(self.status).ok();
        if let Some(reason) = status.and_then(|status| status.canonical_reason()) {
            write!(f, " {reason}")?;
        }
        if let Some(code) = &self.code {
            write!(f, ", {code}")?;
        }
        match &self.message {
            Some(message) => write!(f, ": {}", message.trim().trim_end_matches('.')),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Transport(what) | Cause::Answer(what) => f.write_str(what),
            Cause::Deadline(None) => f.write_str("the deadline passed"),
            Cause::Deadline(Some(before)) => write!(f, "the deadline passed; before that: {before}"),
            Cause::Status(refusal) => refusal.fmt(f),
        }
    }
}

/// A request that failed, with all its attempts.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub method: String,
    /// URL without secrets.
    pub url: String,
    pub range: Option<String>,
    pub attempts: u32,
    pub cause: Cause,
}

impl Failure {
    /// Returns the answer with an error status, if the failure is one.
    pub(crate) fn refusal(&self) -> Option<&Refusal> {
        match &self.cause {
            Cause::Status(refusal) => Some(refusal),
            _ => None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.url)?;
        if let Some(range) = &self.range {
            write!(f, " {range}")?;
        }
        write!(f, ": {}", self.cause)?;
        if self.attempts > 1 { write!(f, " (after {} attempts)", self.attempts) } else { Ok(()) }
    }
}

/// Returns a URL without user, password and query.
pub(crate) fn redacted(uri: &Uri) -> String {
    let scheme = uri.scheme_str().unwrap_or("http");
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{}", uri.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_names_method_object_range_status_and_code() {
        let body = "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code><Message>Access Denied.</Message></Error>";
        let refusal = Refusal::new(403, &HeaderMap::new(), body.as_bytes());
        let failure = Failure {
            method: "GET".to_string(),
            url: redacted(&"https://me:hush@host/b/k?X-Amz-Signature=hush".parse().unwrap()),
            range: Some("bytes=0-9".to_string()),
            attempts: 2,
            cause: Cause::Status(Box::new(refusal)),
        };
        assert_eq!(
            failure.to_string(),
            "GET https://host/b/k bytes=0-9: 403 Forbidden, AccessDenied: Access Denied (after 2 attempts)"
        );
    }

    #[test]
    fn missing_bucket_differs_from_a_missing_key() {
        let refusal = |code: &str| {
            Refusal::new(404, &HeaderMap::new(), format!("<Error><Code>{code}</Code></Error>").as_bytes())
        };
        assert!(refusal("NoSuchBucket").is_missing_bucket());
        assert!(!refusal("NoSuchKey").is_missing_bucket());
    }
}
