//! The memory of one decoded block that is kept.
//!
//! Large blocks are mapped with advice for huge pages: the system then makes 2 MiB of memory at a time and not 4 KiB,
//! which was measured to take a third of the time. Half of what it takes to decode a block into fresh memory was that.
//!
//! Not done: memory that the caller gets, which is the caller's to make.

use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;

/// The size of a huge page.
const HUGE: usize = 2 << 20;

/// Blocks from this size on are mapped; what they take more than they need is at most half as much.
const LARGE: usize = 2 * HUGE;

/// Bytes of a block.
#[derive(Debug)]
pub(crate) struct Memory {
    held: Held,
    len: usize,
}

#[derive(Debug)]
enum Held {
    Heap(Vec<u8>),
    Mapped(MmapMut),
}

impl Memory {
    /// `len` zeros.
    pub(crate) fn new(len: usize) -> Memory {
        let held = match mapped(len) {
            Some(map) => Held::Mapped(map),
            None => Held::Heap(vec![0; len]),
        };
        Memory { held, len }
    }

    /// The bytes that it takes.
    pub(crate) fn size(&self) -> usize {
        match &self.held {
            Held::Heap(bytes) => bytes.len(),
            Held::Mapped(map) => map.len(),
        }
    }

    /// Whether it has room for `len` bytes and is no waste for them.
    pub(crate) fn fits(&self, len: usize) -> bool {
        self.size() >= len && self.size() / 2 <= len
    }

    /// Makes it one of `len` bytes with any content; it must have room for them.
    pub(crate) fn cut(&mut self, len: usize) {
        self.len = len.min(self.size());
    }
}

/// Memory of huge pages; `None` where it does not pay, or is not to be had.
fn mapped(len: usize) -> Option<MmapMut> {
    if len < LARGE {
        return None;
    }
    let map = MmapMut::map_anon(len.checked_next_multiple_of(HUGE)?).ok()?;
    // Without huge pages it is memory all the same.
    #[cfg(target_os = "linux")]
    let _ = map.advise(memmap2::Advice::HugePage);
    Some(map)
}

impl Deref for Memory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.held {
            Held::Heap(bytes) => &bytes[..self.len],
            Held::Mapped(map) => &map[..self.len],
        }
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut [u8] {
        match &mut self.held {
            Held::Heap(bytes) => &mut bytes[..self.len],
            Held::Mapped(map) => &mut map[..self.len],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_the_length_that_is_asked_for() {
        for len in [0, 1, LARGE - 1, LARGE, LARGE + 1, 3 * HUGE] {
            let mut memory = Memory::new(len);
            assert_eq!(memory.len(), len);
            assert!(memory.size() >= len && memory.size() <= len + len / 2);
            memory.fill(7);
            assert!(memory.iter().all(|&byte| byte == 7));
        }
    }

    #[test]
    fn is_reused_for_blocks_of_about_its_size() {
        let mut memory = Memory::new(1000);
        assert_eq!([400, 1001, 600].map(|len| memory.fits(len)), [false, false, true]);
        memory.cut(600);
        assert_eq!((memory.len(), memory.fits(1000)), (600, true));
    }
}
