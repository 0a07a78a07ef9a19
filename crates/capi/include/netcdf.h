/*
 * The netCDF C interface, version 4.10.1, as ferrocdf offers it.
 *
 * Every name, value and signature here is that of the published interface: a program built with this header runs with
 * any libnetcdf, and the other way round. A function gives NC_NOERR, a positive errno, or a negative NC_E code, unless
 * it says otherwise. A pointer for a result may be NULL when the result is not wanted.
 *
 * This file stays one file, and each prototype of it stays on lines of its own with the name first: build scripts of
 * other projects search it line by line.
 */
#ifndef _NETCDF_
#define _NETCDF_

#include <stddef.h>
#include <errno.h>

#if defined(_WIN32) || defined(_WIN64)
#include <malloc.h>
#endif

/* A type of data: one of the constants below, or the id of a type that a file defines. */
typedef int nc_type;

#if defined(__cplusplus)
extern "C" {
#endif

/* ---- Types ---- */

#define NC_NAT          0       /* no type */
#define NC_BYTE         1       /* 8 bits, signed */
#define NC_CHAR         2       /* a byte of text */
#define NC_SHORT        3       /* 16 bits, signed */
#define NC_INT          4       /* 32 bits, signed */
#define NC_LONG         NC_INT  /* old name */
#define NC_FLOAT        5       /* IEEE single */
#define NC_DOUBLE       6       /* IEEE double */
#define NC_UBYTE        7       /* 8 bits, unsigned */
#define NC_USHORT       8       /* 16 bits, unsigned */
#define NC_UINT         9       /* 32 bits, unsigned */
#define NC_INT64        10      /* 64 bits, signed */
#define NC_UINT64       11      /* 64 bits, unsigned */
#define NC_STRING       12      /* pointers to text that ends with a zero byte */
#define NC_MAX_ATOMIC_TYPE NC_STRING

/* Classes of the types that files define. */
#define NC_VLEN         13
#define NC_OPAQUE       14
#define NC_ENUM         15
#define NC_COMPOUND     16

#define NC_FIRSTUSERTYPEID 32   /* the ids of such types start here */

/* What is read where nothing was written, unless the variable has an attribute _FillValue. */
#define NC_FILL_BYTE    ((signed char)-127)
#define NC_FILL_CHAR    ((char)0)
#define NC_FILL_SHORT   ((short)-32767)
#define NC_FILL_INT     (-2147483647)
#define NC_FILL_FLOAT   (9.9692099683868690e+36f)
#define NC_FILL_DOUBLE  (9.9692099683868690e+36)
#define NC_FILL_UBYTE   (255)
#define NC_FILL_USHORT  (65535)
#define NC_FILL_UINT    (4294967295U)
#define NC_FILL_INT64   ((long long)-9223372036854775806LL)
#define NC_FILL_UINT64  ((unsigned long long)18446744073709551614ULL)
#define NC_FILL_STRING  ((char *)"")

/* Bounds of what each type holds in a file. */
#define NC_MAX_BYTE     127
#define NC_MIN_BYTE     (-NC_MAX_BYTE-1)
#define NC_MAX_CHAR     255
#define NC_MAX_SHORT    32767
#define NC_MIN_SHORT    (-NC_MAX_SHORT - 1)
#define NC_MAX_INT      2147483647
#define NC_MIN_INT      (-NC_MAX_INT - 1)
#define NC_MAX_FLOAT    3.402823466e+38f
#define NC_MIN_FLOAT    (-NC_MAX_FLOAT)
#define NC_MAX_DOUBLE   1.7976931348623157e+308
#define NC_MIN_DOUBLE   (-NC_MAX_DOUBLE)
#define NC_MAX_UBYTE    NC_MAX_CHAR
#define NC_MAX_USHORT   65535U
#define NC_MAX_UINT     4294967295U
#define NC_MAX_INT64    (9223372036854775807LL)
#define NC_MIN_INT64    (-9223372036854775807LL-1)
#define NC_MAX_UINT64   (18446744073709551615ULL)

/* The attribute that sets a variable's fill value. The bare name is an old macro that some programs still need. */
#ifdef NETCDF_ENABLE_LEGACY_MACROS
#define _FillValue      "_FillValue"
#endif
#define NC_FillValue    "_FillValue"
#define NC_FILL         0       /* nc_set_fill: fill what is not written */
#define NC_NOFILL       0x100   /* nc_set_fill: leave it as it is */

/* ---- Modes of nc_open and nc_create ---- */

#define NC_NOWRITE       0x0000  /* open for reading */
#define NC_WRITE         0x0001  /* open for reading and writing */
#define NC_CLOBBER       0x0000  /* create: replace a file that is there */
#define NC_NOCLOBBER     0x0004  /* create: refuse when a file is there */
#define NC_DISKLESS      0x0008  /* keep the file in memory while it is open */
#define NC_MMAP          0x0010  /* old; new classic files: as NC_DISKLESS */
#define NC_64BIT_DATA    0x0020  /* create CDF-5 */
#define NC_CDF5          NC_64BIT_DATA
#define NC_UDF0          0x0040  /* formats that programs bring along, 0 to 9 */
#define NC_UDF1          0x0080
#define NC_UDF2          0x10000
#define NC_UDF3          0x80000
#define NC_UDF4          0x100000
#define NC_UDF5          0x200000
#define NC_UDF6          0x400000
#define NC_UDF7          0x800000
#define NC_UDF8          0x1000000
#define NC_UDF9          0x2000000
#define NC_CLASSIC_MODEL 0x0100  /* create netCDF-4 with the rules of the classic model */
#define NC_64BIT_OFFSET  0x0200  /* create CDF-2 */
#define NC_LOCK          0x0400  /* has no effect */
#define NC_SHARE         0x0800  /* others read or write the file at the same time: hold little back */
#define NC_NETCDF4       0x1000  /* create netCDF-4 */
#define NC_MPIIO         0x2000  /* old, and its two aliases: nc_create_par and nc_open_par need no flag */
#define NC_MPIPOSIX      NC_MPIIO
#define NC_PNETCDF       (NC_MPIIO)
#define NC_PERSIST       0x4000  /* with NC_DISKLESS: write the file out when it is closed */
#define NC_INMEMORY      0x8000  /* the file is a block of memory: netcdf_mem.h */
#define NC_NOATTCREORD   0x20000 /* netCDF-4: do not keep the order in which attributes were made */
#define NC_NODIMSCALE_ATTACH 0x40000 /* netCDF-4: do not tie dimension scales to variables */

#define NC_MAX_MAGIC_NUMBER_LEN 8 /* longest magic number of a format that a program brings along */
#define NC_MAX_UDF_FORMATS 10     /* how many such formats there can be */

/* ---- Formats: what nc_inq_format answers and nc_set_default_format takes ---- */

#define NC_FORMAT_CLASSIC         (1)  /* CDF-1 */
#define NC_FORMAT_64BIT_OFFSET    (2)  /* CDF-2 */
#define NC_FORMAT_64BIT           (NC_FORMAT_64BIT_OFFSET) /* old name */
#define NC_FORMAT_NETCDF4         (3)
#define NC_FORMAT_NETCDF4_CLASSIC (4)
#define NC_FORMAT_64BIT_DATA      (5)  /* CDF-5 */
#define NC_FORMAT_CDF5            NC_FORMAT_64BIT_DATA

/* All mode flags that choose a format. */
#define NC_FORMAT_ALL (NC_64BIT_OFFSET | NC_64BIT_DATA | NC_CLASSIC_MODEL | NC_NETCDF4 | NC_UDF0 | NC_UDF1 | NC_UDF2 \
                       | NC_UDF3 | NC_UDF4 | NC_UDF5 | NC_UDF6 | NC_UDF7 | NC_UDF8 | NC_UDF9)

/* ---- What holds the data: what nc_inq_format_extended answers ---- */

