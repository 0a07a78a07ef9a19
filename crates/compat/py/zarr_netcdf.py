"""Makes Zarr stores with netCDF-C, in the folder that is named, one for each mode."""

import sys
import warnings

import netCDF4
import numpy as np

warnings.simplefilter("ignore")
TYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]

for mode in ["nczarr", "zarr", "xarray", "nczarr,noxarray"]:
    name = mode.replace(",", "-")
    dataset = netCDF4.Dataset(f"file://{sys.argv[1]}/{name}#mode={mode},file", "w")
    is_pure = mode in ("zarr", "xarray")
    dataset.title = "hello"
    dataset.numbers = np.array([1, 2, 3], "i2")
    dataset.half = np.float32(1.5)
    dataset.large = np.int64(3_000_000_000)
    dataset.createDimension("x", 3)
    dataset.createDimension("s", 4)
    # Pure Zarr has no dimensions that grow.
    dataset.createDimension("t", 5 if is_pure else None)
    group = dataset.createGroup("g1")
    group.createDimension("y", 2)
    group.note = "in the group"
    for number, kind in enumerate(TYPES):
        # NetCDF-C writes an element size of 0 for shuffle.
        options = {"zlib": True, "complevel": 3, "shuffle": number % 4 == 0} if number % 2 == 0 else {}
        variable = dataset.createVariable("v" + kind, kind, ("t", "x"), chunksizes=(2, 2), **options)
        variable[:] = np.arange(15).reshape(5, 3)
        variable.units = "m"
        variable.weights = np.array([0.5, 2.0])
    dataset.createVariable("scalar", "f8", ())[:] = 3.25
    text = dataset.createVariable("text", "S1", ("x", "s"))
    text[:] = np.array([list("abcd"), list("efgh"), list("ijkl")], "S1")
    words = dataset.createVariable("words", str, ("x",))
    for at, word in enumerate(["a", "hello world", "é"]):
        words[at] = word
    filled = group.createVariable("filled", "i4", ("y", "x"), fill_value=-1, endian="big")
    filled[0, :] = [7, 8, 9]
    inner = group.createGroup("g2")
    inner.createVariable("deep", "u1", ("y", "x"))[:] = 5
    dataset.close()
