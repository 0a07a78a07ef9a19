//! `file:` URLs as names of files, in the tools. The reference opens none of them but with
//! `#mode=bytes`, so that it judges nothing here.

use std::path::Path;

use crate::{nccopy_tool, ncdump_tool, ncgen_tool};

const CDL: &[u8] = b"netcdf a { dimensions: x = 2 ; variables: int v(x) ; data: v = 1, 2 ; }";

/// What ferrocdf's `ncdump` prints of a file, under the name `a`.
fn printed(file: &str) -> Vec<u8> {
    let run = ncdump_tool::ours(&["-n", "a", file]);
    assert_eq!(run.code, Some(0), "{file}: {}", String::from_utf8_lossy(&run.err));
    run.out
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of UTF-8")
}

#[test]
fn tools_read_and_write_what_file_urls_name() {
    let folder = tempfile::tempdir().unwrap();
    let folder = text(folder.path());
    let (_, said, code) = ncgen_tool::ours(&["-o", &format!("file://{folder}/a%20b.nc")], CDL);
    assert_eq!((code, &*said), (Some(0), ""));
    let plain = printed(&format!("{folder}/a b.nc"));
    for url in ["file:///a b.nc", "file:/a%20b.nc", "file://localhost/a%20b.nc#mode=bytes"] {
        assert_eq!(printed(&url.replacen("/a", &format!("{folder}/a"), 1)), plain, "{url}");
    }
    let named = ncdump_tool::ours(&[&format!("file:{folder}/a%20b.nc")]);
    assert!(named.out.starts_with(b"netcdf a\\ b {"), "{}", String::from_utf8_lossy(&named.out));
    let copied = nccopy_tool::ours(&[
        &format!("file:{folder}/a%20b.nc"),
        &format!("file://{folder}/copy.nc#mode=netcdf-3"),
    ]);
    assert_eq!(copied.code, Some(0), "{}", copied.said);
    assert_eq!(printed(&format!("{folder}/copy.nc")), plain);
}
