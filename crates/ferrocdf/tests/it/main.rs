//! Open files as programs use them.

mod build;
mod concurrency;
mod damaged;
mod groups;
mod hostile;
mod netcdf4;
mod refusals;
mod removing;
mod requests;
