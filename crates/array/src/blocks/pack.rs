//! Packing blocks and giving them to their store.
//!
//! Blocks are packed by all threads, some at a time, then placed one after another in their order, then written, near ones
//! together. So the bytes of a file do not depend on threads. Blocks without filters are placed first, since their
//! length is known, and are made where they are written from.

use std::cell::Cell;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use ferrocdf_bytes::{Context, Error, Result};
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

    /// Makes the bytes of one, with a buffer to do so. Where that fails they are fill values.
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
        let mut places = Vec::with_capacity(packed.len());
        for (number, Packed { bytes, mask }) in batch.clone().zip(&*packed) {
            places.push(self.home.store.place(&self.blocks.key(number), bytes.len() as u64, *mask)?);
        }
        let mut runs = runs(&places, |at| packed[at].bytes.len() as u64);
        let packed = &*packed;
        each(self.shares, &mut runs, |_, run| {
            if let [one] = &packed[run.clone()] {
                return self.blob.write_at(places[run.start], &one.bytes);
            }
            Scratch::with(|scratch| {
                let len = packed[run.clone()].iter().map(|packed| packed.bytes.len()).sum();
                let window = scratch.window.at(places[run.start], len);
                let mut rest = &mut window[..];
                for Packed { bytes, .. } in &packed[run.clone()] {
                    let (here, more) = rest.split_at_mut(bytes.len());
                    here.copy_from_slice(bytes);
                    rest = more;
                }
                self.blob.write_at(places[run.start], window)
            })
        })
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
            let key = self.blocks.key(number);
            if self.home.store.is_plain(&key) {
                to.bytes.clear();
                to.bytes.extend_from_slice(plain);
                to.mask = u32::MAX >> 32usize.saturating_sub(self.home.chain.steps().len());
                return Ok(());
            }
            let packed = self.home.chain.encode(plain, &mut to.bytes);
            to.mask = packed.at(|| format!("the block at {key:?}"))?;
            Ok(())
        })
    }

    /// Blocks that no filter changes. They are placed first, so one that cannot be made is written all the same: a place
    /// without bytes would hold whatever was there before.
    fn unpacked(&self, batch: Range<usize>) -> Result<()> {
        let failed = Mutex::new(None);
        let note = |error: Error| {
            failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        };
        let len = self.block_len as u64;
        let place = |number| self.home.store.place(&self.blocks.key(number), len, 0);
        let places: Vec<u64> = batch.clone().map(place).collect::<Result<_>>()?;
        let mut runs = runs(&places, |_| len);
        each(self.shares, &mut runs, |_, run| {
            let (at, first) = (places[run.start], batch.start + run.start);
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
                        None => {
                            self.blocks.make(first + number, &mut scratch.dense, block).unwrap_or_else(note)
                        }
                    }
                }
                self.blob.write_at(at, window)
            })
        })?;
        failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
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

/// Blocks that lie side by side at these places, in pieces worth a request.
pub(super) fn runs(places: &[u64], len: impl Fn(usize) -> u64) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let (mut begin, mut end) = (0, 0);
    for (number, &at) in places.iter().enumerate() {
        let after = at.saturating_add(len(number));
        match runs.last_mut() {
            Some(run) if at == end && after - begin <= TOGETHER => run.end += 1,
            _ => {
                runs.push(number..number + 1);
                begin = at;
            }
        }
        end = after;
    }
    runs
}
