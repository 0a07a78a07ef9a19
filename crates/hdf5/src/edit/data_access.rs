//! Datasets: creation, extents, and access to their elements.

use ferrocdf_bytes::Result;

use super::dataset::{Data, FileStorage};
use super::new_dataset;
use super::object::EditedObject;
use super::{DatasetSpec, Editor, NewLayout, Node, wrong};
use crate::dataset::virtual_layout::mapping;
use crate::objects::kind;
use crate::{Dataset, Placed};

impl Editor {
    /// Creates a dataset.
    ///
    /// # Errors
    /// As [`create_group`](Editor::create_group); `EINVAL` for a specification that contradicts itself.
    pub fn create_dataset(&mut self, parent: Node, name: &str, spec: DatasetSpec) -> Result<Node> {
        self.check_new(parent, name)?;
        let (datatype, at) = self.datatype(&spec.datatype)?;
        let sizes = self.source.sizes;
        let mappings = match &spec.layout {
            NewLayout::Virtual(boxes) if !boxes.is_empty() => {
                new_dataset::check_boxes(boxes, &spec.space.dims)?;
                Some(self.heap_put(&mapping::encode(boxes, sizes)?)?)
            }
            _ => None,
        };
        let (data, messages) = new_dataset::create(&spec, datatype, (at, mappings), self.profile, sizes)?;
        let early = data.fill.allocation == 1;
        let mut object = EditedObject::new(spec.attribute_order, messages);
        object.data = Some(Box::new(data));
        if let Some(at) = at {
            self.count(at, 1)?;
        }
        let node = self.adopt(parent, name, object)?;
        if early {
            self.allocate(node)?;
        }
        Ok(node)
    }

    /// Makes a dataset longer.
    ///
    /// # Errors
    /// `EINVAL` for fewer elements in a dimension than there are, and for more than there may be.
    pub fn set_extent(&mut self, node: Node, dims: &[u64]) -> Result<()> {
        let data = self.data(node)?;
        if data.space.dims != dims {
            data.extend(dims)?;
            self.dirty.insert(node);
        }
        Ok(())
    }

    /// Reverts an uncommitted [`set_extent`](Editor::set_extent) after the write that needed it failed. Chunks that this write
    /// stored are kept, and are found if the dataset becomes longer again.
    ///
    /// # Errors
    /// `EINVAL` if the object is not a dataset.
    pub fn reset_extent(&mut self, node: Node, dims: &[u64]) -> Result<()> {
        self.data(node)?.space.dims = dims.to_vec();
        self.dirty.insert(node);
        Ok(())
    }

    /// Returns the elements of a dataset as numbers, to be read and written. Space for contiguous elements is allocated and
    /// filled now, if there was none; [`for_writing`](Editor::for_writing) avoids the filling. Encoded chunks go to the
    /// dataset's chunk store, and belong to the file from the next commit on; callers call `ferrocdf_array::flush` before it.
    /// This array and that of [`raw`](Editor::raw) share their chunks.
    ///
    /// # Errors
    /// As [`Dataset::array`](crate::Dataset::array).
    pub fn array(&mut self, node: Node) -> Result<Placed> {
        self.allocate(node)?;
        self.look(node, false)
    }

    /// Returns the elements of a dataset as bytes, in one more dimension, the fastest. Otherwise as [`array`](Editor::array).
    ///
    /// # Errors
    /// As [`Dataset::raw`](crate::Dataset::raw).
    pub fn raw(&mut self, node: Node) -> Result<Placed> {
        self.allocate(node)?;
        self.look(node, true)
    }

    /// Returns the elements of a dataset as bytes, for a caller who writes ids of the global heap next, and true if the elements
    /// have moved. Contiguous elements of the committed state are copied to new space first: the committed state must not
    /// get ids of objects that it does not have. Otherwise as [`raw`](Editor::raw).
    ///
    /// # Errors
    /// As [`Dataset::raw`](crate::Dataset::raw), and those of the blob.
    pub fn raw_for_places(&mut self, node: Node) -> Result<(Placed, bool)> {
        self.allocate(node)?;
        let placed = self.look(node, true)?;
        if !self.with_data(node, Data::move_contiguous)? {
            return Ok((placed, false));
        }
        self.dirty.insert(node);
        Ok((self.look(node, true)?, true))
    }

