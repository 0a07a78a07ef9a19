//! The plugins as the codec crate asks for them.

use ferrocdf_bytes::Result;
use ferrocdf_codec::{Dataset, Filter, Provider, Step};

use crate::filter::Bound;
use crate::{catalog, path};

#[derive(Debug)]
struct Plugins;

static PLUGINS: Plugins = Plugins;

/// Makes plugins the filters that are not built in. The first provider of filters stays, so this may be called any
/// number of times; nothing is looked for before a filter is asked for.
pub fn install() {
    ferrocdf_codec::provide(&PLUGINS);
}

impl Provider for Plugins {
    fn has(&self, id: u32) -> bool {
        catalog::find(id).is_some()
    }

    fn filter(&self, step: &Step) -> Option<Result<Box<dyn Filter>>> {
        let plugin = catalog::find(step.id)?;
        Some(Ok(Box::new(Bound::new(plugin, step))))
    }

    fn prepare(&self, steps: &mut [Step], at: usize, dataset: &Dataset) -> Option<Result<()>> {
        let plugin = catalog::find(steps.get(at)?.id)?;
        Some(plugin.prepare(steps, at, dataset))
    }

    fn learns(&self, id: u32) -> bool {
        catalog::find(id).is_some_and(|plugin| plugin.class().set_local.is_some())
    }

    fn places(&self) -> String {
        path::places()
    }
}
