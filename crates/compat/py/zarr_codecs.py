"""Arrays with each codec of zarr-python, one array for each, and what a copy of them is.

`make STORE VERSION`: an array of the numbers 0 to 6 for each row of the table.
`read COPY`: prints the codecs of each array, after comparing its numbers. Runs in zarr-python 2 too, which reads no codec that only
numcodecs with another package has.
"""

import sys
import warnings

import numcodecs
import numpy as np
import zarr

SHAPE, CHUNKS = (4, 6), (2, 3)
NUMBERS = np.arange(24).reshape(SHAPE) % 7
BLOSC = [("blosclz", 0), ("lz4", 1), ("lz4hc", 2), ("zlib", 1), ("zstd", 2)]


def version_2():
    """Yields name, data type, filters and compressor."""
    from numcodecs.bitround import BitRound
    from numcodecs.checksum32 import CRC32C, JenkinsLookup3

    n = numcodecs
    lzma2 = [{"id": 3, "dist": 4}, {"id": 33, "preset": 1}]
    compressors = {
        "zlib": n.Zlib(3), "gzip": n.GZip(3), "bz2": n.BZ2(3), "zstd": n.Zstd(3), "zstd_sum": n.Zstd(3, checksum=True), "lz4": n.LZ4(2),
        "lzma": n.LZMA(preset=3), "lzma_alone": n.LZMA(format=2), "lzma_raw": n.LZMA(format=3, filters=lzma2),
        **{f"blosc_{name}": n.Blosc(name, 5, shuffle, 64) for name, shuffle in BLOSC},
    }
    for name, codec in compressors.items():
        yield name, "<i4", None, codec
    filters = {
        "crc32": [n.CRC32()], "crc32_end": [n.CRC32("end")], "crc32c": [CRC32C()], "crc32c_start": [CRC32C("start")],
        "adler32": [n.Adler32()], "adler32_end": [n.Adler32("end")], "fletcher32": [n.Fletcher32()], "jenkins": [JenkinsLookup3()],
        "base64": [n.Base64()], "shuffle": [n.Shuffle(4)], "shuffle_2": [n.Shuffle(2)], "shuffle_0": [n.Shuffle(0)],
        "delta": [n.Delta("<i4")], "fixedscaleoffset": [n.FixedScaleOffset(0, 1, "<i4", "<i2")], "astype": [n.AsType("<i2", "<i4")],
        "all": [n.Shuffle(4), n.Fletcher32(), n.Base64(), n.CRC32()],
    }
    for name, codecs in filters.items():
        yield name, "<i4", codecs, n.Zlib(1)
        yield f"{name}_alone", ">i4" if name.startswith("shuffle") else "<i4", codecs, None
    yield "quantize", "<f4", [n.Quantize(2, "<f4")], n.Zlib(1)
    yield "bitround", "<f4", [BitRound(8)], n.Zlib(1)
    yield "packbits", "|b1", [n.PackBits()], None


def version_3():
    """Yields name, data type, filters and compressors."""
    import zarr.codecs as z
    import zarr.codecs.numcodecs as n

    codecs = {
        "gzip": z.GzipCodec(level=3), "zstd": z.ZstdCodec(level=3), "zstd_sum": z.ZstdCodec(level=3, checksum=True), "crc32c": z.Crc32cCodec(),
        **{f"blosc_{name}": z.BloscCodec(cname=name, shuffle=["noshuffle", "shuffle", "bitshuffle"][shuffle]) for name, shuffle in BLOSC},
        "n_zlib": n.Zlib(level=3), "n_gzip": n.GZip(level=3), "n_bz2": n.BZ2(level=3), "n_lzma": n.LZMA(preset=3),
        "n_lzma_alone": n.LZMA(format=2), "n_zstd": n.Zstd(level=3), "n_lz4": n.LZ4(acceleration=2),
        **{f"n_blosc_{name}": n.Blosc(cname=name, shuffle=shuffle, blocksize=64) for name, shuffle in BLOSC},
        "n_crc32": n.CRC32(), "n_crc32_end": n.CRC32(location="end"), "n_crc32c": n.CRC32C(), "n_crc32c_start": n.CRC32C(location="start"),
        "n_adler32": n.Adler32(), "n_adler32_end": n.Adler32(location="end"), "n_fletcher32": n.Fletcher32(), "n_jenkins": n.JenkinsLookup3(),
        "n_shuffle": n.Shuffle(elementsize=4), "n_shuffle_2": n.Shuffle(elementsize=2), "n_shuffle_0": n.Shuffle(elementsize=0),
    }
    for name, codec in codecs.items():
        yield name, "<i4", None, [codec]
    yield "n_all", "<i4", None, [n.Shuffle(elementsize=4), n.Fletcher32(), n.CRC32(), z.GzipCodec()]
    yield "n_delta", "<i4", [n.Delta(dtype="<i4")], [n.Zlib(level=1)]
    yield "n_fixedscaleoffset", "<i4", [n.FixedScaleOffset(offset=0, scale=1, dtype="<i4", astype="<i2")], None
    yield "n_astype", "<i4", [n.AsType(encode_dtype="<i2", decode_dtype="<i4")], None
    yield "n_quantize", "<f4", [n.Quantize(digits=2, dtype="<f4")], None
    yield "n_bitround", "<f4", [n.BitRound(keepbits=8)], None
    yield "n_packbits", "|b1", [n.PackBits()], None


def make(path, version):
    group = zarr.open_group(path, mode="w", zarr_format=version)
    for name, dtype, filters, compressors in version_2() if version == 2 else version_3():
        array = group.create_array(
            name, shape=SHAPE, chunks=CHUNKS, dtype=dtype, filters=filters, compressors=compressors, fill_value=0)
        array[:] = NUMBERS.astype(dtype)


def codecs_of(array):
    if zarr.__version__.startswith("2."):
        return [codec.codec_id for codec in [*(array.filters or ()), array.compressor] if codec]
    metadata = array.metadata.to_dict()
    if metadata["zarr_format"] == 2:
        return [codec["id"] for codec in [*(metadata["filters"] or ()), metadata["compressor"]] if codec]
    return [codec["name"].removeprefix("numcodecs.") for codec in metadata["codecs"] if codec["name"] != "bytes"]


def read(path):
    is_2 = zarr.__version__.startswith("2.")
    group = zarr.open_group(path, mode="r")
    # Only version 3 of zarr-python opens a group with an unknown codec in none of its arrays.
    names = sorted(group.array_keys())
    for name in names:
        try:
            array = group[name]
        except Exception as error:
            assert is_2 and "crc32c" in str(error), (name, error)
            continue
        np.testing.assert_array_equal(array[...], NUMBERS.astype(bool if "packbits" in name else "i4"), err_msg=name)
        print(name, ",".join(codecs_of(array)))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    {"make": lambda p, v: make(p, int(v)), "read": read}[sys.argv[1]](*sys.argv[2:])
