"""Our filters in other programs: h5py and netCDF4 with no plugins but those that HDF5_PLUGIN_PATH names.

`our_filters.py write FOLDER`: `plain.h5`, and a file for each filter with the same dataset, packed.
`our_filters.py write-varying FOLDER`: text and lists of any length, as they are and under filters that learn sizes.
`our_filters.py read FOLDER NAMES...`: the variables of these netCDF-4 files are those of `plain.nc`.
`our_filters.py broken FOLDER`: chunks that are no chunks end in an error that says why.
`our_filters.py zarr-write FOLDER`: NCZarr of netCDF-C with zstd, blosc and bzip2.
`our_filters.py zarr-read FOLDER`: the same, read.
`our_filters.py two FOLDER`: h5py and netCDF4 bring a libhdf5 each, and blosc asks each for its own datasets.
"""

import os
import sys

import numpy as np

FILTERS = {
    "zstd": (32015, (5,)),
    "zstd_fast": (32015, (2**32 - 7,)),
    "blosc": (32001, (0, 0, 0, 0, 7, 2, 5)),
    "blosc_as_it_is": (32001, ()),
    "bzip2": (307, (9,)),
    "lz4": (32004, (1024,)),
    "bitshuffle": (32008, (0, 2)),
    "bitshuffle_zstd": (32008, (0, 3, 5)),
    "bitshuffle_only": (32008, ()),
}
# As HDF5 must have stored them, with what the filters learned of the data.
STORED = {
    "blosc": (0, 0, 4, 8000, 7, 2, 5),
    "blosc_as_it_is": (0, 0, 4, 8000),
    "bitshuffle": (0, 4, 4, 0, 2),
    "bitshuffle_zstd": (0, 4, 4, 0, 3, 5),
    "bitshuffle_only": (0, 4, 4),
}
DATA = (np.arange(150 * 130).reshape(150, 130) // 7).astype("<f4")
ZARR = {
    "zstd": {"compression": "zstd", "complevel": 5},
    "blosc": {"compression": "blosc_lz4", "complevel": 5, "blosc_shuffle": 1},
    "bzip2": {"compression": "bzip2", "complevel": 7},
}


def write(folder):
    import h5py

    def make(name, **how):
        with h5py.File(f"{folder}/{name}.h5", "w") as file:
            file.create_dataset("v", data=DATA, chunks=(50, 40), **how)

    make("plain")
    for name, (number, params) in FILTERS.items():
        make(name, compression=number, compression_opts=params)
        with h5py.File(f"{folder}/{name}.h5") as file:
            stored = file["v"]._filters[str(number)]
            assert stored == STORED.get(name, params), f"{name}: {stored}"
            size = file["v"].id.get_storage_size()
            # Only shuffled bits take as much room as before; the last chunks have the size of the others.
            assert name == "bitshuffle_only" or size < DATA.nbytes / 1.1, f"{name}: {size} bytes"
            assert (file["v"][()] == DATA).all(), name
    for number, params in [(32001, (0, 0, 0, 0, 50)), (32008, (7, 2))]:
        try:
            make("wrong", compression=number, compression_opts=params)
        except ValueError:
            continue
        raise AssertionError(f"{number} with {params} is taken")


def write_varying(folder):
    import h5py
    import netCDF4

    text = np.array([f"{at} of them, " * (at % 5) for at in range(300)], object)
    lists = np.array([None] * 300, object)
    lists[:] = [np.arange(at % 9, dtype="<i4") * at for at in range(300)]

    def of_hdf5(name, **how):
        with h5py.File(f"{folder}/{name}.h5", "w") as file:
            file.create_dataset("text", data=text, dtype=h5py.string_dtype(), chunks=(70,), **how)
            file.create_dataset("lists", data=lists, dtype=h5py.vlen_dtype("<i4"), chunks=(70,), **how)

    def of_netcdf(name, **how):
        with netCDF4.Dataset(f"{folder}/{name}.h5", "w") as file:
            file.createDimension("x", 300)
            kinds = {"text": str, "lists": file.createVLType("<i4", "some")}
            for variable, values in {"text": text, "lists": lists}.items():
                made = file.createVariable(variable, kinds[variable], ("x",), chunksizes=(70,), **how)
                made[:] = values

    # h5py lets filters learn nothing of such data, netCDF does.
    of_hdf5("varying")
    for name in ["blosc", "blosc_as_it_is"]:
        number, params = FILTERS[name]
        of_hdf5(f"varying_{name}", compression=number, compression_opts=params)
    of_netcdf("varying_of_netcdf", zlib=False)
    of_netcdf("varying_of_netcdf_blosc", shuffle=False, **ZARR["blosc"])
    with h5py.File(f"{folder}/varying_of_netcdf_blosc.h5") as file:
        for variable in ["text", "lists"]:
            # The size of what says where a value is, and of a chunk of it.
            assert file[variable]._filters == {"32001": (0, 0, 16, 16 * 70, 5, 1, 1)}, file[variable]._filters
    for name in ["blosc", "blosc_as_it_is", "of_netcdf_blosc"]:
        with h5py.File(f"{folder}/varying_{name}.h5") as file:
            for variable in ["text", "lists"]:
                first = file[variable].id.get_chunk_info(0)
                assert (first.filter_mask, first.size < 16 * 70) == (0, True), f"{name}: {variable}: {first}"
            assert [part.decode() for part in file["text"][()]] == list(text), name
            assert all((ours == theirs).all() for ours, theirs in zip(file["lists"][()], lists)), name


def read(folder, names):
    import h5py

    with h5py.File(f"{folder}/plain.nc") as plain:
        variables = {name: plain[name][()] for name in plain}
    for name in names:
        with h5py.File(f"{folder}/{name}") as file:
            assert set(file) == set(variables), name
            for variable, values in variables.items():
                assert file[variable][()].tobytes() == values.tobytes(), f"{name}: {variable}"


def broken(folder):
    import h5py

    with h5py.File(f"{folder}/broken.h5", "w") as file:
        for name, (number, params) in FILTERS.items():
            if name != "bitshuffle_only":
                data = file.create_dataset(
                    name, (500,), "<f4", chunks=(500,), compression=number, compression_opts=params
                )
                data.id.write_direct_chunk((0,), b"\0\1not what any filter makes" * 9)
    with h5py.File(f"{folder}/broken.h5") as file:
        for name in file:
            try:
                values = file[name][()]
            except OSError:
                continue
            raise AssertionError(f"{name}: {values[:5]}")


def zarr(folder, mode):
    import netCDF4

    file = netCDF4.Dataset(f"file://{folder}/zarr#mode=nczarr,file", mode)
    if mode == "w":
        file.createDimension("y", 150)
        file.createDimension("x", 130)
        for name, how in ZARR.items():
            variable = file.createVariable(name, "f4", ("y", "x"), chunksizes=(50, 40), shuffle=False, **how)
            variable[:] = DATA
    else:
        for name in ZARR:
            assert (file[name][:] == DATA).all(), name
    # Said before the plugins are unloaded.
    if "ferrocdf" in os.environ.get("HDF5_PLUGIN_PATH", ""):
        with open("/proc/self/maps") as maps:
            assert "libferrocdf_zstd" in maps.read(), "it has other filters"
    file.close()


def two(folder):
    import h5py
    import netCDF4

    with open("/proc/self/maps") as maps:
        libraries = {line.split()[-1] for line in maps if "/libhdf5-" in line}
    assert len(libraries) == 2, f"{libraries}: the wheels have changed, and this shows nothing any more"
    with netCDF4.Dataset(f"{folder}/of_netcdf.nc", "w") as file:
        file.createDimension("y", 150)
        file.createDimension("x", 130)
        how = {"chunksizes": (50, 40), "shuffle": False, **ZARR["blosc"]}
        file.createVariable("v", "f4", ("y", "x"), **how)[:] = DATA
    with h5py.File(f"{folder}/of_h5py.h5", "w") as file:
        file.create_dataset("v", data=DATA, chunks=(30, 20), compression=32001)
        assert file["v"]._filters == {"32001": (0, 0, 4, 2400)}, file["v"]._filters
    with h5py.File(f"{folder}/of_netcdf.nc") as file:
        assert file["v"]._filters == {"32001": (0, 0, 4, 8000, 5, 1, 1)}, file["v"]._filters
        assert (file["v"][()] == DATA).all()


match sys.argv[1:]:
    case ["write", folder]:
        write(folder)
    case ["write-varying", folder]:
        write_varying(folder)
    case ["read", folder, *names]:
        read(folder, names)
    case ["broken", folder]:
        broken(folder)
    case ["zarr-write", folder]:
        zarr(folder, "w")
    case ["zarr-read", folder]:
        zarr(folder, "r")
    case ["two", folder]:
        two(folder)
    case other:
        sys.exit(f"{other}?")
