//! The chunks of all parts as those of one array, so that the engine copies them as it copies those of a file.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use ferrocdf_array::{ChunkIndex, ChunkLocation};
use ferrocdf_bytes::Result;
use ferrocdf_store::{Blob, Cost, ReadRequest};

use super::source;
use super::table::ChunkTable;
use crate::Location;

/// The chunks of one variable in all parts.
#[derive(Debug)]
pub(super) struct MergedIndex {
    /// The number of chunks along each dimension.
    pub(super) grid: Vec<u64>,
    pub(super) chunks: ChunkTable,
}

impl ChunkIndex for MergedIndex {
    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<ChunkLocation>> {
        self.chunks.locate(first, count)
    }

    fn count_stored(&self, first: &[u64], count: &[u64], limit: u64) -> Result<Option<u64>> {
        self.chunks.count(&self.grid, first, count, limit)
    }
}

/// Parts that are open at once: a process may have thousands, and open files have a limit.
const OPEN: usize = 64;

/// The bytes of all parts, one behind the other.
pub(super) struct PartsBlob {
    parts: Vec<OnePart>,
    /// The parts that were read last, the last one at the end.
    open: Mutex<VecDeque<(usize, Arc<dyn Blob>)>>,
}

/// A part and its place among the bytes of all.
struct OnePart {
    location: Location,
    first: u64,
    len: u64,
    cost: Cost,
}

impl PartsBlob {
    pub(super) fn new() -> PartsBlob {
        PartsBlob { parts: vec![], open: Mutex::default() }
    }

    /// Appends a part. Returns the position of its first byte.
    pub(super) fn push(&mut self, location: Location, blob: &dyn Blob) -> Result<u64> {
        let first = self.end();
        self.parts.push(OnePart { location, first, len: blob.size()?, cost: blob.cost() });
        Ok(first)
    }

    fn end(&self) -> u64 {
        self.parts.last().map_or(0, |part| part.first.saturating_add(part.len))
    }

    /// Returns the number of the part that has the byte at a position.
    fn number(&self, at: u64) -> usize {
        self.parts.partition_point(|part| part.first.saturating_add(part.len) <= at)
    }

    /// Returns the location of the part that has the byte at a position.
    pub(super) fn part_at(&self, at: u64) -> Option<&Location> {
        self.parts.get(self.number(at)).map(|part| &part.location)
    }

    fn open(&self, number: usize) -> Result<Arc<dyn Blob>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let found = open.iter().position(|(open, _)| *open == number).and_then(|at| open.remove(at));
        let found = match found {
            Some(found) => found,
            None => (number, source::blob(&self.parts[number].location)?),
        };
        let blob = found.1.clone();
        open.push_back(found);
        if open.len() > OPEN {
            open.pop_front();
        }
        Ok(blob)
    }
}

impl Blob for PartsBlob {
    fn size(&self) -> Result<u64> {
        Ok(self.end())
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        let mut done = 0;
        while done < into.len() {
            let at = at.saturating_add(done as u64);
            let number = self.number(at);
            let Some(part) = self.parts.get(number) else { break };
            let inside = at - part.first;
            let len = usize::try_from(part.len - inside).unwrap_or(usize::MAX).min(into.len() - done);
            self.open(number)?.read_exact_at(inside, &mut into[done..done + len])?;
            done += len;
        }
        Ok(done)
    }

    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        let mut of_parts: Vec<Vec<ReadRequest<'_>>> = self.parts.iter().map(|_| vec![]).collect();
        for request in requests {
            let number = self.number(request.at);
            let is_inside = self
                .parts
                .get(number)
                .filter(|part| (part.len - (request.at - part.first)) >= request.into.len() as u64);
            match is_inside {
                Some(part) => {
                    request.len = request.into.len();
                    of_parts[number].push(ReadRequest::new(request.at - part.first, request.into));
                }
                None => request.len = self.read_at(request.at, request.into)?,
            }
        }
        for (number, requests) in of_parts.iter_mut().enumerate().filter(|(_, requests)| !requests.is_empty())
        {
            let blob = self.open(number)?;
            blob.read_many(requests)?;
            // A part that became shorter since its index was read.
            if let Some(short) = requests.iter_mut().find(|request| request.len < request.into.len()) {
                blob.read_exact_at(short.at, short.into)?;
            }
        }
        Ok(())
    }

    fn name(&self) -> String {
        format!("{} parts", self.parts.len())
    }

    fn cost(&self) -> Cost {
        // Readers plan for the slowest part.
        let slowest = self.parts.iter().map(|part| part.cost).max_by_key(|cost| cost.latency);
        slowest.unwrap_or(Cost::MEMORY)
    }
}
