/* Writes HDF4 files with libhdf4: `write FOLDER SEED [FIRST [LAST]]`, files FIRST to LAST of those below, all of them by
 * default. A file is the same for the same seed. Its name, with a prefix for its kind, is told in a line.
 *
 *   storage_...   every storage x every number type in every format: data sets of 1 to 4 dimensions
 *   random_...    data sets of any kind with attributes, scales, strings and names of any form, other objects beside them
 *   dfsd_...      files of the interface DFSD, which has no Vgroups
 *   netcdf2_...   files of the interface netCDF-2 in HDF4
 *   other_...     files that say little, or much of the same
 *
 * Each file is written by a process of its own. What libhdf4 refuses is left out of the file.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mfhdf.h"

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))
#define ELEMENTS 6000
#define RANDOM_FILES 150
#define NETCDF2_FILES 24
#define OTHER_FILES 16

/* Random numbers. */

static uint64_t state;

static uint64_t number(void)
{
    state += 0x9e3779b97f4a7c15ull;
    uint64_t mixed = state;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9ull;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebull;
    return mixed ^ mixed >> 31;
}

static int below(int limit)
{
    return (int)(number() % (uint64_t)limit);
}

static int one_of(int times)
{
    return below(times) == 0;
}

/* Number types. */

static const int32 TYPES[] = {DFNT_CHAR8,  DFNT_UCHAR8, DFNT_INT8,   DFNT_UINT8,   DFNT_INT16,
                              DFNT_UINT16, DFNT_INT32,  DFNT_UINT32, DFNT_FLOAT32, DFNT_FLOAT64};
static const char *const TYPE_NAMES[] = {"char",   "uchar", "int8",   "uint8",   "int16",
                                         "uint16", "int32", "uint32", "float32", "float64"};
static const int32 NUMBER_FORMATS[] = {0, DFNT_NATIVE, DFNT_LITEND};
static const char *const FORMAT_NAMES[] = {"standard", "native", "little"};

static int size_of(int32 type)
{
    return DFKNTsize((type & DFNT_MASK) | DFNT_NATIVE);
}

static int is_real(int32 type)
{
    int32 base = type & DFNT_MASK;
    return base == DFNT_FLOAT32 || base == DFNT_FLOAT64;
}

static void put(void *at, int32 type, int64_t value)
{
    float single = (float)value / 8;
    double wide = (double)value / 8;
    switch (type & DFNT_MASK) {
    case DFNT_FLOAT32:
        memcpy(at, &single, sizeof single);
        break;
    case DFNT_FLOAT64:
        memcpy(at, &wide, sizeof wide);
        break;
    default:
        memcpy(at, &value, (size_t)size_of(type));
    }
}

/* Values: runs, steps, anything, or a mixture. Text is letters. */
static void *values(int32 type, long count)
{
    int size = size_of(type), manner = below(4), run = 0;
    int64_t value = 0;
    unsigned char *made = malloc((size_t)(count * size) + 16);
    for (long at = 0; at < count; at++) {
        int now = manner == 3 ? below(3) : manner;
        if (run > 0)
            run--;
        else if (now == 0) {
            run = one_of(3) ? below(300) : below(8);
            value = (int64_t)number();
        } else
            value = now == 1 ? value + 1 : (int64_t)number() >> below(60);
        unsigned char *place = made + at * size;
        if ((type & DFNT_MASK) == DFNT_CHAR8)
            *place = (unsigned char)(' ' + (uint64_t)value % 95);
        else if (is_real(type) && one_of(40)) {
            double odd[] = {1.0 / 0.0, -1.0 / 0.0, 0.0 / 0.0, -0.0, 1e-310, 3.4e38};
            double chosen = odd[below(COUNT(odd))];
            float single = (float)chosen;
            memcpy(place, size == 8 ? (void *)&chosen : (void *)&single, (size_t)size);
        } else
            put(place, type, value);
    }
    return made;
}

/* Data sets. */

enum storage {
    PLAIN, LINKED, EXTERNAL, RLE, NBIT, SKPHUFF, DEFLATE,
    CHUNKED, CHUNKED_RLE, CHUNKED_NBIT, CHUNKED_SKPHUFF, CHUNKED_DEFLATE, STORAGES
};
static const char *const STORAGE_NAMES[STORAGES] = {
    "plain", "linked", "external", "rle", "nbit", "skphuff", "deflate",
    "chunked", "chunked_rle", "chunked_nbit", "chunked_skphuff", "chunked_deflate"};

