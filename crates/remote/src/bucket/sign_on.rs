//! Keys of users who signed on with `aws sso login` (AWS IAM Identity Center).
//!
//! The tool of AWS keeps an access token in a file of `~/.aws/sso/cache`; the portal of the service exchanges it for keys of a role.
//! Only the tool renews the token, since that may need a browser.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use object_store::client::HttpClient;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use ureq::http::Request;

use super::temporary_keys::{Issued, Issuer, issued, time};
use crate::connector::body_of;
use crate::settings::Secret;

/// Largest file of the cache that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// A sign-on, as a profile describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SignOn {
    /// Name of the profile.
    pub profile: String,
    pub start_url: String,
    pub region: String,
    pub account: String,
    pub role: String,
}

/// Asks the portal for keys.
#[derive(Debug)]
pub(super) struct Portal {
    pub sign_on: SignOn,
    pub client: HttpClient,
    /// URL of the portal.
    pub endpoint: String,
    /// The folder of tokens.
    pub cache: Option<PathBuf>,
}

#[async_trait]
impl Issuer for Portal {
    async fn issue(&self) -> Result<Issued, String> {
        let SignOn { profile, start_url, account, role, .. } = &self.sign_on;
        let token = self.cache.as_deref().and_then(|folder| token(folder, start_url)).ok_or_else(|| {
            format!(
                "nobody is signed on at {start_url}, or no longer: run `aws sso login --profile {profile}`"
            )
        })?;
        let escape = |text| utf8_percent_encode(text, NON_ALPHANUMERIC);
        let endpoint = self.endpoint.trim_end_matches('/');
        let (role, account) = (escape(role), escape(account));
        let url = format!("{endpoint}/federation/credentials?role_name={role}&account_id={account}");
        let request = Request::get(url).header("x-amz-sso_bearer_token", token.expose());
        let request = request.body(Vec::new().into()).map_err(|error| format!("{endpoint}: {error}"))?;
        let answer = body_of(&self.client, request).await?;
        let json: Value =
            serde_json::from_slice(&answer).map_err(|_| format!("{endpoint}: the answer is not JSON"))?;
        let keys = &json["roleCredentials"];
        let text = |key: &str| keys[key].as_str().map(str::to_string);
        let end = keys["expiration"]
            .as_u64()
            .and_then(|milliseconds| SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(milliseconds)));
        let found = issued(text("accessKeyId"), text("secretAccessKey"), text("sessionToken"), end);
        found.and_then(Issued::with_end).map_err(|what| format!("{endpoint}: {what}"))
    }
}

/// Returns the token of the last sign-on at a URL, if it still holds.
fn token(folder: &Path, start_url: &str) -> Option<Secret> {
    let tokens = std::fs::read_dir(folder).ok()?.flatten().filter_map(|entry| {
        if entry.metadata().ok()?.len() > MAX_FILE {
            return None;
        }
        let json: Value = serde_json::from_slice(&std::fs::read(entry.path()).ok()?).ok()?;
        let is_of_url = json["startUrl"].as_str()?.trim_end_matches('/') == start_url.trim_end_matches('/');
        let end = time(json["expiresAt"].as_str()?)?;
        let holds = is_of_url && end > SystemTime::now();
        holds.then(|| Some((end, Secret::new(json["accessToken"].as_str()?)))).flatten()
    });
    tokens.max_by_key(|(end, _)| *end).map(|(_, token)| token)
}
