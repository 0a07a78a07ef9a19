//! Reading and writing elements: from a variable id and a selection to the engine.

use ferrocdf_array::{Element, In, Index, Kind, Out, RangeCheck, Selection};
use ferrocdf_bytes::{Code, Context, Error, Result};
use ferrocdf_model::{Atomic, Attr, Model, Owner, Type, Values, VarId};
use ferrocdf_store::skipping_zeros;

use crate::driver::{NewElements, Shapeless, Skipped, Span};
use crate::elements::{as_stored, elements, put_rules, rules, with_number, zeros};
use crate::file::State;
use crate::variable_errors::in_variable;
use crate::{File, FileMut};

impl File {
    /// Reads a selection of a variable into memory, converted to the memory's type.
    ///
    /// [`RangeCheck::OutOfRange`] says that some numbers could not be represented; all are converted all the same. Fails with
    /// `NC_EINVALCOORDS`, `NC_EEDGE` or `NC_ESTRIDE` for a selection outside the variable, `NC_ECHAR` between text and
    /// numbers, `NC_ETRUNC` where the file ends too early.
    pub fn read(&self, var: VarId, selection: &Selection, mut out: Out<'_>) -> Result<RangeCheck> {
        let done = self.reading(|state| {
            let is_complete = !state.has_draft() && !lacks_fill(state, var, selection);
            is_complete.then(|| read(state, var, selection, out.reborrow())).transpose()
        })?;
        if let Some(fit) = done {
            return Ok(fit);
        }
        let mut state = self.write_state();
        self.named(state.commit())?;
        self.named(state.fill_unwritten(var))?;
        self.named(read(&state, var, selection, out))
    }

    /// Reads a part of a variable in its own type.
    pub fn read_values(&self, var: VarId, start: &[u64], count: &[u64]) -> Result<Values> {
        self.read_selected(var, &Selection::slab(start, count))
    }

    /// Reads a selection of a variable of any type, in that type, last dimension fastest.
    pub fn read_selected(&self, var: VarId, selection: &Selection) -> Result<Values> {
        let model = self.model();
        self.named(check_id(&model, var))?;
        // A wrong selection must not take memory.
        let checked = check_selection(&model, var, selection, &model.shape(var));
        self.named(checked.at_path(|| model.var_path(var)))?;
        let count = elements(selection)?;
        let Type::Atomic(atomic) = model.var(var).ty else { return self.trees(var, selection) };
        with_number!(atomic, variant => {
            let mut list = zeros(count)?;
            let _exact = self.read(var, selection, Out::new(&mut list))?;
            Ok(variant(list))
        }, char => {
            let mut text = zeros(count)?;
            let _exact = self.read(var, selection, Out::text(&mut text))?;
            Ok(Values::Char(text))
        }, string => {
            self.trees(var, selection)
        })
    }

    /// Reads values that are trees.
    fn trees(&self, var: VarId, selection: &Selection) -> Result<Values> {
        let values = self.reading(|state| {
            let values = (!state.has_draft()).then(|| state.driver().values(state.model(), var, selection));
            values.transpose().map_err(|error| in_variable(error, state.model(), var))
        })?;
        if let Some(values) = values {
            return Ok(values);
        }
        self.named(self.write_state().commit())?;
        self.trees(var, selection)
    }

    /// Returns a line for each object that netCDF cannot express, with the reason. Looks at all attributes.
    pub fn skipped(&self) -> Vec<String> {
        let state = self.read_state();
        let Skipped { mut reasons, other_kinds, .. } = state.driver().inspect().skipped(state.model());
        reasons.extend(other_kinds);
        reasons
    }

    /// Returns the lines of [`File::skipped`] but those for tables, rasters and annotations of HDF4, which netCDF-C ignores.
    pub fn skipped_netcdf_objects(&self) -> Vec<String> {
        let state = self.read_state();
        state.driver().inspect().skipped(state.model()).reasons
    }

    /// Datasets of an HDF5 file that have attributes and no shape (a null dataspace), which are no variables.
    pub fn shapeless(&self) -> Vec<Shapeless> {
        let state = self.read_state();
        state.driver().inspect().skipped(state.model()).shapeless
    }

