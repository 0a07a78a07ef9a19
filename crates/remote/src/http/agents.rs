//! Connections: one pool for each way to a server (direct, through a proxy, to the metadata service of a cloud).
//!
//! The decision that shaped it: pools belong to the process that made them. After a `fork` the child makes pools of its own, since
//! two processes on one connection would read each other's answers.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ureq::http::Uri;
use ureq::tls::{Certificate, ClientCert, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Proxy};

use super::fault::Fault;
use super::options::Options;
use crate::settings::Secret;

/// Addresses at which clouds tell their machines who they are: AWS, Azure and Google; AWS by IPv6; containers of AWS.
const METADATA_HOSTS: [&str; 5] =
    ["169.254.169.254", "metadata.google.internal", "[fd00:ec2::254]", "169.254.170.2", "169.254.170.23"];

/// Time for a connection to a metadata service, which is on the same machine or does not exist.
const METADATA_CONNECT: Duration = Duration::from_secs(1);

/// Bytes that a connection receives at once. With 128 KiB, the default of the library, batches of 32 requests took half as long
/// again, with 32 KiB a tenth; measured for decision 021.
const INPUT_BUFFER: usize = 64 << 10;

/// The agents of a client, made when they are first needed.
#[derive(Debug, Default)]
pub(crate) struct Agents {
    made: Mutex<Made>,
}

#[derive(Debug, Default)]
struct Made {
    /// Id of the process that made the agents.
    process: u32,
    agents: Vec<(Route, Agent)>,
}

/// The way to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Route {
    Direct { is_https: bool },
    Proxy(Secret, bool),
    Metadata,
}

/// True for the metadata service of a cloud.
pub(crate) fn is_metadata(uri: &Uri) -> bool {
    uri.host().is_some_and(|host| METADATA_HOSTS.contains(&host))
}

impl Agents {
    /// Returns the agent for requests to this URL.
    pub(crate) fn get(&self, uri: &Uri, options: &Options) -> Result<Agent, Fault> {
        let is_https = uri.scheme_str() == Some("https");
        let route = match options.proxies.find(is_https, uri.host().unwrap_or_default()) {
            _ if is_metadata(uri) => Route::Metadata,
            Some(proxy) => Route::Proxy(proxy.clone(), is_https),
            None => Route::Direct { is_https },
        };
        // No code panics in the middle of a change, so a poisoned lock guards valid agents.
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if made.process != std::process::id() {
            *made = Made { process: std::process::id(), agents: Vec::new() };
        }
        if let Some((_, agent)) = made.agents.iter().find(|(known, _)| *known == route) {
            return Ok(agent.clone());
        }
        let agent = make(&route, options).map_err(Fault::of_settings)?;
        made.agents.push((route, agent.clone()));
        Ok(agent)
    }
}

fn make(route: &Route, options: &Options) -> Result<Agent, String> {
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .user_agent(&*options.user_agent)
        .accept_encoding("identity")
        .timeout_per_read(Some(options.idle_timeout))
        .timeout_per_write(Some(options.idle_timeout))
        .timeout_connect(Some(options.connect_timeout))
        .max_idle_connections(2 * options.in_flight)
        .max_idle_connections_per_host(options.in_flight)
        .input_buffer_size(INPUT_BUFFER)
        .proxy(None);
    if let Route::Direct { is_https: true } | Route::Proxy(..) = route {
        config = config.tls_config(tls(options)?);
    }
    if let Route::Proxy(url, _) = route {
        // The words of the error may repeat the URL, which may have a password.
        let proxy = Proxy::new(url.expose()).map_err(|_| "the URL of the proxy is malformed".to_string())?;
        config = config.proxy(Some(proxy));
    }
    if let Route::Metadata = route {
        config = config.timeout_connect(Some(METADATA_CONNECT));
    }
    Ok(config.build().new_agent())
}

fn tls(options: &Options) -> Result<TlsConfig, String> {
    let roots = match options.ca_file.read()? {
        None => RootCerts::WebPki,
        Some(pem) => {
            let certificates = certificates(&pem);
            if certificates.is_empty() {
                return Err(format!("{:?} has no certificates in PEM", options.ca_file));
            }
            RootCerts::new_with_certs(&certificates)
        }
    };
    let own = options.client_certificate.as_ref().map(own_certificate).transpose()?;
    let builder = TlsConfig::builder().root_certs(roots).client_cert(own);
    Ok(builder.disable_verification(!options.verify_peer).build())
}

/// Reads the certificate of this client, and its key.
fn own_certificate([certificate, key]: &[PathBuf; 2]) -> Result<ClientCert, String> {
    let read = |path: &Path| std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
    let chain = certificates(&read(certificate)?);
    if chain.is_empty() {
        return Err(format!("{} has no certificates in PEM", certificate.display()));
    }
    let found = parse_pem(&read(key)?).find_map(|item| match item {
        Ok(PemItem::PrivateKey(key)) => Some(key),
        _ => None,
    });
    let found = found.ok_or_else(|| {
        format!("{} has no private key in PEM; decrypt it first if it is encrypted", key.display())
    })?;
    Ok(ClientCert::new_with_certs(&chain, found))
}

/// Returns the certificates in a text of PEM.
fn certificates(pem: &[u8]) -> Vec<Certificate<'static>> {
    let certificate = |item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    };
    parse_pem(pem).filter_map(certificate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;

    #[test]
    fn one_agent_serves_all_hosts_of_a_route() {
        let (agents, options) = (Agents::default(), Options::new(&Settings::default()));
        for url in ["http://a/", "http://b/", "http://169.254.169.254/latest"] {
            agents.get(&url.parse().unwrap(), &options).unwrap();
        }
        assert_eq!(agents.made.lock().unwrap().agents.len(), 2);
    }

    #[test]
    fn pools_of_another_process_are_dropped() {
        let (agents, options) = (Agents::default(), Options::new(&Settings::default()));
        let uri = "http://a/".parse().unwrap();
        agents.get(&uri, &options).unwrap();
        agents.made.lock().unwrap().process += 1;
        agents.get(&uri, &options).unwrap();
        let made = agents.made.lock().unwrap();
        assert_eq!((made.process, made.agents.len()), (std::process::id(), 1));
    }
}
