//! Define mode and data mode: calls that enter, leave and query them.

use std::ffi::c_int;

use ferrocdf::{Alignment, Code, Container, FileMut, Result};

use crate::abi::answer::{answer, fail};
use crate::abi::constants::*;
use crate::abi::pointers::Out;
use crate::open::file::OpenFile;
use crate::open::ids::{find, find_file};

pub extern "C" fn nc_redef(ncid: c_int) -> c_int {
    answer(|| redefine(&*find_file(ncid)?))
}

/// Enters define mode. Fails with `NC_EINDEFINE` if the file is already in it.
pub(crate) fn redefine(file: &OpenFile) -> Result<()> {
    let writable = file.writable()?;
    let _state = file.state();
    if file.is_free() {
        file.set_defining(true);
        return Ok(());
    }
    file.check_data_mode()?;
    // A draft is begun even without a change: its end may change the alignment.
    writable.define(|_| Ok(()))?;
    file.set_defining(true);
    Ok(())
}

pub extern "C" fn nc_enddef(ncid: c_int) -> c_int {
    answer(|| end_in_group(ncid, &Alignment::default()))
}

#[allow(non_snake_case, reason = "the name in C")]
pub extern "C" fn nc__enddef(
    ncid: c_int,
    header_free: usize,
    data_align: usize,
    data_free: usize,
    records_align: usize,
) -> c_int {
    answer(|| {
        let alignment = Alignment {
            header_free: header_free as u64,
            fixed: data_align as u64,
            fixed_free: data_free as u64,
            records: records_align as u64,
        };
        end_in_group(ncid, &alignment)
    })
}

/// Leaves define mode by an explicit call. In a netCDF-4 file the variables of the group then count as written, as in
/// netCDF-C.
fn end_in_group(ncid: c_int, alignment: &Alignment) -> Result<()> {
    let (file, group) = find(ncid)?;
    // In netCDF-C the read-only formats have no define mode, and leaving it does nothing.
    if file.file().format().container() == Container::Hdf4 {
        return Ok(());
    }
    if !file.is_classic() {
        let mut state = file.state();
        file.file().look(|model| model.group(group).vars.iter().for_each(|&var| state.set_written(var)));
    }
    end_definitions(&file, |file| file.commit_aligned(alignment))
}

/// Leaves define mode; `end` commits the definitions.
pub(crate) fn end_definitions(file: &OpenFile, end: impl FnOnce(&FileMut) -> Result<()>) -> Result<()> {
    let mut state = file.state();
    file.check_defining()?;
    state.check_types(&file.model())?;
    end(file.writable()?)?;
    state.is_new = false;
    state.all_stored(&file.model());
    file.set_defining(false);
    Ok(())
}

/// Leaves define mode before a transfer, in files that do so implicitly. In other files fails with `NC_EINDEFINE`.
pub(crate) fn ready_for_data(file: &OpenFile) -> Result<()> {
    if !file.is_defining() || !file.is_free() {
        return file.check_data_mode();
    }
    match end_definitions(file, FileMut::apply) {
        // Another thread has left define mode in the meantime.
        Err(error) if error.code == Code::ENOTINDEFINE => Ok(()),
        done => done,
    }
}

pub extern "C" fn nc_sync(ncid: c_int) -> c_int {
    answer(|| {
        let file = find_file(ncid)?;
        if file.is_free() && file.is_defining() {
            end_in_group(ncid, &Alignment::default())?;
        }
        file.check_data_mode()?;
        if file.is_writable() { file.writable()?.sync() } else { file.file().refresh() }
    })
}

pub extern "C" fn nc_set_fill(ncid: c_int, mode: c_int, old: Out<c_int>) -> c_int {
    answer(|| {
        let file = find_file(ncid)?;
        let writable = file.writable()?;
        let mut state = file.state();
        if mode != NC_FILL && mode != NC_NOFILL {
            return fail(Code::EINVAL, format!("{mode} is neither NC_FILL nor NC_NOFILL"));
        }
        let before = if state.no_fill { NC_NOFILL } else { NC_FILL };
        state.no_fill = mode == NC_NOFILL;
        if file.is_classic() {
            writable.set_no_fill(state.no_fill)?;
        }
        old.put(before);
        Ok(())
    })
}
