"""Tells the user-defined types of files as the library tells them that netCDF4's wheel brings along, and which variables are of
them: groups first to last, by the functions of `netcdf.h` themselves, since the module leaves out some types."""
import ctypes
import glob
import os
import sys

import netCDF4

FOLDER = os.path.join(os.path.dirname(os.path.dirname(netCDF4.__file__)), "netcdf4.libs")
LIBRARY = ctypes.CDLL(glob.glob(os.path.join(FOLDER, "libnetcdf-*"))[0])
FIRST = 32


def text():
    return ctypes.create_string_buffer(1024)


def ids(function, group):
    count = ctypes.c_int()
    function(group, ctypes.byref(count), None)
    found = (ctypes.c_int * max(count.value, 1))()
    function(group, None, found)
    return found[: count.value]


def tell(group, path, names):
    for number in ids(LIBRARY.nc_inq_typeids, group):
        name, size, base, fields, kind = text(), ctypes.c_size_t(), ctypes.c_int(), ctypes.c_size_t(), ctypes.c_int()
        parts = (size, base, fields, kind)
        LIBRARY.nc_inq_user_type(group, number, name, *map(ctypes.byref, parts))
        names[number] = f"{path}:{name.value.decode(errors='replace')}"
        print("type", names[number], kind.value, size.value, fields.value)
    count = ctypes.c_int()
    LIBRARY.nc_inq_nvars(group, ctypes.byref(count))
    for number in range(count.value):
        name, kind = text(), ctypes.c_int()
        LIBRARY.nc_inq_varname(group, number, name)
        LIBRARY.nc_inq_vartype(group, number, ctypes.byref(kind))
        if kind.value >= FIRST:
            print("variable", f"{path}:{name.value.decode(errors='replace')}", names.get(kind.value))
    for child in ids(LIBRARY.nc_inq_grps, group):
        name = text()
        LIBRARY.nc_inq_grpname(child, name)
        tell(child, f"{path}/{name.value.decode(errors='replace')}", names)


def main():
    for path in sys.stdin.read().split("\n"):
        print("==", path, flush=True)
        # Damaged files may end the library.
        child = os.fork()
        if child == 0:
            file = ctypes.c_int()
            if LIBRARY.nc_open(path.encode(), 0, ctypes.byref(file)) == 0:
                tell(file.value, "", {})
                print("end")
            sys.stdout.flush()
            os._exit(0)
        os.waitpid(child, 0)


main()
