//! Names of files from the folder of another file.

use std::path::{Component, Path, PathBuf};

use ferrocdf_bytes::{Error, Result};

use super::check::refused;

/// Returns the path of a file from a folder, with slashes; the absolute path where no relative one leads there.
///
/// # Errors
/// Those of the system for a file or a folder that is not there; `NC_EINVAL` for a path that is not UTF-8.
pub(super) fn relative(folder: &Path, file: &Path) -> Result<String> {
    let real = |path: &Path| path.canonicalize().map_err(|error| Error::system(error, path.display()));
    let (folder, file) = (real(folder)?, real(file)?);
    let path = between(&folder, &file).unwrap_or_else(|| file.as_os_str().as_encoded_bytes().to_vec());
    String::from_utf8(path).map_err(|_| {
        refused(format!("{}: paths of sources of virtual datasets must be UTF-8", file.display()))
    })
}

/// Returns the path from one absolute path to another, both without links; `None` if they have no folder in common.
fn between(folder: &Path, file: &Path) -> Option<Vec<u8>> {
    let common: PathBuf = folder
        .components()
        .zip(file.components())
        .take_while(|(one, other)| one == other)
        .map(|(one, _)| one)
        .collect();
    let up = folder.strip_prefix(&common).ok()?.components().map(|_| Component::ParentDir);
    let down = file.strip_prefix(&common).ok()?.components();
    let names: Vec<&[u8]> = up.chain(down).map(|name| name.as_os_str().as_encoded_bytes()).collect();
    common.has_root().then(|| names.join(&b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_up_and_down() {
        let between = |folder: &str, file: &str| between(Path::new(folder), Path::new(file));
        for (folder, file, wanted) in [
            ("/a/b", "/a/b/c.nc", "c.nc"),
            ("/a", "/a/b/c.nc", "b/c.nc"),
            ("/a/b", "/a/c.nc", "../c.nc"),
            ("/a/b", "/x/y.nc", "../../x/y.nc"),
            ("/", "/y.nc", "y.nc"),
        ] {
            assert_eq!(between(folder, file).as_deref(), Some(wanted.as_bytes()), "{folder} {file}");
        }
        assert_eq!(between("a", "b/c.nc"), None);
    }
}
