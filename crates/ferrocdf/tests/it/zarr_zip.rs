//! Zarr stores in zip files that are made and edited.

use std::path::Path;

use ferrocdf::store::{ByteRange, Store, ZipDraft};
use ferrocdf::{
    Atomic, Code, Container, CreateOptions, DataModel, File, FileMut, Format, GroupId, Location, Values,
    VarId,
};

fn options(container: Container) -> CreateOptions {
    CreateOptions::format(Format::new(container, DataModel::Netcdf4))
}

/// Makes a store of one record variable with `records` records.
fn make(path: &Path, container: Container, records: u64) {
    let file = FileMut::create(path, &options(container)).unwrap();
    file.define(|model| {
        let time = model.def_dim(GroupId::ROOT, "time", None)?;
        model.def_var(GroupId::ROOT, "v", Atomic::Int.into(), &[time]).map(drop)
    })
    .unwrap();
    (0..records).for_each(|record| write(&file, record));
    assert!(!path.exists(), "it is written when it is complete");
    file.close().unwrap();
}

fn write(file: &FileMut, record: u64) {
    let value = Values::Int(vec![record as i32 + 1]);
    let _exact = file.write_values(VarId(0), &[record], &[1], &value).unwrap();
}

fn values(path: &Path) -> Vec<i32> {
    let file = File::open(path).unwrap();
    let len = file.model().shape(VarId(0))[0];
    match file.read_values(VarId(0), &[0], &[len]).unwrap() {
        Values::Int(values) => values,
        other => panic!("{other:?}"),
    }
}

#[test]
fn records_are_added_to_a_store_in_a_zip_file() {
    let folder = tempfile::tempdir().unwrap();
    for (name, container) in [("2.zip", Container::ZarrV2), ("3.zip", Container::ZarrV3)] {
        let path = folder.path().join(name);
        make(&path, container, 3);
        assert_eq!(values(&path), [1, 2, 3]);
        let file = FileMut::append(&path).unwrap();
        let second = FileMut::append(&path).err().unwrap();
        assert_eq!(second.code, Code(11), "another writer has it: {second}");
        write(&file, 3);
        assert_eq!(values(&path), [1, 2, 3], "the change is not committed");
        file.sync().unwrap();
        assert_eq!(values(&path), [1, 2, 3, 4]);
        write(&file, 4);
        file.close().unwrap();
        assert_eq!(values(&path), [1, 2, 3, 4, 5]);
        let mut new = options(container);
        new.clobber = false;
        let error = FileMut::create(&path, &new).err().unwrap();
        assert_eq!(error.code, Code::EEXIST);
        assert_eq!(values(&path), [1, 2, 3, 4, 5]);
    }
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 2, "nothing but the two files is left");
}

#[test]
fn a_writer_that_goes_leaves_what_was_committed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zarr.zip");
    make(&path, Container::ZarrV3, 2);
    let before = std::fs::read(&path).unwrap();
    let file = FileMut::append(&path).unwrap();
    write(&file, 2);
    file.define(|model| model.def_var(GroupId::ROOT, "w", Atomic::Int.into(), &[]).map(drop)).unwrap();
    // As a program that is killed: nothing is closed.
    std::mem::forget(file);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(values(&path), [1, 2]);
}

#[test]
fn the_folder_around_a_store_of_netcdf_c_stays() {
    let folder = tempfile::tempdir().unwrap();
    let (path, within) = (folder.path().join("a.zip"), folder.path().join("within.zip"));
    make(&path, Container::ZarrV2, 2);
    let (from, to) = (ZipDraft::open(&path).unwrap(), ZipDraft::create(&within).unwrap());
    for key in [".zgroup", ".zattrs", ".zmetadata", "v/.zarray", "v/.zattrs", "v/0"] {
        let found = from.get(key, ByteRange::All).unwrap().unwrap_or_else(|| panic!("{key}"));
        to.put(&format!("top/{key}"), &found.bytes).unwrap();
    }
    to.commit().unwrap();
    let file = FileMut::append(&within).unwrap();
    write(&file, 2);
    file.close().unwrap();
    assert_eq!(values(&within), [1, 2, 3]);
    let listing = ZipDraft::open(&within).unwrap().list("").unwrap();
    assert_eq!((listing.objects, listing.folders), (vec![], vec!["top".to_string()]));
}

#[test]
fn a_url_with_zip_in_its_fragment_makes_a_zip_file_of_any_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.data");
    let url = format!("file://{}#mode=nczarr,zip", path.display());
    let location = Location::parse(url.as_bytes()).unwrap();
    assert!(location.is_zip());
    let file = FileMut::create_at(&location, &CreateOptions::default()).unwrap();
    file.define(|model| model.def_var(GroupId::ROOT, "v", Atomic::Int.into(), &[]).map(drop)).unwrap();
    file.close().unwrap();
    assert!(std::fs::read(&path).unwrap().starts_with(b"PK\x03\x04"));
    assert_eq!(File::open(&path).unwrap().model().vars().len(), 1);
    let error = FileMut::create(folder.path().join("none/a.zip"), &options(Container::ZarrV3)).err().unwrap();
    assert_eq!(error.code, Code(2), "{error}");
}
