//! Values that are read when they are first needed.

use std::sync::OnceLock;

use ferrocdf_bytes::Result;

/// A value that is made once. A failure is not kept: a task that reads in rounds fails until its bytes are fetched.
#[derive(Debug)]
pub struct Lazy<T>(OnceLock<T>);

impl<T> Default for Lazy<T> {
    fn default() -> Self {
        Lazy(OnceLock::new())
    }
}

impl<T> Lazy<T> {
    /// Returns the value, which `make` makes if there is none yet. Two threads may both make it; one of the results is kept.
    pub fn get(&self, make: impl FnOnce() -> Result<T>) -> Result<&T> {
        match self.0.get() {
            Some(value) => Ok(value),
            None => {
                let made = make()?;
                Ok(self.0.get_or_init(|| made))
            }
        }
    }
}
