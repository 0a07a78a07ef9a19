//! Deadlines and retries.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use super::fault::{Failure, Retry};
use super::options::Options;

/// The instant at which a request with all its retries must be over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    pub(crate) fn after(time: Duration) -> Deadline {
        // A time that no clock can show is as good as a century.
        let century = Duration::from_secs(100 * 365 * 86_400);
        Deadline(Instant::now() + time.min(century))
    }

    /// Returns the time left; `None` if there is none.
    pub(crate) fn left(self) -> Option<Duration> {
        self.0.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }

    /// Returns the earlier of two deadlines.
    pub(crate) fn min(self, other: Deadline) -> Deadline {
        Deadline(self.0.min(other.0))
    }
}

/// Returns the wait before the next attempt; `None` if there is to be none.
pub(crate) fn wait(retry: Retry, attempt: u32, options: &Options) -> Option<Duration> {
    let limit = match retry {
        Retry::Never => 0,
        Retry::Few => options.retries.min(2),
        Retry::Backoff | Retry::After(_) => options.retries,
    };
    if attempt > limit {
        return None;
    }
    let longest = options.backoff.saturating_mul(1 << attempt.clamp(1, 16).saturating_sub(1));
    let longest = longest.min(Duration::from_secs(20).max(options.backoff));
    // Between half and all of it, so that clients that failed together do not come back together.
    let share = 0.5 + f64::from(random()) / f64::from(u32::MAX) / 2.0;
    let wait = longest.mul_f64(share);
    Some(match retry {
        Retry::After(time) => time.max(wait),
        _ => wait,
    })
}

/// Returns a number that differs between calls, threads and processes.
fn random() -> u32 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(Instant::now()) as u32
}

/// State that the requests of one operation share. They run on one thread, one after the other; some fetch credentials.
struct Operation {
    deadline: Deadline,
    failure: Option<Failure>,
}

thread_local! {
    static OPERATION: RefCell<Option<Operation>> = const { RefCell::new(None) };
}

/// Runs an operation on this thread. Returns its result and the last failure of a request that it sent.
pub(crate) fn within<T>(deadline: Deadline, run: impl FnOnce() -> T) -> (T, Option<Failure>) {
    let outer = OPERATION.replace(Some(Operation { deadline, failure: None }));
    let result = run();
    let operation = OPERATION.replace(outer);
    (result, operation.and_then(|operation| operation.failure))
}

/// Returns the deadline of the operation that runs on this thread, if one does.
pub(crate) fn current_deadline() -> Option<Deadline> {
    OPERATION.with_borrow(|operation| operation.as_ref().map(|operation| operation.deadline))
}

/// Notes the failure of a request for the operation that runs on this thread.
pub(crate) fn note_failure(failure: Failure) {
    OPERATION.with_borrow_mut(|operation| {
        if let Some(operation) = operation {
            operation.failure = Some(failure);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;

    #[test]
    fn waits_grow_and_end() {
        let options = Options::new(&Settings { retries: Some(3), ..Settings::default() });
        let millis = |retry, attempt| wait(retry, attempt, &options).map(|wait| wait.as_millis());
        for (attempt, range) in [(1, 50..=100), (2, 100..=200), (3, 200..=400)] {
            let wait = millis(Retry::Backoff, attempt).unwrap();
            assert!(range.contains(&wait), "{wait} ms before attempt {attempt}");
        }
        assert_eq!(millis(Retry::Backoff, 4), None);
        assert_eq!(millis(Retry::Never, 1), None);
        assert!(millis(Retry::Few, 2).is_some() && millis(Retry::Few, 3).is_none());
        assert_eq!(millis(Retry::After(Duration::from_secs(7)), 1), Some(7000));
    }
}
