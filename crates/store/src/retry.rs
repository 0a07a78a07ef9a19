//! Optimistic reads of bytes that another process may change: read without a lock, compare change tokens, retry.
//!
//! A commit is one instant for a reader that opens the file after it. A reader that is in the middle of opening, or that follows
//! addresses of an earlier commit, may find structures moved, the file truncated, or other structures in their place. So a read
//! whose blob changed meanwhile is repeated, and so is a read that failed then, up to a time limit ([`RetryLimit`]).

use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use ferrocdf_bytes::{Error, Result};

use crate::{Blob, Version};

/// Time limit of all attempts together, and the pause after an attempt that failed.
const TIME_LIMIT: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(1);

/// Resolution of the clocks of file systems: two changes within this time may have the same mtime.
const MTIME_STEP: Duration = Duration::from_millis(20);

/// Maximum time by which the clock of a file server may be ahead of ours: an mtime up to there in the future may mean now. An
/// mtime further ahead was set by a program and says nothing about changes.
const CLOCK_SKEW: Duration = Duration::from_secs(3600);

/// An opaque token of the content of a blob: equal tokens mean the same content, unless the token is volatile.
#[derive(Clone, Debug)]
pub struct ChangeToken {
    content: Content,
    /// See [`ChangeToken::is_volatile`].
    is_volatile: bool,
}

/// The facts that a token compares.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    /// The mtime of a file, and its size in bytes.
    File(SystemTime, u64),
    /// The version of an object.
    Object(Version),
}

impl ChangeToken {
    /// Returns the token of a file that has this mtime and this size in bytes now.
    pub fn file(mtime: SystemTime, size: u64) -> ChangeToken {
        let is_volatile = match SystemTime::now().duration_since(mtime) {
            Ok(age) => age < MTIME_STEP,
            Err(ahead) => ahead.duration() <= CLOCK_SKEW,
        };
        ChangeToken { content: Content::File(mtime, size), is_volatile }
    }

    /// Returns the token of an object with this version, such as an ETag.
    pub fn object(version: Version) -> ChangeToken {
        ChangeToken { content: Content::Object(version), is_volatile: false }
    }

    /// Returns the version of an object, if no other content ever has the same.
    pub fn strong_version(&self) -> Option<&Version> {
        match &self.content {
            Content::Object(version) => Some(version).filter(|version| version.is_strong()),
            Content::File(..) => None,
        }
    }

    /// True if both tokens compare equal: the content is the same unless a token is volatile.
    pub(crate) fn is_same_content(&self, other: &ChangeToken) -> bool {
        self.content == other.content
    }

    /// True if another change may leave the token the same, because the mtime was too recent when the token was made.
    pub fn is_volatile(&self) -> bool {
        self.is_volatile
    }
}

/// True if a blob may have changed since it returned the token `since`. False if no other process can change it, or if a change
/// cannot be detected.
pub fn is_stale(since: Option<&ChangeToken>, blob: &(impl Blob + ?Sized)) -> bool {
    since.is_some_and(ChangeToken::is_volatile) || has_changed(since, blob)
}

/// True if a blob has certainly changed since it returned the token `since`.
fn has_changed(since: Option<&ChangeToken>, blob: &(impl Blob + ?Sized)) -> bool {
    let now = blob.change_token();
    since.zip(now.as_ref()).is_some_and(|(since, now)| !since.is_same_content(now))
}

/// The time limit of a sequence of attempts; the time begins with the first call of [`can_retry`](RetryLimit::can_retry).
#[derive(Debug, Default)]
pub struct RetryLimit {
    begin: Option<Instant>,
}

impl RetryLimit {
    /// Returns true if there is time for another attempt, after a pause if the last attempt `failed`.
    pub fn can_retry(&mut self, failed: bool) -> bool {
        let has_time = self.begin.get_or_insert_with(Instant::now).elapsed() < TIME_LIMIT;
        if has_time && failed {
            sleep(PAUSE);
        }
        has_time
    }
}

/// Repeats `attempt` until it succeeds, `can_pass` returns false for its error (the error is final), or the time limit is over.
pub fn retry<T>(
    mut attempt: impl FnMut() -> Result<T>,
    mut can_pass: impl FnMut(&Error) -> bool,
) -> Result<T> {
    let mut limit = RetryLimit::default();
    loop {
        match attempt() {
            Err(error) if can_pass(&error) && limit.can_retry(true) => {}
            done => return done,
        }
    }
}

/// Number of attempts after which an optimistic read accepts its value although the blob changed during each of them.
const MAX_READS: usize = 10;

