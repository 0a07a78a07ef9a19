"""Checks the rows of a store that processes wrote at the same time.

Arguments: the store, then the number of rounds that each process made. Row y belongs to process y modulo their number, which writes
into each element round * processes + process.
"""

import sys

import zarr

store, rounds = sys.argv[1], [int(word) for word in sys.argv[2:]]
group = zarr.open_group(store, mode="r")
names = sorted(group.array_keys())
assert len(names) >= 3, names
for name in names:
    values = group[name][:]
    for row, found in enumerate(values):
        process = row % len(rounds)
        wanted = rounds[process] * len(rounds) + process
        if name == "text":
            found = found.decode() if isinstance(found, bytes) else str(found)
            assert found == str(wanted), (name, row, found, wanted)
        else:
            assert (found == wanted).all(), (name, row, found, wanted)
