//! Number types (Specification, "DFTAG_NT"; `DFNT_*` of the library).

use ferrocdf_array::{Kind, Stored};
use ferrocdf_bytes::{Coder, Order, Record, Result};

use crate::wire::{bad, decode};

/// The type of the numbers of a dataset, a field or an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberType {
    /// `DFNT_*` without the bits of the number format: 4 is a character, 5 a 32-bit float, 24 a 32-bit integer.
    pub code: u8,
    /// Kind and byte order.
    pub stored: Stored,
}

/// Bits of the number format in a `DFNT_*` code: as this machine has it, little-endian.
const NATIVE: u16 = 0x1000;
const LITTLE_ENDIAN: u16 = 0x4000;

/// Code of unsigned characters, which are numbers to netCDF.
const UCHAR: u8 = 3;
/// Code of characters.
const CHAR: u8 = 4;

/// Number format of a machine ("class" of `DFTAG_NT`): big-endian IEEE; that of PCs, little-endian.
const IEEE: u64 = 1;
const PC: u64 = 4;

/// "DFTAG_NT".
#[derive(Debug, Default)]
struct StoredType {
    version: u64,
    code: u64,
    width: u64,
    class: u64,
}

impl Record for StoredType {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.uint("version", 1, &mut self.version)?;
        c.uint("type", 1, &mut self.code)?;
        c.uint("width", 1, &mut self.width)?;
        c.uint("class", 1, &mut self.class)
    }
}

impl NumberType {
    /// Big-endian 32-bit floats, the type of a dataset that names none.
    pub const FLOAT32: NumberType = NumberType { code: 5, stored: Stored::big(Kind::F32) };

    /// Returns the type with a `DFNT_*` code, whose upper bits are the number format. Numbers in the format of "this machine" are
    /// little-endian: the files come from PCs.
    pub fn of_code(code: u16) -> Result<NumberType> {
        let order = if code & (NATIVE | LITTLE_ENDIAN) != 0 { Order::Little } else { Order::Big };
        // The low byte is the type, as the library masks it.
        let base = (code & 0xff) as u8;
        let kind = match base {
            UCHAR | 21 => Kind::U8,
            CHAR => Kind::Char,
            5 => Kind::F32,
            6 => Kind::F64,
            20 => Kind::I8,
            22 => Kind::I16,
            23 => Kind::U16,
            24 => Kind::I32,
            25 => Kind::U32,
            26 => Kind::I64,
            27 => Kind::U64,
            _ => return Err(bad(format!("number type {code} (DFNT) is none that can be read"))),
        };
        Ok(NumberType { code: base, stored: Stored { kind, order } })
    }

    /// Returns the type that the element of a number type says.
    pub fn decode(at: u64, bytes: &[u8]) -> Result<NumberType> {
        let stored = decode(StoredType::default(), "number type", at, bytes)?;
        // One byte each.
        let code = stored.code as u16;
        match (NumberType::of_code(code)?, stored.class) {
            (number, 0 | IEEE) => Ok(number),
            (_, PC) => NumberType::of_code(code | LITTLE_ENDIAN),
            // Bytes are the same everywhere.
            (number, _) if number.size() == 1 => Ok(number),
            (_, class) => {
                Err(bad(format!("number type at byte {at}: number format {class} is that of an old machine")))
            }
        }
    }

    /// True for characters, signed and unsigned: their attributes are text.
    pub fn is_text(self) -> bool {
        matches!(self.code, UCHAR | CHAR)
    }

    /// Returns the size of a number in bytes.
    pub fn size(self) -> usize {
        self.stored.kind.size()
    }
}
