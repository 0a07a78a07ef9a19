//! Compressed datasets without chunks whose data is shorter or longer than the dataset, as the library reads them.

use ferrocdf_array::{Coverage, Selection, coverage, unwritten_value};
use ferrocdf_bytes::{Code, Result};
use ferrocdf_hdf4::sd::{Datasets, Var};
use ferrocdf_hdf4::{File, tags};

use crate::build::{Builder, INT16, SPECIAL, compressed};
use crate::decoded::{Coder, coders, encode};
use crate::{big, named, open, selected, values};

/// The rows and columns of a dataset, and of the data that its coder has.
const SHAPE: [u64; 2] = [6, 4];

fn numbers() -> Vec<i16> {
    (0..24).map(|number| (100 + number) << 5).collect()
}

/// A file with a dataset of 24 numbers whose header says another number of bytes.
fn file(coder: &Coder, len: u32) -> (File, Var) {
    let mut builder = Builder::default();
    let dims = SHAPE.map(|len| builder.dim(&format!("d{len}"), Some(len as u32)));
    let stored = builder.add(tags::COMPRESSED, &encode(coder, &big(&numbers())));
    let data = compressed(len, stored, &coder.header);
    let data = builder.add(tags::SD | SPECIAL, &data);
    let var = builder.dataset("v", &dims, INT16, Some(data), &[]);
    builder.cdf(&dims, &[var], &[]);
    let file = open(builder.finish(100));
    let var = named(&Datasets::read(&file).unwrap(), "v").clone();
    (file, var)
}

fn rows(file: &File, var: &Var, first: u64, count: u64) -> Result<Vec<i16>> {
    let located = var.locate(file, SHAPE.to_vec())?;
    selected(file, &located, &Selection::slab(&[first, 0], &[count, 4]))
}

/// The coders whose streams have no planes, whose place depends on the length.
fn coders_of_one_plane() -> Vec<Coder> {
    coders().into_iter().filter(|coder| coder.name != "szip in planes").collect()
}

#[test]
fn elements_behind_the_end_of_short_data_are_an_error() {
    for coder in coders_of_one_plane() {
        // Two rows, and two rows and a half.
        for len in [16, 20] {
            let (file, var) = file(&coder, len);
            let read = |first, count| rows(&file, &var, first, count);
            assert_eq!(read(0, 2).unwrap(), numbers()[..8], "{}", coder.name);
            assert_eq!(read(1, 1).unwrap(), numbers()[4..8]);
            for (first, count) in [(2, 1), (1, 2), (0, 6), (5, 1)] {
                let error = read(first, count).unwrap_err();
                assert_eq!(error.code, Code::EHDFERR);
                assert!(
                    error.to_string().contains(&format!("{len} of the 48 bytes of the dataset")),
                    "{error}"
                );
                assert!(error.to_string().contains("element 702/"), "{error}");
            }
            let located = var.locate(&file, SHAPE.to_vec()).unwrap();
            let half = selected(&file, &located, &Selection::slab(&[2, 0], &[1, 2]));
            assert_eq!(half.ok(), (len == 20).then(|| numbers()[8..10].to_vec()), "{}", coder.name);
        }
    }
}

#[test]
fn data_of_no_bytes_has_the_fill_value() {
    for coder in coders() {
        let (file, var) = file(&coder, 0);
        assert_eq!(values(&file, &var), [-32767; 24]);
    }
}

#[test]
fn data_that_says_that_it_is_longer_is_read_as_far_as_the_dataset_goes() {
    for coder in coders_of_one_plane() {
        let (file, var) = file(&coder, 64);
        assert_eq!(values(&file, &var), numbers(), "{}", coder.name);
        assert_eq!(rows(&file, &var, 5, 1).unwrap(), numbers()[20..]);
    }
}

#[test]
fn planes_of_another_length_are_an_error() {
    let coder = coders().pop().unwrap();
    let (file, var) = file(&coder, 64);
    assert!(rows(&file, &var, 0, 6).is_err());
}

#[test]
fn compressed_data_behind_the_end_of_the_file_is_not_taken_for_unwritten() {
    let mut builder = Builder::default();
    let dims = [builder.dim("x", Some(2))];
    let data = builder.reference();
    let header = compressed(4, data, &coders()[0].header);
    let header = builder.add(tags::SD | SPECIAL, &header);
    let var = builder.dataset("v", &dims, INT16, Some(header), &[]);
    builder.cdf(&dims, &[var], &[]);
    builder.put(tags::COMPRESSED, data, &[0; 12]);
    let mut bytes = builder.finish(100);
    bytes.truncate(bytes.len() - 12);
    let file = open(bytes);
    let found = Datasets::read(&file).unwrap();
    assert_eq!(found.unreadable, []);
    let located = named(&found, "v").locate(&file, vec![2]).unwrap();
    let error = selected(&file, &located, &Selection::all(&[2])).unwrap_err();
    assert_eq!(error.code, Code::ETRUNC, "{error}");
}

#[test]
fn listed_chunks_without_bytes_do_not_count_as_stored() {
    for compression in [None, Some(&coders()[0])] {
        let mut builder = Builder::default();
        let dims = SHAPE.map(|len| builder.dim(&format!("d{len}"), Some(len as u32)));
        let bytes = big(&numbers()[..8]);
        let bytes = compression.map_or(bytes.clone(), |coder| encode(coder, &bytes));
        let chunks = [(vec![0, 0], bytes), (vec![1, 0], vec![])];
        let header = compression.map(|coder| &coder.header[..]);
        let data = builder.chunked(&[6, 4], &[2, 4], header, &chunks);
        let var = builder.dataset("v", &dims, INT16, Some(data), &[]);
        builder.cdf(&dims, &[var], &[]);
        let file = open(builder.finish(100));
        let var = named(&Datasets::read(&file).unwrap(), "v").clone();
        let array = var.locate(&file, SHAPE.to_vec()).unwrap().array;
        let fill = unwritten_value(&array).unwrap().unwrap();
        let covered = |first, count| {
            coverage(&array, &Selection::slab(&[first, 0], &[count, 4]), (array.stored.kind, &fill)).unwrap()
        };
        let found = [covered(0, 2), covered(2, 2), covered(2, 4), covered(0, 4)];
        assert_eq!(found, [Coverage::Whole, Coverage::Nothing, Coverage::Nothing, Coverage::Part]);
    }
}
