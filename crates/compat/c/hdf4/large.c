/* Large compressed data sets without chunks, through libhdf4.
 *
 * write FILE CODER LEVEL ROWS: a data set of ROWS rows of 1024 numbers; CODER is deflate, rle, skphuff, or nbit. Numbers have 32 bits, those of
 * n-bit 21 that count
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

static void write_file(const char *path, const char *coder, int level, int32 rows)
{
    int32 dims[2] = {rows, COLUMNS}, start[2] = {0, 0}, *values = malloc(sizeof *values * rows * COLUMNS);
    int32 file = SDstart(path, DFACC_CREATE), id = SDcreate(file, "large", DFNT_INT32, 2, dims);
    comp_info info;
    memset(&info, 0, sizeof info);
    info.deflate.level = level;
    CHECK(id);
    if (strcmp(coder, "deflate") == 0)
        CHECK(SDsetcompress(id, COMP_CODE_DEFLATE, &info));
    if (strcmp(coder, "rle") == 0)
        CHECK(SDsetcompress(id, COMP_CODE_RLE, &info));
    if (strcmp(coder, "skphuff") == 0) {
        info.skphuff.skp_size = sizeof *values;
        CHECK(SDsetcompress(id, COMP_CODE_SKPHUFF, &info));
    }
    if (strcmp(coder, "nbit") == 0)
        CHECK(SDsetnbitdataset(id, 20, 21, TRUE, FALSE));
    for (int32 row = 0; row < rows; row++)
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
    if (count == 6 && strcmp(arguments[1], "write") == 0)
        write_file(arguments[2], arguments[3], atoi(arguments[4]), atoi(arguments[5]));
    else if (count == 9 && strcmp(arguments[1], "read") == 0)
        read_file(arguments + 2);
    else
        return 2;
    return 0;
}
