//! The error numbers of netCDF: for each its name, the kind of its errors, and the text of `nc_strerror`.

pub mod errno;

use std::fmt;

use super::ErrorKind;

/// A netCDF error number: negative for the codes of `netcdf.h`, positive for `errno` of the system.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Code(pub i32);

macro_rules! codes {
    ($($name:ident = $number:literal, $kind:ident, $text:literal;)*) => {
        impl Code {
            /// The codes of `netcdf.h`.
            #[cfg(test)]
            pub(super) const ALL: &[Code] = &[$(Code($number)),*];

            $(#[doc = concat!("`NC_", stringify!($name), "`: ", $text)] pub const $name: Code = Code($number);)*

            /// The text `nc_strerror` gives for this code, for codes of `netcdf.h`.
            fn known_text(self) -> Option<&'static str> {
                match self.0 { $($number => Some($text),)* _ => None }
            }

            /// Returns the kind of the errors with this code, for codes of `netcdf.h`.
            pub(super) fn known_kind(self) -> Option<ErrorKind> {
                match self.0 { $($number => Some(ErrorKind::$kind),)* _ => None }
            }

            /// The constant's name in `netcdf.h`, such as `NC_ERANGE`.
            pub fn name(self) -> Option<&'static str> {
                match self.0 { $($number => Some(concat!("NC_", stringify!($name))),)* _ => None }
            }
        }
    };
}

