//! Settings of the process: number of threads, and bytes of the cache of decoded chunks. Each is set once, by a function here or
//! by its environment variable when it is first needed.

use std::sync::{Mutex, OnceLock, PoisonError};

static THREADS: OnceLock<usize> = OnceLock::new();
static CACHE: OnceLock<usize> = OnceLock::new();

/// The bytes of decoded chunks if nothing else is set.
const DEFAULT_CACHE: usize = 256 << 20;

/// Held while settings are set, so that a call sets all of its settings or none.
static CHANGING: Mutex<()> = Mutex::new(());

/// A setting that is in use, with another value than the one it was to get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InUse {
    /// The number of threads.
    Threads(usize),
    /// The bytes that decoded chunks may take.
    Cache(usize),
}

/// Sets the number of threads for large requests, in place of `FERROCDF_THREADS` (below 2 they run on the thread of the caller), and
/// the bytes that decoded chunks may take, cached and pending ones together, in place of `FERROCDF_CACHE`. `None` sets nothing.
///
/// # Errors
/// A setting that is in use already with another value; then neither is set.
pub fn configure(threads: Option<usize>, cache: Option<usize>) -> Result<(), InUse> {
    let _changing = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    check(&THREADS, threads).map_err(InUse::Threads)?;
    check(&CACHE, cache).map_err(InUse::Cache)?;
    // Nobody else sets them meanwhile.
    threads.map(|count| THREADS.set(count));
    cache.map(|bytes| CACHE.set(bytes));
    Ok(())
}

/// Returns the number of threads for large requests; by default that of the cores that this process may run on.
pub(crate) fn threads() -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    get(&THREADS, || environment("FERROCDF_THREADS").unwrap_or_else(cores))
}

/// Returns the bytes that decoded chunks may take.
pub(crate) fn cache_budget() -> usize {
    get(&CACHE, || environment("FERROCDF_CACHE").unwrap_or(DEFAULT_CACHE))
}

/// Returns a setting, which has its default from now on if it was not set.
fn get(setting: &OnceLock<usize>, default: impl FnOnce() -> usize) -> usize {
    if let Some(&value) = setting.get() {
        return value;
    }
    let _changing = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    *setting.get_or_init(default)
}

/// Fails with the value of a setting that is in use, if it is another one than the wanted one.
fn check(setting: &OnceLock<usize>, wanted: Option<usize>) -> Result<(), usize> {
    match (setting.get(), wanted) {
        (Some(&used), Some(wanted)) if used != wanted => Err(used),
        _ => Ok(()),
    }
}

fn environment(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_that_is_in_use_keeps_its_value() {
        static SETTING: OnceLock<usize> = OnceLock::new();
        assert_eq!(check(&SETTING, Some(4)), Ok(()));
        assert_eq!([get(&SETTING, || 3), get(&SETTING, || 4)], [3, 3]);
        assert_eq!([Some(3), None, Some(4)].map(|wanted| check(&SETTING, wanted)), [Ok(()), Ok(()), Err(3)]);
    }

    #[test]
    fn settings_are_set_together_or_not_at_all() {
        let bytes = cache_budget();
        assert_eq!(configure(Some(3), Some(bytes + 1)), Err(InUse::Cache(bytes)));
        assert_eq!(THREADS.get(), None);
    }
}
