//! The folders that plugins are looked for in, which are those of the process: one test at a time has its own.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrocdf::plugins::path;

static TURN: Mutex<()> = Mutex::new(());

/// Looks in this folder alone, until what is given is dropped.
pub fn only(folder: &Path) -> MutexGuard<'static, ()> {
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    path::set(vec![folder.to_path_buf()]);
    turn
}
