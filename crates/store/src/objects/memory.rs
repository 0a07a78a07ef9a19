//! Objects in memory.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use ferrocdf_bytes::{Result, ToUsize};

use super::{ByteRange, Expected, Fetched, Listing, Store, Version, check_folder, check_key, list_in};
use crate::Cost;

/// A store in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    objects: RwLock<BTreeMap<String, Object>>,
    /// Number of puts, from which each put takes a new version.
    puts: AtomicU64,
}

#[derive(Debug)]
struct Object {
    bytes: Vec<u8>,
    version: Version,
}

impl MemoryStore {
    // No code that holds the lock can panic half-way through a change, so a poisoned lock still guards good objects.
    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<String, Object>> {
        self.objects.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<String, Object>> {
        self.objects.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn object(&self, bytes: &[u8]) -> Object {
        let version = Version::new((self.puts.fetch_add(1, Relaxed) + 1).to_string());
        Object { bytes: bytes.to_vec(), version }
    }
}

impl Store for MemoryStore {
    fn get(&self, key: &str, range: ByteRange) -> Result<Option<Fetched>> {
        check_key(key)?;
        Ok(self.read().get(key).map(|object| {
            let total = object.bytes.len() as u64;
            let (start, end) = range.within(total);
            let bytes = object.bytes[start.saturate()..end.saturate()].to_vec();
            Fetched { bytes, start, total, version: object.version.clone() }
        }))
    }

    fn put(&self, key: &str, bytes: &[u8]) -> Result<Version> {
        check_key(key)?;
        let object = self.object(bytes);
        let version = object.version.clone();
        self.write().insert(key.to_string(), object);
        Ok(version)
    }

    fn put_if(&self, key: &str, bytes: &[u8], expected: Expected<'_>) -> Result<Option<Version>> {
        check_key(key)?;
        let mut objects = self.write();
        let holds = match (objects.get(key), expected) {
            (None, Expected::Absent) => true,
            (Some(object), Expected::Version(version)) => object.version == *version,
            _ => false,
        };
        if !holds {
            return Ok(None);
        }
        let object = self.object(bytes);
        let version = object.version.clone();
        objects.insert(key.to_string(), object);
        Ok(Some(version))
    }

    fn delete(&self, key: &str) -> Result<()> {
        check_key(key)?;
        self.write().remove(key);
        Ok(())
    }

    fn list(&self, folder: &str) -> Result<Listing> {
        check_folder(folder)?;
        Ok(list_in(&self.read(), folder))
    }

    fn cost(&self) -> Cost {
        Cost::MEMORY
    }

    fn name(&self) -> String {
        "memory".to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite;

    #[test]
    fn memory_behaves_as_a_store() {
        suite::store(|_| MemoryStore::default());
    }
}
