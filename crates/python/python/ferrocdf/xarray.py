"""The engine ``ferrocdf`` of xarray: ``xarray.open_dataset(place, engine="ferrocdf")``.

Variables are read when they are used, from any thread and without a lock. xarray decodes them as it does those of every engine.
"""

import builtins
import os
import posixpath

import numpy as np
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.backends.common import AbstractDataStore, _normalize_path
from xarray.backends.store import StoreBackendEntrypoint
from xarray.core import indexing
from xarray.core.utils import FrozenDict
from xarray.core.variable import Variable

from ._objects import Dataset, open

# Bytes at the begin of files that this engine reads, and of which no other engine of xarray is the first choice.
_SIGNATURES = (b"CDF\x01", b"CDF\x02", b"CDF\x05", b"\x89HDF\r\n\x1a\n", b"\x0e\x03\x13\x01")

# Filters that encodings have a key for, as the engine netcdf4 calls it.
_ENCODING_KEYS = {"deflate": "zlib", "Zstandard": "zstd", "bzip2": "bzip2", "shuffle": "shuffle", "fletcher32": "fletcher32"}


def _attributes(owner):
    """The attributes of a group or a variable. Bytes of text that are no UTF-8 become U+FFFD, as in other engines."""

    def readable(value):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace") if isinstance(value, str) else value

    return {name: readable(value) for name, value in owner.attrs.asdict().items()}


class _Array(BackendArray):
    """A variable whose elements are read when they are asked for."""

    def __init__(self, variable):
        self.variable, self.shape = variable, variable.shape
        self.dtype = np.dtype(object) if variable.dtype.kind == "O" else variable.dtype

    def __getitem__(self, key):
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._read)

    def _read(self, key):
        values = self.variable[key]
        # An index of integers alone gives a scalar.
        return values if isinstance(values, np.ndarray) else np.asarray(values, self.dtype)


class FerrocdfStore(AbstractDataStore):
    """What xarray reads a dataset through."""

    def __init__(self, dataset, group=None):
        self.dataset = dataset
        self.group = dataset if group in (None, "", "/") else dataset[group]

    @classmethod
    def open(cls, source, group=None, **options):
        """Opens a dataset, and takes one group of it."""
        return cls(open(source, all_attributes=True, **options), group)

    def get_attrs(self):
        """Returns the attributes of the group."""
        return FrozenDict(_attributes(self.group))

    def get_dimensions(self):
        """Returns the lengths of the dimensions of the group."""
        return FrozenDict({name: dim.size for name, dim in self._dimensions().items()})

    def get_variables(self):
        """Returns the variables of the group, unread."""
        return FrozenDict({name: self._variable(found) for name, found in self.group.variables.items()})

    def get_encoding(self):
        """Returns the dimensions that grow."""
        return {"unlimited_dims": {name for name, dim in self._dimensions().items() if dim.is_unlimited}}

    def _dimensions(self):
        found, group = {}, self.group
        while group is not None:
            found = {**group.dimensions, **found}
            group = group.parent
        used = {name for variable in self.group.variables.values() for name in variable.dimensions}
        return {name: dim for name, dim in found.items() if name in self.group.dimensions or name in used}

    def _variable(self, found):
        attributes = _attributes(found)
        if found.dtype.kind == "S" and "_FillValue" in attributes:
            attributes["_FillValue"] = np.bytes_(attributes["_FillValue"])
        array = indexing.LazilyIndexedArray(_Array(found))
        encoding = {"original_shape": found.shape, "dtype": found.dtype}
        if isinstance(self.dataset.location, str):
            encoding["source"] = self.dataset.location
        if found.dtype.kind == "O":
            encoding["dtype"] = str if (found.dtype.metadata or {}).get("vlen") is str else found.dtype
        if found.chunks is None:
            encoding.update(contiguous=True, chunksizes=None)
        else:
            encoding.update(contiguous=False, chunksizes=found.chunks)
            encoding["preferred_chunks"] = dict(zip(found.dimensions, found.chunks))
        for stage in found.filters:
            name, *parameters = stage.split(",")
            if name in _ENCODING_KEYS:
                encoding[_ENCODING_KEYS[name]] = True
            if name in ("deflate", "Zstandard", "bzip2") and parameters:
                encoding["complevel"] = int(parameters[0])
        return Variable(found.dimensions, array, attributes, encoding)

    def close(self):
        """Closes the dataset."""
        self.dataset.close()


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

    def guess_can_open(self, filename_or_obj):
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
        filename_or_obj,
        *,
        mask_and_scale=True,
        decode_times=True,
        concat_characters=True,
        decode_coords=True,
        drop_variables=None,
        use_cftime=None,
        decode_timedelta=None,
        group=None,
        hdf_eos=False,
    ):
        """Opens one group of a dataset."""
        source = filename_or_obj if isinstance(filename_or_obj, Dataset) else _normalize_path(filename_or_obj)
        store = FerrocdfStore(source, group) if isinstance(source, Dataset) else FerrocdfStore.open(source, group, hdf_eos=hdf_eos)
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

    def open_groups_as_dict(self, filename_or_obj, *, group=None, hdf_eos=False, **decoding):
        """Opens all groups of a dataset, by their paths."""
        dataset = open(_normalize_path(filename_or_obj), all_attributes=True, hdf_eos=hdf_eos)
        top = dataset if group in (None, "", "/") else dataset[group]
        found = {}
        for each in _with_inner(top):
            path = "/" + posixpath.relpath(each.path, top.path) if each.path != top.path else "/"
            found[path] = self.open_dataset(dataset, group=each.path, **decoding)
        return found

    def open_datatree(self, filename_or_obj, *, group=None, hdf_eos=False, **decoding):
        """Opens a dataset as a tree of its groups."""
        from xarray.core.datatree import DataTree

        found = self.open_groups_as_dict(filename_or_obj, group=group, hdf_eos=hdf_eos, **decoding)
        return DataTree.from_dict(found)


def _with_inner(group):
    yield group
    for inner in group.groups.values():
        yield from _with_inner(inner)
