"""A file for each kind of chunk index, with more than 100,000 chunks: `many_chunks.py FOLDER`.

Element n of a dataset, counted along the last dimension first, is `n * 2654435761 mod 2^32`.
Of the kind "single" there is one chunk by nature.
"""

import sys

import h5py
import numpy as np
from h5py import h5d, h5f, h5p, h5s, h5t

ROWS, COLUMNS = 330, 310


def values(shape):
    numbers = np.arange(int(np.prod(shape)), dtype="u8")
    return (numbers * 2654435761 % 2**32).astype("<u4").reshape(shape)


def make(folder, name, version, most, chunk=(1, 1), early=False, shape=(ROWS, COLUMNS), deflate=False):
    low = h5f.LIBVER_EARLIEST if version == "earliest" else h5f.LIBVER_LATEST
    fapl, dcpl = h5p.create(h5p.FILE_ACCESS), h5p.create(h5p.DATASET_CREATE)
    fapl.set_libver_bounds(low, h5f.LIBVER_LATEST)
    dcpl.set_chunk(chunk)
    if early:
        dcpl.set_alloc_time(h5d.ALLOC_TIME_EARLY)
    if deflate:
        dcpl.set_deflate(1)
    file = h5f.create(f"{folder}/{name}.h5".encode(), h5f.ACC_TRUNC, None, fapl)
    dataset = h5d.create(file, b"data", h5t.STD_U32LE, h5s.create_simple(shape, most), dcpl)
    dataset.write(h5s.ALL, h5s.ALL, values(shape))
    print(name, dataset.get_num_chunks())


def main():
    folder, unlimited = sys.argv[1], h5s.UNLIMITED
    shape = (ROWS, COLUMNS)
    make(folder, "btree1", "earliest", shape)
    make(folder, "single", "latest", shape, chunk=shape)
    make(folder, "implicit", "latest", shape, early=True)
    make(folder, "fixed", "latest", shape)
    make(folder, "fixed-filtered", "latest", shape, deflate=True)
    make(folder, "extensible", "latest", (unlimited, COLUMNS))
    make(folder, "extensible-filtered", "latest", (unlimited, COLUMNS), deflate=True)
    make(folder, "btree2", "latest", (unlimited, unlimited))
    make(folder, "btree2-filtered", "latest", (unlimited, unlimited), deflate=True)


if __name__ == "__main__":
    main()