static const char *external_name;

static void coder(enum storage storage, int32 type, int *method, comp_info *info)
{
    memset(info, 0, sizeof *info);
    switch (storage) {
    case RLE: case CHUNKED_RLE:
        *method = COMP_CODE_RLE;
        break;
    case SKPHUFF: case CHUNKED_SKPHUFF:
        *method = COMP_CODE_SKPHUFF;
        info->skphuff.skp_size = one_of(4) ? 1 + below(9) : size_of(type);
        break;
    default:
        *method = COMP_CODE_DEFLATE;
        info->deflate.level = below(10);
    }
}

static void nbit(int32 type, intn *start, intn *len, intn *sign, intn *ones)
{
    int bits = 8 * size_of(type);
    *len = 1 + below(bits);
    *start = *len - 1 + below(bits - *len + 1);
    *sign = below(2);
    *ones = below(2);
}

/* Sets how a data set is stored. */
static void store(int32 id, enum storage storage, int32 type, int rank, const int32 *dims)
{
    comp_info info;
    int method;
    HDF_CHUNK_DEF chunk;
    intn start, len, sign, ones;
    memset(&chunk, 0, sizeof chunk);
    for (int at = 0; at < rank; at++) {
        int length = dims[at] ? dims[at] : 3;
        chunk.chunk_lengths[at] = 1 + below(length);
        if (length > 30)
            chunk.chunk_lengths[at] = 7 + below(length - 7);
    }
    switch (storage) {
    case LINKED:
        SDsetblocksize(id, 16 + below(400));
        break;
    case EXTERNAL:
        SDsetexternalfile(id, external_name, below(3) * 100);
        break;
    case NBIT:
        nbit(type, &start, &len, &sign, &ones);
        SDsetnbitdataset(id, start, len, sign, ones);
        break;
    case RLE: case SKPHUFF: case DEFLATE:
        coder(storage, type, &method, &info);
        SDsetcompress(id, method, &info);
        break;
    case CHUNKED:
        SDsetchunk(id, chunk, HDF_CHUNK);
        break;
    case CHUNKED_NBIT:
        nbit(type, &start, &len, &sign, &ones);
        chunk.nbit.start_bit = start;
        chunk.nbit.bit_len = len;
        chunk.nbit.sign_ext = sign;
        chunk.nbit.fill_one = ones;
        SDsetchunk(id, chunk, HDF_CHUNK | HDF_NBIT);
        break;
    case CHUNKED_RLE: case CHUNKED_SKPHUFF: case CHUNKED_DEFLATE:
        coder(storage, type, &method, &info);
        chunk.comp.comp_type = method;
        chunk.comp.cinfo = info;
        SDsetchunk(id, chunk, HDF_CHUNK | HDF_COMP);
        break;
    default:
        break;
    }
}

/* Writes a box of values. */
static void box(int32 id, int32 type, int rank, int32 *start, int32 *edge)
{
    long count = 1;
    for (int at = 0; at < rank; at++)
        count *= edge[at];
    if (!count)
        return;
    void *data = values(type, count);
    SDwritedata(id, start, NULL, edge, data);
    free(data);
}

/* Writes all, a part, or nothing of a data set; of one with records, some of them, in steps. */
static void fill_in(int32 id, enum storage storage, int32 type, int rank, const int32 *dims)
{
    int32 start[H4_MAX_VAR_DIMS] = {0}, edge[H4_MAX_VAR_DIMS] = {0};
    memcpy(edge, dims, (size_t)rank * sizeof *dims);
    int manner = below(8);
    if (rank && !dims[0]) {
        for (int step = below(6); step > 0; step--) {
            edge[0] = 1 + below(4);
            box(id, type, rank, start, edge);
            start[0] += edge[0] + (one_of(6) ? below(3) : 0);
        }
        return;
    }
    if (manner == 0)
        return;
    /* A compressed data set that is not chunked is written from its begin on. */
    int can_seek = storage < RLE || storage >= CHUNKED;
    if (manner <= 2) {
        for (int at = 0; at < rank && can_seek; at++)
            start[at] = below(dims[at]);
        for (int at = 0; at < rank; at++)
            edge[at] = 1 + below(dims[at] - start[at]);
        if (!can_seek)
            for (int at = 1; at < rank; at++)
                edge[at] = dims[at];
    }
    box(id, type, rank, start, edge);
    if (manner == 3 && can_seek)
        box(id, type, rank, start, edge);
}

