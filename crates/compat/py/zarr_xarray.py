"""Random datasets that xarray writes to Zarr stores, in folders, in zip files and in a bucket, copied to netCDF-4 files by `nccopy`.

Arguments: the folder of ferrocdf's tools, a folder for files, the first seed, the number of datasets, and a bucket, if stores are to be
there; the environment says where S3 is. Prints the number of variables that were compared.
"""

import pathlib
import random
import shutil
import subprocess
import sys
import warnings

import netCDF4
import numpy as np
import xarray
import zarr

import zarr_s3_store
from zarr_files import all_groups, check, make, same, same_attribute, values_of

warnings.simplefilter("ignore")


def store_of(place, path, bucket):
    """Returns a store of zarr-python for a place, and the name that ferrocdf has for it."""
    if place == "bucket":
        return zarr_s3_store.of_zarr(bucket, path.stem), f"s3://{bucket}/{path.stem}"
    if place == "zip":
        packed = path.with_suffix(".zip")
        return zarr.storage.ZipStore(packed, mode="w"), packed
    return str(path.with_suffix(".zarr")), path.with_suffix(".zarr")


def dataset_of(group):
    """Returns a group as a dataset of xarray. Xarray would open the file itself, and close it in a thread of zarr-python."""
    variables = {}
    for name, var in group.variables.items():
        var.set_auto_maskandscale(False)
        var.set_auto_chartostring(False)
        variables[name] = (var.dimensions, values_of(var), {key: var.getncattr(key) for key in var.ncattrs()})
    return xarray.Dataset(variables, attrs={key: group.getncattr(key) for key in group.ncattrs()})


def write(given, store, version, consolidated):
    """Writes each group that has variables. Returns the paths of these groups."""
    written, mode = [], "w-"
    for name, group in all_groups(given):
        if group.variables:
            dataset_of(group).to_zarr(store, group=name.rstrip("/") or None, mode=mode, consolidated=consolidated, zarr_format=version)
            written.append(name)
            mode = "a"
    return written


def compare(given, found, groups):
    """Compares groups of two netCDF files. Returns the number of variables."""
    count = 0
    for path in groups:
        group = given[path.rstrip("/")] if path else given
        other = found[path.rstrip("/")] if path else found
        compare_attributes(group, other, path)
        check(set(group.variables) == set(other.variables), path, list(other.variables))
        for name, var in group.variables.items():
            compare_variable(f"{path}{name}", var, other.variables[name])
            count += 1
    return count


def compare_attributes(given, found, path):
    for name in given.ncattrs():
        if name == "_FillValue" and (given.dtype == np.dtype("S1") or same(given._FillValue, netCDF4.default_fillvals[given.dtype.str[1:]])):
            # Version 2 has it in `fill_value` alone, which is no attribute where it is text or netCDF's default.
            continue
        check(name in found.ncattrs(), path, name, found.ncattrs())
        value, other = given.getncattr(name), found.getncattr(name)
        if isinstance(other, np.ndarray):
            other = other.tolist()
        check(same_attribute(value, other), path, name, value, other)


def compare_variable(path, var, other):
    for one in (var, other):
        one.set_auto_maskandscale(False)
        one.set_auto_chartostring(False)
    check(var.dimensions == other.dimensions, path, other.dimensions)
    is_char = var.dtype == np.dtype("S1")
    if is_char:
        # xarray takes its letters for texts of one byte.
        wanted = np.array([letter.decode() for letter in values_of(var).reshape(-1)], dtype=object).reshape(var.shape)
        check(same(np.asarray(values_of(other), dtype=object), wanted), path, values_of(other), wanted)
    elif var.dtype is str and not var.size:
        # xarray makes numbers of no text at all.
        check(other.size == 0, path, other.shape)
    else:
        check(np.dtype(var.dtype).newbyteorder("=") == np.dtype(other.dtype).newbyteorder("="), path, var.dtype, other.dtype)
        check(same(values_of(var), values_of(other)), path, "values", values_of(var), values_of(other))
    compare_attributes(var, other, path)


def judge(seed, tools, path, bucket):
    rng = random.Random(seed)
    place, version = rng.choice(["folder", "zip"] + ["bucket"] * (bucket is not None)), rng.choice([2, 3])
    make(path, seed)
    with netCDF4.Dataset(path) as given:
        store, name = store_of(place, path, bucket)
        # A zip file has each object once, so that metadata is not put together after each group.
        groups = write(given, store, version, place != "zip" and rng.random() < 0.5)
        if place == "zip":
            store.close()
        back = path.with_suffix(".copy.nc")
        subprocess.run([tools / "nccopy", "-M0", "-k", "nc4", name, back], check=True)
        with netCDF4.Dataset(back) as found:
            return compare(given, found, groups)


def main():
    tools, folder, first, count = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    compared = 0
    for seed in range(first, first + count):
        own = folder / f"x{seed}"
        own.mkdir()
        try:
            compared += judge(seed, tools, own / f"x{seed}.nc", sys.argv[5] if len(sys.argv) > 5 else None)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        shutil.rmtree(own)
    print(compared)
    check(compared > count, "variables that were compared", compared)


main()