#define NC_FORMATX_UNDEFINED (0)
#define NC_FORMATX_NC3       (1)  /* CDF-1, CDF-2 and CDF-5 */
#define NC_FORMATX_NC_HDF5   (2)
#define NC_FORMATX_NC4       NC_FORMATX_NC_HDF5
#define NC_FORMATX_NC_HDF4   (3)
#define NC_FORMATX_PNETCDF   (4)
#define NC_FORMATX_DAP2      (5)
#define NC_FORMATX_DAP4      (6)
#define NC_FORMATX_UDF0      (8)
#define NC_FORMATX_UDF1      (9)
#define NC_FORMATX_NCZARR    (10)
#define NC_FORMATX_UDF2      (11)
#define NC_FORMATX_UDF3      (12)
#define NC_FORMATX_UDF4      (13)
#define NC_FORMATX_UDF5      (14)
#define NC_FORMATX_UDF6      (15)
#define NC_FORMATX_UDF7      (16)
#define NC_FORMATX_UDF8      (17)
#define NC_FORMATX_UDF9      (18)

/* Old names of the same. */
#define NC_FORMAT_NC3        NC_FORMATX_NC3
#define NC_FORMAT_NC_HDF5    NC_FORMATX_NC_HDF5
#define NC_FORMAT_NC4        NC_FORMATX_NC4
#define NC_FORMAT_NC_HDF4    NC_FORMATX_NC_HDF4
#define NC_FORMAT_PNETCDF    NC_FORMATX_PNETCDF
#define NC_FORMAT_DAP2       NC_FORMATX_DAP2
#define NC_FORMAT_DAP4       NC_FORMATX_DAP4
#define NC_FORMAT_UNDEFINED  NC_FORMATX_UNDEFINED
#define NC_FORMATX_ZARR      NC_FORMATX_NCZARR

/* ---- Special arguments and limits ---- */

#define NC_SIZEHINT_DEFAULT 0            /* nc__create, nc__open: choose the buffer size */
#define NC_ALIGN_CHUNK ((size_t)(-1))    /* nc__enddef: align to the buffer size */
#define NC_UNLIMITED 0L                  /* nc_def_dim: the dimension can grow */
#define NC_GLOBAL -1                     /* in place of a variable: the group itself */

#define NC_MAX_DIMS     1024             /* not a limit any more, kept for arrays in old programs */
#define NC_MAX_ATTRS    8192             /* likewise */
#define NC_MAX_VARS     8192             /* likewise */
#define NC_MAX_NAME     256              /* bytes of a name, without the zero at its end */
#define NC_MAX_VAR_DIMS 1024             /* dimensions of one variable */
#define NC_MAX_HDF4_NAME NC_MAX_NAME

/* ---- Storage of netCDF-4 variables ---- */

#define NC_ENDIAN_NATIVE 0               /* nc_def_var_endian: the byte order of this machine */
#define NC_ENDIAN_LITTLE 1
#define NC_ENDIAN_BIG    2

#define NC_CHUNKED         0             /* nc_def_var_chunking */
#define NC_CONTIGUOUS      1
#define NC_COMPACT         2             /* inside the header */
#define NC_UNKNOWN_STORAGE 3
#define NC_VIRTUAL         4             /* made of pieces of other files */

#define NC_NOCHECKSUM 0                  /* nc_def_var_fletcher32 */
#define NC_FLETCHER32 1

#define NC_NOSHUFFLE 0                   /* nc_def_var_deflate */
#define NC_SHUFFLE   1
#define NC_MIN_DEFLATE_LEVEL 0
#define NC_MAX_DEFLATE_LEVEL 9

#define NC_SZIP_NN 32                    /* nc_def_var_szip: nearest neighbour coding */
#define NC_SZIP_EC 4                     /* nc_def_var_szip: entropy coding */

#define NC_NOQUANTIZE 0                  /* nc_def_var_quantize */
#define NC_QUANTIZE_BITGROOM 1
#define NC_QUANTIZE_GRANULARBR 2
#define NC_QUANTIZE_BITROUND 3

/* The attribute in which each of them leaves its number of digits or bits. */
#define NC_QUANTIZE_BITGROOM_ATT_NAME "_QuantizeBitGroomNumberOfSignificantDigits"
#define NC_QUANTIZE_GRANULARBR_ATT_NAME "_QuantizeGranularBitRoundNumberOfSignificantDigits"
#define NC_QUANTIZE_BITROUND_ATT_NAME "_QuantizeBitRoundNumberOfSignificantBits"

/* The most digits (NSD) and bits (NSB) that can be asked for. */
#define NC_QUANTIZE_MAX_FLOAT_NSD (6)
#define NC_QUANTIZE_MAX_FLOAT_NSB (23)
#define NC_QUANTIZE_MAX_DOUBLE_NSD (15)
#define NC_QUANTIZE_MAX_DOUBLE_NSB (52)

/* ---- Error codes ---- */

#define NC_ISSYSERR(err)  ((err) > 0)    /* whether a code is an errno of the system */

#define NC_NOERR          0      /* all is well */
#define NC2_ERR           (-1)   /* any error of a version 2 function */
#define NC_EBADID         (-33)  /* not the id of an open dataset */
#define NC_ENFILE         (-34)  /* too many open datasets */
#define NC_EEXIST         (-35)  /* the file is there, and NC_NOCLOBBER was given */
#define NC_EINVAL         (-36)  /* bad argument */
#define NC_EPERM          (-37)  /* write to what is open for reading */
#define NC_ENOTINDEFINE   (-38)  /* needs define mode */
#define NC_EINDEFINE      (-39)  /* needs data mode */
#define NC_EINVALCOORDS   (-40)  /* start past the end of a dimension */
#define NC_EMAXDIMS       (-41)  /* too many dimensions */
#define NC_ENAMEINUSE     (-42)  /* the name is taken */
#define NC_ENOTATT        (-43)  /* no such attribute */
#define NC_EMAXATTS       (-44)  /* too many attributes */
#define NC_EBADTYPE       (-45)  /* no such type */
#define NC_EBADDIM        (-46)  /* no such dimension */
#define NC_EUNLIMPOS      (-47)  /* the unlimited dimension is not the first */
#define NC_EMAXVARS       (-48)  /* too many variables */
#define NC_ENOTVAR        (-49)  /* no such variable */
#define NC_EGLOBAL        (-50)  /* not with NC_GLOBAL */
#define NC_ENOTNC         (-51)  /* no netCDF file */
#define NC_ESTS           (-52)  /* a Fortran string is too short */
#define NC_EMAXNAME       (-53)  /* the name is too long */
#define NC_EUNLIMIT       (-54)  /* a second unlimited dimension */
#define NC_ENORECVARS     (-55)  /* no record variables */
#define NC_ECHAR          (-56)  /* text and numbers do not mix */
#define NC_EEDGE          (-57)  /* start and count pass the end of a dimension */
#define NC_ESTRIDE        (-58)  /* bad stride */
#define NC_EBADNAME       (-59)  /* a character that names cannot have */
#define NC_ERANGE         (-60)  /* some values do not fit; the others were converted */
#define NC_ENOMEM         (-61)  /* out of memory */
#define NC_EVARSIZE       (-62)  /* a variable is too big for the format */
#define NC_EDIMSIZE       (-63)  /* bad length of a dimension */
#define NC_ETRUNC         (-64)  /* the file is cut off or damaged */
#define NC_EAXISTYPE      (-65)  /* unknown type of axis */
#define NC_EDAP           (-66)  /* DAP */
#define NC_ECURL          (-67)  /* network transfer */
#define NC_EIO            (-68)  /* input or output */
#define NC_ENODATA        (-69)  /* the variable has no data */
#define NC_EDAPSVC        (-70)  /* DAP: answer of the server */
#define NC_EDAS           (-71)  /* DAP: attributes */
#define NC_EDDS           (-72)  /* DAP: structure */
#define NC_EDMR           NC_EDDS
#define NC_EDATADDS       (-73)  /* DAP: data */
#define NC_EDATADAP       NC_EDATADDS
#define NC_EDAPURL        (-74)  /* bad URL */
#define NC_EDAPCONSTRAINT (-75)  /* bad constraint in a URL */
#define NC_ETRANSLATION   (-76)  /* has no counterpart in netCDF */
#define NC_EACCESS        (-77)  /* no access */
#define NC_EAUTH          (-78)  /* who are you? */
#define NC_ENOTFOUND      (-90)  /* no such file */
#define NC_ECANTREMOVE    (-91)  /* the file cannot be removed */
#define NC_EINTERNAL      (-92)  /* a defect of the library */
#define NC_EPNETCDF       (-93)  /* PnetCDF */
#define NC4_FIRST_ERROR   (-100)
#define NC_EHDFERR        (-101) /* HDF5 */
#define NC_ECANTREAD      (-102) /* cannot read */
#define NC_ECANTWRITE     (-103) /* cannot write */
#define NC_ECANTCREATE    (-104) /* cannot create */
#define NC_EFILEMETA      (-105) /* metadata of the file */
#define NC_EDIMMETA       (-106) /* metadata of a dimension */
#define NC_EATTMETA       (-107) /* metadata of an attribute */
#define NC_EVARMETA       (-108) /* metadata of a variable */
#define NC_ENOCOMPOUND    (-109) /* no compound type */
#define NC_EATTEXISTS     (-110) /* the attribute is there */
#define NC_ENOTNC4        (-111) /* needs a netCDF-4 file */
#define NC_ESTRICTNC3     (-112) /* the file keeps to the classic model */
#define NC_ENOTNC3        (-113) /* needs a classic file */
#define NC_ENOPAR         (-114) /* the file is not open for parallel work */
#define NC_EPARINIT       (-115) /* parallel work cannot start */
#define NC_EBADGRPID      (-116) /* no such group */
#define NC_EBADTYPID      (-117) /* no such type */
#define NC_ETYPDEFINED    (-118) /* the type is finished */
#define NC_EBADFIELD      (-119) /* no such field */
#define NC_EBADCLASS      (-120) /* wrong class of type */
#define NC_EMAPTYPE       (-121) /* maps need an atomic type */
#define NC_ELATEFILL      (-122) /* fill value after data */
#define NC_ELATEDEF       (-123) /* storage after define mode */
#define NC_EDIMSCALE      (-124) /* dimension scales */
#define NC_ENOGRP         (-125) /* no group of that name */
#define NC_ESTORAGE       (-126) /* contiguous and chunked at once */
#define NC_EBADCHUNK      (-127) /* bad chunk size */
#define NC_ENOTBUILT      (-128) /* this library was built without it */
#define NC_EDISKLESS      (-129) /* file in memory */
#define NC_ECANTEXTEND    (-130) /* growth while processes work on their own */
#define NC_EMPI           (-131) /* MPI */
#define NC_EFILTER        (-132) /* a filter failed */
#define NC_ERCFILE        (-133) /* the .rc file */
#define NC_ENULLPAD       (-134) /* the header is not padded with zeros */
#define NC_EINMEMORY      (-135) /* block of memory */
#define NC_ENOFILTER      (-136) /* no such filter */
#define NC_ENCZARR        (-137) /* NCZarr */
#define NC_ES3            (-138) /* S3 */
#define NC_EEMPTY         (-139) /* a key without content */
#define NC_EOBJECT        (-140) /* an object is there that should not be */
#define NC_ENOOBJECT      (-141) /* an object is not there */
#define NC_EPLUGIN        (-142) /* a plugin */
#define NC_ENOTZARR       (-143) /* no Zarr store */
#define NC_EZARRMETA      (-144) /* consolidated metadata of a Zarr store */
#define NC4_LAST_ERROR    (-144)
#define NC_EURL           (NC_EDAPURL)
#define NC_ECONSTRAINT    (NC_EDAPCONSTRAINT)

