//! Open files as programs use them.

mod build;
mod concurrency;
mod damaged;
mod groups;
mod hostile;
mod refusals;
mod requests;
