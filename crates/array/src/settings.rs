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
    set_both((&THREADS, threads), (&CACHE, cache))
}

/// A setting, and the value that it is to get.
type Wish<'a> = (&'a OnceLock<usize>, Option<usize>);

fn set_both(threads: Wish<'_>, cache: Wish<'_>) -> Result<(), InUse> {
    let _changing = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    check(threads).map_err(InUse::Threads)?;
    check(cache).map_err(InUse::Cache)?;
    for (setting, wanted) in [threads, cache] {
        // Nobody else sets it meanwhile.
        wanted.map(|value| setting.set(value));
    }
    Ok(())
}

/// Returns the number of threads for large requests; by default that of the cores that this process may run on, and 1 where the library was
/// built without threads. It stays the same from now on.
pub fn threads() -> usize {
    if cfg!(not(feature = "threads")) {
        return 1;
    }
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
fn check((setting, wanted): Wish<'_>) -> Result<(), usize> {
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
        assert_eq!(check((&SETTING, Some(4))), Ok(()));
        assert_eq!([get(&SETTING, || 3), get(&SETTING, || 4)], [3, 3]);
        let checks = [Some(3), None, Some(4)].map(|wanted| check((&SETTING, wanted)));
        assert_eq!(checks, [Ok(()), Ok(()), Err(3)]);
    }

    #[test]
    fn settings_are_set_together_or_not_at_all() {
        let [threads, cache] = [OnceLock::new(), OnceLock::from(7)];
        assert_eq!(set_both((&threads, Some(3)), (&cache, Some(8))), Err(InUse::Cache(7)));
        assert_eq!(threads.get(), None);
        assert_eq!(set_both((&threads, Some(3)), (&cache, Some(7))), Ok(()));
        assert_eq!(threads.get(), Some(&3));
    }
}
