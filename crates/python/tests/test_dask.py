"""Datasets of xarray that workers of Dask write to one netCDF-4 file."""

import os
import random
import signal
import subprocess
import sys
import time

import dask
import dask.array as da
import dask.distributed
import h5py
import netCDF4
import numpy as np
import pytest
import xarray as xr

import ferrocdf.dask

SHAPE, BLOCK = (60, 40, 20), (20, 40, 10)


def numbers():
    return np.arange(np.prod(SHAPE), dtype="f8").reshape(SHAPE) % 1000


def weather(block=BLOCK):
    """A dataset whose arrays have the same names in each process."""
    heat = da.from_array(numbers(), chunks=block, name="heat-of-the-test")
    return xr.Dataset(
        {
            "heat": (("time", "y", "x"), heat, {"units": "K"}),
            "count": (("y", "x"), da.from_array(np.arange(800, dtype="i2").reshape(40, 20), chunks=block[1:], name="count-of-the-test")),
            "word": ("y", da.from_array(np.array(["a", "ü"] * 20, object), chunks=20, name="word-of-the-test")),
            "small": ("y", np.arange(40.0)),
            "scale": ((), np.float32(2.5)),
        },
        {"time": np.array("2020-01-01", "M8[ns]") + np.arange(60) * np.timedelta64(1, "D"), "x": np.arange(20) * 10},
        {"title": "weather"},
    )


ENCODING = {"heat": {"zlib": True, "complevel": 1, "scale_factor": 0.5, "dtype": "i4", "_FillValue": -1}}


def check(path):
    with xr.open_dataset(path, engine="h5netcdf") as found:
        xr.testing.assert_identical(found.load(), weather().load())
    with netCDF4.Dataset(path) as file:
        np.testing.assert_array_equal(file["heat"][:], numbers())


@pytest.fixture(scope="module")
def cluster():
    with dask.distributed.LocalCluster(n_workers=4, threads_per_worker=1, processes=True, dashboard_address=None) as made:
        with dask.distributed.Client(made) as client:
            yield client


@pytest.mark.parametrize("unlimited", [None, ["time"]])
def test_threads_write_a_file_that_others_read(path, unlimited):
    with dask.config.set(scheduler="threads"):
        ferrocdf.dask.to_netcdf(weather(), path, encoding=ENCODING, unlimited_dims=unlimited)
    check(path)
    assert os.listdir(path.parent) == [path.name]
    with h5py.File(path) as file:
        assert file["heat"].chunks == BLOCK and file["heat"].compression == "gzip" and file["heat"].dtype == "i4"
        assert file["heat"].maxshape[0] == (None if unlimited else 60)


def _refusal_of_three_threads():
    ferrocdf.open(None, "w").create_variable("v", dimensions=["x"], data=np.zeros(1_000_000), chunks=[1000], compression="deflate")[...]
    try:
        ferrocdf.configure(threads=3)
    except ferrocdf.InvalidArgument as error:
        return str(error)


def test_a_worker_uses_one_thread(cluster):
    assert "threads cannot change any more: 1 is in use" in cluster.submit(_refusal_of_three_threads, pure=False).result()


def test_processes_of_a_cluster_write_a_file(path, cluster):
    ferrocdf.dask.to_netcdf(weather(), path, encoding=ENCODING)
    check(path)
    later = ferrocdf.dask.to_netcdf(weather().heat, path, compute=False, parts=path.parent / "folder")
    check(path)
    later.compute()
    with xr.open_dataarray(path) as found:
        np.testing.assert_array_equal(found, numbers())
    assert os.listdir(path.parent / "folder") == []


def test_blocks_that_cut_chunks_are_refused_or_aligned(path):
    encoding = {"heat": {"chunksizes": (15, 40, 20)}, "count": {"chunksizes": (40, 20)}}
    with pytest.raises(ValueError, match="/heat.*dimension 'time': blocks of 20 elements cut chunks of 15; rechunk the data, or say align=True"):
        ferrocdf.dask.to_netcdf(weather(), path, encoding=encoding)
    assert not path.exists()
    ferrocdf.dask.to_netcdf(weather(), path, encoding=encoding, align=True)
    check(path)
    with h5py.File(path) as file:
        assert file["heat"].chunks == (15, 40, 20)


