"""Zarr stores in zip files, of zarr-python, and folders with the same objects. Argument: a folder for them."""

import pathlib
import sys
import warnings
import zipfile

import numpy as np
import zarr

warnings.simplefilter("ignore")
folder = pathlib.Path(sys.argv[1])
for version in [2, 3]:
    for word, method in [("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)]:
        path = folder / f"{word}{version}.zip"
        store = zarr.storage.ZipStore(path, mode="w", compression=method)
        root = zarr.create_group(store, zarr_format=version, attributes={"title": "in a zip file"})
        shards = {"shards": (4, 6)} if version == 3 else {}
        array = root.create_array("g/a", shape=(10, 6), chunks=(2, 3), dtype="f4", **shards)
        array[:] = np.arange(60).reshape(10, 6)
        # A second member of the same name for each chunk of the first rows.
        array[0] = 7
        store.close()
        # The last member of a name wins here too.
        with zipfile.ZipFile(path) as packed:
            packed.extractall(path.with_suffix(""))
        # One folder around all, as netCDF-C packs its stores, and something before the zip file.
        with zipfile.ZipFile(path) as packed, zipfile.ZipFile(folder / f"{word}{version}-within.zip", "w", method) as within:
            within.mkdir("top")
            for name in dict.fromkeys(packed.namelist()):
                within.writestr(f"top/{name}", packed.read(name))
