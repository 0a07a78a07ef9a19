//! Shards that codecs follow: their objects are encoded as a whole, so each is read and decoded whole before a part of it is used.

use std::collections::HashMap;
use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result, ToUsize};
use ferrocdf_codec::Chain;
use ferrocdf_store::{ByteRange, Cost, Expected, Fetched, Listing, Store, Version};

use crate::kept::Kept;

/// Most bytes of one decoded object, and of the decoded objects that are kept.
const MAX_OBJECT: usize = 1 << 30;
const MAX_KEPT: usize = 128 << 20;

/// The decoded objects of another store, to be read.
#[derive(Debug)]
pub(crate) struct WholeObjects {
    encoded: Arc<dyn Store>,
    chain: Chain,
    kept: Kept<String, Object>,
}

/// A decoded object; `None` if it does not exist.
type Object = Option<(Arc<Vec<u8>>, Version)>;

impl WholeObjects {
    pub(crate) fn new(encoded: Arc<dyn Store>, chain: Chain) -> WholeObjects {
        WholeObjects { encoded, chain, kept: Kept::new(MAX_KEPT) }
    }

    fn decode(&self, key: &str, answer: Result<Option<Fetched>>) -> Result<Object> {
        let Some(found) = answer? else { return Ok(None) };
        let found = found.check(key, ByteRange::All)?;
        let bytes =
            self.chain.decode_of_any_size(0, &found.bytes, MAX_OBJECT).map_err(|error| error.at(key))?;
        Ok(Some((Arc::new(bytes), found.version)))
    }
}

impl Store for WholeObjects {
    fn get(&self, key: &str, range: ByteRange) -> Result<Option<Fetched>> {
        let mut answers = self.get_many(&[(key, range)]);
        answers.pop().unwrap_or(Ok(None))
    }

    fn get_many(&self, requests: &[(&str, ByteRange)]) -> Vec<Result<Option<Fetched>>> {
        let mut keys: Vec<String> = requests.iter().map(|(key, _)| key.to_string()).collect();
        keys.sort_unstable();
        keys.dedup();
        let kept = self.kept.get(keys.iter());
        let (mut objects, mut absent): (HashMap<&str, Result<Object>>, Vec<&str>) = Default::default();
        for (key, object) in keys.iter().zip(kept) {
            match object {
                Some(object) => drop(objects.insert(key, Ok(object))),
                None => absent.push(key),
            }
        }
        let wanted: Vec<_> = absent.iter().map(|key| (*key, ByteRange::All)).collect();
        let answers = if wanted.is_empty() { vec![] } else { self.encoded.get_many(&wanted) };
        for (key, answer) in absent.into_iter().zip(answers) {
            let object = self.decode(key, answer);
            if let Ok(object) = &object {
                let bytes = key.len() + object.as_ref().map_or(0, |(bytes, _)| bytes.len());
                self.kept.insert(key.to_string(), object.clone(), bytes);
            }
            objects.insert(key, object);
        }
        let part = |(key, range): &(&str, ByteRange)| match objects.get(*key) {
            Some(Ok(Some((bytes, version)))) => {
                let total = bytes.len() as u64;
                let (start, end) = range.within(total);
                let bytes = bytes[start.saturate()..end.saturate()].to_vec();
                Ok(Some(Fetched { bytes, start, total, version: version.clone() }))
            }
            Some(Ok(None)) | None => Ok(None),
            Some(Err(error)) => Err(error.clone()),
        };
        requests.iter().map(part).collect()
    }

    fn put(&self, key: &str, _bytes: &[u8]) -> Result<Version> {
        Err(only_read(key))
    }

    fn put_if(&self, key: &str, _bytes: &[u8], _expected: Expected<'_>) -> Result<Option<Version>> {
        Err(only_read(key))
    }

    fn delete(&self, key: &str) -> Result<()> {
        Err(only_read(key))
    }

    fn list(&self, folder: &str) -> Result<Listing> {
        self.encoded.list(folder)
    }

    fn cost(&self) -> Cost {
        self.encoded.cost()
    }

    fn name(&self) -> String {
        self.encoded.name()
    }
}

fn only_read(key: &str) -> Error {
    Error::new(Code::EPERM, "objects that are encoded as a whole are only read").at(key)
}
