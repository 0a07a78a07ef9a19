"""The engine of xarray reads what the engine netcdf4 reads."""

import netCDF4
import numpy as np
import pytest
import xarray as xr

import ferrocdf
from ferrocdf.xarray import FerrocdfBackend


@pytest.fixture
def weather(path):
    rng = np.random.default_rng(3)
    with netCDF4.Dataset(path, "w") as data:
        data.title = "weather"
        data.createDimension("time", None)
        data.createDimension("x", 5)
        data.createDimension("letters", 4)
        time = data.createVariable("time", "i4", ("time",))
        time.units, time.calendar = "days since 2000-01-01", "standard"
        time[:] = np.arange(6)
        packed = data.createVariable("packed", "i2", ("time", "x"), fill_value=-1, chunksizes=(2, 5), zlib=True, complevel=3)
        packed.set_auto_maskandscale(False)
        packed.scale_factor, packed.add_offset, packed.coordinates = 0.5, 10.0, "x2"
        packed[:] = rng.integers(-1, 9, (6, 5))
        data.createVariable("x2", "f4", ("x",))[:] = np.arange(5)
        data.createVariable("words", str, ("x",))[:] = np.array(["a", "b", "", "d", "ünï"], object)
        text = data.createVariable("text", "S1", ("x", "letters"))
        text._Encoding = "utf-8"
        text.set_auto_chartostring(False)
        text[:] = np.array([b"ab", b"cd", b"e", b"fghi", b""], "S4").view("S1").reshape(5, 4)
        inner = data.createGroup("model")
        inner.createVariable("v", "f8", ("time", "x"))[:] = rng.random((6, 5))
        inner.createGroup("run").createVariable("w", "u1", ("x",))[:] = np.arange(5)
    return path


def test_datasets_are_those_of_the_engine_netcdf4(weather):
    with xr.open_dataset(weather, engine="netcdf4") as theirs, xr.open_dataset(weather, engine="ferrocdf") as ours:
        xr.testing.assert_identical(theirs.load(), ours.load())
        for name in theirs.variables:
            assert theirs[name].dtype == ours[name].dtype, name
            wanted, found = theirs[name].encoding, ours[name].encoding
            for key in ("chunksizes", "contiguous", "zlib", "complevel", "shuffle", "scale_factor", "add_offset", "_FillValue", "units"):
                assert wanted.get(key) == found.get(key) or not wanted.get(key), (name, key)
        assert ours.encoding["unlimited_dims"] == {"time"}


@pytest.mark.parametrize(
    "selection",
    [{"time": 2}, {"time": [4, 1], "x": slice(None, None, -2)}, {"x": np.array([True, False, True, False, True])}, {"time": slice(1, 1)}],
    ids=str,
)
def test_selections_are_read_as_they_are_asked_for(weather, selection):
    with xr.open_dataset(weather, engine="netcdf4") as theirs, xr.open_dataset(weather, engine="ferrocdf") as ours:
        xr.testing.assert_identical(theirs.isel(selection).load(), ours.isel(selection).load())


def test_groups_and_trees(weather):
    with xr.open_dataset(weather, engine="netcdf4", group="model") as theirs:
        with xr.open_dataset(weather, engine="ferrocdf", group="/model") as ours:
            xr.testing.assert_identical(theirs.load(), ours.load())
    with xr.open_datatree(weather, engine="netcdf4") as theirs, xr.open_datatree(weather, engine="ferrocdf") as ours:
        xr.testing.assert_identical(theirs.load(), ours.load())
        assert list(ours.groups) == ["/", "/model", "/model/run"]


def test_a_dataset_that_is_open_is_taken_as_it_is(weather):
    with ferrocdf.open(weather) as data, xr.open_dataset(data, engine="ferrocdf", group="model") as ours:
        assert ours["v"].shape == (6, 5)


def test_only_files_of_this_engine_are_claimed(weather, tmp_path):
    backend = FerrocdfBackend()
    assert backend.guess_can_open(str(weather)) and backend.guess_can_open(weather.read_bytes())
    other = tmp_path / "other.nc"
    other.write_bytes(b"no dataset")
    assert not backend.guess_can_open(other)
    assert not backend.guess_can_open(str(tmp_path / "none.nc")) and not backend.guess_can_open("https://example.org/a.nc")
    assert not backend.guess_can_open(str(tmp_path))
