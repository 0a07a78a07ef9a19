//! Who may do what with a file.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::FileBlob;

/// Gives a file the owner, the group, the mode and the extended attributes (access lists among them) of another.
#[cfg(unix)]
pub fn copy_access(from: &FileBlob, to: &File) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let from = from.file();
    let (wanted, own) = (from.metadata()?, to.metadata()?);
    if (own.uid(), own.gid()) != (wanted.uid(), wanted.gid()) {
        std::os::unix::fs::fchown(to, Some(wanted.uid()), Some(wanted.gid()))?;
    }
    to.set_permissions(wanted.permissions())?;
    copy_attributes(from, to)
}

/// Gives a file the permissions of another.
#[cfg(not(unix))]
pub fn copy_access(from: &FileBlob, to: &File) -> io::Result<()> {
    to.set_permissions(from.file().metadata()?.permissions())
}

/// Copies extended attributes. Those named `security.` are left to the security system.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn copy_attributes(from: &File, to: &File) -> io::Result<()> {
    use rustix::io::Errno;
    let mut names = vec![0; 1 << 16];
    let len = match rustix::fs::flistxattr(from, &mut names[..]) {
        Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(()),
        len => len?,
    };
    let names = names[..len].split(|&byte| byte == 0).filter(|name| !name.is_empty());
    for name in names.filter(|name| !name.starts_with(b"security.")) {
        let name = std::ffi::CString::new(name)?;
        let mut value = vec![0; 1 << 16];
        let len = rustix::fs::fgetxattr(from, &name, &mut value[..])?;
        rustix::fs::fsetxattr(to, &name, &value[..len], rustix::fs::XattrFlags::empty())?;
    }
    Ok(())
}

/// Copies nothing: the system has no extended attributes with names like these.
#[cfg(all(unix, not(any(target_os = "linux", target_vendor = "apple"))))]
fn copy_attributes(_from: &File, _to: &File) -> io::Result<()> {
    Ok(())
}

/// Fails if the user may not make files in a folder.
#[cfg(unix)]
pub(crate) fn check_writable(folder: &Path) -> io::Result<()> {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    Ok(accessat(CWD, folder, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)?)
}

/// Fails if files in a folder may not be changed.
#[cfg(not(unix))]
pub(crate) fn check_writable(folder: &Path) -> io::Result<()> {
    match std::fs::metadata(folder)?.permissions().readonly() {
        true => Err(io::ErrorKind::PermissionDenied.into()),
        false => Ok(()),
    }
}

/// Makes a new file for reading and writing, with a mode without the bits of the umask.
#[cfg(unix)]
pub(crate) fn create_new(path: &Path, mode: u32) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options().read(true).write(true).create_new(true).mode(mode).open(path)
}

/// Makes a new file for reading and writing. The system has no modes.
#[cfg(not(unix))]
pub(crate) fn create_new(path: &Path, _mode: u32) -> io::Result<File> {
    File::options().read(true).write(true).create_new(true).open(path)
}

/// Makes a folder for this user alone, and those around it.
#[cfg(unix)]
pub(crate) fn make_private_folders(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Makes a folder, and those around it, with the rights that the one around them gives.
#[cfg(not(unix))]
pub(crate) fn make_private_folders(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}
