"""Makes the files of this folder: `python make.py` with numpy, h5py 3 and netCDF4 1.7."""
import zlib

import h5py
import netCDF4
import numpy as np


def everything():
    """What the netCDF-4 model has, in one file."""
    with netCDF4.Dataset("everything.nc", "w") as f:
        f.title = "all of it"
        f.numbers = np.array([1, -2, 3], "i2")
        f.createDimension("x", 4)
        f.createDimension("time", None)
        x = f.createVariable("x", "f4", ("x",))
        x[:] = [0.5, 1.5, 2.5, 3.5]
        x.units = "m"
        t = f.createVariable("temp", "f8", ("time", "x"), zlib=True, shuffle=True, chunksizes=(8, 4), fill_value=-1.0)
        t[0:20] = np.arange(80).reshape(20, 4)
        t.setncattr_string("names", ["one", "two"])
        names = f.createVariable("names", str, ("x",))
        names[:] = np.array(["a", "bc", "", "defg"], object)
        c = f.createVariable("code", "S1", ("x",))
        c[:] = np.array([b"a", b"b", b"c", b"d"])
        point = np.dtype([("lat", "f4"), ("n", "i2", (3,))], align=True)
        point_t = f.createCompoundType(point, "point")
        p = f.createVariable("points", point_t, ("x",))
        data = np.zeros(4, point)
        data["lat"] = [1, 2, 3, 4]
        p[:] = data
        ragged_t = f.createVLType(np.int32, "ragged")
        r = f.createVariable("rows", ragged_t, ("x",))
        for n in range(3):
            r[n] = np.arange(n + 1, dtype="i4")
        sky_t = f.createEnumType(np.uint8, "sky", {"clear": 0, "cloudy": 1})
        s = f.createVariable("cover", sky_t, ("x",))
        s[:] = [0, 1, 0, 1]
        g = f.createGroup("model")
        g.run = 7
        g.createDimension("level", 2)
        u = g.createVariable("u", "i4", ("time", "level"), fletcher32=True)
        u[0:3] = np.arange(6).reshape(3, 2)
        h = g.createGroup("deep")
        v = h.createVariable("v", "u8", ("level",), contiguous=True)
        v[:] = [1, 2]


def skipped():
    """What the netCDF model has no words for, beside what it has."""
    with h5py.File("skipped.h5", "w") as f:
        f["kept"] = np.arange(6, dtype="i4").reshape(2, 3)
        f["complex"] = np.array([1 + 2j])
        f["references"] = np.array([f["kept"].ref], h5py.ref_dtype)
        f["nothing"] = h5py.Empty("f4")
        f["soft"] = h5py.SoftLink("/not/there")
        f["other"] = h5py.ExternalLink("absent.h5", "/x")
        f["again"] = f["/"]
        sub = f.create_group("sub")
        sub.create_dataset("packed", data=np.zeros((16, 16), "i2"), chunks=(8, 8), compression="lzf", shuffle=True)
        sub.create_dataset("bools", data=np.array([True, False]))
        f.attrs["note"] = "kept"
        f.attrs["flag"] = True
        f["kept"].attrs["see"] = f["sub"].ref
        sub.attrs["phase"] = 1 + 2j


def in_part():
    """What can be read in part or not at all: elements behind the end of a dimension, a virtual dataset of itself."""
    with h5py.File("in_part.h5", "w", libver=("v108", "latest")) as f:
        f["x"] = np.arange(5.0)
        f["x"].make_scale("x")
        f["long"] = np.arange(9.0)
        f["long"].dims[0].attach_scale(f["x"])
        f.create_dataset("empty", (4, 6), "i2")
        layout = h5py.VirtualLayout((2,), "f8")
        layout[:] = h5py.VirtualSource(".", "circle", (2,))
        f.create_virtual_dataset("circle", layout)


