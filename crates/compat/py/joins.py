"""Joined files: makes files of random lengths, and judges what joins them with netCDF-C, HDF5, xarray and NCO.

`make FOLDER NUMBER`: files `0.nc` to `3.nc` of one random kind.
`check KIND JOINED FILE...`: the joined, or (KIND `virtual`) the virtual, file has the values of the files one behind the other.
`days FOLDER CALENDAR`: files `0.nc` to `2.nc` of a day each, as xarray writes them: each with a reference date of its own, and with bounds.
`dates JOINED FILE...`: the times and bounds of the joined file are those of the files, as cftime decodes them.
`grow JOINED FILE...`: the virtual file is read as before after its first file became longer; and so is one of all elements of that file.
Several commands have `then` between them.
"""

import pathlib
import subprocess
import sys

# `sparse.py` beside this file is not the package that xarray looks for.
sys.path.pop(0)

import cftime
import h5py
import netCDF4
import numpy as np
import xarray

FORMATS = ["NETCDF4", "NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA", "NETCDF4_CLASSIC", "NETCDF3_64BIT_OFFSET"]


def make(folder, number):
    rng = np.random.default_rng(int(number))
    form = FORMATS[int(number) % len(FORMATS)]
    chunk = int(rng.integers(1, 5))
    lens = rng.integers(1, 4, 4) * rng.choice([1, chunk], 4)
    first = 0
    for part, steps in enumerate(lens):
        name = f"{part}.nc"
        with netCDF4.Dataset(pathlib.Path(folder) / name, "w", format=form) as file:
            file.createDimension("time", None)
            file.createDimension("y", 7)
            file.createDimension("x", 11)
            storage = {}
            if form.startswith("NETCDF4"):
                storage = {"zlib": True, "shuffle": bool(number.endswith("0")), "chunksizes": (chunk, 3, 11)}
            time = file.createVariable("time", "f8", ["time"])
            time.units = "days since 2000-01-01"
            y = file.createVariable("y", "f4", ["y"])
            heat = file.createVariable("heat", "f4", ["time", "y", "x"], fill_value=np.float32(-9), **storage)
            packed = file.createVariable("packed", "i2", ["time", "x"])
            packed.scale_factor = 0.5
            flag = file.createVariable("flag", "i1", ["time"])
            place = file
            if form == "NETCDF4":
                place = file.createGroup("inner")
            depth = place.createVariable("depth", "f8", ["time", "x"])
            y[:] = np.arange(7) / 2
            time[:] = first + np.arange(steps)
            heat[:] = rng.standard_normal((steps, 7, 11))
            heat[0, 2] = np.ma.masked
            packed[:] = rng.integers(-99, 99, (steps, 11)) / 2
            flag[:] = rng.integers(-99, 99, steps)
            depth[:] = rng.standard_normal((steps, 11))
        first += steps


def raw(path, name):
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        variable = file[name]
        return variable[:], {key: variable.getncattr(key) for key in variable.ncattrs()}


def check(kind, joined, *files):
    with netCDF4.Dataset(files[0]) as file:
        form = file.data_model
        names = list(file.variables) + [f"inner/{name}" for group in file.groups.values() for name in group.variables]
    with netCDF4.Dataset(joined) as file:
        assert file.data_model == form
        assert file.dimensions["time"].isunlimited() == (kind == "joined")
    for name in names:
        values, attributes = raw(joined, name)
        parts = [raw(file, name) for file in files]
        wanted = parts[0][0] if name == "y" else np.concatenate([part[0] for part in parts])
        np.testing.assert_array_equal(values, wanted, err_msg=name)
        assert attributes == parts[0][1], name
        if form.startswith("NETCDF4"):
            with h5py.File(joined) as file:
                np.testing.assert_array_equal(file[name][()], wanted, err_msg=name)
                assert file[name].is_virtual == (kind == "virtual" and name not in ("y", "time")), name
    with xarray.open_mfdataset(files, concat_dim="time", combine="nested", data_vars="minimal") as wanted:
        with xarray.open_dataset(joined) as found:
            assert "ferrocdf join" in found.attrs.pop("history")
            xarray.testing.assert_identical(found.load(), wanted.load())
    theirs = f"{joined}.ncrcat"
    subprocess.run(["ncrcat", "-h", "-O", *files, theirs], check=True)
    for name in names:
        np.testing.assert_array_equal(raw(joined, name)[0], raw(theirs, name)[0], err_msg=name)


def days(folder, calendar):
    rng = np.random.default_rng(len(calendar))
    dates = xarray.date_range("1582-10-03", periods=3, calendar=calendar, use_cftime=True)
    for number, date in enumerate(dates):
        hours = cftime.num2date([0, 6, 12.5], f"hours since {date.isoformat()}", calendar)
        edges = cftime.num2date([[0, 6], [6, 12], [12, 24]], f"hours since {date.isoformat()}", calendar)
        data = xarray.Dataset(
            {"heat": ("time", rng.standard_normal(3)), "time_bnds": (("time", "bnds"), edges)},
            {"time": ("time", hours, {"bounds": "time_bnds"})},
        )
        # The reference date that xarray chooses, with another unit for each file.
        unit = ["hours", "minutes", "days"][number]
        encoding = {"time": {"units": f"{unit} since {date.isoformat(' ')}", "calendar": calendar, "dtype": "f8"}}
        encoding["time_bnds"] = {**encoding["time"]}
        data.to_netcdf(pathlib.Path(folder) / f"{number}.nc", encoding=encoding)


def decoded(path, name):
    values, attributes = raw(path, name)
    attributes = {**raw(path, "time")[1], **attributes}
    return cftime.num2date(values, attributes["units"], attributes["calendar"])


def dates(joined, *files):
    for name in ["time", "time_bnds"]:
        wanted = np.concatenate([decoded(file, name) for file in files])
        found = decoded(joined, name)
        assert found.shape == wanted.shape and (found == wanted).all(), (name, found, wanted)


def grow(joined, *files):
    wanted = {name: raw(joined, name)[0] for name in ["heat", "packed"]}
    everything = f"{joined}.all.nc"
    with netCDF4.Dataset(files[0]) as file:
        shape = file["packed"].shape
    space, part = h5py.h5s.create_simple(shape), h5py.h5s.create_simple(shape)
    space.select_hyperslab((0, 0), (1, 1), None, shape)
    part.select_all()
    making = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    making.set_virtual(space, files[0].encode(), b"packed", part)
    with h5py.File(everything, "w") as file:
        h5py.h5d.create(file.id, b"packed", h5py.h5t.STD_I16LE, space, making)
    with netCDF4.Dataset(files[0], "a") as file:
        file["heat"][len(file["heat"]) + 3] = 7
        file["packed"][len(file["packed"]) - 1] = 7
    for name, values in wanted.items():
        np.testing.assert_array_equal(raw(joined, name)[0], values, err_msg=name)
        with h5py.File(joined) as file:
            np.testing.assert_array_equal(file[name][()], values, err_msg=name)
    with h5py.File(everything) as file:
        # HDF5 refuses to read it as a whole (`[()]`), and reads a selection of all.
        np.testing.assert_array_equal(file["packed"][:], wanted["packed"][: shape[0]])


COMMANDS = {"make": make, "check": check, "days": days, "dates": dates, "grow": grow}

if __name__ == "__main__":
    # Several commands take one process, since its start takes the most time.
    for words in " ".join(sys.argv[1:]).split(" then "):
        command, *arguments = words.split(" ")
        COMMANDS[command](*arguments)
