//! Settings of the process: number of threads, and bytes of the cache of decoded chunks. Each is set once, by a function here or
//! by its environment variable when it is first needed.

use std::sync::OnceLock;

static THREADS: OnceLock<usize> = OnceLock::new();
static CACHE: OnceLock<usize> = OnceLock::new();

/// The bytes of decoded chunks if nothing else is set.
const DEFAULT_CACHE: usize = 256 << 20;

/// Sets the number of threads for large requests, in place of `FERROCDF_THREADS`; below 2 they run on the thread of the caller.
///
/// # Errors
/// The number of threads that is in use already, if it is another one.
pub fn set_threads(count: usize) -> Result<(), usize> {
    set(&THREADS, count)
}

/// Sets the bytes that decoded chunks may take, cached and pending ones together, in place of `FERROCDF_CACHE`.
///
/// # Errors
/// The bytes that are in use already, if they are others.
pub fn set_cache_budget(bytes: usize) -> Result<(), usize> {
    set(&CACHE, bytes)
}

/// Returns the number of threads for large requests; by default that of the cores that this process may run on.
pub(crate) fn threads() -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    *THREADS.get_or_init(|| environment("FERROCDF_THREADS").unwrap_or_else(cores))
}

/// Returns the bytes that decoded chunks may take.
pub(crate) fn cache_budget() -> usize {
    *CACHE.get_or_init(|| environment("FERROCDF_CACHE").unwrap_or(DEFAULT_CACHE))
}

fn set(setting: &OnceLock<usize>, value: usize) -> Result<(), usize> {
    match *setting.get_or_init(|| value) {
        used if used == value => Ok(()),
        used => Err(used),
    }
}

fn environment(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_that_is_in_use_stays() {
        static SETTING: OnceLock<usize> = OnceLock::new();
        assert_eq!([set(&SETTING, 3), set(&SETTING, 3), set(&SETTING, 4)], [Ok(()), Ok(()), Err(3)]);
    }
}
