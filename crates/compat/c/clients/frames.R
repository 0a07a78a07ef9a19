# An R program over ncdf4: defines, writes, reads and prints.
suppressMessages(library(ncdf4))
for (kind in c(FALSE, TRUE)) {
  path <- if (kind) "frames2.nc" else "frames1.nc"
  x <- ncdim_def("x", "m", as.double(1:4))
  t <- ncdim_def("time", "days since 2000-01-01", 0, unlim = TRUE)
  v <- ncvar_def("v", "K", list(x, t), -99, prec = "float")
  n <- ncvar_def("n", "1", list(x), -1L, prec = "integer")
  file <- nc_create(path, list(v, n), force_v4 = FALSE)
  for (i in 1:3) {
    ncvar_put(file, v, as.double(1:4) * i, start = c(1, i), count = c(4, 1))
    ncvar_put(file, t$name, i, start = i, count = 1)
  }
  ncvar_put(file, n, 11:14)
  ncatt_put(file, "v", "long_name", "values")
  ncatt_put(file, 0, "title", "frames")
  nc_close(file)
  file <- nc_open(path)
  print(names(file$var))
  print(ncvar_get(file, "v"))
  print(ncvar_get(file, "v", start = c(2, 1), count = c(2, 2)))
  print(ncvar_get(file, "n"))
  print(ncatt_get(file, "v", "units"))
  print(ncatt_get(file, 0, "title"))
  nc_close(file)
}
