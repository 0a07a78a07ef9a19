//! Files joined along a dimension.

use std::path::Path;

use ferrocdf::join::{JoinEvent, JoinOptions, join, join_virtual, verify};
use ferrocdf::references::{Reference, ReferenceOptions, References};
use ferrocdf::store::testing::Rng;
use ferrocdf::{Atomic, Code, CreateOptions, File, FileMut, Format, Lack, Location, Result, Values, errno};

fn at(folder: &Path, name: &str) -> Location {
    Location::Path(folder.join(name))
}

fn joining_along(dimension: Option<&str>) -> JoinOptions {
    JoinOptions { dimension: dimension.map(str::to_string), ..JoinOptions::default() }
}

/// Joins files of a folder to `all.nc`, and compares it with them.
fn join_to(folder: &Path, format: Format, names: &[String], dimension: Option<&str>) -> Result<File> {
    let file = join_unverified(folder, format, names, dimension)?;
    verified(file, folder, names, false, &joining_along(dimension))
}

/// Returns a file if it has what the files of a folder have that it was made of.
fn verified(
    file: File,
    folder: &Path,
    names: &[String],
    is_virtual: bool,
    options: &JoinOptions,
) -> Result<File> {
    let inputs: Vec<Location> = names.iter().map(|name| at(folder, name)).collect();
    let mut done = 0;
    verify(&inputs, &file, is_virtual, options, &mut |event| {
        done += usize::from(event == JoinEvent::Joined)
    })?;
    assert_eq!(done, names.len());
    Ok(file)
}

/// Joins files of a folder to `all.nc`.
fn join_unverified(folder: &Path, format: Format, names: &[String], dimension: Option<&str>) -> Result<File> {
    let inputs: Vec<Location> = names.iter().map(|name| at(folder, name)).collect();
    let path = folder.join("all.nc");
    let to = FileMut::create(&path, &CreateOptions::format(format))?;
    let mut done = 0;
    let options = joining_along(dimension);
    join(&inputs, &to, &options, &mut |event| done += usize::from(event == JoinEvent::Joined))?;
    assert_eq!(done, names.len());
    to.close()?;
    ferrocdf::open(path)
}

/// What the files of one test have in common.
struct Shape {
    format: Format,
    is_unlimited: bool,
    chunk: u64,
    is_filtered: bool,
}

/// Makes a file of `len` steps from step `first` on. Its numbers tell the step.
fn make(path: &Path, shape: &Shape, first: i32, len: u64, change: impl Fn(&FileMut)) {
    let &Shape { format, is_unlimited, chunk, is_filtered } = shape;
    let file = FileMut::create(path, &CreateOptions::format(format)).unwrap();
    let is_hdf5 = !format.is_classic_file();
    match is_unlimited {
        true => file.add_unlimited_dimension("time").unwrap(),
        false => file.add_dimension("time", len).unwrap(),
    };
    file.add_dimension("x", 5).unwrap();
    let time = file.add_variable::<i32>("time", &["time"]).unwrap();
    time.put_attribute("units", "days since 2000-01-01").unwrap();
    let x = file.add_variable::<f64>("x", &["x"]).unwrap();
    let mut level = file.build_variable("level", Atomic::Short, &["time", "x"]);
    if is_hdf5 && is_filtered {
        level = level.chunks(&[chunk, 2]).shuffle().deflate(2);
    } else if is_hdf5 {
        level = level.chunks(&[chunk, 3]);
    }
    let level = level.attribute("scale_factor", 0.5).create().unwrap();
    change(&file);
    let steps: Vec<i32> = (first..first + len as i32).collect();
    x.put_values(&[0.0, 1.0, f64::NAN, 3.0, 4.0], ..).unwrap();
    if len > 0 {
        time.put_values(&steps, (0..len as usize,)).unwrap();
        level.put_values(&level_of(&steps), (0..len as usize, ..)).unwrap();
    }
    if format == Format::NETCDF4 && len > 0 {
        let texts = file.variable_mut("inner/texts").unwrap();
        texts.put_strings(&texts_of(&steps), (0..len as usize,)).unwrap();
        let turned = file.variable_mut("inner/turned").unwrap();
        turned.put_values(&turned_of(&steps), (.., 0..len as usize)).unwrap();
    }
    file.close().unwrap();
}

fn level_of(steps: &[i32]) -> Vec<i16> {
    steps.iter().flat_map(|step| (0..5).map(move |x| (step * 10 + x) as i16)).collect()
}

fn texts_of(steps: &[i32]) -> Vec<String> {
    steps.iter().map(|step| format!("step {step}")).collect()
}

fn turned_of(steps: &[i32]) -> Vec<f32> {
    (0..5).flat_map(|x| steps.iter().map(move |step| (x * 1000 + step) as f32)).collect()
}

/// Adds a group whose variables have the dimension of the root group, as their only and as their last one.
fn with_group(shape: &Shape) -> impl Fn(&FileMut) {
    let &Shape { format, chunk, .. } = shape;
    move |file| {
        if format != Format::NETCDF4 {
            return;
        }
        let inner = file.add_group("inner").unwrap();
        inner.add_variable_of(Atomic::String, "texts", &["time"]).unwrap();
        let turned = inner.build_variable("turned", Atomic::Float, &["x", "time"]);
        turned.chunks(&[2, chunk]).deflate(1).create().unwrap();
    }
}

