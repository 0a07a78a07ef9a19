//! Header messages of a few numbers: "Object Header Continuation", "Object Reference Count", "Group Info", "Symbol Table Message",
//! "B-tree 'K' Values", "Shared Message Table", "Object Modification Time", "Driver Info" and "Metadata Cache Image".
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Coder, Record, Result};
use smallvec::SmallVec;

use crate::fields::{self, Fields};
use crate::{Address, Sizes};

/// "Object Header Continuation" (IV.A.2.q): where another chunk of a header is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Continuation {
    pub sizes: Sizes,
    pub at: Address,
    /// Bytes of the chunk.
    pub len: u64,
}

impl Record for Continuation {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.defined("offset", self.sizes, &mut self.at)?;
        c.length("length", self.sizes, &mut self.len)
    }
}

impl Continuation {
    const WHAT: &str = "continuation message";

    pub fn decode(body: &[u8], sizes: Sizes) -> Result<Continuation> {
        let mut message = Continuation { sizes, at: Address(0), len: 0 };
        fields::read(&mut message, Self::WHAT, body)?;
        Ok(message)
    }

    pub fn encode(mut self) -> Result<Vec<u8>> {
        fields::write(&mut self, Self::WHAT)
    }
}

/// "Object Reference Count" (IV.A.2.w): how many hard links lead to an object. Headers of version 2 have it if the number is
/// not 1.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReferenceCount(pub u32);

impl Record for ReferenceCount {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.version(0..=0, &mut 0)?;
        c.int("reference count", &mut self.0)
    }
}

impl ReferenceCount {
    const WHAT: &str = "object reference count";

    pub fn decode(body: &[u8]) -> Result<ReferenceCount> {
        let mut message = ReferenceCount::default();
        fields::read(&mut message, Self::WHAT, body)?;
        Ok(message)
    }

    pub fn encode(mut self) -> Result<Vec<u8>> {
        fields::write(&mut self, Self::WHAT)
    }
}

/// "Group Info" (IV.A.2.k).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GroupInfo {
    /// Maximum number of compact and minimum number of dense links, where they are not the usual ones (8 and 6).
    pub limits: Option<(u16, u16)>,
    /// Estimated number of entries, and length of their names.
    pub estimates: Option<(u16, u16)>,
}

impl GroupInfo {
    const WHAT: &str = "group info message";
    const LIMITS: u8 = 0x01;
    const ESTIMATES: u8 = 0x02;

    pub fn decode(body: &[u8]) -> Result<GroupInfo> {
        let mut message = GroupInfo::default();
        fields::read(&mut message, Self::WHAT, body)?;
        Ok(message)
    }

    pub fn encode(mut self) -> Result<Vec<u8>> {
        fields::write(&mut self, Self::WHAT)
    }
}

impl Record for GroupInfo {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.version(0..=0, &mut 0)?;
        let flag = |flag: u8, set: bool| if set { flag } else { 0 };
        let mut flags = flag(Self::LIMITS, self.limits.is_some());
        flags |= flag(Self::ESTIMATES, self.estimates.is_some());
        c.int("flags", &mut flags)?;
        if flags & Self::LIMITS != 0 {
            let (compact, dense) = self.limits.get_or_insert_default();
            c.int("maximum number of compact links", compact)?;
            c.int("minimum number of dense links", dense)?;
        }
        if flags & Self::ESTIMATES != 0 {
            let (entries, name) = self.estimates.get_or_insert_default();
            c.int("estimated number of entries", entries)?;
            c.int("estimated length of entry names", name)?;
        }
        Ok(())
    }
}

/// "Symbol Table Message" (IV.A.2.r): the links of a group of the old form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SymbolTable {
    pub sizes: Sizes,
    /// The version 1 B-tree of symbol table nodes.
    pub tree: Address,
    /// The local heap of the names.
    pub heap: Address,
}

impl Record for SymbolTable {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.defined("v1 B-tree address", self.sizes, &mut self.tree)?;
        c.defined("local heap address", self.sizes, &mut self.heap)
    }
}

impl SymbolTable {
    const WHAT: &str = "symbol table message";

    pub fn decode(body: &[u8], sizes: Sizes) -> Result<SymbolTable> {
        let mut message = SymbolTable { sizes, tree: Address(0), heap: Address(0) };
        fields::read(&mut message, Self::WHAT, body)?;
        Ok(message)
    }
}

/// "B-tree 'K' Values" (IV.A.2.t, in the superblock extension): half the children of nodes of version 1 B-trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TreeSizes {
    /// Of chunk indexes.
    pub chunks: u16,
    /// Of groups.
    pub groups: u16,
    /// Half the entries of a symbol table node.
    pub symbols: u16,
}

