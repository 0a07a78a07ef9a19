//! Element types, in memory and in a file.

use ferrocdf_bytes::Order;

/// The kind of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Signed, 1 byte.
    I8,
    /// Unsigned, 1 byte.
    U8,
    /// A byte of text, which no number converts to or from.
    Char,
    /// Signed, 2 bytes.
    I16,
    /// Unsigned, 2 bytes.
    U16,
    /// Signed, 4 bytes.
    I32,
    /// Unsigned, 4 bytes.
    U32,
    /// Signed, 8 bytes.
    I64,
    /// Unsigned, 8 bytes.
    U64,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
}

impl Kind {
    /// Returns the size of an element in bytes.
    pub const fn size(self) -> usize {
        match self {
            Kind::I8 | Kind::U8 | Kind::Char => 1,
            Kind::I16 | Kind::U16 => 2,
            Kind::I32 | Kind::U32 | Kind::F32 => 4,
            Kind::I64 | Kind::U64 | Kind::F64 => 8,
        }
    }

    /// True for the two floating-point kinds.
    pub const fn is_float(self) -> bool {
        matches!(self, Kind::F32 | Kind::F64)
    }
}

/// The stored type of an element: its kind and byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stored {
    /// The kind.
    pub kind: Kind,
    /// The byte order.
    pub order: Order,
}

impl Stored {
    /// Elements of `kind` as this machine holds them in memory.
    pub const fn native(kind: Kind) -> Self {
        let order = if cfg!(target_endian = "big") { Order::Big } else { Order::Little };
        Stored { kind, order }
    }

    /// Elements of `kind`, most significant byte first.
    pub const fn big(kind: Kind) -> Self {
        Stored { kind, order: Order::Big }
    }

    /// Elements of `kind`, least significant byte first.
    pub const fn little(kind: Kind) -> Self {
        Stored { kind, order: Order::Little }
    }

    /// True if the byte order is not that of this machine.
    pub(crate) fn is_swapped(self) -> bool {
        self.kind.size() > 1 && self.order != Stored::native(self.kind).order
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that an element can have in memory. Text is `u8` with [`Kind::Char`].
pub trait Element: sealed::Sealed + bytemuck::Pod {
    /// The kind of the type.
    const KIND: Kind;
}

macro_rules! elements {
    ($($type:ty => $kind:ident),*) => {
        $(impl sealed::Sealed for $type {}
        impl Element for $type {
            const KIND: Kind = Kind::$kind;
        })*
    };
}

elements!(i8 => I8, u8 => U8, i16 => I16, u16 => U16, i32 => I32, u32 => U32, i64 => I64, u64 => U64, f32 => F32,
    f64 => F64);
