//! A bucket of S3, Google Cloud Storage or Azure as a store.
//!
//! The decision that shaped it: credentials and region are resolved at the first request, not when the bucket is opened. Requests
//! without credentials are sent unsigned, as public buckets allow. If S3 answers with another region, the bucket moves there and
//! asks again.

mod azure;
mod credentials;
mod gcs;
mod multipart;
mod process;
mod role;
mod s3;
mod sign_on;
mod temporary_keys;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::{Expected, Listing, Version};
use object_store::path::Path;
use object_store::{
    Error as ServiceError, GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutMode, PutOptions,
    PutPayload, PutResult, RetryConfig, UpdateVersion,
};

use crate::connector::{Connector, SignOnly, block_on};
use crate::explain::{Service, Signing, explain};
use crate::http::{Client, Deadline, Failure, Get, Outcome, Sink, Validator, WireRange, redacted, within};
use crate::settings::Settings;
use crate::transfer::Transfer;

pub(crate) use azure::Azure;
pub(crate) use gcs::Gcs;
pub(crate) use s3::S3;

/// Time to find credentials in the metadata service of a cloud.
const CREDENTIALS_DEADLINE: Duration = Duration::from_secs(10);

/// A way to make the client of a bucket.
pub(crate) trait Recipe: fmt::Debug + Send + Sync {
    /// Returns the protocol.
    fn service(&self) -> Service;

    /// Returns where credentials come from.
    fn source(&self) -> &Source;

    /// Makes the client. Sends no request.
    fn build(&self, connector: Connector, variant: &Variant) -> Result<Built>;
}

/// Properties of a bucket that its first requests may change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Variant {
    /// The region that the server named.
    pub region: Option<String>,
    /// True if requests are not signed.
    pub is_unsigned: bool,
}

/// Where the credentials of a bucket come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The user wants unsigned requests.
    Disabled,
    /// There are none, and no metadata service is worth asking. The text says where they were looked for.
    NotFound(String),
    /// From the place of this name. If it fails, that is an error.
    Named(String),
    /// Perhaps from the metadata service of a cloud. The text says where else they were looked for.
    Metadata(String),
}

/// The client of a bucket.
pub(crate) struct Built {
    pub store: Arc<dyn ObjectStore>,
    /// Fetches credentials.
    pub check: Box<dyn Fn() -> object_store::Result<()>>,
}

/// A bucket.
#[derive(Debug)]
pub(crate) struct Bucket {
    client: Arc<Client>,
    recipe: Box<dyn Recipe>,
    name: String,
    multipart_threshold: u64,
    /// The client of `object_store`, made at the first request.
    state: Mutex<Option<State>>,
}

#[derive(Clone, Debug)]
struct State {
    store: Arc<dyn ObjectStore>,
    variant: Variant,
    signing: Signing,
}

/// Cause of a failed operation.
enum OperationError {
    /// A request failed.
    Request(Failure),
    /// No request was sent, or its answer was not understood.
    Other(String),
}

