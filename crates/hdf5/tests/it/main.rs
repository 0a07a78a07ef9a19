//! Files of the reference library, read; and the same files damaged.

mod files;
mod hostile;
mod paths;
mod sample;
