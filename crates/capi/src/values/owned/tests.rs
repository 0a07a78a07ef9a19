use std::ffi::CStr;

use ferrocdf::model::{Field, Name, TypeId, UserType};
use ferrocdf::{Atomic, Format, GroupId};

use super::*;
use crate::given_away::dump::dump;

/// Record with the layout of C: text, a list of lists, a triple of texts, a label.
#[repr(C)]
struct Record {
    title: *mut c_char,
    number: i16,
    lists: NcVlen,
    names: [*mut c_char; 3],
    label: u8,
    tag: [u8; 2],
}

/// Returns a model with the type of [`Record`].
fn model() -> (Model, Type) {
    let mut model = Model::new(Format::NETCDF4);
    let mut push = |name: &str, class| {
        let name = Name::new(name).expect("a name");
        Type::User(model.push_type(UserType { name, group: GroupId::ROOT, class }))
    };
    let list = push("list", Class::Vlen(Atomic::Int.into()));
    let lists = push("lists", Class::Vlen(list));
    let label = push("label", Class::Enum { base: Atomic::Ubyte, members: Vec::new() });
    let tag = push("tag", Class::Opaque(2));
    let text = Atomic::String.into();
    let fields = [
        ("title", std::mem::offset_of!(Record, title), text, vec![]),
        ("number", std::mem::offset_of!(Record, number), Atomic::Short.into(), vec![]),
        ("lists", std::mem::offset_of!(Record, lists), lists, vec![]),
        ("names", std::mem::offset_of!(Record, names), text, vec![3, 1]),
        ("label", std::mem::offset_of!(Record, label), label, vec![]),
        ("tag", std::mem::offset_of!(Record, tag), tag, vec![]),
    ];
    let fields = fields.map(|(name, offset, ty, shape)| {
        let name = Name::new(name).expect("a name");
        Field { name, offset, ty, shape, chars: 1 }
    });
    let record = push("record", Class::Compound { size: size_of::<Record>(), fields: fields.into() });
    assert_eq!(record, Type::User(TypeId(4)));
    (model, record)
}

fn list<T: Copy>(values: &[T]) -> NcVlen {
    NcVlen { len: values.len(), values: crate::abi::memory::copy_of(values).expect("memory").cast() }
}

fn string(text: &CStr) -> *mut c_char {
    copy_of_text(text.to_bytes()).expect("memory")
}

fn record(number: i16) -> Record {
    let lists = [list(&[1, 2, 3]), list::<i32>(&[]), list(&[-4])];
    Record {
        title: string(c"a title"),
        number,
        lists: list(&lists),
        names: [string(c"x"), std::ptr::null_mut(), string(c"")],
        label: 200,
        tag: [0xab, 5],
    }
}

fn text_of(model: &Model, ty: Type, records: &[Record]) -> String {
    let mut to = Vec::new();
    // SAFETY: the records are values of the type.
    unsafe { dump(model, ty, records.as_ptr().cast(), records.len(), &mut to) }.expect("it can be written");
    String::from_utf8(to).expect("text")
}

const TEXT: &str = "<title()\"a title\";number()-7;lists(){len=3,p=({len=3,p=(1 2 3)} {len=0,p=()} {len=1,p=(-4)})};\
                    names(3,1)\"x\" \"\" \"\";label()200;tag()|ab 5|>";

/// Under a leak checker, the test also fails if memory is freed twice or never.
#[test]
fn copies_stand_on_their_own() {
    let (model, ty) = model();
    let records = [record(-7), record(8)];
    let mut copies = [const { std::mem::MaybeUninit::<Record>::zeroed() }; 2];
    // SAFETY: the records are values of the type, and there is room for as many copies.
    unsafe { copy(&model, ty, records.as_ptr().cast(), copies.as_mut_ptr().cast(), 2) }.expect("memory");
    // SAFETY: all copies were written.
    let copies = copies.map(|copy| unsafe { copy.assume_init() });
    assert_ne!(records[0].title, copies[0].title);
    assert_ne!(records[0].lists.values, copies[0].lists.values);
    assert!(copies[1].names[1].is_null());
    // SAFETY: the strings and lists were allocated above.
    unsafe { reclaim(&model, ty, records.as_ptr().cast_mut().cast(), 2) }.expect("no list without memory");
    let expected = format!("{TEXT} {}", TEXT.replace("-7", "8"));
    assert_eq!(text_of(&model, ty, &copies), expected);
    // SAFETY: the strings and lists were allocated by the copy.
    unsafe { reclaim(&model, ty, copies.as_ptr().cast_mut().cast(), 2) }.expect("no list without memory");
}

#[test]
fn lists_without_memory_are_refused() {
    let (model, _) = model();
    let broken = NcVlen { len: 2, values: std::ptr::null_mut() };
    let mut place = broken;
    let ty = Type::User(TypeId(0));
    let (from, to) = ((&raw const broken).cast(), (&raw mut place).cast());
    // SAFETY: the list is a value of the type.
    let codes = unsafe { [reclaim(&model, ty, to, 1), copy(&model, ty, from, to, 1)] };
    assert_eq!(codes.map(|done| done.map_err(|error| error.code)), [Err(Code::EINVAL); 2]);
}
