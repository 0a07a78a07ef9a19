//! Keys of AWS that expire: those of a role, of a program, of a sign-on. They are fetched again before they expire.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use object_store::CredentialProvider;
use object_store::aws::AwsCredential;

use crate::connector::block_on;

/// Time before the end of keys at which they are fetched again: a request that is signed now may be sent later.
const MARGIN: Duration = Duration::from_secs(60);

/// Keys, and the time at which they end; `None` if they do not.
#[derive(Clone, Debug)]
pub(super) struct Issued {
    pub keys: Arc<AwsCredential>,
    pub end: Option<SystemTime>,
}

impl Issued {
    /// Returns the keys if their end is known.
    ///
    /// # Errors
    /// The reason in words.
    pub(super) fn with_end(self) -> Result<Issued, String> {
        if self.end.is_none() {
            return Err("the answer does not say when the keys end".to_string());
        }
        Ok(self)
    }
}

/// A place that issues keys.
#[async_trait]
pub(super) trait Issuer: fmt::Debug + Send + Sync {
    /// Fetches keys.
    ///
    /// # Errors
    /// The reason in words; that of a request that failed is noted by the client too.
    async fn issue(&self) -> Result<Issued, String>;
}

/// The keys of an issuer, kept as long as they hold.
#[derive(Debug)]
pub(super) struct TemporaryKeys<I> {
    issuer: I,
    kept: Mutex<Option<Issued>>,
}

impl<I> TemporaryKeys<I> {
    pub(super) fn new(issuer: I) -> TemporaryKeys<I> {
        TemporaryKeys { issuer, kept: Mutex::default() }
    }
}

#[async_trait]
impl<I: Issuer> CredentialProvider for TemporaryKeys<I> {
    type Credential = AwsCredential;

    async fn get_credential(&self) -> object_store::Result<Arc<AwsCredential>> {
        // Threads that come here together wait for the keys that the first of them fetches: a program may ask the user for something.
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let holds = |issued: &&Issued| issued.end.is_none_or(|end| SystemTime::now() + MARGIN < end);
        if let Some(issued) = kept.as_ref().filter(holds) {
            return Ok(issued.keys.clone());
        }
        let issued = block_on(self.issuer.issue());
        let issued =
            issued.map_err(|what| object_store::Error::Generic { store: "S3", source: what.into() })?;
        Ok(kept.insert(issued).keys.clone())
    }
}

/// True if a text can stand in a header of a request.
pub(super) fn is_header_text(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Makes keys of the texts that an issuer gave.
///
/// # Errors
/// The reason in words, if keys are missing or cannot stand in a header.
pub(super) fn issued(
    id: Option<String>,
    secret: Option<String>,
    token: Option<String>,
    end: Option<SystemTime>,
) -> Result<Issued, String> {
    let (Some(key_id), Some(secret_key)) = (id, secret) else {
        return Err("the answer has no access key with a secret key".to_string());
    };
    if ![Some(&key_id), token.as_ref()].into_iter().flatten().all(|text| is_header_text(text)) {
        return Err("the answer has keys with characters that no key has".to_string());
    }
    Ok(Issued { keys: Arc::new(AwsCredential { key_id, secret_key, token }), end })
}

/// Reads a time as RFC 3339 writes it, or with `UTC` in place of `Z`, as older tools of AWS do.
pub(super) fn time(text: &str) -> Option<SystemTime> {
    let text = text.strip_suffix("UTC").map_or(text.to_string(), |text| format!("{text}Z"));
    chrono::DateTime::parse_from_rfc3339(&text).ok().map(SystemTime::from)
}