def removing():
    """What a removal must be careful with."""
    text = h5py.string_dtype()
    words = lambda *list: np.array([word.encode() for word in list], object)
    with h5py.File("removing.h5", "w", track_order=True) as f:
        # One object under several names.
        v = f.create_dataset("v", data=words("one", "two", "three"), dtype=text)
        v.attrs["units"] = words("aa", "bb")
        f.create_group("g")["w"] = v
        f["alias"] = h5py.SoftLink("/v")
        h = f.create_group("h")
        h.create_dataset("z", data=np.arange(4)).attrs["note"] = words("hello")
        h.create_dataset("s", data=words("x1", "y2"), dtype=text)
        f["h2"] = h
        f["galias"] = h5py.SoftLink("/h")
        # Strings of another dataset.
        layout = h5py.VirtualLayout((3,), dtype=text)
        layout[:] = h5py.VirtualSource(".", "v", shape=(3,), dtype=text)
        f.create_virtual_dataset("view", layout)
        # A coordinate that cannot be read, and a variable on its dimension.
        t = f.create_dataset("t", data=words("one", "two", "three"), dtype=text, chunks=(3,), compression="gzip")
        t.make_scale("t")
        t.id.write_direct_chunk((0,), b"\xff" * 40)
        f.create_dataset("on_t", data=np.arange(3)).dims[0].attach_scale(t)
        # A scale that is used from another group.
        a, b = f.create_group("a"), f.create_group("b")
        a.create_dataset("x", data=np.arange(5.0)).make_scale("x")
        b.create_dataset("v", data=np.arange(5.0)).dims[0].attach_scale(a["x"])
        # A scale of a type that netCDF does not know, and such a dataset on another scale.
        unknown = f.create_dataset("unknown", (6,), dtype=h5py.ref_dtype)
        unknown.make_scale("unknown")
        y = f.create_dataset("y", data=np.arange(7.0))
        y.make_scale("y")
        f.create_dataset("on_y", (7,), dtype=h5py.ref_dtype).dims[0].attach_scale(y)
        # More than anybody looks through.
        f.create_dataset("huge", (1 << 40,), dtype=text, chunks=(1 << 16,))


def many():
    """250 variables of 20 attributes each, packed with zlib: the length in 8 bytes, then the stream."""
    with netCDF4.Dataset("many.tmp", "w") as f:
        f.createDimension("x", 3)
        for n in range(250):
            v = f.createVariable(f"v{n:03}", "i4", ("x",), contiguous=True)
            for a in range(20):
                v.setncattr(f"attribute_{a:02}", np.int32(a))
            v[:] = [n, n + 1, n + 2]
    pack("many")


def chunks():
    """A float variable of 256 chunks of 4 kB, deflate behind, packed as `many`."""
    with netCDF4.Dataset("chunks.tmp", "w") as f:
        f.createDimension("y", 256)
        f.createDimension("x", 1024)
        v = f.createVariable("v", "f4", ("y", "x"), chunksizes=(1, 1024), zlib=True, complevel=1)
        v[:] = np.arange(256)[:, None] + np.arange(1024)[None, :] % 7
    pack("chunks")


def unnamed():
    """Types without a name: of datasets, of members, of attributes; some that netCDF has no class for are counted."""
    with h5py.File("unnamed.h5", "w") as f:
        f.create_dataset("array", (2,), np.dtype(("i4", (3,))))
        f.create_dataset("array_again", (2,), np.dtype(("i4", (3,))))
        f["flag"] = np.array([True, False])
        f["lists"] = np.array([np.arange(2, dtype="i4"), np.arange(1, dtype="i4")], h5py.vlen_dtype("i4"))
        f["raw"] = np.array([b"abcdefg"], "V7")
        f["rows"] = np.array([(True, (1, 2), b"abc")], [("ok", "?"), ("pair", "f4", (2,)), ("word", "S3")])
        f["table"] = np.array([((1, 2), 3)], [("inner", [("p", "i2"), ("q", "i8")]), ("n", "i4")])
        f["x"] = np.array([1.5])
        f["x"].attrs["checked"] = True
        f["z"] = np.array([1 + 2j])
        f.attrs["colour"] = np.array(2, h5py.enum_dtype({"RED": 1, "BLUE": 2}, "i4"))
        f.attrs["phase"] = 1 - 1j
        g = f.create_group("g")
        g["flag"] = np.array([False])
        g["inner"] = np.array([(5, 6)], [("p", "i2"), ("q", "i8")])
        g.create_dataset("no_class", (1,), [("n", "i4"), ("to", h5py.ref_dtype)])
        g["size"] = np.array([1], h5py.enum_dtype({"SMALL": 0, "LARGE": 1}, "u1"))
        g.attrs["weight"] = np.array((1, True), [("kg", "f4"), ("net", "?")])
        f.attrs["size"] = np.array(1, h5py.enum_dtype({"SMALL": 0, "LARGE": 1}, "u1"))


