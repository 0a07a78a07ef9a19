/* What the reference's test programs want to know of the machine, which its own build would find out: Linux, 64 bits. */
#define CHUNK_CACHE_NELEMS 1000
#define CHUNK_CACHE_PREEMPTION 0.75f
#define CHUNK_CACHE_SIZE 67108864
#define DEFAULT_CHUNK_SIZE 16777216
#define HAVE_DIRENT_H 1
#define HAVE_FCNTL_H 1
#define HAVE_GETOPT_H 1
#define HAVE_GETRLIMIT 1
#define HAVE_INT64_T 1
#define HAVE_LONGLONG 1
#define HAVE_PTRDIFF_T 1
#define HAVE_SCHAR 1
#define HAVE_SNPRINTF 1
#define HAVE_SSIZE_T 1
#define HAVE_STDBOOL_H 1
#define HAVE_STDINT_H 1
#define HAVE_STRDUP 1
#define HAVE_SYS_RESOURCE_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_UCHAR 1
#define HAVE_UINT64_T 1
#define HAVE_ULONGLONG 1
#define HAVE_UNISTD_H 1
#define NC_UNUSED(var) (void)var
#define NETCDF_ENABLE_CDF5 1
#define ENABLE_CDF5 1
#define SIZEOF_INT 4
#define SIZEOF_LONG 8
#define SIZEOF_LONG_LONG 8
#define SIZEOF_OFF_T 8
#define SIZEOF_SIZE_T 8
#define TEMP_LARGE "."
#define USE_CDF5 1

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

typedef unsigned char uchar;
typedef signed char schar;
typedef long long longlong;
typedef unsigned long long ulonglong;
typedef unsigned long long size64_t;
