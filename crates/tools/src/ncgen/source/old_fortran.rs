//! The Fortran of `ncgen3`: data in statements of their own, record variables in a procedure.
//!
//! Other than in the reference, data statements have all values (it leaves out whatever is shorter than the statement
//! so far), and may take as many lines as they need.

use std::io::{self, Write};

use ferrocdf::model::Dim;
use ferrocdf::{Atomic, Attr, Format, Values, VarId};

use super::dataset::Dataset;
use super::fortran::type_names;
use super::name::{fortran_text, spelled};
use super::number::LiteralNumber;
use super::{each_number, words};

/// Characters of a statement on one line.
const WIDTH: usize = 66;

/// The marks of lines that go on, in turn.
const MARKS: [char; 10] = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '+'];

/// Writes a program in Fortran 77.
pub(super) struct OldFortran<'a> {
    pub dataset: &'a Dataset<'a>,
    pub out: &'a mut dyn Write,
}

/// The words for a variable.
struct Words {
    var: VarId,
    plain: String,
    name: String,
    ty: Atomic,
    /// The names of its dimensions.
    dims: Vec<String>,
}

/// The types of attributes, in the order of their vectors.
const TYPES: [Atomic; 5] = [Atomic::Byte, Atomic::Short, Atomic::Int, Atomic::Float, Atomic::Double];

/// The name of a type's number.
fn number_name(ty: Atomic) -> &'static str {
    match ty {
        Atomic::Byte => "NF_INT1",
        Atomic::Char => "NF_CHAR",
        Atomic::Short => "NF_INT2",
        Atomic::Float => "NF_REAL",
        Atomic::Double => "NF_DOUBLE",
        _ => "NF_INT",
    }
}

/// The name of a type's fill value.
fn fill_name(ty: Atomic) -> &'static str {
    match ty {
        Atomic::Byte => "NF_FILL_BYTE",
        Atomic::Char => "NF_FILL_CHAR",
        Atomic::Short => "NF_FILL_SHORT",
        Atomic::Float => "NF_FILL_FLOAT",
        Atomic::Double => "NF_FILL_DOUBLE",
        _ => "NF_FILL_INT",
    }
}

/// The type of a declaration.
fn declared(ty: Atomic) -> &'static str {
    type_names(ty).0.trim_end()
}

/// A number, whose exponent tells its precision.
fn constant(number: LiteralNumber, digits: String) -> String {
    match number {
        LiteralNumber::Double(_) => digits.replace('e', "d"),
        _ => digits,
    }
}

/// A text, with two backslashes for each, as many compilers want it.
fn text(bytes: &[u8]) -> String {
    let doubled = bytes.iter().flat_map(|&byte| std::iter::repeat_n(byte, 1 + usize::from(byte == b'\\')));
    fortran_text(&doubled.collect::<Vec<_>>())
}

