//! References in parquet: what is written is read back, tables are read when they are needed, and what is damaged does not spread.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use ferrocdf::references::{Reference, ReferenceOptions, References};
use ferrocdf::store::{MemoryStore, Store};
use ferrocdf::{Code, File, FileMut, Location, OpenOptions, Values};

use super::references::{FORMATS, content, dataset, made, url};

#[test]
fn references_of_each_format_have_the_values_of_the_dataset() {
    for (format, name) in FORMATS {
        let folder = tempfile::tempdir().unwrap();
        let location = dataset(folder.path(), name, format);
        let wanted = content(&File::open_location(&location, &OpenOptions::default()).unwrap());
        for (inline, record_size) in [(0, 2), (0, References::RECORD_SIZE), (500, 3), (u64::MAX, 1)] {
            let references = made(&location, &ReferenceOptions { inline, ..url(name) });
            let path = folder.path().join("refs.parq");
            references.write_parquet(&Location::Path(path.clone()), record_size).unwrap();
            let found = content(&File::open(&path).unwrap());
            assert_eq!(found, wanted, "{format:?} {inline} {record_size}");
            // Its name is not needed, and relative paths begin beside the folder.
            let other = folder.path().join("other");
            fs::rename(&path, &other).unwrap();
            assert_eq!(content(&File::open(other.join(".").join("")).unwrap()), wanted);
            fs::remove_dir_all(&other).unwrap();
        }
    }
}

/// References to an array `v` of bytes with these chunks of 4, of which only the first may be inline or in another file.
fn chunks_of_4(count: usize, chunks: &[(usize, Reference)]) -> References {
    let len = 4 * count;
    let array = format!(
        r#"{{"zarr_format":2,"shape":[{len}],"chunks":[4],"dtype":"|u1","fill_value":9,"order":"C","filters":null,"compressor":null}}"#
    );
    let mut references = References::default();
    let inline = |text: &str| Reference::Inline(text.as_bytes().into());
    references.insert(".zgroup".to_string(), inline(r#"{"zarr_format":2}"#)).unwrap();
    references.insert("g/.zgroup".to_string(), inline(r#"{"zarr_format":2}"#)).unwrap();
    references.insert("g/v/.zarray".to_string(), inline(&array)).unwrap();
    for (number, reference) in chunks {
        references.insert(format!("g/v/{number}"), reference.clone()).unwrap();
    }
    references
}

fn range(url: &str, start: u64, len: u64) -> Reference {
    Reference::Range { url: url.into(), start, len }
}

fn read(file: &File, from: usize, to: usize) -> Result<Vec<u8>, Code> {
    match file.variable("g/v").and_then(|variable| variable.get_all(from..to)) {
        Ok(Values::Ubyte(bytes)) => Ok(bytes),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.code),
    }
}

/// Writes references to four chunks, two in a table; the third one is missing.
fn four_chunks(folder: &Path) -> File {
    fs::write(folder.join("data"), b"01234567").unwrap();
    let references = chunks_of_4(
        6,
        &[
            (0, range("data", 2, 4)),
            (1, Reference::Inline(b"abcd".as_slice().into())),
            (3, Reference::Inline(b"efgh".as_slice().into())),
        ],
    );
    let path = folder.join("refs.parq");
    references.write_parquet(&Location::Path(path.clone()), 2).unwrap();
    assert!(!path.join("g/v/refs.2.parq").exists(), "no table without chunks");
    File::open(&path).unwrap()
}

#[test]
fn missing_chunks_and_missing_tables_are_fill_values() {
    let folder = tempfile::tempdir().unwrap();
    let file = four_chunks(folder.path());
    let wanted = [b"2345".as_slice(), b"abcd", &[9; 4], b"efgh", &[9; 8]].concat();
    assert_eq!(read(&file, 0, 24), Ok(wanted));
}

#[test]
fn damaged_table_is_an_error_of_its_own_chunks_and_of_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let file = four_chunks(folder.path());
    let table = folder.path().join("refs.parq/g/v/refs.1.parq");
    let mut bytes = fs::read(&table).unwrap();
    bytes.truncate(bytes.len() / 2);
    fs::write(&table, &bytes).unwrap();
    assert_eq!(read(&file, 0, 8), Ok(b"2345abcd".to_vec()));
    assert_eq!(read(&file, 12, 16), Err(Code::EZARRMETA));
    let error = file.variable("g/v").unwrap().get_all(12..16).unwrap_err().to_string();
    assert!(error.contains("g/v/refs.1.parq: parquet: "), "{error}");
    // The first table was read when the first chunk was, and is not read again.
    fs::remove_file(folder.path().join("refs.parq/g/v/refs.0.parq")).unwrap();
    assert_eq!(read(&file, 0, 4), Ok(b"2345".to_vec()));
}

#[test]
fn tables_in_a_store_lead_to_objects_of_it_and_never_to_files() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    fs::write(&secret, b"secret data").unwrap();
    let secret = secret.to_str().unwrap();
    let store = Arc::new(MemoryStore::default());
    store.put("d/data", b"01234567").unwrap();
    let place = Location::Object { store: store.clone(), key: "d/refs.parq".to_string() };
    let read = |target: &str| {
        chunks_of_4(1, &[(0, range(target, 2, 4))]).write_parquet(&place, 10).unwrap();
        read(&File::open_location(&place, &OpenOptions::default()).unwrap(), 0, 4)
    };
    assert_eq!(read("data"), Ok(b"2345".to_vec()));
    assert_eq!(read(secret), Err(Code::EPERM));
    assert_eq!(read(&format!("file://{secret}")), Err(Code::EPERM));
    assert_eq!(read("missing"), Err(Code::ENOOBJECT));
}

#[test]
fn references_that_no_table_can_hold_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let place = Location::Path(folder.path().join("refs.parq"));
    let refused = |references: &References, record_size| {
        references.write_parquet(&place, record_size).unwrap_err().to_string()
    };
    let one = |number, reference| chunks_of_4(2, &[(number, reference)]);
    assert!(refused(&one(0, range("a", 0, 4)), 0).contains("a record size of 0"));
    assert!(refused(&one(2, range("a", 0, 4)), 5).contains("g/v/2: it is no chunk of an array"));
    assert!(refused(&one(0, range("a", 1 << 63, 4)), 5).contains("beyond 2^63"));
    let mut other = one(0, range("a", 0, 4));
    other.insert("text.txt".to_string(), range("a", 0, 4)).unwrap();
    assert!(refused(&other, 5).contains("text.txt: it is no chunk"));
    // A folder of other files stays.
    fs::write(folder.path().join("kept"), b"").unwrap();
    let there = Location::Path(folder.path().to_path_buf());
    assert!(one(0, range("a", 0, 4)).write_parquet(&there, 5).is_err());
    assert!(folder.path().join("kept").exists());
}

