//! The tools, run as functions and as they are called.

mod ferrocdf;
mod info;
mod ncdump;
mod ncgen;
mod plugins;
