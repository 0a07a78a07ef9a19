//! Whole files put together by the encoders, and read again.
//!
//! With the variable `FERROCDF_ASSEMBLED` set to a folder the files are left there, so that other readers and writers can
//! be tried on them.

use std::sync::Arc;

use ferrocdf_array::{Out, RangeCheck, Selection};
use ferrocdf_codec::{Chain, Codecs, Step};
use ferrocdf_store::MemoryBlob;

use crate::block::{Block, BlockKind};
use crate::chunks::ChunkEntry;
use crate::chunks::build::{ChunkList, NewIndex};
use crate::heaps::global;
use crate::messages::datatype::{ByteOrder, Integer, Member, Pads, Text};
use crate::messages::datatype::{Padding, Reference};
use crate::messages::small::{Continuation, GroupInfo, ReferenceCount, TreeSizes};
use crate::messages::{
    ChunkIndex, ChunkedLayout, Class, DataLayout, Dataspace, Datatype, Fill, FillMessage, HeapId, SpaceKind,
    pipeline,
};
use crate::objects::attribute_message::AttributeMessage;
use crate::objects::dense_info::{DenseInfo, DenseItem, Of};
use crate::objects::encode::{NewChunk, NewMessage};
use crate::objects::kind;
use crate::objects::prefix::HeaderForm;
use crate::objects::shared::committed as committed_message;
use crate::superblock::Superblock;
use crate::{Address, Charset, Dataset, File, Link, LinkTarget, Sizes, cache_image};

const SIZES: Sizes = Sizes { offset: 8, length: 8 };
const ORDERED: u8 = 0x0c;

/// A message: kind, flags, creation order, body.
type AssembledMessage = (u16, u8, u16, Vec<u8>);

/// A file that is being put together. The superblock comes last.
struct Assembly {
    bytes: Vec<u8>,
    version: u8,
    /// The blocks that are not in their places, but in a metadata cache image, if there is to be one.
    image: Option<Vec<Block>>,
}

impl Assembly {
    fn new(version: u8) -> Assembly {
        Assembly { bytes: vec![0; 48], version, image: None }
    }

    fn imaged(version: u8, imaged: bool) -> Assembly {
        Assembly { image: imaged.then(Vec::new), ..Assembly::new(version) }
    }

    fn take(&mut self, len: u64) -> Address {
        let at = self.bytes.len() as u64;
        self.bytes.resize((at + len) as usize, 0);
        Address(at)
    }

    fn put(&mut self, at: Address, bytes: &[u8]) {
        self.bytes[at.0 as usize..][..bytes.len()].copy_from_slice(bytes);
    }

    fn add(&mut self, bytes: &[u8]) -> Address {
        let at = self.take(bytes.len() as u64);
        self.put(at, bytes);
        at
    }

    fn write(&mut self, blocks: Vec<Block>) {
        for block in blocks {
            match &mut self.image {
                Some(image) if block.kind.cache_type().is_some() => {
                    let at = block.at.0 as usize;
                    self.bytes[at..at + block.bytes.len()].fill(0xee);
                    image.push(block);
                }
                _ => self.put(block.at, &block.bytes),
            }
        }
    }

    /// A header, in two chunks if there are more than three messages, with some room in both.
    fn header(&mut self, mut form: HeaderForm, messages: &[AssembledMessage]) -> Address {
        let sum = |list: &[NewMessage<'_>]| -> usize {
            list.iter().map(|message| form.message_len(message.body.len())).sum()
        };
        let messages: Vec<_> = messages
            .iter()
            .map(|message| NewMessage {
                kind: message.0,
                flags: message.1,
                order: message.2,
                body: &message.3,
            })
            .collect();
        let (first, second) = messages.split_at(messages.len().min(3));
        let pointer = form.message_len(16);
        let spare = 40;
        let room = sum(first) + pointer + spare;
        let next = (form.continued_overhead() + sum(second) + spare) as u64;
        form.fit(room as u64);
        let len = (form.first_overhead() + room) as u64;
        let at = self.take(len);
        let mut chunks = vec![NewChunk { len, messages: first.to_vec() }];
        let body;
        if !second.is_empty() {
            let continued = self.take(next);
            body = Continuation { sizes: SIZES, at: continued, len: next }.encode().unwrap();
            let kind = kind::CONTINUATION;
            chunks[0].messages.push(NewMessage { kind, flags: 0, order: 0, body: &body });
            chunks.push(NewChunk { len: next, messages: second.to_vec() });
            let bytes = form.encode(&chunks).unwrap().remove(1);
            self.write(vec![Block { at: continued, kind: BlockKind::HeaderChunk, bytes }]);
        }
        let bytes = form.encode(&chunks).unwrap().remove(0);
        self.write(vec![Block { at, kind: BlockKind::Header, bytes }]);
        at
    }