fn check(file: &File, steps: i32) {
    let steps: Vec<i32> = (0..steps).collect();
    assert_eq!(file.variable("time").unwrap().get_values::<i32, _>(..).unwrap(), steps);
    assert_eq!(file.variable("level").unwrap().get_values::<i16, _>(..).unwrap(), level_of(&steps));
    assert_eq!(file.variable("x").unwrap().get_values::<f64, _>((3..,)).unwrap(), [3.0, 4.0]);
    assert_eq!(file.variable("level").unwrap().attribute::<f64>("scale_factor").unwrap(), 0.5);
    assert!(file.dimension("time").unwrap().is_unlimited());
    if file.format() == Format::NETCDF4 {
        let texts = file.variable("inner/texts").unwrap().get_all(..).unwrap();
        let wanted = texts_of(&steps).into_iter().map(|text| Some(text.into_bytes()));
        assert_eq!(texts, Values::String(wanted.collect()));
        let turned = file.variable("inner/turned").unwrap().get_values::<f32, _>(..).unwrap();
        assert_eq!(turned, turned_of(&steps));
    }
}

#[test]
fn random_files_are_joined_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = Rng::new(27);
    for number in 0..60 {
        let shape = Shape {
            format: Format::ALL[number % Format::ALL.len()],
            is_unlimited: rng.below(4) > 0,
            chunk: rng.below(4) + 1,
            is_filtered: rng.below(2) == 0,
        };
        let (mut names, mut steps) = (vec![], 0);
        for part in 0..rng.below(4) + 1 {
            let multiple = if rng.below(2) == 0 { shape.chunk } else { 1 };
            let least = if shape.is_unlimited { 0 } else { shape.chunk.div_ceil(multiple) };
            let len = (rng.below(4) + least) * multiple;
            names.push(format!("{part}.nc"));
            make(&folder.path().join(&names[part as usize]), &shape, steps, len, with_group(&shape));
            steps += len as i32;
        }
        let dimension = (!shape.is_unlimited || rng.below(2) == 0).then_some("time");
        let joined = join_to(folder.path(), shape.format, &names, dimension);
        let joined = joined.unwrap_or_else(|error| panic!("{number}: {error}"));
        check(&joined, steps);
    }
}

const PLAIN: Shape = Shape { format: Format::NETCDF4, is_unlimited: true, chunk: 2, is_filtered: true };

const PLAIN_CLASSIC: Shape = Shape { format: Format::NETCDF4_CLASSIC, ..PLAIN };

fn parts(folder: &Path, lens: &[u64]) -> Vec<String> {
    let (mut names, mut first) = (vec![], 0);
    for (number, &len) in lens.iter().enumerate() {
        names.push(format!("{number}.nc"));
        make(&folder.join(&names[number]), &PLAIN, first, len, with_group(&PLAIN));
        first += len as i32;
    }
    names
}

/// Overwrites an encoded chunk, so that it cannot be decoded.
fn damage(path: &Path, key: &str) -> Vec<u8> {
    let options = ReferenceOptions { inline: 0, ..ReferenceOptions::default() };
    let made = References::of(&Location::Path(path.to_path_buf()), &options).unwrap();
    let Some(&Reference::Range { start, len, .. }) = made.references.get(key) else { panic!("{key}") };
    let mut bytes = std::fs::read(path).unwrap();
    let chunk = &mut bytes[start as usize..(start + len) as usize];
    chunk.fill(0xab);
    let chunk = chunk.to_vec();
    std::fs::write(path, bytes).unwrap();
    chunk
}

#[test]
fn chunks_that_fit_behind_others_are_not_decoded() {
    let folder = tempfile::tempdir().unwrap();
    let names = parts(folder.path(), &[4, 2, 3]);
    let chunk = damage(&folder.path().join("1.nc"), "level/0.1");
    let last = damage(&folder.path().join("2.nc"), "inner/turned/1.1");
    join_unverified(folder.path(), Format::NETCDF4, &names, None).unwrap();
    let bytes = std::fs::read(folder.path().join("all.nc")).unwrap();
    assert!([chunk, last].iter().all(|chunk| bytes.windows(chunk.len()).any(|window| window == chunk)));
    // The third file begins within a chunk, so it is decoded.
    let names = parts(folder.path(), &[4, 1, 3]);
    damage(&folder.path().join("2.nc"), "level/0.1");
    let error = join_to(folder.path(), Format::NETCDF4, &names, None).map(drop).unwrap_err();
    assert!(error.to_string().contains("2.nc") && error.to_string().contains("/level"), "{error}");
}

#[test]
fn files_with_other_chunks_and_filters_are_encoded_anew() {
    let folder = tempfile::tempdir().unwrap();
    let names = parts(folder.path(), &[3, 4, 2]);
    let other = Shape { chunk: 3, is_filtered: false, ..PLAIN };
    make(&folder.path().join("1.nc"), &other, 3, 4, with_group(&other));
    check(&join_to(folder.path(), Format::NETCDF4, &names, None).unwrap(), 9);
}

