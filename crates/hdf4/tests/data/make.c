/* Makes the files of this folder: cc -I/usr/include/hdf make.c -lmfhdfalt -ldfalt && ./a.out */
#include <string.h>

#include "mfhdf.h"

/* A data set of 5 times 7 numbers in each file, that begins at 0 and goes up by 3; chunks are of 2 times 4. */
static void storage(const char *path, int32 type, int32 method, int is_chunked)
{
    int32 dims[2] = {5, 7}, start[2] = {0, 0}, file = SDstart(path, DFACC_CREATE);
    int32 id = SDcreate(file, "numbers", type, 2, dims);
    HDF_CHUNK_DEF chunk;
    comp_info info;
    memset(&chunk, 0, sizeof chunk);
    memset(&info, 0, sizeof info);
    info.deflate.level = 6;
    if (method == COMP_CODE_SKPHUFF)
        info.skphuff.skp_size = DFKNTsize(type);
    chunk.comp.chunk_lengths[0] = 2;
    chunk.comp.chunk_lengths[1] = 4;
    if (is_chunked && method == COMP_CODE_NBIT) {
        chunk.nbit.start_bit = 9;
        chunk.nbit.bit_len = 8;
        SDsetchunk(id, chunk, HDF_CHUNK | HDF_NBIT);
    } else if (is_chunked) {
        chunk.comp.comp_type = method;
        chunk.comp.cinfo = info;
        SDsetchunk(id, chunk, method ? HDF_CHUNK | HDF_COMP : HDF_CHUNK);
    } else if (method == COMP_CODE_NBIT)
        SDsetnbitdataset(id, 9, 8, 0, 1);
    else if (method)
        SDsetcompress(id, method, &info);
    unsigned char numbers[35 * 8];
    for (int at = 0; at < 35; at++) {
        int16 small = (int16)(3 * at);
        float32 real = 3.0f * at;
        int32 wide = 3 * at;
        switch (type & DFNT_MASK) {
        case DFNT_INT16:
            memcpy(numbers + 2 * at, &small, 2);
            break;
        case DFNT_FLOAT32:
            memcpy(numbers + 4 * at, &real, 4);
            break;
        case DFNT_INT32:
            memcpy(numbers + 4 * at, &wide, 4);
            break;
        default:
            numbers[at] = (unsigned char)(3 * at);
        }
    }
    SDwritedata(id, start, NULL, dims, numbers);
    SDendaccess(id);
    SDend(file);
}

/* Two data sets whose records took turns, so that they lie in linked blocks; attributes, a scale, strings. */
static void records(const char *path)
{
    int32 dims[2] = {SD_UNLIMITED, 3}, file = SDstart(path, DFACC_CREATE), ids[2];
    for (int at = 0; at < 2; at++) {
        ids[at] = SDcreate(file, at ? "b" : "a", DFNT_INT16, 2, dims);
        SDsetblocksize(ids[at], 16);
        SDsetdimname(SDgetdimid(ids[at], 0), "time");
        SDsetdimname(SDgetdimid(ids[at], 1), "x");
    }
    for (int32 record = 0; record < 6; record++)
        for (int at = 0; at < 2; at++) {
            int16 row[3] = {(int16)(record * 10), (int16)(record * 10 + 1), (int16)(record * 10 + 2)};
            int32 start[2] = {record, 0}, edge[2] = {1, 3};
            SDwritedata(ids[at], start, NULL, edge, row);
        }
    float64 scale[3] = {0.5, 1.5, 2.5};
    int16 fill = -1, range[2] = {50, 0};
    SDsetdimscale(SDgetdimid(ids[0], 1), 3, DFNT_FLOAT64, scale);
    SDsetfillvalue(ids[0], &fill);
    SDsetrange(ids[0], range, range + 1);
    SDsetdatastrs(ids[0], "label", "unit", "F4.1", "cartesian");
    SDsetcal(ids[1], 0.5, 0.1, 2, 0.2, DFNT_FLOAT32);
    SDsetattr(file, "title", DFNT_CHAR8, 5, "files");
    SDendaccess(ids[0]);
    SDendaccess(ids[1]);
    SDend(file);
}

/* The interface DFSD, which makes no Vgroups. */
static void dfsd(const char *path)
{
    int32 dims[2] = {2, 3};
    float32 data[6] = {1, 2, 3, 4, 5, 6}, scale[3] = {10, 20, 30}, max = 6, min = 1;
    DFSDsetNT(DFNT_FLOAT32);
    DFSDsetdims(2, dims);
    DFSDsetdatastrs("label", "unit", "F4.1", "cartesian");
    DFSDsetdimstrs(2, "x", "m", "I2");
    DFSDsetdimscale(2, 3, scale);
    DFSDsetrange(&max, &min);
    DFSDadddata(path, 2, dims, data);
}

/* Objects that are no data sets: a table, Vgroups within each other, an image, a palette, annotations. */
static void others(const char *path)
{
    int32 file = Hopen(path, DFACC_CREATE, 4);
    Vstart(file);
    int32 table = VSattach(file, -1, "w");
    VSsetname(table, "table");
    VSfdefine(table, "a", DFNT_INT16, 1);
    VSfdefine(table, "b", DFNT_FLOAT32, 2);
    VSsetfields(table, "a,b");
    unsigned char rows[30];
    memset(rows, 7, sizeof rows);
    VSwrite(table, rows, 3, FULL_INTERLACE);
    int32 group = Vattach(file, -1, "w"), inner = Vattach(file, -1, "w"), ref = VSQueryref(table);
    Vsetname(group, "outer");
    Vsetname(inner, "inner");
    Vinsert(group, inner);
    Vaddtagref(inner, DFTAG_VH, ref);
    VSdetach(table);
    Vdetach(inner);
    Vdetach(group);
    Vend(file);
    Hclose(file);
    unsigned char pixels[12], palette[768];
    memset(pixels, 3, sizeof pixels);
    memset(palette, 9, sizeof palette);
    DFR8setpalette(palette);
    DFR8addimage(path, pixels, 4, 3, COMP_RLE);
    DFANputlabel(path, DFTAG_RIG, DFR8lastref(), "label");
}

int main(void)
{
    storage("plain.hdf", DFNT_INT16, COMP_CODE_NONE, 0);
    storage("little.hdf", DFNT_LITEND | DFNT_INT32, COMP_CODE_NONE, 0);
    storage("rle.hdf", DFNT_UINT8, COMP_CODE_RLE, 0);
    storage("nbit.hdf", DFNT_INT16, COMP_CODE_NBIT, 0);
    storage("skphuff.hdf", DFNT_INT16, COMP_CODE_SKPHUFF, 0);
    storage("deflate.hdf", DFNT_FLOAT32, COMP_CODE_DEFLATE, 0);
    storage("chunked.hdf", DFNT_INT16, COMP_CODE_NONE, 1);
    storage("chunked_rle.hdf", DFNT_UINT8, COMP_CODE_RLE, 1);
    storage("chunked_nbit.hdf", DFNT_INT16, COMP_CODE_NBIT, 1);
    storage("chunked_skphuff.hdf", DFNT_INT16, COMP_CODE_SKPHUFF, 1);
    storage("chunked_deflate.hdf", DFNT_FLOAT32, COMP_CODE_DEFLATE, 1);
    records("records.hdf");
    dfsd("dfsd.hdf");
    others("others.hdf");
    return 0;
}
