//! The C of `ncgen3`: numbers as the text has them, each variable written by one call.
//!
//! Other than in the reference, `-k classic` makes a classic file, characters that need an escape have one, and reals
//! that C has no digits for are written as quotients.

use std::io::{self, Write};

use ferrocdf::{Atomic, Attr, DimId, Format, Values, VarId};

use super::c::type_names;
use super::dataset::Dataset;
use super::name::{c_byte, c_text, spelled};
use super::number::LiteralNumber;
use super::{each_number, words};

/// A line of values is shorter than this.
const MOST: usize = 1320;

/// Writes a program in C.
pub(super) struct OldC<'a> {
    pub dataset: &'a Dataset<'a>,
    pub out: &'a mut dyn Write,
}

const HEAD: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <netcdf.h>

void
check_err(const int stat, const int line, const char *file) {
    if (stat != NC_NOERR) {
	   (void) fprintf(stderr, "line %d of %s: %s\n", line, file, nc_strerror(stat));
        exit(1);
    }
}

int
"#;

/// The type of the vector that holds an attribute, which names the function for it too.
fn vector_type(ty: Atomic) -> &'static str {
    match ty {
        Atomic::Byte => "int",
        ty => type_names(ty).0,
    }
}

/// A number that C has digits for, or a quotient.
fn constant(number: LiteralNumber, digits: String) -> String {
    match digits.as_str() {
        _ if number.is_nan() => "(0.0/0.0)".to_string(),
        "inf" => "(1.0/0.0)".to_string(),
        "-inf" => "(-1.0/0.0)".to_string(),
        _ => digits,
    }
}

/// A number among data.
fn datum(number: LiteralNumber) -> String {
    constant(number, number.digits_with_point())
}

/// A string constant; bytes above ASCII are escaped.
fn text(bytes: &[u8]) -> String {
    if bytes == [0] {
        return "\"\"".to_string();
    }
    let mut made = String::from("\"");
    for &byte in bytes {
        made.push_str(&escaped(byte, b'"'));
    }
    made + "\""
}

fn escaped(byte: u8, quote: u8) -> String {
    if !byte.is_ascii() {
        return format!("\\{byte:03o}");
    }
    let mut made = vec![];
    c_byte(byte, quote, &mut made);
    made.into_iter().map(char::from).collect()
}

