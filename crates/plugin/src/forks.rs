//! `fork` while other threads use plugins: the process-wide locks of this crate, for the library that handles forks.

use std::sync::MutexGuard;

use crate::{catalog, h5, path};

/// Guards of all process-wide locks of this crate. No code takes one of these locks while it holds another.
pub struct Locks {
    _catalog: MutexGuard<'static, catalog::State>,
    _search: MutexGuard<'static, path::Search>,
    _handles: MutexGuard<'static, h5::Table>,
}

/// Takes all process-wide locks of this crate. The lock of a single plugin is not among them.
pub fn lock_all() -> Locks {
    Locks { _catalog: catalog::state(), _search: path::search(), _handles: h5::table() }
}
