"""What copies between Zarr stores and netCDF-4 files keep, as zarr-python, xarray and netCDF-C see it.

Arguments: an empty folder, the folder of ferrocdf's tools, ferrocdf's library, a seed. netCDF4-python runs on netCDF-C, but in the processes
that are started with ferrocdf's library.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import warnings

import netCDF4
import numpy as np
import xarray
import zarr

warnings.simplefilter("ignore")
folder, tools, library = map(pathlib.Path, sys.argv[1:4])
chance = random.Random(sys.argv[4])
KINDS = ["nczarr2", "nczarr3", "zarr2", "zarr3"]


def run(*command, env=None):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=env)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


def nccopy(*arguments):
    run(tools / "nccopy", *arguments, env={"PATH": "/usr/bin:/bin"})


def url(path):
    return f"file://{path}#mode=nczarr,file"


def value(depth=0):
    """Returns a random JSON value."""
    if depth < 3 and chance.random() < 0.6:
        count = chance.randrange(4)
        if chance.random() < 0.5:
            return [value(depth + 1) for _ in range(count)]
        return {f"k{number}": value(depth + 1) for number in range(count)}
    return chance.choice([
        None, True, False, 0, 1, -7, 1.0, 2.5, 1e300, 1e16, 0.1, 2**40, 2**63, "", "text", "é", '{"a":1}', "[1, 2]", "12", "null", "a\nb\"",
    ])


def attributes(node):
    # Copies have the fill value of arrays of version 2 as an attribute too.
    reserved = ("_nczarr_", "_NCProperties", "_ARRAY_DIMENSIONS", "_FillValue")
    return {name: value for name, value in dict(node.attrs).items() if not name.startswith(reserved)}


def words(attributes):
    """Returns attributes as texts, in which 1, 1.0 and true differ."""
    return {name: json.dumps(value) for name, value in attributes.items()}


READ = """
import json, sys, zarr
root = zarr.open_group(sys.argv[1], mode="r")
print(json.dumps([dict(root.attrs), dict(root["v"].attrs)]))
"""


def json_attributes():
    for version in [2, 3]:
        source = folder / f"json{version}"
        root = zarr.open_group(source, mode="w", zarr_format=version)
        array = root.create_array("v", shape=(2,), dtype="i4")
        root.attrs.update({f"a{number}": value() for number in range(60)})
        array.attrs.update({f"b{number}": value() for number in range(60)})
        wanted = [words(attributes(root)), words(attributes(array))]
        for first in KINDS:
            once = folder / f"json{version}-{first}"
            nccopy("-k", first, source, once)
            for second in KINDS:
                twice = folder / f"json{version}-{first}-{second}"
                nccopy("-k", second, once, twice)
                copy = zarr.open_group(twice, mode="r")
                found = [words(attributes(copy)), words(attributes(copy["v"]))]
                for was, now in zip(wanted, found):
                    assert was == now, f"{twice}: {was.items() - now.items()} are {now.items() - was.items()}"
            if first == "nczarr2":
                # An object is text to netCDF-C as well.
                with netCDF4.Dataset(url(once)) as data:
                    for name, text in wanted[0].items():
                        if text.startswith('{"'):
                            assert json.loads(data.getncattr(name)) == json.loads(text), name
            if first.endswith("2"):
                root, array = json.loads(run(os.environ["FERROCDF_ZARR2_PYTHON"], "-c", READ, once))
                assert words(root).items() >= wanted[0].items() and words(array).items() >= wanted[1].items(), once


def empty_texts():
    source = folder / "texts.nc"
    with netCDF4.Dataset(source, "w") as data:
        data.createDimension("x", 50)
        data.createDimension("n", 3)
        texts = [chance.choice(["", "", "a", "é", "long " * 10]) for _ in range(50)]
        data.createVariable("s", str, ("x",))[:] = np.array(texts, object)
        data.createVariable("c", "S1", ("x", "n"))[:] = np.array(chance.choices([b"", b"a", b"z"], k=150), "S1").reshape(50, 3)
        data.createVariable("i", "i4", ("x",))[:] = range(50)
    text = np.vectorize(lambda text: text.decode() if isinstance(text, bytes) else text, otypes=[object])
    with xarray.open_dataset(source) as wanted:
        for kind in KINDS:
            store = folder / f"texts-{kind}"
            nccopy("-k", kind, source, store)
            with xarray.open_dataset(store, engine="zarr") as found:
                for name in ["s", "c"] if kind.endswith("2") else ["s"]:
                    assert text(found[name].values).tolist() == text(wanted[name].values).tolist(), f"{store} {name}"
                assert found["i"].dtype == "int32", store
            if kind.endswith("2"):
                read = "import json, sys, zarr; print(json.dumps([t if isinstance(t, str) else t.decode() for t in zarr.open_group(sys.argv[1], mode='r')['s'][:]]))"
                assert json.loads(run(os.environ["FERROCDF_ZARR2_PYTHON"], "-c", read, store)) == texts, store
    with netCDF4.Dataset(url(folder / "texts-nczarr2")) as data:
        assert data["s"][:].tolist() == texts


def bytes_of_attributes():
    text = r"""netcdf same { variables: int v ; char c ; c:_FillValue = "\377" ; v:zeros = "abc\000\000" ; v:zero = "\000" ;
        v:within = "a\000b" ; v:latin = "25 \260C" ; v:both = "\351\000" ; v:empty = "" ; :plain = "é" ; }"""
    (folder / "bytes.cdl").write_text(text)
    source = folder / "bytes.nc"
    run("/usr/bin/ncgen", "-4", "-o", source, folder / "bytes.cdl")

    def dump(path):
        done = subprocess.run(["/usr/bin/ncdump", "-h", "-n", "same", path], capture_output=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    for kind in ["nczarr2", "nczarr3"]:
        store, back = folder / f"bytes-{kind}", folder / f"bytes-{kind}.nc"
        nccopy("-k", kind, source, store)
        nccopy("-k", "nc4", store, back)
        assert dump(back) == dump(source), f"{kind}: {dump(back)}"
        if kind == "nczarr2":
            with netCDF4.Dataset(url(store)) as data:
                found = [data["v"].getncattr(name) for name in ["zeros", "zero", "latin"]]
                assert found == ["abc", "", "25 °C"], found
        array = zarr.open_group(store, mode="r")["v"]
        assert array.attrs["latin"] == "25 °C" and array.attrs["zeros"].rstrip("\0") == "abc"


MAKE = """
import sys, netCDF4, xarray
folder = sys.argv[1]
for name in ["a.zarr", "a.zarr.zip"]:
    with netCDF4.Dataset(f"{folder}/{name}", "w") as data:
        data.createDimension("x", 3)
        data.createVariable("v", "i4", ("x",))[:] = [1, 2, 3]
    xarray.Dataset({"v": ("x", [1, 2, 3])}).to_netcdf(f"{folder}/x{name}", engine="netcdf4")
    try:
        netCDF4.Dataset(f"{folder}/{name}", "x")
    except OSError:
        continue
    raise AssertionError(f"{name} is replaced")
netCDF4.Dataset(f"{folder}/classic.zarr", "w", format="NETCDF3_CLASSIC").close()
"""


def names_of_stores():
    run(sys.executable, "-c", MAKE, folder, env={**os.environ, "LD_PRELOAD": str(library)})
    for name in ["a.zarr", "xa.zarr", "a.zarr.zip", "xa.zarr.zip"]:
        store = zarr.storage.ZipStore(folder / name, mode="r") if name.endswith("zip") else folder / name
        group = zarr.open_group(store, mode="r")
        assert group["v"][:].tolist() == [1, 2, 3] and group.metadata.zarr_format == 3, name
    assert (folder / "classic.zarr").read_bytes()[:3] == b"CDF"


for part in [json_attributes, empty_texts, bytes_of_attributes, names_of_stores]:
    part()
