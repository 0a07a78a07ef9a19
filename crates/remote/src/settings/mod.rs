//! Settings of requests, as users have them: URL fragments, run-control files, the environment.
//!
//! The decision that shaped it: every source of settings ends in one struct of plain fields, and the environment is read in one
//! place, which tests replace. A field that is set wins over the environment, and the environment wins over the files of AWS.

mod environment;
mod profiles;
mod secret;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ferrocdf_bytes::{Code, Error, Result};

use crate::http::RequestRecord;

pub use environment::Environment;
pub(crate) use environment::Variables;
pub(crate) use profiles::{Profile, Profiles};
pub use secret::Secret;

/// A time that no request takes.
const ENDLESS: Duration = Duration::from_secs(365 * 86_400);

/// The way in which requests to S3 name the bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressing {
    /// In the path: `https://host/bucket/key`.
    Path,
    /// In the name of the host: `https://bucket.host/key`.
    VirtualHost,
}

/// The protocol that an `http:` or `https:` URL is read by, if its host does not show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Plain HTTP, whatever the host is.
    Http,
    /// S3 on any endpoint (`#mode=s3`).
    S3,
    /// S3 as Google Cloud Storage speaks it (`#mode=gs3`).
    Gs3,
}

/// A function that is called after each request that was sent.
#[derive(Clone)]
pub struct Observer(pub Arc<dyn Fn(&RequestRecord<'_>) + Send + Sync>);

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}

/// Settings of a store. `Settings::default()` takes everything from the environment.
///
/// ```
/// # use ferrocdf_remote::Settings;
/// let mut settings = Settings::default();
/// assert!(settings.set("aws.region", "eu-central-1").unwrap());
/// assert!(settings.set("HTTP.SSL.CAINFO", "/etc/ssl/own.pem").unwrap());
/// assert!(!settings.set("mode", "bytes").unwrap(), "not a setting of stores");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Protocol of `http:` and `https:` URLs. `None` takes that of the cloud for the hosts of AWS, Google and Azure, and plain HTTP for
    /// other hosts and for URLs with a query.
    pub protocol: Option<Protocol>,
    /// Profile of AWS. One that is set here wins over the access keys of the environment. Else `AWS_PROFILE`.
    pub profile: Option<String>,
    /// Region of the bucket. Else that of the URL, `AWS_REGION`, `AWS_DEFAULT_REGION`, the profile, `us-east-1`.
    pub region: Option<String>,
    /// URL of the S3 endpoint. Else `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, the profile, AWS itself.
    pub endpoint_url: Option<String>,
    /// Access key of S3. Else `AWS_ACCESS_KEY_ID`, or the profile.
    pub access_key_id: Option<String>,
    /// Secret key of S3. Else `AWS_SECRET_ACCESS_KEY`, or the profile.
    pub secret_access_key: Option<Secret>,
    /// Session token of temporary keys. Else `AWS_SESSION_TOKEN`, or the profile.
    pub session_token: Option<Secret>,
    /// True if requests are not signed, as public buckets allow. Else `AWS_NO_SIGN_REQUEST`, `AWS_SKIP_SIGNATURE`.
    pub no_sign_request: Option<bool>,
    /// True if the caller pays for requests. Else `AWS_REQUEST_PAYER=requester`.
    pub requester_pays: Option<bool>,
    /// How requests to S3 name the bucket. Else the profile's `addressing_style`; else the host for AWS, the path for other
    /// endpoints.
    pub addressing: Option<Addressing>,
    /// The file of profiles. Else `AWS_CONFIG_FILE`, `~/.aws/config`.
    pub aws_config_file: Option<PathBuf>,
    /// The file of access keys. Else `AWS_SHARED_CREDENTIALS_FILE`, `~/.aws/credentials`.
    pub aws_credentials_file: Option<PathBuf>,
    /// Storage account of Azure. Else that of the URL, `AZURE_STORAGE_ACCOUNT_NAME`, `AZURE_STORAGE_ACCOUNT`.
    pub azure_account: Option<String>,
    /// User name for HTTP servers that ask for one. Else that of the URL.
    pub user: Option<String>,
    /// Password for HTTP servers. Else that of the URL.
    pub password: Option<Secret>,
    /// File of users and passwords by host (`.netrc`), for HTTP servers and the ones that they redirect to. Else `NETRC`.
    pub netrc_file: Option<PathBuf>,
    /// File (PEM) of the certificate, with those that vouch for it, by which this client proves who it is.
    pub client_certificate: Option<PathBuf>,
    /// File (PEM) of the key of that certificate. Else the file of the certificate.
    pub client_key: Option<PathBuf>,
    /// File of certificates (PEM) of the authorities to trust. Else `SSL_CERT_FILE`, `AWS_CA_BUNDLE`, `CURL_CA_BUNDLE`, the
    /// system's file, those of Mozilla.
    pub ca_file: Option<PathBuf>,
    /// False if servers need not prove who they are.
    pub verify_peer: Option<bool>,
    /// URL of a proxy, which is asked to `CONNECT`; it may contain a password. Else `HTTPS_PROXY` or `HTTP_PROXY`, `ALL_PROXY`, except for the hosts of
    /// `NO_PROXY`.
    pub proxy: Option<Secret>,
    /// Value of the header `User-Agent`.
    pub user_agent: Option<String>,
    /// Time for making a connection. Default: 10 s.
    pub connect_timeout: Option<Duration>,
    /// Time without a byte after which a request is sent again. Default: 30 s.
    pub idle_timeout: Option<Duration>,
    /// Time for a request with all its retries. Else `FERROCDF_REMOTE_DEADLINE` in seconds. Default: 300 s.
    pub deadline: Option<Duration>,
    /// Number of times that a failed request is sent again. Default: 7.
    pub retries: Option<u32>,
    /// Wait before the first retry; it doubles with each one. Default: 100 ms, so that seven retries take 13 s.
    pub backoff: Option<Duration>,
    /// Requests in flight at once. Else `FERROCDF_REMOTE_REQUESTS`. Default: 32.
    pub in_flight: Option<usize>,
    /// Size up to which an object is read whole if the server ignores ranges. Default: 256 MiB.
    pub whole_limit: Option<u64>,
    /// Size from which on an object is put in parts of at least 16 MiB. Default: 64 MiB.
    pub multipart_threshold: Option<u64>,
    /// Receives a record of each request. Else, if `FERROCDF_LOG` contains the word `requests`, records go to standard error.
    pub observer: Option<Observer>,
    /// The environment that everything else comes from.
    pub environment: Environment,
}

