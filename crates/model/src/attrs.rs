//! The attributes of one owner, which may be read when somebody first looks at them.
//!
//! The decision that shaped it: a list that is still to be read looks like any other. What could not be read leaves the
//! reason beside the list, so that who needs all of it can ask.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use ferrocdf_bytes::{Error, Result};

use crate::{Attr, Named};

/// Reads attributes when they are first looked at.
pub trait LateAttrs: Send + Sync {
    /// The attributes of the owner with this key that can be read, and why others cannot.
    fn attrs(&self, key: u64) -> (Named<Attr>, Option<Error>);
}

/// The attributes of one owner.
#[derive(Clone, Default)]
pub struct Attrs {
    known: OnceLock<Named<Attr>>,
    failure: OnceLock<Error>,
    /// Where they are read, while they are not known.
    late: Option<(Arc<dyn LateAttrs>, u64)>,
}

impl Attrs {
    /// Attributes that are read when somebody first looks.
    pub fn late(from: Arc<dyn LateAttrs>, key: u64) -> Self {
        Attrs { late: Some((from, key)), ..Attrs::default() }
    }

    /// Attributes that were read when the file was opened, and that [`Attrs::late`] with the same arguments would read.
    pub fn read(list: Named<Attr>, from: Arc<dyn LateAttrs>, key: u64) -> Self {
        Attrs { known: OnceLock::from(list), ..Attrs::late(from, key) }
    }

    /// Whether they are still as a file has them: nobody changed them since it was opened.
    pub fn is_late(&self) -> bool {
        self.late.is_some()
    }

    /// Why attributes are missing, if some could not be read.
    pub fn failure(&self) -> Option<&Error> {
        self.get();
        self.failure.get()
    }

    /// The attributes, to be changed.
    ///
    /// # Errors
    /// That of reading them, where the system refused it: another try may find what is missing now, which a change would
    /// take for removed.
    pub fn to_change(&mut self) -> Result<&mut Named<Attr>> {
        match self.failure().filter(|failure| failure.is_of_system()).cloned() {
            Some(failure) => {
                (self.known, self.failure) = Default::default();
                Err(failure)
            }
            None => Ok(self),
        }
    }

    fn get(&self) -> &Named<Attr> {
        self.known.get_or_init(|| match &self.late {
            None => Named::default(),
            Some((from, key)) => {
                let (attrs, failure) = from.attrs(*key);
                if let Some(failure) = failure {
                    // Set once, with the list.
                    let _ = self.failure.set(failure);
                }
                attrs
            }
        })
    }
}

impl Deref for Attrs {
    type Target = Named<Attr>;

    fn deref(&self) -> &Named<Attr> {
        self.get()
    }
}

impl DerefMut for Attrs {
    fn deref_mut(&mut self) -> &mut Named<Attr> {
        self.get();
        self.late = None;
        self.known.get_mut().expect("got above")
    }
}

impl From<Vec<Attr>> for Attrs {
    fn from(attrs: Vec<Attr>) -> Self {
        Attrs { known: OnceLock::from(Named::from(attrs)), ..Attrs::default() }
    }
}

impl<'a> IntoIterator for &'a Attrs {
    type Item = &'a Attr;
    type IntoIter = std::slice::Iter<'a, Attr>;

    fn into_iter(self) -> Self::IntoIter {
        self.get().iter()
    }
}

impl PartialEq for Attrs {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl fmt::Debug for Attrs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use ferrocdf_bytes::{Code, errno};

    use super::*;
    use crate::{Name, Values};

    struct Two;

    impl LateAttrs for Two {
        fn attrs(&self, key: u64) -> (Named<Attr>, Option<Error>) {
            let attrs = vec![Attr::new(Name::new("a").unwrap(), Values::from("x"))];
            (attrs.into(), (key == 0).then(|| Error::new(Code::EATTMETA, "no")))
        }
    }

    #[test]
    fn late_attributes_look_like_others() {
        let mut attrs = Attrs::late(Arc::new(Two), 1);
        assert_eq!(attrs.len(), 1);
        attrs.push(Attr::new(Name::new("b").unwrap(), Values::from("y")));
        assert_eq!(attrs.position(b"b"), Some(1));
        assert!(attrs.failure().is_none());
    }

    /// A file that the system refuses to read, once.
    struct Refused(std::sync::atomic::AtomicBool);

    impl LateAttrs for Refused {
        fn attrs(&self, key: u64) -> (Named<Attr>, Option<Error>) {
            match self.0.swap(false, std::sync::atomic::Ordering::Relaxed) {
                true => (Named::default(), Some(Error::new(errno::IO, "no"))),
                false => Two.attrs(key),
            }
        }
    }

    #[test]
    fn attributes_that_the_system_refuses_to_read_are_not_taken_for_removed() {
        let mut attrs = Attrs::late(Arc::new(Refused(true.into())), 1);
        assert_eq!(attrs.to_change().unwrap_err().code, errno::IO);
        assert_eq!(attrs.to_change().unwrap().len(), 1);
    }

    #[test]
    fn a_failure_is_told() {
        let attrs = Attrs::late(Arc::new(Two), 0);
        assert_eq!(attrs.len(), 1);
        assert_eq!(attrs.failure().map(|error| error.code), Some(Code::EATTMETA));
    }
}
