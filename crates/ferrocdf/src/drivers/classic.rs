//! The classic formats as a driver.

use ferrocdf_array::{Array, In, RangeCheck, ShortRun};
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

    fn settle(&mut self) -> Result<()> {
        self.flush_definitions()
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
    ) -> Option<Result<RangeCheck>> {
        Some(self.write_short(model, var, run, input))
    }

    fn finish(&mut self, model: &Model, var: VarId) -> Result<()> {
        self.finish(model, var)
    }

    fn flush(&mut self, model: &Model) -> Result<()> {
        self.flush(model)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ferrocdf_classic::Version;
    use ferrocdf_model::{GroupId, Owner, Values};
    use ferrocdf_store::MemoryBlob;
    use ferrocdf_store::testing::{Event, Recording};

    use super::*;

    #[test]
    fn the_end_of_define_mode_flushes_a_file_that_was_replaced() {
        let blob = Arc::new(Recording::new(MemoryBlob::default()));
        let mut model = Model::new(Version::Classic.format());
        let file = ClassicFile::create(Box::new(blob.clone()), Version::Classic);
        let mut driver: Box<dyn Driver> = Box::new(file);
        driver.commit(&model.clone(), &model, &Alignment::default()).unwrap();
        let old = model.clone();
        model.put_attr(Owner::Group(GroupId::ROOT), "long", Values::Char(vec![b'x'; 10_000])).unwrap();
        driver.commit(&old, &model, &Alignment::default()).unwrap();
        driver.settle().unwrap();
        let events = blob.events();
        let replaced = events.iter().rposition(|event| matches!(event, Event::Replace(_)));
        let flushed = events.iter().rposition(|event| *event == Event::Barrier);
        assert!(replaced.is_some() && replaced < flushed, "{replaced:?} {flushed:?}");
    }
}
