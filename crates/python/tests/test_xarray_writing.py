"""Datasets that are written from xarray, read by other engines."""

import io
import subprocess
import sys

import dask
import dask.distributed
import h5py
import netCDF4
import numpy as np
import pytest
import xarray as xr
import zarr

import ferrocdf
from ferrocdf.xarray import FerrocdfStore

FORMATS = ["NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_64BIT", "NETCDF3_CLASSIC", "CDF5"]


@pytest.fixture
def weather():
    rng = np.random.default_rng(5)
    heat = rng.random((6, 4, 5))
    heat[1, 2] = np.nan
    return xr.Dataset(
        {
            "heat": (("time", "y", "x"), heat, {"units": "K", "levels": [1.5, 2.5]}),
            "count": (("y", "x"), rng.integers(0, 99, (4, 5)).astype("i4")),
            "word": ("y", np.array(["a", "", "ünï", "dd"], object)),
            "code": ("y", np.array([b"ab", b"c", b"", b"def"])),
            "flag": ("x", np.array([True, False, True, True, False])),
            "scale": ((), np.float32(2.5)),
        },
        {"time": np.array("2020-01-01", "M8[ns]") + np.arange(6) * np.timedelta64(1, "D"), "x": np.arange(5) * 10, "lat": ("y", [1.0, 2.0, 3.0, 4.0])},
        {"title": "weather", "number": 3},
    )


def opened(path, engine="netcdf4", **options):
    with xr.open_dataset(path, engine=engine, **options) as found:
        return found.load()


@pytest.mark.parametrize("format", FORMATS)
def test_a_dataset_of_every_format_is_read_by_other_engines(path, weather, format):
    ferrocdf.to_netcdf(weather, path, format=format, unlimited_dims="time")
    with netCDF4.Dataset(path) as data:
        assert data.data_model == {"NETCDF3_64BIT": "NETCDF3_64BIT_OFFSET", "CDF5": "NETCDF3_64BIT_DATA"}.get(format, format)
        assert data.dimensions["time"].isunlimited()
    for engine in ("netcdf4", "ferrocdf"):
        xr.testing.assert_identical(opened(path, engine), weather)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_store_is_read_by_other_engines(tmp_path, weather, zarr_format):
    # Without netCDF's metadata the bytes of version 2 are text to netCDF.
    text = weather.drop_vars("code")
    weather = weather if zarr_format == 2 else text
    ferrocdf.to_zarr(weather, tmp_path / "store", zarr_format=zarr_format)
    xr.testing.assert_identical(xr.open_zarr(tmp_path / "store", chunks=None).load(), weather)
    xr.testing.assert_identical(opened(tmp_path / "store", "ferrocdf").drop_vars("code", errors="ignore"), text)
    with pytest.raises(FileExistsError):
        ferrocdf.to_zarr(weather, tmp_path / "store", zarr_format=zarr_format)
    ferrocdf.to_zarr(weather[["count"]], tmp_path / "store", "w")
    assert set(zarr.open_group(tmp_path / "store").array_keys()) == {"count", "x", "lat"}


def test_xarray_writes_with_the_engine(path, weather):
    weather.to_netcdf(path, engine="ferrocdf", encoding={"heat": {"zlib": True, "chunksizes": (1, 4, 5)}})
    xr.testing.assert_identical(opened(path), weather)
    assert opened(path)["heat"].encoding["chunksizes"] == (1, 4, 5)


def test_accessors_write(path, tmp_path, weather):
    weather.ferrocdf.to_netcdf(path)
    xr.testing.assert_identical(opened(path), weather)
    weather["heat"].ferrocdf.to_netcdf(path)
    xr.testing.assert_identical(xr.load_dataarray(path), weather["heat"])
    weather["heat"].rename(None).ferrocdf.to_zarr(tmp_path / "store")
    xr.testing.assert_identical(xr.load_dataarray(tmp_path / "store", engine="zarr"), weather["heat"].rename(None))
    weather["x"].ferrocdf.to_netcdf(path)
    xr.testing.assert_identical(xr.load_dataarray(path), weather["x"])


