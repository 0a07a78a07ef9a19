//! `H5S`: dataspaces. A filter sees the shape of a chunk as the dataspace of its dataset.

use std::ffi::c_int;

use super::handles::{self, Hid};
use super::objects::{Object, Space};
use super::{DONE, FAILED, functions, guard};

/// `H5S_SCALAR` and `H5S_SIMPLE`.
const SCALAR: c_int = 0;
const SIMPLE: c_int = 1;

fn shape(space: Hid) -> Option<Vec<u64>> {
    handles::with(space, |object| match object {
        Object::Space(space) => Some(space.shape.clone()),
        Object::List(_) | Object::Type(_) => None,
    })
}

fn rank(space: Hid) -> Option<c_int> {
    c_int::try_from(shape(space)?.len()).ok()
}

/// # Safety
/// Each place is null or has room for one number per dimension.
unsafe extern "C" fn H5Sget_simple_extent_dims(space: Hid, dims: *mut u64, most: *mut u64) -> c_int {
    guard(FAILED, || {
        let shape = shape(space)?;
        for place in [dims, most] {
            if !place.is_null() {
                // SAFETY: the place has room for the shape, as the caller says.
                unsafe { place.copy_from_nonoverlapping(shape.as_ptr(), shape.len()) };
            }
        }
        c_int::try_from(shape.len()).ok()
    })
}

extern "C" fn H5Sget_simple_extent_ndims(space: Hid) -> c_int {
    guard(FAILED, || rank(space))
}

extern "C" fn H5Sget_simple_extent_npoints(space: Hid) -> i64 {
    guard(-1, || {
        let count = shape(space)?.iter().try_fold(1u64, |count, dim| count.checked_mul(*dim))?;
        i64::try_from(count).ok()
    })
}

extern "C" fn H5Sget_simple_extent_type(space: Hid) -> c_int {
    guard(FAILED, || rank(space).map(|rank| if rank == 0 { SCALAR } else { SIMPLE }))
}

extern "C" fn H5Sis_simple(space: Hid) -> c_int {
    guard(FAILED, || rank(space).map(|_| 1))
}

extern "C" fn H5Scopy(space: Hid) -> Hid {
    guard(-1, || handles::open(Object::Space(Space { shape: shape(space)? })))
}

extern "C" fn H5Sclose(space: Hid) -> c_int {
    guard(FAILED, || {
        shape(space)?;
        handles::close(space).map(|()| DONE)
    })
}

functions![
    H5Sget_simple_extent_dims,
    H5Sget_simple_extent_ndims,
    H5Sget_simple_extent_npoints,
    H5Sget_simple_extent_type,
    H5Sis_simple,
    H5Scopy,
    H5Sclose,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_told() {
        let space = handles::open(Object::Space(Space { shape: vec![3, 4] })).expect("room");
        let (mut dims, mut most) = ([0; 2], [0; 2]);
        // SAFETY: both places have room for two numbers.
        assert_eq!(unsafe { H5Sget_simple_extent_dims(space, dims.as_mut_ptr(), most.as_mut_ptr()) }, 2);
        assert_eq!((dims, most), ([3, 4], [3, 4]));
        // SAFETY: null is allowed for both places.
        assert_eq!(
            unsafe { H5Sget_simple_extent_dims(space, std::ptr::null_mut(), std::ptr::null_mut()) },
            2
        );
        assert_eq!((H5Sget_simple_extent_npoints(space), H5Sis_simple(space)), (12, 1));
        let copy = H5Scopy(space);
        assert_eq!((H5Sclose(space), H5Sclose(space), H5Sis_simple(space)), (0, -1, -1));
        assert_eq!((H5Sget_simple_extent_ndims(copy), H5Sget_simple_extent_type(copy)), (2, SIMPLE));
        assert_eq!(H5Sclose(copy), 0);
        let huge = handles::open(Object::Space(Space { shape: vec![u64::MAX, 2] })).expect("room");
        assert_eq!((H5Sget_simple_extent_npoints(huge), H5Sclose(huge)), (-1, 0));
    }
}
