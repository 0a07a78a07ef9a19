//! Handles by name: what they find, what they say of names and values that are wrong.

use ferrocdf::{Atomic, Code, CreateOptions, FileMut, Format, Result, Type, Value};

fn file() -> FileMut {
    let file = FileMut::in_memory(&CreateOptions::default()).unwrap();
    file.add_dimension("x", 3).unwrap();
    let inner = file.add_group("a").unwrap().add_group("b").unwrap();
    inner.add_dimension("y", 2).unwrap();
    inner.add_variable::<i32>("v", &["x", "y"]).unwrap();
    file
}

fn message<T>(result: Result<T>) -> (Code, String) {
    let error = result.err().expect("it is refused");
    (error.code, error.what.to_string())
}

#[test]
fn missing_names_are_told_with_those_of_their_group() {
    let file = file();
    let inner = file.group("/a/b").unwrap();
    assert_eq!((inner.path(), inner.parent().unwrap().name()), ("/a/b".to_string(), "a".to_string()));
    for (refused, code, words) in [
        (message(file.variable("/a/b/w")), Code::ENOTVAR, "no variable \"/a/b/w\"; there are: v"),
        (message(inner.variable("w")), Code::ENOTVAR, "/a/b: no variable \"w\"; there are: v"),
        (message(file.variable("v")), Code::ENOTVAR, "no variable \"v\"; there is none"),
        (
            message(file.variable("/c/v")),
            Code::ENOTVAR,
            "no variable \"/c/v\"; a group in this path does not exist",
        ),
        (message(file.group("a/c")), Code::ENOGRP, "no group \"a/c\"; there are: b"),
        (message(inner.dimension("z")), Code::EBADDIM, "no dimension \"z\"; there are: y, x"),
        (message(file.dimension("/a/b/x")), Code::EBADDIM, "no dimension \"/a/b/x\"; there are: y"),
        (message(inner.attribute("units")), Code::ENOTATT, "/a/b: no attribute \"units\""),
    ] {
        assert_eq!(refused.0, code, "{words}");
        assert!(refused.1.ends_with(words), "{} for {words}", refused.1);
    }
    assert_eq!(file.variable("a/b/v").unwrap().to_string(), "int /a/b/v(x, y)");
    assert_eq!(inner.dimension("x").unwrap().to_string(), "x = 3");
}

#[test]
fn a_variable_that_is_refused_is_not_left_half_defined() {
    let file = file();
    let build = |ty: Atomic| file.build_variable("w", ty, &["x"]);
    for (refused, code) in [
        (message(build(Atomic::Int).chunks(&[1, 1]).create()), Code::EBADCHUNK),
        (message(build(Atomic::Int).filter("no-such-filter,1").create()), Code::EINVAL),
        (message(build(Atomic::Int).filter("deflate,12").create()), Code::EINVAL),
        (message(build(Atomic::Int).contiguous().deflate(1).create()), Code::EINVAL),
        (message(build(Atomic::Int).fill_value(1.5f32).create()), Code::EBADTYPE),
        (message(build(Atomic::Int).quantize(ferrocdf::Quantization::BitRound, 3).create()), Code::EINVAL),
        (message(build(Atomic::Float).quantize(ferrocdf::Quantization::BitRound, 24).create()), Code::EINVAL),
    ] {
        assert_eq!(refused.0, code, "{}", refused.1);
        assert!(refused.1.contains("variable \"w\""), "{}", refused.1);
        assert!(file.variable("w").is_err(), "{}", refused.1);
    }
    build(Atomic::Int).chunks(&[2]).shuffle().deflate(3).fill_value(-1i32).create().unwrap();
    assert_eq!(file.variable("w").unwrap().get_values::<i32, _>(..).unwrap(), [-1; 3]);

    let classic = FileMut::in_memory(&CreateOptions::format(Format::CLASSIC)).unwrap();
    classic.add_dimension("x", 3).unwrap();
    let (code, words) = message(classic.build_variable("w", Atomic::Int, &["x"]).deflate(1).create());
    assert_eq!(code, Code::ENOTNC4);
    assert!(words.contains("netCDF-4 files do"), "{words}");
}

#[test]
fn values_of_user_defined_types_are_read_as_they_were_written() {
    let file = file();
    let point =
        file.add_compound_type("point", &[("x", Atomic::Byte.into()), ("y", Atomic::Double.into())]).unwrap();
    let fields: [(&str, Type, &[usize]); 3] =
        [("at", point, &[]), ("levels", Atomic::Short.into(), &[2, 2]), ("name", Atomic::String.into(), &[])];
    let outer = file.root_mut().add_compound_type_with_arrays("outer", &fields).unwrap();
    let outers = file.add_variable_of(outer, "outers", &[]).unwrap();
    let value = Value::Compound(vec![
        Value::Compound(vec![1i8.into(), 2.5.into()]),
        [1i16, 2, 3, 4].into(),
        Value::string("é"),
    ]);
    outers.put_user_values(std::slice::from_ref(&value), ..).unwrap();
    assert_eq!(outers.get_user_values(..).unwrap(), [value]);
    assert_eq!(message(outers.get_strings(..)).0, Code::EBADTYPE);
    assert_eq!(message(outers.put_user_values(&[], ..)).0, Code::EEDGE);
}
