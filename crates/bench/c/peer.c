/* The workloads of the bench through netcdf-c. usage: peer WORKLOAD FILE
 * Prints the seconds spent in the library's calls. Each is written as a careful user of the C library would. */
#include "common.h"

/* Every variable whole, into a buffer that was used before. */
static double read_all(const char *path)
{
    int nc, vars;
    size_t shape[NC_MAX_VAR_DIMS], most = 0;
    CHECK(nc_open(path, NC_NOWRITE, &nc));
    CHECK(nc_inq_nvars(nc, &vars));
    for (int v = 0; v < vars; v++) {
        size_t count = elements(nc, v, shape);
        most = count > most ? count : most;
    }
    float *buffer = malloc(most * sizeof *buffer);
    memset(buffer, 1, most * sizeof *buffer);
    double start = now();
    for (int v = 0; v < vars; v++)
        CHECK(nc_get_var_float(nc, v, buffer));
    double spent = now() - start;
    CHECK(nc_close(nc));
    return spent;
}

/* One record variable of several, whole. */
static double read_one(const char *path)
{
    int nc;
    size_t shape[NC_MAX_VAR_DIMS];
    CHECK(nc_open(path, NC_NOWRITE, &nc));
    size_t count = elements(nc, 4, shape);
    float *buffer = malloc(count * sizeof *buffer);
    memset(buffer, 1, count * sizeof *buffer);
    double start = now();
    CHECK(nc_get_var_float(nc, 4, buffer));
    double spent = now() - start;
    CHECK(nc_close(nc));
    return spent;
}

/* Every record of one variable after the other, one call each. */
static double read_records(const char *path)
{
    int nc, vars;
    size_t shape[NC_MAX_VAR_DIMS], at[2] = {0, 0}, count[2] = {1, 0};
    CHECK(nc_open(path, NC_NOWRITE, &nc));
    CHECK(nc_inq_nvars(nc, &vars));
    elements(nc, 0, shape);
    count[1] = shape[1];
    float *buffer = malloc(shape[1] * sizeof *buffer);
    double start = now();
    for (int v = 0; v < vars; v++)
        for (at[0] = 0; at[0] < shape[0]; at[0]++)
            CHECK(nc_get_vara_float(nc, v, at, count, buffer));
    double spent = now() - start;
    CHECK(nc_close(nc));
    return spent;
}

static float *values(size_t count)
{
    float *buffer = malloc(count * sizeof *buffer);
    for (size_t i = 0; i < count; i++)
        buffer[i] = (float)(i % 10007) * 0.25f;
    return buffer;
}

/* 1 GB in one fixed-size variable, 100 calls; fill mode as it is by default. */
static double write_fixed(const char *path)
{
    int nc, dims[2], var;
    size_t rows = 100, columns = 2500000, at[2] = {0, 0}, count[2] = {1, columns};
    float *buffer = values(columns);
    double start = now();
    CHECK(nc_create(path, NC_CLOBBER | NC_64BIT_DATA, &nc));
    CHECK(nc_def_dim(nc, "row", rows, &dims[0]));
    CHECK(nc_def_dim(nc, "column", columns, &dims[1]));
    CHECK(nc_def_var(nc, "v", NC_FLOAT, 2, dims, &var));
    CHECK(nc_enddef(nc));
    for (; at[0] < rows; at[0]++)
        CHECK(nc_put_vara_float(nc, var, at, count, buffer));
    CHECK(nc_close(nc));
    return now() - start;
}

/* 1 GB in records of two variables, one call a slab. */
static double write_records(const char *path)
{
    int nc, dims[2], vars[2];
    size_t columns = 125000, at[2] = {0, 0}, count[2] = {1, columns};
    float *buffer = values(columns);
    double start = now();
    CHECK(nc_create(path, NC_CLOBBER | NC_64BIT_DATA, &nc));
    CHECK(nc_def_dim(nc, "time", NC_UNLIMITED, &dims[0]));
    CHECK(nc_def_dim(nc, "column", columns, &dims[1]));
    CHECK(nc_def_var(nc, "u", NC_FLOAT, 2, dims, &vars[0]));
    CHECK(nc_def_var(nc, "v", NC_FLOAT, 2, dims, &vars[1]));
    CHECK(nc_enddef(nc));
    for (; at[0] < 1000; at[0]++)
        for (int v = 0; v < 2; v++)
            CHECK(nc_put_vara_float(nc, vars[v], at, count, buffer));
    CHECK(nc_close(nc));
    return now() - start;
}

