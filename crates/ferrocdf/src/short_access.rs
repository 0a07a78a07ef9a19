//! The short way to a few elements side by side: for callers who read or write a value at a time, above all C programs.
//!
//! Nothing is allocated and nothing is looked up twice. Everything out of the ordinary, errors in the request among it,
//! goes the long way, and so does a read that failed as it may while somebody writes the file: `None` says that
//! [`File::read`] or [`FileMut::write`] must be asked.

use ferrocdf_array::{Array, In, Kind, RangeCheck, ShortRun};
use ferrocdf_bytes::Result;
use ferrocdf_model::{GroupId, Model, VarId};

use crate::elements::{as_stored, put_rules, rules};
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
    ) -> Option<Result<RangeCheck>> {
        let state = self.read_state();
        let (var, array) = plain(&state, group, var, kind)?;
        let run = find(array, &part)?;
        let blob = state.short_blob(var, &run)?;
        match run.read(blob, kind, rules(state.model().format()), memory(run.elements())) {
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
    ) -> Option<Result<RangeCheck>> {
        let mut state = self.write_state();
        let (var, array) = plain(&state, group, var, kind)?;
        let run = find(array, &part)?;
        let input = In { rules: put_rules(state.model().format()), ..In::raw(kind, memory(run.elements())) };
        match state.write_run(var, &run, input)? {
            Ok(fit) => Some(Ok(fit)),
            Err(error) => Some(self.named(Err(error))),
        }
    }
}

#[inline(always)]
fn find(array: &Array, part: impl Fn(usize) -> (u64, u64)) -> Option<ShortRun> {
    ShortRun::find(array, |dim| {
        let (start, count) = part(dim);
        (start, count, 1)
    })
}

/// A variable that is defined and whose elements convert to `kind` by the engine's rules alone.
#[inline(always)]
fn plain(state: &State, group: GroupId, var: usize, kind: Kind) -> Option<(VarId, &Array)> {
    if state.has_draft() {
        return None;
    }
    let model: &Model = state.model();
    let var = model.var_at(group, var)?;
    let array = state.plain_array(var)?;
    // Most callers use memory of the stored kind, for which no rule is special.
    let is_plain = array.stored.kind == kind
        || (array.stored.kind == Kind::Char) == (kind == Kind::Char)
            && as_stored(model, array, kind).is_none();
    is_plain.then_some((var, array))
}
