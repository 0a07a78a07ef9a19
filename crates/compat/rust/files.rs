//! Files of the newest `netcdf` crate, written and read again: this becomes an integration test of that crate.
//!
//! `FILES` names the folder they are written to; another program reads them there.

use std::path::PathBuf;

use netcdf::{AttributeValue, Endianness, Options};

fn file(name: &str) -> PathBuf {
    PathBuf::from(std::env::var_os("FILES").expect("FILES is set")).join(name)
}

#[test]
fn groups_filters_and_strings() -> Result<(), netcdf::Error> {
    let path = file("groups.nc");
    let mut made = netcdf::create(&path)?;
    made.add_unlimited_dimension("time")?;
    made.add_dimension("x", 40)?;
    made.add_attribute("title", "heights and names")?;
    let mut height = made.add_variable::<f32>("height", &["time", "x"])?;
    height.set_chunking(&[2, 20])?;
    height.set_compression(4, true)?;
    height.set_endianness(Endianness::Big)?;
    height.set_fill_value(-9.5_f32)?;
    height.put_attribute("levels", vec![1_i64, 2, 3])?;
    let values: Vec<f32> = (0..120).map(|at| at as f32 / 4.0).collect();
    height.put_values(&values, (..3, ..))?;
    let mut part = made.add_group("part")?;
    let mut names = part.add_string_variable("names", &["time"])?;
    for (at, name) in ["first", "", "dritte Höhe"].iter().enumerate() {
        names.put_string(name, [at])?;
    }
    made.sync()?;
    made.close()?;

    let mut grown = netcdf::append(&path)?;
    let mut height = grown.variable_mut("height").expect("it was defined");
    height.put_values(&[7.5_f32; 20], (4..5, 20..))?;
    grown.close()?;

    let read = netcdf::open(&path)?;
    let height = read.variable("height").expect("it was defined");
    assert_eq!(read.dimension_len("time"), Some(5));
    assert_eq!(height.chunking()?, Some(vec![2, 20]));
    assert_eq!(height.endianness()?, Endianness::Big);
    assert_eq!(height.get_values::<f32, _>((..3, ..))?, values);
    assert_eq!(height.get_values::<f64, _>((3..5, 18..22))?, [-9.5, -9.5, -9.5, -9.5, -9.5, -9.5, 7.5, 7.5]);
    let strided: Vec<i16> = height.get_values(([0, 0], [3, 4], [1, 12]))?;
    assert_eq!(strided, [0, 3, 6, 9, 10, 13, 16, 19, 20, 23, 26, 29]);
    let table = height.get::<f32, _>((1, ..))?;
    assert_eq!(table.shape(), [40]);
    assert!(
        matches!(height.attribute_value("levels"), Some(Ok(AttributeValue::Longlongs(of))) if of == [1, 2, 3])
    );
    let names = read.group("part")?.expect("it was defined");
    let names = names.variable("names").expect("it was defined");
    assert_eq!(names.get_string([2])?, "dritte Höhe");
    assert_eq!(names.get_string([4])?, "");
    assert!(read.variable("depth").is_none());
    Ok(())
}

#[test]
fn classic_files_of_each_kind() -> Result<(), netcdf::Error> {
    for (name, options) in [
        ("classic.nc", Options::empty()),
        ("offset.nc", Options::_64BIT_OFFSET),
        ("data.nc", Options::_64BIT_DATA),
        ("model.nc", Options::NETCDF4 | Options::CLASSIC),
    ] {
        let path = file(name);
        let mut made = netcdf::create_with(&path, options)?;
        made.add_unlimited_dimension("time")?;
        made.add_dimension("x", 3)?;
        let mut count = made.add_variable::<i16>("count", &["time", "x"])?;
        count.put_attribute("units", "1")?;
        made.enddef()?;
        let mut count = made.variable_mut("count").expect("it was defined");
        count.put_values(&[1_i32, 2, 3, 4, 5, 6], (..2, ..))?;
        made.redef()?;
        made.add_attribute("history", "counted twice")?;
        made.close()?;
        let read = netcdf::open(&path)?;
        let count = read.variable("count").expect("it was defined");
        assert_eq!(count.get_values::<i16, _>(..)?, [1, 2, 3, 4, 5, 6]);
        assert!(
            matches!(read.attribute("history").map(|of| of.value()), Some(Ok(AttributeValue::Str(of))) if of == "counted twice")
        );
    }
    Ok(())
}
