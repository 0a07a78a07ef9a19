//! Redirects (RFC 9110, section 15.4).

use ureq::http::{Method, Request, Uri};

use super::Incoming;
use super::fault::Fault;

/// Number of requests that a chain of redirects may take.
pub(super) const LIMIT: usize = 10;

/// True for the statuses that name another URL.
pub(super) fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// Returns the request that a redirect asks for. Credentials stay with the host that they were meant for.
pub(super) fn follow(head: &Request<()>, mut incoming: Incoming) -> Result<Request<()>, Fault> {
    let Some(location) = incoming.header("location").map(str::to_string) else {
        return Err(Fault::status(&mut incoming));
    };
    if head.method() != Method::GET && !matches!(incoming.status, 307 | 308) {
        return Err(Fault::answer(format!("{} redirects a {}", incoming.status, head.method())));
    }
    let target = resolve(head.uri(), &location)
        .ok_or_else(|| Fault::answer(format!("{} to a URL that is malformed", incoming.status)))?;
    let origin = |uri: &Uri| {
        let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
        (uri.scheme_str().map(str::to_string), uri.host().map(str::to_ascii_lowercase), port)
    };
    let mut next = head.clone();
    if origin(head.uri()) != origin(&target) {
        for name in ["authorization", "cookie", "proxy-authorization"] {
            next.headers_mut().remove(name);
        }
    }
    next.headers_mut().remove("host");
    *next.uri_mut() = target;
    // The connection can be used again if nothing is left in it.
    incoming.read_prefix(64 << 10);
    Ok(next)
}

/// Resolves a reference against the URL that it came from (RFC 3986, section 5.2).
fn resolve(base: &Uri, location: &str) -> Option<Uri> {
    let location = location.split_once('#').map_or(location, |(before, _)| before);
    let (scheme, authority) = (base.scheme_str()?, base.authority()?);
    let path = base.path();
    let text = match location {
        text if text.starts_with("http://") || text.starts_with("https://") => text.to_string(),
        text if text.starts_with("//") => format!("{scheme}:{text}"),
        text if text.starts_with('/') => format!("{scheme}://{authority}{}", without_dots(text)),
        text if text.starts_with('?') => format!("{scheme}://{authority}{path}{text}"),
        text if text.contains("://") => return None,
        text => {
            let folder = &path[..path.rfind('/').map_or(0, |slash| slash + 1)];
            format!("{scheme}://{authority}{}", without_dots(&format!("{folder}{text}")))
        }
    };
    text.parse().ok().filter(|uri: &Uri| uri.host().is_some())
}

/// Removes the names `.` and `..` from a path.
fn without_dots(path: &str) -> String {
    let (path, query) = path.find('?').map_or((path, ""), |at| path.split_at(at));
    let mut names: Vec<&str> = Vec::new();
    let mut parts = path.trim_start_matches('/').split('/').peekable();
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        match part {
            ".." => drop(names.pop()),
            "." => {}
            name => names.push(name),
        }
        if is_last && matches!(part, "." | "..") {
            names.push("");
        }
    }
    format!("/{}{query}", names.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_resolved() {
        let base: Uri = "https://host:81/a/b/c?q".parse().unwrap();
        for (location, target) in [
            ("http://other/x?y#z", "http://other/x?y"),
            ("//other/x", "https://other/x"),
            ("/x/../y?z=/../", "https://host:81/y?z=/../"),
            ("d", "https://host:81/a/b/d"),
            ("../d", "https://host:81/a/d"),
            ("../../../d/.", "https://host:81/d/"),
            ("?r", "https://host:81/a/b/c?r"),
        ] {
            assert_eq!(resolve(&base, location).unwrap().to_string(), target, "{location}");
        }
        assert!(resolve(&base, "file:///etc/passwd").is_none());
        assert!(resolve(&base, "http://").is_none());
    }
}
