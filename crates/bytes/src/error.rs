//! The error every layer answers with.
//!
//! `code` is the contract with C (the number netCDF callers compare with); `what` is for people: where, what, why.
//! One error type serves all crates, so that a message made at the bottom reaches the user unshortened.

use std::fmt;
use std::ops::Deref;

/// The result of every fallible operation in ferrocdf.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A netCDF error number: negative for the codes of `netcdf.h`, positive for `errno` of the system.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Code(pub i32);

macro_rules! codes {
    ($($name:ident = $number:literal, $text:literal;)*) => {
        impl Code {
            /// The codes of `netcdf.h`.
            #[cfg(test)]
            const ALL: &[Code] = &[$(Code($number)),*];

            $(#[doc = concat!("`NC_", stringify!($name), "`: ", $text)] pub const $name: Code = Code($number);)*

            /// The text `nc_strerror` gives for this code, for codes of `netcdf.h`.
            fn known_text(self) -> Option<&'static str> {
                match self.0 { $($number => Some($text),)* _ => None }
            }

            /// The constant's name in `netcdf.h`, such as `NC_ERANGE`.
            pub fn name(self) -> Option<&'static str> {
                match self.0 { $($number => Some(concat!("NC_", stringify!($name))),)* _ => None }
            }
        }
    };
}

