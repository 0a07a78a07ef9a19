/* A codec of NCZarr for filter ID, called NAME: alone, or with a filter (-DFILTER), or for want of others (-DDEFAULTS). */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The parameters are told by the first of them, and how many there are. */
static int to_json(size_t count, const unsigned *params, char **json)
{
    *json = malloc(100);
    if (!*json)
        return -61;
    snprintf(*json, 100, "{\"id\": \"%s\", \"first\": %u, \"count\": %zu}", NAME, count ? params[0] : 0, count);
    return 0;
}

static int to_hdf5(const char *json, size_t *count, unsigned **params)
{
    const char *first = strstr(json, "\"first\": "), *many = strstr(json, "\"count\": ");
    if (!first || !many)
        return -36;
    *count = strtoul(many + 9, NULL, 10);
    *params = calloc(*count + 1, sizeof **params);
    if (!*params)
        return -61;
    for (size_t at = 0; at < *count; at++)
        (*params)[at] = strtoul(first + 9, NULL, 10);
    return 0;
}

static const struct {
    int version, sort;
    const char *name;
    unsigned id;
    void (*initialize)(void), (*finalize)(void);
    int (*to_hdf5)(const char *, size_t *, unsigned **);
    int (*to_json)(size_t, const unsigned *, char **);
    void *modify;
} CODEC = {1, 1, NAME, ID, NULL, NULL, to_hdf5, to_json, NULL};

#ifdef DEFAULTS
const void *NCZ_codec_info_defaults(void)
{
    static const void *const all[] = {&CODEC, NULL};
    return all;
}
#else
const void *NCZ_get_codec_info(void)
{
    return &CODEC;
}
#endif

#ifdef FILTER
static size_t filter(unsigned flags, size_t count, const unsigned *values, size_t bytes, size_t *size, void **memory)
{
    (void)flags, (void)count, (void)values, (void)size, (void)memory;
    return bytes;
}

static const struct {
    int version, id;
    unsigned encoder, decoder;
    const char *name;
    void *can_apply, *set_local;
    size_t (*filter)(unsigned, size_t, const unsigned *, size_t, size_t *, void **);
} CLASS = {1, ID, 1, 1, NAME, NULL, NULL, filter};

int H5PLget_plugin_type(void)
{
    return 0;
}

const void *H5PLget_plugin_info(void)
{
    return &CLASS;
}
#endif
