//! Names of the kinds of files on command lines (`-k`).

use ferrocdf::Format;

/// Every spelling the reference's tools take, the canonical name of each kind first.
const KINDS: [(&str, Format); 26] = [
    ("classic", Format::Classic),
    ("nc3", Format::Classic),
    ("1", Format::Classic),
    ("64-bit offset", Format::Offset64),
    ("nc6", Format::Offset64),
    ("2", Format::Offset64),
    ("64-bit-offset", Format::Offset64),
    ("netCDF-4", Format::Netcdf4),
    ("nc4", Format::Netcdf4),
    ("3", Format::Netcdf4),
    ("netCDF4", Format::Netcdf4),
    ("hdf5", Format::Netcdf4),
    ("enhanced", Format::Netcdf4),
    ("netCDF-4 classic model", Format::Netcdf4Classic),
    ("nc7", Format::Netcdf4Classic),
    ("4", Format::Netcdf4Classic),
    ("netCDF-4-classic", Format::Netcdf4Classic),
    ("netCDF-4_classic", Format::Netcdf4Classic),
    ("netCDF4_classic", Format::Netcdf4Classic),
    ("hdf5-nc3", Format::Netcdf4Classic),
    ("enhanced-nc3", Format::Netcdf4Classic),
    ("cdf5", Format::Data64),
    ("nc5", Format::Data64),
    ("5", Format::Data64),
    ("64-bit data", Format::Data64),
    ("64-bit-data", Format::Data64),
];

/// The kind called `name`.
pub fn find(name: &[u8]) -> Option<Format> {
    KINDS.iter().find(|(known, _)| known.as_bytes() == name).map(|&(_, format)| format)
}
