//! The coordinates of the cells of a grid, from its corners, its projection and its pixel registration.
//!
//! The first row and column lie at the upper left corner, whatever `GridOrigin` says: the HDF-EOS2 library (`GDij2ll`) and GDAL use
//! the origin only to say which corner of a cell gives the coordinates of a corner-registered grid.

use super::projection::Projection;
use super::spheroid::unpacked_degrees;
use super::structure::{Grid, GridOrigin};

/// The coordinates of the cells along one dimension, evenly spaced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    /// Coordinate of the outer edge of the first cell.
    edge: f64,
    /// Distance from one cell to the next.
    step: f64,
    /// Position within a cell that gives its coordinate, from 0 (the side of the first edge) to 1.
    within: f64,
    /// Number of cells.
    pub count: u64,
}

impl Axis {
    pub fn new(first: f64, last: f64, within: f64, count: u64) -> Axis {
        Axis { edge: first, step: (last - first) / count as f64, within, count }
    }

    /// Returns the coordinate of a cell.
    pub fn at(&self, index: u64) -> f64 {
        self.edge + (index as f64 + self.within) * self.step
    }
}

/// The coordinates of a grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Georeference {
    pub projection: Projection,
    /// Coordinates of the columns: metres, or longitudes in degrees.
    pub x: Axis,
    /// Coordinates of the rows: metres, or latitudes in degrees.
    pub y: Axis,
}

impl Georeference {
    /// Returns the coordinates of a grid; the reason if it has none.
    pub fn of(grid: &Grid) -> Result<Georeference, String> {
        if grid.columns == 0 || grid.rows == 0 {
            return Err("it has no cells".into());
        }
        if let Some(why) = &grid.malformed {
            return Err(why.clone());
        }
        let projection = Projection::of(grid)?;
        let [upper_left, lower_right] = match (grid.upper_left, grid.lower_right, &projection) {
            (Some(upper_left), Some(lower_right), Projection::Geographic(_)) => {
                degrees([upper_left, lower_right])
            }
            (Some(upper_left), Some(lower_right), _) => [upper_left, lower_right],
            // The whole Earth, by the library's rule for geographic grids.
            (None, None, Projection::Geographic(_)) => [[-180.0, 90.0], [180.0, -90.0]],
            _ => return Err("its corners are not given".into()),
        };
        if upper_left.iter().chain(&lower_right).any(|corner| !corner.is_finite()) {
            return Err("its corners are not finite".into());
        }
        let (right, down) = match (grid.is_corner_registered, grid.origin) {
            (false, _) => (0.5, 0.5),
            (true, GridOrigin::UpperLeft) => (0.0, 0.0),
            (true, GridOrigin::UpperRight) => (1.0, 0.0),
            (true, GridOrigin::LowerLeft) => (0.0, 1.0),
            (true, GridOrigin::LowerRight) => (1.0, 1.0),
        };
        let x = Axis::new(upper_left[0], lower_right[0], right, grid.columns);
        let y = Axis::new(upper_left[1], lower_right[1], down, grid.rows);
        Ok(Georeference { projection, x, y })
    }
}

/// Returns the corners of a geographic grid in degrees. They are packed as degrees, minutes and seconds; some producers wrote
/// degrees instead, which are too small to be packed angles of a grid: 360 is 6 minutes of arc.
fn degrees(corners: [[f64; 2]; 2]) -> [[f64; 2]; 2] {
    if corners.as_flattened().iter().all(|angle| angle.abs() <= 360.0) {
        return corners;
    }
    corners.map(|corner| corner.map(unpacked_degrees))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(projection: &str, corners: [[f64; 2]; 2]) -> Grid {
        let [upper_left, lower_right] = corners.map(Some);
        let projection = projection.to_string();
        Grid { columns: 8, rows: 4, upper_left, lower_right, projection, ..Grid::default() }
    }

    fn coordinates(grid: &Grid) -> (Vec<f64>, Vec<f64>) {
        let Georeference { x, y, .. } = Georeference::of(grid).unwrap();
        let values = |axis: Axis| (0..axis.count).map(|index| axis.at(index)).collect();
        (values(x), values(y))
    }

    #[test]
    fn geographic_corners_are_packed_angles_or_degrees() {
        let packed = grid("GCTP_GEO", [[0.0, 4_030_000.0], [8_000_000.0, -30_000.0]]);
        let (x, y) = coordinates(&packed);
        assert_eq!(x, [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5]);
        assert_eq!(y, [3.875, 2.625, 1.375, 0.125]);
        assert_eq!(coordinates(&grid("GCTP_GEO", [[0.0, 4.5], [8.0, -0.5]])), (x, y));
        let whole = Grid { upper_left: None, lower_right: None, ..packed };
        assert_eq!(coordinates(&whole).1, [67.5, 22.5, -22.5, -67.5]);
    }

    #[test]
    fn corner_registered_cells_have_the_coordinates_of_the_corner_at_the_origin() {
        let centred = grid("GCTP_SNSOID", [[0.0, 40.0], [80.0, 0.0]]);
        for (origin, x0, y0) in [
            (GridOrigin::UpperLeft, 0.0, 40.0),
            (GridOrigin::UpperRight, 10.0, 40.0),
            (GridOrigin::LowerLeft, 0.0, 30.0),
            (GridOrigin::LowerRight, 10.0, 30.0),
        ] {
            let (x, y) = coordinates(&Grid { origin, ..centred_copy(&centred, true) });
            assert_eq!((x[0], y[0], x[1] - x[0], y[1] - y[0]), (x0, y0, 10.0, -10.0), "{origin:?}");
            let (x, y) = coordinates(&Grid { origin, ..centred_copy(&centred, false) });
            assert_eq!((x[0], y[0]), (5.0, 35.0), "{origin:?}");
        }
    }

    fn centred_copy(from: &Grid, is_corner_registered: bool) -> Grid {
        let Grid { columns, rows, upper_left, lower_right, .. } = *from;
        let projection = from.projection.clone();
        Grid { columns, rows, upper_left, lower_right, projection, is_corner_registered, ..Grid::default() }
    }

    #[test]
    fn grid_without_corners_or_projection_has_no_coordinates() {
        let corners = [[0.0, 1.0], [1.0, 0.0]];
        let why = |grid: Grid| Georeference::of(&grid).unwrap_err();
        assert_eq!(why(Grid { lower_right: None, ..grid("GCTP_PS", corners) }), "its corners are not given");
        assert_eq!(why(Grid { rows: 0, ..grid("GCTP_GEO", corners) }), "it has no cells");
        assert_eq!(why(grid("GCTP_PS", [[f64::NAN, 0.0], [1.0, 1.0]])), "its corners are not finite");
        assert_eq!(why(grid("GCTP_SOM", corners)), "the projection GCTP_SOM is not known");
        assert_eq!(why(grid("", corners)), "no projection");
        assert_eq!(why(Grid { zone: 61, ..grid("GCTP_UTM", corners) }), "there is no UTM zone 61");
    }
}
