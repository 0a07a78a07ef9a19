//! URLs of objects: which service a URL means, and where in it the object is.
//!
//! The forms are those of netCDF-C (`NC_s3urlrebuild`), of `object_store`, and of the tools of the clouds. Keys in `s3:`, `gs3:`, `gs:`
//! and `az:` URLs are taken literally, as those tools do; paths of `http:` and `https:` URLs have percent escapes.

use std::fmt;

use ferrocdf_bytes::{Code, Error, Result};
use ureq::http::Uri;

use crate::settings::{Addressing, Protocol, Secret, Settings};
use crate::text::percent_decode;

/// A bucket, or a folder of a web server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Web(WebTarget),
    S3(S3Target),
    Gcs { bucket: String },
    Azure { account: Option<String>, container: String },
}

/// A folder of a web server.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct WebTarget {
    /// URL of the folder, with the slash at its end, and without user and query.
    pub folder: String,
    /// The query that all requests have: it may be a signature.
    pub query: Option<String>,
    pub user: Option<String>,
    pub password: Option<Secret>,
    /// The key of the object that was named, and its escapes as they were written.
    pub named: (String, String),
}

impl fmt::Debug for WebTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WebTarget").field(&self.folder).field(&self.named.0).finish()
    }
}

/// A bucket of S3.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct S3Target {
    pub bucket: String,
    /// URL of the endpoint, without the bucket; `None` for what the settings say.
    pub endpoint: Option<String>,
    pub region: Option<String>,
    pub addressing: Option<Addressing>,
    /// True for Google Cloud Storage.
    pub is_google: bool,
}

