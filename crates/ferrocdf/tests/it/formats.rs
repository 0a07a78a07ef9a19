//! The suite of drivers, run by each of them.

use ferrocdf::model::{Chunking, Filter};
use ferrocdf::suite::{Dataset, driver};
use ferrocdf::{
    Atomic, CreateOptions, File, FileMut, Format, GroupId, Location, OpenOptions, Selection, Values,
    driver as drivers,
};

use crate::toy;

#[test]
fn toy_driver_keeps_the_laws() {
    drivers::register(toy::PROBE);
    let matrix: Vec<f64> = (0..12).map(|at| f64::from(at / 4 + at % 4 * 3) - 7.0).collect();
    let none = f64::from(9.969_21e36_f32);
    let table = [5.0, 6.0, 9.0, 7.0, 8.0, 11.0, none, none, 13.0, none, none, 15.0, 17.0, 18.0, 21.0];
    driver(&Dataset {
        bytes: &toy::sample::bytes(),
        options: OpenOptions::default(),
        values: &[("matrix", &matrix), ("table", &table)],
        unwritten: &[("table", &[2, 0]), ("table", &[3, 1])],
    });
}

/// A file of a format with a variable of each layout that it has.
fn file_of(format: Format) -> Vec<u8> {
    let file = FileMut::in_memory(&CreateOptions::format(format)).unwrap();
    file.add_unlimited_dimension("time").unwrap();
    file.add_dimension("y", 4).unwrap();
    file.add_dimension("x", 5).unwrap();
    file.put_attribute("title", "all layouts").unwrap();
    for (name, ty, dims) in [
        ("scalar", Atomic::Double, &[][..]),
        ("fixed", Atomic::Int, &["y", "x"]),
        ("records", Atomic::Short, &["time", "x"]),
        ("other_records", Atomic::Float, &["time"]),
        ("bytes", Atomic::Byte, &["x"]),
        ("text", Atomic::Char, &["y", "x"]),
        ("never", Atomic::Double, &["y"]),
    ] {
        file.add_variable_of(ty, name, dims).unwrap().put_attribute("units", "1").unwrap();
    }
    let id = |name: &str| file.model().find_var_at(name.as_bytes()).unwrap();
    if !format.is_classic_file() {
        file.define(|model| {
            let var = model.find_var_at(b"fixed").unwrap();
            let storage = &mut model.var_mut(var).storage;
            storage.chunking = Some(Chunking::Chunked(vec![3, 2]));
            storage.filters = vec![Filter { id: Filter::DEFLATE, params: vec![5] }];
            Ok(())
        })
        .unwrap();
    }
    if format.is_enhanced() {
        file.define(|model| {
            let dims = model.var(model.find_var_at(b"fixed").unwrap()).dims.clone();
            model.def_var(GroupId::ROOT, "strings", Atomic::String.into(), &dims[..1])
        })
        .unwrap();
        let strings = ["", "one", "two words", "\u{e4}"].map(|text| Some(text.as_bytes().to_vec()));
        let _exact = file.write_values(id("strings"), &[0], &[4], &Values::String(strings.to_vec())).unwrap();
    }
    let write = |name: &str, start: &[u64], count: &[u64], values: Values| {
        let _exact = file.write_values(id(name), start, count, &values).unwrap();
    };
    write("scalar", &[], &[], Values::Double(vec![0.5]));
    write("fixed", &[0, 0], &[4, 5], Values::Int((0..20).map(|at| at * 40_000 - 7).collect()));
    write("records", &[0, 0], &[3, 5], Values::Short((0..15).map(|at| at * 300).collect()));
    write("other_records", &[1], &[2], Values::Float(vec![1.5, -2.5e9]));
    write("bytes", &[0], &[5], Values::Byte(vec![-128, -1, 0, 1, 127]));
    write("text", &[0, 0], &[4, 5], Values::Char(b"abcdefghijklmnopqrst".to_vec()));
    file.into_bytes().unwrap().unwrap()
}

#[test]
fn drivers_of_the_formats_of_netcdf_keep_the_laws() {
    let fixed: Vec<f64> = (0..20).map(|at| f64::from(at * 40_000 - 7)).collect();
    let records: Vec<f64> = (0..15).map(|at| f64::from(at * 300)).collect();
    let others = [f64::from(9.969_21e36_f32), 1.5, -2.5e9];
    for format in Format::ALL {
        driver(&Dataset {
            bytes: &file_of(format),
            options: OpenOptions::default(),
            values: &[
                ("scalar", &[0.5]),
                ("fixed", &fixed),
                ("records", &records),
                ("other_records", &others),
                ("bytes", &[-128.0, -1.0, 0.0, 1.0, 127.0]),
            ],
            unwritten: &[("never", &[2]), ("other_records", &[0])],
        });
    }
}

#[test]
fn container_of_a_program_is_opened_as_a_file_and_never_written() {
    drivers::register(toy::PROBE);
    assert!(!drivers::register(toy::PROBE), "a container is registered once");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.toy");
    std::fs::write(&path, toy::sample::bytes()).unwrap();
    let file = File::open(&path).unwrap();
    assert_eq!((file.format().container().name(), file.format().kind_name()), ("toy", "classic"));
    let column = file.variable("matrix").unwrap().get_values::<f64, _>((.., 1)).unwrap();
    assert_eq!(column, [-4.0, -3.0, -2.0]);
    let error = FileMut::append(&path).err().unwrap();
    assert_eq!(error.code, ferrocdf::Code::EPERM, "{error}");
    let options = CreateOptions::format(file.format());
    assert_eq!(FileMut::in_memory(&options).err().unwrap().code, ferrocdf::Code::ENOTBUILT);
}

#[test]
fn handle_of_an_unknown_variable_is_an_error_of_writes_too() {
    let file = FileMut::append_bytes(file_of(Format::CLASSIC)).unwrap();
    let unknown = ferrocdf::VarId(7);
    let written = file.write(unknown, &Selection::all(&[]), ferrocdf::In::new(&[1.0]));
    assert_eq!(written.unwrap_err().code, ferrocdf::Code::ENOTVAR);
}

#[test]
fn url_of_a_dap_server_is_a_location_that_is_not_opened() {
    let url = Location::parse(b"dods://host/a.nc").unwrap();
    let error = File::open_location(&url, &OpenOptions::default()).err().unwrap();
    assert_eq!(error.code, ferrocdf::Code::ENOTBUILT);
}