impl Bucket {
    pub(crate) fn new(
        client: Arc<Client>,
        recipe: Box<dyn Recipe>,
        name: String,
        settings: &Settings,
    ) -> Bucket {
        let multipart_threshold = settings.multipart_threshold();
        Bucket { client, recipe, name, multipart_threshold, state: Mutex::default() }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the size from which on objects are put in parts.
    pub(crate) fn multipart_threshold(&self) -> u64 {
        self.multipart_threshold
    }

    fn object(&self, key: &str) -> String {
        format!("{}/{key}", self.name)
    }

    fn build(&self, variant: Variant, signing: Signing) -> Result<(State, Built)> {
        let built = self.recipe.build(Connector(self.client.clone()), &variant)?;
        Ok((State { store: built.store.clone(), variant, signing }, built))
    }

    /// Returns the client, after it was made and credentials were looked for.
    fn state(&self) -> Result<State> {
        // No code panics in the middle of a change, so a poisoned lock guards a valid state.
        let mut kept = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = &*kept {
            return Ok(state.clone());
        }
        let unsigned = Variant { is_unsigned: true, region: None };
        let (state, _) = match self.recipe.source() {
            Source::Disabled => self.build(unsigned, Signing::Disabled)?,
            Source::NotFound(searched) => self.build(unsigned, Signing::NotFound(searched.clone()))?,
            Source::Named(source) => self.build(Variant::default(), Signing::Signed(source.clone()))?,
            Source::Metadata(searched) => {
                let source = "metadata of the cloud".to_string();
                let signed = self.build(Variant::default(), Signing::Signed(source))?;
                match within(Deadline::after(CREDENTIALS_DEADLINE), || (signed.1.check)()) {
                    (Ok(()), _) => signed,
                    (Err(_), _) => {
                        let searched = format!("{searched}, the metadata service of the cloud");
                        self.build(unsigned, Signing::NotFound(searched))?
                    }
                }
            }
        };
        *kept = Some(state.clone());
        Ok(state)
    }

    /// Moves the bucket to the region that a server named. Returns the new client; `None` if it is there already.
    fn move_to(&self, region: &str, from: &State) -> Option<State> {
        if from.variant.region.as_deref() == Some(region) {
            return None;
        }
        let variant = Variant { region: Some(region.to_string()), ..from.variant.clone() };
        let (state, _) = self.build(variant, from.signing.clone()).ok()?;
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = Some(state.clone());
        Some(state)
    }

    /// Runs an operation; if its bucket is in another region, once more there.
    fn operate<T>(
        &self,
        key: &str,
        mut run: impl FnMut(&State) -> std::result::Result<T, OperationError>,
    ) -> Result<T> {
        let state = self.state()?;
        match run(&state) {
            Ok(value) => Ok(value),
            Err(error) => match self.other_region(&error).and_then(|region| self.move_to(region, &state)) {
                Some(moved) => run(&moved).map_err(|error| self.explain(key, &moved, error)),
                None => Err(self.explain(key, &state, error)),
            },
        }
    }

    /// Returns the region of the bucket, if a request failed because it went to another one.
    fn other_region<'a>(&self, error: &'a OperationError) -> Option<&'a str> {
        let OperationError::Request(failure) = error else { return None };
        let refusal = failure.refusal()?;
        let is_elsewhere = matches!(refusal.status, 301 | 307 | 400) && self.recipe.service() == Service::S3;
        refusal.region.as_deref().filter(|_| is_elsewhere)
    }

    fn explain(&self, key: &str, state: &State, error: OperationError) -> Error {
        let service = self.recipe.service();
        match error {
            OperationError::Request(failure) => explain(service, &state.signing, &self.object(key), &failure),
            OperationError::Other(what) => {
                let code = if service == Service::S3 { Code::ES3 } else { Code::EIO };
                Error::new(code, format!("{}: {what}", self.object(key)))
            }
        }
    }

    fn path(&self, key: &str) -> Result<Path> {
        Path::parse(key).map_err(|_| Error::new(Code::EINVAL, format!("{key:?} is not the key of an object")))
    }

    /// Puts an object; `None` if it is not in the expected state.
    pub(crate) fn put(
        &self,
        key: &str,
        bytes: &[u8],
        expected: Option<Expected<'_>>,
        deadline: Deadline,
    ) -> Result<Option<Version>> {
        let path = self.path(key)?;
        if expected.is_none() && bytes.len() as u64 >= self.multipart_threshold {
            let mut read = |at: u64, len: usize| Ok(bytes[at as usize..at as usize + len].to_vec());
            return self.put_parts(key, bytes.len() as u64, &mut read, deadline).map(Some);
        }
        let service = self.recipe.service();
        let mode = match expected {
            None => PutMode::Overwrite,
            Some(Expected::Absent) => PutMode::Create,
            Some(Expected::Version(version)) => {
                let text = || Some(version.as_str().to_string());
                PutMode::Update(match service {
                    Service::Gcs => UpdateVersion { e_tag: None, version: text() },
                    _ => UpdateVersion { e_tag: text(), version: None },
                })
            }
        };
        let payload = PutPayload::from(bytes.to_vec());
        self.operate(key, |state| {
            let options = PutOptions { mode: mode.clone(), ..PutOptions::default() };
            let put = || block_on(state.store.put_opts(&path, payload.clone(), options));
            match within(deadline, put) {
                (Ok(result), _) => version(service, result).map(Some),
                (Err(ServiceError::AlreadyExists { .. } | ServiceError::Precondition { .. }), _)
                    if expected.is_some() =>
                {
                    Ok(None)
                }
                (Err(ServiceError::NotFound { .. }), failure)
                    if matches!(expected, Some(Expected::Version(_)))
                        && !failure.as_ref().is_some_and(is_missing_bucket) =>
                {
                    Ok(None)
                }
                (Err(error), failure) => Err(operation_error(&error, failure)),
            }
        })
    }

    pub(crate) fn delete(&self, key: &str, deadline: Deadline) -> Result<()> {
        let path = self.path(key)?;
        self.operate(key, |state| match within(deadline, || block_on(state.store.delete(&path))) {
            (Ok(()), _) => Ok(()),
            (Err(ServiceError::NotFound { .. }), failure)
                if !failure.as_ref().is_some_and(is_missing_bucket) =>
            {
                Ok(())
            }
            (Err(error), failure) => Err(operation_error(&error, failure)),
        })
    }

    pub(crate) fn list(&self, folder: &str, deadline: Deadline) -> Result<Listing> {
        let prefix = self.path(folder)?;
        let listed = self.operate(folder, |state| {
            let list = || block_on(state.store.list_with_delimiter(Some(&prefix)));
            let (listed, failure) = within(deadline, list);
            listed.map_err(|error| operation_error(&error, failure))
        })?;
        let names = |paths: Vec<Path>| {
            let inside = paths.iter().filter(|path| **path != prefix);
            let mut names: Vec<_> = inside.filter_map(|path| path.filename().map(str::to_string)).collect();
            names.sort();
            names.dedup();
            names
        };
        let objects = listed.objects.into_iter().map(|object| object.location).collect();
        Ok(Listing { objects: names(objects), folders: names(listed.common_prefixes) })
    }
}

