"""A parser for VirtualiZarr: virtual datasets of netCDF-4 and other HDF5, classic netCDF, HDF4 and Zarr.

    virtualizarr.open_virtual_dataset(url, registry=registry, parser=ferrocdf.virtualizarr.Parser())

It needs the package virtualizarr: ``pip install ferrocdf[virtualizarr]``.
"""

from __future__ import annotations

import base64
import json
import math
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from virtualizarr.codecs import zarr_codec_config_to_v3
from virtualizarr.manifests import ChunkManifest, ManifestArray, ManifestGroup, ManifestStore
from virtualizarr.manifests.utils import create_v3_array_metadata
from virtualizarr.parsers.utils import encode_cf_fill_value

from . import _ferrocdf
from ._stores import adapt, in_parallel

if TYPE_CHECKING:
    from obspec_utils.registry import ObjectStoreRegistry

__all__ = ["Parser"]


class Parser:
    """Parses a dataset to a ``ManifestStore`` of VirtualiZarr, whose chunks are ranges of the file or the objects of the dataset.

    group: the path of the group that becomes the root of the store; drop_variables: the names of variables that are left aside in all groups.

    Manifests of VirtualiZarr have no values of their own: a variable of strings or of a user-defined type, or with chunks that are no ranges as they
    are stored, is skipped with a warning that tells its path and the reason. Read such variables with xarray's engine ``ferrocdf``.
    """

    def __init__(self, group: str | None = None, drop_variables: Iterable[str] | None = None) -> None:
        self.group = (group or "").strip("/")
        self.drop_variables = frozenset(drop_variables or ())

    def __call__(self, url: str, registry: ObjectStoreRegistry[Any]) -> ManifestStore:
        """Parses the dataset at a URL, which is read through the store that the registry has for it."""
        store, path = registry.resolve(url)
        found = adapt(store, path)
        if found is None:
            raise TypeError(f"{url} is in a store of obstore; this is {type(store)}")
        text, skipped = _ferrocdf.references_in_store(*found, url)
        for line in skipped:
            _warn(line)
        root = _Node()
        for key, value in json.loads(text)["refs"].items():
            *names, last = key.split("/")
            root.at(names).values[last] = value
        top = root.at(self.group.split("/")) if self.group else root
        if ".zgroup" not in top.values:
            raise KeyError(f"{url} has no group {self.group!r}")
        return ManifestStore(group=self._group(top, self.group, registry), registry=registry)

    def _group(self, node: _Node, path: str, registry: ObjectStoreRegistry[Any]) -> ManifestGroup:
        arrays, groups = {}, {}
        for name, inner in node.inner.items():
            place = f"{path}/{name}".lstrip("/")
            if ".zarray" not in inner.values:
                groups[name] = self._group(inner, place, registry)
            elif name not in self.drop_variables:
                try:
                    arrays[name] = _array(inner.values, registry)
                except _Skipped as reason:
                    _warn(f"/{place}: {reason}")
        return ManifestGroup(arrays=arrays, groups=groups, attributes=json.loads(node.values.get(".zattrs", "{}")))


class _Skipped(Exception):
    """A variable that no manifest can express."""


class _Node:
    """The documents and chunks of a group or an array, and the nodes in it."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.inner: dict[str, _Node] = {}

    def at(self, names: Iterable[str]) -> _Node:
        """Returns the node at a path, which is made if there is none."""
        node = self
        for name in names:
            node = node.inner.setdefault(name, _Node())
        return node


def _array(values: dict[str, Any], registry: ObjectStoreRegistry[Any]) -> ManifestArray:
    document, attributes = json.loads(values[".zarray"]), json.loads(values.get(".zattrs", "{}"))
    shape, chunks, dtype = tuple(document["shape"]), tuple(document["chunks"]), np.dtype(document["dtype"])
    places = {key: value for key, value in values.items() if not key.startswith(".")}
    if any(isinstance(value, str) for value in places.values()):
        raise _Skipped("its values are not all stored as they are in ranges of a file, which VirtualiZarr needs")
    if document["order"] == "F" and len(shape) > 1:
        raise _Skipped("its chunks are in column order, which VirtualiZarr does not express")
    fill = _fill_value(document["fill_value"], dtype)
    if "_FillValue" in attributes:
        # As xarray has it in Zarr 3.
        attributes["_FillValue"] = encode_cf_fill_value(np.asarray(fill, dtype), dtype)
    codecs = [*(document["filters"] or []), *([document["compressor"]] if document["compressor"] else [])]
    metadata = create_v3_array_metadata(
        shape=shape,
        data_type=dtype,
        chunk_shape=chunks,
        fill_value=fill,
        codecs=[zarr_codec_config_to_v3(codec) for codec in codecs],
        dimension_names=attributes.pop("_ARRAY_DIMENSIONS"),
        attributes=attributes,
    )
    grid = tuple(math.ceil(length / chunk) for length, chunk in zip(shape, chunks))
    return ManifestArray(metadata=metadata, chunkmanifest=_manifest(places, grid, registry))


def _manifest(places: dict[str, list[Any]], grid: tuple[int, ...], registry: ObjectStoreRegistry[Any]) -> ChunkManifest:
    # An empty path is a chunk that was never written.
    paths, offsets, lengths = np.full(grid, "", np.dtypes.StringDType()), np.zeros(grid, np.uint64), np.zeros(grid, np.uint64)
    whole = [place[0] for place in places.values() if len(place) == 1]

    def size(url: str) -> int:
        store, path = registry.resolve(url)
        return int(store.head(path)["size"])

    sizes = dict(zip(whole, in_parallel(size, whole)))
    for key, (url, *part) in places.items():
        index = tuple(map(int, key.split("."))) if grid else ()
        paths[index] = url
        offsets[index], lengths[index] = part or (0, sizes[url])
    return ChunkManifest.from_arrays(paths=paths, offsets=offsets, lengths=lengths)


def _fill_value(value: Any, dtype: np.dtype[Any]) -> Any:
    """The fill value that a document of Zarr 2 has in JSON; None if there is none."""
    if value is None:
        return None
    return np.array(base64.b64decode(value) if dtype.kind == "S" else value).astype(dtype)[()]


def _warn(line: str) -> None:
    warnings.warn(f"skipped in the virtual dataset: {line}", stacklevel=3)
