//! `ferrocdf plugins list`: every filter, where it comes from, what it can do, and what was passed over.

use std::io::{Result, Write};

use ferrocdf::plugins::{Found, built_in_ids, catalog, names, path, prefers};

/// A line of the table.
struct Line {
    id: u32,
    names: String,
    packs: bool,
    unpacks: bool,
    place: String,
}

/// Prints the table, and below it the files that are no plugins.
pub fn list(out: &mut dyn Write) -> Result<()> {
    let found = catalog();
    let lines = lines(&found);
    let width = lines.iter().map(|line| line.names.len()).max().unwrap_or(0);
    writeln!(out, "{:>6}  {:width$}  packs  unpacks  where", "id", "names")?;
    for Line { id, names, packs, unpacks, place } in lines {
        let word = |yes: bool| if yes { "yes" } else { "no" };
        writeln!(out, "{id:>6}  {names:width$}  {:5}  {:7}  {place}", word(packs), word(unpacks))?;
    }
    let codecs: Vec<_> = found.iter().flat_map(|found| &found.codecs).collect();
    if !codecs.is_empty() {
        writeln!(out, "\ncodecs of Zarr, by the filter that they go with:")?;
    }
    for codec in codecs {
        writeln!(out, "{:>6}  {:width$}  {}", codec.id(), codec.name(), codec.file().display())?;
    }
    let rejected: Vec<(&Found, &String)> =
        found.iter().filter_map(|found| Some((found, found.rejected.as_ref()?))).collect();
    if !rejected.is_empty() {
        writeln!(out, "\npassed over:")?;
    }
    for (found, reason) in rejected {
        writeln!(out, "  {}: {reason}", found.file.display())?;
    }
    if found.is_empty() {
        writeln!(out, "\nno plugins, looked {}", path::places())?;
    }
    Ok(())
}

/// All filters by their numbers, of one number the one that is used first.
fn lines(found: &[Found]) -> Vec<Line> {
    let called = |id: u32| names(id).join(", ");
    let built_in = built_in_ids().map(|id| Line {
        id,
        names: called(id),
        packs: true,
        unpacks: true,
        place: "built in".to_string(),
    });
    let plugins = found.iter().flat_map(|found| {
        found.filters.iter().map(|filter| Line {
            id: filter.id,
            names: if called(filter.id).is_empty() { filter.name.clone() } else { called(filter.id) },
            packs: filter.encodes,
            unpacks: filter.decodes,
            place: found.file.display().to_string(),
        })
    });
    let mut lines: Vec<Line> =
        if prefers() { plugins.chain(built_in).collect() } else { built_in.chain(plugins).collect() };
    lines.sort_by_key(|line| line.id);
    for at in 1..lines.len() {
        if lines[at].id == lines[at - 1].id {
            lines[at].place.push_str("  (not used: the one above goes first)");
        }
    }
    lines
}
