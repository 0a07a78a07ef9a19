/*
 * Filters of netCDF-4 and Zarr variables, and where plugins that hold filters are looked for.
 *
 * A filter has an HDF5 id and a list of unsigned parameters.
 */
#ifndef NETCDF_FILTER_H
#define NETCDF_FILTER_H 1

#include "netcdf.h"

/* Ids, the same as in H5Zpublic.h. */
#ifndef H5Z_FILTER_DEFLATE
#define H5Z_FILTER_DEFLATE 1
#define H5Z_FILTER_SHUFFLE 2
#define H5Z_FILTER_FLETCHER32 3
#endif

#ifndef H5Z_FILTER_SZIP
#define H5Z_FILTER_SZIP 4
#define H5_SZIP_ALLOW_K13_OPTION_MASK 1
#define H5_SZIP_CHIP_OPTION_MASK 2
#define H5_SZIP_EC_OPTION_MASK 4
#define H5_SZIP_LSB_OPTION_MASK 8
#define H5_SZIP_MSB_OPTION_MASK 16
#define H5_SZIP_NN_OPTION_MASK 32
#define H5_SZIP_MAX_PIXELS_PER_BLOCK 32
#define H5_SZIP_RAW_OPTION_MASK 128
#endif

#define H5_SZIP_ALL_MASKS (H5_SZIP_CHIP_OPTION_MASK | H5_SZIP_EC_OPTION_MASK | H5_SZIP_NN_OPTION_MASK)

/* The most that nc_def_var_szip takes for pixels_per_block. */
#define NC_MAX_PIXELS_PER_BLOCK 32

#ifndef H5Z_FILTER_ZSTD
#define H5Z_FILTER_ZSTD 32015
#endif
#ifndef H5Z_FILTER_BZIP2
#define H5Z_FILTER_BZIP2 307
#endif
#ifndef H5Z_FILTER_BLOSC
#define H5Z_FILTER_BLOSC 32001
#endif

/* What Blosc does before it compresses, and what it compresses with; blosc.h has the same as macros. */
#ifndef BLOSC_SHUFFLE
enum BLOSC_SHUFFLE { BLOSC_NOSHUFFLE = 0, BLOSC_SHUFFLE = 1, BLOSC_BITSHUFFLE = 2 };
#endif
#ifndef BLOSC_BLOSCLZ
enum BLOSC_SUBCOMPRESSORS {
    BLOSC_LZ = 0, BLOSC_LZ4 = 1, BLOSC_LZ4HC = 2, BLOSC_SNAPPY = 3, BLOSC_ZLIB = 4, BLOSC_ZSTD = 5
};
#endif

/* Folders in which plugins are looked for, in this order. */
typedef struct NCPluginList {
    size_t ndirs;
    char **dirs;
} NCPluginList;

#if defined(__cplusplus)
extern "C" {
#endif

/* Adds a filter to a variable. Filters run in the order in which they were added. */
EXTERNL int
nc_def_var_filter(int ncid, int varid, unsigned int id, size_t nparams, const unsigned int *params);

/* The first filter of a variable; id 0 without filters. */
EXTERNL int
nc_inq_var_filter(int ncid, int varid, unsigned int *idp, size_t *nparams, unsigned int *params);

/* All filters of a variable. Call it twice: with NULL for the ids to learn how many, then for the ids. */
EXTERNL int nc_inq_var_filter_ids(int ncid, int varid, size_t *nfilters, unsigned int *filterids);

/* Parameters of one filter of a variable; NC_ENOFILTER when the variable does not have it. */
EXTERNL int nc_inq_var_filter_info(int ncid, int varid, unsigned int id, size_t *nparams, unsigned int *params);

/* NC_NOERR when a filter can be used with this dataset, else NC_ENOFILTER. */
EXTERNL int nc_inq_filter_avail(int ncid, unsigned id);

/* Compression with bzip2, level 1 to 9. */
EXTERNL int nc_def_var_bzip2(int ncid, int varid, int level);
EXTERNL int nc_inq_var_bzip2(int ncid, int varid, int *hasfilterp, int *levelp);

/* Compression with Zstandard. */
EXTERNL int nc_def_var_zstandard(int ncid, int varid, int level);
EXTERNL int nc_inq_var_zstandard(int ncid, int varid, int *hasfilterp, int *levelp);

/* Compression with Blosc: which compressor, level 0 to 9, bytes of a block (0: Blosc's choice), which shuffle. */
EXTERNL int nc_def_var_blosc(int ncid, int varid, unsigned subcompressor, unsigned level, unsigned blocksize, unsigned
    addshuffle);
EXTERNL int nc_inq_var_blosc(int ncid, int varid, int *hasfilterp, unsigned *subcompressorp, unsigned *levelp,
    unsigned *blocksizep, unsigned *addshufflep);

/* How many folders there are. */
EXTERNL int nc_plugin_path_ndirs(size_t *ndirsp);

/* The folders. Where dirs->dirs is NULL the list is made with malloc, else it is filled; the texts are from
   malloc. */
EXTERNL int nc_plugin_path_get(NCPluginList *dirs);

/* Sets the folders; NULL or an empty list means none. */
EXTERNL int nc_plugin_path_set(NCPluginList *dirs);

#if defined(__cplusplus)
}
#endif

#endif /* NETCDF_FILTER_H */
