//! Putting documents.
//!
//! A document is put whole, and a document of a store that was there before only if it still is the one that was read: what another writer
//! has put meanwhile is not lost. Consolidated metadata is read again each time, and only what this writer changed is changed in it.

use std::collections::HashMap;

use ferrocdf_bytes::{Error, Result};
use ferrocdf_model::Model;
use ferrocdf_store::{ByteRange, Expected, Fetched};
use ferrocdf_zarr::{Json, Members, Version, with_member};

use super::documents::Keyed;
use super::{NcZarr, NcZarrWriter};

const ZARR_JSON: &str = "zarr.json";
const ZMETADATA: &str = ".zmetadata";

/// Times that consolidated metadata is made again because another writer has put it meanwhile.
const MAX_ATTEMPTS: usize = 100;

impl NcZarrWriter {
    /// Puts the documents that changed, and consolidated metadata.
    pub(super) fn put_documents(&mut self, model: &Model) -> Result<()> {
        for Keyed { key, json } in self.documents(model)? {
            if self.stored.get(&key) == Some(&json) {
                continue;
            }
            // The root of version 3 has the consolidated metadata in it.
            if !(key == ZARR_JSON && self.options.consolidated) {
                self.put_document(&key, &json)?;
            }
            if self.options.consolidated {
                self.changed.insert(key.clone());
            }
            self.stored.insert(key, json);
        }
        if self.changed.is_empty() { Ok(()) } else { self.put_consolidated() }
    }

    /// Puts a document, given by its key relative to the root.
    ///
    /// # Errors
    /// A conflict if another writer has changed it; those of the store.
    fn put_document(&mut self, relative: &str, json: &Json) -> Result<()> {
        let (key, bytes) = (self.key(relative), json.to_string().into_bytes());
        let store = self.reader.store.clone();
        let version = if self.is_shared() {
            let expected = self.versions.get(&key).map_or(Expected::Absent, Expected::Version);
            match store.put_if(&key, &bytes, expected)? {
                Some(version) => version,
                None => match store.get(&key, ByteRange::All)? {
                    // An earlier put, of which the answer was lost.
                    Some(found) if found.bytes == bytes => found.version,
                    _ => return Err(self.changed_by_another(&key)),
                },
            }
        } else {
            store.put(&key, &bytes)?
        };
        self.versions.insert(key, version);
        Ok(())
    }

    /// Removes the documents of a new store, if they are all that is in it, as this writer put them. Returns false if they are not.
    ///
    /// # Errors
    /// Those of the store.
    pub(super) fn remove_documents(&mut self) -> Result<bool> {
        let NcZarr { store, path, .. } = &self.reader;
        let listing = store.list(path)?;
        let has_own_alone = listing.folders.is_empty()
            && listing.objects.iter().all(|object| self.versions.contains_key(&self.key(object)));
        if self.was_opened || !has_own_alone {
            return Ok(false);
        }
        for (key, version) in &self.versions {
            if store.get(key, ByteRange::All)?.is_some_and(|found| found.version != *version) {
                return Ok(false);
            }
        }
        self.versions.keys().try_for_each(|key| store.delete(key))?;
        Ok(true)
    }

    fn changed_by_another(&self, key: &str) -> Error {
        let what = format!(
            "{}/{key}: another writer changed it since this one opened the store: open it again, and repeat the change",
            self.reader.store.name()
        );
        Error::conflict(what)
    }

