"""Functions on whole datasets."""

import shutil
import subprocess

import netCDF4
import numpy as np
import pytest

import ferrocdf


@pytest.fixture
def filled(path):
    # The name of the file is that of the dataset in CDL, where `data` is a keyword.
    path = path.with_name("sample.nc")
    with ferrocdf.open(path, "w") as data:
        data.create_variable("v", dimensions=["y", "x"], data=np.arange(12.0).reshape(3, 4), attrs={"units": "ünits"})
        data.create_variable("w", dimensions=["x"], data=np.arange(4))
    return path


def test_cdl_is_that_of_ncdump(filled):
    for options, keywords in [([], {}), (["-h"], {"data": False}), (["-v", "w"], {"variables": ["w"]})]:
        wanted = subprocess.run(["/usr/bin/ncdump", *options, filled], capture_output=True, text=True, check=True).stdout
        assert ferrocdf.to_cdl(filled, **keywords) == wanted


def test_info_has_dimensions_and_variables(filled):
    found = ferrocdf.info(filled)
    assert "v" in str(found) and found == ferrocdf.info(str(filled))


def test_copies_are_read_by_netcdf4(filled, tmp_path):
    copy = tmp_path / "copy.nc"
    assert ferrocdf.copy(filled, copy, kind="netCDF-4", chunks={"y": 1, "x": 2}, level=3, shuffle=True) == []
    with netCDF4.Dataset(copy) as data:
        assert data["v"][:].tolist() == np.arange(12.0).reshape(3, 4).tolist() and data["v"].units == "ünits"
        assert data["v"].chunking() == [1, 2] and data["v"].filters()["complevel"] == 3
    store = tmp_path / "copy.zarr"
    ferrocdf.copy(copy, store, filters="zstd,3")
    with ferrocdf.open(store) as data:
        assert data["v"].filters == ["Zstandard,3"] and data["v"][2, 3] == 11
    shutil.rmtree(store)
    with pytest.raises(ferrocdf.Error, match="none.nc"):
        ferrocdf.copy(tmp_path / "none.nc", copy)
    with pytest.raises(ferrocdf.Error, match="none.nc"):
        ferrocdf.to_cdl(tmp_path / "none.nc")
    with pytest.raises(FileNotFoundError):
        ferrocdf.info(tmp_path / "none.nc")