    /// Why a variable, a group or a type of the file is missing, if one cannot be read: the first one.
    pub fn lost(&self) -> Option<Error> {
        self.read_state().driver().inspect().unreadable().map(|error| error.at(self.path().display()))
    }

    /// Returns the reason why the data of a variable cannot be read, if the metadata tells one: a Zarr array has an unknown codec. `None`
    /// does not promise that the data can be read.
    pub fn unreadable_data(&self, var: VarId) -> Option<Error> {
        let state = self.read_state();
        check_id(state.model(), var).ok()?;
        let error = state.driver().inspect().unreadable_data(var)?;
        Some(error.at_path(state.model().var_path(var)).at(self.path().display()))
    }

    /// The value that elements of a variable have which were never written, one of its type; `None` if nobody set one and
    /// the type has none. In a netCDF-4 file it need not be what the attribute `_FillValue` says.
    pub fn fill_value(&self, var: VarId) -> Result<Option<Values>> {
        self.reading(|state| {
            if state.has_draft() {
                return check_id(state.view(), var).map(|()| state.view().fill_value(var));
            }
            check_id(state.model(), var)?;
            let fill = state.driver().fill(state.model(), var);
            fill.map_err(|error| in_variable(error, state.model(), var))
        })
    }

    /// Whether a netCDF library wrote the file: always for classic files, for HDF5 files by attributes that only netCDF
    /// writes.
    pub fn is_written_by_netcdf(&self) -> bool {
        self.read_state().driver().inspect().is_written_by_netcdf()
    }

    /// Whether one object has the metadata of all groups and arrays of a Zarr store; `None` for other formats.
    pub fn is_consolidated(&self) -> Option<bool> {
        self.read_state().driver().inspect().is_consolidated()
    }

    /// Attributes that are shown only on request: those that say which library wrote the file, and how.
    pub fn hidden_attributes(&self, owner: Owner) -> Vec<Attr> {
        self.read_state().driver().inspect().hidden_attributes(owner)
    }
}

impl FileMut {
    /// Writes memory to a selection of a variable, converted to the variable's type. The record dimension grows as
    /// needed.
    ///
    /// [`RangeCheck::OutOfRange`] and errors are as for [`File::read`].
    pub fn write(&self, var: VarId, selection: &Selection, input: In<'_>) -> Result<RangeCheck> {
        self.write_sparse(var, selection, input, false)
    }

    /// Writes like [`write`](FileMut::write); perhaps without the zeros that the file has already, or has nothing for yet.
    pub(crate) fn write_sparse(
        &self,
        var: VarId,
        selection: &Selection,
        input: In<'_>,
        skips_zeros: bool,
    ) -> Result<RangeCheck> {
        let mut state = self.write_state();
        let state = &mut *state;
        let done = state.commit().and_then(|()| write(state, var, selection, input, skips_zeros));
        self.named(done)
    }

    /// Writes values, of whatever type, to a part of a variable.
    pub fn write_values(
        &self,
        var: VarId,
        start: &[u64],
        count: &[u64],
        values: &Values,
    ) -> Result<RangeCheck> {
        let selection = Selection::slab(start, count);
        match values {
            Values::Char(text) => self.write(var, &selection, In::text(text)),
            Values::String(_) | Values::User(..) => self.write_trees(var, &selection, values),
            numbers => ferrocdf_model::each_numbers!(numbers, list => {
                self.write(var, &selection, In::new(list))
            }, _ => unreachable!("text and user types are handled above")),
        }
    }
}

impl FileMut {
    /// Writes strings or values of a user-defined type to a selection of a variable of that type, last dimension fastest.
    /// Unlimited dimensions grow as needed.
    ///
    /// Fails with `NC_EBADTYPE` for values of another type, with `NC_EEDGE` for another number of them.
    pub fn write_trees(&self, var: VarId, selection: &Selection, values: &Values) -> Result<RangeCheck> {
        let mut state = self.write_state();
        let state = &mut *state;
        self.named(state.commit().and_then(|()| check_id(state.model(), var)))?;
        let done = state.blob_mut().map(drop).and_then(|()| {
            let shape = reached(state.model(), var, selection);
            check_selection(state.model(), var, selection, &shape)?;
            or_as_long(state, var, |state| {
                grow(state, var, &shape)?;
                let (model, writer) = state.writer()?;
                let written = writer.write(model, var, selection, NewElements::Nested(values));
                let written = written.and_then(|written| written.ok_or_else(|| no_nested_values(model, var)));
                state.after_write(var, written)
            })
        });
        self.named(done.map_err(|error| in_variable(error, state.model(), var)))
    }
}

