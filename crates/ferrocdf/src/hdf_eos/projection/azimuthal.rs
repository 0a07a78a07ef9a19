//! Projections onto a plane that touches the Earth.

use std::f64::consts::FRAC_PI_2;

use super::{CfAttributes, LonLat, Origin, Spheroid, wrapped};

/// Lambert azimuthal equal area: GCTP number 11 (Snyder, chapter 24), of a sphere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct LambertAzimuthal {
    pub sphere: Spheroid,
    pub origin: Origin,
}

impl LambertAzimuthal {
    pub fn inverse(&self, x: f64, y: f64) -> Option<LonLat> {
        let (x, y) = (x - self.origin.easting, y - self.origin.northing);
        let rho = x.hypot(y);
        let half = rho / (2.0 * self.sphere.major);
        if half.is_nan() || half > 1.0 {
            return None;
        }
        if rho == 0.0 {
            return Some((self.origin.longitude.to_radians(), self.origin.latitude.to_radians()));
        }
        let (sin_c, cos_c) = (2.0 * half.asin()).sin_cos();
        let (sin_origin, cos_origin) = self.origin.latitude.to_radians().sin_cos();
        // The point as a unit vector: arc tangents keep precision at the poles, where an arc sine loses it.
        let north = cos_c * sin_origin + y / rho * sin_c * cos_origin;
        let east = x / rho * sin_c;
        let ahead = cos_c * cos_origin - y / rho * sin_c * sin_origin;
        Some((
            wrapped(self.origin.longitude.to_radians() + east.atan2(ahead)),
            north.atan2(east.hypot(ahead)),
        ))
    }

    pub fn attributes(&self) -> CfAttributes {
        vec![
            ("longitude_of_projection_origin", vec![self.origin.longitude]),
            ("latitude_of_projection_origin", vec![self.origin.latitude]),
        ]
    }
}

/// Polar stereographic: GCTP number 6 (Snyder, chapter 21). The origin's latitude is that of true scale, and its sign says which
/// pole is the centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct PolarStereographic {
    pub spheroid: Spheroid,
    pub origin: Origin,
}

impl PolarStereographic {
    fn sign(&self) -> f64 {
        if self.origin.latitude < 0.0 { -1.0 } else { 1.0 }
    }

    pub fn inverse(&self, x: f64, y: f64) -> Option<LonLat> {
        let sign = self.sign();
        let (x, y) = (sign * (x - self.origin.easting), sign * (y - self.origin.northing));
        let true_scale = self.origin.latitude.to_radians().abs();
        // The distance from the pole for each unit of the conformal tangent.
        let unit = if (true_scale - FRAC_PI_2).abs() < 1e-10 {
            let e = self.spheroid.eccentricity();
            2.0 * self.spheroid.major / ((1.0 + e).powf(1.0 + e) * (1.0 - e).powf(1.0 - e)).sqrt()
        } else {
            self.spheroid.major * self.spheroid.parallel(true_scale) / self.spheroid.conformal(true_scale)
        };
        let rho = x.hypot(y);
        let latitude = self.spheroid.latitude_of_conformal(rho / unit);
        let angle = if rho == 0.0 { 0.0 } else { x.atan2(-y) };
        Some((wrapped(self.origin.longitude.to_radians() + sign * angle), sign * latitude))
    }

    pub fn attributes(&self) -> CfAttributes {
        vec![
            ("straight_vertical_longitude_from_pole", vec![self.origin.longitude]),
            ("latitude_of_projection_origin", vec![90.0 * self.sign()]),
            ("standard_parallel", vec![self.origin.latitude]),
        ]
    }
}
