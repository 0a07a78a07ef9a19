//! Packing blocks and giving them to their store.
//!
//! Blocks are packed by all threads, some at a time, then get space one after another in their order, then are written,
//! near ones together. So the bytes of a file do not depend on threads. Blocks without filters get their space first, since
//! their length is known, and are made where they are written from. The store learns of a block once its bytes are
//! written: after a failed write it has the block of before.

use std::cell::Cell;
use std::ops::Range;

use ferrocdf_bytes::{Context, Result};
use ferrocdf_store::{BlobMut, Buffer, writes_slowly};
use rayon::prelude::*;

use super::cache::{self, Bytes, Key};
use super::pending::Home;
use super::read::TOGETHER;
use crate::pool;
use crate::scratch::Scratch;

/// Bytes of blocks that are packed before they are written, unless there are fewer than four for each thread.
pub(super) const BATCH: usize = 16 << 20;

/// From so many bytes on it pays to pack on all threads.
const SHARED: usize = 128 << 10;

/// Bytes of packed blocks that a thread keeps the memory of.
const KEPT: usize = 32 << 20;

/// Blocks to be stored, in their order.
pub(super) trait Blocks: Sync {
    /// How many.
    fn len(&self) -> usize;

    /// The coordinates of one.
    fn key(&self, number: usize) -> Key;

    /// The bytes of one, if they lie in memory.
    fn there(&self, number: usize) -> Option<&[u8]>;

    /// Makes the bytes of one, with a buffer to do so. One that cannot be made is not written.
    fn make(&self, number: usize, buffer: &mut Buffer, block: &mut [u8]) -> Result<()>;
}

/// Blocks that were held back.
impl Blocks for [(Key, Bytes)] {
    fn len(&self) -> usize {
        self.len()
    }

    fn key(&self, number: usize) -> Key {
        self[number].0.clone()
    }

    fn there(&self, number: usize) -> Option<&[u8]> {
        Some(&self[number].1.bytes)
    }

    fn make(&self, number: usize, _buffer: &mut Buffer, block: &mut [u8]) -> Result<()> {
        block.copy_from_slice(&self[number].1.bytes);
        Ok(())
    }
}

/// A block as it is stored.
#[derive(Default)]
struct Packed {
    bytes: Vec<u8>,
    mask: u32,
}

thread_local! {
    static PACKED: Cell<Vec<Packed>> = const { Cell::new(Vec::new()) };
}

/// Packs, places and writes blocks of `block_len` bytes.
pub(super) fn store<B: Blocks + ?Sized>(
    home: &Home,
    blob: &dyn BlobMut,
    block_len: usize,
    blocks: &B,
) -> Result<()> {
    let all = blocks.len();
    if all == 0 {
        return Ok(());
    }
    let shared = all > 1 && all.saturating_mul(block_len) >= SHARED;
    let pool = if shared { pool::get() } else { None };
    let threads = pool.map_or(1, |pool| pool.count());
    let most = (cache::budget() / 2 / block_len.max(1)).max(1);
    let together = (BATCH / block_len.max(1)).max(4 * threads).min(most);
    let packer = Packer { home, blob, block_len, blocks, shares: shared };
    let mut packed = PACKED.try_with(Cell::take).unwrap_or_default();
    let mut batches = (0..all).step_by(together).map(|first| first..(first + together).min(all));
    let done = batches.try_for_each(|batch| packer.batch(batch, &mut packed));
    let mut kept = 0;
    packed.retain(|packed| {
        kept += packed.bytes.capacity();
        kept <= KEPT
    });
    let _ = PACKED.try_with(|kept| kept.set(packed));
    done
}

struct Packer<'a, B: ?Sized> {
    home: &'a Home,
    blob: &'a dyn BlobMut,
    block_len: usize,
    blocks: &'a B,
    shares: bool,
}

