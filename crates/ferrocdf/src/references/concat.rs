//! Joining the references of several files along a dimension.
//!
//! The chunks of an array have one shape, one data type, one chain of codecs and one set of attributes. Files that differ in any of them are
//! refused, with the file and the member that differs, since nothing would tell it when the joined array is read.

use ferrocdf_array::Selection;
use ferrocdf_bytes::{Error, Result};
use ferrocdf_model::{Atomic, Type, VarId};
use ferrocdf_zarr::{ChunkKeys, Json, with_member, with_shape};

use super::make::MAX_INLINED;
use super::{MadeReferences, Reference, ReferenceOptions, References, check_urls};
use crate::copy::TOO_MANY;
use crate::join::check::{JoinedDataset, check_values, check_variable, refused};
use crate::location::Location;
use crate::nczarr::ARRAY_DIMENSIONS;
use crate::nested;
use crate::options::OpenOptions;

/// The references of one file.
struct JoinedFile {
    member: JoinedDataset,
    references: References,
}

impl References {
    /// Makes the references of several datasets, joined along a dimension in their order. Variables without the dimension, coordinates among them,
    /// have equal values in all datasets; those of the first one are taken, and its attributes.
    ///
    /// # Errors
    /// `NC_EINVAL` for datasets that cannot be joined: other variables, lengths, data types, chunks, filters, fill values, scales, units or
    /// coordinates, or lengths along the dimension that are no multiples of the chunks'. The message has the dataset and what differs. Those
    /// of [`References::of`].
    pub fn concat(dimension: &str, datasets: &[(Location, ReferenceOptions)]) -> Result<MadeReferences> {
        check_urls(datasets)?;
        let mut skipped = vec![];
        let mut parts = vec![];
        for (location, options) in datasets {
            let made = References::of(location, options)?;
            let member = JoinedDataset::open(location, &OpenOptions::default())?;
            skipped.extend(made.skipped.into_iter().map(|error| error.at(&member.name)));
            parts.push(JoinedFile { member, references: made.references });
        }
        let Some((first, others)) = parts.split_first() else { return Err(refused("no file is given")) };
        let mut joined = References::default();
        for (key, reference) in first.references.iter().filter(|(key, _)| is_of_group(key, &first.references))
        {
            joined.insert(key.to_string(), reference.clone())?;
        }
        let mut is_joined = false;
        for path in first.arrays() {
            let arrays = parts.iter().map(|part| Ok((part, part.array(path)?)));
            let arrays: Vec<(&JoinedFile, JoinedArray)> = arrays.collect::<Result<_>>()?;
            is_joined |= join_array(path, dimension, &arrays, &mut joined)?;
        }
        for part in others {
            if let Some(path) = part.arrays().find(|path| first.array(path).is_err()) {
                return Err(part.refused(path, format!("{} has no such variable", first.member.name)));
            }
        }
        match is_joined {
            true => Ok(MadeReferences { references: joined, skipped }),
            false => Err(first.refused(dimension, "no variable has this dimension".to_string())),
        }
    }
}

/// The metadata of an array.
struct JoinedArray {
    document: Json,
    attributes: Json,
    shape: Vec<u64>,
    chunks: Vec<u64>,
}

impl JoinedFile {
    /// Returns the paths of the arrays.
    fn arrays(&self) -> impl Iterator<Item = &str> {
        self.references.iter().filter_map(|(key, _)| key.strip_suffix("/.zarray"))
    }

    fn document(&self, key: &str) -> Result<Json> {
        match self.references.get(key) {
            Some(Reference::Inline(text)) => Json::parse(text).map_err(|error| error.at(key)),
            _ => Err(self.refused(key, "it is not there".to_string())),
        }
    }

    fn array(&self, path: &str) -> Result<JoinedArray> {
        let document = self.document(&format!("{path}/.zarray"))?;
        let attributes = self.document(&format!("{path}/.zattrs"))?;
        let lengths = |name: &str| -> Option<Vec<u64>> {
            document.get(name)?.as_array()?.iter().map(Json::as_u64).collect()
        };
        match (lengths("shape"), lengths("chunks")) {
            (Some(shape), Some(chunks)) => Ok(JoinedArray { shape, chunks, document, attributes }),
            _ => Err(self.refused(path, "its metadata has no shape".to_string())),
        }
    }

