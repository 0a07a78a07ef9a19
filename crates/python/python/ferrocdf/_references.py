"""References to the chunks of datasets, as kerchunk and VirtualiZarr make them."""

from __future__ import annotations

import base64
import json
import os
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, overload

from . import _ferrocdf
from ._objects import Dataset, open

if TYPE_CHECKING:
    from ._typing import BinaryFile, Path, References


@overload
def write_refs(
    location: Path | Iterable[Path], output: None = None, *, concat: str | None = None, base: Path | None = None, inline: int = 500
) -> dict[str, Any]: ...
@overload
def write_refs(
    location: Path | Iterable[Path], output: Path, *, concat: str | None = None, base: Path | None = None, inline: int = 500
) -> None: ...
def write_refs(
    location: Path | Iterable[Path], output: Path | None = None, *, concat: str | None = None, base: Path | None = None, inline: int = 500
) -> dict[str, Any] | None:
    """Makes references of a dataset: its chunks as ranges of its file, which kerchunk, fsspec, xarray and ``open_refs`` read as a Zarr store.

    location: a path or a URL of netCDF, HDF5, HDF4 or Zarr; a list of them with ``concat``, the name of the dimension along which they are
        joined in this order. They must have the same variables, chunks, filters, units and scales, and equal values in variables without the dimension.
    output: the path or the URL of the JSON file to write; without it the references are returned as a dictionary: ``{"version": 1, "refs": {…}}``.
    base: the folder or the URL in which readers find the files, relative to the references if it is a relative path (``""`` beside them).
        Without it references have the absolute path or the URL that each file has now.
    inline: chunks of fewer bytes become a part of the references.

    A variable or an attribute that references cannot express is skipped with a warning that tells its path and the reason. Errors:
    ``InvalidArgument`` for datasets that cannot be joined, with what differs, and for an output that would overwrite a dataset.
    """
    inputs = [location] if isinstance(location, (str, os.PathLike)) else list(location)
    text, skipped = _ferrocdf.write_references([os.fspath(each) for each in inputs], _text(output), concat, _text(base), inline)
    for line in skipped:
        warnings.warn(f"skipped in the references: {line}", stacklevel=2)
    if output is not None:
        return None
    made: dict[str, Any] = json.loads(text)
    return made


def open_refs(refs: References, *, base: Path | None = None) -> Dataset:
    """Opens the dataset that references make, for reading.

    refs: a dictionary as kerchunk and VirtualiZarr make it, of version 0 or 1; its text in JSON, or the bytes of the text; or the path or the URL
        of a JSON file, which ``ferrocdf.open`` opens too.
    base: the folder or the URL at which relative paths in the references begin; that of the JSON file without it.

    References in memory have no folder: without ``base`` a relative path in them is an error (``InvalidArgument``) when its bytes are read. So is each
    file of this machine that references in a file object name: the object may be that of a server.
    References with a base on a server name no files of this machine: give one for references that you do not trust.
    """
    place: str | bytes | BinaryFile
    if isinstance(refs, Mapping):
        place = json.dumps(refs, default=_inline).encode()
    elif isinstance(refs, str) and refs.lstrip().startswith("{"):
        place = refs.encode()
    elif isinstance(refs, (bytearray, memoryview)):
        place = bytes(refs)
    else:
        place = os.fspath(refs) if isinstance(refs, os.PathLike) else refs
    if base is None and not isinstance(place, bytes):
        return open(place)
    return Dataset(_ferrocdf.open_references(place, _text(base)), place, "r", {"base": base}, open_refs)


def _text(path: Path | None) -> str | None:
    return None if path is None else os.fspath(path)


def _inline(value: Any) -> Any:
    """What JSON has in place of a value that it cannot hold: bytes, a NumPy integer, a mapping that is no dictionary."""
    if isinstance(value, bytes):
        return f"base64:{base64.b64encode(value).decode()}"
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "__index__"):
        return value.__index__()
    raise TypeError(f"references have texts, bytes and lists [URL, offset, length], and no {type(value).__name__}")
