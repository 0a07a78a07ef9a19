"""A Python program over netCDF4: defines, writes, reads, edits and prints."""
import numpy as np
import netCDF4

for number, form in enumerate(["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"]):
    path = f"python{number}.nc"
    with netCDF4.Dataset(path, "w", format=form) as file:
        file.createDimension("time", None)
        file.createDimension("y", 3)
        file.createDimension("x", 4)
        file.createDimension("len", 6)
        v = file.createVariable("v", "f4", ("time", "y", "x"), fill_value=-999.0)
        p = file.createVariable("p", "i2", ("time",))
        c = file.createVariable("c", "S1", ("y", "len"))
        file.createVariable("s", "f8", ())[...] = 2.5
        v.units = "K"
        v.valid_range = np.array([0, 500], "f4")
        p.scale_factor = 0.5
        p.add_offset = 10.0
        file.title = "grüße"
        v[:] = np.arange(24, dtype="f4").reshape(2, 3, 4)
        v[3] = 7.0
        p[:] = [10.0, 11.5, 12.0, 13.5]
        c[:] = netCDF4.stringtochar(np.array(["one", "two", "three"], "S6"))
    with netCDF4.Dataset(path, "a") as file:
        file.renameVariable("p", "packed")
        file.setncattr("count", np.int32(3))
        file["v"][0, ::2, 1:3] = -1
        file.sync()
        file["v"].delncattr("units")
    with netCDF4.Dataset(path) as file:
        print(file.data_model, file.disk_format, list(file.dimensions), list(file.variables))
        print(repr(file))
        for name, var in file.variables.items():
            print(name, var.dtype, var.shape, var.dimensions, {a: var.getncattr(a) for a in var.ncattrs()})
            print(var[...])
        print(file["v"][2:0:-1, 1, ::3])
        print(file["v"][[0, 3], :, 2])
        try:
            file["v"][0] = 1
        except RuntimeError as error:
            print("error:", error)
    data = open(path, "rb").read()
    with netCDF4.Dataset("memory", memory=data) as file:
        print(file["packed"][:])

made = netCDF4.Dataset("made", "w", format="NETCDF3_CLASSIC", memory=1024)
made.createDimension("x", 3)
made.createVariable("v", "i4", ("x",))[:] = [1, 2, 3]
print(netCDF4.Dataset("again", memory=bytes(made.close()))["v"][:])

with netCDF4.Dataset("persist.nc", "w", format="NETCDF3_CLASSIC", diskless=True, persist=True) as file:
    file.createDimension("x", 3)
    file.createVariable("v", "i4", ("x",))[:] = [4, 5, 6]
with netCDF4.MFDataset(["python0.nc", "python1.nc"]) as file:
    print(file["v"].shape, file["v"][:].sum())
