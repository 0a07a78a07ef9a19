"""Datasets with chunks that were never written, and copies of them, of which no more is written.

sparse.py make FILE: makes the datasets. sparse.py judge FILE COPY: fails unless the datasets of the copy have the same
values, and only those chunks that some written chunk of the source overlaps; without chunks, space only if the source has.
"""

import itertools
import sys

import h5py
import numpy as np

SHAPE = (300, 400)


def make(path):
    with h5py.File(path, "w") as file:
        for name, ty, fill in [("zero", "f8", None), ("seven", "i4", -7), ("nan", "f4", np.nan), ("big", ">i2", 3)]:
            for kind, options in [
                ("plain", {"chunks": (20, 30)}),
                ("packed", {"chunks": (20, 30), "compression": "gzip", "shuffle": True, "fletcher32": True}),
                ("grows", {"chunks": (7, 400), "maxshape": (None, 400)}),
                ("never_chunked", {"chunks": (30, 40)}),
                ("never", {}),
            ]:
                dataset = file.create_dataset(f"{name}_{kind}", SHAPE, ty, fillvalue=fill, **options)
                if not kind.startswith("never"):
                    dataset[41:47, 100:200] = 5
                    dataset[299, 399] = 1


def written(dataset):
    """The first elements of the chunks that are there."""
    return {dataset.id.get_chunk_info(number).chunk_offset for number in range(dataset.id.get_num_chunks())}


def overlapped(dataset, chunk):
    """The first elements of those chunks of a shape that some written chunk overlaps."""
    found = set()
    for offset in written(dataset):
        ends = [min(first + own, end) for first, own, end in zip(offset, dataset.chunks, dataset.shape)]
        ranges = [range(first // size, (end - 1) // size + 1) for first, end, size in zip(offset, ends, chunk)]
        found |= {tuple(at * size for at, size in zip(place, chunk)) for place in itertools.product(*ranges)}
    return found


def judge(source, copy):
    with h5py.File(source) as source, h5py.File(copy) as copy:
        for name in source:
            old, new = source[name], copy[name]
            assert np.array_equal(old[()], new[()], equal_nan=old.dtype.kind == "f"), name
            is_there = old.id.get_storage_size() > 0
            if new.chunks is None:
                assert (new.id.get_storage_size() > 0) == is_there, name
            else:
                wanted = overlapped(old, new.chunks) if old.chunks else set()
                assert written(new) == wanted, (name, new.chunks, len(written(new)), len(wanted))


if sys.argv[1] == "make":
    make(sys.argv[2])
else:
    judge(sys.argv[2], sys.argv[3])
