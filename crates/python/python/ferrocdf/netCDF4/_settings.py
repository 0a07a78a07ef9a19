"""Settings of the process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    ChunkCache: TypeAlias = tuple[int, int, float]

_chunk_cache: ChunkCache = (67108864, 1000, 0.75)
_alignment: tuple[int, int] = (0, 0)
_rc: dict[str, str] = {}


def changed(cache: ChunkCache, size: int | None, nelems: int | None, preemption: float | None) -> ChunkCache:
    """Returns the settings of a chunk cache, those replaced that are not None."""
    return (
        cache[0] if size is None else size,
        cache[1] if nelems is None else nelems,
        cache[2] if preemption is None else preemption,
    )


def get_chunk_cache() -> ChunkCache:
    """Returns the size in bytes, the number of slots and the preemption of chunk caches."""
    return _chunk_cache


def set_chunk_cache(size: int | None = None, nelems: int | None = None, preemption: float | None = None) -> None:
    """Sets what ``get_chunk_cache`` returns, and ``Variable.get_var_chunk_cache`` for datasets that are opened afterwards.

    The engine has one cache for all variables, whose size the environment variable ``FERROCDF_CACHE`` sets.
    """
    global _chunk_cache
    _chunk_cache = changed(_chunk_cache, size, nelems, preemption)


def get_alignment() -> tuple[int, int]:
    """Returns the number of bytes from which on pieces of new netCDF-4 files are aligned, and what they are aligned to."""
    return _alignment


def set_alignment(threshold: int, alignment: int) -> None:
    """Aligns pieces of at least `threshold` bytes of netCDF-4 files that are written from now on to multiples of `alignment` bytes."""
    global _alignment
    _alignment = (int(threshold), int(alignment))


def rc_get(key: str) -> str | None:
    """Returns the value of a setting that ``rc_set`` made; None without one."""
    return _rc.get(str(key))


def rc_set(key: str, value: Any) -> None:
    """Keeps a setting for ``rc_get``. The engine takes its settings from the environment, not from here."""
    _rc[str(key)] = str(value)