codes! {
    EXDR = -32, Other, "Unknown Error";
    EBADID = -33, InvalidArgument, "NetCDF: Not a valid ID";
    ENFILE = -34, Other, "NetCDF: Too many files open";
    EEXIST = -35, AlreadyExists, "NetCDF: File exists && NC_NOCLOBBER";
    EINVAL = -36, InvalidArgument, "NetCDF: Invalid argument";
    EPERM = -37, PermissionDenied, "NetCDF: Write to read only";
    ENOTINDEFINE = -38, InvalidState, "NetCDF: Operation not allowed in data mode";
    EINDEFINE = -39, InvalidState, "NetCDF: Operation not allowed in define mode";
    EINVALCOORDS = -40, OutOfBounds, "NetCDF: Index exceeds dimension bound";
    EMAXDIMS = -41, Unsupported, "NetCDF: NC_MAX_DIMS exceeded";
    ENAMEINUSE = -42, AlreadyExists, "NetCDF: String match to name in use";
    ENOTATT = -43, NotFound, "NetCDF: Attribute not found";
    EMAXATTS = -44, Unsupported, "NetCDF: NC_MAX_ATTRS exceeded";
    EBADTYPE = -45, WrongType, "NetCDF: Not a valid data type or _FillValue type mismatch";
    EBADDIM = -46, NotFound, "NetCDF: Invalid dimension ID or name";
    EUNLIMPOS = -47, InvalidArgument, "NetCDF: NC_UNLIMITED in the wrong index";
    EMAXVARS = -48, Unsupported, "NetCDF: NC_MAX_VARS exceeded";
    ENOTVAR = -49, NotFound, "NetCDF: Variable not found";
    EGLOBAL = -50, InvalidArgument, "NetCDF: Action prohibited on NC_GLOBAL varid";
    ENOTNC = -51, UnknownFormat, "NetCDF: Unknown file format";
    ESTS = -52, InvalidArgument, "NetCDF: In Fortran, string too short";
    EMAXNAME = -53, InvalidArgument, "NetCDF: NC_MAX_NAME exceeded";
    EUNLIMIT = -54, Unsupported, "NetCDF: NC_UNLIMITED size already in use";
    ENORECVARS = -55, InvalidArgument, "NetCDF: nc_rec op when there are no record vars";
    ECHAR = -56, WrongType, "NetCDF: Attempt to convert between text & numbers";
    EEDGE = -57, OutOfBounds, "NetCDF: Start+count exceeds dimension bound";
    ESTRIDE = -58, InvalidArgument, "NetCDF: Illegal stride";
    EBADNAME = -59, InvalidArgument, "NetCDF: Name contains illegal characters";
    ERANGE = -60, OutOfRange, "NetCDF: Numeric conversion not representable";
    ENOMEM = -61, OutOfMemory, "NetCDF: Memory allocation (malloc) failure";
    EVARSIZE = -62, Unsupported, "NetCDF: One or more variable sizes violate format constraints";
    EDIMSIZE = -63, Unsupported, "NetCDF: Invalid dimension size";
    ETRUNC = -64, Corrupt, "NetCDF: File likely truncated or possibly corrupted";
    EAXISTYPE = -65, InvalidArgument, "NetCDF: Illegal axis type";
    EDAP = -66, Network, "NetCDF: DAP failure";
    ECURL = -67, Network, "NetCDF: libcurl failure";
    EIO = -68, Io, "NetCDF: I/O failure";
    ENODATA = -69, Corrupt, "NetCDF: Variable has no data";
    EDAPSVC = -70, Network, "NetCDF: DAP server error";
    EDAS = -71, Network, "NetCDF: Malformed or inaccessible DAP DAS";
    EDDS = -72, Network, "NetCDF: Malformed or inaccessible DAP2 DDS or DAP4 DMR response";
    EDATADDS = -73, Network, "NetCDF: Malformed or inaccessible DAP2 DATADDS or DAP4 DAP response";
    EDAPURL = -74, InvalidArgument, "NetCDF: Malformed URL";
    EDAPCONSTRAINT = -75, InvalidArgument, "NetCDF: Malformed or unexpected Constraint";
    ETRANSLATION = -76, Unsupported, "NetCDF: Untranslatable construct";
    EACCESS = -77, PermissionDenied, "NetCDF: Access failure";
    EAUTH = -78, PermissionDenied, "NetCDF: Authorization failure";
    ENOTFOUND = -90, NotFound, "NetCDF: file not found";
    ECANTREMOVE = -91, Io, "NetCDF: cannot delete file";
    EINTERNAL = -92, Other, "NetCDF: internal library error; Please contact Unidata support";
    EPNETCDF = -93, Other, "NetCDF: PnetCDF error";
    EHDFERR = -101, Corrupt, "NetCDF: HDF error";
    ECANTREAD = -102, Io, "NetCDF: Can't read file";
    ECANTWRITE = -103, Io, "NetCDF: Can't write file";
    ECANTCREATE = -104, Io, "NetCDF: Can't create file";
    EFILEMETA = -105, Corrupt, "NetCDF: Can't add HDF5 file metadata";
    EDIMMETA = -106, Corrupt, "NetCDF: Can't define dimensional metadata";
    EATTMETA = -107, Corrupt, "NetCDF: Can't open HDF5 attribute";
    EVARMETA = -108, Corrupt, "NetCDF: Problem with variable metadata.";
    ENOCOMPOUND = -109, Unsupported, "NetCDF: Can't create HDF5 compound type";
    EATTEXISTS = -110, AlreadyExists, "NetCDF: Attempt to create attribute that already exists";
    ENOTNC4 = -111, Unsupported, "NetCDF: Attempting netcdf-4 operation on netcdf-3 file";
    ESTRICTNC3 = -112, Unsupported, "NetCDF: Attempting netcdf-4 operation on strict nc3 netcdf-4 file";
    ENOTNC3 = -113, Unsupported, "NetCDF: Attempting netcdf-3 operation on netcdf-4 file";
    ENOPAR = -114, Unsupported, "NetCDF: Parallel operation on file opened for non-parallel access";
    EPARINIT = -115, Other, "NetCDF: Error initializing for parallel access";
    EBADGRPID = -116, InvalidArgument, "NetCDF: Bad group ID";
    EBADTYPID = -117, NotFound, "NetCDF: Bad type ID";
    ETYPDEFINED = -118, AlreadyExists, "NetCDF: Type has already been defined and may not be edited";
    EBADFIELD = -119, InvalidArgument, "NetCDF: Bad field ID";
    EBADCLASS = -120, InvalidArgument, "NetCDF: Bad class";
    EMAPTYPE = -121, WrongType, "NetCDF: Mapped access for atomic types only";
    ELATEFILL = -122, InvalidState, "NetCDF: Attempt to define fill value when data already exists.";
    ELATEDEF = -123, InvalidState, "NetCDF: Attempt to define var properties, like deflate, after enddef.";
    EDIMSCALE = -124, Corrupt, "NetCDF: Problem with HDF5 dimscales.";
    ENOGRP = -125, NotFound, "NetCDF: No group found.";
    ESTORAGE = -126, InvalidArgument, "NetCDF: Cannot specify both contiguous and chunking.";
    EBADCHUNK = -127, InvalidArgument, "NetCDF: Bad chunk sizes.";
    ENOTBUILT = -128, Unsupported, "NetCDF: Attempt to use feature that was not turned on when netCDF was built.";
    EDISKLESS = -129, Io, "NetCDF: Error in using diskless access";
    ECANTEXTEND = -130, Other, "NetCDF: Attempt to extend dataset during NC_INDEPENDENT I/O operation. Use nc_var_par_access to set mode NC_COLLECTIVE before extending variable.";
    EMPI = -131, Other, "NetCDF: MPI operation failed.";
    EFILTER = -132, Filter, "NetCDF: Filter error: bad id or parameters or duplicate filter";
    ERCFILE = -133, Io, "NetCDF: RC File Failure.";
    ENULLPAD = -134, Corrupt, "NetCDF: File fails strict Null-Byte Header check.";
    EINMEMORY = -135, Io, "NetCDF: In-memory File operation failed.";
    ENOFILTER = -136, Filter, "NetCDF: Filter error: undefined filter encountered";
    ENCZARR = -137, Corrupt, "NetCDF: NCZarr error";
    ES3 = -138, Network, "NetCDF: AWS S3 error";
    EEMPTY = -139, NotFound, "NetCDF: Attempt to read empty NCZarr map key";
    EOBJECT = -140, AlreadyExists, "NetCDF: Some object exists when it should not";
    ENOOBJECT = -141, NotFound, "NetCDF: Some object not found";
    EPLUGIN = -142, Other, "NetCDF: Unclassified failure in accessing a dynamically loaded plugin";
    ENOTZARR = -143, Corrupt, "NetCDF: Malformed (NC)Zarr file";
    EZARRMETA = -144, Corrupt, "NetCDF: Invalid (NC)Zarr metadata";
}

