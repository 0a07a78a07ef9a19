//! Things with names, in the order in which they were made: links and attributes.

use std::collections::{BTreeMap, HashMap};

/// Things by name and by the number of their making.
#[derive(Debug)]
pub(super) struct Named<T> {
    things: BTreeMap<u64, (Vec<u8>, T)>,
    numbers: HashMap<Vec<u8>, u64>,
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Named { things: BTreeMap::new(), numbers: HashMap::new() }
    }
}

impl<T> Named<T> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.things.len()
    }

    /// The thing of this name.
    pub fn get(&self, name: &[u8]) -> Option<&T> {
        self.things.get(self.numbers.get(name)?).map(|(_, thing)| thing)
    }

    /// The thing of this name.
    pub fn get_mut(&mut self, name: &[u8]) -> Option<&mut T> {
        self.things.get_mut(self.numbers.get(name)?).map(|(_, thing)| thing)
    }

    /// Adds a thing under a number that is not in use, or the next free one; of two of one name the later one is found.
    pub fn insert(&mut self, number: u64, name: Vec<u8>, thing: T) {
        let mut number = number;
        while self.things.contains_key(&number) {
            number += 1;
        }
        self.numbers.insert(name.clone(), number);
        self.things.insert(number, (name, thing));
    }

    /// Takes one out.
    pub fn remove(&mut self, name: &[u8]) -> Option<T> {
        let number = self.numbers.remove(name)?;
        self.things.remove(&number).map(|(_, thing)| thing)
    }

    /// Gives one another name; nothing if there is none.
    pub fn rename(&mut self, old: &[u8], new: &[u8]) {
        if let Some(number) = self.numbers.remove(old) {
            self.numbers.insert(new.to_vec(), number);
            if let Some((name, _)) = self.things.get_mut(&number) {
                *name = new.to_vec();
            }
        }
    }

    /// Numbers, names and things, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &[u8], &T)> {
        self.things.iter().map(|(&number, (name, thing))| (number, name.as_slice(), thing))
    }

    /// All things, in order.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.things.values().map(|(_, thing)| thing)
    }

    /// Numbers them from 0 on.
    pub fn renumber(&mut self) {
        let things = std::mem::take(&mut self.things);
        self.numbers.clear();
        for (number, (name, thing)) in (0..).zip(things.into_values()) {
            self.insert(number, name, thing);
        }
    }
}
