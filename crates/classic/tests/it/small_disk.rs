//! Sparse files on a disk with little room, while a header that outgrows its place moves their data.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use ferrocdf_array::{In, Out, RangeCheck, Selection};
use ferrocdf_bytes::{Error, Result, errno};
use ferrocdf_classic::{ClassicFile, Version};
use ferrocdf_model::{Atomic, DimId, GroupId, Model, Owner, Values, VarId};
use ferrocdf_store::{Blob, BlobMut, Cost, WriteBehind, Writes};

/// Bytes of a block of the disk.
const BLOCK: u64 = 4096;

/// Free blocks of a disk.
#[derive(Debug, Default)]
struct Disk(AtomicU64);

/// A file of which only the blocks that were written take room on a disk.
#[derive(Debug)]
struct SparseFile {
    disk: Arc<Disk>,
    content: Mutex<Content>,
    can_be_replaced: bool,
    written: AtomicU64,
}

#[derive(Debug, Default)]
struct Content {
    size: u64,
    blocks: BTreeMap<u64, Vec<u8>>,
}

impl SparseFile {
    fn new(disk: &Arc<Disk>, can_be_replaced: bool) -> SparseFile {
        let (content, written) = (Mutex::default(), AtomicU64::new(0));
        SparseFile { disk: disk.clone(), content, can_be_replaced, written }
    }

    fn blocks(&self) -> u64 {
        self.content.lock().unwrap().blocks.len() as u64
    }
}

/// The blocks that `len` bytes from `at` on lie in, and which of the bytes lie in each.
fn parts(at: u64, len: usize) -> impl Iterator<Item = (u64, Range<usize>)> {
    let end = at + len as u64;
    (at / BLOCK..end.div_ceil(BLOCK)).map(move |number| {
        let (first, last) = ((number * BLOCK).max(at), ((number + 1) * BLOCK).min(end));
        (number, (first - at) as usize..(last - at) as usize)
    })
}

impl Blob for SparseFile {
    fn size(&self) -> Result<u64> {
        Ok(self.content.lock().unwrap().size)
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        let content = self.content.lock().unwrap();
        let len = into.len().min(content.size.saturating_sub(at) as usize);
        into[..len].fill(0);
        for (number, range) in parts(at, len) {
            if let Some(block) = content.blocks.get(&number) {
                let skip = ((at + range.start as u64) % BLOCK) as usize;
                into[range.clone()].copy_from_slice(&block[skip..skip + range.len()]);
            }
        }
        Ok(len)
    }

    fn name(&self) -> String {
        "sparse".to_string()
    }

    fn cost(&self) -> Cost {
        Cost::MEMORY
    }
}

impl BlobMut for SparseFile {
    fn write_at(&self, at: u64, from: &[u8]) -> Result<()> {
        self.written.fetch_add(from.len() as u64, Relaxed);
        let mut content = self.content.lock().unwrap();
        for (number, range) in parts(at, from.len()) {
            let block = match content.blocks.entry(number) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => {
                    let taken = self.disk.0.fetch_update(Relaxed, Relaxed, |free| free.checked_sub(1));
                    taken.map_err(|_| Error::new(errno::NOSPC, "the test's disk is full"))?;
                    entry.insert(vec![0; BLOCK as usize])
                }
            };
            let skip = ((at + range.start as u64) % BLOCK) as usize;
            block[skip..skip + range.len()].copy_from_slice(&from[range.clone()]);
            content.size = content.size.max(at + range.end as u64);
        }
        Ok(())
    }

    fn set_size(&self, size: u64) -> Result<()> {
        let mut content = self.content.lock().unwrap();
        let gone = content.blocks.split_off(&size.div_ceil(BLOCK));
        self.disk.0.fetch_add(gone.len() as u64, Relaxed);
        if let Some(last) = content.blocks.get_mut(&(size / BLOCK)) {
            last[(size % BLOCK) as usize..].fill(0);
        }
        content.size = size;
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn keeps_holes(&self) -> bool {
        true
    }

    fn replace(&self, write: &mut Writes<'_>) -> Result<bool> {
        if !self.can_be_replaced {
            return Ok(false);
        }
        let new = SparseFile::new(&self.disk, true);
        let done = write(&new);
        self.written.fetch_add(new.written.load(Relaxed), Relaxed);
        if done.is_ok() {
            std::mem::swap(&mut *self.content.lock().unwrap(), &mut *new.content.lock().unwrap());
        }
        new.set_size(0)?;
        done.map(|()| true)
    }
}

/// Elements of the variables before and behind the hole, and of the hole.
const DENSE: u64 = 20_000;
const HOLE: u64 = 1 << 18;
const LENS: [u64; 3] = [DENSE, HOLE, DENSE];
/// Blocks that the dense variables take at most, with the header.
const DENSE_BLOCKS: u64 = 2 * (DENSE * 4 / BLOCK + 2) + 2;

