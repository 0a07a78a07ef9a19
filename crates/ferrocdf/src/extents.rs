//! Which part of a variable: ranges, indices, tuples, slices.
//!
//! ```
//! use ferrocdf::Extents;
//! let all: Extents = (..).into();
//! let one: Extents = [2, 3].into();
//! let mixed: Extents = (0, .., 10..20).into();
//! let start_count = Extents::from((&[0, 0][..], &[2, 3][..]));
//! let every_fifth: Extents = (.., ferrocdf::every(5)).into();
//! ```

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use ferrocdf_array::Selection;
use ferrocdf_bytes::{Code, Error, Result};

/// The part of one dimension that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// One index; the dimension disappears from the shape of the result.
    Index(u64),
    /// `count` indices from `start` on, `stride` apart; as many as there are without `count`.
    Slice {
        /// The first index.
        start: u64,
        /// How many, or all that remain.
        count: Option<u64>,
        /// Distance between neighbours.
        stride: u64,
    },
}

/// The part of a variable that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extents {
    /// Everything.
    All,
    /// One extent per dimension.
    Each(Vec<Extent>),
}

/// Every `stride`-th index of a dimension, from the first on.
pub fn every(stride: u64) -> Extent {
    Extent::Slice { start: 0, count: None, stride }
}

impl Extents {
    /// Returns the selection in a variable of this shape; `dim_name` names its dimensions in the error. Extents without a count
    /// end where the dimension does; if `wanted` elements are to be written, one open extent of the first dimension, when it
    /// `grows`, is as long as they need.
    pub(crate) fn resolve(
        &self,
        shape: &[u64],
        grows: bool,
        wanted: Option<u64>,
        dim_name: impl Fn(usize) -> String,
    ) -> Result<Selection> {
        let all = vec![every(1); shape.len()];
        let extents = match self {
            Extents::All => &all,
            Extents::Each(extents) => extents,
        };
        if extents.len() != shape.len() {
            let plural = |count| if count == 1 { "" } else { "s" };
            let (given, rank) = (extents.len(), shape.len());
            let names: Vec<String> = (0..rank).map(dim_name).collect();
            let what = format!(
                "{given} extent{} for a variable of {rank} dimension{}{}",
                plural(given),
                plural(rank),
                if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
            );
            return Err(Error::new(Code::EINVALCOORDS, what));
        }
        let mut selection = Selection::all(&[]);
        for (&extent, &len) in extents.iter().zip(shape) {
            let (start, count, stride) = match extent {
                Extent::Index(at) => (at, 1, 1),
                Extent::Slice { start, count: Some(count), stride } => (start, count, stride),
                Extent::Slice { start, count: None, stride } => {
                    (start, len.saturating_sub(start).div_ceil(stride.max(1)), stride)
                }
            };
            selection.start.push(start);
            selection.count.push(count);
            selection.stride.push(stride);
        }
        if let (true, Some(wanted), Some(Extent::Slice { count: None, .. })) =
            (grows, wanted, extents.first())
        {
            let row = selection.count[1..].iter().fold(1u64, |row, &count| row.saturating_mul(count));
            if row > 0 && wanted % row == 0 {
                selection.count[0] = wanted / row;
            }
        }
        Ok(selection)
    }

    /// The shape of the result: the counts of the dimensions that were not asked for by index.
    #[cfg(feature = "ndarray")]
    pub(crate) fn result_shape(&self, selection: &Selection) -> Vec<usize> {
        let keeps = |at: usize| match self {
            Extents::All => true,
            Extents::Each(extents) => !matches!(extents[at], Extent::Index(_)),
        };
        let counts = selection.count.iter().enumerate();
        counts.filter(|(at, _)| keeps(*at)).map(|(_, &count)| count as usize).collect()
    }
}