    /// A group with these links, in the header or dense.
    fn group(&mut self, form: HeaderForm, links: &[Link], more: Vec<AssembledMessage>) -> Address {
        let mut messages = self.links(links);
        messages.extend(more);
        self.header(form, &messages)
    }

    /// The messages of these links.
    fn links(&mut self, links: &[Link]) -> Vec<AssembledMessage> {
        let orders: Option<Vec<_>> = links.iter().map(|link| link.order).collect();
        let next_order = orders.map(|orders| orders.into_iter().max().map_or(0, |last| last as u64 + 1));
        let mut info = DenseInfo { next_order, indexed: next_order.is_some(), ..DenseInfo::default() };
        let bodies: Vec<_> = links.iter().map(|link| link.encode(SIZES).unwrap()).collect();
        let mut messages = Vec::new();
        if links.len() > 8 {
            let items: Vec<_> = links
                .iter()
                .zip(&bodies)
                .map(|(link, body)| DenseItem {
                    name: &link.name,
                    order: link.order.map(|order| order as u64),
                    body,
                })
                .collect();
            let mut blocks = Vec::new();
            info.build(Of::Links, &items, SIZES, &mut |len| Ok(self.take(len)), &mut blocks).unwrap();
            self.write(blocks);
        } else {
            messages.extend(bodies.into_iter().map(|body| (kind::LINK, 0, 0, body)));
        }
        messages.insert(0, (kind::LINK_INFO, 0, 0, info.encode(Of::Links, SIZES).unwrap()));
        messages.insert(1, (kind::GROUP_INFO, 1, 0, GroupInfo::default().encode().unwrap()));
        messages
    }

    /// Attributes, in the header or dense.
    fn attributes(&mut self, list: &[(String, Vec<i32>)], ordered: bool) -> Vec<AssembledMessage> {
        let mut info = DenseInfo {
            next_order: ordered.then_some(list.len() as u64),
            indexed: ordered,
            ..DenseInfo::default()
        };
        let bodies: Vec<_> = list.iter().map(|(name, values)| attribute(name, values)).collect();
        let mut messages = Vec::new();
        if list.len() > 8 {
            let items: Vec<_> = list
                .iter()
                .zip(&bodies)
                .enumerate()
                .map(|(at, ((name, _), body))| DenseItem {
                    name: name.as_bytes(),
                    order: ordered.then_some(at as u64),
                    body,
                })
                .collect();
            let mut blocks = Vec::new();
            info.build(Of::Attributes, &items, SIZES, &mut |len| Ok(self.take(len)), &mut blocks).unwrap();
            self.write(blocks);
        } else {
            let all = bodies.into_iter().enumerate();
            messages.extend(all.map(|(at, body)| (kind::ATTRIBUTE, 0, at as u16, body)));
        }
        messages.insert(0, (kind::ATTRIBUTE_INFO, 4, 0, info.encode(Of::Attributes, SIZES).unwrap()));
        messages
    }

