//! Rasters that are damaged, share bytes, or lie in chunks that are no rectangles.

use std::time::{Duration, Instant};

use ferrocdf_hdf4::sd::Rasters;
use ferrocdf_hdf4::tags;

use crate::build::{Builder, INT16, SPECIAL};
use crate::hostile::read_all;
use crate::{big, values};

/// A description of a raster: "DFTAG_ID".
fn description(rows: u32, columns: u32, number: u16, coder: u16) -> Vec<u8> {
    let wide = [columns, rows].map(u32::to_be_bytes).concat();
    let narrow = [tags::NT, number, 1, 0, coder, 0].map(u16::to_be_bytes).concat();
    [wide, narrow].concat()
}

/// A chunked raster of 2 rows and 3 columns with an attribute, whose chunks divide an array of 3 times 2, and one with run lengths.
fn sample() -> Vec<u8> {
    let mut builder = Builder::default();
    let number = builder.add(tags::NT, &INT16);
    let shape = builder.add(tags::ID, &description(2, 3, number, 0));
    let chunks = [(vec![0, 0], big(&[1, 2, 3, 4])), (vec![1, 0], big(&[5, 6, 0, 0]))];
    let chunked = builder.chunked(&[3, 2], &[2, 2], None, &chunks);
    let header = builder.bytes(tags::SD | SPECIAL, chunked).to_vec();
    builder.replace(tags::SD | SPECIAL, chunked, tags::RI | SPECIAL, &header);
    let unit = builder.vdata("RIATTR0.0N", "RIATTR0.0C", &[("unit", 4, 1, 1)], b"K");
    let members = [(tags::ID, shape), (tags::RI, chunked), (tags::VH, unit)];
    let raster = builder.vgroup("chunked", "RI0.0", &members);
    builder.vgroup("RIG0.0", "RIG0.0", &[(tags::VG, raster)]);
    let shape = builder.add(tags::ID, &description(4, 4, 0, tags::RLE));
    let data = builder.add(tags::CI, &[0x90, 7]);
    let group = [tags::ID, shape, tags::CI, data].map(u16::to_be_bytes).concat();
    builder.add(tags::RIG, &group);
    // The oldest interface sees it too.
    builder.put_alias(tags::CI, data, tags::CI8);
    builder.put(tags::ID8, data, &[0, 4, 0, 4]);
    builder.finish(8)
}

#[test]
fn chunks_of_a_raster_divide_its_bytes_and_not_its_rows() {
    let file = crate::open(sample());
    let found = Rasters::read(&file);
    let rasters: Vec<_> = found.rasters.into_iter().map(Result::unwrap).collect();
    assert_eq!(rasters.len(), 2);
    assert_eq!((&rasters[0].var.name[..], rasters[0].attributes.len()), (&b"chunked"[..], 1));
    assert_eq!(values(&file, &rasters[0].var), [1, 2, 3, 4, 5, 6]);
    assert_eq!(values(&file, &rasters[1].var), [7; 16]);
    assert!(rasters[0].var.arrangement(&file).unwrap().chunk.is_none(), "they are no chunks of netCDF");
}

#[test]
fn a_raster_that_was_never_written_is_one_and_each_component_has_its_fill_value() {
    let mut builder = Builder::default();
    let number = builder.add(tags::NT, &INT16);
    // Two components.
    let mut description = description(2, 2, number, 0);
    description[13] = 2;
    let shape = builder.add(tags::ID, &description);
    let data = builder.reference();
    builder.put_unwritten(tags::RI, data);
    let fill = builder.vdata("RIATTR0.0N", "RIATTR0.0C", &[("FillValue", 22, 2, 2)], &big(&[7, 8]));
    let members = [(tags::ID, shape), (tags::RI, data), (tags::VH, fill)];
    let raster = builder.vgroup("empty", "RI0.0", &members);
    builder.vgroup("RIG0.0", "RIG0.0", &[(tags::VG, raster)]);
    builder.add(tags::RIG, &[tags::ID, shape, tags::RI, 0].map(u16::to_be_bytes).concat());
    let file = crate::open(builder.finish(100));
    let rasters: Vec<_> = Rasters::read(&file).rasters.into_iter().map(Result::unwrap).collect();
    assert_eq!(rasters.iter().map(|raster| &raster.var.name[..]).collect::<Vec<_>>(), [b"empty"]);
    assert_eq!(values(&file, &rasters[0].var), [7, 8, 7, 8, 7, 8, 7, 8]);
}

#[test]
fn every_damaged_byte_of_a_raster_ends_in_an_error_or_in_values() {
    let sample = sample();
    for at in 0..sample.len() {
        for value in [0x00, 0x7f, 0xff, sample[at] ^ 0x01] {
            let mut bytes = sample.clone();
            bytes[at] = value;
            let one = Instant::now();
            read_all(bytes);
            assert!(one.elapsed() < Duration::from_secs(2), "byte {at} as {value}");
        }
        read_all(sample[..at].to_vec());
    }
}

#[test]
fn many_rasters_that_share_an_attribute_have_it_as_often_as_the_file_is_large() {
    let mut builder = Builder::default();
    let shape = builder.add(tags::ID, &description(1, 1, 0, 0));
    let attribute = builder.vdata("RIATTR0.0N", "RIATTR0.0C", &[("long", 20, 1, 1)], &[0; 500_000]);
    for _ in 0..3000 {
        let copy = builder.reference();
        builder.put(tags::RI, copy, &[1]);
        let members = [(tags::ID, shape), (tags::RI, copy), (tags::VH, attribute)];
        builder.vgroup("one", "RI0.0", &members);
    }
    let file = crate::open(builder.finish(10_000));
    let start = Instant::now();
    let found = Rasters::read(&file).rasters;
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    let with_it = found.iter().flatten().filter(|raster| !raster.attributes.is_empty()).count();
    assert!(found.len() == 3000 && with_it < 100, "{with_it} of {}", found.len());
}
