//! Zarr stores in zip files that are made and edited.

use std::path::Path;

use ferrocdf::store::{ByteRange, Store, ZipDraft};
use ferrocdf::{
    AppendOptions, Atomic, Code, Container, CreateOptions, DataModel, File, FileMut, Format, GroupId,
    Location, Values, VarId, errno,
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
        assert_eq!(second.code, errno::AGAIN, "another writer has it: {second}");
        write(&file, 3);
        assert_eq!(values(&path), [1, 2, 3], "the change is not committed");
        file.sync().unwrap();
        assert_eq!(values(&path), [1, 2, 3, 4]);
        let second = FileMut::append(&path).err().unwrap();
        assert_eq!(second.code, errno::AGAIN, "the file that took its place is locked: {second}");
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
    drop((from, to));
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
    assert_eq!(error.code, errno::NOENT, "{error}");
}

#[test]
fn a_file_that_another_program_made_meanwhile_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zip");
    for (clobber, code) in [(false, Code::EEXIST), (true, errno::STALE)] {
        let _ = std::fs::remove_file(&path);
        let mut new = options(Container::ZarrV3);
        new.clobber = clobber;
        let file = FileMut::create(&path, &new).unwrap();
        std::fs::write(&path, "of another program").unwrap();
        let error = file.close().err().unwrap();
        assert_eq!(error.code, code, "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"of another program");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn an_edit_through_a_link_changes_the_file_that_it_leads_to() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (path, link) = (folder.path().join("a.zip"), other.path().join("link.zip"));
    make(&path, Container::ZarrV3, 1);
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let file = FileMut::append_with(&link, &AppendOptions::default()).unwrap();
    write(&file, 1);
    file.sync_to_disk().unwrap();
    assert_eq!(values(&path), [1, 2]);
    file.close().unwrap();
    assert!(link.symlink_metadata().unwrap().is_symlink());
}

#[test]
fn a_member_of_an_unknown_method_concerns_its_object_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zip");
    let file = FileMut::create(&path, &options(Container::ZarrV3)).unwrap();
    file.define(|model| {
        let x = model.def_dim(GroupId::ROOT, "x", Some(2))?;
        model.def_var(GroupId::ROOT, "v", Atomic::Int.into(), &[x])?;
        model.def_var(GroupId::ROOT, "w", Atomic::Int.into(), &[x]).map(drop)
    })
    .unwrap();
    for var in [VarId(0), VarId(1)] {
        let _exact = file.write_values(var, &[0], &[2], &Values::Int(vec![1, 2])).unwrap();
    }
    file.close().unwrap();
    // The method is in the header of the member and in its entry in the directory, before the checksum.
    let mut bytes = std::fs::read(&path).unwrap();
    let name = b"w/c/0";
    let found: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(name)).collect();
    let [member, entry] = found[..] else { panic!("{found:?}") };
    bytes[member - 30 + 8] = 12;
    bytes[entry - 46 + 10] = 12;
    std::fs::write(&path, bytes).unwrap();
    let check = |file: &File| {
        let read = |var| file.read_values(var, &[0], &[2]);
        assert_eq!(read(VarId(0)).unwrap(), Values::Int(vec![1, 2]));
        let error = read(VarId(1)).unwrap_err();
        assert!(
            error.what.contains("w/c/0: the member of the zip file is compressed by method 12"),
            "{error}"
        );
    };
    check(&File::open(&path).unwrap());
    let file = FileMut::append(&path).unwrap();
    let _exact = file.write_values(VarId(0), &[0], &[1], &Values::Int(vec![1])).unwrap();
    file.close().unwrap();
    check(&File::open(&path).unwrap());
}
