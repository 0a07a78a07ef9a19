//! The table of shared messages, and its indexes.

use ferrocdf_bytes::{Record, Result};

use super::{StructureWalk, trees};
use crate::{Address, sohm};

impl StructureWalk<'_> {
    /// Prints the table of shared messages, whose number of indexes is known.
    pub(super) fn shared_table(&mut self, at: Address, count: u64) -> Result<()> {
        let mut table = sohm::SohmTable { sizes: self.source.sizes, count, indexes: vec![] };
        let len = table.len();
        if self.block("shared message table", at, len, true, |dumper| table.fields(dumper))?.is_none() {
            return Ok(());
        }
        for index in table.indexes {
            if let Some(heap) = index.heap {
                self.later(heap, move |walk| walk.fractal_heap(heap));
            }
            let count = index.messages.into();
            match index.index {
                Some(tree) if index.is_tree() => {
                    self.later(tree, move |walk| walk.tree(tree, trees::New::SharedMessages));
                }
                Some(list) => self.later(list, move |walk| walk.shared_list(list, count)),
                None => {}
            }
        }
        Ok(())
    }

    /// Prints an index of shared messages that is a list of so many.
    fn shared_list(&mut self, at: Address, count: u64) -> Result<()> {
        let sizes = self.source.sizes;
        let mut list = sohm::MessageList { sizes, count, messages: vec![] };
        let len = sohm::MessageList::len(sizes, count);
        self.block("shared message record list", at, len, true, |dumper| list.fields(dumper)).map(drop)
    }
}