def test_trees_are_written_with_their_groups(path, tmp_path, weather):
    weather = weather.drop_vars("code")
    tree = xr.DataTree.from_dict({"/": weather[["count"]], "/model": weather[["flag"]], "/model/run": weather[["scale"]]})
    encoding = {"/model": {"flag": {"zlib": True, "complevel": 7}}}
    tree.ferrocdf.to_netcdf(path, encoding=encoding)
    with xr.open_datatree(path, engine="netcdf4") as found:
        xr.testing.assert_identical(found.load(), tree)
        assert found["model/flag"].encoding["complevel"] == 7
    assert "x" not in opened(path, group="model").coords
    tree.ferrocdf.to_netcdf(path, write_inherited_coords=True)
    assert "x" in opened(path, group="model").coords
    tree.ferrocdf.to_zarr(tmp_path / "store")
    with xr.open_datatree(tmp_path / "store", engine="zarr") as found:
        xr.testing.assert_identical(found.load(), tree)
    with pytest.raises(ValueError, match="groups that are not in the data"):
        tree.ferrocdf.to_netcdf(path, encoding={"/nowhere": {}})


def test_groups_are_written_beside_others(path, tmp_path, weather):
    ferrocdf.to_netcdf(weather[["count"]], path)
    ferrocdf.to_netcdf(weather[["flag"]], path, "a", group="model/run")
    xr.testing.assert_identical(opened(path), weather[["count"]])
    xr.testing.assert_identical(opened(path, group="model/run"), weather[["flag"]])
    ferrocdf.to_zarr(weather[["count"]], tmp_path / "store")
    ferrocdf.to_zarr(weather[["flag"]], tmp_path / "store", "w", group="model")
    xr.testing.assert_identical(xr.open_zarr(tmp_path / "store", chunks=None).load(), weather[["count"]])


def test_modes_are_those_of_xarray(path, weather):
    with pytest.raises(FileNotFoundError):
        ferrocdf.to_netcdf(weather, path, "r+")
    ferrocdf.to_netcdf(weather[["count"]], path, "a")
    with pytest.raises(FileExistsError):
        ferrocdf.to_netcdf(weather, path, "w-")
    ferrocdf.to_netcdf(weather[["count", "flag"]] + 1, path, "a")
    assert np.array_equal(opened(path)["count"], weather["count"] + 1) and "flag" in opened(path)
    ferrocdf.to_netcdf(weather[["count"]].assign_attrs(title="new"), path, "r+")
    assert np.array_equal(opened(path)["count"], weather["count"]) and opened(path).title == "weather"
    with pytest.raises(ValueError, match="do not exist"):
        ferrocdf.to_netcdf(weather[["heat"]], path, "r+")
    with pytest.raises(ValueError, match="mode 'x-'"):
        ferrocdf.to_netcdf(weather, path, "x-")
    ferrocdf.to_netcdf(weather[["flag"]], path)
    assert "count" not in opened(path)


