//! From the codecs in metadata to a chain of filters (Zarr v2, "compressor" and "filters"; Zarr v3, "Codecs").
//!
//! Three kinds of codecs change what a chunk is, and are no filters: `bytes`, which says the byte order of the elements; codecs of
//! elements without a fixed size, such as `vlen-utf8`; and `sharding_indexed`, which says where chunks lie.

use ferrocdf_bytes::{Code, Error, Order, Result, ToUsize};
use ferrocdf_codec::{ChunkInfo, Codecs, FilterId, Step};

use crate::data_type::{DataType, Element};
use crate::json::{Json, Members};
use crate::metadata::{excerpt, invalid, lengths, named};

/// How chunks are encoded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pipeline {
    /// The filters of a chunk, in the order in which they encode.
    pub steps: Vec<Step>,
    /// The form of elements without a fixed size; `None` for all others, also for bytes of a fixed number.
    pub elements: Option<ElementForm>,
    /// The shards that chunks lie in, outermost first; none if each chunk is an object.
    pub shards: Vec<Shards>,
    /// The filters of the objects of shards, which encode a shard as a whole.
    pub object_steps: Vec<Step>,
}

/// How elements without a fixed size become bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementForm {
    /// Numcodecs `vlen-utf8`, `vlen-bytes` and `vlen-array`: the number of elements, then for each its size in bytes and the bytes.
    WithSizes,
    /// Numcodecs `json2`: one JSON text.
    Json,
    /// So many bytes for each element, with zeros at the end that do not count. Elements of this form have a fixed size and no codec
    /// that makes bytes of them.
    Fixed(usize),
}

/// One level of shards: objects, or parts of shards, that hold chunks and an index of them (codec `sharding_indexed`).
#[derive(Clone, Debug, PartialEq)]
pub struct Shards {
    /// The shape of the chunks in a shard.
    pub chunk_shape: Vec<u64>,
    /// The number of chunks along each dimension of a shard.
    pub counts: Vec<u64>,
    /// The dimensions in the order in which the index counts them, the slowest first.
    pub order: Vec<usize>,
    /// The filters of the index.
    pub index_steps: Vec<Step>,
    /// The byte order of the index.
    pub index_order: Order,
    /// True if the index is at the begin of a shard, false if it is at its end.
    pub index_first: bool,
}

impl Shards {
    /// Returns the number of chunks in a shard, at most `MAX_CHUNKS`.
    pub fn chunks(&self) -> usize {
        self.counts.iter().product::<u64>().saturate()
    }

    /// Returns the description of the index as a chunk: two numbers of 8 bytes for each chunk.
    pub fn index_info(&self) -> ChunkInfo {
        ChunkInfo { element_size: 8, number: None, shape: vec![self.chunks(), 2] }
    }
}

/// Most chunks in a shard: their index has a quarter of a gigabyte.
const MAX_CHUNKS: u64 = 1 << 24;

/// Codecs of version 3 that work on elements, apart from `transpose` and most of numcodecs.
const ARRAY_CODECS: [&str; 7] =
    ["bitround", "cast_value", "numcodecs.pcodec", "numcodecs.zfpy", "packbits", "reshape", "scale_offset"];

/// HDF5 number of shuffle.
const SHUFFLE: u32 = 2;

fn step((id, mut params): (FilterId, Vec<u32>)) -> Step {
    // With an element size of 0 numcodecs shuffles nothing.
    if id == FilterId::Hdf5(SHUFFLE) && params.is_empty() {
        params.push(1);
    }
    Step { id, name: String::new(), optional: false, params }
}

/// Codecs of numcodecs that compute with numbers, of two types: the first two parameters.
const COMPUTING_CODECS: [&str; 4] = ["astype", "delta", "fixedscaleoffset", "quantize"];

/// Sets the byte order of the numbers that filters compute with. In version 3 such codecs are given numbers, whose bytes the codec
/// `bytes` makes after them: the order in their typestrings says nothing, other than in version 2.
fn compute_in_order(steps: &mut [Step], order: Order) {
    let computes = |step: &&mut Step| COMPUTING_CODECS.iter().any(|name| step.id == FilterId::named(name));
    for step in steps.iter_mut().filter(computes) {
        for ty in step.params.iter_mut().take(2) {
            *ty = *ty & !1 | u32::from(order == Order::Big);
        }
    }
}

