//! The source files of a crate, for tasks that read them.

mod tokens;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

pub(crate) use tokens::{closed, tokens};

/// The path of a module in its crate; that of the root is empty.
pub(crate) type Module = Vec<String>;

/// Returns the path of a module as text.
pub(crate) fn path(module: &Module) -> String {
    module.join("/")
}

/// Returns the names of all crates, sorted.
pub(crate) fn crates() -> Result<Vec<String>, String> {
    let entries = fs::read_dir("crates").map_err(|error| format!("crates: {error}"))?;
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

/// Returns the text of each module of a crate, without its programs.
pub(crate) fn modules(crate_folder: &Path) -> Result<BTreeMap<Module, String>, String> {
    let mut texts = BTreeMap::new();
    read_folder(&crate_folder.join("src"), &mut Vec::new(), &mut texts)?;
    Ok(texts)
}

/// Compares what a task found in each crate with what is known, as `KNOWN` of the task lists it.
pub(crate) fn compare(
    found: &BTreeMap<String, usize>,
    known: &[(&str, usize)],
    what: &str,
) -> Result<(), String> {
    let mut wrong = Vec::new();
    for (name, &found) in found {
        let known = known.iter().find(|(known, _)| known == name).map_or(0, |(_, count)| *count);
        if found != known {
            wrong.push(format!("{name} has {found} {what}, and {known} are known"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
}

fn read_folder(folder: &Path, at: &mut Module, texts: &mut BTreeMap<Module, String>) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_string();
        if path.is_dir() {
            // Programs import the library and nothing imports them.
            if name != "bin" {
                at.push(name);
                read_folder(&path, at, texts)?;
                at.pop();
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let mut module = at.clone();
            if !["mod", "lib", "main"].contains(&&*name) {
                module.push(name);
            }
            texts.insert(module, fs::read_to_string(&path).map_err(failed)?);
        }
    }
    Ok(())
}
