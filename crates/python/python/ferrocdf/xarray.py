"""The engine ``ferrocdf`` of xarray: ``xarray.open_dataset(place, engine="ferrocdf")``, and ``dataset.to_netcdf(place, engine="ferrocdf")``.

Variables are read and written from any thread and without a lock. xarray encodes and decodes them as it does those of every engine.

xarray imports this module when it looks for engines, as ``xarray.open_dataset`` does without the name of one. Programs that write first import it
themselves: it adds the engine to those that xarray writes with, and the accessor ``dataset.ferrocdf`` to datasets, arrays and trees.
"""

from __future__ import annotations

import builtins
import os
import posixpath
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import xarray
from xarray.backends import BackendEntrypoint
from xarray.backends.common import _normalize_path
from xarray.backends.store import StoreBackendEntrypoint

from ._objects import Dataset, Group, open
from ._xarray_store import FerrocdfStore
from ._xarray_write import to_netcdf, to_zarr

if TYPE_CHECKING:
    from xarray.backends.common import T_PathFileOrDataStore

    from ._typing import BinaryTarget, Path
    from ._xarray_typing import WriteMode, XarrayData, ZarrMode

# Bytes at the begin of files that this engine reads, and of which no other engine of xarray is the first choice.
_SIGNATURES = (b"CDF\x01", b"CDF\x02", b"CDF\x05", b"\x89HDF\r\n\x1a\n", b"\x0e\x03\x13\x01")


class FerrocdfBackend(BackendEntrypoint):
    """Reads netCDF, HDF5, HDF4 and Zarr with ferrocdf."""

    description = "Open netCDF, HDF5, HDF4 and Zarr with ferrocdf"
    url = "https://github.com/ferrocdf/ferrocdf"
    supports_groups = True
    open_dataset_parameters = (
        "filename_or_obj",
        "mask_and_scale",
        "decode_times",
        "concat_characters",
        "decode_coords",
        "drop_variables",
        "use_cftime",
        "decode_timedelta",
        "group",
        "hdf_eos",
    )

    def guess_can_open(self, filename_or_obj: T_PathFileOrDataStore) -> bool:
        """True for local files and bytes that begin as files of this engine do."""
        if isinstance(filename_or_obj, (str, os.PathLike)):
            try:
                with builtins.open(filename_or_obj, "rb") as file:
                    start = file.read(8)
            except OSError:
                return False
        elif isinstance(filename_or_obj, (bytes, memoryview)):
            start = bytes(filename_or_obj[:8])
        else:
            return False
        return start.startswith(_SIGNATURES)

    def open_dataset(
        self,
        filename_or_obj: T_PathFileOrDataStore | Dataset,
        *,
        mask_and_scale: bool = True,
        decode_times: bool = True,
        concat_characters: bool = True,
        decode_coords: bool | str = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: bool | None = None,
        decode_timedelta: bool | None = None,
        group: str | None = None,
        hdf_eos: bool = False,
    ) -> xarray.Dataset:
        """Opens one group of a dataset."""
        source = filename_or_obj if isinstance(filename_or_obj, Dataset) else _normalize_path(filename_or_obj)
        store = FerrocdfStore(source, group) if isinstance(source, Dataset) else FerrocdfStore.open(source, group=group, all_attributes=True, hdf_eos=hdf_eos)
        made = StoreBackendEntrypoint().open_dataset(
            store,
            mask_and_scale=mask_and_scale,
            decode_times=decode_times,
            concat_characters=concat_characters,
            decode_coords=decode_coords,
            drop_variables=drop_variables,
            use_cftime=use_cftime,
            decode_timedelta=decode_timedelta,
        )
        return made

    def open_groups_as_dict(
        self, filename_or_obj: T_PathFileOrDataStore | Dataset, *, group: str | None = None, hdf_eos: bool = False, **decoding: Any
    ) -> dict[str, xarray.Dataset]:
        """Opens all groups of a dataset, by their paths."""
        source: Any = filename_or_obj if isinstance(filename_or_obj, Dataset) else _normalize_path(filename_or_obj)
        dataset = source if isinstance(source, Dataset) else open(source, all_attributes=True, hdf_eos=hdf_eos)
        top: Group = dataset if group in (None, "", "/") else dataset[group]
        found = {}
        for each in _with_inner(top):
            path = "/" + posixpath.relpath(each.path, top.path) if each.path != top.path else "/"
            found[path] = self.open_dataset(dataset, group=each.path, **decoding)
        return found

    def open_datatree(
        self, filename_or_obj: T_PathFileOrDataStore | Dataset, *, group: str | None = None, hdf_eos: bool = False, **decoding: Any
    ) -> xarray.DataTree:
        """Opens a dataset as a tree of its groups."""
        from xarray.core.datatree import DataTree

        found = self.open_groups_as_dict(filename_or_obj, group=group, hdf_eos=hdf_eos, **decoding)
        return DataTree.from_dict(found)


def _with_inner(group: Group) -> Iterator[Group]:
    yield group
    for inner in group.groups.values():
        yield from _with_inner(inner)


def _table_of_writers() -> dict[str, Any] | None:
    """The engines that ``to_netcdf`` of xarray knows; None if this release of xarray has no such table."""
    try:
        from xarray.backends import writers
    except ImportError:
        from xarray.backends import api as writers  # type: ignore[no-redef]
    table = getattr(writers, "WRITEABLE_STORES", None)
    return table if isinstance(table, dict) and callable(table.get("netcdf4")) else None


class _Accessor:
    """``dataset.ferrocdf``: writes the dataset, the array or the tree."""

    def __init__(self, data: XarrayData) -> None:
        self._data = data

    def to_netcdf(self, path: Path | BinaryTarget | None = None, mode: WriteMode | None = None, **options: Any) -> Any:
        """Writes it to a netCDF file, as ``ferrocdf.to_netcdf`` does."""
        return to_netcdf(self._data, path, mode, **options)

    def to_zarr(self, store: Path, mode: ZarrMode | None = None, **options: Any) -> Any:
        """Writes it to a Zarr store, as ``ferrocdf.to_zarr`` does."""
        return to_zarr(self._data, store, mode, **options)


if (_table := _table_of_writers()) is not None:
    _table["ferrocdf"] = FerrocdfStore.open
for _register in (xarray.register_dataset_accessor, xarray.register_dataarray_accessor, xarray.register_datatree_accessor):
    _register("ferrocdf")(_Accessor)