#[test]
fn unwritten_elements_of_later_files_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let names = vec!["0.nc".to_string(), "1.nc".to_string(), "2.nc".to_string()];
    for (number, name) in (0..).zip(&names) {
        let file = ferrocdf::create(folder.path().join(name)).unwrap();
        file.add_unlimited_dimension("time").unwrap();
        file.add_dimension("x", 1 << 22).unwrap();
        // Other chunks, so that they are not copied as they are stored.
        let rows = if number == 0 { 2 } else { 1 };
        let v = file.build_variable("v", Atomic::Byte, &["time", "x"]).chunks(&[rows, 1 << 12]);
        let v = v.create().unwrap();
        v.put_values(&[number as i8, 1], (1, 9999..10001)).unwrap();
        file.close().unwrap();
    }
    let file = join_to(folder.path(), Format::NETCDF4, &names, None).unwrap();
    let v = file.variable("v").unwrap();
    assert_eq!(v.shape(), [6, 1 << 22]);
    for row in 0..6 {
        let fill = -127;
        let (first, second) = if row % 2 == 1 { (row as i8 / 2, 1) } else { (fill, fill) };
        assert_eq!(v.get_values::<i8, _>((row, 9998..10002)).unwrap(), [fill, first, second, fill]);
        let all = v.get_values::<i8, _>((row, ..)).unwrap();
        assert_eq!(all.iter().filter(|&&number| number != fill).count(), 2 * (row % 2));
    }
    let size = std::fs::metadata(folder.path().join("all.nc")).unwrap().len();
    assert!(size < 1 << 20, "{size}");
}

#[test]
fn files_that_differ_are_refused_with_file_variable_and_attribute() {
    let folder = tempfile::tempdir().unwrap();
    let names = parts(folder.path(), &[4, 4]);
    let path = folder.path().join("1.nc");
    let refused = |dimension: Option<&str>, words: &[&str]| {
        let error = join_to(folder.path(), Format::NETCDF4, &names, dimension).map(drop).unwrap_err();
        let said = error.to_string();
        assert!(error.code == Code::EINVAL && words.iter().all(|word| said.contains(word)), "{said}");
    };
    let with = |change: &dyn Fn(&FileMut)| {
        make(&path, &PLAIN, 4, 4, |file| {
            with_group(&PLAIN)(file);
            change(file);
        });
    };
    let put = |file: &FileMut, variable: &str, name: &str, value: Values| {
        file.variable_mut(variable).unwrap().put_attribute(name, value).unwrap();
    };
    with(&|file| put(file, "time", "units", Values::Char(b"days since 2000-01-05".to_vec())));
    refused(None, &["1.nc", "/time", "units", "2000-01-05", "2000-01-01", "0.nc", "--convert-times"]);
    with(&|file| put(file, "time", "calendar", Values::Char(b"noleap".to_vec())));
    refused(None, &["1.nc", "/time", "calendar", "noleap", "missing"]);
    with(&|file| put(file, "level", "scale_factor", Values::Double(vec![0.25])));
    refused(None, &["1.nc", "/level", "scale_factor", "0.25"]);
    with(&|file| put(file, "inner/turned", "_FillValue", Values::Float(vec![-1.0])));
    refused(None, &["1.nc", "/inner/turned", "_FillValue", "-1"]);
    with(&|file| {
        file.add_variable::<i32>("more", &["time"]).unwrap();
    });
    refused(None, &["1.nc", "/more", "no such variable"]);
    with(&|_| ());
    let file = FileMut::append(&path).unwrap();
    file.variable_mut("x").unwrap().put_value(0.5, [0]).unwrap();
    file.close().unwrap();
    refused(None, &["1.nc", "/x", "other values than in", "0.nc"]);
    for (number, latitude) in [39.25, 10.0].into_iter().enumerate() {
        make(&folder.path().join(&names[number]), &PLAIN, 4 * number as i32, 4, |file| {
            with_group(&PLAIN)(file);
            file.add_variable::<i32>("crs", &[]).unwrap();
            put(file, "crs", "grid_mapping_name", Values::Char(b"rotated_latitude_longitude".to_vec()));
            put(file, "crs", "grid_north_pole_latitude", Values::Double(vec![latitude]));
        });
    }
    refused(None, &["1.nc", "/crs", "grid_north_pole_latitude is 10, but 39.25 in", "0.nc"]);
    make(&folder.path().join(&names[0]), &PLAIN, 0, 4, with_group(&PLAIN));
    for (format, words) in
        [(Format::NETCDF4_CLASSIC, "/inner/texts: it is not there"), (Format::DATA64, "/inner")]
    {
        make(&path, &Shape { format, ..PLAIN }, 4, 4, |_| {});
        refused(None, &["1.nc", words]);
    }
    with(&|_| ());
    refused(Some("depth"), &["0.nc", "no variable has the dimension \"depth\""]);
    let error = join_to(folder.path(), Format::DATA64, &names, None).map(drop).unwrap_err();
    assert!(error.to_string().contains("0.nc"), "{error}");
}

