//! The comparison with the reference implementation.

mod ncdump_command;
mod ncdump_numbers;
mod ncdump_random;

mod ncdump_tool;
