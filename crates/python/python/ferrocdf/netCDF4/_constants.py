"""Names and numbers of netCDF4-python and netCDF-C."""

import numpy as np

#: The release of netCDF4-python whose interface this is.
VERSION = "1.7.5.1.post1"
#: The release of netCDF-C whose behaviour the engine has, as the C library of ferrocdf says it.
LIBRARY = "4.10.1 of Oct 22 2026 00:00:00 $"
#: The release of HDF5 that netCDF4-python's wheel brings. No HDF5 library is inside; programs compare it with others.
HDF5_VERSION = "2.2.0"

#: Data types of NumPy, without byte order, and the names of the types in netCDF.
TYPES = {
    "S1": "char",
    "i1": "byte",
    "u1": "ubyte",
    "i2": "short",
    "u2": "ushort",
    "i4": "int",
    "u4": "uint",
    "i8": "int64",
    "u8": "uint64",
    "f4": "float",
    "f8": "double",
}

#: Fill values of elements of variables that have none of their own. Those of complex numbers are for two numbers side by side.
default_fillvals = {
    "S1": "\0",
    "i1": -127,
    "u1": 255,
    "i2": -32767,
    "u2": 65535,
    "i4": -2147483647,
    "u4": 4294967295,
    "i8": -9223372036854775806,
    "u8": 18446744073709551614,
    "f4": 9.969209968386869e36,
    "f8": 9.969209968386869e36,
    "c8": 9.969209968386869e36,
    "c16": 9.969209968386869e36,
}

#: Data models, and the kinds of datasets as ``ferrocdf.open`` and ``nccopy -k`` call them.
KINDS = {
    "NETCDF4": "netCDF-4",
    "NETCDF4_CLASSIC": "netCDF-4 classic model",
    "NETCDF3_CLASSIC": "classic",
    "NETCDF3_64BIT_OFFSET": "64-bit offset",
    "NETCDF3_64BIT_DATA": "cdf5",
}
#: The data model of each kind.
DATA_MODELS = {kind: model for model, kind in KINDS.items()}
#: An older name of a data model.
ALIASES = {"NETCDF3_64BIT": "NETCDF3_64BIT_OFFSET"}
#: What the containers are called.
DISK_FORMATS = {"classic": "NETCDF3", "HDF5": "HDF5", "HDF4": "HDF4", "Zarr 2": "NCZARR", "Zarr 3": "NCZARR"}

is_native_little = np.dtype("<f4").isnative
is_native_big = not is_native_little

NC_DISKLESS = 0x0008
NC_PERSIST = 0x4000


def code(dtype):
    """Returns a data type of NumPy as text without its byte order: "f4"."""
    return np.dtype(dtype).str[1:]


def has_classic_model(data_model):
    """True for all data models but that with groups and user-defined types."""
    return data_model != "NETCDF4"
