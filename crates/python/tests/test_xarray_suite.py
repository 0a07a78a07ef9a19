"""xarray's own tests of files, read by the engine ``ferrocdf``. The engine ``netcdf4`` writes them."""

import contextlib

import pytest
from xarray import backends
from xarray.tests import test_backends
from xarray.tests.conftest import *  # noqa: F403

# Their fixture for units of time is one of another file.
from xarray.tests.test_backends import create_tmp_file

WRITES_WITH_THE_ENGINE = "writes with `to_netcdf(engine=\"ferrocdf\")`, which is not there yet"


@pytest.fixture(params=["s", "ms", "us", "ns"])
def time_unit(request):
    return request.param


class TestFerrocdf(test_backends.NetCDF4Base):
    engine = "ferrocdf"
    file_format = "NETCDF4"

    @contextlib.contextmanager
    def create_store(self):
        with create_tmp_file() as place, backends.NetCDF4DataStore.open(place, mode="w") as store:
            yield store

    def save(self, dataset, path, **keywords):
        keywords.setdefault("format", self.file_format)
        return dataset.to_netcdf(path, **{**keywords, "engine": "netcdf4"})

    @pytest.mark.skip(reason=WRITES_WITH_THE_ENGINE)
    def test_create_default_indexes(self):
        pass
