"""Datasets of xarray whose arrays are those of Dask, written to one netCDF-4 file by all workers at once."""

import os
import shutil
from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray
from dask.base import compute as run
from dask.base import tokenize
from dask.delayed import delayed
from xarray.backends.common import ArrayWriter, _normalize_path

from . import _ferrocdf
from . import parts as _parts
from ._objects import open
from ._xarray_store import FerrocdfStore, rounded
from ._xarray_write import check, dataset_of, write_dataset

__all__ = ["to_netcdf"]


def to_netcdf(
    data: Any,
    path: str | os.PathLike[str],
    *,
    align: bool = False,
    encoding: Any = None,
    unlimited_dims: Any = None,
    compute: bool = True,
    parts: str | os.PathLike[str] | None = None,
) -> Any:
    """Writes a Dataset or a DataArray of xarray to a netCDF-4 file. Arrays of Dask are encoded by its workers, threads or processes on any
    number of machines, without a lock: each block becomes a part. Then this process moves the encoded chunks into the file.

    Coordinates of an index, arrays that are not of Dask, and text are written by this process. Variables get the chunks of Dask, unless
    ``encoding`` says otherwise.

    align: True to rechunk arrays whose blocks do not have whole chunks of the file, which is an error otherwise.
    encoding, unlimited_dims: as ``ferrocdf.to_netcdf`` has them.
    compute: False to return a ``dask.delayed.Delayed`` that writes the file.
    parts: the folder for the parts, or the URL of one, which this process and all workers reach; by default ``path`` with ".parts" behind it.
        Parts that an earlier call left there, because it was ended, are not computed again if the arrays have the same names in Dask. Files
        are removed when the dataset is complete, objects behind a URL stay.

    Raises ``ValueError`` for blocks that cut chunks, and for data and encodings that the format cannot hold.
    """
    dataset = data if isinstance(data, xarray.Dataset) else _dataset(data)
    path = _normalize_path(path)
    folder = os.fspath(parts) if parts is not None else f"{path}.parts"
    plan, arrays = _plan(dataset, encoding or {}, unlimited_dims)
    blocks = [block for array in arrays for block in _blocks(plan, array, align, folder)]
    if not _is_url(folder):
        os.makedirs(folder, exist_ok=True)
    tasks = [task for _, task in blocks if task is not None]
    names = [name for name, _ in blocks]
    if not compute:
        return delayed(_finish, pure=False)(tasks, plan, names, path, folder)
    run(*tasks)  # type: ignore[no-untyped-call]
    return _finish(None, plan, names, path, folder)


def _dataset(data: Any) -> xarray.Dataset:
    if isinstance(data, xarray.DataArray):
        return dataset_of(data)
    raise TypeError(f"{type(data)} is no Dataset or DataArray of xarray")


def _is_dask(variable: Any) -> bool:
    return variable.chunks is not None


def _plan(dataset: xarray.Dataset, encoding: Any, unlimited_dims: Any) -> tuple[_parts.Plan, list[Any]]:
    """Returns the plan of a dataset, and the arrays of Dask that it has no data of, each with its variable in the plan."""
    # Text has no chunks of a fixed size.
    loaded = {name: variable.compute() for name, variable in dataset.variables.items() if _is_dask(variable) and variable.dtype.kind not in "biufmM"}
    dataset = dataset.assign(loaded)
    encoding = {name: dict(each) for name, each in encoding.items()}
    check(dataset, encoding, unlimited_dims)
    for name, variable in dataset.variables.items():
        own = encoding.get(name, variable.encoding)
        if _is_dask(variable) and variable.ndim and not _says_chunks(own, variable, name in encoding):
            chunks = [max(1, *lengths) for lengths in variable.chunks or ()]
            own.update(chunksizes=chunks) if name in encoding else own.update(chunksizes=chunks, contiguous=False, original_shape=variable.shape)
    store = FerrocdfStore(open(None, "w", kind="netCDF-4"))
    writer = ArrayWriter()  # type: ignore[no-untyped-call]
    try:
        write_dataset(dataset, store, writer, encoding, unlimited_dims, region=None, append_dim=None, write_attributes=True)
        arrays = [(source, target.variable.path, target.digits) for source, target in zip(writer.sources, writer.targets)]
        return _parts.Plan(store.dataset), arrays
    except BaseException:
        store.dataset.close()
        raise


def _says_chunks(encoding: Any, variable: Any, is_asked_for: bool) -> bool:
    """True if an encoding says how a variable is stored. One that came with the data counts for data of the same shape alone."""
    if is_asked_for:
        return bool(encoding.get("chunksizes") or encoding.get("contiguous"))
    return bool(encoding.get("chunksizes")) and encoding.get("original_shape", variable.shape) == variable.shape


def _blocks(plan: _parts.Plan, array: Any, align: bool, folder: str) -> Iterator[tuple[str, Any]]:
    """Yields the path of the part of each block of an array, and the task that writes it; None for one that is written already."""
    source, path, digits = array
    variable = plan.dataset[path]
    if variable.chunks is None:
        raise ValueError(f"variable {path!r}: it is contiguous, and parts have chunks; give it chunksizes, or load it before")
    source = _aligned(source, variable, align)
    shared = delayed(plan, pure=True)
    token = tokenize(source.name, plan.source, path, digits)
    starts = [np.cumsum([0, *lengths[:-1]]) for lengths in source.chunks]
    sources = source.to_delayed()
    for block in np.ndindex(*source.numblocks):
        region = tuple(slice(int(of[at]), int(of[at]) + lengths[at]) for at, of, lengths in zip(block, starts, source.chunks))
        key = f"{token}-{'.'.join(map(str, block))}"
        part = f"{folder.rstrip('/')}/{key}.part"
        is_written = _ferrocdf.part_key(part) == key
        write = delayed(_write_block, pure=False)
        yield part, None if is_written else write(sources[block], shared, part, path, region, digits, key)


def _aligned(source: Any, variable: Any, align: bool) -> Any:
    """Returns the array with blocks of whole chunks of a variable."""
    wanted: list[Any] = []
    for name, lengths, chunk in zip(variable.dimensions, source.chunks, variable.chunks):
        if all(end % chunk == 0 for end in np.cumsum(lengths)[:-1]):
            wanted.append(lengths)
        elif align:
            wanted.append(max(1, max(lengths) // chunk) * chunk)
        else:
            what = f"blocks of {max(lengths)} elements cut chunks of {chunk}"
            raise ValueError(f"variable {variable.path!r}: dimension {name!r}: {what}; rechunk the data, or say align=True")
    return source if tuple(wanted) == source.chunks else source.rechunk(tuple(wanted))


def _write_block(block: Any, plan: _parts.Plan, part: str, path: str, region: Any, digits: int | None, key: str) -> str:
    return _parts.write_part(plan, part, [(path, region, rounded(np.asarray(block), digits))], key=key)


def _finish(_: Any, plan: _parts.Plan, names: list[str], path: str, folder: str) -> None:
    """Joins the parts, and removes them."""
    _parts.join(plan, names, path)
    if _is_url(folder):
        return
    if folder == f"{path}.parts":
        # Those of calls that were ended, and wrote other data, are in it as well.
        shutil.rmtree(folder, ignore_errors=True)
        return
    for name in names:
        os.remove(name)


def _is_url(folder: str) -> bool:
    return "://" in folder
