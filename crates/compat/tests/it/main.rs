//! The comparison with the reference implementation.

mod compare;
mod generate;
mod ncdump_command;
mod ncdump_numbers;
mod ncdump_random;
mod ncdump_tool;
mod sequences;

use std::path::Path;
use std::sync::OnceLock;

use ferrocdf_compat::Reference;

/// The reference, compiled once.
fn reference() -> &'static Reference {
    static REFERENCE: OnceLock<Reference> = OnceLock::new();
    REFERENCE.get_or_init(|| Reference::new(Path::new(env!("CARGO_TARGET_TMPDIR"))))
}
