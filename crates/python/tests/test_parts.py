"""One netCDF-4 file that many workers write in parts."""

import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import time

import h5py
import netCDF4
import numpy as np
import pytest

import ferrocdf
from ferrocdf import parts

ROWS, COLUMNS, CHUNK = 40, 30, (10, 8)


def make_plan():
    data = ferrocdf.open(None, "w")
    data.create_dimension("time")
    data.create_dimension("x", COLUMNS)
    data.create_variable("v", "f4", ["time", "x"], chunks=CHUNK, compression="deflate", fill_value=-1.0, attrs={"units": "K"})
    data.create_variable("x", "f8", ["x"], data=np.arange(COLUMNS) / 2)
    return parts.Plan(data)


def values(first, last):
    return np.arange(first * COLUMNS, last * COLUMNS, dtype="f4").reshape(-1, COLUMNS)


def write_rows(arguments):
    plan, folder, first, last = arguments
    return parts.write_part(plan, f"{folder}/{first}.part", [("v", slice(first, last), values(first, last))], key="rows")


def check(path):
    """Reads the file with two other libraries."""
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["v"][:], values(0, ROWS))
        assert file["v"].chunks == CHUNK and file["v"].compression == "gzip"
    with netCDF4.Dataset(path) as file:
        np.testing.assert_array_equal(file["v"][:], values(0, ROWS))
        np.testing.assert_array_equal(file["x"][:], np.arange(COLUMNS) / 2)
        assert file["v"].units == "K" and file.dimensions["time"].isunlimited()


def test_processes_write_one_file_that_others_read(tmp_path):
    plan = pickle.loads(pickle.dumps(make_plan()))
    jobs = [(plan, str(tmp_path), first, first + 10) for first in range(0, ROWS, 10)]
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        written = pool.map(write_rows, jobs)
    assert parts.join(plan, written, tmp_path / "v.nc") == str(tmp_path / "v.nc")
    check(tmp_path / "v.nc")


def test_plan_at_a_path_and_indices_of_all_kinds(tmp_path):
    data = ferrocdf.open(tmp_path / "plan.nc", "w")
    data.create_dimension("n")
    for name, size in (("y", 4), ("x", 6)):
        data.create_dimension(name, size)
    data.create_variable("v", "i2", ["n", "y", "x"], chunks=[1, 4, 3], fill_value=-9)
    data.create_variable("t", "S1", ["x"], chunks=[6])
    data.close()
    regions = [
        ("v", 0, np.arange(24).reshape(4, 6)),
        ("/v", (slice(1, 3), ..., slice(0, 3)), 7),
        ("v", (3, slice(None), slice(3, None)), np.ma.masked_equal([1, 2, 3], 2)),
        ("t", ..., np.array([b"a", b"b", b"c", b"d", b"e", b"f"])),
    ]
    part = parts.write_part(tmp_path / "plan.nc", tmp_path / "p", regions)
    parts.join(tmp_path / "plan.nc", [part], tmp_path / "v.nc")
    wanted = np.full((4, 4, 6), -9)
    wanted[0], wanted[1:3, :, :3], wanted[3, :, 3:] = np.arange(24).reshape(4, 6), 7, [1, -9, 3]
    with h5py.File(tmp_path / "v.nc") as file:
        np.testing.assert_array_equal(file["v"][:], wanted)
        assert b"".join(file["t"][:]) == b"abcdef"


def test_regions_and_parts_that_are_wrong_are_refused(tmp_path):
    plan = make_plan()
    with pytest.raises(ferrocdf.InvalidArgument, match="cuts chunk 0.*rechunk"):
        parts.write_part(plan, tmp_path / "p", [("v", (slice(0, 10), slice(3, 8)), 0)])
    with pytest.raises(ferrocdf.InvalidArgument, match="no chunks"):
        parts.write_part(plan, tmp_path / "p", [("x", ..., 0)])
    with pytest.raises(IndexError, match="step"):
        parts.write_part(plan, tmp_path / "p", [("v", slice(0, 10, 2), 0)])
    with pytest.raises(ValueError):
        parts.write_part(plan, tmp_path / "p", [("v", slice(0, 10), np.zeros((3, COLUMNS)))])
    assert os.listdir(tmp_path) == []
    one, other = (parts.write_part(plan, tmp_path / name, [("v", slice(0, 10), 1)]) for name in "ab")
    with pytest.raises(ferrocdf.InvalidArgument, match="b: /v: chunk .* is in the part .*a as well"):
        parts.join(plan, [one, other], tmp_path / "v.nc")
    (tmp_path / "b").write_bytes((tmp_path / "a").read_bytes()[:-1])
    with pytest.raises(ferrocdf.Corrupt, match="cut off"):
        parts.join(plan, [one, other], tmp_path / "v.nc")
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_a_part_with_the_same_key_is_not_written_again(tmp_path):
    plan, path = make_plan(), tmp_path / "p"

    def write(value, key):
        parts.write_part(plan, path, [("v", slice(0, 10), value)], key=key)
        parts.join(plan, [path], tmp_path / "v.nc")
        return ferrocdf.open(tmp_path / "v.nc")["v"][0, 0]

    assert [write(1, "a"), write(2, "a"), write(3, "b"), write(4, ""), write(5, "")] == [1, 1, 3, 4, 5]


WORK = """
import sys
import test_parts
from ferrocdf import parts
plan, folder = test_parts.make_plan(), sys.argv[1]
print("ready", flush=True)
while True:
    written = [test_parts.write_rows((plan, folder, first, first + 10)) for first in range(0, test_parts.ROWS, 10)]
    parts.join(plan, written, f"{folder}/v.nc")
    for path in written:
        __import__("os").remove(path)
"""


def test_a_process_that_is_killed_leaves_no_half_file(tmp_path):
    kills = 100 if "FERROCDF_EVERY" in os.environ else 5
    rng = random.Random(1)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])}
    for _ in range(kills):
        with subprocess.Popen([sys.executable, "-c", WORK, tmp_path], stdout=subprocess.PIPE, env=environment) as process:
            assert process.stdout.readline() == b"ready\n"
            time.sleep(rng.random() * 0.1)
            process.send_signal(signal.SIGKILL)
        names = [name for name in os.listdir(tmp_path) if not name.startswith(".ferrocdf-")]
        assert set(names) <= {"v.nc", *(f"{first}.part" for first in range(0, ROWS, 10))}
        if "v.nc" in names:
            check(tmp_path / "v.nc")
    plan = make_plan()
    parts.join(plan, [write_rows((plan, tmp_path, first, first + 10)) for first in range(0, ROWS, 10)], tmp_path / "v.nc")
    check(tmp_path / "v.nc")
