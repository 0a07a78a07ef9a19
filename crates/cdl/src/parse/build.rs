//! Building of the model from declarations: choice of the format, and definitions in the order of `ncgen`.

use std::borrow::Cow;

use ferrocdf_bytes::{Code, Context, Error};
use ferrocdf_model::{
    Atomic, Chunking, Class, DimId, Field, Format, GroupId, Model, Owner, Storage, Type, UserType, Values,
};

use super::ParseFailure;
use super::attr::infer;
use super::header::{AttrDecl, ClassDecl};
use super::parser::{Parsed, Parser};

/// Decodes a name. Names in classic files have no control characters, so a control character is spelled `%` and two
/// hexadecimal digits, as by `ncgen`.
fn text(name: &[u8], format: Format) -> Parsed<Cow<'_, str>> {
    let bad = |_| Error::new(Code::EBADNAME, format!("name \"{}\" is not UTF-8", name.escape_ascii()));
    let text = std::str::from_utf8(name).map_err(bad)?;
    if !format.has_cdf_model() || !name.iter().any(u8::is_ascii_control) {
        return Ok(text.into());
    }
    let spelled = |letter: char| match letter.is_ascii_control() {
        true => format!("%{:02x}", u32::from(letter)),
        false => letter.to_string(),
    };
    Ok(text.chars().map(spelled).collect())
}

