//! HDF5 filter plugins as a provider of filters.

use ferrocdf_bytes::Result;
use ferrocdf_codec::{DatasetInfo, Filter, Provider, Step};

use crate::filter::Bound;
use crate::{catalog, path};

/// The plugins in the folders of [`path`]. Nothing is searched before a filter is needed.
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
}
