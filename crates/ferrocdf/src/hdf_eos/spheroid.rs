//! Figures of the Earth, angles and latitudes that projections share.
//!
//! The numbers are those of the General Cartographic Transformation Package (GCTP), which the HDF-EOS2 library calls; the formulas
//! are those of Snyder, "Map Projections: A Working Manual" (USGS Professional Paper 1395).

use std::f64::consts::{FRAC_PI_2, PI};

/// An ellipsoid of revolution: half axes in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spheroid {
    pub major: f64,
    pub minor: f64,
}

/// Half axes of the spheroids that GCTP numbers from 0 on (`SphereCode`).
const SPHEROIDS: [(f64, f64); 20] = [
    (6_378_206.4, 6_356_583.8),         // Clarke 1866
    (6_378_249.145, 6_356_514.869_55),  // Clarke 1880
    (6_377_397.155, 6_356_078.962_84),  // Bessel
    (6_378_157.5, 6_356_772.2),         // International 1967
    (6_378_388.0, 6_356_911.946_13),    // International 1909
    (6_378_135.0, 6_356_750.519_915),   // WGS 72
    (6_377_276.345_2, 6_356_075.413_3), // Everest
    (6_378_145.0, 6_356_759.769_356),   // WGS 66
    (6_378_137.0, 6_356_752.314_14),    // GRS 1980
    (6_377_563.396, 6_356_256.91),      // Airy
    (6_377_304.063, 6_356_103.039),     // Modified Everest
    (6_377_340.189, 6_356_034.448),     // Modified Airy
    (6_378_137.0, 6_356_752.314_245),   // WGS 84
    (6_378_155.0, 6_356_773.320_5),     // Southeast Asia
    (6_378_160.0, 6_356_774.719),       // Australian National
    (6_378_245.0, 6_356_863.018_8),     // Krassovsky
    (6_378_270.0, 6_356_794.343_479),   // Hough
    (6_378_166.0, 6_356_784.283_666),   // Mercury 1960
    (6_378_150.0, 6_356_768.337_303),   // Modified Mercury 1968
    (SPHERE_RADIUS, SPHERE_RADIUS),     // Sphere
];

/// Radius of GCTP's sphere in metres. Projections of spheres use it with every spheroid that has a number.
const SPHERE_RADIUS: f64 = 6_370_997.0;

impl Spheroid {
    /// Returns the spheroid that `SphereCode` and the first two of `ProjParams` say. A negative code leaves it to the parameters: the
    /// half axes, or the major one and the square of the eccentricity. Unknown codes mean Clarke 1866, as in GCTP.
    pub fn of(code: i64, parameters: &[f64]) -> Spheroid {
        let table = |index: usize| SPHEROIDS.get(index).or(SPHEROIDS.first());
        let known = |index| table(index).map_or((SPHERE_RADIUS, SPHERE_RADIUS), |&axes| axes);
        let first = |index: usize| parameters.get(index).map_or(0.0, |parameter: &f64| parameter.abs());
        let (major, minor) = match (usize::try_from(code), first(0), first(1)) {
            (Ok(code), ..) => known(code),
            (Err(_), major, minor) if major > 0.0 && minor > 1.0 => (major, minor),
            (Err(_), major, square) if major > 0.0 => (major, (1.0 - square).sqrt() * major),
            (Err(_), _, minor) if minor > 0.0 => known(0),
            (Err(_), ..) => (SPHERE_RADIUS, SPHERE_RADIUS),
        };
        Spheroid { major, minor }
    }

    /// Returns the sphere that GCTP uses for projections that know no ellipsoid.
    pub fn sphere_of(code: i64, parameters: &[f64]) -> Spheroid {
        let radius = if code >= 0 { SPHERE_RADIUS } else { Spheroid::of(code, parameters).major };
        Spheroid { major: radius, minor: radius }
    }

    /// True for a sphere.
    pub fn is_sphere(&self) -> bool {
        self.major == self.minor
    }

    /// Returns the eccentricity.
    pub fn eccentricity(&self) -> f64 {
        let ratio = self.minor / self.major;
        (1.0 - ratio * ratio).max(0.0).sqrt()
    }

    /// Returns the radius of the parallel at a latitude, as a part of the major half axis (Snyder, 14-15).
    pub fn parallel(&self, latitude: f64) -> f64 {
        let sine = self.eccentricity() * latitude.sin();
        latitude.cos() / (1.0 - sine * sine).sqrt()
    }

    /// Returns the tangent of half the conformal colatitude (Snyder, 15-9).
    pub fn conformal(&self, latitude: f64) -> f64 {
        let e = self.eccentricity();
        let sine = e * latitude.sin();
        (0.5 * (FRAC_PI_2 - latitude)).tan() / ((1.0 - sine) / (1.0 + sine)).powf(0.5 * e)
    }

    /// Returns the latitude whose [`Spheroid::conformal`] is `tangent` (Snyder, 7-9).
    pub fn latitude_of_conformal(&self, tangent: f64) -> f64 {
        let e = self.eccentricity();
        let mut latitude = FRAC_PI_2 - 2.0 * tangent.atan();
        for _ in 0..ITERATIONS {
            let sine = e * latitude.sin();
            let next = FRAC_PI_2 - 2.0 * (tangent * ((1.0 - sine) / (1.0 + sine)).powf(0.5 * e)).atan();
            let change = (next - latitude).abs();
            latitude = next;
            if change < CONVERGED {
                break;
            }
        }
        latitude
    }

