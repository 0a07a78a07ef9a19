//! Filters of variables, and the order in which netCDF applies them.
//!
//! Checksums are taken of the elements as they are, then bytes are shuffled, then the others follow in the order in which
//! they were asked for. Reading goes the other way. (netCDF-4 Filter Support, "Multiple Filters".)

use crate::entities::{NamedCodec, Storage};

/// A filter by its HDF5 number, with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The registered HDF5 filter id.
    pub id: u32,
    /// The client values.
    pub params: Vec<u32>,
}

impl Filter {
    /// The id of deflate; its parameter is the level.
    pub const DEFLATE: u32 = 1;
    /// The id of shuffle.
    pub const SHUFFLE: u32 = 2;
    /// The id of the Fletcher-32 checksum.
    pub const FLETCHER32: u32 = 3;
    /// The id of szip; its parameters are options and pixels of a block.
    pub const SZIP: u32 = 4;
    /// The id of n-bit.
    pub const NBIT: u32 = 5;
    /// The id of scale-offset; its parameters are the way to scale and a factor.
    pub const SCALE_OFFSET: u32 = 6;
    /// The id of bzip2; its parameter is the level.
    pub const BZIP2: u32 = 307;
    /// The id of blosc.
    pub const BLOSC: u32 = 32001;
    /// The id of LZ4; its parameter is the size of a block in bytes.
    pub const LZ4: u32 = 32004;
    /// The id of bitshuffle.
    pub const BITSHUFFLE: u32 = 32008;
    /// The id of Zstandard; its parameter is the level.
    pub const ZSTD: u32 = 32015;

    /// Where it stands among others.
    fn rank(&self) -> u8 {
        match self.id {
            Filter::FLETCHER32 => 0,
            Filter::SHUFFLE => 1,
            _ => 2,
        }
    }
}

impl Storage {
    /// The parameters of a filter, if it is one of the variable's.
    pub fn filter(&self, id: u32) -> Option<&[u32]> {
        self.filters.iter().find(|filter| filter.id == id).map(|filter| filter.params.as_slice())
    }

    /// Adds a filter at its place, or gives the one that is there other parameters.
    pub fn set_filter(&mut self, id: u32, params: Vec<u32>) {
        match self.filters.iter_mut().find(|filter| filter.id == id) {
            Some(filter) => filter.params = params,
            None => self.filters.push(Filter { id, params }),
        }
        self.filters.sort_by_key(Filter::rank);
    }

    /// The HDF5 numbers of all filters and named codecs in the order they are applied; 0 for a named codec.
    pub fn filter_ids(&self) -> Vec<u32> {
        self.in_order(|filter| filter.id, |_| 0)
    }

    /// Maps all filters and named codecs, in the order they are applied.
    pub fn in_order<T>(&self, filter: impl Fn(&Filter) -> T, codec: impl Fn(&NamedCodec) -> T) -> Vec<T> {
        let mut all: Vec<T> = self.filters.iter().map(filter).collect();
        for named in self.named_codecs.iter().rev() {
            all.insert(named.filters_before.min(self.filters.len()), codec(named));
        }
        all
    }

    /// Takes a filter away.
    pub fn remove_filter(&mut self, id: u32) {
        self.filters.retain(|filter| filter.id != id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_codecs_have_the_number_0_among_filters() {
        let codec =
            |filters_before| NamedCodec { name: "gzip".to_string(), params: Some(vec![1]), filters_before };
        let filter = |id| Filter { id, params: vec![] };
        let storage = Storage {
            filters: vec![filter(2), filter(1)],
            named_codecs: [0, 1, 1, 2].map(codec).to_vec(),
            ..Storage::default()
        };
        assert_eq!(storage.filter_ids(), [0, 2, 0, 0, 1, 0]);
    }

    #[test]
    fn each_filter_is_there_once_at_its_place() {
        let mut storage = Storage::default();
        for (id, params) in [(307, vec![9]), (2, vec![]), (1, vec![4]), (3, vec![]), (307, vec![5])] {
            storage.set_filter(id, params);
        }
        let shown: Vec<_> = storage.filters.iter().map(|filter| (filter.id, &*filter.params)).collect();
        assert_eq!(shown, [(3, &[][..]), (2, &[]), (307, &[5]), (1, &[4])]);
        storage.remove_filter(2);
        assert_eq!((storage.filter(2), storage.filter(1)), (None, Some(&[4][..])));
    }
}
