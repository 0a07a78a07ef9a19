"""Makes stores of structures with fields of all types, and compares copies with them.

`make STORE VERSION`: arrays of structures.
`same STORE COPY VERSIONS ...`: zarr-python gives the same dtypes, of `22` and `33` in the same byte orders, and the same values.
`file STORE FILE`: h5py gives the same values of a netCDF-4 copy.
`edited STORE`: what a test wrote is there.
"""

import sys
import warnings

import numpy as np
import zarr

# Version 3 has no specification of bytes of a fixed length yet.
warnings.filterwarnings("ignore", message=".*does not have a Zarr V3 specification")

ALL = [
    ("flag", "?"), ("half", "<f2"), ("when", "<M8[ns]"), ("span", "<m8[25s]"), ("z", "<c8"), ("code", "S3"),
    ("name", "<U4"), ("n", "<i4"), ("raw", "V3"),
]
TYPES = {
    "all": ALL,
    "turned": [("half", ">f2"), ("when", ">M8[D]"), ("z", ">c16"), ("name", ">U3"), ("n", ">i8")],
    "nested": [("inner", ALL), ("b", "|u1")],
    "parts": [("r", "<f4"), ("i", "<f4")],
    "names": [("first", "<U50"), ("second", "<U1")],
    "long": [("text", "S5000")],
    "raw": "V4",
    "long_raw": [("raw", "V5000")],
}


def fill(array):
    """Puts other values into each element of each field."""
    if array.dtype.names:
        for name in array.dtype.names:
            fill(array[name])
        return
    numbers = np.arange(array.size).reshape(array.shape)
    match array.dtype.kind:
        case "b":
            array[...] = numbers % 2 == 0
        case "S":
            array[...] = [b"ab", b"", b"xyz", b"q", b"\xe9"][: array.size]
        case "U":
            array[...] = ["é", "", "a", "b", "\U0001f600"][: array.size]
        case "V":
            array[...] = np.array([bytes([number] * array.itemsize) for number in numbers.flat], array.dtype)
        case "M" | "m":
            array[...] = numbers.astype("i8").astype(array.dtype)
            array[-1] = "NaT"
        case "c":
            array[...] = numbers + 1j
        case kind:
            array[...] = numbers * (1.25 if kind == "f" else 3)


def values(dtype):
    array = np.zeros(5, dtype)
    fill(array)
    return array


def make(path, version):
    group = zarr.create_group(path, zarr_format=int(version))
    for name, fields in TYPES.items():
        dtype = np.dtype(fields)
        if version == "3":
            dtype = dtype.newbyteorder("<")
        array = group.create_array(name, dtype=dtype, shape=(5,), chunks=(2,), compressors=None)
        array[:] = values(dtype)


def check(name, wanted, found):
    """Compares field by field: `assert_array_equal` takes no structures with NaN or NaT in them."""
    if wanted.dtype.names:
        assert wanted.dtype.names == found.dtype.names, (name, found.dtype)
        for field in wanted.dtype.names:
            check(f"{name}.{field}", wanted[field], found[field])
        return
    np.testing.assert_array_equal(wanted, found, err_msg=name)


def same(path, *copies):
    for copy, versions in zip(copies[::2], copies[1::2], strict=True):
        compare_stores(path, copy, versions)


def compare_stores(path, copy, versions):
    a, b = zarr.open_group(path, mode="r"), zarr.open_group(copy, mode="r")
    assert set(a.array_keys()) == set(b.array_keys()) == set(TYPES), list(b.array_keys())
    for name, array in a.arrays():
        types = [each.dtype if versions in ("22", "33") else each.dtype.newbyteorder("<") for each in (array, b[name])]
        assert types[0] == types[1], (name, types)
        check(name, values(array.dtype), b[name][...])


def file(path, copy):
    import h5py

    def plain(array):
        """The values of netCDF: times are integers, text of any length has no size, booleans are numbers."""
        names = array.dtype.names
        if names == ("r", "i"):
            return array["r"] + 1j * array["i"]
        return array if names is None else {name: plain(array[name]) for name in names}

    def compare(name, wanted, found):
        if isinstance(wanted, dict):
            for field, of in wanted.items():
                compare(f"{name}.{field}", of, found[field])
        elif wanted.dtype.kind == "U":
            assert [text.encode() for text in wanted] == list(found), (name, wanted, found)
        elif wanted.dtype.kind == "S":
            assert [text.ljust(wanted.dtype.itemsize, b"\0") for text in wanted] == [
                each.tobytes() for each in found], (name, wanted, found)
        elif wanted.dtype.kind in "Mm":
            np.testing.assert_array_equal(wanted.astype("i8"), found, err_msg=name)
        else:
            np.testing.assert_array_equal(wanted, found, err_msg=name)

    source, copied = zarr.open_group(path, mode="r"), h5py.File(copy)
    for name, array in source.arrays():
        compare(name, plain(values(array.dtype)), copied[name][...])


def edited(path):
    array = zarr.open_group(path, mode="r")["all"]
    wanted = values(array.dtype)
    wanted[1] = wanted[3]
    check("all", wanted, array[...])


if __name__ == "__main__":
    {"make": make, "same": same, "file": file, "edited": edited}[sys.argv[1]](*sys.argv[2:])
