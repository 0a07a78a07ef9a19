//! The inverse of the Burrows-Wheeler transform.
//!
//! Each sorted place leads to the place of the byte behind its own, and one walk from the origin gives all bytes, but each
//! step waits for memory. So some hundred search_path are marked as starts, and walks go from several of them at once, each up to
//! the next mark; the waits of one walk then hide behind those of the others. Joined by which start each came to, the
//! walks are the one walk. Going around in less than all search_path, as equal rotations do, is repeating.

use super::block::Sorted;

/// Walks at once.
const LANES: usize = 8;

/// Starts of a block, if it is not small.
const STARTS: usize = 512;

/// The fewest search_path from start to start.
const CLOSEST: usize = 256;

/// Steps between two looks at how the walks do.
const BURST: usize = 256;

/// In a step that leads to a start. Below it is the next place, and in the lowest byte the byte.
const MARK: u32 = 1 << 31;

/// What is kept from block to block.
pub struct Walks {
    /// By sorted place.
    steps: Vec<u32>,
    /// The bytes that each lane came by.
    lanes: [Vec<u8>; LANES],
    /// By start.
    walks: Vec<Walk>,
}

/// From one start to the next.
#[derive(Clone, Copy)]
struct Walk {
    lane: usize,
    from: usize,
    to: usize,
    then: usize,
}

impl Walks {
    pub const fn new() -> Walks {
        Walks { steps: Vec::new(), lanes: [const { Vec::new() }; LANES], walks: Vec::new() }
    }

    /// Puts the sorted bytes at the front of `bytes` into the order that they had before, and behind them one more, to
    /// which the walk would come next.
    pub fn unsort(&mut self, sorted: &Sorted, bytes: &mut [u8]) {
        let stride = sorted.len.div_ceil(STARTS).max(CLOSEST);
        let first = sorted.head.origin % stride;
        self.fill_steps(sorted, &bytes[..sorted.len], first, stride);
        let starts = (sorted.len - first).div_ceil(stride);
        self.walk(sorted.len, first, stride, starts);
        self.join(sorted.head.origin / stride, sorted.len, bytes);
    }

    /// Places with the same byte lead to those of the bytes before them, in order.
    fn fill_steps(&mut self, sorted: &Sorted, last: &[u8], first: usize, stride: usize) {
        // The place behind all leads to itself.
        if self.steps.len() <= last.len() {
            self.steps = vec![0; last.len() + 1];
        }
        let steps = &mut self.steps[..=last.len()];
        steps[last.len()] = lead_to(last.len());
        let mut before = 0;
        let mut search_path = sorted.counts.map(|count| {
            before += count;
            before - count
        });
        let mut put = |place: u32, byte: u8, mark: u32| {
            let to = &mut search_path[usize::from(byte)];
            steps[*to as usize] = place << 8 | u32::from(byte) | mark;
            *to += 1;
        };
        let (head, rest) = last.split_at(first);
        (0..).zip(head).for_each(|(place, &byte)| put(place, byte, 0));
        for (at, part) in rest.chunks(stride).enumerate() {
            let start = (first + at * stride) as u32;
            put(start, part[0], MARK);
            (start + 1..).zip(&part[1..]).for_each(|(place, &byte)| put(place, byte, 0));
        }
    }

    /// Walks from each start to another.
    fn walk(&mut self, len: usize, first: usize, stride: usize, starts: usize) {
        let steps = &self.steps[..=len];
        self.walks.clear();
        self.lanes.iter_mut().for_each(Vec::clear);
        // The step that led to the place of each lane.
        let mut at = [lead_to(len); LANES];
        let mut busy = [None; LANES];
        let mut walking = 0;
        let mut parts = [[0; BURST]; LANES];
        for lane in 0..LANES.min(starts) {
            self.walks.push(Walk { lane, from: 0, to: 0, then: 0 });
            at[lane] = lead_to(first + lane * stride);
            busy[lane] = Some(lane);
            walking += 1;
        }
        while walking > 0 {
            let made = steps_at_once(steps, &mut at, &mut parts);
            for lane in 0..LANES {
                let Some(walk) = busy[lane] else { continue };
                let bytes = &mut self.lanes[lane];
                bytes.extend_from_slice(&parts[lane][..made]);
                if at[lane] & MARK == 0 {
                    continue;
                }
                let done = &mut self.walks[walk];
                done.to = bytes.len();
                done.then = place_of(at[lane]) / stride;
                let next = self.walks.len();
                if next < starts {
                    self.walks.push(Walk { lane, from: bytes.len(), to: 0, then: 0 });
                    at[lane] = lead_to(first + next * stride);
                    busy[lane] = Some(next);
                } else {
                    at[lane] = lead_to(len);
                    busy[lane] = None;
                    walking -= 1;
                }
            }
        }
    }

    /// Joins the walks from the origin on, again and again, for one byte more than `len`.
    fn join(&self, origin: usize, len: usize, bytes: &mut [u8]) {
        let bytes = &mut bytes[..=len];
        let (mut at, mut next) = (0, origin);
        while at < len {
            let walk = self.walks[next];
            let part = &self.lanes[walk.lane][walk.from..walk.to];
            bytes[at..at + part.len()].copy_from_slice(part);
            at += part.len();
            next = walk.then;
            if next == origin {
                break;
            }
        }
        let around = at;
        while at <= len {
            let part = around.min(len + 1 - at);
            bytes.copy_within(..part, at);
            at += part;
        }
    }
}

/// A step to this place that gives no byte.
fn lead_to(place: usize) -> u32 {
    (place as u32) << 8
}

#[inline(always)]
fn place_of(step: u32) -> usize {
    ((step & !MARK) >> 8) as usize
}

/// Goes on until one of the lanes comes to a start, or the parts are full. Gives the steps made.
#[inline(never)]
fn steps_at_once(steps: &[u32], at: &mut [u32; LANES], parts: &mut [[u8; BURST]; LANES]) -> usize {
    let mut now = *at;
    let mut made = 0;
    while made < BURST {
        let mut marks = 0;
        for lane in 0..LANES {
            let step = steps[place_of(now[lane])];
            now[lane] = step;
            parts[lane][made] = step as u8;
            marks |= step;
        }
        made += 1;
        if marks & MARK != 0 {
            break;
        }
    }
    *at = now;
    made
}
