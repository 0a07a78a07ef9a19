//! A store that fails at the n-th write: each failure is an error, and what it leaves is never taken for good data.

use std::sync::Arc;

use ferrocdf_bytes::Code;
use ferrocdf_classic::{Alignment, ClassicFile};
use ferrocdf_store::testing::{Counting, Failing};
use ferrocdf_store::{Blob, MemoryBlob};

use crate::sample::{VERSIONS, bytes, model, write};

/// `ENOSPC`, which the failing store answers.
const FULL: Code = Code(28);

#[test]
fn every_write_that_fails_is_reported() {
    for version in VERSIONS {
        let whole = bytes(version);
        let mut writes = 0;
        loop {
            let memory = Arc::new(MemoryBlob::default());
            let blob = Arc::new(Failing::after(memory.clone(), writes));
            match write(blob, version) {
                Ok(()) => {
                    assert_eq!(memory.to_bytes(), whole);
                    break;
                }
                Err(error) => assert_eq!(error.code, FULL, "after {writes} writes: {error}"),
            }
            // What is left either does not open or is a file with the variables of one of the two definitions.
            if let Ok((file, left)) = ClassicFile::open(memory.clone(), 0) {
                assert!([5, 6].contains(&left.vars().len()), "after {writes} writes");
                assert!(file.records() <= 3);
                assert_eq!(left.vars()[..5], model(version).unwrap().vars()[..5]);
            }
            writes += 1;
        }
        assert!(writes > 10, "only {writes} writes");
    }
}

#[test]
fn no_single_failure_is_overlooked() {
    for version in VERSIONS {
        let counting = Arc::new(Counting::new(MemoryBlob::default()));
        write(counting.clone(), version).unwrap();
        for nth in 0..counting.writes().0 {
            let blob = Arc::new(Failing::once_after(MemoryBlob::default(), nth));
            let error = write(blob, version).expect_err("the failure is told");
            assert_eq!(error.code, FULL, "write {nth}: {error}");
        }
    }
}

#[test]
fn after_a_failed_write_the_file_can_still_be_flushed() {
    for version in VERSIONS {
        let memory = Arc::new(MemoryBlob::new(bytes(version)));
        let (mut file, mut now) = ClassicFile::open_mut(Arc::new(Failing::after(memory.clone(), 0))).unwrap();
        let input = [1.0f64, 2.0, 3.0];
        let put =
            crate::sample::put(&mut file, &mut now, 1, &[3, 0], &[1, 3], ferrocdf_array::In::new(&input));
        assert_eq!(put.unwrap_err().code, FULL);
        assert_eq!(file.flush(&now).unwrap_err().code, FULL);
        drop(file);
        assert_eq!(memory.to_bytes(), bytes(version), "nothing was written");
    }
}

#[test]
fn appending_a_record_does_not_rewrite_what_is_there() {
    for version in VERSIONS {
        let blob = Arc::new(Counting::new(MemoryBlob::new(bytes(version))));
        let size = blob.size().unwrap();
        let (mut file, mut now) = ClassicFile::open_mut(blob.clone()).unwrap();
        let input = [1.0f64, 2.0, 3.0];
        crate::sample::put(&mut file, &mut now, 1, &[3, 0], &[1, 3], ferrocdf_array::In::new(&input))
            .unwrap();
        file.flush(&now).unwrap();
        let record = blob.size().unwrap() - size;
        let (_, written) = blob.writes();
        // The record with its fill values, and its number in the header. The double is filled before it is written.
        assert!(
            written <= record + 24 + version.count_width() as u64,
            "{written} bytes for a record of {record}"
        );
    }
}

#[test]
fn a_fill_that_failed_once_is_done_at_the_next_flush() {
    for version in VERSIONS {
        let whole = {
            let memory = Arc::new(MemoryBlob::new(bytes(version)));
            let (mut file, now) = ClassicFile::open_mut(memory.clone()).unwrap();
            let now = grown(&mut file, now);
            file.flush(&now).unwrap();
            memory.to_bytes()
        };
        for nth in 0..3 {
            let memory = Arc::new(MemoryBlob::new(bytes(version)));
            let (mut file, now) =
                ClassicFile::open_mut(Arc::new(Failing::once_after(memory.clone(), nth))).unwrap();
            let now = grown(&mut file, now);
            assert_eq!(file.flush(&now).unwrap_err().code, FULL);
            file.flush(&now).unwrap();
            assert_eq!(memory.to_bytes(), whole, "write {nth} failed");
        }
    }
}

/// Makes the file ten records longer, none of them written.
fn grown(file: &mut ClassicFile, mut model: ferrocdf_model::Model) -> ferrocdf_model::Model {
    let records = file.records() + 10;
    file.grow(records).unwrap();
    let dim = model.record_dim().unwrap();
    model.set_dim_len(dim, records);
    model
}

#[test]
fn a_move_that_fails_leaves_the_data_or_a_file_that_says_so() {
    for version in VERSIONS {
        let memory = Arc::new(MemoryBlob::new(bytes(version)));
        let blob = Arc::new(Counting::new(memory.clone()));
        let (mut file, mut now) = ClassicFile::open_mut(blob.clone()).unwrap();
        lengthen_header(&mut now);
        file.commit(&now, &Alignment::default()).unwrap();
        let (whole, counted) = (memory.to_bytes(), blob.writes().0);
        assert!(counted > 2, "{counted} writes");
        for nth in 0..counted {
            let memory = Arc::new(MemoryBlob::new(bytes(version)));
            let (mut file, mut now) =
                ClassicFile::open_mut(Arc::new(Failing::once_after(memory.clone(), nth))).unwrap();
            lengthen_header(&mut now);
            assert_eq!(file.commit(&now, &Alignment::default()).unwrap_err().code, FULL);
            match file.commit(&now, &Alignment::default()) {
                // Nothing had been moved: the second try gives the file that the first would have given.
                Ok(()) => assert_eq!(memory.to_bytes(), whole, "write {nth} failed"),
                Err(error) => assert!(error.what.contains("failed half-way"), "{error}"),
            }
            if nth == 0 {
                assert_eq!(memory.to_bytes()[..4], bytes(version)[..4]);
                assert!(ClassicFile::open(memory, 0).is_ok(), "making room failed, and all is as it was");
            }
        }
    }
}

/// By so little that data moves over itself, and moving it twice destroys it.
fn lengthen_header(model: &mut ferrocdf_model::Model) {
    let root = ferrocdf_model::Owner::Group(ferrocdf_model::GroupId::ROOT);
    model.put_attr(root, "n", "x".into()).unwrap();
}
