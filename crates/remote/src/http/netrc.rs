//! Users and passwords by host, as the file `.netrc` has them.
//!
//! The syntax is that of `ftp(1)` and curl: words that are separated by white space, `machine NAME`, `default`, `login`, `password`,
//! `account`, and macros (`macdef`) up to an empty line. A word in double quotes may have white space, and escapes with a backslash.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::OnceLock;

use base64::prelude::{BASE64_STANDARD, Engine};
use ureq::http::HeaderValue;

use crate::settings::Secret;

/// The entries of a file, which is read at the first request.
#[derive(Clone, Debug)]
pub(crate) struct Netrc {
    path: PathBuf,
    /// True if a file that does not exist is an error.
    must_exist: bool,
    entries: OnceLock<Result<Vec<Entry>, String>>,
}

/// User and password for a host; `host` is `None` for all hosts that no entry before names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entry {
    host: Option<String>,
    user: String,
    password: Option<Secret>,
}

impl Netrc {
    pub(crate) fn new(path: PathBuf, must_exist: bool) -> Netrc {
        Netrc { path, must_exist, entries: OnceLock::new() }
    }

    /// Returns the header `Authorization` for a host; `None` if the file has no entry for it. The entry `default` counts if `takes_default` is
    /// true: no host that a server redirects to gets it.
    ///
    /// # Errors
    /// The reason in words, if the file cannot be read or the entry cannot be a header.
    pub(crate) fn authorization(
        &self,
        host: &str,
        takes_default: bool,
    ) -> Result<Option<HeaderValue>, String> {
        let entries = self.entries.get_or_init(|| match fs::read_to_string(&self.path) {
            Ok(text) => Ok(parse(&text)),
            Err(error) if error.kind() == ErrorKind::NotFound && !self.must_exist => Ok(vec![]),
            Err(error) => Err(format!("{}: {error}", self.path.display())),
        });
        let entries = entries.as_ref().map_err(String::clone)?;
        let is_for_host = |entry: &&Entry| match &entry.host {
            Some(named) => named.eq_ignore_ascii_case(host),
            None => takes_default,
        };
        let Some(Entry { user, password, .. }) = entries.iter().find(is_for_host) else { return Ok(None) };
        basic(user, password.as_ref()).map(Some)
    }
}

/// Returns the header of basic authentication (RFC 7617).
///
/// # Errors
/// The reason in words, if the texts cannot stand in a header.
pub(crate) fn basic(user: &str, password: Option<&Secret>) -> Result<HeaderValue, String> {
    if user.contains(':') || user.contains(char::is_control) {
        return Err("the user name has a colon or control characters".to_string());
    }
    let pair = format!("{user}:{}", password.map_or("", Secret::expose));
    let value = HeaderValue::try_from(format!("Basic {}", BASE64_STANDARD.encode(pair)));
    let mut value = value.map_err(|error| error.to_string())?;
    value.set_sensitive(true);
    Ok(value)
}

fn parse(text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = vec![];
    let mut rest = text;
    while let Some(word) = next_word(&mut rest) {
        match &*word {
            "machine" => match next_word(&mut rest) {
                Some(host) => entries.push(Entry { host: Some(host), ..Entry::default() }),
                None => break,
            },
            "default" => entries.push(Entry::default()),
            "macdef" => rest = behind_macro(rest),
            "account" => drop(next_word(&mut rest)),
            "login" | "password" => {
                let (Some(value), Some(entry)) = (next_word(&mut rest), entries.last_mut()) else { continue };
                match &*word {
                    "login" => entry.user = value,
                    _ => entry.password = Some(Secret::new(value)),
                }
            }
            comment if comment.starts_with('#') => rest = rest.find('\n').map_or("", |end| &rest[end..]),
            _ => {}
        }
    }
    entries
}

/// Returns what follows a macro: the text behind the first empty line.
fn behind_macro(text: &str) -> &str {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        end += line.len();
        if line.trim().is_empty() {
            break;
        }
    }
    &text[end..]
}

/// Takes the next word from a text.
fn next_word(rest: &mut &str) -> Option<String> {
    let text = rest.trim_start();
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        *rest = &text[end..];
        return Some(text[..end].to_string()).filter(|word| !word.is_empty());
    };
    let mut word = String::new();
    let mut signs = quoted.char_indices();
    while let Some((at, sign)) = signs.next() {
        match sign {
            '"' => {
                *rest = &quoted[at + 1..];
                return Some(word);
            }
            '\\' => word.extend(signs.next().map(|(_, escaped)| escaped)),
            sign => word.push(sign),
        }
    }
    *rest = "";
    Some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# machine a login wrong password wrong
machine a login me password \"p w\\\"d\"
machine B
  login you account x
  password pass#word
macdef init
machine c login no

machine c login c
default login anonymous password mail
";

    #[test]
    fn entries_are_found_by_host() {
        let entries = parse(TEXT);
        let found: Vec<_> = entries
            .iter()
            .map(|entry| (entry.host.as_deref(), &*entry.user, entry.password.as_ref().map(Secret::expose)))
            .collect();
        let expected = [
            (Some("a"), "me", Some("p w\"d")),
            (Some("B"), "you", Some("pass#word")),
            (Some("c"), "c", None),
            (None, "anonymous", Some("mail")),
        ];
        assert_eq!(found, expected);
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), TEXT).unwrap();
        let netrc = Netrc::new(file.path().into(), true);
        let header = |host| netrc.authorization(host, true).unwrap().unwrap();
        assert_eq!(header("b"), basic("you", Some(&Secret::new("pass#word"))).unwrap());
        assert_eq!(header("other"), basic("anonymous", Some(&Secret::new("mail"))).unwrap());
        assert_eq!(netrc.authorization("other", false), Ok(None));
        assert!(!format!("{netrc:?} {:?}", header("b")).contains("pass#word"));
        assert_eq!(parse(&TEXT.replace('\n', "\r\n")), entries);
        assert_eq!(parse("machine"), []);
    }

    #[test]
    fn missing_file_and_names_that_are_no_names_are_errors() {
        let missing = |must_exist| Netrc::new("/no/such/netrc".into(), must_exist).authorization("a", true);
        assert!(missing(true).unwrap_err().starts_with("/no/such/netrc: "));
        assert_eq!(missing(false), Ok(None));
        assert!(basic("a:b", None).is_err() && basic("a\nb", None).is_err());
    }
}
