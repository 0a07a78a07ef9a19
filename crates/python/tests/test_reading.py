"""What other libraries wrote is read as they read it."""

import io
import pickle

import h5py
import netCDF4
import numpy as np
import pytest

import ferrocdf

FORMATS = ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF4", "NETCDF4_CLASSIC"]


@pytest.fixture(params=FORMATS)
def numbers(request, path):
    """A file with numbers of all types that its format has."""
    kinds = ["i1", "i2", "i4", "f4", "f8"]
    if request.param in ("NETCDF4", "NETCDF3_64BIT_DATA"):
        kinds += ["u1", "u2", "u4", "i8", "u8"]
    rng = np.random.default_rng(1)
    with netCDF4.Dataset(path, "w", format=request.param) as data:
        data.createDimension("time", None)
        data.createDimension("y", 7)
        data.createDimension("x", 11)
        for kind in kinds:
            chunks = {"chunksizes": (2, 3, 4), "zlib": True} if request.param == "NETCDF4" else {}
            made = data.createVariable(kind, kind, ("time", "y", "x"), **chunks)
            made[:] = rng.integers(0, 100, (5, 7, 11)).astype(kind)
        data.createVariable("scalar", "f8")[...] = 2.5
        text = data.createVariable("text", "S1", ("y", "x"))
        text.set_auto_chartostring(False)
        text[:] = rng.integers(97, 120, (7, 11)).astype("u1").view("S1")
    return path


INDICES = [
    ...,
    0,
    -1,
    np.int32(3),
    np.array(2),
    slice(None),
    slice(1, 4),
    slice(None, None, 2),
    slice(None, None, -1),
    slice(4, 0, -3),
    slice(3, 1),
    slice(-3, None),
    slice(-100, 100),
    (0, 1, 2),
    (0, ..., 2),
    (..., slice(2, 9, 3)),
    (slice(None), 3),
    (slice(None, None, -2), slice(None), slice(None, None, -1)),
    (1, slice(None, None, -1), 0),
]

LISTS = [
    [0, 2, 3],
    [4, 1, 1, -5],
    [],
    np.array([True, False, True, True, False]),
    (slice(None), [0, 6], [10, 2, 5]),
    ([1, 2], 3, [0, 1, 2, 7, 8]),
    (0, slice(None, None, -1), [3, 3]),
]


def outer(array, index):
    """The elements of an index whose lists are orthogonal, by NumPy."""
    index = index if isinstance(index, tuple) else (index,)
    dropped = 0
    for dim, part in enumerate(index):
        if isinstance(part, int):
            array = array.take(part, dim - dropped)
            dropped += 1
        elif isinstance(part, slice):
            array = array[(slice(None),) * (dim - dropped) + (part,)]
        else:
            part = np.flatnonzero(part) if np.asarray(part).dtype == bool else np.asarray(part, int)
            array = array.take(part, dim - dropped)
    return array


def test_numbers_are_as_netcdf4_reads_them(numbers):
    with netCDF4.Dataset(numbers) as theirs, ferrocdf.open(numbers) as ours:
        assert list(theirs.variables) == list(ours.variables)
        for name, wanted in theirs.variables.items():
            wanted.set_auto_mask(False)
            wanted.set_auto_chartostring(False)
            found = ours[name]
            assert (found.dtype, found.shape, tuple(found.dimensions)) == (wanted.dtype, wanted.shape, wanted.dimensions)
            assert np.array_equal(found[...], wanted[...])


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_basic_indices_are_those_of_numpy(numbers, index):
    with ferrocdf.open(numbers) as data:
        whole = data["i2"][...]
        wanted, found = whole[index], data["i2"][index]
        assert (found.dtype, np.shape(found)) == (wanted.dtype, np.shape(wanted))
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize("index", LISTS, ids=str)
def test_lists_are_orthogonal(numbers, index):
    with ferrocdf.open(numbers) as data:
        wanted = outer(data["f4"][...], index)
        found = data["f4"][index]
        assert found.shape == wanted.shape and np.array_equal(found, wanted)


@pytest.mark.parametrize(
    "index", [5, -6, (0, 0, 0, 0), (..., ...), None, 1.5, slice(1.0, 2), "a", [0, 5], [[0]], np.zeros(4, bool), True, np.array([2**64 - 1], "u8")],
)
def test_wrong_indices_are_index_errors(numbers, index):
    with ferrocdf.open(numbers) as data, pytest.raises(IndexError):
        data["f4"][index]


