//! `ferrocdf info --layout`: where the bytes of a file lie, as JSON and for people, with a verdict.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;

use ferrocdf::layout::{BLOCK_SIZES, FileLayout, ReadCost, VariableLayout};
use ferrocdf::store::ranges::total;
use ferrocdf::{Container, File, Model, Result};
use serde_json::{Value, json};

use super::words::{Colours, bytes, list, paint, plain, string};

/// Chunks of fewer bytes are too small to be fetched one by one: guides for files in the cloud name 100 kB to 16 MB.
const LEAST_CHUNK: u64 = 100_000;
/// So many small chunks do no harm.
const FEW_CHUNKS: u64 = 16;

/// Returns where the bytes of a file lie.
pub(super) fn facts(file: &File) -> Result<Value> {
    let (layout, model) = (file.layout()?, file.model());
    let metadata = layout.metadata.as_deref();
    let share = |bytes: u64| layout.size.filter(|&size| size > 0).map(|size| bytes as f64 / size as f64);
    Ok(json!({
        "metadata_bytes": metadata.map(total),
        "metadata_share": metadata.map(total).and_then(share),
        "metadata_runs": metadata.map(<[_]>::len),
        "metadata_end": metadata.and_then(|runs| runs.last()).map(|run| run.end),
        "first_data": layout.first_data,
        "metadata_first": layout.is_metadata_first(),
        "unused_bytes": layout.unused.as_deref().map(total),
        "gaps": layout.unused.as_ref().map(Vec::len),
        "page": layout.page,
        "open": costs(&layout.open),
        "metadata": costs(&layout.metadata_cost),
        "variables": layout.variables.iter().map(|var| variable(&model, var)).collect::<Vec<_>>(),
        "unreadable": layout.unreadable.as_ref().map(ToString::to_string),
        "verdict": verdict(file, &model, &layout),
    }))
}

fn variable(model: &Model, var: &VariableLayout) -> Value {
    let index = |runs: &[Range<u64>]| {
        let (first, last) = (runs.first()?, runs.last()?);
        Some(json!({ "begin": first.start, "end": last.end, "bytes": total(runs) }))
    };
    json!({
        "path": model.var_path(var.var),
        "chunk_shape": var.chunk_shape,
        "chunk_bytes": var.chunk_bytes,
        "chunks": var.chunks,
        "index": index(&var.index),
        "first": var.first,
        "step": costs(&var.step),
        "series": costs(&var.series),
    })
}

fn costs(costs: &[ReadCost]) -> Vec<Value> {
    let cost = |(block, cost): (u64, &ReadCost)| json!({ "block": block, "requests": cost.requests, "bytes": cost.bytes });
    BLOCK_SIZES.into_iter().zip(costs).map(cost).collect()
}

/// Returns in one sentence what is wrong with the layout for readers over a network, the worst in the first place, and what mends it.
fn verdict(file: &File, model: &Model, layout: &FileLayout) -> String {
    if file.is_consolidated() == Some(false) {
        return "the metadata of each group and array is an object of its own: the store is not consolidated"
            .to_string();
    }
    if let Some(verdict) = verdict_on_sources(file, model) {
        return verdict;
    }
    let is_hdf5 = file.format().container() == Container::Hdf5;
    let mended = |option: &str| match is_hdf5 {
        true => format!(
            "; `ferrocdf repack {option} {} OUT` mends that",
            plain(&file.path().display().to_string())
        ),
        false => String::new(),
    };
    let smallest = BLOCK_SIZES.into_iter().zip(&layout.metadata_cost).min_by_key(|(block, _)| *block);
    if let (Some((block, cost)), Some(metadata)) = (smallest, &layout.metadata) {
        // One more, since a run of metadata that is no longer than a block may lie in two.
        let least = total(metadata).div_ceil(block).saturating_add(1);
        if cost.requests > least {
            let requests = cost.requests;
            return format!(
                "the metadata is spread over the file: a reader of blocks of {} needs {requests} requests for all of it, and {least} at \
                 most if it were in one place{}",
                size(block),
                mended("--cloud")
            );
        }
    }
    let is_cut_small = |var: &&VariableLayout| {
        var.chunks.is_some_and(|count| count > FEW_CHUNKS)
            && var.chunk_bytes.is_some_and(|bytes| bytes < LEAST_CHUNK)
    };
    let most_cut = layout.variables.iter().filter(is_cut_small).max_by_key(|var| var.chunks);
    if let Some((var, chunks, chunk)) =
        most_cut.and_then(|var| Some((var.var, var.chunks?, var.chunk_bytes?)))
    {
        let (path, mended) = (model.var_path(var), mended("--cloud=cmip7"));
        return format!("{} is cut into {chunks} chunks of only {}{mended}", plain(&path), bytes(chunk));
    }
    match (&layout.unreadable, &layout.metadata, layout.size) {
        (Some(_), ..) => "what could be read of the file can be read over a network as it is".to_string(),
        (None, None, Some(_)) => "the format does not tell where all of its metadata is".to_string(),
        (None, ..) => "the file can be read over a network as it is".to_string(),
    }
}