/// Parses a URL, without a fragment. Returns the target and the key in it, which is empty for a bucket.
///
/// # Errors
/// `NC_EDAPURL` (which is `NC_EURL`) for a URL of another kind or without a host.
pub(crate) fn parse(url: &str, settings: &Settings) -> Result<(Target, String)> {
    let malformed = |why: &str| Error::new(Code::EDAPURL, format!("{}: {why}", without_secrets(url)));
    let (scheme, rest) = url.split_once("://").ok_or_else(|| malformed("not a URL of a remote object"))?;
    let scheme = scheme.to_ascii_lowercase();
    let (host, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let key = path.trim_matches('/').to_string();
    if host.is_empty() {
        return Err(malformed("the URL names no host or bucket"));
    }
    let target = match scheme.as_str() {
        "http" | "https" => return parse_http(url, settings).map_err(|why| malformed(&why)),
        "s3" | "s3a" => Target::S3(S3Target { bucket: host.to_string(), ..S3Target::default() }),
        "gs3" => Target::S3(google(host)),
        "gs" => Target::Gcs { bucket: host.to_string() },
        "az" | "azure" | "adl" | "abfs" | "abfss" | "wasb" | "wasbs" => match host.split_once('@') {
            None => Target::Azure { account: None, container: host.to_string() },
            Some((container, host)) => {
                let account = host.split('.').next().map(str::to_string);
                Target::Azure { account, container: container.to_string() }
            }
        },
        _ => return Err(malformed("the scheme is none of http, https, s3, gs3, gs, az, abfs and abfss")),
    };
    Ok((target, key))
}

/// S3 as Google speaks it.
fn google(bucket: &str) -> S3Target {
    S3Target {
        bucket: bucket.to_string(),
        endpoint: Some("https://storage.googleapis.com".to_string()),
        region: Some("auto".to_string()),
        addressing: Some(Addressing::Path),
        is_google: true,
    }
}

fn parse_http(url: &str, settings: &Settings) -> std::result::Result<(Target, String), String> {
    let escaped = url.replace(' ', "%20");
    let uri: Uri = escaped.parse().map_err(|_| "the URL is malformed".to_string())?;
    let host = uri.host().unwrap_or_default().to_ascii_lowercase();
    if host.is_empty() {
        return Err("the URL names no host".to_string());
    }
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    if authority.rsplit_once(':').is_some_and(|(before, port)| before.ends_with(&host) && !is_port(port)) {
        return Err("the port is no number".to_string());
    }
    let is_aws = parse_aws(&host).is_some();
    let azure = [".blob.core.windows.net", ".dfs.core.windows.net"];
    let account = azure.iter().find_map(|domain| host.strip_suffix(domain));
    let is_google = host == "storage.googleapis.com";
    // A query may be a signature, which holds only for the URL as it is.
    let protocol = match settings.protocol {
        Some(protocol) => protocol,
        None if uri.query().is_none() && is_aws => Protocol::S3,
        None => Protocol::Http,
    };
    let path = percent_decode(uri.path()).ok_or("the path is not UTF-8")?;
    let path = path.trim_start_matches('/').trim_end_matches('/');
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let of_bucket = |bucket: &str| match bucket {
        "" => Err("the URL names no bucket".to_string()),
        bucket => Ok((bucket.to_string(), rest.to_string())),
    };
    if protocol != Protocol::Http && uri.query().is_some() {
        return Err("a URL of an object in S3 has no query".to_string());
    }
    match protocol {
        Protocol::S3 | Protocol::Gs3 if is_google => {
            let (bucket, key) = of_bucket(first)?;
            Ok((Target::S3(google(&bucket)), key))
        }
        Protocol::S3 | Protocol::Gs3 => {
            let mut target = parse_aws(&host).unwrap_or_else(|| parse_other(&uri));
            let mut key = path.to_string();
            if target.bucket.is_empty() {
                (target.bucket, key) = of_bucket(first)?;
            }
            Ok((Target::S3(target), key))
        }
        Protocol::Http if settings.protocol.is_none() && uri.query().is_none() && is_google => {
            let (bucket, key) = of_bucket(first)?;
            Ok((Target::Gcs { bucket }, key))
        }
        Protocol::Http if settings.protocol.is_none() && uri.query().is_none() && account.is_some() => {
            let (container, key) = of_bucket(first)?;
            Ok((Target::Azure { account: account.map(str::to_string), container }, key))
        }
        Protocol::Http => parse_web(&uri),
    }
}

fn is_port(text: &str) -> bool {
    text.is_empty() || text.parse::<u16>().is_ok()
}

/// Recognizes the hosts of S3 of AWS: `s3.<region>`, `<bucket>.s3.<region>`, both without a region too, and `s3-<region>`.
fn parse_aws(host: &str) -> Option<S3Target> {
    let (names, domain) = [".amazonaws.com", ".amazonaws.com.cn"]
        .iter()
        .find_map(|domain| host.strip_suffix(domain).map(|names| (names, domain)))?;
    let labels: Vec<&str> = names.split('.').collect();
    let at = labels.iter().rposition(|label| *label == "s3" || label.starts_with("s3-"))?;
    let is_website = labels[at].starts_with("s3-website");
    let (bucket, service) = (labels[..at].join("."), &labels[at..]);
    let (region, is_usual) = match service {
        _ if is_website => return None,
        ["s3"] => (None, true),
        ["s3", region] => (Some(region.to_string()), true),
        [legacy] => match legacy.strip_prefix("s3-") {
            Some("accelerate") | None => (None, false),
            Some(region) => (Some(region.to_string()), true),
        },
        [.., region] => (Some(region.to_string()), false),
        [] => return None,
    };
    // Endpoints of another kind (dual stack, FIPS, acceleration) are kept.
    let endpoint = (!is_usual).then(|| format!("https://{}{domain}", service.join(".")));
    let addressing = if bucket.is_empty() { Addressing::Path } else { Addressing::VirtualHost };
    // Certificates of AWS have no dots where the bucket is.
    let addressing = if bucket.contains('.') { Addressing::Path } else { addressing };
    Some(S3Target { bucket, endpoint, region, addressing: Some(addressing), is_google: false })
}

/// Takes a host as an endpoint of S3: `s3.<region>.<domain>`, `<bucket>.s3.<region>.<domain>`, or any other with the bucket in
/// the path.
fn parse_other(uri: &Uri) -> S3Target {
    let scheme = uri.scheme_str().unwrap_or("https");
    let host = uri.host().unwrap_or_default();
    let port = uri.port_u16().map(|port| format!(":{port}")).unwrap_or_default();
    let labels: Vec<&str> = host.split('.').collect();
    let endpoint = |labels: &[&str]| Some(format!("{scheme}://{}{port}", labels.join(".")));
    match labels.as_slice() {
        ["s3", region, _, ..] => S3Target {
            endpoint: endpoint(&labels),
            region: Some(region.to_string()),
            addressing: Some(Addressing::Path),
            ..S3Target::default()
        },
        [bucket, "s3", region, _, ..] => S3Target {
            bucket: bucket.to_string(),
            endpoint: endpoint(&labels[1..]),
            region: Some(region.to_string()),
            addressing: Some(Addressing::VirtualHost),
            is_google: false,
        },
        _ => S3Target {
            endpoint: endpoint(&labels),
            addressing: Some(Addressing::Path),
            ..S3Target::default()
        },
    }
}

/// Splits a URL of a web server at the last slash: the folder is the store.
fn parse_web(uri: &Uri) -> std::result::Result<(Target, String), String> {
    let scheme = uri.scheme_str().unwrap_or("http");
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    let (user, password) = match user.map(|user| user.split_once(':').unwrap_or((user, ""))) {
        Some((user, password)) => (percent_decode(user), percent_decode(password).map(Secret::new)),
        None => (None, None),
    };
    let path = uri.path().trim_end_matches('/');
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", ""));
    let key = percent_decode(name).filter(|key| !key.contains(['/', '\0']));
    // Escapes that no key can have stay as they are.
    let key = key.unwrap_or_else(|| name.to_string());
    let target = WebTarget {
        folder: format!("{scheme}://{host}{folder}/"),
        query: uri.query().map(str::to_string),
        user: user.filter(|user| !user.is_empty()),
        password,
        named: (key.clone(), name.to_string()),
    };
    Ok((Target::Web(target), key))
}

/// Returns a URL without its query and without the user in front of the host.
fn without_secrets(url: &str) -> String {
    let (before, _) = url.split_once('?').unwrap_or((url, ""));
    let Some((scheme, rest)) = before.split_once("://") else { return before.to_string() };
    let (host, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let host =
        if scheme.starts_with("http") { host.rsplit_once('@').map_or(host, |(_, host)| host) } else { host };
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(protocol: Option<Protocol>, url: &str) -> (Target, String) {
        parse(url, &Settings { protocol, ..Settings::default() }).unwrap_or_else(|error| panic!("{error}"))
    }

    fn s3(protocol: Option<Protocol>, url: &str) -> (S3Target, String) {
        match with(protocol, url) {
            (Target::S3(target), key) => (target, key),
            other => panic!("{url}: {other:?}"),
        }
    }

    #[test]
    fn ten_forms_of_s3_are_known() {
        let none = S3Target { bucket: "b".to_string(), ..S3Target::default() };
        let aws = |region: Option<&str>, addressing| S3Target {
            region: region.map(str::to_string),
            addressing: Some(addressing),
            ..none.clone()
        };
        let own = |endpoint: &str, region: Option<&str>, addressing| S3Target {
            endpoint: Some(endpoint.to_string()),
            ..aws(region, addressing)
        };
        use Addressing::{Path, VirtualHost};
        for (protocol, url, target) in [
            (None, "https://b.s3.eu-west-1.amazonaws.com/k/l", aws(Some("eu-west-1"), VirtualHost)),
            (None, "https://b.s3.amazonaws.com/k/l", aws(None, VirtualHost)),
            (None, "https://s3.eu-west-1.amazonaws.com/b/k/l", aws(Some("eu-west-1"), Path)),
            (None, "https://s3.amazonaws.com/b/k/l", aws(None, Path)),
            (None, "s3://b/k/l", none.clone()),
            (Some(Protocol::Gs3), "https://storage.googleapis.com/b/k/l", google("b")),
            (None, "gs3://b/k/l", google("b")),
            (Some(Protocol::S3), "http://localhost:9000/b/k/l", own("http://localhost:9000", None, Path)),
            (
                Some(Protocol::S3),
                "https://b.s3.r1.example.org/k/l",
                own("https://s3.r1.example.org", Some("r1"), VirtualHost),
            ),
            (
                Some(Protocol::S3),
                "https://s3.r1.example.org/b/k/l",
                own("https://s3.r1.example.org", Some("r1"), Path),
            ),
            (None, "https://s3-eu-west-1.amazonaws.com/b/k/l", aws(Some("eu-west-1"), Path)),
            (
                None,
                "https://b.s3.dualstack.us-west-2.amazonaws.com/k/l",
                own("https://s3.dualstack.us-west-2.amazonaws.com", Some("us-west-2"), VirtualHost),
            ),
        ] {
            assert_eq!(s3(protocol, url), (target, "k/l".to_string()), "{url}");
        }
        // The name of the bucket has a dot, which no certificate of AWS has.
        let (dotted, _) = s3(None, "https://a.b.s3.us-east-1.amazonaws.com/k");
        assert_eq!((&*dotted.bucket, dotted.addressing), ("a.b", Some(Path)));
    }

    #[test]
    fn clouds_are_known_by_scheme_and_host() {
        let azure = |account: Option<&str>| Target::Azure {
            account: account.map(str::to_string),
            container: "c".to_string(),
        };
        for (url, target) in [
            ("gs://b/k%20l", Target::Gcs { bucket: "b".to_string() }),
            ("https://storage.googleapis.com/b/k%2520l", Target::Gcs { bucket: "b".to_string() }),
            ("az://c/k%20l", azure(None)),
            ("abfss://c@acc.dfs.core.windows.net/k%20l", azure(Some("acc"))),
            ("https://acc.blob.core.windows.net/c/k%2520l", azure(Some("acc"))),
        ] {
            assert_eq!(with(None, url), (target, "k%20l".to_string()), "{url}");
        }
    }

    #[test]
    fn signed_urls_and_other_hosts_are_plain_http() {
        let web = |protocol, url: &str| match with(protocol, url) {
            (Target::Web(target), key) => (target, key),
            other => panic!("{other:?}"),
        };
        let (target, key) = web(None, "https://b.s3.amazonaws.com/k/l?X-Amz-Signature=hush");
        assert_eq!((&*target.folder, &*key), ("https://b.s3.amazonaws.com/k/", "l"));
        assert_eq!(target.query.as_deref(), Some("X-Amz-Signature=hush"));
        assert!(!format!("{target:?}").contains("hush"));
        let (target, key) = web(None, "http://me:hu%3Ash@h:81/a%2Fb/c d%2F.nc");
        assert_eq!((&*target.folder, &*key), ("http://h:81/a%2Fb/", "c%20d%2F.nc"));
        assert_eq!(target.user.as_deref(), Some("me"));
        assert_eq!(target.password.as_ref().map(Secret::expose), Some("hu:sh"));
        let (target, key) = web(None, "http://h//x/c%20d.zarr/");
        assert_eq!((&*target.folder, &*key, &*target.named.1), ("http://h//x/", "c d.zarr", "c%20d.zarr"));
        assert_eq!(web(None, "http://h").1, "");
        assert_eq!(web(Some(Protocol::Http), "https://s3.amazonaws.com/b/k").1, "k");
    }

    #[test]
    fn other_urls_are_errors_without_secrets() {
        for url in ["ftp://h/k", "s3://", "s3:///k", "k", "http://me:hush@/k?hush", "http://h:x/?hush"] {
            let error = parse(url, &Settings::default()).unwrap_err();
            assert_eq!(error.code, Code::EDAPURL, "{url}");
            assert!(!error.what.contains("hush"), "{error}");
        }
    }
}
