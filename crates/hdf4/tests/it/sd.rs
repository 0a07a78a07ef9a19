//! Scientific Datasets.

use ferrocdf_array::Selection;
use ferrocdf_codec::{Chain, Codecs, Step};
use ferrocdf_hdf4::sd::Datasets;
use ferrocdf_hdf4::tags;

use crate::build::{Builder, DEFLATE, INT16, INT16_PC, SPECIAL, compressed};
use crate::{big, named, open, open_beside, selected, values, values_of};

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let step = Step { id: 1.into(), name: String::new(), optional: false, params: vec![6] };
    let mut encoded = vec![];
    Chain::new(vec![step], &Codecs::default()).encode(bytes, &mut encoded).unwrap();
    encoded
}

#[test]
fn contiguous_datasets_have_the_order_of_their_number_type() {
    let mut builder = Builder::default();
    let x = builder.dim("x", Some(3));
    let standard = builder.add(tags::SD, &big(&[1, 2, 300]));
    let little: Vec<u8> = [1i16, 2, 300].iter().flat_map(|number| number.to_le_bytes()).collect();
    let little = builder.add(tags::SD, &little);
    let units = builder.attribute("units", 4, 1, b"m/s");
    let range = builder.attribute("valid_range", 22, 2, &big(&[-5, 5]));
    let one = builder.dataset("one", &[x], INT16, Some(standard), &[units, range]);
    let two = builder.dataset("two", &[x], INT16_PC, Some(little), &[]);
    let title = builder.attribute("title", 4, 1, b"a file");
    builder.cdf(&[x], &[one, two], &[title]);
    let file = open(builder.finish(16));
    let found = Datasets::read(&file).unwrap();
    assert_eq!(found.unreadable, []);
    assert_eq!(found.attributes[0].bytes, b"a file");
    let one = named(&found, "one");
    assert_eq!((&*one.shape, one.dims.len(), one.attributes.len()), (&[3][..], 1, 2));
    assert_eq!((&*one.attributes[1].name, &*one.attributes[1].bytes), (&b"valid_range"[..], &*big(&[-5, 5])));
    assert!(one.group.is_some());
    assert_eq!(values(&file, one), [1, 2, 300]);
    assert_eq!(values(&file, named(&found, "two")), [1, 2, 300]);
}

#[test]
fn data_that_a_dataset_names_and_the_file_does_not_have_is_an_error() {
    let mut builder = Builder::default();
    let (x, time) = (builder.dim("x", Some(4)), builder.dim("time", None));
    let vars = [
        builder.dataset("fixed", &[x], INT16, Some(999), &[]),
        builder.dataset("growing", &[time, x], INT16, Some(998), &[]),
    ];
    builder.cdf(&[x, time], &vars, &[]);
    let file = open(builder.finish(16));
    let found = Datasets::read(&file).unwrap();
    let fixed = named(&found, "fixed");
    let error = fixed.locate(&file, fixed.shape.clone()).err().unwrap().to_string();
    assert!(error.contains("dataset \"fixed\": its data, object 702/999, is not in the file"), "{error}");
    let [growing] = &found.unreadable[..] else { panic!("{:?}", found.unreadable) };
    assert!(growing.to_string().contains("dataset \"growing\": its data is not in the file"), "{growing}");
}

#[test]
fn what_was_never_written_has_the_fill_value() {
    let mut builder = Builder::default();
    let x = builder.dim("x", Some(4));
    let fill = builder.attribute("_FillValue", 22, 2, &big(&[77]));
    let wide = builder.attribute("_FillValue", 24, 4, &(-9999i32).to_be_bytes());
    let data = builder.reference();
    builder.put_unwritten(tags::SD, data);
    let vars = [
        builder.dataset("none", &[x], INT16, None, &[fill]),
        builder.dataset("unwritten", &[x], INT16, Some(data), &[]),
        builder.dataset("wide", &[x], INT16, None, &[wide]),
    ];
    builder.cdf(&[x], &vars, &[]);
    let file = open(builder.finish(16));
    let found = Datasets::read(&file).unwrap();
    assert_eq!(values(&file, named(&found, "none")), [77; 4]);
    assert_eq!(values(&file, named(&found, "unwritten")), [-32767; 4]);
    assert_eq!(values(&file, named(&found, "wide")), [-9999; 4]);
}

#[test]
fn elements_behind_the_end_of_contiguous_data_are_an_error() {
    let mut builder = Builder::default();
    let x = builder.dim("x", Some(4));
    let short = builder.add(tags::SD, &big(&[1, 2]));
    let var = builder.dataset("short", &[x], INT16, Some(short), &[]);
    builder.cdf(&[x], &[var], &[]);
    let file = open(builder.finish(16));
    let found = Datasets::read(&file).unwrap();
    // Two elements more, as if another dataset made the dimension longer.
    let located = named(&found, "short").locate(&file, vec![6]).unwrap();
    let read = |first, count| selected(&file, &located, &Selection::slab(&[first], &[count]));
    assert_eq!(read(0, 2).unwrap(), [1, 2]);
    assert_eq!(read(4, 2).unwrap(), [-32767, -32767]);
    for (first, count) in [(1, 2), (3, 1), (3, 2), (0, 6)] {
        let error = read(first, count).unwrap_err().to_string();
        assert!(error.contains("4 of the 8 bytes of the dataset"), "{error}");
    }
}

