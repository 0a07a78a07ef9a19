"""HDF5 files with filters, for copies to Zarr stores and back.

`make FILE`, `values FILE`: the name and the sum of each dataset; `same FILE FILE`; `chunk FILE NAME`: the stored bytes of the first chunk.
"""

import sys

import h5py
import hdf5plugin
import numpy as np


def make(path):
    random = np.random.default_rng(1).integers(0, 2**31, (100, 100)).astype("i4")
    smooth = (np.arange(10000) // 50).reshape(100, 100).astype("f8")
    with h5py.File(path, "w") as file:
        for name, data in (("random", random), ("smooth", smooth)):

            def add(suffix, **options):
                file.create_dataset(f"{name}_{suffix}", data=data, chunks=(50, 50), **options)

            add("lz4", **hdf5plugin.LZ4())
            add("lz4_shuffled", shuffle=True, **hdf5plugin.LZ4(nbytes=0))
            add("lz4_blocks", **hdf5plugin.LZ4(nbytes=1024))
            add("fletcher32", fletcher32=True, shuffle=True, compression="gzip")
            add("checksum", fletcher32=True)
            add("blosc", **hdf5plugin.Blosc())
            add("zstd", **hdf5plugin.Zstd())
        # A chunk that an optional filter left as it was.
        masked = file.create_dataset("masked", shape=(100,), dtype="i4", chunks=(50,), compression="gzip")
        masked[:] = np.arange(100)
        masked.id.write_direct_chunk((0,), np.arange(50, dtype="i4").tobytes(), filter_mask=1)


def values(path):
    with h5py.File(path) as file:
        for name in sorted(file):
            print(name, file[name][...].astype("f8").sum())


def same(path, copy):
    with h5py.File(path) as a, h5py.File(copy) as b:
        for name in a:
            np.testing.assert_array_equal(a[name][...], b[name][...], err_msg=name)
            if "lz4" in name:
                filters = b[name].id.get_create_plist()
                assert filters.get_filter(filters.get_nfilters() - 1)[0] == 32004, name


def chunk(path, name):
    with h5py.File(path) as file:
        print(file[name].id.read_direct_chunk((0, 0))[1].hex())


if __name__ == "__main__":
    {"make": make, "values": values, "same": same, "chunk": chunk}[sys.argv[1]](*sys.argv[2:])
