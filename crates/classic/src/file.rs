//! One classic file: its header, its layout, and what is still to be filled.

use std::sync::Arc;

use ferrocdf_array::{Array, In, Kind, Layout as ArrayLayout, PastEnd, RangeCheck, ShortRun, Stored};
use ferrocdf_bytes::{Code, Error, Order, Result, Sizer};
use ferrocdf_model::{Atomic, Model, VarId};
use ferrocdf_store::{Blob, BlobMut};

use crate::access::{Access, HalfMoved};
use crate::fill::{Filled, Target};
use crate::header::{Header, NUMRECS_AT, Version};
use crate::layout::{Alignment, Layout};
use crate::rewrite::{self, Damage, Failure, OldHeader};
use crate::{convert, values, windows};

/// A classic file. The model lives with the caller, who passes what it says now (`model`) to each call.
pub struct ClassicFile {
    access: Access,
    version: Version,
    /// A file being written may be shorter than its data; a file that is only read must be whole, unless asked for.
    past_end: PastEnd,
    /// Free space and alignment of the commits to come.
    alignment: Alignment,
    /// The header that the file should have, if a failed write may have torn it.
    torn: Option<OldHeader>,
    /// `None` until the first end of define mode of a new file.
    committed: Option<Committed>,
}

/// What a file holds.
struct Committed {
    header_size: u64,
    /// Where what was written with the header ends; 0 if it was not written here.
    written: u64,
    layout: Layout,
    records: u64,
    /// What `numrecs` in the file says.
    records_in_file: u64,
    /// Whether the file says that its record count must be computed (`STREAMING`).
    streaming: bool,
    fills: Vec<Filled>,
}

impl ClassicFile {
    /// Reads the header of an existing file, to read from it. Data past the end of the file reads as zeros if no more
    /// than `allow_missing` bytes of it are missing, and is an error otherwise.
    pub fn open(blob: Arc<dyn Blob>, allow_missing: u64) -> Result<(ClassicFile, Model)> {
        let (mut file, model) = Self::read_header(Access::Read(blob))?;
        let missing = file.missing_bytes()?;
        file.past_end = if missing <= allow_missing { PastEnd::Zero } else { PastEnd::Error };
        Ok((file, model))
    }

    /// Reads the header of an existing file, to read and change it.
    pub fn open_mut(blob: Box<dyn BlobMut>) -> Result<(ClassicFile, Model)> {
        Self::read_header(Access::Write(blob))
    }

    /// A new file on an empty blob. Nothing is written before the first [`ClassicFile::commit`].
    pub fn create(blob: Box<dyn BlobMut>, version: Version) -> ClassicFile {
        ClassicFile {
            access: Access::Write(blob),
            version,
            past_end: PastEnd::Zero,
            alignment: Alignment::default(),
            torn: None,
            committed: None,
        }
    }

    /// Reads the header again, which another process may have changed. Fails with `NC_EINVAL` if the file is open for
    /// writing.
    pub fn refresh(&mut self) -> Result<Model> {
        let Access::Read(blob) = &self.access else {
            return Err(Error::new(Code::EINVAL, "the file is open for writing"));
        };
        blob.forget();
        let (mut file, model) = Self::read_header(Access::Read(blob.clone()))?;
        file.past_end = self.past_end;
        *self = file;
        Ok(model)
    }

    fn read_header(access: Access) -> Result<(ClassicFile, Model)> {
        let blob = access.blob();
        let (header, header_size) = Header::read(blob)?;
        let (version, numrecs) = (header.version, header.numrecs);
        let begins: Vec<u64> = header.vars.iter().map(|var| var.begin).collect();
        let mut model = convert::to_model(header, 0)?;
        let layout = Layout::stored(&model, version, header_size, &begins)?;
        let streaming = numrecs == version.streaming();
        let records = match streaming {
            true if layout.record_size == 0 => 0,
            true => blob.size()?.saturating_sub(layout.begin_records) / layout.record_size,
            false => numrecs,
        };
        if layout.has_records() && layout.file_size(header_size, records).is_none() {
            let what =
                format!("header: at byte {NUMRECS_AT}: numrecs {records} makes a file beyond any size");
            return Err(Error::new(Code::ENOTNC, what));
        }
        for dim in (0..).map(ferrocdf_model::DimId).take(model.dims().len()) {
            if model.dim(dim).unlimited {
                model.set_dim_len(dim, records);
            }
        }
        let alignment = Alignment::default();
        let mut file =
            ClassicFile { access, version, past_end: PastEnd::Zero, alignment, torn: None, committed: None };
        let mut committed = Committed {
            header_size,
            written: 0,
            layout,
            records,
            records_in_file: records,
            streaming,
            fills: vec![],
        };
        if let Access::Write(blob) = &file.access {
            for var in model.var_ids() {
                let target = committed.target(&**blob, &model, var)?;
                let no_fill = model.var(var).storage.no_fill;
                let filled = Filled::all(fill_value(&model, var)?, no_fill, &target);
                committed.fills.push(filled);
            }
        }
        file.committed = Some(committed);
        Ok((file, model))
    }