def pack(name):
    import os

    data = open(f"{name}.tmp", "rb").read()
    open(f"{name}.z", "wb").write(len(data).to_bytes(8, "little") + zlib.compress(data, 9))
    os.remove(f"{name}.tmp")
    print(name, len(data), os.path.getsize(f"{name}.z"))


everything()
skipped()
removing()
in_part()
many()
chunks()
unnamed()

# One dataset with many attributes that soft links in many groups lead to.
with h5py.File("reached_again.h5", "w", track_order=True) as file:
    dataset = file.create_dataset("d", data=np.arange(3))
    for number in range(20):
        dataset.attrs["attribute_%02d" % number] = "some words about it, and more of them %d" % number
    for number in range(12):
        group = file.create_group("g%02d" % number)
        group["d"] = h5py.SoftLink("/d")
        group.create_dataset("own", data=np.int8(number))

# A link to another file, which the test makes empty.
with h5py.File("link_out.h5", "w") as file:
    file["out"] = h5py.ExternalLink("nothing.h5", "/")
    file["v"] = np.int8(1)

# A dimension scale that does not say its id, in a group without an order of its links.
with h5py.File("unordered.h5", "w") as file:
    file["y"] = np.arange(7.0)
    file["y"].make_scale("y")
    file["on_y"] = np.arange(7, dtype="i2")
    file["on_y"].dims[0].attach_scale(file["y"])

# Data in other files and other datasets, some of which are not there, and a dataset without a shape that has attributes.
with h5py.File("sources.h5", "w") as file:
    file["one"] = np.arange(4, dtype="i4")
    file.create_group("sub")
    file["sub/nothing"] = h5py.Empty("i2")
    file["sub/nothing"].attrs["why"] = "no measurement"
    file["sub/nothing"].attrs["codes"] = np.array([1, 2])
    external = [("first.raw", 0, 16), ("second.raw", 8, 16)]
    file.create_dataset("external", (8,), "i4", external=external)
    layout = h5py.VirtualLayout((3, 4), "i4")
    layout[0] = h5py.VirtualSource(".", "one", (4,))
    layout[1] = h5py.VirtualSource("absent.h5", "/g/two", (4,))
    layout[2] = h5py.VirtualSource(".", "one", (4,))
    file.create_virtual_dataset("virtual", layout)

# Datasets of which little was written, or nothing.
with h5py.File("sparse.h5", "w") as file:
    file.create_dataset("never", (1 << 22,), "f8")
    file.create_dataset("never_filled", (1000,), "i4", fillvalue=-7)
    file.create_dataset("few", (1 << 22,), "f8", chunks=(1024,))[5000] = 2.5
    file.create_dataset("filled", (1 << 22,), "i4", chunks=(1024,), fillvalue=-7)[5000] = 3
    file.create_dataset("packed", (1 << 22,), "f4", chunks=(1024,), compression="gzip")[5000] = 4.5

# Datasets that name no scale for some dimension, or one that netCDF does not see, in groups without an order of their links;
# datasets and a group with two links.
with h5py.File("unscaled.h5", "w") as file:
    for name in "s", "t":
        file[name] = np.arange(3)
        file[name].make_scale(name)
    for name, scales in ("first", "st"), ("second", "s"), ("none", ""):
        file[name] = np.arange(9).reshape(3, 3)
        for scale in scales:
            file[name].dims[1 if name == "second" else 0].attach_scale(file[scale])
    file["same"] = file["none"]
    file["wide"] = np.arange(18).reshape(6, 3)
    file["wide"].make_scale("wide")
    file["a/x"] = np.arange(3)
    file["a/x"].make_scale("x")
    file["b/on_x"] = np.arange(9).reshape(3, 3)
    file["b/on_x"].dims[0].attach_scale(file["a/x"])
    file["g/both"] = np.arange(14).reshape(2, 7)
    file["k/both"] = file["g/both"]
    file["k/line"] = np.arange(4)
    file["k2"] = file["k"]