def test_values_are_read_into_an_array(numbers):
    with ferrocdf.open(numbers) as data:
        whole = data["f8"][...]
        out = np.full((2, 7, 11), -1.0)
        assert data["f8"].read(slice(1, 3), out=out) is out and np.array_equal(out, whole[1:3])
        single = np.zeros((2, 7, 11), "f4")
        data["f8"].read([4, 0], out=single)
        assert np.array_equal(single, whole[[4, 0]])
        with pytest.raises(ValueError, match="shape"):
            data["f8"].read(0, out=out)
        out.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            data["f8"].read(slice(1, 3), out=out)


def test_strings_and_types_of_users_are_objects_and_structures(path):
    point = np.dtype([("x", "f4"), ("n", "i2", (2,)), ("letter", "S1")])
    with netCDF4.Dataset(path, "w") as data:
        data.createDimension("n", 3)
        data.createVariable("words", str, ("n",))[:] = np.array(["a", "", "ünï"], object)
        made = data.createCompoundType(point, "point")
        values = np.zeros(3, point)
        values["x"], values["n"], values["letter"] = [1, 2, 3], [[1, 2], [3, 4], [5, 6]], [b"a", b"b", b"c"]
        data.createVariable("points", made, ("n",))[:] = values
        lists = data.createVLType("i4", "lists")
        ragged = np.empty(3, object)
        ragged[:] = [np.array([1], "i4"), np.array([], "i4"), np.array([2, 3, 4], "i4")]
        data.createVariable("ragged", lists, ("n",))[:] = ragged
        sky = data.createEnumType("u1", "sky", {"clear": 0, "cloudy": 1})
        data.createVariable("skies", sky, ("n",))[:] = [1, 0, 1]
    with ferrocdf.open(path) as data:
        assert data["words"][:].tolist() == ["a", "", "ünï"] and data["words"][2] == "ünï"
        assert data["words"][[2, 0]].tolist() == ["ünï", "a"]
        found = data["points"][:]
        for field in ("x", "n", "letter"):
            assert np.array_equal(found[field], values[field])
        assert data["points"].dtype.names == point.names
        assert [part.tolist() for part in data["ragged"][:]] == [[1], [], [2, 3, 4]]
        assert data["ragged"][2].dtype == np.dtype("i4")
        assert data["skies"].dtype.metadata == {"enum": {"clear": 0, "cloudy": 1}}
        assert data["skies"][:].tolist() == [1, 0, 1]
        assert {name: found.kind for name, found in data.types.items()} == {
            "point": "compound", "lists": "vlen", "sky": "enum"
        }


def test_attributes_have_their_types(path):
    with netCDF4.Dataset(path, "w") as data:
        data.title = "a title"
        data.setncattr_string("words", ["a", "b"])
        data.numbers = np.arange(3, dtype="u2")
        data.single = np.float32(1.5)
        data.empty = ""
    with ferrocdf.open(path) as data:
        found = data.attrs.asdict()
        assert list(found) == ["title", "words", "numbers", "single", "empty"]
        assert found["title"] == "a title" and found["words"] == ["a", "b"]
        assert found["numbers"].dtype == np.dtype("u2") and found["numbers"].tolist() == [0, 1, 2]
        assert found["single"] == 1.5 and found["single"].dtype == np.dtype("f4")
        assert found["empty"] == ""
        assert "title" in data.attrs and "none" not in data.attrs and data.attrs.get("none") is None


def test_groups_dimensions_and_paths(path):
    with netCDF4.Dataset(path, "w") as data:
        data.createDimension("time", None)
        inner = data.createGroup("model/run")
        inner.createDimension("x", 4)
        inner.createVariable("v", "f4", ("time", "x"))[:] = np.ones((2, 4))
    with ferrocdf.open(path) as data:
        assert list(data.groups) == ["model"] and list(data["model"]) == ["run"]
        variable = data["model/run/v"]
        assert variable.path == "/model/run/v" and variable.group.path == "/model/run"
        assert data.dimensions["time"] == ("time", 2, True)
        assert variable.group.dimensions["x"].size == 4 and variable.group.parent.parent.path == data.path
        assert "model/run/v" in data and "model/v" not in data
        with pytest.raises(KeyError):
            data["model/other"]


