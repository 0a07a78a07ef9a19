//! One object of a store as a blob.
//!
//! The decision that shaped it: no request is sent only for the size, since each answer to a read has it. The first answer also
//! fixes the version of the object: bytes of two versions are never mixed, and an answer of another version is an error.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ferrocdf_bytes::{Code, Error, Result, ToUsize, errno};

use super::{ByteRange, Filled, GetInto, Store, Version};
use crate::{Blob, ChangeToken, Cost, ReadRequest, Suffix};

/// The bytes of an object. It need not exist before the first read.
#[derive(Debug)]
pub struct ObjectBlob {
    store: Arc<dyn Store>,
    key: String,
    known: Mutex<Known>,
}

/// Size and versions of the object, taken from answers to requests.
#[derive(Debug, Default)]
struct Known {
    /// Version of the object that is read, and its size in bytes.
    object: Option<(Version, u64)>,
    /// Version in the last answer.
    last: Option<Version>,
    /// Number of calls of `forget`. Size and version in an answer to a request from before the last call are not recorded.
    forgets: u64,
}

impl ObjectBlob {
    /// Makes a blob of the object with this key. No request is sent.
    pub fn new(store: Arc<dyn Store>, key: impl Into<String>) -> ObjectBlob {
        ObjectBlob { store, key: key.into(), known: Mutex::default() }
    }

    // No code panics in the middle of a change, so a poisoned lock guards valid facts.
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known_size(&self) -> Option<u64> {
        self.known().object.as_ref().map(|&(_, size)| size)
    }

    fn failed(&self, code: Code, what: &str) -> Error {
        Error::new(code, format!("{}: {what}", self.name()))
    }

    /// Checks an answer, and records its version and size unless `forget` was called since the request. `forgets` is the number
    /// of calls before the request.
    fn check(&self, answer: Result<Option<Filled>>, range: ByteRange, forgets: u64) -> Result<Filled> {
        let found = answer?.ok_or_else(|| self.store.no_such_object(&self.key))?;
        let found = found.check(&self.key, range).map_err(|error| error.at(self.store.name()))?;
        let mut known = self.known();
        if known.forgets != forgets {
            return Ok(found);
        }
        known.last = Some(found.version.clone());
        let (version, _) = known.object.get_or_insert_with(|| (found.version.clone(), found.total));
        if *version != found.version {
            drop(known);
            return Err(self.failed(errno::STALE, "a writer replaced the object; open it again"));
        }
        Ok(found)
    }

    /// Reads a range to the begin of `into`, which is as long as the range or longer.
    fn get(&self, range: ByteRange, into: &mut [u8]) -> Result<Filled> {
        let forgets = self.known().forgets;
        let answer = self.store.get(&self.key, range);
        self.check(answer.map(|found| found.map(|found| found.copy_to(into))), range, forgets)
    }

    /// Returns the length of a read, which ends where the object is known to end.
    fn len(&self, at: u64, len: usize) -> usize {
        let end = self.known_size().unwrap_or(u64::MAX);
        end.saturating_sub(at).at_most(len)
    }
}

