"""Defects of netCDF-C in Zarr stores: what ferrocdf writes is right, and what netCDF-C wrote is read.

Arguments: `ours` or `theirs`, the name of a defect, an empty folder, and the folder of ferrocdf's tools. For `ours`, netCDF4-python runs on
ferrocdf's library (`LD_PRELOAD`); for `theirs`, on netCDF-C.
"""

import json
import pathlib
import subprocess
import sys
import warnings

import netCDF4
import numpy as np
import xarray
import zarr

warnings.simplefilter("ignore")
side, defect, folder, tools = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])


def url(path, mode="nczarr,file"):
    return f"file://{path}#mode={mode}"


def create(name, mode="nczarr,file"):
    """Makes a store with the library of this run."""
    return netCDF4.Dataset(url(folder / name, mode), "w")


def run(tool, *arguments):
    """Runs a tool of ours, which must go well. Returns what it prints."""
    environment = {"PATH": "/usr/bin:/bin"}
    done = subprocess.run([tools / tool, *map(str, arguments)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, f"{tool}: {done.stderr}"
    return done.stdout


def dump(store, *options):
    """Returns what our `ncdump` prints of a store, without line breaks."""
    return " ".join(run("ncdump", *options, store).split())


def expect(text, *parts):
    for part in parts:
        assert part in text, f"{part!r} is not in {text}"


def metadata(store, key):
    return json.loads((folder / store / key).read_text())


def shuffle(name):
    with create(name) as data:
        data.createDimension("x", 3)
        data.createVariable("v", "f4", ("x",), zlib=True, shuffle=True)[:] = [1, 2, 3]
    return metadata(name, "v/.zarray")["filters"][0]["elementsize"]


def shuffle_ours():
    assert shuffle("s") == 4
    assert zarr.open_group(folder / "s", mode="r")["v"][:].tolist() == [1, 2, 3]


def shuffle_theirs():
    assert shuffle("s") == 0, "netCDF-C is mended"
    expect(dump(folder / "s"), "v = 1, 2, 3 ;")


def digits(name):
    with create(name) as data:
        data.createDimension("x", 2)
        data.a = 0.123456789
        var = data.createVariable("v", "f4", ("x",), fill_value=np.float32(1.2345678))
        var[:] = [np.float32(1.2345678), 7]


def digits_ours():
    digits("s")
    with netCDF4.Dataset(url(folder / "s")) as data:
        assert data.a == 0.123456789 and data["v"]._FillValue == np.float32(1.2345678)
        assert data["v"][:].mask.tolist() == [True, False]
    root = zarr.open_group(folder / "s", mode="r")
    assert root.attrs["a"] == 0.123456789 and root["v"].fill_value == np.float32(1.2345678)


def digits_theirs():
    digits("s")
    # The digits that are in the store, and the values of the chunks.
    expect(dump(folder / "s"), ":a = 0.123457 ;", "v:_FillValue = 1.23457f ;", "v = 1.234568, 7 ;")


def text_like_json(name, mode):
    with create(name, mode) as data:
        data.a, data.b, data.c = "12", "1.0", "[1, 2]"


def text_like_json_ours():
    for mode in ["nczarr,file", "zarr,file"]:
        name = mode.replace(",", "-")
        text_like_json(name, mode)
        with netCDF4.Dataset(url(folder / name, mode)) as data:
            assert (data.a, data.b, data.c) == ("12", "1.0", "[1, 2]"), mode
        assert zarr.open_group(folder / name, mode="r").attrs["a"] == "12"


def text_like_json_theirs():
    text_like_json("s", "nczarr,file")
    assert metadata("s", ".zattrs")["a"] == 12, "netCDF-C is mended"
    # The metadata says that it was text.
    expect(dump(folder / "s").replace("[1, 2]", "[1,2]"), ':a = "12" ;', ':b = "1.0" ;', ':c = "[1,2]" ;')


def column_major():
    values = np.arange(1, 7).reshape(2, 3)
    zarr.create_array(folder / "s/v", shape=(2, 3), chunks=(2, 3), dtype="i4", zarr_format=2, order="F")[...] = values
    zarr.open_group(folder / "s", mode="a", zarr_format=2)


def column_major_ours():
    column_major()
    with netCDF4.Dataset(url(folder / "s", "zarr,file")) as data:
        assert data["v"][:].tolist() == [[1, 2, 3], [4, 5, 6]]


def column_major_theirs():
    # NetCDF-C writes no such arrays; its misreading is what is tested.
    column_major()
    with netCDF4.Dataset(url(folder / "s", "zarr,file")) as data:
        assert data["v"][:].tolist() != [[1, 2, 3], [4, 5, 6]], "netCDF-C is mended"
    expect(dump(folder / "s"), "v = 1, 2, 3, 4, 5, 6 ;")


def bytes_and_letters(name):
    with create(name) as data:
        data.createDimension("x", 2)
        data.createVariable("i", "i1", ("x",))[:] = [-1, 2]
        data.createVariable("u", "u1", ("x",))[:] = [1, 255]
        data.createVariable("c", "S1", ("x",))[:] = [b"a", b"b"]


def bytes_and_letters_ours():
    bytes_and_letters("s")
    root = zarr.open_group(folder / "s", mode="r")
    assert root["i"][:].tolist() == [-1, 2] and root["u"][:].tolist() == [1, 255] and root["c"][:].tolist() == [b"a", b"b"]
    with xarray.open_zarr(folder / "s", decode_cf=False, chunks=None) as data:
        assert set(data.variables) == {"i", "u", "c"}


def bytes_and_letters_theirs():
    bytes_and_letters("s")
    types = [metadata("s", f"{name}/.zarray")["dtype"] for name in "iuc"]
    assert types == ["<i1", "<u1", ">S1"], f"netCDF-C is mended: {types}"
    expect(dump(folder / "s"), "i = -1, 2 ;", "u = 1, 255 ;", 'c = "ab" ;')


def types_of_others():
    """A store of xarray, with an array that nobody can read, in both versions."""
    values = {
        "truth": np.array([True, False]), "letters": np.array(["a", "bé"]), "objects": np.array(["x", "yz"], dtype=object),
        "half": np.array([0.5, 2], "f2"), "z": np.array([1 + 2j, 3j]), "n": np.array([1, 2], "i4"),
    }
    for version in [2, 3]:
        name = f"v{version}"
        xarray.Dataset({key: ("x", value) for key, value in values.items()} | {"scalar": ((), 3.25)}).to_zarr(folder / name, zarr_format=version, consolidated=False)
        bad = folder / name / "bad"
        bad.mkdir()
        document = {"zarr_format": 2} if version == 2 else {"zarr_format": 3, "node_type": "array"}
        (bad / (".zarray" if version == 2 else "zarr.json")).write_text(json.dumps(document))


def types_of_others_ours():
    types_of_others()
    for version in [2, 3]:
        done = subprocess.run([tools / "ncdump", folder / f"v{version}"], capture_output=True, text=True, env={})
        text = " ".join(done.stdout.split())
        expect(text, "truth = TRUE, FALSE ;", 'letters = "a", "bé" ;', 'objects = "x", "yz" ;', "half = 0.5, 2 ;", "z = {1, 2}, {0, 3} ;",
               "n = 1, 2 ;", "scalar = 3.25 ;")
        # The bad one is told, and the program ends as failed.
        expect(done.stderr + done.stdout, "bad")


def types_of_others_theirs():
    # What netCDF-C does not read; it writes none of these types.
    types_of_others()
    for version in [2, 3]:
        try:
            netCDF4.Dataset(url(folder / f"v{version}", "zarr,file")).close()
        except OSError:
            continue
        raise AssertionError("netCDF-C is mended")


def zip_files(name):
    with netCDF4.Dataset(url(folder / name, "nczarr,zip"), "w") as data:
        data.createDimension("x", 3)
        data.createVariable("v", "i4", ("x",))[:] = [1, 2, 3]


def zip_files_ours():
    zip_files("s.zip")
    root = zarr.open_group(zarr.storage.ZipStore(folder / "s.zip", mode="r"), mode="r")
    assert root["v"][:].tolist() == [1, 2, 3]


def long_text(name):
    with create(name) as data:
        data.createDimension("x", 2)
        var = data.createVariable("v", str, ("x",))
        var[0], var[1] = "a" * 300, "b"


def long_text_ours():
    long_text("s")
    with netCDF4.Dataset(url(folder / "s")) as data:
        assert data["v"][:].tolist() == ["a" * 300, "b"]
    assert zarr.open_group(folder / "s", mode="r")["v"][:].tolist() == [b"a" * 300, b"b"]


def long_text_theirs():
    long_text("s")
    expect(dump(folder / "s"), f'v = "{"a" * 128}", "b" ;')


def fill_value_of_nonsense():
    for number, fill in enumerate(['"xyz"', "{}", "[1]", '"NaN"', "1e999", "true"]):
        store = folder / f"s{number}"
        (store / "v").mkdir(parents=True)
        (store / ".zgroup").write_text('{"zarr_format": 2}')
        (store / "v/.zarray").write_text(
            f'{{"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "<i4", "fill_value": {fill}, "order": "C", "compressor": null, "filters": null}}'
        )
        (store / "v/0").write_bytes(b"\7\0\0\0")
        done = subprocess.run([tools / "ncdump", store], capture_output=True, text=True, env={})
        # An error or the value, and no signal.
        assert done.returncode in (0, 1), f"{fill}: {done.returncode}"
        expect(done.stdout + done.stderr, "v = 7" if done.returncode == 0 else "fill_value")


def renamed(name):
    with create(name) as data:
        data.createDimension("x", 3)
        data.createVariable("x", "i4", ("x",))[:] = [1, 2, 3]


def renamed_ours():
    renamed("s")
    # By its path: netCDF4-python makes a new store of a URL.
    with netCDF4.Dataset(folder / "s", "r+") as data:
        try:
            data.renameVariable("x", "lon")
        except RuntimeError:
            pass
    # Never without the data: the new name with them, or an error and the old name.
    text = dump(folder / "s")
    assert "x = 1, 2, 3 ;" in text or "lon = 1, 2, 3 ;" in text, text


def renamed_theirs():
    renamed("s")
    expect(dump(folder / "s"), "x = 1, 2, 3 ;")


def infinity(name):
    for mode in ["BitGroom", "GranularBitRound"]:
        with create(f"{name}-{mode}") as data:
            data.createDimension("x", 4)
            var = data.createVariable("v", "f4", ("x",), zlib=True, quantize_mode=mode, significant_digits=3)
            var[:] = [1.5, np.inf, -np.inf, np.nan]
        yield f"{name}-{mode}"


def infinity_ours():
    for name in infinity("s"):
        with netCDF4.Dataset(url(folder / name)) as data:
            values = np.asarray(data["v"][:])
            assert np.array_equal(values[1:], np.array([np.inf, -np.inf, np.nan], "f4"), equal_nan=True), (name, values)


def infinity_theirs():
    for name in infinity("s"):
        with netCDF4.Dataset(url(folder / name)) as data:
            data.set_auto_mask(False)
            theirs = np.asarray(data["v"][:])
        run("nccopy", "-k", "nc4", folder / name, folder / f"{name}.nc")
        with netCDF4.Dataset(folder / f"{name}.nc") as data:
            data.set_auto_mask(False)
            assert np.array_equal(np.asarray(data["v"][:]), theirs, equal_nan=True), (name, theirs)


def big_endian(name):
    with create(name) as data:
        data.createDimension("x", 4)
        var = data.createVariable("v", "u2", ("x",), fill_value=np.uint16(1), chunksizes=(2,), endian="big")
        var[:2] = [5, 6]
    with netCDF4.Dataset(url(folder / name)) as data:
        data.set_auto_mask(False)
        return data["v"][:].tolist()


def big_endian_ours():
    assert big_endian("s") == [5, 6, 1, 1]
    assert zarr.open_group(folder / "s", mode="r")["v"][:].tolist() == [5, 6, 1, 1]


def big_endian_theirs():
    assert big_endian("s") == [5, 6, 256, 256], "netCDF-C is mended"
    expect(dump(folder / "s"), "v = 5, 6, _, _ ;")


def tools_ours():
    with create("s") as data:
        data.createVariable("v", "f8", ())[...] = 3.25
    expect(run("ncdump", "-K", folder / "s"), "Zarr 2")
    text = run("ncdump", "-s", folder / "s")
    assert "_ChunkSizes" not in text and "_Endianness" in text, text
    (folder / "s.cdl").write_text(text)
    # What it prints is a text that `ncgen` takes.
    run("ncgen", "-4", "-o", folder / "back.nc", folder / "s.cdl")
    expect(dump(folder / "back.nc"), "v = 3.25 ;")
    run("nccopy", "-5", folder / "back.nc", folder / "five.nc")
    expect(run("ncdump", "-k", folder / "five.nc"), "cdf5")
    done = subprocess.run([tools / "ncgen", "-P", folder / "s.cdl"], capture_output=True, env={})
    assert done.returncode >= 0, "a signal"


def tools_theirs():
    with create("s") as data:
        data.createVariable("v", "f8", ())[...] = 3.25
    expect(dump(folder / "s"), "double v ;", "v = 3.25 ;")
    expect(run("ncdump", "-K", folder / "s"), "Zarr 2")


fill_value_of_nonsense_ours = fill_value_of_nonsense
globals()[f"{defect}_{side}"]()
