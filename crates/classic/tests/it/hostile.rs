//! Files that are cut short, damaged, or lie: an error that says where, or data, and never harm.

use std::sync::Arc;

use ferrocdf_array::{Out, Selection};
use ferrocdf_bytes::{Code, Result};
use ferrocdf_classic::{ClassicFile, Header, RawDim, Version};
use ferrocdf_model::{Atomic, Model, Name};
use ferrocdf_store::MemoryBlob;
use ferrocdf_store::testing::Counting;

use crate::sample::{VERSIONS, bytes};

/// Reads every variable that a file of this size can hold.
fn read_all(bytes: Vec<u8>) -> Result<Model> {
    let most = 16 * bytes.len() as u64;
    let (file, model) = ClassicFile::open(Arc::new(MemoryBlob::new(bytes)), 0)?;
    for var in model.var_ids() {
        let array = file.array(&model, var)?;
        let elements = array.shape.iter().try_fold(1u64, |all, &len| all.checked_mul(len));
        let Some(elements) = elements.filter(|&elements| elements <= most) else { continue };
        let mut memory = vec![0; elements as usize * array.stored.kind.size()];
        let out = Out::raw(array.stored.kind, &mut memory);
        let _fit = ferrocdf_array::read(file.blob(), &array, &Selection::all(&array.shape), out)?;
    }
    Ok(model)
}

#[test]
fn cut_anywhere_it_is_an_error_that_says_where() {
    for version in VERSIONS {
        let whole = bytes(version);
        read_all(whole.clone()).unwrap();
        for end in 0..whole.len() {
            let error = read_all(whole[..end].to_vec()).unwrap_err();
            assert!(matches!(error.code, Code::ETRUNC | Code::ENOTNC), "{end}: {error}");
            assert!(error.what.contains("byte"), "{end}: {error}");
        }
    }
}

#[test]
fn damaged_bytes_do_no_harm() {
    for version in VERSIONS {
        let whole = bytes(version);
        let header = Header::read(&MemoryBlob::new(whole.clone())).unwrap().1 as usize;
        for at in 0..header {
            for value in [0, 1, 0x7f, 0x80, 0xff, whole[at] ^ 1, whole[at].wrapping_add(4)] {
                let mut bytes = whole.clone();
                bytes[at] = value;
                // Data or an error, but back.
                if let Err(error) = read_all(bytes) {
                    assert!(!error.what.is_empty(), "byte {at} is {value}");
                }
            }
        }
    }
}

/// Reads a header with something changed.
fn with(version: Version, change: impl FnOnce(&mut Header)) -> Result<Model> {
    let whole = bytes(version);
    let (mut header, size) = Header::read(&MemoryBlob::new(whole.clone())).unwrap();
    change(&mut header);
    let mut bytes = header.encode().unwrap();
    bytes.extend_from_slice(&whole[size as usize..]);
    read_all(bytes)
}

#[test]
fn positions_that_lie_are_refused() {
    for version in VERSIONS {
        // Inside the header, over the variable before, and records over fixed-size variables.
        for (var, begin) in [(0, 8), (2, 1), (3, 200), (1, 100)] {
            let error = with(version, |header| header.vars[var].begin = begin).unwrap_err();
            assert_eq!(error.code, Code::ENOTNC, "{var} {begin}: {error}");
            assert!(error.what.contains("byte"), "{error}");
        }
        let error = with(version, |header| header.vars[0].begin = header.vars[2].begin - 4).unwrap_err();
        assert_eq!(error.code, Code::ENOTNC, "overlapping variables: {error}");
    }
    let error = with(Version::Data64, |header| header.vars[5].begin = u64::MAX - 3).unwrap_err();
    assert_eq!(error.code, Code::ENOTNC, "{error}");
}

#[test]
fn counts_that_lie_are_refused() {
    for version in VERSIONS {
        // More records than any file holds, or than this one does.
        let records = if version == Version::Data64 { 1 << 62 } else { 1 << 31 };
        let result = with(version, |header| header.numrecs = records);
        match version {
            Version::Data64 => assert_eq!(result.unwrap_err().code, Code::ENOTNC),
            _ => drop(result.unwrap()),
        }
        let error = with(version, |header| header.numrecs += 1).unwrap_err();
        assert_eq!(error.code, Code::ETRUNC, "{error}");
        // Dimension ids that do not exist, and the record dimension in the wrong place.
        let error = with(version, |header| header.vars[0].dims[1] = 99).unwrap_err();
        assert_eq!(error.code, Code::EBADDIM, "{error}");
        assert!(error.what.contains("fixed") && error.what.contains("99"), "{error}");
        let error = with(version, |header| header.vars[0].dims[1] = 0).unwrap_err();
        assert_eq!(error.code, Code::EUNLIMPOS, "{error}");
        // Lengths whose product is beyond 64 bits.
        let error = with(version, |header| {
            let len = version.streaming() / 2;
            for _ in 0..4 {
                header.dims.push(RawDim { name: Name::stored(b"long"), len });
            }
            let id = header.dims.len() as u64 - 1;
            header.vars[0].dims = (0..4).map(|at| id - at).collect();
        });
        assert_eq!(error.unwrap_err().code, Code::EVARSIZE);
    }
}

#[test]
fn a_count_costs_no_more_than_the_file() {
    for version in VERSIONS {
        let whole = bytes(version);
        for at in (4..whole.len().min(400)).step_by(4) {
            let mut bytes = whole.clone();
            bytes[at..at + 4].fill(0x7f);
            let blob = Arc::new(Counting::new(MemoryBlob::new(bytes)));
            let _ = ClassicFile::open(blob.clone(), 0);
            let (reads, read) = blob.reads();
            assert!(reads <= 4 && read <= 4 * whole.len() as u64 + 64, "{reads} reads of {read} bytes");
        }
    }
}

#[test]
fn types_are_those_of_the_version() {
    for version in [Version::Classic, Version::Offset64] {
        for ty in [0, 7, 11, 12, 99] {
            let whole = bytes(version);
            let (mut header, _) = Header::read(&MemoryBlob::new(whole)).unwrap();
            header.vars[4].nc_type = ty;
            let error = header.encode().unwrap_err();
            assert_eq!(error.code, Code::EBADTYPE);
            assert!(error.what.contains("at byte"), "{error}");
        }
    }
    with(Version::Data64, |header| header.vars[4].nc_type = u64::from(Atomic::Uint.nc_type())).unwrap();
}
