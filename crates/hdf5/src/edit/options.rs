//! Options of a new file and of its groups.

use ferrocdf_codec::Codecs;

/// The oldest readers that a new file is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// HDF5 1.8 and all later ones, and what netCDF-C writes: superblock 2, chunks indexed by B-trees of version 1.
    #[default]
    Compatible,
    /// HDF5 1.10 and later: superblock 3, the chunk index that fits each dataset best.
    Modern,
}

/// The guarantee that holds between two steps of a commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Barrier {
    /// Earlier writes survive a power failure ([`BlobMut::sync`](ferrocdf_store::BlobMut::sync)).
    #[default]
    Sync,
    /// Earlier writes are seen by other processes, and survive the end of this one ([`BlobMut::flush`](ferrocdf_store::BlobMut::flush)).
    Order,
}

/// The options of a new file.
#[derive(Clone, Debug)]
pub struct CreateOptions {
    /// The oldest readers that it is for.
    pub profile: Profile,
    /// Size of the user block before the superblock in bytes: 0, or 512 times a power of two.
    pub user_block: u64,
    /// Threshold and alignment: an allocation of at least the first number of bytes begins at a multiple of the second.
    pub alignment: (u64, u64),
    /// Size in bytes of the blocks in which small pieces of metadata are collected.
    pub meta_block: u64,
    /// The guarantee that a commit waits for between its steps.
    pub barrier: Barrier,
    /// The options of the root group.
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

/// The creation orders that a new group keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupOptions {
    /// The creation order of links is tracked and indexed.
    pub link_order: bool,
    /// The creation order of attributes is tracked and indexed.
    pub attribute_order: bool,
}

impl Default for GroupOptions {
    /// Both orders are kept, as netCDF-4 requires.
    fn default() -> Self {
        GroupOptions { link_order: true, attribute_order: true }
    }
}
