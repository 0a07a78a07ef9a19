//! Settings as keys and values: those of the files `.ncrc`, `.daprc` and `.dodsrc`, and those that programs set.
//!
//! The files are read when a setting is first asked for or set: the one that `NCRCENV_RC` names, else those in the home
//! folder (`NCRCENV_HOME`, else `HOME`), then those in the current one, later ones over earlier ones. A line is `KEY=value`, or
//! `[http://host:port/path]KEY=value` for URLs of that host, port and path only. With `NCRCENV_IGNORE` nothing is read and nothing is
//! kept. The files, their order and their lines are those of netCDF-C 4.10.1.

use std::env::{current_dir, var_os};
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

static SETTINGS: LazyLock<Option<Mutex<Settings>>> = LazyLock::new(|| {
    var_os("NCRCENV_IGNORE").is_none().then(|| {
        let mut settings = Settings::default();
        files().into_iter().filter_map(|file| std::fs::read(file).ok()).for_each(|file| settings.add(&file));
        Mutex::new(settings)
    })
});

/// A lock on the settings of the process.
pub struct Held(MutexGuard<'static, Settings>);

/// Holds the settings of the process, for a library that must find the lock free in the child of a `fork`; `None` if settings are
/// ignored.
pub fn lock() -> Option<Held> {
    // No panic leaves a change half made.
    SETTINGS.as_ref().map(|settings| Held(settings.lock().unwrap_or_else(PoisonError::into_inner)))
}

/// Returns the value of a key that holds for all URLs.
pub fn get(key: &[u8]) -> Option<Vec<u8>> {
    lock()?.0.get(key).map(<[u8]>::to_vec)
}

/// Gives a key a value for all URLs, as long as the process lives.
pub fn set(key: &[u8], value: &[u8]) {
    if let Some(mut settings) = lock() {
        settings.0.set(Setting { scope: None, key: key.to_vec(), value: value.to_vec() });
    }
}

/// Returns the keys and values that hold for a URL without fragment, later ones over earlier ones.
#[cfg(feature = "remote")]
pub(crate) fn for_url(url: &str) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let pair = |setting: &Setting| (text(&setting.key), text(&setting.value));
    lock().map_or(Vec::new(), |settings| settings.0.for_url(url).into_iter().map(pair).collect())
}

/// Returns the files in which settings are looked for.
fn files() -> Vec<PathBuf> {
    let given = |name| var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(file) = given("NCRCENV_RC") {
        return vec![file];
    }
    let home = given("NCRCENV_HOME").or_else(|| given("HOME"));
    let folders = home.into_iter().chain(current_dir());
    folders.flat_map(|folder| [".ncrc", ".daprc", ".dodsrc"].map(|name| folder.join(name))).collect()
}

/// The URLs that a setting is for.
#[derive(Debug, PartialEq, Eq)]
struct Scope {
    /// Host and port, in lower case.
    host: String,
    /// Path without a slash at its end.
    path: String,
}

impl Scope {
    /// Returns the scope of the URL of a host, or of a folder or an object there.
    fn of(url: &str) -> Scope {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        Scope { host: host.to_ascii_lowercase(), path: path.trim_end_matches('/').to_string() }
    }

    /// True if a URL with this scope lies in another one.
    #[cfg(any(test, feature = "remote"))]
    fn is_in(&self, outer: &Scope) -> bool {
        let below = |rest: &str| outer.path.is_empty() || rest.is_empty() || rest.starts_with('/');
        self.host == outer.host && self.path.strip_prefix(&outer.path).is_some_and(below)
    }
}

/// A line of a file of settings.
#[derive(Debug, PartialEq, Eq)]
struct Setting {
    /// `None` for all URLs.
    scope: Option<Scope>,
    key: Vec<u8>,
    value: Vec<u8>,
}

/// Settings, at most one for each key and scope.
#[derive(Debug, Default)]
struct Settings(Vec<Setting>);

impl Settings {
    /// Adds the lines of a file.
    fn add(&mut self, file: &[u8]) {
        file.split(|byte| *byte == b'\n').filter_map(parse).for_each(|setting| self.set(setting));
    }

    fn set(&mut self, setting: Setting) {
        let of_same = |other: &Setting| other.key == setting.key && other.scope == setting.scope;
        self.0.retain(|other| !of_same(other));
        self.0.push(setting);
    }

    fn get(&self, key: &[u8]) -> Option<&[u8]> {
        let found = self.0.iter().find(|setting| setting.scope.is_none() && setting.key == key);
        found.map(|setting| &*setting.value)
    }

    /// Returns the settings for a URL: those for all, then those for its host, with longer paths after shorter ones.
    #[cfg(any(test, feature = "remote"))]
    fn for_url(&self, url: &str) -> Vec<&Setting> {
        let wanted = Scope::of(url);
        let is_meant = |setting: &&Setting| setting.scope.as_ref().is_none_or(|scope| wanted.is_in(scope));
        let mut found: Vec<&Setting> = self.0.iter().filter(is_meant).collect();
        found.sort_by_key(|setting| setting.scope.as_ref().map(|scope| scope.path.len()));
        found
    }
}

/// Returns the setting in a line; `None` if it is empty, a comment, or has a bracket that does not end.
fn parse(line: &[u8]) -> Option<Setting> {
    let line = line.trim_ascii();
    if line.is_empty() || line.starts_with(b"#") {
        return None;
    }
    let (scope, line) = match line.strip_prefix(b"[") {
        Some(rest) => {
            let end = rest.iter().position(|&byte| byte == b']')?;
            (Some(Scope::of(String::from_utf8_lossy(&rest[..end]).trim())), &rest[end + 1..])
        }
        None => (None, line),
    };
    let mut parts = line.splitn(2, |byte| *byte == b'=');
    let mut part = || parts.next().unwrap_or_default().trim_ascii().to_vec();
    Some(Setting { scope, key: part(), value: part() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(file: &str) -> Settings {
        let mut settings = Settings::default();
        settings.add(file.as_bytes());
        settings
    }

    #[test]
    fn lines_of_a_file() {
        let settings =
            settings("# a comment\n  HTTP.TIMEOUT = 10 \r\n[http://host]A=1\n[x\n\nFLAG\nB=x=y\nB= z");
        let value = |key: &str| settings.get(key.as_bytes());
        assert_eq!(value("HTTP.TIMEOUT"), Some(&b"10"[..]));
        assert_eq!(
            (value("B"), value("FLAG"), value("A"), value("[x")),
            (Some(&b"z"[..]), Some(&b""[..]), None, None)
        );
        assert_eq!(settings.0.len(), 4);
    }

    #[test]
    fn settings_of_a_url_are_those_of_its_host_and_path() {
        let settings = settings(
            "[http://host:80/a/b/]K=deep\n[https://me@Host:80/a]K=folder\n[host:80]K=host\nK=all\n[http://host]K=other",
        );
        for (url, expected) in [
            ("http://host:80/a/b/c.nc", &["all", "host", "folder", "deep"][..]),
            ("http://HOST:80/a/bc.nc", &["all", "host", "folder"]),
            ("http://u:p@host:80/a?q=/b", &["all", "host", "folder"]),
            ("http://host:80/c.nc", &["all", "host"]),
            ("http://host/a/b/c.nc", &["all", "other"]),
            ("s3://bucket/a/b", &["all"]),
        ] {
            let found: Vec<_> = settings.for_url(url).iter().map(|setting| &*setting.value).collect();
            assert_eq!(found, expected.iter().map(|value| value.as_bytes()).collect::<Vec<_>>(), "{url}");
        }
    }
}