    /// The kind of classic file.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The file's bytes.
    pub fn blob(&self) -> &dyn Blob {
        self.access.blob()
    }

    /// The file's bytes, to be written. Fails with `NC_EPERM` if it was opened for reading.
    pub fn blob_mut(&self) -> Result<&dyn BlobMut> {
        self.access.blob_mut()
    }

    /// Where data lies; `None` before the first commit of a new file.
    pub fn layout(&self) -> Option<&Layout> {
        self.committed.as_ref().map(|committed| &committed.layout)
    }

    /// How many bytes the file is shorter than its header says.
    pub fn missing_bytes(&self) -> Result<u64> {
        let Some(committed) = &self.committed else { return Ok(0) };
        Ok(committed.layout.data_end(committed.records).saturating_sub(self.blob().size()?))
    }

    /// The number of records.
    pub fn records(&self) -> u64 {
        self.committed.as_ref().map_or(0, |committed| committed.records)
    }

    /// The elements of a variable: shape, type and layout.
    pub fn array(&self, model: &Model, var: VarId) -> Result<Array> {
        let layout = &self.committed()?.layout;
        let place = layout.places[var.index()];
        let stored = stored(model, var)?;
        let shape = model.shape(var);
        let mut steps = vec![0; shape.len()];
        let mut step = stored.kind.size() as u64;
        for (at, len) in shape.iter().enumerate().rev() {
            steps[at] = step;
            // The product of all but the record dimension is `place.bytes`, which is within bounds.
            step = step.saturating_mul(*len);
        }
        if place.record {
            steps[0] = layout.record_size;
        }
        Ok(Array {
            shape,
            stored,
            layout: ArrayLayout::Strided { begin: place.begin, strides: steps },
            decoder: None,
            past_end: self.past_end,
        })
    }

    /// Sets free space and alignment of the commits to come; none by default.
    pub fn set_alignment(&mut self, alignment: Alignment) {
        self.alignment = alignment;
    }

    /// Makes the file say what `model` says: the end of define mode. Data is moved if the header outgrew its place.
    ///
    /// [`ClassicFile::flush_definitions`] is to be called then. Fails before anything is written with `NC_EVARSIZE` if the
    /// format cannot hold a variable.
    pub fn commit(&mut self, model: &Model) -> Result<()> {
        let records = self.records();
        let streaming = self.committed.as_ref().is_some_and(|old| old.streaming);
        // The number that the file says already: later records are not complete yet, see `flush`.
        let records_in_file = self.committed.as_ref().map_or(0, |old| old.records_in_file);
        let numrecs = if streaming { self.version.streaming() } else { records_in_file };
        let mut header = convert::to_header(model, self.version, numrecs)?;
        let header_size = Sizer::size_of(&mut header)?;
        let old_layout = self.committed.as_ref().map(|old| &old.layout);
        let layout = Layout::plan(model, self.version, header_size, old_layout, &self.alignment)?;
        convert::place(&mut header, &layout);
        let written = windows::written(&mut header, header_size)?;
        let mut values = Vec::with_capacity(layout.places.len());
        let known = self.committed.as_ref().map_or(0, |old| old.fills.len());
        for var in model.var_ids() {
            let no_fill = model.var(var).storage.no_fill;
            if !no_fill && var.index() >= known {
                // The reference would fill the variable now.
                model.check_fill_value(var).map_err(|error| error.with_code(Code::EBADTYPE))?;
            }
            values.push((fill_value(model, var)?, no_fill));
        }

        self.restore_header()?;
        let blob = self.access.blob_mut()?;
        let mut new =
            Committed { header_size, written, layout, records, records_in_file, streaming, fills: vec![] };
        let mut moves = false;
        if let Some(old) = &self.committed {
            let fills_change =
                old.fills.iter().zip(&values).any(|(old, new)| (&old.value, old.no_fill) != (&new.0, new.1));
            let mut fills = old.fills.clone();
            if fills_change || old.layout != new.layout {
                for var in model.var_ids().take(fills.len()) {
                    fills[var.index()].finish(&old.target(blob, model, var)?)?;
                }
                moves = old.layout.places != new.layout.places[..old.layout.places.len()]
                    || old.layout.record_size != new.layout.record_size;
            }
            if old.layout.record_size != new.layout.record_size {
                let records = fills.iter_mut().zip(&old.layout.places).filter(|(_, place)| place.record);
                records.for_each(|(fill, _)| fill.unpad());
            }
            for (fill, (value, no_fill)) in fills.iter_mut().zip(&values) {
                (fill.value, fill.no_fill) = (value.clone(), *no_fill);
            }
            new.fills = fills;
        }
        let mut waiting = Vec::new();
        for (value, no_fill) in values.drain(new.fills.len()..) {
            if !no_fill {
                waiting.push(new.layout.places[new.fills.len()]);
            }
            new.fills.push(Filled::nothing(value, no_fill));
        }
        let bytes = header.encode()?;
        let done = match &self.committed {
            Some(old) if moves => {
                let plan = rewrite::Plan {
                    header: &bytes,
                    old: &old.layout,
                    new: &new.layout,
                    records,
                    size: new.size(),
                    waiting: &waiting,
                };
                plan.run(blob)
            }
            old => {
                // What the header promises comes first.
                new.extend(blob)?;
                match old {
                    Some(_) => rewrite::change_header(blob, &bytes),
                    None => rewrite::write_header(blob, &bytes).map_err(Failure::from),
                }
            }
        };
        if let Err(Failure { error, damage }) = done {
            match damage {
                Damage::None => {}
                Damage::TornHeader(old) => self.torn = Some(old),
                Damage::HalfMoved => self.access = Access::HalfMoved(HalfMoved { name: blob.name() }),
            }
            return Err(error);
        }
        self.committed = Some(new);
        Ok(())
    }

