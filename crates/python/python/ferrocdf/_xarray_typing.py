"""Types that annotations of what is written from xarray name. Only type checkers import this module."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Literal, TypeAlias, TypedDict

import xarray

XarrayData: TypeAlias = xarray.Dataset | xarray.DataArray | xarray.DataTree
WriteMode: TypeAlias = Literal["w", "w-", "a", "r+"]
ZarrMode: TypeAlias = WriteMode | Literal["a-"]
Format: TypeAlias = Literal["NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_64BIT", "NETCDF3_CLASSIC", "CDF5"]
Region: TypeAlias = Mapping[Any, slice | Literal["auto"]] | Literal["auto"]

#: By the names of variables; of a tree by the paths of groups, and then by the names of variables.
Encoding: TypeAlias = Mapping[Any, Mapping[Any, Any]]

#: Names of dimensions; of a tree by the paths of groups.
UnlimitedDims: TypeAlias = Hashable | Iterable[Hashable] | Mapping[str, Hashable | Iterable[Hashable]]


class _Options(TypedDict, total=False):
    group: str | None
    encoding: Encoding | None
    region: Region | None
    append_dim: str | None
    write_inherited_coords: bool


class NetcdfOptions(_Options, total=False):
    """Options of ``to_netcdf``."""

    format: Format | None
    unlimited_dims: UnlimitedDims | None


class ZarrOptions(_Options, total=False):
    """Options of ``to_zarr``."""

    zarr_format: Literal[2, 3]
