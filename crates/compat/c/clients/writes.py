"""A Python program over netCDF4 that writes netCDF-4 and its classic model: types, groups, storage, edits.

With `image` it keeps the file that was made in memory: before 4.10 the reference writes it in an older form."""
import sys
import warnings

import numpy as np
import netCDF4


warnings.simplefilter("ignore")


def refused(what, call):
    try:
        call()
        print(what, "taken")
    except Exception as error:
        print(what, type(error).__name__, error)


with netCDF4.Dataset("p4.nc", "w") as file:
    file.createDimension("time", None)
    file.createDimension("other", None)
    file.createDimension("rows", None)
    file.createDimension("x", 6)
    file.createDimension("y", 5)
    storage = {
        "plain": {},
        "zipped": {"zlib": True, "complevel": 7},
        "checked": {"fletcher32": True, "chunksizes": (2, 3, 4)},
        "both": {"zlib": True, "shuffle": True, "fletcher32": True, "chunksizes": (1, 5, 6)},
        "unshuffled": {"zlib": True, "shuffle": False, "chunksizes": (4, 2, 2)},
        "digits": {"zlib": True, "least_significant_digit": 2},
        "groomed": {"zlib": True, "significant_digits": 3},
        "rounded": {"zlib": True, "significant_digits": 3, "quantize_mode": "BitRound"},
        "granular": {"zlib": True, "significant_digits": 4, "quantize_mode": "GranularBitRound"},
        "big": {"endian": "big"},
        "unfilled": {"fill_value": False},
        "filled": {"fill_value": -7},
        "cached": {"chunk_cache": 100000},
    }
    values = (np.arange(120).reshape(4, 5, 6) ** 1.7).astype("f4")
    for name, options in storage.items():
        v = file.createVariable(name, "f4", ("time", "y", "x"), **options)
        v[:] = values
        v.number = np.float64(1.5)
    for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "S1"):
        v = file.createVariable(f"of_{kind}", kind, ("x",))
        v[1:4] = np.array([1, 2, 3]).astype(kind)
        v.setncattr("same", np.array([65, 66]).astype(kind))
        file.createVariable(f"scalar_{kind}", kind, ())
    flat = file.createVariable("flat", "i4", ("y", "x"), contiguous=True)
    flat[2, :] = 5
    point = file.createCompoundType(np.dtype([("n", "i4"), ("pair", "f8", (2,)), ("b", "u1")], align=True), "point")
    inner = np.dtype([("at", point.dtype), ("w", "i2")], align=True)
    nested = file.createCompoundType(inner, "nest")
    colour = file.createEnumType(np.uint8, "colour", {"red": 0, "green": 7, "blue": 255})
    ints = file.createVLType(np.int32, "ints")
    p = file.createVariable("points", point, ("time",), zlib=True, chunksizes=(16,))
    n = file.createVariable("nested", nested, ("x",))
    c = file.createVariable("colours", colour, ("x",), fill_value=7)
    lists = file.createVariable("lists", ints, ("other",))
    words = file.createVariable("words", str, ("rows", "y"))
    p[:] = np.array([(1, (1.5, 2.5), 3), (4, (5.5, 6.5), 7)], point.dtype)
    n[2:4] = np.array([((1, (1.5, 2.5), 3), 9), ((4, (5.5, 6.5), 7), -9)], inner)
    c[:3] = [0, 7, 255]
    for i in range(4):
        lists[i] = np.arange(i * 3, dtype="i4")
    words[0] = np.array(["a", "bb", "", "grüße", "a rather longer text"], object)
    # The reference cannot read strings of chunks that were never written.
    words[1, 4] = "sparse"
    words[2, 2] = "alone"
    file.title = "writes"
    file.list = ["one", "two", "three"]
    file.setncattr_string("always", "a string")
    file.empty = ""
    file.numbers = np.arange(5, dtype="u8")
    g = file.createGroup("first/second")
    g.createDimension("z", 2)
    g.createVariable("deep", "f8", ("z", "time"), zlib=True)[:] = np.arange(8.0).reshape(2, 4)
    g.createVariable("z", "i4", ("z",))[:] = [3, 4]
    g.note = "below"
    file.createVariable("/third/v", "i2", ("x",))[:] = range(6)
    file.renameVariable("plain", "renamed")
    file.renameDimension("other", "another")
    file.renameAttribute("numbers", "counts")
    file.renameGroup("third", "last")
    refused("twice", lambda: file.createVariable("both", "i4"))
    refused("no dimension", lambda: file.createVariable("bad", "i4", ("nothing",)))

with netCDF4.Dataset("p4.nc", "a") as file:
    file["both"][5:7] = -values[:2]
    file["zipped"][1, 2, ::2] = 9
    file["lists"][6] = np.arange(2, dtype="i4")
    file["words"][1, :2] = np.array(["later", "on"], object)
    file["points"][3] = np.array((8, (9.5, 10.5), 11), file["points"].dtype)
    file["both"].units = "a text that is longer than anything before it, so that it moves"
    file["both"].delncattr("number")
    file.title = "edited"
    file.createVariable("first/late", "f8", ("time",), zlib=True, chunksizes=(9,))[2] = 2.5
    file.sync()
    print(file["both"][4:6, 1], file["words"][:], file["lists"][:], file["points"][:], file["colours"][:])
    print(file["groomed"][1], file["digits"][2, 1], file["rounded"][1], file["granular"][1])
    print(file["groomed"].quantization(), file["both"].filters(), file["both"].chunking(), file["big"].endian())

with netCDF4.Dataset("p7.nc", "w", format="NETCDF4_CLASSIC") as file:
    file.createDimension("time", None)
    file.createDimension("x", 6)
    v = file.createVariable("v", "i2", ("time", "x"), zlib=True, fill_value=-1, chunksizes=(3, 6))
    v.scale_factor = 0.5
    v.add_offset = 10.0
    v[:2] = np.arange(12).reshape(2, 6)
    refused("second", lambda: file.createDimension("second", None))
    refused("group", lambda: file.createGroup("g"))
    refused("i8", lambda: file.createVariable("w", "i8", ("x",)))
    refused("string", lambda: file.createVariable("w", str, ("x",)))
    file.title = "classic"
with netCDF4.Dataset("p7.nc", "a") as file:
    file["v"][4] = 12.5
    file.createVariable("c", "S1", ("x",))[:3] = np.array(list("abc"), "S1")
    file.renameVariable("v", "packed")
    print(file["packed"][:], file.data_model)

with netCDF4.Dataset("kept.nc", "w", diskless=True, persist=True) as file:
    file.createDimension("x", 3)
    file.createVariable("v", "i4", ("x",), zlib=True)[:] = [4, 5, 6]
made = netCDF4.Dataset("made", "w", memory=4096)
made.createDimension("x", 3)
made.createGroup("g").createVariable("v", "i4", ("x",))[:] = [1, 2, 3]
image = bytes(made.close())
if sys.argv[1:] == ["image"]:
    open("image.nc", "wb").write(image)
print(netCDF4.Dataset("again", memory=image)["g/v"][:])
