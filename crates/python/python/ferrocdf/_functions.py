"""Functions on whole datasets."""

import json
import os

from . import _ferrocdf


def to_cdl(location, *, data=True, variables=None):
    """Returns a dataset as CDL, the text that ``ncdump`` prints.

    data: False for names, types, dimensions and attributes alone; variables: the names of those whose data is wanted.
    """
    variables = [variables] if isinstance(variables, str) else variables
    arguments = [] if data and variables != [] else ["-h"]
    if variables:
        arguments += ["-v", ",".join(variables)]
    return _ferrocdf.dump([*arguments, "--", os.fspath(location)]).decode("utf-8", "surrogateescape")


def info(location):
    """Returns what a dataset holds, and how it is stored, as ``ferrocdf info --json`` prints it: dictionaries, lists, texts and numbers."""
    return json.loads(_ferrocdf.facts(os.fspath(location)))


def copy(source, target, *, kind=None, chunks=None, filters=(), level=None, shuffle=False):
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
