"""Reading elements of variables."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from .._errors import Error
from . import _complex, _indexing, _masking
from ._text import as_objects, chartostring


class Readable:
    """The part of variables that reads."""

    __slots__ = ()

    if TYPE_CHECKING:
        # The attributes of variables.
        def __getattr__(self, name: str) -> Any: ...

    def __getitem__(self, elem: Any) -> Any:
        shape = self.shape
        selectors = _indexing.select(elem, shape)
        data = self._read(selectors)
        if isinstance(data, (str, list)):
            return data
        attrs = _masking.attributes(self)
        can_unpack = _masking.can_unpack(attrs)
        if not can_unpack and self.scale:
            warnings.warn("invalid scale_factor or add_offset attribute, no unpacking done...")
        if self.mask and (self._isprimitive or self._isenum):
            data = _masking.mask(self, data, attrs)
        elif self.scale:
            data = _masking.as_unsigned(data, attrs)
        if self.scale and can_unpack and (self._isprimitive or (self._isvlen and self.dtype is not str)):
            data = _masking.unpack(data, attrs)
        if self._iscompound and not self._complex and self.chartostring:
            return data.view(self._type.dtype_view)
        return self._as_texts(data, selectors, shape)

    def _read(self, selectors):
        """Returns the selected elements as they are stored, in the data type of the variable."""
        native = self._ferrocdf
        if 0 in _indexing.counts(selectors):
            shape = tuple(len(selector) for selector in selectors if not isinstance(selector, int))
            return np.empty(shape, "O" if self._isvlen else self.dtype)
        is_scalar = not self.shape
        index = () if is_scalar else tuple(_to_read(selector) for selector in selectors)
        try:
            data = native[(*index, slice(None)) if self._complex == "dimension" else index]
        except Error as error:
            raise (IndexError if isinstance(error, IndexError) else RuntimeError)(str(error)) from error
        data = self._converted(data)
        if is_scalar and isinstance(data, (np.ndarray, np.generic)) and not self._isvlen:
            return data[()] if isinstance(selectors[0], int) else np.asarray(data)
        return data

    def _converted(self, data):
        """Returns what the engine read in the data type of the variable."""
        if self._isvlen:
            return self._converted_lists(data)
        if self._complex:
            if self._complex == "dimension":
                return np.ascontiguousarray(data).view(self.dtype)[..., 0]
            return np.asarray(data).astype(_complex.parts_of(self.dtype)).view(self.dtype)
        if self._iscompound:
            made = self._type.as_read(np.asarray(data))
            return made if isinstance(data, np.ndarray) else made[()]
        if data.dtype.metadata:
            data = data.view(data.dtype.str)
        return data if data.dtype == self.dtype else data.astype(self.dtype)

    def _converted_lists(self, data):
        is_string = self.dtype is str
        if is_string:
            encoding = self._encoding("utf-8")

            def convert(text):
                return "" if text is None else text.encode("utf-8", "surrogateescape").decode(encoding)
        elif self.dtype.isnative:
            return data
        else:

            def convert(array):
                return array.astype(self.dtype)

        if not (isinstance(data, np.ndarray) and data.dtype == object):
            return convert(data)
        if data.ndim == 0:
            return convert(data[()])
        made = np.empty(data.shape, object)
        made.ravel()[:] = as_objects(convert(item) for item in data.ravel())
        return made

    def _as_texts(self, data, selectors, shape):
        """Returns characters as texts, if all of the last dimension was read and the variable has an encoding."""
        if not self._is_text() or not shape or not isinstance(selectors[-1], range) or len(selectors[-1]) != shape[-1]:
            return data
        encoding = self._encoding()
        return data if encoding is None else chartostring(data, encoding=encoding)


def _to_read(selector):
    """Returns a selector as an index of the engine."""
    if not isinstance(selector, range):
        return selector
    stop = None if selector.stop < 0 else selector.stop
    return slice(selector.start, stop, selector.step)
