//! The map projections of grids: from map coordinates to longitude and latitude, and as CF grid mappings.
//!
//! Names, numbers and parameters are those of GCTP, the General Cartographic Transformation Package of the USGS, which the HDF-EOS2
//! library calls (HDF-EOS Library User's Guide, volume 2, section 1.6). Only the inverse map is here: a reader needs no other one.
//!
//! Not done: the projections of GCTP that no known product uses, and the integerized sinusoidal grid of early MODIS products, whose
//! rows are no straight lines of another grid.

mod azimuthal;
mod conic;
mod cylindrical;
mod transverse_mercator;
mod wkt;

use azimuthal::{LambertAzimuthal, PolarStereographic};
use conic::{Albers, LambertConformal};
use cylindrical::{EqualArea, Mercator, Sinusoidal};
use transverse_mercator::TransverseMercator;

use super::spheroid::{Spheroid, unpacked_degrees, wrapped};
use super::structure::Grid;

/// Longitude and latitude in radians.
type LonLat = (f64, f64);

/// Names and values of attributes of a grid mapping variable.
pub(super) type CfAttributes = Vec<(&'static str, Vec<f64>)>;

/// The point of the Earth at the map coordinates `easting`, `northing`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Origin {
    /// Degrees.
    pub longitude: f64,
    /// Degrees.
    pub latitude: f64,
    /// Metres.
    pub easting: f64,
    /// Metres.
    pub northing: f64,
}

/// The projection of a grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Projection {
    /// No projection: map coordinates are longitude and latitude in degrees.
    Geographic(Spheroid),
    TransverseMercator(TransverseMercator),
    Albers(Albers),
    LambertConformal(LambertConformal),
    Mercator(Mercator),
    PolarStereographic(PolarStereographic),
    LambertAzimuthal(LambertAzimuthal),
    Sinusoidal(Sinusoidal),
    EqualArea(EqualArea),
}

impl Projection {
    /// Returns the projection that `StructMetadata` gives a grid; the reason if it is none of those that are known.
    pub fn of(grid: &Grid) -> Result<Projection, String> {
        let parameters = &grid.parameters;
        if let Some(bad) = parameters.iter().find(|parameter| !parameter.is_finite()) {
            return Err(format!("ProjParams: {bad} is not finite"));
        }
        let spheroid = Spheroid::of(grid.sphere, parameters);
        let sphere = Spheroid::sphere_of(grid.sphere, parameters);
        let angle = |at: usize| unpacked_degrees(parameters[at]);
        let [.., easting, northing] = parameters[..8] else { return Err("ProjParams are too few".into()) };
        let origin = Origin { longitude: angle(4), latitude: angle(5), easting, northing };
        let (true_scale, parallels) = (angle(5), [angle(2), angle(3)]);
        Ok(match grid.projection.as_str() {
            "GCTP_GEO" => Projection::Geographic(spheroid),
            "GCTP_UTM" => Projection::TransverseMercator(utm(grid, spheroid)?),
            "GCTP_ALBERS" => Projection::Albers(Albers { spheroid, origin, parallels }),
            "GCTP_LAMCC" => Projection::LambertConformal(LambertConformal { spheroid, origin, parallels }),
            "GCTP_MERCAT" => Projection::Mercator(Mercator { spheroid, origin, true_scale }),
            "GCTP_PS" => Projection::PolarStereographic(PolarStereographic { spheroid, origin }),
            "GCTP_TM" => {
                let scale = parameters[2];
                Projection::TransverseMercator(TransverseMercator { spheroid, origin, scale })
            }
            "GCTP_LAMAZ" => Projection::LambertAzimuthal(LambertAzimuthal { sphere, origin }),
            "GCTP_SNSOID" => Projection::Sinusoidal(Sinusoidal { sphere, origin }),
            "GCTP_CEA" | "GCTP_BCEA" => Projection::EqualArea(EqualArea { spheroid, origin, true_scale }),
            "" => return Err("no projection".into()),
            other => return Err(format!("the projection {other} is not known")),
        })
    }

