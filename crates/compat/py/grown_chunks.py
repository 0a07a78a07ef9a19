"""Files whose datasets grow by many chunks: `grown_chunks.py make|check FOLDER COUNT`.

`make` makes them with ten elements and an extensible array as chunk index; `check` compares what was appended, up to COUNT elements: element n is
`n * 2654435761 mod 2^32`.
"""

import sys

import h5py
import numpy as np

KINDS = {"plain": None, "filtered": "gzip"}


def values(count):
    return (np.arange(count, dtype="u8") * 2654435761 % 2**32).astype("<u4")


def make(folder):
    for name, compression in KINDS.items():
        with h5py.File(f"{folder}/{name}.h5", "w", libver="latest") as file:
            data = file.create_dataset("data", data=values(10), maxshape=(None,), chunks=(1,), compression=compression)
            data.make_scale("data")


def check(folder, count):
    for name in KINDS:
        with h5py.File(f"{folder}/{name}.h5") as file:
            data = file["data"]
            assert data.shape == (count,), (name, data.shape)
            assert data.id.get_num_chunks() == count, (name, data.id.get_num_chunks())
            wrong = np.flatnonzero(data[...] != values(count))
            assert wrong.size == 0, (name, wrong[:5])


if __name__ == "__main__":
    command, folder, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    make(folder) if command == "make" else check(folder, count)
