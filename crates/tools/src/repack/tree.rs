//! The files of a folder and of those below it: which are repacked, and which are skipped.

use std::fs;
use std::path::{Path, PathBuf};

use ferrocdf::{Error, Location};

use crate::temporary;

/// Skipped files that a line names, if not all are asked for.
const NAMED: usize = 5;

/// The files below folders that are not repacked.
#[derive(Debug, Default)]
pub struct Skipped {
    /// Files without the signature of HDF5, devices and pipes.
    others: Vec<PathBuf>,
    links: Vec<PathBuf>,
}

impl Skipped {
    /// Returns a line for each kind of file that was skipped, which names all files or the first ones.
    pub fn lines(&self, names_all: bool) -> Vec<String> {
        let line = |paths: &[PathBuf], one: &str, many: &str| {
            let shown = if names_all { paths.len() } else { paths.len().min(NAMED) };
            let names: Vec<String> = paths[..shown].iter().map(|path| path.display().to_string()).collect();
            let more = match paths.len() - shown {
                0 => String::new(),
                more => format!(" and {more} more (-v names all)"),
            };
            let kind = if paths.len() == 1 { one } else { many };
            let names = names.join(", ");
            (!paths.is_empty()).then(|| format!("skipped {} {kind}: {names}{more}", paths.len()))
        };
        let others = line(&self.others, "file that is not an HDF5 file", "files that are not HDF5 files");
        let links = line(&self.links, "symbolic link", "symbolic links");
        others.into_iter().chain(links).collect()
    }
}

/// Returns the files of a folder and of those below it that have the signature of HDF5, by their names. Symbolic links are not followed; temporary
/// files of this program are neither returned nor skipped.
pub fn hdf5_files(folder: &Path, unreadable: &mut Vec<String>, skipped: &mut Skipped) -> Vec<PathBuf> {
    let (mut found, mut waiting) = (vec![], vec![folder.to_path_buf()]);
    let mut failed = |error: Error| unreadable.push(error.to_string());
    while let Some(folder) = waiting.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                failed(Error::system(error, folder.display()));
                continue;
            }
        };
        for entry in entries {
            let (kind, path) = match entry.and_then(|entry| Ok((entry.file_type()?, entry.path()))) {
                Ok(entry) => entry,
                Err(error) => {
                    failed(Error::system(error, folder.display()));
                    continue;
                }
            };
            if kind.is_dir() {
                waiting.push(path);
                continue;
            }
            if temporary::is_temporary(&path) {
                continue;
            }
            if kind.is_symlink() {
                skipped.links.push(path);
                continue;
            }
            // Reading from a pipe or a device may never end.
            match kind.is_file().then(|| Location::Path(path.clone()).is_hdf5()) {
                Some(Ok(true)) => found.push(path),
                Some(Ok(false)) | None => skipped.others.push(path),
                Some(Err(error)) => failed(error),
            }
        }
    }
    for paths in [&mut found, &mut skipped.others, &mut skipped.links] {
        paths.sort_unstable();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_files_are_counted_and_the_first_ones_named() {
        let paths = |count| (0..count).map(|number| PathBuf::from(number.to_string())).collect();
        assert!(Skipped::default().lines(true).is_empty());
        let skipped = Skipped { others: paths(7), links: paths(1) };
        let others = "skipped 7 files that are not HDF5 files: 0, 1, 2, 3, 4";
        let links = "skipped 1 symbolic link: 0";
        assert_eq!(skipped.lines(false), [format!("{others} and 2 more (-v names all)"), links.to_string()]);
        assert_eq!(skipped.lines(true), [format!("{others}, 5, 6"), links.to_string()]);
    }
}
