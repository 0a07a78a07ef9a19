//! A dataset with everything that the enhanced model has, as the reference's `ncgen -4` makes it from
//! `golden/rich.cdl`; the golden texts were printed by the reference.

use ferrocdf_cdl::print::{Indices, PrintOptions};
use ferrocdf_model::{
    Atomic, Class, Dim, DimId, Field, Format, GroupId, Model, Name, Owner, Storage, Type, TypeId, UserType,
    Value, Values, Var, VarId,
};

use crate::memory::Memory;

const ROOT: GroupId = GroupId::ROOT;

fn name(text: &str) -> Name {
    Name::stored(text.as_bytes())
}

fn add_type(model: &mut Model, group: GroupId, text: &str, class: Class) -> TypeId {
    model.push_type(UserType { name: name(text), group, class })
}

fn add_dim(model: &mut Model, group: GroupId, text: &str, len: u64, unlimited: bool) -> DimId {
    model.push_dim(Dim { name: name(text), group, len, unlimited })
}

fn int(number: i32) -> Value {
    Value::Atomic(number.into())
}

fn observation(
    day: i8,
    elev: i16,
    count: [i32; 3],
    relhum: f32,
    time: [f64; 4],
    cat: &str,
    text: &str,
) -> Value {
    Value::Compound(vec![
        Value::Atomic(day.into()),
        Value::Atomic(elev.into()),
        Value::Atomic(count.into()),
        Value::Atomic(relhum.into()),
        Value::Atomic(time.into()),
        Value::Atomic(cat.into()),
        Value::Atomic(Values::Char([text.as_bytes(), &[0; 4]].concat()[..4].to_vec())),
    ])
}

fn ints(numbers: impl IntoIterator<Item = i32>) -> Value {
    Value::Vlen(vec![Value::Atomic(numbers.into_iter().collect::<Vec<i32>>().into())])
}

/// The dataset of `golden/rich.cdl`.
pub fn dataset() -> Memory {
    let mut model = Model::new(Format::NETCDF4);
    let m = &mut model;
    let field = |text: &str, ty: Type, shape: &[usize]| Field {
        name: name(text),
        offset: 0,
        ty,
        shape: shape.to_vec(),
        chars: 1,
    };
    let of = |atomic: Atomic| Type::Atomic(atomic);
    let fields = vec![
        field("day", of(Atomic::Byte), &[]),
        field("elev", of(Atomic::Short), &[]),
        field("count", of(Atomic::Int), &[3]),
        field("relhum", of(Atomic::Float), &[]),
        field("time", of(Atomic::Double), &[2, 2]),
        field("cat", of(Atomic::Char), &[]),
        field("name", of(Atomic::Char), &[4]),
    ];
    let obs = add_type(m, ROOT, "obs_t", Class::Compound { size: 64, fields });
    let row = add_type(m, ROOT, "row_of_ints", Class::Vlen(of(Atomic::Int)));
    let raw = add_type(m, ROOT, "raw_t", Class::Opaque(3));
    let members = [
        ("Clear", 0),
        ("Cumulonimbus", 1),
        ("Stratus", 2),
        ("Very long cloud name indeed", 100),
        ("Missing", -1),
    ];
    let members = members.map(|(text, value)| (name(text), value)).to_vec();
    let cloud = add_type(m, ROOT, "cloud_t", Class::Enum { base: Atomic::Byte, members });
    let obs_list = add_type(m, ROOT, "obs_list", Class::Vlen(Type::User(obs)));
    let fields = vec![
        field("inner", Type::User(obs), &[2]),
        field("r", Type::User(row), &[]),
        field("c", Type::User(cloud), &[]),
        field("s", of(Atomic::String), &[]),
    ];
    add_type(m, ROOT, "outer_t", Class::Compound { size: 160, fields });
    let x = add_dim(m, ROOT, "x", 2, false);
    let t = add_dim(m, ROOT, "t", 2, true);
    let u = add_dim(m, ROOT, "u", 3, true);

    let mut made = vec![];
    let mut add = |m: &mut Model, group, text: &str, ty: Type, dims: &[DimId], values: Values| {
        let (attrs, storage) = (Default::default(), Storage::default());
        let id = m.push_var(Var { name: name(text), group, ty, dims: dims.to_vec(), attrs, storage });
        made.push((id, values));
        id
    };
    let attr = |m: &mut Model, var: VarId, text: &str, value: Values| {
        m.push_attr(Owner::Var(var), ferrocdf_model::Attr::new(name(text), value));
    };

    let one = observation(1, 2, [3, 4, 5], 1.5, [1., 2., 3., 4.], "c", "ab");
    let o = add(m, ROOT, "o", Type::User(obs), &[], Values::User(obs, vec![one.clone()]));
    attr(m, o, "_FillValue", Values::User(obs, vec![observation(0, 0, [0; 3], 0., [0.; 4], "x", "")]));
    let v = add(m, ROOT, "v", Type::User(row), &[x], Values::User(row, vec![ints(1..=3), ints([])]));
    attr(m, v, "a", Values::User(row, vec![ints(1..=3), ints([4]), ints(5..=21), ints([22])]));
    let opaque = |bytes: [u8; 3]| Value::Opaque(bytes.to_vec());
    let r = add(
        m,
        ROOT,
        "r",
        Type::User(raw),
        &[x],
        Values::User(raw, vec![opaque([10, 11, 12]), opaque([0; 3])]),
    );
    attr(m, r, "raw", Values::User(raw, vec![opaque([1, 2, 3]), opaque([0xFF, 0xEE, 0xDD])]));
    let c = add(
        m,
        ROOT,
        "c",
        Type::User(cloud),
        &[x],
        Values::User(cloud, vec![Value::Enum(2), Value::Enum(-1)]),
    );
    attr(m, c, "_FillValue", Values::User(cloud, vec![Value::Enum(-1)]));
    attr(m, c, "some", Values::User(cloud, vec![Value::Enum(0), Value::Enum(100)]));
    let strings = |list: &[&str]| Values::from(list);
    let s = add(m, ROOT, "s", of(Atomic::String), &[x], strings(&["a\tb", ""]));
    attr(m, s, "names", strings(&["one", "two\nlines", ""]));
    attr(m, s, "text", "classic\ntext".into());
    let fill = -2147483647;
    add(m, ROOT, "nested", of(Atomic::Int), &[t, u], vec![1, 2, 3, 4, fill, fill].into());
    let deep = vec![1, 2, 3, 4, 5, 6, 7, fill, fill, 8, 9, fill];
    add(m, ROOT, "deep", of(Atomic::Int), &[x, t, u], deep.into());
    let big = add(m, ROOT, "big", of(Atomic::Uint64), &[x], vec![u64::MAX, 5].into());
    attr(m, big, "all", vec![255u8, 2].into());
    attr(m, big, "us", 65535u16.into());
    attr(m, big, "ui", u32::MAX.into());
    attr(m, big, "ll", (-1i64).into());
    attr(m, big, "ull", u64::MAX.into());
    add(m, ROOT, "ol", Type::User(obs_list), &[], Values::User(obs_list, vec![Value::Vlen(vec![one])]));

    let g1 = m.push_group(ROOT, name("g1"));
    let members = vec![(name("A"), 0), (name("B"), 255)];
    let ug = add_type(m, g1, "ug", Class::Enum { base: Atomic::Ubyte, members });
    add_dim(m, g1, "x", 3, false);
    let y = add_dim(m, g1, "y", 2, false);
    let f = add(m, g1, "f", of(Atomic::Float), &[x, y], vec![1f32, 2., 3., f32::NAN].into());
    attr(m, f, "units", "m".into());
    add(m, g1, "e", Type::User(ug), &[], Values::User(ug, vec![Value::Enum(255)]));
    m.push_attr(Owner::Group(g1), ferrocdf_model::Attr::new(name("ga"), 1f64.into()));
    let g2 = m.push_group(g1, name("g2"));
    let z = add_dim(m, g2, "z", 25, false);
    let long = (1..=9).chain(1..=9).map(|n| n * 1_000_000).chain(1..=7).collect::<Vec<i32>>();
    add(m, g2, "long_row", of(Atomic::Int), &[z], long.into());
    add(m, g2, "cc", Type::User(cloud), &[], Values::User(cloud, vec![Value::Enum(2)]));
    let q = add(m, g2, "q", Type::User(row), &[], Values::User(row, vec![ints([9])]));
    attr(m, q, "b", Values::User(row, vec![ints(1..=3), Value::Vlen(vec![int(4), int(5)])]));
    Memory { values: made.into_iter().collect(), ..Memory::new(model) }
}

