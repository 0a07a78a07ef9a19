//! Handles: numbers for what plugins ask about.
//!
//! Numbers fit in 31 bits and only their lower 32 count, so plugins made for HDF5 1.8, which had shorter handles, work
//! too. A number is not given twice for a long time, so a handle that outlives its object is an error of the call. What
//! a plugin makes and forgets to close goes with the call of the plugin that it was made in.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::objects::Object;

/// `hid_t`.
pub(crate) type Hid = i64;

/// Numbers that are always there.
pub(super) const ROOT_CLASS: Hid = 0x0100_0001;
pub(super) const OBJECT_CREATE_CLASS: Hid = 0x0100_0002;
pub(super) const DATASET_CREATE_CLASS: Hid = 0x0100_0003;
pub(super) const OTHER_CLASS: Hid = 0x0100_0004;
pub(super) const ANY_ERROR: Hid = 0x0200_0001;
/// The first of the types that are always there.
pub(super) const FIRST_TYPE: u32 = 0x0300_0000;

/// The first of the numbers that are given, and the last.
const FIRST: u32 = 0x1000_0000;
const LAST: u32 = 0x7fff_ffff;
/// The most that may be open at a time.
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
    /// The call of a plugin that this thread is in; 0 is none.
    static SCOPE: Cell<u64> = const { Cell::new(0) };
}

pub(crate) fn table() -> MutexGuard<'static, Table> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The part of a handle that counts.
pub(super) fn number(handle: Hid) -> u32 {
    handle as u32
}

/// A call of a plugin. What this thread opens while it lives is closed with it.
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

/// A new handle; `None` if too many are open.
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

/// Does something with what a handle stands for; `None` if it stands for nothing.
pub(crate) fn with<T>(handle: Hid, body: impl FnOnce(&mut Object) -> Option<T>) -> Option<T> {
    body(&mut table().held.get_mut(&number(handle))?.object)
}

/// Closes a handle that [`open`] gave.
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
