"""``ferrocdf.netCDF4`` and netCDF4-python read what the other writes, and do the same with the same calls."""

import doctest
import subprocess
import sys
import warnings

import h5py
import netCDF4 as theirs
import numpy as np
import pytest

import ferrocdf.netCDF4 as ours

FORMATS = ["NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"]
LIBRARIES = {"ours": ours, "theirs": theirs}


def write(library, path, format):
    """Writes a dataset with all that a format holds."""
    with library.Dataset(path, "w", format=format) as data:
        data.createDimension("time", None)
        data.createDimension("x", 4)
        data.title, data.number, data.floats, data.empty = "a title", 5, np.array([0.5, 1.5]), ""
        types = ["i1", "i2", "i4", "f4", "f8"] + (["u1", "u2", "u4", "i8", "u8"] if format in ("NETCDF4", "NETCDF3_64BIT_DATA") else [])
        for name in types:
            var = data.createVariable(f"v_{name}", name, ("time", "x"), fill_value=7)
            var.missing_value, var.units = 3, "K"
            var[1:3] = np.arange(8).reshape(2, 4)
            data.createVariable(f"plain_{name}", name, ("x",))[1] = 5
        letters = data.createVariable("letters", "S1", ("x",), fill_value="z")
        letters[:2] = np.array([b"a", b"b"])
        words = data.createVariable("words", "S1", ("time", "x"))
        words._Encoding = "utf-8"
        words[0] = "abü"
        packed = data.createVariable("packed", "i2", ("x",), fill_value=-999)
        packed.scale_factor, packed.add_offset, packed.valid_min = 0.5, 10.0, np.int16(-5)
        packed[:] = np.ma.masked_greater([10.0, 11.0, 12.5, 99.0], 50)
        data.createVariable("scalar", "f8")[...] = 2.5
        data.createVariable("unfilled", "f4", ("x",), fill_value=False)[:] = 1
        if format.startswith("NETCDF4"):
            write_stored(data)
        if format == "NETCDF4":
            write_enhanced(data)


def write_stored(data):
    values = np.linspace(0, 1, 400).reshape(100, 4)
    data.createDimension("y", 100)
    for name, options in {
        "zlib": {"compression": "zlib", "complevel": 3, "fletcher32": True},
        "unshuffled": {"zlib": True, "shuffle": False, "chunksizes": (10, 4)},
        "zstd": {"compression": "zstd", "complevel": 5},
        "bzip2": {"compression": "bzip2"},
        "blosc": {"compression": "blosc_lz4", "blosc_shuffle": 2},
        "szip": {"compression": "szip", "szip_coding": "ec", "szip_pixels_per_block": 16},
        "groomed": {"zlib": True, "significant_digits": 3},
        "rounded": {"zlib": True, "significant_digits": 9, "quantize_mode": "BitRound"},
        "digits": {"zlib": True, "least_significant_digit": 2},
        # netCDF4-python forgets the byte order of usual fill values.
        "big": {"datatype": ">f8", "endian": "big", "contiguous": True, "fill_value": -1.5},
        "little": {"endian": "little"},
    }.items():
        data.createVariable(name, **{"datatype": "f8", "dimensions": ("y", "x"), **options})[:] = values


def write_enhanced(data):
    data.names = ["a", "", "ü"]
    data.setncattr_string("one", "text")
    data.accents = "é"
    group = data.createGroup("outer/inner")
    group.createDimension("x", 2)
    group.level = np.uint8(3)
    group.createVariable("v", "i4", ("time", "x"))[:] = [[1, 2]]
    point = np.dtype([("x", "f8"), ("name", "S5"), ("n", "i4", (2,))])
    points = data.createCompoundType(point, "point")
    pair = data.createCompoundType(np.dtype([("first", points.dtype), ("flag", "i1")]), "pair")
    values = np.array([(1.5, b"one", [1, 2]), (2.5, b"two", [3, 4])], point)
    var = data.createVariable("points", points, ("time",))
    var[:] = values
    # netCDF4-python writes attributes as if they had the alignment of C.
    var.origin = values.astype(points.dtype_view)[0]
    nested = np.zeros(2, pair.dtype_view)
    nested["first"] = values
    nested["flag"] = [1, 0]
    data.createVariable("pairs", pair, ("time",))[:] = nested
    lists = data.createVLType("i2", "lists")
    ragged = np.empty(2, object)
    ragged[:] = [np.array([1, 2, 3], "i2"), np.array([], "i2")]
    data.createVariable("ragged", lists, ("time",))[:] = ragged
    sky = data.createEnumType("u1", "sky", {"clear": 0, "cloudy": 1, "missing": 255})
    data.createVariable("skies", sky, ("x",), fill_value=255)[:2] = [0, 1]
    texts = data.createVariable("texts", str, ("x",), fill_value="none")
    texts[:2] = np.array(["a", "ünï"], object)
    texts[2] = ""


