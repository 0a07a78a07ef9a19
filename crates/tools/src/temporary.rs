//! Names of temporary files, and removal of the files of tools that were killed (by `SIGKILL`, or because memory was full).
//!
//! A name tells which process made the file: the boot of its machine and its namespace of process numbers (containers have their own), its
//! process number, and its start time. The decision that shaped it: only a process of the same boot and namespace can tell whether the
//! maker still runs, so files of other machines, of other containers and from before a restart are not removed.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, OnceLock, PoisonError};

const PREFIX: &str = ".ferrocdf-";

/// End of the name of a temporary file or folder.
const TEMPORARY: &str = ".tmp";

/// End of the name of a folder that is being removed.
const REMOVED: &str = "gone";

/// Tries to remove a folder in which other threads make files.
const MAX_REMOVALS: u32 = 100;

/// A process that makes temporary files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Maker {
    /// Hash of the boot and the namespace of process numbers.
    place: u64,
    process: u32,
    /// When the process started, in ticks since the boot.
    start: u64,
}

/// Returns a name for a temporary file or folder of this process. Each number gives another one.
pub(crate) fn name(number: u64) -> String {
    match Maker::this() {
        Some(Maker { place, process, start }) => {
            format!("{PREFIX}{place:016x}-{process}-{start}-{number}{TEMPORARY}")
        }
        None => format!("{PREFIX}{}-{number}{TEMPORARY}", process::id()),
    }
}

/// True for the names of temporary files of all processes.
pub(crate) fn is_temporary(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(PREFIX.as_bytes()))
}

/// Calls [`remove_leftovers`] for each folder once: a process may make many files in a folder.
pub(crate) fn remove_leftovers_once(folder: &Path) {
    static DONE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let is_new = DONE.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_path_buf());
    if is_new {
        remove_leftovers(folder);
    }
}

/// Removes what tools of this user that do not live any more left in a folder.
fn remove_leftovers(folder: &Path) {
    let (Some(this), Ok(user)) = (Maker::this(), fs::metadata("/proc/self")) else { return };
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let maker = entry.file_name().to_str().and_then(Maker::of);
        let is_left = maker.is_some_and(|maker| maker.place == this.place && maker.is_gone());
        // Processes of other users may be hidden.
        if is_left && entry.metadata().is_ok_and(|about| about.uid() == user.uid()) {
            remove_at(&entry.path());
        }
    }
}

/// Removes a temporary file or folder. It is not there any more if it was renamed. Other threads may still make files in a folder: it gets
/// another name first, under which they do not find it.
pub(crate) fn remove_at(path: &Path) {
    if fs::remove_file(path).is_ok() {
        return;
    }
    let gone = path.with_extension(REMOVED);
    if fs::rename(path, &gone).is_err() {
        return;
    }
    // A request that another thread sent before may make one more file.
    for _ in 0..MAX_REMOVALS {
        match fs::remove_dir_all(&gone) {
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {}
            _ => return,
        }
    }
}

impl Maker {
    /// Returns this process; `None` where the system does not tell all of it.
    fn this() -> Option<Maker> {
        static THIS: OnceLock<Option<Maker>> = OnceLock::new();
        *THIS.get_or_init(|| {
            // Elsewhere the numbers of `/proc` may be those of another namespace.
            let is_own = fs::read_link("/proc/self").ok()?.to_str()? == process::id().to_string();
            let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
            let mut place = DefaultHasher::new();
            (boot, fs::read_link("/proc/self/ns/pid").ok()?).hash(&mut place);
            let start = start_of(&fs::read_to_string("/proc/self/stat").ok()?)?;
            is_own.then_some(Maker { place: place.finish(), process: process::id(), start })
        })
    }

    /// Returns the process that a temporary file has in its name.
    fn of(name: &str) -> Option<Maker> {
        let name = name.strip_prefix(PREFIX)?;
        let name = name.strip_suffix(TEMPORARY).or_else(|| name.strip_suffix(REMOVED)?.strip_suffix('.'))?;
        let mut parts = name.split('-');
        let place = u64::from_str_radix(parts.next()?, 16).ok()?;
        let (process, start) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let _number: u64 = parts.next()?.parse().ok()?;
        parts.next().is_none().then_some(Maker { place, process, start })
    }

    /// True if the process, one of the place of this one, certainly has ended.
    fn is_gone(&self) -> bool {
        match fs::read_to_string(format!("/proc/{}/stat", self.process)) {
            Ok(stat) => start_of(&stat).is_some_and(|start| start != self.start),
            // Where processes are hidden, the first one is.
            Err(error) => error.kind() == ErrorKind::NotFound && Path::new("/proc/1").exists(),
        }
    }
}

/// Returns the start time of a process from its `/proc/N/stat`: the 22nd field. The second one, the name of the program, is in parentheses.
fn start_of(stat: &str) -> Option<u64> {
    let (_, behind) = stat.rsplit_once(')')?;
    behind.split_whitespace().nth(22 - 3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_their_maker() {
        assert_eq!(Maker::of(&name(7)), Maker::this());
        assert_eq!(Maker::of(&name(7).replace(TEMPORARY, ".gone")), Maker::this());
        for name in [".ferrocdf-12-0.tmp", ".ferrocdf-AbC123", ".ferrocdf-1-2-3-4-5.tmp", "1-2-3-4.tmp"] {
            assert_eq!(Maker::of(name), None, "{name}");
        }
    }

    #[test]
    fn start_is_behind_any_name_of_a_program() {
        let stat = format!("12 (a) b (c) S {}77 0", "0 ".repeat(18));
        assert_eq!(start_of(&stat), Some(77));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn only_what_a_process_of_this_place_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let this = Maker::this().unwrap();
        let make = |maker: Maker, end: &str| {
            let Maker { place, process, start } = maker;
            let path = folder.path().join(format!("{PREFIX}{place:016x}-{process}-{start}-0{end}"));
            fs::create_dir(&path).unwrap();
            fs::write(path.join("zarr.json"), "{}").unwrap();
            path
        };
        // A later process got the number of an earlier one.
        let earlier = Maker { start: this.start - 1, ..this };
        let still_earlier = Maker { start: this.start - 2, ..this };
        let left = [make(earlier, TEMPORARY), make(still_earlier, ".gone")];
        let kept = [
            make(this, TEMPORARY),
            make(earlier, ".old"),
            make(Maker { place: this.place ^ 1, ..earlier }, TEMPORARY),
        ];
        remove_leftovers(folder.path());
        assert!(left.iter().all(|path| !path.exists()));
        assert!(kept.iter().all(|path| path.join("zarr.json").exists()));
    }
}
