//! Options of a new file and of its groups.

use ferrocdf_codec::Codecs;

/// Which readers a new file is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// HDF5 1.8 and all later ones, and what netCDF-C writes: superblock 2, chunks indexed by B-trees of version 1.
    #[default]
    Compatible,
    /// HDF5 1.10 and later: superblock 3, the chunk index that fits each dataset best.
    Modern,
}

/// What has to be true between two steps of a commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Barrier {
    /// What was written before survives a power failure. [`BlobMut::sync`].
    #[default]
    Sync,
    /// What was written before is seen by other processes, and survives the end of this one. [`BlobMut::flush`].
    Order,
}

/// How to create a file.
#[derive(Clone, Debug)]
pub struct CreateOptions {
    /// Which readers it is for.
    pub profile: Profile,
    /// Bytes before the superblock that are the user's: 0, or 512 times a power of two.
    pub user_block: u64,
    /// Pieces of at least as many bytes as the first number says begin at a multiple of the second.
    pub alignment: (u64, u64),
    /// Metadata is kept together in pieces of this many bytes.
    pub meta_block: u64,
    /// What a commit waits for.
    pub barrier: Barrier,
    /// What the root group keeps.
    pub root: GroupOptions,
    /// The filters that its datasets can use; the built-in ones by default.
    pub codecs: Codecs,
}

impl Default for CreateOptions {
    fn default() -> Self {
        CreateOptions {
            profile: Profile::default(),
            user_block: 0,
            alignment: (1, 1),
            meta_block: 2048,
            barrier: Barrier::default(),
            root: GroupOptions::default(),
            codecs: Codecs::default(),
        }
    }
}

/// What a new group keeps of its links and attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupOptions {
    /// The order in which links are made is kept and indexed.
    pub link_order: bool,
    /// The order in which attributes are made is kept and indexed.
    pub attribute_order: bool,
}

impl Default for GroupOptions {
    /// Both orders are kept, as netCDF wants it.
    fn default() -> Self {
        GroupOptions { link_order: true, attribute_order: true }
    }
}
