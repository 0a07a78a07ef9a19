//! The words of Java.
//!
//! The program is one for version 4 of the Java library, which had `NetcdfFileWriteable`. Other than in the reference,
//! backslashes in text, infinities, and characters of variables without dimensions are written so that the compiler
//! takes them. As there, text ends at the first zero byte.

use std::io::{self, Write};

use ferrocdf::{Atomic, Attr, DimId, Owner, Values, VarId};

use super::dataset::{Block, Dataset};
use super::name::{identifier, java_text, java_unit};
use super::number::LiteralNumber;
use super::{DataStep, LanguageWriter, listed, numbers, words};

/// Writes a program in Java.
pub(super) struct Java<'a> {
    pub dataset: &'a Dataset<'a>,
    pub out: &'a mut dyn Write,
}

/// The name of a type, and of the classes and methods for it.
fn type_names(ty: Atomic) -> (&'static str, &'static str) {
    match ty {
        Atomic::Byte => ("byte", "Byte"),
        Atomic::Char => ("char", "Char"),
        Atomic::Short => ("short", "Short"),
        Atomic::Int => ("int", "Int"),
        Atomic::Float => ("float", "Float"),
        Atomic::Double => ("double", "Double"),
        Atomic::String => ("String", "String"),
        Atomic::Ubyte | Atomic::Ushort | Atomic::Uint | Atomic::Int64 | Atomic::Uint64 => ("long", "Long"),
    }
}

/// A number as a constant of its type.
fn constant(number: LiteralNumber) -> String {
    let (class, value) = match number {
        LiteralNumber::Integer(value) => return value.to_string(),
        LiteralNumber::Float(value) => ("float", f64::from(value)),
        LiteralNumber::Double(value) => ("double", value),
    };
    let object = if class == "float" { "Float" } else { "Double" };
    match value {
        _ if value.is_nan() => format!("{object}.NaN"),
        f64::INFINITY => format!("{object}.POSITIVE_INFINITY"),
        f64::NEG_INFINITY => format!("{object}.NEGATIVE_INFINITY"),
        _ => format!("(({class}){})", number.digits()),
    }
}

impl Java<'_> {
    fn var(&self, var: VarId) -> &[u8] {
        self.dataset.model.var(var).name.as_bytes()
    }

    fn dim(&self, dim: DimId) -> &[u8] {
        self.dataset.model.dim(dim).name.as_bytes()
    }

    fn scalar(&mut self, block: &Block<'_>, ty: Atomic) -> io::Result<()> {
        let (java, class) = type_names(ty);
        writeln!(self.out, "    Array{class}.D0 data = new Array{class}.D0();")?;
        write!(self.out, "    data.set(({java})")?;
        for byte in block.text() {
            let mut quoted = "'".to_string();
            java_unit(byte.into(), b'\'', &mut quoted);
            write!(self.out, "{quoted}'")?;
        }
        numbers(self.out, block, constant)?;
        writeln!(self.out, ");\n    ncfile.write(\"{}\",data);", java_text(self.var(block.var)))
    }

    fn array(&mut self, block: &Block<'_>, ty: Atomic) -> io::Result<()> {
        let (java, class) = type_names(ty);
        if ty == Atomic::Char {
            writeln!(self.out, "    String contents = \"{}\";", java_text(&block.text()))?;
        } else {
            write!(self.out, "    {java}[] contents = new {java}[] {{")?;
            numbers(self.out, block, constant)?;
            writeln!(self.out, "}};")?;
        }
        let shape = listed(self.dataset.model.shape(block.var), ", ");
        writeln!(self.out, "    Array{class} data = new Array{class}(new int[]{{{shape}}});")?;
        writeln!(self.out, "    IndexIterator iter = data.getIndexIterator();")?;
        writeln!(self.out, "    int count = 0;\n    while(iter.hasNext())")?;
        let next = if ty == Atomic::Char { "contents.charAt(count++)" } else { "contents[count++]" };
        writeln!(self.out, "        iter.set{class}Next({next});")?;
        let origin = listed(block.start.iter().copied(), ", ");
        writeln!(self.out, "    int[] origin = new int[]{{{origin}}};")?;
        writeln!(self.out, "    ncfile.write(\"{}\",origin,data);", java_text(self.var(block.var)))
    }
}

