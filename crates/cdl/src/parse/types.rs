//! Grammar of user-defined types.

use std::collections::HashSet;

use ferrocdf_model::{Atomic, Type, TypeId};

use super::constant::Const;
use super::header::{ClassDecl, FieldDecl, Thing, TypeDecl};
use super::parser::{MAX_DEPTH, MAX_DIMS, Parsed, Parser, shown};
use super::token::{Keyword, Token};

/// Largest number of atomic values in one value of a user-defined type.
const MAX_LEAVES: u64 = 1 << 24;

impl Parser<'_> {
    pub fn type_or_attribute(&mut self) -> Parsed<()> {
        if self.late_attribute()? {
            return Ok(());
        }
        match self.lexer.peek() {
            Token::Keyword(Keyword::Compound) => self.compound()?,
            Token::Keyword(Keyword::Opaque) => self.opaque()?,
            Token::Sign(b':') => return self.attribute_statement(""),
            _ => {
                let thing = self.thing("")?;
                match (self.lexer.peek(), thing) {
                    (Token::Keyword(Keyword::Enum), Thing::Type(Type::Atomic(base))) => {
                        self.enumeration(base)?
                    }
                    (Token::Sign(b'('), _) => self.vlen(thing)?,
                    _ => {
                        self.attribute_of(thing)?;
                        return self.expect(b';');
                    }
                }
            }
        }
        self.needs.enhanced = true;
        self.lexer.eat(b';');
        Ok(())
    }

    fn new_type(&mut self) -> Parsed<Vec<u8>> {
        let name = self.name()?;
        if self.header.group(self.here).types.contains_key(&name) {
            self.wrong(&format!("duplicate type declaration for {}", shown(&name)));
        }
        Ok(name)
    }

    fn add_type(&mut self, name: Vec<u8>, class: ClassDecl) -> Parsed<()> {
        let (mut size, mut align, mut leaves, mut depth) = (0usize, 1usize, 1u64, 1u32);
        match &class {
            ClassDecl::Enum { base, .. } => (size, align) = (base.size(), base.size()),
            ClassDecl::Opaque(bytes) => size = *bytes,
            ClassDecl::Vlen(base) => {
                let (_, _, inner, below) = self.header.measure(*base);
                (size, align, leaves, depth) = (16, 8, inner, below + 1);
            }
            ClassDecl::Compound(fields) => {
                leaves = 0;
                for field in fields {
                    let (bytes, needs, inner, below) = self.header.measure(field.ty);
                    let count =
                        field.shape.iter().fold(1u64, |product, &len| product.saturating_mul(len as u64));
                    leaves = leaves.saturating_add(inner.saturating_mul(count));
                    depth = depth.max(below + 1);
                    align = align.max(needs);
                    let total = bytes.saturating_mul(usize::try_from(count).unwrap_or(usize::MAX));
                    size = size.next_multiple_of(needs).saturating_add(total).min(usize::MAX >> 8);
                }
                size = size.next_multiple_of(align);
            }
        }
        if leaves > MAX_LEAVES || depth as usize > MAX_DEPTH || size > 1 << 30 {
            let text = format!("type {} is too large or nested too deeply", shown(&name));
            return Err(self.fatal(self.line(), &text));
        }
        let id = TypeId(self.header.types.len() as u32);
        self.header.group_mut(self.here).types.entry(name.clone()).or_insert(id);
        let group = self.here;
        self.header.types.push(TypeDecl { name, group, class, size, align, leaves, depth });
        Ok(())
    }

    fn enumeration(&mut self, base: Atomic) -> Parsed<()> {
        self.lexer.next();
        let name = self.new_type()?;
        self.expect(b'{')?;
        let mut members = vec![];
        let mut seen = HashSet::new();
        loop {
            let member = self.member_name()?;
            self.expect(b'=')?;
            let value = self.integer("")?;
            if !seen.insert(member.clone()) {
                self.wrong(&format!("duplicate enum declaration for {}", shown(&member)));
            }
            members.push((member, in_type(base, value)));
            if !self.lexer.eat(b',') {
                break;
            }
        }
        self.expect(b'}')?;
        self.add_type(name, ClassDecl::Enum { base, members })
    }

    fn opaque(&mut self) -> Parsed<()> {
        self.lexer.next();
        self.expect(b'(')?;
        let size = match self.lexer.next() {
            Token::Number(Const::Int(Atomic::Int, value @ 1..)) => value as usize,
            token => return Err(self.unexpected(&token, "INT_CONST")),
        };
        self.expect(b')')?;
        let name = self.new_type()?;
        self.add_type(name, ClassDecl::Opaque(size))
    }

    fn vlen(&mut self, base: Thing) -> Parsed<()> {
        let base = self.as_type(base)?;
        self.expect(b'(')?;
        self.expect(b'*')?;
        self.expect(b')')?;
        let name = self.new_type()?;
        self.add_type(name, ClassDecl::Vlen(base))
    }

    fn compound(&mut self) -> Parsed<()> {
        self.lexer.next();
        let name = self.new_type()?;
        self.expect(b'{')?;
        let mut fields: Vec<FieldDecl> = vec![];
        let mut seen = HashSet::new();
        loop {
            let thing = self.thing("")?;
            let ty = self.as_type(thing)?;
            loop {
                let field = self.member_name()?;
                let shape = if self.lexer.eat(b'(') { self.field_shape(&field)? } else { vec![] };
                if !seen.insert(field.clone()) {
                    self.wrong(&format!("duplicate field declaration for {}", shown(&field)));
                }
                fields.push(FieldDecl { name: field, ty, shape });
                if !self.lexer.eat(b',') {
                    break;
                }
            }
            self.expect(b';')?;
            if self.lexer.eat(b'}') {
                break;
            }
        }
        self.add_type(name, ClassDecl::Compound(fields))
    }

    fn field_shape(&mut self, field: &[u8]) -> Parsed<Vec<usize>> {
        let mut shape = vec![];
        loop {
            match self.lexer.next() {
                Token::Number(Const::Int(Atomic::Int | Atomic::Uint, value)) => {
                    match usize::try_from(value) {
                        Ok(len @ 1..) => shape.push(len),
                        _ => return Err(self.fatal_bare("field dimension must be positive")),
                    }
                }
                token => return Err(self.unexpected(&token, "INT_CONST or UINT_CONST")),
            }
            if !self.lexer.eat(b',') {
                break;
            }
        }
        self.expect(b')')?;
        if shape.len() >= MAX_DIMS {
            return Err(self.fatal(self.line(), &format!("{} has too many dimensions", shown(field))));
        }
        Ok(shape)
    }
}

/// Truncates an enum value to its base type.
pub(super) fn in_type(base: Atomic, value: i128) -> i128 {
    match base {
        Atomic::Byte => i128::from(value as i8),
        Atomic::Short => i128::from(value as i16),
        Atomic::Int => i128::from(value as i32),
        Atomic::Int64 => i128::from(value as i64),
        Atomic::Ubyte | Atomic::Char => i128::from(value as u8),
        Atomic::Ushort => i128::from(value as u16),
        Atomic::Uint => i128::from(value as u32),
        _ => i128::from(value as u64),
    }
}
