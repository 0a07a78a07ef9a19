//! Conic projections with two standard parallels.

use super::{CfAttributes, LonLat, Origin, Spheroid, wrapped};

/// Albers equal area conic: GCTP number 3 (Snyder, chapter 14).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct Albers {
    pub spheroid: Spheroid,
    pub origin: Origin,
    /// Latitudes of the standard parallels in degrees.
    pub parallels: [f64; 2],
}

impl Albers {
    pub fn inverse(&self, x: f64, y: f64) -> Option<LonLat> {
        let [first, second] = self.parallels.map(f64::to_radians);
        let Spheroid { major, .. } = self.spheroid;
        let (m1, q1) = (self.spheroid.parallel(first), self.spheroid.authalic(first));
        let n = if is_same(first, second) {
            first.sin()
        } else {
            let m2 = self.spheroid.parallel(second);
            (m1 * m1 - m2 * m2) / (self.spheroid.authalic(second) - q1)
        };
        let c = m1 * m1 + n * q1;
        let rho0 = major * (c - n * self.spheroid.authalic(self.origin.latitude.to_radians())).sqrt() / n;
        let (rho, angle) = polar(n, x - self.origin.easting, rho0 - (y - self.origin.northing));
        let distance = rho * n / major;
        let latitude = self.spheroid.latitude_of_authalic((c - distance * distance) / n)?;
        Some((wrapped(self.origin.longitude.to_radians() + angle / n), latitude))
    }

    pub fn attributes(&self) -> CfAttributes {
        conic_attributes(self.parallels, &self.origin)
    }
}

/// Lambert conformal conic: GCTP number 4 (Snyder, chapter 15).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct LambertConformal {
    pub spheroid: Spheroid,
    pub origin: Origin,
    /// Latitudes of the standard parallels in degrees.
    pub parallels: [f64; 2],
}

impl LambertConformal {
    pub fn inverse(&self, x: f64, y: f64) -> Option<LonLat> {
        let [first, second] = self.parallels.map(f64::to_radians);
        let (m1, t1) = (self.spheroid.parallel(first), self.spheroid.conformal(first));
        let n = if is_same(first, second) {
            first.sin()
        } else {
            (m1 / self.spheroid.parallel(second)).ln() / (t1 / self.spheroid.conformal(second)).ln()
        };
        let radius = self.spheroid.major * m1 / (n * t1.powf(n));
        let rho0 = radius * self.spheroid.conformal(self.origin.latitude.to_radians()).powf(n);
        let (rho, angle) = polar(n, x - self.origin.easting, rho0 - (y - self.origin.northing));
        let latitude = self.spheroid.latitude_of_conformal((rho / radius).powf(1.0 / n));
        Some((wrapped(self.origin.longitude.to_radians() + angle / n), latitude))
    }

    pub fn attributes(&self) -> CfAttributes {
        conic_attributes(self.parallels, &self.origin)
    }
}

/// Returns the distance from the apex of the cone and the angle there. Both have the sign of `n`, which is negative for a cone
/// over the southern hemisphere.
fn polar(n: f64, x: f64, y: f64) -> (f64, f64) {
    let sign = 1f64.copysign(n);
    (sign * x.hypot(y), (sign * x).atan2(sign * y))
}

/// True for two standard parallels that are one.
fn is_same(first: f64, second: f64) -> bool {
    (first - second).abs() < 1e-10
}

fn conic_attributes(parallels: [f64; 2], origin: &Origin) -> CfAttributes {
    vec![
        ("standard_parallel", parallels.to_vec()),
        ("longitude_of_central_meridian", vec![origin.longitude]),
        ("latitude_of_projection_origin", vec![origin.latitude]),
    ]
}
