# An R program over ncdf4 that writes netCDF-4: storage, groups, a second opening.
suppressMessages(library(ncdf4))
path <- "lists.nc"
x <- ncdim_def("x", "m", as.double(1:6))
y <- ncdim_def("y", "m", as.double(1:4))
inner <- ncdim_def("group/z", "m", as.double(1:3))
days <- "days since 2000-01-01"
t <- ncdim_def("time", days, 0, unlim = TRUE, calendar = "noleap")
count <- ncdim_def("count", "", 1:5, create_dimvar = FALSE)
length <- ncdim_def("length", "", 1:8, create_dimvar = FALSE)
vars <- list(
  ncvar_def("plain", "K", list(x, y, t), -99, prec = "float"),
  ncvar_def("zipped", "K", list(x, y, t), 1e30, prec = "double", compression = 5),
  ncvar_def("shuffled", "K", list(x, y, t), -1L, prec = "integer", shuffle = TRUE, compression = 9, chunksizes = c(3, 2, 1)),
  ncvar_def("short", "1", list(x, y), -5, prec = "short", chunksizes = c(6, 1)),
  ncvar_def("byte", "1", list(x), prec = "byte"),
  ncvar_def("text", "", list(length, count), prec = "char"),
  ncvar_def("scalar", "1", list(), NULL, prec = "double"),
  ncvar_def("group/v", "1", list(inner, x), -3, prec = "float", compression = 2),
  ncvar_def("group/below/w", "1", list(t), -3, prec = "integer")
)
file <- nc_create(path, vars, force_v4 = TRUE)
for (i in 1:3) {
  for (name in c("plain", "zipped", "shuffled")) {
    ncvar_put(file, name, (1:24) * i, start = c(1, 1, i), count = c(6, 4, 1))
  }
  ncvar_put(file, "time", i * 30, start = i, count = 1)
  ncvar_put(file, "group/below/w", i, start = i, count = 1)
}
ncvar_put(file, "short", c(1:23, NA))
ncvar_put(file, "byte", 1:6)
ncvar_put(file, "text", c("one", "two", "three", "four", "five"))
ncvar_put(file, "scalar", 2.5)
ncvar_put(file, "group/v", 1:18)
ncatt_put(file, "plain", "long_name", "values")
ncatt_put(file, "group/v", "range", c(1.5, 2.5), prec = "float")
ncatt_put(file, 0, "title", "lists")
ncatt_put(file, 0, "numbers", 1:4, prec = "short")
nc_close(file)
file <- nc_open(path, write = TRUE)
print(file)
file <- ncvar_rename(file, "short", "renamed")
file <- ncvar_add(file, ncvar_def("added", "s", list(x, file$dim$time), -7, prec = "double", compression = 1))
ncvar_put(file, "added", 1:6, start = c(1, 2), count = c(6, 1))
ncvar_put(file, "zipped", 101:124, start = c(1, 1, 5), count = c(6, 4, 1))
ncatt_put(file, "plain", "long_name", "values with a name that is longer than before")
ncvar_change_missval(file, "plain", -77)
nc_sync(file)
nc_close(file)
file <- nc_open(path)
print(names(file$var))
print(ncvar_get(file, "zipped", start = c(1, 1, 3), count = c(6, 2, 3)))
print(ncvar_get(file, "shuffled", start = c(2, 1, 1), count = c(2, 2, 2)))
print(ncvar_get(file, "text"))
print(ncvar_get(file, "group/v"))
print(ncvar_get(file, "renamed"))
print(ncatt_get(file, "group/v", "range"))
nc_close(file)
