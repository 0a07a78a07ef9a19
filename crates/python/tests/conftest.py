import pathlib

import pytest


@pytest.fixture
def path(tmp_path):
    return pathlib.Path(tmp_path) / "data.nc"
