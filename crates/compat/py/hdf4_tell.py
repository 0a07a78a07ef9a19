"""Tells what pyhdf reads of HDF4 files, whose paths are lines of the standard input, in the lines of c/hdf4/tell.c.

pyhdf brings a libhdf4 of its own, newer than that of Debian 12. Each file is read by a process of its own.
"""

import os
import signal
import sys
import zlib

import numpy
from pyhdf.SD import SD, SDC

SECONDS = 20
NUMPY = {
    SDC.CHAR8: "u1", SDC.UCHAR8: "u1", SDC.INT8: "i1", SDC.UINT8: "u1", SDC.INT16: "i2", SDC.UINT16: "u2",
    SDC.INT32: "i4", SDC.UINT32: "u4", SDC.FLOAT32: "f4", SDC.FLOAT64: "f8",
}  # fmt: skip


def word(name):
    raw = name if isinstance(name, bytes) else name.encode("utf-8", "surrogateescape")
    return "".join(chr(b) if 0x20 < b < 0x7F and b != 0x5C else f"\\{b:02x}" for b in raw)


def attributes(kind, owner, count):
    for index in range(count):
        attr = owner.attr(index)
        name, number_type, length = attr.info()
        try:
            values = attr.get()
            if number_type == SDC.CHAR8:
                raw = values.encode("latin-1")
            else:
                values = values if isinstance(values, list) else [values]
                raw = numpy.array(values, NUMPY[number_type]).tobytes()
            text = "x" + raw.hex()
        except Exception:
            text = "failed"
        print(kind, word(name), number_type, length, text)


def data_set(sds):
    name, rank, shape, number_type, count = sds.info()
    shape = shape if isinstance(shape, list) else [shape]
    lengths = ",".join(map(str, shape)) if rank else "-"
    print("sds", word(name), number_type, rank, lengths, 1 if sds.isrecord() else 0)
    for index in range(rank):
        try:
            dim_name, length, _, _ = sds.dim(index).info()
            print("dim", word(dim_name), length or 0)
        except Exception:
            print("dim failed")
    attributes("att", sds, count)
    sys.stdout.flush()
    try:
        dtype = NUMPY[number_type]
        values = numpy.ascontiguousarray(sds.get()) if all(shape) else numpy.empty(0, dtype)
        raw = values.tobytes()
        wanted = int(numpy.prod(shape, dtype=object)) * numpy.dtype(dtype).itemsize
        assert len(raw) == wanted
        print(f"data {zlib.crc32(raw):08x}:{len(raw)}")
    except Exception:
        print("data failed")


def tell(path):
    os.chdir(os.path.dirname(path) or ".")
    file = SD(path, SDC.READ)
    sets, attrs = file.info()
    print("open")
    attributes("gatt", file, attrs)
    for index in range(sets):
        try:
            sds = file.select(index)
        except Exception:
            print("sds failed")
            continue
        data_set(sds)
    print("end")


for line in sys.stdin.buffer:
    path = os.fsdecode(line.rstrip(b"\n"))
    print("==", path)
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        try:
            tell(path)
        except BaseException as error:
            print("failed", type(error).__name__)
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(child, 0)
    print()
