//! Scientific Datasets: dimensions, variables and attributes, as `SDstart` of the HDF4 library finds them.
//!
//! Two structures say what a file has. Libraries since 1993 write a Vgroup of class `CDF0.0`, whose members are the Vgroups of
//! dimensions and variables ([`cdf`](self)); files without one have groups of numeric data ([`ndg`](self)). As in the library, the
//! second is looked at only if the first does not exist or cannot be read.

mod annotations;
mod attributes;
mod cdf;
mod compressed;
mod data;
mod ndg;
mod rasters;
mod short;

use std::collections::{BTreeMap, HashSet};

use ferrocdf_bytes::{Error, Order, Result, ToUsize};

use crate::{File, NumberType, tags};
use rasters::RasterCoder;

pub use attributes::{AttributeName, attributes};
pub use data::{Arrangement, Located, StoredSize};
pub use rasters::{Raster, Rasters};

/// The Scientific Datasets of a file.
#[derive(Debug, Default)]
pub struct Datasets {
    /// The dimensions.
    pub dims: Vec<Dim>,
    /// The datasets and the coordinate variables, in the order of the file.
    pub vars: Vec<Var>,
    /// The attributes of the file.
    pub attributes: Vec<Attribute>,
    /// The reason for each object that cannot be read.
    pub unreadable: Vec<Error>,
    /// Objects that are part of a dataset, so that nobody takes them for others: tag and reference number.
    pub known: HashSet<(u16, u16)>,
}

/// A dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dim {
    /// Its name. Two dimensions may have the same one.
    pub name: Vec<u8>,
    /// Its length; `None` if it is unlimited, so that each dataset on it has a length of its own.
    pub len: Option<u64>,
}

/// A dataset or a coordinate variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Var {
    /// Its name. Two datasets may have the same one.
    pub name: Vec<u8>,
    /// The group of its data, NDG or SDG: tag and reference number.
    pub group: Option<(u16, u16)>,
    /// The type of its numbers.
    pub number: NumberType,
    /// Positions of its dimensions in [`Datasets::dims`], slowest first.
    pub dims: Vec<usize>,
    /// Its lengths as they are stored.
    pub shape: Vec<u64>,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// Its data.
    data: Data,
}

/// Where the data of a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Data {
    /// Nothing was written.
    Unwritten,
    /// An object.
    Object(u16, u16),
    /// A part of the scales of a dataset, from this byte on.
    Scale(u16, u64),
    /// A raster: an object, and the coder of its bytes.
    Raster((u16, u16), RasterCoder),
}

/// An attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Its name.
    pub name: Vec<u8>,
    /// The type of its values.
    pub number: NumberType,
    /// Its values, as they are stored.
    pub bytes: Vec<u8>,
}

impl Datasets {
    /// Reads the datasets of a file.
    ///
    /// # Errors
    /// Those of the source; `EHDFERR` if there is no Vgroup of class `CDF0.0` and one that cannot be read. What else cannot be read is
    /// listed.
    pub fn read(file: &File) -> Result<Datasets> {
        let mut damaged = BTreeMap::new();
        if let Some(found) = cdf::read(file, &mut damaged)? {
            return Ok(found);
        }
        let mut found = ndg::read(file)?;
        // The damaged Vgroup may be the one of all datasets, which has their names, dimensions and attributes.
        if let Some(error) = damaged.values().next().filter(|_| !found.vars.is_empty()) {
            return Err(error.clone().at("the datasets of this file, which a damaged Vgroup may describe"));
        }
        found.known.extend(damaged.keys().map(|&reference| (tags::VG, reference)));
        found.unreadable.extend(damaged.into_values());
        Ok(found)
    }
}

/// Name of the attribute with the value of unwritten elements.
const FILL_VALUE: &[u8] = b"_FillValue";

impl Var {
    /// Returns the bytes of an unwritten element as they are stored: the first ones of the attribute `_FillValue` in the memory of a PC,
    /// which is what the library takes of an attribute of another type, or else netCDF's value for the type. Of a raster whose pixels have
    /// several components they are the bytes of a pixel if the attribute has as many.
    pub fn fill(&self) -> Vec<u8> {
        let size = self.number.size();
        let attribute = self.attributes.iter().find(|attribute| attribute.name == FILL_VALUE);
        let mut bytes: Vec<u8> = match attribute.filter(|attribute| attribute.bytes.len() >= size) {
            Some(attribute) => {
                let len = if attribute.bytes.len() >= self.pixel_size() { self.pixel_size() } else { size };
                attribute.little_endian().take(len).collect()
            }
            None => return data::default_fill(self.number),
        };
        if self.number.stored.order == Order::Big {
            bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
        bytes
    }

    /// Returns the number of bytes of a pixel of a raster whose components lie together; of all else that of a number.
    fn pixel_size(&self) -> usize {
        let size = self.number.size();
        match (&self.data, &self.shape[..]) {
            // Two bytes.
            (Data::Raster(..), &[_, _, components]) => size.saturating_mul(components.saturate()),
            _ => size,
        }
    }
}

impl Attribute {
    /// Returns the bytes of the values, each with the least significant byte first.
    fn little_endian(&self) -> impl Iterator<Item = u8> {
        let is_big = self.number.stored.order == Order::Big;
        let size = self.number.size();
        let place = move |at: usize| if is_big { at - at % size + (size - 1 - at % size) } else { at };
        let whole = self.bytes.len() - self.bytes.len() % size;
        (0..whole).map(move |at| self.bytes[place(at)])
    }
}
