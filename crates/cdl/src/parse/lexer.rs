//! Lexer of CDL: words, numbers and signs.
//!
//! The lexer looks one token ahead. Words keep their bytes with the escapes removed; the model decides whether a name
//! is legal. A section keyword is a word directly followed by a colon, as in `ncgen`, so `data` may be a name where no
//! colon follows.
//!
//! `ncdump` prints names unchanged, even if they are keywords of CDL (`float string ;`). So the parser may take the
//! word of a token as a name ([`Lexer::next_name`]) where only a name is allowed. A backslash before the first
//! character of a word makes it a name in all places.

use std::collections::HashSet;

use ferrocdf_model::{Atomic, DataModel, Format};

use super::constant::Const;
use super::header::atomic_named;
use super::literal;
use super::source::TextSource;
use super::token::{Keyword, Token, meaning, section};

/// Reader of the tokens of a text.
pub(super) struct Lexer<'a> {
    pub source: TextSource<'a>,
    /// Format that the caller requests; it decides which type names are keywords.
    format: Option<Format>,
    ahead: Option<Token>,
    /// Bytes of the last scanned token, if it is a keyword, a special attribute or a value.
    word: Vec<u8>,
    /// Variables of the current group whose names are reserved words: before a colon the word is the variable. `ncdump`
    /// prints a blank between such a name and the colon if it is a section keyword, except before special attributes.
    pub variables: HashSet<Vec<u8>>,
    /// True while names may contain slashes, as names of attributes and members may.
    slashes: bool,
    /// Error message about the last token.
    pub complaint: Option<String>,
}

fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn continues_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || matches!(byte, b'_' | b'.' | b'@' | b'+' | b'-' | b'%')
}

/// True for characters, other than letters and digits, that may be escaped in a name.
fn may_be_escaped(byte: u8) -> bool {
    byte == b' ' || (byte.is_ascii_punctuation() && !matches!(byte, b'+' | b'-' | b'.' | b'/' | b'@' | b'_'))
}

impl<'a> Lexer<'a> {
    pub fn new(source: TextSource<'a>, format: Option<Format>) -> Self {
        Lexer {
            source,
            format,
            ahead: None,
            word: vec![],
            variables: HashSet::new(),
            slashes: false,
            complaint: None,
        }
    }

    /// Returns the next token without taking it.
    pub fn peek(&mut self) -> &Token {
        if self.ahead.is_none() {
            self.ahead = Some(self.scan());
        }
        self.ahead.as_ref().unwrap_or(&Token::End)
    }

    /// Takes the next token.
    pub fn next(&mut self) -> Token {
        match self.ahead.take() {
            Some(token) => token,
            None => self.scan(),
        }
    }

    /// Takes the next token as a name if it is a name or a reserved word; else the error is the token.
    pub fn next_name(&mut self) -> Result<Vec<u8>, Token> {
        match self.next() {
            Token::Name(name) => Ok(name),
            _ if !self.word.is_empty() => Ok(std::mem::take(&mut self.word)),
            token => Err(token),
        }
    }

    /// Takes the next token where the name of an attribute or member may stand, which may contain slashes. No token may
    /// be looked ahead.
    pub fn next_with_slashes(&mut self) -> Token {
        debug_assert!(self.is_clear());
        self.slashes = true;
        let token = self.next();
        self.slashes = false;
        token
    }

    /// Takes the bytes of the last token, if it is a reserved word.
    pub fn take_word(&mut self) -> Option<Vec<u8>> {
        Some(std::mem::take(&mut self.word)).filter(|word| !word.is_empty())
    }

    /// True if the next token is a name or a reserved word, and this sign follows it.
    pub fn is_word_before(&mut self, sign: u8) -> bool {
        let is_name = matches!(self.peek(), Token::Name(_));
        let mut ahead = 0;
        while self.source.peek(ahead).is_some_and(|byte| byte.is_ascii_whitespace()) {
            ahead += 1;
        }
        (is_name || !self.word.is_empty()) && self.source.peek(ahead) == Some(sign)
    }

    /// Takes the next token if it is this sign.
    pub fn eat(&mut self, sign: u8) -> bool {
        let found = *self.peek() == Token::Sign(sign);
        if found {
            self.ahead = None;
        }
        found
    }

    /// True if the position of the source is directly after the last taken token.
    pub fn is_clear(&self) -> bool {
        self.ahead.is_none()
    }

    /// Reads the name of the dataset: the text before `{`, without blanks.
    pub fn dataset_name(&mut self) -> Vec<u8> {
        let mut name = vec![];
        while let Some(byte) = self.source.peek(0).filter(|&byte| byte != b'{') {
            let escaped = if byte == b'\\' { self.source.peek(1) } else { None };
            if byte > b' ' {
                name.push(byte);
            }
            name.extend(escaped);
            self.source.advance(1 + usize::from(escaped.is_some()));
        }
        name
    }

