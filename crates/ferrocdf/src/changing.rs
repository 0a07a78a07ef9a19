//! Reading a file that somebody writes meanwhile.
//!
//! A commit is one instant for whoever opens the file after it. Who is half-way through opening, or reads what an earlier
//! commit said, may find it moved and the file cut behind it. So what fails while a file changes is tried again, with what
//! the file says then.

use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::{Blob, Change};

/// How long something is tried, with pauses.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(1);

/// The clock of a file system goes in steps: a change less than this ago may have had others behind it that it does not
/// tell apart.
const STEP: Duration = Duration::from_millis(20);

/// Whether a blob was changed after `seen`, as far as that can be told.
pub(crate) fn is_changed(seen: Option<Change>, blob: &dyn Blob) -> bool {
    let Some((seen, now)) = seen.zip(blob.last_change()) else { return false };
    let is_new = |age: Duration| age < STEP;
    now != seen || SystemTime::now().duration_since(now.at).is_ok_and(is_new)
}

/// Whether reading may fail so because of what somebody else wrote.
pub(crate) fn may_pass(error: &Error) -> bool {
    matches!(error.code, Code::EHDFERR | Code::ETRUNC | Code::EFILTER | Code::EVARSIZE | Code::EINTERNAL)
}

/// Tries until it goes well, or `goes_on` says no, or for too long.
pub(crate) fn patiently<T>(
    mut attempt: impl FnMut() -> Result<T>,
    mut goes_on: impl FnMut(&Error) -> bool,
) -> Result<T> {
    let begin = Instant::now();
    loop {
        match attempt() {
            Err(error) if begin.elapsed() < PATIENCE && goes_on(&error) => sleep(PAUSE),
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use super::*;

    /// A blob that is changed each time that it is asked, up to a number of times.
    struct Busy {
        changes: AtomicU64,
        last: u64,
    }

    impl Blob for Busy {
        fn size(&self) -> Result<u64> {
            Ok(0)
        }

        fn read_at(&self, _at: u64, _into: &mut [u8]) -> Result<usize> {
            Ok(0)
        }

        fn name(&self) -> String {
            "busy".to_string()
        }

        fn last_change(&self) -> Option<Change> {
            let size = self.changes.fetch_add(1, Relaxed).min(self.last);
            Some(Change { at: SystemTime::UNIX_EPOCH, size })
        }
    }

    #[test]
    fn what_fails_is_tried_again_as_long_as_somebody_writes() {
        let blob = Busy { changes: AtomicU64::new(0), last: 5 };
        let (mut seen, mut tries) = (blob.last_change(), 0);
        let attempt = || {
            tries += 1;
            Err::<(), _>(Error::new(Code::EHDFERR, "half"))
        };
        let done = patiently(attempt, |_| {
            let is_changed = is_changed(seen, &blob);
            seen = blob.last_change();
            is_changed
        });
        assert_eq!(done.unwrap_err().code, Code::EHDFERR);
        assert_eq!(tries, 4);
    }

    #[test]
    fn nobody_waits_for_ever_nor_for_what_nobody_changes() {
        let begin = Instant::now();
        let failed = || Err::<(), _>(Error::new(Code::EHDFERR, "half"));
        assert!(patiently(failed, |_| true).is_err());
        assert!(begin.elapsed() >= PATIENCE);
        let old = Change { at: SystemTime::UNIX_EPOCH, size: 1 };
        assert!(!is_changed(None, &Busy { changes: AtomicU64::new(1), last: 9 }));
        assert!(!is_changed(Some(old), &Busy { changes: AtomicU64::new(1), last: 1 }));
        assert!(is_changed(Some(old), &Busy { changes: AtomicU64::new(2), last: 9 }));
    }
}