impl Code {
    /// The text the reference gives for this code (`nc_strerror`).
    pub fn text(self) -> String {
        match self.known_text() {
            Some(text) => text.to_string(),
            None if self.0 > 0 => errno::text(self),
            None => "Unknown Error".to_string(),
        }
    }
}

impl Code {
    /// Returns the kind of the errors with this code.
    pub(super) fn kind(self) -> ErrorKind {
        match self.known_kind() {
            Some(kind) => kind,
            None if self.0 > 0 => ErrorKind::of_system(errno::kind(self)),
            None => ErrorKind::Other,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_that_of_the_reference() {
        assert_eq!(Code::EVARSIZE.text(), "NetCDF: One or more variable sizes violate format constraints");
        assert_eq!(errno::NOENT.text(), "No such file or directory");
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
    fn codes_of_netcdf_and_of_the_system_have_kinds() {
        for (code, kind) in [
            (Code::ENOTVAR, ErrorKind::NotFound),
            (Code::ENAMEINUSE, ErrorKind::AlreadyExists),
            (Code::EEDGE, ErrorKind::OutOfBounds),
            (Code::ERANGE, ErrorKind::OutOfRange),
            (Code::EHDFERR, ErrorKind::Corrupt),
            (Code::ENOTNC4, ErrorKind::Unsupported),
            (errno::NOENT, ErrorKind::NotFound),
            (errno::ACCES, ErrorKind::PermissionDenied),
            (errno::NOSPC, ErrorKind::Io),
            (errno::CONNREFUSED, ErrorKind::Network),
            (Code(-9999), ErrorKind::Other),
        ] {
            assert_eq!(code.kind(), kind, "{code:?}");
        }
    }
}