    fn skip_blanks(&mut self) {
        while let Some(byte) = self.source.peek(0) {
            match byte {
                b'\n' => {
                    self.source.line += 1;
                    self.source.advance(1);
                }
                b' ' | b'\t' | b'\r' | b'\x0c' => self.source.advance(1),
                b'/' if self.source.peek(1) == Some(b'/') => {
                    while self.source.peek(0).is_some_and(|byte| byte != b'\n') {
                        self.source.advance(1);
                    }
                }
                b'/' if self.source.peek(1) == Some(b'*') => self.skip_block(),
                _ => return,
            }
        }
    }

    /// Skips `/* … */`.
    fn skip_block(&mut self) {
        self.source.advance(2);
        loop {
            match (self.source.peek(0), self.source.peek(1)) {
                (Some(b'*'), Some(b'/')) => return self.source.advance(2),
                (Some(byte), _) => {
                    self.source.line += u32::from(byte == b'\n');
                    self.source.advance(1);
                }
                (None, _) => {
                    self.complaint = Some("unterminated /**/ comment".to_string());
                    return;
                }
            }
        }
    }

    fn scan(&mut self) -> Token {
        self.word.clear();
        self.skip_blanks();
        let Some(first) = self.source.peek(0) else { return Token::End };
        match first {
            b'{' | b'}' | b'(' | b')' | b'=' | b':' | b';' | b',' | b'*' => {
                self.source.advance(1);
                Token::Sign(first)
            }
            b'"' => self.text(),
            b'\'' => self.character(),
            b'/' if self.slashes => self.word(),
            b'/' => self.path(),
            b'.' | b'+' | b'-' if self.is_sign_of_name() => self.word(),
            b'0'..=b'9' | b'.' | b'+' | b'-' => self.number(first),
            b'\\' if self.source.peek(1).is_some_and(|byte| (b' '..0x7F).contains(&byte)) => self.word(),
            b'@' | b'%' => self.word(),
            _ if starts_name(first) => self.word(),
            _ => self.invalid(),
        }
    }

    /// True if the sign at the position begins a name, not a number.
    fn is_sign_of_name(&mut self) -> bool {
        let is_negative_infinity = self.source.window(4).starts_with(b"-Inf");
        self.source.peek(1).is_some_and(starts_name) && !is_negative_infinity
    }

    fn invalid(&mut self) -> Token {
        self.source.advance(1);
        Token::Invalid
    }

    fn complain(&mut self, why: String) -> Token {
        self.complaint = Some(why);
        Token::Invalid
    }

    fn text(&mut self) -> Token {
        let mut len = 1;
        loop {
            match self.source.peek(len) {
                Some(b'"') => break,
                Some(b'\\') if self.source.peek(len + 1).is_some_and(|byte| byte != b'\n') => len += 2,
                Some(b'\\') | None => return self.invalid(),
                Some(_) => len += 1,
            }
        }
        let plain = literal::unescape(&self.source.window(len + 1)[1..len]);
        self.source.advance(len + 1);
        match plain {
            Ok(plain) => Token::Text(plain),
            Err(why) => self.complain(why),
        }
    }