@pytest.mark.parametrize("kind", ["netcdf", "zarr"])
def test_a_part_is_written_as_what_is_there(tmp_path, kind):
    write, place = (ferrocdf.to_netcdf, tmp_path / "a.nc") if kind == "netcdf" else (ferrocdf.to_zarr, tmp_path / "a")
    engine = "netcdf4" if kind == "netcdf" else "zarr"
    times = np.array("2020-01-01", "M8[ns]") + np.arange(8) * np.timedelta64(6, "h")
    whole = xr.Dataset({"v": (("time", "x"), np.arange(24.0).reshape(8, 3)), "w": ("x", [1, 2, 3])}, {"time": times})
    first = whole.isel(time=slice(5))
    options = {"unlimited_dims": "time"} if kind == "netcdf" else {}
    write(first, place, encoding={"v": {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -1}, "time": {"units": "hours since 2019-01-01", "dtype": "i4"}}, **options)
    write(whole.isel(time=slice(5, 8)), place, append_dim="time")
    xr.testing.assert_identical(opened(place, engine), whole)
    assert opened(place, engine)["v"].encoding["dtype"] == np.dtype("i2")
    changed = whole.drop_vars("w")
    changed["v"] = changed["v"].copy(data=changed["v"] * 10)
    write(changed.isel(time=slice(1, 3)), place, region={"time": slice(1, 3)})
    write(changed.isel(time=slice(6, 8)).transpose(), place, region="auto")
    wanted = np.where(np.isin(np.arange(8), [1, 2, 6, 7])[:, None], whole["v"] * 10, whole["v"])
    assert np.array_equal(opened(place, engine)["v"], wanted)
    for region, message in [
        ({"time": slice(0, 3)}, "and the part that is written"),
        ({"y": slice(0, 1)}, "no dimension of the dataset"),
        ({"time": slice(0, 4, 2)}, "step 1"),
        ({"x": slice(0, 3)}, "none of its dimensions"),
    ]:
        with pytest.raises(ValueError, match=message):
            write(changed.isel(time=slice(2)), place, region=region)
    with pytest.raises(KeyError, match="are not in the dataset"):
        write(changed.isel(time=slice(2)).assign_coords(time=times[:2] + np.timedelta64(1, "h")), place, region={"time": "auto"})
    with pytest.raises(ValueError, match="do not follow each other"):
        write(changed.isel(time=[0, 2]), place, region={"time": "auto"})
    with pytest.raises(ValueError, match="do not exist"):
        write(changed.rename(v="u"), place, append_dim="time")
    with pytest.raises(ValueError, match="keep theirs"):
        write(changed, place, append_dim="time", encoding={"v": {"dtype": "f4"}})
    xr.testing.assert_identical(opened(place, engine)[["w", "time"]], whole[["w", "time"]])


def test_appending_needs_a_dimension_that_grows(path, weather):
    ferrocdf.to_netcdf(weather[["heat"]], path)
    with pytest.raises(ValueError, match="unlimited_dims=\\['time'\\]"):
        ferrocdf.to_netcdf(weather[["heat"]], path, append_dim="time")


def test_stores_of_zarr_python_are_appended_to(tmp_path, weather):
    weather = weather[["heat", "word"]]
    weather.isel(time=slice(4)).to_zarr(tmp_path / "store", encoding={"heat": {"chunks": (3, 4, 5)}})
    ferrocdf.to_zarr(weather.isel(time=slice(4, 6)), tmp_path / "store", "a-", append_dim="time")
    xr.testing.assert_identical(xr.open_zarr(tmp_path / "store", chunks=None).load(), weather)


@pytest.mark.parametrize(
    ("encoding", "wanted"),
    [
        ({"zlib": True}, {"zlib": True, "complevel": 4, "shuffle": True}),
        ({"zlib": True, "complevel": 9, "shuffle": False, "fletcher32": True}, {"complevel": 9, "shuffle": False, "fletcher32": True}),
        ({"zlib": True, "complevel": 0}, {"zlib": False, "shuffle": False}),
        ({"compression": "zlib", "chunksizes": (2, 2, 2)}, {"zlib": True, "shuffle": True, "chunksizes": (2, 2, 2)}),
        ({"compression": "gzip", "compression_opts": 6}, {"zlib": True, "complevel": 6, "shuffle": False}),
        ({"compression": "zstd", "complevel": 2}, {"zstd": True, "complevel": 2, "shuffle": False}),
        ({"compression": "bzip2", "shuffle": True}, {"bzip2": True, "complevel": 4, "shuffle": True}),
        ({"compression": "blosc_zstd", "blosc_shuffle": 2, "complevel": 3}, {"blosc": {"compressor": "blosc_zstd", "shuffle": 2}, "complevel": 3}),
        ({"compression": "szip", "szip_coding": "ec", "szip_pixels_per_block": 4}, {"szip": {"coding": "ec", "pixels_per_block": 4}}),
        ({"contiguous": True}, {"contiguous": True}),
    ],
    ids=str,
)
def test_encodings_are_those_of_the_engine_netcdf4(path, weather, encoding, wanted):
    ferrocdf.to_netcdf(weather[["heat"]], path, encoding={"heat": encoding})
    for engine in ("netcdf4", "ferrocdf"):
        found = opened(path, engine)["heat"]
        xr.testing.assert_identical(found, weather["heat"])
        assert {key: found.encoding[key] for key in wanted} == wanted, engine