impl<B: Blocks + ?Sized> Packer<'_, B> {
    fn batch(&self, batch: Range<usize>, packed: &mut Vec<Packed>) -> Result<()> {
        if self.home.chain.is_empty() {
            return self.unpacked(batch);
        }
        if packed.len() < batch.len() {
            packed.resize_with(batch.len(), Packed::default);
        }
        let packed = &mut packed[..batch.len()];
        each(self.shares, packed, |at, to| self.pack(batch.start + at, to))?;
        let packed = &*packed;
        let mut space = Space::default();
        let allocated = batch.clone().zip(packed).try_for_each(|(number, Packed { bytes, mask })| {
            space.allocate(self.home, self.blocks.key(number), bytes.len() as u64, *mask)
        });
        let written = allocated.and_then(|()| {
            space.write(self.shares, |run, at| {
                if let [one] = &packed[run.clone()] {
                    return self.blob.write_at(at, &one.bytes);
                }
                Scratch::with(|scratch| {
                    let len = packed[run.clone()].iter().map(|packed| packed.bytes.len()).sum();
                    let window = scratch.window.at(at, len);
                    let mut rest = &mut window[..];
                    for Packed { bytes, .. } in &packed[run] {
                        let (here, more) = rest.split_at_mut(bytes.len());
                        here.copy_from_slice(bytes);
                        rest = more;
                    }
                    self.blob.write_at(at, window)
                })
            })
        });
        space.insert(self.home).and(written)
    }

    fn pack(&self, number: usize, to: &mut Packed) -> Result<()> {
        Scratch::with(|scratch| {
            let plain = match self.blocks.there(number) {
                Some(plain) => plain,
                None => {
                    let plain = scratch.stored.get(self.block_len);
                    self.blocks.make(number, &mut scratch.dense, plain)?;
                    plain
                }
            };
            let packed = self.home.chain.encode(plain, &mut to.bytes);
            to.mask = packed.at(|| format!("the block at {:?}", self.blocks.key(number)))?;
            Ok(())
        })
    }

    /// Blocks that no filter changes: space is allocated first, so that they are made where they are written from.
    fn unpacked(&self, batch: Range<usize>) -> Result<()> {
        let mut space = Space::default();
        let len = self.block_len as u64;
        let allocated =
            batch.clone().try_for_each(|number| space.allocate(self.home, self.blocks.key(number), len, 0));
        let written = allocated.and_then(|()| {
            space.write(self.shares, |run, at| {
                let first = batch.start + run.start;
                if run.len() == 1
                    && let Some(bytes) = self.blocks.there(first)
                    && !writes_slowly(at, bytes)
                {
                    return self.blob.write_at(at, bytes);
                }
                Scratch::with(|scratch| {
                    let window = scratch.window.at(at, run.len() * self.block_len);
                    for (number, block) in window.chunks_exact_mut(self.block_len).enumerate() {
                        match self.blocks.there(first + number) {
                            Some(bytes) => block.copy_from_slice(bytes),
                            None => self.blocks.make(first + number, &mut scratch.dense, block)?,
                        }
                    }
                    self.blob.write_at(at, window)
                })
            })
        });
        space.insert(self.home).and(written)
    }
}

/// Space that was allocated for some blocks, in their order.
#[derive(Default)]
pub(super) struct Space {
    blocks: Vec<Allocated>,
}

struct Allocated {
    key: Key,
    at: u64,
    len: u64,
    mask: u32,
    is_written: bool,
}

impl Space {
    /// Allocates space for one more block, of `len` bytes that were encoded without the filters in `mask`.
    pub(super) fn allocate(&mut self, home: &Home, key: Key, len: u64, mask: u32) -> Result<()> {
        let at = home.store.allocate(&key, len)?;
        self.blocks.push(Allocated { key, at, len, mask, is_written: false });
        Ok(())
    }

    /// Calls `write` with the blocks of each run that lies side by side, and with the position of the first; in parallel if
    /// the work is shared. Stops at the first error.
    pub(super) fn write(
        &mut self,
        shares: bool,
        write: impl Fn(Range<usize>, u64) -> Result<()> + Sync + Send,
    ) -> Result<()> {
        struct Run<'a> {
            first: usize,
            blocks: &'a mut [Allocated],
        }
        let (mut runs, mut rest, mut first) = (Vec::new(), &mut self.blocks[..], 0);
        for run in self::runs(rest) {
            let (blocks, behind) = rest.split_at_mut(run);
            runs.push(Run { first, blocks });
            (rest, first) = (behind, first + run);
        }
        each(shares, &mut runs, |_, Run { first, blocks }| {
            write(*first..*first + blocks.len(), blocks[0].at)?;
            blocks.iter_mut().for_each(|block| block.is_written = true);
            Ok(())
        })
    }

    /// Makes the blocks that were written found in their space, and gives back that of the others.
    pub(super) fn insert(self, home: &Home) -> Result<()> {
        let mut done = Ok(());
        for Allocated { key, at, len, mask, is_written } in self.blocks {
            if is_written && done.is_ok() {
                done = home.store.insert(&key, at, len, mask);
            } else {
                home.store.release(&key, at, len);
            }
        }
        done
    }
}

/// Does something with each of these, by all threads if the work is shared.
pub(super) fn each<T: Send>(
    shares: bool,
    items: &mut [T],
    work: impl Fn(usize, &mut T) -> Result<()> + Sync + Send,
) -> Result<()> {
    let pool = if shares && items.len() > 1 { pool::get() } else { None };
    match pool {
        Some(pool) => pool.install(|| {
            let items = items.par_iter_mut().enumerate().with_max_len(1);
            items.try_for_each(|(number, item)| work(number, item))
        }),
        None => items.iter_mut().enumerate().try_for_each(|(number, item)| work(number, item)),
    }
}

/// How many blocks each run has that lie side by side, in pieces worth a request.
fn runs(blocks: &[Allocated]) -> Vec<usize> {
    let mut runs: Vec<usize> = Vec::new();
    let (mut begin, mut end) = (0, 0);
    for &Allocated { at, len, .. } in blocks {
        let after = at.saturating_add(len);
        match runs.last_mut() {
            Some(run) if at == end && after - begin <= TOGETHER => *run += 1,
            _ => {
                runs.push(1);
                begin = at;
            }
        }
        end = after;
    }
    runs
}
