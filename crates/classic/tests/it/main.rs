//! The classic formats on stores that fail and on bytes that lie.

mod failing;
mod hostile;
mod power;
mod sample;
mod small_disk;
