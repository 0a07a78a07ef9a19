//! Data sections.

use ferrocdf_model::{Atomic, Format, Values};

use super::parse::{read, read_as};

const FILL: i32 = -2147483647;

#[test]
fn short_data_is_filled_and_records_are_counted() {
    let read = read(
        "netcdf a { dimensions: x = 3; t = UNLIMITED; variables: int v(t, x), w(t), none(t); float q(x);
           q:_FillValue = 3.5f; int s; data: v = 1, 2, 3, 4; w = 5, _; q = _, 1; s = ; }",
    );
    assert_eq!(read.values("/v"), &Values::from([1, 2, 3, 4, FILL, FILL]));
    assert_eq!(read.values("/w"), &Values::from([5, FILL]));
    assert_eq!(read.values("/q"), &Values::from([3.5f32, 1., 3.5]));
    assert_eq!(read.values("/s"), &Values::from(FILL));
    assert_eq!(read.model().dims()[1].len, 2);
    assert!(!read.data.contains_key(&read.var("/none").0));
}

#[test]
fn every_kind_of_constant_becomes_a_number() {
    let read = read(
        "netcdf a { dimensions: x = 8; y = 6; variables: byte b(x); int i(x); double d(y); data:
           b = 300, 3.9, -3.9, 1e30, \"12\", NaN, 'A', -1s; i = 3000000000, 010, 0x10, 1e30, '\\n', 5L, -0, +7;
           d = 1.f, .5, NaNf, -Infinityf, 010, 1e-3d; }",
    );
    assert_eq!(read.values("/b"), &Values::from([44i8, 3, -3, 0, 12, 0, 65, -1]));
    assert_eq!(read.values("/i"), &Values::from([-1294967296, 8, 16, i32::MIN, 10, 5, 0, 7]));
    let Values::Double(d) = read.values("/d") else { panic!() };
    assert_eq!((d[0], d[1], d[3], d[4], d[5]), (1., 0.5, f64::NEG_INFINITY, 8., 1e-3));
    assert!(d[2].is_nan());
}

#[test]
fn text_is_padded_as_the_last_dimension_asks() {
    let read = read(
        "netcdf a { dimensions: n = 3; m = 4; t = UNLIMITED; variables: char a(n), b(n, m), c(t, m), d(t), e, f(n, m),
           g(n, m), l(n, m); f:_FillValue = \"-\"; data: a = \"ab\"; b = \"ab\", \"cdefg\"; c = \"a\", \"b\", \"c\";
           d = \"he\", \"l\"; e = \"xyz\"; f = {\"ab\"}, {\"cd\"}; g = 'a', 'b', \"c\"; l = \"a\\n\", \"b\", \"c\", \"d\"; }",
    );
    assert_eq!(read.values("/a"), &Values::from("ab\0"));
    assert_eq!(read.values("/b"), &Values::from("ab\0\0cdefg\0\0\0"));
    assert_eq!(read.values("/c"), &Values::from("a\0\0\0b\0\0\0c\0\0\0"));
    assert_eq!(read.values("/d"), &Values::from("hel"));
    assert_eq!(read.values("/e"), &Values::from("x"));
    assert_eq!(read.values("/f"), &Values::from("ab--cd------"));
    assert_eq!(read.values("/g"), &Values::from("ab\0\0c\0\0\0\0\0\0\0"));
    // Four texts are too much for three rows; a line end is where the first was taken apart.
    assert_eq!(read.values("/l"), &Values::from("a\nb\0c\0\0\0d\0\0\0"));
    assert_eq!(read.model().dims()[2].len, 3);
}

#[test]
fn data_given_twice_is_what_was_said_last() {
    let read = read(
        "netcdf a { dimensions: t = UNLIMITED; variables: int v(t), w; data: v = 1, 2, 3; w = 1; v = 4; w = 2; }",
    );
    assert_eq!((read.values("/v"), read.values("/w")), (&Values::from([4, FILL, FILL]), &Values::from(2)));
}

#[test]
fn too_much_is_cut_and_told() {
    let text =
        "netcdf a { dimensions: x = 2; variables: int v(x); char c(x); data: v = 1, 2, 3; c = \"abc\", 5; }";
    let (read, outcome) = read_as(text.as_bytes(), None);
    assert!(outcome.is_ok());
    assert_eq!((read.values("/v"), read.values("/c")), (&Values::from([1, 2]), &Values::from("ab")));
    let messages = [
        "ncgen: t.cdl line 1: data list too long; expected 2 values, found 3",
        "ncgen: t.cdl line 1: Encountered non-string and non-char constant in datalist; ignored",
        "ncgen: t.cdl line 1: character data list too long; expected 2 character constant, found 3: ",
    ];
    assert_eq!(read.messages, messages);
}

