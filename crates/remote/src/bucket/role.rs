//! Roles that a profile assumes with the credentials of another one (`AssumeRole` of the AWS Security Token Service).

use async_trait::async_trait;
use object_store::aws::{AwsAuthorizer, AwsCredentialProvider};
use object_store::client::{HttpClient, HttpRequest};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use ureq::http::Request;

use super::temporary_keys::{Issued, Issuer, issued, time};
use crate::connector::body_of;
use crate::text::element;

/// Seconds that keys hold if the profile does not say: the default of the service.
const DURATION: u32 = 3600;

/// A role, as a profile describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Role {
    pub arn: String,
    pub session: Option<String>,
    pub external_id: Option<String>,
    /// Time that keys hold, in seconds.
    pub duration: Option<u32>,
}

/// Asks the service for keys of a role.
#[derive(Debug)]
pub(super) struct AssumedRole {
    pub role: Role,
    pub client: HttpClient,
    /// URL of the service.
    pub endpoint: String,
    pub region: String,
    /// Credentials that sign the request.
    pub base: AwsCredentialProvider,
}

#[async_trait]
impl Issuer for AssumedRole {
    async fn issue(&self) -> Result<Issued, String> {
        let base = self.base.get_credential().await.map_err(|error| error.to_string())?;
        let request = Request::post(&self.endpoint)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(self.role.form().into());
        let mut request: HttpRequest = request.map_err(|error| format!("{}: {error}", self.endpoint))?;
        let sign = AwsAuthorizer::new(&base, "sts", &self.region).try_authorize(&mut request, None);
        sign.map_err(|error| error.to_string())?;
        let answer = body_of(&self.client, request).await?;
        let text = String::from_utf8_lossy(&answer);
        let get = |name| element(&text, name);
        let end = get("Expiration").and_then(|text| time(&text));
        let keys = issued(get("AccessKeyId"), get("SecretAccessKey"), get("SessionToken"), end);
        let keys = keys.and_then(Issued::with_end);
        keys.map_err(|what| format!("{}: the role {}: {what}", self.endpoint, self.role.arn))
    }
}

impl Role {
    /// Writes the request as a form.
    fn form(&self) -> String {
        let seconds = self.duration.unwrap_or(DURATION).to_string();
        let mut fields = vec![
            ("Action", "AssumeRole"),
            ("Version", "2011-06-15"),
            ("RoleArn", &*self.arn),
            ("RoleSessionName", self.session.as_deref().unwrap_or("ferrocdf")),
            ("DurationSeconds", &seconds),
        ];
        fields.extend(self.external_id.as_deref().map(|id| ("ExternalId", id)));
        let field = |(name, value)| format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC));
        fields.into_iter().map(field).collect::<Vec<_>>().join("&")
    }
}
