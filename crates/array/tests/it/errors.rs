//! Invalid requests and their error codes, and valid requests at the limits.

use ferrocdf_array::{
    Array, In, Kind, Layout, Out, PastEnd, RangeCheck, Selection, Stored, fill, read, write,
};
use ferrocdf_bytes::{Code, Error};
use ferrocdf_store::{MemoryBlob, testing::Counting};

fn array() -> Array {
    Array::contiguous(vec![3, 4], Stored::big(Kind::I16), 2).unwrap()
}

/// Returns the error of reading, writing and filling, after checking that it is the same for all three.
fn refused(array: &Array, sel: &Selection) -> Error {
    let blob = Counting::new(MemoryBlob::new(vec![0; 64]));
    let mut memory = vec![0i16; sel.elements().unwrap_or(0).min(1000) as usize];
    let error = read(&blob, array, sel, Out::new(&mut memory)).unwrap_err();
    assert_eq!(write(&blob, array, sel, In::new(&memory)).unwrap_err(), error);
    assert_eq!(fill(&blob, array, sel, &[0, 0]).unwrap_err(), error);
    assert_eq!((blob.reads().0, blob.writes().0), (0, 0));
    error
}

#[test]
fn selections_out_of_bounds_have_the_error_codes_of_the_reference() {
    // Start, count, stride; each pair of codes was taken from the reference.
    let cases: [(&str, Code, [[u64; 2]; 3]); 9] = [
        ("start 4", Code::EINVALCOORDS, [[4, 0], [0, 0], [1, 1]]),
        ("start 3", Code::EINVALCOORDS, [[3, 0], [1, 1], [1, 1]]),
        ("count 4", Code::EEDGE, [[0, 0], [4, 0], [1, 1]]),
        ("dimension 1: start 5", Code::EINVALCOORDS, [[0, 5], [4, 1], [1, 1]]),
        ("dimension 0", Code::EEDGE, [[0, 4], [4, 1], [1, 1]]),
        ("dimension 1: start 0, count 5", Code::EEDGE, [[0, 0], [3, 5], [1, 1]]),
        ("stride is 0", Code::ESTRIDE, [[0, 0], [2, 1], [0, 1]]),
        ("start 9", Code::EINVALCOORDS, [[9, 0], [2, 1], [0, 1]]),
        ("stride 2", Code::EEDGE, [[0, 0], [3, 1], [2, 1]]),
    ];
    for (text, code, [start, count, stride]) in cases {
        let error = refused(&array(), &Selection::strided(&start, &count, &stride));
        assert!(error.code == code && error.what.contains(text), "{text}: {error}");
    }
    let huge = Selection::strided(&[1, 0], &[u64::MAX, 1], &[u64::MAX, 1]);
    assert_eq!(refused(&array(), &huge).code, Code::EEDGE);
    assert_eq!(refused(&array(), &Selection::slab(&[0], &[1])).code, Code::EINVAL);
}

#[test]
fn empty_selections_touch_nothing() {
    let blob = Counting::new(MemoryBlob::default());
    for (start, count) in [([3, 4], [0, 0]), ([0, 4], [3, 0]), ([3, 0], [0, 4])] {
        let sel = Selection::slab(&start, &count);
        assert_eq!(read(&blob, &array(), &sel, Out::new::<f64>(&mut [])), Ok(RangeCheck::InRange));
        assert_eq!(write(&blob, &array(), &sel, In::new::<f64>(&[])), Ok(RangeCheck::InRange));
        fill(&blob, &array(), &sel, &[1, 2]).unwrap();
    }
    assert_eq!((blob.reads(), blob.writes()), ((0, 0), (0, 0)));
}

