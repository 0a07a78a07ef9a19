//! Data sections: the values of variables, and the order of the calls of the sink.

use std::collections::{HashSet, VecDeque};

use ferrocdf_model::{Atomic, Format, GroupId, Type, Values, VarId, each_values};

use super::bulk::{Bulk, End};
use super::constant::{Const, Item, ParsedNumber, with_number};
use super::header::{Path, Thing, VarDecl};
use super::parser::{Parsed, Parser};
use super::token::Token;
use super::{ParseFailure, time};

/// Bytes of pending values after which the first definitions and data go to the sink.
const HELD_BACK: usize = 16 << 20;
/// Largest number of fill values in one piece.
const PIECE: u64 = 1 << 20;
/// Largest nesting depth of lists.
const MAX_DEPTH: usize = 200;

/// State of the data sections.
#[derive(Default)]
pub(super) struct Data {
    /// Lengths of unlimited dimensions according to the data so far; 0 for other dimensions.
    pub lengths: Vec<u64>,
    /// Values of variables whose second or a later dimension is unlimited; arranged when all lengths are known.
    pub trees: Vec<(VarId, Vec<Item>)>,
    /// Number of elements written for each variable whose first dimension is unlimited.
    records: Vec<(VarId, u64)>,
    /// Variables with data.
    seen: HashSet<VarId>,
    held_back: VecDeque<(VarId, u64, Values)>,
    held_bytes: usize,
    /// Format and number of declarations in the last call of [`Sink::define`](super::Sink::define).
    told: Option<(Format, usize)>,
    bulk: Bulk,
}

