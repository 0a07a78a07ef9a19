//! Deleting files.

use std::ffi::c_int;

use ferrocdf::{Code, Container, File, Location};

use crate::abi::answer::{answer, fail};
use crate::abi::pointers::Str;
use crate::open::file::lenient_options;
use crate::open::paths::location;

#[unsafe(no_mangle)]
pub extern "C" fn nc_delete(path: Str) -> c_int {
    nc_delete_mp(path, 0)
}

/// Removes a file or an object, which must be a netCDF dataset.
#[unsafe(no_mangle)]
pub extern "C" fn nc_delete_mp(path: Str, basepe: c_int) -> c_int {
    answer(|| {
        let location = location(path)?;
        let format = File::open_location(&location, &lenient_options())?.format();
        let is_zarr = matches!(format.container(), Container::ZarrV2 | Container::ZarrV3);
        if basepe != 0 {
            return fail(Code::EINVAL, "the only processing element is 0");
        }
        match &*location.resolved()? {
            place if is_zarr && ferrocdf::remove_zarr_store(place)? => Ok(()),
            Location::Object { store, key } => store.delete(key),
            other => {
                let path = other.clone().into_path()?;
                std::fs::remove_file(&path)
                    .or_else(|error| fail(Code::EIO, format!("{}: {error}", path.display())))
            }
        }
    })
}
