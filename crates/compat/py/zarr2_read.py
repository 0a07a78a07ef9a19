"""Compares Zarr stores of version 2, as zarr-python 2 reads them, with the netCDF-4 files that they are copies of.

Standard input has a line for each store: the file, the store and its kind, with tabs between. Prints for each the number of arrays that
were compared, or the difference.
"""

import sys
import warnings

import netCDF4
import zarr

from zarr_files import compare_with_zarr

warnings.simplefilter("error")
# Of a package that it uses, at its end.
warnings.filterwarnings("ignore", message="Call to deprecated function")
assert zarr.__version__.startswith("2.18."), zarr.__version__


def compare(path, store, kind):
    opened = zarr.ZipStore(store, mode="r") if store.endswith(".zip") else zarr.DirectoryStore(store)
    with netCDF4.Dataset(path) as given:
        # With and without consolidated metadata.
        count = compare_with_zarr(given, zarr.open_consolidated(opened, mode="r"), kind)
        return count + compare_with_zarr(given, zarr.open_group(opened, mode="r"), kind)


for line in sys.stdin:
    try:
        print(compare(*line.strip().split("\t")), flush=True)
    except Exception as error:
        print(f"{type(error).__name__}: {error}".replace("\n", " "), flush=True)
