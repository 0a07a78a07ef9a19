"""Functions on whole datasets."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _ferrocdf

if TYPE_CHECKING:
    from ._typing import Path


def to_cdl(location: Path, *, data: bool = True, variables: str | Sequence[str] | None = None) -> str:
    """Returns a dataset as CDL, the text that ``ncdump`` prints.

    data: False for names, types, dimensions and attributes alone; variables: the names of those whose data is wanted.
    """
    variables = [variables] if isinstance(variables, str) else variables
    arguments = [] if data and variables != [] else ["-h"]
    if variables:
        arguments += ["-v", ",".join(variables)]
    return _ferrocdf.dump([*arguments, "--", os.fspath(location)]).decode("utf-8", "surrogateescape")


def info(location: Path) -> dict[str, Any]:
    """Returns what a dataset holds, and how it is stored, as ``ferrocdf info --json`` prints it: dictionaries, lists, texts and numbers."""
    facts: dict[str, Any] = json.loads(_ferrocdf.facts(os.fspath(location)))
    return facts


def copy(
    source: Path,
    target: Path,
    *,
    kind: str | None = None,
    chunks: Mapping[str, int] | None = None,
    filters: str | Iterable[str] = (),
    level: int | None = None,
    shuffle: bool = False,
) -> list[str]:
    """Copies a dataset to a path or a URL. Chunks whose filters stay the same are copied without decoding them.

    kind: as ``nccopy -k`` has it ("netCDF-4", "classic", "cdf5", "zarr", "nczarr2", …); that of the source without it.
    chunks: the chunk length of dimensions, ``{"time": 1, "x": 100}``; filters: for all variables, as ``nccopy -F`` takes them: ``"zstd,3"``;
    level: that of deflate; shuffle: True for the bytes sorted before.

    Returns what was copied in another way than it was, a line each.
    """
    arguments = [] if kind is None else ["-k", kind]
    if chunks:
        # Without -M small variables keep their chunks.
        arguments += ["-M", "0", "-c", ",".join(f"{name}/{length}" for name, length in chunks.items())]
    if level is not None:
        arguments += ["-d", str(level)]
    arguments += ["-s"] if shuffle else []
    filters = [filters] if isinstance(filters, str) else list(filters)
    if filters:
        arguments += ["-F", f"*,{'|'.join(filters)}"]
    return _ferrocdf.copy([*arguments, "--", os.fspath(source), os.fspath(target)])