def plain(value):
    """Values and their types in a form that can be compared."""
    if isinstance(value, np.ma.MaskedArray):
        return ("masked", str(value.dtype), plain(np.ma.getdata(np.ma.filled(value))), np.ma.getmaskarray(value).tolist())
    if isinstance(value, np.ndarray):
        return (str(value.dtype), value.shape, [plain(item) if isinstance(item, np.ndarray) else item for item in value.tolist()] if value.ndim else value.item())
    if isinstance(value, np.generic):
        return (str(value.dtype), plain(value.tolist()))
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def attributes(of):
    return {name: plain(of.getncattr(name)) for name in of.ncattrs()}


def facts(group):
    """All that the interface says of a group."""
    found = {"attributes": attributes(group), "dimensions": {}, "variables": {}, "groups": {}, "path": group.path, "model": group.data_model}
    for name, dim in group.dimensions.items():
        found["dimensions"][name] = (len(dim), dim.isunlimited())
    found["types"] = {name: (str(of.dtype), str(of.dtype_view)) for name, of in group.cmptypes.items()}
    found["types"] |= {name: str(of.dtype) for name, of in group.vltypes.items()}
    found["types"] |= {name: (str(of.dtype), of.enum_dict) for name, of in group.enumtypes.items()}
    for name, var in group.variables.items():
        said = [str(var.dtype), var.dimensions, var.shape, attributes(var), plain(var.get_fill_value())]
        said += [var.filters(), var.chunking(), var.endian(), var.quantization(), plain(var[...])]
        var.set_auto_maskandscale(False)
        var.set_auto_chartostring(False)
        found["variables"][name] = [*said, plain(var[...])]
    found["groups"] = {name: facts(inner) for name, inner in group.groups.items()}
    return found


def facts_of(library, path):
    with library.Dataset(path) as data:
        return facts(data)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("writer", LIBRARIES)
def test_a_dataset_is_the_same_for_both_readers(path, format, writer):
    write(LIBRARIES[writer], path, format)
    ours_says, theirs_says = (facts_of(library, path) for library in (ours, theirs))
    assert ours_says["variables"].keys() == theirs_says["variables"].keys()
    for name, said in theirs_says["variables"].items():
        assert repr(ours_says["variables"][name]) == repr(said), name
    assert repr(ours_says) == repr(theirs_says)


@pytest.mark.parametrize("format", FORMATS)
def test_both_write_the_same(tmp_path, format):
    said = []
    for name, library in LIBRARIES.items():
        write(library, tmp_path / name, format)
        said.append(facts_of(theirs, tmp_path / name))
    for name, there in said[1]["variables"].items():
        assert repr(said[0]["variables"][name]) == repr(there), name
    assert repr(said[0]) == repr(said[1])


KEYS = [
    ...,
    (),
    3,
    -1,
    99,
    -99,
    2.0,
    2.5,
    "1",
    slice(None, None, -1),
    slice(5, 1, -2),
    slice(2, 99),
    slice(4, 4),
    [1, 3, 4],
    [4, 1, 1],
    [-1, 0],
    [],
    [99],
    (slice(None), [0, 2]),
    ([0, 2], [1, 3]),
    ([0, 1, 3], slice(None, None, 2)),
    (..., [True, False, True, False]),
    (np.array([True, False, True, False, False, True]), 1),
    np.array([True, False]),
    (1, 2),
    (1, 2, 3),
    (..., 1, ...),
    np.array([[0, 1]]),
    (np.uint8(1), np.int64(-2)),
    None,
]


def outcome(work):
    try:
        return work()
    except Exception as error:  # noqa: BLE001: whatever it is, it must be the same
        return next(cls for cls in type(error).__mro__ if cls.__module__ == "builtins")


