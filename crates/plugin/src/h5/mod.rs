//! Functions of the HDF5 library that plugins call ("HDF5 Reference Manual"), answered from the description of a
//! dataset.
//!
//! The functions and variables have no exported names: [`address`] returns their addresses, and the loader of plugins
//! binds a plugin's names to them. Handles are numbers in a table of objects; an unknown number is an error of the
//! call, as in the HDF5 library. No panic leaves a function.
//!
//! Not implemented: files, groups, datasets, attributes. A plugin that needs such functions is not a filter.
#![allow(non_snake_case)]

mod convert;
mod errors;
mod handles;
mod library;
mod lists;
mod objects;
mod spaces;
mod types;

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, Ordering};

pub(crate) use errors::{clear as clear_messages, take as take_messages};
pub(crate) use handles::{Hid, Scope, Table, open, table, with};
pub(crate) use library::{IS_LOADED, with_most};
pub(crate) use objects::{Definition, Object, Space};

/// Values of `herr_t` for success and failure.
const DONE: i32 = 0;
const FAILED: i32 = -1;

/// Runs the body of a function that C calls; returns `failed` for `None` and for a panic.
pub(crate) fn guard<T>(failed: T, body: impl FnOnce() -> Option<T>) -> T {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Some(value)) => value,
        Ok(None) | Err(_) => failed,
    }
}

/// Stores a value in a place of the C caller, unless it is null.
///
/// # Safety
/// The place is null or valid.
pub(crate) unsafe fn put<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: as the caller says.
        unsafe { place.write(value) };
    }
}

/// Variable that plugins read and may write.
type PluginVariable = AtomicI64;

/// Names with their addresses.
type Named = Vec<(&'static str, usize)>;

/// Defines `functions`, which returns the functions of a module with their names.
macro_rules! functions {
    ($($name:ident),* $(,)?) => {
        pub(super) fn functions() -> super::Named {
            vec![$((stringify!($name), $name as *const () as usize)),*]
        }
    };
}
use functions;

/// One handle for all error classes and error numbers: errors are not distinguished.
static ANY_ERROR: PluginVariable = AtomicI64::new(handles::ANY_ERROR);
/// One handle for all property list classes and default lists that do not belong to dataset creation.
static ANY_LIST: PluginVariable = AtomicI64::new(handles::OTHER_CLASS);
static DATASET_CREATE: PluginVariable = AtomicI64::new(handles::DATASET_CREATE_CLASS);
static OBJECT_CREATE: PluginVariable = AtomicI64::new(handles::OBJECT_CREATE_CLASS);
static ROOT: PluginVariable = AtomicI64::new(handles::ROOT_CLASS);
/// `H5_libinit_g` and `H5_libterm_g`, one byte each: the library is initialized; the library is terminating.
static INITIALIZED: PluginVariable = AtomicI64::new(1);
static TERMINATING: PluginVariable = AtomicI64::new(0);

fn at(variable: &'static PluginVariable) -> usize {
    variable.as_ptr() as usize
}

static NAMED: LazyLock<HashMap<&'static str, usize>> = LazyLock::new(|| {
    let variables = vec![
        ("H5P_CLS_DATASET_CREATE_ID_g", at(&DATASET_CREATE)),
        ("H5P_CLS_OBJECT_CREATE_ID_g", at(&OBJECT_CREATE)),
        ("H5P_CLS_ROOT_ID_g", at(&ROOT)),
        ("H5_libinit_g", at(&INITIALIZED)),
        ("H5_libterm_g", at(&TERMINATING)),
    ];
    let functions = [
        convert::functions(),
        errors::functions(),
        library::functions(),
        lists::functions(),
        spaces::functions(),
        types::functions(),
        types::variables(),
    ];
    functions.into_iter().flatten().chain(variables).collect()
});

/// Returns the address of the function or variable of this name; `None` if this module has none.
pub(crate) fn address(name: &str) -> Option<usize> {
    let is = |prefix, suffix| name.starts_with(prefix) && name.ends_with(suffix);
    NAMED.get(name).copied().or_else(|| {
        if is("H5E_", "_g") {
            Some(at(&ANY_ERROR))
        } else if is("H5P_CLS_", "_ID_g") || is("H5P_LST_", "_ID_g") {
            Some(at(&ANY_LIST))
        } else {
            None
        }
    })
}

/// Returns the current value of a variable.
fn value_of(variable: &PluginVariable) -> Hid {
    variable.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_addresses() {
        for name in
            ["H5open", "H5Pget_chunk", "H5Tget_size", "H5T_NATIVE_INT_g", "H5E_PLINE_g", "H5_libinit_g"]
        {
            assert!(address(name).is_some(), "{name}");
        }
        for name in ["H5Fopen", "H5T_NATIVE_NOTHING_g", "H5E_PLINE", "open"] {
            assert_eq!(address(name), None, "{name}");
        }
        assert_ne!(address("H5T_NATIVE_INT_g"), address("H5T_NATIVE_UINT_g"));
    }

    #[test]
    fn panics_stay_inside() {
        assert_eq!(guard(-1, || panic!("this is a test")), -1);
        assert_eq!((guard(-1, || Some(3)), guard(-1, || None)), (3, -1));
    }
}
