//! Handles: numbers of the objects that plugins inquire about.
//!
//! Handles have 31 bits, and only their lower 32 bits are compared, so plugins built for HDF5 1.8, whose handles are
//! shorter, work too. A number is reused as late as possible, so the use of a closed handle is an error of the call.
//! Objects that a plugin opens and does not close are closed at the end of the plugin call that opened them.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::objects::Object;

/// `hid_t`.
pub(crate) type Hid = i64;

/// Predefined handles.
pub(super) const ROOT_CLASS: Hid = 0x0100_0001;
pub(super) const OBJECT_CREATE_CLASS: Hid = 0x0100_0002;
pub(super) const DATASET_CREATE_CLASS: Hid = 0x0100_0003;
pub(super) const OTHER_CLASS: Hid = 0x0100_0004;
pub(super) const ANY_ERROR: Hid = 0x0200_0001;
/// First handle of the predefined types.
pub(super) const FIRST_TYPE: u32 = 0x0300_0000;

/// First and last number of handles that are opened.
const FIRST: u32 = 0x1000_0000;
const LAST: u32 = 0x7fff_ffff;
/// Largest number of open handles.
const MOST: usize = 1 << 16;

#[derive(Debug)]
struct Held {
    object: Object,
    scope: u64,
}

#[derive(Debug)]
pub(crate) struct Table {
    next: u32,
    held: BTreeMap<u32, Held>,
}

static TABLE: Mutex<Table> = Mutex::new(Table { next: FIRST, held: BTreeMap::new() });
static SCOPES: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// Number of the plugin call that this thread is in; 0 outside a call.
    static SCOPE: Cell<u64> = const { Cell::new(0) };
}

pub(crate) fn table() -> MutexGuard<'static, Table> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the part of a handle that is compared.
pub(super) fn number(handle: Hid) -> u32 {
    handle as u32
}

/// Plugin call. Its end closes all handles that this thread opened meanwhile.
#[derive(Debug)]
pub(crate) struct Scope {
    own: u64,
    outer: u64,
}

impl Scope {
    pub(crate) fn new() -> Scope {
        let own = SCOPES.fetch_add(1, Ordering::Relaxed);
        Scope { own, outer: SCOPE.replace(own) }
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        SCOPE.set(self.outer);
        table().held.retain(|_, held| held.scope != self.own);
    }
}

/// Opens a new handle; `None` if too many are open.
pub(crate) fn open(object: Object) -> Option<Hid> {
    let mut table = table();
    if table.held.len() >= MOST {
        return None;
    }
    while table.held.contains_key(&table.next) {
        table.next = if table.next >= LAST { FIRST } else { table.next.saturating_add(1) };
    }
    let number = table.next;
    table.next = if number >= LAST { FIRST } else { number.saturating_add(1) };
    table.held.insert(number, Held { object, scope: SCOPE.get() });
    Some(Hid::from(number))
}

/// Applies `body` to the object of a handle; `None` if the handle is not open.
pub(crate) fn with<T>(handle: Hid, body: impl FnOnce(&mut Object) -> Option<T>) -> Option<T> {
    body(&mut table().held.get_mut(&number(handle))?.object)
}

/// Closes a handle that [`open`] returned.
pub(super) fn close(handle: Hid) -> Option<()> {
    table().held.remove(&number(handle)).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::h5::Space;

    fn space() -> Object {
        Object::Space(Space { shape: vec![1] })
    }

    #[test]
    fn handles_die() {
        let scope = Scope::new();
        let (a, b) = (open(space()).expect("room"), open(space()).expect("room"));
        assert!(a != b && a > 0 && i32::try_from(b).is_ok());
        assert_eq!(with(a, |_| Some(1)), Some(1));
        assert_eq!(with(a | 0x7777_0000_0000_0000, |_| Some(1)), Some(1), "only 32 bits count");
        assert_eq!(close(a), Some(()));
        assert_eq!((close(a), with(a, |_| Some(1))), (None, None));
        drop(scope);
        assert_eq!(with(b, |_| Some(1)), None, "it went with the call");
        assert_eq!(with(-1, |_| Some(1)), None);
        assert_eq!(with(0, |_| Some(1)), None);
    }
}
