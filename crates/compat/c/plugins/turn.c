/* An HDF5 filter and its codec of NCZarr in one library: each byte of an element has its place in the element and a key added.
 *
 * A user gives the key. Both set_local (for HDF5) and NCZ_modify_parameters (for Zarr) add the size of an element, without which the filter
 * fails.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int64_t hid_t;

/* What it looks up in the HDF5 and in the netCDF library. */
extern int H5Pmodify_filter(hid_t, int, unsigned, size_t, const unsigned *);
extern int H5Pget_filter_by_id2(hid_t, int, unsigned *, size_t *, unsigned *, size_t, char *, unsigned *);
extern size_t H5Tget_size(hid_t);
extern int nc_inq_vartype(int, int, int *);
extern int nc_inq_type(int, int, char *, size_t *);

enum { ID = 40100, EFILTER = -132 };

static int set_local(hid_t list, hid_t type, hid_t space)
{
    unsigned flags, config, values[2] = {0};
    size_t count = 2;
    char name[16];

    (void)space;
    if (H5Pget_filter_by_id2(list, ID, &flags, &count, values, sizeof name, name, &config) < 0 || count < 1)
        return -1;
    values[1] = (unsigned)H5Tget_size(type);
    return H5Pmodify_filter(list, ID, flags, 2, values);
}

static size_t filter(unsigned flags, size_t count, const unsigned *values, size_t bytes, size_t *size, void **memory)
{
    uint8_t *at = *memory;

    (void)size;
    if (count != 2 || values[1] == 0)
        return 0;
    for (size_t byte = 0; byte < bytes; byte++) {
        uint8_t add = (uint8_t)(values[0] + byte % values[1]);
        at[byte] = flags & 0x100 ? at[byte] - add : at[byte] + add;
    }
    return bytes;
}

static const struct {
    int version, id;
    unsigned encoder, decoder;
    const char *name;
    void *can_apply;
    int (*set_local)(hid_t, hid_t, hid_t);
    size_t (*filter)(unsigned, size_t, const unsigned *, size_t, size_t *, void **);
} CLASS = {1, ID, 1, 1, "turn", NULL, set_local, filter};

int H5PLget_plugin_type(void)
{
    return 0;
}

const void *H5PLget_plugin_info(void)
{
    return &CLASS;
}

static int to_hdf5(const char *json, size_t *count, unsigned **params)
{
    const char *key = strstr(json, "\"key\":");

    if (!key || !(*params = calloc(1, sizeof **params)))
        return EFILTER;
    **params = (unsigned)strtoul(key + 6, NULL, 10);
    *count = 1;
    return 0;
}

static int to_json(size_t count, const unsigned *params, char **json)
{
    if (count == 0 || !(*json = malloc(64)))
        return EFILTER;
    snprintf(*json, 64, "{\"id\": \"turn\", \"key\": %u}", params[0]);
    return 0;
}

static int modify(int file, int var, size_t *shown_count, unsigned **shown, size_t *count, unsigned **params)
{
    int type, failed;
    size_t size;

    if ((failed = nc_inq_vartype(file, var, &type)) || (failed = nc_inq_type(file, type, NULL, &size)))
        return failed;
    if (*shown_count == 0 || !(*params = calloc(2, sizeof **params)))
        return EFILTER;
    (*params)[0] = (*shown)[0];
    (*params)[1] = (unsigned)size;
    *count = 2;
    return 0;
}

static const struct {
    int version, sort;
    const char *name;
    unsigned id;
    void (*initialize)(void), (*finalize)(void);
    int (*to_hdf5)(const char *, size_t *, unsigned **);
    int (*to_json)(size_t, const unsigned *, char **);
    int (*modify)(int, int, size_t *, unsigned **, size_t *, unsigned **);
} CODEC = {1, 1, "turn", ID, NULL, NULL, to_hdf5, to_json, modify};

const void *NCZ_get_codec_info(void)
{
    return &CODEC;
}
