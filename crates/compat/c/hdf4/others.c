/* Writes HDF4 files with rasters and tables, and tells what the GR and VS interfaces of libhdf4 find in files.
 *
 *   others write FOLDER       prints the names of the files
 *   others tell PATH          prints lines; words are divided by blanks, names and values are hexadecimal digits behind an x:
 *     file NAME TYPE VALUES               an attribute of the file
 *     raster NAME TYPE ROWS COLUMNS COMPONENTS VALUES | failed
 *     table NAME                          a Vdata
 *     attribute FIELD NAME TYPE VALUES    an attribute of the raster or table before it; FIELD is x but for those of fields
 *
 * Numbers are those of this machine's memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mfhdf.h"

static void hex(const void *values, size_t len)
{
    const unsigned char *bytes = values;
    printf(" x");
    for (size_t at = 0; at < len; at++)
        printf("%02x", bytes[at]);
}

static void name(const char *text) { hex(text, strlen(text)); }

static size_t size_of(int32 type) { return (size_t)DFKNTsize((type & DFNT_MASK) | DFNT_NATIVE); }

static void raster_attributes(int32 owner, int32 count, const char *kind)
{
    for (int32 at = 0; at < count; at++) {
        char text[H4_MAX_GR_NAME + 1];
        int32 type, len;
        if (GRattrinfo(owner, at, text, &type, &len) == FAIL)
            continue;
        void *values = calloc((size_t)len + 1, size_of(type));
        GRgetattr(owner, at, values);
        printf("%s", kind);
        name(text);
        printf(" %d", (int)type);
        hex(values, (size_t)len * size_of(type));
        putchar('\n');
        free(values);
    }
}

static void tell_rasters(int32 file)
{
    int32 rasters = GRstart(file), count = 0, attributes = 0;
    if (rasters == FAIL)
        return;
    GRfileinfo(rasters, &count, &attributes);
    raster_attributes(rasters, attributes, "file");
    for (int32 at = 0; at < count; at++) {
        char text[H4_MAX_GR_NAME + 1];
        int32 components, type, interlace, dims[2], own, start[2] = {0, 0}, id = GRselect(rasters, at);
        if (GRgetiminfo(id, text, &components, &type, &interlace, dims, &own) == FAIL)
            continue;
        size_t len = (size_t)dims[0] * (size_t)dims[1] * (size_t)components * size_of(type);
        void *values = calloc(len + 1, 1);
        GRreqimageil(id, MFGR_INTERLACE_PIXEL);
        int done = GRreadimage(id, start, NULL, dims, values);
        printf("raster");
        name(text);
        printf(" %d %d %d %d", (int)type, (int)dims[1], (int)dims[0], (int)components);
        if (done == FAIL)
            printf(" failed");
        else
            hex(values, len);
        putchar('\n');
        free(values);
        raster_attributes(id, own, "attribute x");
        GRendaccess(id);
    }
    GRend(rasters);
}

static void tell_tables(int32 file)
{
    Vstart(file);
    for (int32 ref = VSgetid(file, -1); ref != FAIL; ref = VSgetid(file, ref)) {
        int32 id = VSattach(file, ref, "r");
        char text[VSNAMELENMAX + 1] = "", class[VSNAMELENMAX + 1] = "";
        VSgetname(id, text);
        VSgetclass(id, class);
        printf("table");
        name(text);
        putchar('\n');
        for (int32 field = _HDF_VDATA; field < VFnfields(id); field++)
            for (int32 at = 0; at < VSfnattrs(id, field); at++) {
                char own[VSNAMELENMAX + 1];
                int32 type, len, size;
                if (VSattrinfo(id, field, at, own, &type, &len, &size) == FAIL)
                    continue;
                void *values = calloc((size_t)len + 1, size_of(type));
                VSgetattr(id, field, at, values);
                printf("attribute");
                name(field < 0 ? "" : VFfieldname(id, field));
                name(own);
                printf(" %d", (int)type);
                hex(values, (size_t)len * size_of(type));
                putchar('\n');
                free(values);
            }
        VSdetach(id);
    }
    Vend(file);
}

enum { ROWS = 12, COLUMNS = 8, MOST = ROWS * COLUMNS * 4 * 8 };

static unsigned char bytes[MOST], palette[768];

/* Pixels with runs and noise; floats have values that are numbers. */
static void fill(int32 type, int seed)
{
    for (int at = 0; at < MOST; at++)
        bytes[at] = (unsigned char)(at % 24 < 12 ? seed : at * 37 + seed);
    if (type == DFNT_FLOAT32)
        for (int at = 0; at < MOST / 4; at++)
            ((float32 *)bytes)[at] = (float32)(at % 7 * 0.25 + seed);
    if (type == DFNT_FLOAT64)
        for (int at = 0; at < MOST / 8; at++)
            ((float64 *)bytes)[at] = at % 9 * 0.125 - seed;
}

static const int32 TYPES[] = {DFNT_CHAR8, DFNT_UCHAR8, DFNT_INT8,   DFNT_UINT8,   DFNT_INT16,
                              DFNT_UINT16, DFNT_INT32,  DFNT_UINT32, DFNT_FLOAT32, DFNT_FLOAT64};
static const char *STORAGE[] = {"plain", "unwritten", "rle", "skphuff", "deflate", "chunks", "chunks_rle", "chunks_deflate", "chunks_some", "chunks_late"};

