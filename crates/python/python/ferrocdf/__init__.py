"""netCDF, HDF5, HDF4 and Zarr as NumPy arrays.

>>> import ferrocdf
>>> with ferrocdf.open("crabs.nc", "w") as data:
...     coolness = data.create_variable("coolness", dimensions=["time", "crab"], data=[[1.0, 2.5], [0.5, 4.0]], attrs={"units": "kelvin"})
>>> data = ferrocdf.open("crabs.nc")
>>> data["coolness"][:, 1]
array([2.5, 4. ])
>>> data["coolness"].attrs["units"]
'kelvin'

Any number of threads may read and write at once; the interpreter is free meanwhile. Environment variables as for the other faces of the
library: ``FERROCDF_THREADS``, ``FERROCDF_CACHE``; ``ferrocdf.configure`` sets the same in a program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._errors import (
    AlreadyExists,
    Conflict,
    Corrupt,
    Error,
    FilterError,
    InvalidArgument,
    InvalidState,
    IoError,
    NetworkError,
    NotFound,
    OutOfBounds,
    OutOfMemory,
    PermissionDenied,
    UnknownFormat,
    Unsupported,
    WrongType,
)
from ._functions import copy, info, to_cdl
from ._mappings import Attributes
from ._objects import Dataset, Dimension, Group, Type, Variable, open
from ._references import open_refs, write_refs
from ._settings import be_one_thread_of_a_dask_worker as _be_one_thread_of_a_dask_worker, configure

__all__ = [
    "AlreadyExists",
    "Attributes",
    "Conflict",
    "Corrupt",
    "Dataset",
    "Dimension",
    "Error",
    "FilterError",
    "Group",
    "InvalidArgument",
    "InvalidState",
    "IoError",
    "NetworkError",
    "NotFound",
    "OutOfBounds",
    "OutOfMemory",
    "PermissionDenied",
    "Type",
    "UnknownFormat",
    "Unsupported",
    "Variable",
    "WrongType",
    "configure",
    "copy",
    "info",
    "open",
    "open_refs",
    "to_cdl",
    "write_refs",
]

_be_one_thread_of_a_dask_worker()

# What needs xarray, which is imported by those alone who use it.
_WITH_XARRAY = ("to_netcdf", "to_zarr")


if TYPE_CHECKING:
    from ._xarray_write import to_netcdf as to_netcdf, to_zarr as to_zarr
else:
    # Hidden from type checkers, for which every name would exist.
    def __getattr__(name):
        if name not in _WITH_XARRAY:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from . import _xarray_write

        return getattr(_xarray_write, name)


def __dir__() -> list[str]:
    return [*globals(), *_WITH_XARRAY]
