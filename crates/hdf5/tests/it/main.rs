//! Files of the reference library, read; and the same files damaged.

mod data_half;
mod edit;
mod files;
mod hostile;
mod paths;
mod sample;
