"""Settings of the process."""

_chunk_cache = (67108864, 1000, 0.75)
_alignment = (0, 0)
_rc = {}


def changed(cache, size, nelems, preemption):
    """Returns the settings of a chunk cache, those replaced that are not None."""
    given = (size, nelems, preemption)
    return tuple(old if new is None else new for old, new in zip(cache, given))


def get_chunk_cache():
    """Returns the size in bytes, the number of slots and the preemption of chunk caches."""
    return _chunk_cache


def set_chunk_cache(size=None, nelems=None, preemption=None):
    """Sets what ``get_chunk_cache`` returns, and ``Variable.get_var_chunk_cache`` for datasets that are opened afterwards.

    The engine has one cache for all variables, whose size the environment variable ``FERROCDF_CACHE`` sets.
    """
    global _chunk_cache
    _chunk_cache = changed(_chunk_cache, size, nelems, preemption)


def get_alignment():
    """Returns the number of bytes from which on pieces of new netCDF-4 files are aligned, and what they are aligned to."""
    return _alignment


def set_alignment(threshold, alignment):
    """Aligns pieces of at least `threshold` bytes of netCDF-4 files that are written from now on to multiples of `alignment` bytes."""
    global _alignment
    _alignment = (int(threshold), int(alignment))


def rc_get(key):
    """Returns the value of a setting that ``rc_set`` made; None without one."""
    return _rc.get(str(key))


def rc_set(key, value):
    """Keeps a setting for ``rc_get``. The engine takes its settings from the environment, not from here."""
    _rc[str(key)] = str(value)
