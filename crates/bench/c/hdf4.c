/* The bench through libhdf4: makes HDF4 files, and reads them. Prints the seconds of reading.
 *
 * make-grid FILE: 500 MB of shorts in one data set, in chunks with deflate
 * make-granule FILE: 40 data sets in 400 chunks with deflate, ten attributes each
 * make-chunks FILE: the same in 1,200 chunks
 * read FILE: the first data set whole, into memory never used before
 * open FILE: what the file says of all its objects
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mfhdf.h"

#define CHECK(call)                                                                                                  \
    do {                                                                                                             \
        if ((call) == FAIL) {                                                                                        \
            fprintf(stderr, "%s failed\n", #call);                                                                   \
            HEprint(stderr, 0);                                                                                      \
            exit(1);                                                                                                 \
        }                                                                                                            \
    } while (0)

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

/* A slope with noise, the same each time. */
static void shorts(short *values, size_t count)
{
    static unsigned long long state = 88172645463325252ull;
    for (size_t at = 0; at < count; at++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        values[at] = (short)(at / 16 % 4000 + state % 6);
    }
}

static int32 deflated(int32 file, const char *name, int rank, int32 *dims, const int32 *chunks)
{
    HDF_CHUNK_DEF chunk;
    memset(&chunk, 0, sizeof chunk);
    for (int at = 0; at < rank; at++)
        chunk.comp.chunk_lengths[at] = chunks[at];
    chunk.comp.comp_type = COMP_CODE_DEFLATE;
    chunk.comp.cinfo.deflate.level = 5;
    int32 id = SDcreate(file, name, DFNT_INT16, rank, dims);
    CHECK(id);
    CHECK(SDsetchunk(id, chunk, HDF_CHUNK | HDF_COMP));
    return id;
}

static void make_grid(const char *path)
{
    int32 dims[3] = {10, 5000, 5000}, chunks[3] = {1, 500, 500}, start[3] = {0}, edge[3] = {1, 5000, 5000};
    int32 file = SDstart(path, DFACC_CREATE), id = deflated(file, "grid", 3, dims, chunks);
    short *values = malloc(5000 * 5000 * sizeof *values);
    for (start[0] = 0; start[0] < dims[0]; start[0]++) {
        shorts(values, 5000 * 5000);
        CHECK(SDwritedata(id, start, NULL, edge, values));
    }
    CHECK(SDendaccess(id));
    CHECK(SDend(file));
}

static void make_granule(const char *path, int32 chunks_each)
{
    int32 dims[2] = {chunks_each * 100, 100}, chunks[2] = {100, 100}, start[2] = {0, 0};
    int32 file = SDstart(path, DFACC_CREATE);
    short *values = malloc((size_t)dims[0] * 100 * sizeof *values);
    char *text = malloc(32000);
    memset(text, 'x', 32000);
    CHECK(SDsetattr(file, "CoreMetadata.0", DFNT_CHAR8, 32000, text));
    CHECK(SDsetattr(file, "StructMetadata.0", DFNT_CHAR8, 32000, text));
    for (int set = 0; set < 40; set++) {
        char name[32];
        snprintf(name, sizeof name, "data_set_%d", set);
        int32 id = deflated(file, name, 2, dims, chunks);
        double scale = 0.01;
        short range[2] = {0, 32000}, fill = -32767;
        CHECK(SDsetattr(id, "long_name", DFNT_CHAR8, 24, "a data set of a granule."));
        CHECK(SDsetattr(id, "units", DFNT_CHAR8, 4, "none"));
        CHECK(SDsetattr(id, "scale_factor", DFNT_FLOAT64, 1, &scale));
        CHECK(SDsetattr(id, "add_offset", DFNT_FLOAT64, 1, &scale));
        CHECK(SDsetattr(id, "valid_range", DFNT_INT16, 2, range));
        CHECK(SDsetfillvalue(id, &fill));
        for (int at = 0; at < 4; at++) {
            snprintf(name, sizeof name, "parameter_%d", at);
            CHECK(SDsetattr(id, name, DFNT_FLOAT64, 1, &scale));
        }
        CHECK(SDsetdimname(SDgetdimid(id, 0), "Cell_Along_Swath"));
        CHECK(SDsetdimname(SDgetdimid(id, 1), "Cell_Across_Swath"));
        shorts(values, (size_t)dims[0] * 100);
        CHECK(SDwritedata(id, start, NULL, dims, values));
        CHECK(SDendaccess(id));
    }
    CHECK(SDend(file));
}

static double read_whole(const char *path)
{
    char name[H4_MAX_NC_NAME];
    int32 file = SDstart(path, DFACC_READ), id = SDselect(file, 0), rank, type, count;
    int32 dims[H4_MAX_VAR_DIMS], start[H4_MAX_VAR_DIMS] = {0};
    CHECK(SDgetinfo(id, name, &rank, dims, &type, &count));
    size_t bytes = (size_t)DFKNTsize(type | DFNT_NATIVE);
    for (int at = 0; at < rank; at++)
        bytes *= (size_t)dims[at];
    double begin = now();
    void *values = malloc(bytes);
    CHECK(SDreaddata(id, start, NULL, dims, values));
    return now() - begin;
}

static double open_all(const char *path)
{
    static char values[1 << 20];
    char name[1024];
    int32 sets, attrs, rank, type, count, dims[H4_MAX_VAR_DIMS];
    double begin = now();
    int32 file = SDstart(path, DFACC_READ);
    CHECK(SDfileinfo(file, &sets, &attrs));
    for (int32 at = 0; at < attrs; at++)
        CHECK(SDreadattr(file, at, values));
    for (int32 set = 0; set < sets; set++) {
        int32 id = SDselect(file, set), length;
        CHECK(SDgetinfo(id, name, &rank, dims, &type, &attrs));
        for (int32 at = 0; at < rank; at++)
            CHECK(SDdiminfo(SDgetdimid(id, at), name, &length, &type, &count));
        for (int32 at = 0; at < attrs; at++) {
            CHECK(SDattrinfo(id, at, name, &type, &count));
            CHECK(SDreadattr(id, at, values));
        }
        CHECK(SDendaccess(id));
    }
    return now() - begin;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    const char *what = argv[1], *path = argv[2];
    if (!strcmp(what, "make-grid"))
        make_grid(path);
    else if (!strcmp(what, "make-granule"))
        make_granule(path, 10);
    else if (!strcmp(what, "make-chunks"))
        make_granule(path, 30);
    else if (!strcmp(what, "read"))
        printf("%.6f\n", read_whole(path));
    else if (!strcmp(what, "open"))
        printf("%.6f\n", open_all(path));
    else
        return 2;
    return 0;
}
