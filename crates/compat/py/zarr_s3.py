"""Random netCDF-4 files, copied to Zarr stores in a bucket by `nccopy`, read there by zarr-python and tensorstore, and copied back.

Arguments: the folder of ferrocdf's tools, a folder for files, the first seed, the number of files, the bucket. The environment says
where S3 is and with which key. Prints the number of arrays that were compared.
"""

import faulthandler
import pathlib
import shutil
import subprocess
import sys
import warnings

import netCDF4
import tensorstore
import zarr

import zarr_s3_store
from zarr_files import check, compare_with_netcdf, compare_with_zarr, make, same

KINDS = ["nczarr3", "nczarr2", "zarr3", "zarr2"]

warnings.simplefilter("error")
warnings.filterwarnings("ignore", message="Numcodecs codecs are not in the Zarr version 3")
warnings.filterwarnings("ignore", message=".*does not have a Zarr V3 specification.*")


def judge_by_tensorstore(bucket, key, kind):
    """Returns a function that compares an array with what tensorstore reads of the bucket, where it knows the codecs."""

    def judge(path, found):
        spec = {"driver": "zarr3" if kind.endswith("3") else "zarr", "kvstore": zarr_s3_store.of_tensorstore(bucket, f"{key}/{path}/")}
        try:
            other = tensorstore.open(spec, read=True).result(timeout=60).read().result(timeout=60)
        except ValueError as error:
            check(any(word in str(error) for word in ["codec", '"filters"', '"compressor"']), error)
            return
        check(same(other, found), "tensorstore", kind, path, "values", other, found)

    return judge


def judge_kind(path, given, kind, nccopy, bucket):
    key = f"{path.stem}/{kind}.zarr"
    urls = [f"s3://{bucket}/{key}", f"{zarr_s3_store.endpoint()}/{bucket}/{key}#mode={kind[:-1]},s3"]
    # The version is that of the option, in both forms of URL.
    subprocess.run([nccopy, "-M0", "-k", kind, path, urls[int(path.stem) % 2]], check=True)
    root = zarr.open_group(zarr_s3_store.of_zarr(bucket, key), mode="r")
    check(root.metadata.zarr_format == int(kind[-1]), "the version")
    compared = compare_with_zarr(given, root, kind, judge_by_tensorstore(bucket, key, kind))
    for url in urls:
        if kind.startswith("nczarr"):
            back = path.with_name(f"{kind}.nc")
            subprocess.run([nccopy, "-M0", url, back], check=True)
            with netCDF4.Dataset(back) as found:
                compare_with_netcdf(given, found, "ours")
        else:
            back = path.with_name(f"{kind}.zarr")
            subprocess.run([nccopy, "-M0", "-k", kind, url, back], check=True)
            compare_with_zarr(given, zarr.open_group(str(back), mode="r"), kind, is_copied=True)
    return compared


def main():
    # Tells where it waits if it does not go on.
    faulthandler.dump_traceback_later(300, repeat=True)
    tools, folder, first, count = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    compared = 0
    for seed in range(first, first + count):
        own = folder / str(seed)
        own.mkdir()
        path = own / f"{seed}.nc"
        make(path, seed)
        with netCDF4.Dataset(path) as given:
            for kind in KINDS:
                try:
                    compared += judge_kind(path, given, kind, tools / "nccopy", sys.argv[5])
                except Exception as error:
                    raise AssertionError(f"seed {seed}, {kind}: {error}") from error
        shutil.rmtree(own)
    print(compared)
    check(compared > count, "arrays that were compared", compared)


main()
