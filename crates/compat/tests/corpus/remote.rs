//! Every classic, HDF5 and HDF4 file of the corpus behind nginx and behind moto, which stands for S3: `ncdump` prints of the URL what it prints
//! of the file, and ends with the same exit code.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ferrocdf::remote::{Environment, Settings, open, traffic};
use ferrocdf::store::{FileBlob, Store};
use ferrocdf_compat::servers::{BUCKET, Moto, Nginx};

use crate::ncdump_tool::Run;
use crate::{each, files};

/// Of files that say more, the first bytes are compared: some have billions of values that were never written.
const LONGEST: usize = 16 << 20;

/// A bucket that gets the files of a folder when one of them is first wanted.
struct Bucket {
    moto: Moto,
    store: std::sync::Arc<dyn Store>,
    root: PathBuf,
    folders: Mutex<HashSet<PathBuf>>,
}

impl Bucket {
    fn new(root: &Path) -> Bucket {
        let python = std::env::var_os("FERROCDF_PYTHON").expect("`cargo xtask corpus` sets FERROCDF_PYTHON");
        let moto = Moto::serve(Path::new(&python));
        let environment = moto.environment();
        let variables = environment.iter().map(|(name, value)| (*name, value.as_str()));
        let settings = Settings { environment: Environment::of(variables), ..Settings::default() };
        let (store, _) = open(&format!("s3://{BUCKET}/x"), &settings).expect("a URL of S3");
        Bucket { moto, store, root: root.to_path_buf(), folders: Mutex::default() }
    }

    /// Puts the files of a folder: some refer to others beside them.
    fn put_folder(&self, folder: &Path) {
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        if !folders.insert(folder.to_path_buf()) {
            return;
        }
        for entry in std::fs::read_dir(folder).expect("the folder is there") {
            let path = entry.expect("it can be listed").path();
            if path.is_file() {
                let blob = FileBlob::open(&path).expect("it can be read");
                self.store.put_blob(&key(&self.root, &path), &blob).expect("it is put");
            }
        }
    }
}

/// The name of a file within the corpus.
fn key(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).expect("a file of the corpus").to_str().expect("a name of UTF-8").to_string()
}

/// A text that takes no more than [`LONGEST`] bytes.
struct Text(Vec<u8>);

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let len = bytes.len().min(LONGEST - self.0.len());
        self.0.extend_from_slice(&bytes[..len]);
        if len == 0 && !bytes.is_empty() { Err(ErrorKind::BrokenPipe.into()) } else { Ok(len) }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Prints a dataset.
fn dump(place: &str) -> Run {
    let (mut out, mut err) = (Text(vec![]), vec![]);
    let args = ["ncdump", "-n", "same", place].map(OsString::from);
    let code = ferrocdf_tools::ncdump::main(args, &mut out, &mut err);
    Run { code: Some(code), out: out.0, err }
}

#[test]
fn ncdump_prints_of_urls_what_it_prints_of_files() {
    let all = files(&["cdf1", "cdf2", "cdf5", "hdf5", "hdf4"]);
    assert!(all.len() > 1300, "only {} files", all.len());
    let root = PathBuf::from(std::env::var_os("FERROCDF_CORPUS").expect("`cargo xtask corpus` sets it"));
    let (nginx, bucket) = (Nginx::serve(&root), Bucket::new(&root));
    let differences = each(&all, |entry| {
        let local = dump(entry.path.to_str().expect("a name of UTF-8"));
        bucket.put_folder(entry.path.parent().expect("a file is in a folder"));
        let key = key(&root, &entry.path);
        let keys = "[aws.access_key_id=AKID][aws.secret_access_key=hush]";
        let urls = [
            format!("{}/{key}#mode=bytes", nginx.url()),
            format!("{keys}{}/{BUCKET}/{key}#mode=bytes,s3", bucket.moto.url()),
        ];
        let differs = |url: &String| {
            let remote = dump(url);
            let is_same = (remote.code, &remote.out) == (local.code, &local.out);
            (!is_same).then(|| format!("{url}: {}", difference(&local, &remote)))
        };
        urls.iter().filter_map(differs).collect()
    });
    let bytes: u64 = all.iter().filter_map(|entry| entry.path.metadata().ok()).map(|meta| meta.len()).sum();
    let traffic = traffic();
    println!(
        "{} files with {bytes} bytes, each from two servers: {} requests in {} rounds, {} bytes received",
        all.len(),
        traffic.requests,
        traffic.rounds,
        traffic.received
    );
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}

/// The first line that differs, and what was said.
fn difference(local: &Run, remote: &Run) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).chars().take(300).collect::<String>();
    let mut lines = local.out.split(|&byte| byte == b'\n').zip(remote.out.split(|&byte| byte == b'\n'));
    let line = lines.find(|(a, b)| a != b).map(|(a, b)| (text(a), text(b)));
    format!("{:?} {:?}: {line:?}: {} | {}", local.code, remote.code, text(&local.err), text(&remote.err))
}
