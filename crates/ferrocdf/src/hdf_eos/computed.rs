//! Coordinates that are computed when they are read.
//!
//! They are the bytes of a blob: the engine reads its tiles as it reads those of a file, on all cores, and no more memory is used
//! than a tile has. Elements are 64-bit floats in the byte order of this machine.

use std::sync::Arc;

use ferrocdf_array::{Array, Kind, Stored};
use ferrocdf_bytes::Result;
use ferrocdf_store::{Blob, Cost};

use super::grid::{Axis, Georeference};
use crate::driver::LocatedArray;

/// A coordinate of the cells of a grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Coordinate {
    /// Map coordinates of the columns or rows: an array of one dimension.
    Along(Axis),
    /// Longitudes of all cells in degrees: an array of rows and columns; NaN beyond the edge of the map.
    Longitude(Georeference),
    /// Latitudes of all cells, likewise.
    Latitude(Georeference),
}

impl Coordinate {
    /// Returns the array of the coordinate, in bytes of its own.
    pub fn array(self) -> Result<LocatedArray> {
        let shape = match &self {
            Coordinate::Along(axis) => vec![axis.count],
            Coordinate::Longitude(grid) | Coordinate::Latitude(grid) => vec![grid.y.count, grid.x.count],
        };
        let array = Array::contiguous(shape, Stored::native(Kind::F64), 0)?;
        Ok(LocatedArray { array, blob: Some(Arc::new(self)) })
    }

    /// Returns the number of elements.
    fn elements(&self) -> u64 {
        match self {
            Coordinate::Along(axis) => axis.count,
            Coordinate::Longitude(grid) | Coordinate::Latitude(grid) => {
                grid.y.count.saturating_mul(grid.x.count)
            }
        }
    }

    /// Returns the element at a position of the dense array.
    fn element(&self, at: u64) -> f64 {
        let degrees = |grid: &Georeference| {
            let (row, column) = (at / grid.x.count, at % grid.x.count);
            grid.projection.inverse(grid.x.at(column), grid.y.at(row))
        };
        match self {
            Coordinate::Along(axis) => axis.at(at),
            Coordinate::Longitude(grid) => degrees(grid).map_or(f64::NAN, |(longitude, _)| longitude),
            Coordinate::Latitude(grid) => degrees(grid).map_or(f64::NAN, |(_, latitude)| latitude),
        }
    }
}

/// Size of an element in bytes.
const SIZE: u64 = size_of::<f64>() as u64;

impl Blob for Coordinate {
    fn size(&self) -> Result<u64> {
        Ok(self.elements().saturating_mul(SIZE))
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        let left = self.size()?.saturating_sub(at);
        let wanted = into.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let mut rest = &mut into[..wanted];
        let (mut index, mut skipped) = (at / SIZE, (at % SIZE) as usize);
        while !rest.is_empty() {
            let bytes = self.element(index).to_ne_bytes();
            let bytes = &bytes[skipped..];
            let (now, later) = rest.split_at_mut(bytes.len().min(rest.len()));
            now.copy_from_slice(&bytes[..now.len()]);
            (rest, index, skipped) = (later, index + 1, 0);
        }
        Ok(wanted)
    }

    fn name(&self) -> String {
        "computed coordinates".into()
    }

    fn cost(&self) -> Cost {
        // A byte that is read along costs some nanoseconds of trigonometry.
        Cost { gap: 0, ..Cost::MEMORY }
    }
}

#[cfg(test)]
mod tests {
    use ferrocdf_array::{Out, RangeCheck, Selection, read};

    use super::super::structure::Grid;
    use super::*;

    fn sinusoidal() -> Georeference {
        let grid = Grid {
            columns: 3,
            rows: 2,
            upper_left: Some([-20_015_109.354, 10_007_554.677]),
            lower_right: Some([20_015_109.354, -10_007_554.677]),
            projection: "GCTP_SNSOID".into(),
            parameters: [6_371_007.181, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            sphere: -1,
            ..Grid::default()
        };
        Georeference::of(&grid).unwrap()
    }

    #[test]
    fn cells_beyond_the_edge_of_the_map_are_nan() {
        let LocatedArray { array, blob } = Coordinate::Longitude(sinusoidal()).array().unwrap();
        let mut longitudes = [0f64; 6];
        let out = Out::new(&mut longitudes);
        assert!(read(&*blob.unwrap(), &array, &Selection::all(&[2, 3]), out).unwrap() == RangeCheck::InRange);
        // At 45 degrees the outer cells are 120 / cos 45 = 170 degrees away: within the map.
        let expected = 120.0 / f64::to_radians(45.0).cos();
        for (longitude, expected) in longitudes.iter().zip([-expected, 0.0, expected].repeat(2)) {
            assert!((longitude - expected).abs() < 1e-6, "{longitudes:?}");
        }
        let narrow = Georeference { y: Axis::new(10_007_554.0, 0.0, 0.1, 2), ..sinusoidal() };
        assert!(Coordinate::Longitude(narrow).element(0).is_nan());
        assert!(Coordinate::Latitude(narrow).element(2).is_nan());
        assert!(Coordinate::Latitude(narrow).element(1).is_finite());
    }

    #[test]
    fn bytes_are_the_same_wherever_a_read_begins() {
        let blob = Coordinate::Latitude(sinusoidal());
        let mut whole = [0; 48];
        assert_eq!(blob.read_at(0, &mut whole).unwrap(), 48);
        for at in 0..=50 {
            for len in [1, 7, 8, 13, 60] {
                let mut part = vec![0; len];
                let got = blob.read_at(at, &mut part).unwrap();
                assert_eq!(got, len.min(48usize.saturating_sub(at as usize)));
                assert_eq!(part[..got], whole[at.min(48) as usize..][..got], "{at} {len}");
            }
        }
    }
}
