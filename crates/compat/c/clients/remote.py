"""Prints everything that netCDF4 reads of a dataset."""
import sys
import warnings

import netCDF4
import numpy

warnings.simplefilter("ignore")


def show(group, path):
    print(path, {name: str(group.getncattr(name)) for name in group.ncattrs()})
    for name, variable in group.variables.items():
        print(path + name, variable.dtype, variable.dimensions, variable.shape)
        print({name: str(variable.getncattr(name)) for name in variable.ncattrs()})
        print(variable[...].tolist())
    for name, inner in group.groups.items():
        show(inner, f"{path}{name}/")


numpy.set_printoptions(threshold=sys.maxsize)
with netCDF4.Dataset(sys.argv[1]) as dataset:
    print(dataset.data_model, dataset.disk_format)
    show(dataset, "/")
