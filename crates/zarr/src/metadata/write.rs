//! The metadata of a new array: `.zarray` and `zarr.json`.
//!
//! Only what the specifications and the registry zarr-extensions name is written, so that every reader knows it.

use ferrocdf_bytes::{Code, Error, Order, Result};
use ferrocdf_codec::{Codecs, Step};

use super::{ChunkKeys, Version};
use crate::data_type::{DataType, Element, FillValue};
use crate::json::{Json, Members};

/// An array that is to be made.
#[derive(Clone, Debug)]
pub struct NewArray {
    /// The length of each dimension, slowest first.
    pub shape: Vec<u64>,
    /// The shape of the chunks; no length is 0.
    pub chunk_shape: Vec<u64>,
    /// The shape of the shards, a multiple of that of the chunks; `None` if each chunk is an object. Version 3 only.
    pub shard_shape: Option<Vec<u64>>,
    /// True if the index of a shard is at its begin.
    pub index_first: bool,
    /// The dimensions in the order in which elements are stored, slowest first; empty for that of the array. Version 2 knows the reverse
    /// order alone, and others are ignored.
    pub order: Vec<usize>,
    /// Type and byte order of the elements.
    pub element: Element,
    /// The value of elements in missing chunks. Version 3 needs one.
    pub fill_value: FillValue,
    /// The filters of a chunk, in the order in which they encode.
    pub steps: Vec<Step>,
    /// The character between the numbers of a chunk key: `.` or `/`.
    pub separator: char,
    /// A name or `None` for each dimension; empty for none. Version 3 only.
    pub dimension_names: Vec<Option<String>>,
}

impl NewArray {
    /// Returns the metadata; of version 3 without attributes. Codecs of filters are looked for among `codecs`.
    ///
    /// # Errors
    /// `NC_ENOFILTER` for a filter that has no codec; `NC_EZARRMETA` for a data type that the version does not have; those of the codecs.
    pub fn metadata(&self, version: Version, codecs: &Codecs) -> Result<Json> {
        match version {
            Version::V2 => self.v2(codecs),
            Version::V3 => self.v3(codecs),
        }
    }

    fn v2(&self, known: &Codecs) -> Result<Json> {
        if self.shard_shape.is_some() {
            return Err(Error::new(Code::EZARRMETA, "Zarr version 2 has no shards: use version 3"));
        }
        let codec = |step: &Step| codec(step, Version::V2, known);
        let mut codecs = self.steps.iter().map(codec).collect::<Result<Vec<_>>>()?;
        // By convention the last filter is the compressor. A checksum alone is none: zarr-python 2 cannot read it of chunks with several
        // dimensions.
        let is_checksum = |codec: &Json| codec.get("id").and_then(Json::as_str) == Some("fletcher32");
        let compressor = match &codecs[..] {
            [alone] if is_checksum(alone) => None,
            _ => codecs.pop(),
        };
        let object_codec = object_codec(&self.element.data_type);
        codecs.splice(
            ..0,
            object_codec.map(|id| {
                let mut members = vec![("id", Json::text(id))];
                if let DataType::List(of) = &self.element.data_type {
                    members.push(("dtype", of.to_v2()));
                }
                Json::object(members)
            }),
        );
        let mut members = vec![
            ("zarr_format", Json::integer(2)),
            ("shape", numbers(&self.shape)),
            ("dtype", self.element.to_v2()),
            ("chunks", numbers(&self.chunk_shape)),
            ("fill_value", self.element.fill_to_json(Version::V2, &self.fill_value)),
            ("order", Json::text(if self.is_reversed() { "F" } else { "C" })),
            ("compressor", compressor.unwrap_or(Json::Null)),
            ("filters", if codecs.is_empty() { Json::Null } else { Json::Array(codecs) }),
        ];
        if self.separator != '.' {
            members.push(("dimension_separator", Json::String(self.separator.to_string())));
        }
        Ok(Json::object(members))
    }

    /// True if the last dimension is stored as the slowest one, and so on.
    fn is_reversed(&self) -> bool {
        self.order.len() == self.shape.len() && self.order.iter().rev().copied().eq(0..self.order.len())
    }

