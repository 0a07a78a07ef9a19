/* Large compressed data sets, through libhdf4.
 *
 * write FILE CODER LEVEL ROWS CHUNK_ROWS CHUNK_COLUMNS: a data set of ROWS rows of 1024 numbers, in chunks unless CHUNK_ROWS is 0; CODER is
 * deflate, rle, skphuff, or nbit. Numbers have 32 bits, those of n-bit 21 that count; with LEVEL 0 all are 0
 * read FILE START0 START1 STRIDE0 STRIDE1 COUNT0 COUNT1: the selected numbers, as they are in memory
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mfhdf.h"

#define CHECK(call)                                                                                                  \
    do {                                                                                                             \
        if ((call) == FAIL) {                                                                                        \
            fprintf(stderr, "%s failed\n", #call);                                                                   \
            HEprint(stderr, 0);                                                                                      \
            exit(1);                                                                                                 \
        }                                                                                                            \
    } while (0)

#define COLUMNS 1024

/* Runs, slopes and noise of at most 20 bits, the same each time. */
static void fill(int32 *row, int32 number)
{
    static unsigned long long state = 88172645463325252ull;
    for (int at = 0; at < COLUMNS; at++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        row[at] = at % 256 < 100 ? number / 3 : (int32)((number + at) % 3000 * 16 + state % 9);
    }
}

/* Chunks of a compressed data set. */
static void set_chunks(int32 id, const char *coder, int level, const int32 *chunk)
{
    HDF_CHUNK_DEF chunks;
    memset(&chunks, 0, sizeof chunks);
    int is_nbit = strcmp(coder, "nbit") == 0;
    if (is_nbit) {
        memcpy(chunks.nbit.chunk_lengths, chunk, 2 * sizeof *chunk);
        chunks.nbit.start_bit = 20, chunks.nbit.bit_len = 21, chunks.nbit.sign_ext = TRUE;
    } else {
        memcpy(chunks.comp.chunk_lengths, chunk, 2 * sizeof *chunk);
        chunks.comp.comp_type = strcmp(coder, "deflate") == 0 ? COMP_CODE_DEFLATE
                                : strcmp(coder, "rle") == 0   ? COMP_CODE_RLE
                                                              : COMP_CODE_SKPHUFF;
        chunks.comp.cinfo.deflate.level = level > 0 ? level : 6;
        if (strcmp(coder, "skphuff") == 0)
            chunks.comp.cinfo.skphuff.skp_size = sizeof(int32);
    }
    CHECK(SDsetchunk(id, chunks, is_nbit ? HDF_CHUNK | HDF_NBIT : HDF_CHUNK | HDF_COMP));
}

static void write_file(const char *path, const char *coder, int level, int32 rows, const int32 *chunk)
{
    int32 dims[2] = {rows, COLUMNS}, start[2] = {0, 0}, *values = calloc((size_t)rows * COLUMNS, sizeof *values);
    int32 file = SDstart(path, DFACC_CREATE), id = SDcreate(file, "large", DFNT_INT32, 2, dims);
    comp_info info;
    memset(&info, 0, sizeof info);
    info.deflate.level = level > 0 ? level : 6;
    CHECK(id);
    if (chunk[0] != 0)
        set_chunks(id, coder, level, chunk);
    else if (strcmp(coder, "deflate") == 0)
        CHECK(SDsetcompress(id, COMP_CODE_DEFLATE, &info));
    else if (strcmp(coder, "rle") == 0)
        CHECK(SDsetcompress(id, COMP_CODE_RLE, &info));
    else if (strcmp(coder, "skphuff") == 0) {
        info.skphuff.skp_size = sizeof *values;
        CHECK(SDsetcompress(id, COMP_CODE_SKPHUFF, &info));
    } else
        CHECK(SDsetnbitdataset(id, 20, 21, TRUE, FALSE));
    for (int32 row = 0; row < rows && level > 0; row++)
        fill(values + (size_t)row * COLUMNS, row);
    CHECK(SDwritedata(id, start, NULL, dims, values));
    free(values);
    CHECK(SDendaccess(id));
    CHECK(SDend(file));
}

static void read_file(char **arguments)
{
    int32 numbers[6], file = SDstart(arguments[0], DFACC_READ), id = SDselect(file, 0);
    for (int at = 0; at < 6; at++)
        numbers[at] = atoi(arguments[at + 1]);
    size_t count = (size_t)numbers[4] * numbers[5];
    int32 *values = malloc(count * sizeof *values);
    CHECK(id);
    CHECK(SDreaddata(id, numbers, numbers + 2, numbers + 4, values));
    fwrite(values, sizeof *values, count, stdout);
    free(values);
    CHECK(SDendaccess(id));
    CHECK(SDend(file));
}

int main(int count, char **arguments)
{
    if (count == 8 && strcmp(arguments[1], "write") == 0) {
        int32 chunk[2] = {atoi(arguments[6]), atoi(arguments[7])};
        write_file(arguments[2], arguments[3], atoi(arguments[4]), atoi(arguments[5]), chunk);
    } else if (count == 9 && strcmp(arguments[1], "read") == 0)
        read_file(arguments + 2);
    else
        return 2;
    return 0;
}