    /// A dataset of 32-bit integers that count its elements.
    fn dataset(&mut self, form: HeaderForm, new: &NewDataset) -> Address {
        let space = new.space();
        let total = new.dims.iter().product::<u64>();
        let numbers: Vec<u8> = (0..total as i32).flat_map(i32::to_le_bytes).collect();
        let layout = match &new.layout {
            AssembledLayout::Compact => DataLayout::Compact(numbers),
            AssembledLayout::Contiguous => {
                let size = Some(numbers.len() as u64);
                DataLayout::Contiguous { address: Some(self.add(&numbers)), size }
            }
            AssembledLayout::Chunked(shape, index) => {
                let layout = ChunkedLayout {
                    shape: shape.clone(),
                    element: 4,
                    plain_edges: false,
                    index: *index,
                    address: None,
                };
                DataLayout::Chunked(self.chunks(new, layout, &space))
            }
        };
        let fill =
            FillMessage { value: Fill::Value(vec![9, 0, 0, 0]), allocation: new.allocation(), writing: 2 };
        let mut messages = vec![
            (kind::DATASPACE, 0, 0, space.encode(SIZES).unwrap()),
            (kind::DATATYPE, 1, 0, int().encode().unwrap()),
            (kind::FILL, 1, 0, fill.encode().unwrap()),
            (kind::LAYOUT, 0, 0, layout.encode(SIZES).unwrap()),
        ];
        if new.filtered {
            messages.push((kind::PIPELINE, 1, 0, pipeline::encode(&steps()).unwrap()));
        }
        self.header(form, &messages)
    }

    /// Packs and stores all chunks, but for every tenth of many, and makes their index.
    fn chunks(&mut self, new: &NewDataset, layout: ChunkedLayout, space: &Dataspace) -> ChunkedLayout {
        let chain = Chain::new(steps(), &Codecs::default());
        let counts: Vec<_> =
            new.dims.iter().zip(&layout.shape).map(|(&len, &chunk)| len.div_ceil(chunk)).collect();
        let mut list = ChunkList::new(counts.len());
        for number in 0..counts.iter().product::<u64>() {
            if new.is_hole(number) {
                continue;
            }
            let coords = coords_of(number, &counts);
            let mut plain = Vec::new();
            for element in 0..layout.shape.iter().product::<u64>() {
                let within = coords_of(element, &layout.shape);
                let at = coords.iter().zip(&layout.shape).zip(&within).map(|((&c, &len), &w)| c * len + w);
                let value =
                    at.zip(&new.dims).try_fold(0, |value, (at, &len)| (at < len).then_some(value * len + at));
                plain.extend((value.unwrap_or(9) as i32).to_le_bytes());
            }
            let (mut stored, mut mask) = (plain, 0);
            if new.filtered {
                let mut packed = Vec::new();
                mask = chain.encode(&stored, &mut packed).unwrap();
                stored = packed;
            }
            let len = stored.len() as u64;
            list.push(&coords, ChunkEntry { at: self.add(&stored), len, mask });
        }
        let mut blocks = Vec::new();
        let index = NewIndex { layout: &layout, space, filtered: new.filtered, half: 32 };
        let built = index.build(&list, SIZES, &mut |len| Ok(self.take(len)), &mut blocks).unwrap();
        self.write(blocks);
        ChunkedLayout { index: built.index, address: built.address, ..layout }
    }

    /// The file, which is also left for others.
    fn finish(mut self, name: &str, root: Address) -> File {
        let mut extension = None;
        if let Some(blocks) = self.image.take() {
            let image = cache_image::encode(&blocks, SIZES).unwrap();
            let at = self.add(&image);
            let named = cache_image::message(at, image.len() as u64, SIZES).unwrap();
            let sizes = TreeSizes { chunks: 32, groups: 20, symbols: 5 };
            let sizes = (kind::TREE_SIZES, 0, 0, sizes.encode().unwrap());
            extension = Some(self.header(form(0), &[sizes, (kind::CACHE_IMAGE, 0, 0, named)]));
        }
        let end = self.bytes.len() as u64;
        let superblock =
            Superblock { version: self.version, base: 0, sizes: SIZES, root, extension, driver: None, end };
        let superblock = superblock.encode().unwrap();
        self.put(Address(0), &superblock);
        if let Some(folder) = std::env::var_os("FERROCDF_ASSEMBLED") {
            std::fs::write(std::path::Path::new(&folder).join(name), &self.bytes).unwrap();
        }
        File::open(Arc::new(MemoryBlob::new(self.bytes))).unwrap()
    }
}

