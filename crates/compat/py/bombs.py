"""Chunks that unpack to far more than a chunk is, and chunks that say they are huge and have a few bytes in the file.

bombs.py FOLDER [SORT:PLUGIN...]: writes the files and prints a line for each: how it lies (`long` or `huge`; `taken` for data
that every reader takes, since what is too much is never looked at), the number of the filter that meets the lie, and the
path. Each file has one dataset, `v`. PLUGIN is the number of a filter that h5py need not have.
"""

import bz2
import struct
import sys
import zlib

import h5py
import hdf5plugin
import numpy as np
from h5py import h5d, h5f, h5p, h5s, h5t, h5z

# Elements of four bytes: of a chunk as it is, of what it unpacks to, of a chunk that says it is huge.
CHUNK, LONG, HUGE = 1 << 18, 1 << 27, 3 << 28
BLOSC = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]


def steps(**how):
    """The filters of a dataset that is made so, with the parameters as they are stored."""
    with h5py.File("any", "w", driver="core", backing_store=False) as file:
        plist = file.create_dataset("v", (CHUNK,), "<i4", chunks=(CHUNK,), **how).id.get_create_plist()
        return [(*plist.get_filter(at)[:1], plist.get_filter(at)[2]) for at in range(plist.get_nfilters())]


def packed(**how):
    """What so many zeros become."""
    with h5py.File("any", "w", driver="core", backing_store=False) as file:
        data = file.create_dataset("v", (LONG,), "<i4", chunks=(LONG,), **how)
        data[:] = np.zeros(LONG, "<i4")
        return data.id.read_direct_chunk((0,))[1]


def put(path, elements, filters, chunk):
    """A file whose one chunk of so many elements holds these bytes."""
    file = h5f.create(path.encode(), h5f.ACC_TRUNC)
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_chunk((elements,))
    plist.set_fill_time(h5d.FILL_TIME_NEVER)
    for number, params in filters:
        plist.set_filter(number, h5z.FLAG_OPTIONAL, tuple(params))
    data = h5d.create(file, b"v", h5t.STD_I32LE, h5s.create_simple((elements,)), plist)
    data.write_direct_chunk((0,), chunk)
    stored = data.get_create_plist()
    return [stored.get_filter(at)[2] for at in range(stored.get_nfilters())]


def lookup3(data):
    """The checksum of HDF5's headers: Bob Jenkins' lookup3, of bytes."""

    def turn(number, by):
        return (number << by | number >> 32 - by) & 0xFFFFFFFF

    a = b = c = (0xDEADBEEF + len(data)) & 0xFFFFFFFF
    while len(data) > 12:
        a, b, c = ((one + two) & 0xFFFFFFFF for one, two in zip((a, b, c), struct.unpack("<3I", data[:12])))
        for by in (4, 6, 8, 16, 19, 4):
            # Each round does the same with the three moved by one.
            a = (a - c & 0xFFFFFFFF) ^ turn(c, by)
            c = c + b & 0xFFFFFFFF
            a, b, c = b, c, a
        data = data[12:]
    if data:
        rest = struct.unpack("<3I", data.ljust(12, b"\0"))
        a, b, c = ((one + two) & 0xFFFFFFFF for one, two in zip((a, b, c), rest))
        for by in (14, 11, 25, 16, 4, 14, 24):
            c = ((c ^ b) - turn(b, by)) & 0xFFFFFFFF
            a, b, c = b, c, a
        return b
    return c


def change(path, old, new):
    """Other parameters than those that HDF5 lets a file have. Of a dataset that does not need it n-bit has all in two."""
    with open(path, "r+b") as file:
        whole = file.read()
        old, new = (struct.pack(f"<{len(params)}I", *params) for params in (old, new))
        assert whole.count(old) == 1, path
        at = whole.index(old)
        # The header of the object ends with its checksum.
        begin = whole.rindex(b"OHDR", 0, at)
        flags = whole[begin + 5]
        size_at = begin + 6 + (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0)
        width = 1 << (flags & 3)
        end = size_at + width + int.from_bytes(whole[size_at : size_at + width], "little")
        whole = whole[:at] + new + whole[at + len(new) :]
        file.seek(0)
        file.write(whole[:end] + struct.pack("<I", lookup3(whole[begin:end])) + whole[end + 4 :])


