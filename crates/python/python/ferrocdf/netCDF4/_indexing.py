"""Which elements an index expression of netCDF4-python asks for.

Lists and boolean arrays are orthogonal. A boolean array or a list of integers alone is for the first dimension. Unlimited dimensions may be
written beyond their length, and a slice without an end is then as long as the data.

An expression becomes one selector for each dimension: an integer, a `range`, or an array of integers.
"""

import numpy as np

_INVALID = "only integers, slices (`:`), ellipsis (`...`), and 1-d integer or boolean arrays are valid indices"


def is_integer(value):
    """True for integers, and for numbers and texts that stand for one."""
    try:
        return bool(int(value) == value)
    except (TypeError, ValueError, OverflowError):
        return False


def select(key, shape):
    """Returns the selectors of what is read from a variable of a shape."""
    selectors = resolve(parse(key, shape), shape)
    for selector, length in zip(selectors, shape):
        if isinstance(selector, int) and selector >= length:
            raise IndexError(f"index {selector} exceeds the length {length} of its dimension")
    return selectors


def select_to_write(key, shape, unlimited, data_shape):
    """Returns the selectors of what is written.

    unlimited: True for each dimension that grows; data_shape: the shape of the data, () for one number.
    """
    parts = parse(key, shape, unlimited)
    return resolve(parts, shape, unlimited, _aligned_shape(parts, shape, unlimited, data_shape))


def counts(selectors):
    """Returns the number of elements along each dimension; 1 for an integer."""
    return tuple(1 if isinstance(selector, int) else len(selector) for selector in selectors)


def parse(key, shape, unlimited=()):
    """Returns an integer, a slice or an array of integers for each dimension."""
    rank = len(shape) or 1
    lengths = shape or (1,)
    parts = _parts(key, rank)
    if sum(part is Ellipsis for part in parts) > 1:
        raise IndexError("At most one ellipsis allowed in a slicing expression")
    found, dim = [], 0
    for part in parts:
        if part is Ellipsis:
            skipped = rank - len(parts) + 1
            found += [slice(None)] * skipped
            dim += skipped
        else:
            found.append(_parse_part(part, dim, lengths, bool(unlimited) and dim < len(unlimited) and unlimited[dim]))
            dim += 1
    if len(found) > rank:
        raise ValueError("slicing expression exceeds the number of dimensions of the variable")
    return found + [slice(None)] * (rank - len(found))


def _parts(key, rank):
    if not np.iterable(key):
        return [key]
    if type(key) is np.ndarray or (not isinstance(key, tuple) and all(is_integer(part) for part in key)):
        return [key] + [slice(None)] * (rank - 1)
    return list(key)


def _parse_part(part, dim, lengths, grows):
    if isinstance(part, slice):
        return part
    if isinstance(part, (str, bytes)):
        return _integer(part)
    array = np.asarray(part)
    if array.ndim > 1:
        raise IndexError("Index cannot be multidimensional")
    if array.ndim == 0:
        if array.dtype.kind == "f" and not is_integer(part):
            raise IndexError(_INVALID)
        return _integer(part)
    if array.dtype.kind == "b":
        if not grows and lengths[dim] != len(array):
            raise IndexError("Boolean array must have the same shape as the data along this dimension.")
        array = np.flatnonzero(array)
    if array.dtype.kind not in "iu":
        raise IndexError(_INVALID)
    return _as_slice(_within(array.astype(np.int64), lengths[dim], grows))


def _integer(part):
    try:
        return int(part)
    except (TypeError, ValueError, OverflowError):
        raise IndexError(_INVALID) from None


def _within(array, length, grows):
    """Returns indices counted from the start; an error for those that the dimension does not have."""
    array = np.where(array < 0, array + length, array)
    if (array < 0).any():
        raise IndexError("integer index out of range")
    if not grows and array.size and array.max() >= length:
        raise IndexError("integer index exceeds dimension size")
    return array


def _as_slice(array):
    """Returns the slice that has these indices, if there is one that rises."""
    if array.size == 0:
        return slice(0, 0, 1)
    first, last = int(array[0]), int(array[-1])
    if array.size == 1:
        return slice(first, first + 1, 1)
    step = int(array[1]) - first
    if step > 0 and (np.diff(array) == step).all():
        return slice(first, last + 1, step)
    return array


def _aligned_shape(parts, shape, unlimited, data_shape):
    """Returns the shape of the data with a 0 for each dimension that is indexed by an integer, where the dimensions of both are known to
    belong together."""
    if not data_shape:
        return data_shape
    is_whole = all(isinstance(part, slice) and part == slice(None) for part in parts)
    if is_whole and not any(unlimited):
        return np.broadcast_shapes(shape, data_shape)
    if len(data_shape) == len(parts):
        return data_shape
    kept = [part for part in parts if isinstance(part, slice)]
    if any(_is_empty(part, *lengths) for part, *lengths in zip(parts, shape, unlimited)):
        kept = [part for part in parts if not isinstance(part, int)]
    if len(data_shape) != len(kept):
        return data_shape
    given = iter(data_shape)
    return tuple(0 if isinstance(part, int) else next(given, 0) for part in parts)


def _is_empty(part, length, grows):
    """True for a slice of no elements, whatever the data is."""
    if not isinstance(part, slice) or (grows and part.stop is None):
        return False
    return not range(*part.indices(max(length, part.stop) if grows else length))


def resolve(parts, shape, unlimited=(), data_shape=None):
    """Returns selectors for parts of an expression. Without `data_shape` they are for reading."""
    lengths = shape or (1,)
    selectors = []
    for dim, (part, length) in enumerate(zip(parts, lengths)):
        if isinstance(part, slice):
            if data_shape is not None and unlimited and unlimited[dim]:
                length = _length_to_write(part, dim, lengths, data_shape)
            selectors.append(range(*part.indices(length)))
        elif isinstance(part, int):
            if part < -length:
                raise IndexError("Index out of range")
            selectors.append(part + length if part < 0 else part)
        else:
            selectors.append(part)
    return selectors


def _length_to_write(part, dim, lengths, data_shape):
    """Returns the length that an unlimited dimension has for a slice of it that is written."""
    length = lengths[dim]
    if part.stop is not None:
        return max(length, part.stop)
    if data_shape:
        if dim >= len(data_shape):
            raise IndexError("shape of data does not conform to slice")
        return (part.start or 0) + data_shape[dim]
    # One number is one record of a variable that has none yet.
    return 1 if lengths[-1] == 0 else length
