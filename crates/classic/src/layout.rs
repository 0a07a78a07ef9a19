//! Where the data of each variable lies ("Notes on Computing File Offsets").
//!
//! A layout is planned from the model and the layout the file had before, so that data moves only when the header or a
//! variable before it grew. The limits on sizes (`NC_EVARSIZE`) and on order (`NC_ENOTNC`) are the reference's.
#![warn(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_model::{Model, VarId};

use crate::header::Version;

/// Free space and alignment asked for at the end of define mode (`nc__enddef`), in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alignment {
    /// Free space behind the header.
    pub header_free: u64,
    /// The data of fixed-size variables starts at a multiple of this.
    pub fixed: u64,
    /// Free space behind the fixed-size variables.
    pub fixed_free: u64,
    /// The records start at a multiple of this.
    pub records: u64,
}

impl Default for Alignment {
    /// What `nc_enddef` asks for.
    fn default() -> Self {
        Alignment { header_free: 0, fixed: 1, fixed_free: 0, records: 1 }
    }
}

/// Where one variable lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Position of its first byte.
    pub begin: u64,
    /// Bytes of the variable, or of one record of it, without padding.
    pub bytes: u64,
    /// Whether it has a slab in each record.
    pub record: bool,
}

impl Place {
    /// Bytes with padding, the meaning of `vsize`.
    pub fn padded(&self) -> u64 {
        // `slab_bytes` leaves room for the padding.
        self.bytes.next_multiple_of(4)
    }
}

/// Where all data of a file lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Where the fixed-size variables start.
    pub begin_fixed: u64,
    /// Where the first record starts.
    pub begin_records: u64,
    /// Bytes from one record to the next.
    pub record_size: u64,
    /// A place for each variable, by `VarId`.
    pub places: Vec<Place>,
}

/// The largest size or position in a file.
const MAX: u64 = i64::MAX as u64;

fn too_large(model: &Model, var: VarId, why: &str) -> Error {
    let kind = model.format().kind_name();
    Error::new(Code::EVARSIZE, format!("variable {}: {why} in {kind} files", model.var_path(var)))
}

/// Bytes of a variable, or of one record of it; at most [`MAX`] less padding.
fn slab_bytes(model: &Model, var: VarId) -> Result<u64> {
    let size = model.atomic_type(var)?.size() as u64;
    let dims = &model.var(var).dims;
    let fixed = &dims[usize::from(model.is_record(var))..];
    // A dimension of length 0 that is not the first one makes an empty variable, whatever the others say.
    if fixed.iter().any(|&dim| model.dim(dim).len == 0) {
        return Ok(0);
    }
    fixed
        .iter()
        .try_fold(size, |bytes, &dim| bytes.checked_mul(model.dim(dim).len))
        .filter(|&bytes| bytes <= MAX.saturating_sub(3))
        .ok_or_else(|| too_large(model, var, "its size is beyond any limit"))
}

/// Bytes from one record to the next: a lone record variable is not padded.
fn record_size(places: &[Place]) -> Result<u64> {
    let records: Vec<_> = places.iter().filter(|place| place.record).collect();
    match records[..] {
        [alone] => Ok(alone.bytes),
        _ => records
            .iter()
            .try_fold(0u64, |sum, place| sum.checked_add(place.padded()))
            .filter(|&sum| sum <= MAX)
            .ok_or_else(|| Error::new(Code::EVARSIZE, "the size of a record is beyond any limit")),
    }
}

/// Checks the size limits of each kind of file: only the last variable may be larger than the limit of its format, as
/// no position is computed from its size.
fn check_sizes(model: &Model, version: Version, places: &[Place]) -> Result<()> {
    let limit = match version {
        Version::Classic => 0x7FFF_FFFC,
        Version::Offset64 => 0xFFFF_FFFC,
        Version::Data64 => 0x7FFF_FFFF_FFFF_FFFC,
    };
    let has_records = places.iter().any(|place| place.record);
    for record in [false, true] {
        let of_kind: Vec<_> = model.var_ids().filter(|var| places[var.index()].record == record).collect();
        let Some((_, others)) = of_kind.split_last() else { continue };
        // Fixed-size variables are followed by the records, if there are any.
        let limited =
            if !record && has_records || version == Version::Data64 { &of_kind[..] } else { others };
        if let Some(&var) = limited.iter().find(|var| places[var.index()].bytes > limit) {
            let bytes = places[var.index()].bytes;
            return Err(too_large(
                model,
                var,
                &format!("{bytes} bytes are too many for other than the last variable"),
            ));
        }
    }
    Ok(())
}

