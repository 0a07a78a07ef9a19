//! Joined files compared with the files that they were made of.

use std::path::Path;

use ferrocdf::join::{JoinOptions, join, join_virtual, verify};
use ferrocdf::{Code, CreateOptions, FileMut, Format, Location, Result, errno};

/// Makes a file of two steps, with a variable without the dimension.
fn make(path: &Path, format: Format, units: &str, first: i32) {
    let file = FileMut::create(path, &CreateOptions::format(format)).unwrap();
    file.put_attribute("title", "a test").unwrap();
    file.add_unlimited_dimension("time").unwrap();
    file.add_dimension("x", 3).unwrap();
    let time = file.add_variable::<i32>("time", &["time"]).unwrap();
    time.put_attribute("units", units).unwrap();
    time.put_values(&[first, first + 1], ..).unwrap();
    let x = file.add_variable::<f64>("x", &["x"]).unwrap();
    x.put_values(&[0.0, -0.0, f64::NAN], ..).unwrap();
    let heat = file.add_variable::<f32>("heat", &["time", "x"]).unwrap();
    heat.put_attribute("units", "K").unwrap();
    let heats: Vec<f32> = (0..6).map(|at| (10 * first + at) as f32).collect();
    heat.put_values(&heats, (0..2, ..)).unwrap();
    file.close().unwrap();
}

const DAYS: &str = "days since 2000-01-01";

/// Two files, the options with which they are joined, and whether virtually.
struct Pair<'a> {
    folder: &'a Path,
    options: JoinOptions,
    is_virtual: bool,
}

impl Pair<'_> {
    fn inputs(&self) -> [Location; 2] {
        ["a.nc", "b.nc"].map(|name| Location::Path(self.folder.join(name)))
    }

    /// Makes the joined file, and changes it.
    fn join(&self, format: Format, change: impl Fn(&FileMut)) {
        let path = self.folder.join("all.nc");
        let to = FileMut::create(&path, &CreateOptions::format(format)).unwrap();
        match self.is_virtual {
            true => join_virtual(&self.inputs(), &to, self.folder, &self.options, &mut |_| ()).unwrap(),
            false => join(&self.inputs(), &to, &self.options, &mut |_| ()).unwrap(),
        }
        to.close().unwrap();
        let file = FileMut::append(&path).unwrap();
        change(&file);
        file.close().unwrap();
    }

    fn verify(&self) -> Result<()> {
        let file = ferrocdf::open(self.folder.join("all.nc"))?;
        verify(&self.inputs(), &file, self.is_virtual, &self.options, &mut |_| ())
    }
}

/// A part of the message about a difference, and the change that makes the difference.
type Change<'a> = (&'a str, &'a dyn Fn(&FileMut));

/// Changes that make a difference in a joined file of any kind.
const CHANGES: [Change<'_>; 9] = [
    ("a.nc: element [1] of /time", &|file| {
        file.variable_mut("time").unwrap().put_value(7, [1]).unwrap();
    }),
    ("b.nc: element [0] of /time", &|file| {
        file.variable_mut("time").unwrap().put_value(7, [2]).unwrap();
    }),
    ("a.nc: element [1] of /x", &|file| file.variable_mut("x").unwrap().put_value(0.0, [1]).unwrap()),
    ("a.nc: element [2] of /x", &|file| {
        let payload = f64::from_bits(f64::NAN.to_bits() | 1);
        file.variable_mut("x").unwrap().put_value(payload, [2]).unwrap();
    }),
    ("a.nc: attribute title of /", &|file| file.put_attribute("title", "another").unwrap()),
    ("a.nc: attribute units of /heat", &|file| {
        file.variable_mut("heat").unwrap().remove_attribute("units").unwrap();
    }),
    ("a.nc: attribute more of /heat", &|file| {
        file.variable_mut("heat").unwrap().put_attribute("more", "of it").unwrap();
    }),
    ("a.nc: the dimensions of /", &|file| drop(file.add_dimension("y", 3).unwrap())),
    ("a.nc: /heat is missing", &|file| file.variable_mut("heat").unwrap().rename("other").unwrap()),
];

