//! Transverse Mercator and UTM: GCTP numbers 9 and 1.
//!
//! Computed by Krüger's series to the sixth order of the third flattening, with the coefficients of Karney, "Transverse Mercator
//! with an accuracy of a few nanometers" (2011), equations 35 and 36. GCTP's own series is good to a millimetre within a zone only.

use super::{CfAttributes, LonLat, Origin, Spheroid, wrapped};

/// Transverse Mercator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct TransverseMercator {
    pub spheroid: Spheroid,
    pub origin: Origin,
    /// Scale along the central meridian.
    pub scale: f64,
}

/// Terms of a series in the third flattening: the coefficients of each power from the first on.
type Series = [[f64; 6]; 6];

/// From the conformal latitude to the distance along the meridian.
const FORWARD: Series = [
    [1.0 / 2.0, -2.0 / 3.0, 5.0 / 16.0, 41.0 / 180.0, -127.0 / 288.0, 7891.0 / 37800.0],
    [0.0, 13.0 / 48.0, -3.0 / 5.0, 557.0 / 1440.0, 281.0 / 630.0, -1_983_433.0 / 1_935_360.0],
    [0.0, 0.0, 61.0 / 240.0, -103.0 / 140.0, 15061.0 / 26880.0, 167_603.0 / 181_440.0],
    [0.0, 0.0, 0.0, 49561.0 / 161_280.0, -179.0 / 168.0, 6_601_661.0 / 7_257_600.0],
    [0.0, 0.0, 0.0, 0.0, 34729.0 / 80640.0, -3_418_889.0 / 1_995_840.0],
    [0.0, 0.0, 0.0, 0.0, 0.0, 212_378_941.0 / 319_334_400.0],
];

/// From the distance along the meridian to the conformal latitude.
const INVERSE: Series = [
    [1.0 / 2.0, -2.0 / 3.0, 37.0 / 96.0, -1.0 / 360.0, -81.0 / 512.0, 96199.0 / 604_800.0],
    [0.0, 1.0 / 48.0, 1.0 / 15.0, -437.0 / 1440.0, 46.0 / 105.0, -1_118_711.0 / 3_870_720.0],
    [0.0, 0.0, 17.0 / 480.0, -37.0 / 840.0, -209.0 / 4480.0, 5569.0 / 90720.0],
    [0.0, 0.0, 0.0, 4397.0 / 161_280.0, -11.0 / 504.0, -830_251.0 / 7_257_600.0],
    [0.0, 0.0, 0.0, 0.0, 4583.0 / 161_280.0, -108_847.0 / 3_991_680.0],
    [0.0, 0.0, 0.0, 0.0, 0.0, 20_648_693.0 / 638_668_800.0],
];

/// Returns the terms of a series at a third flattening.
fn terms(series: &Series, n: f64) -> [f64; 6] {
    series.map(|coefficients| coefficients.iter().rev().fold(0.0, |sum, coefficient| (sum + coefficient) * n))
}

impl TransverseMercator {
    pub fn inverse(&self, x: f64, y: f64) -> Option<LonLat> {
        let Spheroid { major, minor } = self.spheroid;
        let n = (major - minor) / (major + minor);
        let square = n * n;
        let radius =
            major / (1.0 + n) * (1.0 + square / 4.0 + square * square / 64.0 + square.powi(3) / 256.0);
        let unit = self.scale * radius;
        let origin = self.origin_along_meridian(n);
        let (xi, eta) = ((y - self.origin.northing) / unit + origin, (x - self.origin.easting) / unit);
        // Beyond a quarter of the way around, the series says nothing.
        if eta.is_nan() || eta.abs() > MAX_ETA {
            return None;
        }
        let (mut along, mut across) = (xi, eta);
        for (step, term) in terms(&INVERSE, n).into_iter().enumerate() {
            let factor = 2.0 * (step as f64 + 1.0);
            along -= term * (factor * xi).sin() * (factor * eta).cosh();
            across -= term * (factor * xi).cos() * (factor * eta).sinh();
        }
        let tangent = along.sin() / across.sinh().hypot(along.cos());
        let longitude = across.sinh().atan2(along.cos());
        // The tangent of half the colatitude, in the form without cancellation.
        let secant = tangent.hypot(1.0);
        let half = if tangent > 0.0 { 1.0 / (secant + tangent) } else { secant - tangent };
        let latitude = self.spheroid.latitude_of_conformal(half);
        Some((wrapped(self.origin.longitude.to_radians() + longitude), latitude))
    }

    /// Returns the distance of the origin from the equator, in units of the rectifying radius.
    fn origin_along_meridian(&self, n: f64) -> f64 {
        let conformal = std::f64::consts::FRAC_PI_2
            - 2.0 * self.spheroid.conformal(self.origin.latitude.to_radians()).atan();
        let terms = terms(&FORWARD, n).into_iter().enumerate();
        conformal
            + terms.map(|(step, term)| term * (2.0 * (step as f64 + 1.0) * conformal).sin()).sum::<f64>()
    }

    pub fn attributes(&self) -> CfAttributes {
        vec![
            ("scale_factor_at_central_meridian", vec![self.scale]),
            ("longitude_of_central_meridian", vec![self.origin.longitude]),
            ("latitude_of_projection_origin", vec![self.origin.latitude]),
        ]
    }
}

/// Maximum distance from the central meridian, in units of the rectifying radius.
const MAX_ETA: f64 = 3.0;