@pytest.mark.parametrize("encoding", [{"compression": "lzf"}, {"compression": 32004, "compression_opts": (0,)}, {"filters": ["shuffle", "lz4,0"]}], ids=str)
def test_filters_without_a_key_survive_a_round_trip(path, tmp_path, weather, encoding):
    ferrocdf.to_netcdf(weather[["heat"]], path, encoding={"heat": encoding})
    found = opened(path, "ferrocdf")
    ferrocdf.to_netcdf(found, tmp_path / "again.nc")
    with ferrocdf.open(path) as data, ferrocdf.open(tmp_path / "again.nc") as again:
        assert data["heat"].filters == again["heat"].filters and len(data["heat"].filters) == len(encoding.get("filters", [1]))


def test_numbers_are_rounded_as_it_is_asked_for(path):
    values = np.random.default_rng(2).random(1000) * 100
    data = xr.Dataset({name: ("x", values) for name in ("point", "groom", "bits")})
    encoding = {"point": {"least_significant_digit": 2}, "groom": {"significant_digits": 3}, "bits": {"significant_digits": 9, "quantize_mode": "BitRound"}}
    ferrocdf.to_netcdf(data, path, encoding=encoding)
    theirs = path.with_name("theirs.nc")
    data.to_netcdf(theirs, engine="netcdf4", encoding=encoding)
    with netCDF4.Dataset(path) as found, netCDF4.Dataset(theirs) as wanted:
        for name in data:
            assert np.array_equal(found[name][:], wanted[name][:]) and not np.array_equal(found[name][:], values), name
            assert found[name].ncattrs() == wanted[name].ncattrs() and found[name].quantization() == wanted[name].quantization()
    assert opened(path, "ferrocdf")["point"].encoding["least_significant_digit"] == 2


def test_the_byte_order_is_stored(path):
    data = xr.Dataset({"a": ("x", np.arange(3, dtype=">i4")), "b": ("x", np.arange(3.0)), "c": ("x", np.arange(3, dtype="<i2"))})
    ferrocdf.to_netcdf(data, path, encoding={"b": {"endian": "big"}})
    with h5py.File(path) as file:
        assert [file[name].dtype.str for name in "abc"] == [">i4", ">f8", "<i2"]
    xr.testing.assert_identical(opened(path), data)