#[test]
fn a_dataset_on_an_unlimited_dimension_is_as_long_as_its_data() {
    let mut builder = Builder::default();
    let (time, x) = (builder.dim("time", None), builder.dim("x", Some(2)));
    let blocks = [builder.add(tags::LINKED, &big(&[1, 2])), builder.add(tags::LINKED, &big(&[3, 4, 5, 6]))];
    let table =
        builder.add(tags::LINKED, &[[0, 0], blocks[0].to_be_bytes(), blocks[1].to_be_bytes()].concat());
    let header =
        [&[0, 1][..], &12u32.to_be_bytes(), &8u32.to_be_bytes(), &2u32.to_be_bytes(), &table.to_be_bytes()]
            .concat();
    let data = builder.add(tags::SD | SPECIAL, &header);
    let var = builder.dataset("grows", &[time, x], INT16, Some(data), &[]);
    builder.cdf(&[time, x], &[var], &[]);
    let file = open(builder.finish(16));
    let found = Datasets::read(&file).unwrap();
    let grows = named(&found, "grows");
    assert_eq!((found.dims[0].len, &*grows.shape), (None, &[3, 2][..]));
    assert_eq!(values(&file, grows), [1, 2, 3, 4, 5, 6]);
    let longer = values_of(&file, grows, vec![4, 2]);
    assert_eq!(longer, [1, 2, 3, 4, 5, 6, -32767, -32767]);
}

#[test]
fn a_record_of_which_a_part_is_stored_does_not_count() {
    let mut builder = Builder::default();
    let (time, x) = (builder.dim("time", None), builder.dim("x", Some(2)));
    let data = builder.add(tags::SD, &big(&[1, 2, 3]));
    let var = builder.dataset("v", &[time, x], INT16, Some(data), &[]);
    builder.cdf(&[time, x], &[var], &[]);
    let file = open(builder.finish(16));
    let found = Datasets::read(&file).unwrap();
    assert_eq!(values(&file, named(&found, "v")), [1, 2]);
    assert_eq!(values_of(&file, named(&found, "v"), vec![2, 2]), [1, 2, -32767, -32767]);
}

#[test]
fn chunks_are_found_by_their_table_and_missing_ones_are_filled() {
    for compression in [None, Some(DEFLATE)] {
        let chunk = |numbers: &[i16]| match compression {
            None => big(numbers),
            Some(_) => deflated(&big(numbers)),
        };
        let mut builder = Builder::default();
        let (y, x) = (builder.dim("y", Some(3)), builder.dim("x", Some(3)));
        let chunks = [
            (vec![0, 0], chunk(&[1, 2, 4, 5])),
            (vec![1, 1], chunk(&[9, 0, 0, 0])),
            (vec![0, 1], chunk(&[3, 0, 6, 0])),
        ];
        let data = builder.chunked(&[3, 3], &[2, 2], compression, &chunks);
        let var = builder.dataset("chunked", &[y, x], INT16, Some(data), &[]);
        builder.cdf(&[y, x], &[var], &[]);
        let file = open(builder.finish(16));
        let found = Datasets::read(&file).unwrap();
        let var = named(&found, "chunked");
        assert_eq!(values(&file, var), [1, 2, 3, 4, 5, 6, -1, -1, 9]);
        let size = var.stored_size(&file).unwrap();
        assert_eq!(size.chunks, Some((4, 3, 8)));
        assert_eq!(size.bytes, chunks.iter().map(|chunk| chunk.1.len() as u64).sum::<u64>());
    }
}

#[test]
fn chunks_whose_compressed_bytes_are_linked_blocks_are_read() {
    let mut builder = Builder::default();
    let x = builder.dim("x", Some(4));
    let data = builder.chunked(
        &[4],
        &[2],
        Some(DEFLATE),
        &[(vec![0], deflated(&big(&[1, 2]))), (vec![1], deflated(&big(&[3, 4])))],
    );
    let var = builder.dataset("v", &[x], INT16, Some(data), &[]);
    builder.cdf(&[x], &[var], &[]);
    builder.link_compressed(5);
    let file = open(builder.finish(16));
    let found = Datasets::read(&file).unwrap();
    assert_eq!(values(&file, named(&found, "v")), [1, 2, 3, 4]);
}

