//! What is refused changes nothing, and what was never written reads as fill values wherever it goes.

use ferrocdf::{Code, CreateOptions, File, FileMut, Format, GroupId, copy_data};

const FILL: i32 = -2147483647;

fn file() -> FileMut {
    let file = FileMut::in_memory(&CreateOptions::format(Format::CLASSIC)).unwrap();
    file.add_unlimited_dimension("time").unwrap();
    file.add_dimension("x", 3).unwrap();
    file.add_variable::<i32>("fixed", &["x"]).unwrap();
    file.add_variable::<i32>("v", &["time", "x"]).unwrap();
    file.add_variable::<i32>("w", &["time", "x"]).unwrap();
    file
}

#[test]
fn a_put_of_the_wrong_length_changes_nothing() {
    let file = file();
    let v = file.variable_mut("v").unwrap();
    let error = v.put_values(&[1i32, 2], (5..10, ..)).unwrap_err();
    assert_eq!(error.code, Code::EEDGE);
    assert!(error.what.contains("2 values for a selection of 15 elements"), "{error}");
    assert_eq!(file.dimension("time").unwrap().len(), 0);
    let fixed = file.variable_mut("fixed").unwrap();
    assert_eq!(fixed.put_values(&[1i32, 2], ..).unwrap_err().code, Code::EEDGE);
    assert_eq!(fixed.get_values::<i32, _>(..).unwrap(), [FILL; 3]);
}

#[test]
fn a_fill_value_must_be_of_the_variables_type() {
    let file = file();
    let v = file.variable_mut("v").unwrap();
    assert_eq!(v.set_fill_value(1.5f32).unwrap_err().code, Code::EBADTYPE);
    v.set_fill_value(7i32).unwrap();
    v.put_value(1, [1, 1]).unwrap();
    assert_eq!(v.get_values::<i32, _>(..).unwrap(), [7, 7, 7, 7, 1, 7]);
}

#[test]
fn a_copy_holds_the_fill_values_of_what_was_never_written() {
    let (source, target) = (file(), file());
    source.variable_mut("w").unwrap().put_values(&[1i32, 2, 3], (0, ..)).unwrap();
    let pairs: Vec<_> = source.model().var_ids().map(|var| (var, var)).collect();
    target.set_no_fill(true).unwrap();
    copy_data(&source, &target, &pairs, 1 << 20, &mut |_| ()).unwrap();
    let read = |name: &str| target.variable(name).unwrap().get_values::<i32, _>(..).unwrap();
    assert_eq!((read("fixed"), read("v"), read("w")), (vec![FILL; 3], vec![FILL; 3], vec![1, 2, 3]));
}

#[test]
fn copies_in_both_directions_at_once_end() {
    let (a, b) = (file(), file());
    let pairs: Vec<_> = a.model().var_ids().map(|var| (var, var)).collect();
    std::thread::scope(|scope| {
        for (from, to) in [(&a, &b), (&b, &a)] {
            let pairs = &pairs;
            scope.spawn(move || {
                for _ in 0..300 {
                    copy_data(from, to, pairs, 1 << 20, &mut |_| ()).unwrap();
                }
            });
        }
    });
}

#[cfg(feature = "ndarray")]
#[test]
fn an_array_of_another_shape_is_refused() {
    let file = file();
    let v = file.variable_mut("v").unwrap();
    let array = ndarray::Array2::<i32>::zeros((3, 2));
    assert_eq!(v.put(&array, (0..2, ..)).unwrap_err().code, Code::EEDGE);
    v.put(&array.t(), (0..2, ..)).unwrap();
    assert_eq!(v.shape(), [2, 3]);
}

#[test]
fn records_that_are_made_without_data_hold_fill_values() {
    let file = file();
    let v = file.look(|model| model.find_var(GroupId::ROOT, b"v")).unwrap();
    file.grow(v, 2).unwrap();
    file.grow(v, 1).unwrap();
    assert_eq!(file.dimension("time").unwrap().len(), 2);
    let fixed = file.look(|model| model.find_var(GroupId::ROOT, b"fixed")).unwrap();
    file.grow(fixed, 9).unwrap();
    let file = File::from_bytes(file.into_bytes().unwrap().unwrap()).unwrap();
    assert_eq!(file.variable("w").unwrap().get_values::<i32, _>(..).unwrap(), [FILL; 6]);
    assert_eq!(file.variable("fixed").unwrap().get_values::<i32, _>(..).unwrap(), [FILL; 3]);
}
