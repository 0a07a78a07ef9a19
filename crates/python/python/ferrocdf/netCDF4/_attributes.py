"""Attributes of datasets, groups and variables as attributes of their objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from . import _types
from ._constants import TYPES, code, has_classic_model
from ._errors import raised_as
from ._text import encoded

#: Attributes of the objects of Python, which are not attributes in the file.
RESERVED = frozenset(
    """_grpid _grp _varid groups dimensions variables dtype data_model disk_format _nunlimdim path parent ndim mask scale cmptypes vltypes
    enumtypes _isprimitive file_format _isvlen _isenum _iscompound _cmptype _vltype _enumtype name __orthogonal_indexing__ keepweakref
    _has_lsd always_mask _buffer chartostring _use_get_vars _ncstring_attrs__ auto_complex _ferrocdf _opened _name _chunk_cache
    _complex _type _no_fill _persist _inmemory""".split()
)


class HasAttributes:
    """What has attributes in the file. ``_ferrocdf`` is the group or variable of the engine, ``_group`` the group that types are looked for in."""

    __slots__ = ()

    #: True: lists in an index are orthogonal, which xarray asks for.
    __orthogonal_indexing__ = True

    def ncattrs(self) -> list[str]:
        """Returns the names of the attributes."""
        with raised_as(AttributeError):
            return self._ferrocdf._attribute_names()

    def getncattr(self, name: str, encoding: str = "utf-8") -> Any:
        """Returns the value of an attribute: text as `str`, one number or text alone, several as an array or a list."""
        if name not in self.ncattrs():
            raise AttributeError(f"NetCDF: Attribute not found: {name}")
        with raised_as(AttributeError):
            return self._read_attribute(name, encoding)

    def _read_attribute(self, name, encoding="utf-8"):
        """Returns the value of an attribute that exists."""
        value = self._ferrocdf._attribute(name)
        if name == "_FillValue" and isinstance(value, str):
            return self._fill_bytes(value)
        if value is None or isinstance(value, str):
            return _decoded(value, encoding)
        if isinstance(value, list):
            return [_decoded(text, encoding) for text in value]
        if value.dtype.names:
            return _types.as_view(value)
        # The data types of enumerations carry their names.
        return value.view(value.dtype.str) if isinstance(value, np.ndarray) and value.dtype.metadata else value

    def _fill_bytes(self, value):
        return value.encode("utf-8", "surrogateescape")

    def setncattr(self, name: str, value: Any) -> None:
        """Sets an attribute, also one that has the name of an attribute of the class."""
        self._write_attribute(name, value, self._ncstring_attrs__)

    def setncattr_string(self, name: str, value: Any) -> None:
        """Sets an attribute of the type `string`."""
        if has_classic_model(self._group.data_model):
            raise OSError("file format does not support NC_STRING attributes")
        self._write_attribute(name, value, True)

    def setncatts(self, attdict: Mapping[str, Any]) -> None:
        """Sets the attributes of a dictionary."""
        for name, value in attdict.items():
            self._write_attribute(name, value, False)

    def _write_attribute(self, name, value, is_string):
        """Sets an attribute. is_string: True for text of the type `string`, also where `char` would do."""
        type_, value = stored(self._group, name, value, is_string)
        with raised_as(AttributeError):
            self._ferrocdf._put_attribute(name, value, type_)

    def delncattr(self, name: str) -> None:
        """Removes an attribute, also one that has the name of an attribute of the class."""
        with raised_as():
            if name not in self._ferrocdf._attribute_names():
                raise RuntimeError(f"NetCDF: Attribute not found: {name}")
            self._ferrocdf._remove_attribute(name)

    def renameAttribute(self, oldname: str, newname: str) -> None:
        """Gives an attribute another name."""
        with raised_as():
            if oldname not in self._ferrocdf._attribute_names():
                raise RuntimeError(f"NetCDF: Attribute not found: {oldname}")
            self._ferrocdf._rename_attribute(oldname, newname)

    def __getattr__(self, name: str) -> Any:
        if name == "__dict__":
            return {name: self.getncattr(name) for name in self.ncattrs()}
        if name in RESERVED or (name.startswith("__") and name.endswith("__")):
            raise AttributeError(name)
        return self.getncattr(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in RESERVED:
            self.setncattr(name, value)
        elif not name.endswith("__"):
            raise AttributeError(f"'{name}' is one of the reserved attributes, cannot rebind. Use setncattr instead.")

    def __delattr__(self, name: str) -> None:
        if name in RESERVED:
            raise AttributeError(f"'{name}' is one of the reserved attributes, cannot delete. Use delncattr instead.")
        self.delncattr(name)

    def _set(self, **values: Any) -> None:
        """Sets attributes of the object."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> NoReturn:
        raise NotImplementedError(f"{type(self).__name__} is not picklable")


def _decoded(text, encoding):
    if text is None:
        return ""
    return text.encode("utf-8", "surrogateescape").decode(encoding, "replace").replace("\0", "")


def stored(group, name, value, is_string):
    """Returns the type of an attribute, None for that of the array, and its value as the engine takes it."""
    array = np.array(value)
    if array.ndim > 1:
        raise ValueError("multi-dimensional array attributes not supported")
    model = group.data_model
    if array.dtype.kind in "SU":
        return _stored_text(array, is_string, has_classic_model(model))
    if array.dtype.kind == "V":
        found = _types.find_compound(group, array.dtype)
        return found.argument(group), found.as_stored(array)
    if code(array.dtype) not in TYPES:
        raise TypeError(f"illegal data type for attribute {name!r}, must be one of {list(TYPES)}, got {code(array.dtype)}")
    if code(array.dtype) == "i8" and has_classic_model(model) and model != "NETCDF3_64BIT_DATA":
        array = array.astype("i4")
    return None, array.astype(array.dtype.newbyteorder("="), copy=False)


def _stored_text(array, is_string, is_classic):
    if array.size > 1:
        if is_classic:
            raise OSError("array string attributes can only be written with NETCDF4")
        return "string", array.tolist()
    text = array.item() if array.size else ""
    whole = encoded(text)
    is_string = is_string or (array.dtype.kind == "U" and not whole.isascii())
    if is_string and not is_classic:
        return "string", text
    return "char", whole or b"\0"