/// Returns the filter that stores elements with their dimensions in another order.
fn transpose(order: Vec<u32>) -> Option<Step> {
    let is_identity = order.iter().enumerate().all(|(dim, &at)| at as usize == dim);
    (!is_identity).then(|| step((FilterId::named("transpose"), order)))
}

impl Pipeline {
    /// Returns the dimensions of a chunk in the order in which its elements are stored, slowest first.
    pub fn order(&self, rank: usize) -> Vec<usize> {
        let is_order = |step: &&Step| step.id == FilterId::named("transpose");
        self.steps.iter().take_while(is_order).fold((0..rank).collect(), |order: Vec<usize>, step| {
            step.params.iter().filter_map(|&dim| order.get(dim as usize).copied()).collect()
        })
    }

    /// Reads `filters` and `compressor`. Codecs of objects say what the objects are: the type of `element`.
    pub(crate) fn from_v2(
        json: &Json,
        is_column_major: bool,
        rank: usize,
        element: &mut Element,
        known: &Codecs,
    ) -> Result<Pipeline> {
        let mut pipeline = Pipeline::default();
        let no_filters = vec![];
        let filters = match json.get("filters") {
            None | Some(Json::Null) => &no_filters,
            Some(Json::Array(filters)) => filters,
            Some(other) => return Err(invalid(format!("\"filters\" is {}, not a list", excerpt(other)))),
        };
        let compressor = json.get("compressor").filter(|compressor| **compressor != Json::Null);
        if is_column_major {
            pipeline.steps.extend(transpose((0..rank as u32).rev().collect()));
        }
        for codec in filters.iter().chain(compressor) {
            let Some(id) = codec.get("id").and_then(Json::as_str) else {
                return Err(invalid(format!("the codec {} has no \"id\"", excerpt(codec))));
            };
            if let Some(form) = object_codec(id, codec, element)? {
                let is_order = |step: &Step| step.id == FilterId::named("transpose");
                if pipeline.elements.is_some() || !pipeline.steps.iter().all(is_order) {
                    return Err(invalid(format!("the codec {id:?} must be the first one")));
                }
                pipeline.elements = Some(form);
                if id != "categorize" {
                    continue;
                }
            }
            let found = known.parse_numcodecs(&codec.to_string()).ok_or_else(|| known.unknown_codec(id))?;
            pipeline.steps.push(found.map(step)?);
        }
        pipeline.check(element)
    }

    /// Reads `codecs` for chunks of a shape. The codec `bytes` says the byte order of `element`.
    pub(crate) fn from_v3(
        json: &Json,
        chunk: &[u64],
        element: &mut Element,
        known: &Codecs,
    ) -> Result<Pipeline> {
        let codecs =
            json.as_array().ok_or_else(|| invalid(format!("\"codecs\" is {}, not a list", excerpt(json))))?;
        let mut pipeline = Pipeline::default();
        let mut has_bytes = false;
        // The dimensions of the array in the order that `transpose` gave them, and their number behind `reshape`.
        let mut order: Vec<usize> = (0..chunk.len()).collect();
        let mut rank = chunk.len();
        for codec in codecs {
            let (name, configuration) = named("codecs", codec)?;
            match name {
                "bytes" => element.set_order(byte_order(configuration)?),
                "vlen-utf8" | "vlen-bytes" => pipeline.elements = Some(ElementForm::WithSizes),
                "sharding_indexed" => {
                    let is_order = |step: &Step| step.id == FilterId::named("transpose");
                    if has_bytes || !pipeline.steps.iter().all(is_order) {
                        return Err(not_supported("before"));
                    }
                    let shape: Vec<u64> = order.iter().map(|&dim| chunk[dim]).collect();
                    pipeline = Self::sharded(configuration, &shape, element, known)?.reordered(&order);
                    has_bytes = true;
                    continue;
                }
                "transpose" => {
                    let dims = transpose_order(configuration, rank)?;
                    // Behind `reshape` there are no shards.
                    if order.len() == rank {
                        order = dims.iter().map(|&dim| order[dim]).collect();
                    }
                    pipeline.steps.extend(transpose(dims.iter().map(|&dim| dim as u32).collect()));
                    continue;
                }
                // They make bytes of numbers, which are in this order on their other side.
                "packbits" | "numcodecs.pcodec" | "numcodecs.zfpy" if !has_bytes => {
                    element.order = Order::Little;
                    pipeline.push(codec, name, known)?;
                }
                name if ARRAY_CODECS.contains(&name) && has_bytes => {
                    return Err(invalid(format!("the codec {name:?} follows one that makes bytes")));
                }
                name => {
                    if name == "reshape" {
                        rank = configuration.get("shape").and_then(Json::as_array).map_or(0, <[Json]>::len);
                    }
                    let may_be_left_out = codec.get("must_understand") == Some(&Json::Bool(false));
                    if !pipeline.push(codec, name, known)? && !may_be_left_out {
                        return Err(known.unknown_codec(name));
                    }
                    continue;
                }
            }
            if has_bytes {
                return Err(invalid(format!("the codec {name:?} follows one that makes bytes already")));
            }
            has_bytes = true;
        }
        compute_in_order(&mut pipeline.steps, element.order);
        match has_bytes {
            true => pipeline.check(element),
            false => Err(invalid("\"codecs\" has none that makes bytes of the elements")),
        }
    }

