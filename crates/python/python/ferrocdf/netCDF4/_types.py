"""Types that datasets define: compounds, lists and enumerations.

The engine names a type by the data type of NumPy that its values have; a type here keeps it as ``_stored``. In it texts of compounds are of
the data type ``S`` and their length. ``CompoundType.dtype`` has arrays of ``S1`` instead, with the alignment of C, and ``dtype_view`` is
the same memory with texts.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ._constants import TYPES, code
from ._errors import raised_as

if TYPE_CHECKING:
    from ._dataset import _Container


def _with_formats(dtype, change):
    """Returns a structured data type aligned as in C, with changed data types of its fields."""
    formats = [change(dtype.fields[name][0]) for name in dtype.names]
    return np.dtype({"names": list(dtype.names), "formats": formats}, align=True)


def _split(field):
    """Returns the data type of the elements of a field, and its shape."""
    element, shape = field.subdtype or (field, ())
    if element.names and shape:
        raise TypeError("nested structured dtype arrays not supported")
    return element, shape


def _as_letters(field):
    element, shape = _split(field)
    if element.names:
        return _with_formats(element, _as_letters)
    if element.kind == "S" and element.itemsize > 1:
        element, shape = np.dtype("S1"), (*shape, element.itemsize)
    return np.dtype((element, shape)) if shape else element


def _as_texts(field):
    element, shape = _split(field)
    if element.names:
        return _with_formats(element, _as_texts)
    if element == "S1" and len(shape) == 1:
        return np.dtype(f"S{shape[0]}")
    return field


def _as_stored(field):
    """As `_as_texts`; of arrays of letters with more dimensions the last one is the text too."""
    element, shape = _split(field)
    if element.names:
        return _with_formats(element, _as_stored)
    if element == "S1" and shape:
        element, shape = np.dtype(f"S{shape[-1]}"), shape[:-1]
    return np.dtype((element, shape)) if shape else element


def _in_place(dtype):
    """Returns a structured data type of the same memory, with texts for arrays of letters."""

    def change(field):
        element, shape = _split(field)
        return _in_place(element) if element.names else _as_stored(field)

    formats, offsets = zip(*((change(dtype.fields[name][0]), dtype.fields[name][1]) for name in dtype.names))
    return np.dtype({"names": list(dtype.names), "formats": formats, "offsets": offsets, "itemsize": dtype.itemsize})


def as_view(values):
    """Returns values of a compound as the engine reads them with the alignment that they have in netCDF4-python."""
    if not is_supported(values.dtype):
        return values
    letters = _with_formats(values.dtype, _as_letters)
    array = np.asarray(values).astype(_with_formats(letters, _as_stored)).view(_with_formats(letters, _as_texts))
    return array if isinstance(values, np.ndarray) else array[()]


def is_supported(dtype):
    """True for compounds of numbers, texts, and compounds of such. netCDF4-python has no others."""

    def is_known(field):
        element, shape = field.subdtype or (field, ())
        if element.names:
            return not shape and is_supported(element)
        return element.kind == "S" or (code(element) in TYPES and not element.metadata)

    return all(is_known(dtype.fields[name][0]) for name in dtype.names)


class _Type:
    """A type of a dataset."""

    name: Any
    dtype: Any

    def __reduce__(self) -> NoReturn:
        raise NotImplementedError(f"{type(self).__name__} is not picklable")

    def __repr__(self) -> str:
        return str(self)

    def _shown(self):
        return f"<class 'netCDF4.{type(self).__name__}'>: name = '{self.name}', numpy dtype = {self.dtype}"

    def argument(self, group):
        """Returns what the engine finds this type by from a group: its name, or its data type where that name is another type's."""
        while group is not None:
            for name, dtype, _ in group._ferrocdf._types():
                if name == self.name:
                    return name if _is_same(dtype, self._stored) else self._stored
            group = group.parent
        return self._stored


def _is_same(one, other):
    return one == other and one.metadata == other.metadata


def _defined(group, name):
    """Returns the data type of a type of a group."""
    return next(dtype for known, dtype, _ in group._ferrocdf._types() if known == name)


