//! Dataspace selections as they are stored: in references to regions, and in the mappings of virtual datasets
//! (specification, appendix D, "Dataspace Encoding").
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Coder, Record, Result};

use crate::fields::{self, Fields};

const WHAT: &str = "selection";
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
    Regular(Vec<HyperslabDim>),
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HyperslabDim {
    /// The first index.
    pub start: u64,
    /// From the start of one block to that of the next, at least 1, and at least the block's length.
    pub stride: u64,
    /// How many blocks.
    pub count: u64,
    /// Indices of a block.
    pub block: u64,
}

impl HyperslabDim {
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
        let mut stored = StoredSelection::default();
        let taken = fields::read(&mut stored, WHAT, bytes)?;
        Ok((stored.selection, taken))
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
            SpaceSelection::Regular(dims) => dims.iter().position(HyperslabDim::is_unlimited),
            _ => None,
        }
    }
}

/// "Dataspace Selection" in all versions.
#[derive(Debug)]
pub(crate) struct StoredSelection {
    pub selection: SpaceSelection,
    version: u32,
    /// "Length" of the versions that have it: bytes that follow. It says no more than they do.
    length: u32,
    /// "Encode Size": bytes of a number.
    width: u8,
}

impl Default for StoredSelection {
    /// A selection to be read.
    fn default() -> Self {
        StoredSelection { selection: SpaceSelection::All, version: 1, length: 0, width: 4 }
    }
}

impl StoredSelection {
    /// A selection to be written: all elements, or blocks at fixed distances in version 2, which every library that knows virtual datasets reads.
    pub fn new(selection: SpaceSelection) -> StoredSelection {
        let rank = selection.rank().unwrap_or(0) as u32;
        match selection {
            // The length counts the rank, and four numbers of 8 bytes for each dimension.
            SpaceSelection::Regular(_) => {
                let length = rank.saturating_mul(32).saturating_add(4);
                StoredSelection { selection, version: 2, length, width: 8 }
            }
            selection => StoredSelection { selection, ..StoredSelection::default() },
        }
    }
}

const NONE: u32 = 0;
const POINTS: u32 = 1;
const HYPERSLAB: u32 = 2;
const ALL: u32 = 3;
/// The flag of a regular hyperslab.
const REGULAR: u8 = 1;

impl Record for StoredSelection {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let mut kind = match &self.selection {
            SpaceSelection::None => NONE,
            SpaceSelection::Points { .. } => POINTS,
            SpaceSelection::Regular(_) | SpaceSelection::Boxes { .. } => HYPERSLAB,
            SpaceSelection::All => ALL,
        };
        c.int("selection type", &mut kind)?;
        c.int("version", &mut self.version)?;
        match kind {
            NONE | ALL => {
                if C::READS {
                    self.selection = if kind == NONE { SpaceSelection::None } else { SpaceSelection::All };
                }
                self.length(c)
            }
            POINTS => self.points(c),
            HYPERSLAB => self.hyperslab(c),
            _ => Err(c.wrong(format!("kind {kind} is unknown"))),
        }
    }
}

