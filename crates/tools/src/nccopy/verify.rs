//! Comparing a copy with what it was made of.

use std::collections::HashMap;

use ferrocdf::{Attr, Code, Error, File, GroupId, Model, Owner, Result, VarId};

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
    let groups: HashMap<String, GroupId> =
        target.group_ids().map(|group| (target.group_path(group), group)).collect();
    let (mut owners, mut pairs) = (vec![], vec![]);
    for group in source.group_ids() {
        let path = source.group_path(group);
        let to = *groups.get(&path).ok_or_else(|| differs(format!("{path} is missing")))?;
        if dimensions(&source, group) != dimensions(&target, to) {
            return Err(differs(format!("the dimensions of {path}")));
        }
        owners.push((path, Owner::Group(group), Owner::Group(to)));
    }
    for var in vars {
        let path = source.var_path(var);
        let to = target.find_var_at(path.as_bytes()).ok_or_else(|| differs(format!("{path} is missing")))?;
        owners.push((path, Owner::Var(var), Owner::Var(to)));
        pairs.push((var, to));
    }
    for (path, from, to) in owners {
        if let Some(name) = other_attribute(&source, from, &target, to) {
            return Err(differs(format!("attribute {name} of {path}")));
        }
    }
    if let Some((var, at)) = ferrocdf::find_difference(input, made, &pairs, options.buffer)? {
        return Err(differs(format!("{} from element {at:?} on", source.var_path(var))));
    }
    if options.metadata_first && made.layout()?.is_metadata_first() == Some(false) {
        return Err(Error::new(Code::EINTERNAL, "some metadata of the copy lies behind its first element"));
    }
    Ok(())
}

/// Names and lengths of the dimensions of a group, in the order of their names, and whether they grow.
fn dimensions(model: &Model, group: GroupId) -> Vec<(&[u8], u64, bool)> {
    let own = model.dims().iter().filter(|dim| dim.group == group);
    let mut found: Vec<_> = own.map(|dim| (dim.name.as_bytes(), dim.len, dim.unlimited)).collect();
    found.sort_unstable();
    found
}

/// The name of the first attribute that the target has not, or with another value.
fn other_attribute(source: &Model, from: Owner, target: &Model, to: Owner) -> Option<String> {
    // The text of values is the same for not-a-numbers too.
    let is_same =
        |a: &Attr, b: &Attr| a.value == b.value || format!("{:?}", a.value) == format!("{:?}", b.value);
    let is_there =
        |attr: &&Attr| target.attrs(to).iter().any(|other| other.name == attr.name && is_same(attr, other));
    let missing = source.attrs(from).iter().find(|attr| !is_there(attr));
    missing.map(|attr| attr.name.to_string())
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
        let changes: [Change<'_>; 7] = [
            ("mask is missing", &|file| file.variable_mut("mask").unwrap().rename("other").unwrap()),
            ("heat from element [", &|file| {
                file.variable_mut("heat").unwrap().put_value(1.5_f32, [4, 99]).unwrap()
            }),
            ("heat from element [", &|file| {
                let payload = f32::from_bits(f32::NAN.to_bits() | 1);
                file.variable_mut("heat").unwrap().put_value(payload, [0, 77]).unwrap();
            }),
            ("mask from element [", &|file| {
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
