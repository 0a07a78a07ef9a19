//! `H5P`: the creation property list of a dataset, with its filters and chunk shape.
//!
//! Properties with names of a plugin's own do not exist: no code here sets such properties.

use std::ffi::{c_char, c_int, c_uint, c_void};

use ferrocdf_codec::Step;

use super::handles::{self, Hid};
use super::library::{BOTH_WAYS, is_available};
use super::objects::{Definition, Object};
use super::{DONE, FAILED, functions, guard, put};

/// `H5Z_FLAG_OPTIONAL`.
pub(crate) const OPTIONAL: c_uint = 1;
/// Largest believable number of parameters; a larger one is an uninitialized variable of the caller.
const MOST_VALUES: usize = 256;
/// `H5D_CHUNKED`.
const CHUNKED: c_int = 2;
/// `H5D_FILL_VALUE_DEFAULT`.
const DEFAULT_FILL: c_int = 1;

fn list<T>(list: Hid, body: impl FnOnce(&mut Definition) -> Option<T>) -> Option<T> {
    handles::with(list, |object| match object {
        Object::List(definition) => body(definition),
        Object::Type(_) | Object::Space(_) => None,
    })
}

fn place_of(definition: &Definition, id: c_int) -> Option<usize> {
    let id = u32::try_from(id).ok()?;
    definition.steps.iter().position(|step| step.id == id)
}

/// Output arguments for a filter of the list.
struct Answer {
    flags: *mut c_uint,
    count: *mut usize,
    values: *mut c_uint,
    name_len: usize,
    name: *mut c_char,
    config: *mut c_uint,
}

impl Answer {
    /// Stores the properties of a filter: at most `*count` parameters; then `*count` becomes the number that there are.
    ///
    /// # Safety
    /// The places are null or valid; `values` has room for `*count` values, `name` for `name_len` bytes.
    unsafe fn give(self, step: &Step) -> Option<()> {
        // SAFETY: as the caller says.
        unsafe {
            if !self.count.is_null() {
                let room = self.count.read();
                if room > MOST_VALUES || (room > 0 && self.values.is_null()) {
                    return None;
                }
                self.count.write(step.params.len());
                if room > 0 {
                    self.values.copy_from_nonoverlapping(step.params.as_ptr(), room.min(step.params.len()));
                }
            }
            put(self.flags, if step.optional { OPTIONAL } else { 0 });
            put(self.config, BOTH_WAYS);
            if !self.name.is_null() && self.name_len > 0 {
                let len = step.name.len().min(self.name_len.saturating_sub(1));
                self.name.cast::<u8>().copy_from_nonoverlapping(step.name.as_ptr(), len);
                self.name.add(len).write(0);
            }
        }
        Some(())
    }
}

/// # Safety
/// As [`Answer::give`] says.
unsafe fn by_id(plist: Hid, id: c_int, answer: Answer) -> c_int {
    guard(FAILED, || {
        let step = list(plist, |it| it.steps.get(place_of(it, id)?).cloned())?;
        // SAFETY: as the caller says.
        unsafe { answer.give(&step) }.map(|()| DONE)
    })
}

/// # Safety
/// As [`Answer::give`] says.
unsafe fn by_place(plist: Hid, at: c_uint, answer: Answer) -> c_int {
    guard(FAILED, || {
        let step = list(plist, |it| it.steps.get(at as usize).cloned())?;
        // SAFETY: as the caller says.
        unsafe { answer.give(&step) }?;
        c_int::try_from(step.id.hdf5()?).ok()
    })
}

/// # Safety
/// As [`Answer::give`] says.
unsafe extern "C" fn H5Pget_filter_by_id1(
    plist: Hid,
    id: c_int,
    flags: *mut c_uint,
    count: *mut usize,
    values: *mut c_uint,
    name_len: usize,
    name: *mut c_char,
) -> c_int {
    let answer = Answer { flags, count, values, name_len, name, config: std::ptr::null_mut() };
    // SAFETY: as the caller says.
    unsafe { by_id(plist, id, answer) }
}

