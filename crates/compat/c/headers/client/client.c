/*
 * Writes a small classic file and reads it, and asks for what is not there.
 */
#include <netcdf.h>
#include <netcdf_meta.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int code)
{
    if (code != NC_NOERR) {
        fprintf(stderr, "%s\n", nc_strerror(code));
        exit(1);
    }
}

int main(int argc, char **argv)
{
    const double written[] = {0, 1.5, 3};
    double read[3];
    size_t length, past = 3;
    char name[NC_MAX_NAME + 1];
    int ncid, dimid, varid;

    if (argc != 2 || !NC_HAS_CDF5) return 2;
    check(nc_create(argv[1], NC_CLOBBER | NC_64BIT_OFFSET, &ncid));
    check(nc_def_dim(ncid, "time", NC_UNLIMITED, &dimid));
    check(nc_def_var(ncid, "time", NC_DOUBLE, 1, &dimid, &varid));
    check(nc_enddef(ncid));
    check(nc_put_vara_double(ncid, varid, (const size_t[]){0}, (const size_t[]){3}, written));
    check(nc_close(ncid));

    check(nc_open(argv[1], NC_NOWRITE, &ncid));
    check(nc_inq_varid(ncid, "time", &varid));
    check(nc_inq_dim(ncid, dimid, name, &length));
    check(nc_get_var_double(ncid, varid, read));
    printf("%s %zu (%g %g %g)\n", name, length, read[0], read[1], read[2]);
    printf("%s\n", nc_strerror(nc_inq_varid(ncid, "space", &varid)));
    printf("%s\n", nc_strerror(nc_get_var1_double(ncid, varid, &past, read)));
    check(nc_close(ncid));
    return 0;
}
