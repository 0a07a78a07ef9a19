//! What headers declare, read from preprocessed text.
//!
//! This is no C parser: it knows the few shapes that occur in headers of netCDF. What it misses shows, because a name of
//! the reference that is not found in ours is an error, and the tests say how many names there must be at least.

use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub struct Declared {
    /// Macros without arguments, and what they stand for.
    pub macros: BTreeMap<String, String>,
    /// Macros with arguments.
    pub calls: BTreeSet<String>,
    pub enumerators: Vec<String>,
    /// Structures, as a type is named, and their fields.
    pub structs: Vec<(String, Vec<String>)>,
    /// Names of other types.
    pub types: Vec<String>,
    /// Names of functions and variables, and their declarations without a semicolon.
    pub functions: BTreeMap<String, String>,
}

impl Declared {
    /// Reads preprocessed text; lines of headers of the system are passed over.
    pub fn read(preprocessed: &str) -> Declared {
        let mut declared = Declared::default();
        for item in items(&without_quoted(&own_lines(preprocessed))) {
            declared.add(&item);
        }
        declared
    }

    fn add(&mut self, item: &str) {
        if let Some((head, body, name)) = braces(item) {
            let tag = |kind: &str| head.strip_prefix(kind).map(|tag| format!("{kind} {}", tag.trim()));
            let head = head.strip_prefix("typedef ").unwrap_or(head).trim();
            let parts = body.split([';', ',']).map(str::trim).filter(|part| !part.is_empty());
            if head.starts_with("enum") {
                self.enumerators
                    .extend(parts.map(|part| part.split([' ', '=']).next().unwrap_or(part).to_string()));
            } else if head.starts_with("struct") {
                let fields = outside_braces(body).split(';').filter_map(field).collect();
                let name = if name.is_empty() { tag("struct").unwrap_or_default() } else { name.to_string() };
                self.structs.push((name, fields));
            }
        } else if item.starts_with("extern ") || item.starts_with("static ") {
            if let Some(name) = declares(item) {
                self.functions.entry(name).or_insert(item.to_string());
            }
        } else if let Some(declared) = item.strip_prefix("typedef ") {
            self.types.extend(declared.rsplit(' ').next().filter(|name| is_word(name)).map(str::to_string));
        }
    }
}

/// The lines that come from headers of netCDF.
fn own_lines(text: &str) -> String {
    let mut own = false;
    let mut lines = String::new();
    for line in text.lines() {
        if let Some(marker) = line.strip_prefix("# ") {
            let file = marker.split('"').nth(1).unwrap_or("");
            let name = file.rsplit('/').next().unwrap_or("");
            own = ["netcdf", "ncudf", "ferrocdf"].iter().any(|start| name.starts_with(start));
        } else if own {
            lines += line;
            lines.push(' ');
        }
    }
    lines
}

/// Text without what stands in quotes, which may be braces.
fn without_quoted(text: &str) -> String {
    let mut kept = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        kept.push(c);
        if c == '"' || c == '\'' {
            while let Some(inside) = chars.next().filter(|&inside| inside != c) {
                if inside == '\\' {
                    chars.next();
                }
            }
        }
    }
    kept
}

/// Cuts text into declarations, each on one line and without its semicolon; bodies of functions are left out.
fn items(text: &str) -> Vec<String> {
    let mut items = Vec::new();
    let mut item = String::new();
    let mut depth = 0;
    for c in text.chars() {
        item.push(c);
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        let is_function = c == '}' && item.trim_start().starts_with("static");
        if depth > 0 || (c != ';' && !is_function) {
            continue;
        }
        let whole =
            if is_function { item.split('{').next().unwrap_or_default() } else { item.trim_end_matches(';') };
        items.push(whole.split_whitespace().collect::<Vec<_>>().join(" "));
        item.clear();
    }
    items
}

/// What stands before, between and behind the outer braces.
fn braces(item: &str) -> Option<(&str, &str, &str)> {
    let (head, rest) = item.split_once('{')?;
    let (body, name) = rest.rsplit_once('}')?;
    Some((head.trim(), body, name.trim()))
}

/// Text without what stands in its braces: a structure within a structure is one field.
fn outside_braces(text: &str) -> String {
    let mut depth = 0;
    let mut outside = String::new();
    for c in text.chars() {
        depth += i32::from(c == '{');
        if depth == 0 {
            outside.push(c);
        }
        depth -= i32::from(c == '}');
    }
    outside
}

/// The name of a field: a pointer to a function has it behind its first star, any other field last.
fn field(text: &str) -> Option<String> {
    let text = text.trim();
    let name = match text.split_once("(*") {
        Some((_, rest)) => rest.split(')').next()?,
        None => text.rsplit([' ', '*']).next()?,
    };
    is_word(name).then(|| name.to_string())
}

/// The name of the function or variable that is declared.
fn declares(item: &str) -> Option<String> {
    let name = item.split('(').next()?.trim().rsplit([' ', '*']).next()?;
    is_word(name).then(|| name.to_string())
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
