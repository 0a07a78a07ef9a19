//! Open files as programs use them.

mod concurrency;
mod damaged;
mod refusals;