#[test]
fn attributes_of_other_types_are_compared_by_what_they_say() {
    let folder = tempfile::tempdir().unwrap();
    let names = vec!["0.nc".to_string(), "1.nc".to_string()];
    let with = |name: &str, first: i32, variable: &str, attribute: &str, value: Values| {
        make(&folder.path().join(name), &PLAIN, first, 2, |file| {
            with_group(&PLAIN)(file);
            file.variable_mut(variable).unwrap().put_attribute(attribute, value.clone()).unwrap();
        });
    };
    let said = || join_to(folder.path(), Format::NETCDF4, &names, None).map_err(|error| error.to_string());
    let units = Some(b"days since 2000-01-01".to_vec());
    make(&folder.path().join("0.nc"), &PLAIN, 0, 2, with_group(&PLAIN));
    with("1.nc", 2, "time", "units", Values::String(vec![units.clone()]));
    check(&said().unwrap(), 4);
    with("1.nc", 2, "time", "units", Values::String(vec![units, None]));
    assert!(said().unwrap_err().contains("1.nc: /time: units"));
    with("1.nc", 2, "time", "units", Values::Char(b"days since 2000-01-01\0\0".to_vec()));
    check(&said().unwrap(), 4);
    with("1.nc", 2, "level", "scale_factor", Values::Float(vec![0.5]));
    check(&said().unwrap(), 4);
    with("0.nc", 0, "level", "valid_max", Values::Int64(vec![(1 << 53) + 1]));
    with("1.nc", 2, "level", "valid_max", Values::Double(vec![(1u64 << 53) as f64]));
    assert!(said().unwrap_err().contains("1.nc: /level: valid_max"));
    with("0.nc", 0, "level", "add_offset", Values::Double(vec![0.1]));
    with("1.nc", 2, "level", "add_offset", Values::Float(vec![0.1]));
    assert!(said().unwrap_err().contains("add_offset is 0.1 (float), but 0.1 (double) in"));
    with("0.nc", 0, "level", "cell_methods", Values::Char(b"time: mean".to_vec()));
    with("1.nc", 2, "level", "cell_methods", Values::Char(b"time: sum".to_vec()));
    assert!(said().unwrap_err().contains("1.nc: /level: cell_methods"));
}

#[test]
fn both_zeros_are_the_same_coordinate() {
    let folder = tempfile::tempdir().unwrap();
    let names = parts(folder.path(), &[2, 2]);
    let file = FileMut::append(folder.path().join("1.nc")).unwrap();
    file.variable_mut("x").unwrap().put_value(-0.0, [0]).unwrap();
    file.close().unwrap();
    check(&join_to(folder.path(), Format::NETCDF4, &names, None).unwrap(), 4);
}

#[test]
fn range_of_the_first_file_is_not_said_of_all() {
    let folder = tempfile::tempdir().unwrap();
    let names = vec!["0.nc".to_string(), "1.nc".to_string()];
    for (first, name) in [(0, "0.nc"), (2, "1.nc")] {
        make(&folder.path().join(name), &PLAIN, first, 2, |file| {
            with_group(&PLAIN)(file);
            for variable in ["x", "level"] {
                let range = Values::Double(vec![0.0, 4.0]);
                file.variable_mut(variable).unwrap().put_attribute("actual_range", range).unwrap();
            }
        });
    }
    let file = join_to(folder.path(), Format::NETCDF4, &names, None).unwrap();
    let range = |name: &str| file.variable(name).unwrap().attribute::<Values>("actual_range").is_ok();
    assert_eq!(["x", "level"].map(range), [true, false]);
}

#[test]
fn more_elements_than_can_be_counted_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let names = vec!["0.nc".to_string(), "1.nc".to_string()];
    for name in &names {
        let file = ferrocdf::create(folder.path().join(name)).unwrap();
        file.add_unlimited_dimension("time").unwrap();
        let v = file.build_variable("v", Atomic::Byte, &["time"]).chunks(&[1 << 20]).create().unwrap();
        v.put_value(1i8, [1usize << 63]).unwrap();
        file.close().unwrap();
    }
    let error = join_virtually(folder.path(), &names).map(drop).unwrap_err();
    let said = error.to_string();
    assert!(error.code == Code::EINVAL && said.contains("1.nc: /v: more elements than"), "{said}");
}

#[test]
fn dimension_is_found_or_has_to_be_named() {
    let folder = tempfile::tempdir().unwrap();
    let make = |name: &str, format, dims: &[(&str, Option<u64>)], shape: &[&str]| {
        let file = FileMut::create(folder.path().join(name), &CreateOptions::format(format)).unwrap();
        for &(dim, len) in dims {
            match len {
                Some(len) => file.add_dimension(dim, len).unwrap(),
                None => file.add_unlimited_dimension(dim).unwrap(),
            };
        }
        file.add_variable::<i32>("v", shape).unwrap();
        file.close().unwrap();
    };
    let said = |format, dimension| {
        let done = join_to(folder.path(), format, &["a.nc".to_string(), "a.nc".to_string()], dimension);
        done.map(|file| file.variable("v").unwrap().shape()).map_err(|error| error.to_string())
    };
    let (t, y, x) = (("t", None), ("y", None), ("x", Some(3)));
    make("a.nc", Format::NETCDF4, &[t, y, x], &["x"]);
    assert!(said(Format::NETCDF4, None).unwrap_err().contains("several dimensions are unlimited (t, y)"));
    assert_eq!(said(Format::NETCDF4, Some("x")).unwrap(), [6]);
    make("a.nc", Format::CLASSIC, &[x], &["x"]);
    assert!(said(Format::CLASSIC, None).unwrap_err().contains("no dimension is unlimited"));
    assert_eq!(said(Format::CLASSIC, Some("x")).unwrap(), [6]);
    make("a.nc", Format::CLASSIC, &[t, x], &["t", "x"]);
    assert!(said(Format::CLASSIC, Some("x")).unwrap_err().contains("one unlimited dimension, here \"t\""));
    make("a.nc", Format::CLASSIC, &[("y", Some(2)), x], &["y", "x"]);
    assert!(said(Format::CLASSIC, Some("x")).unwrap_err().contains("not its first dimension"));
    make("a.nc", Format::NETCDF4, &[x], &["x", "x"]);
    assert!(said(Format::NETCDF4, Some("x")).unwrap_err().contains("twice"));
}

/// Joins files of a folder to the virtual file `all.nc`.
fn join_virtually(folder: &Path, names: &[String]) -> Result<File> {
    join_virtually_as(folder, names, &JoinOptions::default())
}

