//! An open file as the printer sees it.

use std::sync::Arc;

use ferrocdf::{Attr, Error, File, Model, Owner, Result, Values, VarId};
use ferrocdf_cdl::print::PrintSource;

pub(super) struct FileSource {
    pub(super) model: Arc<Model>,
    pub(super) file: File,
}

impl PrintSource for FileSource {
    fn model(&self) -> &Model {
        &self.model
    }

    fn read(&self, var: VarId, start: &[u64], count: &[u64]) -> Result<Values> {
        self.file.read_values(var, start, count)
    }

    fn unreadable(&self, var: VarId) -> Option<Error> {
        self.file.unreadable_data(var)
    }

    fn hidden(&self, owner: Owner) -> Vec<Attr> {
        self.file.hidden_attributes(owner)
    }
}
