//! Tokens of CDL, and the words that are more than names.

use ferrocdf_model::Atomic;

use super::constant::Const;
use super::header::atomic_named;

/// One token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// The end of the text.
    End,
    /// A name.
    Name(Vec<u8>),
    /// `/` or `/a/b`: the names on the path.
    Path(Vec<Vec<u8>>),
    /// A text in double quotes.
    Text(Vec<u8>),
    /// A number or a character.
    Number(Const),
    /// The bytes of a bare `0x…`.
    Opaque(Vec<u8>),
    /// `_`
    Fill,
    /// `NIL`
    Nil,
    /// A word with a meaning.
    Keyword(Keyword),
    /// An attribute with a meaning of its own.
    Special(Special),
    /// One of `{ } ( ) = : ; , *`.
    Sign(u8),
    /// What no rule takes.
    Invalid,
}

/// Words with a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    /// A type.
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

/// Attributes with a meaning of their own.
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

    /// The name in CDL.
    pub fn name(self) -> &'static str {
        Special::ALL.iter().find(|entry| entry.0 == self).map_or("", |entry| entry.1)
    }
}

impl Token {
    /// The value of an integer whose type is `int` or larger.
    pub fn wide_integer(&self) -> Option<i128> {
        let Token::Number(number) = self else { return None };
        let (ty, value) = number.integer()?;
        matches!(ty, Atomic::Int | Atomic::Uint | Atomic::Int64 | Atomic::Uint64).then_some(value)
    }

    /// How messages name it.
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

/// True if a word without escapes may be more than a name, wherever it stands.
pub(crate) fn is_reserved(name: &[u8]) -> bool {
    // Special attributes are special behind a colon, where only attributes stand.
    !matches!(meaning(name), Some(Token::Special(_))) && has_meaning(name)
}

/// True if a word without escapes may be more than a name somewhere.
pub(crate) fn has_meaning(name: &[u8]) -> bool {
    meaning(name).is_some() || section(name).is_some() || atomic_named(name).is_some()
}

/// Whether a word without escapes is a number, a fill value or `NIL`, so that no constant can have its name.
pub(crate) fn is_value(name: &[u8]) -> bool {
    matches!(meaning(name), Some(Token::Number(_) | Token::Fill | Token::Nil))
}

/// The section that a word with a colon behind it begins.
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

/// What a word without escapes means, if it is more than a name.
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
