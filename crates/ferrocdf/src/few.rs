//! The short way to a few elements side by side: for callers who read or write a value at a time, above all C programs.
//!
//! Nothing is allocated and nothing is looked up twice. Everything out of the ordinary, errors in the request among it,
//! goes the long way, and so does a read that failed as it may while somebody writes the file: `None` says that
//! [`File::read`] or [`FileMut::write`] must be asked.

use std::ops::Range;

use ferrocdf_array::{Array, Direction, Fit, Kind, ShortRun};
use ferrocdf_bytes::Result;
use ferrocdf_model::{GroupId, Model, Type, VarId};

use crate::data::{as_stored, rules};
use crate::file::{State, may_pass};
use crate::{File, FileMut};

impl File {
    /// Reads the elements that `part` names with a start and a count for each dimension of the variable at position
    /// `var` of a group. `memory` gives the place for a number of elements of `kind`; it is called once, with a number
    /// that is not 0, or not at all.
    pub fn read_few<'m>(
        &self,
        (group, var): (GroupId, usize),
        kind: Kind,
        part: impl Fn(usize) -> (u64, u64),
        memory: impl FnOnce(usize) -> &'m mut [u8],
    ) -> Option<Result<Fit>> {
        let state = self.read_state();
        let (var, array) = plain(&state, group, var, kind)?;
        let run = find(array, &part)?;
        // Mostly the variable is filled whole, and the span does not matter.
        if state.driver.lacks_fill(var, u64::MAX) && state.driver.lacks_fill(var, span(array, &run, part).end)
        {
            return None;
        }
        match run.read(state.driver.blob(), kind, rules(state.model().format()), memory(run.elements())) {
            Ok(fit) => Some(Ok(fit)),
            Err(error) if may_pass(&error) => None,
            Err(error) => Some(self.named(Err(error))),
        }
    }
}

impl FileMut {
    /// Writes the elements that `part` names, as [`File::read_few`] reads them. Nothing grows: a new record goes the long
    /// way.
    pub fn write_few<'m>(
        &self,
        (group, var): (GroupId, usize),
        kind: Kind,
        part: impl Fn(usize) -> (u64, u64),
        memory: impl FnOnce(usize) -> &'m [u8],
    ) -> Option<Result<Fit>> {
        let mut state = self.write_state();
        let (var, array) = plain(&state, group, var, kind)?;
        let run = find(array, &part)?;
        let span = span(array, &run, part);
        state.driver.blob_mut().ok()?;
        let rules = if state.model().format().is_classic_file() { Direction::Put } else { Direction::Cast };
        let done = state.before_write(var, span.start, span.end, true).and_then(|()| {
            let fit = run.write(state.driver.blob_mut()?, kind, rules, memory(run.elements()))?;
            state.driver.wrote(var, span.end);
            Ok(fit)
        });
        Some(self.named(done))
    }
}

#[inline(always)]
fn find(array: &Array, part: impl Fn(usize) -> (u64, u64)) -> Option<ShortRun> {
    ShortRun::find(array, |dim| {
        let (start, count) = part(dim);
        (start, count, 1)
    })
}

/// The elements of a run in storage order. The run is inside the array, whose elements are counted in 64 bits; what lies
/// side by side in the blob does so in storage order too.
fn span(array: &Array, run: &ShortRun, part: impl Fn(usize) -> (u64, u64)) -> Range<u64> {
    let first = array.shape.iter().enumerate().fold(0, |first, (dim, len)| first * len + part(dim).0);
    first..first + run.elements() as u64
}

/// A variable that is defined and whose elements convert to `kind` by the engine's rules alone.
#[inline(always)]
fn plain(state: &State, group: GroupId, var: usize, kind: Kind) -> Option<(VarId, &Array)> {
    if state.has_draft() {
        return None;
    }
    let model: &Model = state.model();
    let var = *model.group(group).vars.get(var)?;
    // The numbers of an enumeration do not convert.
    if let Type::User(_) = model.var(var).ty {
        return None;
    }
    let array = state.array(var).ok()?;
    // Most callers use memory of the stored kind, for which no rule is special.
    let is_plain = array.stored.kind == kind
        || (array.stored.kind == Kind::Char) == (kind == Kind::Char)
            && as_stored(model, array, kind).is_none();
    (is_plain && state.driver.blob_of(var).is_none()).then_some((var, array))
}
