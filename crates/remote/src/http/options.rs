//! The settings of the HTTP client, with all defaults filled in.

use std::path::PathBuf;
use std::time::Duration;

use super::netrc::Netrc;
use crate::settings::{Environment, Observer, Secret, Settings};

/// Files in which systems keep the certificates that they trust: Debian, Fedora, SUSE, Alpine and BSD.
const SYSTEM_CA_FILES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Settings of the client.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub connect_timeout: Duration,
    pub idle_timeout: Duration,
    pub deadline: Duration,
    pub retries: u32,
    pub backoff: Duration,
    pub in_flight: usize,
    pub whole_limit: u64,
    pub user_agent: String,
    pub netrc: Option<Netrc>,
    /// Files of the certificate of this client and of its key.
    pub client_certificate: Option<[PathBuf; 2]>,
    pub ca_file: CaFile,
    pub verify_peer: bool,
    pub proxies: Proxies,
    pub observer: Option<Observer>,
    pub logs_requests: bool,
}

/// Where trusted certificates are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CaFile {
    /// In a file that the user named. If it cannot be read, that is an error.
    Named(PathBuf),
    /// In one of the usual files of the system, else in the program.
    System,
}

impl Options {
    pub(crate) fn new(settings: &Settings) -> Options {
        let environment = &settings.environment;
        let variable = || environment.first(&["SSL_CERT_FILE", "AWS_CA_BUNDLE", "CURL_CA_BUNDLE"]);
        let named = settings.ca_file.clone().or_else(|| variable().map(PathBuf::from));
        let default_agent = || concat!("ferrocdf/", env!("CARGO_PKG_VERSION")).to_string();
        Options {
            connect_timeout: settings.connect_timeout(),
            idle_timeout: settings.idle_timeout(),
            deadline: settings.deadline(),
            retries: settings.retries.unwrap_or(7),
            backoff: settings.backoff.unwrap_or(Duration::from_millis(100)),
            in_flight: settings.in_flight(),
            whole_limit: settings.whole_limit(),
            user_agent: settings.user_agent.clone().unwrap_or_else(default_agent),
            netrc: match &settings.netrc_file {
                Some(path) => Some(Netrc::new(path.clone(), true)),
                None => environment.get("NETRC").map(|path| Netrc::new(path.into(), false)),
            },
            client_certificate: settings.client_certificate.clone().map(|certificate| {
                let key = settings.client_key.clone().unwrap_or_else(|| certificate.clone());
                [certificate, key]
            }),
            ca_file: named.map_or(CaFile::System, CaFile::Named),
            verify_peer: settings.verify_peer.unwrap_or(true),
            proxies: Proxies::new(settings.proxy.clone(), environment),
            observer: settings.observer.clone(),
            logs_requests: settings.logs_requests(),
        }
    }
}

impl CaFile {
    /// Returns the bytes of the file; `None` if the certificates of the program are to be taken.
    pub(crate) fn read(&self) -> Result<Option<Vec<u8>>, String> {
        match self {
            CaFile::Named(path) => match std::fs::read(path) {
                Ok(bytes) => Ok(Some(bytes)),
                Err(error) => Err(format!("certificates in {}: {error}", path.display())),
            },
            CaFile::System => Ok(SYSTEM_CA_FILES.iter().find_map(|path| std::fs::read(path).ok())),
        }
    }
}

/// Proxies by the scheme of the URL, and hosts that need none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Proxies {
    http: Option<Secret>,
    https: Option<Secret>,
    /// Entries of `NO_PROXY`, in lower case.
    except: Vec<String>,
}

impl Proxies {
    fn new(set: Option<Secret>, environment: &Environment) -> Proxies {
        let of = |names: &[&str]| {
            let found = environment.first(names).or_else(|| environment.first(&["ALL_PROXY", "all_proxy"]));
            set.clone().or_else(|| found.map(Secret::new))
        };
        let except = environment.first(&["NO_PROXY", "no_proxy"]).unwrap_or_default();
        Proxies {
            http: of(&["http_proxy", "HTTP_PROXY"]),
            https: of(&["https_proxy", "HTTPS_PROXY"]),
            except: except.split(',').map(|entry| entry.trim().to_ascii_lowercase()).collect(),
        }
    }

    /// Returns the proxy for a host.
    pub(crate) fn find(&self, is_https: bool, host: &str) -> Option<&Secret> {
        let host = host.trim_matches(['[', ']']).to_ascii_lowercase();
        let is_excepted = self.except.iter().any(|entry| {
            let suffix = entry.trim_start_matches('*').trim_start_matches('.');
            let below = host.strip_suffix(suffix).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
            entry == "*" || (!suffix.is_empty() && below)
        });
        let proxy = if is_https { &self.https } else { &self.http };
        proxy.as_ref().filter(|_| !is_excepted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_follow_scheme_and_exceptions() {
        let environment = Environment::of([
            ("HTTPS_PROXY", "http://p:1"),
            ("all_proxy", "http://p:2"),
            ("NO_PROXY", "localhost, .example.org,*.lan,10.0.0.1"),
        ]);
        let proxies = Proxies::new(None, &environment);
        let find = |https, host| proxies.find(https, host).map(Secret::expose);
        assert_eq!(find(true, "host"), Some("http://p:1"));
        assert_eq!(find(false, "host"), Some("http://p:2"));
        for host in ["localhost", "example.org", "A.Example.org", "x.lan", "10.0.0.1"] {
            assert_eq!(find(true, host), None, "{host}");
        }
        assert!(find(true, "notexample.org").is_some());
        let set = Proxies::new(Some(Secret::new("http://p:3")), &environment);
        assert_eq!(set.find(true, "host").map(Secret::expose), Some("http://p:3"));
        let all = Proxies::new(Some(Secret::new("http://p")), &Environment::of([("no_proxy", "*")]));
        assert!(all.find(true, "host").is_none());
    }

    #[test]
    fn missing_certificate_file_is_an_error_only_if_it_was_named() {
        let named = CaFile::Named("/no/such/file.pem".into());
        assert!(named.read().unwrap_err().starts_with("certificates in /no/such/file.pem: "));
        assert!(CaFile::System.read().is_ok());
    }
}
