//! Definitions, formats and attributes.

use std::collections::BTreeMap;

use ferrocdf_bytes::{Code, Result};
use ferrocdf_cdl::parse::{Outcome, ParseFailure, ParseOptions, Sink, parse};
use ferrocdf_model::{
    Atomic, Chunking, Class, Endian, Filter, Format, GroupId, Model, Owner, Type, Value, Values, VarId,
    each_values,
};

/// Keeps what it is given.
#[derive(Default)]
pub struct Collector {
    pub messages: Vec<String>,
    pub model: Option<Model>,
    pub defined: usize,
    /// Values by variable, pieces joined.
    pub data: BTreeMap<u32, Values>,
}

impl Sink for Collector {
    fn message(&mut self, text: &str) {
        self.messages.push(text.to_string());
    }

    fn define(&mut self, model: &Model, _: &str) -> Result<()> {
        self.model = Some(model.clone());
        self.defined += 1;
        Ok(())
    }

    fn data(&mut self, var: VarId, first: u64, values: Values) -> Result<()> {
        let model = self.model.as_ref().expect("definitions come first");
        assert_eq!(values.ty(), model.var(var).ty);
        if first == 0 {
            self.data.insert(var.0, values);
            return Ok(());
        }
        let have = self.data.get_mut(&var.0).expect("the first piece comes first");
        assert_eq!(first, have.len() as u64, "pieces follow each other");
        let mut values = Some(values);
        macro_rules! append {
            ($($variant:ident)*) => {
                match (have, values.take()) {
                    $((Values::$variant(have), Some(Values::$variant(mut more))) => have.append(&mut more),)*
                    (Values::User(_, have), Some(Values::User(_, mut more))) => have.append(&mut more),
                    _ => panic!("pieces of different types"),
                }
            };
        }
        append!(Byte Char Short Int Float Double Ubyte Ushort Uint Int64 Uint64 String);
        Ok(())
    }
}

impl Collector {
    pub fn model(&self) -> &Model {
        self.model.as_ref().expect("definitions")
    }

    pub fn var(&self, path: &str) -> VarId {
        let model = self.model();
        model.var_ids().find(|&id| model.var_path(id) == path).expect(path)
    }

    pub fn values(&self, path: &str) -> &Values {
        self.data.get(&self.var(path).0).expect(path)
    }

    pub fn attr(&self, path: &str, name: &str) -> &Values {
        let owner = if path.is_empty() { Owner::Group(GroupId::ROOT) } else { Owner::Var(self.var(path)) };
        &self.model().find_attr(owner, name.as_bytes()).expect(name).value
    }
}

pub fn read_as(
    text: &[u8],
    format: Option<Format>,
) -> (Collector, std::result::Result<Outcome, ParseFailure>) {
    let mut collector = Collector::default();
    let options = ParseOptions { format, file: "t.cdl".to_string(), ..ParseOptions::default() };
    let outcome = parse(text, &options, &mut collector);
    (collector, outcome)
}

pub fn read(text: &str) -> Collector {
    let (collector, outcome) = read_as(text.as_bytes(), None);
    outcome.unwrap_or_else(|failure| panic!("{failure:?} {:?}", collector.messages));
    assert_eq!(collector.messages, [""; 0]);
    let lens: Vec<_> =
        collector.data.values().map(|values| each_values!(values, list => list.len())).collect();
    assert!(lens.iter().all(|&len| len > 0));
    collector
}

fn format_of(text: &str) -> Format {
    read(text).model().format()
}

#[test]
fn the_format_is_what_the_text_needs() {
    assert_eq!(format_of("netcdf a {}"), Format::CLASSIC);
    assert_eq!(format_of("netcdf a { :_Format = \"64-bit offset\"; }"), Format::OFFSET64);
    assert_eq!(format_of("netcdf a { variables: ubyte v; }"), Format::DATA64);
    assert_eq!(format_of("netcdf a { variables: int64 v; }"), Format::DATA64);
    assert_eq!(format_of("netcdf a { :a = 3000000000; }"), Format::DATA64);
    assert_eq!(format_of("netcdf a { variables: string v; ubyte w; }"), Format::NETCDF4);
    assert_eq!(format_of("netcdf a { group: g { } }"), Format::NETCDF4);
    assert_eq!(format_of("netcdf a { types: opaque(3) o; }"), Format::NETCDF4);
    assert_eq!(format_of("netcdf a { variables: int v; v:_Storage = \"contiguous\"; }"), Format::NETCDF4);
    assert_eq!(format_of("netcdf a { :_NCProperties = \"x\"; }"), Format::NETCDF4);
    let (_, outcome) = read_as(b"netcdf a { :_Format = \"cdf5\"; }", Some(Format::CLASSIC));
    assert_eq!(outcome.unwrap().format, Format::CLASSIC);
}

