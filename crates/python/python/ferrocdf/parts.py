"""One netCDF-4 file that many workers write, without a lock and without a parallel file system.

A plan has all definitions and the data of small variables. Each worker encodes regions of whole chunks into a part, a file or an object. The
coordinator joins plan and parts: encoded chunks are moved, none is decoded.

>>> import ferrocdf
>>> from ferrocdf import parts
>>> data = ferrocdf.open(None, "w")
>>> _ = data.create_dimension("x", 6)
>>> _ = data.create_variable("v", "i4", ["x"], chunks=[4], compression="deflate")
>>> plan = parts.Plan(data)
>>> first = parts.write_part(plan, "first.part", [("v", slice(0, 4), [1, 2, 3, 4])])
>>> second = parts.write_part(plan, "second.part", [("v", slice(4, 6), [5, 6])])
>>> parts.join(plan, [first, second], "v.nc")
'v.nc'

A plan can be pickled, so ``write_part`` runs in a process of its own, as a task of Ray, or in a batch job. Parts and the file appear under
their names when they are complete: a process that is killed leaves no half of one.
"""

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from . import _ferrocdf
from ._objects import Dataset, open

__all__ = ["Plan", "join", "write_part"]


class Plan:
    """The definitions of a file that is written in parts, and the data of small variables. It can be pickled.

    source: a dataset in memory, made by ``ferrocdf.open(None, "w")``, which is closed; the bytes of a netCDF-4 file; or the path or URL of one,
        which all workers must reach.
    """

    def __init__(self, source: Any) -> None:
        if isinstance(source, Dataset):
            made = source.to_bytes()
            if made is None:
                raise ValueError("a plan is made of a dataset in memory, of bytes, of a path or of a URL")
            source = made
        self.source = os.fspath(source) if isinstance(source, os.PathLike) else source
        self._dataset: Dataset | None = None

    @property
    def dataset(self) -> Dataset:
        """The plan as a dataset to be read."""
        if self._dataset is None:
            self._dataset = open(self.source)
        return self._dataset

    def __reduce__(self) -> Any:
        return Plan, (self.source,)

    def __dask_tokenize__(self) -> Any:
        return "ferrocdf.parts.Plan", self.source


def write_part(plan: Any, path: str | os.PathLike[str], regions: Iterable[tuple[str, Any, Any]], *, key: str = "") -> str:
    """Writes regions of variables to a part, and returns its path.

    plan: a ``Plan``, or what makes one; path: a path or the URL of an object.
    regions: triples of the path of a variable, an index, and values that broadcast to it. The index has slices without steps, integers and ``...``,
        and takes whole chunks; at the end of a dimension the last chunk may be partial. Dimensions that grow become long enough.
    key: a text that tells what the part holds. If there is a complete part with this key, nothing is written; without a key the part is
        always written, in place of one that is there.

    Raises ``ferrocdf.InvalidArgument`` for a region that cuts a chunk and for a variable without chunks, ``ferrocdf.WrongType`` for strings and
    types of the dataset other than enumerations.
    """
    plan = plan if isinstance(plan, Plan) else Plan(plan)
    path = os.fspath(path)
    if key and _ferrocdf.part_key(path) == key:
        return path
    writer = _ferrocdf.PartWriter(plan.source, path, key)
    for name, index, values in regions:
        variable = plan.dataset[name]
        values = _filled(values, variable)
        start, count = _region(variable, index, values.shape)
        writer.write(variable.path, start, _broadcast(values, count, index, variable.ndim))
    writer.finish()
    return path


def join(plan: Any, parts: Iterable[str | os.PathLike[str]], path: str | os.PathLike[str]) -> str:
    """Makes a netCDF-4 file of a plan and the parts that were written for it, and returns its path.

    The file appears when it is complete, in place of one that is there. Chunks that no part has hold the fill value. A part that is given twice
    counts once.

    Raises ``ferrocdf.InvalidArgument`` if two parts have the same chunk, and for parts of another plan, ``ferrocdf.Corrupt`` for a part that is
    not complete.
    """
    plan = plan if isinstance(plan, Plan) else Plan(plan)
    path = os.fspath(path)
    _ferrocdf.join_parts(plan.source, [os.fspath(part) for part in parts], path)
    return path


def _filled(values: Any, variable: Any) -> Any:
    """Returns values as an array, with the fill value where they are masked."""
    if isinstance(values, np.ma.MaskedArray):
        if variable.fill_value is None and np.ma.is_masked(values):
            raise ValueError(f"{variable.path}: values are masked, and the variable has no fill value to write instead")
        values = values.filled(variable.fill_value)
    return np.asarray(values)


def _expanded(index: Any, ndim: int) -> tuple[Any, ...]:
    """Returns an index with one entry for each dimension."""
    index = index if isinstance(index, tuple) else (index,)
    if sum(each is Ellipsis for each in index) > 1:
        raise IndexError("an index has at most one '...'")
    if Ellipsis not in index:
        index = (*index, ...)
    if len(index) - 1 > ndim:
        raise IndexError(f"{len(index) - 1} indices for {ndim} dimensions")
    at = index.index(...)
    return (*index[:at], *[slice(None)] * (ndim - len(index) + 1), *index[at + 1 :])


def _region(variable: Any, index: Any, shape: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """Returns the first element and the number of elements along each dimension. Open slices of dimensions that grow are as long as the values."""
    index = _expanded(index, variable.ndim)
    grows = _growing(variable)
    kept = [dim for dim, each in enumerate(index) if isinstance(each, slice)]
    lengths = dict(zip(reversed(kept), reversed(shape)))
    start: list[int] = []
    count: list[int] = []
    for dim, (each, size) in enumerate(zip(index, variable.shape)):
        if isinstance(each, slice):
            if each.step not in (None, 1):
                raise IndexError(f"{variable.path}: the slice {each} has a step, and regions have none")
            if grows[dim] and (each.stop is None or each.stop > size):
                first = each.start or 0
                last = each.stop if each.stop is not None else max(size, first + lengths.get(dim, 0))
                if first < 0:
                    raise IndexError(f"{variable.path}: the slice {each} of a dimension that grows begins at the end")
            else:
                first, last, _ = each.indices(size)
        else:
            first = int(each) + (size if each < 0 else 0)
            last = first + 1
        start.append(first)
        count.append(max(last - first, 0))
    return start, count


def _growing(variable: Any) -> list[bool]:
    """Returns for each dimension of a variable whether it grows."""
    found: dict[str, Any] = {}
    group = variable.group
    while group is not None:
        found = {**group.dimensions, **found}
        group = group.parent
    return [found[name].is_unlimited for name in variable.dimensions]


def _broadcast(values: Any, count: list[int], index: Any, ndim: int) -> Any:
    """Returns values for all dimensions of a region. Those that an integer selects have none in the values."""
    kept = [length for length, each in zip(count, _expanded(index, ndim)) if isinstance(each, slice)]
    return np.broadcast_to(values, kept).reshape(count)
