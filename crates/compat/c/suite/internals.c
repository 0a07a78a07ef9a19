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
