//! Which files of a crate name which others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::rust_files::{self, Module, closed, tokens};

/// What a file names.
#[derive(Default)]
struct Named {
    /// Paths of modules, from the root of the crate, and of what is in them.
    paths: Vec<Module>,
    /// What `use` gives a name here.
    imports: BTreeMap<String, Module>,
    /// Modules of which `use` takes everything.
    globs: Vec<Module>,
    /// Items that are defined here.
    items: BTreeSet<String>,
}

/// For each file of a crate the files that it names. Those above and below it in the tree of modules are left out: a parent and
/// its children are read together.
pub(super) fn imports(crate_folder: &Path) -> Result<BTreeMap<Module, BTreeSet<Module>>, String> {
    let texts = rust_files::modules(crate_folder)?;
    let modules: BTreeSet<Module> = texts.keys().cloned().collect();
    let named: BTreeMap<Module, Named> =
        texts.iter().map(|(module, text)| (module.clone(), Named::read(module, text, &modules))).collect();
    let edges = named.iter().map(|(module, names)| {
        let files = names.paths.iter().map(|path| file_of(path, &named, 0));
        let others = files.filter(|file| !file.starts_with(module) && !module.starts_with(file));
        (module.clone(), others.collect())
    });
    Ok(edges.collect())
}

/// The file in which a path is defined, through what modules pass on of others.
fn file_of(path: &[String], named: &BTreeMap<Module, Named>, depth: usize) -> Module {
    const MOST_STEPS: usize = 8;
    let known = (0..=path.len()).rev().find(|&length| named.contains_key(&path[..length])).unwrap_or(0);
    let (module, rest) = path.split_at(known);
    let Some(names) = named.get(module) else { return module.to_vec() };
    let [name, inner @ ..] = rest else { return module.to_vec() };
    if depth == MOST_STEPS {
        return module.to_vec();
    }
    if let Some(target) = names.imports.get(name).filter(|target| *target != path) {
        return file_of(&[target, inner].concat(), named, depth + 1);
    }
    let source =
        names.globs.iter().find(|glob| named.get(*glob).is_some_and(|file| file.items.contains(name)));
    source.cloned().unwrap_or(module.to_vec())
}

impl Named {
    fn read(module: &Module, text: &str, modules: &BTreeSet<Module>) -> Named {
        let tokens = tokens(text);
        let mut reader =
            Reader { modules, module: module.clone(), inline: Vec::new(), named: Named::default() };
        let mut at = 0;
        while at < tokens.len() {
            at += reader.step(&tokens[at..]);
        }
        reader.named
    }
}

struct Reader<'a> {
    modules: &'a BTreeSet<Module>,
    /// The module that is read, with those that are open in the file.
    module: Module,
    /// For each brace that is open whether it is that of a module.
    inline: Vec<bool>,
    named: Named,
}

impl Reader<'_> {
    /// Takes in what begins here; gives how many tokens that were.
    fn step(&mut self, tokens: &[&str]) -> usize {
        match tokens {
            ["mod", name, "{", ..] => {
                self.module.push(name.to_string());
                self.inline.push(true);
                3
            }
            ["{", ..] => {
                self.inline.push(false);
                1
            }
            ["}", ..] => {
                if self.inline.pop() == Some(true) {
                    self.module.pop();
                }
                1
            }
            ["use", ..] => {
                let end = tokens.iter().position(|token| *token == ";").unwrap_or(tokens.len());
                self.tree(&tokens[1..end], &[]);
                end
            }
            ["struct" | "enum" | "trait" | "fn" | "type" | "const" | "static" | "union", name, ..] => {
                self.named.items.insert(name.to_string());
                2
            }
            [first, "::", ..] if is_name(first) => {
                let (path, rest) = path(tokens);
                self.named.paths.extend(self.rooted(&path));
                tokens.len() - rest.len()
            }
            _ => 1,
        }
    }

    /// Takes in a tree of `use`.
    fn tree(&mut self, tokens: &[&str], before: &[&str]) {
        let (names, rest) = path(tokens);
        let path = [before, &names].concat();
        match rest.first() {
            Some(&"{") => {
                let inside = &rest[1..closed(rest) - 1];
                for part in split(inside) {
                    self.tree(part, &path);
                }
            }
            Some(&"*") => self.named.globs.extend(self.rooted(&path)),
            _ => {
                let alias = tokens.iter().position(|token| *token == "as").map(|at| tokens[at + 1]);
                let path = path.strip_suffix(&["self"]).unwrap_or(&path);
                let (Some(target), Some(name)) = (self.rooted(path), alias.or(path.last().copied())) else {
                    return;
                };
                self.named.paths.push(target.clone());
                self.named.imports.insert(name.to_string(), target);
            }
        }
    }

    /// A path from the root of the crate; none if it leads out of it, or is that of a type of this file.
    fn rooted(&self, path: &[&str]) -> Option<Module> {
        let owned = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Module>();
        match path {
            ["crate", rest @ ..] => Some(owned(rest)),
            ["self", rest @ ..] => Some([&self.module[..], &owned(rest)].concat()),
            ["super", ..] => {
                let ups = path.iter().take_while(|name| **name == "super").count();
                let above = self.module.get(..self.module.len().checked_sub(ups)?)?;
                Some([above, &owned(&path[ups..])].concat())
            }
            [first, rest @ ..] => {
                let child = [&self.module[..], &owned(&[first])].concat();
                if self.modules.contains(&child) {
                    return Some([child, owned(rest)].concat());
                }
                self.named.imports.get(*first).map(|target| [target, &owned(rest)[..]].concat())
            }
            [] => None,
        }
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The names of the path that begins here, and what follows it.
fn path<'a, 'b>(tokens: &'b [&'a str]) -> (Vec<&'a str>, &'b [&'a str]) {
    let mut names = Vec::new();
    let mut rest = tokens;
    while let [name, after @ ..] = rest {
        if !is_name(name) {
            break;
        }
        names.push(*name);
        rest = after;
        let ["::", after @ ..] = rest else { break };
        rest = after;
    }
    (names, rest)
}

/// The parts of a list between commas.
fn split<'a, 'b>(tokens: &'b [&'a str]) -> Vec<&'b [&'a str]> {
    let mut depth = 0;
    let comma = |token: &&str| {
        match *token {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        *token == "," && depth == 0
    };
    tokens.split(comma).filter(|part| !part.is_empty()).collect()
}
