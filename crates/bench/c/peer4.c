/* The netCDF-4 workloads of the bench through netcdf-c; open and attributes are in peer.c. usage: peer4 WORKLOAD FILE
 * Prints the seconds spent in the library's calls. */
#include "common.h"

/* The only variable whole, into memory never used before. */
static double read_fresh(int nc, int shorts, const size_t *shape)
{
    size_t count = 1;
    for (int d = 0; d < 3; d++)
        count *= shape[d];
    double start = now();
    void *buffer = malloc(count * (shorts ? sizeof(short) : sizeof(float)));
    if (shorts)
        CHECK(nc_get_var_short(nc, 0, buffer));
    else
        CHECK(nc_get_var_float(nc, 0, buffer));
    return now() - start;
}

/* As many times as a chunk has after the other, into one buffer. */
static double read_slabs(int nc, int shorts, const size_t *shape)
{
    size_t at[3] = {0, 0, 0}, count[3] = {24, shape[1], shape[2]};
    size_t len = 24 * shape[1] * shape[2] * (shorts ? sizeof(short) : sizeof(float));
    void *buffer = malloc(len);
    memset(buffer, 1, len);
    double start = now();
    for (; at[0] < shape[0]; at[0] += 24)
        if (shorts)
            CHECK(nc_get_vara_short(nc, 0, at, count, buffer));
        else
            CHECK(nc_get_vara_float(nc, 0, at, count, buffer));
    return now() - start;
}

/* A part, into a buffer that was used before. */
static double read_part(int nc, int shorts, const size_t *at, const size_t *count, const ptrdiff_t *stride)
{
    size_t len = count[0] * count[1] * count[2] * (shorts ? sizeof(short) : sizeof(float));
    void *buffer = malloc(len);
    memset(buffer, 1, len);
    double start = now();
    if (shorts)
        CHECK(nc_get_vars_short(nc, 0, at, count, stride, buffer));
    else
        CHECK(nc_get_vars_float(nc, 0, at, count, stride, buffer));
    return now() - start;
}

/* One element of each row, one call each. */
static double read_elements(int nc, const size_t *shape)
{
    float value;
    size_t at[2] = {0, 3};
    double start = now();
    for (; at[0] < shape[0]; at[0]++)
        CHECK(nc_get_var1_float(nc, 0, at, &value));
    return now() - start;
}

/* Chunks hold as many times. */
enum { STEP = 24 };

/* The variable of an open file written to another, contiguous (no chunks) or in chunks, packed or not. */
static double write_grid(int in, const char *path, const size_t *shape, int chunked, int level)
{
    size_t count[3] = {STEP, shape[1], shape[2]}, at[3] = {0, 0, 0};
    float *values = malloc(shape[0] * shape[1] * shape[2] * sizeof *values);
    CHECK(nc_get_var_float(in, 0, values));
    int nc, dims[3], var;
    double start = now();
    CHECK(nc_create(path, NC_CLOBBER | NC_NETCDF4, &nc));
    CHECK(nc_def_dim(nc, "time", shape[0], &dims[0]));
    CHECK(nc_def_dim(nc, "lat", shape[1], &dims[1]));
    CHECK(nc_def_dim(nc, "lon", shape[2], &dims[2]));
    CHECK(nc_def_var(nc, "v", NC_FLOAT, 3, dims, &var));
    if (chunked)
        CHECK(nc_def_var_chunking(nc, var, NC_CHUNKED, (size_t[]){STEP, shape[1] / 2, shape[2] / 4}));
    if (level)
        CHECK(nc_def_var_deflate(nc, var, 1, 1, level));
    for (; at[0] < shape[0]; at[0] += STEP)
        CHECK(nc_put_vara_float(nc, var, at, count, values + at[0] * shape[1] * shape[2]));
    CHECK(nc_close(nc));
    return now() - start;
}

/* A hundred thousand chunks of ten floats, in one call or one by one. */
static double write_tiny(const char *path, int each)
{
    enum { ROWS = 100000 };
    size_t at[2] = {0, 0}, count[2] = {each ? 1 : ROWS, 10};
    float *values = malloc(ROWS * 10 * sizeof *values);
    for (int i = 0; i < ROWS * 10; i++)
        values[i] = i * 0.5f;
    int nc, dims[2], var;
    double start = now();
    CHECK(nc_create(path, NC_CLOBBER | NC_NETCDF4, &nc));
    CHECK(nc_def_dim(nc, "time", NC_UNLIMITED, &dims[0]));
    CHECK(nc_def_dim(nc, "x", 10, &dims[1]));
    CHECK(nc_def_var(nc, "v", NC_FLOAT, 2, dims, &var));
    CHECK(nc_def_var_chunking(nc, var, NC_CHUNKED, (size_t[]){1, 10}));
    for (; at[0] < ROWS; at[0] += count[0])
        CHECK(nc_put_vara_float(nc, var, at, count, values + at[0] * 10));
    CHECK(nc_close(nc));
    return now() - start;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    const char *what = argv[1];
    char made[4096];
    int nc;
    snprintf(made, sizeof made, "%s.made", argv[2]);
    size_t shape[NC_MAX_VAR_DIMS] = {1, 1, 1}, origin[3] = {0, 0, 0};
    CHECK(nc_open(argv[2], NC_NOWRITE, &nc));
    elements(nc, 0, shape);
    double spent;
    if (!strcmp(what, "read-fresh"))
        spent = read_fresh(nc, 0, shape);
    else if (!strcmp(what, "read-shorts"))
        spent = read_fresh(nc, 1, shape);
    else if (!strcmp(what, "read-slabs"))
        spent = read_slabs(nc, 0, shape);
    else if (!strcmp(what, "read-short-slabs"))
        spent = read_slabs(nc, 1, shape);
    else if (!strcmp(what, "read-shorts-again"))
        spent = read_part(nc, 1, origin, shape, (ptrdiff_t[]){1, 1, 1});
    else if (!strcmp(what, "read-step"))
        spent = read_part(nc, 0, (size_t[]){100, 0, 0}, (size_t[]){1, shape[1], shape[2]}, (ptrdiff_t[]){1, 1, 1});
    else if (!strcmp(what, "read-point"))
        spent = read_part(nc, 0, (size_t[]){0, 300, 700}, (size_t[]){shape[0], 1, 1}, (ptrdiff_t[]){1, 1, 1});
    else if (!strcmp(what, "read-strided"))
        spent = read_part(nc, 0, origin, (size_t[]){shape[0] / 4, shape[1] / 4, shape[2] / 4},
                          (ptrdiff_t[]){4, 4, 4});
    else if (!strcmp(what, "read-elements"))
        spent = read_elements(nc, shape);
    else if (!strcmp(what, "write-packed"))
        spent = write_grid(nc, made, shape, 1, 4);
    else if (!strcmp(what, "write-packed1"))
        spent = write_grid(nc, made, shape, 1, 1);
    else if (!strcmp(what, "write-chunked"))
        spent = write_grid(nc, made, shape, 1, 0);
    else if (!strcmp(what, "write-contiguous"))
        spent = write_grid(nc, made, shape, 0, 0);
    else if (!strcmp(what, "write-tiny"))
        spent = write_tiny(made, 0);
    else if (!strcmp(what, "append-tiny"))
        spent = write_tiny(made, 1);
    else
        return 2;
    CHECK(nc_close(nc));
    printf("%.6f\n", spent);
    return 0;
}