enum AssembledLayout {
    Compact,
    Contiguous,
    Chunked(Vec<u64>, ChunkIndex),
}

struct NewDataset {
    name: String,
    dims: Vec<u64>,
    max: Vec<Option<u64>>,
    layout: AssembledLayout,
    filtered: bool,
}

impl NewDataset {
    fn space(&self) -> Dataspace {
        Dataspace { kind: SpaceKind::Simple, dims: self.dims.clone(), max: Some(self.max.clone()) }
    }

    /// "Space Allocation Time" as the reference has it for the layout.
    fn allocation(&self) -> u8 {
        match self.layout {
            AssembledLayout::Compact | AssembledLayout::Chunked(_, ChunkIndex::Implicit) => 1,
            AssembledLayout::Contiguous => 2,
            AssembledLayout::Chunked(..) => 3,
        }
    }

    fn is_hole(&self, number: u64) -> bool {
        number % 10 == 9
    }
}

fn coords_of(mut number: u64, counts: &[u64]) -> Vec<u64> {
    let mut coords = vec![0; counts.len()];
    for (at, &count) in coords.iter_mut().zip(counts).rev() {
        (*at, number) = (number % count, number / count);
    }
    coords
}

fn steps() -> Vec<Step> {
    let step = |id: u32, params| Step { id: id.into(), name: String::new(), optional: true, params };
    vec![step(2, vec![4]), step(1, vec![4])]
}

fn form(flags: u8) -> HeaderForm {
    HeaderForm::new(2, flags)
}

fn int() -> Datatype {
    let pads = Pads { low: false, high: false, internal: false };
    let class =
        Class::Integer(Integer { order: ByteOrder::Little, pads, signed: true, offset: 0, precision: 32 });
    Datatype { version: 1, size: 4, class }
}

fn attribute(name: &str, values: &[i32]) -> Vec<u8> {
    let space = Dataspace { kind: SpaceKind::Simple, dims: vec![values.len() as u64], max: None };
    let data: Vec<u8> = values.iter().copied().flat_map(i32::to_le_bytes).collect();
    let (datatype, dataspace) = (int().encode().unwrap(), space.encode(SIZES).unwrap());
    let (flags, charset, name) = (0, 1, name.as_bytes());
    AttributeMessage { flags, name, charset, datatype: &datatype, dataspace: &dataspace, data: &data }
        .encode()
        .unwrap()
}

fn link(name: &str, order: Option<i64>, target: LinkTarget) -> Link {
    let charset = if name.is_ascii() { Charset::Ascii } else { Charset::Utf8 };
    Link { name: name.as_bytes().to_vec(), order, charset, target }
}

#[test]
fn groups_of_any_number_of_links() {
    for count in [0, 3, 9, 500, 40_000] {
        for (ordered, imaged) in [(true, false), (false, false), (true, true)] {
            let mut file = Assembly::imaged(2, imaged);
            let group = file.group(form(0), &[], vec![]);
            let order = |at: i64| ordered.then_some(at);
            let mut links = vec![link("grüppe", order(0), LinkTarget::Hard(group))];
            links.extend((1..count).map(|at| {
                link(&format!("link{at}"), order(at), LinkTarget::Soft(format!("/target{at}").into_bytes()))
            }));
            let root = file.group(form(0), &links, vec![]);
            let file = file.finish(&format!("links-{count}-{ordered}-{imaged}.h5"), root);
            let found = file.root().unwrap().links().unwrap();
            if !ordered {
                links.sort_by(|a, b| a.name.cmp(&b.name));
            }
            assert_eq!(found.list, links);
            assert_eq!(
                file.root().unwrap().link("grüppe".as_bytes()).unwrap().as_ref(),
                links.iter().find(|l| l.name[0] == b'g')
            );
        }
    }
}