    fn character(&mut self) -> Token {
        let window = self.source.window(6);
        let len = match window {
            [_, b'\\', b'0'..=b'7', b'0'..=b'7', b'0'..=b'7', b'\'', ..] => 6,
            [_, b'\\', b'x' | b'X', high, low, b'\'', ..]
                if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                6
            }
            [_, b'\\', escaped, b'\'', ..] if *escaped != b'\n' => 4,
            [_, plain, b'\'', ..] if *plain != b'\\' => 3,
            _ => return self.invalid(),
        };
        let inside = &window[1..len - 1];
        let byte = match inside {
            // In a character, a single digit after the backslash is not an octal escape.
            [b'\\', digit @ b'0'..=b'7'] => *digit,
            _ => literal::unescape(inside).ok().and_then(|bytes| bytes.first().copied()).unwrap_or(0),
        };
        self.source.advance(len);
        Token::Number(Const::Int(Atomic::Byte, i128::from(byte)))
    }

    fn number(&mut self, first: u8) -> Token {
        if first == b'0' && matches!(self.source.peek(1), Some(b'x' | b'X')) {
            let mut len = 2;
            while self.source.peek(len).is_some_and(|byte| byte.is_ascii_hexdigit()) {
                len += 1;
            }
            if len > 2 {
                return self.hexadecimal(len);
            }
        }
        if first == b'-' {
            for (word, value) in [
                ("-Infinityf", Const::Float(f32::NEG_INFINITY)),
                ("-Infinity", Const::Double(f64::NEG_INFINITY)),
                ("-Inff", Const::Float(f32::NEG_INFINITY)),
            ] {
                if self.source.window(word.len()).starts_with(word.as_bytes()) {
                    self.source.advance(word.len());
                    return Token::Number(value);
                }
            }
        }
        let Some(len) = self.number_len(first) else { return self.invalid() };
        let number = literal::number(&self.source.window(len)[..len]);
        self.source.advance(len);
        match number {
            Ok(number) => Token::Number(number),
            Err(why) => self.complain(why),
        }
    }

    fn hexadecimal(&mut self, len: usize) -> Token {
        let suffix = match (self.source.peek(len), self.source.peek(len + 1)) {
            (Some(b'l' | b'L'), Some(b'l' | b'L')) => 2,
            (Some(b's' | b'S' | b'l' | b'L'), _) => 1,
            _ => 0,
        };
        let digits = &self.source.window(len)[2..len];
        let token = match suffix {
            0 => Token::Opaque(literal::opaque(digits)),
            _ => Token::Number(literal::hexadecimal(digits)),
        };
        self.source.advance(len + suffix);
        token
    }

    fn digits(&mut self, mut at: usize) -> usize {
        while self.source.peek(at).is_some_and(|byte| byte.is_ascii_digit()) {
            at += 1;
        }
        at
    }

    /// Returns the length of the number token at the position.
    fn number_len(&mut self, first: u8) -> Option<usize> {
        let start = usize::from(matches!(first, b'+' | b'-'));
        let whole = self.digits(start);
        let mut len = whole;
        let mut real = false;
        if self.source.peek(len) == Some(b'.') {
            len = self.digits(len + 1);
            real = true;
        } else if len == start {
            return None;
        }
        if matches!(self.source.peek(len), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.source.peek(len + 1), Some(b'+' | b'-')));
            let end = self.digits(len + 1 + sign);
            if end > len + 1 + sign {
                len = end;
                real = true;
            }
        }
        if real {
            let suffix = matches!(self.source.peek(len), Some(b'f' | b'F' | b'd' | b'D' | b'l' | b'L'));
            return Some(len + usize::from(suffix));
        }
        len += usize::from(matches!(self.source.peek(len), Some(b'u' | b'U')));
        match (self.source.peek(len), self.source.peek(len + 1)) {
            (Some(b'l' | b'L'), Some(b'l' | b'L')) => len += 2,
            (Some(b'b' | b'B' | b's' | b'S' | b'l' | b'L'), _) => len += 1,
            _ => {}
        }
        Some(len)
    }

    /// Returns the name that begins `at` bytes after the position, with the escapes removed, and its length in the
    /// text; `None` if there is none.
    fn name_at(&mut self, at: usize) -> Option<(Vec<u8>, usize)> {
        let mut name = vec![];
        let mut len = 0;
        while let Some(byte) = self.source.peek(at + len) {
            let escaped = if byte == b'\\' { self.source.peek(at + len + 1) } else { None };
            match escaped {
                Some(b'%') if let Some(control) = self.control_at(at + len + 2) => {
                    name.push(control);
                    len += 2;
                }
                Some(other) if len == 0 && (b' '..0x7F).contains(&other) => name.push(other),
                Some(other) if len > 0 && may_be_escaped(other) => name.push(other),
                None if continues_name(byte) || (byte == b'/' && self.slashes) => name.push(byte),
                _ => break,
            }
            len += 1 + usize::from(escaped.is_some());
        }
        (len > 0).then_some((name, len))
    }

    /// Returns the control character of two hexadecimal digits, which `ncdump` prints after `\%`.
    fn control_at(&mut self, at: usize) -> Option<u8> {
        let digits =
            [self.source.peek(at)?, self.source.peek(at + 1)?].map(|byte| char::from(byte).to_digit(16));
        let byte = u8::try_from(digits[0]? << 4 | digits[1]?).ok()?;
        byte.is_ascii_control().then_some(byte)
    }

    fn path(&mut self) -> Token {
        let mut names = vec![];
        let mut len = 1;
        while let Some((name, used)) = self.name_at(len) {
            names.push(name);
            len += used;
            if self.source.peek(len) != Some(b'/') || self.name_at(len + 1).is_none() {
                break;
            }
            len += 1;
        }
        self.source.advance(len);
        Token::Path(names)
    }

    fn word(&mut self) -> Token {
        let Some((name, len)) = self.name_at(0) else { return self.invalid() };
        let has_colon = self.source.peek(len) == Some(b':');
        if name.len() < len {
            // A word with an escape is always a name.
            self.source.advance(len);
            return Token::Name(name);
        }
        let is_variable = has_colon && self.variables.contains(&name);
        if has_colon
            && let Some(section) = section(&name)
            && !(is_variable && self.is_special_at(len + 1))
        {
            self.source.advance(len + 1);
            return Token::Keyword(section);
        }
        if is_variable {
            self.source.advance(len);
            return Token::Name(name);
        }
        self.source.advance(len);
        match meaning(&name).or_else(|| self.newer_type(&name)) {
            Some(token) => {
                self.word = name;
                token
            }
            None => Token::Name(name),
        }
    }

    /// True if a special attribute begins `at` bytes after the position.
    fn is_special_at(&mut self, at: usize) -> bool {
        let name = self.name_at(at);
        name.is_some_and(|(name, _)| matches!(meaning(&name), Some(Token::Special(_))))
    }

    /// Returns the keyword token of a word; `None` if it is not a keyword.
    pub fn keyword(&self, word: &[u8]) -> Option<Token> {
        let meaning = meaning(word).or_else(|| self.newer_type(word));
        meaning.filter(|token| matches!(token, Token::Keyword(_)))
    }

    /// Returns the keyword of a type that netCDF-4 or CDF-5 introduced, if the requested format has it; older CDL may
    /// have variables and dimensions with such names.
    fn newer_type(&self, name: &[u8]) -> Option<Token> {
        let newest = match self.format?.data_model() {
            DataModel::Netcdf4 => Atomic::String,
            DataModel::Data64 => Atomic::Uint64,
            _ => return None,
        };
        let atomic = atomic_named(name)?;
        (atomic <= newest).then_some(Token::Keyword(Keyword::Type(atomic)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::token::Special;
    use super::*;

    fn tokens(text: &str) -> Vec<Token> {
        let mut lexer =
            Lexer::new(TextSource::new(Box::new(std::io::Cursor::new(text.as_bytes().to_vec()))), None);
        std::iter::from_fn(|| Some(lexer.next()).filter(|token| *token != Token::End)).collect()
    }

    fn name(text: &str) -> Token {
        Token::Name(text.as_bytes().to_vec())
    }

    fn int(value: i128) -> Token {
        Token::Number(Const::Int(Atomic::Int, value))
    }

    #[test]
    fn words_with_and_without_meaning() {
        assert_eq!(
            tokens("data data: x-1.5@"),
            [name("data"), Token::Keyword(Keyword::Data), name("x-1.5@")]
        );
        assert_eq!(
            tokens(r"\1a a\ b\: é _ _x"),
            [name("1a"), name("a b:"), name("é"), Token::Fill, name("_x")]
        );
        assert_eq!(tokens("ubyte NaN_x"), [name("ubyte"), name("NaN_x")]);
        assert_eq!(tokens("_Format"), [Token::Special(Special::Format)]);
        assert_eq!(
            tokens("/g\\ x/h /"),
            [Token::Path(vec![b"g x".to_vec(), b"h".to_vec()]), Token::Path(vec![])]
        );
    }

    #[test]
    fn numbers_end_where_they_end() {
        assert_eq!(tokens("1,-2;+3"), [int(1), Token::Sign(b','), int(-2), Token::Sign(b';'), int(3)]);
        assert_eq!(tokens("1x"), [int(1), name("x")]);
        assert_eq!(tokens("1e"), [int(1), name("e")]);
        assert_eq!(tokens("1e5f"), [Token::Number(Const::Float(1e5))]);
        assert_eq!(tokens("0x1f"), [Token::Opaque(vec![0x1f])]);
        assert_eq!(tokens("0x1fL"), [Token::Number(Const::Int(Atomic::Uint, 31))]);
        assert_eq!(tokens("-Infinityf"), [Token::Number(Const::Float(f32::NEG_INFINITY))]);
    }

    #[test]
    fn characters_are_bytes() {
        let byte = |value: i8| Token::Number(Const::Int(Atomic::Byte, value.into()));
        assert_eq!(
            tokens(r"'a' '\n' '\101' '\x42' '\0' '''"),
            [byte(97), byte(10), byte(65), byte(66), byte(48), byte(39)]
        );
        assert_eq!(tokens(r"'ab'"), [Token::Invalid, name("ab"), Token::Invalid]);
    }

    #[test]
    fn comments_and_texts() {
        assert_eq!(tokens("// a \"b\n\"x;//y\" /* * \n*/ z"), [Token::Text(b"x;//y".to_vec()), name("z")]);
        assert_eq!(tokens("\"open"), [Token::Invalid, name("open")]);
    }
}
