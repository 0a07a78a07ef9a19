"""xarray's own tests of files, written and read by the engine ``ferrocdf``."""

import contextlib

import pytest
from xarray.tests import test_backends
from xarray.tests.conftest import *  # noqa: F403

# Their fixture for units of time is one of another file.
from xarray.tests.test_backends import create_tmp_file

from ferrocdf.xarray import FerrocdfStore


@pytest.fixture(params=["s", "ms", "us", "ns"])
def time_unit(request):
    return request.param


class Engine:
    """What the classes of xarray ask for."""

    engine = "ferrocdf"
    file_format = "NETCDF4"

    @contextlib.contextmanager
    def create_store(self):
        with create_tmp_file() as place, FerrocdfStore.open(place, mode="w", format=self.file_format) as store:
            yield store


class TestNetCDF4(Engine, test_backends.NetCDF4Base):
    # The tests of filters are those of the engine netcdf4.
    test_compression_encoding = test_backends.TestNetCDF4Data.test_compression_encoding
    test_variable_order = test_backends.TestNetCDF4Data.test_variable_order
    test_setncattr_string = test_backends.TestNetCDF4Data.test_setncattr_string


class TestNetCDF4OfDask(TestNetCDF4):
    @contextlib.contextmanager
    def roundtrip(self, data, save_kwargs=None, open_kwargs=None, allow_cleanup_failure=False):
        open_kwargs = {"chunks": -1, **(open_kwargs or {})}
        with super().roundtrip(data, save_kwargs, open_kwargs, allow_cleanup_failure) as found:
            yield found

    @pytest.mark.skip(reason="arrays of Dask are not cached, as in xarray's own class for Dask")
    def test_dataset_caching(self):
        pass

    test_write_inconsistent_chunks = test_backends.TestNetCDF4ViaDaskData.test_write_inconsistent_chunks


class TestNetCDF4Classic(Engine, test_backends.NetCDF3Only, test_backends.CFEncodedBase):
    file_format = "NETCDF4_CLASSIC"


class TestNetCDF3Classic(Engine, test_backends.NetCDF3Only, test_backends.CFEncodedBase):
    file_format = "NETCDF3_CLASSIC"


class TestNetCDF364Bit(Engine, test_backends.NetCDF3Only, test_backends.CFEncodedBase):
    file_format = "NETCDF3_64BIT"


class TestCdf5(Engine, test_backends.CFEncodedBase):
    file_format = "CDF5"

    @pytest.mark.skip(reason="netCDF engines do not read asynchronously, as in xarray's own classes for them")
    def test_load_async(self):
        pass


class TestMemory(Engine, test_backends.InMemoryNetCDFWithGroups, test_backends.FileObjectNetCDF):
    pass
