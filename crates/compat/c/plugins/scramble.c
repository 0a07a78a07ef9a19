/* A filter as others write it: it says that it applies to integers, learns of the data what it needs, and has parameters of 64 bits.
 *
 * Parameters that a user gives: a key of 64 bits in two, the lower half first, and a number of bytes to turn by. What
 * set_local adds: the size of an element, its order, its sign, the elements of a chunk, the length of the
 * last dimension of the space that it is told, which is that of a chunk. Every byte
 * is changed by the key and what was learned, so that wrong parameters give wrong bytes; a checksum in front finds them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int64_t hid_t;
typedef uint64_t hsize_t;

/* What it looks up in the HDF5 library. */
extern int H5Pget_filter_by_id2(hid_t, int, unsigned *, size_t *, unsigned *, size_t, char *, unsigned *);
extern int H5Pmodify_filter(hid_t, int, unsigned, size_t, const unsigned *);
extern int H5Pget_chunk(hid_t, int, hsize_t *);
extern int H5Tget_class(hid_t);
extern size_t H5Tget_size(hid_t);
extern int H5Tget_order(hid_t);
extern int H5Tget_sign(hid_t);
extern int H5Sget_simple_extent_dims(hid_t, hsize_t *, hsize_t *);
extern void *H5allocate_memory(size_t, int);
extern int H5free_memory(void *);

enum { ID = 40001, GIVEN = 3, ALL = 8, HEAD = 4, REVERSE = 0x100 };

static int can_apply(hid_t list, hid_t type, hid_t space)
{
    (void)list, (void)space;
    return H5Tget_class(type) == 0;
}

static int set_local(hid_t list, hid_t type, hid_t space)
{
    unsigned flags, config, values[ALL] = {0};
    size_t count = ALL;
    char name[16];
    hsize_t chunk[32], dims[32], elements = 1;

    if (H5Pget_filter_by_id2(list, ID, &flags, &count, values, sizeof name, name, &config) < 0 || count < GIVEN)
        return -1;
    int rank = H5Pget_chunk(list, 32, chunk);
    if (rank < 1 || H5Sget_simple_extent_dims(space, dims, NULL) != rank)
        return -1;
    for (int dim = 0; dim < rank; dim++)
        elements *= chunk[dim];
    values[3] = (unsigned)H5Tget_size(type);
    values[4] = (unsigned)H5Tget_order(type);
    values[5] = (unsigned)H5Tget_sign(type);
    values[6] = (unsigned)elements;
    values[7] = (unsigned)dims[rank - 1];
    return H5Pmodify_filter(list, ID, flags, ALL, values);
}

static uint32_t sum(const uint8_t *bytes, size_t count)
{
    uint32_t sum = 1;
    for (size_t at = 0; at < count; at++)
        sum = sum * 31 + bytes[at];
    return sum;
}

static uint8_t mark(const unsigned *values, size_t at)
{
    uint64_t key = values[0] | (uint64_t)values[1] << 32;
    uint8_t learned = (uint8_t)(values[3] + values[4] * 3 + values[5] * 7 + values[6] * 11 + values[7] * 13);
    return (uint8_t)(key >> 8 * ((at + values[2]) % 8)) ^ learned;
}

static size_t filter(unsigned flags, size_t count, const unsigned *values, size_t bytes, size_t *size, void **memory)
{
    if (count != ALL)
        return 0;
    int reverse = flags & REVERSE;
    if (reverse && bytes < HEAD)
        return 0;
    size_t made = reverse ? bytes - HEAD : bytes + HEAD;
    const uint8_t *from = *memory;
    uint8_t *to = H5allocate_memory(made ? made : 1, 0);
    if (!to)
        return 0;
    if (reverse) {
        for (size_t at = 0; at < made; at++)
            to[at] = from[HEAD + at] ^ mark(values, at);
        uint32_t stored;
        memcpy(&stored, from, HEAD);
        if (stored != sum(to, made)) {
            H5free_memory(to);
            return 0;
        }
    } else {
        uint32_t stored = sum(from, bytes);
        memcpy(to, &stored, HEAD);
        for (size_t at = 0; at < bytes; at++)
            to[HEAD + at] = from[at] ^ mark(values, at);
    }
    H5free_memory(*memory);
    *memory = to;
    *size = made;
    return made;
}

static const struct {
    int version, id;
    unsigned encoder, decoder;
    const char *name;
    int (*can_apply)(hid_t, hid_t, hid_t), (*set_local)(hid_t, hid_t, hid_t);
    size_t (*filter)(unsigned, size_t, const unsigned *, size_t, size_t *, void **);
} CLASS = {1, ID, 1, 1, "scramble", can_apply, set_local, filter};

int H5PLget_plugin_type(void)
{
    return 0;
}

const void *H5PLget_plugin_info(void)
{
    return &CLASS;
}
