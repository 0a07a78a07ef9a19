//! Identities of filters, which are the same in every format that stores filters.

use std::borrow::Cow;
use std::fmt;

/// The identity of a filter: its HDF5 number, or its registered name if it has no number.
///
/// Identity and parameters together determine the encoded bytes, independent of the notation of a format, so chunks can be
/// copied without decoding between datasets whose filters are equal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FilterId {
    /// Filter number registered with The HDF Group.
    Hdf5(u32),
    /// Name of a codec registered for Zarr.
    Named(Cow<'static, str>),
}

impl FilterId {
    /// Returns the identity of the codec with this name in Zarr metadata.
    pub const fn named(name: &'static str) -> FilterId {
        FilterId::Named(Cow::Borrowed(name))
    }

    /// Returns the HDF5 number, if the filter has one.
    pub fn hdf5(&self) -> Option<u32> {
        match self {
            FilterId::Hdf5(number) => Some(*number),
            FilterId::Named(_) => None,
        }
    }
}

impl From<u32> for FilterId {
    fn from(number: u32) -> FilterId {
        FilterId::Hdf5(number)
    }
}

/// Comparison with an HDF5 number.
impl PartialEq<u32> for FilterId {
    fn eq(&self, number: &u32) -> bool {
        self.hdf5() == Some(*number)
    }
}

impl fmt::Display for FilterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FilterId::Hdf5(number) => number.fmt(f),
            FilterId::Named(name) => name.fmt(f),
        }
    }
}