@pytest.fixture
def both(tmp_path):
    """A variable of 6 records of 4 numbers in a dataset of each library."""
    opened = []
    for name, library in LIBRARIES.items():
        data = library.Dataset(tmp_path / name, "w")
        data.createDimension("time", None)
        data.createDimension("x", 4)
        var = data.createVariable("v", "i4", ("time", "x"), fill_value=-1)
        var[:] = np.arange(24).reshape(6, 4)
        var[2, 1] = -1
        opened.append(data)
    yield opened[0]["v"], opened[1]["v"]
    for data in opened:
        data.close()


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_indices_are_those_of_netcdf4(both, key):
    mine, wanted = (outcome(lambda var=var: plain(var[key])) for var in both)
    assert repr(mine) == repr(wanted)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (..., 5),
        (slice(None), 5),
        (slice(None), np.arange(4)),
        (slice(None), np.arange(8).reshape(2, 4)),
        (slice(None), np.arange(40).reshape(10, 4)),
        (slice(4, None), np.arange(12).reshape(3, 4)),
        (slice(8, 10), np.arange(8).reshape(2, 4)),
        (9, np.arange(4)),
        ((9, 2), 7),
        ((0, 9), 7),
        ([0, 2, 5], np.arange(12).reshape(3, 4)),
        ([7, 9], 1),
        (([3, 0], [1, 3]), [[1, 2], [3, 4]]),
        ((slice(None, None, -1), slice(0, 1)), np.arange(6).reshape(6, 1)),
        ((slice(0, 2), slice(0, 3)), np.arange(6).reshape(3, 2)),
        ((0, slice(0, 3)), [1.7, 2.2, 3.9]),
        ((0, slice(0, 3)), [1, 2]),
        ((0, [0, 2]), np.arange(3)),
        (([True] * 3 + [False] * 3, slice(None)), 9),
        ((slice(None), slice(None)), np.ma.masked_less(np.arange(24).reshape(6, 4), 5)),
        (0, np.ma.masked),
        ((slice(2, 2), slice(None)), 3),
        (slice(None), "text"),
        (slice(0, 2), np.arange(8, dtype=">i4").reshape(2, 4)),
        (0, np.float32(3.7)),
    ],
    ids=repr,
)
def test_assignments_are_those_of_netcdf4(both, key, value):
    def assign(var):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            var[key] = value

    mine, wanted = (outcome(lambda var=var: assign(var)) for var in both)
    assert mine == wanted
    assert repr(plain(both[0][:])) == repr(plain(both[1][:]))


@pytest.mark.parametrize("format", FORMATS)
def test_datasets_in_memory_have_the_bytes_of_files(path, format):
    data = ours.Dataset("unused", "w", memory=1024, format=format)
    data.createDimension("x", 3)
    data.createVariable("v", "f4", ("x",))[:] = [1, 2, 3]
    content = data.close()
    path.write_bytes(content)
    for opened in (theirs.Dataset(path), ours.Dataset("unused", memory=content)):
        with opened:
            assert opened["v"][:].tolist() == [1, 2, 3]


def test_diskless_datasets_reach_the_disk_if_they_persist(path):
    for persist in (False, True):
        with ours.Dataset(path, "w", diskless=True, persist=persist) as data:
            data.title = "kept"
        assert path.exists() == persist
    with ours.Dataset(path, "a", diskless=True) as data:
        data.title = "lost"
    with ours.Dataset(path, diskless=True) as data:
        assert data.title == "kept"


def test_errors_are_those_of_netcdf4(path):
    write(theirs, path, "NETCDF4")
    garbage = path.with_suffix(".txt")
    garbage.write_bytes(b"no dataset at all, but some text")

    def opened(library, *arguments, **keywords):
        library.Dataset(*arguments, **keywords).close()

    def read_only(library, change):
        with library.Dataset(path) as data:
            change(data)

    def closed(library):
        data = library.Dataset(path)
        data.close()
        return data["v_f4"][:]

    calls = [
        lambda library: opened(library, path.with_suffix(".none")),
        lambda library: opened(library, garbage),
        lambda library: opened(library, path, "q"),
        lambda library: opened(library, path.with_suffix(".new"), "w", format="NETCDF9"),
        lambda library: opened(library, path, memory=b"", mode="a"),
        lambda library: read_only(library, lambda data: setattr(data, "title", "x")),
        lambda library: read_only(library, lambda data: delattr(data, "title")),
        lambda library: read_only(library, lambda data: delattr(data, "nothing")),
        lambda library: read_only(library, lambda data: data.nothing),
        lambda library: read_only(library, lambda data: data["nothing"]),
        lambda library: read_only(library, lambda data: data.createDimension("new", 3)),
        lambda library: read_only(library, lambda data: data.createVariable("new", "f4")),
        lambda library: read_only(library, lambda data: data.createVariable("new", "c16")),
        lambda library: read_only(library, lambda data: data.createVariable("new", "f4", ("nowhere",))),
        lambda library: read_only(library, lambda data: data["v_f4"].__setitem__(0, 1)),
        lambda library: read_only(library, lambda data: setattr(data["v_f4"], "_FillValue", 1)),
        lambda library: read_only(library, lambda data: setattr(data["v_f4"], "shape", 1)),
        lambda library: read_only(library, lambda data: data.renameVariable("nothing", "x")),
        lambda library: read_only(library, lambda data: data["outer"].close()),
        lambda library: read_only(library, lambda data: iter(data)),
        lambda library: read_only(library, lambda data: "x" in data),
        closed,
    ]
    for at, call in enumerate(calls):
        mine, wanted = (outcome(lambda library=library: call(library)) for library in (ours, theirs))
        assert mine == wanted, at


