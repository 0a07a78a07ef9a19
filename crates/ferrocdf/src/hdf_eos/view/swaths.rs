//! Swaths: data fields and the geolocation fields that are their coordinates.

use std::collections::HashMap;
use std::sync::Arc;

use ferrocdf_model::{Attrs, DimId, GroupId, Name, Owner, Storage, Var};

use super::super::members::{Members, ObjectKind};
use super::super::structure::{Swath, Text};
use super::super::tables::legal;
use super::{Builder, FoundField, Source, attr, parts};
use crate::hdf4::atomic;

/// Begin of the names of the tables that hold index maps: `INDXMAP:geolocation dimension/data dimension`.
const INDEX_MAP: &[u8] = b"INDXMAP:";

/// Maximum length of an attribute `coordinates` in bytes. Each data field has one that may name all geolocation fields: without a limit
/// their text grows with the product of both.
const MAX_COORDINATES: usize = 4096;

impl<'a> Builder<'a> {
    pub(super) fn add_swath(&mut self, swath: &'a Swath) {
        let mut members = self.objects.take(ObjectKind::Swath, &swath.name);
        let group = self.add_group(GroupId::ROOT, &swath.name);
        let fill_values = self.add_attributes(group, std::mem::take(&mut members.attributes));
        self.add_maps(group, swath);
        self.add_dims(group, &swath.dims);
        let mut merged = parts(&mut members, &swath.merged);
        let geolocation = self.find(group, &mut members, &mut merged, &swath.geo_fields);
        let data = self.find(group, &mut members, &mut merged, &swath.data_fields);
        let geolocation_count = geolocation.len();
        let found: Vec<FoundField<'_>> = geolocation.into_iter().chain(data).collect();
        let dims: Vec<Vec<DimId>> = found.iter().map(|found| self.dims_of(group, found)).collect();
        let coordinates: Vec<(Name, Vec<DimId>)> = found
            .iter()
            .zip(&dims)
            .take(geolocation_count)
            .filter(|(found, dims)| !dims.is_empty() && !self.is_named_as(&found.name, dims))
            .map(|(found, dims)| (found.name.clone(), dims.clone()))
            .collect();
        // Most data fields have the same dimensions.
        let mut names_by_dims: HashMap<Vec<DimId>, Option<String>> = HashMap::new();
        for (at, (found, dims)) in found.into_iter().zip(dims).enumerate() {
            let mut more = vec![];
            if at >= geolocation_count {
                let names = names_by_dims.entry(dims.clone());
                let names = names.or_insert_with(|| coordinates_of(&dims, &coordinates)).as_deref();
                more.extend(names.filter(|names| !names.is_empty()).map(|names| attr("coordinates", names)));
            }
            more.extend(Self::fill_value(&found, &fill_values));
            self.add_field(group, found, dims, more);
        }
        if names_by_dims.values().any(Option::is_none) {
            let path = self.view.model.group_path(group);
            let what = format!("names of geolocation fields take more than {MAX_COORDINATES} bytes");
            self.view.skipped.push(format!("{path}: coordinates: {what}"));
        }
        self.add_index_maps(group, swath, &mut members);
    }

    /// True for a variable that is named after its only dimension, which makes it a coordinate by itself.
    fn is_named_as(&self, name: &Name, dims: &[DimId]) -> bool {
        matches!(dims, &[dim] if self.view.model.dim(dim).name == *name)
    }

    /// Adds the dimension maps and index maps as attributes of the group.
    fn add_maps(&mut self, group: GroupId, swath: &Swath) {
        let text = |text: &Text| String::from_utf8_lossy(text).into_owned();
        let maps = swath.maps.iter().map(|map| {
            let (geo, data) = (text(&map.geo_dimension), text(&map.data_dimension));
            format!("{geo}: {data} offset: {} increment: {}", map.offset, map.increment)
        });
        let index_maps = swath.index_maps.iter().map(|map| {
            let (geo, data) = (text(&map.geo_dimension), text(&map.data_dimension));
            format!("{geo}: {data}")
        });
        let lists = [("dimension_maps", maps.collect::<Vec<_>>()), ("index_maps", index_maps.collect())];
        for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            self.view.model.push_attr(Owner::Group(group), attr(name, list.join("; ")));
        }
    }

    /// Adds the tables of index maps: for each element of a geolocation dimension its index in a data dimension.
    fn add_index_maps(&mut self, group: GroupId, swath: &Swath, members: &mut Members) {
        for table in members.take_tables(INDEX_MAP) {
            let Some(field) = table.fields.first().filter(|field| field.order == 1) else { continue };
            let pair = table.name.get(INDEX_MAP.len()..).unwrap_or_default();
            let map = swath
                .index_maps
                .iter()
                .find(|map| [map.geo_dimension.as_slice(), b"/", &map.data_dimension].concat() == pair);
            let dim = match map {
                Some(map) => map.geo_dimension.clone(),
                None => table.name.clone(),
            };
            let dim = self.dim(group, &dim, table.records, false);
            let name = self.unique(group, legal(&[b"index_map_", pair].concat()));
            let ty = atomic(field.number).into();
            let var = Var {
                name,
                group,
                ty,
                dims: vec![dim],
                attrs: Attrs::default(),
                storage: Storage::default(),
            };
            self.push(var, Source::Table { table: Arc::new(table), field: 0 });
        }
    }
}

/// Returns the names of the coordinates of a data field: the geolocation fields whose dimensions it has all. `None` for more names
/// than an attribute may have.
fn coordinates_of(dims: &[DimId], coordinates: &[(Name, Vec<DimId>)]) -> Option<String> {
    let mut names = String::new();
    for (name, _) in coordinates.iter().filter(|(_, of)| of.iter().all(|dim| dims.contains(dim))) {
        if !names.is_empty() {
            names.push(' ');
        }
        names.push_str(&name.to_str());
        if names.len() > MAX_COORDINATES {
            return None;
        }
    }
    Some(names)
}
