//! The dataspace message: how many elements, in which shape (specification, section IV.A.2.b).

#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Coder, Record, Result};

use crate::Sizes;
use crate::fields::{self, Fields};
use crate::wire::bad;

const WHAT: &str = "dataspace";
/// Maximum number of dimensions.
const RANK: u64 = 32;

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
    /// One element.
    Scalar = 0,
    /// Elements in dimensions.
    Simple = 1,
    /// No elements.
    Null = 2,
}

/// "Dataspace Message".
pub(crate) struct DataspaceMessage<'a> {
    pub space: &'a mut Dataspace,
    pub version: u8,
    pub sizes: Sizes,
}

/// The flag of a message with maximum sizes.
const HAS_MAX: u8 = 1;

impl Record for DataspaceMessage<'_> {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let (space, sizes) = (&mut *self.space, self.sizes);
        c.version(1..=2, &mut self.version)?;
        let mut rank = space.dims.len() as u64;
        c.uint("dimensionality", 1, &mut rank)?;
        if rank > RANK {
            return Err(c.wrong(format!("{rank} dimensions")));
        }
        let mut flags = if space.max.is_some() { HAS_MAX } else { 0 };
        c.int("flags", &mut flags)?;
        let mut kind = space.kind as u8;
        if self.version == 1 {
            c.reserved(5)?;
            // Scalar without dimensions, else simple.
            kind = u8::from(rank > 0);
        } else {
            c.int("type", &mut kind)?;
        }
        space.kind = match kind {
            0 => SpaceKind::Scalar,
            1 => SpaceKind::Simple,
            2 => SpaceKind::Null,
            _ => return Err(c.wrong(format!("kind {kind} is unknown"))),
        };
        if space.kind != SpaceKind::Simple && rank > 0 {
            return Err(c.wrong(format!("{rank} dimensions where there are none")));
        }
        c.list("dimension", rank, &mut space.dims, |len, c| c.length("size", sizes, len))?;
        if flags & HAS_MAX != 0 {
            let max = space.max.get_or_insert_default();
            c.list("dimension", rank, max, |max, c| c.limit("maximum size", sizes, max))?;
        }
        Ok(())
    }
}

impl Dataspace {
    /// A dataspace from a message of version 1 or 2.
    ///
    /// # Errors
    /// `EHDFERR` for bytes that are no dataspace.
    pub fn decode(bytes: &[u8], sizes: Sizes) -> Result<Dataspace> {
        let mut space = Dataspace { kind: SpaceKind::Null, dims: vec![], max: None };
        fields::read(&mut DataspaceMessage { space: &mut space, version: 0, sizes }, WHAT, bytes)?;
        let max = space.max.iter().flatten();
        if let Some(dim) = space.dims.iter().zip(max).position(|(&len, max)| max.is_some_and(|max| len > max))
        {
            return Err(bad(format!("{WHAT}: dimension {dim} is longer than it may be")));
        }
        Ok(space)
    }

    /// The message of version 2.
    ///
    /// # Errors
    /// `ERANGE` for a length that the file's width of lengths cannot hold, or too many dimensions.
    pub fn encode(&self, sizes: Sizes) -> Result<Vec<u8>> {
        fields::write(&mut DataspaceMessage { space: &mut self.clone(), version: 2, sizes }, WHAT)
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