/// Numbers usable as indices. A negative one is past every dimension, which gives the proper error.
macro_rules! from_indices {
    ($($index:ty),*) => { $(
        impl From<$index> for Extent {
            fn from(at: $index) -> Self {
                Extent::Index(u64::try_from(at).unwrap_or(u64::MAX))
            }
        }
        impl From<Range<$index>> for Extent {
            fn from(range: Range<$index>) -> Self {
                let start = u64::try_from(range.start).unwrap_or(u64::MAX);
                let end = u64::try_from(range.end).unwrap_or(0);
                Extent::Slice { start, count: Some(end.saturating_sub(start)), stride: 1 }
            }
        }
        impl From<RangeInclusive<$index>> for Extent {
            fn from(range: RangeInclusive<$index>) -> Self {
                let (start, end) = range.into_inner();
                (start..end.saturating_add(1)).into()
            }
        }
        impl From<RangeFrom<$index>> for Extent {
            fn from(range: RangeFrom<$index>) -> Self {
                let start = u64::try_from(range.start).unwrap_or(u64::MAX);
                Extent::Slice { start, count: None, stride: 1 }
            }
        }
        impl From<RangeTo<$index>> for Extent {
            fn from(range: RangeTo<$index>) -> Self {
                (0..range.end).into()
            }
        }
        impl From<RangeToInclusive<$index>> for Extent {
            fn from(range: RangeToInclusive<$index>) -> Self {
                (0..=range.end).into()
            }
        }
        impl From<$index> for Extents {
            fn from(at: $index) -> Self {
                Extents::Each(vec![at.into()])
            }
        }
        impl From<Range<$index>> for Extents {
            fn from(range: Range<$index>) -> Self {
                Extents::Each(vec![range.into()])
            }
        }
        impl From<RangeInclusive<$index>> for Extents {
            fn from(range: RangeInclusive<$index>) -> Self {
                Extents::Each(vec![range.into()])
            }
        }
        impl From<RangeFrom<$index>> for Extents {
            fn from(range: RangeFrom<$index>) -> Self {
                Extents::Each(vec![range.into()])
            }
        }
        impl From<RangeTo<$index>> for Extents {
            fn from(range: RangeTo<$index>) -> Self {
                Extents::Each(vec![range.into()])
            }
        }
        impl From<&[$index]> for Extents {
            fn from(indices: &[$index]) -> Self {
                Extents::Each(indices.iter().map(|&at| at.into()).collect())
            }
        }
        impl<const N: usize> From<[$index; N]> for Extents {
            fn from(indices: [$index; N]) -> Self {
                indices[..].into()
            }
        }
        impl<const N: usize> From<(&[$index; N], &[$index; N])> for Extents {
            /// Start and count of each dimension.
            fn from((start, count): (&[$index; N], &[$index; N])) -> Self {
                (&start[..], &count[..]).into()
            }
        }
        impl From<(&[$index], &[$index])> for Extents {
            /// Start and count of each dimension.
            fn from((start, count): (&[$index], &[$index])) -> Self {
                let ones = vec![1; start.len()];
                (start, count, &ones[..]).into()
            }
        }
        impl From<(&[$index], &[$index], &[$index])> for Extents {
            /// Start, count and stride of each dimension. A list that is shorter than the others ends them all.
            fn from((start, count, stride): (&[$index], &[$index], &[$index])) -> Self {
                let number = |value: $index| u64::try_from(value).unwrap_or(u64::MAX);
                let each = start.iter().zip(count).zip(stride).map(|((&start, &count), &stride)| Extent::Slice {
                    start: number(start),
                    count: Some(number(count)),
                    stride: number(stride),
                });
                Extents::Each(each.collect())
            }
        }
    )* };
}

from_indices!(usize, u64, i32);

impl From<RangeFull> for Extent {
    fn from(_: RangeFull) -> Self {
        every(1)
    }
}

impl From<()> for Extents {
    /// The one element of a scalar variable.
    fn from((): ()) -> Self {
        Extents::Each(vec![])
    }
}

impl From<RangeFull> for Extents {
    fn from(_: RangeFull) -> Self {
        Extents::All
    }
}

impl From<Vec<Extent>> for Extents {
    fn from(extents: Vec<Extent>) -> Self {
        Extents::Each(extents)
    }
}

impl From<&Extents> for Extents {
    fn from(extents: &Extents) -> Self {
        extents.clone()
    }
}

impl From<&Selection> for Extents {
    fn from(selection: &Selection) -> Self {
        let each = selection.start.iter().zip(&selection.count).zip(&selection.stride);
        let each =
            each.map(|((&start, &count), &stride)| Extent::Slice { start, count: Some(count), stride });
        Extents::Each(each.collect())
    }
}

macro_rules! from_tuples {
    ($(($($part:ident),+))*) => { $(
        impl<$($part: Into<Extent>),+> From<($($part,)+)> for Extents {
            #[allow(non_snake_case)]
            fn from(($($part,)+): ($($part,)+)) -> Self {
                Extents::Each(vec![$($part.into()),+])
            }
        }
    )* };
}

from_tuples! { (A) (A, B) (A, B, C) (A, B, C, D) (A, B, C, D, E) (A, B, C, D, E, F) (A, B, C, D, E, F, G) }
