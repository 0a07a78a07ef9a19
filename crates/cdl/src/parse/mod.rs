//! Parser of CDL into a model and data.
//!
//! [`parse`] reads a text once. It passes the definitions and then the data, in pieces, to a [`Sink`], so that large
//! numeric data is converted in bounded memory. The first 16 MiB of values are kept in memory: a text with less data is
//! checked to its end before the sink is called, and only a longer text can fail after data was written. Text, strings
//! and values of user-defined types are collected per variable. Data of variables whose second or a later dimension is
//! unlimited is kept until the end of the text, when the lengths are known.
//!
//! The language is that of netCDF-C's `ncgen`: messages, types of constants, padding and conversion are the same,
//! except where `ncgen` loses data or crashes. Comments name each difference at its place.

mod attr;
mod build;
mod bulk;
mod chars;
mod constant;
mod data;
mod declare;
mod header;
mod lexer;
mod literal;
mod names;
mod parser;
mod source;
mod time;
mod token;
mod tree;
mod types;

use std::io::Read;

use ferrocdf_bytes::{Error, Result};
use ferrocdf_model::{Format, Model, Owner, Values, VarId};

use lexer::Lexer;
use parser::Parser;
use source::TextSource;
pub(crate) use token::{has_meaning, is_reserved, is_value};

/// Options of [`parse`].
#[derive(Clone, Debug)]
pub struct ParseOptions {
    /// Requested format; `None` lets the text decide.
    pub format: Option<Format>,
    /// Program name at the start of messages.
    pub program: String,
    /// Name of the text in messages.
    pub file: String,
    /// True to only check the text: the sink gets messages and nothing else.
    pub check_only: bool,
    /// True to check and drop data: the sink gets definitions only.
    pub header_only: bool,
    /// True if each record variable is filled only to the end of its own last record, not to the number of records of
    /// the longest variable.
    pub own_records: bool,
    /// True to assume the enhanced model, even if the first part of the text does not need it; see
    /// [`ParseFailure::EnhancedAfterData`].
    pub enhanced: bool,
}

impl Default for ParseOptions {
    fn default() -> Self {
        ParseOptions {
            format: None,
            program: "ncgen".to_string(),
            file: "-".to_string(),
            check_only: false,
            header_only: false,
            own_records: false,
            enhanced: false,
        }
    }
}

/// Receiver of the contents of a text.
pub trait Sink {
    /// Receives a message for the user: a whole line without line end.
    fn message(&mut self, text: &str);

    /// Receives the owner of each attribute, in the order of the text. Called before each [`Sink::define`].
    fn attributes(&mut self, _owners: &[Owner]) {}

    /// Receives the texts of the attributes `_Codecs`, which hold the filters of a Zarr array as JSON. Called before
    /// each [`Sink::define`].
    fn codecs(&mut self, _texts: &[(VarId, String)]) {}

    /// Receives the definitions, and the word after `netcdf`. Called once, and again if groups follow data that was
    /// already passed on: then with the former definitions followed by the new ones. Called at least once for a text
    /// without errors.
    fn define(&mut self, model: &Model, name: &str) -> Result<()>;

    /// Receives values of a variable, from element `first` on in row-major order. Pieces of one variable come in order,
    /// and from 0 again if the text has data for it a second time. The first dimension, if unlimited, grows with the
    /// pieces; the other unlimited dimensions have their final length in the model.
    fn data(&mut self, var: VarId, first: u64, values: Values) -> Result<()>;
}

/// Result of a text without errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Word after `netcdf`.
    pub name: String,
    /// Requested format, or the one chosen for the text.
    pub format: Format,
}

/// Reason why a text was not converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseFailure {
    /// The text has errors; the sink got the messages.
    Text,
    /// The text needs the enhanced model, but the options or its `_Format` request another one; the sink got the
    /// message.
    Conflict,
    /// The text has so much data before the first group that the data was passed on in a format without groups. Parsing
    /// the text again with [`ParseOptions::enhanced`] succeeds.
    EnhancedAfterData,
    /// The text could not be read, or the sink failed.
    File(Error),
}

impl From<Error> for ParseFailure {
    fn from(error: Error) -> Self {
        ParseFailure::File(error)
    }
}

/// Reads a text and passes its contents to `sink`.
///
/// Each error of the text is reported through [`Sink::message`], with its line where it is known. Parsing stops at the
/// first error that cannot be skipped.
pub fn parse<'a>(
    input: impl Read + 'a,
    options: &'a ParseOptions,
    sink: &'a mut dyn Sink,
) -> std::result::Result<Outcome, ParseFailure> {
    let lexer = Lexer::new(TextSource::new(Box::new(input)), options.format);
    Parser::new(lexer, options, sink).run()
}

/// Returns the format of a name in `-k` or `_Format`.
pub fn format_named(name: &str) -> Option<Format> {
    Some(match name {
        "classic" | "nc3" | "1" => Format::CLASSIC,
        "64-bit offset" | "64-bit-offset" | "nc6" | "2" => Format::OFFSET64,
        "64-bit data" | "64-bit-data" | "cdf5" | "cdf-5" | "nc5" | "5" => Format::DATA64,
        "netCDF-4" | "netcdf-4" | "netCDF4" | "netcdf4" | "hdf5" | "enhanced" | "nc4" | "3" => {
            Format::NETCDF4
        }
        "netCDF-4 classic model"
        | "netCDF-4-classic"
        | "netCDF-4_classic"
        | "netCDF4_classic"
        | "hdf5-nc3"
        | "enhanced-nc3"
        | "nc7"
        | "4" => Format::NETCDF4_CLASSIC,
        _ => return None,
    })
}