/// # Safety
/// As [`Answer::give`] says.
#[allow(clippy::too_many_arguments)]
unsafe extern "C" fn H5Pget_filter_by_id2(
    plist: Hid,
    id: c_int,
    flags: *mut c_uint,
    count: *mut usize,
    values: *mut c_uint,
    name_len: usize,
    name: *mut c_char,
    config: *mut c_uint,
) -> c_int {
    // SAFETY: as the caller says.
    unsafe { by_id(plist, id, Answer { flags, count, values, name_len, name, config }) }
}

/// # Safety
/// As [`Answer::give`] says.
unsafe extern "C" fn H5Pget_filter1(
    plist: Hid,
    at: c_uint,
    flags: *mut c_uint,
    count: *mut usize,
    values: *mut c_uint,
    name_len: usize,
    name: *mut c_char,
) -> c_int {
    let answer = Answer { flags, count, values, name_len, name, config: std::ptr::null_mut() };
    // SAFETY: as the caller says.
    unsafe { by_place(plist, at, answer) }
}

/// # Safety
/// As [`Answer::give`] says.
#[allow(clippy::too_many_arguments)]
unsafe extern "C" fn H5Pget_filter2(
    plist: Hid,
    at: c_uint,
    flags: *mut c_uint,
    count: *mut usize,
    values: *mut c_uint,
    name_len: usize,
    name: *mut c_char,
    config: *mut c_uint,
) -> c_int {
    // SAFETY: as the caller says.
    unsafe { by_place(plist, at, Answer { flags, count, values, name_len, name, config }) }
}

extern "C" fn H5Pget_nfilters(plist: Hid) -> c_int {
    guard(FAILED, || list(plist, |it| c_int::try_from(it.steps.len()).ok()))
}

/// Copies parameters from C; `None` if there are more than a filter can have.
///
/// # Safety
/// `values` has `count` values.
unsafe fn values_of(count: usize, values: *const c_uint) -> Option<Vec<u32>> {
    if count == 0 {
        return Some(Vec::new());
    }
    if values.is_null() || count > usize::from(u16::MAX) {
        return None;
    }
    // SAFETY: as the caller says.
    Some(unsafe { std::slice::from_raw_parts(values, count) }.to_vec())
}

/// # Safety
/// `values` has `count` values.
unsafe extern "C" fn H5Pmodify_filter(
    plist: Hid,
    id: c_int,
    flags: c_uint,
    count: usize,
    values: *const c_uint,
) -> c_int {
    guard(FAILED, || {
        // SAFETY: as the caller says.
        let params = unsafe { values_of(count, values) }?;
        list(plist, |it| {
            let at = place_of(it, id)?;
            let step = it.steps.get_mut(at)?;
            (step.optional, step.params) = (flags & OPTIONAL != 0, params);
            Some(DONE)
        })
    })
}

/// # Safety
/// `values` has `count` values.
unsafe extern "C" fn H5Pset_filter(
    plist: Hid,
    id: c_int,
    flags: c_uint,
    count: usize,
    values: *const c_uint,
) -> c_int {
    guard(FAILED, || {
        // SAFETY: as the caller says.
        let params = unsafe { values_of(count, values) }?;
        let optional = flags & OPTIONAL != 0;
        let step = Step { id: u32::try_from(id).ok()?.into(), name: String::new(), optional, params };
        list(plist, |it| {
            match place_of(it, id).and_then(|at| it.steps.get_mut(at)) {
                Some(old) => (old.optional, old.params) = (step.optional, step.params),
                None => it.steps.push(step),
            }
            Some(DONE)
        })
    })
}

/// Removes a filter, or all filters if the number is 0.
extern "C" fn H5Premove_filter(plist: Hid, id: c_int) -> c_int {
    guard(FAILED, || {
        list(plist, |it| {
            if id == 0 {
                it.steps.clear();
                return Some(DONE);
            }
            let at = place_of(it, id)?;
            it.steps.remove(at);
            Some(DONE)
        })
    })
}

extern "C" fn H5Pall_filters_avail(plist: Hid) -> c_int {
    guard(FAILED, || {
        let ids = list(plist, |it| Some(it.steps.iter().map(|step| step.id.hdf5()).collect::<Vec<_>>()))?;
        Some(c_int::from(ids.into_iter().all(|id| id.is_some_and(is_available))))
    })
}

