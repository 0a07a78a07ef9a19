//! Reading ahead for callers who read little at a time.
//!
//! One window per blob, filled only when requests come one behind the other: a caller who jumps about pays nothing for
//! it. A thread that finds the window in use reads for itself, so that readers never wait for each other. What others
//! write to the bytes meanwhile may be seen late; blobs that are written here are not to be wrapped.

use std::sync::{Mutex, PoisonError};

use ferrocdf_bytes::Result;

use crate::{Blob, Buffer};

/// Requests from this size on are passed through.
const SMALL: usize = 32 << 10;
/// Bytes read ahead.
const WINDOW: usize = 256 << 10;
/// Requests in a row, each behind the one before, after which reading ahead starts.
const STREAK: u32 = 2;

/// A blob that reads ahead of small sequential requests.
#[derive(Debug)]
pub struct ReadAhead<B> {
    inner: B,
    window: Mutex<Window>,
}

#[derive(Debug, Default)]
struct Window {
    /// Where the window starts in the blob.
    at: u64,
    /// Bytes in the window.
    len: usize,
    bytes: Buffer,
    /// Where the last request ended.
    end: u64,
    /// How many requests in a row went on near where the one before ended.
    streak: u32,
}

impl<B: Blob> ReadAhead<B> {
    /// Reads ahead in `inner`.
    pub fn new(inner: B) -> Self {
        ReadAhead { inner, window: Mutex::default() }
    }
}

impl Window {
    /// Takes a request from the window; `false` if it is not all there.
    fn take(&self, at: u64, into: &mut [u8]) -> bool {
        let Some(skip) = at.checked_sub(self.at).and_then(|skip| usize::try_from(skip).ok()) else {
            return false;
        };
        if skip > self.len || into.len() > self.len - skip {
            return false;
        }
        into.copy_from_slice(&self.bytes.again(self.at, self.len)[skip..][..into.len()]);
        true
    }
}

impl<B: Blob> Blob for ReadAhead<B> {
    fn size(&self) -> Result<u64> {
        self.inner.size()
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        if into.len() >= SMALL {
            return self.inner.read_at(at, into);
        }
        let Ok(mut window) = self.window.try_lock() else { return self.inner.read_at(at, into) };
        let near = at >= window.end && at - window.end < SMALL as u64;
        window.streak = if near { window.streak.saturating_add(1) } else { 0 };
        window.end = at.saturating_add(into.len() as u64);
        if window.take(at, into) {
            return Ok(into.len());
        }
        if window.streak < STREAK {
            return self.inner.read_at(at, into);
        }
        // The window holds nothing while it is filled, so that a failed read leaves nothing wrong behind.
        let window = &mut *window;
        window.len = 0;
        let bytes = window.bytes.at(at, WINDOW);
        let got = self.inner.read_at(at, bytes)?;
        let given = got.min(into.len());
        into[..given].copy_from_slice(&bytes[..given]);
        (window.at, window.len) = (at, got);
        Ok(given)
    }

    fn name(&self) -> String {
        self.inner.name()
    }

    fn forget(&self) {
        self.window.lock().unwrap_or_else(PoisonError::into_inner).len = 0;
        self.inner.forget();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Counting;
    use crate::{BlobMut, MemoryBlob};
    use std::sync::Arc;

    fn numbered(len: usize) -> (Arc<Counting<MemoryBlob>>, ReadAhead<Arc<Counting<MemoryBlob>>>) {
        let bytes = (0..len).map(|at| (at % 251) as u8).collect();
        let inner = Arc::new(Counting::new(MemoryBlob::new(bytes)));
        (inner.clone(), ReadAhead::new(inner))
    }

    #[test]
    fn small_steps_cost_few_requests_and_give_the_right_bytes() {
        let (inner, blob) = numbered(1_000_000);
        let mut into = [0; 100];
        for at in (0..1_000_000).step_by(100) {
            assert_eq!(blob.read_at(at, &mut into).unwrap(), 100);
            assert!(into.iter().enumerate().all(|(i, &byte)| byte == ((at as usize + i) % 251) as u8));
        }
        assert!(inner.reads().0 <= 2 + 1_000_000 / WINDOW as u64 + 1, "{:?}", inner.reads());
    }

    #[test]
    fn jumping_about_reads_no_more_than_asked() {
        let (inner, blob) = numbered(1_000_000);
        let mut into = [0; 8];
        for step in 0..1000 {
            blob.read_at((step * 700_001) % 999_000, &mut into).unwrap();
        }
        assert_eq!(inner.reads(), (1000, 8000));
    }

    #[test]
    fn what_is_forgotten_is_read_again() {
        let (inner, blob) = numbered(1000);
        let mut into = [0; 10];
        for step in 0..5 {
            blob.read_at(step * 10, &mut into).unwrap();
        }
        inner.write_at(50, &[99; 10]).unwrap();
        blob.forget();
        blob.read_at(50, &mut into).unwrap();
        assert_eq!(into, [99; 10]);
    }

    #[test]
    fn the_end_is_where_it_is() {
        let (_, blob) = numbered(1000);
        let mut into = [0; 30];
        let got: usize = (0..40).map(|step| blob.read_at(step * 30, &mut into).unwrap()).sum();
        assert_eq!(got, 1000);
    }
}
