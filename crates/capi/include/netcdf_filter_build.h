/*
 * What a codec plugin is made of: the two ways between an HDF5 filter's parameters and a Zarr codec's JSON.
 *
 * A plugin exports NCZ_get_codec_info for one codec, or NCZ_codec_info_defaults for several. Parameters are "visible"
 * as the user gives them and the file keeps them, and "working" as the filter gets them. Lists and texts handed over are
 * from malloc, and the one who asked frees them. Functions give netCDF error codes.
 */
#ifndef NETCDF_FILTER_BUILD_H
#define NETCDF_FILTER_BUILD_H 1

#include "netcdf_filter_hdf5_build.h"

/* Version of NCZ_codec_t. */
#define NCZ_CODEC_CLASS_VER 1

/* The one kind of NCZ_codec_t there is. */
#define NCZ_CODEC_HDF5 1

/* Set when a filter decodes; never stored. */
#define NCZ_FILTER_DECODE 0x00000001

typedef struct NCZ_codec_t {
    int version;         /* NCZ_CODEC_CLASS_VER */
    int sort;            /* NCZ_CODEC_HDF5 */
    const char *codecid; /* the codec's name in Zarr */
    unsigned int hdf5id; /* the filter's id in HDF5 */

    /* Called when the plugin is loaded and let go; each may be NULL. */
    void (*NCZ_codec_initialize)(void);
    void (*NCZ_codec_finalize)(void);

    /* From JSON to visible parameters, and back. */
    int (*NCZ_codec_to_hdf5)(const char *codec, size_t *nparamsp, unsigned **paramsp);
    int (*NCZ_hdf5_to_codec)(size_t nparams, const unsigned *params, char **codecp);

    /* From visible to working parameters, for this variable; may change the visible ones. May be NULL. */
    int (*NCZ_modify_parameters)(int ncid, int varid, size_t *vnparamsp, unsigned **vparamsp, size_t *wnparamsp,
                                 unsigned **wparamsp);
} NCZ_codec_t;

/* NCZ_get_codec_info: gives a pointer to an NCZ_codec_t. */
typedef const void *(*NCZ_get_codec_info_proto)(void);

/* NCZ_codec_info_defaults: gives an array of pointers to NCZ_codec_t, NULL at its end. */
typedef const void *(*NCZ_codec_info_defaults_proto)(void);

#ifndef NC_UNUSED
#define NC_UNUSED(var) (void)var
#endif

#ifndef DLLEXPORT
#ifdef _WIN32
#define DLLEXPORT __declspec(dllexport)
#else
#define DLLEXPORT
#endif
#endif

#endif /* NETCDF_FILTER_BUILD_H */
