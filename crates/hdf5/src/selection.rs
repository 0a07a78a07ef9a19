//! Dataspace selections as they are stored: in references to regions, and in the mappings of virtual datasets
//! (specification, appendix D, "Dataspace Encoding").

use ferrocdf_bytes::Result;

use crate::wire::Reader;

/// The most dimensions.
const RANK: u32 = 32;

/// The largest number of 64 bits stands for "without limit".
pub const UNLIMITED: u64 = u64::MAX;

/// Which elements of a dataset are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpaceSelection {
    /// None.
    None,
    /// All.
    All,
    /// These, in this order.
    Points {
        /// The number of dimensions, at least 1.
        rank: usize,
        /// The coordinates of one point behind those of the other.
        coords: Vec<u64>,
    },
    /// Blocks at fixed distances; one for each dimension.
    Regular(Vec<Blocks>),
    /// Boxes that do not overlap; the elements are meant in the order of the dataset.
    Boxes {
        /// The number of dimensions, at least 1.
        rank: usize,
        /// Of each box the coordinates of its first, then of its last element.
        corners: Vec<u64>,
    },
}

/// The indices of one dimension: `count` blocks of `block` indices each, `stride` apart, from `start` on. Count or block
/// may be [`UNLIMITED`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// The first index.
    pub start: u64,
    /// From the start of one block to that of the next, at least 1, and at least the block's length.
    pub stride: u64,
    /// How many blocks.
    pub count: u64,
    /// Indices of a block.
    pub block: u64,
}

impl Blocks {
    /// Whether there is no last index.
    pub fn is_unlimited(&self) -> bool {
        self.count == UNLIMITED || self.block == UNLIMITED
    }

    /// The index behind the last; `None` if there is none, or it has more than 64 bits.
    pub fn end(&self) -> Option<u64> {
        if self.is_unlimited() {
            return None;
        }
        let Some(last) = self.count.checked_sub(1) else { return Some(self.start) };
        last.checked_mul(self.stride)?.checked_add(self.start)?.checked_add(self.block)
    }
}

impl SpaceSelection {
    /// A selection at the start of `bytes`, and how many bytes it took.
    ///
    /// # Errors
    /// `EHDFERR` for bytes that are no selection.
    pub fn decode(bytes: &[u8]) -> Result<(SpaceSelection, usize)> {
        let mut r = Reader::new("selection", bytes);
        let selection = match r.u32()? {
            kind @ (0 | 3) => {
                r.skip(12)?;
                if kind == 0 { SpaceSelection::None } else { SpaceSelection::All }
            }
            1 => points(&mut r)?,
            2 => hyperslab(&mut r)?,
            kind => return Err(r.error(format_args!("kind {kind} is unknown"))),
        };
        Ok((selection, r.position()))
    }

    /// The number of dimensions; `None` if the selection fits any.
    pub fn rank(&self) -> Option<usize> {
        match self {
            SpaceSelection::None | SpaceSelection::All => None,
            SpaceSelection::Points { rank, .. } | SpaceSelection::Boxes { rank, .. } => Some(*rank),
            SpaceSelection::Regular(dims) => Some(dims.len()),
        }
    }

    /// The dimension that has no last index, if there is one.
    pub fn unlimited(&self) -> Option<usize> {
        match self {
            SpaceSelection::Regular(dims) => dims.iter().position(Blocks::is_unlimited),
            _ => None,
        }
    }
}

fn rank(r: &mut Reader<'_>) -> Result<usize> {
    let rank = r.u32()?;
    if rank == 0 || rank > RANK {
        return Err(r.error(format_args!("{rank} dimensions")));
    }
    Ok(rank as usize)
}

fn width(r: &mut Reader<'_>) -> Result<usize> {
    let width = usize::from(r.u8()?);
    if !matches!(width, 2 | 4 | 8) {
        return Err(r.error(format_args!("numbers of {width} bytes")));
    }
    Ok(width)
}

/// `count` groups of numbers.
fn numbers(r: &mut Reader<'_>, width: usize, count: u64, each: usize) -> Result<Vec<u64>> {
    let size = usize::try_from(count).ok().and_then(|count| count.checked_mul(each * width));
    let bytes = r.take(size.unwrap_or(usize::MAX))?;
    Ok(bytes.chunks_exact(width).map(crate::wire::number).collect())
}

fn points(r: &mut Reader<'_>) -> Result<SpaceSelection> {
    let version = r.u32()?;
    let (rank, width) = match version {
        1 => {
            r.skip(8)?;
            (rank(r)?, 4)
        }
        2 => {
            let width = width(r)?;
            (rank(r)?, width)
        }
        _ => return Err(r.error(format_args!("version {version} of points is unknown"))),
    };
    let count = r.uint(width)?;
    Ok(SpaceSelection::Points { rank, coords: numbers(r, width, count, rank)? })
}

