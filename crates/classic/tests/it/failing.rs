//! A store that fails at the n-th write: each failure is an error, and what it leaves is never taken for good data.

use std::sync::Arc;

use ferrocdf_array::{In, Out, RangeCheck, Selection, ShortRun};
use ferrocdf_bytes::{Code, Error, Result, errno};
use ferrocdf_classic::{Alignment, ClassicFile, Version};
use ferrocdf_model::{Atomic, DimId, GroupId, Model, Owner, Values, VarId};
use ferrocdf_store::testing::{Counting, Failing, Faults};
use ferrocdf_store::{Blob, BlobMut, Cost, MemoryBlob};

use crate::sample::{VERSIONS, bytes, model, write};

const ROOT: Owner = Owner::Group(GroupId::ROOT);

/// `ENOSPC`, which the failing store answers.
const FULL: Code = errno::NOSPC;

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
            let memory = Arc::new(MemoryBlob::default());
            match write(Arc::new(Failing::once_after(memory.clone(), nth)), version) {
                // No room for a copy: the change was made in place.
                Ok(()) => assert!(memory.to_bytes() == bytes(version), "write {nth}"),
                Err(error) => assert_eq!(error.code, FULL, "write {nth}: {error}"),
            }
        }
    }
}

#[test]
fn after_a_failed_write_the_file_can_still_be_flushed() {
    for version in VERSIONS {
        let memory = Arc::new(MemoryBlob::new(bytes(version)));
        let (mut file, mut now) = ClassicFile::open_mut(Box::new(Failing::after(memory.clone(), 0))).unwrap();
        let input = [1.0f64, 2.0, 3.0];
        let put = crate::sample::put(&mut file, &mut now, 1, &[3, 0], &[1, 3], In::new(&input));
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
        let (mut file, mut now) = ClassicFile::open_mut(Box::new(blob.clone())).unwrap();
        let input = [1.0f64, 2.0, 3.0];
        crate::sample::put(&mut file, &mut now, 1, &[3, 0], &[1, 3], In::new(&input)).unwrap();
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
            let (mut file, now) = ClassicFile::open_mut(Box::new(memory.clone())).unwrap();
            let now = grown(&mut file, now);
            file.flush(&now).unwrap();
            memory.to_bytes()
        };
        for nth in 0..3 {
            let memory = Arc::new(MemoryBlob::new(bytes(version)));
            let (mut file, now) =
                ClassicFile::open_mut(Box::new(Failing::once_after(memory.clone(), nth))).unwrap();
            let now = grown(&mut file, now);
            assert_eq!(file.flush(&now).unwrap_err().code, FULL);
            file.flush(&now).unwrap();
            assert_eq!(memory.to_bytes(), whole, "write {nth} failed");
        }
    }
}

#[test]
fn records_of_a_failed_put_are_filled_again_after_the_data_moved() {
    let root = GroupId::ROOT;
    for version in VERSIONS {
        let mut now = Model::new(version.format());
        let t = now.def_dim(root, "t", None).unwrap();
        let x = now.def_dim(root, "x", Some(9)).unwrap();
        // 9 bytes a record, padded to 12, and 36.
        let a = now.def_var(root, "a", Atomic::Byte.into(), &[t, x]).unwrap();
        let b = now.def_var(root, "b", Atomic::Float.into(), &[t, x]).unwrap();
        let memory = Arc::new(MemoryBlob::default());
        let blob = Arc::new(Failing::never(memory.clone()));
        let mut file = ClassicFile::create(Box::new(blob.clone()), version);
        file.commit(&now).unwrap();
        file.grow(3).unwrap();
        now.set_dim_len(t, 3);
        file.flush(&now).unwrap();

        // A put to record 4 of `a`: record 3 is filled, then the write fails.
        file.grow(5).unwrap();
        now.set_dim_len(t, 5);
        file.before_write(&now, a, 4 * 9, 5 * 9, true).unwrap();
        file.finish(&now, a).unwrap();
        file.ungrow(3);
        now.set_dim_len(t, 3);

        now.put_attr(Owner::Group(root), "long", Values::Char(vec![b'x'; 700])).unwrap();
        file.commit(&now).unwrap();
        file.grow(4).unwrap();
        now.set_dim_len(t, 4);
        file.before_write(&now, b, 3 * 9, 4 * 9, true).unwrap();
        let (array, slab) = (file.array(&now, b).unwrap(), Selection::slab(&[3, 0], &[1, 9]));
        let input = [1f32; 9];
        let done = ferrocdf_array::write(file.blob_mut().unwrap(), &array, &slab, In::new(&input));
        assert_eq!(done.unwrap(), RangeCheck::InRange);
        file.wrote(b, 4 * 9);
        file.flush(&now).unwrap();

        let place = file.layout().unwrap().places[a.index()];
        let record = place.begin + 3 * file.layout().unwrap().record_size;
        let mut found = [0; 12];
        memory.read_exact_at(record, &mut found).unwrap();
        // The fill value of bytes is -127, in the padding too.
        assert_eq!(found, [0x81; 12], "{version:?}");
    }
}

