//! `nc_copy_var`: a variable of one file defined in another, with its attributes and its data.

use std::ffi::c_int;

use ferrocdf::{Code, FileMut, GroupId, Result, VarId, copy_data};

use crate::abi::answer::{answer, fail, in_range};
use crate::attributes::store::copy_attribute;
use crate::files::define_mode::{end_definitions, redefine};
use crate::model::entities::variable;
use crate::open::file::OpenFile;
use crate::open::ids::find;
use crate::types::equality::equal_type;

/// Largest number of bytes of data in memory at a time.
const BUDGET: usize = 16 << 20;

#[unsafe(no_mangle)]
pub extern "C" fn nc_copy_var(from_id: c_int, varid: c_int, to_id: c_int) -> c_int {
    answer(|| {
        let (from, group) = find(from_id)?;
        let var = from.file().look(|model| variable(model, group, varid))?;
        let (to, to_group) = find(to_id)?;
        let copy = define(&from, var, &to, to_group)?;
        // Definitions stay, and so does the data that was copied before an error.
        let _ = end_definitions(&to, FileMut::commit);
        let _ = to.writable()?.sync();
        copy_values(&from, var, &to, copy)
    })
}

/// Defines the copy, in define mode. Its dimensions are those with the same names.
fn define(from: &OpenFile, var: VarId, to: &OpenFile, group: GroupId) -> Result<VarId> {
    let (source, target) = (from.model(), to.model());
    let described = source.var(var);
    let mut dims = Vec::with_capacity(described.dims.len());
    for &dim in &described.dims {
        let name = &source.dim(dim).name;
        match target.find_dim(group, name.as_bytes()) {
            Some(dim) => dims.push(dim),
            None => return fail(Code::EBADDIM, format!("the target has no dimension \"{name}\"")),
        }
    }
    match redefine(to) {
        Err(error) if error.code != Code::EINDEFINE => return Err(error),
        _ => {}
    }
    let writable = to.writable()?;
    let (copy, place) = writable.define(|model| {
        let ty = equal_type(&source, described.ty, model)?;
        let copy = model.def_var(group, described.name.as_bytes(), ty, &dims)?;
        Ok((copy, model.group(group).vars.len() - 1))
    })?;
    for attr in described.attrs.iter() {
        copy_attribute((to, group, place as c_int), attr.name.as_bytes(), &source, attr)?;
    }
    Ok(copy)
}

/// Copies the data in order of the first dimension; if the target is smaller, as much as fits.
fn copy_values(from: &OpenFile, var: VarId, to: &OpenFile, copy: VarId) -> Result<()> {
    let (shape, room) = (from.model().shape(var), to.model().shape(copy));
    if shape.first() == Some(&0) {
        return Ok(());
    }
    from.check_data_mode()?;
    let writable = to.writable()?;
    let slab = |shape: &[u64]| shape.iter().skip(1).copied().collect::<Vec<u64>>();
    let fits = shape.first() == room.first() || to.model().is_record(copy);
    if fits && slab(&shape) == slab(&room) && !std::ptr::eq(from, to) {
        return copy_data(from.file(), writable, &[(var, copy)], BUDGET, &mut |_| {});
    }
    let mut start = vec![0; shape.len()];
    let mut count = shape.clone();
    count[0] = 1;
    for row in 0..shape[0] {
        start[0] = row;
        let values = from.file().read_values(var, &start, &count)?;
        in_range(writable.write_values(copy, &start, &count, &values)?)?;
    }
    Ok(())
}
