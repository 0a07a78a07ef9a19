"""A program that uses the whole package. ``test_types.py`` lets a type checker read it, and runs it.

Each ``assert_type`` tells the type that a type checker must find. Each ``type: ignore`` marks a mistake that it must find: strict checkers
report those that are not needed.
"""

import io
import pathlib
import pickle
from collections.abc import Mapping
from typing import Any

import fsspec  # type: ignore[import-untyped]
import numpy as np
import obstore.store
import xarray
from numpy.typing import NDArray
from typing_extensions import assert_type

import ferrocdf
import ferrocdf.xarray


def write(place: pathlib.Path) -> None:
    with ferrocdf.open(place, "w", kind="netCDF-4", fill=True, durable=False) as data:
        assert_type(data, ferrocdf.Dataset)
        assert_type(data.create_dimension("time"), ferrocdf.Dimension)
        assert_type(data.create_group("north", attrs={"zone": 1}), ferrocdf.Group)
        made = data.create_variable(
            "heat",
            "float",
            ["time", "x"],
            data=[[1.0, 2.5], [0.5, 4.0]],
            attrs={"units": "K", "valid_range": [0.0, 9.0]},
            chunks=(1, 2),
            compression="zstd",
            level=3,
            shuffle=True,
            fletcher32=True,
            endian="little",
            quantize=("BitGroom", 5),
            fill_value=-1.0,
        )
        assert_type(made, ferrocdf.Variable)
        made[0, 0] = 1.5
        made[:, [0, 1]] = np.ones((2, 2))
        made[np.array([0])] = [3.0, 4.0]
        made[...] = np.ma.masked_less(np.arange(4.0).reshape(2, 2), 1)
        data.create_variable("name", str, "time", data=["a", "b"])
        data.create_variable("count", np.int32)[()] = 3
        data.create_variable("other", np.dtype("u2"), ("time",), contiguous=False, filters=["shuffle", "deflate,4"], fill=False)
        kind = data.create_type("pair", [("low", "i4"), ("high", "f8")])
        assert_type(kind, ferrocdf.Type)
        assert_type(kind.dtype, np.dtype[Any])
        data.create_variable("pairs", "pair", ["time"])[:] = [(1, 2.0), (3, 4.0)]
        data.grow_dimension("time", 3)
        data.rename_dimension("x", "y")
        made.rename("warmth")
        data.groups["north"].rename("south")
        data.remove("other")
        data.sync()


def read(place: pathlib.Path) -> None:
    data = ferrocdf.open(str(place), all_attributes=True, shared=False, hdf_eos=False, hdf4_all=False)
    assert_type(data.format, str)
    assert_type(data.container, str)
    assert_type(data.closed, bool)
    assert_type(data.skipped, list[str])
    assert_type(data.name, str)
    assert_type(data.path, str)
    assert_type(data.parent, ferrocdf.Group | None)
    assert_type(data.groups, Mapping[str, ferrocdf.Group])
    assert_type(data.variables, Mapping[str, ferrocdf.Variable])
    assert_type(data.dimensions, dict[str, ferrocdf.Dimension])
    assert_type(data.types, dict[str, ferrocdf.Type])
    assert_type(list(data), list[str])
    assert_type("warmth" in data, bool)
    assert_type(data["warmth"], Any)
    time = data.dimensions["time"]
    assert_type(time.name, str)
    assert_type(time.size, int)
    assert_type(time.is_unlimited, bool)
    of_variable(data.variables["warmth"])
    assert_type(data.variables["name"].dtype, np.dtype[Any])
    data.refresh()
    assert isinstance(pickle.loads(pickle.dumps(data)), ferrocdf.Dataset)
    data.close()


def of_variable(heat: ferrocdf.Variable) -> None:
    assert_type(heat[:], NDArray[Any])
    assert_type(heat[[0, 1]], NDArray[Any])
    assert_type(heat[[True, False]], NDArray[Any])
    # An array, or the element of a variable without dimensions; a type checker cannot tell.
    assert_type(heat[...], NDArray[Any] | Any)
    assert_type(heat[0, ::-1], NDArray[Any] | Any)
    assert_type(heat[np.int64(0), ..., 1], NDArray[Any] | Any)
    assert_type(heat.read(decode_cf=True), NDArray[Any] | Any)
    room = np.empty((2, 2), np.float32)
    assert heat.read(out=room) is room
    assert_type(heat.read(out=room), np.ndarray[tuple[int, int], np.dtype[np.float32]])
    assert_type(heat.group, ferrocdf.Group)
    assert_type(heat.name, str)
    assert_type(heat.path, str)
    assert_type(heat.shape, tuple[int, ...])
    assert_type(heat.ndim, int)
    assert_type(heat.size, int)
    assert_type(heat.nbytes, int)
    assert_type(len(heat), int)
    assert_type(heat.dimensions, list[str])
    assert_type(heat.type_name, str)
    assert_type(heat.chunks, tuple[int, ...] | None)
    assert_type(heat.shards, tuple[int, ...] | None)
    assert_type(heat.filters, list[str])
    assert_type(heat.fill, bool)
    assert heat.endian == "little" and heat.fill_value == -1
    assert_type(list(heat), list[NDArray[Any] | Any])
    assert np.asarray(heat).shape == heat.shape
    of_attributes(heat.attrs)


def of_attributes(attrs: ferrocdf.Attributes) -> None:
    assert_type(attrs["units"], Any)
    assert_type(attrs.get("units"), Any | None)
    assert_type(attrs.asdict(), dict[str, Any])
    assert_type(list(attrs), list[str])
    assert_type(len(attrs), int)
    try:
        attrs.set("count", 1, "short")
    except ferrocdf.PermissionDenied as error:
        assert_type(error.code, int)
        assert_type(error.path, str | None)
        assert_type(error.errno, int | None)


