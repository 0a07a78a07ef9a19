//! Damaged files: errors, or fewer objects, in bounded time.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ferrocdf_array::{Out, Selection, read};
use ferrocdf_bytes::Code;
use ferrocdf_codec::Codecs;
use ferrocdf_hdf4::sd::{Datasets, Rasters};
use ferrocdf_hdf4::{File, Storage, tags};
use ferrocdf_store::MemoryBlob;

use crate::big;
use crate::build::{Builder, INT16, RLE, SPECIAL};

fn sample() -> Vec<u8> {
    let mut builder = Builder::default();
    let (time, x) = (builder.dim("time", None), builder.dim("x", Some(2)));
    let plain = builder.add(tags::SD, &big(&[1, 2, 3, 4]));
    let chunked = builder.chunked(
        &[2, 2],
        &[1, 2],
        Some(RLE),
        &[(vec![0, 0], vec![0x03, 0, 1, 0, 2]), (vec![1, 0], vec![0x81, 0])],
    );
    let block = builder.add(tags::LINKED, &big(&[1, 2, 3, 4]));
    let table = builder.add(tags::LINKED, &[[0, 0], block.to_be_bytes()].concat());
    let header =
        [&[0, 1][..], &8u32.to_be_bytes(), &8u32.to_be_bytes(), &1u32.to_be_bytes(), &table.to_be_bytes()]
            .concat();
    let linked = builder.add(tags::SD | SPECIAL, &header);
    let units = builder.attribute("units", 4, 1, b"m");
    let vars = [("plain", plain), ("chunked", chunked), ("linked", linked)]
        .map(|(name, data)| builder.dataset(name, &[time, x], INT16, Some(data), &[units]));
    builder.cdf(&[time, x], &vars, &[units]);
    builder.finish(8)
}

/// Opens a file and reads what it can, but no more than 1 MiB of each dataset.
pub fn read_all(bytes: Vec<u8>) {
    let Ok(file) = File::open(Arc::new(MemoryBlob::new(bytes)), None, Codecs::default()) else { return };
    file.vgroups();
    for (_, vdata) in file.vdatas() {
        let _ = vdata.and_then(|vdata| vdata.values(&file, 0));
    }
    let rasters = Rasters::read(&file).rasters.into_iter().filter_map(Result::ok).map(|raster| raster.var);
    let datasets = Datasets::read(&file).unwrap_or_default();
    for var in datasets.vars.into_iter().chain(rasters) {
        let _ = var.stored_size(&file);
        let Ok(located) = var.locate(&file, var.shape.clone()) else { continue };
        let start = vec![0; var.shape.len()];
        let count: Vec<u64> = var.shape.iter().map(|&len| len.min(8)).collect();
        let selection = Selection::slab(&start, &count);
        let mut out = vec![0f64; selection.elements().unwrap_or(0) as usize];
        if out.len() <= 1 << 17 {
            let blob = located.blob.unwrap_or_else(|| file.blob().clone());
            let _ = read(&*blob, &located.array, &selection, Out::new(&mut out));
        }
    }
}

#[test]
fn every_damaged_byte_ends_in_an_error_or_in_values() {
    let sample = sample();
    let start = Instant::now();
    for at in 0..sample.len() {
        for value in [0x00, 0x01, 0x7f, 0xff, sample[at] ^ 0x40] {
            let mut bytes = sample.clone();
            bytes[at] = value;
            let one = Instant::now();
            read_all(bytes);
            assert!(one.elapsed() < Duration::from_secs(2), "byte {at} as {value}");
        }
        read_all(sample[..at].to_vec());
    }
    assert!(start.elapsed() < Duration::from_secs(120));
}