/* What names a dimension scale of HDF5 that is no variable. */
#define DIM_WITHOUT_VARIABLE "This is a netCDF dimension but not a netCDF variable."

#define NC_HAVE_NEW_CHUNKING_API 1       /* chunk sizes are size_t, and have been since 4.0 */

/* How a name is fetched from a DLL; nothing elsewhere. */
#if defined(DLL_NETCDF)
#  if defined(DLL_EXPORT)
#    define MSC_EXTRA __declspec(dllexport)
#  else
#    define MSC_EXTRA __declspec(dllimport)
#  endif
#  include <io.h>
#else
#define MSC_EXTRA
#endif

#define EXTERNL MSC_EXTRA extern

/* ---- The library ---- */

/* The version, its date after " of ": "4.10.1 of Jan 1 2026 00:00:00 $". The text is the library's. */
EXTERNL const char *
nc_inq_libvers(void);

/* What a code means, as text of the library's. */
EXTERNL const char *
nc_strerror(int ncerr);

/* Makes the library ready. Any other call does so too. */
EXTERNL int nc_initialize(void);

/* Gives back what the library holds, for leak checkers. */
EXTERNL int nc_finalize(void);

/* How much the library says on stderr, 0 (errors) to 5, or NC_TURN_OFF_LOGGING. */
EXTERNL int
nc_set_log_level(int new_level);

#define NC_TURN_OFF_LOGGING (-1)

/* The value of a key of the .rc file, or NULL. The caller frees it. */
EXTERNL char *nc_rc_get(const char *key);

/* Sets a key of the .rc file for this process. */
EXTERNL int nc_rc_set(const char *key, const char *value);

/* ---- Formats that a program brings along ---- */

/* The table of functions that makes up a format: netcdf_dispatch.h. */
typedef struct NC_Dispatch NC_Dispatch;

/* Adds a format under one of the modes NC_UDF0 to NC_UDF9. Files that start with the magic number are opened by
   it. */
EXTERNL int
nc_def_user_format(int mode_flag, NC_Dispatch *dispatch_table, char *magic_number);

/* The table and magic number of such a mode. */
EXTERNL int
nc_inq_user_format(int mode_flag, NC_Dispatch **dispatch_table, char *magic_number);

/* ---- Files ---- */

/* Makes a dataset, and leaves it open in define mode. */
EXTERNL int
nc_create(const char *path, int cmode, int *ncidp);

/* The same, with the first size of the file and the size of buffers. */
EXTERNL int
nc__create(const char *path, int cmode, size_t initialsz, size_t *chunksizehintp, int *ncidp);

/* Opens a dataset. Its content tells the format, not its name. */
EXTERNL int
nc_open(const char *path, int mode, int *ncidp);

/* The same, with the size of buffers. */
EXTERNL int
nc__open(const char *path, int mode, size_t *chunksizehintp, int *ncidp);

/* The path a dataset was opened with, and its length. */
EXTERNL int
nc_inq_path(int ncid, size_t *pathlen, char *path);

/* Enters define mode. */
EXTERNL int
nc_redef(int ncid);

/* Leaves define mode; what was defined goes to the file. */
EXTERNL int
nc_enddef(int ncid);

/* The same; for classic files with spare room in the header and behind the fixed data, and alignment of both
   parts. */
EXTERNL int
nc__enddef(int ncid, size_t h_minfree, size_t v_align, size_t v_minfree, size_t r_align);

/* Writes out what is held back. */
EXTERNL int
nc_sync(int ncid);

/* Closes, and undoes definitions that nc_enddef has not ended; a dataset just made is deleted. */
EXTERNL int
nc_abort(int ncid);

/* Closes. */
EXTERNL int
nc_close(int ncid);

/* Deletes a dataset. */
EXTERNL int
nc_delete(const char *path);

/* Whether elements never written become fill values; gives the mode before. */
EXTERNL int
nc_set_fill(int ncid, int fillmode, int *old_modep);

/* The format of nc_create without a format in its mode; gives the one before. */
EXTERNL int
nc_set_default_format(int format, int *old_formatp);

/* Numbers of dimensions, variables and attributes, and the unlimited dimension, or -1. */
EXTERNL int
nc_inq(int ncid, int *ndimsp, int *nvarsp, int *nattsp, int *unlimdimidp);

/* How many dimensions there are. */
EXTERNL int
nc_inq_ndims(int ncid, int *ndimsp);

/* How many variables there are. */
EXTERNL int
nc_inq_nvars(int ncid, int *nvarsp);

/* How many attributes the group has. */
EXTERNL int
nc_inq_natts(int ncid, int *nattsp);

/* The unlimited dimension, or -1; the first one made, if there are several. */
EXTERNL int
nc_inq_unlimdim(int ncid, int *unlimdimidp);

/* All unlimited dimensions. */
EXTERNL int
nc_inq_unlimdims(int ncid, int *nunlimdimsp, int *unlimdimidsp);

/* One of NC_FORMAT_CLASSIC and its kin. */
EXTERNL int
nc_inq_format(int ncid, int *formatp);

/* One of NC_FORMATX_NC3 and its kin, and the modes in effect. */
EXTERNL int
nc_inq_format_extended(int ncid, int *formatp, int *modep);

/* Prints what the library knows of a dataset, for debugging. */
EXTERNL int
nc_show_metadata(int ncid);

