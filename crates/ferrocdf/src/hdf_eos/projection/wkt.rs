//! Projections as well-known text (OGC 01-009, "WKT 1"), with the names of GDAL: the attribute `spatial_ref` of a grid mapping. GDAL does
//! not know every grid mapping of the CF conventions, the sinusoidal one among others.

use super::{Projection, Spheroid};

impl Projection {
    /// Returns the text.
    pub fn well_known_text(&self) -> String {
        let WktParameters { method, spheroid, origin, own } = self.parameters();
        let Spheroid { major, minor } = *spheroid;
        let inverse_flattening = if spheroid.is_sphere() { 0.0 } else { major / (major - minor) };
        let geographic = format!(
            "GEOGCS[\"unknown\",DATUM[\"unknown\",SPHEROID[\"unknown\",{major},{inverse_flattening}]],\
             PRIMEM[\"Greenwich\",0],UNIT[\"degree\",0.0174532925199433]]"
        );
        let Some(origin) = origin else { return geographic };
        let mut text = format!("PROJCS[\"unknown\",{geographic},PROJECTION[\"{method}\"]");
        let false_origin = [("false_easting", origin.easting), ("false_northing", origin.northing)];
        for (name, value) in own.into_iter().chain(false_origin) {
            text += &format!(",PARAMETER[\"{name}\",{value}]");
        }
        text + ",UNIT[\"metre\",1]]"
    }

    fn parameters(&self) -> WktParameters<'_> {
        let (method, spheroid, origin, own) = match self {
            Projection::Geographic(spheroid) => ("", spheroid, None, vec![]),
            Projection::TransverseMercator(this) => {
                let own = vec![
                    ("latitude_of_origin", this.origin.latitude),
                    ("central_meridian", this.origin.longitude),
                    ("scale_factor", this.scale),
                ];
                ("Transverse_Mercator", &this.spheroid, Some(this.origin), own)
            }
            Projection::Albers(this) => {
                let own = vec![
                    ("standard_parallel_1", this.parallels[0]),
                    ("standard_parallel_2", this.parallels[1]),
                    ("latitude_of_center", this.origin.latitude),
                    ("longitude_of_center", this.origin.longitude),
                ];
                ("Albers_Conic_Equal_Area", &this.spheroid, Some(this.origin), own)
            }
            Projection::LambertConformal(this) => {
                let own = vec![
                    ("standard_parallel_1", this.parallels[0]),
                    ("standard_parallel_2", this.parallels[1]),
                    ("latitude_of_origin", this.origin.latitude),
                    ("central_meridian", this.origin.longitude),
                ];
                ("Lambert_Conformal_Conic_2SP", &this.spheroid, Some(this.origin), own)
            }
            Projection::Mercator(this) => {
                let own = vec![
                    ("standard_parallel_1", this.true_scale),
                    ("central_meridian", this.origin.longitude),
                ];
                ("Mercator_2SP", &this.spheroid, Some(this.origin), own)
            }
            Projection::PolarStereographic(this) => {
                let own = vec![
                    ("latitude_of_origin", this.origin.latitude),
                    ("central_meridian", this.origin.longitude),
                    ("scale_factor", 1.0),
                ];
                ("Polar_Stereographic", &this.spheroid, Some(this.origin), own)
            }
            Projection::LambertAzimuthal(this) => {
                let own = vec![
                    ("latitude_of_center", this.origin.latitude),
                    ("longitude_of_center", this.origin.longitude),
                ];
                ("Lambert_Azimuthal_Equal_Area", &this.sphere, Some(this.origin), own)
            }
            Projection::Sinusoidal(this) => {
                let own = vec![("longitude_of_center", this.origin.longitude)];
                ("Sinusoidal", &this.sphere, Some(this.origin), own)
            }
            Projection::EqualArea(this) => {
                let own = vec![
                    ("standard_parallel_1", this.true_scale),
                    ("central_meridian", this.origin.longitude),
                ];
                ("Cylindrical_Equal_Area", &this.spheroid, Some(this.origin), own)
            }
        };
        WktParameters { method, spheroid, origin, own }
    }
}

/// The parts of the text.
struct WktParameters<'a> {
    method: &'static str,
    spheroid: &'a Spheroid,
    /// `None` for a geographic grid.
    origin: Option<super::Origin>,
    /// Names and values of the parameters, without those of the false origin.
    own: Vec<(&'static str, f64)>,
}
