//! Reading netCDF-4 files through both C libraries. The reference makes the files.

use std::path::{Path, PathBuf};
use std::process::Command;

use ferrocdf_compat::ask::{Options, ask};
use ferrocdf_compat::both::{compare, differences};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;

fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap()
}

#[test]
#[ignore]
fn dev_differences() {
    let list = std::env::var("ASK").unwrap();
    let most: usize = std::env::var("MOST").ok().and_then(|most| most.parse().ok()).unwrap_or(12);
    for path in list.split(':') {
        let found = differences(|s| ask(s, &c_path(Path::new(path)), Options { values: true }));
        println!("=== {path}: {} differences", found.len());
        for [before, theirs, ours] in found.iter().take(most) {
            let cut = |text: &str| text.chars().take(300).collect::<String>();
            println!("  after {}\n    theirs {}\n    ours   {}", cut(before), cut(theirs), cut(ours));
        }
    }
}
