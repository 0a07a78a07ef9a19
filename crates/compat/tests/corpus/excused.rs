//! HDF5 files of which the reference says what nobody can repeat, or says it wrong, by the ends of their paths, each with
//! the reason. What only one program is excused from stands with its test.

use std::path::Path;

/// A file by the end of its path, and the reason.
pub type Excused = (&'static str, &'static str);

/// Files whose missing chunks are not to be filled: what is read there is anything.
pub const UNFILLED: [Excused; 7] = [
    ("f03tst_open_mem.nc", NO_FILL),
    ("FValue_chunk.h5", NO_FILL),
    ("FValue_fd.h5", NO_FILL),
    ("FValue_int64.h5", NO_FILL),
    ("FValue_int8.h5", NO_FILL),
    ("FValue_uint64.h5", NO_FILL),
    ("FValue_uint8.h5", NO_FILL),
];

/// More files that no program over the reference is compared on.
const MISREAD: [Excused; 5] = [
    ("tCVE-2021-37501_attr_decode.h5", DAMAGED),
    ("cve-2024-29160.h5", DAMAGED),
    ("cve-2018-11202.h5", "a scalar with chunks, whose shape the reference takes from whatever memory holds"),
    ("tscalarstring.h5", FIXED_TEXT),
    ("nc4_groups.nc", "two dimensions of one id, which the reference takes for one"),
];

const DAMAGED: &str = "a damaged attribute, which newer versions of the HDF5 library refuse too";
/// What programs read of such text differs from run to run.
pub const FIXED_TEXT: &str = "the reference gives what lies behind text of fixed length without a zero byte";
const NO_FILL: &str =
    "the reference gives what memory held where chunks are missing that are not to be filled";

/// All that are excused from a test: some everywhere, and those of its own list.
pub fn all(more: &[Excused]) -> impl Iterator<Item = &Excused> {
    UNFILLED.iter().chain(&MISREAD).chain(more)
}

/// Whether a file is among all that are excused.
pub fn is_excused(path: &Path, more: &[Excused]) -> bool {
    all(more).any(|(name, _)| path.ends_with(name))
}
