//! Stores whose chunks are references in tables: the metadata tells how many rows a table has.
//!
//! The module `references` reads the tables, and imports this one. So that this one need not import it in turn, `NcZarr::open` takes the
//! function that opens tables as an argument.

use std::collections::HashMap;
use std::sync::Arc;

use ferrocdf_bytes::Result;
use ferrocdf_store::Store;

use crate::location::Location;

/// The tables of a store, as its metadata says.
pub(crate) struct TableLayout {
    /// How many chunks each array has along its dimensions, by the key of the array without a slash at the end.
    pub(crate) grids: HashMap<String, Vec<u64>>,
    /// Rows of a table: [`Hierarchy::record_size`](ferrocdf_zarr::Hierarchy::record_size).
    pub(crate) record_size: u64,
}

/// The chunks that tables of references make.
pub(crate) trait TableChunks: Store {
    /// Returns the store that has the metadata and the tables.
    fn tables(&self) -> &dyn Store;

    /// Forgets the tables that were read, after the metadata was read anew.
    ///
    /// # Errors
    /// `NC_EZARRMETA` for tables without rows.
    fn refresh(&self, layout: TableLayout) -> Result<()>;
}

/// Opens the chunks of tables in a store. The last argument is the folder of the references, beside which relative paths begin.
pub(crate) type OpenTables = fn(Arc<dyn Store>, TableLayout, &Location) -> Result<Arc<dyn TableChunks>>;