static int32 data_set(int32 file, const char *name, int32 type, int rank, int32 *dims, enum storage storage)
{
    int32 id = SDcreate(file, name, type, rank, dims);
    if (id == FAIL)
        return FAIL;
    if (one_of(2)) {
        void *fill = values(type, 1);
        SDsetfillvalue(id, fill);
        free(fill);
    }
    store(id, storage, type, rank, dims);
    return id;
}

static void random_dims(int rank, int32 *dims)
{
    static const int LARGEST[] = {1, 600, 60, 17, 9, 5, 4};
    for (int at = 0; at < rank; at++)
        dims[at] = 1 + below(LARGEST[rank < COUNT(LARGEST) ? rank : COUNT(LARGEST) - 1]);
}

/* The data sets of all ranks, of one type and storage. */
static void storage_file(const char *path, enum storage storage, int32 type)
{
    int32 file = SDstart(path, DFACC_CREATE), ids[4];
    int32 dims[4][4];
    for (int at = 0; at < 4; at++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", at + 1);
        random_dims(at + 1, dims[at]);
        if (storage == LINKED)
            dims[at][0] = SD_UNLIMITED;
        ids[at] = data_set(file, name, type, at + 1, dims[at], storage);
    }
    /* Records of several data sets take turns, so that they lie in many blocks. */
    if (storage == LINKED) {
        for (int record = 0, last = below(12); record < last; record++)
            for (int at = 0; at < 4; at++) {
                int32 start[4] = {record}, edge[4];
                memcpy(edge, dims[at], sizeof edge);
                edge[0] = 1;
                if (!one_of(5))
                    box(ids[at], type, at + 1, start, edge);
            }
    } else
        for (int at = 0; at < 4; at++)
            fill_in(ids[at], storage, type, at + 1, dims[at]);
    for (int at = 0; at < 4; at++)
        SDendaccess(ids[at]);
    SDend(file);
}

/* Names. */

static const char *const NAMES[] = {
    "x", "temperature", "with blank", "a/b/c", "/leading", "trailing ", "\xc3\xa4\xc3\xb6\xc3\xbc", "e\xcc\x81t\xc3\xa9",
    "\xe6\xb0\xb4\xe6\xb8\xa9", "1digit", "-dash", "per%cent", "quote\"s", "back\\slash", "colon:grid", "new\nline", "tab\t",
    "a,b", "a;b", "(x)", "[0]", "#", "@", "_FillValue", "_leading", "fakeDim0", "Var0.0", "latin1 \xe9", "\x01", "x"};

static void name_of(char *name)
{
    if (one_of(12)) {
        int len = 60 + below(190);
        for (int at = 0; at < len; at++)
            name[at] = (char)('a' + below(26));
        name[len] = 0;
    } else if (one_of(30))
        name[0] = 0;
    else if (one_of(2))
        snprintf(name, 40, "v%d", below(1000));
    else
        strcpy(name, NAMES[below(COUNT(NAMES))]);
}

static void attribute(int32 id)
{
    static const char *const KNOWN[] = {"long_name", "units", "scale_factor", "add_offset", "valid_range",
                                        "missing_value", "coordsys", "format", "calibrated_nt"};
    char name[300];
    if (one_of(2))
        strcpy(name, KNOWN[below(COUNT(KNOWN))]);
    else
        name_of(name);
    /* A fill value of another type has libhdf4 fill with what lies in memory. */
    if (!strcmp(name, "_FillValue"))
        return;
    int32 type = TYPES[below(COUNT(TYPES))] | (one_of(4) ? NUMBER_FORMATS[below(3)] : 0);
    int count = one_of(10) ? 1 + below(3000) : 1 + below(6);
    void *data = values(type, count);
    if ((type & DFNT_MASK) == DFNT_CHAR8 && one_of(3))
        memset((char *)data + count - 1, 0, 1);
    SDsetattr(id, name, type, count, data);
    free(data);
}

