//! CDL to model and data.
//!
//! [`parse`] reads a text once and hands a [`Sink`] first the definitions and then the data, in pieces, so that a text
//! of any size is converted in bounded memory. The first 16 MiB of values are kept in memory: a text that ends before is
//! checked to its end before the sink hears anything, and only longer ones can fail with something written already.
//! Data of user-defined types, and of variables whose second or a later dimension is unlimited, is held as trees until
//! the end of the text, for only then the lengths are known.
//!
//! The language is that of the reference's `ncgen`: messages, types of constants, padding and conversion are the same
//! where the reference does not lose data or crash. The differences are listed where they are made.

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

/// What is known about a text before it is read.
#[derive(Clone, Debug)]
pub struct ParseOptions {
    /// The format asked for; `None` lets the text decide.
    pub format: Option<Format>,
    /// The program's name at the start of messages.
    pub program: String,
    /// The text's name in messages.
    pub file: String,
    /// Only check the text: the sink hears messages and nothing else.
    pub check_only: bool,
    /// Only definitions are wanted: data is checked and dropped.
    pub header_only: bool,
    /// Record variables keep the records that their own data makes, rather than all having those of the longest.
    pub own_records: bool,
    /// Take the text for one of the enhanced model even if its first part does not say so; see
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

/// Takes what a text holds.
pub trait Sink {
    /// A message for the user: a whole line without its end.
    fn message(&mut self, text: &str);

    /// What each attribute belongs to, in the order of the text. Called before each [`Sink::define`].
    fn attributes(&mut self, _owners: &[Owner]) {}

    /// The texts of the attributes `_Codecs`, which tell the filters of a Zarr array as JSON. Called before each [`Sink::define`].
    fn codecs(&mut self, _texts: &[(VarId, String)]) {}

    /// The definitions, and the word behind `netcdf`. Called once, and again if groups follow data that was passed on: then with the former
    /// definitions followed by more. A text without a fault calls it at least once.
    fn define(&mut self, model: &Model, name: &str) -> Result<()>;

    /// Values of a variable, from element `first` on in row-major order. Pieces of one variable come in order, and
    /// from 0 again if the text gives it data a second time. The
    /// first dimension, if unlimited, grows with them; the other unlimited ones have their final length in the model.
    fn data(&mut self, var: VarId, first: u64, values: Values) -> Result<()>;
}

/// What was found in a text without a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The word behind `netcdf`.
    pub name: String,
    /// The format asked for, or chosen by the text.
    pub format: Format,
}

/// Why a text was not converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseFailure {
    /// The text is wrong; the sink was given the messages.
    Text,
    /// The text needs the enhanced model, the options or its `_Format` say otherwise; the sink was given the message.
    Conflict,
    /// So much data came before the first group that it was passed on in a format that holds no groups. Reading the
    /// text again with [`ParseOptions::enhanced`] succeeds.
    EnhancedAfterData,
    /// The text could not be read, or the sink failed.
    File(Error),
}

impl From<Error> for ParseFailure {
    fn from(error: Error) -> Self {
        ParseFailure::File(error)
    }
}

/// Reads a text and hands its contents to `sink`.
///
/// Every fault in the text is told through [`Sink::message`] with its line. A text that is wrong in many places stops
/// at the first that cannot be passed over.
pub fn parse<'a>(
    input: impl Read + 'a,
    options: &'a ParseOptions,
    sink: &'a mut dyn Sink,
) -> std::result::Result<Outcome, ParseFailure> {
    let lexer = Lexer::new(TextSource::new(Box::new(input)), options.format);
    Parser::new(lexer, options, sink).run()
}

/// The format that a name stands for in `-k` and in `_Format`.
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
