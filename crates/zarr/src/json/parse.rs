//! The parser.

use ferrocdf_bytes::{Code, Error, Result};

use super::{Json, Members};

/// Greatest depth of values within values: more than any metadata has, and little stack.
const MAX_DEPTH: usize = 100;

/// Most values of a text, names of members among them. A value takes up to 16 times the memory of its text.
const MAX_VALUES: usize = 2 << 20;

impl Json {
    /// Parses a text, which is one value.
    ///
    /// # Errors
    /// `NC_EZARRMETA`, with the line and column of the first byte that is wrong.
    pub fn parse(text: &[u8]) -> Result<Json> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let mut parser = Parser { text, at: 0, values: 0 };
        let parsed = parser.value(0).and_then(|value| parser.end().map(|()| value));
        parsed.map_err(|what| parser.failed(what))
    }

    /// Parses an object one member at a time, so that only one value is in memory, and calls `visit` with each member. Members of the
    /// object that is the value of `outer`, if there is one, are visited in its place, with true.
    ///
    /// # Errors
    /// Those of [`Json::parse`], and of `visit`.
    pub fn visit_members(
        text: &[u8],
        outer: &str,
        mut visit: impl FnMut(bool, String, Json) -> Result<()>,
    ) -> Result<()> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let mut parser = Parser { text, at: 0, values: 0 };
        let mut stopped = Ok(());
        let mut member = |parser: &mut Parser<'_>, is_inner, name, depth| {
            parser.values = 0;
            let value = parser.value(depth)?;
            stopped = visit(is_inner, name, value);
            if stopped.is_ok() { Ok(()) } else { Err("the value of a member") }
        };
        parser.space();
        let parsed = match parser.peek() {
            Some(b'{') => parser.members(|parser, name| {
                parser.space();
                match parser.peek() {
                    Some(b'{') if name == outer => {
                        parser.members(|parser, name| member(parser, true, name, 2))
                    }
                    _ => member(parser, false, name, 1),
                }
            }),
            _ => Err("an object is expected"),
        };
        let parsed = parsed.and_then(|()| parser.end());
        stopped.and(parsed.map_err(|what| parser.failed(what)))
    }
}

type Parsed<T> = std::result::Result<T, &'static str>;

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    /// The number of values so far.
    values: usize,
}

