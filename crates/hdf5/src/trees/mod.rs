//! "B-trees" (III.A): the indexes of groups, chunks, attributes and heaps.

pub mod btree1;
pub mod btree2;
