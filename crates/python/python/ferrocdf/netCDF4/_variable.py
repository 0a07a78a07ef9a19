"""Variables."""

import sys
import warnings
import weakref

import numpy as np
from numpy import ma

from .._errors import Error
from . import _complex, _indexing, _masking, _settings, _storage, _types
from ._attributes import HasAttributes
from ._constants import TYPES, code, default_fillvals
from ._dimension import find_dimension
from ._errors import raised_as
from ._text import chartostring, encoded, stringtochar
from ._types import CompoundType, EnumType, VLType
from .utils import _quantize

_BYTE_ORDERS = {"=": "native", "<": "little", ">": "big"}
_FULL = slice(None)


class Variable(HasAttributes):
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
        "_use_get_vars",
        "_ncstring_attrs__",
        "_chunk_cache",
        "__weakref__",
    )

    def __init__(
        self,
        grp,
        name,
        datatype,
        dimensions=(),
        compression=None,
        zlib=False,
        complevel=4,
        shuffle=True,
        szip_coding="nn",
        szip_pixels_per_block=8,
        blosc_shuffle=1,
        fletcher32=False,
        contiguous=False,
        chunksizes=None,
        endian="native",
        least_significant_digit=None,
        significant_digits=None,
        quantize_mode="BitGroom",
        fill_value=None,
        chunk_cache=None,
        **kwargs,
    ):
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
            "no_fill": fill_value is False and self._isprimitive,
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
            _use_get_vars=True,
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
    def name(self):
        """The name."""
        return self._ferrocdf.name

    @property
    def datatype(self):
        """The data type of NumPy, or the type of the dataset."""
        return self.dtype if self._type is None else self._type

    @property
    def dimensions(self):
        """The names of the dimensions."""
        names = self._ferrocdf.dimensions
        return tuple(names[:-1] if self._complex == "dimension" else names)

    @property
    def shape(self):
        """The lengths of the dimensions now."""
        shape = self._ferrocdf.shape
        return shape[:-1] if self._complex == "dimension" else shape

    @property
    def ndim(self):
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self):
        """The number of elements."""
        return int(np.prod(self.shape, dtype=object))

    def _unlimited(self):
        """Returns True for each dimension that grows."""
        return tuple(dim.isunlimited() for dim in self.get_dims())

    def group(self):
        """Returns the group that it is in."""
        return self._grp

    def get_dims(self):
        """Returns the dimensions."""
        return tuple(find_dimension(self._grp, name) for name in self.dimensions)

    def get_fill_value(self):
        """Returns the value of elements that were never written; None if they are undefined."""
        if not self._ferrocdf.fill:
            return None
        if "_FillValue" in self.ncattrs():
            return self.getncattr("_FillValue")
        # Files of other programs have fill values without the attribute.
        return np.array(self._ferrocdf.fill_value, self.dtype) if self._isprimitive else None

    def filters(self):
        """Returns the filters as a dictionary; None for classic files."""
        return _storage.filters_of(self._ferrocdf) if self._grp.data_model.startswith("NETCDF4") else None

    def quantization(self):
        """Returns digits and mode of a quantized variable; None for others."""
        return _storage.quantization_of(self) if self._grp.data_model.startswith("NETCDF4") else None

    def endian(self):
        """Returns the byte order in the file: "little", "big", or "native" where the format decides."""
        return self._ferrocdf.endian if self._grp.data_model.startswith("NETCDF4") else "native"

    def chunking(self):
        """Returns the shape of the chunks, or "contiguous"; None for classic files."""
        if not self._grp.data_model.startswith("NETCDF4"):
            return None
        chunks = self._ferrocdf.chunks
        return "contiguous" if chunks is None else list(chunks)

    def get_var_chunk_cache(self):
        """Returns what ``set_var_chunk_cache`` has set, or that of the process when the variable was opened."""
        return self._chunk_cache

    def set_var_chunk_cache(self, size=None, nelems=None, preemption=None):
        """Sets what ``get_var_chunk_cache`` returns. The engine has one cache for all variables."""
        self._set(_chunk_cache=_settings.changed(self._chunk_cache, size, nelems, preemption))

    def setncattr(self, name, value):
        """Sets an attribute, also one that has the name of an attribute of the class."""
        if name == "_FillValue":
            raise AttributeError(
                "_FillValue attribute must be set when variable is created (using fill_value keyword to createVariable)"
            )
        super().setncattr(name, value)

    def __setattr__(self, name, value):
        if name in ("valid_min", "valid_max", "valid_range", "missing_value") and self._isprimitive:
            # They are compared with elements, and have their type where they fit.
            found = _masking.in_type_of(self, value)
            if found is None:
                warnings.warn(f"WARNING: {name} cannot be safely cast to variable dtype")
            else:
                value = found
        super().__setattr__(name, value)

    def set_auto_chartostring(self, chartostring):
        """Switches whether characters with the attribute `_Encoding` become texts."""
        self._set(chartostring=bool(chartostring))

    def use_nc_get_vars(self, use_nc_get_vars):
        """Does nothing: all selections are read in one way."""
        self._set(_use_get_vars=bool(use_nc_get_vars))

    def set_auto_maskandscale(self, maskandscale):
        """Switches whether missing values are masked and packed numbers unpacked."""
        self._set(mask=bool(maskandscale), scale=bool(maskandscale))

    def set_auto_scale(self, scale):
        """Switches whether packed numbers are unpacked, and packed when they are written."""
        self._set(scale=bool(scale))

    def set_auto_mask(self, mask):
        """Switches whether missing values are masked."""
        self._set(mask=bool(mask))

    def set_always_mask(self, always_mask):
        """Switches whether arrays without missing values are masked arrays too."""
        self._set(always_mask=bool(always_mask))

    def set_ncstring_attrs(self, ncstring_attrs):
        """Switches whether text attributes get the type `string`."""
        self._set(_ncstring_attrs__=bool(ncstring_attrs))

    def set_collective(self, value):
        """Does nothing: no dataset is open for parallel access."""

    def assignValue(self, val):
        """Writes the value of a variable without dimensions."""
        if self.dimensions:
            raise IndexError("to assign values to a non-scalar variable, use a slice")
        self[:] = val

    def getValue(self):
        """Returns the value of a variable without dimensions."""
        if self.dimensions:
            raise IndexError("to retrieve values from a non-scalar variable, use slicing")
        return self[:]

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __array__(self, dtype=None, copy=None):
        values = self[...]
        return values if dtype is None else np.asarray(values, dtype)

    def __str__(self):
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

    # Reading.

    def __getitem__(self, elem):
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
            data = native[index + (_FULL,) if self._complex == "dimension" else index]
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
        made.ravel()[:] = _objects(convert(item) for item in data.ravel())
        return made

    def _encoding(self, default=None):
        return self._read_attribute("_Encoding") if "_Encoding" in self.ncattrs() else default

    def _is_text(self):
        """True for characters, which become texts if they have an encoding."""
        return self.chartostring and self._isprimitive and self.dtype == "S1"

    def _as_texts(self, data, selectors, shape):
        """Returns characters as texts, if all of the last dimension was read and the variable has an encoding."""
        if not self._is_text() or not shape or not isinstance(selectors[-1], range) or len(selectors[-1]) != shape[-1]:
            return data
        encoding = self._encoding()
        return data if encoding is None else chartostring(data, encoding=encoding)

    # Writing.

    def __setitem__(self, elem, data):
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
        if isinstance(data, Variable):
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
        self._write(index, _objects([data]).reshape((1,) * len(index)))

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
        flips = tuple(slice(None, None, -1) if isinstance(selector, range) and selector.step < 0 else _FULL for selector in selectors)
        index = tuple(_to_write(selector) for selector in selectors)
        if not shape:
            index, data = (), data.reshape(data.shape[1:]) if data.ndim else data
        else:
            data = data[flips]
        with raised_as():
            self._ferrocdf[index + (_FULL,) if self._complex == "dimension" else index] = data

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
            made.ravel()[:] = _objects(encoded(text, encoding) for text in data.ravel())
            return made
        for array in data.ravel():
            if not isinstance(array, np.ndarray) or array.dtype != self.dtype:
                got = getattr(array, "dtype", type(array))
                raise TypeError(f"wrong data type in object array: should be {self.dtype}, got {got}")
        return data


def _objects(items):
    """Returns objects as an array of one dimension, whatever they are."""
    items = list(items)
    made = np.empty(len(items), object)
    for at, item in enumerate(items):
        made[at] = item
    return made


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


def _to_read(selector):
    """Returns a selector as an index of the engine."""
    if not isinstance(selector, range):
        return selector
    stop = None if selector.stop < 0 else selector.stop
    return slice(selector.start, stop, selector.step)


def _to_write(selector):
    """Returns a selector as an index of the engine that keeps the dimension and rises."""
    if isinstance(selector, int):
        return slice(selector, selector + 1)
    if isinstance(selector, range):
        rising = selector if selector.step > 0 else selector[::-1]
        return slice(rising.start, rising.stop, rising.step)
    return selector


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
    if not ma.isMA(data):
        return np.broadcast_to(data, shape)
    made = ma.array(np.broadcast_to(ma.getdata(data), shape), mask=np.broadcast_to(ma.getmaskarray(data), shape))
    made.set_fill_value(data.fill_value)
    return made