#[test]
fn objects_with_any_number_of_attributes() {
    for count in [0, 3, 8, 9, 300] {
        for (ordered, imaged) in [(true, false), (false, false), (true, true)] {
            let mut file = Assembly::imaged(2, imaged);
            let list: Vec<_> = (0..count)
                .map(|at: i32| {
                    let len = if at % 100 == 55 { 20_000 } else { at % 40 };
                    (format!("attribute {at}"), (0..len).map(|value| value + at).collect())
                })
                .collect();
            let attributes = file.attributes(&list, ordered);
            let flags = if ordered { ORDERED } else { 0 };
            let root = file.group(form(flags), &[], attributes);
            let file = file.finish(&format!("attributes-{count}-{ordered}-{imaged}.h5"), root);
            let root = file.root().unwrap();
            let mut found: Vec<_> = root
                .attributes()
                .unwrap()
                .list
                .into_iter()
                .map(|(name, attribute)| (String::from_utf8(name).unwrap(), attribute.unwrap().data))
                .collect();
            if !ordered {
                found.sort_by_key(|(name, _)| name[10..].parse::<u32>().unwrap());
            }
            let wanted: Vec<_> = list
                .iter()
                .map(|(name, values)| {
                    (name.clone(), values.iter().copied().flat_map(i32::to_le_bytes).collect::<Vec<u8>>())
                })
                .collect();
            assert_eq!(found, wanted);
        }
    }
}

fn datasets() -> Vec<NewDataset> {
    let new = |name: &str, dims: &[u64], max: &[Option<u64>], layout| NewDataset {
        name: name.to_string(),
        dims: dims.to_vec(),
        max: max.to_vec(),
        layout,
        filtered: false,
    };
    let chunked = |shape: &[u64], index| AssembledLayout::Chunked(shape.to_vec(), index);
    let extensible = ChunkIndex::ExtensibleArray([32, 4, 4, 16, 10]);
    let fixed = ChunkIndex::FixedArray { page_bits: 10 };
    let tree = ChunkIndex::BTree2 { node: 2048, split: 100, merge: 40 };
    vec![
        new("compact", &[5], &[Some(5)], AssembledLayout::Compact),
        new("contiguous", &[5, 7], &[Some(5), Some(7)], AssembledLayout::Contiguous),
        new("tree1", &[5, 7], &[None, Some(70)], chunked(&[2, 3], ChunkIndex::BTree1)),
        new("tree1-large", &[500, 170], &[None, None], chunked(&[2, 3], ChunkIndex::BTree1)),
        new("single", &[5, 7], &[Some(5), Some(7)], chunked(&[5, 7], ChunkIndex::Single(None))),
        new("fixed", &[5, 7], &[Some(50), Some(7)], chunked(&[2, 3], fixed)),
        new("fixed-large", &[300, 170], &[Some(300), Some(700)], chunked(&[2, 3], fixed)),
        new("extensible", &[5, 7], &[None, Some(7)], chunked(&[2, 3], extensible)),
        new("extensible-large", &[40, 6_000], &[Some(40), None], chunked(&[20, 3], extensible)),
        new("tree2", &[5, 7], &[None, None], chunked(&[2, 3], tree)),
        new("tree2-large", &[500, 170], &[None, None], chunked(&[2, 3], tree)),
    ]
}

