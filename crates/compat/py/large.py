"""Reads large files with the module netCDF4 and says how long opening them and looking at them took: `large.py CHUNKS VARS`.

CHUNKS has a variable `v` whose element n is 7 n; VARS has variables `v0`, `v1` and so on, each with attributes `a0` to
`a9`, whose values are the number of the variable plus their own.
"""

import sys
import time

import netCDF4
import numpy as np


def timed(what, work):
    began = time.perf_counter()
    done = work()
    print(f"{what}: {time.perf_counter() - began:.2f} s")
    return done


chunks = timed("netCDF-C opens the chunks", lambda: netCDF4.Dataset(sys.argv[1]))
values = timed("and reads them", lambda: chunks["v"][:])
assert np.array_equal(values, np.arange(len(values)) * 7), "other values"
assert len(values) == 100_000, len(values)
many = timed("netCDF-C opens the variables", lambda: netCDF4.Dataset(sys.argv[2]))
assert len(many.variables) == 20_000, len(many.variables)
for number in (0, 1, 9_999, 19_999):
    var = many[f"v{number}"]
    assert [var.getncattr(f"a{at}") for at in range(10)] == [number + at for at in range(10)], number