static const char *text_of(void)
{
    static const char *const TEXTS[] = {"", "m", "degrees_north", "F8.3", "a longer text, of several words", "\xc2\xb0",
                                        "new\nline", "kg m-2 s-1"};
    return one_of(4) ? NULL : TEXTS[below(COUNT(TEXTS))];
}

/* What belongs to a data set besides its elements. */
static void describe(int32 id, int32 type, int rank, const int32 *dims)
{
    for (int count = below(4); count > 0; count--)
        attribute(id);
    if (one_of(3))
        SDsetdatastrs(id, text_of(), text_of(), text_of(), text_of());
    if (one_of(4))
        SDsetcal(id, below(100) / 16.0, 0.5, below(100) - 50, 0.25, TYPES[below(COUNT(TYPES))]);
    if (one_of(4)) {
        unsigned char *range = values(type, 2);
        SDsetrange(id, range, range + size_of(type));
        free(range);
    }
    for (int at = 0; at < rank; at++) {
        int32 dim = SDgetdimid(id, at);
        char name[300];
        if (dim == FAIL)
            continue;
        if (one_of(2)) {
            /* Dimensions that share a name must share a length. */
            snprintf(name, sizeof name, "%s%d", one_of(3) ? NAMES[below(COUNT(NAMES))] : "dim", (int)dims[at]);
            SDsetdimname(dim, name);
        }
        if (one_of(4) && dims[at]) {
            int32 scale = one_of(2) ? DFNT_FLOAT64 : TYPES[below(COUNT(TYPES))];
            void *data = values(scale, dims[at]);
            SDsetdimscale(dim, dims[at], scale, data);
            free(data);
        }
        if (one_of(5))
            SDsetdimstrs(dim, text_of(), text_of(), text_of());
        if (one_of(6))
            attribute(dim);
        if (one_of(4))
            SDsetdimval_comp(dim, below(2) ? SD_DIMVAL_BW_COMP : SD_DIMVAL_BW_INCOMP);
    }
}

/* Objects that are no data sets. */

static void vgroups(const char *path)
{
    int32 file = Hopen(path, DFACC_RDWR, 0);
    Vstart(file);
    int32 table = VSattach(file, -1, "w");
    VSsetname(table, one_of(2) ? "table" : "Attr");
    VSsetclass(table, one_of(2) ? "made up" : "");
    VSfdefine(table, "a", DFNT_INT16, 1);
    VSfdefine(table, "b", DFNT_FLOAT64, 3);
    VSfdefine(table, "c", DFNT_CHAR8, 5);
    VSsetfields(table, "a,b,c");
    VSsetinterlace(table, one_of(2) ? FULL_INTERLACE : NO_INTERLACE);
    unsigned char rows[40 * 31];
    for (int at = 0; at < COUNT(rows); at++)
        rows[at] = (unsigned char)below(100);
    VSwrite(table, rows, 1 + below(40), FULL_INTERLACE);
    int32 one = 1;
    VSsetattr(table, _HDF_VDATA, "of the table", DFNT_INT32, 1, &one);
    int32 table_ref = VSQueryref(table), group = Vattach(file, -1, "w"), inner = Vattach(file, -1, "w");
    Vsetname(group, "group");
    Vsetclass(group, one_of(2) ? "class" : "");
    Vsetname(inner, "inner");
    Vinsert(group, inner);
    Vaddtagref(group, DFTAG_VH, table_ref);
    if (one_of(2))
        Vaddtagref(inner, DFTAG_VG, VQueryref(group));
    Vsetattr(group, "of the group", DFNT_INT32, 1, &one);
    VSdetach(table);
    Vdetach(inner);
    Vdetach(group);
    Vend(file);
    Hclose(file);
}

