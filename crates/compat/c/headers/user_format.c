/*
 * A format that a program brings along: with PLUGIN a library that settings name, else the program that opens files of it.
 * The format has one dimension of 3, one variable of 1, 2 and 3, and an attribute.
 */
#include <netcdf.h>
#include <netcdf_dispatch.h>
#include <netcdf_filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef PLUGIN

static int open_ids = 0;

static int
plain_open(const char *path, int mode, int pe, size_t *hint, void *parameters, const NC_Dispatch *table, int ncid)
{
    (void)mode, (void)pe, (void)hint, (void)parameters, (void)ncid;
    if (table->dispatch_version != NC_DISPATCH_VERSION || strstr(path, "refused"))
        return NC_ENOTNC;
    open_ids++;
    return NC_NOERR;
}

static int
plain_close(int ncid, void *parameters)
{
    (void)ncid, (void)parameters;
    open_ids--;
    return NC_NOERR;
}

static int
plain_inq_format_extended(int ncid, int *format, int *mode)
{
    (void)ncid;
    if (format)
        *format = NC_FORMATX_UDF2;
    if (mode)
        *mode = open_ids;
    return NC_NOERR;
}

static int
plain_inq(int ncid, int *dims, int *vars, int *atts, int *unlimited)
{
    (void)ncid;
    if (dims)
        *dims = 1;
    if (vars)
        *vars = 1;
    if (atts)
        *atts = 0;
    if (unlimited)
        *unlimited = -1;
    return NC_NOERR;
}

static int
plain_inq_dim(int ncid, int id, char *name, size_t *len)
{
    (void)ncid;
    if (id != 0)
        return NC_EBADDIM;
    if (name)
        strcpy(name, "x");
    if (len)
        *len = 3;
    return NC_NOERR;
}

static int
plain_inq_var_all(int ncid, int varid, char *name, nc_type *type, int *rank, int *dims, int *atts, int *shuffle,
                  int *deflate, int *level, int *checksum, int *storage, size_t *chunks, int *no_fill, void *fill,
                  int *endian, unsigned int *id, size_t *count, unsigned int *params)
{
    (void)ncid, (void)shuffle, (void)deflate, (void)level, (void)checksum, (void)chunks, (void)no_fill, (void)fill;
    (void)endian, (void)id, (void)count, (void)params;
    if (varid != 0)
        return NC_ENOTVAR;
    if (name)
        strcpy(name, "v");
    if (type)
        *type = NC_INT;
    if (rank)
        *rank = 1;
    if (dims)
        *dims = 0;
    if (atts)
        *atts = 1;
    if (storage)
        *storage = NC_COMPACT;
    return NC_NOERR;
}

static int
plain_inq_att(int ncid, int varid, const char *name, nc_type *type, size_t *len)
{
    (void)ncid;
    if (varid != 0 || strcmp(name, "units"))
        return NC_ENOTATT;
    if (type)
        *type = NC_CHAR;
    if (len)
        *len = 1;
    return NC_NOERR;
}

static int
plain_get_att(int ncid, int varid, const char *name, void *value, nc_type memory)
{
    int code = plain_inq_att(ncid, varid, name, NULL, NULL);
    if (code)
        return code;
    if (memory != NC_CHAR)
        return NC_ECHAR;
    *(char *)value = 'm';
    return NC_NOERR;
}

static int
plain_get_vars(int ncid, int varid, const size_t *start, const size_t *count, const ptrdiff_t *stride, void *values,
               nc_type memory)
{
    (void)ncid, (void)varid;
    for (size_t at = 0; at < count[0]; at++) {
        int number = (int)(start[0] + at * (size_t)stride[0]) + 1;
        if (memory == NC_INT)
            ((int *)values)[at] = number;
        else if (memory == NC_DOUBLE)
            ((double *)values)[at] = number;
        else
            return NC_EBADTYPE;
    }
    return NC_NOERR;
}

