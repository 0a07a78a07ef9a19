//! Points at which tests let requests to the system fail: of the commit of a zip file, and to flush a directory.

use std::io;

/// Passes a point.
///
/// # Errors
/// `EIO` if a test chose this point.
#[cfg(not(test))]
#[inline]
#[expect(clippy::unnecessary_wraps, reason = "it fails in tests")]
pub(super) const fn step() -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
pub(super) use for_tests::{fail_at, step};

#[cfg(test)]
mod for_tests {
    use std::cell::Cell;

    use super::io;

    thread_local! {
        /// Number of points that are passed before one fails; below 0 if none will.
        static LEFT: Cell<i64> = const { Cell::new(-1) };
    }

    pub(in super::super) fn step() -> io::Result<()> {
        let left = LEFT.get();
        LEFT.set((left - 1).max(-1));
        if left == 0 { Err(rustix::io::Errno::IO.into()) } else { Ok(()) }
    }

    /// Lets the point behind the next `left` ones fail, once. Returns whether the one of the call before was not reached.
    pub(in super::super) fn fail_at(left: Option<i64>) -> bool {
        LEFT.replace(left.unwrap_or(-1)) >= 0
    }
}
