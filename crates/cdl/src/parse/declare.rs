//! The grammar of everything but data: groups, types, dimensions, variables.

use std::collections::HashSet;

use ferrocdf_model::{Atomic, DimId, Format, GroupId, Owner, Storage, Type, TypeId, VarId};

use super::constant::Const;
use super::data::Data;
use super::header::{ClassDecl, DimDecl, FieldDecl, GroupDecl, Header, Path, Thing, TypeDecl, VarDecl};
use super::lexer::{Keyword, Lexer, Token};
use super::{Failure, Options, Outcome, Sink};

/// `NC_MAX_VAR_DIMS`
const MAX_DIMS: usize = 1024;
/// Groups in groups, and types in types.
const MAX_DEPTH: usize = 128;
/// Atomic values in one value of a user-defined type.
const MAX_LEAVES: u64 = 1 << 24;

pub(super) type Parsed<T> = Result<T, Failure>;

/// What a text uses that not every format holds.
#[derive(Default)]
pub(super) struct Needs {
    /// Groups or user-defined types.
    pub enhanced: bool,
    /// Strings.
    pub strings: bool,
    /// Unsigned or 64-bit integers.
    pub wide: bool,
    /// Special attributes.
    pub specials: bool,
}

/// Reads a text from start to end.
pub(super) struct Parser<'a> {
    pub lexer: Lexer<'a>,
    pub options: &'a Options,
    pub sink: &'a mut dyn Sink,
    pub header: Header,
    pub needs: Needs,
    /// What `_Format` says.
    pub format_attribute: Option<Format>,
    /// The group that is being read.
    pub here: GroupId,
    /// Messages that make the text wrong.
    pub errors: usize,
    pub data: Data,
}