    /// Returns the variable that an array is, and its shape.
    fn variable(&self, path: &str) -> Result<(VarId, Vec<u64>)> {
        let var = self.member.variable(&format!("/{path}"))?;
        Ok((var, self.member.file.model().shape(var)))
    }

    fn refused(&self, path: &str, why: String) -> Error {
        self.member.refused(&format!("/{path}"), why)
    }
}

/// True if a key is metadata of a group.
fn is_of_group(key: &str, references: &References) -> bool {
    match key.rsplit_once('/').map_or((None, key), |(folder, name)| (Some(folder), name)) {
        (_, ".zgroup") => true,
        (None, ".zattrs") => true,
        (Some(folder), ".zattrs") => references.get(&format!("{folder}/.zarray")).is_none(),
        _ => false,
    }
}

/// Adds an array of all parts. Returns true if it has the dimension.
fn join_array(
    path: &str,
    dimension: &str,
    arrays: &[(&JoinedFile, JoinedArray)],
    joined: &mut References,
) -> Result<bool> {
    let Some((first, rest)) = arrays.split_first() else { return Ok(false) };
    let (first, own) = (first.0, &first.1);
    let names = own.attributes.get(ARRAY_DIMENSIONS).and_then(Json::as_array).unwrap_or_default();
    let along = names.iter().position(|name| name.as_str() == Some(dimension));
    let mut fill = own.document.get("fill_value").unwrap_or(&Json::Null);
    for (part, array) in rest {
        let ((var, _), (their_var, _)) = (first.variable(path)?, part.variable(path)?);
        let (ours, theirs) = ((&first.member, var), (&part.member, their_var));
        check_variable(along, ours, theirs)?;
        fill = check_same(path, (first, own, fill), (part, array))?;
        if along.is_none() {
            check_values(ours, theirs)?;
        }
    }
    let mut document = with_member(&own.document, "fill_value", fill.clone());
    match along {
        None => insert_chunks(path, (&first.references, None), joined)?,
        Some(along) => {
            let len = arrays.iter().try_fold(0u64, |len, (part, array)| {
                let reached = len.checked_add(array.shape[along]);
                reached.ok_or_else(|| part.refused(path, TOO_MANY.to_string()))
            })?;
            let mut shape = own.shape.clone();
            shape[along] = len;
            document = with_shape(&document, &shape);
            match first_chunks(path, along, arrays) {
                Ok(starts) => {
                    for ((part, _), start) in arrays.iter().zip(starts) {
                        insert_chunks(path, (&part.references, Some((along, start))), joined)?;
                    }
                }
                Err(error) => {
                    let values = joined_values(path, along, arrays)?.ok_or(error)?;
                    document = as_one_chunk(&document, &shape);
                    let key =
                        ChunkKeys { has_prefix: false, separator: '.', first: vec![] }
                            .key(&vec![0; shape.len()]);
                    joined.insert(format!("{path}/{key}"), Reference::Inline(values.into()))?;
                }
            }
        }
    }
    for (name, json) in [(".zarray", &document), (".zattrs", &own.attributes)] {
        joined.insert(format!("{path}/{name}"), Reference::Inline(json.to_string().into_bytes().into()))?;
    }
    Ok(along.is_some())
}

/// Returns the number of the first chunk of each part along the dimension.
///
/// # Errors
/// `NC_EINVAL` if the parts have chunks of several lengths, or one begins within a chunk.
fn first_chunks(path: &str, along: usize, arrays: &[(&JoinedFile, JoinedArray)]) -> Result<Vec<u64>> {
    let (mut start, mut starts) = (0u64, vec![]);
    let expected = arrays.first().map(|(_, array)| &array.chunks);
    for (part, array) in arrays {
        let len = array.chunks[along];
        if Some(&array.chunks) != expected {
            let why =
                format!("its chunks have the shape {:?}, and {expected:?} in a file before it", array.chunks);
            return Err(part.refused(path, why));
        }
        if !start.is_multiple_of(len.max(1)) {
            let why = format!("it would begin at {start}, within a chunk of length {len}");
            return Err(part.refused(path, why));
        }
        starts.push(start / len.max(1));
        start = start.saturating_add(array.shape[along]);
    }
    Ok(starts)
}