def zstd_without_a_size():
    """A frame that does not say what it becomes: blocks of 128 KiB of one byte (RFC 8878)."""
    head, block = b"\x28\xb5\x2f\xfd\x00\x38", lambda last: struct.pack("<I", last | 2 | 0x20000 << 3)[:3] + b"\0"
    return head + block(0) * (4 * LONG // 0x20000 - 1) + block(1)


def lying(chunk, at, form):
    """The same with a head that says that the chunk has the size it should have."""
    return chunk[:at] + struct.pack(form, 4 * CHUNK) + chunk[at + struct.calcsize(form) :]


def bombs():
    """Names, filters, the stored bytes, and the number of the filter that should complain."""
    zeros, bzip2 = zlib.compress(bytes(4 * LONG)), packed(**hdf5plugin.BZip2())
    yield "deflate", [(1, (6,))], zeros, 1
    yield "deflate_fletcher32", [(1, (6,)), (3, ())], zeros + b"\0" * 4, 3
    yield "shuffle_deflate", [(2, (4,)), (1, (6,))], zeros, 1
    yield "deflate_bzip2", [(1, (6,)), (307, (9,))], bz2.compress(zeros), 1
    yield "bzip2_bzip2", [(307, (9,)), (307, (9,))], bz2.compress(bzip2), 307
    yield "zstd", [(32015, (3,))], packed(**hdf5plugin.Zstd()), 32015
    yield "zstd_unsaid", [(32015, (3,))], zstd_without_a_size(), 32015
    yield "bzip2", [(307, (9,))], bzip2, 307
    yield "szip", steps(compression="szip"), packed(compression="szip"), 4
    yield "lzf", steps(compression="lzf"), packed(compression="lzf"), 32000
    lz4 = packed(**hdf5plugin.LZ4())
    yield "lz4", [(32004, ())], lz4, 32004
    yield "lz4_lying", [(32004, ())], lying(lz4, 0, ">Q"), 32004
    for cname in BLOSC:
        how = hdf5plugin.Blosc(cname=cname)
        blosc = packed(**how)
        yield f"blosc_{cname}", steps(**how), blosc, 32001
        yield f"blosc_{cname}_taken", steps(**how), lying(blosc, 4, "<I"), 32001
    for cname in ["lz4", "zstd"]:
        how = hdf5plugin.Bitshuffle(cname=cname)
        bits = packed(**how)
        filters = [(32008, how["compression_opts"])]
        yield f"bitshuffle_{cname}", filters, bits, 32008
        yield f"bitshuffle_{cname}_taken", filters, lying(bits, 0, ">Q"), 32008


def numbers(folder):
    """The two filters that are told in their parameters how many numbers there are."""
    for name, number, given in [("nbit", 5, ()), ("scale_offset", 6, (2, 0))]:
        for sort, elements, count in [("long", CHUNK, LONG), ("huge", HUGE, CHUNK)]:
            path = f"{folder}/{sort}_{name}.h5"
            # As many bytes as n-bit needs for that many numbers of one bit, and numbers that are all the same.
            chunk = bytes(count // 8) if number == 5 else bytes(4) + b"\x08" + bytes(16)
            [params] = put(path, elements, [(number, given)], chunk)
            # For n-bit: not as they are, and of 1 bit.
            others = params[3:] if number == 6 else (*params[3:6], 1, 0)
            change(path, params, (params[0], params[1] if number == 6 else 0, count, *others))
            yield sort, number, path


def main(folder, plugins):
    for made in numbers(folder):
        print(*made)
    seen = set()
    for name, filters, chunk, number in bombs():
        sort = "taken" if name.endswith("taken") else "long"
        path = f"{folder}/{sort}_{name}.h5"
        put(path, CHUNK, filters, chunk)
        print(sort, number, path)
        if filters[-1][0] not in seen:
            seen.add(filters[-1][0])
            path = f"{folder}/huge_{name}.h5"
            put(path, HUGE, filters, chunk[:100])
            print("huge", filters[-1][0], path)
    for plugin in plugins:
        sort, number = plugin.split(":")
        path = f"{folder}/{sort}_{number}.h5"
        elements, stored = (CHUNK, 4 * CHUNK) if sort == "long" else (HUGE, 100)
        put(path, elements, [(int(number), ())], bytes(stored))
        print(sort, number, path)


main(sys.argv[1], sys.argv[2:])
