//! Random changes, committed and closed and opened again at random, against the model.

use std::collections::HashMap;
use std::sync::Arc;

use ferrocdf_array::{In, Out, Selection, flush, read, write};
use ferrocdf_hdf5::edit::{
    AllocTime, AttributeSpec, Barrier, DatasetSpec, Editor, FillTime, GroupOptions, NewLayout, Node, Profile,
    TypeRef,
};
use ferrocdf_hdf5::messages::datatype::{Class, Padding, Text};
use ferrocdf_hdf5::messages::{Datatype, HeapId};
use ferrocdf_hdf5::{OpenOptions, Step};
use ferrocdf_store::BlobMut;
use ferrocdf_store::testing::Rng;

use super::model::{Held, Model, Thing, text, text_of};
use super::{attribute, integer, options, simple};

/// An editor and what its file should hold.
pub struct Pair {
    pub editor: Editor,
    pub model: Model,
    nodes: HashMap<usize, Node>,
    next: usize,
    /// Heap places of the texts of attributes.
    heap: HashMap<(usize, String), Vec<HeapId>>,
    only_chunks: bool,
}

const FILL: i32 = -7;

impl Pair {
    pub fn create(blob: Arc<dyn BlobMut>, profile: Profile) -> Pair {
        let editor = Editor::create(blob, &options(profile)).unwrap();
        let nodes = HashMap::from([(0, editor.root())]);
        Pair { editor, model: Model::default(), nodes, next: 1, heap: HashMap::new(), only_chunks: false }
    }

    /// Closes the file, which has to be committed, and opens it again.
    pub fn reopen(&mut self) {
        let blob = self.editor.blob().clone();
        self.editor = Editor::open(blob, OpenOptions::default(), Barrier::Sync).unwrap();
        self.nodes = HashMap::from([(0, self.editor.root())]);
        self.find(0);
    }

    /// Finds the nodes of what is below a group.
    fn find(&mut self, number: usize) {
        let node = self.nodes[&number];
        for (name, child) in self.model.0[&number].children.clone().into_iter().flatten() {
            let found = self.editor.child(node, &name).unwrap().unwrap();
            self.nodes.insert(child, found);
            self.find(child);
        }
    }

    pub fn commit(&mut self) {
        self.editor.commit().unwrap();
        assert_eq!(text(self.editor.file()), self.model.text());
    }

    fn some(&self, rng: &mut Rng, wanted: impl Fn(&Thing) -> bool) -> Option<usize> {
        let all: Vec<usize> =
            self.model.0.iter().filter(|(_, thing)| wanted(thing)).map(|(at, _)| *at).collect();
        if all.is_empty() { None } else { Some(rng.pick(&all)) }
    }

    fn thing(&mut self, number: usize) -> &mut Thing {
        self.model.0.get_mut(&number).unwrap()
    }

    /// A link of a group that has any: the group, and the place of the link.
    fn some_link(&self, rng: &mut Rng) -> Option<(usize, usize)> {
        let group = self.some(rng, |thing| thing.children.as_ref().is_some_and(|list| !list.is_empty()))?;
        Some((group, rng.index(self.model.0[&group].children.as_ref().unwrap().len())))
    }

    fn below(&self, number: usize) -> Vec<usize> {
        let mut all = vec![number];
        for (_, child) in self.model.0[&number].children.iter().flatten() {
            all.extend(self.below(*child));
        }
        all
    }

    fn name(&mut self, rng: &mut Rng) -> String {
        self.next += 1;
        let long = if rng.once_in(10) { "é".repeat(rng.index(120)) } else { String::new() };
        format!("n{}{long}", self.next)
    }

    /// One random change.
    pub fn change(&mut self, rng: &mut Rng) {
        match rng.below(20) {
            15 => self.move_link(rng),
            17.. => self.write(rng),
            kind => self.change_links_or_attributes(kind, rng),
        }
    }

    /// One random change of a kind that a savepoint covers.
    fn change_links_or_attributes(&mut self, kind: u64, rng: &mut Rng) {
        match kind {
            0 | 1 => self.make_group(rng),
            2..=4 => self.make_dataset(rng),
            5..=9 => self.set_attribute(rng),
            10 => self.set_texts(rng),
            11 => self.remove_attribute(rng),
            12 => self.rename_attribute(rng),
            13 => self.rename(rng),
            14 => self.unlink(rng),
            _ => {
                let number = self.some(rng, |_| true).unwrap();
                self.editor.address(self.nodes[&number]).unwrap();
            }
        }
    }

