"""Writing elements of variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ma

from . import _complex, _indexing, _masking
from ._errors import raised_as
from ._text import as_objects, encoded, stringtochar
from .utils import _quantize


class Writable:
    """The part of variables that writes."""

    __slots__ = ()

    if TYPE_CHECKING:
        # The attributes of variables.
        def __getattr__(self, name: str) -> Any: ...

    def __setitem__(self, elem: Any, data: Any) -> None:
        if self._is_text():
            data = self._as_letters(data)
        if self._isvlen and self._is_one_element(data):
            self._write_one(elem, data)
            return
        if self._isvlen and self.dtype is str:
            data = _checked_texts(data)
        if data is ma.masked:
            data = ma.masked_all((), self.dtype)
        elif not isinstance(data, np.ndarray):
            data = np.asarray(data) if isinstance(data, np.generic) else self._as_array(data)
        if self._isenum:
            self._check_members(data)
        selectors = _indexing.select_to_write(elem, self.shape, self._unlimited(), data.shape)
        data = _fitted(data, selectors)
        if self._has_lsd:
            data = _quantize(data, self.least_significant_digit)
        if self.scale and self._isprimitive:
            data = _masking.pack(self, data)
        if data.size:
            self._write(selectors, ma.getdata(data))

    def _as_letters(self, data):
        """Returns texts as characters, if the variable has an encoding."""
        encoding = self._encoding()
        if encoding is None:
            return data
        length = self.shape[-1] if self.shape else 1
        if isinstance(data, (str, bytes)):
            data = np.asarray(data, f"{'S' if encoding == 'ascii' or isinstance(data, bytes) else 'U'}{length}")
        data = data if isinstance(data, np.ndarray) else np.asarray(data)
        is_text = data.dtype.kind in "SU" and data.dtype.itemsize > 1
        return stringtochar(data, encoding=encoding, n_strlen=length) if is_text else data

    def _as_array(self, data):
        if self.dtype is str or self._isvlen:
            return np.array(data, object)
        if isinstance(data, Writable):
            return np.asanyarray(data[...])
        attrs = self.ncattrs()
        is_packed = self.scale and self._isprimitive and self.dtype.kind in "iu" and "scale_factor" in attrs or "add_offset" in attrs
        return np.array(data, np.float64 if is_packed else self.dtype)

    def _check_members(self, data):
        values = ma.getdata(data) if ma.isMA(data) else data
        if not np.isin(values, list(self._type.enum_dict.values())).all():
            raise ValueError("trying to assign illegal value to Enum variable")

    def _is_one_element(self, data):
        """True for data that is one element of a variable of strings or lists."""
        if self.dtype is str:
            return not isinstance(data, np.ndarray)
        return not isinstance(data, np.ndarray) or data.dtype.kind != "O"

    def _write_one(self, elem, data):
        """Writes one string or list."""
        index = self._index_of_one(elem)
        if self.dtype is str:
            data = encoded(data, self._encoding("utf-8"))
        else:
            data = _masking.pack(self, np.asarray(data)) if self.scale else data
            if data.dtype != self.dtype:
                raise TypeError(f"wrong data type: should be {self.dtype}, got {data.dtype}")
        self._write(index, as_objects([data]).reshape((1,) * len(index)))

    def _index_of_one(self, elem):
        rank = self.ndim
        if rank == 0:
            return []
        index = list(elem) if isinstance(elem, tuple) else [elem]
        if len(index) != rank or not all(_indexing.is_integer(part) for part in index):
            raise IndexError("data can only be assigned to VLEN variables using integer indices")
        found = [int(part) + (length if part < 0 else 0) for part, length in zip(index, self.shape)]
        if any(part < 0 for part in found):
            raise IndexError("Illegal index")
        return found

    def _write(self, selectors, data):
        """Writes elements. The data has a dimension for each of the variable."""
        shape, unlimited = self.shape, self._unlimited()
        for selector, length, grows in zip(selectors, shape, unlimited):
            if isinstance(selector, int) and selector >= length and not grows:
                raise RuntimeError(f"NetCDF: Index exceeds dimension bound: {selector} of {length}")
        data = self._as_stored(data)
        flips = tuple(slice(None, None, -1) if isinstance(selector, range) and selector.step < 0 else slice(None) for selector in selectors)
        index = tuple(_to_write(selector) for selector in selectors)
        if not shape:
            index, data = (), data.reshape(data.shape[1:]) if data.ndim else data
        else:
            data = data[flips]
        with raised_as():
            self._ferrocdf[(*index, slice(None)) if self._complex == "dimension" else index] = data

    def _as_stored(self, data):
        """Returns data as the engine takes it."""
        if self._isvlen:
            return self._stored_lists(data)
        if self._complex:
            numbers = np.ascontiguousarray(data.astype(self.dtype))
            part = f"f{self.dtype.itemsize // 2}"
            if self._complex == "dimension":
                return numbers.view(part).reshape((*data.shape, 2))
            return numbers.view(_complex.parts_of(self.dtype)).reshape(data.shape)
        if self._iscompound:
            return self._type.as_stored(data)
        # Out of range is as in C.
        return data.astype(self.dtype.newbyteorder("="), copy=False)

    def _stored_lists(self, data):
        if data.dtype.kind != "O":
            raise TypeError("data to put in string variable must be an object array containing Python strings")
        if self.dtype is str:
            encoding = self._encoding("utf-8")
            made = np.empty(data.shape, object)
            made.ravel()[:] = as_objects(encoded(text, encoding) for text in data.ravel())
            return made
        for array in data.ravel():
            if not isinstance(array, np.ndarray) or array.dtype != self.dtype:
                got = getattr(array, "dtype", type(array))
                raise TypeError(f"wrong data type in object array: should be {self.dtype}, got {got}")
        return data


def _checked_texts(data):
    if data.dtype.kind in "SU":
        if ma.isMA(data):
            raise TypeError("masked arrays cannot be assigned by VLEN str slices")
        return data.astype(object)
    if data.dtype.kind != "O":
        raise TypeError("only numpy string, unicode or object arrays can be assigned to VLEN str var slices")
    return data


def _fitted(data, selectors):
    """Returns data with a dimension for each selector."""
    shape = _indexing.counts(selectors)
    if data.shape == shape:
        return data
    if data.ndim == 1 and len(shape) == 1 and 0 not in shape:
        # More values than a list has indices are taken from the start.
        if isinstance(selectors[0], np.ndarray) and len(data) > shape[0]:
            return data[: shape[0]]
        raise IndexError("size of data array does not conform to slice")
    if data.size == np.prod(shape, dtype=object):
        return data.reshape(shape)
    made = np.broadcast_to(ma.getdata(data), shape)
    if not ma.isMA(data):
        return made
    made = ma.array(made, mask=np.broadcast_to(ma.getmaskarray(data), shape))
    made.set_fill_value(data.fill_value)
    return made


def _to_write(selector):
    """Returns a selector as an index of the engine that keeps the dimension and rises."""
    if isinstance(selector, int):
        return slice(selector, selector + 1)
    if isinstance(selector, range):
        rising = selector if selector.step > 0 else selector[::-1]
        return slice(rising.start, rising.stop, rising.step)
    return selector
