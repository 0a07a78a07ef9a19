//! Grids: fields, map coordinates, and longitudes and latitudes of the cells.

use ferrocdf_model::{Atomic, Attr, Attrs, DimId, GroupId, Name, Storage, Values, Var};

use super::super::computed::Coordinate;
use super::super::grid::{Axis, Georeference};
use super::super::members::ObjectKind;
use super::super::projection::Projection;
use super::super::structure::{EosDimension, Grid};
use super::{Builder, FoundField, Source, attr, parts};

/// Names of the dimensions of the columns and rows (HDF-EOS Library User's Guide, volume 1, section 6.3).
const COLUMNS: &str = "XDim";
const ROWS: &str = "YDim";

/// Maximum length of a dimension that gets coordinates although no field has it.
const MAX_UNUSED: u64 = 1 << 16;

impl<'a> Builder<'a> {
    pub(super) fn add_grid(&mut self, grid: &'a Grid) {
        let mut members = self.objects.take(ObjectKind::Grid, &grid.name);
        let group = self.add_group(GroupId::ROOT, &grid.name);
        let fill_values = self.add_attributes(group, std::mem::take(&mut members.attributes));
        let axes = [(COLUMNS, grid.columns), (ROWS, grid.rows)];
        self.add_dims(group, &axes.map(|(name, size)| EosDimension { name: name.into(), size }));
        self.add_dims(group, &grid.dims);
        let mut merged = parts(&mut members, &grid.merged);
        let found = self.find(group, &mut members, &mut merged, &grid.fields);
        let dims: Vec<Vec<DimId>> = found.iter().map(|found| self.dims_of(group, found)).collect();
        // The dimensions of the cells, and what fields that have both get. A grid without cells has no such dimensions: a length of 0
        // is that of an unlimited dimension where the file is copied.
        let of_cells = match Georeference::of(grid) {
            Ok(georeference) => {
                let y = self.dim(group, ROWS.as_bytes(), grid.rows, false);
                let x = self.dim(group, COLUMNS.as_bytes(), grid.columns, false);
                let more = self.add_coordinates(group, grid, &georeference, [y, x], &found, &dims);
                Some(([y, x], more))
            }
            Err(why) => {
                let path = self.view.model.group_path(group);
                self.view.skipped.push(format!("{path}: coordinates: {why}"));
                None
            }
        };
        for (found, dims) in found.into_iter().zip(dims) {
            let mut more = match &of_cells {
                Some((cells, more)) if cells.iter().all(|dim| dims.contains(dim)) => more.clone(),
                _ => vec![],
            };
            more.extend(Self::fill_value(&found, &fill_values));
            self.add_field(group, found, dims, more);
        }
    }