/* A raster for each type, number of components and interlace, all with one kind of storage. */
static void write_rasters(const char *path, int storage)
{
    int32 file = Hopen(path, DFACC_CREATE, 0), rasters = GRstart(file);
    for (size_t type = 0; type < sizeof TYPES / sizeof *TYPES; type++)
        for (int32 components = 1; components <= 4; components++)
            for (int32 interlace = 0; interlace < (components > 1 ? 3 : 1); interlace++) {
                char text[64];
                int32 dims[2] = {COLUMNS, type % 2 ? ROWS : COLUMNS}, start[2] = {0, 0}, little = (type + (size_t)components) % 3 == 0 ? DFNT_LITEND : 0;
                snprintf(text, sizeof text, "%s_%d_%d_%d", STORAGE[storage], (int)TYPES[type], (int)components, (int)interlace);
                int32 id = GRcreate(rasters, text, components, TYPES[type] | little, interlace, dims);
                comp_info info;
                HDF_CHUNK_DEF chunk;
                memset(&info, 0, sizeof info);
                memset(&chunk, 0, sizeof chunk);
                chunk.comp.chunk_lengths[0] = 5;
                chunk.comp.chunk_lengths[1] = 3;
                info.deflate.level = chunk.comp.cinfo.deflate.level = 6;
                if (storage == 3)
                    info.skphuff.skp_size = (intn)size_of(TYPES[type]);
                if (storage >= 2 && storage <= 4)
                    GRsetcompress(id, storage == 2 ? COMP_CODE_RLE : storage == 3 ? COMP_CODE_SKPHUFF : COMP_CODE_DEFLATE, &info);
                chunk.comp.comp_type = storage == 6 ? COMP_CODE_RLE : COMP_CODE_DEFLATE;
                fill(TYPES[type], (int)type + 3);
                if (storage <= 1 || storage == 8)
                    GRsetattr(id, "FillValue", TYPES[type], components, bytes + 8);
                if (storage >= 5)
                    GRsetchunk(id, chunk, storage == 6 || storage == 7 ? HDF_CHUNK | HDF_COMP : HDF_CHUNK);
                /* The header of the chunks has its own fill value by now, which counts. */
                if (storage == 9)
                    GRsetattr(id, "FillValue", TYPES[type], components, bytes + 8);
                GRsetattr(id, "values", TYPES[type], 5, bytes);
                GRsetattr(id, "text", DFNT_CHAR8, 7, "a text.");
                /* Of the last two kinds most chunks are never written. */
                int32 count[2] = {storage >= 8 ? 3 : dims[0], storage >= 8 ? 4 : dims[1]};
                if (storage != 1)
                    GRwriteimage(id, start, NULL, count, bytes);
                GRendaccess(id);
            }
    GRsetattr(rasters, "of the file", DFNT_INT16, 3, bytes);
    GRend(rasters);
    Hclose(file);
}

/* The interfaces before GR: 8 bits with each of their coders, and 24 bits. */
static void write_old(const char *path)
{
    remove(path);
    DFR8restart();
    for (int at = 0; at < 768; at++)
        palette[at] = (unsigned char)(at * 11);
    const int SCHEMES[] = {COMP_NONE, COMP_RLE, COMP_IMCOMP, COMP_NONE, COMP_RLE, COMP_IMCOMP};
    for (int at = 0; at < 6; at++) {
        fill(DFNT_UINT8, 40 * at);
        DFR8setpalette(at < 3 ? palette : NULL);
        /* IMCOMP needs a palette. */
        if (SCHEMES[at] == COMP_IMCOMP)
            DFR8setpalette(palette);
        DFR8addimage(path, bytes, COLUMNS + 4 * at, ROWS - 4 * (at % 2), (uint16)SCHEMES[at]);
    }
    for (int interlace = 0; interlace < 3; interlace++) {
        DF24setil(interlace);
        DF24addimage(path, bytes, COLUMNS, ROWS);
    }
}

static void write_tables(const char *path)
{
    int32 file = Hopen(path, DFACC_CREATE, 0);
    Vstart(file);
    int32 id = VSattach(file, -1, "w");
    VSsetname(id, "track");
    VSsetclass(id, "Track");
    VSfdefine(id, "height", DFNT_FLOAT32, 1);
    VSfdefine(id, "code", DFNT_CHAR8, 3);
    VSsetfields(id, "height,code");
    fill(DFNT_FLOAT32, 2);
    VSwrite(id, bytes, 6, FULL_INTERLACE);
    for (size_t type = 0; type < sizeof TYPES / sizeof *TYPES; type++)
        for (int32 field = _HDF_VDATA; field < 2; field++) {
            char text[32];
            snprintf(text, sizeof text, "a%d", (int)TYPES[type]);
            fill(TYPES[type], (int)field + 5);
            VSsetattr(id, field, text, TYPES[type], 4, bytes);
        }
    VSdetach(id);
    Vend(file);
    Hclose(file);
}

int main(int count, char **words)
{
    if (count != 3)
        return 2;
    if (!strcmp(words[1], "tell")) {
        int32 file = Hopen(words[2], DFACC_READ, 0);
        if (file == FAIL)
            return 1;
        tell_rasters(file);
        tell_tables(file);
        Hclose(file);
        return 0;
    }
    char path[4096];
    for (int storage = 0; storage < (int)(sizeof STORAGE / sizeof *STORAGE); storage++) {
        snprintf(path, sizeof path, "%s/gr_%s.hdf", words[2], STORAGE[storage]);
        write_rasters(path, storage);
        puts(path);
    }
    snprintf(path, sizeof path, "%s/old_rasters.hdf", words[2]);
    write_old(path);
    puts(path);
    snprintf(path, sizeof path, "%s/tables.hdf", words[2]);
    write_tables(path);
    puts(path);
    return 0;
}
