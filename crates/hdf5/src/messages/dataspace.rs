//! The dataspace message: how many elements, in which shape (specification, section IV.A.2.b).

use ferrocdf_bytes::Result;

use crate::Sizes;
use crate::wire::{Reader, Writer};

/// The most dimensions.
const RANK: u8 = 32;

/// The shape of a dataset or attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dataspace {
    /// The kind.
    pub kind: SpaceKind,
    /// The length of each dimension, slowest first; empty unless the space is simple.
    pub dims: Vec<u64>,
    /// What each dimension may grow to, `None` without limit; without the list they cannot grow.
    pub max: Option<Vec<Option<u64>>>,
}

/// The kinds of dataspaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceKind {
    /// No elements.
    Null,
    /// One element.
    Scalar,
    /// Elements in dimensions.
    Simple,
}

impl Dataspace {
    /// A dataspace from a message of version 1 or 2.
    ///
    /// # Errors
    /// `EHDFERR` for bytes that are no dataspace.
    pub fn decode(bytes: &[u8], sizes: Sizes) -> Result<Dataspace> {
        let mut r = Reader::new("dataspace", bytes);
        let version = r.version(1..=2)?;
        let rank = r.u8()?;
        if rank > RANK {
            return Err(r.error(format_args!("{rank} dimensions")));
        }
        let flags = r.u8()?;
        let kind = match (version, rank) {
            (1, 0) => SpaceKind::Scalar,
            (1, _) => SpaceKind::Simple,
            _ => match r.u8()? {
                0 => SpaceKind::Scalar,
                1 => SpaceKind::Simple,
                2 => SpaceKind::Null,
                kind => return Err(r.error(format_args!("kind {kind} is unknown"))),
            },
        };
        if version == 1 {
            r.skip(5)?;
        }
        if kind != SpaceKind::Simple && rank > 0 {
            return Err(r.error(format_args!("{rank} dimensions where there are none")));
        }
        let mut dims = Vec::with_capacity(usize::from(rank));
        for _ in 0..rank {
            dims.push(r.length(sizes)?);
        }
        let mut max = None;
        if flags & 1 != 0 {
            let mut list = Vec::with_capacity(usize::from(rank));
            for _ in 0..rank {
                list.push(Some(r.length(sizes)?).filter(|&len| len != sizes.unlimited()));
            }
            let beyond = dims.iter().zip(&list).position(|(&len, max)| max.is_some_and(|max| len > max));
            if let Some(dim) = beyond {
                return Err(r.error(format_args!("dimension {dim} is longer than it may be")));
            }
            max = Some(list);
        }
        Ok(Dataspace { kind, dims, max })
    }

    /// The message of version 2.
    ///
    /// # Errors
    /// `ERANGE` for a length that the file's width of lengths cannot hold, or too many dimensions.
    pub fn encode(&self, sizes: Sizes) -> Result<Vec<u8>> {
        let mut w = Writer::new("dataspace");
        if self.dims.len() > usize::from(RANK) {
            w.fail(format_args!("{} dimensions", self.dims.len()));
        }
        w.u8(2);
        w.u8(self.dims.len() as u8);
        w.u8(u8::from(self.max.is_some()));
        w.u8(match self.kind {
            SpaceKind::Scalar => 0,
            SpaceKind::Simple => 1,
            SpaceKind::Null => 2,
        });
        for &len in &self.dims {
            w.length(sizes, len);
        }
        for &max in self.max.iter().flatten() {
            w.length(sizes, max.unwrap_or(sizes.unlimited()));
        }
        w.finish()
    }

    /// The number of elements, or nothing if it is more than 64 bits hold.
    pub fn elements(&self) -> Option<u64> {
        match self.kind {
            SpaceKind::Null => Some(0),
            _ if self.dims.contains(&0) => Some(0),
            _ => self.dims.iter().try_fold(1u64, |product, &len| product.checked_mul(len)),
        }
    }

    /// What a dimension may grow to, `None` without limit.
    pub fn max(&self, dim: usize) -> Option<u64> {
        match &self.max {
            Some(max) => max.get(dim).copied().flatten(),
            None => self.dims.get(dim).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: Sizes = Sizes { offset: 8, length: 4 };

    #[test]
    fn both_versions() {
        let dims = [[3, 0, 0, 0], [5, 0, 0, 0], [3, 0, 0, 0], [255; 4]].concat();
        let one = Dataspace::decode(&[&[1, 2, 1, 0, 0, 0, 0, 0], &dims[..]].concat(), SIZES).unwrap();
        let two = Dataspace::decode(&[&[2, 2, 1, 1], &dims[..]].concat(), SIZES).unwrap();
        let expected =
            Dataspace { kind: SpaceKind::Simple, dims: vec![3, 5], max: Some(vec![Some(3), None]) };
        assert_eq!((&one, &two), (&expected, &expected));
        assert_eq!(expected.encode(SIZES).unwrap(), [&[2, 2, 1, 1], &dims[..]].concat());
        assert_eq!((one.elements(), one.max(0), one.max(1)), (Some(15), Some(3), None));
        let scalar = Dataspace::decode(&[1, 0, 0, 0, 0, 0, 0, 0], SIZES).unwrap();
        assert_eq!((scalar.kind, scalar.elements()), (SpaceKind::Scalar, Some(1)));
        let null = Dataspace::decode(&[2, 0, 0, 2], SIZES).unwrap();
        assert_eq!((null.kind, null.elements()), (SpaceKind::Null, Some(0)));
        assert_eq!(scalar.encode(SIZES).unwrap(), [2, 0, 0, 0]);
        assert_eq!(null.encode(SIZES).unwrap(), [2, 0, 0, 2]);
        let long = Dataspace { kind: SpaceKind::Simple, dims: vec![1 << 32], max: None };
        assert!(long.encode(SIZES).is_err());
    }

    #[test]
    fn nonsense_is_an_error() {
        let longer = [&[2, 1, 1, 1][..], &[4, 0, 0, 0, 3, 0, 0, 0]].concat();
        for bytes in
            [&longer[..], &[3, 0, 0, 0], &[2, 33, 0, 1], &[2, 1, 0, 2, 1, 0, 0, 0], &[2, 2, 0, 1, 1, 0, 0, 0]]
        {
            assert!(Dataspace::decode(bytes, SIZES).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn too_many_elements_to_count() {
        let sizes = Sizes { offset: 8, length: 8 };
        let half = (1u64 << 32).to_le_bytes();
        let space = Dataspace::decode(&[&[2, 2, 0, 1], &half[..], &half[..]].concat(), sizes).unwrap();
        assert_eq!(space.elements(), None);
    }
}
