//! New datasets: checks of their specification, and the messages of their object headers.

use ferrocdf_bytes::{Result, ToUsize};

use super::dataset::{Data, wrong};
use super::header::{CONSTANT, SHARED, message};
use super::{AllocTime, DatasetSpec, FillTime, NewLayout, Profile, VirtualBox};
use crate::messages::{
    ChunkIndex, ChunkedLayout, DataLayout, Dataspace, Datatype, Fill, FillMessage, HeapId, SpaceKind,
    pipeline,
};
use crate::objects::header::HeaderMessage;
use crate::objects::kind;
use crate::{Address, Sizes};

/// Maximum number of bytes of compact data: with the rest of its message they must be less than 64 KiB.
const COMPACT: u64 = 0xffff - 16;

/// Returns the data of a new dataset, and the messages of its object header. `committed` is the address of its datatype if that is a
/// committed one, `mappings` the place of the mappings of a virtual dataset.
///
/// # Errors
/// `EINVAL` for specifications that the format cannot express.
pub(super) fn create(
    spec: &DatasetSpec,
    mut datatype: Datatype,
    (committed, mappings): (Option<Address>, Option<HeapId>),
    profile: Profile,
    sizes: Sizes,
) -> Result<(Data, Vec<HeaderMessage>)> {
    let size = u64::from(datatype.size);
    if committed.is_none() {
        datatype.settle();
    }
    let space = spec.space.clone();
    check_space(&space)?;
    if spec.fill.as_ref().is_some_and(|fill| fill.len() as u64 != size) {
        return Err(wrong(format!("a fill value that has not the {size} bytes of an element")));
    }
    let bytes = space.elements().and_then(|elements| elements.checked_mul(size));
    let too_large = || wrong("more bytes than 64 bits can count");
    let grows = (0..space.dims.len()).any(|dim| space.max(dim) != Some(space.dims[dim]));
    let chunked = matches!(spec.layout, NewLayout::Chunked(_));
    if !chunked && grows {
        return Err(wrong("only chunked datasets can grow"));
    }
    if !chunked && !spec.filters.is_empty() {
        return Err(wrong("only chunks can be filtered"));
    }
    let value = spec.fill.clone().map_or(Fill::Default, Fill::Value);
    let layout = match &spec.layout {
        NewLayout::Compact => {
            let bytes = bytes.ok_or_else(too_large)?;
            if bytes > COMPACT {
                return Err(wrong(format!("{bytes} bytes do not fit in a header")));
            }
            let mut data = vec![0; bytes.saturate()];
            for element in data.chunks_exact_mut(datatype.size.max(1) as usize) {
                let fill = value.bytes();
                element[..fill.len()].copy_from_slice(fill);
            }
            DataLayout::Compact(data)
        }
        NewLayout::Contiguous => {
            DataLayout::Contiguous { address: None, size: Some(bytes.ok_or_else(too_large)?) }
        }
        // A dataset may have more chunks than 64 bits count: the file has only those that were written.
        NewLayout::Chunked(shape) => DataLayout::Chunked(chunked_layout(shape, spec, size, profile)?),
        NewLayout::Virtual(_) => DataLayout::Virtual(mappings),
    };
    let allocation = match (spec.alloc_time, &layout) {
        (AllocTime::Early, _) | (_, DataLayout::Compact(_)) => 1,
        (AllocTime::Incremental, _) | (AllocTime::Usual, DataLayout::Chunked(_) | DataLayout::Virtual(_)) => {
            3
        }
        _ => 2,
    };
    let writing = match spec.fill_time {
        FillTime::Allocation => 0,
        FillTime::Never => 1,
        FillTime::IfSet => 2,
    };
    let fill = FillMessage { value, allocation, writing };
    let mut messages = vec![message(kind::DATASPACE, 0, space.encode(sizes)?)];
    messages.push(match committed {
        None => message(kind::DATATYPE, CONSTANT, datatype.encode()?),
        Some(at) => message(kind::DATATYPE, CONSTANT | SHARED, crate::objects::shared::committed(at, sizes)?),
    });
    messages.push(message(kind::FILL, CONSTANT, fill.encode()?));
    messages.push(message(kind::LAYOUT, 0, layout.encode(sizes)?));
    if !spec.filters.is_empty() {
        messages.push(message(kind::PIPELINE, CONSTANT, pipeline::encode(&spec.filters)?));
    }
    let data = Data::new(datatype, space, fill, layout, spec.filters.clone());
    Ok((data, messages))
}

/// Checks the lengths and maximum lengths of a dataspace.
fn check_space(space: &Dataspace) -> Result<()> {
    if space.kind != SpaceKind::Simple && !space.dims.is_empty() {
        return Err(wrong("dimensions of a space that has none"));
    }
    if let Some(max) = &space.max {
        if max.len() != space.dims.len() {
            return Err(wrong("as many largest lengths as dimensions are needed"));
        }
        let beyond = |(&len, max): (&u64, &Option<u64>)| max.is_some_and(|max| len > max);
        if space.dims.iter().zip(max).any(beyond) {
            return Err(wrong(format!("dimensions {:?}, which may be {max:?} at most", space.dims)));
        }
    }
    Ok(())
}

/// Checks that the boxes of a virtual dataset lie in it.
///
/// # Errors
/// `EINVAL` for one that does not.
pub(super) fn check_boxes(boxes: &[VirtualBox], dims: &[u64]) -> Result<()> {
    for VirtualBox { start, count, .. } in boxes {
        let fits = |((start, count), len): ((&u64, &u64), &u64)| {
            *count > 0 && start.checked_add(*count).is_some_and(|end| end <= *len)
        };
        let is_inside = dims.len() == start.len() && dims.len() == count.len();
        if dims.is_empty() || !is_inside || !start.iter().zip(count).zip(dims).all(fits) {
            return Err(wrong(format!("a box of {count:?} elements at {start:?} in a shape of {dims:?}")));
        }
    }
    Ok(())
}

/// Returns the layout of a chunked dataset, with the kind of index that the format prescribes for it.
fn chunked_layout(
    shape: &[u64],
    spec: &DatasetSpec,
    element: u64,
    profile: Profile,
) -> Result<ChunkedLayout> {
    let space = &spec.space;
    if shape.is_empty() || shape.len() != space.dims.len() || shape.contains(&0) {
        return Err(wrong(format!("chunks of shape {shape:?} in a dataset of shape {:?}", space.dims)));
    }
    let bytes = shape.iter().try_fold(element, |bytes, &len| bytes.checked_mul(len));
    if bytes.is_none_or(|bytes| bytes > u64::from(u32::MAX)) {
        return Err(wrong(format!("chunks of shape {shape:?} have 4 GiB or more")));
    }
    let filtered = !spec.filters.is_empty();
    let index = match profile {
        Profile::Compatible => ChunkIndex::BTree1,
        Profile::Modern => ChunkIndex::best(shape, space, filtered, spec.alloc_time == AllocTime::Early),
    };
    let index = match index {
        // The message has its full length from the start.
        ChunkIndex::Single(_) => ChunkIndex::Single(filtered.then_some((0, 0))),
        index => index,
    };
    Ok(ChunkedLayout { shape: shape.to_vec(), element, plain_edges: false, index, address: None })
}
