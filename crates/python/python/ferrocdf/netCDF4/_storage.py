"""How variables are stored: filters, chunks, quantization."""

import warnings

import numpy as np

from .. import _filters
from ._constants import default_fillvals, code
from ._text import encoded

_COMPRESSIONS = ("zlib", "szip", "zstd", "bzip2", *(name for name in _filters.BLOSC if name != "blosc_snappy"))
_QUANTIZE_MODES = ("BitGroom", "GranularBitRound", "BitRound")
#: Attributes by which netCDF-C remembers how a variable was quantized.
_QUANTIZED = {
    "_QuantizeBitGroomNumberOfSignificantDigits": "BitGroom",
    "_QuantizeGranularBitRoundNumberOfSignificantDigits": "GranularBitRound",
    "_QuantizeBitRoundNumberOfSignificantBits": "BitRound",
}


def filters_for(compression, complevel, shuffle, szip_coding, szip_pixels_per_block, blosc_shuffle, fletcher32):
    """Returns the filters for a compression of netCDF4-python, as the engine takes them."""
    found = []
    if compression == "zlib":
        found = ["shuffle"] * bool(shuffle) + [f"deflate,{int(complevel)}"]
    elif compression == "szip":
        if szip_coding not in _filters.SZIP:
            raise ValueError("unknown szip coding ('ec' or 'nn' supported)")
        found = [_filters.szip(szip_coding, int(szip_pixels_per_block))]
    elif compression in ("zstd", "bzip2"):
        found = [f"{compression},{int(complevel)}"]
    elif compression:
        found = [_filters.blosc(int(complevel), int(blosc_shuffle), _filters.BLOSC.index(compression))]
    return found + ["fletcher32"] * bool(fletcher32)


def checked_compression(compression, zlib, complevel):
    """Returns the compression that the arguments of ``createVariable`` ask for; None without one."""
    if zlib and not compression:
        compression = "zlib"
    if not complevel or not compression:
        return None
    if compression not in _COMPRESSIONS:
        raise ValueError("Unsupported value for compression kwarg")
    return compression


def checked_chunks(dimensions, contiguous, chunksizes):
    """Returns the shape of the chunks; None where the engine chooses."""
    if chunksizes is None:
        return None
    if contiguous:
        raise ValueError("cannot specify chunksizes for a contiguous dataset")
    if len(chunksizes) != len(dimensions):
        raise ValueError("chunksizes must be a sequence with the same length as dimensions")
    if any(not dim.isunlimited() and size > len(dim) for dim, size in zip(dimensions, chunksizes)):
        raise ValueError("chunksize cannot exceed dimension size")
    return [int(size) for size in chunksizes]


def checked_quantize(significant_digits, quantize_mode):
    """Returns mode and digits; None without."""
    if significant_digits is None:
        return None
    if quantize_mode not in _QUANTIZE_MODES:
        raise ValueError(f"'quantize_mode' keyword argument must be 'BitGroom','GranularBitRound' or 'BitRound', got '{quantize_mode}'")
    return quantize_mode, int(significant_digits)


def checked_fill(variable, fill_value):
    """Returns the fill value of a variable that is defined, as the engine takes it; None for that of its type."""
    if fill_value is None or fill_value is False:
        return None
    is_string = variable._isvlen and variable.dtype is str
    if isinstance(fill_value, str) and fill_value == "default":
        if not variable._isprimitive:
            warnings.warn("WARNING: there is no default fill value for this data type, so fill_value='default'\ndoes not do anything.")
            return None
        fill_value = default_fillvals[code(variable.dtype)]
    if is_string:
        return str(fill_value)
    if not (variable._isprimitive or variable._isenum):
        raise AttributeError("cannot set _FillValue attribute for VLEN or compound variable")
    value = np.array(fill_value, variable.dtype)
    if value.dtype.kind == "S":
        return encoded(value.item()) or b"\0"
    return value.astype(value.dtype.newbyteorder("="))


def filters_of(variable):
    """Returns the filters of a variable of the engine as the dictionary of netCDF4-python."""
    names = ("zlib", "szip", "zstd", "bzip2", "blosc", "shuffle")
    found = {**dict.fromkeys(names, False), "complevel": 0, "fletcher32": False}
    for stage in variable.filters:
        name, *parameters = stage.lower().split(",")
        values = [int(value) for value in parameters if value.isdigit()]
        name = {"deflate": "zlib", "zstandard": "zstd"}.get(name, name)
        if name in ("zlib", "zstd", "bzip2"):
            found[name], found["complevel"] = True, values[0] if values else 0
        elif name == "blosc":
            found.update(_filters.keys_of_blosc(values) or {})
        elif name == "szip":
            found.update(_filters.keys_of_szip(values) or {})
        elif name in ("shuffle", "fletcher32"):
            found[name] = True
    return found


def quantization_of(variable):
    """Returns digits and mode of a quantized variable; None for others."""
    names = variable.ncattrs()
    return next(((int(variable.getncattr(name)), mode) for name, mode in _QUANTIZED.items() if name in names), None)
