"""Datasets in stores of fsspec and obstore: xarray and zarr made them."""

import asyncio
import pickle
import threading

import aiohttp.web
import fsspec
import numpy as np
import obstore.store
import pytest
import xarray as xr
import zarr
from fsspec.implementations.memory import MemoryFileSystem

import ferrocdf

HEAT = np.arange(1200.0).reshape(30, 40)


@pytest.fixture
def folder(tmp_path):
    """A folder with a netCDF-4 file, a classic one, and Zarr stores of version 2, of version 3, and of shards without consolidated metadata."""
    data = xr.Dataset({"heat": (("y", "x"), HEAT, {"units": "K"})}, {"x": np.arange(40)}, {"title": "stores"})
    data.to_netcdf(tmp_path / "a.nc", engine="netcdf4", encoding={"heat": {"zlib": True, "chunksizes": (10, 10)}})
    data.to_netcdf(tmp_path / "classic.nc", engine="netcdf4", format="NETCDF3_CLASSIC")
    data.to_zarr(tmp_path / "v2.zarr", zarr_format=2, encoding={"heat": {"chunks": (10, 10)}})
    data.to_zarr(tmp_path / "v3.zarr", zarr_format=3, encoding={"heat": {"chunks": (10, 10)}})
    group = zarr.create_group(tmp_path / "shards", zarr_format=3)
    group.create_array("heat", data=HEAT, chunks=(5, 10), shards=(10, 20), dimension_names=["y", "x"])
    return tmp_path


NAMES = ["a.nc", "classic.nc", "v2.zarr", "v3.zarr", "shards"]


def check_heat(dataset):
    heat = dataset["heat"]
    assert heat.dimensions == ["y", "x"] and heat[...].tolist() == HEAT.tolist()
    assert heat[3:30:7, [1, 39]].tolist() == HEAT[3:30:7, [1, 39]].tolist()


