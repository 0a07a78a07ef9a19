"""The interface of netCDF4-python on top of ferrocdf, so that programs for it run unchanged.

>>> import ferrocdf.netCDF4 as netCDF4
>>> with netCDF4.Dataset("crabs.nc", "w") as data:
...     time = data.createDimension("time", None)
...     data.createVariable("coolness", "f4", ("time",))[:] = [1.0, 2.5]
>>> netCDF4.Dataset("crabs.nc")["coolness"][:].tolist()
[1.0, 2.5]

``stand_in()`` puts this module in the place of ``netCDF4`` for a whole process. It needs the package cftime.
"""

from __future__ import annotations

import sys

from cftime import date2index, date2num, num2date, num2pydate

from . import utils
from ._constants import (
    HDF5_VERSION,
    LIBRARY,
    NC_DISKLESS,
    NC_PERSIST,
    VERSION,
    default_fillvals,
    is_native_big,
    is_native_little,
)
from ._dataset import Dataset, Group
from ._dimension import Dimension
from ._errors import NetCDF4MissingFeatureException
from ._multifile import MFDataset, MFTime
from ._settings import get_alignment, get_chunk_cache, rc_get, rc_set, set_alignment, set_chunk_cache
from ._text import chartostring, stringtoarr, stringtochar
from ._types import CompoundType, EnumType, VLType
from ._variable import Variable

__all__ = [
    "CompoundType",
    "Dataset",
    "Dimension",
    "EnumType",
    "Group",
    "MFDataset",
    "MFTime",
    "VLType",
    "Variable",
    "chartostring",
    "date2index",
    "date2num",
    "get_alignment",
    "get_chunk_cache",
    "getlibversion",
    "num2date",
    "num2pydate",
    "rc_get",
    "rc_set",
    "set_alignment",
    "set_chunk_cache",
    "stand_in",
    "stringtoarr",
    "stringtochar",
]

__version__ = VERSION
__netcdf4libversion__ = LIBRARY.split()[0]
__hdf5libversion__ = HDF5_VERSION

__has_rename_grp__ = 1
__has_nc_inq_path__ = 1
__has_nc_inq_format_extended__ = 1
__has_nc_open_mem__ = 1
__has_nc_create_mem__ = 1
__has_cdf5_format__ = 1
__has_parallel4_support__ = 0
__has_pnetcdf_support__ = 0
__has_parallel_support__ = 0
__has_quantization_support__ = 1
__has_zstandard_support__ = 1
__has_bzip2_support__ = 1
__has_blosc_support__ = 1
__has_szip_support__ = 1
__has_set_alignment__ = 1
__has_ncfilter__ = 1
__has_nc_rc_set__ = 1

# They do nothing, as in netCDF4-python.
default_encoding = "utf-8"
unicode_error = "replace"


def getlibversion() -> str:
    """Returns the release of netCDF-C whose behaviour the engine has, and a time."""
    return LIBRARY


def dtype_is_complex(dtype: str) -> bool:
    """True for the names of complex numbers: "c8" and "c16"."""
    return dtype in ("c8", "c16")


def stand_in() -> None:
    """Lets ``import netCDF4`` give this module, in this process from now on. Modules that have imported netCDF4 before keep theirs."""
    module = sys.modules[__name__]
    sys.modules.update({"netCDF4": module, "netCDF4.utils": utils, "netCDF4._netCDF4": module})