def test_codecs_of_zarr_are_written(tmp_path, weather):
    codecs = [zarr.codecs.BloscCodec(cname="lz4", clevel=3, shuffle="bitshuffle"), zarr.codecs.GzipCodec(level=2), zarr.codecs.ZstdCodec(level=7), None]
    heat = weather["heat"].drop_vars(["lat", "x", "time"])
    for at, codec in enumerate(codecs):
        place = tmp_path / str(at)
        ferrocdf.to_zarr(heat.to_dataset(), place, encoding={"heat": {"compressors": codec, "chunks": (2, 2, 5), "shards": (4, 4, 5)}})
        found = zarr.open_array(place, path="heat")
        kinds = [type(codec)] if codec is not None else []
        assert [type(each) for each in found.compressors] == kinds and found.chunks == (2, 2, 5) and found.shards == (4, 4, 5)
        assert np.array_equal(found[...], heat, equal_nan=True)
        # What the engine zarr found is stored again.
        again = tmp_path / f"{at} again"
        ferrocdf.to_zarr(xr.open_zarr(place, chunks=None), again)
        found, wanted = (zarr.open_array(folder, path="heat") for folder in (again, place))
        assert (found.chunks, found.shards, found.compressors) == (wanted.chunks, wanted.shards, wanted.compressors)
    ferrocdf.to_zarr(heat.to_dataset(), tmp_path / "plain")
    assert [type(each) for each in zarr.open_array(tmp_path / "plain", path="heat").compressors] == [zarr.codecs.ZstdCodec]


def test_arrays_of_dask_are_written_block_by_block(path, tmp_path, weather):
    weather = weather.drop_vars("code").chunk(time=2, x=3)
    ferrocdf.to_netcdf(weather, path, encoding={"heat": {"zlib": True, "chunksizes": (3, 4, 2)}})
    xr.testing.assert_identical(opened(path), weather.compute())
    later = ferrocdf.to_netcdf(weather, path, compute=False)
    later.compute()
    xr.testing.assert_identical(opened(path), weather.compute())
    ferrocdf.to_zarr(weather, tmp_path / "store", compute=False).compute()
    assert zarr.open_array(tmp_path / "store", path="heat").chunks == (2, 4, 3)
    xr.testing.assert_identical(xr.open_zarr(tmp_path / "store", chunks=None).load(), weather.compute())
    with dask.config.set(scheduler="processes"):
        with pytest.raises(NotImplementedError, match="share no lock"):
            ferrocdf.to_netcdf(weather, path)
        ferrocdf.to_zarr(weather.isel(time=slice(4)), tmp_path / "store", "w")
        ferrocdf.to_zarr(weather.isel(time=slice(4, 6)), tmp_path / "store", append_dim="time")
    xr.testing.assert_identical(xr.open_zarr(tmp_path / "store", chunks=None).load(), weather.compute())


def test_processes_of_a_cluster_write(path, tmp_path):
    data = xr.Dataset({"v": (("time", "x"), np.arange(6000.0).reshape(60, 100))}, {"time": np.arange(60)})
    # Blocks share chunks.
    blocks, encoding = data.chunk(time=7, x=50), {"v": {"chunks": (10, 40)}}
    with dask.distributed.LocalCluster(2, threads_per_worker=2, dashboard_address=None) as cluster, dask.distributed.Client(cluster):
        ferrocdf.to_netcdf(blocks, path, encoding=encoding, unlimited_dims="time")
        xr.testing.assert_identical(opened(path), data)
        blocks.to_netcdf(path, engine="ferrocdf", format="NETCDF3_CLASSIC", compute=False).compute()
        xr.testing.assert_identical(opened(path), data)
        ferrocdf.to_zarr(blocks.isel(time=slice(40)), tmp_path / "store", encoding=encoding)
        ferrocdf.to_zarr(blocks.isel(time=slice(40, 60)), tmp_path / "store", append_dim="time")
        xr.testing.assert_identical(opened(tmp_path / "store", "zarr"), data)


def test_bytes_and_file_objects_get_the_dataset(weather):
    made = ferrocdf.to_netcdf(weather)
    xr.testing.assert_identical(xr.load_dataset(made, engine="ferrocdf"), weather)
    file = io.BytesIO()
    ferrocdf.to_netcdf(weather, file, format="NETCDF3_CLASSIC")
    assert file.getvalue().startswith(b"CDF\x01") and not file.closed
    with pytest.raises(ValueError, match="path or a URL"):
        ferrocdf.to_netcdf(weather, file, "a")
    with pytest.raises(NotImplementedError, match="compute=False"):
        ferrocdf.to_netcdf(weather, compute=False)


