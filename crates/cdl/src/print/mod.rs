//! The CDL and NcML text of a dataset.
//!
//! The text is that of the reference's `ncdump`, byte for byte, line breaks included, since people compare dumps with
//! `diff`. Printing knows no files: it asks a [`PrintSource`] for the model and for boxes of values. Rows do not depend on
//! each other, so blocks of rows are read and formatted on all cores and written in order, a bounded number at a time.
//!
//! Where the reference prints what is wrong or cannot be read back, this does not follow it; `tests/it/print.rs` of
//! this crate lists those cases.

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

/// What is printed: a model, and the values of its variables.
pub trait PrintSource: Sync {
    /// Groups, dimensions, types, variables, attributes.
    fn model(&self) -> &Model;

    /// A box of values of a variable, in row-major order and in the variable's own type.
    fn read(&self, var: VarId, start: &[u64], count: &[u64]) -> Result<Values>;

    /// The reason why the values of a variable cannot be read, if it is known without reading them. They are not printed.
    fn unreadable(&self, _var: VarId) -> Option<Error> {
        None
    }

    /// Attributes that are shown only on request: those that say which library wrote the file, and `_Codecs`.
    fn hidden(&self, _owner: Owner) -> Vec<Attr> {
        vec![]
    }
}

/// The order and the base of indices in comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Indices {
    /// From 0, slowest dimension first.
    #[default]
    C,
    /// From 1, fastest dimension first.
    Fortran,
}

/// What to print, and how; the default is a whole dataset as `ncdump` prints it.
#[derive(Clone, Debug)]
pub struct PrintOptions {
    /// The name of the dataset in the first line; the location in NcML.
    pub name: Vec<u8>,
    /// No data.
    pub header_only: bool,
    /// Only the data of coordinate variables.
    pub coordinates_only: bool,
    /// Only the data of these variables: `v` in any group, `/g/v` in that group; empty for all.
    pub variables: Vec<Vec<u8>>,
    /// Only the data of variables in these groups; empty for all.
    pub groups: Vec<Vec<u8>>,
    /// A comment with the indices before each row.
    pub brief_comments: bool,
    /// A comment with the indices after each value.
    pub full_comments: bool,
    /// How indices are counted in comments.
    pub indices: Indices,
    /// The longest line in the data section; 10 at least.
    pub line_length: usize,
    /// Significant digits of single precision.
    pub float_digits: usize,
    /// Significant digits of double precision.
    pub double_digits: usize,
    /// The digits of single precision go before the attribute `C_format`.
    pub float_digits_first: bool,
    /// The digits of double precision go before the attribute `C_format`.
    pub double_digits_first: bool,
    /// Times as text, with this byte between date and time of day.
    pub times: Option<u8>,
    /// Virtual attributes that tell how variables are stored.
    pub special: bool,
    /// Among those, all filters in one form.
    pub filters_in_one_form: bool,
    /// Among those, not the name of the library that wrote the file.
    pub no_provenance: bool,
    /// Names are escaped that the reference prints so that it cannot read them: words of CDL, and characters that are
    /// not at home in names.
    pub escape_names: bool,
    /// The type before each `_FillValue`.
    pub fill_type: bool,
    /// How many threads format values; 1 uses the caller's alone.
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

/// Why printing stopped.
#[derive(Debug)]
pub enum PrintFailure {
    /// The output could not be written.
    Output(io::Error),
    /// The values could not be read.
    Source(Error),
    /// What was asked for is not there, or cannot be said in CDL; the words are for the user.
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

/// Prints a dataset as CDL. What could be printed before a failure has been written when it returns; that is all but the values that
/// the source calls [unreadable](PrintSource::unreadable), for which it fails in the end.
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

/// Text on its way out: gathered in memory, written in large pieces.
struct Output<'a> {
    sink: &'a mut dyn Write,
    text: Vec<u8>,
}

/// Text is written when there is this much of it.
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

    /// Writes if there is enough.
    fn pour(&mut self) -> io::Result<()> {
        if self.text.len() >= ENOUGH {
            self.sink.write_all(&self.text)?;
            self.text.clear();
        }
        Ok(())
    }
}

/// The state of one dump.
struct Printer<'a> {
    source: &'a dyn PrintSource,
    model: &'a Model,
    options: &'a PrintOptions,
    selection: &'a Selection,
    out: Output<'a>,
    line: Line,
    /// Names of bounds variables seen so far, and the variables whose bounds they hold.
    bounds: Vec<(Vec<u8>, VarId)>,
    /// Why values of the first variable that has no readable ones are not printed.
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

    /// Prints the name of a type as it is written in `group`: with its path if it is not seen from there.
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
        // Without its path the name would be taken for something else.
        if !seen || is_reserved(ty.name.as_bytes()) {
            self.path_before(ty.group)?;
        }
        self.name(ty.name.as_bytes())
    }

    /// Prints the path of a group up to the name of something in it.
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

    /// Whether a dimension is printed as unlimited: in the classic model, only the first one that is.
    fn is_unlimited(&self, id: DimId) -> bool {
        self.model.dim(id).unlimited
            && (self.model.format().is_enhanced() || self.model.record_dim() == Some(id))
    }

    /// The time axis of a variable, if its `units` say that it holds times. A bounds variable, as found by its name,
    /// takes that of the variable it belongs to.
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
