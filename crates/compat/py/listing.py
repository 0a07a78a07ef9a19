"""What is in HDF5 files, as h5py and the HDF5 library in it read it, one line for each fact.

`listing.py LIST FOLDER PART PARTS`: the files that LIST names, a path in each line, of which every PARTS-th one, from
PART on, is listed into FOLDER/<number of the line>. Each file has a process of its own, since damaged ones can end it.

A line is `address TAB key TAB value`. `src/listing` makes the same lines with ferrocdf; what values look like is said
there. Metadata is asked for through h5py. Values are read with calls of the library itself, into memory types that are
made here: h5py's own mapping to NumPy refuses or changes many types.
"""

import ctypes
import os
import resource
import signal
import sys
import zlib

os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")
# Where ferrocdf looks: beside the file that names them.
os.environ.setdefault("HDF5_EXTFILE_PREFIX", "${ORIGIN}")
os.environ.setdefault("HDF5_VDS_PREFIX", "${ORIGIN}")

import hdf5plugin  # noqa: E402, F401  (its import makes the filters known)
import numpy as np  # noqa: E402
from h5py import h5a, h5d, h5f, h5g, h5i, h5l, h5o, h5p, h5s, h5t  # noqa: E402

# Bytes of elements that are compared in full, and what is taken of larger datasets. See `sample` in src/listing.
NUMBERS, OTHERS, SAMPLE = 64 << 20, 256 << 10, 256 << 10
# Types that lie in one another, before one is refused: a library call for each takes long.
DEPTH = 60
SECONDS = 20
MEMORY = 6 << 30


def library():
    """The HDF5 library that h5py runs on."""
    with open("/proc/self/maps") as maps:
        paths = {line.split()[-1] for line in maps if "/libhdf5" in line and "/libhdf5_hl" not in line}
    (path,) = paths
    return ctypes.CDLL(path)


C = library()
HID = ctypes.c_int64
for name, result, arguments in [
    ("H5Dread", ctypes.c_int, [HID, HID, HID, HID, HID, ctypes.c_void_p]),
    ("H5Aread", ctypes.c_int, [HID, HID, ctypes.c_void_p]),
    ("H5Tcopy", HID, [HID]),
    ("H5Tcreate", HID, [ctypes.c_int, ctypes.c_size_t]),
    ("H5Tinsert", ctypes.c_int, [HID, ctypes.c_char_p, ctypes.c_size_t, HID]),
    ("H5Tvlen_create", HID, [HID]),
    ("H5Tarray_create2", HID, [HID, ctypes.c_uint, ctypes.POINTER(ctypes.c_uint64)]),
    ("H5Tcomplex_create", HID, [HID]),
    ("H5Tget_super", HID, [HID]),
    ("H5Tget_class", ctypes.c_int, [HID]),
    ("H5Tget_precision", ctypes.c_size_t, [HID]),
    ("H5Tget_offset", ctypes.c_int, [HID]),
    ("H5Rdereference2", HID, [HID, HID, ctypes.c_int, ctypes.c_void_p]),
    ("H5Rget_region", HID, [HID, ctypes.c_int, ctypes.c_void_p]),
    ("H5Ropen_object", HID, [ctypes.c_void_p, HID, HID]),
    ("H5Ropen_region", HID, [ctypes.c_void_p, HID, HID]),
    ("H5Rget_type", ctypes.c_int, [ctypes.c_void_p]),
    ("H5Oget_info3", ctypes.c_int, [HID, ctypes.c_void_p, ctypes.c_uint]),
    ("H5Sget_select_npoints", ctypes.c_int64, [HID]),
    ("H5Sget_simple_extent_ndims", ctypes.c_int, [HID]),
    ("H5Sget_select_bounds", ctypes.c_int, [HID, ctypes.c_void_p, ctypes.c_void_p]),
]:
    function = getattr(C, name)
    function.restype, function.argtypes = result, arguments


def escape(name):
    """Bytes as plain text without blanks."""
    plain = (chr(b) if 0x21 <= b < 0x7F and b != 0x5C else f"\\{b:02x}" for b in name)
    return "".join(plain)


COMPLEX = 11


