//! A blob that remembers why its source refused a read.
//!
//! Who reads many structures and passes over damaged ones must not take one for damaged that the network did not bring.

use std::sync::{Arc, Mutex, PoisonError};

use ferrocdf_bytes::{Error, Result};

use crate::{Blob, ReadRequest, Suffix, forward};

/// A blob whose first refusal is remembered.
pub struct Watched {
    blob: Arc<dyn Blob>,
    refusal: Mutex<Option<Error>>,
}

impl Watched {
    /// Wraps a blob.
    pub fn new(blob: Arc<dyn Blob>) -> Watched {
        Watched { blob, refusal: Mutex::default() }
    }

    /// Returns the first error since the last call that the source gave ([`Error::is_of_source`]), not the bytes in it.
    pub fn take_refusal(&self) -> Option<Error> {
        self.refusal.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn note<T>(&self, done: Result<T>) -> Result<T> {
        done.inspect_err(|error| {
            if error.is_of_source() {
                let mut refusal = self.refusal.lock().unwrap_or_else(PoisonError::into_inner);
                refusal.get_or_insert_with(|| error.clone());
            }
        })
    }
}

impl Blob for Watched {
    forward!([.blob] name cost forget expect_pages change_token is_nameless);

    fn size(&self) -> Result<u64> {
        self.note(self.blob.size())
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        self.note(self.blob.read_at(at, into))
    }

    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        self.note(self.blob.read_many(requests))
    }

    fn read_suffix(&self, into: &mut [u8]) -> Result<Suffix> {
        self.note(self.blob.read_suffix(into))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::testing::{Fault, Simulated};
    use crate::{Cost, MemoryStore, ObjectBlob, Store};

    #[test]
    fn first_refusal_is_remembered() {
        let store = Simulated::new(MemoryStore::default(), Cost::REMOTE, Duration::ZERO);
        store.put("a", b"0123456789").unwrap();
        let store = Arc::new(store);
        let watched = Watched::new(Arc::new(ObjectBlob::new(store.clone(), "a")));
        watched.read_at(0, &mut [0; 4]).unwrap();
        // Bytes that are not there are no refusal.
        assert!(watched.read_exact_at(8, &mut [0; 4]).is_err());
        assert_eq!(watched.take_refusal(), None);
        store.fail(store.traffic().requests, Fault::Refused);
        let error = watched.read_at(0, &mut [0; 4]).unwrap_err();
        watched.read_at(0, &mut [0; 4]).unwrap();
        store.delete("a").unwrap();
        assert!(watched.read_at(0, &mut [0; 4]).is_err());
        assert_eq!(watched.take_refusal(), Some(error));
        assert_eq!(watched.take_refusal(), None);
        assert!(watched.read_at(0, &mut [0; 4]).is_err());
        assert!(watched.take_refusal().is_some(), "the object is gone");
    }

    #[test]
    fn every_method_is_forwarded() {
        crate::suite::forwards_reads(|probe| Watched::new(Arc::new(probe)), &[]);
    }
}
