//! Grammar of names: declarations and references.

use ferrocdf_model::{Atomic, GroupId, Type};

use super::header::{Path, Thing};
use super::parser::{Parsed, Parser, shown};
use super::token::{Keyword, Token};

impl Parser<'_> {
    /// Parses a name that is being declared.
    pub fn name(&mut self) -> Parsed<Vec<u8>> {
        self.lexer.next_name().map_err(|token| self.unexpected(&token, "IDENT"))
    }

    /// Parses the name of a member of a type that is being declared.
    pub fn member_name(&mut self) -> Parsed<Vec<u8>> {
        match (self.lexer.next_with_slashes(), self.lexer.take_word()) {
            (Token::Name(name), _) | (_, Some(name)) => Ok(name),
            (token, None) => Err(self.unexpected(&token, "IDENT")),
        }
    }

    pub fn path_of(&mut self, mut names: Vec<Vec<u8>>) -> Path {
        let name = names.pop().unwrap_or_default();
        let group = match self.header.walk(&names) {
            Ok(group) => group,
            Err(missing) => {
                let text = format!("Undefined or forward referenced group: {}", shown(missing));
                self.wrong(&text);
                GroupId::ROOT
            }
        };
        Path { group: Some(group), name }
    }

    /// Parses a reference: a name or a full path.
    pub fn path(&mut self, wanted: &str) -> Parsed<Path> {
        match self.lexer.next() {
            Token::Name(name) => Ok(Path { group: None, name }),
            Token::Path(names) => Ok(self.path_of(names)),
            token => Err(self.unexpected(&token, wanted)),
        }
    }

    /// Parses a reference to a variable or type.
    pub fn thing(&mut self, wanted: &str) -> Parsed<Thing> {
        if let Token::Keyword(Keyword::Type(atomic)) = *self.lexer.peek() {
            self.lexer.next();
            return Ok(Thing::Type(Type::Atomic(atomic)));
        }
        let path = self.path(wanted)?;
        self.resolve(&path)
    }

    pub fn resolve(&mut self, path: &Path) -> Parsed<Thing> {
        match self.header.find_thing(self.here, path) {
            Some(thing) => Ok(thing),
            None => {
                let text = format!("Undefined name (line {}): {}", self.line(), shown(&path.name));
                Err(self.fatal_bare(&text))
            }
        }
    }

    pub fn thing_name(&self, thing: Thing) -> String {
        match thing {
            Thing::Var(id) => shown(&self.header.var(id).name),
            Thing::Type(ty) => self.header.type_name(ty),
        }
    }

    /// Returns the type; an error if the name refers to a variable.
    pub fn as_type(&mut self, thing: Thing) -> Parsed<Type> {
        let ty = match thing {
            Thing::Type(ty) => ty,
            Thing::Var(_) => {
                let text = format!("Undefined or forward referenced type: {}", self.thing_name(thing));
                return Err(self.fatal_bare(&text));
            }
        };
        match ty {
            Type::Atomic(Atomic::String) => self.needs.strings = true,
            Type::Atomic(atomic) if atomic > Atomic::Double => self.needs.wide = true,
            _ => {}
        }
        Ok(ty)
    }
}
