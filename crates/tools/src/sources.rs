//! The files that a dataset has data in: raw data, and the sources of virtual datasets.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use ferrocdf::store::{folder_of, resolve_links};
use ferrocdf::{Code, Error, File, Result};

use crate::input::{local, overlap};

/// Checks that an output takes the place of no file that inputs have data in, through however many files.
///
/// # Errors
/// `NC_EINVAL` if the output is a file that an input has data in, so that the data would be lost, or a virtual file would refer to itself.
pub fn check_overwritten(inputs: &[PathBuf], output: &Path) -> Result<()> {
    let mut seen: HashSet<PathBuf> = inputs.iter().cloned().collect();
    let mut rest: Vec<PathBuf> = inputs.iter().rev().cloned().collect();
    while let Some(path) = rest.pop() {
        for source in sources(&path) {
            if overlap(&source, output).is_some() {
                let what = format!(
                    "the output would overwrite {}, which {} has data in",
                    source.display(),
                    path.display()
                );
                return Err(Error::new(Code::EINVAL, what).at(output.display()));
            }
            if seen.insert(source.clone()) {
                rest.push(source);
            }
        }
    }
    Ok(())
}

/// Returns the other files that the variables of a local file have data in; none if it cannot be opened, as files of raw data cannot.
fn sources(path: &Path) -> BTreeSet<PathBuf> {
    let path = local(path.to_path_buf());
    let path = resolve_links(&path).unwrap_or(path);
    let file = path.is_file().then(|| File::open(&path).ok()).flatten();
    let Some(file) = file else { return BTreeSet::new() };
    let mut names = BTreeSet::new();
    for id in file.model().var_ids() {
        let Ok(sources) = file.variable_of(id).sources() else { continue };
        names.extend(sources.external);
        // A percent sign is written twice in names of virtual sources.
        names.extend(sources.virtual_sources.into_iter().map(|(name, _)| name.replace("%%", "%")));
    }
    names.remove(".");
    let folder = folder_of(&path);
    let beside = |name: String| {
        let path = folder.join(&name);
        // As readers look for it: by its path, or else beside the file.
        let found = match path.file_name() {
            Some(last) if !path.exists() => folder.join(last),
            _ => path,
        };
        // One path for each file, so that files which refer to each other are looked at once.
        found.canonicalize().unwrap_or(found)
    };
    names.into_iter().map(beside).collect()
}
