//! Tokens of CDL, and its reserved words.

use ferrocdf_model::Atomic;

use super::constant::Const;
use super::header::atomic_named;

/// Token of CDL.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// End of the text.
    End,
    /// Name.
    Name(Vec<u8>),
    /// Names of a path: `/` or `/a/b`.
    Path(Vec<Vec<u8>>),
    /// Text in double quotes.
    Text(Vec<u8>),
    /// Number or character.
    Number(Const),
    /// Bytes of `0x…` without suffix.
    Opaque(Vec<u8>),
    /// `_`
    Fill,
    /// `NIL`
    Nil,
    /// Keyword.
    Keyword(Keyword),
    /// Special attribute.
    Special(Special),
    /// One of `{ } ( ) = : ; , *`.
    Sign(u8),
    /// Bytes that match no rule.
    Invalid,
}

/// Keywords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    /// Atomic type.
    Type(Atomic),
    Compound,
    Enum,
    Opaque,
    Unlimited,
    Types,
    Dimensions,
    Variables,
    Data,
    Group,
    Netcdf,
}

/// Special attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Special {
    FillValue,
    Format,
    Storage,
    ChunkSizes,
    ShardSizes,
    Fletcher32,
    DeflateLevel,
    Shuffle,
    Endianness,
    NoFill,
    NcProperties,
    IsNetcdf4,
    SuperblockVersion,
    Filter,
    Codecs,
}

impl Special {
    const ALL: [(Special, &'static str, &'static str); 15] = [
        (Special::FillValue, "_FillValue", "_FILLVALUE"),
        (Special::Format, "_Format", "_FORMAT"),
        (Special::Storage, "_Storage", "_STORAGE"),
        (Special::ChunkSizes, "_ChunkSizes", "_CHUNKSIZES"),
        (Special::ShardSizes, "_ShardSizes", "_SHARDSIZES"),
        (Special::Fletcher32, "_Fletcher32", "_FLETCHER32"),
        (Special::DeflateLevel, "_DeflateLevel", "_DEFLATELEVEL"),
        (Special::Shuffle, "_Shuffle", "_SHUFFLE"),
        (Special::Endianness, "_Endianness", "_ENDIANNESS"),
        (Special::NoFill, "_NoFill", "_NOFILL"),
        (Special::NcProperties, "_NCProperties", "_NCPROPS"),
        (Special::IsNetcdf4, "_IsNetcdf4", "_ISNETCDF4"),
        (Special::SuperblockVersion, "_SuperblockVersion", "_SUPERBLOCK"),
        (Special::Filter, "_Filter", "_FILTER"),
        (Special::Codecs, "_Codecs", "_CODECS"),
    ];

    /// Returns the name in CDL.
    pub fn name(self) -> &'static str {
        Special::ALL.iter().find(|entry| entry.0 == self).map_or("", |entry| entry.1)
    }
}

impl Token {
    /// Returns the value of an integer whose type is `int` or wider.
    pub fn wide_integer(&self) -> Option<i128> {
        let Token::Number(number) = self else { return None };
        let (ty, value) = number.integer()?;
        matches!(ty, Atomic::Int | Atomic::Uint | Atomic::Int64 | Atomic::Uint64).then_some(value)
    }

