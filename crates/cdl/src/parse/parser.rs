//! State of the parser, its messages, and the outer grammar: groups and their sections.

use ferrocdf_model::{Format, GroupId};

use super::data::Data;
use super::header::{GroupDecl, Header};
use super::lexer::Lexer;
use super::token::{Keyword, Token};
use super::{Outcome, ParseFailure, ParseOptions, Sink};

/// `NC_MAX_VAR_DIMS`
pub(super) const MAX_DIMS: usize = 1024;
/// Largest nesting depth of groups, and of types.
pub(super) const MAX_DEPTH: usize = 128;

pub(super) type Parsed<T> = Result<T, ParseFailure>;

/// Features of a text that some formats do not have.
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

/// Parser of one text.
pub(super) struct Parser<'a> {
    pub lexer: Lexer<'a>,
    pub options: &'a ParseOptions,
    pub sink: &'a mut dyn Sink,
    pub header: Header,
    pub needs: Needs,
    /// Format in the attribute `_Format`.
    pub format_attribute: Option<Format>,
    /// Current group.
    pub here: GroupId,
    /// Number of errors so far.
    pub errors: usize,
    pub data: Data,
}

/// Returns a name for a message.
pub(super) fn shown(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

impl<'a> Parser<'a> {
    pub fn new(lexer: Lexer<'a>, options: &'a ParseOptions, sink: &'a mut dyn Sink) -> Self {
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

    /// Reports a warning.
    pub fn warn(&mut self, line: u32, what: &str) {
        self.tell_at(line, what);
    }

    /// Reports an error after which parsing continues.
    pub fn wrong(&mut self, what: &str) {
        self.tell_at(self.line(), what);
        self.errors += 1;
    }

    /// Reports the same without a line number.
    pub fn wrong_bare(&mut self, what: &str) {
        self.sink.message(what);
        self.errors += 1;
    }

    /// Reports an error that ends parsing.
    pub fn fatal(&mut self, line: u32, what: &str) -> ParseFailure {
        self.tell_at(line, what);
        self.errors += 1;
        ParseFailure::Text
    }

    /// Reports the same without a line number.
    pub fn fatal_bare(&mut self, what: &str) -> ParseFailure {
        self.wrong_bare(what);
        ParseFailure::Text
    }

    /// Reports an unexpected token, and before it the error of the lexer about the token, if any.
    pub fn unexpected(&mut self, token: &Token, wanted: &str) -> ParseFailure {
        if let Err(error) = self.lexer.source.take_error() {
            return ParseFailure::File(error);
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

    pub fn eat_keyword(&mut self, keyword: Keyword) -> bool {
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
            return Err(ParseFailure::File(error));
        }
        if self.errors > 0 {
            return Err(ParseFailure::Text);
        }
        let format = self.finish()?;
        Ok(Outcome { name, format })
    }

    /// Parses the body of the root group and all groups in it, up to the last brace.
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
        self.lexer.variables.clear();
        Ok(())
    }

    /// Parses the sections of one group, before its subgroups.
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

    /// True if the section continues: the next token begins neither another section nor the end.
    fn in_section(&mut self, next: &[Keyword]) -> bool {
        match self.lexer.peek() {
            Token::Keyword(keyword) => !next.contains(keyword),
            Token::Sign(b'}') | Token::End => false,
            _ => true,
        }
    }
}
