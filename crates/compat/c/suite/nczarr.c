/* Functions from the inside of the reference that programs of its folder nczarr_test use besides the public ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "ncbytes.h"
#include "netcdf.h"

void nullfree(void *memory) { free(memory); }

size_t nulllen(const char *text) { return text ? strlen(text) : 0; }

int ncbytesnull(NCbytes *bytes)
{
    if (!ncbytescat(bytes, ""))
        return 0;
    bytes->content[bytes->length] = 0;
    return 1;
}

/* Tells URLs from paths. */
int NC__testurl(const char *path, char **base)
{
    (void)base;
    return strstr(path, "://") != NULL;
}

/* Takes away backslashes that a shell left in front of `#`. */
char *NC_shellUnescape(const char *text)
{
    char *plain = calloc(1, strlen(text) + 1), *end = plain;
    for (; plain && *text; text++)
        if (text[0] != '\\' || text[1] != '#')
            *end++ = *text;
    return plain;
}

/* Of the C library from glibc 2.38 on. */
__attribute__((weak)) size_t strlcat(char *to, const char *from, size_t size)
{
    size_t length = strlen(to);
    return length + (size_t)snprintf(to + length, size - length, "%s", from);
}

int nctracelevel(int level) { return level; }

/* Opens a program that writes the object of a URL to the pipe. */
static FILE *fetch(const char *url)
{
    char command[8192];
    snprintf(command, sizeof command, "\"$execdir/s3util\" -u '%s' -f /dev/stdout download", url);
    return popen(command, "r");
}

/* Reads the stored bytes of a chunk of a variable of the root group that has no filters, in a store in a folder or in S3. */
int NCZ_read_chunk(int ncid, int varid, unsigned long long *indices, void *data)
{
    char path[4096], name[NC_MAX_NAME + 1];
    size_t chunks[NC_MAX_VAR_DIMS], size = 0, bytes;
    int rank, storage, status;
    nc_type type;
    if ((status = nc_inq_path(ncid, NULL, path)) || (status = nc_inq_var(ncid, varid, name, &type, &rank, NULL, NULL)) ||
        (status = nc_inq_var_chunking(ncid, varid, &storage, chunks)) || (status = nc_inq_type(ncid, type, NULL, &size)))
        return status;
    int remote = !strncmp(path, "https://", 8);
    char *start = strncmp(path, "file://", 7) ? path : path + 7;
    start[strcspn(start, "#")] = 0;
    char *end = start + strlen(start);
    end += sprintf(end, "/%s/", name);
    bytes = size;
    for (int i = 0; i < rank; i++) {
        end += sprintf(end, i ? ".%llu" : "%llu", indices[i]);
        bytes *= chunks[i];
    }
    FILE *file = remote ? fetch(start) : fopen(start, "rb");
    if (!file)
        return remote ? NC_EIO : NC_EEMPTY;
    size_t got = fread(data, 1, bytes, file);
    int longer = fgetc(file) != EOF;
    int ended = remote ? pclose(file) : fclose(file);
    /* The exit code of a download of an object that does not exist. */
    if (remote && WIFEXITED(ended) && WEXITSTATUS(ended) == 3)
        return NC_EEMPTY;
    return got == bytes && !longer && ended == 0 ? NC_NOERR : NC_EIO;
}
