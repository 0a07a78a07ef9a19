//! Tests of failing requests while anonymous dimensions get scales.

use ferrocdf_model::{DimId, Model};

use super::*;

/// File with datasets that name none, some, or all of their scales.
const FOREIGN: &[u8] = include_bytes!("../../../../tests/data/unscaled.h5");

/// Returns the anonymous dimension of a variable.
fn made_up(model: &Model, var: &str) -> DimId {
    let dims = &model.var(model.find_var_at(var.as_bytes()).unwrap()).dims;
    *dims.iter().find(|&&dim| model.dim(dim).name.to_string().starts_with("phony_dim_")).unwrap()
}

/// Renames an anonymous dimension, and adds a dimension, a variable, and a string of length `len`.
fn define(file: &FileMut, len: usize) {
    file.define(|model| {
        let dim = made_up(model, "k/line");
        model.rename_dim(dim, Name::new("cells")?)?;
        let rows = model.def_dim(ROOT, "rows", Some(3))?;
        let last = model.def_var(ROOT, "last", Atomic::Short.into(), &[rows])?;
        model.put_attr(Owner::Var(last), "long", strings(len, 70_000))
    })
    .unwrap();
}

/// Returns the texts of the file after the definitions, and after an edit that creates no scales.
fn texts(len: usize) -> [String; 2] {
    let disk = Disk::new(FOREIGN);
    let file = disk.open();
    define(&file, len);
    file.close().unwrap();
    let defined = text_of(&disk);
    assert!(defined.contains("cells 4 false"), "{defined}");
    [text_of(&Disk::new(FOREIGN)), defined]
}

#[test]
fn a_rename_is_made_again_when_its_first_writes_failed() {
    let [start, defined] = texts(MANY);
    for after in [0, 1, 5, 30, 60] {
        let disk = Disk::new(FOREIGN);
        let file = disk.open();
        define(&file, MANY);
        disk.writes.arm(Faults { after, times: u64::MAX, torn: false });
        for _ in 0..2 {
            assert!(file.commit().is_err(), "{after} writes went well");
        }
        assert_eq!(text_of(&disk), start);
        disk.repair();
        file.close().unwrap();
        assert_eq!(text_of(&disk), defined, "{after} writes went well");
    }
}

#[test]
fn a_rename_is_made_again_or_undone_whichever_request_to_read_failed() {
    let [start, defined] = &texts(1);
    define_whichever_read_fails(FOREIGN, 100, |_| (), define, [start, start, defined]);
}

/// Removes a variable while requests fail, then again. True if the first call failed and left the variable.
fn remove_twice(writes: Faults, reads: Faults, removed: &str) -> bool {
    let disk = Disk::new(FOREIGN);
    let mut file = disk.open();
    disk.writes.arm(writes);
    *disk.reads.lock().unwrap() = reads;
    let done = file.remove_variable("g/both");
    disk.repair();
    file.sync().unwrap();
    let is_left = file.variable("g/both").is_ok();
    assert!(is_left || done.is_ok() || file.variable("k/both").is_ok());
    if is_left {
        assert!(done.is_err());
        file.remove_variable("g/both").unwrap();
    }
    file.close().unwrap();
    assert_eq!(text_of(&disk), removed, "{done:?}");
    is_left
}

#[test]
fn a_removal_attaches_variables_once_whichever_request_failed() {
    let disk = Disk::new(FOREIGN);
    let mut file = disk.open();
    file.remove_variable("g/both").unwrap();
    file.close().unwrap();
    let removed = text_of(&disk);
    let mut left = [0, 0];
    for after in 0..40 {
        for times in [1, 3, u64::MAX] {
            let writes = Faults { after, times, torn: false };
            left[0] += usize::from(remove_twice(writes, Faults::default(), &removed));
        }
    }
    for after in 0..200 {
        left[1] += usize::from(remove_twice(Faults::default(), once(after), &removed));
    }
    assert!(left[0] > 10 && left[1] > 30, "{left:?}");
}
