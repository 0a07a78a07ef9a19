//! The part of Apache Parquet that references need: tables without nested columns, of integers and of bytes.
//!
//! Source: "Apache Parquet" (parquet-format, `parquet.thrift` and `Encodings.md`). The decision that shaped it: the crate `parquet` would be
//! 1.5 MB of an installed library of 25, for four columns (`docs/decisions/034-parquet.md`). Read are data pages of version 1 and 2, plain and
//! dictionary encoding, and the codecs that fastparquet and pyarrow write for references; anything else is an error that names it.
//! Written is one row group with plain pages, and a dictionary of paths, in Zstandard.

mod column;
mod file;
mod pages;
mod runs;
mod thrift;
mod write;

use ferrocdf_bytes::{Code, Error};

pub(super) use column::Column;
pub(super) use file::ParquetFile;
pub(super) use write::{NewColumn, write};

/// Bytes at the begin and at the end of a file.
const MAGIC: &[u8; 4] = b"PAR1";

/// Physical types ("Type").
mod physical {
    pub(super) const INT32: i64 = 1;
    pub(super) const INT64: i64 = 2;
    pub(super) const BYTE_ARRAY: i64 = 6;
}

/// Field repetition ("FieldRepetitionType").
mod repetition {
    pub(super) const REQUIRED: i64 = 0;
    pub(super) const OPTIONAL: i64 = 1;
}

/// Kinds of pages ("PageType").
mod page {
    pub(super) const DATA: i64 = 0;
    pub(super) const INDEX: i64 = 1;
    pub(super) const DICTIONARY: i64 = 2;
    pub(super) const DATA_V2: i64 = 3;
}

/// Encodings of values and levels ("Encoding").
mod encoding {
    pub(super) const PLAIN: i64 = 0;
    pub(super) const PLAIN_DICTIONARY: i64 = 2;
    pub(super) const RLE: i64 = 3;
    pub(super) const RLE_DICTIONARY: i64 = 8;
    /// Names by their numbers.
    pub(super) const NAMES: &[&str] = &[
        "PLAIN",
        "GROUP_VAR_INT",
        "PLAIN_DICTIONARY",
        "RLE",
        "BIT_PACKED",
        "DELTA_BINARY_PACKED",
        "DELTA_LENGTH_BYTE_ARRAY",
        "DELTA_BYTE_ARRAY",
        "RLE_DICTIONARY",
        "BYTE_STREAM_SPLIT",
    ];
}

/// Codecs of pages ("CompressionCodec").
mod codec {
    pub(super) const UNCOMPRESSED: i64 = 0;
    pub(super) const SNAPPY: i64 = 1;
    pub(super) const GZIP: i64 = 2;
    pub(super) const ZSTD: i64 = 6;
    /// Names by their numbers.
    pub(super) const NAMES: &[&str] =
        &["UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"];
}

/// Returns the error of a damaged file.
fn damaged(what: impl Into<String>) -> Error {
    Error::new(Code::EZARRMETA, format!("parquet: {}", what.into()))
}

/// Returns the error of a file with something that only other readers know, by its number and the names of all numbers.
fn unsupported(kind: &str, number: i64, names: &[&str]) -> Error {
    let name = usize::try_from(number).ok().and_then(|number| names.get(number));
    let name = name.map_or_else(|| number.to_string(), ToString::to_string);
    let what = format!(
        "parquet: the {kind} {name} is not supported; write the references anew with fastparquet or pyarrow and their defaults"
    );
    Error::new(Code::ENOTBUILT, what)
}

#[cfg(test)]
mod tests;