def test_a_restart_writes_only_the_parts_that_are_missing(path, monkeypatch):
    written, write_part = [], ferrocdf.parts.write_part

    def failing(plan, part, regions, *, key):
        if len(written) == 4:
            raise RuntimeError("the test ends it")
        written.append(part)
        return write_part(plan, part, regions, key=key)

    with dask.config.set(scheduler="synchronous"):
        monkeypatch.setattr(ferrocdf.parts, "write_part", failing)
        with pytest.raises(RuntimeError, match="the test ends it"):
            ferrocdf.dask.to_netcdf(weather(), path)
        assert not path.exists() and len(os.listdir(f"{path}.parts")) == 4
        again = []
        monkeypatch.setattr(ferrocdf.parts, "write_part", lambda plan, part, *a, **k: again.append(part) or write_part(plan, part, *a, **k))
        ferrocdf.dask.to_netcdf(weather(), path)
    assert len(again) == 6 + 2 - 4 and not set(again) & set(written)
    check(path)


def test_data_is_as_it_was_and_wrong_data_is_refused(path):
    data = weather()
    ferrocdf.dask.to_netcdf(data, path)
    assert "chunksizes" not in data.heat.encoding and data.heat.chunks == weather().heat.chunks
    with pytest.raises(TypeError):
        ferrocdf.dask.to_netcdf({"a": 1}, path)
    # Chunks of a file do not fit a part of its data.
    with xr.open_dataset(path, chunks={}) as found:
        ferrocdf.dask.to_netcdf(found.isel(x=slice(3, 9)), path.parent / "part.nc")
    with xr.open_dataset(path.parent / "part.nc") as found:
        np.testing.assert_array_equal(found.heat, numbers()[:, :, 3:9])
    with pytest.raises(ValueError, match="contiguous"):
        ferrocdf.dask.to_netcdf(data, path, encoding={"heat": {"contiguous": True}})
    check(path)


WORK = """
import sys
import dask, dask.distributed
import test_dask
import ferrocdf.dask
if __name__ == "__main__":
    cluster = dask.distributed.LocalCluster(n_workers=4, threads_per_worker=1, processes=True, dashboard_address=None)
    client = dask.distributed.Client(cluster)
    print(*client.run(__import__("os").getpid).values(), flush=True)
    while True:
        ferrocdf.dask.to_netcdf(test_dask.weather(), sys.argv[1], encoding=test_dask.ENCODING)
        print("written", flush=True)
"""


def test_killed_workers_and_coordinators_leave_no_half_file_and_a_restart_completes(path):
    kills = 100 if "FERROCDF_EVERY" in os.environ else 3
    rng = random.Random(2)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])}
    script = path.parent / "work.py"
    script.write_text(WORK)
    for kill in range(kills):
        log = (path.parent / "log").open("w")
        with subprocess.Popen([sys.executable, script, path], stdout=subprocess.PIPE, stderr=log, env=environment, start_new_session=True) as process:
            workers = [int(pid) for pid in process.stdout.readline().split()]
            assert len(workers) == 4, (path.parent / "log").read_text()
            time.sleep(rng.random())
            if kill % 2:
                # A worker: the cluster computes its parts anew, and the file after this one is complete.
                os.kill(rng.choice(workers), signal.SIGKILL)
                assert process.stdout.readline() == b"written\n"
                assert process.stdout.readline() == b"written\n"
            os.killpg(process.pid, signal.SIGKILL)
        log.close()
        if path.exists():
            check(path)
    ferrocdf.dask.to_netcdf(weather(), path, encoding=ENCODING)
    check(path)
    assert not os.path.exists(f"{path}.parts")