    fn v3(&self, known: &Codecs) -> Result<Json> {
        let mut codecs = vec![];
        if !self.order.is_empty() {
            let order = self.order.iter().map(|&dim| Json::integer(dim)).collect();
            codecs.push(extension("transpose", vec![("order", Json::Array(order))]));
        }
        codecs.push(match object_codec(&self.element.data_type) {
            Some(name) => extension(name, vec![]),
            None => bytes(self.element.order),
        });
        for step in &self.steps {
            codecs.push(codec(step, Version::V3, known)?);
        }
        let mut chunk_shape = &self.chunk_shape;
        if let Some(shards) = &self.shard_shape {
            let index = vec![bytes(Order::Little), extension("crc32c", vec![])];
            let configuration = vec![
                ("chunk_shape", numbers(chunk_shape)),
                ("codecs", Json::Array(codecs)),
                ("index_codecs", Json::Array(index)),
                ("index_location", Json::text(if self.index_first { "start" } else { "end" })),
            ];
            codecs = vec![extension("sharding_indexed", configuration)];
            chunk_shape = shards;
        }
        let separator = Json::String(self.separator.to_string());
        let mut members = vec![
            ("zarr_format", Json::integer(3)),
            ("node_type", Json::text("array")),
            ("shape", numbers(&self.shape)),
            ("data_type", self.element.to_v3()?),
            ("chunk_grid", extension("regular", vec![("chunk_shape", numbers(chunk_shape))])),
            ("chunk_key_encoding", extension("default", vec![("separator", separator)])),
            ("fill_value", self.element.fill_to_json(Version::V3, &self.fill_value)),
            ("codecs", Json::Array(codecs)),
        ];
        if !self.dimension_names.is_empty() {
            let name = |name: &Option<String>| name.clone().map_or(Json::Null, Json::String);
            members.push(("dimension_names", Json::Array(self.dimension_names.iter().map(name).collect())));
        }
        Ok(Json::object(members))
    }
}

impl ChunkKeys {
    /// Returns the separator that arrays of a version have unless they say another one.
    pub fn usual_separator(version: Version) -> char {
        match version {
            Version::V2 => '.',
            Version::V3 => '/',
        }
    }
}

/// Returns the metadata of an array whose dimensions have other lengths now.
#[must_use]
pub fn with_shape(metadata: &Json, shape: &[u64]) -> Json {
    with_member(metadata, "shape", numbers(shape))
}

/// Returns an object in which one member has another value; it becomes the last one if there was none of its name.
#[must_use]
pub fn with_member(json: &Json, name: &str, value: Json) -> Json {
    let mut members = json.as_object().cloned().unwrap_or_default();
    match members.0.iter_mut().rev().find(|(key, _)| key == name) {
        Some((_, known)) => *known = value,
        None => members.0.push((name.to_string(), value)),
    }
    Json::Object(members)
}

/// Returns the metadata of a group of version 2, or of version 3 with no attributes yet.
pub fn group(version: Version) -> Json {
    match version {
        Version::V2 => Json::object(vec![("zarr_format", Json::integer(2))]),
        Version::V3 => {
            Json::object(vec![("zarr_format", Json::integer(3)), ("node_type", Json::text("group"))])
        }
    }
}

/// Returns the codec that makes bytes of elements without a fixed size.
fn object_codec(data_type: &DataType) -> Option<&'static str> {
    match data_type {
        DataType::String => Some("vlen-utf8"),
        DataType::Bytes => Some("vlen-bytes"),
        // Version 3 has no data type for lists.
        DataType::List(_) => Some("vlen-array"),
        _ => None,
    }
}

/// Returns the codec that a filter is.
fn codec(step: &Step, version: Version, known: &Codecs) -> Result<Json> {
    let json = match version {
        Version::V2 => known.to_numcodecs(&step.id, &step.params),
        Version::V3 => known.to_zarr_v3(&step.id, &step.params),
    };
    let codec = Json::parse(json.ok_or_else(|| known.no_codec(&step.id))??.as_bytes())?;
    // Some readers want a configuration even where it is empty.
    let is_bare = version == Version::V3 && codec.get("configuration").is_none();
    Ok(if is_bare { with_member(&codec, "configuration", Json::Object(Members::default())) } else { codec })
}

/// Returns an extension point of version 3; one without configuration has no such member.
fn extension(name: &str, configuration: Vec<(&str, Json)>) -> Json {
    let mut members = vec![("name", Json::text(name))];
    if !configuration.is_empty() {
        members.push(("configuration", Json::object(configuration)));
    }
    Json::object(members)
}

fn bytes(order: Order) -> Json {
    let endian = match order {
        Order::Little => "little",
        Order::Big => "big",
    };
    extension("bytes", vec![("endian", Json::text(endian))])
}