impl Settings {
    /// Sets a field by its key in URL fragments (`aws.profile`, `awsprofile`) or in `.ncrc` and `.dodsrc` files
    /// (`HTTP.SSL.CAINFO`), in any case of letters. Returns false if the key is none of these.
    ///
    /// # Errors
    /// `NC_ERCFILE` for a value that the key cannot have.
    pub fn set(&mut self, key: &str, value: &str) -> Result<bool> {
        let lower = key.to_ascii_lowercase();
        let text = || Some(value.to_string());
        let secret = || Some(Secret::new(value));
        let wrong = |what: &str| Error::new(Code::ERCFILE, format!("{key}: {value:?} is not {what}"));
        let seconds = || match value.parse::<f64>().map(Duration::try_from_secs_f64) {
            Ok(Ok(time)) => Ok(Some(time)),
            _ => Err(wrong("a number of seconds")),
        };
        let flag = || parse_flag(value).map(Some).ok_or_else(|| wrong("true or false"));
        // Files of settings have these for "as usual" and "as long as it takes".
        let or_usual =
            |flag: &dyn Fn() -> Result<Option<bool>>| if value == "-1" { Ok(None) } else { flag() };
        let or_endless =
            |time: Option<Duration>| time.map(|time| if time.is_zero() { ENDLESS } else { time });
        match lower.as_str() {
            "aws.profile" | "awsprofile" => self.profile = text(),
            "aws.region" | "awsregion" | "aws.default_region" => self.region = text(),
            "aws.endpoint_url" | "aws.endpoint_url_s3" => self.endpoint_url = text(),
            "aws.access_key_id" => self.access_key_id = text(),
            "aws.secret_access_key" => self.secret_access_key = secret(),
            "aws.session_token" => self.session_token = secret(),
            "aws.no_sign_request" | "aws.skip_signature" => self.no_sign_request = flag()?,
            "aws.request_payer" => self.requester_pays = Some(is_requester(value)),
            "aws.addressing_style" => {
                self.addressing = parse_addressing(value).ok_or_else(|| wrong("path, virtual or auto"))?;
            }
            "aws.config_file" => self.aws_config_file = Some(value.into()),
            "aws.shared_credentials_file" => self.aws_credentials_file = Some(value.into()),
            "azure.account" => self.azure_account = text(),
            "http.credentials.user" | "http.credentials.username" => self.user = text(),
            "http.credentials.password" => self.password = secret(),
            "http.credentials.userpassword" => {
                let (user, password) = value.split_once(':').ok_or_else(|| wrong("user:password"))?;
                self.user = Some(user.to_string());
                self.password = Some(Secret::new(password));
            }
            "http.netrc" => self.netrc_file = Some(value.into()),
            "http.ssl.certificate" => self.client_certificate = Some(value.into()),
            "http.ssl.key" => self.client_key = Some(value.into()),
            "http.ssl.cainfo" => self.ca_file = Some(value.into()),
            "http.ssl.verifypeer" | "http.ssl.validate" => self.verify_peer = or_usual(&flag)?,
            "http.proxy.server" | "http.proxy_server" => self.proxy = secret(),
            "http.useragent" => self.user_agent = text(),
            "http.timeout" => self.deadline = or_endless(seconds()?),
            "http.connecttimeout" => self.connect_timeout = or_endless(seconds()?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub(crate) fn connect_timeout(&self) -> Duration {
        self.connect_timeout.unwrap_or(Duration::from_secs(10))
    }

    pub(crate) fn idle_timeout(&self) -> Duration {
        self.idle_timeout.unwrap_or(Duration::from_secs(30))
    }

    pub(crate) fn deadline(&self) -> Duration {
        let seconds = || self.environment.get("FERROCDF_REMOTE_DEADLINE")?.parse::<f64>().ok();
        let from_environment = || Duration::try_from_secs_f64(seconds()?).ok();
        self.deadline.or_else(from_environment).unwrap_or(Duration::from_secs(300))
    }

    pub(crate) fn in_flight(&self) -> usize {
        let from_environment = || self.environment.get("FERROCDF_REMOTE_REQUESTS")?.parse().ok();
        self.in_flight.or_else(from_environment).unwrap_or(32).clamp(1, 1024)
    }

    pub(crate) fn whole_limit(&self) -> u64 {
        self.whole_limit.unwrap_or(256 << 20)
    }

    pub(crate) fn multipart_threshold(&self) -> u64 {
        self.multipart_threshold.unwrap_or(64 << 20)
    }

    /// True if requests are written to standard error.
    pub(crate) fn logs_requests(&self) -> bool {
        let words = self.environment.get("FERROCDF_LOG").unwrap_or_default();
        words.split([',', ' ']).any(|word| word == "requests")
    }
}

/// Returns the meaning of a word for yes or no.
pub(crate) fn parse_flag(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Some(true),
        "0" | "false" | "no" | "off" | "" => Some(false),
        _ => None,
    }
}

/// True if a value of `AWS_REQUEST_PAYER` says that the caller pays.
pub(crate) fn is_requester(value: &str) -> bool {
    value.eq_ignore_ascii_case("requester") || parse_flag(value) == Some(true)
}

/// Returns the addressing that a word of AWS names: `Some(None)` if it leaves the choice open.
pub(crate) fn parse_addressing(value: &str) -> Option<Option<Addressing>> {
    match value.to_ascii_lowercase().as_str() {
        "path" => Some(Some(Addressing::Path)),
        "virtual" => Some(Some(Addressing::VirtualHost)),
        "auto" => Some(None),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_fragments_and_run_control_files_set_fields() {
        let mut settings = Settings::default();
        for (key, value) in [
            ("awsprofile", "p"),
            ("AWS.REGION", "r"),
            ("aws.request_payer", "requester"),
            ("aws.addressing_style", "virtual"),
            ("HTTP.CREDENTIALS.USERPASSWORD", "u:p:q"),
            ("HTTP.SSL.VERIFYPEER", "0"),
            ("HTTP.TIMEOUT", "2.5"),
        ] {
            assert!(settings.set(key, value).unwrap(), "{key}");
        }
        assert_eq!(settings.profile.as_deref(), Some("p"));
        assert_eq!(settings.region.as_deref(), Some("r"));
        assert_eq!(settings.requester_pays, Some(true));
        assert_eq!(settings.addressing, Some(Addressing::VirtualHost));
        assert_eq!(settings.user.as_deref(), Some("u"));
        assert_eq!(settings.password.as_ref().map(Secret::expose), Some("p:q"));
        assert_eq!(settings.verify_peer, Some(false));
        assert_eq!(settings.deadline(), Duration::from_millis(2500));
        settings.set("HTTP.TIMEOUT", "0").unwrap();
        assert_eq!(settings.deadline(), ENDLESS);
        settings.set("HTTP.SSL.VERIFYPEER", "-1").unwrap();
        assert_eq!(settings.verify_peer, None);
        assert!(!settings.set("HTTP.DEFLATE", "1").unwrap());
        assert_eq!(settings.set("HTTP.TIMEOUT", "-1").unwrap_err().code, Code::ERCFILE);
        assert_eq!(settings.set("HTTP.SSL.VALIDATE", "maybe").unwrap_err().code, Code::ERCFILE);
    }

    #[test]
    fn debug_text_has_no_secrets() {
        let mut settings = Settings::default();
        settings.set("aws.secret_access_key", "hush-1").unwrap();
        settings.set("aws.session_token", "hush-2").unwrap();
        settings.set("http.credentials.password", "hush-3").unwrap();
        settings.set("http.proxy.server", "http://me:hush-4@proxy").unwrap();
        settings.environment = Environment::of([("AWS_SECRET_ACCESS_KEY", "hush-5")]);
        let shown = format!("{settings:?}");
        assert!((1..=5).all(|number| !shown.contains(&format!("hush-{number}"))), "{shown}");
    }

    #[test]
    fn environment_fills_what_is_not_set() {
        let environment = [
            ("FERROCDF_REMOTE_DEADLINE", "1.5"),
            ("FERROCDF_REMOTE_REQUESTS", "64"),
            ("FERROCDF_LOG", "other,requests"),
        ];
        let settings = Settings { environment: Environment::of(environment), ..Settings::default() };
        assert_eq!(settings.deadline(), Duration::from_millis(1500));
        assert_eq!(settings.in_flight(), 64);
        assert!(settings.logs_requests());
        let empty = Settings { environment: Environment::of([]), ..Settings::default() };
        assert_eq!((empty.deadline(), empty.in_flight()), (Duration::from_secs(300), 32));
        assert!(!empty.logs_requests());
    }
}
