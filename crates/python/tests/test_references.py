"""References: kerchunk and fsspec judge what is made, kerchunk makes what is opened, netCDF4 has the values."""

import json
import os
import pickle

import fsspec
import kerchunk.hdf
import kerchunk.netCDF3
import h5py
import netCDF4
import numpy as np
import pytest
import xarray as xr

import ferrocdf


def make(path, steps=4, start=0, units="m", **format):
    """Writes steps of a packed variable and a coordinate with netCDF4."""
    with netCDF4.Dataset(path, "w", **format) as data:
        data.title = "waves"
        data.createDimension("time", None)
        data.createDimension("x", 500)
        time = data.createVariable("time", "f8", ["time"])
        time.units = "days since 2000-01-01"
        chunks = {} if format.get("format", "").startswith("NETCDF3") else {"zlib": True, "chunksizes": [2, 250]}
        height = data.createVariable("height", "i2", ["time", "x"], fill_value=-1, **chunks)
        height.scale_factor, height.units = 0.5, units
        time[:] = np.arange(start, start + steps)
        height[:] = np.ma.masked_less(np.arange(steps * 500).reshape(steps, 500) % 300, 7) / 2.0
    return path


@pytest.fixture
def netcdf4(tmp_path):
    return make(tmp_path / "a.nc")


def values(dataset):
    return {name: dataset[name][...] for name in ("time", "height")}


def check_has(dataset, path):
    """Compares with the stored numbers that netCDF4 reads."""
    with netCDF4.Dataset(path) as wanted:
        wanted.set_auto_maskandscale(False)
        for name, found in values(dataset).items():
            assert found.dtype == wanted[name].dtype and found.tolist() == wanted[name][:].tolist(), name


def by_kerchunk(path):
    """What kerchunk makes of a file, every chunk by its place."""
    if h5py.is_hdf5(path):
        return kerchunk.hdf.SingleHdf5ToZarr(str(path), inline_threshold=0).translate()
    return kerchunk.netCDF3.NetCDF3ToZarr(str(path), inline_threshold=0, max_chunk_size=0).translate()


def test_references_have_the_ranges_that_kerchunk_finds(netcdf4):
    found, wanted = ferrocdf.write_refs(netcdf4, inline=0)["refs"], by_kerchunk(netcdf4)["refs"]
    ranges = {key: place for key, place in wanted.items() if isinstance(place, list) and key.startswith("height/")}
    assert len(ranges) == 4 and {key: found.get(key) for key in ranges} == ranges


@pytest.mark.parametrize("format", ["NETCDF4", "NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA"])
@pytest.mark.parametrize("inline", [0, 500])
def test_fsspec_and_xarray_read_the_references(tmp_path, format, inline):
    path = make(tmp_path / "a.nc", format=format)
    with xr.open_dataset(path, engine="netcdf4") as wanted:
        mapping = fsspec.filesystem("reference", fo=ferrocdf.write_refs(path, inline=inline)).get_mapper("")
        with xr.open_dataset(mapping, engine="zarr", consolidated=False) as found:
            xr.testing.assert_identical(found.load(), wanted.load())
        output = tmp_path / "refs.json"
        assert ferrocdf.write_refs(str(path), output, inline=inline) is None
        for engine in ("kerchunk", "ferrocdf"):
            with xr.open_dataset(str(output), engine=engine) as found:
                xr.testing.assert_identical(found.load(), wanted.load())


@pytest.mark.parametrize("format", ["NETCDF4", "NETCDF3_CLASSIC"])
def test_references_of_kerchunk_open_in_every_form(tmp_path, format):
    path = make(tmp_path / "a.nc", format=format)
    made = by_kerchunk(path)
    text = json.dumps(made)
    output = tmp_path / "refs.json"
    output.write_text(text)
    for refs in (made, made["refs"], text, f" {text}", text.encode(), bytearray(text.encode()), output, str(output)):
        with ferrocdf.open_refs(refs) as data:
            check_has(data, path)
    # A file object may be one of a server, which must not name files of this machine.
    with open(output, "rb") as file, ferrocdf.open_refs(file, base=tmp_path) as data:
        check_has(data, path)
    with open(output, "rb") as file, ferrocdf.open_refs(file) as data:
        with pytest.raises(ferrocdf.InvalidArgument, match="say where they come from"):
            data["height"][:]