#[test]
fn a_conflict_with_the_format_is_told() {
    let (collector, outcome) = read_as(b"netcdf a { group: g { } }", Some(Format::CLASSIC));
    assert_eq!(outcome, Err(ParseFailure::Conflict));
    assert_eq!(collector.messages, ["-k or _Format conflicts with enhanced CDL input"]);
    assert!(collector.model.is_none());
    let (_, outcome) = read_as(b"netcdf a { group: g { } }", Some(Format::DATA64));
    assert!(matches!(outcome, Err(ParseFailure::File(error)) if error.code == Code::ENOTNC4));
}

#[test]
fn dimensions_types_and_aliases() {
    let read = read(
        "netcdf a {\ndimensions:\n x = 3, y = 4000000000; t = UNLIMITED; z = unlimited;\n:_Format = \"nc4\";
         variables: real r(x, t); long l; integer i(y); \\1a\\ b c; }"
            .replace("\\1a\\ b c;", "short \\1a\\ b;")
            .as_str(),
    );
    let model = read.model();
    assert_eq!(model.dims().iter().map(|dim| dim.len).collect::<Vec<_>>(), [3, 4000000000, 0, 0]);
    assert_eq!(model.dims().iter().map(|dim| dim.unlimited).collect::<Vec<_>>(), [false, false, true, true]);
    let types: Vec<_> = model.vars().iter().map(|var| model.type_name(var.ty)).collect();
    assert_eq!(types, ["float", "int", "int", "short"]);
    assert_eq!(model.vars()[3].name, "1a b");
    assert_eq!(model.vars()[0].dims.iter().map(|dim| dim.0).collect::<Vec<_>>(), [0, 2]);
}

#[test]
fn attributes_take_the_type_of_their_values() {
    let read = read(
        "netcdf a { variables: int v; short w;
           v:text = \"ab\", \"c\"; v:none = ; v:chars = 'a', 'b'; v:reals = 1, 2.5f; v:doubles = 1, 2.f, 3.;
           v:wide = 1s, 2b; float v:typed = 1, 2; char v:bytes = 65b, \"x\"; v:_FillValue = 7.9; w:_FillValue = '0';
           :g = 0x12L; double :h = NaN, -Infinity; v:text = \"again\"; }"
            .replace("0x12L", "18")
            .as_str(),
    );
    assert_eq!(read.attr("/v", "text"), &Values::from("again"));
    assert_eq!(read.attr("/v", "none"), &Values::Char(vec![0]));
    assert_eq!(read.attr("/v", "chars"), &Values::from([97i8, 98]));
    assert_eq!(read.attr("/v", "reals"), &Values::from([1f32, 2.5]));
    assert_eq!(read.attr("/v", "doubles"), &Values::from([1., 2., 3.]));
    assert_eq!(read.attr("/v", "wide"), &Values::from([1i16, 2]));
    assert_eq!(read.attr("/v", "typed"), &Values::from([1f32, 2.]));
    assert_eq!(read.attr("/v", "bytes"), &Values::from("Ax"));
    assert_eq!(read.attr("/v", "_FillValue"), &Values::from(7i32));
    assert_eq!(read.attr("/w", "_FillValue"), &Values::from(48i16));
    assert_eq!(read.attr("", "g"), &Values::from(18i32));
    let Values::Double(list) = read.attr("", "h") else { panic!() };
    assert!(list[0].is_nan() && list[1] == f64::NEG_INFINITY);
}