    /// Adds the filter of a codec of version 3. Returns false if it is not known.
    fn push(&mut self, codec: &Json, name: &str, known: &Codecs) -> Result<bool> {
        let Some(parameters) = known.parse_zarr_v3(&object(codec).to_string()) else { return Ok(false) };
        let step = step(parameters.map_err(|error| error.at(format!("the codec {name:?}")))?);
        let steps = if self.shards.is_empty() { &mut self.steps } else { &mut self.object_steps };
        steps.push(step);
        Ok(true)
    }

    /// Reads the configuration of `sharding_indexed`, for shards of a shape.
    fn sharded(
        configuration: &Json,
        shard: &[u64],
        element: &mut Element,
        known: &Codecs,
    ) -> Result<Pipeline> {
        let wanted = |name: &str| {
            configuration
                .get(name)
                .ok_or_else(|| invalid(format!("the codec \"sharding_indexed\" has no \"{name}\"")))
        };
        let chunk_shape = lengths("chunk_shape", wanted("chunk_shape")?)?;
        let fits = chunk_shape.len() == shard.len()
            && chunk_shape.iter().zip(shard).all(|(&chunk, &shard)| chunk > 0 && shard % chunk == 0);
        if !fits {
            return Err(invalid(format!(
                "shards of shape {shard:?} cannot be cut into chunks of shape {chunk_shape:?}"
            )));
        }
        let counts: Vec<u64> = shard.iter().zip(&chunk_shape).map(|(shard, chunk)| shard / chunk).collect();
        let chunks = counts.iter().try_fold(1u64, |all, &count| all.checked_mul(count));
        if chunks.is_none_or(|chunks| chunks > MAX_CHUNKS) {
            return Err(invalid(format!("shards of {counts:?} chunks: more than {MAX_CHUNKS} in one")));
        }
        let index_first = match configuration.get("index_location").map(Json::as_str) {
            None | Some(Some("end")) => false,
            Some(Some("start")) => true,
            Some(_) => return Err(invalid("\"index_location\" is neither \"start\" nor \"end\"")),
        };
        let mut numbers =
            Element { data_type: DataType::Integer { size: 8, signed: false }, order: Order::Little };
        let index =
            Pipeline::from_v3(wanted("index_codecs")?, &[chunks.unwrap_or(1), 2], &mut numbers, known)?;
        if !index.shards.is_empty() {
            return Err(invalid("the index of a shard cannot be sharded"));
        }
        let mut pipeline = Pipeline::from_v3(wanted("codecs")?, &chunk_shape, element, known)?;
        if !pipeline.object_steps.is_empty() {
            return Err(not_supported("behind, within a shard,"));
        }
        let (index_steps, index_order, order) = (index.steps, numbers.order, (0..counts.len()).collect());
        pipeline
            .shards
            .insert(0, Shards { chunk_shape, counts, order, index_steps, index_order, index_first });
        Ok(pipeline)
    }

