"""Random Zarr stores that zarr-python 2 writes, in folders and in zip files, read by ferrocdf.

Arguments: the folder of ferrocdf's tools, a folder for the stores, the first seed, the number of stores. `ferrocdf zarr-conformance`
must print the values of each array, and `nccopy` make a netCDF-4 file with the same values, attributes, fill values and names of
dimensions. Prints how many arrays were compared in each way.
"""

import pathlib
import shutil
import subprocess
import sys
import warnings

import netCDF4
import numcodecs
import numpy as np
import zarr

import zarr_arrays
from zarr_files import all_variables, check, same, same_attribute, values_of

assert zarr.__version__.startswith("2.18."), zarr.__version__
warnings.simplefilter("ignore")

NUMBERS = ["i1", "u1", "<i2", ">i2", "<u2", ">u2", "<i4", ">i4", "<u4", ">u4", "<i8", ">i8", "<u8", ">u8", "<f4", ">f4", "<f8", ">f8"]
OTHERS = ["?", "<f2", ">f2", "<c8", ">c16", "S5", "<U3", ">U3", "<M8[s]", ">m8[ms]", "V4", "record", "text", "bytes", "lists", "json"]
RECORD = np.dtype([("a", "<i2"), ("b", "<f8"), ("c", "S3"), ("d", ">u4", (2,))])
ATTRIBUTES = [1, -7, 1.5, 1e300, float("nan"), float("inf"), "", "text", "é ü", "12", [1, 2, 3], [0.5, 2.0], ["one", "two"]]


def objects(values, shape):
    array = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        array[place] = value
    return array.reshape(shape)


