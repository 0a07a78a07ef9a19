/* Makes the netCDF-4 files of the bench through netcdf-c. usage: make4 WHAT FILE [FROM] */
#include "common.h"
#include <math.h>
#include <stdint.h>

enum { TIMES = 240, LATS = 720, LONS = 1440, STEP = 24 };

static uint64_t state = 0x2545F4914F6CDD1Du;

/* Evenly from 0 to 1. */
static double noise(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 40) / 16777216.0;
}

/* The field at some times: waves and noise, in steps of 1/128. */
static void field(size_t from, size_t times, float *to)
{
    double lon_wave[LONS];
    for (size_t t = from; t < from + times; t++) {
        for (int x = 0; x < LONS; x++)
            lon_wave[x] = 5 * sin(x * 0.0131 + t * 0.02);
        for (int y = 0; y < LATS; y++) {
            double base = 280 + 25 * cos((y - 360) * 0.0043) + 2 * sin(t * 0.26);
            for (int x = 0; x < LONS; x++)
                *to++ = rint((base + lon_wave[x] + 0.6 * noise() + 0.6 * noise()) * 128) / 128;
        }
    }
}

static int grid(const char *path, int *dims)
{
    int nc;
    CHECK(nc_create(path, NC_CLOBBER | NC_NETCDF4, &nc));
    CHECK(nc_def_dim(nc, "time", TIMES, &dims[0]));
    CHECK(nc_def_dim(nc, "lat", LATS, &dims[1]));
    CHECK(nc_def_dim(nc, "lon", LONS, &dims[2]));
    return nc;
}

/* 1 GB of floats: in 160 chunks with shuffle and deflate 4, or contiguous. */
static void floats(const char *path, int packed)
{
    int dims[3], var, nc = grid(path, dims);
    size_t chunk[3] = {STEP, LATS / 4, LONS / 4}, at[3] = {0, 0, 0}, count[3] = {STEP, LATS, LONS};
    CHECK(nc_def_var(nc, "v", NC_FLOAT, 3, dims, &var));
    CHECK(nc_def_var_chunking(nc, var, packed ? NC_CHUNKED : NC_CONTIGUOUS, chunk));
    if (packed)
        CHECK(nc_def_var_deflate(nc, var, 1, 1, 4));
    float *buffer = malloc((size_t)STEP * LATS * LONS * sizeof *buffer);
    for (; at[0] < TIMES; at[0] += STEP) {
        field(at[0], STEP, buffer);
        CHECK(nc_put_vara_float(nc, var, at, count, buffer));
    }
    CHECK(nc_close(nc));
}

/* 0.5 GB of packed 16-bit integers, deflate 1. */
static void shorts(const char *path)
{
    int dims[3], var, nc = grid(path, dims);
    size_t chunk[3] = {STEP, LATS / 2, LONS / 4}, at[3] = {0, 0, 0}, count[3] = {STEP, LATS, LONS};
    float scale = 0.06f, offset = 280;
    CHECK(nc_def_var(nc, "v", NC_SHORT, 3, dims, &var));
    CHECK(nc_def_var_chunking(nc, var, NC_CHUNKED, chunk));
    CHECK(nc_def_var_deflate(nc, var, 0, 1, 1));
    CHECK(nc_put_att_float(nc, var, "scale_factor", NC_FLOAT, 1, &scale));
    CHECK(nc_put_att_float(nc, var, "add_offset", NC_FLOAT, 1, &offset));
    size_t many = (size_t)STEP * LATS * LONS;
    float *buffer = malloc(many * sizeof *buffer);
    short *packed = malloc(many * sizeof *packed);
    for (; at[0] < TIMES; at[0] += STEP) {
        field(at[0], STEP, buffer);
        for (size_t i = 0; i < many; i++)
            packed[i] = (short)rintf((buffer[i] - offset) / scale);
        CHECK(nc_put_vara_short(nc, var, at, count, packed));
    }
    CHECK(nc_close(nc));
}

/* 100,000 chunks of ten floats. */
static void tiny(const char *path, int packed)
{
    int nc, dims[2], var;
    size_t chunk[2] = {1, 10}, at[2] = {0, 0}, count[2] = {100000, 10};
    CHECK(nc_create(path, NC_CLOBBER | NC_NETCDF4, &nc));
    CHECK(nc_def_dim(nc, "time", NC_UNLIMITED, &dims[0]));
    CHECK(nc_def_dim(nc, "x", 10, &dims[1]));
    CHECK(nc_def_var(nc, "v", NC_FLOAT, 2, dims, &var));
    CHECK(nc_def_var_chunking(nc, var, NC_CHUNKED, chunk));
    if (packed)
        CHECK(nc_def_var_deflate(nc, var, 1, 1, 1));
    float *buffer = malloc(1000000 * sizeof *buffer);
    for (int i = 0; i < 1000000; i++)
        buffer[i] = i * 0.5f;
    CHECK(nc_put_vara_float(nc, var, at, count, buffer));
    CHECK(nc_close(nc));
}

/* Many variables of doubles with attributes, over a dimension of that length, or four over an unlimited one. */
static void many(const char *path, int vars, int atts, size_t length)
{
    int nc, dim, var;
    char name[64];
    size_t at = 0, count = length == NC_UNLIMITED ? 4 : length;
    double *values = malloc(count * sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = i + 1;
    CHECK(nc_create(path, NC_CLOBBER | NC_NETCDF4, &nc));
    CHECK(nc_def_dim(nc, "x", length, &dim));
    for (int v = 0; v < vars; v++) {
        sprintf(name, "variable_%d", v);
        CHECK(nc_def_var(nc, name, NC_DOUBLE, 1, &dim, &var));
        for (int a = 0; a < atts; a++) {
            double number = a + 0.5;
            sprintf(name, "attribute_%d", a);
            if (a % 2)
                CHECK(nc_put_att_text(nc, var, name, 14, "some text here"));
            else
                CHECK(nc_put_att_double(nc, var, name, NC_DOUBLE, 1, &number));
        }
    }
    CHECK(nc_enddef(nc));
    for (var = 0; var < vars; var++)
        CHECK(nc_put_vara_double(nc, var, &at, &count, values));
    CHECK(nc_close(nc));
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    const char *what = argv[1], *path = argv[2];
    if (!strcmp(what, "floats"))
        floats(path, 1);
    else if (!strcmp(what, "contiguous"))
        floats(path, 0);
    else if (!strcmp(what, "shorts"))
        shorts(path);
    else if (!strcmp(what, "tiny"))
        tiny(path, 0);
    else if (!strcmp(what, "tiny-packed"))
        tiny(path, 1);
    else if (!strcmp(what, "2000x20"))
        many(path, 2000, 20, 4);
    else if (!strcmp(what, "2000x20-unlimited"))
        many(path, 2000, 20, NC_UNLIMITED);
    else if (!strcmp(what, "100x10"))
        many(path, 100, 10, 1 << 17);
    else if (!strcmp(what, "10000x10"))
        many(path, 10000, 10, 4);
    else
        return 2;
    return 0;
}
