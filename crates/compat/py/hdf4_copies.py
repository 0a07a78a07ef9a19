"""Compares copies that `nccopy` makes of HDF4 files with their sources: pyhdf reads the source, netCDF4 the copy.

Lines of the standard input are `SOURCE TAB COPY`; of each, lines say what differs, and how much was compared is the last line.
"""

import sys

import netCDF4
import numpy
from pyhdf.SD import SD, SDC

NUMPY = {
    SDC.CHAR8: "S1", SDC.UCHAR8: "u1", SDC.INT8: "i1", SDC.UINT8: "u1", SDC.INT16: "i2", SDC.UINT16: "u2",
    SDC.INT32: "i4", SDC.UINT32: "u4", SDC.FLOAT32: "f4", SDC.FLOAT64: "f8",
}  # fmt: skip
compared = 0


def text(value):
    """Text without zero bytes, as netCDF4 gives it; latin-1 is what pyhdf reads it as."""
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    return value.replace("\0", "")


def attributes(what, source, count, copy):
    global compared
    for index in range(count):
        attr = source.attr(index)
        name, number_type, _ = attr.info()
        if number_type not in NUMPY:
            continue
        if name not in copy.ncattrs():
            print(f"{what}: attribute {name!r} is not in the copy")
            continue
        theirs, ours = attr.get(), copy.getncattr(name)
        compared += 1
        if number_type == SDC.CHAR8:
            theirs = text(theirs)
            try:
                theirs = theirs.encode("latin-1").decode("utf-8")
            except UnicodeDecodeError:
                theirs = theirs.encode("latin-1").decode("utf-8", "replace")
            ours = text(ours) if isinstance(ours, (str, bytes)) else ours
            if ours != theirs and ours.replace("\ufffd", "") != theirs.replace("\ufffd", ""):
                print(f"{what}: attribute {name!r} is {theirs!r:.100} and {ours!r:.100}")
            continue
        dtype = numpy.dtype(NUMPY[number_type])
        theirs, ours = numpy.array(theirs, dtype).ravel(), numpy.asarray(ours).ravel()
        if ours.dtype != dtype or ours.tobytes() != theirs.tobytes():
            print(f"{what}: attribute {name!r} is {theirs!r:.100} and {ours!r:.100}")


def compare(source, copy):
    global compared
    file, copied = SD(source, SDC.READ), netCDF4.Dataset(copy)
    copied.set_auto_maskandscale(False)
    copied.set_auto_chartostring(False)
    sets, attrs = file.info()
    attributes("file", file, attrs, copied)
    variables = list(copied.variables.values())
    if len(variables) != sets:
        print(f"{sets} data sets, {len(variables)} variables")
        return
    for index, var in enumerate(variables):
        sds = file.select(index)
        name, _, shape, number_type, count = sds.info()
        shape = shape if isinstance(shape, list) else [shape]
        if number_type not in NUMPY:
            continue
        attributes(name, sds, count, var)
        # Of a dimension that has no scale, libhdf4 reads what lies at the begin of all scales.
        if not all(shape) or (source.endswith("ntcheck.hdf") and name.startswith("fakeDim")):
            continue
        try:
            theirs = sds.get()
        except Exception:
            continue
        ours = var[tuple(slice(0, length) for length in shape)]
        compared += 1
        # Classic files are read in their byte order.
        ours = numpy.asarray(ours)
        ours = ours.astype(ours.dtype.newbyteorder("="))
        if numpy.ascontiguousarray(ours).tobytes() != numpy.ascontiguousarray(theirs).tobytes():
            print(f"{name}: elements differ: {ours.dtype}{ours.shape} {theirs.dtype}{theirs.shape}")


for line in sys.stdin:
    source, copy = line.rstrip("\n").split("\t")
    try:
        compare(source, copy)
    except Exception as error:
        print(f"{source} {copy}: {error!r}")
print(f"{compared} compared")
