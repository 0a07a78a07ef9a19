//! The facts for people.

use std::fmt::Write;

use serde_json::Value;

use super::layout::layout;
use super::words::{Colours, bytes, list, paint, plain, string};

/// Values of an attribute longer than this are cut.
const VALUE_WIDTH: usize = 72;
/// More sources of a variable than this are counted.
const SOURCES: usize = 20;

/// The facts as text.
pub fn text(facts: &Value, colours: bool) -> String {
    let colours = Colours::new(colours);
    let mut out = String::new();
    if facts["layout"].is_object() {
        let _ = head(&mut out, facts, &colours)
            .and_then(|()| layout(&mut out, &facts["layout"], &colours))
            .and_then(|()| requests(&mut out, facts, &colours));
        return out;
    }
    let _ = head(&mut out, facts, &colours)
        .and_then(|()| types(&mut out, facts, &colours))
        .and_then(|()| dimensions(&mut out, facts, &colours))
        .and_then(|()| variables(&mut out, facts, &colours))
        .and_then(|()| without_shape(&mut out, facts, &colours))
        .and_then(|()| globals(&mut out, facts, &colours))
        .and_then(|()| groups(&mut out, facts, &colours))
        .and_then(|()| skipped(&mut out, facts, &colours))
        .and_then(|()| requests(&mut out, facts, &colours));
    out
}

fn head(out: &mut String, facts: &Value, colours: &Colours) -> std::fmt::Result {
    let path = string(facts, "path");
    let (container, by_netcdf) = (string(facts, "container"), facts["written_by_netcdf"] == true);
    let size = bytes(facts["size"].as_u64().unwrap_or(0));
    // A store has no size: it would have to be listed as a whole.
    let consolidated = match facts["consolidated"].as_bool() {
        Some(true) => "metadata consolidated",
        _ => "metadata not consolidated",
    };
    let what = match (container.starts_with("Zarr"), by_netcdf) {
        (true, true) => format!("{container} of netCDF (NCZarr), {consolidated}"),
        (true, false) => format!("{container}, {consolidated}"),
        (false, true) => format!("{}, {size}", string(facts, "format")),
        (false, false) if container == "HDF4" => format!("HDF4, {size}"),
        (false, false) => format!("HDF5, not written by netCDF, {size}"),
    };
    writeln!(out, "{}: {what}", paint(colours.heading, path))?;
    match facts["missing_bytes"].as_u64() {
        Some(0) | None => Ok(()),
        Some(missing) => {
            let what = format!("the file is cut off: {} of its data are missing", bytes(missing));
            writeln!(out, "{}", paint(colours.warning, what))
        }
    }
}

fn types(out: &mut String, facts: &Value, colours: &Colours) -> std::fmt::Result {
    let types = list(facts, "types");
    if types.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", paint(colours.heading, "types"))?;
    for ty in types {
        let class = string(ty, "class");
        let size = ty["size"].as_u64().map_or(String::new(), |size| format!(" of {}", bytes(size)));
        let parts: Vec<&str> = list(ty, "of").iter().filter_map(Value::as_str).collect();
        let name = paint(colours.name, plain(string(ty, "path")));
        let parts = if parts.is_empty() { String::new() } else { format!(": {}", plain(&parts.join(", "))) };
        writeln!(out, "  {class} {name}{size}{parts}")?;
    }
    Ok(())
}

fn dimensions(out: &mut String, facts: &Value, colours: &Colours) -> std::fmt::Result {
    let dims = list(facts, "dimensions");
    if dims.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", paint(colours.heading, "dimensions"))?;
    let width = dims.iter().map(|dim| string(dim, "path").chars().count()).max().unwrap_or(0);
    for dim in dims {
        let name = string(dim, "path");
        let gap = " ".repeat(width - name.chars().count());
        let unlimited =
            if dim["unlimited"] == true { paint(colours.faint, " unlimited") } else { String::new() };
        writeln!(out, "  {}{gap}  {}{unlimited}", paint(colours.name, name), dim["length"])?;
    }
    Ok(())
}

fn variables(out: &mut String, facts: &Value, colours: &Colours) -> std::fmt::Result {
    let vars = list(facts, "variables");
    if vars.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", paint(colours.heading, "variables"))?;
    for var in vars {
        let lens = list(var, "shape").iter();
        let dims = list(var, "dimensions").iter().zip(lens);
        let dims: Vec<String> =
            dims.map(|(name, len)| format!("{} {len}", name.as_str().unwrap_or(""))).collect();
        let shape = if dims.is_empty() { "scalar".to_string() } else { dims.join(" x ") };
        writeln!(
            out,
            "  {} {}: {shape}",
            string(var, "type"),
            paint(colours.name, plain(string(var, "path")))
        )?;
        match var["error"].as_str() {
            Some(error) => {
                writeln!(out, "      {} {}", paint(colours.warning, "cannot be read:"), plain(error))?
            }
            None => writeln!(out, "      {}", paint(colours.faint, stored(var)))?,
        }
        for line in missing(var) {
            writeln!(out, "      {}", paint(colours.warning, plain(&line)))?;
        }
        for line in sources(var) {
            writeln!(out, "      {}", paint(colours.faint, plain(&line)))?;
        }
        if let Some(filters) = filters(var) {
            writeln!(out, "      {}", paint(colours.faint, filters))?;
        }
        attributes(out, &var["attributes"], "      ", colours)?;
    }
    Ok(())
}