impl Parser<'_> {
    /// Parses `variable = values ;`.
    pub fn data_statement(&mut self) -> Parsed<()> {
        let is_word = self.lexer.is_word_before(b'=');
        let thing = match self.lexer.peek() {
            // The name of a variable that is a reserved word elsewhere.
            Token::Keyword(_) | Token::Special(_) | Token::Number(_) | Token::Fill | Token::Nil
                if is_word =>
            {
                let name = self.name()?;
                self.resolve(&Path { group: None, name })?
            }
            _ => self.thing("")?,
        };
        let Thing::Var(var) = thing else {
            let text = format!("Undefined or forward referenced variable: {}", self.thing_name(thing));
            return Err(self.fatal_bare(&text));
        };
        self.expect(b'=')?;
        self.data.lengths.resize(self.header.dims.len(), 0);
        if !self.data.seen.insert(var) {
            // Later data of a variable replaces earlier data.
            self.data.held_back.retain(|piece| piece.0 != var);
            self.data.records.retain(|record| record.0 != var);
            self.data.trees.retain(|tree| tree.0 != var);
        }
        let decl = self.header.var(var);
        let unlimited = |&dim: &ferrocdf_model::DimId| self.header.dims[dim.index()].len.is_none();
        let is_tree = decl.dims.iter().skip(1).any(unlimited);
        let is_scalar = decl.dims.is_empty();
        match self.stored_type(decl.ty) {
            _ if is_tree => {
                let items = self.items(1)?;
                self.data.trees.push((var, items));
            }
            _ if is_scalar => self.scalar(var)?,
            Type::Atomic(atomic) => {
                with_number!(atomic, N => self.numbers::<N>(var)?, _ => self.listed(var)?);
            }
            Type::User(_) => self.listed(var)?,
        }
        self.expect(b';')
    }

    // ---- Lists of constants ----

    /// Parses constants up to `;` or `}`.
    pub fn items(&mut self, depth: usize) -> Parsed<Vec<Item>> {
        let mut items = vec![];
        if matches!(self.lexer.peek(), Token::Sign(b';' | b'}')) {
            return Ok(items);
        }
        if *self.lexer.peek() != Token::Sign(b',') {
            // Before the first value the list may end.
            let wanted = if depth == 1 { "';'" } else { "" };
            items.push(self.item(depth, wanted)?);
        }
        while self.lexer.eat(b',') {
            items.push(self.item(depth, "")?);
        }
        Ok(items)
    }

    fn item(&mut self, depth: usize, wanted: &str) -> Parsed<Item> {
        let value = match self.lexer.next() {
            Token::Number(number) => number,
            Token::Text(text) => Const::Text(text),
            Token::Opaque(bytes) => Const::Opaque(bytes),
            Token::Fill => Const::Fill,
            Token::Nil => Const::Nil,
            Token::Name(name) if *self.lexer.peek() == Token::Sign(b'(') => self.function(&name)?,
            Token::Name(name) => Const::Name(self.with_slashes(name)),
            Token::Path(mut names) => Const::Name(names.pop().unwrap_or_default()),
            Token::Sign(b'{') => {
                if depth >= MAX_DEPTH {
                    return Err(self.fatal(self.line(), "data is nested too deeply"));
                }
                let line = self.line();
                let items = self.items(depth + 1)?;
                self.expect(b'}')?;
                return Ok(Item { line, value: Const::List(items) });
            }
            token => match self.lexer.take_word() {
                Some(word) => Const::Name(word),
                None => return Err(self.unexpected(&token, wanted)),
            },
        };
        if matches!(value, Const::Name(_)) {
            self.needs.enhanced = true;
        }
        Ok(Item { line: self.line(), value })
    }

    /// Completes the name of an enum member whose first word was read: a path after it is the rest of the name.
    fn with_slashes(&mut self, mut name: Vec<u8>) -> Vec<u8> {
        while let Token::Path(rest) = self.lexer.peek() {
            for word in rest {
                name.push(b'/');
                name.extend_from_slice(word);
            }
            self.lexer.next();
        }
        name
    }

    /// Parses a call of `time("1979-01-01")`, the only function of CDL.
    fn function(&mut self, name: &[u8]) -> Parsed<Const> {
        self.expect(b'(')?;
        let mut args = vec![];
        loop {
            args.push(self.item(MAX_DEPTH, "")?.value);
            if !self.lexer.eat(b',') {
                break;
            }
        }
        self.expect(b')')?;
        if !name.eq_ignore_ascii_case(b"time") {
            self.wrong_bare(&format!("Unknown function name: {}", String::from_utf8_lossy(name)));
            return Ok(Const::Double(0.0));
        }
        match &*args {
            [Const::Text(when)] => Ok(Const::Double(time::hours_since_1970(when))),
            [Const::Text(kind), Const::Text(_)] => {
                self.wrong_bare(&format!(
                    "Time conversion '{}' not supported",
                    String::from_utf8_lossy(kind)
                ));
                Ok(Const::Double(0.0))
            }
            _ => {
                self.wrong_bare("Expected function signature: time([string,]string)");
                Ok(Const::Double(0.0))
            }
        }
    }

    // ---- Variables ----

    /// Returns the number of elements per index of the first dimension, and of the whole variable; `None` for the
    /// latter if the first dimension is unlimited.
    fn extent(&self, var: VarId) -> (u64, Option<u64>) {
        let lens: Vec<_> =
            self.header.var(var).dims.iter().map(|dim| self.header.dims[dim.index()].len).collect();
        let row = lens.iter().skip(1).flatten().fold(1u64, |product, &len| product.saturating_mul(len));
        (row, lens[0].map(|len| len.saturating_mul(row)))
    }

    fn scalar(&mut self, var: VarId) -> Parsed<()> {
        let line = self.line();
        let items = self.items(1)?;
        if items.len() > 1 {
            let name = String::from_utf8_lossy(&self.header.var(var).name).into_owned();
            return Err(
                self.fatal(line, &format!("Variable {name} is a single value, found {}", items.len()))
            );
        }
        let decl = self.header.var(var);
        let (ty, fill) = (self.stored_type(decl.ty), decl.fill.clone());
        let items = if items.is_empty() { vec![Item { line, value: Const::Fill }] } else { items };
        let values = match ty {
            Type::Atomic(Atomic::Char) => Values::Char(vec![self.single_char(&items[0], fill.as_ref())?]),
            ty => self.filled_values(ty, &items, fill.as_ref(), 1)?,
        };
        self.emit(var, 0, values)
    }

    /// Parses the numbers of a variable with at most its first dimension unlimited, and passes them on in pieces.
    fn numbers<N: ParsedNumber>(&mut self, var: VarId) -> Parsed<()> {
        let (row, total) = self.extent(var);
        let decl = self.header.var(var);
        let (ty, fill) = (decl.ty, decl.fill.clone());
        let fill = match &fill {
            Some(item) => self.number::<N>(item, N::fill(), ty)?,
            None => N::fill(),
        };
        let start = self.line();
        let narrow = self.refuses_wide() && !N::REAL;
        let mut pieces = Pieces { list: Vec::<N>::new(), first: 0, left: total.unwrap_or(u64::MAX), lost: 0 };
        let mut due = true;
        let mut nothing_yet = true;
        while due {
            if self.lexer.is_clear() {
                let mut full = vec![];
                let end = self.data.bulk.read(&mut self.lexer.source, fill, narrow, |list| {
                    nothing_yet = false;
                    full.extend(pieces.add(list));
                    full.is_empty()
                });
                for (first, list) in full {
                    self.emit(var, first, N::wrap(list))?;
                }
                match end {
                    End::Semicolon => break,
                    End::Paused => continue,
                    End::Stopped => {}
                }
            }
            let token = self.lexer.peek();
            let starts_with_comma = nothing_yet && *token == Token::Sign(b',');
            if nothing_yet && matches!(token, Token::Sign(b';')) {
                break;
            }
            if !starts_with_comma {
                let item = self.item(1, if nothing_yet { "';'" } else { "" })?;
                if let (true, Const::Int(_, value)) = (narrow, &item.value)
                    && i32::try_from(*value).is_err()
                {
                    let what = format!("Illegal integer constant for classic format: {value}");
                    return Err(self.fatal(item.line, &what));
                }
                let value = self.number(&item, fill, ty)?;
                if let Some((first, list)) = pieces.add(vec![value]) {
                    self.emit(var, first, N::wrap(list))?;
                }
            }
            nothing_yet = false;
            due = self.lexer.eat(b',');
        }
        if pieces.lost > 0 {
            let text = format!(
                "data list too long; expected {} values, found {}",
                pieces.written(),
                pieces.written() + pieces.lost
            );
            self.warn(start, &text);
        }
        let count = pieces.written();
        self.emit(var, pieces.first, N::wrap(pieces.list))?;
        self.counted(var, count, row, total, |len| N::wrap(vec![fill; len]))
    }

    /// Parses text, strings, or values of user-defined types.
    fn listed(&mut self, var: VarId) -> Parsed<()> {
        let items = self.items(1)?;
        let (row, total) = self.extent(var);
        let decl = self.header.var(var);
        let (ty, fill) = (decl.ty, decl.fill.clone());
        if ty == Type::Atomic(Atomic::Char) {
            let last = *decl.dims.last().unwrap_or(&ferrocdf_model::DimId(0));
            let rank = decl.dims.len();
            let unit = if rank == 1 { 1 } else { self.header.dims[last.index()].len.unwrap_or(1) };
            let chars = self.characters(&items, rank, unit, total, fill.as_ref())?;
            let count = chars.len() as u64;
            let pad = self.fill_char(fill.as_ref());
            self.emit(var, 0, Values::Char(chars))?;
            return self.counted(var, count, row, total, |len| Values::Char(vec![pad; len]));
        }
        let most = usize::try_from(total.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        let items = &items[..items.len().min(most)];
        let values = self.filled_values(ty, items, fill.as_ref(), 0)?;
        let count = values.len() as u64;
        let one = self.filled_values(ty, &[], fill.as_ref(), 1)?;
        self.emit(var, 0, values)?;
        self.counted(var, count, row, total, |len| repeated(&one, len))
    }

    /// Records the number of elements written to a record variable; fills the rest of a variable of fixed size.
    fn counted(
        &mut self,
        var: VarId,
        count: u64,
        row: u64,
        total: Option<u64>,
        fill: impl Fn(usize) -> Values,
    ) -> Parsed<()> {
        match total {
            Some(total) => self.fill_up(var, count, total, fill),
            None => {
                let dim = self.header.var(var).dims[0];
                let length = &mut self.data.lengths[dim.index()];
                *length = (*length).max(count.div_ceil(row));
                self.data.records.push((var, count));
                Ok(())
            }
        }
    }

    fn fill_up(&mut self, var: VarId, from: u64, to: u64, fill: impl Fn(usize) -> Values) -> Parsed<()> {
        if !self.wants_data() {
            return Ok(());
        }
        let mut first = from;
        while first < to {
            let count = (to - first).min(PIECE);
            self.emit(var, first, fill(count as usize))?;
            first += count;
        }
        Ok(())
    }

    /// True if integers of more than 32 bits are refused: the caller requests a format that has no such integers.
    fn refuses_wide(&self) -> bool {
        self.options.format.is_some_and(|format| !format.holds(Atomic::Uint))
    }

    fn wants_data(&self) -> bool {
        !self.options.check_only && !self.options.header_only && self.errors == 0
    }

    // ---- To the sink ----

    fn emit(&mut self, var: VarId, first: u64, values: Values) -> Parsed<()> {
        if values.is_empty() || !self.wants_data() {
            return Ok(());
        }
        // The sink takes data only while it knows all declarations; groups may follow data.
        if self.data.told.is_some_and(|(_, declared)| declared == self.declared()) {
            return Ok(self.sink.data(var, first, values)?);
        }
        let size = match values.atomic() {
            Some(Atomic::String) | None => 64,
            Some(atomic) => atomic.size(),
        };
        self.data.held_bytes += values.len() * size;
        self.data.held_back.push_back((var, first, values));
        if self.data.held_bytes > HELD_BACK && self.header.late.is_empty() {
            self.tell_definitions()?;
        }
        Ok(())
    }

    /// Returns the number of declarations so far.
    fn declared(&self) -> usize {
        let header = &self.header;
        [header.groups.len(), header.dims.len(), header.types.len(), header.vars.len(), header.attrs.len()]
            .iter()
            .sum()
    }

    /// Passes the definitions so far and the pending values to the sink.
    fn tell_definitions(&mut self) -> Parsed<Format> {
        let format = self.choose_format()?;
        self.check_unlimited(format)?;
        let declared = self.declared();
        if let Some((told, _)) = self.data.told.filter(|&(told, _)| told != format) {
            // The sink has already created a file in another format.
            debug_assert!(!told.is_enhanced());
            return Err(ParseFailure::EnhancedAfterData);
        }
        if self.data.told != Some((format, declared)) {
            let model = self.build(format)?;
            let name = String::from_utf8_lossy(&self.header.group(GroupId::ROOT).name);
            let owners: Vec<_> = self.header.attrs.iter().map(|attr| attr.owner).collect();
            self.sink.attributes(&owners);
            let codecs = |(at, var): (usize, &VarDecl)| Some((VarId(at as u32), var.codecs.clone()?));
            let codecs: Vec<_> = self.header.vars.iter().enumerate().filter_map(codecs).collect();
            self.sink.codecs(&codecs);
            self.sink.define(&model, &name)?;
            self.data.told = Some((format, declared));
        }
        while let Some((var, first, values)) = self.data.held_back.pop_front() {
            self.sink.data(var, first, values)?;
        }
        Ok(format)
    }

    /// Completes definitions and data at the end of the text.
    pub fn finish(&mut self) -> Parsed<Format> {
        self.resolve_late()?;
        self.data.lengths.resize(self.header.dims.len(), 0);
        let trees = std::mem::take(&mut self.data.trees);
        for (var, items) in &trees {
            self.measure_tree(*var, items)?;
        }
        if self.options.check_only {
            self.check_names()?;
            // Attribute values are checked as if they were written; the limits of the format are not checked.
            let attrs = std::mem::take(&mut self.header.attrs);
            for attr in &attrs {
                self.attr_value(attr)?;
            }
            self.header.attrs = attrs;
            for (var, items) in trees {
                self.tree_values(var, &items)?;
            }
            let format = self.choose_format()?;
            self.check_unlimited(format)?;
            return Ok(format);
        }
        // All errors of the text are found before the sink is called.
        let mut arranged = vec![];
        for (var, items) in trees {
            arranged.push((var, self.tree_values(var, &items)?));
        }
        let format = self.tell_definitions()?;
        for (var, values) in arranged {
            self.emit(var, 0, values)?;
        }
        for (var, count) in std::mem::take(&mut self.data.records) {
            let (row, _) = self.extent(var);
            let dim = self.header.var(var).dims[0];
            let whole = match self.options.own_records {
                true => count.next_multiple_of(row.max(1)),
                false => self.data.lengths[dim.index()].saturating_mul(row),
            };
            let decl = self.header.var(var);
            let (ty, fill) = (self.stored_type(decl.ty), decl.fill.clone());
            let one = match ty {
                Type::Atomic(Atomic::Char) => Values::Char(vec![self.fill_char(fill.as_ref())]),
                ty => self.filled_values(ty, &[], fill.as_ref(), 1)?,
            };
            self.fill_up(var, count, whole, |len| repeated(&one, len))?;
        }
        Ok(format)
    }
}

