//! Elements in memory: how many a selection holds, memory for them, and the rules by which numbers convert.

use ferrocdf_array::{Array, ConversionRules, Kind, Selection};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_model::{Atomic, DataModel, Format, Model};

/// Runs `$body` with `$number` as the Rust type of an atomic type, or `$text` for text and `$other` for strings.
macro_rules! with_number {
    ($atomic:expr, $variant:ident => $body:expr, char => $text:expr, string => $other:expr) => {
        match $atomic {
            Atomic::Byte => with_number!(@ $variant Byte $body),
            Atomic::Short => with_number!(@ $variant Short $body),
            Atomic::Int => with_number!(@ $variant Int $body),
            Atomic::Float => with_number!(@ $variant Float $body),
            Atomic::Double => with_number!(@ $variant Double $body),
            Atomic::Ubyte => with_number!(@ $variant Ubyte $body),
            Atomic::Ushort => with_number!(@ $variant Ushort $body),
            Atomic::Uint => with_number!(@ $variant Uint $body),
            Atomic::Int64 => with_number!(@ $variant Int64 $body),
            Atomic::Uint64 => with_number!(@ $variant Uint64 $body),
            Atomic::Char => $text,
            Atomic::String => $other,
        }
    };
    (@ $variant:ident $name:ident $body:expr) => {{
        let $variant = Values::$name;
        $body
    }};
}

pub(crate) use with_number;

/// How many elements a selection holds, as a length in memory.
pub(crate) fn elements(selection: &Selection) -> Result<usize> {
    selection.elements().and_then(|count| usize::try_from(count).ok()).ok_or_else(|| {
        Error::new(Code::ENOMEM, format!("no memory for a selection of counts {:?}", selection.count))
    })
}

/// Bytes that no request gives at once.
const MOST: u64 = 1 << 40;

/// Returns a list of `count` zeros. Its memory comes zeroed from the system and is not touched here, so that the threads that fill
/// it take the page faults, with huge pages where the system has them.
///
/// # Errors
/// `NC_ENOMEM` if there is not enough memory.
pub(crate) fn zeros<T: Default + Clone>(count: usize) -> Result<Vec<T>> {
    let no_memory = || Error::new(Code::ENOMEM, format!("no memory for {count} elements"));
    // Systems promise memory that they do not have.
    if count.checked_mul(size_of::<T>()).is_none_or(|bytes| bytes as u64 >= MOST) {
        return Err(no_memory());
    }
    // Only asks whether there is so much: `vec!` has no way to say no.
    let mut room = Vec::<T>::new();
    room.try_reserve_exact(count).map_err(|_| no_memory())?;
    drop(std::hint::black_box(room));
    let mut list = vec![T::default(); count];
    ferrocdf_array::advise_huge_pages(&mut list);
    Ok(list)
}

/// What becomes of numbers out of range when they are read.
pub(crate) fn rules(format: Format) -> ConversionRules {
    if format.has_cdf_model() { ConversionRules::Get } else { ConversionRules::Cast }
}

/// What becomes of numbers out of range when they are written.
pub(crate) fn put_rules(format: Format) -> ConversionRules {
    if format.has_cdf_model() { ConversionRules::Put } else { ConversionRules::Cast }
}

/// An array of 8-bit numbers that memory takes for what it holds itself. In CDF-1 and CDF-2 `NC_BYTE` is the only 8-bit
/// number, so memory of unsigned bytes takes it as unsigned; in netCDF-4 files held to the classic model either memory
/// takes either.
#[inline]
pub(crate) fn as_stored(model: &Model, array: &Array, memory: Kind) -> Option<Array> {
    let applies = match model.format().data_model() {
        DataModel::Classic | DataModel::Offset64 => (array.stored.kind, memory) == (Kind::I8, Kind::U8),
        DataModel::Netcdf4Classic => {
            matches!((array.stored.kind, memory), (Kind::I8, Kind::U8) | (Kind::U8, Kind::I8))
        }
        DataModel::Data64 | DataModel::Netcdf4 => false,
    };
    applies.then(|| {
        let mut array = array.clone();
        array.stored.kind = memory;
        array
    })
}

/// Returns the netCDF type of numbers of a kind.
pub fn atomic_of(kind: Kind) -> Atomic {
    match kind {
        Kind::I8 => Atomic::Byte,
        Kind::U8 => Atomic::Ubyte,
        Kind::Char => Atomic::Char,
        Kind::I16 => Atomic::Short,
        Kind::U16 => Atomic::Ushort,
        Kind::I32 => Atomic::Int,
        Kind::U32 => Atomic::Uint,
        Kind::I64 => Atomic::Int64,
        Kind::U64 => Atomic::Uint64,
        Kind::F32 => Atomic::Float,
        Kind::F64 => Atomic::Double,
    }
}