def describe(t, depth=0):
    """A datatype as text; see `describe` in src/listing."""
    if depth > DEPTH:
        raise ValueError("too many types in one another")
    depth += 1
    kind, size = C.H5Tget_class(t.id), t.get_size()
    if kind == COMPLEX:
        return f"complex({describe(parent(t), depth)})"
    if kind == h5t.INTEGER:
        sign = "s" if t.get_sign() == h5t.SGN_2 else "u"
        return f"int{size}{sign}{t.get_order()}+{t.get_offset()}.{t.get_precision()}"
    if kind == h5t.FLOAT:
        sign, epos, esize, mpos, msize = t.get_fields()
        return (
            f"float{size},{t.get_order()}+{t.get_offset()}.{t.get_precision()}"
            f"s{sign}e{epos}.{esize}m{mpos}.{msize}b{t.get_ebias()}n{t.get_norm()}"
        )
    if kind == h5t.BITFIELD:
        return f"bits{size},{t.get_order()}+{C.H5Tget_offset(t.id)}.{C.H5Tget_precision(t.id)}"
    if kind == h5t.TIME:
        return f"time{size}"
    if kind == h5t.STRING:
        length = "v" if t.is_variable_str() else str(size)
        return f"str{length},{t.get_strpad()}{t.get_cset()}"
    if kind == h5t.OPAQUE:
        tag = t.get_tag()
        return f"opaque{size}[{escape(tag if isinstance(tag, bytes) else tag.encode())}]"
    if kind == h5t.COMPOUND:
        # Pointers have another size in memory, where the library says that the datatype is.
        moved = has_pointers(t)
        members = (
            f"{escape(t.get_member_name(i))}@{'' if moved else t.get_member_offset(i)}"
            f":{describe(t.get_member_type(i), depth)}"
            for i in range(t.get_nmembers())
        )
        return f"{'' if moved else size}{{{';'.join(members)}}}"
    if kind == h5t.ENUM:
        members = (
            f"{escape(t.get_member_name(i))}={t.get_member_value(i)}" for i in range(t.get_nmembers())
        )
        return f"enum({describe(parent(t), depth)}){{{','.join(members)}}}"
    if kind == h5t.VLEN:
        return f"vlen({describe(parent(t), depth)})"
    if kind == h5t.ARRAY:
        return f"array{'x'.join(map(str, t.get_array_dims()))}({describe(parent(t), depth)})"
    if kind == h5t.REFERENCE:
        return "reference" if is_new(t) else "object" if t.equal(h5t.STD_REF_OBJ) else "region"
    raise ValueError(f"class {kind}")


def parent(t):
    return t.get_super()


def has_pointers(t, depth=0):
    """Whether elements are larger or smaller in memory than in the file."""
    if depth > DEPTH:
        raise ValueError("too many types in one another")
    depth += 1
    kind = C.H5Tget_class(t.id)
    if kind == h5t.COMPOUND:
        return any(has_pointers(t.get_member_type(i), depth) for i in range(t.get_nmembers()))
    if kind == h5t.ARRAY:
        return has_pointers(parent(t), depth)
    return kind in (h5t.VLEN, h5t.REFERENCE) or (kind == h5t.STRING and t.is_variable_str())


def is_new(t):
    """Whether it is a reference of the revised kind."""
    return not t.equal(h5t.STD_REF_OBJ) and not t.equal(h5t.STD_REF_DSETREG)


def is_number(t):
    return t.get_class() in (h5t.INTEGER, h5t.FLOAT, h5t.ENUM, h5t.BITFIELD)


def whole(precision, kinds):
    """The index of the smallest of 8, 16, 32, 64 bits that holds so many."""
    return kinds[next((n for n in range(4) if precision <= 8 << n), 3)]


BITS = (h5t.NATIVE_B8, h5t.NATIVE_B16, h5t.NATIVE_B32, h5t.NATIVE_B64)
SIGNED = (h5t.NATIVE_INT8, h5t.NATIVE_INT16, h5t.NATIVE_INT32, h5t.NATIVE_INT64)
UNSIGNED = (h5t.NATIVE_UINT8, h5t.NATIVE_UINT16, h5t.NATIVE_UINT32, h5t.NATIVE_UINT64)
POINTED = np.dtype([("len", "<u8"), ("at", "<u8")])


