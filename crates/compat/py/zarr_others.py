"""Random arrays that tensorstore, zarr-python with the codecs of zarrs, and zarr-python with chunks of many lengths write; `ferrocdf zarr-conformance` must print their values.

Arguments: ferrocdf, a folder, a seed, a number of arrays. Prints the number of arrays of each writer.
"""

import json
import subprocess
import sys
import warnings

import numpy as np
import tensorstore
import zarr
from zarr.codecs import BloscCodec, Crc32cCodec, GzipCodec, ZstdCodec

warnings.simplefilter("ignore")
ferrocdf, folder, seed, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
rng = np.random.default_rng(seed)
TYPES = ["bool", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]


def pick(choices):
    return choices[int(rng.integers(len(choices)))]


def with_zarr2(path, array, chunks):
    dtype = np.dtype(array.dtype.newbyteorder(pick("<>"))).str
    compressor = pick([None, {"id": "zlib", "level": 1}, {"id": "bz2", "level": 1}, {"id": "zstd", "level": 1},
                       {"id": "blosc", "cname": pick(["lz4", "zstd", "zlib", "blosclz"]), "clevel": 5, "shuffle": pick([0, 1, 2])}])
    metadata = {"shape": array.shape, "chunks": chunks, "dtype": dtype, "order": pick("CF") if array.ndim > 1 else "C", "compressor": compressor,
                "dimension_separator": pick("./")}
    return {"driver": "zarr", "kvstore": {"driver": "file", "path": path}, "metadata": metadata}


def with_zarr3(path, array, chunks):
    codecs = [{"name": "bytes", "configuration": {"endian": pick(["little", "big"])}}]
    if array.ndim > 1 and rng.integers(2):
        order = [int(dim) for dim in rng.permutation(array.ndim)]
        codecs.insert(0, {"name": "transpose", "configuration": {"order": order}})
    codecs += pick([[], [{"name": "gzip", "configuration": {"level": 1}}], [{"name": "zstd", "configuration": {"level": 1}}],
                    [{"name": "crc32c"}]])
    shape = chunks
    if array.ndim and rng.integers(2):
        shape = [chunk * int(rng.integers(1, 4)) for chunk in chunks]
        place = pick(["start", "end"])
        codecs = [{"name": "sharding_indexed", "configuration": {"chunk_shape": chunks, "codecs": codecs, "index_location": place}}]
    metadata = {"shape": array.shape, "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}},
                "chunk_key_encoding": {"name": pick(["default", "v2"])}, "data_type": array.dtype.name, "codecs": codecs}
    return {"driver": "zarr3", "kvstore": {"driver": "file", "path": path}, "metadata": metadata}


def with_random_lengths(length):
    """Returns random lengths of chunks of a dimension."""
    lengths = []
    while sum(lengths) < length:
        lengths.append(min(int(rng.integers(1, 4)), length - sum(lengths)))
    return lengths


def write(number, writer, array, chunks):
    path = f"{folder}/{number}.zarr"
    if writer == "zarrs":
        shards = tuple(chunk * int(rng.integers(1, 4)) for chunk in chunks) if array.ndim and rng.integers(2) else None
        compressors = pick([None, ZstdCodec(level=1), GzipCodec(), BloscCodec(), (GzipCodec(), Crc32cCodec())])
        with zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline", "codec_pipeline.strict": True}):
            store = zarr.create_array(path, shape=array.shape, chunks=tuple(chunks), dtype=array.dtype, shards=shards,
                                      compressors=compressors, zarr_format=3)
            store[...] = array
        return path
    if writer == "rectilinear":
        lists = [with_random_lengths(length) for length in array.shape]
        compressors = pick([None, ZstdCodec(level=1), (GzipCodec(), Crc32cCodec())])
        with zarr.config.set({"array.rectilinear_chunks": True}):
            store = zarr.create_array(path, shape=array.shape, chunks=lists, dtype=array.dtype, compressors=compressors, zarr_format=3)
            store[...] = array
        return path
    spec = (with_zarr2 if writer == "zarr" else with_zarr3)(path + "/", array, chunks)
    store = tensorstore.open(spec, create=True).result()
    store.write(array).result()
    return path


written = {"zarr": 0, "zarr3": 0, "zarrs": 0, "rectilinear": 0}
for number in range(count):
    writer = list(written)[number % 4]
    rank = int(rng.integers(writer == "rectilinear", 4))
    shape = tuple(int(rng.integers(1, 9)) for _ in range(rank))
    chunks = [int(rng.integers(1, length + 2)) for length in shape]
    size = int(np.prod(shape))
    dtype = np.dtype(pick(TYPES))
    if dtype.kind == "f":
        array = (rng.normal(size=shape) * 10).astype(dtype)
    elif dtype.kind == "b":
        array = np.asarray(rng.integers(0, 2, shape)).astype(bool)
    else:
        array = np.frombuffer(rng.integers(0, 256, size * dtype.itemsize, dtype="u1").tobytes(), dtype).reshape(shape)
    path = write(number, writer, np.asarray(array), chunks)
    done = subprocess.run([ferrocdf, "zarr-conformance", "--array_path", path], capture_output=True, text=True)
    assert done.returncode == 0, f"seed {seed}, array {number} of {writer}: {done.stderr}"
    found = np.array(json.loads(done.stdout), dtype=dtype).reshape(-1)
    assert np.array_equal(found, np.ravel(array)), f"seed {seed}, array {number} of {writer}: {found} {array}"
    written[writer] += 1
print(written)