@pytest.mark.parametrize(
    ("change", "options", "error", "message"),
    [
        (lambda data: data.assign_attrs(a={"b": 1}), {}, TypeError, "attribute 'a'"),
        (lambda data: data.assign_attrs(a=np.zeros((2, 2))), {}, ValueError, "one dimension"),
        (lambda data: data.assign(z=("x", np.zeros(5, complex))), {}, ValueError, "no type for the data type complex128"),
        (lambda data: data.rename(count="a/b"), {}, ValueError, "Forward slashes"),
        (lambda data: data.rename(count=3), {}, TypeError, "invalid name 3"),
        (lambda data: data, {"unlimited_dims": "z"}, ValueError, "unlimited_dims"),
        (lambda data: data, {"encoding": {"heat": {"nonesuch": 1}}}, ValueError, "unexpected encoding parameters"),
        (lambda data: data, {"encoding": {"heat": {"filters": [{"id": "nonesuch"}]}}}, ValueError, "no codec"),
        (lambda data: data, {"format": "HDF4"}, ValueError, "format 'HDF4'"),
        (lambda data: data["heat"].values, {}, TypeError, "no Dataset, DataArray or DataTree"),
    ],
)
def test_what_cannot_be_written_is_told(path, weather, change, options, error, message):
    with pytest.raises(error, match=message):
        ferrocdf.to_netcdf(change(weather), path, **options)


def test_bytes_have_no_place_in_zarr_3(tmp_path, weather):
    with pytest.raises(ValueError, match="Zarr 3 has no type for bytes"):
        ferrocdf.to_zarr(weather, tmp_path / "store")


def test_a_store_is_one_of_xarray(path, weather):
    with FerrocdfStore.open(path, "w") as store:
        weather.dump_to_store(store)
        xr.testing.assert_identical(xr.open_dataset(store).load(), weather)


def test_xarray_is_imported_by_those_who_use_it():
    code = "import sys, ferrocdf; assert 'xarray' not in sys.modules and 'to_netcdf' in dir(ferrocdf); ferrocdf.to_netcdf; assert 'xarray' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_part_is_not_written_in_a_mode_that_makes_a_dataset_anew(path, tmp_path, weather):
    ferrocdf.to_netcdf(weather, path, unlimited_dims="time")
    for options in ({"region": {"time": slice(0, 6)}}, {"append_dim": "time"}):
        with pytest.raises(ValueError, match="unless mode='a'"):
            ferrocdf.to_netcdf(weather[["heat", "time"]], path, "w", **options)
        with pytest.raises(ValueError, match="unless mode='a'"):
            ferrocdf.to_zarr(weather[["heat", "time"]], tmp_path / "store", "w", **options)
    with pytest.raises(ValueError, match="mode 'b'"):
        ferrocdf.to_netcdf(weather, path, "b")
    xr.testing.assert_identical(opened(path), weather)


@pytest.mark.parametrize("mode", ["a", "r+"])
def test_variables_that_exist_keep_their_encoding(path, tmp_path, mode):
    old = xr.Dataset({"v": ("x", [1.0, 2.0, np.nan])})
    encoding = {"v": {"dtype": "i2", "scale_factor": 0.1, "_FillValue": -1}}
    new = xr.Dataset({"v": ("x", [10.1, 20.2, np.nan])})
    ferrocdf.to_netcdf(old, path, encoding=encoding)
    ferrocdf.to_netcdf(new, path, mode)
    ferrocdf.to_zarr(old, tmp_path / "store", encoding=encoding)
    ferrocdf.to_zarr(new, tmp_path / "store", mode)
    for found in (opened(path), xr.open_zarr(tmp_path / "store", chunks=None)):
        np.testing.assert_allclose(found["v"], new["v"])
        assert found["v"].encoding["dtype"] == "i2"
    with pytest.raises(ValueError, match="dimensions"):
        ferrocdf.to_netcdf(xr.Dataset({"v": ("y", [1.0])}), path, mode)
    with pytest.raises(ValueError, match="encoding"):
        ferrocdf.to_netcdf(new, path, mode, encoding=encoding)


