//! Open files: paths, the table, ids, and the state of each file.

pub(crate) mod chunk_caches;
pub(crate) mod file;
pub(crate) mod ids;
pub(crate) mod paths;
pub(crate) mod settings;
pub(crate) mod table;
