//! The words of Fortran 77.
//!
//! The text is the reference's even where it is wrong: names stand in quotes, an unlimited dimension that has records
//! is defined with their number, options are joined by `|`. Only the numbers that the reference puts behind the ids in
//! calls are left out, for they are what happened to be in memory.

use std::io::{self, Write};

use ferrocdf::{Atomic, Attr, DimId, Owner, Values, VarId};

use super::dataset::{Block, Dataset};
use super::fold::Fold;
use super::name::fortran_text;
use super::number::LiteralNumber;
use super::{DataStep, LanguageWriter, listed, numbers, words};

/// Writes a program in Fortran 77.
pub(super) struct Fortran<'a> {
    dataset: &'a Dataset<'a>,
    out: Fold<'a>,
    /// Procedures that were called, or written, so far.
    procedures: usize,
}

/// Types that have a vector for the values of attributes, in the order of their declarations.
const TYPES: [Atomic; 6] =
    [Atomic::Byte, Atomic::Char, Atomic::Short, Atomic::Int, Atomic::Float, Atomic::Double];

/// The name of a type in Fortran, of its number, of the functions for it, and of the vector for attributes.
pub(super) fn type_names(ty: Atomic) -> (&'static str, &'static str, &'static str, &'static str) {
    match ty {
        Atomic::Byte => ("integer", "nf_byte", "int", "int1val"),
        Atomic::Char => ("integer", "nf_char", "text", "textval"),
        Atomic::Short => ("integer", "nf_short", "int", "int2val"),
        Atomic::Float => ("real ", "nf_float", "real", "realval"),
        Atomic::Double => ("double precision", "nf_double", "double", "doubleval"),
        _ => ("integer", "nf_int", "int", "intval"),
    }
}

const CHECK: &str = "subroutine check_err(stat)
integer stat
include 'netcdf.inc'
if (stat .ne. NF_NOERR) then
print *, nf_strerror(stat)
stop
endif
end
";

fn constant(number: LiteralNumber) -> String {
    match number {
        LiteralNumber::Double(_) => number.digits().replace('e', "D"),
        _ => number.digits(),
    }
}

/// How many constants the reference's `ncdump` takes to print a text: it starts another behind each line's end.
fn lines(text: &[u8]) -> usize {
    1 + text.iter().filter(|&&byte| byte == b'\n').count()
}

impl<'a> Fortran<'a> {
    pub fn new(dataset: &'a Dataset<'a>, out: &'a mut dyn Write) -> Self {
        Fortran { dataset, out: Fold::new(out), procedures: 0 }
    }

    fn var(&self, var: VarId) -> String {
        fortran_text(self.dataset.model.var(var).name.as_bytes())
    }

    fn dim(&self, dim: DimId) -> String {
        fortran_text(self.dataset.model.dim(dim).name.as_bytes())
    }

    /// The comment at the head of a section.
    fn section(&mut self, title: &str) -> io::Result<()> {
        self.out.blank()?;
        self.line(format!("* {title}"))
    }

    fn line(&mut self, line: impl AsRef<str>) -> io::Result<()> {
        writeln!(self.out, "{}", line.as_ref())
    }

    /// A call that gives `stat`, and the check of it.
    fn call(&mut self, call: impl AsRef<str>) -> io::Result<()> {
        write!(self.out, "stat = {}\ncall check_err(stat)\n", call.as_ref())
    }

    fn declare_dims(&mut self) -> io::Result<()> {
        let model = &self.dataset.model;
        if model.dims().is_empty() {
            self.out.part();
            return Ok(());
        }
        let names: Vec<_> = model.dims().iter().map(|dim| fortran_text(dim.name.as_bytes())).collect();
        self.section("dimension lengths")?;
        for (dim, name) in model.dims().iter().zip(&names) {
            let len = if dim.len == 0 { "NF_UNLIMITED".to_string() } else { dim.len.to_string() };
            write!(self.out, "integer {name}_len\nparameter ({name}_len = {len})\n")?;
        }
        self.out.part();
        self.section("dimension ids")?;
        names.iter().try_for_each(|name| self.line(format!("integer {name}_dim")))
    }

