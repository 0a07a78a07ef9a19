"""Filters as the engine spells them, for the names that netCDF4-python and the engines of xarray have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

#: The compressors of blosc, by their number among its parameters.
BLOSC = ("blosc_lz", "blosc_lz4", "blosc_lz4hc", "blosc_snappy", "blosc_zlib", "blosc_zstd")

#: The bits of szip for its codings.
SZIP = {"ec": 4, "nn": 32}


def blosc(level: int, shuffle: int, compressor: int) -> str:
    """Returns the filter blosc; ``compressor`` is a number."""
    return f"blosc,0,0,0,0,{level},{shuffle},{compressor}"


def szip(coding: str, pixels_per_block: int) -> str:
    """Returns the filter szip."""
    return f"szip,{SZIP[coding]},{pixels_per_block}"


def keys_of_blosc(parameters: Sequence[int]) -> dict[str, Any] | None:
    """Returns the keys of netCDF4-python for the parameters of blosc; None if it has no name for the compressor."""
    if len(parameters) < 7 or parameters[6] >= len(BLOSC):
        return None
    return {"blosc": {"compressor": BLOSC[parameters[6]], "shuffle": parameters[5]}, "complevel": parameters[4]}


def keys_of_szip(parameters: Sequence[int]) -> dict[str, Any] | None:
    """Returns the key of netCDF4-python for the parameters of szip; None if there are too few."""
    if len(parameters) < 2:
        return None
    return {"szip": {"coding": "nn" if parameters[0] & SZIP["nn"] else "ec", "pixels_per_block": parameters[1]}}