impl StoredSelection {
    fn length<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.reserved(4)?;
        c.int("length", &mut self.length)
    }

    fn width<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.int("encode size", &mut self.width)?;
        match self.width {
            2 | 4 | 8 => Ok(()),
            other => Err(c.wrong(format!("numbers of {other} bytes"))),
        }
    }

    fn points<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        match self.version {
            1 => {
                self.length(c)?;
                self.width = 4;
            }
            2 => self.width(c)?,
            other => return Err(c.wrong(format!("version {other} of points is unknown"))),
        }
        let width = self.width.into();
        let (mut rank, mut coords) = match &mut self.selection {
            SpaceSelection::Points { rank, coords } => (*rank, std::mem::take(coords)),
            _ => (0, vec![]),
        };
        let count = coords.len().checked_div(rank).unwrap_or(0) as u64;
        fields_of_rank(&mut rank, c)?;
        fields_of_numbers(count, rank, width, &mut coords, c)?;
        self.selection = SpaceSelection::Points { rank, coords };
        Ok(())
    }

    fn hyperslab<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let mut flags = if matches!(self.selection, SpaceSelection::Regular(_)) { REGULAR } else { 0 };
        match self.version {
            1 if flags != 0 => return Err(c.wrong("a regular hyperslab in version 1")),
            1 => {
                self.length(c)?;
                self.width = 4;
            }
            2 => {
                c.int("flags", &mut flags)?;
                c.int("length", &mut self.length)?;
                self.width = 8;
            }
            3 => {
                c.int("flags", &mut flags)?;
                self.width(c)?;
            }
            other => return Err(c.wrong(format!("version {other} of hyperslabs is unknown"))),
        }
        let width = self.width.into();
        let mut rank = self.selection.rank().unwrap_or(0);
        let count = match &self.selection {
            SpaceSelection::Boxes { corners, .. } => corners.len().checked_div(rank.saturating_mul(2)),
            _ => None,
        };
        fields_of_rank(&mut rank, c)?;
        if flags & REGULAR != 0 {
            let mut dims = match &mut self.selection {
                SpaceSelection::Regular(dims) => std::mem::take(dims),
                _ => vec![],
            };
            c.list("dimension", rank as u64, &mut dims, |dim, c| dim.fields(width, c))?;
            if dims.iter().filter(|dim| dim.is_unlimited()).count() > 1 {
                return Err(c.wrong("more than one dimension without limit"));
            }
            self.selection = SpaceSelection::Regular(dims);
            return Ok(());
        }
        let mut corners = match &mut self.selection {
            SpaceSelection::Boxes { corners, .. } => std::mem::take(corners),
            _ => vec![],
        };
        let each = rank.saturating_mul(2);
        fields_of_numbers(count.unwrap_or(0) as u64, each, width, &mut corners, c)?;
        for corner in corners.chunks_exact(each) {
            let (first, last) = corner.split_at(rank);
            if first.iter().zip(last).any(|(first, last)| first > last || *last == UNLIMITED) {
                return Err(c.wrong(format!("a box from {first:?} to {last:?}")));
            }
        }
        self.selection = SpaceSelection::Boxes { rank, corners };
        Ok(())
    }
}

fn fields_of_rank<C: Coder>(rank: &mut usize, c: &mut C) -> Result<()> {
    let mut stored = *rank as u32;
    c.int("rank", &mut stored)?;
    if stored == 0 || stored > RANK {
        return Err(c.wrong(format!("{stored} dimensions")));
    }
    *rank = stored as usize;
    Ok(())
}

/// How many groups of `each` numbers there are, and the numbers.
fn fields_of_numbers<C: Coder>(
    mut count: u64,
    each: usize,
    width: usize,
    numbers: &mut Vec<u64>,
    c: &mut C,
) -> Result<()> {
    c.uint("count", width, &mut count)?;
    // What counts more than 64 bits is not there.
    let all = count.saturating_mul(each as u64);
    c.list("coordinate", all, numbers, |number, c| c.uint("value", width, number))
}

impl HyperslabDim {
    /// One dimension of a regular hyperslab, in numbers of `width` bytes, the largest of which stands for "without limit".
    fn fields<C: Coder>(&mut self, width: usize, c: &mut C) -> Result<()> {
        let unlimited = u64::MAX.unbounded_shr(64_u32.saturating_sub((width as u32).saturating_mul(8)));
        let narrow = |number: u64| number.min(unlimited);
        let (mut count, mut block) = (narrow(self.count), narrow(self.block));
        c.uint("start", width, &mut self.start)?;
        c.uint("stride", width, &mut self.stride)?;
        c.uint("count", width, &mut count)?;
        c.uint("block", width, &mut block)?;
        let widened = |number| if number == unlimited { UNLIMITED } else { number };
        (self.count, self.block) = (widened(count), widened(block));
        self.stride = self.stride.max(1);
        if self.count > 1 && self.block > self.stride {
            return Err(c.wrong(format!("blocks of {block} that begin every {}", self.stride)));
        }
        if !self.is_unlimited() && self.end().is_none() {
            return Err(c.wrong("a block that ends beyond 2^64"));
        }
        Ok(())
    }
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
        let mut stored = StoredSelection::default();
        fields::read(&mut stored, WHAT, bytes).unwrap();
        assert_eq!(fields::write(&mut stored, WHAT).unwrap(), bytes);
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
        let limited = HyperslabDim { start: 2, stride: 5, count: 3, block: 4 };
        let endless = HyperslabDim { start: 0, stride: 1, count: UNLIMITED, block: 1 };
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
