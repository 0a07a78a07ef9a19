"""References to chunks of files: makes files, and judges references of theirs with kerchunk, fsspec, zarr-python and xarray.

`make FOLDER`: files and stores of several formats; prints their names.
`kerchunk FILE OUT`: kerchunk's own references of a file.
`ranges OURS THEIRS`: each chunk that both have as a range is the same range, and neither has others.
`values FILE REFERENCES`: zarr-python reads the values of the file through fsspec.
`xarray FILE REFERENCES`: xarray gives the same variables of both.
`parquet REFERENCES OUT SIZE ENGINE`: fsspec's references in parquet, of those in JSON.
References are JSON, or a folder of parquet.
Several commands have `then` between them.
"""

import json
import pathlib
import sys

# `sparse.py` beside this file is not the package that xarray looks for.
sys.path.pop(0)

import h5py
import netCDF4
import numpy as np
import xarray
import zarr
from kerchunk.hdf import SingleHdf5ToZarr
from kerchunk.netCDF3 import NetCDF3ToZarr
from fsspec.implementations.reference import LazyReferenceMapper, ReferenceFileSystem
from kerchunk.utils import refs_as_store

zarr.config.set({"async.concurrency": 2})


def make_netcdf(path, form):
    with netCDF4.Dataset(path, "w", format=form) as file:
        file.title = "tides"
        file.createDimension("time", None)
        file.createDimension("y", 30)
        file.createDimension("x", 44)
        time = file.createVariable("time", "f8", ["time"])
        time.units = "days since 2000-01-01"
        height = file.createVariable("height", "f4", ["time", "y", "x"], fill_value=np.float32(-99))
        height.units = "m"
        count = file.createVariable("count", "i2", ["y", "x"])
        packed = file.createVariable("packed", "i2", ["time", "x"])
        packed.scale_factor = 0.25
        packed.add_offset = 10.0
        letters = file.createVariable("letters", "S1", ["x"])
        base = np.arange(30 * 44).reshape(30, 44)
        for step in range(3):
            time[step] = step + 0.5
            height[step] = base * (step + 1) / 8
            packed[step] = 10 + 0.25 * base[step]
        height[1, 2:4, 3] = np.ma.masked
        count[:] = base
        letters[:] = np.array([b"%c" % (65 + at % 26) for at in range(44)])


def make_hdf5(path):
    rng = np.random.default_rng(1)
    base = np.arange(60 * 70).reshape(60, 70)
    with h5py.File(path, "w", libver="v110") as file:
        file.attrs["title"] = "filters"
        plain = {"chunks": (17, 20)}
        file.create_dataset("plain", data=base.astype("i4"), **plain)
        file.create_dataset("big", data=base.astype(">f8"), **plain)
        file.create_dataset("gzip", data=base.astype("f4"), compression="gzip", **plain)
        file.create_dataset("shuffled", data=base, compression="gzip", shuffle=True, **plain)
        file.create_dataset("summed", data=base.astype("u2"), shuffle=True, fletcher32=True, **plain)
        file.create_dataset("lzf", data=base.astype("i4"), compression="lzf", **plain)
        file.create_dataset("contiguous", data=base.astype("i8"))
        file.create_dataset("noise", data=rng.integers(0, 256, (64, 64), "u1"), compression="gzip", chunks=(16, 16))
        part = file.create_dataset("part", (60, 70), "f4", chunks=(20, 20), fillvalue=7, compression="gzip")
        part[:20, 20:40] = base[:20, 20:40]
        file.create_dataset("never", (6, 7), "i4", chunks=(2, 3), fillvalue=3)
        file.create_dataset("flag", data=base[:4] % 2 == 0)
        file.create_dataset("texts", data=["a", "", "bé", "long text"], dtype=h5py.string_dtype())
        file.create_dataset("scalar", data=2.5)
        file.create_dataset("empty", (0, 3), "i4", maxshape=(None, 3), chunks=(4, 3))
        group = file.create_group("deep/er")
        group.create_dataset("inner", data=base.astype("i2"), compression="gzip", **plain)


def make_zarr(path, version):
    group = zarr.open_group(path, mode="w", zarr_format=version)
    base = np.arange(60 * 70).reshape(60, 70)
    def add(name, **how):
        array = group.create_array(name, shape=base.shape, dtype=how.pop("dtype", "i4"), chunks=(17, 20), **how)
        array[:] = base
        array.attrs["_ARRAY_DIMENSIONS"] = [name + "_y", name + "_x"]
    add("usual")
    add("raw", compressors=None)
    add("big", dtype=">i2")
    if version == 3:
        array = group.create_array("shards", shape=base.shape, dtype="f4", chunks=(10, 10), shards=(30, 40))
        array[:] = base


def make(folder):
    folder = pathlib.Path(folder)
    for form in ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF4"):
        name = form.lower() + ".nc"
        make_netcdf(folder / name, form)
        print(name)
    make_hdf5(folder / "filters.h5")
    print("filters.h5")
    for version in (2, 3):
        make_zarr(folder / f"store{version}.zarr", version)
        print(f"store{version}.zarr")