    /// Returns the elements of a dataset as numbers or as bytes, for a caller who next writes elements from `first` on, in the
    /// order in which they are stored. Space for contiguous elements is allocated as by [`array`](Editor::array), but filled
    /// only up to `first`. Elements behind it that the caller does not report to [`wrote`](Editor::wrote) are filled
    /// before [`look`](Editor::look) reads, or with the commit.
    ///
    /// # Errors
    /// As [`Dataset::array`](crate::Dataset::array).
    pub fn for_writing(&mut self, node: Node, raw: bool, first: u64) -> Result<Placed> {
        self.allocate(node)?;
        self.with_data(node, |data, place| data.before_write(place, first))?;
        self.placed(node, raw)
    }

    /// Records that a write of the elements from `first` of [`for_writing`](Editor::for_writing) up to `end` succeeded. Callers
    /// do not report a failed write, so its elements are filled.
    ///
    /// # Errors
    /// `EINVAL` if the object is not a dataset.
    pub fn wrote(&mut self, node: Node, end: u64) -> Result<()> {
        self.data(node)?.wrote(end);
        Ok(())
    }

    /// Returns the elements of a dataset as numbers or as bytes, to be read: no space is allocated.
    ///
    /// # Errors
    /// As [`Dataset::array`](crate::Dataset::array).
    pub fn look(&mut self, node: Node, raw: bool) -> Result<Placed> {
        if self.unfilled.contains(&node) {
            self.with_data(node, Data::finish)?;
            self.unfilled.remove(&node);
        }
        self.placed(node, raw)
    }

    /// Returns true if space was allocated for any of its elements.
    ///
    /// # Errors
    /// `EINVAL` if the object is not a dataset.
    pub fn is_allocated(&mut self, node: Node) -> Result<bool> {
        self.data(node)?.is_allocated()
    }

    /// Sets all elements of a compact dataset; `bytes` are the elements as stored.
    ///
    /// # Errors
    /// `EINVAL` if the dataset is not compact, or has another number of bytes.
    pub fn write_compact(&mut self, node: Node, bytes: &[u8]) -> Result<()> {
        self.data(node)?.write_compact(bytes)?;
        self.dirty.insert(node);
        Ok(())
    }

    pub(super) fn data(&mut self, node: Node) -> Result<&mut Data> {
        let file = self.file.clone();
        let object = self.object(node)?;
        if object.data.is_none() {
            if object.header.message(kind::LAYOUT).is_none() {
                return Err(wrong("the object is not a dataset"));
            }
            let at = object.address().ok_or_else(|| wrong("the dataset has no address"))?;
            object.data = Some(Box::new(Data::load(Dataset::open(&file.object(at)?)?)));
        }
        object.data.as_deref_mut().ok_or_else(|| wrong("data"))
    }

    /// Calls a function with the data of a dataset and the storage of the file.
    pub(super) fn with_data<T>(
        &mut self,
        node: Node,
        what: impl FnOnce(&mut Data, &FileStorage<'_>) -> Result<T>,
    ) -> Result<T> {
        let (blob, source, space) = (self.blob.clone(), self.source.clone(), self.space.clone());
        let place = FileStorage { blob: &blob, source: &source, space: &space };
        what(self.data(node)?, &place)
    }

    fn allocate(&mut self, node: Node) -> Result<()> {
        if self.with_data(node, Data::allocate)? {
            self.dirty.insert(node);
            self.unfilled.insert(node);
        }
        Ok(())
    }

    fn placed(&mut self, node: Node, raw: bool) -> Result<Placed> {
        let (placed, stored) = self.with_data(node, |data, place| {
            let placed = data.placed(raw, place)?;
            Ok((placed, data.store.is_some()))
        })?;
        if stored {
            self.stores.insert(node);
        }
        Ok(placed)
    }
}
