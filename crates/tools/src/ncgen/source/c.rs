//! The words of C.
//!
//! Other than in the reference, `-x` has the effect it asks for, CDF-5 files are created as such, and infinities have a
//! definition even if the text spells them as numbers that are too large.

use std::io::{self, Write};

use ferrocdf::{Atomic, Attr, DimId, Format, Values, VarId};

use super::dataset::{Block, Dataset};
use super::name::{c_byte, c_text, identifier};
use super::number::Number;
use super::{Language, Step, listed, numbers, words};

/// Writes a program in C.
pub(super) struct C<'a> {
    pub dataset: &'a Dataset<'a>,
    pub out: &'a mut dyn Write,
}

/// The name of a type in C, of its `nc_type`, and of the functions for it.
pub(super) fn type_names(ty: Atomic) -> (&'static str, &'static str, &'static str) {
    match ty {
        Atomic::Byte => ("signed char", "NC_BYTE", "schar"),
        Atomic::Char => ("char", "NC_CHAR", "text"),
        Atomic::Short => ("short", "NC_SHORT", "short"),
        Atomic::Int => ("int", "NC_INT", "int"),
        Atomic::Float => ("float", "NC_FLOAT", "float"),
        Atomic::Double => ("double", "NC_DOUBLE", "double"),
        Atomic::Ubyte => ("unsigned char", "NC_UBYTE", "ubyte"),
        Atomic::Ushort => ("unsigned short", "NC_USHORT", "ushort"),
        Atomic::Uint => ("unsigned int", "NC_UINT", "uint"),
        Atomic::Int64 => ("signed long long", "NC_INT64", "longlong"),
        Atomic::Uint64 => ("unsigned long long", "NC_UINT64", "ulonglong"),
        Atomic::String => ("char*", "NC_STRING", "string"),
    }
}

/// A number as a constant of its type.
fn constant(number: Number, ty: Atomic) -> String {
    let digits = number.digits();
    match (number, ty) {
        (Number::Float(_), _) if number.is_nan() => "nanf".to_string(),
        (Number::Double(_), _) if number.is_nan() => "nan".to_string(),
        (Number::Float(_), _) => format!("((float){digits})"),
        (Number::Double(_), _) => format!("((double){digits})"),
        (_, Atomic::Ubyte | Atomic::Ushort | Atomic::Uint) => digits + "U",
        (_, Atomic::Int64) => digits + "LL",
        (_, Atomic::Uint64) => digits + "ULL",
        _ => digits,
    }
}

const HEAD: &str = "#include <stdio.h>
#include <stdlib.h>
#include <netcdf.h>

";

const SPECIAL: &str = "
#define nanf (0.0f/0.0f)
#define nan  (0.0/0.0)
#define inff (1.0f/0.0f)
#define inf  (1.0/0.0)
#define infinityf inff
#define infinity  inf

";

const CHECK: &str = r#"
void
check_err(const int stat, int line, const char* file, const char* func) {
    if (stat != NC_NOERR) {
        (void)fprintf(stderr,"line %d of %s.%s: %s\n", line, file, func, nc_strerror(stat));
        fflush(stderr);
        exit(1);
    }
}

#define CHECK_ERR(err) check_err(err, __LINE__, __FILE__, __func__)

int
"#;

