//! The bodies of header messages, and what they lead to.

use ferrocdf_bytes::{Coder, Dumper, Record, Result};

use super::{StructureWalk, path_in, raw, trees};
use crate::dataset::virtual_layout::mapping::MappingList;
use crate::elements::VariableElement;
use crate::groups::message as link;
use crate::messages::small::{
    CacheImage, Continuation, DriverInfo, GroupInfo, ModificationTime, ReferenceCount, SharedMessageTable,
    SymbolTable, TreeSizes,
};
use crate::messages::{
    ChunkIndex, Class, DataLayout, Dataspace, Datatype, ExternalFiles, Fill, FillMessage, HeapId, SpaceInfo,
    SpaceKind, dataspace, external, fill, layout, pipeline, space,
};
use crate::objects::attribute_message::{AttributeMessage, AttributePrefix};
use crate::objects::dense_info::{self, DenseInfo, Of};
use crate::objects::header::HeaderMessage;
use crate::objects::kind;
use crate::objects::shared::{SharedMessage, SharedPlace};
use crate::wire::CHECKSUM;
use crate::{Address, Link, LinkTarget};

impl StructureWalk<'_> {
    /// Prints the body of a message, and has all that it leads to printed.
    pub(super) fn message(
        &mut self,
        at: Address,
        number: u16,
        flags: u8,
        body: &[u8],
        path: &str,
    ) -> Result<()> {
        let sizes = self.source.sizes;
        let name = kind::name(number);
        if flags & HeaderMessage::SHARED != 0 {
            return self.shared(at, body);
        }
        let show = |walk: &mut Self, fields: &mut dyn FnMut(&mut Dumper<'_>) -> Result<()>| {
            walk.show(name, at, body, |dumper| fields(dumper))
        };
        match number {
            kind::DATASPACE => {
                let mut space = Dataspace { kind: SpaceKind::Null, dims: vec![], max: None };
                let mut record = dataspace::DataspaceMessage { space: &mut space, version: 0, sizes };
                show(self, &mut |dumper| record.fields(dumper))?;
            }
            kind::LINK_INFO => self.dense_info(at, Of::Links, body, path)?,
            kind::ATTRIBUTE_INFO => self.dense_info(at, Of::Attributes, body, path)?,
            kind::DATATYPE => {
                show(self, &mut |dumper| Datatype::default().fields(dumper))?;
            }
            kind::FILL_OLD => {
                show(self, &mut |dumper| fill::OldFillMessage(&mut Fill::Default).fields(dumper))?;
            }
            kind::FILL => {
                let mut fill = FillMessage { value: Fill::Default, allocation: 0, writing: 0 };
                let mut record = fill::StoredFillMessage { version: 0, fill: &mut fill };
                show(self, &mut |dumper| record.fields(dumper))?;
            }
            kind::LINK => self.link(at, body, path)?,
            kind::EXTERNAL => {
                let mut files = ExternalFiles::default();
                let mut record = external::ExternalFilesMessage { files: &mut files, sizes };
                if show(self, &mut |dumper| record.fields(dumper))? {
                    let heap = files.heap;
                    self.later(heap, move |walk| walk.local_heap(heap));
                }
            }
            kind::LAYOUT => self.layout(at, body)?,
            kind::GROUP_INFO => {
                show(self, &mut |dumper| GroupInfo::default().fields(dumper))?;
            }
            kind::PIPELINE => {
                show(self, &mut |dumper| pipeline::FilterPipelineMessage::unread().fields(dumper))?;
            }
            kind::ATTRIBUTE => self.attribute(at, body)?,
            kind::SHARED_TABLE => {
                let mut table = SharedMessageTable { sizes, at: Address(0), indexes: 0 };
                if show(self, &mut |dumper| table.fields(dumper))? {
                    let count = table.indexes.into();
                    self.later(table.at, move |walk| walk.shared_table(table.at, count));
                }
            }
            kind::CONTINUATION => {
                show(self, &mut |dumper| Continuation { sizes, at: Address(0), len: 0 }.fields(dumper))?;
            }
            kind::SYMBOL_TABLE => {
                let mut table = SymbolTable { sizes, tree: Address(0), heap: Address(0) };
                if show(self, &mut |dumper| table.fields(dumper))? {
                    let SymbolTable { tree, heap, .. } = table;
                    self.later(heap, move |walk| walk.local_heap(heap));
                    let of = trees::Old::Group(trees::SymbolTableGroup { heap, path: path.into() });
                    self.later(tree, move |walk| walk.old_tree(tree, of));
                }
            }
            kind::MODIFICATION_TIME => {
                show(self, &mut |dumper| ModificationTime::default().fields(dumper))?;
            }
            kind::TREE_SIZES => {
                let mut tree_sizes = TreeSizes::default();
                if show(self, &mut |dumper| tree_sizes.fields(dumper))? {
                    self.tree_sizes = tree_sizes;
                }
            }
            kind::DRIVER_INFO => {
                show(self, &mut |dumper| DriverInfo::default().fields(dumper))?;
            }
            kind::REFERENCE_COUNT => {
                show(self, &mut |dumper| ReferenceCount::default().fields(dumper))?;
            }
            // That of development versions before 1.10 has another form.
            kind::SPACE_INFO if body.first() != Some(&0) => {
                show(self, &mut |dumper| space::FileSpaceInfoMessage::unread(sizes).fields(dumper))?;
                if let Ok(Some(info)) = SpaceInfo::decode(body, sizes) {
                    self.page = info.page;
                }
            }
            kind::CACHE_IMAGE => {
                show(self, &mut |dumper| CacheImage::unread(sizes).fields(dumper))?;
            }
            _ => {
                show(self, &mut |dumper| raw("data", dumper))?;
            }
        }
        Ok(())
    }

    /// Prints the body of a shared message.
    fn shared(&mut self, at: Address, body: &[u8]) -> Result<()> {
        let sizes = self.source.sizes;
        let mut record = SharedMessage { sizes, version: 0, place: SharedPlace::Object(Address(0)) };
        if self.show("shared message", at, body, |dumper| record.fields(dumper))?
            && let SharedPlace::Object(object) = record.place
        {
            self.later(object, move |walk| walk.header(object, "a committed datatype"));
        }
        Ok(())
    }

    /// Prints a link message, and has the object printed that a hard link leads to.
    pub(super) fn link(&mut self, at: Address, body: &[u8], group: &str) -> Result<()> {
        let mut link = Link::unread();
        let mut record = link::LinkMessage { link: &mut link, sizes: self.source.sizes };
        if self.show("link message", at, body, |dumper| record.fields(dumper))?
            && let LinkTarget::Hard(object) = link.target
        {
            let path = path_in(group, &link.name);
            self.later(object, move |walk| walk.header(object, &path));
        }
        Ok(())
    }

    /// Prints a link info or attribute info message; then its heap and its indexes, and the messages in the heap.
    fn dense_info(&mut self, at: Address, of: Of, body: &[u8], path: &str) -> Result<()> {
        let mut info = DenseInfo::default();
        let mut record = dense_info::DenseInfoMessage { of, info: &mut info, sizes: self.source.sizes };
        if !self.show(kind::name(of.kind()), at, body, |dumper| record.fields(dumper))? {
            return Ok(());
        }
        let Some(heap) = info.heap else { return Ok(()) };
        self.later(heap, move |walk| walk.fractal_heap(heap));
        for tree in [info.by_name, info.by_order].into_iter().flatten() {
            let path = path.into();
            self.later(tree, move |walk| walk.tree(tree, trees::New::Dense { of, heap, path }));
        }
        Ok(())
    }

    /// Prints an attribute message with the datatype and the dataspace in it, and the collections of the global heap with its elements.
    pub(super) fn attribute(&mut self, at: Address, body: &[u8]) -> Result<()> {
        let mut record = AttributePrefix::default();
        let whole = self.show("attribute message", at, body, |dumper| {
            record.fields(dumper)?;
            raw("data", dumper)
        })?;
        if !whole {
            return Ok(());
        }
        let Ok(message) = AttributeMessage::decode(body) else { return Ok(()) };
        for (number, shared, part) in
            [(kind::DATATYPE, 0x01, message.datatype), (kind::DATASPACE, 0x02, message.dataspace)]
        {
            let flags = if message.flags & shared != 0 { HeaderMessage::SHARED } else { 0 };
            self.write(&format!("    {} of the attribute\n", kind::name(number)))?;
            self.message(at, number, flags, part, "")?;
        }
        if message.flags & 0x01 == 0
            && let Ok(Datatype { class: Class::Variable { .. }, .. }) = Datatype::decode(message.datatype)
        {
            return self.variable_elements(at, message.data);
        }
        Ok(())
    }

    /// Prints elements of variable length, and has their collections of the global heap printed.
    fn variable_elements(&mut self, at: Address, elements: &[u8]) -> Result<()> {
        let sizes = self.source.sizes;
        self.write("    elements of variable length of the attribute\n")?;
        let count = elements.chunks_exact(VariableElement::size(sizes)).len() as u64;
        let mut found = vec![];
        self.show(VariableElement::WHAT, at, elements, |dumper| {
            dumper.list("element", count, &mut vec![], |_: &mut (), dumper| {
                let mut element = VariableElement::empty(sizes);
                element.fields(dumper)?;
                found.extend(element.id);
                Ok(())
            })
        })?;
        for HeapId { collection, .. } in found {
            self.later(collection, move |walk| walk.global_heap(collection));
        }
        Ok(())
    }

    /// Prints the mappings of a virtual dataset, which are an object of the global heap.
    fn mappings(&mut self, id: HeapId) -> Result<()> {
        const WHAT: &str = "mappings of a virtual dataset";
        let HeapId { collection: at, index } = id;
        self.write(&format!("    {WHAT}, object {index} of the global heap collection at {at}\n"))?;
        let object = match self.collections.object(&self.source, id) {
            Ok(object) => object,
            Err(error) => return self.problem(&error),
        };
        if let Err(error) = self.charge(object.len() as u64, at) {
            return self.problem(&error);
        }
        let mut list = MappingList::unread(self.source.sizes);
        let body = &object[..object.len().saturating_sub(CHECKSUM)];
        self.show(WHAT, at, body, |dumper| list.fields(dumper))?;
        self.checksum(WHAT, at, &object)
    }

    /// Prints a data layout message, and has the index of chunks printed.
    fn layout(&mut self, at: Address, body: &[u8]) -> Result<()> {
        let sizes = self.source.sizes;
        let mut layout = DataLayout::Compact(vec![]);
        let mut record = layout::DataLayoutMessage { version: 0, layout: &mut layout, sizes };
        if !self.show("data layout message", at, body, |dumper| record.fields(dumper))? {
            return Ok(());
        }
        self.datasets.push(self.owner.object);
        match layout {
            DataLayout::Chunked(chunked) => {
                let Some(at) = chunked.address else { return Ok(()) };
                let rank = chunked.shape.len() as u64;
                let owner = self.owner;
                self.owner.is_chunk_index = true;
                match chunked.index {
                    ChunkIndex::BTree1 => {
                        self.later(at, move |walk| walk.old_tree(at, trees::Old::Chunks { rank }));
                    }
                    ChunkIndex::BTree2 { .. } => {
                        self.later(at, move |walk| walk.tree(at, trees::New::Chunks { rank }));
                    }
                    ChunkIndex::FixedArray { .. } => self.later(at, move |walk| walk.fixed_array(at)),
                    ChunkIndex::ExtensibleArray(_) => {
                        self.later(at, move |walk| walk.extensible_array(at));
                    }
                    ChunkIndex::Single(_) | ChunkIndex::Implicit => {}
                }
                self.owner = owner;
            }
            DataLayout::Virtual(Some(id)) => {
                self.later(id.collection, move |walk| walk.global_heap(id.collection));
                return self.mappings(id);
            }
            DataLayout::Virtual(None) | DataLayout::Compact(_) | DataLayout::Contiguous { .. } => {}
        }
        Ok(())
    }
}
