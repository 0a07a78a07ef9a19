//! Conversion of constants to values of any type, and of nested lists to arrays with several unlimited dimensions.

use ferrocdf_model::{Atomic, Type, TypeId, Value, Values, VarId};

use super::constant::{Const, Item, ParsedNumber, with_number};
use super::header::ClassDecl;
use super::parser::{Parsed, Parser};
use super::types::in_type;

const NO_NIL: &str = "NIL data can only be assigned to variables or attributes of type string";

impl Parser<'_> {
    /// Converts a constant to a number; `fill` is the value of `_`.
    pub fn number<N: ParsedNumber>(&mut self, item: &Item, fill: N, ty: Type) -> Parsed<N> {
        let what = match &item.value {
            Const::Fill => return Ok(fill),
            Const::List(_) => "Expected primitive found {..}".to_string(),
            Const::Nil => NO_NIL.to_string(),
            Const::Name(name) => self.stray_name(name, ty),
            other => match other.to_number() {
                Some(number) => return Ok(number),
                None => self.inconsistent(ty),
            },
        };
        Err(self.fatal(item.line, &what))
    }

    fn inconsistent(&self, ty: Type) -> String {
        format!("Data value is not consistent with the expected type: {}", self.header.type_name(ty))
    }

    /// Returns the error message for a name where no value of its enum is allowed.
    fn stray_name(&self, name: &[u8], ty: Type) -> String {
        let member = name.rsplit(|&byte| byte == b'.').next().unwrap_or(name);
        let known = self.header.types.iter().any(|decl| match &decl.class {
            ClassDecl::Enum { members, .. } => members.iter().any(|(own, _)| own == name || own == member),
            _ => false,
        });
        match known {
            true => self.inconsistent(ty),
            false => format!("Undefined enum constant: {}", String::from_utf8_lossy(name)),
        }
    }

    /// Converts the values of an attribute or list to one type.
    pub fn list_values(&mut self, ty: Type, items: &[Item]) -> Parsed<Values> {
        self.filled_values(ty, items, None, 0)
    }

    /// Converts constants to one type, and appends fill values up to `least` values. `fill` is the value of `_` and of
    /// missing constants; the default fill value if it is `None`.
    pub fn filled_values(
        &mut self,
        ty: Type,
        items: &[Item],
        fill: Option<&Item>,
        least: usize,
    ) -> Parsed<Values> {
        let missing = least.saturating_sub(items.len());
        match ty {
            Type::User(id) => {
                let mut values = Vec::with_capacity(items.len() + missing);
                for item in items {
                    values.push(self.user_value(id, Some(item), fill, item.line)?);
                }
                for _ in 0..missing {
                    let line = self.line();
                    values.push(self.user_value(id, None, fill, line)?);
                }
                Ok(Values::User(id, values))
            }
            Type::Atomic(Atomic::String) => {
                let filler = match fill {
                    Some(item) => self.string(item, None)?,
                    None => Some(vec![]),
                };
                let mut values = Vec::with_capacity(items.len() + missing);
                for item in items {
                    values.push(self.string(item, filler.as_ref())?);
                }
                values.resize(items.len() + missing, filler);
                Ok(Values::String(values))
            }
            Type::Atomic(Atomic::Char) => {
                let pad = self.fill_char(fill);
                let mut chars = self.characters(items, 1, 1, None, fill)?;
                chars.resize(chars.len().max(least), pad);
                Ok(Values::Char(chars))
            }
            Type::Atomic(atomic) => with_number!(atomic, N => {
                let filler = match fill {
                    Some(item) => self.number::<N>(item, N::fill(), ty)?,
                    None => N::fill(),
                };
                let mut values = Vec::with_capacity(items.len() + missing);
                for item in items {
                    values.push(self.number(item, filler, ty)?);
                }
                values.resize(items.len() + missing, filler);
                Ok(N::wrap(values))
            }, _ => Ok(Values::empty(atomic))),
        }
    }

    fn string(&mut self, item: &Item, fill: Option<&Vec<u8>>) -> Parsed<Option<Vec<u8>>> {
        let what = match &item.value {
            Const::Nil => return Ok(None),
            Const::Fill => return Ok(Some(fill.cloned().unwrap_or_default())),
            Const::List(_) => "Expected primitive found {..}".to_string(),
            Const::Name(name) => self.stray_name(name, Atomic::String.into()),
            other => match other.to_text() {
                Some(text) => return Ok(Some(text)),
                None => self.inconsistent(Atomic::String.into()),
            },
        };
        Err(self.fatal(item.line, &what))
    }

    /// Converts a constant to a user-defined type; `None` is a missing constant.
    fn user_value(
        &mut self,
        id: TypeId,
        item: Option<&Item>,
        fill: Option<&Item>,
        line: u32,
    ) -> Parsed<Value> {
        let given =
            item.filter(|item| item.value != Const::Fill).or(fill.filter(|item| item.value != Const::Fill));
        if let Some(Item { value: Const::Nil, line }) = given {
            return Err(self.fatal(*line, NO_NIL));
        }
        let line = given.map_or(line, |item| item.line);
        enum Shape {
            Enum,
            Opaque(usize),
            Vlen(Type),
            Compound(usize),
        }
        let shape = match &self.header.types[id.index()].class {
            ClassDecl::Enum { .. } => Shape::Enum,
            ClassDecl::Opaque(size) => Shape::Opaque(*size),
            ClassDecl::Vlen(base) => Shape::Vlen(*base),
            ClassDecl::Compound(fields) => Shape::Compound(fields.len()),
        };
        match shape {
            Shape::Enum => self.enum_value(id, given, line),
            Shape::Opaque(size) => {
                let mut bytes = match given.map(|item| &item.value) {
                    Some(Const::Opaque(bytes)) => bytes.clone(),
                    None => vec![],
                    Some(_) => {
                        let what = self.inconsistent(Type::User(id));
                        return Err(self.fatal(line, &what));
                    }
                };
                bytes.resize(size, 0);
                Ok(Value::Opaque(bytes))
            }
            Shape::Vlen(base) => {
                // As in `ncgen`, the default is a list of one default element.
                let nothing = [Item { line, value: Const::Fill }];
                let items = match given {
                    None => &nothing[..],
                    Some(Item { value: Const::List(items), .. }) => items,
                    Some(_) => return Err(self.fatal(line, "Vlen data must be enclosed in {..}")),
                };
                Ok(Value::Vlen(match self.list_values(base, items)? {
                    Values::User(_, values) => values,
                    plain => vec![Value::Atomic(plain)],
                }))
            }
            Shape::Compound(count) => {
                let items = match given {
                    None => &[],
                    Some(Item { value: Const::List(items), .. }) => &items[..],
                    Some(_) => return Err(self.fatal(line, "Compound data must be enclosed in {..}")),
                };
                if items.len() > count {
                    return Err(self.fatal(line, "Datalist longer than the number of compound fields"));
                }
                (0..count)
                    .map(|at| self.field(id, at, items.get(at), line))
                    .collect::<Parsed<_>>()
                    .map(Value::Compound)
            }
        }
    }

    fn enum_value(&mut self, id: TypeId, given: Option<&Item>, line: u32) -> Parsed<Value> {
        let ClassDecl::Enum { base, members } = &self.header.types[id.index()].class else {
            return Ok(Value::Enum(0));
        };
        let given = given.map(|item| &item.value);
        // `ncdump` prints the number of a value that no member has.
        if let Some((_, value)) = given.and_then(Const::integer)
            && in_type(*base, value) == value
        {
            return Ok(Value::Enum(value));
        }
        let what = match given {
            // A missing value is the first member.
            None => return Ok(Value::Enum(members.first().map_or(0, |member| member.1))),
            Some(Const::Name(name)) => {
                let own = &self.header.types[id.index()].name;
                let member = name.strip_prefix(own.as_slice()).and_then(|rest| rest.strip_prefix(b"."));
                let found =
                    members.iter().find(|(known, _)| known == name || Some(known.as_slice()) == member);
                match found {
                    Some((_, value)) => return Ok(Value::Enum(*value)),
                    // `ncdump` prints `_UNDEFINED` for a zero that no member has.
                    None if name == b"_UNDEFINED" => return Ok(Value::Enum(0)),
                    None => self.stray_name(name, Type::User(id)),
                }
            }
            Some(Const::List(_)) => "Expected primitive found {..}".to_string(),
            Some(_) => self.inconsistent(Type::User(id)),
        };
        Err(self.fatal(line, &what))
    }

    /// Converts a constant to a field of a compound value.
    fn field(&mut self, id: TypeId, at: usize, item: Option<&Item>, line: u32) -> Parsed<Value> {
        let ClassDecl::Compound(fields) = &self.header.types[id.index()].class else {
            return Ok(Value::Compound(vec![]));
        };
        let (ty, shape) = (fields[at].ty, fields[at].shape.clone());
        let given = item.filter(|item| item.value != Const::Fill);
        if shape.is_empty() {
            return match ty {
                Type::User(inner) => self.user_value(inner, given, None, line),
                Type::Atomic(Atomic::Char) => {
                    let char = given.map_or(Ok(0), |item| self.single_char(item, None))?;
                    Ok(Value::Atomic(Values::Char(vec![char])))
                }
                ty => {
                    let items = given.map_or(&[][..], std::slice::from_ref);
                    Ok(Value::Atomic(self.filled_values(ty, items, None, 1)?))
                }
            };
        }
        let count: usize = shape.iter().product();
        let items = match given {
            None => &[][..],
            Some(Item { value: Const::List(items), .. }) => &items[..],
            Some(item) => return Err(self.fatal(item.line, "Dimensioned fields must be enclose in {...}")),
        };
        if ty == Type::Atomic(Atomic::Char) {
            let unit = if shape.len() == 1 { 1 } else { shape[shape.len() - 1] };
            let mut chars = self.characters(items, shape.len(), unit as u64, Some(count as u64), None)?;
            chars.resize(count, 0);
            return Ok(Value::Atomic(Values::Char(chars)));
        }
        let items = &items[..items.len().min(count)];
        Ok(match self.filled_values(ty, items, None, count)? {
            Values::User(_, values) => Value::Array(values),
            plain => Value::Atomic(plain),
        })
    }

    // ---- Arrays with several unlimited dimensions ----

    /// Returns the lengths of a variable's dimensions; `None` for unlimited ones.
    fn lens(&self, var: VarId) -> Vec<Option<u64>> {
        self.header.var(var).dims.iter().map(|dim| self.header.dims[dim.index()].len).collect()
    }

    /// Extends unlimited dimensions to the lengths of a variable's nested lists.
    pub fn measure_tree(&mut self, var: VarId, items: &[Item]) -> Parsed<()> {
        let lens = self.lens(var);
        let is_char = self.header.var(var).ty == Type::Atomic(Atomic::Char);
        self.measure_level(var, &lens, 0, items, is_char)
    }

    /// Measures one list, which holds the dimensions from `level` up to the next unlimited one.
    fn measure_level(
        &mut self,
        var: VarId,
        lens: &[Option<u64>],
        level: usize,
        items: &[Item],
        is_char: bool,
    ) -> Parsed<()> {
        let next = (level + 1..lens.len()).find(|&at| lens[at].is_none());
        let block = lens[level + 1..next.unwrap_or(lens.len())]
            .iter()
            .flatten()
            .fold(1u64, |all, &len| all.saturating_mul(len));
        let mut count = items.len() as u64;
        if next.is_none() && is_char {
            count =
                items.iter().map(|item| item.value.to_chars().map_or(1, |chars| chars.len() as u64)).sum();
        }
        if lens[level].is_none() {
            let dim = self.header.var(var).dims[level];
            let length = &mut self.data.lengths[dim.index()];
            *length = (*length).max(count.div_ceil(block));
        }
        let Some(next) = next else { return Ok(()) };
        for item in items {
            match &item.value {
                Const::List(inner) => self.measure_level(var, lens, next, inner, is_char)?,
                _ => {
                    let what = "UNLIMITED dimension (other than first) must be enclosed in {}";
                    return Err(self.fatal(item.line, what));
                }
            }
        }
        Ok(())
    }

    /// Returns the whole array of a variable, with missing values filled.
    pub fn tree_values(&mut self, var: VarId, items: &[Item]) -> Parsed<Values> {
        const MOST: u64 = 1 << 28;
        let lens: Vec<_> = {
            let decl = self.header.var(var);
            decl.dims
                .iter()
                .map(|dim| self.header.dims[dim.index()].len.unwrap_or(self.data.lengths[dim.index()]))
                .collect()
        };
        let unlimited: Vec<_> = self.lens(var).iter().map(Option::is_none).collect();
        let total = lens.iter().fold(1u64, |all, &len| all.saturating_mul(len));
        if total > MOST {
            let line = self.header.var(var).line;
            return Err(self.fatal(line, "too many values of a variable with several unlimited dimensions"));
        }
        let decl = self.header.var(var);
        let (ty, fill) = (self.stored_type(decl.ty), decl.fill.clone());
        if ty == Type::Atomic(Atomic::Char) {
            let pad = self.fill_char(fill.as_ref());
            let mut chars = vec![];
            self.tree_chars(&lens, &unlimited, 0, items, pad, &mut chars)?;
            chars.resize(total as usize, pad);
            return Ok(Values::Char(chars));
        }
        let missing = Item { line: self.line(), value: Const::Fill };
        let mut flat = Vec::with_capacity(total as usize);
        flatten(&lens, &unlimited, 0, items, &missing, &mut flat);
        flat.resize(total as usize, &missing);
        let flat: Vec<Item> = flat.into_iter().cloned().collect();
        self.filled_values(ty, &flat, fill.as_ref(), 0)
    }

    fn tree_chars(
        &mut self,
        lens: &[u64],
        unlimited: &[bool],
        level: usize,
        items: &[Item],
        pad: u8,
        into: &mut Vec<u8>,
    ) -> Parsed<()> {
        let start = into.len();
        let size = lens[level..].iter().product::<u64>() as usize;
        match (level + 1..lens.len()).find(|&at| unlimited[at]) {
            Some(next) => {
                for item in items {
                    if let Const::List(inner) = &item.value {
                        self.tree_chars(lens, unlimited, next, inner, pad, into)?;
                    }
                }
            }
            None => {
                let rank = lens.len() - level;
                let unit = if rank == 1 { 1 } else { lens[lens.len() - 1] };
                let chars = self.characters(items, rank, unit, Some(size as u64), None)?;
                into.extend_from_slice(&chars);
            }
        }
        into.resize(start + size, pad);
        Ok(())
    }
}

/// Concatenates nested lists, each padded to the size of its dimensions.
fn flatten<'i>(
    lens: &[u64],
    unlimited: &[bool],
    level: usize,
    items: &'i [Item],
    missing: &'i Item,
    into: &mut Vec<&'i Item>,
) {
    let start = into.len();
    let size = lens[level..].iter().product::<u64>() as usize;
    match (level + 1..lens.len()).find(|&at| unlimited[at]) {
        Some(next) => {
            for item in items {
                if let Const::List(inner) = &item.value {
                    flatten(lens, unlimited, next, inner, missing, into);
                }
            }
        }
        None => into.extend(items),
    }
    into.resize(start + size, missing);
}
