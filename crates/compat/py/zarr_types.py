"""Compares variables of user-defined types in a netCDF-4 file, as h5py reads them, with their copies in Zarr stores, as zarr-python does.

Arguments: the file, and the stores. Says nothing if all numbers are equal.
"""

import sys
import warnings

import h5py
import numpy
import zarr

warnings.simplefilter("error")


def leaves(array):
    """Returns all numbers in an array, element by element; bytes and text are numbers too."""
    if array.dtype.names:
        found = []
        # A slice keeps the zeros at the end of text, which a single element loses.
        elements = array.reshape(-1)
        for at in range(len(elements)):
            for name in array.dtype.names:
                found += leaves(elements[at : at + 1][name])
        return found
    if array.dtype.kind in "SV":
        return list(numpy.frombuffer(array.tobytes(), "u1"))
    return list(array.reshape(-1))


def packed(dtype):
    """Returns a type without gaps between its fields."""
    return numpy.dtype([(name, dtype[name]) for name in dtype.names]) if dtype.names else dtype


def variables(group, path=""):
    for name, item in group.items():
        if isinstance(item, h5py.Group):
            yield from variables(item, f"{path}{name}/")
        elif isinstance(item, h5py.Dataset) and not item.is_scale:
            yield f"{path}{name}", item


source = h5py.File(sys.argv[1])
compared = 0
for store in sys.argv[2:]:
    group = zarr.open(store, mode="r")
    for path, dataset in variables(source):
        wanted, found = dataset[...], group[path][...]
        # A dataset has no elements that nobody wrote.
        found = found[: len(wanted)] if dataset.ndim else found
        of = h5py.check_vlen_dtype(dataset.dtype)
        if of is None:
            pairs = [(leaves(numpy.asarray(wanted)), leaves(numpy.asarray(found)))]
        else:
            pairs = [
                (leaves(theirs), leaves(numpy.frombuffer(ours, packed(of))))
                for theirs, ours in zip(wanted.reshape(-1), found.reshape(-1), strict=True)
            ]
        for theirs, ours in pairs:
            assert len(theirs) == len(ours), f"{store} {path}: {len(theirs)} and {len(ours)} numbers"
            assert all(a == b for a, b in zip(theirs, ours)), f"{store} {path}: {theirs} and {ours}"
            compared += len(theirs)
assert compared > 0
