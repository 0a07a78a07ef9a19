"""The bench through h5py with hdf5plugin.

make FILTER FROM TO: the variable of a file, packed otherwise; a tenth of it for bzip2. read FILE: reads it whole, prints the seconds.
read-slabs FILE: the same, 24 times at once into a buffer that was used before.
write-FILTER FILE: the same as make, from memory and with the chunks of the bench, prints the seconds.
"""

import sys
import time

import h5py
import hdf5plugin
import numpy

FILTERS = {
    "zstd": {"shuffle": True, **hdf5plugin.Zstd(clevel=3)},
    "lz4": {"shuffle": True, **hdf5plugin.LZ4()},
    "blosc": hdf5plugin.Blosc(cname="lz4", clevel=5, shuffle=hdf5plugin.Blosc.SHUFFLE),
    "bitshuffle": hdf5plugin.Bitshuffle(cname="lz4"),
    "bzip2": {"shuffle": True, **hdf5plugin.BZip2()},
}

if sys.argv[1] == "make":
    _, _, packed, source, target = sys.argv
    with h5py.File(source) as old, h5py.File(target, "w") as new:
        var = old["v"]
        times = len(var) // 10 if packed == "bzip2" else len(var)
        shape = (times, *var.shape[1:])
        made = new.create_dataset("v", shape, var.dtype, chunks=var.chunks, **FILTERS[packed])
        step = var.chunks[0]
        for at in range(0, times, step):
            made[at : at + step] = var[at : min(at + step, times)]
elif sys.argv[1].startswith("write-"):
    with h5py.File(sys.argv[2]) as file:
        values = file["v"][...]
    start = time.perf_counter()
    with h5py.File(sys.argv[2] + ".made", "w") as new:
        chunks = (24, values.shape[1] // 2, values.shape[2] // 4)
        made = new.create_dataset("v", values.shape, values.dtype, chunks=chunks, **FILTERS[sys.argv[1][6:]])
        for at in range(0, len(values), chunks[0]):
            made[at : at + chunks[0]] = values[at : at + chunks[0]]
    print(f"{time.perf_counter() - start:.6f}")
elif sys.argv[1] == "read-slabs":
    with h5py.File(sys.argv[2]) as file:
        var = file["v"]
        buffer = numpy.ones((24, *var.shape[1:]), var.dtype)
        start = time.perf_counter()
        for at in range(0, len(var), 24):
            var.read_direct(buffer, numpy.s_[at : at + 24])
        spent = time.perf_counter() - start
    print(f"{spent:.6f}")
else:
    with h5py.File(sys.argv[2]) as file:
        start = time.perf_counter()
        values = file["v"][...]
        spent = time.perf_counter() - start
    print(f"{spent:.6f}")
