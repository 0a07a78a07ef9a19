//! What `--help` says of the subcommands that pass their command lines on: examples first, then all options.

use crate::{nccopy, ncdump, ncgen};

/// Help for `ferrocdf dump`.
pub(super) fn dump() -> String {
    text(
        "ferrocdf dump -h sst.nc          what the file holds, without the data
  ferrocdf dump -v sst,time sst.nc the data of these variables
  ferrocdf dump -t sst.nc          times as dates
  ferrocdf dump sst.nc > sst.cdl   all of it, as text that `ferrocdf gen` makes a file of again
  ferrocdf dump --structure sst.nc how an HDF5 file is stored",
        &format!("{}{STRUCTURE}", ncdump::options_text()),
    )
}

/// Help for `ferrocdf gen`.
pub(super) fn generate() -> String {
    text(
        "ferrocdf gen sst.cdl             check the text, write nothing
  ferrocdf gen -o sst.nc sst.cdl   make a file
  ferrocdf gen -5 -o sst.nc -      the same in CDF-5, from standard input
  ferrocdf gen -l c sst.cdl        print a program in C that makes the file",
        ncgen::OPTIONS_TEXT,
    )
}

/// Help for `ferrocdf copy`.
pub(super) fn copy() -> String {
    text(
        "ferrocdf copy a.nc b.nc          the same content in a fresh file
  ferrocdf copy -5 a.nc b.nc       as CDF-5
  ferrocdf copy -V sst a.nc b.nc   one variable only
  ferrocdf copy -u a.nc b.nc       with records turned into a fixed dimension",
        &format!("{}{STRICT}{HDF_EOS}", nccopy::OPTIONS_TEXT),
    )
}

/// Help for `ferrocdf join`.
pub(super) fn join() -> &'static str {
    "Examples:
  ferrocdf join 2024.nc 2025.nc 2026.nc -o all.nc        along the unlimited dimension
  ferrocdf join --dimension time day-*.nc -o month.nc    along a dimension of any kind, which is unlimited in the new file
  ferrocdf join --virtual day-*.nc -o month.nc           without copying elements: the new file refers to the others
  ferrocdf join --convert-times day-*.nc -o month.nc     files of xarray, each with a reference date of its own
  ferrocdf join --verify 2024.nc 2025.nc -o all.nc       with a comparison of the new file with the others"
}

/// What `ferrocdf dump` takes and `ncdump` does not.
const STRUCTURE: &str = "  [--structure] print the structures of an HDF5 file (superblock, object headers, messages, indexes, heaps), each with \
                         its address, and a line for each field: its byte in the structure, its name in the HDF5 specification, its value
";

/// What `ferrocdf copy` takes and `nccopy` does not.
const STRICT: &str = "  [--fill-missing] copy elements of virtual datasets whose source files are missing as fill values, instead of refusing
  [--strict] refuse names and fill values that netCDF does not allow, instead of copying them as what it \
                      allows with a line on each and the name in the attribute _original_name
";

const HDF_EOS: &str = "  [--hdfeos] copy an HDF4 file as what its HDF-EOS2 metadata says: a group for each grid, swath and point, with \
                       named dimensions and coordinates
  [--all] copy all of an HDF4 file: tables (Vdatas) as variables of a compound type, and rasters, beside its datasets; not with --hdfeos
";

fn text(examples: &str, options: &str) -> String {
    format!("Examples:\n  {examples}\n\nOptions:\n{options}")
}