/// # Safety
/// The place is null or has room for `most` numbers.
unsafe extern "C" fn H5Pget_chunk(plist: Hid, most: c_int, dims: *mut u64) -> c_int {
    guard(FAILED, || {
        let chunk = list(plist, |it| Some(it.chunk.clone()))?;
        let len = chunk.len().min(usize::try_from(most).ok()?);
        if !dims.is_null() {
            // SAFETY: `dims` has room for `most` numbers, as the caller says.
            unsafe { dims.copy_from_nonoverlapping(chunk.as_ptr(), len) };
        }
        c_int::try_from(chunk.len()).ok()
    })
}

extern "C" fn H5Pget_layout(plist: Hid) -> c_int {
    guard(FAILED, || list(plist, |_| Some(CHUNKED)))
}

/// # Safety
/// The place is null or valid.
unsafe extern "C" fn H5Pfill_value_defined(plist: Hid, status: *mut c_int) -> c_int {
    guard(FAILED, || {
        list(plist, |_| Some(()))?;
        // SAFETY: as the caller says.
        unsafe { put(status, DEFAULT_FILL) };
        Some(DONE)
    })
}

extern "C" fn H5Pisa_class(plist: Hid, class: Hid) -> c_int {
    guard(FAILED, || {
        list(plist, |_| Some(()))?;
        let classes = [handles::DATASET_CREATE_CLASS, handles::OBJECT_CREATE_CLASS, handles::ROOT_CLASS];
        Some(c_int::from(classes.iter().any(|own| handles::number(*own) == handles::number(class))))
    })
}

extern "C" fn H5Pget_class(plist: Hid) -> Hid {
    guard(-1, || list(plist, |_| Some(handles::DATASET_CREATE_CLASS)))
}

extern "C" fn H5Pclose_class(_class: Hid) -> c_int {
    DONE
}

extern "C" fn H5Pcopy(plist: Hid) -> Hid {
    guard(-1, || {
        let copy = list(plist, |it| Some(it.clone()))?;
        handles::open(Object::List(copy))
    })
}

extern "C" fn H5Pclose(plist: Hid) -> c_int {
    guard(FAILED, || {
        list(plist, |_| Some(()))?;
        handles::close(plist).map(|()| DONE)
    })
}

extern "C" fn H5Pexist(plist: Hid, _name: *const c_char) -> c_int {
    guard(FAILED, || list(plist, |_| Some(0)))
}

extern "C" fn H5Pget(_plist: Hid, _name: *const c_char, _value: *mut c_void) -> c_int {
    FAILED
}

extern "C" fn H5Pset(_plist: Hid, _name: *const c_char, _value: *const c_void) -> c_int {
    FAILED
}

/// Always fails, so the callbacks of a property are never called.
#[allow(clippy::too_many_arguments)]
extern "C" fn H5Pinsert2(
    _plist: Hid,
    _name: *const c_char,
    _len: usize,
    _value: *mut c_void,
    _set: *const c_void,
    _get: *const c_void,
    _delete: *const c_void,
    _copy: *const c_void,
) -> c_int {
    FAILED
}

