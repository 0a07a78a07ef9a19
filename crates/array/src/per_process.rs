//! Values that a child made by `fork` does not share with its parent.
//!
//! The child has none of its parent's threads, and one of them may have had a lock when the child was made. So process-wide state
//! belongs to the process that made it; a child works without the state that it inherits.

use std::sync::OnceLock;

/// A value of the process that made it.
pub(crate) struct PerProcess<T>(OnceLock<(u32, T)>);

impl<T> PerProcess<T> {
    pub(crate) const fn new() -> Self {
        PerProcess(OnceLock::new())
    }

    /// Returns the value, made by `make` on the first call; `None` in a process that inherited it.
    pub(crate) fn get_or_init(&self, make: impl FnOnce() -> T) -> Option<&T> {
        let process = std::process::id();
        let (owner, value) = self.0.get_or_init(|| (process, make()));
        (*owner == process).then_some(value)
    }
}