impl Transfer for Bucket {
    fn fetch(&self, key: &str, range: WireRange, sink: &mut Sink<'_>, deadline: Deadline) -> Result<Outcome> {
        let path = self.path(key)?;
        let validator = match self.recipe.service() {
            Service::Gcs => Validator::Generation,
            _ => Validator::ETag,
        };
        let wire = match range {
            WireRange::Whole => None,
            WireRange::Bytes { start, last } => Some(GetRange::Bounded(start..last.saturating_add(1))),
            WireRange::Suffix(len) => Some(GetRange::Suffix(len)),
        };
        self.operate(key, |state| {
            let signed = SignOnly::default();
            let mut options = GetOptions { range: wire.clone(), ..GetOptions::default() };
            options.extensions.insert(signed.clone());
            let (got, failure) =
                within(deadline, || block_on(state.store.get_opts(&path, options)).map(drop));
            match (signed.take(), got) {
                (Some(head), _) => {
                    let get = Get { range, validator, follows_redirects: false, deadline };
                    self.client.fetch(&head, get, sink).map_err(OperationError::Request)
                }
                (None, Err(error)) => Err(operation_error(&error, failure)),
                (None, Ok(())) => Err(OperationError::Other("no request was sent".to_string())),
            }
        })
    }

    fn has_suffixes(&self) -> bool {
        self.recipe.service() != Service::Azure
    }
}

fn is_missing_bucket(failure: &Failure) -> bool {
    failure.refusal().is_some_and(crate::http::Refusal::is_missing_bucket)
}

/// Returns the version in the answer to a put.
fn version(service: Service, result: PutResult) -> std::result::Result<Version, OperationError> {
    let text = if service == Service::Gcs { result.version } else { result.e_tag };
    text.map(Version::new)
        .ok_or_else(|| OperationError::Other("the answer to the put has no version".to_string()))
}

/// Takes our own account of a failed request, else the text of `object_store`.
fn operation_error(error: &ServiceError, failure: Option<Failure>) -> OperationError {
    failure.map_or_else(|| OperationError::Other(innermost(error)), OperationError::Request)
}

/// Returns the text of the innermost cause of an error, without the queries of URLs, which may be signatures.
fn innermost(error: &ServiceError) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let mut words = String::new();
    for word in cause.to_string().split_whitespace() {
        let word = match word.parse::<ureq::http::Uri>() {
            Ok(uri) if uri.scheme().is_some() && uri.host().is_some() => redacted(&uri),
            _ => word.split('?').next().unwrap_or_default().to_string(),
        };
        words.push_str(&word);
        words.push(' ');
    }
    words.trim_end().to_string()
}

/// Retries are ours: `object_store` has none.
fn no_retries() -> RetryConfig {
    RetryConfig { max_retries: 0, retry_timeout: Duration::from_secs(180), ..RetryConfig::default() }
}

/// Makes the error of a client that cannot be made.
fn unusable(name: &str, error: &ServiceError) -> Error {
    Error::new(Code::EAUTH, format!("{name}: {}", innermost(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_other_libraries_loses_its_queries() {
        let source = "GET https://me:hush@h/c/k?sig=hush failed".to_string();
        let error = ServiceError::Generic { store: "S3", source: source.into() };
        assert_eq!(innermost(&error), "GET https://h/c/k failed");
    }
}