impl C<'_> {
    fn var(&self, var: VarId) -> String {
        identifier(self.dataset.model.var(var).name.as_bytes())
    }

    fn dim(&self, dim: DimId) -> String {
        identifier(self.dataset.model.dim(dim).name.as_bytes())
    }

    fn check(&mut self) -> io::Result<()> {
        writeln!(self.out, "    CHECK_ERR(stat);")
    }

    /// Declarations of one kind, one for each name.
    fn declarations(&mut self, title: &str, lines: impl IntoIterator<Item = String>) -> io::Result<()> {
        self.part(title)?;
        lines.into_iter().try_for_each(|line| writeln!(self.out, "{line}"))
    }

    fn text_constant(&mut self, text: &[u8]) -> io::Result<()> {
        self.out.write_all(b"\"")?;
        // A single zero byte is what an empty text is stored as.
        self.out.write_all(&c_text(if text == b"\0" { b"" } else { text }))?;
        self.out.write_all(b"\"")
    }

    fn scalar(&mut self, block: &Block<'_>, name: &str, ty: Atomic) -> io::Result<()> {
        writeln!(self.out, "    size_t count = 0;")?;
        write!(self.out, "    static {} {name}_data[1] = {{", type_names(ty).0)?;
        for byte in block.text() {
            let mut quoted = vec![b'\''];
            c_byte(byte, b'\'', &mut quoted);
            self.out.write_all(&quoted)?;
            self.out.write_all(b"'")?;
        }
        numbers(self.out, block, |number| constant(number, ty))?;
        writeln!(self.out, "}};\n    stat = nc_put_var1(ncid, {name}_id, &count, {name}_data);")
    }

    fn array(&mut self, block: &Block<'_>, name: &str, ty: Atomic) -> io::Result<()> {
        if ty == Atomic::Char {
            write!(self.out, "    char* {name}_data = \"")?;
            self.out.write_all(&c_text(&block.text()))?;
            writeln!(self.out, "\" ;")?;
        } else {
            let len: u64 = block.count.iter().product();
            write!(self.out, "    {} {name}_data[{len}] = {{", type_names(ty).0)?;
            numbers(self.out, block, |number| constant(number, ty))?;
            writeln!(self.out, "}} ;")?;
        }
        let rank = block.start.len();
        let [start, count] = [&block.start, &block.count].map(|list| listed(list.iter().copied(), ", "));
        writeln!(self.out, "    size_t {name}_startset[{rank}] = {{{start}}} ;")?;
        writeln!(self.out, "    size_t {name}_countset[{rank}] = {{{count}}};")?;
        let args = format!("{name}_id, {name}_startset, {name}_countset, {name}_data");
        writeln!(self.out, "    stat = nc_put_vara(ncid, {args});")
    }
}