fn values(var: usize) -> Vec<i32> {
    let value = |at| if var == 1 { 0 } else { at as i32 + 1 };
    (0..LENS[var]).map(value).collect()
}

/// A file with a hole of 1 MiB between two variables of 80 kB.
fn sparse(disk: &Arc<Disk>, can_be_replaced: bool) -> (Arc<SparseFile>, Model) {
    disk.0.store(10 * DENSE_BLOCKS, Relaxed);
    let blob = Arc::new(SparseFile::new(disk, can_be_replaced));
    let mut model = Model::new(Version::Data64.format());
    for (number, len) in LENS.into_iter().enumerate() {
        model.def_dim(GroupId::ROOT, format!("d{number}"), Some(len)).unwrap();
        let dims = [DimId(number as u32)];
        let var = model.def_var(GroupId::ROOT, format!("v{number}"), Atomic::Int.into(), &dims).unwrap();
        model.var_mut(var).storage.no_fill = true;
    }
    let mut file = ClassicFile::create(Box::new(blob.clone()), Version::Data64);
    file.commit(&model).unwrap();
    for var in [0, 2] {
        let array = file.array(&model, VarId(var)).unwrap();
        let input = values(var as usize);
        let all = Selection::all(&array.shape);
        let done = ferrocdf_array::write(file.blob_mut().unwrap(), &array, &all, In::new(&input));
        assert_eq!(done.unwrap(), RangeCheck::InRange);
    }
    file.flush(&model).unwrap();
    assert!(blob.blocks() <= DENSE_BLOCKS);
    (blob, model)
}

/// Checks all values of the file, and that its hole takes no room.
fn check(blob: &Arc<SparseFile>, what: &str) {
    let (file, model) = ClassicFile::open(blob.clone(), 0).unwrap();
    for var in 0..3 {
        let array = file.array(&model, VarId(var)).unwrap();
        let mut found = vec![-1i32; LENS[var as usize] as usize];
        let all = Selection::all(&array.shape);
        let done = ferrocdf_array::read(file.blob(), &array, &all, Out::new(&mut found));
        assert_eq!(done.unwrap(), RangeCheck::InRange);
        assert!(found == values(var as usize), "{what}: variable {var}");
    }
    // Zeros are left out in pieces of 16 blocks; those at both ends of the hole hold data too.
    let most = DENSE_BLOCKS + 4 * 16;
    assert!(blob.blocks() <= most, "{what}: {} blocks", blob.blocks());
}

/// Makes the header longer by a few blocks.
fn lengthen(model: &mut Model) {
    model.put_attr(Owner::Group(GroupId::ROOT), "long", Values::Char(vec![b'x'; 10_000])).unwrap();
}

#[test]
fn a_sparse_file_is_moved_where_its_data_has_room() {
    let disk = Arc::new(Disk::default());
    for can_be_replaced in [true, false] {
        let (blob, mut model) = sparse(&disk, can_be_replaced);
        disk.0.store(2 * DENSE_BLOCKS, Relaxed);
        let (mut file, _) = ClassicFile::open_mut(Box::new(WriteBehind::new(blob.clone()))).unwrap();
        lengthen(&mut model);
        file.commit(&model).unwrap();
        check(&blob, &format!("{can_be_replaced}"));
    }
}

#[test]
fn a_sparse_file_is_moved_or_left_whole_however_little_room_there_is() {
    let disk = Arc::new(Disk::default());
    let (mut moved, mut failed) = (0, 0);
    for can_be_replaced in [true, false] {
        for free in 0..DENSE_BLOCKS + 20 {
            let (blob, mut model) = sparse(&disk, can_be_replaced);
            let (mut file, _) = ClassicFile::open_mut(Box::new(WriteBehind::new(blob.clone()))).unwrap();
            disk.0.store(free, Relaxed);
            lengthen(&mut model);
            let done = file.commit(&model);
            let what = format!("{free} free blocks, can be replaced: {can_be_replaced}: {done:?}");
            check(&blob, &what);
            if done.is_err() {
                failed += 1;
                disk.0.store(3 * DENSE_BLOCKS, Relaxed);
                file.commit(&model).unwrap();
                check(&blob, &what);
            } else {
                moved += 1;
            }
        }
    }
    assert!(moved > 0 && failed > 0, "{moved} {failed}");
}

#[test]
fn a_copy_writes_each_byte_once() {
    let disk = Arc::new(Disk::default());
    let (blob, mut model) = sparse(&disk, true);
    let (mut file, _) = ClassicFile::open_mut(Box::new(WriteBehind::new(blob.clone()))).unwrap();
    lengthen(&mut model);
    let before = blob.written.load(Relaxed);
    file.commit(&model).unwrap();
    let written = blob.written.load(Relaxed) - before;
    // The header, the two variables, and the rest of the 64 KiB pieces that they lie in: only whole pieces of zeros are skipped.
    let most = 2 * DENSE * 4 + 10_000 + 4 * (64 << 10);
    assert!(written <= most, "{written} bytes");
}
