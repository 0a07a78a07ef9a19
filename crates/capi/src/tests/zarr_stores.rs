//! Tests of Zarr stores through the C interface: refusals, and the remains of aborted stores.

use std::ffi::{CStr, CString, c_int};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use ferrocdf::{Code, errno};

use crate::abi::answer::ferrocdf_last_error;
use crate::abi::constants::*;
use crate::tests::c::{nc_abort, nc_close, nc_create, nc_def_dim, nc_enddef, nc_open};

/// Temporary folder of a test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("ferrocdf-{name}-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Folder(path)
    }

    /// Returns the URL of a store in the folder.
    fn url(&self, name: &str, mode: &str) -> CString {
        CString::new(format!("file://{}/{name}#mode={mode}", self.0.display())).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn create(url: &CStr, flags: c_int) -> Result<c_int, Code> {
    let mut id = 0;
    // SAFETY: the text ends in a zero byte, and the id is valid for writing.
    let code = unsafe { nc_create(url.as_ptr(), NC_NETCDF4 | flags, &mut id) };
    if code == 0 { Ok(id) } else { Err(Code(code)) }
}

fn open(url: &CStr, flags: c_int) -> Result<c_int, Code> {
    let mut id = 0;
    // SAFETY: the text ends in a zero byte, and the id is valid for writing.
    let code = unsafe { nc_open(url.as_ptr(), flags, &mut id) };
    if code == 0 { Ok(id) } else { Err(Code(code)) }
}

fn told() -> String {
    // SAFETY: the text ends in a zero byte.
    unsafe { CStr::from_ptr(ferrocdf_last_error()) }.to_str().unwrap().to_string()
}

fn define_dimension(id: c_int) {
    // SAFETY: the name ends in a zero byte, and the id is valid for writing.
    assert_eq!(unsafe { nc_def_dim(id, c"x".as_ptr(), 2, &mut 0) }, 0);
}

#[test]
fn aborted_new_store_leaves_nothing() {
    let folder = Folder::new("aborted");
    for mode in ["nczarr", "nczarr,v3", "zarr,noconsolidated", "nczarr,zip"] {
        let url = folder.url("s.zarr", mode);
        let id = create(&url, 0).unwrap();
        define_dimension(id);
        assert_eq!(nc_abort(id), 0);
        assert_eq!(folder.names(), [""; 0], "{mode}");
        // An existing folder stays, and so does a file of another program in the store.
        fs::create_dir(folder.0.join("s.zarr")).unwrap();
        if mode != "nczarr,zip" {
            let id = create(&url, 0).unwrap();
            assert_eq!(nc_abort(id), 0);
            assert_eq!(fs::read_dir(folder.0.join("s.zarr")).unwrap().count(), 0, "{mode}");
            let id = create(&url, 0).unwrap();
            let other = folder.0.join("s.zarr/other");
            fs::write(&other, "text").unwrap();
            assert_eq!(nc_abort(id), 0);
            assert!(other.exists() && open(&url, 0).map(|id| nc_close(id)) == Ok(0), "{mode}");
        }
        fs::remove_dir_all(folder.0.join("s.zarr")).unwrap();
        // A committed store stays.
        let id = create(&url, 0).unwrap();
        assert_eq!((nc_enddef(id), nc_abort(id)), (0, 0));
        assert_eq!(open(&url, 0).map(|id| nc_close(id)), Ok(0), "{mode}");
        if mode == "nczarr,zip" {
            // The first commit replaces the file, so an abort before it leaves the old one.
            assert_eq!(nc_abort(create(&url, 0).unwrap()), 0);
            assert_eq!(open(&url, 0).map(|id| nc_close(id)), Ok(0), "{mode}");
            fs::remove_file(folder.0.join("s.zarr")).unwrap();
        } else {
            fs::remove_dir_all(folder.0.join("s.zarr")).unwrap();
        }
    }
}

/// Runs a test in a thread without the rights of root, for whom every file is writable.
fn as_nobody(test: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let test = || {
            // SAFETY: the call takes numbers, and sets the user of this thread only.
            unsafe { libc::syscall(libc::SYS_setresuid, 65534, 65534, 65534) };
            test();
        };
        scope.spawn(test).join().unwrap();
    });
}

#[test]
fn store_that_cannot_be_written_is_refused_when_it_is_opened() {
    let folder = Folder::new("unwritable");
    fs::set_permissions(&folder.0, PermissionsExt::from_mode(0o777)).unwrap();
    let set_mode =
        |path: &Path, mode: u32| fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    let [store, zip] = ["s.zarr", "s.zip"].map(|name| folder.0.join(name));
    let urls = [folder.url("s.zarr", "nczarr,v3"), folder.url("s.zip", "nczarr,v3,zip")];
    for url in &urls {
        assert_eq!(nc_close(create(url, 0).unwrap()), 0);
    }
    fs::create_dir(folder.0.join("empty.zarr")).unwrap();
    let empty = folder.url("empty.zarr", "nczarr,v3");
    set_mode(&store, 0o555);
    set_mode(&zip, 0o444);
    set_mode(&folder.0.join("empty.zarr"), 0o555);
    as_nobody(|| {
        for url in &urls {
            assert_eq!(open(url, NC_WRITE), Err(errno::ACCES));
            assert!(told().contains("/s.z"), "{}", told());
            assert_eq!(create(url, 0), Err(errno::ACCES));
            assert_eq!(open(url, 0).map(|id| nc_close(id)), Ok(0));
        }
        assert_eq!(create(&empty, 0), Err(errno::ACCES));
    });
    // Changes of a zip file are written to a new file in its folder.
    set_mode(&zip, 0o666);
    set_mode(&folder.0, 0o555);
    let new = folder.url("new.zip", "nczarr,v3,zip");
    as_nobody(|| {
        assert_eq!(open(&urls[1], NC_WRITE), Err(errno::ACCES));
        assert_eq!([create(&urls[1], 0), create(&new, 0)], [Err(errno::ACCES); 2]);
    });
    set_mode(&folder.0, 0o755);
}

#[test]
fn refusals_say_what_is_there() {
    let folder = Folder::new("refusals");
    fs::create_dir(folder.0.join("d.zarr")).unwrap();
    fs::write(folder.0.join("d.zarr/file"), "text").unwrap();
    let url = folder.url("d.zarr", "nczarr,v3");
    for (flags, code) in [(0, errno::NOTEMPTY), (NC_NOCLOBBER, Code::EEXIST)] {
        assert_eq!(create(&url, flags), Err(code));
        assert!(told().contains("other files than those of a Zarr store"), "{}", told());
    }
    assert_eq!(create(&folder.url("d.zarr", "nczarr,zip"), 0), Err(errno::ISDIR));
    for (mode, word) in [("nczarr,v4", "\"v4\""), ("zarrr", "\"zarrr\"")] {
        let url = folder.url("new.zarr", mode);
        for refused in [create(&url, 0), open(&url, 0)] {
            assert_eq!(refused, Err(Code::EINVAL));
            assert!(told().contains(word), "{}", told());
        }
    }
    assert_eq!(folder.names(), ["d.zarr"]);
}
