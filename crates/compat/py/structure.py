"""What an HDF5 file holds, without addresses: structure.py < PATHS, a block for each file, object by object.

Two files of the same content give the same text: links and attributes come in the order in which they were made where
the file keeps it, references are said as paths. The value of _NCProperties, which names the writer, is left out.
"""

import os
import signal
import sys
import zlib

import h5py
import numpy as np
from h5py import h5a, h5d, h5g, h5o, h5p, h5r, h5s, h5t

CLASSES = {value: name for name, value in vars(h5t).items() if name in (
    "INTEGER", "FLOAT", "TIME", "STRING", "BITFIELD", "OPAQUE", "COMPOUND", "REFERENCE", "ENUM", "VLEN", "ARRAY")}
MOST = 5_000_000


def kind(t):
    """A datatype in words."""
    name = CLASSES[t.get_class()]
    # The reference's ncgen pads compounds at their end by what is too much, not by what is missing.
    said = [name] if name == "COMPOUND" else [name, t.get_size()]
    if t.committed():
        said.append("committed " + os.fsdecode(h5py.h5i.get_name(t) or b"?"))
    if name in ("INTEGER", "FLOAT", "BITFIELD"):
        said += [t.get_order(), t.get_precision(), t.get_offset()]
        if name == "INTEGER":
            said.append(t.get_sign())
    elif name == "STRING":
        said += [t.is_variable_str(), t.get_strpad(), t.get_cset()]
    elif name == "OPAQUE":
        said.append(t.get_tag())
    elif name == "COMPOUND":
        aligned = True
        for at in range(t.get_nmembers()):
            of = t.get_member_type(at)
            # Compounds inside one it does not align as C does, so that what follows them lies elsewhere, too.
            aligned = aligned and of.get_class() != h5t.COMPOUND
            said.append((t.get_member_name(at), t.get_member_offset(at) if aligned else "somewhere", kind(of)))
    elif name == "ENUM":
        said.append(kind(t.get_super()))
        said += [(t.get_member_name(at), t.get_member_value(at)) for at in range(t.get_nmembers())]
    elif name in ("VLEN", "ARRAY"):
        said.append(kind(t.get_super()))
        if name == "ARRAY":
            said.append(t.get_array_dims())
    return said


def extent(space):
    if space.get_simple_extent_type() == h5s.NULL:
        return "null"
    dims = space.get_simple_extent_dims(), space.get_simple_extent_dims(True)
    return "scalar" if space.get_simple_extent_type() == h5s.SCALAR else dims


class Values:
    """Values of one file, in which references lead to paths."""

    def __init__(self, file):
        self.file = file

    def say(self, value):
        if isinstance(value, h5py.Reference):
            return "-> " + os.fsdecode(h5r.get_name(value, self.file.id) or b"nothing") if value else "-> nothing"
        if isinstance(value, (np.void, np.ndarray)) and value.dtype.names:
            return [(name, self.say(value[name])) for name in value.dtype.names]
        if isinstance(value, np.ndarray):
            if value.dtype.hasobject:
                return [self.say(each) for each in value.ravel()]
            if value.size > 50:
                return value.dtype.str, value.shape, zlib.crc32(np.ascontiguousarray(value).tobytes())
            return value.dtype.str, value.shape, value.tobytes().hex()
        if isinstance(value, np.generic):
            return value.dtype.str, value.tobytes().hex()
        return repr(value)

    def attributes(self, owner):
        flags = owner.get_create_plist().get_attr_creation_order() if not isinstance(owner, h5t.TypeID) else 0
        print(" order of attributes", flags)
        index = h5py.h5.INDEX_CRT_ORDER if flags & h5p.CRT_ORDER_TRACKED else h5py.h5.INDEX_NAME
        for at in range(h5a.get_num_attrs(owner)):
            attr = h5a.open(owner, index=at, index_type=index, order=h5py.h5.ITER_INC)
            line = [attr.name, kind(attr.get_type()), extent(attr.get_space())]
            if attr.name != b"_NCProperties" and extent(attr.get_space()) != "null":
                try:
                    of = h5py.AttributeManager(wrap(owner))
                    line.append(self.say(of[os.fsdecode(attr.name)]))
                except (OSError, TypeError, ValueError) as error:
                    line.append(type(error).__name__)
            elif attr.name == b"_NCProperties":
                line[1] = line[2] = "left out"
            print(" attribute", *line)

    def dataset(self, name, of):
        plist = of.get_create_plist()
        print("dataset", name, kind(of.get_type()), extent(of.get_space()))
        layout = plist.get_layout()
        print(" layout", layout, plist.get_chunk() if layout == h5d.CHUNKED else "", "fill time", plist.get_fill_time())
        print(" filters", [plist.get_filter(at)[:3] for at in range(plist.get_nfilters())])
        print(" fill", plist.fill_value_defined(), self.fill(of, plist))
        self.attributes(of)
        space = of.get_space()
        if space.get_simple_extent_type() != h5s.NULL and space.get_simple_extent_npoints() <= MOST:
            try:
                print(" data", self.say(np.asarray(h5py.Dataset(of)[()])))
            except (OSError, TypeError, ValueError) as error:
                print(" data", type(error).__name__)

    @staticmethod
    def fill(of, plist):
        if plist.fill_value_defined() != h5d.FILL_VALUE_USER_DEFINED or of.dtype.names:
            return ""
        try:
            value = np.zeros((1,), of.dtype)
            plist.get_fill_value(value)
            return value.tobytes().hex() if not value.dtype.hasobject else "an object"
        except (TypeError, ValueError) as error:
            return type(error).__name__

    def group(self, name, of, seen):
        plist = of.get_create_plist()
        flags = plist.get_link_creation_order()
        print("group", name, "order of links", flags)
        self.attributes(of)
        order = h5py.h5.INDEX_CRT_ORDER if flags & h5p.CRT_ORDER_TRACKED else h5py.h5.INDEX_NAME
        links = []
        of.links.iterate(lambda link: links.append(link) and None, idx_type=order)
        for link in links:
            info = of.links.get_info(link)
            path = name + ("" if name.endswith("/") else "/") + os.fsdecode(link)
            if info.type != h5py.h5l.TYPE_HARD:
                print("link", path, info.type)
                continue
            child = h5o.open(of, link)
            at = h5o.get_info(child).addr
            if at in seen:
                print("again", path)
                continue
            seen.add(at)
            if isinstance(child, h5g.GroupID):
                self.group(path, child, seen)
            elif isinstance(child, h5d.DatasetID):
                self.dataset(path, child)
            else:
                print("type", path, kind(child))
                self.attributes(child)


def wrap(owner):
    """The object of h5py's upper half."""
    if isinstance(owner, h5g.GroupID):
        return h5py.Group(owner)
    return h5py.Dataset(owner) if isinstance(owner, h5d.DatasetID) else h5py.Datatype(owner)


# Seconds for a file.
PATIENCE = 20

for path in sys.stdin.read().splitlines():
    print("==", path, flush=True)
    # Some files are made to break readers.
    child = os.fork()
    if child == 0:
        signal.alarm(PATIENCE)
        try:
            with h5py.File(path) as file:
                Values(file).group("/", h5g.open(file.id, b"/"), set())
            print("end")
        except Exception as error:
            print("cannot be read:", type(error).__name__, error)
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(child, 0)
