"""Random HDF5 files: `models_hdf5.py FOLDER FIRST COUNT` makes FOLDER/<seed>.h5 for COUNT seeds from FIRST on.

Types without pointers are made of the library's own calls and filled with random bytes, so that they may be anything
that the format can say. What the file refuses (a filter that does not fit a type, say) is left out of it.
"""

import ctypes
import os
import sys

import hdf5plugin
import h5py
import numpy as np
from h5py import h5a, h5d, h5f, h5p, h5s, h5t

from listing import C, HID, alone

VERSIONS = ["earliest", "v18", "v110", "v112", "v114", "latest"]

for name, arguments in [
    ("H5Dwrite", [HID, HID, HID, HID, HID, ctypes.c_void_p]),
    ("H5Awrite", [HID, HID, ctypes.c_void_p]),
    ("H5Pset_chunk_opts", [HID, ctypes.c_uint]),
    ("H5Pset_nbit", [HID]),
    ("H5Pset_fill_value", [HID, HID, ctypes.c_void_p]),
    ("H5Pset_sym_k", [HID, ctypes.c_uint, ctypes.c_uint]),
    ("H5Pset_istore_k", [HID, ctypes.c_uint]),
    ("H5Pset_shared_mesg_nindexes", [HID, ctypes.c_uint]),
    ("H5Pset_shared_mesg_index", [HID, ctypes.c_uint, ctypes.c_uint, ctypes.c_uint]),
    ("H5Tset_precision", [HID, ctypes.c_size_t]),
    ("H5Tset_offset", [HID, ctypes.c_size_t]),
    ("H5Tset_order", [HID, ctypes.c_int]),
]:
    getattr(C, name).argtypes = arguments


