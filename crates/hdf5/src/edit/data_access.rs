//! Datasets: creation, extents, and access to their elements.

use ferrocdf_bytes::Result;

use super::dataset::{self, Data, FileStorage};
use super::object::EditedObject;
use super::{DatasetSpec, Editor, Node, wrong};
use crate::objects::kind;
use crate::{Dataset, Placed};

impl Editor {
    /// A new dataset.
    ///
    /// # Errors
    /// As [`create_group`](Editor::create_group); `EINVAL` for a specification that does not fit together.
    pub fn create_dataset(&mut self, parent: Node, name: &str, spec: DatasetSpec) -> Result<Node> {
        self.check_new(parent, name)?;
        let (datatype, at) = self.datatype(&spec.datatype)?;
        let (data, messages) = dataset::create(&spec, datatype, at, self.profile, self.source.sizes)?;
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

    /// Takes a [`set_extent`](Editor::set_extent) back that was not committed, since the write that it was for failed. Chunks
    /// that this write stored stay, to be found if the dataset becomes longer again.
    ///
    /// # Errors
    /// `EINVAL` if it is no dataset.
    pub fn reset_extent(&mut self, node: Node, dims: &[u64]) -> Result<()> {
        self.data(node)?.space.dims = dims.to_vec();
        self.dirty.insert(node);
        Ok(())
    }

    /// The elements of a dataset as numbers, to be read and written. Space for contiguous elements is taken now, and
    /// filled, if there was none; [`for_writing`](Editor::for_writing) spares that. Chunks go where the store inside puts
    /// them, and are the file's with the next commit; `ferrocdf_array::flush` comes before that. Written like this and as
    /// [`raw`](Editor::raw) bytes, they are the same.
    ///
    /// # Errors
    /// As [`Dataset::array`](crate::Dataset::array).
    pub fn array(&mut self, node: Node) -> Result<Placed> {
        self.allocate(node)?;
        self.look(node, false)
    }

    /// The elements of a dataset as bytes: one more dimension, the fastest. As [`array`](Editor::array).
    ///
    /// # Errors
    /// As [`Dataset::raw`](crate::Dataset::raw).
    pub fn raw(&mut self, node: Node) -> Result<Placed> {
        self.allocate(node)?;
        self.look(node, true)
    }

    /// The elements of a dataset as bytes, for a caller who writes places in the global heap next, and whether they lie
    /// elsewhere than before. Contiguous ones of the committed state are copied to other space first: places that this state
    /// does not have must not appear in it. As [`raw`](Editor::raw) otherwise.
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

    /// The elements of a dataset as numbers or as bytes, for a caller who writes next, all of them from `first` on in the
    /// order in which they are stored. Space for contiguous elements is taken as by [`array`](Editor::array), but filled only
    /// up to the first; the rest, as far as [`wrote`](Editor::wrote) is not told of it, is filled later: before any are read
    /// through [`look`](Editor::look), or with the commit.
    ///
    /// # Errors
    /// As [`Dataset::array`](crate::Dataset::array).
    pub fn for_writing(&mut self, node: Node, raw: bool, first: u64) -> Result<Placed> {
        self.allocate(node)?;
        self.with_data(node, |data, place| data.before_write(place, first))?;
        self.placed(node, raw)
    }

    /// Takes note that a write went well that reached up to the element `end`, all elements from `first` of
    /// [`for_writing`](Editor::for_writing) on. After one that failed they are filled.
    ///
    /// # Errors
    /// `EINVAL` if it is no dataset.
    pub fn wrote(&mut self, node: Node, end: u64) -> Result<()> {
        self.data(node)?.wrote(end);
        Ok(())
    }

    /// The elements of a dataset as numbers or as bytes, to be read: no space is taken.
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

    /// Whether space was taken for any of its elements.
    ///
    /// # Errors
    /// `EINVAL` if it is no dataset.
    pub fn is_allocated(&mut self, node: Node) -> Result<bool> {
        self.data(node)?.is_allocated()
    }

    /// Sets all elements of a compact dataset, as stored.
    ///
    /// # Errors
    /// `EINVAL` if it is none, or has another number of bytes.
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
                return Err(wrong("an object that is no dataset"));
            }
            let at = object.address().ok_or_else(|| wrong("a dataset without a place"))?;
            object.data = Some(Box::new(Data::load(Dataset::open(&file.object(at)?)?)));
        }
        object.data.as_deref_mut().ok_or_else(|| wrong("data"))
    }

    /// Does something with the data of a dataset and the bytes of the file.
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