@pytest.fixture
def server(folder):
    """The URL of a web server that has the folder."""
    loop, ready = asyncio.new_event_loop(), threading.Event()
    place = []

    async def serve():
        application = aiohttp.web.Application()
        application.router.add_static("/", folder)
        runner = aiohttp.web.AppRunner(application)
        await runner.setup()
        await aiohttp.web.TCPSite(runner, "127.0.0.1", 0).start()
        place.append(runner)
        ready.set()

    loop.create_task(serve())
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    ready.wait()
    yield f"http://127.0.0.1:{place[0].addresses[0][1]}"
    asyncio.run_coroutine_threadsafe(place[0].cleanup(), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()


def in_memory(folder, fs):
    """Copies the folder to a file system in memory."""
    for path in folder.rglob("*"):
        if path.is_file():
            fs.pipe_file(f"/place/{path.relative_to(folder)}", path.read_bytes())
    return fs


@pytest.fixture
def memory(folder):
    fs = in_memory(folder, fsspec.filesystem("memory", skip_instance_cache=True))
    yield fs
    fs.rm("/place", recursive=True)


@pytest.mark.parametrize("name", NAMES)
def test_fsspec_stores_have_the_values(folder, memory, name):
    check_heat(ferrocdf.open(fsspec.get_mapper(str(folder / name))))
    check_heat(ferrocdf.open(name, store=fsspec.get_mapper(str(folder))))
    check_heat(ferrocdf.open(folder / name, store=fsspec.filesystem("file")))
    check_heat(ferrocdf.open(memory.get_mapper(f"/place/{name}")))
    check_heat(ferrocdf.open(f"memory://place/{name}", store=memory))


@pytest.mark.parametrize("name", NAMES)
def test_obstore_stores_have_the_values(folder, name):
    memory = obstore.store.MemoryStore()
    for path in folder.rglob("*"):
        if path.is_file():
            memory.put(f"place/{path.relative_to(folder)}", path.read_bytes())
    check_heat(ferrocdf.open(f"place/{name}", store=memory))
    check_heat(ferrocdf.open(name, store=obstore.store.LocalStore(folder)))
    if (folder / name).is_dir():
        check_heat(ferrocdf.open(obstore.store.LocalStore(folder / name)))
        check_heat(ferrocdf.open("", store=obstore.store.LocalStore(folder / name)))


@pytest.mark.parametrize("name", ["a.nc", "classic.nc", "v2.zarr"])
def test_stores_of_a_web_server_have_the_values(server, name):
    check_heat(ferrocdf.open(fsspec.get_mapper(f"{server}/{name}")))
    check_heat(ferrocdf.open(f"{server}/{name}", store=fsspec.filesystem("http")))
    check_heat(ferrocdf.open(name, store=obstore.store.HTTPStore(server, client_options={"allow_http": True})))


def test_chunks_are_requested_together(folder):
    class Counting(MemoryFileSystem):
        store, pseudo_dirs, rounds = {}, [""], []

        def cat_ranges(self, paths, starts, ends, **options):
            self.rounds.append(len(paths))
            return super().cat_ranges(paths, starts, ends, **options)

    fs = in_memory(folder, Counting(skip_instance_cache=True))
    for name, chunks in (("v2.zarr", 12), ("v3.zarr", 12)):
        heat = ferrocdf.open(fs.get_mapper(f"/place/{name}"))["heat"]
        Counting.rounds.clear()
        assert heat[...].tolist() == HEAT.tolist()
        assert Counting.rounds == [chunks]

    class Meeting:
        """A store that answers only when four requests for chunks wait."""

        def __init__(self, store):
            self.store, self.barrier = store, threading.Barrier(4, timeout=60)
            self.get_ranges, self.list_with_delimiter, self.head = store.get_ranges, store.list_with_delimiter, store.head

        def get(self, path, **options):
            if "/c/" in path:
                self.barrier.wait()
            return self.store.get(path, **options)

    check = ferrocdf.open("v3.zarr", store=Meeting(obstore.store.LocalStore(folder)))["heat"]
    assert check[:20, :20].tolist() == HEAT[:20, :20].tolist()


def test_xarray_reads_stores(folder):
    wanted = xr.load_dataset(folder / "v3.zarr", engine="zarr")
    mapping = fsspec.get_mapper(str(folder / "v3.zarr"))
    xr.testing.assert_identical(xr.load_dataset(mapping, engine="ferrocdf"), wanted)
    for name in ("a.nc", "v2.zarr", "v3.zarr"):
        data = ferrocdf.open(name, store=obstore.store.LocalStore(folder))
        xr.testing.assert_identical(xr.open_dataset(data, engine="ferrocdf").load(), wanted)


def test_datasets_in_stores_are_pickled(folder):
    for data in (
        ferrocdf.open(fsspec.get_mapper(str(folder / "v3.zarr"))),
        ferrocdf.open("a.nc", store=fsspec.get_mapper(str(folder))),
        ferrocdf.open("v2.zarr", store=obstore.store.LocalStore(folder)),
    ):
        check_heat(pickle.loads(pickle.dumps(data)))


def test_missing_datasets_and_chunks(folder):
    for store in (fsspec.get_mapper(str(folder)), obstore.store.LocalStore(folder)):
        with pytest.raises(FileNotFoundError, match="none.nc"):
            ferrocdf.open("none.nc", store=store)
        (folder / "v3.zarr/heat/c/0/0").unlink(missing_ok=True)
        found = ferrocdf.open("v3.zarr", store=store)["heat"][...]
        assert np.isnan(found[:10, :10]).all() and found[10:].tolist() == HEAT[10:].tolist()
    with pytest.raises(FileNotFoundError):
        ferrocdf.open(fsspec.get_mapper(str(folder / "none.zarr")))


def test_exceptions_of_a_store_are_the_cause(folder):
    class Failing:
        def __init__(self, store):
            self.get_ranges, self.list_with_delimiter, self.head, self.store = None, store.list_with_delimiter, store.head, store

        def get(self, path, **options):
            if "heat/" in path and "c/" in path:
                raise PermissionError("not yours")
            return self.store.get(path, **options)

    heat = ferrocdf.open("v3.zarr", store=Failing(obstore.store.LocalStore(folder)))["heat"]
    with pytest.raises(ferrocdf.PermissionDenied, match="heat/c/.*not yours") as failed:
        heat[...]
    assert isinstance(failed.value.__cause__, PermissionError)


def test_empty_and_short_objects_are_no_datasets(folder):
    (folder / "empty.nc").write_bytes(b"")
    (folder / "short.nc").write_bytes(b"CDF\x01\x00\x00")
    for name in ("empty.nc", "short.nc"):
        for store in (fsspec.get_mapper(str(folder)), obstore.store.LocalStore(folder)):
            with pytest.raises(ferrocdf.Error):
                ferrocdf.open(name, store=store)


def test_stores_are_only_read_and_others_are_no_stores(folder):
    store = obstore.store.LocalStore(folder)
    for mode in ("a", "w"):
        with pytest.raises(ValueError, match="only read"):
            ferrocdf.open("new.nc", mode, store=store)
    with pytest.raises(TypeError, match="a store is one of obstore"):
        ferrocdf.open("a.nc", store={"a.nc": b""})
