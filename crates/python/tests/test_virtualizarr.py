"""The parser for VirtualiZarr: its own parser, xarray's engines and kerchunk judge the virtual datasets."""

import json
import warnings

import netCDF4
import numpy as np
import obstore.store
import pytest
import virtualizarr
import xarray as xr
from obspec_utils.registry import ObjectStoreRegistry
from virtualizarr.parsers import HDFParser

import ferrocdf.virtualizarr

# zarr tells of codecs and data types that Zarr 3 does not specify.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:zarr", "ignore::FutureWarning", "ignore:.*Zarr V3 specification")


def make(path, **format):
    """Writes variables of several types and layouts with netCDF4."""
    with netCDF4.Dataset(path, "w", **format) as data:
        is_enhanced = not format
        data.title = "waves"
        for name, length in (("time", None), ("x", 20), ("letter", 4)):
            data.createDimension(name, length)
        filters = {"zlib": True, "shuffle": True, "fletcher32": True, "chunksizes": [2, 10]} if is_enhanced else {}
        height = data.createVariable("height", "i2", ["time", "x"], fill_value=-1, **filters)
        height.scale_factor = 0.5
        height[:] = np.ma.masked_less(np.arange(100).reshape(5, 20), 7) / 2.0
        data.createVariable("speed", "f4", ["time", "x"], fill_value=np.nan)[:] = np.where(np.arange(100) % 7, np.arange(100), np.nan).reshape(5, 20)
        data.createVariable("time", "f8", ["time"])[:] = np.arange(5)
        data.createVariable("level", "f8", [])[...] = 2.5
        data.createVariable("letters", "S1", ["letter"])[:] = np.array([b"a", b"b", b"c", b"d"])
        if is_enhanced:
            data.createVariable("never", "i4", ["x"])
            data.createVariable("sparse", "f4", ["time", "x"], chunksizes=[1, 20], zlib=True)[4] = np.arange(20)
            data.createVariable("foreign", "f8", ["x"], endian="big")[:] = np.arange(20)
            inner = data.createGroup("inner")
            inner.note = "of the group"
            inner.createVariable("deep", "i4", ["x"])[:] = np.arange(20)
    return path


@pytest.fixture
def registry(tmp_path):
    return ObjectStoreRegistry({"file://": obstore.store.LocalStore()})


def parse(path, registry, **options):
    return ferrocdf.virtualizarr.Parser(**options)(path.as_uri(), registry)


def read(store, group=None):
    return xr.open_zarr(store, group=group, consolidated=False, zarr_format=3, chunks=None).load()


@pytest.mark.filterwarnings("ignore:endian-ness of dtype")
@pytest.mark.parametrize("format", [{}, {"format": "NETCDF3_CLASSIC"}, {"format": "NETCDF3_64BIT_DATA"}])
def test_virtual_datasets_have_the_values(tmp_path, registry, format):
    path = make(tmp_path / "a.nc", **format)
    with xr.open_dataset(path, engine="netcdf4", concat_characters=False) as wanted:
        wanted = wanted.load()
    found = xr.open_zarr(parse(path, registry), consolidated=False, zarr_format=3, chunks=None, concat_characters=False).load()
    xr.testing.assert_identical(found, wanted)


@pytest.mark.filterwarnings("ignore:endian-ness of dtype")
def test_groups_are_stores_and_parts_of_stores(tmp_path, registry):
    path = make(tmp_path / "a.nc")
    for found in (read(parse(path, registry), "inner"), read(parse(path, registry, group="/inner"))):
        assert found["deep"].values.tolist() == list(range(20)) and found.attrs == {"note": "of the group"}
    dropped = parse(path, registry, drop_variables=["height", "deep"])
    assert "height" not in read(dropped) and "speed" in read(dropped) and not read(dropped, "inner").data_vars
    with pytest.raises(KeyError, match="no group 'none'"):
        parse(path, registry, group="none")


@pytest.mark.filterwarnings("ignore:endian-ness of dtype")
def test_ranges_are_those_of_the_parser_of_virtualizarr(tmp_path, registry):
    path = make(tmp_path / "a.nc")
    wanted = HDFParser()(path.as_uri(), registry)._group
    found = parse(path, registry)._group
    for name in ("height", "speed", "level", "sparse"):
        assert found.arrays[name].manifest.dict() == wanted.arrays[name].manifest.dict(), name


@pytest.mark.filterwarnings("ignore:endian-ness of dtype")
def test_virtual_datasets_are_joined_and_written_for_kerchunk(tmp_path, registry):
    paths = [make(tmp_path / f"{number}.nc", format="NETCDF3_CLASSIC") for number in range(2)]
    parts = [
        virtualizarr.open_virtual_dataset(path.as_uri(), registry=registry, parser=ferrocdf.virtualizarr.Parser(), loadable_variables=["time"])
        for path in paths
    ]
    joined = xr.concat([part[["height", "time"]] for part in parts], "time", coords="minimal", compat="override")
    refs = joined.vz.to_kerchunk(format="dict")
    found = xr.open_dataset(ferrocdf.open_refs(refs), engine="ferrocdf")
    wanted = xr.open_dataset(paths[0], engine="netcdf4")["height"]
    assert found["height"].shape == (10, 20)
    np.testing.assert_array_equal(found["height"], np.concatenate([wanted, wanted]))
    assert json.loads(json.dumps(refs)) == refs


def test_zarr_stores_are_virtual_datasets_of_whole_objects(tmp_path, registry):
    data = xr.Dataset({"heat": (("y", "x"), np.arange(200.0).reshape(10, 20))})
    data.to_zarr(tmp_path / "a.zarr", zarr_format=2, encoding={"heat": {"chunks": (5, 10)}})
    xr.testing.assert_identical(read(parse(tmp_path / "a.zarr", registry)), data)


def test_what_manifests_cannot_express_is_a_warning(tmp_path, registry):
    path = tmp_path / "strings.nc"
    with netCDF4.Dataset(path, "w") as data:
        data.createDimension("x", 3)
        data.createVariable("names", str, ["x"])[:] = np.array(["a", "", "long"], object)
        data.createVariable("numbers", "i4", ["x"])[:] = np.arange(3)
    with pytest.warns(UserWarning, match="/names: its values are not all stored") as told:
        store = parse(path, registry)
    assert len([line for line in told if "skipped" in str(line.message)]) == 1
    assert list(read(store).data_vars) == ["numbers"]


def test_nothing_is_told_of_what_is_complete(tmp_path, registry):
    path = make(tmp_path / "a.nc", format="NETCDF3_CLASSIC")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.filterwarnings("ignore", module="zarr")
        parse(path, registry, drop_variables=["letters"])