#[test]
fn datasets_of_all_layouts() {
    for (old_headers, imaged) in [(false, false), (true, false), (true, true), (false, true)] {
        let mut file = Assembly::imaged(3, imaged);
        let form = if old_headers { HeaderForm { version: 1, ..form(0) } } else { form(ORDERED) };
        let mut links = Vec::new();
        let mut all = datasets();
        // Data blocks of extensible arrays have pages only behind 131,000 entries.
        all.push(NewDataset {
            name: "extensible-pages".to_string(),
            dims: vec![150_000],
            max: vec![None],
            layout: AssembledLayout::Chunked(vec![1], ChunkIndex::ExtensibleArray([32, 4, 4, 16, 10])),
            filtered: false,
        });
        all.extend(
            datasets()
                .into_iter()
                .filter(|new| matches!(new.layout, AssembledLayout::Chunked(..)))
                .map(|new| NewDataset { filtered: true, name: format!("{}-filtered", new.name), ..new }),
        );
        for new in &all {
            let at = file.dataset(form, new);
            // With an order, netCDF's own library writes to the file.
            links.push(link(&new.name, Some(links.len() as i64), LinkTarget::Hard(at)));
        }
        if old_headers {
            all.retain(|new| new.dims.iter().product::<u64>() < 100);
            links.retain(|link| all.iter().any(|new| new.name.as_bytes() == link.name));
        }
        let root = file.group(form, &links, vec![]);
        let file = file.finish(&format!("datasets-{old_headers}-{imaged}.h5"), root);
        for new in &all {
            let object = file.open_path(file.superblock().root, new.name.as_bytes()).unwrap().unwrap();
            let dataset = Dataset::open(&object).unwrap();
            let placed = dataset.array().unwrap();
            let mut values = vec![0i32; new.dims.iter().product::<u64>() as usize];
            let fit = ferrocdf_array::read(
                &*placed.blob,
                &placed.array,
                &Selection::all(&new.dims),
                Out::new(&mut values),
            );
            assert_eq!(fit, Ok(RangeCheck::InRange), "{}", new.name);
            let AssembledLayout::Chunked(shape, _) = &new.layout else {
                assert!(values.iter().enumerate().all(|(at, &value)| value == at as i32), "{}", new.name);
                continue;
            };
            assert!(Arc::ptr_eq(&placed.blob, file.elements()), "{}", new.name);
            let counts: Vec<_> =
                new.dims.iter().zip(shape).map(|(&len, &chunk)| len.div_ceil(chunk)).collect();
            for (at, &value) in values.iter().enumerate() {
                let chunk = coords_of(at as u64, &new.dims)
                    .iter()
                    .zip(shape)
                    .map(|(at, len)| at / len)
                    .collect::<Vec<_>>();
                let number = chunk.iter().zip(&counts).fold(0, |number, (&at, &count)| number * count + at);
                let wanted = if new.is_hole(number) { 9 } else { at as i32 };
                assert_eq!(value, wanted, "{} {at}", new.name);
            }
        }
    }
}

/// A committed compound with an array, an enumeration, text and a list; a dataset of it; attributes of it.
#[test]
fn committed_types_and_the_global_heap() {
    committed_types(false);
    // Once more out of a cache image.
    committed_types(true);
}