/* ---- Groups ---- */

/* The id of a child group, by name; the group's own for the name NULL. */
EXTERNL int
nc_inq_ncid(int ncid, const char *name, int *grp_ncid);

/* Child groups. */
EXTERNL int
nc_inq_grps(int ncid, int *numgrps, int *ncids);

/* Name of a group, without its parents. */
EXTERNL int
nc_inq_grpname(int ncid, char *name);

/* Name of a group from the root on, and its length. */
EXTERNL int
nc_inq_grpname_full(int ncid, size_t *lenp, char *full_name);

/* Length of the full name. */
EXTERNL int
nc_inq_grpname_len(int ncid, size_t *lenp);

/* The group around a group; NC_ENOGRP for the root. */
EXTERNL int
nc_inq_grp_parent(int ncid, int *parent_ncid);

/* The id of a child group, by name. */
EXTERNL int
nc_inq_grp_ncid(int ncid, const char *grp_name, int *grp_ncid);

/* The id of a group, by its full name. */
EXTERNL int
nc_inq_grp_full_ncid(int ncid, const char *full_name, int *grp_ncid);

/* Variables of a group. */
EXTERNL int
nc_inq_varids(int ncid, int *nvars, int *varids);

/* Dimensions of a group, and of those around it if wanted. */
EXTERNL int
nc_inq_dimids(int ncid, int *ndims, int *dimids, int include_parents);

/* Types that a group defines. */
EXTERNL int
nc_inq_typeids(int ncid, int *ntypes, int *typeids);

/* Whether two types, of two files maybe, are alike. */
EXTERNL int
nc_inq_type_equal(int ncid1, nc_type typeid1, int ncid2, nc_type typeid2, int *equal);

/* Makes a group. */
EXTERNL int
nc_def_grp(int parent_ncid, const char *name, int *new_ncid);

/* Names a group anew. */
EXTERNL int
nc_rename_grp(int grpid, const char *name);

/* ---- Types ---- */

/* Name of any type, and its bytes in memory. */
EXTERNL int
nc_inq_type(int ncid, nc_type xtype, char *name, size_t *size);

/* A type by its name. */
EXTERNL int
nc_inq_typeid(int ncid, const char *name, nc_type *typeidp);

/* All that there is to say of a type that the file defines. */
EXTERNL int
nc_inq_user_type(int ncid, nc_type xtype, char *name, size_t *size, nc_type *base_nc_typep, size_t *nfieldsp, int
    *classp);

/* ---- Types: compounds ---- */

/* Where a field lies in a struct. */
#define NC_COMPOUND_OFFSET(S, M)    (offsetof(S, M))

/* Makes a compound type of the given bytes. */
EXTERNL int
nc_def_compound(int ncid, size_t size, const char *name, nc_type *typeidp);

/* Adds a field. */
EXTERNL int
nc_insert_compound(int ncid, nc_type xtype, const char *name, size_t offset, nc_type field_typeid);

/* Adds a field that is an array. */
EXTERNL int
nc_insert_array_compound(int ncid, nc_type xtype, const char *name, size_t offset, nc_type field_typeid, int ndims,
    const int *dim_sizes);

/* Name, bytes and number of fields. */
EXTERNL int
nc_inq_compound(int ncid, nc_type xtype, char *name, size_t *sizep, size_t *nfieldsp);

/* Name. */
EXTERNL int
nc_inq_compound_name(int ncid, nc_type xtype, char *name);

/* Bytes. */
EXTERNL int
nc_inq_compound_size(int ncid, nc_type xtype, size_t *sizep);

/* Number of fields. */
EXTERNL int
nc_inq_compound_nfields(int ncid, nc_type xtype, size_t *nfieldsp);

/* All that there is to say of a field. */
EXTERNL int
nc_inq_compound_field(int ncid, nc_type xtype, int fieldid, char *name, size_t *offsetp, nc_type *field_typeidp, int
    *ndimsp, int *dim_sizesp);

/* A field's name. */
EXTERNL int
nc_inq_compound_fieldname(int ncid, nc_type xtype, int fieldid, char *name);

/* A field's number, by name. */
EXTERNL int
nc_inq_compound_fieldindex(int ncid, nc_type xtype, const char *name, int *fieldidp);

/* Where a field starts. */
EXTERNL int
nc_inq_compound_fieldoffset(int ncid, nc_type xtype, int fieldid, size_t *offsetp);

/* A field's type. */
EXTERNL int
nc_inq_compound_fieldtype(int ncid, nc_type xtype, int fieldid, nc_type *field_typeidp);

/* A field's number of dimensions; 0 for a single value. */
EXTERNL int
nc_inq_compound_fieldndims(int ncid, nc_type xtype, int fieldid, int *ndimsp);

/* A field's dimensions. */
EXTERNL int
nc_inq_compound_fielddim_sizes(int ncid, nc_type xtype, int fieldid, int *dim_sizes);

/* ---- Types: sequences of varying length ---- */

/* One such sequence in memory. */
typedef struct {
    size_t len; /* elements */
    void *p;    /* the first of them; from malloc where the library made it */
} nc_vlen_t;

/* Makes a type of sequences. */
EXTERNL int
nc_def_vlen(int ncid, const char *name, nc_type base_typeid, nc_type *xtypep);

/* Name, bytes of an nc_vlen_t, and type of the elements. */
EXTERNL int
nc_inq_vlen(int ncid, nc_type xtype, char *name, size_t *datum_sizep, nc_type *base_nc_typep);

/* Sets a sequence in memory. */
EXTERNL int
nc_put_vlen_element(int ncid, int typeid1, void *vlen_element, size_t len, const void *data);

/* Reads a sequence in memory. */
EXTERNL int
nc_get_vlen_element(int ncid, int typeid1, const void *vlen_element, size_t *len, void *data);

/* ---- Types: enumerations ---- */

/* The name that nc_inq_enum_ident gives to a zero that has none. */
#define NC_UNDEFINED_ENUM_IDENT "_UNDEFINED"

/* Makes an enumeration over an integer type. */
EXTERNL int
nc_def_enum(int ncid, nc_type base_typeid, const char *name, nc_type *typeidp);

/* Adds a member. */
EXTERNL int
nc_insert_enum(int ncid, nc_type xtype, const char *name, const void *value);

/* Name, integer type with its bytes, and number of members. */
EXTERNL int
nc_inq_enum(int ncid, nc_type xtype, char *name, nc_type *base_nc_typep, size_t *base_sizep, size_t *num_membersp);

/* A member's name and value, by its number. */
EXTERNL int
nc_inq_enum_member(int ncid, nc_type xtype, int idx, char *name, void *value);

/* A member's name, by its value. */
EXTERNL int
nc_inq_enum_ident(int ncid, nc_type xtype, long long value, char *identifier);

/* ---- Types: opaque bytes ---- */

/* Makes a type of so many bytes without meaning. */
EXTERNL int
nc_def_opaque(int ncid, size_t size, const char *name, nc_type *xtypep);

/* Name and bytes. */
EXTERNL int
nc_inq_opaque(int ncid, nc_type xtype, char *name, size_t *sizep);

/* ---- Dimensions ---- */

/* Makes a dimension; the length NC_UNLIMITED lets it grow. */
EXTERNL int
nc_def_dim(int ncid, const char *name, size_t len, int *idp);

/* A dimension by its name. */
EXTERNL int
nc_inq_dimid(int ncid, const char *name, int *idp);

/* Name and length; of an unlimited dimension, its length so far. */
EXTERNL int
nc_inq_dim(int ncid, int dimid, char *name, size_t *lenp);

/* Name. */
EXTERNL int
nc_inq_dimname(int ncid, int dimid, char *name);

/* Length. */
EXTERNL int
nc_inq_dimlen(int ncid, int dimid, size_t *lenp);

/* Names a dimension anew. */
EXTERNL int
nc_rename_dim(int ncid, int dimid, const char *name);

/* ---- Variables ---- */

/* Makes a variable. */
EXTERNL int
nc_def_var(int ncid, const char *name, nc_type xtype, int ndims, const int *dimidsp, int *varidp);

/* All that the classic model says of a variable. */
EXTERNL int
nc_inq_var(int ncid, int varid, char *name, nc_type *xtypep, int *ndimsp, int *dimidsp, int *nattsp);

