//! Printing of the data section.

use ferrocdf_model::{Atomic, GroupId, Owner, Type, Values, Var, VarId};

use super::cells::{Look, Piece, Style};
use super::escape::{Place, escaped};
use super::layout::{Block, Blocks, Layout};
use super::pipeline::in_order;
use super::printf::{Format, Kind};
use super::user::Digits;
use super::{PrintFailure, Printer};

/// Values per block: large enough that the cost of reading and passing a block is small, small enough for the cache of
/// a core.
const BLOCK: u64 = 1 << 15;
/// Values per block of strings and user-defined types, whose values are nested.
const TREE_BLOCK: u64 = 1 << 11;
/// Bytes of text per read if a row of text is longer.
const TEXT_BLOCK: u64 = 1 << 20;
/// Number of small variables that a thread prints at a time.
const TOGETHER: usize = 16;

/// Returns the number of values per block for a type.
fn block_of(ty: Type) -> u64 {
    match ty {
        Type::User(_) | Type::Atomic(Atomic::String) => TREE_BLOCK,
        Type::Atomic(_) => BLOCK,
    }
}

impl<'a> Printer<'a> {
    /// Prints the data of a group's own variables.
    pub(super) fn data(&mut self, group: GroupId) -> Result<(), PrintFailure> {
        let model = self.model;
        let vars = &model.group(group).vars;
        if vars.is_empty() || !self.selection.has_group(group) {
            return Ok(());
        }
        self.indent();
        self.out.put("data:\n");
        let is_printed = |id: &VarId| {
            let coordinate = !self.options.coordinates_only || self.is_coordinate(*id);
            let empty = model.var(*id).dims.iter().any(|&dim| model.dim(dim).len == 0);
            self.selection.has_var(*id) && coordinate && !empty
        };
        let mut vars: Vec<VarId> = vars.iter().copied().filter(is_printed).collect();
        vars.retain(|&id| {
            let error = self.source.unreadable(id);
            let is_readable = error.is_none();
            self.unreadable = self.unreadable.take().or(error);
            is_readable
        });
        // Consecutive small variables are printed in parallel: all that a thread prints at a time are together at most
        // one block. Other variables are printed one after another, each in parallel if it has more than one block.
        let is_small = |id: VarId| {
            let lengths = model.var(id).dims.iter().map(|&dim| model.dim(dim).len);
            lengths.fold(TOGETHER as u64, u64::saturating_mul) <= block_of(model.var(id).ty)
        };
        vars.chunk_by(|&one, &next| is_small(one) && is_small(next))
            .try_for_each(|vars| self.each(vars, TOGETHER, |printer, id| printer.variable_data(id)))
    }

    /// True if a variable has one dimension and the name of a dimension that is visible in its group.
    pub(super) fn is_coordinate(&self, id: VarId) -> bool {
        let var = self.model.var(id);
        var.dims.len() == 1 && self.model.find_dim(var.group, var.name.as_bytes()).is_some()
    }

    fn variable_data(&mut self, id: VarId) -> Result<(), PrintFailure> {
        let model = self.model;
        let var = model.var(id);
        let name = var.name.as_bytes();
        let look = self.look(id, var);
        self.out.put("\n");
        self.indent();
        self.out.put(" ");
        self.name(name)?;
        let mut first = self.line;
        if var.dims.len() <= 1 {
            self.out.put(" = ");
            first.position = name.len() + 4 + first.indent;
        } else {
            self.out.put(" =\n  ");
            first.position = 2 + first.indent;
        }
        let layout = Layout {
            dims: model.shape(id),
            braced: var.dims.iter().map(|&dim| model.dim(dim).unlimited).collect(),
            name: Layout::printed_name(name, self.names())?,
            first,
            options: self.options,
        };
        self.line.position = self.line.indent;
        self.rows(id, &look, &layout)
    }

