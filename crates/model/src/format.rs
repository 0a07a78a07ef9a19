//! What each format can hold, as one table.

use crate::Atomic;

/// The kinds of netCDF files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// CDF-1, the format of 1989.
    Classic,
    /// CDF-2, classic with 64-bit offsets.
    Offset64,
    /// CDF-5, with 64-bit counts and unsigned and 64-bit integers.
    Data64,
    /// netCDF-4 on HDF5, the enhanced model.
    Netcdf4,
    /// netCDF-4 on HDF5, held to the classic model.
    Netcdf4Classic,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 5] =
        [Format::Classic, Format::Offset64, Format::Data64, Format::Netcdf4, Format::Netcdf4Classic];

    /// Its name as `ncdump -k` prints it.
    pub fn kind_name(self) -> &'static str {
        match self {
            Format::Classic => "classic",
            Format::Offset64 => "64-bit offset",
            Format::Data64 => "cdf5",
            Format::Netcdf4 => "netCDF-4",
            Format::Netcdf4Classic => "netCDF-4 classic model",
        }
    }

    /// Whether it is one of the three kinds of the classic file format.
    pub fn is_classic_file(self) -> bool {
        matches!(self, Format::Classic | Format::Offset64 | Format::Data64)
    }

    /// Whether groups, user-defined types and several unlimited dimensions in any place exist.
    pub fn is_enhanced(self) -> bool {
        self == Format::Netcdf4
    }

    /// Whether a variable or attribute may have this type.
    pub fn holds(self, atomic: Atomic) -> bool {
        match self {
            Format::Classic | Format::Offset64 | Format::Netcdf4Classic => atomic <= Atomic::Double,
            Format::Data64 => atomic <= Atomic::Uint64,
            Format::Netcdf4 => true,
        }
    }

    /// The longest dimension it can store.
    pub fn max_dim_len(self) -> u64 {
        match self {
            Format::Classic => i32::MAX as u64 - 3,
            Format::Offset64 => u32::MAX as u64 - 3,
            Format::Data64 => u64::MAX - 3,
            Format::Netcdf4 | Format::Netcdf4Classic => u64::MAX - 1,
        }
    }
}
