//! Comparing a copy with what it was made of.

use ferrocdf::{Code, Error, File, Result, VarId};

use super::options::Options;

/// Checks that the copy has the dimensions, the attributes and the values of these variables of the input and, if asked for, all metadata in
/// front of the elements.
///
/// # Errors
/// `NC_EINVAL` with the first difference; those of reading.
pub fn check(input: &File, made: &File, vars: impl Iterator<Item = VarId>, options: &Options) -> Result<()> {
    let differs = |what: String| {
        Error::new(Code::EINVAL, format!("the copy differs from {}: {what}", input.path().display()))
    };
    let (source, target) = (input.model(), made.model());
    let vars: Vec<VarId> = vars.collect();
    if let Some(what) = ferrocdf::find_definition_difference(&source, &target, &vars) {
        return Err(differs(what));
    }
    let to = |&var: &VarId| Some((var, target.find_var_at(source.var_path(var).as_bytes())?));
    let pairs: Vec<_> = vars.iter().filter_map(to).collect();
    if let Some((var, at)) = ferrocdf::find_difference(input, made, &pairs, options.buffer)? {
        return Err(differs(format!("element {at:?} of {}", source.var_path(var))));
    }
    if options.metadata_first && made.layout()?.is_metadata_first() == Some(false) {
        return Err(Error::new(Code::EINTERNAL, "some metadata of the copy lies behind its first element"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use ferrocdf::{Atomic, FileMut};

    use super::*;

    /// A part of the message about a difference, and the change that makes the difference.
    type Change<'a> = (&'a str, &'a dyn Fn(&FileMut));

    /// Makes a file in which `change` changes something before it is closed.
    fn made(path: &Path, change: impl FnOnce(&FileMut)) -> File {
        let file = ferrocdf::create(path).unwrap();
        file.add_unlimited_dimension("time").unwrap();
        file.add_dimension("x", 100).unwrap();
        file.put_attribute("title", "a test").unwrap();
        file.build_variable("heat", Atomic::Float, &["time", "x"]).chunks(&[2, 30]).create().unwrap();
        file.add_variable::<i16>("mask", &["x"]).unwrap().put_values(&[7_i16; 100], ..).unwrap();
        let heat: Vec<f32> = (0..500).map(|at| if at == 77 { f32::NAN } else { at as f32 }).collect();
        file.variable_mut("heat").unwrap().put_values(&heat, (..5, ..)).unwrap();
        change(&file);
        file.close().unwrap();
        File::open(path).unwrap()
    }

    #[test]
    fn each_difference_is_found_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let input = made(&folder.path().join("a.nc"), |_| {});
        let options = Options { buffer: 1000, ..Options::default() };
        let checked = |change: &dyn Fn(&FileMut)| {
            let copy = made(&folder.path().join("b.nc"), change);
            let done = check(&input, &copy, input.model().var_ids(), &options);
            done.err().map(|error| error.to_string())
        };
        assert_eq!(checked(&|_| {}), None);
        let replaced = |file: &FileMut, name: &str, atomic: Atomic, dims: &[&str]| {
            file.variable_mut(name).unwrap().rename("other").unwrap();
            file.build_variable(name, atomic, dims).create().unwrap();
        };
        let changes: [Change<'_>; 9] = [
            ("the type of /mask", &|file| replaced(file, "mask", Atomic::Int, &["x"])),
            ("the list of dimensions of /heat", &|file| {
                replaced(file, "heat", Atomic::Float, &["x", "time"])
            }),
            ("mask is missing", &|file| file.variable_mut("mask").unwrap().rename("other").unwrap()),
            ("element [4, 99] of /heat", &|file| {
                file.variable_mut("heat").unwrap().put_value(1.5_f32, [4, 99]).unwrap()
            }),
            ("element [0, 77] of /heat", &|file| {
                let payload = f32::from_bits(f32::NAN.to_bits() | 1);
                file.variable_mut("heat").unwrap().put_value(payload, [0, 77]).unwrap();
            }),
            ("element [99] of /mask", &|file| {
                file.variable_mut("mask").unwrap().put_value(8_i16, [99]).unwrap()
            }),
            ("attribute title of /", &|file| file.put_attribute("title", "another").unwrap()),
            ("the dimensions of /", &|file| drop(file.add_dimension("y", 3).unwrap())),
            ("the dimensions of /", &|file| {
                file.variable_mut("heat").unwrap().put_values(&[0_f32; 100], (5, ..)).unwrap();
            }),
        ];
        for (what, change) in changes {
            let found = checked(change).unwrap_or_default();
            assert!(found.contains(what), "{what}: {found:?}");
        }
    }
}
