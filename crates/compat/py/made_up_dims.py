"""Datasets without scales, and what they are attached to.

made_up_dims.py make FOLDER: makes ordered.h5 and unordered.h5, whose groups keep the order of their links or not, and other.h5,
to which both link. made_up_dims.py list FILE: prints for each dataset that is no scale its path, for each dimension the paths of
its scales, and its values.
"""

import sys

import h5py
import numpy as np

_, what, path = sys.argv


def make(file):
    file["line"] = np.arange(3)
    file["square"] = np.arange(16).reshape(4, 4)
    file["table"] = np.arange(12.0).reshape(3, 4)
    file.create_dataset("grows", data=np.arange(8).reshape(2, 4), maxshape=(None, 4), chunks=(1, 4))
    file.create_dataset("grown", data=np.arange(5), maxshape=(None,), chunks=(2,))
    file["scale"] = np.arange(6)
    file["scale"].make_scale("scale")
    file["in_part"] = np.arange(24).reshape(6, 4)
    file["in_part"].dims[0].attach_scale(file["scale"])
    file["group/flat"] = np.arange(5, dtype="i2")
    file["group/inner/deep"] = np.arange(80).reshape(4, 5, 4)
    file["out"] = h5py.ExternalLink("other.h5", "/far")


if what == "make":
    with h5py.File(f"{path}/other.h5", "w") as file:
        file["far"] = np.arange(7)
    for name, order in ("ordered", True), ("unordered", False):
        h5py.get_config().track_order = order
        with h5py.File(f"{path}/{name}.h5", "w") as file:
            make(file)
else:
    with h5py.File(path) as file:

        def show(name, found):
            if isinstance(found, h5py.Dataset) and not found.is_scale:
                dims = [",".join(scale.name for scale in dim.values()) for dim in found.dims]
                print(f"/{name}", " ".join(dims), found[()].tolist(), sep="\t")

        file.visititems(show)
