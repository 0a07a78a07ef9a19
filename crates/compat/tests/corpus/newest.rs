//! The newest version of the reference, which the wheel of netCDF4 brings along: it shows what is of types without a name,
//! and Debian's version does not. Preloaded, it takes the place of Debian's under Debian's programs.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::excused::Excused;

/// Files where it leaves out attributes whose types have no name.
pub const LEFT_OUT: [Excused; 3] = [
    ("bool_attr.h5", ATTRIBUTES),
    ("empty_struct_arrays.mat", ATTRIBUTES),
    ("chunked_opaque.h5", ATTRIBUTES),
];

const ATTRIBUTES: &str = "the newest reference leaves out attributes of types without a name";

/// Its library.
pub fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let python = PathBuf::from(std::env::var_os("FERROCDF_PYTHON").expect("see `cargo xtask corpus`"));
        let root = python.parent().and_then(Path::parent).expect("a Python in a folder bin");
        let versions = entries(&root.join("lib"));
        let folders = versions.iter().map(|version| version.join("site-packages/netcdf4.libs"));
        let libraries: Vec<PathBuf> = folders
            .filter(|folder| folder.is_dir())
            .flat_map(|folder| entries(&folder))
            .filter(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with("libnetcdf-")
            })
            .collect();
        assert_eq!(libraries.len(), 1, "{libraries:?}");
        libraries[0].clone()
    })
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

/// Whether a file has types without a name.
pub fn has_unnamed_types(path: &Path) -> bool {
    let Ok(file) = ferrocdf::File::open(path) else { return false };
    file.model().types().iter().any(|ty| ty.name.to_string().starts_with("_Anonymous"))
}
