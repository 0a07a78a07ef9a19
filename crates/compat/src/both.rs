//! The reference's `libnetcdf.so` and ours in one process, and the same calls through both.
//!
//! A test is a function of a [`Session`]: it calls one of the two libraries, in a folder of its own. [`compare`] runs it
//! on each and checks that every call gave the same code, that everything noted is the same, and that the files left
//! behind are equal to the last byte. Calls name the function and give its arguments, nothing else; see `call!`.
//!
//! The reference is safe from one thread only, and some of its state (default format, chunk caches, ids) is the
//! process's, so one comparison runs at a time.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int};
use std::fmt::{Debug, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW, Symbol};
use tempfile::TempDir;

/// Its own symbols come first, so that what ours exports is never taken for a part of the reference.
const DEEPBIND: c_int = libc::RTLD_DEEPBIND;
/// The name of the reference in Debian's and Ubuntu's packages.
const REFERENCE: &str = "libnetcdf.so.19";
/// The HDF5 library that it is linked with.
const HDF5: &str = "libhdf5_serial.so.103";

/// The arguments of a C function that gives an `int`.
pub trait Arguments {
    /// Calls it.
    ///
    /// # Safety
    /// The function takes these arguments, and they are what its documentation asks for.
    unsafe fn call(self, library: &Library, name: &str) -> c_int;
}

macro_rules! arguments {
    ($($type:ident $argument:ident),*) => {
        impl<$($type),*> Arguments for ($($type,)*) {
            unsafe fn call(self, library: &Library, name: &str) -> c_int {
                let ($($argument,)*) = self;
                // SAFETY: the function has this type, as the caller says.
                let function: Symbol<unsafe extern "C" fn($($type),*) -> c_int> = unsafe { find(library, name) };
                // SAFETY: the arguments are right, as the caller says.
                unsafe { function($($argument),*) }
            }
        }
    };
}

arguments!(A a);
arguments!(A a, B b);
arguments!(A a, B b, C c);
arguments!(A a, B b, C c, D d);
arguments!(A a, B b, C c, D d, E e);
arguments!(A a, B b, C c, D d, E e, F f);
arguments!(A a, B b, C c, D d, E e, F f, G g);
arguments!(A a, B b, C c, D d, E e, F f, G g, H h);
arguments!(A a, B b, C c, D d, E e, F f, G g, H h, I i);

/// # Safety
/// The function has the type `F`.
unsafe fn find<F>(library: &Library, name: &str) -> Symbol<F> {
    let symbol = CString::new(name).expect("a name of C");
    // SAFETY: as the caller says.
    unsafe { library.get(symbol.as_bytes_with_nul()) }.unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Calls a function of the library of a [`Session`], notes its code, and gives it:
/// `call!(session, nc_inq_dimlen(id, 0, &mut len))`. Arguments must have the exact types of the prototype; plain whole
/// numbers are `int`.
#[macro_export]
macro_rules! call {
    ($session:expr, $name:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: tests give what the prototype in the headers asks for.
        unsafe { $session.call(stringify!($name), ($($argument,)*)) }
    };
}

/// One of the two libraries, and what the test saw of it.
pub struct Session<'a> {
    library: &'a Library,
    folder: &'a Path,
    lines: RefCell<Vec<String>>,
}

impl Session<'_> {
    /// Calls a function, notes its code, and gives it; `call!` is the way to say it.
    ///
    /// # Safety
    /// The arguments have the types of the prototype and are what the documentation of the function asks for.
    pub unsafe fn call(&self, name: &str, arguments: impl Arguments) -> c_int {
        // SAFETY: as the caller says.
        let code = unsafe { arguments.call(self.library, name) };
        self.lines.borrow_mut().push(format!("{name} gives {code}"));
        code
    }

    /// A function that does not give an `int`.
    ///
    /// # Safety
    /// The function has the type `F`.
    pub unsafe fn function<F>(&self, name: &str) -> Symbol<F> {
        // SAFETY: as the caller says.
        unsafe { find(self.library, name) }
    }

    /// Notes what the last call left in the memory it was given.
    pub fn note(&self, seen: impl Debug) {
        let mut lines = self.lines.borrow_mut();
        let line = lines.last_mut().expect("a call comes first");
        write!(line, " {seen:?}").expect("strings take everything");
    }

    /// Notes words of the test's own.
    pub fn say(&self, what: impl Into<String>) {
        self.lines.borrow_mut().push(what.into());
    }

    /// A path in the session's folder, for C.
    pub fn path(&self, name: &str) -> CString {
        CString::new(self.folder.join(name).into_os_string().into_encoded_bytes()).expect("no zero in it")
    }
}