fn numbers(list: &[u64]) -> Json {
    Json::Array(list.iter().map(|&length| Json::integer(length)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::ArrayMetadata;

    fn step(id: u32, params: &[u32]) -> Step {
        Step { id: id.into(), name: String::new(), optional: false, params: params.to_vec() }
    }

    fn array(data_type: &str, steps: Vec<Step>) -> NewArray {
        let element = Element::from_typestring(data_type).unwrap();
        NewArray {
            shape: vec![4, 6],
            chunk_shape: vec![2, 3],
            shard_shape: None,
            index_first: false,
            order: vec![],
            fill_value: element.fill_value(&Json::Number("7".into())).unwrap(),
            element,
            steps,
            separator: '.',
            dimension_names: vec![Some("y".to_string()), None],
        }
    }

    #[test]
    fn metadata_of_both_versions_is_read_as_it_was_meant() {
        let mut new = array("<i4", vec![step(2, &[4]), step(1, &[5])]);
        let v2 = new.metadata(Version::V2, &Codecs::default()).unwrap();
        assert_eq!(
            v2.to_string(),
            r#"{"zarr_format": 2, "shape": [4,6], "dtype": "<i4", "chunks": [2,3], "fill_value": 7, "order": "C", "compressor": {"id": "zlib", "level": 5}, "filters": [{"id": "shuffle", "elementsize": 4}]}"#
        );
        (new.separator, new.shard_shape) = ('/', Some(vec![4, 3]));
        assert_eq!(new.metadata(Version::V2, &Codecs::default()).unwrap_err().code, Code::EZARRMETA);
        let v3 = new.metadata(Version::V3, &Codecs::default()).unwrap();
        assert_eq!(
            v3.to_string(),
            r#"{"zarr_format": 3, "node_type": "array", "shape": [4,6], "data_type": "int32", "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4,3]}}, "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "fill_value": 7, "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [2,3], "codecs": [{"name": "bytes", "configuration": {"endian": "little"}},{"name": "numcodecs.shuffle", "configuration": {"elementsize": 4}},{"name": "numcodecs.zlib", "configuration": {"level": 5}}], "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}},{"name": "crc32c"}], "index_location": "end"}}], "dimension_names": ["y",null]}"#
        );
        for (version, json) in [(Version::V2, &v2), (Version::V3, &v3)] {
            let read = ArrayMetadata::parse(version, json, &Codecs::default()).unwrap();
            assert_eq!((&read.element, &read.fill_value), (&new.element, &new.fill_value));
            let steps = read.pipeline.unwrap().steps;
            let ids: Vec<_> = steps.iter().map(|step| (step.id.hdf5(), step.params.clone())).collect();
            assert_eq!(ids, [(Some(2), vec![4]), (Some(1), vec![5])]);
        }
    }

    #[test]
    fn other_orders_of_dimensions_are_written_where_the_version_has_them() {
        let mut new = NewArray { order: vec![1, 0], index_first: true, ..array("<i4", vec![]) };
        let v2 = new.metadata(Version::V2, &Codecs::default()).unwrap();
        assert_eq!(v2.get("order"), Some(&Json::text("F")));
        new.shard_shape = Some(vec![4, 3]);
        let v3 = new.metadata(Version::V3, &Codecs::default()).unwrap();
        for (version, json) in [(Version::V2, &v2), (Version::V3, &v3)] {
            let pipeline = ArrayMetadata::parse(version, json, &Codecs::default()).unwrap().pipeline.unwrap();
            assert_eq!(pipeline.order(2), [1, 0]);
            assert!(pipeline.shards.iter().all(|shards| shards.index_first));
        }
        (new.order, new.shard_shape) = (vec![0, 1], None);
        assert_eq!(
            new.metadata(Version::V2, &Codecs::default()).unwrap().get("order"),
            Some(&Json::text("C"))
        );
    }

    #[test]
    fn a_checksum_alone_is_no_compressor() {
        let parts = |steps| {
            let json = array("<i4", steps).metadata(Version::V2, &Codecs::default()).unwrap();
            ["filters", "compressor"].map(|key| json.get(key).unwrap().to_string())
        };
        assert_eq!(parts(vec![step(3, &[])]), [r#"[{"id": "fletcher32"}]"#, "null"]);
        assert_eq!(
            parts(vec![step(1, &[5]), step(3, &[])]),
            [r#"[{"id": "zlib", "level": 5}]"#, r#"{"id": "fletcher32"}"#]
        );
    }

    #[test]
    fn filters_without_a_codec_are_refused() {
        let error =
            array("<i4", vec![step(6, &[0, 0])]).metadata(Version::V2, &Codecs::default()).unwrap_err();
        assert_eq!(error.code, Code::ENOFILTER);
        assert!(error.what.contains("filter 6 (scaleoffset) has no codec"), "{error}");
    }

    #[test]
    fn text_of_any_length_has_its_codec() {
        let new =
            NewArray { fill_value: FillValue::Value(Json::text("")), ..array("|O", vec![step(32015, &[3])]) };
        let v2 = new.metadata(Version::V2, &Codecs::default()).unwrap();
        assert_eq!(v2.get("filters").unwrap().to_string(), r#"[{"id": "vlen-utf8"}]"#);
        let v3 = new.metadata(Version::V3, &Codecs::default()).unwrap();
        assert!(
            v3.get("codecs").unwrap().to_string().starts_with(r#"[{"name": "vlen-utf8"},{"name": "zstd""#)
        );
    }

    #[test]
    fn members_that_are_not_known_stay() {
        let json = Json::parse(br#"{"a": 1.50, "shape": [1], "b": {"c": 1e5}}"#).unwrap();
        assert_eq!(with_shape(&json, &[2, 3]).to_string(), r#"{"a": 1.50, "shape": [2,3], "b": {"c": 1e5}}"#);
    }
}