static void images(const char *path)
{
    int32 file = Hopen(path, DFACC_RDWR, 0), images = GRstart(file);
    for (int at = 0; at < 2; at++) {
        int32 dims[2] = {1 + below(20), 1 + below(20)}, start[2] = {0, 0};
        int32 type = TYPES[below(COUNT(TYPES))], components = one_of(2) ? 1 : 3;
        int32 image = GRcreate(images, at ? "second" : "first", components, type, MFGR_INTERLACE_PIXEL, dims);
        void *data = values(type, (long)dims[0] * dims[1] * components);
        if (image != FAIL) {
            GRwriteimage(image, start, NULL, dims, data);
            GRsetattr(image, "note", DFNT_CHAR8, 3, "abc");
            GRendaccess(image);
        }
        free(data);
    }
    GRend(images);
    Hclose(file);
    unsigned char pixels[12 * 9], palette[768];
    for (int at = 0; at < COUNT(pixels); at++)
        pixels[at] = (unsigned char)below(4);
    for (int at = 0; at < COUNT(palette); at++)
        palette[at] = (unsigned char)at;
    DFR8setpalette(palette);
    DFR8addimage(path, pixels, 12, 9, one_of(2) ? COMP_RLE : COMP_NONE);
    DFPaddpal(path, palette);
    DFANputlabel(path, DFTAG_RIG, DFR8lastref(), "a label");
}

static void notes(const char *path)
{
    int32 file = Hopen(path, DFACC_RDWR, 0), notes = ANstart(file);
    static const ann_type KINDS[] = {AN_FILE_LABEL, AN_FILE_DESC};
    for (int at = 0; at < COUNT(KINDS); at++) {
        int32 note = ANcreatef(notes, KINDS[at]);
        ANwriteann(note, "about the file", 14);
        ANendaccess(note);
    }
    int32 note = ANcreate(notes, DFTAG_NDG, 2, AN_DATA_LABEL);
    ANwriteann(note, "about data", 10);
    ANendaccess(note);
    ANend(notes);
    Hclose(file);
}

/* Kinds of files. */

static void random_file(const char *path)
{
    /* Other objects come before or after the data sets, or both. */
    void (*const others[])(const char *) = {vgroups, images, notes};
    if (one_of(4)) {
        Hclose(Hopen(path, DFACC_CREATE, 16));
        others[below(COUNT(others))](path);
    }
    int32 file = SDstart(path, access(path, F_OK) ? DFACC_CREATE : DFACC_RDWR);
    for (int count = below(4); count > 0; count--)
        attribute(file);
    int sets = below(9);
    for (int at = 0; at < sets; at++) {
        char name[300];
        int rank = one_of(20) ? 5 + below(3) : below(5);
        if (!rank && !one_of(4))
            rank = 1;
        int32 dims[H4_MAX_VAR_DIMS], type = TYPES[below(COUNT(TYPES))] | NUMBER_FORMATS[one_of(3) ? below(3) : 0];
        enum storage storage = (enum storage)below(STORAGES);
        random_dims(rank, dims);
        if (storage == LINKED && rank)
            dims[0] = SD_UNLIMITED;
        name_of(name);
        int32 id = data_set(file, name, type, rank, dims, storage);
        if (id == FAIL)
            continue;
        if (one_of(2)) {
            describe(id, type, rank, dims);
            fill_in(id, storage, type, rank, dims);
        } else {
            fill_in(id, storage, type, rank, dims);
            describe(id, type, rank, dims);
        }
        SDendaccess(id);
    }
    SDend(file);
    if (one_of(4))
        others[below(COUNT(others))](path);
    /* Records and attributes are added to a file that exists. */
    for (int again = below(3); again > 0; again--) {
        int32 sets = 0, attrs = 0;
        file = SDstart(path, DFACC_RDWR);
        SDfileinfo(file, &sets, &attrs);
        attribute(file);
        for (int at = 0; at < sets; at++) {
            char name[300];
            int32 rank, dims[H4_MAX_VAR_DIMS], type, count, start[H4_MAX_VAR_DIMS] = {0};
            int32 id = SDselect(file, at);
            SDgetinfo(id, name, &rank, dims, &type, &count);
            if (one_of(2))
                attribute(id);
            if (one_of(2) && SDisrecord(id) && dims[0] < 40) {
                start[0] = dims[0];
                dims[0] = 1 + below(3);
                box(id, type, rank, start, dims);
            }
            SDendaccess(id);
        }
        SDend(file);
    }
}

