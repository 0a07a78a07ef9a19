/* What netcdf_par.h needs of MPI, with the types of a build without it. */
typedef int MPI_Comm;
typedef int MPI_Info;