fn join_virtually_as(folder: &Path, names: &[String], options: &JoinOptions) -> Result<File> {
    let inputs: Vec<Location> = names.iter().map(|name| at(folder, name)).collect();
    let path = folder.join("all.nc");
    let to = ferrocdf::create(&path)?;
    let options = JoinOptions { dimension: Some("time".to_string()), ..options.clone() };
    join_virtual(&inputs, &to, folder, &options, &mut |_| ())?;
    to.close()?;
    verified(ferrocdf::open(path)?, folder, names, true, &options)
}

#[test]
fn virtual_file_has_the_values_of_files_wherever_all_are_moved() {
    let folder = tempfile::tempdir().unwrap();
    let (here, moved) = (folder.path().join("here"), folder.path().join("moved"));
    // In a folder of their own, since a source is also looked for beside the file, whatever its path is.
    std::fs::create_dir_all(here.join("days")).unwrap();
    let mut rng = Rng::new(3);
    let (mut names, mut steps) = (vec![], 0);
    for number in 0..6 {
        let shape = Shape {
            format: Format::NETCDF4_CLASSIC,
            is_unlimited: number % 2 == 0,
            chunk: rng.below(3) + 1,
            is_filtered: number % 3 > 0,
        };
        let len = if number == 2 { 0 } else { rng.below(5) + shape.chunk };
        // A name that would stand for a number.
        names.push(format!("days/100%b {number}.nc"));
        make(&here.join(&names[number]), &shape, steps, len, |file| file.set_no_fill(true).unwrap());
        steps += len as i32;
    }
    join_virtually(&here, &names).unwrap();
    std::fs::rename(&here, &moved).unwrap();
    let file = ferrocdf::open(moved.join("all.nc")).unwrap();
    let wanted: Vec<i32> = (0..steps).collect();
    assert_eq!(file.variable("time").unwrap().get_values::<i32, _>(..).unwrap(), wanted);
    let level = file.variable("level").unwrap();
    assert_eq!(level.get_values::<i16, _>(..).unwrap(), level_of(&wanted));
    assert_eq!(level.sources().unwrap().virtual_sources.len(), 5);
    assert_eq!(level.attribute::<f64>("scale_factor").unwrap(), 0.5);
    assert!(!file.dimension("time").unwrap().is_unlimited());
    drop(file);
    std::fs::remove_file(moved.join(&names[0])).unwrap();
    let file = ferrocdf::open(moved.join("all.nc")).unwrap();
    assert_eq!(file.variable("time").unwrap().get_values::<i32, _>(..).unwrap(), wanted);
    let level = file.variable("level").unwrap().get_values::<i16, _>(..).unwrap();
    assert_eq!((level[0], level.last()), (-32767, level_of(&wanted).last()));
}

#[test]
fn virtual_file_refers_to_datasets_in_groups_and_to_prefixed_ones() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..2).map(|number| format!("{number}.nc")).collect();
    for (number, name) in (0..).zip(&names) {
        let file = ferrocdf::create(folder.path().join(name)).unwrap();
        file.add_unlimited_dimension("time").unwrap();
        file.add_dimension("turned", 3).unwrap();
        make_numbers(&file, number);
        file.close().unwrap();
    }
    let file = join_virtually(folder.path(), &names).unwrap();
    let wanted = [0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15];
    assert_eq!(file.variable("turned").unwrap().get_values::<i32, _>(..).unwrap(), wanted);
    assert_eq!(file.variable("inner/v").unwrap().get_values::<i32, _>(..).unwrap(), [0, 1, 10, 11]);
}

/// Adds a variable in a group, and one that has the name of a dimension and is not its coordinate.
fn make_numbers(file: &FileMut, number: i32) {
    let inner = file.add_group("inner").unwrap();
    let v = inner.add_variable::<i32>("v", &["time"]).unwrap();
    let turned = file.add_variable::<i32>("turned", &["time", "turned"]).unwrap();
    v.put_values(&[number * 10, number * 10 + 1], (0..2,)).unwrap();
    let numbers: Vec<i32> = (0..6).map(|at| number * 10 + at).collect();
    turned.put_values(&numbers, (0..2, ..)).unwrap();
}

#[test]
fn virtual_file_refers_to_a_prefixed_dataset_without_a_dimension_of_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..2).map(|number| format!("{number}.nc")).collect();
    for (number, name) in (0..).zip(&names) {
        let file = ferrocdf::create(folder.path().join(name)).unwrap();
        file.add_unlimited_dimension("time").unwrap();
        // The first file has the prefix alone: each file tells its own path.
        let link = if number == 0 { "_nc4_non_coord_v" } else { "v" };
        let v = file.add_variable::<i32>(link, &["time"]).unwrap();
        v.put_values(&[number * 10, number * 10 + 1], (0..2,)).unwrap();
        file.close().unwrap();
    }
    let file = join_virtually(folder.path(), &names).unwrap();
    assert_eq!(file.variable("v").unwrap().get_values::<i32, _>(..).unwrap(), [0, 1, 10, 11]);
}