impl Default for TreeSizes {
    fn default() -> Self {
        TreeSizes { chunks: 32, groups: 16, symbols: 4 }
    }
}

impl Record for TreeSizes {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.version(0..=0, &mut 0)?;
        c.int("indexed storage internal node K", &mut self.chunks)?;
        c.int("group internal node K", &mut self.groups)?;
        c.int("group leaf node K", &mut self.symbols)
    }
}

impl TreeSizes {
    const WHAT: &str = "B-tree 'K' values message";

    pub fn decode(body: &[u8]) -> Result<TreeSizes> {
        let mut message = TreeSizes::default();
        fields::read(&mut message, Self::WHAT, body)?;
        Ok(message)
    }

    pub fn encode(mut self) -> Result<Vec<u8>> {
        fields::write(&mut self, Self::WHAT)
    }
}

/// "Shared Message Table" (IV.A.2.p, in the superblock extension).
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedMessageTable {
    pub sizes: Sizes,
    pub at: Address,
    /// The number of indexes in it.
    pub indexes: u8,
}

impl Record for SharedMessageTable {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.version(0..=0, &mut 0)?;
        c.defined("shared object header message table address", self.sizes, &mut self.at)?;
        c.int("number of indices", &mut self.indexes)
    }
}

impl SharedMessageTable {
    pub fn decode(body: &[u8], sizes: Sizes) -> Result<SharedMessageTable> {
        let mut message = SharedMessageTable { sizes, at: Address(0), indexes: 0 };
        fields::read(&mut message, "shared message table message", body)?;
        Ok(message)
    }
}

/// "Object Modification Time" (IV.A.2.s), in seconds since 1970.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ModificationTime(u32);

impl Record for ModificationTime {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.version(1..=1, &mut 1)?;
        c.reserved(3)?;
        c.int("seconds after UNIX epoch", &mut self.0)
    }
}

/// "Driver Info" (IV.A.2.u, in the superblock extension).
#[derive(Clone, Debug, Default)]
pub(crate) struct DriverInfo {
    /// Which driver wrote the file.
    pub name: SmallVec<[u8; 8]>,
    information: Vec<u8>,
}

impl Record for DriverInfo {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.version(0..=0, &mut 0)?;
        c.bytes("driver identification", 8, &mut self.name)?;
        let mut len = self.information.len() as u64;
        c.uint("driver information size", 2, &mut len)?;
        c.bytes("driver information", len, &mut self.information)
    }
}

impl DriverInfo {
    pub fn decode(body: &[u8]) -> Result<DriverInfo> {
        let mut message = DriverInfo::default();
        fields::read(&mut message, "driver information message", body)?;
        Ok(message)
    }
}

/// "Metadata Cache Image" (IV.A.2.y, in the superblock extension).
pub(crate) struct CacheImage {
    pub sizes: Sizes,
    /// `None` once the image was used.
    pub at: Option<Address>,
    pub len: u64,
}

impl Record for CacheImage {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.version(0..=0, &mut 0)?;
        c.address("image block address", self.sizes, &mut self.at)?;
        c.length("image block size", self.sizes, &mut self.len)
    }
}

impl CacheImage {
    const WHAT: &str = "metadata cache image message";

    /// A message to be read.
    pub fn unread(sizes: Sizes) -> CacheImage {
        CacheImage { sizes, at: None, len: 0 }
    }

    pub fn decode(body: &[u8], sizes: Sizes) -> Result<CacheImage> {
        let mut message = Self::unread(sizes);
        fields::read(&mut message, Self::WHAT, body)?;
        Ok(message)
    }

    pub fn encode(mut self) -> Result<Vec<u8>> {
        fields::write(&mut self, Self::WHAT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tree_sizes() {
        let sizes = TreeSizes { chunks: 64, groups: 16, symbols: 4 };
        let bytes = sizes.encode().unwrap();
        assert_eq!(bytes, [0, 64, 0, 16, 0, 4, 0]);
        assert_eq!(TreeSizes::decode(&bytes).unwrap(), sizes);
    }

    #[test]
    fn reference_counts() {
        assert_eq!(ReferenceCount(258).encode().unwrap(), [0, 2, 1, 0, 0]);
    }

    #[test]
    fn group_info() {
        assert_eq!(GroupInfo::default().encode().unwrap(), [0, 0]);
        let both = GroupInfo { limits: Some((9, 7)), estimates: Some((4, 8)) };
        let bytes = both.encode().unwrap();
        assert_eq!(bytes, [0, 3, 9, 0, 7, 0, 4, 0, 8, 0]);
        assert_eq!(GroupInfo::decode(&bytes).unwrap().limits, both.limits);
    }
}
