//! Printing of groups with their types, dimensions and variables, in the order of `ncdump`.

use ferrocdf_model::{Class, DimId, GroupId, Owner, TypeId, VarId};

use super::{PrintFailure, Printer};

/// Number of variables whose declarations a thread prints at a time. The metadata of variables created one after
/// another is close together in a file: with larger tasks fewer pages are read by two threads.
const TOGETHER: usize = 64;

impl Printer<'_> {
    /// Prints the whole dataset.
    pub(super) fn dataset(&mut self) -> Result<(), PrintFailure> {
        let mut name = vec![];
        super::escape::name(&self.options.name, self.names(), &mut name)?;
        self.out.put("netcdf ");
        self.out.put(name);
        self.out.put(" {\n");
        self.group(GroupId::ROOT)?;
        self.out.put("}\n");
        Ok(())
    }

    fn group(&mut self, id: GroupId) -> Result<(), PrintFailure> {
        let model = self.model;
        let group = model.group(id);
        if !group.types.is_empty() {
            self.indent();
            self.out.put("types:\n");
            self.line.indent += 2;
            for &ty in &group.types {
                self.type_declaration(ty)?;
            }
            self.line.indent -= 2;
        }
        if !group.dims.is_empty() {
            self.indent();
            self.out.put("dimensions:\n");
        }
        for &id in &group.dims {
            let dim = model.dim(id);
            self.indent();
            self.out.put("\t");
            self.name(dim.name.as_bytes())?;
            self.out.put(match self.is_unlimited(id) {
                true => format!(" = UNLIMITED ; // ({} currently)\n", dim.len),
                false => format!(" = {} ;\n", dim.len),
            });
        }
        if !group.vars.is_empty() {
            self.indent();
            self.out.put("variables:\n");
        }
        self.each(&group.vars, TOGETHER, |printer, id| printer.variable(id))?;
        self.group_attrs(id)?;
        self.out.pour()?;
        if !self.options.header_only {
            self.data(id)?;
        }
        for &child in &group.groups {
            let name = model.group(child).name.as_bytes();
            self.out.put("\n");
            self.indent();
            self.out.put("group: ");
            self.name(name)?;
            self.out.put(" {\n");
            self.line.indent += 2;
            self.group(child)?;
            self.indent();
            self.out.put("} // group ");
            self.name(name)?;
            self.out.put("\n");
            self.line.indent -= 2;
        }
        Ok(())
    }

    fn variable(&mut self, id: VarId) -> Result<(), PrintFailure> {
        let var = self.model.var(id);
        self.indent();
        self.out.put("\t");
        self.type_name(var.ty, var.group)?;
        self.out.put(" ");
        self.name(var.name.as_bytes())?;
        for (at, &dim) in var.dims.iter().enumerate() {
            self.out.put(if at == 0 { "(" } else { ", " });
            self.dim_name(dim, var.group)?;
        }
        self.out.put(if var.dims.is_empty() { " ;\n" } else { ") ;\n" });
        for attr in &var.attrs {
            self.attr(Owner::Var(id), attr)?;
        }
        if self.options.special {
            self.special_attrs(id)?;
        }
        Ok(())
    }

    /// Prints the name of a dimension for a variable in `group`: with its path if the plain name would find another
    /// dimension, or none.
    fn dim_name(&mut self, id: DimId, group: GroupId) -> Result<(), PrintFailure> {
        let model = self.model;
        let dim = model.dim(id);
        if model.find_dim(group, dim.name.as_bytes()) != Some(id) {
            self.path_before(dim.group)?;
        }
        self.name(dim.name.as_bytes())
    }

    fn group_attrs(&mut self, id: GroupId) -> Result<(), PrintFailure> {
        let root = id == GroupId::ROOT;
        let attrs = &self.model.group(id).attrs;
        if !attrs.is_empty() || self.options.special {
            self.out.put("\n");
            self.indent();
            self.out.put(if root { "// global attributes:\n" } else { "// group attributes:\n" });
        }
        for attr in attrs {
            // `_NCProperties` is printed with the virtual attributes.
            if !(root && attr.name == "_NCProperties") {
                self.attr(Owner::Group(id), attr)?;
            }
        }
        if root && self.options.special {
            self.special_global_attrs()?;
        }
        Ok(())
    }

    fn type_declaration(&mut self, id: TypeId) -> Result<(), PrintFailure> {
        let model = self.model;
        let ty = model.user_type(id);
        let name = ty.name.as_bytes();
        match &ty.class {
            Class::Vlen(of) => {
                self.indent();
                self.type_name(*of, ty.group)?;
                self.out.put("(*) ");
                self.name(name)?;
                self.out.put(" ;\n");
            }
            Class::Opaque(size) => {
                self.indent();
                self.out.put(format!("opaque({size}) "));
                self.name(name)?;
                self.out.put(" ;\n");
            }
            Class::Enum { base, members } => {
                self.indent();
                let mut piece = format!("{base} enum ").into_bytes();
                super::escape::name(name, self.names(), &mut piece)?;
                piece.extend_from_slice(b" {");
                self.line.put(&piece, &mut self.out.text);
                for (at, (member, value)) in members.iter().enumerate() {
                    let mut piece = vec![];
                    super::escape::name(member.as_bytes(), self.names(), &mut piece)?;
                    let end = if at + 1 == members.len() { "} ;\n" } else { ", " };
                    piece.extend_from_slice(format!(" = {value}{end}").as_bytes());
                    self.line.put(&piece, &mut self.out.text);
                }
            }
            Class::Compound { fields, .. } => {
                self.indent();
                self.out.put("compound ");
                self.name(name)?;
                self.out.put(" {\n");
                for field in fields {
                    self.indent();
                    self.out.put("  ");
                    self.type_name(field.ty, ty.group)?;
                    self.out.put(" ");
                    self.name(field.name.as_bytes())?;
                    if !field.shape.is_empty() {
                        let sides: Vec<_> = field.shape.iter().map(usize::to_string).collect();
                        self.out.put(format!("({})", sides.join(", ")));
                    }
                    self.out.put(" ;\n");
                }
                self.indent();
                self.out.put("}; // ");
                self.name(name)?;
                self.out.put("\n");
            }
        }
        Ok(())
    }
}