impl Language for C<'_> {
    fn declare(&mut self) -> io::Result<()> {
        let (dataset, model) = (self.dataset, &self.dataset.model);
        let special = if dataset.has_special() { SPECIAL } else { "" };
        write!(self.out, "{HEAD}{special}{CHECK}")?;
        let main = dataset.options.main_name.as_ref().map_or("main".into(), |name| name.to_string_lossy());
        writeln!(self.out, "{main}() {{/* create {} */", dataset.file)?;
        write!(self.out, "\n    int  stat;  /* return status */\n    int  ncid;  /* netCDF id */\n")?;
        let dims: Vec<_> = model.dims().iter().map(|dim| (dim, identifier(dim.name.as_bytes()))).collect();
        if !dims.is_empty() {
            self.declarations("dimension ids", dims.iter().map(|(_, name)| format!("    int {name}_dim;")))?;
            let len = |(dim, name): &(&ferrocdf::model::Dim, String)| match dim.unlimited {
                true => format!("    size_t {name}_len = NC_UNLIMITED;"),
                false => format!("    size_t {name}_len = {};", dim.len),
            };
            self.declarations("dimension lengths", dims.iter().map(len))?;
        }
        let vars: Vec<_> =
            model.vars().iter().map(|var| (identifier(var.name.as_bytes()), var.dims.len())).collect();
        if !vars.is_empty() {
            self.declarations("variable ids", vars.iter().map(|(name, _)| format!("    int {name}_id;")))?;
            let rank = |(name, rank): &(String, usize)| format!("#   define RANK_{name} {rank}");
            self.declarations("rank (number of dimensions) for each variable", vars.iter().map(rank))?;
        }
        let mut arrays = vars.iter().filter(|(_, rank)| *rank > 0).peekable();
        if arrays.peek().is_some() {
            let shape = |(name, _): &(String, usize)| format!("    int {name}_dims[RANK_{name}];");
            self.declarations("variable shapes", arrays.map(shape))?;
        }
        match dataset.options.log_level {
            Some(level) => writeln!(self.out, "\n    nc_set_log_level({level}); /* set log level */"),
            None => Ok(()),
        }
    }

    fn create(&mut self) -> io::Result<()> {
        self.part("enter define mode")?;
        let mode = match self.dataset.model.format() {
            Format::Classic => "",
            Format::Offset64 => "|NC_64BIT_OFFSET",
            Format::Data64 => "|NC_64BIT_DATA",
            Format::Netcdf4 | Format::Netcdf4Classic => "|NC_NETCDF4|NC_CLASSIC_MODEL",
        };
        writeln!(self.out, "    stat = nc_create(\"{}\", NC_CLOBBER{mode}, &ncid);", self.dataset.file)?;
        self.check()
    }

    fn part(&mut self, title: &str) -> io::Result<()> {
        write!(self.out, "\n    /* {title} */\n")
    }

    fn dimension(&mut self, dim: DimId) -> io::Result<()> {
        let name = self.dim(dim);
        write!(self.out, "    stat = nc_def_dim(ncid, \"")?;
        self.out.write_all(&c_text(self.dataset.model.dim(dim).name.as_bytes()))?;
        writeln!(self.out, "\", {name}_len, &{name}_dim);")?;
        self.check()
    }

    fn variable(&mut self, var: VarId) -> io::Result<()> {
        let name = self.var(var);
        let decl = self.dataset.model.var(var);
        self.blank()?;
        for (at, &dim) in decl.dims.iter().enumerate() {
            writeln!(self.out, "    {name}_dims[{at}] = {}_dim;", self.dim(dim))?;
        }
        write!(self.out, "    stat = nc_def_var(ncid, \"")?;
        self.out.write_all(&c_text(decl.name.as_bytes()))?;
        let ty = type_names(self.dataset.ty(var)).1;
        let dims = if decl.dims.is_empty() { "0".to_string() } else { format!("{name}_dims") };
        writeln!(self.out, "\", {ty}, RANK_{name}, {dims}, &{name}_id);")?;
        self.check()
    }

    fn attribute(&mut self, var: Option<VarId>, attr: &Attr) -> io::Result<()> {
        let ty = attr.value.atomic().unwrap_or(Atomic::String);
        let (c_name, nc_name, function) = type_names(ty);
        let escaped = attr.name.to_str().replace('/', "_SLASH_").replace('.', "_DOT_");
        let constant_name = identifier(format!("{}_{escaped}", self.dataset.name).as_bytes());
        let len = attr.value.len();
        write!(self.out, "\n    {{\n")?;
        if ty != Atomic::Char {
            let list = words(attr, |number| constant(number, ty)).join(", ");
            writeln!(self.out, "    static const {c_name} {constant_name}_att[{len}] = {{{list}}} ;")?;
        }
        let owner = var.map_or("NC_GLOBAL".to_string(), |var| self.var(var) + "_id");
        write!(self.out, "    stat = nc_put_att_{function}(ncid, {owner}, \"")?;
        self.out.write_all(&c_text(attr.name.as_bytes()))?;
        match &attr.value {
            Values::Char(text) => {
                write!(self.out, "\", {len}, ")?;
                self.text_constant(text)?;
                writeln!(self.out, ");")?;
            }
            _ => {
                write!(self.out, "\", {nc_name}, {len}, {constant_name}_att);")?;
                // Behind the types of CDF-5 the line does not end.
                self.out.write_all(if ty <= Atomic::Double { b"\n" } else { b"" })?;
            }
        }
        self.check()?;
        writeln!(self.out, "    }}")
    }

    fn blank(&mut self) -> io::Result<()> {
        writeln!(self.out)
    }

    fn leave_define_mode(&mut self) -> io::Result<()> {
        if self.dataset.options.no_fill {
            writeln!(self.out, "    /* don't initialize variables with fill values */")?;
            writeln!(self.out, "    stat = nc_set_fill(ncid, NC_NOFILL, 0);")?;
            self.check()?;
        }
        self.part("leave define mode")?;
        writeln!(self.out, "    stat = nc_enddef (ncid);")?;
        self.check()
    }

    fn steps(&self) -> &'static [Step] {
        if self.dataset.model.vars().is_empty() { &[] } else { &[Step::All] }
    }

    fn start_step(&mut self, _step: Step) -> io::Result<()> {
        self.part("assign variable data")
    }

    fn block(&mut self, _step: Step, block: &Block<'_>) -> io::Result<()> {
        let (name, ty) = (self.var(block.var), self.dataset.ty(block.var));
        write!(self.out, "\n    {{\n")?;
        match block.start.is_empty() {
            true => self.scalar(block, &name, ty)?,
            false => self.array(block, &name, ty)?,
        }
        self.check()?;
        write!(self.out, "    }}\n\n")
    }

    fn end_step(&mut self, _step: Step) -> io::Result<()> {
        self.blank()
    }

    fn close(&mut self) -> io::Result<()> {
        writeln!(self.out, "    stat = nc_close(ncid);")?;
        self.check()?;
        write!(self.out, "    return 0;\n}}\n")
    }
}