class CompoundType(_Type):
    """A compound type. ``dtype`` is its structured data type, aligned as in C; ``dtype_view`` has texts for arrays of characters."""

    def __init__(self, grp: _Container, dt: Any, dtype_name: str, **kwargs: Any) -> None:
        self.name = dtype_name
        self.dtype = _with_formats(np.dtype(dt), _as_letters)
        self.dtype_view = _with_formats(self.dtype, _as_texts)
        self._aligned = _with_formats(self.dtype, _as_stored)
        self._stored = kwargs.get("stored")
        if self._stored is None:
            fields = [self._field(grp, name) for name in self.dtype.names]
            with raised_as():
                grp._ferrocdf._create_compound(dtype_name, fields)
            self._stored = _defined(grp, dtype_name)

    def _field(self, grp, name):
        element, shape = _split(self.dtype.fields[name][0])
        if element.names:
            return name, find_compound(grp, element).argument(grp), []
        if code(element) not in TYPES:
            raise ValueError("Unsupported compound type element")
        return name, element.newbyteorder("="), list(shape)

    def as_stored(self, array):
        """Returns values of a structured data type with the same fields as the engine takes them."""
        return array.view(_in_place(array.dtype)).astype(self._aligned)

    def as_read(self, array):
        """Returns values that the engine read in the data type of this one."""
        return array.astype(self._aligned).view(self.dtype)

    def __str__(self) -> str:
        return self._shown()


def find_compound(group, dtype):
    """Returns the compound type with these fields, in a group or around it."""
    while group is not None:
        for known in group.cmptypes.values():
            for candidate in (known.dtype, known.dtype_view):
                if candidate.names == dtype.names and [v[0] for v in candidate.fields.values()] == [v[0] for v in dtype.fields.values()]:
                    return known
        group = group.parent
    raise ValueError("cannot find compound type in this group or parent groups")


class VLType(_Type):
    """A type of lists. ``dtype`` is the data type of their elements; `str` for strings, which have no name."""

    def __init__(self, grp: _Container, dt: Any, dtype_name: str, **kwargs: Any) -> None:
        self.dtype = dt if dt is str else np.dtype(dt)
        self.name = None if dt is str else dtype_name
        self._stored = kwargs.get("stored")
        if self._stored is None and dt is not str:
            if code(self.dtype) not in TYPES:
                raise KeyError("unsupported datatype specified for VLEN")
            with raised_as():
                grp._ferrocdf._create_vlen(dtype_name, self.dtype.newbyteorder("="))
            self._stored = _defined(grp, dtype_name)

    def argument(self, group):
        """As for other types; `str` for strings."""
        return str if self.dtype is str else super().argument(group)

    def __str__(self) -> str:
        return "<class 'netCDF4.VLType'>: string type" if self.dtype is str else self._shown()


class EnumType(_Type):
    """An enumeration. ``dtype`` is the integer type of its values, ``enum_dict`` has the value of each name."""

    def __init__(self, grp: _Container, dt: Any, dtype_name: str, enum_dict: Mapping[str, int], **kwargs: Any) -> None:
        self.dtype = np.dtype(dt)
        self.name, self.enum_dict = dtype_name, enum_dict
        self._stored = kwargs.get("stored")
        if self._stored is None:
            if self.dtype.kind not in "iu":
                raise KeyError("unsupported datatype specified for ENUM (must be integer)")
            members = [(member, int(np.array(value, self.dtype))) for member, value in enum_dict.items()]
            with raised_as():
                grp._ferrocdf._create_enum(dtype_name, self.dtype.newbyteorder("="), members)
            self._stored = _defined(grp, dtype_name)

    def __str__(self) -> str:
        return f"{self._shown()}, fields/values ={self.enum_dict}"


def of_stored(group, name, dtype):
    """Returns the type with a name and a data type of the engine; `str` for strings, None for types that netCDF4-python does not have."""
    metadata = dtype.metadata or {}
    if dtype.names:
        return CompoundType(group, dtype, name, stored=dtype) if is_supported(dtype) else None
    if metadata.get("vlen") is str:
        return str
    if "vlen" in metadata:
        element = np.dtype(metadata["vlen"])
        is_primitive = code(element) in TYPES and not element.metadata
        return VLType(group, element, name, stored=dtype) if is_primitive else None
    if "enum" in metadata:
        return EnumType(group, dtype.str, name, dict(metadata["enum"]), stored=dtype)
    return None


def of_group(group):
    """Returns the compounds, the lists and the enumerations that a group defines, by their names."""
    found = {"compound": {}, "vlen": {}, "enum": {}}
    for name, dtype, kind in group._ferrocdf._types():
        if kind not in found:
            continue
        made = of_stored(group, name, dtype)
        if made is None:
            warnings.warn(f"WARNING: unsupported {kind} type {name}, skipping...")
        else:
            found[kind][name] = made
    return found["compound"], found["vlen"], found["enum"]
