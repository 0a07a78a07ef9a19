/*
 * What ferrocdf adds to the netCDF interface. A program that uses it runs with no other libnetcdf.
 */
#ifndef FERROCDF_H
#define FERROCDF_H 1

#include "netcdf.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* The whole message of the last error on this thread: what, where, why. Never NULL; the text is the library's, and stays
   until the next error on this thread. */
EXTERNL const char *
ferrocdf_last_error(void);

#if defined(__cplusplus)
}
#endif

#endif /* FERROCDF_H */