    /// A few random changes that are kept or undone.
    fn change_in_savepoint(&mut self, rng: &mut Rng) {
        let before = (self.model.clone(), self.nodes.clone(), self.heap.clone());
        self.editor.set_savepoint();
        for _ in 0..1 + rng.index(8) {
            let kind = rng.below(16);
            self.change_links_or_attributes(kind, rng);
        }
        if rng.once_in(3) {
            self.editor.release_savepoint();
        } else {
            self.editor.rollback();
            (self.model, self.nodes, self.heap) = before;
        }
    }

    /// One random change that is part of the next commit alone: contiguous elements are overwritten where they are.
    pub fn change_but_contiguous(&mut self, rng: &mut Rng) {
        self.only_chunks = true;
        self.change(rng);
    }

    fn add(&mut self, parent: usize, name: String, node: Node, thing: Thing) {
        self.next += 1;
        let number = self.next;
        self.thing(parent).children.as_mut().unwrap().push((name, number));
        self.model.0.insert(number, thing);
        self.nodes.insert(number, node);
    }

    fn make_group(&mut self, rng: &mut Rng) {
        let parent = self.some(rng, |thing| thing.children.is_some()).unwrap();
        let name = self.name(rng);
        let node = self.editor.create_group(self.nodes[&parent], &name, GroupOptions::default()).unwrap();
        self.add(parent, name, node, Thing { children: Some(Vec::new()), ..Thing::default() });
    }

    fn make_dataset(&mut self, rng: &mut Rng) {
        let parent = self.some(rng, |thing| thing.children.is_some()).unwrap();
        let name = self.name(rng);
        let rank = 1 + rng.index(3);
        let mut dims: Vec<u64> = (0..rank).map(|_| rng.below(9)).collect();
        let mut max: Vec<Option<u64>> = dims.iter().map(|&len| Some(len)).collect();
        let (mut filters, mut layout) = (Vec::new(), NewLayout::Contiguous);
        match rng.below(4) {
            0 if !self.only_chunks => {}
            1 => layout = NewLayout::Compact,
            _ => {
                layout = NewLayout::Chunked((0..rank).map(|_| 1 + rng.below(5)).collect());
                for (len, max) in dims.iter_mut().zip(&mut max) {
                    match rng.below(4) {
                        0 | 1 => *max = None,
                        2 => *max = Some(*len + rng.below(20)),
                        _ => {}
                    }
                    if rng.once_in(5) && *max != Some(*len) {
                        *len = 0;
                    }
                }
                if rng.once_in(2) {
                    let step =
                        |id: u32, params| Step { id: id.into(), name: String::new(), optional: true, params };
                    filters = vec![step(2, vec![4]), step(1, vec![1])];
                }
            }
        }
        let times =
            &[AllocTime::Usual, AllocTime::Usual, AllocTime::Early][..if self.only_chunks { 2 } else { 3 }];
        let spec = DatasetSpec {
            datatype: TypeRef::Inline(integer(4)),
            space: simple(&dims, Some(max)),
            layout,
            filters,
            fill: Some(FILL.to_le_bytes().to_vec()),
            fill_time: FillTime::IfSet,
            alloc_time: rng.pick(times),
            attribute_order: true,
        };
        let node = self.editor.create_dataset(self.nodes[&parent], &name, spec).unwrap();
        let elements = vec![FILL; dims.iter().product::<u64>() as usize];
        self.add(parent, name, node, Thing { data: Some((dims, elements)), ..Thing::default() });
    }

    fn set_attribute(&mut self, rng: &mut Rng) {
        let number = self.some(rng, |_| true).unwrap();
        let name = format!("a{}", rng.below(14));
        let len = match rng.below(40) {
            0 => 70_000,
            1 | 2 => rng.index(6000),
            _ => rng.index(40),
        };
        let data: Vec<u8> = (0..len).map(|_| rng.number() as u8).collect();
        self.forget_texts(number, &name);
        self.editor.set_attribute(self.nodes[&number], attribute(&name, &data)).unwrap();
        self.note(number, name, Held::Bytes(data));
    }

    fn note(&mut self, number: usize, name: String, held: Held) {
        let list = &mut self.thing(number).attributes;
        match list.iter_mut().find(|(other, _)| *other == name) {
            Some((_, old)) => *old = held,
            None => list.push((name, held)),
        }
    }