static void dfsd_file(const char *path, int32 type)
{
    DFSDsetlengths(200, 200, 200, 200);
    for (int sets = 1 + below(3); sets > 0; sets--) {
        /* Where some of the dimensions have a scale, libhdf4 reads for the others what lies at the begin of all scales. */
        int rank = 1 + below(4), has_scales = one_of(2);
        int32 dims[4];
        long count = 1;
        random_dims(rank, dims);
        DFSDclear();
        DFSDsetNT(type);
        DFSDsetdims(rank, dims);
        for (int at = 0; at < rank; at++)
            count *= dims[at];
        if (one_of(2))
            DFSDsetdatastrs("a label", "a unit", "F6.2", "cartesian");
        for (int at = 0; at < rank; at++) {
            if (one_of(2))
                DFSDsetdimstrs(at + 1, one_of(3) ? "" : "a dimension", "dim unit", "I3");
            if (has_scales) {
                void *scale = values(type, dims[at]);
                DFSDsetdimscale(at + 1, dims[at], scale);
                free(scale);
            }
        }
        if (one_of(2)) {
            unsigned char *range = values(type, 2);
            DFSDsetrange(range, range + size_of(type));
            free(range);
        }
        if (one_of(3))
            DFSDsetcal(2.5, 0.5, -1, 0.25, DFNT_INT16);
        if (one_of(3)) {
            void *fill = values(type, 1);
            DFSDsetfillvalue(fill);
            free(fill);
        }
        void *data = values(type, count);
        if (one_of(4)) {
            /* A part of the elements. */
            int32 start[4] = {1, 1, 1, 1}, stride[4] = {1, 1, 1, 1};
            dims[0] = 1 + below(dims[0]);
            DFSDstartslab(path);
            DFSDwriteslab(start, stride, dims, data);
            DFSDendslab();
        } else
            DFSDadddata(path, rank, dims, data);
        free(data);
    }
}

/* The header gives the functions of netCDF-2 names that a netCDF library does not have. */

static void netcdf2_file(const char *path)
{
    static const int32 OF_NETCDF[] = {0, DFNT_INT8, DFNT_CHAR8, DFNT_INT16, DFNT_INT32, DFNT_FLOAT32, DFNT_FLOAT64};
    int file = nccreate(path, NC_CLOBBER), dims[4], vars[6], types[6], ranks[6], has_records[6];
    long lengths[4] = {0, 1 + below(9), 1 + below(9), 1 + below(9)};
    for (int at = 0; at < 4; at++) {
        char name[16];
        snprintf(name, sizeof name, "d%d", at);
        dims[at] = ncdimdef(file, name, lengths[at]);
    }
    int of_vars[6][3];
    for (int at = 0; at < 6; at++) {
        char name[16];
        snprintf(name, sizeof name, at == 5 ? "d1" : "v%d", at);
        types[at] = 1 + below(6);
        has_records[at] = at < 5 && one_of(3);
        ranks[at] = at < 5 ? below(4) : 1;
        if (has_records[at] && !ranks[at])
            ranks[at] = 1;
        for (int dim = 0; dim < ranks[at]; dim++)
            of_vars[at][dim] = at == 5 ? dims[1] : has_records[at] && !dim ? dims[0] : dims[1 + below(3)];
        vars[at] = ncvardef(file, name, (nc_type)types[at], ranks[at], of_vars[at]);
        for (int count = below(3); count > 0; count--) {
            int type = 1 + below(6), len = 1 + below(9);
            void *data = values(OF_NETCDF[type], len);
            snprintf(name, sizeof name, "a%d", count);
            ncattput(file, one_of(3) ? -1 : vars[at], name, (nc_type)type, len, data);
            free(data);
        }
    }
    ncendef(file);
    for (int at = 0; at < 6; at++) {
        long start[3] = {0}, edge[3], count = 1;
        if (one_of(5))
            continue;
        for (int dim = 0; dim < ranks[at]; dim++) {
            int which = 0;
            while (dims[which] != of_vars[at][dim])
                which++;
            edge[dim] = which ? lengths[which] : 1 + below(5);
            count *= edge[dim];
        }
        void *data = values(OF_NETCDF[types[at]], count);
        ncvarput(file, vars[at], start, edge, data);
        free(data);
    }
    ncclose(file);
}