functions![
    H5Pget_filter_by_id1,
    H5Pget_filter_by_id2,
    H5Pget_filter1,
    H5Pget_filter2,
    H5Pget_nfilters,
    H5Pmodify_filter,
    H5Pset_filter,
    H5Premove_filter,
    H5Pall_filters_avail,
    H5Pget_chunk,
    H5Pget_layout,
    H5Pfill_value_defined,
    H5Pisa_class,
    H5Pget_class,
    H5Pclose_class,
    H5Pcopy,
    H5Pclose,
    H5Pexist,
    H5Pget,
    H5Pset,
    H5Pinsert2,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn open() -> Hid {
        let step = |id: u32, params: &[u32]| Step {
            id: id.into(),
            name: "a name".into(),
            optional: id == 2,
            params: params.to_vec(),
        };
        let steps = vec![step(2, &[4]), step(307, &[5, 6, 7])];
        handles::open(Object::List(Definition { steps, chunk: vec![3, 4] })).expect("room")
    }

    #[test]
    fn filters_are_told() {
        let plist = open();
        let (mut flags, mut count, mut values, mut name, mut config) = (9, 2, [0; 4], [b'#' as c_char; 8], 0);
        // SAFETY: all places have the stated sizes.
        let made = unsafe {
            H5Pget_filter_by_id2(
                plist,
                307,
                &mut flags,
                &mut count,
                values.as_mut_ptr(),
                4,
                name.as_mut_ptr(),
                &mut config,
            )
        };
        let name = name.map(|byte| byte as u8);
        assert_eq!((made, flags, count, values, &name, config), (0, 0, 3, [5, 6, 0, 0], b"a n\0####", 3));
        let none: *mut c_void = std::ptr::null_mut();
        // SAFETY: all places have the stated sizes, or are null.
        unsafe {
            let by_place = |at, flags: &mut c_uint| {
                H5Pget_filter2(plist, at, flags, none.cast(), none.cast(), 0, none.cast(), none.cast())
            };
            assert_eq!((by_place(0, &mut flags), flags), (2, OPTIONAL));
            assert_eq!(by_place(2, &mut flags), -1);
            count = 257;
            let mut many = [0; 300];
            let by_id = |id, count: &mut usize, values| {
                H5Pget_filter_by_id1(plist, id, none.cast(), count, values, 0, none.cast())
            };
            assert_eq!(by_id(307, &mut count, many.as_mut_ptr()), -1, "a count that was not set");
            count = 2;
            assert_eq!(by_id(307, &mut count, none.cast()), -1);
            count = 0;
            assert_eq!((by_id(307, &mut count, none.cast()), count), (0, 3));
            assert_eq!(by_id(5, &mut count, none.cast()), -1);
        }
        assert_eq!((H5Pget_nfilters(plist), H5Pclose(plist), H5Pget_nfilters(plist)), (2, 0, -1));
    }

    #[test]
    fn filters_are_changed() {
        let plist = open();
        let new = [8, 9];
        // SAFETY: `new` has two values.
        unsafe {
            assert_eq!(H5Pmodify_filter(plist, 307, OPTIONAL, 2, new.as_ptr()), 0);
            assert_eq!(H5Pmodify_filter(plist, 5, OPTIONAL, 2, new.as_ptr()), -1);
            assert_eq!(H5Pmodify_filter(plist, 307, OPTIONAL, 2, std::ptr::null()), -1);
            assert_eq!(H5Pset_filter(plist, 5, 0, 1, new.as_ptr()), 0);
            assert_eq!(H5Pset_filter(plist, 2, 0, 0, std::ptr::null()), 0);
        }
        let steps = list(plist, |it| Some(it.steps.clone())).expect("it is open");
        let told: Vec<_> = steps.iter().map(|step| (step.id.hdf5(), step.optional, &*step.params)).collect();
        assert_eq!(told, [(Some(2), false, &[][..]), (Some(307), true, &[8, 9]), (Some(5), false, &[8])]);
        assert_eq!((H5Premove_filter(plist, 2), H5Premove_filter(plist, 2)), (0, -1));
        assert_eq!((H5Pget_nfilters(plist), H5Premove_filter(plist, 0), H5Pget_nfilters(plist)), (2, 0, 0));
        assert_eq!(H5Pclose(plist), 0);
    }

    #[test]
    fn the_chunk_and_the_class() {
        let plist = open();
        let mut dims = [0; 2];
        // SAFETY: `dims` has room for two numbers.
        unsafe {
            assert_eq!((H5Pget_chunk(plist, 1, dims.as_mut_ptr()), dims), (2, [3, 0]));
            assert_eq!((H5Pget_chunk(plist, 9, dims.as_mut_ptr()), dims), (2, [3, 4]));
            assert_eq!(H5Pget_chunk(plist, -1, dims.as_mut_ptr()), -1);
        }
        assert_eq!(H5Pisa_class(plist, handles::DATASET_CREATE_CLASS), 1);
        assert_eq!(H5Pisa_class(plist, handles::OTHER_CLASS), 0);
        assert_eq!((H5Pexist(plist, c"x".as_ptr()), H5Pclose(plist)), (0, 0));
        assert_eq!(H5Pexist(plist, c"x".as_ptr()), -1);
    }
}
