//! Constants of `netcdf.h`.

use std::ffi::c_int;

use ferrocdf::{DataModel, Format};

pub(crate) const NC_NOERR: c_int = 0;

pub(crate) const NC_WRITE: c_int = 0x0001;
pub(crate) const NC_NOCLOBBER: c_int = 0x0004;
pub(crate) const NC_DISKLESS: c_int = 0x0008;
pub(crate) const NC_MMAP: c_int = 0x0010;
pub(crate) const NC_64BIT_DATA: c_int = 0x0020;
pub(crate) const NC_CLASSIC_MODEL: c_int = 0x0100;
pub(crate) const NC_64BIT_OFFSET: c_int = 0x0200;
pub(crate) const NC_SHARE: c_int = 0x0800;
pub(crate) const NC_NETCDF4: c_int = 0x1000;
pub(crate) const NC_PERSIST: c_int = 0x4000;
pub(crate) const NC_INMEMORY: c_int = 0x8000;

/// `NC_UDF0` to `NC_UDF9`: formats that programs define.
pub(crate) const UDF_FLAGS: [c_int; 10] =
    [0x0040, 0x0080, 0x1_0000, 0x8_0000, 0x10_0000, 0x20_0000, 0x40_0000, 0x80_0000, 0x100_0000, 0x200_0000];

pub(crate) const NC_FILL: c_int = 0;
pub(crate) const NC_NOFILL: c_int = 0x100;

/// `varid` of global attributes.
pub(crate) const NC_GLOBAL: c_int = -1;
/// Length of an unlimited dimension in a definition.
pub(crate) const NC_UNLIMITED: usize = 0;

/// `NC_MAX_NAME`
pub(crate) const LONGEST_NAME: usize = 256;

/// Returns the flags of `nc_create` for a format.
pub(crate) fn format_flags(format: Format) -> c_int {
    match format.data_model() {
        DataModel::Classic => 0,
        DataModel::Offset64 => NC_64BIT_OFFSET,
        DataModel::Data64 => NC_64BIT_DATA,
        DataModel::Netcdf4 => NC_NETCDF4,
        DataModel::Netcdf4Classic => NC_NETCDF4 | NC_CLASSIC_MODEL,
    }
}

pub(crate) const FILL_VALUE: &str = "_FillValue";

pub(crate) const NC_VLEN: c_int = 13;

pub(crate) const NC_OPAQUE: c_int = 14;

pub(crate) const NC_ENUM: c_int = 15;

pub(crate) const NC_COMPOUND: c_int = 16;