#[test]
fn metadata_of_tables_that_make_no_sense_is_an_error_and_chunks_are_not_written() {
    let folder = tempfile::tempdir().unwrap();
    drop(four_chunks(folder.path()));
    let path = folder.path().join("refs.parq");
    let error = FileMut::append(&path).map(drop).unwrap_err();
    assert!(error.to_string().contains("only read"), "{error}");
    let metadata = path.join(".zmetadata");
    let text = fs::read_to_string(&metadata).unwrap();
    assert!(text.contains("\"record_size\""), "{text}");
    for wrong in ["0", "-1", "\"many\"", "1.5", "null"] {
        let (before, _) = text.split_once("\"record_size\"").unwrap();
        fs::write(&metadata, format!("{before}\"record_size\":{wrong}}}")).unwrap();
        assert_eq!(File::open(&path).map(drop).unwrap_err().code, Code::EZARRMETA, "{wrong}");
    }
}

/// Changes the metadata of references.
fn change(folder: &Path, from: &str, to: &str) {
    let metadata = folder.join("refs.parq/.zmetadata");
    let text = fs::read_to_string(&metadata).unwrap();
    let changed = text.replace(from, to);
    assert_ne!(text, changed);
    fs::write(&metadata, changed).unwrap();
}

#[test]
fn table_of_other_references_is_an_error_and_not_missing_chunks() {
    let folder = tempfile::tempdir().unwrap();
    drop(four_chunks(folder.path()));
    change(folder.path(), "\"record_size\": 2", "\"record_size\": 6");
    let path = folder.path().join("refs.parq");
    let error = File::open(&path).unwrap().variable("g/v").unwrap().get_all(..).unwrap_err();
    assert!(error.to_string().contains("2 rows of the 6"), "{error}");
}

#[test]
fn arrays_with_chunks_that_no_table_has_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    drop(four_chunks(folder.path()));
    change(folder.path(), "\"order\": \"C\"", "\"order\": \"C\", \"dimension_separator\": \"/\"");
    let error = File::open(folder.path().join("refs.parq")).map(drop).unwrap_err();
    assert!(error.code == Code::EZARRMETA && error.to_string().contains("/g/v: "), "{error}");
}

#[test]
fn references_that_cannot_be_written_leave_those_that_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let file = four_chunks(folder.path());
    let place = Location::Path(folder.path().join("refs.parq"));
    for wrong in [(6, range("data", 0, 4)), (0, range("data", u64::MAX - 9, 4))] {
        assert!(chunks_of_4(6, &[wrong]).write_parquet(&place, 2).is_err());
        assert_eq!(read(&file, 12, 16), Ok(b"efgh".to_vec()));
        assert!(File::open_location(&place, &OpenOptions::default()).is_ok());
    }
}