/// Makes the file ten records longer, none of them written.
fn grown(file: &mut ClassicFile, mut model: Model) -> Model {
    let records = file.records() + 10;
    file.grow(records).unwrap();
    let dim = model.record_dim().unwrap();
    model.set_dim_len(dim, records);
    model
}

#[test]
fn a_move_that_fails_leaves_the_file_as_it_was_and_can_be_tried_again() {
    for version in VERSIONS {
        let commit = |fault: Faults| {
            let memory = Arc::new(MemoryBlob::new(bytes(version)));
            let blob = Arc::new(Failing::never(memory.clone()));
            let (mut file, mut now) = ClassicFile::open_mut(Box::new(blob.clone())).unwrap();
            lengthen_header(&mut now);
            blob.arm(fault);
            let done = file.commit(&now);
            if done.is_err() {
                assert!(memory.to_bytes() == bytes(version), "{fault:?}");
                blob.arm(Faults::default());
                file.commit(&now).unwrap();
            }
            (done, memory.to_bytes())
        };
        let (_, whole) = commit(Faults::default());
        let mut failed = 0;
        for times in [1, 2, u64::MAX] {
            for after in 0..30 {
                let (done, found) = commit(Faults { after, times, torn: after % 2 == 0 });
                assert!(found == whole, "{after} {times}");
                failed += u64::from(done.is_err());
            }
        }
        assert!(failed > 0, "nothing failed");
    }
}

#[test]
fn a_file_whose_data_was_half_moved_in_place_refuses_every_request() {
    for version in VERSIONS {
        let half_moved = (0..40).filter(|&after| fails_half_moved(version, after)).count();
        assert!(half_moved > 2, "{half_moved} failures while data was moved");
    }
}

/// Lets a write fail while data is moved in place. If some of the data was moved, checks that all requests are refused.
fn fails_half_moved(version: Version, after: u64) -> bool {
    let inner = Arc::new(InPlace(MemoryBlob::new(bytes(version))));
    let blob = Arc::new(Failing::never(inner.clone()));
    let (mut file, now) = ClassicFile::open_mut(Box::new(blob.clone())).unwrap();
    // Records that wait for their fill values.
    let mut now = grown(&mut file, now);
    let (var, array) = (VarId(1), file.array(&now, VarId(1)).unwrap());
    lengthen_header(&mut now);
    blob.arm(Faults { after, times: 1, torn: false });
    if file.commit(&now).is_ok() {
        return false;
    }
    let left = inner.0.to_bytes();
    if file.commit(&now).is_ok() {
        return false;
    }
    let refused = |error: Error| assert!(error.what.contains("failed half-way"), "{error}");
    refused(file.commit(&now).unwrap_err());
    refused(file.flush(&now).unwrap_err());
    refused(file.finish(&now, var).unwrap_err());
    let run = ShortRun::find(&array, |dim| ([9, 0][dim], 1, 1)).unwrap();
    refused(file.write_short(&now, var, &run, In::new(&[1f64])).unwrap_err());
    // The array says where the data was before.
    let (all, mut values) = (Selection::all(&array.shape), vec![0f64; 3 * array.shape[0] as usize]);
    refused(ferrocdf_array::read(file.blob(), &array, &all, Out::new(&mut values)).unwrap_err());
    refused(file.missing_bytes().unwrap_err());
    assert!(inner.0.to_bytes() == left, "{version:?}: written to after failure {after}");
    true
}

#[test]
fn a_new_variable_where_other_data_was_holds_zeros_until_it_is_filled() {
    for version in VERSIONS {
        let in_copy: Arc<dyn BlobMut> = Arc::new(MemoryBlob::new(bytes(version)));
        let in_place: Arc<dyn BlobMut> = Arc::new(InPlace(MemoryBlob::new(bytes(version))));
        for blob in [in_copy, in_place] {
            let (mut file, mut now) = ClassicFile::open_mut(Box::new(blob.clone())).unwrap();
            let dims = [DimId(0), DimId(2)];
            let root = GroupId::ROOT;
            let fixed = now.def_var(root, "new_fixed", Atomic::Int.into(), &dims[1..]).unwrap();
            let record = now.def_var(root, "new_record", Atomic::Int.into(), &dims).unwrap();
            file.commit(&now).unwrap();
            // The process ends here, before anything is filled.
            let mut left = vec![0; blob.size().unwrap() as usize];
            blob.read_exact_at(0, &mut left).unwrap();
            let (file, now) = ClassicFile::open(Arc::new(MemoryBlob::new(left)), 0).unwrap();
            for var in [fixed, record] {
                let len = now.shape(var).iter().product::<u64>() as usize;
                let mut found = vec![1i32; len];
                let (array, all) = (file.array(&now, var).unwrap(), Selection::all(&now.shape(var)));
                let fit = ferrocdf_array::read(file.blob(), &array, &all, Out::new(&mut found)).unwrap();
                assert_eq!(fit, RangeCheck::InRange);
                assert!(len > 0 && found == vec![0; len], "{version:?}: {found:?}");
            }
        }
    }
}

