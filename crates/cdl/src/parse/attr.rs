//! Grammar of attributes, including special attributes such as `_Storage`.

use ferrocdf_codec::spec::{List, Syntax};
use ferrocdf_model::{Atomic, Chunking, Endian, Filter, GroupId, Owner, Type};

use super::constant::{Const, Item};
use super::format_named;
use super::header::{AttrDecl, LateType, Thing};
use super::parser::{Parsed, Parser, shown};
use super::token::{Special, Token};

impl Parser<'_> {
    /// Parses `… : name = values ;`.
    pub fn attribute_statement(&mut self, wanted: &str) -> Parsed<()> {
        if self.late_attribute()? {
            return Ok(());
        }
        if self.lexer.eat(b':') {
            self.global_attribute(None)?;
        } else {
            let thing = self.thing(wanted)?;
            self.attribute_of(thing)?;
        }
        self.expect(b';')
    }

    /// Parses `type … : name = values ;` if the type is not declared yet. False, with no token taken, if the next token
    /// is anything else.
    pub fn late_attribute(&mut self) -> Parsed<bool> {
        let names = match self.lexer.peek() {
            Token::Path(names) if !self.header.is_declared(names) => names.clone(),
            _ => return Ok(false),
        };
        let line = self.line();
        self.lexer.next();
        let attr = self.header.attrs.len();
        if self.lexer.eat(b':') {
            self.global_attribute(None)?;
        } else {
            let owner = self.path("")?;
            if *self.lexer.peek() != Token::Sign(b':') {
                let ty = self.path_of(names);
                return self.resolve(&ty).map(|_| true);
            }
            let owner = self.resolve(&owner)?;
            self.lexer.next();
            self.variable_attribute(owner, None)?;
        }
        if self.header.attrs.len() > attr {
            self.header.late.push(LateType { attr, names, line });
        }
        self.expect(b';')?;
        Ok(true)
    }

    /// Resolves the types of attributes that are declared after the attribute.
    pub fn resolve_late(&mut self) -> Parsed<()> {
        for LateType { attr, names, line } in std::mem::take(&mut self.header.late) {
            let path = self.path_of(names);
            let Some(thing) = self.header.find_thing(GroupId::ROOT, &path) else {
                let text = format!("Undefined name (line {line}): {}", shown(&path.name));
                return Err(self.fatal_bare(&text));
            };
            let ty = self.as_type(thing)?;
            self.header.attrs[attr].ty.get_or_insert(ty);
        }
        Ok(())
    }

    /// Parses an attribute after its first word, which is a variable, or a type before the owner.
    pub fn attribute_of(&mut self, thing: Thing) -> Parsed<()> {
        if self.lexer.eat(b':') {
            return match thing {
                Thing::Var(_) => self.variable_attribute(thing, None),
                Thing::Type(_) => {
                    let ty = self.as_type(thing)?;
                    self.global_attribute(Some(ty))
                }
            };
        }
        let ty = self.as_type(thing)?;
        let owner = self.thing("")?;
        self.typed_attribute_of(ty, owner)
    }

    /// Parses an attribute after its type and owner.
    pub fn typed_attribute_of(&mut self, ty: Type, owner: Thing) -> Parsed<()> {
        self.expect(b':')?;
        if let Thing::Type(_) = owner {
            let name = self.name()?;
            let text = format!("Doubly typed attribute: {}", String::from_utf8_lossy(&name));
            return Err(self.fatal_bare(&text));
        }
        self.variable_attribute(owner, Some(ty))
    }

    fn global_attribute(&mut self, ty: Option<Type>) -> Parsed<()> {
        let line = self.line();
        match self.lexer.next_with_slashes() {
            Token::Special(special) if ty.is_none() && special.is_global() => {
                self.expect(b'=')?;
                self.global_special(special)
            }
            token => {
                let owner = self.group_owner();
                self.plain_attribute(owner, token, ty, line)
            }
        }
    }

    /// Parses an ordinary attribute, whose name is the word of `token`.
    fn plain_attribute(&mut self, owner: Owner, token: Token, ty: Option<Type>, line: u32) -> Parsed<()> {
        let name = match (token, self.lexer.take_word()) {
            (Token::Name(name), _) | (_, Some(name)) => name,
            (token, None) => return Err(self.unexpected(&token, "")),
        };
        self.expect(b'=')?;
        let items = self.attribute_values(Some(&name))?;
        self.header.attrs.push(AttrDecl { owner, name, ty, items, line });
        Ok(())
    }

    fn variable_attribute(&mut self, owner: Thing, ty: Option<Type>) -> Parsed<()> {
        let line = self.line();
        let Thing::Var(id) = owner else { return Ok(()) };
        match self.lexer.next_with_slashes() {
            Token::Special(Special::FillValue) => {
                self.expect(b'=')?;
                let items = self.attribute_values(None)?;
                if items.len() != 1 {
                    self.wrong_bare("_FillValue: must be a single (possibly compound) value");
                    return Ok(());
                }
                // A fill value has the type of its variable, even if another type is written.
                let var = &mut self.header.vars[id.index()];
                var.fill = items.first().cloned();
                let (ty, name) = (Some(var.ty), b"_FillValue".to_vec());
                self.header.attrs.push(AttrDecl { owner: Owner::Var(id), name, ty, items, line });
                Ok(())
            }
            Token::Special(special) if ty.is_none() && !special.is_global() => {
                self.expect(b'=')?;
                self.needs.specials = true;
                self.variable_special(special, id.index())
            }
            token => self.plain_attribute(Owner::Var(id), token, ty, line),
        }
    }

    /// Parses the values of an attribute; `_` is an error among them.
    fn attribute_values(&mut self, name: Option<&[u8]>) -> Parsed<Vec<Item>> {
        let items = self.items(1)?;
        if holds_fill(&items) {
            let name = name.map_or(String::new(), |name| format!(": {}", String::from_utf8_lossy(name)));
            self.wrong_bare(&format!("Attribute data may not contain fill values (i.e. _ ){name}"));
        }
        Ok(items)
    }

    fn special_text(&mut self) -> Parsed<String> {
        match self.lexer.next() {
            Token::Text(text) => Ok(String::from_utf8_lossy(&text).into_owned()),
            token => Err(self.unexpected(&token, "TERMSTRING")),
        }
    }

    fn special_flag(&mut self, special: Special) -> Parsed<bool> {
        let flag = match self.lexer.next() {
            Token::Text(text) => match &*text {
                b"false" | b"0" => Some(false),
                b"true" | b"1" => Some(true),
                _ => None,
            },
            token => match token.wide_integer() {
                Some(0) => Some(false),
                Some(1) => Some(true),
                Some(_) => None,
                None => return Err(self.unexpected(&token, "")),
            },
        };
        if flag.is_none() {
            self.wrong_bare(&format!("{}: illegal value", special.name()));
        }
        Ok(flag.unwrap_or(false))
    }

    fn special_sizes(&mut self, special: Special) -> Parsed<Vec<u64>> {
        let mut sizes = vec![];
        loop {
            let size = self.integer("")?;
            match u64::try_from(size) {
                Ok(size) => sizes.push(size),
                Err(_) => self.wrong_bare(&format!("{}: illegal value", special.name())),
            }
            if !self.lexer.eat(b',') {
                return Ok(sizes);
            }
        }
    }

    fn global_special(&mut self, special: Special) -> Parsed<()> {
        if special != Special::Format {
            // These attributes describe a file, not its contents; they are generated when a file is written.
            self.needs.specials = true;
            match special {
                Special::NcProperties => drop(self.special_text()?),
                Special::SuperblockVersion => drop(self.integer("")?),
                _ => drop(self.special_flag(special)?),
            }
            return Ok(());
        }
        let kind = self.special_text()?;
        match format_named(&kind) {
            Some(format) => self.format_attribute = Some(format),
            None => self.wrong_bare(&format!("_Format: illegal value: {kind}")),
        }
        Ok(())
    }

    fn variable_special(&mut self, special: Special, var: usize) -> Parsed<()> {
        match special {
            Special::Storage => {
                let text = self.special_text()?;
                let chunking = &mut self.header.vars[var].storage.chunking;
                match &*text {
                    "contiguous" => *chunking = Some(Chunking::Contiguous),
                    "compact" => *chunking = Some(Chunking::Compact),
                    "chunked" if matches!(chunking, Some(Chunking::Chunked(_))) => {}
                    "chunked" => *chunking = Some(Chunking::Chunked(vec![])),
                    // `ncdump` prints this for virtual and external data, which CDL cannot describe.
                    "unknown" => {}
                    _ => self.wrong_bare(&format!("_Storage: illegal value: {text}")),
                }
            }
            Special::ShardSizes => {
                let sizes = self.special_sizes(special)?;
                if sizes.len() != self.header.vars[var].dims.len() || sizes.contains(&0) {
                    self.wrong_bare("_ShardSizes: a size for each dimension is wanted, none of them 0");
                }
                self.header.vars[var].storage.shards = Some(sizes);
            }
            Special::ChunkSizes => {
                let mut sizes = self.special_sizes(special)?;
                // 0 lets the writer choose a size. Missing sizes are 0, surplus sizes are ignored.
                sizes.resize(self.header.vars[var].dims.len(), 0);
                self.header.vars[var].storage.chunking = Some(Chunking::Chunked(sizes));
            }
            Special::Fletcher32 => {
                let on = self.special_flag(special)?;
                self.set_filter(var, Filter::FLETCHER32, on.then(Vec::new));
            }
            Special::Shuffle => {
                let on = self.special_flag(special)?;
                self.set_filter(var, Filter::SHUFFLE, on.then(Vec::new));
            }
            Special::DeflateLevel => {
                let level = self.integer("")?;
                // Level 0 means no deflate filter.
                let level = u32::try_from(level).ok().filter(|&level| level > 0);
                self.set_filter(var, Filter::DEFLATE, level.map(|level| vec![level]));
            }
            Special::Endianness => {
                let text = self.special_text()?;
                match &*text {
                    "little" => self.header.vars[var].storage.endian = Some(Endian::Little),
                    "big" => self.header.vars[var].storage.endian = Some(Endian::Big),
                    _ => self.wrong_bare(&format!("_Endianness: illegal value: {text}")),
                }
            }
            Special::NoFill => self.header.vars[var].storage.no_fill = self.special_flag(special)?,
            Special::Filter => {
                let text = self.special_text()?;
                match List::parse(text.as_bytes(), Syntax::Strict) {
                    Ok(List { specs, .. }) if specs.is_empty() => {
                        self.wrong_bare("_Filter: unparsable filter spec: it is empty");
                    }
                    Ok(List { specs, .. }) => {
                        for spec in specs {
                            match spec.hdf5_id() {
                                Ok(id) => self.set_filter(var, id, Some(spec.params)),
                                Err(error) => self.wrong_bare(&format!("_Filter: {}", error.what)),
                            }
                        }
                    }
                    Err(error) => {
                        self.wrong_bare(&format!("_Filter: unparsable filter spec: {}", error.what))
                    }
                }
            }
            // `_Codecs`; the special attributes of a dataset do not occur here.
            _ => self.header.vars[var].codecs = Some(self.special_text()?),
        }
        Ok(())
    }

    /// Adds a filter, replaces its parameters, or removes it.
    fn set_filter(&mut self, var: usize, id: u32, params: Option<Vec<u32>>) {
        let storage = &mut self.header.vars[var].storage;
        match params {
            Some(params) => storage.set_filter(id, params),
            None => storage.remove_filter(id),
        }
    }
}

