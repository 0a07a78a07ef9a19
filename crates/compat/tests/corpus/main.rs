//! Tests over real files, in the folder that the environment variable `FERROCDF_CORPUS` names.

#[allow(dead_code, reason = "the other test binary uses the rest")]
#[path = "../it/ncdump_tool.rs"]
mod ncdump_tool;

mod ncdump_files;
