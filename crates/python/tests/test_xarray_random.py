"""Random datasets go round between the engines ferrocdf, netcdf4, h5netcdf and zarr, and stay what they are.

One in ``FERROCDF_EVERY`` of 1000 datasets is tried, by default 33.
"""

import os

import numpy as np
import pytest
import xarray as xr

import ferrocdf
import ferrocdf.xarray  # noqa: F401, the engine

SEEDS = range(0, 1000, int(os.environ.get("FERROCDF_EVERY", "33")))

NUMBERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]
TEXTS = ["", "a", "word", "two words", "ünïcode", "日本"]

# What every engine tells of a variable of netCDF, and of one of Zarr.
ENCODING = ["dtype", "_FillValue", "scale_factor", "add_offset", "units", "calendar", "chunksizes", "contiguous", "original_shape"]
ENCODING_OF_FILTERS = ["zlib", "complevel", "shuffle", "fletcher32"]
ENCODING_OF_ZARR = ["_FillValue", "scale_factor", "add_offset", "units", "calendar"]


class Made:
    """A random dataset, and how it is to be stored."""

    def __init__(self, seed, for_zarr):
        self.rng = np.random.default_rng([seed, for_zarr])
        self.for_zarr = for_zarr
        sizes = {f"d{at}": self.one_of([1, 2, 3, 5, 8]) for at in range(self.rng.integers(1, 5))}
        if self.chance(0.1):
            sizes["d0"] = 0
        self.unlimited = set() if for_zarr else {dim for dim in sizes if self.chance(0.25)}
        data, self.encoding = xr.Dataset(attrs=self.attributes()), {}
        for at in range(self.rng.integers(1, 7)):
            dims = [str(dim) for dim in self.rng.permutation(list(sizes))[: self.rng.integers(0, len(sizes) + 1)]]
            self.add(data, f"v{at}", dims, sizes)
        for dim in sizes:
            if self.chance(0.3):
                data = data.assign_coords({dim: np.arange(sizes[dim], dtype=self.one_of(["i4", "f8"])) * 10})
        self.data = data
        self.unlimited &= set(data.dims)

    def chance(self, odds):
        return self.rng.random() < odds

    def one_of(self, choices):
        return choices[self.rng.integers(len(choices))]

    def attributes(self):
        makers = [
            lambda: self.one_of(TEXTS[1:]),
            lambda: int(self.rng.integers(-9, 9)),
            lambda: float(self.rng.random()),
            lambda: np.float32(self.rng.random()),
            lambda: self.rng.integers(0, 9, 3).astype(self.one_of(["i2", "i4", "f8"])),
            lambda: [self.one_of(TEXTS[1:]), self.one_of(TEXTS[1:])],
        ]
        return {f"a{at}": self.one_of(makers)() for at in range(self.rng.integers(0, 4))}

    def add(self, data, name, dims, sizes):
        """Adds a variable with values of a random type."""
        shape = [sizes[dim] for dim in dims]
        kind = self.one_of([*NUMBERS, "f4", "f8", "bool", "text", "object", "bytes", "time", "span", "packed"])
        if kind == "bytes" and self.for_zarr:
            kind = "text"
        encoding = {}
        if kind in NUMBERS:
            values = self.rng.integers(0, 100, shape).astype(kind)
            if kind[0] == "f":
                values += self.rng.random(shape).astype(kind)
                values[self.rng.random(shape) < 0.2] = np.nan
            elif self.chance(0.3):
                encoding["_FillValue"] = np.dtype(kind).type(101)
            if kind in ("f4", "f8") and self.chance(0.3):
                encoding["_FillValue"] = np.dtype(kind).type(-999)
        elif kind == "packed":
            values = self.rng.integers(0, 100, shape) * 0.25 + 3
            encoding.update(dtype="i2", scale_factor=0.25, add_offset=3.0, _FillValue=np.int16(-1))
        elif kind == "bool":
            values = self.rng.random(shape) < 0.5
        elif kind in ("text", "object"):
            values = self.rng.choice(np.array(TEXTS, object if kind == "object" else None), shape)
        elif kind == "bytes":
            values = self.rng.choice(np.array([b"ab", b"cde", b"f"]), shape)
        elif kind == "time":
            values = np.array("2001-01-01", "M8[ns]") + (self.rng.integers(0, 10**4, shape) * np.timedelta64(1, "h"))
        else:
            values = self.rng.integers(0, 10**4, shape) * np.timedelta64(1, "s").astype("m8[ns]")
        attributes = self.attributes()
        data[name] = xr.Variable(dims, values, attributes)
        self.encoding[name] = encoding
        if dims and kind not in ("text", "object", "bytes"):
            encoding.update(self.storage(dims, shape))

    def storage(self, dims, shape):
        """Returns chunks and filters, with the keys of the engine netcdf4."""
        chunks = tuple(int(self.rng.integers(1, max(size, 1) + 1)) for size in shape)
        if self.for_zarr:
            return {"chunks": chunks} if self.chance(0.6) else {}
        made = {}
        if self.chance(0.5):
            made["chunksizes"] = chunks
        if self.chance(0.5):
            made.update(zlib=True, complevel=int(self.rng.integers(1, 10)), shuffle=self.chance(0.5))
        if self.chance(0.3):
            made["fletcher32"] = True
        if not made and not self.unlimited & set(dims) and 0 not in shape:
            made["contiguous"] = True
        return made


