//! The filter plugins that the reference's tests want, compiled from its own source.
//!
//! As in its build each is a library of its own with its files, and `misc` needs the netCDF library, which here is ours.
//! The names of the HDF5 library stay open: where a test program has that library besides, they are bound to us all the
//! same, and where our tools load them there is none.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::suite::pkg_config;

/// A plugin, and what it is compiled from.
struct Plugin {
    name: &'static str,
    sources: &'static [&'static str],
    options: &'static [&'static str],
}

const PLUGINS: &[Plugin] = &[
    Plugin {
        name: "h5bzip2",
        sources: &[
            "H5Zbzip2.c",
            "blocksort.c",
            "huffman.c",
            "crctable.c",
            "randtable.c",
            "compress.c",
            "decompress.c",
            "bzlib.c",
        ],
        options: &[],
    },
    Plugin { name: "h5misc", sources: &["H5Zmisc.c"], options: &["-Wl,--no-as-needed", "-lnetcdf"] },
    Plugin { name: "zmisc", sources: &["NCZmisc.c"], options: &[] },
    Plugin { name: "h5noop", sources: &["H5Znoop.c"], options: &[] },
    Plugin { name: "h5noop1", sources: &["H5Znoop.c"], options: &["-DNOOP_INSTANCE=1"] },
    Plugin { name: "h5unknown", sources: &["H5Zunknown.c"], options: &[] },
];

/// Compiles the plugins into a folder.
pub fn compile(prefix: &Path, reference: &Path, folder: &Path) {
    let (at, own) = (reference.join("plugins"), Path::new(env!("CARGO_MANIFEST_DIR")).join("c/suite"));
    let hdf5 = pkg_config("--cflags").expect("HDF5's headers");
    for plugin in PLUGINS {
        let mut cc = Command::new("cc");
        cc.args(["-w", "-shared", "-fPIC", "-D_GNU_SOURCE", "-DHAVE_CONFIG_H", "-DUSE_HDF5"]);
        for include in [&own, &prefix.join("include"), &at] {
            cc.arg("-I").arg(include);
        }
        cc.args(&hdf5).arg("-L").arg(prefix.join("lib"));
        cc.args(plugin.sources.iter().map(|source| at.join(source))).args(plugin.options);
        cc.arg("-o").arg(folder.join(format!("lib__nc{}.so", plugin.name)));
        let done = cc.output().expect("there is a compiler");
        assert!(done.status.success(), "{}: {}", plugin.name, String::from_utf8_lossy(&done.stderr));
    }
}

/// Lays down our filters as a plugin, as they are installed for other programs.
pub fn install_ours(prefix: &Path, folder: &Path) {
    fs::create_dir(folder).expect("a new folder");
    let done = Command::new(prefix.join("bin/ferrocdf")).args(["plugins", "install"]).arg(folder).output();
    let done = done.expect("it is installed");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
