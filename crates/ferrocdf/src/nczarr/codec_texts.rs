//! The attribute `_Codecs`, which tells the codecs of an array as JSON: those of Zarr 2 by their `id`, those of Zarr 3 by their `name`.

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_codec::{Codecs, FilterId};
use ferrocdf_model::{Attr, Container, Filter, Model, NamedCodec, Values, VarId};
use ferrocdf_zarr::Json;

use super::{LZ4, name};
use crate::plugins;

/// A filter and its parameters.
type Parameters = (FilterId, Vec<u32>);

/// Codecs without an HDF5 number that encode bytes, whatever the elements are.
const BYTE_CODECS: [&str; 7] = ["adler32", "base64", "crc32", "crc32c", "gzip", "jenkins_lookup3", "lzma"];

/// The one of them that zarr-python reads in version 2 alone.
const ONLY_V2: &str = "base64";

/// Codecs that follow from the type of an array, or say nothing but the order of bytes and dimensions.
const IMPLIED: [&str; 6] = ["bytes", "json2", "transpose", "vlen-array", "vlen-bytes", "vlen-utf8"];

/// Returns the attribute `_Codecs` of an array, in the words of netCDF-C: its codecs, but for the one that only says the byte order. `None` if
/// there are no others.
pub(super) fn attribute(metadata: &Json) -> Option<Attr> {
    let list = |name: &str| metadata.get(name).and_then(Json::as_array).unwrap_or_default();
    let is_codec =
        |json: &&Json| **json != Json::Null && json.get("name").and_then(Json::as_str) != Some("bytes");
    // One of these is of version 3, the others of version 2.
    let all = list("codecs").iter().chain(list("filters")).chain(metadata.get("compressor"));
    let text = |json: &Json| match json {
        Json::Object(members) => {
            let members = members.iter().map(|(name, value)| format!("{}: {value}", Json::text(name)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    };
    let codecs: Vec<String> = all.filter(is_codec).map(text).collect();
    let value = Values::Char(format!("[{}]", codecs.join(",")).into_bytes());
    (!codecs.is_empty()).then(|| Attr::new(name("_Codecs"), value))
}

/// Returns the filters with an HDF5 number among the steps of a chain, and the other codecs.
pub(super) fn filters_of(steps: impl Iterator<Item = Parameters>) -> (Vec<Filter>, Vec<NamedCodec>) {
    let (mut filters, mut named_codecs) = (vec![], vec![]);
    for (id, mut params) in steps {
        match id {
            FilterId::Hdf5(id) => {
                // Behind an element size, HDF5 has the chunk size. A block size is a user's only where the element size is still to be
                // derived.
                if let (Filter::BLOSC, [_, _, size, 1..=u32::MAX, ..]) = (id, &mut params[..]) {
                    *size = 0;
                }
                filters.push(Filter { id, params });
            }
            FilterId::Named(name) if name == "transpose" => {}
            // The same blocks in another frame. HDF5's filter has a block size first, of which 0 is the default, and passes over a second number:
            // the acceleration.
            FilterId::Named(name) if name == LZ4 => {
                let params = params.first().filter(|&&acceleration| acceleration != 1);
                let params = params.map_or(vec![], |&acceleration| vec![0, acceleration]);
                filters.push(Filter { id: Filter::LZ4, params });
            }
            FilterId::Named(name) => {
                let is_of_bytes = BYTE_CODECS.contains(&&*name);
                let (name, filters_before) = (name.to_string(), filters.len());
                named_codecs.push(NamedCodec { name, params: is_of_bytes.then_some(params), filters_before });
            }
        }
    }
    (filters, named_codecs)
}

/// True if a new array of a Zarr store can have a codec, and zarr-python reads it there.
pub fn can_have_codec(codec: &NamedCodec, container: Container) -> bool {
    let Some(params) = &codec.params else { return false };
    let id = FilterId::Named(codec.name.clone().into());
    match container {
        Container::ZarrV3 => {
            codec.name != ONLY_V2 && ferrocdf_codec::to_zarr_v3(&id, params).is_some_and(|json| json.is_ok())
        }
        _ => true,
    }
}

/// Gives a variable the filters that the text of an attribute `_Codecs` tells. They take the place of filters that say the same, whose order
/// the attribute tells too. Returns the names of codecs that cannot be given to a new variable, since they depend on an array or the version has
/// none such.
///
/// # Errors
/// `NC_EINVAL` for other filters than the variable has; `NC_EFILTER` for a text that tells no codecs; `NC_ENOFILTER` for an unknown codec;
/// those of the JSON.
pub fn define_codecs(model: &mut Model, var: VarId, text: &str) -> Result<Vec<String>> {
    let wrong = |code, what: &str| Error::new(code, format!("{}: _Codecs: {what}", model.var_path(var)));
    let json = Json::parse(text.as_bytes()).map_err(|error| wrong(error.code, &error.what))?;
    let list = json.as_array().ok_or_else(|| wrong(Code::EFILTER, "it is no list of codecs"))?;
    let mut steps = vec![];
    parse(list, &plugins::codecs(), &mut steps).map_err(|error| wrong(error.code, &error.what))?;
    let (filters, mut named_codecs) = filters_of(steps.into_iter());
    let present = &model.var(var).storage.filters;
    if !present.is_empty() && !says_same(present, &filters) {
        let what = "it tells other filters than _Filter, _Shuffle, _DeflateLevel and _Fletcher32: leave one of them out";
        return Err(wrong(Code::EINVAL, what));
    }
    let container = model.format().container();
    let left_out = named_codecs.iter().filter(|codec| !can_have_codec(codec, container));
    let left_out = left_out.map(|codec| codec.name.clone()).collect();
    named_codecs.retain(|codec| can_have_codec(codec, container));
    let storage = &mut model.var_mut(var).storage;
    (storage.filters, storage.named_codecs) = (filters, named_codecs);
    Ok(left_out)
}

/// Adds the filters of codecs. Of shards, whose shape the attribute does not tell, those of the chunks within count.
fn parse(list: &[Json], known: &Codecs, steps: &mut Vec<Parameters>) -> Result<()> {
    for codec in list {
        let member = |key: &str| codec.get(key).and_then(Json::as_str);
        let text = codec.to_string();
        let (called, found) = match (member("id"), member("name")) {
            (Some(called), _) | (None, Some(called)) if IMPLIED.contains(&called) => continue,
            (Some(id), _) => (id, known.parse_numcodecs(&text)),
            (None, Some("sharding_indexed")) => {
                let within = codec.get("configuration").and_then(|within| within.get("codecs")?.as_array());
                parse(within.unwrap_or_default(), known, steps)?;
                continue;
            }
            (None, Some(called)) => (called, known.parse_zarr_v3(&text)),
            (None, None) => {
                let what = format!("{text} is no codec: it has neither \"id\" nor \"name\"");
                return Err(Error::new(Code::EFILTER, what));
            }
        };
        steps.push(found.ok_or_else(|| known.unknown_codec(called))??);
    }
    Ok(())
}

/// True if two lists of filters have the same parameters, but for those that filters derive.
fn says_same(one: &[Filter], other: &[Filter]) -> bool {
    let sorted = |filters: &[Filter]| {
        let mut filters = filters.to_vec();
        filters.sort_by_key(|filter| filter.id);
        filters
    };
    let is_same = |(one, other): (&Filter, &Filter)| {
        let first_given = match one.id {
            Filter::SHUFFLE | Filter::FLETCHER32 => usize::MAX,
            Filter::BLOSC => 4,
            _ => 0,
        };
        // One of them may have fewer, since filters derive the last ones.
        let mut params = one.params.iter().zip(&other.params).skip(first_given);
        one.id == other.id && params.all(|(one, other)| one == other)
    };
    one.len() == other.len() && sorted(one).iter().zip(&sorted(other)).all(is_same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_say_the_same_but_for_derived_parameters() {
        let filter = |id, params: &[u32]| Filter { id, params: params.to_vec() };
        let deflate = filter(Filter::DEFLATE, &[4]);
        let shuffle = [filter(Filter::SHUFFLE, &[]), deflate.clone()];
        assert!(says_same(&shuffle, &[deflate.clone(), filter(Filter::SHUFFLE, &[8])]));
        assert!(!says_same(&shuffle, std::slice::from_ref(&deflate)));
        assert!(!says_same(&[deflate], &[filter(Filter::DEFLATE, &[5])]));
        let blosc = |params: &[u32]| [filter(Filter::BLOSC, params)];
        assert!(says_same(&blosc(&[2, 2, 4, 64, 5, 1, 1]), &blosc(&[0, 0, 0, 0, 5, 1, 1])));
        assert!(!says_same(&blosc(&[2, 2, 4, 64, 5, 1, 1]), &blosc(&[0, 0, 0, 0, 5, 1, 2])));
    }
}