def kerchunk(path, out):
    with open(path, "rb") as file:
        is_classic = file.read(3) == b"CDF"
    if is_classic:
        references = NetCDF3ToZarr(path, inline_threshold=0).translate()
    else:
        references = SingleHdf5ToZarr(path, inline_threshold=0).translate()
    pathlib.Path(out).write_text(json.dumps(references))


def ranges_of(path):
    references = json.loads(pathlib.Path(path).read_text())["refs"]
    return {key: tuple(value[1:]) for key, value in references.items() if isinstance(value, list)}


def inline_keys(path):
    references = json.loads(pathlib.Path(path).read_text())["refs"]
    return {key for key, value in references.items() if not isinstance(value, list)}


def ranges(ours, theirs):
    mine, others = ranges_of(ours), ranges_of(theirs)
    assert mine, "no ranges"
    for key in sorted(set(mine) | set(others)):
        name = key.rsplit("/", 1)[0]
        if key in mine and key in others:
            assert mine[key] == others[key], (key, mine[key], others[key])
        elif key in mine:
            # Kerchunk leaves these out, or has them inline.
            assert key in inline_keys(theirs) or name + "/.zarray" not in inline_keys(theirs), (key, "ours alone")
        else:
            # We have the values of these inline.
            assert any(own.startswith(name + "/") for own in inline_keys(ours)), (key, "theirs alone")
    print(len(set(mine) & set(others)))


def parquet(references, out, size, engine):
    references = json.loads(pathlib.Path(references).read_text())["refs"]
    mapper = LazyReferenceMapper.create(out, record_size=int(size), engine=engine)
    for key in sorted(references):
        mapper[key] = references[key]
    mapper.flush()


def store_of(path):
    """The store that references make, and its keys of metadata."""
    path = pathlib.Path(path)
    if path.is_dir():
        files = ReferenceFileSystem(LazyReferenceMapper(str(path)), remote_protocol="file", asynchronous=True)
        keys = json.loads((path / ".zmetadata").read_text())["metadata"]
        return zarr.storage.FsspecStore(files, read_only=True, path=""), keys
    references = json.loads(path.read_text())
    return refs_as_store(references), references["refs"]


def opened(path):
    """The arrays of references by their paths. Groups are not listed: zarr-python finds no members of inner ones in this store."""
    store, keys = store_of(path)
    group = zarr.open_group(store, mode="r", zarr_format=2)
    names = [key.removesuffix("/.zarray") for key in keys if key.endswith("/.zarray")]
    return {name: group[name] for name in names}


def values_of(path):
    """The arrays of a file by their paths, undecoded."""
    path = str(path)
    if path.endswith(".zarr"):
        return {name: array[...] for name, array in zarr.open_group(path, mode="r").arrays()}
    if path.endswith(".h5"):
        found = {}
        def visit(name, item):
            if isinstance(item, h5py.Dataset):
                found[name] = item.asstr()[...] if h5py.check_string_dtype(item.dtype) else item[...]
        with h5py.File(path) as file:
            file.visititems(visit)
        return found
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        file.set_auto_chartostring(False)
        return {name: np.asarray(variable[...]) for name, variable in file.variables.items()}


def values(path, references):
    wanted, found = values_of(path), opened(references)
    assert set(wanted) == set(found), (sorted(wanted), sorted(found))
    for name, array in found.items():
        read = np.asarray(array[...])
        assert read.shape == wanted[name].shape, (name, read.shape, wanted[name].shape)
        assert np.array_equal(read, wanted[name], equal_nan=read.dtype.kind == "f"), (name, read, wanted[name])
        # Booleans of HDF5 are an enumeration, whose numbers references have.
        if read.dtype.kind not in "OT" and wanted[name].dtype != bool:
            assert read.dtype.newbyteorder("=") == wanted[name].dtype.newbyteorder("="), (name, read.dtype)
    print(len(found))


def with_xarray(path, references):
    store, _ = store_of(references)
    with xarray.open_dataset(path, engine="netcdf4") as wanted, xarray.open_zarr(store, consolidated=False, zarr_format=2) as found:
        assert set(wanted.variables) == set(found.variables)
        for name in wanted.variables:
            xarray.testing.assert_equal(wanted[name].variable, found[name].variable)
            assert wanted[name].dtype == found[name].dtype, (name, wanted[name].dtype, found[name].dtype)


COMMANDS = {"make": make, "kerchunk": kerchunk, "parquet": parquet, "ranges": ranges, "values": values, "xarray": with_xarray}

if __name__ == "__main__":
    # Several commands take one process, since its start takes the most time.
    for words in " ".join(sys.argv[1:]).split(" then "):
        command, *arguments = words.split(" ")
        COMMANDS[command](*arguments)
