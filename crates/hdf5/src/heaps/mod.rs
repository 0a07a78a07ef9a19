//! Heaps: names of symbol table groups (III.D), and dense links, attributes and shared messages (III.G).

mod fractal;
mod local;

pub use fractal::FractalHeap;
pub use local::LocalHeap;