#[test]
fn other_unlimited_dimensions_of_virtual_variables_become_fixed() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..2).map(|number| format!("{number}.nc")).collect();
    let make = |name: &str, numbers: &[i32]| {
        let file = ferrocdf::create(folder.path().join(name)).unwrap();
        for dim in ["time", "y", "z"] {
            file.add_unlimited_dimension(dim).unwrap();
        }
        let y = file.add_variable::<i32>("y", &["y"]).unwrap();
        let z = file.add_variable::<i32>("z", &["z"]).unwrap();
        let v = file.add_variable::<i32>("v", &["time", "y"]).unwrap();
        let len = numbers.len() / 2;
        y.put_values(&(0..len as i32).collect::<Vec<_>>(), (0..len,)).unwrap();
        z.put_values(&[7], (0..1,)).unwrap();
        v.put_values(numbers, (0..2, 0..len)).unwrap();
        file.close().unwrap();
    };
    make("0.nc", &[0, 1, 2, 3, 4, 5]);
    make("1.nc", &[6, 7, 8, 9, 10, 11]);
    let file = join_virtually(folder.path(), &names).unwrap();
    let v = file.variable("v").unwrap().get_values::<i32, _>(..).unwrap();
    assert_eq!(v, (0..12).collect::<Vec<_>>());
    assert_eq!(file.variable("y").unwrap().get_values::<i32, _>(..).unwrap(), [0, 1, 2]);
    let is_unlimited = |name: &str| file.dimension(name).unwrap().is_unlimited();
    assert_eq!(["time", "y", "z"].map(is_unlimited), [false, false, true]);
    drop(file);
    make("1.nc", &[6, 7, 8, 9]);
    let error = join_virtually(folder.path(), &names).map(drop).unwrap_err().to_string();
    assert!(error.contains("1.nc: /y: shape") || error.contains("1.nc: /v: shape"), "{error}");
}

#[test]
#[cfg(target_os = "linux")]
fn virtual_sources_with_names_that_are_not_utf8_are_refused() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let name = std::ffi::OsStr::from_bytes(b"a\xff.nc");
    make(&folder.path().join(name), &PLAIN_CLASSIC, 0, 2, |_| ());
    let to = ferrocdf::create(folder.path().join("all.nc")).unwrap();
    let inputs = [Location::Path(folder.path().join(name))];
    let error = join_virtual(&inputs, &to, folder.path(), &JoinOptions::default(), &mut |_| ()).unwrap_err();
    assert!(error.code == Code::EINVAL && error.to_string().contains("must be UTF-8"), "{error}");
}

#[test]
fn files_that_cannot_be_virtual_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let names = parts(folder.path(), &[2, 2]);
    let said = || join_virtually(folder.path(), &names).map(drop).unwrap_err().to_string();
    assert!(said().contains("0.nc: /inner/texts: strings"), "{}", said());
    make(&folder.path().join("0.nc"), &PLAIN_CLASSIC, 0, 2, |_| ());
    make(&folder.path().join("1.nc"), &Shape { format: Format::DATA64, ..PLAIN_CLASSIC }, 2, 2, |_| ());
    assert!(said().contains("1.nc: only netCDF-4") && said().contains("without --virtual"), "{}", said());
    make(&folder.path().join("1.nc"), &PLAIN_CLASSIC, 2, 2, |file| {
        file.variable_mut("time").unwrap().put_attribute("calendar", "noleap").unwrap();
    });
    assert!(said().contains("1.nc: /time: calendar"), "{}", said());
}

/// Makes a file of daily means as xarray does: the reference date is that of the file, and bounds have no units of their own.
fn make_day(path: &Path, units: &str, calendar: &str, times: &Values, bounds: &Values) {
    let file = ferrocdf::create(path).unwrap();
    file.add_dimension("time", times.len() as u64).unwrap();
    file.add_dimension("bnds", 2).unwrap();
    let ferrocdf::Type::Atomic(atomic) = times.ty() else { panic!() };
    let time = file.build_variable("time", atomic, &["time"]).attribute("units", units);
    let time = time.attribute("calendar", calendar).attribute("bounds", "time_bnds").create().unwrap();
    let bnds = file.build_variable("time_bnds", atomic, &["time", "bnds"]).create().unwrap();
    let heat = file.add_variable::<f32>("heat", &["time"]).unwrap();
    let len = times.len() as u64;
    let _exact = file.write_values(time.id(), &[0], &[len], times).unwrap();
    let _exact = file.write_values(bnds.id(), &[0, 0], &[len, 2], bounds).unwrap();
    heat.put_values(&vec![1.5_f32; times.len()], ..).unwrap();
    file.close().unwrap();
}

fn names_of(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{number}.nc")).collect()
}

