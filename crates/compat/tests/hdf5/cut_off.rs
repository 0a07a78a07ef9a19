//! Commits that are cut off, by the reference's readers: every way a log of writes can end leaves a file that h5py and
//! netCDF4 open in a committed state, and that h5py edits further.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use ferrocdf_array::{In, Selection, flush, write};
use ferrocdf_compat::python::{finish, script};
use ferrocdf_hdf5::Step;
use ferrocdf_hdf5::edit::{
    AllocTime, AttributeSpec, CreateOptions, DatasetSpec, Editor, FillTime, GroupOptions, NewLayout, Node,
    Profile, TypeRef,
};
use ferrocdf_hdf5::messages::datatype::{ByteOrder, Class, Integer, Padding, Pads, Text};
use ferrocdf_hdf5::messages::{Dataspace, Datatype, HeapId, SpaceKind};
use ferrocdf_store::testing::{Log, Recording, Rng};
use ferrocdf_store::{Blob, MemoryBlob};

/// Of all cuts, one in so many is looked at.
const EVERY: usize = 3;

fn integer(size: u32) -> Datatype {
    let pads = Pads { low: false, high: false, internal: false };
    let precision = 8 * size as u16;
    let integer = Integer { order: ByteOrder::Little, pads, signed: true, offset: 0, precision };
    Datatype { version: 1, size, class: Class::Integer(integer) }
}

fn simple(dims: &[u64], max: Option<Vec<Option<u64>>>) -> Dataspace {
    Dataspace { kind: SpaceKind::Simple, dims: dims.to_vec(), max }
}

fn numbers(name: &str, values: &[i32]) -> AttributeSpec {
    AttributeSpec {
        name: name.to_string(),
        datatype: TypeRef::Inline(integer(4)),
        space: simple(&[values.len() as u64], None),
        data: values.iter().flat_map(|value| value.to_le_bytes()).collect(),
    }
}

/// A file that changes.
struct Story {
    blob: Arc<Recording<MemoryBlob>>,
    editor: Editor,
    records: Node,
    rng: Rng,
    texts: Vec<HeapId>,
}

impl Story {
    fn begin(profile: Profile) -> Story {
        let blob = Arc::new(Recording::new(MemoryBlob::default()));
        let options = CreateOptions { profile, ..CreateOptions::default() };
        let mut editor = Editor::create(blob.clone(), &options).unwrap();
        let step = |id: u32, params| Step { id: id.into(), name: String::new(), optional: true, params };
        let spec = DatasetSpec {
            datatype: TypeRef::Inline(integer(4)),
            space: simple(&[0, 5], Some(vec![None, Some(5)])),
            layout: NewLayout::Chunked(vec![2, 3]),
            filters: vec![step(2, vec![4]), step(1, vec![4])],
            fill: None,
            fill_time: FillTime::IfSet,
            alloc_time: AllocTime::Usual,
            attribute_order: true,
        };
        let records = editor.create_dataset(editor.root(), "records", spec).unwrap();
        Story { blob, editor, records, rng: Rng::new(3), texts: Vec::new() }
    }

    fn go_on(&mut self, step: u64) {
        let (root, editor) = (self.editor.root(), &mut self.editor);
        match step % 6 {
            0 | 3 => {
                editor.set_extent(self.records, &[3 + step, 5]).unwrap();
                let array = editor.array(self.records).unwrap().array;
                let values: Vec<i32> = (0..15).map(|value| value + step as i32).collect();
                let rows = Selection::slab(&[step, 0], &[3, 5]);
                let _ = write(&*self.blob, &array, &rows, In::new(&values)).unwrap();
                flush(&*self.blob, &array).unwrap();
            }
            1 => (0..4).for_each(|more| {
                let values = vec![step as i32; self.rng.index(200)];
                let name = format!("attribute{}", (step + more) % 13);
                editor.set_attribute(self.records, numbers(&name, &values)).unwrap();
            }),
            2 => (0..4).for_each(|more| {
                let name = format!("group{step}_{more}");
                let group = editor.create_group(root, &name, GroupOptions::default()).unwrap();
                editor.set_attribute(group, numbers("x", &[1])).unwrap();
            }),
            4 => self.texts(step),
            _ => {
                editor.rename_link(root, &format!("group{}_0", step - 3), &format!("renamed{step}")).unwrap();
                editor.unlink(root, &format!("group{}_1", step - 3)).unwrap();
                editor.remove_attribute(self.records, &format!("attribute{}", (step - 4) % 13)).unwrap();
            }
        }
    }

    fn texts(&mut self, step: u64) {
        for id in std::mem::take(&mut self.texts) {
            self.editor.heap_free(id).unwrap();
        }
        let mut data = Vec::new();
        for number in 0..3 {
            let text = format!("text {step} {number}");
            let id = self.editor.heap_put(text.as_bytes()).unwrap();
            data.extend((text.len() as u32).to_le_bytes());
            data.extend(id.collection.0.to_le_bytes());
            data.extend(id.index.to_le_bytes());
            self.texts.push(id);
        }
        let text = Text { padding: Padding::NullTerminated, charset: 1 };
        let class = Class::Variable { text: Some(text), base: Box::new(integer(1)) };
        let datatype = TypeRef::Inline(Datatype { version: 1, size: 16, class });
        let spec = AttributeSpec { name: "texts".to_string(), datatype, space: simple(&[3], None), data };
        self.editor.set_attribute(self.editor.root(), spec).unwrap();
    }

    fn commit(&mut self, folder: &Path, number: usize) {
        match number % 4 {
            // With a note of free space.
            3 => self.editor.close(0).unwrap(),
            _ => self.editor.commit().unwrap(),
        }
        let mut bytes = vec![0; self.blob.size().unwrap() as usize];
        self.blob.read_exact_at(0, &mut bytes).unwrap();
        fs::write(folder.join(format!("state{number}.h5")), bytes).unwrap();
        self.blob.mark();
    }
}

#[test]
fn commits_that_are_cut_off_leave_a_committed_state_for_all_readers() {
    for profile in [Profile::Compatible, Profile::Modern] {
        let folder = tempfile::tempdir().unwrap();
        let mut story = Story::begin(profile);
        story.commit(folder.path(), 0);
        for step in 0..30 {
            story.go_on(step);
            story.commit(folder.path(), step as usize + 1);
        }
        let log = Log { start: Vec::new(), events: story.blob.events(), sector: 64 };
        let (mut number, mut index) = (0, String::new());
        log.cuts(&mut Rng::new(5), &mut |bytes, marks, _| {
            number += 1;
            if marks > 0 && number % EVERY == 0 {
                let name = format!("cut{number}.h5");
                fs::write(folder.path().join(&name), bytes).unwrap();
                index += &format!("{name} {marks}\n");
            }
        });
        fs::write(folder.path().join("index"), index).unwrap();
        let mut command = script("cut_off.py");
        finish(command.arg(folder.path()).stderr(Stdio::piped()).spawn().unwrap());
    }
}