/// Runs `read` on a blob after dropping its read-ahead. Repeats it after an error if the blob may have changed, and after a value
/// if the blob has certainly changed. Returns the value, and the token of the blob from before the last attempt.
pub fn read_optimistically<T>(
    blob: &(impl Blob + ?Sized),
    mut read: impl FnMut() -> Result<T>,
) -> Result<(T, Option<ChangeToken>)> {
    let mut limit = RetryLimit::default();
    let mut reads = 0;
    loop {
        blob.forget();
        let token = blob.change_token();
        reads += 1;
        match read() {
            Err(_) if is_stale(token.as_ref(), blob) && limit.can_retry(true) => {}
            Ok(_) if has_changed(token.as_ref(), blob) && reads < MAX_READS && limit.can_retry(false) => {}
            done => return done.map(|value| (value, token)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use ferrocdf_bytes::Code;

    use super::*;
    use crate::Cost;

    /// A blob whose token changes with each call of `change_token`, up to the last one.
    struct Changing {
        changes: AtomicU64,
        last: u64,
    }

    impl Changing {
        fn new(changes: u64, last: u64) -> Changing {
            Changing { changes: AtomicU64::new(changes), last }
        }
    }

    impl Blob for Changing {
        fn size(&self) -> Result<u64> {
            Ok(0)
        }

        fn read_at(&self, _at: u64, _into: &mut [u8]) -> Result<usize> {
            Ok(0)
        }

        fn name(&self) -> String {
            "changing".to_string()
        }

        fn cost(&self) -> Cost {
            Cost::MEMORY
        }

        fn change_token(&self) -> Option<ChangeToken> {
            let size = self.changes.fetch_add(1, Relaxed).min(self.last);
            Some(ChangeToken::file(SystemTime::UNIX_EPOCH, size))
        }
    }

    fn failure<T>() -> Result<T> {
        Err(Error::new(Code::EHDFERR, "half"))
    }

    #[test]
    fn read_is_repeated_while_the_blob_changes() {
        for (last, wanted) in [(0, 1), (1, 2), (5, 4), (1000, MAX_READS)] {
            let mut reads = 0;
            let read = || {
                reads += 1;
                Ok(())
            };
            assert!(read_optimistically(&Changing::new(0, last), read).is_ok());
            assert_eq!(reads, wanted, "{last}");
        }
    }

    #[test]
    fn failed_read_is_repeated_while_the_blob_changes() {
        let mut reads = 0;
        let read = || {
            reads += 1;
            failure::<()>()
        };
        assert!(read_optimistically(&Changing::new(0, 3), read).is_err());
        assert_eq!(reads, 3);
    }

    #[test]
    fn failed_attempt_is_retried_while_its_error_can_pass() {
        let blob = Changing::new(0, 5);
        let (mut token, mut attempts) = (blob.change_token(), 0);
        let attempt = || {
            attempts += 1;
            failure::<()>()
        };
        let done = retry(attempt, |_| {
            let is_stale = is_stale(token.as_ref(), &blob);
            token = blob.change_token();
            is_stale
        });
        assert_eq!(done.unwrap_err().code, Code::EHDFERR);
        assert_eq!(attempts, 4);
    }

    #[test]
    fn retries_end_at_the_time_limit() {
        let begin = Instant::now();
        assert!(retry(failure::<()>, |_| true).is_err());
        assert!(begin.elapsed() >= TIME_LIMIT);
    }

    #[test]
    fn token_is_stale_if_the_blob_gives_another_one() {
        let old = ChangeToken::file(SystemTime::UNIX_EPOCH, 1);
        assert!(!is_stale(None, &Changing::new(1, 9)));
        assert!(!is_stale(Some(&old), &Changing::new(1, 1)));
        assert!(is_stale(Some(&old), &Changing::new(2, 9)));
        let version = ChangeToken::object(Version::new("etag"));
        assert!(is_stale(Some(&version), &Changing::new(1, 1)));
    }

    #[test]
    fn token_of_a_recent_change_is_volatile() {
        let token = |age| ChangeToken {
            content: Content::File(SystemTime::UNIX_EPOCH, 1),
            ..ChangeToken::file(SystemTime::now() - age, 1)
        };
        assert!(is_stale(Some(&token(Duration::ZERO)), &Changing::new(1, 1)));
        assert!(!is_stale(Some(&token(MTIME_STEP)), &Changing::new(1, 1)));
    }

    #[test]
    fn token_of_a_change_in_the_near_future_is_volatile() {
        let is_volatile = |ahead| ChangeToken::file(SystemTime::now() + ahead, 1).is_volatile();
        assert!(is_volatile(Duration::from_secs(1)));
        assert!(is_volatile(CLOCK_SKEW));
        assert!(!is_volatile(CLOCK_SKEW + Duration::from_secs(60)));
    }
}