#[test]
fn times_of_other_units_are_converted_on_request_with_their_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let names = names_of(3);
    let path = |number: usize| folder.path().join(&names[number]);
    let ints = |list: &[i64]| Values::Int64(list.to_vec());
    make_day(&path(0), "hours since 2000-02-28", "noleap", &ints(&[12, 36]), &ints(&[0, 24, 24, 48]));
    make_day(&path(1), "days since 2000-03-02 12:00", "365_day", &ints(&[0]), &ints(&[-1, 1]));
    make_day(&path(2), "hours since 2000-02-28 00:00:00Z", "noleap", &ints(&[84]), &ints(&[72, 96]));
    let inputs: Vec<Location> = names.iter().map(|name| at(folder.path(), name)).collect();
    let options = JoinOptions {
        dimension: Some("time".to_string()),
        convert_times: true,
        history: Some("now: joined".to_string()),
        ..JoinOptions::default()
    };
    let joined = |options: &JoinOptions| {
        let all = folder.path().join("all.nc");
        let to = ferrocdf::create(&all)?;
        join(&inputs, &to, options, &mut |event| assert_eq!(event, JoinEvent::Joined))?;
        to.close()?;
        verified(ferrocdf::open(all)?, folder.path(), &names, false, options)
    };
    let check = |file: File| {
        let values = |name: &str| file.variable(name).unwrap().get_values::<i64, _>(..).unwrap();
        assert_eq!(values("time"), [12, 36, 60, 84]);
        assert_eq!(values("time_bnds"), [0, 24, 24, 48, 36, 84, 72, 96]);
        assert_eq!(file.attribute::<String>("history").unwrap(), "now: joined");
    };
    let file = joined(&options).unwrap();
    assert_eq!(file.variable("time_bnds").unwrap().chunk_shape(), Some(vec![512, 2]));
    check(file);
    check(join_virtually_as(folder.path(), &names, &options).unwrap());
    let refused = joined(&JoinOptions { convert_times: false, ..options.clone() }).map(drop).unwrap_err();
    assert!(refused.to_string().contains("1.nc: /time: units is"), "{refused}");
    make_day(&path(0), "days since 2000-02-28", "noleap", &ints(&[1, 2]), &ints(&[0, 2, 2, 4]));
    let refused = joined(&options).map(drop).unwrap_err();
    assert!(
        refused.to_string().contains("2.nc: /time: the time 84 cannot be told")
            || refused.to_string().contains("1.nc: /time: the time 0"),
        "{refused}"
    );
    let doubles = |list: &[f64]| Values::Double(list.to_vec());
    make_day(
        &path(0),
        "days since 2000-02-28",
        "noleap",
        &doubles(&[0.5, 1.5]),
        &doubles(&[0.0, 1.0, 1.0, 2.0]),
    );
    make_day(&path(1), "hours since 2000-03-02", "noleap", &doubles(&[12.0]), &doubles(&[0.0, 24.0]));
    make_day(&path(2), "days since 2000-02-28 00:00", "noleap", &doubles(&[3.5]), &doubles(&[3.0, 4.0]));
    let file = joined(&options).unwrap();
    assert_eq!(file.variable("time").unwrap().get_values::<f64, _>(..).unwrap(), [0.5, 1.5, 2.5, 3.5]);
    make_day(&path(1), "hours since 2000-03-02", "standard", &doubles(&[12.0]), &doubles(&[0.0, 24.0]));
    let refused = joined(&options).map(drop).unwrap_err().to_string();
    assert!(refused.contains("1.nc: /time: calendar is \"standard\""), "{refused}");
}

#[test]
fn attributes_that_say_the_same_in_other_words_are_no_reason_to_refuse() {
    let folder = tempfile::tempdir().unwrap();
    let names = names_of(2);
    let with = |name: &str, first: i32, attributes: &[(&str, &str, Values)]| {
        make(&folder.path().join(name), &PLAIN, first, 2, |file| {
            with_group(&PLAIN)(file);
            for (variable, attribute, value) in attributes {
                file.variable_mut(variable).unwrap().put_attribute(attribute, value.clone()).unwrap();
            }
        });
    };
    let said = || join_to(folder.path(), Format::NETCDF4, &names, None).map_err(|error| error.to_string());
    let char = |text: &str| Values::Char(text.as_bytes().to_vec());
    with("0.nc", 0, &[("time", "calendar", char("gregorian"))]);
    with(
        "1.nc",
        2,
        &[
            ("time", "calendar", char("standard")),
            ("time", "units", char("days since 2000-01-01 00:00:00")),
            ("level", "add_offset", Values::Double(vec![0.0])),
            ("inner/turned", "scale_factor", Values::Float(vec![1.0])),
        ],
    );
    check(&said().unwrap(), 4);
    // The unpacked numbers would be doubles in one file.
    with("1.nc", 2, &[("inner/turned", "scale_factor", Values::Double(vec![1.0]))]);
    assert!(said().unwrap_err().contains("1.nc: /inner/turned: scale_factor is 1, but missing"));
    with("1.nc", 2, &[("level", "add_offset", Values::Double(vec![0.5]))]);
    assert!(said().unwrap_err().contains("1.nc: /level: add_offset is 0.5, but missing"));
}

#[test]
fn coordinate_that_loses_its_order_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    for (firsts, wanted) in [
        (&[0, 2, 4][..], &[][..]),
        (&[0, 1, 3], &["1.nc: /time has 1 behind 1 of", "0.nc"][..]),
        (&[4, 2, 0], &["1.nc: /time has 2 behind 5 of"]),
        (&[0, 4, 2], &["2.nc: /time has 2 behind 5 of", "not monotonic"]),
    ] {
        let names = names_of(firsts.len());
        for (name, &first) in names.iter().zip(firsts) {
            make(&folder.path().join(name), &PLAIN_CLASSIC, first, 2, |_| ());
        }
        let inputs: Vec<Location> = names.iter().map(|name| at(folder.path(), name)).collect();
        for is_virtual in [false, true] {
            let to = FileMut::create(
                folder.path().join("all.nc"),
                &CreateOptions::format(Format::NETCDF4_CLASSIC),
            )
            .unwrap();
            let mut warnings = vec![];
            let mut tell = |event: JoinEvent<'_>| {
                if let JoinEvent::Warning(warning) = event {
                    warnings.push(warning.to_string());
                }
            };
            let options = JoinOptions::default();
            match is_virtual {
                false => join(&inputs, &to, &options, &mut tell).unwrap(),
                true => join_virtual(&inputs, &to, folder.path(), &options, &mut tell).unwrap(),
            }
            assert_eq!(warnings.len(), usize::from(!wanted.is_empty()), "{firsts:?}: {warnings:?}");
            assert!(wanted.iter().all(|words| warnings[0].contains(words)), "{warnings:?}");
        }
    }
}

