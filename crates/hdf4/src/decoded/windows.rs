//! Decoded bytes that are kept, within one budget for all elements of a file.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of a window, a power of two: a decoder that is one window behind is there in a millisecond or two.
pub const WINDOW: u64 = 256 << 10;

/// Maximum number of windows that a file keeps, 16 MiB: the rows of a band that is read column by column, or the planes of several readers.
const KEPT: usize = 64;

/// The number of an element, and the number of one of its windows.
type Key = (u64, u64);

/// The windows that were used last.
#[derive(Debug, Default)]
pub struct DecodedWindows(Mutex<KeptWindows>);

#[derive(Debug, Default)]
struct KeptWindows {
    /// The windows, each with the time of its last use.
    windows: HashMap<Key, (u64, Arc<[u8]>)>,
    /// Number of uses so far.
    clock: u64,
}

impl DecodedWindows {
    fn kept(&self) -> std::sync::MutexGuard<'_, KeptWindows> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a window, if it is kept.
    pub fn get(&self, key: Key) -> Option<Arc<[u8]>> {
        let mut kept = self.kept();
        let now = kept.tick();
        let (used, bytes) = kept.windows.get_mut(&key)?;
        *used = now;
        Some(bytes.clone())
    }

    /// Keeps a window, in place of the one that was not used for longest if there are too many.
    pub fn put(&self, key: Key, bytes: Arc<[u8]>) {
        let mut kept = self.kept();
        let now = kept.tick();
        if kept.windows.len() >= KEPT
            && let Some(oldest) = kept.windows.iter().min_by_key(|(_, (used, _))| *used).map(|(&key, _)| key)
        {
            kept.windows.remove(&oldest);
        }
        kept.windows.insert(key, (now, bytes));
    }
}

impl KeptWindows {
    fn tick(&mut self) -> u64 {
        self.clock = self.clock.saturating_add(1);
        self.clock
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_windows_that_were_used_last_are_kept() {
        let windows = DecodedWindows::default();
        for number in 0..KEPT as u64 {
            windows.put((1, number), [number as u8].into());
        }
        assert!(windows.get((1, 0)).is_some());
        windows.put((2, 0), [7].into());
        assert!(windows.get((1, 0)).is_some() && windows.get((1, 1)).is_none());
        assert_eq!(*windows.get((2, 0)).unwrap(), [7]);
        assert_eq!(windows.0.lock().unwrap().windows.len(), KEPT);
    }
}
