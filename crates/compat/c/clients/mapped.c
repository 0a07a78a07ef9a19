/* Classic files in memory and mapped: which calls succeed, what is read, and what is on disk afterwards. */
#include <netcdf.h>
#include <stdio.h>
#include <unistd.h>

static void say(const char *what, int value) { printf(" %s %d", what, value); }

/* Makes a file with three values. */
static int make(int mode)
{
    int nc, dim, var, values[3] = {1, 2, 3}, code = nc_create("mapped.nc", mode, &nc);
    say("create", code);
    if (code)
        return code;
    say("define", nc_def_dim(nc, "x", 3, &dim) || nc_def_var(nc, "v", NC_INT, 1, &dim, &var) || nc_enddef(nc));
    say("put", nc_put_var_int(nc, var, values));
    values[2] = 0;
    say("get", nc_get_var_int(nc, var, values));
    say("value", values[2]);
    return nc_close(nc);
}

/* Opens the file, and changes its last value if that is possible. */
static int change(int mode)
{
    int nc, values[3] = {0}, code = nc_open("mapped.nc", mode, &nc);
    say("open", code);
    if (code)
        return code;
    say("get", nc_get_var_int(nc, 0, values));
    say("value", values[2]);
    values[2] = 9;
    say("put", nc_put_var_int(nc, 0, values));
    return nc_close(nc);
}

int main(void)
{
    static const int modes[] = {NC_DISKLESS, NC_DISKLESS | NC_PERSIST, NC_MMAP, NC_MMAP | NC_PERSIST,
                                NC_MMAP | NC_64BIT_OFFSET, NC_MMAP | NC_64BIT_DATA, NC_MMAP | NC_NETCDF4,
                                NC_MMAP | NC_DISKLESS, NC_MMAP | NC_INMEMORY};
    for (size_t at = 0; at < sizeof modes / sizeof *modes; at++)
        for (int writes = 0; writes <= NC_WRITE; writes += NC_WRITE) {
            printf("%#x:", modes[at] | writes);
            remove("mapped.nc");
            say("close", make(modes[at] | writes));
            say("is there", !access("mapped.nc", F_OK));
            remove("mapped.nc");
            make(0);
            say("close", change(modes[at] | writes));
            say("close", change(0));
            putchar('\n');
        }
    return 0;
}
