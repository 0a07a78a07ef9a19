"""Makes the files beside it. Run once with h5py 3.16 (HDF5 2.0); the tests need only the files."""

import itertools

import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5t


def expected(shape):
    """Element n of a dataset is 3 n + 1 (modulo 2^16) where it was written."""
    return (np.arange(np.prod(shape), dtype="u8") * 3 + 1).astype("u2").reshape(shape)


def dataset(f, name, shape, chunks, maxshape, alloc=None, **filters):
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_chunk(chunks)
    plist.set_fill_value(np.array(7, "u2"))
    if alloc is not None:
        plist.set_alloc_time(alloc)
    if filters.get("deflate"):
        plist.set_shuffle()
        plist.set_deflate(6)
    maxdims = tuple(h5s.UNLIMITED if m is None else m for m in maxshape)
    space = h5s.create_simple(shape, maxdims)
    return h5py.Dataset(h5d.create(f.id, name.encode(), h5t.STD_U16LE, space, plist))


def fill(d, present):
    """Writes the chunks for which present(coordinates) holds."""
    data = expected(d.shape)
    counts = [-(-n // c) for n, c in zip(d.shape, d.chunks)]
    for at in itertools.product(*map(range, counts)):
        if present(at):
            where = tuple(slice(a * c, min((a + 1) * c, n)) for a, c, n in zip(at, d.chunks, d.shape))
            d[where] = data[where]


SHAPES = {1: ((23,), (4,)), 2: ((9, 7), (2, 3)), 3: ((5, 6, 4), (2, 4, 3))}


def some(at):
    return sum(at) % 3 != 1


def chunked(name, libver):
    with h5py.File(name, "w", libver=libver) as f:
        for rank, (shape, chunks) in SHAPES.items():
            for deflate in (False, True):
                tail = f"{rank}{'z' if deflate else ''}"
                fixed = shape
                fill(dataset(f, f"fixed{tail}", shape, chunks, fixed, deflate=deflate), some)
                larger = tuple(n + 5 for n in shape)
                fill(dataset(f, f"larger{tail}", shape, chunks, larger, deflate=deflate), some)
                for dim in range(rank):
                    grows = tuple(None if d == dim else n + 3 for d, n in enumerate(shape))
                    fill(dataset(f, f"grows{dim}_{tail}", shape, chunks, grows, deflate=deflate), some)
                if rank > 1:
                    fill(dataset(f, f"free{tail}", shape, chunks, (None,) * rank, deflate=deflate), some)
                fill(dataset(f, f"none{tail}", shape, chunks, fixed, deflate=deflate), lambda at: False)
                single = dataset(f, f"single{tail}", shape, shape, shape, deflate=deflate)
                single[...] = expected(shape)
            early = dataset(f, f"early{rank}", shape, chunks, shape, alloc=h5d.ALLOC_TIME_EARLY)
            fill(early, some)


def resized(name, libver):
    """Made smaller, then larger: what was cut off is gone."""
    with h5py.File(name, "w", libver=libver) as f:
        for deflate in (False, True):
            for kind, maxshape in (("one", (None, 10)), ("two", (None, None)), ("fixed", (12, 10))):
                d = dataset(f, f"{kind}{'z' if deflate else ''}", (12, 10), (3, 4), maxshape, deflate=deflate)
                d[...] = expected((12, 10))
                d.resize((5, 7))
                d.resize((11, 9))


def pages(name):
    """A fixed array of three pages, of which the second was never written."""
    with h5py.File(name, "w", libver="latest") as f:
        for tail, deflate in (("", False), ("z", True)):
            d = dataset(f, f"paged{tail}", (2600,), (1,), (2600,), deflate=deflate)
            d[1000:1024] = expected((2600,))[1000:1024]
            d[2500:] = expected((2600,))[2500:]


def edges(name):
    """Chunks that reach beyond the dataset are not filtered (layout flag)."""
    with h5py.File(name, "w", libver="latest") as f:
        lib = f.id
        for kind, maxshape in (("fixed", (9, 7)), ("grows", (None, 7)), ("free", (None, None))):
            plist = h5p.create(h5p.DATASET_CREATE)
            plist.set_chunk((4, 4))
            plist.set_deflate(6)
            set_chunk_opts(plist.id)
            maxdims = tuple(h5s.UNLIMITED if m is None else m for m in maxshape)
            space = h5s.create_simple((9, 7), maxdims)
            d = h5py.Dataset(h5d.create(lib, kind.encode(), h5t.STD_U16LE, space, plist))
            d[...] = expected((9, 7))


def set_chunk_opts(plist):
    """h5py does not offer H5Pset_chunk_opts: it is called in the library that h5py uses."""
    import ctypes
    import re

    path = next(line.split()[-1] for line in open("/proc/self/maps") if re.search(r"/libhdf5-", line))
    lib = ctypes.CDLL(path)
    lib.H5Pset_chunk_opts.argtypes = [ctypes.c_int64, ctypes.c_uint]
    assert lib.H5Pset_chunk_opts(plist, 2) == 0


def layouts(name):
    with h5py.File(name, "w", libver=("earliest", "v108")) as f:
        f["contiguous"] = expected((4, 5)).astype(">u2")
        f["scalar"] = np.float64(2.5)
        f["null"] = h5py.Empty("f4")
        plist = h5p.create(h5p.DATASET_CREATE)
        plist.set_layout(h5d.COMPACT)
        space = h5s.create_simple((3, 4))
        h5py.Dataset(h5d.create(f.id, b"compact", h5t.STD_U16LE, space, plist))[...] = expected((3, 4))
        f.create_dataset("unwritten", (3, 2), "i4", fillvalue=-5)
        f.create_dataset("empty", (0, 4), "i4", maxshape=(None, 4), chunks=(2, 2))
        f.create_dataset("external", (6,), "<u2", external=[("raw1.bin", 2, 4), ("raw2.bin", 0, 100)])
        f["external"][...] = expected((6,))


def types(name):
    with h5py.File(name, "w", libver=("earliest", "v108")) as f:
        odd = h5t.STD_I32LE.copy()
        odd.set_precision(12)
        odd.set_offset(4)
        d = h5d.create(f.id, b"odd", odd, h5s.create_simple((4,)))
        d.write(h5s.ALL, h5s.ALL, np.array([0, -1, 1000, -2048], "i4"))
        three = h5t.STD_I32BE.copy()
        three.set_precision(24)
        three.set_size(3)
        d = h5d.create(f.id, b"three", three, h5s.create_simple((3,)))
        d.write(h5s.ALL, h5s.ALL, np.array([1, -2, 70000], "i4"))
        f["half"] = np.array([1, -2, 65504, 2**-24, np.inf], "f2")
        f["long"] = np.array([1, -3, 1e300], np.longdouble) / 3
        f["enum"] = np.array([1, 0, 2], "u1")
        enum = h5py.enum_dtype({"RED": 0, "GREEN": 1, "BLUE": 2}, "i2")
        f.create_dataset("colours", data=np.array([1, 0, 2], "i2"), dtype=enum)
        compound = np.dtype([("a", "<i2"), ("b", ">f8"), ("c", "S3"), ("d", "u1", (2,))])
        rows = np.array([(1, 2.5, b"xyz", (3, 4)), (-1, -0.5, b"q", (5, 6)), (9, 1e9, b"", (7, 8))], compound)
        d = f.create_dataset("compound", (7,), compound, chunks=(2,), fillvalue=rows[1])
        d[2:5] = rows
        f.create_dataset("fixed", data=np.array([b"ab", b"cde"], "S3"))
        f.create_dataset("strings", data=["one", "", "zwölf"], dtype=h5py.string_dtype())
        f.create_dataset("unset", (2,), dtype=h5py.string_dtype())
        vlen = f.create_dataset("lists", (3,), dtype=h5py.vlen_dtype("<i2"))
        vlen[0] = [1, 2, 3]
        vlen[2] = [-4]
        nested = np.dtype([("n", "i4"), ("s", h5py.string_dtype())])
        f.create_dataset("nested", data=np.array([(1, "x"), (2, "yy")], nested))
        refs = f.create_dataset("references", (3,), dtype=h5py.ref_dtype)
        refs[0] = f["half"].ref
        refs[1] = f.ref
        regions = f.create_dataset("regions", (2,), dtype=h5py.regionref_dtype)
        regions[0] = f["compound"].regionref[1:4]
        f["opaque"] = np.array([b"\1\2\3\4", b"\5\6\7\x08"], "V4")


def virtual(name):
    with h5py.File("source1.h5", "w", libver="latest") as f:
        f["a"] = expected((4, 5))
        f.create_dataset("long", data=expected((6, 3)), maxshape=(None, 3), chunks=(2, 3))
        f["small"] = np.arange(5, dtype="i1")
    for number in range(3):
        with h5py.File(f"part{number}.h5", "w", libver="latest") as f:
            f["d"] = expected((2, 3)) + np.uint16(100 * number)
    for version, libver in (("old", ("earliest", "v110")), ("new", ("v200", "latest"))):
        with h5py.File(f"{name}_{version}.h5", "w", libver=libver) as f:
            f["own"] = expected((5,))
            layout = h5py.VirtualLayout((7, 5), "<u2")
            layout[:4, :] = h5py.VirtualSource("source1.h5", "a", shape=(4, 5))
            layout[4, :] = h5py.VirtualSource(".", "own", shape=(5,))
            layout[5, :] = h5py.VirtualSource("missing.h5", "own", shape=(5,))
            layout[6, ::2] = h5py.VirtualSource("source1.h5", "a", shape=(4, 5))[1, 1:4]
            f.create_virtual_dataset("fixed", layout, fillvalue=9)
            layout = h5py.VirtualLayout((3,), "<i4")
            layout[:] = h5py.VirtualSource("source1.h5", "small", shape=(5,))[1:4]
            f.create_virtual_dataset("converted", layout)
            space = h5s.create_simple((2, 3), (h5s.UNLIMITED, 3))
            plist = h5p.create(h5p.DATASET_CREATE)
            there = h5s.create_simple((2, 3), (h5s.UNLIMITED, 3))
            there.select_hyperslab((0, 0), (1, 1), (1, 1), (h5s.UNLIMITED, 3))
            here = space.copy()
            here.select_hyperslab((0, 0), (1, 1), (1, 1), (h5s.UNLIMITED, 3))
            plist.set_virtual(here, b"source1.h5", b"long", there)
            h5d.create(f.id, b"grown", h5t.STD_U16LE, space, plist)
            plist = h5p.create(h5p.DATASET_CREATE)
            plist.set_fill_value(np.array(8, "u2"))
            here = space.copy()
            here.select_hyperslab((1, 0), (h5s.UNLIMITED, 1), (3, 1), (2, 3))
            plist.set_virtual(here, b"part%b.h5", b"d", h5s.create_simple((2, 3)))
            h5d.create(f.id, b"numbered", h5t.STD_U16LE, space, plist)
            layout = h5py.VirtualLayout((2, 5), "<u2")
            layout[:, :] = h5py.VirtualSource(".", "fixed", shape=(7, 5))[3:5, :]
            f.create_virtual_dataset("second", layout)
    # The reference crashes where it reads this.
    with h5py.File("loop.h5", "w", libver="latest") as f:
        layout = h5py.VirtualLayout((2,), "<u2")
        layout[:] = h5py.VirtualSource(".", "loop", shape=(2,))
        f.create_virtual_dataset("loop", layout)


if __name__ == "__main__":
    chunked("chunks_old.h5", ("earliest", "v108"))
    chunked("chunks_new.h5", ("v110", "v114"))
    chunked("chunks_v5.h5", ("v200", "latest"))
    resized("resized_old.h5", ("earliest", "v108"))
    resized("resized_new.h5", ("v110", "v114"))
    pages("pages.h5")
    edges("edges.h5")
    layouts("layouts.h5")
    types("types.h5")
    virtual("virtual")


def paths(name, levels):
    """Virtual datasets that take the same element in two ways each, level below level."""
    with h5py.File(name, "w", libver="latest") as f:
        for which in "ab":
            f[f"{levels}{which}"] = np.array([5], "u2")
        for level in reversed(range(levels)):
            for which in "ab":
                plist = h5p.create(h5p.DATASET_CREATE)
                one = h5s.create_simple((1,))
                for source in "ab":
                    plist.set_virtual(one, b".", f"{level + 1}{source}".encode(), one)
                h5d.create(f.id, f"{level}{which}".encode(), h5t.STD_U16LE, one, plist)


paths("paths.h5", 12)
