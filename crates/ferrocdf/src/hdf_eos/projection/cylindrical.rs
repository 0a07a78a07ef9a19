//! Projections whose meridians are straight and parallel, and the sinusoidal one.

use std::f64::consts::{FRAC_PI_2, PI};

use super::{CfAttributes, LonLat, Origin, Spheroid, wrapped};

/// Cylindrical equal area: GCTP numbers 97 and 98 (Snyder, chapter 10).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct EqualArea {
    pub spheroid: Spheroid,
    pub origin: Origin,
    /// Latitude of true scale in degrees.
    pub true_scale: f64,
}

impl EqualArea {
    pub fn inverse(&self, x: f64, y: f64) -> Option<LonLat> {
        let scale = self.spheroid.parallel(self.true_scale.to_radians());
        let along = (x - self.origin.easting) / (self.spheroid.major * scale);
        let q = 2.0 * (y - self.origin.northing) * scale / self.spheroid.major;
        within_half_turn(along)?;
        Some((wrapped(self.origin.longitude.to_radians() + along), self.spheroid.latitude_of_authalic(q)?))
    }

    pub fn attributes(&self) -> CfAttributes {
        vec![
            ("longitude_of_central_meridian", vec![self.origin.longitude]),
            ("standard_parallel", vec![self.true_scale]),
        ]
    }
}

/// Mercator: GCTP number 5 (Snyder, chapter 7).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct Mercator {
    pub spheroid: Spheroid,
    pub origin: Origin,
    /// Latitude of true scale in degrees.
    pub true_scale: f64,
}

impl Mercator {
    pub fn inverse(&self, x: f64, y: f64) -> Option<LonLat> {
        let scale = self.spheroid.major * self.spheroid.parallel(self.true_scale.to_radians());
        let along = (x - self.origin.easting) / scale;
        within_half_turn(along)?;
        let latitude = self.spheroid.latitude_of_conformal((-(y - self.origin.northing) / scale).exp());
        Some((wrapped(self.origin.longitude.to_radians() + along), latitude))
    }

    pub fn attributes(&self) -> CfAttributes {
        vec![
            ("longitude_of_projection_origin", vec![self.origin.longitude]),
            ("standard_parallel", vec![self.true_scale]),
        ]
    }
}

/// Sinusoidal: GCTP number 16 (Snyder, chapter 30), of a sphere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct Sinusoidal {
    pub sphere: Spheroid,
    pub origin: Origin,
}

impl Sinusoidal {
    pub fn inverse(&self, x: f64, y: f64) -> Option<LonLat> {
        let latitude = (y - self.origin.northing) / self.sphere.major;
        if latitude.is_nan() || latitude.abs() > FRAC_PI_2 + ROUNDING {
            return None;
        }
        let latitude = latitude.clamp(-FRAC_PI_2, FRAC_PI_2);
        let radius = self.sphere.major * latitude.cos();
        let along = (x - self.origin.easting) / radius;
        within_half_turn(along)?;
        Some((wrapped(self.origin.longitude.to_radians() + along), latitude))
    }

    pub fn attributes(&self) -> CfAttributes {
        vec![("longitude_of_projection_origin", vec![self.origin.longitude])]
    }
}

/// Angle in radians by which a point on the edge of a map may be beyond it: 6 micrometres on the Earth.
const ROUNDING: f64 = 1e-12;

/// Returns `None` for a longitude that is more than half a turn from the central meridian: it is beyond the edge of the map.
fn within_half_turn(along: f64) -> Option<()> {
    (along.abs() <= PI + ROUNDING).then_some(())
}