    /// Adds the coordinates that the grid does not have as fields. Returns the attributes by which its fields refer to them.
    fn add_coordinates(
        &mut self,
        group: GroupId,
        grid: &Grid,
        georeference: &Georeference,
        [y, x]: [DimId; 2],
        found: &[FoundField<'_>],
        dims: &[Vec<DimId>],
    ) -> Vec<Attr> {
        let is_geographic = matches!(georeference.projection, Projection::Geographic(_));
        // Longitude and latitude that the file has itself, of columns, of rows or of both.
        let stored = |names: [&str; 2]| {
            let mut fields = found.iter().zip(dims);
            fields.find_map(|(found, dims)| {
                let is_named =
                    names.iter().any(|name| found.name.as_bytes().eq_ignore_ascii_case(name.as_bytes()));
                let is_of_cells = !dims.is_empty() && dims.iter().all(|dim| [x, y].contains(dim));
                (is_named && is_of_cells).then(|| found.name.clone())
            })
        };
        let stored = stored(["latitude", "lat"]).zip(stored(["longitude", "lon"]));
        // Coordinates of cells that no field has are skipped where there are many: only the text says that there are any.
        let has_field =
            |wanted: &[DimId]| dims.iter().any(|dims| wanted.iter().all(|dim| dims.contains(dim)));
        if !(is_geographic && stored.is_some()) {
            for (name, dim, axis) in [(COLUMNS, x, georeference.x), (ROWS, y, georeference.y)] {
                if axis.count <= MAX_UNUSED || has_field(&[dim]) {
                    self.add_axis(group, grid, name, dim, axis, is_geographic);
                } else {
                    let (path, count) = (self.view.model.group_path(group), axis.count);
                    self.view
                        .skipped
                        .push(format!("{path}: coordinate {name}: no field has its {count} cells"));
                }
            }
        }
        let (mapping, parameters) = georeference.projection.grid_mapping();
        let mut attrs = vec![attr("grid_mapping_name", mapping)];
        attrs.extend(parameters.into_iter().map(|(name, values)| attr(name, values)));
        attrs.push(attr("spatial_ref", georeference.projection.well_known_text()));
        let crs = self.unique(group, Name::stored(b"crs"));
        let mut more = vec![attr("grid_mapping", crs.to_str().into_owned())];
        let var = Var {
            name: crs,
            group,
            ty: Atomic::Int.into(),
            dims: vec![],
            attrs: Attrs::from(attrs),
            storage: Storage::default(),
        };
        self.push(var, Source::GridMapping);
        let of_cells = match stored {
            Some(stored) => Some(stored),
            None if is_geographic || !has_field(&[x, y]) => None,
            None => {
                let latitude = Coordinate::Latitude(*georeference);
                let latitude = self.add_of_cells(group, "latitude", "degrees_north", [y, x], latitude);
                let longitude = Coordinate::Longitude(*georeference);
                let longitude = self.add_of_cells(group, "longitude", "degrees_east", [y, x], longitude);
                Some((latitude, longitude))
            }
        };
        more.extend(
            of_cells.map(|(latitude, longitude)| attr("coordinates", format!("{latitude} {longitude}"))),
        );
        more
    }

    /// Adds the map coordinates along a dimension, unless the file has a field or a dimension scale for them.
    fn add_axis(
        &mut self,
        group: GroupId,
        grid: &Grid,
        name: &str,
        dim: DimId,
        axis: Axis,
        is_geographic: bool,
    ) {
        let scale_name = [name.as_bytes(), b":", &grid.name].concat();
        let scale = self.scales.get(scale_name.as_slice()).copied();
        let own_name = Name::stored(name.as_bytes());
        if grid.fields.iter().any(|field| field.name == name.as_bytes()) {
            return;
        }
        let name_of_var = self.unique(group, own_name);
        if let Some(scale) = scale.filter(|&scale| self.flat.shape(scale) == [axis.count]) {
            self.used.insert(scale);
            let flat = self.flat.var(scale);
            let var = Var { name: name_of_var, group, dims: vec![dim], ..flat.clone() };
            return self.push(var, Source::Dataset(scale));
        }
        let is_column = name == COLUMNS;
        let (standard_name, units) = match (is_geographic, is_column) {
            (true, true) => ("longitude", "degrees_east"),
            (true, false) => ("latitude", "degrees_north"),
            (false, true) => ("projection_x_coordinate", "m"),
            (false, false) => ("projection_y_coordinate", "m"),
        };
        let attrs = vec![
            attr("standard_name", standard_name),
            attr("units", units),
            attr("axis", if is_column { "X" } else { "Y" }),
        ];
        let var = Var {
            name: name_of_var,
            group,
            ty: Atomic::Double.into(),
            dims: vec![dim],
            attrs: Attrs::from(attrs),
            storage: Storage::default(),
        };
        self.push(var, Source::Computed(Coordinate::Along(axis)));
    }

    /// Adds longitudes or latitudes of all cells, and returns the name of the variable.
    fn add_of_cells(
        &mut self,
        group: GroupId,
        name: &str,
        units: &str,
        dims: [DimId; 2],
        coordinate: Coordinate,
    ) -> Name {
        let attrs = vec![
            attr("standard_name", name),
            attr("units", units),
            attr("_FillValue", Values::Double(vec![f64::NAN])),
        ];
        let unique = self.unique(group, Name::stored(name.as_bytes()));
        let var = Var {
            name: unique.clone(),
            group,
            ty: Atomic::Double.into(),
            dims: dims.to_vec(),
            attrs: Attrs::from(attrs),
            storage: Storage::default(),
        };
        self.push(var, Source::Computed(coordinate));
        unique
    }
}
