//! Copies of variables with elements that were never written.

use ferrocdf::model::{Chunking, Class, StoredFill, UserType, Value};
use ferrocdf::{
    Atomic, Code, CreateOptions, File, FileMut, Format, GroupId, Name, Owner, Type, Values, VarId, copy_data,
    keep_unwritten,
};

const BUDGET: usize = 1 << 20;

/// A file in memory with `v(t, x)` of 200 elements, in chunks of this shape, which has this fill value.
fn file(chunk: &[u64], fill: i32) -> FileMut {
    let file = FileMut::in_memory(&CreateOptions::format(Format::NETCDF4)).unwrap();
    file.add_unlimited_dimension("t").unwrap();
    file.add_dimension("x", 20).unwrap();
    file.add_variable::<i32>("v", &["t", "x"]).unwrap();
    let v = id(&file);
    file.define(|model| {
        model.var_mut(v).storage.chunking = Some(Chunking::Chunked(chunk.to_vec()));
        model.put_attr(Owner::Var(v), "_FillValue", Values::Int(vec![fill]))
    })
    .unwrap();
    file
}

fn id(file: &File) -> VarId {
    file.variable("v").unwrap().id()
}

fn values(file: &File) -> Vec<i32> {
    file.variable("v").unwrap().get_values(..).unwrap()
}

/// How many chunks of `v` are written, once the file is.
fn written_chunks(file: FileMut) -> u64 {
    let file = File::from_bytes(file.into_bytes().unwrap().unwrap()).unwrap();
    let chunks = file.variable("v").unwrap().storage().unwrap().chunks.unwrap();
    chunks.stored
}

/// Writes one value, and brings it to the file.
fn put(file: &FileMut, value: i32, at: (u64, u64)) {
    file.variable_mut("v").unwrap().put_values(&[value], (at.0..at.0 + 1, at.1..at.1 + 1)).unwrap();
    file.sync().unwrap();
}

fn copy(from: &File, to: &FileMut) {
    let mut told = 0;
    copy_data(from, to, &[(id(from), id(to))], BUDGET, &mut |bytes| told += bytes).unwrap();
    assert_eq!(told, values(from).len() as u64 * 4, "bytes told to the progress");
    assert_eq!(values(to), values(from));
}

#[test]
fn chunks_are_left_out_whatever_their_shape() {
    let source = file(&[10, 10], -7);
    put(&source, 5, (0, 3));
    put(&source, 6, (99, 19));
    for (chunk, expected) in
        [([10, 10], 2), ([20, 20], 2), ([5, 5], 8), ([15, 4], 6), ([100, 1], 20), ([3, 20], 8)]
    {
        let target = file(&chunk, -7);
        copy(&source, &target);
        assert_eq!(written_chunks(target), expected, "{chunk:?}");
    }
    // Elements that would read as another value are written.
    for chunk in [[10, 10], [20, 20]] {
        let target = file(&chunk, -8);
        copy(&source, &target);
        assert_eq!(written_chunks(target), 2000 / chunk.iter().product::<u64>(), "{chunk:?}");
    }
}

#[test]
fn a_huge_variable_of_two_chunks_is_copied_without_a_look_at_the_others() {
    // 4e12 chunks: a copy that looks at each does not end.
    const LEN: u64 = 2_000_000_000;
    let file = |chunk: [u64; 2]| {
        let file = FileMut::in_memory(&CreateOptions::format(Format::NETCDF4)).unwrap();
        file.add_dimension("t", LEN).unwrap();
        file.add_dimension("x", LEN).unwrap();
        file.add_variable::<i32>("v", &["t", "x"]).unwrap();
        let v = id(&file);
        file.define(|model| {
            model.var_mut(v).storage.chunking = Some(Chunking::Chunked(chunk.to_vec()));
            model.put_attr(Owner::Var(v), "_FillValue", Values::Int(vec![-7]))
        })
        .unwrap();
        file
    };
    let places = [(3, LEN - 1), (LEN / 2, 10)];
    for written in [&places[..0], &places] {
        let source = file([1000, 1000]);
        written.iter().for_each(|&at| put(&source, 5, at));
        for chunk in [[1000, 1000], [700, 900], [1, 5000]] {
            let target = file(chunk);
            let mut told = 0u64;
            copy_data(&source, &target, &[(id(&source), id(&target))], BUDGET, &mut |bytes| told += bytes)
                .unwrap();
            assert_eq!(told, 4 * LEN * LEN);
            for (row, column) in written {
                let found =
                    target.variable("v").unwrap().get_values::<i32, _>((*row..row + 1, *column..column + 1));
                assert_eq!(found.unwrap(), [5]);
            }
            assert!((written_chunks(target) == 0) == written.is_empty());
        }
    }
}

