"""Makes random arrays with zarr-python.

Arguments: a folder, a number of arrays, a seed. Data types, shapes, chunks, shards, codecs, byte orders, orders of dimensions and chunk
keys are drawn; a quarter of the arrays is written in part, so that chunks are missing.
"""

import sys
import warnings

import numcodecs
import numpy as np
import zarr
from zarr.codecs import BloscCodec, Crc32cCodec, GzipCodec, TransposeCodec, ZstdCodec

warnings.simplefilter("ignore")
folder, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = np.random.default_rng(seed)

TYPES = ["?", "i1", "u1", "<i2", ">i2", "<u4", ">i8", "<u8", "<f2", ">f2", "<f4", ">f4", "<f8", "<c8", ">c16", "S5", "<U3", ">U3",
         "<M8[s]", "<m8[ms]", "V4", "record", "text"]
RECORD = np.dtype([("a", "<i2"), ("b", "<f8"), ("c", "S3")])


def pick(choices):
    return choices[int(rng.integers(len(choices)))]


def words(shape, letters, longest):
    count = int(np.prod(shape))
    return ["".join(pick(letters) for _ in range(int(rng.integers(0, longest)))) for _ in range(count)]


def values(kind, shape):
    if kind == "text":
        return np.array(words(shape, "abé", 6), dtype=object).reshape(shape)
    if kind == "record":
        array = np.zeros(shape, dtype=RECORD)
        array["a"], array["b"], array["c"] = rng.integers(-9, 9, shape), rng.normal(size=shape), b"xy"
        return array
    dtype = np.dtype(kind)
    if dtype.kind == "?" or dtype.kind == "b":
        return np.asarray(rng.integers(0, 2, shape)).astype(bool)
    if dtype.kind in "fc":
        return np.asarray(rng.normal(size=shape) * 10).astype(dtype)
    if dtype.kind in "mM":
        return np.asarray(rng.integers(-(10**9), 10**9, shape)).astype("i8").view(dtype)
    if dtype.kind in "SU":
        letters = "abc" if dtype.kind == "S" else "abé"
        return np.array(words(shape, letters, 4), dtype=dtype).reshape(shape)
    size = int(np.prod(shape)) * dtype.itemsize
    return np.frombuffer(rng.integers(0, 256, size, dtype="u1").tobytes(), dtype).reshape(shape)


def options_of_version_2(kind):
    options = {
        "order": pick("CF"),
        "chunk_key_encoding": {"name": "v2", "separator": pick("./")},
        "compressors": pick([None, numcodecs.Zlib(1), numcodecs.GZip(), numcodecs.Zstd(1), numcodecs.LZ4(), numcodecs.BZ2(),
                             numcodecs.LZMA(preset=1), numcodecs.LZMA(format=2),
                             numcodecs.Blosc("zstd", shuffle=2), numcodecs.Blosc("lz4")]),
    }
    filters = []
    if kind in ("<i2", "<u4", ">i8", "<u8") and rng.integers(2):
        filters.append(numcodecs.Delta(kind))
    if kind in ("<f8", "<f4") and rng.integers(2):
        filters.append(pick([numcodecs.FixedScaleOffset(1, 100, kind, "<i4"), numcodecs.Quantize(2, kind), numcodecs.BitRound(5)]))
    elif kind not in ("text", "record") and rng.integers(3) == 0:
        size = np.dtype(kind).itemsize
        filters.append(pick([numcodecs.Shuffle(size), numcodecs.CRC32(), numcodecs.Adler32(), numcodecs.Fletcher32(),
                             numcodecs.JenkinsLookup3()]))
    if filters:
        options["filters"] = filters
    return options


def options_of_version_3(kind, chunks):
    rank = len(chunks)
    options = {
        "compressors": pick([None, ZstdCodec(level=1), ZstdCodec(checksum=True), GzipCodec(), BloscCodec(), (GzipCodec(), Crc32cCodec())]),
        "chunk_key_encoding": {"name": pick(["default", "v2"]), "separator": pick("./")},
    }
    if rank > 1 and rng.integers(2) and kind != "text":
        options["filters"] = [TransposeCodec(order=tuple(int(dim) for dim in rng.permutation(rank)))]
    if rank and rng.integers(2):
        options["shards"] = tuple(chunk * int(rng.integers(1, 4)) for chunk in chunks)
    return options


for number in range(count):
    rank = int(rng.integers(0, 4))
    shape = tuple(int(rng.integers(1, 9)) for _ in range(rank))
    chunks = tuple(int(rng.integers(1, length + 2)) for length in shape)
    kind = pick(TYPES)
    version = pick([2, 3])
    array = values(kind, shape)
    options = options_of_version_2(kind) if version == 2 else options_of_version_3(kind, chunks)
    dtype = str if kind == "text" else array.dtype
    store = zarr.create_array(f"{folder}/{number}.zarr", shape=shape, chunks=chunks, dtype=dtype, zarr_format=version, **options)
    if rank == 0 or rng.integers(4):
        store[...] = array
    else:
        part = max(1, shape[0] // 2)
        store[:part] = array[:part]