/* A variable by its name. */
EXTERNL int
nc_inq_varid(int ncid, const char *name, int *varidp);

/* Name. */
EXTERNL int
nc_inq_varname(int ncid, int varid, char *name);

/* Type. */
EXTERNL int
nc_inq_vartype(int ncid, int varid, nc_type *xtypep);

/* Number of dimensions. */
EXTERNL int
nc_inq_varndims(int ncid, int varid, int *ndimsp);

/* Dimensions. */
EXTERNL int
nc_inq_vardimid(int ncid, int varid, int *dimidsp);

/* Number of attributes. */
EXTERNL int
nc_inq_varnatts(int ncid, int varid, int *nattsp);

/* Names a variable anew. */
EXTERNL int
nc_rename_var(int ncid, int varid, const char *name);

/* Copies a variable, its attributes and its data to another dataset. */
EXTERNL int
nc_copy_var(int ncid_in, int varid, int ncid_out);

/* The fill value, or that there is none. */
EXTERNL int
nc_def_var_fill(int ncid, int varid, int no_fill, const void *fill_value);

/* Likewise, to ask. */
EXTERNL int
nc_inq_var_fill(int ncid, int varid, int *no_fill, void *fill_valuep);

/* ---- Variables: storage in netCDF-4 files ---- */

/* Rounds floating point data as they are written, to so many digits or bits. */
EXTERNL int
nc_def_var_quantize(int ncid, int varid, int quantize_mode, int nsd);

/* Likewise, to ask. */
EXTERNL int
nc_inq_var_quantize(int ncid, int varid, int *quantize_modep, int *nsdp);

/* Shuffles bytes, and compresses with deflate. */
EXTERNL int
nc_def_var_deflate(int ncid, int varid, int shuffle, int deflate, int deflate_level);

/* Likewise, to ask. */
EXTERNL int
nc_inq_var_deflate(int ncid, int varid, int *shufflep, int *deflatep, int *deflate_levelp);

/* Compresses with szip. */
EXTERNL int nc_def_var_szip(int ncid, int varid, int options_mask, int pixels_per_block);

/* Likewise, to ask; both 0 without szip. */
EXTERNL int
nc_inq_var_szip(int ncid, int varid, int *options_maskp, int *pixels_per_blockp);

/* Keeps a checksum of each chunk. */
EXTERNL int
nc_def_var_fletcher32(int ncid, int varid, int fletcher32);

/* Likewise, to ask. */
EXTERNL int
nc_inq_var_fletcher32(int ncid, int varid, int *fletcher32p);

/* Contiguous, compact or chunked, and the shape of a chunk. */
EXTERNL int
nc_def_var_chunking(int ncid, int varid, int storage, const size_t *chunksizesp);

/* Likewise, to ask. */
EXTERNL int
nc_inq_var_chunking(int ncid, int varid, int *storagep, size_t *chunksizesp);

/* Byte order in the file. */
EXTERNL int
nc_def_var_endian(int ncid, int varid, int endian);

/* Likewise, to ask. */
EXTERNL int
nc_inq_var_endian(int ncid, int varid, int *endianp);

/* Adds a filter by its HDF5 id; netcdf_filter.h has the rest. */
EXTERNL int
nc_def_var_filter(int ncid, int varid, unsigned int id, size_t nparams, const unsigned int *params);

/* The first filter; id 0 without filters. */
EXTERNL int
nc_inq_var_filter(int ncid, int varid, unsigned int *idp, size_t *nparams, unsigned int *params);

/* The chunk cache of files opened from now on: bytes, slots, and how soon finished chunks leave (0 to 1). */
EXTERNL int
nc_set_chunk_cache(size_t size, size_t nelems, float preemption);

/* Likewise, to ask. */
EXTERNL int
nc_get_chunk_cache(size_t *sizep, size_t *nelemsp, float *preemptionp);

/* The chunk cache of one variable. */
EXTERNL int
nc_set_var_chunk_cache(int ncid, int varid, size_t size, size_t nelems, float preemption);

/* Likewise, to ask. */
EXTERNL int
nc_get_var_chunk_cache(int ncid, int varid, size_t *sizep, size_t *nelemsp, float *preemptionp);

/* In files made from now on, objects of at least so many bytes start at multiples of the second number. */
EXTERNL int
nc_set_alignment(int threshold, int alignment);

/* Likewise, to ask. */
EXTERNL int
nc_get_alignment(int *thresholdp, int *alignmentp);

/* Metadata of files made from now on come in blocks of at least so many bytes. */
EXTERNL int
nc_set_meta_block_size(size_t size);

/* Likewise, to ask. */
EXTERNL int
nc_get_meta_block_size(size_t *sizep);

/* ---- Attributes ---- */

/* Type and length. */
EXTERNL int
nc_inq_att(int ncid, int varid, const char *name, nc_type *xtypep, size_t *lenp);

/* Number of an attribute, by its name. */
EXTERNL int
nc_inq_attid(int ncid, int varid, const char *name, int *idp);

/* Type. */
EXTERNL int
nc_inq_atttype(int ncid, int varid, const char *name, nc_type *xtypep);

/* Length: values, or bytes of text. */
EXTERNL int
nc_inq_attlen(int ncid, int varid, const char *name, size_t *lenp);

/* Name, by number. */
EXTERNL int
nc_inq_attname(int ncid, int varid, int attnum, char *name);

/* Copies an attribute to another variable, in the same dataset or another. */
EXTERNL int
nc_copy_att(int ncid_in, int varid_in, const char *name, int ncid_out, int varid_out);

/* Names an attribute anew. */
EXTERNL int
nc_rename_att(int ncid, int varid, const char *name, const char *newname);

/* Deletes an attribute. */
EXTERNL int
nc_del_att(int ncid, int varid, const char *name);

/* ---- Attributes: whole values ---- */

/* Values go in and come out whole. nc_put_att and nc_get_att hand over memory of the attribute's own type; the others
   convert between numbers, and give NC_ERANGE where some do not fit. The type given to a typed put is the type in the
   file. */
EXTERNL int
nc_put_att(int ncid, int varid, const char *name, nc_type xtype, size_t len, const void *op);
EXTERNL int
nc_get_att(int ncid, int varid, const char *name, void *ip);
EXTERNL int
nc_put_att_text(int ncid, int varid, const char *name, size_t len, const char *op);
EXTERNL int
nc_get_att_text(int ncid, int varid, const char *name, char *ip);
EXTERNL int
nc_put_att_schar(int ncid, int varid, const char *name, nc_type xtype, size_t len, const signed char *op);
EXTERNL int
nc_get_att_schar(int ncid, int varid, const char *name, signed char *ip);
EXTERNL int
nc_put_att_uchar(int ncid, int varid, const char *name, nc_type xtype, size_t len, const unsigned char *op);
EXTERNL int
nc_get_att_uchar(int ncid, int varid, const char *name, unsigned char *ip);
EXTERNL int
nc_put_att_short(int ncid, int varid, const char *name, nc_type xtype, size_t len, const short *op);
EXTERNL int
nc_get_att_short(int ncid, int varid, const char *name, short *ip);
EXTERNL int
nc_put_att_int(int ncid, int varid, const char *name, nc_type xtype, size_t len, const int *op);
EXTERNL int
nc_get_att_int(int ncid, int varid, const char *name, int *ip);
EXTERNL int
nc_put_att_long(int ncid, int varid, const char *name, nc_type xtype, size_t len, const long *op);
EXTERNL int
nc_get_att_long(int ncid, int varid, const char *name, long *ip);
EXTERNL int
nc_put_att_float(int ncid, int varid, const char *name, nc_type xtype, size_t len, const float *op);
EXTERNL int
nc_get_att_float(int ncid, int varid, const char *name, float *ip);
EXTERNL int
nc_put_att_double(int ncid, int varid, const char *name, nc_type xtype, size_t len, const double *op);
EXTERNL int
nc_get_att_double(int ncid, int varid, const char *name, double *ip);
EXTERNL int
nc_put_att_ushort(int ncid, int varid, const char *name, nc_type xtype, size_t len, const unsigned short *op);
EXTERNL int
nc_get_att_ushort(int ncid, int varid, const char *name, unsigned short *ip);
EXTERNL int
nc_put_att_uint(int ncid, int varid, const char *name, nc_type xtype, size_t len, const unsigned int *op);
EXTERNL int
nc_get_att_uint(int ncid, int varid, const char *name, unsigned int *ip);
EXTERNL int
nc_put_att_longlong(int ncid, int varid, const char *name, nc_type xtype, size_t len, const long long *op);
EXTERNL int
nc_get_att_longlong(int ncid, int varid, const char *name, long long *ip);
EXTERNL int
nc_put_att_ulonglong(int ncid, int varid, const char *name, nc_type xtype, size_t len, const unsigned long long *op);
EXTERNL int
nc_get_att_ulonglong(int ncid, int varid, const char *name, unsigned long long *ip);
EXTERNL int
nc_put_att_string(int ncid, int varid, const char *name, size_t len, const char **op);
EXTERNL int
nc_get_att_string(int ncid, int varid, const char *name, char **ip);
EXTERNL int
nc_put_att_ubyte(int ncid, int varid, const char *name, nc_type xtype, size_t len, const unsigned char *op);
EXTERNL int
nc_get_att_ubyte(int ncid, int varid, const char *name, unsigned char *ip);