def memory(t):
    """The type that elements are read as, its identifier, and what that is to NumPy."""
    kind = C.H5Tget_class(t.id)
    if kind == h5t.ENUM:
        return memory(parent(t))
    if kind == h5t.INTEGER:
        signed = t.get_sign() == h5t.SGN_2
        made = whole(t.get_precision(), SIGNED if signed else UNSIGNED)
        return made.id, np.dtype(f"<{'i' if signed else 'u'}{made.get_size()}")
    if kind == h5t.BITFIELD:
        made = whole(C.H5Tget_precision(t.id), BITS)
        return made.id, np.dtype(f"<u{made.get_size()}")
    if kind == h5t.FLOAT:
        small = t.get_size() <= 4
        return (h5t.NATIVE_FLOAT if small else h5t.NATIVE_DOUBLE).id, np.dtype("<f4" if small else "<f8")
    if kind == COMPLEX:
        base, dtype = memory(parent(t))
        return C.H5Tcomplex_create(base), np.dtype((dtype, (2,)))
    if kind == h5t.STRING and t.is_variable_str():
        return C.H5Tcopy(t.id), np.dtype("<u8")
    if kind == h5t.VLEN:
        return C.H5Tvlen_create(memory(parent(t))[0]), POINTED
    if kind == h5t.ARRAY:
        base, dtype = memory(parent(t))
        dims = t.get_array_dims()
        made = C.H5Tarray_create2(base, len(dims), (ctypes.c_uint64 * len(dims))(*dims))
        return made, np.dtype((dtype, dims))
    if kind == h5t.COMPOUND:
        members = [memory(t.get_member_type(i)) for i in range(t.get_nmembers())]
        dtype = np.dtype([(f"m{i}", member) for i, (_, member) in enumerate(members)])
        made = C.H5Tcreate(h5t.COMPOUND, dtype.itemsize)
        for i, (member, _) in enumerate(members):
            if C.H5Tinsert(made, t.get_member_name(i), dtype.fields[f"m{i}"][1], member) < 0:
                raise ValueError("H5Tinsert")
        return made, dtype
    if kind == h5t.REFERENCE and t.equal(h5t.STD_REF_OBJ):
        return h5t.STD_REF_OBJ.id, np.dtype("<u8")
    # Strings of fixed length, opaque, time, other references: as they are.
    return C.H5Tcopy(t.id), np.dtype(f"V{t.get_size()}")


def address_of(identifier):
    """The address of an open object: its token, behind the number of its file."""
    info = (ctypes.c_uint64 * 32)()
    if C.H5Oget_info3(identifier, info, 1) < 0:
        raise ValueError("H5Oget_info3")
    return info[1]


def region(place, element):
    """What a reference to a region refers to: the object, the number of elements, and their bounds."""
    if not any(element):
        return [0]
    pointer = ctypes.create_string_buffer(element, len(element))
    target = C.H5Rdereference2(place.id, 0, 1, pointer)
    return elements_of(target, C.H5Rget_region(place.id, 1, pointer))


def elements_of(target, space):
    """The object, the number of elements and their bounds."""
    count = C.H5Sget_select_npoints(space) if space >= 0 else -1
    if target < 0 or count < 0:
        raise ValueError("H5Rget_region")
    found = [address_of(target), count]
    rank = C.H5Sget_simple_extent_ndims(space)
    bounds = [(ctypes.c_uint64 * rank)() for _ in range(2)]
    if count and C.H5Sget_select_bounds(space, *bounds) >= 0:
        found += [*bounds[0], *bounds[1]]
    return found


def reference(element):
    """What a reference of the revised kind refers to."""
    if not any(element):
        return [0]
    pointer = ctypes.create_string_buffer(element, len(element))
    target = C.H5Ropen_object(pointer, 0, 0)
    if C.H5Rget_type(pointer) == 3:
        return elements_of(target, C.H5Ropen_region(pointer, 0, 0))
    if target < 0:
        raise ValueError("H5Ropen_object")
    return [address_of(target)]


