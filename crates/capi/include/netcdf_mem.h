/*
 * Datasets in memory. Such a dataset has a path too, which is only a name.
 */
#ifndef NETCDF_MEM_H
#define NETCDF_MEM_H 1

#include "netcdf.h"

/* A block of memory that holds a dataset. */
typedef struct NC_memio {
    size_t size;  /* bytes */
    void *memory; /* from malloc where the library made it */
    int flags;    /* 0 or NC_MEMIO_LOCKED */
} NC_memio;

/* The block stays the caller's: it is neither moved nor freed. */
#define NC_MEMIO_LOCKED 1

#if defined(__cplusplus)
extern "C" {
#endif

/* Opens a block for reading. It stays the caller's. */
EXTERNL int nc_open_mem(const char *path, int mode, size_t size, void *memory, int *ncidp);

/* Makes a dataset in memory; the size is a first guess. nc_close_memio hands it over. */
EXTERNL int nc_create_mem(const char *path, int mode, size_t initialsize, int *ncidp);

/* Opens a block, for writing too. Unless it is locked it becomes the library's, until nc_close_memio. */
EXTERNL int nc_open_memio(const char *path, int mode, NC_memio *info, int *ncidp);

/* Closes a dataset in memory, and hands over its block; the caller frees it. */
EXTERNL int nc_close_memio(int ncid, NC_memio *info);

#if defined(__cplusplus)
}
#endif

#endif /* NETCDF_MEM_H */