/// Datasets without a shape, with their attributes.
fn without_shape(out: &mut String, facts: &Value, colours: &Colours) -> std::fmt::Result {
    let found = list(facts, "without_shape");
    if found.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", paint(colours.heading, "datasets without a shape"))?;
    for dataset in found {
        let ty = dataset["type"].as_str().map_or(String::new(), |ty| format!("{ty} "));
        writeln!(out, "  {ty}{}", paint(colours.name, plain(string(dataset, "path"))))?;
        attributes(out, &dataset["attributes"], "      ", colours)?;
    }
    Ok(())
}

/// The sources that lack elements, which have the fill value; a line each.
fn missing(var: &Value) -> Vec<String> {
    let line = |source: &Value| format!("fill values in place of {}", string(source, "text"));
    shortened(list(var, "missing_sources").iter().map(line).collect())
}

/// The first [`SOURCES`] lines, and how many more there are.
fn shortened(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(SOURCES);
    lines.truncate(SOURCES);
    lines.extend((more > 0).then(|| format!("and {more} more")));
    lines
}

/// Where data comes from, and what was never written; a line each.
fn sources(var: &Value) -> Vec<String> {
    let file = |file: &Value| format!("in the file \"{}\"", file.as_str().unwrap_or(""));
    let source = |source: &Value| match string(source, "file") {
        "." => format!("from {}", string(source, "path")),
        file => format!("from {} of the file \"{file}\"", string(source, "path")),
    };
    let unwritten = |part: &Value| {
        let (name, from, to) = (string(part, "dimension"), &part["from"], part["to"].as_u64().unwrap_or(0));
        match to.checked_sub(1).filter(|last| *from != *last) {
            Some(last) => format!("never written: {name} {from} to {last}"),
            None => format!("never written: {name} {from}"),
        }
    };
    let chunks = var["unwritten_chunks"].as_u64();
    let chunks = chunks.map(|count| format!("{count} of {} chunks were never written", var["chunk_count"]));
    let lines = list(var, "external_files").iter().map(file).chain(list(var, "sources").iter().map(source));
    shortened(chunks.into_iter().chain(lines).chain(list(var, "unwritten").iter().map(unwritten)).collect())
}

/// Size, ratio and arrangement in a line.
fn stored(var: &Value) -> String {
    let number = |key: &str| var[key].as_u64().unwrap_or(0);
    let (size, stored) = (number("bytes"), number("stored_bytes"));
    if string(var, "arrangement") == "computed" {
        return format!("{}, computed when read", bytes(size));
    }
    let has_unwritten = var["written_bytes"].is_u64();
    let ratio = match var["ratio"].as_f64() {
        Some(_) if has_unwritten && list(var, "filters").is_empty() => {
            format!("{} stored", bytes(stored))
        }
        Some(ratio) if size != stored => format!("{} stored, {ratio:.2}:1", bytes(stored)),
        _ if string(var, "arrangement") == "virtual" => "in other datasets".to_string(),
        _ if stored == 0 && size > 0 => "nothing stored".to_string(),
        // Where the size is not known, filters tell; shuffle (2) and checksums (3) do not compress.
        _ if list(var, "filters").iter().any(|filter| !matches!(filter["id"].as_u64(), Some(2 | 3)))
            || list(var, "codecs").iter().any(compresses) =>
        {
            "compressed".to_string()
        }
        _ => "not compressed".to_string(),
    };
    let how = match string(var, "arrangement") {
        "records" => {
            format!("{} in each record of {}", bytes(number("slab_bytes")), bytes(number("record_bytes")))
        }
        "chunked" if var["one_piece"] == true => "one compressed piece".to_string(),
        "chunked" => {
            let lens: Vec<String> = list(var, "chunks").iter().map(Value::to_string).collect();
            if lens.is_empty() { "one chunk".to_string() } else { format!("chunks of {}", lens.join(" x ")) }
        }
        other => other.to_string(),
    };
    format!("{}, {ratio}, {how}", bytes(size))
}

