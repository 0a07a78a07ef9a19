//! What a program is to write: definitions, and the data of each variable in blocks.
//!
//! All data is held, as values: how many records there are stands at the head of a program and is known at the end of
//! the text. A program of more data than memory holds is of no use to any compiler.

use std::collections::HashMap;
use std::io::Write;
use std::ops::Range;

use ferrocdf::{
    Atomic, Attr, Code, DimId, Error, Format, GroupId, Model, Owner, Result, Type, Values, VarId,
};
use ferrocdf_cdl::parse::Sink;

use super::super::options::{NcgenOptions, OutputLanguage};
use super::super::tell;
use super::number::has_special;

/// Definitions and data of a text.
pub(in super::super) struct Dataset<'a> {
    pub options: &'a NcgenOptions,
    pub model: Model,
    /// The word behind `netcdf`, or what takes its place.
    pub name: String,
    /// The file the program makes.
    pub file: String,
    columns: Vec<Column>,
    /// What each attribute belongs to, in the order of the text.
    owners: Vec<Owner>,
    /// Variables in the order in which the text gives them data.
    filled: Vec<VarId>,
}

/// The values of a variable, in pieces that follow each other.
#[derive(Default)]
struct Column {
    pieces: Vec<(u64, Values)>,
    len: u64,
}

/// Values that are written by one call.
pub(in super::super) struct Block<'a> {
    pub var: VarId,
    pub start: Vec<u64>,
    pub count: Vec<u64>,
    column: &'a Column,
    range: Range<u64>,
}

impl<'a> Dataset<'a> {
    pub fn new(options: &'a NcgenOptions) -> Self {
        let model = Model::new(Format::CLASSIC);
        let (name, file) = (String::new(), String::new());
        Dataset { options, model, name, file, columns: vec![], owners: vec![], filled: vec![] }
    }

    /// Global attributes.
    pub fn global_attrs(&self) -> impl ExactSizeIterator<Item = &Attr> {
        self.model.attrs(Owner::Group(GroupId::ROOT)).iter()
    }

    /// All attributes in the order of the text, with the variables that they belong to.
    pub fn attrs(&self) -> impl Iterator<Item = (Option<VarId>, &Attr)> {
        let mut given = HashMap::new();
        self.owners.iter().filter_map(move |&owner| {
            let at = given.entry(owner).or_insert(0);
            // There are fewer than owners if one is given twice.
            let attr = self.model.attrs(owner).get(*at)?;
            *at += 1;
            let var = match owner {
                Owner::Var(var) => Some(var),
                Owner::Group(_) => None,
            };
            Some((var, attr))
        })
    }

    /// Attributes of variables, in the order of the text.
    pub fn var_attrs(&self) -> impl Iterator<Item = (VarId, &Attr)> {
        self.attrs().filter_map(|(var, attr)| Some((var?, attr)))
    }

    /// Variables with data, in the order of the text.
    pub fn filled(&self) -> impl Iterator<Item = VarId> {
        self.filled.iter().copied()
    }

    /// The attributes of all groups.
    pub fn group_attrs(&self) -> impl Iterator<Item = (GroupId, &Attr)> {
        let model = &self.model;
        model.group_ids().flat_map(|id| model.attrs(Owner::Group(id)).iter().map(move |attr| (id, attr)))
    }

    /// The type of a variable of the classic model.
    pub fn ty(&self, var: VarId) -> Atomic {
        match self.model.var(var).ty {
            Type::Atomic(ty) => ty,
            Type::User(_) => {
                unreachable!("`define` takes user-defined types for C only, which asks the model")
            }
        }
    }

    /// Whether the text gives data for a variable.
    pub fn has_data(&self, var: VarId) -> bool {
        self.columns[var.index()].len > 0
    }

    /// Whether there are values that have names instead of digits.
    pub fn has_special(&self) -> bool {
        self.group_attrs().any(|(_, attr)| has_special(&attr.value))
            || self.var_attrs().any(|(_, attr)| has_special(&attr.value))
            || self.columns.iter().flat_map(|column| &column.pieces).any(|(_, values)| has_special(values))
    }

    /// Gives unlimited dimensions the lengths that all data needs.
    pub fn measure(&mut self) {
        for dim in (0..self.model.dims().len()).map(|at| DimId(at as u32)) {
            if !self.model.dim(dim).unlimited {
                continue;
            }
            // Lengths of unlimited dimensions behind the first of a variable were known with the definitions.
            let vars = self.model.var_ids().filter(|&var| self.model.var(var).dims.first() == Some(&dim));
            let records = vars.map(|var| self.records(var)).max().unwrap_or(0);
            self.model.set_dim_len(dim, self.model.dim(dim).len.max(records));
        }
    }