fn options() -> PrintOptions {
    PrintOptions { name: b"rich".to_vec(), ..PrintOptions::default() }
}

#[test]
fn everything() {
    assert_eq!(dataset().cdl(&options()), include_str!("golden/rich.cdl"));
}

#[test]
fn comments() {
    let options =
        PrintOptions { brief_comments: true, full_comments: true, indices: Indices::Fortran, ..options() };
    // The reference reads past an array for the index of a scalar.
    let golden = include_str!("golden/rich_comments.cdl").replace("(34)", "(1)");
    assert_eq!(dataset().cdl(&options), golden);
}

#[test]
fn narrow() {
    let options = PrintOptions { brief_comments: true, line_length: 40, ..options() };
    assert_eq!(dataset().cdl(&options), include_str!("golden/rich_narrow.cdl"));
}

#[test]
fn selection() {
    let rich = dataset();
    let print = |variables: &[&str], groups: &[&str]| {
        let list = |names: &[&str]| names.iter().map(|name| name.as_bytes().to_vec()).collect();
        let options = PrintOptions { variables: list(variables), groups: list(groups), ..options() };
        let text = rich.cdl(&options);
        let names = ["o =", "s =", "f =", "e =", "cc =", "q ="];
        names
            .iter()
            .filter(|name| text.contains(&format!(" {name}")))
            .map(|name| &name[..1])
            .collect::<String>()
    };
    assert_eq!(print(&["o", "g2/q"], &[]), "oq");
    assert_eq!(print(&["/g1/e", "/s"], &[]), "se");
    assert_eq!(print(&[], &["g2"]), "cq");
    assert_eq!(print(&[], &["/g1"]), "fe");
    assert_eq!(print(&[], &["/"]), "os");
    let refusal = |variables: &[&str], groups: &[&str]| {
        let list = |names: &[&str]| names.iter().map(|name| name.as_bytes().to_vec()).collect();
        rich.refusal(&PrintOptions { variables: list(variables), groups: list(groups), ..options() })
    };
    assert_eq!(refusal(&["o", "g1/q"], &[]), "g1/q: No such variable");
    assert_eq!(refusal(&[], &["/g2"]), "/g2: No such group");
}
