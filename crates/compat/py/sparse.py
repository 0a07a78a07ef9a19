"""Datasets with chunks that were never written, and copies of them, of which no more is written.

sparse.py make FILE: makes the datasets. sparse.py judge FILE COPY: fails unless the datasets of the copy have the same
values, and only those chunks that some written chunk of the source overlaps; without chunks, space only if the source has.
sparse.py make_huge FILE and sparse.py judge_huge FILE COPY: the same for two chunks among billions, in indexes of the latest format.
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


# A dataset for each index, with its places that are written.
HUGE = {
    "extensible": {"shape": (2**31, 2000), "maxshape": (None, 2000), "chunks": (1, 1000)},
    "extensible_columns": {"shape": (3, 2**30), "maxshape": (3, None), "chunks": (1, 1)},
    "fixed": {"shape": (2**23, 2**13), "chunks": (2**10, 1)},
}


def places(dataset):
    rows, columns = dataset.shape
    return [(2, columns - 1), (rows - 1, columns // 3)]


def make_huge(path):
    with h5py.File(path, "w", libver="latest") as file:
        for name, options in HUGE.items():
            dataset = file.create_dataset(name, dtype="i2", fillvalue=-7, **options)
            for number, place in enumerate(places(dataset)):
                dataset[place] = number


def judge_huge(source, copy):
    """Asks the copy alone for its chunks: HDF5 looks for those of an array one by one."""
    with h5py.File(source) as source, h5py.File(copy) as copy:
        for name in HUGE:
            old, new = source[name], copy[name]
            wanted = {tuple(at // size * size for at, size in zip(place, new.chunks)) for place in places(old)}
            assert written(new) == wanted, (name, len(written(new)))
            assert [new[place] for place in places(old)] == [0, 1], name


{"make": make, "judge": judge, "make_huge": make_huge, "judge_huge": judge_huge}[sys.argv[1]](*sys.argv[2:])
