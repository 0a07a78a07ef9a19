"""A program for netCDF4-python that uses ``ferrocdf.netCDF4``, read by a type checker as ``typed_program.py`` is."""

import pathlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type

from ferrocdf import netCDF4


def write(place: pathlib.Path) -> None:
    with netCDF4.Dataset(place, "w", format="NETCDF4") as data:
        assert_type(data, netCDF4.Dataset)
        assert_type(data.createDimension("time", None), netCDF4.Dimension)
        assert_type(data.createGroup("north"), netCDF4.Group)
        assert_type(data.createCompoundType([("low", "i4"), ("high", "f8")], "pair"), netCDF4.CompoundType)
        assert_type(data.createVLType(np.int32, "list"), netCDF4.VLType)
        assert_type(data.createEnumType("i1", "colour", {"red": 0, "blue": 1}), netCDF4.EnumType)
        heat = data.createVariable("heat", "f4", ("time",), zlib=True, chunksizes=(10,), fill_value=-1.0)
        assert_type(heat, netCDF4.Variable)
        heat[:] = np.arange(4.0)
        heat.units = "K"
        heat.setncatts({"valid_min": 0.0, "long_name": "heat"})
        heat.renameAttribute("long_name", "standard_name")
        heat.delncattr("valid_min")
        data.createVariable("zone", "i4").assignValue(7)
        data.renameVariable("zone", "area")
        data.renameGroup("north", "south")
        data.setncattr("title", "crabs")
        data.sync()
        data.set_fill_off()
        data.set_fill_on()


def read(place: pathlib.Path) -> None:
    data = netCDF4.Dataset(str(place))
    assert_type(data.name, str)
    assert_type(data.path, str)
    assert_type(data.data_model, str)
    assert_type(data.parent, netCDF4.Dataset | None)
    assert_type(data.groups, dict[str, netCDF4.Group])
    assert_type(data.variables, dict[str, netCDF4.Variable])
    assert_type(data.dimensions, dict[str, netCDF4.Dimension])
    assert_type(data["heat"], Any)
    assert_type(data.filepath(), str)
    assert_type(data.isopen(), bool)
    assert_type(data.ncattrs(), list[str])
    assert_type(data.get_variables_by_attributes(units="K"), list[netCDF4.Variable])
    assert_type(data.tocdl(), str | None)
    assert_type(data.has_zstd_filter(), bool)
    data.set_auto_maskandscale(False)
    time = data.dimensions["time"]
    assert_type(time.name, str)
    assert_type(time.size, int)
    assert_type(len(time), int)
    assert_type(time.isunlimited(), bool)
    assert_type(time.group(), netCDF4.Dataset)
    heat = data.variables["heat"]
    assert_type(heat[:], Any)
    assert_type(heat.name, str)
    assert_type(heat.shape, tuple[int, ...])
    assert_type(heat.ndim, int)
    assert_type(heat.size, int)
    assert_type(heat.dimensions, tuple[str, ...])
    assert_type(heat.get_dims(), tuple[netCDF4.Dimension, ...])
    assert_type(heat.filters(), dict[str, Any] | None)
    assert_type(heat.quantization(), tuple[int, str] | None)
    assert_type(heat.chunking(), list[int] | str | None)
    assert_type(heat.endian(), str)
    assert_type(heat.get_var_chunk_cache(), tuple[int, int, float])
    assert_type(heat.group(), netCDF4.Dataset)
    assert_type(data.close(), memoryview | None)


def functions() -> None:
    assert_type(netCDF4.stringtoarr("crab", 5), NDArray[Any])
    assert_type(netCDF4.stringtochar(np.array(["crab"], "S4")), NDArray[Any])
    assert_type(netCDF4.chartostring(np.array([b"a", b"b"])), NDArray[Any])
    assert_type(netCDF4.getlibversion(), str)
    assert_type(netCDF4.get_chunk_cache(), tuple[int, int, float])
    assert_type(netCDF4.get_alignment(), tuple[int, int])
    netCDF4.set_chunk_cache(*netCDF4.get_chunk_cache())
    netCDF4.set_alignment(*netCDF4.get_alignment())
    netCDF4.rc_set("key", 1)
    assert_type(netCDF4.rc_get("key"), str | None)


def several(folder: pathlib.Path) -> None:
    for number in range(2):
        with netCDF4.Dataset(folder / f"part{number}.nc", "w", format="NETCDF3_CLASSIC") as part:
            part.createDimension("time")
            part.createVariable("time", "f8", "time")[:] = [number]
            part.variables["time"].setncatts({"units": "days since 2000-01-01", "calendar": "standard"})
    with netCDF4.MFDataset([folder / "part0.nc", folder / "part1.nc"]) as joined:
        assert_type(joined, netCDF4.MFDataset)
        assert netCDF4.MFTime(joined.variables["time"])[:].tolist() == [0, 1]


def mistakes(data: netCDF4.Dataset, heat: netCDF4.Variable) -> None:
    """Is not run."""
    netCDF4.Dataset()  # type: ignore[call-arg]
    data.createDimension(1)  # type: ignore[arg-type]
    data.createVariable("a")  # type: ignore[call-arg]
    heat.shape = (1,)  # type: ignore[misc]
    netCDF4.getlibversion(1)  # type: ignore[call-arg]


def main(folder: pathlib.Path) -> None:
    write(folder / "a.nc")
    read(folder / "a.nc")
    functions()
    several(folder)
