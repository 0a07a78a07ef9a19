"""How variables are stored: encodings of xarray, and the arguments of ``create_variable``.

Encodings have the keys of the engines netcdf4, h5netcdf and zarr, so that a dataset that one of them opened is written as it was stored.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _filters

if TYPE_CHECKING:
    import xarray

    from ._objects import Variable

# Keys about the dataset that a variable was read from, which say nothing about a new one.
_ORIGIN = ("source", "original_shape", "preferred_chunks")

# Keys that are true where the compressor of this name is used.
_SWITCHES = ("zlib", "szip", "zstd", "bzip2", "blosc")

_KEYS = {
    *_SWITCHES,
    "_FillValue",
    "blosc_shuffle",
    "chunks",
    "chunksizes",
    "complevel",
    "compression",
    "compression_opts",
    "compressors",
    "contiguous",
    "dtype",
    "endian",
    "filters",
    "fletcher32",
    "least_significant_digit",
    "quantize_mode",
    "serializer",
    "shards",
    "shuffle",
    "significant_digits",
    "szip_coding",
    "szip_pixels_per_block",
}

# Filters whose first parameter is the level, and the key that is true where each is used.
_LEVELED = {"deflate": "zlib", "Zstandard": "zstd", "bzip2": "bzip2"}

# The compressors of blosc as codecs call them, by their number among its parameters.
_BLOSC_CODECS = ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")
_BLOSC_SHUFFLES = ("noshuffle", "shuffle", "bitshuffle")

# Codecs of Zarr, and the filters for them in a store.
_CODECS = {"zstd": "zstd", "zlib": "deflate", "gzip": "gzip-member", "bz2": "bzip2", "lz4": "lz4-block"}
_CHECKS = ("crc32", "crc32c", "adler32", "fletcher32", "shuffle")


def storage_of(variable: xarray.Variable, unlimited_dims: Container[Any], *, in_zarr: bool, is_strict: bool) -> dict[str, Any]:
    """Returns the arguments of ``create_variable`` for the encoding of a variable of xarray.

    unlimited_dims: the names of the dimensions that grow.
    in_zarr: True for a variable of a Zarr store, which is compressed unless the encoding says otherwise.
    is_strict: True if a user gave the encoding: what it cannot mean is an error. Otherwise it came with the data, and is passed over there.
    """
    encoding = {key: value for key, value in variable.encoding.items() if key not in _ORIGIN}
    unknown = sorted(set(encoding) - _KEYS)
    if unknown and is_strict:
        raise ValueError(f"unexpected encoding parameters for 'ferrocdf' backend: {unknown}; there are {sorted(_KEYS)}")
    if not variable.dims:
        return {}
    storage = _filters_of(encoding, in_zarr, is_strict)
    storage["chunks"] = chunks = _chunks_of(variable, unlimited_dims, in_zarr, is_strict)
    grows = any(dim in unlimited_dims for dim in variable.dims)
    has_filters = any(storage.get(key) for key in ("filters", "compression", "shuffle", "fletcher32"))
    # Data that came from a contiguous variable may get filters, or dimensions that grow, which need chunks.
    if encoding.get("contiguous") and (is_strict or chunks is None and not grows and not has_filters and not in_zarr):
        storage["contiguous"] = True
    if encoding.get("shards") is not None and in_zarr and (is_strict or chunks is not None):
        storage["shards"] = _of_each_dimension(encoding["shards"], variable)
    if encoding.get("significant_digits") is not None:
        storage["quantize"] = encoding.get("quantize_mode") or "BitGroom", int(encoding["significant_digits"])
    storage["endian"] = _byte_order(variable, encoding)
    return storage


def _of_each_dimension(lengths: Any, variable: xarray.Variable) -> list[int]:
    return [int(lengths)] * variable.ndim if np.ndim(lengths) == 0 else [int(length) for length in lengths]


def _chunks_of(variable: xarray.Variable, unlimited_dims: Container[Any], in_zarr: bool, is_strict: bool) -> list[int] | None:
    """Returns the shape of the chunks; None where the format chooses it."""
    encoding = variable.encoding
    chunks = encoding.get("chunksizes") or encoding.get("chunks")
    if chunks is not None and chunks != "auto":
        chunks = _of_each_dimension(chunks, variable)
        if is_strict:
            return chunks
        # The data may have another shape than the variable that the encoding came with.
        fits = len(chunks) == variable.ndim and all(
            length <= size or dim in unlimited_dims or in_zarr for length, size, dim in zip(chunks, variable.shape, variable.dims)
        )
        if fits and encoding.get("original_shape", variable.shape) == variable.shape:
            return chunks
    if in_zarr and variable.chunks is not None:
        return [max(*lengths, 1) for lengths in variable.chunks]
    return None


def _byte_order(variable: xarray.Variable, encoding: Mapping[str, Any]) -> str:
    asked = encoding.get("endian") or "native"
    # NumPy calls the byte order of this machine "=".
    return {"<": "little", ">": "big"}.get(variable.dtype.byteorder, asked) if asked == "native" and variable.dtype.kind in "iuf" else asked


def _filters_of(encoding: Mapping[str, Any], in_zarr: bool, is_strict: bool) -> dict[str, Any]:
    """Returns the arguments of ``create_variable`` about filters."""
    codecs = [codec for key in ("filters", "compressors") for codec in _listed(encoding.get(key))]
    if codecs:
        found = [_filter_of_codec(codec, in_zarr) for codec in codecs]
        unknown = [codec for codec, stage in zip(codecs, found) if stage is None]
        if unknown and is_strict:
            raise ValueError(f"{unknown[0]!r} is no codec that ferrocdf has")
        if not unknown:
            return {"filters": found}
    made = {"shuffle": bool(encoding.get("shuffle")), "fletcher32": bool(encoding.get("fletcher32"))}
    compressor = encoding.get("compression") or next((name for name in _SWITCHES if encoding.get(name)), None)
    is_said = any(key in encoding and encoding[key] != "auto" and not _listed(encoding[key]) for key in ("compressors", "compression"))
    if not compressor and in_zarr and not is_said:
        return {**made, "compression": "zstd"}
    # As netCDF4-python has it: no compression of level 0, but for szip, which has no level, and bytes shuffled before deflate alone unless something
    # else was asked for.
    if not compressor or compressor != "szip" and encoding.get("complevel", 4) == 0:
        return made
    made["shuffle"] = bool(encoding.get("shuffle", compressor == "zlib"))
    return {**made, **_compressor(compressor, encoding)}


def _listed(codecs: Any) -> list[Any]:
    """Codecs as a list. "auto" leaves the choice to the format."""
    if codecs is None or isinstance(codecs, str):
        return []
    return list(codecs) if isinstance(codecs, (list, tuple)) else [codecs]


def _compressor(name: str, encoding: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments for a compressor as the engines netcdf4 and h5netcdf call it."""
    level, options = encoding.get("complevel", 4), encoding.get("compression_opts")
    if name == "blosc" and isinstance(encoding.get("blosc"), dict):
        found = encoding["blosc"]
        name, encoding = found["compressor"], {"blosc_shuffle": found["shuffle"]}
    if name in _filters.BLOSC:
        return {"filters": [_filters.blosc(level, int(encoding.get("blosc_shuffle", 1)), _filters.BLOSC.index(name))]}
    if name == "szip":
        coding, pixels = encoding.get("szip_coding", "nn"), encoding.get("szip_pixels_per_block", 8)
        if isinstance(encoding.get("szip"), dict):
            coding, pixels = encoding["szip"]["coding"], encoding["szip"]["pixels_per_block"]
        elif options is not None:
            coding, pixels = options
        if coding not in _filters.SZIP:
            raise ValueError(f"szip_coding {coding!r}: it is 'ec' or 'nn'")
        return {"filters": [_filters.szip(coding, pixels)]}
    if name in _LEVELED.values() or name == "gzip":
        return {"compression": "deflate" if name in ("zlib", "gzip") else name, "level": level if options is None else options}
    # A filter by its name or number, with the parameters that h5py takes.
    return {"filters": [",".join(str(part) for part in (name, *np.atleast_1d([] if options is None else options)))]}


