/* Tells what the SD interface of libhdf4 finds in HDF4 files, for comparison with ferrocdf.
 *
 * The paths are lines of the standard input. Each file is read by a process of its own, since libhdf4 crashes on some. Lines
 * of the answer, with words divided by blanks; names and values have no blanks in them:
 *
 *   == PATH
 *   open                                              the file could be opened
 *   gatt NAME TYPE COUNT HEX                          an attribute of the file
 *   sds NAME TYPE RANK LENGTH,... IS_RECORD           a data set; what follows belongs to it
 *   dim NAME LENGTH                                   a dimension, of length 0 if it is unlimited
 *   att NAME TYPE COUNT HEX                           an attribute
 *   fill HEX                                          its fill value
 *   chunks LENGTH,...                                 the shape of a chunk
 *   coder NUMBER                                      the number of the compression method
 *   data CRC:BYTES | data failed                      all elements
 *   end                                               the process came to its end
 *
 * Numbers are those of this machine's memory.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mfhdf.h"

#define SECONDS 20
#define MEMORY (4ul << 30)
#define NAME 1024

static void word(const char *name)
{
    for (; *name; name++) {
        unsigned char byte = (unsigned char)*name;
        if (byte > 0x20 && byte < 0x7f && byte != '\\')
            putchar(byte);
        else
            printf("\\%02x", byte);
    }
}

static void hex(const void *values, size_t len)
{
    const unsigned char *bytes = values;
    putchar('x');
    for (size_t at = 0; at < len; at++)
        printf("%02x", bytes[at]);
}

static unsigned table[256];

static void make_table(void)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        unsigned value = byte;
        for (int bit = 0; bit < 8; bit++)
            value = value & 1 ? value >> 1 ^ 0xedb88320u : value >> 1;
        table[byte] = value;
    }
}

static unsigned crc(const unsigned char *bytes, size_t len)
{
    unsigned value = ~0u;
    for (size_t at = 0; at < len; at++)
        value = table[(value ^ bytes[at]) & 0xff] ^ value >> 8;
    return ~value;
}

/* The bytes of an element in memory; 0 if there is no such type. */
static size_t size_of(int32 type)
{
    int size = DFKNTsize((type & DFNT_MASK) | DFNT_NATIVE);
    return size > 0 ? (size_t)size : 0;
}

static void attributes(const char *what, int32 id, int32 count)
{
    for (int32 at = 0; at < count; at++) {
        char name[NAME] = "";
        int32 type = 0, len = 0;
        printf("%s ", what);
        if (SDattrinfo(id, at, name, &type, &len) == FAIL) {
            printf("failed\n");
            continue;
        }
        size_t bytes = size_of(type) * (size_t)len;
        /* libhdf4 may write a zero byte behind text. */
        void *values = calloc(bytes + 16, 1);
        word(name);
        printf(" %d %d ", (int)type, (int)len);
        if (values && SDreadattr(id, at, values) != FAIL)
            hex(values, bytes);
        else
            printf("failed");
        putchar('\n');
        free(values);
    }
}

static void lengths(const int32 *values, int32 count)
{
    for (int32 at = 0; at < count; at++)
        printf(at ? ",%d" : "%d", (int)values[at]);
    if (!count)
        putchar('-');
}

static void data_set(int32 file, int32 index)
{
    char name[65536] = "";
    int32 rank = 0, dims[H4_MAX_VAR_DIMS] = {0}, type = 0, count = 0;
    int32 id = SDselect(file, index);
    printf("sds ");
    if (id == FAIL || SDgetinfo(id, name, &rank, dims, &type, &count) == FAIL) {
        printf("failed\n");
        return;
    }
    word(name);
    printf(" %d %d ", (int)type, (int)rank);
    lengths(dims, rank);
    printf(" %d\n", SDisrecord(id) ? 1 : 0);
    for (int32 at = 0; at < rank; at++) {
        char dim_name[65536] = "";
        int32 dim = SDgetdimid(id, at), len = 0, scale = 0, attrs = 0;
        printf("dim ");
        if (dim == FAIL || SDdiminfo(dim, dim_name, &len, &scale, &attrs) == FAIL)
            printf("failed");
        else {
            word(dim_name);
            printf(" %d", (int)len);
        }
        putchar('\n');
    }
    attributes("att", id, count);
    size_t size = size_of(type), elements = 1;
    unsigned char fill[64] = {0};
    if (size && SDgetfillvalue(id, fill) != FAIL) {
        printf("fill ");
        hex(fill, size);
        putchar('\n');
    }
    HDF_CHUNK_DEF chunk;
    int32 flags = 0;
    memset(&chunk, 0, sizeof chunk);
    if (SDgetchunkinfo(id, &chunk, &flags) != FAIL && flags & HDF_CHUNK) {
        printf("chunks ");
        lengths(chunk.chunk_lengths, rank);
        putchar('\n');
    }
    comp_coder_t coder = COMP_CODE_NONE;
    if (SDgetcomptype(id, &coder) != FAIL && coder != COMP_CODE_NONE)
        printf("coder %d\n", (int)coder);
    fflush(stdout);
    int32 start[H4_MAX_VAR_DIMS] = {0};
    for (int32 at = 0; at < rank; at++)
        elements *= (size_t)dims[at];
    unsigned char *values = elements < 1ul << 30 ? malloc(elements * size + 16) : NULL;
    if (!size || !values)
        printf("data failed\n");
    else if (elements && SDreaddata(id, start, NULL, dims, values) == FAIL)
        printf("data failed\n");
    else
        printf("data %08x:%zu\n", crc(values, elements * size), elements * size);
    free(values);
    SDendaccess(id);
}

static void tell(const char *path)
{
    int32 sets = 0, attrs = 0, file = SDstart(path, DFACC_READ);
    if (file == FAIL || SDfileinfo(file, &sets, &attrs) == FAIL)
        return;
    printf("open\n");
    attributes("gatt", file, attrs);
    for (int32 index = 0; index < sets; index++)
        data_set(file, index);
    SDend(file);
    printf("end\n");
}

int main(void)
{
    char path[65536];
    make_table();
    /* External files lie beside the file that names them: the caller changes into that folder. */
    while (fgets(path, sizeof path, stdin)) {
        path[strcspn(path, "\n")] = 0;
        printf("== %s\n", path);
        fflush(stdout);
        pid_t child = fork();
        if (child < 0)
            return 1;
        if (!child) {
            struct rlimit limit = {MEMORY, MEMORY};
            setrlimit(RLIMIT_AS, &limit);
            alarm(SECONDS);
            char folder[65536];
            strcpy(folder, path);
            char *slash = strrchr(folder, '/');
            if (slash) {
                *slash = 0;
                if (chdir(folder))
                    _exit(1);
            }
            tell(path);
            fflush(stdout);
            _exit(0);
        }
        waitpid(child, NULL, 0);
        putchar('\n');
    }
    return 0;
}
