//! Printing of a dataset as CDL and NcML.
//!
//! The text is that of netCDF-C's `ncdump`, byte for byte, line breaks included, since dumps are compared with `diff`.
//! Printing does not access files: a [`PrintSource`] provides the model and boxes of values. Rows do not depend on each
//! other, so blocks of rows are read and formatted on all cores and written in order; the number of blocks in memory is
//! bounded.
//!
//! The output differs where that of `ncdump` is wrong or cannot be read back; `tests/it/print.rs` of this crate lists
//! these cases.

mod attrs;
mod cells;
mod data;
mod each;
mod escape;
mod float;
mod header;
mod layout;
mod line;
mod ncml;
mod pipeline;
mod power;
mod printf;
mod select;
mod special;
mod user;

use std::io::{self, Write};

use ferrocdf_bytes::{Error, Result};
use ferrocdf_model::{Attr, DimId, GroupId, Model, Owner, Type, Values, VarId};

use crate::parse::is_reserved;
use crate::times::TimeAxis;
use escape::NameEscapes;
use line::Line;
use select::Selection;

/// Source of a dump: a model, and the values of its variables.
pub trait PrintSource: Sync {
    /// Returns the model.
    fn model(&self) -> &Model;

    /// Returns a box of values of a variable, in row-major order and in the type of the variable.
    fn read(&self, var: VarId, start: &[u64], count: &[u64]) -> Result<Values>;

    /// Returns the reason why the values of a variable cannot be read, if it is known without reading them. Such values
    /// are not printed.
    fn unreadable(&self, _var: VarId) -> Option<Error> {
        None
    }

    /// Returns attributes that are shown only on request: `_Codecs`, and the ones that name the library that wrote the
    /// file.
    fn hidden(&self, _owner: Owner) -> Vec<Attr> {
        vec![]
    }
}

/// Order and base of indices in comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Indices {
    /// From 0, slowest dimension first.
    #[default]
    C,
    /// From 1, fastest dimension first.
    Fortran,
}

/// Options of a dump; the default is a whole dataset as `ncdump` prints it.
#[derive(Clone, Debug)]
pub struct PrintOptions {
    /// Name of the dataset in the first line; the location in NcML.
    pub name: Vec<u8>,
    /// True to print no data.
    pub header_only: bool,
    /// True to print only the data of coordinate variables.
    pub coordinates_only: bool,
    /// Variables whose data is printed: `v` in any group, `/g/v` in that group; empty for all.
    pub variables: Vec<Vec<u8>>,
    /// Groups whose variables' data is printed; empty for all.
    pub groups: Vec<Vec<u8>>,
    /// True for a comment with the indices before each row.
    pub brief_comments: bool,
    /// True for a comment with the indices after each value.
    pub full_comments: bool,
    /// Order and base of indices in comments.
    pub indices: Indices,
    /// Longest line in the data section, in bytes; at least 10.
    pub line_length: usize,
    /// Significant digits of single precision.
    pub float_digits: usize,
    /// Significant digits of double precision.
    pub double_digits: usize,
    /// True if `float_digits` takes precedence over the attribute `C_format`.
    pub float_digits_first: bool,
    /// True if `double_digits` takes precedence over the attribute `C_format`.
    pub double_digits_first: bool,
    /// Byte between date and time of day, to print times as text; `None` prints numbers.
    pub times: Option<u8>,
    /// True to print virtual attributes that describe the storage of variables.
    pub special: bool,
    /// True to print all filters as `_Filter` among the virtual attributes.
    pub filters_in_one_form: bool,
    /// True to omit the name of the library that wrote the file from the virtual attributes.
    pub no_provenance: bool,
    /// True to escape names that `ncgen` cannot read as `ncdump` prints them: words of CDL, and names with characters
    /// that are not allowed in names.
    pub escape_names: bool,
    /// True to print the type before each `_FillValue`.
    pub fill_type: bool,
    /// Number of threads that format values; 1 uses only the caller's thread.
    pub threads: usize,
}

