//! `H5T`: the element type of a dataset, and the predefined types of HDF5.
//!
//! [`ElementType`] limits what is known of a type: only the size of a compound, and only the number of elements of an
//! array, not its shape. A variable-length list of text is a variable-length string of HDF5.

use std::ffi::c_int;
use std::sync::atomic::AtomicI64;

use ferrocdf_codec::ElementType;

use super::handles::{self, Hid};
use super::objects::Object;
use super::{DONE, FAILED, Named, PluginVariable, functions, guard, put};

/// Datatype classes; their numbers are the same in the file format and in the API.
pub(super) const INTEGER: u8 = 0;
pub(super) const FLOAT: u8 = 1;
const TEXT: u8 = 3;
const BITS: u8 = 4;
const OPAQUE: u8 = 5;
const ENUMERATION: u8 = 8;
const LIST: u8 = 9;
const ARRAY: u8 = 10;

/// `H5T_ORDER_LE`, `H5T_ORDER_BE` and `H5T_ORDER_NONE`.
const LITTLE_FIRST: c_int = 0;
const BIG_FIRST: c_int = 1;
const NO_ORDER: c_int = 4;

/// Returns a type without a base type.
const fn plain(class: u8, size: usize, big_endian: bool, signed: bool) -> ElementType {
    let size = size as u32;
    ElementType { class, size, big_endian, signed, precision: size * 8, offset: 0, base: None }
}

const NATIVE: bool = cfg!(target_endian = "big");