    fn forget_texts(&mut self, number: usize, name: &str) {
        for id in self.heap.remove(&(number, name.to_string())).into_iter().flatten() {
            self.editor.heap_free(id).unwrap();
        }
    }

    fn set_texts(&mut self, rng: &mut Rng) {
        let number = self.some(rng, |_| true).unwrap();
        let name = format!("a{}", rng.below(14));
        self.forget_texts(number, &name);
        let texts: Vec<String> = (0..1 + rng.index(3)).map(|_| "x".repeat(1 + rng.index(60))).collect();
        let (mut data, mut ids) = (Vec::new(), Vec::new());
        for text in &texts {
            let id = self.editor.heap_put(text.as_bytes()).unwrap();
            assert_eq!(&*self.editor.heap_get(id).unwrap(), text.as_bytes());
            data.extend((text.len() as u32).to_le_bytes());
            data.extend(id.collection.0.to_le_bytes());
            data.extend(id.index.to_le_bytes());
            ids.push(id);
        }
        self.heap.insert((number, name.clone()), ids);
        let text = Text { padding: Padding::NullTerminated, charset: 1 };
        let class = Class::Variable { text: Some(text), base: Box::new(integer(1)) };
        let datatype = TypeRef::Inline(Datatype { version: 1, size: 16, class });
        let space = simple(&[texts.len() as u64], None);
        let spec = AttributeSpec { name: name.clone(), datatype, space, data };
        self.editor.set_attribute(self.nodes[&number], spec).unwrap();
        self.note(number, name, Held::Texts(texts));
    }

    fn remove_attribute(&mut self, rng: &mut Rng) {
        let Some(number) = self.some(rng, |thing| !thing.attributes.is_empty()) else { return };
        let at = rng.index(self.model.0[&number].attributes.len());
        let (name, _) = self.thing(number).attributes.remove(at);
        self.forget_texts(number, &name);
        self.editor.remove_attribute(self.nodes[&number], &name).unwrap();
        assert!(self.editor.remove_attribute(self.nodes[&number], &name).is_err());
    }

    fn rename_attribute(&mut self, rng: &mut Rng) {
        let Some(number) = self.some(rng, |thing| !thing.attributes.is_empty()) else { return };
        let at = rng.index(self.model.0[&number].attributes.len());
        let new = self.name(rng);
        let (old, _) = &mut self.thing(number).attributes[at];
        let old = std::mem::replace(old, new.clone());
        if let Some(ids) = self.heap.remove(&(number, old.clone())) {
            self.heap.insert((number, new.clone()), ids);
        }
        self.editor.rename_attribute(self.nodes[&number], &old, &new).unwrap();
    }

    fn rename(&mut self, rng: &mut Rng) {
        let Some((group, at)) = self.some_link(rng) else { return };
        let new = self.name(rng);
        let old = std::mem::replace(&mut self.thing(group).children.as_mut().unwrap()[at].0, new.clone());
        self.editor.rename_link(self.nodes[&group], &old, &new).unwrap();
    }

    fn unlink(&mut self, rng: &mut Rng) {
        let Some((group, at)) = self.some_link(rng) else { return };
        let (name, child) = self.thing(group).children.as_mut().unwrap().remove(at);
        for number in self.below(child) {
            let thing = self.model.0.remove(&number).unwrap();
            thing.attributes.iter().for_each(|(name, _)| self.forget_texts(number, name));
        }
        self.editor.unlink(self.nodes[&group], &name).unwrap();
    }

    fn move_link(&mut self, rng: &mut Rng) {
        let Some((group, at)) = self.some_link(rng) else { return };
        let below = self.below(self.model.0[&group].children.as_ref().unwrap()[at].1);
        let to = self.some(rng, |thing| thing.children.is_some()).unwrap();
        if below.contains(&to) {
            return;
        }
        let new = self.name(rng);
        let (old, child) = self.thing(group).children.as_mut().unwrap().remove(at);
        self.thing(to).children.as_mut().unwrap().push((new.clone(), child));
        self.editor.move_link(self.nodes[&group], &old, self.nodes[&to], &new).unwrap();
    }

