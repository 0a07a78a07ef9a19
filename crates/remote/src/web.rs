//! A folder of a web server as a store.

use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::{Expected, Listing, Version};
use ureq::http::header::{HeaderName, HeaderValue};
use ureq::http::{Method, Request, Uri};

use crate::explain::{Service, Signing, explain};
use crate::http::{
    Answer, Cause, Client, Deadline, Failure, Get, Outcome, Refusal, SendOptions, Sink, Upload, Validator,
    WireRange, basic, is_repeatable, redacted,
};
use crate::location::WebTarget;
use crate::settings::Settings;
use crate::text::percent_encode_path;
use crate::transfer::Transfer;

/// A folder of a web server.
#[derive(Debug)]
pub(crate) struct Web {
    client: Arc<Client>,
    target: WebTarget,
    /// Value of the header `Authorization`.
    authorization: Option<HeaderValue>,
}

impl Web {
    pub(crate) fn new(client: Arc<Client>, target: WebTarget, settings: &Settings) -> Result<Web> {
        let user = target.user.clone().or_else(|| settings.user.clone());
        let password = target.password.clone().or_else(|| settings.password.clone());
        let authorization =
            user.map(|user| basic(&user, password.as_ref()).map_err(|what| Error::new(Code::EAUTH, what)));
        Ok(Web { client, target, authorization: authorization.transpose()? })
    }

    /// Returns the name of the store: the URL of the folder without the slash at its end.
    pub(crate) fn name(&self) -> &str {
        self.target.folder.trim_end_matches('/')
    }

    fn object(&self, key: &str) -> String {
        format!("{}/{key}", self.name())
    }

    fn head(&self, method: Method, key: &str, headers: &[(HeaderName, String)]) -> Result<Request<()>> {
        // The object that the user named keeps the escapes that it was written with.
        let (named, escaped) = &self.target.named;
        let below = key.strip_prefix(named.as_str()).filter(|_| !named.is_empty());
        let path = match below.filter(|rest| rest.is_empty() || rest.starts_with('/')) {
            Some(rest) => format!("{escaped}{}", percent_encode_path(rest)),
            None => percent_encode_path(key),
        };
        let query = self.target.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
        let url = format!("{}{path}{query}", self.target.folder);
        let malformed = || Error::new(Code::EDAPURL, format!("{}: the URL is malformed", self.object(key)));
        let mut head = Request::new(());
        *head.method_mut() = method;
        *head.uri_mut() = url.parse::<Uri>().map_err(|_| malformed())?;
        for (name, value) in headers {
            let value = HeaderValue::try_from(value).map_err(|_| malformed())?;
            head.headers_mut().insert(name, value);
        }
        if let Some(value) = &self.authorization {
            head.headers_mut().insert(ureq::http::header::AUTHORIZATION, value.clone());
        }
        Ok(head)
    }

    fn explain(&self, key: &str, failure: &Failure) -> Error {
        let signing = match self.authorization {
            Some(_) => Signing::Signed("user and password".to_string()),
            None => Signing::Disabled,
        };
        explain(Service::Http, &signing, &self.object(key), failure)
    }

    fn send(&self, head: &Request<()>, body: Upload<'_>, key: &str, deadline: Deadline) -> Result<Answer> {
        let how = SendOptions { deadline, is_repeatable: is_repeatable(head), follows_redirects: true };
        self.client.answer(head, body, how).map_err(|failure| self.explain(key, &failure))
    }

    fn refused(&self, head: &Request<()>, key: &str, answer: &Answer) -> Error {
        let failure = Failure {
            method: head.method().to_string(),
            url: redacted(head.uri()),
            range: None,
            attempts: 1,
            cause: Cause::Status(Box::new(Refusal::new(answer.status, &answer.headers, &answer.body))),
        };
        self.explain(key, &failure)
    }

    /// Puts an object; `None` if it is not in the expected state.
    pub(crate) fn put(
        &self,
        key: &str,
        body: Upload<'_>,
        expected: Option<Expected<'_>>,
        deadline: Deadline,
    ) -> Result<Option<Version>> {
        use ureq::http::header::{IF_MATCH, IF_NONE_MATCH};
        let condition = match expected {
            None => vec![],
            Some(Expected::Absent) => vec![(IF_NONE_MATCH, "*".to_string())],
            Some(Expected::Version(version)) if !is_strong(version) => {
                let what = format!(
                    "{}: the server gives no strong ETag, so puts cannot depend on it",
                    self.object(key)
                );
                return Err(Error::new(Code::ENOTBUILT, what));
            }
            Some(Expected::Version(version)) => vec![(IF_MATCH, version.as_str().to_string())],
        };
        let head = self.head(Method::PUT, key, &condition)?;
        let answer = self.send(&head, body, key, deadline)?;
        match answer.status {
            200..=299 => {}
            412 if expected.is_some() => return Ok(None),
            404 if matches!(expected, Some(Expected::Version(_))) => return Ok(None),
            _ => return Err(self.refused(&head, key, &answer)),
        }
        let etag = answer.headers.get("etag").and_then(|value| value.to_str().ok()).map(Version::new);
        if let Some(version) = etag.filter(is_strong) {
            return Ok(Some(version));
        }
        // The server does not tell the version of what it wrote.
        match crate::transfer::read(
            self,
            key,
            ferrocdf_store::ByteRange::Bounded { start: 0, len: 1 },
            deadline,
        )? {
            Some(found) => Ok(Some(found.version)),
            None => Err(Error::new(
                Code::EIO,
                format!("{}: the server took the object and has it not", self.object(key)),
            )),
        }
    }

    pub(crate) fn delete(&self, key: &str, deadline: Deadline) -> Result<()> {
        let head = self.head(Method::DELETE, key, &[])?;
        let answer = self.send(&head, Upload::Nothing, key, deadline)?;
        match answer.status {
            200..=299 | 404 | 410 => Ok(()),
            _ => Err(self.refused(&head, key, &answer)),
        }
    }

    pub(crate) fn list(&self) -> Result<Listing> {
        let what = format!(
            "{}: web servers have no listing of folders; name the objects, or use consolidated metadata",
            self.name()
        );
        Err(Error::new(Code::ENOTBUILT, what))
    }
}

/// True for versions that conditional puts can depend on.
pub(crate) fn is_strong(version: &Version) -> bool {
    !version.as_str().starts_with("W/") && !version.as_str().starts_with(';')
}

impl Transfer for Web {
    fn fetch(&self, key: &str, range: WireRange, sink: &mut Sink<'_>, deadline: Deadline) -> Result<Outcome> {
        let header: Vec<_> =
            range.header().map(|value| (ureq::http::header::RANGE, value)).into_iter().collect();
        let head = self.head(Method::GET, key, &header)?;
        let get = Get { range, validator: Validator::ETag, follows_redirects: true, deadline };
        let found = self.client.fetch(&head, get, sink);
        found.map_err(|failure| self.explain(key, &failure))
    }

    fn has_suffixes(&self) -> bool {
        true
    }
}
