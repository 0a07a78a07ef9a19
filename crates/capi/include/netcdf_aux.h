/*
 * Helpers around the main interface: compound types laid out as C does it, texts that describe filters, folders of
 * plugins as text.
 */
#ifndef NCAUX_H
#define NCAUX_H

#include "netcdf.h"

/* How ncaux_begin_compound lays out fields: as a C compiler does, or all alike. */
#define NCAUX_ALIGN_C 0
#define NCAUX_ALIGN_UNIFORM 1

/* A filter and its parameters, which are from malloc. */
typedef struct NC_H5_Filterspec {
    unsigned int filterid;
    size_t nparams;
    unsigned int *params;
} NC_H5_Filterspec;

/* In netcdf_filter.h. */
struct NCPluginList;

#if defined(__cplusplus)
extern "C" {
#endif

/* Old names: nc_reclaim_data, nc_reclaim_data_all, nc_copy_data, nc_copy_data_all. */
EXTERNL int ncaux_reclaim_data(int ncid, int xtype, void *memory, size_t count);
EXTERNL int ncaux_reclaim_data_all(int ncid, int xtype, void *memory, size_t count);
EXTERNL int ncaux_copy_data(int ncid, int xtype, void *memory, size_t count, void *copy);
EXTERNL int ncaux_copy_data_all(int ncid, int xtype, void *memory, size_t count, void **copyp);

/* Prints values of any type into a text that the caller frees. */
EXTERNL int ncaux_dump_data(int ncid, nc_type xtypeid, void *memory, size_t count, char **buf);

/* nc_inq_user_type for all types; the class of an atomic type is the type. */
EXTERNL int ncaux_inq_any_type(int ncid, nc_type xtype, char *name, size_t *size, nc_type *basetypep, size_t
    *nfieldsp, int *classp);

/* ---- Filters as text ---- */

/* Reads one filter: "id,parameter,...". The caller frees the parameters. */
EXTERNL int ncaux_h5filterspec_parse(const char *txt, unsigned int *idp, size_t *nparamsp, unsigned int **paramsp);

/* Reads several filters with "|" between them. The caller frees each with ncaux_h5filterspec_free, then the list. */
EXTERNL int ncaux_h5filterspec_parselist(const char *txt0, int *formatp, size_t *nspecsp, struct NC_H5_Filterspec
    ***vectorp);

/* Reads one parameter: a number, with a letter at its end for its type as in CDL; 64 bits become two parameters. */
EXTERNL int ncaux_h5filterspec_parse_parameter(const char *txt, size_t *nuiparamsp, unsigned int *uiparams);

/* Frees a filter. */
EXTERNL void ncaux_h5filterspec_free(struct NC_H5_Filterspec *f);

/* Swaps the bytes of an 8-byte parameter between the machine's order and that of the file, where they differ. */
EXTERNL void ncaux_h5filterspec_fix8(unsigned char *mem, int decode);

/* ---- Whole files ---- */

/* Reads a file into memory that the caller frees. */
EXTERNL int ncaux_readfile(const char *filename, size_t *sizep, void **content);

/* Writes a file, in place of one that is there. */
EXTERNL int ncaux_writefile(const char *filename, size_t size, void *content);

/* ---- Compound types as C structs ---- */

/* Alignment of any type in C. */
EXTERNL int ncaux_type_alignment(int xtype, int ncid, size_t *alignp);

/* Alignment of an atomic type, of NC_OPAQUE, NC_VLEN or NC_STRING in C. */
EXTERNL int ncaux_class_alignment(int ncclass, size_t *alignp);

/* Starts a compound type; the tag stands for it until the end. */
EXTERNL int ncaux_begin_compound(int ncid, const char *name, int alignmode, void **tag);

/* Adds a field; its offset follows from its type. */
EXTERNL int ncaux_add_field(void *tag, const char *name, nc_type field_type, int ndims, const int *dimsizes);

/* Makes the type, and ends the tag. */
EXTERNL int ncaux_end_compound(void *tag, nc_type *xtypeid);

/* Ends the tag without a type. */
EXTERNL int ncaux_abort_compound(void *tag);

/* ---- Folders of plugins as text; the separator 0 means the one usual on this system ---- */

/* Reads folders from a text of so many bytes. */
EXTERNL int ncaux_plugin_path_parsen(size_t pathlen, const char *pathlist, char sep, struct NCPluginList *dirs);

/* Reads folders from a text. What hangs from the list is from malloc: ncaux_plugin_path_clear. */
EXTERNL int ncaux_plugin_path_parse(const char *pathlist, char sep, struct NCPluginList *dirs);

/* Writes folders as a text that the caller frees. */
EXTERNL int ncaux_plugin_path_tostring(const struct NCPluginList *dirs, char sep, char **catp);

/* Empties a list, and frees what hangs from it. */
EXTERNL int ncaux_plugin_path_clear(struct NCPluginList *dirs);

/* The same, and then frees the list itself, which must be from malloc. */
EXTERNL int ncaux_plugin_path_reclaim(struct NCPluginList *dirs);

/* Adds a folder at the end. */
EXTERNL int ncaux_plugin_path_append(struct NCPluginList *dirs, const char *dir);

/* Adds a folder at the front. */
EXTERNL int ncaux_plugin_path_prepend(struct NCPluginList *dirs, const char *dir);

/* The folders in use as one text with ";" between them, for Fortran: its length, the text, and setting it. */
EXTERNL int ncaux_plugin_path_stringlen(void);
EXTERNL int ncaux_plugin_path_stringget(int pathlen, char *path);
EXTERNL int ncaux_plugin_path_stringset(int pathlen, const char *path);

/* Reads the attribute _NCProperties: keys and values in turn, NULL at the end, all from malloc. */
EXTERNL int ncaux_parse_provenance(const char *ncprop, char ***pairsp);

#if defined(__cplusplus)
}
#endif

#endif /* NCAUX_H */