impl OldC<'_> {
    /// The whole program.
    pub fn write(mut self) -> io::Result<()> {
        self.declare()?;
        self.create()?;
        self.define()?;
        self.attributes()?;
        if self.dataset.options.no_fill {
            writeln!(self.out, "   /* don't initialize variables with fill values */")?;
            self.call("nc_set_fill(ncid, NC_NOFILL, 0)")?;
        }
        write!(self.out, "\n   /* leave define mode */\n")?;
        self.call("nc_enddef (ncid)")?;
        for var in self.dataset.filled() {
            write!(self.out, "\n   {{\t\t\t/* store {} */\n", self.dataset.model.var(var).name)?;
            self.store(var)?;
            writeln!(self.out, "    check_err(stat,__LINE__,__FILE__);\n   }}")?;
        }
        self.call("nc_close(ncid)")?;
        writeln!(self.out, "   return 0;\n}}")
    }

    fn var(&self, var: VarId) -> String {
        spelled(self.dataset.model.var(var).name.as_bytes())
    }

    fn dim(&self, dim: DimId) -> String {
        spelled(self.dataset.model.dim(dim).name.as_bytes())
    }

    fn call(&mut self, call: impl AsRef<str>) -> io::Result<()> {
        writeln!(self.out, "   stat = {};\n   check_err(stat,__LINE__,__FILE__);", call.as_ref())
    }

    fn title(&mut self, title: &str) -> io::Result<()> {
        writeln!(self.out, "\n   /* {title} */")
    }

    fn declare(&mut self) -> io::Result<()> {
        let model = &self.dataset.model;
        write!(self.out, "{HEAD}main() {{\t\t\t/* create {} */\n\n", self.dataset.file)?;
        write!(self.out, "   int  stat;\t\t\t/* return status */\n   int  ncid;\t\t\t/* netCDF id */\n")?;
        if !model.dims().is_empty() {
            let dims: Vec<_> = model.dims().iter().map(|dim| (spelled(dim.name.as_bytes()), dim)).collect();
            self.title("dimension ids")?;
            dims.iter().try_for_each(|(name, _)| writeln!(self.out, "   int {name}_dim;"))?;
            self.title("dimension lengths")?;
            for (name, dim) in dims {
                let len = if dim.unlimited { "NC_UNLIMITED".to_string() } else { dim.len.to_string() };
                writeln!(self.out, "   size_t {name}_len = {len};")?;
            }
        }
        let vars: Vec<_> = model.var_ids().map(|var| (self.var(var), model.var(var).dims.len())).collect();
        if !vars.is_empty() {
            self.title("variable ids")?;
            vars.iter().try_for_each(|(name, _)| writeln!(self.out, "   int {name}_id;"))?;
            self.title("rank (number of dimensions) for each variable")?;
            vars.iter().try_for_each(|(name, rank)| writeln!(self.out, "#  define RANK_{name} {rank}"))?;
        }
        if vars.iter().any(|&(_, rank)| rank > 0) {
            self.title("variable shapes")?;
            let mut arrays = vars.iter().filter(|&&(_, rank)| rank > 0);
            arrays.try_for_each(|(name, _)| writeln!(self.out, "   int {name}_dims[RANK_{name}];"))?;
        }
        let is_vector = |&(_, attr): &(_, &Attr)| attr.value.atomic() != Some(Atomic::Char);
        let vectors: Vec<_> = self.dataset.attrs().filter(is_vector).collect();
        if !vectors.is_empty() {
            self.title("attribute vectors")?;
        }
        for (var, attr) in vectors {
            let ty = vector_type(attr.value.atomic().unwrap_or(Atomic::Int));
            writeln!(self.out, "   {ty} {}[{}];", self.vector(var, attr), attr.value.len())?;
        }
        Ok(())
    }

    /// The vector that holds an attribute.
    fn vector(&self, var: Option<VarId>, attr: &Attr) -> String {
        let owner = var.map_or("cdf".to_string(), |var| self.var(var));
        format!("{owner}_{}", spelled(attr.name.as_bytes()))
    }

    fn create(&mut self) -> io::Result<()> {
        self.title("enter define mode")?;
        let mode = match self.dataset.options.format {
            Some(Format::OFFSET64) => "NC_CLOBBER|NC_64BIT_OFFSET",
            Some(Format::NETCDF4) => "NC_CLOBBER|NC_NETCDF4",
            Some(Format::NETCDF4_CLASSIC) => "NC_CLOBBER|NC_NETCDF4|NC_CLASSIC_MODEL",
            _ => "NC_CLOBBER",
        };
        self.call(format!("nc_create(\"{}\", {mode}, &ncid)", self.dataset.file))
    }

    fn define(&mut self) -> io::Result<()> {
        let model = &self.dataset.model;
        let quoted = |name: &[u8]| String::from_utf8_lossy(&c_text(name)).into_owned();
        if !model.dims().is_empty() {
            self.title("define dimensions")?;
        }
        for dim in model.dims() {
            let (name, plain) = (spelled(dim.name.as_bytes()), quoted(dim.name.as_bytes()));
            self.call(format!("nc_def_dim(ncid, \"{plain}\", {name}_len, &{name}_dim)"))?;
        }
        if !model.vars().is_empty() {
            self.title("define variables")?;
        }
        for var in model.var_ids() {
            writeln!(self.out)?;
            let (name, plain) = (self.var(var), quoted(model.var(var).name.as_bytes()));
            for (at, &dim) in model.var(var).dims.iter().enumerate() {
                let dim = self.dim(dim);
                writeln!(self.out, "   {name}_dims[{at}] = {dim}_dim;")?;
            }
            let shape = if model.var(var).dims.is_empty() { "0".to_string() } else { format!("{name}_dims") };
            let ty = type_names(self.dataset.ty(var)).1;
            self.call(format!("nc_def_var(ncid, \"{plain}\", {ty}, RANK_{name}, {shape}, &{name}_id)"))?;
        }
        Ok(())
    }

    fn attributes(&mut self) -> io::Result<()> {
        if self.dataset.attrs().next().is_some() {
            self.title("assign attributes")?;
        }
        for (var, attr) in self.dataset.attrs() {
            let owner = var.map_or("NC_GLOBAL".to_string(), |var| self.var(var) + "_id");
            let name = c_text(attr.name.as_bytes());
            let (name, len) = (String::from_utf8_lossy(&name), attr.value.len());
            if let Values::Char(bytes) = &attr.value {
                let text = text(bytes);
                self.call(format!("nc_put_att_text(ncid, {owner}, \"{name}\", {len}, {text})"))?;
                continue;
            }
            let vector = self.vector(var, attr);
            for (at, word) in words(attr, |number| constant(number, number.digits())).iter().enumerate() {
                writeln!(self.out, "   {vector}[{at}] = {word};")?;
            }
            let ty = attr.value.atomic().unwrap_or(Atomic::Int);
            let (function, number) = (vector_type(ty), type_names(ty).1);
            let call = format!("nc_put_att_{function}(ncid, {owner}, \"{name}\", {number}, {len}, {vector})");
            self.call(call)?;
        }
        Ok(())
    }

    /// The data of a variable and the call that writes it.
    fn store(&mut self, var: VarId) -> io::Result<()> {
        let model = &self.dataset.model;
        let (name, dims) = (self.var(var), &model.var(var).dims);
        let (ty, _, function) = type_names(self.dataset.ty(var));
        let block = self.dataset.whole(var);
        if dims.is_empty() {
            let value = match block.text().first() {
                Some(&byte) => format!("'{}'", escaped(byte, b'\'')),
                None => each_number(&block).map(datum).collect(),
            };
            writeln!(self.out, "    static {ty} {name} = {value};")?;
            return writeln!(self.out, "    stat = nc_put_var_{function}(ncid, {name}_id, &{name});");
        }
        let is_record = model.is_record(var);
        if is_record {
            for part in ["start", "count"] {
                writeln!(self.out, "    static size_t {name}_{part}[RANK_{name}];")?;
            }
        }
        let start = format!("    static {ty} {name}[] = {{");
        match self.dataset.ty(var) {
            Atomic::Char => writeln!(self.out, "{start}{}}};", text(&block.text()))?,
            _ => self.list(start, each_number(&block))?,
        }
        if !is_record {
            return writeln!(self.out, "    stat = nc_put_var_{function}(ncid, {name}_id, {name});");
        }
        let (record, plain) = (self.dim(dims[0]), &model.var(var).name);
        let records = self.dataset.records(var);
        writeln!(self.out, "    {record}_len = {records};\t\t\t/* number of records of {plain} data */")?;
        (0..dims.len()).try_for_each(|at| writeln!(self.out, "    {name}_start[{at}] = 0;"))?;
        for (at, &dim) in dims.iter().enumerate() {
            let dim = self.dim(dim);
            writeln!(self.out, "    {name}_count[{at}] = {dim}_len;")?;
        }
        let places = format!("{name}_start, {name}_count");
        writeln!(self.out, "    stat = nc_put_vara_{function}(ncid, {name}_id, {places}, {name});")
    }

    /// Numbers with commas between them, in lines of limited length.
    fn list(&mut self, start: String, numbers: impl Iterator<Item = LiteralNumber>) -> io::Result<()> {
        let mut line = start;
        let mut numbers = numbers.peekable();
        while let Some(number) = numbers.next() {
            let comma = if numbers.peek().is_some() { ", " } else { "" };
            let word = datum(number) + comma;
            if line.len() + word.len() >= MOST {
                writeln!(self.out, "{line}")?;
                line.clear();
            }
            line.push_str(&word);
        }
        writeln!(self.out, "{line}}};")
    }
}