static void other_file(const char *path, int which)
{
    int32 file, dims[H4_MAX_VAR_DIMS], id;
    switch (which) {
    case 0: /* nothing */
        Hclose(Hopen(path, DFACC_CREATE, 16));
        return;
    case 1: case 2: case 3: /* no data sets */
        Hclose(Hopen(path, DFACC_CREATE, 4));
        (which == 1 ? vgroups : which == 2 ? images : notes)(path);
        return;
    case 4: /* no data sets, but the interface was there */
        SDend(SDstart(path, DFACC_CREATE));
        return;
    default:
        break;
    }
    file = SDstart(path, DFACC_CREATE);
    switch (which) {
    case 5: /* many data sets, many of one name */
        for (int at = 0; at < 400; at++) {
            char name[16];
            snprintf(name, sizeof name, "v%d", at % 300);
            dims[0] = 1 + at % 7;
            id = data_set(file, name, TYPES[at % COUNT(TYPES)], 1, dims, PLAIN);
            fill_in(id, PLAIN, TYPES[at % COUNT(TYPES)], 1, dims);
            SDendaccess(id);
        }
        break;
    case 6: /* the most dimensions */
        for (int at = 0; at < H4_MAX_VAR_DIMS; at++)
            dims[at] = at % 11 == 3 ? 2 : 1;
        id = data_set(file, "deep", DFNT_INT16, H4_MAX_VAR_DIMS, dims, PLAIN);
        fill_in(id, PLAIN, DFNT_INT16, H4_MAX_VAR_DIMS, dims);
        SDendaccess(id);
        break;
    case 7: case 8: case 9: case 10: /* many chunks */
        for (int at = 0; at < 3; at++) {
            HDF_CHUNK_DEF chunk;
            memset(&chunk, 0, sizeof chunk);
            dims[0] = 100 + below(100);
            dims[1] = 90 + below(50);
            chunk.comp.chunk_lengths[0] = 3 + below(4);
            chunk.comp.chunk_lengths[1] = 5 + below(4);
            chunk.comp.comp_type = COMP_CODE_DEFLATE;
            chunk.comp.cinfo.deflate.level = 6;
            int32 type = TYPES[below(COUNT(TYPES))];
            id = SDcreate(file, at == 0 ? "a" : at == 1 ? "b" : "c", type, 2, dims);
            SDsetchunk(id, chunk, which % 2 ? HDF_CHUNK | HDF_COMP : HDF_CHUNK);
            if (which >= 9) {
                /* Some of the chunks. */
                for (int part = 0; part < 30; part++) {
                    int32 start[2] = {below(dims[0]), below(dims[1])}, edge[2];
                    edge[0] = 1 + below(dims[0] - start[0]) % 9;
                    edge[1] = 1 + below(dims[1] - start[1]) % 9;
                    box(id, type, 2, start, edge);
                }
            } else {
                int32 start[2] = {0, 0};
                box(id, type, 2, start, dims);
            }
            SDendaccess(id);
        }
        break;
    case 11: /* names that differ in nothing, and dimensions that are called as they are */
        for (int at = 0; at < 5; at++) {
            dims[0] = 4;
            dims[1] = 3;
            id = data_set(file, "same", DFNT_INT32, 2, dims, PLAIN);
            SDsetdimname(SDgetdimid(id, 0), at % 2 ? "same" : "other");
            fill_in(id, PLAIN, DFNT_INT32, 2, dims);
            SDendaccess(id);
        }
        break;
    case 12: /* data sets of different numbers of records, along one dimension */
        for (int at = 0; at < 4; at++) {
            char name[16];
            int32 start[2] = {0, 0}, edge[2] = {at * 2, 3};
            snprintf(name, sizeof name, "r%d", at);
            dims[0] = SD_UNLIMITED;
            dims[1] = 3;
            id = data_set(file, name, DFNT_INT16, 2, dims, PLAIN);
            SDsetdimname(SDgetdimid(id, 0), "time");
            SDsetdimname(SDgetdimid(id, 1), "place");
            if (edge[0])
                box(id, DFNT_INT16, 2, start, edge);
            SDendaccess(id);
        }
        break;
    case 13: /* chunks of a data set, each written as it is */
        for (int at = 0; at < 2; at++) {
            HDF_CHUNK_DEF chunk;
            memset(&chunk, 0, sizeof chunk);
            dims[0] = 20;
            dims[1] = 33;
            chunk.comp.chunk_lengths[0] = 6;
            chunk.comp.chunk_lengths[1] = 10;
            chunk.comp.comp_type = COMP_CODE_DEFLATE;
            chunk.comp.cinfo.deflate.level = 6;
            id = SDcreate(file, at ? "b" : "a", DFNT_FLOAT32, 2, dims);
            SDsetchunk(id, chunk, at ? HDF_CHUNK | HDF_COMP : HDF_CHUNK);
            for (int part = 0; part < 8; part++) {
                int32 origin[2] = {below(4), below(4)};
                void *data = values(DFNT_FLOAT32, 60);
                SDwritechunk(id, origin, data);
                free(data);
            }
            SDendaccess(id);
        }
        break;
    case 14: /* an attribute that is long, and many short ones */
        for (int at = 0; at < 100; at++)
            attribute(file);
        {
            char *text = malloc(60000);
            memset(text, 'x', 60000);
            SDsetattr(file, "StructMetadata.0", DFNT_CHAR8, 60000, text);
            free(text);
        }
        break;
    default: /* only coordinate variables */
        dims[0] = 5;
        id = data_set(file, "v", DFNT_INT32, 1, dims, PLAIN);
        describe(id, DFNT_INT32, 1, dims);
        {
            float scale[5] = {0, 1, 2, 3, 4};
            int32 dim = SDgetdimid(id, 0);
            SDsetdimname(dim, "x");
            SDsetdimscale(dim, 5, DFNT_FLOAT32, scale);
        }
        SDendaccess(id);
    }
    SDend(file);
}