class Maker:
    """Draws what a store holds."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def below(self, most):
        return int(self.rng.integers(most))

    def pick(self, choices):
        return choices[self.below(len(choices))]

    def word(self, letters, longest):
        return "".join(self.pick(letters) for _ in range(self.below(longest)))

    def values(self, kind, shape):
        count = int(np.prod(shape))
        if kind == "text":
            return objects([self.word("abé", 6) for _ in range(count)], shape)
        if kind == "bytes":
            return objects([self.word("abé", 6).encode() for _ in range(count)], shape)
        if kind == "lists":
            return objects([self.rng.integers(-9, 9, self.below(4)).astype("<i4") for _ in range(count)], shape)
        if kind == "json":
            return objects([self.pick(["a", "é"]) for _ in range(count)], shape)
        if kind == "record":
            array = np.zeros(shape, dtype=RECORD)
            array["a"], array["b"], array["c"] = self.rng.integers(-9, 9, shape), self.rng.normal(size=shape), b"xy"
            array["d"] = self.rng.integers(0, 2**32, (*shape, 2))
            return array
        dtype = np.dtype(kind)
        if dtype.kind == "b":
            return np.asarray(self.rng.integers(0, 2, shape)).astype(bool)
        if dtype.kind == "c":
            return np.asarray(self.rng.normal(size=shape) + 1j * self.rng.normal(size=shape)).astype(dtype)
        if dtype.kind == "f":
            array = np.asarray(self.rng.normal(size=shape) * 10).astype(dtype)
            if count:
                array.reshape(-1)[0] = self.pick([np.nan, np.inf, -np.inf, 0.0])
            return array
        if dtype.kind in "mM":
            return np.asarray(self.rng.integers(-(10**9), 10**9, shape)).astype("i8").astype(dtype)
        if dtype.kind in "SU":
            letters = "abc" if dtype.kind == "S" else "abé"
            return np.array([self.word(letters, 4) for _ in range(count)], dtype=dtype).reshape(shape)
        return np.frombuffer(self.rng.bytes(count * dtype.itemsize), dtype).reshape(shape)

    def fill_value(self, kind):
        """Any that is legal for a data type."""
        if kind in ("text", "bytes", "lists", "json", "record", "V4"):
            return None
        dtype = np.dtype(kind)
        if self.below(3) == 0:
            return None
        if dtype.kind == "f":
            return self.pick([0.0, -1.5, np.nan, np.inf, -np.inf, 0.1])
        if dtype.kind == "c":
            return self.pick([0j, 1.5 - 2j, complex(np.nan, 1)])
        if dtype.kind == "b":
            return self.pick([True, False])
        if dtype.kind in "iu":
            return self.pick([0, 7, np.iinfo(dtype).max, np.iinfo(dtype).min])
        if dtype.kind in "mM":
            return self.pick([0, np.array("NaT", dtype)[()]])
        return self.pick([b"", b"ab"] if dtype.kind == "S" else ["", "é"])

    def filters(self, kind):
        if kind in ("text", "bytes", "lists", "json"):
            of_objects = {"text": numcodecs.VLenUTF8(), "bytes": numcodecs.VLenBytes(), "lists": numcodecs.VLenArray("<i4"),
                          "json": numcodecs.JSON()}
            return {"object_codec": of_objects[kind]}
        filters = []
        if kind in NUMBERS and "f" not in kind and self.below(3) == 0:
            filters.append(numcodecs.Delta(kind))
        elif kind in ("<f8", "<f4") and self.below(2):
            filters.append(self.pick([numcodecs.FixedScaleOffset(1, 100, kind, "<i4"), numcodecs.Quantize(2, kind), numcodecs.BitRound(5),
                                      numcodecs.AsType("<f4", kind)]))
        elif kind == "?" and self.below(2):
            filters.append(numcodecs.PackBits())
        if kind != "record" and self.below(3) == 0:
            # The filters before it may have made elements of another size.
            size = 1 if filters else np.dtype(kind).itemsize
            filters.append(self.pick([numcodecs.Shuffle(size), numcodecs.CRC32(), numcodecs.Adler32(), numcodecs.Fletcher32(),
                                      numcodecs.JenkinsLookup3(), numcodecs.Base64()]))
        return {"filters": filters} if filters else {}

    def compressor(self):
        return self.pick([None, numcodecs.Zlib(1), numcodecs.GZip(), numcodecs.Zstd(1), numcodecs.LZ4(), numcodecs.BZ2(),
                          numcodecs.LZMA(preset=1), numcodecs.Blosc("zstd", shuffle=2), numcodecs.Blosc("lz4"), numcodecs.Blosc("zlib"),
                          numcodecs.Blosc("blosclz", shuffle=0)])

    def attributes(self, owner):
        for number in range(self.below(4)):
            owner.attrs[f"a{number}"] = self.pick(ATTRIBUTES)

    def array(self, group, name, kinds):
        kind = self.pick(kinds)
        shape = tuple(self.below(9) if self.below(9) == 0 else 1 + self.below(8) for _ in range(self.below(4)))
        chunks = tuple(1 + self.below(length + 1) for length in shape)
        array = self.values(kind, shape)
        made = group.create_dataset(
            name, shape=shape, chunks=chunks, dtype=array.dtype, fill_value=self.fill_value(kind), order=self.pick("CF"),
            compressor=self.compressor(), dimension_separator=self.pick("./"), write_empty_chunks=self.writes_empty_chunks,
            **self.filters(kind))
        if not shape or self.below(4) or made.fill_value is None:
            made[...] = array
        else:
            part = max(1, shape[0] // 2)
            made[:part] = array[:part]
        self.attributes(made)
        if shape and self.below(2):
            # xarray's name for names of dimensions; the lengths are in them, since one name has one length.
            made.attrs["_ARRAY_DIMENSIONS"] = [f"d{place}_{length}" for place, length in enumerate(shape)]

    def store(self, opened):
        """Draws a store, with consolidated metadata or without."""
        # zarr-python removes objects that are not there, which its zip files do not allow.
        self.writes_empty_chunks = isinstance(opened, zarr.ZipStore) or self.below(2) == 1
        root = zarr.group(opened)
        self.attributes(root)
        groups = [root]
        if self.below(2):
            groups.append(root.create_group("g1"))
            self.attributes(groups[-1])
            if self.below(2):
                groups.append(groups[-1].create_group("g2"))
        for number, group in enumerate(groups):
            for at in range(1 + self.below(3)):
                self.array(group, f"v{number}{at}", self.pick([NUMBERS, OTHERS]))
        if self.below(2):
            zarr.consolidate_metadata(opened)


def arrays(group, path=""):
    for name, array in group.arrays():
        yield f"{path}{name}", array
    for name, inner in group.groups():
        yield from arrays(inner, f"{path}{name}/")


def compare_printed(ferrocdf, store, path, array):
    """Compares an array with what `ferrocdf zarr-conformance` prints."""
    printed = store.with_suffix(".json")
    with open(printed, "w") as out:
        done = subprocess.run([ferrocdf, "zarr-conformance", "--array_path", store / path], stdout=out, stderr=subprocess.PIPE, text=True)
    check(done.returncode == 0, path, array.dtype, done.stderr)
    said = zarr_arrays.compare(*zarr_arrays.elements(array), printed)
    check(said == "equal", path, array.dtype, said)


def compare_attributes(theirs, ours, names, what):
    for name in names:
        given, found = theirs[name], ours.getncattr(name)
        found = found.tolist() if isinstance(found, np.ndarray) else found
        check(same_attribute(np.array(given) if not isinstance(given, (str, list)) else given, found), what, name, given, found)


def compare_copied(root, copy):
    """Compares a store with a netCDF-4 file. Returns the number of arrays."""
    with netCDF4.Dataset(copy) as found:
        found.set_auto_maskandscale(False)
        compare_attributes(root.attrs, found, root.attrs, "root")
        # netCDF4-python has no opaque types.
        theirs = {path: array for path, array in arrays(root) if array.dtype.kind != "V" or array.dtype.names}
        ours = dict(all_variables(found))
        check(set(theirs) == set(ours), "arrays", set(theirs) ^ set(ours))
        for path, array in theirs.items():
            compare_variable(path, array, ours[path])
    return len(theirs)


def compare_variable(path, array, var):
    attributes = dict(array.attrs)
    names = attributes.pop("_ARRAY_DIMENSIONS", None)
    check(names is None or tuple(names) == var.dimensions, path, var.dimensions, names)
    check(array.shape == var.shape, path, array.shape, var.shape)
    compare_attributes(attributes, var, attributes, path)
    kind = array.dtype.kind
    if kind in "iuf" and array.dtype.itemsize > 2 or array.dtype.kind in "iu":
        check(var.dtype.newbyteorder("=") == array.dtype.newbyteorder("="), path, var.dtype, array.dtype)
        fill, default = array.fill_value, netCDF4.default_fillvals[array.dtype.str[1:]]
        if fill is not None and fill != default:
            check("_FillValue" in var.ncattrs() and same(var._FillValue, fill), path, "fill value", fill, var.ncattrs())
        elif fill is None:
            check("_FillValue" not in var.ncattrs(), path, "fill value", var.ncattrs())
        check(same(values_of(var), array[...]), path, "values")
    elif kind == "U":
        check(same(values_of(var).astype(object), array[...].astype(object)), path, "text", values_of(var), array[...])
    elif kind == "b":
        check(same(values_of(var), array[...].astype("i1")), path, "truth values")


def judge(seed, tools, folder):
    maker = Maker(seed)
    packed = maker.below(3) == 0
    store = folder / f"{seed}.{'zip' if packed else 'zarr'}"
    opened = zarr.ZipStore(store, mode="w") if packed else zarr.DirectoryStore(store)
    maker.store(opened)
    if packed:
        opened.close()
        opened = zarr.ZipStore(store, mode="r")
    root, printed = zarr.open_group(opened, mode="r"), 0
    if not packed:
        for path, array in arrays(root):
            compare_printed(tools / "ferrocdf", store, path, array)
            printed += 1
    copy = folder / f"{seed}.nc"
    subprocess.run([tools / "nccopy", "-M0", "-k", "nc4", store, copy], check=True)
    return printed, compare_copied(root, copy)


def main():
    tools, folder, first, count = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    compared = np.zeros(2, int)
    for seed in range(first, first + count):
        own = folder / str(seed)
        own.mkdir()
        try:
            compared += judge(seed, tools, own)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        shutil.rmtree(own)
    print(*compared)
    check(all(compared > count), "arrays that were compared", compared)


main()
