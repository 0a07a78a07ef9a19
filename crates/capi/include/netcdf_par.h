/*
 * Datasets that the processes of an MPI program share. A library built without MPI answers NC_ENOPAR.
 */
#ifndef NETCDF_PAR_H
#define NETCDF_PAR_H 1

#include <mpi.h>
#include "netcdf.h"

/* nc_var_par_access: each process on its own, or all together. */
#define NC_INDEPENDENT 0
#define NC_COLLECTIVE 1

#if defined(__cplusplus)
extern "C" {
#endif

/* Makes a dataset that the processes of comm share. */
EXTERNL int
nc_create_par(const char *path, int cmode, MPI_Comm comm, MPI_Info info, int *ncidp);

/* Opens a dataset that the processes of comm share. */
EXTERNL int
nc_open_par(const char *path, int mode, MPI_Comm comm, MPI_Info info, int *ncidp);

/* Whether all processes take part in each access to a variable. */
EXTERNL int
nc_var_par_access(int ncid, int varid, int par_access);

/* nc_create_par, with the handles that Fortran has. */
EXTERNL int
nc_create_par_fortran(const char *path, int cmode, int comm, int info, int *ncidp);

/* nc_open_par, with the handles that Fortran has. */
EXTERNL int
nc_open_par_fortran(const char *path, int mode, int comm, int info, int *ncidp);

#if defined(__cplusplus)
}
#endif

#endif /* NETCDF_PAR_H */
