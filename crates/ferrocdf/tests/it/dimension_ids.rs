//! The ids by which netCDF-4 files call their dimensions, in files of other programs.

use ferrocdf::{FileMut, GroupId};

/// Datasets of h5py without dimensions: netCDF makes them up.
const FOREIGN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../hdf5/tests/data_half/chunks_new.h5");

/// A dimension of h5py that does not say its id, in a group whose links have no order but that of their names.
const UNTOLD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/unordered.h5");

/// The same file, opened anew.
fn again(file: FileMut) -> FileMut {
    FileMut::append_bytes(file.into_bytes().unwrap().unwrap()).unwrap()
}

/// The dimensions of a variable.
fn dims(file: &FileMut, var: &str) -> Vec<String> {
    let model = file.model();
    let var = model.find_var(GroupId::ROOT, var.as_bytes()).unwrap();
    model.var(var).dims.iter().map(|&dim| model.dim(dim).name.to_string()).collect()
}

#[test]
fn a_new_dimension_gets_an_id_that_no_other_has() {
    let mut file = FileMut::append_bytes(std::fs::read(FOREIGN).unwrap()).unwrap();
    // As long as one that was made up, which stays beside it.
    file.add_dimension("a", 23u64).unwrap();
    file.add_variable::<i32>("on_a", &["a"]).unwrap();
    file = again(file);
    file.add_dimension("b", 99u64).unwrap();
    file.add_variable::<i32>("on_both", &["a", "b"]).unwrap();
    file.add_variable::<i32>("on_b", &["b"]).unwrap();
    file = again(file);
    file.add_dimension("c", 98u64).unwrap();
    file.add_variable::<i32>("on_all", &["c", "b", "a"]).unwrap();
    file = again(file);
    assert_eq!(dims(&file, "on_a"), ["a"]);
    assert_eq!(dims(&file, "on_b"), ["b"]);
    assert_eq!(dims(&file, "on_both"), ["a", "b"]);
    assert_eq!(dims(&file, "on_all"), ["c", "b", "a"]);
}

#[test]
fn a_dimension_without_an_id_gets_one_with_the_first_new_variable_on_it() {
    let mut file = FileMut::append_bytes(std::fs::read(UNTOLD).unwrap()).unwrap();
    file.add_variable::<i32>("new_y", &["y"]).unwrap();
    file = again(file);
    // Its scale comes first; it is as long as the other.
    file.add_dimension("aa", 7u64).unwrap();
    file.add_variable::<i32>("new_a", &["aa", "y"]).unwrap();
    file = again(file);
    assert_eq!(dims(&file, "new_y"), ["y"]);
    assert_eq!(dims(&file, "new_a"), ["aa", "y"]);
}