/// The error of a variable that takes no strings and no values of user-defined types.
fn no_nested_values(model: &Model, var: VarId) -> Error {
    Error::new(Code::EBADTYPE, format!("{} holds numbers or text", model.var_path(var)))
}

/// Fails with `NC_ENOTVAR` for an id that no variable has.
fn check_id(model: &Model, var: VarId) -> Result<()> {
    if var.index() < model.vars().len() {
        return Ok(());
    }
    Err(Error::new(Code::ENOTVAR, format!("no variable has the id {}", var.0)))
}

/// Checks a selection of a variable of this shape. Errors have the names of dimensions.
pub(crate) fn check_selection(model: &Model, var: VarId, selection: &Selection, shape: &[u64]) -> Result<()> {
    selection.check_named(shape, |place| quoted_dim_name(model, var, place))
}

/// Returns the name of a dimension of a variable, by its position, as errors show it.
pub(crate) fn quoted_dim_name(model: &Model, var: VarId, place: usize) -> String {
    format!("\"{}\"", model.dim(model.var(var).dims[place]).name)
}

/// The shape of a variable once its unlimited dimensions are long enough for a selection.
fn reached(model: &Model, var: VarId, selection: &Selection) -> Index {
    let dims = &model.var(var).dims;
    let lens = dims.iter().enumerate().map(|(place, &dim)| {
        let dim = model.dim(dim);
        if dim.unlimited { dim.len.max(end_of(selection, place).unwrap_or(u64::MAX)) } else { dim.len }
    });
    lens.collect()
}

/// Makes the unlimited dimensions of a variable as long as a shape says.
pub(crate) fn grow(state: &mut State, var: VarId, shape: &[u64]) -> Result<()> {
    let dims = state.model().var(var).dims.clone();
    dims.iter().zip(shape).try_for_each(|(&dim, &len)| state.grow_dim(dim, len))
}

fn read(state: &State, var: VarId, selection: &Selection, out: Out<'_>) -> Result<RangeCheck> {
    check_id(state.model(), var)?;
    let out = Out { rules: rules(state.model().format()), ..out };
    let kind = out.kind;
    let done = state.located(var).and_then(|(array, blob)| match as_stored(state.model(), array, kind) {
        Some(array) => ferrocdf_array::read(blob, &array, selection, out),
        None => ferrocdf_array::read(blob, array, selection, out),
    });
    done.map_err(|error| in_variable(error, state.model(), var))
}

fn write(
    state: &mut State,
    var: VarId,
    selection: &Selection,
    input: In<'_>,
    skips_zeros: bool,
) -> Result<RangeCheck> {
    check_id(state.model(), var)?;
    let input = In { rules: put_rules(state.model().format()), ..input };
    let done = write_grown(state, var, selection, input, skips_zeros);
    done.map_err(|error| in_variable(error, state.model(), var))
}

fn write_grown(
    state: &mut State,
    var: VarId,
    selection: &Selection,
    input: In<'_>,
    skips_zeros: bool,
) -> Result<RangeCheck> {
    state.blob_mut()?;
    let Some(shape) = check_write(state, var, selection, input)? else { return Ok(RangeCheck::InRange) };
    or_as_long(state, var, |state| write_within(state, var, selection, input, &shape, skips_zeros))
}

/// Checks numbers or text for a selection of a variable. Returns the shape that the variable needs for them; `None` if no element is
/// selected.
pub(crate) fn check_write(
    state: &State,
    var: VarId,
    selection: &Selection,
    input: In<'_>,
) -> Result<Option<Index>> {
    let text = takes_text(state, var)?;
    let shape = reached(state.model(), var, selection);
    check_selection(state.model(), var, selection, &shape)?;
    if selection.elements() == Some(0) {
        return Ok(None);
    }
    if text != (input.kind == Kind::Char) {
        return Err(Error::new(Code::ECHAR, "text does not convert to numbers, nor numbers to text"));
    }
    if input.map.is_none() {
        check_len(elements(selection)?, input)?;
    }
    if shape.iter().try_fold(1u64, |count, &len| count.checked_mul(len)).is_none() {
        let what = format!("a variable of shape {shape:?} would have more than 2^64 elements");
        return Err(Error::new(Code::EVARSIZE, what));
    }
    Ok(Some(shape))
}

