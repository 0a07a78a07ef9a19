"""The bench through zarr-python, with its own pipeline or that of zarrs, through tensorstore, and through netCDF-C by netCDF4-python.

make KIND FROM TO: a store of the variable of a file, or of many small things. Else LIBRARY WORKLOAD STORE: does the work, prints the
seconds. Writing takes the values of the netCDF-4 file that is named in place of the store.
"""

import os
import sys
import time

import numpy as np
import zarr
from zarr.codecs import BloscCodec, ZstdCodec

TIMES = 24


def options(kind, shape):
    """Returns how zarr-python makes the array of a kind of store."""
    version = 2 if kind.endswith("2") else 3
    made = {"chunks": (TIMES, shape[1] // 4, shape[2] // 4)}
    if kind.startswith("blosc"):
        # Like the default of numcodecs.
        made["compressors"] = BloscCodec(cname="lz4", clevel=5, shuffle="shuffle", typesize=4) if version == 3 else zarr_v2_blosc()
    else:
        made["compressors"] = ZstdCodec(level=3) if version == 3 else zarr_v2_zstd()
    if kind.startswith("shard"):
        made["shards"] = (TIMES, *shape[1:])
    return made


def zarr_v2_blosc():
    from numcodecs import Blosc

    return Blosc(cname="lz4", clevel=5, shuffle=Blosc.SHUFFLE)


def zarr_v2_zstd():
    from numcodecs import Zstd

    return Zstd(level=3)


def make(kind, source, target):
    import h5py

    if kind in ("tiny3", "many3", "manyu3"):
        group = zarr.create_group(target, zarr_format=3)
        if kind == "tiny3":
            made = group.create_array("v", shape=(100_000, 10), chunks=(1, 10), dtype="f4", compressors=ZstdCodec(level=1))
            made[...] = np.arange(1_000_000, dtype="f4").reshape(100_000, 10) * 0.5
            return
        for number in range(1000):
            attributes = {f"attribute_{at}": "some text here" if at % 2 else at + 0.5 for at in range(10)}
            name = f"variable_{number}"
            made = group.create_array(name, shape=(4,), dtype="f8", dimension_names=["x"], attributes=attributes)
            made[...] = [1, 2, 3, 4]
        if kind == "many3":
            zarr.consolidate_metadata(target)
        return
    with h5py.File(source) as file:
        var = file["v"]
        if kind in NETCDF_C:
            made = create_by_netcdf_c(target, NETCDF_C[kind], var)
            for at in range(0, len(var), TIMES):
                made[at : at + TIMES] = var[at : at + TIMES]
            made.group().close()
            return
        group = zarr.create_group(target, zarr_format=2 if kind.endswith("2") else 3)
        made = group.create_array("v", shape=var.shape, dtype=var.dtype, **options(kind, var.shape))
        for at in range(0, len(var), TIMES):
            made[at : at + TIMES] = var[at : at + TIMES]


# Stores that netCDF-C makes, and how netCDF4-python asks for them. Its wheel brings the codecs, which Debian's netCDF-C does not have.
NETCDF_C = {"deflate2": {"zlib": True, "complevel": 4, "shuffle": True}, "plain2": {}}


def url_for_netcdf_c(path):
    return f"file://{os.path.abspath(path)}#mode=zarr,file"


def create_by_netcdf_c(target, storage, like):
    import netCDF4

    file = netCDF4.Dataset(url_for_netcdf_c(target), "w")
    for name, size in zip(("time", "lat", "lon"), like.shape):
        file.createDimension(name, size)
    dimensions, chunks = tuple(file.dimensions), (TIMES, like.shape[1] // 4, like.shape[2] // 4)
    return file.createVariable("v", "f4", dimensions, chunksizes=chunks, fill_value=False, **storage)


class Zarr:
    def open(self, path):
        return zarr.open_array(path + "/v", mode="r")

    def read(self, array, selection):
        return array[selection]

    def create(self, path, kind, shape):
        group = zarr.create_group(path, zarr_format=2 if kind.endswith("2") else 3)
        return group.create_array("v", shape=shape, dtype="f4", **options(kind, shape))

    def write(self, array, selection, values):
        array[selection] = values


class Tensorstore:
    def open(self, path):
        import tensorstore

        driver = "zarr3" if os.path.exists(path + "/v/zarr.json") else "zarr"
        kvstore = {"driver": "file", "path": path + "/v/"}
        return tensorstore.open({"driver": driver, "kvstore": kvstore}, read=True).result()

    def read(self, array, selection):
        return array[selection].read().result()

    def create(self, path, kind, shape):
        import tensorstore

        # The metadata of zarr-python, so that both do the same.
        Zarr().create(path, kind, shape)
        kvstore = {"driver": "file", "path": path + "/v/"}
        return tensorstore.open({"driver": "zarr3", "kvstore": kvstore}, read=True, write=True).result()

    def write(self, array, selection, values):
        array[selection].write(values).result()


class NetcdfC:
    def open(self, path):
        import netCDF4

        file = netCDF4.Dataset(url_for_netcdf_c(path))
        # The elements as they are stored.
        file.set_auto_maskandscale(False)
        return file["v"]

    def read(self, array, selection):
        return array[selection]


def work(library, workload, path):
    """Does the work of a workload, and returns the seconds."""
    if workload.startswith("write-"):
        import h5py

        with h5py.File(path) as file:
            values = file["v"][...]
        start = time.perf_counter()
        array = library.create(path + ".zarr.made", workload.removeprefix("write-"), values.shape)
        for at in range(0, len(values), TIMES):
            library.write(array, np.s_[at : at + TIMES], values[at : at + TIMES])
        return time.perf_counter() - start
    if workload == "open":
        start = time.perf_counter()
        group = zarr.open_group(path, mode="r")
        members = dict(group.members())
        spent = time.perf_counter() - start
        assert len(members) == 1000
        return spent
    array = library.open(path)
    shape = array.shape
    parts = {
        "read-fresh": [np.s_[...]],
        "read-slabs": [np.s_[at : at + TIMES] for at in range(0, shape[0], TIMES)],
        "read-step": [np.s_[100]],
        "read-point": [np.s_[:, 300, 700]] if len(shape) == 3 else [],
    }[workload]
    start = time.perf_counter()
    for selection in parts:
        library.read(array, selection)
    return time.perf_counter() - start


if sys.argv[1] == "make":
    make(*sys.argv[2:])
else:
    if sys.argv[1] == "zarrs":
        zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})
    library = {"tensorstore": Tensorstore, "netcdf-c": NetcdfC}.get(sys.argv[1], Zarr)()
    print(f"{work(library, *sys.argv[2:]):.6f}")
