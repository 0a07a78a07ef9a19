/* Writes, closes and reads files in functions that run at the end of a process, as those of global objects do: what the
 * thread keeps is gone by then. */
#include <netcdf.h>
#include <netcdf_filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CHECK(call) do { int code = (call); if (code) { fprintf(stderr, "%s: %s\n", #call, nc_strerror(code)); _exit(1); } } while (0)

enum { ROWS = 64, COLUMNS = 4096, VARS = 5 };
static const unsigned FILTERS[VARS][9] = {{1, 1, 4}, {32015, 1, 3}, {307, 1, 5}, {32004, 0}, {32001, 7, 0, 0, 0, 0, 5, 1, 3}};
static const char *path;
static int nc, vars[VARS];
static int values[ROWS][COLUMNS], found[ROWS][COLUMNS];

static void read_again(void)
{
    CHECK(nc_open(path, NC_NOWRITE, &nc));
    for (int var = 0; var < VARS; var++) {
        CHECK(nc_get_var_int(nc, vars[var], &found[0][0]));
        for (int row = 0; row < ROWS; row++)
            for (int column = 0; column < COLUMNS; column++)
                if (found[row][column] != values[row][column])
                    _exit(2);
    }
    CHECK(nc_close(nc));
    puts("the same");
}

static void finish(void)
{
    for (int var = 0; var < VARS; var++)
        CHECK(nc_put_var_int(nc, vars[var], &values[0][0]));
    CHECK(nc_close(nc));
}

int main(int argc, char **argv)
{
    int dims[2];
    path = argv[argc - 1];
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < COLUMNS; column++)
            values[row][column] = (row * COLUMNS + column) % 1000 * 7;
    CHECK(nc_create(path, NC_NETCDF4 | NC_CLOBBER, &nc));
    CHECK(nc_def_dim(nc, "row", ROWS, &dims[0]));
    CHECK(nc_def_dim(nc, "column", COLUMNS, &dims[1]));
    for (int var = 0; var < VARS; var++) {
        char name[2] = {(char)('a' + var), 0};
        size_t chunk[2] = {8, COLUMNS};
        CHECK(nc_def_var(nc, name, NC_INT, 2, dims, &vars[var]));
        CHECK(nc_def_var_chunking(nc, vars[var], NC_CHUNKED, chunk));
        CHECK(nc_def_var_filter(nc, vars[var], FILTERS[var][0], FILTERS[var][1], &FILTERS[var][2]));
        /* So that the thread keeps something of each. */
        CHECK(nc_put_var_int(nc, vars[var], &found[0][0]));
    }
    /* The last one that is named runs first. */
    atexit(read_again);
    atexit(finish);
    return 0;
}
