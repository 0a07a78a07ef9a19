//! Settings as keys and values: those of the files `.ncrc`, `.daprc` and `.dodsrc`, and those that programs set.
//!
//! The files are read when a setting is first asked for or set: the one that `NCRCENV_RC` names, else those in the home
//! folder, then those in the current one, later ones over earlier ones. Lines for one host only (`[url]key=value`) are
//! left out: there is nobody yet who asks for them. With `NCRCENV_IGNORE` nothing is read and nothing is kept.

use std::collections::HashMap;
use std::env::{current_dir, var_os};
use std::ffi::{c_char, c_int};
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, MutexGuard};

use crate::boundary::{answer, give, text};
use crate::forks;
use crate::memory::copy_of_text;

type Settings = HashMap<Vec<u8>, Vec<u8>>;

/// None when they are to be ignored.
static SETTINGS: LazyLock<Option<Mutex<Settings>>> = LazyLock::new(|| {
    var_os("NCRCENV_IGNORE").is_none().then(|| {
        let files = files().into_iter().filter_map(|file| std::fs::read(file).ok());
        Mutex::new(files.fold(Settings::new(), |mut settings, file| {
            settings.extend(parse(&file));
            settings
        }))
    })
});

pub(crate) fn settings() -> Option<MutexGuard<'static, Settings>> {
    SETTINGS.as_ref().map(forks::lock)
}

/// The files in which settings are looked for.
fn files() -> Vec<PathBuf> {
    let given = |name| var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(file) = given("NCRCENV_RC") {
        return vec![file];
    }
    let home = given("NCRCENV_HOME").or_else(|| given("HOME"));
    let folders = home.into_iter().chain(current_dir());
    folders.flat_map(|folder| [".ncrc", ".daprc", ".dodsrc"].map(|name| folder.join(name))).collect()
}

/// The settings in a file.
fn parse(file: &[u8]) -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> {
    file.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter_map(|line| {
        if line.is_empty() || line.starts_with(b"#") || line.starts_with(b"[") {
            return None;
        }
        let mut parts = line.splitn(2, |byte| *byte == b'=');
        let mut part = || parts.next().unwrap_or_default().trim_ascii().to_vec();
        Some((part(), part()))
    })
}

/// The value of a key.
pub(crate) fn setting(key: &[u8]) -> Option<Vec<u8>> {
    settings()?.get(key).cloned()
}

/// The value of a key in memory of `malloc`; null if it has none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_rc_get(key: *const c_char) -> *mut c_char {
    give(std::ptr::null_mut(), || {
        // SAFETY: the contract of the interface.
        let key = unsafe { text(key) }?.trim_ascii();
        match setting(key) {
            Some(value) => copy_of_text(&value),
            None => Ok(std::ptr::null_mut()),
        }
    })
}

/// Gives a key a value, for this process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_rc_set(key: *const c_char, value: *const c_char) -> c_int {
    answer(|| {
        let Some(mut settings) = settings() else { return Ok(()) };
        // SAFETY: the contract of the interface.
        let (key, value) = unsafe { (text(key)?.trim_ascii(), text(value)?.trim_ascii()) };
        settings.insert(key.to_vec(), value.to_vec());
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No other test has settings.
    #[test]
    fn settings_are_kept() {
        let key = c"FERROCDF.TEST".as_ptr();
        // SAFETY: texts end in a zero byte; values are from `malloc`.
        unsafe {
            assert!(nc_rc_get(key).is_null() && nc_rc_get(std::ptr::null()).is_null());
            assert_eq!(nc_rc_set(std::ptr::null(), key), ferrocdf::Code::EINVAL.0);
            assert_eq!(nc_rc_set(key, std::ptr::null()), ferrocdf::Code::EINVAL.0);
            for value in [c"one", c"a = b"] {
                assert_eq!(nc_rc_set(key, value.as_ptr()), 0);
                let given = nc_rc_get(key);
                assert_eq!(std::ffi::CStr::from_ptr(given), value);
                crate::memory::free(given);
            }
        }
    }

    #[test]
    fn lines_of_a_file() {
        let file = b"# a comment\n  HTTP.TIMEOUT = 10 \r\n[http://host]A=1\n\nFLAG\nB=x=y\nB= z";
        let settings: Settings = parse(file).collect();
        let mut seen: Vec<_> = settings.into_iter().collect();
        seen.sort();
        let expected = [("B", "z"), ("FLAG", ""), ("HTTP.TIMEOUT", "10")];
        assert_eq!(seen, expected.map(|(key, value)| (key.into(), value.into())));
    }
}