/* ---- Data: one element ---- */

/* The element at an index. As with all data functions: those without a type in their name hand over memory of the
   variable's own type, those with one convert. */
EXTERNL int
nc_put_var1(int ncid, int varid, const size_t *indexp, const void *op);
EXTERNL int
nc_get_var1(int ncid, int varid, const size_t *indexp, void *ip);
EXTERNL int
nc_put_var1_text(int ncid, int varid, const size_t *indexp, const char *op);
EXTERNL int
nc_get_var1_text(int ncid, int varid, const size_t *indexp, char *ip);
EXTERNL int
nc_put_var1_schar(int ncid, int varid, const size_t *indexp, const signed char *op);
EXTERNL int
nc_get_var1_schar(int ncid, int varid, const size_t *indexp, signed char *ip);
EXTERNL int
nc_put_var1_uchar(int ncid, int varid, const size_t *indexp, const unsigned char *op);
EXTERNL int
nc_get_var1_uchar(int ncid, int varid, const size_t *indexp, unsigned char *ip);
EXTERNL int
nc_put_var1_short(int ncid, int varid, const size_t *indexp, const short *op);
EXTERNL int
nc_get_var1_short(int ncid, int varid, const size_t *indexp, short *ip);
EXTERNL int
nc_put_var1_int(int ncid, int varid, const size_t *indexp, const int *op);
EXTERNL int
nc_get_var1_int(int ncid, int varid, const size_t *indexp, int *ip);
EXTERNL int
nc_put_var1_long(int ncid, int varid, const size_t *indexp, const long *op);
EXTERNL int
nc_get_var1_long(int ncid, int varid, const size_t *indexp, long *ip);
EXTERNL int
nc_put_var1_float(int ncid, int varid, const size_t *indexp, const float *op);
EXTERNL int
nc_get_var1_float(int ncid, int varid, const size_t *indexp, float *ip);
EXTERNL int
nc_put_var1_double(int ncid, int varid, const size_t *indexp, const double *op);
EXTERNL int
nc_get_var1_double(int ncid, int varid, const size_t *indexp, double *ip);
EXTERNL int
nc_put_var1_ushort(int ncid, int varid, const size_t *indexp, const unsigned short *op);
EXTERNL int
nc_get_var1_ushort(int ncid, int varid, const size_t *indexp, unsigned short *ip);
EXTERNL int
nc_put_var1_uint(int ncid, int varid, const size_t *indexp, const unsigned int *op);
EXTERNL int
nc_get_var1_uint(int ncid, int varid, const size_t *indexp, unsigned int *ip);
EXTERNL int
nc_put_var1_longlong(int ncid, int varid, const size_t *indexp, const long long *op);
EXTERNL int
nc_get_var1_longlong(int ncid, int varid, const size_t *indexp, long long *ip);
EXTERNL int
nc_put_var1_ulonglong(int ncid, int varid, const size_t *indexp, const unsigned long long *op);
EXTERNL int
nc_get_var1_ulonglong(int ncid, int varid, const size_t *indexp, unsigned long long *ip);
EXTERNL int
nc_put_var1_string(int ncid, int varid, const size_t *indexp, const char **op);
EXTERNL int
nc_get_var1_string(int ncid, int varid, const size_t *indexp, char **ip);
EXTERNL int
nc_put_var1_ubyte(int ncid, int varid, const size_t *indexp, const unsigned char *op);
EXTERNL int
nc_get_var1_ubyte(int ncid, int varid, const size_t *indexp, unsigned char *ip);

/* ---- Data: a box ---- */

/* count elements along each dimension, from start on. */
EXTERNL int
nc_put_vara(int ncid, int varid, const size_t *startp, const size_t *countp, const void *op);
EXTERNL int
nc_get_vara(int ncid, int varid, const size_t *startp, const size_t *countp, void *ip);
EXTERNL int
nc_put_vara_text(int ncid, int varid, const size_t *startp, const size_t *countp, const char *op);
EXTERNL int
nc_get_vara_text(int ncid, int varid, const size_t *startp, const size_t *countp, char *ip);
EXTERNL int
nc_put_vara_schar(int ncid, int varid, const size_t *startp, const size_t *countp, const signed char *op);
EXTERNL int
nc_get_vara_schar(int ncid, int varid, const size_t *startp, const size_t *countp, signed char *ip);
EXTERNL int
nc_put_vara_uchar(int ncid, int varid, const size_t *startp, const size_t *countp, const unsigned char *op);
EXTERNL int
nc_get_vara_uchar(int ncid, int varid, const size_t *startp, const size_t *countp, unsigned char *ip);
EXTERNL int
nc_put_vara_short(int ncid, int varid, const size_t *startp, const size_t *countp, const short *op);
EXTERNL int
nc_get_vara_short(int ncid, int varid, const size_t *startp, const size_t *countp, short *ip);
EXTERNL int
nc_put_vara_int(int ncid, int varid, const size_t *startp, const size_t *countp, const int *op);
EXTERNL int
nc_get_vara_int(int ncid, int varid, const size_t *startp, const size_t *countp, int *ip);
EXTERNL int
nc_put_vara_long(int ncid, int varid, const size_t *startp, const size_t *countp, const long *op);
EXTERNL int
nc_get_vara_long(int ncid, int varid, const size_t *startp, const size_t *countp, long *ip);
EXTERNL int
nc_put_vara_float(int ncid, int varid, const size_t *startp, const size_t *countp, const float *op);
EXTERNL int
nc_get_vara_float(int ncid, int varid, const size_t *startp, const size_t *countp, float *ip);
EXTERNL int
nc_put_vara_double(int ncid, int varid, const size_t *startp, const size_t *countp, const double *op);
EXTERNL int
nc_get_vara_double(int ncid, int varid, const size_t *startp, const size_t *countp, double *ip);
EXTERNL int
nc_put_vara_ushort(int ncid, int varid, const size_t *startp, const size_t *countp, const unsigned short *op);
EXTERNL int
nc_get_vara_ushort(int ncid, int varid, const size_t *startp, const size_t *countp, unsigned short *ip);
EXTERNL int
nc_put_vara_uint(int ncid, int varid, const size_t *startp, const size_t *countp, const unsigned int *op);
EXTERNL int
nc_get_vara_uint(int ncid, int varid, const size_t *startp, const size_t *countp, unsigned int *ip);
EXTERNL int
nc_put_vara_longlong(int ncid, int varid, const size_t *startp, const size_t *countp, const long long *op);
EXTERNL int
nc_get_vara_longlong(int ncid, int varid, const size_t *startp, const size_t *countp, long long *ip);
EXTERNL int
nc_put_vara_ulonglong(int ncid, int varid, const size_t *startp, const size_t *countp, const unsigned long long *op);
EXTERNL int
nc_get_vara_ulonglong(int ncid, int varid, const size_t *startp, const size_t *countp, unsigned long long *ip);
EXTERNL int
nc_put_vara_string(int ncid, int varid, const size_t *startp, const size_t *countp, const char **op);
EXTERNL int
nc_get_vara_string(int ncid, int varid, const size_t *startp, const size_t *countp, char **ip);
EXTERNL int
nc_put_vara_ubyte(int ncid, int varid, const size_t *startp, const size_t *countp, const unsigned char *op);
EXTERNL int
nc_get_vara_ubyte(int ncid, int varid, const size_t *startp, const size_t *countp, unsigned char *ip);

