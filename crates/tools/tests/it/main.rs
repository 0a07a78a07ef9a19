//! The tools, run as functions.

mod ncdump;