def test_inline_values_are_texts_bytes_and_numbers_of_numpy(netcdf4):
    refs = ferrocdf.write_refs(netcdf4, inline=0)["refs"]
    where, offset, length = refs["height/0.0"]
    with open(where, "rb") as file:
        file.seek(offset)
        refs["height/0.0"] = file.read(length)
    refs["height/0.1"] = [refs["height/0.1"][0], *(np.int64(number) for number in refs["height/0.1"][1:])]
    check_has(ferrocdf.open_refs(refs), netcdf4)
    with pytest.raises(TypeError, match="no set"):
        ferrocdf.open_refs({"height/0.0": {1}})


def test_relative_paths_begin_at_the_base_and_nowhere_else(netcdf4, tmp_path, monkeypatch):
    refs = ferrocdf.write_refs(netcdf4, base="", inline=0)
    assert refs["refs"]["height/0.0"][0] == "a.nc"
    check_has(ferrocdf.open_refs(refs, base=tmp_path), netcdf4)
    check_has(ferrocdf.open_refs(json.dumps(refs), base=tmp_path.as_uri()), netcdf4)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "refs.json").write_text(json.dumps(refs))
    check_has(ferrocdf.open_refs(elsewhere / "refs.json", base=tmp_path), netcdf4)
    # The current folder has the file, and nobody named it.
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ferrocdf.InvalidArgument, match="a.nc.* say where they come from"):
        ferrocdf.open_refs(refs)["height"][0]
    with pytest.raises(FileNotFoundError, match="a.nc"):
        ferrocdf.open_refs(refs, base=elsewhere)["height"][0]
    check_has(ferrocdf.open_refs(refs, base="."), netcdf4)
    assert ferrocdf.write_refs(netcdf4, base="s3://bucket/run/", inline=0)["refs"]["height/0.0"][0] == "s3://bucket/run/a.nc"


def test_bytes_that_turn_out_to_be_references_name_no_files(netcdf4):
    text = json.dumps(ferrocdf.write_refs(netcdf4, inline=0)).encode()
    with pytest.raises(ferrocdf.InvalidArgument, match="references in memory"):
        ferrocdf.open(text)["height"][0]


def test_files_are_joined_or_refused_with_what_differs(tmp_path):
    parts = [make(tmp_path / f"{number}.nc", start=4 * number) for number in range(3)]
    data = ferrocdf.open_refs(ferrocdf.write_refs(parts, concat="time"))
    assert data["time"][:].tolist() == list(range(12)) and data["height"].shape == (12, 500)
    with ferrocdf.open(parts[2]) as last:
        assert data["height"][8:].tolist() == last["height"][:].tolist()
    other = make(tmp_path / "other.nc", units="feet")
    with pytest.raises(ferrocdf.InvalidArgument, match="other.nc.*units"):
        ferrocdf.write_refs([*parts, other], concat="time")
    with pytest.raises(ferrocdf.InvalidArgument, match="`concat`"):
        ferrocdf.write_refs(parts)


def test_references_do_not_overwrite_their_source(netcdf4):
    before = netcdf4.read_bytes()
    with pytest.raises(ferrocdf.InvalidArgument, match="overwrite"):
        ferrocdf.write_refs(netcdf4, netcdf4)
    assert netcdf4.read_bytes() == before


def test_what_is_skipped_is_a_warning_with_the_reason(tmp_path):
    path = tmp_path / "halves.nc"
    with h5py.File(path, "w") as file:
        file.create_dataset("halves", (3000, 3000), "f2", chunks=(1000, 1000))
        file["small"] = np.arange(3)
    with pytest.warns(UserWarning, match="/halves: .*too many to become inline") as told:
        refs = ferrocdf.write_refs(path)
    assert len(told) == 1 and told[0].filename == __file__
    with ferrocdf.open_refs(refs) as data:
        assert list(data.variables) == ["small"]


def test_datasets_of_references_are_pickled_and_read_by_xarray(netcdf4, tmp_path):
    refs = ferrocdf.write_refs(netcdf4, base="")
    data = ferrocdf.open_refs(refs, base=tmp_path)
    check_has(pickle.loads(pickle.dumps(data)), netcdf4)
    assert pickle.loads(pickle.dumps(data["height"]))[3, 5] == data["height"][3, 5]
    wanted = xr.load_dataset(netcdf4, engine="netcdf4")
    found = xr.open_dataset(data, engine="ferrocdf")
    xr.testing.assert_identical(pickle.loads(pickle.dumps(found)).load(), wanted)
    tree = xr.open_datatree(ferrocdf.open_refs(refs, base=tmp_path), engine="ferrocdf")
    xr.testing.assert_identical(tree.to_dataset().load(), wanted)