impl Default for PrintOptions {
    fn default() -> Self {
        PrintOptions {
            name: vec![],
            header_only: false,
            coordinates_only: false,
            variables: vec![],
            groups: vec![],
            brief_comments: false,
            full_comments: false,
            indices: Indices::C,
            line_length: 80,
            float_digits: 7,
            double_digits: 15,
            float_digits_first: false,
            double_digits_first: false,
            times: None,
            special: false,
            filters_in_one_form: false,
            no_provenance: false,
            escape_names: false,
            fill_type: false,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// Reason why printing stopped.
#[derive(Debug)]
pub enum PrintFailure {
    /// The output could not be written.
    Output(io::Error),
    /// The values could not be read.
    Source(Error),
    /// The requested object does not exist, or cannot be expressed in CDL; the bytes are the message for the user.
    Refused(Vec<u8>),
}

impl From<Error> for PrintFailure {
    fn from(error: Error) -> Self {
        PrintFailure::Source(error)
    }
}

impl From<io::Error> for PrintFailure {
    fn from(error: io::Error) -> Self {
        PrintFailure::Output(error)
    }
}

/// Prints a dataset as CDL. Text before a failure is written. Values that the source reports as
/// [unreadable](PrintSource::unreadable) are skipped, and their error is returned at the end.
pub fn print_cdl(
    source: &dyn PrintSource,
    options: &PrintOptions,
    sink: &mut dyn Write,
) -> Result<(), PrintFailure> {
    let selection = Selection::new(source.model(), options)?;
    let mut printer = Printer::new(source, options, &selection, sink);
    let result = printer.dataset();
    printer.out.flush()?;
    result?;
    printer.unreadable.map_or(Ok(()), |error| Err(error.into()))
}

/// Prints the header of a dataset of the classic model as NcML.
pub fn print_ncml(
    source: &dyn PrintSource,
    options: &PrintOptions,
    sink: &mut dyn Write,
) -> Result<(), PrintFailure> {
    let selection = Selection::new(source.model(), options)?;
    let mut printer = Printer::new(source, options, &selection, sink);
    printer.ncml();
    printer.out.flush()?;
    Ok(())
}

/// Output buffer, written in large pieces.
struct Output<'a> {
    sink: &'a mut dyn Write,
    text: Vec<u8>,
}

/// Bytes of buffered text from which on it is written.
const ENOUGH: usize = 1 << 16;

impl Output<'_> {
    fn put(&mut self, text: impl AsRef<[u8]>) {
        self.text.extend_from_slice(text.as_ref());
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.write_all(&self.text)?;
        self.text.clear();
        self.sink.flush()
    }

    /// Writes the buffer if it is large enough.
    fn pour(&mut self) -> io::Result<()> {
        if self.text.len() >= ENOUGH {
            self.sink.write_all(&self.text)?;
            self.text.clear();
        }
        Ok(())
    }
}

/// State of one dump.
struct Printer<'a> {
    source: &'a dyn PrintSource,
    model: &'a Model,
    options: &'a PrintOptions,
    selection: &'a Selection,
    out: Output<'a>,
    line: Line,
    /// Names of bounds variables seen so far, and the variables whose bounds they hold.
    bounds: Vec<(Vec<u8>, VarId)>,
    /// Error of the first variable whose values are unreadable.
    unreadable: Option<Error>,
}

impl<'a> Printer<'a> {
    fn new(
        source: &'a dyn PrintSource,
        options: &'a PrintOptions,
        selection: &'a Selection,
        sink: &'a mut dyn Write,
    ) -> Self {
        let line = Line::new(options.line_length);
        let out = Output { sink, text: vec![] };
        Printer {
            source,
            model: source.model(),
            options,
            selection,
            out,
            line,
            bounds: vec![],
            unreadable: None,
        }
    }

    fn indent(&mut self) {
        let end = self.out.text.len() + self.line.indent;
        self.out.text.resize(end, b' ');
    }

    fn name(&mut self, name: &[u8]) -> Result<(), PrintFailure> {
        escape::name(name, self.names(), &mut self.out.text)
    }

    fn names(&self) -> NameEscapes {
        if self.options.escape_names { NameEscapes::Escaped } else { NameEscapes::Reference }
    }

    /// Prints the name of a type for use in `group`: with its path if it is not visible there.
    fn type_name(&mut self, ty: Type, group: GroupId) -> Result<(), PrintFailure> {
        let Type::User(id) = ty else {
            self.out.put(self.model.type_name(ty));
            return Ok(());
        };
        let model = self.model;
        let ty = model.user_type(id);
        let seen = model.and_parents(group).any(|group| {
            model.group(group).types.iter().any(|&other| model.user_type(other).name == ty.name)
        });
        // Without its path a reserved word would not be read as the name of this type.
        if !seen || is_reserved(ty.name.as_bytes()) {
            self.path_before(ty.group)?;
        }
        self.name(ty.name.as_bytes())
    }

    /// Prints the path of a group, with the slash before the name of a member.
    fn path_before(&mut self, group: GroupId) -> Result<(), PrintFailure> {
        let mut path: Vec<GroupId> =
            self.model.and_parents(group).filter(|&group| group != GroupId::ROOT).collect();
        while let Some(group) = path.pop() {
            self.out.put("/");
            self.name(self.model.group(group).name.as_bytes())?;
        }
        self.out.put("/");
        Ok(())
    }

    /// True if a dimension is printed as unlimited: in the classic model only the first unlimited one.
    fn is_unlimited(&self, id: DimId) -> bool {
        self.model.dim(id).unlimited
            && (self.model.format().is_enhanced() || self.model.record_dim() == Some(id))
    }

    /// Returns the time axis of a variable, if its `units` are those of time. A bounds variable, found by its name, has
    /// the axis of the variable to which it belongs.
    fn time_axis(&self, var: VarId, bounds_name: Option<&[u8]>) -> Option<TimeAxis> {
        let of = bounds_name.and_then(|name| self.bounds.iter().rev().find(|(bounds, _)| bounds == name));
        let owner = Owner::Var(of.map_or(var, |&(_, var)| var));
        let text = |name: &[u8]| match &self.model.find_attr(owner, name)?.value {
            Values::Char(text) => Some(&text[..]),
            Values::String(list) => list.first()?.as_deref(),
            _ => None,
        };
        TimeAxis::parse(text(b"units")?, text(b"calendar"))
    }
}
