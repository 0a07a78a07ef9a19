//! A list in definition order that is also found by name.

use std::hash::BuildHasher;

use ferrocdf_bytes::{Code, Error, Result};
use hashbrown::{DefaultHashBuilder, HashTable};

use crate::Name;

/// Something with a name.
pub trait HasName {
    /// Its name.
    fn name(&self) -> &Name;
    /// Gives it another name.
    fn set_name(&mut self, name: Name);
}

/// From this many items on, names are looked up in a hash table.
const INDEXED_FROM: usize = 24;

/// Finds positions by name: a plain search while the list is short, a hash table from then on. The table holds
/// positions only; the names are the list's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    positions: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Index {
    /// The position of `wanted` in a list of `len` items, the first one where names repeat.
    pub(crate) fn find<'a>(
        &self,
        len: usize,
        name_at: impl Fn(usize) -> &'a Name,
        wanted: &[u8],
    ) -> Option<usize> {
        if len < INDEXED_FROM {
            return (0..len).find(|&at| name_at(at).as_bytes() == wanted);
        }
        let is_wanted = |&at: &u32| name_at(at as usize).as_bytes() == wanted;
        self.positions.find(self.hasher.hash_one(wanted), is_wanted).map(|&at| at as usize)
    }

    /// Takes note of an item appended to a list that now has `len` items.
    pub(crate) fn appended<'a>(&mut self, len: usize, name_at: impl Fn(usize) -> &'a Name) {
        if len == INDEXED_FROM {
            self.rebuild(len, name_at);
        } else if len > INDEXED_FROM {
            self.add(len - 1, &name_at);
        }
    }

    /// Takes note of names or positions that changed.
    pub(crate) fn rebuild<'a>(&mut self, len: usize, name_at: impl Fn(usize) -> &'a Name) {
        self.positions.clear();
        if len >= INDEXED_FROM {
            (0..len).for_each(|at| self.add(at, &name_at));
        }
    }

    fn add<'a>(&mut self, at: usize, name_at: &impl Fn(usize) -> &'a Name) {
        let hash = |at: &u32| self.hasher.hash_one(name_at(*at as usize).as_bytes());
        let new = u32::try_from(at).expect("ids have 32 bits, so lists are no longer than that");
        let same = |old: &u32| name_at(*old as usize) == name_at(at);
        self.positions.entry(hash(&new), same, hash).or_insert(new);
    }
}

/// The index says nothing that the list does not.
impl PartialEq for Index {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Items in definition order, with names that differ. Names read from a file may repeat: the first one is found.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T> {
    items: Vec<T>,
    index: Index,
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Named { items: Vec::new(), index: Index::default() }
    }
}

impl<T: HasName> Named<T> {
    /// The items in definition order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The item at a position.
    pub fn get(&self, position: usize) -> Option<&T> {
        self.items.get(position)
    }

    /// The item at a position, to be changed in all but its name.
    pub fn get_mut(&mut self, position: usize) -> Option<&mut T> {
        self.items.get_mut(position)
    }

    /// The position of the item called `name` (exact bytes).
    pub fn position(&self, name: &[u8]) -> Option<usize> {
        self.index.find(self.items.len(), |at| self.items[at].name(), name)
    }

    /// The item called `name` (exact bytes).
    pub fn find(&self, name: &[u8]) -> Option<&T> {
        self.items.get(self.position(name)?)
    }

    /// Appends an item as read from a file and returns its position.
    pub fn push(&mut self, item: T) -> usize {
        self.items.push(item);
        self.index.appended(self.items.len(), |at| self.items[at].name());
        self.items.len() - 1
    }

    /// Gives the item at `position` another name. Fails with `NC_ENAMEINUSE` if an item has it.
    pub fn rename(&mut self, position: usize, name: Name) -> Result<()> {
        if self.position(name.as_bytes()).is_some() {
            return Err(in_use(&name));
        }
        self.items[position].set_name(name);
        self.reindex();
        Ok(())
    }

    /// Removes the item at `position`; those behind it move up.
    pub fn remove(&mut self, position: usize) -> T {
        let item = self.items.remove(position);
        self.reindex();
        item
    }

    fn reindex(&mut self) {
        self.index.rebuild(self.items.len(), |at| self.items[at].name());
    }
}

/// The error for a name that is taken.
pub(crate) fn in_use(name: &Name) -> Error {
    Error::new(Code::ENAMEINUSE, format!("\"{name}\" exists already"))
}

impl<T: HasName> From<Vec<T>> for Named<T> {
    fn from(items: Vec<T>) -> Self {
        let mut named = Named { items, index: Index::default() };
        named.reindex();
        named
    }
}

impl<'a, T> IntoIterator for &'a Named<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Attr, Values};

    fn attr(name: &str) -> Attr {
        Attr::new(Name::new(name).unwrap(), Values::Int(vec![1]))
    }

    #[test]
    fn positions_hold_on_both_sides_of_the_index_threshold() {
        let mut list = Named::default();
        for n in 0..2 * INDEXED_FROM {
            assert_eq!(list.push(attr(&format!("a{n}"))), n);
            assert_eq!(list.position(format!("a{}", n / 2).as_bytes()), Some(n / 2));
        }
        list.rename(3, Name::new("b").unwrap()).unwrap();
        assert_eq!((list.position(b"b"), list.position(b"a3")), (Some(3), None));
        assert_eq!(list.rename(4, Name::new("b").unwrap()).unwrap_err().code, Code::ENAMEINUSE);
        list.remove(0);
        assert_eq!((list.position(b"b"), list.position(b"a0")), (Some(2), None));
    }
}
