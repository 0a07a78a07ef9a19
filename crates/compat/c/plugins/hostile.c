/* Filters that misbehave, each in its way: -DWAY says how. Packing leaves all as it is, unless the way says otherwise. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The preprocessor looks at these, which takes no enumeration. */
#define FAILS 0
#define TOO_LONG 1
#define NO_MEMORY 2
#define GROWS 3
#define LIES 4
#define PICKY 5
#define ALONE 6
#define OLD 7
#define NO_INFO 8
#define OTHER_KIND 9
#define NO_ENCODER 10
#define WANTS 11
#define ASKS 12
#define ASKS_MORE 13
#define SLOW 14

#ifndef ID
#define ID (41000 + WAY)
#endif

#if WAY == WANTS
extern int H5Dopen2(int64_t, const char *, int64_t);
#endif

#if WAY == ASKS || WAY == ASKS_MORE
extern void *H5allocate_memory(size_t, _Bool);
extern void *H5resize_memory(void *, size_t);
extern int H5free_memory(void *);
#endif

static size_t filter(unsigned flags, size_t count, const unsigned *values, size_t bytes, size_t *size, void **memory)
{
    int reverse = flags & 0x100;
    (void)count, (void)values, (void)size, (void)memory, (void)reverse;
#if WAY == FAILS
    /* It cannot unpack. */
    return reverse ? 0 : bytes;
#elif WAY == TOO_LONG
    /* It says more than there is. */
    return reverse ? *size + 1000000 : bytes;
#elif WAY == NO_MEMORY
    /* It forgets to say where. */
    if (reverse) {
        free(*memory);
        *memory = NULL;
    }
    return bytes;
#elif WAY == GROWS
    /* It makes a thousand times as much. */
    if (reverse) {
        free(*memory);
        *size = 1000 * bytes;
        *memory = calloc(1, *size);
        return *size;
    }
    return bytes;
#elif WAY == LIES
    /* It says that its memory is larger than it is. */
    if (reverse) {
        *size = 1u << 30;
        return *size;
    }
    return bytes;
#elif WAY == ASKS || WAY == ASKS_MORE
    /* It asks for very much memory, at once or by and by, and uses it. */
    size_t most = (size_t)1 << 30, room = WAY == ASKS ? most : bytes;
    uint8_t *made = reverse ? H5allocate_memory(room, 0) : NULL;
    while (made && room < most) {
        memset(made, 7, room);
        uint8_t *larger = H5resize_memory(made, room *= 2);
        if (!larger)
            H5free_memory(made);
        made = larger;
    }
    if (!made)
        return reverse ? 0 : bytes;
    memset(made, 7, room);
    H5free_memory(*memory);
    *memory = made;
    return *size = room;
#elif WAY == PICKY
    /* It does not pack what begins with an odd byte. */
    uint8_t *all = *memory;
    if (!reverse && all[0] % 2)
        return 0;
    for (size_t at = 0; at < bytes; at++)
        all[at] ^= 0xff;
    return bytes;
#elif WAY == ALONE
    /* Two threads at once are too many for it. */
    static volatile int inside;
    int before = inside++;
    usleep(200);
    inside--;
    return before ? 0 : bytes;
#elif WAY == WANTS
    return (size_t)H5Dopen2(0, "", 0);
#else
    return bytes;
#endif
}

#if WAY == OLD
/* The first version of the structure: no version, no words on what it can do. */
static const struct {
    int id;
    const char *name;
    void *can_apply, *set_local;
    size_t (*filter)(unsigned, size_t, const unsigned *, size_t, size_t *, void **);
} CLASS = {ID, "old", NULL, NULL, filter};
#else
static const struct {
    int version, id;
    unsigned encoder, decoder;
    const char *name;
    void *can_apply, *set_local;
    size_t (*filter)(unsigned, size_t, const unsigned *, size_t, size_t *, void **);
} CLASS = {1, ID, WAY != NO_ENCODER, 1, "hostile", NULL, NULL, filter};
#endif

int H5PLget_plugin_type(void)
{
    return WAY == OTHER_KIND ? 7 : 0;
}

const void *H5PLget_plugin_info(void)
{
    if (WAY == SLOW)
        sleep(3);
    return WAY == NO_INFO ? NULL : &CLASS;
}
