"""Edits netCDF-4 files further with h5py and with the module netCDF4: edit_further.py < PATHS

h5py adds an attribute to the root group, netCDF4 a dimension and a variable on it.
"""

import sys

import h5py
import netCDF4
import numpy as np

for path in sys.stdin.read().splitlines():
    print("==", path, flush=True)
    with h5py.File(path, "r+") as file:
        file.attrs["edited_by_h5py"] = np.int32(1)
    with netCDF4.Dataset(path, "r+") as file:
        file.createDimension("edited_by_netcdf4", 3)
        file.createVariable("edited_by_netcdf4", "i4", ("edited_by_netcdf4",))[:] = [1, 2, 3]
    print("end")
