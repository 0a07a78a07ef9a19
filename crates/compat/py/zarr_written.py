"""Random netCDF-4 files, copied to Zarr stores by `nccopy`, and judged by zarr-python 3 and 2, tensorstore, zarrs, xarray and
netCDF-C.

Arguments: nccopy, a folder for the files, the first seed, the number of files. `FERROCDF_ZARR2_PYTHON` names a Python with
zarr-python 2. Prints the numbers of variables that were compared.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import warnings
import zipfile

import netCDF4
import numpy as np
import tensorstore
import xarray
import zarr
from zarrs.pipeline import UnsupportedDataTypeError, UnsupportedMetadataError
from zarrs.utils import FillValueNoneError

from zarr_files import all_groups, check, compare_with_netcdf, compare_with_zarr, make, same, values_of

KINDS = ["nczarr3", "nczarr2", "zarr3", "zarr2"]

warnings.simplefilter("error")
# Releases before 3.2 say this of every codec of numcodecs.
warnings.filterwarnings("ignore", message="Numcodecs codecs are not in the Zarr version 3")
# Of all strings, until their data type is in the specification.
warnings.filterwarnings("ignore", message=".*does not have a Zarr V3 specification.*")


# Number of arrays that each judge could read.
JUDGED = {"tensorstore": 0, "zarrs": 0, "zarr-python 2": 0}


def read_with_tensorstore(store, path, kind):
    """The values that tensorstore reads; `None` if it does not know a codec or a filter."""
    driver = "zarr3" if kind.endswith("3") else "zarr"
    spec = {"driver": driver, "kvstore": {"driver": "file", "path": f"{store}/{path}/"}}
    try:
        return tensorstore.open(spec, read=True).result().read().result()
    except ValueError as error:
        if any(word in str(error) for word in ['"codecs"', '"filters"', '"compressor"', "codec"]):
            return None
        raise


def read_with_zarrs(store, path, kind):
    """The values that zarr-python reads through the codecs of zarrs; `None` if these do not know a codec."""
    with zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline", "codec_pipeline.strict": True}):
        try:
            return zarr.open_array(f"{store}/{path}", mode="r")[...]
        except (UnsupportedDataTypeError, UnsupportedMetadataError, FillValueNoneError):
            return None
        except Exception as error:
            if str(error).endswith("not supported"):
                return None
            raise


def open_store(store, kind):
    root = zarr.open_group(store, mode="r")
    check(root.metadata.zarr_format == int(kind[-1]), "the version")
    check(root.metadata.consolidated_metadata is not None, "no consolidated metadata")
    return root


def judge_by_others(store, kind):
    """Returns a function that compares an array with what tensorstore and zarrs read."""

    def judge(path, found):
        for name, read in [("tensorstore", read_with_tensorstore), ("zarrs", read_with_zarrs)]:
            other = read(store, path, kind)
            JUDGED[name] += other is not None
            check(other is None or same(other, found), name, kind, path, "values", other, found)

    return judge


class Zarr2:
    """A process with zarr-python 2, which compares stores with files."""

    def __init__(self):
        script = pathlib.Path(__file__).with_name("zarr2_read.py")
        self.process = subprocess.Popen([os.environ["FERROCDF_ZARR2_PYTHON"], script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def compare(self, path, store, kind):
        self.process.stdin.write(f"{path}\t{store}\t{kind}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        check(answer.isdigit(), "zarr-python 2", answer)
        JUDGED["zarr-python 2"] += int(answer)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def compare_with_xarray(given, store, kind):
    """Xarray opens each group, and has the same variables, dimensions and values."""
    for path, group in all_groups(given):
        if not group.variables:
            continue
        with xarray.open_zarr(store, group=path.rstrip("/") or None, decode_cf=False, chunks=None) as found:
            check(set(found.variables) == set(group.variables), kind, "xarray", path, list(found.variables))
            for name, var in group.variables.items():
                if kind == "nczarr2" and not var.shape:
                    continue
                check(found[name].dims == var.dimensions, kind, "xarray", path, name, found[name].dims)
                if var.dtype is not str and var.dtype != np.dtype("S1"):
                    check(same(found[name].values, values_of(var)), kind, "xarray", path, name)
        # Also with scales, fill values and times.
        with xarray.open_zarr(store, group=path.rstrip("/") or None, decode_times=False, chunks=None) as found:
            found.load()


def compare_with_zip(given, copy, store, kind):
    """Copies a file to a store in a zip file, which must hold the objects of its copy in a folder, for Python and for zarr-python."""
    packed, extracted = store.with_suffix(".zip"), store.with_suffix(".extracted")
    subprocess.run([*copy, packed], check=True)
    with zipfile.ZipFile(packed) as members:
        check(members.testzip() is None, "the checksums of", packed)
        members.extractall(extracted)
        found = set(members.namelist())
    wanted = {str(path.relative_to(store)) for path in store.rglob("*") if path.is_file()}
    check(found == wanted, "objects in a zip file", found ^ wanted)
    with zarr.storage.ZipStore(packed, mode="r") as opened:
        count = compare_with_zarr(given, open_store(opened, kind), kind)
    shutil.rmtree(extracted)
    return count


def judge_kind(seed, path, given, kind, nccopy, zarr2):
    """Copies a file to stores of a kind, in a folder and in a zip file, and has them judged. Returns the number of arrays."""
    store = path.with_name(f"{seed}-{kind}.zarr")
    # HDF5 fails where blosc does not make a chunk smaller, so that it is only in the copy.
    blosc = kind.startswith("zarr") and seed % 4 == 0
    filters = ["-F", f"*,32001,0,0,0,0,5,{seed % 3},{seed % 6}"] if blosc else []
    copy = [nccopy, "-M0", "-k", kind, *filters, path]
    subprocess.run([*copy, store], check=True)
    compared = compare_with_zarr(given, open_store(str(store), kind), kind, judge_by_others(store, kind))
    compare_with_xarray(given, str(store), kind)
    compared += compare_with_zip(given, copy, store, kind)
    if kind.endswith("2"):
        zarr2.compare(path, store, kind)
        zarr2.compare(path, store.with_suffix(".zip"), kind)
    if kind == "nczarr2":
        with netCDF4.Dataset(f"file://{store}#mode=nczarr,file") as found:
            compare_with_netcdf(given, found, "netCDF-C")
    if kind.startswith("nczarr"):
        back = path.with_name(f"{seed}-{kind}.nc")
        for copied in [store, store.with_suffix(".zip")]:
            subprocess.run([nccopy, "-M0", copied, back], check=True)
            with netCDF4.Dataset(back) as found:
                compare_with_netcdf(given, found, "ours")
    return compared


def main():
    nccopy, folder, first, count = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    compared = 0
    with Zarr2() as zarr2:
        for seed in range(first, first + count):
            own = folder / str(seed)
            own.mkdir()
            path = own / f"{seed}.nc"
            make(path, seed)
            with netCDF4.Dataset(path) as given:
                for kind in KINDS:
                    try:
                        compared += judge_kind(seed, path, given, kind, nccopy, zarr2)
                    except Exception as error:
                        raise AssertionError(f"seed {seed}, {kind}: {error}") from error
            shutil.rmtree(own)
    print(compared, JUDGED)
    check(all(number > count for number in JUDGED.values()), "arrays that other programs read", JUDGED)


main()