/// Makes a classic file in the folder of a session and gives its id.
pub fn new_classic(session: &Session<'_>) -> c_int {
    let mut id = 0;
    // SAFETY: the prototype in the headers.
    unsafe { session.call("nc_create", (session.path("classic.nc").as_ptr(), 0 as c_int, &mut id)) };
    id
}

/// The text in a buffer of C.
pub fn text(buffer: &[c_char]) -> String {
    let bytes: Vec<u8> = buffer.iter().map(|&byte| byte as u8).take_while(|&byte| byte != 0).collect();
    bytes.escape_ascii().to_string()
}

/// Files by their names.
type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Calls that differ beyond this many are not shown.
const MOST_SHOWN: usize = 12;

/// What closing a file may give: nothing, or that there is none.
const CLOSED: [&str; 2] = ["nc_close gives 0", "nc_close gives -33"];

/// Runs a test on the reference and on ours. Gives what each noted and the files it left.
fn run_both(test: impl Fn(&Session<'_>)) -> [(Vec<String>, Files); 2] {
    libraries().each_ref().map(|library| {
        let folder = tempfile::tempdir().expect("a folder for files");
        let session = Session { library, folder: folder.path(), lines: RefCell::default() };
        test(&session);
        (session.lines.into_inner(), files(folder.path()))
    })
}

/// Held while the reference is used.
fn turn() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes files with the reference: every call must succeed. The files are in the folder that is given.
pub fn make(make: impl FnOnce(&Session<'_>)) -> TempDir {
    let _turn = turn();
    let folder = tempfile::tempdir().expect("a folder for files");
    let session = Session { library: &libraries()[0], folder: folder.path(), lines: RefCell::default() };
    make(&session);
    let bad = session.lines.borrow().iter().find(|line| !line.contains("gives 0")).cloned();
    assert_eq!(bad, None, "the reference makes the file");
    folder
}

/// Runs a test on the reference and on ours, and gives where they differ: the line before, theirs, ours. What comes behind
/// a call that only one of them made differs as well.
pub fn differences(test: impl Fn(&Session<'_>)) -> Vec<[String; 3]> {
    let _turn = turn();
    let [(theirs, _), (ours, _)] = run_both(test);
    let line = |lines: &[String], at: usize| lines.get(at).cloned().unwrap_or_default();
    let differs = |&at: &usize| theirs.get(at) != ours.get(at);
    let all = (0..theirs.len().max(ours.len())).filter(differs);
    all.map(|at| {
        [at.checked_sub(1).map_or(String::new(), |at| line(&theirs, at)), line(&theirs, at), line(&ours, at)]
    })
    .collect()
}

/// Runs a test on the reference and on ours, and fails where the two differ.
pub fn compare(test: impl Fn(&Session<'_>)) {
    let _turn = turn();
    let [(their_lines, their_files), (our_lines, our_files)] = run_both(test);
    check_lines(&their_lines, &our_lines);
    assert!(their_files.keys().eq(our_files.keys()), "{:?} {:?}", their_files.keys(), our_files.keys());
    for (name, theirs) in &their_files {
        let ours = &our_files[name];
        let differs = theirs.iter().zip(ours).position(|(their, our)| their != our);
        assert_eq!((differs, theirs.len()), (None, ours.len()), "{name:?}: first difference; sizes");
    }
}

/// Runs a test on the reference and on ours, and fails where the calls differ, or what either library reads of the file
/// that the other one made: for formats that leave a writer a choice of bytes.
pub fn compare_content(test: impl Fn(&Session<'_>), ask: impl Fn(&Session<'_>, &CStr)) {
    let _turn = turn();
    let [(their_lines, their_files), (our_lines, our_files)] = run_both(test);
    check_lines(&their_lines, &our_lines);
    assert!(their_files.keys().eq(our_files.keys()), "{:?} {:?}", their_files.keys(), our_files.keys());
    for (name, theirs) in &their_files {
        let folder = tempfile::tempdir().expect("a folder for files");
        let path = folder.path().join(name);
        let c_path = CString::new(path.clone().into_os_string().into_encoded_bytes()).expect("no zero in it");
        for (reader, library) in ["the reference", "ferrocdf"].into_iter().zip(libraries()) {
            let read = |bytes: &[u8]| {
                std::fs::write(&path, bytes).expect("the folder takes files");
                let session = Session { library, folder: folder.path(), lines: RefCell::default() };
                ask(&session, &c_path);
                session.lines.into_inner()
            };
            let (of_theirs, of_ours) = (read(theirs), read(&our_files[name]));
            let differs = of_theirs.iter().zip(&of_ours).position(|(their, our)| their != our);
            if let Some(at) = differs.or((of_theirs.len() != of_ours.len()).then_some(of_theirs.len() - 1)) {
                let before = at.checked_sub(1).map_or("", |before| &of_theirs[before]);
                let (their, our) = (&of_theirs[at], of_ours.get(at));
                panic!(
                    "{reader} reads {name:?} otherwise if ferrocdf wrote it, after {before}\n  {their}\n  {our:?}"
                );
            }
        }
    }
}

/// Fails where two libraries gave other things.
fn check_lines(their_lines: &[String], our_lines: &[String]) {
    let pairs = their_lines.iter().zip(our_lines).enumerate();
    let differing: Vec<_> = pairs.filter(|(_, (their, our))| their != our).take(MOST_SHOWN).collect();
    let show = |(at, (their, our)): &(usize, (&String, &String))| {
        let before = at.checked_sub(1).map_or("nothing", |before| &their_lines[before]);
        format!("call {at}, after {before}\n  the reference: {their}\n  ferrocdf:      {our}")
    };
    assert!(differing.is_empty(), "{}", differing.iter().map(show).collect::<Vec<_>>().join("\n"));
    assert_eq!(their_lines.len(), our_lines.len(), "the number of calls");
    // The reference keeps an id that it could not close, without a file behind it, and dies of its next use.
    let kept = their_lines
        .iter()
        .any(|line| line.starts_with("nc_close gives ") && !CLOSED.contains(&line.as_str()));
    assert!(!kept, "tests must leave files that can be closed");
}

/// The files of a folder.
fn files(folder: &Path) -> Files {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("it can be listed").path());
    paths
        .map(|path| {
            let bytes = std::fs::read(&path).expect("the test has closed it");
            (path.file_name().expect("it was listed").into(), bytes)
        })
        .collect()
}

/// The reference and ours, loaded once.
fn libraries() -> &'static [Library; 2] {
    static LIBRARIES: OnceLock<[Library; 2]> = OnceLock::new();
    LIBRARIES.get_or_init(|| {
        let load = |path: &Path, flags| {
            // SAFETY: what the two run when they are loaded asks nothing of the process.
            unsafe { Library::open(Some(path), flags) }
                .unwrap_or_else(|error| panic!("{error}; {}", crate::reference::ADVICE))
        };
        let flags = RTLD_NOW | RTLD_LOCAL;
        [load(Path::new(REFERENCE), flags | DEEPBIND), load(&build(), flags)]
    })
}

/// Tells the HDF5 library of the reference of a folder with filter plugins.
///
/// # Panics
/// If it is not Debian's.
pub fn add_reference_plugins(folder: &Path) {
    let _turn = turn();
    libraries();
    let folder = CString::new(folder.as_os_str().as_encoded_bytes()).expect("no zero in it");
    // SAFETY: it is loaded already, by the reference.
    let hdf5 = unsafe { Library::open(Some(HDF5), RTLD_NOW | RTLD_LOCAL) };
    let hdf5 = hdf5.unwrap_or_else(|error| panic!("{error}; {}", crate::reference::ADVICE));
    // SAFETY: the prototype of HDF5.
    let code = unsafe {
        find::<unsafe extern "C" fn(*const c_char) -> c_int>(&hdf5, "H5PLprepend")(folder.as_ptr())
    };
    assert!(code >= 0, "{folder:?} is a folder for plugins");
}

/// Builds our library as the tests were built, with the programs as it is installed, and says where it is.
pub fn build() -> PathBuf {
    let deps = std::env::current_exe().expect("tests know their own path");
    let folder = deps.ancestors().nth(2).expect("tests are in <target>/<profile>/deps");
    let target = folder.parent().expect("the folder of a profile is in one of the target");
    let profile = match folder.file_name().and_then(|name| name.to_str()).expect("profiles have names") {
        "debug" => "dev",
        name => name,
    };
    let built = crate::cargo()
        .args(["build", "--quiet", "--package", "ferrocdf-libnetcdf", "--features", "tools"])
        .args(["--profile", profile, "--target-dir"])
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs these tests");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    folder.join("libnetcdf.so")
}
