//! The words of C, for all models: what only netCDF-4 has is in `c_types`, `c_values` and `c_storage`.
//!
//! Other than in the reference, `-x` has the effect it asks for, CDF-5 files are created as such, and infinities have a
//! definition even if the text spells them as numbers that are too large.

use std::io::{self, Write};

use ferrocdf::{Atomic, Attr, DataModel, DimId, GroupId, Owner, Type, Values, VarId};

use super::c_values::attribute_function;
use super::dataset::{Block, Dataset};
use super::name::{c_text, identifier, spelled};
use super::number::LiteralNumber;
use super::{DataStep, LanguageWriter, listed};

/// Writes a program in C.
pub(super) struct C<'a> {
    pub dataset: &'a Dataset<'a>,
    pub out: &'a mut dyn Write,
    /// How many lists of variable length were declared.
    pub lists: usize,
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
pub(super) fn constant(number: LiteralNumber, ty: Atomic) -> String {
    let digits = number.digits();
    match (number, ty) {
        (LiteralNumber::Float(_), _) if number.is_nan() => "nanf".to_string(),
        (LiteralNumber::Double(_), _) if number.is_nan() => "nan".to_string(),
        (LiteralNumber::Float(_), _) => format!("((float){digits})"),
        (LiteralNumber::Double(_), _) => format!("((double){digits})"),
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
    pub(super) fn var(&self, var: VarId) -> String {
        let decl = self.dataset.model.var(var);
        identifier(&self.path_name(decl.group, decl.name.as_bytes()))
    }

    fn dim(&self, dim: DimId) -> String {
        let decl = self.dataset.model.dim(dim);
        identifier(&self.path_name(decl.group, decl.name.as_bytes()))
    }

    /// A name behind those of the groups that it is in, without the root.
    pub(super) fn path_name(&self, group: GroupId, name: &[u8]) -> Vec<u8> {
        let model = &self.dataset.model;
        let mut path = name.to_vec();
        for group in model.and_parents(group).filter(|&group| group != GroupId::ROOT) {
            path = [model.group(group).name.as_bytes(), b"/", &path].concat();
        }
        path
    }

    /// Whether the program says which group things are in.
    pub(super) fn has_groups(&self) -> bool {
        self.dataset.model.format().is_enhanced()
    }

    /// The id of a group in the program.
    pub(super) fn group(&self, group: GroupId) -> String {
        if !self.has_groups() {
            return "ncid".to_string();
        }
        self.group_stem(group) + "_grp"
    }

    /// The identifier that names of a group are made with.
    fn group_stem(&self, group: GroupId) -> String {
        let decl = self.dataset.model.group(group);
        match decl.parent {
            Some(parent) => identifier(&self.path_name(parent, decl.name.as_bytes())),
            None => identifier(self.dataset.name.as_bytes()),
        }
    }

    pub(super) fn check(&mut self) -> io::Result<()> {
        writeln!(self.out, "    CHECK_ERR(stat);")
    }

    /// Declarations of one kind, one for each name.
    pub(super) fn declarations(
        &mut self,
        title: &str,
        lines: impl IntoIterator<Item = String>,
    ) -> io::Result<()> {
        self.part(title)?;
        lines.into_iter().try_for_each(|line| writeln!(self.out, "{line}"))
    }

    fn text_constant(&mut self, text: &[u8]) -> io::Result<()> {
        self.out.write_all(b"\"")?;
        // A single zero byte is what an empty text is stored as.
        self.out.write_all(&c_text(if text == b"\0" { b"" } else { text }))?;
        self.out.write_all(b"\"")
    }

    /// Writes the lists that values point to, and returns the values with commas between them.
    fn initializers<'v>(
        &mut self,
        values: impl Iterator<Item = (&'v Values, std::ops::Range<usize>)>,
    ) -> io::Result<Vec<u8>> {
        let (mut lists, mut out) = (vec![], vec![]);
        for (values, range) in values {
            for at in range {
                if !out.is_empty() {
                    out.extend_from_slice(b", ");
                }
                self.initializer(values, at, &mut lists, &mut out);
            }
        }
        self.out.write_all(&lists)?;
        Ok(out)
    }

    fn scalar(&mut self, block: &Block<'_>, name: &str, group: &str, ty: Type) -> io::Result<()> {
        let values = self.initializers(block.parts())?;
        writeln!(self.out, "    size_t count = 0;")?;
        write!(self.out, "    static {} {name}_data[1] = {{", self.c_type(ty))?;
        self.out.write_all(&values)?;
        writeln!(self.out, "}};\n    stat = nc_put_var1({group}, {name}_id, &count, {name}_data);")
    }

    fn array(&mut self, block: &Block<'_>, name: &str, group: &str, ty: Type) -> io::Result<()> {
        if ty == Type::Atomic(Atomic::Char) {
            write!(self.out, "    char* {name}_data = \"")?;
            self.out.write_all(&c_text(&block.text()))?;
            writeln!(self.out, "\" ;")?;
        } else {
            let values = self.initializers(block.parts())?;
            let len: u64 = block.count.iter().product();
            write!(self.out, "    {} {name}_data[{len}] = {{", self.c_type(ty))?;
            self.out.write_all(&values)?;
            writeln!(self.out, "}} ;")?;
        }
        let rank = block.start.len();
        let [start, count] = [&block.start, &block.count].map(|list| listed(list.iter().copied(), ", "));
        writeln!(self.out, "    size_t {name}_startset[{rank}] = {{{start}}} ;")?;
        writeln!(self.out, "    size_t {name}_countset[{rank}] = {{{count}}};")?;
        let args = format!("{name}_id, {name}_startset, {name}_countset, {name}_data");
        writeln!(self.out, "    stat = nc_put_vara({group}, {args});")
    }
}

impl LanguageWriter for C<'_> {
    fn declare(&mut self) -> io::Result<()> {
        let (dataset, model) = (self.dataset, &self.dataset.model);
        let special = if dataset.has_special() { SPECIAL } else { "" };
        write!(self.out, "{HEAD}{special}")?;
        self.declare_types()?;
        self.declare_storage()?;
        self.out.write_all(CHECK.as_bytes())?;
        let main = dataset.options.main_name.as_ref().map_or("main".into(), |name| name.to_string_lossy());
        writeln!(self.out, "{main}() {{/* create {} */", dataset.file)?;
        write!(self.out, "\n    int  stat;  /* return status */\n    int  ncid;  /* netCDF id */\n")?;
        if self.has_groups() {
            let ids: Vec<_> = model.group_ids().map(|id| format!("    int {};", self.group(id))).collect();
            self.declarations("group ids", ids)?;
        }
        self.declare_type_ids()?;
        let dims: Vec<_> = model.dims().iter().zip((0..).map(|at| self.dim(DimId(at)))).collect();
        if !dims.is_empty() {
            self.declarations("dimension ids", dims.iter().map(|(_, name)| format!("    int {name}_dim;")))?;
            let len = |(dim, name): &(&ferrocdf::model::Dim, String)| match dim.unlimited {
                true => format!("    size_t {name}_len = NC_UNLIMITED;"),
                false => format!("    size_t {name}_len = {};", dim.len),
            };
            self.declarations("dimension lengths", dims.iter().map(len))?;
        }
        let vars: Vec<_> = model.var_ids().map(|id| (self.var(id), model.var(id).dims.len())).collect();
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
        let mode = match self.dataset.model.format().data_model() {
            DataModel::Classic => "",
            DataModel::Offset64 => "|NC_64BIT_OFFSET",
            DataModel::Data64 => "|NC_64BIT_DATA",
            DataModel::Netcdf4Classic => "|NC_NETCDF4|NC_CLASSIC_MODEL",
            DataModel::Netcdf4 => "|NC_NETCDF4",
        };
        writeln!(self.out, "    stat = nc_create(\"{}\", NC_CLOBBER{mode}, &ncid);", self.dataset.file)?;
        self.check()?;
        if !self.has_groups() {
            return Ok(());
        }
        writeln!(self.out, "    {} = ncid;", self.group(GroupId::ROOT))?;
        let model = &self.dataset.model;
        for id in model.group_ids() {
            if let Some(parent) = model.group(id).parent {
                write!(self.out, "    stat = nc_def_grp({}, \"", self.group(parent))?;
                self.out.write_all(&c_text(model.group(id).name.as_bytes()))?;
                writeln!(self.out, "\", &{});", self.group(id))?;
                self.check()?;
            }
        }
        self.define_types()?;
        if model.types().is_empty() { Ok(()) } else { self.blank() }
    }

    fn part(&mut self, title: &str) -> io::Result<()> {
        write!(self.out, "\n    /* {title} */\n")
    }

    fn dimension(&mut self, dim: DimId) -> io::Result<()> {
        let name = self.dim(dim);
        let decl = self.dataset.model.dim(dim);
        write!(self.out, "    stat = nc_def_dim({}, \"", self.group(decl.group))?;
        self.out.write_all(&c_text(decl.name.as_bytes()))?;
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
        write!(self.out, "    stat = nc_def_var({}, \"", self.group(decl.group))?;
        self.out.write_all(&c_text(decl.name.as_bytes()))?;
        let ty = self.type_id(decl.ty);
        let dims = if decl.dims.is_empty() { "0".to_string() } else { format!("{name}_dims") };
        writeln!(self.out, "\", {ty}, RANK_{name}, {dims}, &{name}_id);")?;
        self.check()?;
        self.storage(var)
    }

    fn attribute(&mut self, owner: Owner, attr: &Attr) -> io::Result<()> {
        let ty = attr.value.ty();
        let (group, variable) = match owner {
            Owner::Group(group) => (group, "NC_GLOBAL".to_string()),
            Owner::Var(var) => (self.dataset.model.var(var).group, self.var(var) + "_id"),
        };
        let escaped = attr.name.to_str().replace('/', "_SLASH_").replace('.', "_DOT_");
        let constant_name = match self.has_groups() {
            true if group == GroupId::ROOT => spelled(escaped.as_bytes()),
            true => format!("{}_{}", self.group_stem(group), spelled(escaped.as_bytes())),
            false => identifier(format!("{}_{escaped}", self.dataset.name).as_bytes()),
        };
        let len = attr.value.len();
        write!(self.out, "\n    {{\n")?;
        if ty != Type::Atomic(Atomic::Char) {
            let list = self.initializers(std::iter::once((&attr.value, 0..len)))?;
            write!(self.out, "    static const {} {constant_name}_att[{len}] = {{", self.c_type(ty))?;
            self.out.write_all(&list)?;
            writeln!(self.out, "}} ;")?;
        }
        let (function, is_told) = attribute_function(ty);
        write!(self.out, "    stat = {function}({}, {variable}, \"", self.group(group))?;
        self.out.write_all(&c_text(attr.name.as_bytes()))?;
        match &attr.value {
            Values::Char(text) => {
                write!(self.out, "\", {len}, ")?;
                self.text_constant(text)?;
                writeln!(self.out, ");")?;
            }
            _ => {
                let told = if is_told { format!("{}, ", self.type_id(ty)) } else { String::new() };
                write!(self.out, "\", {told}{len}, {constant_name}_att);")?;
                // Behind the types of CDF-5 and strings the line does not end.
                let ends = !matches!(ty, Type::Atomic(ty) if ty > Atomic::Double);
                self.out.write_all(if ends { b"\n" } else { b"" })?;
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
            writeln!(self.out, "    stat = nc_set_fill({}, NC_NOFILL, 0);", self.group(GroupId::ROOT))?;
            self.check()?;
        }
        self.part("leave define mode")?;
        writeln!(self.out, "    stat = nc_enddef ({});", self.group(GroupId::ROOT))?;
        self.check()
    }

    fn steps(&self) -> &'static [DataStep] {
        if self.dataset.model.vars().is_empty() { &[] } else { &[DataStep::All] }
    }

    fn start_step(&mut self, _step: DataStep) -> io::Result<()> {
        self.part("assign variable data")
    }

    fn block(&mut self, _step: DataStep, block: &Block<'_>) -> io::Result<()> {
        let decl = self.dataset.model.var(block.var);
        let (name, group, ty) = (self.var(block.var), self.group(decl.group), decl.ty);
        write!(self.out, "\n    {{\n")?;
        match block.start.is_empty() {
            true => self.scalar(block, &name, &group, ty)?,
            false => self.array(block, &name, &group, ty)?,
        }
        self.check()?;
        write!(self.out, "    }}\n\n")
    }

    fn end_step(&mut self, _step: DataStep) -> io::Result<()> {
        self.blank()
    }

    fn close(&mut self) -> io::Result<()> {
        writeln!(self.out, "    stat = nc_close({});", self.group(GroupId::ROOT))?;
        self.check()?;
        write!(self.out, "    return 0;\n}}\n")
    }
}
