//! Virtual datasets.

use super::{dataset, expected, numbers, open, read_bytes, read_numbers};

const FILES: [&str; 2] = ["virtual_old.h5", "virtual_new.h5"];

/// What is in `fixed`.
fn fixed() -> Vec<f64> {
    let source = expected(&[4, 5]);
    let mut wanted = source.clone();
    wanted.extend(expected(&[5]));
    // The file is not there.
    wanted.extend([9.0; 5]);
    wanted.extend([source[6], 9.0, source[7], 9.0, source[8]]);
    wanted
}

#[test]
fn parts_of_other_datasets() {
    for name in FILES {
        let file = open(name);
        assert_eq!(read_numbers(&file, "fixed"), fixed(), "{name}");
        let bytes: Vec<u8> = fixed().iter().flat_map(|&value| (value as u16).to_le_bytes()).collect();
        assert_eq!(read_bytes(&dataset(&file, "fixed")).unwrap(), bytes, "{name}");
        // Numbers of another type are converted; as bytes they would mean something else.
        assert_eq!(read_numbers(&file, "converted"), [1.0, 2.0, 3.0]);
        let error = read_bytes(&dataset(&file, "converted")).unwrap_err();
        assert!(error.what.contains("another type"), "{error}");
    }
}

#[test]
fn shapes_follow_the_sources() {
    for name in FILES {
        let file = open(name);
        let grown = dataset(&file, "grown");
        assert_eq!((grown.dataspace().dims.as_slice(), grown.shape().unwrap()), (&[2, 3][..], vec![6, 3]));
        assert_eq!(read_numbers(&file, "grown"), expected(&[6, 3]));
        // Three files of two rows, a row of nothing before each.
        assert_eq!(dataset(&file, "numbered").shape().unwrap(), [9, 3]);
        let part = expected(&[2, 3]);
        let block =
            |n: u32| [vec![8.0; 3], part.iter().map(|value| value + f64::from(100 * n)).collect()].concat();
        assert_eq!(read_numbers(&file, "numbered"), [block(0), block(1), block(2)].concat());
    }
}

#[test]
fn sources_may_be_virtual() {
    for name in FILES {
        assert_eq!(read_numbers(&open(name), "second"), fixed()[15..25]);
    }
}

#[test]
fn a_circle_is_an_error() {
    let file = open("loop.h5");
    let error = dataset(&file, "loop").array().and_then(|placed| numbers(&placed)).unwrap_err();
    assert!(error.what.contains("of itself"), "{error}");
}

#[test]
fn few_datasets_on_many_paths() {
    let file = open("paths.h5");
    let read = |name: &str| dataset(&file, name).array().and_then(|placed| numbers(&placed));
    assert_eq!(read("12a"), Ok(vec![5.0]));
    // 2^6 paths lead from here to the end, 2^12 from the top.
    assert_eq!(read("6b"), Ok(vec![5.0]));
    let start = std::time::Instant::now();
    let error = read("0a").unwrap_err();
    assert!(error.what.contains("in too many ways"), "{error}");
    assert!(start.elapsed() < std::time::Duration::from_secs(4), "{:?}", start.elapsed());
}