#[test]
fn unwritten_elements_are_written_over_those_that_are_there() {
    let source = file(&[10, 10], -7);
    put(&source, 5, (49, 3));
    for chunk in [[10, 10], [20, 20], [7, 3]] {
        let target = file(&chunk, -7);
        target.variable_mut("v").unwrap().put_values(&[1; 100], (0..50, 8..10)).unwrap();
        copy(&source, &target);
        // Also where these are in the file.
        let target = file(&chunk, -7);
        put(&target, 1, (33, 8));
        copy(&source, &target);
    }
}

#[test]
fn records_that_another_variable_has_are_not_written() {
    let source = file(&[10, 10], -7);
    put(&source, 5, (9, 3));
    source.add_variable::<i32>("longer", &["t"]).unwrap();
    source.variable_mut("longer").unwrap().put_values(&[5], 499..500).unwrap();
    for (chunk, expected) in [([10, 10], 1), ([20, 20], 1), ([5, 5], 4)] {
        let target = file(&chunk, -7);
        copy(&source, &target);
        assert_eq!(target.dimension("t").unwrap().len(), 500);
        assert_eq!(written_chunks(target), expected, "{chunk:?}");
    }
}

#[test]
fn new_variables_get_the_fill_value_of_the_source() {
    let source = file(&[10, 10], -7);
    put(&source, 5, (99, 3));
    assert!(source.has_unwritten(id(&source)).unwrap());
    let target = file(&[20, 20], 3);
    target.set_no_fill(true).unwrap();
    target.define(|model| model.put_attr(Owner::Var(VarId(0)), "_FillValue", Values::Int(vec![8]))).unwrap();
    keep_unwritten(&source, &target, &[(id(&source), id(&target))]).unwrap();
    copy(&source, &target);
    assert_eq!(target.fill_value(id(&target)).unwrap(), Some(Values::Int(vec![-7])));
    assert_eq!(written_chunks(target), 1);
}

/// A file in memory with a variable of an enumeration, in chunks of 10, which has this fill value.
fn kinds(fill: i128) -> FileMut {
    let file = FileMut::in_memory(&CreateOptions::format(Format::NETCDF4)).unwrap();
    file.add_dimension("x", 100).unwrap();
    file.define(|model| {
        let members = [("none", 0), ("some", 1), ("all", 2)];
        let members = members.map(|(name, value)| (Name::new(name).unwrap(), value)).to_vec();
        let class = Class::Enum { base: Atomic::Byte, members };
        let ty =
            model.def_type(UserType { name: Name::new("kind").unwrap(), group: GroupId::ROOT, class })?;
        let v = model.def_var(GroupId::ROOT, "v", Type::User(ty), &[ferrocdf::DimId(0)])?;
        model.var_mut(v).storage.chunking = Some(Chunking::Chunked(vec![10]));
        model.put_attr(Owner::Var(v), "_FillValue", Values::User(ty, vec![Value::Enum(fill)]))
    })
    .unwrap();
    file
}

#[test]
fn chunks_of_enumerations_are_left_out() {
    let source = kinds(2);
    let Type::User(ty) = source.model().var(id(&source)).ty else { panic!("no user-defined type") };
    let one = Values::User(ty, vec![Value::Enum(1)]);
    let _exact = source.write_values(id(&source), &[33], &[1], &one).unwrap();
    source.sync().unwrap();
    for (fill, expected) in [(2, 1), (0, 10)] {
        let target = kinds(fill);
        copy_data(&source, &target, &[(id(&source), id(&target))], BUDGET, &mut |_| ()).unwrap();
        let [was, is] = [&*source, &*target].map(|file| file.read_values(id(file), &[0], &[100]).unwrap());
        assert_eq!(was, is);
        assert_eq!(written_chunks(target), expected);
    }
}

#[test]
fn stored_fill_values_of_another_type_or_number_are_refused() {
    for (fill, expected) in [
        (Values::Double(vec![1.5]), Some(Code::EBADTYPE)),
        (Values::Int64(vec![1 << 40]), Some(Code::EBADTYPE)),
        (Values::Int(vec![1, 2]), Some(Code::EINVAL)),
        (Values::Int(vec![]), Some(Code::EINVAL)),
        (Values::Int(vec![5]), None),
    ] {
        let target = file(&[10, 10], -7);
        let fill_of = |model: &mut ferrocdf::Model| {
            model.var_mut(VarId(0)).storage.fill = Some(StoredFill::Value(fill.clone()));
            Ok(())
        };
        target.define(fill_of).unwrap();
        assert_eq!(target.commit().err().map(|error| error.code), expected, "{fill:?}");
    }
}