int main(int argc, char **argv)
{
    if (argc < 3 || chdir(argv[1]))
        return 2;
    uint64_t seed = strtoull(argv[2], NULL, 10);
    int storages = STORAGES * COUNT(TYPES) * COUNT(NUMBER_FORMATS), dfsd = COUNT(TYPES) * COUNT(NUMBER_FORMATS);
    int all = storages + RANDOM_FILES + dfsd + NETCDF2_FILES + OTHER_FILES;
    int first = argc > 3 ? atoi(argv[3]) : 0, last = argc > 4 ? atoi(argv[4]) : all;
    for (int file = first; file < last && file < all; file++) {
        char name[100], external[100];
        int at = file, kind = at % COUNT(TYPES), format = at / COUNT(TYPES) % COUNT(NUMBER_FORMATS);
        int32 type = TYPES[kind] | NUMBER_FORMATS[format];
        enum storage storage = PLAIN;
        enum { STORAGE, RANDOM, DFSD, NETCDF2, OTHER } what;
        if (at < storages) {
            what = STORAGE;
            storage = (enum storage)(at / dfsd);
            snprintf(name, sizeof name, "storage_%s_%s_%s.hdf", STORAGE_NAMES[storage], TYPE_NAMES[kind], FORMAT_NAMES[format]);
        } else if ((at -= storages) < RANDOM_FILES) {
            what = RANDOM;
            snprintf(name, sizeof name, "random_%d.hdf", at);
        } else if ((at -= RANDOM_FILES) < dfsd) {
            what = DFSD;
            kind = at % COUNT(TYPES), format = at / COUNT(TYPES);
            type = TYPES[kind] | NUMBER_FORMATS[format];
            snprintf(name, sizeof name, "dfsd_%s_%s.hdf", TYPE_NAMES[kind], FORMAT_NAMES[format]);
        } else if ((at -= dfsd) < NETCDF2_FILES) {
            what = NETCDF2;
            snprintf(name, sizeof name, "netcdf2_%d.hdf", at);
        } else {
            at -= NETCDF2_FILES;
            what = OTHER;
            snprintf(name, sizeof name, "other_%d.hdf", at);
        }
        snprintf(external, sizeof external, "%.80s.ext", name);
        external_name = external;
        fflush(stdout);
        pid_t child = fork();
        if (child < 0)
            return 1;
        if (!child) {
            state = seed * 1000003 + (uint64_t)file;
            switch (what) {
            case STORAGE:
                storage_file(name, storage, type);
                break;
            case RANDOM:
                random_file(name);
                break;
            case DFSD:
                dfsd_file(name, type);
                break;
            case NETCDF2:
                netcdf2_file(name);
                break;
            case OTHER:
                other_file(name, at);
                break;
            }
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (WIFEXITED(status) && !WEXITSTATUS(status))
            printf("%s\n", name);
        else
            fprintf(stderr, "%s: libhdf4 crashed\n", name);
    }
    return 0;
}