impl Layout {
    /// Plans the positions of the data, given the size of the header and the layout the file has now.
    ///
    /// Fails with `NC_EVARSIZE` if the format cannot hold a variable or reach its position.
    pub fn plan(
        model: &Model,
        version: Version,
        header_size: u64,
        old: Option<&Layout>,
        alignment: &Alignment,
    ) -> Result<Layout> {
        let mut places = Vec::with_capacity(model.vars().len());
        for var in model.var_ids() {
            places.push(Place { begin: 0, bytes: slab_bytes(model, var)?, record: model.is_record(var) });
        }
        check_sizes(model, version, &places)?;
        let record_size = record_size(&places)?;
        let old_begins = |record: bool| {
            let old = old.map_or(&[][..], |old| &old.places);
            old.iter().filter(move |place| place.record == record).map(|place| place.begin)
        };
        let was_fixed = old.map_or(0, |old| old.begin_fixed);
        let was_records = old.map_or(0, |old| old.begin_records);
        if places.is_empty() {
            // Free space asked for before there is a variable is forgotten, as by the reference.
            return Ok(Layout { begin_fixed: was_fixed, begin_records: was_records, record_size: 0, places });
        }

        let begin_fixed = start(was_fixed, header_size, alignment.header_free, alignment.fixed)?;
        let end_fixed = lay_out(model, version, &mut places, false, begin_fixed, old_begins(false))?;
        let begin_records = start(was_records, end_fixed, alignment.fixed_free, alignment.records)?;
        lay_out(model, version, &mut places, true, begin_records, old_begins(true))?;

        let first_fixed = places.iter().find(|place| !place.record);
        let begin_fixed = first_fixed.map_or(begin_records, |place| place.begin);
        Ok(Layout { begin_fixed, begin_records, record_size, places })
    }

    /// The layout a file says it has, checked as the reference does: variables lie behind the header, in definition
    /// order, without overlap.
    pub fn stored(model: &Model, version: Version, header_size: u64, begins: &[u64]) -> Result<Layout> {
        let mut places = Vec::with_capacity(begins.len());
        for (var, &begin) in model.var_ids().zip(begins) {
            if begin > MAX {
                let what =
                    format!("variable {} begins at byte {begin}, beyond any file", model.var_path(var));
                return Err(Error::new(Code::ENOTNC, what));
            }
            places.push(Place { begin, bytes: slab_bytes(model, var)?, record: model.is_record(var) });
        }
        check_sizes(model, version, &places)?;
        let end_fixed = check_order(model, &places, false, header_size)?;
        check_order(model, &places, true, end_fixed)?;
        let begin_records = places.iter().find(|place| place.record).map_or(end_fixed, |place| place.begin);
        let begin_fixed =
            places.iter().find(|place| !place.record).map_or(begin_records, |place| place.begin);
        Ok(Layout { begin_fixed, begin_records, record_size: record_size(&places)?, places })
    }

    /// Whether any variable has records.
    pub fn has_records(&self) -> bool {
        self.places.iter().any(|place| place.record)
    }

    /// Where the last element of a file with this many records ends; the padding behind it may be missing.
    pub fn data_end(&self, records: u64) -> u64 {
        let end = |place: &Place| {
            let last = match place.record {
                true => records.checked_sub(1)?.saturating_mul(self.record_size),
                false => 0,
            };
            Some(place.begin.saturating_add(last).saturating_add(place.bytes))
        };
        self.places.iter().filter_map(end).max().unwrap_or(0)
    }

    /// The size of a complete file with this many records and a header of this size. `None` if it is beyond any file.
    pub fn file_size(&self, header_size: u64, records: u64) -> Option<u64> {
        if self.has_records() {
            let data = self.record_size.checked_mul(records)?;
            return self.begin_records.checked_add(data).filter(|&size| size <= MAX);
        }
        let ends = self.places.iter().map(|place| place.begin.saturating_add(place.padded()));
        Some(ends.max().unwrap_or(header_size))
    }
}

/// Checks that the variables of one section lie behind `end`, in order, without overlap. Returns where they end.
fn check_order(model: &Model, places: &[Place], record: bool, mut end: u64) -> Result<u64> {
    for (var, place) in model.var_ids().zip(places).filter(|(_, place)| place.record == record) {
        if place.begin < end {
            let (name, begin) = (model.var_path(var), place.begin);
            let what =
                format!("variable {name} begins at byte {begin}, before byte {end} where the header or the");
            return Err(Error::new(Code::ENOTNC, format!("{what} variable before it ends")));
        }
        end = place.begin.saturating_add(place.padded());
    }
    Ok(end)
}

/// Where a section starts: where it was, if there is room and the alignment holds, else behind what comes before.
fn start(was: u64, end_before: u64, free: u64, unit: u64) -> Result<u64> {
    let unit = unit.max(1);
    let least = end_before.saturating_add(free);
    if was >= least && was.is_multiple_of(unit) {
        return Ok(was);
    }
    let start = least.checked_next_multiple_of(unit).filter(|&start| start <= MAX);
    let start = start.ok_or_else(|| Error::new(Code::EVARSIZE, "data would begin beyond any file"))?;
    // Data never moves towards the front.
    Ok(start.max(was.next_multiple_of(unit)))
}

/// Gives the variables of one section their positions, none before where it was. Returns where the section ends.
fn lay_out(
    model: &Model,
    version: Version,
    places: &mut [Place],
    record: bool,
    begin: u64,
    mut old_begins: impl Iterator<Item = u64>,
) -> Result<u64> {
    let mut at = begin;
    for var in model.var_ids() {
        let place = &mut places[var.index()];
        if place.record != record {
            continue;
        }
        at = at.max(old_begins.next().unwrap_or(0));
        if version == Version::Classic && at > i32::MAX as u64 {
            return Err(too_large(model, var, &format!("it would begin at byte {at}, past 2 GiB,")));
        }
        place.begin = at;
        let end = at.checked_add(place.padded()).filter(|&end| end <= MAX);
        at = end.ok_or_else(|| too_large(model, var, "it would end beyond any file"))?;
    }
    Ok(at)
}
