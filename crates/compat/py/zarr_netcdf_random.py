"""Random datasets that netCDF-C writes to Zarr stores: ferrocdf's library reads of them what netCDF-C reads.

Arguments: ferrocdf's library, a folder for files, the first seed, the number of datasets. Prints the numbers of variables that were
compared, of those that netCDF-C itself cannot read, and of stores that it crashed on while it wrote them. With one argument more, reads the
stores, and keeps what it read in a file of that name beside each: so it runs on ferrocdf's library.
"""

import multiprocessing
import os
import pathlib
import pickle
import shutil
import subprocess
import sys
import warnings

import netCDF4
import numpy as np

import zarr_files
from zarr_files import attributes as attributes_of_owner
from zarr_files import all_groups, all_variables, check, make, same, same_netcdf, values_of

MODES = ["nczarr", "zarr", "xarray", "nczarr,noxarray"]

warnings.simplefilter("ignore")


def url(store):
    return f"file://{store}#mode={store.stem},file"


def given(store):
    """The netCDF-4 file with what was written to a store."""
    return store.with_suffix(".nc")


def read(place):
    """Returns groups with their dimensions and attributes, and variables with all that they have. What cannot be read is an error."""
    with netCDF4.Dataset(place) as data:
        groups = {
            path: ({name: length(dim) for name, dim in group.dimensions.items()}, attributes(group))
            for path, group in all_groups(data)
        }
        return groups, {path: variable(found) for path, found in all_variables(data)}


def length(dim):
    """The length of a dimension, and whether it grows. Plain Zarr does not say that: netCDF-C takes lengths of 0 for some that do."""
    return len(dim), dim.isunlimited() and len(dim) > 0


def attributes(owner):
    return {name: owner.getncattr(name) for name in owner.ncattrs()}


def variable(found):
    try:
        values = values_of(found)
    except RuntimeError as error:
        values = error
    except UnicodeDecodeError as error:
        # NetCDF-C writes other memory than that of the strings where chunks of them have filters.
        values = error.object
    is_big = found.dtype is not str and found.dtype.itemsize > 1 and found.endian() == "big"
    return found.dimensions, found.dtype, is_big, values, attributes(found)


def compare(store, ours):
    """Compares what both libraries read of a store. Returns the numbers of variables with values, and without."""
    theirs, counts = read(url(store)), [0, 0]
    written = {} if store.stem == "nczarr" else read(given(store))[1]
    check(theirs[0].keys() == ours[0].keys(), "groups", list(theirs[0]), list(ours[0]))
    for path, (dims, attrs) in theirs[0].items():
        check(dims == ours[0][path][0], path, "dimensions", dims, ours[0][path][0])
        compare_attributes(path, attrs, ours[0][path][1])
    check(theirs[1].keys() == ours[1].keys(), "variables", list(theirs[1]), list(ours[1]))
    for path, (dims, dtype, is_big, values, attrs) in theirs[1].items():
        own = ours[1][path]
        check((dims, dtype, is_big) == own[:3], path, dims, dtype, is_big, own[:3])
        compare_attributes(path, attrs, own[4])
        is_error = isinstance(values, RuntimeError)
        if not is_error and path in written and written[path][1] == np.dtype("S1"):
            # Plain Zarr has no type for it: netCDF-C takes it for strings, and mixes the elements.
            values = np.array([letter.decode() for letter in written[path][3].reshape(-1)], object).reshape(values.shape)
        counts[is_error] += 1
        # NetCDF-C writes chunks that it cannot read where a filter makes them longer, and missing chunks get the fill value in the other byte
        # order than they should.
        if not is_error and not is_big:
            check(not isinstance(own[3], RuntimeError) and same(values, own[3]), path, "values", values, own[3])
    return counts


def compare_attributes(path, theirs, ours):
    check(theirs.keys() == ours.keys(), path, list(theirs), list(ours))
    for name, value in theirs.items():
        # Of text that is a number in JSON netCDF-C reads the first character.
        is_cut = isinstance(value, str) and (value, ours[name]) in [("1", "12"), ("n", "NaN")]
        check(is_cut or same_netcdf(value, ours[name]), path, name, value, ours[name])


def stores(folder, first, count):
    return [folder / str(seed) / f"{mode}.zarr" for seed in range(first, first + count) for mode in MODES]


def stores_that_were_written(folder, first, count):
    return [store for store in stores(folder, first, count) if given(store).exists()]


def write(store):
    """Writes a store, and a netCDF-4 file with the same. Returns the number of crashes: then there is no file."""
    # Without its own metadata netCDF-C takes the type of all numbers of an attribute from the first one, fails or aborts.
    zarr_files.attributes = attributes_of_owner if store.stem == "nczarr" else lambda *_: None
    seed = int(store.parent.name)
    child = multiprocessing.get_context("fork").Process(target=make, args=(url(store), seed))
    child.start()
    child.join()
    check(child.exitcode <= 0, "writing", store, "failed")
    if child.exitcode == 0:
        make(given(store), seed)
    return int(child.exitcode != 0)


def main():
    library, folder, first, count = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    if len(sys.argv) > 5:
        for store in stores_that_were_written(folder, first, count):
            store.with_suffix(sys.argv[5]).write_bytes(pickle.dumps(read(url(store))))
        return
    total, crashes = np.zeros(2, int), 0
    for start in range(first, first + count, 50):
        part = min(50, first + count - start)
        for store in stores(folder, start, part):
            store.parent.mkdir(exist_ok=True)
            crashes += write(store)
        arguments = [sys.executable, sys.argv[0], library, folder, str(start), str(part), ".read"]
        subprocess.run(arguments, env={**os.environ, "LD_PRELOAD": library}, check=True)
        for store in stores_that_were_written(folder, start, part):
            try:
                total += compare(store, pickle.loads(store.with_suffix(".read").read_bytes()))
            except AssertionError as error:
                raise AssertionError(f"{store}: {error}") from error
        for seed in range(start, start + part):
            shutil.rmtree(folder / str(seed))
    print(*total, crashes)
    check(total[0] > 2 * total[1], "variables with and without values", total)
    check(crashes <= max(4, count // 20), crashes, "crashes of netCDF-C")


main()
