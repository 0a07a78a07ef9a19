//! Attributes, read when they are first looked at.
//!
//! A thread that looks at one owner after the other gets those of the next ones as well, read by all threads. Where several
//! look, each reads for itself. In a slow file the attributes of the next owners are read, in rounds, with those of
//! the first one.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_hdf5::messages::dataspace::SpaceKind;
use ferrocdf_hdf5::messages::datatype::Class as Stored;
use ferrocdf_hdf5::{Attribute, File, Object};
use ferrocdf_model::{Atomic, Attr, Class, LateAttrs, Name, Named, Type, Values};

use super::found::Place;
use super::native::Native;
use super::types::Types;
use super::{decode, names};

/// After so many owners in a row, so many are read together, or as many as have so many bytes of attributes in memory, and
/// one more for each thread.
const STREAK: usize = 4;
const TOGETHER: u64 = 64;
/// Owners whose attributes are read together in a slow file: each group of them costs some rounds.
const IN_ROUNDS: u64 = 4096;
const BYTES: u64 = 4 << 20;

/// Room is made at once for so many attributes of an owner.
const USUAL: u64 = 64;

/// What attributes are read from.
pub(super) struct Owners {
    /// The object of each owner.
    pub(super) places: Vec<Place>,
    types: Types,
    /// The user-defined types of the file.
    pub(super) classes: Vec<Class>,
    ahead: Mutex<Ahead>,
    /// Held while owners are read ahead.
    reading: Mutex<()>,
}

/// The attributes of an owner that can be read, and why others cannot.
type Read = (Named<Attr>, Option<Error>);

/// What was read ahead.
#[derive(Default)]
struct Ahead {
    /// The owner after the last one that was asked for, who asked, and how many were in a row.
    next: u64,
    asker: Option<ThreadId>,
    streak: usize,
    /// The owners that are being read.
    running: Range<u64>,
    ready: HashMap<u64, Read>,
}

impl LateAttrs for Owners {
    fn attrs(&self, key: u64) -> Read {
        let mut ahead = self.ahead();
        if ahead.running.contains(&key) {
            drop(ahead);
            drop(self.reading.lock().unwrap_or_else(PoisonError::into_inner));
            ahead = self.ahead();
        }
        if let Some(ready) = ahead.ready.remove(&key) {
            ahead.next = key + 1;
            return ready;
        }
        let asker = Some(std::thread::current().id());
        let is_first = ahead.asker.is_none();
        let goes_on = ahead.next == key && ahead.asker == asker;
        ahead.streak = if goes_on { ahead.streak + 1 } else { 0 };
        (ahead.next, ahead.asker) = (key + 1, asker);
        let is_near = self.places.get(key as usize).is_none_or(|place| place.file.source().is_near());
        let starts = match is_near {
            true => ahead.streak >= STREAK && ferrocdf_array::pool().is_some(),
            // Whoever asks in another order gets the attributes of one owner at a time.
            false => goes_on || is_first,
        };
        if starts && let Ok(_reading) = self.reading.try_lock() {
            let together = if is_near { TOGETHER } else { IN_ROUNDS };
            let end = (key + together).min(self.places.len() as u64);
            ahead.running = key..end;
            drop(ahead);
            let (own, others) = self.read_together(key..end);
            let mut ahead = self.ahead();
            ahead.running = 0..0;
            ahead.ready = others;
            return own;
        }
        drop(ahead);
        self.read(key).0
    }
}

/// About how many bytes of memory a value takes; of trees it is not asked, they are taken for many.
fn weight(value: &Values) -> u64 {
    let bytes = match value {
        Values::String(list) => {
            list.iter().map(|text| size_of_val(text) + text.as_ref().map_or(0, |text| text.len())).sum()
        }
        Values::User(..) => return BYTES,
        numbers => numbers.len() * size_of::<u64>(),
    };
    bytes as u64
}

impl Owners {
    pub(super) fn new(places: Vec<Place>, types: Types, classes: Vec<Class>) -> Owners {
        Owners { places, types, classes, ahead: Mutex::default(), reading: Mutex::default() }
    }

    // Nothing panics half-way through a change of it.
    fn ahead(&self) -> MutexGuard<'_, Ahead> {
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The attributes of the first of these owners, and of the others as far as they are not too much.
    fn read_together(&self, keys: Range<u64>) -> (Read, HashMap<u64, Read>) {
        let first = keys.start;
        let keys: Vec<u64> = keys.collect();
        let source = self.places[first as usize].file.source();
        let all = source.map_within_budget(BYTES, &keys, |&key| self.read(key));
        let read = keys.into_iter().zip(all).filter_map(|(key, read)| Some((key, read?)));
        let mut others: HashMap<u64, Read> = read.collect();
        // Others may have taken all there is before the first was begun.
        (others.remove(&first).unwrap_or_else(|| self.read(first).0), others)
    }