static int
plain_get_vara(int ncid, int varid, const size_t *start, const size_t *count, void *values, nc_type memory)
{
    ptrdiff_t one = 1;
    return plain_get_vars(ncid, varid, start, count, &one, values, memory);
}

NC_Dispatch *
plain_table(void)
{
    static NC_Dispatch table;
    table.model = NC_FORMATX_UDF2;
    table.dispatch_version = NC_DISPATCH_VERSION;
    table.create = NC_RO_create;
    table.open = plain_open;
    table.redef = NC_RO_redef;
    table.close = plain_close;
    table.abort = NC_RO_redef;
    table.inq_format_extended = plain_inq_format_extended;
    table.inq = plain_inq;
    table.def_dim = NC_RO_def_dim;
    table.inq_dim = plain_inq_dim;
    table.inq_att = plain_inq_att;
    table.get_att = plain_get_att;
    table.put_vara = NC_RO_put_vara;
    table.get_vara = plain_get_vara;
    table.get_vars = plain_get_vars;
    table.inq_var_all = plain_inq_var_all;
    table.inq_grps = NC_NOTNC4_inq_grps;
    table.def_var_filter = NC_NOTNC4_def_var_filter;
    table.inq_var_filter_ids = NC_NOOP_inq_var_filter_ids;
    table.inq_var_filter_info = NC_NOOP_inq_var_filter_info;
    return &table;
}

#else

static void
check(int line, int code, int wanted)
{
    if (code != wanted) {
        printf("line %d: %d (%s), not %d\n", line, code, nc_strerror(code), wanted);
        exit(1);
    }
}

#define OK(call) check(__LINE__, call, NC_NOERR)
#define FAILS(call, code) check(__LINE__, call, code)
#define TRUE(condition) check(__LINE__, !(condition), 0)

