"""Any thread may read and write, at once."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import ferrocdf


def test_sixteen_threads_read_and_write_one_dataset(path):
    with ferrocdf.open(path, "w") as data:
        data.create_dimension("x", 1000)
        for number in range(16):
            data.create_variable(f"v{number}", "int", ["x"], chunks=[100], compression="deflate")

        def work(number):
            for round_ in range(20):
                data[f"v{number}"][...] = np.arange(1000) + number + round_
                assert data[f"v{number}"][999] == 999 + number + round_
                data[f"v{number}"].attrs["round"] = round_
            return number

        with ThreadPoolExecutor(16) as pool:
            assert list(pool.map(work, range(16))) == list(range(16))
    with ferrocdf.open(path) as data, ThreadPoolExecutor(16) as pool:
        sums = list(pool.map(lambda number: int(data[f"v{number}"][...].sum()), range(16)))
        assert sums == [sum(range(1000)) + 1000 * (number + 19) for number in range(16)]


def _sum(variable):
    return float(variable[...].sum())


def test_forked_and_spawned_processes_read(path):
    with ferrocdf.open(path, "w") as data:
        data.create_variable("v", dimensions=["x"], data=np.ones(500_000), chunks=[1000], compression="deflate")
    with ferrocdf.open(path) as data:
        assert _sum(data["v"]) == 500_000
        for method in ("fork", "spawn"):
            with multiprocessing.get_context(method).Pool(2) as pool:
                assert pool.map(_sum, [data["v"]] * 4, chunksize=1) == [500_000.0] * 4
