"""Prints all that the module netCDF4 says of files, whose paths come on the standard input: netcdf4_values.py < PATHS

Each file is read in a process of its own, since some are made to break readers. What the library cannot read is said
with the name of the error and no more: the words are its own.
"""

import os
import signal
import sys
import warnings
import zlib

import netCDF4
import numpy

warnings.simplefilter("ignore")

# Seconds for a file, and the most values of a variable that are read.
PATIENCE = 5
MOST = 20_000_000


def value(of):
    """A value, or what tells it from others; without the bytes between the fields of a compound."""
    if isinstance(of, numpy.ma.MaskedArray):
        of = numpy.ma.getdata(of)
    if not isinstance(of, numpy.ndarray):
        return repr(of)
    if of.dtype.names:
        return [(name, value(of[name])) for name in of.dtype.names]
    if of.dtype.hasobject:
        return [value(each) for each in of.ravel()[:2000]]
    return of.dtype.str, of.shape, zlib.crc32(numpy.ascontiguousarray(of).tobytes())


def tell(what, ask):
    try:
        print(what, ask())
    except Exception as error:
        print(what, "cannot be read:", type(error).__name__)


def attributes(owner):
    for name in owner.ncattrs():
        tell(f" attribute {name!r}", lambda: value(owner.getncattr(name)))


def variable(name, var):
    print("variable", repr(name), var.dtype, var.dimensions, var.shape, var.endian())
    tell(" storage", lambda: (var.chunking(), var.filters()))
    attributes(var)
    var.set_auto_maskandscale(False)
    var.set_auto_chartostring(False)
    if var.size <= MOST:
        tell(" data", lambda: value(var[...]))
        if var.ndim and var.size:
            tell(" every other", lambda: value(var[..., ::2]))


def group(of):
    print("group", repr(of.path))
    for name, dim in of.dimensions.items():
        print("dimension", repr(name), dim.size, dim.isunlimited())
    for kind in (of.cmptypes, of.vltypes, of.enumtypes):
        for name, made in kind.items():
            print("type", repr(name), made.dtype, getattr(made, "enum_dict", ""))
    attributes(of)
    for name, var in of.variables.items():
        variable(name, var)
    for child in of.groups.values():
        group(child)


def tell_all(path):
    signal.alarm(PATIENCE)
    try:
        file = netCDF4.Dataset(path)
    except Exception as error:
        print("cannot be opened:", type(error).__name__)
        return
    print(file.data_model)
    group(file)
    print("end")


for path in sys.stdin.read().splitlines():
    print("==", path, flush=True)
    child = os.fork()
    if child == 0:
        # What the libraries print of their own is not theirs to compare.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            tell_all(path)
        except BaseException as error:
            print("stopped:", type(error).__name__)
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(child, 0)