    /// The attributes of an owner, and about their bytes in memory.
    fn read(&self, key: u64) -> (Read, u64) {
        self.places.get(key as usize).map(|place| self.read_at(place)).unwrap_or_default()
    }

    /// The attributes of any object.
    pub(super) fn attributes_at(&self, place: &Place) -> Named<Attr> {
        self.read_at(place).0.0
    }

    fn read_at(&self, place: &Place) -> (Read, u64) {
        match place.object() {
            Ok(object) => read_all(&object, |attribute| self.value(&place.file, attribute)),
            Err(error) => failed(error),
        }
    }
}

/// Reads the attributes of an object, and tells about how many bytes of memory they take. `value` decodes one of them: `None` if
/// netCDF has no type for it.
fn read_all(object: &Object, mut value: impl FnMut(&Attribute) -> Result<Option<Values>>) -> (Read, u64) {
    let count = object.attribute_count().unwrap_or(0).min(USUAL);
    let (mut attrs, mut failure, mut bytes) = (Vec::with_capacity(count as usize), None, 0);
    let mut visit = |name: &[u8], attribute: Result<Attribute>| {
        if names::is_reserved(name) {
            return;
        }
        match attribute.and_then(|attribute| value(&attribute)) {
            Ok(Some(value)) => {
                bytes = weight(&value).saturating_add(bytes);
                attrs.push(Attr::new(Name::stored(name), value));
            }
            Ok(None) => {}
            Err(error) => {
                let error = error.at(format_args!("attribute \"{}\"", name.escape_ascii()));
                failure.get_or_insert(no_attribute(error));
            }
        }
    };
    if let Err(error) = object.each_attribute(&mut visit) {
        return failed(error);
    }
    ((attrs.into(), failure), bytes)
}

/// Reads the attributes of an object before the types of the file are known. `None` if one of them cannot be read, or if its
/// type is a user-defined one: [`Owners`] reads them later.
pub(super) fn read_early(object: &Object) -> Option<Named<Attr>> {
    let mut is_complete = true;
    let ((attrs, failure), _) = read_all(object, |attribute| {
        if !is_complete {
            return Ok(None);
        }
        let Some(native) = Native::of(&attribute.datatype) else { return Ok(None) };
        match native.atomic() {
            Some(atomic) => decoded(object.file(), &[], atomic.into(), attribute).map(Some),
            None => {
                is_complete = false;
                Ok(None)
            }
        }
    });
    (is_complete && failure.is_none()).then_some(attrs)
}

fn failed(error: Error) -> (Read, u64) {
    ((Named::default(), Some(no_attribute(error))), 0)
}

impl Owners {
    /// The names of an owner's attributes that netCDF has no type for. Why others cannot be read is told with those that can.
    pub(super) fn strangers(&self, key: u64) -> Vec<Name> {
        let mut found = vec![];
        let Some(place) = self.places.get(key as usize) else { return found };
        let mut visit = |name: &[u8], attribute: Result<Attribute>| {
            let value = attribute.and_then(|attribute| self.value(&place.file, &attribute));
            if !names::is_reserved(name) && matches!(value, Ok(None)) {
                found.push(Name::stored(name));
            }
        };
        let _ = place.object().and_then(|object| object.each_attribute(&mut visit));
        found
    }
}

/// An error that says that attributes cannot be read.
fn no_attribute(error: Error) -> Error {
    error.with_code(Code::EATTMETA)
}

impl Owners {
    /// The value of an attribute; `None` if netCDF has no type for it.
    fn value(&self, file: &File, attribute: &Attribute) -> Result<Option<Values>> {
        let Some(native) = Native::of(&attribute.datatype) else { return Ok(None) };
        let Some(ty) = self.types.find(&native) else { return Ok(None) };
        decoded(file, &self.classes, ty, attribute).map(Some)
    }
}

/// Decodes the value of an attribute of a type. Attributes of several dimensions are one list.
fn decoded(file: &File, classes: &[Class], ty: Type, attribute: &Attribute) -> Result<Values> {
    let Attribute { datatype, dataspace, data, .. } = attribute;
    if let (Stored::Text(_), false) = (&datatype.class, dataspace.kind == SpaceKind::Scalar) {
        // Fixed-length text is one text only where there is one.
        let ty = if dataspace.kind == SpaceKind::Null { Atomic::Char } else { Atomic::String };
        return decode::values(file, classes, ty.into(), datatype, data);
    }
    let is_null = matches!(ty, Type::Atomic(_)) && dataspace.kind == SpaceKind::Null;
    decode::values(file, classes, ty, datatype, if is_null { &[] } else { data })
}
