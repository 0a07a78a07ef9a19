//! How Zarr stores are made.

/// How a Zarr store is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ZarrOptions {
    /// Whether netCDF's own metadata is written (NCZarr), which says what Zarr cannot: shared dimensions that have no variable,
    /// unlimited ones, types of attributes, text. Other programs pass over it.
    pub nczarr: bool,
    /// Zarr version 2: whether the attribute `_ARRAY_DIMENSIONS` names the dimensions, as xarray wants it. Version 3 has a place for
    /// names in its metadata.
    pub xarray: bool,
    /// Whether the metadata of all groups and arrays is written a second time, into one object: such a store is opened with one or two
    /// requests.
    pub consolidated: bool,
    /// Whether chunks that hold nothing but the fill value are stored too.
    pub keeps_empty_chunks: bool,
    /// Whether the store is a zip file, also where its name does not end in `.zip`.
    pub zip: bool,
}

impl Default for ZarrOptions {
    /// NCZarr that xarray reads too, consolidated, without empty chunks.
    fn default() -> Self {
        ZarrOptions { nczarr: true, xarray: true, consolidated: true, keeps_empty_chunks: false, zip: false }
    }
}
