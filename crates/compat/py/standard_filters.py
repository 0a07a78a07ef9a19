"""What a C library of netCDF answers to wishes for standard filters: `standard_filters.py LIBRARY FOLDER`.

LIBRARY is `wheel` for that of the netCDF4 package, with the plugins of the package, or a path: that of ferrocdf. Says each
call with its code and what it gave, a line each.
"""

import ctypes
import glob
import importlib.util
import os
import sys
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint

library, folder = sys.argv[1:]
OURS = library != "wheel"
if library == "wheel":
    [package] = importlib.util.find_spec("netCDF4").submodule_search_locations
    os.environ["HDF5_PLUGIN_PATH"] = f"{package}/plugins"
    # It brings what the library needs.
    import netCDF4  # noqa: F401

    [library] = glob.glob(f"{package}/../[Nn]et[Cc][Dd][Ff]4.libs/libnetcdf[-.]*")
C = ctypes.CDLL(library)

INT, FLOAT, STRING = 4, 5, 12
CLASSIC, NETCDF4 = 0, 0x1000
UNSIGNED = c_uint(2**32 - 1).value


def call(name, *args):
    """Calls a function; what it shall give is a list of places."""
    places = [arg for arg in args if isinstance(arg, (c_int, c_uint, c_size_t))]
    code = getattr(C, name)(*(byref(arg) if arg in places else arg for arg in args))
    shown = ", ".join(str(arg) for arg in args if isinstance(arg, int))
    print(f"{name}({shown}) {code}:", *(place.value for place in places))
    return code


def tell(file, var):
    """All that can be asked about the standard filters of a variable."""
    for name in ["zstandard", "bzip2"]:
        call(f"nc_inq_var_{name}", file, var, c_int(-7), c_int(-7))
        call(f"nc_inq_var_{name}", file, var, None, None)
    call("nc_inq_var_blosc", file, var, c_int(-7), *(c_uint(77) for _ in range(4)))
    call("nc_inq_var_blosc", file, var, *[None] * 5)
    call("nc_inq_var_szip", file, var, c_int(-7), c_int(-7))
    call("nc_inq_var_deflate", file, var, c_int(-7), c_int(-7), c_int(-7))
    call("nc_inq_var_quantize", file, var, c_int(-7), c_int(-7))
    count, ids, params = c_size_t(77), (c_uint * 16)(), (c_uint * 16)()
    code = C.nc_inq_var_filter_ids(file, var, byref(count), ids)
    print("filters", code, count.value, list(ids)[: min(count.value, 16)])
    if code == 0:
        for number in list(ids)[: count.value]:
            # What a filter stores of the data is its own.
            code = C.nc_inq_var_filter_info(file, var, number, byref(count), params)
            print("filter", number, code, count.value)


WISHES = [
    *(("zstandard", level) for level in [3, 0, -1, -7, 22, 23, -131072, -131073, 1000, -(2**31)]),
    *(("bzip2", level) for level in [1, 9, 0, 10, -1, 5]),
    *(("blosc", name, 5, 0, 1) for name in range(8)),
    *(("blosc", 1, level, 0, 1) for level in [0, 1, 9]),
    *(("blosc", 1, 5, size, 1) for size in [1, 64, 4096, UNSIGNED]),
    *(("blosc", 1, 5, 0, shuffle) for shuffle in [0, 1, 2, 3, UNSIGNED]),
    *(("szip", mask, pixels) for mask in [4, 32, 0, 36] for pixels in [8, 32, 34, 7]),
    *(("deflate", 0, 1, level) for level in [1, 9, 10, -1, 0]),
    *(("quantize", mode, digits) for mode in [0, 1, 2, 3, 4, -1] for digits in [0, 1, 7, 8, 23, 24, -1]),
]
# What the wheel's library takes and can write nothing with, or ends the program.
USELESS = [*(("blosc", 1, level, 0, 1) for level in [10, UNSIGNED]), *(("szip", mask, 0) for mask in [4, 32])]
EINVAL = -36


def file(mode, name):
    made = c_int()
    assert C.nc_create(f"{folder}/{name}".encode(), mode, byref(made)) == 0
    places = [c_int() for _ in range(2)]
    for place, (word, size) in zip(places, [(b"x", 64), (b"t", 0)]):
        assert C.nc_def_dim(made.value, c_char_p(word), c_size_t(size), byref(place)) == 0
    return made.value, [place.value for place in places]


def variable(made, name, kind, dims):
    var = c_int()
    code = C.nc_def_var(made, name.encode(), kind, len(dims), (c_int * len(dims))(*dims), byref(var))
    assert code == 0, (name, code)
    return var.value


made, (x, t) = file(NETCDF4, "wishes.nc")
count = 0
for kind, dims in [(FLOAT, [x]), (INT, [t, x])]:
    for name, *params in WISHES:
        var = variable(made, f"v{count}", kind, dims)
        count += 1
        call(f"nc_def_var_{name}", made, var, *params)
        tell(made, var)
if OURS:
    for name, *params in USELESS:
        assert getattr(C, f"nc_def_var_{name}")(made, 0, *params) == EINVAL, (name, params)
for kind, dims in [(FLOAT, []), (STRING, [x])]:
    for name, *params in [("zstandard", 3), ("bzip2", 5), ("blosc", 1, 5, 0, 1), ("quantize", 1, 3), ("deflate", 0, 1, 3)]:
        var = variable(made, f"v{count}", kind, dims)
        count += 1
        call(f"nc_def_var_{name}", made, var, *params)
        tell(made, var)
# Several on one: the place of the first, the parameters of the last.
var = variable(made, "all", FLOAT, [x])
for name, *params in [("bzip2", 9), ("zstandard", 3), ("blosc", 1, 5, 0, 1), ("zstandard", 7), ("bzip2", 1)]:
    call(f"nc_def_var_{name}", made, var, *params)
tell(made, var)
# No such variable, no such file.
for which in [(made, 7777), (made, -1), (made + 65536, 0)]:
    for name, *params in [("zstandard", 3), ("bzip2", 5), ("blosc", 1, 5, 0, 1), ("blosc", 9, 5, 0, 1), ("quantize", 1, 3)]:
        call(f"nc_def_var_{name}", *which, *params)
    if which[1] != -1:
        tell(*which)
for number in [1, 2, 3, 4, 307, 32001, 32015, 9999]:
    call("nc_inq_filter_avail", made, number)
print("enddef", C.nc_enddef(made))
for name, *params in [("zstandard", 3), ("bzip2", 5), ("blosc", 1, 5, 0, 1), ("quantize", 1, 3)]:
    call(f"nc_def_var_{name}", made, 0, *params)
print("close", C.nc_close(made))

again = c_int()
print("open", C.nc_open(f"{folder}/wishes.nc".encode(), 0, byref(again)))
for var in range(count + 1):
    print(var)
    tell(again.value, var)
for name, *params in [("zstandard", 3), ("bzip2", 5), ("blosc", 1, 5, 0, 1), ("quantize", 1, 3)]:
    call(f"nc_def_var_{name}", again.value, 0, *params)
print("close", C.nc_close(again.value))

made, (x, t) = file(CLASSIC, "classic.nc")
var = variable(made, "v", FLOAT, [x])
for name, *params in [("zstandard", 3), ("bzip2", 5), ("blosc", 1, 5, 0, 1), ("szip", 4, 8), ("quantize", 1, 3), ("zstandard", 99)]:
    call(f"nc_def_var_{name}", made, var, *params)
tell(made, var)
for number in [1, 32015]:
    call("nc_inq_filter_avail", made, number)
print("close", C.nc_close(made))
