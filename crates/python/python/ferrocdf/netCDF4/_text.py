"""Arrays of texts as arrays of characters with a dimension more, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Encodings that stand for bytes as they are.
_RAW = ("none", "None", "bytes")


def encoded(text: str | bytes, encoding: str = "utf-8") -> bytes:
    """Returns the bytes of a text; bytes as they are."""
    return text.encode(encoding) if isinstance(text, str) else text


def as_objects(items: Iterable[Any]) -> NDArray[np.object_]:
    """Returns objects as an array of one dimension, whatever they are."""
    listed = list(items)
    made = np.empty(len(listed), object)
    for at, item in enumerate(listed):
        made[at] = item
    return made


def _encoding_of(array: NDArray[Any], encoding: str | None) -> str:
    if array.dtype.kind not in "SU":
        raise ValueError("type must be string or unicode ('S' or 'U')")
    if encoding is not None:
        return encoding
    return "ascii" if array.dtype.kind == "S" else "utf-8"


def stringtoarr(string: str, NUMCHARS: int, dtype: str = "S") -> NDArray[Any]:
    """Returns a text as an array of `NUMCHARS` characters, filled up with zeros.

    dtype: "S" for an array of the data type ``S1``, "U" for ``U1``.
    """
    if dtype not in ("S", "U"):
        raise ValueError("dtype must string or unicode ('S' or 'U')")
    array = np.zeros(NUMCHARS, dtype + "1")
    array[: len(string)] = tuple(string)
    return array


def stringtochar(a: NDArray[Any], encoding: str | None = None, n_strlen: int | None = None) -> NDArray[Any]:
    """Returns an array of texts as one of characters, with a dimension more.

    encoding: that of the bytes; "ascii" for arrays of ``S`` without it, "utf-8" for those of ``U``; "bytes" takes bytes as they are.
    n_strlen: the number of characters of each text; the number of bytes of an element of `a` without it.
    """
    encoding = _encoding_of(a, encoding)
    length = a.dtype.itemsize if n_strlen is None else n_strlen
    if encoding in _RAW:
        return np.array(tuple(a.tobytes()), "S1")
    kind = a.dtype.kind
    if encoding == "ascii" and (kind == "S" or n_strlen is None):
        # Of `U` each byte becomes a character, as in netCDF4-python.
        fitted = a.astype(f"S{length}") if kind == "S" else a
        return np.array(tuple(fitted.tobytes().decode(encoding)), kind + "1").reshape((*a.shape, length))
    # Texts longer than the dimension are cut.
    texts = [encoded(text, encoding)[:length].ljust(length, b"\0") for text in a.ravel().tolist()]
    shape = a.shape or (1,)
    return np.frombuffer(b"".join(texts), "S1").reshape((*shape, length))


def chartostring(b: NDArray[Any], encoding: str | None = None) -> NDArray[Any]:
    """Returns an array of characters as one of texts, with a dimension less.

    encoding: that of the bytes; "ascii" for arrays of ``S`` without it, "utf-8" for those of ``U``; "bytes" gives an array of bytes.
    """
    encoding = _encoding_of(b, encoding)
    length = int(b.shape[-1])
    whole = b.tobytes()
    texts = [whole[at : at + length] for at in range(0, len(whole), length)] if length else []
    if encoding in _RAW:
        return np.array(texts, f"S{length}").reshape(b.shape[:-1])
    return np.array([text.decode(encoding) for text in texts], f"U{length}").reshape(b.shape[:-1])