def test_bytes_and_file_objects_are_datasets(numbers):
    with ferrocdf.open(numbers) as data:
        wanted = data["i2"][...]
    content = numbers.read_bytes()
    with numbers.open("rb") as file:
        for source in [content, bytearray(content), memoryview(content), io.BytesIO(content), file, str(numbers)]:
            with ferrocdf.open(source) as data:
                assert np.array_equal(data["i2"][...], wanted)
    with pytest.raises(TypeError, match="read, seek and tell"):
        ferrocdf.open(3.5)


def test_datasets_and_variables_are_pickled_by_location(numbers):
    with ferrocdf.open(numbers) as data:
        wanted = data["i2"][...]
        again = pickle.loads(pickle.dumps(data["i2"]))
        assert np.array_equal(again[...], wanted)
        assert pickle.loads(pickle.dumps(data)).location == str(numbers)


def test_errors_are_what_python_programs_expect(path, numbers):
    with pytest.raises(FileNotFoundError) as caught:
        ferrocdf.open(path.with_name("none.nc"))
    assert isinstance(caught.value, ferrocdf.Error) and caught.value.code == caught.value.errno == 2
    path.with_name("text.nc").write_text("no dataset")
    with pytest.raises(ferrocdf.UnknownFormat):
        ferrocdf.open(path.with_name("text.nc"))
    data = ferrocdf.open(numbers)
    with pytest.raises(PermissionError, match="mode \"a\""):
        data.attrs["a"] = 1
    data.close()
    assert data.closed
    with pytest.raises(ferrocdf.Error, match="closed"):
        data["i2"][...]
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.code, str(again)) == (caught.value.code, str(caught.value))


def test_numbers_are_decoded_as_netcdf4_does_it(path):
    with netCDF4.Dataset(path, "w") as data:
        data.createDimension("x", 6)
        made = data.createVariable("packed", "i2", ("x",), fill_value=-9)
        made.set_auto_maskandscale(False)
        made.scale_factor, made.add_offset = 0.5, np.float64(100)
        made[:] = [1, -9, 3, 4, -5, 6]
        made.valid_min = np.int16(0)
        bytes_ = data.createVariable("bytes", "i1", ("x",))
        bytes_.set_auto_maskandscale(False)
        bytes_.setncattr("_Unsigned", "true")
        bytes_[:] = [1, -1, -128, 127, 0, 5]
        data.createVariable("plain", "f4", ("x",))[:] = np.arange(6)
    with netCDF4.Dataset(path) as theirs, ferrocdf.open(path) as ours:
        for name in ("packed", "bytes", "plain"):
            wanted, found = theirs[name][:], ours[name].read(decode_cf=True)
            assert found.dtype == wanted.dtype
            assert np.array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(wanted))
            assert np.array_equal(np.ma.filled(found, 0), np.ma.filled(wanted, 0))


def test_representations_name_what_there_is(numbers):
    with ferrocdf.open(numbers) as data:
        assert "dimension time = 5 (unlimited)" in repr(data) and "double scalar ()" in repr(data)
        assert "time: 5, y: 7, x: 11" in repr(data["i2"]) and "<td>i2</td>" in data._repr_html_()


def test_objects_of_a_replaced_file_are_refused(path):
    with h5py.File(path, "w") as file:
        file["b"], file["d"] = [1, 1], [2, 2]
    with ferrocdf.open(path) as data:
        found = data["b"]
        with h5py.File(path, "a") as file:
            file["a"] = [3, 3]
        data.refresh()
        with pytest.raises(ferrocdf.InvalidState, match="look it up again"):
            found[...]
        assert data["b"][:].tolist() == [1, 1]


class Failing(io.BytesIO):
    """A file object whose reads fail."""

    error = None

    def read(self, size=-1):
        if self.error:
            raise self.error
        return super().read(size)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), PermissionError("403")], ids=["interrupt", "error"])
def test_exceptions_of_file_objects_are_kept(numbers, error):
    file = Failing(numbers.read_bytes())
    file.error = error
    if isinstance(error, Exception):
        with pytest.raises(ferrocdf.IoError, match="403") as caught:
            ferrocdf.open(file)
        assert caught.value.__cause__ is error
    else:
        with pytest.raises(KeyboardInterrupt):
            ferrocdf.open(file)