impl Special {
    fn is_global(self) -> bool {
        matches!(
            self,
            Special::Format | Special::NcProperties | Special::IsNetcdf4 | Special::SuperblockVersion
        )
    }
}

fn holds_fill(items: &[Item]) -> bool {
    items.iter().any(|item| match &item.value {
        Const::Fill => true,
        Const::List(inner) => holds_fill(inner),
        _ => false,
    })
}

/// Returns the type of an attribute declared without one; `None` if its values have no common type.
///
/// Text gives `char`; any `double` gives `double`; else any `float` gives `float`; else integers give the widest of
/// their types, the later one of two types of equal width.
pub(super) fn infer(items: &[Item]) -> Option<Atomic> {
    let types: Option<Vec<Atomic>> = items
        .iter()
        .map(|item| match &item.value {
            Const::Float(_) => Some(Atomic::Float),
            Const::Double(_) => Some(Atomic::Double),
            Const::Text(_) => Some(Atomic::Char),
            other => other.integer().map(|(ty, _)| ty),
        })
        .collect();
    let types = types?;
    let has = |ty| types.contains(&ty);
    if types.is_empty() || types.iter().all(|&ty| ty == Atomic::Char) {
        return Some(Atomic::Char);
    }
    if has(Atomic::Char) {
        return None;
    }
    if let Some(real) = [Atomic::Double, Atomic::Float].into_iter().find(|&real| has(real)) {
        return Some(real);
    }
    let beyond_int64 =
        |item: &Item| matches!(item.value, Const::Int(Atomic::Uint64, value) if value > i64::MAX.into());
    if items.iter().any(beyond_int64) {
        return Some(Atomic::Uint64);
    }
    types.into_iter().reduce(|prior, next| if prior.size() <= next.size() { next } else { prior })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[Const]) -> Option<Atomic> {
        infer(&values.iter().map(|value| Item { line: 1, value: value.clone() }).collect::<Vec<_>>())
    }

    #[test]
    fn types_of_untyped_attributes() {
        let int = |ty| Const::Int(ty, 1);
        assert_eq!(of(&[]), Some(Atomic::Char));
        assert_eq!(of(&[Const::Text(vec![])]), Some(Atomic::Char));
        assert_eq!(of(&[Const::Text(vec![]), int(Atomic::Int)]), None);
        assert_eq!(of(&[int(Atomic::Int), Const::Float(1.0), Const::Double(2.0)]), Some(Atomic::Double));
        assert_eq!(of(&[int(Atomic::Int64), Const::Float(1.0)]), Some(Atomic::Float));
        assert_eq!(of(&[int(Atomic::Ubyte), int(Atomic::Short)]), Some(Atomic::Short));
        assert_eq!(of(&[int(Atomic::Int), int(Atomic::Uint)]), Some(Atomic::Uint));
        assert_eq!(of(&[int(Atomic::Uint), int(Atomic::Int), int(Atomic::Byte)]), Some(Atomic::Int));
        assert_eq!(of(&[Const::Int(Atomic::Uint64, 1 << 63), int(Atomic::Int64)]), Some(Atomic::Uint64));
        assert_eq!(of(&[Const::Fill]), None);
        assert_eq!(of(&[Const::Opaque(vec![1])]), None);
    }
}
