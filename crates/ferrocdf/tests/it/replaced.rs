//! Classic files that a writer replaces while other handles have them open.

use std::path::{Path, PathBuf};

use ferrocdf::{CreateOptions, File, FileMut, Format, OpenOptions};

/// A classic file with one record.
fn make(folder: &Path) -> PathBuf {
    let path = folder.join("records.nc");
    let file = FileMut::create(&path, &CreateOptions::format(Format::DATA64)).unwrap();
    file.add_unlimited_dimension("t").unwrap();
    file.add_variable::<f64>("v", &["t"]).unwrap();
    append(&file, 0);
    file.close().unwrap();
    path
}

fn append(file: &FileMut, record: u64) {
    file.variable_mut("v").unwrap().put_values(&[record as f64], (record,)).unwrap();
    file.sync().unwrap();
}

/// Makes the header outgrow its place, so that a copy replaces the file.
fn replace(file: &mut FileMut) {
    file.put_attribute("history", "x".repeat(1000)).unwrap();
    file.commit().unwrap();
}

#[test]
fn a_reader_sees_records_behind_a_replacement_when_it_refreshes() {
    for shared in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let path = make(folder.path());
        let reader = File::open_with(&path, &OpenOptions::default().shared(shared)).unwrap();
        let mut writer = FileMut::append(&path).unwrap();
        for record in 1..6 {
            replace(&mut writer);
            append(&writer, record);
            reader.refresh().unwrap();
            let expected: Vec<f64> = (0..=record).map(|record| record as f64).collect();
            assert_eq!(reader.variable("v").unwrap().get_values::<f64, _>(..).unwrap(), expected);
            assert!(reader.attribute::<String>("history").is_ok());
        }
        drop(writer);
        std::fs::remove_file(&path).unwrap();
        reader.refresh().unwrap();
        assert_eq!(reader.variable("v").unwrap().shape(), [6]);
    }
}

#[test]
fn a_reader_keeps_what_it_has_if_its_file_is_replaced_by_one_of_another_kind() {
    let folder = tempfile::tempdir().unwrap();
    let path = make(folder.path());
    let reader = ferrocdf::open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    FileMut::create(&path, &CreateOptions::format(Format::NETCDF4)).unwrap().close().unwrap();
    let error = reader.refresh().unwrap_err();
    assert!(error.to_string().contains("another format has taken its place"), "{error}");
    assert_eq!(reader.variable("v").unwrap().get_values::<f64, _>(..).unwrap(), [0.0]);
}

#[test]
fn a_writer_whose_file_another_one_replaced_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = make(folder.path());
    let (first, mut second) = (FileMut::append(&path).unwrap(), FileMut::append(&path).unwrap());
    replace(&mut second);
    append(&second, 1);
    first.variable_mut("v").unwrap().put_values(&[9.0], (1,)).unwrap();
    for told in [first.sync(), first.sync_to_disk(), first.close()] {
        let error = told.unwrap_err().to_string();
        assert!(error.contains("another writer replaced the file"), "{error}");
    }
    second.close().unwrap();
    assert_eq!(
        ferrocdf::open(&path).unwrap().variable("v").unwrap().get_values::<f64, _>(..).unwrap(),
        [0.0, 1.0]
    );
}