/// Defines the predefined types and the variables with their handles.
macro_rules! always {
    ($($name:ident: $class:expr, $size:expr, $big:expr, $signed:expr;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        #[repr(u32)]
        enum Always { $($name),* }

        const ALWAYS: &[ElementType] = &[$(plain($class, $size, $big, $signed)),*];

        pub(super) fn variables() -> Named {
            vec![$((concat!("H5T_", stringify!($name), "_g"), {
                static VARIABLE: PluginVariable =
                    AtomicI64::new(handles::FIRST_TYPE as i64 + Always::$name as i64);
                super::at(&VARIABLE)
            })),*]
        }
    };
}

always! {
    NATIVE_SCHAR: INTEGER, 1, NATIVE, true;
    NATIVE_UCHAR: INTEGER, 1, NATIVE, false;
    NATIVE_SHORT: INTEGER, 2, NATIVE, true;
    NATIVE_USHORT: INTEGER, 2, NATIVE, false;
    NATIVE_INT: INTEGER, 4, NATIVE, true;
    NATIVE_UINT: INTEGER, 4, NATIVE, false;
    NATIVE_LONG: INTEGER, size_of::<std::ffi::c_long>(), NATIVE, true;
    NATIVE_ULONG: INTEGER, size_of::<std::ffi::c_long>(), NATIVE, false;
    NATIVE_LLONG: INTEGER, 8, NATIVE, true;
    NATIVE_ULLONG: INTEGER, 8, NATIVE, false;
    NATIVE_FLOAT: FLOAT, 4, NATIVE, true;
    NATIVE_DOUBLE: FLOAT, 8, NATIVE, true;
    NATIVE_B8: BITS, 1, NATIVE, false;
    NATIVE_B16: BITS, 2, NATIVE, false;
    NATIVE_B32: BITS, 4, NATIVE, false;
    NATIVE_B64: BITS, 8, NATIVE, false;
    NATIVE_OPAQUE: OPAQUE, 1, false, false;
    NATIVE_HADDR: INTEGER, 8, NATIVE, false;
    NATIVE_HSIZE: INTEGER, 8, NATIVE, false;
    NATIVE_HSSIZE: INTEGER, 8, NATIVE, true;
    NATIVE_HERR: INTEGER, 4, NATIVE, true;
    NATIVE_HBOOL: INTEGER, 1, NATIVE, false;
    NATIVE_INT8: INTEGER, 1, NATIVE, true;
    NATIVE_UINT8: INTEGER, 1, NATIVE, false;
    NATIVE_INT_LEAST8: INTEGER, 1, NATIVE, true;
    NATIVE_UINT_LEAST8: INTEGER, 1, NATIVE, false;
    NATIVE_INT16: INTEGER, 2, NATIVE, true;
    NATIVE_UINT16: INTEGER, 2, NATIVE, false;
    NATIVE_INT_LEAST16: INTEGER, 2, NATIVE, true;
    NATIVE_UINT_LEAST16: INTEGER, 2, NATIVE, false;
    NATIVE_INT32: INTEGER, 4, NATIVE, true;
    NATIVE_UINT32: INTEGER, 4, NATIVE, false;
    NATIVE_INT_LEAST32: INTEGER, 4, NATIVE, true;
    NATIVE_UINT_LEAST32: INTEGER, 4, NATIVE, false;
    NATIVE_INT64: INTEGER, 8, NATIVE, true;
    NATIVE_UINT64: INTEGER, 8, NATIVE, false;
    NATIVE_INT_LEAST64: INTEGER, 8, NATIVE, true;
    NATIVE_UINT_LEAST64: INTEGER, 8, NATIVE, false;
    STD_I8BE: INTEGER, 1, true, true;
    STD_I8LE: INTEGER, 1, false, true;
    STD_I16BE: INTEGER, 2, true, true;
    STD_I16LE: INTEGER, 2, false, true;
    STD_I32BE: INTEGER, 4, true, true;
    STD_I32LE: INTEGER, 4, false, true;
    STD_I64BE: INTEGER, 8, true, true;
    STD_I64LE: INTEGER, 8, false, true;
    STD_U8BE: INTEGER, 1, true, false;
    STD_U8LE: INTEGER, 1, false, false;
    STD_U16BE: INTEGER, 2, true, false;
    STD_U16LE: INTEGER, 2, false, false;
    STD_U32BE: INTEGER, 4, true, false;
    STD_U32LE: INTEGER, 4, false, false;
    STD_U64BE: INTEGER, 8, true, false;
    STD_U64LE: INTEGER, 8, false, false;
    STD_B8BE: BITS, 1, true, false;
    STD_B8LE: BITS, 1, false, false;
    STD_B16BE: BITS, 2, true, false;
    STD_B16LE: BITS, 2, false, false;
    STD_B32BE: BITS, 4, true, false;
    STD_B32LE: BITS, 4, false, false;
    STD_B64BE: BITS, 8, true, false;
    STD_B64LE: BITS, 8, false, false;
    IEEE_F16BE: FLOAT, 2, true, true;
    IEEE_F16LE: FLOAT, 2, false, true;
    IEEE_F32BE: FLOAT, 4, true, true;
    IEEE_F32LE: FLOAT, 4, false, true;
    IEEE_F64BE: FLOAT, 8, true, true;
    IEEE_F64LE: FLOAT, 8, false, true;
    C_S1: TEXT, 1, false, false;
    FORTRAN_S1: TEXT, 1, false, false;
}

/// Returns the type of a handle.
pub(super) fn get(handle: Hid) -> Option<ElementType> {
    let always = handles::number(handle).checked_sub(handles::FIRST_TYPE);
    if let Some(element) = always.and_then(|at| ALWAYS.get(at as usize)) {
        return Some(element.clone());
    }
    handles::with(handle, |object| match object {
        Object::Type(element) => Some(element.clone()),
        Object::List(_) | Object::Space(_) => None,
    })
}

/// Changes a type that a plugin opened; predefined types cannot be changed.
fn change(handle: Hid, body: impl FnOnce(&mut ElementType) -> Option<()>) -> c_int {
    guard(FAILED, || {
        handles::with(handle, |object| match object {
            Object::Type(element) => body(element).map(|()| DONE),
            Object::List(_) | Object::Space(_) => None,
        })
    })
}

fn open(element: ElementType) -> Option<Hid> {
    handles::open(Object::Type(element))
}

/// True for variable-length strings.
fn is_long_text(element: &ElementType) -> bool {
    element.class == LIST && element.base.as_ref().is_some_and(|base| base.class == TEXT)
}

fn class(element: &ElementType) -> u8 {
    if is_long_text(element) { TEXT } else { element.class }
}

/// Returns the innermost base type, which determines byte order and significant bits.
fn innermost(element: &ElementType) -> &ElementType {
    let mut at = element;
    while let Some(base) = &at.base {
        at = base;
    }
    at
}

/// Returns the innermost base type if its class is numeric, text or bit field (classes 0 to 4).
fn atom(handle: Hid) -> Option<ElementType> {
    let element = get(handle)?;
    let atom = innermost(&element);
    matches!(atom.class, INTEGER..=BITS).then(|| atom.clone())
}

extern "C" fn H5Tget_class(handle: Hid) -> c_int {
    guard(FAILED, || get(handle).map(|element| c_int::from(class(&element))))
}

/// Returns 1 if a type or one of its base types is of a class, else 0.
extern "C" fn H5Tdetect_class(handle: Hid, wanted: c_int) -> c_int {
    guard(FAILED, || {
        let element = get(handle)?;
        let mut at = Some(&element);
        while let Some(part) = at {
            if c_int::from(class(part)) == wanted {
                return Some(1);
            }
            at = if is_long_text(part) { None } else { part.base.as_deref() };
        }
        Some(0)
    })
}

extern "C" fn H5Tget_size(handle: Hid) -> usize {
    guard(0, || get(handle).map(|element| element.size as usize))
}

extern "C" fn H5Tget_order(handle: Hid) -> c_int {
    guard(FAILED, || {
        let element = get(handle)?;
        let atom = innermost(&element);
        Some(match atom.class {
            INTEGER | FLOAT | BITS if atom.big_endian => BIG_FIRST,
            INTEGER | FLOAT | BITS => LITTLE_FIRST,
            _ => NO_ORDER,
        })
    })
}

extern "C" fn H5Tget_sign(handle: Hid) -> c_int {
    guard(FAILED, || {
        let element = get(handle)?;
        let atom = innermost(&element);
        (atom.class == INTEGER).then(|| c_int::from(atom.signed))
    })
}

extern "C" fn H5Tget_precision(handle: Hid) -> usize {
    guard(0, || atom(handle).map(|atom| atom.precision as usize))
}

extern "C" fn H5Tget_offset(handle: Hid) -> c_int {
    guard(FAILED, || c_int::try_from(atom(handle)?.offset).ok())
}

/// # Safety
/// The places are null or valid.
unsafe extern "C" fn H5Tget_fields(
    handle: Hid,
    sign: *mut usize,
    exponent: *mut usize,
    exponent_bits: *mut usize,
    mantissa: *mut usize,
    mantissa_bits: *mut usize,
) -> c_int {
    guard(FAILED, || {
        let element = get(handle)?;
        let bits: [usize; 5] = match (element.class, element.size) {
            (FLOAT, 2) => [15, 10, 5, 0, 10],
            (FLOAT, 4) => [31, 23, 8, 0, 23],
            (FLOAT, 8) => [63, 52, 11, 0, 52],
            _ => return None,
        };
        for (place, value) in [sign, exponent, exponent_bits, mantissa, mantissa_bits].into_iter().zip(bits) {
            // SAFETY: as the caller says.
            unsafe { put(place, value) };
        }
        Some(DONE)
    })
}

extern "C" fn H5Tget_super(handle: Hid) -> Hid {
    guard(-1, || open(*get(handle)?.base?))
}

/// Opens the native type for the same values.
extern "C" fn H5Tget_native_type(handle: Hid, _direction: c_int) -> Hid {
    guard(-1, || {
        fn native(element: &mut ElementType) {
            element.big_endian = NATIVE;
            if element.class == INTEGER {
                element.size = element.size.checked_next_power_of_two().unwrap_or(element.size);
                (element.precision, element.offset) = (element.size.saturating_mul(8), 0);
            }
            if let Some(base) = &mut element.base {
                let count = element.size.checked_div(base.size);
                native(base);
                if let (ARRAY, Some(count)) = (element.class, count) {
                    element.size = base.size.saturating_mul(count);
                } else if element.class == ENUMERATION {
                    element.size = base.size;
                }
            }
        }
        let mut element = get(handle)?;
        native(&mut element);
        open(element)
    })
}

extern "C" fn H5Tget_array_ndims(handle: Hid) -> c_int {
    guard(FAILED, || (get(handle)?.class == ARRAY).then_some(1))
}

/// # Safety
/// The place is null or has room for one number.
unsafe extern "C" fn H5Tget_array_dims2(handle: Hid, dims: *mut u64) -> c_int {
    guard(FAILED, || {
        let element = get(handle)?;
        let base = element.base.as_ref().filter(|_| element.class == ARRAY)?;
        let count = element.size.checked_div(base.size)?;
        // SAFETY: as the caller says.
        unsafe { put(dims, u64::from(count)) };
        Some(1)
    })
}

extern "C" fn H5Tis_variable_str(handle: Hid) -> c_int {
    guard(FAILED, || get(handle).map(|element| c_int::from(is_long_text(&element))))
}

extern "C" fn H5Tcommitted(handle: Hid) -> c_int {
    guard(FAILED, || get(handle).map(|_| 0))
}

extern "C" fn H5Tequal(one: Hid, other: Hid) -> c_int {
    guard(FAILED, || Some(c_int::from(get(one)? == get(other)?)))
}

extern "C" fn H5Tcopy(handle: Hid) -> Hid {
    guard(-1, || open(get(handle)?))
}

/// Sets the size; precision and offset shrink to the new size.
extern "C" fn H5Tset_size(handle: Hid, size: usize) -> c_int {
    change(handle, |element| {
        let size = u32::try_from(size).ok().filter(|size| *size > 0)?;
        let bits = size.saturating_mul(8);
        if element.class == TEXT || element.precision > bits {
            (element.precision, element.offset) = (bits, 0);
        }
        element.offset = element.offset.min(bits.saturating_sub(element.precision));
        element.size = size;
        Some(())
    })
}

extern "C" fn H5Tset_precision(handle: Hid, precision: usize) -> c_int {
    change(handle, |element| {
        let precision = u32::try_from(precision).ok().filter(|bits| *bits > 0)?;
        element.size = element.size.max(precision.div_ceil(8));
        element.offset = element.offset.min(element.size.saturating_mul(8).saturating_sub(precision));
        element.precision = precision;
        Some(())
    })
}

extern "C" fn H5Tset_offset(handle: Hid, offset: usize) -> c_int {
    change(handle, |element| {
        let end = u32::try_from(offset).ok()?.checked_add(element.precision)?;
        element.size = element.size.max(end.div_ceil(8));
        element.offset = end.saturating_sub(element.precision);
        Some(())
    })
}

extern "C" fn H5Tset_order(handle: Hid, order: c_int) -> c_int {
    change(handle, |element| {
        element.big_endian = match order {
            LITTLE_FIRST => false,
            BIG_FIRST => true,
            _ => return None,
        };
        Some(())
    })
}

extern "C" fn H5Tset_sign(handle: Hid, sign: c_int) -> c_int {
    change(handle, |element| {
        element.signed = match sign {
            0 => false,
            1 => true,
            _ => return None,
        };
        Some(())
    })
}

/// Closes a type; predefined types cannot be closed.
extern "C" fn H5Tclose(handle: Hid) -> c_int {
    guard(FAILED, || {
        handles::with(handle, |object| matches!(object, Object::Type(_)).then_some(()))?;
        handles::close(handle).map(|()| DONE)
    })
}

functions![
    H5Tget_class,
    H5Tdetect_class,
    H5Tget_size,
    H5Tget_order,
    H5Tget_sign,
    H5Tget_precision,
    H5Tget_offset,
    H5Tget_fields,
    H5Tget_super,
    H5Tget_native_type,
    H5Tget_array_ndims,
    H5Tget_array_dims2,
    H5Tis_variable_str,
    H5Tcommitted,
    H5Tequal,
    H5Tcopy,
    H5Tset_size,
    H5Tset_precision,
    H5Tset_offset,
    H5Tset_order,
    H5Tset_sign,
    H5Tclose,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the handle in a variable.
    fn always(name: &str) -> Hid {
        let found = variables().into_iter().find(|(own, _)| *own == name).expect("it is there");
        // SAFETY: the number is the address of a variable.
        unsafe { (found.1 as *const i64).read() }
    }

    fn facts(handle: Hid) -> (c_int, usize, c_int, c_int, usize, c_int) {
        let (class, size, order) = (H5Tget_class(handle), H5Tget_size(handle), H5Tget_order(handle));
        (class, size, order, H5Tget_sign(handle), H5Tget_precision(handle), H5Tget_offset(handle))
    }

    #[test]
    fn types_that_are_always_there() {
        assert_eq!(facts(always("H5T_STD_U32BE_g")), (0, 4, BIG_FIRST, 0, 32, 0));
        assert_eq!(facts(always("H5T_IEEE_F64LE_g")), (1, 8, LITTLE_FIRST, -1, 64, 0));
        assert_eq!(facts(always("H5T_C_S1_g")), (3, 1, NO_ORDER, -1, 8, 0));
        assert_eq!(facts(-1), (-1, 0, -1, -1, 0, -1));
        let int = always("H5T_NATIVE_INT_g");
        assert_eq!((H5Tclose(int), H5Tset_size(int, 8), H5Tget_size(int)), (-1, -1, 4));
        assert_eq!(H5Tequal(int, always("H5T_NATIVE_INT32_g")), 1);
        assert_eq!(H5Tequal(int, always("H5T_NATIVE_UINT32_g")), 0);
        assert_eq!((H5Tget_super(int), H5Tequal(int, -1)), (-1, -1));
    }

    #[test]
    fn types_with_parts() {
        let base = plain(INTEGER, 2, true, true);
        let array = ElementType { base: Some(Box::new(base)), ..plain(ARRAY, 12, false, false) };
        let handle = open(array).expect("room");
        assert_eq!(facts(handle), (10, 12, BIG_FIRST, 1, 16, 0));
        let mut dims = 0;
        // SAFETY: the place has room for one number.
        assert_eq!((unsafe { H5Tget_array_dims2(handle, &mut dims) }, dims), (1, 6));
        let inner = H5Tget_super(handle);
        assert_eq!(facts(inner), (0, 2, BIG_FIRST, 1, 16, 0));
        let native = H5Tget_native_type(handle, 0);
        assert_eq!((H5Tget_size(native), H5Tget_order(native)), (12, c_int::from(NATIVE)));
        assert_eq!((H5Tdetect_class(handle, 0), H5Tdetect_class(handle, 1)), (1, 0));

        let text = ElementType {
            base: Some(Box::new(plain(TEXT, 1, false, false))),
            ..plain(LIST, 16, false, false)
        };
        let text = open(text).expect("room");
        assert_eq!((H5Tget_class(text), H5Tis_variable_str(text), H5Tdetect_class(text, 9)), (3, 1, 0));
        for handle in [handle, inner, native, text] {
            assert_eq!((H5Tclose(handle), H5Tclose(handle)), (0, -1));
        }
    }

    #[test]
    fn types_are_changed() {
        let copy = H5Tcopy(always("H5T_STD_I32LE_g"));
        assert_eq!((H5Tset_precision(copy, 12), H5Tset_offset(copy, 4)), (0, 0));
        assert_eq!(facts(copy), (0, 4, LITTLE_FIRST, 1, 12, 4));
        assert_eq!((H5Tset_size(copy, 2), H5Tset_order(copy, 1), H5Tset_sign(copy, 0)), (0, 0, 0));
        assert_eq!(facts(copy), (0, 2, BIG_FIRST, 0, 12, 4));
        assert_eq!((H5Tset_size(copy, 1), H5Tset_size(copy, 0), H5Tset_order(copy, 7)), (0, -1, -1));
        assert_eq!(facts(copy), (0, 1, BIG_FIRST, 0, 8, 0));
        assert_eq!(H5Tclose(copy), 0);
    }
}
