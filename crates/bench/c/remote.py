"""The remote workloads of peers. WORKLOAD PEER URL prints the seconds; make-WHAT [FROM] TO makes a file.

Peers: h5py (with fsspec), netcdf (netCDF-C with #mode=bytes).
"""

import sys
import time


def h5py_file(url):
    import fsspec
    import h5py

    return h5py.File(fsspec.filesystem("http").open(url), "r")


def netcdf_file(url):
    import netCDF4

    return netCDF4.Dataset(url + "#mode=bytes")


def header(file, names, attributes):
    for name in names:
        for attribute in attributes(file[name]):
            attribute[1]


def cut(var, work):
    if work == "step":
        return var[100]
    if work == "point":
        return var[:, 300, 700]
    return var[...]


def largest(variables):
    return max(variables, key=lambda var: len(var.shape))


def run(work, peer, url):
    if peer == "h5py":
        import h5py

        file = h5py_file(url)
        variables = [item for item in file.values() if isinstance(item, h5py.Dataset)]
        attributes = lambda var: [value for value in var.attrs.values()]
    else:
        file = netcdf_file(url)
        file.set_auto_maskandscale(False)
        variables = list(file.variables.values())
        attributes = lambda var: [var.getncattr(name) for name in var.ncattrs()]
    if work == "header":
        return sum(len(attributes(var)) for var in variables)
    if work == "record-of-each":
        return [var[7] for var in variables]
    return cut(largest(variables), work)


if sys.argv[1] == "make-paged":
    import subprocess

    subprocess.run(["h5repack", "-S", "PAGE", "-G", "1048576", *sys.argv[2:]], check=True)
elif sys.argv[1] == "make-scattered":
    import h5py
    import numpy

    # Metadata lies between a megabyte of each variable's data.
    with h5py.File(sys.argv[2], "w") as new:
        for number in range(100):
            made = new.create_dataset(f"variable_{number}", data=numpy.full(1 << 17, number, "f8"))
            for attribute in range(10):
                value = "some text here" if attribute % 2 else attribute + 0.5
                made.attrs[f"attribute_{attribute}"] = value
elif sys.argv[1] in ("make-chunks", "make-steps"):
    import h5py

    # Chunks of a megabyte: a part of a time step, or a box of eight.
    packed = sys.argv[1] == "make-steps"
    chunks, filters = ((8, 180, 180), {"compression": 4, "shuffle": True}) if packed else ((1, 720, 360), {})
    with h5py.File(sys.argv[2]) as old, h5py.File(sys.argv[3], "w", libver="latest") as new:
        var = old["v"]
        made = new.create_dataset("v", var.shape, var.dtype, chunks=chunks, **filters)
        for at in range(0, len(var), 24):
            made[at : at + 24] = var[at : at + 24]
else:
    if sys.argv[2] == "h5py":
        import fsspec, h5py, aiohttp
    else:
        import netCDF4
    start = time.perf_counter()
    run(*sys.argv[1:])
    print(f"{time.perf_counter() - start:.6f}")