impl LanguageWriter for Java<'_> {
    fn declare(&mut self) -> io::Result<()> {
        let main = self.dataset.options.main_name.as_ref().filter(|&name| name != "main");
        let main = main.map_or("Main".into(), |name| name.to_string_lossy());
        for package in ["java.util.*", "ucar.ma2.*", "ucar.nc2.*", "ucar.nc2.NetcdfFile.*"] {
            writeln!(self.out, "import {package};")?;
        }
        write!(self.out, "\npublic class {main}\n{{\n\n")?;
        write!(self.out, "static public void main(String[] argv) throws Exception\n{{\n")?;
        if !self.dataset.model.dims().is_empty() {
            self.part("dimension lengths")?;
        }
        for dim in self.dataset.model.dims() {
            let name = identifier(dim.name.as_bytes());
            writeln!(self.out, "    final int {name}_len = {};", dim.len)?;
        }
        self.blank()
    }

    fn create(&mut self) -> io::Result<()> {
        self.part("enter define mode")?;
        let (file, fill) = (&self.dataset.file, !self.dataset.options.no_fill);
        let class = "NetcdfFileWriteable";
        writeln!(self.out, "    {class} ncfile = {class}.createNew(\"{file}\", {fill});")
    }

    fn part(&mut self, title: &str) -> io::Result<()> {
        write!(self.out, "\n    /* {title} */\n")
    }

    fn dimension(&mut self, dim: DimId) -> io::Result<()> {
        let (name, text) = (identifier(self.dim(dim)), java_text(self.dim(dim)));
        let call = match self.dataset.model.dim(dim).len {
            0 => format!("addUnlimitedDimension(\"{text}\")"),
            _ => format!("addDimension(\"{text}\", {name}_len)"),
        };
        writeln!(self.out, "    Dimension {name}_dim = ncfile.{call};")
    }

    fn variable(&mut self, var: VarId) -> io::Result<()> {
        let name = identifier(self.var(var));
        writeln!(self.out, "\n    ArrayList {name}_dimlist = new ArrayList();")?;
        for &dim in &self.dataset.model.var(var).dims {
            let dim = identifier(self.dim(dim));
            writeln!(self.out, "    {name}_dimlist.add({dim}_dim);")?;
        }
        let ty = type_names(self.dataset.ty(var)).0.to_uppercase();
        let text = java_text(self.var(var));
        writeln!(self.out, "    ncfile.addVariable(\"{text}\", DataType.{ty}, {name}_dimlist);")
    }

    fn attribute(&mut self, owner: Owner, attr: &Attr) -> io::Result<()> {
        writeln!(self.out, "    /* attribute: {} */", attr.name)?;
        let name = java_text(attr.name.as_bytes());
        let call = match owner {
            Owner::Var(var) => {
                format!("ncfile.addVariableAttribute(\"{}\",\"{name}\",", java_text(self.var(var)))
            }
            Owner::Group(_) => format!("ncfile.addGlobalAttribute(\"{name}\","),
        };
        if let Values::Char(text) = &attr.value {
            return writeln!(self.out, "    {call}\"{}\");", java_text(text));
        }
        let java = type_names(attr.value.atomic().unwrap_or(Atomic::String)).0;
        let (len, list) = (attr.value.len(), words(attr, constant).join(", "));
        writeln!(
            self.out,
            "    {{\n    Array data = Array.factory({java}.class, new int[]{{{len}}}, new {java}[]{{{list}}});"
        )?;
        write!(self.out, "    {call}data);\n    }}\n")
    }

    fn blank(&mut self) -> io::Result<()> {
        writeln!(self.out)
    }

    fn leave_define_mode(&mut self) -> io::Result<()> {
        writeln!(self.out, "    ncfile.create();")
    }

    fn steps(&self) -> &'static [DataStep] {
        if self.dataset.model.vars().is_empty() { &[] } else { &[DataStep::All] }
    }

    fn start_step(&mut self, _step: DataStep) -> io::Result<()> {
        self.part("assign variable data")
    }

    fn block(&mut self, _step: DataStep, block: &Block<'_>) -> io::Result<()> {
        let ty = self.dataset.ty(block.var);
        write!(self.out, "\n    {{\n")?;
        match block.start.is_empty() {
            true => self.scalar(block, ty)?,
            false => self.array(block, ty)?,
        }
        writeln!(self.out, "    }}")
    }

    fn end_step(&mut self, _step: DataStep) -> io::Result<()> {
        self.blank()
    }

    fn close(&mut self) -> io::Result<()> {
        write!(self.out, "    ncfile.close();\n\n    }}\n}}\n")
    }
}