/// Returns what is wrong with a file whose elements are in other files; `None` for a file that has its own.
fn verdict_on_sources(file: &File, model: &Model) -> Option<String> {
    let (mut files, mut vars) = (BTreeSet::new(), vec![]);
    for var in file.variables() {
        let Ok(sources) = var.sources() else { continue };
        let virtual_files = sources.virtual_sources.into_iter().map(|(file, _)| file);
        let others: BTreeSet<String> =
            sources.external.into_iter().chain(virtual_files.filter(|file| file != ".")).collect();
        if !others.is_empty() {
            vars.push(model.var_path(var.id()));
            files.extend(others);
        }
    }
    let first = plain(vars.first()?);
    let more = match vars.len() - 1 {
        0 => String::new(),
        1 => " and of 1 more variable".to_string(),
        more => format!(" and of {more} more variables"),
    };
    Some(format!(
        "the elements of {first}{more} are in {} beside this one: readers over a network that know only this file cannot read them; `ferrocdf \
         repack --cloud {} OUT` makes one file",
        plural(files.len() as u64, "other file"),
        plain(&file.path().display().to_string())
    ))
}

/// The section for people.
pub(super) fn layout(out: &mut String, facts: &Value, colours: &Colours) -> std::fmt::Result {
    writeln!(out, "\n{}", paint(colours.heading, "layout"))?;
    if let Some(metadata) = facts["metadata_bytes"].as_u64() {
        let share = facts["metadata_share"].as_f64().unwrap_or(0.0) * 100.0;
        let runs = plural(facts["metadata_runs"].as_u64().unwrap_or(0), "run");
        let end = &facts["metadata_end"];
        writeln!(
            out,
            "  metadata: {} ({share:.2} % of the file) in {runs}, ends at byte {end}",
            bytes(metadata)
        )?;
    }
    if let Some(first) = facts["first_data"].as_u64() {
        let order = match facts["metadata_first"].as_bool() {
            Some(true) => ", behind all metadata",
            Some(false) => ", before the last metadata",
            None => "",
        };
        writeln!(out, "  data: from byte {first} on{order}")?;
    }
    if let Some(unused) = facts["unused_bytes"].as_u64() {
        let gaps = plural(facts["gaps"].as_u64().unwrap_or(0), "gap");
        writeln!(out, "  unused: {} in {gaps}", bytes(unused))?;
    }
    if let Some(page) = facts["page"].as_u64() {
        writeln!(out, "  pages: {}", size(page))?;
    }
    for (name, what) in [("open", "to open it"), ("metadata", "to read all metadata")] {
        cost_line(out, "  ", what, list(facts, name))?;
    }
    let vars = list(facts, "variables");
    if !vars.is_empty() {
        writeln!(out, "\n{}", paint(colours.heading, "variables"))?;
    }
    for var in vars {
        writeln!(out, "  {}", paint(colours.name, plain(string(var, "path").trim_start_matches('/'))))?;
        writeln!(out, "      {}", stored(var))?;
        for (name, what) in [("step", "for one step"), ("series", "for the series of one point")] {
            cost_line(out, "      ", what, list(var, name))?;
        }
    }
    if let Some(error) = facts["unreadable"].as_str() {
        writeln!(out, "\n{} {}", paint(colours.warning, "unreadable:"), plain(error))?;
    }
    writeln!(out, "\n{} {}", paint(colours.heading, "verdict:"), string(facts, "verdict"))
}

/// Chunks, index and first byte of a variable.
fn stored(var: &Value) -> String {
    let mut line = match (var["chunks"].as_u64(), var["chunk_bytes"].as_u64()) {
        (Some(count), Some(chunk)) => {
            let lens: Vec<String> = list(var, "chunk_shape").iter().map(Value::to_string).collect();
            let shape = if lens.is_empty() { String::new() } else { format!(" of {}", lens.join(" x ")) };
            format!("{}{shape} ({})", plural(count, "chunk"), bytes(chunk))
        }
        _ => "not chunked".to_string(),
    };
    if let Some(first) = var["first"].as_u64() {
        let _ = write!(line, ", first at byte {first}");
    }
    if let Some(index) = var["index"].as_object() {
        let len = bytes(index["bytes"].as_u64().unwrap_or(0));
        let _ = write!(line, ", index of {len} from byte {} to {}", index["begin"], index["end"]);
    }
    line
}

/// Requests and bytes for each block size, in a line; nothing without costs.
fn cost_line(out: &mut String, indent: &str, what: &str, costs: &[Value]) -> std::fmt::Result {
    let count = |cost: &Value| cost["requests"].as_u64().unwrap_or(0);
    let shown = |cost: &Value| {
        let requests = plural(count(cost), "request");
        match (cost["bytes"].as_u64(), cost["block"].as_u64()) {
            (Some(read), Some(block)) => format!("{requests} ({}) in blocks of {}", bytes(read), size(block)),
            _ => requests,
        }
    };
    if costs.is_empty() {
        return Ok(());
    }
    if costs.iter().all(|cost| count(cost) == 0) {
        return writeln!(out, "{indent}{what}: no request");
    }
    let mut shown: Vec<String> = costs.iter().map(shown).collect();
    // Where chunks are objects, no block size matters.
    shown.dedup();
    writeln!(out, "{indent}{what}: {}", shown.join(", "))
}

fn plural(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// A size that is a whole number of MiB or KiB, as users write it.
fn size(count: u64) -> String {
    match count {
        count if count > 0 && count.is_multiple_of(1 << 20) => format!("{} MiB", count >> 20),
        count if count > 0 && count.is_multiple_of(1 << 10) => format!("{} KiB", count >> 10),
        count => bytes(count),
    }
}
