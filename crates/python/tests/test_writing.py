"""What is written here is read by other libraries."""

import threading
from concurrent.futures import ThreadPoolExecutor

import h5py
import netCDF4
import numpy as np
import pytest

import ferrocdf

KINDS = ["classic", "64-bit offset", "cdf5", "netCDF-4", "netCDF-4 classic model"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_dataset_of_every_kind_is_read_by_netcdf4(path, kind):
    values = np.arange(24, dtype="f4").reshape(2, 3, 4)
    with ferrocdf.open(path, "w", kind=kind) as data:
        data.create_dimension("time")
        data.create_dimension("y", 3)
        data.create_dimension("x", 4)
        made = data.create_variable("v", "float", ["time", "y", "x"], attrs={"units": "K", "range": [0.5, 1.5]}, fill_value=-1)
        made[:] = values
        made[3, 1] = 7
        data.attrs["title"] = "a title"
        data.create_variable("text", "char", ["x"])[:] = np.array([b"a", b"b", b"c", b"d"])
    wanted = np.concatenate([values, np.full((2, 3, 4), -1, "f4")])
    wanted[3, 1] = 7
    with netCDF4.Dataset(path) as data:
        data.set_auto_mask(False)
        assert data.title == "a title" and data["v"].units == "K" and data["v"].range.tolist() == [0.5, 1.5]
        assert np.array_equal(data["v"][:], wanted) and data["v"].dtype == np.dtype("f4")
        assert data["text"][:].tobytes() == b"abcd"


@pytest.mark.parametrize(
    ("index", "values"),
    [
        (..., 5),
        (0, np.arange(6)),
        (slice(None, None, -1), np.arange(24).reshape(4, 6)),
        ((slice(None), [4, 1]), np.arange(8).reshape(4, 2)),
        (([3, 0], slice(None, None, 2)), [[1], [2]]),
        ((slice(1, 3), slice(0, 0)), np.zeros((2, 0))),
        ((1, 2), 9),
        (np.array([True, False, False, True]), np.arange(6)),
        (..., np.asfortranarray(np.arange(24).reshape(4, 6))),
        (..., np.arange(24, dtype=">i4").reshape(4, 6)),
        (..., np.broadcast_to(np.arange(6.0), (4, 6))),
        (..., np.arange(24).reshape(1, 1, 4, 6)),
    ],
)
def test_assignments_are_those_of_numpy(path, index, values):
    wanted = np.full((4, 6), -1.0)
    parts = index if isinstance(index, tuple) else (index,)
    lists = [at for at, part in enumerate(parts) if isinstance(part, list)]
    wanted[np.ix_(*(np.arange(wanted.shape[at])[part] for at, part in enumerate((*parts, *[slice(None)] * (2 - len(parts))))) ) if lists else index] = values
    with ferrocdf.open(path, "w") as data:
        made = data.create_variable("v", dimensions=["y", "x"], data=np.full((4, 6), -1.0), chunks=[3, 4], compression="deflate")
        made[index] = values
        assert np.array_equal(made[...], wanted)
    with netCDF4.Dataset(path) as data:
        assert np.array_equal(data["v"][:], wanted)


def test_records_are_appended(path):
    with ferrocdf.open(path, "w") as data:
        data.create_dimension("time")
        data.create_dimension("x", 2)
        data.create_variable("v", "double", ["time", "x"])[:] = [[1, 2]]
    for step in range(3):
        with ferrocdf.open(path, "a") as data:
            data["v"][len(data["v"]):] = [[step, step]]
    with netCDF4.Dataset(path) as data:
        assert data["v"][:].tolist() == [[1, 2], [0, 0], [1, 1], [2, 2]]


def test_wrong_values_are_refused(path):
    with ferrocdf.open(path, "w") as data:
        made = data.create_variable("v", dimensions=["x"], data=np.zeros(3, "i1"))
        with pytest.raises(ValueError, match="broadcast"):
            made[:] = [1, 2]
        with pytest.raises(ValueError):
            made[:] = "text"
        with pytest.raises(ferrocdf.InvalidArgument, match="does not fit"):
            made[:] = [1, 300, 2]
        with pytest.raises(IndexError):
            made[3] = 1
        with pytest.raises(KeyError, match="no dimension"):
            data.create_variable("w", "int", ["nowhere"])
        with pytest.raises(ferrocdf.InvalidArgument, match="no filter is called nonesuch"):
            data.create_variable("w", "int", ["x"], filters=["nonesuch"])
        assert list(data.variables) == ["v"]


def test_chunks_and_filters_are_those_asked_for(path):
    with ferrocdf.open(path, "w") as data:
        values = np.arange(100.0).reshape(10, 10)
        made = data.create_variable(
            "v", dimensions=["y", "x"], data=values, chunks=[5, 2], compression="deflate", level=3, fletcher32=True, endian="big"
        )
        data.create_variable("q", dimensions=["y", "x"], data=values / 3, quantize=("BitGroom", 3))
    with ferrocdf.open(path) as data:
        made = data["v"]
        assert (made.chunks, made.endian) == ((5, 2), "big") and sorted(made.filters) == ["deflate,3", "fletcher32", "shuffle,8"]
    with h5py.File(path) as file:
        found = file["v"]
        assert (found.chunks, found.compression, found.compression_opts) == ((5, 2), "gzip", 3)
        assert found.shuffle and found.fletcher32 and found.dtype == np.dtype(">f8")
        assert np.array_equal(found[:], values)
        assert np.allclose(file["q"][:], values / 3, rtol=1e-3) and not np.array_equal(file["q"][:], values / 3)


def test_strings_and_types_of_users_are_read_by_netcdf4(path):
    point = np.dtype([("x", "f8"), ("n", "i4", (2,))])
    with ferrocdf.open(path, "w") as data:
        data.create_dimension("n", 3)
        data.create_variable("words", str, ["n"])[:] = ["a", "", "ünï"]
        data.create_type("point", point)
        data.create_type("lists", np.dtype("O", metadata={"vlen": "i4"}))
        data.create_type("sky", np.dtype("u1", metadata={"enum": {"clear": 0, "cloudy": 1}}))
        values = np.array([(1, (2, 3)), (4, (5, 6)), (7, (8, 9))], point)
        data.create_variable("points", "point", ["n"])[:] = values
        ragged = np.empty(3, object)
        ragged[:] = [[1], [], [2, 3, 4]]
        data.create_variable("ragged", "lists", ["n"])[:] = ragged
        data.create_variable("skies", "sky", ["n"], fill_value=1)[:2] = [1, 0]
        data["words"].attrs["list"] = ["x", "y"]
        assert data["ragged"][2].tolist() == [2, 3, 4] and data["points"][1]["n"].tolist() == [5, 6]
    with netCDF4.Dataset(path) as data:
        assert data["words"][:].tolist() == ["a", "", "ünï"] and data["words"].list == ["x", "y"]
        found = data["points"][:]
        assert np.array_equal(found["x"], values["x"]) and np.array_equal(found["n"], values["n"])
        assert [part.tolist() for part in data["ragged"][:]] == [[1], [], [2, 3, 4]]
        data["skies"].set_auto_mask(False)
        assert data["skies"][:].tolist() == [1, 0, 1] and data["skies"].datatype.enum_dict == {"clear": 0, "cloudy": 1}


def test_objects_are_removed_and_renamed(path):
    with ferrocdf.open(path, "w") as data:
        data.create_group("g").create_variable("v", dimensions=["x"], data=[1, 2])
        data.create_variable("old", dimensions=["y"], data=[3])
    with ferrocdf.open(path, "a") as data:
        stale = data["old"]
        data["g/v"].rename("w")
        data.remove("old")
        with pytest.raises(ferrocdf.Error, match="look it up again"):
            stale[...]
        data["g"].rename("h")
        with pytest.raises(KeyError):
            data.remove("old")
    with netCDF4.Dataset(path) as data:
        assert list(data.variables) == [] and data["h/w"][:].tolist() == [1, 2]


def test_a_dataset_in_memory_gives_its_bytes():
    with ferrocdf.open(None, "w") as data:
        data.create_variable("v", dimensions=["x"], data=[1, 2, 3])
        content = data.to_bytes()
    with netCDF4.Dataset("none", memory=content) as data:
        assert data["v"][:].tolist() == [1, 2, 3]


def test_zarr_stores_are_made_and_read(tmp_path):
    place = tmp_path / "data.zarr"
    with ferrocdf.open(place, "w", kind="zarr") as data:
        data.create_variable("v", dimensions=["y", "x"], data=np.arange(12.0).reshape(3, 4), chunks=[2, 2], compression="zstd")
    with ferrocdf.open(place) as data:
        assert data.container == "Zarr 3" and data["v"][::-1, 1].tolist() == [9, 5, 1]


def test_x_makes_no_file_twice(path):
    ferrocdf.open(path, "x").close()
    with pytest.raises(FileExistsError):
        ferrocdf.open(path, "x")
    with pytest.raises(ValueError, match="mode"):
        ferrocdf.open(path, "q")


def test_steps_count_for_values_of_other_types_too(path):
    with ferrocdf.open(path, "w") as data:
        numbers = data.create_variable("n", dimensions=["x"], data=np.zeros(6, "i4"))
        numbers[::2] = np.array([1, 2, 3], object)
        assert numbers[:].tolist() == [1, 0, 2, 0, 3, 0]
        letters = data.create_variable("c", "char", ["x"])
        letters[:] = ["-"] * 6
        letters[::2] = ["a", "b", "c"]
        assert letters[:].tobytes() == b"a-b-c-"


def test_texts_fill_the_last_dimension_of_letters(path):
    with ferrocdf.open(path, "w") as data:
        data.create_dimension("x", 3)
        data.create_dimension("letters", 5)
        made = data.create_variable("c", "char", ["x", "letters"])
        made[0] = "hello"
        made[1] = b"hi"
        made[2, 1] = "z"
        assert made[...].tobytes() == b"hellohi\0\0\0\0z\0\0\0"
        made[:] = ["a", "bc", "ü"]
        assert made[...].tobytes() == b"a\0\0\0\0bc\0\0\0" + "ü".encode() + b"\0\0\0"
        made[:2] = np.array([b"fghij", b"k"])
        assert made[:2].tobytes() == b"fghijk\0\0\0\0"
        with pytest.raises(ValueError, match="does not fit"):
            made[0] = "too long"


def test_texts_in_structures_are_whole(path):
    record = np.dtype([("n", "i4"), ("s", "S4"), ("t", "S2", (2,))])
    values = np.array([(1, b"abcd", [b"ef", b"g"]), (2, b"x", [b"", b"yz"])], record)
    with ferrocdf.open(path, "w") as data:
        data.create_type("record", record)
        made = data.create_variable("r", record, ["x"], data=values)
        found = made[...]
        assert all(np.array_equal(found[field], values[field]) for field in record.names)
    with h5py.File(path) as file:
        assert file["r"][0]["s"].tobytes() == b"abcd" and file["r"][1]["s"].tobytes() == b"x\0\0\0"


def test_masked_values_become_the_fill_value(path):
    masked = np.ma.array([1, 2, 3, 4], mask=[0, 1, 0, 0])
    with ferrocdf.open(path, "w") as data:
        made = data.create_variable("v", "short", ["x"], data=masked, fill_value=-9)
        other = data.create_variable("w", "float", ["x"])
        other[:] = masked
        other[3] = np.ma.masked
        made[2] = np.ma.masked
    with netCDF4.Dataset(path) as data:
        data.set_auto_mask(False)
        assert data["v"][:].tolist() == [1, -9, -9, 4]
        data.set_auto_mask(True)
        assert np.ma.getmaskarray(data["w"][:]).tolist() == [False, True, False, True]


@pytest.mark.parametrize("values", [np.array(["2000-01-01"], "M8[D]"), np.array([1], "m8[s]"), np.array([1 + 2j])], ids=["M", "m", "c"])
def test_values_without_a_type_in_netcdf_are_refused(path, values):
    with ferrocdf.open(path, "w") as data:
        made = data.create_variable("v", dimensions=["x"], data=[1.0])
        with pytest.raises(TypeError, match="no type in netCDF"):
            made[:] = values


def test_strings_and_lists_are_assigned_one_and_several_at_a_time(path):
    with ferrocdf.open(path, "w") as data:
        data.create_dimension("x", 3)
        words = data.create_variable("s", str, ["x"])
        words[0] = ["abc"]
        words[1] = "de"
        words[2] = np.array(["fg"], object)
        assert words[:].tolist() == ["abc", "de", "fg"]
        data.create_type("lists", np.dtype("O", metadata={"vlen": "i4"}))
        lists = data.create_variable("l", "lists", ["x"])
        lists[0] = np.array([1, 2, 3])
        lists[1:] = [[4], [5, 6]]
        assert [part.tolist() for part in lists[:]] == [[1, 2, 3], [4], [5, 6]]


def test_compression_without_a_level(path):
    with ferrocdf.open(path, "w") as data:
        for name, wanted in [("deflate", "deflate,4"), ("lz4", "LZ4"), ("zstd", "Zstandard,3"), ("bitshuffle", "bitshuffle")]:
            made = data.create_variable(name, dimensions=["x"], data=np.arange(1000), compression=name, shuffle=False)
            assert made.filters[-1].lower().startswith(wanted.split(",")[0].lower()), made.filters
            assert "," not in wanted or made.filters[-1] == wanted
            assert np.array_equal(made[:], np.arange(1000))


def test_other_attributes_of_objects_are_errors(path):
    with ferrocdf.open(path, "w") as data:
        made = data.create_variable("v", dimensions=["x"], data=[1.0])
        for thing in (made, data, data.create_group("g")):
            with pytest.raises(AttributeError):
                thing.units = "K"


def test_a_dataset_that_nobody_holds_is_closed(path):
    data = ferrocdf.open(path, "w")
    data.create_variable("v", dimensions=["x"], data=[1, 2])
    del data
    with netCDF4.Dataset(path) as data:
        assert data["v"][:].tolist() == [1, 2]


def test_no_thread_gets_another_object_than_it_asked_for(path):
    with ferrocdf.open(path, "w") as data:
        data.create_variable("h", dimensions=["x"], data=[7, 7])
        done = threading.Event()

        def change():
            for round_ in range(60):
                data.create_variable(f"t{round_}", dimensions=["y"], data=[0])
                data.remove(f"t{round_}")
            done.set()

        def look():
            found = []
            while not done.is_set():
                try:
                    variable = data["h"]
                    found.append((variable.name, variable[0]))
                except ferrocdf.InvalidState:
                    pass
            return found

        with ThreadPoolExecutor(4) as pool:
            looks = [pool.submit(look) for _ in range(3)]
            pool.submit(change).result()
            assert {pair for each in looks for pair in each.result()} <= {("h", 7)}


def test_bytes_of_a_file_are_changed_in_memory(path):
    ferrocdf.open(path, "w").close()
    before = path.read_bytes()
    data = ferrocdf.open(before, "a")
    made = data.create_variable("v", dimensions=["x"], data=[1.0, 2.0], fill=False)
    assert not made.fill
    path.write_bytes(data.to_bytes())
    with netCDF4.Dataset(path) as data:
        assert data["v"][:].tolist() == [1, 2]