/* Records of 55 floats, one call each. */
static double write_small(const char *path, int mode, size_t records)
{
    int nc, dims[2], var;
    size_t columns = 55, at[2] = {0, 0}, count[2] = {1, columns};
    float *buffer = values(columns);
    double start = now();
    CHECK(nc_create(path, NC_CLOBBER | mode, &nc));
    CHECK(nc_def_dim(nc, "time", NC_UNLIMITED, &dims[0]));
    CHECK(nc_def_dim(nc, "column", columns, &dims[1]));
    CHECK(nc_def_var(nc, "v", NC_FLOAT, 2, dims, &var));
    CHECK(nc_enddef(nc));
    for (; at[0] < records; at[0]++)
        CHECK(nc_put_vara_float(nc, var, at, count, buffer));
    CHECK(nc_close(nc));
    return now() - start;
}

static double open_only(const char *path)
{
    int nc;
    double start = now();
    CHECK(nc_open(path, NC_NOWRITE, &nc));
    double spent = now() - start;
    CHECK(nc_close(nc));
    return spent;
}

/* Opens a file and reads every attribute in its own type. */
static double read_attributes(const char *path)
{
    int nc, vars, atts;
    char name[NC_MAX_NAME + 1];
    static char value[1 << 16];
    double start = now();
    CHECK(nc_open(path, NC_NOWRITE, &nc));
    CHECK(nc_inq_nvars(nc, &vars));
    for (int v = 0; v < vars; v++) {
        CHECK(nc_inq_varnatts(nc, v, &atts));
        for (int a = 0; a < atts; a++) {
            nc_type type;
            size_t len;
            CHECK(nc_inq_attname(nc, v, a, name));
            CHECK(nc_inq_att(nc, v, name, &type, &len));
            CHECK(nc_get_att(nc, v, name, value));
        }
    }
    double spent = now() - start;
    CHECK(nc_close(nc));
    return spent;
}

/* Opens a file and reads every variable, each tiny. */
static double read_tiny(const char *path)
{
    int nc, vars;
    double value[16], start = now();
    CHECK(nc_open(path, NC_NOWRITE, &nc));
    CHECK(nc_inq_nvars(nc, &vars));
    for (int v = 0; v < vars; v++)
        CHECK(nc_get_var_double(nc, v, value));
    double spent = now() - start;
    CHECK(nc_close(nc));
    return spent;
}

/* Makes a file of many variables with attributes. */
static double create_many(const char *path, int mode, int vars, int atts)
{
    int nc, dim, var;
    char name[64];
    double start = now();
    CHECK(nc_create(path, NC_CLOBBER | mode, &nc));
    CHECK(nc_def_dim(nc, "x", 4, &dim));
    for (int v = 0; v < vars; v++) {
        sprintf(name, "variable_%d", v);
        CHECK(nc_def_var(nc, name, NC_DOUBLE, 1, &dim, &var));
        for (int a = 0; a < atts; a++) {
            sprintf(name, "attribute_%d", a);
            if (a % 2)
                CHECK(nc_put_att_text(nc, var, name, 14, "some text here"));
            else {
                double number = a + 0.5;
                CHECK(nc_put_att_double(nc, var, name, NC_DOUBLE, 1, &number));
            }
        }
    }
    CHECK(nc_enddef(nc));
    CHECK(nc_close(nc));
    return now() - start;
}

/* One value a call, one after the other. */
static double get_var1(const char *path)
{
    int nc;
    float value;
    size_t shape[2], at[2];
    CHECK(nc_open(path, NC_NOWRITE, &nc));
    elements(nc, 0, shape);
    double start = now();
    for (size_t call = 0; call < 10000000; call++) {
        at[0] = call / shape[1] % shape[0];
        at[1] = call % shape[1];
        CHECK(nc_get_var1_float(nc, 0, at, &value));
    }
    double spent = now() - start;
    CHECK(nc_close(nc));
    return spent;
}

