/*
 * Formats that a program brings along, named in the .rc file as NETCDF.UDF0.LIBRARY to NETCDF.UDF9.LIBRARY.
 */
#ifndef NCUDFPLUGINS_H
#define NCUDFPLUGINS_H

#include "netcdf.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Loads them. The library does so at its start. */
EXTERNL int NC_udf_load_plugins(void);

#if defined(__cplusplus)
}
#endif

#endif /* NCUDFPLUGINS_H */
