//! Settings of the whole process.

use ferrocdf_array::InUse;
use ferrocdf_bytes::{Code, Error, Result};

use crate::{array, plugins};

/// Settings of the process, in place of environment variables. What is `None` stays as it is.
///
/// ```
/// # fn main() -> ferrocdf::Result<()> {
/// use ferrocdf::{Config, FilterChoice};
///
/// let config = Config { threads: Some(4), cache: Some(64 << 20), filters: Some(FilterChoice::BuiltIn) };
/// config.apply()
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Number of threads for large requests, with that of the caller; 1 makes no threads. `FERROCDF_THREADS`, else the number of cores.
    pub threads: Option<usize>,
    /// Bytes that decoded chunks of all open files may take. `FERROCDF_CACHE`, else 256 MiB.
    pub cache: Option<usize>,
    /// The filter that is used where a built-in one and a plugin have one number. `FERROCDF_FILTERS`, else the built-in one. It counts
    /// for files that are opened from now on.
    pub filters: Option<FilterChoice>,
}

/// The filter that is used where a built-in one and a plugin have one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterChoice {
    /// The built-in filter.
    BuiltIn,
    /// The plugin.
    Plugins,
}

impl Config {
    /// Applies the settings to this process, all or none. Threads and cache are set once, before data is first read or written.
    ///
    /// # Errors
    /// `NC_EINVAL` for another number of threads or another size of the cache than those in use.
    pub fn apply(self) -> Result<()> {
        array::configure(self.threads, self.cache).map_err(|setting| {
            let (what, used) = match setting {
                InUse::Threads(count) => ("number of threads", count),
                InUse::Cache(bytes) => ("size of the cache", bytes),
            };
            let what = format!(
                "the {what} cannot change any more: {used} is in use; apply settings before the first read or write"
            );
            Error::new(Code::EINVAL, what)
        })?;
        if let Some(filters) = self.filters {
            plugins::prefer(filters == FilterChoice::Plugins);
        }
        Ok(())
    }
}