    /// Returns the name of the token in messages.
    pub fn shown(&self) -> String {
        let word = match self {
            Token::End => "end of file",
            Token::Name(_) => "IDENT",
            Token::Path(_) => "PATH",
            Token::Text(_) => "TERMSTRING",
            Token::Number(number) => match number {
                Const::Int(ty, _) => match ty {
                    Atomic::Byte => "BYTE_CONST",
                    Atomic::Short => "SHORT_CONST",
                    Atomic::Int => "INT_CONST",
                    Atomic::Int64 => "INT64_CONST",
                    Atomic::Ubyte => "UBYTE_CONST",
                    Atomic::Ushort => "USHORT_CONST",
                    Atomic::Uint => "UINT_CONST",
                    _ => "UINT64_CONST",
                },
                Const::MinusZero => "INT_CONST",
                Const::Float(_) => "FLOAT_CONST",
                _ => "DOUBLE_CONST",
            },
            Token::Opaque(_) => "OPAQUESTRING",
            Token::Fill => "FILLMARKER",
            Token::Nil => "NIL",
            Token::Keyword(keyword) => match keyword {
                Keyword::Type(ty) => return format!("{}_K", ty.cdl_name().to_ascii_uppercase()),
                Keyword::Compound => "COMPOUND",
                Keyword::Enum => "ENUM",
                Keyword::Opaque => "OPAQUE_",
                Keyword::Unlimited => "NC_UNLIMITED_K",
                Keyword::Types => "TYPES",
                Keyword::Dimensions => "DIMENSIONS",
                Keyword::Variables => "VARIABLES",
                Keyword::Data => "DATA",
                Keyword::Group => "GROUP",
                Keyword::Netcdf => "NETCDF",
            },
            Token::Special(special) => {
                Special::ALL.iter().find(|entry| entry.0 == *special).map_or("", |entry| entry.2)
            }
            Token::Sign(sign) => return format!("'{}'", char::from(*sign)),
            Token::Invalid => "invalid token",
        };
        word.to_string()
    }
}

/// True if a word without escapes may be something other than a name, in a place where more than attributes may stand.
pub(crate) fn is_reserved(name: &[u8]) -> bool {
    // Special attributes are recognized after a colon, where only attributes may stand.
    !matches!(meaning(name), Some(Token::Special(_))) && has_meaning(name)
}

/// True if a word without escapes may be something other than a name, in any place.
pub(crate) fn has_meaning(name: &[u8]) -> bool {
    meaning(name).is_some() || section(name).is_some() || atomic_named(name).is_some()
}

/// True if a word without escapes is a number, a fill value or `NIL`, so it cannot be the name of an enum member.
pub(crate) fn is_value(name: &[u8]) -> bool {
    matches!(meaning(name), Some(Token::Number(_) | Token::Fill | Token::Nil))
}

/// Returns the section that a word directly before a colon begins.
pub(super) fn section(name: &[u8]) -> Option<Keyword> {
    Some(match name {
        b"types" => Keyword::Types,
        b"dimensions" => Keyword::Dimensions,
        b"variables" => Keyword::Variables,
        b"data" => Keyword::Data,
        b"group" => Keyword::Group,
        _ => return None,
    })
}

/// Returns the token of a word without escapes, if it is not a name.
pub(super) fn meaning(name: &[u8]) -> Option<Token> {
    let keyword = match name {
        b"float" | b"real" => Keyword::Type(Atomic::Float),
        b"double" => Keyword::Type(Atomic::Double),
        b"char" => Keyword::Type(Atomic::Char),
        b"byte" => Keyword::Type(Atomic::Byte),
        b"short" => Keyword::Type(Atomic::Short),
        b"int" | b"long" | b"integer" => Keyword::Type(Atomic::Int),
        b"compound" | b"struct" | b"structure" => Keyword::Compound,
        b"enum" => Keyword::Enum,
        b"opaque" => Keyword::Opaque,
        b"unlimited" | b"UNLIMITED" => Keyword::Unlimited,
        b"netcdf" | b"NETCDF" | b"netCDF" => Keyword::Netcdf,
        b"_" => return Some(Token::Fill),
        b"NIL" | b"Nil" | b"nil" => return Some(Token::Nil),
        b"NaN" | b"nan" => return Some(Token::Number(Const::Double(f64::NAN))),
        b"NaNf" | b"nanf" => return Some(Token::Number(Const::Float(f32::NAN))),
        b"Infinity" | b"DoubleInf" => return Some(Token::Number(Const::Double(f64::INFINITY))),
        b"Infinityf" | b"Inff" | b"FloatInf" => return Some(Token::Number(Const::Float(f32::INFINITY))),
        [b'_', ..] => {
            let entry = Special::ALL.iter().find(|entry| entry.1.as_bytes() == name)?;
            return Some(Token::Special(entry.0));
        }
        _ => return None,
    };
    Some(Token::Keyword(keyword))
}
