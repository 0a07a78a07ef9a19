//! Containers and data models, and what each pair of them can hold, as one table.
//!
//! The container is the file format: how bytes are arranged. The data model says what a dataset may hold. Code asks the one that
//! it depends on: where data lies is a matter of the container, how numbers convert and which names are legal one of the model.

use crate::Atomic;

/// A file format, apart from its data model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Container {
    /// Classic files: CDF-1, CDF-2 and CDF-5.
    Classic,
    /// HDF5.
    Hdf5,
    /// HDF4.
    Hdf4,
    /// Zarr version 2.
    ZarrV2,
    /// Zarr version 3.
    ZarrV3,
    /// A format that a program brings a driver for, by its name.
    Other(&'static str),
}

impl Container {
    /// Returns its name, for messages.
    pub fn name(self) -> &'static str {
        match self {
            Container::Classic => "classic",
            Container::Hdf5 => "HDF5",
            Container::Hdf4 => "HDF4",
            Container::ZarrV2 => "Zarr 2",
            Container::ZarrV3 => "Zarr 3",
            Container::Other(name) => name,
        }
    }

    /// True if variables and groups that are committed keep their names: those of Zarr are part of the keys of chunks.
    pub fn keeps_names(self) -> bool {
        matches!(self, Container::ZarrV2 | Container::ZarrV3)
    }

    /// Returns its number in the C interface, which `nc_inq_format_extended` gives (`NC_FORMATX_*`).
    pub fn number(self) -> i32 {
        match self {
            Container::Other(_) => 0,
            Container::Classic => 1,
            Container::Hdf5 => 2,
            Container::Hdf4 => 3,
            Container::ZarrV2 | Container::ZarrV3 => 10,
        }
    }
}

/// What a dataset may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DataModel {
    /// The classic model, with the limits of CDF-1, the format of 1989.
    Classic,
    /// The classic model with 64-bit offsets: CDF-2.
    Offset64,
    /// The classic model with 64-bit counts, and unsigned and 64-bit integers: CDF-5.
    Data64,
    /// The enhanced model: groups, user-defined types, several unlimited dimensions.
    Netcdf4,
    /// netCDF-4 held to the classic model.
    Netcdf4Classic,
}

/// A container and the data model of what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    container: Container,
    data_model: DataModel,
}

/// What a pair of container and data model is called and what it can hold.
struct Row {
    format: Format,
    /// Name, as `ncdump -k` prints it.
    kind_name: &'static str,
    /// `NC_FORMAT_*` of the C interface.
    number: i32,
    /// The last of the atomic types that variables and attributes may have.
    last_type: Atomic,
    /// Largest length of a dimension.
    max_dim_len: u64,
}

/// The pairs that files are made of, in the order of [`DataModel`]. A container that is not in the table has the limits of its
/// data model.
const TABLE: [Row; 5] = [
    row(Format::CLASSIC, "classic", 1, Atomic::Double, i32::MAX as u64 - 3),
    row(Format::OFFSET64, "64-bit offset", 2, Atomic::Double, u32::MAX as u64 - 3),
    row(Format::DATA64, "cdf5", 5, Atomic::Uint64, u64::MAX - 3),
    row(Format::NETCDF4, "netCDF-4", 3, Atomic::String, u64::MAX - 1),
    row(Format::NETCDF4_CLASSIC, "netCDF-4 classic model", 4, Atomic::Double, u64::MAX - 1),
];

const fn row(
    format: Format,
    kind_name: &'static str,
    number: i32,
    last_type: Atomic,
    max_dim_len: u64,
) -> Row {
    Row { format, kind_name, number, last_type, max_dim_len }
}

impl Format {
    /// CDF-1.
    pub const CLASSIC: Format = Format::new(Container::Classic, DataModel::Classic);
    /// CDF-2.
    pub const OFFSET64: Format = Format::new(Container::Classic, DataModel::Offset64);
    /// CDF-5.
    pub const DATA64: Format = Format::new(Container::Classic, DataModel::Data64);
    /// netCDF-4 on HDF5, the enhanced model.
    pub const NETCDF4: Format = Format::new(Container::Hdf5, DataModel::Netcdf4);
    /// netCDF-4 on HDF5, held to the classic model.
    pub const NETCDF4_CLASSIC: Format = Format::new(Container::Hdf5, DataModel::Netcdf4Classic);

    /// The formats that files can be made in.
    pub const ALL: [Format; 5] =
        [Format::CLASSIC, Format::OFFSET64, Format::DATA64, Format::NETCDF4, Format::NETCDF4_CLASSIC];

    /// The format of a container that holds datasets of a model.
    pub const fn new(container: Container, data_model: DataModel) -> Format {
        Format { container, data_model }
    }

    /// Returns the format with this number in the C interface (`NC_FORMAT_*`).
    pub fn from_number(number: i32) -> Option<Format> {
        TABLE.iter().find(|row| row.number == number).map(|row| row.format)
    }

    /// Returns the container.
    #[inline]
    pub fn container(self) -> Container {
        self.container
    }

    /// Returns the data model.
    #[inline]
    pub fn data_model(self) -> DataModel {
        self.data_model
    }

    fn row(self) -> &'static Row {
        &TABLE[self.data_model as usize]
    }

    /// Returns the format that files of this data model are made in.
    pub fn native(self) -> Format {
        self.row().format
    }

    /// Returns the name of its data model as `ncdump -k` prints it.
    pub fn kind_name(self) -> &'static str {
        self.row().kind_name
    }

    /// Returns the number of its data model in the C interface (`NC_FORMAT_*`).
    pub fn number(self) -> i32 {
        self.row().number
    }

    /// True for classic files: CDF-1, CDF-2 and CDF-5.
    #[inline]
    pub fn is_classic_file(self) -> bool {
        matches!(self.container, Container::Classic)
    }

    /// True if the rules of CDF-1, CDF-2 or CDF-5 hold, whatever the container is: numbers out of range are found, there is one
    /// unlimited dimension, and it comes first.
    #[inline]
    pub fn has_cdf_model(self) -> bool {
        matches!(self.data_model, DataModel::Classic | DataModel::Offset64 | DataModel::Data64)
    }

    /// True if groups, user-defined types and several unlimited dimensions in any place exist.
    #[inline]
    pub fn is_enhanced(self) -> bool {
        self.data_model == DataModel::Netcdf4
    }

    /// True if a variable or attribute may have this type.
    pub fn holds(self, atomic: Atomic) -> bool {
        atomic <= self.row().last_type
    }

    /// Returns the largest length of a dimension.
    pub fn max_dim_len(self) -> u64 {
        self.row().max_dim_len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_in_the_order_of_data_models() {
        for format in Format::ALL {
            assert_eq!(format.row().format, format);
            assert_eq!(Format::from_number(format.number()), Some(format));
        }
        assert_eq!(Format::from_number(0), None);
    }

    #[test]
    fn format_of_another_container_has_the_limits_of_its_data_model() {
        let format = Format::new(Container::Other("toy"), DataModel::Offset64);
        assert_eq!(format.max_dim_len(), Format::OFFSET64.max_dim_len());
        assert!(format.has_cdf_model() && !format.is_classic_file());
        assert_eq!((format.number(), format.container().number()), (2, 0));
    }
}