codes! {
    EXDR = -32, "Unknown Error";
    EBADID = -33, "NetCDF: Not a valid ID";
    ENFILE = -34, "NetCDF: Too many files open";
    EEXIST = -35, "NetCDF: File exists && NC_NOCLOBBER";
    EINVAL = -36, "NetCDF: Invalid argument";
    EPERM = -37, "NetCDF: Write to read only";
    ENOTINDEFINE = -38, "NetCDF: Operation not allowed in data mode";
    EINDEFINE = -39, "NetCDF: Operation not allowed in define mode";
    EINVALCOORDS = -40, "NetCDF: Index exceeds dimension bound";
    EMAXDIMS = -41, "NetCDF: NC_MAX_DIMS exceeded";
    ENAMEINUSE = -42, "NetCDF: String match to name in use";
    ENOTATT = -43, "NetCDF: Attribute not found";
    EMAXATTS = -44, "NetCDF: NC_MAX_ATTRS exceeded";
    EBADTYPE = -45, "NetCDF: Not a valid data type or _FillValue type mismatch";
    EBADDIM = -46, "NetCDF: Invalid dimension ID or name";
    EUNLIMPOS = -47, "NetCDF: NC_UNLIMITED in the wrong index";
    EMAXVARS = -48, "NetCDF: NC_MAX_VARS exceeded";
    ENOTVAR = -49, "NetCDF: Variable not found";
    EGLOBAL = -50, "NetCDF: Action prohibited on NC_GLOBAL varid";
    ENOTNC = -51, "NetCDF: Unknown file format";
    ESTS = -52, "NetCDF: In Fortran, string too short";
    EMAXNAME = -53, "NetCDF: NC_MAX_NAME exceeded";
    EUNLIMIT = -54, "NetCDF: NC_UNLIMITED size already in use";
    ENORECVARS = -55, "NetCDF: nc_rec op when there are no record vars";
    ECHAR = -56, "NetCDF: Attempt to convert between text & numbers";
    EEDGE = -57, "NetCDF: Start+count exceeds dimension bound";
    ESTRIDE = -58, "NetCDF: Illegal stride";
    EBADNAME = -59, "NetCDF: Name contains illegal characters";
    ERANGE = -60, "NetCDF: Numeric conversion not representable";
    ENOMEM = -61, "NetCDF: Memory allocation (malloc) failure";
    EVARSIZE = -62, "NetCDF: One or more variable sizes violate format constraints";
    EDIMSIZE = -63, "NetCDF: Invalid dimension size";
    ETRUNC = -64, "NetCDF: File likely truncated or possibly corrupted";
    EAXISTYPE = -65, "NetCDF: Illegal axis type";
    EDAP = -66, "NetCDF: DAP failure";
    ECURL = -67, "NetCDF: libcurl failure";
    EIO = -68, "NetCDF: I/O failure";
    ENODATA = -69, "NetCDF: Variable has no data";
    EDAPSVC = -70, "NetCDF: DAP server error";
    EDAS = -71, "NetCDF: Malformed or inaccessible DAP DAS";
    EDDS = -72, "NetCDF: Malformed or inaccessible DAP2 DDS or DAP4 DMR response";
    EDATADDS = -73, "NetCDF: Malformed or inaccessible DAP2 DATADDS or DAP4 DAP response";
    EDAPURL = -74, "NetCDF: Malformed URL";
    EDAPCONSTRAINT = -75, "NetCDF: Malformed or unexpected Constraint";
    ETRANSLATION = -76, "NetCDF: Untranslatable construct";
    EACCESS = -77, "NetCDF: Access failure";
    EAUTH = -78, "NetCDF: Authorization failure";
    ENOTFOUND = -90, "NetCDF: file not found";
    ECANTREMOVE = -91, "NetCDF: cannot delete file";
    EINTERNAL = -92, "NetCDF: internal library error; Please contact Unidata support";
    EPNETCDF = -93, "NetCDF: PnetCDF error";
    EHDFERR = -101, "NetCDF: HDF error";
    ECANTREAD = -102, "NetCDF: Can't read file";
    ECANTWRITE = -103, "NetCDF: Can't write file";
    ECANTCREATE = -104, "NetCDF: Can't create file";
    EFILEMETA = -105, "NetCDF: Can't add HDF5 file metadata";
    EDIMMETA = -106, "NetCDF: Can't define dimensional metadata";
    EATTMETA = -107, "NetCDF: Can't open HDF5 attribute";
    EVARMETA = -108, "NetCDF: Problem with variable metadata.";
    ENOCOMPOUND = -109, "NetCDF: Can't create HDF5 compound type";
    EATTEXISTS = -110, "NetCDF: Attempt to create attribute that already exists";
    ENOTNC4 = -111, "NetCDF: Attempting netcdf-4 operation on netcdf-3 file";
    ESTRICTNC3 = -112, "NetCDF: Attempting netcdf-4 operation on strict nc3 netcdf-4 file";
    ENOTNC3 = -113, "NetCDF: Attempting netcdf-3 operation on netcdf-4 file";
    ENOPAR = -114, "NetCDF: Parallel operation on file opened for non-parallel access";
    EPARINIT = -115, "NetCDF: Error initializing for parallel access";
    EBADGRPID = -116, "NetCDF: Bad group ID";
    EBADTYPID = -117, "NetCDF: Bad type ID";
    ETYPDEFINED = -118, "NetCDF: Type has already been defined and may not be edited";
    EBADFIELD = -119, "NetCDF: Bad field ID";
    EBADCLASS = -120, "NetCDF: Bad class";
    EMAPTYPE = -121, "NetCDF: Mapped access for atomic types only";
    ELATEFILL = -122, "NetCDF: Attempt to define fill value when data already exists.";
    ELATEDEF = -123, "NetCDF: Attempt to define var properties, like deflate, after enddef.";
    EDIMSCALE = -124, "NetCDF: Problem with HDF5 dimscales.";
    ENOGRP = -125, "NetCDF: No group found.";
    ESTORAGE = -126, "NetCDF: Cannot specify both contiguous and chunking.";
    EBADCHUNK = -127, "NetCDF: Bad chunk sizes.";
    ENOTBUILT = -128, "NetCDF: Attempt to use feature that was not turned on when netCDF was built.";
    EDISKLESS = -129, "NetCDF: Error in using diskless access";
    ECANTEXTEND = -130, "NetCDF: Attempt to extend dataset during NC_INDEPENDENT I/O operation. Use nc_var_par_access to set mode NC_COLLECTIVE before extending variable.";
    EMPI = -131, "NetCDF: MPI operation failed.";
    EFILTER = -132, "NetCDF: Filter error: bad id or parameters or duplicate filter";
    ERCFILE = -133, "NetCDF: RC File Failure.";
    ENULLPAD = -134, "NetCDF: File fails strict Null-Byte Header check.";
    EINMEMORY = -135, "NetCDF: In-memory File operation failed.";
    ENOFILTER = -136, "NetCDF: Filter error: undefined filter encountered";
    ENCZARR = -137, "NetCDF: NCZarr error";
    ES3 = -138, "NetCDF: AWS S3 error";
    EEMPTY = -139, "NetCDF: Attempt to read empty NCZarr map key";
    EOBJECT = -140, "NetCDF: Some object exists when it should not";
    ENOOBJECT = -141, "NetCDF: Some object not found";
    EPLUGIN = -142, "NetCDF: Unclassified failure in accessing a dynamically loaded plugin";
    ENOTZARR = -143, "NetCDF: Malformed (NC)Zarr file";
    EZARRMETA = -144, "NetCDF: Invalid (NC)Zarr metadata";
}

impl Code {
    /// `ESTALE` of the system: another writer changed or replaced what was read, so changes to it are not stored.
    pub const ESTALE: Code = Code(116);

    /// The text the reference gives for this code (`nc_strerror`).
    pub fn text(self) -> String {
        match self.known_text() {
            Some(text) => text.to_string(),
            None if self.0 > 0 => system_text(self.0),
            None => "Unknown Error".to_string(),
        }
    }
}