def canonical(place, t, values, out):
    """Appends elements of one type to a list of bytes, members of compounds one behind the other."""
    kind = C.H5Tget_class(t.id)
    if kind in (h5t.INTEGER, h5t.ENUM, h5t.BITFIELD):
        out.append(values.tobytes())
    elif kind == h5t.FLOAT:
        floats(values, out)
    elif kind == COMPLEX:
        floats(values.reshape(-1), out)
    elif kind == h5t.STRING and t.is_variable_str():
        texts = [ctypes.string_at(int(at)) if at else b"" for at in values]
        out.append(np.array([len(text) for text in texts], "<u4").tobytes())
        out.append(b"".join(texts))
    elif kind == h5t.VLEN:
        base = parent(t)
        dtype = memory(base)[1]
        out.append(values["len"].astype("<u4").tobytes())
        parts = [ctypes.string_at(int(at), int(n) * dtype.itemsize) for n, at in values.tolist() if n]
        count = int(values["len"].sum())
        canonical(place, base, np.frombuffer(b"".join(parts), dtype, count if count else 0), out)
    elif kind == h5t.ARRAY:
        base = parent(t)
        n = int(np.prod(t.get_array_dims()))
        flat = np.frombuffer(values.tobytes(), memory(base)[1], len(values) * n)
        canonical(place, base, flat, out)
    elif kind == h5t.COMPOUND:
        for i in range(t.get_nmembers()):
            canonical(place, t.get_member_type(i), np.ascontiguousarray(values[f"m{i}"]), out)
    elif kind == h5t.REFERENCE and t.equal(h5t.STD_REF_OBJ):
        # With shorter addresses in the file the library leaves the bytes above as the memory was.
        width = h5i.get_file_id(place).get_create_plist().get_sizes()[0]
        out.append((values & np.uint64(2 ** (8 * width) - 1)).tobytes())
    elif kind == h5t.REFERENCE:
        for element in values:
            element = element.tobytes()
            found = reference(element) if is_new(t) else region(place, element)
            out.append(np.array(found, "<u8").tobytes())
    else:
        out.append(values.tobytes())


def floats(values, out):
    """Numbers with one NaN."""
    values = values.copy()
    values[np.isnan(values)] = np.nan
    out.append(values.tobytes())


def text_of(place, t, values):
    out = []
    canonical(place, t, values, out)
    crc, length = 0, 0
    for part in out:
        crc, length = zlib.crc32(part, crc), length + len(part)
    return f"{crc:08x}:{length}"


def buffer(count, dtype):
    """Memory for elements, all zeros."""
    return np.zeros(count * dtype.itemsize, "u1")


def elements(raw, count, dtype):
    return np.frombuffer(raw.tobytes(), dtype, count)


def space_text(space):
    kind = space.get_simple_extent_type()
    if kind == h5s.NULL:
        return "null"
    if kind == h5s.SCALAR:
        return "scalar"
    return "x".join(map(str, space.shape))