    /// Returns longitude and latitude in degrees of a point of the map; `None` beyond the edge of the map.
    pub fn inverse(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        if !x.is_finite() || !y.is_finite() {
            return None;
        }
        let (longitude, latitude) = match self {
            Projection::Geographic(_) => return Some((x, y)),
            Projection::TransverseMercator(projection) => projection.inverse(x, y),
            Projection::Albers(projection) => projection.inverse(x, y),
            Projection::LambertConformal(projection) => projection.inverse(x, y),
            Projection::Mercator(projection) => projection.inverse(x, y),
            Projection::PolarStereographic(projection) => projection.inverse(x, y),
            Projection::LambertAzimuthal(projection) => projection.inverse(x, y),
            Projection::Sinusoidal(projection) => projection.inverse(x, y),
            Projection::EqualArea(projection) => projection.inverse(x, y),
        }?;
        let is_number = longitude.is_finite() && latitude.is_finite();
        is_number.then(|| (longitude.to_degrees(), latitude.to_degrees()))
    }

    /// Returns the name of the projection in the CF conventions (appendix F), and the attributes of its grid mapping variable.
    pub fn grid_mapping(&self) -> (&'static str, CfAttributes) {
        let (name, spheroid, origin, mut attributes) = match self {
            Projection::Geographic(spheroid) => ("latitude_longitude", spheroid, None, vec![]),
            Projection::TransverseMercator(this) => {
                ("transverse_mercator", &this.spheroid, Some(this.origin), this.attributes())
            }
            Projection::Albers(this) => {
                ("albers_conical_equal_area", &this.spheroid, Some(this.origin), this.attributes())
            }
            Projection::LambertConformal(this) => {
                ("lambert_conformal_conic", &this.spheroid, Some(this.origin), this.attributes())
            }
            Projection::Mercator(this) => ("mercator", &this.spheroid, Some(this.origin), this.attributes()),
            Projection::PolarStereographic(this) => {
                ("polar_stereographic", &this.spheroid, Some(this.origin), this.attributes())
            }
            Projection::LambertAzimuthal(this) => {
                ("lambert_azimuthal_equal_area", &this.sphere, Some(this.origin), this.attributes())
            }
            Projection::Sinusoidal(this) => {
                ("sinusoidal", &this.sphere, Some(this.origin), this.attributes())
            }
            Projection::EqualArea(this) => {
                ("lambert_cylindrical_equal_area", &this.spheroid, Some(this.origin), this.attributes())
            }
        };
        if let Some(Origin { easting, northing, .. }) = origin {
            attributes.push(("false_easting", vec![easting]));
            attributes.push(("false_northing", vec![northing]));
        }
        let Spheroid { major, minor } = *spheroid;
        if spheroid.is_sphere() {
            attributes.push(("earth_radius", vec![major]));
        } else {
            attributes.push(("semi_major_axis", vec![major]));
            attributes.push(("inverse_flattening", vec![major / (major - minor)]));
        }
        attributes.push(("longitude_of_prime_meridian", vec![0.0]));
        (name, attributes)
    }
}

/// Returns the projection of a UTM zone: negative numbers are those of the southern hemisphere. Without a number the zone is that of
/// the point that the first two parameters give.
fn utm(grid: &Grid, spheroid: Spheroid) -> Result<TransverseMercator, String> {
    let (zone, is_south) = match grid.zone {
        0 => {
            let degrees = unpacked_degrees(grid.parameters[0]);
            let zone = ((degrees + 180.0) / 6.0).floor() as i64 + 1;
            (zone, grid.parameters[1] < 0.0)
        }
        zone => (zone.checked_abs().unwrap_or(i64::MAX), zone < 0),
    };
    if !(1..=60).contains(&zone) {
        return Err(format!("there is no UTM zone {zone}"));
    }
    // A zone that comes from a point has no spheroid of its own: the parameters are used up.
    let spheroid = if grid.zone == 0 { Spheroid::of(grid.sphere.max(0), &[]) } else { spheroid };
    let longitude = (zone * 6 - 183) as f64;
    let northing = if is_south { 10_000_000.0 } else { 0.0 };
    let origin = Origin { longitude, latitude: 0.0, easting: 500_000.0, northing };
    Ok(TransverseMercator { spheroid, origin, scale: 0.9996 })
}

#[cfg(test)]
mod tests;
