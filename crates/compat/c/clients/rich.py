"""Reads everything of netCDF-4 files through the netCDF4 module."""

import warnings

import netCDF4
import numpy

warnings.simplefilter("ignore")


def attributes(owner, indent):
    for name in owner.ncattrs():
        try:
            print(indent, "att", name, repr(owner.getncattr(name)))
        except Exception as error:
            print(indent, "att", name, type(error).__name__, error)


def show(group, indent):
    print(indent, "group", group.path)
    attributes(group, indent)
    for name, dim in group.dimensions.items():
        print(indent, "dim", name, len(dim), dim.isunlimited())
    for kind in (group.cmptypes, group.vltypes, group.enumtypes):
        for name, made in kind.items():
            print(indent, "type", name, made.dtype, getattr(made, "enum_dict", ""))
    for name, var in group.variables.items():
        print(indent, "var", name, var.datatype if isinstance(var.dtype, type) else var.dtype, var.dimensions, var.shape)
        print(indent, var.chunking(), var.filters(), var.endian())
        attributes(var, indent)
        for key in ((), slice(None), slice(0, None, 2), slice(None, None, -1), -1):
            if key == () and var.shape or key != () and not var.shape:
                continue
            try:
                value = var[key]
                print(indent, key, numpy.ma.getmaskarray(value).tolist() if value.dtype.kind in "if" else "", repr(value))
            except Exception as error:
                print(indent, key, type(error).__name__, error)
    for child in group.groups.values():
        show(child, indent + "  ")


for name in ("rich.nc", "n4.nc", "z4.nc", "s4.nc"):
    with netCDF4.Dataset(name) as data:
        print(name, data.data_model, data.disk_format, data.file_format)
        show(data, "")