/// A file whose header spans several blocks of the file system, with room behind it.
fn with_long_header(version: Version) -> Vec<u8> {
    let start = Arc::new(InPlace(MemoryBlob::new(bytes(version))));
    let (mut file, mut now) = ClassicFile::open_mut(Box::new(start.clone())).unwrap();
    now.put_attr(ROOT, "long", Values::Char(vec![b'x'; 20_000])).unwrap();
    file.set_alignment(Alignment { header_free: 1000, ..Alignment::default() });
    file.commit(&now).unwrap();
    start.0.to_bytes()
}

/// The text of its long attribute.
fn long_text(bytes: Vec<u8>) -> Values {
    let (_, model) = ClassicFile::open(Arc::new(MemoryBlob::new(bytes)), 0).unwrap();
    model.attrs(ROOT).find(b"long").unwrap().value.clone()
}

#[test]
fn a_header_that_fails_half_way_is_restored() {
    for version in VERSIONS {
        let before = with_long_header(version);
        let inner = Arc::new(InPlace(MemoryBlob::new(before.clone())));
        let blob = Arc::new(Failing::never(inner.clone()));
        let (mut file, mut now) = ClassicFile::open_mut(Box::new(blob.clone())).unwrap();
        let new = Values::Char(vec![b'y'; 20_000]);
        now.put_attr(ROOT, "long", new.clone()).unwrap();
        blob.arm(Faults { after: 0, times: 1, torn: true });
        assert_eq!(file.commit(&now).unwrap_err().code, FULL);
        assert!(inner.0.to_bytes() == before);
        file.commit(&now).unwrap();
        assert_eq!(long_text(inner.0.to_bytes()), new);
    }
}

#[test]
fn a_header_that_could_not_be_restored_is_restored_by_the_next_flush_or_commit() {
    for version in VERSIONS {
        let before = with_long_header(version);
        for flushes in [true, false] {
            let inner = Arc::new(InPlace(MemoryBlob::new(before.clone())));
            // The write of the header tears it, and the write that restores it fails whole.
            let tearing = Failing::never(inner.clone());
            tearing.arm(Faults { after: 0, times: 1, torn: true });
            let blob = Arc::new(Failing::never(tearing));
            let (mut file, old) = ClassicFile::open_mut(Box::new(blob.clone())).unwrap();
            let mut now = old.clone();
            let new = Values::Char(vec![b'y'; 20_000]);
            now.put_attr(ROOT, "long", new.clone()).unwrap();
            blob.arm(Faults { after: 1, times: 2, torn: false });
            assert_eq!(file.commit(&now).unwrap_err().code, FULL);
            assert!(inner.0.to_bytes() != before, "the header is not torn");
            assert_eq!(file.flush(&old).unwrap_err().code, FULL);
            if flushes {
                file.flush(&old).unwrap();
                assert!(inner.0.to_bytes() == before);
            } else {
                file.commit(&now).unwrap();
                assert_eq!(long_text(inner.0.to_bytes()), new);
            }
        }
    }
}

/// A blob that cannot be replaced.
#[derive(Debug)]
struct InPlace(MemoryBlob);

impl Blob for InPlace {
    fn size(&self) -> Result<u64> {
        self.0.size()
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        self.0.read_at(at, into)
    }

    fn name(&self) -> String {
        self.0.name()
    }

    fn cost(&self) -> Cost {
        self.0.cost()
    }
}

impl BlobMut for InPlace {
    fn write_at(&self, at: u64, from: &[u8]) -> Result<()> {
        self.0.write_at(at, from)
    }

    fn set_size(&self, size: u64) -> Result<()> {
        self.0.set_size(size)
    }

    fn sync(&self) -> Result<()> {
        self.0.sync()
    }
}

/// By so little that data moves over itself, and moving it twice destroys it.
fn lengthen_header(model: &mut Model) {
    model.put_attr(ROOT, "n", "x".into()).unwrap();
}
