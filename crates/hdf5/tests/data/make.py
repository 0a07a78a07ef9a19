"""Makes the files of this folder with h5py. Run once, in this folder; the files are kept, not made anew."""

import ctypes

import h5py
import numpy as np
from h5py import h5f, h5g, h5p

# What h5py does not wrap is called in the library that it has loaded.
with open("/proc/self/maps") as maps:
    LIBRARY = ctypes.CDLL(next(line.split()[-1] for line in maps if "/libhdf5" in line and "_hl" not in line))


def call(name, *args):
    function = getattr(LIBRARY, name)
    function.restype = ctypes.c_int
    if function(*args) < 0:
        raise RuntimeError(name)


def hid(what):
    return ctypes.c_int64(what.id)


def fill_group(group, count):
    """Links and attributes in an order that is neither that of names nor of hashes."""
    for i in range(count):
        group.create_group(f"g{i * 7 % count:02}")
        group.attrs.create(f"a{i * 7 % count:02}", i, dtype="<i4")


def groups(name, libver, track, count):
    """A root group with `count` groups and attributes, and one of each kind of link."""
    with h5py.File(name, "w", libver=libver, track_order=track) as f:
        fill_group(f, count)
        f["soft"] = h5py.SoftLink("/g01")
        if libver != "earliest":
            f["external"] = h5py.ExternalLink("other.h5", "/there")