/// Returns `len` copies of the first value.
fn repeated(one: &Values, len: usize) -> Values {
    let mut all = one.clone();
    each_values!(&mut all, list => {
        if let Some(value) = list.first().cloned() {
            list.resize(len, value);
        }
    });
    all
}

/// Numbers collected into pieces of sufficient size.
struct Pieces<N> {
    list: Vec<N>,
    /// Index of the first element of `list`.
    first: u64,
    /// Number of values that still fit into the variable.
    left: u64,
    /// Number of values beyond the end of the variable.
    lost: u64,
}

impl<N> Pieces<N> {
    /// Adds values, and returns a piece once it is large enough.
    fn add(&mut self, mut more: Vec<N>) -> Option<(u64, Vec<N>)> {
        let room = usize::try_from(self.left).unwrap_or(usize::MAX);
        if more.len() > room {
            self.lost += (more.len() - room) as u64;
            more.truncate(room);
        }
        self.left -= more.len() as u64;
        if self.list.is_empty() {
            self.list = more;
        } else {
            self.list.append(&mut more);
        }
        if self.list.len() < (PIECE / 8) as usize {
            return None;
        }
        let first = self.first;
        self.first += self.list.len() as u64;
        Some((first, std::mem::take(&mut self.list)))
    }

    fn written(&self) -> u64 {
        self.first + self.list.len() as u64
    }
}
