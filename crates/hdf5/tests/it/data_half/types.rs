//! Elements of all types.

use ferrocdf_array::Kind;
use ferrocdf_bytes::Code;
use ferrocdf_hdf5::selection::{HyperslabDim, SpaceSelection};
use ferrocdf_hdf5::{Value, Values};

use super::{dataset, open, read_bytes, read_numbers, read_values};

fn kind(path: &str) -> Kind {
    dataset(&open("types.h5"), path).array().unwrap().array.stored.kind
}

#[test]
fn numbers_of_unusual_formats() {
    let file = open("types.h5");
    assert_eq!((read_numbers(&file, "odd"), kind("odd")), (vec![0.0, -1.0, 1000.0, -2048.0], Kind::I16));
    assert_eq!((read_numbers(&file, "three"), kind("three")), (vec![1.0, -2.0, 70000.0], Kind::I32));
    let halves = vec![1.0, -2.0, 65504.0, 2f64.powi(-24), f64::INFINITY];
    assert_eq!((read_numbers(&file, "half"), kind("half")), (halves, Kind::F32));
    assert_eq!((read_numbers(&file, "long"), kind("long")), (vec![1.0 / 3.0, -1.0, 1e300 / 3.0], Kind::F64));
    assert_eq!((read_numbers(&file, "colours"), kind("colours")), (vec![1.0, 0.0, 2.0], Kind::I16));
    assert_eq!(dataset(&file, "compound").array().unwrap_err().code, Code::EBADTYPE);
}

fn values(path: &str) -> Vec<Value> {
    let file = open("types.h5");
    read_values(&file, &dataset(&file, path)).unwrap()
}

#[test]
fn compounds_with_a_fill_value() {
    let row = |a, b, c: &[u8; 3], d: [u64; 2]| {
        let d = Value::Array(d.into_iter().map(Value::Uint).collect());
        Value::Compound(vec![Value::Int(a), Value::Float(b), Value::Text(c.to_vec()), d])
    };
    let fill = || row(-1, -0.5, b"q\0\0", [5, 6]);
    let rows = [row(1, 2.5, b"xyz", [3, 4]), fill(), row(9, 1e9, b"\0\0\0", [7, 8])];
    let [first, second, third] = rows;
    assert_eq!(values("compound"), [fill(), fill(), first, second, third, fill(), fill()]);
}

#[test]
fn strings_and_sequences() {
    let text = |text: &[u8]| Value::Text(text.to_vec());
    let string = |text: &str| Value::String(Some(text.as_bytes().to_vec()));
    assert_eq!(values("fixed"), [text(b"ab\0"), text(b"cde")]);
    let empty = values("strings")[1].clone();
    assert!(empty == Value::String(None) || empty == string(""), "{empty:?}");
    assert_eq!(values("strings"), [string("one"), empty, string("zwölf")]);
    assert_eq!(values("unset"), [Value::String(None), Value::String(None)]);
    let list = |list: &[i64]| Value::Sequence(list.iter().copied().map(Value::Int).collect());
    assert_eq!(values("lists"), [list(&[1, 2, 3]), list(&[]), list(&[-4])]);
    let nested = |n, text| Value::Compound(vec![Value::Int(n), string(text)]);
    assert_eq!(values("nested"), [nested(1, "x"), nested(2, "yy")]);
    let bytes = |bytes: &[u8]| Value::Bytes(bytes.to_vec());
    assert_eq!(values("opaque"), [bytes(&[1, 2, 3, 4]), bytes(&[5, 6, 7, 8])]);
}

#[test]
fn references() {
    let file = open("types.h5");
    let address = |path| dataset(&file, path).object().address();
    let list = values("references");
    let [Value::Reference(Some(half)), Value::Reference(Some(root)), Value::Reference(None)] = &list[..]
    else {
        panic!("{list:?}")
    };
    assert_eq!((half.object, root.object), (address("half"), file.superblock().root));
    let list = values("regions");
    let [Value::Reference(Some(region)), Value::Reference(None)] = &list[..] else { panic!("{list:?}") };
    assert_eq!(region.object, address("compound"));
    let rows = HyperslabDim { start: 1, stride: 1, count: 1, block: 3 };
    let boxes = SpaceSelection::Boxes { rank: 1, corners: vec![1, 3] };
    let found = region.region.clone().unwrap();
    assert!(found == boxes || found == SpaceSelection::Regular(vec![rows]), "{found:?}");
}

#[test]
fn values_keep_to_their_budget() {
    let file = open("types.h5");
    let strings = dataset(&file, "strings");
    let bytes = read_bytes(&strings).unwrap();
    let needed = 3 * size_of::<Value>() as u64 + 9;
    assert!(Values::new(&file, needed).list(strings.datatype(), &bytes).is_ok());
    let error = Values::new(&file, needed - 1).list(strings.datatype(), &bytes).unwrap_err();
    assert_eq!(error.code, Code::ENOMEM);
    assert!(Values::new(&file, needed).list(strings.datatype(), &bytes[1..]).is_err());
}