#[test]
fn memory_of_another_size_than_the_selection_is_an_error() {
    let blob = MemoryBlob::new(vec![0; 64]);
    let sel = Selection::all(&[3, 4]);
    for len in [11, 13] {
        let mut memory = vec![0i32; len];
        assert_eq!(read(&blob, &array(), &sel, Out::new(&mut memory)).unwrap_err().code, Code::EINVAL);
        assert_eq!(write(&blob, &array(), &sel, In::new(&memory)).unwrap_err().code, Code::EINVAL);
    }
    let far = isize::MAX;
    for (origin, steps) in [
        (0, &[4, 1, 1][..]),
        (1, &[4, 1]),
        (0, &[-4, 1]),
        (7, &[-4, 1]),
        (12, &[0, 0]),
        (0, &[far, far]),
        (0, &[-far, far]),
    ] {
        let mut memory = [0i32; 12];
        let out = Out::new(&mut memory).mapped(origin, steps);
        assert_eq!(read(&blob, &array(), &sel, out).unwrap_err().code, Code::EINVAL, "{origin} {steps:?}");
        let input = In::new(&memory).mapped(origin, steps);
        assert_eq!(write(&blob, &array(), &sel, input).unwrap_err().code, Code::EINVAL, "{origin} {steps:?}");
    }
    assert_eq!(fill(&blob, &array(), &sel, &[0; 4]).unwrap_err().code, Code::EINVAL);
}

#[test]
fn reading_text_as_numbers_is_an_error() {
    let blob = MemoryBlob::new(vec![0; 64]);
    let sel = Selection::all(&[3, 4]);
    let mut text = [b'a'; 12];
    assert_eq!(read(&blob, &array(), &sel, Out::text(&mut text)).unwrap_err().code, Code::ECHAR);
    assert_eq!(write(&blob, &array(), &sel, In::text(&text)).unwrap_err().code, Code::ECHAR);
    let chars = Array { stored: Stored::big(Kind::Char), ..array() };
    assert_eq!(read(&blob, &chars, &sel, Out::new(&mut text)).unwrap_err().code, Code::ECHAR);
}

#[test]
fn positions_beyond_64_bits_are_an_error() {
    let array = |begin, steps: [u64; 2]| Array {
        shape: vec![1 << 40, 1 << 20],
        layout: Layout::Strided { begin, strides: steps.to_vec() },
        ..array()
    };
    let sel = Selection::strided(&[(1 << 40) - 1, 0], &[1, 3], &[1, 1 << 18]);
    let cases = [(u64::MAX, [0, 0]), (0, [1 << 25, 2]), (u64::MAX - 5, [0, 2]), (0, [0, 1 << 60])];
    for (begin, steps) in cases {
        assert_eq!(refused(&array(begin, steps), &sel).code, Code::EVARSIZE, "{begin} {steps:?}");
    }
    let too_many = Array::contiguous(vec![1 << 40, 1 << 40], Stored::big(Kind::I16), 0);
    assert_eq!(too_many.unwrap_err().code, Code::EVARSIZE);
    let wrong_rank = Array { layout: Layout::Strided { begin: 0, strides: vec![2] }, ..self::array() };
    assert_eq!(refused(&wrong_rank, &Selection::all(&[3, 4])).code, Code::EINVAL);
}

#[test]
fn writing_inline_data_is_an_error() {
    let array = Array::inline(vec![2], Stored::big(Kind::I16), [1, 2, 3, 4]);
    let (blob, sel) = (MemoryBlob::default(), Selection::all(&[2]));
    assert_eq!(write(&blob, &array, &sel, In::new(&[1i16, 2])).unwrap_err().code, Code::EPERM);
    assert_eq!(fill(&blob, &array, &sel, &[1, 2]).unwrap_err().code, Code::EPERM);
}

#[test]
fn reads_past_the_end_are_zeros_or_an_error() {
    let zero = array();
    let error = Array { past_end: PastEnd::Error, ..array() };
    let blob = MemoryBlob::new(vec![1; 5]);
    let sel = Selection::slab(&[0, 0], &[1, 3]);
    let mut memory = [9i16; 3];
    assert_eq!(read(&blob, &zero, &sel, Out::new(&mut memory)), Ok(RangeCheck::InRange));
    assert_eq!(memory, [0x101, 0x100, 0]);
    let refused = read(&blob, &error, &sel, Out::new(&mut memory)).unwrap_err();
    assert_eq!(refused.code, Code::ETRUNC);
}