    fn declare_vars(&mut self) -> io::Result<()> {
        let model = &self.dataset.model;
        if model.vars().is_empty() {
            return Ok(());
        }
        let vars: Vec<_> = model.var_ids().map(|var| (var, self.var(var), model.shape(var))).collect();
        self.section("variable ids")?;
        vars.iter().try_for_each(|(_, name, _)| self.line(format!("integer {name}_id;")))?;
        self.section("rank (number of dimensions) for each variable")?;
        for (_, name, shape) in &vars {
            write!(self.out, "integer {name}_rank\nparameter ({name}_rank = {})\n", shape.len())?;
        }
        self.section("variable shapes")?;
        for (_, name, _) in vars.iter().filter(|(_, _, shape)| !shape.is_empty()) {
            self.line(format!("integer {name}_dims({name}_rank)"))?;
        }
        self.section("variable declarations")?;
        for (var, name, shape) in &vars {
            let ty = self.dataset.ty(*var);
            if ty == Atomic::Char || !self.dataset.has_data(*var) {
                continue;
            }
            let dims = match shape.is_empty() {
                true => String::new(),
                false => format!("({})", listed(shape.iter().rev().copied(), ", ")),
            };
            self.line(format!("{} {name}{dims}", type_names(ty).0))?;
        }
        Ok(())
    }

    /// The vectors through which values of attributes go, as long as the longest attribute of each type.
    fn declare_vectors(&mut self) -> io::Result<()> {
        let attrs = self.dataset.global_attrs().chain(self.dataset.var_attrs().map(|(_, attr)| attr));
        let mut longest = [0; TYPES.len()];
        for attr in attrs {
            let len = match &attr.value {
                Values::Char(text) => lines(text),
                other => other.len(),
            };
            let at = TYPES.iter().position(|&ty| attr.value.atomic() == Some(ty));
            if let Some(most) = at.and_then(|at| longest.get_mut(at)) {
                *most = len.max(*most);
            }
        }
        if longest == [0; TYPES.len()] {
            return Ok(());
        }
        self.section("attribute vectors")?;
        for (ty, len) in TYPES.into_iter().zip(longest).filter(|&(_, len)| len > 0) {
            let (fortran, _, _, vector) = type_names(ty);
            self.line(format!("{} {vector}({len})", fortran.trim_end()))?;
        }
        Ok(())
    }

    /// The call of a procedure that writes a block of numbers.
    fn procedure_call(&mut self, name: &str) -> io::Result<()> {
        write!(self.out, "call write_{name}_{}(ncid,{name}_id)\n\n", self.procedures)?;
        self.procedures += 1;
        Ok(())
    }

    /// The procedure itself.
    fn procedure(&mut self, block: &Block<'_>, name: &str) -> io::Result<()> {
        let (fortran, _, function, _) = type_names(self.dataset.ty(block.var));
        let rank = block.start.len();
        self.out.blank()?;
        self.line(format!("subroutine write_{name}_{}(ncid,{name}_id)", self.procedures))?;
        self.line("integer ncid")?;
        self.line(format!("integer {name}_id"))?;
        self.line("include 'netcdf.inc'")?;
        self.line("integer stat")?;
        self.out.blank()?;
        self.line(format!("integer {name}_start({rank})"))?;
        self.line(format!("integer {name}_count({rank})"))?;
        self.out.blank()?;
        self.line(format!("{fortran} {name}({})", listed(block.count.iter().rev().copied(), ",")))?;
        write!(self.out, "data {name} /")?;
        numbers(&mut self.out, block, constant)?;
        self.line("/")?;
        for (at, start) in block.start.iter().rev().enumerate() {
            self.line(format!("{name}_start({}) = {}", at + 1, start + 1))?;
        }
        for (at, count) in block.count.iter().rev().enumerate() {
            self.line(format!("{name}_count({}) = {count}", at + 1))?;
        }
        self.call(format!("nf_put_vara_{function}(ncid, {name}_id, {name}_start, {name}_count, {name})"))?;
        self.line("end")?;
        self.procedures += 1;
        Ok(())
    }

    fn scalar(&mut self, block: &Block<'_>, name: &str) -> io::Result<()> {
        let function = type_names(self.dataset.ty(block.var)).2;
        write!(self.out, "data {name} /")?;
        numbers(&mut self.out, block, constant)?;
        self.line("/")?;
        self.call(format!("nf_put_var_{function}(ncid, {name}_id, {name})"))?;
        self.out.blank()
    }

    fn text(&mut self, block: &Block<'_>, name: &str) -> io::Result<()> {
        let mut text = block.text();
        if block.start.is_empty() {
            // The reference puts a constant of C between the quotes.
            text = match text.first() {
                None | Some(0) => b"'".to_vec(),
                Some(b'\'') => b"'\\''".to_vec(),
                Some(&byte) => vec![b'\'', byte, b'\''],
            };
        }
        self.call(format!("nf_put_var_text(ncid, {name}_id, {})", fortran_text(&text)))?;
        self.out.blank()
    }
}

