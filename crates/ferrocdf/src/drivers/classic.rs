//! The classic formats as a driver.

use ferrocdf_array::{Array, Fit, In, ShortRun};
use ferrocdf_bytes::Result;
use ferrocdf_classic::{Alignment, ClassicFile};
use ferrocdf_model::{DimId, Model, VarId};
use ferrocdf_store::{Blob, BlobMut};

use crate::driver::Driver;

impl Driver for ClassicFile {
    fn array(&self, model: &Model, var: VarId) -> Result<Array> {
        self.array(model, var)
    }

    fn blob(&self) -> &dyn Blob {
        self.blob()
    }

    fn missing_bytes(&self) -> Result<u64> {
        self.missing_bytes()
    }

    fn refresh(&mut self) -> Result<Model> {
        self.refresh()
    }

    fn blob_mut(&self) -> Result<&dyn BlobMut> {
        self.blob_mut()
    }

    fn commit(&mut self, _old: &Model, model: &Model, alignment: &Alignment) -> Result<()> {
        self.commit(model, alignment)
    }

    fn grow(&mut self, _dim: DimId, len: u64) -> Result<()> {
        self.grow(len)
    }

    fn ungrow(&mut self, _dim: DimId, len: u64) {
        self.ungrow(len);
    }

    fn before_write(&mut self, model: &Model, var: VarId, first: u64, end: u64, dense: bool) -> Result<()> {
        self.before_write(model, var, first, end, dense)
    }

    fn wrote(&mut self, var: VarId, end: u64) {
        self.wrote(var, end);
    }

    fn lacks_fill(&self, var: VarId, end: u64) -> bool {
        self.lacks_fill(var, end)
    }

    fn write_short(
        &mut self,
        model: &Model,
        var: VarId,
        run: &ShortRun,
        input: In<'_>,
    ) -> Option<Result<Fit>> {
        Some(self.write_short(model, var, run, input))
    }

    fn finish(&mut self, model: &Model, var: VarId) -> Result<()> {
        self.finish(model, var)
    }

    fn flush(&mut self, model: &Model) -> Result<()> {
        self.flush(model)
    }
}