    /// Returns when others find what the last [`ClassicFile::commit`] made: after a power failure too, if the blob is durable.
    /// A commit that replaced the file leaves its name to be flushed, as no error of that could undo it.
    pub fn flush_definitions(&self) -> Result<()> {
        self.blob_mut()?.flush()
    }

    /// Sets the number of records to at least `records`. The file says so after [`ClassicFile::flush`].
    ///
    /// Fails with `NC_EINVALCOORDS` if the format cannot count that many.
    pub fn grow(&mut self, records: u64) -> Result<()> {
        let most = self.version.streaming() - 1;
        let Some(committed) = &mut self.committed else { return Err(not_defined()) };
        if records <= committed.records {
            return Ok(());
        }
        if records > most || committed.layout.file_size(committed.header_size, records).is_none() {
            return Err(Error::new(
                Code::EINVALCOORDS,
                format!("{records} records, the format counts to {most}"),
            ));
        }
        committed.records = records;
        Ok(())
    }

    /// Sets the number of records back to what it was before [`ClassicFile::grow`]: the write that it was for failed.
    pub fn ungrow(&mut self, records: u64) {
        let Some(committed) = &mut self.committed else { return };
        committed.records = records.max(committed.records_in_file);
        let fills = committed.fills.iter_mut().zip(&committed.layout.places);
        for (fill, place) in fills.filter(|(_, place)| place.record) {
            // A move of the data leaves out fill values behind the last record, so they have to be written again.
            fill.cut(committed.records, place.bytes / fill.value.len() as u64);
        }
    }

    /// To be called before the elements `first..end` of a variable are written; `dense` says that every one of them is.
    #[inline]
    pub fn before_write(
        &mut self,
        model: &Model,
        var: VarId,
        first: u64,
        end: u64,
        dense: bool,
    ) -> Result<()> {
        let defined = if dense { first } else { end };
        if self.committed.is_some() && !self.lacks_fill(var, defined) {
            return Ok(());
        }
        self.with_fill(model, var, |filled, target| filled.fill_to(target, defined))
    }

    /// To be called when the elements before `end` that [`ClassicFile::before_write`] made room for are written.
    pub fn wrote(&mut self, var: VarId, end: u64) {
        if let Some(filled) =
            self.committed.as_mut().and_then(|committed| committed.fills.get_mut(var.index()))
        {
            filled.wrote(end);
        }
    }

    /// Writes a short run of elements of a variable, after fill values before it where they are missing.
    ///
    /// # Errors
    /// Errors of [`ShortRun::write`], and of writing the fill values.
    pub fn write_short(
        &mut self,
        model: &Model,
        var: VarId,
        run: &ShortRun,
        input: In<'_>,
    ) -> Result<RangeCheck> {
        let span = run.span();
        self.before_write(model, var, span.start, span.end, true)?;
        let fit = match &mut self.access {
            Access::Write(blob) => {
                run.write(|at, bytes| blob.write_alone_at(at, bytes), input.kind, input.rules, input.bytes)?
            }
            access => return access.blob_mut().and(Err(not_defined())),
        };
        self.wrote(var, span.end);
        Ok(fit)
    }