impl Blob for ObjectBlob {
    /// Reads the first byte if no answer has shown the size yet.
    fn size(&self) -> Result<u64> {
        match self.known_size() {
            Some(size) => Ok(size),
            None => self.get(ByteRange::Bounded { start: 0, len: 1 }, &mut [0]).map(|found| found.total),
        }
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        match self.len(at, into.len()) as u64 {
            0 => Ok(0),
            len => self.get(ByteRange::Bounded { start: at, len }, into).map(|found| found.len.saturate()),
        }
    }

    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        let forgets = self.known().forgets;
        let mut wanted = Vec::with_capacity(requests.len());
        let mut lengths = Vec::with_capacity(requests.len());
        for request in requests {
            request.len = 0;
            let len = self.len(request.at, request.into.len());
            if len > 0 {
                wanted.push(GetInto { key: &self.key, start: request.at, into: &mut request.into[..len] });
                lengths.push(&mut request.len);
            }
        }
        let answers = if wanted.is_empty() { Vec::new() } else { self.store.get_many_into(&mut wanted) };
        if answers.len() != wanted.len() {
            let what = format!("{}: {} answers to {} requests", self.name(), answers.len(), wanted.len());
            return Err(Error::new(Code::EINTERNAL, what));
        }
        for ((request, len), answer) in wanted.iter().zip(lengths).zip(answers) {
            *len = self.check(answer, request.range(), forgets)?.len.saturate();
        }
        Ok(())
    }

    fn read_suffix(&self, into: &mut [u8]) -> Result<Suffix> {
        if into.is_empty() {
            return Ok(Suffix { len: 0, size: self.size()? });
        }
        let found = self.get(ByteRange::Suffix(into.len() as u64), into)?;
        Ok(Suffix { len: found.len.saturate(), size: found.total })
    }

    fn name(&self) -> String {
        format!("{}/{}", self.store.name(), self.key)
    }

    fn cost(&self) -> Cost {
        self.store.cost()
    }

    /// Drops the version and the size: the next read fixes them again.
    fn forget(&self) {
        let mut known = self.known();
        known.object = None;
        known.forgets += 1;
    }

    /// Returns the version in the last answer: asking the store for the present one would be a request.
    fn change_token(&self) -> Option<ChangeToken> {
        self.known().last.clone().map(ChangeToken::object)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::objects::{Expected, Fetched, Listing};
    use crate::testing::{Fault, Simulated, Traffic};
    use crate::{MemoryStore, is_stale};

    fn blob(bytes: &[u8]) -> (Arc<Simulated<MemoryStore>>, ObjectBlob) {
        let store = Simulated::new(MemoryStore::default(), Cost::REMOTE, Duration::ZERO);
        store.put("a/b", bytes).unwrap();
        store.take_traffic();
        let store = Arc::new(store);
        (store.clone(), ObjectBlob::new(store, "a/b"))
    }

    fn traffic(rounds: u64, requests: u64, bytes: u64) -> Traffic {
        Traffic { rounds, requests, bytes }
    }

    #[test]
    fn reads_tell_the_size_without_a_request_of_its_own() {
        let (store, object) = blob(b"0123456789");
        let mut into = [b'-'; 4];
        assert_eq!(object.read_at(8, &mut into).unwrap(), 2);
        assert_eq!(&into[..2], b"89");
        assert_eq!(object.size().unwrap(), 10);
        // Nothing is behind the known end.
        assert_eq!(object.read_at(10, &mut into).unwrap(), 0);
        assert_eq!(object.read_at(3, &mut []).unwrap(), 0);
        assert_eq!(store.take_traffic(), traffic(1, 1, 2));

        let (store, object) = blob(b"0123456789");
        assert_eq!(object.read_suffix(&mut into).unwrap(), Suffix { len: 4, size: 10 });
        assert_eq!(&into, b"6789");
        assert_eq!(object.size().unwrap(), 10);
        assert_eq!(store.take_traffic(), traffic(1, 1, 4));

        let (store, object) = blob(b"");
        assert_eq!(object.read_at(5, &mut into).unwrap(), 0);
        assert_eq!(object.size().unwrap(), 0);
        assert_eq!(store.take_traffic(), traffic(1, 1, 0));
    }

    #[test]
    fn batch_is_one_round() {
        let (store, object) = blob(b"0123456789");
        let mut buffers = [[b'-'; 3]; 4];
        let positions = [6, 0, 20, 8];
        let mut requests: Vec<_> =
            positions.iter().zip(&mut buffers).map(|(&at, into)| ReadRequest::new(at, into)).collect();
        object.read_many(&mut requests).unwrap();
        let found: Vec<_> = requests.iter().map(ReadRequest::bytes).collect();
        assert_eq!(found, [&b"678"[..], b"012", b"", b"89"]);
        assert_eq!(store.take_traffic(), traffic(1, 4, 8));
    }

    #[test]
    fn replaced_object_is_an_error_until_it_is_forgotten() {
        let (store, object) = blob(b"0123456789");
        let mut into = [b'-'; 4];
        object.read_at(0, &mut into).unwrap();
        let token = object.change_token();
        assert!(!is_stale(token.as_ref(), &object));
        store.put("a/b", b"abcdef").unwrap();
        let errors = [
            object.read_at(0, &mut into).unwrap_err(),
            object.read_many(&mut [ReadRequest::new(0, &mut into)]).unwrap_err(),
            object.read_suffix(&mut into).unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.code, errno::STALE, "{error}");
            assert!(error.what.starts_with("memory/a/b: a writer replaced the object"), "{error}");
        }
        assert!(is_stale(token.as_ref(), &object));
        object.forget();
        assert_eq!(object.read_at(2, &mut into).unwrap(), 4);
        assert_eq!((&into, object.size().unwrap()), (b"cdef", 6));
    }

    #[test]
    fn absent_object_and_cut_answer_are_errors() {
        let (store, object) = blob(b"0123456789");
        store.fail(1, Fault::BodyCut);
        assert_eq!(object.read_at(0, &mut [0; 8]).unwrap_err().code, Code::ETRUNC);
        let absent = ObjectBlob::new(store, "a/c");
        assert_eq!(absent.size().unwrap_err().code, Code::ENOOBJECT);
        assert!(absent.change_token().is_none());
    }

    /// A store that runs a closure between a request and its answer, and does not answer the last request of a batch.
    struct Interrupting {
        inner: MemoryStore,
        before_answer: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    }

    impl std::fmt::Debug for Interrupting {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("Interrupting")
        }
    }

    impl Store for Interrupting {
        fn get(&self, key: &str, range: ByteRange) -> Result<Option<Fetched>> {
            let answer = self.inner.get(key, range);
            if let Some(act) = self.before_answer.lock().unwrap().take() {
                act();
            }
            answer
        }

        fn get_many(&self, requests: &[(&str, ByteRange)]) -> Vec<Result<Option<Fetched>>> {
            self.inner.get_many(&requests[1..])
        }

        fn put(&self, key: &str, bytes: &[u8]) -> Result<Version> {
            self.inner.put(key, bytes)
        }

        fn put_if(&self, key: &str, bytes: &[u8], expected: Expected<'_>) -> Result<Option<Version>> {
            self.inner.put_if(key, bytes, expected)
        }

        fn delete(&self, key: &str) -> Result<()> {
            self.inner.delete(key)
        }

        fn list(&self, folder: &str) -> Result<Listing> {
            self.inner.list(folder)
        }

        fn cost(&self) -> Cost {
            self.inner.cost()
        }

        fn name(&self) -> String {
            self.inner.name()
        }
    }

    fn interrupting(bytes: &[u8]) -> (Arc<Interrupting>, Arc<ObjectBlob>) {
        let store = Arc::new(Interrupting { inner: MemoryStore::default(), before_answer: Mutex::default() });
        store.put("a/b", bytes).unwrap();
        (store.clone(), Arc::new(ObjectBlob::new(store, "a/b")))
    }

    #[test]
    fn late_answer_tells_nothing_after_a_forget() {
        let (store, object) = interrupting(b"old");
        let (writer, reader) = (store.clone(), object.clone());
        *store.before_answer.lock().unwrap() = Some(Box::new(move || {
            writer.put("a/b", b"newer").unwrap();
            reader.forget();
        }));
        let mut into = [b'-'; 5];
        assert_eq!(object.read_at(0, &mut into).unwrap(), 3);
        assert!(object.change_token().is_none());
        assert_eq!(object.read_at(0, &mut into).unwrap(), 5, "the late answer fixed the old version");
        assert_eq!((&into, object.size().unwrap()), (b"newer", 5));
    }

    #[test]
    fn too_few_answers_are_an_error() {
        let (_, object) = interrupting(b"0123456789");
        let (mut a, mut b) = ([0; 2], [0; 2]);
        let mut requests = [ReadRequest::new(0, &mut a), ReadRequest::new(4, &mut b)];
        assert_eq!(object.read_many(&mut requests).unwrap_err().code, Code::EINTERNAL);
    }
}
