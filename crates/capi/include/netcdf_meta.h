/*
 * The version of the netCDF interface, and what this library offers: 1 for yes, 0 for no.
 *
 * `cargo xtask install` reads this file for nc-config, CMake and libnetcdf.settings, so that all say the same.
 */
#ifndef NETCDF_META_H
#define NETCDF_META_H

#define NC_VERSION_MAJOR 4
#define NC_VERSION_MINOR 10
#define NC_VERSION_PATCH 1
#define NC_VERSION_NOTE  ""
#define NC_VERSION       "4.10.1"

/* Formats. */
#define NC_HAS_NC2           1 /* the version 2 interface */
#define NC_HAS_CDF5          1
#define NC_HAS_NC4           1 /* netCDF-4; an old macro */
#define NC_HAS_HDF5          1 /* netCDF-4 */
#define NC_HAS_HDF4          1
#define NC_HAS_NCZARR        1
#define NC_HAS_DAP2          0
#define NC_HAS_DAP4          0

/* Where datasets can lie. */
#define NC_HAS_DISKLESS      1
#define NC_HAS_MMAP          1
#define NC_HAS_BYTERANGE     1 /* HTTP */
#define NC_HAS_S3            1
#define NC_HAS_S3_AWS        0
#define NC_HAS_S3_INTERNAL   0
#define NC_HAS_HDF5_ROS3     0

/* MPI. */
#define NC_HAS_PNETCDF       0
#define NC_HAS_PARALLEL4     0
#define NC_HAS_PARALLEL      0
#define NC_HAS_PAR_FILTERS   0

/* Filters. */
#define NC_HAS_SZIP          1
#define NC_HAS_SZIP_WRITE    1
#define NC_HAS_ZSTD          1
#define NC_HAS_BLOSC         1
#define NC_HAS_BZ2           1
#define NC_HAS_QUANTIZE      1
#define NC_HAS_MULTIFILTERS  1 /* an old macro */

/* The rest. */
#define NC_HAS_ERANGE_FILL   1 /* a value out of range is stored as the fill value */
#define NC_RELAX_COORD_BOUND 1 /* start may be the length of a dimension where count is 0 */
#define NC_DISPATCH_VERSION  5 /* of the table in netcdf_dispatch.h */
#define NC_HAS_UDF_SELF_LOAD 1 /* formats named in the .rc file */
#define NC_HAS_LOGGING       0
#define NC_HAS_BENCHMARKS    0
#define NC_HAS_JNA           0 /* an old macro */

#endif /* NETCDF_META_H */
