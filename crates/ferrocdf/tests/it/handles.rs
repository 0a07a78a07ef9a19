//! Handles by name: what they find, what they say of names and values that are wrong.

use ferrocdf::{
    Atomic, Code, CreateOptions, Endian, ErrorKind, File, FileMut, Format, Quantization, Result, Type, Value,
    Values, errno,
};

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
        (
            message(inner.attribute::<String>("units")),
            Code::ENOTATT,
            "/a/b: no attribute \"units\"; there is none",
        ),
    ] {
        assert_eq!(refused.0, code, "{words}");
        assert!(refused.1.ends_with(words), "{} for {words}", refused.1);
    }
    assert_eq!(file.variable("a/b/v").unwrap().to_string(), "int /a/b/v(x, y)");
    assert_eq!(inner.dimension("x").unwrap().to_string(), "x = 3");
}

#[test]
fn error_of_too_few_extents_names_the_dimensions_of_the_variable() {
    let file = file();
    let inner = file.root_mut().group_mut("/a/b").unwrap();
    let words = "/a/b/v: 1 extent for a variable of 2 dimensions (\"x\", \"y\")";
    let variable = inner.variable_mut("v").unwrap();
    for (code, what) in
        [message(variable.get_values::<i32, _>(..1)), message(variable.put_values(&[1, 2], ..1))]
    {
        assert_eq!(code, Code::EINVALCOORDS);
        assert!(what.ends_with(words), "{what}");
    }
}

