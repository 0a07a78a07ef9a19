//! Names that the netCDF-4 convention gives a meaning ("netCDF-4 Format", in the file format specifications).

/// The attribute of a dataset that says it is a dimension scale, and what it then holds.
pub(super) const CLASS: &[u8] = b"CLASS";
pub(super) const DIMENSION_SCALE: &[u8] = b"DIMENSION_SCALE";
/// The attribute with the name of a scale, and how it begins for a dimension that has no variable.
pub(super) const NAME: &[u8] = b"NAME";
pub(super) const NO_VARIABLE: &[u8] = b"This is a netCDF dimension but not a netCDF variable";
/// The scales of each dimension of a dataset.
pub(super) const DIMENSION_LIST: &[u8] = b"DIMENSION_LIST";
/// The datasets that use a scale.
pub(super) const REFERENCE_LIST: &[u8] = b"REFERENCE_LIST";
/// The dimension ids of a variable.
pub(super) const COORDINATES: &[u8] = b"_Netcdf4Coordinates";
/// The id of a dimension.
pub(super) const DIMID: &[u8] = b"_Netcdf4Dimid";
/// The attribute of the root group of files that keep to the classic model.
pub(super) const STRICT: &[u8] = b"_nc3_strict";
/// Which libraries wrote the file.
pub(super) const PROPERTIES: &[u8] = b"_NCProperties";
/// What the name of a dataset begins with if the variable is no coordinate of the dimension of its name.
pub(super) const NON_COORDINATE: &[u8] = b"_nc4_non_coord_";

/// True if an attribute of this name belongs to a convention: it is shown on request only, and programs do not set it.
pub fn is_reserved(name: &[u8]) -> bool {
    const RESERVED: [&[u8]; 17] = [
        CLASS,
        NAME,
        DIMENSION_LIST,
        REFERENCE_LIST,
        COORDINATES,
        DIMID,
        STRICT,
        PROPERTIES,
        b"_ARRAY_DIMENSIONS",
        b"_Codecs",
        b"_Format",
        b"_IsNetcdf4",
        b"_SuperblockVersion",
        b"_nczarr_attr",
        b"_nczarr_group",
        b"_nczarr_array",
        b"_nczarr_superblock",
    ];
    RESERVED.contains(&name)
}
