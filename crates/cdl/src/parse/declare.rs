//! Grammar of dimensions and variables.

use ferrocdf_model::{Atomic, DimId, Owner, Storage, Type, VarId};

use super::header::{DimDecl, Path, VarDecl};
use super::parser::{MAX_DIMS, Parsed, Parser, shown};
use super::token::{Keyword, Token, is_reserved};

impl Parser<'_> {
    /// Parses an integer of type `int` or wider.
    pub fn integer(&mut self, wanted: &str) -> Parsed<i128> {
        let token = self.lexer.next();
        token.wide_integer().ok_or_else(|| self.unexpected(&token, wanted))
    }

    pub fn dimensions_or_attribute(&mut self) -> Parsed<()> {
        if matches!(self.lexer.peek(), Token::Name(_)) || self.lexer.is_word_before(b'=') {
            let name = self.name()?;
            if *self.lexer.peek() != Token::Sign(b'=') {
                let thing = self.resolve(&Path { group: None, name })?;
                self.attribute_of(thing)?;
                return self.expect(b';');
            }
            self.dimension(name)?;
            while self.lexer.eat(b',') {
                let name = self.name()?;
                self.dimension(name)?;
            }
            return self.expect(b';');
        }
        self.attribute_statement("")
    }

    fn dimension(&mut self, name: Vec<u8>) -> Parsed<()> {
        if self.header.group(self.here).dims.contains_key(&name) {
            self.wrong(&format!("Duplicate dimension declaration for {}", shown(&name)));
        }
        self.expect(b'=')?;
        let len = if self.eat_keyword(Keyword::Unlimited) {
            None
        } else {
            // As in the C API, a length of 0 means unlimited. A negative length becomes one that no format allows.
            let value = self.integer("")?;
            Some(u64::try_from(value).unwrap_or(u64::MAX)).filter(|&len| len > 0)
        };
        let id = DimId(self.header.dims.len() as u32);
        self.header.group_mut(self.here).dims.entry(name.clone()).or_insert(id);
        self.header.dims.push(DimDecl { name, group: self.here, len });
        Ok(())
    }

    pub fn variables_or_attribute(&mut self) -> Parsed<()> {
        if *self.lexer.peek() == Token::Sign(b':') {
            return self.attribute_statement("");
        }
        if self.late_attribute()? {
            return Ok(());
        }
        let thing = self.thing("")?;
        if *self.lexer.peek() == Token::Sign(b':') {
            self.attribute_of(thing)?;
            return self.expect(b';');
        }
        let ty = self.as_type(thing)?;
        let first = match self.lexer.next_name() {
            Ok(name) => Path { group: None, name },
            Err(Token::Keyword(Keyword::Data)) => Path { group: None, name: b"data".to_vec() },
            Err(Token::Path(names)) => self.path_of(names),
            Err(token) => return Err(self.unexpected(&token, "IDENT or DATA")),
        };
        if *self.lexer.peek() == Token::Sign(b':') {
            if let (Some(keyword), Type::Atomic(ty)) = (self.lexer.keyword(&first.name), ty)
                && ty != Atomic::String
            {
                // `ncdump` shows the type of such an attribute by its values, so the word is a keyword and not a name.
                return Err(self.unexpected(&keyword, "IDENT or DATA"));
            }
            let thing = self.resolve(&first)?;
            self.typed_attribute_of(ty, thing)?;
            return self.expect(b';');
        }
        self.variable(ty, first.name)?;
        while self.lexer.eat(b',') {
            let name = match self.lexer.next_name() {
                Ok(name) => name,
                Err(Token::Keyword(Keyword::Data)) => b"data".to_vec(),
                Err(token) => return Err(self.unexpected(&token, "IDENT or DATA")),
            };
            self.variable(ty, name)?;
        }
        self.expect(b';')
    }

    fn variable(&mut self, ty: Type, name: Vec<u8>) -> Parsed<()> {
        let mut dims = vec![];
        let line = self.line();
        if self.lexer.eat(b'(') {
            loop {
                let path = match self.lexer.next_name() {
                    Ok(name) => Path { group: None, name },
                    Err(Token::Path(names)) => self.path_of(names),
                    Err(token) => return Err(self.unexpected(&token, "IDENT or PATH")),
                };
                match self.header.find_dim(self.here, &path) {
                    Some(dim) => dims.push(dim),
                    None => {
                        let text =
                            format!("Undefined or forward referenced dimension: {}", shown(&path.name));
                        return Err(self.fatal_bare(&text));
                    }
                }
                if !self.lexer.eat(b',') {
                    break;
                }
            }
            self.expect(b')')?;
        }
        if dims.len() >= MAX_DIMS {
            self.wrong(&format!("{} has too many dimensions", shown(&name)));
            dims.clear();
        }
        if self.header.group(self.here).vars.contains_key(&name) {
            self.wrong(&format!("Duplicate variable declaration for {}", shown(&name)));
            return Ok(());
        }
        let id = VarId(self.header.vars.len() as u32);
        self.header.group_mut(self.here).vars.insert(name.clone(), id);
        if is_reserved(&name) {
            self.lexer.variables.insert(name.clone());
        }
        let (group, storage) = (self.here, Storage::default());
        self.header.vars.push(VarDecl { name, group, ty, dims, storage, codecs: None, fill: None, line });
        Ok(())
    }

    /// Returns the owner of group attributes.
    pub fn group_owner(&self) -> Owner {
        Owner::Group(self.here)
    }
}