#[test]
fn special_attributes_become_storage() {
    let read = read(
        "netcdf a { dimensions: x = 8; variables: int v(x); double w(x); float u(x);
           v:_Storage = \"chunked\"; v:_ChunkSizes = 4; v:_DeflateLevel = 5; v:_Shuffle = \"true\";
           v:_Fletcher32 = 1; v:_Endianness = \"big\"; v:_NoFill = \"true\"; w:_Storage = \"contiguous\";
           w:_NoFill = \"false\"; w:_Endianness = \"little\"; u:_Filter = \"307,9|32015,3\"; :_IsNetcdf4 = 1; }",
    );
    let storage = |path| &read.model().var(read.var(path)).storage;
    let v = storage("/v");
    assert_eq!(
        (v.chunking.clone(), v.endian, v.no_fill),
        (Some(Chunking::Chunked(vec![4])), Some(Endian::Big), true)
    );
    let filter = |id, params: &[u32]| Filter { id, params: params.to_vec() };
    assert_eq!(v.filters, [filter(3, &[]), filter(2, &[]), filter(1, &[5])]);
    let w = storage("/w");
    assert_eq!(
        (w.chunking.clone(), w.endian, w.no_fill),
        (Some(Chunking::Contiguous), Some(Endian::Little), false)
    );
    assert_eq!(storage("/u").filters, [filter(307, &[9]), filter(32015, &[3])]);
    assert!(read.model().attrs(Owner::Group(GroupId::ROOT)).is_empty());
    assert_eq!(read.model().var(read.var("/v")).attrs.len(), 0);
}

#[test]
fn user_defined_types_and_their_values() {
    let read = read(
        "netcdf a { types: byte enum e { lo = -1, hi = 2 }; opaque(3) o; int(*) list;
           compound c { byte b; double d(2); o raw; char z(4); e k; list l; };
         dimensions: n = 2; variables: c v(n); e w(n); o x(n); c v:at = {1}; list y;
         data: v = {1, {2, 3}, 0x0a0b0c, {\"abc\"}, hi, {4, 5}}; w = lo, e.hi; x = 0x01, 0x01020304; y = {}; }",
    );
    let model = read.model();
    let Class::Compound { size, fields } = &model.types()[3].class else { panic!() };
    assert_eq!(*size, 48);
    assert_eq!(fields.iter().map(|field| field.offset).collect::<Vec<_>>(), [0, 8, 24, 27, 31, 32]);
    let Values::User(_, v) = read.values("/v") else { panic!() };
    let full = Value::Compound(vec![
        Value::Atomic(Values::Byte(vec![1])),
        Value::Atomic(Values::Double(vec![2., 3.])),
        Value::Opaque(vec![10, 11, 12]),
        Value::Atomic(Values::from("abc\0")),
        Value::Enum(2),
        Value::Vlen(vec![Value::Atomic(Values::Int(vec![4, 5]))]),
    ]);
    assert_eq!((v.len(), &v[0]), (2, &full));
    let Value::Compound(missing) = &v[1] else { panic!() };
    assert_eq!(missing[0], Value::Atomic(Values::default_fill(Atomic::Byte)));
    let w = Values::User(ferrocdf_model::TypeId(0), vec![Value::Enum(-1), Value::Enum(2)]);
    assert_eq!(read.values("/w"), &w);
    let Values::User(_, x) = read.values("/x") else { panic!() };
    assert_eq!(*x, [Value::Opaque(vec![1, 0, 0]), Value::Opaque(vec![1, 2, 3])]);
    assert!(
        matches!(read.attr("/v", "at"), Values::User(ferrocdf_model::TypeId(3), list) if list.len() == 1)
    );
}

#[test]
fn groups_see_what_is_above_them() {
    let read = read(
        "netcdf a { types: int(*) t; dimensions: d = 3; variables: int x(d); data: x = 1;
         group: g { types: opaque(2) o; dimensions: e = 2; variables: int y(d, e); t z; data: y = 1, 2, 3; z = {9};
           group: h { variables: float w(/g/e); o v; data: w = 7; } :late = 5; } :root = 1; }",
    );
    let model = read.model();
    assert_eq!(model.shape(read.var("/g/y")), [3, 2]);
    assert_eq!(model.shape(read.var("/g/h/w")), [2]);
    assert_eq!(model.var(read.var("/g/h/v")).ty, Type::User(ferrocdf_model::TypeId(1)));
    assert_eq!(read.values("/g/h/w"), &Values::from([7f32, f32::from_bits(0x7CF0_0000)]));
    assert_eq!(read.attr("", "root"), &Values::from(1));
    let group = model.find_group(GroupId::ROOT, b"g").unwrap();
    assert_eq!(model.attrs(Owner::Group(group)).len(), 1);
}