    /// Puts consolidated metadata.
    fn put_consolidated(&mut self) -> Result<()> {
        let key = self.key(if self.version == Version::V2 { ZMETADATA } else { ZARR_JSON });
        let store = self.reader.store.clone();
        for _ in 0..MAX_ATTEMPTS {
            let found = if self.was_opened { store.get(&key, ByteRange::All)? } else { None };
            let before = match &found {
                Some(found) => Json::parse(&found.clone().check(&key, ByteRange::All)?.bytes)
                    .map_err(|error| error.at(&key))?,
                None => Json::Null,
            };
            let all = match self.version {
                Version::V2 => Some(&before),
                Version::V3 => before.get("consolidated_metadata"),
            };
            let (nodes, own) = self.consolidated(all.and_then(|all| all.get("metadata")));
            let metadata = ("metadata", Json::Object(nodes));
            let mut has_others_root = false;
            let json = match self.version {
                Version::V2 => Json::object(vec![metadata, ("zarr_consolidated_format", Json::integer(1))]),
                Version::V3 => {
                    let must_understand = ("must_understand", Json::Bool(false));
                    let inline =
                        Json::object(vec![("kind", Json::text("inline")), must_understand, metadata]);
                    let root;
                    (root, has_others_root) = self.root(&key, found.as_ref(), &before)?;
                    with_member(&root, "consolidated_metadata", inline)
                }
            };
            let bytes = json.to_string().into_bytes();
            let version = if self.is_shared() {
                let expected =
                    found.as_ref().map_or(Expected::Absent, |found| Expected::Version(&found.version));
                store.put_if(&key, &bytes, expected)?
            } else {
                Some(store.put(&key, &bytes)?)
            };
            if let Some(version) = version {
                self.versions.insert(key, version);
                self.changed.clear();
                self.consolidated = own;
                self.has_others_root |= has_others_root;
                self.root_before = without_consolidated(&json);
                return Ok(());
            }
        }
        Err(self.changed_by_another(&key))
    }

    /// Returns the root of version 3 as it is to be, and true if it is that of another writer, who may have put consolidated metadata into
    /// it, or other attributes.
    ///
    /// # Errors
    /// A conflict if this writer has changed it too.
    fn root(&self, key: &str, found: Option<&Fetched>, before: &Json) -> Result<(Json, bool)> {
        let is_as_read =
            !self.is_shared() || found.is_none() || without_consolidated(before) == self.root_before;
        match is_as_read && !self.has_others_root {
            true => Ok((self.stored.get(ZARR_JSON).cloned().unwrap_or(Json::Null), false)),
            false if self.changed.contains(ZARR_JSON) => Err(self.changed_by_another(key)),
            false => Ok((before.clone(), true)),
        }
    }

    /// Returns the nodes of consolidated metadata: those from before, and all that were not there. What another writer has consolidated
    /// since the store was opened stays, unless this writer changed it too. All else is what the documents said when the store was
    /// opened, which others may have changed without consolidating. The second list is what is not of another writer.
    fn consolidated(&self, before: Option<&Json>) -> (Members, Members) {
        let before = before.and_then(Json::as_object).cloned().unwrap_or_default();
        let places = before.iter().enumerate().map(|(at, (name, _))| (name.to_string(), at));
        let places: HashMap<String, usize> = places.collect();
        let base: HashMap<&str, &Json> = self.consolidated.iter().collect();
        let Members(mut members) = before;
        let mut own = vec![];
        let mut stored: Vec<(&String, &Json)> = self.stored.iter().collect();
        stored.sort_by_key(|(key, _)| *key);
        for (key, json) in stored {
            let name = match self.version {
                Version::V2 => &**key,
                Version::V3 => match key.strip_suffix("/zarr.json") {
                    Some(path) => path,
                    None => continue,
                },
            };
            match places.get(name) {
                Some(&at) if self.changed.contains(key) || base.get(name) == Some(&&members[at].1) => {
                    members[at].1.clone_from(json);
                }
                Some(_) => continue,
                None => members.push((name.to_string(), json.clone())),
            }
            own.push((name.to_string(), json.clone()));
        }
        (Members(members), Members(own))
    }
}

/// Returns the metadata of a group without consolidated metadata.
pub(super) fn without_consolidated(root: &Json) -> Json {
    let members = root.as_object().into_iter().flat_map(|members| members.iter());
    let members = members.filter(|(name, _)| *name != "consolidated_metadata");
    Json::Object(Members(members.map(|(name, value)| (name.to_string(), value.clone())).collect()))
}
