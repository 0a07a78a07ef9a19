//! The classic formats as a driver.

use ferrocdf_array::{In, RangeCheck, ShortRun};
use ferrocdf_bytes::Result;
use ferrocdf_classic::ClassicFile;
use ferrocdf_model::{DimId, Model, VarId};
use ferrocdf_store::{Blob, BlobMut};

use crate::driver::{Driver, Flush, Inspect, LocatedArray, Resized, Span, WriteDriver};
use crate::options::SpaceOptions;

impl Driver for ClassicFile {
    fn refresh(&mut self) -> Result<Model> {
        self.refresh()
    }

    fn array(&self, model: &Model, var: VarId) -> Result<LocatedArray> {
        self.array(model, var).map(LocatedArray::from)
    }

    fn blob(&self) -> &dyn Blob {
        self.blob()
    }

    fn inspect(&self) -> &dyn Inspect {
        self
    }
}

impl Inspect for ClassicFile {
    fn missing_bytes(&self) -> Result<u64> {
        self.missing_bytes()
    }
}

impl WriteDriver for ClassicFile {
    fn blob_mut(&self) -> Result<&dyn BlobMut> {
        self.blob_mut()
    }

    fn set_space(&mut self, space: &SpaceOptions) {
        self.set_alignment(space.classic);
    }

    fn commit(&mut self, _old: &Model, model: &Model) -> Result<()> {
        self.commit(model)
    }

    fn resize(&mut self, _dim: DimId, len: u64) -> Result<Resized> {
        if len < self.records() {
            self.ungrow(len);
        } else {
            self.grow(len)?;
        }
        Ok(Resized::InPlace)
    }

    fn write_in_place(
        &mut self,
        model: &Model,
        var: VarId,
        span: Span,
        write: &mut dyn FnMut(&dyn BlobMut) -> Result<RangeCheck>,
    ) -> Result<RangeCheck> {
        self.before_write(model, var, span.first, span.end, span.is_dense)?;
        let range_check = write(self.blob_mut()?)?;
        self.wrote(var, span.end);
        Ok(range_check)
    }

    fn write_run(
        &mut self,
        model: &Model,
        var: VarId,
        run: &ShortRun,
        input: In<'_>,
    ) -> Option<Result<RangeCheck>> {
        Some(self.write_short(model, var, run, input))
    }

    fn filled_blob(&self, var: VarId, end: u64) -> Option<&dyn Blob> {
        (!self.lacks_fill(var, end)).then(|| self.blob())
    }

    fn fill_unwritten(&mut self, model: &Model, var: VarId) -> Result<()> {
        self.finish(model, var)
    }

    fn flush(&mut self, model: &Model, extent: Flush<'_>) -> Result<()> {
        match extent {
            Flush::DueDefinitions => Ok(()),
            Flush::Definitions { .. } => self.flush_definitions(),
            Flush::All => self.flush(model),
        }
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
        let mut driver: Box<dyn WriteDriver> = Box::new(file);
        driver.commit(&model.clone(), &model).unwrap();
        let old = model.clone();
        model.put_attr(Owner::Group(GroupId::ROOT), "long", Values::Char(vec![b'x'; 10_000])).unwrap();
        driver.commit(&old, &model).unwrap();
        driver.flush(&model, Flush::Definitions { chunks: &[] }).unwrap();
        let events = blob.events();
        let replaced = events.iter().rposition(|event| matches!(event, Event::Replace(_)));
        let flushed = events.iter().rposition(|event| *event == Event::Barrier);
        assert!(replaced.is_some() && replaced < flushed, "{replaced:?} {flushed:?}");
    }
}