/* One value a call, here and there. */
static double get_var1_random(const char *path)
{
    int nc;
    float value;
    size_t shape[2], at[2], state = 12345;
    CHECK(nc_open(path, NC_NOWRITE, &nc));
    elements(nc, 0, shape);
    double start = now();
    for (size_t call = 0; call < 3000000; call++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        at[0] = (state >> 33) % shape[0];
        at[1] = (state >> 20) % shape[1];
        CHECK(nc_get_var1_float(nc, 0, at, &value));
    }
    double spent = now() - start;
    CHECK(nc_close(nc));
    return spent;
}

/* Questions about dimensions and variables. */
static double inquire(const char *path)
{
    int nc, var, rank, dims[NC_MAX_VAR_DIMS], atts;
    size_t len;
    nc_type type;
    char name[NC_MAX_NAME + 1];
    CHECK(nc_open(path, NC_NOWRITE, &nc));
    double start = now();
    for (int call = 0; call < 10000000 / 3; call++) {
        CHECK(nc_inq_dimlen(nc, 0, &len));
        CHECK(nc_inq_varid(nc, "variable_1500", &var));
        CHECK(nc_inq_var(nc, var, name, &type, &rank, dims, &atts));
    }
    double spent = now() - start;
    CHECK(nc_close(nc));
    return spent;
}

/* Attributes, numbers and text. */
static double get_att(const char *path)
{
    int nc;
    double number;
    char text[64];
    CHECK(nc_open(path, NC_NOWRITE, &nc));
    double start = now();
    for (int call = 0; call < 5000000; call++) {
        CHECK(nc_get_att_double(nc, call % 2000, "attribute_2", &number));
        CHECK(nc_get_att_text(nc, call % 2000, "attribute_5", text));
    }
    double spent = now() - start;
    CHECK(nc_close(nc));
    return spent;
}

/* One value a call into a new file. */
static double put_var1(const char *path)
{
    int nc, dim, var;
    CHECK(nc_create(path, NC_CLOBBER, &nc));
    CHECK(nc_def_dim(nc, "x", 3000000, &dim));
    CHECK(nc_def_var(nc, "v", NC_FLOAT, 1, &dim, &var));
    CHECK(nc_enddef(nc));
    double start = now();
    for (size_t at = 0; at < 3000000; at++) {
        float value = (float)at;
        CHECK(nc_put_var1_float(nc, var, &at, &value));
    }
    CHECK(nc_close(nc));
    return now() - start;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    const char *what = argv[1], *path = argv[2];
    double spent;
    if (!strcmp(what, "read-all"))
        spent = read_all(path);
    else if (!strcmp(what, "read-one"))
        spent = read_one(path);
    else if (!strcmp(what, "read-records"))
        spent = read_records(path);
    else if (!strcmp(what, "write-fixed"))
        spent = write_fixed(path);
    else if (!strcmp(what, "write-records"))
        spent = write_records(path);
    else if (!strcmp(what, "write-small"))
        spent = write_small(path, NC_64BIT_DATA, 1000000);
    else if (!strcmp(what, "write-small4"))
        spent = write_small(path, NC_NETCDF4, 10000);
    else if (!strcmp(what, "open"))
        spent = open_only(path);
    else if (!strcmp(what, "read-attributes"))
        spent = read_attributes(path);
    else if (!strcmp(what, "read-tiny"))
        spent = read_tiny(path);
    else if (!strcmp(what, "get-var1"))
        spent = get_var1(path);
    else if (!strcmp(what, "get-var1-random"))
        spent = get_var1_random(path);
    else if (!strcmp(what, "inquire"))
        spent = inquire(path);
    else if (!strcmp(what, "get-att"))
        spent = get_att(path);
    else if (!strcmp(what, "put-var1"))
        spent = put_var1(path);
    else if (!strcmp(what, "create-2000x20"))
        spent = create_many(path, 0, 2000, 20);
    else if (!strcmp(what, "create4-2000x20"))
        spent = create_many(path, NC_NETCDF4, 2000, 20);
    else if (!strcmp(what, "create4-10000x10"))
        spent = create_many(path, NC_NETCDF4, 10000, 10);
    else if (!strcmp(what, "create-10000x10"))
        spent = create_many(path, 0, 10000, 10);
    else
        return 2;
    printf("%.6f\n", spent);
    return 0;
}
