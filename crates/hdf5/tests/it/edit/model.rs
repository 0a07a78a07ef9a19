//! What a file should hold, in memory, and what one holds, in the same words.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use ferrocdf_array::{Out, Selection, read};
use ferrocdf_hdf5::messages::datatype::Class;
use ferrocdf_hdf5::{Address, Attribute, Dataset, File, LinkTarget, Object, ObjectKind, Value, Values};
use ferrocdf_store::MemoryBlob;

/// An object of the model, by its number.
#[derive(Clone, Debug, Default)]
pub struct Thing {
    /// Names and numbers of children in the order of creation, for groups.
    pub children: Option<Vec<(String, usize)>>,
    pub attributes: Vec<(String, Held)>,
    /// Shape and elements, for datasets.
    pub data: Option<(Vec<u64>, Vec<i32>)>,
}

/// What an attribute holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Held {
    Bytes(Vec<u8>),
    Texts(Vec<String>),
}

/// All objects; the first one is the root group.
#[derive(Clone, Debug)]
pub struct Model(pub BTreeMap<usize, Thing>);

impl Default for Model {
    fn default() -> Self {
        Model(BTreeMap::from([(0, Thing { children: Some(Vec::new()), ..Thing::default() })]))
    }
}

impl Model {
    /// All that the file should hold.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.thing(0, "/", &mut text);
        text
    }

    fn thing(&self, number: usize, path: &str, text: &mut String) {
        let thing = &self.0[&number];
        writeln!(text, "{path}").unwrap();
        for (name, held) in &thing.attributes {
            writeln!(text, "  @{name} = {held:?}").unwrap();
        }
        if let Some((shape, elements)) = &thing.data {
            writeln!(text, "  {shape:?} {elements:?}").unwrap();
        }
        for (name, child) in thing.children.iter().flatten() {
            self.thing(*child, &format!("{path}{name}/"), text);
        }
    }
}

/// All that a file holds.
pub fn text(file: &File) -> String {
    let mut text = String::new();
    let root = file.root().unwrap();
    object(file, &root, "/", &mut text);
    text
}

/// All that these bytes hold as a file; the reason if they are none.
pub fn text_of(bytes: &[u8]) -> Result<String, String> {
    let file = File::open(Arc::new(MemoryBlob::new(bytes.to_vec()))).map_err(|error| error.to_string())?;
    Ok(text(&file))
}

fn object(file: &File, object_: &Object, path: &str, text: &mut String) {
    writeln!(text, "{path}").unwrap();
    for (name, attribute) in object_.attributes().unwrap().list {
        let held = held(file, &attribute.unwrap());
        writeln!(text, "  @{} = {held:?}", String::from_utf8(name).unwrap()).unwrap();
    }
    if object_.kind() == ObjectKind::Dataset {
        let (shape, elements) = elements(&Dataset::open(object_).unwrap());
        writeln!(text, "  {shape:?} {elements:?}").unwrap();
    }
    for link in object_.links().unwrap().list {
        let LinkTarget::Hard(at) = link.target else { panic!("{link:?}") };
        let name = String::from_utf8(link.name).unwrap();
        object(file, &file.object(Address(at.0)).unwrap(), &format!("{path}{name}/"), text);
    }
}

fn held(file: &File, attribute: &Attribute) -> Held {
    if !matches!(attribute.datatype.class, Class::Variable { .. }) {
        return Held::Bytes(attribute.data.clone());
    }
    let values = Values::new(file, 1 << 20).list(&attribute.datatype, &attribute.data).unwrap();
    let text = |value| match value {
        Value::String(Some(text)) => String::from_utf8(text).unwrap(),
        other => panic!("{other:?}"),
    };
    Held::Texts(values.into_iter().map(text).collect())
}

fn elements(dataset: &Dataset) -> (Vec<u64>, Vec<i32>) {
    let placed = dataset.array().unwrap();
    let shape = placed.array.shape.clone();
    let mut elements = vec![0i32; shape.iter().product::<u64>() as usize];
    let all = Selection::slab(&vec![0; shape.len()], &shape);
    let _ = read(&*placed.blob, &placed.array, &all, Out::new(&mut elements)).unwrap();
    (shape, elements)
}
