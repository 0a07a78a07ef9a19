//! The folders that plugins are looked for in, which are those of the process: one test at a time has its own.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrocdf::plugins::{path, prefer};

static TURN: Mutex<()> = Mutex::new(());

/// A test's turn; with its end built-in filters go first again.
pub struct Turn {
    _held: MutexGuard<'static, ()>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        prefer(false);
    }
}

/// Looks in this folder alone, until what is given is dropped.
pub fn only(folder: &Path) -> Turn {
    let turn = Turn { _held: TURN.lock().unwrap_or_else(PoisonError::into_inner) };
    path::set(vec![folder.to_path_buf()]);
    turn
}
