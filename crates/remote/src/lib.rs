//! Objects behind HTTP, S3, Google Cloud Storage and Azure as stores.
//!
//! [`open`] turns a URL into a store and the key of the object in it:
//!
//! ```
//! use ferrocdf_remote::{Settings, open};
//! use ferrocdf_store::Store;
//!
//! let (store, key) = open("s3://bucket/folder/data.nc", &Settings::default()).unwrap();
//! assert_eq!((store.name().as_str(), key.as_str()), ("s3://bucket", "folder/data.nc"));
//! ```
//!
//! No request is sent before the first read, and no thread runs between calls. Requests are sent on the thread of the caller;
//! [`get_many`](ferrocdf_store::Store::get_many) starts threads, which end with the call. So a process may fork at any time: a child
//! that sends requests makes connections of its own. Decision 021.
//!
//! # Versions
//!
//! The version of an object is its ETag (the generation in Google Cloud Storage), which comes with each answer. A reader that pins the first
//! version, as [`ObjectBlob`](ferrocdf_store::ObjectBlob) does, never mixes bytes of two. Where a server gives no strong ETag, the
//! time of the last change and the size stand for it.
//!
//! # Credentials
//!
//! They are looked for at the first request, in this order:
//!
//! - S3: keys in the [`Settings`]; a profile that the settings name; `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and
//!   `AWS_SESSION_TOKEN`; a web identity (`AWS_WEB_IDENTITY_TOKEN_FILE`, `AWS_ROLE_ARN`); the profile of `AWS_PROFILE`, or `default`, in
//!   `~/.aws/credentials` and `~/.aws/config`; a container (`AWS_CONTAINER_CREDENTIALS_RELATIVE_URI`, or `AWS_CONTAINER_CREDENTIALS_FULL_URI`
//!   with `AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE`); the metadata service of the machine, for endpoints of AWS. Profiles that assume
//!   roles, sign in with SSO or run a program are refused with the reason.
//! - Google Cloud Storage: `GOOGLE_SERVICE_ACCOUNT`, `GOOGLE_SERVICE_ACCOUNT_KEY`, `GOOGLE_APPLICATION_CREDENTIALS`; the login of `gcloud`; the
//!   metadata service of the machine.
//! - Azure: `AZURE_STORAGE_ACCOUNT_KEY`, `AZURE_STORAGE_SAS_TOKEN`, `AZURE_CLIENT_ID` with `AZURE_CLIENT_SECRET` and `AZURE_TENANT_ID`,
//!   `AZURE_FEDERATED_TOKEN_FILE`, `AZURE_STORAGE_CONNECTION_STRING`; the metadata service of the machine.
//! - HTTP: user and password in the URL, or in the settings.
//!
//! If there are none, requests are not signed, and public buckets answer them. `AWS_NO_SIGN_REQUEST=true` skips the search.
//!
//! # Variables
//!
//! `FERROCDF_LOG=requests` writes a line for each request to standard error. `FERROCDF_REMOTE_DEADLINE` is the time in seconds that
//! a request may take with all its retries (300), `FERROCDF_REMOTE_REQUESTS` the number of requests in flight (32).
//! `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY` and `SSL_CERT_FILE` are those that other programs know.
#![forbid(unsafe_code)]

mod bucket;
mod connector;
mod explain;
mod http;
mod location;
mod settings;
mod text;
mod transfer;
mod web;

use std::sync::{Arc, Mutex, PoisonError};

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::{
    Blob, ByteRange, Cost, Expected, Fetched, Filled, GetInto, Listing, Store, Version, check_folder,
    check_key,
};

use bucket::{Azure, Bucket, Gcs, S3};
use http::{Client, Deadline, Options, Upload};
use location::Target;
use web::Web;

pub use http::{RequestRecord, Traffic, traffic};
pub use settings::{Addressing, Environment, Observer, Protocol, Secret, Settings};

/// A bucket, or a folder of a web server.
#[derive(Debug)]
pub struct RemoteStore {
    client: Arc<Client>,
    service: Backend,
}

#[derive(Debug)]
enum Backend {
    Web(Web),
    Bucket(Bucket),
}

/// Returns the store of a URL, and the key of the object that it names, which is empty if it names a bucket. The URL has
/// no fragment: its settings are in `settings`. Sends no request.
///
/// Schemes are `http`, `https`, `s3`, `gs3`, `gs`, `az`, `abfs`, `abfss`. The store of an `http` URL is the folder of the object.
///
/// # Errors
/// `NC_EDAPURL` for a URL that is malformed or of another scheme, `NC_EAUTH` for credentials that cannot be used.
pub fn open(url: &str, settings: &Settings) -> Result<(Arc<RemoteStore>, String)> {
    let (target, key) = location::parse(url, settings)?;
    let client = Arc::new(Client::new(Options::new(settings)));
    let bucket = |recipe: Box<dyn bucket::Recipe>, name: String| {
        Backend::Bucket(Bucket::new(client.clone(), recipe, name, settings))
    };
    let service = match target {
        Target::Web(target) => Backend::Web(Web::new(client.clone(), target, settings)?),
        Target::S3(target) => {
            let scheme = if target.is_google { "gs3" } else { "s3" };
            let name = format!("{scheme}://{}", target.bucket);
            let recipe = S3::new(&target, settings).map_err(|error| error.at(&name))?;
            bucket(Box::new(recipe), name)
        }
        Target::Gcs { bucket: name } => bucket(Box::new(Gcs::new(&name, settings)), format!("gs://{name}")),
        Target::Azure { account, container } => {
            let recipe = Azure::new(account.as_deref(), &container, settings)?;
            bucket(Box::new(recipe), format!("az://{container}"))
        }
    };
    Ok((Arc::new(RemoteStore { client, service }), key))
}

