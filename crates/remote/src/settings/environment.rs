//! The variables of the process, or those of a test.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// The environment variables that settings come from.
#[derive(Clone, Default)]
pub enum Environment {
    /// Those of the process.
    #[default]
    Process,
    /// A fixed set.
    Fixed(Arc<BTreeMap<String, String>>),
}

impl Environment {
    /// Makes an environment of these variables and no others.
    pub fn of<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Environment {
        let owned = variables.into_iter().map(|(name, value)| (name.to_string(), value.to_string()));
        Environment::Fixed(Arc::new(owned.collect()))
    }

    /// Returns the value of a variable; `None` if it is not set or empty.
    pub fn get(&self, name: &str) -> Option<String> {
        let value = match self {
            Environment::Process => std::env::var(name).ok()?,
            Environment::Fixed(variables) => variables.get(name)?.clone(),
        };
        Some(value).filter(|value| !value.is_empty())
    }

    /// Returns the value of the first variable that is set.
    pub fn first(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.get(name))
    }

    /// Returns all variables whose names start with a prefix.
    pub(crate) fn with_prefix(&self, prefix: &str) -> Variables {
        let has_prefix = |(name, _): &(String, String)| name.starts_with(prefix);
        Variables(match self {
            Environment::Process => {
                let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
                    Some((name.into_string().ok()?, value.into_string().ok()?))
                };
                std::env::vars_os().filter_map(text).filter(has_prefix).collect()
            }
            Environment::Fixed(variables) => {
                let owned = variables.iter().map(|(name, value)| (name.clone(), value.clone()));
                owned.filter(has_prefix).collect()
            }
        })
    }

    /// Returns a path in the home folder.
    pub(crate) fn in_home(&self, path: &str) -> Option<PathBuf> {
        self.get("HOME").map(|home| PathBuf::from(home).join(path))
    }
}

/// Names and values of some variables. Shows no values, since some are secrets.
pub(crate) struct Variables(pub(crate) Vec<(String, String)>);

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

impl fmt::Debug for Environment {
    /// Shows no values, since some are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Environment::Process => f.write_str("Process"),
            Environment::Fixed(variables) => f.debug_set().entries(variables.keys()).finish(),
        }
    }
}