def _filter_of_codec(codec: Any, in_zarr: bool) -> str | None:
    """Returns the filter for a codec of Zarr or numcodecs; None if there is none."""
    if isinstance(codec, (str, int)):
        return str(codec)
    config = codec if isinstance(codec, dict) else codec.get_config() if hasattr(codec, "get_config") else codec.to_dict()
    name = str(config.get("id") or config.get("name")).removeprefix("numcodecs.")
    config = config.get("configuration") or config
    if name == "blosc":
        shuffle, compressor = config.get("shuffle", 1), config.get("cname", "lz4")
        shuffle = shuffle if isinstance(shuffle, int) else _BLOSC_SHUFFLES.index(str(getattr(shuffle, "value", shuffle)))
        compressor = _BLOSC_CODECS.index(str(getattr(compressor, "value", compressor)))
        return _filters.blosc(config.get("clevel", 5), abs(shuffle), compressor)
    if name in _CHECKS:
        return name
    if name not in _CODECS:
        return None
    # HDF5 knows the bare stream of deflate alone.
    stage = "deflate" if name == "gzip" and not in_zarr else _CODECS[name]
    level = config.get("acceleration" if name == "lz4" else "level", 1)
    return f"{stage},{level}" + (",1" if name == "zstd" and config.get("checksum") else "")


def encoding_of(variable: Variable) -> dict[str, Any]:
    """Returns the encoding of a variable of ferrocdf: chunks and filters as the engine netcdf4 gives them."""
    encoding = {"original_shape": variable.shape, "dtype": _encoded_dtype(variable)}
    if variable.chunks is None:
        encoding.update(contiguous=True, chunksizes=None)
    else:
        encoding.update(contiguous=False, chunksizes=variable.chunks)
        encoding["preferred_chunks"] = dict(zip(variable.dimensions, variable.chunks))
    encoding.update(dict.fromkeys((*_SWITCHES, "shuffle", "fletcher32"), False), complevel=0)
    stages = variable.filters
    for stage in stages:
        encoding.update(_keys_of_filter(*stage.split(",")) or {"filters": stages})
    return encoding


def _keys_of_filter(name: str, *parameters: str) -> dict[str, Any] | None:
    """Returns the keys for a filter; None if there are none."""
    if name in ("shuffle", "fletcher32"):
        return {name: True}
    if name in _LEVELED and parameters:
        return {_LEVELED[name]: True, "complevel": int(parameters[0])}
    if name == "Blosc":
        return _filters.keys_of_blosc([int(parameter) for parameter in parameters])
    if name == "szip":
        return _filters.keys_of_szip([int(parameter) for parameter in parameters])
    return None


def _encoded_dtype(variable: Variable) -> Any:
    dtype = variable.dtype
    metadata: Mapping[str, Any] = dtype.metadata or {}
    if dtype.kind == "O":
        return str if metadata.get("vlen") is str else dtype
    return np.dtype(dtype.str, metadata={**metadata, "enum_name": variable.type_name}) if "enum" in metadata else dtype