def main():
    # Symbol tables and version 1 headers; the second has a tree of two levels.
    groups("old_small.h5", "earliest", False, 3)
    with h5py.File("old_large.h5", "w", libver="earliest") as f:
        for i in range(300):
            f[f"n{i * 7 % 300:03}"] = h5py.SoftLink(f"/there/{i}")
        f["hard"] = f["/"]
    # Compact and dense links and attributes, their order kept or not.
    groups("compact.h5", "latest", False, 5)
    groups("compact_ordered.h5", "latest", True, 5)
    groups("dense.h5", "latest", False, 20)
    groups("dense_ordered.h5", "latest", True, 20)

    # B-trees of two and three levels, and heaps with indirect blocks.
    with h5py.File("dense_deep.h5", "w", libver="latest") as f:
        f.attrs.create("first", 1, dtype="<i2")
        for i in range(1500):
            f[f"n{i * 7 % 1500:04}"] = h5py.SoftLink("x")
        for i in range(60):
            f.attrs.create(f"n{i * 7 % 60:02}", i, dtype="<i2")

    # A block for the user before the file; names that are not ASCII.
    with h5py.File("user_block.h5", "w", userblock_size=1024) as f:
        f.create_group("größe").attrs["µ"] = np.int8(-5)
        f["data"] = np.arange(4, dtype="<i2")
    with open("user_block.h5", "r+b") as f:
        f.write(b"what the user put here")

    # Narrow addresses and lengths.
    for width in (2, 4):
        fcpl = h5p.create(h5p.FILE_CREATE)
        fcpl.set_sizes(width, width)
        fid = h5f.create(b"narrow_%d.h5" % width, h5f.ACC_TRUNC, fcpl)
        with h5py.File(fid) as f:
            fill_group(f, 3)

    # Links so short that they fit into their identifiers in the heap.
    fcpl = h5p.create(h5p.FILE_CREATE)
    fcpl.set_sizes(2, 2)
    fapl = h5p.create(h5p.FILE_ACCESS)
    fapl.set_libver_bounds(h5f.LIBVER_LATEST, h5f.LIBVER_LATEST)
    with h5py.File(h5f.create(b"tiny.h5", h5f.ACC_TRUNC, fcpl, fapl)) as f:
        for i in range(12):
            f["abcdefghijkl"[i * 7 % 12]] = f["/"]

    # Messages that objects share, in the table of the file: an index as a list, and one as a B-tree.
    for name, libver, most in (("shared_list.h5", "latest", 50), ("shared_tree.h5", "earliest", 0)):
        fcpl = h5p.create(h5p.FILE_CREATE)
        call("H5Pset_shared_mesg_nindexes", hid(fcpl), ctypes.c_uint(2))
        # Attributes apart; dataspaces, datatypes, fill values and pipelines together.
        call("H5Pset_shared_mesg_index", hid(fcpl), ctypes.c_uint(0), ctypes.c_uint(0x10), ctypes.c_uint(1))
        call("H5Pset_shared_mesg_index", hid(fcpl), ctypes.c_uint(1), ctypes.c_uint(0x0F), ctypes.c_uint(1))
        call("H5Pset_shared_mesg_phase_change", hid(fcpl), ctypes.c_uint(most), ctypes.c_uint(0))
        fapl = h5p.create(h5p.FILE_ACCESS)
        low = h5f.LIBVER_LATEST if libver == "latest" else h5f.LIBVER_EARLIEST
        fapl.set_libver_bounds(low, h5f.LIBVER_LATEST)
        fid = h5f.create(name.encode(), h5f.ACC_TRUNC, fcpl, fapl)
        with h5py.File(fid) as f:
            for i in range(3):
                data = f.create_dataset(f"d{i}", data=np.arange(3, dtype="<f8"))
                data.attrs.create("units", b"metres per second", dtype="S18")
                data.attrs.create("own", i, dtype="<i4")
            many = f.create_group("many")
            for i in range(12):
                many.attrs.create(f"n{i:02}", b"metres per second", dtype="S18")

    # Committed datatypes, of datasets and attributes.
    for libver in ("earliest", "latest"):
        with h5py.File(f"committed_{libver}.h5", "w", libver=libver) as f:
            f["type"] = np.dtype([("x", "<i2"), ("y", "<f4")])
            f.create_dataset("data", data=np.zeros(2, f["type"].dtype), dtype=f["type"])
            value = np.array([(1, 2.5), (3, 4.5)], f["type"].dtype)
            f.attrs.create("of_type", value, dtype=f["type"])
            f["type"].attrs["on_type"] = np.int32(7)

    # Attributes too large for a heap's blocks.
    with h5py.File("huge_attributes.h5", "w", libver="latest") as f:
        for i in range(3):
            f.attrs.create(f"huge{i}", np.full(5000 + i, i, "<u1"))
        for i in range(10):
            f.attrs.create(f"small{i}", i, dtype="<i4")

    # A heap with filters: dense links of a group with a pipeline, without and with an indirect block.
    for name, count in (("filtered_heap.h5", 12), ("filtered_heap_deep.h5", 200)):
        fapl = h5p.create(h5p.FILE_ACCESS)
        fapl.set_libver_bounds(h5f.LIBVER_LATEST, h5f.LIBVER_LATEST)
        with h5py.File(h5f.create(name.encode(), h5f.ACC_TRUNC, fapl=fapl)) as f:
            gcpl = h5p.create(h5p.GROUP_CREATE)
            call("H5Pset_deflate", hid(gcpl), ctypes.c_uint(6))
            group = h5py.Group(h5g.create(f.id, b"g", gcpl=gcpl))
            for i in range(count):
                group[f"a_link_with_a_long_name_{i:03}"] = h5py.SoftLink("/where/it/leads")
            if count > 100:
                group["huge"] = h5py.SoftLink("/" + "long" * 2000)

    # Links in a circle and to nowhere.
    with h5py.File("links.h5", "w") as f:
        f.create_group("a/b/c")
        f["a/up"] = h5py.SoftLink("/a")
        f["a/b/relative"] = h5py.SoftLink("c/./")
        f["circle"] = h5py.SoftLink("/circle")
        f["dangling"] = h5py.SoftLink("/not/here")
        f["other"] = h5py.ExternalLink("dense.h5", "/g03")
        f["no_file"] = h5py.ExternalLink("none.h5", "/g03")
        f["self"] = h5py.ExternalLink("links.h5", "/a/b")
        f["a/loop"] = f["a"]

    # Space that is managed by pages.
    with h5py.File("paged.h5", "w", libver="latest", fs_strategy="page", fs_page_size=512) as f:
        for i in range(5):
            f.create_group(f"g{i * 7 % 5:02}")

    # Metadata that is only in an image of the cache.
    fapl = h5p.create(h5p.FILE_ACCESS)
    fapl.set_libver_bounds(h5f.LIBVER_LATEST, h5f.LIBVER_LATEST)

    class Image(ctypes.Structure):
        _fields_ = [("version", ctypes.c_int), ("generate", ctypes.c_bool), ("resize", ctypes.c_bool),
                    ("age", ctypes.c_int)]

    image = Image(1, True, False, -1)
    call("H5Pset_mdc_image_config", hid(fapl), ctypes.byref(image))
    # The reference (2.0.0) does not read the image that it writes of the larger one.
    for name, count in ((b"cache_image.h5", 5), (b"cache_image_dense.h5", 12)):
        with h5py.File(h5f.create(name, h5f.ACC_TRUNC, fapl=fapl)) as f:
            fill_group(f, count)


main()
