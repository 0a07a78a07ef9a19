//! Unwritten elements: the elements of chunks that were never written, of datasets without allocated space, and of virtual
//! datasets outside their sources. The chunk indexes tell which elements are unwritten; no element is read.

use ferrocdf_bytes::Result;
use ferrocdf_store::MemoryBlob;

use crate::overlap::Overlap;
use crate::{Array, Kind, Layout, Out, Selection, VirtualLayout};

/// Returns the value of elements that were never written, as bytes of the kind of [`Array::stored`] in this machine's byte order;
/// `None` if the layout stores all elements, or if they do not have one value: those of pixels whose components differ.
///
/// # Errors
/// Those of converting the value.
pub fn unwritten_value(array: &Array) -> Result<Option<Vec<u8>>> {
    let Some(element) = unwritten_element(array) else { return Ok(None) };
    // The sources of a virtual layout decode their own elements.
    let decoder = array.decoder.clone().filter(|_| !matches!(array.layout, Layout::Virtual(_)));
    let (stored, past_end) = (array.stored, array.past_end);
    let one = Array { shape: vec![], stored, decoder, layout: Layout::Fill(element.into()), past_end };
    let mut value = vec![0; array.stored.kind.size()];
    let out = Out::raw(array.stored.kind, &mut value);
    let _exact = crate::read(&MemoryBlob::default(), &one, &Selection::all(&[]), out)?;
    Ok(Some(value))
}

/// Returns the bytes of an unwritten element as they are stored, none for zeros; `None` where [`unwritten_value`] is.
fn unwritten_element(array: &Array) -> Option<&[u8]> {
    let fill = match &array.layout {
        Layout::Fill(fill) => fill,
        Layout::Chunked(chunks) => &chunks.fill,
        Layout::Virtual(virtual_layout) => &virtual_layout.fill,
        Layout::Inline(_) | Layout::Strided { .. } => return None,
    };
    let decoder = array.decoder.as_ref().filter(|_| !matches!(array.layout, Layout::Virtual(_)));
    let size = decoder.map_or(array.stored.kind.size(), |decoder| decoder.size());
    let element = fill.get(..size).unwrap_or_default();
    fill.chunks(size.max(1)).all(|other| other == element).then_some(element)
}

/// True if an array may have unwritten elements, all of one value; see [`unwritten_value`].
///
/// # Errors
/// Those of the index.
pub fn has_unwritten(array: &Array) -> Result<bool> {
    if unwritten_element(array).is_none() {
        return Ok(false);
    }
    match &array.layout {
        Layout::Fill(_) | Layout::Virtual(_) => Ok(true),
        Layout::Chunked(chunks) => chunks.lacks_some(&array.shape),
        Layout::Inline(_) | Layout::Strided { .. } => Ok(false),
    }
}

/// The part of a selection that is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Perhaps all elements.
    Whole,
    /// Perhaps some elements, but not all chunks.
    Part,
    /// No element: all have the value that was asked for.
    Nothing,
}

/// Returns how much of a selection is stored. `value` is one element of `kind` in memory: unwritten elements with any other
/// value count as stored.
///
/// # Errors
/// Those of the index, and of opening the sources of a virtual layout.
pub fn coverage(array: &Array, selection: &Selection, (kind, value): (Kind, &[u8])) -> Result<Coverage> {
    if selection.count.contains(&0) {
        return Ok(Coverage::Nothing);
    }
    if array.stored.kind != kind || unwritten_value(array)?.is_none_or(|own| own != value) {
        return Ok(Coverage::Whole);
    }
    match &array.layout {
        Layout::Chunked(chunks) => chunks.coverage(selection),
        Layout::Virtual(virtual_layout) => virtual_coverage(virtual_layout, selection, (kind, value)),
        Layout::Fill(_) => Ok(Coverage::Nothing),
        Layout::Inline(_) | Layout::Strided { .. } => Ok(Coverage::Whole),
    }
}

/// Maximum number of mappings whose sources are asked for their coverage: a copy asks for each chunk.
const FEW: usize = 16;

/// Returns how much of a selection is stored in the sources; see [`coverage`]. More mappings count as stored.
fn virtual_coverage(
    virtual_layout: &VirtualLayout,
    sel: &Selection,
    value: (Kind, &[u8]),
) -> Result<Coverage> {
    if virtual_layout.mappings.len() > FEW {
        return Ok(Coverage::Whole);
    }
    let mut all = Coverage::Nothing;
    for mapping in virtual_layout.mappings.iter() {
        let Some(overlap) = Overlap::of(sel, mapping)? else { continue };
        let Some((_, source)) = mapping.source.open()? else { continue };
        let Some(overlap) = overlap.within(&source.shape)? else { continue };
        let covers_all = overlap.source_selection.elements() == sel.elements();
        match coverage(&source, &overlap.source_selection, value)? {
            Coverage::Whole if covers_all => return Ok(Coverage::Whole),
            Coverage::Whole | Coverage::Part => all = Coverage::Part,
            Coverage::Nothing => {}
        }
    }
    Ok(all)
}