fn hyperslab(r: &mut Reader<'_>) -> Result<SpaceSelection> {
    let version = r.u32()?;
    let (regular, rank, width) = match version {
        1 => {
            r.skip(8)?;
            (false, rank(r)?, 4)
        }
        2 => {
            let flags = r.u8()?;
            r.skip(4)?;
            (flags & 1 != 0, rank(r)?, 8)
        }
        3 => {
            let flags = r.u8()?;
            let width = width(r)?;
            (flags & 1 != 0, rank(r)?, width)
        }
        _ => return Err(r.error(format_args!("version {version} of hyperslabs is unknown"))),
    };
    if regular {
        return (0..rank).map(|_| blocks(r, width)).collect::<Result<_>>().and_then(|dims: Vec<Blocks>| {
            if dims.iter().filter(|dim| dim.is_unlimited()).count() > 1 {
                return Err(r.error("more than one dimension without limit"));
            }
            Ok(SpaceSelection::Regular(dims))
        });
    }
    let count = r.uint(width)?;
    let corners = numbers(r, width, count, 2 * rank)?;
    for corner in corners.chunks_exact(2 * rank) {
        let (first, last) = corner.split_at(rank);
        if first.iter().zip(last).any(|(first, last)| first > last || *last == UNLIMITED) {
            return Err(r.error(format_args!("a box from {first:?} to {last:?}")));
        }
    }
    Ok(SpaceSelection::Boxes { rank, corners })
}

fn blocks(r: &mut Reader<'_>, width: usize) -> Result<Blocks> {
    let unlimited = u64::MAX >> (64 - 8 * width);
    let mut next = || r.uint(width);
    let (start, stride, count, block) = (next()?, next()?, next()?, next()?);
    let widened = |number| if number == unlimited { UNLIMITED } else { number };
    let blocks = Blocks { start, stride: stride.max(1), count: widened(count), block: widened(block) };
    if blocks.count > 1 && blocks.block > blocks.stride {
        return Err(r.error(format_args!("blocks of {block} that begin every {stride}")));
    }
    if !blocks.is_unlimited() && blocks.end().is_none() {
        return Err(r.error("a block that ends beyond 2^64"));
    }
    Ok(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn decode(bytes: &[u8]) -> SpaceSelection {
        let (selection, taken) = SpaceSelection::decode(bytes).unwrap();
        assert_eq!(taken, bytes.len());
        (0..taken).for_each(|len| assert!(SpaceSelection::decode(&bytes[..len]).is_err()));
        selection
    }

    #[test]
    fn none_and_all() {
        assert_eq!(decode(&words(&[0, 1, 0, 0])), SpaceSelection::None);
        assert_eq!(decode(&words(&[3, 1, 0, 0])), SpaceSelection::All);
    }

    #[test]
    fn points() {
        let expected = SpaceSelection::Points { rank: 2, coords: vec![5, 6, 1, 2] };
        assert_eq!(decode(&words(&[1, 1, 0, 24, 2, 2, 5, 6, 1, 2])), expected);
        let two = [&words(&[1, 2])[..], &[2], &words(&[2]), &[2, 0, 5, 0, 6, 0, 1, 0, 2, 0]].concat();
        assert_eq!(decode(&two), expected);
    }

    #[test]
    fn boxes() {
        let expected = SpaceSelection::Boxes { rank: 1, corners: vec![3, 4, 7, 7] };
        assert_eq!(decode(&words(&[2, 1, 0, 24, 1, 2, 3, 4, 7, 7])), expected);
        let three = [&words(&[2, 3])[..], &[0, 2], &words(&[1]), &[2, 0, 3, 0, 4, 0, 7, 0, 7, 0]].concat();
        assert_eq!(decode(&three), expected);
        assert!(SpaceSelection::decode(&words(&[2, 1, 0, 24, 1, 1, 4, 3])).is_err());
    }

    #[test]
    fn regular_hyperslabs() {
        let limited = Blocks { start: 2, stride: 5, count: 3, block: 4 };
        let endless = Blocks { start: 0, stride: 1, count: UNLIMITED, block: 1 };
        let expected = SpaceSelection::Regular(vec![limited, endless]);
        let dims = |numbers: [u64; 8], width: usize| {
            numbers.iter().flat_map(|number| number.to_le_bytes()[..width].to_vec()).collect::<Vec<u8>>()
        };
        let numbers = [2, 5, 3, 4, 0, 1, u64::MAX, 1];
        let two = [&words(&[2, 2])[..], &[1], &words(&[68, 2]), &dims(numbers, 8)].concat();
        assert_eq!(decode(&two), expected);
        for width in [2, 4, 8] {
            let three = [&words(&[2, 3])[..], &[1, width], &words(&[2]), &dims(numbers, usize::from(width))];
            assert_eq!(decode(&three.concat()), expected);
        }
        assert_eq!((expected.unlimited(), expected.rank(), limited.end()), (Some(1), Some(2), Some(16)));
        let twice =
            [&words(&[2, 2])[..], &[1], &words(&[68, 2]), &dims([0, 1, u64::MAX, 1, 0, 1, u64::MAX, 1], 8)];
        assert!(SpaceSelection::decode(&twice.concat()).is_err());
    }

    #[test]
    fn nonsense_is_an_error() {
        let cases = [words(&[4, 1, 0, 0]), words(&[1, 3, 0, 0]), words(&[2, 4]), words(&[1, 1, 0, 8, 0, 0])];
        for case in cases {
            assert!(SpaceSelection::decode(&case).is_err(), "{case:?}");
        }
        // A count that lies takes no memory.
        assert!(SpaceSelection::decode(&words(&[1, 1, 0, 8, 1, u32::MAX])).is_err());
    }
}
