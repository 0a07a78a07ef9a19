//! Heaps: names of symbol table groups (III.D), elements of variable length (III.E), and dense links, attributes and
//! shared messages (III.G).

mod fractal;
pub(crate) mod global;
mod local;

pub use fractal::FractalHeap;
pub(crate) use fractal::NewHeap;
pub(crate) use global::GlobalHeap;
pub use global::HeapObject;
pub use local::LocalHeap;