#[test]
fn several_unlimited_dimensions() {
    let read = read(
        "netcdf a { dimensions: e = 3; u = UNLIMITED; w = UNLIMITED; :_Format = \"nc4\";
         variables: int v(u, w), x(e, u); char c(u, w); string s(u);
         data: v = {1, 2}, {3, 4, 5}; x = {1, 2, 3}, {4}, {5, 6}; c = {\"ab\"}, {\"c\"}; s = \"a\", NIL; }",
    );
    assert_eq!(read.model().dims().iter().map(|dim| dim.len).collect::<Vec<_>>(), [3, 3, 3]);
    assert_eq!(read.values("/v"), &Values::from([1, 2, FILL, 3, 4, 5, FILL, FILL, FILL]));
    assert_eq!(read.values("/x"), &Values::from([1, 2, 3, 4, FILL, FILL, 5, 6, FILL]));
    assert_eq!(read.values("/c"), &Values::from("ab\0c\0\0\0\0\0"));
    assert_eq!(read.values("/s"), &Values::String(vec![Some(b"a".to_vec()), None, Some(vec![])]));
}

#[test]
fn long_data_comes_in_pieces_after_the_definitions() {
    let count = 6_000_000usize;
    let mut text = format!(
        "netcdf a {{ dimensions: t = UNLIMITED; x = {count}; variables: float v(x); short w(t);\ndata: v = "
    );
    for n in 0..count {
        text.push_str(&format!("{}{}.5", if n == 0 { "" } else { ",\n" }, n % 1000));
    }
    text.push_str(";\nw = 1, 2, NaN; }");
    let read = read(&text);
    let Values::Float(v) = read.values("/v") else { panic!() };
    assert_eq!(v.len(), count);
    assert!(v.iter().enumerate().all(|(n, &value)| value == (n % 1000) as f32 + 0.5));
    assert_eq!(read.values("/w"), &Values::from([1i16, 2, 0]));
    assert_eq!(read.defined, 1);
    // The length of the record dimension was not known when the definitions were told.
    assert_eq!(read.model().dims()[0].len, 0);

    // With a group behind so much data, the format that was told is the wrong one.
    let text = text.replacen("w = 1, 2, NaN; }", "group: g { } }", 1);
    let (_, outcome) = read_as(text.as_bytes(), None);
    assert_eq!(outcome.unwrap_err(), ferrocdf_cdl::parse::ParseFailure::EnhancedAfterData);
    let (read, outcome) = read_as(text.as_bytes(), Some(Format::NETCDF4));
    assert!(outcome.is_ok());
    assert_eq!((read.defined, read.model().groups().len()), (2, 2));

    // Groups behind it have data of their own, of all kinds.
    let group = |name: &str| {
        format!(
            "group: {name} {{ types: compound c {{ int a; }}; dimensions: u = UNLIMITED; s = UNLIMITED;
             variables: int n(u); c k(u); int m(u, s); data: n = 1, 2; k = {{3}}, {{4}}, {{5}}; m = {{6, 7}}, {{8}}; }}"
        )
    };
    let text = text.replacen("group: g { } }", &format!("w = 1, 2, 3; {} {} }}", group("g"), group("h")), 1);
    let (read, outcome) = read_as(text.as_bytes(), Some(Format::NETCDF4));
    assert!(outcome.is_ok(), "{outcome:?} {:?}", read.messages);
    for name in ["g", "h"] {
        assert_eq!(read.values(&format!("/{name}/n")), &Values::from([1, 2, FILL]));
        assert_eq!(read.values(&format!("/{name}/k")).len(), 3);
        assert_eq!(read.values(&format!("/{name}/m")), &Values::from([6, 7, 8, FILL, FILL, FILL]));
    }
}

#[test]
fn int64_is_cut_only_where_it_must_be() {
    let text = b"netcdf a { variables: int64 v; data: v = -9999999999; }";
    for (format, values) in [
        (Format::CLASSIC, Values::from(-1410065407)),
        (Format::DATA64, Values::from(-9999999999i64)),
        (Format::NETCDF4, Values::from(-9999999999i64)),
    ] {
        let (read, outcome) = read_as(text, Some(format));
        match outcome {
            Ok(_) => assert_eq!(read.values("/v"), &values),
            Err(_) => {
                // What does not fit is refused where classic files were asked for.
                assert_eq!((format, values.atomic()), (Format::CLASSIC, Some(Atomic::Int)));
            }
        }
    }
}