impl RemoteStore {
    fn deadline(&self) -> Deadline {
        Deadline::after(self.client.options.deadline)
    }

    /// Returns the deadline of a put: large ones get the time that they take at a megabyte a second.
    fn deadline_of(&self, bytes: u64) -> Deadline {
        Deadline::after(
            self.client.options.deadline.saturating_add(std::time::Duration::from_millis(bytes >> 10)),
        )
    }

    /// Makes the error of a put without a condition that was answered as if it had one.
    fn no_version(&self, key: &str) -> Error {
        Error::new(Code::EINTERNAL, format!("{}/{key}: the put has no version", self.name()))
    }

    fn put_expecting(
        &self,
        key: &str,
        bytes: &[u8],
        expected: Option<Expected<'_>>,
    ) -> Result<Option<Version>> {
        check_key(key)?;
        let deadline = self.deadline_of(bytes.len() as u64);
        match &self.service {
            Backend::Web(web) => web.put(key, Upload::Bytes(bytes), expected, deadline),
            Backend::Bucket(bucket) => bucket.put(key, bytes, expected, deadline),
        }
    }
}

impl Store for RemoteStore {
    fn get(&self, key: &str, range: ByteRange) -> Result<Option<Fetched>> {
        check_key(key)?;
        match &self.service {
            Backend::Web(web) => transfer::read(web, key, range, self.deadline()),
            Backend::Bucket(bucket) => transfer::read(bucket, key, range, self.deadline()),
        }
    }

    fn get_many(&self, requests: &[(&str, ByteRange)]) -> Vec<Result<Option<Fetched>>> {
        transfer::in_parallel(requests, self.client.options.in_flight, |&(key, range)| self.get(key, range))
    }

    fn get_many_into(&self, requests: &mut [GetInto<'_>]) -> Vec<Result<Option<Filled>>> {
        // Each request is taken by one thread.
        let requests: Vec<_> = requests.iter_mut().map(Mutex::new).collect();
        transfer::in_parallel(&requests, self.client.options.in_flight, |request| {
            let mut request = request.lock().unwrap_or_else(PoisonError::into_inner);
            check_key(request.key)?;
            match &self.service {
                Backend::Web(web) => transfer::read_into(web, &mut request, self.deadline()),
                Backend::Bucket(bucket) => transfer::read_into(bucket, &mut request, self.deadline()),
            }
        })
    }

    fn put(&self, key: &str, bytes: &[u8]) -> Result<Version> {
        self.put_expecting(key, bytes, None)?.ok_or_else(|| self.no_version(key))
    }

    fn put_many(&self, objects: &[(&str, &[u8])]) -> Vec<Result<Version>> {
        transfer::in_parallel(objects, self.client.options.in_flight, |&(key, bytes)| self.put(key, bytes))
    }

    fn put_many_if(&self, objects: &[(&str, &[u8], Expected<'_>)]) -> Vec<Result<Option<Version>>> {
        transfer::in_parallel(objects, self.client.options.in_flight, |&(key, bytes, expected)| {
            self.put_if(key, bytes, expected)
        })
    }

    fn put_if(&self, key: &str, bytes: &[u8], expected: Expected<'_>) -> Result<Option<Version>> {
        self.put_expecting(key, bytes, Some(expected))
    }

    fn put_blob(&self, key: &str, blob: &dyn Blob) -> Result<Version> {
        check_key(key)?;
        let size = blob.size()?;
        let mut read = |at: u64, len: usize| {
            let mut bytes = vec![0; len];
            blob.read_exact_at(at, &mut bytes)?;
            Ok(bytes)
        };
        match &self.service {
            Backend::Bucket(bucket) if size >= bucket.multipart_threshold() => {
                bucket.put_parts(key, size, &mut read, self.deadline_of(size))
            }
            Backend::Web(web) => {
                let put = web.put(key, Upload::Blob(blob, size), None, self.deadline_of(size))?;
                put.ok_or_else(|| self.no_version(key))
            }
            Backend::Bucket(_) => self.put(key, &read(0, size as usize)?),
        }
    }

    fn delete(&self, key: &str) -> Result<()> {
        check_key(key)?;
        match &self.service {
            Backend::Web(web) => web.delete(key, self.deadline()),
            Backend::Bucket(bucket) => bucket.delete(key, self.deadline()),
        }
    }

    /// # Errors
    /// `NC_ENOTBUILT` for web servers, which list nothing.
    fn list(&self, folder: &str) -> Result<Listing> {
        check_folder(folder)?;
        match &self.service {
            Backend::Web(web) => web.list(),
            Backend::Bucket(bucket) => bucket.list(folder, self.deadline()),
        }
    }

    fn list_many(&self, folders: &[&str]) -> Vec<Result<Listing>> {
        transfer::in_parallel(folders, self.client.options.in_flight, |folder| self.list(folder))
    }

    fn cost(&self) -> Cost {
        Cost { in_flight: self.client.options.in_flight, ..Cost::REMOTE }
    }

    fn name(&self) -> String {
        match &self.service {
            Backend::Web(web) => web.name().to_string(),
            Backend::Bucket(bucket) => bucket.name().to_string(),
        }
    }

    fn no_such_object(&self, key: &str) -> Error {
        let what = "the server answers 404 Not Found: the object does not exist";
        Error::new(Code::ENOOBJECT, format!("{}/{key}: {what}", self.name()))
    }
}
