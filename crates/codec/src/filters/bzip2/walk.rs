//! The inverse of the Burrows-Wheeler transform.
//!
//! Each row of the sorted rotations has a successor, the row of the next byte. One walk along the successors from the
//! origin visits all bytes in order, but each step waits for memory. Therefore some hundred rows are marked as starts, and
//! several walks run at once, each from a start to the next marked row, so that their waits overlap. Each walk records the
//! start that it reached, by which the walks are joined to the one walk from the origin. If that returns to the origin
//! before it has visited all rows, because rotations are equal, its bytes repeat.

use super::block::Sorted;

/// Number of walks that run at once.
const LANES: usize = 8;

/// Maximum number of starts in a block.
const MAX_STARTS: usize = 512;

/// Minimum distance between two starts, in rows.
const MIN_STRIDE: usize = 256;

/// Maximum number of steps between two checks of the walks.
const BURST: usize = 256;

/// Flag of a step to a marked row. The bits below it are the next row, and the low eight bits are the byte of the step.
const MARK: u32 = 1 << 31;

/// Buffers that are reused for all blocks.
pub struct Walks {
    /// Steps by row.
    steps: Vec<u32>,
    /// Bytes that the walks of each lane visited.
    lanes: [Vec<u8>; LANES],
    /// Walks by start.
    walks: Vec<RowWalk>,
}

/// Walk from a start to the next marked row.
#[derive(Clone, Copy)]
struct RowWalk {
    /// Lane that contains the bytes of the walk, in `from..to`.
    lane: usize,
    from: usize,
    to: usize,
    /// Start that the walk reached.
    next: usize,
}

impl Walks {
    pub const fn new() -> Walks {
        Walks { steps: Vec::new(), lanes: [const { Vec::new() }; LANES], walks: Vec::new() }
    }

    /// Replaces the last column at the front of `bytes` by the bytes of the block in their original order, and one more
    /// byte, at which the walk would continue.
    pub fn unsort(&mut self, sorted: &Sorted, bytes: &mut [u8]) {
        let stride = sorted.len.div_ceil(MAX_STARTS).max(MIN_STRIDE);
        let first = sorted.header.origin % stride;
        self.fill_steps(sorted, &bytes[..sorted.len], first, stride);
        let starts = (sorted.len - first).div_ceil(stride);
        self.walk(sorted.len, first, stride, starts);
        self.join(sorted.header.origin / stride, sorted.len, bytes);
    }

    /// Fills `steps` with the successor of each row: in the order of the rows, each row is the successor of the next row
    /// whose first byte is its last byte.
    fn fill_steps(&mut self, sorted: &Sorted, last: &[u8], first: usize, stride: usize) {
        // An idle lane stays in one more row, whose successor is itself.
        if self.steps.len() <= last.len() {
            self.steps = vec![0; last.len() + 1];
        }
        let steps = &mut self.steps[..=last.len()];
        steps[last.len()] = step_to(last.len());
        let mut before = 0;
        // The next row that starts with each byte.
        let mut rows = sorted.counts.map(|count| {
            before += count;
            before - count
        });
        let mut put = |row: u32, byte: u8, mark: u32| {
            let to = &mut rows[usize::from(byte)];
            steps[*to as usize] = row << 8 | u32::from(byte) | mark;
            *to += 1;
        };
        let (head, rest) = last.split_at(first);
        (0..).zip(head).for_each(|(row, &byte)| put(row, byte, 0));
        for (number, part) in rest.chunks(stride).enumerate() {
            let start = (first + number * stride) as u32;
            put(start, part[0], MARK);
            (start + 1..).zip(&part[1..]).for_each(|(row, &byte)| put(row, byte, 0));
        }
    }

    /// Walks from each start to the next marked row.
    fn walk(&mut self, len: usize, first: usize, stride: usize, starts: usize) {
        let steps = &self.steps[..=len];
        self.walks.clear();
        self.lanes.iter_mut().for_each(Vec::clear);
        // The last step of each lane.
        let mut at = [step_to(len); LANES];
        // The walk of each lane.
        let mut walk_of = [None; LANES];
        let mut active = 0;
        let mut parts = [[0; BURST]; LANES];
        for lane in 0..LANES.min(starts) {
            self.walks.push(RowWalk { lane, from: 0, to: 0, next: 0 });
            at[lane] = step_to(first + lane * stride);
            walk_of[lane] = Some(lane);
            active += 1;
        }
        while active > 0 {
            let count = advance_lanes(steps, &mut at, &mut parts);
            for lane in 0..LANES {
                let Some(walk) = walk_of[lane] else { continue };
                let bytes = &mut self.lanes[lane];
                bytes.extend_from_slice(&parts[lane][..count]);
                if at[lane] & MARK == 0 {
                    continue;
                }
                let finished = &mut self.walks[walk];
                finished.to = bytes.len();
                finished.next = row_of(at[lane]) / stride;
                let next = self.walks.len();
                if next < starts {
                    self.walks.push(RowWalk { lane, from: bytes.len(), to: 0, next: 0 });
                    at[lane] = step_to(first + next * stride);
                    walk_of[lane] = Some(next);
                } else {
                    at[lane] = step_to(len);
                    walk_of[lane] = None;
                    active -= 1;
                }
            }
        }
    }

    /// Joins the walks from the origin on, repeatedly if they return to it, to `len` bytes and one more.
    fn join(&self, origin: usize, len: usize, bytes: &mut [u8]) {
        let bytes = &mut bytes[..=len];
        let (mut at, mut next) = (0, origin);
        while at < len {
            let walk = self.walks[next];
            let part = &self.lanes[walk.lane][walk.from..walk.to];
            bytes[at..at + part.len()].copy_from_slice(part);
            at += part.len();
            next = walk.next;
            if next == origin {
                break;
            }
        }
        let period = at;
        while at <= len {
            let part = period.min(len + 1 - at);
            bytes.copy_within(..part, at);
            at += part;
        }
    }
}

/// Returns a step to this row, without a byte.
fn step_to(row: usize) -> u32 {
    (row as u32) << 8
}

#[inline(always)]
fn row_of(step: u32) -> usize {
    ((step & !MARK) >> 8) as usize
}

/// Advances all lanes until one of them reaches a marked row or `parts` are full, and returns the number of steps.
#[inline(never)]
fn advance_lanes(steps: &[u32], at: &mut [u32; LANES], parts: &mut [[u8; BURST]; LANES]) -> usize {
    let mut current = *at;
    let mut count = 0;
    while count < BURST {
        let mut marks = 0;
        for lane in 0..LANES {
            let step = steps[row_of(current[lane])];
            current[lane] = step;
            parts[lane][count] = step as u8;
            marks |= step;
        }
        count += 1;
        if marks & MARK != 0 {
            break;
        }
    }
    *at = current;
    count
}
