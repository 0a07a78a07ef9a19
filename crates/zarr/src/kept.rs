//! Values that were read and are kept for the next request, up to a number of bytes.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

/// Kept values by their keys. When they take too much memory, all are dropped: what is in use is soon read again.
#[derive(Debug)]
pub(crate) struct Kept<K, V> {
    values: Mutex<(HashMap<K, V>, usize)>,
    /// Most bytes of all values together.
    limit: usize,
}

impl<K: Eq + Hash, V: Clone> Kept<K, V> {
    pub(crate) fn new(limit: usize) -> Self {
        Kept { values: Mutex::default(), limit }
    }

    /// Returns the kept values of some keys, `None` for those that are not kept.
    pub(crate) fn get<'k>(&self, keys: impl Iterator<Item = &'k K>) -> Vec<Option<V>>
    where
        K: 'k,
    {
        let values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        keys.map(|key| values.0.get(key).cloned()).collect()
    }

    /// Forgets a value. Its bytes count until all values are dropped.
    pub(crate) fn remove(&self, key: &K) {
        self.values.lock().unwrap_or_else(PoisonError::into_inner).0.remove(key);
    }

    /// Keeps a value of so many bytes, unless it is larger than all may be together.
    pub(crate) fn insert(&self, key: K, value: V, bytes: usize) {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        if values.1 + bytes > self.limit {
            *values = Default::default();
        }
        if bytes <= self.limit {
            values.1 += bytes;
            values.0.insert(key, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_kept_within_the_limit() {
        let kept = Kept::new(10);
        kept.insert("a", 1, 4);
        kept.insert("b", 2, 6);
        assert_eq!(kept.get(["b", "c", "a"].iter()), [Some(2), None, Some(1)]);
        kept.insert("c", 3, 1);
        assert_eq!(kept.get(["a", "b", "c"].iter()), [None, None, Some(3)]);
        kept.insert("d", 4, 11);
        assert_eq!(kept.get(["c", "d"].iter()), [None, None]);
    }
}