    /// Makes a dataset longer, perhaps, and writes some of it.
    fn write(&mut self, rng: &mut Rng) {
        let Some(number) = self.some(rng, |thing| thing.data.is_some()) else { return };
        let node = self.nodes[&number];
        let (old, elements) = self.model.0[&number].data.clone().unwrap();
        let mut dims = old.clone();
        for dim in 0..dims.len() {
            let mut longer = dims.clone();
            longer[dim] += rng.below(4);
            if self.editor.set_extent(node, &longer).is_ok() {
                dims = longer;
            }
        }
        let mut now = vec![FILL; dims.iter().product::<u64>() as usize];
        copy(&old, &elements, &dims, &mut now);
        for _ in 0..1 + rng.below(3) {
            self.write_part(rng, node, &dims, &mut now);
            if rng.once_in(2) {
                let placed = self.editor.look(node, false).unwrap();
                let mut seen = vec![0i32; now.len()];
                let all = Selection::all(&dims);
                let _ = read(&*placed.blob, &placed.array, &all, Out::new(&mut seen)).unwrap();
                assert_eq!(seen, now);
            }
        }
        self.thing(number).data = Some((dims, now));
    }

    fn write_part(&mut self, rng: &mut Rng, node: Node, dims: &[u64], now: &mut [i32]) {
        let mut first = Vec::new();
        let mut count = Vec::new();
        for &len in dims {
            let start = rng.below(len + 1);
            first.push(start);
            count.push(rng.below(len - start + 1));
        }
        let values: Vec<i32> = (0..count.iter().product::<u64>()).map(|_| rng.number() as i32).collect();
        put(&first, &count, &values, dims, now);
        // Either all is filled before, or what lies behind the written elements is left for later.
        let mut written = None;
        let placed = if rng.once_in(2) || values.is_empty() {
            self.editor.array(node).unwrap()
        } else {
            let last: Vec<u64> = first.iter().zip(&count).map(|(first, count)| first + count - 1).collect();
            let (begin, end) = (offset(&first, dims), offset(&last, dims) + 1);
            let begin = if end - begin == values.len() { begin } else { end };
            written = Some(end as u64);
            self.editor.for_writing(node, false, begin as u64).unwrap()
        };
        if let ferrocdf_array::Layout::Inline(_) = placed.array.layout {
            let bytes: Vec<u8> = now.iter().flat_map(|value| value.to_le_bytes()).collect();
            self.editor.write_compact(node, &bytes).unwrap();
        } else if !values.is_empty() {
            let blob = self.editor.blob().clone();
            let _ = write(&*blob, &placed.array, &Selection::slab(&first, &count), In::new(&values)).unwrap();
            flush(&*blob, &placed.array).unwrap();
            written.into_iter().for_each(|end| self.editor.wrote(node, end).unwrap());
        }
    }
}

fn offset(at: &[u64], dims: &[u64]) -> usize {
    at.iter().zip(dims).fold(0, |sum, (at, len)| sum * len + at) as usize
}

fn put(first: &[u64], count: &[u64], values: &[i32], dims: &[u64], into: &mut [i32]) {
    for (number, value) in values.iter().enumerate() {
        let mut rest = number as u64;
        let mut at = first.to_vec();
        for (at, count) in at.iter_mut().zip(count).rev() {
            *at += rest % count;
            rest /= count;
        }
        into[offset(&at, dims)] = *value;
    }
}

fn copy(old: &[u64], elements: &[i32], dims: &[u64], into: &mut [i32]) {
    put(&vec![0; old.len()], old, elements, dims, into);
}

fn run(seed: u64, profile: Profile, changes: usize) {
    let mut rng = Rng::new(seed);
    let blob = Arc::new(ferrocdf_store::MemoryBlob::default());
    let mut pair = Pair::create(blob.clone(), profile);
    for _ in 0..changes {
        pair.change(&mut rng);
        if rng.once_in(6) {
            pair.change_in_savepoint(&mut rng);
        }
        if rng.once_in(6) {
            pair.commit();
            if rng.once_in(3) {
                pair.reopen();
            }
        }
    }
    pair.commit();
    assert_eq!(text_of(&blob.to_bytes()).unwrap(), pair.model.text());
    let end = pair.editor.file().superblock().end;
    assert_eq!(blob.to_bytes().len() as u64, end);
}

#[test]
fn random_changes_are_those_of_the_model() {
    for seed in 0..40 {
        for profile in [Profile::Compatible, Profile::Modern] {
            println!("seed {seed} {profile:?}");
            run(seed, profile, 120);
        }
    }
}