    /// Whether elements of `var` before `end` wait for their fill values, so that [`ClassicFile::finish`] must come
    /// before they are read.
    pub fn lacks_fill(&self, var: VarId, end: u64) -> bool {
        let fills = self.committed.as_ref().map_or(&[][..], |committed| &committed.fills);
        fills.get(var.index()).is_some_and(|filled| filled.lacks(end))
    }

    /// Fills all elements of a variable that were never written.
    pub fn finish(&mut self, model: &Model, var: VarId) -> Result<()> {
        self.with_fill(model, var, |filled, target| filled.finish(target))
    }

    /// Brings the file up to date: fill values first, then the number of records.
    pub fn flush(&mut self, model: &Model) -> Result<()> {
        if let Access::Read(_) = &self.access {
            return Ok(());
        }
        self.restore_header()?;
        for var in model.var_ids() {
            self.finish(model, var)?;
        }
        let blob = self.access.blob_mut()?;
        let Some(committed) = &mut self.committed else { return Ok(()) };
        committed.extend(blob)?;
        // Data first, so that no reader sees records that are not there.
        blob.flush()?;
        if !committed.streaming && committed.records != committed.records_in_file {
            let width = self.version.count_width();
            blob.write_at(NUMRECS_AT, &committed.records.to_be_bytes()[8 - width..])?;
            blob.flush()?;
            committed.records_in_file = committed.records;
        }
        Ok(())
    }

    /// Puts the header back that a failed write may have torn.
    fn restore_header(&mut self) -> Result<()> {
        if let Some(old) = &self.torn {
            old.restore(self.access.blob_mut()?)?;
            self.torn = None;
        }
        Ok(())
    }

    fn with_fill(
        &mut self,
        model: &Model,
        var: VarId,
        change: impl FnOnce(&mut Filled, &Target<'_>) -> Result<()>,
    ) -> Result<()> {
        if let Access::Read(_) = &self.access {
            return Ok(());
        }
        let blob = self.access.blob_mut()?;
        let Some(committed) = &mut self.committed else { return Err(not_defined()) };
        let target = committed.target(blob, model, var)?;
        change(&mut committed.fills[var.index()], &target)
    }

    fn committed(&self) -> Result<&Committed> {
        self.committed.as_ref().ok_or_else(not_defined)
    }
}

impl Committed {
    fn target<'a>(&self, blob: &'a dyn BlobMut, model: &Model, var: VarId) -> Result<Target<'a>> {
        let place = self.layout.places[var.index()];
        let lone = place.record && self.layout.record_size == place.bytes;
        Ok(Target {
            blob,
            place,
            stored: stored(model, var)?,
            record_size: self.layout.record_size,
            slabs: if place.record { self.records } else { 1 },
            padded: !lone && place.padded() > place.bytes,
        })
    }

    /// Makes the file as long as its data, as the reference does when it closes a file.
    fn extend(&self, blob: &dyn BlobMut) -> Result<()> {
        let size = self.size();
        if blob.size()? < size { blob.set_size(size) } else { Ok(()) }
    }

    /// The size of the file.
    fn size(&self) -> u64 {
        self.layout.file_size(self.header_size, self.records).unwrap_or(0).max(self.written)
    }
}

fn not_defined() -> Error {
    Error::new(Code::EINDEFINE, "the file is still being defined")
}

/// The fill value of a variable, as stored.
fn fill_value(model: &Model, var: VarId) -> Result<Vec<u8>> {
    match model.fill_value(var) {
        Some(value) => values::encode(&value).map(|bytes| bytes.to_vec()),
        None => Err(Error::new(Code::EBADTYPE, format!("{} has a user-defined type", model.var_path(var)))),
    }
}

/// How the elements of a variable are stored.
fn stored(model: &Model, var: VarId) -> Result<Stored> {
    match kind_of(model.atomic_type(var)?) {
        Some(kind) => Ok(Stored { kind, order: Order::Big }),
        None => Err(Error::new(Code::EBADTYPE, format!("{} is a string", model.var_path(var)))),
    }
}

/// The kind of the elements of a type; `None` for strings, which are no elements of one size.
pub fn kind_of(atomic: Atomic) -> Option<Kind> {
    Some(match atomic {
        Atomic::Byte => Kind::I8,
        Atomic::Char => Kind::Char,
        Atomic::Short => Kind::I16,
        Atomic::Int => Kind::I32,
        Atomic::Float => Kind::F32,
        Atomic::Double => Kind::F64,
        Atomic::Ubyte => Kind::U8,
        Atomic::Ushort => Kind::U16,
        Atomic::Uint => Kind::U32,
        Atomic::Int64 => Kind::I64,
        Atomic::Uint64 => Kind::U64,
        Atomic::String => return None,
    })
}
