//! Programs in C, Fortran 77 and Java that write the dataset of a text.
//!
//! The programs are those of the reference, byte for byte: one walk over the dataset, in [`write()`], asks each language
//! for its words. The programs of `ncgen3` have another order, so `old_c` and `old_fortran` walk by themselves. C has all
//! of netCDF-4, the others the classic model only. What the reference writes and no compiler takes, or what makes another
//! file than the text says, is put right; `ncgen_source.rs`, `ncgen_source4.rs` and `ncgen3_source.rs` of the compatibility
//! tests list those cases. The Fortran of `ncgen` is left as it is: the reference puts quotes around the names of its
//! variables, so it is no program to begin with.

mod c;
mod c_storage;
mod c_types;
mod c_values;
mod dataset;
mod fold;
mod fortran;
mod java;
mod name;
mod number;
mod old_c;
mod old_fortran;

use std::io::{self, Write};

use ferrocdf::{Attr, DimId, Owner, VarId};

pub(super) use dataset::{Dataset, Gather};

use super::Program;
use super::options::OutputLanguage;
use dataset::Block;
use number::LiteralNumber;

/// A step of writing the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DataStep {
    /// All variables.
    All,
    /// Variables without dimensions.
    Scalars,
    /// Variables with dimensions.
    Arrays,
    /// What the program calls for variables with dimensions.
    Procedures,
}

impl DataStep {
    fn takes(self, rank: usize) -> bool {
        match self {
            DataStep::All => true,
            DataStep::Scalars => rank == 0,
            DataStep::Arrays | DataStep::Procedures => rank > 0,
        }
    }
}

/// The words of a language.
trait LanguageWriter {
    /// Everything before the file is created.
    fn declare(&mut self) -> io::Result<()>;
    /// Creates the file.
    fn create(&mut self) -> io::Result<()>;
    /// The comment at the head of a part of the program.
    fn part(&mut self, title: &str) -> io::Result<()>;
    fn dimension(&mut self, dim: DimId) -> io::Result<()>;
    fn variable(&mut self, var: VarId) -> io::Result<()>;
    /// An attribute of a variable, or of a group.
    fn attribute(&mut self, owner: Owner, attr: &Attr) -> io::Result<()>;
    fn blank(&mut self) -> io::Result<()>;
    fn leave_define_mode(&mut self) -> io::Result<()>;
    /// How the data is written.
    fn steps(&self) -> &'static [DataStep];
    fn start_step(&mut self, step: DataStep) -> io::Result<()>;
    fn block(&mut self, step: DataStep, block: &Block<'_>) -> io::Result<()>;
    fn end_step(&mut self, step: DataStep) -> io::Result<()>;
    /// The end of the program.
    fn close(&mut self) -> io::Result<()>;
}

/// Writes the program for a complete dataset, in the style of one of the tools.
pub(super) fn write(
    dataset: &Dataset<'_>,
    style: Program,
    choice: OutputLanguage,
    out: &mut dyn Write,
) -> io::Result<()> {
    match (style, choice) {
        (Program::Ncgen3, OutputLanguage::Fortran77) => old_fortran::OldFortran { dataset, out }.write(),
        (Program::Ncgen3, _) => old_c::OldC { dataset, out }.write(),
        (_, OutputLanguage::Fortran77) => walk(dataset, &mut fortran::Fortran::new(dataset, out)),
        (_, OutputLanguage::Java) => walk(dataset, &mut java::Java { dataset, out }),
        (_, OutputLanguage::C | OutputLanguage::Binary) => {
            walk(dataset, &mut c::C { dataset, out, lists: 0 })
        }
    }
}

fn walk(dataset: &Dataset<'_>, language: &mut dyn LanguageWriter) -> io::Result<()> {
    let model = &dataset.model;
    language.declare()?;
    language.create()?;
    if !model.dims().is_empty() {
        language.part("define dimensions")?;
        (0..model.dims().len()).try_for_each(|at| language.dimension(DimId(at as u32)))?;
    }
    if !model.vars().is_empty() {
        language.part("define variables")?;
        model.var_ids().try_for_each(|var| language.variable(var))?;
    }
    if dataset.group_attrs().next().is_some() {
        language.part("assign global attributes")?;
        dataset.group_attrs().try_for_each(|(group, attr)| language.attribute(Owner::Group(group), attr))?;
        language.blank()?;
    }
    if dataset.var_attrs().next().is_some() {
        language.part("assign per-variable attributes")?;
        dataset.var_attrs().try_for_each(|(var, attr)| language.attribute(Owner::Var(var), attr))?;
        language.blank()?;
    }
    language.leave_define_mode()?;
    if !dataset.options.header_only {
        for &step in language.steps() {
            language.start_step(step)?;
            for var in model.var_ids().filter(|&var| step.takes(model.var(var).dims.len())) {
                dataset.blocks(var).try_for_each(|block| language.block(step, &block))?;
            }
            language.end_step(step)?;
        }
    }
    language.close()
}

/// Writes numbers with commas between them, in the words of a language.
fn numbers(
    out: &mut dyn Write,
    block: &Block<'_>,
    mut word: impl FnMut(LiteralNumber) -> String,
) -> io::Result<()> {
    let mut between = "";
    for number in each_number(block) {
        write!(out, "{between}{}", word(number))?;
        between = ", ";
    }
    Ok(())
}

fn each_number<'b>(block: &'b Block<'_>) -> impl Iterator<Item = LiteralNumber> + 'b {
    block.parts().flat_map(|(values, range)| range.filter_map(move |at| LiteralNumber::of(values, at)))
}

/// The same for the numbers of an attribute, as a list of words.
fn words(attr: &Attr, word: impl FnMut(LiteralNumber) -> String) -> Vec<String> {
    (0..attr.value.len()).filter_map(|at| LiteralNumber::of(&attr.value, at)).map(word).collect()
}

/// Numbers with commas between them.
fn listed(numbers: impl IntoIterator<Item = u64>, comma: &str) -> String {
    numbers.into_iter().map(|number| number.to_string()).collect::<Vec<_>>().join(comma)
}
