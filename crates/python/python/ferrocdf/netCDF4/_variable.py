"""Variables."""

from __future__ import annotations

import sys
import warnings
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._errors import Error
from .._shape import HasShape
from . import _complex, _masking, _settings, _storage, _types
from ._attributes import HasAttributes
from ._constants import TYPES, code, default_fillvals
from ._dimension import Dimension, find_dimension
from ._reading import Readable
from ._types import CompoundType, EnumType, VLType
from ._writing import Writable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._dataset import Dataset, _Container

_BYTE_ORDERS = {"=": "native", "<": "little", ">": "big"}


class Variable(HasShape, Readable, Writable, HasAttributes):
    """A variable. ``variable[index]`` reads and writes with the rules of netCDF4-python: lists are orthogonal, missing values are masked and
    packed numbers unpacked unless that is switched off."""

    __slots__ = (
        "_ferrocdf",
        "_grp",
        "_name",
        "dtype",
        "mask",
        "scale",
        "always_mask",
        "chartostring",
        "_isprimitive",
        "_iscompound",
        "_isvlen",
        "_isenum",
        "_type",
        "_complex",
        "_has_lsd",
        "_ncstring_attrs__",
        "_chunk_cache",
        "__weakref__",
    )

    dtype: Any
    mask: bool
    scale: bool
    always_mask: bool
    chartostring: bool

    def __init__(
        self,
        grp: _Container,
        name: str,
        datatype: Any,
        dimensions: Sequence[Dimension] = (),
        compression: str | None = None,
        zlib: bool = False,
        complevel: int | None = 4,
        shuffle: bool = True,
        szip_coding: str = "nn",
        szip_pixels_per_block: int = 8,
        blosc_shuffle: int = 1,
        fletcher32: bool = False,
        contiguous: bool = False,
        chunksizes: int | Sequence[int] | None = None,
        endian: str = "native",
        least_significant_digit: int | None = None,
        significant_digits: int | None = None,
        quantize_mode: str = "BitGroom",
        fill_value: Any = None,
        chunk_cache: int | None = None,
    ) -> None:
        """Defines a variable; use ``Dataset.createVariable``."""
        where = f"(variable '{name}', group '{grp.name}')"
        compression = _storage.checked_compression(compression, zlib, complevel)
        if grp.data_model.startswith("NETCDF3") and endian != "native":
            raise RuntimeError(f"only endian='native' allowed for NETCDF3 files, got '{endian}' {where}")
        if endian not in ("little", "big", "native"):
            raise ValueError(f"'endian' keyword argument must be 'little','big' or 'native', got '{endian}' {where}")
        datatype = _data_type(datatype)
        _check_byte_order(datatype, endian)
        self._begin(grp, name, datatype, where)
        is_stored_in_chunks = grp.data_model.startswith("NETCDF4") and len(dimensions) > 0
        storage = {
            "chunks": _storage.checked_chunks(dimensions, contiguous, chunksizes) if is_stored_in_chunks else None,
            "contiguous": is_stored_in_chunks and bool(contiguous),
            "shards": None,
            "filters": [],
            "endian": endian,
            "quantize": None,
            "fill_value": _storage.checked_fill(self, fill_value),
            "no_fill": self._isprimitive and (fill_value is False or (fill_value is None and grp._root()._no_fill)),
        }
        if is_stored_in_chunks:
            storage["filters"] = _storage.filters_for(
                compression, complevel, shuffle, szip_coding, szip_pixels_per_block, blosc_shuffle, fletcher32
            )
            storage["quantize"] = _storage.checked_quantize(significant_digits, quantize_mode)
        self._define(grp, name, dimensions, storage, where)
        if chunk_cache is not None:
            self.set_var_chunk_cache(chunk_cache)
        if least_significant_digit is not None:
            self.least_significant_digit = least_significant_digit
        self._set(_has_lsd=least_significant_digit is not None)

    @classmethod
    def _of(cls, grp, native):
        """Returns an object for a variable of the engine; None, and a warning, if its type is none of netCDF4-python."""
        made = cls.__new__(cls)
        stored = native.dtype
        if stored.kind in "OV" or stored.metadata:
            datatype = _types.of_stored(grp, native.type_name, stored)
            if datatype is None:
                warnings.warn(f"WARNING: variable '{native.name}' has unsupported datatype, skipping ..")
                return None
        else:
            datatype = stored.newbyteorder(">") if native.endian == "big" else stored
        made._begin(grp, native.name, datatype, "")
        made._set(_ferrocdf=native)
        if grp.auto_complex:
            made._find_complex()
        made._set(_has_lsd="least_significant_digit" in native._attribute_names())
        return made

    def _begin(self, grp, name, datatype, where):
        """Sets what follows from the type."""
        is_string = datatype is str
        if is_string and grp.data_model != "NETCDF4":
            raise ValueError(
                "Variable length strings are only supported for the NETCDF4 format. For other formats, consider using "
                f"netCDF4.stringtochar to convert string arrays into character arrays with an additional dimension. {where}"
            )
        user = VLType(grp, str, None) if is_string else datatype
        is_user = isinstance(user, (CompoundType, VLType, EnumType))
        is_complex = not is_user and datatype.kind == "c"
        if is_complex and not grp.auto_complex:
            raise ValueError(f"complex datatypes ({datatype}) are only supported with `auto_complex=True`")
        if not is_user and not is_complex and code(datatype) not in TYPES:
            raise TypeError(f"Illegal primitive data type, must be one of {list(TYPES)}, got {datatype} {where}")
        self._set(
            _grp=weakref.proxy(grp) if grp.keepweakref else grp,
            _name=name,
            dtype=user.dtype if is_user else datatype,
            mask=True,
            scale=True,
            always_mask=True,
            chartostring=True,
            _isprimitive=not is_user,
            _iscompound=isinstance(user, CompoundType),
            _isvlen=isinstance(user, VLType),
            _isenum=isinstance(user, EnumType),
            _type=user if is_user else None,
            _complex=None,
            _ncstring_attrs__=grp._ncstring_attrs__,
            _chunk_cache=_settings.get_chunk_cache(),
        )

    def _define(self, grp, name, dimensions, storage, where):
        """Defines the variable in the file."""
        paths = [dim._path() for dim in dimensions]
        type_ = self._type.argument(grp) if self._type else TYPES.get(code(self.dtype))
        if type_ is None:
            type_, extra = _complex_storage(grp, self.dtype)
            paths += extra
            storage["chunks"] = None if storage["chunks"] is None else storage["chunks"] + [2] * len(extra)
        try:
            native = grp._ferrocdf._create_variable(name, type_, paths, storage)
        except Error as error:
            raise RuntimeError(f"{error}: {where}") from error
        self._set(_ferrocdf=grp._ferrocdf._wrap(native))
        if self.dtype is not str and self.dtype.kind == "c":
            self._find_complex()

    def _find_complex(self):
        """Looks whether the values are complex numbers."""
        native = self._ferrocdf
        by_compound = _complex.of_compound(native.dtype)
        by_dimension = None if by_compound else _complex.of_dimension(native)
        if by_compound or by_dimension:
            self._set(_complex="compound" if by_compound else "dimension", dtype=by_compound or by_dimension)
            self._set(_isprimitive=not by_compound, _iscompound=bool(by_compound))

    @property
    def _group(self):
        return self._grp

    def _fill_bytes(self, value):
        if self.dtype is str:
            return value
        # The text of an attribute has no zeros at its end, the fill value has.
        native = self._ferrocdf.fill_value
        return native if isinstance(native, bytes) else super()._fill_bytes(value)

    @property
    def name(self) -> str:
        """The name."""
        return self._ferrocdf.name

    @property
    def datatype(self) -> Any:
        """The data type of NumPy, or the type of the dataset."""
        return self.dtype if self._type is None else self._type

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The names of the dimensions."""
        names = self._ferrocdf.dimensions
        return tuple(names[:-1] if self._complex == "dimension" else names)

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the dimensions now."""
        shape = self._ferrocdf.shape
        return shape[:-1] if self._complex == "dimension" else shape

    def _encoding(self, default=None):
        return self._read_attribute("_Encoding") if "_Encoding" in self.ncattrs() else default

    def _is_text(self):
        """True for characters, which become texts if they have an encoding."""
        return self.chartostring and self._isprimitive and self.dtype == "S1"

    def _unlimited(self):
        """Returns True for each dimension that grows."""
        return tuple(dim.isunlimited() for dim in self.get_dims())

    def group(self) -> Dataset:
        """Returns the group that it is in."""
        return self._grp

    def get_dims(self) -> tuple[Dimension, ...]:
        """Returns the dimensions."""
        return tuple(find_dimension(self._grp, name) for name in self.dimensions)

    def get_fill_value(self) -> Any:
        """Returns the value of elements that were never written; None if they are undefined."""
        if not self._ferrocdf.fill:
            return None
        if "_FillValue" in self.ncattrs():
            return self.getncattr("_FillValue")
        # Files of other programs have fill values without the attribute.
        return np.array(self._ferrocdf.fill_value, self.dtype) if self._isprimitive else None

    def filters(self) -> dict[str, Any] | None:
        """Returns the filters as a dictionary; None for classic files."""
        return _storage.filters_of(self._ferrocdf) if self._grp.data_model.startswith("NETCDF4") else None

    def quantization(self) -> tuple[int, str] | None:
        """Returns digits and mode of a quantized variable; None for others."""
        return _storage.quantization_of(self) if self._grp.data_model.startswith("NETCDF4") else None

    def endian(self) -> str:
        """Returns the byte order in the file: "little", "big", or "native" where the format decides."""
        return self._ferrocdf.endian if self._grp.data_model.startswith("NETCDF4") else "native"

    def chunking(self) -> list[int] | str | None:
        """Returns the shape of the chunks, or "contiguous"; None for classic files."""
        if not self._grp.data_model.startswith("NETCDF4"):
            return None
        chunks = self._ferrocdf.chunks
        return "contiguous" if chunks is None else list(chunks)

    def get_var_chunk_cache(self) -> _settings.ChunkCache:
        """Returns what ``set_var_chunk_cache`` has set, or that of the process when the variable was opened."""
        return self._chunk_cache

    def set_var_chunk_cache(self, size: int | None = None, nelems: int | None = None, preemption: float | None = None) -> None:
        """Sets what ``get_var_chunk_cache`` returns. The engine has one cache for all variables."""
        self._set(_chunk_cache=_settings.changed(self._chunk_cache, size, nelems, preemption))

    def setncattr(self, name: str, value: Any) -> None:
        """Sets an attribute, also one that has the name of an attribute of the class."""
        if name == "_FillValue":
            raise AttributeError(
                "_FillValue attribute must be set when variable is created (using fill_value keyword to createVariable)"
            )
        super().setncattr(name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("valid_min", "valid_max", "valid_range", "missing_value") and self._isprimitive:
            # They are compared with elements, and have their type where they fit.
            found = _masking.in_type_of(self, value)
            if found is None:
                warnings.warn(f"WARNING: {name} cannot be safely cast to variable dtype")
            else:
                value = found
        super().__setattr__(name, value)

    def set_auto_chartostring(self, chartostring: bool) -> None:
        """Switches whether characters with the attribute `_Encoding` become texts."""
        self._set(chartostring=bool(chartostring))

    def use_nc_get_vars(self, use_nc_get_vars: bool) -> None:
        """Does nothing: all selections are read in one way."""

    def set_auto_maskandscale(self, maskandscale: bool) -> None:
        """Switches whether missing values are masked and packed numbers unpacked."""
        self._set(mask=bool(maskandscale), scale=bool(maskandscale))

    def set_auto_scale(self, scale: bool) -> None:
        """Switches whether packed numbers are unpacked, and packed when they are written."""
        self._set(scale=bool(scale))

    def set_auto_mask(self, mask: bool) -> None:
        """Switches whether missing values are masked."""
        self._set(mask=bool(mask))

    def set_always_mask(self, always_mask: bool) -> None:
        """Switches whether arrays without missing values are masked arrays too."""
        self._set(always_mask=bool(always_mask))

    def set_ncstring_attrs(self, ncstring_attrs: bool) -> None:
        """Switches whether text attributes get the type `string`."""
        self._set(_ncstring_attrs__=bool(ncstring_attrs))

    def set_collective(self, value: bool) -> None:
        """Does nothing: no dataset is open for parallel access."""

    def assignValue(self, val: Any) -> None:
        """Writes the value of a variable without dimensions."""
        if self.dimensions:
            raise IndexError("to assign values to a non-scalar variable, use a slice")
        self[:] = val

    def getValue(self) -> Any:
        """Returns the value of a variable without dimensions."""
        if self.dimensions:
            raise IndexError("to retrieve values from a non-scalar variable, use slicing")
        return self[:]

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        values = self[...]
        return values if dtype is None else np.asarray(values, dtype)

    def __str__(self) -> str:
        if not dir(self._grp):
            return "Variable object no longer valid"
        kind = next((kind for kind in ("compound", "vlen", "enum") if getattr(self, f"_is{kind}")), None)
        lines = ["<class 'netCDF4.Variable'>", f"{kind or self.dtype} {self._name}({', '.join(self.dimensions)})"]
        lines += [f"    {name}: {self.getncattr(name)}" for name in self.ncattrs()]
        if kind:
            lines.append(f"{kind} data type: {self.dtype}")
        if self._grp.path != "/":
            lines.append(f"path = {self._grp.path}")
        unlimited = [dim.name for dim in self.get_dims() if dim.isunlimited()]
        lines += [f"unlimited dimensions: {', '.join(unlimited)}", f"current shape = {self.shape!r}"]
        if self._isprimitive:
            lines.append(self._shown_fill())
        return "\n".join(lines)

    __repr__ = __str__

    def _shown_fill(self):
        if not self._ferrocdf.fill:
            return "filling off"
        if "_FillValue" in self.ncattrs():
            return "filling on"
        is_byte = code(self.dtype) in ("u1", "i1")
        return f"filling on, default _FillValue of {default_fillvals[code(self.dtype)]} {'ignored' if is_byte else 'used'}"


def _data_type(datatype):
    """Returns what ``createVariable`` is given as a type of a dataset, `str`, or a data type of NumPy."""
    if datatype is str or isinstance(datatype, (CompoundType, EnumType)):
        return datatype
    if isinstance(datatype, VLType):
        return str if datatype.dtype is str else datatype
    found = np.dtype(datatype)
    return str if found.kind == "U" or (found.kind == "S" and found.itemsize > 1) else found


def _check_byte_order(datatype, endian):
    order = _BYTE_ORDERS.get(getattr(datatype, "byteorder", None))
    if order not in (None, endian) and not (order == "native" and endian == sys.byteorder):
        warnings.warn("endian-ness of dtype and endian kwarg do not match, using endian kwarg")


def _complex_storage(grp, dtype):
    """Returns the type of the file for complex numbers, and the paths of dimensions that it needs."""
    if grp.data_model != "NETCDF4":
        if _complex.DIMENSION not in grp.dimensions:
            grp.createDimension(_complex.DIMENSION, 2)
        return TYPES[f"f{dtype.itemsize // 2}"], [f"/{_complex.DIMENSION}"]
    name, root = _complex.TYPES[code(dtype)], grp._root()
    if name not in root.cmptypes:
        root.createCompoundType(_complex.parts_of(dtype), name)
    return root.cmptypes[name].argument(grp), []
