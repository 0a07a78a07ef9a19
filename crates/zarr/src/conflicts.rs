//! Chunks that several writers change at the same time.
//!
//! A chunk is stored whole. A writer that changed a part of it puts it under the condition that its object is the version that the
//! rest of it came from. So no writer puts back what another one has replaced.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ferrocdf_bytes::{Error, Result};
use ferrocdf_store::{ByteRange, Expected, Store};

/// What becomes of a chunk of which a part was written, if another writer has changed it since it was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conflicts {
    /// It is not stored: the write or the flush ends with an error.
    #[default]
    Refuse,
    /// It is read again, the elements that were written are written into it, and it is put if nobody changed it meanwhile; and so on,
    /// until it is stored. Of elements that both wrote, those of the last one stay.
    Merge,
}

/// Times that a chunk is merged before writing it fails.
const MAX_ATTEMPTS: u32 = 1000;

/// What became of a chunk of which a part was written.
pub(crate) enum Resolved {
    /// The part is stored.
    Stored,
    /// The chunk of the other writer stays: the error is a conflict.
    Refused(Error),
}

/// Stores a chunk of which a part was written, after a conditional put of its `encoded` bytes has found that the object is not as
/// expected. `merge` writes that part into the chunk that is stored, if there is one, and encodes it again.
///
/// # Errors
/// Those of the store, of decoding and of encoding.
pub(crate) fn resolve(
    store: &dyn Store,
    key: &str,
    encoded: &[u8],
    conflicts: Conflicts,
    mut merge: impl FnMut(Option<&[u8]>) -> Result<Vec<u8>>,
) -> Result<Resolved> {
    for attempt in 0..MAX_ATTEMPTS {
        let found = store.get(key, ByteRange::All)?;
        let found = found.map(|found| found.check(key, ByteRange::All)).transpose()?;
        match &found {
            // An earlier put, of which the answer was lost.
            Some(found) if found.bytes == encoded => return Ok(Resolved::Stored),
            _ if conflicts == Conflicts::Refuse => break,
            _ => {}
        }
        let merged = merge(found.as_ref().map(|found| &found.bytes[..])).map_err(|error| error.at(key))?;
        let expected = found.as_ref().map_or(Expected::Absent, |found| Expected::Version(&found.version));
        if store.put_if(key, &merged, expected)?.is_some() {
            return Ok(Resolved::Stored);
        }
        // Writers of one chunk do not stay in step.
        let moment = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().subsec_nanos();
        std::thread::sleep(Duration::from_micros(u64::from(attempt.min(100)) * u64::from(moment % 101)));
    }
    if conflicts == Conflicts::Merge {
        let what = format!(
            "{}/{key}: other writers changed the chunk {MAX_ATTEMPTS} times while it was merged",
            store.name()
        );
        return Err(Error::conflict(what));
    }
    let what = format!(
        "{}/{key}: another writer changed the chunk after it was read here, to write a part of it: what was written here is dropped: \
         write it again, write whole chunks, or open the dataset so that changes are merged (in a URL: #merge)",
        store.name()
    );
    Ok(Resolved::Refused(Error::conflict(what)))
}

/// True if a store has no object of a key.
pub(crate) fn is_absent(store: &dyn Store, key: &str) -> Result<bool> {
    Ok(store.get(key, ByteRange::Suffix(1))?.is_none())
}
