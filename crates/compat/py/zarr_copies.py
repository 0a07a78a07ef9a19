"""Makes stores and files for copies, and compares copies with what they were made of.

`make STORE VERSION`: arrays of the types that netCDF has no word for, in shards and in other orders of dimensions.
`same STORE COPY VERSION`: the copy has the dtype, the chunks, the shards, the codecs' order of dimensions and the values of the store.
`xarray STORE COPY`: xarray gives the same variables of both.
`edited STORE`: what a test wrote to a store that `make` made is there, and the rest.
`values STORE`: the codecs and the sum of each array.
"""

import sys

import numpy as np
import zarr

zarr.config.set({"async.concurrency": 2})


def numbers(dtype, shape):
    count = int(np.prod(shape))
    base = np.arange(count).reshape(shape)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return base % 3 == 0
    if kind in "mM":
        values = (base - 5).astype("i8").astype(dtype)
        values.flat[0] = "NaT"
        return values
    if kind == "S":
        return np.array([b"ab%d" % number for number in base.flat], dtype).reshape(shape)
    if kind == "U":
        return np.array([f"é{number}" for number in base.flat], dtype).reshape(shape)
    values = (base / 8).astype(dtype)
    if kind == "f":
        values.flat[1] = np.nan
    return values


TYPES = {
    "flag": "b1",
    "half": "f2",
    "half_big": ">f2",
    "time_ns": "M8[ns]",
    "time_25s": "M8[25s]",
    "months": "M8[M]",
    "length": "m8[h]",
    "bytes5": "S5",
    "text4": "U4",
    "plain": "f4",
}


def arrays(version):
    for name, dtype in TYPES.items():
        yield name, dtype, {}
        yield name + "_turned", dtype, {"turned": True}
        if version == 3 and name not in ("bytes5", "text4"):
            yield name + "_shards", dtype, {"shards": (4, 12)}
            if dtype[0] != ">":
                yield name + "_both", dtype, {"shards": (4, 12), "turned": True, "start": True}


def make(path, version):
    from zarr.codecs import BytesCodec, ShardingCodec, TransposeCodec

    group = zarr.create_group(path, zarr_format=version)
    shape, chunks = (6, 8), (2, 3)
    for name, dtype, how in arrays(version):
        options = {"dtype": dtype, "shape": shape, "chunks": chunks, "compressors": None}
        if version == 2:
            options["order"] = "F" if how.get("turned") else "C"
        elif how.get("turned"):
            options["filters"] = [TransposeCodec(order=(1, 0))]
        if how.get("start"):
            del options["compressors"], options["filters"]
            options["chunks"] = how["shards"]
            inner = [TransposeCodec(order=(1, 0)), BytesCodec()]
            options["serializer"] = ShardingCodec(chunk_shape=chunks, codecs=inner, index_location="start")
            options["compressors"] = None
        elif how.get("shards"):
            options["shards"] = how["shards"]
        if version == 3:
            options["dimension_names"] = ["y", "x"]
        array = group.create_array(name, **options)
        if version == 2:
            array.attrs["_ARRAY_DIMENSIONS"] = ["y", "x"]
        array[:] = numbers(dtype, shape)
    names = {"dimension_names": ["z"]} if version == 3 else {"attributes": {"_ARRAY_DIMENSIONS": ["z"]}}
    long = group.create_array("long", dtype="i4", shape=(3,), chunks=(10,), **names)
    long[:] = [1, 2, 3]
    if version == 2:
        text = group.create_array(
            "text", dtype="string", shape=(6,), chunks=(2,), fill_value="none", attributes={"_ARRAY_DIMENSIONS": ["t"]})
    else:
        text = group.create_array("text", dtype="string", shape=(6,), chunks=(2,), fill_value="none", dimension_names=["t"])
    text[:2] = ["a", "é"]
    group.create_array("missing", dtype="i4", shape=(3,), chunks=(3,), fill_value=7, **names)


def order(array):
    metadata = array.metadata.to_dict()
    if metadata["zarr_format"] == 2:
        return metadata["order"]
    codecs = metadata["codecs"]
    if codecs[0]["name"] == "sharding_indexed":
        where = codecs[0]["configuration"]["index_location"]
        codecs = codecs[0]["configuration"]["codecs"]
    else:
        where = None
    found = [codec["configuration"]["order"] for codec in codecs if codec["name"] == "transpose"]
    return [list(order) for order in found], str(where)


def same(path, copy, versions):
    a, b = zarr.open_group(path, mode="r"), zarr.open_group(copy, mode="r")
    assert set(a.array_keys()) == set(b.array_keys()), (list(a.array_keys()), list(b.array_keys()))
    for name, array in a.arrays():
        other = b[name]
        types = [array.dtype, other.dtype]
        # Text of any length has no byte order.
        if versions not in ("22", "33") and array.dtype.kind != "T":
            types = [dtype.newbyteorder("=") for dtype in types]
        assert types[0] == types[1], (name, types)
        shards = array.shards if versions != "32" else None
        assert (array.chunks, shards) == (other.chunks, other.shards), (
            name, array.chunks, array.shards, other.chunks, other.shards)
        if versions in ("22", "33"):
            assert order(array) == order(other), (name, order(array), order(other))
        if versions != "32":
            # Missing chunks stay missing.
            np.testing.assert_array_equal(array.fill_value, other.fill_value, err_msg=name)
            assert array.nchunks_initialized == other.nchunks_initialized, name
        np.testing.assert_array_equal(array[...], other[...], err_msg=name)


def in_xarray(path, copy):
    import xarray

    # The fill value of version 2 masks elements, and a copy by nccopy has none unless there is a `_FillValue`.
    a, b = (xarray.open_zarr(each, consolidated=False, mask_and_scale=False) for each in (path, copy))
    for name in a.variables:
        assert a[name].dtype == b[name].dtype, (name, a[name].dtype, b[name].dtype)
        xarray.testing.assert_equal(a[name].load(), b[name].load())


def edited(path):
    group = zarr.open_group(path, mode="r")
    for name in ("half", "half_turned", "half_shards", "half_big"):
        if name in group:
            assert group[name].dtype.kind == "f" and group[name].dtype.itemsize == 2
            np.testing.assert_array_equal(group[name][1, :3], np.array([1.5, -2, 65504], "f2"))
            np.testing.assert_array_equal(group[name][2], numbers("f2", (6, 8))[2])
    assert list(group["text4"][1, :3]) == ["aé", "", "wxyz"], group["text4"][1]
    assert list(group["bytes5"][1, :3]) == [b"ab", b"", b"vwxyz"], group["bytes5"][1]
    np.testing.assert_array_equal(group["text4"][2], numbers("U4", (6, 8))[2])


def values(path):
    for name, array in sorted(zarr.open_group(path, mode="r").arrays()):
        metadata = array.metadata.to_dict()
        if metadata["zarr_format"] == 2:
            codecs = [codec["id"] for codec in [*(metadata["filters"] or ()), metadata["compressor"]] if codec]
        else:
            codecs = [codec["name"] for codec in metadata["codecs"]]
        print(name, ",".join(codecs), array[...].astype("f8").sum())


if __name__ == "__main__":
    {"make": lambda p, v: make(p, int(v)), "same": same, "xarray": in_xarray, "edited": edited,
     "values": values}[sys.argv[1]](*sys.argv[2:])
