//! Tests over real files, in the folder that the environment variable `FERROCDF_CORPUS` names.

#[path = "../it/ncdump_tool.rs"]
mod ncdump_tool;

mod ncdump_files;