int
main(int count, char **arguments)
{
    int ncid, other, classic, number, dims, vars, format, numbers[3] = {0, 0, 0};
    double reals[2];
    size_t one = 1, two = 2, len;
    ptrdiff_t stride = 2;
    char text[300], magic[NC_MAX_MAGIC_NUMBER_LEN + 1];
    NC_Dispatch *table;

    TRUE(count == 4);
    /* The settings name the plugin, and how its files begin. */
    OK(nc_open(arguments[1], NC_NOWRITE, &ncid));
    OK(nc_inq_user_format(NC_UDF2, &table, magic));
    TRUE(table && table->model == NC_FORMATX_UDF2 && !strcmp(magic, "PLAIN"));
    OK(nc_inq_path(ncid, &len, text));
    TRUE(len == strlen(arguments[1]) && !strcmp(text, arguments[1]));
    OK(nc_inq(ncid, &dims, &vars, &number, NULL));
    TRUE(dims == 1 && vars == 1 && number == 0);
    OK(nc_inq_nvars(ncid, &vars));
    OK(nc_inq_dimlen(ncid, 0, &len));
    TRUE(len == 3);
    FAILS(nc_inq_dimlen(ncid, 1, &len), NC_EBADDIM);
    OK(nc_inq_varname(ncid, 0, text));
    TRUE(!strcmp(text, "v"));
    OK(nc_inq_varnatts(ncid, 0, &number));
    TRUE(number == 1);
    OK(nc_inq_var_chunking(ncid, 0, &number, NULL));
    TRUE(number == NC_COMPACT);
    OK(nc_inq_attlen(ncid, 0, "units", &len));
    OK(nc_get_att_text(ncid, 0, "units", text));
    TRUE(len == 1 && text[0] == 'm');
    text[0] = 0;
    OK(nc_get_att(ncid, 0, "units", text));
    TRUE(text[0] == 'm');
    FAILS(nc_get_att_int(ncid, 0, "units", &number), NC_ECHAR);
    FAILS(nc_get_att_text(ncid, 0, "none", text), NC_ENOTATT);
    OK(nc_get_var(ncid, 0, numbers));
    TRUE(numbers[0] == 1 && numbers[2] == 3);
    OK(nc_get_var1_int(ncid, 0, &one, &number));
    TRUE(number == 2);
    OK(nc_get_vara_double(ncid, 0, &one, &two, reals));
    TRUE(reals[0] == 2 && reals[1] == 3);
    OK(nc_get_vars_double(ncid, 0, &(size_t){0}, &two, &stride, reals));
    TRUE(reals[0] == 1 && reals[1] == 3);
    FAILS(nc_get_var_float(ncid, 0, (float *)numbers), NC_EBADTYPE);
    FAILS(nc_get_vara_int(ncid, 0, NULL, &two, numbers), NC_EINVALCOORDS);
    FAILS(nc_put_var_int(ncid, 0, numbers), NC_EPERM);
    FAILS(nc_def_dim(ncid, "y", 2, NULL), NC_EPERM);
    FAILS(nc_inq_grps(ncid, NULL, NULL), NC_ENOTNC4);
    FAILS(nc_def_var_szip(ncid, 0, 4, 8), NC_ENOTNC4);
    OK(nc_inq_var_zstandard(ncid, 0, &number, NULL));
    TRUE(number == 0);
    OK(nc_inq_type(ncid, NC_INT, text, &len));
    TRUE(!strcmp(text, "int") && len == 4);
    FAILS(nc_inq_format(ncid, &format), NC_EINVAL); /* the table has no such function */

    /* Several files, and files of the library beside them. */
    OK(nc_open(arguments[1], NC_UDF2 | NC_NETCDF4, &other));
    OK(nc_create(arguments[3], NC_CLOBBER, &classic));
    TRUE(other != ncid && classic != ncid);
    OK(nc_inq_format_extended(other, &format, &number));
    TRUE(format == NC_FORMATX_UDF2 && number == 2);
    OK(nc_def_dim(classic, "y", 2, NULL));
    OK(nc_close(classic));
    OK(nc_close(ncid));
    FAILS(nc_inq_dimlen(ncid, 0, &len), NC_EBADID);
    OK(nc_inq_dimlen(other, 0, &len));
    FAILS(nc_abort(other), NC_EPERM); /* as its function says, and it is gone */
    FAILS(nc_close(other), NC_EBADID);

    /* Formats of the program itself. */
    FAILS(nc_open(arguments[1], NC_UDF9, &ncid), 0); /* the magic number goes before the mode */
    OK(nc_close(ncid));
    FAILS(nc_open(arguments[3], NC_UDF9, &ncid), NC_ENOTBUILT);
    FAILS(nc_create(arguments[3], NC_UDF9, &ncid), NC_ENOTBUILT);
    OK(nc_def_user_format(NC_UDF9, table, NULL));
    OK(nc_open(arguments[3], NC_UDF9, &ncid));
    OK(nc_close(ncid));
    OK(nc_open(arguments[3], NC_NOWRITE, &ncid));
    OK(nc_inq_format(ncid, &format));
    TRUE(format == NC_FORMAT_CLASSIC);
    OK(nc_close(ncid));
    FAILS(nc_create(arguments[3], NC_UDF9, &ncid), NC_EPERM);
    FAILS(nc_open(arguments[2], NC_NOWRITE, &ncid), NC_ENOTNC); /* its format refuses it */
    FAILS(nc_open("nowhere", NC_UDF9, &ncid), 2);
    FAILS(nc_def_user_format(NC_UDF9 | NC_UDF1, table, NULL), NC_EINVAL);
    FAILS(nc_def_user_format(NC_CLASSIC_MODEL | NC_UDF1, table, "ABCD"), NC_EINVAL);
    FAILS(nc_def_user_format(NC_UDF1, table, "NINE CHAR"), NC_EINVAL);
    FAILS(nc_def_user_format(NC_UDF1, NULL, NULL), NC_EINVAL);
    OK(nc_inq_user_format(NC_UDF1, &table, NULL));
    TRUE(table == NULL);
    puts("done");
    return 0;
}

#endif
