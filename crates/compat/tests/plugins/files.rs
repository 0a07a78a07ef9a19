//! Files of one variable that goes through filters: written and read by us, printed by both.

use std::path::Path;
use std::process::Command;

use ferrocdf::model::{Chunking, Endian, Filter};
use ferrocdf::{CreateOptions, File, FileMut, Format, NetcdfType, Result};

/// A file of one variable in chunks that goes through a filter.
pub fn write<T: NetcdfType>(path: &Path, filter: Filter, endian: Option<Endian>, values: &[T]) -> Result<()> {
    write_through(path, &[filter], endian, values)
}

/// The same through any number of filters.
pub fn write_through<T: NetcdfType>(
    path: &Path,
    filters: &[Filter],
    endian: Option<Endian>,
    values: &[T],
) -> Result<()> {
    let file = FileMut::create(path, &CreateOptions::format(Format::NETCDF4))?;
    file.add_dimension("row", 400)?;
    file.add_dimension("column", values.len() as u64 / 400)?;
    let var = file.add_variable::<T>("v", &["row", "column"])?.id();
    file.define(|model| {
        let storage = &mut model.var_mut(var).storage;
        storage.chunking = Some(Chunking::Chunked(vec![40, 25]));
        storage.endian = endian;
        filters.iter().for_each(|filter| storage.set_filter(filter.id, filter.params.clone()));
        Ok(())
    })?;
    file.variable_mut("v").expect("it was defined").put_values(values, ..)?;
    file.close()
}

/// The values of the variable.
pub fn read<T: NetcdfType>(path: &Path) -> Result<Vec<T>> {
    File::open(path)?.variable("v").expect("it was defined").get_values(..)
}

/// A filter with its parameters.
pub fn filter(id: u32, params: &[u32]) -> Filter {
    Filter { id, params: params.to_vec() }
}

/// The filters of the variable, as its file says.
pub fn stored(path: &Path) -> Vec<Filter> {
    let file = File::open(path).expect("a file");
    let var = file.variable("v").expect("it was defined").id();
    file.model().var(var).storage.filters.clone()
}

/// Numbers with some order.
pub fn bytes(count: usize) -> Vec<i32> {
    (0..count as i32).map(|number| number.wrapping_mul(7919) % 1000).collect()
}

/// What the reference's `ncdump` prints, with the plugins of a folder.
pub fn printed(path: &Path, folder: &Path) -> String {
    let output = Command::new("ncdump").arg(path).env("HDF5_PLUGIN_PATH", folder).output();
    let output = output.expect("the reference's ncdump must be installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What our `ncdump` prints.
pub fn ours(path: &Path) -> String {
    let run = crate::ncdump_tool::ours(&[path.to_str().expect("a path of UTF-8")]);
    assert_eq!(run.code, Some(0), "{}", String::from_utf8_lossy(&run.err));
    String::from_utf8_lossy(&run.out).into_owned()
}
