//! Waiting until the disk has something. Interrupted requests are not repeated here.

use std::fs::File;
use std::io;
use std::path::Path;

/// Waits for the bytes and the size of a file.
#[cfg(unix)]
pub(crate) fn sync_data(file: &File) -> io::Result<()> {
    // Not `File::sync_data`: it repeats an interrupted call for ever.
    Ok(rustix::fs::fdatasync(file)?)
}

/// Waits for the bytes and the size of a file.
#[cfg(not(unix))]
pub(crate) fn sync_data(file: &File) -> io::Result<()> {
    file.sync_data()
}

/// Opens a folder, to lock it or to wait for its names.
#[cfg(not(windows))]
pub(crate) fn open_folder(folder: &Path) -> io::Result<File> {
    File::open(folder)
}

/// Opens a folder, to lock it or to wait for its names.
#[cfg(windows)]
pub(crate) fn open_folder(folder: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;
    /// `FILE_FLAG_BACKUP_SEMANTICS`, without which no folder is opened.
    const FOLDERS_TOO: u32 = 0x0200_0000;
    File::options().read(true).custom_flags(FOLDERS_TOO).open(folder)
}

/// Waits for the names in an open folder.
#[cfg(unix)]
pub(crate) fn sync_folder(folder: &File) -> io::Result<()> {
    Ok(rustix::fs::fsync(folder)?)
}

/// Does nothing: the file system keeps names in a journal of its own.
#[cfg(not(unix))]
pub(crate) fn sync_folder(_folder: &File) -> io::Result<()> {
    Ok(())
}

/// Waits for all that was written to the file system of an open folder.
#[cfg(target_os = "linux")]
pub(crate) fn sync_file_system(folder: &File) -> io::Result<()> {
    Ok(rustix::fs::syncfs(folder)?)
}

/// Waits for all that was written to any file system.
#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) fn sync_file_system(_folder: &File) -> io::Result<()> {
    rustix::fs::sync();
    Ok(())
}

/// Fails: the system waits for single files only.
#[cfg(not(unix))]
pub(crate) fn sync_file_system(_folder: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
