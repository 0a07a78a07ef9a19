"""Missing values and packed numbers of variables."""

import warnings

import numpy as np
from numpy import ma

from ._constants import code, default_fillvals

#: Attributes that say how numbers are packed and which are missing.
_NAMES = ("_Unsigned", "missing_value", "_FillValue", "valid_range", "valid_min", "valid_max", "scale_factor", "add_offset")


def attributes(variable):
    """Returns the attributes of a variable that this module heeds."""
    there = set(variable.ncattrs())
    return {name: variable._read_attribute(name) for name in _NAMES if name in there}


def is_safe_cast(given, cast):
    """True if a cast has changed no value."""
    try:
        return bool(((given == cast) | (np.isnan(given) & np.isnan(cast))).all())
    except TypeError:
        return bool(np.all(given == cast))


def in_type_of(variable, value):
    """Returns a value in the data type of a variable; None if it does not fit."""
    given = np.array(value)
    try:
        cast = np.array(given, variable.dtype)
    except ValueError:
        return None
    return cast if is_safe_cast(given, cast) else None


def _safe(variable, attrs, name):
    """Returns the value of an attribute in the data type of the variable; None without one, and with a warning if it does not fit."""
    if name not in attrs:
        return None
    found = in_type_of(variable, attrs[name])
    if found is None:
        warnings.warn(f"WARNING: {name} not used since it\ncannot be safely cast to variable data type")
    return found


def _equal(data, value):
    """True where data is a value; NaN is NaN."""
    try:
        is_nan = bool(np.isnan(value))
    except TypeError:
        is_nan = False
    return np.isnan(data) if is_nan else np.asarray(data == value)


def as_unsigned(data, attrs):
    """Returns signed integers as unsigned ones if the attribute `_Unsigned` says that they are."""
    if attrs.get("_Unsigned") in ("true", "True") and data.dtype.kind == "i":
        return data.view(f"{data.dtype.byteorder}u{data.dtype.itemsize}")
    return data


def _default_fill(variable):
    """Returns the fill value that elements have without an attribute. Bytes are too few for one."""
    name = code(variable.dtype)
    if variable._isvlen or (name in ("i1", "u1") and not variable._ferrocdf.fill):
        return None
    return np.array(default_fillvals[name], variable.dtype)


def mask(variable, data, attrs):
    """Returns data as a masked array: missing values, fill values and values outside the valid range are masked."""
    if variable.scale:
        data = as_unsigned(data, attrs)
    is_reread = data.dtype.kind != variable.dtype.kind

    def limit(value):
        return value.view(data.dtype) if is_reread else value

    missing, fill_value = np.zeros(data.shape, bool), None
    values = _safe(variable, attrs, "missing_value")
    if values is not None:
        values = np.atleast_1d(limit(values))
        found = np.logical_or.reduce([_equal(data, value) for value in values])
        if found.any():
            fill_value = values[0]
            missing = missing | found
    fill = _safe(variable, attrs, "_FillValue")
    wanted = _default_fill(variable) if fill is None else limit(fill)
    if wanted is not None:
        found = _equal(data, wanted)
        if found.any():
            fill_value = wanted if fill_value is None else fill_value
            missing = missing | found
    if variable.dtype.kind != "S":
        low, high = _valid_range(variable, attrs)
        missing = missing if low is None else missing | (data < limit(low))
        missing = missing if high is None else missing | (data > limit(high))
    if fill_value is None:
        fill_value = limit(np.array(default_fillvals[code(variable.dtype)], variable.dtype) if fill is None else fill)
    return _masked(variable, data, missing, fill_value)


def _valid_range(variable, attrs):
    """Returns the least and the largest valid value; None where there is no limit."""
    whole = _safe(variable, attrs, "valid_range")
    low, high = _safe(variable, attrs, "valid_min"), _safe(variable, attrs, "valid_max")
    return (whole[0], whole[1]) if whole is not None and whole.size == 2 else (low, high)


def _masked(variable, data, missing, fill_value):
    has_missing = bool(missing.any())
    array = ma.masked_array(data, mask=missing, fill_value=fill_value) if has_missing else ma.masked_array(data)
    if array.shape == () and array.mask.all():
        # The constant `masked`, as an element of a masked array is.
        return array[()]
    return array if has_missing or variable.always_mask else np.asarray(data)


def unpack(data, attrs):
    """Returns packed numbers with ``scale_factor`` and ``add_offset`` applied."""
    scale, offset = attrs.get("scale_factor"), attrs.get("add_offset")
    if scale is not None and offset is not None:
        return data * scale + offset if offset != 0.0 or scale != 1.0 else data.astype(scale.dtype)
    if scale is not None and scale != 1.0:
        return data * scale
    if offset is not None and offset != 0.0:
        return data + offset
    return data


def can_unpack(attrs):
    """True if ``scale_factor`` and ``add_offset`` are numbers, or not there."""
    try:
        for name in ("scale_factor", "add_offset"):
            float(attrs.get(name, 0))
    except (TypeError, ValueError):
        return False
    return True


def pack(variable, data):
    """Returns numbers as they are stored: packed, in the data type of the variable, with fill values where they are masked."""
    attrs = attributes(variable)
    scale, offset = attrs.get("scale_factor"), attrs.get("add_offset")
    if offset is not None:
        data = data - offset
    if scale is not None:
        data = data / scale
    if (scale is not None or offset is not None) and variable.dtype.kind in "iu":
        data = np.around(data)
    if data.dtype != variable.dtype:
        data = data.astype(variable.dtype)
    return _filled(variable, data, attrs) if ma.isMA(data) else data


def _filled(variable, data, attrs):
    """Returns masked values as the fill value of the variable, where they are not missing values already."""
    if "missing_value" in attrs:
        values = np.asarray(attrs["missing_value"])
        if np.isin(data.data[data.mask], values).all():
            return data.data
        if values.shape:
            raise RuntimeError("cannot assign fill_value for masked array when missing_value attribute is not a scalar")
        fill = values[()]
    else:
        fill = attrs.get("_FillValue", default_fillvals[code(variable.dtype)])
    filled = np.array(ma.getdata(data))
    filled[ma.getmaskarray(data)] = fill
    return filled
