//! Names of objects that a file calls alike.

use std::collections::HashMap;

use ferrocdf_model::Name;

/// The names that are taken in a group, each with the last number that was put behind it, so that many objects of one name take no
/// longer than others.
#[derive(Default)]
pub(crate) struct UniqueNames(HashMap<Name, u64>);

impl UniqueNames {
    /// Takes a name: the name itself, or, if it is taken, with the first number from 2 on that makes it free. No name is `unnamed`.
    pub(crate) fn take(&mut self, name: &[u8]) -> Name {
        let wanted = Name::stored(if name.is_empty() { b"unnamed" } else { name });
        let mut unique = wanted.clone();
        while self.0.contains_key(&unique) {
            let last = self.0.entry(wanted.clone()).or_insert(1);
            *last += 1;
            unique = Name::stored(&[wanted.as_bytes(), format!("_{last}").as_bytes()].concat());
        }
        self.0.insert(unique.clone(), 1);
        unique
    }
}

impl<'a> FromIterator<&'a Name> for UniqueNames {
    fn from_iter<I: IntoIterator<Item = &'a Name>>(taken: I) -> UniqueNames {
        UniqueNames(taken.into_iter().map(|name| (name.clone(), 1)).collect())
    }
}