def test_attributes_keep_place_and_type_when_they_are_renamed(path):
    with ours.Dataset(path, "w") as data:
        data.first, data.second, data.third = 1, np.float32(2), "x"
        data.renameAttribute("second", "other")
        with pytest.raises(RuntimeError):
            data.renameAttribute("first", "third")
        with pytest.raises(RuntimeError):
            data.renameAttribute("nothing", "new")
    with theirs.Dataset(path) as data:
        assert data.ncattrs() == ["first", "other", "third"] and plain(data.other) == ("float32", 2.0)


@pytest.mark.parametrize("format", ["NETCDF4", "NETCDF3_CLASSIC"])
def test_fill_values_are_left_out_on_request(tmp_path, format):
    said = []
    for name, library in LIBRARIES.items():
        with library.Dataset(tmp_path / name, "w", format=format) as data:
            data.createDimension("x", 3)
            data.createVariable("before", "f4", ("x",))
            data.set_fill_off()
            data.createVariable("off", "f4", ("x",))
            data.set_fill_on()
            data.createVariable("after", "f4", ("x",))
        with theirs.Dataset(tmp_path / name) as data:
            said.append({name: plain(var.get_fill_value()) for name, var in data.variables.items()})
    assert repr(said[0]) == repr(said[1])
    assert (said[0]["off"] is None) == (format == "NETCDF4")


def test_fill_values_of_other_programs_are_found_without_an_attribute(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("v", (3,), "i4", fillvalue=7)
    said = []
    for library in LIBRARIES.values():
        with library.Dataset(path) as data:
            said.append(plain(data["v"].get_fill_value()))
    assert repr(said[0]) == repr(said[1]) == "('int32', (), 7)"


def test_datasets_are_closed_when_nobody_holds_them(path):
    data = ours.Dataset(path, "w", keepweakref=True)
    data.createDimension("x", 1)
    var = data.createVariable("v", "f4", ("x",))
    var[:] = 1
    del data
    with pytest.raises(Exception):
        var[:]
    with theirs.Dataset(path) as data:
        assert data["v"][0] == 1


def test_example_of_the_module_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = doctest.testmod(ours)
    assert found.attempted == 3 and found.failed == 0


def test_it_stands_in_for_netcdf4_in_a_process(path):
    program = """
import sys
import ferrocdf.netCDF4
ferrocdf.netCDF4.stand_in()
import netCDF4, xarray
from netCDF4 import Dataset, num2date
from netCDF4.utils import _quantize
assert Dataset is ferrocdf.netCDF4.Dataset
made = xarray.Dataset({"v": ("x", [1.0, 2.0]), "names": ("x", ["a", "b"])}, attrs={"title": "t"})
made.to_netcdf(sys.argv[1], engine="netcdf4", group="g", encoding={"v": {"zlib": True}})
read = xarray.open_dataset(sys.argv[1], engine="netcdf4", group="g")
assert read.identical(made), read
"""
    subprocess.run([sys.executable, "-c", program, str(path)], check=True)
    with theirs.Dataset(path) as data:
        assert data["g/v"][:].tolist() == [1, 2] and data["g/v"].filters()["zlib"]


def test_appending_to_a_url_keeps_what_is_there(tmp_path):
    url = f"file://{tmp_path / 'a.nc'}"
    with ours.Dataset(url, "a") as data:
        data.title = "old"
    for mode in ("a", "r+"):
        with ours.Dataset(url, mode) as data:
            assert data.title == "old"


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)
def test_variables_are_found_by_attributes(tmp_path, library):
    with library.Dataset(tmp_path / "a.nc", "w") as data:
        for name, attributes in {"a": {"s": "a wind"}, "b": {}, "c": {"s": "rain", "n": 1}}.items():
            data.createVariable(name, "i4", ()).setncatts(attributes)

        def found(**wanted):
            return [var.name for var in data.get_variables_by_attributes(**wanted)]

        assert found(s=lambda text: text and "wind" in text) == ["a"]
        assert found(s=lambda text: text is not None, n=1) == ["c"]
        assert found(s="rain") == ["c"]


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)
def test_unsigned_values_outside_their_range_are_masked(tmp_path, library):
    with library.Dataset(tmp_path / "a.nc", "w") as data:
        data.createDimension("x", 3)
        var = data.createVariable("v", "i2", ("x",))
        var._Unsigned, var.valid_max = "true", np.int16(5)
        var[:] = np.array([1, 9, 3], "i2")
    with library.Dataset(tmp_path / "a.nc") as data:
        assert data["v"][:].mask.tolist() == [False, True, False]
