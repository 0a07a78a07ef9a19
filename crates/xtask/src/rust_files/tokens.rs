//! The words of a Rust file: names, paths and brackets, without comments, strings and what only tests see.

/// Splits source text into names, `::`, and single characters. Comments, white space, numbers, lifetimes, and string and
/// character literals are left out: they name no module.
pub(crate) fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => block_comment(rest),
            '"' => string(rest),
            'r' | 'b' | 'c' if literal(rest).is_some() => literal(rest).unwrap_or(1),
            '\'' => character_or_lifetime(rest),
            _ if first.is_alphabetic() || first == '_' => {
                let length = word(rest);
                tokens.push(&rest[..length]);
                length
            }
            _ if first.is_ascii_digit() => word(rest),
            ':' if rest.starts_with("::") => {
                tokens.push("::");
                2
            }
            _ if first.is_whitespace() => first.len_utf8(),
            _ => {
                tokens.push(&rest[..first.len_utf8()]);
                first.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    without_tests(&tokens)
}

fn word(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())
}

/// The length of a comment, with those inside it.
fn block_comment(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0);
    while at < text.len() {
        let bytes = &text.as_bytes()[at..];
        match bytes {
            [b'/', b'*', ..] => (at, depth) = (at + 2, depth + 1),
            [b'*', b'/', ..] => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of a string that begins with a quotation mark.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of a literal that begins with letters (`r"…"`, `br#"…"#`, `b'x'`, `c"…"`), if this is one.
fn literal(text: &str) -> Option<usize> {
    let letters = text.find(|c: char| !matches!(c, 'r' | 'b' | 'c'))?;
    let rest = &text[letters..];
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    let raw = text[..letters].ends_with('r');
    match rest[hashes..].chars().next()? {
        '"' if raw => {
            let end = format!("\"{}", "#".repeat(hashes));
            let body = letters + hashes + 1;
            Some(text[body..].find(&end).map_or(text.len(), |at| body + at + end.len()))
        }
        '"' if hashes == 0 => Some(letters + string(rest)),
        '\'' if hashes == 0 => Some(letters + character_or_lifetime(rest)),
        _ => None,
    }
}

/// The length of `'x'`, `'\n'`, or `'a` of a lifetime.
fn character_or_lifetime(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match chars.next() {
        // The escaped character may be a quotation mark.
        Some((_, '\\')) => text[3..].find('\'').map_or(text.len(), |at| at + 4),
        Some((_, c)) if text[1 + c.len_utf8()..].starts_with('\'') => 2 + c.len_utf8(),
        _ => 1 + word(&text[1..]),
    }
}

/// Leaves out each item whose attribute says that it is compiled for tests.
fn without_tests<'a>(tokens: &[&'a str]) -> Vec<&'a str> {
    let mut kept = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at..].starts_with(&["#", "["]) {
            let end = at + closed(&tokens[at..]);
            let attribute = &tokens[at..end];
            at = end;
            if attribute.contains(&"cfg") && attribute.contains(&"test") && !attribute.contains(&"not") {
                at += item(&tokens[at..]);
            }
            continue;
        }
        kept.push(tokens[at]);
        at += 1;
    }
    kept
}

/// The length of tokens up to the bracket that closes the first one opened.
pub(crate) fn closed(tokens: &[&str]) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    tokens.len()
}

/// The length of an item: up to its semicolon, or the brace that closes its body.
fn item(tokens: &[&str]) -> usize {
    let mut at = 0;
    while let Some(&token) = tokens.get(at) {
        match token {
            ";" => return at + 1,
            "{" => return at + closed(&tokens[at..]),
            "(" | "[" => at += closed(&tokens[at..]),
            _ => at += 1,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::tokens;

    #[test]
    fn literals_and_comments_name_nothing() {
        let text = "a /* b /* c */ d */ \"e \\\" f\" r#\"g \" h\"# 'i' '\\'' b'j' 'k 12u8 br\"l\" // m\nn::o";
        assert_eq!(tokens(text), ["a", "n", "::", "o"]);
    }

    #[test]
    fn items_of_tests_are_left_out() {
        let text = "#[cfg(test)] use a::b; #[cfg(test)] mod tests { use c; } #[derive(D)] struct E; #[cfg(not(test))] use f;";
        assert_eq!(tokens(text), ["struct", "E", ";", "use", "f", ";"]);
    }
}