def test_a_part_whose_values_need_other_units_is_refused(path):
    days = xr.Dataset({"t": ("x", np.array("2000-01-01", "M8[ns]") + np.arange(2) * np.timedelta64(1, "D"))})
    ferrocdf.to_netcdf(days, path, encoding={"t": {"units": "days since 2000-01-01", "dtype": "i8"}})
    with pytest.warns(UserWarning), pytest.raises(ValueError, match="need units"):
        ferrocdf.to_netcdf(days + np.timedelta64(6, "h"), path, region={"x": slice(0, 2)})
    xr.testing.assert_equal(opened(path), days)


def test_text_is_padded_to_the_characters_that_are_stored(path):
    ferrocdf.to_netcdf(xr.Dataset({"t": ("x", np.array([b"abc", b"d", b"ef"]))}), path)
    ferrocdf.to_netcdf(xr.Dataset({"t": ("x", np.array([b"q", b"r", b"z"]))}), path, "a")
    assert opened(path)["t"].values.tolist() == [b"q", b"r", b"z"]
    with pytest.raises(ValueError, match="text of 4 bytes"):
        ferrocdf.to_netcdf(xr.Dataset({"t": ("x", np.array([b"q", b"r", b"long"]))}), path, region={"x": slice(0, 3)})
    assert opened(path)["t"].values.tolist() == [b"q", b"r", b"z"]


def test_an_append_that_fails_makes_nothing_longer(path, tmp_path):
    data = xr.Dataset({"v": (("time", "y"), np.ones((2, 3)))})
    ferrocdf.to_zarr(data, tmp_path / "store")
    ferrocdf.to_netcdf(data, path, format="NETCDF3_CLASSIC", unlimited_dims="time")
    wrong = xr.Dataset({"v": (("time", "y"), np.ones((2, 4)))})
    with pytest.raises(ValueError, match="has the dimensions"):
        ferrocdf.to_zarr(wrong, tmp_path / "store", append_dim="time")
    with pytest.raises(ValueError, match="has the dimensions"):
        ferrocdf.to_netcdf(wrong, path, append_dim="time")
    assert opened(path).sizes["time"] == opened(tmp_path / "store", "ferrocdf").sizes["time"] == 2


def test_what_is_wrong_is_found_before_a_dataset_is_replaced(path, weather):
    ferrocdf.to_netcdf(weather, path)
    with pytest.raises(TypeError):
        ferrocdf.to_netcdf(weather.assign_attrs(bad={"a": 1}), path)
    with pytest.raises(ValueError, match="encoding for variables"):
        ferrocdf.to_netcdf(weather, path, encoding={"none": {"zlib": True}})
    xr.testing.assert_identical(opened(path), weather)
    given = io.BytesIO()
    with pytest.raises(ValueError):
        ferrocdf.to_netcdf(weather, given, encoding={"count": {"unknown": 1}})
    assert given.getvalue() == b""


def test_groups_are_added_to_a_store(tmp_path, weather):
    ferrocdf.to_zarr(weather[["count"]], tmp_path / "store", group="a")
    ferrocdf.to_zarr(weather[["flag"]], tmp_path / "store", group="b")
    with pytest.raises(FileExistsError):
        ferrocdf.to_zarr(weather[["flag"]], tmp_path / "store", group="b")
    assert set(zarr.open_group(tmp_path / "store").group_keys()) == {"a", "b"}
    with pytest.raises(KeyError):
        ferrocdf.to_zarr(weather[["flag"]], tmp_path / "store", "r+", group="c")
    assert set(zarr.open_group(tmp_path / "store").group_keys()) == {"a", "b"}
