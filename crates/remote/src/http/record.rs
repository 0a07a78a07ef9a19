//! Records of requests: one for each that was sent, for logs and for programs that count.

use std::fmt;
use std::time::Duration;

/// A request that was sent, and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestRecord<'a> {
    /// Method of HTTP.
    pub method: &'a str,
    /// URL without its query and without a password, since both may contain secrets.
    pub url: &'a str,
    /// Value of the header `Range`.
    pub range: Option<&'a str>,
    /// Status of the answer; `None` if none arrived.
    pub status: Option<u16>,
    /// Bytes of the body that was sent.
    pub sent: u64,
    /// Bytes of the body that arrived.
    pub received: u64,
    /// Time from the request to the last byte of the answer.
    pub time: Duration,
    /// Number of the attempt, from 1 on.
    pub attempt: u32,
    /// Reason of a failure.
    pub failure: Option<&'a str>,
}

impl fmt::Display for RequestRecord<'_> {
    /// Writes one line: method, URL, range, status, bytes, milliseconds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.url)?;
        if let Some(range) = self.range {
            write!(f, " {range}")?;
        }
        match self.status {
            Some(status) => write!(f, " {status}")?,
            None => f.write_str(" -")?,
        }
        let bytes = if self.sent > 0 { self.sent } else { self.received };
        write!(f, " {bytes} bytes {:.1} ms", self.time.as_secs_f64() * 1e3)?;
        if self.attempt > 1 {
            write!(f, " attempt {}", self.attempt)?;
        }
        match self.failure {
            Some(failure) => write!(f, " ({failure})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_is_one_line() {
        let mut record = RequestRecord {
            method: "GET",
            url: "http://host/a.nc",
            range: Some("bytes=0-9"),
            status: Some(206),
            sent: 0,
            received: 10,
            time: Duration::from_micros(1250),
            attempt: 1,
            failure: None,
        };
        assert_eq!(record.to_string(), "GET http://host/a.nc bytes=0-9 206 10 bytes 1.2 ms");
        record.status = None;
        record.range = None;
        record.attempt = 2;
        record.received = 0;
        record.failure = Some("connection reset");
        assert_eq!(record.to_string(), "GET http://host/a.nc - 0 bytes 1.2 ms attempt 2 (connection reset)");
    }
}
