"""The netCDF-C of netCDF4's wheel with the filter and the codec of `c/plugins/turn.c`.

`codec_plugin.py write STORE`: an NCZarr store of one variable that goes through the filter.
`codec_plugin.py read STORE`: the same, read.
"""

import ctypes
import glob
import importlib.util
import os
import sys

import numpy as np

TURN, KEY = 40100, 9
VALUES = (np.arange(400 * 50, dtype="i4") * 7919 % 1000).reshape(400, 50)

# The plugin finds the functions of both libraries only if all can.
LIBRARIES = os.path.dirname(importlib.util.find_spec("netCDF4").submodule_search_locations[0]) + "/netcdf4.libs"
for name in ["libhdf5-*.so*", "libnetcdf-*.so*"]:
    (library,) = glob.glob(f"{LIBRARIES}/{name}")
    loaded = ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)

import netCDF4  # noqa: E402


def main(action, store):
    with netCDF4.Dataset(f"file://{store}#mode=nczarr,file", action[0]) as file:
        if action == "write":
            file.createDimension("row", 400)
            file.createDimension("column", 50)
            variable = file.createVariable("v", "i4", ("row", "column"), chunksizes=(40, 25))
            key = (ctypes.c_uint * 1)(KEY)
            failed = loaded.nc_def_var_filter(file._grpid, variable._varid, TURN, ctypes.c_size_t(1), key)
            assert failed == 0, failed
            variable[:] = VALUES
        else:
            variable = file["v"]
            assert (variable[:] == VALUES).all(), variable[:]
            count, number = ctypes.c_size_t(), ctypes.c_uint()
            failed = loaded.nc_inq_var_filter_ids(
                file._grpid, variable._varid, ctypes.byref(count), ctypes.byref(number)
            )
            assert (failed, count.value, number.value) == (0, 1, TURN)


main(*sys.argv[1:])
