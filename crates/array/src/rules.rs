//! What is done with numbers that are out of range of the type they are converted to, and whether there were any.

/// The rules for numbers out of range: netCDF-C has different ones for reading and for writing, and others again for
/// netCDF-4 files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConversionRules {
    /// Reading: from a file to memory.
    Get,
    /// Writing: from memory to a file.
    Put,
    /// Reading and writing netCDF-4 files.
    Cast,
}

/// Tells if every number was in range of the type it was converted to.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeCheck {
    /// All numbers were in range.
    InRange,
    /// Some numbers were out of range (`NC_ERANGE`). All were converted nevertheless.
    OutOfRange,
}

impl From<bool> for RangeCheck {
    fn from(in_range: bool) -> Self {
        if in_range { RangeCheck::InRange } else { RangeCheck::OutOfRange }
    }
}