/// The C library's words for an `errno`, without the number that `std` appends.
fn system_text(errno: i32) -> String {
    let full = std::io::Error::from_raw_os_error(errno).to_string();
    match full.rfind(" (os error") {
        Some(end) => full[..end].to_string(),
        None => full,
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{} ({})", self.0, self.text()),
        }
    }
}

/// An error: a netCDF error code and a sentence that says where and why. It has the size of a pointer, so results are
/// returned in registers.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Details>);

/// The content of an [`Error`].
#[derive(Clone, PartialEq, Eq)]
pub struct Details {
    /// The number C callers see.
    pub code: Code,
    /// Path inside the dataset, structure, field, byte offset, reason; outermost context first.
    pub what: Box<str>,
    /// True if a change was not stored since another writer had changed the same object. The code says `ESTALE` then, but not only
    /// then: network file systems have that error for files of their own.
    pub is_conflict: bool,
}

impl Deref for Error {
    type Target = Details;

    fn deref(&self) -> &Details {
        &self.0
    }
}

impl Error {
    /// An error with its explanation.
    #[cold]
    pub fn new(code: Code, what: impl Into<String>) -> Self {
        Error(Box::new(Details { code, what: what.into().into_boxed_str(), is_conflict: false }))
    }

    /// An error of a change that was not stored, since another writer had changed the same object.
    #[cold]
    pub fn conflict(what: impl Into<String>) -> Self {
        let mut error = Error::new(Code::ESTALE, what);
        error.0.is_conflict = true;
        error
    }

    /// The same error, with the place it happened in put before its text.
    #[must_use]
    #[cold]
    pub fn at(self, place: impl fmt::Display) -> Self {
        let what = if self.what.is_empty() { place.to_string() } else { format!("{place}: {}", self.what) };
        self.with_words(what)
    }

    /// Replaces the code.
    #[must_use]
    pub fn with_code(mut self, code: Code) -> Self {
        self.0.code = code;
        self
    }

    /// Replaces the sentence.
    #[must_use]
    pub fn with_words(mut self, what: impl Into<String>) -> Self {
        self.0.what = what.into().into_boxed_str();
        self
    }

    /// True if the operating system or a server refused a request, so that the same call may succeed later.
    pub fn is_of_system(&self) -> bool {
        // Requests to a file whose name another file has taken never succeed again.
        let of_servers = [Code::EIO, Code::ECURL, Code::ES3, Code::EACCESS, Code::EAUTH];
        (self.code.0 > 0 && self.code != Code::ESTALE) || of_servers.contains(&self.code)
    }

    /// True if bytes could not be had, whatever they say: the system or a server refused, or another file or object, or none, is in the
    /// place of the one that was opened.
    pub fn is_of_source(&self) -> bool {
        self.code.0 > 0 || self.code == Code::ENOOBJECT || self.is_of_system()
    }

    /// An operating system error; keeps `errno` as the code, as netCDF does.
    pub fn system(error: &std::io::Error, what: impl fmt::Display) -> Self {
        let code = error.raw_os_error().map_or(Code::EIO, Code);
        Error::new(code, what.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.what.is_empty() {
            return f.write_str(&self.code.text());
        }
        write!(f, "{} ({})", self.what, self.code.text())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.code, self.what)
    }
}

impl std::error::Error for Error {}

/// Adds the place to an error on its way up.
pub trait Context<T> {
    /// Puts `place` before the text of the error, if there is one.
    fn at<D: fmt::Display>(self, place: impl FnOnce() -> D) -> Result<T>;
}

impl<T> Context<T> for Result<T> {
    fn at<D: fmt::Display>(self, place: impl FnOnce() -> D) -> Result<T> {
        self.map_err(|error| error.at(place()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_that_of_the_reference() {
        assert_eq!(Code::EVARSIZE.text(), "NetCDF: One or more variable sizes violate format constraints");
        assert_eq!(Code(2).text(), "No such file or directory");
        assert_eq!(Code(-9999).text(), "Unknown Error");
    }

    #[test]
    fn every_code_has_a_text_of_its_own() {
        let texts: std::collections::HashSet<_> = Code::ALL.iter().map(|code| code.text()).collect();
        assert_eq!(texts.len(), Code::ALL.len());
        // The reference has none for this error of the interface of version 2.
        let unknown: Vec<_> = Code::ALL.iter().filter(|code| code.text() == "Unknown Error").collect();
        assert_eq!(unknown, [&Code::EXDR]);
    }

    #[test]
    fn context_goes_in_front() {
        let error = Error::new(Code::ENOTNC, "magic number at byte 0").at("a.nc");
        assert_eq!(error.to_string(), "a.nc: magic number at byte 0 (NetCDF: Unknown file format)");
    }
}
