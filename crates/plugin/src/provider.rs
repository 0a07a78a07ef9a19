//! HDF5 filter plugins as a provider of filters.

use ferrocdf_bytes::Result;
use ferrocdf_codec::{ArrayInfo, DatasetInfo, ElementType, Filter, Provider, Step};

use crate::filter::Bound;
use crate::nc::CodecVariable;
use crate::{catalog, path};

/// Provider of the plugins in the folders of [`path`]. Nothing is searched before a filter is needed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plugins;

impl Provider for Plugins {
    fn has(&self, id: u32) -> bool {
        catalog::find(id).is_some()
    }

    fn filter(&self, id: u32, step: &Step) -> Option<Result<Box<dyn Filter>>> {
        let plugin = catalog::find(id)?;
        Some(Ok(Box::new(Bound::new(plugin, step))))
    }

    fn prepare(&self, steps: &mut [Step], at: usize, dataset: &DatasetInfo) -> Option<Result<()>> {
        let plugin = catalog::find(steps.get(at)?.id.hdf5()?)?;
        Some(plugin.prepare(steps, at, dataset))
    }

    fn derives(&self, id: u32) -> bool {
        catalog::find(id).is_some_and(|plugin| plugin.class().set_local.is_some())
    }

    fn search_path(&self) -> String {
        path::places()
    }

    fn parse_numcodecs(&self, id: &str, json: &str) -> Option<Result<(u32, Vec<u32>)>> {
        let codec = catalog::codec_named(id)?;
        Some(codec.to_hdf5(json).map(|params| (codec.id(), params)))
    }

    fn to_numcodecs(&self, number: u32, params: &[u32]) -> Option<Result<String>> {
        Some(catalog::codec(number)?.to_json(params))
    }

    fn has_codec(&self, number: u32) -> bool {
        catalog::codec(number).is_some()
    }

    fn derived_params(
        &self,
        number: u32,
        params: &mut Vec<u32>,
        array: &ArrayInfo<'_>,
    ) -> Option<Result<Vec<u32>>> {
        Some(catalog::codec(number)?.working(&variable(array), params))
    }
}

/// Describes an array for a codec. Lengths beyond the address space become the largest `usize`.
fn variable(array: &ArrayInfo<'_>) -> CodecVariable {
    let lens = |lens: &[u64]| lens.iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect();
    let DatasetInfo { element, chunk } = &array.dataset;
    CodecVariable {
        name: array.name.to_string(),
        kind: netcdf_type(element),
        size: element.size as usize,
        big_endian: element.big_endian,
        shape: lens(array.shape),
        chunk: lens(chunk),
    }
}

/// Returns the number of a type in `netcdf.h`; all types that are not atomic have the number of the first user-defined
/// type.
fn netcdf_type(element: &ElementType) -> i32 {
    const FIRST_USER_TYPE: i32 = 32;
    match (element.class, element.size, element.signed) {
        (0, 1, true) => 1,
        (3, 1, _) => 2,
        (0, 2, true) => 3,
        (0, 4, true) => 4,
        (1, 4, _) => 5,
        (1, 8, _) => 6,
        (0, 1, false) => 7,
        (0, 2, false) => 8,
        (0, 4, false) => 9,
        (0, 8, true) => 10,
        (0, 8, false) => 11,
        _ => FIRST_USER_TYPE,
    }
}
