//! `names`: types of a crate that share a name, so that a reader must look at the imports to know which one is meant.

use std::collections::BTreeMap;
use std::path::Path;

use crate::run::Outcome;
use crate::rust_files::{self, Module, path, tokens};

/// Finds the names that several types of a crate have.
pub fn names(_args: &[String]) -> Outcome {
    let mut found = BTreeMap::new();
    for name in rust_files::crates()? {
        let shared = shared_names(&rust_files::modules(&Path::new("crates").join(&name))?);
        for (ty, files) in &shared {
            println!("{name}: {ty} in {}", files.iter().map(path).collect::<Vec<_>>().join(", "));
        }
        found.insert(name, shared.len());
    }
    rust_files::compare(&found, &[], "names of several types")
}

/// Returns each name that several types have, with the modules of these.
fn shared_names(texts: &BTreeMap<Module, String>) -> BTreeMap<String, Vec<Module>> {
    let mut modules: BTreeMap<String, Vec<Module>> = BTreeMap::new();
    for (module, text) in texts {
        for ty in types(&tokens(text)) {
            modules.entry(ty.to_string()).or_default().push(module.clone());
        }
    }
    modules.retain(|_, modules| modules.len() > 1);
    modules
}

/// Returns the names of the types and traits that a file defines, without the associated types of traits.
fn types<'a>(tokens: &[&'a str]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    // For each open brace whether it is that of a module.
    let mut open: Vec<bool> = Vec::new();
    for (at, &token) in tokens.iter().enumerate() {
        match token {
            "{" => open.push(at >= 2 && tokens[at - 2] == "mod"),
            "}" => drop(open.pop()),
            "struct" | "enum" | "union" | "trait" => names.extend(tokens.get(at + 1)),
            "type" if open.iter().all(|&is_module| is_module) => names.extend(tokens.get(at + 1)),
            _ => {}
        }
    }
    names.retain(|name| name.starts_with(char::is_uppercase));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_one_name_are_found_and_associated_types_are_not() {
        let files = [
            (
                "a",
                "pub struct Same<T>(T); impl I for Same { type Target = u8; } mod inner { type Deep = u8; }",
            ),
            ("b", "fn f() { enum Same {} } trait Deep { type Target; } // struct Own"),
            (
                "c",
                "struct Own; #[cfg(test)] mod tests { struct Own; } macro_rules! m { () => { struct $name; } }",
            ),
        ];
        let texts = files.map(|(module, text)| (vec![module.to_string()], text.to_string())).into();
        let shared: Vec<_> = shared_names(&texts).into_iter().collect();
        let both = vec![vec!["a".to_string()], vec!["b".to_string()]];
        assert_eq!(shared, [("Deep".to_string(), both.clone()), ("Same".to_string(), both)]);
    }
}