#[test]
fn virtual_file_stays_readable_when_a_source_grows() {
    let folder = tempfile::tempdir().unwrap();
    let names = names_of(2);
    for (first, name) in [(0, "0.nc"), (2, "1.nc")] {
        make(&folder.path().join(name), &PLAIN_CLASSIC, first, 2, |_| ());
    }
    drop(join_virtually(folder.path(), &names).unwrap());
    let file = FileMut::append(folder.path().join("0.nc")).unwrap();
    file.variable_mut("level").unwrap().put_values(&[-1_i16; 15], (2..5, ..)).unwrap();
    file.close().unwrap();
    let file = ferrocdf::open(folder.path().join("all.nc")).unwrap();
    let level = file.variable("level").unwrap();
    assert_eq!(level.get_values::<i16, _>(..).unwrap(), level_of(&[0, 1, 2, 3]));
    assert_eq!(level.missing_sources().unwrap(), []);
}

#[test]
fn virtual_file_has_its_own_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let names = names_of(2);
    for (number, name) in (0..).zip(&names) {
        let times = Values::Int64(vec![number]);
        let bounds = Values::Int64(vec![number, number + 1]);
        make_day(&folder.path().join(name), "days since 2000-01-01", "standard", &times, &bounds);
    }
    let file = join_virtually(folder.path(), &names).unwrap();
    let is_virtual = |name: &str| !file.variable(name).unwrap().sources().unwrap().virtual_sources.is_empty();
    assert_eq!(["time", "time_bnds", "heat"].map(is_virtual), [false, false, true]);
    assert_eq!(file.variable("time_bnds").unwrap().get_values::<i64, _>(..).unwrap(), [0, 1, 1, 2]);
}

#[test]
fn sources_that_lack_elements_are_told_and_not_copied_as_fill_values() {
    let folder = tempfile::tempdir().unwrap();
    let names = names_of(3);
    for (number, name) in (0..).zip(&names) {
        make(&folder.path().join(name), &PLAIN_CLASSIC, 2 * number, 2, |_| ());
    }
    drop(join_virtually(folder.path(), &names).unwrap());
    std::fs::rename(folder.path().join("all.nc"), folder.path().join("virtual.nc")).unwrap();
    std::fs::remove_file(folder.path().join("0.nc")).unwrap();
    make(&folder.path().join("1.nc"), &PLAIN_CLASSIC, 2, 1, |_| ());
    ferrocdf::create(folder.path().join("2.nc")).unwrap().close().unwrap();
    let file = ferrocdf::open(folder.path().join("virtual.nc")).unwrap();
    let missing = file.variable("level").unwrap().missing_sources().unwrap();
    let found: Vec<_> = missing.iter().map(|source| (&*source.file, &*source.path, source.lack)).collect();
    let level = "/level";
    assert_eq!(
        found,
        [("0.nc", level, Lack::File), ("1.nc", level, Lack::Elements), ("2.nc", level, Lack::Dataset)]
    );
    assert_eq!(file.variable("time").unwrap().missing_sources().unwrap(), []);
    let error = file.check_sources(file.model().var_ids()).unwrap_err();
    assert_eq!(error.code, errno::NOENT);
    let wanted =
        "/level: it has elements in the file \"0.nc\", which is not there (and in 2 more that lack elements)";
    assert!(error.what.contains(wanted), "{error}");
    let virtual_file = [at(folder.path(), "virtual.nc")];
    let join_it = |fill_missing| {
        let to =
            FileMut::create(folder.path().join("copy.nc"), &CreateOptions::format(Format::NETCDF4_CLASSIC))?;
        let options =
            JoinOptions { dimension: Some("time".to_string()), fill_missing, ..JoinOptions::default() };
        join(&virtual_file, &to, &options, &mut |_| ())?;
        to.variable_mut("level")?.get_values::<i16, _>(..)
    };
    let error = join_it(false).unwrap_err();
    assert!(error.to_string().contains("virtual.nc: /level: it has elements in the file"), "{error}");
    let fill = -32767;
    assert_eq!(join_it(true).unwrap(), [vec![fill; 10], level_of(&[2]), vec![fill; 15]].concat());
    let made = References::of(&virtual_file[0], &ReferenceOptions::default()).unwrap();
    assert!(made.skipped.len() == 1 && made.skipped[0].what.contains("0.nc"), "{:?}", made.skipped);
    assert!(made.references.get("level/.zarray").is_none());
}

#[test]
fn reasons_tell_what_differs_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let names = names_of(2);
    let with_enum = |name: &str, two: i8| {
        let file = ferrocdf::create(folder.path().join(name)).unwrap();
        file.add_unlimited_dimension("time").unwrap();
        let ty = file.add_enum_type("e_t", &[("one", 1_i8), ("two", two)]).unwrap();
        file.add_variable_of(ty, "v", &["time"]).unwrap();
        file.close().unwrap();
    };
    with_enum("0.nc", 2);
    with_enum("1.nc", 3);
    let said = |dimension| {
        join_to(folder.path(), Format::NETCDF4, &names, dimension).map(drop).unwrap_err().to_string()
    };
    let wanted =
        "1.nc: /v: the definition of its type e_t is byte {one = 1, two = 3}, but byte {one = 1, two = 2} in";
    assert!(said(None).contains(wanted), "{}", said(None));
    assert!(
        said(Some("/group/time")).contains("name the dimension \"time\" alone"),
        "{}",
        said(Some("/group/time"))
    );
}
