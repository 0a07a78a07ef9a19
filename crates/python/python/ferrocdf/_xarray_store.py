"""What xarray reads datasets through, and writes them."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from xarray.backends import BackendArray, locks
from xarray.backends.common import AbstractDataStore, WritableCFDataStore, _encode_variable_name
from xarray.backends.netcdf3 import encode_nc3_attr_value, encode_nc3_variable
from xarray.coding.strings import CharacterArrayCoder, EncodedStringCoder, is_unicode_dtype
from xarray.core import indexing
from xarray.core.utils import FrozenDict
from xarray.core.variable import Variable

from ._errors import NotFound
from ._objects import Dataset, Dimension, Group, open
from ._xarray_storage import encoding_of, storage_of

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self
    from xarray.backends.common import ArrayWriter

    from . import _objects

# The kinds of datasets that ``open`` makes for the formats of xarray.
_KINDS = {
    "NETCDF4": "netCDF-4",
    "NETCDF4_CLASSIC": "netCDF-4 classic model",
    "NETCDF3_CLASSIC": "classic",
    "NETCDF3_64BIT": "64-bit offset",
    "NETCDF3_64BIT_OFFSET": "64-bit offset",
    "NETCDF3_64BIT_DATA": "cdf5",
    "CDF5": "cdf5",
    "ZARR2": "zarr2",
    "ZARR3": "zarr",
}


def _attributes(owner: Group | _objects.Variable) -> dict[str, Any]:
    """The attributes of a group or a variable. Bytes of text that are no UTF-8 become U+FFFD, as in other engines."""

    def readable(value: Any) -> Any:
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace") if isinstance(value, str) else value

    return {name: readable(value) for name, value in owner.attrs.asdict().items()}


class _Array(BackendArray):
    """A variable whose elements are read when they are asked for."""

    def __init__(self, variable: _objects.Variable) -> None:
        self.variable, self.shape = variable, variable.shape
        self.dtype = np.dtype(object) if variable.dtype.kind == "O" else variable.dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._read)

    def _read(self, key: Any) -> NDArray[Any]:
        values = self.variable[key]
        # An index of integers alone gives a scalar.
        return values if isinstance(values, np.ndarray) else np.asarray(values, self.dtype)


class _Target:
    """A variable that blocks of an array are written to, from any thread and without a lock."""

    def __init__(self, variable: _objects.Variable, digits: int | None) -> None:
        self.variable, self.digits = variable, digits

    def __setitem__(self, key: Any, values: NDArray[Any]) -> None:
        self.variable[key] = rounded(values, self.digits)


class _ReopenedTarget:
    """A variable that other processes write to: for each block the dataset is opened anew. A lock keeps writers of one file apart."""

    def __init__(self, location: str, path: str, digits: int | None, lock: Any) -> None:
        self.location, self.path, self.digits, self.lock = location, path, digits, lock

    def __setitem__(self, key: Any, values: NDArray[Any]) -> None:
        if self.lock is None:
            # Writers of a Zarr store that meet in one chunk leave the elements of both.
            with open(self.location, "a", merge=True) as dataset:
                dataset[self.path][key] = rounded(values, self.digits)
        else:
            with self.lock, open(self.location, "a") as dataset:
                dataset[self.path][key] = rounded(values, self.digits)


def dask_scheduler() -> str | None:
    """The name of the scheduler of Dask that is in use."""
    scheduler: Callable[[], str | None] = getattr(locks, "get_dask_scheduler", None) or getattr(locks, "_get_scheduler")
    return scheduler()


def rounded(values: NDArray[Any], digits: int | None) -> NDArray[Any]:
    """Floats with so many decimal digits behind the point as ``least_significant_digit`` of netCDF4-python keeps; others as they are."""
    if digits is None or values.dtype.kind != "f":
        return values
    scale = 2.0 ** np.ceil(np.log2(10.0**digits))
    rounded: NDArray[Any] = np.around(values * scale) / scale
    return rounded.astype(values.dtype, copy=False)


class FerrocdfStore(WritableCFDataStore):
    """A group of a dataset, which xarray reads or writes.

    hand_over: called with the bytes of a dataset that was made in memory, when it is closed.
    reopens: True if other processes write the data, after this one has closed the dataset.
    makes_groups: False if a group that does not exist is an error, as it is in a dataset that is only read.
    """

    def __init__(
        self,
        dataset: Dataset,
        group: str | None = None,
        *,
        hand_over: Callable[[bytes], object] | None = None,
        reopens: bool = False,
        makes_groups: bool = True,
    ) -> None:
        self.dataset, self._hand_over, self._reopens, self._makes_groups = dataset, hand_over, reopens, makes_groups
        self.group: Group = dataset
        for name in (group or "").strip("/").split("/"):
            if name and makes_groups and dataset.mode != "r" and name not in self.group.groups:
                self.group.create_group(name)
            self.group = self.group[name] if name else self.group

    @classmethod
    def open(
        cls,
        source: Any,
        mode: str = "r",
        format: str | None = None,
        group: str | None = None,
        autoclose: bool = False,
        **options: Any,
    ) -> Self:
        """Opens a dataset, or makes one, and takes one group of it.

        source: what ``ferrocdf.open`` takes; for a new dataset also a file object with ``write``, or the object that xarray takes bytes from.
        mode: "r" reads, "r+" changes a dataset, "a" one that may not exist yet; "w" makes a dataset, "w-" and "x" one that must not exist.
        format: that of a new dataset, as xarray calls it: "NETCDF4", …; autoclose: True if other processes write the data.
        """
        if mode not in ("r", "r+", "a", "w", "w-", "x"):
            raise ValueError(f"mode {mode!r}: it is 'r', 'r+', 'a', 'w', 'w-' or 'x'")
        if mode in ("r", "r+"):
            return cls(open(source, "r" if mode == "r" else "r+", **options), group, reopens=autoclose, makes_groups=False)
        kind = _KINDS.get((format or "NETCDF4").upper())
        if kind is None:
            raise ValueError(f"format {format!r}: it is one of {', '.join(_KINDS)}")
        if not isinstance(source, (str, os.PathLike)):
            if autoclose:
                raise NotImplementedError("processes of Dask write to a path or a URL: give one, or load the data first")
            if mode == "a":
                raise ValueError("only a dataset at a path or a URL can be appended to")
            return cls(open(None, "w", kind=kind, **options), group, hand_over=_taker(source))
        if mode == "a":
            try:
                return cls(open(source, "a"), group, reopens=autoclose)
            except NotFound:
                mode = "w-"
        return cls(open(source, "w" if mode == "w" else "x", kind=kind, **options), group, reopens=autoclose)

    def get_child_store(self, group: str) -> Self:
        """Returns the store for a group within this one, which is made if it does not exist."""
        path = f"{self.group.path.rstrip('/')}/{group.strip('/')}"
        options = {"reopens": self._reopens, "makes_groups": self._makes_groups}
        return type(self)(self.dataset, path, hand_over=self._hand_over, **options)

    def __reduce_ex__(self, protocol: Any) -> Any:
        # Processes that write the data have nothing to close.
        return (AbstractDataStore, ()) if self._reopens else super().__reduce_ex__(protocol)

    @property
    def in_zarr(self) -> bool:
        """True for a Zarr store."""
        return self.dataset.container.startswith("Zarr")

    @property
    def _is_classic(self) -> bool:
        """True for the classic data model: without strings and unsigned numbers."""
        return self.dataset.format not in ("netCDF-4", "cdf5")

    # Reading.

    def get_attrs(self) -> Mapping[str, Any]:
        """Returns the attributes of the group."""
        return FrozenDict(_attributes(self.group))

    def get_dimensions(self) -> Mapping[str, int]:
        """Returns the lengths of the dimensions that the group defines."""
        return FrozenDict({name: dim.size for name, dim in self.group.dimensions.items()})

    def get_parent_dimensions(self) -> Mapping[str, int]:
        """Returns the lengths of the dimensions of the groups that this one is in."""
        own = self.group.dimensions
        return FrozenDict({name: dim.size for name, dim in self.visible_dimensions().items() if name not in own})

    def get_variables(self) -> Mapping[str, Variable]:
        """Returns the variables of the group, unread."""
        return FrozenDict({name: self._variable(found) for name, found in self.group.variables.items()})

    def get_encoding(self) -> dict[str, Any]:
        """Returns the dimensions that grow."""
        used = {name for variable in self.group.variables.values() for name in variable.dimensions}.union(self.group.dimensions)
        return {"unlimited_dims": {name for name, dim in self.visible_dimensions().items() if dim.is_unlimited and name in used}}

    def visible_dimensions(self) -> dict[str, Dimension]:
        """Returns the dimensions that variables of the group may have: its own, and those of the groups that it is in."""
        found: dict[str, Dimension] = {}
        group: Group | None = self.group
        while group is not None:
            found = {**group.dimensions, **found}
            group = group.parent
        return found

    def _variable(self, found: _objects.Variable) -> Variable:
        attributes, encoding = _attributes(found), encoding_of(found)
        if found.dtype.kind == "S" and "_FillValue" in attributes:
            attributes["_FillValue"] = np.bytes_(attributes["_FillValue"])
        if "least_significant_digit" in attributes:
            encoding["least_significant_digit"] = attributes.pop("least_significant_digit")
        if isinstance(self.dataset.location, str):
            encoding["source"] = self.dataset.location
        return Variable(found.dimensions, indexing.LazilyIndexedArray(_Array(found)), attributes, encoding)

    # Writing.

    def encode_variable(self, variable: Variable, name: Hashable = None) -> Variable:
        """Returns a variable with text as the format holds it."""
        if self._is_classic:
            encoded: Variable = encode_nc3_variable(variable, name=name)
            return encoded
        for coder in (EncodedStringCoder(allows_unicode=self.dataset.format == "netCDF-4"), CharacterArrayCoder()):
            variable = coder.encode(variable, name=name)
        return variable

    def set_attribute(self, name: str, value: Any) -> None:
        """Sets an attribute of the group."""
        self._set_attribute(self.group, name, value)

    def _set_attribute(self, owner: Group | _objects.Variable, name: str, value: Any) -> None:
        check_attribute(name, value)
        if self._is_classic:
            value = encode_nc3_attr_value(value)
        # Programs of HDF5 take characters for ASCII.
        needs_string = isinstance(value, str) and not value.isascii() and self.dataset.format == "netCDF-4"
        owner.attrs.set(name, value, "string" if needs_string else None)

    def set_dimension(self, name: str, length: int, is_unlimited: bool = False) -> None:
        """Defines a dimension."""
        check_name(name)
        # The classic formats have no other dimension of length 0, and netCDF4-python makes no other one either.
        grows = is_unlimited or length == 0 and not self.in_zarr
        self.group.create_dimension(name, None if grows else length)

    def set_variables(
        self,
        variables: Mapping[Hashable, Variable],
        check_encoding_set: Iterable[Hashable],
        writer: ArrayWriter,
        unlimited_dims: Any = None,
    ) -> None:
        """Defines all variables before the data of one is written, as long as dimensions that grow have no length: chunks are chosen by it."""
        prepared = [
            self.prepare_variable(_encode_variable_name(name), variable, name in check_encoding_set, unlimited_dims)
            for name, variable in variables.items()
        ]
        for target, data in prepared:
            writer.add(data, target)

    def prepare_variable(
        self, name: str, variable: Variable, check_encoding: bool = False, unlimited_dims: Any = None
    ) -> tuple[_Target | _ReopenedTarget, Any]:
        """Defines a variable that does not exist yet, sets its attributes, and returns what its data is written to, and the data."""
        check_name(name)
        attributes = dict(variable.attrs)
        fill_value = attributes.pop("_FillValue", None)
        digits = variable.encoding.get("least_significant_digit")
        if name not in self.group.variables:
            self._define(name, variable, fill_value, check_encoding)
        made = self.group.variables[name]
        if digits is not None:
            attributes["least_significant_digit"] = np.int32(digits)
        self.set_variable_attributes(made, attributes)
        return self.target(made, variable), variable.data

    def set_variable_attributes(self, found: _objects.Variable, attributes: Mapping[str, Any]) -> None:
        """Sets attributes of a variable of the dataset."""
        for name, value in attributes.items():
            self._set_attribute(found, name, value)

    def _define(self, name: str, variable: Variable, fill_value: Any, is_strict: bool) -> None:
        dtype = self._data_type(name, variable, is_strict)
        grows = {dim for dim, found in self.visible_dimensions().items() if found.is_unlimited}
        storage = storage_of(variable, grows, in_zarr=self.in_zarr, is_strict=is_strict)
        if self.dataset.container == "classic":
            # The format stores all variables in one way.
            storage = {}
        if dtype == np.dtype("S1") and fill_value is not None:
            # NumPy drops zeros at the end of bytes.
            fill_value = bytes(fill_value) or b"\0"
        self.group.create_variable(name, dtype, [str(dim) for dim in variable.dims], fill_value=fill_value, **storage)

    def _data_type(self, name: str, variable: Variable, is_strict: bool) -> Any:
        """Returns the type of a variable for ``create_variable``; an enumeration is defined if it does not exist yet."""
        dtype, is_text = variable.dtype, variable.encoding.get("dtype") is str
        if is_text and self.dataset.format != "netCDF-4":
            if is_strict:
                raise ValueError(f"variable {name!r}: encoding dtype=str for vlen strings is only supported with format='NETCDF4'")
        elif is_text or is_unicode_dtype(dtype):
            return str
        metadata = dtype.metadata or {}
        if "enum" in metadata and "enum_name" in metadata:
            return self._enumeration(name, dtype, metadata["enum_name"], metadata["enum"])
        if dtype.kind not in "iufbS":
            raise ValueError(f"variable {name!r}: netCDF has no type for the data type {dtype}")
        if dtype.kind == "S" and self.dataset.container == "Zarr 3":
            raise ValueError(f"variable {name!r}: Zarr 3 has no type for bytes; convert them to text with astype(str), or write Zarr 2")
        return dtype.newbyteorder("=")

    def _enumeration(self, name: str, dtype: np.dtype[Any], called: str, members: Mapping[str, int]) -> str:
        found = self.group.types.get(called)
        known: Mapping[str, Any] = found.dtype.metadata or {} if found else {}
        if found is None:
            self.group.create_type(called, np.dtype(dtype.str, metadata={"enum": members}))
        elif known.get("enum") != members:
            raise ValueError(f"variable {name!r}: the type {called!r} exists already, and has other members; give the enumeration another name")
        return called

    def target(self, found: _objects.Variable, variable: Variable) -> _Target | _ReopenedTarget:
        """Returns what the data of a variable of xarray is written to: a variable of the dataset, from other processes if the data is that of Dask."""
        digits = variable.encoding.get("least_significant_digit")
        if not self._reopens or variable.chunks is None:
            return _Target(found, digits)
        if not self.in_zarr and dask_scheduler() == "multiprocessing":
            what = "netCDF files are not written by the scheduler \"processes\" of Dask, whose processes share no lock"
            raise NotImplementedError(f"{what}: use its threads, a cluster of dask.distributed, or to_zarr")
        # Other processes can open paths and URLs alone.
        location = cast(str, self.dataset.location)
        lock = None if self.in_zarr else locks.get_write_lock(location)
        return _ReopenedTarget(location, found.path, digits, lock)

    def sync(self) -> None:
        """Commits what was written."""
        self.dataset.sync()

    def discard(self) -> None:
        """Closes the dataset after a failure: what was made in memory is not handed over."""
        self._hand_over = None
        self.dataset.close()

    def close(self) -> None:
        """Closes the dataset; what was made in memory is handed over."""
        if self._hand_over is not None and not self.dataset.closed:
            self._hand_over(cast(bytes, self.dataset.to_bytes()))
        self.dataset.close()


def _taker(target: Any) -> Callable[[bytes], object]:
    """Returns what gives bytes to a file object, or to the object that xarray takes them from."""

    def give(made: bytes) -> None:
        if hasattr(target, "write"):
            target.write(made)
        else:
            target.getvalue = lambda: memoryview(made)

    return give


def check_attribute(name: Any, value: Any) -> None:
    """Raises an error for a value that no attribute can have."""
    if not isinstance(value, (str, bytes, int, float, np.number, np.bool_, np.ndarray, list, tuple)):
        raise TypeError(f"attribute {name!r}: netCDF has no type for {value!r}, only numbers, text, and lists of them")
    if np.ndim(value) > 1:
        raise ValueError(f"attribute {name!r}: netCDF attributes have one dimension, not {np.ndim(value)}")


def check_name(name: Any) -> None:
    """Raises an error for what cannot be the name of a variable or a dimension."""
    if not isinstance(name, str) or not name:
        raise (TypeError if not isinstance(name, str) else ValueError)(f"invalid name {name!r}: names of variables and dimensions are text")
    if "/" in name:
        raise ValueError(f"Forward slashes '/' are not allowed in variable and dimension names (got {name!r}): they separate groups")