def sample(shape, size, most):
    """How many elements of each dimension are compared, and how far they are apart."""
    counts, strides = list(shape), [1] * len(shape)

    def total():
        product = size
        for count in counts:
            product *= count
        return product

    if total() > most:
        while total() > SAMPLE and max(counts) > 1:
            at = counts.index(max(counts))
            strides[at] *= 2
            counts[at] = -(-shape[at] // strides[at])
    return counts, strides


def dataset_values(dataset, t, space):
    kind = space.get_simple_extent_type()
    if kind == h5s.NULL:
        return "none"
    if t.get_size() > OTHERS:
        return "too large"
    shape = space.shape
    counts, strides = sample(shape, t.get_size(), NUMBERS if is_number(t) else OTHERS)
    count = 1
    for n in counts:
        count *= n
    mem, dtype = memory(t)
    if mem < 0:
        raise ValueError("no memory type")
    raw = buffer(count, dtype)
    if count:
        where = here = None
        if shape and max(strides) > 1:
            space.select_hyperslab((0,) * len(shape), tuple(counts), tuple(strides))
            where, here = space, h5s.create_simple((count,))
        ids = (here.id, where.id) if where else (0, 0)
        if C.H5Dread(dataset.id, mem, *ids, 0, raw.ctypes.data) < 0:
            raise ValueError("H5Dread")
    return text_of(dataset, t, elements(raw, count, dtype))


def attribute_values(place, attribute, t, space):
    if space.get_simple_extent_type() == h5s.NULL:
        return "none"
    if t.get_size() > OTHERS:
        return "too large"
    mem, dtype = memory(t)
    count = space.get_simple_extent_npoints()
    raw = buffer(count, dtype)
    if count and C.H5Aread(attribute.id, mem, raw.ctypes.data) < 0:
        raise ValueError("H5Aread")
    return text_of(place, t, elements(raw, count, dtype))


def layout(dcpl):
    kind = dcpl.get_layout()
    if kind == h5d.CHUNKED:
        return f"chunked {'x'.join(map(str, dcpl.get_chunk()))}"
    if kind == h5d.CONTIGUOUS and dcpl.get_external_count():
        return "external"
    return {h5d.COMPACT: "compact", h5d.CONTIGUOUS: "contiguous", h5d.VIRTUAL: "virtual"}[kind]


def filters(dcpl):
    steps = []
    for i in range(dcpl.get_nfilters()):
        code, flags, values, _ = dcpl.get_filter(i)
        steps.append(f"{code}:{flags & 1}:{','.join(map(str, values[:16]))}")
    return ";".join(steps)


def guarded(out, address, key, make):
    try:
        value = make()
    except Exception as error:
        value = "error " + " ".join(str(error).split())
    out.append(f"{address}\t{key}\t{value}")


def most(space):
    if space.get_simple_extent_type() != h5s.SIMPLE:
        return ""
    limits = space.get_simple_extent_dims(True)
    # In files with lengths of 4 bytes the library does not know "without limit" again.
    unlimited = (h5s.UNLIMITED, 2**64 - 1, 2**32 - 1)
    return "x".join("u" if limit in unlimited else str(limit) for limit in limits)


def list_attributes(out, address, place):
    count = h5a.get_num_attrs(place)
    for i in range(count):
        try:
            attribute = h5a.open(place, index=i)
        except Exception:
            out.append(f"{address}\tattribute number {i}\terror")
            continue
        name = escape(attribute.name if isinstance(attribute.name, bytes) else attribute.name.encode())
        space, t = attribute.get_space(), attribute.get_type()
        guarded(out, address, f"@{name} shape", lambda: space_text(space))
        guarded(out, address, f"@{name} type", lambda: describe(t))
        guarded(out, address, f"@{name} values", lambda: attribute_values(place, attribute, t, space))


def list_links(out, address, group, queue):
    for name in group:
        key = f"/{escape(name)}"
        info = group.links.get_info(name)
        if info.type == h5l.TYPE_HARD:
            out.append(f"{address}\t{key}\thard {info.u}")
            queue.append((group, name, info.u))
        elif info.type == h5l.TYPE_SOFT:
            guarded(out, address, key, lambda: f"soft {escape(group.links.get_val(name))}")
        elif info.type == h5l.TYPE_EXTERNAL:
            guarded(out, address, key, lambda: "external " + " ".join(map(escape, group.links.get_val(name))))
        else:
            out.append(f"{address}\t{key}\tuser {int(info.type)}")


def list_dataset(out, address, dataset):
    space, t, dcpl = dataset.get_space(), dataset.get_type(), dataset.get_create_plist()
    guarded(out, address, "shape", lambda: space_text(space))
    guarded(out, address, "most", lambda: most(space))
    guarded(out, address, "type", lambda: describe(t))
    guarded(out, address, "layout", lambda: layout(dcpl))
    guarded(out, address, "filters", lambda: filters(dcpl))
    guarded(out, address, "values", lambda: dataset_values(dataset, t, space))


def listing(path):
    """All lines of a file."""
    out = []
    try:
        file = h5f.open(os.fsencode(path), h5f.ACC_RDONLY)
    except Exception as error:
        return ["0\topen\terror " + " ".join(str(error).split())]
    try:
        root = h5g.open(file, b"/")
    except Exception as error:
        return ["0\topen\terror " + " ".join(str(error).split())]
    queue = [(root, b".", address_of(root.id))]
    seen = set()
    while queue:
        group, name, address = queue.pop()
        if address in seen:
            continue
        seen.add(address)
        try:
            place = h5o.open(group, name)
        except Exception as error:
            out.append(f"{address}\tkind\terror " + " ".join(str(error).split()))
            continue
        kinds = {h5g.GroupID: "group", h5d.DatasetID: "dataset"}
        kind = kinds.get(type(place), "datatype")
        out.append(f"{address}\tkind\t{kind}")
        for facts in {
            "group": (lambda: list_links(out, address, place, queue),),
            "dataset": (lambda: list_dataset(out, address, place),),
            "datatype": (lambda: guarded(out, address, "type", lambda: describe(place)),),
        }[kind] + (lambda: list_attributes(out, address, place),):
            try:
                facts()
            except Exception as error:
                out.append(f"{address}\trest\terror " + " ".join(str(error).split()))
    return out


def alone(work):
    """Does something in a process of its own; the status it ended with."""
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            work()
            os._exit(0)
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            os._exit(1)
    return os.waitpid(child, 0)[1]


def write(path, target):
    with open(target, "w") as out:
        out.writelines(line + "\n" for line in listing(path))


def main():
    names, folder, part, parts = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    with open(names) as lines:
        paths = lines.read().splitlines()
    for number in range(part, len(paths), parts):
        target = f"{folder}/{number}"
        status = alone(lambda: write(paths[number], target))
        if status != 0:
            with open(target, "w") as out:
                out.write(f"0\topen\terror the process ended with status {status}\n")


if __name__ == "__main__":
    main()
