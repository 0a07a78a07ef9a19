//! How many bytes a file may have for structures, so that bytes which many objects share cost no more than they take in the file.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use ferrocdf_bytes::Result;

use crate::wire::bad;

/// What bytes are used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Use {
    /// The tables of linked blocks of an element.
    Tables,
    /// The table of chunks of an element.
    ChunkTable,
    /// All bytes of a special element, decoded.
    Whole,
    /// The members of a group of numeric data.
    Members,
    /// The attributes of a variable, or of the file.
    Attributes,
    /// An attribute, by the reference numbers of its owner and its Vdata.
    AttributeOf,
}

/// The bytes that structures took so far. An object that is read again takes no more.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: u64,
    taken: Mutex<Taken>,
}

/// The sum of the bytes, and the bytes of each use of an object.
type Taken = (u64, HashMap<(Use, u16, u16), u64>);

impl Budget {
    /// Makes the budget of a file of `size` bytes.
    pub fn of_size(size: u64) -> Budget {
        Budget { limit: limit(size), taken: Mutex::default() }
    }

    /// Takes `len` bytes for a use of an object, of which earlier calls for the same use may have taken some.
    ///
    /// # Errors
    /// `EHDFERR` if the file has had all that its size allows.
    pub fn charge(&self, user: (Use, u16, u16), len: u64) -> Result<()> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let (total, by_use) = &mut *taken;
        let before = by_use.get(&user).copied().unwrap_or(0);
        let more = total.saturating_add(len.saturating_sub(before));
        if more > self.limit {
            return Err(bad(format!(
                "structures of more than {} bytes, many of them shared between objects",
                self.limit
            )));
        }
        *total = more;
        by_use.insert(user, len.max(before));
        Ok(())
    }
}

/// Returns how many bytes the structures of a file of `size` bytes may have together.
pub(crate) fn limit(size: u64) -> u64 {
    size.saturating_mul(4).saturating_add(8 << 20)
}