#[test]
fn each_difference_of_a_joined_file_is_named_with_file_and_element() {
    for (format, is_virtual) in [(Format::NETCDF4, false), (Format::NETCDF4, true), (Format::DATA64, false)] {
        let folder = tempfile::tempdir().unwrap();
        for (name, first) in [("a.nc", 0), ("b.nc", 2)] {
            make(&folder.path().join(name), format, DAYS, first);
        }
        let pair = Pair { folder: folder.path(), options: JoinOptions::default(), is_virtual };
        pair.join(format, |_| ());
        pair.verify().unwrap();
        for (what, change) in CHANGES {
            pair.join(format, change);
            let error = pair.verify().unwrap_err();
            let said = error.to_string();
            assert!(error.code == Code::EINVAL && said.contains(what), "{is_virtual} {what}: {said}");
        }
        if !is_virtual {
            let heat = |file: &FileMut| file.variable_mut("heat").unwrap().put_value(7.0, [3, 2]).unwrap();
            pair.join(format, heat);
            assert!(pair.verify().unwrap_err().to_string().contains("b.nc: element [1, 2] of /heat"));
            let longer = |file: &FileMut| file.variable_mut("time").unwrap().put_value(9, [4]).unwrap();
            pair.join(format, longer);
            assert!(pair.verify().unwrap_err().to_string().contains("the dimensions of /"));
            let more = |file: &FileMut| {
                file.add_variable::<i32>("more", &["x"]).unwrap();
            };
            pair.join(format, more);
            assert!(pair.verify().unwrap_err().to_string().contains("/more is missing"));
        }
    }
}

#[test]
fn virtual_file_that_shows_other_elements_or_none_differs() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a.nc", "b.nc"].map(|name| folder.path().join(name));
    for (path, first) in paths.iter().zip([0, 2]) {
        make(path, Format::NETCDF4, DAYS, first);
    }
    let pair = Pair { folder: folder.path(), options: JoinOptions::default(), is_virtual: true };
    pair.join(Format::NETCDF4, |_| ());
    // Sources are found elsewhere, with other values.
    std::fs::create_dir(folder.path().join("moved")).unwrap();
    let moved = folder.path().join("moved/all.nc");
    std::fs::rename(folder.path().join("all.nc"), &moved).unwrap();
    let verify = || verify(&pair.inputs(), &ferrocdf::open(&moved)?, true, &pair.options, &mut |_| ());
    let error = verify().unwrap_err();
    assert!(error.to_string().contains("a.nc: element [0, 0] of /heat"), "{error}");
    for (name, first) in [("a.nc", 0), ("b.nc", 2)] {
        make(&folder.path().join("moved").join(name), Format::NETCDF4, DAYS, first);
    }
    verify().unwrap();
    make(&folder.path().join("moved/b.nc"), Format::NETCDF4, DAYS, 3);
    let error = verify().unwrap_err();
    assert!(error.to_string().contains("b.nc: element [0, 0] of /heat"), "{error}");
    // All elements are fill values, so that no value tells that the source is missing.
    for (name, first) in [("a.nc", 0), ("b.nc", 2)] {
        for folder in [folder.path(), &folder.path().join("moved")] {
            make(&folder.join(name), Format::NETCDF4, DAYS, first);
            let file = FileMut::append(folder.join(name)).unwrap();
            file.variable_mut("heat").unwrap().put_values(&[9.969_21e36_f32; 6], (0..2, ..)).unwrap();
            file.close().unwrap();
        }
    }
    verify().unwrap();
    std::fs::remove_file(folder.path().join("moved/b.nc")).unwrap();
    assert_eq!(verify().unwrap_err().code, errno::NOENT);
}

#[test]
fn converted_times_are_compared_by_value() {
    for is_virtual in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        make(&folder.path().join("a.nc"), Format::NETCDF4, DAYS, 0);
        make(&folder.path().join("b.nc"), Format::NETCDF4, "days since 2000-01-03", 0);
        let options = JoinOptions { convert_times: true, ..JoinOptions::default() };
        let pair = Pair { folder: folder.path(), options, is_virtual };
        pair.join(Format::NETCDF4, |_| ());
        pair.verify().unwrap();
        // As it is in the file, unconverted.
        pair.join(Format::NETCDF4, |file| file.variable_mut("time").unwrap().put_value(1, [3]).unwrap());
        let error = pair.verify().unwrap_err();
        assert!(error.to_string().contains("b.nc: element [1] of /time"), "{error}");
    }
}