impl Parser<'_> {
    fn failed(&self, what: &str) -> Error {
        let before = &self.text[..self.at.min(self.text.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count() + 1;
        Error::new(Code::EZARRMETA, format!("JSON, line {line}, column {column}: {what}"))
    }

    /// Checks that nothing follows.
    fn end(&mut self) -> Parsed<()> {
        self.space();
        if self.at == self.text.len() { Ok(()) } else { Err("text behind the end of the value") }
    }

    fn space(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Skips a word, if it is the next text.
    fn skips(&mut self, word: &str) -> bool {
        let found = self.text[self.at..].starts_with(word.as_bytes());
        self.at += if found { word.len() } else { 0 };
        found
    }

    fn value(&mut self, depth: usize) -> Parsed<Json> {
        if depth > MAX_DEPTH {
            return Err("more than 100 values within each other");
        }
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err("too many values");
        }
        self.space();
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(Json::String),
            Some(b'-' | b'0'..=b'9' | b'N' | b'I') => self.number(),
            Some(b't') if self.skips("true") => Ok(Json::Bool(true)),
            Some(b'f') if self.skips("false") => Ok(Json::Bool(false)),
            Some(b'n') if self.skips("null") => Ok(Json::Null),
            Some(_) => Err("no value begins like this"),
            None => Err("the text ends where a value is expected"),
        }
    }

    fn object(&mut self, depth: usize) -> Parsed<Json> {
        let mut members = vec![];
        self.members(|parser, name| {
            members.push((name, parser.value(depth + 1)?));
            Ok(())
        })?;
        Ok(Json::Object(Members(members)))
    }

    /// Parses an object; `member` parses the value of a member.
    fn members(&mut self, mut member: impl FnMut(&mut Self, String) -> Parsed<()>) -> Parsed<()> {
        self.list(b'}', |parser| {
            parser.space();
            if parser.peek() != Some(b'"') {
                return Err("a member of an object needs a name in quotes");
            }
            let name = parser.string()?;
            parser.space();
            if !parser.skips(":") {
                return Err("a colon is expected behind the name of a member");
            }
            member(parser, name)
        })
    }

    fn array(&mut self, depth: usize) -> Parsed<Json> {
        let mut values = vec![];
        self.list(b']', |parser| {
            values.push(parser.value(depth + 1)?);
            Ok(())
        })?;
        Ok(Json::Array(values))
    }

    /// Parses what is between two brackets, with commas between the items.
    fn list(&mut self, end: u8, mut item: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        self.at += 1;
        self.space();
        if self.peek() == Some(end) {
            self.at += 1;
            return Ok(());
        }
        loop {
            item(self)?;
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(byte) if byte == end => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err("a comma or the closing bracket is expected"),
            }
        }
    }

    fn digits(&mut self) -> Parsed<()> {
        let from = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at > from { Ok(()) } else { Err("a digit is expected") }
    }

    fn number(&mut self) -> Parsed<Json> {
        let from = self.at;
        let is_negative = self.skips("-");
        if !(self.skips("Infinity") || !is_negative && self.skips("NaN")) {
            let zero = self.peek() == Some(b'0');
            self.digits()?;
            if zero && self.at - from > 1 + usize::from(is_negative) {
                return Err("a number does not begin with 0");
            }
            if self.skips(".") {
                self.digits()?;
            }
            if self.skips("e") || self.skips("E") {
                let _has_sign = self.skips("+") || self.skips("-");
                self.digits()?;
            }
        }
        // All bytes are ASCII.
        Ok(Json::Number(String::from_utf8_lossy(&self.text[from..self.at]).into()))
    }

    fn string(&mut self) -> Parsed<String> {
        self.at += 1;
        let mut bytes = vec![];
        loop {
            let from = self.at;
            while !matches!(self.peek(), None | Some(b'"' | b'\\' | 0..=0x1f)) {
                self.at += 1;
            }
            bytes.extend_from_slice(&self.text[from..self.at]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return String::from_utf8(bytes).map_err(|_| "a string is not UTF-8");
                }
                Some(b'\\') => {
                    self.at += 1;
                    let escaped = self.escape()?;
                    bytes.extend_from_slice(escaped.encode_utf8(&mut [0; 4]).as_bytes());
                }
                Some(_) => return Err("a control character in a string"),
                None => return Err("a string does not end"),
            }
        }
    }

    /// Parses what follows a backslash.
    fn escape(&mut self) -> Parsed<char> {
        let byte = self.peek().ok_or("a string does not end")?;
        self.at += 1;
        Ok(match byte {
            b'"' | b'\\' | b'/' => byte.into(),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = self.unit()?;
                let code = match unit {
                    0xd800..0xdc00 if self.skips("\\u") => {
                        let low = self.unit()?;
                        if !(0xdc00..0xe000).contains(&low) {
                            return Err("half a surrogate pair");
                        }
                        0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)
                    }
                    unit => unit,
                };
                char::from_u32(code).ok_or("half a surrogate pair")?
            }
            _ => return Err("no character is escaped like this"),
        })
    }

    /// Parses four hexadecimal digits.
    fn unit(&mut self) -> Parsed<u32> {
        let digits = self.text.get(self.at..self.at + 4).and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        self.at += 4;
        unit.ok_or("four hexadecimal digits are expected")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_order_and_number_text() {
        let text =
            r#" {"b": [1, -0.50, 1e+05, NaN, -Infinity], "a": {"é\n\u00e9\ud83d\ude00": null}, "b": true} "#;
        let json = Json::parse(text.as_bytes()).unwrap();
        let wanted = r#"{"b": [1,-0.50,1e+05,"NaN","-Infinity"], "a": {"é\né😀": null}, "b": true}"#;
        assert_eq!(json.to_string(), wanted);
        // Of members with one name the last one counts.
        assert_eq!(json.get("b"), Some(&Json::Bool(true)));
    }

    #[test]
    fn texts_that_are_no_json_are_refused_with_their_place() {
        for (text, place) in [
            ("", "line 1, column 1: the text ends"),
            ("[1,]", "column 4: no value"),
            ("[1 2]", "column 4: a comma"),
            ("{\"a\"\n1}", "line 2, column 1: a colon"),
            ("{a: 1}", "column 2: a member"),
            ("01", "column 3: a number does not begin with 0"),
            ("1.", "column 3: a digit"),
            ("-NaN", "a digit"),
            ("\"\\ud800\"", "surrogate"),
            ("\"\\ud800\\u0041\"", "surrogate"),
            ("\"\\u12g4\"", "hexadecimal"),
            ("\"\\u+123\"", "hexadecimal"),
            ("\"a\nb\"", "control"),
            ("\"a", "does not end"),
            ("nul", "no value"),
            ("1 1", "behind the end"),
        ] {
            let error = Json::parse(text.as_bytes()).unwrap_err();
            assert_eq!(error.code, Code::EZARRMETA, "{text}");
            assert!(error.to_string().contains(place), "{text}: {error}");
        }
        assert!(Json::parse(b"\"\xff\"").is_err());
        assert!(Json::parse(&b"[".repeat(1 << 20)).unwrap_err().to_string().contains("100 values"));
        assert!(Json::parse(format!("{}{}", "[".repeat(100), "]".repeat(100)).as_bytes()).is_ok());
    }

    #[test]
    fn members_are_visited_one_at_a_time() {
        let visited = |text: &str| {
            let mut seen = vec![];
            Json::visit_members(text.as_bytes(), "refs", |is_inner, name, value| {
                if value == Json::Null {
                    return Err(Error::new(Code::EINVAL, "null"));
                }
                seen.push(format!("{is_inner} {name} {value}"));
                Ok(())
            })
            .map(|()| seen)
        };
        let seen = visited(r#" {"a": 1, "refs": {"b": [2], "refs": {"c": 3}}, "d": {"refs": 4}} "#).unwrap();
        assert_eq!(seen, ["false a 1", "true b [2]", r#"true refs {"c": 3}"#, r#"false d {"refs": 4}"#]);
        assert_eq!(visited(r#"{"refs": 5}"#).unwrap(), ["false refs 5"]);
        for (text, what) in [
            ("[1]", "column 1: an object"),
            (r#"{"a": 1} 2"#, "behind the end"),
            (r#"{"refs": {"a": 1}"#, "a comma"),
            (r#"{"a": null, "b": }"#, "null"),
        ] {
            let error = visited(text).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }

    #[test]
    fn numbers_are_integers_where_they_stand_for_one() {
        for (text, wanted) in [
            ("12", Some(12)),
            ("-0", Some(0)),
            ("1e3", Some(1000)),
            ("18446744073709551615", Some(i128::from(u64::MAX))),
            ("1.5", None),
            ("1e300", None),
            ("NaN", None),
        ] {
            assert_eq!(Json::parse(text.as_bytes()).unwrap().as_integer(), wanted, "{text}");
        }
    }
}