class Random:
    """Choices of one seed."""

    def __init__(self, seed):
        self.bits = np.random.default_rng(seed)

    def below(self, end):
        return int(self.bits.integers(end))

    def chance(self, part):
        return self.bits.random() < part

    def one(self, options):
        return options[self.below(len(options))]

    def bytes(self, count):
        if self.chance(0.5):
            return self.bits.bytes(count)
        # What compresses.
        return np.repeat(np.frombuffer(self.bits.bytes(count // 8 + 1), "u1"), 8)[:count].tobytes()

    def name(self):
        return self.one(["", "ü", "x ", "日"]) + "".join(chr(97 + self.below(26)) for _ in range(3 + self.below(8)))


def atomic(r):
    """An integer, bits or a floating-point number."""
    if r.chance(0.3):
        kinds = [h5t.IEEE_F16LE, h5t.IEEE_F16BE, h5t.IEEE_F32LE, h5t.IEEE_F32BE, h5t.IEEE_F64LE, h5t.IEEE_F64BE]
        return r.one(kinds).copy()
    made = r.one(
        [h5t.STD_I8LE, h5t.STD_U8BE, h5t.STD_I16LE, h5t.STD_I16BE, h5t.STD_U16LE, h5t.STD_I32LE, h5t.STD_U32BE]
        + [h5t.STD_I64BE, h5t.STD_U64LE, h5t.STD_B8LE, h5t.STD_B16BE, h5t.STD_B32LE, h5t.STD_B64LE]
    ).copy()
    if r.chance(0.25):
        width = 8 * made.get_size()
        precision = 1 + r.below(width)
        # From big-endian integers at bit 0 the library takes all bits, those of the padding too: its conversion that
        # turns bytes round does not look at the precision.
        lowest = int(made.get_order() == h5t.ORDER_BE and precision < width)
        C.H5Tset_precision(made.id, precision)
        C.H5Tset_offset(made.id, min(lowest + r.below(width - precision + 1), width - precision))
    return made


def enumeration(r):
    if r.chance(0.4):
        return h5t.py_create(np.dtype("?"), logical=True)
    made = h5t.enum_create(r.one([h5t.STD_I8LE, h5t.STD_I32BE, h5t.STD_U16LE]).copy())
    for number in range(1 + r.below(5)):
        made.enum_insert(f"n{number}".encode(), number * 7)
    return made


def text(r):
    made = h5t.TypeID.copy(h5t.C_S1)
    made.set_size(1 + r.below(20))
    made.set_strpad(r.below(3))
    made.set_cset(r.below(2))
    return made


def plain(r, depth=0):
    """A type of elements without pointers."""
    choice = r.below(10 if depth < 3 else 8)
    if choice < 5:
        return atomic(r)
    if choice == 5:
        return enumeration(r)
    if choice == 6:
        return text(r)
    if choice == 7:
        made = h5t.create(h5t.OPAQUE, 1 + r.below(9))
        made.set_tag(b"tag" * r.below(3))
        return made
    if choice == 8:
        return h5t.array_create(plain(r, depth + 1), tuple(1 + r.below(3) for _ in range(1 + r.below(2))))
    members = [plain(r, depth + 1) for _ in range(1 + r.below(4))]
    gap = r.below(2)
    made = h5t.create(h5t.COMPOUND, sum(member.get_size() + gap for member in members))
    at = 0
    for number, member in enumerate(members):
        made.insert(f"m{number}".encode(), at, member)
        at += member.get_size() + gap
    return made


def shape_of(r, most=4000):
    rank = r.one([0, 1, 1, 1, 2, 2, 3, 4])
    longest = max(int(most ** (1 / rank)), 1) if rank else 1
    return tuple(r.below(longest + 1) if r.chance(0.05) else 1 + r.below(longest) for _ in range(rank))


PLUGINS = [
    lambda r: hdf5plugin.Zstd(clevel=1 + r.below(9)),
    lambda r: hdf5plugin.LZ4(nbytes=r.one([0, 64, 1024])),
    lambda r: hdf5plugin.BZip2(blocksize=1 + r.below(9)),
    lambda r: hdf5plugin.Bitshuffle(nelems=r.one([0, 8, 64]), cname=r.one(["none", "lz4", "zstd"])),
    lambda r: hdf5plugin.Blosc(
        cname=r.one(["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"]), clevel=r.below(10), shuffle=r.below(3)
    ),
]


def add_filter(r, dcpl, t):
    choice = r.below(13)
    before = [dcpl.get_filter(i)[0] for i in range(dcpl.get_nfilters())]
    if choice in (6, 7, 8) and set(before) - {h5py.h5z.FILTER_SHUFFLE}:
        # They take for granted that what they get are whole elements, and read beyond its end if not.
        return
    numbers = t.get_class() in (h5t.INTEGER, h5t.FLOAT)
    if choice == 7 and before and not (numbers and t.get_precision() < 8 * t.get_size()):
        # Of elements that n-bit leaves alone, the library takes the size of its memory for their bytes when it reads, and
        # then takes shuffled ones apart wrongly.
        return
    if choice < 2:
        dcpl.set_deflate(r.below(10))
    elif choice < 4:
        dcpl.set_shuffle()
    elif choice == 4:
        dcpl.set_fletcher32()
    elif choice == 5:
        dcpl.set_filter(h5py.h5z.FILTER_LZF, h5py.h5z.FLAG_OPTIONAL)
    elif choice == 6:
        dcpl.set_szip(r.one([h5py.h5z.SZIP_EC_OPTION_MASK, h5py.h5z.SZIP_NN_OPTION_MASK]), r.one([4, 8, 16, 32]))
    elif choice == 7:
        if C.H5Pset_nbit(dcpl.id) < 0:
            raise ValueError("nbit")
    elif choice == 8 and t.get_class() == h5t.INTEGER:
        dcpl.set_scaleoffset(h5py.h5z.SO_INT, r.below(8))
    elif choice == 8 and t.get_class() == h5t.FLOAT:
        dcpl.set_scaleoffset(h5py.h5z.SO_FLOAT_DSCALE, r.below(5))
    else:
        plugin = r.one(PLUGINS)(r)
        dcpl.set_filter(plugin.filter_id, h5py.h5z.FLAG_MANDATORY, plugin.filter_options)


def properties(r, t, shape, folder, seed):
    """How a dataset is stored, and its maximal shape."""
    dcpl, most = h5p.create(h5p.DATASET_CREATE), None
    size = t.get_size()
    elements = int(np.prod(shape)) if shape else 1
    choice = r.below(10)
    if shape and choice < 7 and 0 not in shape:
        single = r.chance(0.15)
        chunk = shape if single else tuple(1 + r.below(min(length, 40)) for length in shape)
        # Not more than about a thousand chunks.
        while np.prod([-(-n // c) for n, c in zip(shape, chunk)]) > 1000:
            chunk = tuple(c * 2 for c in chunk)
            chunk = tuple(min(c, n) for c, n in zip(chunk, shape))
        dcpl.set_chunk(chunk)
        unlimited = r.below(1 + len(shape)) if r.chance(0.6) else 0
        if unlimited:
            at = {r.below(len(shape)) for _ in range(unlimited)}
            most = tuple(
                h5s.UNLIMITED if n in at else length + r.below(2) * r.below(20) for n, length in enumerate(shape)
            )
        elif r.chance(0.3):
            most = tuple(length + r.below(20) for length in shape)
        if r.chance(0.7):
            for _ in range(1 + r.below(3)):
                try:
                    add_filter(r, dcpl, t)
                except Exception:
                    pass
        if r.chance(0.2):
            C.H5Pset_chunk_opts(dcpl.id, 2)
        if r.chance(0.3):
            dcpl.set_alloc_time(r.one([h5d.ALLOC_TIME_EARLY, h5d.ALLOC_TIME_LATE, h5d.ALLOC_TIME_INCR]))
    elif choice == 7 and elements * size < 60000:
        dcpl.set_layout(h5d.COMPACT)
    elif choice == 8 and shape and elements * size > 0 and r.chance(0.5):
        total = elements * size
        cut = r.below(total) + 1
        name = f"{seed}-{r.below(1 << 30)}.raw"
        dcpl.set_external(name.encode(), r.below(9), cut)
        if cut < total:
            dcpl.set_external((name + "2").encode(), 0, h5f.UNLIMITED)
    if r.chance(0.4):
        value = np.frombuffer(r.bytes(size), f"V{size}")
        C.H5Pset_fill_value(dcpl.id, t.id, value.ctypes.data)
    return dcpl, most


def write_plain(r, group, name, folder, seed):
    t, shape = plain(r), shape_of(r)
    if t.get_size() * int(np.prod(shape or (1,))) > 1 << 20:
        shape = tuple(min(n, 5) for n in shape)
    for attempt in range(4):
        dcpl, most = properties(r, t, shape, folder, seed)
        space = h5s.create(h5s.SCALAR) if not shape else h5s.create_simple(shape, most)
        if r.chance(0.03):
            space = h5s.create(h5s.NULL)
        try:
            dataset = h5d.create(group.id, name.encode(), t, space, dcpl)
            break
        except Exception:
            if attempt == 3:
                return
    if space.get_simple_extent_type() == h5s.NULL:
        return
    if not shape or not dcpl.get_layout() == h5d.CHUNKED:
        if r.chance(0.9):
            data = np.frombuffer(r.bytes(t.get_size() * int(np.prod(shape or (1,)))), "u1")
            if len(data):
                C.H5Dwrite(dataset.id, t.id, 0, 0, 0, data.ctypes.data)
        return
    for _ in range(r.one([0, 1, 1, 2, 3])):
        shape = dataset.get_space().shape
        if 0 in shape:
            break
        start = tuple(r.below(n) if r.chance(0.3) else 0 for n in shape)
        count = tuple(1 + r.below(n - s) if r.chance(0.4) else n - s for n, s in zip(shape, start))
        where = h5s.create_simple(shape, most)
        where.select_hyperslab(start, count)
        here = h5s.create_simple(count)
        data = np.frombuffer(r.bytes(t.get_size() * int(np.prod(count))), "u1")
        C.H5Dwrite(dataset.id, t.id, here.id, where.id, 0, data.ctypes.data)
        if most and r.chance(0.5):
            grown = tuple(
                1 + r.below(n + 30) if m == h5s.UNLIMITED else 1 + r.below(m) for n, m in zip(shape, most)
            )
            if np.prod(grown) * t.get_size() < 4 << 20:
                dataset.set_extent(grown)
    if r.chance(0.2) and 0 not in dataset.get_space().shape:
        # A chunk that went past the filters, and says so.
        chunk = dcpl.get_chunk()
        steps = dcpl.get_nfilters()
        data = r.bits.bytes(int(np.prod(chunk)) * t.get_size())
        try:
            dataset.write_direct_chunk((0,) * len(chunk), data, (1 << steps) - 1)
        except Exception:
            pass


def words(r, count):
    return [r.name() * r.below(4) for _ in range(count)]


def write_pointers(r, file, group, name):
    """Elements with pointers, through h5py's own types."""
    count = 1 + r.below(30)
    options = {}
    if r.chance(0.6):
        options = {"chunks": (1 + r.below(count),), "maxshape": r.one([None, (None,), (count + 5,)])}
        options |= r.one([{}, {"compression": "gzip"}, {"shuffle": True}, {"fletcher32": True}])
    choice = r.below(7)
    if choice in (2, 3) and file.id.get_create_plist().get_sizes()[0] < 8:
        # The library reads lists of references with shorter addresses as if they were long ones.
        return
    if choice == 6:
        data = (r.bits.random(count) * r.one([1.0, 1e300, 1e-310])).astype(np.longdouble) / 3
        group.create_dataset(name, data=data, **options)
    elif choice == 0:
        dtype = h5py.string_dtype(r.one(["utf-8", "ascii"]))
        dataset = group.create_dataset(name, (count,), dtype, **options)
        if dtype == h5py.string_dtype("utf-8"):
            data = [word.encode() for word in words(r, count)]
        else:
            data = [b"abc" * r.below(5) for _ in range(count)]
        if r.chance(0.9):
            some = 1 + r.below(count)
            dataset[:some] = data[:some]
    elif choice == 1:
        base = r.one(["<i4", ">i2", "<f8", "u1", ">f4", "<f2"])
        dataset = group.create_dataset(name, (count,), h5py.vlen_dtype(np.dtype(base)), **options)
        for at in range(count):
            if r.chance(0.8):
                size = np.dtype(base).itemsize * r.below(20)
                dataset[at] = np.frombuffer(r.bits.bytes(size), base)
    elif choice == 2:
        targets = [file] + [place for place in file.values() if isinstance(place, (h5py.Group, h5py.Dataset))]
        dataset = group.create_dataset(name, (count,), h5py.ref_dtype, **options)
        for at in range(count):
            if r.chance(0.8):
                dataset[at] = r.one(targets).ref
    elif choice == 3:
        sources = [p for p in file.values() if isinstance(p, h5py.Dataset) and p.shape and 0 not in p.shape]
        if sources:
            dataset = group.create_dataset(name, (count,), h5py.regionref_dtype, **options)
            for at in range(count):
                if r.chance(0.8):
                    source = r.one(sources)
                    cut = tuple(slice(r.below(n), n) for n in source.shape)
                    dataset[at] = source.regionref[cut]
    elif choice == 4:
        dtype = np.dtype([("a", "<i2"), ("s", h5py.string_dtype()), ("f", ">f8", (2,))])
        data = np.empty(count, dtype)
        data["a"] = r.below(999)
        data["s"] = words(r, count)
        data["f"] = r.bits.random((count, 2))
        group.create_dataset(name, data=data, **options)
    else:
        dataset = group.create_dataset(name, (count,), h5py.vlen_dtype(h5py.string_dtype()), **options)
        for at in range(count):
            dataset[at] = np.array(words(r, r.below(4)), dtype=object)


def write_virtual(r, file, group, name, folder, seed):
    """A virtual dataset over a file beside this one, or over this file."""
    rows, length = 1 + r.below(5), 1 + r.below(30)
    own = r.chance(0.3)
    if own:
        other, path = file, "."
    else:
        path = f"{seed}-{r.below(1 << 30)}.source"
        other = h5py.File(f"{folder}/{path}", "w")
    dtype = r.one(["<i4", ">f8", "<u2"])
    unlimited = r.chance(0.3)
    sources = []
    for row in range(rows):
        if r.chance(0.15):
            sources.append(None)
            continue
        source = f"{name}-{row}"
        data = r.bits.integers(0, 1000, length).astype(dtype)
        maxshape = (None,) if unlimited else (length,)
        chunks = (max(length // 2, 1),) if unlimited or r.chance(0.5) else None
        other.create_dataset(source, data=data, maxshape=maxshape, chunks=chunks)
        sources.append(source)
    if not own:
        other.close()
    layout = h5py.VirtualLayout((rows, length), r.one([dtype, "<f4", "<i8"]), (rows, None) if unlimited else None)
    for row, source in enumerate(sources):
        if source is None:
            continue
        if unlimited:
            made = h5py.VirtualSource(path, source, (length,), maxshape=(None,))
            layout[row, : h5s.UNLIMITED] = made[: h5s.UNLIMITED]
        else:
            made = h5py.VirtualSource(path, source, (length,))
            first, step = r.below(length), 1 + r.below(3)
            count = len(range(first, length, step))
            layout[row, :count] = made[first::step]
    group.create_virtual_dataset(name, layout, fillvalue=r.one([None, 7]))


def write_attributes(r, place):
    for _ in range(r.one([0, 0, 1, 2, 12])):
        name = r.name()
        try:
            if r.chance(0.3):
                place.attrs[name] = r.one(
                    [lambda: r.name() * r.below(9), lambda: words(r, 3), lambda: h5py.Empty("f4"), lambda: place.ref]
                )()
                continue
            t, shape = plain(r), shape_of(r, 30)
            if 0 in shape:
                continue
            space = h5s.create_simple(shape) if shape else h5s.create(h5s.SCALAR)
            attribute = h5a.create(place.id, name.encode(), t, space)
            data = np.frombuffer(r.bytes(t.get_size() * int(np.prod(shape or (1,)))), "u1")
            C.H5Awrite(attribute.id, t.id, data.ctypes.data)
        except Exception:
            # The same name twice, or too large for an object header.
            pass


def write_group(r, file, group, folder, seed, depth):
    for _ in range(r.one([1, 2, 3, 12])):
        name = r.name()
        if name in group:
            continue
        choice = r.below(12)
        try:
            if choice < 6:
                write_plain(r, group, name, folder, seed)
            elif choice < 8:
                write_pointers(r, file, group, name)
            elif choice == 8:
                write_virtual(r, file, group, name, folder, seed)
            elif choice == 9 and depth < 3:
                made = group.create_group(name, track_order=r.chance(0.5))
                write_group(r, file, made, folder, seed, depth + 1)
            elif choice == 10:
                targets = [h5py.SoftLink("/" + r.name()), h5py.ExternalLink(f"{seed}.other", "/a"), file]
                group[name] = r.one(targets)
            else:
                plain(r).commit(group.id, name.encode())
            if name in group and choice < 9:
                write_attributes(r, group[name])
        except (ValueError, RuntimeError, TypeError, OSError, NotImplementedError, KeyError) as error:
            if os.environ.get("FERROCDF_LOUD"):
                print(seed, choice, repr(error)[:200], file=sys.stderr)
    write_attributes(r, group)


def make(folder, seed):
    r = Random(seed)
    fcpl, fapl = h5p.create(h5p.FILE_CREATE), h5p.create(h5p.FILE_ACCESS)
    if r.chance(0.2):
        fcpl.set_userblock(512 << r.below(4))
    if r.chance(0.2):
        fcpl.set_sizes(r.one([4, 8]), r.one([4, 8]))
    if r.chance(0.2):
        C.H5Pset_sym_k(fcpl.id, 2 + r.below(20), 2 + r.below(8))
        C.H5Pset_istore_k(fcpl.id, 2 + r.below(40))
    if r.chance(0.3):
        fcpl.set_link_creation_order(h5p.CRT_ORDER_TRACKED | h5p.CRT_ORDER_INDEXED)
        fcpl.set_attr_creation_order(h5p.CRT_ORDER_TRACKED)
    if r.chance(0.15):
        fcpl.set_file_space_strategy(r.below(4), r.chance(0.5), 1)
    if r.chance(0.15):
        # Shared messages of all kinds but attributes, which the reference cannot always read again.
        C.H5Pset_shared_mesg_nindexes(fcpl.id, 1)
        C.H5Pset_shared_mesg_index(fcpl.id, 0, 0x0F, r.below(60))
    low = r.one(VERSIONS)
    bounds = {name: getattr(h5f, "LIBVER_" + name.upper()) for name in VERSIONS}
    fapl.set_libver_bounds(bounds[low], h5f.LIBVER_LATEST)
    identifier = h5f.create(f"{folder}/{seed}.h5".encode(), h5f.ACC_TRUNC, fcpl, fapl)
    with h5py.File(identifier) as file:
        write_group(r, file, file, folder, seed, 0)


def main():
    folder, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    # External data files are made beside the file.
    os.chdir(folder)
    for seed in range(first, first + count):
        status = alone(lambda: make(folder, seed))
        if status != 0:
            # A filter or an end of the library that failed: no file to compare with.
            os.path.exists(f"{seed}.h5") and os.remove(f"{seed}.h5")


if __name__ == "__main__":
    main()
