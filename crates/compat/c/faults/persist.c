/* Copies a file to one that is made in memory and brought to the disk when it is closed. A close that fails is tried again.
 *
 *   persist IN.nc OUT.nc */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>

static int check(int status, const char *what)
{
    if (status)
        fprintf(stderr, "%s: %s\n", what, nc_strerror(status));
    return status;
}

static int copy(int in, int out)
{
    int dims, vars, atts, unlimited, status = nc_inq(in, &dims, &vars, &atts, &unlimited);
    for (int dim = 0; !status && dim < dims; dim++) {
        char name[NC_MAX_NAME + 1];
        size_t len;
        status = nc_inq_dim(in, dim, name, &len);
        if (!status)
            status = nc_def_dim(out, name, dim == unlimited ? NC_UNLIMITED : len, &dim);
    }
    for (int att = 0; !status && att < atts; att++) {
        char name[NC_MAX_NAME + 1];
        status = nc_inq_attname(in, NC_GLOBAL, att, name);
        if (!status)
            status = nc_copy_att(in, NC_GLOBAL, name, out, NC_GLOBAL);
    }
    for (int var = 0; !status && var < vars; var++)
        status = nc_copy_var(in, var, out);
    return status;
}

/* A file that could not be closed is still open: its id is good for another close. */
static int close_or_retry(int nc)
{
    int status = nc_close(nc);
    if (status)
        status = nc_close(nc);
    if (status == NC_EBADID)
        abort();
    return status;
}

int main(int argc, char **argv)
{
    int in, out;
    if (argc != 3 || check(nc_open(argv[1], 0, &in), argv[1]) ||
        check(nc_create(argv[2], NC_DISKLESS | NC_PERSIST, &out), argv[2]))
        return 1;
    return check(copy(in, out), "copying") || check(close_or_retry(out), argv[2]) ? 1 : 0;
}