def read(place, engine):
    options = {} if engine != "zarr" else {"chunks": None}
    with xr.open_dataset(place, engine=engine, **options) as found:
        return found.load()


def kind(dtype, in_zarr):
    """A data type, where the engine zarr has one for text of any length and one for text of a fixed length, and netCDF has one for both."""
    return "text" if in_zarr and dtype.kind in "UTO" else dtype


def assert_same(found, wanted, keys, what, in_zarr=False, any_chunks=()):
    """Values, types, attributes and encodings are those that are wanted, but for the chunks of variables in ``any_chunks``."""
    xr.testing.assert_identical(found, wanted)
    assert found.encoding.get("unlimited_dims", set()) == wanted.encoding.get("unlimited_dims", set()), what
    for name in wanted.variables:
        ours, theirs = found[name], wanted[name]
        assert kind(ours.dtype, in_zarr) == kind(theirs.dtype, in_zarr), (what, name)
        for key in keys:
            if key == "chunksizes" and name in any_chunks:
                continue
            given, expected = ours.encoding.get(key), theirs.encoding.get(key)
            assert given == expected or given != given and expected != expected, (what, name, key, given, expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_netcdf_files_go_round(tmp_path, seed):
    made = Made(seed, False)
    keys = [*ENCODING, *ENCODING_OF_FILTERS]
    first = tmp_path / "netcdf4.nc"
    made.data.to_netcdf(first, engine="netcdf4", encoding=made.encoding, unlimited_dims=made.unlimited)
    wanted = read(first, "netcdf4")
    assert_same(read(first, "ferrocdf"), wanted, keys, "ferrocdf reads what netcdf4 wrote")
    ours = tmp_path / "ferrocdf.nc"
    ferrocdf.to_netcdf(made.data, ours, encoding=made.encoding, unlimited_dims=made.unlimited)
    # The chunks that netCDF-C chooses along a dimension that grows depend on whether somebody has asked for its length.
    grows = wanted.encoding["unlimited_dims"]
    chosen = [name for name, variable in wanted.variables.items() if grows & set(variable.dims) and "chunksizes" not in made.encoding.get(name, {})]
    assert_same(read(ours, "netcdf4"), wanted, keys, "netcdf4 reads what ferrocdf wrote", any_chunks=chosen)
    assert_same(read(ours, "ferrocdf"), read(ours, "netcdf4"), keys, "ferrocdf reads what ferrocdf wrote")
    assert_same(read(ours, "h5netcdf"), read(first, "h5netcdf"), keys, "h5netcdf reads what ferrocdf wrote", any_chunks=chosen)
    # Once more, with the encodings that came with the data. xarray changes some of them, such as units of times.
    again, copied = tmp_path / "again.nc", tmp_path / "copied.nc"
    ferrocdf.to_netcdf(wanted, again)
    wanted.to_netcdf(copied, engine="netcdf4")
    assert_same(read(again, "netcdf4"), read(copied, "netcdf4"), keys, "netcdf4 reads what ferrocdf copied")
    xr.testing.assert_identical(read(again, "netcdf4"), wanted)
    ferrocdf.to_netcdf(read(first, "h5netcdf"), again)
    xr.testing.assert_identical(read(again, "netcdf4"), wanted)
    for engine in ("netcdf4", "h5netcdf"):
        read(ours, "ferrocdf").to_netcdf(again, engine=engine)
        assert_same(read(again, "ferrocdf"), read(again, "netcdf4"), keys, f"ferrocdf reads what {engine} copied")
        xr.testing.assert_identical(read(again, "ferrocdf"), wanted)


@pytest.mark.parametrize("seed", SEEDS)
def test_zarr_stores_go_round(tmp_path, seed):
    made = Made(seed, True)
    first, ours = tmp_path / "zarr", tmp_path / "ferrocdf"
    version = made.one_of([2, 3])
    made.data.to_zarr(first, encoding=made.encoding, zarr_format=version)
    wanted = read(first, "zarr")
    ferrocdf.to_zarr(made.data, ours, encoding=made.encoding, zarr_format=version)
    found = read(ours, "zarr")
    assert_same(found, wanted, ENCODING_OF_ZARR, "zarr reads what ferrocdf wrote", True)
    for name, encoding in made.encoding.items():
        assert found[name].encoding["chunks"] == encoding.get("chunks", found[name].encoding["chunks"])
    assert_same(read(ours, "ferrocdf"), found, [], "ferrocdf reads what ferrocdf wrote", True)
    xr.testing.assert_identical(read(first, "ferrocdf"), wanted)
    again, copied = tmp_path / "again", tmp_path / "copied"
    ferrocdf.to_zarr(wanted, again, zarr_format=version)
    # xarray does not write text again with the encoding that it has read from version 2.
    no_encoding = {name: variable.drop_encoding() for name, variable in wanted.variables.items() if variable.dtype.kind in "UTO"}
    wanted.assign(no_encoding).to_zarr(copied, zarr_format=version)
    xr.testing.assert_identical(read(again, "zarr"), wanted)
    assert_same(read(again, "zarr"), read(copied, "zarr"), [*ENCODING_OF_ZARR, "chunks"], "zarr reads what ferrocdf copied", True)
    # Through a file of netCDF.
    ferrocdf.to_netcdf(wanted, tmp_path / "a.nc")
    xr.testing.assert_identical(read(tmp_path / "a.nc", "netcdf4"), wanted)