#[test]
fn chains_that_come_back_to_themselves_end() {
    // The next block of descriptors is the first one.
    let mut bytes = Builder::default().finish(1);
    bytes.extend([0, 1, 0, 0, 0, 4]);
    bytes.extend([0, 1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    let error = File::open(Arc::new(MemoryBlob::new(bytes)), None, Codecs::default()).unwrap_err();
    assert!(error.to_string().contains("comes back"), "{error}");
    // The next table of blocks is the same one.
    let mut builder = Builder::default();
    builder.put(tags::LINKED, 9, &[0, 9, 0, 0]);
    let header = [&[0, 1][..], &[0x7f; 4], &1u32.to_be_bytes(), &1u32.to_be_bytes(), &[0, 9]].concat();
    builder.put(1000 | SPECIAL, 1, &header);
    let file = crate::open(builder.finish(4));
    let error = file.bytes(1000, 1).unwrap_err();
    assert!(error.to_string().contains("comes again"), "{error}");
}

#[test]
fn lengths_that_lie_take_no_memory() {
    let mut builder = Builder::default();
    // A compressed element of 4 GB from two bytes, and a linked one of 2 GB without blocks.
    let data = builder.add(tags::COMPRESSED, &[0x80, 1]);
    builder.put(1000 | SPECIAL, 1, &crate::build::compressed(u32::MAX - 1, data, RLE));
    builder.put(tags::LINKED, 9, &[0, 0]);
    let header = [&[0, 1][..], &[0x7f; 4], &[0x7f; 4], &1u32.to_be_bytes(), &[0, 9]].concat();
    builder.put(1000 | SPECIAL, 2, &header);
    let file = crate::open(builder.finish(4));
    for reference in [1, 2] {
        assert!(file.bytes(1000, reference).is_err());
    }
}

#[test]
fn compressed_bytes_end_where_their_blocks_do() {
    let mut builder = Builder::default();
    let block = builder.add(tags::LINKED, &[0x80, 7]);
    let table = builder.add(tags::LINKED, &[[0, 0], block.to_be_bytes()].concat());
    // 2 GB of which two bytes are in a block.
    let header =
        [&[0, 1][..], &[0x7f; 4], &16u32.to_be_bytes(), &1u32.to_be_bytes(), &table.to_be_bytes()].concat();
    builder.put(tags::COMPRESSED | SPECIAL, 900, &header);
    builder.put(1000 | SPECIAL, 1, &crate::build::compressed(3, 900, RLE));
    let file = crate::open(builder.finish(4));
    assert_eq!(file.bytes(1000, 1).unwrap().unwrap(), [7, 7, 7]);
}

#[test]
fn compressed_bytes_end_where_the_file_does() {
    let mut builder = Builder::default();
    builder.put(1000 | SPECIAL, 1, &crate::build::compressed(3, 900, RLE));
    builder.put(tags::COMPRESSED, 900, &[0x80, 7]);
    let mut bytes = builder.finish(4);
    // The length in the second descriptor.
    let at = 4 + 6 + 12 + 8;
    assert_eq!(bytes[at..at + 4], [0, 0, 0, 2]);
    bytes[at] = 0x7f;
    let file = crate::open(bytes);
    let Storage::Compressed { pieces, .. } = file.element(1000, 1).unwrap().unwrap().storage else {
        panic!()
    };
    assert_eq!(pieces.iter().map(|piece| piece.len).sum::<u64>(), 2);
    assert_eq!(file.bytes(1000, 1).unwrap().unwrap(), [7, 7, 7]);
}

/// Returns a dataset of two 16-bit integers on dimensions that may be more than there are.
fn with_dims(builder: &mut Builder, dims: &[u16]) -> u16 {
    let data = builder.add(tags::SD, &big(&[1, 2]));
    builder.dataset("v", dims, INT16, Some(data), &[])
}

#[test]
fn what_is_listed_twice_is_there_once() {
    let mut builder = Builder::default();
    let x = builder.dim("x", Some(2));
    let units = builder.attribute("units", 4, 1, b"m");
    let data = builder.add(tags::SD, &big(&[1, 2]));
    let v = builder.dataset("v", &[x], INT16, Some(data), &[units; 500]);
    builder.cdf(&[x; 500], &[v; 500], &[units; 500]);
    let found = Datasets::read(&crate::open(builder.finish(100))).unwrap();
    let attributes: usize = found.vars.iter().map(|var| var.attributes.len()).sum();
    assert_eq!((found.dims.len(), found.vars.len(), attributes, found.attributes.len()), (1, 1, 1, 1));
}

#[test]
fn no_dataset_has_more_dimensions_than_the_library_allows() {
    for (rank, is_there) in [(32, true), (33, false)] {
        // A variable of the Vgroup.
        let mut builder = Builder::default();
        let x = builder.dim("x", Some(1));
        let v = with_dims(&mut builder, &vec![x; rank]);
        builder.cdf(&[x], &[v], &[]);
        let found = Datasets::read(&crate::open(builder.finish(100))).unwrap();
        assert_eq!((found.vars.len(), found.unreadable.len()), (is_there.into(), (!is_there).into()));
        // A group of numeric data.
        let mut builder = Builder::default();
        let mut record = (rank as u16).to_be_bytes().to_vec();
        record.extend([0, 0, 0, 1].repeat(rank));
        record.extend([0, 106, 0, 1].repeat(rank + 1));
        builder.put(tags::SDD, 1, &record);
        builder.put(tags::NDG, 1, &[tags::SDD.to_be_bytes(), [0, 1]].concat());
        let found = Datasets::read(&crate::open(builder.finish(100))).unwrap();
        let vars = if is_there { rank + 1 } else { 0 };
        assert_eq!((found.vars.len(), found.unreadable.len()), (vars, (!is_there).into()));
        // Chunks.
        let mut builder = Builder::default();
        let data = builder.chunked(&vec![1; rank], &vec![1; rank], None, &[]);
        let file = crate::open(builder.finish(100));
        assert_eq!(file.element(tags::SD, data).is_ok(), is_there);
    }
}

/// The header of an element of linked blocks, of so many bytes in blocks of 4, in tables of two.
fn linked(len: u32, table: u16) -> Vec<u8> {
    [&[0, 1][..], &len.to_be_bytes(), &4u32.to_be_bytes(), &2u32.to_be_bytes(), &table.to_be_bytes()].concat()
}

/// The header of an element of so many bytes, of which only the last 4 have a block: one hole is before it.
fn hollow(builder: &mut Builder, len: u32) -> Vec<u8> {
    let block = builder.add(tags::LINKED, &[b'a'; 4]);
    let table = builder.add(tags::LINKED, &[[0; 2], [0; 2], block.to_be_bytes()].concat());
    let block_len = (len - 4).to_be_bytes();
    [&[0, 1][..], &len.to_be_bytes(), &block_len, &2u32.to_be_bytes(), &table.to_be_bytes()].concat()
}

#[test]
fn a_linked_block_is_in_one_place() {
    let mut builder = Builder::default();
    builder.put(tags::LINKED, 11, &[1, 2, 3, 4]);
    builder.put(tags::LINKED, 12, &[5, 6, 7, 8]);
    // Blocks of a table; the second table has the blocks of the first.
    builder.put(tags::LINKED, 1, &[0, 2, 0, 11, 0, 12]);
    builder.put(tags::LINKED, 2, &[0, 0, 0, 11, 0, 12]);
    builder.put(1000 | SPECIAL, 1, &linked(8, 1));
    builder.put(1000 | SPECIAL, 2, &linked(16, 1));
    let file = crate::open(builder.finish(100));
    assert_eq!(file.bytes(1000, 1).unwrap().unwrap(), [1, 2, 3, 4, 5, 6, 7, 8]);
    let error = file.bytes(1000, 2).unwrap_err();
    assert!(error.to_string().contains("linked block 11 comes again"), "{error}");
}

#[test]
fn tables_of_blocks_that_elements_share_are_read_so_often_only() {
    let mut builder = Builder::default();
    // 28,999 holes, and behind them a block of one byte.
    let mut table = vec![0; 60_000];
    table[58_001] = 2;
    builder.put(tags::LINKED, 1, &table);
    builder.put(tags::LINKED, 2, &[7]);
    let header =
        [&[0, 1][..], &29_000u32.to_be_bytes(), &1u32.to_be_bytes(), &29_999u32.to_be_bytes(), &[0, 1]];
    let header = header.concat();
    (1..=300).for_each(|reference| builder.put(1000 | SPECIAL, reference, &header));
    let file = crate::open(builder.finish(400));
    let read = (1..=300).filter(|&reference| file.element(1000, reference).is_ok()).count();
    // 8 MiB and four times the file.
    assert!((100..200).contains(&read), "{read}");
}

#[test]
fn attributes_are_limited_each_and_together() {
    // The first has 65,535 numbers of 8 bytes and the second one more; both take no room in the file.
    let mut builder = Builder::default();
    let attributes = [65_535u32, 65_536].map(|count| {
        let attribute = builder.attribute("holes", 6, 8, &[]);
        let header = hollow(&mut builder, 8 * count);
        builder.replace(tags::VS, attribute, tags::VS | SPECIAL, &header);
        let mut description = builder.bytes(tags::VH, attribute).to_vec();
        description[2..6].copy_from_slice(&count.to_be_bytes());
        builder.replace(tags::VH, attribute, tags::VH, &description);
        attribute
    });
    builder.cdf(&[], &[], &attributes);
    let found = Datasets::read(&crate::open(builder.finish(100))).unwrap();
    let lens: Vec<usize> = found.attributes.iter().map(|attribute| attribute.bytes.len()).collect();
    assert_eq!((lens, found.unreadable.len()), (vec![8 * 65_535], 1));
    // One that 500 variables have: 15 MB in a file of 90 kB.
    let mut builder = Builder::default();
    let attribute = builder.attribute("text", 4, 1, &[b'a'; 30_000]);
    let vars: Vec<u16> = (0..500).map(|_| builder.dataset("v", &[], INT16, None, &[attribute])).collect();
    builder.cdf(&[], &vars, &[]);
    let found = Datasets::read(&crate::open(builder.finish(3000))).unwrap();
    let attributes = found.vars.iter().map(|var| var.attributes.len()).sum::<usize>();
    assert_eq!(found.vars.len(), 500);
    assert!((200..400).contains(&attributes), "{attributes}");
    assert_eq!(found.unreadable.len(), 500 - attributes);
}

#[test]
fn annotations_and_members_of_groups_are_limited_together() {
    // Labels of 1 MB that are no content: holes.
    let mut builder = Builder::default();
    let header = hollow(&mut builder, 1 << 20);
    (1..=20).for_each(|at| builder.put(tags::DIL | SPECIAL, at, &header));
    let file = crate::open(builder.finish(100));
    assert_eq!((1..=20).filter(|&at| file.bytes(tags::DIL, at).is_ok()).count(), 8);
    // What was read once may be read again.
    assert!(file.bytes(tags::DIL, 1).is_ok());
    // A label that all groups share.
    let mut builder = Builder::default();
    builder.put(tags::SDD, 1, &[0, 0, 0, 106, 0, 1]);
    builder.put(tags::SDL, 1, &vec![b'a'; 1 << 20]);
    let members = [tags::SDD.to_be_bytes(), [0, 1], tags::SDL.to_be_bytes(), [0, 1]].concat();
    (1..=20).for_each(|at| builder.put(tags::NDG, at, &members));
    let found = Datasets::read(&crate::open(builder.finish(100))).unwrap();
    assert_eq!((found.vars.len(), found.unreadable.len()), (12, 8));
}

#[test]
fn structures_do_not_lie_over_each_other() {
    // Texts of 100 kB behind many descriptors.
    for (count, is_open) in [(80, true), (100, false)] {
        let mut bytes = [&ferrocdf_hdf4::SIGNATURE[..], &(count as u16).to_be_bytes(), &[0; 4]].concat();
        let at = bytes.len() as u32 + 12 * count;
        for reference in 1..=count as u16 {
            bytes.extend([tags::VS.to_be_bytes(), reference.to_be_bytes()].concat());
            bytes.extend([at.to_be_bytes(), 105_000u32.to_be_bytes()].concat());
        }
        bytes.resize(bytes.len() + 105_000, 0);
        let file = File::open(Arc::new(MemoryBlob::new(bytes)), None, Codecs::default());
        assert_eq!(file.is_ok(), is_open, "{count}: {file:?}");
    }
}

#[test]
fn chains_of_blocks_without_end_are_refused() {
    // Blocks of so many descriptors, one behind the other.
    let chain = |blocks: usize, count: usize| {
        let mut bytes = ferrocdf_hdf4::SIGNATURE.to_vec();
        for block in 1..=blocks {
            let next = bytes.len() + 6 + 12 * count;
            bytes.extend((count as u16).to_be_bytes());
            bytes.extend((if block < blocks { next as u32 } else { 0 }).to_be_bytes());
            bytes.extend([0, 1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff].repeat(count));
        }
        File::open(Arc::new(MemoryBlob::new(bytes)), None, Codecs::default())
    };
    assert!(chain(1, 0).is_ok());
    let error = chain(3, 0).unwrap_err();
    assert!(error.to_string().contains("no descriptors"), "{error}");
    assert!(chain(65_536, 1).is_ok());
    let error = chain(65_537, 1).unwrap_err();
    assert!(error.to_string().contains("65536 blocks"), "{error}");
}

#[test]
fn data_past_the_end_of_the_file_is_an_error() {
    let mut builder = Builder::default();
    let x = builder.dim("x", Some(4));
    let block = builder.add(tags::LINKED, &big(&[1, 2]));
    let table = builder.add(tags::LINKED, &[[0; 2], [0; 2], block.to_be_bytes()].concat());
    let header = linked(8, table);
    let in_pieces = builder.add(tags::SD | SPECIAL, &header);
    let units = builder.attribute("units", 4, 1, b"metres/s");
    let plain = builder.add(tags::SD, &big(&[1, 2, 3, 4]));
    let vars = [("plain", plain), ("linked", in_pieces)]
        .map(|(name, data)| builder.dataset(name, &[x], INT16, Some(data), &[units]));
    builder.cdf(&[x], &vars, &[]);
    let sound = builder.finish(100);
    let read_named = |bytes: &[u8], name: &str| {
        let file = crate::open(bytes.to_vec());
        let found = Datasets::read(&file).unwrap();
        let var = crate::named(&found, name);
        let located = var.locate(&file, var.shape.clone()).unwrap();
        let (mut out, selection) = (vec![0i16; 4], Selection::all(&var.shape));
        let blob = located.blob.unwrap_or_else(|| file.blob().clone());
        let result = read(&*blob, &located.array, &selection, Out::new(&mut out)).map(|_| out);
        (result, var.attributes.len(), found.unreadable)
    };
    // Moves an object of 8 bytes, or 4, so that half of it lies past the end of the file.
    let moved = |tag: u16, reference: u16, len: usize| {
        let mut bytes = sound.clone();
        let key = [tag.to_be_bytes(), reference.to_be_bytes()].concat();
        let at = (10..).step_by(12).find(|&at| bytes[at..at + 4] == key).unwrap();
        let half = (sound.len() - len / 2) as u32;
        bytes[at + 4..at + 8].copy_from_slice(&half.to_be_bytes());
        bytes
    };
    let is_cut = |bytes: &[u8], name: &str| {
        let error = read_named(bytes, name).0.unwrap_err();
        error.code == Code::ETRUNC && error.to_string().contains("past the end")
    };
    assert_eq!(read_named(&sound, "plain").0.unwrap(), [1, 2, 3, 4]);
    // The first block was never written.
    assert_eq!(read_named(&sound, "linked").0.unwrap(), [-32767, -32767, 1, 2]);
    assert!(is_cut(&moved(tags::SD, plain, 8), "plain"));
    assert!(is_cut(&moved(tags::LINKED, block, 4), "linked"));
    let (data, attributes, unreadable) = read_named(&moved(tags::VS, units, 8), "plain");
    assert_eq!((data.unwrap(), attributes), (vec![1, 2, 3, 4], 0));
    assert!(unreadable[0].to_string().contains("past the end"), "{unreadable:?}");
}

#[test]
fn a_dataset_whose_vgroup_is_damaged_is_told() {
    let mut builder = Builder::default();
    let x = builder.dim("x", Some(2));
    let vars = [(); 2].map(|()| with_dims(&mut builder, &[x]));
    builder.cdf(&[x], &vars, &[]);
    let mut bytes = builder.bytes(tags::VG, vars[1]).to_vec();
    // The version.
    let at = bytes.len() - 4;
    assert_eq!(bytes[at], 3);
    bytes[at] = 5;
    builder.replace(tags::VG, vars[1], tags::VG, &bytes);
    let found = Datasets::read(&crate::open(builder.finish(100))).unwrap();
    assert_eq!((found.vars.len(), found.unreadable.len()), (1, 1));
    assert!(found.unreadable[0].to_string().contains("version 5"), "{:?}", found.unreadable);
}

#[test]
fn damage_to_the_vgroup_of_all_datasets_ends_opening() {
    let mut builder = Builder::default();
    let x = builder.dim("x", Some(2));
    let vars = [with_dims(&mut builder, &[x])];
    let top = builder.cdf(&[x], &vars, &[]);
    let number = builder.add(tags::NT, &[1, 22, 16, 1]);
    let pair = [tags::NT.to_be_bytes(), number.to_be_bytes()].concat();
    let record = builder.add(tags::SDD, &[&[0, 1][..], &2u32.to_be_bytes(), &pair, &pair].concat());
    builder.put(tags::NDG, 500, &[tags::SDD.to_be_bytes(), record.to_be_bytes()].concat());
    let mut bytes = builder.bytes(tags::VG, top).to_vec();
    // The version.
    let at = bytes.len() - 4;
    bytes[at] = 5;
    builder.replace(tags::VG, top, tags::VG, &bytes);
    let error = Datasets::read(&crate::open(builder.finish(100))).unwrap_err().to_string();
    assert!(error.contains("damaged Vgroup") && error.contains("version 5"), "{error}");
}

#[test]
fn lengths_have_31_bits() {
    for (len, dims) in [(i32::MAX as u32, 1), (1 << 31, 0)] {
        let mut builder = Builder::default();
        let x = builder.dim("x", Some(len));
        builder.cdf(&[x], &[], &[]);
        let found = Datasets::read(&crate::open(builder.finish(100))).unwrap();
        assert_eq!((found.dims.len(), found.unreadable.len()), (dims, 1 - dims), "{len}");
    }
}

#[test]
fn linked_blocks_end_where_the_last_one_does_whatever_their_header_says() {
    let mut builder = Builder::default();
    let (time, x) = (builder.dim("time", None), builder.dim("x", Some(4)));
    let block = builder.add(tags::LINKED, &big(&[1, 2]));
    let [ended, none] = [block, 0].map(|block: u16| {
        let table = builder.add(tags::LINKED, &[[0; 2], block.to_be_bytes(), [0; 2]].concat());
        builder.add(tags::SD | SPECIAL, &linked(u32::MAX - 1, table))
    });
    let vars = [("records", time, ended), ("fixed", x, ended), ("lost", time, none)]
        .map(|(name, dim, data)| builder.dataset(name, &[dim], INT16, Some(data), &[]));
    builder.cdf(&[time, x], &vars, &[]);
    let file = crate::open(builder.finish(100));
    let found = Datasets::read(&file).unwrap();
    let records = crate::named(&found, "records");
    assert_eq!((&*records.shape, crate::values(&file, records)), (&[2][..], vec![1, 2]));
    let fixed = crate::named(&found, "fixed").locate(&file, vec![4]).unwrap();
    let read = |count| crate::selected(&file, &fixed, &Selection::slab(&[0], &[count]));
    assert_eq!(read(2).unwrap(), [1, 2]);
    assert!(read(3).is_err());
    let [lost] = &found.unreadable[..] else { panic!("{:?}", found.unreadable) };
    assert!(lost.to_string().contains("\"lost\"") && lost.to_string().contains("none of"), "{lost}");
}

/// Returns the position of the descriptor of an object in the first block.
fn descriptor(bytes: &[u8], tag: u16, reference: u16) -> usize {
    let key = [tag.to_be_bytes(), reference.to_be_bytes()].concat();
    (10..).step_by(12).find(|&at| bytes[at..at + 4] == key).unwrap()
}

/// Reads the only dataset of a file, four numbers.
fn read_only(bytes: Vec<u8>) -> Result<Vec<i16>, String> {
    let file = crate::open(bytes);
    let var = Datasets::read(&file).unwrap().vars.remove(0);
    let located = var.locate(&file, var.shape.clone()).map_err(|error| error.to_string())?;
    let (mut out, selection) = (vec![0i16; 4], Selection::all(&var.shape));
    let blob = located.blob.unwrap_or_else(|| file.blob().clone());
    match read(&*blob, &located.array, &selection, Out::new(&mut out)) {
        Ok(_) => Ok(out),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn an_attribute_whose_values_are_lost_is_unreadable_and_not_empty() {
    let mut builder = Builder::default();
    let (x, units) = (builder.dim("x", Some(4)), builder.attribute("units", 4, 1, b"m"));
    let var = builder.dataset("v", &[x], INT16, None, &[units]);
    builder.cdf(&[x], &[var], &[]);
    let mut bytes = builder.finish(100);
    assert_eq!(Datasets::read(&crate::open(bytes.clone())).unwrap().vars[0].attributes.len(), 1);
    let at = descriptor(&bytes, tags::VS, units);
    bytes[at..at + 2].copy_from_slice(&tags::NULL.to_be_bytes());
    let found = Datasets::read(&crate::open(bytes)).unwrap();
    assert_eq!(found.vars[0].attributes.len(), 0);
    let [lost] = &found.unreadable[..] else { panic!("{:?}", found.unreadable) };
    assert!(lost.to_string().contains("0 of the 1 bytes of its records are there"), "{lost}");
}

#[test]
fn structures_that_the_file_names_and_does_not_have_are_errors() {
    let with_data = |add: &dyn Fn(&mut Builder) -> u16| {
        let mut builder = Builder::default();
        let x = builder.dim("x", Some(4));
        let data = add(&mut builder);
        let var = builder.dataset("v", &[x], INT16, Some(data), &[]);
        builder.cdf(&[x], &[var], &[]);
        builder.finish(100)
    };
    let chunked = with_data(&|builder| {
        builder.chunked(&[4], &[2], None, &[(vec![0], big(&[1, 2])), (vec![1], big(&[3, 4]))])
    });
    assert_eq!(read_only(chunked.clone()).unwrap(), [1, 2, 3, 4]);
    // The records of the chunk table, the first Vdata behind the dimension's.
    let table = (1..100).filter(|&at| crate::open(chunked.clone()).descriptor(tags::VS, at).is_some()).nth(1);
    let mut lost = chunked.clone();
    let at = descriptor(&lost, tags::VS, table.unwrap());
    lost[at..at + 2].copy_from_slice(&tags::NULL.to_be_bytes());
    let error = read_only(lost).unwrap_err();
    assert!(error.contains("0 of the 16 bytes of its records are there"), "{error}");
    let in_blocks = with_data(&|builder| {
        builder.put(tags::LINKED, 11, &big(&[1, 2]));
        builder.put(tags::LINKED, 12, &big(&[3, 4]));
        builder.put(tags::LINKED, 13, &[0, 0, 0, 11, 0, 12]);
        builder.add(tags::SD | SPECIAL, &linked(8, 13))
    });
    assert_eq!(read_only(in_blocks.clone()).unwrap(), [1, 2, 3, 4]);
    let without = |block| {
        let mut lost = in_blocks.clone();
        let at = descriptor(&lost, tags::LINKED, block);
        lost[at..at + 2].copy_from_slice(&tags::NULL.to_be_bytes());
        lost
    };
    let found = Datasets::read(&crate::open(without(11))).unwrap();
    assert_eq!(found.vars.len(), 0);
    assert!(found.unreadable[0].to_string().contains("linked block 11, the first one, is not in the file"));
    let error = read_only(without(12)).unwrap_err();
    assert!(error.contains("linked block 12 is not in the file"), "{error}");
    // As with the library, what the other blocks have is there.
    let file = crate::open(without(12));
    let located = Datasets::read(&file).unwrap().vars[0].locate(&file, vec![4]).unwrap();
    assert_eq!(crate::selected(&file, &located, &Selection::slab(&[0], &[2])).unwrap(), [1, 2]);
    assert!(crate::selected(&file, &located, &Selection::slab(&[1], &[2])).is_err());
}

#[test]
fn data_was_never_written_if_offset_and_length_say_so_or_if_it_has_no_bytes() {
    let mut builder = Builder::default();
    let x = builder.dim("x", Some(4));
    let data = builder.add(tags::SD, &big(&[1, 2, 3, 4]));
    let var = builder.dataset("v", &[x], INT16, Some(data), &[]);
    builder.cdf(&[x], &[var], &[]);
    let sound = builder.finish(100);
    let at = descriptor(&sound, tags::SD, data);
    let changed = |range: Range<usize>, value: u32| {
        let mut bytes = sound.clone();
        bytes[at + range.start..at + range.end].copy_from_slice(&value.to_be_bytes());
        bytes
    };
    assert_eq!(read_only(changed(8..12, 0)).unwrap(), [-32767; 4]);
    let mut both = changed(4..8, u32::MAX);
    both[at + 8..at + 12].copy_from_slice(&u32::MAX.to_be_bytes());
    assert_eq!(read_only(both).unwrap(), [-32767; 4]);
    assert!(read_only(changed(4..8, u32::MAX)).unwrap_err().contains("past the end"));
}

#[test]
fn a_dataset_without_vgroups_that_is_larger_than_any_file_is_skipped() {
    let mut builder = Builder::default();
    let number = builder.add(tags::NT, &INT16);
    let dims = [&2u16.to_be_bytes()[..], &2_000_000_000u32.to_be_bytes(), &3u32.to_be_bytes()].concat();
    let numbers = [tags::NT.to_be_bytes(), number.to_be_bytes()].concat().repeat(3);
    let record = builder.add(tags::SDD, &[dims, numbers].concat());
    builder.put(tags::NDG, 500, &[tags::SDD.to_be_bytes(), record.to_be_bytes()].concat());
    let found = Datasets::read(&crate::open(builder.finish(100))).unwrap();
    assert_eq!(found.vars.len(), 0);
    let error = found.unreadable[0].to_string();
    assert!(error.contains("[2000000000, 3] is larger than any HDF4 file"), "{error}");
}
