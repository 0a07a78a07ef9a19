"""The attributes of a dataset that keeps no order of them, some of which were made before it was opened again.

attribute_order.py make FILE: makes the dataset `v`. attribute_order.py list FILE: prints the names, as the HDF5 library gives
them to who asks for the order in which they were made.
"""

import sys

import h5py
from h5py import h5a

_, what, path = sys.argv
if what == "make":
    for mode, numbers in ("w", range(5)), ("a", range(5, 14)):
        with h5py.File(path, mode, libver=("v108", "latest")) as file:
            var = file.require_dataset("v", (3,), "i4")
            for number in numbers:
                var.attrs[f"a{number}"] = number
else:
    with h5py.File(path) as file:
        var = file["v"].id
        for at in range(h5a.get_num_attrs(var)):
            found = h5a.open(var, index=at, index_type=h5py.h5.INDEX_CRT_ORDER, order=h5py.h5.ITER_INC)
            print(found.name.decode())