    /// How many records the data of a record variable makes.
    pub fn records(&self, var: VarId) -> u64 {
        let row: u64 = self.model.shape(var)[1..].iter().product();
        self.columns[var.index()].len.div_ceil(row.max(1))
    }

    /// All data of a variable.
    pub fn whole(&self, var: VarId) -> Block<'_> {
        let column = &self.columns[var.index()];
        let count = self.model.shape(var);
        Block { var, start: vec![0; count.len()], count, column, range: 0..column.len }
    }

    /// Gives all of it to another sink.
    pub fn tell(&self, sink: &mut dyn Sink) -> Result<()> {
        sink.define(&self.model, &self.name)?;
        for var in self.filled() {
            let pieces = &self.columns[var.index()].pieces;
            pieces.iter().try_for_each(|(first, values)| sink.data(var, *first, values.clone()))?;
        }
        Ok(())
    }

    /// The data of a variable, cut as the reference cuts it: text, small arrays and lists in one block, all else row by
    /// row.
    pub fn blocks(&self, var: VarId) -> impl Iterator<Item = Block<'_>> {
        let column = &self.columns[var.index()];
        let shape = self.model.shape(var);
        let fixed = !self.model.var(var).dims.iter().any(|&dim| self.model.dim(dim).unlimited);
        let whole = self.model.var(var).ty == Type::Atomic(Atomic::Char)
            || shape.len() < 2
            || (fixed && shape.iter().product::<u64>() <= self.options.whole_variable);
        let size = match shape.last() {
            Some(&last) if !whole => last,
            _ => column.len,
        };
        let steps = column.len.checked_div(size).unwrap_or(0);
        (0..steps).map(move |step| {
            let (mut start, mut count) = (vec![0; shape.len()], shape.clone());
            if !whole {
                let mut rest = step;
                for dim in (0..shape.len() - 1).rev() {
                    (start[dim], count[dim]) = (rest % shape[dim], 1);
                    rest /= shape[dim];
                }
            }
            Block { var, start, count, column, range: step * size..(step + 1) * size }
        })
    }
}

impl Block<'_> {
    /// The values: lists, and which elements of them.
    pub fn parts(&self) -> impl Iterator<Item = (&Values, Range<usize>)> {
        let Range { start, end } = self.range;
        let first = self.column.pieces.partition_point(|&(first, _)| first <= start).saturating_sub(1);
        self.column.pieces[first..].iter().take_while(move |&&(first, _)| first < end).map(
            move |(first, list)| {
                let until = (end - first).min(list.len() as u64);
                (list, start.saturating_sub(*first) as usize..until as usize)
            },
        )
    }

    /// The bytes, if they are text.
    pub fn text(&self) -> Vec<u8> {
        let mut text = vec![];
        for (values, range) in self.parts() {
            if let Values::Char(bytes) = values {
                text.extend_from_slice(&bytes[range]);
            }
        }
        text
    }
}

/// Takes what the parser finds.
pub(in super::super) struct Gather<'d, 'a> {
    pub dataset: &'d mut Dataset<'a>,
    /// Whether the program may be one for the netCDF-4 model.
    pub takes_all: bool,
    pub errors: &'d mut dyn Write,
}

impl Sink for Gather<'_, '_> {
    fn message(&mut self, text: &str) {
        let conflict = text == "-k or _Format conflicts with enhanced CDL input";
        let classic_only = self.dataset.options.language != Some(OutputLanguage::C);
        let other = "Java or Fortran requires classic model CDL input";
        tell(self.errors, if conflict && classic_only { other } else { text });
    }

    fn attributes(&mut self, owners: &[Owner]) {
        self.dataset.owners = owners.to_vec();
    }

    fn define(&mut self, model: &Model, name: &str) -> Result<()> {
        let dataset = &mut *self.dataset;
        if model.format().is_enhanced()
            && !(dataset.options.language == Some(OutputLanguage::C) && self.takes_all)
        {
            let what = "such programs are written for the classic model only; -k chooses it";
            return Err(Error::new(Code::ENOTNC3, what));
        }
        // Definitions that come again are those of before and more.
        dataset.columns.resize_with(model.vars().len(), Column::default);
        dataset.model = model.clone();
        dataset.file = dataset.options.output_path(name).to_string_lossy().into_owned();
        dataset.name = match &dataset.options.dataset {
            Some(name) => name.to_string_lossy().into_owned(),
            None => name.to_string(),
        };
        Ok(())
    }

    fn data(&mut self, var: VarId, first: u64, values: Values) -> Result<()> {
        let column = &mut self.dataset.columns[var.index()];
        if first == 0 {
            column.pieces.clear();
            self.dataset.filled.retain(|&known| known != var);
            self.dataset.filled.push(var);
        }
        column.len = first + values.len() as u64;
        column.pieces.push((first, values));
        Ok(())
    }
}
