//! Compares the rasters and tables that libhdf4 finds in a file with what ferrocdf reads where it shows all of a file.

use std::collections::HashSet;
use std::path::Path;

use ferrocdf::model::{Model, Owner, Type};
use ferrocdf::{File, GroupId, OpenOptions, VarId};

use super::compare::{Hdf4Comparison, atomic, bytes_of, text};

/// Start of the names that libhdf4 and ferrocdf give to rasters that have none in the file.
const THEIR_UNNAMED: &[u8] = b"Raster Image #";
const OUR_UNNAMED: &[u8] = b"raster_";

/// Compares what `others tell` says of a file with what ferrocdf reads.
pub fn compare_others(path: &Path, told: &str) -> Hdf4Comparison {
    let mut found = Hdf4Comparison::default();
    let file = match File::open_with(path, &OpenOptions::default().hdf4_all(true)) {
        Ok(file) => file,
        Err(error) => {
            found.differences.push(format!("it cannot be opened: {error}"));
            return found;
        }
    };
    let model = file.model();
    let tables = told.lines().filter_map(|line| line.strip_prefix("table "));
    let tables: Vec<&str> = tables.collect();
    let mut seen = HashSet::new();
    let mut owner = None;
    for line in told.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["file", name, number, values] => {
                attribute(&mut found, &model, Owner::Group(GroupId::ROOT), hex(name), number, values);
            }
            ["raster", name, ref rest @ ..] => {
                let name = hex(name);
                owner = raster(&file, &name, rest, &mut seen);
                match owner {
                    Some(var) => pixels(&mut found, &file, &model, var, rest),
                    // JPEG is not read, and said to be.
                    None if file.skipped().iter().any(|line| line.contains("JPEG")) => found.same += 1,
                    None => found.differences.push(format!("there is no raster {:?}", text(&name))),
                }
            }
            // Of tables of one name nobody says which one is which.
            ["table", name] => {
                let is_alone = tables.iter().filter(|other| **other == name).count() == 1;
                owner = named(&model, &hex(name), &HashSet::new()).filter(|_| is_alone);
            }
            ["attribute", field, name, number, values] => {
                let Some(var) = owner else { continue };
                let (field, mut name) = (hex(field), hex(name));
                if !field.is_empty() {
                    name = [&field[..], b".", &name].concat();
                }
                attribute(&mut found, &model, Owner::Var(var), name, number, values);
            }
            _ => found.differences.push(format!("a line that is cut: {line:.100}")),
        }
    }
    found
}

fn named(model: &Model, name: &[u8], seen: &HashSet<VarId>) -> Option<VarId> {
    model.var_ids().find(|var| !seen.contains(var) && model.var(*var).name.as_bytes() == name)
}

/// The variable of a raster. libhdf4 has those without a name in another order: such a one is a variable with the same pixels.
fn raster(file: &File, name: &[u8], told: &[&str], seen: &mut HashSet<VarId>) -> Option<VarId> {
    let model = file.model();
    let is_same = |var: VarId| {
        let (shape, values) = (model.shape(var), told.last().map(|word| hex(word)));
        let ours = file.read_values(var, &vec![0; shape.len()], &shape);
        ours.is_ok_and(|ours| Some(bytes_of(&ours)) == values)
    };
    let is_unnamed = |var: VarId| model.var(var).name.as_bytes().starts_with(OUR_UNNAMED);
    let unnamed = || model.var_ids().find(|&var| !seen.contains(&var) && is_unnamed(var) && is_same(var));
    let found = named(&model, name, seen);
    let found = found.or_else(|| name.starts_with(THEIR_UNNAMED).then(unnamed).flatten());
    seen.extend(found);
    found
}

/// Compares type, shape and values of a raster.
fn pixels(found: &mut Hdf4Comparison, file: &File, model: &Model, var: VarId, told: &[&str]) {
    let &[number, rows, columns, components, ref rest @ ..] = told else {
        found.differences.push(format!("a line that is cut: {told:?}"));
        return;
    };
    let name = text(model.var(var).name.as_bytes());
    let ty = number.parse().ok().and_then(atomic).map(Type::Atomic);
    found.check(|| format!("{name}: type"), &ty, &Some(model.var(var).ty));
    // The rows of a raster may hold its components one after the other.
    let mut theirs: Vec<u64> =
        [rows, columns, components].iter().filter_map(|len| len.parse().ok()).collect();
    theirs.truncate(if components == "1" { 2 } else { 3 });
    let (shape, mut ours) = (model.shape(var), model.shape(var));
    theirs.sort_unstable();
    ours.sort_unstable();
    found.check(|| format!("{name}: lengths"), &theirs, &ours);
    match (rest, file.read_values(var, &vec![0; shape.len()], &shape)) {
        (["failed"], _) => found.only_ours += 1,
        ([values], Ok(own)) => {
            let own = bytes_of(&own);
            found.bytes += own.len() as u64;
            found.check(|| format!("{name}: pixels"), &hex(values), &own);
        }
        (_, own) => found.differences.push(format!("{name}: pixels: {:?}", own.err())),
    }
}

fn attribute(
    found: &mut Hdf4Comparison,
    model: &Model,
    of: Owner,
    name: Vec<u8>,
    number: &str,
    values: &str,
) {
    let shown = text(&name);
    let ty = number.parse().ok().and_then(atomic).map(Type::Atomic);
    let ours = model.find_attr(of, &name);
    found.check(|| format!("attribute {shown:?}: type"), &ty, &ours.map(|attr| attr.value.ty()));
    let own = ours.map(|attr| bytes_of(&attr.value));
    found.check(|| format!("attribute {shown:?}: values"), &Some(hex(values)), &own);
}

/// The bytes of a word of digits behind an x.
fn hex(word: &str) -> Vec<u8> {
    let digits = word.strip_prefix('x').unwrap_or_default().as_bytes();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.chunks(2).filter_map(byte).collect()
}