/* ---- Data: every so many ---- */

/* As a box, with a stride along each dimension; NULL is 1. */
EXTERNL int
nc_put_vars(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const void
    *op);
EXTERNL int
nc_get_vars(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, void *ip);
EXTERNL int
nc_put_vars_text(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const char
    *op);
EXTERNL int
nc_get_vars_text(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, char *ip);
EXTERNL int
nc_put_vars_schar(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    signed char *op);
EXTERNL int
nc_get_vars_schar(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, signed
    char *ip);
EXTERNL int
nc_put_vars_uchar(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    unsigned char *op);
EXTERNL int
nc_get_vars_uchar(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, unsigned
    char *ip);
EXTERNL int
nc_put_vars_short(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    short *op);
EXTERNL int
nc_get_vars_short(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, short
    *ip);
EXTERNL int
nc_put_vars_int(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const int
    *op);
EXTERNL int
nc_get_vars_int(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, int *ip);
EXTERNL int
nc_put_vars_long(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const long
    *op);
EXTERNL int
nc_get_vars_long(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, long *ip);
EXTERNL int
nc_put_vars_float(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    float *op);
EXTERNL int
nc_get_vars_float(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, float
    *ip);
EXTERNL int
nc_put_vars_double(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    double *op);
EXTERNL int
nc_get_vars_double(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, double
    *ip);
EXTERNL int
nc_put_vars_ushort(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    unsigned short *op);
EXTERNL int
nc_get_vars_ushort(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, unsigned
    short *ip);
EXTERNL int
nc_put_vars_uint(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    unsigned int *op);
EXTERNL int
nc_get_vars_uint(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, unsigned
    int *ip);
EXTERNL int
nc_put_vars_longlong(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    long long *op);
EXTERNL int
nc_get_vars_longlong(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, long
    long *ip);
EXTERNL int
nc_put_vars_ulonglong(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    unsigned long long *op);
EXTERNL int
nc_get_vars_ulonglong(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep,
    unsigned long long *ip);
EXTERNL int
nc_put_vars_string(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    char **op);
EXTERNL int
nc_get_vars_string(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, char
    **ip);
EXTERNL int
nc_put_vars_ubyte(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    unsigned char *op);
EXTERNL int
nc_get_vars_ubyte(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, unsigned
    char *ip);

/* ---- Data: mapped into memory ---- */

/* As vars; imap says how many elements apart in memory neighbours along each dimension lie. */
EXTERNL int
nc_put_varm(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const ptrdiff_t
    *imapp, const void *op);
EXTERNL int
nc_get_varm(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const ptrdiff_t
    *imapp, void *ip);
EXTERNL int
nc_put_varm_text(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    ptrdiff_t *imapp, const char *op);
EXTERNL int
nc_get_varm_text(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    ptrdiff_t *imapp, char *ip);
EXTERNL int
nc_put_varm_schar(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    ptrdiff_t *imapp, const signed char *op);
EXTERNL int
nc_get_varm_schar(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    ptrdiff_t *imapp, signed char *ip);
EXTERNL int
nc_put_varm_uchar(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    ptrdiff_t *imapp, const unsigned char *op);
EXTERNL int
nc_get_varm_uchar(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    ptrdiff_t *imapp, unsigned char *ip);
EXTERNL int
nc_put_varm_short(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    ptrdiff_t *imapp, const short *op);
EXTERNL int
nc_get_varm_short(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    ptrdiff_t *imapp, short *ip);
EXTERNL int
nc_put_varm_int(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    ptrdiff_t *imapp, const int *op);
EXTERNL int
nc_get_varm_int(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    ptrdiff_t *imapp, int *ip);
EXTERNL int
nc_put_varm_long(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    ptrdiff_t *imapp, const long *op);
EXTERNL int
nc_get_varm_long(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    ptrdiff_t *imapp, long *ip);
EXTERNL int
nc_put_varm_float(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    ptrdiff_t *imapp, const float *op);
EXTERNL int
nc_get_varm_float(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    ptrdiff_t *imapp, float *ip);
EXTERNL int
nc_put_varm_double(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    ptrdiff_t *imapp, const double *op);
EXTERNL int
nc_get_varm_double(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    ptrdiff_t *imapp, double *ip);
EXTERNL int
nc_put_varm_ushort(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    ptrdiff_t *imapp, const unsigned short *op);
EXTERNL int
nc_get_varm_ushort(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    ptrdiff_t *imapp, unsigned short *ip);
EXTERNL int
nc_put_varm_uint(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    ptrdiff_t *imapp, const unsigned int *op);
EXTERNL int
nc_get_varm_uint(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    ptrdiff_t *imapp, unsigned int *ip);
EXTERNL int
nc_put_varm_longlong(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    ptrdiff_t *imapp, const long long *op);
EXTERNL int
nc_get_varm_longlong(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    ptrdiff_t *imapp, long long *ip);
EXTERNL int
nc_put_varm_ulonglong(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    ptrdiff_t *imapp, const unsigned long long *op);
EXTERNL int
nc_get_varm_ulonglong(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    ptrdiff_t *imapp, unsigned long long *ip);
EXTERNL int
nc_put_varm_string(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    ptrdiff_t *imapp, const char **op);
EXTERNL int
nc_get_varm_string(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    ptrdiff_t *imapp, char **ip);
EXTERNL int
nc_put_varm_ubyte(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    ptrdiff_t *imapp, const unsigned char *op);
EXTERNL int
nc_get_varm_ubyte(int ncid, int varid, const size_t *startp, const size_t *countp, const ptrdiff_t *stridep, const
    ptrdiff_t *imapp, unsigned char *ip);

/* ---- Data: all of a variable ---- */

/* The whole variable; unlimited dimensions as long as they are. */
EXTERNL int
nc_put_var(int ncid, int varid, const void *op);
EXTERNL int
nc_get_var(int ncid, int varid, void *ip);
EXTERNL int
nc_put_var_text(int ncid, int varid, const char *op);
EXTERNL int
nc_get_var_text(int ncid, int varid, char *ip);
EXTERNL int
nc_put_var_schar(int ncid, int varid, const signed char *op);
EXTERNL int
nc_get_var_schar(int ncid, int varid, signed char *ip);
EXTERNL int
nc_put_var_uchar(int ncid, int varid, const unsigned char *op);
EXTERNL int
nc_get_var_uchar(int ncid, int varid, unsigned char *ip);
EXTERNL int
nc_put_var_short(int ncid, int varid, const short *op);
EXTERNL int
nc_get_var_short(int ncid, int varid, short *ip);
EXTERNL int
nc_put_var_int(int ncid, int varid, const int *op);
EXTERNL int
nc_get_var_int(int ncid, int varid, int *ip);
EXTERNL int
nc_put_var_long(int ncid, int varid, const long *op);
EXTERNL int
nc_get_var_long(int ncid, int varid, long *ip);
EXTERNL int
nc_put_var_float(int ncid, int varid, const float *op);
EXTERNL int
nc_get_var_float(int ncid, int varid, float *ip);
EXTERNL int
nc_put_var_double(int ncid, int varid, const double *op);
EXTERNL int
nc_get_var_double(int ncid, int varid, double *ip);
EXTERNL int
nc_put_var_ushort(int ncid, int varid, const unsigned short *op);
EXTERNL int
nc_get_var_ushort(int ncid, int varid, unsigned short *ip);
EXTERNL int
nc_put_var_uint(int ncid, int varid, const unsigned int *op);
EXTERNL int
nc_get_var_uint(int ncid, int varid, unsigned int *ip);
EXTERNL int
nc_put_var_longlong(int ncid, int varid, const long long *op);
EXTERNL int
nc_get_var_longlong(int ncid, int varid, long long *ip);
EXTERNL int
nc_put_var_ulonglong(int ncid, int varid, const unsigned long long *op);
EXTERNL int
nc_get_var_ulonglong(int ncid, int varid, unsigned long long *ip);
EXTERNL int
nc_put_var_string(int ncid, int varid, const char **op);
EXTERNL int
nc_get_var_string(int ncid, int varid, char **ip);
EXTERNL int
nc_put_var_ubyte(int ncid, int varid, const unsigned char *op);
EXTERNL int
nc_get_var_ubyte(int ncid, int varid, unsigned char *ip);