#[test]
fn a_variable_that_is_refused_is_not_left_half_defined() {
    let file = file();
    let build = |ty: Atomic| file.build_variable("w", ty, &["x"]);
    for (refused, code) in [
        (message(build(Atomic::Int).chunks(&[1, 1]).create()), Code::EBADCHUNK),
        (message(build(Atomic::Int).filter("no-such-filter,1").create()), Code::EINVAL),
        (message(build(Atomic::Int).filter("deflate,12").create()), Code::EFILTER),
        (message(build(Atomic::Int).contiguous().deflate(1).create()), Code::EINVAL),
        (message(build(Atomic::Int).fill_value(1.5f32).create()), Code::EBADTYPE),
        (message(build(Atomic::Int).quantize(Quantization::BitRound, 3).create()), Code::EINVAL),
        (message(build(Atomic::Float).quantize(Quantization::BitRound, 24).create()), Code::EINVAL),
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

#[test]
fn names_and_scopes_that_no_file_can_have_are_refused_at_once() {
    let file = file();
    let point = file.add_compound_type("point", &[("x", Atomic::Byte.into())]).unwrap();
    let group = file.group_mut("a").unwrap();
    group.add_variable::<i32>("w", &[]).unwrap();
    for (refused, code) in [
        (message(file.add_variable::<i32>("a", &[])), Code::ENAMEINUSE),
        (message(file.add_variable_of(point, "point", &[])), Code::ENAMEINUSE),
        (message(file.add_group("x")), Code::ENAMEINUSE),
        (message(file.add_opaque_type("x", 3)), Code::ENAMEINUSE),
        (message(file.add_dimension("a", 3)), Code::ENAMEINUSE),
        (message(file.rename_dimension("x", "point")), Code::ENAMEINUSE),
        (message(group.rename("x")), Code::ENAMEINUSE),
        (message(group.variable_mut("w").unwrap().rename("b")), Code::ENAMEINUSE),
        (message(file.add_variable::<i32>("v", &["/a/b/y"])), Code::EBADDIM),
        (message(file.put_attribute("_NCProperties", "x")), Code::ENAMEINUSE),
        (
            message(file.build_variable("n", Atomic::Int, &[]).attribute("DIMENSION_LIST", 1i32).create()),
            Code::ENAMEINUSE,
        ),
        (message(file.add_compound_type("n", &[])), Code::EINVAL),
        (message(file.add_compound_type("n", &[("a", point), ("a", point)])), Code::ENAMEINUSE),
        (message(file.add_compound_type_with_arrays("n", &[("a", point, &[usize::MAX, 4])])), Code::EINVAL),
        (message(file.add_enum_type("n", &[("a", 1i8), ("b", 1)])), Code::EINVAL),
        (message(file.add_enum_type("n", &[("a", 1i8), ("a", 2)])), Code::ENAMEINUSE),
        (message(file.add_opaque_type("n", 0)), Code::EINVAL),
        (message(file.build_variable("n", Atomic::Int, &["x"]).chunks(&[4]).create()), Code::EBADCHUNK),
        (message(file.build_variable("n", Atomic::Int, &["x"]).filter("").create()), Code::EINVAL),
    ] {
        assert_eq!(refused.0, code, "{}", refused.1);
    }
    file.sync().unwrap();
    let bytes = file.bytes().unwrap();
    assert_eq!(File::from_bytes(bytes).unwrap().variables().count(), 2);
}

#[test]
fn values_are_not_changed_to_fit_their_type() {
    let file = file();
    let point =
        file.add_compound_type("point", &[("x", Atomic::Byte.into()), ("s", Atomic::String.into())]).unwrap();
    let list = file.add_list_type("list", Atomic::Ubyte).unwrap();
    let bytes = file.add_opaque_type("bytes", 2).unwrap();
    let sky = file.add_enum_type("sky", &[("clear", 0i8), ("cloudy", 1)]).unwrap();
    for (ty, value, words) in [
        (
            point,
            Value::Compound(vec![300i32.into(), Value::string("")]),
            "field \"x\": int where byte is expected",
        ),
        (point, Value::Compound(vec![3i8.into(), "text".into()]), "`Value::string` makes one"),
        (point, Value::Compound(vec![3i8.into()]), "1 fields where the type has 2"),
        (list, Value::list([1.5f64]), "value 0: double where ubyte is expected"),
        (bytes, Value::Opaque(vec![1; 5]), "5 bytes where the type has 2"),
        (sky, Value::Enum(300), "300 is out of the range of byte"),
        (sky, Value::Opaque(vec![1]), "it is no value of the type sky"),
    ] {
        let name = format!("v{}", file.variables().count());
        let variable = file.add_variable_of(ty, &name, &[]).unwrap();
        let (code, what) = message(variable.put_user_values(&[value], ..));
        assert_eq!(code, Code::EBADTYPE, "{what}");
        assert!(what.contains(words), "{what}");
    }
    let number = file.add_variable::<i16>("number", &["x"]).unwrap();
    assert_eq!(message(number.put_text("abc", ..)).0, Code::EBADTYPE);
}

#[test]
fn a_write_beyond_what_a_variable_can_hold_leaves_its_length() {
    let file = file();
    file.add_unlimited_dimension("time").unwrap();
    let variable = file.add_variable::<i16>("grows", &["time", "x"]).unwrap();
    variable.put_values(&[1i16, 2, 3], (0, ..)).unwrap();
    assert_eq!(message(variable.put_value(1i16, [1u64 << 63, 0])).0, Code::EVARSIZE);
    assert_eq!(variable.get_values::<i16, _>(..).unwrap(), [1, 2, 3]);
    let letters = file.add_text_variable("letters", &["time"]).unwrap();
    letters.put_text("abcd", 1..).unwrap();
    assert_eq!(letters.get_text(1..).unwrap(), "abcd");
}

#[test]
fn attribute_that_cannot_be_read_is_an_error_and_not_a_missing_attribute() {
    let file = file();
    let variable = file.add_variable::<i32>("s", &[]).unwrap();
    variable.put_attribute("units", "kelvin").unwrap();
    // So many attributes are in a heap with a checksum.
    (0..12).for_each(|number| {
        variable.put_attribute(&format!("note{number}"), format!("damaged {number}")).unwrap()
    });
    file.sync().unwrap();
    let mut bytes = file.bytes().unwrap();
    let at = bytes.windows(10).position(|window| window == b"damaged 11").unwrap();
    bytes[at] ^= 1;
    let file = File::from_bytes(bytes).unwrap();
    let variable = file.variable("s").unwrap();
    let scale = variable.find_attribute::<f64>("scale_factor");
    for error in [scale.err(), variable.attributes().err()] {
        let error = error.expect("the attributes are damaged");
        assert_eq!((error.code, error.kind()), (Code::EATTMETA, ErrorKind::Corrupt), "{error}");
        assert_eq!(error.path(), Some("/s"), "{error}");
    }
    assert_eq!(file.find_attribute::<f64>("scale_factor"), Ok(None));
}

#[test]
fn errors_have_a_kind_a_path_and_a_source() {
    use std::error::Error as _;

    let file = file();
    let variable = file.variable_mut("/a/b/v").unwrap();
    variable.put_attribute("count", 300i32).unwrap();
    for (error, kind, path) in [
        (file.variable("w").err(), ErrorKind::NotFound, None),
        (file.group("a").unwrap().user_type("w").err(), ErrorKind::NotFound, Some("/a")),
        (file.add_dimension("x", 3).err(), ErrorKind::AlreadyExists, None),
        (variable.get_value::<i8, _>([5, 0]).err(), ErrorKind::OutOfBounds, Some("/a/b/v")),
        (variable.put_value(1e30f64, [0, 0]).err(), ErrorKind::OutOfRange, Some("/a/b/v")),
        (variable.put_text("no", ..).err(), ErrorKind::WrongType, Some("/a/b/v")),
        (variable.attribute::<u8>("count").err(), ErrorKind::OutOfRange, Some("/a/b/v")),
        (variable.attribute::<String>("count").err(), ErrorKind::WrongType, Some("/a/b/v")),
    ] {
        let error = error.expect("it is refused");
        assert_eq!((error.kind(), error.path()), (kind, path), "{error}");
        assert!(error.source().is_none());
    }
    let (_, what) = message(variable.get_value::<i8, _>([5, 0]));
    assert!(what.ends_with("/a/b/v: dimension \"x\": start 5 is outside its length 3"), "{what}");
    let error = ferrocdf::open("/no/such/file.nc").unwrap_err();
    assert_eq!((error.kind(), error.code), (ErrorKind::NotFound, errno::NOENT));
    assert!(error.source().is_some_and(|source| source.is::<std::io::Error>()));
}

#[test]
fn missing_attributes_types_and_removed_objects_are_told_with_those_that_there_are() {
    let mut file = file();
    file.add_opaque_type("bytes", 2).unwrap();
    file.put_attribute("title", "t").unwrap();
    for (refused, code, words) in [
        (
            message(file.attribute::<String>("titel")),
            Code::ENOTATT,
            "/: no attribute \"titel\"; there are: title",
        ),
        (
            message(file.remove_attribute("titel")),
            Code::ENOTATT,
            "/: no attribute \"titel\"; there are: title",
        ),
        (
            message(file.rename_attribute("titel", "name")),
            Code::ENOTATT,
            "/: no attribute \"titel\"; there are: title",
        ),
        (
            message(file.rename_attribute("title", "_NCProperties")),
            Code::ENAMEINUSE,
            "netCDF writes attributes of this name itself; choose another name",
        ),
        (message(file.user_type("byte")), Code::EBADTYPE, "no type \"byte\"; there are: bytes"),
        (message(file.remove_type("byte")), Code::EBADTYPE, "no type \"byte\"; there are: bytes"),
        (message(file.remove_variable("a/b/w")), Code::ENOTVAR, "no variable \"a/b/w\"; there are: v"),
        (message(file.remove_dimension("a/b/z")), Code::EBADDIM, "no dimension \"a/b/z\"; there are: y"),
        (message(file.remove_group("a/c")), Code::ENOGRP, "no group \"a/c\"; there are: b"),
    ] {
        assert_eq!(refused.0, code, "{words}");
        assert!(refused.1.ends_with(words), "{} for {words}", refused.1);
    }
}

#[test]
fn storage_of_a_variable_is_what_its_builder_said_before_and_after_the_file_is_opened_again() {
    let file = file();
    file.build_variable("w", Atomic::Float, &["x"])
        .chunks(&[2])
        .shuffle()
        .filter("zstd,3")
        .endian(Endian::Big)
        .fill_value(-1.0f32)
        .quantize(Quantization::BitGroom, 3)
        .create()
        .unwrap();
    let check = |file: &File| {
        let variable = file.variable("w").unwrap();
        let filters: Vec<String> = variable.filters().iter().map(ToString::to_string).collect();
        assert_eq!(variable.chunk_shape(), Some(vec![2]));
        assert_eq!((variable.endian(), variable.shard_shape()), (Some(Endian::Big), None));
        assert_eq!(filters[1], "Zstandard,3");
        assert!(filters[0].starts_with("shuffle"), "{filters:?}");
        assert_eq!(variable.fill_value(), Ok(Some(Values::from(-1.0f32))));
        let rounded = variable.quantize().unwrap().unwrap();
        assert_eq!((rounded.way, rounded.digits), (Quantization::BitGroom, 3));
        let plain = file.variable("/a/b/v").unwrap();
        assert_eq!((plain.chunk_shape(), plain.filters(), plain.quantize()), (None, vec![], Ok(None)));
    };
    check(&file);
    file.sync().unwrap();
    check(&File::from_bytes(file.bytes().unwrap()).unwrap());
}

#[test]
fn fill_value_cannot_change_once_a_variable_of_netcdf4_is_in_the_file() {
    let file = FileMut::in_memory(&CreateOptions::format(Format::NETCDF4)).unwrap();
    file.add_dimension("x", 3).unwrap();
    let variable = file.add_variable::<i32>("v", &["x"]).unwrap();
    variable.set_fill_value(-1i32).unwrap();
    variable.set_fill_value(-2i32).unwrap();
    file.commit().unwrap();
    let committed = variable.set_fill_value(-3i32);
    variable.put_value(7, [0]).unwrap();
    assert_eq!(variable.get_values::<i32, _>(..).unwrap()[1], -2);
    file.sync().unwrap();
    let file = FileMut::append_bytes(file.bytes().unwrap()).unwrap();
    let opened = file.variable_mut("v").unwrap().put_attribute("_FillValue", -4i32);
    for refused in [committed, opened] {
        let (code, what) = message(refused);
        assert_eq!(code, Code::ELATEFILL);
        assert!(what.contains("/v: it is in the file"), "{what}");
    }
}

#[test]
fn values_of_an_enumeration_are_read_and_written_by_their_names() {
    let file = file();
    let sky = file.add_enum_type("sky", &[("clear", 0i8), ("cloudy", 1)]).unwrap();
    assert_eq!(file.types().len(), 1);
    let (found, ty) = file.types().remove(0);
    assert_eq!(found, sky);
    assert_eq!(ty.class.member_name(1).map(ToString::to_string).as_deref(), Some("cloudy"));
    let skies = file.add_variable_of(sky, "skies", &["x"]).unwrap();
    skies.put_member_names(&["cloudy", "clear"], ..2).unwrap();
    skies.put_user_values(&[Value::Enum(7)], 2).unwrap();
    let names = skies.get_member_names(..).unwrap();
    assert_eq!(names.iter().map(Option::as_deref).collect::<Vec<_>>(), [Some("cloudy"), Some("clear"), None]);
    let (code, what) = message(skies.put_member_names(&["dark"], 0));
    assert_eq!(code, Code::EINVAL);
    assert!(what.ends_with("/skies: no member \"dark\"; there are: clear, cloudy"), "{what}");
    assert_eq!(message(file.variable("/a/b/v").unwrap().get_member_names(..)).0, Code::EBADTYPE);
}