/// Adds the chunks of one part, so many chunks further along a dimension.
fn insert_chunks(
    path: &str,
    (references, to): (&References, Option<(usize, u64)>),
    joined: &mut References,
) -> Result<()> {
    let prefix = format!("{path}/");
    for (key, reference) in references.iter_from(prefix.clone()) {
        if let Some(key) = moved(&key[prefix.len()..], to) {
            joined.insert(format!("{prefix}{key}"), reference.clone())?;
        }
    }
    Ok(())
}

/// Returns the numbers of all parts, in the byte order of this machine, if they are few and lie one behind the other: those of coordinates,
/// whose chunks are often longer than a file. `None` for all others.
fn joined_values(path: &str, along: usize, arrays: &[(&JoinedFile, JoinedArray)]) -> Result<Option<Vec<u8>>> {
    let mut all = vec![];
    for (part, array) in arrays {
        let (var, shape) = part.variable(path)?;
        let model = part.member.file.model();
        let is_number = matches!(model.var(var).ty, Type::Atomic(atomic) if atomic != Atomic::String);
        let size = model.size_of(model.var(var).ty) as u64;
        let bytes = shape.iter().fold(size, |bytes, &len| bytes.saturating_mul(len));
        if along > 0
            || !is_number
            || shape != array.shape
            || bytes.saturating_add(all.len() as u64) > MAX_INLINED
        {
            return Ok(None);
        }
        all.extend_from_slice(nested::bytes(&part.member.file.read_selected(var, &Selection::all(&shape))?));
    }
    Ok(Some(all))
}

/// Returns the metadata of an array whose numbers are one chunk without filters, in the byte order of this machine.
fn as_one_chunk(document: &Json, shape: &[u64]) -> Json {
    let dtype = document.get("dtype").and_then(Json::as_str).unwrap_or_default();
    let order = if cfg!(target_endian = "little") { "<" } else { ">" };
    let dtype = match dtype.strip_prefix(['<', '>']) {
        Some(rest) => format!("{order}{rest}"),
        None => dtype.to_string(),
    };
    let chunks = Json::Array(shape.iter().map(|&len| Json::integer(len.max(1))).collect());
    let members = [
        ("dtype", Json::String(dtype)),
        ("chunks", chunks),
        ("filters", Json::Null),
        ("compressor", Json::Null),
    ];
    members.into_iter().fold(document.clone(), |document, (name, value)| with_member(&document, name, value))
}

/// Returns the key of a chunk so many chunks further along a dimension; `None` for the key of anything else.
fn moved(key: &str, to: Option<(usize, u64)>) -> Option<String> {
    let numbers: Option<Vec<u64>> = key.split('.').map(|number| number.parse().ok()).collect();
    let mut numbers = numbers?;
    if let Some((along, by)) = to {
        let number = numbers.get_mut(along)?;
        *number = number.checked_add(by)?;
    }
    Some(numbers.iter().map(u64::to_string).collect::<Vec<_>>().join("."))
}

/// Checks that an array of a part has the metadata of the first one's. Returns the fill value of both.
fn check_same<'a>(
    path: &str,
    (first, own, fill): (&JoinedFile, &JoinedArray, &'a Json),
    (part, array): (&JoinedFile, &'a JoinedArray),
) -> Result<&'a Json> {
    let differs = |what: &str, theirs: Option<&Json>, ours: Option<&Json>| {
        let show = |json: Option<&Json>| json.map_or("missing".to_string(), Json::to_string);
        let why = format!("{what} is {}, but {} in {}", show(theirs), show(ours), first.member.name);
        Err(part.refused(path, why))
    };
    for name in ["dtype", "order", "filters", "compressor"] {
        let (theirs, ours) = (array.document.get(name), own.document.get(name));
        if theirs != ours {
            return differs(name, theirs, ours);
        }
    }
    // Without one all chunks are there, so any other will do.
    match array.document.get("fill_value").unwrap_or(&Json::Null) {
        Json::Null => Ok(fill),
        theirs if *fill == Json::Null || theirs == fill => Ok(theirs),
        theirs => differs("fill_value", Some(theirs), Some(fill)),
    }
}
