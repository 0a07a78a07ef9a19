"""Filters besides deflate through the netCDF4 module, as far as its library has them. With `read` it reads the file that
another run made, prints what is in it, and deletes it: Debian's tools have not all of the filters."""
import os
import sys

import netCDF4
import numpy as np

values = (np.arange(400).reshape(20, 20) // 7).astype("i4")


def write(file):
    file.createDimension("y", 20)
    file.createDimension("x", 20)
    for name in ("zstd", "bzip2", "blosc_lz4", "blosc_lz4hc", "blosc_zlib", "blosc_zstd", "szip"):
        for shuffle in (0, 1, 2) if name.startswith("blosc") else (0,):
            options = {"blosc_shuffle": shuffle} if name.startswith("blosc") else {}
            v = file.createVariable(f"{name}_{shuffle}", "i4", ("y", "x"), compression=name, complevel=4,
                                    chunksizes=(8, 20), **options)
            v[:] = values
            v[3:5] += 1000


def show(file):
    for name, v in file.variables.items():
        print(name, v.filters(), v.chunking(), (v[8:] == values[8:]).all(), v[:8].tolist())


if sys.argv[1:] == ["read"]:
    with netCDF4.Dataset("filters.nc") as file:
        show(file)
    os.remove("filters.nc")
else:
    with netCDF4.Dataset("filters.nc", "w") as file:
        write(file)
        show(file)
    with netCDF4.Dataset("filters.nc", "a") as file:
        file["zstd_0"][5] = 7
        show(file)
