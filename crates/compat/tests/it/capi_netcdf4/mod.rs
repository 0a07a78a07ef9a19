//! Reading netCDF-4 files through both C libraries. The reference makes the files.

mod files;

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ferrocdf_compat::ask::{Options, ask};
use ferrocdf_compat::both::{compare, differences};

fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap()
}

#[test]
fn everything_that_can_be_asked() {
    for name in ["strict.nc", "storage.nc", "attributes.nc", "types.nc"] {
        let path = c_path(&files::all().path().join(name));
        compare(|s| ask(s, &path, Options { values: true }));
    }
}

#[test]
#[ignore]
fn dev_differences() {
    let list = std::env::var("ASK").unwrap();
    let most: usize = std::env::var("MOST").ok().and_then(|most| most.parse().ok()).unwrap_or(12);
    for path in list.split(':') {
        let path = if path.contains('/') { path.into() } else { files::all().path().join(path) };
        let found = differences(|s| ask(s, &c_path(&path), Options { values: true }));
        println!("=== {}: {} differences", path.display(), found.len());
        for [before, theirs, ours] in found.iter().take(most) {
            let cut = |text: &str| text.chars().take(300).collect::<String>();
            println!("  after {}\n    theirs {}\n    ours   {}", cut(before), cut(theirs), cut(ours));
        }
    }
}
