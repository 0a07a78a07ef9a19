"""Compares references to HDF4 files with the files: pyhdf reads a file, zarr-python and xarray its references, through fsspec.

Arguments are `FILE REFERENCES` for each file. Prints how many data sets were compared.
"""

import json
import pathlib
import sys

# `sparse.py` beside this file is not the package that xarray looks for.
sys.path.pop(0)

import numpy as np
import xarray
import zarr
from kerchunk.utils import refs_as_store
from pyhdf.SD import SD, SDC

# A dimension scale that was never written: libhdf4 reads what lies at the begin of the file.
NEVER_WRITTEN = ("dfsd.hdf", "fakeDim0")

zarr.config.set({"async.concurrency": 2})


def values_of(path):
    """The values of the data sets of a file by their names."""
    file = SD(path, SDC.READ)
    sets = [file.select(index) for index in range(file.info()[0])]
    return {sds.info()[0]: np.asarray(sds.get()) for sds in sets}


def check(path, references):
    wanted = values_of(path)
    store = refs_as_store(json.loads(pathlib.Path(references).read_text()))
    group = zarr.open_group(store, mode="r", zarr_format=2)
    dataset = xarray.open_zarr(store, consolidated=False, zarr_format=2, decode_cf=False)
    assert set(dataset.variables) == set(wanted), (path, sorted(dataset.variables), sorted(wanted))
    for name, values in wanted.items():
        for found in (np.asarray(group[name][...]), dataset[name].values):
            assert found.shape == values.shape, (path, name, found.shape, values.shape)
            assert found.dtype.newbyteorder("=") == values.dtype, (path, name, found.dtype, values.dtype)
            is_judged = (pathlib.Path(path).name, name) != NEVER_WRITTEN
            assert not is_judged or np.array_equal(found, values), (path, name)
    return len(wanted)


words = sys.argv[1:]
print(sum(check(*pair) for pair in zip(words[::2], words[1::2], strict=True)))
