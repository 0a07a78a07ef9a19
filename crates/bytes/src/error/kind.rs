//! Kinds of errors, for programs that decide by them.

use std::io;

/// The kind of an error: what a program decides by. Several codes of netCDF are of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file, a group, a dimension, a variable, an attribute or a type does not exist.
    NotFound,
    /// A file or a name exists already.
    AlreadyExists,
    /// An argument is wrong whatever the file holds, or does not go with the other arguments.
    InvalidArgument,
    /// A value or a variable is of another type than the call needs.
    WrongType,
    /// A selection is outside the shape of its variable, or of another shape than the data.
    OutOfBounds,
    /// A number is out of the range of the type that it is converted to. Other numbers of the call were converted.
    OutOfRange,
    /// The call comes too early or too late: the file must be in another mode, or must not have data yet.
    InvalidState,
    /// The file is of no known format.
    UnknownFormat,
    /// The file is damaged.
    Corrupt,
    /// A filter is not available, or refuses its parameters or its data.
    Filter,
    /// The format, or this build, cannot do what was asked for.
    Unsupported,
    /// The file is open for reading only, or the system or a server denies access.
    PermissionDenied,
    /// A change was not stored, since another writer had changed the same object.
    Conflict,
    /// The system refused to read or write.
    Io,
    /// A server could not be reached, or refused to answer.
    Network,
    /// Memory does not suffice.
    OutOfMemory,
    /// None of the other kinds.
    Other,
}

impl ErrorKind {
    /// Returns the kind of an error of the system by its kind in the standard library.
    pub(super) fn of_system(kind: io::ErrorKind) -> ErrorKind {
        use io::ErrorKind as System;
        match kind {
            System::NotFound => ErrorKind::NotFound,
            System::AlreadyExists => ErrorKind::AlreadyExists,
            System::PermissionDenied | System::ReadOnlyFilesystem => ErrorKind::PermissionDenied,
            System::OutOfMemory => ErrorKind::OutOfMemory,
            System::ConnectionRefused
            | System::ConnectionReset
            | System::ConnectionAborted
            | System::HostUnreachable
            | System::NetworkUnreachable
            | System::NetworkDown
            | System::NotConnected
            | System::TimedOut => ErrorKind::Network,
            _ => ErrorKind::Io,
        }
    }
}
