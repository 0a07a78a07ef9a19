//! Bytes that somebody else writes meanwhile.
//!
//! A commit is one instant for whoever opens a file after it. Who is half-way through opening, or reads what an earlier
//! commit said, may find it moved, the file cut behind it, or other things in its place. So what is read while a file changes
//! is looked at again, and what fails then is tried again, for as long as somebody's [`Patience`] lasts.

use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use ferrocdf_bytes::{Error, Result};

use crate::Blob;

/// How long something is tried, with pauses.
const LASTS: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(1);

/// The clock of a file system goes in steps: a change may have others within this time behind it that look the same.
const STEP: Duration = Duration::from_millis(20);

/// The clock of a file server may be ahead of ours: a change that is to come within this time may be one just now. One that is
/// further ahead was given to the file by somebody, and tells nothing.
const AHEAD: Duration = Duration::from_secs(3600);

/// A look at when a blob was changed last, and at its size.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    at: SystemTime,
    size: u64,
    /// Whether it was over for so long when it was looked at that any later one looks different.
    is_over: bool,
}

impl Change {
    /// A look, now, at a change of that time, as the file system says it, and at the size in bytes then.
    pub fn seen(at: SystemTime, size: u64) -> Change {
        let is_over = match SystemTime::now().duration_since(at) {
            Ok(age) => age >= STEP,
            Err(ahead) => ahead.duration() > AHEAD,
        };
        Change { at, size, is_over }
    }

    /// Whether any later change looks different.
    pub fn is_over(&self) -> bool {
        self.is_over
    }
}

/// Whether a blob may have been changed after `seen`. False where nobody else can change it, or nobody can tell.
pub fn is_changed(seen: Option<Change>, blob: &(impl Blob + ?Sized)) -> bool {
    seen.is_some_and(|seen| !seen.is_over) || is_seen_changed(seen, blob)
}

/// Whether a blob was seen to change after `seen`.
fn is_seen_changed(seen: Option<Change>, blob: &(impl Blob + ?Sized)) -> bool {
    let Some((seen, now)) = seen.zip(blob.last_change()) else { return false };
    (seen.at, seen.size) != (now.at, now.size)
}

/// How long somebody goes on trying.
#[derive(Debug, Default)]
pub struct Patience {
    begin: Option<Instant>,
}

impl Patience {
    /// Whether to try once more, after a pause if the last try `failed`.
    pub fn lasts(&mut self, failed: bool) -> bool {
        let lasts = self.begin.get_or_insert_with(Instant::now).elapsed() < LASTS;
        if lasts && failed {
            sleep(PAUSE);
        }
        lasts
    }
}

/// Tries until it goes well, or `goes_on` says no, or for too long.
pub fn patiently<T>(
    mut attempt: impl FnMut() -> Result<T>,
    mut goes_on: impl FnMut(&Error) -> bool,
) -> Result<T> {
    let mut patience = Patience::default();
    loop {
        match attempt() {
            Err(error) if goes_on(&error) && patience.lasts(true) => {}
            done => return done,
        }
    }
}

/// How often something is looked at that changes meanwhile.
const LOOKS: usize = 10;

/// Looks at a blob, with nothing read ahead, and again while that fails or the blob changes; gives the last change before.
/// After some looks it is as it is.
pub fn steadily<T>(
    blob: &(impl Blob + ?Sized),
    mut look: impl FnMut() -> Result<T>,
) -> Result<(T, Option<Change>)> {
    let mut patience = Patience::default();
    let mut looks = 0;
    loop {
        blob.forget();
        let seen = blob.last_change();
        looks += 1;
        match look() {
            Err(_) if is_changed(seen, blob) && patience.lasts(true) => {}
            Ok(_) if is_seen_changed(seen, blob) && looks < LOOKS && patience.lasts(false) => {}
            done => return done.map(|found| (found, seen)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use ferrocdf_bytes::Code;

    use super::*;
    use crate::Cost;

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

        fn cost(&self) -> Cost {
            Cost::MEMORY
        }

        fn last_change(&self) -> Option<Change> {
            let size = self.changes.fetch_add(1, Relaxed).min(self.last);
            Some(Change::seen(SystemTime::UNIX_EPOCH, size))
        }
    }

    #[test]
    fn what_changes_while_it_is_looked_at_is_looked_at_again() {
        for (last, wanted) in [(0, 1), (1, 2), (5, 4), (1000, LOOKS)] {
            let blob = Busy { changes: AtomicU64::new(0), last };
            let mut looks = 0;
            let look = || {
                looks += 1;
                Ok(())
            };
            assert!(steadily(&blob, look).is_ok());
            assert_eq!(looks, wanted, "{last}");
        }
        // What fails is not looked at again because it is seen to change, but because it may have.
        let blob = Busy { changes: AtomicU64::new(0), last: 3 };
        let mut looks = 0;
        let look = || {
            looks += 1;
            Err::<(), _>(Error::new(Code::EHDFERR, "half"))
        };
        assert!(steadily(&blob, look).is_err());
        assert_eq!(looks, 3);
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
        assert!(begin.elapsed() >= LASTS);
        let old = Change::seen(SystemTime::UNIX_EPOCH, 1);
        assert!(!is_changed(None, &Busy { changes: AtomicU64::new(1), last: 9 }));
        assert!(!is_changed(Some(old), &Busy { changes: AtomicU64::new(1), last: 1 }));
        assert!(is_changed(Some(old), &Busy { changes: AtomicU64::new(2), last: 9 }));
    }

    #[test]
    fn a_change_just_now_may_have_had_another_one_behind_it() {
        let same = || Busy { changes: AtomicU64::new(1), last: 1 };
        let seen =
            |age| Some(Change { at: SystemTime::UNIX_EPOCH, ..Change::seen(SystemTime::now() - age, 1) });
        assert!(is_changed(seen(Duration::ZERO), &same()));
        assert!(!is_changed(seen(STEP), &same()));
    }

    #[test]
    fn a_change_that_is_soon_to_come_may_be_just_now() {
        let is_over = |ahead| Change::seen(SystemTime::now() + ahead, 1).is_over;
        assert!(!is_over(Duration::from_secs(1)));
        assert!(!is_over(AHEAD));
        assert!(is_over(AHEAD + Duration::from_secs(60)));
    }
}