    fn look(&self, id: VarId, var: &Var) -> Look<'a> {
        let axis = self
            .options
            .times
            .and_then(|separator| Some((self.time_axis(id, Some(var.name.as_bytes()))?, separator)));
        let style = match (axis, var.ty) {
            (Some((axis, separator)), Type::Atomic(atomic))
                if !matches!(atomic, Atomic::Char | Atomic::String) =>
            {
                Style::Time(axis, separator)
            }
            _ => self.given_format(id, var.ty).map_or(Style::Plain, Style::Printf),
        };
        let digits = Digits { float: self.options.float_digits, double: self.options.double_digits };
        Look { model: self.model, ty: var.ty, fill: self.fill_value(id, var.ty), style, digits }
    }

    /// Returns the format in the attribute `C_format`, if it suits the type and no option overrides it.
    fn given_format(&self, id: VarId, ty: Type) -> Option<Format> {
        let kind = match ty {
            Type::Atomic(Atomic::Float) if self.options.float_digits_first => return None,
            Type::Atomic(Atomic::Double) if self.options.double_digits_first => return None,
            Type::Atomic(Atomic::Float | Atomic::Double) => Kind::Float,
            Type::Atomic(Atomic::Char) => Kind::Char,
            Type::Atomic(Atomic::String) | Type::User(_) => return None,
            Type::Atomic(_) => Kind::Integer,
        };
        match &self.model.find_attr(Owner::Var(id), b"C_format")?.value {
            // As in `ncdump`, formats have less than 100 bytes.
            Values::Char(text) if text.len() < 100 => {
                Format::parse(super::escape::c_text(text)).filter(|format| format.fits(kind))
            }
            _ => None,
        }
    }

    /// Returns the value that is printed as `_`: the attribute, else the default. Bytes have no default: each of their
    /// values may be valid data.
    fn fill_value(&self, id: VarId, ty: Type) -> Option<Values> {
        match self.model.find_attr(Owner::Var(id), b"_FillValue") {
            Some(attr) if attr.value.ty() == ty && attr.value.len() == 1 => Some(attr.value.clone()),
            _ => match ty {
                Type::Atomic(Atomic::Byte | Atomic::Ubyte) | Type::User(_) => None,
                Type::Atomic(atomic) => Some(Values::default_fill(atomic)),
            },
        }
    }

    fn rows(&mut self, id: VarId, look: &Look<'_>, layout: &Layout<'_>) -> Result<(), PrintFailure> {
        let target = if look.is_text() { TEXT_BLOCK } else { block_of(look.ty) };
        let blocks = Blocks::new(&layout.dims, target);
        if look.is_text() && layout.columns() > target {
            return self.long_text(id, layout, target);
        }
        let source = self.source;
        let make = |number| {
            let block = blocks.get(number);
            let values = source.read(id, &block.start, &block.count)?;
            if values.len() != block.len() {
                let (is, expected) = (values.len(), block.len());
                let what = format!("{}: {is} values read instead of {expected}", source.model().var_path(id));
                return Err(ferrocdf_bytes::Error::new(ferrocdf_bytes::Code::EINTERNAL, what).into());
            }
            let mut piece = Piece::default();
            look.cells(&values).rows(layout, &block, &mut piece);
            Ok(piece)
        };
        let mut line = layout.first;
        let out = &mut self.out;
        in_order(blocks.len(), self.options.threads, make, |number, piece: Result<Piece, PrintFailure>| {
            let piece = piece?;
            if piece.widths.is_empty() {
                if piece.text.len() < super::ENOUGH {
                    out.put(&piece.text);
                } else {
                    out.sink.write_all(&out.text)?;
                    out.text.clear();
                    out.sink.write_all(&piece.text)?;
                }
            } else {
                break_lines(layout, &blocks.get(number), &piece, &mut line, &mut out.text);
            }
            out.pour().map_err(PrintFailure::Output)
        })
    }

    /// Prints rows of text that are longer than one block, a part at a time.
    fn long_text(&mut self, id: VarId, layout: &Layout<'_>, target: u64) -> Result<(), PrintFailure> {
        let rows = Block { start: vec![0; layout.dims.len()], count: layout.dims.clone(), part: false };
        let mut result = Ok(());
        rows.each_row(|_, row| {
            if result.is_ok() {
                result = self.long_row(id, layout, row, target);
            }
        });
        result
    }

    fn long_row(
        &mut self,
        id: VarId,
        layout: &Layout<'_>,
        row: &[u64],
        target: u64,
    ) -> Result<(), PrintFailure> {
        let mut line = layout.line(row);
        layout.row_start(row, &mut line, &mut self.out.text);
        self.out.put("\"");
        let (mut column, mut nuls) = (0, 0);
        while column < layout.columns() {
            let count = target.min(layout.columns() - column);
            let start = [row, &[column]].concat();
            let shape = [&vec![1; row.len()][..], &[count]].concat();
            let Values::Char(text) = self.source.read(id, &start, &shape)? else { break };
            // NULs at the end of a row are not printed.
            let body = super::escape::trimmed(&text);
            if !body.is_empty() {
                for _ in 0..std::mem::take(&mut nuls) {
                    self.out.put("\\000");
                    self.out.pour()?;
                }
                escaped(body, Place::Row, &mut self.out.text);
            }
            nuls += (text.len() - body.len()) as u64;
            self.out.pour()?;
            column += count;
        }
        self.out.put("\"");
        let start = self.out.text.len();
        layout.close(row, &mut self.out.text);
        if self.out.text.len() > start && !self.options.full_comments {
            line.fit(start, &mut self.out.text);
        }
        layout.row_end(row, &mut line, &mut self.out.text);
        Ok(())
    }
}

/// Appends a part of a row, broken into lines from the end of the previous part on.
fn break_lines(
    layout: &Layout<'_>,
    block: &Block,
    piece: &Piece,
    line: &mut super::line::Line,
    out: &mut Vec<u8>,
) {
    let (last, row) = block.start.split_last().expect("only a variable with dimensions has parts of rows");
    if *last == 0 {
        *line = layout.line(row);
        layout.row_start(row, line, out);
    }
    let (mut written, mut at) = (0, 0);
    for &width in &piece.widths {
        let width = width as usize;
        if line.breaks_before(width) {
            out.extend_from_slice(&piece.text[written..at]);
            written = at;
            line.start(out);
        }
        line.position += width;
        at += width;
    }
    out.extend_from_slice(&piece.text[written..]);
    if last + block.columns() as u64 == layout.columns() {
        layout.row_end(row, line, out);
    }
}
