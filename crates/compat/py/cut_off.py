"""Files that were cut off in the middle of a commit hold a committed state, and can be edited further.

The folder holds state<n>.h5, the committed states; and index, with the names of files that were cut off and how many states
were committed before.
"""

import os
import shutil
import sys

import h5py
import netCDF4
import numpy as np


def listing(path):
    """All that a file holds."""
    found = []

    def note(name, thing):
        attributes = [(key, np.asarray(value).tolist()) for key, value in sorted(thing.attrs.items())]
        data = thing[...].tolist() if isinstance(thing, h5py.Dataset) else None
        found.append((name, attributes, data))

    with h5py.File(path, "r") as file:
        note("/", file)
        file.visititems(note)
    return found


def check(name, good):
    """A file is in one of the good states, for both libraries, and can be changed and changed back."""
    found = listing(name)
    assert found in good, f"{name}: another state"
    with netCDF4.Dataset(name) as dataset:
        for variable in dataset.variables.values():
            variable[...]
    shutil.copy(name, "edited.h5")
    with h5py.File("edited.h5", "r+") as file:
        file.attrs["added"] = [1, 2, 3]
        file.create_group("added")
        file["records"].attrs["added"] = "x" * 100
    listing("edited.h5")
    with h5py.File("edited.h5", "r+") as file:
        del file.attrs["added"], file["added"], file["records"].attrs["added"]
    assert listing("edited.h5") == found, f"{name}: after an edit"


os.chdir(sys.argv[1])
states = []
while os.path.exists(f"state{len(states)}.h5"):
    states.append(listing(f"state{len(states)}.h5"))
with open("index") as index:
    cuts = [line.split() for line in index]
assert len(cuts) > 100
for name, marks in cuts:
    check(name, states[int(marks) - 1 : int(marks) + 1])
