//! What the reference prints otherwise, and why this does not follow it; and cases that files rarely show.

use ferrocdf_cdl::print::{Indices, PrintFailure, PrintOptions, print_cdl};
use ferrocdf_model::{Atomic, Chunking, Endian, Filter, Format, GroupId, Model, Name, Owner, Values, VarId};

use crate::memory::Memory;

const ROOT: GroupId = GroupId::ROOT;

/// A dataset with one variable `v` of one dimension for each list of values.
fn lists(format: Format, lists: Vec<Values>) -> Memory {
    let mut memory = Memory::new(Model::new(format));
    for (at, values) in lists.into_iter().enumerate() {
        let dim = memory.model.def_dim(ROOT, format!("d{at}"), Some(values.len() as u64)).unwrap();
        let var = memory.model.def_var(ROOT, format!("v{at}"), values.ty(), &[dim]).unwrap();
        memory.values.insert(var, values);
    }
    memory
}

fn put(memory: &mut Memory, name: &str, value: Values) {
    memory.model.put_attr(Owner::Var(VarId(0)), name, value).unwrap();
}

/// The text behind `=` of the first variable, without line breaks.
fn data(memory: &Memory, options: &PrintOptions) -> String {
    let text = memory.cdl(options);
    let (_, data) = text.split_once("\ndata:\n").unwrap();
    let (_, values) = data.split_once(" =").unwrap();
    let (values, _) = values.split_once(';').unwrap();
    values.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn fill_values() {
    let default = PrintOptions::default();
    let bytes = lists(Format::DATA64, vec![vec![-127i8, 0].into()]);
    assert_eq!(data(&bytes, &default), "-127, 0");
    let mut bytes = lists(Format::DATA64, vec![vec![255u8, 0].into()]);
    assert_eq!(data(&bytes, &default), "255, 0");
    put(&mut bytes, "_FillValue", 0u8.into());
    assert_eq!(data(&bytes, &default), "255, _");
    let mut floats = lists(Format::DATA64, vec![vec![9.96921e36f32, f32::NAN, 1.0].into()]);
    assert_eq!(data(&floats, &default), "_, NaNf, 1");
    put(&mut floats, "_FillValue", f32::NAN.into());
    assert_eq!(data(&floats, &default), "9.96921e+36, _, 1");
}

#[test]
fn given_formats() {
    let mut floats = lists(Format::CLASSIC, vec![vec![1.25f32, -1e10, f32::INFINITY].into()]);
    for (format, expected) in [
        ("%6.1f", "1.2, -10000000000.0, Infinityf"),
        ("%.2e m", "1.25e+00 m, -1.00e+10 m, Infinityf"),
        // In C these three read what is not there.
        ("%d", "1.25, -1e+10, Infinityf"),
        ("%s", "1.25, -1e+10, Infinityf"),
        ("%f %f", "1.25, -1e+10, Infinityf"),
    ] {
        put(&mut floats, "C_format", format.into());
        assert_eq!(data(&floats, &PrintOptions::default()), expected, "{format}");
    }
    let mut ints = lists(Format::CLASSIC, vec![vec![7i16, -7].into()]);
    for (format, expected) in [("%4d", "7, -7"), ("%x", "7, fffffff9"), ("%.1f", "7.0, -7.0")] {
        put(&mut ints, "C_format", format.into());
        assert_eq!(data(&ints, &PrintOptions::default()), expected, "{format}");
    }
    let digits_first = PrintOptions { float_digits: 3, float_digits_first: true, ..PrintOptions::default() };
    put(&mut floats, "C_format", "%6.1f".into());
    assert_eq!(data(&floats, &digits_first), "1.25, -1e+10, Infinityf");
}

#[test]
fn text() {
    let text = |bytes: &[u8]| lists(Format::CLASSIC, vec![Values::Char(bytes.to_vec())]);
    let default = PrintOptions::default();
    assert_eq!(data(&text(b"a\0b\0\0"), &default), r#""a\000b""#);
    assert_eq!(data(&text(b"\0\0"), &default), r#""""#);
    assert_eq!(data(&text(b"a\n\xe9"), &default), r#""a\n", "\351""#);
    let mut characters = text(b"ab\0");
    put(&mut characters, "C_format", "%c".into());
    assert_eq!(data(&characters, &default), "a, b, _");
    // A text longer than one reading, with NULs where the readings meet.
    let mut long = vec![b'x'; (1 << 20) - 2];
    long.extend([0, 0, 0, b'y', 0]);
    let expected = format!("\"{}\\000\\000\\000y\"", "x".repeat((1 << 20) - 2));
    assert_eq!(data(&text(&long), &default), expected);
}

/// One row longer than a block gives the lines that it gives when it is formatted by itself.
#[test]
fn long_rows_break_like_short_ones() {
    let numbers: Vec<i32> =
        (0..70_000).map(|n: i32| n.wrapping_mul(n).wrapping_mul(31) >> (n % 30)).collect();
    let memory = lists(Format::CLASSIC, vec![numbers.clone().into()]);
    let text = memory.cdl(&PrintOptions { threads: 2, ..PrintOptions::default() });
    let (_, data) = text.split_once("data:\n\n").unwrap();
    let mut expected = " v0 = ".to_string();
    let mut position = "v0".len() + 4;
    for (at, number) in numbers.iter().enumerate() {
        let token = if at + 1 < numbers.len() { format!("{number}, ") } else { number.to_string() };
        if position + token.len() > 78 {
            expected += "\n    ";
            position = 4;
        }
        position += token.len();
        expected += &token;
    }
    assert!(data == expected + " ;\n}\n");
    let full =
        PrintOptions { full_comments: true, indices: Indices::C, threads: 3, ..PrintOptions::default() };
    let text = memory.cdl(&full);
    assert!(text.contains(&format!("    {},   // v0(32768)\n", numbers[32768])));
    assert!(text.ends_with(&format!("    {};  // v0(69999)\n    }}\n", numbers[69999])));
}

/// The reference reads before the start of an array for the Fortran index of a scalar and prints 34.
#[test]
fn index_of_a_scalar() {
    let mut memory = Memory::new(Model::new(Format::CLASSIC));
    let var = memory.model.def_var(ROOT, "s", Atomic::Int.into(), &[]).unwrap();
    memory.values.insert(var, 3.into());
    let options = PrintOptions { full_comments: true, indices: Indices::Fortran, ..PrintOptions::default() };
    assert!(memory.cdl(&options).contains(" s = 3;  // s(1)\n"));
}

/// The reference fails behind the first such attribute of a type that has a byte order, with an error about netCDF-4.
#[test]
fn special_attributes_of_cdf5() {
    let memory = lists(Format::DATA64, vec![vec![1u64].into()]);
    let text = memory.cdl(&PrintOptions { special: true, ..PrintOptions::default() });
    assert!(text.contains("\tuint64 v0(d0) ;\n\t\tv0:_Storage = \"contiguous\" ;\n\n// global attributes:\n\t\t:_Format = \"cdf5\" ;\ndata:\n"));
}

/// As the reference prints them: by way of double precision.
#[test]
fn large_integers_in_ncml() {
    let mut memory = lists(Format::DATA64, vec![vec![1u64].into()]);
    put(&mut memory, "all", vec![u64::MAX, 1, (1 << 53) + 1].into());
    put(&mut memory, "low", vec![i64::MIN, i64::MAX].into());
    put(&mut memory, "text", "a<\n\x01\0".into());
    put(&mut memory, "nan", vec![f64::NAN, f64::NEG_INFINITY, 1.0].into());
    let options = PrintOptions { name: b"d/f.nc".to_vec(), ..PrintOptions::default() };
    let expected = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<netcdf xmlns=\"https://www.unidata.ucar.edu/namespaces/netcdf/ncml-2.2\" location=\"d/f.nc\">
  <dimension name=\"d0\" length=\"1\" />
  <variable name=\"v0\" shape=\"d0\" type=\"uint64\">
    <attribute name=\"all\" type=\"uint64\" value=\"0 1 9007199254740992\" />
    <attribute name=\"low\" type=\"int64\" value=\"-9223372036854775808 -9223372036854775808\" />
    <attribute name=\"text\" value=\"a&lt;&#xA;&#1;\" />
    <attribute name=\"nan\" type=\"double\" value=\"nan -inf 1.\" />
  </variable>
</netcdf>
";
    assert_eq!(memory.ncml(&options), expected);
}

/// The reference repeats whatever it printed before for a number that is no date in the calendar.
#[test]
fn numbers_that_are_no_dates() {
    let mut memory = lists(Format::CLASSIC, vec![vec![1.0f64, 1e30, f64::NAN].into()]);
    put(&mut memory, "units", "days since 2000-1-1".into());
    put(&mut memory, "limits", vec![0f32, 1e30].into());
    let options = PrintOptions { times: Some(b'T'), ..PrintOptions::default() };
    assert_eq!(data(&memory, &options), "\"2000-01-02\", 1e+30, NaN");
    assert!(memory.cdl(&options).contains(":limits = 0.f, 1.e+30f ; // \"2000-01-01\", \"\"\n"));
}

/// Bounds variables take the units of the variable they belong to.
#[test]
fn bounds() {
    let mut memory = lists(Format::CLASSIC, vec![vec![1i32].into(), vec![0.5f32].into()]);
    put(&mut memory, "units", "days since 2000-1-1".into());
    put(&mut memory, "calendar", "noleap".into());
    put(&mut memory, "bounds", "v1".into());
    put(&mut memory, "many", vec![0i32, 1, 2, 3, 4].into());
    let text = memory.cdl(&PrintOptions { times: Some(b' '), line_length: 60, ..PrintOptions::default() });
    assert!(text.contains(" v1 = \"2000-01-01 12\" ;"));
    let expected = "\t\tv0:many = 0, 1, 2, 3, 4 ;
\t\t  // \"2000-01-01\", \"2000-01-02\",
\t\t  // \"2000-01-03\", \"2000-01-04\",
\t\t  // \"2000-01-05\"
";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn special_attributes() {
    let mut memory = lists(Format::NETCDF4, vec![vec![1i32].into()]);
    let storage = &mut memory.model.var_mut(VarId(0)).storage;
    storage.chunking = Some(Chunking::Chunked(vec![5]));
    storage.endian = Some(Endian::Big);
    storage.no_fill = true;
    let filter = |id, params: &[u32]| Filter { id, params: params.to_vec() };
    storage.filters =
        vec![filter(3, &[]), filter(2, &[4]), filter(1, &[7]), filter(307, &[9]), filter(32015, &[])];
    let attr = |name: &str, value: Values| ferrocdf_model::Attr::new(Name::new(name).unwrap(), value);
    memory.hidden = vec![attr("_NCProperties", "version=2".into()), attr("_IsNetcdf4", 1i32.into())];
    let options = PrintOptions { special: true, header_only: true, ..PrintOptions::default() };
    let text = memory.cdl(&options);
    let (_, attrs) = text.split_once("int v0(d0) ;\n").unwrap();
    let expected = "\t\tv0:_Storage = \"chunked\" ;
\t\tv0:_ChunkSizes = 5 ;
\t\tv0:_Fletcher32 = \"true\" ;
\t\tv0:_Shuffle = \"true\" ;
\t\tv0:_DeflateLevel = 7 ;
\t\tv0:_Filter = \"307,9|32015\" ;
\t\tv0:_Endianness = \"big\" ;
\t\tv0:_NoFill = \"true\" ;

// global attributes:
\t\t:_NCProperties = \"version=2\" ;
\t\t:_IsNetcdf4 = 1 ;
\t\t:_Format = \"netCDF-4\" ;
}
";
    assert_eq!(attrs, expected);
    let text = memory.cdl(&PrintOptions { filters_in_one_form: true, no_provenance: true, ..options });
    assert!(text.contains(":_Filter = \"3|2,4|1,7|307,9|32015\" ;\n"));
    assert!(!text.contains("_Shuffle") && !text.contains("_NCProperties"));
}

#[test]
fn types_of_fill_values_on_request() {
    let mut memory = lists(Format::CLASSIC, vec![vec![1i16].into()]);
    put(&mut memory, "_FillValue", 5i16.into());
    let text = |fill_type| memory.cdl(&PrintOptions { fill_type, ..PrintOptions::default() });
    assert!(text(false).contains("\t\tv0:_FillValue = 5s ;\n"));
    assert!(text(true).contains("\t\tshort v0:_FillValue = 5s ;\n"));
}

#[test]
fn names_that_cdl_cannot_express() {
    let mut memory = lists(Format::CLASSIC, vec![]);
    memory.model.push_dim(ferrocdf_model::Dim {
        name: Name::stored(&b" x"[..]),
        group: ROOT,
        len: 1,
        unlimited: false,
    });
    assert_eq!(memory.refusal(&PrintOptions::default()), "name begins with space or control-character:  ");
}

/// An error in the middle leaves what was printed before it.
#[test]
fn a_failure_keeps_what_was_printed() {
    let mut memory = lists(Format::CLASSIC, vec![vec![1i32].into(), vec![2i32].into()]);
    memory.values.remove(&VarId(1));
    let mut out = vec![];
    let result = print_cdl(&memory, &PrintOptions::default(), &mut out);
    assert!(matches!(result, Err(PrintFailure::Source(_))));
    assert!(String::from_utf8(out).unwrap().ends_with(" v0 = 1 ;\n\n v1 = "));
}

/// The reference prints a vertical tab in a string as `\n`.
#[test]
fn strings() {
    let texts = vec![Some(b"a\x0bb\x7f\xc3\xa9".to_vec()), None, Some(vec![]), Some(b"c\0d".to_vec())];
    let memory = lists(Format::NETCDF4, vec![Values::String(texts)]);
    assert_eq!(data(&memory, &PrintOptions::default()), "\"a\\vb\\177é\", NIL, _, \"c\"");
}

/// The reference stops at a value without a name; zero is printed as its newer versions do.
#[test]
fn enum_values_without_names() {
    use ferrocdf_model::{Class, UserType, Value};
    let mut memory = Memory::new(Model::new(Format::NETCDF4));
    let class = Class::Enum { base: Atomic::Int, members: vec![(Name::new("one").unwrap(), 1)] };
    let ty = memory.model.push_type(UserType { name: Name::new("e").unwrap(), group: ROOT, class });
    let dim = memory.model.def_dim(ROOT, "x", Some(3)).unwrap();
    let var = memory.model.def_var(ROOT, "v", ferrocdf_model::Type::User(ty), &[dim]).unwrap();
    let values = [1, 0, 7].map(Value::Enum).to_vec();
    memory.values.insert(var, Values::User(ty, values));
    assert_eq!(data(&memory, &PrintOptions::default()), "one, _UNDEFINED, 7");
}

/// More than one thread prints; the order is that of the variables, also of a group within another, and what cannot be
/// said ends the text where it would stand.
#[test]
fn headers_of_many_variables() {
    let mut model = Model::new(Format::NETCDF4);
    let inner = model.def_group(ROOT, "inner").unwrap();
    let mut expected = "netcdf many {\n".to_string();
    for (group, pad) in [(ROOT, ""), (inner, "  ")] {
        if group == inner {
            expected += "\ngroup: inner {\n";
        }
        expected += &format!("{pad}variables:\n");
        for at in 0..333 {
            let var = model.def_var(group, format!("v{at}"), Atomic::Int.into(), &[]).unwrap();
            model.put_attr(Owner::Var(var), "units", format!("m{at}").as_str().into()).unwrap();
            expected += &format!("{pad}\tint v{at} ;\n{pad}\t\tv{at}:units = \"m{at}\" ;\n");
        }
    }
    expected += "  } // group inner\n}\n";
    let mut memory = Memory::new(model);
    for threads in [1, 2, 5] {
        let options =
            PrintOptions { name: b"many".to_vec(), header_only: true, threads, ..PrintOptions::default() };
        assert_eq!(memory.cdl(&options), expected, "{threads} threads");
    }
    let unspeakable = memory.model.var_ids().nth(200).unwrap();
    memory.model.rename_var(unspeakable, Name::stored(b" x")).unwrap();
    let (before, _) = expected.split_once("v200 ;").unwrap();
    for threads in [1, 5] {
        let options = PrintOptions { name: b"many".to_vec(), threads, ..PrintOptions::default() };
        let mut out = vec![];
        assert!(matches!(print_cdl(&memory, &options, &mut out), Err(PrintFailure::Refused(_))));
        assert_eq!(String::from_utf8(out).unwrap(), before, "{threads} threads");
    }
}

/// Small variables are printed many at a time, each by one thread, large ones one at a time by all; what cannot be read
/// ends the text after the variables before it.
#[test]
fn values_of_many_small_variables() {
    let mut memory = Memory::new(Model::new(Format::NETCDF4));
    let inner = memory.model.def_group(ROOT, "inner").unwrap();
    let lengths = [1, 2000, 2048, 2049, 10_000, 40_000];
    let mut expected = String::new();
    for (group, pad) in [(ROOT, ""), (inner, "  ")] {
        let dims = lengths.map(|n| memory.model.def_dim(group, format!("n{n}"), Some(n)).unwrap());
        expected += &format!("{pad}data:\n");
        for at in 0..300usize {
            let large = at % 100 == 90;
            let kind = if large { 3 + at / 100 } else { at % 3 };
            let name = format!("v{at}");
            let var = memory.model.def_var(group, name.as_str(), Atomic::Int.into(), &[dims[kind]]).unwrap();
            let numbers: Vec<i32> =
                (0..lengths[kind] as i32).map(|n| 1_000_000_000 + n * at as i32).collect();
            let text: Vec<String> = numbers.iter().map(i32::to_string).collect();
            expected += &format!("\n{pad} {name} = {} ;\n", text.join(", "));
            memory.values.insert(var, numbers.into());
        }
        if group == ROOT {
            expected += "\ngroup: inner {\n";
        }
    }
    expected += "  } // group inner\n}\n";
    let values = |text: &str| -> String {
        let mut inside = false;
        let kept = text.split_inclusive('\n').filter(|line| {
            inside = (inside || line.ends_with("data:\n")) && !line.ends_with("dimensions:\n");
            inside
        });
        kept.collect()
    };
    let options = |threads| PrintOptions { line_length: usize::MAX, threads, ..PrintOptions::default() };
    for threads in [1, 2, 5] {
        assert!(values(&memory.cdl(&options(threads))) == expected, "{threads} threads");
    }
    let unread = memory.model.var_ids().nth(250).unwrap();
    memory.values.insert(unread, vec![1, 2].into());
    for threads in [1, 5] {
        let mut out = vec![];
        assert!(matches!(print_cdl(&memory, &options(threads), &mut out), Err(PrintFailure::Source(_))));
        assert!(out.ends_with(b" ;\n\n v250 = "), "{threads} threads");
    }
}