#[test]
fn compressed_and_external_datasets_need_no_chunks() {
    let mut builder = Builder::default();
    let x = builder.dim("x", Some(3));
    let stored = builder.add(tags::COMPRESSED, &deflated(&big(&[1, 2, 3])));
    let whole = builder.add(tags::SD | SPECIAL, &compressed(6, stored, DEFLATE));
    let empty = builder.add(tags::COMPRESSED, &[]);
    let empty = builder.add(tags::SD | SPECIAL, &compressed(6, empty, DEFLATE));
    let [external, cut] = [4u32, 6].map(|len| {
        let header =
            [&[0, 2][..], &len.to_be_bytes(), &1u32.to_be_bytes(), &4u32.to_be_bytes(), b"data"].concat();
        builder.add(tags::SD | SPECIAL, &header)
    });
    let vars = [("whole", whole), ("empty", empty), ("external", external), ("cut", cut)]
        .map(|(name, data)| builder.dataset(name, &[x], INT16, Some(data), &[]));
    builder.cdf(&[x], &vars, &[]);
    let file = open_beside(builder.finish(16), "data", [&[0][..], &big(&[7, 8])].concat());
    let found = Datasets::read(&file).unwrap();
    assert_eq!(values(&file, named(&found, "whole")), [1, 2, 3]);
    assert_eq!(values(&file, named(&found, "empty")), [-32767; 3]);
    let external = named(&found, "external").locate(&file, vec![3]).unwrap();
    assert_eq!(selected(&file, &external, &Selection::slab(&[0], &[2])).unwrap(), [7, 8]);
    let error = selected(&file, &external, &Selection::all(&[3])).unwrap_err().to_string();
    assert!(error.contains("4 of the 6 bytes of the dataset"), "{error}");
    let error = named(&found, "cut").locate(&file, vec![3]).err().unwrap().to_string();
    assert!(error.contains("6 bytes from byte 1 of the file \"data\", which has 5 bytes"), "{error}");
    assert_eq!(named(&found, "external").arrangement(&file).unwrap().external.unwrap(), b"data");
}

#[test]
fn files_without_a_vgroup_of_datasets_have_groups_of_numeric_data() {
    let mut builder = Builder::default();
    let number = builder.add(tags::NT, &INT16);
    let pair = [tags::NT.to_be_bytes(), number.to_be_bytes()].concat();
    let record = [&[0, 2][..], &2u32.to_be_bytes(), &3u32.to_be_bytes(), &pair, &pair, &pair].concat();
    let record = builder.add(tags::SDD, &record);
    let data = builder.add(tags::SD, &big(&[1, 2, 3, 4, 5, 6]));
    // Only the second dimension has a scale.
    let scales = builder.add(tags::SDS, &[&[0, 1][..], &big(&[10, 20, 30])].concat());
    let labels = builder.add(tags::SDL, b"speed\0north\0\0");
    let range = builder.add(tags::SDM, &big(&[9, -9]));
    let members =
        [(tags::SDD, record), (tags::SD, data), (tags::SDS, scales), (tags::SDL, labels), (tags::SDM, range)];
    let bytes: Vec<u8> =
        members.iter().flat_map(|member| [member.0.to_be_bytes(), member.1.to_be_bytes()].concat()).collect();
    builder.put(tags::NDG, 44, &bytes);
    let note = [&tags::NDG.to_be_bytes()[..], &44u16.to_be_bytes(), b"measured"].concat();
    builder.add(tags::DIA, &note);
    let file = open(builder.finish(16));
    let found = Datasets::read(&file).unwrap();
    assert_eq!(found.unreadable, []);
    let names: Vec<&[u8]> = found.vars.iter().map(|var| &*var.name).collect();
    // The first dimension has text and no scale, and so no variable.
    assert_eq!(names, [&b"fakeDim1"[..], b"Data-Set-44"]);
    assert_eq!(values(&file, &found.vars[0]), [10, 20, 30]);
    assert_eq!(values(&file, &found.vars[1]), [1, 2, 3, 4, 5, 6]);
    let attributes: Vec<(&[u8], &[u8])> =
        found.vars[1].attributes.iter().map(|attribute| (&*attribute.name, &*attribute.bytes)).collect();
    let (most, least) = (big(&[9]), big(&[-9]));
    assert_eq!(
        attributes,
        [
            (&b"valid_max"[..], &*most),
            (b"valid_min", &least),
            (b"remarks-1", b"measured"),
            (b"long_name", b"speed"),
        ]
    );
}

#[test]
fn a_damaged_dataset_hides_no_other() {
    let mut builder = Builder::default();
    let x = builder.dim("x", Some(1));
    let data = builder.add(tags::SD, &big(&[5]));
    let good = builder.dataset("good", &[x], INT16, Some(data), &[]);
    let vax = builder.dataset("vax", &[x], [1, 22, 16, 2], Some(data), &[]);
    builder.cdf(&[x], &[vax, good], &[]);
    let file = open(builder.finish(16));
    let found = Datasets::read(&file).unwrap();
    assert_eq!(values(&file, named(&found, "good")), [5]);
    assert_eq!((found.vars.len(), found.unreadable.len()), (1, 1));
    assert!(found.unreadable[0].to_string().contains("\"vax\""), "{}", found.unreadable[0]);
}