/// Codecs of Zarr that do not compress, without the prefix `numcodecs.`.
const DOES_NOT_COMPRESS: &[&str] = &[
    "adler32",
    "bytes",
    "crc32",
    "crc32c",
    "delta",
    "fletcher32",
    "jenkins_lookup3",
    "reshape",
    "shuffle",
    "transpose",
    "vlen-array",
    "vlen-bytes",
    "vlen-utf8",
];

/// True if a codec of Zarr, or one within its shards, compresses.
fn compresses(codec: &Value) -> bool {
    match codec_name(codec) {
        "sharding_indexed" => list(&codec["configuration"], "codecs").iter().any(compresses),
        name => !DOES_NOT_COMPRESS.contains(&name.strip_prefix("numcodecs.").unwrap_or(name)),
    }
}

/// The name of a codec: `id` in version 2, `name` or the codec itself in version 3.
fn codec_name(codec: &Value) -> &str {
    let name = codec.get("id").or_else(|| codec.get("name")).unwrap_or(codec);
    name.as_str().unwrap_or("?")
}

/// A codec by name, with its configuration: `zlib with level 5`.
fn codec(codec: &Value) -> String {
    let configuration = codec.get("configuration").unwrap_or(codec);
    let members = configuration.as_object().into_iter().flatten();
    let members = members.filter(|(key, _)| !matches!(&***key, "id" | "name" | "index_codecs"));
    let member = |(key, value): (&String, &Value)| match value {
        Value::Array(codecs) if key == "codecs" => {
            format!("codecs ({})", codecs.iter().map(self::codec).collect::<Vec<_>>().join(", then "))
        }
        Value::String(text) => format!("{key} {text}"),
        value => format!("{key} {value}"),
    };
    let members: Vec<String> = members.map(member).collect();
    match members.is_empty() {
        true => plain(codec_name(codec)),
        false => plain(&format!("{} with {}", codec_name(codec), members.join(", "))),
    }
}

/// The filters, or the codecs of a Zarr store, in the order in which they pack.
fn filters(var: &Value) -> Option<String> {
    let codecs: Vec<String> = list(var, "codecs").iter().map(codec).collect();
    if !codecs.is_empty() {
        return Some(codecs.join(", then "));
    }
    let filter = |filter: &Value| {
        let id = &filter["id"];
        let name = filter["name"].as_str().map_or(format!("filter {id}"), |name| format!("{name} ({id})"));
        let parameters: Vec<String> = list(filter, "parameters").iter().map(Value::to_string).collect();
        let parameters =
            if parameters.is_empty() { String::new() } else { format!(" with {}", parameters.join(" ")) };
        format!("{name}{parameters}")
    };
    let filters: Vec<String> = list(var, "filters").iter().map(filter).collect();
    (!filters.is_empty()).then(|| filters.join(", then "))
}

fn globals(out: &mut String, facts: &Value, colours: &Colours) -> std::fmt::Result {
    if facts["attributes"].as_object().is_none_or(serde_json::Map::is_empty) {
        return Ok(());
    }
    writeln!(out, "\n{}", paint(colours.heading, "attributes"))?;
    attributes(out, &facts["attributes"], "  ", colours)
}

fn groups(out: &mut String, facts: &Value, colours: &Colours) -> std::fmt::Result {
    let groups = list(facts, "groups");
    if groups.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", paint(colours.heading, "groups"))?;
    for group in groups {
        writeln!(out, "  {}", paint(colours.name, plain(string(group, "path"))))?;
        attributes(out, &group["attributes"], "      ", colours)?;
    }
    Ok(())
}

fn skipped(out: &mut String, facts: &Value, colours: &Colours) -> std::fmt::Result {
    let words = list(facts, "skipped");
    if words.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", paint(colours.heading, "skipped"))?;
    words.iter().try_for_each(|word| writeln!(out, "  {}", plain(word.as_str().unwrap_or(""))))
}

fn requests(out: &mut String, facts: &Value, colours: &Colours) -> std::fmt::Result {
    let Some(counts) = facts["requests"].as_object() else { return Ok(()) };
    let count = |key: &str| counts[key].as_u64().unwrap_or(0);
    let told =
        format!("{} in {} rounds, {} received", count("requests"), count("rounds"), bytes(count("received")));
    writeln!(out, "\n{} {told}", paint(colours.heading, "requests"))
}

fn attributes(out: &mut String, attrs: &Value, indent: &str, colours: &Colours) -> std::fmt::Result {
    for (name, value) in attrs.as_object().into_iter().flatten() {
        let value = match value {
            Value::String(text) => text.replace('\n', "\\n"),
            other => other.to_string(),
        };
        let mut shown: String = value.chars().take(VALUE_WIDTH).collect();
        if shown.len() < value.len() {
            shown.push_str("...");
        }
        let shown = plain(&shown);
        writeln!(out, "{indent}{} {shown}", paint(colours.faint, format_args!("{}:", plain(name))))?;
    }
    Ok(())
}