impl Parser<'_> {
    /// Chooses the format of the dataset.
    ///
    /// The format that the caller requests takes precedence, then `_Format`, then the needs of the text: groups,
    /// user-defined types and strings need netCDF-4, unsigned and 64-bit integers need CDF-5, special attributes need
    /// netCDF-4. (`ncgen` documents the same rules but does not detect such integers and strings: it converts `int64`
    /// variables to `int`, drops `string` attributes, and fails on the others.)
    pub fn choose_format(&mut self) -> Parsed<Format> {
        if let Some(format) = self.options.format.or(self.format_attribute) {
            // CDF-5 is not refused here: the first definition that it cannot express fails.
            if self.needs.enhanced && !format.is_enhanced() && format != Format::DATA64 {
                self.sink.message("-k or _Format conflicts with enhanced CDL input");
                return Err(ParseFailure::Conflict);
            }
            return Ok(format);
        }
        let is_wide =
            |attr: &AttrDecl| attr.ty.is_none() && infer(&attr.items).is_some_and(|ty| ty > Atomic::Double);
        Ok(if self.needs.enhanced || self.needs.strings {
            Format::NETCDF4
        } else if self.needs.wide || self.header.attrs.iter().any(is_wide) {
            Format::DATA64
        } else if self.needs.specials {
            Format::NETCDF4
        } else {
            Format::CLASSIC
        })
    }

    /// Checks that in the classic model only the first dimension of a variable is unlimited.
    pub fn check_unlimited(&mut self, format: Format) -> Parsed<()> {
        let unlimited = |dim: &DimId| self.header.dims[dim.index()].len.is_none();
        let wrong = self.header.vars.iter().find(|var| var.dims.iter().skip(1).any(unlimited));
        match wrong {
            Some(var) if !format.is_enhanced() => {
                let name = self.header.full_name(var.group, &var.name);
                let text = format!("Variable: {name}: UNLIMITED must be in first dimension only");
                Err(self.fatal(var.line, &text))
            }
            _ => Ok(()),
        }
    }

    /// Returns the type of a variable in the file: a requested format without 64-bit integers stores `int64` as `int`,
    /// as with `ncgen` (which does so for CDF-5 too).
    pub fn stored_type(&self, ty: Type) -> Type {
        let format = self.options.format.or(self.format_attribute);
        match ty {
            Type::Atomic(Atomic::Int64) if format.is_some_and(|format| !format.holds(Atomic::Int64)) => {
                Atomic::Int.into()
            }
            other => other,
        }
    }

    /// Checks names as [`Parser::build`] does, for a text that is only checked.
    pub fn check_names(&self) -> Parsed<()> {
        let header = &self.header;
        let groups = header.groups[1..].iter().map(|group| &group.name);
        let types = header.types.iter().map(|ty| &ty.name);
        let dims = header.dims.iter().map(|dim| &dim.name);
        let vars = header.vars.iter().map(|var| &var.name);
        let attrs = header.attrs.iter().map(|attr| &attr.name);
        groups
            .chain(types)
            .chain(dims)
            .chain(vars)
            .chain(attrs)
            .try_for_each(|name| text(name, Format::NETCDF4).map(drop))
    }

    /// Returns the model of all declarations so far.
    pub fn build(&mut self, format: Format) -> Parsed<Model> {
        let mut model = Model::new(format);
        if !format.has_cdf_model() {
            model = model.with_names_of_hdf5();
        }
        for group in &self.header.groups[1..] {
            let parent = group.parent.unwrap_or(GroupId::ROOT);
            model.def_group(parent, &*text(&group.name, format)?).at(|| "group")?;
        }
        for decl in &self.header.types {
            let class = match &decl.class {
                ClassDecl::Opaque(size) => Class::Opaque(*size),
                ClassDecl::Vlen(base) => Class::Vlen(*base),
                ClassDecl::Enum { base, members } => {
                    let members = members.iter().map(|(name, value)| Ok((model.name(name)?, *value)));
                    Class::Enum { base: *base, members: members.collect::<Result<_, Error>>()? }
                }
                ClassDecl::Compound(fields) => {
                    let mut end = 0usize;
                    let mut placed = vec![];
                    for field in fields {
                        let (size, align, ..) = self.header.measure(field.ty);
                        let offset = end.next_multiple_of(align);
                        end = offset + size * field.shape.iter().product::<usize>();
                        let (name, shape) = (model.name(&field.name)?, field.shape.clone());
                        placed.push(Field { name, offset, ty: field.ty, shape, chars: 1 });
                    }
                    Class::Compound { size: decl.size, fields: placed }
                }
            };
            let name = model.name(&decl.name)?;
            model.def_type(UserType { name, group: decl.group, class }).at(|| "type")?;
        }
        for dim in &self.header.dims {
            model.def_dim(dim.group, &*text(&dim.name, format)?, dim.len)?;
        }
        for (id, dim) in self.header.dims.iter().enumerate() {
            if dim.len.is_none() {
                model.set_dim_len(DimId(id as u32), self.data.lengths.get(id).copied().unwrap_or(0));
            }
        }
        for var in &self.header.vars {
            let id =
                model.def_var(var.group, &*text(&var.name, format)?, self.stored_type(var.ty), &var.dims)?;
            let storage = &var.storage;
            if *storage != Storage::default() {
                // Contiguous storage may be stated: classic variables have it.
                let contiguous = Storage { chunking: Some(Chunking::Contiguous), ..Storage::default() };
                if format.has_cdf_model() {
                    if *storage == contiguous {
                        continue;
                    }
                    let what = format!(
                        "variable \"{}\": classic files leave no choice of storage",
                        String::from_utf8_lossy(&var.name)
                    );
                    return Err(Error::new(Code::ENOTNC4, what).into());
                }
                model.var_mut(id).storage = storage.clone();
            }
        }
        let attrs = std::mem::take(&mut self.header.attrs);
        let done = attrs.iter().try_for_each(|attr| self.define_attr(&mut model, attr));
        self.header.attrs = attrs;
        done?;
        Ok(model)
    }

    fn define_attr(&mut self, model: &mut Model, attr: &AttrDecl) -> Parsed<()> {
        let value = self.attr_value(attr)?;
        let format = model.format();
        model.put_attr(attr.owner, &*text(&attr.name, format)?, value).at(|| match attr.owner {
            Owner::Group(id) => self.header.full_name(id, b""),
            Owner::Var(id) => {
                let var = self.header.var(id);
                self.header.full_name(var.group, &var.name)
            }
        })?;
        Ok(())
    }

    /// Converts the values of an attribute to its type.
    pub fn attr_value(&mut self, attr: &AttrDecl) -> Parsed<Values> {
        let full_name = |parser: &Self| {
            let group = match attr.owner {
                Owner::Group(id) => id,
                Owner::Var(id) => parser.header.var(id).group,
            };
            parser.header.full_name(group, &attr.name)
        };
        let is_fill = attr.name == b"_FillValue" && matches!(attr.owner, Owner::Var(_));
        let ty = match attr.ty.or_else(|| infer(&attr.items).map(Type::from)) {
            Some(ty) if is_fill => self.stored_type(ty),
            Some(ty) => ty,
            None => {
                let what = format!("Non-simple list of values for untyped attribute: {}", full_name(self));
                return Err(self.fatal(attr.line, &what));
            }
        };
        if ty != Type::Atomic(Atomic::Char) {
            if attr.items.is_empty() {
                let what = "Empty datalist can only be assigned to attributes of type char";
                return Err(self.fatal(attr.line, what));
            }
            return self.list_values(ty, &attr.items);
        }
        let mut chars = vec![];
        for item in &attr.items {
            match item.value.to_chars() {
                Some(bytes) => chars.extend_from_slice(&bytes),
                None => {
                    let what = "Encountered non-string and non-char constant in datalist";
                    return Err(self.fatal(item.line, what));
                }
            }
        }
        if chars.is_empty() {
            // As in `ncgen`, an empty text is stored as one zero byte.
            chars.push(0);
        }
        Ok(Values::Char(chars))
    }
}