    /// Returns `q`, by which areas grow with the latitude (Snyder, 3-12).
    pub fn authalic(&self, latitude: f64) -> f64 {
        let (e, sine) = (self.eccentricity(), latitude.sin());
        if e < 1e-7 {
            return 2.0 * sine;
        }
        let product = e * sine;
        (1.0 - e * e) * (sine / (1.0 - product * product) + (product.atanh()) / e)
    }

    /// Returns the latitude whose [`Spheroid::authalic`] is `q` (Snyder, 3-16); `None` beyond the poles.
    pub fn latitude_of_authalic(&self, q: f64) -> Option<f64> {
        let (e, at_pole) = (self.eccentricity(), self.authalic(FRAC_PI_2));
        let sine = q / at_pole;
        // Rounding may put a pole a little beyond itself.
        if sine.is_nan() || sine.abs() > 1.0 + 1e-12 {
            return None;
        }
        let mut latitude = sine.clamp(-1.0, 1.0).asin();
        for _ in 0..ITERATIONS {
            let cosine = latitude.cos();
            if cosine < 1e-10 {
                break;
            }
            let sine = e * latitude.sin();
            let width = 1.0 - sine * sine;
            let change = width * width / (2.0 * cosine) * (q - self.authalic(latitude)) / (1.0 - e * e);
            latitude = (latitude + change).clamp(-FRAC_PI_2, FRAC_PI_2);
            if change.abs() < CONVERGED {
                break;
            }
        }
        Some(latitude)
    }
}

/// Maximum number of steps of an iteration. About five are needed on the Earth; strange spheroids of broken files end here.
const ITERATIONS: usize = 30;
/// Change of a latitude in radians below which an iteration ends: a nanometre on the Earth is 1.6e-16.
const CONVERGED: f64 = 1e-15;

/// Returns the degrees of an angle that is packed as degrees * 1,000,000 + minutes * 1,000 + seconds.
pub(super) fn unpacked_degrees(packed: f64) -> f64 {
    let size = packed.abs();
    let degrees = (size / 1e6).trunc();
    let minutes = ((size - degrees * 1e6) / 1e3).trunc();
    let seconds = size - degrees * 1e6 - minutes * 1e3;
    (degrees + minutes / 60.0 + seconds / 3600.0).copysign(packed)
}

/// Returns the same longitude in radians, from -pi to pi.
pub(super) fn wrapped(longitude: f64) -> f64 {
    if longitude.abs() <= PI { longitude } else { longitude - 2.0 * PI * (longitude / (2.0 * PI)).round() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_angles_are_unpacked() {
        for (packed, degrees) in [
            (0.0, 0.0),
            (-180_000_000.0, -180.0),
            (45_030_036.0, 45.51),
            (-70_015_018.0, -70.255),
            (59_059.999, 59.0 / 60.0 + 59.999 / 3600.0),
        ] {
            assert!((unpacked_degrees(packed) - degrees).abs() < 1e-13, "{packed}");
        }
    }

    #[test]
    fn spheroid_comes_from_its_number_or_from_the_parameters() {
        let axes = |code, parameters: &[f64]| {
            let Spheroid { major, minor } = Spheroid::of(code, parameters);
            (major, minor)
        };
        assert_eq!(axes(12, &[1.0, 2.0]), (6_378_137.0, 6_356_752.314_245));
        assert_eq!(axes(99, &[]), (6_378_206.4, 6_356_583.8));
        assert_eq!(axes(-1, &[6_371_007.181, 0.0]), (6_371_007.181, 6_371_007.181));
        assert_eq!(axes(-1, &[6_378_137.0, 6_356_752.0]), (6_378_137.0, 6_356_752.0));
        assert_eq!(axes(-1, &[0.0, 6_356_752.0]), (6_378_206.4, 6_356_583.8));
        assert_eq!(axes(-1, &[]), (SPHERE_RADIUS, SPHERE_RADIUS));
        let (_, minor) = axes(-1, &[6_378_273.0, 0.006_693_883]);
        assert!((minor - 6_356_889.4).abs() < 0.5, "{minor}");
        assert_eq!(Spheroid::sphere_of(0, &[1.0]).major, SPHERE_RADIUS);
        assert_eq!(Spheroid::sphere_of(-1, &[6_371_228.0]).major, 6_371_228.0);
    }

    #[test]
    fn latitudes_come_back_from_auxiliary_ones() {
        for (major, minor) in SPHEROIDS.into_iter().chain([(6e6, 5.9e6)]) {
            let spheroid = Spheroid { major, minor };
            for degrees in [-89.99, -60.0, -1e-9, 0.0, 12.5, 45.0, 89.999] {
                let latitude = f64::to_radians(degrees);
                let conformal = spheroid.latitude_of_conformal(spheroid.conformal(latitude));
                assert!((conformal - latitude).abs() < 1e-14, "{major} {minor} {degrees}");
                let authalic = spheroid.latitude_of_authalic(spheroid.authalic(latitude)).unwrap();
                // Near a pole, areas hardly depend on the latitude.
                assert!(
                    (authalic - latitude).abs() < 2e-15 / latitude.cos(),
                    "{major} {minor} {degrees} {authalic}"
                );
            }
            assert_eq!(spheroid.latitude_of_authalic(2.1), None);
        }
    }
}