/* ---- Memory that the library gave away ---- */

/* Frees each of the texts that a get of NC_STRING left in an array, but not the array. */
EXTERNL int
nc_free_string(size_t nelems, char **data);

/* Frees what each sequence of an array holds, one level deep, but not the array. */
EXTERNL int
nc_free_vlens(size_t nelems, nc_vlen_t vlens[]);

/* The same for one sequence. */
EXTERNL int
nc_free_vlen(nc_vlen_t *vl);

/* Frees what hangs from values of any type, however deep, but not the memory of the values. */
EXTERNL int nc_reclaim_data(int ncid, nc_type xtypeid, void *memory, size_t nelems);

/* The same, and then the memory of the values. */
EXTERNL int nc_reclaim_data_all(int ncid, nc_type xtypeid, void *memory, size_t nelems);

/* Copies values of any type with all that hangs from them, into memory of the caller's. */
EXTERNL int nc_copy_data(int ncid, nc_type xtypeid, const void *memory, size_t count, void *copy);

/* The same, into memory that it makes. */
EXTERNL int nc_copy_data_all(int ncid, nc_type xtypeid, const void *memory, size_t count, void **copyp);

/* Prints values of any type into a text that the caller frees. ncaux_dump_data is the same. */
EXTERNL int nc_dump_data(int ncid, nc_type xtypeid, void *memory, size_t count, char **buf);

/* ---- Old functions for the Cray ---- */

/* nc__create; there is one processing element, 0. */
EXTERNL int
nc__create_mp(const char *path, int cmode, size_t initialsz, int basepe, size_t *chunksizehintp, int *ncidp);

/* nc__open. */
EXTERNL int
nc__open_mp(const char *path, int mode, int basepe, size_t *chunksizehintp, int *ncidp);

/* nc_delete. */
EXTERNL int
nc_delete_mp(const char *path, int basepe);

/* Takes 0. */
EXTERNL int
nc_set_base_pe(int ncid, int pe);

/* Gives 0. */
EXTERNL int
nc_inq_base_pe(int ncid, int *pe);

/* ---- The version 2 interface ---- */

/* Old names. */
#define FILL_BYTE       NC_FILL_BYTE
#define FILL_CHAR       NC_FILL_CHAR
#define FILL_SHORT      NC_FILL_SHORT
#define FILL_LONG       NC_FILL_INT
#define FILL_FLOAT      NC_FILL_FLOAT
#define FILL_DOUBLE     NC_FILL_DOUBLE
#define MAX_NC_DIMS     NC_MAX_DIMS
#define MAX_NC_ATTRS    NC_MAX_ATTRS
#define MAX_NC_VARS     NC_MAX_VARS
#define MAX_NC_NAME     NC_MAX_NAME
#define MAX_VAR_DIMS    NC_MAX_VAR_DIMS
#define NC_ENTOOL       NC_EMAXNAME
#define NC_EXDR         (-32)
#define NC_SYSERR       (-31)

/* What is in ncopts: end the process on an error, say what the error was. Both are on at the start. */
#define NC_FATAL        1
#define NC_VERBOSE      2

/* The code of the last error of a version 2 function. */
EXTERNL int ncerr;

/* What version 2 functions do on an error. */
EXTERNL int ncopts;

/* The C type of NC_LONG. */
typedef int nclong;

/* Notes an error, and prints and ends the process as ncopts says. */
EXTERNL void
nc_advise(const char *cdf_routine_name, int err, const char *fmt, ...);

/* Bytes of a type in memory. */
EXTERNL int
nctypelen(nc_type datatype);

/* nc_create. Functions of this part give -1 on an error, or what they are asked for. */
EXTERNL int
nccreate(const char *path, int cmode);

/* nc_open. */
EXTERNL int
ncopen(const char *path, int mode);

/* nc_set_fill; gives the mode before. */
EXTERNL int
ncsetfill(int ncid, int fillmode);

/* nc_redef. */
EXTERNL int
ncredef(int ncid);

/* nc_enddef. */
EXTERNL int
ncendef(int ncid);

/* nc_sync. */
EXTERNL int
ncsync(int ncid);

/* nc_abort. */
EXTERNL int
ncabort(int ncid);

/* nc_close. */
EXTERNL int
ncclose(int ncid);

/* nc_inq. */
EXTERNL int
ncinquire(int ncid, int *ndimsp, int *nvarsp, int *nattsp, int *unlimdimp);

/* nc_def_dim; gives the id. */
EXTERNL int
ncdimdef(int ncid, const char *name, long len);

/* nc_inq_dimid. */
EXTERNL int
ncdimid(int ncid, const char *name);

/* nc_inq_dim. */
EXTERNL int
ncdiminq(int ncid, int dimid, char *name, long *lenp);

/* nc_rename_dim. */
EXTERNL int
ncdimrename(int ncid, int dimid, const char *name);

/* nc_put_att. */
EXTERNL int
ncattput(int ncid, int varid, const char *name, nc_type xtype, int len, const void *op);

/* nc_inq_att. */
EXTERNL int
ncattinq(int ncid, int varid, const char *name, nc_type *xtypep, int *lenp);

/* nc_get_att. */
EXTERNL int
ncattget(int ncid, int varid, const char *name, void *ip);

/* nc_copy_att. */
EXTERNL int
ncattcopy(int ncid_in, int varid_in, const char *name, int ncid_out, int varid_out);

/* nc_inq_attname. */
EXTERNL int
ncattname(int ncid, int varid, int attnum, char *name);

/* nc_rename_att. */
EXTERNL int
ncattrename(int ncid, int varid, const char *name, const char *newname);

/* nc_del_att. */
EXTERNL int
ncattdel(int ncid, int varid, const char *name);

/* nc_def_var; gives the id. */
EXTERNL int
ncvardef(int ncid, const char *name, nc_type xtype, int ndims, const int *dimidsp);

/* nc_inq_varid. */
EXTERNL int
ncvarid(int ncid, const char *name);

/* nc_inq_var. */
EXTERNL int
ncvarinq(int ncid, int varid, char *name, nc_type *xtypep, int *ndimsp, int *dimidsp, int *nattsp);

/* nc_put_var1. */
EXTERNL int
ncvarput1(int ncid, int varid, const long *indexp, const void *op);

/* nc_get_var1. */
EXTERNL int
ncvarget1(int ncid, int varid, const long *indexp, void *ip);

/* nc_put_vara. */
EXTERNL int
ncvarput(int ncid, int varid, const long *startp, const long *countp, const void *op);

/* nc_get_vara. */
EXTERNL int
ncvarget(int ncid, int varid, const long *startp, const long *countp, void *ip);

/* nc_put_vars. */
EXTERNL int
ncvarputs(int ncid, int varid, const long *startp, const long *countp, const long *stridep, const void *op);

/* nc_get_vars. */
EXTERNL int
ncvargets(int ncid, int varid, const long *startp, const long *countp, const long *stridep, void *ip);

/* nc_put_varm; the map counts bytes. */
EXTERNL int
ncvarputg(int ncid, int varid, const long *startp, const long *countp, const long *stridep, const long *imapp, const
    void *op);

/* nc_get_varm; the map counts bytes. */
EXTERNL int
ncvargetg(int ncid, int varid, const long *startp, const long *countp, const long *stridep, const long *imapp, void
    *ip);

/* nc_rename_var. */
EXTERNL int
ncvarrename(int ncid, int varid, const char *name);

/* The record variables, and the bytes of one record of each. */
EXTERNL int
ncrecinq(int ncid, int *nrecvarsp, int *recvaridsp, long *recsizesp);

/* Reads one record of each record variable; a NULL skips one. */
EXTERNL int
ncrecget(int ncid, long recnum, void **datap);

/* Writes one record of each record variable; a NULL skips one. */
EXTERNL int
ncrecput(int ncid, long recnum, void *const *datap);

#if defined(__cplusplus)
}
#endif

/* What programs test for before they call it. */
#ifndef NC_HAVE_RENAME_GRP
#define NC_HAVE_RENAME_GRP
#endif
#ifndef NC_HAVE_INQ_FORMAT_EXTENDED
#define NC_HAVE_INQ_FORMAT_EXTENDED
#endif
#define NC_HAVE_META_H

#endif /* _NETCDF_ */
