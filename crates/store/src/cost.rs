//! The cost of requests to a source of bytes, by which readers plan them.

/// The cost of requests to a blob or a store. All numbers are hints: the values that are read and written do not depend on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The class of the time until the first byte of an answer arrives.
    pub latency: Latency,
    /// Bytes between two ranges that are cheaper to read along than to ask for the second range alone.
    pub gap: u64,
    /// True if two chunks with at most `gap` bytes between them are read in one request. False if these bytes may be metadata, which another
    /// view of the file reads and keeps.
    pub joins_chunks: bool,
    /// Bytes to read at once if requests for small ranges near each other are to be expected.
    pub window: usize,
    /// Requests that are worth having in flight at once.
    pub in_flight: usize,
}

/// Classes of latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Latency {
    /// Nanoseconds: bytes in memory.
    Memory,
    /// Microseconds: a local file, mostly in the page cache.
    Local,
    /// Milliseconds: another machine.
    Remote,
}

impl Cost {
    /// The cost of bytes in memory: 1 KiB is copied along in the some 50 ns of one more request.
    pub const MEMORY: Cost =
        Cost { latency: Latency::Memory, gap: 1 << 10, joins_chunks: true, window: 0, in_flight: 1 };

    /// The cost of a local file: 12 KiB of cached bytes are read along in the 0.6 us of one more `pread` (at 20 GB/s).
    pub const LOCAL: Cost =
        Cost { latency: Latency::Local, gap: 12 << 10, joins_chunks: true, window: 64 << 10, in_flight: 1 };

    /// The cost of a bucket or web server some 50 ms away, at some 50 MB/s a connection: a gap of half a megabyte is read
    /// in a fifth of the time that a request takes.
    pub const REMOTE: Cost =
        Cost { latency: Latency::Remote, gap: 512 << 10, joins_chunks: true, window: 1 << 20, in_flight: 32 };

    /// True if a request costs microseconds at most, so that several threads may read here and there, each request for itself,
    /// instead of one thread in the order of the bytes.
    pub fn is_near(&self) -> bool {
        self.latency < Latency::Remote
    }
}