def in_memory() -> None:
    data = ferrocdf.open(None, "w", kind="classic")
    data.attrs["title"] = "crabs"
    data.attrs.set("year", 2024, np.int16)
    del data.attrs["year"]
    stored = data.to_bytes()
    assert_type(stored, bytes | None)
    assert stored is not None
    for source in (stored, bytearray(stored), memoryview(stored), io.BytesIO(stored)):
        assert ferrocdf.open(source).attrs["title"] == "crabs"
    ferrocdf.open(stored, "a", merge=False).close()


def whole_datasets(place: pathlib.Path) -> None:
    assert_type(ferrocdf.to_cdl(place, data=False, variables=["warmth"]), str)
    ferrocdf.configure(threads=None, cache=None)
    assert_type(ferrocdf.info(place), dict[str, Any])
    target = place.with_suffix(".zarr")
    said = ferrocdf.copy(place, target, kind="zarr", chunks={"time": 2}, filters="zstd,3", level=None, shuffle=False)
    assert_type(said, list[str])


def references(place: pathlib.Path) -> None:
    made = ferrocdf.write_refs(place, inline=0)
    assert_type(made, dict[str, Any])
    output = place.with_suffix(".json")
    ferrocdf.write_refs([place], str(output), base="", concat=None)
    assert_type(ferrocdf.open_refs(made), ferrocdf.Dataset)
    for refs in (output, output.read_text(), output.read_bytes()):
        ferrocdf.open_refs(refs, base=place.parent).close()


def stores(place: pathlib.Path) -> None:
    assert_type(ferrocdf.open(place.name, store=obstore.store.LocalStore(place.parent)), ferrocdf.Dataset)
    ferrocdf.open(fsspec.get_mapper(str(place))).close()
    ferrocdf.open(place, store=fsspec.filesystem("file")).close()


def with_xarray(place: pathlib.Path) -> None:
    data = xarray.Dataset({"heat": (("time", "x"), np.zeros((4, 10)))})
    assert_type(ferrocdf.to_netcdf(data), memoryview)
    encoding = {"heat": {"zlib": True, "chunksizes": (1, 10)}}
    ferrocdf.to_netcdf(data, place, "w", format="NETCDF4", encoding=encoding, unlimited_dims="time")
    ferrocdf.to_netcdf(data.heat, place, "a", group="again", compute=True)
    ferrocdf.to_netcdf(data, io.BytesIO())
    target = place.with_suffix(".zarr")
    ferrocdf.to_zarr(data, target, "w", zarr_format=3)
    ferrocdf.to_zarr(data.isel(time=slice(2)), target, region={"time": slice(0, 2)})
    ferrocdf.to_zarr(data, target, append_dim="time")
    backend = ferrocdf.xarray.FerrocdfBackend()
    assert_type(backend.guess_can_open(place), bool)
    assert_type(backend.open_dataset(place, decode_times=False), xarray.Dataset)
    assert_type(backend.open_groups_as_dict(place), dict[str, xarray.Dataset])
    assert_type(backend.open_datatree(place), xarray.DataTree)


ERRORS: list[type[ferrocdf.Error]] = [
    ferrocdf.AlreadyExists,
    ferrocdf.Conflict,
    ferrocdf.Corrupt,
    ferrocdf.FilterError,
    ferrocdf.InvalidArgument,
    ferrocdf.InvalidState,
    ferrocdf.IoError,
    ferrocdf.NetworkError,
    ferrocdf.NotFound,
    ferrocdf.OutOfBounds,
    ferrocdf.OutOfMemory,
    ferrocdf.PermissionDenied,
    ferrocdf.UnknownFormat,
    ferrocdf.Unsupported,
    ferrocdf.WrongType,
]


def mistakes(data: ferrocdf.Dataset, heat: ferrocdf.Variable) -> None:
    """Is not run."""
    ferrocdf.open("a.nc", "rw")  # type: ignore[call-overload]
    ferrocdf.open("a.nc", "r", durable=True)  # type: ignore[call-overload]
    ferrocdf.open(None)  # type: ignore[call-overload]
    ferrocdf.opens("a.nc")  # type: ignore[attr-defined]
    data.create_variable("a", "float", endian="middle")  # type: ignore[arg-type]
    data.create_variable("a", "float", compress="zstd")  # type: ignore[call-arg]
    data.variables["a"] = heat  # type: ignore[index]
    data.format = "classic"  # type: ignore[misc]
    heat["a"]  # type: ignore[index]
    heat[None]  # type: ignore[call-overload]
    heat[0.5] = 1  # type: ignore[index]
    heat.shape = (1,)  # type: ignore[misc]
    heat.units = "K"  # type: ignore[attr-defined]
    ferrocdf.copy("a.nc", "b.nc", chunks=[("x", 1)])  # type: ignore[arg-type]
    ferrocdf.open_refs({"version": 1}, inline=0)  # type: ignore[call-arg]
    ferrocdf.open("a.nc", store={"a.nc": b""})  # type: ignore[call-overload]
    ferrocdf.to_netcdf(xarray.Dataset(), "a.nc", format="NETCDF5")  # type: ignore[call-overload]


def main(folder: pathlib.Path) -> None:
    write(folder / "a.nc")
    read(folder / "a.nc")
    in_memory()
    whole_datasets(folder / "a.nc")
    references(folder / "a.nc")
    stores(folder / "a.nc")
    with_xarray(folder / "b.nc")