fn committed_types(imaged: bool) {
    let mut file = Assembly::imaged(2, imaged);
    let text = Text { padding: Padding::NullTerminated, charset: 1 };
    let byte = Datatype { version: 1, size: 1, class: Class::Text(Text { charset: 0, ..text }) };
    let string =
        Datatype { version: 1, size: 16, class: Class::Variable { text: Some(text), base: Box::new(byte) } };
    let list =
        Datatype { version: 1, size: 16, class: Class::Variable { text: None, base: Box::new(int()) } };
    let array =
        Datatype { version: 1, size: 24, class: Class::Array { dims: vec![2, 3], base: Box::new(int()) } };
    let names =
        [("RED", 1i32), ("GREEN", 2)].map(|(name, value)| (name.into(), value.to_le_bytes().to_vec()));
    let color = Class::Enumeration { base: Box::new(int()), members: names.to_vec() };
    let color = Datatype { version: 1, size: 4, class: color };
    let reference = Datatype { version: 1, size: 8, class: Class::Reference(Reference::Object) };
    let mut offset = 0;
    let members =
        [("a", array), ("c", color), ("s", string), ("l", list), ("r", reference)].map(|(name, datatype)| {
            let at = offset;
            offset += datatype.size;
            Member { name: name.into(), offset: at, datatype }
        });
    let mut compound =
        Datatype { version: 1, size: offset, class: Class::Compound { members: members.to_vec() } };
    compound.settle();
    // A link, the dataset and its attribute refer to it.
    let messages = [
        (kind::DATATYPE, 5, 0, compound.encode().unwrap()),
        (kind::REFERENCE_COUNT, 0, 0, ReferenceCount(3).encode().unwrap()),
    ];
    let committed = file.header(form(0), &messages);

    let words = ["one", "Wörter", ""];
    let lists: [&[i32]; 3] = [&[1, 2, 3], &[], &[7]];
    let packed: Vec<Vec<u8>> =
        lists.iter().map(|list| list.iter().copied().flat_map(i32::to_le_bytes).collect()).collect();
    let mut objects = Vec::new();
    for (at, (word, list)) in words.iter().zip(&packed).enumerate() {
        let index = 2 * at as u16 + 1;
        objects.push(global::NewObject { index, references: 0, data: word.as_bytes() });
        objects.push(global::NewObject { index: index + 1, references: 0, data: list });
    }
    let bytes = global::encode(&objects, global::SMALLEST, SIZES).unwrap();
    let heap = file.take(global::SMALLEST);
    file.write(vec![Block { at: heap, kind: BlockKind::GlobalHeap, bytes }]);
    let mut data = Vec::new();
    for at in 0..3u32 {
        (0..6).for_each(|value| data.extend((value + at as i32).to_le_bytes()));
        data.extend((at as i32 % 2 + 1).to_le_bytes());
        for (count, index) in [(words[at as usize].len(), 2 * at + 1), (lists[at as usize].len(), 2 * at + 2)]
        {
            let HeapId { collection, index } = HeapId { collection: heap, index };
            data.extend((count as u32).to_le_bytes());
            // Empty ones have no place.
            data.extend(if count > 0 { collection.0 } else { 0 }.to_le_bytes());
            data.extend(if count > 0 { index } else { 0 }.to_le_bytes());
        }
        data.extend(committed.0.to_le_bytes());
    }
    let space = Dataspace { kind: SpaceKind::Simple, dims: vec![3], max: None };
    let shared = committed_message(committed, SIZES).unwrap();
    let dataspace = space.encode(SIZES).unwrap();
    let parts = AttributeMessage {
        flags: 1,
        name: b"att",
        charset: 0,
        datatype: &shared,
        dataspace: &dataspace,
        data: &data,
    };
    let address = Some(file.add(&data));
    let layout = DataLayout::Contiguous { address, size: Some(data.len() as u64) };
    let fill = FillMessage { value: Fill::Default, allocation: 2, writing: 2 };
    let dataset = file.header(
        form(0),
        &[
            (kind::DATASPACE, 0, 0, dataspace.clone()),
            (kind::DATATYPE, 3, 0, shared.clone()),
            (kind::FILL, 1, 0, fill.encode().unwrap()),
            (kind::LAYOUT, 0, 0, layout.encode(SIZES).unwrap()),
            (kind::ATTRIBUTE, 0, 0, parts.encode().unwrap()),
        ],
    );
    let links = [
        link("type", Some(0), LinkTarget::Hard(committed)),
        link("data", Some(1), LinkTarget::Hard(dataset)),
    ];
    let root = file.group(form(ORDERED), &links, vec![]);
    let file = file.finish(&format!("types-{imaged}.h5"), root);
    let dataset = Dataset::open(&file.object(dataset).unwrap()).unwrap();
    assert_eq!((dataset.datatype(), dataset.committed()), (&compound, Some(committed)));
    assert_eq!(file.object(committed).unwrap().references(), 3);
    let attribute = file.object(dataset.object().address()).unwrap().attribute(b"att").unwrap().unwrap();
    assert_eq!((attribute.datatype, attribute.data, attribute.committed), (compound, data, Some(committed)));
    for (index, word) in [(1, "one"), (3, "Wörter"), (5, "")] {
        assert_eq!(&*file.heap_object(HeapId { collection: heap, index }).unwrap(), word.as_bytes());
    }
}