/// Writes to a variable that is made as long as a shape says.
fn write_within(
    state: &mut State,
    var: VarId,
    selection: &Selection,
    input: In<'_>,
    shape: &[u64],
    skips_zeros: bool,
) -> Result<RangeCheck> {
    grow(state, var, shape)?;
    let (model, writer) = state.writer()?;
    let elements = NewElements::Plain { input, skips_zeros };
    if let Some(written) = writer.write(model, var, selection, elements).transpose() {
        return state.after_write(var, written);
    }
    state.write_in_place(var, Span::of(shape, selection), |model, array, blob| {
        skipping_zeros(blob, skips_zeros, |blob| match as_stored(model, array, input.kind) {
            Some(array) => ferrocdf_array::write(blob, &array, selection, input),
            None => ferrocdf_array::write(blob, array, selection, input),
        })
    })
}

/// Writes to a variable. After an error its dimensions are as long as before.
fn or_as_long(
    state: &mut State,
    var: VarId,
    write: impl FnOnce(&mut State) -> Result<RangeCheck>,
) -> Result<RangeCheck> {
    let model = state.model();
    let lens: Index = model.var(var).dims.iter().map(|&dim| model.dim(dim).len).collect();
    write(state).inspect_err(|_| state.ungrow(var, &lens))
}

/// Whether a variable that numbers or text are written to holds text. Its array is asked for only where the type leaves it
/// open: an array can be read, so what was not written yet would be filled.
fn takes_text(state: &State, var: VarId) -> Result<bool> {
    match state.model().var(var).ty {
        Type::Atomic(atomic) if atomic != Atomic::String => Ok(atomic == Atomic::Char),
        _ => Ok(state.array(var)?.stored.kind == Kind::Char),
    }
}

/// Checks the number of values before anything is changed.
fn check_len(wanted: usize, input: In<'_>) -> Result<()> {
    let given = input.bytes.len() / input.kind.size();
    if given == wanted {
        return Ok(());
    }
    Err(Error::new(Code::EEDGE, format!("{given} values for a selection of {wanted} elements")))
}

/// One past the last index of a dimension; `None` if that is beyond 64 bits.
fn end_of(selection: &Selection, dim: usize) -> Option<u64> {
    match (selection.start.get(dim), selection.count.get(dim), selection.stride.get(dim)) {
        (Some(&start), Some(&count), Some(&stride)) if count > 0 => {
            (count - 1).checked_mul(stride)?.checked_add(start)?.checked_add(1)
        }
        _ => Some(0),
    }
}

/// Whether reading a selection meets elements that were never written and not filled yet.
fn lacks_fill(state: &State, var: VarId, selection: &Selection) -> bool {
    if !state.lacks_fill(var, u64::MAX) {
        return false;
    }
    let shape = state.model().shape(var);
    if selection.check(&shape).is_err() || selection.elements() == Some(0) {
        return false;
    }
    state.lacks_fill(var, Span::of(&shape, selection).end)
}

/// Memory of a Rust type to read a variable into; bytes also take text.
pub(crate) fn out_of<'a, T: Element>(file: &File, var: VarId, into: &'a mut [T]) -> Out<'a> {
    let out = Out::new(into);
    if out.kind == Kind::U8 && is_text(file, var) { Out { kind: Kind::Char, ..out } } else { out }
}

/// Memory of a Rust type to write to a variable; bytes also go to text.
pub(crate) fn in_of<'a, T: Element>(file: &File, var: VarId, from: &'a [T]) -> In<'a> {
    let input = In::new(from);
    if input.kind == Kind::U8 && is_text(file, var) { In { kind: Kind::Char, ..input } } else { input }
}

fn is_text(file: &File, var: VarId) -> bool {
    file.read_state().view().atomic_type(var) == Ok(Atomic::Char)
}