    /// Returns the pipeline for the dimensions of the array, from that for its dimensions in another order: dimension `n` there is
    /// dimension `order[n]` of the array.
    fn reordered(mut self, order: &[usize]) -> Pipeline {
        for shards in &mut self.shards {
            let (shape, counts) = (shards.chunk_shape.clone(), shards.counts.clone());
            for (at, &dim) in order.iter().enumerate() {
                (shards.chunk_shape[dim], shards.counts[dim]) = (shape[at], counts[at]);
            }
            shards.order = shards.order.iter().map(|&at| order[at]).collect();
        }
        let first = transpose(order.iter().map(|&dim| dim as u32).collect());
        self.steps.splice(..0, first);
        self
    }

    /// Checks that elements without a fixed size have a codec, and no others have.
    fn check(self, element: &Element) -> Result<Pipeline> {
        match (element.data_type.size(), self.elements) {
            (None, None) => Err(invalid("no codec makes bytes of elements without a fixed size")),
            (Some(_), Some(_)) => {
                Err(invalid("a codec for elements of any size, and elements of a fixed one"))
            }
            _ => Ok(self),
        }
    }
}

fn not_supported(place: &str) -> Error {
    Error::new(Code::ENOFILTER, format!("a codec {place} of sharding_indexed is not supported"))
}

/// Returns the order in the configuration of `transpose`: a list, or a letter in older metadata.
fn transpose_order(configuration: &Json, rank: usize) -> Result<Vec<usize>> {
    let order = match configuration.get("order") {
        Some(Json::String(order)) if order == "C" => return Ok((0..rank).collect()),
        Some(Json::String(order)) if order == "F" => return Ok((0..rank).rev().collect()),
        Some(order) => lengths("order", order)?,
        None => return Err(invalid("the codec \"transpose\" has no \"order\"")),
    };
    let mut seen = vec![false; rank];
    let mut dims = vec![];
    for &dim in &order {
        let seen = usize::try_from(dim).ok().and_then(|dim| seen.get_mut(dim));
        match seen {
            Some(seen) if !*seen => *seen = true,
            _ => {
                return Err(invalid(format!(
                    "\"order\" {order:?} does not have each of {rank} dimensions once"
                )));
            }
        }
        dims.push(dim.saturate());
    }
    match dims.len() == rank {
        true => Ok(dims),
        false => Err(invalid(format!("\"order\" {order:?} does not have each of {rank} dimensions once"))),
    }
}

/// Returns the form of a codec that makes bytes of objects, and sets the type of `element` to what the objects are.
fn object_codec(id: &str, codec: &Json, element: &mut Element) -> Result<Option<ElementForm>> {
    let (data_type, form) = match id {
        "vlen-utf8" => (DataType::String, ElementForm::WithSizes),
        "vlen-bytes" => (DataType::Bytes, ElementForm::WithSizes),
        "vlen-array" => {
            let dtype = codec.get("dtype").and_then(Element::from_v2);
            let list = dtype
                .filter(|dtype| matches!(dtype.data_type, DataType::Integer { .. } | DataType::Float(_)));
            let list =
                list.ok_or_else(|| invalid("the codec \"vlen-array\" has no known \"dtype\" of numbers"))?;
            (DataType::List(Box::new(list)), ElementForm::WithSizes)
        }
        // The older name is of texts that do not tell the shape of their chunk.
        "json2" | "json" => (DataType::Json, ElementForm::Json),
        // Its filter makes numbers of texts in that form. Texts of a fixed size are elements for it as well.
        "categorize" if element.data_type.size().is_none() => (DataType::String, ElementForm::WithSizes),
        _ => return Ok(None),
    };
    if element.data_type.size().is_some() {
        return Err(invalid(format!("the codec {id:?} is for objects, and the data type is another one")));
    }
    element.data_type = data_type;
    Ok(Some(form))
}

/// Returns a codec as an object: one that is a name alone has no configuration.
fn object(codec: &Json) -> Json {
    match codec {
        Json::String(_) => Json::Object(Members(vec![("name".to_string(), codec.clone())])),
        other => other.clone(),
    }
}

fn byte_order(configuration: &Json) -> Result<Order> {
    match configuration.get("endian") {
        // Elements of one byte need none.
        None | Some(Json::Null) => Ok(Order::Little),
        Some(Json::String(endian)) if endian == "little" => Ok(Order::Little),
        Some(Json::String(endian)) if endian == "big" => Ok(Order::Big),
        Some(other) => {
            Err(invalid(format!("\"endian\" is {}, neither \"little\" nor \"big\"", excerpt(other))))
        }
    }
}
