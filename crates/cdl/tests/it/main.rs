//! CDL as users write it.

mod parse;
mod parse_data;
mod parse_faults;