impl OldFortran<'_> {
    /// The whole program.
    pub fn write(mut self) -> io::Result<()> {
        let vars: Vec<Words> = self.dataset.model.var_ids().map(|var| self.words(var)).collect();
        let records: Vec<&Words> = vars.iter().filter(|var| self.is_record(var)).collect();
        self.declare(&vars)?;
        self.define(&vars)?;
        self.attributes()?;
        if self.dataset.options.no_fill {
            self.line("* don't initialize variables with fill values")?;
            self.call("nf_set_fill(ncid, NF_NOFILL, oldmode)")?;
        }
        self.line("* leave define mode")?;
        self.call("nf_enddef(ncid)")?;
        for var in self.dataset.filled().map(|var| &vars[var.index()]) {
            if !self.is_record(var) {
                self.store(var)?;
            }
        }
        let ids: Vec<_> = records.iter().map(|var| format!("{}_id", var.name)).collect();
        let arguments = format!("writerecs(ncid,{})", ids.join(","));
        if !records.is_empty() {
            self.lines([" ", "* Write record variables"])?;
            self.line(format!("call {arguments}"))?;
        }
        self.line(" ")?;
        self.call("nf_close(ncid)")?;
        self.lines(["end", " "])?;
        if !records.is_empty() {
            self.line(format!("subroutine {arguments}"))?;
            self.declare_records(&records)?;
            self.store_records(&records)?;
            self.lines([" ", "end", " "])?;
        }
        self.lines([
            "subroutine check_err(iret)",
            "integer iret",
            "include 'netcdf.inc'",
            "if (iret .ne. NF_NOERR) then",
            "print *, nf_strerror(iret)",
            "stop",
            "endif",
            "end",
        ])
    }

    fn words(&self, var: VarId) -> Words {
        let model = &self.dataset.model;
        let entry = model.var(var);
        let dims = entry.dims.iter().map(|&dim| spelled(model.dim(dim).name.as_bytes())).collect();
        let (plain, name) = (entry.name.to_string(), spelled(entry.name.as_bytes()));
        Words { var, plain, name, ty: self.dataset.ty(var), dims }
    }

    fn is_record(&self, var: &Words) -> bool {
        self.dataset.model.is_record(var.var)
    }

    /// A comment, or a statement on as many lines as it needs.
    fn line(&mut self, line: impl AsRef<str>) -> io::Result<()> {
        let line = line.as_ref();
        if line.starts_with('*') {
            return writeln!(self.out, "{line}");
        }
        for (at, part) in line.as_bytes().chunks(WIDTH).enumerate() {
            let mark = if at == 0 { ' ' } else { MARKS[(at - 1) % MARKS.len()] };
            write!(self.out, "     {mark}")?;
            self.out.write_all(part)?;
            writeln!(self.out)?;
        }
        Ok(())
    }

    fn lines<const N: usize>(&mut self, lines: [&str; N]) -> io::Result<()> {
        lines.into_iter().try_for_each(|line| self.line(line))
    }

    /// A call that gives `iret`, and the check of it.
    fn call(&mut self, call: impl AsRef<str>) -> io::Result<()> {
        self.line(format!("iret = {}", call.as_ref()))?;
        self.line("call check_err(iret)")
    }

    fn declare(&mut self, vars: &[Words]) -> io::Result<()> {
        self.lines(["program fgennc", "include 'netcdf.inc'"])?;
        self.lines(["* error status return", "integer  iret", "* netCDF id", "integer  ncid"])?;
        if self.dataset.options.no_fill {
            self.lines(["* to save old fill mode before changing it temporarily", "integer  oldmode"])?;
        }
        let dims: Vec<(String, &Dim)> =
            self.dataset.model.dims().iter().map(|dim| (spelled(dim.name.as_bytes()), dim)).collect();
        if !dims.is_empty() {
            self.line("* dimension ids")?;
            dims.iter().try_for_each(|(name, _)| self.line(format!("integer  {name}_dim")))?;
            self.line("* dimension lengths")?;
            dims.iter().try_for_each(|(name, _)| self.line(format!("integer  {name}_len")))?;
            for (name, dim) in dims {
                let len = if dim.unlimited { "NF_UNLIMITED".to_string() } else { dim.len.to_string() };
                self.line(format!("parameter ({name}_len = {len})"))?;
            }
        }
        if !vars.is_empty() {
            self.line("* variable ids")?;
            vars.iter().try_for_each(|var| self.line(format!("integer  {}_id", var.name)))?;
            self.declare_ranks(vars.iter())?;
            self.line("* variable shapes")?;
            for var in vars.iter().filter(|var| !var.dims.is_empty()) {
                self.line(format!("integer  {0}_dims({0}_rank)", var.name))?;
            }
            self.line("* data variables")?;
            for var in vars.iter().filter(|var| var.ty != Atomic::Char) {
                if !self.is_record(var) {
                    self.declare_data(var, None)?;
                }
            }
        }
        self.declare_vectors()
    }

    fn declare_ranks<'w>(&mut self, vars: impl Iterator<Item = &'w Words> + Clone) -> io::Result<()> {
        self.line("* rank (number of dimensions) for each variable")?;
        vars.clone().try_for_each(|var| self.line(format!("integer  {}_rank", var.name)))?;
        for var in vars {
            self.line(format!("parameter ({}_rank = {})", var.name, var.dims.len()))?;
        }
        Ok(())
    }

    /// The array of a variable's data; `records` stands for the length of its first dimension.
    fn declare_data(&mut self, var: &Words, records: Option<String>) -> io::Result<()> {
        let mut lens: Vec<_> = var.dims.iter().map(|dim| format!("{dim}_len")).collect();
        if let (Some(first), Some(records)) = (lens.first_mut(), records) {
            *first = records;
        }
        lens.reverse();
        let shape = if lens.is_empty() { String::new() } else { format!("({})", lens.join(", ")) };
        self.line(format!("{}  {}{shape}", declared(var.ty), var.name))
    }

    /// The vectors through which values of attributes go, as long as the longest attribute of each type.
    fn declare_vectors(&mut self) -> io::Result<()> {
        if self.dataset.attrs().next().is_some() {
            self.line("* attribute vectors")?;
        }
        for ty in TYPES {
            let of_type = |(_, attr): (_, &Attr)| (attr.value.atomic() == Some(ty)).then(|| attr.value.len());
            if let Some(longest) = self.dataset.attrs().filter_map(of_type).max() {
                self.line(format!("{}  {}({longest})", declared(ty), type_names(ty).3))?;
            }
        }
        Ok(())
    }

    fn define(&mut self, vars: &[Words]) -> io::Result<()> {
        self.line("* enter define mode")?;
        let mode = match self.dataset.options.format {
            Some(Format::OFFSET64) => "OR(NF_CLOBBER,NF_64BIT_OFFSET)",
            Some(Format::NETCDF4) => "OR(NF_CLOBBER,NF_NETCDF4)",
            Some(Format::NETCDF4_CLASSIC) => "OR(NF_CLOBBER,NF_NETCDF4,NF_CLASSIC_MODEL)",
            _ => "NF_CLOBBER",
        };
        self.call(format!("nf_create('{}', {mode}, ncid)", self.dataset.file))?;
        let dims = self.dataset.model.dims();
        if !dims.is_empty() {
            self.line("* define dimensions")?;
        }
        for dim in dims {
            let len = if dim.unlimited { "NF_UNLIMITED".to_string() } else { dim.len.to_string() };
            let name = spelled(dim.name.as_bytes());
            self.call(format!("nf_def_dim(ncid, '{}', {len}, {name}_dim)", dim.name))?;
        }
        if !vars.is_empty() {
            self.line("* define variables")?;
        }
        for Words { plain, name, ty, dims, .. } in vars {
            for (at, dim) in dims.iter().enumerate() {
                self.line(format!("{name}_dims({}) = {dim}_dim", dims.len() - at))?;
            }
            let shape = if dims.is_empty() { "0".to_string() } else { format!("{name}_dims") };
            let ty = number_name(*ty);
            self.call(format!("nf_def_var(ncid, '{plain}', {ty}, {name}_rank, {shape}, {name}_id)"))?;
        }
        Ok(())
    }

    fn attributes(&mut self) -> io::Result<()> {
        if self.dataset.attrs().next().is_some() {
            self.line("* assign attributes")?;
        }
        for (var, attr) in self.dataset.attrs() {
            let id = var.map(|var| spelled(self.dataset.model.var(var).name.as_bytes()) + "_id");
            let (name, len) = (&attr.name, attr.value.len());
            if let Values::Char(bytes) = &attr.value {
                let (id, text) = (id.as_deref().unwrap_or("NF_GLOBAL"), text(bytes));
                self.call(format!("nf_put_att_text(ncid, {id}, '{name}', {len}, {text})"))?;
                continue;
            }
            let ty = attr.value.atomic().unwrap_or(Atomic::Int);
            let (_, _, function, vector) = type_names(ty);
            for (at, word) in words(attr, |number| constant(number, number.digits())).iter().enumerate() {
                self.line(format!("{vector}({}) = {word}", at + 1))?;
            }
            let (id, ty) = (id.as_deref().unwrap_or("NCGLOBAL"), number_name(ty));
            self.call(format!("nf_put_att_{function}(ncid, {id}, '{name}', {ty}, {len}, {vector})"))?;
        }
        Ok(())
    }

    /// The statement that gives a variable its values.
    fn data(&mut self, var: &Words) -> io::Result<()> {
        let datum = |number: LiteralNumber| constant(number, number.digits_with_point());
        let values: Vec<_> = each_number(&self.dataset.whole(var.var)).map(datum).collect();
        self.line(format!("data {} /{}/", var.name, values.join(", ")))
    }

    /// The data of a variable of fixed size, and the call that writes it.
    fn store(&mut self, var: &Words) -> io::Result<()> {
        let Words { plain, name, ty, .. } = var;
        self.line(format!("* store {plain}"))?;
        let values = match ty {
            Atomic::Char => text(&self.dataset.whole(var.var).text()),
            _ => {
                self.data(var)?;
                name.clone()
            }
        };
        self.call(format!("nf_put_var_{}(ncid, {name}_id, {values})", type_names(*ty).2))
    }

    /// The declarations of the procedure that writes record variables.
    fn declare_records(&mut self, records: &[&Words]) -> io::Result<()> {
        self.lines([" ", "* netCDF id", "integer  ncid", "* variable ids"])?;
        records.iter().try_for_each(|var| self.line(format!("integer  {}_id", var.name)))?;
        self.lines([" ", "include 'netcdf.inc'", "* error status return", "integer  iret", " "])?;
        self.line("* netCDF dimension sizes for dimensions used with record variables")?;
        for dim in self.dataset.model.dims().iter().filter(|dim| !dim.unlimited) {
            let name = spelled(dim.name.as_bytes());
            if records.iter().any(|var| var.dims.contains(&name)) {
                self.line(format!("integer  {name}_len"))?;
                self.line(format!("parameter ({name}_len = {})", dim.len))?;
            }
        }
        self.line(" ")?;
        self.declare_ranks(records.iter().copied())?;
        self.line("* starts and counts for array sections of record variables")?;
        for Words { name, .. } in records {
            self.line(format!("integer  {name}_start({name}_rank), {name}_count({name}_rank)"))?;
        }
        self.lines([" ", "* data variables"])?;
        for var in records {
            let (name, count) = (&var.name, self.dataset.records(var.var).max(1));
            self.line(" ")?;
            self.line(format!("integer  {name}_nr"))?;
            self.line(format!("parameter ({name}_nr = {count})"))?;
            if var.ty != Atomic::Char {
                self.declare_data(var, Some(format!("{name}_nr")))?;
            }
        }
        self.line(" ")
    }

    /// The rest of that procedure.
    fn store_records(&mut self, records: &[&Words]) -> io::Result<()> {
        for var in records.iter().filter(|var| var.ty != Atomic::Char) {
            if self.dataset.has_data(var.var) {
                self.data(var)?;
                continue;
            }
            let row: u64 = self.dataset.model.shape(var.var)[1..].iter().product();
            self.line(format!("data {} /{row} * {}/", var.name, fill_name(var.ty)))?;
        }
        self.line(" ")?;
        for var in records.iter().filter(|var| self.dataset.has_data(var.var)) {
            let Words { name, dims, ty, .. } = var;
            self.line(format!("* store {}", var.plain))?;
            (1..=dims.len()).try_for_each(|at| self.line(format!("{name}_start({at}) = 1")))?;
            for (at, dim) in dims.iter().enumerate().skip(1).rev() {
                self.line(format!("{name}_count({}) = {dim}_len", dims.len() - at))?;
            }
            self.line(format!("{name}_count({}) = {name}_nr", dims.len()))?;
            let values = match ty {
                Atomic::Char => text(&self.dataset.whole(var.var).text()),
                _ => name.clone(),
            };
            let places = format!("{name}_start, {name}_count");
            let function = type_names(*ty).2;
            self.call(format!("nf_put_vara_{function}(ncid, {name}_id, {places}, {values})"))?;
        }
        Ok(())
    }
}
