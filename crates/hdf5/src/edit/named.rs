//! Links or attributes by name and creation order.

use std::collections::{BTreeMap, HashMap};

/// The fewest items for which names are looked up in a hash table.
const INDEXED_FROM: usize = 24;

/// Items by name and by creation order; of two items with one name the later is found.
#[derive(Debug)]
pub(super) struct Named<T> {
    things: BTreeMap<u64, (Vec<u8>, T)>,
    /// The creation order by name, once there are many items.
    numbers: Option<HashMap<Vec<u8>, u64>>,
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Named { things: BTreeMap::new(), numbers: None }
    }
}

impl<T> Named<T> {
    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.things.len()
    }

    /// Returns the creation order of the item of this name.
    pub fn number(&self, name: &[u8]) -> Option<u64> {
        match &self.numbers {
            Some(numbers) => numbers.get(name).copied(),
            None => self.things.iter().rfind(|(_, (of, _))| of == name).map(|(&number, _)| number),
        }
    }

    /// The thing of this name.
    pub fn get(&self, name: &[u8]) -> Option<&T> {
        self.things.get(&self.number(name)?).map(|(_, thing)| thing)
    }

    /// The thing of this name.
    pub fn get_mut(&mut self, name: &[u8]) -> Option<&mut T> {
        self.things.get_mut(&self.number(name)?).map(|(_, thing)| thing)
    }

    /// Adds a thing under a number that is not in use, or the next free one.
    pub fn insert(&mut self, number: u64, name: Vec<u8>, thing: T) {
        let mut number = number;
        while self.things.contains_key(&number) {
            number += 1;
        }
        self.note(&name, number);
        self.things.insert(number, (name, thing));
        if self.numbers.is_none() && self.things.len() >= INDEXED_FROM {
            let name = |(&number, (name, _)): (&u64, &(Vec<u8>, T))| (name.clone(), number);
            self.numbers = Some(self.things.iter().map(name).collect());
        }
    }

    /// Notes the number of a name, if a later thing has not the same.
    fn note(&mut self, name: &[u8], number: u64) {
        if let Some(numbers) = &mut self.numbers {
            let known = numbers.entry(name.to_vec()).or_insert(number);
            *known = number.max(*known);
        }
    }

    /// Takes one out.
    pub fn remove(&mut self, name: &[u8]) -> Option<T> {
        let number = self.number(name)?;
        if let Some(numbers) = &mut self.numbers {
            numbers.remove(name);
        }
        self.things.remove(&number).map(|(_, thing)| thing)
    }

    /// Gives one another name; nothing if there is none.
    pub fn rename(&mut self, old: &[u8], new: &[u8]) {
        let Some(number) = self.number(old) else { return };
        if let Some(numbers) = &mut self.numbers {
            numbers.remove(old);
        }
        self.note(new, number);
        if let Some((name, _)) = self.things.get_mut(&number) {
            *name = new.to_vec();
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
        self.numbers = None;
        for (number, (name, thing)) in (0..).zip(things.into_values()) {
            self.insert(number, name, thing);
        }
    }
}
