/*
 * What an HDF5 filter plugin is made of. With USE_HDF5 it comes from HDF5's own headers; without, its names are declared
 * here with the same layout, so that a filter can be built where HDF5 is not installed.
 *
 * A plugin exports H5PLget_plugin_type and H5PLget_plugin_info.
 */
#ifndef NETCDF_FILTER_HDF5_BUILD_H
#define NETCDF_FILTER_HDF5_BUILD_H 1

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "netcdf.h"
#include "netcdf_filter.h"

#ifdef USE_HDF5

#include <hdf5.h>
#include <H5PLextern.h>

#else

/* Ids below the first are HDF5's own; none is above the second. */
#define H5Z_FILTER_RESERVED 256
#define H5Z_FILTER_MAX 65535

/* Flags stored with a filter: whether data may be written without it. */
#define H5Z_FLAG_MANDATORY 0x0000
#define H5Z_FLAG_OPTIONAL 0x0001

/* Flags a filter is called with: decode; do not check checksums. */
#define H5Z_FLAG_REVERSE 0x0100
#define H5Z_FLAG_SKIP_EDC 0x0200

typedef int htri_t;
typedef int herr_t;
typedef int hbool_t;
typedef size_t hsize_t;
typedef long long hid_t;

/* Called before data are written, with property list, type and space of the dataset: whether the filter can be used,
   and to set parameters for this dataset. May be NULL. */
typedef htri_t (*H5Z_can_apply_func_t)(long long, long long, long long);
typedef herr_t (*H5Z_set_local_func_t)(long long, long long, long long);

/* Encodes or decodes nbytes in *buf, which may be replaced by another block of *buf_size bytes; gives the new number of
   bytes, or 0 where it failed. */
typedef size_t (*H5Z_func_t)(unsigned int flags, size_t cd_nelmts, const unsigned int cd_values[], size_t nbytes,
                             size_t *buf_size, void **buf);

typedef int H5Z_filter_t;

/* Version of H5Z_class2_t. */
#define H5Z_CLASS_T_VERS 1

typedef struct H5Z_class2_t {
    int version;                    /* H5Z_CLASS_T_VERS */
    H5Z_filter_t id;
    unsigned encoder_present;
    unsigned decoder_present;
    const char *name;               /* for messages */
    H5Z_can_apply_func_t can_apply;
    H5Z_set_local_func_t set_local;
    H5Z_func_t filter;
} H5Z_class2_t;

typedef enum H5PL_type_t {
    H5PL_TYPE_ERROR = -1,
    H5PL_TYPE_FILTER = 0,
    H5PL_TYPE_NONE = 1
} H5PL_type_t;

/* Memory that HDF5 and a filter hand to each other. */
#define H5allocate_memory(size, clear) ((clear) ? calloc(1, (size)) : malloc(size))
#define H5free_memory(buf) free(buf)
#define H5resize_memory(buf, size) realloc(buf, size)

#endif /* USE_HDF5 */

/* H5PLget_plugin_type: gives H5PL_TYPE_FILTER. */
typedef H5PL_type_t (*H5PL_get_plugin_type_proto)(void);

/* H5PLget_plugin_info: gives a pointer to an H5Z_class2_t. */
typedef const void *(*H5PL_get_plugin_info_proto)(void);

/* Names of HDF5's own sources, so that filters taken from there build unchanged. */
#ifndef HGOTO_ERROR
#define HGOTO_ERROR(pline, err, action, msg) { fprintf(stderr, "%s\n", msg); ret_value = -1; goto done; }
#endif
#ifndef H5_ATTR_FALLTHROUGH
#define H5_ATTR_FALLTHROUGH
#endif
#ifndef H5_ATTR_UNUSED
#define H5_ATTR_UNUSED
#endif
#ifndef H5MM_memcpy
#define H5MM_memcpy memcpy
#endif
#ifndef H5MM_malloc
#define H5MM_malloc malloc
#endif
#ifndef H5MM_realloc
#define H5MM_realloc realloc
#endif
#ifndef H5MM_xfree
#define H5MM_xfree(x) free(x)
#endif
#ifndef FUNC_ENTER_STATIC
#define FUNC_ENTER_STATIC
#endif
#ifndef FUNC_ENTER_STATIC_NOERR
#define FUNC_ENTER_STATIC_NOERR
#endif
#ifndef FUNC_ENTER_NOAPI_NOINIT_NOERR
#define FUNC_ENTER_NOAPI_NOINIT_NOERR
#endif
#ifndef FUNC_LEAVE_NOAPI
#define FUNC_LEAVE_NOAPI(ret_value) return ret_value;
#endif
#ifndef FUNC_LEAVE_NOAPI_VOID
#define FUNC_LEAVE_NOAPI_VOID return;
#endif
#ifndef FALSE
#define FALSE 0
#define TRUE 1
#endif
#ifndef SUCCEED
#define SUCCEED 0
#define FAIL -1
#endif
#ifndef H5_CHECKED_ASSIGN
#define H5_CHECKED_ASSIGN(dst, dtype, src, stype) (dst) = (dtype)(src)
#endif
#ifndef H5_CHECK_OVERFLOW
#define H5_CHECK_OVERFLOW(dst, dtype, stype)
#endif
#ifndef HDceil
#define HDceil(x) ceil(x)
#endif
#ifndef HDassert
#define HDassert(x)
#endif
#ifndef HDmemset
#define HDmemset memset
#endif

/* A 32-bit number as four bytes, lowest first; p moves on. */
#ifndef UINT32ENCODE
#define UINT32ENCODE(p, i) { \
    int ncshift; \
    for (ncshift = 0; ncshift < 32; ncshift += 8) *(p)++ = (uint8_t)((uint32_t)(i) >> ncshift); \
}
#define UINT32DECODE(p, i) { \
    int ncshift; \
    (i) = 0; \
    for (ncshift = 0; ncshift < 32; ncshift += 8) (i) |= (uint32_t)(uint8_t)*(p)++ << ncshift; \
}
#endif

#endif /* NETCDF_FILTER_HDF5_BUILD_H */
