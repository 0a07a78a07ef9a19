//! User-defined types in programs in C: declarations, and the calls that define them.

use std::io::{self, Write};

use ferrocdf::Type;
use ferrocdf::model::{Class, Field, TypeId, UserType};

use super::c::{C, type_names};
use super::listed;
use super::name::{c_text, identifier};
use super::number::LiteralNumber;

/// Words that no `typedef` may have: keywords of C, names of types, and names that the program gives otherwise.
const TAKEN: [&str; 48] = [
    "alignas",
    "auto",
    "bool",
    "break",
    "case",
    "char",
    "check_err",
    "const",
    "continue",
    "count",
    "default",
    "do",
    "double",
    "econst",
    "else",
    "enum",
    "extern",
    "float",
    "for",
    "goto",
    "if",
    "inf",
    "inline",
    "int",
    "long",
    "main",
    "nan",
    "nc_type",
    "nc_vlen_t",
    "ncid",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "size_t",
    "sizeof",
    "stat",
    "static",
    "static_assert",
    "struct",
    "switch",
    "typedef",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
];

impl C<'_> {
    /// The ids of all types, in the order in which they are defined: no type before those that it is made of.
    fn types(&self) -> Vec<TypeId> {
        let turns = super::super::output::turns(&self.dataset.model);
        let mut ids: Vec<TypeId> = (0..turns.len() as u32).map(TypeId).collect();
        ids.sort_by_key(|id| turns[id.index()]);
        ids
    }

    fn user_type(&self, id: TypeId) -> &UserType {
        self.dataset.model.user_type(id)
    }

    /// The identifier that names of a type are made with.
    fn type_stem(&self, id: TypeId) -> String {
        let ty = self.user_type(id);
        identifier(&self.path_name(ty.group, ty.name.as_bytes()))
    }

    /// The name of a type in declarations of C.
    pub(super) fn c_type(&self, ty: Type) -> String {
        match ty {
            Type::Atomic(atomic) => type_names(atomic).0.to_string(),
            Type::User(id) => {
                let stem = self.type_stem(id);
                if TAKEN.contains(&&*stem) { stem + "_type" } else { stem }
            }
        }
    }

    /// What the program passes for a type to functions of the library.
    pub(super) fn type_id(&self, ty: Type) -> String {
        match ty {
            Type::Atomic(atomic) => type_names(atomic).1.to_string(),
            Type::User(id) => self.type_stem(id) + "_typ",
        }
    }

    fn member(&self, id: TypeId, name: &[u8]) -> String {
        let ty = self.user_type(id);
        let path = self.path_name(ty.group, ty.name.as_bytes());
        identifier(&[&path[..], b".", name].concat())
    }

    /// Declares all types.
    pub(super) fn declare_types(&mut self) -> io::Result<()> {
        let ids = self.types();
        if !ids.is_empty() {
            writeln!(self.out)?;
        }
        for id in ids {
            let name = self.c_type(Type::User(id));
            let class = self.user_type(id).class.clone();
            match &class {
                Class::Compound { fields, .. } => {
                    writeln!(self.out, "typedef struct {name} {{")?;
                    for field in fields {
                        let sides: String = field.shape.iter().map(|side| format!("[{side}]")).collect();
                        let (ty, member) = (self.c_type(field.ty), self.member(id, field.name.as_bytes()));
                        writeln!(self.out, "    {ty} {member}{sides};")?;
                    }
                    writeln!(self.out, "}} {name};")?;
                }
                Class::Enum { base, members } => {
                    let base_type = type_names(*base).0;
                    for (member, value) in members {
                        let macro_name = self.member(id, member.as_bytes());
                        let value = super::c::constant(LiteralNumber::Integer(*value), *base);
                        writeln!(self.out, "#define {macro_name} (({base_type}){value})")?;
                    }
                    writeln!(self.out, "typedef {base_type} {name};")?;
                }
                Class::Opaque(size) => writeln!(self.out, "typedef unsigned char {name}[{size}];")?,
                Class::Vlen(_) => writeln!(self.out, "typedef nc_vlen_t {name};")?,
            }
        }
        Ok(())
    }

    /// Declares the ids of types.
    pub(super) fn declare_type_ids(&mut self) -> io::Result<()> {
        let ids = self.types();
        if ids.is_empty() {
            return Ok(());
        }
        let lines: Vec<_> =
            ids.iter().map(|&id| format!("    int {};", self.type_id(Type::User(id)))).collect();
        self.declarations("type ids", lines)
    }

    /// Defines all types.
    pub(super) fn define_types(&mut self) -> io::Result<()> {
        for id in self.types() {
            writeln!(self.out)?;
            let ty = self.user_type(id).clone();
            let (group, id_name) = (self.group(ty.group), self.type_id(Type::User(id)));
            let name = c_text(ty.name.as_bytes());
            // Where the call ends its line is that of the reference.
            let define = |out: &mut dyn Write, call: String, last: String| {
                write!(out, "    stat = {call}, \"")?;
                out.write_all(&name)?;
                write!(out, "\"{last}, &{id_name});")
            };
            match &ty.class {
                Class::Compound { fields, .. } => {
                    let size = self.c_type(Type::User(id));
                    define(self.out, format!("nc_def_compound({group}, sizeof({size})"), String::new())?;
                    self.check()?;
                    self.fields(id, &group, fields)?;
                }
                Class::Enum { base, members } => {
                    let (base_type, base_id, _) = type_names(*base);
                    writeln!(self.out, "    {{\n    {base_type} econst;")?;
                    define(self.out, format!("nc_def_enum({group}, {base_id}"), String::new())?;
                    writeln!(self.out)?;
                    self.check()?;
                    for (member, value) in members {
                        let value = super::c::constant(LiteralNumber::Integer(*value), *base);
                        writeln!(self.out, "    econst = {value};")?;
                        write!(self.out, "    stat = nc_insert_enum({group}, {id_name}, \"")?;
                        self.out.write_all(&c_text(member.as_bytes()))?;
                        writeln!(self.out, "\", &econst);")?;
                    }
                    writeln!(self.out, "    }}")?;
                }
                Class::Opaque(size) => {
                    define(self.out, format!("nc_def_opaque({group}, {size}"), String::new())?;
                    writeln!(self.out)?;
                    self.check()?;
                }
                Class::Vlen(base) => {
                    let base = self.type_id(*base);
                    define(self.out, format!("nc_def_vlen({group}"), format!(", {base}"))?;
                    self.check()?;
                }
            }
        }
        Ok(())
    }

    fn fields(&mut self, id: TypeId, group: &str, fields: &[Field]) -> io::Result<()> {
        let (c_type, id_name) = (self.c_type(Type::User(id)), self.type_id(Type::User(id)));
        writeln!(self.out, "    {{")?;
        for field in fields.iter().filter(|field| !field.shape.is_empty()) {
            let (member, rank) = (self.member(id, field.name.as_bytes()), field.shape.len());
            let sides = listed(field.shape.iter().map(|&side| side as u64), ", ");
            write!(self.out, "    static int {member}_dims[{rank}] = {{\n{sides}}};")?;
        }
        for field in fields {
            let (member, ty) = (self.member(id, field.name.as_bytes()), self.type_id(field.ty));
            let array = if field.shape.is_empty() { "" } else { "array_" };
            write!(self.out, "    stat = nc_insert_{array}compound({group}, {id_name}, \"")?;
            self.out.write_all(&c_text(field.name.as_bytes()))?;
            write!(self.out, "\", NC_COMPOUND_OFFSET({c_type},{member}), {ty}")?;
            match field.shape.len() {
                0 => write!(self.out, ");")?,
                rank => write!(self.out, ", {rank}, {member}_dims);")?,
            }
            self.check()?;
        }
        writeln!(self.out, "    }}")
    }
}