fn shown(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

impl<'a> Parser<'a> {
    pub fn new(lexer: Lexer<'a>, options: &'a Options, sink: &'a mut dyn Sink) -> Self {
        Parser {
            lexer,
            options,
            sink,
            header: Header::default(),
            needs: Needs { enhanced: options.enhanced, ..Needs::default() },
            format_attribute: None,
            here: GroupId::ROOT,
            errors: 0,
            data: Data::default(),
        }
    }

    // ---- Messages ----

    pub fn line(&self) -> u32 {
        self.lexer.source.line
    }

    fn tell_at(&mut self, line: u32, what: &str) {
        let text = format!("{}: {} line {line}: {what}", self.options.program, self.options.file);
        self.sink.message(&text);
    }

    /// A message that leaves the text right.
    pub fn warn(&mut self, line: u32, what: &str) {
        self.tell_at(line, what);
    }

    /// A message that makes the text wrong, while reading goes on.
    pub fn wrong(&mut self, what: &str) {
        self.tell_at(self.line(), what);
        self.errors += 1;
    }

    /// The same without the line.
    pub fn wrong_bare(&mut self, what: &str) {
        self.sink.message(what);
        self.errors += 1;
    }

    /// A message that ends reading.
    pub fn fatal(&mut self, line: u32, what: &str) -> Failure {
        self.tell_at(line, what);
        self.errors += 1;
        Failure::Text
    }

    /// The same without the line.
    pub fn fatal_bare(&mut self, what: &str) -> Failure {
        self.wrong_bare(what);
        Failure::Text
    }

    /// The failure for a token that has no place here. A complaint of the lexer about the token comes first.
    pub fn unexpected(&mut self, token: &Token, wanted: &str) -> Failure {
        if let Err(error) = self.lexer.source.take_error() {
            return Failure::File(error);
        }
        let mut shown = token.shown();
        if let Some(complaint) = self.lexer.complaint.take() {
            self.wrong(&complaint);
            shown = Token::End.shown();
        }
        let expecting = if wanted.is_empty() { String::new() } else { format!(", expecting {wanted}") };
        self.fatal(self.line(), &format!("syntax error, unexpected {shown}{expecting}"))
    }

    pub fn expect(&mut self, sign: u8) -> Parsed<()> {
        if self.lexer.eat(sign) {
            return Ok(());
        }
        let token = self.lexer.next();
        Err(self.unexpected(&token, &format!("'{}'", char::from(sign))))
    }

    fn eat_keyword(&mut self, keyword: Keyword) -> bool {
        let found = *self.lexer.peek() == Token::Keyword(keyword);
        if found {
            self.lexer.next();
        }
        found
    }

    // ---- The whole text ----

    pub fn run(mut self) -> Parsed<Outcome> {
        let token = self.lexer.next();
        if token != Token::Keyword(Keyword::Netcdf) {
            return Err(self.unexpected(&token, "NETCDF"));
        }
        let name = shown(&self.lexer.dataset_name());
        self.header.groups.push(GroupDecl { name: name.clone().into_bytes(), ..GroupDecl::default() });
        self.expect(b'{')?;
        self.groups()?;
        let token = self.lexer.next();
        if token != Token::End {
            return Err(self.unexpected(&token, "end of file"));
        }
        if let Err(error) = self.lexer.source.take_error() {
            return Err(Failure::File(error));
        }
        if self.errors > 0 {
            return Err(Failure::Text);
        }
        let format = self.finish()?;
        Ok(Outcome { name, format })
    }

    /// The body of the root group and all groups in it, up to the last brace.
    fn groups(&mut self) -> Parsed<()> {
        let mut depth = 1;
        self.body()?;
        loop {
            match self.lexer.next() {
                Token::Keyword(Keyword::Group) => {
                    self.begin_group()?;
                    depth += 1;
                    if depth > MAX_DEPTH {
                        return Err(self.fatal(self.line(), "groups are nested too deeply"));
                    }
                    self.body()?;
                }
                Token::Sign(b'}') => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(());
                    }
                    self.here = self.header.group(self.here).parent.unwrap_or(GroupId::ROOT);
                    while *self.lexer.peek() != Token::Keyword(Keyword::Group)
                        && *self.lexer.peek() != Token::Sign(b'}')
                    {
                        self.attribute_statement("GROUP or '}'")?;
                    }
                }
                token => return Err(self.unexpected(&token, "GROUP or '}'")),
            }
        }
    }

    fn begin_group(&mut self) -> Parsed<()> {
        let name = self.name()?;
        self.expect(b'{')?;
        self.needs.enhanced = true;
        let id = GroupId(self.header.groups.len() as u32);
        if self.header.group(self.here).groups.contains_key(&name) {
            self.wrong_bare(&format!("Duplicate group name in same scope: {}", shown(&name)));
            self.wrong(&format!("duplicate group declaration within parent group for {}", shown(&name)));
        }
        self.header.group_mut(self.here).groups.insert(name.clone(), id);
        self.header.groups.push(GroupDecl { name, parent: Some(self.here), ..GroupDecl::default() });
        self.here = id;
        Ok(())
    }

    /// What is in one group before the groups in it.
    fn body(&mut self) -> Parsed<()> {
        loop {
            match self.lexer.peek() {
                Token::Keyword(
                    Keyword::Types
                    | Keyword::Dimensions
                    | Keyword::Variables
                    | Keyword::Data
                    | Keyword::Group,
                )
                | Token::Sign(b'}')
                | Token::End => break,
                _ => self.attribute_statement("")?,
            }
        }
        if self.eat_keyword(Keyword::Types) {
            while self.in_section(&[Keyword::Dimensions, Keyword::Variables, Keyword::Data, Keyword::Group]) {
                self.type_or_attribute()?;
            }
        }
        if self.eat_keyword(Keyword::Dimensions) {
            while self.in_section(&[Keyword::Variables, Keyword::Data, Keyword::Group]) {
                self.dimensions_or_attribute()?;
            }
        }
        if self.eat_keyword(Keyword::Variables) {
            while self.in_section(&[Keyword::Data, Keyword::Group]) {
                self.variables_or_attribute()?;
            }
        }
        if self.eat_keyword(Keyword::Data) {
            while self.in_section(&[Keyword::Group]) {
                self.data_statement()?;
            }
        }
        Ok(())
    }

    /// Whether the section goes on: the next token starts neither another section nor the end.
    fn in_section(&mut self, next: &[Keyword]) -> bool {
        match self.lexer.peek() {
            Token::Keyword(keyword) => !next.contains(keyword),
            Token::Sign(b'}') | Token::End => false,
            _ => true,
        }
    }

    // ---- Names ----

    /// A name that is being declared.
    pub fn name(&mut self) -> Parsed<Vec<u8>> {
        match self.lexer.next() {
            Token::Name(name) => Ok(name),
            token => Err(self.unexpected(&token, "IDENT")),
        }
    }

    fn path_of(&mut self, mut names: Vec<Vec<u8>>) -> Path {
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

    /// A name that refers to something.
    fn path(&mut self, wanted: &str) -> Parsed<Path> {
        match self.lexer.next() {
            Token::Name(name) => Ok(Path { group: None, name }),
            Token::Path(names) => Ok(self.path_of(names)),
            token => Err(self.unexpected(&token, wanted)),
        }
    }

    /// The variable or type that comes next.
    pub fn thing(&mut self, wanted: &str) -> Parsed<Thing> {
        if let Token::Keyword(Keyword::Type(atomic)) = *self.lexer.peek() {
            self.lexer.next();
            return Ok(Thing::Type(Type::Atomic(atomic)));
        }
        let path = self.path(wanted)?;
        self.resolve(&path)
    }

    fn resolve(&mut self, path: &Path) -> Parsed<Thing> {
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

    /// The thing as a type.
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

    // ---- Types ----

    fn type_or_attribute(&mut self) -> Parsed<()> {
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
            let member = self.name()?;
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
                let field = self.name()?;
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

    // ---- Dimensions ----

    /// An integer where only one without a small suffix may stand.
    pub fn integer(&mut self, wanted: &str) -> Parsed<i128> {
        match self.lexer.next() {
            Token::Number(Const::Int(Atomic::Int | Atomic::Uint | Atomic::Int64 | Atomic::Uint64, value)) => {
                Ok(value)
            }
            token => Err(self.unexpected(&token, wanted)),
        }
    }

    fn dimensions_or_attribute(&mut self) -> Parsed<()> {
        if let Token::Name(_) = self.lexer.peek() {
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
            // In C, a length of 0 and "unlimited" are one thing. A negative length is one that no format holds.
            let value = self.integer("")?;
            Some(u64::try_from(value).unwrap_or(u64::MAX)).filter(|&len| len > 0)
        };
        let id = DimId(self.header.dims.len() as u32);
        self.header.group_mut(self.here).dims.entry(name.clone()).or_insert(id);
        self.header.dims.push(DimDecl { name, group: self.here, len });
        Ok(())
    }

    // ---- Variables ----

    fn variables_or_attribute(&mut self) -> Parsed<()> {
        if *self.lexer.peek() == Token::Sign(b':') {
            return self.attribute_statement("");
        }
        let thing = self.thing("")?;
        if *self.lexer.peek() == Token::Sign(b':') {
            self.attribute_of(thing)?;
            return self.expect(b';');
        }
        let ty = self.as_type(thing)?;
        let first = match self.lexer.next() {
            Token::Name(name) => Path { group: None, name },
            Token::Keyword(Keyword::Data) => Path { group: None, name: b"data".to_vec() },
            Token::Path(names) => self.path_of(names),
            token => return Err(self.unexpected(&token, "IDENT or DATA")),
        };
        if *self.lexer.peek() == Token::Sign(b':') {
            let thing = self.resolve(&first)?;
            self.typed_attribute_of(ty, thing)?;
            return self.expect(b';');
        }
        self.variable(ty, first.name)?;
        while self.lexer.eat(b',') {
            let name = match self.lexer.next() {
                Token::Name(name) => name,
                Token::Keyword(Keyword::Data) => b"data".to_vec(),
                token => return Err(self.unexpected(&token, "IDENT or DATA")),
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
                let path = self.path("IDENT or PATH")?;
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
        let (group, storage) = (self.here, Storage::default());
        self.header.vars.push(VarDecl { name, group, ty, dims, storage, fill: None, line });
        Ok(())
    }

    /// The owner of attributes that are not a variable's.
    pub fn group_owner(&self) -> Owner {
        Owner::Group(self.here)
    }
}

/// An enum's value as its base type holds it.
fn in_type(base: Atomic, value: i128) -> i128 {
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
