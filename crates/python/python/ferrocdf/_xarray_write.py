"""Datasets of xarray, written to netCDF and Zarr."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast, overload

import numpy as np
import pandas as pd
import xarray
from xarray import conventions
from xarray.backends.api import DATAARRAY_NAME, DATAARRAY_VARIABLE
from xarray.backends.common import ArrayWriter, _normalize_path
from xarray.coding import times

from ._objects import Dimension
from ._xarray_store import FerrocdfStore, check_attribute, check_name, dask_scheduler

if TYPE_CHECKING:
    from dask.delayed import Delayed
    from typing_extensions import Unpack

    from ._typing import BinaryTarget, Path
    from ._xarray_typing import Encoding, Format, NetcdfOptions, Region, UnlimitedDims, WriteMode, XarrayData, ZarrMode, ZarrOptions


@overload
def to_netcdf(
    data: XarrayData, path: None = None, mode: WriteMode | None = None, *, compute: Literal[True] = True, **options: Unpack[NetcdfOptions]
) -> memoryview: ...
@overload
def to_netcdf(
    data: XarrayData, path: Path | BinaryTarget, mode: WriteMode | None = None, *, compute: Literal[True] = True, **options: Unpack[NetcdfOptions]
) -> None: ...
@overload
def to_netcdf(
    data: XarrayData, path: Path | BinaryTarget, mode: WriteMode | None = None, *, compute: Literal[False], **options: Unpack[NetcdfOptions]
) -> Delayed: ...
@overload
def to_netcdf(
    data: XarrayData, path: Path | BinaryTarget | None = None, mode: WriteMode | None = None, *, compute: bool = True, **options: Unpack[NetcdfOptions]
) -> memoryview | Delayed | None: ...
def to_netcdf(
    data: XarrayData,
    path: Path | BinaryTarget | None = None,
    mode: WriteMode | None = None,
    *,
    format: Format | None = None,
    group: str | None = None,
    encoding: Encoding | None = None,
    unlimited_dims: UnlimitedDims | None = None,
    region: Region | None = None,
    append_dim: str | None = None,
    compute: bool = True,
    write_inherited_coords: bool = False,
) -> memoryview | Delayed | None:
    """Writes a Dataset, a DataArray or a DataTree of xarray to a netCDF file, or to another place that ``ferrocdf.open`` makes datasets in.

    path: a path, a URL, or a file object with ``write``; without one the bytes are returned as a ``memoryview``.
    mode: "w" (the default) makes a dataset in place of an old one, "w-" one that does not exist yet, "a" adds to one and replaces the values of
        variables that exist, "r+" changes values alone.
    format: "NETCDF4" (the default), "NETCDF4_CLASSIC", "NETCDF3_64BIT", "NETCDF3_CLASSIC" or "CDF5".
    group: the group to write to, which is made if it does not exist.
    encoding: how variables are stored, ``{name: {"chunksizes": …, "zlib": True, …}}``, with the keys of the engines netcdf4, h5netcdf and zarr;
        of a DataTree for each path of a group.
    unlimited_dims: the dimensions that grow; of a DataTree for each path of a group.
    region: writes a part of variables that exist, ``{dimension: slice}``, or "auto" to find it by the values of the coordinates.
    append_dim: writes behind the end of this dimension, which grows.
    compute: False to return a ``dask.delayed.Delayed`` that writes arrays of Dask. Their blocks are written in parallel.
    write_inherited_coords: True for the coordinates of a DataTree in each group that inherits them.

    Raises ``ValueError`` for data and encodings that the format cannot hold, ``ferrocdf.Error`` for what fails in the file.
    """
    checked = _checked_mode(mode, region, append_dim, "w", ("w", "w-", "a", "r+"))
    memory = io.BytesIO() if path is None else None
    if memory is not None and not compute:
        raise NotImplementedError("compute=False needs a path: bytes are returned at once")
    target = memory if path is None else _normalize_path(path)

    def open_store(autoclose: bool) -> FerrocdfStore:
        return FerrocdfStore.open(target, checked, format, autoclose=autoclose)

    options = {"region": region, "append_dim": append_dim, "write_attributes": checked != "r+"}
    done = _write(data, open_store, group, encoding, unlimited_dims, compute, write_inherited_coords, options)
    return memory.getbuffer() if memory is not None else done


@overload
def to_zarr(
    data: XarrayData, store: Path, mode: ZarrMode | None = None, *, compute: Literal[True] = True, **options: Unpack[ZarrOptions]
) -> None: ...
@overload
def to_zarr(
    data: XarrayData, store: Path, mode: ZarrMode | None = None, *, compute: Literal[False], **options: Unpack[ZarrOptions]
) -> Delayed: ...
@overload
def to_zarr(
    data: XarrayData, store: Path, mode: ZarrMode | None = None, *, compute: bool = True, **options: Unpack[ZarrOptions]
) -> Delayed | None: ...
def to_zarr(
    data: XarrayData,
    store: Path,
    mode: ZarrMode | None = None,
    *,
    group: str | None = None,
    encoding: Encoding | None = None,
    region: Region | None = None,
    append_dim: str | None = None,
    zarr_format: Literal[2, 3] = 3,
    compute: bool = True,
    write_inherited_coords: bool = False,
) -> Delayed | None:
    """Writes a Dataset, a DataArray or a DataTree of xarray to a Zarr store.

    store: a path or a URL.
    mode: "w-" (the default) makes a store that does not exist yet, "w" one in place of an old one, "a" adds to one and replaces the values of
        variables that exist, "a-" those of variables with ``append_dim`` alone, "r+" (the default with ``region``) changes values alone.
    zarr_format: 2 or 3, for a new store.

    The others are those of ``to_netcdf``. Variables get the chunks of Dask and are compressed with zstd, unless ``encoding`` says otherwise.
    """
    checked = _checked_mode(mode, region, append_dim, "w-", ("w", "w-", "a", "a-", "r+"))
    if not isinstance(store, (str, os.PathLike)):
        raise TypeError(f"store {store!r}: it is a path or a URL")
    if zarr_format not in (2, 3):
        raise ValueError(f"zarr_format {zarr_format!r}: it is 2 or 3")

    def open_store(autoclose: bool) -> FerrocdfStore:
        place = _normalize_path(store)
        if checked in ("w", "w-") and group not in (None, "", "/"):
            # The other groups of the store stay.
            opened = FerrocdfStore.open(place, "a", f"ZARR{zarr_format}", autoclose=autoclose)
            if group in opened.dataset:
                if checked == "w-":
                    opened.close()
                    raise FileExistsError(f"{place}: the group {group!r} exists already; mode 'a' adds to it")
                opened.dataset.remove(group)
            return opened
        return FerrocdfStore.open(place, "a" if checked == "a-" else checked, f"ZARR{zarr_format}", autoclose=autoclose)

    options = {"region": region, "append_dim": append_dim, "write_attributes": checked != "r+", "appends_only": checked == "a-"}
    return _write(data, open_store, group, encoding, None, compute, write_inherited_coords, options)


def _checked_mode(mode: str | None, region: Region | None, append_dim: str | None, new: str, known: Sequence[str]) -> str:
    """Returns the mode, by default ``new`` for a whole dataset. A part is written to a dataset that exists."""
    if mode is None:
        if append_dim is not None:
            return "a"
        return new if region is None else "r+"
    if mode not in known:
        raise ValueError(f"mode {mode!r}: it is one of {', '.join(map(repr, known))}")
    if append_dim is not None and mode not in ("a", "a-"):
        raise ValueError(f"cannot set append_dim unless mode='a' or mode=None, and it is {mode!r}")
    if region is not None and mode not in ("a", "a-", "r+"):
        raise ValueError(f"cannot set region unless mode='a', mode='a-', mode='r+' or mode=None, and it is {mode!r}")
    return mode


def _write(
    data: XarrayData,
    open_store: Callable[[bool], FerrocdfStore],
    group: str | None,
    encoding: Any,
    unlimited_dims: Any,
    compute: bool,
    inherited: bool,
    options: Mapping[str, Any],
) -> Delayed | None:
    """Writes the datasets of ``data`` to the groups of a store, which is closed afterwards."""
    nodes = list(_nodes(data, inherited))
    is_tree = isinstance(data, xarray.DataTree)
    encoding, unlimited_dims = (each if is_tree else {"/": each} for each in (encoding or {}, unlimited_dims))
    if unknown := set(encoding) - {path for path, _ in nodes}:
        raise ValueError(f"encoding for groups that are not in the data: {sorted(unknown)}")
    # Before a dataset that exists is opened, and maybe replaced.
    for path, dataset in nodes:
        check(dataset, encoding.get(path) or {}, (unlimited_dims or {}).get(path))
    writer = ArrayWriter()
    reopens = _is_written_by_processes(dataset for _, dataset in nodes)
    store = open_store(reopens)
    try:
        for path, dataset in nodes:
            inside = "/".join(part for part in ((group or "").strip("/"), path.strip("/")) if part)
            place = store.get_child_store(inside) if inside else store
            write_dataset(dataset, place, writer, encoding.get(path) or {}, (unlimited_dims or {}).get(path), **options)
        if reopens:
            store.close()
        written = writer.sync(compute=compute)
    except BaseException:
        store.discard()
        raise
    if compute:
        store.close()
        return None
    from dask.delayed import delayed

    closed: Delayed = delayed(_close)(written, store)
    return closed


def _close(_: object, store: FerrocdfStore) -> None:
    store.close()


def _nodes(data: XarrayData, inherited: bool) -> Iterator[tuple[str, xarray.Dataset]]:
    """Yields each group and its dataset; of one that is no tree the group "/"."""
    if isinstance(data, xarray.DataTree):
        for path, node in data.subtree_with_keys:
            at_root = path == "."
            yield "/" if at_root else f"/{path}", node.to_dataset(inherit=inherited or at_root)
    elif isinstance(data, xarray.DataArray):
        yield "/", dataset_of(data)
    elif isinstance(data, xarray.Dataset):
        yield "/", data
    else:
        raise TypeError(f"{type(data)} is no Dataset, DataArray or DataTree of xarray")


def dataset_of(array: xarray.DataArray) -> xarray.Dataset:
    """Returns a dataset of one variable, from which ``xarray.open_dataarray`` gives the array back."""
    if array.name is None or array.name in array.coords or array.name in array.dims:
        made = array.to_dataset(name=DATAARRAY_VARIABLE)
        return made if array.name is None else made.assign_attrs({DATAARRAY_NAME: array.name})
    return array.to_dataset()


def check(dataset: xarray.Dataset, encoding: Mapping[Any, Any], unlimited_dims: Any) -> None:
    """Raises an error for names, attributes and encodings that no dataset can have."""
    if unknown := [name for name in encoding if name not in dataset.variables]:
        raise ValueError(f"encoding for variables that are not in the dataset: {unknown!r}")
    _unlimited_dims(dataset, unlimited_dims)
    for name in (*dataset.variables, *dataset.dims):
        check_name(name)
    for attributes in (dataset.attrs, *(variable.attrs for variable in dataset.variables.values())):
        for name, value in attributes.items():
            check_attribute(name, value)


def _is_written_by_processes(datasets: Iterable[xarray.Dataset]) -> bool:
    has_blocks = any(variable.chunks is not None for dataset in datasets for variable in dataset.variables.values())
    return has_blocks and dask_scheduler() in ("distributed", "multiprocessing")


def write_dataset(
    dataset: xarray.Dataset,
    store: FerrocdfStore,
    writer: ArrayWriter,
    encoding: Mapping[Any, Any],
    unlimited_dims: Any,
    *,
    region: Region | None,
    append_dim: str | None,
    write_attributes: bool,
    appends_only: bool = False,
) -> None:
    """Writes a dataset, or the part of one, to a store. Arrays of Dask are added to the writer."""
    if region is not None or append_dim is not None or not write_attributes:
        if encoding:
            raise ValueError("encoding: variables that exist keep theirs when their values are written")
        part = _region_of(dataset, store, region)
        _write_part(dataset.drop_vars(dataset.indexes) if part else dataset, store, writer, part, append_dim, write_attributes, appends_only)
        return
    variables, attributes = conventions.encode_dataset_coordinates(dataset)
    stored, dims = store.get_variables(), store.visible_dimensions()
    for name, each in encoding.items():
        if name in stored:
            raise ValueError(f"encoding of {name!r}: the variable exists already, and keeps its own")
        variables[name].encoding = dict(each)
    replaced = {name: _to_stored(name, variables.pop(name), stored[name], {}, dims, store) for name in stored if name in variables}
    store.store(variables, attributes, set(encoding), writer, unlimited_dims=_unlimited_dims(dataset, unlimited_dims))
    for name, variable in replaced.items():
        found = store.group.variables[name]
        store.set_variable_attributes(found, {key: value for key, value in dataset.variables[name].attrs.items() if key not in _OF_ENCODING})
        writer.add(variable.data, store.target(found, variable))


def _unlimited_dims(dataset: xarray.Dataset, asked: Any) -> set[Any]:
    """Returns the dimensions that grow: those that were asked for, or those that grew where the dataset came from."""
    if asked is None:
        return {name for name in dataset.encoding.get("unlimited_dims", ()) if name in dataset.dims}
    names: set[Any] = {asked} if isinstance(asked, str) else set(asked)
    if unknown := names - set(dataset.dims):
        raise ValueError(f"unlimited_dims: {sorted(unknown)} are no dimensions of the dataset")
    return names


def _region_of(dataset: xarray.Dataset, store: FerrocdfStore, region: Region | None) -> dict[Any, Any]:
    """Returns a region with a slice for each of its dimensions, found by the coordinates where it is "auto"."""
    if region is None:
        return {}
    region = dict.fromkeys(dataset.dims, "auto") if region == "auto" else dict(region)
    for dim, part in region.items():
        if dim not in dataset.dims:
            raise ValueError(f"region: {dim!r} is no dimension of the dataset, which has {list(dataset.dims)}")
        if part == "auto":
            region[dim] = part = _found_by_coordinate(dataset, store, dim)
        if not isinstance(part, slice) or part.step not in (None, 1):
            raise ValueError(f"region: {dim!r} has {part!r}, and not a slice with the step 1")
    if apart := [name for name, variable in dataset.variables.items() if not set(variable.dims) & set(region)]:
        raise ValueError(f"region: variables {apart!r} have none of its dimensions; leave them out with drop_vars({apart!r})")
    return region


def _found_by_coordinate(dataset: xarray.Dataset, store: FerrocdfStore, dim: Any) -> slice:
    if dim not in dataset.variables:
        return slice(0, dataset.sizes[dim])
    stored = pd.Index(conventions.decode_cf_variable(dim, store.get_variables()[dim]).values)
    found = stored.get_indexer(dataset[dim].values)
    if (found < 0).any():
        raise KeyError(f"region: values of the coordinate {dim!r} are not in the dataset that is written to")
    if (np.diff(found) != 1).any():
        raise ValueError(f"region: the values of the coordinate {dim!r} do not follow each other in the dataset that is written to")
    return slice(int(found[0]), int(found[-1]) + 1) if len(found) else slice(0, 0)


def _write_part(
    dataset: xarray.Dataset,
    store: FerrocdfStore,
    writer: ArrayWriter,
    region: Mapping[Any, slice],
    append_dim: str | None,
    write_attributes: bool,
    appends_only: bool,
) -> None:
    """Writes to a part of variables that exist, encoded as they are."""
    variables, attributes = conventions.encode_dataset_coordinates(dataset)
    stored = store.get_variables()
    if missing := [name for name in variables if name not in stored]:
        raise ValueError(f"variables {missing!r} do not exist: a part is written to variables that do")
    dims = store.visible_dimensions()
    if append_dim is not None:
        if append_dim in region:
            raise ValueError(f"{append_dim!r} is the append_dim, and in the region too")
        if append_dim not in dims or append_dim not in dataset.dims:
            raise ValueError(f"append_dim: {append_dim!r} is no dimension of both datasets")
        if not dims[append_dim].is_unlimited and not store.in_zarr:
            raise ValueError(f"append_dim: {append_dim!r} has a fixed length; write the dataset with unlimited_dims=[{append_dim!r}] first")
        stop = dims[append_dim].size + dataset.sizes[append_dim]
        region = {**region, append_dim: slice(dims[append_dim].size, stop)}
        dims[append_dim] = Dimension(append_dim, stop, dims[append_dim].is_unlimited)
        if appends_only:
            variables = {name: variable for name, variable in variables.items() if append_dim in variable.dims}
    variables = {name: _to_stored(name, variable, stored[name], region, dims, store) for name, variable in variables.items()}
    # Nothing is changed before all that can be wrong was looked at.
    if append_dim is not None:
        store.group.grow_dimension(append_dim, dims[append_dim].size)
    if write_attributes:
        store.set_attributes(attributes)
    for name, variable in variables.items():
        target = store.target(store.group.variables[name], variable)
        writer.add(variable.data, target, tuple(region.get(dim, slice(None)) for dim in variable.dims))


#: Attributes that say how values are encoded.
_OF_ENCODING = ("units", "calendar", "scale_factor", "add_offset", "_FillValue", "missing_value", "dtype", "_Unsigned")


def _to_stored(
    name: Hashable,
    variable: xarray.Variable,
    stored: xarray.Variable,
    region: Mapping[Any, slice],
    dims: Mapping[Any, Dimension],
    store: FerrocdfStore,
) -> xarray.Variable:
    """Returns a variable encoded as the one that is stored, whose elements in ``region`` it takes the place of.

    Raises ``ValueError`` if it has other dimensions or lengths, or if its values need another encoding.
    """
    variable = variable.transpose(*_stored_dims(name, variable, stored))
    variable.encoding = conventions.decode_cf_variable(name, stored).encoding
    wanted = {dim: _length_of(region.get(dim, slice(None)), dims[dim]) for dim in variable.dims}
    if wanted != dict(variable.sizes):
        raise ValueError(f"variable {name!r} has the dimensions {dict(variable.sizes)}, and the part that is written {wanted}")
    made: xarray.Variable = store.encode({name: variable}, {})[0][name]
    for key in _OF_ENCODING:
        is_given = key in variable.attrs or key not in made.attrs or key not in stored.attrs
        if not is_given and not _same(made.attrs[key], stored.attrs[key], stored.attrs.get("calendar")):
            raise ValueError(f"variable {name!r}: its values need {key} {made.attrs[key]!r}, and it is stored with {stored.attrs[key]!r}")
    if made.ndim == variable.ndim + 1:
        # The characters of text.
        dim, width = made.dims[-1], stored.shape[-1]
        if made.shape[-1] > width:
            raise ValueError(f"variable {name!r}: text of {made.shape[-1]} bytes, and it is stored with {width}")
        made = made.pad({dim: (0, width - made.shape[-1])}, constant_values=cast(Any, b""))
    return made


def _same(one: Any, other: Any, calendar: str | None) -> bool:
    """True for equal values, two NaN, and two texts of units that mean the same dates."""
    if np.array_equal(one, other) or np.ndim(one) == np.ndim(other) == 0 and one != one and other != other:
        return True
    try:
        dates = [times.decode_cf_datetime(np.arange(2), units, calendar) for units in (one, other)]
    except (AttributeError, TypeError, ValueError):
        return False
    return bool((dates[0] == dates[1]).all())


def _length_of(part: slice, dimension: Dimension) -> int:
    """Returns the number of elements of a dimension that a slice selects."""
    return len(range(*part.indices(dimension.size)))


def _stored_dims(name: Hashable, variable: xarray.Variable, stored: xarray.Variable) -> tuple[Hashable, ...]:
    """Returns the dimensions of a variable in the order in which they are stored. Texts have one dimension less than their characters."""
    dims = tuple(dim for dim in stored.dims if dim in variable.dims)
    if set(dims) != set(variable.dims):
        raise ValueError(f"variable {name!r} has the dimensions {variable.dims}, and {stored.dims} in the dataset that is written to")
    return dims
