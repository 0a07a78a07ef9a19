/* Makes szip out of deflate: `szip FROM TO BYTES` copies an HDF4 file and encodes anew what deflate compressed in it, elements and chunks, as
 * numbers of so many bytes. Debian's libhdf4 has no szip; the encoder is that of libaec. Streams of an odd
 * number of numbers have the form of libhdf4 4.2r0, the others that of later versions, some of them stored as they are.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <szlib.h>
#include <zlib.h>

#define COMPRESSED 40
#define SPECIAL 0x4000
#define SPECIAL_COMP 3
#define SPECIAL_CHUNKED 5
#define DEFLATE 4
#define SZIP 5
#define REVISION_2 0x10000
/* The answer to a file with a stream that lies in linked blocks, ends early, or is too short. */
#define ELSEWHERE 4

static unsigned char *file;
static size_t len;
static int number_bytes;

static uint32_t get(size_t at, int width)
{
    uint32_t value = 0;
    for (int byte = 0; byte < width; byte++)
        value = value << 8 | file[at + byte];
    return value;
}

static void put(size_t at, uint32_t value, int width)
{
    for (int byte = width - 1; byte >= 0; byte--, value >>= 8)
        file[at + byte] = (unsigned char)value;
}

static size_t append(const void *bytes, size_t count)
{
    size_t at = len;
    file = realloc(file, len + count);
    memcpy(file + at, bytes, count);
    len += count;
    return at;
}

/* The place of the descriptor of an element; 0 if there is none. */
static size_t find(uint32_t tag, uint32_t ref)
{
    for (size_t block = 4; block; block = get(block + 2, 4))
        for (uint32_t number = 0; number < get(block, 2); number++) {
            size_t at = block + 6 + 12 * number;
            if (get(at, 2) == tag && get(at + 2, 2) == ref)
                return at;
        }
    return 0;
}

static SZ_com_t parameters(uint32_t pixels)
{
    static const int OPTIONS[] = {SZ_EC_OPTION_MASK, SZ_NN_OPTION_MASK | SZ_EC_OPTION_MASK, SZ_NN_OPTION_MASK};
    static const int BLOCKS[] = {2, 8, 16, 32};
    SZ_com_t chosen = {OPTIONS[pixels % 3] | SZ_RAW_OPTION_MASK | (pixels % 2 ? SZ_MSB_OPTION_MASK : 0), 8 * number_bytes,
                       BLOCKS[pixels / 3 % 4], 0};
    while (chosen.pixels_per_block > 2 && (uint32_t)chosen.pixels_per_block > pixels)
        chosen.pixels_per_block = 2;
    uint32_t longest = 128 * (uint32_t)chosen.pixels_per_block, scanline = pixels < 60 ? pixels : 20 + pixels % 40;
    chosen.pixels_per_scanline = (int)(scanline < longest ? scanline : longest);
    if (chosen.pixels_per_scanline < chosen.pixels_per_block)
        chosen.pixels_per_scanline = chosen.pixels_per_block;
    return chosen;
}

/* The form of a stream: that of libhdf4 4.2r0 for an odd number of numbers. */
static uint32_t form_of(uint32_t bytes)
{
    return bytes / (uint32_t)number_bytes % 2 ? 0 : REVISION_2;
}

/* Writes the model, the coder and its parameters. Returns how many bytes they are. */
static int describe(unsigned char *to, uint32_t pixels, uint32_t form)
{
    SZ_com_t szip = parameters(pixels);
    uint32_t numbers[] = {pixels, (uint32_t)szip.pixels_per_scanline, (uint32_t)szip.options_mask | form};
    unsigned char made[18] = {0, 0, 0, SZIP};
    for (int at = 0; at < 3; at++)
        for (int byte = 0; byte < 4; byte++)
            made[4 + 4 * at + byte] = (unsigned char)(numbers[at] >> (24 - 8 * byte));
    made[16] = (unsigned char)szip.bits_per_pixel;
    made[17] = (unsigned char)szip.pixels_per_block;
    memcpy(to, made, sizeof made);
    return sizeof made;
}

/* Encodes an element anew; `at` is its descriptor. */
static void element(size_t at, uint32_t form)
{
    size_t header = get(at + 4, 4);
    uint32_t bytes = get(header + 4, 4), ref = get(header + 8, 2);
    size_t data = find(COMPRESSED, ref);
    if (!data)
        exit(ELSEWHERE);
    if (bytes % (uint32_t)number_bytes || bytes < 2 * (uint32_t)number_bytes)
        exit(ELSEWHERE);
    unsigned char *plain = malloc(bytes), *encoded = malloc(2 * bytes + 2048);
    uLongf decoded = bytes;
    if (uncompress(plain, &decoded, file + get(data + 4, 4), get(data + 8, 4)) != Z_OK || decoded != bytes)
        exit(ELSEWHERE);
    SZ_com_t szip = parameters(bytes / (uint32_t)number_bytes);
    size_t size = 2 * bytes + 2000, before = form ? 5 : 0;
    if (SZ_BufftoBuffCompress(encoded + before, &size, plain, bytes, &szip) != SZ_OK)
        exit(3);
    if (form) {
        encoded[0] = size >= bytes;
        if (encoded[0])
            memcpy(encoded + before, plain, size = bytes);
        for (int byte = 0; byte < 4; byte++)
            encoded[1 + byte] = (unsigned char)(size >> (24 - 8 * byte));
    }
    size_t place = append(encoded, size + before);
    put(data + 4, (uint32_t)place, 4);
    put(data + 8, (uint32_t)(size + before), 4);
    unsigned char made[64];
    memcpy(made, file + header, 10);
    int more = describe(made + 10, bytes / (uint32_t)number_bytes, form);
    put(at + 4, (uint32_t)append(made, 10 + (size_t)more), 4);
    put(at + 8, 10 + (uint32_t)more, 4);
    free(plain);
    free(encoded);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    number_bytes = atoi(argv[3]);
    FILE *from = fopen(argv[1], "rb");
    if (!from || fseek(from, 0, SEEK_END))
        return 1;
    len = (size_t)ftell(from);
    rewind(from);
    file = malloc(len);
    if (fread(file, 1, len, from) != len)
        return 1;
    /* Chunks are of one form, which is said in the header of the chunked element too. */
    for (size_t block = 4; block; block = get(block + 2, 4))
        for (uint32_t number = 0; number < get(block, 2); number++) {
            size_t at = block + 6 + 12 * number, header = get(at + 4, 4);
            if (!(get(at, 2) & SPECIAL) || get(at, 2) == 1)
                continue;
            uint32_t code = get(header, 2), old = get(at + 8, 4);
            if (code == SPECIAL_COMP && get(header + 12, 2) == DEFLATE)
                element(at, form_of(get(header + 4, 4)));
            if (code == SPECIAL_CHUNKED && get(header + old - 4, 2) == DEFLATE) {
                uint32_t bytes = get(header + 15, 4) * get(header + 19, 4);
                unsigned char *made = malloc(old + 64);
                memcpy(made, file + header, old);
                int more = describe(made + old - 6, bytes / (uint32_t)number_bytes, form_of(bytes));
                uint32_t size = old - 6 + (uint32_t)more;
                put(at + 4, (uint32_t)append(made, size), 4);
                put(at + 8, size, 4);
                size_t now = get(at + 4, 4);
                put(now + 2, get(now + 2, 4) + (uint32_t)more - 6, 4);
                put(now + old - 10, (uint32_t)more, 4);
                free(made);
            }
        }
    FILE *to = fopen(argv[2], "wb");
    return !to || fwrite(file, 1, len, to) != len || fclose(to);
}
