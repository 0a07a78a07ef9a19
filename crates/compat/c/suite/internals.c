/* Functions from the inside of the reference that a few of its test programs use besides the public ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ncbytes.h"
#include "netcdf.h"

NCbytes *ncbytesnew(void) { return calloc(1, sizeof(NCbytes)); }

void ncbytesfree(NCbytes *bytes)
{
    if (bytes)
        free(bytes->content);
    free(bytes);
}

char *ncbytesextract(NCbytes *bytes)
{
    char *content = bytes->content;
    memset(bytes, 0, sizeof *bytes);
    return content;
}

int ncbytescat(NCbytes *bytes, const char *text)
{
    size_t more = strlen(text);
    char *content = realloc(bytes->content, bytes->length + more + 1);
    if (!content)
        return 0;
    memcpy(content + bytes->length, text, more + 1);
    bytes->content = content;
    bytes->length += more;
    bytes->alloc = bytes->length + 1;
    return 1;
}

int NC_readfile(const char *path, NCbytes *bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NC_ENOTFOUND;
    fseek(file, 0, SEEK_END);
    bytes->length = bytes->alloc = (unsigned long)ftell(file);
    rewind(file);
    bytes->content = malloc(bytes->length + 1);
    size_t got = fread(bytes->content, 1, bytes->length, file);
    fclose(file);
    return got == bytes->length ? NC_NOERR : NC_EIO;
}

int NC_writefile(const char *path, size_t size, void *content)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return NC_EIO;
    size_t put = fwrite(content, 1, size, file);
    fclose(file);
    return put == size ? NC_NOERR : NC_EIO;
}

/* Tables of user-defined formats name these functions; the programs call few of them, and look at none's result. */
#define IN_TABLES(name) int name(void) { return NC_NOERR; }
IN_TABLES(HDF5_inq_dim)
IN_TABLES(NC4_abort)
IN_TABLES(NC4_get_att)
IN_TABLES(NC4_inq)
IN_TABLES(NC4_inq_att)
IN_TABLES(NC4_inq_attid)
IN_TABLES(NC4_inq_attname)
IN_TABLES(NC4_inq_dimid)
IN_TABLES(NC4_inq_dimids)
IN_TABLES(NC4_inq_format_extended)
IN_TABLES(NC4_inq_grp_full_ncid)
IN_TABLES(NC4_inq_grp_parent)
IN_TABLES(NC4_inq_grpname)
IN_TABLES(NC4_inq_grpname_full)
IN_TABLES(NC4_inq_grps)
IN_TABLES(NC4_inq_ncid)
IN_TABLES(NC4_inq_type)
IN_TABLES(NC4_inq_type_equal)
IN_TABLES(NC4_inq_typeid)
IN_TABLES(NC4_inq_typeids)
IN_TABLES(NC4_inq_unlimdim)
IN_TABLES(NC4_inq_unlimdims)
IN_TABLES(NC4_inq_user_type)
IN_TABLES(NC4_inq_var_all)
IN_TABLES(NC4_inq_varid)
IN_TABLES(NC4_inq_varids)
IN_TABLES(NC4_show_metadata)
IN_TABLES(NCDEFAULT_get_varm)
IN_TABLES(NCDEFAULT_get_vars)
IN_TABLES(NCDEFAULT_put_varm)
IN_TABLES(NCDEFAULT_put_vars)

/* Settings for no server in particular are those that the public function sets. */
int NC_rcfile_insert(const char *key, const char *host, const char *path, const char *value)
{
    return host || path ? NC_EINVAL : nc_rc_set(key, value);
}