impl LanguageWriter for Fortran<'_> {
    fn declare(&mut self) -> io::Result<()> {
        let main =
            self.dataset.options.main_name.as_ref().map_or("main".into(), |name| name.to_string_lossy());
        self.line(format!("program {main}"))?;
        self.line("include 'netcdf.inc'")?;
        self.line("* error status return\ninteger stat")?;
        self.line("* netCDF ncid\ninteger  ncid")?;
        self.declare_dims()?;
        self.declare_vars()?;
        self.out.part();
        self.declare_vectors()
    }

    fn create(&mut self) -> io::Result<()> {
        self.out.blank()?;
        self.section("enter define mode")?;
        self.call(format!("nf_create('{}', nf_clobber, ncid);", self.dataset.file))
    }

    fn part(&mut self, title: &str) -> io::Result<()> {
        self.out.part();
        self.section(title)
    }

    fn dimension(&mut self, dim: DimId) -> io::Result<()> {
        let name = self.dim(dim);
        self.call(format!("nf_def_dim(ncid, {name}, {name}_len, {name}_dim);"))
    }

    fn variable(&mut self, var: VarId) -> io::Result<()> {
        let name = self.var(var);
        self.out.blank()?;
        let dims = &self.dataset.model.var(var).dims;
        for (at, &dim) in dims.iter().rev().enumerate() {
            self.line(format!("{name}_dims({}) = {}_dim", at + 1, self.dim(dim)))?;
        }
        let ty = type_names(self.dataset.ty(var)).1;
        let shape = if dims.is_empty() { "0".to_string() } else { format!("{name}_dims") };
        self.call(format!("nf_def_var(ncid, {name}, {ty}, {name}_rank, {shape}, {name}_id);"))
    }

    fn attribute(&mut self, owner: Owner, attr: &Attr) -> io::Result<()> {
        self.line(format!("* define {}", attr.name))?;
        let owner = match owner {
            Owner::Group(_) => "NF_GLOBAL".to_string(),
            Owner::Var(var) => self.var(var) + "_id",
        };
        let (name, len) = (fortran_text(attr.name.as_bytes()), attr.value.len());
        if let Values::Char(text) = &attr.value {
            let text = fortran_text(text);
            return self.call(format!("nf_put_att_text(ncid, {owner}, {name}, {len}, {text})"));
        }
        let (_, ty, function, vector) = type_names(attr.value.atomic().unwrap_or(Atomic::Int));
        for (at, word) in words(attr, constant).iter().enumerate() {
            self.line(format!("{vector}({}) = {word}", at + 1))?;
        }
        self.call(format!("nf_put_att_{function}(ncid, {owner}, {name}, {ty}, {len}, {vector})"))
    }

    fn blank(&mut self) -> io::Result<()> {
        self.out.blank()
    }

    fn leave_define_mode(&mut self) -> io::Result<()> {
        self.out.part();
        if self.dataset.options.no_fill {
            self.line("* don't initialize variables with fill values")?;
            self.call("nf_set_fill(ncid, NC_NOFILL, 0);")?;
        }
        self.section("leave define mode")?;
        self.call("nf_enddef(ncid);")?;
        self.out.blank()?;
        self.out.part();
        Ok(())
    }

    fn steps(&self) -> &'static [DataStep] {
        &[DataStep::Scalars, DataStep::Arrays, DataStep::Procedures]
    }

    fn start_step(&mut self, step: DataStep) -> io::Result<()> {
        let title = match step {
            DataStep::Scalars => "assign scalar and fixed dimension variable data",
            DataStep::Arrays => "perform variable data writes",
            DataStep::Procedures if self.procedures > 0 => {
                self.procedures = 0;
                return self.out.blank();
            }
            DataStep::Procedures | DataStep::All => return Ok(()),
        };
        if self.dataset.model.vars().is_empty() {
            return Ok(());
        }
        self.out.blank()?;
        self.section(title)
    }

    fn block(&mut self, step: DataStep, block: &Block<'_>) -> io::Result<()> {
        let name = self.var(block.var);
        match (step, self.dataset.ty(block.var)) {
            (DataStep::Procedures, Atomic::Char) => Ok(()),
            (DataStep::Procedures, _) => self.procedure(block, &name),
            (_, Atomic::Char) => self.text(block, &name),
            (DataStep::Arrays, _) => self.procedure_call(&name),
            _ => self.scalar(block, &name),
        }
    }

    fn end_step(&mut self, step: DataStep) -> io::Result<()> {
        match step {
            DataStep::Scalars if !self.dataset.model.vars().is_empty() => self.out.blank(),
            DataStep::Arrays => {
                self.call("nf_close(ncid)")?;
                self.line("end")
            }
            DataStep::Procedures if self.procedures > 0 => self.out.blank(),
            _ => Ok(()),
        }
    }

    fn close(&mut self) -> io::Result<()> {
        self.out.part();
        write!(self.out, "{CHECK}")
    }
}
