"""Files packed by each filter plugin of hdf5plugin, and what h5py makes of files that we packed with it.

plugins.py make FOLDER: writes a file for each filter, its settings and a kind of numbers; each has three datasets: `source`
as it is, `packed` by the filter, and `plain`, what h5py reads back from `packed`. Prints a line for each: the path, and the
filter with the parameters it was asked for.
plugins.py half FILE: `v`, half-precision numbers packed by a filter that learns of its data; netCDF has no type like that.
plugins.py judge FILE...: files whose `source` somebody has packed: prints whether h5py reads there what `plain` holds.
plugins.py path: prints the folder of the plugins. plugins.py netcdf: that of the ones in the wheel of netCDF4.
"""

import sys

import h5py
import hdf5plugin
import numpy as np

SHAPE = (200, 250)
# What lies beyond the border of an array is part of a chunk: a filter that loses something spreads it, and others fill
# the border with other values.
CHUNK, LOSSY_CHUNK = (100, 150), (100, 125)
LOSSY = {"sperr", "sz", "sz3", "zfp"}
WHOLE = ["i1", "u2", "<i4", ">i4", "i8", "f4", ">f8"]
FLOATS = ["f4", "f8"]
SETTINGS = [
    (hdf5plugin.Bitshuffle(), WHOLE),
    (hdf5plugin.Bitshuffle(cname="none"), ["i4", "f8"]),
    (hdf5plugin.Bitshuffle(nelems=64, cname="zstd", clevel=4), ["u2", "f4"]),
    *((hdf5plugin.Blosc(cname=name), ["i2", "f8"]) for name in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]),
    (hdf5plugin.Blosc(cname="zstd", clevel=9, shuffle=hdf5plugin.Blosc.BITSHUFFLE), WHOLE),
    (hdf5plugin.Blosc(cname="lz4", clevel=3, shuffle=hdf5plugin.Blosc.NOSHUFFLE), ["i1", "f4"]),
    *((hdf5plugin.Blosc2(cname=name), ["i2", "f8"]) for name in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]),
    (hdf5plugin.Blosc2(cname="zstd", filters=hdf5plugin.Blosc2.BITSHUFFLE), WHOLE),
    (hdf5plugin.BZip2(blocksize=3), WHOLE),
    (hdf5plugin.FciDecomp(), ["u1", "u2"]),
    (hdf5plugin.Htj2k(), ["u1", "i2", "u2"]),
    (hdf5plugin.LZ4(), WHOLE),
    (hdf5plugin.LZ4(nbytes=512), ["i4"]),
    (hdf5plugin.Sperr(rate=16), FLOATS),
    (hdf5plugin.Sperr(absolute=1e-3), FLOATS),
    (hdf5plugin.SZ(absolute=1e-3), FLOATS),
    (hdf5plugin.SZ(relative=1e-3), FLOATS),
    (hdf5plugin.SZ3(absolute=1e-3), FLOATS),
    (hdf5plugin.SZ3(relative=1e-4), ["f8"]),
    (hdf5plugin.Zfp(), FLOATS),
    (hdf5plugin.Zfp(reversible=True), ["i4", "i8", "f4", "f8"]),
    (hdf5plugin.Zfp(rate=12), FLOATS),
    (hdf5plugin.Zfp(accuracy=1e-3), [">f4", "f8"]),
    (hdf5plugin.Zfp(precision=14), FLOATS),
    (hdf5plugin.Zstd(), WHOLE),
    (hdf5plugin.Zstd(clevel=19), ["f8"]),
]


def numbers(dtype):
    """Numbers that are smooth with a little noise, as measured fields are."""
    dtype = np.dtype(dtype)
    rows, columns = np.mgrid[: SHAPE[0], : SHAPE[1]]
    noise = np.random.default_rng(7).random(SHAPE)
    field = 30 * np.sin(rows / 9) * np.cos(columns / 7) + 40 + noise
    return field.astype(dtype)


def make(folder):
    for number, (setting, kinds) in enumerate(SETTINGS):
        for kind in kinds:
            path = f"{folder}/{number}-{setting.filter_name}-{kind.replace('>', 'b').replace('<', 'l')}.h5"
            with h5py.File(path, "w") as file:
                source, chunk = numbers(kind), LOSSY_CHUNK if setting.filter_name in LOSSY else CHUNK
                file.create_dataset("source", data=source, chunks=chunk)
                file.create_dataset("packed", data=source, chunks=chunk, **setting)
            with h5py.File(path, "a") as file:
                file.create_dataset("plain", data=file["packed"][:], chunks=chunk)
            print(path, ",".join(map(str, (setting.filter_id, *setting.filter_options))))


def judge(paths):
    for path in paths:
        with h5py.File(path) as file:
            packed, plain = file["source"], file["plain"]
            steps = packed.id.get_create_plist().get_nfilters()
            same = packed.dtype == plain.dtype and packed[:].tobytes() == plain[:].tobytes()
            first = packed[:].ravel()[:4], plain[:].ravel()[:4]
            print("same" if same and steps == 1 else f"other: {steps} filters, {packed.dtype}, {first}")


match sys.argv[1:]:
    case ["make", folder]:
        make(folder)
    case ["half", path]:
        with h5py.File(path, "w") as file:
            file.create_dataset("v", data=numbers("f2"), chunks=CHUNK, **hdf5plugin.FciDecomp())
    case ["path"]:
        print(hdf5plugin.PLUGINS_PATH)
    case ["netcdf"]:
        import netCDF4

        print(f"{netCDF4.__path__[0]}/plugins")
    case ["judge", *paths]:
        judge(paths)
